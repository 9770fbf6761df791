//! The searchers on recorded spaces, against published figures. Fewer repetitions than there, the seeds fixed; skipped,
//! and said so, where the data is not there.

use std::path::PathBuf;
use tuner::evaluator::Replay;
use tuner::recorded::{ReadOptions, Recorded};
use tuner::repetitions::{Outcome, Repetitions, repeat};
use tuner::searcher::{SearchOptions, named};

/// Model of Bruel et al. (2019), section V.A.
const MODEL: &str = "~ y_component_number + I(1/y_component_number) + vector_length + lws_y + I(1/lws_y) + \
     load_overlap + temporary_size + elements_number + I(1/elements_number) + threads_number + I(1/threads_number)";

fn open(name: &str) -> Option<(Recorded, Replay)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    if !path.exists() {
        println!("SKIPPED: {name} is not there ({})", path.display());
        return None;
    }
    let recorded = Recorded::open(&path, &ReadOptions::default()).unwrap();
    let replay = Replay::new(&recorded, &recorded.response).unwrap();
    Some((recorded, replay))
}

fn outcomes(
    (recorded, replay): &(Recorded, Replay),
    method: &str,
    budget: usize,
    count: usize,
) -> Vec<Outcome> {
    let model = recorded.path.to_string_lossy().contains("laplacian").then(|| MODEL.to_owned());
    let searcher = named(method, &SearchOptions { model, ..SearchOptions::default() }).unwrap();
    let repetitions = Repetitions { count, budget, seed: 1 };
    repeat(&*searcher, &recorded.space, replay, &recorded.response, repetitions, &|| true).unwrap()
}

fn mean(outcomes: &[Outcome]) -> f64 {
    outcomes.iter().map(|outcome| outcome.slowdown).sum::<f64>() / outcomes.len() as f64
}

/// Table VIII.
#[test]
fn laplacian_on_a_k40c() {
    let Some(problem) = open("laplacian-k40c/search_space.csv.gz") else { return };
    for (method, count, published) in
        [("random", 400, 1.10), ("lhs", 60, 1.17), ("greedy-restart", 400, 1.23), ("genetic", 400, 1.12)]
    {
        let mean = mean(&outcomes(&problem, method, 125, count));
        assert!((mean - published).abs() <= 0.05, "{method}: {mean}");
    }
    let designed = outcomes(&problem, "dlmt", 125, 12);
    assert!(mean(&designed) <= 1.02, "{}", mean(&designed));
    assert!(designed.iter().all(|outcome| outcome.slowdown <= 1.05 && outcome.used <= 60));
    let random = outcomes(&problem, "lm", 125, 12);
    assert!(mean(&random) <= 1.05, "{}", mean(&random));
}

/// The best of Kernel Tuner's strategies: 1.24 after 50 measurements, over 30 repetitions.
#[test]
fn convolution_on_an_a4000() {
    let Some(problem) = open("convolution/A4000.json.gz") else { return };
    let found = outcomes(&problem, "surrogate", 50, 4);
    assert!(mean(&found) <= 1.24, "{}", mean(&found));
}

/// A space in which many configurations fail, and none of those is the winner.
#[test]
fn failures_never_win() {
    let Some(problem) = open("pnpoly/RTX_2080_Ti.json.gz") else { return };
    for method in ["surrogate", "dlmt", "genetic", "starchart"] {
        for outcome in outcomes(&problem, method, 30, 2) {
            assert!(outcome.best.is_some() && outcome.slowdown >= 1.0 && outcome.used <= 30, "{method}");
        }
    }
}
