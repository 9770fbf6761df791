//! Incremental tuning: only those inputs are labelled from which the model learns most.
//!
//! A. J. Joshi, F. Porikli, N. Papanikolopoulos, "Multi-class active learning for image classification", CVPR 2009: the next
//! input is the one for which the best and the second-best class are nearest to each other. The size of the decision between
//! them is what is compared here.

use super::measured::Measured;
use crate::classifier::{Classifier, Learned};
use crate::error::{AdaptiveError, Result};
use crate::ranking::Ranking;
use crate::svm::scaled;
use crate::table::{Row, Table};
use crate::train::{Criterion, Data, TrainOptions, Trained, Validated, best_setting, choose, train_on};
use crate::train::{ForestTrainer, Grid, Kind, SvmTrainer, Trainer, TreeTrainer};
use serde::Serialize;

/// When labelling stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stopping {
    /// Labels after the first ones, one for each variant.
    pub iterations: Option<usize>,
    /// Mean performance on the test inputs that is enough, in 0 to 1.
    pub accuracy: Option<f64>,
}

/// How the next input is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The one that the model is least sure of.
    BestVersusSecondBest,
    /// In the order of the inputs after the first ones, for comparison: shuffle them.
    Given,
}

/// A point of the curve of convergence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Step {
    /// Inputs labelled so far, the first ones included.
    pub labels: usize,
    /// Mean performance on the test inputs; null without any.
    pub performance: Option<f64>,
}

/// What incremental tuning gave.
#[derive(Debug)]
pub struct Incremental {
    /// The model.
    pub trained: Trained,
    /// The labelled inputs, in their order.
    pub labelled: Vec<usize>,
    /// How many of them were the first ones.
    pub seeds: usize,
    /// After the first labels, and after each further one.
    pub steps: Vec<Step>,
    /// Whether it ended because time was over.
    pub cut_short: bool,
}

/// Scaled features of rows.
fn points(rows: &[&Row], features: &[usize]) -> Vec<Vec<f64>> {
    let range = |at: &usize| {
        rows.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], row| {
            [low.min(row.features[*at]), high.max(row.features[*at])]
        })
    };
    let ranges: Vec<[f64; 2]> = features.iter().map(range).collect();
    let point = |row: &&Row| {
        features.iter().zip(&ranges).map(|(&at, &range)| scaled(row.features[at], range)).collect()
    };
    rows.iter().map(point).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Labels inputs of the pool until the rule says stop, and trains a model on them. Performance is watched on `test`, whose
/// inputs are labelled for that.
///
/// The first labels are those of the input in the middle and then of the ones farthest from all before, until every variant
/// that may be was the best of one, or as many as three times the variants are labelled.
///
/// # Errors
/// An empty pool, no rule to stop by, what measuring says.
pub fn tune_incrementally(
    measured: &mut Measured<'_>,
    pool: &[usize],
    test: &[usize],
    features: &[usize],
    stopping: Stopping,
    order: Order,
    options: &TrainOptions,
) -> Result<Incremental> {
    if stopping.iterations.is_none() && stopping.accuracy.is_none() {
        return Err(AdaptiveError::request("nothing says when to stop", "give --iter, --acc or both"));
    }
    if stopping.accuracy.is_some() && test.is_empty() {
        let hint = "name test inputs, or give --iter in place of --acc";
        return Err(AdaptiveError::request("the performance to be reached needs test inputs", hint));
    }
    for &input in pool {
        measured.features(input)?;
    }
    for &input in test {
        measured.label(input)?;
    }
    let table = measured.table(pool);
    // Inputs without all features cannot be learned from.
    let open: Vec<usize> = (0..pool.len())
        .filter(|&at| features.iter().all(|&feature| table.rows[at].features[feature].is_finite()))
        .collect();
    if open.is_empty() {
        return Err(AdaptiveError::infeasible(
            "no input of the pool has all its features",
            "look at the features",
        ));
    }
    let rows: Vec<&Row> = open.iter().map(|&at| &table.rows[at]).collect();
    let points = points(&rows, features);
    let inputs: Vec<usize> = open.iter().map(|&at| pool[at]).collect();
    let mut run = Run {
        measured,
        labelled: Vec::new(),
        taken: vec![false; inputs.len()],
        inputs,
        points,
        features,
        test,
        options,
        setting: None,
    };
    run.first_labels(order)?;
    let seeds = run.labelled.len();
    let (mut steps, mut cut_short) = (Vec::new(), false);
    loop {
        let classifier = run.classifier()?;
        let performance = run.performance(&classifier);
        steps.push(Step { labels: run.labelled.len(), performance });
        let enough = stopping.iterations.is_some_and(|most| run.labelled.len() - seeds >= most);
        let good = stopping.accuracy.zip(performance).is_some_and(|(wanted, reached)| reached >= wanted);
        if enough || good {
            break;
        }
        cut_short = run.measured.is_over();
        let Some(next) = run.next(&classifier, order).filter(|_| !cut_short) else { break };
        run.label(next)?;
    }
    let labelled = run.labelled.clone();
    let table = run.measured.table(&labelled);
    let all: Vec<usize> = (0..table.rows.len()).collect();
    let mut data = Data::new(&table, &all, features);
    run.weigh(&mut data);
    let options = TrainOptions { grid: Grid::FEW, ..*options };
    Ok(Incremental {
        trained: train_on(&table, data, features, &options)?,
        labelled,
        seeds,
        steps,
        cut_short,
    })
}

struct Run<'a, 'b> {
    measured: &'a mut Measured<'b>,
    /// Inputs in the order of their labels.
    labelled: Vec<usize>,
    /// Of the inputs that can be learned from: whether it is labelled.
    taken: Vec<bool>,
    inputs: Vec<usize>,
    points: Vec<Vec<f64>>,
    features: &'a [usize],
    test: &'a [usize],
    options: &'a TrainOptions,
    /// The setting of the classifier, and the number of labels that it was found with.
    setting: Option<(usize, usize)>,
}

