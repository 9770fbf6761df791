//! The examples of Bruel et al. (2019) and values computed with R 4.2.

use super::fedorov::{DesignRequest, d_optimal};
use super::formula::Formula;
use super::model::Contrasts;
use super::plackett_burman::plackett_burman;
use super::*;
use crate::space::{Point, Space};
use nalgebra::DMatrix;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use trials::Parameter;
use trials::Value;

fn close(left: f64, right: f64, tolerance: f64) {
    assert!((left - right).abs() <= tolerance * right.abs().max(1e-3), "{left} is not {right}");
}

/// The space of the example, with the levels -1, -0.8, .. 1 of each factor.
fn example(names: &[&str]) -> Space {
    let levels = || (-5..=5).map(|level| Value::Real(f64::from(level) / 5.0)).collect();
    let parameters = names.iter().map(|name| Parameter::new(*name, levels()).unwrap()).collect();
    Space::new(parameters, &[]).unwrap()
}

fn points(space: &Space, rows: &[&[f64]]) -> Vec<Point> {
    let values = |row: &&[f64]| row.iter().map(|&value| Value::Real(value)).collect::<Vec<_>>();
    rows.iter().map(|row| space.point(&values(row)).unwrap()).collect()
}

fn fitted(space: &Space, formula: &str, rows: &[Point], response: &[f64]) -> (Model, Fit) {
    let names: Vec<&str> = space.parameters().iter().map(Parameter::name).collect();
    let formula = Formula::parse(formula, &names).unwrap();
    let model = Model::new(&formula, space, Contrasts::Treatment).unwrap();
    let fit = Fit::new(&model.matrix(space, rows).unwrap(), response).unwrap();
    (model, fit)
}

/// Table I: runs and response.
const TABLE_I: [([i8; 8], f64); 12] = [
    ([1, -1, 1, 1, 1, -1, -1, -1], 13.74),
    ([-1, 1, -1, 1, 1, -1, 1, 1], 10.19),
    ([-1, 1, 1, -1, 1, 1, 1, -1], 9.22),
    ([1, 1, -1, 1, 1, 1, -1, -1], 7.64),
    ([1, 1, 1, -1, -1, -1, 1, -1], 8.63),
    ([-1, 1, 1, 1, -1, -1, -1, 1], 11.53),
    ([-1, -1, -1, 1, -1, 1, 1, -1], 2.09),
    ([1, 1, -1, -1, -1, 1, -1, 1], 9.02),
    ([1, -1, -1, -1, 1, -1, 1, 1], 10.68),
    ([1, -1, 1, 1, -1, 1, 1, 1], 11.23),
    ([-1, -1, -1, -1, -1, -1, -1, -1], 5.33),
    ([-1, -1, 1, -1, 1, 1, -1, 1], 14.79),
];

#[test]
fn plackett_burman_designs_are_orthogonal() {
    for factors in 1..48 {
        let design = plackett_burman(factors).unwrap();
        let runs = design.runs.len();
        assert_eq!(runs, (factors / 4 + 1) * 4, "{factors} factors");
        for left in 0..runs - 1 {
            assert_eq!(design.runs.iter().map(|run| i32::from(run[left])).sum::<i32>(), 0);
            for right in 0..left {
                let product = |run: &Vec<i8>| i32::from(run[left]) * i32::from(run[right]);
                assert_eq!(design.runs.iter().map(product).sum::<i32>(), 0);
            }
        }
    }
}

