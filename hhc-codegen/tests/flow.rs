//! Plans whose blocks have storage of their own are proved, whatever their strategy.
#![allow(clippy::unwrap_used)]

use hhc_codegen::storage::Memory;
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{PlanError, TileSizes, pipeline, prove};
use std::sync::Arc;

#[test]
fn storages_are_proved() {
    let mut proved = 0;
    for name in ["heat1d", "asym2d", "varcoef2d", "box2d2r", "heat3d"] {
        let program = Arc::new(polyhedral::shipped::load(name).unwrap());
        for strategy in strategy::all() {
            let planned = match pipeline::plan(&program, *strategy, &TileSizes::default(), Target::Cuda) {
                Err(PlanError::Refused { .. }) => continue,
                other => other.unwrap_or_else(|error| panic!("{name}: {error}")),
            };
            if planned.plan.kernels.iter().any(|kernel| kernel.memory == Memory::Storages) {
                assert!(planned.proof.reads.is_some_and(|reads| reads > 0));
                println!("{name} {} {}: {:?}", strategy.id(), planned.plan.tile, planned.proof);
                proved += 1;
            }
        }
    }
    assert!(proved > 5, "{proved} plans");
}

/// A largest end, or a least beginning, is what C computes: the proof must not take it for two constraints.
#[test]
fn extrema_mean_in_proofs_what_they_mean_in_c() {
    let program = Arc::new(polyhedral::shipped::load("heat2d").unwrap());
    let dependences = polyhedral::analysis::analyze(&program).unwrap().dependences;
    for strategy in strategy::all() {
        let plan = pipeline::plan(&program, *strategy, &TileSizes::default(), Target::Cuda).unwrap().plan;
        for at_the_end in [true, false] {
            let mut wrong = plan.clone();
            let range = &mut wrong.kernels[0].instances[0].ranges[1];
            if at_the_end {
                range.high = range.high.clone().max(range.high.clone() + 5);
            } else {
                range.low = range.low.clone().min(range.low.clone() - 5);
            }
            let refused = prove::prove(&wrong, &dependences);
            assert!(refused.is_err(), "{}: {refused:?}", strategy.id());
            // The other way round nothing changes.
            let mut same = plan.clone();
            let range = &mut same.kernels[0].instances[0].ranges[1];
            range.high = range.high.clone().min(range.high.clone() + 5);
            range.low = range.low.clone().max(range.low.clone() - 5);
            prove::prove(&same, &dependences).unwrap();
        }
    }
}
