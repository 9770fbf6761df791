//! Tables with a known answer.

use adaptive::table::{Row, Table};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Names.
pub fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// A table whose variants cost what a function of two features says.
pub fn table(rows: usize, variants: &[&str], seed: u64, costs: impl Fn(f64, f64) -> Vec<f64>) -> Table {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let row = |at| {
        let (x, y): (f64, f64) = (random.random_range(0.0..10.0), random.random_range(0.0..10.0));
        Row {
            input: format!("input {at}"),
            family: if x < 5.0 { "small" } else { "large" }.to_owned(),
            features: vec![x, y],
            feature_costs: vec![0.0, 0.0],
            costs: costs(x, y),
            ..Row::default()
        }
    };
    Table {
        name: "example".to_owned(),
        variants: names(variants),
        default: 0,
        features: names(&["x", "y"]),
        metric: "seconds".to_owned(),
        maximize: false,
        cutoff: None,
        rows: (0..rows).map(row).collect(),
    }
}

/// Three variants, each best somewhere; the third fails where `x` is small.
pub fn three(rows: usize, seed: u64) -> Table {
    table(rows, &["steady", "quick", "wide"], seed, |x, y| {
        let wide = if x < 3.0 { f64::INFINITY } else { 2.0 / (x - 2.0) };
        vec![1.0, 0.2 + (x - y).abs() / 3.0, wide]
    })
}

/// All rows of a table.
pub fn all(table: &Table) -> Vec<usize> {
    (0..table.rows.len()).collect()
}
