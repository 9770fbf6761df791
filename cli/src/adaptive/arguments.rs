//! The arguments of `adaptive`.

use crate::arguments::{CalibratedBackend, Size, some_steps_parser};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Arguments of `adaptive`.
#[derive(Debug, Args)]
pub struct AdaptiveArguments {
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with functions that have variants.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Measure the variants on training inputs, and train a model that chooses
    #[command(after_help = "\
Examples:
  tilewright adaptive train examples/sorting.csv -o sorting.model.json --hold-out 0.5
  tilewright adaptive train examples/sorting.csv --classifier tree --worth -o sorting.model.json
  tilewright adaptive train examples/sorting.toml --trials sorting.db -o sorting.model.json
  tilewright adaptive train examples/sorting.csv --hold-out 0.5 --iter 10 -o sorting.model.json

SOURCE is a description of commands (TOML), a table (CSV), or the folder of an ASlib scenario. With --trials what was measured is kept: the same command goes
on where a stopped one ended.")]
    Train(TrainArguments),
    /// Train a model for a machine from what was measured on others
    #[command(after_help = "\
Examples:
  tilewright adaptive transfer examples/fleet/heat2d.toml --target h100 -o heat2d.model.json
  tilewright adaptive transfer examples/fleet/heat2d.toml --target h100 --dfs none -o heat2d.model.json
  tilewright adaptive transfer examples/fleet/heat2d.toml --leave-out

FLEET is a file (TOML) of machines: features of each, and a table (CSV) of what was measured on it. The machine that the model is for needs no table.")]
    Transfer(TransferArguments),
    /// Train two models that together choose a variant and a clock frequency
    #[command(after_help = "\
Examples:
  tilewright adaptive clocks examples/sorting-clocks.csv --hold-out 0.5 -o sort.model.json --frequency-output mhz.model.json

SOURCE is a table (CSV) whose variants are named like radix@852, or a description of commands (TOML), which are run at the frequencies of its
table [frequencies]. Clocks are put back as they were, after errors and signals, too.")]
    Clocks(ClocksArguments),
    /// Measure the features of this machine, and keep them in a machine file
    #[command(after_help = "\
Examples:
  tilewright adaptive machine -o here.toml --rounds 1 --feature peak_gflops_dp=90 --custom threads=nproc
  tilewright adaptive machine --backend cuda -o h100.toml --feature peak_gflops_dp=33500

A fleet names the file: machine = \"here.toml\" in [[machines]]. What a file has beside its features stays.")]
    Machine(MachineArguments),
    /// Say what the code of variants issues, per instruction, for the selection of machines' features
    #[command(after_help = "\
Examples:
  tilewright adaptive profile heat2d --variant naive=naive --variant low=hhc:st=2,s0=8,s1=64 --size 512x512 --steps 16 -o profiles.csv
  tilewright adaptive profile --proxies gpu -o proxies.csv

Nothing runs. Tilings are compiled for a GPU, and their machine code is counted (NVRTC and nvdisasm); functions are read from what a
compiler made for x86-64 (objdump), as in --object libsort.so --variant merge=merge_sort --variant radix=radix_sort. A fleet names the file: [profiles] with variants = FILE.")]
    Profile(ProfileArguments),
    /// Say which variant a model chooses
    #[command(after_help = "\
Examples:
  tilewright adaptive train examples/sorting.csv -o sorting.model.json
  tilewright adaptive predict sorting.model.json --values n=20000,descents=0.5
  tilewright adaptive predict sorting.model.json --source examples/sorting.csv
  tilewright adaptive predict sorting.model.json --source examples/sorting.toml \"3000 reversed\"")]
    Predict(PredictArguments),
    /// Compare a model's choices with exhaustive search and with the best single variant
    #[command(after_help = "\
Examples:
  tilewright adaptive train examples/sorting.csv -o sorting.model.json
  tilewright adaptive report sorting.model.json examples/sorting.csv --calls 100

On the inputs that a model was trained on, the report says how well it remembers, not how well it chooses.")]
    Report(ReportArguments),
    /// Write a model as plain C that needs nothing
    #[command(after_help = "\
Examples:
  tilewright adaptive train examples/sorting.csv -o sorting.model.json
  tilewright adaptive emit sorting.model.json -o chooser --prefix sorting

The code chooses as `predict` does, bit for bit, with any compiler and any of its optimisations that keep to IEEE 754.")]
    Emit(EmitArguments),
}

