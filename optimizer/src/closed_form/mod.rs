//! The paper's closed form (eqs. 6.3 to 6.5), with whole wavefronts: tiles without a search.
//!
//! For compute-bound tiles the overhead over an ideal machine is `C_iter * S1 * T / (tS1 + tT/2)`, so that the largest face
//! `tS1 + tT/2 = s0 + st` minimises it, whatever `C_iter` is. That takes for granted that every multiprocessor has tiles all the
//! time. A wavefront has `w` of them, about `S1 / (2*s0 + reach)`, and takes `R = ceil(ceil(w/k) / n_SM)` rounds: the largest face
//! leaves one tile for a machine that wants hundreds. The rule therefore takes, for a height, classical sizes and `k`,
//!
//! ```text
//! the largest flat top that fits k times            R_0 rounds
//! the least flat top that takes R rounds            R = R_0, R_0 + 1, 2*R_0, 4*R_0: no multiprocessor waits in the last one
//! ```
//!
//! and asks the model which of these is best, first for heights and sizes in powers, then for the neighbours of the best
//! ones. Strategies whose tiles are listed take part with some of their list, and the neighbours of the best of these
//! (`lists`). The model is evaluated at most [`MOST_EVALUATED`] times, whatever the grid. Nothing is proved.

mod lists;

use crate::family::{Family, last_true};
use crate::infeasible::Infeasible;
use crate::request::Request;
use crate::tuned::{Best, Certificate, Method, Tuned};
use hhc_codegen::counts::Tabulated;
use hhc_codegen::strategy::Strategy;
use std::collections::HashMap;
use std::time::Instant;

/// Evaluations of the model.
pub const MOST_EVALUATED: u64 = 1000;
/// Those of them that are left to strategies whose tiles are listed, where one takes part.
const OF_LISTS: u64 = 400;
/// Heights that are looked at first.
const FIRST_HEIGHTS: usize = 9;
/// First sizes of blocks that have no face.
const MOST_BLOCKS: usize = 8;
/// Choices whose neighbours are looked at.
const FINALISTS: usize = 4;

/// Everything of a choice but its flat top: family, classical sizes as indices on their axes, `k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Base {
    family: usize,
    inner: [i64; 2],
    k: i64,
}

struct Rule<'a> {
    request: &'a Request<'a>,
    families: &'a [Family],
    /// The families of one strategy, in order of height.
    heights: Vec<usize>,
    evaluated: u64,
    /// Evaluations that it may come to.
    most: u64,
    best: Option<Best>,
    /// The best value with any flat top.
    known: HashMap<Base, f64>,
}

impl Rule<'_> {
    fn sizes(&self, base: Base, index: i64) -> [i64; 3] {
        let [axis0, axis1, axis2] = self.families[base.family].axes;
        [axis0.at(index), axis1.at(base.inner[0]), axis2.at(base.inner[1])]
    }

    /// The flat tops of the rule, as indices.
    fn flat_tops(&self, base: Base) -> Vec<i64> {
        let (family, hardware) = (&self.families[base.family], &self.request.model.hardware);
        let count = family.axes[0].count;
        let widest = last_true(count, |index| family.fits_memory(self.sizes(base, index), base.k, hardware));
        if widest < 0 {
            return Vec::new();
        }
        let rounds = |index: i64| {
            let groups = (family.tiles_per_wavefront(self.sizes(base, index)) + base.k - 1) / base.k;
            (groups + hardware.n_sm - 1) / hardware.n_sm
        };
        if family.face(self.sizes(base, 0)).is_none() {
            let all = powers(widest as usize + 1, 2.0).into_iter().map(|index| index as i64);
            return all.take(MOST_BLOCKS).collect();
        }
        let fewest = rounds(widest);
        let mut tops = vec![widest];
        for most in [fewest, fewest + 1, 2 * fewest, 4 * fewest] {
            // Fewer rounds from some flat top on.
            tops.push((last_true(widest + 1, |index| rounds(index) > most) + 1).min(widest));
        }
        tops.sort_unstable();
        tops.dedup();
        tops
    }

    /// The best value of a choice with the flat tops of the rule; infinite where none fits, or the evaluations are used up.
    fn look(&mut self, base: Base) -> f64 {
        if let Some(known) = self.known.get(&base) {
            return *known;
        }
        let mut least = f64::INFINITY;
        for index in self.flat_tops(base) {
            if self.evaluated >= self.most {
                return least;
            }
            self.evaluated += 1;
            let sizes = self.sizes(base, index);
            let Some(value) = self.request.value(&self.families[base.family], sizes, base.k) else {
                continue;
            };
            least = least.min(value);
            if self.best.is_none_or(|best| value < best.value) {
                self.best = Some(Best { value, family: base.family, sizes, k: base.k });
            }
        }
        self.known.insert(base, least);
        least
    }

    /// Heights in steps that grow, short and long rows, and one or two resident tiles.
    fn look_from_afar(&mut self) {
        let number = self.heights.len();
        let places: Vec<usize> = powers(number, 1.5);
        let stride = places.len().div_ceil(FIRST_HEIGHTS).max(1);
        for place in places.into_iter().step_by(stride) {
            let family = self.heights[place];
            let [_, axis1, axis2] = self.families[family].axes;
            let along = |count: i64, factor: f64| {
                let all = powers(count as usize, factor);
                all.into_iter().map(|index| index as i64).take(4).collect::<Vec<_>>()
            };
            for &first in &along(axis1.count, 3.0) {
                for &second in along(axis2.count, 4.0).iter().take(2) {
                    for k in [1, 2] {
                        self.look(Base { family, inner: [first, second], k });
                    }
                }
            }
        }
    }

    /// Goes to the best neighbour until none is better.
    fn descend(&mut self, mut base: Base) {
        let mut value = self.look(base);
        while let Some(next) = self.best_neighbour(base).filter(|(own, _)| *own < value) {
            (value, base) = next;
        }
    }

    fn best_neighbour(&mut self, base: Base) -> Option<(f64, Base)> {
        let place = self.heights.iter().position(|own| *own == base.family)? as i64;
        let (axes, faced) = (self.families[base.family].axes, self.heights.len() as i64);
        let most_k = self.request.model.hardware.blocks_per_sm;
        let around = |value: i64, count: i64| {
            // By one, and by half as much again, counted from 1.
            let far = (value + 1) / 2;
            let near = [value - 1, value + 1, value - far.max(2), value + far.max(2)];
            near.into_iter().filter(move |other| (0..count).contains(other)).collect::<Vec<_>>()
        };
        let mut neighbours = Vec::new();
        for k in around(base.k - 1, most_k) {
            neighbours.push(Base { k: k + 1, ..base });
        }
        for other in around(place, faced) {
            neighbours.push(Base { family: self.heights[other as usize], ..base });
        }
        for d in 0..2 {
            for other in around(base.inner[d], axes[d + 1].count) {
                let mut inner = base.inner;
                inner[d] = other;
                neighbours.push(Base { inner, ..base });
            }
        }
        let fits = |own: &Base| {
            let axes = self.families[own.family].axes;
            own.inner[0] < axes[1].count && own.inner[1] < axes[2].count
        };
        neighbours.retain(fits);
        let values = neighbours.into_iter().map(|own| (self.look(own), own)).collect::<Vec<_>>();
        values.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))
    }
}

