//! Lower bounds of the objective over boxes of tile sizes: the checker's own, from what is proved here of the shapes of
//! tiles and from the counts of single tiles. The search has others.

use crate::blocks::Blocks;
use crate::document::PassedOver;
use crate::hexagons::Hexagons;
use crate::interval::Interval;
use crate::model::{EVEN, Model, Spent};
use crate::shapes::{Edges, LeastWork, OfBox, Programs, Shapes};
use cost_models::form::TimeModel;
use cost_models::multiprocessor::warps;
use cost_models::objective::Objective;
use hhc_codegen::counts::{Family, Problem, SizeOf, Work, last_true};
use hhc_codegen::strategy;

/// A family with its shapes.
pub(crate) struct Bounded<'a> {
    pub family: &'a Family,
    strategy: &'a str,
    left_out: LeftOut<'a>,
    shapes: Option<Box<dyn Shapes>>,
}

/// Tiles that are no candidates although they fit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeftOut<'a> {
    /// Those that may need more registers than the compiler may give.
    pub unsure: bool,
    /// Those that a compiler has spilled.
    pub passed_over: &'a [PassedOver],
}

/// Sizes of the inner dimensions that are looked at one by one, at most.
const MOST_LOOKED_AT: i64 = 4096;

/// Threads of a multiprocessor that the compiler leaves room for, at most: with fewer in a block it may not give a thread
/// more registers than these leave.
const MOST_RESIDENT: i64 = 1024;

/// Room for what floating-point counts of instructions lose.
const COUNTED: f64 = 1.0 - 1e-13;

