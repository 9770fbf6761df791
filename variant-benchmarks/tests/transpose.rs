//! Transposition in place.

use crate::all_variants;
use proptest::prelude::*;
use std::sync::atomic::AtomicU64;
use variant_benchmarks::benchmark::Benchmark;
use variant_benchmarks::transpose::{Transpose, Transposing};

fn transposed(rows: usize, columns: usize) {
    for row_major in [true, false] {
        let left_out = all_variants::<Transpose>(|| Transposing::new(rows, columns, row_major).unwrap());
        let narrow = usize::from(rows <= 32) + usize::from(columns <= 32);
        assert_eq!(left_out.len(), 2 - narrow);
    }
}

/// All small shapes: coprime and not, with fewer rows than columns turn by.
#[test]
fn all_small_shapes() {
    for rows in 0..14 {
        (0..14).for_each(|columns| transposed(rows, columns));
    }
}

#[test]
fn odd_shapes() {
    for (rows, columns) in
        [(1, 5000), (5000, 1), (2, 4097), (32, 1000), (1000, 32), (33, 64), (96, 72), (128, 128), (127, 129)]
    {
        transposed(rows, columns);
    }
    assert!(Transposing::new(usize::MAX, 2, true).is_err());
}

#[test]
fn wrong_results_are_seen() {
    let mut own = Transposing::new(2, 3, true).unwrap();
    assert!(Transpose::check(&own).is_err());
    own.elements = [0, 3, 1, 4, 2, 5].map(AtomicU64::new).into();
    assert!(Transpose::check(&own).is_ok());
    own.elements = [0, 3, 1, 4, 5, 2].map(AtomicU64::new).into();
    assert!(Transpose::check(&own).unwrap_err().contains("place 4"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_shape(rows in 1..150_usize, columns in 1..150_usize) {
        transposed(rows, columns);
    }
}
