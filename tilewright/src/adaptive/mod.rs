//! One library with several tilings, and a model that chooses among them at each call.
//!
//! What a program will be used for is given. The model of the CPU names tilings for each use (`candidates`), measurements
//! or the model say what each costs for each use, a few of them are taken that serve all uses, and a decision tree learns which
//! of them is the best for which use. The crate `adaptive` trains it and writes it as C
//! (S. Muralidharan, "Abstractions and strategies for adaptive programming", PhD thesis, University of Utah, 2016, chapter 2).

mod candidates;
mod costs;
pub mod uses;

use crate::choice::{self, TileBy, Wish};
use crate::error::{Error, Result};
use crate::here;
use crate::load::Stencil;
use crate::observer::{Observer, stage_of};
use crate::output::OutputFile;
use crate::plan::{self, Tiling};
use crate::{observer, strategies};
use ::adaptive::model::Model;
use ::adaptive::table::{Row, Table};
use ::adaptive::train::{Kind, TrainOptions, choose as choice_of, train};
use ::adaptive::{AdaptiveError, model_file};
use candidates::{Candidate, candidates, serving};
use cost_models::machine::Machine;
use hhc_codegen::backend::openmp::{self, Caches};
use hhc_codegen::pipeline::Planned;
use hhc_codegen::strategy::{self, AUTO, Target};
use hhc_codegen::{KernelPlan, TileSizes};
use serde::Serialize;
use uses::{Use, Uses};

/// Who is so near to the best for a use, as a part of its time, is as good: measurements are no closer, and where fewer tilings
/// are told apart the rules are simpler.
const AS_GOOD: f64 = 0.02;

/// What is wanted.
pub struct Request<'a> {
    /// The strategy; tile sizes are chosen.
    pub tiling: &'a Tiling,
    /// What for.
    pub uses: &'a Uses,
    /// The machine that the tilings are for; this computer, where there is none.
    pub machine: Option<&'a Machine>,
    /// Who says what tilings cost: the model alone, or measurements on this computer.
    pub by: TileBy,
    /// Whether this computer may be measured.
    pub calibrate: bool,
}

/// Tilings, and what chooses among them.
pub struct Portfolio {
    /// The tilings, the fixed one first: the one that a program with a single tiling would have.
    pub tilings: Vec<Served>,
    /// Maps what a call is like to a tiling.
    pub model: Model,
    /// Caches that calls are compared with.
    pub caches: Caches,
    /// Whether costs were measured.
    pub measured: bool,
    /// The processor that they are of.
    pub machine: String,
    /// Number of uses.
    pub uses: usize,
    /// What the choices are worth.
    pub worth: Worth,
    /// What to know about the machine.
    pub caution: Option<String>,
}

/// A tiling of a portfolio.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Served {
    /// Its name, as the environment variable `TILEWRIGHT_VARIANT` takes it.
    pub name: String,
    /// Strategy.
    pub strategy: &'static str,
    /// Tile sizes by name.
    pub tile: TileSizes,
    /// The same as `--tile` takes them.
    pub tile_text: String,
    /// Uses for which it is chosen.
    pub chosen_for: usize,
}

/// What choices are worth, over all uses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Worth {
    /// The time of the best tiling of the portfolio, as a part of the chosen one's: mean.
    pub of_best: f64,
    /// The same for uses that were held out in turn.
    pub of_best_held_out: f64,
    /// The fixed tiling's time, as a multiple of the chosen one's: geometric mean.
    pub over_fixed: f64,
    /// The least of these.
    pub over_fixed_least: f64,
}

fn failed(error: AdaptiveError) -> Error {
    Error::internal(error.to_string())
}

