//! What is searched, and how it is measured.

use super::arguments::{SearchArguments, SearchBackend};
use super::predicted;
use crate::error::{Error, Result};
use crate::outputs;
use crate::progress::Session;
use crate::{initial_data, load};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tilewright::tile_trials::{self, Job, TileTrials};
use tilewright::{machines, record, strategies};
use tuner::TunerError;
use tuner::evaluator::{Evaluator, External, Replay};
use tuner::recorded::roles::Named;
use tuner::recorded::{ReadOptions, Recorded, Roles};
use tuner::{Point, Setting, Space};

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
    /// What is a parameter and what is measured, and why.
    pub roles: Roles,
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
            if !arguments.columns.parameters.is_empty() || arguments.columns.status.is_some() {
                let reason = "--parameters and --status are for columns of recorded files, not for a stencil";
                return Err(Error::wrong_input(reason));
            }
            return of_stencil(spec, arguments, session);
        }
        let options = ReadOptions {
            response: arguments.response.clone(),
            parameters: arguments.columns.parameters.clone(),
            status: arguments.columns.status.clone(),
            ..ReadOptions::default()
        };
        let replayed = match &arguments.replay {
            Some(path) => Some(session.stage("read", || Recorded::open(path, &options))?),
            None => None,
        };
        if let Some(recorded) = &replayed {
            session.tell_damage(&recorded.damage);
        }
        let (mut space, name, mut roles) = match (&arguments.space, &replayed) {
            (Some(path), _) => {
                // Only its parameters count here.
                let options = ReadOptions { response: None, no_response: true, ..options };
                let recorded = session.stage("read", || Recorded::open(path, &options))?;
                session.tell_damage(&recorded.damage);
                (recorded.space, recorded.kernel, recorded.roles)
            }
            (None, Some(recorded)) => {
                (recorded.space.clone(), recorded.kernel.clone(), recorded.roles.clone())
            }
            (None, None) => {
                return Err(Error::wrong_input("nothing says what to search")
                    .hint("give a stencil, --space FILE or --replay FILE"));
            }
        };
        for constraint in &arguments.constraints {
            space = space.restricted(constraint)?;
        }
        if let Some(recorded) = &replayed {
            tell_mixed(recorded, &space, session);
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
            (None, None) => return Err(no_evaluator().into()),
        };
        if arguments.space.is_some() {
            let of_space = std::mem::take(&mut roles.metrics).into_iter();
            roles.ignored.extend(
                of_space.map(|column| Named::new(column.name, "measured before; only the space counts")),
            );
            roles.repeated = 0;
            match &replayed {
                Some(recorded) => {
                    roles.metrics.clone_from(&recorded.roles.metrics);
                    roles.status.clone_from(&recorded.roles.status);
                }
                None => {
                    roles.metrics.push(Named::new(&response, "the command prints it"));
                    roles.status = Some(Named::new("exit code", "of the command"));
                }
            }
        }
        let (start, ranking) = (Vec::new(), Vec::new());
        Ok(Problem { space, response, name, evaluator, replay, roles, start, ranking })
    }
}

/// Parts of the setting that no search can choose.
const GIVEN: [&str; 5] = ["program", "size", "steps", "machine", "version"];

/// Says where a replay compares what cannot be compared.
fn tell_mixed(recorded: &Recorded, space: &Space, session: &Session) {
    for mixed in &recorded.mixed {
        let Ok(place) = space.parameter_place(&mixed.parameter) else { continue };
        let points = space.points().unwrap_or_default().iter();
        let levels: BTreeSet<u32> = points.map(|point| point.levels()[place]).collect();
        if levels.len() > 1 && GIVEN.contains(&mixed.parameter.trim_end_matches('_')) {
            let values: Vec<&str> = mixed.values.iter().map(|(value, _)| value.as_str()).collect();
            session.tell(&format!(
                "trials of several values of {} are searched together ({}); --where takes one",
                mixed.parameter,
                values.join(", ")
            ));
        }
    }
}

fn of_stencil(spec: &str, arguments: &SearchArguments, session: &Session) -> Result<Problem> {
    let loaded = Arc::new(session.stage("read", || load::load(spec, None, &arguments.c))?);
    let program = Arc::clone(&loaded.program);
    check_outputs(arguments, &loaded.files)?;
    let (Some(size), Some(steps)) = (&arguments.size, arguments.steps) else {
        return Err(Error::wrong_input("the search over tile sizes of a stencil needs --size and --steps"));
    };
    if size.0.len() != program.dimension() {
        let reason =
            format!("`{}` has {} dimensions, not {}", program.name, program.dimension(), size.0.len());
        return Err(Error::wrong_input(reason));
    }
    let strategy = strategies::named_for(&arguments.strategy, &program)?;
    let optional = arguments.optional_sizes && arguments.backend == SearchBackend::Openmp;
    let mut space =
        session.stage("space", || tile_trials::tile_space(&loaded, strategy, (&size.0, steps), optional))?;
    for constraint in &arguments.constraints {
        space = space.restricted(constraint)?;
    }
    let mut start: Vec<Point> = tile_trials::default_point(&loaded, strategy, &space)?.into_iter().collect();
    let model = match &arguments.machine {
        Some(spec) => {
            let machine = machines::machine(spec)?;
            let setting = record::setting(&program, strategy.id(), "model", &size.0, steps, "search");
            let setting = Setting { machine: machine.name.clone(), ..setting };
            let form = arguments.model.as_deref().and_then(super::arguments::time_model);
            let model = session.stage("model", || {
                predicted::model(&loaded, strategy, &space, (&size.0, steps), (spec, form))
            })?;
            Some(model.in_setting(setting))
        }
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
                stencil: Arc::clone(&loaded),
            };
            Box::new(session.stage("first run", || TileTrials::new(job, &space))?)
        }
    };
    let sizes = space.parameters().iter();
    let roles = Roles {
        parameters: sizes.map(|size| Named::new(size.name(), "a tile size of the strategy")).collect(),
        metrics: vec![Named::new(tile_trials::RESPONSE, "the time of a run")],
        ..Roles::default()
    };
    Ok(Problem {
        space,
        response: tile_trials::RESPONSE.to_owned(),
        name: program.name.clone(),
        evaluator,
        replay: None,
        roles,
        start,
        ranking,
    })
}

/// Refuses to write over what is read.
pub(super) fn check_outputs(arguments: &SearchArguments, inputs: &[PathBuf]) -> Result<()> {
    let written = [
        ("--trials", &arguments.trials),
        ("--export", &arguments.export),
        ("--log", &arguments.log),
        ("--svg", &arguments.svg),
    ];
    outputs::check(&outputs::given(written), inputs)
}

/// Errors of this crate's libraries as those of the command.
pub(super) fn no_evaluator() -> TunerError {
    TunerError::Request {
        reason: "nothing says how to measure".to_owned(),
        hint: "give a stencil, --replay FILE with recorded trials, or --command with a shell command"
            .to_owned(),
    }
}
