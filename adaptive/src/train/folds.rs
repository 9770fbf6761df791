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

#[cfg(test)]
mod tests {
    use super::folds;

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
    }
}