impl Run<'_, '_> {
    fn label(&mut self, at: usize) -> Result<()> {
        self.taken[at] = true;
        self.labelled.push(self.inputs[at]);
        self.measured.label(self.inputs[at]).map(drop)
    }

    fn first_labels(&mut self, order: Order) -> Result<()> {
        let dimensions = self.points.first().map_or(0, Vec::len);
        let count = self.points.len() as f64;
        let middle: Vec<f64> = (0..dimensions)
            .map(|at| self.points.iter().map(|point| point[at]).sum::<f64>() / count)
            .collect();
        let variants = self.measured.workload().variants().len();
        let nearest = |points: &[Vec<f64>], to: &[f64]| {
            (0..points.len()).min_by(|&a, &b| distance(&points[a], to).total_cmp(&distance(&points[b], to)))
        };
        let mut next = match order {
            Order::BestVersusSecondBest => nearest(&self.points, &middle),
            Order::Given => Some(0),
        };
        let mut far: Vec<f64> = vec![f64::INFINITY; self.points.len()];
        while let Some(at) = next {
            self.label(at)?;
            let labels = self.measured.table(&self.labelled).label_counts();
            let seen = labels.iter().filter(|count| **count > 0).count();
            if seen == variants || self.labelled.len() >= 3 * variants || self.measured.is_over() {
                break;
            }
            for (far, point) in far.iter_mut().zip(&self.points) {
                *far = far.min(distance(point, &self.points[at]));
            }
            let free = (0..self.points.len()).filter(|&at| !self.taken[at]);
            next = match order {
                // The first of those that are equally far.
                Order::BestVersusSecondBest => {
                    free.reduce(|best, at| if far[at] > far[best] { at } else { best })
                }
                Order::Given => free.min(),
            };
        }
        Ok(())
    }

    /// Each labelled input stands for those of the pool that lie nearest to it: what was asked for lies where the model was
    /// not sure, and says little of the rest.
    fn weigh(&self, data: &mut Data) {
        let place = |input: &usize| self.inputs.iter().position(|own| own == input);
        let known: Vec<Option<usize>> = data.places.iter().map(|&at| place(&self.labelled[at])).collect();
        data.weights.fill(0.0);
        for point in &self.points {
            let far =
                |at: &usize| known[*at].map_or(f64::INFINITY, |known| distance(&self.points[known], point));
            if let Some(nearest) = (0..known.len()).min_by(|a, b| far(a).total_cmp(&far(b))) {
                data.weights[nearest] += 1.0;
            }
        }
    }

    /// A classifier of what is labelled. Settings are looked for anew where a tenth more is known.
    fn classifier(&mut self) -> Result<Learned> {
        let table = self.measured.table(&self.labelled);
        let all: Vec<usize> = (0..table.rows.len()).collect();
        let mut data = Data::new(&table, &all, self.features);
        self.weigh(&mut data);
        if data.is_empty() {
            return Ok(Learned::Tree(crate::tree::Tree { nodes: Vec::new() }));
        }
        let kind = if self.options.kind == Kind::Auto { Kind::Svm } else { self.options.kind };
        let trainer: Box<dyn Trainer> = match kind {
            Kind::Svm | Kind::Auto => Box::new(SvmTrainer { grid: Grid::FEW }),
            Kind::Tree => Box::new(TreeTrainer),
            Kind::Forest => Box::new(ForestTrainer { trees: self.options.trees, seed: self.options.seed }),
        };
        let setting = match self.setting {
            Some((setting, labels)) if 10 * data.len() < 11 * labels => setting,
            _ => {
                let (count, seed) = (self.options.folds.max(2), self.options.seed);
                let Validated { setting, .. } =
                    best_setting(&*trainer, &data, count, seed, Criterion::Accuracy);
                self.setting = Some((setting, data.len()));
                setting
            }
        };
        let rows: Vec<usize> = (0..data.len()).collect();
        Ok(trainer.fit(&data, &rows, setting))
    }

    /// Mean performance on the test inputs; `None` without any that can be solved.
    fn performance(&self, classifier: &Learned) -> Option<f64> {
        mean_performance(&self.measured.table(self.test), self.features, classifier)
    }

    /// The next input to be labelled.
    fn next(&self, classifier: &Learned, order: Order) -> Option<usize> {
        let mut free = (0..self.inputs.len()).filter(|&at| !self.taken[at]);
        if order == Order::Given {
            return free.next();
        }
        let rows = self.measured.table(&self.inputs).rows;
        let margin = |at: usize| {
            let mut ranking = Ranking::new();
            let point: Vec<f64> = self.features.iter().map(|&feature| rows[at].features[feature]).collect();
            classifier.rank(&point, &mut ranking);
            ranking.margin()
        };
        let each = free.map(|at| (margin(at), at));
        each.reduce(|best, other| if other.0 < best.0 { other } else { best }).map(|(_, at)| at)
    }
}

/// Mean performance of a classifier's choices over the inputs of a table that can be solved; where a feature has no value,
/// the default is run. `None` without such an input.
pub(crate) fn mean_performance(table: &Table, features: &[usize], classifier: &Learned) -> Option<f64> {
    let each = table.rows.iter().filter_map(|row| {
        let point: Vec<f64> = features.iter().map(|&feature| row.features[feature]).collect();
        let known = point.iter().all(|value| value.is_finite());
        let chosen = if known { choose(classifier, &point, table.default) } else { table.default };
        row.performance(chosen, 0.0)
    });
    let values: Vec<f64> = each.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
