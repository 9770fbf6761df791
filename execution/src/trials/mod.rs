//! Measured times of many tile sizes of one program: rounds over all of them are interleaved, runs that other programs
//! disturb are repeated, and every run goes to a file from which a stopped measurement continues.

mod runners;

pub use runners::{CpuTiles, DeviceTiles, TileRunner};

use crate::error::{ExecutionError, Result};
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::{self, Strategy};
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use safe_io::Damage;
use safe_io::journal::{self, Found, Journal};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use toolchain::clock::Timing;
use toolchain::interrupt;

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
    /// Name of the strategy; absent for the preferred one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
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
    /// The strategy whose tiles are measured.
    pub strategy: &'static dyn Strategy,
    /// Grid extents.
    pub size: &'a [i64],
    /// Time steps.
    pub steps: i64,
    /// Undisturbed runs per tile.
    pub runs: usize,
    /// The file of runs, if there is to be one.
    pub file: Option<&'a Path>,
}

/// Measures tiles of a strategy; `progress` gets what is done, and the part of it. With the
/// trials comes what of the file was damaged and measured again.
///
/// # Errors
/// Tiles that are not possible, a file that belongs to another measurement, and those of the compiler and of runs.
/// After an interruption the file holds all runs so far.
pub fn measure(
    plan: &Plan<'_>,
    tiles: &[TileSizes],
    runner: &mut dyn TileRunner,
    progress: &(dyn Fn(&str, f64) + Sync),
) -> Result<(Vec<Trial>, Vec<Damage>)> {
    let subject = subject(plan, runner);
    let Kept { mut runs, journal, damage } = open(plan.file, &subject)?;
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
            if let (Some(journal), Some(path)) = (&journal, plan.file) {
                let failed = |source| ExecutionError::File { action: "write", path: path.to_owned(), source };
                journal.append(&run).map_err(failed)?;
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
    Ok((tiles.iter().filter_map(trial).collect(), damage))
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
        strategy: (plan.strategy != strategy::preferred()).then(|| plan.strategy.id().to_owned()),
        threads: runner.threads(),
        processor: hash(&runner.identity()),
    }
}

/// The runs of a file, and the file, open for more.
struct Kept {
    runs: BTreeMap<String, Vec<Run>>,
    journal: Option<Journal>,
    damage: Vec<Damage>,
}

/// Opens the file of runs of a subject. One without checksums, as versions before 0.1.0 wrote it, is taken over.
fn open(path: Option<&Path>, subject: &Subject) -> Result<Kept> {
    let mut kept = Kept { runs: BTreeMap::new(), journal: None, damage: Vec::new() };
    let Some(path) = path else { return Ok(kept) };
    let failed = |action| move |source| ExecutionError::File { action, path: path.to_owned(), source };
    let wrong = |problem: &str| ExecutionError::Trials { path: path.to_owned(), problem: problem.to_owned() };
    let header = journal::header("runs", subject);
    let mut content = journal::read(path, &header).map_err(failed("read"))?;
    match &content.found {
        Found::Nothing | Found::Own => {}
        Found::Other(data) => return Err(wrong(&of_another(data))),
        Found::Foreign(text) => {
            let records = without_checksums(text, subject).map_err(|problem| wrong(&problem))?;
            content.damage.push(Damage {
                file: path.to_owned(),
                place: "all lines".to_owned(),
                reason: format!(
                    "the file has no checksums; {} runs were taken over as they are, and have them now",
                    records.len()
                ),
            });
            content.records = records;
        }
    }
    for record in &content.records {
        // The checksum says that it was written so.
        if let Ok(run) = serde_json::from_str::<Run>(record) {
            kept.runs.entry(run.tile.clone()).or_default().push(run);
        }
    }
    kept.journal = Some(Journal::open(path, &header, &content).map_err(failed("write"))?);
    kept.damage = content.damage;
    Ok(kept)
}

/// Why a file with this first line cannot be continued.
fn of_another(data: &str) -> String {
    #[derive(Deserialize)]
    struct Header {
        of: Subject,
    }
    match serde_json::from_str::<Header>(data) {
        Ok(Header { of }) => of_other_subject(&of),
        Err(_) => "it is a journal of something else".to_owned(),
    }
}

fn of_other_subject(found: &Subject) -> String {
    format!(
        "it holds runs of {} at {:?}, {} steps, {} threads, perhaps of another version or processor",
        found.stencil, found.size, found.steps, found.threads
    )
}

/// The records of a file whose lines are the subject and the runs.
fn without_checksums(text: &str, subject: &Subject) -> std::result::Result<Vec<String>, String> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let found = lines.next().and_then(|first| serde_json::from_str::<Subject>(first).ok());
    match found {
        None => Err("its first line is not that of a file of runs".to_owned()),
        Some(found) if found != *subject => Err(of_other_subject(&found)),
        // The last line of a measurement that was killed may be half a line.
        Some(_) => {
            Ok(lines.filter(|line| serde_json::from_str::<Run>(line).is_ok()).map(str::to_owned).collect())
        }
    }
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
        let plan = Plan {
            program: &program,
            cone: &cone,
            strategy: strategy::preferred(),
            size: &[30, 40],
            steps: 3,
            runs: 2,
            file: Some(&path),
        };
        let measure = |plan: &Plan<'_>| super::measure(plan, &tiles, &mut CpuTiles::new(1), &|_, _| ());
        let (trials, damage) = measure(&plan).unwrap();
        assert_eq!((trials.len(), damage.len()), (1, 0));
        let text = || std::fs::read_to_string(&path).unwrap();
        let whole = text();
        std::fs::write(&path, whole.clone() + "{\"record\":").unwrap();
        let (again, damage) = measure(&plan).unwrap();
        assert!(again[0].timing.seconds_all.len() >= 2 && damage.is_empty());
        let other = Plan { steps: 4, ..plan };
        assert!(matches!(measure(&other), Err(ExecutionError::Trials { .. })));
        // A time that was changed is told and measured again.
        let changed = whole.replacen("\"seconds\":", "\"seconds\":9", 1);
        std::fs::write(&path, changed).unwrap();
        let (again, damage) = measure(&plan).unwrap();
        assert!(damage.len() == 1 && damage[0].place == "line 2", "{damage:?}");
        assert!(again[0].timing.seconds_all.iter().all(|&seconds| seconds < 9.0));
        // Without checksums, as earlier versions wrote it.
        let subject = subject(&plan, &CpuTiles::new(1));
        let run = Run { tile: tiles[0].to_string(), seconds: 5.0, others: 0.0 };
        let old = [serde_json::to_string(&subject).unwrap(), serde_json::to_string(&run).unwrap()];
        std::fs::write(&path, old.join("\n") + "\n").unwrap();
        let (again, damage) = measure(&plan).unwrap();
        assert!(again[0].timing.seconds_all.contains(&5.0) && damage[0].reason.contains("no checksums"));
        let damage = measure(&plan).unwrap().1;
        assert!(damage.is_empty(), "{damage:?}\n{}", text());
        std::fs::write(&path, "a diary\n").unwrap();
        assert!(matches!(measure(&plan), Err(ExecutionError::Trials { .. })));
        assert_eq!(text(), "a diary\n");
    }
}
