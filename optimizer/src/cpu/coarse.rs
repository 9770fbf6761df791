//! A good tile in little time, without a proof: for who measures afterwards.
//!
//! Time is smooth in depth and width as far as cores have enough tiles. So they are looked at on a lattice that is even on a
//! logarithmic scale, and then nearer and nearer around the best place; inner sizes are all looked at.

use super::products::{Inners, ProductSpace, Tile};
use crate::tuned::Method;
use cost_models::cpu::CpuCost;
use cost_models::objective::Objective;
use hhc_codegen::TileSizes;
use hhc_codegen::counts::cores::{CoreSpace, Products};
use hhc_codegen::counts::forms;
use hhc_codegen::strategy::Strategy;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Depths, and widths of each, on the lattice.
const LATTICE: (usize, usize) = (9, 7);

/// A good tile of a strategy by its time; `None` where it cannot tile the program.
pub fn good_tile(model: &CpuCost, strategy: &'static dyn Strategy) -> Option<TileSizes> {
    let cores = model.time.cores();
    strategy.takes(&cores.program, &cores.cone).ok()?;
    let CoreSpace::Products(products) = forms(strategy).core_space(cores) else {
        return super::tune_cpu(model, strategy, Method::Exact, Objective::Time)
            .map(|tuned| tuned.choice.tile);
    };
    let space = ProductSpace::new(model, products.as_ref(), Method::Exact, Objective::Time);
    Walk { space: &space, products: products.as_ref(), known: BTreeMap::new(), inners: BTreeMap::new() }
        .best()
}

/// A place: numbers of a depth and of a width.
type Place = (usize, usize);

struct Walk<'a> {
    space: &'a ProductSpace<'a>,
    products: &'a dyn Products,
    known: BTreeMap<Place, Option<(f64, Tile)>>,
    /// The inner sizes of each depth that was looked at.
    inners: BTreeMap<i64, Option<Rc<Inners>>>,
}

impl Walk<'_> {
    fn best(mut self) -> Option<TileSizes> {
        let depths = self.products.depths().len();
        for depth in spread(depths, LATTICE.0) {
            for width in spread(self.widths(depth), LATTICE.1) {
                self.look((depth, width));
            }
        }
        // A lattice's step is a factor; between two of its places lie at most so many.
        let widest = self.products.widths().len();
        let mut reach = (depths.div_ceil(LATTICE.0), widest.div_ceil(LATTICE.1));
        while let Some((place, before)) = self.found() {
            let moves = |at: usize, by: usize| [at.saturating_sub(by), at, at + by];
            for depth in moves(place.0, reach.0) {
                for width in moves(place.1, reach.1) {
                    self.look((depth, width));
                }
            }
            if self.found().is_some_and(|(_, value)| value < before) {
                continue;
            }
            if reach == (0, 0) || reach == (1, 1) {
                break;
            }
            reach = (reach.0.div_ceil(2).max(1), reach.1.div_ceil(2).max(1));
        }
        let tiles = self.known.values().flatten();
        let (_, tile) =
            tiles.min_by(|a, b| a.0.total_cmp(&b.0)).copied().or_else(|| self.space.smallest())?;
        Some(self.space.tile(tile))
    }

    fn widths(&self, depth: usize) -> usize {
        self.products.depths().get(depth).map_or(0, |&depth| self.products.widths_of(depth).len())
    }

    fn look(&mut self, place: Place) {
        let (space, products, inners) = (self.space, self.products, &mut self.inners);
        self.known.entry(place).or_insert_with(|| {
            let depth = *products.depths().get(place.0)?;
            let width = *products.widths_of(depth).get(place.1)?;
            let inners = inners.entry(depth).or_insert_with(|| space.inners(depth)).clone()?;
            space.best_inner(depth, width, &inners)
        });
    }

    fn found(&self) -> Option<(Place, f64)> {
        let values = self.known.iter().filter_map(|(place, found)| Some((*place, (*found)?.0)));
        values.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// About so many of the numbers below `length`, even on a logarithmic scale, the last one among them.
fn spread(length: usize, number: usize) -> Vec<usize> {
    let Some(last) = length.checked_sub(1) else { return Vec::new() };
    let place = |part: usize| {
        let exponent = part as f64 / (number - 1) as f64;
        (((length as f64).powf(exponent)).round() as usize - 1).min(last)
    };
    let mut places: Vec<usize> = (0..number).map(place).collect();
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::super::testing::model;
    use super::super::tune_cpu;
    use super::*;
    use hhc_codegen::strategy::{self, Target};

    #[test]
    fn a_good_tile_is_nearly_the_best() {
        for (stencil, size, steps) in [
            ("heat1d", &[1 << 20][..], 200),
            ("heat2d", &[2000, 3000], 100),
            ("fdtd2d", &[600, 700], 30),
            ("heat3d", &[100, 120, 140], 20),
            ("heat2d", &[20, 30], 3),
        ] {
            let model = model(stencil, size, steps);
            for own in strategy::in_auto(Target::OpenMp) {
                let best = tune_cpu(&model, own, Method::Exact, Objective::Time).unwrap();
                let good = good_tile(&model, own).unwrap();
                let seconds = model.time.predict(own, &good).unwrap().seconds;
                let ratio = seconds / best.certificate.value;
                assert!((1.0 - 1e-9..1.02).contains(&ratio), "{stencil} {}: {ratio} {good}", own.id());
            }
        }
    }

    #[test]
    fn lattices_reach_from_end_to_end() {
        assert!(spread(0, 5).is_empty());
        assert_eq!(spread(1, 5), [0]);
        assert_eq!(spread(3, 5), [0, 1, 2]);
        let many = spread(200, 9);
        assert_eq!((many[0], many[many.len() - 1]), (0, 199));
    }
}
