//! Where inputs, features and measurements come from: descriptions of commands, and tables.

use super::arguments::SourceArguments;
use crate::error::{Error, Kind, Result};
use crate::trials_file;
use adaptive::AdaptiveError;
use adaptive::aslib;
use adaptive::commands::Commands;
use adaptive::csv_table::{self, Columns};
use adaptive::description::Description;
use adaptive::table::Table;
use adaptive::tune::{COST, Objective, ParameterOptions, Recorded, Workload};
use execution::ExecutionError;
use std::path::{Path, PathBuf};

/// An error of the library as one of a command.
pub fn told(error: AdaptiveError) -> Error {
    let hint = error.hint();
    let request = |kind| {
        let hints = if hint.is_empty() { Vec::new() } else { vec![hint.clone()] };
        Error::Request { kind, message: error.to_string(), hints }
    };
    match &error {
        AdaptiveError::Interrupted => Error::Execution(ExecutionError::Interrupted),
        AdaptiveError::Infeasible { .. } => request(Kind::Infeasible),
        AdaptiveError::File { action: "write", .. } => request(Kind::Failed),
        AdaptiveError::Tuner(_) | AdaptiveError::Trials(_) => match error {
            AdaptiveError::Tuner(error) => error.into(),
            AdaptiveError::Trials(error) => error.into(),
            error => Error::internal(error.to_string()),
        },
        _ => request(Kind::WrongInput),
    }
}

/// A source of inputs.
pub enum Source {
    /// Commands, which are run.
    Commands(Box<Commands>),
    /// A table, in which everything stands.
    Table(Box<Recorded>, Table),
}

/// A source, and what is optimised.
pub struct Opened {
    /// The source.
    pub source: Source,
    /// What is optimised.
    pub objective: Objective,
    /// The store of trials.
    pub trials: Option<PathBuf>,
    /// The inputs of a description that are for training.
    pub training: Vec<usize>,
    /// Its other ones.
    pub test: Vec<usize>,
}

impl Opened {
    /// What is measured.
    pub fn workload(&mut self) -> &mut dyn Workload {
        match &mut self.source {
            Source::Commands(commands) => &mut **commands,
            Source::Table(recorded, _) => &mut **recorded,
        }
    }

    /// How parameters are searched; none where no variant has any.
    pub fn parameters(&self, seed: u64) -> Option<ParameterOptions> {
        match &self.source {
            Source::Commands(commands) if commands.has_parameters() => {
                Some(commands.description().search.options(seed))
            }
            _ => None,
        }
    }

    /// Runs the clean command of a description.
    ///
    /// # Errors
    /// Where it fails.
    pub fn clean(&self) -> Result<()> {
        match &self.source {
            Source::Commands(commands) => commands.clean().map_err(told),
            Source::Table(..) => Ok(()),
        }
    }
}

/// Reads a table.
///
/// # Errors
/// What [`csv_table::read`] says.
pub fn table(path: &Path, arguments: &SourceArguments) -> Result<Table> {
    if path.is_dir() {
        if !aslib::is_scenario(path) {
            return Err(Error::wrong_input(format!(
                "{} is a folder and no scenario of ASlib",
                path.display()
            ))
            .hint("a scenario has description.txt and algorithm_runs.arff"));
        }
        let named = [&arguments.features, &arguments.variants].iter().any(|names| !names.is_empty());
        if named || arguments.default.is_some() || arguments.maximize {
            let options = "--features, --variants, --default and --maximize are for CSV files";
            return Err(Error::wrong_input(format!("{options}; {} says them itself", path.display())));
        }
        return aslib::read(path).map_err(told);
    }
    let columns = Columns {
        features: arguments.features.clone(),
        variants: arguments.variants.clone(),
        default: arguments.default.clone(),
        maximize: arguments.maximize,
    };
    csv_table::read(path, &columns).map_err(told)
}

/// Opens a source; `more` are further inputs of a description.
///
/// # Errors
/// Files that are none of both; options that are for the other kind.
pub fn open(path: &Path, arguments: &SourceArguments, more: &[String]) -> Result<Opened> {
    if !(arguments.calls > 0.0 && arguments.calls.is_finite()) {
        return Err(Error::wrong_input("--calls is not a positive number"));
    }
    let described = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
    let refuse = |given: bool, option: &str, what: &str| match given {
        true => Err(Error::wrong_input(format!("{option} is for {what}; {} is none", path.display()))),
        false => Ok(()),
    };
    if !described {
        refuse(arguments.metric.is_some(), "--metric", "a description of commands")?;
        refuse(arguments.trials.is_some(), "--trials", "a description of commands")?;
        refuse(!more.is_empty(), "an input", "a description of commands")?;
        let table = table(path, arguments)?;
        let all: Vec<usize> = (0..table.rows.len()).collect();
        let recorded = Recorded::new(table.clone()).map_err(told)?;
        let source = Source::Table(Box::new(recorded), table);
        let objective = Objective::least(COST);
        return Ok(Opened { source, objective, trials: None, training: all, test: Vec::new() });
    }
    refuse(!arguments.features.is_empty(), "--features", "a table")?;
    refuse(!arguments.variants.is_empty(), "--variants", "a table")?;
    refuse(arguments.default.is_some(), "--default", "a table")?;
    let mut description = Description::read(path).map_err(told)?;
    if let Some(metric) = &arguments.metric {
        metric.clone_into(&mut description.metric);
        description.maximize = false;
    }
    description.maximize |= arguments.maximize;
    let objective = match description.maximize {
        true => Objective::greatest(&description.metric),
        false => Objective::least(&description.metric),
    };
    let objective = objective.within(description.bounds.clone().into_iter().collect());
    let commands = Commands::new(path, description, more).map_err(told)?;
    let (training, test) = (commands.training(), commands.others());
    let trials = trials_file::path(&arguments.trials)?;
    Ok(Opened { source: Source::Commands(Box::new(commands)), objective, trials, training, test })
}
