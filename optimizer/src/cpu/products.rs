//! Products of depths, widths and inner sizes.
//!
//! Time is for a fixed depth a sum of products of what the width decides ([`Outer`]) and of what the inner sizes decide
//! ([`Inner`]), all of them non-negative, and the larger a working set the larger its share of misses. So for each depth
//!
//! - an [`Inner`] that another one beats in every component can never be best: only the Pareto-optimal ones are looked
//!   at (few, because longer rows are better in everything but the working set);
//! - the least components over all [`Inner`]s bound the time of each width from below: first with the tiles that lie
//!   inside the grid alone, which is quick, then with all. Widths whose bound is not below the best value so far are
//!   left out.

use crate::search::{Bound, Found, Search, Space, search};
use crate::tuned::{Certificate, Method};
use cost_models::cpu::{CoreRange, CpuCost};
use cost_models::model::CostModel;
use cost_models::objective::Objective;
use hhc_codegen::TileSizes;
use hhc_codegen::counts::cores::{CoreCounts, Inner, Outer, Products};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The tiles of a strategy as a product.
pub(super) struct ProductSpace<'a> {
    model: &'a CpuCost,
    products: &'a dyn Products,
    objective: Objective,
    /// Whether bounds exclude anything.
    prune: bool,
    /// Depths, in the order in which they are looked at.
    depths: Vec<i64>,
}

/// A tile of a product, in the order in which of equal ones the first is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tile {
    pub(super) depth: i64,
    pub(super) width: i64,
    pub(super) inner: [i64; 2],
}

impl Tile {
    /// The largest distance of two tiles in any dimension, on a logarithmic scale; a dimension that one of them leaves whole
    /// is far. A tile gains about a point of width with each row of its depth, at either end: its mean width counts.
    pub(super) fn distance(&self, other: &Tile) -> f64 {
        let factor = |a: i64, b: i64| match (a, b) {
            (0, 0) => 0.0,
            (0, _) | (_, 0) => WHOLE,
            _ => ((a as f64) / (b as f64)).ln().abs(),
        };
        let sizes = |tile: &Tile| [tile.depth, tile.width + tile.depth, tile.inner[0], tile.inner[1]];
        sizes(self).into_iter().zip(sizes(other)).map(|(a, b)| factor(a, b)).fold(0.0, f64::max)
    }
}

/// The distance of a whole dimension from a cut one.
const WHOLE: f64 = 2.0;

/// Inner sizes with what they decide for some depth, and the least of every component.
pub(super) struct Inners {
    each: Vec<([i64; 2], Inner)>,
    least: Inner,
}

/// Tiles of one depth.
pub(super) enum Part {
    /// Of some widths.
    Depth { depth: i64, widths: Vec<i64>, inners: Arc<Inners> },
    /// Of one width; what it decides is counted only if a quick bound does not exclude it.
    Width { depth: i64, width: i64, outer: Option<Outer>, inners: Arc<Inners> },
}

impl<'a> ProductSpace<'a> {
    pub(super) fn new(
        model: &'a CpuCost,
        products: &'a dyn Products,
        method: Method,
        objective: Objective,
    ) -> Self {
        // Power falls with time, so that bounds of the time say nothing about it.
        let prune = method != Method::Exhaustive && objective != Objective::Power;
        // Depths in the middle first: a good value early leaves out more.
        let mut depths = products.depths().to_vec();
        let middle = depths.len() as i64 * 3 / 8;
        depths.sort_by_key(|&depth| (depth / model.time.cores().statements() - middle).abs());
        ProductSpace { model, products, objective, prune, depths }
    }

    pub(super) fn inners(&self, depth: i64) -> Option<Arc<Inners>> {
        let sizes = self.products.inner_sizes().iter();
        let each: Vec<_> = sizes.map(|&sizes| (sizes, self.products.inner(depth, sizes))).collect();
        let each = if self.prune { pareto(each) } else { each };
        let least = least(&each)?;
        Some(Arc::new(Inners { each, least }))
    }

    fn give_depth(&self, depth: i64, widths: Vec<i64>, search: &mut Search<'_, Self>) -> ControlFlow<()> {
        match self.inners(depth) {
            Some(inners) => search.part(Part::Depth { depth, widths, inners }),
            None => ControlFlow::Continue(()),
        }
    }

