//! The arguments of all commands, and how sizes, assignments and tile sizes are read.

use crate::strategies::NameParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::{AUTO, Target};
use optimizer::{Method, Objective};
use polyhedral::program::ElementType;
use std::path::PathBuf;
use std::str::FromStr;
use tilewright::data::Arrangement;
use tilewright::{Backend, Tiling};

/// Turns stencils into tiled CUDA and OpenMP code, proves the tiling legal, and runs it.
#[derive(Debug, Parser)]
#[command(
    name = "tilewright",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  tilewright list
  tilewright analyze heat2d --tile st=4,s0=6,s1=16 --svg tiles.svg
  tilewright compile heat2d --target openmp -o out
  tilewright run heat2d --size 4096x4096 --steps 100 --verify
  tilewright tune heat2d --size 4096x4096 --steps 1000 --machine a100

Exit codes: 0 success, 1 a failed check, an infeasible request or a failure outside, 2 wrong input,
130 after SIGINT (Ctrl-C), 143 after SIGTERM. docs/cli.md has the table, and what a signal does."
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How to print it.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// What every command prints beside its report.
#[derive(Debug, Clone, Copy, Args)]
pub struct OutputArguments {
    /// Print one JSON document on stdout, and nothing else there
    #[arg(long, global = true, help_heading = "Output")]
    pub json: bool,
    /// Print on stderr how long each stage took
    #[arg(long, global = true, help_heading = "Output")]
    pub timings: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the shipped stencils, the strategies, back ends and machines
    #[command(after_help = "\
Examples:
  tilewright list
  tilewright list --json")]
    List(ListArguments),
    /// Show dependences, cone, flops, bytes and footprint of a stencil, and the proof of its tiling
    #[command(after_help = "\
Examples:
  tilewright analyze heat2d
  tilewright analyze fdtd2d --tile st=6,s0=8,s1=32 --svg tiles.svg
  tilewright analyze examples/my.stencil --size 1024x1024 --steps 500 --json
  tilewright analyze heat2d --dump dependences")]
    Analyze(AnalyzeArguments),
    /// Write tiled source code, a header, a build file and manifest.json
    #[command(after_help = "\
Examples:
  tilewright compile heat2d --target openmp -o out
  tilewright compile examples/my.stencil --target cuda --tile st=4,s0=12,s1=64 -o out
  tilewright compile examples/prog.c -DN=1000 -Iexamples/include --target openmp -o out && make -C out
  tilewright compile wave2d --target openmp --strategy naive --dtype f64 --size 2048x2048 --steps 100 -o out
  tilewright compile heat2d --target openmp --dtype f64 --prefix f64 -o out64

The files in examples/ are part of Tilewright's source, beside its README. Files in the folder that Tilewright did not
write, or that were changed since, are not replaced: nothing is written then, and the files are listed. The list of its
own files is the folder's file .tilewright.")]
    Compile(CompileArguments),
    /// Build and run a C program and its rewritten form, and compare all that they do
    #[command(after_help = "\
Examples:
  tilewright check examples/prog.c -Iexamples/include
  tilewright check examples/prog.c -DN=200 -Iexamples/include --tile st=4,s0=6,s1=16 -- 100 out.dat
  tilewright check examples/prog.c -Iexamples/include --ignore seconds --threads 2 --json

The original is built by the system's compiler ($CC, or cc, gcc, clang) as it stands, without contraction of products
and sums; both run in empty folders. Compared are stdout, the exit code and all files that they write, byte by byte.
Exit codes: 0 equal, 1 different, 2 a program that is not accepted, cannot be built or does not end.")]
    Check(CheckArguments),
    /// Print a C program's stencil in the stencil language
    #[command(after_help = "\
Examples:
  tilewright convert examples/prog.c -Iexamples/include
  tilewright convert examples/prog.c -DN=1000 -Iexamples/include -o prog.stencil

C programs are described in docs/c-input.md.")]
    Convert(ConvertArguments),
    /// Run a stencil, check the result and measure it
    #[command(after_help = "\
Examples:
  tilewright run heat2d --size 4096x4096 --steps 100
  tilewright run heat2d --size 501x333 --steps 20 --verify --json
  tilewright run examples/my.stencil --size 200x300 --steps 50 --output u=before.npy
  tilewright run examples/my.stencil --input u=before.npy --output u=after.npy --steps 50 --param a=0.2
  tilewright run heat3d --size 256x256x256 --steps 64 --strategy naive --threads 4 --repeat 5

Arrays are NumPy files (.npy, float32 or float64 in C order). A field or series without --input gets
pseudo-random values in [0, 1) that depend on --seed only. GStencil/s counts each grid point that the
stencil computes once per time step, whatever the number of statements, in the median run.
The first Ctrl-C stops within two seconds, the second at once; no half-written file is left.")]
    Run(RunArguments),
    /// Predict time, energy and power of a tiling on a machine, and say where they go
    #[command(after_help = "\
Examples:
  tilewright predict heat2d --size 4096x4096 --steps 1000 --tile st=8,s0=22,s1=64 --machine titanx
  tilewright predict heat3d --size 512x512x512 --steps 200 --tile st=2,s0=7,s1=10,s2=32 --machine gtx980 --svg bars.svg
  tilewright predict examples/my.stencil --size 2048x2048 --steps 100 --tile st=4,s0=16,s1=32 --machine v100 --json

A prediction is a model's: docs/models.md has its formulas. A tile that does not fit the machine is predicted, too;
then `feasible` is false and the exit code 1.")]
    Predict(PredictArguments),
    /// Find the tile sizes that are best by the model, with a proof
    #[command(after_help = "\
Examples:
  tilewright tune heat2d --size 4096x4096 --steps 1000 --machine gtx980
  tilewright tune heat3d --size 512x512x512 --steps 200 --machine h100 --objective edp --strategy hhc
  tilewright tune jacobi2d --size 8192x8192 --steps 500 --machine a100 --method closed-form
  tilewright tune heat1d --size 1048576 --steps 100 --machine k40c --formulation parts --json

exact: branch and bound; its value is proved to be the least. exhaustive: every candidate, for comparison.
closed-form: maximise s0 + st among compute-bound tiles, which needs no C_iter; nothing is proved.")]
    Tune(TuneArguments),
    /// Measure what the cost models must know about this machine, and write a machine file
    #[command(after_help = "\
Examples:
  tilewright calibrate --backend openmp -o here.toml
  tilewright calibrate --backend openmp --stencil heat2d --stencil examples/my.stencil -o here.toml
  tilewright calibrate --backend cuda -o gpu.toml

Run it on an idle machine: rounds that other programs disturb are repeated, but not for ever. Stencils that
are not measured get estimates from those that are.")]
    Calibrate(CalibrateArguments),
    /// Measure a sample of tile sizes and compare with the predictions of the model
    #[command(after_help = "\
Examples:
  tilewright calibrate --backend openmp -o here.toml
  tilewright validate heat2d --size 4096x4096 --steps 50 --machine here.toml --backend openmp
  tilewright validate heat2d --size 4096x4096 --steps 50 --machine here.toml --backend openmp --samples 60 --trials runs.jsonl --svg fit.svg
  tilewright calibrate --backend cuda -o gpu.toml
  tilewright validate heat2d --size 8192x8192 --steps 256 --machine gpu.toml --backend cuda

With --trials every run is kept in a file; the same command continues where a stopped one ended.")]
    Validate(ValidateArguments),
    /// Choose the hardware and the tile sizes together, and write a report
    #[command(after_help = "\
Examples:
  tilewright codesign paper -o study
  tilewright codesign examples/workload.toml --area 200..240 --objective edp -o out
  tilewright codesign today --what-if none --json -o out

The folder gets designs.csv, pareto.csv, report.json and report.html, which needs nothing else. An
interrupted run goes on where it was if it is started again with the same arguments. docs/codesign.md
describes workload files.")]
    Codesign(CodesignArguments),
    /// Find the exact Pareto front of the rows of a CSV file
    #[command(after_help = "\
Examples:
  tilewright codesign examples/workload.toml -o study
  tilewright pareto study/designs.csv --x area_mm2 --y gflops --svg front.svg
  tilewright pareto study/designs.csv --x area_mm2 --y gflops --z gflops_per_watt --csv front.csv
  tilewright pareto examples/power.csv --x power --y time --min time

Smaller values of --x and larger ones of --y and --z are better, unless --min or --max say otherwise.")]
    Pareto(ParetoArguments),
    /// Search for the fastest configuration with few measurements: of a stencil, a recorded space or any program
    #[command(after_help = "\
Examples:
  tilewright search heat2d --size 2000x2000 --steps 100 --method dlmt --budget 40 --trials heat2d.db
  tilewright search --replay examples/heat2d-1024.csv --response seconds --method dlmt --model \"~ s0 + I(1/s0) + log(s1)\" --log steps.txt
  tilewright search --replay examples/heat2d-v100.json.gz --method random,genetic,surrogate --repetitions 30 --svg compare.svg
  tilewright search --space examples/transpose.json --command \"examples/transpose.sh {block_i} {block_j} {wide} {flag}\" --budget 50 --trials runs.db
  tilewright calibrate --backend openmp -o here.toml
  tilewright search heat2d --size 2000x2000 --steps 100 --method model --machine here.toml --budget 30
  tilewright search heat2d --size 8192x8192 --steps 512 --backend model --machine v100 --method genetic
  tilewright search --method help

A trial that fails counts against the budget and is kept; it never wins. A command prints the response, or a
JSON object with metrics by name, in its last line; exit code 65 means an invalid configuration, 66 that it does
not compile, 67 a wrong result. Its environment has every level: that of block_size is $TW_BLOCK_SIZE (capitals;
other signs than letters and digits become _). {block_size} is one word, whatever the level is; inside quotes and
$(..) it may stand for numbers only. {{block_size}} is that text itself; braces around other words are the shell's.
With --trials a search that was stopped or killed goes on where it was. One that is stopped reports the best so
far, and its exit code is 130 after SIGINT (Ctrl-C) and 143 after SIGTERM.")]
    Search(Box<SearchArguments>),
    /// Explain measured trials by a regression tree: which parameters matter, and where the best designs are
    #[command(after_help = "\
Examples:
  tilewright explain examples/heat2d-v100.json.gz --metric seconds
  tilewright explain examples/heat2d-v100.json.gz --metric seconds --where \"st >= 4\" --max-depth 4 --svg tree.svg
  tilewright explain examples/heat2d-v100.json.gz --nodes linear --stargazer
  tilewright explain examples/heat2d-v100.json.gz examples/heat2d-h100.json.gz --join device
  tilewright explain 1024=examples/heat2d-1024.csv 4096=examples/heat2d-4096.csv --join size --metric \"seconds / size\"
  tilewright explain examples/power.csv --target \"power <= 215\" --target \"time <= 60\"
  tilewright explain examples/heat2d-v100.json.gz --until 0.1 --curve error.svg

Failed trials do not enter the tree and are counted. The accuracy is that of trees on 200 samples (--samples) and 200
other, held-out trials, mean of 20 draws. best_leaf.constraint in the JSON document is a constraint for the next search.")]
    Explain(crate::explain::ExplainArguments),
    /// Print a script that lets a shell complete commands and options
    #[command(after_help = "\
Examples:
  tilewright completions bash > ~/.local/share/bash-completion/completions/tilewright
  tilewright completions zsh > ~/.zfunc/_tilewright
  tilewright completions fish > ~/.config/fish/completions/tilewright.fish

A new shell knows them. zsh looks in ~/.zfunc where ~/.zshrc has `fpath+=~/.zfunc` before `compinit`.")]
    Completions(CompletionsArguments),
    /// Write manual pages of all commands
    #[command(after_help = "\
Examples:
  tilewright manual -o ~/.local/share/man/man1

Then `man tilewright-run` shows what `tilewright run --help` says.")]
    Manual(ManualArguments),
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Arguments of `manual`.
#[derive(Debug, Args)]
pub struct ManualArguments {
    /// Folder to write to; it is made where there is none
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

/// Arguments of `predict`.
#[derive(Debug, Args)]
pub struct PredictArguments {
    /// The stencil and its tiling.
    #[command(flatten)]
    pub plan: PlanArguments,
    /// Grid size, slowest dimension first
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Size,
    /// Number of time steps
    #[arg(long, value_name = "N", value_parser = some_steps_parser(), allow_negative_numbers = true)]
    pub steps: i64,
    /// A shipped machine (see `tilewright list`) or a machine file
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: String,
    /// Tiles resident on a multiprocessor at a time; the best that fits where not given
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(i64).range(1..=1024), allow_negative_numbers = true)]
    pub k: Option<i64>,
    /// Draw where the time goes as a bar chart
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// Arguments of `tune`.
#[derive(Debug, Args)]
pub struct TuneArguments {
    /// A shipped stencil (see `tilewright list`), a .stencil file, or a C file with a `#pragma scop` region
    #[arg(value_name = "SPEC")]
    pub spec: String,
    /// How a C file is preprocessed.
    #[command(flatten)]
    pub c: CArguments,
    /// Grid size, slowest dimension first
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Size,
    /// Number of time steps
    #[arg(long, value_name = "N", value_parser = some_steps_parser(), allow_negative_numbers = true)]
    pub steps: i64,
    /// A shipped machine (see `tilewright list`) or a machine file
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: String,
    /// What to minimise
    #[arg(long, default_value = "time", value_name = "OBJECTIVE")]
    pub objective: ObjectiveName,
    /// Tiling strategy, or auto (the best of all)
    #[arg(long, default_value = AUTO, value_name = "NAME", value_parser = NameParser::OR_AUTO)]
    pub strategy: String,
    /// How to search
    #[arg(long, default_value = "exact", value_name = "METHOD")]
    pub method: MethodName,
    /// How to choose among strategies
    #[arg(long, default_value = "minimum", value_name = "WAY")]
    pub formulation: FormulationName,
    /// Use this type for all fields instead of their own
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<ElementTypeName>,
}

/// What to minimise, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ObjectiveName {
    /// Seconds
    Time,
    /// Joules
    Energy,
    /// Watts
    Power,
    /// Joules times seconds
    Edp,
}

