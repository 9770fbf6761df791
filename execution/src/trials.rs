//! Measured times of many tile sizes of one program: rounds over all of them are interleaved, runs that other programs
//! disturb are repeated, and every run goes to a file from which a stopped measurement continues.

mod runners;

pub use runners::{CpuTiles, DeviceTiles, TileRunner};

use crate::error::{ExecutionError, Result};
use crate::interrupt;
use crate::timing::Timing;
use hhc_codegen::TileSizes;
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// The part of the machine's time that others may use in a run that counts.
const TOLERATED: f64 = 0.03;
/// Rounds for each run that is wanted, at most.
const MOST_ROUNDS: usize = 4;

/// What the runs of a file have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Name of the stencil.
    pub stencil: String,
    /// Hash of its source.
    pub source: String,
    /// Grid extents.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// Threads; 0 on a device.
    pub threads: usize,
    /// Hash of what tells this processor, or this device, from others.
    pub processor: String,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Tile sizes as the command line takes them.
    pub tile: String,
    /// Its time.
    pub seconds: f64,
    /// The part of the machine's time that other programs used meanwhile.
    pub others: f64,
}

/// A tile and its times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// The tile.
    pub tile: TileSizes,
    /// The runs that count.
    pub timing: Timing,
    /// Whether runs that were disturbed had to be counted.
    pub disturbed: bool,
}

/// How to measure.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// The program.
    pub program: &'a Arc<Program>,
    /// Its dependence cone.
    pub cone: &'a Cone,
    /// Grid extents.
    pub size: &'a [i64],
    /// Time steps.
    pub steps: i64,
    /// Undisturbed runs per tile.
    pub runs: usize,
    /// The file of runs, if there is to be one.
    pub file: Option<&'a Path>,
}

/// Measures tiles of the hybrid hexagonal strategy; `progress` gets what is done, and the part of it.
///
/// # Errors
/// Tiles that are not possible, a file that belongs to another measurement, and those of the compiler and of runs.
/// After an interruption the file holds all runs so far.
pub fn measure(
    plan: &Plan<'_>,
    tiles: &[TileSizes],
    runner: &mut dyn TileRunner,
    progress: &(dyn Fn(&str, f64) + Sync),
) -> Result<Vec<Trial>> {
    let subject = subject(plan, runner);
    let (mut runs, mut file) = open(plan.file, &subject)?;
    runner.prepare(plan, tiles, progress)?;
    let wanted = plan.runs.max(1);
    let clean = |runs: &BTreeMap<String, Vec<Run>>, tile: &TileSizes| {
        runs.get(&tile.to_string())
            .map_or(0, |runs| runs.iter().filter(|run| run.others <= TOLERATED).count())
    };
    for round in 0..MOST_ROUNDS * wanted {
        let missing: Vec<usize> = (0..tiles.len()).filter(|&at| clean(&runs, &tiles[at]) < wanted).collect();
        let done: usize = tiles.iter().map(|tile| clean(&runs, tile).min(wanted)).sum();
        progress(
            &format!("measuring, round {}", round + 1),
            done as f64 / (wanted * tiles.len().max(1)) as f64,
        );
        if missing.is_empty() {
            break;
        }
        if round == 0 {
            // The first run touches memory and wakes up threads or the device.
            runner.run(plan, missing[0])?;
        }
        for at in missing {
            interrupt::check()?;
            let (seconds, others) = runner.run(plan, at)?;
            let run = Run { tile: tiles[at].to_string(), seconds, others };
            if let Some((file, path)) = &mut file {
                append(file, path, &run)?;
            }
            runs.entry(run.tile.clone()).or_default().push(run);
        }
    }
    let trial = |tile: &TileSizes| {
        let mut own = runs.get(&tile.to_string()).cloned().unwrap_or_default();
        own.sort_by(|a, b| a.others.total_cmp(&b.others));
        let counted = own.iter().filter(|run| run.others <= TOLERATED).count().max(wanted.min(own.len()));
        let disturbed = own[..counted].iter().any(|run| run.others > TOLERATED);
        let timing = Timing::of(own[..counted].iter().map(|run| run.seconds).collect())?;
        Some(Trial { tile: tile.clone(), timing, disturbed })
    };
    Ok(tiles.iter().filter_map(trial).collect())
}

fn subject(plan: &Plan<'_>, runner: &dyn TileRunner) -> Subject {
    let hash = |text: &str| {
        Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    Subject {
        stencil: plan.program.name.clone(),
        source: hash(&plan.program.to_source()),
        size: plan.size.to_vec(),
        steps: plan.steps,
        threads: runner.threads(),
        processor: hash(&runner.identity()),
    }
}

type OpenFile<'a> = Option<(File, &'a Path)>;

