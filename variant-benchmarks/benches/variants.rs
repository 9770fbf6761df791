//! What learned choices are worth on the benchmarks: all variants measured on training and held-out inputs, a model trained, its
//! choices scored.
//!
//! Prints a table and writes all figures, with the machine's facts, to `--out`. With `--store` a study that was stopped goes on.
//!
//! `cargo bench -p tilewright-variant-benchmarks --bench variants -- spmv sort --out variants.json`

use adaptive::train::{Kind, TrainOptions};
use clap::Parser;
use serde::Serialize;
use std::error::Error;
use std::path::PathBuf;
use toolchain::machine::MachineFacts;
use variant_benchmarks::benchmark::Benchmark;
use variant_benchmarks::bfs::Bfs;
use variant_benchmarks::histogram::Histogram;
use variant_benchmarks::solvers::Solvers;
use variant_benchmarks::sort::Sort;
use variant_benchmarks::spmv::Spmv;
use variant_benchmarks::study::{Options, Study, study};
use variant_benchmarks::transpose::Transpose;

/// Measures learned choices on functions with several variants.
#[derive(Parser)]
struct Arguments {
    /// Benchmarks to run; all where none is named.
    names: Vec<String>,
    /// Share of the inputs of Table 3.4, and of the elements of the largest ones.
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// Calls that one choice and one conversion serve; what is usual for each benchmark where nothing is said.
    #[arg(long)]
    calls: Option<f64>,
    /// Runs of each variant on each input, of which the fastest counts.
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// svm, tree, forest or auto.
    #[arg(long, default_value = "auto")]
    classifier: String,
    /// Where measurements are kept.
    #[arg(long)]
    store: Option<PathBuf>,
    /// The file of the figures.
    #[arg(long, default_value = "variants.json")]
    out: PathBuf,
    /// What cargo adds.
    #[arg(long, hide = true)]
    bench: bool,
}

/// The difference of two runs above which a warning is printed.
const MOST_NOISE: f64 = 0.05;

#[derive(Serialize)]
struct Report {
    machine: MachineFacts,
    threads: usize,
    repeat: usize,
    studies: Vec<Study>,
}

fn run<B: Benchmark>(arguments: &Arguments) -> Result<Option<Study>, Box<dyn Error>> {
    if !arguments.names.is_empty() && !arguments.names.iter().any(|name| name == B::NAME) {
        return Ok(None);
    }
    let scaled = |count: usize, least: usize| ((count as f64 * arguments.scale) as usize).max(least);
    let options = Options {
        training: scaled(B::COUNTS[0], 20),
        held_out: scaled(B::COUNTS[1], 20),
        largest: scaled(B::LARGEST, 2000),
        calls: arguments.calls.unwrap_or(B::CALLS),
        repeat: arguments.repeat,
        train: TrainOptions { kind: Kind::named(&arguments.classifier)?, ..TrainOptions::default() },
        store: arguments.store.clone(),
    };
    let study = study::<B>(&options)?;
    let score = &study.score;
    println!(
        "{}: {} trained on, {} held out; {}",
        study.benchmark, study.training, score.inputs, study.model
    );
    println!("  features                  {}", study.features.join(", "));
    println!(
        "  of exhaustive search      {:5.1} % ({:.1} % without choosing)",
        100.0 * score.performance,
        100.0 * score.performance_of_choices
    );
    println!("  best single, {:12} {:5.1} %", score.best_single, 100.0 * score.best_single_performance);
    if let Some(gap) = score.gap_closed {
        println!("  gap closed                {:5.1} %", 100.0 * gap);
    }
    println!("  two runs differ by        {:5.1} % (median)", 100.0 * score.noise);
    if score.noise > MOST_NOISE {
        println!("  something else runs on this machine: nothing of this can be relied on");
    }
    for family in &score.families {
        let seen = if family.family == study.unseen { ", not seen in training" } else { "" };
        println!(
            "  {:25} {:5.1} %, {} inputs{seen}",
            family.family,
            100.0 * family.performance,
            family.inputs
        );
    }
    for own in &score.variants {
        println!(
            "  {:25} {:5.1} %, best {:4.1} %, by a tenth {:4.1} %, chosen {:4.1} %, failed {}",
            own.variant,
            100.0 * own.performance,
            100.0 * own.best,
            100.0 * own.best_by_a_tenth,
            100.0 * own.chosen,
            own.failed
        );
    }
    Ok(Some(study))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let known = [Spmv::NAME, Solvers::NAME, Bfs::NAME, Histogram::NAME, Transpose::NAME, Sort::NAME];
    if let Some(name) = arguments.names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("there is no benchmark `{name}`; there are {}", known.join(", ")).into());
    }
    if let Some(folder) = &arguments.store {
        std::fs::create_dir_all(folder)?;
    }
    let all = [
        run::<Spmv>(&arguments)?,
        run::<Solvers>(&arguments)?,
        run::<Bfs>(&arguments)?,
        run::<Histogram>(&arguments)?,
        run::<Transpose>(&arguments)?,
        run::<Sort>(&arguments)?,
    ];
    let report = Report {
        machine: MachineFacts::collect(None),
        threads: rayon::current_num_threads(),
        repeat: arguments.repeat,
        studies: all.into_iter().flatten().collect(),
    };
    std::fs::write(&arguments.out, serde_json::to_string_pretty(&report)? + "\n")?;
    println!("written to {}", arguments.out.display());
    Ok(())
}
