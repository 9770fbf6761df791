//! `tilewright predict`: what a tile costs on a machine, and why.

use crate::arguments::{PlanArguments, Size, some_steps_parser};
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{drawing, load, outputs, plan};
use clap::Args;
use cost_models::constants::{EnergyConstants, TimeConstants};
use cost_models::energy::EnergyTerms;
use cost_models::machine::Machine;
use cost_models::memory::Constraint;
use cost_models::time::Terms;
use hhc_codegen::TileSizes;
use hhc_codegen::counts::TileCounts;
use hhc_codegen::strategy::{self, Strategy, Target};
use optimizer::bottleneck::{Loss, Resident, Sensitivity, best_k, hyper_threading, losses, sensitivities};
use optimizer::{Family, Objective};
use plots::{Step, Waterfall};
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use tilewright::Stencil;
use tilewright::cpu_model::{CpuModel, is_cpu, uncounted};
use tilewright::gpu_model::GpuModel;
use tilewright::machines;
use tilewright::strategies;
use tilewright::text;

/// Arguments of `predict`.
#[derive(Debug, Args)]
pub struct PredictArguments {
    /// The stencil and its tiling.
    #[command(flatten)]
    pub plan: PlanArguments,
    /// Grid size, slowest dimension first
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Size,
    /// Number of time steps
    #[arg(long, value_name = "N", value_parser = some_steps_parser(), allow_negative_numbers = true)]
    pub steps: i64,
    /// A shipped machine (see `tilewright list`) or a machine file
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: String,
    /// Tiles resident on a multiprocessor at a time; the best that fits where not given
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(i64).range(1..=1024), allow_negative_numbers = true)]
    pub k: Option<i64>,
    /// Draw where the time goes as a bar chart
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// The report of `predict`.
#[derive(Debug, Serialize)]
pub struct PredictReport {
    /// Name of the stencil.
    pub stencil: String,
    /// Name of the machine.
    pub machine: String,
    /// Tiling strategy.
    pub strategy: &'static str,
    /// Tile sizes by name.
    pub tile: TileSizes,
    /// Tile sizes as `--tile` takes them.
    pub tile_text: String,
    /// Tiles resident on a multiprocessor at a time.
    pub k: i64,
    /// Grid extents.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// Predicted time.
    pub seconds: f64,
    /// Predicted energy; null where the machine has no energy constants.
    pub joules: Option<f64>,
    /// Predicted mean power; null where the machine has no energy constants.
    pub watts: Option<f64>,
    /// Where the time goes, in seconds; the sum is `seconds`.
    pub terms: Terms,
    /// The largest term.
    pub bottleneck: &'static str,
    /// Whether the tile fits the machine.
    pub feasible: bool,
    /// The limits, what is needed of each, and its slack.
    pub constraints: Vec<Constraint>,
    /// Time on a machine without overheads (paper, eq. 6.3).
    pub ideal_s: f64,
    /// `seconds - ideal_s` (paper, eq. 6.4).
    pub overhead_s: f64,
    /// What the overhead consists of.
    pub losses: Vec<Loss>,
    /// How the time reacts to the constants and to the hardware.
    pub sensitivities: Vec<Sensitivity>,
    /// The time by the number of resident tiles.
    pub hyper_threading: Vec<Resident>,
    /// Where the energy goes, in joules.
    pub energy_terms: Option<EnergyTerms>,
    /// Points computed per step, times steps, per second, in units of 10^9.
    pub gstencil_per_s: f64,
    /// The counts that the model works on, per statement where statements have tiles of their own.
    pub counts: Vec<TileCounts>,
    /// The constants, and where they are from.
    pub constants: Constants,
    /// The drawing that `--svg` asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub svg: Option<PathBuf>,
    /// Facts worth knowing.
    pub notes: Vec<String>,
}

/// The constants of the models.
#[derive(Debug, Serialize)]
pub struct Constants {
    /// Of the time model.
    pub time: TimeConstants,
    /// Of the energy model.
    pub energy: Option<EnergyConstants>,
}

