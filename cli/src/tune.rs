//! `tilewright tune`: the best tile sizes of the model, with a certificate.

use crate::arguments::{CArguments, ElementTypeName, Size, some_steps_parser};
use crate::error::{Error, Result};
use crate::predict::resident_text;
use crate::progress::Session;
use crate::report::{self, Report};
use crate::strategies::NameParser;
use crate::{load, plan};
use clap::{Args, ValueEnum};
use cost_models::machine::Machine;
use cost_models::memory::Constraint;
use cost_models::time::Terms;
use hhc_codegen::TileSizes;
use hhc_codegen::strategy;
use hhc_codegen::strategy::AUTO;
use optimizer::Objective;
use optimizer::{Method, Part, Relaxed, Tuned, super_tune, super_tune_by_parts, tune as search};
use polyhedral::program::Program;
use serde::Serialize;
use tilewright::Stencil;
use tilewright::cpu_model::{CpuModel, is_cpu};
use tilewright::gpu_model::GpuModel;
use tilewright::machines;
use tilewright::text;

/// Arguments of `tune`.
#[derive(Debug, Args)]
pub struct TuneArguments {
    /// A shipped stencil (see `tilewright list`), a .stencil file, or a C file with a `#pragma scop` region
    #[arg(value_name = "SPEC")]
    pub spec: String,
    /// How a C file is preprocessed.
    #[command(flatten)]
    pub c: CArguments,
    /// Grid size, slowest dimension first
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Size,
    /// Number of time steps
    #[arg(long, value_name = "N", value_parser = some_steps_parser(), allow_negative_numbers = true)]
    pub steps: i64,
    /// A shipped machine (see `tilewright list`) or a machine file
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: String,
    /// What to minimise
    #[arg(long, default_value = "time", value_name = "OBJECTIVE")]
    pub objective: ObjectiveName,
    /// Tiling strategy, or auto (the best of all)
    #[arg(long, default_value = AUTO, value_name = "NAME", value_parser = NameParser::OR_AUTO)]
    pub strategy: String,
    /// How to search
    #[arg(long, default_value = "exact", value_name = "METHOD")]
    pub method: MethodName,
    /// How to choose among strategies
    #[arg(long, default_value = "minimum", value_name = "WAY")]
    pub formulation: FormulationName,
    /// Use this type for all fields instead of their own
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<ElementTypeName>,
}

/// What to minimise, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ObjectiveName {
    /// Seconds
    Time,
    /// Joules
    Energy,
    /// Watts
    Power,
    /// Joules times seconds
    Edp,
}

impl ObjectiveName {
    /// The objective itself.
    pub fn objective(self) -> Objective {
        match self {
            ObjectiveName::Time => Objective::Time,
            ObjectiveName::Energy => Objective::Energy,
            ObjectiveName::Power => Objective::Power,
            ObjectiveName::Edp => Objective::Edp,
        }
    }
}

/// How to search, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodName {
    /// Branch and bound with a certificate
    Exact,
    /// The rule without C_iter
    ClosedForm,
    /// Every candidate
    Exhaustive,
}

impl MethodName {
    /// The method itself.
    pub fn method(self) -> Method {
        match self {
            MethodName::Exact => Method::Exact,
            MethodName::ClosedForm => Method::ClosedForm,
            MethodName::Exhaustive => Method::Exhaustive,
        }
    }
}

/// The two formulations of super-tuning, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormulationName {
    /// The least of the strategies' optima
    Minimum,
    /// Also the optimum of every intersection and difference of their feasible spaces
    Parts,
}

/// The report of `tune`.
#[derive(Debug, Serialize)]
pub struct TuneReport {
    /// Name of the stencil.
    pub stencil: String,
    /// Name of the machine.
    pub machine: String,
    /// Grid extents.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// Tile sizes by name.
    pub tile: TileSizes,
    /// Tile sizes as `--tile` takes them.
    pub tile_text: String,
    /// Tiling strategy.
    pub strategy: &'static str,
    /// Tiles resident on a multiprocessor at a time.
    pub k: i64,
    /// Predicted time.
    pub seconds: f64,
    /// Predicted energy; null where the machine has no energy constants.
    pub joules: Option<f64>,
    /// Predicted power; null where the machine has no energy constants.
    pub watts: Option<f64>,
    /// What was minimised.
    pub objective: &'static str,
    /// Its value: seconds, joules, watts or joule seconds.
    pub value: f64,
    /// How it was searched.
    pub method: Method,
    /// Whether the value is proved to be the least.
    pub optimal: bool,
    /// No candidate has a smaller value; null where the method proves nothing.
    pub bound: Option<f64>,
    /// Candidates for which the full model was evaluated.
    pub evaluated: u64,
    /// Boxes of candidates for which a bound was computed.
    pub nodes: u64,
    /// Candidates that bounds excluded.
    pub pruned: u64,
    /// Candidates: tile sizes and k whose shared memory fits.
    pub candidates: u64,
    /// Wall time of the search in seconds.
    pub elapsed_s: f64,
    /// Where the predicted time goes, in seconds.
    pub terms: Terms,
    /// The optimum along s0 without any rounding, the other sizes staying: what whole points, rounds and wavefronts
    /// cost. Null where there is nothing to vary.
    pub relaxed: Option<Relaxed>,
    /// The limits, and what is needed of each.
    pub constraints: Vec<Constraint>,
    /// The optimum of every strategy that was looked at (exact method, strategy auto).
    pub strategies: Vec<StrategyOptimum>,
    /// The parts of the space by the strategies that are feasible there (second formulation).
    pub parts: Vec<Part>,
    /// Facts worth knowing.
    pub notes: Vec<String>,
}

