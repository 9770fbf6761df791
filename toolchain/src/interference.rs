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
        let (before, now) = (self.0?, Ticks::now()?);
        let all = now.all.checked_sub(before.all).filter(|&all| all >= 10)?;
        let others =
            (now.busy.saturating_sub(before.busy)).saturating_sub(now.own.saturating_sub(before.own));
        // One tick of either kind may be counted late.
        Some((others.saturating_sub(2) as f64 / all as f64).min(1.0))
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

/// Rounds of a measurement, and what is known about them.
#[derive(Debug, Clone)]
pub struct Rounds<T> {
    /// The results that count.
    pub results: Vec<T>,
    /// Rounds that others disturbed.
    pub disturbed: usize,
    /// Whether disturbed rounds had to be counted, because there were not enough others.
    pub kept_disturbed: bool,
}

/// Repeats `measure` until `wanted` rounds were not disturbed, at most `3 * wanted` times in all; where that does not
/// suffice, the rounds that were disturbed least make up for the missing ones.
///
/// # Errors
/// The first error of `measure`.
pub fn rounds<T, E>(wanted: usize, mut measure: impl FnMut() -> Result<T, E>) -> Result<Rounds<T>, E> {
    let wanted = wanted.max(1);
    let mut results: Vec<(f64, T)> = Vec::new();
    let (mut clean, mut disturbed) = (0, 0);
    while clean < wanted && clean + disturbed < 3 * wanted {
        let watch = Watch::start();
        let result = measure()?;
        let others = watch.others().unwrap_or(0.0);
        if others > TOLERATED {
            disturbed += 1;
        } else {
            clean += 1;
        }
        results.push((others, result));
    }
    let kept_disturbed = clean < wanted;
    results.sort_by(|a, b| a.0.total_cmp(&b.0));
    results.truncate(wanted);
    Ok(Rounds { results: results.into_iter().map(|(_, result)| result).collect(), disturbed, kept_disturbed })
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
    fn there_are_always_as_many_results_as_wanted() {
        let mut calls = 0;
        let rounds = rounds(4, || {
            calls += 1;
            Ok::<_, std::convert::Infallible>(calls)
        });
        let rounds = rounds.unwrap();
        assert_eq!(rounds.results.len(), 4);
        assert!((4..=12).contains(&calls));
    }
}
