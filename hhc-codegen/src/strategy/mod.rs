//! Tiling strategies: values behind one trait ([`Strategy`]). Adding one is one folder here and one line in [`all`].
//!
//! What a strategy is called, what it takes and which tile sizes it has is known in its folder alone; everybody else
//! asks the value.

mod bands;
mod complete;
mod diamond;
mod hhc;
pub(crate) mod interface;
mod lanes;
mod listed;
mod naive;
mod on_cores;
mod overlapped;
mod pieces;
mod pipeline_toy;
mod skew;
mod streaming;
mod streams;
mod target;
pub(crate) mod tile_space;
mod time_skewing;
mod warp_pipeline;

pub use interface::{Strategy, Target, has_target, plan, taken};
pub use tile_space::{Along, LARGEST_SIZE, LeastBy, OptionalSize, TileSize, TileSpace};

use crate::PlanError;
use crate::plan::joined;
use polyhedral::program::Program;
use text_escape::suggest::nearest;

/// All strategies, the preferred one first.
pub fn all() -> &'static [&'static dyn Strategy] {
    &[
        &hhc::HybridHexagonal,
        &naive::Naive,
        &overlapped::Overlapped,
        &pipeline_toy::PipelineToy,
        &warp_pipeline::WarpPipeline,
        &streaming::Streaming,
        &time_skewing::TimeSkewing,
        &diamond::Diamond,
    ]
}

/// The strategy whose results and times others are compared with: plain sweeps over the grid.
pub fn baseline() -> &'static dyn Strategy {
    all().iter().copied().find(|strategy| strategy.is_baseline()).unwrap_or(all()[0])
}

/// The strategy that is taken where nobody chooses.
pub fn preferred() -> &'static dyn Strategy {
    in_auto(Target::OpenMp).next().unwrap_or(baseline())
}

/// The strategies that a choice among strategies for a target considers, the preferred one first.
pub fn in_auto(target: Target) -> impl Iterator<Item = &'static dyn Strategy> {
    all().iter().copied().filter(move |strategy| strategy.in_auto(target))
}

/// The name that leaves the choice to us.
pub const AUTO: &str = "auto";

/// The strategy that is taken for this program where nobody chooses.
pub fn preferred_for(program: &Program) -> &'static dyn Strategy {
    let in_order = program.sweeps_in_order().next().is_some();
    let suits = |strategy: &&&dyn Strategy| strategy.takes_sweeps_in_order();
    all().iter().find(suits).copied().filter(|_| in_order).unwrap_or(preferred())
}

/// The strategy whose tiles compute, in rows of several statements, once what these share, where a program has so many of
/// them that no other tiles come near.
pub fn for_shared_values(program: &Program) -> Option<&'static dyn Strategy> {
    let in_order = program.sweeps_in_order().next().is_some();
    let shares = joined::large_runs(program).next().is_some();
    (shares && !in_order).then_some(&diamond::Diamond)
}

/// What this program is compared with: the baseline, where that takes its points in a possible order.
pub fn baseline_for(program: &Program) -> &'static dyn Strategy {
    let in_order = program.sweeps_in_order().next().is_some();
    if in_order { preferred_for(program) } else { baseline() }
}

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
    use std::sync::Arc;

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
