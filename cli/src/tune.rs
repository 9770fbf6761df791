//! `tilewright tune`: the best tile sizes of the model, with a certificate.

use crate::arguments::{CArguments, ElementTypeName, Size, TimeModelArguments, some_steps_parser};
use crate::error::{Error, Result};
use crate::predict::{model_text, resident_text};
use crate::progress::Session;
use crate::report::{self, Report};
use crate::strategies::NameParser;
use crate::{load, outputs, plan};
use clap::{Args, ValueEnum};
use cost_models::energy::EnergyTerms;
use cost_models::explain::Explanation;
use cost_models::gpu::TimeModel;
use cost_models::memory::Constraint;
use cost_models::time::Terms;
use execution::output_file;
use hhc_codegen::TileSizes;
use hhc_codegen::strategy;
use hhc_codegen::strategy::AUTO;
use optimizer::{Method, Objective, Part, Relaxed, SubProblem, Tuned};
use polyhedral::program::Program;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use tilewright::certified::certified;
use tilewright::model::{Model, Optimum};
use tilewright::{machines, text};

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
    /// The form of the time model.
    #[command(flatten)]
    pub model: TimeModelArguments,
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
    /// Spread the grid over so many ranks of MPI, each on a machine with a network: decomposition, depth of ghost zones and
    /// tile are chosen together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_000_000), allow_negative_numbers = true)]
    pub ranks: Option<i64>,
    /// Time steps between two exchanges of ghost zones; the best where not given
    #[arg(long, value_name = "N", requires = "ranks", value_parser = clap::value_parser!(i64).range(1..), allow_negative_numbers = true)]
    pub depth: Option<i64>,
    /// Write the evidence that no tile is better, for `tilewright check-certificate` (GPUs; method exact)
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
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
    /// The form of the time model, `counted` or `paper`; null for a CPU.
    pub model: Option<TimeModel>,
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
    /// Where the predicted energy goes, in joules; null where the machine has no energy constants.
    pub energy_terms: Option<EnergyTerms>,
    /// Why the tile costs what it costs.
    #[serde(flatten)]
    pub explanation: Explanation,
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
    /// The file with the evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
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
    let inputs = [Some(PathBuf::from(&arguments.spec)), machines::file(&arguments.machine)];
    let inputs: Vec<PathBuf> = inputs.into_iter().flatten().collect();
    outputs::check(&outputs::given([("--certificate", &arguments.certificate)]), &inputs)?;
    if arguments.certificate.is_some() && arguments.method.method() != Method::Exact {
        let message = "--certificate is of the exact search: the other methods bound nothing";
        return Err(Error::wrong_input(message).hint("use --method exact"));
    }
    let stencil = session.stage("read", || load::load(&arguments.spec, arguments.dtype, &arguments.c))?;
    let program = &stencil.program;
    let machine = machines::machine(&arguments.machine)?;
    let model = session
        .stage("analyse", || Model::new(&stencil, &arguments.size.0, arguments.steps, machine, None))?;
    let model = arguments.model.of(model)?;
    let (method, objective) = (arguments.method.method(), arguments.objective.objective());
    let parts = match arguments.formulation {
        FormulationName::Minimum => Vec::new(),
        FormulationName::Parts => session.stage("parts", || model.parts(&arguments.strategy, objective))?,
    };
    let optimum = session.stage("search", || model.tune(&arguments.strategy, method, objective))?;
    let mut report = TuneReport { parts, ..report(arguments, program, &model, optimum) };
    if let Some(path) = &arguments.certificate {
        let (_, certificate) =
            session.stage("certificate", || certified(&model, &arguments.strategy, objective))?;
        let kinds = certificate.claim.passed_over.len();
        if kinds > 0 {
            report.notes.push(format!(
                "the certificate leaves out {kinds} kinds of tiles on a compiler's word: `tilewright check-certificate` \
                 asks for --accept-passed-over"
            ));
        }
        let text = certificate.to_json();
        output_file::write(path, |file| file.write_all(text.as_bytes()))?;
        report.certificate = Some(path.clone());
    }
    Ok(report)
}

