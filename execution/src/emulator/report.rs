//! What the emulator found, in words.

use super::foreign::{Counts, RawViolation};
use crate::layout::Layout;
use hhc_codegen::KernelPlan;
use polyhedral::program::FieldRole;
use serde::Serialize;
use std::fmt;

/// The result of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct EmulatorReport {
    /// Kernel launches.
    pub launches: u64,
    /// Blocks of all launches.
    pub blocks: u64,
    /// Barriers passed, each counted once per block.
    pub barriers: u64,
    /// Elements of fields that were read from global memory, each access counted.
    pub global_reads: u64,
    /// Elements of fields that were written.
    pub global_writes: u64,
    /// Number of violations.
    pub total_violations: u64,
    /// The first ones of each kind, in the order of execution.
    pub violations: Vec<Violation>,
}

/// What a kernel did and must not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    /// An element before the first or after the last of a field's array.
    GlobalBounds,
    /// An element of a field that belongs to no point of the grid.
    GlobalPadding,
    /// A read of a point of a time level that nobody has computed.
    GlobalUnwritten,
    /// A write to a point of the fixed boundary.
    GlobalFixed,
    /// Two threads of a block use an element of a field between two barriers, and one of them writes.
    GlobalRace,
    /// Two blocks of a launch use an element of a field, and one of them writes.
    BlockRace,
    /// An element before the first or after the last of a shared array.
    SharedBounds,
    /// A read of shared memory that the block has not written.
    SharedUnwritten,
    /// Two threads use an element of a shared array between two barriers, and one of them writes.
    SharedRace,
    /// A shared array that is not aligned, or larger than the shared memory of the launch.
    SharedPlace,
    /// A barrier that some threads of the block do not reach.
    DivergentBarrier,
    /// A call of a warp that lanes of its mask do not make, or make elsewhere or with another mask.
    DivergentWarp,
    /// A mask that does not name the lane that calls with it, or a width that is none.
    WrongMask,
    /// A shuffle that reads a lane which takes no part in it, in a kernel without junk lanes.
    InactiveLane,
    /// A value that nobody gave is stored in a field.
    PoisonStored,
    /// A value that nobody gave decides: it is compared, or becomes an integer.
    PoisonDecides,
    /// A counter of a link that is not cleared, goes down, has two owners, or shares memory with something else.
    LinkMisused,
    /// No warp of the block can go on.
    Deadlock,
    /// A vector access or copy whose first element is not aligned to its size.
    Misaligned,
    /// An access to the destination of a copy that nobody has waited for.
    CopyPending,
    /// A flag that no block which has a place will set.
    EndlessSpin,
}

impl ViolationKind {
    /// In the order of `Kind` in `tw_checks.h`.
    const ALL: [ViolationKind; 21] = [
        ViolationKind::GlobalBounds,
        ViolationKind::GlobalPadding,
        ViolationKind::GlobalUnwritten,
        ViolationKind::GlobalFixed,
        ViolationKind::GlobalRace,
        ViolationKind::BlockRace,
        ViolationKind::SharedBounds,
        ViolationKind::SharedUnwritten,
        ViolationKind::SharedRace,
        ViolationKind::SharedPlace,
        ViolationKind::DivergentBarrier,
        ViolationKind::DivergentWarp,
        ViolationKind::WrongMask,
        ViolationKind::InactiveLane,
        ViolationKind::PoisonStored,
        ViolationKind::PoisonDecides,
        ViolationKind::LinkMisused,
        ViolationKind::Deadlock,
        ViolationKind::Misaligned,
        ViolationKind::CopyPending,
        ViolationKind::EndlessSpin,
    ];
}

