//! Joules of many tiles: by a counter, or by a simulated one.
//!
//! A counter moves in steps, so that a tile runs again and again until these matter little. A simulated counter is told what
//! its runs would have spent; the tile runs once, for its time.

use super::{MOST_ROUNDS, Plan, TOLERATED, TileRunner};
use crate::energy::{Events, LEAST_SECONDS, sample_for};
use crate::error::{ExecutionError, Result};
use hhc_codegen::TileSizes;
use serde::Serialize;
use toolchain::clock::Timing;
use toolchain::energy::{EnergyMeter, SimulatedMeter};
use toolchain::interrupt;

/// Steps of a counter in a sample, at least.
const LEAST_TICKS: f64 = 20.0;

/// What says how many joules runs take.
pub enum Counter<'a> {
    /// A counter of the hardware.
    Real(Box<dyn EnergyMeter>),
    /// A simulated one, and the joules of a run of a tile that takes so many seconds.
    Simulated(SimulatedMeter, &'a dyn Fn(&TileSizes, f64) -> f64),
}

impl Counter<'_> {
    fn least_s(&self) -> f64 {
        let tick_s = match self {
            Counter::Real(meter) => meter.tick_s(),
            Counter::Simulated(meter, _) => meter.tick_s(),
        };
        LEAST_SECONDS.max(LEAST_TICKS * tick_s)
    }

    /// What it is, for reports.
    pub fn name(&self) -> String {
        match self {
            Counter::Real(meter) => meter.name(),
            Counter::Simulated(meter, _) => meter.name(),
        }
    }
}

/// A tile and its joules.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TileEnergy {
    /// The tile.
    pub tile: TileSizes,
    /// Joules of a run, the median.
    pub joules: f64,
    /// Median of the absolute differences from it.
    pub dispersion_j: f64,
    /// Seconds of a run, the median.
    pub seconds: f64,
    /// Whether samples that were disturbed had to be counted.
    pub disturbed: bool,
}

/// Joules and seconds of a run, and the part of the machine's time that others used.
#[derive(Debug, Clone, Copy)]
struct Sample {
    joules: f64,
    seconds: f64,
    others: f64,
}

/// Measures the joules of tiles of a strategy; `progress` gets what is done, and the part of it.
///
/// # Errors
/// Tiles that are not possible; those of the compiler and of runs; a counter that cannot be read any more, or stands still.
pub fn measure_energy(
    plan: &Plan<'_>,
    tiles: &[TileSizes],
    runner: &mut dyn TileRunner,
    counter: &mut Counter<'_>,
    progress: &(dyn Fn(&str, f64) + Sync),
) -> Result<Vec<TileEnergy>> {
    runner.prepare(plan, tiles, progress)?;
    let wanted = plan.runs.max(1);
    let mut all: Vec<Vec<Sample>> = vec![Vec::new(); tiles.len()];
    let clean = |own: &[Sample]| own.iter().filter(|own| own.others <= TOLERATED).count();
    if !tiles.is_empty() {
        // The first run touches memory and wakes up threads or the device.
        runner.run(plan, 0)?;
    }
    for round in 0..MOST_ROUNDS * wanted {
        let missing: Vec<usize> = (0..tiles.len()).filter(|&at| clean(&all[at]) < wanted).collect();
        let done: usize = all.iter().map(|own| clean(own).min(wanted)).sum();
        let part = done as f64 / (wanted * tiles.len().max(1)) as f64;
        progress(&format!("measuring, round {}", round + 1), part);
        if missing.is_empty() {
            break;
        }
        for at in missing {
            interrupt::check()?;
            all[at].push(sampled(plan, (at, &tiles[at]), runner, counter)?);
        }
    }
    let of = |(tile, own): (&TileSizes, &mut Vec<Sample>)| {
        own.sort_by(|a, b| a.others.total_cmp(&b.others));
        let counted = clean(own).max(wanted.min(own.len()));
        let summary = |value: fn(&Sample) -> f64| Timing::of(own[..counted].iter().map(value).collect());
        let (joules, seconds) = (summary(|own| own.joules)?, summary(|own| own.seconds)?);
        Some(TileEnergy {
            tile: tile.clone(),
            joules: joules.median,
            dispersion_j: joules.dispersion,
            seconds: seconds.median,
            disturbed: own[..counted].iter().any(|own| own.others > TOLERATED),
        })
    };
    Ok(tiles.iter().zip(&mut all).filter_map(of).collect())
}

