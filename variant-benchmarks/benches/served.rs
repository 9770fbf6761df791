//! Serves inputs and variants of the benchmarks to a program that compares them with libraries (`variant_peers.py`).
//!
//! Reads lines, and answers each with a line of JSON:
//!
//! * `input BENCHMARK INDEX LARGEST FOLDER` makes a held-out input, of which the largest ones have so many elements, and writes what it
//!   is made of into the folder, as NumPy files. The answer: its name, its family, the variants that may be run on it.
//! * `run VARIANT REPEAT` runs a variant on it so often, each time on a fresh one. The answer: the least seconds, those for what is done
//!   once and those for each call; or why it has no result.
//!
//! `cargo bench -p tilewright-variant-benchmarks --bench served`

use nested::data::Array;
use nested::npy;
use serde::Serialize;
use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;
use toolchain::machine::MachineFacts;
use variant_benchmarks::benchmark::{Benchmark, Inputs, Ran, Spent, built};
use variant_benchmarks::bfs::Bfs;
use variant_benchmarks::histogram::Histogram;
use variant_benchmarks::solvers::Solvers;
use variant_benchmarks::sort::{Keys, Sort};
use variant_benchmarks::sparse::Csr;
use variant_benchmarks::spmv::Spmv;
use variant_benchmarks::transpose::Transpose;

/// What is not to be answered.
type Problem = Box<dyn Error>;

