//! Sorting.

use crate::all_variants;
use proptest::prelude::*;
use variant_benchmarks::benchmark::Benchmark;
use variant_benchmarks::sort::{Keys, Sort, Sorting, locality_sort, merge_sort, radix_sort};

const HARD: [f64; 12] = [
    f64::NAN,
    f64::NEG_INFINITY,
    f64::INFINITY,
    -0.0,
    0.0,
    5e-324,
    -5e-324,
    f64::MAX,
    f64::MIN,
    1.0,
    -1.0,
    1.0 + f64::EPSILON,
];

/// All variants give what the library's sort does, bit by bit.
fn sorted(keys: &[f64]) {
    let mut wanted = keys.to_vec();
    wanted.sort_by(f64::total_cmp);
    let bits = |keys: &[f64]| -> Vec<u64> { keys.iter().map(|key| key.to_bits()).collect() };
    let mut own = [keys.to_vec(), keys.to_vec(), keys.to_vec()];
    let [a, b, c] = &mut own;
    merge_sort(a);
    radix_sort(b);
    locality_sort(c);
    own.iter().for_each(|own| assert_eq!(bits(own), bits(&wanted)));
    let narrow: Vec<f32> = keys.iter().map(|&key| key as f32).collect();
    let mut wanted = narrow.clone();
    wanted.sort_by(f32::total_cmp);
    let bits = |keys: &[f32]| -> Vec<u32> { keys.iter().map(|key| key.to_bits()).collect() };
    let mut own = [narrow.clone(), narrow.clone(), narrow.clone()];
    let [a, b, c] = &mut own;
    merge_sort(a);
    radix_sort(b);
    locality_sort(c);
    own.iter().for_each(|own| assert_eq!(bits(own), bits(&wanted)));
    all_variants::<Sort>(|| Sorting::new(Keys::F64(keys.to_vec())));
    all_variants::<Sort>(|| Sorting::new(Keys::F32(narrow.clone())));
}

#[test]
fn hard_sequences() {
    sorted(&[]);
    sorted(&[1.0]);
    sorted(&HARD);
    sorted(&[-f64::NAN, f64::NAN, -f64::NAN, f64::NEG_INFINITY]);
    let long = |count: usize, key: &dyn Fn(usize) -> f64| sorted(&(0..count).map(key).collect::<Vec<_>>());
    // Longer than what one thread does alone.
    long(70_000, &|at| HARD[at * 7919 % HARD.len()]);
    long(70_000, &|at| -(at as f64));
    long(70_000, &|at| at as f64);
    long(70_000, &|_| 1.0);
    long(70_000, &|at| (at * 7919 % 70_001) as f64);
    // Almost sorted, one great key at the front, saw teeth, and order that ends.
    long(70_000, &|at| if at % 9 == 4 { (at * 31 % 70_000) as f64 } else { at as f64 });
    long(5000, &|at| if at == 0 { 1e9 } else { at as f64 });
    long(5000, &|at| (at % 37) as f64);
    long(20_000, &|at| if at < 10_000 { at as f64 } else { (at * 7919 % 10_007) as f64 });
}

#[test]
fn ends_of_ascending_sequences() {
    let keys = Keys::F32(vec![1.0, 2.0, 0.0, 0.0, -1.0]);
    assert_eq!((keys.descents(1), keys.descents(2), keys.first_descent()), (0.5, 0.0, Some(1)));
    assert_eq!((Keys::F64(vec![]).descents(1), Keys::F64(vec![1.0]).descents(9)), (0.0, 0.0));
}

#[test]
fn wrong_results_are_seen() {
    let mut own = Sorting::new(Keys::F32(vec![2.0, 1.0]));
    assert!(Sort::check(&own).is_err());
    own.keys = Keys::F32(vec![1.0, 3.0]);
    assert!(Sort::check(&own).unwrap_err().contains("not those"));
    own.keys = Keys::F32(vec![1.0, 2.0]);
    assert!(Sort::check(&own).is_ok());
    let zeros = Sorting::new(Keys::F64(vec![0.0, -0.0]));
    assert!(Sort::check(&zeros).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_bits(keys in proptest::collection::vec(any::<u64>().prop_map(f64::from_bits), 0..400)) {
        sorted(&keys);
    }

    #[test]
    fn nearly_sorted(swaps in proptest::collection::vec((0..2000_usize, 0..2000_usize), 0..600)) {
        let mut keys: Vec<f64> = (0..2000).map(f64::from).collect();
        swaps.into_iter().for_each(|(a, b)| keys.swap(a, b));
        sorted(&keys);
    }
}
