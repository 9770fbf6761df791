//! Tiles of programs with sweeps in order: line by line, several lines at once.
//!
//! The points of a line wait for each other, each for as long as an update takes from the value before it to its own. So
//! neighbouring lines run in wavefronts, each some points behind the one before it, by the skew between them:
//!
//! ```text
//! line 0:      . . . . . x
//! line 1:      . . . x           the points x run at once
//! line 2:      . x
//! ```

use super::tiles::{STEP, Tiles};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{COORDINATES, Instance, Kernel, Loop, Range, RowOrder, overwrites_what_it_reads};
use crate::storage::Memory;
use polyhedral::program::Program;

/// The statement, where there are several.
const STATEMENT: &str = "k";
/// The skewed coordinate of a plane of lines, in three dimensions.
const PLANE: &str = "x0";
/// The number of a group of lines.
const LINES: &str = "line";

/// How many lines run at once: as many as their values have registers.
pub(super) fn at_once(program: &Program) -> i64 {
    let reads = program.sweeps_in_order().map(|k| program.statements[k].reads.len()).max();
    match reads.unwrap_or(0) {
        0..=16 => 8,
        17..=40 => 4,
        _ => 2,
    }
}

/// The kernel.
pub(super) fn kernel(tiles: &Tiles<'_>) -> Kernel {
    let (program, dimension) = (tiles.program, tiles.dimension());
    let statements = program.statements.len();
    let mut sub_tiles = vec![tiles.time()];
    if statements > 1 {
        sub_tiles.push(Loop { variable: STATEMENT, low: int(0), high: int(statements as i64 - 1) });
    }
    if dimension == 3 {
        sub_tiles.push(within(tiles, 0, PLANE, 1));
    }
    let rows = match dimension {
        1 => Loop { variable: LINES, low: int(0), high: int(0) },
        _ => within(tiles, dimension - 2, LINES, at_once(program)),
    };
    Kernel {
        name: "tile".to_owned(),
        comment: "one tile of a diagonal".to_owned(),
        blocks: tiles.blocks(),
        blocks_alike: false,
        bindings: tiles.bindings(),
        sub_tiles,
        team: false,
        rows,
        instances: (0..statements).map(|statement| row(tiles, statement)).collect(),
        memory: Memory::Arrays,
        storages: Vec::new(),
        transfers: Vec::new(),
        warps: Vec::new(),
        links: Vec::new(),
        // Lines are clipped one by one.
        full_when: vec![int(-1)],
    }
}

/// The coordinates of the tile in dimension `d` at which there are points in this step, in groups of so many.
fn within(tiles: &Tiles<'_>, d: usize, variable: &'static str, group: i64) -> Loop {
    let (least, most) = tiles.span(d);
    let moved = |end: IntExpr| (end + var(STEP) * tiles.skews[d].step).floor_div(group);
    let (low, high) = (moved(least), moved(most));
    match tiles.sizes[d] {
        0 => Loop { variable, low, high },
        size => {
            let first = tiles.corner(d);
            let last = first.clone() + (size - 1);
            // Sizes are multiples of groups.
            Loop { variable, low: first.floor_div(group).max(low), high: last.floor_div(group).min(high) }
        }
    }
}

/// The lines of a statement that run at once.
fn row(tiles: &Tiles<'_>, statement: usize) -> Instance {
    let (program, dimension) = (tiles.program, tiles.dimension());
    let mut ranges: Vec<Range> = Vec::new();
    let mut before: Vec<IntExpr> = Vec::new();
    if dimension == 3 {
        let plane = tiles.point(statement, 0, var(PLANE), &[]);
        ranges.push(Range { low: plane.clone(), high: plane.clone() });
        before.push(plane);
    }
    if dimension > 1 {
        let lines = at_once(program);
        let first = tiles.point(statement, dimension - 2, var(LINES) * lines, &before);
        ranges.push(Range { low: first.clone(), high: first + (lines - 1) });
        before.push(var(COORDINATES[dimension - 2]));
    }
    ranges.push(tiles.range(statement, dimension - 1, &before));
    let order = match program.in_order(statement) {
        true => {
            let mut factors = vec![0; dimension];
            factors[dimension - 1] = 1;
            if dimension > 1 {
                factors[dimension - 2] = tiles.skews[dimension - 1].cross[dimension - 2];
            }
            RowOrder::Skewed { factors }
        }
        false => RowOrder::Parallel { repeats: !overwrites_what_it_reads(program, statement) },
    };
    let only = || vec![var(STATEMENT) - statement as i64, int(statement as i64) - var(STATEMENT)];
    let when = if program.statements.len() > 1 { only() } else { Vec::new() };
    Instance { order, when, ..Instance::in_arrays(program, statement, var(STEP), ranges, true) }
}
