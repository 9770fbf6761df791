//! `tilewright predict`: what a tile costs on a machine, and why.

use crate::arguments::{PlanArguments, Size, TimeModelArguments, some_steps_parser};
use crate::error::Result;
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{drawing, load, outputs, plan};
use clap::Args;
use cost_models::explain::{Number, Part};
use cost_models::gpu::TimeModel;
use hhc_codegen::strategy::AUTO;
use optimizer::{Method, Objective};
use plots::{Step, Waterfall};
use serde::Serialize;
use std::path::PathBuf;
use tilewright::model::{Model, Optimum, Predicted, Residence};
use tilewright::rivals::{Rival, rivals};
use tilewright::{machines, strategies, text};

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
    /// The form of the time model.
    #[command(flatten)]
    pub model: TimeModelArguments,
    /// Tiles resident on a multiprocessor at a time; the best that fits where not given
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(i64).range(1..=1024), allow_negative_numbers = true)]
    pub k: Option<i64>,
    /// Spread the grid over so many ranks of MPI, each on a machine with a network: how, how long it takes, and how it
    /// scales
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_000_000), allow_negative_numbers = true)]
    pub ranks: Option<i64>,
    /// Time steps between two exchanges of ghost zones; the best where not given
    #[arg(long, value_name = "N", requires = "ranks", value_parser = clap::value_parser!(i64).range(1..), allow_negative_numbers = true)]
    pub depth: Option<i64>,
    /// Draw where the time goes as a bar chart; with --ranks, how it scales
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
    /// Tile sizes as `--tile` takes them.
    pub tile_text: String,
    /// What the tile costs, and why.
    #[serde(flatten)]
    pub predicted: Predicted,
    /// The best tiles of all strategies, the one that is predicted first; empty where a strategy or a tile was given.
    pub strategies: Vec<Rival>,
    /// The drawing that `--svg` asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub svg: Option<PathBuf>,
    /// Facts worth knowing.
    pub notes: Vec<String>,
}

/// Predicts.
///
/// # Errors
/// Wrong input, or a tile that the strategy cannot have. A tile that does not fit the machine is no error but a report
/// that has not passed.
pub fn predict(arguments: &PredictArguments, session: &Session) -> Result<PredictReport> {
    let stencil = session.stage("read", || load::of_plan(&arguments.plan))?;
    let mut files = stencil.files.clone();
    files.extend(machines::file(&arguments.machine));
    outputs::check(&outputs::given([("--svg", &arguments.svg)]), &files)?;
    let machine = machines::machine(&arguments.machine)?;
    let model = session
        .stage("analyse", || Model::new(&stencil, &arguments.size.0, arguments.steps, machine, None))?;
    let model = arguments.model.of(model)?;
    let residence = arguments.k.map_or(Residence::Best, Residence::Of);
    let automatic = arguments.plan.strategy == AUTO && arguments.plan.tile.is_none();
    let (strategy, tile, optima) = if automatic {
        let Optimum { tuned, strategies: optima, .. } =
            session.stage("search", || model.tune(AUTO, Method::Exact, Objective::Time))?;
        (strategies::named(tuned.choice.strategy)?, tuned.choice.tile, optima)
    } else {
        let strategy = strategies::named_for(&arguments.plan.strategy, &stencil.program)?;
        (strategy, model.complete(strategy, arguments.plan.tile.as_ref())?, Vec::new())
    };
    let report = PredictReport {
        stencil: stencil.program.name.clone(),
        machine: model.machine().name.clone(),
        tile_text: tile.to_string(),
        predicted: model.predict(strategy, &tile, residence)?,
        strategies: rivals(&optima),
        svg: arguments.svg.clone(),
        notes: model
            .caution()
            .into_iter()
            .chain(sizes_chosen(arguments, automatic))
            .chain(strategy.needs_spare_slots(&stencil.program).then(|| SPARE.to_owned()))
            .collect(),
    };
    drawn(&report)?;
    Ok(report)
}

/// What a plan with spare slots takes besides.
const SPARE: &str = "fields that change take twice the memory of the device: while blocks of a launch read the levels of one \
                     half, others write those of the other one";

