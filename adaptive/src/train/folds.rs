//! Folds of a cross-validation: the same for the same data and seed, each with its share of every label.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// For each row the fold that it is held out in. Rows of one label are shuffled and dealt in turn, and the next label goes on
/// where the last one ended.
pub fn folds(labels: &[usize], count: usize, seed: u64) -> Vec<usize> {
    let count = count.clamp(1, labels.len().max(1));
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.shuffle(&mut random);
    order.sort_by_key(|&row| labels[row]);
    let mut folds = vec![0; labels.len()];
    for (at, row) in order.into_iter().enumerate() {
        folds[row] = at % count;
    }
    folds
}

/// For each row whether it is held out: this share of each label, drawn by the seed.
pub fn held_out(labels: &[usize], share: f64, seed: u64) -> Vec<bool> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.shuffle(&mut random);
    order.sort_by_key(|&row| labels[row]);
    let mut held = vec![false; labels.len()];
    // Labels stand one after the other, and the share is taken evenly along them.
    let taken = |at: usize| (share * at as f64 + 0.5).floor();
    for (at, row) in order.into_iter().enumerate() {
        held[row] = taken(at + 1) > taken(at);
    }
    held
}

#[cfg(test)]
mod tests {
    use super::{folds, held_out};

    #[test]
    fn every_fold_has_its_share() {
        let labels: Vec<usize> = (0..100).map(|row| usize::from(row % 4 == 0)).collect();
        let folds = folds(&labels, 5, 3);
        assert_eq!(folds, super::folds(&labels, 5, 3));
        assert_ne!(folds, super::folds(&labels, 5, 4));
        for fold in 0..5 {
            let own = (0..100).filter(|&row| folds[row] == fold);
            assert_eq!(own.clone().count(), 20);
            assert_eq!(own.filter(|&row| labels[row] == 1).count(), 5);
        }
        assert_eq!(super::folds(&[0, 1], 5, 0).iter().max(), Some(&1));
        assert!(super::folds(&[], 5, 0).is_empty());
        for share in [0.5, 0.3, 0.25] {
            let held = held_out(&labels, share, 1);
            let count = |label| (0..100).filter(|&row| held[row] && labels[row] == label).count() as f64;
            assert!((count(0) - 75.0 * share).abs() < 1.01 && (count(1) - 25.0 * share).abs() < 1.01);
        }
    }
}