fn sampled(
    plan: &Plan<'_>,
    (at, tile): (usize, &TileSizes),
    runner: &mut dyn TileRunner,
    counter: &mut Counter<'_>,
) -> Result<Sample> {
    let least_s = counter.least_s();
    let wrong = |what: &str| ExecutionError::Counter { name: counter.name(), problem: what.to_owned() };
    let (unreadable, still) = (wrong("it cannot be read any more"), wrong("it stands still"));
    let sample = match counter {
        Counter::Real(meter) => {
            let mut runs: Vec<(f64, f64)> = Vec::new();
            let one = Events { launches: 1.0, ..Events::default() };
            let sample = sample_for(least_s, &mut **meter, one, || {
                runs.push(runner.run(plan, at)?);
                Ok(())
            })?;
            let sample = sample.ok_or(unreadable)?;
            let number = sample.events.launches;
            let others = runs.iter().map(|run| run.1).sum::<f64>() / number;
            Sample { joules: sample.joules / number, seconds: sample.seconds / number, others }
        }
        Counter::Simulated(meter, joules_of) => {
            let (seconds, others) = runner.run(plan, at)?;
            let number = (least_s / seconds.max(1e-9)).ceil().max(1.0);
            let before = meter.joules();
            meter.spend(number * seconds, number * joules_of(tile, seconds));
            let joules = before.zip(meter.joules()).map(|(before, after)| (after - before) / number);
            Sample { joules: joules.ok_or(unreadable)?, seconds, others }
        }
    };
    if sample.joules > 0.0 { Ok(sample) } else { Err(still) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trials::PredictedTiles;
    use std::sync::Arc;
    use toolchain::energy::Simulated;

    #[test]
    fn joules_are_read_across_ticks_noise_and_a_wrap() {
        let program = Arc::new(polyhedral::shipped::load("jacobi2d").unwrap());
        let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
        let strategy = hhc_codegen::strategy::preferred();
        let plan = Plan { program: &program, cone: &cone, strategy, size: &[30, 40], steps: 3, runs: 3 };
        let tiles: Vec<TileSizes> =
            (1..6).map(|n| TileSizes::parse(&format!("st={n},s0=4,s1=32")).unwrap()).collect();
        let joules_of = |_: &TileSizes, seconds: f64| 80.0 * seconds + 0.02;
        for (kind, noise) in [(Simulated::Rapl, 0.01), (Simulated::Nvml, 0.01), (Simulated::Rapl, 0.0)] {
            let times: Vec<f64> = (1..6).map(|n| 1e-3 * f64::from(n)).collect();
            let mut runner = PredictedTiles::new(times.clone());
            let meter = SimulatedMeter::new(kind, noise, 7).wrapping_after(300.0);
            let mut counter = Counter::Simulated(meter, &joules_of);
            let measured = measure_energy(&plan, &tiles, &mut runner, &mut counter, &|_, _| ()).unwrap();
            for (own, seconds) in measured.iter().zip(times) {
                let expected = 80.0 * seconds + 0.02;
                let within = 3.0 * noise + 0.06;
                assert!((own.joules / expected - 1.0).abs() < within, "{kind:?} {own:?} {expected}");
                assert!(own.seconds == seconds && !own.disturbed);
            }
            let Counter::Simulated(meter, _) = counter else { unreachable!() };
            assert_eq!(meter.wrapped(), u64::from(kind == Simulated::Rapl));
        }
        // A counter that stands still measures nothing.
        let nothing = |_: &TileSizes, _: f64| 0.0;
        let mut counter = Counter::Simulated(SimulatedMeter::new(Simulated::Rapl, 0.0, 1), &nothing);
        let mut runner = PredictedTiles::new(vec![1.0; 5]);
        let error = measure_energy(&plan, &tiles, &mut runner, &mut counter, &|_, _| ()).unwrap_err();
        assert!(error.to_string().contains("simulated RAPL: it stands still"), "{error}");
    }
}
