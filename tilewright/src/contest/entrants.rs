//! Who takes part: the model's choice, what it would choose if windows had to fit parts of a cache, or if rows were as dear
//! together as alone, some of these with sizes that no model knows the price of, and the strategies' own defaults. Where a model
//! is wrong, it is mostly about what a cache holds; next, about what many rows together cost. Where the user asks for a contest,
//! tiles that the model finds alike take part as well.

use super::{Contest, Entrant};
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::{self, Strategy, Target};

/// Windows of entrants, as parts of the cache before the last one.
const ROOMS: [f64; 3] = [0.3, 0.6, 1.1];
/// Where the user asked for a contest.
const MORE_ROOMS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.1, 1.6, 2.4];

/// Tiles that the model finds alike, where the user asked for a contest: at most so much longer than the best, and so many of them,
/// the best among them.
const ALIKE: f64 = 0.04;
const ALIKE_TILES: usize = 8;

/// Who is predicted to take so many times as long as the model's choice is far behind.
const FAR: f64 = 2.5;

impl Contest<'_> {
    /// The entrants, the model's choice first.
    pub fn entrants(&self, choice: &TileSizes) -> Vec<Entrant> {
        let mut entrants = vec![self.entrant(self.strategy, choice.clone())];
        let model = &self.model.model;
        if self.wanted {
            let alike = optimizer::cpu::unlike_tiles(model, self.strategy, ALIKE, ALIKE_TILES);
            entrants.extend(alike.into_iter().map(|tile| self.entrant(self.strategy, tile)));
        }
        let time = &model.time;
        let near = time.near_cache_bytes();
        let rooms: &[f64] = if self.wanted { &MORE_ROOMS } else { &ROOMS };
        let limited =
            rooms.iter().filter(|_| near.is_finite()).map(|room| time.with_window_limit(room * near));
        for changed in limited.chain([time.with_alike_rows()]) {
            let mut model = self.model.model.clone();
            model.time = changed;
            let good = optimizer::cpu::good_tile(&model, self.strategy);
            entrants.extend(good.map(|tile| self.entrant(self.strategy, tile)));
        }
        let (program, cone) = (&self.stencil.program, &self.model.analysis.cone);
        // Ways to run the same tile that no model knows the price of.
        let space = self.strategy.space(program, cone);
        // Of several statements, isl may need minutes to prove them legal.
        let few = program.statements.len() == 1 || self.wanted;
        for optional in space.optional.iter().filter(|optional| few && optional.target == Target::OpenMp) {
            let last = entrants.last().filter(|_| self.wanted);
            let ends = entrants.first().into_iter().chain(last);
            let tiles: Vec<TileSizes> = ends.map(|entrant| entrant.tile.clone()).collect();
            let tried: Vec<i64> =
                optional.tried.iter().copied().filter(|&value| value != optional.left_out).collect();
            // One in the middle, where there is little time.
            let tried =
                if self.wanted { &tried[..] } else { &tried[tried.len() / 2..][..tried.len().min(1)] };
            for &value in tried {
                let with = |tile: &TileSizes| {
                    self.entrant(self.strategy, tile.clone().with(optional.size.name, value))
                };
                entrants.extend(tiles.iter().map(with));
            }
        }
        for other in strategy::in_auto(Target::OpenMp) {
            let own = other.id() == self.strategy.id();
            if (own || self.all_strategies) && other.takes(program, cone).is_ok() {
                let tile = if own { None } else { self.others_tile(other) };
                let tile = tile.unwrap_or_else(|| other.default_tile(program, cone, Target::OpenMp));
                let entrant = self.entrant(other, tile);
                // Another strategy that is far behind by the model only takes time.
                let behind =
                    entrant.predicted_s.zip(entrants[0].predicted_s).is_some_and(|(a, b)| a > FAR * b);
                entrants.extend(Some(entrant).filter(|_| own || self.wanted || !behind));
            }
        }
        let mut distinct: Vec<Entrant> = Vec::new();
        for entrant in entrants {
            let same = |known: &Entrant| (known.strategy, &known.tile) == (entrant.strategy, &entrant.tile);
            if !distinct.iter().any(same) {
                distinct.push(entrant);
            }
        }
        distinct
    }

    /// The tile with which another strategy takes part: its own for the grid, or the model's choice.
    fn others_tile(&self, other: &'static dyn Strategy) -> Option<TileSizes> {
        let (program, grid) = (&self.stencil.program, (self.size, self.steps));
        let own = other.own_tile_on_cores(program, grid, self.threads as i64);
        own.or_else(|| optimizer::cpu::good_tile(&self.model.model, other))
    }

    fn entrant(&self, strategy: &'static dyn Strategy, tile: TileSizes) -> Entrant {
        let predicted_s = self.model.model.time.predict(strategy, &tile).ok().map(|found| found.seconds);
        Entrant { strategy: strategy.id(), tile, predicted_s, point_s: None }
    }
}
