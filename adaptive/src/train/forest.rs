//! Trains forests of pairs: each training input counts by what the wrong variant of the two loses.

use super::data::Data;
use super::trainer::Trainer;
use super::tree::table_of;
use crate::classifier::Learned;
use crate::forest::{Forest, Pair, Voter};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tuner::starchart::Table;
use tuner::starchart::classes::{ClassOptions, ClassTree, grow_classes};

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

    fn settings(&self, _: &Data) -> usize {
        1
    }

    fn fit(&self, data: &Data, rows: &[usize], _: usize) -> Learned {
        let solves = |variant: &usize| rows.iter().any(|&row| data.costs[row][*variant].is_finite());
        let classes: Vec<usize> = (0..data.variants).filter(solves).collect();
        let table = table_of(data, rows);
        let mut pairs = Vec::new();
        for (at, &first) in classes.iter().enumerate() {
            for &second in &classes[at + 1..] {
                pairs.push(self.pair(data, rows, table.as_ref(), first, second));
            }
        }
        Learned::Forest(Forest { classes, pairs })
    }
}

impl ForestTrainer {
    fn pair(&self, data: &Data, rows: &[usize], table: Option<&Table>, first: usize, second: usize) -> Pair {
        // What the wrong one loses, as a share of what the best of all variants does.
        let loss = |&row: &usize| data.performance(row, first) - data.performance(row, second);
        let losses: Vec<f64> = rows.iter().map(loss).collect();
        let classes: Vec<u32> = losses.iter().map(|&loss| u32::from(loss < 0.0)).collect();
        let weights: Vec<f64> = losses.iter().map(|loss| loss.abs()).collect();
        let counted: Vec<u32> = (0..rows.len() as u32).filter(|&at| weights[at as usize] > 0.0).collect();
        let seed = self.seed ^ ((first as u64) << 32 | second as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let features = data.points.first().map_or(0, Vec::len);
        let tree = |_| {
            let drawn: Vec<u32> =
                counted.iter().map(|_| counted[random.random_range(0..counted.len())]).collect();
            let looked_at = (features as f64).sqrt().ceil() as usize;
            let options =
                ClassOptions { draw: Some((looked_at, random.random())), ..ClassOptions::default() };
            let grown =
                table.and_then(|table| grow_classes(table, &classes, &weights, 2, &drawn, &options).ok());
            let share =
                counted.iter().map(|&at| if classes[at as usize] == 0 { weights[at as usize] } else { 0.0 });
            let total: f64 = counted.iter().map(|&at| weights[at as usize]).sum();
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