/// Indices `0, 1, 2, ..` below `count`, in steps that grow by a factor.
fn powers(count: usize, factor: f64) -> Vec<usize> {
    let mut all = Vec::new();
    let mut value = 1.0_f64;
    while (value.ceil() as usize) <= count {
        all.push(value.ceil() as usize - 1);
        value = (value * factor).max(value + 1.0);
    }
    all
}

/// The tile that the rule picks. Strategies whose tiles have no face take part beside one whose tiles have: with blocks in
/// powers of two, since nothing better is known of them.
///
/// # Errors
/// [`Infeasible`] where no tile fits.
pub fn closed_form(request: &Request<'_>) -> Result<Tuned, Infeasible> {
    let start = Instant::now();
    let families = request.families();
    let mut rule = Rule {
        request,
        families: &families,
        heights: Vec::new(),
        evaluated: 0,
        most: MOST_EVALUATED,
        best: None,
        known: HashMap::new(),
    };
    let faced = |family: &Family| family.face(family.axes.map(|axis| axis.first)).is_some();
    if families.iter().any(faced) {
        let tabulated = |own: &dyn Strategy| own.closed_forms().and_then(|forms| forms.tabulated());
        let of = |strategy: &'static dyn Strategy| -> Vec<usize> {
            (0..families.len()).filter(|index| families[*index].strategy == strategy).collect()
        };
        let with = |wanted: Tabulated| {
            let chosen = request.strategies.iter().filter(move |own| tabulated(**own) == Some(wanted));
            chosen.map(|own| of(*own)).filter(|own| !own.is_empty()).collect::<Vec<_>>()
        };
        let (boxes, lists) = (with(Tabulated::ForAllGrids), with(Tabulated::GridByGrid));
        rule.most = if lists.is_empty() { MOST_EVALUATED } else { MOST_EVALUATED - OF_LISTS };
        for heights in boxes {
            rule.heights = heights;
            rule.known.clear();
            rule.look_from_afar();
            let mut found: Vec<(f64, Base)> =
                rule.known.iter().map(|(base, value)| (*value, *base)).collect();
            found.retain(|(value, _)| value.is_finite());
            found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (_, base) in found.into_iter().take(FINALISTS) {
                rule.descend(base);
            }
        }
        for (number, list) in lists.iter().enumerate() {
            rule.most = rule.evaluated + (MOST_EVALUATED - rule.evaluated) / (lists.len() - number) as u64;
            rule.known.clear();
            rule.look_at_list(list);
        }
    }
    let Some(best) = rule.best else {
        let faces = |&strategy: &_| {
            request.smallest(strategy).is_some_and(|(family, sizes)| family.face(sizes).is_some())
        };
        if !request.strategies.iter().any(faces) {
            let strategies = request.strategies.iter().map(|strategy| strategy.id()).collect();
            return Err(Infeasible::NoFace { strategies });
        }
        return Err(Infeasible::diagnose(request));
    };
    let evaluated = rule.evaluated;
    let certificate =
        Certificate { value: best.value, bound: None, evaluated, nodes: 0, pruned: 0, candidates: evaluated };
    Ok(best.tuned(request, &families, certificate, Method::ClosedForm, start))
}