/// Predicts.
///
/// # Errors
/// Wrong input, or a tile that the strategy cannot have. A tile that does not fit the machine is no error but a report
/// that has not passed.
pub fn predict(arguments: &PredictArguments, session: &Session) -> Result<PredictReport> {
    let stencil = session.stage("read", || load::of_plan(&arguments.plan))?;
    let program = &stencil.program;
    let mut files = stencil.files.clone();
    files.extend(machines::file(&arguments.machine));
    outputs::check(&outputs::given([("--svg", &arguments.svg)]), &files)?;
    let machine = machines::machine(&arguments.machine)?;
    if is_cpu(&machine) {
        return on_cpu(arguments, &stencil, machine, session);
    }
    let modelled =
        session.stage("analyse", || GpuModel::new(&stencil, &arguments.size.0, arguments.steps, machine))?;
    let strategy = strategies::named(&arguments.plan.strategy)?;
    let problem = &modelled.problem;
    let mut request = modelled.request(Objective::Time, strategy.id())?;
    request.objective = Objective::Time;
    let tile = tile(arguments, program, &problem.cone, strategy, Target::Cuda)?;
    let (family, sizes) = Family::of_tile(problem, &modelled.hardware, strategy, &tile)
        .map_err(|reason| uncounted(strategy, &tile, &reason))?;
    let k = arguments.k.unwrap_or_else(|| best_k(&request, &family, sizes));
    let evaluation = request.evaluate(&family, sizes, k);
    let prediction = evaluation.prediction;
    let points = hhc_codegen::plan_counts::points_per_step(program, &arguments.size.0) as f64;
    let notes = modelled.caution().into_iter().chain(defaults_used(arguments)).collect();
    let report = PredictReport {
        stencil: program.name.clone(),
        machine: modelled.machine.name.clone(),
        strategy: strategy.id(),
        tile_text: tile.to_string(),
        tile,
        k,
        size: arguments.size.0.clone(),
        steps: arguments.steps,
        seconds: prediction.seconds,
        joules: evaluation.joules(),
        watts: evaluation.watts(),
        terms: prediction.terms,
        bottleneck: prediction.terms.largest(),
        feasible: evaluation.constraints.iter().all(|constraint| constraint.satisfied),
        ideal_s: prediction.ideal_s,
        overhead_s: prediction.overhead_s(),
        losses: losses(&request, &evaluation, k),
        sensitivities: sensitivities(&request, &family, sizes, k),
        hyper_threading: hyper_threading(&request, &family, sizes),
        energy_terms: evaluation.energy,
        gstencil_per_s: points * arguments.steps as f64 / prediction.seconds / 1e9,
        counts: evaluation.counts,
        constraints: evaluation.constraints,
        constants: Constants { time: modelled.time, energy: modelled.energy },
        svg: arguments.svg.clone(),
        notes,
    };
    drawn(report)
}

