//! Trees as they are walked: all nodes in one list, eight trees at a time, without a branch that has to be guessed.
//!
//! A walk waits for one node after the other; those of eight trees wait at the same time. A leaf leads to itself, so that all eight take
//! as many steps as the deepest of them. Hundreds of trees take a tenth of the time that they take one by one.

use serde::{Deserialize, Serialize};

/// A tree, depth first: where a feature is at most its value the next node follows, else that of `above`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Voter {
    /// The feature of each node; -1 for a leaf.
    pub feature: Vec<i32>,
    /// The threshold of each node; of a leaf the share of the first variant, in 0 to 1.
    pub value: Vec<f64>,
    /// Where greater values go on; 0 for a leaf.
    pub above: Vec<usize>,
}

impl Voter {
    /// Whether its nodes lead to each other, for so many features.
    pub(crate) fn fits(&self, features: usize) -> bool {
        let nodes = self.feature.len();
        let node = |at: usize| {
            let (feature, above) = (self.feature[at], self.above[at]);
            let leaf = feature < 0;
            let inside = leaf || ((feature as usize) < features && above > at + 1 && above < nodes);
            inside && self.value[at].is_finite() && (!leaf || (0.0..=1.0).contains(&self.value[at]))
        };
        nodes > 0 && self.value.len() == nodes && self.above.len() == nodes && (0..nodes).all(node)
    }
}

/// Trees that are walked at once.
const TOGETHER: usize = 8;

/// A node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Node {
    /// The threshold; of a leaf the share.
    pub(crate) value: f64,
    /// The feature that is compared; that of a leaf does not matter.
    pub(crate) feature: u32,
    /// Where values at most the threshold go on, and greater ones.
    pub(crate) next: [u32; 2],
}

/// A tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tree {
    /// Its first node.
    pub(crate) root: u32,
    /// How many steps lead to its deepest leaf.
    pub(crate) steps: u32,
}

/// Trees in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Walk {
    nodes: Vec<Node>,
    trees: Vec<Tree>,
}

impl Walk {
    /// The nodes of some trees. Where a tree does not fit together a way ends with a share of one half.
    pub(crate) fn new<'a>(trees: impl Iterator<Item = &'a Voter>) -> Walk {
        let mut walk = Walk::default();
        trees.for_each(|tree| walk.add(tree));
        walk
    }

    /// The nodes of all trees, one tree after the other.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    /// The trees.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &Tree> {
        self.trees.iter()
    }

    fn add(&mut self, tree: &Voter) {
        let first = self.nodes.len();
        let count = tree.feature.len().min(tree.value.len()).min(tree.above.len());
        let number = |at: usize| u32::try_from(first + at).unwrap_or(u32::MAX);
        let leaf = |at: usize, value: f64| Node { value, feature: 0, next: [number(at); 2] };
        // Every way leads forward, and behind the tree is the end of those that do not.
        let ahead = |at: usize, next: usize| if next > at && next < count { next } else { count };
        let mut steps = vec![0; count + 1];
        for at in (0..count).rev() {
            if tree.feature[at] >= 0 {
                steps[at] = 1 + steps[ahead(at, at + 1)].max(steps[ahead(at, tree.above[at])]);
            }
        }
        self.nodes.extend((0..count).map(|at| match u32::try_from(tree.feature[at]) {
            Err(_) => leaf(at, tree.value[at]),
            Ok(feature) => {
                let next = [at + 1, tree.above[at]].map(|next| number(ahead(at, next)));
                Node { value: tree.value[at], feature, next }
            }
        }));
        self.nodes.push(leaf(count, 0.5));
        self.trees.push(Tree { root: number(0), steps: steps[0] });
    }

    /// The sum of the shares that so many trees from `first` on have, in their order.
    pub(crate) fn sum(&self, first: usize, count: usize, features: &[f64]) -> f64 {
        let trees = self.trees.get(first..first + count).unwrap_or(&[]);
        let mut sum = 0.0;
        for trees in trees.chunks(TOGETHER) {
            let mut at = [0; TOGETHER];
            at.iter_mut().zip(trees).for_each(|(at, tree)| *at = tree.root);
            let steps = trees.iter().map(|tree| tree.steps).max().unwrap_or(0);
            for _ in 0..steps {
                for at in &mut at[..trees.len()] {
                    let Some(node) = self.nodes.get(*at as usize) else { continue };
                    let value = features.get(node.feature as usize).copied().unwrap_or(f64::NAN);
                    // What is not a number is not at most anything.
                    let small = value <= node.value;
                    *at = node.next[usize::from(!small)];
                }
            }
            for &at in &at[..trees.len()] {
                sum += self.nodes.get(at as usize).map_or(0.5, |node| node.value);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Adds a tree that is at most so deep, and less by chance.
    fn grown(tree: &mut Voter, deep: u32, random: &mut ChaCha8Rng) {
        let at = tree.feature.len();
        let leaf = deep == 0 || random.random_bool(0.2);
        tree.feature.push(if leaf { -1 } else { random.random_range(0..3) });
        tree.value.push(random.random_range(0.0..1.0));
        tree.above.push(0);
        if !leaf {
            grown(tree, deep - 1, random);
            tree.above[at] = tree.feature.len();
            grown(tree, deep - 1, random);
        }
    }

    /// The share of one tree, node by node.
    fn share(tree: &Voter, features: &[f64]) -> f64 {
        let mut at = 0;
        while let Ok(feature) = usize::try_from(tree.feature[at]) {
            at = if features[feature] <= tree.value[at] { at + 1 } else { tree.above[at] };
        }
        tree.value[at]
    }

    #[test]
    fn trees_together_say_what_each_says() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let trees: Vec<Voter> = (0..45)
            .map(|at| {
                let mut tree = Voter { feature: Vec::new(), value: Vec::new(), above: Vec::new() };
                grown(&mut tree, at % 12, &mut random);
                tree
            })
            .collect();
        let walk = Walk::new(trees.iter());
        for _ in 0..200 {
            let mut features: [f64; 3] = std::array::from_fn(|_| random.random_range(0.0..1.0));
            if random.random_bool(0.1) {
                features[1] = f64::NAN;
            }
            for (first, count) in [(0, 45), (3, 8), (17, 1), (40, 5), (45, 0)] {
                let own = trees[first..first + count].iter().map(|tree| share(tree, &features));
                assert_eq!(
                    walk.sum(first, count, &features).to_bits(),
                    own.fold(0.0, |a, b| a + b).to_bits()
                );
            }
        }
    }
}
