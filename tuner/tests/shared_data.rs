//! The recorded spaces of others, read as they are. Skipped, and said so, where they are not there.

use std::path::PathBuf;
use tuner::recorded::{ReadOptions, Recorded};
use tuner::{Space, Status};

/// A file of the shared data, or nothing and a line that says so.
fn shared(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    println!("SKIPPED: {name} is not there ({})", path.display());
    None
}

fn open(name: &str) -> Option<Recorded> {
    shared(name).map(|path| Recorded::open(&path, &ReadOptions::default()).unwrap())
}

#[test]
fn sizes_failures_and_minima() {
    let expected = [
        ("laplacian-k40c/search_space.csv.gz", 23_120, 0, 1.165013212480614e-10),
        ("convolution/A100.json.gz", 4_362, 161, 0.5536000076681376),
        ("convolution/A4000.json.gz", 4_362, 161, 1.021171996369958),
        ("convolution/A100_T4.json.gz", 4_362, 161, 0.5536000076681376),
        ("pnpoly/RTX_2080_Ti.json.gz", 4_092, 358, 0.015913600102066994),
    ];
    for (name, trials, failed, least) in expected {
        let Some(recorded) = open(name) else { continue };
        assert_eq!(recorded.trials.len(), trials, "{name}");
        assert_eq!(recorded.space.points().unwrap().len(), trials, "{name}");
        assert_eq!(trials - recorded.count(Status::Ok), failed, "{name}");
        let times = recorded.trials.iter().filter_map(|trial| trial.response(&recorded.response));
        assert_eq!(times.fold(f64::INFINITY, f64::min), least, "{name}");
    }
}

#[test]
fn cache_and_t4_hold_the_same() {
    let (Some(cache), Some(t4)) = (open("convolution/A100.json.gz"), open("convolution/A100_T4.json.gz"))
    else {
        return;
    };
    for (left, right) in cache.trials.iter().zip(&t4.trials) {
        assert_eq!(cache.space.values(&left.point), t4.space.values(&right.point));
        assert_eq!((left.status, left.response("time")), (right.status, right.response("time")));
    }
}

#[test]
fn the_conditions_of_t1_select_the_recorded_points() {
    let (Some(cache), Some(t1)) = (open("convolution/A100.json.gz"), open("convolution/T1.json")) else {
        return;
    };
    let values = |space: &Space| {
        let points = space.points().unwrap().iter();
        let mut texts: Vec<String> = points.map(|point| format!("{:?}", space.values(point))).collect();
        texts.sort();
        texts
    };
    assert_eq!(values(&cache.space), values(&t1.space));
}
