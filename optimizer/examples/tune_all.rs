//! Tunes every shipped stencil on every shipped machine for every objective, exactly and exhaustively, and compares.
//!
//! `cargo run --release -p optimizer --example tune_all -- [STENCIL|all] [MACHINE|all]`

use cost_models::constants::{EnergyConstants, TimeConstants};
use cost_models::forms::Problem;
use cost_models::hardware::Hardware;
use cost_models::machine;
use optimizer::{Method, Objective, Request, tune};
use polyhedral::shipped;
use std::sync::Arc;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen = |index: usize, name: &str| arguments.get(index).is_none_or(|a| a == "all" || a == name);
    let mut failures = 0;
    for name in shipped::names().into_iter().filter(|name| chosen(0, name)) {
        let Some(program) = shipped::load(name).map(Arc::new) else { continue };
        let (size, steps): (&[i64], i64) =
            [(&[1 << 24][..], 1000), (&[4096, 4096], 1000), (&[512, 512, 512], 200)][program.dimension() - 1];
        let Ok(problem) = Problem::new(&program, size, steps) else { continue };
        for machine_name in machine::names().into_iter().filter(|name| chosen(1, name)) {
            let Some(Ok(machine)) = machine::shipped(machine_name) else { continue };
            let (Some(facts), Some(time)) = (machine.gpu(), TimeConstants::of(&problem, &machine)) else {
                continue;
            };
            let hardware = Hardware::of(machine_name, facts);
            for objective in [Objective::Time, Objective::Energy, Objective::Power, Objective::Edp] {
                let energy = EnergyConstants::of(&problem, &machine);
                let request = Request::new(&problem, &hardware, time, energy, objective);
                let (Ok(exact), Ok(all)) =
                    (tune(&request, Method::Exact), tune(&request, Method::Exhaustive))
                else {
                    println!("{name} {machine_name} {}: infeasible", objective.name());
                    continue;
                };
                let equal = exact.certificate.value == all.certificate.value;
                failures += u32::from(!equal);
                println!(
                    "{name:<12} {machine_name:<7} {:<6} {} {:<28} k={:<2} {:.6e} {:.6e} evaluated {} of {} ({:.3} %), nodes {}, {:.1} ms, exhaustive {:.2} s, {:.1} M/s{}",
                    objective.name(),
                    exact.choice.strategy,
                    exact.choice.tile.to_string(),
                    exact.choice.k,
                    exact.certificate.value,
                    all.certificate.value,
                    exact.certificate.evaluated,
                    exact.certificate.candidates,
                    100.0 * exact.certificate.evaluated as f64 / exact.certificate.candidates as f64,
                    exact.certificate.nodes,
                    exact.elapsed_s * 1e3,
                    all.elapsed_s,
                    all.certificate.evaluated as f64 / all.elapsed_s / 1e6,
                    if equal { "" } else { "  DIFFERENT" },
                );
            }
        }
    }
    std::process::exit(i32::from(failures > 0));
}
