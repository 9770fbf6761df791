//! Tiles whose points may be computed in any order within a time row: a box of each statement per step.

use super::tiles::{STEP, Tiles};
use crate::int_expr::var;
use crate::plan::{FullTiles, Instance, Kernel, SIZE_NAMES};
use crate::storage::Memory;

/// The kernel.
pub(super) fn kernel(tiles: &Tiles<'_>) -> Kernel {
    let program = tiles.program;
    let full = FullTiles::new(program, &tiles.cut());
    let row = |k: usize| {
        let ranges = (0..tiles.dimension()).map(|d| tiles.range(k, d, &[])).collect();
        Instance::in_arrays(program, k, var(STEP), ranges, full.runs[k])
    };
    let first = tiles.first_step();
    let last = first.clone() + (tiles.steps - 1);
    let mut full_when = vec![var("steps") - 1 - last.clone()];
    for d in (0..tiles.dimension()).filter(|&d| tiles.sizes[d] > 0) {
        let skew = &tiles.skews[d];
        let (least, most) = (skew.shifts.iter().min().unwrap_or(&0), skew.shifts.iter().max().unwrap_or(&0));
        let (low, high) = (tiles.corner(d), tiles.corner(d) + (tiles.sizes[d] - 1));
        full_when.push(low - last.clone() * skew.step - (most + full.low[d]));
        full_when.push(var(SIZE_NAMES[d]) - (1 + full.high[d]) - (high - first.clone() * skew.step - *least));
    }
    Kernel {
        name: "tile".to_owned(),
        comment: "one tile of a diagonal".to_owned(),
        blocks: tiles.blocks(),
        blocks_alike: false,
        bindings: tiles.bindings(),
        sub_tiles: Vec::new(),
        team: false,
        rows: tiles.time(),
        instances: (0..program.statements.len()).map(row).collect(),
        memory: Memory::Arrays,
        storages: Vec::new(),
        transfers: Vec::new(),
        warps: Vec::new(),
        links: Vec::new(),
        full_when,
    }
}