impl ObjectiveName {
    /// The objective itself.
    pub fn objective(self) -> Objective {
        match self {
            ObjectiveName::Time => Objective::Time,
            ObjectiveName::Energy => Objective::Energy,
            ObjectiveName::Power => Objective::Power,
            ObjectiveName::Edp => Objective::Edp,
        }
    }
}

/// How to search, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodName {
    /// Branch and bound with a certificate
    Exact,
    /// The rule without C_iter
    ClosedForm,
    /// Every candidate
    Exhaustive,
}

impl MethodName {
    /// The method itself.
    pub fn method(self) -> Method {
        match self {
            MethodName::Exact => Method::Exact,
            MethodName::ClosedForm => Method::ClosedForm,
            MethodName::Exhaustive => Method::Exhaustive,
        }
    }
}

/// The two formulations of super-tuning, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormulationName {
    /// The least of the strategies' optima
    Minimum,
    /// Also the optimum of every intersection and difference of their feasible spaces
    Parts,
}

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArguments {
    /// What to measure
    #[arg(long, value_name = "NAME")]
    pub backend: CalibratedBackend,
    /// The machine file to write
    #[arg(short, long, value_name = "FILE.toml")]
    pub output: PathBuf,
    /// A stencil whose body to measure, shipped or a file; may be repeated. Nine shipped ones where not given
    #[arg(long, value_name = "SPEC")]
    pub stencil: Vec<String>,
    /// Name of the machine; that of the file where not given
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// A GPU's published facts (lanes, area, power); the shipped machine of its name where not given
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Use this type for all fields instead of their own
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<ElementTypeName>,
    /// Number of threads; all cores where not given
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub threads: Option<u64>,
    /// Measurements of each kind
    #[arg(long, allow_negative_numbers = true, value_name = "R", default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub rounds: u64,
}

