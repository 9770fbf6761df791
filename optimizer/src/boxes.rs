//! Tiles on a GPU as boxes: of each family, the sizes of its axes, for one number of resident tiles.
//!
//! A box is shrunk to what fits the memory; it is cut in half along the axis whose ends differ most.
//!
//! By the counted form of the time, the tiles of a wavefront that has no more than `k * n_SM` of them all run at once: with more
//! of them resident it takes as long, and no more tiles fit. One box stands for all such `k`.

use crate::evidence::{BoxLeftOut, TileEvaluated};
use crate::family::{Family, last_true};
use crate::parts::Within;
use crate::request::Request;
use crate::search::{Bound, Search, Space};
use cost_models::model::CostModel;
use std::cell::RefCell;
use std::ops::ControlFlow;

/// Room for the rounding of floating-point sums, so that a bound never exceeds the value that it bounds.
const ROUNDING: f64 = 1.0 - 1e-12;

/// A lower bound of the objective over a box of tile sizes and one `k`, from the monotone parts of the model. It is exact,
/// but for rounding, where the box is one point.
pub fn lower_bound(request: &Request<'_>, family: &Family, low: [i64; 3], high: [i64; 3], k: i64) -> f64 {
    request.objective.bound(&request.model.bounds(&family.range(&request.model, low, high, k))) * ROUNDING
}

/// The candidates of some families.
pub(crate) struct Boxes<'a> {
    pub request: &'a Request<'a>,
    pub families: &'a [Family],
    /// Where to keep what was seen, if anywhere.
    pub kept: Option<&'a RefCell<Kept>>,
    /// The part of the space that is searched; `None`: all of it.
    pub within: Option<Within<'a>>,
}

/// What was seen.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub boxes: Vec<BoxLeftOut>,
    pub tiles: Vec<TileEvaluated>,
}

/// A box, by the first and the last index on each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Box3 {
    family: usize,
    k: i64,
    /// Up to this `k` values are the same.
    last_k: i64,
    low: [i64; 3],
    high: [i64; 3],
}

/// A candidate, in the order in which an enumeration meets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    pub family: usize,
    /// Sizes, the innermost one first.
    reversed: [i64; 3],
    pub k: i64,
}

impl Candidate {
    pub(crate) fn sizes(&self) -> [i64; 3] {
        let [s2, s1, s0] = self.reversed;
        [s0, s1, s2]
    }
}

impl Boxes<'_> {
    fn sizes(&self, family: usize, index: [i64; 3]) -> [i64; 3] {
        [0, 1, 2].map(|d| self.families[family].axes[d].at(index[d]))
    }

    /// The index along the first axis from which on all tiles of a wavefront run at once, `k` of them resident, whatever the
    /// other sizes are; the number of indices where that is never so, and by the paper's form, whose rounds are of `k` tiles.
    fn at_once_from(&self, own: &Family, k: i64, high: [i64; 3]) -> i64 {
        // A part of the space has its own `k`.
        if self.request.model.counted.is_none() || self.within.is_some() {
            return high[0] + 1;
        }
        let at = |index: [i64; 3]| [0, 1, 2].map(|d| own.axes[d].at(index[d]));
        let together = (k * self.request.model.hardware.n_sm) as f64;
        let several = |from: i64| {
            let most = |class| own.bounds(class, at([from, 0, 0]), at(high)).tiles_per_wavefront.1;
            (0..own.classes()).map(most).fold(0.0, f64::max) > together
        };
        last_true(high[0] + 1, several) + 1
    }

    /// Keeps a box that is left out.
    fn keep(&self, part: &Box3, ks: (i64, i64), bound: f64) {
        if let Some(kept) = self.kept {
            let Box3 { family, low, high, .. } = *part;
            kept.borrow_mut().boxes.push(BoxLeftOut { family, k: ks, low, high, bound });
        }
    }

    /// Shrinks a box to what fits the memory, and gives what is left of it.
    fn give(&self, part: Box3, search: &mut Search<'_, Self>) -> ControlFlow<()> {
        let Box3 { family, k, low, mut high, .. } = part;
        let (own, hardware) = (&self.families[family], &self.request.model.hardware);
        let fits = |index: [i64; 3]| own.fits_memory(self.sizes(family, index), k, hardware);
        if !fits(low) {
            self.keep(&part, (k, part.last_k), f64::INFINITY);
            return ControlFlow::Continue(());
        }
        for d in 0..3 {
            let corner = |more: i64| {
                let mut corner = low;
                corner[d] += more;
                corner
            };
            let more = high[d] - low[d];
            if more > 0 && !fits(corner(more)) {
                let beyond = high;
                high[d] = low[d] + last_true(more, |more| fits(corner(more)));
                let mut first = low;
                first[d] = high[d] + 1;
                self.keep(&Box3 { low: first, high: beyond, ..part }, (k, part.last_k), f64::INFINITY);
            }
        }
        if low != high {
            return search.part(Box3 { high, ..part });
        }
        let sizes = self.sizes(family, low);
        let [s0, s1, s2] = sizes;
        if self.within.as_ref().is_some_and(|within| !within.holds(sizes, k)) {
            return ControlFlow::Continue(());
        }
        let value = self.request.value(own, sizes, k);
        if let Some(kept) = self.kept {
            kept.borrow_mut().tiles.push(TileEvaluated { family, k, index: low, value });
        }
        if k < part.last_k {
            self.keep(&part, (k + 1, part.last_k), value.unwrap_or(f64::INFINITY));
        }
        search.candidate(value, Candidate { family, reversed: [s2, s1, s0], k });
        ControlFlow::Continue(())
    }
}

