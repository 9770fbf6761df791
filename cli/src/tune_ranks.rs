//! `tilewright tune --ranks`: decomposition, depth of ghost zones and tile of a program on many computers with a network.

use crate::error::{Error, Result};
use crate::load;
use crate::predict_ranks::notes;
use crate::progress::Session;
use crate::report::{self, Report};
use crate::tune::{FormulationName, TuneArguments};
use optimizer::{Method, Objective};
use serde::Serialize;
use tilewright::cluster::{Cluster, OnCluster};
use tilewright::ranks::product_text;
use tilewright::{machines, text};

/// The report of `tune --ranks`.
#[derive(Debug, Serialize)]
pub struct TuneRanksReport {
    /// Name of the stencil.
    pub stencil: String,
    /// Name of the machine that each rank has.
    pub machine: String,
    /// Time steps.
    pub steps: i64,
    /// The fastest, by the models.
    #[serde(flatten)]
    pub own: OnCluster,
    /// All decompositions that were looked at, each with the depth and the tile that suit it, the fastest first.
    pub decompositions: Vec<OnCluster>,
    /// The command that runs it.
    pub command: String,
    /// Facts worth knowing.
    pub notes: Vec<String>,
}

/// Tunes.
///
/// # Errors
/// Wrong input; a machine without a network; ranks for which the grid is too small; options that are of one computer.
pub fn tune(arguments: &TuneArguments, ranks: i64, session: &Session) -> Result<TuneRanksReport> {
    let one_computer = [
        ("--certificate", arguments.certificate.is_some()),
        ("--objective", arguments.objective.objective() != Objective::Time),
        ("--method", arguments.method.method() != Method::Exact),
        ("--formulation", matches!(arguments.formulation, FormulationName::Parts)),
    ];
    if let Some((option, _)) = one_computer.into_iter().find(|(_, given)| *given) {
        return Err(Error::wrong_input(format!("{option} is of one computer, and --ranks of many"))
            .hint("leave one of them out"));
    }
    let stencil = session.stage("read", || load::load(&arguments.spec, arguments.dtype, &arguments.c))?;
    let machine = machines::machine(&arguments.machine)?;
    let cluster = Cluster::new(&stencil, &machine, &arguments.strategy, arguments.depth)?;
    let size = &arguments.size.0;
    let decompositions = session.stage("search", || cluster.tune(size, arguments.steps, ranks))?;
    let own = decompositions[0].clone();
    let blocking = if own.overlapped { "" } else { " --blocking" };
    let command = format!(
        "mpirun -n {ranks} tilewright run {} --size {} --steps {} --ranks {} --depth {} --strategy {} --tile {}{blocking}",
        shlex::try_quote(&arguments.spec).unwrap_or_default(),
        text::size(size),
        arguments.steps,
        product_text(&own.counts),
        own.depth,
        own.strategy,
        own.tile,
    );
    Ok(TuneRanksReport {
        stencil: stencil.program.name.clone(),
        machine: machine.name.clone(),
        steps: arguments.steps,
        notes: notes(&own, &machine),
        own,
        decompositions,
        command,
    })
}

impl Report for TuneRanksReport {
    const SCHEMA: &'static str = "tilewright.tune-ranks/1";

    fn text(&self) -> String {
        let own = &self.own;
        let mut text = report::pairs(&[
            ("stencil", format!("{}, {}, {} steps", self.stencil, text::size(&own.size), self.steps)),
            ("machine", self.machine.clone()),
            ("ranks", format!("{} ({})", own.ranks, product_text(&own.counts))),
            ("depth", text::count(own.depth.unsigned_abs(), "step", "steps") + " between two exchanges"),
            ("strategy", own.strategy.to_owned()),
            ("tile", own.tile.clone()),
            ("time", report::seconds(own.seconds)),
            ("command", self.command.clone()),
        ]);
        let row = |own: &OnCluster| {
            let share = |seconds: f64| format!("{:.1} %", 100.0 * seconds / own.seconds);
            vec![
                product_text(&own.counts),
                own.depth.to_string(),
                format!("{} {}", own.strategy, own.tile),
                report::seconds(own.seconds),
                share(own.redundant_s),
                share(own.exchange_s + own.packing_s),
                report::bytes(own.memory_bytes as f64),
            ]
        };
        let header = ["cut", "depth", "tile", "time", "redundant", "exchange", "memory"];
        let rows: Vec<_> = self.decompositions.iter().map(row).collect();
        text += &format!("\n{}", report::table(&header, &rows, &[1, 3, 4, 5, 6]));
        for note in &self.notes {
            text += &format!("\nnote: {note}\n");
        }
        text
    }
}
