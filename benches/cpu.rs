//! The strategies on the CPU against each other and against hand-written double-buffered OpenMP loops: one
//! run, one compiler, the same flags, the same memory (huge pages), all threads.
//!
//! Rounds are interleaved, so that a change of the machine's mood meets all contestants. Every contestant's
//! result is compared with the first one's, bit for bit, before a time counts. Prints medians and writes
//! them, with the machine's facts, to `benches/results/cpu.json` (or `$TILEWRIGHT_BENCH_OUT`).
//!
//! `cargo bench -p tilewright-benches -- [STENCIL]...`

use cost_models::cpu::CpuCost;
use cost_models::machine::shipped;
use execution::bandwidth;
use execution::compare::compare;
use execution::grid::ProgramData;
use execution::initial;
use execution::layout::Layout;
use execution::native::NativeProgram;
use execution::reference::default_parameters;
use hhc_codegen::{TileSizes, pipeline, strategy};
use optimizer::cpu::super_tune_cpu;
use optimizer::{Method, Objective};
use polyhedral::analysis::analyze;
use polyhedral::program::Program;
use serde::Serialize;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use toolchain::clock::Timing;
use toolchain::compiler::{self, CompileOptions, SourceText};
use toolchain::library::Library;
use toolchain::machine::MachineFacts;

/// What is measured: stencil, grid, steps, and the hand-written loops where there are some.
const CASES: [(&str, &[i64], i64, Option<&str>); 3] = [
    ("heat2d", &[4096, 4096], 100, Some(include_str!("hand_written/heat2d.c"))),
    ("heat3d", &[256, 256, 256], 100, Some(include_str!("hand_written/heat3d.c"))),
    ("star2d2r", &[4096, 4096], 100, Some(include_str!("hand_written/star2d2r.c"))),
];

const ROUNDS: usize = 5;

#[derive(Serialize)]
struct Report {
    machine: MachineFacts,
    /// Copy bandwidth of main memory in bytes per second (read and written bytes counted), all threads.
    copy_bytes_per_second: f64,
    cases: Vec<Case>,
}

#[derive(Serialize)]
struct Case {
    stencil: &'static str,
    size: Vec<i64>,
    steps: i64,
    contestants: Vec<Measured>,
}

#[derive(Serialize)]
struct Measured {
    name: String,
    tile: String,
    layout: &'static str,
    seconds: Timing,
    gstencil_per_s: f64,
}

/// One program that is measured, with its own data.
struct Contestant {
    name: String,
    tile: String,
    layout: &'static str,
    native: NativeProgram,
    data: ProgramData,
    seconds: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let version = compiler::Compiler::find(compiler::Language::C)?.version().to_string();
    let mut report = Report {
        machine: MachineFacts::collect(Some(&version)),
        copy_bytes_per_second: bandwidth::measure_copy(5)?.bytes_per_second,
        cases: Vec::new(),
    };
    println!("{}, {}, copy {:.1} GB/s", report.machine.cpu, version, report.copy_bytes_per_second * 1e-9);
    for (stencil, size, steps, hand_written) in CASES {
        if wanted.is_empty() || wanted.iter().any(|name| name == stencil) {
            report.cases.push(measure(stencil, size, steps, hand_written)?);
        }
    }
    let path = std::env::var("TILEWRIGHT_BENCH_OUT")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/results/cpu.json").to_string());
    execution::output_file::write(Path::new(&path), |file| {
        serde_json::to_writer_pretty(&mut *file, &report).map_err(std::io::Error::other)
    })?;
    println!("written: {path}");
    Ok(())
}

/// The model's choice for this computer's threads, as `tilewright run` makes it.
fn chosen(
    program: &Arc<Program>,
    strategy: &str,
    size: &[i64],
    steps: i64,
) -> Result<TileSizes, Box<dyn Error>> {
    let machine = shipped("zen4").ok_or("no shipped CPU")??;
    let cone = analyze(program)?.cone;
    let threads = std::thread::available_parallelism()?.get() as i64;
    let mut model = CpuCost::new(&machine, program, &cone, size, steps)?;
    model.time = model.time.with_threads(threads);
    let solved = super_tune_cpu(&model, &[strategy::by_name(strategy)?], Method::Exact, Objective::Time);
    Ok(solved.into_iter().next().ok_or("no model")?.choice.tile)
}

