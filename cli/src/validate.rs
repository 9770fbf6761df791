//! `tilewright validate`: predictions against measurements.

use crate::arguments::{CalibratedBackend, ValidateArguments};
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use crate::scatter::Scatter;
use crate::{load, machine};
use cost_models::cpu::{CpuTile, CpuTime};
use execution::trials::{self, Fit, Plan};
use hhc_codegen::TileSizes;
use optimizer::Method;
use optimizer::cpu::{stratified, tune_cpu};
use polyhedral::analysis::analyze;
use serde::Serialize;

/// The report of `validate`.
#[derive(Debug, Serialize)]
pub struct ValidateReport {
    /// Name of the stencil.
    pub stencil: String,
    /// Name of the machine.
    pub machine: String,
    /// What ran the tiles.
    pub backend: &'static str,
    /// Grid extents.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// Tiles that were measured, the model's own choice not counted.
    pub samples: usize,
    /// How well predictions fit, the model's own choice not counted.
    #[serde(flatten)]
    pub fit: Fit,
    /// The best measured tile.
    pub best_tile: String,
    /// The tile that the model picks.
    pub picked_tile: String,
    /// Its predicted time in seconds.
    pub picked_predicted_s: f64,
    /// Its measured time in seconds.
    pub picked_measured_s: f64,
    /// `picked_measured_s / best_measured_s`
    pub picked_over_best: f64,
    /// The place of the picked tile among all measured ones; 1 is the fastest.
    pub rank_of_picked: usize,
    /// All tiles.
    pub tiles: Vec<Sample>,
    /// Facts worth knowing.
    pub notes: Vec<String>,
}

/// One tile.
#[derive(Debug, Serialize)]
pub struct Sample {
    /// Its sizes.
    pub tile: String,
    /// Predicted time in seconds.
    pub predicted_s: f64,
    /// Median of the measured times in seconds.
    pub measured_s: f64,
    /// Median of the absolute differences from it.
    pub dispersion_s: f64,
}

/// Validates.
///
/// # Errors
/// Wrong input, a machine without calibration, and failures of the compiler and of runs.
pub fn validate(arguments: &ValidateArguments, session: &Session) -> Result<ValidateReport> {
    let program = session.stage("read", || load::program(&arguments.spec, arguments.dtype))?;
    let machine = machine::machine(&arguments.machine)?;
    if arguments.backend == CalibratedBackend::Cuda {
        let device = execution::cuda::is_available()?;
        return Err(Error::infeasible(format!(
            "limitation: validation on a GPU is not in this version (found: {})",
            device.name
        )));
    }
    execution::layout::grid_points(&program, &arguments.size.0)?;
    let analysis = analyze(&program)
        .map_err(|error| Error::infeasible(format!("`{}` cannot be analysed: {error}", program.name)))?;
    let size = &arguments.size.0;
    let model = CpuTime::new(&machine, &program, &analysis.cone, size, arguments.steps)
        .map_err(|error| Error::infeasible(error.to_string()))?;
    let sizes = |tile: &CpuTile| tile.to_sizes(program.dimension());
    let picked = session.stage("search", || tune_cpu(&model, Method::Exact)).choice.tile;
    let sample = stratified(&model, arguments.samples as usize, arguments.seed);
    let mut tiles: Vec<TileSizes> = sample.iter().map(sizes).filter(|tile| *tile != picked).collect();
    tiles.push(picked.clone());
    let plan = Plan {
        program: &program,
        cone: &analysis.cone,
        size,
        steps: arguments.steps,
        threads: machine.cpu().map_or(1, |facts| facts.cores as usize),
        runs: arguments.repeat as usize,
        file: arguments.trials.as_deref(),
    };
    let trials = session.stage_of("measure", 1000, |progress| {
        trials::measure(&plan, &tiles, &|_, part| progress.done((1000.0 * part) as i64))
    })?;
    let mut samples = Vec::new();
    for trial in &trials {
        let tile = CpuTile::from_sizes(&trial.tile).ok_or_else(|| Error::internal("a tile without sizes"))?;
        samples.push(Sample {
            tile: trial.tile.to_string(),
            predicted_s: model.predict(tile).seconds,
            measured_s: trial.timing.median,
            dispersion_s: trial.timing.dispersion,
        });
    }
    let disturbed = trials.iter().filter(|trial| trial.disturbed).count();
    let report = summary(arguments, &program.name, &machine.name, samples, model.estimated(), disturbed)?;
    if let Some(path) = &arguments.svg {
        let points = report.tiles.iter().map(|tile| (tile.predicted_s, tile.measured_s)).collect();
        let title = format!(
            "{}, {}, {} steps on {}",
            report.stencil,
            report::size(&report.size),
            report.steps,
            report.machine
        );
        let svg =
            Scatter { title, points, picked: report.tiles.len() - 1, best: report.fit.best_measured_s }.svg();
        execution::output_file::write(path, |file| std::io::Write::write_all(file, svg.as_bytes()))?;
    }
    Ok(report)
}

