//! Arguments that several commands have, and how sizes, assignments and tile sizes are read.

use crate::strategies::NameParser;
use clap::{Args, ValueEnum};
use cost_models::gpu::TimeModel;
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::AUTO;
use hhc_codegen::strategy::Target;
use polyhedral::arithmetic::Arithmetic;
use polyhedral::program::ElementType;
use std::path::PathBuf;
use std::str::FromStr;
use tilewright::Tiling;
use tilewright::c_program::{COptions, OwnOpenMp};
use tilewright::choice::TileBy;
use tilewright::model::Model;
use tilewright::ranks::Ranks;

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

/// A back end that can be calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CalibratedBackend {
    /// Compiled C on all cores
    #[value(name = "openmp")]
    OpenMp,
    /// A GPU
    Cuda,
}

/// A form of the time model of a GPU, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TimeModelName {
    /// Instructions and words counted from the code that is printed
    Counted,
    /// The paper's: one constant per iteration
    Paper,
}

/// Which form of the time model of a GPU predicts.
#[derive(Debug, Clone, Copy, Args)]
pub struct TimeModelArguments {
    /// Form of the time model, for GPUs: counted where not given
    #[arg(long, value_name = "FORM")]
    model: Option<TimeModelName>,
}

impl TimeModelArguments {
    /// The model with the form that was asked for.
    ///
    /// # Errors
    /// A CPU, whose time model has one form.
    pub fn of(self, model: Model) -> tilewright::Result<Model> {
        match self.model {
            Some(TimeModelName::Counted) => model.by(TimeModel::Counted),
            Some(TimeModelName::Paper) => model.by(TimeModel::Paper),
            None => Ok(model),
        }
    }
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

/// Who chooses tile sizes for this computer's CPU where --tile and --machine are not given.
#[derive(Debug, Clone, Copy, Args)]
pub struct ChoiceArguments {
    /// Who chooses tile sizes for this computer's CPU, where --tile and --machine are not given. Without this, the model
    /// chooses, and for runs that are worth it, its choice is timed once against others, and the fastest is remembered
    #[arg(long, value_name = "WHO")]
    pub tile_by: Option<TileByName>,
    /// Do not measure this computer, even if it was not measured before
    #[arg(long)]
    pub no_calibrate: bool,
}

impl ChoiceArguments {
    /// As the library takes it.
    pub fn tile_by(&self) -> TileBy {
        self.tile_by.map_or(TileBy::Guarded, |name| match name {
            TileByName::Model => TileBy::Model,
            TileByName::Measure => TileBy::Measure,
            TileByName::Default => TileBy::Default,
        })
    }
}

/// What generated code may compute in place of the program's own operations.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct ArithmeticArguments {
    /// Contract products and sums (fused multiply-add): faster, and results may differ from the reference, by a bound that is
    /// shown for programs that are linear in their values; `run --verify` holds the difference against it
    #[arg(long)]
    pub contract: bool,
    /// Approximate quotients and square roots in single precision by the GPU's functions (div.full, sqrt.approx and
    /// rsqrt.approx); subnormal numbers are kept. Contracts nothing by itself
    #[arg(long)]
    pub fast_math: bool,
}

impl ArithmeticArguments {
    /// As the library takes it.
    pub fn arithmetic(self) -> Arithmetic {
        Arithmetic { contract: self.contract, approximate: self.fast_math }
    }

    /// The options that were given.
    pub fn given(self) -> &'static str {
        match (self.contract, self.fast_math) {
            (true, true) => "--contract and --fast-math",
            (true, false) => "--contract",
            (false, _) => "--fast-math",
        }
    }
}

/// Who chooses tile sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TileByName {
    /// The cost model alone
    Model,
    /// Some seconds of runs with the model's best tiles of many kinds, now
    Measure,
    /// The strategy's own default sizes
    Default,
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
    /// Only the time loops of this function of a C file
    #[arg(long, value_name = "NAME", help_heading = "C files")]
    pub function: Option<String>,
    /// Let OpenMP pragmas of a C program do nothing: compile its own files without -fopenmp
    #[arg(long, help_heading = "C files")]
    pub no_own_openmp: bool,
}

impl CArguments {
    /// As the front end takes them.
    pub fn options(&self) -> COptions {
        COptions {
            defines: self.define.clone(),
            include_dirs: self.include.clone(),
            function: self.function.clone(),
            with: Vec::new(),
            openmp: if self.no_own_openmp { OwnOpenMp::Off } else { OwnOpenMp::AsNeeded },
            ..COptions::default()
        }
    }
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

/// Ranks of MPI: `auto`, or so many per dimension, slowest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RanksName(pub Ranks);

impl FromStr for RanksName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "auto" {
            return Ok(RanksName(Ranks::Auto));
        }
        let count = |part: &str| match part.trim().parse::<i32>() {
            Ok(count) if count >= 1 => Ok(i64::from(count)),
            _ => Err(format!(
                "`{}` is no number of ranks; write auto, or one number per dimension, as in 2x2",
                part.trim()
            )),
        };
        let counts: Result<Vec<i64>, String> = text.split(['x', 'X']).map(count).collect();
        counts.map(|counts| RanksName(Ranks::Given(counts)))
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

/// Tile sizes such as `st=4,s0=16`.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_tile(text: &str) -> Result<TileSizes, String> {
    let tile = TileSizes::parse(text).map_err(|error| error.to_string())?;
    let negative = tile.iter().find(|(_, value)| *value < 0);
    let problem = negative.map(|(name, value)| format!("the tile size {name}={value} is negative"));
    problem.map_or(Ok(tile), Err)
}

/// More time steps than anybody can wait for; with fewer no bound can overflow.
pub const MOST_STEPS: i64 = 1_000_000_000_000;

/// At least one step: nothing else has a cost.
pub fn some_steps_parser() -> clap::builder::RangedI64ValueParser<i64> {
    clap::value_parser!(i64).range(1..=1_000_000_000)
}

/// A number of time steps; 0 is one.
pub fn steps_parser() -> clap::builder::RangedI64ValueParser<i64> {
    clap::value_parser!(i64).range(0..=MOST_STEPS)
}

#[cfg(test)]
mod tests {
    use super::*;

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