/// Tables I to III: which factors the screening design finds, and what the linear model predicts.
#[test]
fn screening_example() {
    // The published design is ours, with runs and columns in another order: every pair of columns is balanced.
    let ours = plackett_burman(8).unwrap();
    assert_eq!(ours.runs.len(), TABLE_I.len());
    let names = ["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"];
    let space = example(&names);
    let rows: Vec<Vec<f64>> =
        TABLE_I.iter().map(|(run, _)| run.iter().map(|&v| f64::from(v)).collect()).collect();
    let rows = points(&space, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let response: Vec<f64> = TABLE_I.iter().map(|(_, y)| *y).collect();
    let (model, fit) = fitted(&space, "~ x1+x2+x3+x4+x5+x6+x7+x8", &rows, &response);
    let anova = Anova::of(&model, &fit);
    let published = [
        (8.382, 0.063),
        (0.370, 0.586),
        (80.902, 0.003),
        (0.215, 0.675),
        (46.848, 0.006),
        (5.154, 0.108),
        (13.831, 0.034),
        (59.768, 0.004),
    ];
    for (row, (f, p)) in anova.rows.iter().zip(published) {
        // The responses are printed with two decimals.
        assert!((row.f - f).abs() < 0.02 * f + 0.01 && (row.p - p).abs() < 0.002, "{row:?}");
    }
    let (model, fit) = fitted(&space, "~ x1+x3+x5+x7+x8", &rows, &response);
    let all = space_corners(&space, &[0, 2, 4, 6, 7]);
    let best = all
        .iter()
        .min_by(|a, b| fit.predict(&model.row(&space, a)).total_cmp(&fit.predict(&model.row(&space, b))));
    let best = space.numbers(best.unwrap());
    assert_eq!([best[0], best[2], best[4], best[6], best[7]], [-1.0, -1.0, -1.0, 1.0, -1.0]);
}

/// Points with the least or largest level of some parameters and the least of the others.
fn space_corners(space: &Space, places: &[usize]) -> Vec<Point> {
    (0..1u32 << places.len())
        .map(|bits| {
            let mut point = Point::new(vec![0; space.parameters().len()]);
            for (bit, &place) in places.iter().enumerate() {
                if bits >> bit & 1 == 1 {
                    point = point.with(place, space.parameters()[place].len() as u32 - 1);
                }
            }
            point
        })
        .collect()
}

/// Tables IV to VI: the fit of the D-optimal design, and a design of ours that is at least as good.
#[test]
fn d_optimal_example() {
    const TABLE_IV: [([f64; 5], f64); 12] = [
        ([-1.0, -1.0, -1.0, -1.0, -1.0], 2.455),
        ([-1.0, 1.0, 1.0, -1.0, -1.0], 6.992),
        ([1.0, -1.0, -1.0, 1.0, -1.0], -7.776),
        ([1.0, 1.0, 1.0, 1.0, -1.0], 4.163),
        ([1.0, 1.0, -1.0, -1.0, 0.0], 0.862),
        ([-1.0, 1.0, 1.0, -1.0, 0.0], 5.703),
        ([1.0, -1.0, -1.0, 1.0, 0.0], -9.019),
        ([-1.0, -1.0, 1.0, 1.0, 0.0], 2.653),
        ([-1.0, -1.0, -1.0, -1.0, 1.0], 1.951),
        ([1.0, -1.0, 1.0, -1.0, 1.0], 0.446),
        ([-1.0, 1.0, -1.0, 1.0, 1.0], -2.383),
        ([1.0, 1.0, 1.0, 1.0, 1.0], 4.423),
    ];
    let space = example(&["x1", "x3", "x5", "x7", "x8"]);
    let rows: Vec<&[f64]> = TABLE_IV.iter().map(|(row, _)| row.as_slice()).collect();
    let rows = points(&space, &rows);
    let response: Vec<f64> = TABLE_IV.iter().map(|(_, y)| *y).collect();
    let formula = "~ x1 + x3 + x5 + x7 + x8 + I(x8^2) + x1:x3";
    let (model, fit) = fitted(&space, formula, &rows, &response);
    let published = [
        (0.050, 0.305, 0.776),
        (-1.452, -14.542, 0.000),
        (1.527, 15.292, 0.000),
        (2.682, 26.857, 0.000),
        (-1.712, -17.141, 0.000),
        (-0.175, -1.516, 0.204),
        (1.234, 6.180, 0.003),
        (1.879, 19.955, 0.000),
    ];
    for (column, (estimate, t, p)) in published.into_iter().enumerate() {
        let (our_t, our_p) = fit.t_test(column).unwrap();
        let name = &model.names()[column];
        assert!((fit.coefficients[column].unwrap() - estimate).abs() < 0.002, "{name}");
        assert!((our_t - t).abs() < 0.02 && (our_p - p).abs() < 0.001, "{name}: {our_t}, {our_p}");
    }
    // Corners and centre are enough candidates for this model.
    let candidates: Vec<Point> = (0..3u32.pow(5))
        .map(|number| Point::new((0..5).map(|place| number / 3u32.pow(place) % 3 * 5).collect()))
        .collect();
    let matrix = model.matrix(&space, &candidates).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let request = DesignRequest { runs: 12, starts: 10, ..DesignRequest::default() };
    let design = d_optimal(&matrix, &request, &mut rng).unwrap();
    let theirs: Vec<usize> =
        rows.iter().map(|row| candidates.iter().position(|candidate| candidate == row).unwrap()).collect();
    assert!(design.d_efficiency >= fedorov::d_efficiency(&matrix, &theirs) - 1e-9, "{design:?}");
    // Table VI: the best point of the quadratic model.
    let value = |point: &&Point| fit.predict(&model.row(&space, point));
    let best = space.points().unwrap().iter().min_by(|a, b| value(a).total_cmp(&value(b))).unwrap();
    let best = space.numbers(best);
    assert_eq!(best[..4], [1.0, -1.0, -1.0, 1.0]);
    assert!(best[4].abs() <= 0.2);
}

#[test]
fn designs_obey_what_is_forced_and_forbidden() {
    let space = example(&["a", "b"]);
    let names = ["a", "b"];
    let formula = Formula::parse("~ (a + b)^2 + I(a^2) + I(b^2)", &names).unwrap();
    let model = Model::new(&formula, &space, Contrasts::Treatment).unwrap();
    let matrix = model.matrix(&space, space.points().unwrap()).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let free = DesignRequest { runs: 9, starts: 5, ..DesignRequest::default() };
    let best = d_optimal(&matrix, &free, &mut rng).unwrap();
    let forced = [17, 44];
    let request = DesignRequest { forced: &forced, forbidden: &best.rows[..2], ..free.clone() };
    let design = d_optimal(&matrix, &request, &mut rng).unwrap();
    assert_eq!(design.rows[..2], forced);
    assert!(best.rows[..2].iter().all(|row| !design.rows.contains(row)));
    assert!(design.d_efficiency <= best.d_efficiency);
    let problem = |request: DesignRequest<'_>| {
        d_optimal(&matrix, &request, &mut ChaCha8Rng::seed_from_u64(2)).unwrap_err().to_string()
    };
    let few = DesignRequest { runs: 5, ..DesignRequest::default() };
    assert_eq!(problem(few), "a design of 5 runs cannot identify 6 coefficients");
    let both = DesignRequest { runs: 9, forced: &[3], forbidden: &[3], ..DesignRequest::default() };
    assert!(problem(both).contains("forbidden"));
    let twice = DMatrix::from_fn(20, 2, |row, _| row as f64);
    let request = DesignRequest { runs: 4, ..DesignRequest::default() };
    assert!(d_optimal(&twice, &request, &mut rng).unwrap_err().to_string().contains("do not identify"));
}