/// Chooses the tilings, and learns when each is the best.
///
/// # Errors
/// A strategy whose tilings cannot be in one library, or without a model; no compiler, grids that do not fit into memory, and an
/// interruption, where tilings are timed.
pub fn portfolio(stencil: &Stencil, request: &Request<'_>, observer: &dyn Observer) -> Result<Portfolio> {
    let by_model = matches!(request.by, TileBy::Model | TileBy::Default) || request.machine.is_some();
    let mut here = None;
    let machine = match request.machine {
        Some(machine) => machine.clone(),
        None => {
            let mut known = here::known()?;
            if request.calibrate && !by_model {
                known = here::measured(known, stencil, observer)?;
            }
            let machine = known.machine.clone();
            here = Some(known);
            machine
        }
    };
    let first = fixed(stencil, request, &machine, observer)?;
    let uses = &request.uses.all;
    let found = observer::stage(observer, "tune", || {
        candidates(stencil, &first, request.tiling.strategy == AUTO, uses, &machine)
    })?;
    let plain = in_one_library(stencil, &found.all)?;
    let take = |at: &usize| (found.all[*at].clone(), found.costs[*at].clone());
    let (all, predicted): (Vec<Candidate>, Vec<Vec<f64>>) = plain.iter().map(take).unzip();
    let measured = !by_model && request.calibrate;
    let costs = match measured {
        true => stage_of(observer, "timing tilings", uses.len() as u64, |progress| {
            costs::measured(stencil, &all, uses, progress)
        })?,
        false => predicted,
    };
    if costs[0].iter().any(|cost| !cost.is_finite()) {
        return Err(Error::infeasible(format!("no model knows what strategy {} costs", first.strategy.id()))
            .hint("leave out --tile-by, --no-calibrate and --machine: then tilings are measured"));
    }
    let caches = caches(&machine)?;
    let mut few = serving(&costs, request.uses.tilings);
    loop {
        let learned = learn(stencil, &few, &costs, uses, caches)?;
        let idle: Vec<usize> = (1..few.len()).filter(|tiling| !learned.choices.contains(tiling)).collect();
        if idle.is_empty() {
            let machine = machine_name(&machine, measured);
            let tilings = few.iter().enumerate().map(|(number, &at)| Served {
                name: format!("v{number}"),
                strategy: all[at].strategy.id(),
                tile: all[at].tile.clone(),
                tile_text: all[at].tile.to_string(),
                chosen_for: learned.choices.iter().filter(|&&choice| choice == number).count(),
            });
            return Ok(Portfolio {
                tilings: tilings.collect(),
                model: Model {
                    training: ::adaptive::model::Training {
                        machine: machine.clone(),
                        ..learned.model.training
                    },
                    ..learned.model
                },
                caches,
                measured,
                machine,
                uses: uses.len(),
                worth: learned.worth,
                caution: here.and_then(|here| here.caution),
            });
        }
        few = few.iter().enumerate().filter(|(at, _)| !idle.contains(at)).map(|(_, one)| *one).collect();
    }
}

/// The tiling that a program would have without a choice.
fn fixed(
    stencil: &Stencil,
    request: &Request<'_>,
    machine: &Machine,
    observer: &dyn Observer,
) -> Result<Candidate> {
    if request.tiling.tile.is_some() {
        return Err(Error::wrong_input("tile sizes are given, and are to be chosen for each use")
            .hint("leave out --tile"));
    }
    let wish = Wish {
        size: None,
        steps: None,
        machine: Some(machine),
        threads: None,
        by: TileBy::Model,
        calibrate: false,
        runs: false,
        machine_code: false,
    };
    let chosen = choice::choose(stencil, request.tiling, Target::OpenMp, &wish, observer)?;
    let strategy = strategies::named_for(&chosen.tiling.strategy, &stencil.program)?;
    let cone = &stencil.analysis()?.cone;
    let tile =
        chosen.tiling.tile.unwrap_or_else(|| strategy.default_tile(&stencil.program, cone, Target::OpenMp));
    Ok(Candidate { strategy, tile })
}

/// Which tilings can be in a library with others.
fn in_one_library(stencil: &Stencil, all: &[Candidate]) -> Result<Vec<usize>> {
    let analysis = stencil.analysis()?;
    let plan = |one: &Candidate| strategy::plan(one.strategy, &stencil.program, &analysis.cone, &one.tile);
    let plans: Vec<KernelPlan> = all.iter().map(plan).collect::<std::result::Result<_, _>>()?;
    let plain: Vec<usize> = (0..plans.len()).filter(|&at| openmp::can_be_variants(&plans[at..=at])).collect();
    match plain.first() {
        Some(0) => Ok(plain),
        _ => Err(Error::infeasible(format!(
            "blocks of strategy {} have memory of their own, and such code cannot be in one library with others",
            all[0].strategy.id()
        ))
        .hint("compile without --adaptive, or take another strategy")),
    }
}

/// What a machine's threads have of its caches.
fn caches(machine: &Machine) -> Result<Caches> {
    let caches = machine.cpu().map(|cpu| &cpu.caches[..]).unwrap_or_default();
    let [.., last] = caches else {
        return Err(Error::infeasible(format!("machine `{}` has no caches", machine.name)));
    };
    let near = caches.iter().rev().nth(1).unwrap_or(last);
    let bytes = |kb: f64| (kb * 1024.0) as u64;
    Ok(Caches { near: bytes(near.kb / near.shared_by.max(1) as f64).max(1), last: bytes(last.kb).max(1) })
}

