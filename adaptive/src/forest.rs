//! A cost-sensitive classifier: for each pair of variants a forest of trees says which of the two is better, each training
//! input weighted by what the wrong one of them costs.
//!
//! L. Xu, F. Hutter, H. Hoos, K. Leyton-Brown, "Evaluating component solver contributions to portfolio-based algorithm
//! selectors", SAT 2012. A mistake that costs little is little harm, and the trees do not try to avoid it.

use crate::limits::MOST_VARIANTS;
use crate::ranking::Ranking;
pub use crate::walk::Voter;
use crate::walk::Walk;
use serde::{Deserialize, Serialize};

/// The trees of two variants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The variant whose share the leaves have.
    pub first: usize,
    /// The other one.
    pub second: usize,
    /// The trees.
    pub trees: Vec<Voter>,
}

/// A forest for each pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Listed", into = "Listed")]
pub struct Forest {
    classes: Vec<usize>,
    pairs: Vec<Pair>,
    /// The trees of all pairs.
    walk: Walk,
}

/// A forest as model files have it.
#[derive(Serialize, Deserialize)]
struct Listed {
    classes: Vec<usize>,
    pairs: Vec<Pair>,
}

impl From<Listed> for Forest {
    fn from(listed: Listed) -> Forest {
        Forest::new(listed.classes, listed.pairs)
    }
}

impl From<Forest> for Listed {
    fn from(forest: Forest) -> Listed {
        Listed { classes: forest.classes, pairs: forest.pairs }
    }
}

impl Forest {
    /// A forest of variants that it knows, and of all pairs of them.
    pub fn new(classes: Vec<usize>, pairs: Vec<Pair>) -> Forest {
        let walk = Walk::new(pairs.iter().flat_map(|pair| &pair.trees));
        Forest { classes, pairs, walk }
    }

    /// The variants that it knows.
    pub fn classes(&self) -> &[usize] {
        &self.classes
    }

    /// All pairs of them.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// How many trees it has.
    pub fn trees(&self) -> usize {
        self.walk.trees().count()
    }

    /// Its trees as they are walked.
    pub(crate) fn walk(&self) -> &Walk {
        &self.walk
    }

    /// What is wrong with it, for this many variants and features.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self, variants: usize, features: usize) -> Result<(), String> {
        let classes = &self.classes;
        let distinct = |at: usize| !classes[..at].contains(&classes[at]) && classes[at] < variants;
        if classes.is_empty() || !(0..classes.len()).all(distinct) {
            return Err("its classes are not the variants".to_owned());
        }
        if self.pairs.len() != classes.len() * (classes.len() - 1) / 2 {
            return Err("its pairs do not fit".to_owned());
        }
        for pair in &self.pairs {
            let known = classes.contains(&pair.first) && classes.contains(&pair.second);
            if !known || pair.first == pair.second || pair.trees.is_empty() {
                return Err("a pair of it makes no sense".to_owned());
            }
            if !pair.trees.iter().all(|tree| tree.fits(features)) {
                return Err("a tree of it makes no sense".to_owned());
            }
        }
        Ok(())
    }

    /// Ranks by the sum of the shares.
    pub fn rank(&self, features: &[f64], ranking: &mut Ranking) {
        let mut scores = [0.0; MOST_VARIANTS];
        let mut first = 0;
        for pair in &self.pairs {
            let share = self.walk.sum(first, pair.trees.len(), features) / pair.trees.len() as f64;
            first += pair.trees.len();
            if pair.first < MOST_VARIANTS && pair.second < MOST_VARIANTS {
                scores[pair.first] += share;
                scores[pair.second] += 1.0 - share;
            }
        }
        ranking.clear();
        for &class in &self.classes {
            ranking.push(class, scores.get(class).copied().unwrap_or(0.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_and_strangers_are_refused() {
        let voter = |feature: &[i32], value: &[f64], above: &[usize]| Voter {
            feature: feature.to_vec(),
            value: value.to_vec(),
            above: above.to_vec(),
        };
        let forest = |tree| Forest::new(vec![1, 0], vec![Pair { first: 1, second: 0, trees: vec![tree] }]);
        let good = forest(voter(&[0, -1, -1], &[2.0, 0.9, 0.2], &[2, 0, 0]));
        assert_eq!(good.check(2, 1), Ok(()));
        let best = |value: f64| {
            let mut ranking = Ranking::new();
            good.rank(&[value], &mut ranking);
            ranking.best()
        };
        assert_eq!((best(1.0), best(3.0)), (Some(1), Some(0)));
        for tree in [
            voter(&[], &[], &[]),
            voter(&[0], &[1.0], &[0]),
            voter(&[0, -1], &[1.0, 0.5], &[1, 0]),
            voter(&[-1], &[2.0], &[0]),
            voter(&[7, -1, -1], &[1.0, 1.0, 1.0], &[2, 0, 0]),
            voter(&[0, -1, -1], &[1.0, 1.0], &[2, 0, 0]),
        ] {
            let forest = forest(tree);
            assert!(forest.check(2, 1).is_err());
            forest.rank(&[5.0], &mut Ranking::new());
        }
    }
}
