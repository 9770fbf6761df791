//! Scores on folds, where times have a limit, and forests of many variants.

use crate::support::{all, names, table};
use adaptive::Learned;
use adaptive::across_folds::across_folds;
use adaptive::table::Table;
use adaptive::train::{Kind, TrainOptions, train};

fn forest() -> TrainOptions {
    TrainOptions { kind: Kind::Forest, trees: 8, ..TrainOptions::default() }
}

/// Two variants that solve a half each, one that is slow and solves all but one input, which none does.
fn halves() -> Table {
    let mut table = table(120, &["left", "right", "slow"], 5, |x, _| {
        let of = |own: bool| if own { 1.0 } else { f64::INFINITY };
        vec![of(x < 5.0), of(x >= 5.0), 40.0]
    });
    table.cutoff = Some(50.0);
    table.rows[0].costs.fill(f64::INFINITY);
    table
}

#[test]
fn each_fold_is_scored_by_a_model_of_the_others() {
    let folds: Vec<usize> = (0..120).map(|row| row % 4).collect();
    let mut table = halves();
    let found = across_folds(&table, &folds, &[0, 1], &forest()).unwrap();
    // Three folds of 30 inputs that are all solved; in the first one an input counts ten time limits for everybody.
    assert_eq!(found.folds.iter().map(|fold| fold.inputs).collect::<Vec<_>>(), [30; 4]);
    assert_eq!((found.folds[1].exhaustive, found.folds[1].best_single), (1.0, 40.0));
    assert_eq!(found.folds[0].exhaustive, (29.0 + 500.0) / 30.0);
    assert!(found.lost.unwrap() < 0.5 && found.folds.iter().all(|fold| !fold.single), "{found:?}");
    // Features that take longer than they save: one variant for all, which needs none.
    table.rows.iter_mut().for_each(|row| row.feature_costs = vec![30.0, 15.0]);
    let found = across_folds(&table, &folds, &[0, 1], &forest()).unwrap();
    assert!(found.folds.iter().all(|fold| fold.single) && found.lost == Some(1.0), "{found:?}");
    let model = train(&table, &all(&table), &[0, 1], &forest()).unwrap().model;
    assert!(model.features.is_empty() && model.best(&[]) == 2);
    table.cutoff = None;
    assert!(across_folds(&table, &folds, &[0, 1], &forest()).is_err());
    assert!(across_folds(&halves(), &[0; 120], &[0, 1], &forest()).is_err());
}

/// What can be saved without any risk is saved, though a late run weighs fifty times as much.
#[test]
fn little_is_saved_beside_what_is_late() {
    let mut table = table(40, &["fast", "sure"], 1, |_, _| vec![0.0, 0.0]);
    for (at, row) in table.rows.iter_mut().enumerate() {
        let small = at < 20;
        row.features = vec![if small { at as f64 } else { at as f64 + 50.0 }, 0.0];
        row.costs = vec![if small { 2.0 } else { f64::INFINITY }, 22.0];
    }
    table.cutoff = Some(100.0);
    let folds: Vec<usize> = (0..40).map(|row| row % 4).collect();
    let found = across_folds(&table, &folds, &[0, 1], &forest()).unwrap();
    assert!(found.lost.unwrap() < 0.1 && found.folds.iter().all(|fold| !fold.single), "{found:?}");
}

#[test]
fn forests_choose_among_the_variants_that_complement_each_other() {
    let variants: Vec<String> = (0..20).map(|at| format!("v{at}")).collect();
    let named: Vec<&str> = variants.iter().map(String::as_str).collect();
    // Number 17 and number 3 are the best of a half each; the others are nowhere.
    let table = table(80, &named, 9, |x, _| {
        let cost = |at: usize| match at {
            17 => 1.0 + x,
            3 => 11.0 - x,
            at => 20.0 + at as f64,
        };
        (0..20).map(cost).collect()
    });
    assert_eq!(table.variants, names(&named));
    let model = train(&table, &all(&table), &[0, 1], &forest()).unwrap().model;
    let Learned::Forest(own) = &model.classifier else { panic!("{model:?}") };
    assert!(
        own.classes().len() == 12 && own.classes().contains(&17) && own.classes().contains(&3),
        "{:?}",
        own.classes()
    );
    assert_eq!((model.best(&[1.0, 5.0]), model.best(&[9.0, 5.0])), (17, 3));
}
