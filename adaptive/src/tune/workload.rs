//! What can be measured: inputs of a function with variants.

use crate::error::{AdaptiveError, Result};
use trials::{Outcome, Setting};
use tuner::{Point, Space};

/// The value of a feature, and how long it took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluated {
    /// The value; `None` where it could not be had.
    pub value: Option<f64>,
    /// Seconds that it took; zero where that is not known.
    pub seconds: f64,
}

/// Inputs of a function with variants, and how they are measured.
pub trait Workload: Send {
    /// The function.
    fn name(&self) -> &str;

    /// Names of its variants.
    fn variants(&self) -> &[String];

    /// The variant that is right for every input.
    fn default_variant(&self) -> usize;

    /// Names of its features.
    fn features(&self) -> &[String];

    /// Names of the inputs.
    fn inputs(&self) -> &[String];

    /// What an input is one of; empty where nothing is known.
    fn family(&self, input: usize) -> &str;

    /// Evaluates all features of an input.
    ///
    /// # Errors
    /// What goes wrong with the measuring itself, so that going on makes no sense.
    fn evaluate(&mut self, input: usize) -> Result<Vec<Evaluated>>;

    /// Whether a variant may be run for an input, whose features are known. One that may not counts as infinitely bad.
    ///
    /// # Errors
    /// A constraint that cannot be evaluated.
    fn is_allowed(&mut self, input: usize, variant: usize, features: &[f64]) -> Result<bool>;

    /// Measures a variant. What goes wrong with it (it fails, is wrong, does not converge, takes too long) is data.
    ///
    /// # Errors
    /// What goes wrong with the measuring itself.
    fn measure(&mut self, input: usize, variant: usize) -> Result<Outcome>;

    /// The parameters of a variant, and the values that it has; none for a variant without.
    fn parameters(&self, _variant: usize) -> Option<(&Space, &Point)> {
        None
    }

    /// The place of a variant with these values of its parameters: a further variant, unless it is one already.
    ///
    /// # Errors
    /// A variant without parameters.
    fn instance(&mut self, variant: usize, _point: &Point) -> Result<usize> {
        let name = self.variants().get(variant).map_or("?", String::as_str);
        Err(AdaptiveError::request(format!("variant `{name}` has no parameters"), ""))
    }

    /// Has these variants from now on, where variants have parameters: names that are none of an instance are left out.
    fn adopt(&mut self, _names: &[String]) {}

    /// The time after which a variant counts as failed, where scores need it.
    fn cutoff(&self) -> Option<f64> {
        None
    }

    /// What runs, and where: trials of a store that were measured in another setting are not used.
    fn setting(&self) -> Setting;
}
