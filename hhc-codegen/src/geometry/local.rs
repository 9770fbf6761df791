//! A plan's bounds relative to a corner of the tile: what a thread block computes with 32-bit integers.
//!
//! Each bound of a row is `corner_d + local_d(m)`, where `corner_d` holds all that depends on the block and the
//! sub-tile, and `local_d` depends on the row alone. The split is by substitution and is checked by evaluation,
//! so that it holds for the plan at hand, whichever strategy made it.

use super::threads::{Threads, points_at_once};
use crate::PlanError;
use crate::int_expr::{Environment, IntExpr, int};
use crate::plan::{Instance, Kernel, KernelPlan, SIZE_NAMES};
use polyhedral::program::Program;

/// The most groups of rows that a tile may have: all of them are enumerated.
pub const MOST_GROUPS: i64 = 1024;

/// A kernel's rows in local coordinates.
#[derive(Debug, Clone)]
pub struct LocalKernel {
    /// Per dimension: the point with local coordinate 0, over block variables, bindings and sub-tile variables.
    pub corner: Vec<IntExpr>,
    /// The time step with local time 0.
    pub first_step: IntExpr,
    /// Numbers of the first and the last group of rows.
    pub groups: (i64, i64),
    /// The rows of one group, in order.
    pub rows: Vec<LocalRow>,
    /// The dimension that each sub-tile loop advances in, and by how many points.
    pub advances: Vec<(usize, i64)>,
}

/// One row in local coordinates; bounds over the kernel's row variable.
#[derive(Debug, Clone)]
pub struct LocalRow {
    /// Statement.
    pub statement: usize,
    /// Whether it runs in full tiles.
    pub in_full_tiles: bool,
    /// Local time of group 0; it advances by one from group to group.
    pub step: i64,
    /// Per dimension: first and last point.
    pub ranges: Vec<(IntExpr, IntExpr)>,
    /// Per group from the first on: first and last point per dimension.
    pub boxes: Vec<Vec<(i64, i64)>>,
}

impl LocalKernel {
    /// Splits the bounds of a kernel.
    ///
    /// # Errors
    /// [`PlanError::Tile`] where a dimension is not cut, so that no window has a bounded extent;
    /// [`PlanError::Limit`] where the tile is too high.
    pub fn new(plan: &KernelPlan, kernel: &Kernel) -> Result<Self, PlanError> {
        let unsupported = |reason: &str| PlanError::Unsupported {
            target: "CUDA",
            kernel: kernel.name.clone(),
            strategy: plan.strategy.to_owned(),
            reason: reason.to_owned(),
        };
        let (Some(low), Some(high)) = (kernel.rows.low.constant(), kernel.rows.high.constant()) else {
            return Err(unsupported("its number of rows is not a constant"));
        };
        if high - low >= MOST_GROUPS {
            return Err(PlanError::Limit {
                what: format!("a tile with {}", plan.tile),
                needed: high - low + 1,
                limit: MOST_GROUPS,
                unit: "time steps".to_string(),
                hint: "reduce the size along time".to_string(),
            });
        }
        let row = kernel.rows.variable;
        let moving: Vec<&'static str> = (kernel.blocks.iter().chain(&kernel.sub_tiles))
            .map(|l| l.variable)
            .chain(kernel.bindings.iter().map(|binding| binding.name))
            .collect();
        let local =
            |expr: &IntExpr| moving.iter().fold(expr.clone(), |expr, name| expr.substitute(name, &int(0)));
        let origin = |expr: &IntExpr| {
            let at_low = expr.substitute(row, &int(low));
            let offset = local(&at_low).constant()?;
            Some(at_low - offset)
        };

        let dimension = plan.program.dimension();
        let first = kernel.instances.first().ok_or_else(|| unsupported("it has no rows"))?;
        let mut corner = Vec::new();
        for (d, range) in first.ranges.iter().enumerate() {
            let uncut = SIZE_NAMES.iter().any(|name| range.low.mentions(name) || range.high.mentions(name));
            let fixed = !kernel.sub_tiles.is_empty() || dimension > 1;
            if uncut || (fixed && !moving.iter().any(|name| range.low.mentions(name))) {
                // Sizes of 0, the whole dimension, come in the order of the dimensions.
                let size = plan.tile.iter().find(|(_, value)| *value == 0).map_or("size", |(name, _)| name);
                return Err(PlanError::Tile {
                    strategy: plan.strategy.to_string(),
                    size: size.to_string(),
                    value: plan.tile.get(size).unwrap_or(0),
                    reason: format!(
                        "the window of a tile in shared memory would be as large as the grid along dimension {d}; \
                         for CUDA every dimension must be cut, for example {size}=32"
                    ),
                });
            }
            corner.push(
                origin(&range.low).ok_or_else(|| unsupported("a bound depends on the size of the grid"))?,
            );
        }
        let first_step =
            origin(&first.step).ok_or_else(|| unsupported("a time step depends on the size of the grid"))?;

        let mut rows = Vec::new();
        for instance in &kernel.instances {
            let ranges: Vec<_> = instance.ranges.iter().map(|r| (local(&r.low), local(&r.high))).collect();
            let value = |expr: &IntExpr, group: i64| expr.substitute(row, &int(group)).constant();
            let step =
                value(&local(&instance.step), 0).ok_or_else(|| unsupported("a time step is not local"))?;
            let mut boxes = Vec::new();
            for group in low..=high {
                let bounds = ranges.iter().map(|(a, b)| Some((value(a, group)?, value(b, group)?)));
                boxes.push(
                    bounds.collect::<Option<Vec<_>>>().ok_or_else(|| unsupported("a bound is not local"))?,
                );
                if value(&local(&instance.step), group) != Some(step + group) {
                    return Err(unsupported("a group of rows is not one time step"));
                }
            }
            let Instance { statement, in_full_tiles, .. } = *instance;
            rows.push(LocalRow { statement, in_full_tiles, step, ranges, boxes });
        }

        let mut advances = Vec::new();
        for sub_tile in &kernel.sub_tiles {
            let advance = |expr: &IntExpr| {
                let zero = local(expr).constant()?;
                let one = local(&expr.substitute(sub_tile.variable, &int(1))).constant()?;
                Some(one - zero)
            };
            let found = (0..dimension).find_map(|d| Some((d, advance(&corner[d]).filter(|&size| size > 0)?)));
            advances.push(found.ok_or_else(|| unsupported("a loop over sub-tiles does not advance"))?);
        }
        let result = LocalKernel { corner, first_step, groups: (low, high), rows, advances };
        if !result.agrees(kernel, &moving) {
            return Err(unsupported("its bounds are not a corner and a local part"));
        }
        Ok(result)
    }