/// The processor that costs are of.
fn machine_name(machine: &Machine, measured: bool) -> String {
    if measured { toolchain::machine::cpu_name() } else { machine.name.clone() }
}

struct Learned {
    model: Model,
    /// For each use, the tiling that is chosen.
    choices: Vec<usize>,
    worth: Worth,
}

/// Learns which of a few tilings is the best for which use.
fn learn(
    stencil: &Stencil,
    few: &[usize],
    costs: &[Vec<f64>],
    uses: &[Use],
    caches: Caches,
) -> Result<Learned> {
    let program = &stencil.program;
    let features = openmp::feature_names(program);
    let row = |(at, own): (usize, &Use)| {
        let best = few.iter().map(|&one| costs[one][at]).fold(f64::INFINITY, f64::min);
        let cost = |&one: &usize| {
            let cost = costs[one][at];
            if cost <= best * (1.0 + AS_GOOD) { best } else { cost }
        };
        Row {
            input: own.name(),
            features: openmp::features(program, &own.size, own.steps, own.threads, caches),
            feature_costs: vec![0.0; features.len()],
            costs: few.iter().map(cost).collect(),
            ..Row::default()
        }
    };
    let table = Table {
        name: program.name.clone(),
        variants: (0..few.len()).map(|number| format!("v{number}")).collect(),
        default: 0,
        features: features.clone(),
        metric: "seconds".to_owned(),
        rows: uses.iter().enumerate().map(row).collect(),
        ..Table::default()
    };
    let rows: Vec<usize> = (0..table.rows.len()).collect();
    let places: Vec<usize> = (0..features.len()).collect();
    let options = TrainOptions { kind: Kind::Tree, ..TrainOptions::default() };
    let trained = train(&table, &rows, &places, &options).map_err(failed)?;
    let choices: Vec<usize> =
        table.rows.iter().map(|row| choice_of(&trained.model.classifier, &row.features, 0)).collect();
    let least = |at: usize| few.iter().map(|&one| costs[one][at]).fold(f64::INFINITY, f64::min);
    let cost = |at: usize| costs[few[choices[at]]][at];
    let mean = |parts: &[f64]| parts.iter().sum::<f64>() / parts.len().max(1) as f64;
    let of_best: Vec<f64> = (0..uses.len()).map(|at| least(at) / cost(at)).collect();
    let over: Vec<f64> = (0..uses.len()).map(|at| costs[few[0]][at] / cost(at)).collect();
    let worth = Worth {
        of_best: mean(&of_best),
        of_best_held_out: trained.validated.performance,
        over_fixed: mean(&over.iter().map(|part| part.ln()).collect::<Vec<_>>()).exp(),
        over_fixed_least: over.iter().copied().fold(f64::INFINITY, f64::min),
    };
    Ok(Learned { model: trained.model, choices, worth })
}

impl Portfolio {
    /// The files, and the plans with their proofs. The stencil may have another name than that for which the tilings were chosen.
    ///
    /// # Errors
    /// A plan that is refused.
    pub fn emit(
        &self,
        stencil: &Stencil,
        observer: &dyn Observer,
    ) -> Result<(Vec<OutputFile>, Vec<Planned>)> {
        let planned = |served: &Served| {
            let tiling = Tiling { strategy: served.strategy.to_owned(), tile: Some(served.tile.clone()) };
            plan::plan(stencil, &tiling, Target::OpenMp, observer)
        };
        let planned: Vec<Planned> = self.tilings.iter().map(planned).collect::<Result<_>>()?;
        let plans: Vec<KernelPlan> = planned.iter().map(|planned| planned.plan.clone()).collect();
        let prefix = openmp::choice_prefix(&stencil.program);
        let model = Model { name: stencil.program.name.clone(), ..self.model.clone() };
        let chooser = ::adaptive::emit::emit(&model, Some(&prefix)).map_err(failed)?;
        let text = model_file::to_text(&model).map_err(Error::internal)?;
        let generated = openmp::generate_with_choice(&plans, self.caches)?;
        let generated = generated.into_iter().map(|file| (file.name, file.text));
        let files = generated.chain(chooser.files).chain([(format!("{prefix}.model.json"), text)]);
        let files = files.map(|(name, text)| OutputFile { name: name.into(), bytes: text.into_bytes() });
        Ok((files.collect(), planned))
    }
}
