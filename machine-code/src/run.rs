//! Blocks, warp by warp: lanes that go different ways are different groups until they meet again.

use crate::counts::Counts;
use crate::error::{Error, Result};
use crate::instruction::{Instruction, Kind, LANES, Op, Source, Space};
use crate::launch::Launch;
use crate::listing::Code;
use crate::memory;
use crate::warp::{Mask, Warp, fail};

/// Instructions that a warp issues at most.
const MOST_INSTRUCTIONS: u64 = 2_000_000_000;

/// What the warps of a block issue. `stop` is asked now and then whether somebody wants to end.
///
/// # Errors
/// [`crate::Error::Run`] where the code does what is not followed.
pub fn block(code: &Code, launch: &Launch, block: [u32; 3], stop: &dyn Fn() -> bool) -> Result<Counts> {
    let mut counts = Counts::new(code);
    for number in 0..launch.warps() {
        warp(code, launch, block, number, &mut counts, stop)?;
        counts.warps += 1;
    }
    counts.tidy();
    Ok(counts)
}

/// Lanes at one place.
#[derive(Debug, Clone, Copy)]
struct Group {
    at: usize,
    lanes: Mask,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// At the end of a region.
    Region(u8),
    /// Until all these lanes have come.
    Sync(Mask),
}

fn warp(
    code: &Code,
    launch: &Launch,
    block: [u32; 3],
    number: u32,
    counts: &mut Counts,
    stop: &dyn Fn() -> bool,
) -> Result<()> {
    let (mut warp, mut alive) = Warp::new(code, launch, block, number);
    let mut groups = vec![Group { at: 0, lanes: alive, state: State::Ready }];
    let mut found = Vec::new();
    let mut issued = 0u64;
    while !groups.is_empty() {
        let Some(ready) = groups.iter().rposition(|group| group.state == State::Ready) else {
            release(&mut groups, &warp, alive);
            if groups.iter().all(|group| group.state != State::Ready) {
                let at = groups[0].at;
                return Err(fail(&code.instructions[at], "its lanes wait for others that never come"));
            }
            continue;
        };
        let mut group = groups.swap_remove(ready);
        // Until this group waits, ends, or is divided.
        loop {
            let Some(instruction) = code.instructions.get(group.at) else {
                return Err(match code.instructions.last() {
                    Some(last) => fail(last, "the code ends here, and the warp does not"),
                    None => Error::Listing(format!("`{}` has no instructions", code.name)),
                });
            };
            let (guard, guard_data) = warp.holds(instruction.guard);
            let mask = guard & group.lanes;
            let own = &mut counts.issued[group.at];
            own.warps += 1;
            own.lanes += u64::from(mask.count_ones());
            issued += 1;
            if issued & 0xffff == 0 && stop() {
                return Err(fail(instruction, "it was stopped"));
            }
            if issued > MOST_INSTRUCTIONS {
                return Err(fail(instruction, "the warp does not come to an end"));
            }
            match instruction.op {
                Op::Branch | Op::BranchDivergent | Op::Call | Op::BranchIndirect | Op::Return => {
                    let (condition, data) = match instruction.op {
                        Op::BranchDivergent => {
                            let whole = warp.source(instruction, 0)?.0[0];
                            (if group.lanes == whole & alive { 0 } else { Mask::MAX }, 0)
                        }
                        _ => warp.conditions(instruction),
                    };
                    counts.branches_on_values += u64::from((guard_data | data) & group.lanes != 0);
                    let taken = mask & condition;
                    // Those that do not go are predicated off.
                    let idle = u64::from((mask & !condition).count_ones());
                    counts.issued[group.at].lanes -= idle;
                    let stay = group.lanes & !taken;
                    if taken == 0 {
                        group.at += 1;
                        continue;
                    }
                    let mut ways = targets(&warp, code, instruction, taken)?;
                    if stay != 0 {
                        ways.push((group.at + 1, stay));
                    }
                    if let [(at, _)] = ways.as_slice() {
                        group.at = *at;
                        continue;
                    }
                    groups.extend(ways.into_iter().map(|(at, lanes)| Group {
                        at,
                        lanes,
                        state: State::Ready,
                    }));
                    break;
                }
                Op::Exit => {
                    let (condition, data) = warp.conditions(instruction);
                    counts.branches_on_values += u64::from((guard_data | data) & group.lanes != 0);
                    let gone = mask & condition;
                    alive &= !gone;
                    group.lanes &= !gone;
                    if gone != 0 {
                        release(&mut groups, &warp, alive);
                    }
                    if group.lanes == 0 {
                        break;
                    }
                }
                Op::OpenRegion => {
                    if let Some(crate::instruction::Destination::Barrier(region)) =
                        instruction.destinations.first()
                    {
                        for lane in lanes(mask) {
                            warp.regions[usize::from(*region)][lane] = mask;
                        }
                    }
                }
                Op::CloseRegion => {
                    let region = region(instruction)?;
                    let waiting = mask;
                    if waiting != 0 {
                        let stay = group.lanes & !waiting;
                        groups.push(Group { lanes: waiting, state: State::Region(region), ..group });
                        if stay != 0 {
                            groups.push(Group { at: group.at + 1, lanes: stay, state: State::Ready });
                        }
                        release(&mut groups, &warp, alive);
                        break;
                    }
                }
                Op::LeaveRegion => {
                    let region = usize::from(region(instruction)?);
                    let left = mask & warp.conditions(instruction).0;
                    warp.regions[region].iter_mut().for_each(|members| *members &= !left);
                    release(&mut groups, &warp, alive);
                }
                Op::WarpSync { all } => {
                    let wanted = match (
                        all,
                        instruction.sources.iter().position(|s| !matches!(s, Source::Predicate(_))),
                    ) {
                        (false, Some(number)) => {
                            let first = group.lanes.trailing_zeros() as usize;
                            warp.source(instruction, number)?.0[first]
                        }
                        _ => Mask::MAX,
                    };
                    if mask != 0 && wanted & alive & !group.lanes != 0 {
                        groups.push(Group { state: State::Sync(wanted), ..group });
                        release(&mut groups, &warp, alive);
                        break;
                    }
                }
                _ => {
                    let wide = if instruction.kind == Kind::Uniform { group.lanes & guard } else { mask };
                    let addresses = warp.execute(instruction, wide)?;
                    if let Some(addresses) = addresses.filter(|_| mask != 0) {
                        account(instruction, &addresses, mask, counts, group.at, &mut found);
                    }
                }
            }
            group.at += 1;
        }
    }
    Ok(())
}

