//! A good tile in little time, without a proof: for who measures afterwards.
//!
//! Time is smooth in depth and width as far as cores have enough tiles. So they are looked at on a lattice that is even on a
//! logarithmic scale, and then nearer and nearer around the best place; inner sizes are all looked at.
//!
//! A model that is right within some percent cannot tell apart what it finds alike: [`unlike_tiles`] names tiles of like
//! time that are far from each other, one for each region.

use super::products::{Inners, ProductSpace, Tile};
use crate::tuned::Method;
use cost_models::cpu::CpuCost;
use cost_models::objective::Objective;
use hhc_codegen::TileSizes;
use hhc_codegen::counts::cores::{CoreSpace, Products};
use hhc_codegen::counts::forms;
use hhc_codegen::strategy::Strategy;
use std::collections::BTreeMap;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

/// Depths, and widths of each, on the lattice.
const LATTICE: (usize, usize) = (9, 7);
/// Sizes that differ by a factor of two in one dimension are of two regions.
const UNLIKE: f64 = std::f64::consts::LN_2;

/// The inner sizes by strategy and depth.
type InnersOf = BTreeMap<(&'static str, i64), Option<Arc<Inners>>>;

/// What searches by models of the same cores, which differ in what things cost, have counted: it is counted once.
#[derive(Default)]
pub struct Counted(Mutex<InnersOf>);

impl Counted {
    fn of(
        &self,
        strategy: &'static dyn Strategy,
        depth: i64,
        count: impl FnOnce() -> Option<Arc<Inners>>,
    ) -> Option<Arc<Inners>> {
        let all = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (strategy.id(), depth);
        let known = all().get(&key).cloned();
        // Others are not kept waiting meanwhile.
        known.unwrap_or_else(|| all().entry(key).or_insert(count()).clone())
    }
}

/// A good tile of a strategy by its time; `None` where it cannot tile the program.
pub fn good_tile(model: &CpuCost, strategy: &'static dyn Strategy, counted: &Counted) -> Option<TileSizes> {
    unlike_tiles(model, strategy, (0.0, 1), counted).into_iter().next()
}

/// [`good_tile`] by each of several models.
pub fn good_tiles(
    models: &[CpuCost],
    strategy: &'static dyn Strategy,
    counted: &Counted,
) -> Vec<Option<TileSizes>> {
    let tiles = of_models(models, strategy, (0.0, 1), counted);
    tiles.into_iter().map(|tiles| tiles.into_iter().next()).collect()
}

/// A good tile of a strategy, and behind it up to `number - 1` others that take at most `longer` of its time more, each the
/// best of a region of sizes; none where the strategy cannot tile the program.
pub fn unlike_tiles(
    model: &CpuCost,
    strategy: &'static dyn Strategy,
    (longer, number): (f64, usize),
    counted: &Counted,
) -> Vec<TileSizes> {
    of_models(slice::from_ref(model), strategy, (longer, number), counted).into_iter().flatten().collect()
}

fn of_models(
    models: &[CpuCost],
    strategy: &'static dyn Strategy,
    (longer, number): (f64, usize),
    counted: &Counted,
) -> Vec<Vec<TileSizes>> {
    let Some(cores) = models.first().map(|model| model.time.cores()) else { return Vec::new() };
    if strategy.takes(&cores.program, &cores.cone).is_err() {
        return vec![Vec::new(); models.len()];
    }
    let CoreSpace::Products(products) = forms(strategy).core_space(cores) else {
        let tuned = |model| super::tune_cpu(model, strategy, Method::Exact, Objective::Time);
        return models
            .iter()
            .map(|model| tuned(model).map(|own| own.choice.tile).into_iter().collect())
            .collect();
    };
    let of_model = |model| {
        let space = ProductSpace::new(model, products.as_ref(), Method::Exact, Objective::Time);
        let (products, known) = (products.as_ref(), BTreeMap::new());
        let mut walk = Walk { space: &space, strategy, products, known, counted };
        let Some(best) = walk.best() else { return Vec::new() };
        let near = || walk.within(best.0 * (1.0 + longer));
        let tiles = if number > 1 { regions(best, &near(), number) } else { vec![best.1] };
        tiles.into_iter().map(|tile| space.tile(tile)).collect()
    };
    models.iter().map(of_model).collect()
}

/// Regions of like sizes among tiles with their times: centres as far from each other as can be, beginning with the best
/// tile, and of the tiles nearest to each centre the one with the least time.
fn regions(best: (f64, Tile), tiles: &[(f64, Tile)], number: usize) -> Vec<Tile> {
    let mut centres = vec![best.1];
    let mut nearest: Vec<(f64, usize)> = tiles.iter().map(|(_, tile)| (tile.distance(&best.1), 0)).collect();
    while centres.len() < number {
        let farthest = (0..tiles.len()).max_by(|&a, &b| nearest[a].0.total_cmp(&nearest[b].0));
        let Some(farthest) = farthest.filter(|&at| nearest[at].0 >= UNLIKE) else { break };
        let centre = tiles[farthest].1;
        for ((_, tile), nearest) in tiles.iter().zip(&mut nearest) {
            let distance = tile.distance(&centre);
            if distance < nearest.0 {
                *nearest = (distance, centres.len());
            }
        }
        centres.push(centre);
    }
    let of_region = |region: usize| {
        let own = tiles.iter().zip(&nearest).filter(|(_, nearest)| nearest.1 == region);
        own.map(|(tile, _)| *tile).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, tile)| tile)
    };
    std::iter::once(best.1).chain((1..centres.len()).filter_map(of_region)).collect()
}

