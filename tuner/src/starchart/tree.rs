//! Regression trees: partitions of a design space, and what their designs have in common.

use super::table::Table;
use serde::Serialize;

/// How a partition is divided in two.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Designs with `P_k <= v` go left, `v = levels[place]`.
    AtMost {
        /// The greatest level that goes left: of all values that divide the designs in the same way, the least.
        place: u32,
        /// The least level above it among the designs of the partition.
        next: u32,
    },
    /// Designs whose level is marked go left.
    In(
        /// One mark for each level.
        Vec<bool>,
    ),
}

/// A division of a partition: an element of the history `H` of Algorithm 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// The column of the parameter.
    pub column: usize,
    /// Who goes left.
    pub rule: Rule,
    /// Reduction in the sum of squared errors, `SSE_0 - SSE_min`.
    pub gain: f64,
    /// The node of the designs that go left, and of the others.
    pub children: [usize; 2],
}

impl Split {
    /// The value `v` of `P_k <= v`; `None` for subsets.
    pub fn value(&self, table: &Table) -> Option<f64> {
        match self.rule {
            Rule::AtMost { place, .. } => table.columns()[self.column].levels().get(place as usize).copied(),
            Rule::In(_) => None,
        }
    }

    /// The middle between the two values that the split separates, as CART programs report it; `None` for subsets.
    pub fn threshold(&self, table: &Table) -> Option<f64> {
        match self.rule {
            Rule::AtMost { place, next } => {
                let levels = table.columns()[self.column].levels();
                Some((levels.get(place as usize)? + levels.get(next as usize)?) / 2.0)
            }
            Rule::In(_) => None,
        }
    }

    /// Whether a level goes left.
    pub fn goes_left(&self, code: u32) -> bool {
        match &self.rule {
            Rule::AtMost { place, .. } => code <= *place,
            Rule::In(left) => left.get(code as usize).copied().unwrap_or(false),
        }
    }
}

/// A partition of the designs.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The partition that it is part of; `None` for the whole space.
    pub parent: Option<usize>,
    /// Splits above it.
    pub depth: usize,
    /// Number of designs.
    pub count: usize,
    /// Mean response of the designs, the modelled response of the whole partition.
    pub mean: f64,
    /// Least and greatest response.
    pub range: [f64; 2],
    /// Sum of squared errors around the mean.
    pub sse: f64,
    /// How it is divided; `None` for a leaf.
    pub split: Option<Split>,
}

/// Fewest designs of a partition that an overview leads to.
const LEAST_SHOWN: usize = 5;

/// Which responses are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// Small ones, such as times.
    #[default]
    Minimize,
    /// Great ones, such as rates.
    Maximize,
}

impl Goal {
    /// A number that is the smaller the better the response.
    pub fn cost(self, response: f64) -> f64 {
        match self {
            Goal::Minimize => response,
            Goal::Maximize => -response,
        }
    }

    /// The best and the worst response of a partition.
    pub fn best_and_worst(self, node: &Node) -> [f64; 2] {
        match self {
            Goal::Minimize => node.range,
            Goal::Maximize => [node.range[1], node.range[0]],
        }
    }
}

/// A regression tree. Node 0 is the whole space; nodes stand in the order in which Algorithm 1 finds them: level by
/// level, left before right.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
}