/// Arguments of `validate`.
#[derive(Debug, Args)]
pub struct ValidateArguments {
    /// A shipped stencil (see `tilewright list`), a .stencil file, or a C file with a `#pragma scop` region
    #[arg(value_name = "SPEC")]
    pub spec: String,
    /// How a C file is preprocessed.
    #[command(flatten)]
    pub c: CArguments,
    /// Grid size, slowest dimension first
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Size,
    /// Number of time steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=MOST_STEPS), allow_negative_numbers = true)]
    pub steps: i64,
    /// A calibrated machine: a file that `calibrate` wrote
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: String,
    /// What runs the tiles
    #[arg(long, value_name = "NAME")]
    pub backend: CalibratedBackend,
    /// Tiling strategy whose tiles are measured, or auto (the one that the compiler takes)
    #[arg(long, default_value = AUTO, value_name = "NAME", value_parser = NameParser::OR_AUTO)]
    pub strategy: String,
    /// Tiles to measure
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub samples: u64,
    /// Undisturbed runs of each tile
    #[arg(long, allow_negative_numbers = true, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub repeat: u64,
    /// Seed of the sample
    #[arg(long, allow_negative_numbers = true, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Keep all runs in this file, and continue from those that it holds
    #[arg(long, value_name = "FILE")]
    pub trials: Option<PathBuf>,
    /// Draw predicted against measured times
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Use this type for all fields instead of their own
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<ElementTypeName>,
}

