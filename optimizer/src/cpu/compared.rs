//! The search over all strategies against every tile of each, on random small cases.

use super::testing::model;
use super::{super_tune_cpu, tune_cpu};
use crate::tuned::{Method, Tuned};
use cost_models::cpu::CpuCost;
use cost_models::machine::{Energy, Provenance};
use cost_models::objective::Objective;
use hhc_codegen::TileSizes;
use hhc_codegen::counts::cores::CoreSpace;
use hhc_codegen::counts::forms;
use hhc_codegen::strategy::{self, Strategy, Target};
use polyhedral::program::Program;
use proptest::prelude::*;

const OBJECTIVES: [Objective; 4] = [Objective::Time, Objective::Energy, Objective::Power, Objective::Edp];

fn energies() -> Energy {
    Energy {
        e_glob_j: 1e-9,
        e_shared_j: 1e-11,
        e_flop_j: 5e-12,
        e_sync_j: 0.0,
        e_launch_j: 1e-6,
        p_static_w: 30.0,
        provenance: Provenance::Stated,
        source: "round numbers".to_owned(),
    }
}

/// All tiles that a search looks at.
fn tiles(model: &CpuCost, own: &'static dyn Strategy) -> Vec<TileSizes> {
    match forms(own).core_space(model.time.cores()) {
        CoreSpace::Each(tiles) => tiles,
        CoreSpace::Products(space) => {
            let mut tiles = Vec::new();
            for &depth in space.depths() {
                for width in space.widths_of(depth) {
                    tiles.extend(space.inner_sizes().iter().map(|&inner| space.tile(depth, width, inner)));
                }
            }
            tiles
        }
    }
}

fn taken(program: &Program) -> Vec<&'static dyn Strategy> {
    let cone = polyhedral::analysis::analyze(program).unwrap().cone;
    strategy::in_auto(Target::OpenMp).filter(|own| own.takes(program, &cone).is_ok()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// The exact search has the value of the exhaustive one, for each strategy and for all of them, and the best strategy is
    /// named first; of some cases, every tile is counted by itself, which neither search does.
    #[test]
    fn exact_is_exhaustive_over_all_strategies(
        stencil in prop::sample::select(vec![
            "heat1d", "leapfrog1d", "heat2d", "asym2d", "star2d2r", "wave2d", "fdtd2d", "skewed2d", "seidel2d", "heat3d",
        ]),
        extents in [12i64..60, 12i64..50, 10i64..40], steps in 1i64..9, threads in 1i64..5,
        objective in prop::sample::select(OBJECTIVES.to_vec()), each in 0usize..25,
    ) {
        let dimension = polyhedral::shipped::load(stencil).unwrap().dimension();
        let size: Vec<i64> = extents.iter().take(dimension).map(|extent| if dimension == 1 { 9 * extent } else { *extent }).collect();
        let one = model(stencil, &size, steps);
        let own = CpuCost { time: one.time.with_threads(threads), energy: Some(energies()) };
        let strategies = taken(&own.time.cores().program);
        let solve = |method| super_tune_cpu(&own, &strategies, method, objective);
        let (exact, all): (Vec<Tuned>, Vec<Tuned>) = (solve(Method::Exact), solve(Method::Exhaustive));
        let what = format!("{stencil} {size:?} {steps} {objective:?}");
        prop_assert_eq!(exact.len(), strategies.len(), "{}", &what);
        prop_assert_eq!(exact[0].certificate.value, all[0].certificate.value, "{}", &what);
        prop_assert!(exact.iter().all(|tuned| tuned.certificate.optimal()), "{}", &what);
        prop_assert!(exact.is_sorted_by(|a, b| a.certificate.value <= b.certificate.value), "{}", &what);
        for &strategy in strategies.iter().filter(|_| each == 0) {
            let values = tiles(&own, strategy).into_iter().filter_map(|tile| {
                Some(objective.of(&own, &own.counts(strategy, &tile).ok()?))
            });
            let least = values.fold(f64::INFINITY, f64::min);
            let found = tune_cpu(&own, strategy, Method::Exact, objective).unwrap().certificate.value;
            prop_assert!((found / least - 1.0).abs() < 1e-9, "{what} {}: {found:e}, {least:e}", strategy.id());
        }
    }
}
