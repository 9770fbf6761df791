//! Searches for tiles: the exact one against every candidate, and what else is said of the best tile.
#![allow(clippy::unwrap_used)]

mod chosen;
mod closed_form;
mod exhaustive;
mod super_tuning;
mod unknown;

use cost_models::constants::{EnergyConstants, TimeConstants};
use cost_models::gpu::Counted;
use cost_models::hardware::Hardware;
use cost_models::machine;
use hhc_codegen::counts::Problem;
use hhc_codegen::strategy::{self, Strategy};
use optimizer::{Objective, Request};
use polyhedral::shipped;
use std::sync::Arc;

fn of(name: &str) -> &'static dyn Strategy {
    strategy::by_name(name).unwrap()
}

const OBJECTIVES: [Objective; 4] = [Objective::Time, Objective::Energy, Objective::Power, Objective::Edp];

/// A grid small enough for every candidate to be looked at.
fn problem(name: &str) -> Problem {
    let program = Arc::new(shipped::load(name).unwrap());
    let (size, steps): (&[i64], i64) =
        [(&[3000][..], 40), (&[300, 260], 24), (&[60, 50, 70], 12)][program.dimension() - 1];
    Problem::new(&program, size, steps).unwrap()
}

/// A machine with a sixteenth of the shared memory and few resident blocks: the same search over fewer candidates.
fn small(name: &str) -> (Hardware, machine::Machine) {
    let machine = machine::shipped(name).unwrap().unwrap();
    let mut hardware = Hardware::of(name, machine.gpu().unwrap());
    hardware.shared_per_block_bytes = hardware.shared_per_block_bytes.min(12 << 10);
    hardware.m_sm_bytes = hardware.m_sm_bytes.min(24 << 10);
    hardware.blocks_per_sm = 4;
    hardware.threads_per_block = 256;
    (hardware, machine)
}

fn request<'a>(
    problem: &'a Problem,
    hardware: &Hardware,
    machine: &machine::Machine,
    objective: Objective,
) -> Request<'a> {
    let time = TimeConstants::of(problem, machine).unwrap();
    let mut request = Request::new(problem, hardware, time, EnergyConstants::of(problem, machine), objective);
    request.most_height = Some(12);
    request
}

/// The same for the strategies whose tiles are boxes of sizes, of which a search leaves out most by bounds. Of the others every
/// tile is looked at.
fn of_boxes(request: Request<'_>) -> Request<'_> {
    Request { strategies: vec![of("hhc"), of("naive")], ..request }
}

/// The same with the counted form of the time model.
fn counted<'a>(request: &Request<'a>, machine: &machine::Machine) -> Request<'a> {
    let mut request = request.clone();
    request.model.counted = Some(Counted::of(request.problem, machine.gpu().unwrap(), false));
    request
}