/// Arrays with their files' names.
type Arrays = Vec<(&'static str, Array)>;

/// A benchmark whose inputs others can read.
trait Shown: Benchmark {
    /// What an input is made of.
    fn arrays(argument: &Self::Argument) -> Arrays;
}

/// Numbers that say where something is, or how large.
fn numbers(values: impl IntoIterator<Item = usize>) -> Array {
    Array::I64(values.into_iter().map(|value| value as i64).collect())
}

/// Numbers of 32 bits.
fn places(values: &[u32]) -> Array {
    Array::I32(values.iter().map(|value| *value as i32).collect())
}

/// Where lists of these lengths begin, and the end.
fn offsets(lengths: impl Iterator<Item = usize>) -> Array {
    let ends = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    numbers(std::iter::once(0).chain(ends))
}

fn of_matrix(matrix: &Csr) -> Arrays {
    let rows = || (0..matrix.rows()).map(|row| matrix.row(row));
    vec![
        ("shape", numbers([matrix.rows(), matrix.columns()])),
        ("offsets", offsets((0..matrix.rows()).map(|row| matrix.length(row)))),
        ("places", places(&rows().flat_map(|(places, _)| places).copied().collect::<Vec<_>>())),
        ("values", Array::F64(rows().flat_map(|(_, values)| values).copied().collect())),
    ]
}

impl Shown for Spmv {
    fn arrays(own: &Self::Argument) -> Arrays {
        let mut arrays = of_matrix(own.matrix());
        arrays.push(("x", Array::F64(own.x().to_vec())));
        arrays
    }
}

impl Shown for Solvers {
    fn arrays(own: &Self::Argument) -> Arrays {
        let mut arrays = of_matrix(own.matrix());
        arrays.push(("right", Array::F64(own.right().to_vec())));
        arrays
    }
}

impl Shown for Bfs {
    fn arrays(own: &Self::Argument) -> Arrays {
        let (graph, vertices) = (own.graph(), 0..own.graph().vertices() as u32);
        let targets = vertices.clone().flat_map(|vertex| graph.neighbours(vertex)).copied();
        vec![
            ("offsets", offsets(vertices.map(|vertex| graph.degree(vertex)))),
            ("targets", places(&targets.collect::<Vec<_>>())),
            ("sources", places(own.sources())),
        ]
    }
}

impl Shown for Histogram {
    fn arrays(own: &Self::Argument) -> Arrays {
        let values = own.values().iter().map(|value| i32::from(*value));
        vec![("values", Array::I32(values.collect())), ("shape", numbers([own.counts.len()]))]
    }
}

impl Shown for Sort {
    fn arrays(own: &Self::Argument) -> Arrays {
        let keys = match &own.keys {
            Keys::F32(keys) => Array::F32(keys.clone()),
            Keys::F64(keys) => Array::F64(keys.clone()),
        };
        vec![("keys", keys)]
    }
}

impl Shown for Transpose {
    fn arrays(own: &Self::Argument) -> Arrays {
        let (rows, columns) = own.in_memory();
        vec![("shape", numbers([rows, columns]))]
    }
}

/// The answer to `input`.
#[derive(Serialize)]
struct About {
    name: String,
    family: String,
    variants: Vec<String>,
}

/// The answer to `run`.
#[derive(Serialize)]
struct Run {
    once: Option<f64>,
    each: Option<f64>,
    /// Why there is no result.
    failed: Option<String>,
}

/// Runs a variant of the input that was made last.
type Runs = Box<dyn Fn(&str, usize) -> Result<Run, Problem>>;

/// Makes an input, and writes what it is made of.
fn input<B: Shown>(index: usize, largest: usize, folder: &Path) -> Result<(About, Runs), Problem> {
    let inputs = Inputs { held_out: true, count: index + 1, largest };
    let input = B::inputs(&inputs).pop().ok_or("there is no such input")?;
    let argument = (input.make)();
    for (name, array) in B::arrays(&argument) {
        npy::write(&folder.join(format!("{name}.npy")), &array, 1)?;
    }
    let function = built::<B>(None)?;
    let names = function.selector().variants().to_vec();
    let allowed = |variant: &usize| function.is_allowed(*variant, &argument);
    let variants = (0..names.len()).filter(allowed).map(|variant| names[variant].clone()).collect();
    let about = About { name: input.name, family: input.family, variants };
    let make = input.make;
    let run = move |variant: &str, repeat: usize| {
        let at = names.iter().position(|name| name == variant).ok_or("there is no such variant")?;
        let once = || -> Ran {
            let mut argument = make();
            let spent = function.run(at, &mut argument)?;
            B::check(&argument).map(|()| spent)
        };
        let least =
            |best: Spent, own: Spent| Spent { once: best.once.min(own.once), each: best.each.min(own.each) };
        let all: Result<Vec<Spent>, String> = (0..repeat.max(1)).map(|_| once()).collect();
        Ok(match all {
            Ok(all) => {
                let spent = all.into_iter().reduce(least);
                Run { once: spent.map(|own| own.once), each: spent.map(|own| own.each), failed: None }
            }
            Err(reason) => Run { once: None, each: None, failed: Some(reason) },
        })
    };
    Ok((about, Box::new(run)))
}

/// Makes an input of one benchmark.
type Make = fn(usize, usize, &Path) -> Result<(About, Runs), Problem>;

const MAKE: [(&str, Make); 6] = [
    (Spmv::NAME, input::<Spmv>),
    (Solvers::NAME, input::<Solvers>),
    (Bfs::NAME, input::<Bfs>),
    (Histogram::NAME, input::<Histogram>),
    (Transpose::NAME, input::<Transpose>),
    (Sort::NAME, input::<Sort>),
];

/// The answer to a line.
fn answer(line: &str, current: &mut Option<Runs>) -> Result<String, Problem> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["input", benchmark, index, largest, folder] => {
            let known =
                MAKE.iter().find(|(name, _)| *name == benchmark).ok_or("there is no such benchmark")?;
            // The one before goes first: both may not fit.
            *current = None;
            let (about, run) = known.1(index.parse()?, largest.parse()?, Path::new(folder))?;
            *current = Some(run);
            Ok(serde_json::to_string(&about)?)
        }
        ["run", variant, repeat] => {
            let run = current.as_ref().ok_or("there is no input yet")?;
            Ok(serde_json::to_string(&run(variant, repeat.parse()?)?)?)
        }
        ["machine"] => Ok(serde_json::to_string(&MachineFacts::collect(None))?),
        _ => {
            Err("a line is `input BENCHMARK INDEX LARGEST FOLDER`, `run VARIANT REPEAT` or `machine`".into())
        }
    }
}

fn main() -> Result<(), Problem> {
    // By a thread of the pool: one from outside sleeps while it waits, and is woken at each call.
    Ok(rayon::scope(|_| serve().map_err(|problem| problem.to_string()))?)
}

fn serve() -> Result<(), Problem> {
    let mut current = None;
    for line in stdin().lock().lines() {
        let answer = answer(&line?, &mut current)?;
        writeln!(stdout(), "{answer}")?;
        stdout().flush()?;
    }
    Ok(())
}
