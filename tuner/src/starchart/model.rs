//! Trees with a linear model in the nodes: the option that section 4.3 names as future work.
//!
//! The response, or its logarithm, is modelled as
//!
//! ```text
//! f(x) = a L(x) + c_leaf(x),    c_node = c_parent + (m_node - m_parent) / (1 + s / n_parent)
//! ```
//!
//! `L` is a ridge regression on the parameters, their squares and their products, over the whole training set, `a` the
//! part of it that is taken, and the tree of Algorithm 1 is grown on what `L` leaves. So the model of every node is
//! linear, with slopes that all nodes share and a constant of its own. `m_node` is the mean rest of a node and `n` its
//! number of designs: means of few designs are drawn towards those of the partition above (A. Agarwal et al.,
//! "Hierarchical Shrinkage", ICML 2022). Parameters may also be split by the greatest power of two that divides them, and
//! those that matter above are preferred ([`GrowOptions::preference`]). Which terms, `a`, `s`, the scales and the
//! preference are chosen by cross-validation on the training set.

use super::accuracy::{Learner, Predictor};
use super::grow::{GrowOptions, grow};
use super::linear::{Features, LinearModel, Scale, Terms, ridge};
use super::request;
use super::table::Table;
use super::tree::Tree;
use crate::error::Result;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// How a model tree is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelOptions {
    /// Limits of the tree.
    pub grow: GrowOptions,
    /// Parts of the cross-validation.
    pub folds: usize,
    /// Repetitions of the cross-validation with other parts.
    pub rounds: usize,
    /// Seed that assigns designs to parts.
    pub seed: u64,
}

impl Default for ModelOptions {
    fn default() -> ModelOptions {
        ModelOptions { grow: GrowOptions::default(), folds: 10, rounds: 2, seed: 0 }
    }
}

/// What cross-validation chooses among.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Choice {
    logarithm: bool,
    linear: Option<Part>,
    preference: f64,
    shrinkage: f64,
}

/// The linear part.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Part {
    terms: Terms,
    scale: Scale,
    penalty: f64,
    share: f64,
}

/// The linear parts tried, on the logarithm of the response and on the response itself.
fn parts(logarithm: bool) -> Vec<Option<Part>> {
    use Scale::{Linear as Plain, Logarithmic};
    let part = |terms, scale, penalty, share| Some(Part { terms, scale, penalty, share });
    let mut parts = vec![None, part(Terms::Quadratic, Logarithmic, 3.0, 1.0)];
    if logarithm {
        parts.extend([
            part(Terms::Linear, Logarithmic, 3.0, 0.5),
            part(Terms::Linear, Logarithmic, 3.0, 1.0),
            part(Terms::Quadratic, Logarithmic, 10.0, 0.4),
            part(Terms::Quadratic, Logarithmic, 3.0, 0.7),
            part(Terms::Quadratic, Plain, 3.0, 1.0),
            part(Terms::Quadratic, Logarithmic, 1.0, 1.0),
            part(Terms::Biquadratic, Logarithmic, 1.0, 1.0),
        ]);
    }
    parts
}

/// Of more designs the cross-validation takes so many at random in every round.
const MOST_VALIDATED: usize = 600;

const PREFERENCES: [f64; 2] = [0.5, 1.0];
const SHRINKAGES: [f64; 5] = [0.0, 1.0, 3.0, 10.0, 30.0];

/// What was chosen, for people and for JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chosen {
    /// Whether the logarithm of the response is modelled.
    pub logarithm: bool,
    /// Terms of the linear part: `none`, `linear`, `quadratic`, `biquadratic`.
    pub terms: &'static str,
    /// Whether numeric parameters enter the linear part as logarithms.
    pub logarithmic_parameters: bool,
    /// Penalty of its ridge regression.
    pub penalty: f64,
    /// The part of it that is taken, `a`.
    pub share: f64,
    /// Preference for parameters that matter above.
    pub preference: f64,
    /// Shrinkage of the means, `s`, in designs.
    pub shrinkage: f64,
    /// Middle relative error of the cross-validation.
    pub validation_error: f64,
    /// Choices that were compared.
    pub compared: usize,
}

/// A regression tree with a linear model in its nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelTree {
    /// Over the table with alignments; its means are those of the rest that the linear part leaves.
    tree: Tree,
    /// The constant of every node, `c_node`.
    constants: Vec<f64>,
    features: Option<Features>,
    linear: LinearModel,
    share: f64,
    logarithm: bool,
    chosen: Chosen,
}

impl ModelTree {
    /// The tree over `table.with_alignments()`. Its means and errors are those of the rest.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// What cross-validation chose.
    pub fn chosen(&self) -> &Chosen {
        &self.chosen
    }

    /// The constant that a node adds to the linear part; a factor `e^constant` where the logarithm is modelled.
    pub fn constant(&self, node: usize) -> f64 {
        self.constants[node]
    }

