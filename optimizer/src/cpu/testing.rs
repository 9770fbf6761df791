//! A machine with round costs, for tests.

use cost_models::cpu::CpuCost;
use cost_models::machine::Machine;
use polyhedral::program::Program;
use std::sync::Arc;

/// The model of a shipped stencil on two cores.
pub(super) fn model(stencil: &str, size: &[i64], steps: i64) -> CpuCost {
    model_of(&Arc::new(polyhedral::shipped::load(stencil).unwrap()), size, steps)
}

/// The same of any program.
pub(super) fn model_of(program: &Arc<Program>, size: &[i64], steps: i64) -> CpuCost {
    let machine = Machine::parse("core.toml", include_str!("../../../cost-models/tests/core.toml")).unwrap();
    let cone = polyhedral::analysis::analyze(program).unwrap().cone;
    let one = CpuCost::new(&machine, program, &cone, size, steps).unwrap();
    CpuCost { time: one.time.with_threads(2), ..one }
}
