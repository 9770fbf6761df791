//! `tilewright search`: looks for the configuration with the least response, within a budget of measurements.

pub mod arguments;
mod decider;
mod methods;
mod predicted;
mod problem;
mod report;

use crate::drawing;
use crate::error::{Error, Result};
use crate::progress::{Progress, Session};
use crate::trials_file;
use arguments::SearchArguments;
use plots::figures::{convergence, slowdowns};
use problem::{Problem, check_outputs};
use report::{Method, SearchReport};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tilewright::{state, text};
use toolchain::interrupt;
use trials::setting::COMMAND;
use tuner::kept::Kept;
use tuner::recorded::{check_csv, write_csv, write_kernel_tuner, write_t4};
use tuner::repetitions::{Outcome, Repetitions, Spread, repeat};
use tuner::run::{Budget, Entry, Run, Stop};
use tuner::searcher::{self, SearchOptions, Searcher};
use tuner::tried::trials_of;
use tuner::{Parameter, Setting, Tried};

/// Searches with each of the methods.
///
/// # Errors
/// Wrong input; a budget below what a method needs; a space without a valid point; measuring that fails altogether.
pub fn search(arguments: &SearchArguments, session: &Session) -> Result<SearchReport> {
    if arguments.method == "help" {
        return Ok(SearchReport::of_methods());
    }
    let read = |path: &Option<_>| path.as_deref().map(state::trials_to_read).transpose();
    let arguments = &SearchArguments {
        trials: trials_file::path(&arguments.trials)?,
        replay: read(&arguments.replay)?,
        space: read(&arguments.space)?,
        ..arguments.clone()
    };
    let inputs = [&arguments.space, &arguments.replay].into_iter().flatten().cloned();
    let machine = arguments.machine.as_deref().and_then(tilewright::machines::file);
    check_outputs(arguments, &inputs.chain(machine).collect::<Vec<_>>())?;
    let problem = Problem::new(arguments, session)?;
    let options = SearchOptions {
        model: arguments.model.clone().filter(|model| arguments::time_model(model).is_none()),
        start: problem.start.clone(),
        ranking: problem.ranking.clone(),
        decider: arguments
            .interactive
            .then(|| Arc::new(Mutex::new(decider::Terminal::new(&problem.space))) as searcher::Decider),
    };
    let searchers: Vec<Box<dyn Searcher>> = arguments
        .method
        .split(',')
        .map(|name| searcher::named(name.trim(), &options))
        .collect::<tuner::Result<_>>()?;
    check(arguments, &problem, &searchers)?;
    let mut methods = Vec::new();
    let mut curves = Vec::new();
    let mut log = Vec::new();
    for searcher in &searchers {
        let (method, outcomes, entries) = match &problem.replay {
            Some(_) if arguments.repetitions > 1 => repeated(&**searcher, arguments, &problem, session)?,
            _ => once(&**searcher, arguments, &problem, session)?,
        };
        let stop = method.interrupted;
        methods.push(method);
        curves.push((searcher.name().to_owned(), outcomes));
        log.extend(entries);
        if stop {
            break;
        }
    }
    let written = session.stage("write", || write(arguments, &problem, &curves, &log))?;
    Ok(SearchReport::new(arguments, &problem, methods, log, written))
}

/// Requests that make no sense together.
fn check(arguments: &SearchArguments, problem: &Problem, searchers: &[Box<dyn Searcher>]) -> Result<()> {
    if arguments.repetitions > 1 && problem.replay.is_none() {
        return Err(Error::wrong_input(
            "--repetitions needs --replay: real measurements are not repeated by the thousand",
        ));
    }
    let many = arguments.repetitions > 1 || searchers.len() > 1;
    for (given, name) in [(arguments.trials.is_some(), "--trials"), (arguments.interactive, "--interactive")]
    {
        if given && many {
            return Err(Error::wrong_input(format!("{name} is for one search with one method")));
        }
    }
    if arguments.export.is_some() && many {
        return Err(Error::wrong_input("--export is for one search with one method"));
    }
    if let Some(path) = &arguments.export {
        export_format(path)?;
        if path.extension().is_some_and(|end| end == "csv") {
            check_csv(problem.space.parameters().iter().map(Parameter::name), &problem.response)?;
        }
    }
    Ok(())
}

