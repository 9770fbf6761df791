//! What a tiling strategy is: the one trait that all of them implement.

pub use super::target::Target;
use super::tile_space::{TileSpace, refused};
use super::time_skewing::name::NAME as FOR_SWEEPS;
use crate::counts::forms::Forms;
use crate::plan::{KernelPlan, joined};
use crate::{PlanError, TileSizes};
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// A way to order and to group the statement instances of a program.
pub trait Strategy: Sync {
    /// Name on the command line, unique.
    fn id(&self) -> &'static str;

    /// One line for the user.
    fn description(&self) -> &'static str;

    /// The names of all tile sizes that it has for any program.
    fn size_names(&self) -> &'static [&'static str];

    /// Whether the strategy can tile this program: what [`Strategy::tiles`] says, and whether the order of its points suits.
    ///
    /// # Errors
    /// The reason for the refusal, as half a sentence.
    fn takes(&self, program: &Program, cone: &Cone) -> Result<(), String> {
        order_suits(self.takes_sweeps_in_order(), program)?;
        self.tiles(program, cone)
    }

    /// Whether the strategy can tile this program, the order of its points apart: all that there are, unless it says
    /// otherwise.
    ///
    /// # Errors
    /// The reason for the refusal, as half a sentence.
    fn tiles(&self, _program: &Program, _cone: &Cone) -> Result<(), String> {
        Ok(())
    }

    /// Whether it can tile sweeps in order ([`Program::in_order`]), whose points depend on others of their row.
    fn takes_sweeps_in_order(&self) -> bool {
        false
    }

    /// Whether its plans of a program, which it takes, can be printed for this target.
    ///
    /// # Errors
    /// The reason for the refusal, as half a sentence.
    fn for_target(&self, _program: &Program, _target: Target) -> Result<(), String> {
        Ok(())
    }

    /// Whether its plans of a program, which it takes, have spare slots: twice the memory of fields that change.
    fn needs_spare_slots(&self, _program: &Program) -> bool {
        false
    }

    /// The tile sizes that it takes for this program, which it takes.
    fn space(&self, program: &Program, cone: &Cone) -> TileSpace;

    /// Whether sizes of the space, each of which is possible by itself, are possible together.
    ///
    /// # Errors
    /// The size that should be another one, and why, as a sentence.
    fn fits(&self, _program: &Program, _tile: &TileSizes) -> Result<(), (&'static str, String)> {
        Ok(())
    }

    /// Tile sizes that are legal for this program and sensible for this target.
    fn default_tile(&self, program: &Program, cone: &Cone, target: Target) -> TileSizes;

    /// A value of a size in words, for reports: `s0: flat top of 16 points`.
    fn size_text(&self, name: &str, value: i64) -> String {
        format!("{name}: {value}")
    }

    /// Whether it takes part in a choice among strategies for a target: `--strategy auto`, searches over models, and codesign. One
    /// that does not is for those who name it.
    fn in_auto(&self, _target: Target) -> bool {
        true
    }

    /// Whether its tiles were measured on devices of a target. Of a strategy whose tiles were not, those who choose by a model alone
    /// take one only where that finds it clearly faster.
    fn is_measured_on(&self, _target: Target) -> bool {
        true
    }

    /// Whether results and times of others are compared with its own: one strategy is.
    fn is_baseline(&self) -> bool {
        false
    }

    /// Closed forms of its counts, and bounds. Without them, its plan is enumerated where counts are asked for.
    fn closed_forms(&self) -> Option<Box<dyn Forms>> {
        None
    }

    /// Its own sizes for a grid on a GPU with so many multiprocessors, where they are better than what models, which do not know
    /// its text, would choose of all. Where there are several, the machine decides between them: usual ones come first.
    fn own_tiles(&self, _program: &Program, _size: &[i64], _multiprocessors: i64) -> Vec<TileSizes> {
        Vec::new()
    }

    /// Its own sizes for a grid, so many steps and so many cores, where they are better than what models, which do not know
    /// its diagonals, would choose.
    fn own_tile_on_cores(
        &self,
        _program: &Program,
        _problem: (&[i64], i64),
        _threads: i64,
    ) -> Option<TileSizes> {
        None
    }

    /// The plan for sizes that lie in the space; use [`plan`], which makes sure of it.
    fn plan(&self, program: &Arc<Program>, cone: &Cone, tile: &TileSizes) -> KernelPlan;
}

/// The plan of a strategy for complete tile sizes, in which rows that share values are joined.
///
/// # Errors
/// [`PlanError::Refused`] where the strategy cannot tile the program, [`PlanError::Tile`] for a size that is not
/// possible, with what would be.
pub fn plan(
    strategy: &dyn Strategy,
    program: &Arc<Program>,
    cone: &Cone,
    tile: &TileSizes,
) -> Result<KernelPlan, PlanError> {
    taken(strategy, program, cone)?;
    strategy.space(program, cone).check(strategy.id(), tile)?;
    strategy
        .fits(program, tile)
        .map_err(|(size, reason)| refused(strategy.id(), size, tile.get(size).unwrap_or(0), reason))?;
    let mut plan = strategy.plan(program, cone, tile);
    joined::join(&mut plan);
    Ok(plan)
}

/// Whether the strategy can tile this program.
///
/// # Errors
/// [`PlanError::Refused`] with the reason.
pub fn taken(strategy: &dyn Strategy, program: &Program, cone: &Cone) -> Result<(), PlanError> {
    strategy.takes(program, cone).map_err(|reason| refusal(strategy, program, reason))
}

/// Whether the points of a program may be computed in the order that a strategy takes them in.
fn order_suits(takes_sweeps: bool, program: &Program) -> Result<(), String> {
    match program.sweeps_in_order().next() {
        Some(statement) if !takes_sweeps => Err(format!(
            "`{}` is computed in place, each point from those before it in the same sweep, and this strategy takes the \
             points of a row in any order; use --strategy {FOR_SWEEPS}",
            program.statement_name(statement),
        )),
        _ => Ok(()),
    }
}

/// Whether the strategy has code for this target.
///
/// # Errors
/// [`PlanError::Refused`] with the reason.
pub fn has_target(strategy: &dyn Strategy, program: &Program, target: Target) -> Result<(), PlanError> {
    strategy.for_target(program, target).map_err(|reason| refusal(strategy, program, reason))
}

fn refusal(strategy: &dyn Strategy, program: &Program, reason: String) -> PlanError {
    PlanError::Refused { strategy: strategy.id().to_owned(), stencil: program.name.clone(), reason }
}

impl fmt::Debug for dyn Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl PartialEq for dyn Strategy {
    fn eq(&self, other: &dyn Strategy) -> bool {
        self.id() == other.id()
    }
}

impl Serialize for dyn Strategy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}
