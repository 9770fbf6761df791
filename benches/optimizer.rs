//! The optimizer: model evaluations per second on one core, the time of the exact search, and whether it finds what
//! exhaustive search finds, for every shipped stencil, GPU and objective. Prints a summary and writes all rows, with the
//! machine's facts, to `benches/results/optimizer.json` (or `$TILEWRIGHT_BENCH_OUT`).
//!
//! `cargo bench -p tilewright-benches --bench optimizer -- [STENCIL]...`

use cost_models::constants::{EnergyConstants, TimeConstants};
use cost_models::hardware::Hardware;
use cost_models::machine::{MachineKind, names, shipped};
use hhc_codegen::counts::Problem;
use hhc_codegen::strategy;
use optimizer::{Method, Objective, Request, tune};
use serde::Serialize;
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use toolchain::clock::median;
use toolchain::machine::MachineFacts;

/// Evaluations of one measurement.
const EVALUATIONS: usize = 4_000_000;
/// Grids on which both methods run, by dimension: small enough for all candidates.
const SMALL: [(&[i64], i64); 3] = [(&[20_000], 32), (&[700, 900], 32), (&[70, 80, 90], 16)];
/// Grids whose search is timed.
const LARGE: [(&[i64], i64); 3] = [(&[1 << 26], 1000), (&[8192, 8192], 1000), (&[512, 512, 512], 200)];
const OBJECTIVES: [Objective; 4] = [Objective::Time, Objective::Energy, Objective::Power, Objective::Edp];

#[derive(Serialize)]
struct Row {
    stencil: &'static str,
    machine: &'static str,
    objective: Objective,
    exact_value: f64,
    exhaustive_value: f64,
    candidates: u64,
    evaluated: u64,
    /// The exact search on the large grid.
    large_seconds: f64,
    large_candidates: u64,
    large_evaluated: u64,
}

#[derive(Serialize)]
struct Rate {
    stencil: &'static str,
    evaluations_per_second: Vec<f64>,
    median: f64,
}

#[derive(Serialize)]
struct Results {
    machine: MachineFacts,
    rates: Vec<Rate>,
    rows: Vec<Row>,
}

struct Case {
    problem: Problem,
    hardware: Hardware,
    time: TimeConstants,
    energy: Option<EnergyConstants>,
}

impl Case {
    fn new(stencil: &str, machine: &str, large: bool) -> Result<Case, Box<dyn Error>> {
        let program = Arc::new(polyhedral::shipped::load(stencil).ok_or("no such stencil")?);
        let (size, steps) = if large { LARGE } else { SMALL }[program.dimension() - 1];
        let problem = Problem::new(&program, size, steps)?;
        let machine = shipped(machine).ok_or("no such machine")??;
        let hardware = Hardware::of(&machine.name, machine.gpu().ok_or("no GPU")?);
        let time = TimeConstants::of(&problem, &machine).ok_or("no constants")?;
        let energy = EnergyConstants::of(&problem, &machine);
        Ok(Case { problem, hardware, time, energy })
    }

    fn request(&self, objective: Objective) -> Request<'_> {
        Request::new(&self.problem, &self.hardware, self.time, self.energy, objective)
    }
}

/// Evaluations per second of the full model over tiles that fit, in the order of their sizes.
fn rate(stencil: &'static str) -> Result<Rate, Box<dyn Error>> {
    let case = Case::new(stencil, "gtx980", true)?;
    let request = case.request(Objective::Time);
    let families = request.families_of(strategy::preferred());
    let family = families.into_iter().nth(3).ok_or("no tile fits")?;
    let at =
        |d: usize, n: usize, most: i64| family.axes[d].at((n as i64 % most).min(family.axes[d].count - 1));
    let sizes: Vec<[i64; 3]> = (0..4096)
        .map(|n| [at(0, n, 64), at(1, n / 64, 8), at(2, n / 512, 4)])
        .filter(|&sizes| request.value(&family, sizes, 1).is_some())
        .collect();
    let mut rates = Vec::new();
    for _ in 0..7 {
        let start = Instant::now();
        for n in 0..EVALUATIONS {
            black_box(request.value(&family, sizes[n % sizes.len()], 1));
        }
        rates.push(EVALUATIONS as f64 / start.elapsed().as_secs_f64());
    }
    let median = median(&rates).ok_or("nothing was measured")?;
    println!("{stencil}: {:.1} million evaluations per second", median / 1e6);
    Ok(Rate { stencil, evaluations_per_second: rates, median })
}

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let rates =
        ["heat1d", "heat2d", "gradient2d", "heat3d"].into_iter().map(rate).collect::<Result<_, _>>()?;
    let mut rows = Vec::new();
    let is_gpu = |name: &&str| {
        shipped(name).and_then(Result::ok).is_some_and(|machine| machine.kind == MachineKind::Gpu)
    };
    let machines: Vec<&'static str> = names().into_iter().filter(is_gpu).collect();
    for stencil in polyhedral::shipped::names() {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == stencil) {
            continue;
        }
        // There is no choice for sweeps in order.
        if polyhedral::shipped::load(stencil)
            .is_some_and(|program| program.sweeps_in_order().next().is_some())
        {
            continue;
        }
        for &machine in &machines {
            let (small, large) = (Case::new(stencil, machine, false)?, Case::new(stencil, machine, true)?);
            for objective in OBJECTIVES {
                let request = small.request(objective);
                let (exact, exhaustive) =
                    (tune(&request, Method::Exact)?, tune(&request, Method::Exhaustive)?);
                let timed = tune(&large.request(objective), Method::Exact)?;
                rows.push(Row {
                    stencil,
                    machine,
                    objective,
                    exact_value: exact.certificate.value,
                    exhaustive_value: exhaustive.certificate.value,
                    candidates: exact.certificate.candidates,
                    evaluated: exact.certificate.evaluated,
                    large_seconds: timed.elapsed_s,
                    large_candidates: timed.certificate.candidates,
                    large_evaluated: timed.certificate.evaluated,
                });
            }
        }
        let own: Vec<&Row> = rows.iter().filter(|row| row.stencil == stencil).collect();
        let different = own.iter().filter(|row| row.exact_value != row.exhaustive_value).count();
        let slowest = own.iter().map(|row| row.large_seconds).fold(0.0, f64::max);
        let share = own
            .iter()
            .map(|row| row.large_evaluated as f64 / row.large_candidates as f64)
            .fold(0.0, f64::max);
        println!(
            "{stencil}: {} of {} differ, at most {:.4} % evaluated, at most {:.1} ms",
            different,
            own.len(),
            100.0 * share,
            1e3 * slowest
        );
    }
    let results = Results { machine: MachineFacts::collect(None), rates, rows };
    let path = std::env::var("TILEWRIGHT_BENCH_OUT")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/results/optimizer.json").to_owned());
    std::fs::write(&path, serde_json::to_string_pretty(&results)? + "\n")?;
    println!("written: {path}");
    Ok(())
}