/// Who chose the sizes, where nobody gave any.
fn sizes_chosen(arguments: &PredictArguments, automatic: bool) -> Option<String> {
    let note = match automatic {
        true => "no --tile was given: this is the best tile of the best strategy by the model",
        false => "no --tile was given: these are default sizes; `tilewright tune` finds the best",
    };
    arguments.plan.tile.is_none().then(|| note.to_owned())
}

/// Draws, where a drawing was asked for.
fn drawn(report: &PredictReport) -> Result<()> {
    let Some(path) = &report.svg else { return Ok(()) };
    let own = &report.predicted;
    let step = |name: &str, seconds: f64, meaning: &str| Step {
        name: name.replace('_', " "),
        value: seconds,
        meaning: meaning.to_owned(),
    };
    let losses = own.explanation.losses.iter();
    let waterfall = Waterfall {
        title: format!(
            "{} {}, {} steps, on {}: {}",
            report.stencil,
            text::size(&own.size),
            own.steps,
            report.machine,
            report::seconds(own.seconds)
        ),
        subtitle: format!(
            "{}, {}, k = {}; per cent: share of the whole",
            own.strategy, report.tile_text, own.k
        ),
        x_label: "predicted time".to_owned(),
        y_label: "from ideal to real".to_owned(),
        first: step("ideal", own.explanation.ideal_s, "all lanes busy, nothing else"),
        steps: losses.map(|loss| step(loss.name, loss.seconds, loss.meaning)).collect(),
        last: step("predicted", own.seconds, "the sum"),
        width: 760.0,
    };
    drawing::write(path, waterfall.chart().svg())
}

impl Report for PredictReport {
    const SCHEMA: &'static str = "tilewright.predict/1";

