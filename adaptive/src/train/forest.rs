//! Trains forests of pairs: each training input counts by what the wrong variant of the two loses.

use super::data::Data;
use super::trainer::Trainer;
use super::tree::table_of;
use crate::classifier::Learned;
use crate::forest::{Forest, Pair, Voter};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use tuner::starchart::Table;
use tuner::starchart::classes::{ClassOptions, ClassTree, grow_classes};

/// Most variants that forests choose among: 66 pairs.
const MOST_CHOSEN: usize = 12;

/// Where choosing counts: so many times fewer trees.
const FEWER: [usize; 3] = [1, 3, 8];

/// Where runs have a time limit, the least share of the weight of a tree that a split must gain.
const LEAST_GAIN: f64 = 1e-4;

/// Trains forests.
#[derive(Debug, Clone, Copy)]
pub struct ForestTrainer {
    /// Trees of each pair.
    pub trees: usize,
    /// Seed of the draws.
    pub seed: u64,
}

impl Trainer for ForestTrainer {
    fn name(&self) -> &'static str {
        "forest"
    }

    fn settings(&self, data: &Data) -> usize {
        if data.choosing > 0.0 { FEWER.len() } else { 1 }
    }

    fn fit(&self, data: &Data, rows: &[usize], setting: usize) -> Learned {
        let fewer = FEWER.get(setting).copied().unwrap_or(1);
        ForestTrainer { trees: self.trees.div_ceil(fewer), ..*self }.forest(data, rows)
    }
}

impl ForestTrainer {
    fn forest(&self, data: &Data, rows: &[usize]) -> Learned {
        let classes = complements(data, rows);
        let table = table_of(data, rows);
        let pair = |at: usize| classes[at + 1..].iter().map(move |&second| (at, second));
        let pairs: Vec<(usize, usize)> = (0..classes.len()).flat_map(pair).collect();
        let trained = pairs.into_par_iter();
        let pairs =
            trained.map(|(at, second)| self.pair(data, rows, table.as_ref(), classes[at], second)).collect();
        Learned::Forest(Forest::new(classes, pairs))
    }
}

/// The variants that solve something; of more than [`MOST_CHOSEN`] those that together lose least: the best single one, then
/// each next one by what it saves where the best of the taken ones runs.
fn complements(data: &Data, rows: &[usize]) -> Vec<usize> {
    let solves = |variant: &usize| rows.iter().any(|&row| data.costs[row][*variant].is_finite());
    let mut left: Vec<usize> = (0..data.variants).filter(solves).collect();
    if left.len() <= MOST_CHOSEN {
        return left;
    }
    let mut lost = vec![f64::INFINITY; rows.len()];
    let mut taken = Vec::new();
    while taken.len() < MOST_CHOSEN {
        let with = |&variant: &usize| {
            let each = rows.iter().zip(&lost).map(|(&row, &lost)| data.loss(row, variant).min(lost));
            each.sum::<f64>()
        };
        let sums: Vec<f64> = left.iter().map(with).collect();
        let Some(at) = (0..left.len()).min_by(|&a, &b| sums[a].total_cmp(&sums[b])) else { break };
        let variant = left.remove(at);
        rows.iter().zip(&mut lost).for_each(|(&row, lost)| *lost = data.loss(row, variant).min(*lost));
        taken.push(variant);
    }
    taken.sort_unstable();
    taken
}

impl ForestTrainer {
    fn pair(&self, data: &Data, rows: &[usize], table: Option<&Table>, first: usize, second: usize) -> Pair {
        // What the second loses more than the first.
        let loss = |&row: &usize| data.loss(row, second) - data.loss(row, first);
        let losses: Vec<f64> = rows.iter().map(loss).collect();
        let classes: Vec<u32> = losses.iter().map(|&loss| u32::from(loss < 0.0)).collect();
        let weights: Vec<f64> = losses.iter().map(|loss| loss.abs()).collect();
        let counted: Vec<u32> = (0..rows.len() as u32).filter(|&at| weights[at as usize] > 0.0).collect();
        let seed = self.seed ^ ((first as u64) << 32 | second as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let features = data.points.first().map_or(0, Vec::len);
        // Where runs have a time limit, few rows have nearly all the weight, and a tree would split them off one by one. So half of
        // the rows are drawn by their weights, half of them all alike, and each counts what makes up for it: w / (w + mean).
        let total: f64 = counted.iter().map(|&at| weights[at as usize]).sum();
        let mean = total / counted.len().max(1) as f64;
        let sums: Vec<f64> = counted
            .iter()
            .scan(0.0, |sum, &at| {
                *sum += weights[at as usize] + mean;
                Some(*sum)
            })
            .collect();
        let drawn_by = sums.last().copied().unwrap_or(0.0);
        let heavy = |sum: f64| counted[sums.partition_point(|&own| own <= sum).min(counted.len() - 1)];
        let (grown_by, min_gain) = match data.cutoff {
            None => (weights.clone(), 0.0),
            Some(_) => (
                weights.iter().map(|weight| weight / (weight + mean).max(f64::MIN_POSITIVE)).collect(),
                LEAST_GAIN,
            ),
        };
        let tree = |_| {
            let drawn: Vec<u32> = match data.cutoff {
                None => counted.iter().map(|_| counted[random.random_range(0..counted.len())]).collect(),
                Some(_) => counted.iter().map(|_| heavy(random.random_range(0.0..drawn_by))).collect(),
            };
            let looked_at = (features as f64).sqrt().ceil() as usize;
            let options = ClassOptions {
                draw: Some((looked_at, random.random())),
                min_gain,
                ..ClassOptions::default()
            };
            let grown =
                table.and_then(|table| grow_classes(table, &classes, &grown_by, 2, &drawn, &options).ok());
            let share =
                counted.iter().map(|&at| if classes[at as usize] == 0 { weights[at as usize] } else { 0.0 });
            grown.map_or_else(
                || leaf(if total > 0.0 { share.sum::<f64>() / total } else { 0.5 }),
                |tree| voter(&tree),
            )
        };
        Pair { first, second, trees: (0..self.trees.max(1)).map(tree).collect() }
    }
}

fn leaf(share: f64) -> Voter {
    Voter { feature: vec![-1], value: vec![share.clamp(0.0, 1.0)], above: vec![0] }
}

fn voter(tree: &ClassTree) -> Voter {
    let mut voter = Voter { feature: Vec::new(), value: Vec::new(), above: Vec::new() };
    for node in &tree.nodes {
        let (feature, value, above) = match node.split {
            Some(split) => (split.column as i32, split.threshold, split.children[1]),
            None => {
                let total = node.weights[0] + node.weights[1];
                (-1, if total > 0.0 { (node.weights[0] / total).clamp(0.0, 1.0) } else { 0.5 }, 0)
            }
        };
        voter.feature.push(feature);
        voter.value.push(value);
        voter.above.push(above);
    }
    voter
}