/// A back end that can be calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CalibratedBackend {
    /// Compiled C on all cores
    #[value(name = "openmp")]
    OpenMp,
    /// A GPU
    Cuda,
}

/// Arguments of `codesign`.
#[derive(Debug, Args)]
pub struct CodesignArguments {
    /// A shipped workload (paper, today) or a workload file
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// Area that designs may have in mm2, instead of the file's budget
    #[arg(long, value_name = "LO..HI", value_parser = parse_area)]
    pub area: Option<AreaRange>,
    /// What is best, instead of the file's objective
    #[arg(long, value_name = "NAME")]
    pub objective: Option<CodesignObjective>,
    /// Tiling strategies, instead of the file's; with several, every execution takes the best of them
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = NameParser::OF_CODESIGN)]
    pub strategy: Vec<String>,
    /// Leave out designs that provably lie on no front
    #[arg(long)]
    pub front_only: bool,
    /// Solve all eight of the paper's formulations: one metric and two, one strategy and all, applications and system
    #[arg(long)]
    pub formulations: bool,
    /// Further questions to answer; all where not given
    #[arg(long, value_name = "QUESTION,...", value_delimiter = ',')]
    pub what_if: Vec<Question>,
    /// Folder to write to; it is made where there is none
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Replace files of the folder that Tilewright did not write, or that were changed since; never what is read
    #[arg(long)]
    pub force: bool,
}

/// A range of areas in mm2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AreaRange {
    /// The least area.
    pub low: f64,
    /// The largest area.
    pub high: f64,
}

/// An objective of codesign on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CodesignObjective {
    /// Most operations per second
    Gflops,
    /// Least time
    Time,
    /// Least energy
    Energy,
    /// Least energy times time
    Edp,
}

impl CodesignObjective {
    /// The objective itself.
    pub fn objective(self) -> optimizer::codesign::workload::Objective {
        use optimizer::codesign::workload::Objective;
        match self {
            CodesignObjective::Gflops => Objective::Gflops,
            CodesignObjective::Time => Objective::Time,
            CodesignObjective::Energy => Objective::Energy,
            CodesignObjective::Edp => Objective::Edp,
        }
    }
}

/// A question about a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Question {
    /// All of them
    All,
    /// None
    None,
    /// What a little more of each resource is worth
    Prices,
    /// How much shared memory stencils want
    Memory,
    /// Where the time goes
    Overhead,
    /// The effect of the number of resident tiles
    Hyperthreading,
    /// The best design with caches against the one without
    Caches,
    /// Chips that exist against the best designs of their area
    Chips,
}

