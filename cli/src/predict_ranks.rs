//! `tilewright predict --ranks`: a program on many computers with a network.

use crate::error::{Error, Result};
use crate::predict::PredictArguments;
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{drawing, load, outputs};
use cost_models::machine::Machine;
use plots::{Axis, Chart, Layer, Point, Scale, Series};
use serde::Serialize;
use std::path::PathBuf;
use tilewright::cluster::{Cluster, OnCluster, Scaled, Scaling};
use tilewright::ranks::product_text;
use tilewright::{machines, text};

/// The report of `predict --ranks`.
#[derive(Debug, Serialize)]
pub struct PredictRanksReport {
    /// Name of the stencil.
    pub stencil: String,
    /// Name of the machine that each rank has.
    pub machine: String,
    /// Time steps.
    pub steps: i64,
    /// What so many ranks take.
    #[serde(flatten)]
    pub own: OnCluster,
    /// Fewer ranks.
    #[serde(flatten)]
    pub scaling: Scaling,
    /// The drawing that `--svg` asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub svg: Option<PathBuf>,
    /// Facts worth knowing.
    pub notes: Vec<String>,
}

/// Predicts.
///
/// # Errors
/// Wrong input; a machine without a network; ranks for which the grid is too small.
pub fn predict(arguments: &PredictArguments, ranks: i64, session: &Session) -> Result<PredictRanksReport> {
    if arguments.plan.tile.is_some() || arguments.k.is_some() {
        return Err(Error::wrong_input("--ranks chooses tile sizes together with ghost zones")
            .hint("leave out --tile and --k"));
    }
    let stencil = session.stage("read", || load::of_plan(&arguments.plan))?;
    let mut files = stencil.files.clone();
    files.extend(machines::file(&arguments.machine));
    outputs::check(&outputs::given([("--svg", &arguments.svg)]), &files)?;
    let machine = machines::machine(&arguments.machine)?;
    let size = &arguments.size.0;
    let cluster = Cluster::new(&stencil, &machine, &arguments.plan.strategy, arguments.depth)?;
    let own = session.stage("search", || cluster.predict(size, arguments.steps, ranks))?;
    let scaling = session.stage("scaling", || cluster.scaling(size, arguments.steps, ranks))?;
    let notes = notes(&own, &machine);
    let report = PredictRanksReport {
        stencil: stencil.program.name.clone(),
        machine: machine.name.clone(),
        steps: arguments.steps,
        own,
        scaling,
        svg: arguments.svg.clone(),
        notes,
    };
    if let Some(path) = &report.svg {
        drawing::write(path, report.chart().svg())?;
    }
    Ok(report)
}

/// What holds of a prediction for ranks.
pub fn notes(own: &OnCluster, machine: &Machine) -> Vec<String> {
    let usual = "each rank has a machine of its own; the network has room for all ranks at once".to_owned();
    let memory = machine.cpu().map_or(f64::INFINITY, |cpu| cpu.memory_bytes);
    let much = (own.memory_bytes as f64 > memory)
        .then(|| format!("a rank's arrays do not fit into the {} of a machine", report::bytes(memory)));
    [usual].into_iter().chain(much).collect()
}

impl PredictRanksReport {
    /// Efficiency by the number of ranks.
    fn chart(&self) -> Chart {
        let points = |rows: &[Scaled]| {
            let point = |row: &Scaled| {
                let title = format!(
                    "{} ({}): {:.1} %",
                    text::count(row.own.ranks.unsigned_abs(), "rank", "ranks"),
                    product_text(&row.own.counts),
                    100.0 * row.efficiency
                );
                Point::new(row.own.ranks as f64, row.efficiency, title)
            };
            rows.iter().map(point).collect()
        };
        let size = text::size(&self.own.size);
        let names = [format!("strong: {size} in all"), format!("weak: {size} for each rank")];
        let [strong, weak] = [points(&self.scaling.strong), points(&self.scaling.weak)];
        let [first, second] = names;
        Chart {
            title: format!("{} on ranks of {}", self.stencil, self.machine),
            subtitle: format!("predicted, {} steps", self.steps),
            description: "Efficiency by the number of ranks, for a grid that stays and one that grows"
                .to_owned(),
            x: Axis::new("ranks").scale(Scale::Logarithmic),
            y: Axis::new("efficiency").from_zero(),
            layers: vec![
                Layer::Series(Series::line(0, first, strong)),
                Layer::Series(Series::line(1, second, weak)),
            ],
            size: (760.0, 420.0),
        }
    }
}

/// The rows of a table of ranks.
fn rows(all: &[Scaled]) -> Vec<Vec<String>> {
    let row = |row: &Scaled| {
        let own = &row.own;
        let share = |seconds: f64| format!("{:.1} %", 100.0 * seconds / own.seconds);
        vec![
            own.ranks.to_string(),
            product_text(&own.counts),
            own.depth.to_string(),
            own.tile.clone(),
            report::seconds(own.seconds),
            format!("{:.3}", row.efficiency),
            share(own.redundant_s),
            share(own.exchange_s + own.packing_s),
            report::bytes(own.memory_bytes as f64),
        ]
    };
    all.iter().map(row).collect()
}

impl Report for PredictRanksReport {
    const SCHEMA: &'static str = "tilewright.predict-ranks/1";

    fn text(&self) -> String {
        let own = &self.own;
        let share =
            |seconds: f64| format!("{} ({:.1} %)", report::seconds(seconds), 100.0 * seconds / own.seconds);
        let overlap = if own.overlapped {
            "while messages are under way"
        } else {
            "--blocking is predicted to be faster"
        };
        let mut text = report::pairs(&[
            ("stencil", format!("{}, {}, {} steps", self.stencil, text::size(&own.size), self.steps)),
            ("machine", self.machine.clone()),
            (
                "ranks",
                format!(
                    "{} ({}), an exchange every {}, {overlap}",
                    own.ranks,
                    product_text(&own.counts),
                    text::count(own.depth.unsigned_abs(), "step", "steps")
                ),
            ),
            ("strategy", own.strategy.to_owned()),
            ("tile", own.tile.clone()),
            ("time", report::seconds(own.seconds)),
            ("own points", share(own.compute_s)),
            ("redundant work", share(own.redundant_s)),
            ("messages", share(own.exchange_s)),
            ("packing", share(own.packing_s)),
            ("imbalance", format!("{:.3}", own.imbalance)),
            ("memory", format!("{} for the arrays of a rank", report::bytes(own.memory_bytes as f64))),
            (
                "sent",
                format!(
                    "{} with {} in {}",
                    text::count(own.sent.messages, "message", "messages"),
                    report::bytes(own.sent.bytes as f64),
                    text::count(own.sent.bands, "exchange", "exchanges")
                ),
            ),
        ]);
        let header =
            ["ranks", "cut", "depth", "tile", "time", "efficiency", "redundant", "exchange", "memory"];
        for (what, all) in
            [("the same grid", &self.scaling.strong), ("a grid for each rank", &self.scaling.weak)]
        {
            text += &format!("\n{what}\n{}", report::table(&header, &rows(all), &[0, 2, 4, 5, 6, 7, 8]));
        }
        for note in &self.notes {
            text += &format!("\nnote: {note}\n");
        }
        text
    }
}