/// How a source of inputs is read.
#[derive(Debug, Clone, Args)]
pub struct SourceArguments {
    /// Of a CSV file: its columns that are features, where they are not named `feature:NAME`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub features: Vec<String>,
    /// Of a CSV file: its columns that are variants, where they are not named `variant:NAME`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub variants: Vec<String>,
    /// Of a CSV file: the variant that is right for every input; the first one where not given
    #[arg(long, value_name = "NAME")]
    pub default: Option<String>,
    /// Greater values are better
    #[arg(long)]
    pub maximize: bool,
    /// Of a description: what is optimised, in place of what it says: a metric or an expression over metrics
    #[arg(long, value_name = "EXPR")]
    pub metric: Option<String>,
    /// Of a description: keep what is measured in this store or on this Redis server, and go on from there; @NAME is kept in
    /// the state folder
    #[arg(long, value_name = "FILE|@NAME|redis://HOST")]
    pub trials: Option<PathBuf>,
    /// Calls that one evaluation of the features serves: their cost is divided by it
    #[arg(long, value_name = "N", default_value_t = 1.0, allow_negative_numbers = true)]
    pub calls: f64,
}

/// A kind of classifier, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClassifierName {
    /// Support vectors with a radial basis function
    Svm,
    /// A tree that can be read
    Tree,
    /// Forests of pairs, which weigh a mistake by what it costs
    Forest,
    /// The one that cross-validation likes best
    Auto,
}

/// Arguments of `adaptive train`.
#[derive(Debug, Args)]
pub struct TrainArguments {
    /// A description of commands (.toml), a table (CSV, plain or gzip), or a folder with a scenario of ASlib
    #[arg(value_name = "SOURCE")]
    pub file: PathBuf,
    /// The model's file
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// What is read of the source.
    #[command(flatten)]
    pub source: SourceArguments,
    /// The kind of model
    #[arg(long, value_name = "KIND", default_value = "svm")]
    pub classifier: ClassifierName,
    /// Take only the features that are worth what they cost
    #[arg(long)]
    pub select_features: bool,
    /// Keep this share of a table's inputs for the test
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, conflicts_with = "test")]
    pub hold_out: Option<f64>,
    /// A table of inputs for the test, with the same columns
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,
    /// Of a scenario of ASlib: also train without each of its folds (cv.arff) in turn, and score the choices for it
    #[arg(long)]
    pub scenario_folds: bool,
    /// Trees of each pair of variants in a forest
    #[arg(long, value_name = "N", default_value_t = 30, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub trees: u64,
    /// Label inputs one by one, those first that the model is least sure of, until so many are labelled beside the first ones
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub iter: Option<usize>,
    /// Label inputs one by one until the mean performance on the test inputs is this, in 0 to 1
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub acc: Option<f64>,
    /// Measure nothing new after so many seconds
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub time_limit: Option<u64>,
    /// Also say what each feature costs and is worth, added in the order of its cost
    #[arg(long)]
    pub worth: bool,
    /// Also write a page with figures: performance, confusion, convergence, worth of features
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Folds of the cross-validation
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(2..=1000))]
    pub folds: u64,
    /// Seed of folds and draws
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
}

/// How features of machines are selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeviceSelection {
    /// Those that the profiles of the variants speak of
    Profile,
    /// Those with which the measured machines serve each other best
    Cv,
    /// Of those that profiles speak of the ones with which the measured machines serve each other best
    Both,
    /// All of them
    None,
}

/// Arguments of `adaptive transfer`.
#[derive(Debug, Args)]
pub struct TransferArguments {
    /// Machines, their features, and what was measured on them (.toml)
    #[arg(value_name = "FLEET")]
    pub file: PathBuf,
    /// The machine that the model is for
    #[arg(long, value_name = "NAME", required_unless_present = "leave_out", requires = "output")]
    pub target: Option<String>,
    /// The model's file
    #[arg(short, long, value_name = "FILE", requires = "target")]
    pub output: Option<PathBuf>,
    /// Leave each measured machine out in turn, and say what a model from the others is worth on it
    #[arg(long, conflicts_with = "target")]
    pub leave_out: bool,
    /// With --leave-out, also without each other machine
    #[arg(long, requires = "leave_out")]
    pub restricted: bool,
    /// Which features of machines are taken: both where the fleet has profiles of its variants and nothing is said, else cv
    #[arg(long, value_name = "HOW", conflicts_with = "leave_out")]
    pub dfs: Option<DeviceSelection>,
    /// How many features of machines are kept: the most frequent ones of the best sets
    #[arg(long, value_name = "K", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub keep: u64,
    /// The kind of model; sets of features are always compared by trees
    #[arg(long, value_name = "KIND", default_value = "svm")]
    pub classifier: ClassifierName,
    /// Folds of the cross-validation
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(2..=1000))]
    pub folds: u64,
    /// Seed of folds and draws
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
}

