//! Trains a tree that can be read: Starchart's partitioning with Gini's impurity, as deep as cross-validation says.

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
        let weights = vec![1.0; rows.len()];
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

fn leaf() -> Node {
    Node::Leaf { shares: Vec::new() }
}

/// Gives each leaf its variants: first those that are best for inputs of it, by their share; then, for where these are not
/// allowed, the others that solve some, by their performance.
fn fill_leaves(tree: &mut Tree, data: &Data, rows: &[usize]) {
    let mut counts = vec![vec![0.0; data.variants]; tree.nodes.len()];
    let mut performances = counts.clone();
    for &row in rows {
        let mut at = 0;
        while let Node::Split { feature, at_most, below, above } = tree.nodes[at] {
            at = if data.points[row][feature] <= at_most { below } else { above };
        }
        counts[at][data.labels[row]] += 1.0;
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
