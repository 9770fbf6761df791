//! Sorts at several clock frequencies, for throughput, energy and power: the study of chapter 4 of the dissertation, on simulated
//! measurements. The simulated device has one multiprocessor; what it does is stated below, and nothing was measured.

use crate::random::{of_input, size};
use adaptive::error::Result;
use adaptive::table::{Row, Table};
use adaptive::train::TrainOptions;
use adaptive::tune::{Objective, PairEvaluation, evaluate_pair, train_pair};
use rand::Rng;
use serde::Serialize;
use trials::Outcome;

/// Frequencies in MHz.
pub const FREQUENCIES: [u32; 14] = [72, 132, 192, 252, 312, 372, 432, 492, 552, 612, 672, 732, 792, 852];
/// The aggregated metrics of section 4.2.1: throughput in keys per second, energy in joules, greatest power in watts.
pub const OBJECTIVES: [(&str, &str); 6] = [
    ("T/E", "keys_per_s / joules"),
    ("T/E^2", "keys_per_s / (joules * joules)"),
    ("T^2/E", "keys_per_s * keys_per_s / joules"),
    ("T/P", "keys_per_s / watts"),
    ("T/P^2", "keys_per_s / (watts * watts)"),
    ("T^2/P", "keys_per_s * keys_per_s / watts"),
];
/// Training and test inputs of section 4.3.2.
pub const COUNTS: [usize; 2] = [54, 66];
/// The variants.
pub const VARIANTS: [&str; 2] = ["merge", "radix"];

/// Distributions of keys, and what share of comparisons a merge sort needs for them: equal keys are decided earlier.
const DISTRIBUTIONS: [(&str, f64); 3] = [("uniform", 1.0), ("gaussian", 0.95), ("zipf", 0.7)];

/// A sequence of keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Keys {
    /// How many.
    pub keys: usize,
    /// Their bits.
    pub bits: u32,
    /// How they are distributed.
    pub distribution: usize,
}

/// Throughput, energy and power of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// Keys per second.
    pub keys_per_s: f64,
    /// Joules.
    pub joules: f64,
    /// Greatest power in watts.
    pub watts: f64,
}

/// The inputs of training, or the held-out ones.
pub fn inputs(held_out: bool, count: usize) -> Vec<Keys> {
    let one = |at: usize| {
        let mut random = of_input(held_out, at);
        let keys = size(&mut random, 5_000, 25_000_000);
        let bits = if random.random_range(0..2) == 0 { 32 } else { 64 };
        Keys { keys, bits, distribution: at % DISTRIBUTIONS.len() }
    };
    (0..count).map(one).collect()
}

/// A run of a variant on the simulated device. With `n` keys of `b` bytes, at `f` MHz:
///
/// - radix: `b` passes over 8 bits, each 11 cycles a key and 3 `b` bytes of traffic; 15 us a pass to launch
/// - merge: `log2 n` passes, each 4 cycles a key (times `b / 4` and the share of comparisons), `2 b` bytes where a run
///   exceeds 2048 keys; 6 us a pass
/// - 192 cores; memory moves 14 GB/s, at low clocks 24 bytes a cycle at most; compute and memory overlap
/// - voltage `0.8 + 0.35 (f / 852)^2`; power: 2.2 W, and 7.5 W times voltage squared and `f / 852` where cores are busy, a third of it where they
///   wait, and 0.12 W for each GB/s
pub fn simulate(input: &Keys, variant: usize, mhz: u32) -> Run {
    let (n, bytes, f) = (input.keys as f64, f64::from(input.bits) / 8.0, f64::from(mhz));
    let (cycles, traffic, launches) = match variant {
        0 => {
            let passes = n.log2();
            let far = (n / 2048.0).log2().max(1.0);
            let share = DISTRIBUTIONS[input.distribution].1;
            (4.0 * passes * n * share * bytes / 4.0, far * 2.0 * bytes * n, 6e-6 * passes)
        }
        _ => (11.0 * bytes * n, bytes * 3.0 * bytes * n, 15e-6 * bytes),
    };
    let compute = cycles / (192.0 * f * 1e6);
    let memory = traffic / (14e9_f64).min(24.0 * f * 1e6);
    let seconds = compute.max(memory) + launches;
    let volts = 0.8 + 0.35 * (f / 852.0).powi(2);
    let active = 7.5 * volts * volts * f / 852.0;
    let busy = compute / seconds;
    let rate = 0.12 * traffic / 1e9 / seconds;
    let mean = 2.2 + active * (busy + (1.0 - busy) / 3.0) + rate;
    Run { keys_per_s: n / seconds, joules: mean * seconds, watts: 2.2 + active * busy.max(1.0 / 3.0) + rate }
}