/// One search, with everything that it leaves behind.
fn once(
    searcher: &dyn Searcher,
    arguments: &SearchArguments,
    problem: &Problem,
    session: &Session,
) -> Result<(Method, Vec<Outcome>, Vec<Entry>)> {
    let budget = Budget {
        evaluations: arguments.budget as usize,
        time: arguments.time_limit.map(Duration::from_secs),
    };
    session.stage_of("search", arguments.budget, |progress| {
        let watcher = |state: tuner::run::Progress| {
            tell(progress, &state);
            interrupt::check().is_ok()
        };
        let mut run =
            Run::new(&problem.space, &problem.response, &*problem.evaluator, budget, arguments.seed)
                .watched(watcher);
        if let Some(path) = &arguments.trials {
            let kept = Kept::open(path, &problem.space, setting(problem))?;
            session.tell_damage(kept.store().damage());
            if kept.others() > 0 {
                let others = text::count(kept.others() as u64, "trial", "trials");
                let reason =
                    "of another measurement, machine, binary or version: they stay, and are not used";
                session.tell(&format!("{}: {others} {reason}", kept.store().place()));
            }
            run = run.keeping(kept);
        }
        let interrupted = match searcher.search(&mut run) {
            Err(Stop::Failed(error)) => return Err(error.into()),
            Err(Stop::Interrupted) => true,
            Ok(()) | Err(Stop::BudgetSpent | Stop::Exhausted) => false,
        };
        if let Some(path) = &arguments.export {
            export(path, problem, run.trials())?;
        }
        if interrupted && run.trials().is_empty() {
            return Err(Error::Execution(execution::ExecutionError::Interrupted));
        }
        let outcome = Outcome {
            best: run.best().cloned(),
            slowdown: match (run.best_response(), &problem.replay) {
                (Some(best), Some(replay)) => best / replay.best(),
                _ => f64::INFINITY,
            },
            used: run.trials().len(),
            convergence: run.convergence(),
        };
        let outcomes = vec![outcome];
        let mut method = Method::of(searcher.name(), problem, &outcomes);
        method.interrupted = interrupted;
        method.failed =
            run.trials().iter().filter(|trial| trial.response(&problem.response).is_none()).count();
        Ok((method, outcomes, run.journal().to_vec()))
    })
}

fn tell(progress: &Progress, state: &tuner::run::Progress) {
    progress.done(state.used as i64);
    if let Some(best) = state.best {
        progress.say(format!("search: best {best:.4e}"));
    }
}

/// Many searches on a replay.
fn repeated(
    searcher: &dyn Searcher,
    arguments: &SearchArguments,
    problem: &Problem,
    session: &Session,
) -> Result<(Method, Vec<Outcome>, Vec<Entry>)> {
    let Some(replay) = &problem.replay else { return Err(Error::internal("repetitions without a replay")) };
    let repetitions = Repetitions {
        count: arguments.repetitions as usize,
        budget: arguments.budget as usize,
        seed: arguments.seed,
    };
    let outcomes = session.stage_of("search", arguments.repetitions, |progress| {
        let count = AtomicU64::new(0);
        let done = || {
            progress.done((count.fetch_add(1, Ordering::Relaxed) + 1) as i64);
            interrupt::check().is_ok()
        };
        repeat(searcher, &problem.space, replay, &problem.response, repetitions, &done)
    })?;
    Ok((Method::of(searcher.name(), problem, &outcomes), outcomes, Vec::new()))
}

/// What the trials of the search are of, and where they were measured.
fn setting(problem: &Problem) -> Setting {
    let setting = problem.evaluator.setting();
    let filled = |own: String, other: &str| if own.is_empty() { other.to_owned() } else { own };
    // A command measures here; what was recorded or predicted is of the machine that it says.
    let here = match setting.backend.as_str() {
        COMMAND => toolchain::machine::cpu_name(),
        _ => String::new(),
    };
    Setting {
        program: filled(setting.program, &problem.name),
        machine: filled(setting.machine, &here),
        version: filled(setting.version, env!("CARGO_PKG_VERSION")),
        by: "tilewright search".to_owned(),
        response: problem.response.clone(),
        ..setting
    }
}

