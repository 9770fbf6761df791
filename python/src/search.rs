//! A search whose configurations Python measures: the searcher asks on a thread of its own, and Python answers. No function of
//! Python's is called from here.

use crate::errors::exception;
use crate::interpreter::detached;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use trials::{Metric, Outcome, Parameter, Status, Value};
use tuner::evaluator::Evaluator;
use tuner::run::{Budget, Run, Stop};
use tuner::searcher::{self, SearchOptions};
use tuner::{Point, Space, TunerError};

/// How often one who waits for a question looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// What the searcher says.
enum Said {
    Question(Vec<(String, Value)>),
    End(tuner::Result<Found>),
}

/// All trials in order, and the number of the best.
struct Found {
    trials: Vec<(Vec<(String, Value)>, Outcome)>,
    best: Option<usize>,
}

/// Passes questions to Python, and its answers to the searcher.
struct Asked<'a> {
    space: &'a Space,
    questions: Mutex<Sender<Said>>,
    answers: Mutex<Receiver<Outcome>>,
}

impl Evaluator for Asked<'_> {
    fn evaluate(&self, point: &Point) -> tuner::Result<Outcome> {
        // Nobody there: Python has ended the search.
        let gone = || TunerError::Interrupted;
        let question = Said::Question(named(self.space, point));
        self.questions.lock().unwrap_or_else(PoisonError::into_inner).send(question).map_err(|_| gone())?;
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).recv().map_err(|_| gone())
    }

    fn description(&self) -> String {
        "a Python function".to_owned()
    }
}

fn named(space: &Space, point: &Point) -> Vec<(String, Value)> {
    let names = space.parameters().iter().map(|parameter| parameter.name().to_owned());
    names.zip(space.values(point)).collect()
}

/// A search that goes on by questions and answers; it ends with the object.
#[pyclass(frozen, module = "tilewright._tilewright")]
pub struct Search {
    metric: String,
    ends: Mutex<Ends>,
}

/// The ends of the searcher's channels.
struct Ends {
    questions: Receiver<Said>,
    answers: Sender<Outcome>,
    found: Option<Found>,
}

#[pymethods]
impl Search {
    /// Begins to look for the least `metric`.
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        space: Vec<(String, Vec<Bound<'_, PyAny>>)>,
        constraints: Vec<String>,
        metric: String,
        method: &str,
        budget: usize,
        seconds: Option<f64>,
        seed: u64,
    ) -> PyResult<Search> {
        let failed = |error: TunerError| exception(py, &error.into());
        let parameters = space.into_iter().map(|(name, levels)| {
            let levels = levels.iter().map(value).collect::<PyResult<Vec<_>>>()?;
            Parameter::new(name, levels).map_err(|error| failed(error.into()))
        });
        let parameters = parameters.collect::<PyResult<Vec<_>>>()?;
        let space = detached(py, || Space::new(parameters, &constraints)).map_err(failed)?;
        let searcher = searcher::named(method, &SearchOptions::default()).map_err(failed)?;
        let time = seconds.map(Duration::try_from_secs_f64).transpose();
        let time = time.map_err(|_| PyValueError::new_err("the time makes no sense"))?;
        let (to_python, questions) = channel();
        let (answers, from_python) = channel();
        let response = metric.clone();
        std::thread::Builder::new().spawn(move || {
            let questions = Mutex::new(to_python.clone());
            let asked = Asked { space: &space, questions, answers: Mutex::new(from_python) };
            let mut run = Run::new(&space, &response, &asked, Budget { evaluations: budget, time }, seed);
            let end = match searcher.search(&mut run) {
                Ok(()) | Err(Stop::BudgetSpent | Stop::Exhausted) => Ok(()),
                Err(Stop::Interrupted) => Err(TunerError::Interrupted),
                Err(Stop::Failed(error)) => Err(error),
            };
            let best = run.best().map(|best| best.point.clone());
            let best = best.and_then(|best| run.trials().iter().position(|trial| trial.point == best));
            let trials =
                run.trials().iter().map(|trial| (named(&space, &trial.point), trial.outcome.clone()));
            let found = Found { trials: trials.collect(), best };
            // Python may have lost interest.
            let _ = to_python.send(Said::End(end.map(|()| found)));
        })?;
        Ok(Search { metric, ends: Mutex::new(Ends { questions, answers, found: None }) })
    }