    /// The tiles of a width with their values.
    fn tiles(
        &self,
        (depth, width): (i64, i64),
        outer: &Outer,
        inners: &Inners,
    ) -> impl Iterator<Item = (f64, Tile)> {
        inners.each.iter().map(move |(sizes, inner)| {
            let value = self.objective.of(self.model, &CoreCounts::Tiles(*outer, *inner));
            (value, Tile { depth, width, inner: *sizes })
        })
    }

    /// The candidates of a width.
    fn give_tiles(
        &self,
        depth: i64,
        width: i64,
        outer: &Outer,
        inners: &Inners,
        search: &mut Search<'_, Self>,
    ) {
        for (value, tile) in self.tiles((depth, width), outer, inners) {
            search.candidate(Some(value), tile);
        }
    }

    /// The best of these inner sizes for a depth and a width.
    pub(super) fn best_inner(&self, depth: i64, width: i64, inners: &Inners) -> Option<(f64, Tile)> {
        self.with_inner_sizes(depth, width, inners).into_iter().min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// All of these inner sizes for a depth and a width.
    pub(super) fn with_inner_sizes(&self, depth: i64, width: i64, inners: &Inners) -> Vec<(f64, Tile)> {
        let outer = self.products.outer(depth, width);
        self.tiles((depth, width), &outer, inners).collect()
    }

    /// The sizes of a tile by name.
    pub(super) fn tile(&self, Tile { depth, width, inner }: Tile) -> TileSizes {
        self.products.tile(depth, width, inner)
    }

    fn bound_of(&self, range: &CoreRange) -> f64 {
        self.objective.bound(&self.model.bounds(range))
    }

    fn candidates(&self) -> u64 {
        let inner = self.products.inner_sizes().len();
        self.depths.iter().map(|&depth| (self.products.widths_of(depth).len() * inner) as u64).sum()
    }

    /// The tile of a grid so small that no width is left.
    pub(super) fn smallest(&self) -> Option<(f64, Tile)> {
        let depth = *self.products.depths().first()?;
        let tile = Tile { depth, width: self.products.least_width(depth), inner: [0, 0] };
        let outer = self.products.outer(depth, tile.width);
        let counts = CoreCounts::Tiles(outer, self.products.inner(depth, tile.inner));
        Some((self.objective.of(self.model, &counts), tile))
    }
}

impl Space for ProductSpace<'_> {
    type Part = Part;
    type Place = ();
    type Candidate = Tile;
    const BEST_FIRST: bool = false;

    fn begin(&self, search: &mut Search<'_, Self>) -> ControlFlow<()> {
        if self.prune {
            // A few of all sizes first.
            for &depth in self.depths.iter().step_by(6) {
                let few = self.products.widths_of(depth).into_iter().step_by(12).collect();
                self.give_depth(depth, few, search)?;
            }
        }
        for &depth in &self.depths {
            self.give_depth(depth, self.products.widths_of(depth), search)?;
        }
        ControlFlow::Continue(())
    }

    fn bound(&self, part: &mut Part, enough: f64) -> Bound {
        if !self.prune {
            return Bound::of_part(f64::NEG_INFINITY);
        }
        Bound::of_part(match part {
            Part::Depth { depth, inners, .. } => {
                self.bound_of(&CoreRange::Depth(self.products.least_wavefronts(*depth), inners.least))
            }
            Part::Width { depth, width, outer, inners } => {
                let below = self.products.outer_below(*depth, *width);
                let quick = self.bound_of(&CoreRange::Least(below, inners.least));
                if quick >= enough {
                    return Bound::of_part(quick);
                }
                let own = outer.insert(self.products.outer(*depth, *width));
                self.bound_of(&CoreRange::Least(*own, inners.least))
            }
        })
    }

    fn place(&self, _part: &Part) {}

    fn cut(&self, part: &mut Part, search: &mut Search<'_, Self>) -> ControlFlow<()> {
        match part {
            Part::Depth { depth, widths, inners } => {
                for &mut width in widths {
                    if self.prune {
                        let inners = inners.clone();
                        search.part(Part::Width { depth: *depth, width, outer: None, inners })?;
                    } else {
                        let outer = self.products.outer(*depth, width);
                        self.give_tiles(*depth, width, &outer, inners, search);
                    }
                }
            }
            Part::Width { depth, width, outer, inners } => {
                let outer = outer.get_or_insert_with(|| self.products.outer(*depth, *width));
                self.give_tiles(*depth, *width, outer, inners, search);
            }
        }
        ControlFlow::Continue(())
    }
}

