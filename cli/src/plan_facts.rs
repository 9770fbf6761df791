//! Numbers that follow from a plan: how many points, how many launches.

use hhc_codegen::KernelPlan;
use hhc_codegen::int_expr::Environment;
use hhc_codegen::plan::SIZE_NAMES;
use polyhedral::program::Program;

/// Grid points that one time step computes: those of the largest domain among the statements, so that a point
/// counts once however many statements compute something there.
pub fn points_per_step(program: &Program, size: &[i64]) -> u64 {
    let points = |statement| {
        program.domain(statement, size).iter().map(|(low, end)| (end - low).max(0) as u64).product()
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
