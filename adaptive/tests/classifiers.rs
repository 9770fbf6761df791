//! Training and prediction of the kinds of classifiers.

use crate::support::{all, three};
use adaptive::ranking::Ranking;
use adaptive::train::{Data, Grid, Kind, TrainOptions, train, train_svm};
use adaptive::{Learned, model_file};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Decision values are LIBSVM's within 1e-6, and labels are equal, those of tied votes included.
#[test]
fn machines_are_those_of_libsvm() {
    let document: Value = serde_json::from_str(include_str!("data/svc.json")).unwrap();
    let mut ties = 0;
    for case in document["cases"].as_array().unwrap() {
        let points: Vec<Vec<f64>> = case["points"].as_array().unwrap().iter().map(numbers).collect();
        let labels: Vec<usize> = numbers(&case["labels"]).into_iter().map(|label| label as usize).collect();
        let variants = labels.iter().max().unwrap() + 1;
        let data = Data {
            places: (0..points.len()).collect(),
            costs: vec![vec![1.0; variants]; points.len()],
            weights: vec![1.0; points.len()],
            variants,
            default: 0,
            cutoff: None,
            choosing: 0.0,
            points,
            labels,
        };
        let rows: Vec<usize> = (0..data.len()).collect();
        let svm = train_svm(&data, &rows, case["c"].as_f64().unwrap(), case["gamma"].as_f64().unwrap());
        assert_eq!(svm.check(variants, data.points[0].len()), Ok(()));
        assert_eq!(svm.vectors.len() as u64, case["support_vectors"].as_u64().unwrap(), "{}", case["name"]);
        let queries = case["queries"].as_array().unwrap();
        for (at, query) in queries.iter().map(numbers).enumerate() {
            let expected = numbers(&case["decisions"][at]);
            let mut decisions = vec![0.0; expected.len()];
            svm.decisions(&query, &mut decisions);
            for (own, expected) in decisions.iter().zip(&expected) {
                assert!((own - expected).abs() < 1e-6, "{}: {own} {expected}", case["name"]);
            }
            let mut ranking = Ranking::new();
            svm.rank(&query, &mut ranking);
            assert_eq!(ranking.best().unwrap() as u64, case["predicted"][at].as_u64().unwrap());
        }
        ties += case["ties"].as_u64().unwrap();
    }
    assert!(ties >= 10, "only {ties} votes were tied");
}

#[test]
fn every_kind_learns_and_comes_back_from_its_file() {
    let (table, other) = (three(150, 1), three(200, 2));
    for kind in Kind::ALL {
        let options = TrainOptions { kind, grid: Grid::COARSE, trees: 15, ..TrainOptions::default() };
        let trained = train(&table, &all(&table), &[0, 1], &options).unwrap();
        let performances =
            other.rows.iter().map(|row| row.performance(trained.model.best(&row.features), 0.0).unwrap());
        let mean = performances.sum::<f64>() / other.rows.len() as f64;
        assert!(mean > 0.93 && trained.validated.performance > 0.9, "{}: {mean}", kind.name());
        let text = model_file::to_text(&trained.model).unwrap();
        assert_eq!(model_file::from_text(&text).unwrap(), trained.model);
        // The same data and seed give the same model.
        let again = train(&table, &all(&table), &[0, 1], &options).unwrap();
        assert_eq!(model_file::to_text(&again.model).unwrap(), text);
        match (&trained.model.classifier, kind) {
            (Learned::Svm(_), Kind::Svm | Kind::Auto) | (Learned::Forest(_), Kind::Forest | Kind::Auto) => {}
            (Learned::Tree(tree), Kind::Tree | Kind::Auto) => {
                let text = tree.text(&trained.model.variants, &trained.model.feature_names());
                assert!(text.contains("x <= ") && text.contains(" %"), "{text}");
            }
            (other, kind) => panic!("{kind:?} gave {other:?}"),
        }
    }
}

#[test]
fn few_inputs_and_no_features_are_enough() {
    let table = three(40, 3);
    let few = |rows: &[usize], features: &[usize], kind| {
        let options = TrainOptions { kind, grid: Grid::COARSE, trees: 3, ..TrainOptions::default() };
        train(&table, rows, features, &options).unwrap().model
    };
    for kind in Kind::ALL {
        for (rows, features) in
            [(&[0_usize][..], &[0_usize, 1][..]), (&[0, 1], &[0]), (&[0, 1, 2, 3, 4], &[])]
        {
            let model = few(rows, features, kind);
            assert_eq!(model.check(), Ok(()));
            assert!(model.best(&[1.0, 1.0][..features.len()]) < 3);
        }
    }
    assert!(train(&table, &[], &[0, 1], &TrainOptions::default()).is_err());
}
