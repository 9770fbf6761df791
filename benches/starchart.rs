//! Regression trees: 200 samples with 10 parameters, and 100,000 samples with 15, on one core, against scikit-learn's
//! `DecisionTreeRegressor` on the same numbers in the same run, rounds interleaved.
//!
//! Prints medians and writes them, with the machine's facts, to `benches/results/starchart.json` (or
//! `$TILEWRIGHT_BENCH_OUT`). Python with scikit-learn is looked for as `$TILEWRIGHT_PYTHON`, else `python3`; without it the
//! comparison is left out and said to be.
//!
//! `cargo bench -p tilewright-benches --bench starchart`

use serde::Serialize;
use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;
use toolchain::machine::MachineFacts;
use tuner::starchart::{Column, GrowOptions, Table, grow};

const ROUNDS: usize = 7;

#[derive(Serialize)]
struct Report {
    machine: MachineFacts,
    /// Version of scikit-learn; null where it was not there.
    scikit_learn: Option<String>,
    cases: Vec<Case>,
}

#[derive(Serialize)]
struct Case {
    samples: usize,
    parameters: usize,
    /// Levels of every parameter; null for as many as there are samples.
    levels: Option<u32>,
    leaves: usize,
    seconds: f64,
    seconds_all: Vec<f64>,
    scikit_learn_leaves: Option<usize>,
    scikit_learn_seconds: Option<f64>,
    scikit_learn_seconds_all: Vec<f64>,
}

/// Fits trees on arrays that arrive on standard input, one core, and answers with seconds and leaves.
const PYTHON: &str = "
import sys, struct, time
import numpy as np, sklearn
from sklearn.tree import DecisionTreeRegressor
print(sklearn.__version__, flush=True)
data = sys.stdin.buffer
while True:
    head = data.read(16)
    if len(head) < 16: break
    n, k = struct.unpack('<QQ', head)
    # As scikit-learn wants them, so that no conversion is timed.
    x = np.ascontiguousarray(np.frombuffer(data.read(8 * n * k)).reshape(k, n).T.astype(np.float32))
    y = np.frombuffer(data.read(8 * n)).copy()
    start = time.perf_counter()
    tree = DecisionTreeRegressor(random_state=0).fit(x, y)
    print(time.perf_counter() - start, tree.get_n_leaves(), flush=True)
";

struct Python {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    version: String,
}

impl Python {
    fn start() -> Option<Python> {
        let name = std::env::var("TILEWRIGHT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let mut command = Command::new(name);
        command.args(["-c", PYTHON]).env("OMP_NUM_THREADS", "1").env("OPENBLAS_NUM_THREADS", "1");
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let input = process.stdin.take()?;
        let mut output = BufReader::new(process.stdout.take()?);
        let mut version = String::new();
        output.read_line(&mut version).ok().filter(|read| *read > 0)?;
        Some(Python { process, input, output, version: version.trim().to_owned() })
    }

    fn fit(&mut self, columns: &[Vec<f64>], response: &[f64]) -> Result<(f64, usize), Box<dyn Error>> {
        let mut bytes = Vec::new();
        bytes.extend((response.len() as u64).to_le_bytes());
        bytes.extend((columns.len() as u64).to_le_bytes());
        columns.iter().flatten().chain(response).for_each(|value| bytes.extend(value.to_le_bytes()));
        self.input.write_all(&bytes)?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let (seconds, leaves) = line.trim().split_once(' ').ok_or("scikit-learn gave no answer")?;
        Ok((seconds.parse()?, leaves.parse()?))
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reproducible numbers between 0 and 1 (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Columns, and a response with main effects, an interaction and noise.
fn problem(samples: usize, parameters: usize, levels: Option<u32>) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut numbers = Numbers(samples as u64);
    let mut value = |_: usize| match levels {
        Some(levels) => (numbers.next() * f64::from(levels)).floor() + 1.0,
        // In single precision, as scikit-learn keeps them.
        None => f64::from(numbers.next() as f32),
    };
    let columns: Vec<Vec<f64>> = (0..parameters).map(|_| (0..samples).map(&mut value).collect()).collect();
    let response = (0..samples)
        .map(|row| {
            let at = |k: usize| columns[k][row] / levels.map_or(1.0, f64::from);
            3.0 / (0.1 + at(0))
                + 2.0 * at(1) * at(2)
                + if at(3) > 0.5 { at(4) } else { 0.0 }
                + 0.3 * numbers.next()
        })
        .collect();
    (columns, response)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn measure(
    samples: usize,
    parameters: usize,
    levels: Option<u32>,
    python: &mut Option<Python>,
) -> Result<Case, Box<dyn Error>> {
    let (columns, response) = problem(samples, parameters, levels);
    let rows: Vec<u32> = (0..samples as u32).collect();
    let (mut ours, mut theirs, mut leaves, mut their_leaves) = (Vec::new(), Vec::new(), 0, None);
    for _ in 0..ROUNDS {
        // From plain numbers to the tree, as for scikit-learn.
        let start = Instant::now();
        let made = columns.iter().enumerate().map(|(k, values)| Column::numeric(format!("p{k}"), values));
        let table = Table::new(made.collect::<Result<_, _>>()?)?;
        let tree = black_box(grow(&table, &response, &rows, &GrowOptions::default())?);
        ours.push(start.elapsed().as_secs_f64());
        leaves = tree.leaf_count();
        if let Some(python) = python {
            let (seconds, count) = python.fit(&columns, &response)?;
            theirs.push(seconds);
            their_leaves = Some(count);
        }
    }
    let their_median = (!theirs.is_empty()).then(|| median(&theirs));
    let shown =
        their_median.map_or_else(|| "not there".to_owned(), |seconds| format!("{:.3} ms", seconds * 1e3));
    println!(
        "{samples} samples, {parameters} parameters, {}: {:.3} ms, {leaves} leaves; scikit-learn {shown}",
        levels.map_or_else(|| "all values different".to_owned(), |levels| format!("{levels} levels")),
        median(&ours) * 1e3
    );
    Ok(Case {
        samples,
        parameters,
        levels,
        leaves,
        seconds: median(&ours),
        seconds_all: ours,
        scikit_learn_leaves: their_leaves,
        scikit_learn_seconds: their_median,
        scikit_learn_seconds_all: theirs,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut python = Python::start();
    if python.is_none() {
        println!("SKIPPED: the comparison, because there is no Python with scikit-learn (TILEWRIGHT_PYTHON)");
    }
    let mut cases = Vec::new();
    for (samples, parameters, levels) in [(200, 10, Some(16)), (100_000, 15, Some(16)), (100_000, 15, None)] {
        cases.push(measure(samples, parameters, levels, &mut python)?);
    }
    let report = Report {
        machine: MachineFacts::collect(None),
        scikit_learn: python.as_ref().map(|python| python.version.clone()),
        cases,
    };
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/starchart.json");
    let path = std::env::var_os("TILEWRIGHT_BENCH_OUT").map_or(default, Into::into);
    std::fs::write(&path, serde_json::to_string_pretty(&report)? + "\n")?;
    println!("written: {}", path.display());
    Ok(())
}
