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
}

/// Calls `visit` with every launch that has at least one block; stops at the first error.
///
/// # Errors
/// [`ExecutionError::Plan`] for a bound over an unknown variable or a grid beyond what devices accept, and
/// what `visit` returns.
pub fn for_each_launch(
    plan: &KernelPlan,
    layout: &Layout,
    steps: i64,
    mut visit: impl FnMut(&PlannedLaunch) -> Result<()>,
) -> Result<()> {
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
            let mut integers = common.clone();
            integers.push(host);
            let mut extents = Vec::new();
            for block in &kernel.blocks {
                let (first, last) = (value(&block.low, &environment)?, value(&block.high, &environment)?);
                integers.push(first);
                extents.push((last - first + 1).max(0));
            }
            if extents.contains(&0) {
                continue;
            }
            visit(&PlannedLaunch { kernel: launch.kernel, grid: grid(&kernel.name, &extents)?, integers })?;
        }
    }
    Ok(())
}

fn value(expression: &IntExpr, environment: &Environment) -> Result<i64> {
    expression.evaluate(environment).ok_or_else(|| {
        ExecutionError::Plan(format!("the bound `{}` mentions an unknown variable", expression.to_c()))
    })
}

/// Most blocks in `x`, `y` and `z` of every device since compute capability 3.0.
const LARGEST_GRID: [i64; 3] = [i32::MAX as i64, 65_535, 65_535];

fn grid(kernel: &str, extents: &[i64]) -> Result<[u32; 3]> {
    let mut grid = [1; 3];
    for (axis, &extent) in extents.iter().rev().enumerate() {
        let largest = LARGEST_GRID.get(axis).copied().unwrap_or(0);
        if extent > largest {
            let axis = ["x", "y", "z"].get(axis).copied().unwrap_or("a fourth dimension");
            return Err(ExecutionError::Plan(format!(
                "kernel `{kernel}` would have {extent} blocks in {axis}, and at most {largest} are possible; use larger tiles"
            )));
        }
        grid[axis] = extent as u32;
    }
    Ok(grid)
}