/// The last sample is the model's own choice.
fn summary(
    arguments: &ValidateArguments,
    stencil: &str,
    machine: &str,
    samples: Vec<Sample>,
    estimated: bool,
    disturbed: usize,
) -> Result<ValidateReport> {
    let (Some((picked, drawn)), Some(_)) = (samples.split_last(), samples.get(1)) else {
        return Err(Error::infeasible("no tile was measured"));
    };
    let pairs: Vec<(f64, f64)> = drawn.iter().map(|sample| (sample.predicted_s, sample.measured_s)).collect();
    let fit = Fit::of(&pairs).ok_or_else(|| Error::infeasible("no tile was measured"))?;
    let best = drawn.iter().find(|sample| sample.measured_s == fit.best_measured_s);
    let mut notes = Vec::new();
    if estimated {
        notes.push(format!(
            "the rows of `{stencil}` were not calibrated: their costs are estimated from another stencil's; \
             `tilewright calibrate --backend openmp --stencil {} -o FILE.toml` measures them",
            arguments.spec
        ));
    }
    if disturbed > 0 {
        notes.push(format!(
            "other programs were running: {} have times that were disturbed",
            report::count(disturbed as u64, "tile", "tiles")
        ));
    }
    Ok(ValidateReport {
        stencil: stencil.to_owned(),
        machine: machine.to_owned(),
        backend: "openmp",
        size: arguments.size.0.clone(),
        steps: arguments.steps,
        samples: drawn.len(),
        fit,
        best_tile: best.map(|sample| sample.tile.clone()).unwrap_or_default(),
        picked_tile: picked.tile.clone(),
        picked_predicted_s: picked.predicted_s,
        picked_measured_s: picked.measured_s,
        picked_over_best: picked.measured_s / fit.best_measured_s,
        rank_of_picked: 1 + drawn.iter().filter(|sample| sample.measured_s < picked.measured_s).count(),
        tiles: samples,
        notes,
    })
}

impl Report for ValidateReport {
    fn text(&self) -> String {
        let percent = |value: f64| format!("{:.1} %", 100.0 * value);
        let mut text = report::pairs(&[
            ("stencil", format!("{}, {}, {} steps", self.stencil, report::size(&self.size), self.steps)),
            ("machine", self.machine.clone()),
            ("samples", format!("{} of the feasible tile sizes, and the model's own choice", self.samples)),
            ("rmse all", percent(self.fit.rmse_all)),
            (
                "rmse top 20",
                format!(
                    "{} over the {} within 20 % of the best",
                    percent(self.fit.rmse_top20),
                    report::count(self.fit.top20 as u64, "tile", "tiles")
                ),
            ),
            ("best", format!("{} with {}", report::seconds(self.fit.best_measured_s), self.best_tile)),
            (
                "picked",
                format!(
                    "{} with {}, {:.3} times the best, predicted {}",
                    report::seconds(self.picked_measured_s),
                    self.picked_tile,
                    self.picked_over_best,
                    report::seconds(self.picked_predicted_s)
                ),
            ),
            ("rank", format!("{} of {}", self.rank_of_picked, self.samples + 1)),
        ]);
        for note in &self.notes {
            text += &format!("\nnote: {note}");
        }
        text
    }
}