    /// The terms of the linear part with their coefficients, the greatest first; terms are scaled to the range from
    /// -1 to 1.
    pub fn terms(&self) -> Vec<(String, f64)> {
        let Some(features) = &self.features else { return Vec::new() };
        let coefficients = self.linear.coefficients.iter().enumerate();
        let mut terms: Vec<(String, f64)> =
            coefficients.map(|(k, coefficient)| (features.name(k), self.share * coefficient)).collect();
        terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        terms
    }
}

impl Predictor for ModelTree {
    fn predict(&self, table: &Table, row: usize) -> f64 {
        let terms = self.features.as_ref().map(|features| features.of(table, row));
        let linear = terms.map_or(0.0, |terms| self.share * self.linear.value(&terms));
        let value = linear + self.constants[self.tree.leaf_of(table, row)];
        if self.logarithm { value.exp() } else { value }
    }
}

impl Learner for ModelOptions {
    fn learn(&self, table: &Table, response: &[f64], rows: &[u32]) -> Result<Box<dyn Predictor>> {
        Ok(Box::new(model_tree(table, response, rows, self)?))
    }
}

/// Finds a model tree. The table should have its alignments ([`Table::with_alignments`]).
///
/// # Errors
/// As [`grow`]; no parts of the cross-validation.
pub fn model_tree(
    table: &Table,
    response: &[f64],
    rows: &[u32],
    options: &ModelOptions,
) -> Result<ModelTree> {
    if options.folds < 2 || options.rounds == 0 {
        return Err(request("cross-validation needs two parts and one round at least", "take 10 and 2"));
    }
    let search = Search::new(table, response, rows, options);
    let (choice, validation_error, compared) = search.choose()?;
    let (chosen_terms, part) = match choice.linear {
        None => ("none", Part { terms: Terms::Linear, scale: Scale::Logarithmic, penalty: 0.0, share: 0.0 }),
        Some(part) => (part.terms.name(), part),
    };
    let chosen = Chosen {
        logarithm: choice.logarithm,
        terms: chosen_terms,
        logarithmic_parameters: choice.linear.is_some() && part.scale == Scale::Logarithmic,
        penalty: part.penalty,
        share: part.share,
        preference: choice.preference,
        shrinkage: choice.shrinkage,
        validation_error,
        compared,
    };
    search.fit(choice, chosen)
}

/// The features of one linear part for all rows of the table that are used.
struct Prepared {
    features: Features,
    values: Vec<Vec<f64>>,
}

struct Search<'a> {
    table: &'a Table,
    response: &'a [f64],
    rows: &'a [u32],
    options: &'a ModelOptions,
    /// By terms and scale.
    prepared: Vec<((Terms, Scale), Prepared)>,
}

