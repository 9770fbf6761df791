//! What the name of a column tells, whatever its values are.

/// What a measured quantity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measured {
    /// The time of a run: what is minimised where nobody says otherwise.
    Time,
    /// Another quantity of which less is better, or something about a time, such as its deviation.
    Other,
    /// More is better: it is never minimised unless somebody says so.
    Rate,
}

/// What a name tells of its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    /// A measured quantity.
    Measured(Measured),
    /// How a trial ended. `yes_or_no`: numbers are the answer to a question such as "is it valid?".
    Status { yes_or_no: bool },
    /// It numbers the rows.
    Row,
    /// When it was.
    Moment,
    /// Remarks and messages.
    Remark,
    /// It counts repetitions.
    Repetition,
    /// It may be a parameter, or something that was measured or computed.
    Unclear,
    /// Nothing.
    Nothing,
}

const TIMES: [&str; 15] = [
    "time",
    "runtime",
    "walltime",
    "elapsed",
    "duration",
    "latency",
    "seconds",
    "secs",
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "msec",
    "usec",
    "nsec",
    "makespan",
];
const OTHERS: [&str; 12] = [
    "energy",
    "power",
    "watt",
    "watts",
    "joule",
    "joules",
    "edp",
    "cycles",
    "ticks",
    "cost",
    "millijoules",
    "milliwatts",
];
const RATES: [&str; 16] = [
    "flops",
    "kflops",
    "mflops",
    "gflops",
    "tflops",
    "throughput",
    "bandwidth",
    "speedup",
    "fps",
    "iops",
    "gbps",
    "mbps",
    "mlups",
    "glups",
    "gcups",
    "ipc",
];
/// Words that only say which of several times, powers or rates it is.
const QUALIFIERS: [&str; 62] = [
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "ms",
    "msec",
    "millisecond",
    "milliseconds",
    "us",
    "usec",
    "microsecond",
    "microseconds",
    "ns",
    "nsec",
    "nanoseconds",
    "h",
    "j",
    "mj",
    "uj",
    "kj",
    "w",
    "mw",
    "kw",
    "wh",
    "kwh",
    "joule",
    "joules",
    "watt",
    "watts",
    "gb",
    "mb",
    "mean",
    "median",
    "avg",
    "average",
    "min",
    "minimum",
    "max",
    "maximum",
    "best",
    "total",
    "sum",
    "geomean",
    "wall",
    "run",
    "running",
    "kernel",
    "exec",
    "execution",
    "gpu",
    "cpu",
    "elapsed",
    "real",
    "user",
    "sys",
    "device",
    "host",
    "measured",
    "observed",
    "clock",
    "the",
];
/// Words that make of a time something that is not the time of the run.
const ABOUT: [&str; 16] = [
    "std",
    "stddev",
    "stdev",
    "deviation",
    "var",
    "variance",
    "compile",
    "compilation",
    "build",
    "framework",
    "strategy",
    "verification",
    "benchmark",
    "setup",
    "overhead",
    "transfer",
];
const STATUSES: [&str; 4] = ["status", "outcome", "invalidity", "verdict"];
const YES_OR_NO: [&str; 10] = [
    "valid",
    "correct",
    "correctness",
    "passed",
    "pass",
    "success",
    "successful",
    "succeeded",
    "ok",
    "verified",
];
const ROWS: [&str; 8] = ["row", "line", "nr", "no", "#", "trial", "sample", "configuration"];
const MOMENTS: [&str; 8] =
    ["timestamp", "date", "datetime", "when", "epoch", "started", "finished", "measured_at"];
const REMARKS: [&str; 12] = [
    "message", "messages", "comment", "comments", "note", "notes", "remark", "remarks", "reason", "stderr",
    "stdout", "log",
];
const REPETITIONS: [&str; 11] = [
    "rep",
    "reps",
    "repetition",
    "repetitions",
    "repeat",
    "run",
    "iteration",
    "iter",
    "seed",
    "attempt",
    "round",
];
const UNCLEAR: [&str; 40] = [
    "registers",
    "regs",
    "spill",
    "spills",
    "occupancy",
    "misses",
    "hits",
    "instructions",
    "insts",
    "score",
    "residual",
    "accuracy",
    "loss",
    "rank",
    "temperature",
    "temp",
    "utilization",
    "utilisation",
    "efficiency",
    "intensity",
    "error",
    "errors",
    "variance",
    "std",
    "stddev",
    "stdev",
    "objective",
    "response",
    "result",
    "value",
    "output",
    "quality",
    "fitness",
    "performance",
    "perf",
    "flop",
    "ops",
    "failed",
    "failure",
    "state",
];

