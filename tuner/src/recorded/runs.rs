//! Files of runs, as `validate --trials` writes them: a journal of what was measured, and one record per run of a tile.

use super::assemble::{Row, assemble};
use super::recording::{Format, Recorded};
use super::roles::Roles;
use crate::error::{Result, TunerError, malformed};
use crate::median::median;
use crate::trial::{Metric, Origin, Status, Trial};
use crate::value::Value;
use safe_io::journal;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// How such a file begins.
pub(super) const START: &[u8] = b"{\"record\":0,\"sum\":\"";
/// The metric.
const SECONDS: &str = "seconds";

/// The first line.
#[derive(Deserialize)]
struct Header {
    journal: String,
    of: Subject,
}

/// What the runs are of.
#[derive(Deserialize)]
struct Subject {
    stencil: String,
    threads: usize,
    processor: String,
}

/// One run.
#[derive(Deserialize)]
struct Run {
    tile: String,
    seconds: f64,
}

/// Reads a file of runs: a trial for each tile, with all of its runs as repetitions and their median as the value.
pub(super) fn read(path: &Path) -> Result<Recorded> {
    let failed = |reason| TunerError::File { action: "read", path: path.to_owned(), reason };
    let wrong = |reason: &str| malformed(path, "line 1", reason, "runs are kept by `validate --trials`");
    let header =
        journal::header_of(path).map_err(failed)?.ok_or_else(|| wrong("its checksum does not fit"))?;
    let content = journal::read(path, &header).map_err(failed)?;
    let header: Header =
        serde_json::from_str(&header).map_err(|_| wrong("it is a journal of something else than runs"))?;
    if header.journal != "runs" {
        return Err(wrong("it is a journal of something else than runs"));
    }
    let Subject { stencil, threads, processor } = header.of;
    let device = match threads {
        0 => format!("device {processor}"),
        threads => format!("processor {processor}, {threads} threads"),
    };
    // In the order of their first runs.
    let (mut order, mut runs) = (Vec::new(), BTreeMap::<String, Vec<f64>>::new());
    for record in &content.records {
        let Ok(run) = serde_json::from_str::<Run>(record) else { continue };
        if run.seconds.is_finite() {
            if !runs.contains_key(&run.tile) {
                order.push(run.tile.clone());
            }
            runs.entry(run.tile).or_default().push(run.seconds);
        }
    }
    let mut names: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for tile in order {
        let sizes: Option<Vec<(&str, i64)>> = tile
            .split(',')
            .map(|size| size.split_once('=').and_then(|(name, value)| Some((name, value.parse().ok()?))))
            .collect();
        let sizes = sizes.ok_or_else(|| malformed(path, "", format!("`{tile}` is no tile"), ""))?;
        let own: Vec<String> = sizes.iter().map(|(name, _)| (*name).to_owned()).collect();
        if names.is_empty() {
            names = own;
        } else if names != own {
            return Err(malformed(
                path,
                "",
                format!("`{tile}` has other sizes than the tiles before it"),
                "",
            ));
        }
        let repetitions = runs.remove(&tile).unwrap_or_default();
        let metric = Metric {
            value: median(repetitions.clone()).unwrap_or(f64::NAN),
            repetitions,
            unit: "s".to_owned(),
        };
        let trial = Trial {
            point: crate::space::Point::new(Vec::new()),
            status: Status::Ok,
            metrics: BTreeMap::from([(SECONDS.to_owned(), metric)]),
            message: String::new(),
            origin: Origin { device: device.clone(), by: "tilewright".to_owned(), ..Origin::default() },
        };
        rows.push(Row { values: sizes.into_iter().map(|(_, value)| Value::Integer(value)).collect(), trial });
    }
    let (space, trials) = assemble(path, &names, Vec::new(), rows)?;
    Ok(Recorded {
        path: path.to_owned(),
        damage: content.damage,
        format: Format::Runs,
        kernel: stencil,
        device,
        space,
        trials,
        response: SECONDS.to_owned(),
        roles: Roles::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::ReadOptions;
    use serde_json::json;

    fn file(folder: &Path, kind: &str, runs: &[(&str, f64)]) -> std::path::PathBuf {
        let path = folder.join("runs");
        let of = json!({"stencil": "heat2d", "source": "s", "size": [4, 4], "steps": 3, "threads": 2, "processor": "p"});
        let header = journal::header(kind, &of);
        let content = journal::read(&path, &header).unwrap();
        let journal = journal::Journal::open(&path, &header, &content).unwrap();
        for (tile, seconds) in runs {
            journal.append(&json!({"tile": tile, "seconds": seconds, "others": 0.0})).unwrap();
        }
        path
    }

    #[test]
    fn runs_of_a_tile_are_one_trial() {
        let folder = tempfile::tempdir().unwrap();
        let runs = [("st=2,s0=4", 3.0), ("st=1,s0=8", 1.0), ("st=2,s0=4", 5.0), ("st=2,s0=4", 4.0)];
        let path = file(folder.path(), "runs", &runs);
        let found = Recorded::open(&path, &ReadOptions::default()).unwrap();
        assert_eq!((found.format, found.kernel.as_str(), found.trials.len()), (Format::Runs, "heat2d", 2));
        assert_eq!(found.trials[0].response("seconds"), Some(4.0));
        assert_eq!(found.trials[0].metrics["seconds"].repetitions, [3.0, 5.0, 4.0]);
        assert_eq!(found.space.numbers(&found.trials[1].point), [1.0, 8.0]);
        // A damaged record is told and left out.
        let text = std::fs::read_to_string(&path).unwrap().replace("\"seconds\":1.0", "\"seconds\":9.0");
        std::fs::write(&path, text).unwrap();
        let found = Recorded::open(&path, &ReadOptions::default()).unwrap();
        assert_eq!((found.damage.len(), found.trials.len()), (1, 1));
    }

    #[test]
    fn other_journals_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), "sweep", &[("st=2,s0=4", 3.0)]);
        let error = Recorded::open(&path, &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().contains("something else"), "{error}");
        std::fs::write(&path, "{\"record\":0,\"sum\":\"0\",\"data\":{}}\n").unwrap();
        assert!(Recorded::open(&path, &ReadOptions::default()).is_err());
        let path = file(&folder.path().join("."), "runs", &[]);
        assert!(Recorded::open(&path, &ReadOptions::default()).is_err());
    }
}