/// Arguments of `pareto`.
#[derive(Debug, Args)]
pub struct ParetoArguments {
    /// A CSV file with a header; columns are separated by commas, semicolons or tabs
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// First objective; smaller is better
    #[arg(long, value_name = "COL")]
    pub x: String,
    /// Second objective; larger is better
    #[arg(long, value_name = "COL")]
    pub y: String,
    /// Third objective; larger is better
    #[arg(long, value_name = "COL")]
    pub z: Option<String>,
    /// Smaller values of this objective are better; may be repeated
    #[arg(long, value_name = "COL")]
    pub min: Vec<String>,
    /// Larger values of this objective are better; may be repeated
    #[arg(long, value_name = "COL")]
    pub max: Vec<String>,
    /// A column that was measured, beside the objectives; may be repeated
    #[arg(long, visible_alias = "response", value_name = "COL")]
    pub metric: Vec<String>,
    /// What the columns are.
    #[command(flatten)]
    pub columns: ColumnArguments,
    /// Draw all rows and the front
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write the rows of the front
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// The column that names the rows; `design`, `id` or `name` where not given, else rows are numbered
    #[arg(long, value_name = "COL")]
    pub id: Option<String>,
}

/// Arguments of `search`.
#[derive(Debug, Args)]
pub struct SearchArguments {
    /// A stencil whose tile sizes are searched: a shipped name or a .stencil file
    #[arg(value_name = "SPEC")]
    pub spec: Option<String>,
    /// How a C file is preprocessed.
    #[command(flatten)]
    pub c: CArguments,
    /// What is searched instead: a file with parameters and constraints (T1), or any recorded space
    #[arg(long, value_name = "FILE", conflicts_with = "spec")]
    pub space: Option<PathBuf>,
    /// Measure by looking up what was recorded: CSV, Kernel Tuner cache, T4, our own trials; plain or gzip
    #[arg(long, value_name = "FILE", conflicts_with_all = ["spec", "command"])]
    pub replay: Option<PathBuf>,
    /// Measure with a shell command: the word {name} stands for a level, which is $TW_NAME in its environment as well; the
    /// last line of output is the response
    #[arg(long, value_name = "COMMAND", conflicts_with = "spec")]
    pub command: Option<String>,
    /// How to search; --method help lists all
    #[arg(long, default_value = "surrogate", value_name = "NAME")]
    pub method: String,
    /// Most configurations that are measured, failed ones included
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub budget: u64,
    /// Most time in seconds; the measurement under way is finished
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub time_limit: Option<u64>,
    /// The metric to minimise; by default the time, or what the file says
    #[arg(long, visible_alias = "metric", value_name = "COLUMN")]
    pub response: Option<String>,
    /// What the columns of a CSV file are.
    #[command(flatten)]
    pub columns: ColumnArguments,
    /// Model of lm and dlmt, such as "~ x + I(1/x) + I(x^2) + a:b"
    #[arg(long, value_name = "FORMULA")]
    pub model: Option<String>,
    /// Only points that satisfy this expression; may be repeated
    #[arg(long = "where", value_name = "EXPR")]
    pub constraints: Vec<String>,
    /// Search so many times with different seeds (replay only)
    #[arg(long, value_name = "R", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub repetitions: u64,
    /// Seed of all chance in the search
    #[arg(long, value_name = "S", default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Keep every trial in this file (SQLite); a search that was stopped goes on from there
    #[arg(long, value_name = "FILE")]
    pub trials: Option<PathBuf>,
    /// Write the trials at the end, as T4 (.json) or CSV (.csv)
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
    /// Decide at each step of lm and dlmt which factors are fixed
    #[arg(long)]
    pub interactive: bool,
    /// Write what each step of lm and dlmt decided, and why: text, or JSON for a name ending in .json
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Draw the best response over the measurements; with --repetitions, histograms of the slowdowns. With several
    /// methods, as in --method random,dlmt, one row each
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Longest time of one measurement, in seconds
    #[arg(long, value_name = "S", default_value_t = 60, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
    /// Commands that may run at the same time
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub parallel: u64,
    /// Grid size of a stencil, slowest dimension first
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Option<Size>,
    /// Number of time steps of a stencil
    #[arg(long, value_name = "N", value_parser = steps_parser(), allow_negative_numbers = true)]
    pub steps: Option<i64>,
    /// Tiling strategy of a stencil
    #[arg(long, default_value = AUTO, value_name = "STRATEGY", value_parser = NameParser::OR_AUTO)]
    pub strategy: String,
    /// What measures a stencil: this machine's CPU, or the cost model of --machine
    #[arg(long, value_enum, default_value = "openmp", value_name = "BACKEND", requires = "spec")]
    pub backend: SearchBackend,
    /// Start with the tile sizes that the cost model of this machine prefers: a shipped machine or a machine file
    /// (`tilewright calibrate` writes one)
    #[arg(long, value_name = "NAME|FILE", requires = "spec")]
    pub machine: Option<String>,
    /// Runs of a stencil for each configuration, after one to warm up; the median counts
    #[arg(long, value_name = "R", default_value_t = 3, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub repeat: u64,
}

