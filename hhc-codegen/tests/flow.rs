//! Plans whose blocks have storage of their own are proved, in time.
#![allow(clippy::unwrap_used)]

use hhc_codegen::storage::Memory;
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{TileSizes, pipeline};
use std::sync::Arc;

#[test]
fn every_shipped_stencil_that_is_taken_is_proved() {
    for name in polyhedral::shipped::names() {
        if std::env::var("ONLY").is_ok_and(|only| !only.split(',').any(|o| o == name)) {
            continue;
        }
        let program = Arc::new(polyhedral::shipped::load(name).unwrap());
        for strategy in strategy::all() {
            for target in [Target::OpenMp, Target::Cuda] {
                let planned = pipeline::plan(&program, *strategy, &TileSizes::default(), target);
                let planned = match planned {
                    Err(hhc_codegen::PlanError::Refused { .. }) => continue,
                    other => other.unwrap_or_else(|error| panic!("{name}: {error}")),
                };
                if planned.plan.kernels.iter().all(|kernel| kernel.memory != Memory::Storages) {
                    continue;
                }
                println!("{name} {} {}: {:?}", strategy.id(), planned.plan.tile, planned.proof);
            }
        }
    }
}
