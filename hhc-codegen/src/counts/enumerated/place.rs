//! Places in a plan's loops: which host iterations are looked at, and the tile in the middle of a launch.

use crate::int_expr::Environment;
use crate::plan::{Kernel, KernelPlan, Launch, Loop, SIZE_NAMES};

/// Host iterations that stand for themselves; of more of them, samples stand for those between both ends.
pub const ONE_BY_ONE: i64 = 1024;
/// Iterations at each end of a long run, where tiles may be cut off.
const AT_ENDS: i64 = 4;
/// Samples between them.
const BETWEEN: i64 = 16;

/// The names that every bound may mention.
pub fn environment(size: &[i64], steps: i64) -> Environment {
    let mut environment = Environment::new();
    environment.insert("steps", steps);
    environment.extend(SIZE_NAMES.into_iter().zip(size.iter().copied()));
    environment
}

/// Values of the host's loop, and how many each stands for; no more than `one_by_one` of them where that is a choice.
pub fn samples(low: i64, high: i64, one_by_one: i64) -> Vec<(i64, i64)> {
    let count = (high - low + 1).max(0);
    if count <= one_by_one.max(2 * AT_ENDS + BETWEEN) {
        return (low..=high).map(|value| (value, 1)).collect();
    }
    let (first, between) = (low + AT_ENDS, count - 2 * AT_ENDS);
    let cut = |n: i64| first + n * between / BETWEEN;
    let ends = (low..first).chain(high + 1 - AT_ENDS..=high).map(|value| (value, 1));
    ends.chain((0..BETWEEN).map(|n| ((cut(n) + cut(n + 1)) / 2, cut(n + 1) - cut(n)))).collect()
}

/// One launch that was looked at.
pub struct Launched<'a> {
    /// Index of the kernel.
    pub index: usize,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Blocks.
    pub blocks: i64,
    /// How many launches it stands for.
    pub weight: i64,
    /// Names and values outside the loops over blocks.
    pub environment: &'a Environment,
}

/// Visits the launches that have blocks. `few` looks at a few host iterations only.
pub fn for_each_launch(
    plan: &KernelPlan,
    (size, steps): (&[i64], i64),
    few: bool,
    mut visit: impl FnMut(&Launched<'_>) -> Option<()>,
) -> Option<()> {
    let mut environment = environment(size, steps);
    let (low, high) = (plan.outer.low.evaluate(&environment)?, plan.outer.high.evaluate(&environment)?);
    for (outer, weight) in samples(low, high, if few { 0 } else { ONE_BY_ONE }) {
        environment.insert(plan.outer.variable, outer);
        for Launch { kernel: index, when } in &plan.launches {
            if let Some(condition) = when
                && condition.evaluate(&environment)? < 0
            {
                continue;
            }
            let kernel = &plan.kernels[*index];
            let (mut blocks, mut inside) = (1, environment.clone());
            for block in &kernel.blocks {
                blocks *= middle(block, &mut inside)?;
            }
            if blocks > 0 {
                let environment = &environment;
                visit(&Launched { index: *index, kernel, blocks, weight, environment })?;
            }
        }
    }
    Some(())
}

/// Sets the variable of a loop to the value in the middle: the number of its values.
fn middle(source: &Loop, environment: &mut Environment) -> Option<i64> {
    let (low, high) = (source.low.evaluate(environment)?, source.high.evaluate(environment)?);
    environment.insert(source.variable, low + (high - low).max(0) / 2);
    Some((high - low + 1).max(0))
}

/// The block in the middle of a launch.
pub fn block_inside(launched: &Launched<'_>) -> Option<Environment> {
    let Launched { kernel, environment, .. } = launched;
    let mut inside = (*environment).clone();
    for block in &kernel.blocks {
        middle(block, &mut inside)?;
    }
    for binding in &kernel.bindings {
        let value = binding.value.evaluate(&inside)?;
        inside.insert(binding.name, value);
    }
    Some(inside)
}

/// The groups of rows of a sub-tile in that block: launches of a kernel that differ in it, as bands of different heights
/// do, are counted apart.
pub fn groups(launched: &Launched<'_>, block: &Environment) -> Option<i64> {
    let rows = &launched.kernel.rows;
    let mut inside = block.clone();
    for sub_tile in &launched.kernel.sub_tiles {
        middle(sub_tile, &mut inside)?;
    }
    Some((rows.high.evaluate(&inside)? - rows.low.evaluate(&inside)? + 1).max(0))
}

/// The sub-tile in the middle of the block in the middle of a launch, and how many sub-tiles the block has.
pub fn tile_inside(launched: &Launched<'_>) -> Option<(Environment, i64)> {
    let mut inside = block_inside(launched)?;
    let mut sub_tiles = 1;
    for sub_tile in &launched.kernel.sub_tiles {
        sub_tiles *= middle(sub_tile, &mut inside)?;
    }
    Some((inside, sub_tiles))
}
