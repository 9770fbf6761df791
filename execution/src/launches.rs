//! The launches of a plan in the order in which the host makes them, with their arguments.

use crate::error::{ExecutionError, Result};
use crate::layout::Layout;
use hhc_codegen::KernelPlan;
use hhc_codegen::int_expr::{Environment, IntExpr};
use hhc_codegen::plan::SIZE_NAMES;

/// One launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedLaunch {
    /// Index of the kernel in the plan.
    pub kernel: usize,
    /// Blocks: `x`, `y`, `z`. The last block loop of the kernel is `x`, the one before it `y`, then `z`.
    pub grid: [u32; 3],
    /// The integer arguments in the order of the kernels' parameters: extents, outer strides, level stride,
    /// steps; then the host variable and the lowest coordinate of each block loop.
    pub integers: Vec<i64>,
}

impl PlannedLaunch {
    /// How many of [`PlannedLaunch::integers`] stand before the parameters of the program.
    pub fn integers_before_parameters(dimension: usize) -> usize {
        // Extents, outer strides, level stride, steps.
        dimension + (dimension - 1) + 2
    }

    /// The strides of all dimensions but the innermost, of a grid of this dimension.
    pub fn strides(&self, dimension: usize) -> &[i64] {
        &self.integers[dimension..2 * dimension - 1]
    }
}

/// Calls `visit` with every launch that has at least one block; stops at the first error. What exceeds the
/// grid of a device is several launches.
///
/// # Errors
/// [`ExecutionError::Plan`] for a bound over an unknown variable or a kernel with more than three block loops,
/// and what `visit` returns.
pub fn for_each_launch(
    plan: &KernelPlan,
    layout: &Layout,
    steps: i64,
    mut visit: impl FnMut(&PlannedLaunch) -> Result<()>,
) -> Result<()> {
    if plan.program.too_small(layout.size()) {
        return Ok(());
    }
    let mut environment: Environment = SIZE_NAMES.into_iter().zip(layout.size().iter().copied()).collect();
    environment.insert("steps", steps);
    let mut common = layout.native_sizes();
    common.push(steps);
    let (low, high) = (value(&plan.outer.low, &environment)?, value(&plan.outer.high, &environment)?);
    for host in low..=high {
        environment.insert(plan.outer.variable, host);
        for launch in &plan.launches {
            let skipped = match &launch.when {
                Some(condition) => value(condition, &environment)? < 0,
                None => false,
            };
            if skipped {
                continue;
            }
            let kernel = &plan.kernels[launch.kernel];
            let mut ranges = Vec::new();
            for block in &kernel.blocks {
                ranges.push((value(&block.low, &environment)?, value(&block.high, &environment)?));
            }
            let integers: Vec<i64> = common.iter().copied().chain([host]).collect();
            for_each_part(&ranges, &mut |firsts, grid| {
                let integers = integers.iter().chain(firsts).copied().collect();
                visit(&PlannedLaunch { kernel: launch.kernel, grid, integers })
            })?;
        }
    }
    Ok(())
}

fn value(expression: &IntExpr, environment: &Environment) -> Result<i64> {
    expression.evaluate(environment).ok_or_else(|| {
        ExecutionError::Plan(format!("the bound `{}` mentions an unknown variable", expression))
    })
}

/// Most blocks in `x`, `y` and `z` of every device since compute capability 3.0.
const LARGEST_GRID: [i64; 3] = [i32::MAX as i64, 65_535, 65_535];

/// Cuts block loops with these inclusive bounds into grids that devices accept: one, but for very large loops.
/// `visit` gets the lowest coordinates and the grid.
fn for_each_part(
    ranges: &[(i64, i64)],
    visit: &mut impl FnMut(&[i64], [u32; 3]) -> Result<()>,
) -> Result<()> {
    if ranges.len() > LARGEST_GRID.len() {
        return Err(ExecutionError::Plan(format!(
            "a kernel has {} block loops, and at most 3 are possible",
            ranges.len()
        )));
    }
    let mut firsts: Vec<i64> = ranges.iter().map(|&(first, _)| first).collect();
    if ranges.iter().any(|(first, last)| first > last) {
        return Ok(());
    }
    loop {
        let mut grid = [1; 3];
        for (axis, (first, (_, last))) in firsts.iter().zip(ranges).rev().enumerate() {
            grid[axis] = (last - first + 1).min(LARGEST_GRID[axis]) as u32;
        }
        visit(&firsts, grid)?;
        // The next part: like an odometer, the last loop fastest.
        let mut axis = 0;
        loop {
            let Some(loop_number) = ranges.len().checked_sub(axis + 1) else { return Ok(()) };
            firsts[loop_number] += i64::from(grid[axis]);
            if firsts[loop_number] <= ranges[loop_number].1 {
                break;
            }
            firsts[loop_number] = ranges[loop_number].0;
            axis += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_loops_are_launched_in_parts() {
        let mut parts = Vec::new();
        let mut visit = |firsts: &[i64], grid: [u32; 3]| {
            parts.push((firsts.to_vec(), grid));
            Ok(())
        };
        for_each_part(&[(-1, 2), (5, 65_540), (0, 9)], &mut visit).unwrap();
        for_each_part(&[(3, 4)], &mut visit).unwrap();
        for_each_part(&[], &mut visit).unwrap();
        for_each_part(&[(3, 2), (0, 1)], &mut visit).unwrap();
        assert!(for_each_part(&[(0, 0); 4], &mut visit).is_err());
        let expected = [
            (vec![-1, 5, 0], [10, 65_535, 4]),
            (vec![-1, 65_540, 0], [10, 1, 4]),
            (vec![3], [2, 1, 1]),
            (vec![], [1, 1, 1]),
        ];
        assert_eq!(parts, expected);
    }
}
