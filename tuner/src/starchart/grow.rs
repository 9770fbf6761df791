//! Algorithm 1 of W. Jia, E. Garza, K. A. Shaw, M. Martonosi, "GPU Performance and Power Tuning Using Regression
//! Trees", ACM TACO 12(2), 2015: recursive partitioning.

use super::request;
use super::split::{Candidate, Scratch, TIE};
use super::table::Table;
use super::tree::{Node, Rule, Split, Tree};
use crate::error::Result;

/// The preference for a parameter is never less, so that one that mattered nowhere above can still be split on.
const LEAST_PREFERENCE: f64 = 1e-3;

/// Most work of one tree, in values looked at: some seconds. Trees of tuning spaces need a thousandth of it; one that
/// splits off single designs of a million needs a million passes over them.
const MOST_WORK: usize = 1_000_000_000;

/// When a partition is not divided any more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowOptions {
    /// A split must reduce the sum of squared errors by more than this, in the square of the response's unit
    /// (Algorithm 1, line 26). The paper takes 0 for times and the error of the instrument for power.
    pub threshold: f64,
    /// Most splits on a path; `None` for no limit.
    pub max_depth: Option<usize>,
    /// Fewest designs of a partition.
    pub min_leaf: usize,
    /// A partition whose responses have a smaller standard deviation is not divided.
    pub min_deviation: f64,
    /// Prefers parameters that matter above: a gain counts `c_k^preference` times, with `c_k` the closeness of the
    /// parameter relative to the greatest; see [`grow`]. 0 is the published algorithm.
    pub preference: f64,
}

impl Default for GrowOptions {
    /// Fully grown, as for the performance trees of the paper.
    fn default() -> GrowOptions {
        GrowOptions { threshold: 0.0, max_depth: None, min_leaf: 1, min_deviation: 0.0, preference: 0.0 }
    }
}

/// Grows the tree of `response` over some rows of a table (Algorithm 1).
///
/// Ties. Of the values of one parameter that give the same gain, the least is taken. Of parameters that do, the one
/// that came closest to being split on above: with `g_k` the gain of the best split on parameter `k` in a partition,
/// the greatest sum of `g_k / max_k g_k` over the partitions that contain this one; and of those the one declared
/// first. Such ties are frequent where few designs are left, and a parameter that mattered above is the better guess
/// there. Gains that differ by less than a ten-billionth are equal.
///
/// # Errors
/// No row, a response that is not finite, options that make no sense, or a tree that takes too long to grow.
pub fn grow(table: &Table, response: &[f64], rows: &[u32], options: &GrowOptions) -> Result<Tree> {
    check(table, response, rows, options)?;
    let mut work = Work {
        table,
        options,
        rows: rows.to_vec(),
        response: rows.iter().map(|&row| response[row as usize]).collect(),
        z: vec![0.0; rows.len()],
        spare: Vec::new(),
        spare_rows: Vec::new(),
        scratch: Scratch::default(),
        candidates: Vec::new(),
        nodes: Vec::with_capacity(rows.len() / 2),
    };
    // Depth first, so that a partition is still in the cache when its parts are divided.
    let columns = table.columns().len();
    let mut pending =
        vec![Pending { from: 0, to: rows.len(), parent: None, depth: 0, closeness: vec![0.0; columns] }];
    let mut values = 0_usize;
    while let Some(partition) = pending.pop() {
        values += (partition.to - partition.from) * columns;
        if values > MOST_WORK {
            return Err(request(
                format!("the tree takes more than {MOST_WORK} looks at the {} designs", rows.len()),
                "limit it with --max-depth or --min-leaf, or take fewer trials with --where",
            ));
        }
        work.divide(partition, &mut pending);
    }
    Ok(level_by_level(work.nodes))
}

fn check(table: &Table, response: &[f64], rows: &[u32], options: &GrowOptions) -> Result<()> {
    let refuse = |reason: String, hint: &str| Err(request(reason, hint));
    if response.len() != table.rows() || rows.iter().any(|&row| row as usize >= table.rows()) {
        return refuse("the response and the parameters have different numbers of rows".to_owned(), "");
    }
    if rows.is_empty() {
        return refuse(
            "no successful trial is left to grow a tree on".to_owned(),
            "widen --where, or measure more",
        );
    }
    if rows.iter().any(|&row| !response[row as usize].is_finite()) {
        return refuse("a response is not finite".to_owned(), "leave failed trials out");
    }
    if !(options.threshold >= 0.0 && options.min_deviation >= 0.0 && options.preference >= 0.0) {
        return refuse("a threshold is negative or no number".to_owned(), "take 0 for a fully grown tree");
    }
    Ok(())
}

/// A partition of `C` in Algorithm 1: a range of the rows.
struct Pending {
    from: usize,
    to: usize,
    parent: Option<(usize, usize)>,
    depth: usize,
    /// For each parameter the sum of `g_k / max_k g_k` over the partitions above.
    closeness: Vec<f64>,
}

struct Work<'a> {
    table: &'a Table,
    options: &'a GrowOptions,
    rows: Vec<u32>,
    response: Vec<f64>,
    z: Vec<f64>,
    spare: Vec<f64>,
    spare_rows: Vec<u32>,
    scratch: Scratch,
    candidates: Vec<Candidate>,
    nodes: Vec<Node>,
}

