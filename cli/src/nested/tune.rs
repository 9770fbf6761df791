//! `tilewright nested tune`.

use super::arguments::TuneArguments;
use super::common::{inputs, load, threads, tuned};
use super::run::median;
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{outputs, trials_file};
use nested::analysis::policy::implementations;
use nested::analysis::{Implementation, schedule, sequence};
use nested::emit::generated::{Mode, prepared};
use nested::native::{Native, RunError, options};
use nested::openmp::generate;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tilewright::adaptive::nested::spread;
use tilewright::adaptive::nested_costs::run_failed;
use toolchain::cache::Cache;
use toolchain::compiler::{Compiler, Language};
use toolchain::machine::cpu_name;
use trials::{Configuration, Metric, Outcome, Setting, Status, Trial, Value};

/// An implementation that was measured.
#[derive(Debug, Clone, Serialize)]
pub struct Measured {
    /// Its schedule.
    pub schedule: String,
    /// Its policy.
    pub policy: String,
    /// The median of its runs, in seconds; null where it failed.
    pub seconds: Option<f64>,
}

/// The report of `nested tune`.
#[derive(Debug, Serialize)]
pub struct TuneReport {
    /// The program's name.
    pub program: String,
    /// The computation.
    pub computation: String,
    /// Its operators.
    pub expression: String,
    /// The size of the space.
    pub candidates: usize,
    /// How many were measured.
    pub evaluated: usize,
    /// The best one.
    pub best: Measured,
    /// That which is taken where nobody chooses.
    pub default: Measured,
    /// All that were measured, the best first.
    pub measured: Vec<Measured>,
    /// Files of trials that were written.
    pub trials: Option<std::path::PathBuf>,
}