/// Arguments of `adaptive clocks`.
#[derive(Debug, Args)]
pub struct ClocksArguments {
    /// A table (CSV) of pairs, or a description of commands (.toml)
    #[arg(value_name = "SOURCE")]
    pub file: PathBuf,
    /// The file of the model of variants
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// The file of the model of frequencies
    #[arg(long, value_name = "FILE")]
    pub frequency_output: PathBuf,
    /// What is read of the source.
    #[command(flatten)]
    pub source: SourceArguments,
    /// The kind of models
    #[arg(long, value_name = "KIND", default_value = "svm")]
    pub classifier: ClassifierName,
    /// Keep this share of a table's inputs for the test
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, conflicts_with = "test")]
    pub hold_out: Option<f64>,
    /// A table of inputs for the test, with the same columns
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,
    /// Folds of the cross-validation
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(2..=1000))]
    pub folds: u64,
    /// Seed of folds and draws
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
}

/// Arguments of `adaptive machine`.
#[derive(Debug, Args)]
pub struct MachineArguments {
    /// What to measure
    #[arg(long, value_name = "NAME", default_value = "openmp")]
    pub backend: CalibratedBackend,
    /// The machine file, made where it is not there, or @NAME for one in the state folder
    #[arg(short, long, value_name = "FILE.toml|@NAME")]
    pub output: PathBuf,
    /// A GPU's published facts, where the file is new; the shipped machine of its name where not given
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// A feature that is stated; may be repeated
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub feature: Vec<String>,
    /// A feature that a command measures: the number in the last line of its output; may be repeated
    #[arg(long, value_name = "NAME=COMMAND")]
    pub custom: Vec<String>,
    /// Measurements of each kind, of which the least counts
    #[arg(long, value_name = "R", default_value_t = 5, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub rounds: u64,
}

/// A processor whose proxies are profiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProxiesOf {
    /// A GPU
    Gpu,
    /// This computer's processor
    Cpu,
}

/// Arguments of `adaptive profile`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("profiled").required(true).args(["spec", "object", "proxies"])))]
pub struct ProfileArguments {
    /// A stencil, whose tilings are the variants
    #[arg(value_name = "SPEC", requires = "variant", requires = "size", requires = "steps")]
    pub spec: Option<String>,
    /// An object, a library or a program for x86-64, whose functions are the variants
    #[arg(long, value_name = "FILE", requires = "variant", conflicts_with_all = ["size", "steps", "sm"])]
    pub object: Option<PathBuf>,
    /// The application proxies at intensities 0 to 5
    #[arg(long, value_name = "OF", conflicts_with_all = ["variant", "size", "steps"])]
    pub proxies: Option<ProxiesOf>,
    /// A variant: a tiling, as in low=hhc:st=2,s0=8,s1=64, or a function of the object; one of several functions stands once for each
    #[arg(long, value_name = "NAME=WHAT")]
    pub variant: Vec<String>,
    /// Compute capability without the point that kernels are compiled for: 70 to 90
    #[arg(long, value_name = "NUMBER", default_value_t = 80, value_parser = clap::value_parser!(u32).range(10..=999))]
    pub sm: u32,
    /// Grid size, slowest dimension first; may be given several times
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Vec<Size>,
    /// Numbers of time steps
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = some_steps_parser(), allow_negative_numbers = true)]
    pub steps: Vec<i64>,
    /// The file of profiles (CSV)
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Arguments of `adaptive predict`.
#[derive(Debug, Args)]
pub struct PredictArguments {
    /// A model
    #[arg(value_name = "MODEL")]
    pub file: PathBuf,
    /// Values of the features
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', required_unless_present = "from")]
    pub values: Vec<String>,
    /// Where features come from: a description of commands (.toml), or a table (CSV)
    #[arg(long = "source", value_name = "SOURCE", conflicts_with = "values")]
    pub from: Option<PathBuf>,
    /// Inputs of the description; its test inputs where none is named
    #[arg(value_name = "INPUT", requires = "from")]
    pub input: Vec<String>,
    /// What is read of the source.
    #[command(flatten)]
    pub source: SourceArguments,
}

/// Arguments of `adaptive report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// A model
    #[arg(value_name = "MODEL")]
    pub file: PathBuf,
    /// A description of commands (.toml), whose test inputs are measured, or a table (CSV)
    #[arg(value_name = "SOURCE")]
    pub with: PathBuf,
    /// Also write a page with figures: performance, confusion, families of inputs
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// What is read of the source.
    #[command(flatten)]
    pub source: SourceArguments,
}

/// Arguments of `adaptive emit`.
#[derive(Debug, Args)]
pub struct EmitArguments {
    /// A model
    #[arg(value_name = "MODEL")]
    pub file: PathBuf,
    /// The folder of the two files
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// What the names of files and functions begin with; the function's name where not given
    #[arg(long, value_name = "NAME")]
    pub prefix: Option<String>,
    /// Replace files of others, too
    #[arg(long)]
    pub force: bool,
}