impl Space for Boxes<'_> {
    type Part = Box3;
    type Place = Box3;
    type Candidate = Candidate;
    const BEST_FIRST: bool = true;

    fn begin(&self, search: &mut Search<'_, Self>) -> ControlFlow<()> {
        let hardware = &self.request.model.hardware;
        let most_k = hardware.blocks_per_sm;
        for (family, own) in self.families.iter().enumerate() {
            if self.within.as_ref().is_some_and(|within| !within.takes(own)) {
                continue;
            }
            let high = own.axes.map(|axis| axis.count - 1);
            // From this index on along the first axis, smaller `k` stand for all others.
            let mut known = high[0] + 1;
            for k in 1..=most_k {
                if known == 0 {
                    break;
                }
                let rest = Box3 { family, k, last_k: k, low: [0; 3], high: [known - 1, high[1], high[2]] };
                if !own.fits_memory(self.sizes(family, [0; 3]), k, hardware) {
                    // Nor does any other, nor more of them.
                    self.keep(&rest, (k, most_k), f64::INFINITY);
                    break;
                }
                let from = self.at_once_from(own, k, high).min(known);
                if from < known {
                    self.give(Box3 { last_k: most_k, low: [from, 0, 0], ..rest }, search)?;
                }
                if from > 0 {
                    self.give(Box3 { high: [from - 1, high[1], high[2]], ..rest }, search)?;
                }
                known = from;
            }
        }
        ControlFlow::Continue(())
    }

    fn bound(&self, part: &mut Box3, _enough: f64) -> Bound {
        let Box3 { family, k, low, high, .. } = *part;
        let own = &self.families[family];
        if own.too_many_threads(low, high, k, &self.request.model.hardware) {
            return Bound::of_part(f64::INFINITY);
        }
        let (low, high) = (self.sizes(family, low), self.sizes(family, high));
        if self.within.as_ref().is_some_and(|within| !within.meets(low, high, k)) {
            return Bound::of_part(f64::INFINITY);
        }
        Bound::of_part(lower_bound(self.request, own, low, high, k))
    }

    fn left_out(&self, part: &Box3, bound: f64) {
        self.keep(part, (part.k, part.last_k), bound);
    }

    fn place(&self, part: &Box3) -> Box3 {
        *part
    }

    fn cut(&self, part: &mut Box3, search: &mut Search<'_, Self>) -> ControlFlow<()> {
        let (low, high) = (self.sizes(part.family, part.low), self.sizes(part.family, part.high));
        let ratio = |d: usize| high[d] as f64 / low[d] as f64;
        let axis = (0..3).max_by(|&a, &b| ratio(a).total_cmp(&ratio(b))).unwrap_or(0);
        let middle = part.low[axis] + (part.high[axis] - part.low[axis]) / 2;
        let (mut first, mut second) = (*part, *part);
        first.high[axis] = middle;
        second.low[axis] = middle + 1;
        self.give(first, search)?;
        self.give(second, search)
    }
}