/// The best tile of a product.
pub(super) fn best(space: &ProductSpace<'_>) -> Option<(TileSizes, Certificate)> {
    let Found { best, bound, evaluated, nodes } = search(space);
    let (value, tile) = best.or_else(|| space.smallest())?;
    let certificate = Certificate::proved(value, bound, (evaluated, nodes), space.candidates());
    Some((space.tile(tile), certificate))
}

fn components(inner: &Inner) -> [f64; 8] {
    let Inner { calls, runs, blocks, points, area, visits, extent, row_extent } = *inner;
    [calls, runs, blocks, points, area, visits, extent, row_extent]
}

/// Those that no other one beats in every component; of equal ones the first.
fn pareto(inners: Vec<([i64; 2], Inner)>) -> Vec<([i64; 2], Inner)> {
    let mut kept: Vec<([i64; 2], Inner)> = Vec::new();
    for (sizes, inner) in inners {
        let own = components(&inner);
        let beaten = |(_, other): &([i64; 2], Inner)| components(other).iter().zip(own).all(|(a, b)| *a <= b);
        if kept.iter().any(beaten) {
            continue;
        }
        kept.retain(|(_, other)| !own.iter().zip(components(other)).all(|(a, b)| *a <= b));
        kept.push((sizes, inner));
    }
    kept
}

/// The least of every component.
fn least(inners: &[([i64; 2], Inner)]) -> Option<Inner> {
    let (_, first) = inners.first()?;
    let least = |component: fn(&Inner) -> f64| {
        inners.iter().map(|(_, inner)| component(inner)).fold(component(first), f64::min)
    };
    Some(Inner {
        calls: least(|inner| inner.calls),
        runs: least(|inner| inner.runs),
        blocks: least(|inner| inner.blocks),
        points: least(|inner| inner.points),
        area: least(|inner| inner.area),
        visits: least(|inner| inner.visits),
        extent: least(|inner| inner.extent),
        row_extent: least(|inner| inner.row_extent),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{model, model_of};
    use super::*;
    use hhc_codegen::counts::cores::CoreSpace;
    use hhc_codegen::counts::forms;
    use hhc_codegen::strategy;
    use std::sync::Arc;

    #[test]
    fn bounds_are_below_what_they_bound() {
        let model = model("heat3d", &[60, 70, 80], 6);
        let CoreSpace::Products(space) = forms(strategy::all()[0]).core_space(model.time.cores()) else {
            panic!()
        };
        for depth in [1, 3, 6] {
            let sizes = space.inner_sizes().iter();
            let inners: Vec<_> = sizes.map(|&sizes| (sizes, space.inner(depth, sizes))).collect();
            let least = least(&inners).unwrap();
            let bound = model.time.lower_bound(space.least_wavefronts(depth), &least);
            for width in [1, 5, 8, 31] {
                let outer = space.outer(depth, width);
                let nearer = model.time.combine(&outer, &least).seconds;
                assert!(bound <= nearer, "{depth} {width}: {bound} {nearer}");
                let quick = model.time.combine(&space.outer_below(depth, width), &least).seconds;
                assert!(quick <= nearer * (1.0 + 1e-12), "{depth} {width}: {quick} {nearer}");
                for (sizes, inner) in &inners {
                    let seconds = model.time.combine(&outer, inner).seconds;
                    assert!(nearer <= seconds, "{depth} {width} {sizes:?}: {nearer} {seconds}");
                }
            }
        }
    }

    /// No tile lies inside of the domains of statements at the two ends of a grid; bounds leave most tiles out all the same.
    #[test]
    fn statements_at_the_ends_leave_bounds() {
        let text = "stencil ends(t, i) {
            field u: f64;
            u[t+1, i] = 0 for i == 0;
            u[t+1, i] = 0.25 * (u[t, i-1] + 2 * u[t, i] + u[t, i+1]) for 1 <= i < n0 - 1;
            u[t+1, i] = u[t+1, i-1] for i == n0 - 1;
        }";
        let program = Arc::new(polyhedral::parse("ends", text).unwrap());
        let model = model_of(&program, &[100_000], 64);
        let CoreSpace::Products(products) = forms(strategy::all()[0]).core_space(model.time.cores()) else {
            panic!()
        };
        let of = |method| best(&ProductSpace::new(&model, &*products, method, Objective::Time)).unwrap();
        let ((exact, proved), (exhaustive, all)) = (of(Method::Exact), of(Method::Exhaustive));
        assert_eq!((exact, proved.value), (exhaustive, all.value));
        assert!(proved.evaluated * 3 < all.evaluated, "{} of {}", proved.evaluated, all.evaluated);
    }
}