/// One violation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Violation {
    /// What it is.
    pub kind: ViolationKind,
    /// Name of the kernel in the plan.
    pub kernel: String,
    /// `blockIdx`: `x`, `y`, `z`.
    pub block: [u32; 3],
    /// Number of the thread in its block, `x` fastest.
    pub thread: u32,
    /// Whether the thread writes.
    pub writes: bool,
    /// The other thread: of a race, of a meeting that does not take place, or whose value is read.
    pub other: Option<OtherThread>,
    /// Name of the field, the shared array or the link; empty where there is none.
    pub array: String,
    /// Index of the element. Where threads do not meet the line of the text at which the thread waits.
    pub index: i64,
    /// For elements of fields within bounds: slot, and index of the point, slowest dimension first.
    pub point: Option<(usize, Vec<i64>)>,
    /// How many barriers the block had passed.
    pub interval: u64,
    /// The line of the text, in kernels whose warps work on their own. For a decision, that of the last access before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Where a value that nobody gave came from; how the threads wait that do not meet; what is wrong with a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The other side of a violation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OtherThread {
    /// Its block.
    pub block: [u32; 3],
    /// Its number in its block.
    pub thread: u32,
    /// Whether it wrote.
    pub writes: bool,
    /// The line at which it wrote, or waits where threads do not meet; `None` where that is not known or it has ended.
    pub line: Option<i64>,
}

impl EmulatorReport {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.total_violations == 0
    }

    /// The kinds of the violations described, in order, each once.
    pub fn kinds(&self) -> Vec<ViolationKind> {
        let mut kinds = Vec::new();
        for violation in &self.violations {
            if !kinds.contains(&violation.kind) {
                kinds.push(violation.kind);
            }
        }
        kinds
    }

    /// What another run found, too.
    pub(super) fn add(&mut self, other: EmulatorReport) {
        self.launches += other.launches;
        self.blocks += other.blocks;
        self.barriers += other.barriers;
        self.global_reads += other.global_reads;
        self.global_writes += other.global_writes;
        self.total_violations += other.total_violations;
        self.violations.extend(other.violations);
    }

    pub(super) fn new(plan: &KernelPlan, layout: &Layout, counts: Counts, raw: &[RawViolation]) -> Self {
        let count = |value: i64| u64::try_from(value).unwrap_or(0);
        EmulatorReport {
            launches: count(counts.launches),
            blocks: count(counts.blocks),
            barriers: count(counts.barriers),
            global_reads: count(counts.reads),
            global_writes: count(counts.writes),
            total_violations: count(counts.violations),
            violations: raw.iter().filter_map(|raw| Violation::new(plan, layout, raw)).collect(),
        }
    }
}

impl Violation {
    /// `None` for a kind that this version does not know.
    fn new(plan: &KernelPlan, layout: &Layout, raw: &RawViolation) -> Option<Self> {
        let kind = *ViolationKind::ALL.get(usize::try_from(raw.kind).ok()?)?;
        let other = u32::try_from(raw.other_thread).ok().map(|thread| OtherThread {
            block: raw.other_block,
            thread,
            writes: raw.writes & 2 != 0,
            line: Some(raw.other_index).filter(|&line| line > 0),
        });
        let number = usize::try_from(raw.field).ok();
        let field = number.and_then(|field| plan.program.fields.get(field));
        // Behind fields and series come spare slots.
        let given = plan.program.fields.len() + plan.program.series.len();
        let mut changing = plan.program.fields.iter().filter(|field| field.role != FieldRole::Coefficient);
        let spare = number.and_then(|number| changing.nth(number.checked_sub(given)?));
        let text = |bytes: &[u8]| {
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        };
        let outside = matches!(
            kind,
            ViolationKind::GlobalBounds | ViolationKind::GlobalPadding | ViolationKind::Misaligned
        );
        Some(Violation {
            kind,
            kernel: plan
                .kernels
                .get(usize::try_from(raw.kernel).ok()?)
                .map(|kernel| kernel.name.clone())
                .unwrap_or_default(),
            block: raw.block,
            thread: u32::try_from(raw.thread).unwrap_or(0),
            writes: raw.writes & 1 != 0,
            other,
            array: match field {
                Some(field) => field.name.clone(),
                None => {
                    spare.map_or_else(|| text(&raw.array), |field| format!("spare slots of {}", field.name))
                }
            },
            index: raw.index,
            point: field.filter(|_| !outside).map(|_| point(layout, raw.index)),
            interval: u64::try_from(raw.interval).unwrap_or(0),
            line: u32::try_from(raw.line).ok().filter(|&line| line > 0),
            detail: Some(text(&raw.detail)).filter(|detail| !detail.is_empty()),
        })
    }
}