/// The words of a name, in small letters: `execTime [ms]` has `exec`, `time` and `ms`; `/s` is `per s`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if c == '/' {
            words.extend(["per".to_owned(), String::new()]);
        } else if !c.is_alphanumeric() || (small && c.is_uppercase()) {
            words.push(String::new());
        }
        small = c.is_lowercase();
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What this name tells.
pub(super) fn telling(name: &str) -> Telling {
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(measured) = measured(&words) {
        return Telling::Measured(measured);
    }
    let lower = name.trim().to_lowercase();
    let core = match words.as_slice() {
        ["is" | "was", rest] => rest,
        [word] => word,
        _ => lower.as_str(),
    };
    let ends = words.last().copied().unwrap_or_default();
    if STATUSES.contains(&core) {
        Telling::Status { yes_or_no: false }
    } else if YES_OR_NO.contains(&core) {
        Telling::Status { yes_or_no: true }
    } else if lower.is_empty() || lower.starts_with("unnamed") || ROWS.contains(&core) || numbers(&words) {
        Telling::Row
    } else if MOMENTS.contains(&core) || ["timestamp", "datetime"].contains(&ends) {
        Telling::Moment
    } else if REMARKS.contains(&ends) {
        Telling::Remark
    } else if REPETITIONS.contains(&core) {
        Telling::Repetition
    } else if words.iter().any(|word| UNCLEAR.contains(word)) {
        Telling::Unclear
    } else {
        Telling::Nothing
    }
}

/// Whether words such as `config id` and `trial number` name what numbers the rows.
fn numbers(words: &[&str]) -> bool {
    match words {
        [.., "id" | "idx" | "index" | "uuid"] => true,
        [what, "number"] => ROWS.contains(what),
        _ => false,
    }
}

/// Whether the name is that of a rate, of which more is better.
pub(super) fn is_rate(name: &str) -> bool {
    telling(name) == Telling::Measured(Measured::Rate)
}

fn measured(words: &[&str]) -> Option<Measured> {
    let per = words.iter().position(|word| *word == "per");
    let (head, behind) = words.split_at(per.unwrap_or(words.len()));
    let unit_of_time =
        |word: &&str| ["s", "sec", "second", "seconds", "ms", "us", "ns", "cycle"].contains(word);
    if per.is_some() && behind.get(1).is_some_and(unit_of_time) && !head.is_empty() {
        return Some(Measured::Rate);
    }
    let kind = |word: &str| {
        let kinds =
            [(&TIMES[..], Measured::Time), (&OTHERS[..], Measured::Other), (&RATES[..], Measured::Rate)];
        kinds.into_iter().find(|(known, _)| known.contains(&word)).map(|(_, kind)| kind)
    };
    // `watts` qualifies `power`, but it is a quantity by itself, too.
    let found = head.iter().position(|word| kind(word).is_some()).or_else(|| {
        let unit = |word: &&str| ["ms", "us", "ns", "s"].contains(word);
        (per.is_some() && head.len() == 1 && unit(&head[0])).then_some(0)
    })?;
    let others = head.iter().enumerate().filter(|(place, _)| *place != found).map(|(_, word)| *word);
    let about = others.clone().any(|word| ABOUT.contains(&word));
    if !others.clone().all(|word| QUALIFIERS.contains(&word) || ABOUT.contains(&word) || kind(word).is_some())
    {
        return None;
    }
    let kind = kind(head[found]).unwrap_or(Measured::Time);
    // Work per watt or per joule: more is better, whatever stands in front.
    let efficiency = behind.get(1).is_some_and(|word| OTHERS.contains(word) || RATES.contains(word));
    Some(match kind {
        _ if efficiency => Measured::Rate,
        Measured::Time if about => Measured::Other,
        kind => kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_quantities() {
        for (names, expected) in [
            (
                &[
                    "time",
                    "Time",
                    "runtime",
                    "time_per_pixel",
                    "time_ms",
                    "Time [ms]",
                    "exec_time",
                    "execTime (s)",
                    "elapsed",
                    "seconds",
                    "kernel time",
                    "run_time_us",
                    "latency_ns",
                    "RUNTIME",
                    "ms/iteration",
                    "mean_time",
                    "time_s_median",
                ][..],
                Measured::Time,
            ),
            (&["power", "energy_j", "Power (W)", "edp", "compile_time", "time_std", "cost"], Measured::Other),
            (
                &[
                    "gflops",
                    "GFLOP/s",
                    "GFlops",
                    "points_per_second",
                    "bandwidth_gb_s",
                    "GB/s",
                    "gflops_per_watt",
                ],
                Measured::Rate,
            ),
        ] {
            for name in names {
                assert_eq!(telling(name), Telling::Measured(expected), "{name}");
            }
        }
    }

    #[test]
    fn parameters_that_look_like_quantities() {
        for name in
            ["time_tile", "time_steps", "power_limit", "energy_weight", "x", "s", "ns", "per", "timeout"]
        {
            assert!(!matches!(telling(name), Telling::Measured(_)), "{name}");
        }
    }

    #[test]
    fn other_columns() {
        assert_eq!(telling("status"), Telling::Status { yes_or_no: false });
        assert_eq!(telling("is_valid"), Telling::Status { yes_or_no: true });
        for name in ["", "Unnamed: 0", "id", "config_id", "index", "#", "trial_number"] {
            assert_eq!(telling(name), Telling::Row, "{name}");
        }
        assert_eq!(telling("timestamp"), Telling::Moment);
        assert_eq!(telling("error_message"), Telling::Remark);
        assert_eq!(telling("registers"), Telling::Unclear);
        assert_eq!(telling("block_size_x"), Telling::Nothing);
    }
}
