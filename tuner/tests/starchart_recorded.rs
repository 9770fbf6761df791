//! Trees of recorded spaces: the accuracy of the article's section 7 on the draws of
//! `numpy.random.RandomState(0 ..= 19).permutation(n)`, 200 designs to learn from and the next 200 to validate. Skipped,
//! and said so, where the recordings are not there.

use std::path::PathBuf;
use tuner::Value;
use tuner::recorded::{ReadOptions, Recorded};
use tuner::starchart::accuracy::{Learner, draw, hold_out, median_relative_error};
use tuner::starchart::iterative::{IterativeOptions, sample_in_order};
use tuner::starchart::model::ModelOptions;
use tuner::starchart::{Data, DataOptions, Goal, GrowOptions, Source, Table, grow};

fn data(name: &str, metric: &str) -> Option<Data> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    if !path.exists() {
        println!("SKIPPED: {name} is not there ({})", path.display());
        return None;
    }
    let recorded = Recorded::open(&path, &ReadOptions::default()).unwrap();
    let options = DataOptions { metrics: vec![metric.to_owned()], ..DataOptions::default() };
    Some(Data::new(&[Source::of(&recorded, Value::Integer(0))], &options).unwrap())
}

/// The mean over the draws of the median relative error with 200 samples.
fn error(learner: &dyn Learner, table: &Table, response: &[f64], draws: u32) -> f64 {
    let pool: Vec<u32> = (0..table.rows() as u32).collect();
    let errors = (0..draws).map(|seed| {
        let (training, validation) = hold_out(&pool, 200, 200, seed).unwrap();
        let predictor = learner.learn(table, response, &training).unwrap();
        median_relative_error(predictor.as_ref(), table, response, &validation).unwrap()
    });
    errors.sum::<f64>() / f64::from(draws)
}

