//! Designs that meet several targets at once, such as a limit of power and one of time (section 8.5).

use super::region::Region;
use super::request;
use super::table::Table;
use super::tree::Tree;
use crate::error::Result;
use serde::Serialize;

/// A limit of a metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Target {
    /// The metric, or an expression over metrics.
    pub metric: String,
    /// The limit.
    pub limit: f64,
    /// Whether values must be at most the limit; at least otherwise.
    pub at_most: bool,
}

impl Target {
    /// Reads `metric <= limit` or `metric >= limit`.
    ///
    /// # Errors
    /// Another text.
    pub fn parse(text: &str) -> Result<Target> {
        let wrong =
            || request(format!("`{text}` is no target"), "write METRIC <= NUMBER or METRIC >= NUMBER");
        let (at_most, (metric, limit)) = match (text.split_once("<="), text.split_once(">=")) {
            (Some(parts), None) => (true, parts),
            (None, Some(parts)) => (false, parts),
            _ => return Err(wrong()),
        };
        let limit = limit.trim().parse::<f64>().ok().filter(|limit| limit.is_finite()).ok_or_else(wrong)?;
        if metric.trim().is_empty() {
            return Err(wrong());
        }
        Ok(Target { metric: metric.trim().to_owned(), limit, at_most })
    }

    /// By how much a value misses the limit, relative to it; not positive if it meets it.
    fn excess(&self, value: f64) -> f64 {
        let difference = if self.at_most { value - self.limit } else { self.limit - value };
        difference / self.limit.abs().max(f64::MIN_POSITIVE)
    }

    /// The worst of some values.
    fn worst(&self, values: impl Iterator<Item = f64>) -> f64 {
        values.reduce(if self.at_most { f64::max } else { f64::min }).unwrap_or(f64::NAN)
    }
}

/// What decides whether a partition meets a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Summary {
    /// The mean of its designs.
    #[default]
    Mean,
    /// Its worst design.
    Worst,
}

/// The values of one metric in a subspace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reached {
    /// The metric.
    pub metric: String,
    /// Mean over the designs.
    pub mean: f64,
    /// The worst design.
    pub worst: f64,
}

/// A subspace that meets all targets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Meeting {
    /// Its rules as a constraint for the next search.
    pub rules: String,
    /// Measured designs in it.
    pub count: usize,
    /// How many of them meet all targets.
    pub meet: usize,
    /// What the metrics reach, in the order of the targets.
    pub reached: Vec<Reached>,
    /// How far the worst design misses the targets, relative to the limits; the greatest over the targets, not positive
    /// if all designs meet all.
    pub worst_excess: f64,
}

/// The subspaces that meet all targets, that with the best worst case first.
///
/// In the tree of each metric the highest partitions whose mean, or worst design, meets its target are taken, and those
/// of different metrics are intersected. Intersections without a measured design are left out. `trees` and `responses`
/// stand in the order of the targets.
pub fn meeting(
    table: &Table,
    rows: &[u32],
    trees: &[Tree],
    responses: &[&[f64]],
    targets: &[Target],
    summary: Summary,
) -> Vec<Meeting> {
    let mut regions = vec![Region::whole(table)];
    for (tree, target) in trees.iter().zip(targets) {
        let qualified: Vec<Region> =
            highest(tree, target, summary).into_iter().map(|node| Region::of(table, tree, node)).collect();
        let both = |region: &Region| {
            qualified.iter().filter_map(|other| region.intersection(other)).collect::<Vec<_>>()
        };
        // An intersection without a design will never have one.
        let occupied = |region: &Region| rows.iter().any(|&row| region.contains(table, row as usize));
        regions = regions.iter().flat_map(both).filter(occupied).collect();
    }
    let mut found: Vec<Meeting> =
        regions.iter().map(|region| describe(table, rows, responses, targets, region)).collect();
    found.sort_by(|a, b| a.worst_excess.total_cmp(&b.worst_excess).then(b.count.cmp(&a.count)));
    found
}

/// The highest nodes that meet a target: none is below another.
fn highest(tree: &Tree, target: &Target, summary: Summary) -> Vec<usize> {
    let mut found = Vec::new();
    let mut pending = vec![0_usize];
    while let Some(at) = pending.pop() {
        let node = &tree.nodes()[at];
        let value = match summary {
            Summary::Mean => node.mean,
            Summary::Worst => node.range[usize::from(target.at_most)],
        };
        if target.excess(value) <= 0.0 {
            found.push(at);
        } else if let Some(split) = &node.split {
            pending.extend([split.children[1], split.children[0]]);
        }
    }
    found
}

fn describe(
    table: &Table,
    rows: &[u32],
    responses: &[&[f64]],
    targets: &[Target],
    region: &Region,
) -> Meeting {
    let inside: Vec<usize> =
        rows.iter().map(|&row| row as usize).filter(|&row| region.contains(table, row)).collect();
    let reached: Vec<Reached> = targets
        .iter()
        .zip(responses)
        .map(|(target, response)| Reached {
            metric: target.metric.clone(),
            mean: inside.iter().map(|&row| response[row]).sum::<f64>() / inside.len() as f64,
            worst: target.worst(inside.iter().map(|&row| response[row])),
        })
        .collect();
    let excess = |(target, reached): (&Target, &Reached)| target.excess(reached.worst);
    let worst_excess = targets.iter().zip(&reached).map(excess).fold(f64::NEG_INFINITY, f64::max);
    let meets = |row: &&usize| {
        targets.iter().zip(responses).all(|(target, response)| target.excess(response[**row]) <= 0.0)
    };
    let meet = inside.iter().filter(meets).count();
    Meeting { rules: region.expression(table), count: inside.len(), meet, reached, worst_excess }
}
