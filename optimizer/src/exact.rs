//! Branch and bound: the exact integer optimum, with a certificate.
//!
//! A node is a family, a `k` and a box of sizes; its bound is [`lower_bound`]. The node with the least bound is taken
//! first; its box is cut in half along the axis whose ends differ most, and single points are evaluated with the full
//! model. The search ends when no bound is below the best value: then the value is proved to be the least.

use crate::bound::lower_bound;
use crate::exhaustive::count_candidates;
use crate::family::{Family, last_true};
use crate::infeasible::Infeasible;
use crate::request::Request;
use crate::tuned::{Best, Certificate, Method, Tuned};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Instant;

/// A box of candidates.
#[derive(Debug, Clone, Copy)]
struct Node {
    bound: f64,
    family: usize,
    k: i64,
    /// First and last index per axis.
    low: [i64; 3],
    high: [i64; 3],
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Node {}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Node {
    /// The least bound is the greatest node: the heap gives it first.
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |node: &Node| (node.family, node.k, node.low, node.high);
        other.bound.total_cmp(&self.bound).then_with(|| place(other).cmp(&place(self)))
    }
}

/// The best tile over all families of a request.
///
/// # Errors
/// [`Infeasible`] where no tile fits.
pub fn exact(request: &Request<'_>) -> Result<Tuned, Infeasible> {
    let start = Instant::now();
    let families = request.families();
    let mut tuned = exact_among(request, &families)?;
    tuned.elapsed_s = start.elapsed().as_secs_f64();
    Ok(tuned)
}

/// The best tile of these families.
///
/// # Errors
/// [`Infeasible`] where no tile fits.
pub fn exact_among(request: &Request<'_>, families: &[Family]) -> Result<Tuned, Infeasible> {
    let start = Instant::now();
    let mut search =
        Search { request, families, heap: BinaryHeap::new(), best: None, evaluated: 0, nodes: 0 };
    for (index, family) in families.iter().enumerate() {
        for k in 1..=request.hardware.blocks_per_sm {
            search.add(index, k, [0; 3], family.axes.map(|axis| axis.count - 1));
        }
    }
    search.run();
    let best = search.best.ok_or_else(|| Infeasible::diagnose(request))?;
    let candidates = families.iter().map(|family| count_candidates(request, family)).sum::<u64>();
    Ok(Tuned {
        choice: best.choice(families),
        evaluation: best.evaluation(request, families),
        relaxed: best.relaxed(request, families),
        certificate: Certificate {
            value: best.value,
            bound: Some(best.value),
            evaluated: search.evaluated,
            nodes: search.nodes,
            pruned: candidates.saturating_sub(search.evaluated),
            candidates,
        },
        method: Method::Exact,
        elapsed_s: start.elapsed().as_secs_f64(),
    })
}

struct Search<'a> {
    request: &'a Request<'a>,
    families: &'a [Family],
    heap: BinaryHeap<Node>,
    best: Option<Best>,
    evaluated: u64,
    nodes: u64,
}

impl Search<'_> {
    fn sizes(&self, family: usize, index: [i64; 3]) -> [i64; 3] {
        [0, 1, 2].map(|d| self.families[family].axes[d].at(index[d]))
    }

    /// Shrinks a box to what fits the memory, bounds it, and keeps it if it may hold a better candidate.
    fn add(&mut self, family: usize, k: i64, low: [i64; 3], mut high: [i64; 3]) {
        let hardware = self.request.hardware;
        let own = &self.families[family];
        let fits = |index: [i64; 3]| own.fits_memory(self.sizes(family, index), k, hardware);
        if !fits(low) {
            return;
        }
        for d in 0..3 {
            let corner = |more: i64| {
                let mut corner = low;
                corner[d] += more;
                corner
            };
            let more = high[d] - low[d];
            if more > 0 && !fits(corner(more)) {
                high[d] = low[d] + last_true(more, |more| fits(corner(more)));
            }
        }
        if low == high {
            return self.evaluate(family, k, low);
        }
        self.nodes += 1;
        if own.too_many_threads(low, high, k, hardware) {
            return;
        }
        let bound = lower_bound(self.request, own, self.sizes(family, low), self.sizes(family, high), k);
        if self.best.is_none_or(|best| bound < best.value) {
            self.heap.push(Node { bound, family, k, low, high });
        }
    }

    fn evaluate(&mut self, family: usize, k: i64, index: [i64; 3]) {
        let sizes = self.sizes(family, index);
        self.evaluated += 1;
        let value = self.request.value(&self.families[family], sizes, k);
        if let Some(value) = value.filter(|value| self.best.is_none_or(|best| *value < best.value)) {
            self.best = Some(Best { value, family, sizes, k });
        }
    }

    fn run(&mut self) {
        while let Some(node) = self.heap.pop() {
            if self.best.is_some_and(|best| node.bound >= best.value) {
                break;
            }
            let (low, high) = (self.sizes(node.family, node.low), self.sizes(node.family, node.high));
            let ratio = |d: usize| high[d] as f64 / low[d] as f64;
            let axis = (0..3).max_by(|&a, &b| ratio(a).total_cmp(&ratio(b))).unwrap_or(0);
            let middle = node.low[axis] + (node.high[axis] - node.low[axis]) / 2;
            let (mut first, mut second) = (node.high, node.low);
            first[axis] = middle;
            second[axis] = middle + 1;
            self.add(node.family, node.k, node.low, first);
            self.add(node.family, node.k, second, node.high);
        }
    }
}
