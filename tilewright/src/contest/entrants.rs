//! Who takes part: the model's choice, what it would choose if windows had to fit parts of a cache, or if rows were as dear
//! together as alone, some of these with sizes that no model knows the price of, and the strategies' own defaults. Where a model
//! is wrong, it is mostly about what a cache holds; next, about what many rows together cost. Where the user asks for a contest,
//! tiles that the model finds alike take part as well. The winners of other contests for such grids take part, so that no two
//! contests of one computer contradict each other.

use super::{Contest, Entrant};
use crate::cpu_model::CpuModel;
use cost_models::cpu::CpuTime;
use hhc_codegen::backend::openmp;
use hhc_codegen::plan::Kernel;
use hhc_codegen::strategy::{self, Strategy, Target};
use hhc_codegen::{KernelPlan, TileSizes};
use rayon::prelude::*;
use std::slice;
use toolchain::cancel::Cancel;

/// Windows of entrants, as parts of the cache before the last one.
const ROOMS: [f64; 3] = [0.3, 0.6, 1.1];
/// Where the user asked for a contest.
const MORE_ROOMS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.1, 1.6, 2.4];

/// The widest window that rows of several steps swept together are tried with, as a multiple of that cache.
const WIDE: f64 = 8.0;

/// Tiles that the model finds alike, where the user asked for a contest: at most so much longer than the best, and so many of them,
/// the best among them.
const ALIKE: f64 = 0.04;
const ALIKE_TILES: usize = 8;

/// So many take part at most where somebody waits who runs nothing, and where the program has so many statements, for all of which each
/// tiling has code.
const MOST_BRIEF: usize = 6;
const MANY_STATEMENTS: usize = 4;
const MOST_OF_MANY: usize = 4;

/// Who is predicted to take so many times as long as the best is far behind.
const FAR: f64 = 2.5;
/// The same of tiles with storages of their own: they are compiled apart from all others, which takes as long as these together.
const FAR_APART: f64 = 1.1;
/// The same, where no run follows, of tiles whose rows are of another form than those of the model's choice: to compile these takes as
/// long as several tiles do.
const FAR_IN_FORM: f64 = 1.5;
/// A strategy whose best tile is predicted to take no more times as long as another strategy's is compared with that.
const NEAR: f64 = 1.5;

