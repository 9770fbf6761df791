//! What choosing a variant costs beside the features: support vectors (200 of them, 8 features, 6 variants), a tree and a
//! forest, and the whole of a call's choice.
//!
//! Prints medians and writes them, with the machine's facts, to `benches/results/adaptive.json` (or
//! `$TILEWRIGHT_BENCH_OUT`).
//!
//! `cargo bench -p tilewright-benches --bench adaptive`

use adaptive::model::{Feature, Model, Training};
use adaptive::svm::Svm;
use adaptive::table::{Row, Table};
use adaptive::train::{Kind, TrainOptions, train};
use adaptive::{CodeVariant, Context, Learned};
use serde::Serialize;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;
use toolchain::machine::MachineFacts;

const FEATURES: usize = 8;
const VARIANTS: usize = 6;
const ROUNDS: usize = 301;
// Short rounds: most are over before another process gets the core.
const CALLS: usize = 200;

#[derive(Serialize)]
struct Report {
    machine: MachineFacts,
    cases: Vec<Case>,
}

#[derive(Serialize)]
struct Case {
    classifier: String,
    /// Median over the rounds, per choice of a function with features that cost nothing.
    nanoseconds: f64,
    /// Tenths of the rounds, in ascending order.
    nanoseconds_tenths: Vec<f64>,
}

/// Numbers between 0 and 1 that look random.
fn number(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1_u64 << 53) as f64
}

fn names(what: &str, count: usize) -> Vec<String> {
    (0..count).map(|at| format!("{what}{at}")).collect()
}

fn machine(vectors: usize) -> Model {
    let mut seed = 1;
    let counts: Vec<usize> =
        (0..VARIANTS).map(|class| (class + 1) * vectors / VARIANTS - class * vectors / VARIANTS).collect();
    let svm = Svm {
        c: 1.0,
        gamma: 0.5,
        ranges: vec![[0.0, 1.0]; FEATURES],
        classes: (0..VARIANTS).collect(),
        counts,
        vectors: (0..vectors)
            .map(|_| (0..FEATURES).map(|_| 2.0 * number(&mut seed) - 1.0).collect())
            .collect(),
        coefficients: (0..vectors)
            .map(|_| (1..VARIANTS).map(|_| number(&mut seed) - 0.5).collect())
            .collect(),
        rho: vec![0.0; VARIANTS * (VARIANTS - 1) / 2],
    };
    let feature = |name: String| Feature { name, least: 0.0, greatest: 1.0 };
    Model {
        name: "bench".to_owned(),
        variants: names("variant", VARIANTS),
        default: 0,
        features: names("feature", FEATURES).into_iter().map(feature).collect(),
        constants: Vec::new(),
        training: Training::default(),
        classifier: Learned::Svm(svm),
    }
}

fn trained(kind: Kind) -> Result<Model, Box<dyn Error>> {
    let mut seed = 2;
    let row = |at: usize| {
        let features: Vec<f64> = (0..FEATURES).map(|_| number(&mut seed)).collect();
        let costs =
            (0..VARIANTS).map(|at| 0.1 + (features[at] - features[(at + 1) % FEATURES]).abs()).collect();
        Row { input: at.to_string(), features, feature_costs: vec![0.0; FEATURES], costs, ..Row::default() }
    };
    let table = Table {
        name: "bench".to_owned(),
        variants: names("variant", VARIANTS),
        features: names("feature", FEATURES),
        rows: (0..300).map(row).collect(),
        ..Table::default()
    };
    let (rows, features): (Vec<usize>, Vec<usize>) = ((0..300).collect(), (0..FEATURES).collect());
    Ok(train(&table, &rows, &features, &TrainOptions { kind, ..TrainOptions::default() })?.model)
}

fn measured(model: Model) -> Result<Case, Box<dyn Error>> {
    let classifier = adaptive::Classifier::description(&model.classifier);
    let context = Context::default();
    let mut builder = CodeVariant::<[f64], usize>::builder(&context, "bench").model(model);
    for (at, name) in names("variant", VARIANTS).iter().enumerate() {
        builder = builder.variant(name, move |_| at);
    }
    for (at, name) in names("feature", FEATURES).iter().enumerate() {
        builder = builder.feature(name, move |input: &[f64]| input[at]);
    }
    let function = builder.build()?;
    let mut seed = 3;
    let inputs: Vec<[f64; FEATURES]> = (0..512).map(|_| std::array::from_fn(|_| number(&mut seed))).collect();
    let mut nanoseconds_all: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for call in 0..CALLS {
                black_box(function.choose(black_box(&inputs[call % inputs.len()])));
            }
            start.elapsed().as_secs_f64() * 1e9 / CALLS as f64
        })
        .collect();
    nanoseconds_all.sort_by(f64::total_cmp);
    let nanoseconds = nanoseconds_all[ROUNDS / 2];
    println!("{nanoseconds:9.0} ns  {classifier}");
    let nanoseconds_tenths = (0..=10).map(|tenth| nanoseconds_all[tenth * (ROUNDS - 1) / 10]).collect();
    Ok(Case { classifier, nanoseconds, nanoseconds_tenths })
}

fn main() -> Result<(), Box<dyn Error>> {
    let cases =
        vec![measured(machine(200))?, measured(trained(Kind::Tree)?)?, measured(trained(Kind::Forest)?)?];
    let report = Report { machine: MachineFacts::collect(None), cases };
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/adaptive.json");
    let path = std::env::var_os("TILEWRIGHT_BENCH_OUT").map_or(default, Into::into);
    std::fs::write(&path, serde_json::to_string_pretty(&report)? + "\n")?;
    println!("written to {}", path.display());
    Ok(())
}
