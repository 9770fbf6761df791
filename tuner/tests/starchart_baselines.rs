//! What trees are compared with, and what is made of them: Stargazer, targets, the searcher.

use tuner::evaluator::Evaluator;
use tuner::run::{Budget, Run};
use tuner::searcher::{SearchOptions, named};
use tuner::starchart::accuracy::{Predictor, median};
use tuner::starchart::model::{ModelOptions, model_tree};
use tuner::starchart::stargazer::{StargazerOptions, stargazer};
use tuner::starchart::targets::{Summary, Target, meeting};
use tuner::starchart::{Column, GrowOptions, Table, grow};
use tuner::{Outcome, Parameter, Point, Result, Space, Value};

fn grid() -> (Table, Vec<u32>) {
    let rows = 0..400_u32;
    let column = |name, of: fn(u32) -> u32| {
        Column::numeric(name, &rows.clone().map(|i| f64::from(of(i))).collect::<Vec<_>>()).unwrap()
    };
    let columns =
        vec![column("x", |i| i % 10 + 1), column("y", |i| i / 10 % 10 + 1), column("idle", |i| i / 100)];
    (Table::new(columns).unwrap(), rows.collect())
}

fn error(predictor: &dyn Predictor, table: &Table, response: &[f64]) -> f64 {
    (0..table.rows()).map(|row| (predictor.predict(table, row) - response[row]).abs()).fold(0.0, f64::max)
}

/// A spline with an interaction is in the model class of Stargazer; a parameter that does nothing is left out.
#[test]
fn stargazer_finds_additive_models() {
    let (table, rows) = grid();
    let of = |row: u32| {
        let (x, y) = (table.columns()[0].value(row as usize), table.columns()[1].value(row as usize));
        (x, y)
    };
    let response: Vec<f64> =
        rows.iter().map(|&row| 3.0 + 2.0 * of(row).0 - of(row).1 + 0.5 * of(row).0 * of(row).1).collect();
    let model =
        stargazer(&table, &response, &rows, &StargazerOptions { least_rise: 1e-9, ..Default::default() })
            .unwrap();
    let terms: Vec<&str> = model.steps().iter().map(|step| step.term.as_str()).collect();
    assert!(
        terms.contains(&"x") && terms.contains(&"y") && terms.iter().any(|term| term.contains('*')),
        "{terms:?}"
    );
    assert!(!terms.contains(&"idle"), "{terms:?}");
    assert!(error(&model, &table, &response) < 1e-3);
    assert!(stargazer(&table, &response, &rows[..2], &StargazerOptions::default()).is_err());
}

/// Products of powers are linear in logarithms, and cross-validation sees it.
#[test]
fn model_trees_choose_logarithms() {
    let (table, rows) = grid();
    let value = |k: usize, row: u32| table.columns()[k].value(row as usize);
    let response: Vec<f64> = rows.iter().map(|&row| value(0, row).powf(1.5) / value(1, row)).collect();
    // Each x and y once: else cross-validation would see the same design in several parts.
    let half: Vec<u32> = (0..100).filter(|row| (row * 7 + row / 10 * 3) % 5 < 3).collect();
    let model = model_tree(&table, &response, &half, &ModelOptions::default()).unwrap();
    assert!(model.chosen().logarithm, "{:?}", model.chosen());
    let relative = |row: &u32| (model.predict(&table, *row as usize) / response[*row as usize] - 1.0).abs();
    let error = median(rows.iter().map(relative).collect()).unwrap();
    assert!(error < 0.05, "{error} with {:?}", model.chosen());
    // Responses that are not positive have no logarithm.
    let negative: Vec<f64> = response.iter().map(|value| value - 5.0).collect();
    assert!(!model_tree(&table, &negative, &half, &ModelOptions::default()).unwrap().chosen().logarithm);
    let one = model_tree(&table, &response, &[3], &ModelOptions::default()).unwrap();
    assert!((one.predict(&table, 3) - response[3]).abs() < 1e-9 * response[3]);
}

#[test]
fn targets_intersect_the_trees_of_two_metrics() {
    let (table, rows) = grid();
    let value = |k: usize, row: u32| table.columns()[k].value(row as usize);
    // Fast where x is great, economical where y is small.
    let time: Vec<f64> = rows.iter().map(|&row| 20.0 / value(0, row)).collect();
    let power: Vec<f64> = rows.iter().map(|&row| 100.0 + 10.0 * value(1, row)).collect();
    let targets = [Target::parse("time <= 4").unwrap(), Target::parse("power <= 130").unwrap()];
    let trees =
        [&time, &power].map(|response| grow(&table, response, &rows, &GrowOptions::default()).unwrap());
    let found = meeting(&table, &rows, &trees, &[&time, &power], &targets, Summary::Worst);
    assert_eq!(
        found.iter().map(|found| found.count).sum::<usize>(),
        6 * 3 * 4,
        "every design that meets both, once"
    );
    for subspace in &found {
        assert!(subspace.worst_excess <= 0.0 && subspace.meet == subspace.count, "{subspace:?}");
        assert!(subspace.rules.contains('x') && subspace.rules.contains('y'), "{subspace:?}");
    }
    assert!(found.windows(2).all(|pair| pair[0].worst_excess <= pair[1].worst_excess));
    let none = [Target::parse("time <= 1").unwrap(), targets[1].clone()];
    assert!(meeting(&table, &rows, &trees, &[&time, &power], &none, Summary::Mean).is_empty());
    for wrong in ["time", "time < 3", "<= 3", "time <= x", "time <= 3 <= 4"] {
        assert!(Target::parse(wrong).is_err(), "{wrong}");
    }
    assert!(!Target::parse("rate >= 2.5").unwrap().at_most);
}

/// A valley in two of four parameters.
struct Valley;

impl Evaluator for Valley {
    fn evaluate(&self, point: &Point) -> Result<Outcome> {
        let at = |k: usize| f64::from(point.levels()[k]);
        if at(2) > 28.0 {
            return Ok(Outcome::failed(tuner::Status::RunError, "too many"));
        }
        let response = 1.0 + (at(0) - 22.0).abs() + 2.0 * (at(1) - 7.0).abs() + 0.1 * at(2);
        Ok(Outcome::measured("time", response))
    }

    fn description(&self) -> String {
        "a valley".to_owned()
    }
}

#[test]
fn the_searcher_keeps_to_its_budget_and_beats_chance() {
    let levels: Vec<Value> = (0..32).map(Value::Integer).collect();
    let parameters: Vec<Parameter> =
        ["a", "b", "c", "d"].map(|name| Parameter::new(name, levels.clone()).unwrap()).into();
    // Four parameters of 32 levels are more points than are listed.
    let listed = Space::new(parameters[..3].to_vec(), &[]).unwrap();
    let large = Space::new(
        [parameters.clone(), vec![Parameter::new("e", levels).unwrap()]].concat(),
        &["a + b <= 60".into()],
    )
    .unwrap();
    for space in [&listed, &large] {
        let best = |method: &str, seed: u64| {
            let budget = Budget { evaluations: 120, time: None };
            let mut run = Run::new(space, "time", &Valley, budget, seed);
            let _ = named(method, &SearchOptions::default()).unwrap().search(&mut run);
            assert_eq!(run.trials().len(), 120, "{method}");
            run.best_response().unwrap()
        };
        let mean = |method: &str| (0..8).map(|seed| best(method, seed)).sum::<f64>() / 8.0;
        let (starchart, random) = (mean("starchart"), mean("random"));
        assert!(starchart < 0.7 * random, "{starchart} against {random}");
        assert_eq!(best("starchart", 3), best("starchart", 3));
    }
}
