//! Measured times of many tile sizes of one program: rounds over all of them are interleaved, runs that other programs
//! disturb are repeated, and every run is told to a [`Keeper`], from whose runs a stopped measurement continues.

mod energy;
mod predicted;
mod runners;

pub use energy::{Counter, TileEnergy, measure_energy};
pub use predicted::PredictedTiles;
pub use runners::{CpuTiles, DeviceTiles, TileRunner};

use crate::error::Result;
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::Strategy;
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use toolchain::clock::Timing;
use toolchain::interrupt;

/// The part of the machine's time that others may use in a run that counts.
const TOLERATED: f64 = 0.03;
/// Rounds for each run that is wanted, at most.
const MOST_ROUNDS: usize = 4;

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its tile.
    pub tile: TileSizes,
    /// Its time.
    pub seconds: f64,
    /// The part of the machine's time that other programs used meanwhile.
    pub others: f64,
}

/// What keeps runs beyond the measurement.
pub trait Keeper {
    /// The runs that were measured before in the same way; `compiler` is the command line of the compiled tiles, empty on
    /// a device.
    ///
    /// # Errors
    /// Runs that cannot be read.
    fn known(&mut self, compiler: &str) -> Result<Vec<Run>>;

    /// Keeps a run.
    ///
    /// # Errors
    /// Where it cannot be written.
    fn keep(&mut self, run: &Run) -> Result<()>;
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy)]
pub struct Forgetful;

impl Keeper for Forgetful {
    fn known(&mut self, _compiler: &str) -> Result<Vec<Run>> {
        Ok(Vec::new())
    }

    fn keep(&mut self, _run: &Run) -> Result<()> {
        Ok(())
    }
}

/// A tile and its times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TileTimes {
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
}

/// Measures tiles of a strategy; `progress` gets what is done, and the part of it.
///
/// # Errors
/// Tiles that are not possible, and those of the compiler, of runs and of the keeper. After an interruption the keeper has
/// all runs so far.
pub fn measure(
    plan: &Plan<'_>,
    tiles: &[TileSizes],
    runner: &mut dyn TileRunner,
    keeper: &mut dyn Keeper,
    progress: &(dyn Fn(&str, f64) + Sync),
) -> Result<Vec<TileTimes>> {
    runner.prepare(plan, tiles, progress)?;
    let mut runs = BTreeMap::<String, Vec<Run>>::new();
    for run in keeper.known(runner.compiler())? {
        runs.entry(run.tile.to_string()).or_default().push(run);
    }
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
            let run = Run { tile: tiles[at].clone(), seconds, others };
            keeper.keep(&run)?;
            runs.entry(run.tile.to_string()).or_default().push(run);
        }
    }
    let trial = |tile: &TileSizes| {
        let mut own = runs.get(&tile.to_string()).cloned().unwrap_or_default();
        own.sort_by(|a, b| a.others.total_cmp(&b.others));
        let counted = own.iter().filter(|run| run.others <= TOLERATED).count().max(wanted.min(own.len()));
        let disturbed = own[..counted].iter().any(|run| run.others > TOLERATED);
        let timing = Timing::of(own[..counted].iter().map(|run| run.seconds).collect())?;
        Some(TileTimes { tile: tile.clone(), timing, disturbed })
    };
    Ok(tiles.iter().filter_map(trial).collect())
}

/// How well predictions fit measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// Root of the mean squared relative error, `predicted / measured - 1`, over all samples.
    pub rmse_all: f64,
    /// The same over the samples within 20 % of the best measured.
    pub rmse_top20: f64,
    /// Number of those.
    pub top20: usize,
    /// The best measured value.
    pub best_measured: f64,
}

impl Fit {
    /// The fit of pairs of predicted and measured values; `None` where there are none.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Fit> {
        let best = pairs.iter().map(|pair| pair.1).min_by(f64::total_cmp)?;
        let error = |pairs: &mut dyn Iterator<Item = &(f64, f64)>| {
            let squares: Vec<f64> =
                pairs.map(|(predicted, measured)| (predicted / measured - 1.0).powi(2)).collect();
            ((squares.iter().sum::<f64>() / squares.len() as f64).sqrt(), squares.len())
        };
        let (rmse_all, _) = error(&mut pairs.iter());
        let (rmse_top20, top20) = error(&mut pairs.iter().filter(|pair| pair.1 <= 1.2 * best));
        Some(Fit { rmse_all, rmse_top20, top20, best_measured: best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn errors_over_all_and_over_the_best() {
        let fit = Fit::of(&[(1.1, 1.0), (1.0, 1.2), (1.0, 2.0)]).unwrap();
        let squares = [0.01_f64, (1.0 / 1.2 - 1.0_f64).powi(2), 0.25];
        assert_relative_eq!(fit.rmse_all, (squares.iter().sum::<f64>() / 3.0).sqrt(), max_relative = 1e-12);
        assert_relative_eq!(fit.rmse_top20, ((squares[0] + squares[1]) / 2.0).sqrt(), max_relative = 1e-12);
        assert_eq!((fit.top20, fit.best_measured), (2, 1.0));
        assert_eq!(Fit::of(&[]), None);
    }

    /// Keeps runs in memory.
    #[derive(Default)]
    struct Kept(Vec<Run>);

    impl Keeper for Kept {
        fn known(&mut self, compiler: &str) -> Result<Vec<Run>> {
            assert!(!compiler.is_empty());
            Ok(self.0.clone())
        }

        fn keep(&mut self, run: &Run) -> Result<()> {
            self.0.push(run.clone());
            Ok(())
        }
    }

    #[test]
    fn a_measurement_goes_on_from_the_runs_that_were_kept() {
        let program = Arc::new(polyhedral::shipped::load("jacobi2d").unwrap());
        let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
        let tiles = [TileSizes::parse("st=2,s0=4,s1=32").unwrap()];
        let strategy = hhc_codegen::strategy::preferred();
        let plan = Plan { program: &program, cone: &cone, strategy, size: &[30, 40], steps: 3, runs: 2 };
        let measure = |plan: &Plan<'_>, kept: &mut Kept| {
            super::measure(plan, &tiles, &mut CpuTiles::new(1), kept, &|_, _| ()).unwrap()
        };
        let mut kept = Kept(vec![Run { tile: tiles[0].clone(), seconds: 5.0, others: 0.0 }]);
        let times = measure(&plan, &mut kept);
        assert!(times[0].timing.seconds_all.contains(&5.0) && kept.0.len() >= 2);
        let count = kept.0.len();
        let clean = kept.0.iter().filter(|run| run.others <= TOLERATED).count();
        let again = measure(&plan, &mut kept);
        assert!(again[0].timing.seconds_all.len() >= 2 && (clean < 2 || kept.0.len() == count));
    }
}
