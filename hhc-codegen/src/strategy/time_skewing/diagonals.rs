//! What cores do with the tiles of all diagonals, without looking at each of them.
//!
//! At step `t` the points of statement `k` have in dimension `d` the coordinates `low_d + step_d*t + shift_k` up to
//! `high_d + step_d*t + shift_k`, which multiples of the size cut into [pieces](super::super::pieces). Where no dimension is skewed
//! by another one, tiles are all combinations of them.
//!
//! Of sweeps in order each line has pieces of its own along the last dimension, and lines that run at once have those of
//! all of them together.
//!
//! A point comes into a tile in the first step of the tile or where it was in the one before it along some dimension, a step
//! ago: if the rest of its coordinate modulo the size is less than `step_d`.

use super::ends::{Ends, NOWHERE, Place, hull};
use super::lines::at_once;
use super::tiles::Tiles;
use crate::counts::cores::{Cores, Diagonals, Outer, RowCode};
use crate::int_expr::Environment;
use crate::plan::SIZE_NAMES;
use crate::strategy::pieces::{Closed, Pieces, add_boxes};
use std::ops::Range;

/// The parts into which the ends of intervals cut a line; one, where there are no intervals.
fn cut_by(intervals: impl Iterator<Item = Closed>) -> Vec<Closed> {
    let mut ends: Vec<i64> = intervals.flat_map(|(low, high)| [low, high + 1]).collect();
    ends.sort_unstable();
    ends.dedup();
    if ends.is_empty() { vec![(0, 0)] } else { ends.windows(2).map(|ends| (ends[0], ends[1] - 1)).collect() }
}

/// Coordinates of an interval whose rest modulo `size` is `least` or more.
fn with_rest((low, high): Closed, size: i64, least: i64) -> i64 {
    if size == 0 || high < low {
        return (high - low + 1).max(0);
    }
    let below =
        |end: i64| end.div_euclid(size) * (size - least).max(0) + (end.rem_euclid(size) - least).max(0);
    below(high + 1) - below(low)
}

/// The counts; `None` where a bound of the tiles mentions what is not known.
pub(super) fn counts(tiles: &Tiles<'_>, cores: &Cores) -> Option<Diagonals> {
    let lines = if cores.dimension() > 1 { at_once(tiles.program) } else { 1 };
    let in_order = tiles.program.sweeps_in_order().next().is_some();
    let mut found = Diagonals {
        all: Outer::default(),
        positions: vec![0.0; cores.code.len()],
        lines,
        tiles: 0.0,
        rounds: 0.0,
        empty: 0.0,
    };
    let counted = Counted { tiles, cores };
    let mut entered = 0.0;
    for (statement, code) in cores.code.iter().enumerate() {
        if code.points() == 0.0 {
            continue;
        }
        found.all.swept += code.points() * code.sweep_bytes * cores.steps as f64;
        for step in 0..cores.steps {
            let stayed = match in_order {
                true => counted.lines(statement, step, &mut found),
                false => counted.boxes(statement, step, &mut found.all),
            };
            entered += code.points() - if step % tiles.steps == 0 { 0.0 } else { stayed };
        }
    }
    // Around a whole tile lies what it reads.
    let around = |d: usize| match tiles.sizes[d] {
        0 => 1.0,
        size => (size + cores.halo[d].0 + cores.halo[d].1) as f64 / size as f64,
    };
    let window = |d: usize| match tiles.sizes[d] {
        0 => cores.size[d] as f64,
        size => (size + cores.halo[d].0 + cores.halo[d].1).min(cores.size[d]) as f64,
    };
    let around: f64 = (0..cores.dimension()).map(around).product();
    found.all.extent = (0..cores.dimension()).map(window).product();
    found.all.touched = entered / cores.code.len().max(1) as f64 * around * cores.touched_bytes;
    counted.places(&mut found)?;
    Some(found)
}

/// What is counted of.
struct Counted<'a> {
    tiles: &'a Tiles<'a>,
    cores: &'a Cores,
}

