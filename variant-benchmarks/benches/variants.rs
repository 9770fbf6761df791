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
use variant_benchmarks::convergence::Labels;
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
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    scale: f64,
    /// Calls that one choice and one conversion serve; what is usual for each benchmark where nothing is said.
    #[arg(long, value_parser = positive)]
    calls: Option<f64>,
    /// Runs of each variant on each input, of which the fastest counts.
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// Seeds over which it is seen how few labels do.
    #[arg(long, default_value_t = 0)]
    seeds: usize,
    /// svm, tree, forest or auto.
    #[arg(long, default_value = "auto")]
    classifier: String,
    /// Take all features, not only those that pay.
    #[arg(long)]
    all_features: bool,
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

/// A number that makes sense as a count or a share.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "a number above 0 is expected".to_owned())
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

/// Measures a benchmark, and prints what came of it.
fn run<B: Benchmark>(arguments: &Arguments) -> Result<Study, Box<dyn Error>> {
    let scaled = |count: usize, least: usize| ((count as f64 * arguments.scale) as usize).max(least);
    let options = Options {
        training: scaled(B::COUNTS[0], 20),
        held_out: scaled(B::COUNTS[1], 20),
        largest: scaled(B::LARGEST, 2000),
        calls: arguments.calls.unwrap_or(B::CALLS),
        repeat: arguments.repeat,
        train: TrainOptions { kind: Kind::named(&arguments.classifier)?, ..TrainOptions::default() },
        select: !arguments.all_features,
        seeds: arguments.seeds,
        store: arguments.store.clone(),
    };
    let study = study::<B>(&options)?;
    print(&study);
    Ok(study)
}

fn print(study: &Study) {
    let (score, percent) = (&study.score, |share: f64| format!("{:5.1} %", 100.0 * share));
    println!(
        "{}: {} trained on, {} held out; {}",
        study.benchmark, study.training, score.inputs, study.model
    );
    println!("  features: {}", study.features.join(", "));
    println!("  two runs differ by       {} (median)", percent(score.noise));
    if score.noise > MOST_NOISE {
        println!("  something else runs on this machine: nothing of this can be relied on");
    }
    let without = percent(score.performance_of_choices);
    println!(
        "  of exhaustive search     {}, {} without choosing",
        percent(score.performance),
        without.trim()
    );
    println!("  best single              {}, {}", percent(score.best_single_performance), score.best_single);
    if let Some(gap) = score.gap_closed {
        println!("  gap closed               {}", percent(gap));
    }
    if score.risky > 0 {
        println!("  risky inputs solved      {} of {}", score.risky_solved, score.risky);
    }
    if let Some(own) = &study.convergence {
        let of = |labels: &Labels| {
            let share = percent(labels.with_a_quarter);
            format!("{share} with a quarter of {}, {:.0} needed", own.pool, labels.needed)
        };
        println!("  labels, chosen           {}", of(&own.chosen));
        println!("  labels, in any order     {}, for {}", of(&own.random), percent(own.whole).trim());
    }
    for family in &score.families {
        let unseen = if family.family == study.unseen { ", not seen in training" } else { "" };
        println!("  {:24} {}, {} inputs{unseen}", family.family, percent(family.performance), family.inputs);
    }
    for own in &score.variants {
        let shares = [own.best, own.best_by_a_tenth, own.chosen].map(percent);
        println!(
            "  {:24} {}, best {}, by a tenth {}, chosen {}, failed {}",
            own.variant,
            percent(own.performance),
            shares[0],
            shares[1],
            shares[2],
            own.failed
        );
    }
}

/// Measures one benchmark.
type Run = fn(&Arguments) -> Result<Study, Box<dyn Error>>;

const RUNS: [(&str, Run); 6] = [
    (Spmv::NAME, run::<Spmv>),
    (Solvers::NAME, run::<Solvers>),
    (Bfs::NAME, run::<Bfs>),
    (Histogram::NAME, run::<Histogram>),
    (Transpose::NAME, run::<Transpose>),
    (Sort::NAME, run::<Sort>),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let known = RUNS.map(|(name, _)| name);
    if let Some(name) = arguments.names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("there is no benchmark `{name}`; there are {}", known.join(", ")).into());
    }
    // Callers are threads of the pool: one from outside sleeps while it waits, and is woken at each call.
    rayon::scope(|_| measured(&arguments).map_err(|error| error.to_string()))?;
    println!("written to {}", arguments.out.display());
    Ok(())
}

/// All benchmarks that are asked for.
fn measured(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = &arguments.store {
        std::fs::create_dir_all(folder)?;
    }
    let threads = rayon::current_num_threads();
    let machine = MachineFacts::collect(None);
    let mut report = Report { machine, threads, repeat: arguments.repeat, studies: Vec::new() };
    let chosen = |name: &str| arguments.names.is_empty() || arguments.names.iter().any(|own| own == name);
    for (_, run) in RUNS.iter().filter(|(name, _)| chosen(name)) {
        report.studies.push(run(arguments)?);
        // After each: what was measured for hours is not lost with what comes after it.
        std::fs::write(&arguments.out, serde_json::to_string_pretty(&report)? + "\n")?;
    }
    Ok(())
}