/// Slot and point of an element of a field.
fn point(layout: &Layout, index: i64) -> (usize, Vec<i64>) {
    let level_stride = layout.level_stride() as i64;
    let mut rest = index.rem_euclid(level_stride);
    let coordinates = layout.strides().iter().map(|&stride| {
        let coordinate = rest / stride as i64;
        rest %= stride as i64;
        coordinate
    });
    ((index / level_stride) as usize, coordinates.collect())
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = if self.writes { "writes" } else { "reads" };
        let line = self.line.map_or(String::new(), |line| format!(", line {line}"));
        let thread = format!(
            "kernel {}, block {}, thread {}, after {} barrier(s){line}:",
            self.kernel,
            block_text(self.block),
            self.thread,
            self.interval
        );
        let detail = self.detail.as_deref().unwrap_or_default();
        let element = match &self.point {
            Some((slot, point)) => {
                let point: Vec<String> = point.iter().map(i64::to_string).collect();
                format!("{}[{}] of slot {slot}", self.array, point.join(", "))
            }
            None => format!("{}[{}]", self.array, self.index),
        };
        let problem = match self.kind {
            ViolationKind::GlobalBounds => format!("{access} {element}, outside the field's array"),
            ViolationKind::GlobalPadding => format!("{access} {element}, padding that belongs to no point"),
            ViolationKind::GlobalUnwritten => format!("{access} {element}, which nobody has computed"),
            ViolationKind::GlobalFixed => format!("{access} {element}, a point of the fixed boundary"),
            ViolationKind::GlobalRace | ViolationKind::BlockRace | ViolationKind::SharedRace => {
                format!("race: {access} {element}, which {}", self.other_text())
            }
            ViolationKind::SharedBounds => format!("{access} {element}, outside the shared array"),
            ViolationKind::SharedUnwritten => format!("{access} {element}, which the block has not written"),
            ViolationKind::SharedPlace => {
                format!(
                    "shared array {} is not aligned, or ends at byte {}, beyond the launch's shared memory",
                    self.array, self.index
                )
            }
            ViolationKind::DivergentBarrier => {
                let other = self.other.as_ref().map_or(0, |other| other.thread);
                match self.other.as_ref().and_then(|other| other.line) {
                    Some(line) => {
                        format!(
                            "waits at the barrier of line {}, thread {other} at that of line {line}",
                            self.index
                        )
                    }
                    None => {
                        format!("waits at the barrier of line {}, and thread {other} has ended", self.index)
                    }
                }
            }
            ViolationKind::DivergentWarp => format!("lanes of a warp do not meet: it {detail}"),
            ViolationKind::WrongMask => format!("calls with {detail}"),
            ViolationKind::InactiveLane => {
                format!("reads lane {} in a shuffle, which takes no part in it", self.index)
            }
            ViolationKind::PoisonStored => format!("writes {element} without a value: {detail}"),
            ViolationKind::PoisonDecides => format!("decides by what has no value: {detail}"),
            ViolationKind::LinkMisused => format!("link {element}: {detail}"),
            ViolationKind::Deadlock => format!("no warp can go on: it {detail}"),
            ViolationKind::Misaligned => {
                format!("{access} {element} and what follows at once, which is not aligned to that")
            }
            ViolationKind::EndlessSpin => format!("spins for ever at {element}: it {detail}"),
            ViolationKind::CopyPending => {
                let other = self.other.as_ref().map_or(0, |other| other.thread);
                format!("{access} {element}, to which thread {other} copies and has not waited for it")
            }
        };
        write!(f, "{thread} {problem}")
    }
}

impl Violation {
    fn other_text(&self) -> String {
        let Some(other) = &self.other else { return "another thread uses".to_owned() };
        let verb = if other.writes { "wrote" } else { "read" };
        let line = other.line.map_or(String::new(), |line| format!(" at line {line}"));
        if self.kind == ViolationKind::BlockRace {
            format!(
                "thread {} of block {} {verb}{line} in the same launch",
                other.thread,
                block_text(other.block)
            )
        } else if self.line.is_some() {
            format!("thread {} {verb}{line}, and nothing orders the two", other.thread)
        } else {
            format!("thread {} {verb} since the last barrier", other.thread)
        }
    }
}

fn block_text(block: [u32; 3]) -> String {
    format!("({}, {}, {})", block[0], block[1], block[2])
}
