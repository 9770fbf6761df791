//! A classification tree: conditions on single features that a person can read.

use crate::ranking::Ranking;
use serde::{Deserialize, Serialize};

/// A node. Both ways of a split lead to nodes behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Node {
    /// Goes on at `below` where the feature is at most `at_most`, else at `above`.
    Split {
        /// The feature.
        feature: usize,
        /// The threshold.
        at_most: f64,
        /// Where small values go on.
        below: usize,
        /// Where greater ones do.
        above: usize,
    },
    /// The end of a way.
    Leaf {
        /// Variants and their shares in the training inputs that came here.
        shares: Vec<(usize, f64)>,
    },
}

/// A tree; node 0 is its root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// All nodes.
    pub nodes: Vec<Node>,
}

impl Tree {
    /// What is wrong with it, for this many variants and features.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self, variants: usize, features: usize) -> Result<(), String> {
        if self.nodes.is_empty() {
            return Err("it has no node".to_owned());
        }
        for (at, node) in self.nodes.iter().enumerate() {
            let fits = match node {
                Node::Split { feature, at_most, below, above } => {
                    let ahead = |next: &usize| *next > at && *next < self.nodes.len();
                    *feature < features && at_most.is_finite() && ahead(below) && ahead(above)
                }
                Node::Leaf { shares } => {
                    let fits = |(variant, share): &(usize, f64)| *variant < variants && share.is_finite();
                    !shares.is_empty() && shares.len() <= variants && shares.iter().all(fits)
                }
            };
            if !fits {
                return Err(format!("node {at} makes no sense"));
            }
        }
        Ok(())
    }

    /// Ranks by the shares of the leaf.
    pub fn rank(&self, features: &[f64], ranking: &mut Ranking) {
        ranking.clear();
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            match node {
                Node::Split { feature, at_most, below, above } => {
                    let small = features.get(*feature).is_some_and(|value| value <= at_most);
                    let next = if small { *below } else { *above };
                    // Every way leads forward.
                    if next <= at {
                        return;
                    }
                    at = next;
                }
                Node::Leaf { shares } => {
                    shares.iter().for_each(|&(variant, share)| ranking.push(variant, share));
                    return;
                }
            }
        }
    }

    /// Splits between the root and the deepest leaf.
    pub fn depth(&self) -> usize {
        let mut depths = vec![0; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            if let Node::Split { below, above, .. } = node {
                for next in [*below, *above] {
                    if let Some(depth) = depths.get(at).map(|depth| depth + 1)
                        && let Some(place) = depths.get_mut(next)
                    {
                        *place = depth;
                    }
                }
            }
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// The tree as text, a line for each node.
    pub fn text(&self, variants: &[String], features: &[String]) -> String {
        let name = |list: &[String], at: usize| list.get(at).map_or("?", String::as_str).to_owned();
        let mut text = String::new();
        // Node, depth, and what leads to it.
        let mut pending = vec![(0, 0, String::new())];
        while let Some((at, depth, condition)) = pending.pop() {
            let indent = "  ".repeat(depth);
            match self.nodes.get(at) {
                Some(Node::Split { feature, at_most, below, above }) => {
                    if !condition.is_empty() {
                        text.push_str(&format!("{indent}{condition}\n"));
                    }
                    let feature = name(features, *feature);
                    let deeper = if condition.is_empty() { depth } else { depth + 1 };
                    pending.push((*above, deeper, format!("{feature} > {at_most}")));
                    pending.push((*below, deeper, format!("{feature} <= {at_most}")));
                }
                Some(Node::Leaf { shares }) => {
                    let shares: Vec<String> = shares
                        .iter()
                        .filter(|(_, share)| *share > 0.0)
                        .map(|(variant, share)| {
                            format!("{} {:.0} %", name(variants, *variant), 100.0 * share)
                        })
                        .collect();
                    let condition = if condition.is_empty() { "always" } else { &condition };
                    text.push_str(&format!("{indent}{condition}: {}\n", shares.join(", ")));
                }
                None => {}
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_and_strangers_are_refused() {
        let leaf = |variant| Node::Leaf { shares: vec![(variant, 1.0)] };
        let split = |feature, below, above| Node::Split { feature, at_most: 1.0, below, above };
        let good = Tree { nodes: vec![split(0, 1, 2), leaf(0), leaf(1)] };
        assert_eq!(good.check(2, 1), Ok(()));
        assert_eq!(good.depth(), 1);
        for nodes in [
            vec![],
            vec![split(0, 0, 1), leaf(0)],
            vec![split(0, 1, 9), leaf(0)],
            vec![split(3, 1, 2), leaf(0), leaf(1)],
            vec![leaf(2)],
        ] {
            let tree = Tree { nodes };
            assert!(tree.check(2, 1).is_err());
            // It ends all the same.
            tree.rank(&[0.5], &mut Ranking::new());
        }
        let names = |names: [&str; 2]| names.map(str::to_owned);
        let text = good.text(&names(["a", "b"]), &names(["n", ""]));
        assert_eq!(text, "n <= 1: a 100 %\nn > 1: b 100 %\n");
    }
}
