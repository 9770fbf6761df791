//! Bounds of the forms over boxes of tile sizes, as the exact search needs them.

use super::Hexagonal;
use crate::counts::bounds::{CountBounds, range};
use crate::counts::work::{LeastEdges, LeastWork, Work};
use crate::geometry::{Threads, WARP};

impl Hexagonal {
    /// In one dimension: with as many threads, all that a sub-tile executes grows with its flat top, so that the narrowest tile
    /// of each number of threads bounds the others.
    fn least_sub_tile_of_a_row(&self, low: i64, high: i64) -> Work {
        let mut least: Option<Work> = None;
        let mut s0 = low;
        while s0 <= high {
            let full = self.work([s0, 1, 1]).full;
            least = Some(least.map_or(full, |known| known.least(&full)));
            let widest = self.most_width + s0 - 1;
            let last = Threads::last_as_many(widest, self.on.threads_per_block);
            s0 = last.saturating_sub(self.most_width).saturating_add(2);
        }
        least.unwrap_or_default()
    }

    /// In one dimension, of tiles with as many threads: rows at an edge cost each what they cost, and loads there no less than
    /// nothing.
    fn least_edges_of_a_row(&self, low: i64, high: i64) -> Option<LeastEdges> {
        let last = Threads::last_as_many(self.most_width + low - 1, self.on.threads_per_block);
        if self.most_width + high - 1 > last {
            return None;
        }
        let terms = self.accounting.terms;
        let own = self.rows as f64 * (terms.clipped_row + terms.clipped_pass);
        let threads = self.threads_along([low, 1, 1])[0];
        let warps = ((threads + WARP - 1) / WARP) as f64;
        let clipped = Work { issued: warps * own, chain: terms.copying * own, ..Work::default() };
        Some(LeastEdges { threads, most: self.work([high, 1, 1]).full, clipped, launches: self.launches })
    }

    /// What all tiles of a box execute at least.
    pub fn least_work(&self, low: [i64; 3], high: [i64; 3]) -> LeastWork {
        let bounds = self.bounds(low, high);
        let launches = self.launches.0 + self.launches.1 * self.launches.2;
        if self.lines_grow {
            let sub_tile = self.least_sub_tile_of_a_row(low[0], high[0]);
            let all = self.accounting.least_point().times(bounds.total_iterations);
            let all = Work { ahead: bounds.all_words, ..all };
            let edges = self.least_edges_of_a_row(low[0], high[0]);
            return LeastWork { sub_tile, tile: sub_tile, all, launches, edges };
        }
        let point = self.accounting.least_point();
        let across = |sizes: [i64; 3]| self.points(1, sizes[1]) * self.points(2, sizes[2]);
        // Lanes without a point, where the classical sizes are known.
        let (mut idle, mut warps) = (1.0, 1.0);
        if low[1..] == high[1..] {
            let threads = self.threads_along(low);
            let passes = |d: usize| (self.points(d, low[d]) + threads[d] - 1) / threads[d];
            let lanes = threads[1] * threads[2];
            if self.dimension > 1 {
                idle = (passes(1) * passes(2) * lanes) as f64 / across(low) as f64;
                warps = ((lanes + WARP - 1) / WARP) as f64;
            }
        }
        let widths = self.rounds.points(low[0], 1) as f64;
        let cut = |d: usize| d > 0 && d < self.dimension && self.uncut[d].is_none();
        let covered = |d: usize| {
            let points =
                if cut(d) { self.classical[d].0 + 1 - self.classical[d].1 } else { self.points(d, 1) };
            points as f64
        };
        let (rows, terms) = (self.rows as f64, self.accounting.terms);
        // Some warps may have no point of a row, and no batch.
        let own_rows = Work {
            issued: rows * warps * (terms.row + terms.pass),
            chain: rows * terms.dependent * (terms.row + terms.pass + terms.batch),
            waits: rows,
            barriers: rows + 2.0,
            ..Work::default()
        };
        let with_words = |points: f64, words: f64, sub_tiles: f64| {
            let lane = WARP as f64;
            // What is loaded ahead is waited for least.
            let copied = Work { ahead: words, issued: terms.stored * words / lane, ..Work::default() };
            point.times(points * idle).and(&own_rows.times(sub_tiles)).and(&copied)
        };
        let q = bounds.sub_tiles.0;
        let points = widths * across(low) as f64;
        let tile_points = (q * points).max(widths * covered(1) * covered(2));
        let all = point.times(bounds.total_iterations * idle);
        LeastWork {
            sub_tile: with_words(points, bounds.words.0, 1.0),
            tile: with_words(tile_points, bounds.tile_words.0, q),
            all: Work { ahead: bounds.all_words, ..all },
            launches,
            edges: None,
        }
    }

