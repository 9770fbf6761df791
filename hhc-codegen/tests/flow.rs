//! Plans whose blocks have storage of their own are proved, whatever their strategy.
#![allow(clippy::unwrap_used)]

use hhc_codegen::storage::Memory;
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{PlanError, TileSizes, pipeline};
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
