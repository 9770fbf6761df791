//! What is searched, and how it is measured.

use super::predicted;
use crate::arguments::{SearchArguments, SearchBackend};
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::{initial_data, load, plan};
use std::time::Duration;
use tuner::evaluator::stencil::{self, Job, Stencil};
use tuner::evaluator::{Evaluator, External, Replay};
use tuner::recorded::{ReadOptions, Recorded};
use tuner::{Point, Space};

/// A space and how its points are measured.
pub struct Problem {
    /// What is searched.
    pub space: Space,
    /// What is minimised.
    pub response: String,
    /// Name of the kernel or stencil.
    pub name: String,
    /// How it is measured.
    pub evaluator: Box<dyn Evaluator>,
    /// The same where it is a replay: its minimum is known.
    pub replay: Option<Replay>,
    /// Points to start with.
    pub start: Vec<Point>,
    /// All points as the cost model ranks them, best first; empty without a machine.
    pub ranking: Vec<Point>,
}

/// Points at the top of a model's ranking that every method which can starts with.
const SEEDS: usize = 4;
/// Points of a ranking that are kept.
const RANKED: usize = 10_000;

impl Problem {
    /// The problem that the arguments state.
    ///
    /// # Errors
    /// Files that cannot be read, a space without a valid point, nothing that says how to measure.
    pub fn new(arguments: &SearchArguments, session: &Session) -> Result<Problem> {
        if let Some(spec) = &arguments.spec {
            return of_stencil(spec, arguments, session);
        }
        let options = ReadOptions { response: arguments.response.clone() };
        let replayed = match &arguments.replay {
            Some(path) => Some(session.stage("read", || Recorded::open(path, &options))?),
            None => None,
        };
        let (mut space, name) = match (&arguments.space, &replayed) {
            (Some(path), _) => {
                let recorded = session.stage("read", || Recorded::open(path, &ReadOptions::default()))?;
                (recorded.space, recorded.kernel)
            }
            (None, Some(recorded)) => (recorded.space.clone(), recorded.kernel.clone()),
            (None, None) => {
                return Err(Error::wrong_input("nothing says what to search")
                    .hint("give a stencil, --space FILE or --replay FILE"));
            }
        };
        for constraint in &arguments.constraints {
            space = space.restricted(constraint)?;
        }
        let default_response = || arguments.response.clone().unwrap_or_else(|| "time".to_owned());
        let (evaluator, replay, response): (Box<dyn Evaluator>, _, _) = match (&replayed, &arguments.command)
        {
            (Some(recorded), _) => {
                let replay = Replay::in_space(recorded, &recorded.response, &space)?;
                (Box::new(replay.clone()), Some(replay), recorded.response.clone())
            }
            (None, Some(command)) => {
                let response = default_response();
                let timeout = Duration::from_secs(arguments.timeout);
                let external =
                    External::new(command, &space, &response, timeout, arguments.parallel as usize)?;
                (Box::new(external), None, response)
            }
            (None, None) => return Err(super::no_evaluator().into()),
        };
        Ok(Problem { space, response, name, evaluator, replay, start: Vec::new(), ranking: Vec::new() })
    }
}

fn of_stencil(spec: &str, arguments: &SearchArguments, session: &Session) -> Result<Problem> {
    let program = session.stage("read", || load::load(spec, None, &arguments.c))?.program;
    let (Some(size), Some(steps)) = (&arguments.size, arguments.steps) else {
        return Err(Error::wrong_input("the search over tile sizes of a stencil needs --size and --steps"));
    };
    if size.0.len() != program.dimension() {
        let reason =
            format!("`{}` has {} dimensions, not {}", program.name, program.dimension(), size.0.len());
        return Err(Error::wrong_input(reason));
    }
    let strategy = plan::strategy_named(&arguments.strategy)?;
    let mut space = session.stage("space", || stencil::tile_space(&program, strategy, &size.0, steps))?;
    for constraint in &arguments.constraints {
        space = space.restricted(constraint)?;
    }
    let mut start: Vec<Point> = stencil::default_point(&program, strategy, &space)?.into_iter().collect();
    let model = match &arguments.machine {
        Some(machine) => Some(session.stage("model", || {
            predicted::model(&program, strategy.id(), &space, (&size.0, steps), machine)
        })?),
        None => None,
    };
    let mut ranking = Vec::new();
    if let (Some(model), SearchBackend::Openmp) = (&model, arguments.backend) {
        ranking = session.stage("rank", || model.ranking(&space, RANKED, arguments.seed))?;
        start.splice(..0, ranking.iter().take(SEEDS).cloned());
    }
    let evaluator: Box<dyn Evaluator> = match (arguments.backend, model) {
        (SearchBackend::Model, Some(model)) => Box::new(model),
        (SearchBackend::Model, None) => {
            return Err(Error::wrong_input("--backend model needs --machine, whose cost model predicts"));
        }
        (SearchBackend::Openmp, _) => {
            let job = Job {
                parameters: initial_data::parameters(&program, &[])?,
                size: size.0.clone(),
                steps,
                strategy,
                runs: arguments.repeat as usize,
                timeout: Duration::from_secs(arguments.timeout),
                program: program.clone(),
            };
            Box::new(session.stage("first run", || Stencil::new(job, &space))?)
        }
    };
    Ok(Problem {
        space,
        response: stencil::RESPONSE.to_owned(),
        name: program.name.clone(),
        evaluator,
        replay: None,
        start,
        ranking,
    })
}
