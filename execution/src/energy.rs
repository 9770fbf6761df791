//! Energy: the constants of the energy model from what meters of joules say.
//!
//! `E = e_glob*words + e_shared*fast words + e_iter*flops + e_sync*barriers + e_launch*launches + P_static*T`: runs that
//! differ in what they do most of give one equation each, and non-negative least squares the constants.

use crate::calibrate::least_squares::non_negative;
use crate::error::Result;
use cost_models::machine::{Energy, Provenance};
use std::time::Instant;
use toolchain::energy::EnergyMeter;
use toolchain::interrupt;

/// Seconds that one sample takes at least: counters move in steps of milliseconds.
pub(crate) const LEAST_SECONDS: f64 = 0.5;

/// What happened in a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Events {
    /// Words of 4 bytes from or to memory.
    pub words: f64,
    /// Words of 4 bytes from or to fast memory.
    pub fast_words: f64,
    /// Floating-point operations.
    pub flops: f64,
    /// Barriers of blocks.
    pub barriers: f64,
    /// Launches.
    pub launches: f64,
}

/// What was measured over some runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergySample {
    /// What happened.
    pub events: Events,
    /// Seconds.
    pub seconds: f64,
    /// Joules.
    pub joules: f64,
}

/// Repeats `run`, which causes `events` each time, for at least half a second; `None` where the meter cannot be read.
///
/// # Errors
/// The first error of `run`; an interruption.
pub fn sample(
    meter: &mut dyn EnergyMeter,
    events: Events,
    run: impl FnMut() -> Result<()>,
) -> Result<Option<EnergySample>> {
    sample_for(LEAST_SECONDS, meter, events, run)
}

/// The same for at least so many seconds.
///
/// # Errors
/// As for [`sample`].
pub fn sample_for(
    least_s: f64,
    meter: &mut dyn EnergyMeter,
    events: Events,
    mut run: impl FnMut() -> Result<()>,
) -> Result<Option<EnergySample>> {
    let (Some(before), start) = (meter.joules(), Instant::now()) else { return Ok(None) };
    let mut runs = 0.0;
    while runs < 1.0 || start.elapsed().as_secs_f64() < least_s {
        interrupt::check()?;
        run()?;
        runs += 1.0;
    }
    let seconds = start.elapsed().as_secs_f64();
    let times = |events: f64| events * runs;
    Ok(meter.joules().map(|after| EnergySample {
        events: Events {
            words: times(events.words),
            fast_words: times(events.fast_words),
            flops: times(events.flops),
            barriers: times(events.barriers),
            launches: times(events.launches),
        },
        seconds,
        joules: after - before,
    }))
}

