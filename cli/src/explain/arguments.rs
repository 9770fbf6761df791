//! The arguments of `explain`.

use crate::arguments::ColumnArguments;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use tuner::starchart::targets::Target;

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// Trials: a store (--trials of run, validate, search and codesign; @NAME is one in the state folder), CSV, a Kernel
    /// Tuner cache or T4, plain or gzip. Several files are explained together, with a parameter (--join) that has a value
    /// for each: the device, or what stands in front of the file as VALUE=FILE
    #[arg(value_name = "TRIALS", required = true)]
    pub files: Vec<String>,
    /// What is explained: a metric of the trials, or an expression such as "energy / time" or "time / size"; each
    /// --metric gets a tree. Default: the time, or what the file says
    #[arg(long, visible_alias = "response", value_name = "METRIC")]
    pub metric: Vec<String>,
    /// What the columns of CSV files are.
    #[command(flatten)]
    pub columns: ColumnArguments,
    /// Great values are good, as for rates
    #[arg(long)]
    pub maximize: bool,
    /// Only trials for which this holds, such as "block_size_x > 32 and use_shmem == 1"
    #[arg(long = "where", value_name = "EXPR")]
    pub condition: Option<String>,
    /// Name of the parameter that tells several files apart
    #[arg(long, value_name = "NAME", default_value = "platform")]
    pub join: String,
    /// A numeric parameter whose values have no order
    #[arg(long, value_name = "NAME")]
    pub categorical: Vec<String>,
    /// Limits of the tree.
    #[command(flatten)]
    pub tree: TreeArguments,
    /// Samples and accuracy.
    #[command(flatten)]
    pub accuracy: AccuracyArguments,
    /// A limit that designs must meet, such as "power <= 150"; with several, the subspaces that meet all are listed
    #[arg(long, value_name = "LIMIT", value_parser = parse_target, help_heading = "Targets")]
    pub target: Vec<Target>,
    /// A partition meets a limit if its worst design does, not its mean
    #[arg(long, help_heading = "Targets")]
    pub worst: bool,
    /// Most partitions in the text (12) and the drawings (60): the way to the best one, then the splits with the greatest
    /// gains
    #[arg(long, value_name = "N", help_heading = "Output", value_parser = parse_leaves)]
    pub leaves: Option<usize>,
    /// Write the tree as a Graphviz file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub dot: Option<PathBuf>,
    /// Write the tree as a drawing
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub svg: Option<PathBuf>,
    /// Write the error against the number of samples as a drawing
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub curve: Option<PathBuf>,
}

/// How a tree is grown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tree")]
pub struct TreeArguments {
    /// Most splits on a path
    #[arg(long, value_name = "D")]
    pub max_depth: Option<usize>,
    /// A split must reduce the sum of squared errors by more than this, in squared units of the metric
    #[arg(long, value_name = "GAIN", default_value_t = 0.0)]
    pub threshold: f64,
    /// Fewest designs of a partition
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub min_leaf: usize,
    /// Partitions with a smaller standard deviation are not divided
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    pub min_deviation: f64,
    /// What is in the nodes: means, as published, or linear models chosen by cross-validation
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Nodes::Means)]
    pub nodes: Nodes,
}

/// What is in the nodes of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Nodes {
    /// The mean of the designs.
    Means,
    /// A linear model.
    Linear,
}

/// Which trials are used, and how accuracy is measured.
#[derive(Debug, Args)]
#[command(next_help_heading = "Samples and accuracy")]
pub struct AccuracyArguments {
    /// Grow the tree on so many trials, drawn at random, and not on all
    #[arg(long, value_name = "N")]
    pub samples: Option<usize>,
    /// Draw them in two rounds, the second one in the box of the best 15 % (Algorithm 2)
    #[arg(long, requires = "samples")]
    pub iterative: bool,
    /// Held-out trials that measure the accuracy
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub validation: usize,
    /// Repetitions of the measurement of the accuracy with other trials
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub draws: u32,
    /// Add samples until the median relative error is at most this, such as 0.1
    #[arg(long, value_name = "ERROR")]
    pub until: Option<f64>,
    /// Samples added each time
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub step: usize,
    /// Compare with Stargazer: one linear model for the whole space
    #[arg(long)]
    pub stargazer: bool,
    /// Seed of all draws; draw i takes `numpy.random.RandomState(seed + i).permutation(trials)`
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u32,
}

fn parse_leaves(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number from 1 on is expected".to_owned()),
        Ok(leaves) => Ok(leaves),
    }
}

fn parse_target(text: &str) -> Result<Target, String> {
    Target::parse(text).map_err(|error| format!("{error}; {}", error.hint()))
}
