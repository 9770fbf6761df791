//! The baseline: one launch per statement and time step, the domain cut into blocks.

use super::{SPACE_SIZES, Strategy, Target, check_size};
use crate::int_expr::{int, var};
use crate::plan::{Instance, Kernel, KernelPlan, Launch, Loop, Range, bound};
use crate::{PlanError, TileSizes};
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use std::sync::Arc;

/// One launch per statement and time step.
#[derive(Debug, Clone, Copy)]
pub struct Naive;

const BLOCK_NAMES: [&str; 3] = ["b0", "b1", "b2"];

impl Strategy for Naive {
    fn name(&self) -> &'static str {
        "naive"
    }

    fn description(&self) -> &'static str {
        "one launch per statement and time step (the baseline)"
    }

    fn default_tile(&self, program: &Program, _cone: &Cone, target: Target) -> TileSizes {
        let sizes: &[i64] = match (target, program.dimension()) {
            (Target::OpenMp, 1) => &[4096],
            (Target::OpenMp, 2) => &[16, 0],
            (Target::OpenMp, _) => &[2, 16, 0],
            (Target::Cuda, 1) => &[256],
            (Target::Cuda, 2) => &[8, 32],
            (Target::Cuda, _) => &[2, 4, 32],
        };
        TileSizes::new(SPACE_SIZES.into_iter().zip(sizes.iter().copied()))
    }

    fn plan(&self, program: &Arc<Program>, _cone: &Cone, tile: &TileSizes) -> Result<KernelPlan, PlanError> {
        let mut sizes = Vec::new();
        for name in &SPACE_SIZES[..program.dimension()] {
            sizes.push(check_size(self.name(), tile, name, 0, " (0: the whole dimension)")?);
        }
        let kernels =
            (0..program.statements.len()).map(|statement| kernel(program, statement, &sizes)).collect();
        Ok(KernelPlan {
            program: program.clone(),
            strategy: self.name(),
            tile: tile.clone(),
            outer: Loop { variable: "step", low: int(0), high: var("steps") - 1 },
            launches: (0..program.statements.len()).map(|kernel| Launch { kernel, when: None }).collect(),
            kernels,
        })
    }
}

/// Statement `k` over its whole domain: block `b_d` holds the points `size*b_d .. size*(b_d + 1)`.
fn kernel(program: &Program, index: usize, sizes: &[i64]) -> Kernel {
    let statement = &program.statements[index];
    let (mut blocks, mut ranges, mut full_when) = (Vec::new(), Vec::new(), Vec::new());
    for (d, &size) in sizes.iter().enumerate() {
        let first = bound(statement.domain[d].low, d);
        let last = bound(statement.domain[d].high, d) - 1;
        if size == 0 {
            ranges.push(Range { low: first, high: last });
            continue;
        }
        let corner = var(BLOCK_NAMES[d]) * size;
        full_when.push(corner.clone() - first.clone());
        full_when.push(last.clone() - (corner.clone() + (size - 1)));
        blocks.push(Loop {
            variable: BLOCK_NAMES[d],
            low: first.floor_div(size),
            high: last.floor_div(size),
        });
        ranges.push(Range { low: corner.clone(), high: corner + (size - 1) });
    }
    let target = program.statement_name(index);
    Kernel {
        name: format!("step_{target}"),
        comment: format!("one time step of {target}: every block computes its own points"),
        blocks,
        bindings: Vec::new(),
        sub_tiles: Vec::new(),
        rows: Loop { variable: "m", low: int(0), high: int(0) },
        instances: vec![Instance { statement: index, step: var("step"), ranges, in_full_tiles: true }],
        full_when,
    }
}
