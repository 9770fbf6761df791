//! Tile sizes for a CPU: the least predicted value over all tiles that a strategy names.
//!
//! Where the tiles are products of depths, widths and inner sizes, they are searched as such (`products`); where a
//! strategy names few tiles, each is evaluated. [`good_tile`] finds a good one in less time, without a proof.

mod coarse;
#[cfg(test)]
mod compared;
mod products;
mod sample;
#[cfg(test)]
mod testing;

pub use coarse::{Counted, good_tile, good_tiles, unlike_tiles};
pub use sample::stratified;

use crate::search::{Bound, Found, Search, Space, search};
use crate::tuned::{Certificate, Choice, Method, Tuned};
use cost_models::cpu::CpuCost;
use cost_models::model::CostModel;
use cost_models::objective::Objective;
use hhc_codegen::TileSizes;
use hhc_codegen::counts::cores::CoreSpace;
use hhc_codegen::counts::forms;
use hhc_codegen::strategy::Strategy;
use products::ProductSpace;
use std::ops::ControlFlow;
use std::time::Instant;

/// The best tile sizes of each of the strategies that can tile the program, the best strategy first (super-tuning,
/// formulation (i)).
pub fn super_tune_cpu(
    model: &CpuCost,
    strategies: &[&'static dyn Strategy],
    method: Method,
    objective: Objective,
) -> Vec<Tuned> {
    let tuned = |&strategy: &&'static dyn Strategy| tune_cpu(model, strategy, method, objective);
    let mut solved: Vec<Tuned> = strategies.iter().filter_map(tuned).collect();
    solved.sort_by(|a, b| a.certificate.value.total_cmp(&b.certificate.value));
    solved
}

/// The best tile sizes of a strategy; `None` where it cannot tile the program, or where the objective needs energies that
/// the model has not.
pub fn tune_cpu(
    model: &CpuCost,
    strategy: &'static dyn Strategy,
    method: Method,
    objective: Objective,
) -> Option<Tuned> {
    let start = Instant::now();
    let cores = model.time.cores();
    strategy.takes(&cores.program, &cores.cone).ok()?;
    if objective.needs_energy() && model.energy.is_none() {
        return None;
    }
    let (tile, certificate) = match forms(strategy).core_space(cores) {
        CoreSpace::Each(tiles) => best_of_list(&ListSpace { model, strategy, tiles, objective }),
        CoreSpace::Products(space) => {
            products::best(&ProductSpace::new(model, space.as_ref(), method, objective))
        }
    }?;
    let counts = model.counts(strategy, &tile).ok()?;
    Some(Tuned {
        choice: Choice { strategy: strategy.id(), tile, k: 1 },
        evaluation: model.cost(&counts),
        relaxed: None,
        certificate,
        method,
        elapsed_s: start.elapsed().as_secs_f64(),
    })
}

/// A list of tiles, of which nothing is known.
struct ListSpace<'a> {
    model: &'a CpuCost,
    strategy: &'static dyn Strategy,
    tiles: Vec<TileSizes>,
    objective: Objective,
}

impl Space for ListSpace<'_> {
    type Part = ();
    type Place = ();
    type Candidate = usize;
    const BEST_FIRST: bool = false;

    fn begin(&self, search: &mut Search<'_, Self>) -> ControlFlow<()> {
        for (index, tile) in self.tiles.iter().enumerate() {
            if let Ok(counts) = self.model.counts(self.strategy, tile) {
                search.candidate(Some(self.objective.of(self.model, &counts)), index);
            }
        }
        ControlFlow::Continue(())
    }

    fn bound(&self, (): &mut (), _enough: f64) -> Bound {
        Bound::of_part(f64::NEG_INFINITY)
    }

    fn place(&self, (): &()) {}

    fn cut(&self, (): &mut (), _search: &mut Search<'_, Self>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn best_of_list(space: &ListSpace<'_>) -> Option<(TileSizes, Certificate)> {
    let Found { best, bound, evaluated, nodes } = search(space);
    let (value, index) = best?;
    Some((space.tiles[index].clone(), Certificate::proved(value, bound, (evaluated, nodes), evaluated)))
}

#[cfg(test)]
mod tests {
    use super::testing::model;
    use super::*;
    use cost_models::machine::Energy;
    use hhc_codegen::strategy::{self, LARGEST_SIZE, Target};

    #[test]
    fn sizes_on_large_grids_are_possible() {
        let model = model("heat1d", &[1 << 26], 1000);
        for tuned in super_tune_cpu(&model, strategy::all(), Method::Exact, Objective::Time) {
            let sizes: Vec<i64> = tuned.choice.tile.iter().map(|(_, size)| size).collect();
            assert!(sizes.iter().all(|&size| size <= LARGEST_SIZE), "{}", tuned.choice.tile);
        }
    }

    #[test]
    fn exact_equals_exhaustive_and_looks_at_few_candidates() {
        for (stencil, size, steps) in
            [("heat1d", &[20_000][..], 9), ("heat2d", &[300, 400], 7), ("fdtd2d", &[200, 150], 5)]
        {
            let model = model(stencil, size, steps);
            let exact = tune_cpu(&model, strategy::all()[0], Method::Exact, Objective::Time).unwrap();
            let exhaustive =
                tune_cpu(&model, strategy::all()[0], Method::Exhaustive, Objective::Time).unwrap();
            assert_eq!(exact.certificate.value, exhaustive.certificate.value, "{stencil}");
            assert_eq!(exact.certificate.candidates, exhaustive.certificate.candidates);
            assert!(exact.certificate.optimal());
            assert!(exact.certificate.evaluated * 2 < exact.certificate.candidates, "{stencil}");
        }
    }

    #[test]
    fn every_objective_has_its_exact_optimum() {
        let mut model = model("heat2d", &[200, 300], 6);
        assert!(tune_cpu(&model, strategy::all()[0], Method::Exact, Objective::Edp).is_none());
        model.energy = Some(Energy {
            e_glob_j: 1e-9,
            e_shared_j: 1e-11,
            e_flop_j: 5e-12,
            e_sync_j: 0.0,
            e_launch_j: 1e-6,
            p_static_w: 30.0,
            provenance: cost_models::machine::Provenance::Stated,
            source: "round numbers".to_owned(),
        });
        let mut values = Vec::new();
        for objective in [Objective::Time, Objective::Energy, Objective::Power, Objective::Edp] {
            let strategies: Vec<_> = strategy::in_auto(Target::OpenMp).collect();
            let solve = |method| super_tune_cpu(&model, &strategies, method, objective);
            let (exact, exhaustive) = (solve(Method::Exact), solve(Method::Exhaustive));
            assert_eq!(exact[0].choice, exhaustive[0].choice, "{objective:?}");
            assert_eq!(exact[0].certificate.value, exhaustive[0].certificate.value);
            assert_eq!(exact.len(), strategies.len());
            assert!(exact[0].certificate.value <= exact[1].certificate.value);
            values.push(exact[0].evaluation.joules().unwrap());
        }
        assert!(values[1] <= values[0] && values[1] <= values[2], "{values:?}");
    }
}
