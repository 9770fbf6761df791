//! `tilewright calibrate`: what the models must know about this machine, measured.

use crate::arguments::{CalibrateArguments, CalibratedBackend};
use crate::error::{Error, Result};
use crate::load;
use crate::progress::Session;
use crate::report::{self, Report};
use cost_models::machine::Machine;
use execution::calibrate::{self, CpuRequest};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Stencils that are measured where none is named: those of the paper, and the kinds of rows that differ most.
const STENCILS: [&str; 9] = [
    "heat2d",
    "jacobi2d",
    "gradient2d",
    "laplacian2d",
    "heat3d",
    "laplacian3d",
    "star2d2r",
    "jacobi1d",
    "heat1d",
];

/// The report of `calibrate`.
#[derive(Debug, Serialize)]
pub struct CalibrateReport {
    /// The machine file.
    pub file: PathBuf,
    /// What was measured on.
    pub backend: &'static str,
    /// Name of the machine.
    pub machine: String,
    /// Seconds per word of 4 bytes between memory and a core, all cores at work.
    pub l_s_per_word: f64,
    /// Seconds at the end of a row of a tile.
    pub tau_sync_s: f64,
    /// Seconds per parallel region.
    pub t_sync_s: f64,
    /// Stencils whose bodies were measured.
    pub stencils: Vec<Body>,
    /// Joules per word, operation and second; null where no meter could be read.
    pub energy: Option<()>,
    /// Rounds that other programs disturbed.
    pub disturbed_rounds: usize,
    /// Wall time.
    pub elapsed_s: f64,
    /// Facts worth knowing.
    pub notes: Vec<String>,
}

/// The costs of one stencil.
#[derive(Debug, Serialize)]
pub struct Body {
    /// Name.
    pub stencil: String,
    /// Element type.
    pub dtype: String,
    /// Seconds of one point of one statement on one lane.
    pub c_iter_s: f64,
    /// Seconds of one point of one statement on one core.
    pub point_s: f64,
    /// Root of the mean squared relative error with which calls, runs and blocks explain the measurements.
    pub relative_error: f64,
    /// Median relative dispersion.
    pub dispersion: f64,
}

/// Calibrates.
///
/// # Errors
/// Wrong input; a missing device or compiler.
pub fn calibrate(arguments: &CalibrateArguments, session: &Session) -> Result<CalibrateReport> {
    match arguments.backend {
        CalibratedBackend::OpenMp => openmp(arguments, session),
        CalibratedBackend::Cuda => {
            let device = execution::cuda::is_available()?;
            Err(Error::infeasible(format!(
                "limitation: calibration of a GPU is not in this version (found: {})",
                device.name
            ))
            .hint("the shipped machine files have published facts: `tilewright list`"))
        }
    }
}

fn openmp(arguments: &CalibrateArguments, session: &Session) -> Result<CalibrateReport> {
    let start = std::time::Instant::now();
    let names: Vec<String> = match arguments.stencil.as_slice() {
        [] => STENCILS.map(str::to_owned).to_vec(),
        some => some.to_vec(),
    };
    let programs =
        names.iter().map(|name| load::program(name, arguments.dtype)).collect::<Result<Vec<_>>>()?;
    let threads = arguments.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        |threads| threads as usize,
    );
    let name = arguments.output.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let request = CpuRequest {
        name: arguments.name.clone().or(name).unwrap_or_else(|| "this-cpu".to_owned()),
        programs,
        threads,
        rounds: arguments.rounds as usize,
        source: format!("tilewright {} calibrate --backend openmp", env!("CARGO_PKG_VERSION")),
    };
    let calibrated = session.stage_of("calibrate", 1000, |progress| {
        let mut shown = String::new();
        calibrate::cpu(&request, &mut |what, part| {
            progress.done((1000.0 * part) as i64);
            if shown != what {
                report::print_stderr(&format!("measuring {what}"));
                shown = what.to_owned();
            }
        })
    })?;
    let machine = calibrated.machine;
    execution::output_file::write(&arguments.output, |file| file.write_all(machine.to_toml().as_bytes()))?;
    let mut notes =
        vec!["energies: not measured on this back end in this version; the file has none".to_owned()];
    if calibrated.disturbed > 0 {
        notes.push(format!(
            "other programs were running: {} were disturbed, and repeated as far as possible; calibrate again on an idle machine",
            report::count(calibrated.disturbed as u64, "round", "rounds")
        ));
    }
    Ok(CalibrateReport {
        elapsed_s: start.elapsed().as_secs_f64(),
        ..summary(&machine, arguments, calibrated.disturbed, notes)?
    })
}

fn summary(
    machine: &Machine,
    arguments: &CalibrateArguments,
    disturbed_rounds: usize,
    notes: Vec<String>,
) -> Result<CalibrateReport> {
    let (Some(calibration), Some(facts)) = (&machine.calibration, machine.cpu()) else {
        return Err(Error::internal("a calibration without values"));
    };
    let bodies = calibration.cpu.iter().flat_map(|cpu| &cpu.bodies);
    let stencils = bodies.flat_map(|(stencil, elements)| {
        elements.iter().map(move |(dtype, body)| {
            let c_iter_s = calibration.c_iter(stencil, dtype).map_or(0.0, |quantity| quantity.value);
            let lanes = facts.lanes(if dtype == "f64" { 8 } else { 4 }) as f64;
            Body {
                stencil: stencil.clone(),
                dtype: dtype.clone(),
                c_iter_s,
                point_s: c_iter_s / lanes,
                relative_error: body.relative_error,
                dispersion: body.dispersion,
            }
        })
    });
    Ok(CalibrateReport {
        file: arguments.output.clone(),
        backend: "openmp",
        machine: machine.name.clone(),
        l_s_per_word: calibration.l_s_per_word.value,
        tau_sync_s: calibration.tau_sync_s.value,
        t_sync_s: calibration.t_sync_s.value,
        stencils: stencils.collect(),
        energy: None,
        disturbed_rounds,
        elapsed_s: 0.0,
        notes,
    })
}

impl Report for CalibrateReport {
    fn text(&self) -> String {
        let mut text = report::pairs(&[
            ("machine", self.machine.clone()),
            ("L", format!("{:.3} ns per word of 4 bytes and core", 1e9 * self.l_s_per_word)),
            ("tau_sync", format!("{:.1} ns per row of a tile", 1e9 * self.tau_sync_s)),
            ("T_sync", format!("{:.2} us per parallel region", 1e6 * self.t_sync_s)),
            ("energy", "not measured".to_owned()),
            ("took", report::seconds(self.elapsed_s)),
            ("file", self.file.display().to_string()),
        ]);
        let row = |body: &Body| {
            vec![
                body.stencil.clone(),
                body.dtype.clone(),
                format!("{:.4}", 1e9 * body.point_s),
                format!("{:.1} %", 100.0 * body.relative_error),
                format!("{:.1} %", 100.0 * body.dispersion),
            ]
        };
        let rows: Vec<_> = self.stencils.iter().map(row).collect();
        text += "\n";
        text += &report::table(
            &["stencil", "type", "ns per point", "fit error", "dispersion"],
            &rows,
            &[2, 3, 4],
        );
        for note in &self.notes {
            text += &format!("\nnote: {note}");
        }
        text
    }
}