/// The optimum of one strategy.
#[derive(Debug, Serialize)]
pub struct StrategyOptimum {
    /// Its name.
    pub strategy: &'static str,
    /// Its best tile; null where none fits.
    pub tile_text: Option<String>,
    /// `k`
    pub k: Option<i64>,
    /// Value of the objective.
    pub value: Option<f64>,
    /// Why there is none.
    pub reason: Option<String>,
}

/// Tunes.
///
/// # Errors
/// Wrong input, and requests that no tile meets, with the constraint and by how much.
pub fn tune(arguments: &TuneArguments, session: &Session) -> Result<TuneReport> {
    let stencil = session.stage("read", || load::load(&arguments.spec, arguments.dtype, &arguments.c))?;
    let program = &stencil.program;
    let machine = machines::machine(&arguments.machine)?;
    if is_cpu(&machine) {
        return on_cpu(arguments, &stencil, machine, session);
    }
    let modelled =
        session.stage("analyse", || GpuModel::new(&stencil, &arguments.size.0, arguments.steps, machine))?;
    let request = modelled.request(arguments.objective.objective(), &arguments.strategy)?;
    let method = arguments.method.method();
    let tuned = session.stage("search", || search(&request, method))?;
    let mut strategies = Vec::new();
    if method == Method::Exact && request.strategies.len() > 1 {
        let (solved, _) = super_tune(&request)?;
        strategies.extend(solved.into_iter().map(|solved| match solved.result {
            Ok(tuned) => StrategyOptimum::of(&tuned),
            Err(infeasible) => StrategyOptimum {
                strategy: solved.strategy,
                tile_text: None,
                k: None,
                value: None,
                reason: Some(infeasible.to_string()),
            },
        }));
    }
    let parts = match arguments.formulation {
        FormulationName::Minimum => Vec::new(),
        FormulationName::Parts => session.stage("parts", || super_tune_by_parts(&request))?,
    };
    let notes = modelled.caution().into_iter().collect();
    let machine = modelled.machine.name.clone();
    Ok(TuneReport { strategies, parts, ..report(arguments, program, machine, tuned, notes) })
}

/// Tunes for a CPU.
fn on_cpu(
    arguments: &TuneArguments,
    stencil: &Stencil,
    machine: Machine,
    session: &Session,
) -> Result<TuneReport> {
    let (method, objective) = (arguments.method.method(), arguments.objective.objective());
    if method == Method::ClosedForm {
        return Err(Error::infeasible(
            "the closed form is for the model of a GPU: a CPU has no barriers to save",
        )
        .hint("use --method exact"));
    }
    if arguments.formulation != FormulationName::Minimum {
        return Err(Error::infeasible(
            "strategies on a CPU share no tile sizes that could be cut into parts",
        )
        .hint("use --formulation minimum, which has the same optimum"));
    }
    let (size, steps) = (&arguments.size.0, arguments.steps);
    let modelled = session.stage("analyse", || CpuModel::new(stencil, size, steps, machine, None))?;
    let mut solved = session.stage("search", || modelled.tune(&arguments.strategy, method, objective))?;
    let strategies =
        if solved.len() > 1 { solved.iter().map(StrategyOptimum::of).collect() } else { Vec::new() };
    let notes = modelled.caution(&stencil.program.name).into_iter().collect();
    let machine = modelled.machine.name.clone();
    Ok(TuneReport {
        strategies,
        ..report(arguments, &stencil.program, machine, solved.swap_remove(0), notes)
    })
}

