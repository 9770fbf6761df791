//! The arguments of `search`.

use crate::arguments::{CArguments, ColumnArguments, Size, steps_parser};
use crate::strategies::NameParser;
use clap::{Args, ValueEnum};
use cost_models::gpu::TimeModel;
use hhc_codegen::strategy::AUTO;
use std::path::PathBuf;

/// Arguments of `search`.
#[derive(Debug, Clone, Args)]
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
    /// Measure by looking up what was recorded: a store of trials, CSV, Kernel Tuner cache, T4; plain or gzip
    #[arg(long, value_name = "FILE|@NAME", conflicts_with_all = ["spec", "command"])]
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
    /// Model of lm and dlmt, such as "~ x + I(1/x) + I(x^2) + a:b"; counted or paper: the form of a GPU's time model that
    /// --machine predicts by
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
    /// Keep every trial in this store: SQLite, or JSON lines for a name in .jsonl; @NAME is kept in the state folder,
    /// redis://HOST on a server. A search that was stopped goes on from there
    #[arg(long, visible_alias = "store", value_name = "FILE|@NAME|redis://HOST")]
    pub trials: Option<PathBuf>,
    /// Write the trials at the end, as T4 (.json), a cache of Kernel Tuner (.cache.json) or CSV (.csv)
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
    /// Also try tile sizes that may be left out, such as f of hhc, which no model knows the price of
    #[arg(long, requires = "spec")]
    pub optional_sizes: bool,
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

/// What measures a stencil in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchBackend {
    /// Compiled for this CPU, run, checked and timed
    Openmp,
    /// Predicted by the cost model of a machine
    Model,
}

/// The form of a GPU's time model that `--model` names, where it is no formula.
pub fn time_model(model: &str) -> Option<TimeModel> {
    [TimeModel::Counted, TimeModel::Paper].into_iter().find(|form| form.name() == model)
}
