//! What maps features to variants: one trait, and the kinds that model files know.

use crate::forest::Forest;
use crate::ranking::Ranking;
use crate::svm::Svm;
use crate::tree::Tree;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Orders variants by features. It allocates nothing and does not panic.
pub trait Classifier: Send + Sync + fmt::Debug {
    /// Ranks the variants that it knows, the best first. Features are finite, in the order of training.
    fn rank(&self, features: &[f64], ranking: &mut Ranking);

    /// What is wrong with it, for this many variants and features.
    ///
    /// # Errors
    /// In words.
    fn check(&self, variants: usize, features: usize) -> Result<(), String>;

    /// What it is, in a few words.
    fn description(&self) -> String;

    /// About the seconds that ranking takes, on any processor of these years: what is measured would make another model of the same
    /// data each time.
    fn seconds(&self) -> f64;
}

/// Seconds for each support vector, each step down a tree, and each tree of a forest.
const VECTOR: f64 = 16e-9;
const STEP: f64 = 10e-9;
const WALK: f64 = 25e-9;

/// A classifier of a model file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Learned {
    /// Support vectors.
    Svm(Svm),
    /// A tree that can be read.
    Tree(Tree),
    /// Forests of pairs of variants.
    Forest(Forest),
}

impl Learned {
    /// As model files and options name it.
    pub fn name(&self) -> &'static str {
        match self {
            Learned::Svm(_) => "svm",
            Learned::Tree(_) => "tree",
            Learned::Forest(_) => "forest",
        }
    }
}

impl Classifier for Learned {
    fn rank(&self, features: &[f64], ranking: &mut Ranking) {
        match self {
            Learned::Svm(svm) => svm.rank(features, ranking),
            Learned::Tree(tree) => tree.rank(features, ranking),
            Learned::Forest(forest) => forest.rank(features, ranking),
        }
    }

    fn check(&self, variants: usize, features: usize) -> Result<(), String> {
        match self {
            Learned::Svm(svm) => svm.check(variants, features),
            Learned::Tree(tree) => tree.check(variants, features),
            Learned::Forest(forest) => forest.check(variants, features),
        }
    }

    fn description(&self) -> String {
        match self {
            Learned::Svm(svm) => {
                let (c, gamma, vectors) = (svm.c, svm.gamma, svm.vectors.len());
                format!("svm: {vectors} support vectors, C = {c}, gamma = {gamma}")
            }
            Learned::Tree(tree) => {
                format!("tree: {} leaves, depth {}", tree.nodes.len().div_ceil(2), tree.depth())
            }
            Learned::Forest(forest) => {
                format!("forest: {} trees for {} pairs of variants", forest.trees(), forest.pairs().len())
            }
        }
    }

    fn seconds(&self) -> f64 {
        match self {
            Learned::Svm(svm) => VECTOR * svm.vectors.len() as f64,
            Learned::Tree(tree) => STEP * tree.depth() as f64,
            Learned::Forest(forest) => WALK * forest.trees() as f64,
        }
    }
}
