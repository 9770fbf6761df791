//! What cores do with all diamonds, without looking at each of them.
//!
//! A row of a wavefront, at step `m`, consists of boxes: the repetitions of its columns, `w` apart, times the pieces of the
//! other dimensions ([`Pieces`]). Wavefronts `p + q` apart lie at the same points, so that of those whose steps all exist
//! `p + q` stand for the others.
//!
//! Points come into a diamond in a row that is wider than the one before it, at either end; into a piece from the one before
//! it, which lies further ahead, those of the columns that are in both rows.

use super::shape::{Shape, WAVEFRONT};
use crate::counts::cores::{Cores, Diagonals, Outer, RowCode};
use crate::int_expr::IntExpr;
use crate::plan::SIZE_NAMES;
use crate::strategy::pieces::{Closed, Pieces, add_boxes};
use std::collections::BTreeMap;

/// What is counted of.
struct Counted<'a> {
    shape: &'a Shape,
    cores: &'a Cores,
}

/// What a wavefront has.
#[derive(Debug, Clone, Default)]
struct Wavefront {
    sum: Outer,
    /// Points that come into diamonds; into pieces from others.
    entered: f64,
    visited: f64,
    tiles: i64,
    empty: i64,
}

/// The counts.
pub(super) fn counts(shape: &Shape, cores: &Cores) -> Diagonals {
    let counted = Counted { shape, cores };
    let mut found = Diagonals {
        all: Outer::default(),
        positions: vec![0.0; cores.code.len()],
        lines: 1,
        tiles: 0.0,
        rounds: 0.0,
        empty: 0.0,
    };
    let steps = shape.steps();
    let first = -steps.1.div_euclid(shape.first_step(1));
    let last = (cores.steps - 1 - steps.0).div_euclid(shape.first_step(1));
    // Wavefronts whose steps all exist, by the points at which they lie.
    let mut alike: BTreeMap<i64, (Wavefront, f64)> = BTreeMap::new();
    let (mut entered, mut visited) = (0.0, 0.0);
    let mut add = |own: &Wavefront, times: f64| {
        found.all.add(&own.sum, times);
        found.tiles += times * own.tiles as f64;
        found.rounds += times * ((own.tiles + cores.threads - 1) / cores.threads) as f64;
        found.empty += times * own.empty as f64;
        entered += times * own.entered;
        visited += times * own.visited;
    };
    for wavefront in first..=last {
        let at = shape.first_step(wavefront);
        if at + steps.0 < 0 || at + steps.1 >= cores.steps {
            add(&counted.wavefront(wavefront), 1.0);
            continue;
        }
        let same = alike.entry(wavefront.rem_euclid(shape.period()));
        same.or_insert_with(|| (counted.wavefront(wavefront), 0.0)).1 += 1.0;
    }
    alike.values().for_each(|(own, times)| add(own, *times));
    let swept = |code: &RowCode| code.points() * code.sweep_bytes;
    found.all.swept = cores.code.iter().map(swept).sum::<f64>() * cores.steps as f64;
    found.all.wavefronts = (last - first + 1).max(0) as f64;
    // Around the columns of a diamond lies what they read.
    let ((left, right), (below, above)) = (shape.columns(), cores.halo[0]);
    let columns = (right - left + 1) as f64;
    let around = (columns + (below + above) as f64) / columns;
    let statements = cores.code.len().max(1) as f64;
    found.all.touched = entered / statements * around * cores.touched_bytes;
    found.all.visited = visited / statements * cores.touched_bytes;
    found.all.extent = counted.extent();
    found
}

