//! A machine with round costs, for tests.

use cost_models::cpu::CpuCost;
use cost_models::machine::Machine;

/// The model of a shipped stencil on two cores.
pub(super) fn model(stencil: &str, size: &[i64], steps: i64) -> CpuCost {
    let machine = Machine::parse("core.toml", include_str!("../../../cost-models/tests/core.toml")).unwrap();
    let program = polyhedral::shipped::load(stencil).unwrap();
    let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
    let one = CpuCost::new(&machine, &program, &cone, size, steps).unwrap();
    CpuCost { time: one.time.with_threads(2), ..one }
}