/// What the columns of a CSV file are; other formats say it themselves.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Columns of CSV files")]
pub struct ColumnArguments {
    /// The columns that are parameters, such as tile_x,tile_y; no other one is then. Needed where names and values leave
    /// it open
    #[arg(long, value_name = "COL,COL", allow_hyphen_values = true)]
    pub parameters: Vec<String>,
    /// The column that says how a trial ended: ok, or why it failed
    #[arg(long, value_name = "COL")]
    pub status: Option<String>,
}

/// What measures a stencil in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchBackend {
    /// Compiled for this CPU, run, checked and timed
    Openmp,
    /// Predicted by the cost model of a machine
    Model,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArguments {}

/// The stencil and its tiling.
#[derive(Debug, Clone, Args)]
pub struct PlanArguments {
    /// A shipped stencil (see `tilewright list`), a .stencil file, or a C file with a `#pragma scop` region
    #[arg(value_name = "SPEC")]
    pub spec: String,
    /// How a C file is preprocessed.
    #[command(flatten)]
    pub c: CArguments,
    /// Tiling strategy, or auto
    #[arg(long, default_value = AUTO, value_name = "NAME", value_parser = NameParser::OR_AUTO)]
    pub strategy: String,
    /// Tile sizes of the strategy, such as st=4,s0=16,s1=32 for hhc (`tilewright list` says what each is); sizes
    /// that are not given are chosen
    #[arg(long, value_name = "SIZES", value_parser = parse_tile)]
    pub tile: Option<TileSizes>,
    /// Use this type for all fields instead of their own
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<ElementTypeName>,
    /// Print a stage of the work before the report
    #[arg(long, value_name = "STAGE", help_heading = "Output")]
    pub dump: Option<Stage>,
}

impl PlanArguments {
    /// The tiling that they ask for.
    pub fn tiling(&self) -> Tiling {
        Tiling { strategy: self.strategy.clone(), tile: self.tile.clone() }
    }
}

/// How C files are preprocessed.
#[derive(Debug, Clone, Default, Args)]
pub struct CArguments {
    /// Define a macro in a C file, as C compilers do; may be repeated
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "C files")]
    pub define: Vec<String>,
    /// Look for headers of a C file in this folder, too; may be repeated
    #[arg(short = 'I', value_name = "DIR", help_heading = "C files")]
    pub include: Vec<PathBuf>,
}