impl<'a> Bounded<'a> {
    /// What is known of a family of this strategy.
    ///
    /// # Errors
    /// Tiles of which nothing is known but by counting each.
    pub fn new(
        problem: &Problem,
        model: &Model,
        name: &'a str,
        family: &'a Family,
        left_out: LeftOut<'a>,
        programs: &Programs,
    ) -> Result<Bounded<'a>, String> {
        let single = family.axes.iter().all(|axis| axis.count == 1);
        let shapes: Option<Box<dyn Shapes>> = match name {
            own if own == strategy::preferred().id() => {
                Some(Box::new(Hexagons::new(problem, model, family, programs)?))
            }
            own if own == strategy::baseline().id() => Some(Box::new(Blocks::new(problem, model))),
            _ if single => None,
            _ => {
                return Err(format!(
                    "nothing is known of many tiles of strategy {name} at once, so that no certificate of it can \
                     be checked"
                ));
            }
        };
        Ok(Bounded { family, strategy: name, left_out, shapes })
    }

    /// The strategy.
    pub fn strategy(&self) -> &str {
        self.strategy
    }

    /// A tile as `--tile` takes it.
    pub fn tile(&self, index: [i64; 3]) -> String {
        self.family.tile(self.sizes(index)).to_string()
    }

    /// The index of a tile as `--tile` takes it; `None` where it is none of the family.
    pub fn index_of(&self, tile: &str) -> Option<[i64; 3]> {
        let sizes: Vec<(&str, i64)> = (tile.split(','))
            .map(|size| size.split_once('=').and_then(|(name, value)| Some((name, value.parse().ok()?))))
            .collect::<Option<_>>()?;
        let mut index = [0; 3];
        for size in &self.family.names {
            let value = |name: &str| sizes.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
            match *size {
                SizeOf::Fixed(name, fixed) if value(name)? == fixed => {}
                SizeOf::Fixed(..) => return None,
                SizeOf::Axis(name, d) => {
                    let axis = &self.family.axes[d];
                    index[d] = value(name)?.checked_sub(axis.first)? / axis.step;
                    if !(0..axis.count).contains(&index[d]) {
                        return None;
                    }
                }
            }
        }
        (self.tile(index) == tile).then_some(index)
    }

    /// Sizes at an index.
    pub fn sizes(&self, index: [i64; 3]) -> [i64; 3] {
        [0, 1, 2].map(|d| self.family.axes[d].at(index[d]))
    }

    /// The value of a tile; `None` where it is no candidate.
    pub fn value(&self, model: &Model, index: [i64; 3], k: i64) -> Option<Interval> {
        let sizes = self.sizes(index);
        let value = model.of_tile(&*self.family.forms, sizes, k)?;
        (!self.leaves_out(sizes)).then_some(value)
    }

    fn leaves_out(&self, sizes: [i64; 3]) -> bool {
        let LeftOut { unsure, passed_over } = self.left_out;
        let forms = &*self.family.forms;
        let unsure_of = |class| {
            let work = forms.work(class, sizes);
            work.needed > work.registers
        };
        let spilled = |own: &PassedOver| {
            let fixed = self.family.names.iter().filter_map(|size| match *size {
                SizeOf::Fixed(_, value) => Some(value),
                SizeOf::Axis(..) => None,
            });
            own.strategy == self.strategy
                && fixed.eq(own.fixed.iter().copied())
                && own.threads == forms.threads(sizes)
                && own.registers == forms.work(0, sizes).registers
        };
        (unsure && (0..forms.classes()).any(unsure_of)) || passed_over.iter().any(spilled)
    }

    /// A value that no tile goes below whose indices lie between `low` and `high`, `k` of them resident; infinite where none
    /// fits.
    pub fn lower(&self, model: &Model, low: [i64; 3], high: [i64; 3], k: i64) -> f64 {
        let forms = &*self.family.forms;
        let (least, most) = (self.sizes(low), self.sizes(high));
        // Windows, and what is looked at at all, grow with each size.
        if !forms.admits(least) || !model.holds(forms.tile_bytes(least), k) {
            return f64::INFINITY;
        }
        if low == high {
            return self.value(model, low, k).map_or(f64::INFINITY, |value| value.low);
        }
        let Some(shapes) = &self.shapes else { return 0.0 };
        if self.too_many_threads(model, &**shapes, low, high, k) {
            return f64::INFINITY;
        }
        let mut spent = Spent { seconds: Interval::ZERO, dynamic_j: Interval::ZERO };
        for kernel in 0..shapes.kernels() {
            let of_box = shapes.of_box(forms, kernel, least, most);
            let seconds = match model.form {
                TimeModel::Paper => paper_s(model, &of_box, k),
                TimeModel::Counted => {
                    let work = shapes.least_work(forms, kernel, &of_box, least, most);
                    let seconds = counted_s(model, &of_box, &work, k).low * COUNTED;
                    Interval { low: seconds, high: f64::INFINITY }
                }
            };
            let OfBox { wavefronts, total_words, fast, total, total_barriers, .. } = of_box;
            let joules = model.joules_of(wavefronts, total_words, fast, total, total_barriers);
            spent.seconds = spent.seconds + seconds;
            spent.dynamic_j = spent.dynamic_j + joules;
        }
        if model.objective != Objective::Power {
            // Infinite times are of no use below.
            spent.seconds.high = spent.seconds.low;
        }
        spent.dynamic_j.high = spent.dynamic_j.low;
        model.value(&spent).low
    }

    /// The most tiles of a wavefront of any tile whose indices lie between `low` and `high`; `None` where that is not known.
    pub fn most_tiles(&self, low: [i64; 3], high: [i64; 3]) -> Option<i64> {
        let forms = &*self.family.forms;
        let (least, most) = (self.sizes(low), self.sizes(high));
        if low == high {
            return (0..forms.classes()).map(|class| forms.counts(class, least).tiles_per_wavefront).max();
        }
        let shapes = self.shapes.as_ref()?;
        (0..shapes.kernels()).map(|kernel| shapes.of_box(forms, kernel, least, most).w.1).max()
    }

    fn too_many_threads(
        &self,
        model: &Model,
        shapes: &dyn Shapes,
        low: [i64; 3],
        high: [i64; 3],
        k: i64,
    ) -> bool {
        let limits = &model.limits;
        if (high[1] - low[1] + 1) * (high[2] - low[2] + 1) > MOST_LOOKED_AT {
            return false;
        }
        let fits = |others: [i64; 2]| {
            let first = |index: i64| self.family.axes[0].at(index);
            let (fewest, most, registers) = shapes.threads(first(low[0]), first(high[0]), others);
            let bound = limits.registers_per_sm / most.max(MOST_RESIDENT) / 8 * 8;
            let registers = registers.min(bound.clamp(16, limits.registers_per_thread));
            fewest <= limits.threads_per_block
                && k * fewest <= limits.threads_per_sm
                && k * fewest * registers <= limits.registers_per_sm
        };
        let [_, second, third] = &self.family.axes;
        !(low[1]..=high[1]).any(|i1| (low[2]..=high[2]).any(|i2| fits([second.at(i1), third.at(i2)])))
    }

    /// The greatest indices along each axis for which the window fits, the others being those of `low`.
    pub fn shrunk(&self, model: &Model, low: [i64; 3], mut high: [i64; 3], k: i64) -> [i64; 3] {
        let forms = &*self.family.forms;
        for d in 0..3 {
            let fits = |more: i64| {
                let mut at = low;
                at[d] += more;
                let sizes = self.sizes(at);
                forms.admits(sizes) && model.holds(forms.tile_bytes(sizes), k)
            };
            let more = high[d] - low[d];
            if more > 0 && !fits(more) {
                high[d] = low[d] + last_true(more, fits).max(0);
            }
        }
        high
    }
}

