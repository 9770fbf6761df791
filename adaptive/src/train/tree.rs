//! Trains a tree that can be read: Starchart's partitioning with Gini's impurity, as deep as cross-validation says. An input
//! weighs as much as a wrong choice costs there: of two that want different variants and look alike, that one is served for which
//! it matters more.

use super::data::Data;
use super::trainer::Trainer;
use crate::classifier::Learned;
use crate::tree::{Node, Tree};
use tuner::starchart::classes::{ClassOptions, ClassTree, grow_classes};
use tuner::starchart::{Column, Table};

/// Depths that are tried.
const DEPTHS: [usize; 7] = [1, 2, 3, 4, 5, 6, 8];
/// Fewest inputs of a leaf that are tried.
const LEAVES: [usize; 3] = [5, 2, 1];

/// Trains trees.
#[derive(Debug, Clone, Copy)]
pub struct TreeTrainer;

impl Trainer for TreeTrainer {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn settings(&self, _: &Data) -> usize {
        DEPTHS.len() * LEAVES.len()
    }

    fn fit(&self, data: &Data, rows: &[usize], setting: usize) -> Learned {
        let options = ClassOptions {
            max_depth: Some(DEPTHS[(setting / LEAVES.len()).min(DEPTHS.len() - 1)]),
            min_leaf: LEAVES[setting % LEAVES.len()],
            ..ClassOptions::default()
        };
        let classes: Vec<u32> = rows.iter().map(|&row| data.labels[row] as u32).collect();
        let weights: Vec<f64> = rows.iter().map(|&row| weight(data, row)).collect();
        let grown = table_of(data, rows).and_then(|table| {
            let all: Vec<u32> = (0..rows.len() as u32).collect();
            grow_classes(&table, &classes, &weights, data.variants, &all, &options).ok()
        });
        // Without a feature there is one leaf.
        let mut tree = grown.map_or_else(|| Tree { nodes: vec![leaf()] }, |tree| flattened(&tree));
        fill_leaves(&mut tree, data, rows);
        Learned::Tree(tree)
    }
}

/// The features of some rows as columns; `None` without a feature.
pub(super) fn table_of(data: &Data, rows: &[usize]) -> Option<Table> {
    let features = data.points.first().map_or(0, Vec::len);
    let column = |at: usize| {
        let values: Vec<f64> = rows.iter().map(|&row| data.points[row][at]).collect();
        Column::numeric(format!("feature {at}"), &values).ok()
    };
    let columns: Option<Vec<Column>> = (0..features).map(column).collect();
    Table::new(columns?).ok()
}

/// What an input weighs that is nearly the same to all variants.
const LEAST_WEIGHT: f64 = 0.01;

/// What is lost by the variants that are not the best one of an input, on average.
fn weight(data: &Data, row: usize) -> f64 {
    let others = (0..data.variants).filter(|&variant| variant != data.labels[row]);
    let lost: f64 = others.map(|variant| data.loss(row, variant)).sum();
    (lost / (data.variants - 1).max(1) as f64).max(LEAST_WEIGHT)
}

fn leaf() -> Node {
    Node::Leaf { shares: Vec::new() }
}

/// Gives each leaf its variants: first those that are best for inputs of it, by their share of the weights; then, for where these are not
/// allowed, the others that solve some, by their performance.
fn fill_leaves(tree: &mut Tree, data: &Data, rows: &[usize]) {
    let mut counts = vec![vec![0.0; data.variants]; tree.nodes.len()];
    let mut performances = counts.clone();
    for &row in rows {
        let mut at = 0;
        while let Node::Split { feature, at_most, below, above } = tree.nodes[at] {
            at = if data.points[row][feature] <= at_most { below } else { above };
        }
        counts[at][data.labels[row]] += weight(data, row);
        (0..data.variants).for_each(|variant| performances[at][variant] += data.performance(row, variant));
    }
    for (at, node) in tree.nodes.iter_mut().enumerate() {
        let Node::Leaf { shares } = node else { continue };
        let total: f64 = counts[at].iter().sum();
        let mut order: Vec<usize> = (0..data.variants).filter(|&own| performances[at][own] > 0.0).collect();
        let key = |variant: usize| [counts[at][variant], performances[at][variant]];
        order.sort_by(|&a, &b| {
            let ([a, own], [b, other]) = (key(a), key(b));
            b.total_cmp(&a).then(other.total_cmp(&own))
        });
        *shares = order.into_iter().map(|variant| (variant, counts[at][variant] / total)).collect();
    }
}

fn flattened(tree: &ClassTree) -> Tree {
    let node = |node: &tuner::starchart::classes::ClassNode| match node.split {
        Some(split) => Node::Split {
            feature: split.column,
            at_most: split.threshold,
            below: split.children[0],
            above: split.children[1],
        },
        None => leaf(),
    };
    Tree { nodes: tree.nodes.iter().map(node).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::Ranking;

    /// Two of three inputs that look alike gain 3 % by the second variant, the other one loses half of its speed.
    #[test]
    fn what_matters_more_is_served() {
        let data = Data {
            places: vec![0, 1, 2],
            points: vec![vec![1.0]; 3],
            labels: vec![1, 1, 0],
            costs: vec![vec![1.03, 1.0], vec![1.03, 1.0], vec![1.0, 2.0]],
            weights: vec![1.0; 3],
            variants: 2,
            default: 1,
            cutoff: None,
            choosing: 0.0,
        };
        let learned = TreeTrainer.fit(&data, &[0, 1, 2], 0);
        let mut ranking = Ranking::new();
        crate::classifier::Classifier::rank(&learned, &[1.0], &mut ranking);
        assert_eq!(ranking.best(), Some(0));
    }
}
