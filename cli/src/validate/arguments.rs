//! The arguments of `validate`.

use crate::arguments::{
    CArguments, CalibratedBackend, ElementTypeName, MOST_STEPS, Size, TimeModelArguments,
};
use crate::strategies::NameParser;
use clap::{Args, ValueEnum};
use hhc_codegen::strategy::AUTO;
use std::path::PathBuf;
use tilewright::validation::Metric;

/// Arguments of `validate`.
#[derive(Debug, Clone, Args)]
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
    /// The form of the time model.
    #[command(flatten)]
    pub model: TimeModelArguments,
    /// What runs the tiles
    #[arg(long, value_name = "NAME")]
    pub backend: CalibratedBackend,
    /// Tiling strategy whose tiles are measured, or auto (the one that the compiler takes)
    #[arg(long, default_value = AUTO, value_name = "NAME", value_parser = NameParser::OR_AUTO)]
    pub strategy: String,
    /// What is predicted and measured
    #[arg(long, default_value = "time", value_name = "WHAT")]
    pub metric: MetricName,
    /// Which counter of joules is read, with --metric energy
    #[arg(long, default_value = "auto", value_name = "WHICH")]
    pub counter: CounterName,
    /// Tiles to measure
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub samples: u64,
    /// Undisturbed runs of each tile
    #[arg(long, allow_negative_numbers = true, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub repeat: u64,
    /// Seed of the sample, and of a simulated counter
    #[arg(long, allow_negative_numbers = true, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Keep all runs in this store of trials, and continue from those that it holds: SQLite, or JSON lines for a name in
    /// .jsonl; @NAME is kept in the state folder
    #[arg(long, value_name = "FILE|@NAME")]
    pub trials: Option<PathBuf>,
    /// Draw predicted against measured values
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Use this type for all fields instead of their own
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<ElementTypeName>,
}

/// What is predicted and measured, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MetricName {
    /// Seconds
    Time,
    /// Joules: RAPL's of a CPU, NVML's of a GPU
    Energy,
}

impl MetricName {
    /// What it is called elsewhere.
    pub fn metric(self) -> Metric {
        match self {
            MetricName::Time => Metric::Time,
            MetricName::Energy => Metric::Energy,
        }
    }
}

/// Which counter of joules is read, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CounterName {
    /// The hardware's where it can be read, a simulated one elsewhere, which the report says
    Auto,
    /// The hardware's
    Hardware,
    /// A simulated one: it ticks, wraps around and is noisy, and counts what the model says
    Simulated,
}
