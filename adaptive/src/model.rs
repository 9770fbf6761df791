//! A trained model: names of variants and features, and what maps one to the other.

use crate::classifier::{Classifier, Learned};
use crate::limits::{MOST_FEATURES, MOST_VARIANTS};
use crate::ranking::Ranking;
use serde::{Deserialize, Serialize};

/// A feature, and the values that it had in training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// Least value of the training inputs.
    pub least: f64,
    /// Greatest one.
    pub greatest: f64,
}

/// What a model was trained on, for people.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Training {
    /// Inputs with a label.
    pub inputs: usize,
    /// What was minimised, or maximised.
    pub metric: String,
    /// Whether greater values are better.
    pub maximize: bool,
    /// Mean performance against the best variants in cross-validation.
    pub cross_validated: Option<f64>,
    /// The processor.
    pub machine: String,
    /// Version of Tilewright.
    pub version: String,
    /// Seed of folds and draws.
    pub seed: u64,
}

/// A trained model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Name of the function that has variants.
    pub name: String,
    /// Names of the variants.
    pub variants: Vec<String>,
    /// The variant that is right for every input.
    pub default: usize,
    /// The features that it needs, in the order of the classifier.
    pub features: Vec<Feature>,
    /// What follows the features for the classifier: the features of the machine that the model is for, where it was trained on
    /// several ([`crate::machines`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<f64>,
    /// What it was trained on.
    pub training: Training,
    /// What maps features to variants.
    pub classifier: Learned,
}

impl Model {
    /// What is wrong with it.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self) -> Result<(), String> {
        let repeated = |names: &[&str]| (0..names.len()).any(|at| names[..at].contains(&names[at]));
        let variants: Vec<&str> = self.variants.iter().map(String::as_str).collect();
        let features: Vec<&str> = self.features.iter().map(|feature| feature.name.as_str()).collect();
        match () {
            () if variants.is_empty() || variants.len() > MOST_VARIANTS => {
                Err(format!("it has {} variants, where 1 to {MOST_VARIANTS} can be", variants.len()))
            }
            () if features.len() + self.constants.len() > MOST_FEATURES => {
                let count = features.len() + self.constants.len();
                Err(format!("it has {count} features, which is more than {MOST_FEATURES}"))
            }
            () if !self.constants.iter().all(|value| value.is_finite()) => {
                Err("a feature of its machine is not finite".to_owned())
            }
            () if repeated(&variants) || repeated(&features) => Err("a name stands there twice".to_owned()),
            () if self.default >= variants.len() => Err("its default is no variant".to_owned()),
            () if self.features.iter().any(|f| !(f.least.is_finite() && f.greatest.is_finite())) => {
                Err("a range of a feature is not finite".to_owned())
            }
            () => self.classifier.check(variants.len(), features.len() + self.constants.len()),
        }
    }

    /// Names of the features, in the order of the classifier.
    pub fn feature_names(&self) -> Vec<String> {
        self.features.iter().map(|feature| feature.name.clone()).collect()
    }

    /// Ranks the variants for features in the order of [`Model::features`].
    pub fn rank(&self, features: &[f64], ranking: &mut Ranking) {
        if self.constants.is_empty() {
            return self.classifier.rank(features, ranking);
        }
        let mut all = [0.0; MOST_FEATURES];
        let (count, whole) = (features.len(), features.len() + self.constants.len());
        // A checked model has room for both.
        if let Some(all) = all.get_mut(..whole) {
            all[..count].copy_from_slice(features);
            all[count..].copy_from_slice(&self.constants);
            self.classifier.rank(all, ranking);
        }
    }

    /// The best variant for these features; the default where the classifier knows none.
    pub fn best(&self, features: &[f64]) -> usize {
        let mut ranking = Ranking::new();
        self.rank(features, &mut ranking);
        ranking.best().unwrap_or(self.default)
    }
}
