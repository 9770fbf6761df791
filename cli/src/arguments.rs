//! The arguments of all commands, and how sizes, assignments and tile sizes are read.

use clap::{Args, Parser, Subcommand, ValueEnum};
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::Target;
use polyhedral::program::ElementType;
use std::path::PathBuf;
use std::str::FromStr;

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

Exit codes: 0 success, 1 a failed check or an infeasible request, 2 wrong input, 130 interrupted."
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
  tilewright analyze my.stencil --size 1024x1024 --steps 500 --json
  tilewright analyze heat2d --dump dependences")]
    Analyze(AnalyzeArguments),
    /// Write tiled source code, a header, a build file and manifest.json
    #[command(after_help = "\
Examples:
  tilewright compile heat2d --target openmp -o out
  tilewright compile my.stencil --target cuda --tile st=4,s0=12,s1=64 -o out
  tilewright compile prog.c -DN=1000 -Iinclude --target openmp -o out && make -C out
  tilewright compile wave2d --target openmp --strategy naive --dtype f64 --size 2048x2048 --steps 100 -o out")]
    Compile(CompileArguments),
    /// Print a C program's stencil in the stencil language
    #[command(after_help = "\
Examples:
  tilewright convert prog.c
  tilewright convert prog.c -DN=1000 -Iinclude -o prog.stencil

C programs are described in docs/c-input.md.")]
    Convert(ConvertArguments),
    /// Run a stencil, check the result and measure it
    #[command(after_help = "\
Examples:
  tilewright run heat2d --size 4096x4096 --steps 100
  tilewright run heat2d --size 501x333 --steps 20 --verify --json
  tilewright run my.stencil --input u=before.npy --output u=after.npy --steps 50 --param a=0.2
  tilewright run heat3d --size 256x256x256 --steps 64 --strategy naive --threads 4 --repeat 5

Arrays are NumPy files (.npy, float32 or float64 in C order). A field or series without --input gets
pseudo-random values in [0, 1) that depend on --seed only. GStencil/s counts each grid point that the
stencil computes once per time step, whatever the number of statements, in the median run.
The first Ctrl-C stops after a few time steps, the second at once; no half-written file is left.")]
    Run(RunArguments),
    /// Measure what the cost models must know about this machine, and write a machine file
    #[command(after_help = "\
Examples:
  tilewright calibrate --backend openmp -o here.toml
  tilewright calibrate --backend openmp --stencil heat2d --stencil my.stencil -o here.toml

Run it on an idle machine: rounds that other programs disturb are repeated, but not for ever. Stencils that
are not measured get estimates from those that are.")]
    Calibrate(CalibrateArguments),
    /// Measure a sample of tile sizes and compare with the predictions of the model
    #[command(after_help = "\
Examples:
  tilewright validate heat2d --size 4096x4096 --steps 50 --machine here.toml --backend openmp
  tilewright validate heat2d --size 4096x4096 --steps 50 --machine here.toml --backend openmp --samples 60 --trials runs.jsonl --svg fit.svg

With --trials every run is kept in a file; the same command continues where a stopped one ended.")]
    Validate(ValidateArguments),
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
    /// A shipped stencil (see `tilewright list`) or a .stencil file
    #[arg(value_name = "SPEC")]
    pub spec: String,
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

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArguments {}

/// The stencil and its tiling.
#[derive(Debug, Args)]
pub struct PlanArguments {
    /// A shipped stencil (see `tilewright list`), a .stencil file, or a C file with a `#pragma scop` region
    #[arg(value_name = "SPEC")]
    pub spec: String,
    /// How a C file is preprocessed.
    #[command(flatten)]
    pub c: CArguments,
    /// Tiling strategy: hhc, naive, or auto
    #[arg(long, default_value = "auto", value_name = "NAME")]
    pub strategy: String,
    /// Tile sizes, such as st=4,s0=16,s1=32 (half height in rows, flat top, classical sizes); sizes that are
    /// not given are chosen
    #[arg(long, value_name = "SIZES", value_parser = parse_tile)]
    pub tile: Option<TileSizes>,
    /// Use this type for all fields instead of their own
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<ElementTypeName>,
    /// Print a stage of the work before the report
    #[arg(long, value_name = "STAGE", help_heading = "Output")]
    pub dump: Option<Stage>,
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
    /// Another source of the same C program; may be repeated. A source `x.c` beside a header `x.h` that is
    /// included is found without
    #[arg(long, value_name = "FILE", help_heading = "C files")]
    pub with: Vec<PathBuf>,
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
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            BackendName::OpenMp => "openmp",
            BackendName::Cuda => "cuda",
            BackendName::Emulator => "emulator",
            BackendName::Reference => "reference",
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

/// More time steps than anybody can wait for; with fewer no bound can overflow.
const MOST_STEPS: i64 = 1_000_000_000_000;

fn steps_parser() -> clap::builder::RangedI64ValueParser<i64> {
    clap::value_parser!(i64).range(0..=MOST_STEPS)
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
    fn assignments() {
        let assignment: Assignment = "u=a=b.npy".parse().unwrap();
        assert_eq!((assignment.name.as_str(), assignment.value.as_str()), ("u", "a=b.npy"));
        assert!("u".parse::<Assignment>().is_err() && "=x".parse::<Assignment>().is_err());
        assert!(parse_tile("st=-1").is_err());
    }
}