/// Eq. 6.2 over a box, from both sides. Every factor of it grows with each count, and
///
/// ```text
/// R * k * n_SM >= w, so that N_w * R * T_prism >= N_w * w * q * max(compute, io) / n_SM
/// ```
fn paper_s(model: &Model, of_box: &OfBox, k: i64) -> Interval {
    let OfBox { wavefronts, w, q, rounds, tile_rounds, words, tile_words, barriers, .. } = *of_box;
    let barrier = model.barrier(barriers);
    let compute = |rounds, times| model.iterate(rounds) + times * (barrier * Interval::of(barriers));
    let io = |words, times| model.l * words + times * (barrier + barrier);
    let all = (compute(tile_rounds, q), io(tile_words, q));
    let one = (compute(rounds, Interval::ONE), io(words, Interval::ONE));
    let prism = model.prism(all, one, k);
    let (launches, n_w) = (model.launches(wavefronts), Interval::of(wavefronts));
    let [least, most] = [w.0, w.1].map(|w| n_w * (Interval::of(model.tile_rounds(w, k)) * prism));
    let sub_tiles = n_w * Interval::of(w.0) * q;
    let spread = (compute(of_box.all_rounds, sub_tiles), io(of_box.all_words, sub_tiles));
    let spread = if k == 1 { spread.0 + spread.1 } else { spread.0.max(spread.1) };
    let relaxed = (spread / Interval::of(model.limits.n_sm)).low;
    let between = Interval { low: least.low.max(relaxed), high: most.high };
    launches + between
}

/// The counted form over a box, from below.
///
/// The time of a round grows with each demand, and is proportional to all of them together, so that sub-tiles of a tile may
/// be taken together. A wavefront of more tiles has more rounds, or more tiles in its last one; there each has at least half
/// of its share of the words where it is not alone. All rounds together take what all tiles compute and move.
fn counted_s(model: &Model, of_box: &OfBox, work: &LeastWork, k: i64) -> Interval {
    let (rounds, last, share) = model.waves(of_box.w.0, k);
    let warps = work.edges.as_ref().map_or(EVEN, |edges| warps(edges.threads));
    let tile = model.demands(&work.tile, warps);
    let rest = tile.share(share.min(Interval::exact(0.5)));
    let (whole, partly) = (model.round(&tile, k), model.round(&rest, last));
    let waves = Interval::of(rounds) * whole + partly;
    let all = model.demands(&work.all, EVEN);
    let spread = all.compute(1).max(all.transfer) / Interval::of(model.limits.n_sm);
    let launches = match &work.edges {
        None => Interval::exact(work.launches) * waves,
        Some(edges) => {
            let (full, others, part) = edges.launches;
            let clipped = model.demands(&work.tile.times(part).and(&edges.clipped), warps);
            let rest = clipped.share(share.min(Interval::exact(0.5)));
            let clipped = Interval::of(rounds) * model.round(&clipped, k) + model.round(&rest, last);
            let last_round = if last > 0 { partly } else { whole };
            let edge = edge_s(model, work, edges, last_round.low);
            Interval::exact(full) * (waves + edge) + Interval::exact(others) * clipped
        }
    };
    model.launches(of_box.wavefronts) + launches.max(spread)
}

/// A tile at the edge of the grid takes `a + x` alone where a full one takes `a`. Beside the others of the last round, `u` seconds, it
/// falls behind, and the rest it does alone: `x * (a + x) / (u + x)` more. With `a <= 2 * u` that and `u` together grow with each of the
/// three.
fn edge_s(model: &Model, work: &LeastWork, edges: &Edges, u: f64) -> Interval {
    let demands = |own: &Work| model.demands(own, warps(edges.threads));
    let unmoved = |own: &Work| demands(own).share(Interval::ZERO);
    let a = model.round(&unmoved(&work.tile), 1).low;
    let most = model.round(&demands(&edges.most.in_sectors(1, 0.0)), 1).high;
    let x = (model.round(&unmoved(&work.tile.and(&edges.clipped)), 1).low - most).max(0.0);
    if x == 0.0 || a > 2.0 * u {
        return Interval::ZERO;
    }
    let [a, x, u] = [a, x, u].map(Interval::exact);
    x * (a + x) / (u + x)
}