/// Predicts on a CPU.
fn on_cpu(
    arguments: &PredictArguments,
    stencil: &Stencil,
    machine: Machine,
    session: &Session,
) -> Result<PredictReport> {
    if arguments.k.is_some() {
        return Err(Error::infeasible("a core of a CPU works on one tile at a time: --k is for GPUs"));
    }
    let program = &stencil.program;
    let (size, steps) = (&arguments.size.0, arguments.steps);
    let modelled = session.stage("analyse", || CpuModel::new(stencil, size, steps, machine, None))?;
    let strategy = strategies::named(&arguments.plan.strategy)?;
    let tile = tile(arguments, program, &modelled.analysis.cone, strategy, Target::OpenMp)?;
    let prediction = modelled.predict(strategy, &tile)?;
    let points = hhc_codegen::plan_counts::points_per_step(program, size) as f64;
    let energy = modelled.energy(&prediction);
    let joules = energy.map(|terms| terms.sum());
    drawn(PredictReport {
        stencil: program.name.clone(),
        machine: modelled.machine.name.clone(),
        strategy: strategy.id(),
        tile_text: tile.to_string(),
        k: 1,
        size: size.clone(),
        steps,
        seconds: prediction.seconds,
        joules,
        watts: joules.map(|joules| joules / prediction.seconds),
        terms: prediction.terms,
        bottleneck: prediction.terms.largest(),
        feasible: true,
        constraints: Vec::new(),
        ideal_s: prediction.ideal_s,
        overhead_s: prediction.overhead_s(),
        losses: modelled.losses(&prediction),
        sensitivities: modelled.sensitivities(strategy, &tile),
        hyper_threading: Vec::new(),
        energy_terms: energy,
        gstencil_per_s: points * steps as f64 / prediction.seconds / 1e9,
        counts: Vec::new(),
        constants: Constants { time: modelled.constants(), energy: None },
        tile,
        svg: arguments.svg.clone(),
        notes: modelled.caution(&program.name).into_iter().chain(defaults_used(arguments)).collect(),
    })
}

/// The tile: what the user gave, default sizes for the rest.
fn tile(
    arguments: &PredictArguments,
    program: &Arc<Program>,
    cone: &Cone,
    strategy: &dyn Strategy,
    target: Target,
) -> Result<TileSizes> {
    strategy::taken(strategy, program, cone)?;
    let space = strategy.space(program, cone);
    let defaults = strategy.default_tile(program, cone, target);
    let given = arguments.plan.tile.clone().unwrap_or_default();
    let tile = space.complete(strategy.id(), &given, &defaults)?;
    // What the strategy cannot tile has no cost.
    space.check(strategy.id(), &tile)?;
    Ok(tile)
}

fn defaults_used(arguments: &PredictArguments) -> Option<String> {
    let note = "no --tile was given: these are default sizes; `tilewright tune` finds the best";
    arguments.plan.tile.is_none().then(|| note.to_owned())
}

/// The report, with its drawing where one was asked for.
fn drawn(report: PredictReport) -> Result<PredictReport> {
    if let Some(path) = &report.svg {
        let step = |name: &str, seconds: f64, meaning: &str| Step {
            name: name.replace('_', " "),
            value: seconds,
            meaning: meaning.to_owned(),
        };
        let losses = report.losses.iter();
        let waterfall = Waterfall {
            title: format!(
                "{} {}, {} steps, on {}: {}",
                report.stencil,
                text::size(&report.size),
                report.steps,
                report.machine,
                report::seconds(report.seconds)
            ),
            subtitle: format!(
                "{}, {}, k = {}; per cent: share of the whole",
                report.strategy, report.tile_text, report.k
            ),
            x_label: "predicted time".to_owned(),
            y_label: "from ideal to real".to_owned(),
            first: step("ideal", report.ideal_s, "all lanes busy, nothing else"),
            steps: losses.map(|loss| step(loss.name, loss.seconds, loss.meaning)).collect(),
            last: step("predicted", report.seconds, "the sum"),
            width: 760.0,
        };
        drawing::write(path, waterfall.chart().svg())?;
    }
    Ok(report)
}

impl Report for PredictReport {
    const SCHEMA: &'static str = "tilewright.predict/1";