/// The constants that explain the samples with the least sum of squared relative errors. `None` where there are fewer
/// than three samples, or one without energy: a counter that stands still measures nothing.
pub fn constants(samples: &[EnergySample], source: &str) -> Option<Energy> {
    if samples.len() < 3 || samples.iter().any(|sample| sample.joules <= 0.0) {
        return None;
    }
    let row = |sample: &EnergySample| {
        let Events { words, fast_words, flops, barriers, launches } = sample.events;
        [words, fast_words, flops, barriers, launches, sample.seconds]
            .map(|count| count / sample.joules)
            .to_vec()
    };
    let rows: Vec<Vec<f64>> = samples.iter().map(row).collect();
    // Unknowns of similar size: each column by its largest entry.
    let largest: Vec<f64> = (0..6).map(|at| rows.iter().map(|row| row[at]).fold(0.0, f64::max)).collect();
    let scaled: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            row.iter()
                .zip(&largest)
                .map(|(count, most)| if *most > 0.0 { count / most } else { 0.0 })
                .collect()
        })
        .collect();
    let found = non_negative(&scaled, &vec![1.0; rows.len()]);
    let value = |at: usize| if largest[at] > 0.0 { found[at] / largest[at] } else { 0.0 };
    Some(Energy {
        e_glob_j: value(0),
        e_shared_j: value(1),
        e_flop_j: value(2),
        e_sync_j: value(3),
        e_launch_j: value(4),
        p_static_w: value(5),
        provenance: Provenance::Measured,
        source: source.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// A counter that counts what runs add to it, and 10 watts.
    struct Fake {
        start: Instant,
        added: std::rc::Rc<std::cell::Cell<f64>>,
    }

    impl EnergyMeter for Fake {
        fn joules(&mut self) -> Option<f64> {
            Some(self.added.get() + 10.0 * self.start.elapsed().as_secs_f64())
        }
        fn name(&self) -> String {
            "fake".to_owned()
        }
    }

    #[test]
    fn a_sample_counts_events_and_joules() {
        let added = std::rc::Rc::new(std::cell::Cell::new(0.0));
        let mut meter = Fake { start: Instant::now(), added: added.clone() };
        let events = Events { words: 3.0, ..Events::default() };
        let run = || {
            added.set(added.get() + 2.0);
            std::thread::sleep(std::time::Duration::from_millis(50));
            Ok(())
        };
        let sample = sample(&mut meter, events, run).unwrap().unwrap();
        let runs = sample.events.words / 3.0;
        assert!(runs >= 1.0 && sample.seconds >= LEAST_SECONDS);
        // The meter is read before the clock starts and after it stops.
        assert!(sample.joules >= 2.0 * runs + 10.0 * sample.seconds - 1e-6, "{sample:?}");
    }

    /// Through counters that tick, wrap around and are noisy: simulated ones, since those of hardware are seldom to be had.
    #[test]
    fn constants_are_recovered_through_simulated_counters() {
        use toolchain::energy::{Simulated, SimulatedMeter};
        let constants_of = [6e-10, 1e-11, 3e-12, 2e-9, 4e-6, 40.0];
        let runs = [
            [0.0, 0.0, 0.0, 0.0, 0.0, 20.0],
            [4e12, 0.0, 0.0, 0.0, 1e3, 20.0],
            [1e10, 6e13, 2e13, 1e8, 2e3, 20.0],
            [1e10, 6e13, 4e14, 1e8, 2e3, 20.0],
            [0.0, 0.0, 0.0, 6e11, 1e3, 20.0],
            [0.0, 0.0, 0.0, 0.0, 2e8, 20.0],
        ];
        for kind in [Simulated::Rapl, Simulated::Nvml] {
            for (seed, noise) in [(1, 0.0), (2, 0.01), (3, 0.01)] {
                let mut meter = SimulatedMeter::new(kind, noise, seed);
                let samples = runs.repeat(5).into_iter().map(|run| {
                    let before = meter.joules().unwrap();
                    let [words, fast_words, flops, barriers, launches, seconds] = run;
                    meter
                        .spend(seconds, run.iter().zip(constants_of).map(|(count, each)| count * each).sum());
                    let joules = meter.joules().unwrap() - before;
                    EnergySample {
                        events: Events { words, fast_words, flops, barriers, launches },
                        seconds,
                        joules,
                    }
                });
                let samples: Vec<EnergySample> = samples.collect();
                let found = constants(&samples, &meter.name()).unwrap();
                assert!(found.source.starts_with("simulated"));
                let found = [
                    found.e_glob_j,
                    found.e_shared_j,
                    found.e_flop_j,
                    found.e_sync_j,
                    found.e_launch_j,
                    found.p_static_w,
                ];
                for (at, (found, expected)) in found.into_iter().zip(constants_of).enumerate() {
                    // Ticks of 100 ms in 20 s, and five samples with the noise.
                    let within = 0.02 + 10.0 * noise;
                    assert!(
                        (found / expected - 1.0).abs() < within,
                        "{kind:?} {seed} {at}: {found} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn constants_are_recovered() {
        let [glob, fast, flop, sync, launch, watts] = [6e-10, 1e-11, 3e-12, 2e-9, 4e-6, 40.0];
        let of = |words: f64, fast_words: f64, flops: f64, barriers: f64, launches: f64, seconds: f64| {
            let joules = glob * words
                + fast * fast_words
                + flop * flops
                + sync * barriers
                + launch * launches
                + watts * seconds;
            EnergySample { events: Events { words, fast_words, flops, barriers, launches }, seconds, joules }
        };
        let samples = [
            of(0.0, 0.0, 0.0, 0.0, 0.0, 0.5),
            of(1e11, 0.0, 0.0, 0.0, 100.0, 0.6),
            of(1e9, 1e12, 2e12, 1e7, 200.0, 0.7),
            of(1e9, 1e12, 9e12, 1e7, 200.0, 0.9),
            of(0.0, 0.0, 0.0, 5e9, 100.0, 0.5),
            of(0.0, 0.0, 0.0, 0.0, 1e6, 0.8),
        ];
        let found = constants(&samples, "a test").unwrap();
        for (found, expected) in [
            (found.e_glob_j, glob),
            (found.e_shared_j, fast),
            (found.e_flop_j, flop),
            (found.e_sync_j, sync),
            (found.e_launch_j, launch),
            (found.p_static_w, watts),
        ] {
            assert_relative_eq!(found, expected, epsilon = 0.0, max_relative = 1e-3);
        }
        assert!(constants(&samples[..2], "a test").is_none());
        let still = EnergySample { joules: 0.0, ..samples[0] };
        assert!(constants(&[samples[1], samples[2], still], "a test").is_none());
    }
}
