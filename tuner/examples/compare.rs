//! Mean slowdown of searchers on recorded spaces.
#![allow(missing_docs, clippy::unwrap_used)]
use tuner::evaluator::Replay;
use tuner::recorded::{ReadOptions, Recorded};
use tuner::repetitions::{Repetitions, Spread, repeat};
use tuner::searcher::{SearchOptions, named};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (methods, budgets, reps) = (&arguments[0], &arguments[1], arguments[2].parse().unwrap());
    for file in &arguments[3..] {
        let recorded = Recorded::open(file.as_ref(), &ReadOptions::default()).unwrap();
        let replay = Replay::new(&recorded, &recorded.response).unwrap();
        for method in methods.split(',') {
            let searcher = named(
                method,
                &SearchOptions { model: std::env::var("MODEL").ok(), ..SearchOptions::default() },
            )
            .unwrap();
            let start = std::time::Instant::now();
            let mut line = format!("{:<40} {method:<15}", file.rsplit("data/").next().unwrap());
            for budget in budgets.split(',') {
                let repetitions = Repetitions { count: reps, budget: budget.parse().unwrap(), seed: 1 };
                let outcomes =
                    repeat(&*searcher, &recorded.space, &replay, &recorded.response, repetitions, &|| true)
                        .unwrap();
                let spread = Spread::of(outcomes.iter().map(|outcome| outcome.slowdown));
                let used = Spread::of(outcomes.iter().map(|outcome| outcome.used as f64));
                line += &format!(
                    " {:>6.3} (max {:.2}, used {:.1}/{:.0})",
                    spread.mean, spread.max, used.mean, used.max
                );
            }
            println!("{line} {:.1}s", start.elapsed().as_secs_f64());
        }
    }
}