    fn text(&self) -> String {
        let share = |seconds: f64| format!("{:.1} %", 100.0 * seconds / self.seconds);
        let joules = |joules: Option<f64>, unit: &str| {
            joules.map_or("not known: the machine file has no energies".to_owned(), |j| {
                format!("{j:.4} {unit}")
            })
        };
        let mut text = report::pairs(&[
            ("stencil", format!("{}, {}, {} steps", self.stencil, text::size(&self.size), self.steps)),
            ("machine", self.machine.clone()),
            ("strategy", self.strategy.to_owned()),
            ("tile", plan::tile_text(self.strategy, &self.tile)),
            ("k", resident_text(self.k, !self.hyper_threading.is_empty())),
            ("time", format!("{} ({:.3} GStencil/s)", report::seconds(self.seconds), self.gstencil_per_s)),
            ("energy", joules(self.joules, "J")),
            ("power", joules(self.watts, "W")),
            ("bottleneck", self.bottleneck.to_owned()),
            ("feasible", if self.feasible { "yes" } else { "NO: see the constraints" }.to_owned()),
        ]);
        let terms = [
            ("compute", self.terms.compute),
            ("transfer", self.terms.transfer),
            ("barrier", self.terms.barrier),
            ("launch", self.terms.launch),
        ];
        let row =
            |(name, seconds): (&str, f64)| vec![name.to_owned(), report::seconds(seconds), share(seconds)];
        let rows: Vec<_> = terms.into_iter().map(row).collect();
        text += &format!("\n{}", report::table(&["term", "time", "share"], &rows, &[1, 2]));
        let mut rows = vec![vec![
            "ideal".to_owned(),
            report::seconds(self.ideal_s),
            share(self.ideal_s),
            "all lanes and cores busy, nothing else (eq. 6.3)".to_owned(),
        ]];
        rows.extend(self.losses.iter().map(|loss| {
            vec![
                loss.name.to_owned(),
                signed_seconds(loss.seconds),
                share(loss.seconds),
                loss.meaning.to_owned(),
            ]
        }));
        text += &format!(
            "\n{}",
            report::table(&["from ideal to real", "time", "share", "what it is"], &rows, &[1, 2])
        );
        let rows: Vec<_> = (self.constraints.iter())
            .map(|constraint| {
                let state = match (constraint.satisfied, constraint.active) {
                    (false, _) => "VIOLATED",
                    (true, true) => "active",
                    (true, false) => "",
                };
                vec![
                    constraint.name.to_owned(),
                    constraint.needed.to_string(),
                    constraint.limit.to_string(),
                    constraint.slack.to_string(),
                    state.to_owned(),
                ]
            })
            .collect();
        if !rows.is_empty() {
            text += &format!(
                "\n{}",
                report::table(&["constraint", "needed", "limit", "slack", ""], &rows, &[1, 2, 3])
            );
            if self.constraints.iter().any(|constraint| constraint.satisfied && constraint.active) {
                text += "(active: one more resident tile would break it)\n";
            }
        }
        let rows: Vec<_> = (self.sensitivities.iter())
            .map(|s| {
                vec![
                    s.parameter.to_owned(),
                    format!("{:.4e}", s.value),
                    format!("{:.3e}", s.derivative),
                    format!("{:+.3}", s.elasticity),
                ]
            })
            .collect();
        text += &format!(
            "\n{}",
            report::table(&["parameter", "value", "s per unit", "% per %"], &rows, &[1, 2, 3])
        );
        text += "(seconds that one unit more costs, and per cent of the time for each per cent of the parameter)\n";
        let rows: Vec<_> = (self.hyper_threading.iter())
            .map(|r| {
                vec![
                    r.k.to_string(),
                    report::seconds(r.seconds),
                    if r.feasible { "" } else { "does not fit" }.to_owned(),
                ]
            })
            .collect();
        if !rows.is_empty() {
            text += &format!("\n{}", report::table(&["k: resident tiles", "time", ""], &rows, &[0, 1]));
        }
        for note in &self.notes {
            text += &format!("\nnote: {note}\n");
        }
        text
    }

    fn passed(&self) -> bool {
        self.feasible
    }
}

/// `k`, and what it is; a core of a CPU has no choice.
pub fn resident_text(k: i64, gpu: bool) -> String {
    if gpu {
        format!("{} resident on a multiprocessor at a time", text::count(k.unsigned_abs(), "tile", "tiles"))
    } else {
        "a core works on one tile at a time".to_owned()
    }
}

/// [`report::seconds`], also of negative numbers.
fn signed_seconds(seconds: f64) -> String {
    if seconds < 0.0 { format!("-{}", report::seconds(-seconds)) } else { report::seconds(seconds) }
}