    /// The threads of a block.
    pub fn threads(&self, limit: i64) -> Threads {
        let widths = |d: usize| {
            let boxes = self.rows.iter().flat_map(|row| &row.boxes);
            boxes.map(move |bounds| bounds[d].1 - bounds[d].0 + 1)
        };
        let widest: Vec<i64> = (0..self.corner.len()).map(|d| widths(d).max().unwrap_or(1)).collect();
        Threads::new(&widest, widths(0).min().unwrap_or(1), limit)
    }

    /// Neighbours that a thread computes at once, per row of a group.
    pub fn points_at_once(&self, program: &Program, threads: &Threads) -> Vec<i64> {
        let of_row = |row: &LocalRow| {
            let width = row.boxes.iter().map(|bounds| bounds[0].1 - bounds[0].0 + 1).max().unwrap_or(1);
            points_at_once(program, row.statement, width / threads.per_dimension[0])
        };
        self.rows.iter().map(of_row).collect()
    }

    /// Whether corner and local part together are the plan's bounds, at a few places.
    fn agrees(&self, kernel: &Kernel, moving: &[&'static str]) -> bool {
        [0, 1, 2, 5, 1000].into_iter().all(|place| {
            let mut environment: Environment = moving
                .iter()
                .enumerate()
                .map(|(i, name)| (*name, place * (i as i64 + 1) + i as i64))
                .collect();
            (self.groups.0..=self.groups.1).all(|group| {
                environment.insert(kernel.rows.variable, group);
                kernel.instances.iter().zip(&self.rows).all(|(instance, row)| {
                    let index = (group - self.groups.0) as usize;
                    let steps = self.first_step.evaluate(&environment).map(|first| first + row.step + group);
                    let ranges = instance.ranges.iter().enumerate().all(|(d, range)| {
                        let corner = self.corner[d].evaluate(&environment);
                        range.low.evaluate(&environment) == corner.map(|c| c + row.boxes[index][d].0)
                            && range.high.evaluate(&environment) == corner.map(|c| c + row.boxes[index][d].1)
                    });
                    ranges && instance.step.evaluate(&environment) == steps
                })
            })
        })
    }
}
