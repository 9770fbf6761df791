//! What other programs do while something is measured: a measurement that others disturb is repeated, so that a busy
//! machine does not decide.

use std::fs;

/// The part of the machine's time that others may use in a measurement that counts.
const TOLERATED: f64 = 0.03;

/// Clock ticks since the system started: of all processors together, busy ones, and those of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    all: u64,
    busy: u64,
    own: u64,
}

/// The beginning of an interval.
#[derive(Debug, Clone, Copy)]
pub struct Watch(Option<Ticks>);

impl Watch {
    /// Begins an interval.
    pub fn start() -> Self {
        Watch(Ticks::now())
    }

    /// The part of all processors' time that others used since then, between 0 and 1; `None` where the system does
    /// not tell, or the interval is too short to say.
    pub fn others(&self) -> Option<f64> {
        self.others_than(0)
    }

    /// The same, where processes that are no others used so many clock ticks.
    pub fn others_than(&self, ticks: u64) -> Option<f64> {
        let (before, now) = (self.0?, Ticks::now()?);
        let all = now.all.checked_sub(before.all).filter(|&all| all >= 10)?;
        let known = now.own.saturating_sub(before.own) + ticks;
        let others = now.busy.saturating_sub(before.busy).saturating_sub(known);
        // One tick of either kind may be counted late.
        Some((others.saturating_sub(2) as f64 / all as f64).min(1.0))
    }

    /// Clock ticks that this process used since then; 0 where the system does not tell.
    pub fn own(&self) -> u64 {
        let own = || Some(Ticks::now()?.own.saturating_sub(self.0?.own));
        own().unwrap_or(0)
    }

    /// Whether others used more than is tolerated.
    pub fn disturbed(&self) -> bool {
        self.others().is_some_and(|others| others > TOLERATED)
    }
}

impl Ticks {
    fn now() -> Option<Ticks> {
        Ticks::parse(&fs::read_to_string("/proc/stat").ok()?, &fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// From the texts of `/proc/stat` (`cpu user nice system idle iowait irq softirq steal ..`) and
    /// `/proc/self/stat` (user and system time are the fields 14 and 15; the second field may hold spaces).
    fn parse(system: &str, process: &str) -> Option<Ticks> {
        let line = system.lines().next()?.strip_prefix("cpu ")?;
        let columns: Vec<u64> =
            line.split_whitespace().filter_map(|text| text.parse().ok()).take(8).collect();
        let idle = columns.get(3)? + columns.get(4)?;
        let all: u64 = columns.iter().sum();
        let fields: Vec<&str> = process.rsplit_once(')')?.1.split_whitespace().collect();
        let own = |place: usize| fields.get(place)?.parse::<u64>().ok();
        Some(Ticks { all, busy: all - idle, own: own(11)? + own(12)? })
    }
}

/// Measurements that lie this much above the least of the same thing were disturbed: others only ever take time.
const NEAR_LEAST: f64 = 0.05;

/// What was measured of several things, and how calm it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// Of each thing, the seconds that count: those within 5 % of the least.
    pub seconds: Vec<Vec<f64>>,
    /// Measurements that others disturbed.
    pub disturbed: usize,
    /// Things of which too few measurements agreed.
    pub unsettled: usize,
}

/// Measures so many things in interleaved rounds, so that a change of the machine's mood meets all of them, `wanted`
/// times each, and what was disturbed alone again: until half of the wanted measurements of a thing agree with its
/// least, `most` times in all at most. A measurement of `measure` is in seconds.
///
/// # Errors
/// The first error of `measure`.
pub fn settled<E>(
    things: usize,
    (wanted, most): (usize, usize),
    mut measure: impl FnMut(usize) -> Result<f64, E>,
) -> Result<Settled, E> {
    let wanted = wanted.max(1);
    let mut all = vec![Vec::with_capacity(wanted); things];
    let enough = |seconds: &[f64]| near_least(seconds).len() > wanted / 2;
    for round in 0..most.max(wanted) {
        for (thing, seconds) in all.iter_mut().enumerate() {
            if round < wanted || !enough(seconds) {
                seconds.push(measure(thing)?);
            }
        }
        if round + 1 >= wanted && all.iter().all(|seconds| enough(seconds)) {
            break;
        }
    }
    let unsettled = all.iter().filter(|seconds| !enough(seconds)).count();
    let seconds: Vec<Vec<f64>> = all.iter().map(|seconds| near_least(seconds)).collect();
    let count = |lists: &[Vec<f64>]| lists.iter().map(Vec::len).sum::<usize>();
    Ok(Settled { disturbed: count(&all) - count(&seconds), seconds, unsettled })
}

fn near_least(seconds: &[f64]) -> Vec<f64> {
    let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    seconds.iter().copied().filter(|&seconds| seconds <= least * (1.0 + NEAR_LEAST)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_the_system_and_of_the_process() {
        let system = "cpu  100 20 30 1000 50 1 2 3 0 0\ncpu0 1 2 3\n";
        let mut fields = vec!["0"; 40];
        (fields[11], fields[12]) = ("40", "5");
        let process = format!("7 (a (strange) name) {}", fields.join(" "));
        assert_eq!(Ticks::parse(system, &process), Some(Ticks { all: 1206, busy: 156, own: 45 }));
        assert_eq!(Ticks::parse("", &process), None);
        assert_eq!(Ticks::parse(system, "7 (x) R"), None);
    }

    #[test]
    fn what_was_disturbed_is_measured_again_alone() {
        let mut calls = [0; 3];
        let settled = settled(3, (4, 12), |thing| {
            calls[thing] += 1;
            // The first is calm, the second is disturbed at first, the third always.
            Ok::<_, std::convert::Infallible>(match thing {
                0 => 1.0,
                1 if calls[1] <= 3 => 1.5,
                1 => 1.0,
                _ => f64::from(calls[2]),
            })
        });
        let settled = settled.unwrap();
        assert_eq!(calls, [4, 6, 12]);
        assert_eq!(settled.seconds, [vec![1.0; 4], vec![1.0; 3], vec![1.0]]);
        assert_eq!((settled.disturbed, settled.unsettled), (3 + 11, 1));
    }
}
