//! Parts of the space by the strategies that are feasible there.
//!
//! Points are sizes along the dimensions and `k`; sizes that a strategy has alone, such as a height, are free. A point is
//! feasible for a strategy where one of its tiles with these sizes fits `k` times, and then also fewer times: so the greatest `k`
//! of each strategy and size says all. Along dimension 0 the points of a part lie in runs, which are what a search over boxes asks
//! for.

use crate::exhaustive::for_each_candidate;
use crate::family::Family;
use crate::request::Request;
use std::collections::{BTreeMap, HashMap};

/// Sizes of the second and the third dimension.
type Line = [i64; 2];

/// A part: the strategies in whose feasible sets it lies, its points, and where they are.
#[derive(Debug)]
pub(crate) struct PartOfSpace {
    /// A bit for each strategy of the request.
    pub inside: u32,
    /// Number of points.
    pub points: u64,
    /// By `k - 1`, of each line: runs of sizes along dimension 0, ascending. Between its ends a run has no point of another part.
    runs: Vec<BTreeMap<Line, Vec<(i64, i64)>>>,
}

/// A part that is searched.
#[derive(Debug)]
pub(crate) struct Within<'a> {
    pub request: &'a Request<'a>,
    pub part: &'a PartOfSpace,
}

/// The parts that are not empty.
pub(crate) fn parts(request: &Request<'_>, families: &[Family]) -> Vec<PartOfSpace> {
    // Of each line and size along dimension 0: the greatest `k` by strategy.
    let mut lines: BTreeMap<Line, BTreeMap<i64, Vec<i64>>> = BTreeMap::new();
    let strategies = request.strategies.len();
    for (index, strategy) in request.strategies.iter().enumerate() {
        let mut greatest: HashMap<[i64; 3], i64> = HashMap::new();
        for family in families.iter().filter(|family| family.strategy == *strategy) {
            for_each_candidate(request, family, |sizes, most_k| {
                let known = greatest.entry(sizes).or_insert(0);
                if *known < most_k {
                    *known = (*known).max(request.most_k(family, sizes, most_k));
                }
            });
        }
        for ([s0, s1, s2], most_k) in greatest.into_iter().filter(|(_, most_k)| *most_k > 0) {
            let sizes = lines.entry([s1, s2]).or_default();
            sizes.entry(s0).or_insert_with(|| vec![0; strategies])[index] = most_k;
        }
    }
    let mut parts: BTreeMap<u32, PartOfSpace> = BTreeMap::new();
    let last_k = request.model.hardware.blocks_per_sm;
    for (line, sizes) in &lines {
        for k in 1..=last_k {
            let mut before: Option<u32> = None;
            for (s0, greatest) in sizes {
                let bits = greatest.iter().enumerate().filter(|(_, most_k)| **most_k >= k);
                let inside = bits.fold(0, |inside, (bit, _)| inside | 1 << bit);
                if inside != 0 {
                    let none = || PartOfSpace {
                        inside,
                        points: 0,
                        runs: (0..last_k).map(|_| BTreeMap::new()).collect(),
                    };
                    let part = parts.entry(inside).or_insert_with(none);
                    part.points += 1;
                    let runs = part.runs[k as usize - 1].entry(*line).or_default();
                    match runs.last_mut().filter(|_| before == Some(inside)) {
                        Some(run) => run.1 = *s0,
                        None => runs.push((*s0, *s0)),
                    }
                }
                before = Some(inside);
            }
        }
    }
    parts.into_values().collect()
}

impl Within<'_> {
    /// Whether the part lies in the feasible set of a family's strategy.
    pub fn takes(&self, family: &Family) -> bool {
        let own = self.request.strategies.iter().position(|strategy| *strategy == family.strategy);
        own.is_some_and(|bit| self.part.inside >> bit & 1 == 1)
    }

    /// Whether a point that is feasible for one of its strategies is one of the part.
    pub fn holds(&self, [s0, s1, s2]: [i64; 3], k: i64) -> bool {
        self.part.runs[k as usize - 1].get(&[s1, s2]).is_some_and(|runs| meets(runs, s0, s0))
    }

    /// Whether a box may hold points of the part.
    pub fn meets(&self, low: [i64; 3], high: [i64; 3], k: i64) -> bool {
        let lines = self.part.runs[k as usize - 1].range([low[1], low[2]]..=[high[1], high[2]]);
        let mut lines = lines.filter(|([_, s2], _)| (low[2]..=high[2]).contains(s2));
        lines.any(|(_, runs)| meets(runs, low[0], high[0]))
    }
}

/// Whether some run meets an interval.
fn meets(runs: &[(i64, i64)], low: i64, high: i64) -> bool {
    let first = runs.partition_point(|(_, last)| *last < low);
    runs.get(first).is_some_and(|(from, _)| *from <= high)
}
