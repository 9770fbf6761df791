//! The arguments of `codesign`.

use crate::strategies::NameParser;
use clap::{Args, ValueEnum};
use optimizer::codesign::answers;
use optimizer::codesign::part::Part;
use std::path::PathBuf;

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
    /// How sure the answer is: let the constants vary, as a file says or within the usual ranges (default)
    #[arg(long, value_name = "default|FILE")]
    pub uncertainty: Option<String>,
    /// Samples of the constants
    #[arg(long, value_name = "N", default_value_t = 400, requires = "uncertainty", value_parser = clap::value_parser!(u32).range(8..=1_000_000))]
    pub samples: u32,
    /// What chooses the samples
    #[arg(long, value_name = "S", default_value_t = 1, requires = "uncertainty")]
    pub seed: u64,
    /// Be one of N processes that share the sweep through journals in the folder, on whatever machines see it: the first one
    /// makes the report, and computes what nobody else does. Processes that mpirun started are parts where nothing is said
    #[arg(long, value_name = "I/N", value_parser = parse_part)]
    pub part: Option<Part>,
    /// Folder to write to; it is made where there is none
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Add every design that was evaluated to this store of trials: SQLite, or JSON lines for a name in .jsonl; @NAME is
    /// kept in the state folder
    #[arg(long, value_name = "FILE|@NAME")]
    pub trials: Option<PathBuf>,
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
    /// What the threads of blocks decide: tuned, fixed to the stated designs' lanes, and a control
    Threads,
}

impl CodesignArguments {
    /// The questions that are asked.
    pub fn questions(&self) -> Vec<answers::Question> {
        use answers::Question as Asked;
        let all = self.what_if.is_empty() || self.what_if.contains(&Question::All);
        match &self.what_if {
            none if none.contains(&Question::None) => Vec::new(),
            _ if all => Asked::ALL.to_vec(),
            some => some.iter().filter_map(|question| question.question()).collect(),
        }
    }
}

impl Question {
    fn question(self) -> Option<answers::Question> {
        use answers::Question as Asked;
        match self {
            Question::All | Question::None => None,
            Question::Prices => Some(Asked::Prices),
            Question::Memory => Some(Asked::Memory),
            Question::Overhead => Some(Asked::Overhead),
            Question::Hyperthreading => Some(Asked::Hyperthreading),
            Question::Caches => Some(Asked::Caches),
            Question::Chips => Some(Asked::Chips),
            Question::Threads => Some(Asked::Threads),
        }
    }
}

/// A part of several, counted from 1 on, as in `2/8`.
fn parse_part(text: &str) -> Result<Part, String> {
    let wrong = || format!("`{text}` is no part; write its number and how many there are, as in 2/8");
    let (number, of) = text.split_once('/').ok_or_else(wrong)?;
    let plain = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<usize>().ok()).flatten()
    };
    match (plain(number), plain(of)) {
        (Some(number @ 1..), Some(of)) if number <= of => {
            Ok(Part { index: number - 1, of, patience: Part::PATIENCE })
        }
        _ => Err(wrong()),
    }
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