impl Contest<'_> {
    /// The entrants, the model's choice first.
    pub fn entrants(&self, choice: &TileSizes) -> Vec<Entrant> {
        let mut entrants = self.own(choice);
        entrants.extend(self.others(&entrants));
        let mut distinct: Vec<Entrant> = Vec::new();
        for entrant in entrants {
            if !distinct.iter().any(|known| known.is_same(&entrant)) {
                distinct.push(entrant);
            }
        }
        distinct
    }

    /// Of these, the first of which is the model's choice, that one, the strategy's own default, and those that the model finds the fastest.
    pub(super) fn promising(&self, mut entrants: Vec<Entrant>) -> Vec<Entrant> {
        let default = self.default_of(self.strategy);
        let is_default = |one: &Entrant| one.strategy == self.strategy.id() && one.tile == default;
        let predicted = |one: &Entrant| one.predicted_s.unwrap_or(f64::INFINITY);
        if let Some((_, others)) = entrants.split_first_mut() {
            others.sort_by(|a, b| {
                is_default(b).cmp(&is_default(a)).then(predicted(a).total_cmp(&predicted(b)))
            });
        }
        let many = self.stencil.program.statements.len() >= MANY_STATEMENTS;
        entrants.truncate(if many { MOST_OF_MANY } else { MOST_BRIEF });
        entrants
    }

    fn default_of(&self, strategy: &dyn Strategy) -> TileSizes {
        strategy.default_tile(&self.stencil.program, &self.model.analysis.cone, Target::OpenMp)
    }

    /// Tiles of the strategy that the contest is about.
    fn own(&self, choice: &TileSizes) -> Vec<Entrant> {
        let mut entrants = vec![self.entrant(self.strategy, choice.clone())];
        let CpuModel { model, counted, .. } = self.model;
        if self.wanted {
            let alike = optimizer::cpu::unlike_tiles(model, self.strategy, (ALIKE, ALIKE_TILES), counted);
            entrants.extend(alike.into_iter().map(|tile| self.entrant(self.strategy, tile)));
        }
        let time = &model.time;
        let near = time.near_cache_bytes();
        let rooms: &[f64] = if self.wanted { &MORE_ROOMS } else { &ROOMS };
        let limited =
            rooms.iter().filter(|_| near.is_finite()).map(|room| time.with_window_limit(room * near));
        let (program, cone) = (&self.stencil.program, &self.model.analysis.cone);
        // Ways to run the same tile that no model knows the price of. Of several statements, isl may need minutes to prove them legal.
        let few = program.statements.len() == 1 || self.wanted;
        let space = self.strategy.space(program, cone);
        let optional: Vec<_> =
            space.optional.iter().filter(|optional| few && optional.target == Target::OpenMp).collect();
        let wide = self.in_the_last_cache().filter(|_| !optional.is_empty());
        let is_wide = usize::from(wide.is_some());
        let changed: Vec<_> = limited.chain([time.with_alike_rows()]).chain(wide).collect();
        let with = |time| {
            let mut model = self.model.model.clone();
            model.time = time;
            model
        };
        let changed: Vec<_> = changed.into_iter().map(with).collect();
        let mut good = optimizer::cpu::good_tiles(&changed, self.strategy, counted);
        let wide = good.split_off(good.len() - is_wide).into_iter().flatten().next();
        entrants.extend(good.into_iter().flatten().map(|tile| self.entrant(self.strategy, tile)));
        for optional in optional {
            let last = entrants.last().filter(|_| self.wanted);
            let ends = entrants.first().into_iter().chain(last);
            let tiles: Vec<TileSizes> =
                ends.map(|entrant| entrant.tile.clone()).chain(wide.clone()).collect();
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
        entrants.push(self.entrant(self.strategy, self.default_of(self.strategy)));
        entrants
    }

    /// The model of windows beyond the cache before the last one, where the last one has room for them: several steps of rows that are
    /// swept together fetch a line once, and may hide what it takes.
    fn in_the_last_cache(&self) -> Option<CpuTime> {
        let time = &self.model.model.time;
        let near = time.near_cache_bytes();
        let bytes = (WIDE * near).min(time.last_cache_bytes() / 2.0);
        (bytes > 2.0 * near).then(|| time.with_hidden_lines(bytes))
    }

    /// The winners of other contests, and tiles of other strategies: those that may be taken and that the model finds in reach of
    /// the best; where none may, the winner among all strategies, if it is not clear that it is faster.
    fn others(&self, own: &[Entrant]) -> Vec<Entrant> {
        let (program, cone) = (&self.stencil.program, &self.model.analysis.cone);
        let again =
            |one: &Entrant| Some(self.entrant(strategy::by_name(one.strategy).ok()?, one.tile.clone()));
        let (first, champions) = self.champions();
        let known: Vec<Entrant> = first.iter().chain(&champions).filter_map(again).collect();
        let (mut found, rivals): (Vec<Entrant>, Vec<Entrant>) =
            known.into_iter().partition(|one| one.strategy == self.strategy.id());
        if !self.all_strategies {
            let near = |one: &Entrant| ratio(&own[0], one).is_some_and(|times| times < NEAR);
            let rival = rivals.into_iter().find(|one| first.as_ref().is_some_and(|first| first.is_same(one)));
            found.extend(rival.filter(near));
            return found;
        }
        let others: Vec<&'static dyn Strategy> = strategy::in_auto(Target::OpenMp)
            .filter(|other| other.id() != self.strategy.id() && other.takes(program, cone).is_ok())
            .collect();
        let token = Cancel::current();
        let with_tiles = |other: &'static dyn Strategy| {
            let tiles = token.scope(|| self.others_tiles(other));
            tiles.into_iter().map(|tile| self.entrant(other, tile)).collect::<Vec<_>>()
        };
        let tiles: Vec<Vec<Entrant>> = others.into_par_iter().map(with_tiles).collect();
        let others: Vec<Entrant> = tiles.into_iter().flatten().chain(rivals).collect();
        let predicted = own.iter().chain(&others).filter_map(|one| one.predicted_s);
        let best = predicted.fold(f64::INFINITY, f64::min);
        let forms = |plan: &KernelPlan| openmp::row_forms(slice::from_ref(plan));
        let own_forms = self.plan(&own[0]).ok().map(|plan| forms(&plan));
        let in_reach = |one: &Entrant| {
            let most = match self.plan(one) {
                Ok(plan) if plan.kernels.iter().any(Kernel::in_parts) => FAR_APART,
                Ok(plan) if !self.runs && own_forms.as_ref().is_some_and(|own| *own != forms(&plan)) => {
                    FAR_IN_FORM
                }
                _ => FAR,
            };
            self.wanted || one.predicted_s.is_none_or(|seconds| seconds <= most * best)
        };
        found.extend(others.into_iter().filter(in_reach));
        found
    }

    /// The tiles with which another strategy takes part: its own for the grid, or the model's choice and the default.
    fn others_tiles(&self, other: &'static dyn Strategy) -> Vec<TileSizes> {
        let (program, grid) = (&self.stencil.program, (self.size, self.steps));
        match other.own_tile_on_cores(program, grid, self.threads as i64) {
            Some(own) => vec![own],
            None => {
                let good = optimizer::cpu::good_tile(&self.model.model, other, &self.model.counted);
                good.into_iter().chain([self.default_of(other)]).collect()
            }
        }
    }

    fn entrant(&self, strategy: &'static dyn Strategy, tile: TileSizes) -> Entrant {
        let predicted_s = self.model.model.time.predict(strategy, &tile).ok().map(|found| found.seconds);
        Entrant { strategy: strategy.id(), tile, predicted_s, point_s: None }
    }
}

/// How many times as long as another one is predicted to take.
fn ratio(one: &Entrant, other: &Entrant) -> Option<f64> {
    Some(one.predicted_s? / other.predicted_s?)
}