impl CArguments {
    /// As the front end takes them.
    pub fn options(&self) -> c_frontend::Options {
        c_frontend::Options { defines: self.define.clone(), include_dirs: self.include.clone() }
    }
}

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub struct ConvertArguments {
    /// A C file, a .stencil file or a shipped stencil
    #[arg(value_name = "SPEC")]
    pub spec: String,
    /// How a C file is preprocessed.
    #[command(flatten)]
    pub c: CArguments,
    /// Use this type for all fields instead of their own
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<ElementTypeName>,
    /// File to write to instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArguments {
    /// The stencil and its tiling.
    #[command(flatten)]
    pub plan: PlanArguments,
    /// What the default tile sizes are for
    #[arg(long, default_value = "openmp", value_name = "TARGET")]
    pub target: TargetName,
    /// Grid size, slowest dimension first, for totals
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Option<Size>,
    /// Number of time steps, for totals
    #[arg(long, value_name = "N", value_parser = steps_parser(), allow_negative_numbers = true)]
    pub steps: Option<i64>,
    /// Draw the tiles over time and the first space dimension
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// Arguments of `compile`.
#[derive(Debug, Args)]
pub struct CompileArguments {
    /// The stencil and its tiling.
    #[command(flatten)]
    pub plan: PlanArguments,
    /// Language of the code
    #[arg(long, value_name = "TARGET")]
    pub target: TargetName,
    /// Grid size, slowest dimension first, for the number of launches (the code is for all sizes)
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Option<Size>,
    /// Number of time steps, for the number of launches (the code is for all numbers)
    #[arg(long, value_name = "N", value_parser = steps_parser(), allow_negative_numbers = true)]
    pub steps: Option<i64>,
    /// Machine that the tile sizes are chosen for: a name or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Folder to write to; it is made where there is none
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Replace files of the folder that Tilewright did not write, or that were changed since; never what is read
    #[arg(long)]
    pub force: bool,
    /// Put NAME and an underscore before all external names and before file names, so that several versions of a
    /// stencil can be linked into one program
    #[arg(long, value_name = "NAME", value_parser = parse_prefix)]
    pub prefix: Option<String>,
    /// Another source of the same C program; may be repeated. A source `x.c` beside a header `x.h` that is
    /// included is found without
    #[arg(long, value_name = "FILE", help_heading = "C files")]
    pub with: Vec<PathBuf>,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The program and its tiling.
    #[command(flatten)]
    pub plan: PlanArguments,
    /// Language of the tiled code
    #[arg(long, default_value = "openmp", value_name = "TARGET", value_parser = ["openmp"])]
    pub target: String,
    /// Another source of the same C program; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "C files")]
    pub with: Vec<PathBuf>,
    /// Link this library, too, as C compilers do; may be repeated
    #[arg(short = 'l', value_name = "NAME", help_heading = "C files")]
    pub library: Vec<String>,
    /// What both programs read from stdin
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    /// A file that both programs find in their folders; may be repeated
    #[arg(long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// Do not compare lines of stdout with this text, such as times; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub ignore: Vec<String>,
    /// Longest time of each run in seconds
    #[arg(long, value_name = "S", default_value_t = 60, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub timeout: u64,
    /// Number of threads of the tiled code; all cores where not given
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub threads: Option<u64>,
    /// Build both with checks of accesses and of undefined behaviour (-fsanitize=address,undefined)
    #[arg(long, conflicts_with = "quick")]
    pub sanitize: bool,
    /// Build both with -O1, which takes less time
    #[arg(long)]
    pub quick: bool,
    /// Arguments of both programs
    #[arg(last = true, value_name = "ARGS")]
    pub arguments: Vec<std::ffi::OsString>,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The stencil and its tiling.
    #[command(flatten)]
    pub plan: PlanArguments,
    /// Grid size, slowest dimension first, such as 4096x4096; not needed where --input tells it
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Option<Size>,
    /// Number of time steps; 0 is allowed
    #[arg(long, value_name = "N", value_parser = steps_parser(), allow_negative_numbers = true)]
    pub steps: i64,
    /// What runs it
    #[arg(long, default_value = "openmp", value_name = "NAME")]
    pub backend: BackendName,
    /// Machine that the tile sizes are chosen for where none are given: a name or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Initial values of a field; may be repeated
    #[arg(long, value_name = "FIELD=FILE.npy")]
    pub input: Vec<Assignment>,
    /// Where to write the newest values of a field; may be repeated
    #[arg(long, value_name = "FIELD=FILE.npy")]
    pub output: Vec<Assignment>,
    /// Value of a parameter; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub param: Vec<Assignment>,
    /// Compare the result with the reference interpreter, bit for bit
    #[arg(long)]
    pub verify: bool,
    /// Number of threads; all cores where not given
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub threads: Option<u64>,
    /// Measure this often, after one run to warm up; with 1, without
    #[arg(long, allow_negative_numbers = true, value_name = "R", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub repeat: u64,
    /// Seed of the pseudo-random initial values
    #[arg(long, allow_negative_numbers = true, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// How the grid lies in memory
    #[arg(long, value_name = "LAYOUT", default_value = "padded")]
    pub layout: LayoutName,
}

/// An element type on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ElementTypeName {
    /// Single precision
    F32,
    /// Double precision
    F64,
}

impl ElementTypeName {
    /// The type itself.
    pub fn element(self) -> ElementType {
        match self {
            ElementTypeName::F32 => ElementType::F32,
            ElementTypeName::F64 => ElementType::F64,
        }
    }
}

/// A language on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TargetName {
    /// CUDA C++ for GPUs
    Cuda,
    /// C with OpenMP for CPUs
    #[value(name = "openmp")]
    OpenMp,
}

impl TargetName {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            TargetName::Cuda => "cuda",
            TargetName::OpenMp => "openmp",
        }
    }

    /// What the default tile sizes are for.
    pub fn target(self) -> Target {
        match self {
            TargetName::Cuda => Target::Cuda,
            TargetName::OpenMp => Target::OpenMp,
        }
    }
}

/// What runs a stencil.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BackendName {
    /// Compiled C on all cores
    #[value(name = "openmp")]
    OpenMp,
    /// A GPU
    Cuda,
    /// The CUDA code on the CPU, every access checked
    Emulator,
    /// The plain interpreter that defines the right result
    Reference,
}

impl BackendName {
    /// The back end.
    pub fn backend(self) -> Backend {
        match self {
            BackendName::OpenMp => Backend::OpenMp,
            BackendName::Cuda => Backend::Cuda,
            BackendName::Emulator => Backend::Emulator,
            BackendName::Reference => Backend::Reference,
        }
    }
}

/// How a grid lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LayoutName {
    /// Without gaps
    Dense,
    /// Rows and levels at distances that suit the caches
    Padded,
}

impl LayoutName {
    /// The arrangement.
    pub fn arrangement(self) -> Arrangement {
        match self {
            LayoutName::Dense => Arrangement::Dense,
            LayoutName::Padded => Arrangement::Padded,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            LayoutName::Dense => "dense",
            LayoutName::Padded => "padded",
        }
    }
}

/// A stage that can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// The checked program in the stencil language
    Program,
    /// All dependences, with their distances
    Dependences,
    /// Loops, launches and rows of the kernel plan
    Plan,
    /// The schedule relation that isl proves legal
    Schedule,
}

