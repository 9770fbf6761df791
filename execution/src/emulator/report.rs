//! What the emulator found, in words.

use super::foreign::{Counts, RawViolation};
use crate::layout::Layout;
use hhc_codegen::KernelPlan;
use serde::Serialize;
use std::fmt;

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
}

impl ViolationKind {
    /// In the order of `Kind` in `tw_checks.h`.
    const ALL: [ViolationKind; 11] = [
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
    /// The other thread of a race or of a divergent barrier.
    pub other: Option<OtherThread>,
    /// Name of the field or of the shared array; empty for a divergent barrier.
    pub array: String,
    /// Index of the element. For a divergent barrier the line of the text at which the thread waits.
    pub index: i64,
    /// For elements of fields within bounds: slot, and index of the point, slowest dimension first.
    pub point: Option<(usize, Vec<i64>)>,
    /// How many barriers the block had passed.
    pub interval: u64,
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
    /// At a divergent barrier: the line at which it waits; `None` where it has ended.
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
            line: (kind == ViolationKind::DivergentBarrier && raw.other_index >= 0)
                .then_some(raw.other_index),
        });
        let field = usize::try_from(raw.field).ok().and_then(|field| plan.program.fields.get(field));
        let name_bytes: Vec<u8> = raw.array.iter().copied().take_while(|&byte| byte != 0).collect();
        let outside = [ViolationKind::GlobalBounds, ViolationKind::GlobalPadding].contains(&kind);
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
                None => String::from_utf8_lossy(&name_bytes).into_owned(),
            },
            index: raw.index,
            point: field.filter(|_| !outside).map(|_| point(layout, raw.index)),
            interval: u64::try_from(raw.interval).unwrap_or(0),
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
        let thread = format!(
            "kernel {}, block {}, thread {}, after {} barrier(s):",
            self.kernel,
            block_text(self.block),
            self.thread,
            self.interval
        );
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
        };
        write!(f, "{thread} {problem}")
    }
}

impl Violation {
    fn other_text(&self) -> String {
        let Some(other) = &self.other else { return "another thread uses".to_owned() };
        let verb = if other.writes { "wrote" } else { "read" };
        if self.kind == ViolationKind::BlockRace {
            format!("thread {} of block {} {verb} in the same launch", other.thread, block_text(other.block))
        } else {
            format!("thread {} {verb} since the last barrier", other.thread)
        }
    }
}

fn block_text(block: [u32; 3]) -> String {
    format!("({}, {}, {})", block[0], block[1], block[2])
}
