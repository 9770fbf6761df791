//! Numbers that follow from a plan: how many points, how many launches.

use crate::KernelPlan;
use crate::int_expr::Environment;
use crate::plan::{Kernel, Launch, SIZE_NAMES};
use polyhedral::program::Program;

/// Grid points that one time step computes: those of the largest domain among the statements, so that a point
/// counts once however many statements compute something there.
pub fn points_per_step(program: &Program, size: &[i64]) -> u64 {
    let points = |statement| {
        program.points(statement, size).iter().map(|(low, end)| (end - low).max(0) as u64).product()
    };
    (0..program.statements.len()).map(points).max().unwrap_or(0)
}

/// Iterations of the host loop that are counted at most.
const MOST_ITERATIONS: i64 = 10_000_000;

/// The number of launches for so many steps. With a `size`, launches without a block do not count. `None` where the
/// number depends on what is not given, or where there are too many to be counted.
pub fn launches(plan: &KernelPlan, size: Option<&[i64]>, steps: i64) -> Option<u64> {
    let mut environment = Environment::new();
    environment.insert("steps", steps);
    for (name, &extent) in SIZE_NAMES.iter().zip(size.unwrap_or_default()) {
        environment.insert(name, extent);
    }
    let (low, high) = (plan.outer.low.evaluate(&environment)?, plan.outer.high.evaluate(&environment)?);
    if high - low >= MOST_ITERATIONS {
        return None;
    }
    let mut launches = 0;
    for outer in low..=high {
        environment.insert(plan.outer.variable, outer);
        for launch in &plan.launches {
            let mut happens = match &launch.when {
                Some(condition) => condition.evaluate(&environment)? >= 0,
                None => true,
            };
            if size.is_some() && happens {
                for block in &plan.kernels[launch.kernel].blocks {
                    happens &= block.low.evaluate(&environment)? <= block.high.evaluate(&environment)?;
                }
            }
            launches += u64::from(happens);
        }
    }
    Some(launches)
}

/// Time steps that one tile spans, the highest of all kernels'; 1 where that depends on the grid.
pub fn steps_of_tile(plan: &KernelPlan) -> i64 {
    let height = |kernel: &Kernel| Some(kernel.rows.high.constant()? - kernel.rows.low.constant()? + 1);
    plan.kernels.iter().filter_map(height).max().unwrap_or(1).max(1)
}

/// The number of blocks of each launch of one host iteration, in order; 0 for a launch that does not happen. `None`
/// where a bound mentions an unknown variable.
pub fn blocks(plan: &KernelPlan, size: &[i64], steps: i64, outer: i64) -> Option<Vec<u64>> {
    let mut environment = Environment::new();
    environment.insert("steps", steps);
    environment.insert(plan.outer.variable, outer);
    environment.extend(SIZE_NAMES.into_iter().zip(size.iter().copied()));
    let count = |launch: &Launch| {
        if let Some(condition) = &launch.when
            && condition.evaluate(&environment)? < 0
        {
            return Some(0);
        }
        let mut count = 1;
        for block in &plan.kernels[launch.kernel].blocks {
            let extent = block.high.evaluate(&environment)? - block.low.evaluate(&environment)? + 1;
            count *= u64::try_from(extent).unwrap_or(0);
        }
        Some(count)
    };
    plan.launches.iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::strategy::{self, Target};
    use crate::{TileSizes, pipeline};
    use std::sync::Arc;

    fn plan(name: &str, strategy: &str, tile: &str) -> KernelPlan {
        let program = Arc::new(polyhedral::shipped::load(name).unwrap());
        let tile = TileSizes::parse(tile).unwrap();
        pipeline::plan(&program, strategy::by_name(strategy).unwrap(), &tile, Target::Cuda).unwrap().plan
    }

    #[test]
    fn one_launch_per_step_and_two_per_band() {
        let naive = plan("heat2d", "naive", "s0=8,s1=32");
        assert_eq!(launches(&naive, Some(&[100, 100]), 7), Some(7));
        assert_eq!(blocks(&naive, &[100, 100], 7, 3), Some(vec![13 * 4]));
        assert_eq!(points_per_step(&naive.program, &[100, 50]), 98 * 48);
        // Bands 0 ..= (7 + 1) / 4, the last of them with its first phase only.
        let tiled = plan("heat2d", "hhc", "st=2,s0=3,s1=32");
        assert_eq!(launches(&tiled, Some(&[100, 100]), 7), Some(5));
        assert_eq!(blocks(&tiled, &[100, 100], 7, 2).unwrap()[1], 0);
    }

    /// The closed forms are those of the plan's own enumeration.
    #[test]
    fn blocks_are_those_of_the_enumeration() {
        let plan = plan("heat2d", "hhc", "st=2,s0=3,s1=32");
        for (size, steps) in [([40, 33], 9), ([7, 90], 5)] {
            let mut seen = std::collections::BTreeSet::new();
            plan.for_each_row(&size, steps, |row| {
                seen.insert((row.outer, row.launch, row.block.to_vec()));
            })
            .unwrap();
            for outer in 0..3 {
                let counted = blocks(&plan, &size, steps, outer).unwrap();
                for (launch, &count) in counted.iter().enumerate() {
                    let enumerated =
                        seen.iter().filter(|(o, l, _)| (*o, *l) == (outer, launch)).count() as u64;
                    // A block whose rows are all clipped away is launched and does nothing.
                    assert!(count >= enumerated && count <= enumerated + 2, "{count} {enumerated}");
                }
            }
        }
    }
}
