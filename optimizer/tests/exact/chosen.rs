//! What a search hands out: tiles that back ends accept, a breakdown, or the constraint that none meets.

use super::{of, problem, request, small};
use approx::relative_eq;
use cost_models::gpu::GpuCost;
use cost_models::model::CostModel;
use hhc_codegen::backend::cuda::{CudaOptions, DeviceLimits, generate};
use hhc_codegen::strategy::{self, Target};
use optimizer::{Family, Infeasible, Method, Objective, Request, relaxed, tune};
use polyhedral::shipped;

#[test]
fn infeasible_requests_name_the_constraint_and_by_how_much() {
    let problem = problem("heat3d");
    let (mut hardware, machine) = small("gtx980");
    hardware.shared_per_block_bytes = 1000;
    let request = request(&problem, &hardware, &machine, Objective::Time).only(of("hhc"));
    for method in [Method::Exact, Method::Exhaustive, Method::ClosedForm] {
        let Err(Infeasible::Limit { constraint, tile, .. }) = tune(&request, method) else {
            panic!("{method:?}")
        };
        assert_eq!((constraint.name, constraint.limit), ("shared_per_block", 1000));
        assert!(constraint.slack < 0 && tile.starts_with("st=1,s0=1"), "{tile}");
    }
    let text = tune(&request, Method::Exact).unwrap_err().to_string();
    assert!(text.contains("shared_per_block allows 1000") && text.contains("too many"), "{text}");

    let mut without = Request { objective: Objective::Edp, ..request };
    without.model.energy = None;
    let text = tune(&without, Method::Exact).unwrap_err().to_string();
    assert!(text.contains("energies") && text.contains("edp"), "{text}");
}

/// What the search hands out is what the strategy plans and the back end accepts.
#[test]
fn chosen_tiles_are_accepted_by_the_back_end() {
    for name in shipped::names() {
        let problem = problem(name);
        // There is no choice for sweeps in order.
        if problem.program.sweeps_in_order().next().is_some() {
            continue;
        }
        let (mut hardware, machine) = small("v100");
        // The smallest tile of star3d2r needs 12,768 bytes.
        hardware.shared_per_block_bytes = 16 << 10;
        let limits = DeviceLimits {
            device: "v100".to_string(),
            shared_bytes_per_block: hardware.shared_per_block_bytes,
            threads_per_block: hardware.threads_per_block,
        };
        let taken =
            strategy::in_auto(Target::Cuda).filter(|own| own.takes(&problem.program, &problem.cone).is_ok());
        // Of those whose tiles are all looked at, some stencils are enough.
        let few = ["heat2d", "box2d2r", "varcoef2d", "heat3d", "varcoef3d"].contains(&name);
        let taken = taken.filter(|own| few || ["hhc", "naive"].contains(&own.id()));
        for strategy_name in taken.map(|own| own.id()) {
            let request = request(&problem, &hardware, &machine, Objective::Time).only(of(strategy_name));
            let choice = tune(&request, Method::Exact).unwrap().choice;
            let strategy = strategy::by_name(choice.strategy).unwrap();
            let plan = strategy::plan(strategy, &problem.program, &problem.cone, &choice.tile).unwrap();
            let cuda = generate(&plan, &CudaOptions { limits: limits.clone() }).unwrap();
            let (family, sizes) =
                Family::of_tile(&problem, &hardware, of(choice.strategy), &choice.tile).unwrap();
            let counts = family.counts(0, sizes);
            assert_eq!(i64::from(cuda.kernels[0].shared_bytes), counts.tile_bytes, "{name} {}", choice.tile);
        }
    }
}

/// Without roundings no flat top is slower than with them.
#[test]
fn the_relaxation_is_below_the_model() {
    let mut compared = 0;
    for name in ["heat1d", "jacobi2d", "fdtd2d", "heat3d"] {
        let problem = problem(name);
        let (hardware, machine) = small("gtx980");
        let request = request(&problem, &hardware, &machine, Objective::Time).only(of("hhc"));
        let choice = tune(&request, Method::Exact).unwrap().choice;
        let sizes = ["s0", "s1", "s2"].map(|size| choice.tile.get(size).unwrap_or(1));
        let families = request.families_of(of("hhc"));
        let family = families.iter().find(|family| family.tile(sizes) == choice.tile).unwrap();
        let Some(relaxed) = relaxed(&request, family, sizes, choice.k) else { continue };
        compared += 1;
        let best = request.value(family, sizes, choice.k).unwrap();
        assert!(relaxed.seconds <= best && relaxed.seconds > 0.2 * best, "{name}: {relaxed:?}, {best:e}");
    }
    assert!(compared > 1, "there was nothing to vary");
}

#[test]
fn a_breakdown_adds_up() {
    for (name, k) in [("jacobi2d", 2), ("heat3d", 1), ("fdtd2d", 3)] {
        let problem = problem(name);
        let (hardware, machine) = small("gtx980");
        let request = request(&problem, &hardware, &machine, Objective::Time);
        let taken =
            strategy::in_auto(Target::Cuda).filter(|own| own.takes(&problem.program, &problem.cone).is_ok());
        for strategy in taken {
            let choice = tune(&request.only(strategy), Method::Exact).unwrap().choice;
            let (family, sizes) = Family::of_tile(&problem, &hardware, strategy, &choice.tile).unwrap();
            let cost = request.evaluate(&family, sizes, k);
            let count = |model: &GpuCost| model.counts(&problem, strategy, &choice.tile, k).ok();
            let why = request.model.explain(&count).unwrap();
            let sum = why.ideal_s + why.losses.iter().map(|loss| loss.seconds).sum::<f64>();
            assert!(
                relative_eq!(sum, cost.prediction.seconds, epsilon = 0.0, max_relative = 1e-9),
                "{name} {strategy:?}"
            );
        }
    }
}