/// A recording and its metric.
type File = (&'static str, &'static str);
/// Parameter, threshold, designs on the left, gain.
type ReferenceSplit = (&'static str, f64, usize, f64);

const A100: File = ("convolution/A100.json.gz", "time");
const LAPLACIAN: File = ("laplacian-k40c/search_space.csv.gz", "time_per_pixel");
const MI250X: File = ("convolution/MI250X.json.gz", "time");

/// scikit-learn 1.9 on the same draws has 0.1172, 0.3446 and 0.1599.
#[test]
fn plain_trees_are_as_accurate_as_those_of_scikit_learn() {
    for ((file, metric), most) in [(A100, 0.116), (LAPLACIAN, 0.342), (MI250X, 0.156)] {
        let Some(data) = data(file, metric) else { continue };
        let error = error(&GrowOptions::default(), &data.table, &data.responses[0].values, 20);
        println!("{file}: {error:.4}");
        assert!(error <= most, "{file}: {error}");
    }
}

#[test]
fn model_trees_are_more_accurate() {
    for ((file, metric), most) in [(A100, 0.10), (LAPLACIAN, 0.12), (MI250X, 0.15)] {
        let Some(data) = data(file, metric) else { continue };
        let error =
            error(&ModelOptions::default(), &data.table.with_alignments(), &data.responses[0].values, 20);
        println!("{file}: {error:.4}");
        assert!(error <= most, "{file}: {error}");
    }
}

/// Algorithm 2 with 60 + 60 and 60 + 140 samples against as many uniform ones: the error inside the box of the best 15 %
/// is lower by a fifth on average (the article: 21 %).
#[test]
fn iterative_sampling_is_more_accurate_where_the_best_designs_are() {
    let files = [
        A100,
        LAPLACIAN,
        MI250X,
        ("gemm/RTX_2080_Ti.json.gz", "time"),
        ("pnpoly/RTX_2080_Ti.json.gz", "time"),
        ("convolution/A4000.json.gz", "time"),
        ("pnpoly/RTX_Titan.json.gz", "time"),
    ];
    for samples in [120, 200] {
        let mut gains = Vec::new();
        for (file, metric) in files {
            let Some(data) = data(file, metric) else { continue };
            let (table, response) = (&data.table, &data.responses[0].values);
            let pool: Vec<u32> = (0..table.rows() as u32).collect();
            let (mut uniform, mut iterative) = (0.0, 0.0);
            for seed in 0..40 {
                let (training, validation) = hold_out(&pool, samples, 200, seed).unwrap();
                let mut free = draw(&pool, seed);
                free.retain(|row| !validation.contains(row));
                let options = IterativeOptions::for_budget(samples, Goal::Minimize);
                let sampled = sample_in_order(table, response, &free, &options);
                let inside: Vec<u32> = validation
                    .into_iter()
                    .filter(|&row| sampled.best_box.contains(table, row as usize))
                    .collect();
                let error = |rows: &[u32]| {
                    let tree = grow(table, response, rows, &GrowOptions::default()).unwrap();
                    median_relative_error(&tree, table, response, &inside)
                };
                if let (Some(one), Some(other)) = (error(&training), error(&sampled.rows)) {
                    uniform += one;
                    iterative += other;
                }
            }
            println!("{samples} samples, {file}: {:.1} % lower", 100.0 * (1.0 - iterative / uniform));
            gains.push(1.0 - iterative / uniform);
        }
        let mean = gains.iter().sum::<f64>() / gains.len() as f64;
        println!("{samples} samples: {:.1} % lower on average", 100.0 * mean);
        assert!(gains.is_empty() || mean >= 0.2, "{samples} samples: {mean}");
    }
}

/// Splits (parameter, threshold, designs on the left, gain) of scikit-learn 1.9 on all designs, level by level:
/// `DecisionTreeRegressor(max_depth=3)`.
#[test]
fn first_splits_are_those_of_scikit_learn() {
    let expected: [(File, [ReferenceSplit; 7]); 4] = [
        (
            A100,
            [
                ("use_shmem", 0.5, 1789, 2.784312e+03),
                ("read_only", 0.5, 955, 3.321065e+03),
                ("tile_size_y", 1.5, 666, 3.246897e+02),
                ("block_size_x", 24.0, 80, 6.138822e+01),
                ("tile_size_x", 2.5, 457, 4.798780e+02),
                ("block_size_y", 1.5, 180, 8.667939e+01),
                ("block_size_x", 24.0, 240, 6.368349e+01),
            ],
        ),
        (
            LAPLACIAN,
            [
                ("lws_y", 24.0, 13770, 5.556042e-14),
                ("vector_length", 12.0, 11380, 2.253757e-15),
                ("vector_length", 12.0, 7896, 4.266643e-14),
                ("threads_number", 48.0, 1920, 9.690555e-16),
                ("lws_y", 12.0, 1912, 1.330560e-15),
                ("vector_length", 6.0, 6048, 9.157343e-15),
                ("elements_number", 7.0, 810, 1.415855e-14),
            ],
        ),
        (
            MI250X,
            [
                ("use_shmem", 0.5, 1920, 2.794458e+05),
                ("tile_size_x", 2.5, 960, 6.799231e+04),
                ("tile_size_x", 1.5, 720, 2.882077e+04),
                ("block_size_x", 72.0, 320, 3.362180e+04),
                ("tile_size_y", 2.5, 480, 2.329428e+04),
                ("tile_size_y", 2.5, 360, 3.929157e+02),
                ("block_size_y", 3.0, 966, 1.859507e+04),
            ],
        ),
        (
            ("gemm/RTX_2080_Ti.json.gz", "time"),
            [
                ("NWG", 48.0, 4860, 2.609106e+06),
                ("NDIMC", 12.0, 2628, 9.798999e+05),
                ("NDIMC", 24.0, 10596, 3.263772e+05),
                ("NWG", 24.0, 876, 3.990145e+05),
                ("MWG", 96.0, 1320, 7.851202e+05),
                ("MWG", 24.0, 780, 1.143364e+05),
                ("NWG", 96.0, 1000, 2.378729e+05),
            ],
        ),
    ];
    for ((file, metric), splits) in expected {
        let Some(data) = data(file, metric) else { continue };
        let table = &data.table;
        let rows: Vec<u32> = (0..table.rows() as u32).collect();
        let options = GrowOptions { max_depth: Some(3), ..GrowOptions::default() };
        let tree = grow(table, &data.responses[0].values, &rows, &options).unwrap();
        let found: Vec<_> = tree.nodes().iter().filter_map(|node| node.split.as_ref()).collect();
        assert_eq!(found.len(), splits.len());
        for (split, (name, threshold, left, gain)) in found.into_iter().zip(splits) {
            assert_eq!(table.columns()[split.column].name(), name, "{file}");
            assert_eq!(split.threshold(table), Some(threshold), "{file}");
            assert_eq!(tree.nodes()[split.children[0]].count, left, "{file}");
            assert!((split.gain / gain - 1.0).abs() < 1e-6, "{file}: {} instead of {gain}", split.gain);
        }
    }
}
