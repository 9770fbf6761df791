//! What orders the parts of a block: barriers, and the links between its warps.

use crate::plan::Kernel;
use crate::storage::{Moment, Part, Sync};

/// What happens after a part.
pub(super) fn sync(kernel: &Kernel, part: Part) -> Sync {
    match part {
        Part::Row(row) => kernel.instances[row].sync,
        Part::Transfer(transfer) => kernel.transfers[transfer].sync,
    }
}

/// The warp that runs a part, where warps run on their own.
pub(super) fn warp_of(kernel: &Kernel, part: Part) -> Option<usize> {
    kernel.warps.iter().position(|parts| parts.contains(&part))
}

/// That the threads that run the parts of a loop meet where it begins again.
pub(super) fn barriers_end_loops(kernel: &Kernel) -> Result<(), String> {
    let at = |moment| kernel.transfers_at(moment).map(|(index, _)| Part::Transfer(index)).collect::<Vec<_>>();
    let mut sequences = vec![at(Moment::Start)];
    if !kernel.sub_tiles.is_empty() {
        sequences.push(at(Moment::End));
    }
    match kernel.warps.is_empty() {
        true => sequences.push(kernel.parts_of_a_group()),
        false => sequences.extend(kernel.warps.iter().cloned()),
    }
    let last = sequences.iter().filter_map(|parts| parts.last());
    match last.into_iter().find(|&&part| sync(kernel, part) == Sync::Nothing) {
        Some(_) => Err(format!("kernel {}: no barrier ends the parts of a loop", kernel.name)),
        None => Ok(()),
    }
}

/// For each warp and each other one, by how much the other one's position must be greater, at least, to run after it:
/// the shortest way along the links. `None` where no links lead there.
///
/// One block that runs the parts one after the other is one of the orders that links allow.
pub(super) fn of_warps(kernel: &Kernel) -> Result<Vec<Vec<Option<i64>>>, String> {
    let wrong = |what: &str| Err(format!("kernel {}: {what}", kernel.name));
    let parts = kernel.parts_of_a_group();
    let alone = !kernel.warps.is_empty();
    if let Some(team) = kernel.team() {
        let count = (team.low.constant(), team.high.constant());
        if !matches!(count, (Some(0), Some(0..=31))) || alone || !kernel.links.is_empty() {
            return wrong("a team is up to 32 warps that run the same parts");
        }
        let all = (0..kernel.transfers.len()).map(Part::Transfer).chain(parts);
        if all.into_iter().any(|part| sync(kernel, part) == Sync::Barrier) {
            return wrong("the warps of a team wait for each other after all parts alone");
        }
        return Ok(Vec::new());
    }
    if alone != parts.iter().any(|&part| sync(kernel, part) == Sync::Warp) {
        return wrong("warps wait by themselves where they run parts of their own, and only there");
    }
    if !alone {
        return if kernel.links.is_empty() { Ok(Vec::new()) } else { wrong("links need warps") };
    }
    let listed: Vec<Part> = kernel.warps.concat();
    let once = parts.iter().all(|part| listed.iter().filter(|&other| other == part).count() == 1);
    let outside =
        kernel.transfers.iter().any(|transfer| matches!(transfer.moment, Moment::Start | Moment::End));
    let grouped = kernel.rows.low.constant().is_some() && kernel.rows.low == kernel.rows.high;
    if !once || listed.len() != parts.len() || outside || !grouped || kernel.sub_tiles.len() != 1 {
        return wrong("warps share out the parts of one group in one loop over sub-tiles");
    }
    if parts.iter().any(|&part| sync(kernel, part) == Sync::Barrier) {
        return wrong("a barrier within one warp's parts is not reached by the others");
    }
    let count = kernel.warps.len();
    let mut before = vec![vec![None; count]; count];
    let place = |part: &Part| parts.iter().position(|other| other == part);
    for link in &kernel.links {
        if link.from >= count || link.to >= count || link.from == link.to || link.distance < 0 {
            return wrong("a link leads from one warp to another one, and not forward in time");
        }
        let first = kernel.warps[link.to].iter().map(place).min();
        let last = kernel.warps[link.from].iter().map(place).max();
        if link.distance == 0 && last > first {
            return wrong("a warp waits for parts that come after its own");
        }
        let known: &mut Option<i64> = &mut before[link.from][link.to];
        *known = Some(known.map_or(link.distance, |known| known.min(link.distance)));
    }
    for through in 0..count {
        for from in 0..count {
            for to in 0..count {
                if let (Some(a), Some(b)) = (before[from][through], before[through][to]) {
                    let known: &mut Option<i64> = &mut before[from][to];
                    *known = Some(known.map_or(a + b, |known| known.min(a + b)));
                }
            }
        }
    }
    if (0..count).any(|warp| before[warp][warp].is_some_and(|distance| distance <= 0)) {
        return wrong("warps wait for each other for ever");
    }
    Ok(before)
}
