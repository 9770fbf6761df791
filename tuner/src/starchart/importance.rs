//! Which parameters matter, and how much (section 8.1).

use super::table::Table;
use super::tree::Tree;
use serde::Serialize;

/// How much a parameter matters in a tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Importance {
    /// The parameter.
    pub parameter: String,
    /// Share of the reduction in error that its splits give, between 0 and 1.
    pub share: f64,
    /// Number of splits on it.
    pub splits: usize,
    /// Depth of the first split on it; null where there is none.
    pub depth: Option<usize>,
}

/// The importance of every parameter in a tree, the greatest share first; of equal ones the one declared first. The
/// shares add up to 1 unless the tree has no split.
pub fn importance(table: &Table, tree: &Tree) -> Vec<Importance> {
    let columns = table.columns().iter();
    let mut list: Vec<Importance> = columns
        .map(|column| Importance { parameter: column.name().to_owned(), share: 0.0, splits: 0, depth: None })
        .collect();
    for node in tree.nodes() {
        if let Some(split) = &node.split {
            let entry = &mut list[split.column];
            entry.share += split.gain;
            entry.splits += 1;
            entry.depth = Some(entry.depth.map_or(node.depth, |depth| depth.min(node.depth)));
        }
    }
    let total: f64 = list.iter().map(|entry| entry.share).sum();
    if total > 0.0 {
        list.iter_mut().for_each(|entry| entry.share /= total);
    }
    list.sort_by(|a, b| b.share.total_cmp(&a.share));
    list
}
