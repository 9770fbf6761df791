//! Tiling strategies: values behind one trait. Adding one is one folder here and one line in [`all`].
//!
//! What a strategy is called, what it takes and which tile sizes it has is known in its folder alone; everybody else
//! asks the value.

mod bands;
mod hhc;
mod naive;
mod overlapped;
mod pipeline_toy;
mod tile_space;

pub use tile_space::{Along, LARGEST_SIZE, LeastBy, TileSize, TileSpace};

use crate::counts::Forms;
use crate::plan::KernelPlan;
use crate::{PlanError, TileSizes};
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;
use text_escape::suggest::nearest;

/// What the default tile sizes are chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// Cores with caches.
    OpenMp,
    /// Thread blocks with shared memory.
    Cuda,
}

/// A way to order and to group the statement instances of a program.
pub trait Strategy: Sync {
    /// Name on the command line, unique.
    fn id(&self) -> &'static str;

    /// One line for the user.
    fn description(&self) -> &'static str;

    /// The names of all tile sizes that it has for any program.
    fn size_names(&self) -> &'static [&'static str];

    /// Whether the strategy can tile this program: all that there are, unless it says otherwise.
    ///
    /// # Errors
    /// The reason for the refusal, as half a sentence.
    fn takes(&self, _program: &Program, _cone: &Cone) -> Result<(), String> {
        Ok(())
    }

    /// The tile sizes that it takes for this program, which it takes.
    fn space(&self, program: &Program, cone: &Cone) -> TileSpace;

    /// Tile sizes that are legal for this program and sensible for this target.
    fn default_tile(&self, program: &Program, cone: &Cone, target: Target) -> TileSizes;

    /// A value of a size in words, for reports: `s0: flat top of 16 points`.
    fn size_text(&self, name: &str, value: i64) -> String {
        format!("{name}: {value}")
    }

    /// Whether it takes part in a choice among strategies: `--strategy auto`, and codesign. One that does not is for
    /// those who name it.
    fn in_auto(&self) -> bool {
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

    /// The plan for sizes that lie in the space; use [`plan`], which makes sure of it.
    fn plan(&self, program: &Arc<Program>, cone: &Cone, tile: &TileSizes) -> KernelPlan;
}

/// The plan of a strategy for complete tile sizes.
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
    Ok(strategy.plan(program, cone, tile))
}

/// Whether the strategy can tile this program.
///
/// # Errors
/// [`PlanError::Refused`] with the reason.
pub fn taken(strategy: &dyn Strategy, program: &Program, cone: &Cone) -> Result<(), PlanError> {
    strategy.takes(program, cone).map_err(|reason| PlanError::Refused {
        strategy: strategy.id().to_owned(),
        stencil: program.name.clone(),
        reason,
    })
}

/// All strategies, the preferred one first.
pub fn all() -> &'static [&'static dyn Strategy] {
    &[&hhc::HybridHexagonal, &naive::Naive, &overlapped::Overlapped, &pipeline_toy::PipelineToy]
}

/// The strategy whose results and times others are compared with: plain sweeps over the grid.
pub fn baseline() -> &'static dyn Strategy {
    all().iter().copied().find(|strategy| strategy.is_baseline()).unwrap_or(all()[0])
}

/// The strategy that is taken where nobody chooses.
pub fn preferred() -> &'static dyn Strategy {
    in_auto().next().unwrap_or(baseline())
}

/// The strategies that a choice among strategies considers, the preferred one first.
pub fn in_auto() -> impl Iterator<Item = &'static dyn Strategy> {
    all().iter().copied().filter(|strategy| strategy.in_auto())
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

/// The name that leaves the choice to us.
pub const AUTO: &str = "auto";

/// The strategy of this name; [`AUTO`] is the preferred one.
///
/// # Errors
/// [`PlanError::UnknownStrategy`] lists the names and says which one is near.
pub fn by_name(name: &str) -> Result<&'static dyn Strategy, PlanError> {
    if name == AUTO {
        return Ok(preferred());
    }
    let names = || all().iter().map(|strategy| strategy.id()).chain([AUTO]);
    all().iter().copied().find(|strategy| strategy.id() == name).ok_or_else(|| PlanError::UnknownStrategy {
        name: name.to_owned(),
        known: names().collect::<Vec<_>>().join(", "),
        nearest: nearest(name, names()).map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_unique_and_found() {
        let ids: BTreeSet<_> = all().iter().map(|strategy| strategy.id()).collect();
        assert_eq!(ids.len(), all().len());
        for strategy in all() {
            assert_eq!(by_name(strategy.id()).unwrap().id(), strategy.id());
            assert!(!strategy.description().is_empty());
            let misspelt = format!("{}x", strategy.id());
            let error = by_name(&misspelt).err().unwrap();
            let PlanError::UnknownStrategy { nearest, .. } = error else { panic!("{error}") };
            assert_eq!(nearest.as_deref(), Some(strategy.id()));
        }
        assert_eq!(by_name(AUTO).unwrap().id(), preferred().id());
        assert!(all().iter().filter(|strategy| strategy.is_baseline()).count() == 1);
    }

    /// Defaults lie in the space of every strategy, for every shipped stencil and target.
    #[test]
    fn defaults_are_possible() {
        for name in polyhedral::shipped::names() {
            let program = Arc::new(polyhedral::shipped::load(name).unwrap());
            let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
            for strategy in all() {
                if strategy.takes(&program, &cone).is_err() {
                    continue;
                }
                for target in [Target::OpenMp, Target::Cuda] {
                    let tile = strategy.default_tile(&program, &cone, target);
                    let space = strategy.space(&program, &cone);
                    space.check(strategy.id(), &tile).unwrap_or_else(|error| panic!("{name}: {error}"));
                    assert!(tile.iter().map(|(name, _)| name).eq(space.names()), "{name}: {tile}");
                }
            }
        }
    }
}