impl Tree {
    /// All partitions.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The nodes that are not divided, in the order of the nodes.
    pub fn leaves(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|&node| self.nodes[node].split.is_none())
    }

    /// Number of leaves.
    pub fn leaf_count(&self) -> usize {
        self.nodes.len().div_ceil(2)
    }

    /// Splits between the root and the deepest leaf.
    pub fn depth(&self) -> usize {
        self.nodes.iter().map(|node| node.depth).max().unwrap_or(0)
    }

    /// The leaf of a row of a table with the columns that the tree was grown on.
    pub fn leaf_of(&self, table: &Table, row: usize) -> usize {
        let mut at = 0;
        while let Some(split) = &self.nodes[at].split {
            let code = table.columns()[split.column].codes()[row];
            at = split.children[usize::from(!split.goes_left(code))];
        }
        at
    }

    /// The modelled response of a row: the mean of its leaf.
    pub fn predict(&self, table: &Table, row: usize) -> f64 {
        self.nodes[self.leaf_of(table, row)].mean
    }

    /// The leaf with the best mean; of equal ones that with the better worst case, then the one with more designs,
    /// then the first.
    pub fn best_leaf(&self, goal: Goal) -> usize {
        self.best_of(self.leaves(), goal).unwrap_or(0)
    }

    /// The best of these nodes, as [`Tree::best_leaf`] orders them.
    pub fn best_of(&self, nodes: impl Iterator<Item = usize>, goal: Goal) -> Option<usize> {
        nodes.min_by(|&a, &b| {
            let (a, b) = (&self.nodes[a], &self.nodes[b]);
            let worst = |node: &Node| goal.cost(goal.best_and_worst(node)[1]);
            goal.cost(a.mean)
                .total_cmp(&goal.cost(b.mean))
                .then(worst(a).total_cmp(&worst(b)))
                .then(b.count.cmp(&a.count))
        })
    }

    /// The nodes from the root to this one.
    pub fn path(&self, node: usize) -> Vec<usize> {
        let mut path = vec![node];
        while let Some(parent) = path.last().and_then(|&node| self.nodes[node].parent) {
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// The tree with the splits that reduce the error most and at most `leaves` leaves: from the root on, always the
    /// leaf with the greatest gain is divided.
    pub fn largest_gains(&self, leaves: usize) -> Tree {
        self.with_way_to(0, leaves)
    }

    /// The tree with at most `leaves` leaves that shows where the best designs are: the way to the best partition that
    /// is no accident, and then the splits with the greatest gains. The partition has the best mean of those with one
    /// per cent of the designs, or with five where that is more; its way takes two thirds of the splits at
    /// most.
    pub fn overview(&self, leaves: usize, goal: Goal) -> Tree {
        let least = self.nodes[0].count.div_ceil(100).max(LEAST_SHOWN);
        let deepest = 2 * leaves.saturating_sub(1) / 3;
        let nodes = (0..self.nodes.len())
            .filter(|&node| self.nodes[node].count >= least && self.nodes[node].depth <= deepest);
        self.with_way_to(self.best_of(nodes, goal).unwrap_or(0), leaves)
    }

    /// The tree with all splits above a node, and those with the greatest gains until it has `leaves` leaves.
    fn with_way_to(&self, node: usize, leaves: usize) -> Tree {
        let mut divided = vec![false; self.nodes.len()];
        let mut open = vec![0_usize];
        let mut count = 1;
        for pair in self.path(node).windows(2) {
            divided[pair[0]] = true;
            count += 1;
            open.retain(|&at| at != pair[0]);
            open.extend(self.nodes[pair[0]].split.iter().flat_map(|split| split.children));
        }
        // What lies below the node stays one partition, unless its gain is among the greatest.
        for _ in count..leaves.max(1) {
            let gain = |&at: &usize| self.nodes[at].split.as_ref().map(|split| split.gain);
            let candidates = open.iter().enumerate().filter_map(|(place, at)| Some((place, gain(at)?)));
            let best = candidates.reduce(|best, other| if other.1 > best.1 { other } else { best });
            let Some((place, _)) = best else { break };
            let at = open.swap_remove(place);
            divided[at] = true;
            if let Some(split) = &self.nodes[at].split {
                open.extend(split.children);
            }
        }
        self.keep(|at| divided[at])
    }

    /// The tree down to this depth.
    pub fn cut_at(&self, depth: usize) -> Tree {
        self.keep(|at| self.nodes[at].depth < depth)
    }

    /// The tree with the counts, means, ranges and errors that its partitions have in another response, over some rows;
    /// the gains stay. For partitions without a row they are those of the partition above.
    pub fn with_response(&self, table: &Table, response: &[f64], rows: &[u32]) -> Tree {
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); self.nodes.len()];
        for &row in rows {
            let leaf = self.leaf_of(table, row as usize);
            self.path(leaf).into_iter().for_each(|node| values[node].push(response[row as usize]));
        }
        let mut tree = self.clone();
        for (at, values) in values.iter().enumerate() {
            let above = tree.nodes[at].parent.map(|parent| tree.nodes[parent].clone());
            let node = &mut tree.nodes[at];
            node.count = values.len();
            if values.is_empty() {
                let (mean, range) = above.map_or((0.0, [0.0; 2]), |above| (above.mean, above.range));
                (node.mean, node.range, node.sse) = (mean, range, 0.0);
                continue;
            }
            node.mean = values.iter().sum::<f64>() / values.len() as f64;
            node.sse = values.iter().map(|value| (value - node.mean).powi(2)).sum();
            node.range = values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &value| {
                [low.min(value), high.max(value)]
            });
        }
        tree
    }

    /// The tree with only those splits for which `keep` holds, and for all above them.
    fn keep(&self, keep: impl Fn(usize) -> bool) -> Tree {
        let mut nodes = vec![self.nodes[0].clone()];
        let mut origin = vec![0_usize];
        let mut at = 0;
        while at < nodes.len() {
            if !keep(origin[at]) {
                nodes[at].split = None;
            }
            let next = nodes.len();
            if let Some(split) = &mut nodes[at].split {
                let children = split.children;
                split.children = [next, next + 1];
                for child in children {
                    let mut node = self.nodes[child].clone();
                    node.parent = Some(at);
                    nodes.push(node);
                    origin.push(child);
                }
            }
            at += 1;
        }
        Tree { nodes }
    }
}
