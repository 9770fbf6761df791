//! `tilewright calibrate --mpi`: what messages between two ranks of MPI cost, added to a machine.

use crate::calibrate::CalibrateArguments;
use crate::error::{Error, Result};
use crate::printed::Printed;
use crate::progress::Session;
use crate::report::{self, Report};
use crate::run_ranks::joined;
use cost_models::machine::{Network, Provenance, Quantity};
use execution::ranks::World;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use tilewright::on_ranks;
use tilewright::{machines, state};

/// Bytes of messages whose time is nearly all latency, and of two that tell the bandwidth by their difference.
const BYTES: [i32; 3] = [8, 1 << 20, 4 << 20];
/// Messages of each in a round, of which the fastest counts.
const MESSAGES: [i32; 3] = [2000, 20, 10];

/// The report of `calibrate --mpi`.
#[derive(Debug, Serialize)]
pub struct NetworkReport {
    /// The machine file.
    pub file: PathBuf,
    /// Name of the machine.
    pub machine: String,
    /// Seconds of the shortest message.
    pub latency_s: f64,
    /// Bytes per second of long ones.
    pub bandwidth_bytes_per_s: f64,
    /// Facts worth knowing.
    pub notes: Vec<String>,
}

/// Measures between the first and the last rank; the first one writes and reports.
///
/// # Errors
/// Wrong input, a single rank, what MPI says.
pub fn calibrate(arguments: &CalibrateArguments, session: &Session) -> Result<Printed> {
    let world = World::start()?;
    let outcome = on_ranks::all_or_none(&world, measured(arguments, &world));
    let first = world.rank == 0;
    world.stop()?;
    match outcome {
        Ok(report) if first => Printed::of(&report, session),
        Ok(_) => Ok(Printed::nothing(0)),
        Err(error) if on_ranks::is_elsewhere(&error) => Ok(Printed::nothing(0)),
        Err(error) => Err(error),
    }
}

/// The median of measurements, and how far they are spread.
fn quantity(mut values: Vec<f64>) -> Quantity {
    values.sort_by(f64::total_cmp);
    let median = values.get(values.len() / 2).copied().unwrap_or(0.0);
    let mut away: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    away.sort_by(f64::total_cmp);
    Quantity {
        value: median,
        dispersion: Some(away.get(away.len() / 2).copied().unwrap_or(0.0)),
        runs: Some(values.len() as i64),
    }
}

fn measured(arguments: &CalibrateArguments, world: &World) -> Result<NetworkReport> {
    joined(world)?;
    if world.count < 2 {
        return Err(Error::wrong_input("messages need two ranks")
            .hint("mpirun -n 2 --map-by node tilewright calibrate --mpi .."));
    }
    let given = (!arguments.stencil.is_empty(), arguments.quick, arguments.threads.is_some());
    if given != (false, false, false) {
        return Err(Error::wrong_input("--mpi measures messages alone")
            .hint("leave out --stencil, --quick and --threads"));
    }
    let output = state::machine_to_write(&arguments.output)?;
    let there = || output.to_str().filter(|_| output.exists()).map(str::to_owned);
    let Some(base) = arguments.machine.clone().or_else(there) else {
        return Err(Error::wrong_input("there is no machine to add the network to")
            .hint("name the calibrated machine of one computer with --machine"));
    };
    let mut machine = machines::machine(&base)?;
    let (mut latencies, mut bandwidths) = (Vec::new(), Vec::new());
    let bandwidth = |seconds: [f64; 3]| {
        (seconds[2] > seconds[1]).then(|| f64::from(BYTES[2] - BYTES[1]) / (seconds[2] - seconds[1]))
    };
    let mut least = [f64::INFINITY; 3];
    for _ in 0..arguments.rounds.max(3) {
        let mut seconds = [0.0; 3];
        for ((seconds, bytes), messages) in seconds.iter_mut().zip(BYTES).zip(MESSAGES) {
            *seconds = world.way(bytes, messages)?;
        }
        latencies.push(seconds[0]);
        bandwidths.extend(bandwidth(seconds));
        least = [0, 1, 2].map(|at| least[at].min(seconds[at]));
    }
    // Where others use the processors, each round may have been disturbed somewhere, and hardly each size in each of them.
    if bandwidths.is_empty() {
        bandwidths.extend(bandwidth(least));
    }
    let silent = latencies.contains(&0.0) || bandwidths.is_empty();
    if silent && (world.rank == 0 || world.rank + 1 == world.count) {
        return Err(Error::infeasible("the messages took no measurable time").hint("measure again"));
    }
    let network = Network {
        provenance: Provenance::Measured,
        source: format!("tilewright {} calibrate --mpi", env!("CARGO_PKG_VERSION")),
        latency_s: quantity(latencies),
        bandwidth_bytes_per_s: quantity(bandwidths),
    };
    let mut notes = Vec::new();
    if world.here == world.count {
        notes.push(
            "all ranks are on one computer: these are the costs of its memory, not those of a network"
                .to_owned(),
        );
    }
    if let Some(name) = &arguments.name {
        machine.name.clone_from(name);
    }
    let (latency_s, bandwidth_bytes_per_s) = (network.latency_s.value, network.bandwidth_bytes_per_s.value);
    machine.network = Some(network);
    if world.rank == 0 {
        execution::output_file::write(&output, |file| file.write_all(machine.to_toml().as_bytes()))?;
    }
    Ok(NetworkReport { file: output, machine: machine.name, latency_s, bandwidth_bytes_per_s, notes })
}

impl Report for NetworkReport {
    const SCHEMA: &'static str = "tilewright.calibrate-mpi/1";

    fn text(&self) -> String {
        let mut text = report::pairs(&[
            ("machine", self.machine.clone()),
            ("latency", format!("{:.2} us per message, one way", 1e6 * self.latency_s)),
            ("bandwidth", format!("{:.2} GB/s, one way", 1e-9 * self.bandwidth_bytes_per_s)),
            ("file", self.file.display().to_string()),
        ]);
        for note in &self.notes {
            text += &format!("\nnote: {note}\n");
        }
        text
    }
}