/// The runs that the file holds, and the file, open for more. Its first line is the subject.
fn open<'a>(path: Option<&'a Path>, subject: &Subject) -> Result<(BTreeMap<String, Vec<Run>>, OpenFile<'a>)> {
    let mut runs: BTreeMap<String, Vec<Run>> = BTreeMap::new();
    let Some(path) = path else { return Ok((runs, None)) };
    let failed = |action| move |source| ExecutionError::File { action, path: path.to_owned(), source };
    let wrong = |problem: &str| ExecutionError::Trials { path: path.to_owned(), problem: problem.to_owned() };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed("read")(error)),
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let known = match lines.next() {
        None => false,
        Some(first) => {
            let found: Subject = serde_json::from_str(first)
                .map_err(|_| wrong("its first line is not that of a file of runs"))?;
            if found != *subject {
                return Err(wrong(&format!(
                    "it holds runs of {} at {:?}, {} steps, {} threads, perhaps of another version or processor",
                    found.stencil, found.size, found.steps, found.threads
                )));
            }
            true
        }
    };
    for line in lines {
        // The last line of a measurement that was killed may be half a line.
        if let Ok(run) = serde_json::from_str::<Run>(line) {
            runs.entry(run.tile.clone()).or_default().push(run);
        }
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(failed("write"))?;
    if !known {
        append(&mut file, path, subject)?;
    } else if !text.ends_with('\n') {
        file.write_all(b"\n").map_err(failed("write"))?;
    }
    Ok((runs, Some((file, path))))
}

fn append(file: &mut File, path: &Path, value: &impl Serialize) -> Result<()> {
    let line = serde_json::to_string(value)
        .map_err(std::io::Error::other)
        .and_then(|line| file.write_all(format!("{line}\n").as_bytes()));
    line.map_err(|source| ExecutionError::File { action: "write", path: path.to_owned(), source })
}

/// How well predictions fit measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fit {
    /// Root of the mean squared relative error, `predicted / measured - 1`, over all samples.
    pub rmse_all: f64,
    /// The same over the samples within 20 % of the best measured.
    pub rmse_top20: f64,
    /// Number of those.
    pub top20: usize,
    /// The best measured time in seconds.
    pub best_measured_s: f64,
}

impl Fit {
    /// The fit of pairs of predicted and measured seconds; `None` where there are none.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Fit> {
        let best = pairs.iter().map(|pair| pair.1).min_by(f64::total_cmp)?;
        let error = |pairs: &mut dyn Iterator<Item = &(f64, f64)>| {
            let squares: Vec<f64> =
                pairs.map(|(predicted, measured)| (predicted / measured - 1.0).powi(2)).collect();
            ((squares.iter().sum::<f64>() / squares.len() as f64).sqrt(), squares.len())
        };
        let (rmse_all, _) = error(&mut pairs.iter());
        let (rmse_top20, top20) = error(&mut pairs.iter().filter(|pair| pair.1 <= 1.2 * best));
        Some(Fit { rmse_all, rmse_top20, top20, best_measured_s: best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_over_all_and_over_the_best() {
        let fit = Fit::of(&[(1.1, 1.0), (1.0, 1.2), (1.0, 2.0)]).unwrap();
        let squares = [0.01_f64, (1.0 / 1.2 - 1.0_f64).powi(2), 0.25];
        assert!((fit.rmse_all - (squares.iter().sum::<f64>() / 3.0).sqrt()).abs() < 1e-12);
        assert!((fit.rmse_top20 - ((squares[0] + squares[1]) / 2.0).sqrt()).abs() < 1e-12);
        assert_eq!((fit.top20, fit.best_measured_s), (2, 1.0));
        assert_eq!(Fit::of(&[]), None);
    }

    #[test]
    fn a_stopped_measurement_goes_on_and_files_are_not_mixed_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.jsonl");
        let program = Arc::new(polyhedral::shipped::load("jacobi2d").unwrap());
        let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
        let tiles = [TileSizes::parse("st=2,s0=4,s1=32").unwrap()];
        let plan =
            Plan { program: &program, cone: &cone, size: &[30, 40], steps: 3, runs: 2, file: Some(&path) };
        let measure = |plan: &Plan<'_>| super::measure(plan, &tiles, &mut CpuTiles::new(1), &|_, _| ());
        let trials = measure(&plan).unwrap();
        assert_eq!(trials.len(), 1);
        let lines = || std::fs::read_to_string(&path).unwrap().lines().count();
        let before = lines();
        std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + "{\"tile\": \"st=").unwrap();
        let again = measure(&plan).unwrap();
        assert!(again[0].timing.seconds_all.len() >= 2 && lines() >= before);
        let other = Plan { steps: 4, ..plan };
        assert!(matches!(measure(&other), Err(ExecutionError::Trials { .. })));
    }
}
