//! How few labels do.

use adaptive::table::{Row, Table};
use adaptive::train::{Grid, Kind, TrainOptions};
use variant_benchmarks::convergence::convergence;

/// Two variants, each the best on one side of a bound.
fn table(count: usize, first: usize) -> Table {
    let row = |at: usize| {
        let x = ((first + at) * 37 % 101) as f64;
        Row {
            input: (first + at).to_string(),
            features: vec![x],
            feature_costs: vec![0.0],
            costs: vec![1.0 + x, 71.5],
            ..Row::default()
        }
    };
    Table {
        name: "made up".to_owned(),
        variants: vec!["a".to_owned(), "b".to_owned()],
        features: vec!["x".to_owned()],
        metric: "cost".to_owned(),
        rows: (0..count).map(row).collect(),
        ..Table::default()
    }
}

#[test]
fn chosen_labels_are_worth_more() {
    let options = TrainOptions { kind: Kind::Svm, grid: Grid::COARSE, ..TrainOptions::default() };
    let (pool, held_out) = (table(60, 0), table(40, 60));
    let own = convergence(&pool, &held_out, &[0], &options, 3).unwrap();
    assert_eq!((own.pool, own.seeds), (60, 3));
    assert!(own.whole > 0.98, "{own:?}");
    assert!(own.chosen.with_a_quarter > 0.97 && own.chosen.with_a_quarter <= 1.0, "{own:?}");
    assert!(own.chosen.with_a_quarter >= own.random.with_a_quarter, "{own:?}");
    assert!(own.chosen.needed <= own.random.needed && own.random.needed <= 60.0, "{own:?}");
    assert!(own.chosen.enough <= 3);
    assert!(convergence(&pool, &held_out, &[0], &options, 0).is_err());
    assert!(convergence(&table(0, 0), &held_out, &[0], &options, 1).is_err());
    assert!(convergence(&pool, &table(0, 0), &[0], &options, 1).is_err());
}
