//! Trees for people: what a drawing says, and text for a terminal.

mod text;

pub use text::text;

use super::region::{Region, side};
use super::table::Table;
use super::tree::{Goal, Tree};
use text_escape::visible;

/// A tree and what to say about it.
#[derive(Debug, Clone)]
pub struct Drawing<'a> {
    /// What is shown: kernel, device, number of trials.
    pub title: String,
    /// The metric with its unit.
    pub metric: String,
    /// The columns that the tree was grown on.
    pub table: &'a Table,
    /// The tree.
    pub tree: &'a Tree,
    /// Which responses are good.
    pub goal: Goal,
    /// The tree as it was grown has this many leaves; more than are drawn if small gains were left out.
    pub leaves_grown: usize,
}

impl Drawing<'_> {
    /// The best leaf.
    pub fn best(&self) -> usize {
        self.tree.best_leaf(self.goal)
    }

    /// The condition that leads from the parent of a node to it; `all designs` for the root.
    pub fn condition(&self, node: usize) -> String {
        let above = self.tree.nodes()[node].parent;
        let split = above.and_then(|above| Some((above, self.tree.nodes()[above].split.as_ref()?)));
        match split {
            Some((above, split)) => {
                visible(&side(self.table, self.tree, above, split.children[0] == node)).into_owned()
            }
            None => "all designs".to_owned(),
        }
    }

    /// The conditions of the best leaf, one for each parameter.
    pub fn reasons(&self) -> Vec<String> {
        let conditions = Region::of(self.table, self.tree, self.best()).conditions(self.table);
        conditions.iter().map(|condition| visible(condition).into_owned()).collect()
    }

    /// How many leaves are shown, of how many.
    pub fn leaves_text(&self) -> String {
        let shown = self.tree.leaf_count();
        if shown == self.leaves_grown {
            format!("{shown} partitions")
        } else {
            format!(
                "{shown} partitions of {}: the way to the best, then the greatest gains",
                self.leaves_grown
            )
        }
    }
}

/// A number with four significant digits.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e6).contains(&size) {
        format!("{value:.3e}")
    } else {
        let decimals = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
        format!("{value:.decimals$}")
    }
}

/// The text, cut to at most `most` characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