    /// Registers of a thread at least, over all flat tops between `low` and `high` with these classical sizes, before
    /// the compiler's bound: the share of a thread along dimension 0 is the greater, the fewer threads there are.
    pub fn least_registers(&self, low: i64, high: i64, sizes: [i64; 3]) -> i64 {
        let widths = [self.most_width + high - 1, sizes[1], sizes[2]];
        let narrowest = self.least_width + high - 1;
        let threads = Threads::rule(&widths[..self.dimension], narrowest, self.on.threads_per_block);
        let share = ((self.most_width + low - 1) / threads[0]).clamp(1, 8);
        self.registers[share as usize]
    }

    /// Bounds of the counts over all sizes between `low` and `high`.
    pub fn bounds(&self, low: [i64; 3], high: [i64; 3]) -> CountBounds {
        let single = low[0] == high[0];
        let w = if single {
            let w = self.tiles_per_wavefront(low[0]) as f64;
            (w, w)
        } else {
            // Of a band, floor(span/W) or one more tiles touch the domain.
            let each = |s0: i64| {
                let [phase, _] = self.phases(s0);
                (phase.last - phase.first) as f64 / phase.pitch as f64
            };
            let (least, most) = range([low[0], high[0]].into_iter().map(each));
            (least.floor().max(1.0), most.floor() + 1.0)
        };
        let tiles = if single {
            let [first, second] = self.phases(low[0]);
            let tiles = (first.all_tiles() + second.all_tiles()) as f64;
            (tiles, tiles)
        } else {
            let bands = self.wavefronts() as f64;
            ((w.0 - 1.0).max(0.0) * bands, w.1 * bands)
        };
        // q_d * s_d lies between the points that the sub-tiles must cover, and one sub-tile more.
        let cut = |d: usize| d > 0 && d < self.dimension && self.uncut[d].is_none();
        let covered = |d: usize| {
            if cut(d) {
                (self.classical[d].0 + 1 - self.classical[d].1) as f64
            } else {
                self.points(d, 1) as f64
            }
        };
        let covers = |d: usize, size: i64| {
            if cut(d) { (self.classical[d].0 + size) as f64 } else { self.points(d, 1) as f64 }
        };
        let points = |s: [i64; 3]| self.points(1, s[1]) * self.points(2, s[2]);
        let (area_low, area_high) = (covered(1) * covered(2), covers(1, high[1]) * covers(2, high[2]));
        let sub_tiles = |s: [i64; 3]| (self.sub_tiles(1, s[1]) * self.sub_tiles(2, s[2])) as f64;
        let q = (sub_tiles(high), sub_tiles(low));
        let rounds = (
            self.rounds.rounds(low[0], points(low)) as f64,
            self.rounds.rounds(high[0], points(high)) as f64,
        );
        let lanes = self.rounds.lanes() as f64;
        let rows = self.rows as f64;
        let widths = |s0: i64| self.rounds.points(s0, 1) as f64;
        let tile_rounds = (
            (q.0 * rounds.0).max((widths(low[0]) * area_low / lanes).floor()),
            (q.1 * rounds.1).min(widths(high[0]) * area_high / lanes + q.1 * rows),
        );
        let three = self.dimension == 3;
        let middle = |s: [i64; 3]| if three { s[1] } else { 1 };
        let (from, to) = ([low[0], middle(low)], [high[0], middle(high)]);
        let lines = self.lines.range(from, to, |_, _| 1.0);
        let cut_middle = if three { self.uncut[1].is_none() } else { false };
        let per_middle = |s1: i64| if cut_middle { s1 as f64 } else { 1.0 };
        let lines_per_point = self.lines.range(from, to, |_, s1| per_middle(s1));
        let density = self.lines.range(from, to, |s0, s1| per_middle(s1) * widths(s0));
        let innermost = |s: [i64; 3]| match self.dimension {
            1 => 1.0,
            2 => self.points(1, s[1]) as f64,
            _ => self.points(2, s[2]) as f64,
        };
        // Lines of a middle dimension that is not cut are those of all its points.
        let spread = |area: f64| if three && !cut_middle { area / self.points(1, 1) as f64 } else { area };
        let words = (lines.0 * innermost(low), lines.1 * innermost(high));
        let tile_words = (
            (q.0 * words.0).max(lines_per_point.0 * spread(area_low)),
            (q.1 * words.1).min(lines_per_point.1 * spread(area_high)),
        );
        let total_iterations = self.total_iterations as f64;
        let wavefronts = self.wavefronts() as f64;
        let all_words = spread(total_iterations) * density.0;
        let fast = |s0: i64| (self.fast_base + self.fast_slope * (s0 - 1)) as f64 / widths(s0);
        CountBounds {
            wavefronts,
            tiles_per_wavefront: w,
            sub_tiles: q,
            lane_rounds: rounds,
            tile_rounds,
            words,
            tile_words,
            barriers: rows,
            all_rounds: total_iterations / lanes,
            all_words,
            total_words: ((tiles.0 * tile_words.0).max(all_words), tiles.1 * tile_words.1),
            total_barriers: (tiles.0 * q.0 * rows, tiles.1 * q.1 * rows),
            fast_per_iteration: range([low[0], high[0]].into_iter().map(fast)),
            total_iterations,
        }
    }
}
