//! Scores.

use adaptive::table::{Row, Table};
use variant_benchmarks::score::{Chosen, score};

fn table(costs: &[[f64; 2]]) -> Table {
    let row = |(at, costs): (usize, &[f64; 2])| Row {
        input: at.to_string(),
        family: if at < 2 { "few" } else { "many" }.to_owned(),
        costs: costs.to_vec(),
        ..Row::default()
    };
    Table {
        name: "made up".to_owned(),
        variants: vec!["a".to_owned(), "b".to_owned()],
        rows: costs.iter().enumerate().map(row).collect(),
        ..Table::default()
    }
}

/// Labels are those of the first run, times those of the second, and choosing is charged.
#[test]
fn two_runs_make_a_score() {
    let inf = f64::INFINITY;
    let labels = table(&[[1.0, 2.0], [1.0, 1.05], [inf, 3.0], [inf, inf]]);
    let times = table(&[[1.0, 2.0], [1.2, 1.0], [inf, 4.0], [inf, 1.0]]);
    let chosen = |variant, seconds| Chosen { variant, seconds };
    let chosen = [chosen(0, 1.0), chosen(1, 0.2), chosen(0, 0.0), chosen(1, 0.0)];
    let own = score(&labels, &times, &chosen).unwrap();
    assert_eq!((own.inputs, own.unsolved, own.risky, own.risky_solved), (3, 1, 1, 0));
    // What is not allowed is no risk.
    let mut forbidden = times.clone();
    forbidden.rows[2].forbidden = vec![0];
    assert_eq!(score(&labels, &forbidden, &chosen).unwrap().risky, 0);
    // 1 / (1 + 1), 1.2 / (1 + 0.2), and nothing where the chosen one fails.
    assert!((own.performance - (0.5 + 1.0) / 3.0).abs() < 1e-12);
    assert!((own.performance_of_choices - (1.0 + 1.2) / 3.0).abs() < 1e-12);
    assert_eq!((own.best_single.as_str(), own.least), ("b", 0.0));
    let single = (0.5 + 1.2 + 1.0) / 3.0;
    assert!((own.best_single_performance - single).abs() < 1e-12);
    assert!((own.gap_closed.unwrap() - (0.5 - single) / (1.0 - single)).abs() < 1e-12);
    let [a, b] = &own.variants[..] else { panic!("two variants") };
    assert_eq!((a.best, a.failed, b.failed), (2.0 / 3.0, 1, 0));
    assert_eq!((a.best_by_a_tenth, b.best_by_a_tenth), (1.0 / 3.0, 1.0 / 3.0));
    assert_eq!(own.families.iter().map(|own| own.inputs).collect::<Vec<_>>(), [2, 1]);
    // Of 0, 0, 0.2, 1 / 21 and a third.
    assert!((own.noise - 1.0 / 21.0).abs() < 1e-12);
    assert!(score(&table(&[]), &table(&[]), &[]).is_none());
}
