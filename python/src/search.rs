//! A search whose configurations a Python function measures.

use crate::errors::exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use trials::{Metric, Outcome, Parameter, Status, Value};
use tuner::evaluator::Evaluator;
use tuner::run::{Budget, Run, Stop};
use tuner::searcher::{self, SearchOptions};
use tuner::{Point, Space, TunerError};

/// A function of a configuration: a number, or a dict of metrics; `None` where the configuration is not possible.
struct Function<'a> {
    space: &'a Space,
    call: Py<PyAny>,
    metric: &'a str,
    /// What ends the search: Ctrl-C, and whatever is no `Exception`.
    ended: Mutex<Option<PyErr>>,
}

impl Evaluator for Function<'_> {
    fn evaluate(&self, point: &Point) -> tuner::Result<Outcome> {
        Python::attach(|py| {
            let outcome = configuration(py, self.space, point)
                .and_then(|all| self.call.bind(py).call1((all,)))
                .and_then(|found| self.outcome(&found));
            // What a configuration raises is its failure; what is no Exception ends the search.
            match outcome {
                Ok(outcome) => Ok(outcome),
                Err(error) if error.is_instance_of::<pyo3::exceptions::PyException>(py) => {
                    Ok(Outcome::failed(Status::RunError, error.to_string()))
                }
                Err(error) => {
                    *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    Err(TunerError::Interrupted)
                }
            }
        })
    }

    fn description(&self) -> String {
        "a Python function".to_owned()
    }
}

impl Function<'_> {
    fn outcome(&self, found: &Bound<'_, PyAny>) -> PyResult<Outcome> {
        if found.is_none() {
            return Ok(Outcome::failed(Status::Invalid, "the function returned None"));
        }
        let all: BTreeMap<String, f64> = match found.cast::<PyDict>() {
            Ok(all) => all.extract()?,
            Err(_) => BTreeMap::from([(self.metric.to_owned(), found.extract::<f64>()?)]),
        };
        if !all.contains_key(self.metric) {
            return Err(PyValueError::new_err(format!("the function returned no {:?}", self.metric)));
        }
        if let Some((name, value)) = all.iter().find(|(_, value)| !value.is_finite()) {
            return Ok(Outcome::failed(Status::WrongResult, format!("{name} is {value}")));
        }
        let metrics = all.into_iter().map(|(name, value)| (name, Metric { value, ..Metric::default() }));
        Ok(Outcome { metrics: metrics.collect(), ..Outcome::measured(self.metric, 0.0) })
    }
}

/// A configuration as a dict.
fn configuration<'py>(py: Python<'py>, space: &Space, point: &Point) -> PyResult<Bound<'py, PyDict>> {
    let names = space.parameters().iter().map(Parameter::name);
    levels_of(py, names.zip(&space.values(point)))
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

/// Searches the least `metric` of a function; returns the trials in order, and the number of the best.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn search<'py>(
    py: Python<'py>,
    function: Py<PyAny>,
    space: Vec<(String, Vec<Bound<'py, PyAny>>)>,
    constraints: Vec<String>,
    metric: &str,
    method: &str,
    budget: usize,
    seconds: Option<f64>,
    seed: u64,
) -> PyResult<(Vec<Trial<'py>>, Option<usize>)> {
    let failed = |error: TunerError| exception(py, &error.into());
    let parameters = space.into_iter().map(|(name, levels)| {
        let levels = levels.iter().map(value).collect::<PyResult<Vec<_>>>()?;
        Parameter::new(name, levels).map_err(|error| failed(error.into()))
    });
    let space = Space::new(parameters.collect::<PyResult<_>>()?, &constraints).map_err(failed)?;
    let searcher = searcher::named(method, &SearchOptions::default()).map_err(failed)?;
    let time = seconds.map(std::time::Duration::try_from_secs_f64).transpose();
    let time = time.map_err(|_| PyValueError::new_err("the time makes no sense"))?;
    let function = Function { space: &space, call: function, metric, ended: Mutex::new(None) };
    let (result, trials, best) = py.detach(|| {
        let budget = Budget { evaluations: budget, time };
        let mut run = Run::new(&space, metric, &function, budget, seed).watched(|_| {
            Python::attach(|py| py.check_signals().map_err(|error| keep(&function, error)).is_ok())
        });
        let result = searcher.search(&mut run);
        let best = run.best().map(|best| best.point.clone());
        let best = best.and_then(|best| run.trials().iter().position(|trial| trial.point == best));
        (result, run.trials().to_vec(), best)
    });
    if let Some(error) = function.ended.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    match result {
        Ok(()) | Err(Stop::BudgetSpent | Stop::Exhausted) => {}
        Err(Stop::Interrupted) => return Err(failed(TunerError::Interrupted)),
        Err(Stop::Failed(error)) => return Err(failed(error)),
    }
    let one = |trial: &tuner::Tried| Ok(trial_of(configuration(py, &space, &trial.point)?, &trial.outcome));
    Ok((trials.iter().map(one).collect::<PyResult<_>>()?, best))
}

fn keep(function: &Function<'_>, error: PyErr) {
    *function.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
}
