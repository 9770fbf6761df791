//! One library with several implementations of a nested data-parallel program, and a model that chooses among them at each call
//! (S. Muralidharan, as in [`super`], section 5.4).

use super::learn::{Known, Worth, failed, few_of, on_machine};
use crate::error::{Error, Result};
use crate::observer::{Observer, stage_of};
use adaptive::model::Model;
use adaptive::{emit, model_file};
use execution::ExecutionError;
use nested::analysis::policy::implementations;
use nested::analysis::{Implementation, schedule};
use nested::data::{Array, Inputs, Output, arranged};
use nested::emit::generated::{Mode, prepared};
use nested::features::features;
use nested::native::{Native, RunError, options};
use nested::openmp::{Ranged, chooser, generate, several};
use nested::package::{File, package_several};
use nested::program::Program;
use serde::Serialize;
use toolchain::cache::Cache;
use toolchain::compiler::{Compiler, Language};
use toolchain::interrupt;
use toolchain::machine::cpu_name;

/// Rounds in which all implementations are timed in turn.
const ROUNDS: usize = 2;
/// Seconds that are timed at a time, at least: shorter runs are repeated.
const LEAST_S: f64 = 2e-3;

/// What a program will be given.
pub struct Use {
    /// What it is called.
    pub name: String,
    /// The data.
    pub inputs: Inputs,
}

/// What is wanted.
pub struct Request<'a> {
    /// The computation whose implementations are tried, among those of [`prepared`]; the others have their default ones.
    pub computation: usize,
    /// What for: one use at least.
    pub uses: &'a [Use],
    /// Threads.
    pub threads: usize,
    /// Implementations that are measured, and those that are kept, at most.
    pub candidates: usize,
    /// Implementations of the library at most.
    pub most: usize,
    /// Runs of each that are timed in each of two rounds; the least time counts.
    pub repeat: usize,
    /// How floating-point numbers are summed.
    pub mode: Mode,
}

/// An implementation of a library.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Served {
    /// Its name, as the environment variable `TILEWRIGHT_VARIANT` takes it.
    pub name: String,
    /// The schedule of the computation.
    pub schedule: String,
    /// Its policy.
    pub policy: String,
    /// Uses for which it is chosen.
    pub chosen_for: usize,
}

/// What a report says of a portfolio.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facts {
    /// The computation.
    pub computation: String,
    /// The implementations, the default one first.
    pub implementations: Vec<Served>,
    /// What the choice looks at.
    pub features: Vec<String>,
    /// The model's file.
    pub model: String,
    /// The processor that was measured on.
    pub machine: String,
    /// Implementations that were measured.
    pub measured: usize,
    /// Uses.
    pub uses: usize,
    /// The time of the best measured implementation, as a part of that of the best one that is kept: mean over the uses.
    pub kept_of_best: f64,
    /// What the choices are worth among those that are kept.
    pub worth: Worth,
}

/// Implementations, and what chooses among them.
pub struct Portfolio {
    /// What to know.
    pub facts: Facts,
    chosen: Vec<Vec<Implementation>>,
    model: Model,
    features: Vec<Ranged>,
    mode: Mode,
}

/// The default one, and others evenly over the space: places of at most `budget` among `count`.
pub fn spread(count: usize, budget: usize) -> Vec<usize> {
    let most = budget.min(count);
    let rest = (1..most).map(|place| 1 + (place - 1) * (count - 1) / (most - 1).max(1));
    std::iter::once(0).chain(rest).collect()
}

/// Why a run gave no result, with the place in the program.
pub fn run_failed(program: &Program, error: RunError) -> Error {
    match error {
        RunError::Input(error) => Error::wrong_input(error.to_string()),
        RunError::Fault(fault) => fault.diagnostics(&program.source).into(),
        RunError::Toolchain(error) => error.into(),
        RunError::Interrupted => ExecutionError::Interrupted.into(),
        error @ RunError::Memory(..) => Error::infeasible(error.to_string()),
    }
}