fn report(
    arguments: &TuneArguments,
    program: &Program,
    machine: String,
    tuned: Tuned,
    mut notes: Vec<String>,
) -> TuneReport {
    let certificate = tuned.certificate;
    notes.extend(each_counted(&tuned));
    TuneReport {
        stencil: program.name.clone(),
        machine,
        size: arguments.size.0.clone(),
        steps: arguments.steps,
        tile_text: tuned.choice.tile.to_string(),
        strategy: tuned.choice.strategy,
        k: tuned.choice.k,
        seconds: tuned.evaluation.prediction.seconds,
        joules: tuned.evaluation.joules(),
        watts: tuned.evaluation.watts(),
        objective: arguments.objective.objective().name(),
        value: certificate.value,
        method: tuned.method,
        optimal: certificate.optimal(),
        bound: certificate.bound,
        evaluated: certificate.evaluated,
        nodes: certificate.nodes,
        pruned: certificate.pruned,
        candidates: certificate.candidates,
        elapsed_s: tuned.elapsed_s,
        terms: tuned.evaluation.prediction.terms,
        relaxed: tuned.relaxed,
        constraints: tuned.evaluation.constraints,
        tile: tuned.choice.tile,
        strategies: Vec::new(),
        parts: Vec::new(),
        notes,
    }
}

/// What the optimum of a strategy without closed forms is an optimum of.
fn each_counted(tuned: &Tuned) -> Option<String> {
    let own = strategy::by_name(tuned.choice.strategy).ok()?;
    own.closed_forms().is_none().then(|| {
        format!(
            "strategy {} has no closed forms: {} of tile sizes in powers of two were looked at, by counting their plans",
            own.id(),
            text::count(tuned.certificate.candidates, "candidate", "candidates"),
        )
    })
}

impl StrategyOptimum {
    fn of(tuned: &Tuned) -> StrategyOptimum {
        StrategyOptimum {
            strategy: tuned.choice.strategy,
            tile_text: Some(tuned.choice.tile.to_string()),
            k: Some(tuned.choice.k),
            value: Some(tuned.certificate.value),
            reason: None,
        }
    }
}

impl TuneReport {
    fn rounding(&self) -> String {
        self.relaxed.map_or("nothing to vary".to_owned(), |relaxed| {
            format!(
                "{} if nothing had to be whole (points, rounds, wavefronts), at s0={:.1}",
                report::seconds(relaxed.seconds),
                relaxed.s0
            )
        })
    }
}

impl Report for TuneReport {
    const SCHEMA: &'static str = "tilewright.tune/1";

    fn text(&self) -> String {
        let certificate = match self.bound {
            Some(_) if self.method == Method::Exhaustive => {
                format!("all {} candidates were evaluated", self.candidates)
            }
            Some(_) => format!(
                "proved: no candidate is better; {} of {} candidates evaluated ({:.4} %), {} boxes bounded",
                self.evaluated,
                self.candidates,
                100.0 * self.evaluated as f64 / self.candidates.max(1) as f64,
                self.nodes
            ),
            None => "none: the closed form maximises s0 + st among compute-bound tiles".to_owned(),
        };
        let known = |value: Option<f64>, unit: &str| {
            value.map_or("not known: the machine file has no energies".to_owned(), |value| {
                format!("{value:.4} {unit}")
            })
        };
        let mut text = report::pairs(&[
            ("stencil", format!("{}, {}, {} steps", self.stencil, text::size(&self.size), self.steps)),
            ("machine", self.machine.clone()),
            ("objective", self.objective.to_owned()),
            ("strategy", self.strategy.to_owned()),
            ("tile", plan::tile_text(self.strategy, &self.tile)),
            // What limits residence is known of GPUs only.
            ("k", resident_text(self.k, !self.constraints.is_empty())),
            ("time", report::seconds(self.seconds)),
            ("energy", known(self.joules, "J")),
            ("power", known(self.watts, "W")),
            ("rounding", self.rounding()),
            ("certificate", certificate),
            ("searched in", report::seconds(self.elapsed_s)),
        ]);
        if !self.strategies.is_empty() {
            let rows: Vec<_> = (self.strategies.iter())
                .map(|own| match (&own.tile_text, own.k, own.value) {
                    (Some(tile), Some(k), Some(value)) => {
                        vec![own.strategy.to_owned(), tile.clone(), k.to_string(), format!("{value:.6e}")]
                    }
                    _ => vec![own.strategy.to_owned(), own.reason.clone().unwrap_or_default()],
                })
                .collect();
            text += &format!(
                "\n{}",
                report::table(&["strategy", "best tile", "k", self.objective], &rows, &[2, 3])
            );
        }
        if !self.parts.is_empty() {
            let rows: Vec<_> = (self.parts.iter())
                .map(|part| {
                    vec![
                        part.inside.join(", "),
                        part.outside.join(", "),
                        part.points.to_string(),
                        format!("{} {} k={}", part.choice.strategy, part.choice.tile, part.choice.k),
                        format!("{:.6e}", part.value),
                    ]
                })
                .collect();
            let header = ["feasible for", "not for", "points", "best", self.objective];
            text += &format!("\n{}", report::table(&header, &rows, &[2, 4]));
        }
        for note in &self.notes {
            text += &format!("\nnote: {note}\n");
        }
        text
    }
}