/// Tunes a computation.
///
/// # Errors
/// Wrong input, data that does not fit, a compiler that fails.
pub fn tune(arguments: &TuneArguments, session: &Session) -> Result<TuneReport> {
    let loaded = load(&arguments.program.program)?;
    let program = &loaded.program;
    let trials = trials_file::path(&arguments.trials)?;
    outputs::check(
        &outputs::given([("--trials", &trials)]),
        &loaded.file.iter().cloned().collect::<Vec<_>>(),
    )?;
    let data = session.stage("read", || inputs(program, &arguments.data))?;
    let (_, list, _) = prepared(program);
    let place = tuned(&list, arguments.computation.as_deref())?;
    let mode = if arguments.fast { Mode::Fast } else { Mode::Deterministic };
    let (points, threads) =
        (implementations(&list[place]), threads(arguments.data.threads.map(|threads| threads as usize)));
    let candidates = points.len();
    let compiler = Compiler::find(Language::C).map_err(toolchain::Error::from)?;
    let cache = Cache::open()?;
    let options = options(!arguments.data.no_checks, arguments.fast);
    let mut store = trials.as_ref().map(|path| trials_file::open(path, session)).transpose()?;
    let size: Vec<String> = data.values().map(|array| array.len().to_string()).collect();
    let hash: String =
        Sha256::digest(loaded.text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let setting = Setting {
        job: format!("{}, {}", program.name, list[place].name),
        program: program.name.clone(),
        source: hash,
        backend: "openmp".to_owned(),
        size: size.join("x"),
        machine: cpu_name(),
        threads: threads.to_string(),
        compiler: compiler.version().to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        by: "tilewright nested tune".to_owned(),
        response: "seconds".to_owned(),
        ..Setting::default()
    };
    let setting = Arc::new(setting);
    let names: BTreeSet<String> =
        points.iter().flat_map(|point| point.parameters()).map(|(name, _)| name).collect();
    let mut measured: Vec<Measured> = Vec::new();
    let order = spread(points.len(), arguments.budget as usize);
    for own in order {
        toolchain::interrupt::check()?;
        let point = &points[own];
        let mut all: Vec<Implementation> = list.iter().map(Implementation::default_of).collect();
        all[place] = point.clone();
        session.tell(&format!("{} {}", schedule::text(&point.schedule()), point.policy()));
        let generated = generate(program, &all, mode, &program.name);
        let timed = || -> std::result::Result<Vec<f64>, RunError> {
            let built = Native::build(program, generated, &compiler, &options, &cache)?;
            let mut prepared = built.prepare(&data)?;
            prepared.run(threads)?;
            (0..arguments.repeat).map(|_| prepared.run(threads)).collect()
        };
        let outcome = match timed() {
            Ok(seconds) => Ok(seconds),
            // What is wrong with the data is wrong for all.
            Err(error @ (RunError::Fault(_) | RunError::Input(_) | RunError::Interrupted)) => {
                return Err(run_failed(program, error));
            }
            Err(error) => Err(error.to_string()),
        };
        let seconds = outcome.as_ref().ok().and_then(|all| median(all));
        measured.push(Measured {
            schedule: schedule::text(&point.schedule()),
            policy: point.policy(),
            seconds,
        });
        if let Some(store) = &mut store {
            store.append(&trial(point, &names, outcome, &setting))?;
        }
    }
    let default = measured.first().cloned();
    measured
        .sort_by(|a, b| a.seconds.unwrap_or(f64::INFINITY).total_cmp(&b.seconds.unwrap_or(f64::INFINITY)));
    let (Some(best), Some(default)) = (measured.first().cloned(), default) else {
        return Err(Error::internal("nothing was measured"));
    };
    Ok(TuneReport {
        program: program.name.clone(),
        computation: list[place].name.clone(),
        expression: sequence::text(&list[place].sequence),
        candidates,
        evaluated: measured.len(),
        best,
        default,
        measured,
        trials,
    })
}

/// A point as a trial: parameters that it does not have are `none`.
fn trial(
    point: &Implementation,
    names: &BTreeSet<String>,
    outcome: std::result::Result<Vec<f64>, String>,
    setting: &Arc<Setting>,
) -> Trial {
    let own: BTreeMap<String, String> = point.parameters().into_iter().collect();
    let value = |name: &String| {
        own.get(name).map_or(Value::Text("none".to_owned()), |value| match value.parse() {
            Ok(number) if !name.starts_with("enable") => Value::Integer(number),
            _ => Value::Text(value.clone()),
        })
    };
    let schedule = ("schedule".to_owned(), Value::Text(schedule::text(&point.schedule())));
    let pairs = std::iter::once(schedule).chain(names.iter().map(|name| (name.clone(), value(name))));
    let outcome = match outcome {
        Ok(all) => {
            let value = median(&all).unwrap_or(0.0);
            let mut outcome = Outcome::measured("seconds", value);
            outcome
                .metrics
                .insert("seconds".to_owned(), Metric { value, repetitions: all, unit: "s".to_owned() });
            outcome.now()
        }
        Err(message) => Outcome::failed(Status::CompileError, message).now(),
    };
    Trial { configuration: Configuration::of(pairs), outcome, setting: Arc::clone(setting), round: 0 }
}

impl Report for TuneReport {
    const SCHEMA: &'static str = "tilewright.nested.tune/1";

    fn text(&self) -> String {
        let seconds =
            |own: &Measured| own.seconds.map_or("failed".to_owned(), |seconds| format!("{seconds:.6}"));
        let rows: Vec<Vec<String>> = self
            .measured
            .iter()
            .take(10)
            .map(|own| vec![seconds(own), own.schedule.clone(), own.policy.clone()])
            .collect();
        let ratio = match (self.default.seconds, self.best.seconds) {
            (Some(default), Some(best)) if best > 0.0 => format!(" ({:.2} times the best)", default / best),
            _ => String::new(),
        };
        let head = report::pairs(&[
            ("program", self.program.clone()),
            ("computation", format!("{}: {}", self.computation, self.expression)),
            ("measured", format!("{} of {} implementations", self.evaluated, self.candidates)),
            ("best", format!("{} s: {}; {}", seconds(&self.best), self.best.schedule, self.best.policy)),
            ("default", format!("{} s{ratio}", seconds(&self.default))),
        ]);
        [head, report::table(&["seconds", "schedule", "policy"], &rows, &[0])].join("\n")
    }
}
