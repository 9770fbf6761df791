//! Sparse products.

use crate::all_variants;
use proptest::prelude::*;
use std::sync::Arc;
use variant_benchmarks::benchmark::Benchmark;
use variant_benchmarks::sparse::{Csr, features};
use variant_benchmarks::spmv::{Multiply, Spmv};

fn products(rows: usize, columns: usize, entries: &[(u32, u32, f64)], x: &[f64]) -> Vec<String> {
    let matrix = Arc::new(Csr::from_entries(rows, columns, entries.to_vec()).unwrap());
    let product = Multiply::new(matrix, x.to_vec()).unwrap();
    all_variants::<Spmv>(|| product.again())
}

#[test]
fn empty_and_odd_shapes() {
    products(0, 0, &[], &[]);
    products(0, 3, &[], &[1.0; 3]);
    products(3, 0, &[], &[]);
    products(1, 1, &[(0, 0, 2.0)], &[3.0]);
    products(5, 2, &[(4, 1, 1.0), (0, 0, 2.0)], &[1.0, -0.0]);
    products(2, 5000, &[(0, 4999, 1.0), (1, 0, 2.0)], &vec![0.5; 5000]);
    // Rows without entries, one full row, more rows than are walked through at once.
    let full: Vec<(u32, u32, f64)> = (0..3000).map(|at| (1234, at, f64::from(at))).collect();
    let left_out = products(3000, 3000, &full, &vec![1.0; 3000]);
    assert_eq!(left_out, ["dia", "ell"]);
    // What the reference itself gives: entries of one place are added.
    let matrix = Csr::from_entries(2, 3, vec![(1, 2, 1.0), (0, 1, 4.0), (1, 2, 2.0), (1, 0, 5.0)]).unwrap();
    let mut y = [f64::NAN; 2];
    matrix.multiply_serial(&[1.0, 10.0, 100.0], &mut y);
    assert_eq!(y, [40.0, 305.0]);
    assert_eq!((matrix.get(1, 2), matrix.get(0, 0), matrix.entries()), (Some(3.0), None, 3));
}

/// Padding does not turn what is infinite into what is no number.
#[test]
fn what_is_not_finite() {
    let mut entries = Vec::new();
    for row in 0..300_u32 {
        (0..=row % 7).for_each(|at| entries.push((row, (row + at * at) % 300, f64::from(at) - 2.5)));
    }
    for special in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, 5e-324] {
        for place in [0, 1, 150, 299] {
            let mut x = vec![1.0; 300];
            x[place] = special;
            products(300, 300, &entries, &x);
        }
        let mut entries = entries.clone();
        entries.push((17, 200, special));
        products(300, 300, &entries, &vec![0.0; 300]);
    }
}

#[test]
fn what_is_no_matrix_is_refused() {
    assert!(Csr::from_entries(2, 2, vec![(2, 0, 1.0)]).unwrap_err().contains("(2, 0)"));
    assert!(Csr::from_entries(2, 2, vec![(0, 2, 1.0)]).is_err());
    let matrix = Arc::new(Csr::from_entries(2, 3, vec![]).unwrap());
    assert!(Multiply::new(matrix, vec![1.0; 2]).is_err());
}

/// The check sees one wrong element.
#[test]
fn wrong_results_are_seen() {
    let matrix = Arc::new(Csr::from_entries(2, 2, vec![(0, 0, 1.0), (1, 1, 1.0)]).unwrap());
    let mut product = Multiply::new(matrix, vec![1.0, 2.0]).unwrap();
    assert!(Spmv::check(&product).is_err());
    product.y = vec![1.0, 2.0];
    assert!(Spmv::check(&product).is_ok());
    product.y[1] = 2.0 + 1e-12;
    assert!(Spmv::check(&product).unwrap_err().contains("row 1"));
}

/// Rows of 3 and 1 entries on the diagonals 0, 1 and 2.
#[test]
fn features_of_a_matrix() {
    let entries = vec![(0, 0, 1.0), (0, 1, 1.0), (0, 2, 1.0), (1, 1, 1.0)];
    let matrix = Csr::from_entries(2, 3, entries).unwrap();
    assert_eq!((features::average_length(&matrix), features::length_deviation(&matrix)), (2.0, 1.0));
    assert_eq!(features::longest_deviation(&matrix), 1.0);
    assert_eq!((features::dia_fill(&matrix), features::ell_fill(&matrix)), (1.5, 1.5));
}

#[test]
fn parts_cover_all_rows() {
    let entries = (0..50).map(|at| (7, at, 1.0)).collect();
    let matrix = Csr::from_entries(20, 50, entries).unwrap();
    for count in [0, 1, 2, 3, 20, 100] {
        let parts = matrix.parts(count);
        assert_eq!((parts[0], parts[parts.len() - 1]), (0, 20));
        assert!(parts.windows(2).all(|pair| pair[0] <= pair[1]), "{parts:?}");
    }
}

#[test]
fn matrix_market_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    std::fs::write(&path, "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 3\n2 1 4\n").unwrap();
    let matrix = Csr::read(&path).unwrap();
    std::fs::write(&path, "nothing").unwrap();
    let refused = Csr::read(&path).unwrap_err();
    assert_eq!((matrix.get(0, 1), matrix.get(1, 0), matrix.get(1, 1)), (Some(4.0), Some(4.0), None));
    assert!(refused.contains("MatrixMarket"), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_matrix(
        (rows, columns, entries) in (1..700_u32, 1..700_u32).prop_flat_map(|(rows, columns)| {
            let entry = (0..rows, 0..columns, -2.0..2.0);
            (Just(rows), Just(columns), proptest::collection::vec(entry, 0..1500))
        })
    ) {
        let x: Vec<f64> = (0..columns).map(|at| f64::from(at % 13) - 6.0).collect();
        products(rows as usize, columns as usize, &entries, &x);
    }
}