/// A place: numbers of a depth and of a width.
type Place = (usize, usize);

struct Walk<'a> {
    space: &'a ProductSpace<'a>,
    strategy: &'static dyn Strategy,
    products: &'a dyn Products,
    known: BTreeMap<Place, Option<(f64, Tile)>>,
    counted: &'a Counted,
}

impl Walk<'_> {
    fn best(&mut self) -> Option<(f64, Tile)> {
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
        tiles.min_by(|a, b| a.0.total_cmp(&b.0)).copied().or_else(|| self.space.smallest())
    }

    /// The tiles at places that were looked at, with all their inner sizes, that take no longer than this.
    fn within(&self, most: f64) -> Vec<(f64, Tile)> {
        let best = self.known.values().flatten().filter(|(value, _)| *value <= most);
        let all = best.filter_map(|(_, tile)| {
            let inners = self.inners(tile.depth)?;
            Some(self.space.with_inner_sizes(tile.depth, tile.width, &inners))
        });
        all.flatten().filter(|(value, _)| *value <= most).collect()
    }

    fn widths(&self, depth: usize) -> usize {
        self.products.depths().get(depth).map_or(0, |&depth| self.products.widths_of(depth).len())
    }

    fn inners(&self, depth: i64) -> Option<Arc<Inners>> {
        self.counted.of(self.strategy, depth, || self.space.inners(depth))
    }

    fn look(&mut self, place: Place) {
        if self.known.contains_key(&place) {
            return;
        }
        let best = || {
            let depth = *self.products.depths().get(place.0)?;
            let width = *self.products.widths_of(depth).get(place.1)?;
            self.space.best_inner(depth, width, self.inners(depth)?.as_ref())
        };
        let best = best();
        self.known.insert(place, best);
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
            let program = polyhedral::shipped::load(stencil).unwrap();
            let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
            let taken = |own: &&'static dyn Strategy| own.takes(&program, &cone).is_ok();
            for own in strategy::in_auto(Target::OpenMp).filter(taken) {
                let best = tune_cpu(&model, own, Method::Exact, Objective::Time).unwrap();
                let good = good_tile(&model, own, &Counted::default()).unwrap();
                let seconds = model.time.predict(own, &good).unwrap().seconds;
                let ratio = seconds / best.certificate.value;
                assert!((1.0 - 1e-9..1.02).contains(&ratio), "{stencil} {}: {ratio} {good}", own.id());
            }
        }
    }

    #[test]
    fn unlike_tiles_are_nearly_as_good() {
        for (stencil, size, steps) in [("heat2d", &[2000, 3000][..], 100), ("heat3d", &[100, 120, 140], 20)] {
            let model = model(stencil, size, steps);
            let hhc = strategy::by_name("hhc").unwrap();
            let seconds = |tile: &TileSizes| model.time.predict(hhc, tile).unwrap().seconds;
            let counted = Counted::default();
            let tiles = unlike_tiles(&model, hhc, (0.04, 4), &counted);
            assert_eq!(tiles[0], good_tile(&model, hhc, &counted).unwrap(), "{stencil}");
            assert!((2..=4).contains(&tiles.len()), "{stencil}: {tiles:?}");
            for (at, tile) in tiles.iter().enumerate() {
                let ratio = seconds(tile) / seconds(&tiles[0]);
                assert!((1.0 - 1e-9..1.04 + 1e-9).contains(&ratio), "{stencil}: {ratio} {tile}");
                assert!(!tiles[..at].contains(tile), "{stencil}: {tile} twice");
            }
        }
    }

    #[test]
    fn regions_are_apart_and_each_names_its_best() {
        let tile = |depth, width, inner| Tile { depth, width, inner: [inner, 0] };
        let tiles = [
            (1.0, tile(8, 8, 64)),
            (1.01, tile(9, 8, 64)),
            (1.03, tile(32, 8, 64)),
            (1.02, tile(30, 8, 64)),
            (1.02, tile(8, 8, 0)),
        ];
        assert_eq!(regions(tiles[0], &tiles, 4), [tiles[0].1, tiles[4].1, tiles[3].1]);
        assert_eq!(regions(tiles[0], &tiles, 1), [tiles[0].1]);
        assert_eq!(regions(tiles[0], &[], 4), [tiles[0].1]);
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