/// All pairs on some inputs, for an objective.
///
/// # Errors
/// An expression that is none.
pub fn pairs(inputs: &[Keys], frequencies: &[u32], objective: &Objective) -> Result<Table> {
    let all = || (0..VARIANTS.len()).flat_map(|variant| frequencies.iter().map(move |&mhz| (variant, mhz)));
    let row = |(at, input): (usize, &Keys)| {
        let outcome = |(variant, mhz)| {
            let Run { keys_per_s, joules, watts } = simulate(input, variant, mhz);
            let outcome = Outcome::measured("keys_per_s", keys_per_s);
            outcome.with("joules", joules, "J").with("watts", watts, "W")
        };
        let outcomes: Vec<Outcome> = all().map(outcome).collect();
        let (name, share) = DISTRIBUTIONS[input.distribution];
        Ok(Row {
            input: format!("{at}: {} {}-bit {name}", input.keys, input.bits),
            family: name.to_owned(),
            features: vec![(input.keys as f64).log2(), f64::from(input.bits), share],
            feature_costs: vec![0.0; 3],
            costs: objective.costs(&outcomes)?,
            ..Row::default()
        })
    };
    Ok(Table {
        name: "sort".to_owned(),
        variants: all().map(|(variant, mhz)| format!("{}@{mhz}", VARIANTS[variant])).collect(),
        default: 2 * frequencies.len() - 1,
        features: ["log2_keys", "bits", "comparisons"].map(str::to_owned).to_vec(),
        metric: objective.text().to_owned(),
        maximize: objective.maximize(),
        cutoff: None,
        rows: inputs.iter().enumerate().map(row).collect::<Result<_>>()?,
    })
}

/// What the choices for one objective are worth.
#[derive(Debug, Clone, Serialize)]
pub struct Study {
    /// The objective.
    pub objective: String,
    /// The chosen pairs against the best ones.
    pub pairs: PairEvaluation,
    /// Mean frequency of the chosen pairs in MHz.
    pub mhz: f64,
    /// Throughput, keys per joule and greatest power of the chosen pairs over those of each variant at the greatest frequency, means
    /// over the test inputs: Table 4.1.
    pub over: Vec<(String, [f64; 3])>,
}

/// Trains and tests both models for each objective.
///
/// # Errors
/// What training says.
pub fn study(options: &TrainOptions) -> Result<Vec<Study>> {
    let (training, test) = (inputs(false, COUNTS[0]), inputs(true, COUNTS[1]));
    let each = OBJECTIVES.iter().map(|(name, text)| {
        let objective = Objective::greatest(text);
        let table = pairs(&training, &FREQUENCIES, &objective)?;
        let rows: Vec<usize> = (0..table.rows.len()).collect();
        let pair = train_pair(&table, &rows, &[0, 1, 2], options)?;
        let held_out = pairs(&test, &FREQUENCIES, &objective)?;
        let judged = evaluate_pair(&pair.variant.model, &pair.frequency.model, &held_out)?;
        let of = |at: usize| (at / FREQUENCIES.len(), FREQUENCIES[at % FREQUENCIES.len()]);
        let over = |variant: usize| {
            let mut sums = [0.0; 3];
            for (input, &at) in test.iter().zip(&judged.chosen) {
                let (chosen, mhz) = of(at);
                let (own, other) = (simulate(input, chosen, mhz), simulate(input, variant, FREQUENCIES[13]));
                sums[0] += own.keys_per_s / other.keys_per_s;
                sums[1] += other.joules / own.joules;
                sums[2] += own.watts / other.watts;
            }
            (VARIANTS[variant].to_owned(), sums.map(|sum| sum / test.len() as f64))
        };
        let mhz = judged.chosen.iter().map(|&at| f64::from(of(at).1)).sum::<f64>() / test.len() as f64;
        Ok(Study { objective: (*name).to_owned(), over: vec![over(1), over(0)], mhz, pairs: judged })
    });
    each.collect()
}