/// Grid extents, slowest dimension first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Size(pub Vec<i64>);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let extent = |part: &str| {
            let digits = part.trim();
            let value = digits.parse::<i64>().map_err(|error| match error.kind() {
                std::num::IntErrorKind::PosOverflow => format!("the extent `{digits}` is too large"),
                _ if digits.is_empty() => "an extent is missing".to_owned(),
                _ => format!("`{digits}` is not a whole number"),
            })?;
            if value < 1 { Err(format!("the extent {value} must be at least 1")) } else { Ok(value) }
        };
        let extents: Result<Vec<i64>, String> = text.split(['x', 'X']).map(extent).collect();
        extents.map(Size).map_err(|problem| {
            format!("{problem}; write one extent per dimension, slowest first, as in 4096, 4096x4096 or 256x256x256")
        })
    }
}

/// `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// What stands before the first `=`.
    pub name: String,
    /// What stands behind it.
    pub value: String,
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() && !value.is_empty() => {
                Ok(Assignment { name: name.trim().to_owned(), value: value.to_owned() })
            }
            _ => Err("expected NAME=VALUE, without spaces around the `=`".to_owned()),
        }
    }
}

fn parse_tile(text: &str) -> Result<TileSizes, String> {
    let tile = TileSizes::parse(text).map_err(|error| error.to_string())?;
    let negative = tile.iter().find(|(_, value)| *value < 0);
    let problem = negative.map(|(name, value)| format!("the tile size {name}={value} is negative"));
    problem.map_or(Ok(tile), Err)
}

/// Words of C, C++ and CUDA that are no names.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
    "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return",
    "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
    "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "typeof_unqual", "union",
    "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
];

/// The most letters of a prefix: what C compilers must tell apart, with room for the names behind it.
const MOST_PREFIX: usize = 40;

/// A name that may begin external names in C and C++.
fn parse_prefix(text: &str) -> Result<String, String> {
    let problem = if !text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        || !text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    {
        "is no name in C: letters, digits and underscores, a letter first"
    } else if text.contains("__") {
        "has two underscores in a row, which C++ keeps for itself"
    } else if text.len() > MOST_PREFIX {
        "is too long: it may have 40 letters"
    } else if KEYWORDS.contains(&text.trim_end_matches('_')) {
        "is a word of C or C++"
    } else if text.trim_end_matches('_').eq_ignore_ascii_case("tw") {
        "begins the names that generated code uses itself"
    } else {
        return Ok(text.to_owned());
    };
    Err(format!("`{text}` {problem}"))
}

/// More time steps than anybody can wait for; with fewer no bound can overflow.
const MOST_STEPS: i64 = 1_000_000_000_000;

/// At least one step: nothing else has a cost.
fn some_steps_parser() -> clap::builder::RangedI64ValueParser<i64> {
    clap::value_parser!(i64).range(1..=1_000_000_000)
}

fn steps_parser() -> clap::builder::RangedI64ValueParser<i64> {
    clap::value_parser!(i64).range(0..=MOST_STEPS)
}

fn parse_area(text: &str) -> Result<AreaRange, String> {
    let (low, high) =
        text.split_once("..").ok_or_else(|| format!("`{text}` is no range such as 425..450"))?;
    let number = |text: &str| {
        let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        value.ok_or_else(|| format!("`{text}` is no area in mm2; write a range such as 425..450"))
    };
    let range = AreaRange { low: number(low)?, high: number(high)? };
    if range.low > range.high {
        return Err(format!("the range {text} is empty: it begins above its end"));
    }
    Ok(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes() {
        assert_eq!("4096x12".parse(), Ok(Size(vec![4096, 12])));
        assert_eq!("7".parse(), Ok(Size(vec![7])));
        for (text, part) in [
            ("0x4", "at least 1"),
            ("-3", "at least 1"),
            ("4x", "missing"),
            ("", "missing"),
            ("4y4", "not a whole number"),
            ("99999999999999999999", "too large"),
            ("1.5x2", "not a whole number"),
        ] {
            let problem = text.parse::<Size>().unwrap_err();
            assert!(problem.contains(part) && problem.contains("4096x4096"), "{text}: {problem}");
        }
    }

    #[test]
    fn prefixes() {
        for name in ["f32", "f64_", "MyLib", "a", "int32"] {
            assert_eq!(parse_prefix(name).as_deref(), Ok(name));
        }
        for name in
            ["", "6f", "_a", "a-b", "a b", "a.b", "\u{e4}", "int", "class_", "a__b", "tw", "TW_", "a;b", "$a"]
        {
            assert!(parse_prefix(name).is_err(), "{name}");
        }
        assert!(parse_prefix(&"a".repeat(41)).is_err());
    }

    #[test]
    fn assignments() {
        let assignment: Assignment = "u=a=b.npy".parse().unwrap();
        assert_eq!((assignment.name.as_str(), assignment.value.as_str()), ("u", "a=b.npy"));
        assert!("u".parse::<Assignment>().is_err() && "=x".parse::<Assignment>().is_err());
        assert!(parse_tile("st=-1").is_err());
    }
}
