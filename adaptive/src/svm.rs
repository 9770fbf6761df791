//! Classification by support vectors (C-SVC with a radial basis function), as LIBSVM predicts: a vote of all pairs of
//! classes.
//!
//! C.-C. Chang, C.-J. Lin, "LIBSVM: a library for support vector machines", ACM TIST 2(3), 2011. With `k` classes, pair
//! `(i, j)`, `i < j`, decides by the sign of `sum_s a_s K(s, x) - rho` over the support vectors `s` of both classes, with
//! `K(s, x) = exp(-gamma |s - x|^2)`; a positive sum is a vote for `i`. The class with most votes wins, the first of equal ones.

use crate::exp::exp;
use crate::limits::{MOST_FEATURES, MOST_VARIANTS};
use crate::ranking::Ranking;
use serde::{Deserialize, Serialize};

/// Most pairs of classes.
pub const MOST_PAIRS: usize = MOST_VARIANTS * (MOST_VARIANTS - 1) / 2;

/// A trained machine. Features are scaled linearly, so that the training data lie in [-1, 1].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Svm {
    /// The penalty that it was trained with.
    pub c: f64,
    /// The width of the kernel.
    pub gamma: f64,
    /// Least and greatest value of each feature in the training data.
    pub ranges: Vec<[f64; 2]>,
    /// The variants that are classes, in the order of their first appearance in the training data.
    pub classes: Vec<usize>,
    /// Support vectors of each class.
    pub counts: Vec<usize>,
    /// Support vectors, scaled, class by class.
    pub vectors: Vec<Vec<f64>>,
    /// For each support vector its coefficients in the decisions of its class with each of the other ones.
    pub coefficients: Vec<Vec<f64>>,
    /// For each pair of classes, (0, 1), (0, 2) and so on, what is subtracted.
    pub rho: Vec<f64>,
}

/// A feature as the kernel sees it: the range becomes [-1, 1], a feature with one value 0.
pub fn scaled(value: f64, [low, high]: [f64; 2]) -> f64 {
    if high > low { 2.0 * ((value - low) / (high - low)) - 1.0 } else { 0.0 }
}

impl Svm {
    /// What is wrong with it, for this many variants and features.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self, variants: usize, features: usize) -> Result<(), String> {
        let classes = self.classes.len();
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        let distinct = |at: usize| !self.classes[..at].contains(&self.classes[at]);
        let vectors = self.vectors.len();
        let total = self.counts.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count));
        match () {
            () if classes == 0 => Err("it has no class".to_owned()),
            () if self.classes.iter().any(|&class| class >= variants) || !(0..classes).all(distinct) => {
                Err("its classes are not the variants".to_owned())
            }
            () if self.ranges.len() != features || !self.ranges.iter().all(|range| finite(range)) => {
                Err("its ranges do not fit the features".to_owned())
            }
            () if self.counts.len() != classes || total != Some(vectors) => {
                Err("the numbers of its support vectors do not fit".to_owned())
            }
            () if self.coefficients.len() != vectors || self.rho.len() != classes * (classes - 1) / 2 => {
                Err("its coefficients do not fit".to_owned())
            }
            () if !(self.vectors.iter().all(|vector| vector.len() == features && finite(vector))) => {
                Err("its support vectors do not fit the features".to_owned())
            }
            () if !self.coefficients.iter().all(|list| list.len() == classes - 1 && finite(list)) => {
                Err("its coefficients do not fit the classes".to_owned())
            }
            () if !(finite(&self.rho) && self.gamma.is_finite() && self.gamma >= 0.0) => {
                Err("a number of it is not finite".to_owned())
            }
            () => Ok(()),
        }
    }

    /// The decisions of all pairs; those that `values` has no room for are left out.
    pub fn decisions(&self, features: &[f64], values: &mut [f64]) {
        let classes = self.classes.len();
        let mut point = [0.0; MOST_FEATURES];
        for ((scaled, &value), &range) in point.iter_mut().zip(features).zip(&self.ranges) {
            *scaled = self::scaled(value, range);
        }
        let pairs = values.len().min(self.rho.len());
        values.fill(0.0);
        let mut at = 0;
        for (class, &count) in self.counts.iter().enumerate() {
            // The sums of this class's pairs, taken out of the list of all and put back.
            let mut places = [0; MOST_VARIANTS];
            let mut sums = [0.0; MOST_VARIANTS];
            let others = (0..classes).filter(|&other| other != class);
            for ((place, sum), other) in places.iter_mut().zip(&mut sums).zip(others) {
                *place = pair(class.min(other), class.max(other), classes);
                *sum = values.get(*place).copied().unwrap_or(0.0);
            }
            for (vector, coefficients) in self.vectors.iter().zip(&self.coefficients).skip(at).take(count) {
                let mut distance = 0.0;
                for (a, b) in vector.iter().zip(&point) {
                    distance += (a - b) * (a - b);
                }
                let kernel = exp(-self.gamma * distance);
                for (sum, coefficient) in sums.iter_mut().zip(coefficients) {
                    *sum += coefficient * kernel;
                }
            }
            for (&place, &sum) in places.iter().zip(&sums).take(classes.saturating_sub(1)) {
                if let Some(value) = values.get_mut(place) {
                    *value = sum;
                }
            }
            at += count;
        }
        for (value, rho) in values[..pairs].iter_mut().zip(&self.rho) {
            *value -= rho;
        }
    }

    /// Ranks by votes. The margin is the size of the decision between the first two.
    pub fn rank(&self, features: &[f64], ranking: &mut Ranking) {
        let classes = self.classes.len().min(MOST_VARIANTS);
        let mut values = [0.0; MOST_PAIRS];
        let values = &mut values[..self.rho.len().min(MOST_PAIRS)];
        self.decisions(features, values);
        let mut votes = [0_u8; MOST_VARIANTS];
        let mut at = 0;
        for first in 0..classes {
            for second in first + 1..classes {
                votes[if values.get(at).is_some_and(|value| *value > 0.0) { first } else { second }] += 1;
                at += 1;
            }
        }
        ranking.clear();
        for (&variant, &votes) in self.classes.iter().zip(&votes) {
            ranking.push(variant, f64::from(votes));
        }
        let place = |variant| self.classes.iter().position(|&class| class == variant);
        let first_two = {
            let mut places = ranking.iter().filter_map(place);
            places.next().zip(places.next())
        };
        if let Some((a, b)) = first_two {
            let between = values.get(pair(a.min(b), a.max(b), classes)).copied().unwrap_or(0.0);
            ranking.set_margin(between.abs());
        }
    }
}

/// Place of a pair in the order (0, 1), (0, 2), ..., (1, 2), ...
fn pair(first: usize, second: usize, classes: usize) -> usize {
    first * (2 * classes - first - 1) / 2 + second - first - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted() {
        let classes = 6;
        let all: Vec<usize> =
            (0..classes).flat_map(|a| (a + 1..classes).map(move |b| pair(a, b, classes))).collect();
        assert_eq!(all, (0..15).collect::<Vec<_>>());
    }
}