/// Chooses implementations, and learns when each is the best.
///
/// # Errors
/// No compiler, data that does not fit, an interruption; results that differ, which are a mistake of ours.
pub fn portfolio(program: &Program, request: &Request<'_>, observer: &dyn Observer) -> Result<Portfolio> {
    let (_, list, _) = prepared(program);
    let Some(computation) = list.get(request.computation).filter(|_| !request.uses.is_empty()) else {
        return Err(Error::wrong_input("there is nothing to choose for"));
    };
    let points = implementations(computation);
    let point = |at: usize| {
        let mut all: Vec<Implementation> = list.iter().map(Implementation::default_of).collect();
        all[request.computation] = points[at].clone();
        all
    };
    let all: Vec<Vec<Implementation>> =
        spread(points.len(), request.candidates).into_iter().map(point).collect();
    let costs = stage_of(observer, "timing implementations", all.len() as u64, |progress| {
        measured(program, &all, request, progress)
    })?;
    let own = features(program);
    let mut uses = Vec::new();
    for used in request.uses {
        let given: Vec<Array> =
            arranged(program, &used.inputs).map_err(|error| Error::wrong_input(error.to_string()))?;
        let values = own.iter().map(|own| own.value(program, &given, request.threads)).collect();
        uses.push((used.name.clone(), values));
    }
    let names: Vec<String> = own.iter().map(|own| own.name.clone()).collect();
    let known = Known { name: &program.name, features: &names, uses };
    let learned = few_of(&known, &costs, request.most)?;
    let least = |list: &mut dyn Iterator<Item = usize>, at: usize| {
        list.map(|one| costs[one][at]).fold(f64::INFINITY, f64::min)
    };
    let kept = (0..request.uses.len())
        .map(|at| least(&mut (0..costs.len()), at) / least(&mut learned.few.iter().copied(), at));
    let kept_of_best = kept.sum::<f64>() / request.uses.len() as f64;
    let machine = cpu_name();
    let served = learned.few.iter().enumerate().map(|(number, &at)| Served {
        name: format!("v{number}"),
        schedule: schedule::text(&all[at][request.computation].schedule()),
        policy: all[at][request.computation].policy(),
        chosen_for: learned.chosen_for(number),
    });
    let facts = Facts {
        computation: computation.name.clone(),
        implementations: served.collect(),
        features: names,
        model: format!("{}.model.json", chooser(&program.name)),
        machine: machine.clone(),
        measured: all.len(),
        uses: request.uses.len(),
        kept_of_best,
        worth: learned.worth,
    };
    let ranges = learned.model.features.iter().map(|own| believed(own.least, own.greatest));
    let features = own.into_iter().zip(ranges).map(|(feature, range)| Ranged { feature, range }).collect();
    let chosen = learned.few.iter().map(|&at| all[at].clone()).collect();
    let model = on_machine(learned.model, &machine);
    Ok(Portfolio { facts, chosen, model, features, mode: request.mode })
}

/// Values for which a choice is believed: those between half of the least and twice the greatest that was measured.
fn believed(least: f64, greatest: f64) -> [f64; 2] {
    let low = least.min(0.5 * least).min(2.0 * least).max(f64::MIN);
    [low, greatest.max(0.5 * greatest).max(2.0 * greatest).min(f64::MAX)]
}

/// Seconds of a run: `costs[implementation][use]`. Results are those of the first implementation, bit for bit.
fn measured(
    program: &Program,
    all: &[Vec<Implementation>],
    request: &Request<'_>,
    progress: &dyn Fn(i64),
) -> Result<Vec<Vec<f64>>> {
    let compiler = Compiler::find(Language::C).map_err(toolchain::Error::from)?;
    let cache = Cache::open()?;
    let options = options(true, request.mode == Mode::Fast);
    let mut costs = vec![vec![f64::INFINITY; request.uses.len()]; all.len()];
    let mut expected: Vec<Option<Vec<Output>>> = vec![None; request.uses.len()];
    for round in 0..ROUNDS {
        for (number, (chosen, costs)) in all.iter().zip(&mut costs).enumerate() {
            let generated = generate(program, chosen, request.mode, &program.name);
            // Compiled in the first round, and then in the cache.
            let built = Native::build(program, generated, &compiler, &options, &cache)
                .map_err(|error| run_failed(program, error))?;
            for ((used, cost), expected) in request.uses.iter().zip(costs).zip(&mut expected) {
                interrupt::check()?;
                let mut timed = || -> std::result::Result<Option<Vec<Output>>, RunError> {
                    let mut prepared = built.prepare(&used.inputs)?;
                    prepared.run(request.threads)?;
                    let once = prepared.run(request.threads)?;
                    let calls = (LEAST_S / once.max(1e-9)).ceil().clamp(1.0, 1e5) as u32;
                    for _ in 0..request.repeat.max(1) {
                        let mut seconds = 0.0;
                        for _ in 0..calls {
                            seconds += prepared.run(request.threads)?;
                        }
                        *cost = cost.min(seconds / f64::from(calls));
                    }
                    Ok((round == 0 && request.mode == Mode::Deterministic).then(|| prepared.outputs()))
                };
                let Some(found) = timed().map_err(|error| run_failed(program, error))? else { continue };
                let expected = expected.get_or_insert_with(|| found.clone());
                if !expected.iter().zip(&found).all(|(a, b)| a.same_bits(b)) {
                    let names = chosen.iter().map(Implementation::policy).collect::<Vec<_>>().join("; ");
                    let message = format!("the results for `{}` differ with {names}", used.name);
                    return Err(Error::internal(message));
                }
            }
            if round == 0 {
                progress(number as i64 + 1);
            }
        }
    }
    Ok(costs)
}

impl Portfolio {
    /// The files of a library.
    ///
    /// # Errors
    /// A model that cannot be written.
    pub fn emit(&self, program: &Program) -> Result<Vec<File>> {
        let prefix = chooser(&program.name);
        let written = emit::emit(&self.model, Some(&prefix)).map_err(failed)?;
        let text = model_file::to_text(&self.model).map_err(Error::internal)?;
        let choice = written.files.into_iter().chain([(self.facts.model.clone(), text)]);
        let choice = choice.map(|(name, text)| File { name, text }).collect();
        let made = several(program, &self.chosen, &self.features, self.mode, &program.name);
        Ok(package_several(program, &made, &self.chosen, choice, self.mode))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_believed_near_what_was_measured() {
        assert_eq!(believed(100.0, 400.0), [50.0, 800.0]);
        assert_eq!(believed(-4.0, 0.0), [-8.0, 0.0]);
        assert_eq!(believed(2.0, f64::INFINITY)[1], f64::MAX);
        assert_eq!(spread(10, 4), [0, 1, 4, 7]);
        assert_eq!(spread(1, 4), [0]);
    }
}
