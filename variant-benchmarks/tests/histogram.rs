//! Histograms.

use crate::all_variants;
use proptest::prelude::*;
use std::sync::Arc;
use variant_benchmarks::benchmark::Benchmark;
use variant_benchmarks::histogram::{Counting, Histogram};

fn counted(values: Vec<u16>, bins: usize) {
    let values = Arc::new(values);
    assert!(all_variants::<Histogram>(|| Counting::new(Arc::clone(&values), bins).unwrap()).is_empty());
}

#[test]
fn hard_values() {
    counted(vec![], 0);
    counted(vec![], 256);
    counted(vec![0], 1);
    counted(vec![65_535; 3], 65_536);
    counted(vec![7; 100_000], 8);
    counted((0..100_000_u32).map(|at| (at * 40_503 % 65_536) as u16).collect(), 65_536);
    // As long as a block of the queue, and one more.
    counted(vec![1; 8192], 2);
    counted(vec![1; 8193], 2);
}

#[test]
fn values_without_a_bin_are_refused() {
    assert!(Counting::new(Arc::new(vec![1, 4]), 4).err().unwrap().contains("4"));
    assert!(Counting::new(Arc::new(vec![0]), 0).is_err());
}

#[test]
fn wrong_results_are_seen() {
    let mut own = Counting::new(Arc::new(vec![0, 1, 1]), 3).unwrap();
    assert!(Histogram::check(&own).is_err());
    own.counts = vec![1, 2, 0];
    assert!(Histogram::check(&own).is_ok());
    own.counts[2] = 1;
    assert!(Histogram::check(&own).unwrap_err().contains("bin 2"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn any_values(values in proptest::collection::vec(0..300_u16, 0..2000)) {
        counted(values, 300);
    }
}
