//! How the points of a row follow each other, and what is asked of rows for that.

use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Instance, Kernel, KernelPlan, Role, RowOrder, joined};
use crate::storage::{Memory, Place, Slot, Sync};

/// The coordinates of an event's point.
const EVENT_POINT: [&str; 3] = ["p0", "p1", "p2"];

/// Factors of a wavefront at most: with more, the numbers of wavefronts of large grids would overflow.
const LARGEST_FACTOR: u64 = 1 << 12;

/// That rows can run in the order that they name: a factor for each dimension, and a barrier after each wavefront. Kernels
/// on the arrays alone have rows that work on them as the program does, ordered by barriers, and nothing else: their proof
/// sees instances only. Rows are slanted there alone. Those that are joined can be computed point by point.
pub(super) fn orders(plan: &KernelPlan) -> Result<(), String> {
    let dimension = plan.program.dimension();
    for kernel in &plan.kernels {
        if kernel.memory == Memory::Arrays && !(kernel.transfers.is_empty() && kernel.warps.is_empty()) {
            return Err(format!("kernel {} works on the arrays alone, and has more than rows", kernel.name));
        }
        joined::check(&plan.program, kernel)?;
        for (at, instance) in kernel.instances.iter().enumerate() {
            let name = plan.program.statement_name(instance.statement);
            let wrong = |what: String| Err(format!("row {at}, {name}, of kernel {}: {what}", kernel.name));
            if kernel.memory != Memory::Storages && instance.sync != Sync::Barrier {
                return wrong("rows that work on the arrays alone are followed by a barrier".to_owned());
            }
            if kernel.memory == Memory::Arrays && !works_as_the_program(kernel, instance) {
                return wrong("it does not work on the arrays as the program does".to_owned());
            }
            if instance.slanted().is_some() && !(kernel.memory == Memory::Arrays && kernel.in_parts()) {
                return wrong(
                    "it is slanted, in a kernel that is not printed row by row on the arrays".to_owned(),
                );
            }
            if let Some((d, _)) = instance.slanted() {
                if d + 2 != dimension || instance.lines().is_none() {
                    return wrong(
                        "it is slanted, and does not consist of some lines along the last dimension"
                            .to_owned(),
                    );
                }
                let along_lines = match &instance.order {
                    RowOrder::Parallel { .. } => true,
                    RowOrder::Skewed { factors } => factors.last() == Some(&1),
                    RowOrder::Sequential => false,
                };
                if !along_lines {
                    return wrong("it is slanted, and its lines do not run at once".to_owned());
                }
            }
            let RowOrder::Skewed { factors } = &instance.order else { continue };
            if factors.len() != dimension {
                return wrong(format!("{} factors skew it in {dimension} dimensions", factors.len()));
            }
            if let Some(factor) = factors.iter().find(|factor| factor.unsigned_abs() > LARGEST_FACTOR) {
                return wrong(format!("the factor {factor} is larger than {LARGEST_FACTOR}"));
            }
            if instance.sync == Sync::Nothing {
                return wrong(
                    "nothing waits for its wavefronts: it needs a barrier, or its warp's".to_owned(),
                );
            }
        }
    }
    Ok(())
}

/// Whether a row runs instances of its own, from the slots of their levels into that of theirs.
fn works_as_the_program(kernel: &Kernel, instance: &Instance) -> bool {
    // Conditions are printed where rows are printed one by one.
    let always = instance.when.is_empty() || kernel.in_parts();
    let own = matches!(instance.role, Role::Owner) && instance.junk.is_none() && always;
    own && instance.reads.is_empty() && instance.writes == [Place::Arrays(Slot::OfLevel)]
}

/// What orders the points of a row, compared lexicographically.
pub(super) fn within(instance: &Instance) -> Vec<IntExpr> {
    let points = || instance.ranges.iter().zip(EVENT_POINT).map(|(_, point)| var(point));
    match &instance.order {
        RowOrder::Parallel { .. } => Vec::new(),
        RowOrder::Sequential => points().collect(),
        RowOrder::Skewed { factors } => {
            vec![points().zip(factors).fold(int(0), |sum, (point, &factor)| sum + point * factor)]
        }
    }
}
