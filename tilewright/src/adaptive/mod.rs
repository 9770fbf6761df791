//! One library with several tilings, and a model that chooses among them at each call.
//!
//! What a program will be used for is given. The model of the CPU names tilings for each use (`candidates`), measurements
//! or the model say what each costs for each use, a few of them are taken that serve all uses, and a decision tree learns which
//! of them is the best for which use. The crate `adaptive` trains it and writes it as C
//! (S. Muralidharan, "Abstractions and strategies for adaptive programming", PhD thesis, University of Utah, 2016, chapter 2).

mod candidates;
pub use candidates::KEPT;
mod costs;
mod learn;
mod listed;
pub mod nested;
pub mod nested_costs;
pub mod nested_uses;
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
use ::adaptive::model_file;
use candidates::{Candidate, candidates};
use cost_models::machine::Machine;
use hhc_codegen::backend::openmp::{self, Caches};
use hhc_codegen::pipeline::Planned;
use hhc_codegen::strategy::{self, AUTO, Target};
use hhc_codegen::{KernelPlan, TileSizes};
pub use learn::Worth;
use learn::{Known, failed, few_of, on_machine};
use serde::Serialize;
use uses::{Use, Uses};

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
                known = here::measured(known, stencil, false, observer)?;
            }
            let machine = known.machine.clone();
            here = Some(known);
            machine
        }
    };
    let measured = !by_model && request.calibrate;
    let first = fixed(stencil, request, &machine, measured, observer)?;
    let uses = &request.uses.all;
    let found = observer::stage(observer, "tune", || {
        candidates(stencil, &first, request.tiling.strategy == AUTO, uses, &machine)
    })?;
    let plain = in_one_library(stencil, &found.all)?;
    let take = |at: &usize| (found.all[*at].clone(), found.costs[*at].clone());
    let (all, predicted): (Vec<Candidate>, Vec<Vec<f64>>) = plain.iter().map(take).unzip();
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
    let features = openmp::feature_names(&stencil.program);
    let of = |own: &Use| {
        (own.name(), openmp::features(&stencil.program, &own.size, own.steps, own.threads, caches))
    };
    let known =
        Known { name: &stencil.program.name, features: &features, uses: uses.iter().map(of).collect() };
    let learned = few_of(&known, &costs, request.uses.tilings)?;
    let machine = machine_name(&machine, measured);
    let tilings = learned.few.iter().enumerate().map(|(number, &at)| Served {
        name: format!("v{number}"),
        strategy: all[at].strategy.id(),
        tile: all[at].tile.clone(),
        tile_text: all[at].tile.to_string(),
        chosen_for: learned.chosen_for(number),
    });
    Ok(Portfolio {
        tilings: tilings.collect(),
        model: on_machine(learned.model, &machine),
        caches,
        measured,
        machine,
        uses: uses.len(),
        worth: learned.worth,
        caution: here.and_then(|here| here.caution),
    })
}

/// The tiling that a program would have without a choice: the winner of the contest that `compile` holds or remembers where this computer
/// may be measured, unless its blocks have memory of their own; otherwise the model's.
fn fixed(
    stencil: &Stencil,
    request: &Request<'_>,
    machine: &Machine,
    measured: bool,
    observer: &dyn Observer,
) -> Result<Candidate> {
    if request.tiling.tile.is_some() {
        return Err(Error::wrong_input("tile sizes are given, and are to be chosen for each use")
            .hint("leave out --tile"));
    }
    if measured {
        let winner = single(stencil, request, None, request.by, observer)?;
        if !of_one_library(stencil, std::slice::from_ref(&winner))?.is_empty() {
            return Ok(winner);
        }
    }
    single(stencil, request, Some(machine), TileBy::Model, observer)
}

/// What `compile` takes where there is one tiling.
fn single(
    stencil: &Stencil,
    request: &Request<'_>,
    machine: Option<&Machine>,
    by: TileBy,
    observer: &dyn Observer,
) -> Result<Candidate> {
    let wish = Wish { by, calibrate: by != TileBy::Model, ..Wish::of_model(None, None, machine) };
    let chosen = choice::choose(stencil, request.tiling, Target::OpenMp, &wish, observer)?;
    let strategy = strategies::named_for(&chosen.tiling.strategy, &stencil.program)?;
    let cone = &stencil.analysis()?.cone;
    let tile =
        chosen.tiling.tile.unwrap_or_else(|| strategy.default_tile(&stencil.program, cone, Target::OpenMp));
    Ok(Candidate { strategy, tile })
}

/// Which tilings can be in a library with others.
fn of_one_library(stencil: &Stencil, all: &[Candidate]) -> Result<Vec<usize>> {
    let analysis = stencil.analysis()?;
    let plan = |one: &Candidate| strategy::plan(one.strategy, &stencil.program, &analysis.cone, &one.tile);
    let plans: Vec<KernelPlan> = all.iter().map(plan).collect::<std::result::Result<_, _>>()?;
    Ok((0..plans.len()).filter(|&at| openmp::can_be_variants(&plans[at..=at])).collect())
}

/// The same, where the first one has to be.
fn in_one_library(stencil: &Stencil, all: &[Candidate]) -> Result<Vec<usize>> {
    let plain = of_one_library(stencil, all)?;
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
