//! The shipped study of the paper, and one with more than ten times as many designs: seconds and memory, on as many
//! threads as there are cores.
//!
//! The larger space has all numbers of multiprocessors and steps of 2 kB of shared memory; everything else is the
//! study's. Prints medians and writes them, with the machine's facts, to `benches/results/codesign.json` (or
//! `$TILEWRIGHT_BENCH_OUT`).
//!
//! `cargo bench -p tilewright-benches --bench codesign`

use optimizer::codesign::setting::Setting;
use optimizer::codesign::sweep::Control;
use optimizer::codesign::workload::Workload;
use optimizer::codesign::workload_file::Sources;
use polyhedral::shipped;
use serde::Serialize;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use toolchain::machine::MachineFacts;

const ROUNDS: usize = 3;

#[derive(Serialize)]
struct Report {
    machine: MachineFacts,
    cases: Vec<Case>,
    /// Designs of the larger space for each of the study's, and seconds likewise.
    times_as_many_designs: f64,
    times_as_long: f64,
}

#[derive(Serialize)]
struct Case {
    name: &'static str,
    designs_in_budget: usize,
    /// Executions on designs, each solved exactly.
    inner_problems: usize,
    /// Pairs of tile sizes and k that fit, and those that the model was evaluated for.
    tiles_candidates: u64,
    tiles_evaluated: u64,
    /// From the text of the workload to the fronts; the median.
    seconds: f64,
    seconds_all: Vec<f64>,
    /// Most memory that the process has had so far.
    peak_bytes: Option<u64>,
}

/// Kilobytes of the line `VmHWM` of `/proc/self/status`, in bytes.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024 * line.trim().trim_end_matches(" kB").parse::<u64>().ok()?)
}

fn measure(name: &'static str, text: &str) -> Result<Case, Box<dyn Error>> {
    let program =
        |spec: &str| shipped::load(spec).map(Arc::new).ok_or_else(|| format!("no stencil `{spec}`"));
    let family = |name: &str| Err(format!("no family `{name}`"));
    let mut seconds_all = Vec::new();
    let mut last = None;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let workload = Workload::parse(name, text, &Sources { program: &program, family: &family })?;
        let study = optimizer::codesign::run(&Setting::new(workload)?, &Control::NONE)?;
        seconds_all.push(start.elapsed().as_secs_f64());
        last = Some(study.certificate);
    }
    let certificate = last.ok_or("no round")?;
    let mut sorted = seconds_all.clone();
    sorted.sort_by(f64::total_cmp);
    let case = Case {
        name,
        designs_in_budget: certificate.designs_in_budget,
        inner_problems: certificate.inner_problems,
        tiles_candidates: certificate.tiles_candidates,
        tiles_evaluated: certificate.tiles_evaluated,
        seconds: sorted[sorted.len() / 2],
        seconds_all,
        peak_bytes: peak_bytes(),
    };
    println!(
        "{name}: {} designs, {} inner problems, {:.2} s, {} MB",
        case.designs_in_budget,
        case.inner_problems,
        case.seconds,
        case.peak_bytes.map_or_else(|| "?".to_owned(), |bytes| (bytes / 1_000_000).to_string())
    );
    Ok(case)
}

fn main() -> Result<(), Box<dyn Error>> {
    let paper = Workload::source("paper").ok_or("the study of the paper is not there")?;
    let larger = paper
        .replace("n_sm = { from = 2, to = 32, step = 2 }", "n_sm = { from = 2, to = 32, step = 1 }")
        .replace(
            "m_sm_kb = { from = 12, to = 192, step = 12 }",
            "m_sm_kb = { from = 12, to = 192, step = 2 }",
        );
    let cases = vec![measure("paper", paper)?, measure("larger", &larger)?];
    let report = Report {
        machine: MachineFacts::collect(None),
        times_as_many_designs: cases[1].designs_in_budget as f64 / cases[0].designs_in_budget as f64,
        times_as_long: cases[1].seconds / cases[0].seconds,
        cases,
    };
    println!(
        "{:.2} times as many designs take {:.2} times as long",
        report.times_as_many_designs, report.times_as_long
    );
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/codesign.json");
    let path = std::env::var_os("TILEWRIGHT_BENCH_OUT").map_or(default, Into::into);
    std::fs::write(&path, serde_json::to_string_pretty(&report)? + "\n")?;
    println!("written: {}", path.display());
    Ok(())
}