/// Where lanes go on.
fn targets(
    warp: &Warp<'_>,
    code: &Code,
    instruction: &Instruction,
    taken: Mask,
) -> Result<Vec<(usize, Mask)>> {
    if matches!(instruction.op, Op::Branch | Op::BranchDivergent | Op::Call) {
        let target = instruction.target.ok_or_else(|| fail(instruction, "its label is nowhere"))?;
        return Ok(vec![(target, taken)]);
    }
    let (to, data) = warp.source(instruction, 0)?;
    if data & taken != 0 {
        return Err(fail(instruction, "where it goes depends on values in memory"));
    }
    let mut ways: Vec<(usize, Mask)> = Vec::new();
    for lane in lanes(taken) {
        // A return names the function whose start its register counts from; an indirect branch counts from after itself.
        let base = match (instruction.op, instruction.sources.get(1)) {
            (Op::BranchIndirect, Some(Source::Integer(offset))) => {
                instruction.address.wrapping_add(code.width).wrapping_add(*offset)
            }
            (Op::Return, _) => instruction
                .target
                .and_then(|target| code.instructions.get(target))
                .map_or(0, |target| target.address),
            _ => 0,
        };
        let address = to[lane].wrapping_add(base);
        let at = code.at(address.into()).ok_or_else(|| fail(instruction, "it goes to no instruction"))?;
        match ways.iter_mut().find(|(other, _)| *other == at) {
            Some((_, lanes)) => *lanes |= 1 << lane,
            None => ways.push((at, 1 << lane)),
        }
    }
    Ok(ways)
}

fn region(instruction: &Instruction) -> Result<u8> {
    let region = instruction.sources.iter().find_map(|source| match source {
        Source::Barrier(region) => Some(*region),
        _ => None,
    });
    region.ok_or_else(|| fail(instruction, "it names no region"))
}

fn lanes(mask: Mask) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

/// Lets those go on that have all met; who goes on at the same place goes on together.
fn release(groups: &mut Vec<Group>, warp: &Warp<'_>, alive: Mask) {
    for at in 0..groups.len() {
        let Group { at: place, lanes: own, state } = groups[at];
        let wanted = match state {
            State::Ready => continue,
            State::Region(region) => {
                lanes(own).fold(0, |wanted, lane| wanted | warp.regions[usize::from(region)][lane]) & alive
            }
            State::Sync(wanted) => wanted & alive,
        };
        let same = |group: &Group| match (group.state, state) {
            (State::Region(a), State::Region(b)) => {
                a == b && (group.lanes & wanted != 0 || group.lanes == own)
            }
            (State::Sync(a), State::Sync(b)) => a == b && group.at == place,
            _ => false,
        };
        let there = groups.iter().filter(|group| same(group)).fold(0, |all, group| all | group.lanes);
        if wanted & !there != 0 {
            continue;
        }
        let mut places: Vec<(usize, Mask)> = Vec::new();
        groups.retain(|group| {
            if !same(group) {
                return true;
            }
            match places.iter_mut().find(|(place, _)| *place == group.at) {
                Some((_, lanes)) => *lanes |= group.lanes,
                None => places.push((group.at, group.lanes)),
            }
            false
        });
        groups.extend(places.into_iter().map(|(place, lanes)| Group {
            at: place + 1,
            lanes,
            state: State::Ready,
        }));
        // The numbers of the others have changed.
        return release(groups, warp, alive);
    }
}

/// What an access asked of memory.
fn account(
    instruction: &Instruction,
    addresses: &[u64; LANES],
    mask: Mask,
    counts: &mut Counts,
    at: usize,
    found: &mut Vec<u64>,
) {
    let bytes = match instruction.op {
        Op::Load { bytes, .. }
        | Op::Store { bytes, .. }
        | Op::CopyAsync { bytes }
        | Op::Atomic { bytes, .. } => bytes,
        _ => return,
    };
    if let Op::Load { space: Space::Shared, .. }
    | Op::Store { space: Space::Shared, .. }
    | Op::Atomic { space: Space::Shared, .. } = instruction.op
    {
        let addresses = addresses.map(|address| address & u64::from(u32::MAX));
        let (cycles, least) = memory::wavefronts(&addresses, mask, bytes);
        counts.issued[at].wavefronts += cycles;
        counts.issued[at].least_wavefronts += least;
        return;
    }
    if let Kind::GlobalLoad | Kind::GlobalStore | Kind::Copy | Kind::Atomic = instruction.kind {
        memory::sectors(addresses, mask, bytes, found);
        counts.issued[at].sectors += found.len() as u64;
        if instruction.kind != Kind::GlobalStore {
            counts.sectors_read.extend_from_slice(found);
        }
        if matches!(instruction.kind, Kind::GlobalStore | Kind::Atomic) {
            counts.sectors_written.extend_from_slice(found);
        }
    }
}