fn measure(
    stencil: &'static str,
    size: &[i64],
    steps: i64,
    hand_written: Option<&str>,
) -> Result<Case, Box<dyn Error>> {
    let program = Arc::new(polyhedral::shipped::load(stencil).ok_or("no such stencil")?);
    let parameters = default_parameters(&program);
    let mut contestants = Vec::new();
    if let Some(text) = hand_written {
        let source = vec![SourceText::new(format!("{stencil}.c"), text)];
        contestants.push(contestant(&program, "hand-written", String::new(), &source, size, "dense")?);
    }
    // The baseline first: the others are compared with it. The preferred strategy in both layouts.
    let (baseline, preferred) = (strategy::baseline().id(), strategy::preferred().id());
    let mut variants = vec![(baseline, "padded"), (preferred, "dense")];
    let others = strategy::all().iter().map(|strategy| strategy.id()).filter(|id| *id != baseline);
    variants.extend(others.map(|id| (id, "padded")));
    for (name, layout) in variants {
        let tile = chosen(&program, name, size, steps)?;
        let planned = pipeline::plan(&program, strategy::by_name(name)?, &tile, strategy::Target::OpenMp)?;
        let sources = execution::tiled::sources(&planned.plan)?;
        contestants.push(contestant(&program, name, planned.plan.tile.to_string(), &sources, size, layout)?);
    }

    println!(
        "\n{stencil}, {} points, {steps} steps",
        size.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
    );
    for _round in 0..ROUNDS {
        for index in 0..contestants.len() {
            let (first, rest) = contestants.split_at_mut(1);
            let current = if index == 0 { &mut first[0] } else { &mut rest[index - 1] };
            initial::fill_random(&program, &mut current.data, 1)?;
            let start = Instant::now();
            current.native.run(&program, &parameters, &mut current.data, steps)?;
            current.seconds.push(start.elapsed().as_secs_f64());
            if index > 0 {
                let difference = compare(&program, &first[0].data, &rest[index - 1].data, steps);
                if difference.mismatches > 0 {
                    return Err(format!(
                        "{stencil}: {} is wrong at {:?}",
                        rest[index - 1].name,
                        difference.first
                    )
                    .into());
                }
            }
        }
    }

    let points: f64 = size.iter().map(|&extent| extent as f64).product();
    let mut results: Vec<Measured> = Vec::new();
    for contestant in contestants {
        let seconds = Timing::of(contestant.seconds).ok_or("nothing was measured")?;
        let rate = 1e-9 * points * steps as f64 / seconds.median;
        let against = |name: &str| {
            let other = results.iter().find(|result| result.name == name);
            other.map_or(String::new(), |other| format!("  {:.2} x {name}", rate / other.gstencil_per_s))
        };
        println!(
            "  {:12} {:6} {:24} {:6.2} GStencil/s (median of {ROUNDS}, {:.1} % dispersion){}{}",
            contestant.name,
            contestant.layout,
            contestant.tile,
            rate,
            100.0 * seconds.relative_dispersion(),
            against("hand-written"),
            against(strategy::baseline().id()),
        );
        results.push(Measured {
            name: contestant.name,
            tile: contestant.tile,
            layout: contestant.layout,
            seconds,
            gstencil_per_s: rate,
        });
    }
    Ok(Case { stencil, size: size.to_vec(), steps, contestants: results })
}

fn contestant(
    program: &Program,
    name: &str,
    tile: String,
    sources: &[SourceText],
    size: &[i64],
    layout: &'static str,
) -> Result<Contestant, Box<dyn Error>> {
    let object = compiler::compile_shared(sources, &CompileOptions::default())?;
    let native = NativeProgram::of(&Library::load(&object.path())?, &format!("{}_invoke", program.name))?;
    let strides =
        if layout == "dense" { Layout::dense(program, size)? } else { Layout::padded(program, size)? };
    let data = ProgramData::zeroed_with(program, strides)?;
    Ok(Contestant { name: name.to_string(), tile, layout, native, data, seconds: Vec::new() })
}
