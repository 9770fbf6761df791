//! Simulated counters of joules, for tests and demonstrations without hardware: they tick, wrap around and are noisy as RAPL
//! and NVML are. Whatever is read from them is labelled as simulated.

use super::EnergyMeter;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// What is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Simulated {
    /// Microjoules in 32 bits of 15.3 uJ each, so that it wraps around at 65.7 kJ; new about every millisecond.
    Rapl,
    /// Millijoules that do not wrap around; new about every 100 ms.
    Nvml,
}

/// A simulated counter. It knows the joules that were really spent, and the time, and shows what a counter would.
#[derive(Debug)]
pub struct SimulatedMeter {
    kind: Simulated,
    random: ChaCha8Rng,
    /// Relative standard deviation of the energy of an interval.
    noise: f64,
    seconds: f64,
    joules: f64,
    /// What the counter showed at its last tick, in its own unit.
    shown: u64,
    /// What it has shown in all, however often it wrapped around.
    units_shown: u64,
    /// The moment of that tick.
    ticked: f64,
    /// As its reader has it: the last reading, and all that was counted.
    read: u64,
    counted: u64,
    /// How often it wrapped around between two readings.
    wrapped: u64,
}

impl SimulatedMeter {
    /// A counter that stands somewhere, chosen by the seed.
    pub fn new(kind: Simulated, noise: f64, seed: u64) -> SimulatedMeter {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let start = random.next_u64() % SimulatedMeter::range(kind);
        SimulatedMeter {
            kind,
            random,
            noise,
            seconds: 0.0,
            joules: 0.0,
            shown: start,
            units_shown: 0,
            ticked: 0.0,
            read: start,
            counted: 0,
            wrapped: 0,
        }
    }

    /// The same, so shortly before the counter starts again that these joules make it; a counter that never does stands where it
    /// stood.
    #[must_use]
    pub fn wrapping_after(mut self, joules: f64) -> SimulatedMeter {
        if self.kind == Simulated::Rapl {
            let left = (joules / self.steps().0) as u64;
            self.shown = SimulatedMeter::range(self.kind).saturating_sub(left);
            self.read = self.shown;
        }
        self
    }

    /// How often it wrapped around while it was read.
    pub fn wrapped(&self) -> u64 {
        self.wrapped
    }

    /// Where the counter starts again at 0, in its own unit.
    fn range(kind: Simulated) -> u64 {
        match kind {
            Simulated::Rapl => 65_712_999_613,
            Simulated::Nvml => u64::MAX / 2,
        }
    }

    /// Its unit in joules, and the seconds between two ticks.
    fn steps(&self) -> (f64, f64) {
        match self.kind {
            Simulated::Rapl => (1e-6, 1e-3),
            Simulated::Nvml => (1e-3, 0.1),
        }
    }

    /// Time passes, and so many joules are spent evenly in it.
    pub fn spend(&mut self, seconds: f64, joules: f64) {
        // The sum of twelve even numbers is normal, but for its tails.
        let even = |random: &mut ChaCha8Rng| f64::from(random.next_u32()) / f64::from(u32::MAX);
        let normal = (0..12).map(|_| even(&mut self.random)).sum::<f64>() - 6.0;
        let joules = joules * (1.0 + self.noise * normal).max(0.0);
        let (unit, tick) = self.steps();
        let (before, from) = (self.seconds, self.joules);
        self.seconds += seconds;
        self.joules += joules;
        let last = (self.seconds / tick).floor() * tick;
        if last > self.ticked && seconds > 0.0 {
            // What had been spent at the last tick.
            let at = from + joules * ((last - before) / seconds).clamp(0.0, 1.0);
            let units = ((at / unit) as u64).saturating_sub(self.units_shown);
            self.units_shown += units;
            self.shown = (self.shown + units) % SimulatedMeter::range(self.kind);
            self.ticked = last;
        }
    }
}

impl EnergyMeter for SimulatedMeter {
    fn joules(&mut self) -> Option<f64> {
        let range = SimulatedMeter::range(self.kind);
        self.counted += (self.shown + range - self.read) % range;
        self.wrapped += u64::from(self.shown < self.read);
        self.read = self.shown;
        Some(self.counted as f64 * self.steps().0)
    }

    fn name(&self) -> String {
        match self.kind {
            Simulated::Rapl => "simulated RAPL".to_owned(),
            Simulated::Nvml => "simulated NVML".to_owned(),
        }
    }

    fn tick_s(&self) -> f64 {
        self.steps().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spent_is_read_across_a_wrap() {
        for kind in [Simulated::Rapl, Simulated::Nvml] {
            for seed in 0..20 {
                let mut meter = SimulatedMeter::new(kind, 0.0, seed);
                let (mut spent, before) = (0.0, meter.joules().unwrap());
                // 40 times 5 kJ: RAPL's counter wraps around three times.
                for _ in 0..40 {
                    meter.spend(50.0, 5000.0);
                    spent += 5000.0;
                    let read = meter.joules().unwrap() - before;
                    let (unit, tick) = meter.steps();
                    assert!(
                        read <= spent + unit && read >= spent - 100.0 * tick - 40.0 * unit,
                        "{read} {spent}"
                    );
                }
                assert!(meter.name().starts_with("simulated"));
                assert_eq!(meter.wrapped() >= 3, kind == Simulated::Rapl);
            }
        }
    }

    #[test]
    fn a_wrap_can_be_had_soon() {
        let mut meter = SimulatedMeter::new(Simulated::Rapl, 0.0, 5).wrapping_after(10.0);
        meter.spend(1.0, 9.0);
        assert!((meter.joules().unwrap() - 9.0).abs() < 0.1 && meter.wrapped() == 0);
        meter.spend(1.0, 9.0);
        assert!((meter.joules().unwrap() - 18.0).abs() < 0.1 && meter.wrapped() == 1);
    }

    #[test]
    fn noise_is_that_of_the_seed() {
        let read = |seed: u64| {
            let mut meter = SimulatedMeter::new(Simulated::Rapl, 0.05, seed);
            meter.spend(1.0, 100.0);
            meter.joules().unwrap()
        };
        assert_eq!(read(3), read(3));
        assert!(read(3) != read(4) && (read(3) / 100.0 - 1.0).abs() < 0.3);
    }
}