impl Counted<'_> {
    /// The coordinates of a statement's points in a step along a dimension, as far as no other dimension skews it.
    fn coordinates(&self, statement: usize, step: i64, d: usize) -> Closed {
        let skew = &self.tiles.skews[d];
        let (low, end) = self.cores.code[statement].domain[d];
        let moved = skew.step * step + skew.shifts[statement];
        (low + moved, end - 1 + moved)
    }

    /// Points of a tile that were in it a step ago, along a dimension.
    fn stayed(&self, at: Closed, d: usize) -> f64 {
        with_rest(at, self.tiles.sizes[d], self.tiles.skews[d].step) as f64
    }

    /// Adds the boxes of a step; the points that stay in their tiles.
    fn boxes(&self, statement: usize, step: i64, sum: &mut Outer) -> f64 {
        let code = &self.cores.code[statement];
        let dimension = self.cores.dimension();
        let at: Vec<Closed> = (0..dimension).map(|d| self.coordinates(statement, step, d)).collect();
        let pieces: Vec<Pieces> =
            at.iter().zip(&self.tiles.sizes).map(|(&at, &size)| Pieces::of(at, size)).collect();
        add_boxes(&pieces, code, sum);
        at.iter().enumerate().map(|(d, &at)| self.stayed(at, d)).product()
    }

    /// Adds the lines of a step, some of them at once; the points that stay in their tiles.
    fn lines(&self, statement: usize, step: i64, found: &mut Diagonals) -> f64 {
        let (last, size) = (self.cores.dimension() - 1, &self.tiles.sizes);
        let along = self.coordinates(statement, step, last);
        let mut stayed = 0.0;
        if last == 0 {
            self.run((statement, 1.0), along, &[along], found);
            return self.stayed(along, 0);
        }
        let skews = &self.tiles.skews;
        let outermost = if last == 2 { self.cores.code[statement].domain[0] } else { (0, 1) };
        for plane in outermost.0..outermost.1 {
            let crossed = |d: usize| if last == 2 { plane * skews[d].cross[0] } else { 0 };
            let beside = self.coordinates(statement, step, last - 1);
            let beside = (beside.0 + crossed(last - 1), beside.1 + crossed(last - 1));
            // Of the plane, whether it was in the same tile a step ago.
            let plane_at = self.coordinates(statement, step, 0).0 + plane - outermost.0;
            let kept = last == 1 || self.stayed((plane_at, plane_at), 0) > 0.0;
            let first = self.cores.code[statement].domain[last - 1].0;
            let mut group: Vec<Closed> = Vec::with_capacity(found.lines as usize);
            for at in beside.0..=beside.1 {
                let skewed = crossed(last) + (first + at - beside.0) * skews[last].cross[last - 1];
                let line = (along.0 + skewed, along.1 + skewed);
                group.push(line);
                if kept && with_rest((at, at), size[last - 1], skews[last - 1].step) > 0 {
                    stayed += self.stayed(line, last);
                }
                if at == beside.1 || (at + 1).rem_euclid(found.lines) == 0 {
                    let (low, high) = (group[0].0.min(line.0), group[0].1.max(line.1));
                    self.run((statement, 1.0), (low, high), &group, found);
                    group.clear();
                }
            }
        }
        stayed
    }

    /// Adds neighbouring lines: calls, and positions or runs.
    fn run(&self, (statement, calls): (usize, f64), all: Closed, group: &[Closed], found: &mut Diagonals) {
        let last = self.cores.dimension() - 1;
        let size = self.tiles.sizes[last];
        found.all.calls += calls * Pieces::of(all, size).number();
        if self.tiles.program.in_order(statement) {
            found.positions[statement] += (all.1 - all.0 + 1) as f64;
            return;
        }
        let code = &self.cores.code[statement];
        let alone: Vec<(i64, usize)> = code.variants.iter().copied().filter(|(rows, _)| *rows == 1).collect();
        let alone = RowCode { variants: alone, domain: code.domain.clone(), ..*code };
        let one = Pieces::whole((0, 0));
        for &line in group {
            let pieces = [one, Pieces::of(line, size)];
            let mut own = Outer::default();
            add_boxes(&pieces, &alone, &mut own);
            found.all.add(&Outer { calls: 0.0, ..own }, 1.0);
        }
    }

    /// How tiles with points lie on diagonals.
    fn places(&self, found: &mut Diagonals) -> Option<()> {
        let mut environment = Environment::new();
        environment.insert("steps", self.cores.steps);
        environment.extend(SIZE_NAMES.into_iter().zip(self.cores.size.iter().copied()));
        let diagonals = self.tiles.diagonals();
        let (first, last) = (diagonals.low.evaluate(&environment)?, diagonals.high.evaluate(&environment)?);
        let number = usize::try_from(last - first + 1).unwrap_or(0);
        // Tiles of a box lie on diagonals as (1 - x^a)(1 - x^b)(1 - x^c)/(1 - x)^3 has coefficients: differences of the third order.
        let mut tiles = vec![0_i64; number + 3];
        let cut: Vec<usize> = (0..self.cores.dimension()).filter(|&d| self.tiles.sizes[d] > 0).collect();
        for band in 0..(self.cores.steps + self.tiles.steps - 1) / self.tiles.steps {
            self.of_band(band, &cut, &mut |[rows, columns], along| {
                let own = [rows, columns, along];
                let least = band + own.iter().map(|own| own.0).sum::<i64>() - first;
                for corner in 0..8 {
                    let beyond = |d: &usize| corner >> d & 1 == 1;
                    let beside: i64 = (0..3).filter(beyond).map(|d| own[d].1 - own[d].0 + 1).sum();
                    let sign = if (0..3).filter(beyond).count() % 2 == 0 { 1 } else { -1 };
                    let at = usize::try_from(least + beside).ok().and_then(|at| tiles.get_mut(at));
                    at.into_iter().for_each(|at| *at += sign);
                }
            });
        }
        for _ in 0..3 {
            (1..tiles.len()).for_each(|at| tiles[at] += tiles[at - 1]);
        }
        for &tiles in &tiles[..number] {
            found.tiles += tiles as f64;
            found.rounds += (tiles as f64 / self.cores.threads as f64).ceil();
        }
        let mut blocks = number as f64;
        for block in self.tiles.blocks() {
            let (low, high) = (block.low.evaluate(&environment)?, block.high.evaluate(&environment)?);
            blocks *= (high - low + 1).max(0) as f64;
        }
        found.empty = (blocks - found.tiles).max(0.0);
        found.all.wavefronts = number as f64;
        Some(())
    }

    /// The tiles of a band of time: boxes of places, and the tiles along the last dimension at each place of a box.
    fn of_band(&self, band: i64, cut: &[usize], visit: &mut dyn FnMut([Closed; 2], Closed)) {
        let Some((&last, leading)) = cut.split_last() else { return visit([(0, 0); 2], (0, 0)) };
        let steps = band * self.tiles.steps..((band + 1) * self.tiles.steps).min(self.cores.steps);
        let all = self.statements().flat_map(|statement| steps.clone().map(move |step| (statement, step)));
        // Of lines, the tiles of one dimension depend on the points of another one.
        if self.tiles.program.sweeps_in_order().next().is_some() {
            let mut of = Ends::within(self.places_of_band(steps.clone(), leading));
            all.for_each(|at| self.of_step(at, last, ([0; 2], 0), &mut Vec::new(), &mut of));
            return of.known().for_each(|(place, ends)| visit(place.map(|at| (at, at)), ends));
        }
        let mut boxes: Vec<Vec<Closed>> = Vec::new();
        for (statement, step) in all {
            let in_tiles = |&d: &usize| {
                let (low, high) = self.coordinates(statement, step, d);
                (low.div_euclid(self.tiles.sizes[d]), high.div_euclid(self.tiles.sizes[d]))
            };
            let own = cut.iter().map(in_tiles).collect();
            if !boxes.contains(&own) {
                boxes.push(own);
            }
        }
        let parts = |d: usize| cut_by(boxes.iter().filter(|_| d < leading.len()).map(|own| own[d]));
        let holds =
            |own: Option<&Closed>, part: Closed| own.is_none_or(|own| own.0 <= part.0 && part.1 <= own.1);
        for rows in parts(0) {
            let of_rows = boxes.iter().map(|own| own.split_at(leading.len()));
            let of_rows: Vec<_> = of_rows.filter(|(own, _)| holds(own.first(), rows)).collect();
            for columns in parts(1) {
                let along =
                    of_rows.iter().filter(|(own, _)| holds(own.get(1), columns)).map(|(_, along)| along[0]);
                along.reduce(hull).into_iter().for_each(|along| visit([rows, columns], along));
            }
        }
    }

    /// Statements that compute something.
    fn statements(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.cores.code.len()).filter(|&k| self.cores.code[k].points() > 0.0)
    }

    /// Between which coordinates the tiles of some steps lie, at most, in the dimensions that are cut but the last one.
    fn places_of_band(&self, steps: Range<i64>, cut: &[usize]) -> [Closed; 2] {
        let mut found = [(0, 0); 2];
        for (own, &d) in found.iter_mut().zip(cut) {
            let size = self.tiles.sizes[d];
            let ends = self.statements().flat_map(|statement| {
                let domain = &self.cores.code[statement].domain;
                let cross = &self.tiles.skews[d].cross;
                let low: i64 = cross.iter().zip(domain).map(|(cross, own)| cross * own.0).sum();
                let high: i64 = cross.iter().zip(domain).map(|(cross, own)| cross * (own.1 - 1)).sum();
                // Coordinates grow with time.
                [steps.start, steps.end - 1].map(|step| {
                    let (least, most) = self.coordinates(statement, step, d);
                    ((least + low).div_euclid(size), (most + high).div_euclid(size))
                })
            });
            *own = ends.fold(NOWHERE, hull);
        }
        found
    }

    /// Walks through the coordinates of tiles in all dimensions but the last one that is cut; `points` are the intervals of
    /// points that lie in them, in the dimensions before.
    fn of_step(
        &self,
        (statement, step): (usize, i64),
        last: usize,
        (place, cut): (Place, usize),
        points: &mut Vec<Closed>,
        of: &mut Ends,
    ) {
        let d = points.len();
        let (low, end) = self.cores.code[statement].domain[d];
        let (mut least, mut most) = self.coordinates(statement, step, d);
        for (&cross, &(low, high)) in self.tiles.skews[d].cross.iter().zip(points.iter()) {
            (least, most) = (least + cross * low, most + cross * high);
        }
        let size = self.tiles.sizes[d];
        if d == last {
            let ends = (least.div_euclid(size), most.div_euclid(size));
            return of.add(place, ends);
        }
        let mut on = |place: (Place, usize), own: Closed| {
            points.push(own);
            self.of_step((statement, step), last, place, points, of);
            points.pop();
        };
        if size == 0 {
            return on((place, cut), (low, end - 1));
        }
        let moved = (least - low, most - (end - 1));
        for tile in least.div_euclid(size)..=most.div_euclid(size) {
            let mut place = place;
            place[cut] = tile;
            let own = ((tile * size - moved.1).max(low), ((tile + 1) * size - 1 - moved.0).min(end - 1));
            on((place, cut + 1), own);
        }
    }
}
