//! The baseline: one launch per statement and time step, the domain cut into blocks.

mod forms;
mod search;
mod sizes;
mod sweeps;
mod tables;

use super::interface::{Strategy, Target};
use super::tile_space::{Along, LARGEST_SIZE, TileSize, TileSpace};
use crate::TileSizes;
use crate::counts::forms::Forms;
use crate::int_expr::{int, var};
use crate::plan::{Instance, Kernel, KernelPlan, Launch, Loop, Range, bound};
use crate::storage::Memory;
use crate::window::Windows;
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use sizes::SIZES;
use std::sync::Arc;

/// One launch per statement and time step.
#[derive(Debug, Clone, Copy)]
pub struct Naive;

const BLOCK_NAMES: [&str; 3] = ["b0", "b1", "b2"];

impl Strategy for Naive {
    fn id(&self) -> &'static str {
        "naive"
    }

    fn description(&self) -> &'static str {
        "one launch per statement and time step (the baseline)"
    }

    fn size_names(&self) -> &'static [&'static str] {
        &SIZES
    }

    fn space(&self, program: &Program, _cone: &Cone) -> TileSpace {
        let size = |d: usize| TileSize {
            name: SIZES[d],
            meaning: "the points of a block along this dimension",
            along: Along::Space(d),
            least: 1,
            most: LARGEST_SIZE,
            step: 1,
            whole: true,
        };
        let sizes = (0..program.dimension()).map(size).collect();
        TileSpace { sizes, optional: Vec::new(), constraints: Vec::new(), program: program.name.clone() }
    }

    fn default_tile(&self, program: &Program, _cone: &Cone, target: Target) -> TileSizes {
        let sizes: &[i64] = match (target, program.dimension()) {
            (Target::OpenMp, 1) => &[4096],
            (Target::OpenMp, 2) => &[16, 0],
            (Target::OpenMp, _) => &[2, 16, 0],
            (Target::Cuda, 1) => &[2048],
            (Target::Cuda, 2) => &[16, 128],
            (Target::Cuda, _) => &[16, 8, 32],
        };
        TileSizes::new(SIZES.into_iter().zip(sizes.iter().copied()))
    }

    fn size_text(&self, name: &str, value: i64) -> String {
        format!("{name}: {value} {}", if value == 1 { "point" } else { "points" })
    }

    fn is_baseline(&self) -> bool {
        true
    }

    fn closed_forms(&self) -> Option<Box<dyn Forms>> {
        Some(Box::new(search::BlockForms))
    }

    fn plan(&self, program: &Arc<Program>, _cone: &Cone, tile: &TileSizes) -> KernelPlan {
        let sizes: Vec<i64> = SIZES[..program.dimension()].iter().filter_map(|name| tile.get(name)).collect();
        let kernels =
            (0..program.statements.len()).map(|statement| kernel(program, statement, &sizes)).collect();
        KernelPlan {
            program: program.clone(),
            strategy: self.id(),
            tile: tile.clone(),
            outer: Loop { variable: "step", low: int(0), high: var("steps") - 1 },
            bands: None,
            launches: (0..program.statements.len()).map(|kernel| Launch { kernel, when: None }).collect(),
            kernels,
            windows: Windows::default(),
            witnesses: Vec::new(),
        }
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
        blocks_alike: true,
        bindings: Vec::new(),
        sub_tiles: Vec::new(),
        team: false,
        rows: Loop { variable: "m", low: int(0), high: int(0) },
        instances: vec![Instance::in_arrays(program, index, var("step"), ranges, true)],
        memory: Memory::Arrays,
        storages: Vec::new(),
        transfers: Vec::new(),
        warps: Vec::new(),
        links: Vec::new(),
        full_when,
    }
}
