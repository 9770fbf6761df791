//! What the warps of a block execute at a position of its stream: the instructions that the CUDA back end prints for it.

use super::lags::around;
use super::sizes;
use super::strips::{Team, reads_beside};
use super::team::computes_junk;
use super::tile::Sizes;
use crate::counts::accounting::Accounting;
use crate::counts::{Problem, TileCounts, TileWork, Work};
use crate::geometry::WARP;
use polyhedral::program::{Access, ElementType, FieldRole, Statement};
use std::collections::BTreeSet;

/// Instructions of a warp at a position besides rows and what it takes and leaves: its loop, the barrier, tests.
const POSITION: f64 = 12.0;
/// Those of the first and of the last warp, which load and store.
const LOADS: f64 = 20.0;
/// Those for the place of a coefficient's row.
const PLACE: f64 = 4.0;
/// Bytes of an access.
const ACCESS: i64 = 16;

/// What a tile of a kernel with these sizes executes, by its counts; its registers are those that its threads are given. `None`
/// where the text asks what each point is: of statements that cannot compute junk. On grids narrower than a strip it does, too.
pub(super) fn of_kernel(problem: &Problem, sizes: Sizes, counts: &TileCounts) -> Option<TileWork> {
    let program = &problem.program;
    if !computes_junk(program) {
        return None;
    }
    let registers = sizes::registers(program, sizes);
    Some(TileWork {
        full: position(problem, sizes),
        full_sub_tiles: positions(problem, sizes) as f64,
        full_launches: counts.wavefronts as f64,
        registers,
        needed: registers,
        ..TileWork::default()
    })
}

/// Positions of the stream of a block inside the grid.
fn positions(problem: &Problem, sizes: Sizes) -> i64 {
    let (before, behind) = around(&problem.program)[0].ghosts(sizes.depth());
    sizes.rows + before + behind + 2 * sizes.warps + 2
}

/// What all warps of a block execute at a position at which all rows run.
///
/// ```text
/// issued = W * (C * (R * operations + neighbours + boundary points) + 2 R / elements of an access + POSITION) + LOADS
/// ```
///
/// where operations, neighbours and boundary points are those of all statements, and what is loaded, stored, and in links is so of each
/// field and of each level that a step reads; and, for each row of a coefficient that a step reads, `R / elements of an access + PLACE` in
/// each step.
fn position(problem: &Problem, sizes: Sizes) -> Work {
    let program = &problem.program;
    let element = problem.element();
    let words = element.bytes() as f64 / 4.0;
    let Sizes { points, steps, warps, .. } = sizes;
    let [points, steps, warps] = [points, steps, warps].map(|size| size as f64);
    let team = Team::new(program, sizes, false);
    let fields = team.statements() as f64;
    let edges: i64 = (0..team.statements()).map(|own| team.boundary(own).0 + team.boundary(own).1).sum();
    let edges = edges as f64 * words;
    let rows = |statement: &Statement, wanted: &dyn Fn(&Access) -> bool| {
        let wanted = statement.reads.iter().filter(|read| wanted(read));
        wanted.map(|read| (read.field.0, read.time, read.offset[0])).collect::<BTreeSet<_>>().len() as f64
    };
    let shuffled = |statement: &Statement| {
        let (left, right) = reads_beside(statement, 1);
        (left + right) as f64 * words * rows(statement, &|read| read.offset[1] != 0)
    };
    let shuffles = steps * program.statements.iter().map(shuffled).sum::<f64>();
    let coefficient = |read: &Access| program.field(read.field).role == FieldRole::Coefficient;
    let weights: f64 = program.statements.iter().map(|statement| rows(statement, &coefficient)).sum();
    let coefficients = team.coefficients().len() as f64;
    let operations = fields * Accounting::new(problem).iteration().arithmetic * WARP as f64;
    let arithmetic = warps * steps * points * operations;
    let of_a_row = (points / (ACCESS / element.bytes() as i64) as f64).ceil();
    let levels = team.bands.levels as f64 * fields;
    let accesses = warps * (2.0 * levels * of_a_row + steps * weights * (of_a_row + PLACE));
    let loads = LOADS * (levels + 0.5 * coefficients);
    let issued = arithmetic + warps * (steps * edges + POSITION) + loads + warps * shuffles + accesses;
    // A double-length operation takes two cycles of a scheduler at least.
    let longest = if element == ElementType::F64 { arithmetic / 2.0 } else { arithmetic / 4.0 };
    Work {
        issued,
        arithmetic,
        shared: warps * words * ((2.0 * levels + steps * weights) * points + shuffles)
            + (2.0 * levels + coefficients) * words * points,
        ahead: (2.0 * levels + coefficients) * points * WARP as f64,
        // All warps are at the same place, so that nobody fills the others' waits: for neighbours in other lanes at each step, for
        // the row that comes, and the barrier.
        chain: longest.max(issued / 4.0),
        waits: steps * fields + 2.0,
        barriers: 1.0,
        ..Work::default()
    }
}