#[test]
fn least_squares_leaves_out_dependent_columns() {
    let matrix =
        DMatrix::from_row_slice(5, 3, &[1., 1., 2., 1., 2., 4., 1., 3., 6., 1., 4., 8., 1., 5., 10.]);
    let fit = Fit::new(&matrix, &[1.0, 3.1, 4.9, 7.2, 8.8]).unwrap();
    assert!(fit.coefficients[2].is_none() && fit.rank() == 2 && fit.residual_freedom == 3);
    close(fit.coefficients[1].unwrap(), 1.97, 1e-12);
    assert!(Fit::new(&matrix, &[1.0]).is_err());
}

#[test]
fn transformations_are_inverse() {
    for lambda in [-1.0, -0.3, 0.0, 1e-13, 0.5, 2.0] {
        close(box_cox::inverse(box_cox::transform(3.7, lambda), lambda).unwrap(), 3.7, 1e-12);
    }
    // Responses whose logarithms are a straight line and noise: the exponent is near 0.
    let rows = 40;
    let matrix = DMatrix::from_fn(rows, 2, |row, column| if column == 0 { 1.0 } else { row as f64 });
    let noise = |row: usize| ((row * 7919 % 101) as f64 / 101.0 - 0.5) * 0.2;
    let response: Vec<f64> = (0..rows).map(|row| (0.1 * row as f64 + noise(row)).exp()).collect();
    let found = BoxCox::new(&matrix, &response).unwrap();
    assert!(found.interval.0 < 0.0 && found.interval.1 > 0.0 && found.rounded == 0.0, "{found:?}");
    // In other units the exponent is the same.
    let tiny: Vec<f64> = response.iter().map(|y| y * 1e-10).collect();
    close(BoxCox::new(&matrix, &tiny).unwrap().lambda, found.lambda, 1e-8);
    assert!(BoxCox::new(&matrix, &vec![-1.0; rows]).is_err());
}

#[test]
fn formulas() {
    let names = ["x", "y", "block_size"];
    let shown = |text: &str| Formula::parse(text, &names).unwrap().to_string();
    assert_eq!(shown("time ~ x*y - y + I( 1 / x )"), "time ~ x + I(1/x) + x:y");
    assert_eq!(shown("~ (x + y)^2 - 1"), "~ 0 + x + y + x:y");
    assert_eq!(
        shown("~ . + log(block_size):x + I(x^2)"),
        "~ x + y + block_size + I(x^2) + x:log(block_size)"
    );
    let problem = |text: &str| Formula::parse(text, &names).unwrap_err();
    assert_eq!(problem("~ x + blok_size").hint, "did you mean `block_size`?");
    assert_eq!(problem("~ x + blok_size").column, 7);
    assert!(problem("~ x^").reason.contains("whole number"));
    assert!(problem("~ I(x").reason.contains("not closed"));
    assert!(problem("~ I(1/z)").reason.contains("no parameter `z`"));
    assert!(problem("~ x +").reason.contains("not the end"));
    assert!(problem("~ 2").reason.contains("term was expected"));
    assert!(problem(&format!("~ {}", "(".repeat(1000))).reason.contains("nested"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_formula_panics(parts in prop::collection::vec(prop::sample::select(vec![
        "x", "y", "~", "+", "-", ":", "*", "^", "2", "9", "0", "1", "(", ")", "I(", "log(", "/", ".", " ", "1/x", "é",
    ]), 0..20)) {
        let _ = Formula::parse(&parts.concat(), &["x", "y", "z", "w", "v"]);
    }
}