fn export(path: &std::path::Path, problem: &Problem, tried: &[Tried]) -> Result<()> {
    let setting = Arc::new(setting(problem));
    let trials: Vec<_> = trials_of(&problem.space, &setting, tried).collect();
    let names: Vec<&str> = problem.space.parameters().iter().map(Parameter::name).collect();
    match export_format(path)? {
        Export::T4 => write_t4(path, &trials, &problem.response, &problem.name)?,
        Export::Csv => write_csv(path, &names, &trials, &problem.response)?,
        Export::KernelTuner => write_kernel_tuner(path, &names, &trials, &problem.response, &problem.name)?,
    }
    Ok(())
}

/// The formats of `--export`.
enum Export {
    T4,
    Csv,
    KernelTuner,
}

fn export_format(path: &std::path::Path) -> Result<Export> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match name.rsplit_once('.') {
        Some((before, "json")) if before.ends_with(".cache") => Ok(Export::KernelTuner),
        Some((_, "json")) => Ok(Export::T4),
        Some((_, "csv")) => Ok(Export::Csv),
        _ => Err(Error::wrong_input(format!(
            "--export {}: the name must end in .json (T4), .cache.json (a cache of Kernel Tuner) or .csv",
            path.display()
        ))),
    }
}

fn write_text(path: &std::path::Path, text: &str) -> Result<()> {
    use std::io::Write;
    Ok(execution::output_file::write(path, |file| file.write_all(text.as_bytes()))?)
}

/// Log and drawing; returns the files.
fn write(
    arguments: &SearchArguments,
    problem: &Problem,
    curves: &[(String, Vec<Outcome>)],
    log: &[Entry],
) -> Result<Vec<std::path::PathBuf>> {
    let mut written: Vec<_> = arguments.trials.iter().chain(&arguments.export).cloned().collect();
    if let Some(path) = &arguments.log {
        let text = if path.extension().is_some_and(|extension| extension == "json") {
            let data: Vec<&serde_json::Value> = log.iter().map(|entry| &entry.data).collect();
            serde_json::to_string_pretty(&data).map_err(|error| Error::internal(error.to_string()))? + "\n"
        } else {
            log.iter().map(|entry| text_escape::visible_lines(&entry.text).into_owned() + "\n").collect()
        };
        write_text(path, &text)?;
        written.push(path.clone());
    }
    if let Some(path) = &arguments.svg {
        let drawing = if problem.replay.is_some() && arguments.repetitions > 1 {
            let rows: Vec<(String, Vec<f64>)> = curves
                .iter()
                .map(|(name, outcomes)| {
                    (name.clone(), outcomes.iter().map(|outcome| outcome.slowdown).collect())
                })
                .collect();
            slowdowns(&rows)
        } else {
            let series: Vec<(String, Vec<Option<f64>>)> = curves
                .iter()
                .filter_map(|(name, outcomes)| Some((name.clone(), outcomes.first()?.convergence.clone())))
                .collect();
            let trials =
                curves.iter().flat_map(|(_, outcomes)| outcomes).filter_map(|outcome| outcome.best.as_ref());
            let mut unit = trials
                .filter_map(|trial| trial.metrics.get(&problem.response))
                .map(|metric| metric.unit.as_str());
            convergence(&series, &problem.response, unit.next_back().unwrap_or_default()).svg()
        };
        drawing::write(path, drawing)?;
        written.push(path.clone());
    }
    Ok(written)
}

impl Method {
    fn of(name: &'static str, problem: &Problem, outcomes: &[Outcome]) -> Method {
        let slowdowns =
            outcomes.iter().map(|outcome| outcome.slowdown).filter(|slowdown| slowdown.is_finite());
        let best = outcomes
            .iter()
            .filter_map(|outcome| outcome.best.as_ref())
            .min_by(|a, b| {
                let value = |trial: &Tried| trial.response(&problem.response).unwrap_or(f64::INFINITY);
                value(a).total_cmp(&value(b))
            })
            .map(|trial| report::Best::of(problem, trial));
        Method {
            method: name,
            slowdown: problem.replay.as_ref().map(|_| Spread::of(slowdowns)),
            used: Spread::of(outcomes.iter().map(|outcome| outcome.used as f64)),
            best,
            without_success: outcomes.iter().filter(|outcome| outcome.best.is_none()).count(),
            failed: 0,
            interrupted: false,
        }
    }
}
