//! Arguments of `nested`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Arguments of `nested`.
#[derive(Debug, Args)]
pub struct NestedArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: NestedCommand,
}

/// What can be done with a nested data-parallel program.
#[derive(Debug, Subcommand)]
pub enum NestedCommand {
    /// Show the shipped programs and the operators
    #[command(after_help = "\
Examples:
  tilewright nested list
  tilewright nested list --json")]
    List,
    /// Print a program in its one form
    #[command(after_help = "\
Examples:
  tilewright nested format spmv
  tilewright nested format examples/nested/norms.nested -o norms.nested")]
    Format(FormatArguments),
    /// Show expression sequences, schedules, parameters, and the size of the space
    #[command(after_help = "\
Examples:
  tilewright nested analyze spmv
  tilewright nested analyze examples/nested/norms.nested --json")]
    Analyze(AnalyzeArguments),
    /// Write C with OpenMP or CUDA, a header, a build file, a program that checks and times, and manifest.json
    #[command(after_help = "\
Examples:
  tilewright nested compile spmv --target cuda -o out-cuda
  tilewright nested compile spmv -o out && cmake -S out -B out/build && cmake --build out/build
  tilewright nested compile spmv -o out")]
    Compile(CompileArguments),
    /// Run a program on arrays of files
    #[command(after_help = "\
Examples:
  tilewright nested run reduction --input s=examples/nested/x.npy --verify
  tilewright nested run spmv --matrix nonzeros,columns,offsets=examples/nested/a.mtx --input x=examples/nested/x.npy --output y=y.npy --repeat 10 --json")]
    Run(RunArguments),
    /// Measure implementations, and say which is best
    #[command(after_help = "\
Examples:
  tilewright nested tune spmv --matrix nonzeros,columns,offsets=examples/nested/a.mtx --input x=examples/nested/x.npy --budget 20 --trials spmv.jsonl
  tilewright explain spmv.jsonl --metric seconds")]
    Tune(TuneArguments),
}

/// Where a program is.
#[derive(Debug, Args)]
pub struct ProgramArguments {
    /// A .nested file, or the name of a shipped program
    #[arg(value_name = "PROGRAM")]
    pub program: String,
}

/// Arguments of `nested format`.
#[derive(Debug, Args)]
pub struct FormatArguments {
    /// Where it is.
    #[command(flatten)]
    pub program: ProgramArguments,
    /// File to write to instead of stdout; it may be the file itself
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `nested analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArguments {
    /// Where it is.
    #[command(flatten)]
    pub program: ProgramArguments,
}

/// A language of generated code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TargetName {
    /// C with OpenMP
    #[value(name = "openmp")]
    OpenMp,
    /// CUDA C++
    Cuda,
}

/// What runs a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BackendName {
    /// Compiled C with OpenMP
    #[value(name = "openmp")]
    OpenMp,
    /// The interpreter
    Reference,
    /// CUDA on the processor, every access checked
    Emulator,
    /// A GPU
    Cuda,
}

/// How a program is done.
#[derive(Debug, Clone, Args)]
pub struct ImplementationArguments {
    /// Schedule of a computation, as `y=independent>sequential`; without a name where there is one computation
    #[arg(long, value_name = "[NAME=]SCHEDULE")]
    pub schedule: Vec<String>,
    /// Policy of a computation, as `y:omp_schedule_1=dynamic,chunk_size_1=64`, for CUDA `y:logical_warp_size=8`; without a
    /// name where there is one
    #[arg(long, value_name = "[NAME:]POLICY")]
    pub policy: Vec<String>,
    /// Sum floating-point numbers in any order
    #[arg(long)]
    pub fast: bool,
}

/// What a program is given.
#[derive(Debug, Clone, Args)]
pub struct DataArguments {
    /// An input's NumPy file
    #[arg(long, value_name = "NAME=FILE.npy")]
    pub input: Vec<String>,
    /// A sparse matrix of a Matrix Market file, for three inputs
    #[arg(long, value_name = "VALUES,COLUMNS,OFFSETS=FILE.mtx")]
    pub matrix: Vec<String>,
    /// A parameter's value, or that of an input that is one number
    #[arg(long, value_name = "NAME=NUMBER")]
    pub param: Vec<String>,
    /// Number of threads; all cores where not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
    /// Believe indices, offsets and lengths
    #[arg(long)]
    pub no_checks: bool,
}

/// Arguments of `nested compile`.
#[derive(Debug, Args)]
pub struct CompileArguments {
    /// Where it is.
    #[command(flatten)]
    pub program: ProgramArguments,
    /// Language of the generated code
    #[arg(long, value_name = "TARGET", default_value = "openmp")]
    pub target: TargetName,
    /// How it is done.
    #[command(flatten)]
    pub implementation: ImplementationArguments,
    /// Choose among several implementations at each call, by what the program will be given: a file that lists data
    #[arg(long, value_name = "FILE", conflicts_with_all = ["schedule", "policy"])]
    pub adaptive: Option<PathBuf>,
    /// Folder to write to
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Replace files that Tilewright did not write
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `nested run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Where it is.
    #[command(flatten)]
    pub program: ProgramArguments,
    /// What it is given.
    #[command(flatten)]
    pub data: DataArguments,
    /// How it is done.
    #[command(flatten)]
    pub implementation: ImplementationArguments,
    /// What runs it
    #[arg(long, value_name = "BACKEND", default_value = "openmp")]
    pub backend: BackendName,
    /// NumPy file for a result; rows of a nested one go to NAME_rows
    #[arg(long, value_name = "NAME=FILE.npy")]
    pub output: Vec<String>,
    /// Compare with the interpreter
    #[arg(long)]
    pub verify: bool,
    /// Runs that are timed, behind one that is not
    #[arg(long, value_name = "R", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub repeat: u64,
}

/// Arguments of `nested tune`.
#[derive(Debug, Args)]
pub struct TuneArguments {
    /// Where it is.
    #[command(flatten)]
    pub program: ProgramArguments,
    /// What it is given.
    #[command(flatten)]
    pub data: DataArguments,
    /// Most implementations that are measured
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub budget: u64,
    /// Runs of each that are timed
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub repeat: u64,
    /// Tune this computation alone; the longest one where not given
    #[arg(long, value_name = "NAME")]
    pub computation: Option<String>,
    /// Sum floating-point numbers in any order
    #[arg(long)]
    pub fast: bool,
    /// Keep all trials in this store: SQLite, or JSON lines for a name in .jsonl
    #[arg(long, value_name = "FILE")]
    pub trials: Option<PathBuf>,
}