impl Work<'_> {
    /// Lines 4 to 33 for one partition.
    fn divide(&mut self, partition: Pending, pending: &mut Vec<Pending>) {
        let Pending { from, to, parent, depth, closeness } = partition;
        let responses = &self.response[from..to];
        let count = to - from;
        let mean = responses.iter().sum::<f64>() / count as f64;
        let (mut low, mut high, mut sse) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        for (&response, z) in responses.iter().zip(&mut self.z[from..to]) {
            *z = response - mean;
            sse += *z * *z;
            low = low.min(response);
            high = high.max(response);
        }
        let at = self.nodes.len();
        let above = parent.map(|(node, _)| node);
        self.nodes.push(Node { parent: above, depth, count, mean, range: [low, high], sse, split: None });
        if let Some((above, side)) = parent
            && let Some(split) = &mut self.nodes[above].split
        {
            split.children[side] = at;
        }
        // Below this a gain is rounding: each z has an error of the last place of the greatest response.
        let rounding = (count as f64 * f64::EPSILON * low.abs().max(high.abs())).powi(2);
        let still = (sse / count as f64).sqrt() < self.options.min_deviation;
        let deep = self.options.max_depth.is_some_and(|most| depth >= most);
        if count < 2 || low == high || still || deep {
            return;
        }
        let Some(best) = self.best_parameter(from, to, &closeness) else { return };
        let gain = self.candidates[best].gain;
        if gain <= self.options.threshold || gain <= rounding {
            return;
        }
        let (split, middle) = self.apply(best, from, to);
        self.nodes[at].split = Some(split);
        let greatest = self.candidates.iter().map(|candidate| candidate.gain).fold(0.0, f64::max);
        let sum = |k: usize| closeness[k] + self.candidates[k].gain / greatest;
        let closeness: Vec<f64> = (0..closeness.len()).map(sum).collect();
        let part = |from, to, side, closeness| Pending {
            from,
            to,
            parent: Some((at, side)),
            depth: depth + 1,
            closeness,
        };
        pending.push(part(middle, to, 1, closeness.clone()));
        pending.push(part(from, middle, 0, closeness));
    }

    /// The parameter of line 24; its candidate is in `candidates`.
    fn best_parameter(&mut self, from: usize, to: usize, closeness: &[f64]) -> Option<usize> {
        let (rows, z) = (&self.rows[from..to], &self.z[from..to]);
        let least = self.options.min_leaf.clamp(1, u32::MAX as usize) as u32;
        self.candidates.clear();
        for column in self.table.columns() {
            self.candidates.push(if column.is_ordered() {
                self.scratch.best_cut(column, rows, z, least)
            } else {
                self.scratch.best_subset(column, rows, z, least)
            });
        }
        let greatest = self.candidates.iter().map(|candidate| candidate.gain).fold(0.0, f64::max);
        if greatest <= 0.0 {
            return None;
        }
        if self.options.preference > 0.0 {
            return self.preferred(greatest, closeness);
        }
        let tied = |k: &usize| self.candidates[*k].gain >= greatest * (1.0 - TIE);
        (0..closeness.len())
            .filter(tied)
            .reduce(|best, k| if closeness[k] > closeness[best] * (1.0 + TIE) { k } else { best })
    }

    /// The parameter with the greatest gain after the preference for those that matter above.
    fn preferred(&self, greatest: f64, closeness: &[f64]) -> Option<usize> {
        let sum = |k: usize| closeness[k] + self.candidates[k].gain / greatest;
        let most = (0..closeness.len()).map(sum).fold(0.0, f64::max);
        let score = |k: usize| {
            self.candidates[k].gain * (sum(k) / most).max(LEAST_PREFERENCE).powf(self.options.preference)
        };
        (0..closeness.len()).reduce(|best, k| if score(k) > score(best) * (1.0 + TIE) { k } else { best })
    }

    /// Lines 27 to 31: moves the rows that go left in front of the others, keeping their order, and gives the split
    /// and the place of the first that goes right.
    fn apply(&mut self, best: usize, from: usize, to: usize) -> (Split, usize) {
        let column = &self.table.columns()[best];
        let candidate = self.candidates[best].clone();
        let rule = if column.is_ordered() {
            Rule::AtMost { place: candidate.place, next: candidate.next }
        } else {
            let least = self.options.min_leaf.clamp(1, u32::MAX as usize) as u32;
            self.scratch.best_subset(column, &self.rows[from..to], &self.z[from..to], least);
            Rule::In(self.scratch.subset(column, &candidate))
        };
        let split = Split { column: best, rule, gain: candidate.gain, children: [0, 0] };
        self.spare.clear();
        self.spare_rows.clear();
        let mut middle = from;
        for place in from..to {
            let (row, response) = (self.rows[place], self.response[place]);
            if split.goes_left(column.codes()[row as usize]) {
                (self.rows[middle], self.response[middle]) = (row, response);
                middle += 1;
            } else {
                self.spare_rows.push(row);
                self.spare.push(response);
            }
        }
        self.rows[middle..to].copy_from_slice(&self.spare_rows);
        self.response[middle..to].copy_from_slice(&self.spare);
        (split, middle)
    }
}

/// The nodes in the order of Algorithm 1: all partitions of one pass of its outer loop before those of the next.
fn level_by_level(nodes: Vec<Node>) -> Tree {
    let mut order = vec![0_usize];
    let mut place = 0;
    while place < order.len() {
        if let Some(split) = &nodes[order[place]].split {
            order.extend(split.children);
        }
        place += 1;
    }
    let mut new_place = vec![0; nodes.len()];
    order.iter().enumerate().for_each(|(new, &old)| new_place[old] = new);
    let mut nodes: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    let renamed = order.iter().filter_map(|&old| nodes[old].take()).map(|mut node| {
        node.parent = node.parent.map(|parent| new_place[parent]);
        if let Some(split) = &mut node.split {
            split.children = split.children.map(|child| new_place[child]);
        }
        node
    });
    Tree { nodes: renamed.collect() }
}