    fn text(&self) -> String {
        let own = &self.predicted;
        let why = &own.explanation;
        let share = |seconds: f64| format!("{:.1} %", 100.0 * seconds / own.seconds);
        let joules = |joules: Option<f64>, unit: &str| {
            joules.map_or("not known: the machine file has no energies".to_owned(), |j| {
                format!("{j:.4} {unit}")
            })
        };
        let mut text = report::pairs(&[
            ("stencil", format!("{}, {}, {} steps", self.stencil, text::size(&own.size), own.steps)),
            ("machine", self.machine.clone() + &model_text(own.model)),
            ("strategy", own.strategy.to_owned()),
            ("tile", plan::tile_text(own.strategy, &own.tile)),
            ("k", resident_text(own.k, !own.hyper_threading.is_empty())),
            ("time", format!("{} ({:.3} GStencil/s)", report::seconds(own.seconds), own.gstencil_per_s)),
            ("energy", joules(own.joules, "J")),
            ("power", joules(own.watts, "W")),
            ("bottleneck", why.bottleneck.to_owned()),
            ("feasible", if own.feasible { "yes" } else { "NO: see the constraints" }.to_owned()),
        ]);
        let terms = [
            ("compute", own.terms.compute),
            ("transfer", own.terms.transfer),
            ("barrier", own.terms.barrier),
            ("launch", own.terms.launch),
        ];
        text += &rivals_text(&self.strategies);
        let row =
            |(name, seconds): (&str, f64)| vec![name.to_owned(), report::seconds(seconds), share(seconds)];
        let rows: Vec<_> = terms.into_iter().map(row).collect();
        text += &format!("\n{}", report::table(&["term", "time", "share"], &rows, &[1, 2]));
        let mut rows = vec![vec![
            "ideal".to_owned(),
            report::seconds(why.ideal_s),
            share(why.ideal_s),
            "all lanes and cores busy, nothing else (eq. 6.3)".to_owned(),
        ]];
        rows.extend(why.losses.iter().map(|loss| {
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
        let rows: Vec<_> = (own.constraints.iter())
            .map(|constraint| {
                let state = match (constraint.satisfied, constraint.active) {
                    (false, _) if constraint.hard => "VIOLATED",
                    (false, _) => "exceeded",
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
            if own.constraints.iter().any(|constraint| constraint.satisfied && constraint.active) {
                text += "(active: one more resident tile would break it)\n";
            }
            if own.constraints.iter().any(|constraint| !constraint.satisfied && !constraint.hard) {
                text += "(exceeded: lines move more often, which the times have in them)\n";
            }
        }
        let rows: Vec<_> = (why.sensitivities.iter())
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
        let rows: Vec<_> = (own.hyper_threading.iter())
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
        text += "\n";
        for part in &why.breakdown {
            text += &formula_text(part);
        }
        for note in &self.notes {
            text += &format!("\nnote: {note}\n");
        }
        text
    }

    fn passed(&self) -> bool {
        self.predicted.feasible
    }
}

/// The strategies side by side; nothing where there is one.
fn rivals_text(rivals: &[Rival]) -> String {
    let row = |own: &Rival| match (&own.tile, own.seconds, own.times) {
        (Some(tile), Some(seconds), Some(times)) => {
            let most = own.most.and(own.more).map(|more| more.largest());
            let because = most.map(|(term, more)| format!("{term} +{}", report::seconds(more)));
            let because = because.unwrap_or_default();
            vec![
                own.strategy.to_owned(),
                tile.to_string(),
                report::seconds(seconds),
                format!("{times:.3}"),
                because,
            ]
        }
        _ => vec![own.strategy.to_owned(), own.reason.clone().unwrap_or_default()],
    };
    if rivals.is_empty() {
        return String::new();
    }
    let rows: Vec<_> = rivals.iter().map(row).collect();
    let header = ["strategy", "best tile", "time", "times the best", "most of the difference"];
    format!("\n{}", report::table(&header, &rows, &[2, 3]))
}

/// The form of the time model, behind the name of the machine; nothing for a CPU.
pub fn model_text(form: Option<TimeModel>) -> String {
    form.map(|form| format!(" (time model: {form})")).unwrap_or_default()
}

/// `k`, and what it is; a core of a CPU has no choice.
pub fn resident_text(k: i64, gpu: bool) -> String {
    if gpu {
        format!("{} resident on a multiprocessor at a time", text::count(k.unsigned_abs(), "tile", "tiles"))
    } else {
        "a core works on one tile at a time".to_owned()
    }
}

/// A term with its formula, and the numbers in it.
fn formula_text(part: &Part) -> String {
    let kernel = if part.kernel == 0 { String::new() } else { format!(" (kernel {})", part.kernel) };
    let formula = format!("{} = {} {}", part.formula, number_text(part.value), part.unit);
    let first = wrapped(&format!("{}{kernel} = ", part.name), formula.split_inclusive(" + "));
    let numbers: Vec<String> = part.numbers.iter().map(|number| own_text(number) + ", ").collect();
    let second = wrapped("    ", numbers.iter().map(String::as_str));
    first + "\n" + second.trim_end().trim_end_matches(',') + if numbers.is_empty() { "" } else { "\n" }
}

fn own_text(number: &Number) -> String {
    let text = format!("{} = {} {}", number.symbol, number_text(number.value), number.unit);
    text.trim_end().to_owned()
}

/// Counts as they are, other numbers with five digits.
fn number_text(value: f64) -> String {
    match value.abs() {
        size if size < 1e9 && value.fract() == 0.0 => format!("{value}"),
        size if (0.1..1e5).contains(&size) => format!("{value:.3}"),
        _ => format!("{value:.4e}"),
    }
}

/// Pieces in lines of about a hundred columns; what begins the first one is left free in the others.
fn wrapped<'a>(begin: &str, pieces: impl Iterator<Item = &'a str>) -> String {
    let (mut text, mut column) = (begin.to_owned(), begin.len());
    for piece in pieces {
        if column + piece.len() > 100 && column > begin.len() {
            text.truncate(text.trim_end().len());
            text += &format!("\n{}", " ".repeat(begin.len()));
            column = begin.len();
        }
        text += piece;
        column += piece.len();
    }
    text
}

/// [`report::seconds`], also of negative numbers.
fn signed_seconds(seconds: f64) -> String {
    if seconds < 0.0 { format!("-{}", report::seconds(-seconds)) } else { report::seconds(seconds) }
}
