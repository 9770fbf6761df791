//! Grids with ghost zones around periodic ones, as the text of both targets has them: bands of steps are computed there, and
//! copies of the points around the ends go before each band (`docs/decisions/0068-bands-around-the-ends.md`).

use crate::plan::KernelPlan;
use crate::plan_counts::steps_of_tile;
use c_tree::{Expr, Stmt, int, var};
use polyhedral::ghost::Ghosts;
use polyhedral::program::{Boundary, FieldRole, Program};
use serde::Serialize;

/// What the template of the copies receives: per dimension, counted from the innermost of three, ghost points below and
/// above.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Zones {
    /// What each step needs.
    reach: String,
    /// What is needed once.
    frame: String,
    /// The least number of steps of a band but the last.
    cycle: i64,
    /// Steps of a tile.
    tile_steps: i64,
    /// The indices that wrap around, for a comment.
    indices: String,
    /// Which dimensions these are, for a comment: `n0 and n1`.
    sizes: String,
}

impl Zones {
    /// The zones of a periodic program; none of another one.
    pub(super) fn of(plan: &KernelPlan) -> Option<Zones> {
        let program = &*plan.program;
        // The pipeline proved that there are some.
        let zones = program.is_periodic().then(|| Ghosts::around(program).ok()).flatten()?;
        let rows = |pairs: &[[i64; 2]]| {
            let missing = std::iter::repeat_n(&[0, 0], 3 - pairs.len());
            let rows = missing.chain(pairs).map(|[low, high]| format!("{{ {low}, {high} }}"));
            rows.collect::<Vec<_>>().join(", ")
        };
        let around = || (0..program.dimension()).filter(|&d| program.periodic[d]);
        Some(Zones {
            reach: rows(&zones.reach),
            frame: rows(&zones.frame),
            cycle: program.cycle(),
            tile_steps: steps_of_tile(plan),
            indices: around().map(|d| program.space_indices[d].clone()).collect::<Vec<_>>().join(", "),
            sizes: around().map(|d| format!("n{d}")).collect::<Vec<_>>().join(" and "),
        })
    }
}

/// Sizes or strides as an array of three, `missing` where the program has fewer dimensions.
pub(super) fn three(values: Vec<Expr>, missing: i64) -> Expr {
    let before = std::iter::repeat_n(int(missing), 3 - values.len());
    Expr::List(before.chain(values).collect())
}

/// Which slots of a field are copied when: the first so many of them.
pub(super) struct Copies {
    /// To the grid with ghost zones, in the beginning.
    pub(super) filled: i64,
    /// Around the ends, before each band but the first.
    pub(super) refreshed: i64,
    /// Back, in the end.
    pub(super) dropped: i64,
    /// Slots that hold a level in the beginning.
    levels: i64,
}

impl Copies {
    /// Those of field number `field`.
    pub(super) fn of(program: &Program, field: usize) -> Copies {
        let role = program.fields[field].role;
        let all = role.slots() as i64;
        match role {
            FieldRole::Coefficient => Copies { filled: 1, refreshed: 0, dropped: 0, levels: 0 },
            FieldRole::State { levels, .. } => {
                let levels = levels as i64;
                let filled = if program.boundary == Boundary::Fixed { levels } else { all };
                Copies { filled, refreshed: levels, dropped: all, levels }
            }
        }
    }

    /// A copy back of a slot, under the condition that some step wrote it.
    pub(super) fn once_held(&self, slot: i64, copy: Stmt) -> Stmt {
        if slot < self.levels { copy } else { Stmt::when(var("steps").gt(slot - self.levels), copy) }
    }
}
