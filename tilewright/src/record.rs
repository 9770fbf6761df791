//! Trials of stencils: what ran, where, with which binary, as the [store](trials::Store) keeps it.

use crate::error::Result;
use execution::ExecutionError;
use execution::trials::{Keeper, Run};
use hhc_codegen::TileSizes;
use hhc_codegen::strategy;
use polyhedral::program::Program;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;
use toolchain::compiler::{Compiler, Language};
use toolchain::machine::{cpu_identity, cpu_name};
use trials::store::PROCESSOR;
use trials::{Configuration, Outcome, Setting, Store, Trial, TrialsError, Value};

/// The metric that trials of stencils are about: the median time of a run, in seconds.
pub const SECONDS: &str = "seconds";
/// The part of the machine's time that other programs used during a run.
const OTHERS: &str = "others";

/// The first 64 bits of the SHA-256 of a text.
fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// A program on a grid, measured by a command of ours (`run`) and run by a back end.
pub fn setting(
    program: &Program,
    strategy: &str,
    backend: &str,
    size: &[i64],
    steps: i64,
    by: &str,
) -> Setting {
    let extents: Vec<String> = size.iter().map(i64::to_string).collect();
    let size = extents.join("x");
    let strategy_text = if strategy.is_empty() { String::new() } else { format!("{strategy}, ") };
    Setting {
        job: format!("{} {size}, {steps} steps, {strategy_text}{backend}", program.name),
        program: program.name.clone(),
        source: hash(&program.to_source()),
        strategy: strategy.to_owned(),
        backend: backend.to_owned(),
        size,
        steps: steps.to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        by: format!("tilewright {by}"),
        response: SECONDS.to_owned(),
        ..Setting::default()
    }
}

/// The same, on this machine's CPU.
pub fn on_cpu(setting: Setting, threads: usize, command_line: &str) -> Setting {
    let compiler = if command_line.is_empty() { String::new() } else { compiler(command_line) };
    Setting { machine: cpu_name(), threads: threads.to_string(), compiler, ..setting }
}

/// What made a binary: the compiler as it names itself, and the arguments that do not differ between programs.
fn compiler(command_line: &str) -> String {
    let flags = command_line.split(" -o ").next().unwrap_or_default();
    let version = Compiler::find(Language::C).map(|compiler| compiler.version().to_owned());
    match version {
        Ok(version) => format!("{version}; {flags}"),
        Err(_) => flags.to_owned(),
    }
}

/// Tile sizes as a configuration.
pub fn configuration(tile: &TileSizes) -> Configuration {
    Configuration::of(tile.iter().map(|(name, value)| (name.to_owned(), Value::Integer(value))))
}

/// The tile sizes of a configuration; `None` where it has others.
pub fn tile(configuration: &Configuration) -> Option<TileSizes> {
    let pairs = configuration.names().iter().zip(configuration.values());
    let sizes = pairs.map(|(name, value)| match value {
        Value::Integer(value) => Some((name.as_str(), *value)),
        _ => None,
    });
    Some(TileSizes::new(sizes.collect::<Option<Vec<_>>>()?))
}

/// Adds one trial to a store.
///
/// # Errors
/// A file that is no store, or cannot be written.
pub fn append(
    store: &mut Store,
    setting: Setting,
    configuration: Configuration,
    outcome: Outcome,
) -> Result<()> {
    let setting = Arc::new(setting);
    Ok(store.append(&Trial { configuration, outcome, setting, round: 0 })?)
}

/// A store as the keeper of rounds over many tiles.
pub struct Rounds {
    store: Store,
    /// Without the compiler, which is known when tiles are compiled.
    setting: Setting,
    shared: Arc<Setting>,
    names: Option<Configuration>,
    last: u32,
}

impl Rounds {
    /// Rounds of this setting in a store.
    pub fn new(store: Store, setting: Setting) -> Rounds {
        let shared = Arc::new(setting.clone());
        let last = store.trials().iter().map(|trial| trial.round).max().unwrap_or(0);
        Rounds { store, setting, shared, names: None, last }
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Whether a round of the store is of this measurement. Files of before there was one store tell processors by a
    /// hash, and name no strategy where it is the preferred one.
    fn is_own(&self, found: &Setting) -> bool {
        if !found.job.starts_with(PROCESSOR) {
            return self.shared.agrees(found);
        }
        let identity =
            if self.setting.threads.is_empty() { self.setting.machine.clone() } else { cpu_identity() };
        let preferred = found.strategy.is_empty() && self.setting.strategy == strategy::preferred().id();
        (preferred || found.strategy == self.setting.strategy)
            && found.job == format!("{PROCESSOR}{}", hash(&identity))
            && self.shared.agrees(&Setting { job: String::new(), ..found.clone() })
    }
}

impl Keeper for Rounds {
    fn known(&mut self, command_line: &str) -> std::result::Result<Vec<Run>, ExecutionError> {
        if !command_line.is_empty() {
            self.shared = Arc::new(Setting { compiler: compiler(command_line), ..self.setting.clone() });
        }
        let run = |trial: &Trial| {
            let value = |metric: &str| trial.outcome.metrics.get(metric).map(|metric| metric.value);
            let seconds = trial.outcome.response(SECONDS)?;
            Some(Run { tile: tile(&trial.configuration)?, seconds, others: value(OTHERS).unwrap_or(0.0) })
        };
        let rounds =
            self.store.trials().iter().filter(|trial| trial.round > 0 && self.is_own(&trial.setting));
        Ok(rounds.filter_map(run).collect())
    }

    fn keep(&mut self, run: &Run) -> std::result::Result<(), ExecutionError> {
        self.last += 1;
        let new = configuration(&run.tile);
        let names = self.names.get_or_insert_with(|| new.clone()).names();
        let shared = if **names == **new.names() { Arc::clone(names) } else { Arc::clone(new.names()) };
        let outcome = Outcome::measured(SECONDS, run.seconds)
            .with(SECONDS, run.seconds, "s")
            .with(OTHERS, run.others, "1")
            .now();
        let trial = Trial {
            configuration: Configuration::new(shared, new.values().to_vec()),
            outcome,
            setting: Arc::clone(&self.shared),
            round: self.last,
        };
        self.store.append(&trial).map_err(|error| kept(self.store.path(), error))
    }
}

/// What went wrong with a store, for the measurement that it keeps.
fn kept(path: &Path, error: TrialsError) -> ExecutionError {
    match error {
        TrialsError::File { action, path, reason } => ExecutionError::File { action, path, source: reason },
        TrialsError::Interrupted => ExecutionError::Interrupted,
        error => ExecutionError::Trials { path: path.to_owned(), problem: error.to_string() },
    }
}