    /// The next configuration to measure; `None` where the search has ended.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        loop {
            let said = detached(py, || self.ends().questions.recv_timeout(LOOK));
            match said {
                Ok(Said::Question(levels)) => {
                    return levels_of(py, levels.iter().map(|(name, value)| (name.as_str(), value)))
                        .map(Some);
                }
                Ok(Said::End(found)) => {
                    self.ends().found = Some(found.map_err(|error| exception(py, &error.into()))?);
                    return Ok(None);
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// How the configuration ended that was asked for last, its metrics, and why it failed.
    fn tell(&self, status: &str, metrics: BTreeMap<String, f64>, message: String) -> PyResult<()> {
        let wrong = || PyValueError::new_err(format!("no trial ends as {status:?}"));
        let status = Status::named(status).ok_or_else(wrong)?;
        let outcome = match status {
            Status::Ok => {
                let metrics =
                    metrics.into_iter().map(|(name, value)| (name, Metric { value, ..Metric::default() }));
                Outcome { metrics: metrics.collect(), ..Outcome::measured(&self.metric, 0.0) }
            }
            _ => Outcome::failed(status, message),
        };
        // A search that has failed has said so, or will.
        let _ = self.ends().answers.send(outcome);
        Ok(())
    }

    /// The trials in order, and the number of the best.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<(Vec<Trial<'py>>, Option<usize>)> {
        let ends = self.ends();
        let Some(found) = &ends.found else { return Err(PyValueError::new_err("the search goes on")) };
        let one = |(levels, outcome): &(Vec<(String, Value)>, Outcome)| {
            let levels = levels.iter().map(|(name, value)| (name.as_str(), value));
            Ok(trial_of(levels_of(py, levels)?, outcome))
        };
        Ok((found.trials.iter().map(one).collect::<PyResult<_>>()?, found.best))
    }
}

impl Search {
    fn ends(&self) -> std::sync::MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names and levels as a dict.
pub fn levels_of<'py, 'a>(
    py: Python<'py>,
    levels: impl Iterator<Item = (&'a str, &'a Value)>,
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (name, value) in levels {
        match value {
            Value::Boolean(value) => all.set_item(name, value)?,
            Value::Integer(value) => all.set_item(name, value)?,
            Value::Real(value) => all.set_item(name, value)?,
            Value::Text(value) => all.set_item(name, value)?,
        }
    }
    Ok(all)
}

/// A level that Python gives.
pub fn value(of: &Bound<'_, PyAny>) -> PyResult<Value> {
    if of.is_instance_of::<PyBool>() {
        Ok(Value::Boolean(of.extract()?))
    } else if of.is_instance_of::<PyInt>() {
        Ok(Value::Integer(of.extract()?))
    } else if of.is_instance_of::<PyFloat>() {
        Ok(Value::Real(of.extract()?))
    } else {
        Ok(Value::Text(of.extract()?))
    }
}

/// One trial as Python gets it: the configuration, how it ended, its metrics, and why it failed.
pub type Trial<'py> = (Bound<'py, PyDict>, &'static str, BTreeMap<String, f64>, String);

/// A trial of a configuration.
pub fn trial_of<'py>(configuration: Bound<'py, PyDict>, outcome: &Outcome) -> Trial<'py> {
    let metrics = outcome.metrics.iter().map(|(name, metric)| (name.clone(), metric.value)).collect();
    (configuration, outcome.status.name(), metrics, outcome.message.clone())
}