impl<'a> Search<'a> {
    fn new(table: &'a Table, response: &'a [f64], rows: &'a [u32], options: &'a ModelOptions) -> Search<'a> {
        let mut search = Search { table, response, rows, options, prepared: Vec::new() };
        for part in parts(true).into_iter().flatten() {
            let key = (part.terms, part.scale);
            if search.prepared.iter().all(|(other, _)| *other != key) {
                let features = Features::new(table, rows, part.terms, part.scale);
                let values = rows.iter().map(|&row| features.of(table, row as usize)).collect();
                search.prepared.push((key, Prepared { features, values }));
            }
        }
        search
    }

    fn prepared(&self, part: &Part) -> Option<&Prepared> {
        self.prepared.iter().find(|(key, _)| *key == (part.terms, part.scale)).map(|(_, prepared)| prepared)
    }

    /// The response of a place in `rows`, as it is modelled.
    fn target(&self, place: usize, logarithm: bool) -> f64 {
        let value = self.response[self.rows[place] as usize];
        if logarithm { value.ln() } else { value }
    }

    /// The linear model of some places of `rows`.
    fn linear(&self, part: Option<&Part>, logarithm: bool, places: &[usize]) -> LinearModel {
        let Some((part, prepared)) = part.and_then(|part| Some((part, self.prepared(part)?))) else {
            return LinearModel { intercept: 0.0, coefficients: Vec::new() };
        };
        let terms: Vec<&[f64]> = places.iter().map(|&place| prepared.values[place].as_slice()).collect();
        let target: Vec<f64> = places.iter().map(|&place| self.target(place, logarithm)).collect();
        ridge(&terms, &target, part.penalty)
    }

    /// The part of the linear model that is taken, for a place of `rows`.
    fn linear_value(&self, part: Option<&Part>, model: &LinearModel, place: usize) -> f64 {
        match part.and_then(|part| Some((part, self.prepared(part)?))) {
            Some((part, prepared)) => part.share * model.value(&prepared.values[place]),
            None => 0.0,
        }
    }

    /// The tree on what the linear model leaves, over some places of `rows`.
    fn rest_tree(
        &self,
        part: Option<&Part>,
        logarithm: bool,
        preference: f64,
        model: &LinearModel,
        places: &[usize],
    ) -> Result<Tree> {
        let mut rest = vec![0.0; self.table.rows()];
        let mut rows = Vec::with_capacity(places.len());
        for &place in places {
            let row = self.rows[place];
            rest[row as usize] = self.target(place, logarithm) - self.linear_value(part, model, place);
            rows.push(row);
        }
        grow(self.table, &rest, &rows, &GrowOptions { preference, ..self.options.grow })
    }

    /// The choice with the least error in the cross-validation, its error, and how many there were.
    fn choose(&self) -> Result<(Choice, f64, usize)> {
        let positive = self.rows.iter().all(|&row| self.response[row as usize] > 0.0);
        let folds = self.options.folds.min(self.rows.len());
        let mut choices: Vec<(Choice, Vec<f64>)> = Vec::new();
        for logarithm in [true, false] {
            if logarithm && !positive {
                continue;
            }
            for linear in parts(logarithm) {
                for preference in PREFERENCES {
                    choices.extend(
                        SHRINKAGES.map(|shrinkage| {
                            (Choice { logarithm, linear, preference, shrinkage }, Vec::new())
                        }),
                    );
                }
            }
        }
        let used = self.rows.len().min(MOST_VALIDATED);
        let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed);
        for _ in 0..if folds < 2 { 0 } else { self.options.rounds } {
            let mut order: Vec<usize> = (0..self.rows.len()).collect();
            order.shuffle(&mut rng);
            order.truncate(used);
            for fold in 0..folds {
                let (held, kept): (Vec<usize>, Vec<usize>) =
                    (0..order.len()).partition(|at| at % folds == fold);
                let held: Vec<usize> = held.into_iter().map(|at| order[at]).collect();
                let kept: Vec<usize> = kept.into_iter().map(|at| order[at]).collect();
                self.validate(&mut choices, &kept, &held)?;
            }
        }
        let compared = choices.len();
        let scored = choices.into_iter().map(|(choice, errors)| (choice, middle_mean(errors)));
        let best = scored.reduce(|best, other| if other.1 < best.1 { other } else { best });
        best.map(|(choice, error)| (choice, error, compared))
            .ok_or_else(|| request("there is nothing to choose from", ""))
    }

    /// Adds the errors of all choices on the held places, learned from the kept ones.
    fn validate(&self, choices: &mut [(Choice, Vec<f64>)], kept: &[usize], held: &[usize]) -> Result<()> {
        let mut linear: Option<(Option<Part>, bool, LinearModel)> = None;
        // Choices that differ in the shrinkage only share everything else.
        for group in choices.chunks_mut(SHRINKAGES.len()) {
            let Choice { logarithm, linear: part, preference, .. } = group[0].0;
            let known = linear.take().filter(|(other, log, _)| (*other, *log) == (part, logarithm));
            let model =
                known.map_or_else(|| self.linear(part.as_ref(), logarithm, kept), |(_, _, model)| model);
            let tree = self.rest_tree(part.as_ref(), logarithm, preference, &model, kept)?;
            for (choice, errors) in group {
                let constants = constants(&tree, choice.shrinkage);
                for &place in held {
                    let row = self.rows[place] as usize;
                    let value = self.linear_value(part.as_ref(), &model, place)
                        + constants[tree.leaf_of(self.table, row)];
                    errors.push(relative_error(value, self.response[row], logarithm));
                }
            }
            linear = Some((part, logarithm, model));
        }
        Ok(())
    }

    /// The model of a choice over all rows.
    fn fit(&self, choice: Choice, chosen: Chosen) -> Result<ModelTree> {
        let places: Vec<usize> = (0..self.rows.len()).collect();
        let part = choice.linear.as_ref();
        let linear = self.linear(part, choice.logarithm, &places);
        let tree = self.rest_tree(part, choice.logarithm, choice.preference, &linear, &places)?;
        Ok(ModelTree {
            constants: constants(&tree, choice.shrinkage),
            tree,
            features: part.and_then(|part| self.prepared(part)).map(|prepared| prepared.features.clone()),
            linear,
            share: part.map_or(0.0, |part| part.share),
            logarithm: choice.logarithm,
            chosen,
        })
    }
}

/// `c_node` of every node.
fn constants(tree: &Tree, shrinkage: f64) -> Vec<f64> {
    let mut constants: Vec<f64> = Vec::with_capacity(tree.nodes().len());
    for node in tree.nodes() {
        constants.push(match node.parent {
            None => node.mean,
            Some(parent) => {
                let above = &tree.nodes()[parent];
                constants[parent] + (node.mean - above.mean) / (1.0 + shrinkage / above.count as f64)
            }
        });
    }
    constants
}

/// How wrong a modelled value is, as `|ln(predicted / measured)|` where logarithms are modelled, so that too great and
/// too small count alike, and relative to the measured response else.
fn relative_error(value: f64, measured: f64, logarithm: bool) -> f64 {
    if logarithm {
        (value - measured.ln()).abs()
    } else if measured > 0.0 && value > 0.0 {
        (value / measured).ln().abs()
    } else if value == measured {
        0.0
    } else {
        (value - measured).abs() / measured.abs().max(f64::MIN_POSITIVE)
    }
}

/// The mean of the middle half: as robust as the median, and less noisy. Infinite without values.
fn middle_mean(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let quarter = values.len() / 4;
    let middle = &values[quarter..values.len() - quarter];
    if middle.is_empty() { f64::INFINITY } else { middle.iter().sum::<f64>() / middle.len() as f64 }
}