fn report(arguments: &TuneArguments, program: &Program, model: &Model, optimum: Optimum) -> TuneReport {
    let Optimum { tuned, explanation, strategies, notes } = optimum;
    let objective = arguments.objective.objective();
    let certificate = tuned.certificate;
    let by_paper = objective == Objective::Power && model.form() == Some(TimeModel::Counted);
    let form = if by_paper { Some(TimeModel::Paper) } else { model.form() };
    let note = "power was minimised by the paper's form of the time model: nothing bounds the counted one from above";
    let notes = notes.into_iter().chain(model.caution()).chain(each_counted(&tuned));
    let notes = notes.chain(by_paper.then(|| note.to_owned())).collect();
    TuneReport {
        stencil: program.name.clone(),
        machine: model.machine().name.clone(),
        size: arguments.size.0.clone(),
        steps: arguments.steps,
        tile_text: tuned.choice.tile.to_string(),
        strategy: tuned.choice.strategy,
        model: form,
        k: tuned.choice.k,
        seconds: tuned.evaluation.prediction.seconds,
        joules: tuned.evaluation.joules(),
        watts: tuned.evaluation.watts(),
        objective: objective.name(),
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
        strategies: strategies.iter().map(StrategyOptimum::of).collect(),
        parts: Vec::new(),
        energy_terms: tuned.evaluation.energy,
        explanation,
        notes,
        certificate: None,
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
    fn of(solved: &SubProblem) -> StrategyOptimum {
        let tuned = solved.result.as_ref().ok();
        StrategyOptimum {
            strategy: solved.strategy,
            tile_text: tuned.map(|tuned| tuned.choice.tile.to_string()),
            k: tuned.map(|tuned| tuned.choice.k),
            value: tuned.map(|tuned| tuned.certificate.value),
            reason: solved.result.as_ref().err().map(ToString::to_string),
        }
    }
}

impl TuneReport {
    /// The largest term, and the largest loss.
    fn bottleneck(&self) -> String {
        let why = &self.explanation;
        let percent = |seconds: f64| 100.0 * seconds / self.seconds;
        let most = why.losses.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let lost = most.map_or(String::new(), |loss| {
            format!("; most is lost to {}, {:.1} %: {}", loss.name, percent(loss.seconds), loss.meaning)
        });
        format!("{}; an ideal machine takes {:.1} % of the time{lost}", why.bottleneck, percent(why.ideal_s))
    }

    fn rounding(&self) -> String {
        let unknown = match self.model {
            Some(TimeModel::Counted) => "known of the paper's form only (--model paper)",
            _ => "nothing to vary",
        };
        self.relaxed.map_or(unknown.to_owned(), |relaxed| {
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
            None => "none: the closed form looks at large faces that fill rounds of tiles".to_owned(),
        };
        let certificate = match &self.certificate {
            Some(path) => format!("{certificate}\nevidence in {}", path.display()),
            None => certificate,
        };
        let known = |value: Option<f64>, unit: &str| {
            value.map_or("not known: the machine file has no energies".to_owned(), |value| {
                format!("{value:.4} {unit}")
            })
        };
        let mut text = report::pairs(&[
            ("stencil", format!("{}, {}, {} steps", self.stencil, text::size(&self.size), self.steps)),
            ("machine", self.machine.clone() + &model_text(self.model)),
            ("objective", self.objective.to_owned()),
            ("strategy", self.strategy.to_owned()),
            ("tile", plan::tile_text(self.strategy, &self.tile)),
            // What limits residence is known of GPUs only.
            ("k", resident_text(self.k, self.constraints.iter().any(|constraint| constraint.hard))),
            ("time", report::seconds(self.seconds)),
            ("bottleneck", self.bottleneck()),
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