impl Counted<'_> {
    fn wavefront(&self, wavefront: i64) -> Wavefront {
        let (shape, cores) = (self.shape, self.cores);
        let mut found = Wavefront::default();
        // The places of diamonds with points, by row.
        let mut places: Vec<Closed> = Vec::new();
        for (k, code) in cores.code.iter().enumerate().filter(|(_, code)| code.points() > 0.0) {
            let (first, last) = shape.steps_of(k);
            let at = shape.first_step(wavefront);
            let (first, last) = (first.max(-at), last.min(cores.steps - 1 - at));
            let inside = (code.domain[0].0, code.domain[0].1 - 1);
            let columns = |m: i64| {
                let (low, high) = shape.columns_of(k, m);
                let x0 = shape.origin(wavefront);
                (x0 + low, x0 + high)
            };
            let mut before: Option<(Closed, Vec<Closed>)> = None;
            for m in first..=last {
                let own = columns(m);
                let mut pieces = vec![Pieces::repeated(own, shape.width(), inside)];
                let cut: Vec<Closed> = (1..cores.dimension()).map(|d| self.piece(k, d, m)).collect();
                pieces.extend(cut.iter().enumerate().map(|(at, &piece)| self.cut(code, at + 1, piece)));
                add_boxes(&pieces, code, &mut found.sum);
                let area: f64 = pieces[1..].iter().map(Pieces::points).product();
                let stayed = before.map(|(columns, cuts): (Closed, Vec<Closed>)| {
                    let both = Pieces::repeated(common(own, columns), shape.width(), inside).points();
                    let cuts = cut.iter().zip(cuts).enumerate();
                    let inner: f64 = cuts
                        .map(|(at, (&own, old))| self.cut(code, at + 1, common(own, old)).points())
                        .product();
                    (both, inner)
                });
                let (both, inner) = stayed.unwrap_or((0.0, area));
                found.entered += (pieces[0].points() - both) * area;
                found.visited += both * (area - inner);
                let ends = Pieces::numbers(own, shape.width(), inside);
                places.extend(Some(ends).filter(|(low, high)| low <= high));
                before = Some((own, cut));
            }
        }
        found.tiles = covered(places);
        found.empty = (self.looked_at(wavefront) - found.tiles).max(0);
        found
    }

    /// Piece 0 of a dimension; of one that is not cut, all of it.
    fn piece(&self, statement: usize, d: usize, m: i64) -> Closed {
        match self.shape.length(d) {
            0 => (0, self.cores.size[d] - 1),
            _ => self.shape.piece(statement, d, m),
        }
    }

    /// What the pieces of a dimension have of a statement's domain.
    fn cut(&self, code: &RowCode, d: usize, piece: Closed) -> Pieces {
        let inside = (code.domain[d].0, code.domain[d].1 - 1);
        match self.shape.length(d) {
            0 => Pieces::whole(inside),
            length => Pieces::repeated(piece, length, inside),
        }
    }

    /// The diamonds of a wavefront that are looked at.
    fn looked_at(&self, wavefront: i64) -> i64 {
        let places = self.shape.places(&self.cores.program);
        let known = [(WAVEFRONT, wavefront), (SIZE_NAMES[0], self.cores.size[0])].into_iter().collect();
        let end = |end: &IntExpr| end.evaluate(&known).unwrap_or(0);
        (end(&places.high) - end(&places.low) + 1).max(0)
    }

    /// The mean width of a diamond's rows and the lengths of its pieces, with what they read.
    fn extent(&self) -> f64 {
        let (shape, cores) = (self.shape, self.cores);
        let (below, above) = cores.halo[0];
        let (first, last) = shape.steps_of(0);
        let mean = shape.points() as f64 / (last - first + 1) as f64;
        let own = |d: usize| {
            let (below, above) = cores.halo[d];
            let points = match shape.length(d) {
                0 => cores.size[d],
                length => (length + shape.moved(d).0 + below + above).min(cores.size[d]),
            };
            points as f64
        };
        let columns = (mean + (below + above) as f64).min(cores.size[0] as f64);
        columns * (1..cores.dimension()).map(own).product::<f64>()
    }
}

/// What two intervals have in common.
fn common(a: Closed, b: Closed) -> Closed {
    (a.0.max(b.0), a.1.min(b.1))
}

/// The integers that lie in one of the intervals.
fn covered(mut intervals: Vec<Closed>) -> i64 {
    intervals.sort_unstable();
    let (mut covered, mut end) = (0, i64::MIN);
    for (low, high) in intervals {
        let first = if low > end { low } else { end + 1 };
        covered += (high - first + 1).max(0);
        end = end.max(high);
    }
    covered
}
