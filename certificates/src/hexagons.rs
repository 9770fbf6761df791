//! Hexagonal tiles: what is known of many of them at once, from the shape of the hexagon and from counts of single tiles.
//!
//! Of half height `st`, with slopes `dl` and `du`, row `a` (0 .. 2*st) of a hexagon with a flat top of one point lies between
//! the four lines of Grosser et al., CGO 2014; `s0` adds `s0 - 1` points to each row. With `c = s1*s2`:
//!
//! - lane rounds and windows grow with each size;
//! - tiles of one launch lie `W = 2*s0 + floor(dl*h) + floor(du*h)` apart, so that of `n` consecutive positions at least
//!   `floor(n/W)` and at most one more are theirs;
//! - `q` sub-tiles of size `s` cover all points: `q*s >= points`;
//! - words are `lines(s0, s1) * s2` (`lines(s0) * s1` in two dimensions), and lines are unions of boxes whose corners are
//!   constants or constants and a size: bilinear once a size exceeds all constants.

use crate::interval::Interval;
use crate::model::Model;
use crate::shapes::{Edges, LeastWork, OfBox, Programs, Shapes, fixed, last_of, pieces};
use cost_models::form::TimeModel;
use hhc_codegen::counts::{Family, Problem, TileForms, TileWork, Work};
use hhc_codegen::geometry::Threads;
use polyhedral::domain::{Bound, GridEnd};
use polyhedral::program::Rational;

pub(crate) struct Hexagons {
    dimension: usize,
    lanes: i64,
    threads_per_block: i64,
    wavefronts: i64,
    /// Rows that are executed: widths of the narrowest and the widest for a flat top of one point, and their sum.
    narrowest: i64,
    widest: i64,
    widths: i64,
    running: i64,
    /// Rows of the hexagon.
    rows: i64,
    /// `W` and the positions at which a tile touches the domain, for `s0 = 0`.
    pitch: i64,
    positions: i64,
    /// First and last point that the pieces of a classical dimension cover.
    classical: [(i64, i64); 3],
    lines: Lines,
    registers: Vec<i64>,
    /// What a point, and a row of one pass, execute at least.
    point: Work,
    row: f64,
    dependent: f64,
    copied: f64,
    launches: f64,
    total: i64,
    /// In one dimension: whether no wider tile moves fewer words, in or out.
    words_grow: bool,
    /// Instructions of a row at an edge, in addition, and cycles of one of them.
    at_edges: (f64, f64),
}

fn floor_div(a: i64, b: i64) -> i64 {
    a.div_euclid(b)
}

fn ceil_div(a: i64, b: i64) -> i64 {
    -(-a).div_euclid(b)
}

/// Columns of row `a` of a hexagon with a flat top of one point.
fn row(a: i64, h: i64, lower: Rational, upper: Rational) -> (i64, i64) {
    let (ln, ld) = (*lower.numer(), *lower.denom());
    let (un, ud) = (*upper.numer(), *upper.denom());
    let (reach_l, reach_u) = (floor_div(ln * h, ld), floor_div(un * h, ud));
    // dl*a + b >= h*dl - (den(dl)-1)/den(dl)              du*a - b <= (2h+1)*du - floor(du*h)
    let first =
        ceil_div(h * ln - (ld - 1) - a * ln, ld).max(ceil_div(a * un + reach_u * ud - (2 * h + 1) * un, ud));
    // dl*a + b <= (2h+1)*dl + floor(du*h)                 du*a - b >= h*du - floor(du*h) - floor(dl*h) - (den(du)-1)/den(du)
    let last = floor_div((2 * h + 1) * ln + reach_u * ld - a * ln, ld)
        .min(floor_div(a * un + (reach_u + reach_l) * ud + (ud - 1) - h * un, ud));
    (first, last)
}

impl Hexagons {
    pub fn new(
        problem: &Problem,
        model: &Model,
        family: &Family,
        programs: &Programs,
    ) -> Result<Hexagons, String> {
        let program = &problem.program;
        let dimension = problem.dimension();
        let st = fixed(family, "st").ok_or("a family of hexagons has no half height")?;
        let (lower, upper) = (problem.cone.lower[0], problem.cone.upper[0]);
        let (h, statements) = (st - 1, program.statements.len() as i64);
        let all: Vec<(i64, i64)> = (0..2 * st).map(|a| row(a, h, lower, upper)).collect();
        // Statements whose domains do not grow with the grid do not run in full tiles.
        let runs = |k: i64| program.statements[k as usize].is_interior();
        let none = (0..statements).all(|k| !runs(k));
        let widths: Vec<i64> = (all.iter().zip(0..))
            .filter(|(_, a)| none || runs(a % statements))
            .map(|((first, last), _)| last - first + 1)
            .collect();
        let leftmost = all.iter().map(|(first, _)| *first).min().unwrap_or(0);
        let rightmost = all.iter().map(|(_, last)| *last).max().unwrap_or(0);
        let reach = |slope: Rational| floor_div(*slope.numer() * h, *slope.denom());
        let margins = |d: usize| margins(problem, d);
        let (low0, high0) = margins(0);
        let domain = problem.extent(0) - high0 - low0;
        let mut classical = [(0, 0); 3];
        for (d, covered) in classical.iter_mut().enumerate().take(dimension).skip(1) {
            let (low, high) = margins(d);
            let slope = problem.cone.lower[d];
            let deepest = floor_div(*slope.numer() * (2 * st - 1), *slope.denom());
            *covered = (low, problem.extent(d) - high - 1 + deepest);
        }
        let least = family.axes.map(|axis| axis.first);
        let counts = family.forms.counts(0, least);
        let terms = problem.terms;
        let work = match model.form {
            TimeModel::Counted => family.forms.work(0, least),
            TimeModel::Paper => TileWork::default(),
        };
        let own = Hexagons {
            dimension,
            lanes: model.limits.n_v,
            threads_per_block: model.limits.threads_per_block,
            wavefronts: counts.wavefronts,
            narrowest: widths.iter().copied().min().unwrap_or(1),
            widest: widths.iter().copied().max().unwrap_or(1),
            widths: widths.iter().sum(),
            running: widths.len() as i64,
            rows: 2 * st,
            pitch: reach(lower) + reach(upper),
            positions: domain + (rightmost - leftmost),
            classical,
            lines: Lines::new(problem, family, (rightmost - leftmost + 1, st)),
            registers: programs.registers.clone(),
            point: programs.point,
            row: terms.row + terms.pass,
            dependent: terms.dependent,
            copied: terms.stored.min(terms.loaded[dimension - 1]),
            launches: work.full_launches + work.clipped_launches * work.part,
            total: counts.total_iterations,
            words_grow: false,
            at_edges: (terms.clipped_row + terms.clipped_pass, terms.copying),
        };
        let words_grow = dimension == 1 && own.lines.grow(&*family.forms);
        let own = Hexagons { words_grow, ..own };
        let points = own.points(least[0]) * least[1] * least[2];
        if points != counts.iterations || own.rows != counts.barriers {
            return Err(format!(
                "a hexagon of half height {st} has {points} points in {} rows, and is counted as {} in {}",
                own.rows, counts.iterations, counts.barriers
            ));
        }
        Ok(own)
    }

    /// Points of a cross-section: the sum of the widths.
    fn points(&self, s0: i64) -> i64 {
        self.widths + self.running * (s0 - 1)
    }

    /// Tiles of a launch, at least and at most: `floor(positions / W)`, or one more. The quotient of two linear functions is
    /// monotone.
    fn tiles(&self, low: i64, high: i64) -> (i64, i64) {
        let each = |s0: i64| (self.positions + s0 - 2) / (self.pitch + 2 * s0);
        (each(low).min(each(high)).max(0), each(low).max(each(high)) + 1)
    }

    /// In one dimension a sub-tile is a tile. A flat top of one point more makes each row longer by a point, and with as many
    /// threads gives no thread fewer of them, nor fewer words to move: everything that is executed grows. So the narrowest tile
    /// of each number of threads counts.
    fn least_of_a_row(&self, forms: &dyn TileForms, low: i64, high: i64) -> Work {
        let (mut least, mut s0) = (None, low);
        while s0 <= high {
            let full = forms.work(0, [s0, 1, 1]).full;
            least = Some(least.map_or(full, |known: Work| known.least(&full)));
            let last = Threads::last_as_many(self.widest + s0 - 1, self.threads_per_block);
            s0 = last.saturating_sub(self.widest).saturating_add(2);
        }
        least.unwrap_or_default()
    }

    /// Of tiles with as many threads, in one dimension: each row of one at an edge is looked at, whether it exists and where it ends.
    fn edges_of_a_row(&self, forms: &dyn TileForms, low: i64, high: i64) -> Option<Edges> {
        let last = Threads::last_as_many(self.widest + low - 1, self.threads_per_block);
        (self.widest + high - 1 <= last).then(|| {
            let widest = forms.work(0, [high, 1, 1]);
            let threads = forms.threads([low, 1, 1]);
            let warps = ceil_div(threads, 32) as f64;
            let (looked_at, copying) = self.at_edges;
            let own = self.rows as f64 * looked_at;
            Edges {
                threads,
                most: widest.full,
                clipped: Work { issued: warps * own, chain: copying * own, ..Work::default() },
                launches: (widest.full_launches, widest.clipped_launches, widest.part),
            }
        })
    }

    fn cut(&self, d: usize) -> bool {
        d > 0 && d < self.dimension
    }

    /// Points that pieces of dimension `d` cover at least, and at most for pieces of a size.
    fn covered(&self, d: usize, size: i64) -> (i64, i64) {
        let (first, last) = self.classical[d];
        if self.cut(d) { (last - first + 1, last + size) } else { (1, 1) }
    }
}

/// How far all domains keep from the ends of the grid.
fn margins(problem: &Problem, d: usize) -> (i64, i64) {
    let program = &problem.program;
    let least = program.least_size[d];
    let from = |bound: Bound, end: GridEnd| match (bound.from == end, end) {
        (true, GridEnd::Start) => bound.offset,
        (true, GridEnd::End) => -bound.offset,
        (false, GridEnd::Start) => (least + bound.offset).max(0),
        (false, GridEnd::End) => (least - bound.offset).max(0),
    };
    let domains = || program.statements.iter().map(|statement| statement.domain[d]);
    (
        domains().map(|domain| from(domain.low, GridEnd::Start)).min().unwrap_or(0),
        domains().map(|domain| from(domain.high, GridEnd::End)).min().unwrap_or(0),
    )
}

impl Shapes for Hexagons {
    fn kernels(&self) -> usize {
        1
    }

    fn of_box(&self, forms: &dyn TileForms, _: usize, low: [i64; 3], high: [i64; 3]) -> OfBox {
        let w = if low[0] == high[0] {
            let w = forms.counts(0, low).tiles_per_wavefront;
            (w, w)
        } else {
            let (least, most) = self.tiles(low[0], high[0]);
            (least.max(1), most)
        };
        let all_tiles = {
            let (least, most) = self.tiles(low[0], high[0]);
            let exactly = (low[0] == high[0]).then(|| forms.counts(0, low).tiles);
            let bands = self.wavefronts;
            exactly.map_or(Interval::between(least * bands, most * bands), Interval::of)
        };
        let mut q = (1, 1);
        let (mut covered, mut covers) = (Interval::ONE, Interval::ONE);
        for d in 1..self.dimension {
            let along = pieces(self.classical[d], low[d], high[d]);
            q = (q.0 * along.0, q.1 * along.1);
            let (least, most) = self.covered(d, high[d]);
            (covered, covers) = (covered * Interval::of(least), covers * Interval::of(most));
        }
        let (q, lanes) = (Interval::between(q.0, q.1), Interval::of(self.lanes));
        let rounds = Interval::between(forms.counts(0, low).lane_rounds, forms.counts(0, high).lane_rounds);
        let points = |s0: i64| Interval::of(self.points(s0));
        let each = q * rounds;
        // Of all points that a tile covers, whole rounds in each row of each sub-tile.
        let tile_rounds = Interval {
            low: each.low.max((points(low[0]) * covered / lanes).low.floor()),
            high: each.high.min((points(high[0]) * covers / lanes + q * Interval::of(self.running)).high),
        };
        let last = self.dimension - 1;
        let innermost = if last == 0 { (1, 1) } else { (low[last], high[last]) };
        let middle = |s: [i64; 3]| if self.dimension == 3 { s[1] } else { 1 };
        let (from, to) = ((low[0], middle(low)), (high[0], middle(high)));
        let (lines, per_middle, per_point) = self.lines.between(from, to, |s0| self.points(s0));
        let words = lines * Interval::between(innermost.0, innermost.1);
        let each = q * words;
        let tile_words = Interval {
            low: each.low.max((per_middle * covered).low),
            high: each.high.min((per_middle * covers).high),
        };
        let total = Interval::of(self.total);
        let all_words = Interval { high: f64::INFINITY, ..total * per_point };
        let rows = Interval::of(self.rows);
        let fast = [low, high].map(|sizes| {
            let counts = forms.counts(0, sizes);
            Interval::of(counts.fast_words) / Interval::of(counts.iterations)
        });
        OfBox {
            wavefronts: self.wavefronts,
            w,
            q,
            rounds,
            tile_rounds,
            words,
            tile_words,
            barriers: self.rows,
            all_rounds: total / lanes,
            all_words,
            total_words: (all_tiles * tile_words).max(all_words),
            total_barriers: all_tiles * q * rows,
            // A quotient of linear functions of s0, again.
            fast: fast[0].min(fast[1]),
            total,
        }
    }

    fn least_work(
        &self,
        forms: &dyn TileForms,
        _: usize,
        of_box: &OfBox,
        low: [i64; 3],
        high: [i64; 3],
    ) -> LeastWork {
        if self.words_grow {
            return LeastWork {
                edges: self.edges_of_a_row(forms, low[0], high[0]),
                tile: self.least_of_a_row(forms, low[0], high[0]),
                all: Work { ahead: of_box.all_words.low, ..self.point.times(of_box.total.low) },
                launches: self.launches,
            };
        }
        // Lanes without a point, where the classical sizes are known: threads along them do not depend on s0.
        let (mut idle, mut warps) = (1.0, 1.0);
        if self.dimension > 1 && low[1..] == high[1..] {
            let widths = [self.widest + low[0] - 1, low[1], low[2]];
            let narrowest = self.narrowest + low[0] - 1;
            let threads = Threads::rule(&widths[..self.dimension], narrowest, self.threads_per_block);
            let lanes = threads[1] * threads[2];
            let passes = |d: usize| ceil_div(low[d], threads[d]);
            idle = (passes(1) * passes(2) * lanes) as f64 / (low[1] * low[2]) as f64;
            warps = ceil_div(lanes, 32) as f64;
        }
        let points = self.points(low[0]) as f64;
        let (q, across) = (of_box.q.low, (low[1] * low[2]) as f64);
        let covered: f64 = (1..self.dimension).map(|d| self.covered(d, 1).0 as f64).product();
        let serial = self.running as f64 * self.row;
        let own_rows = Work {
            issued: warps * serial,
            chain: self.dependent * serial,
            waits: self.running as f64,
            barriers: self.running as f64 + 2.0,
            ..Work::default()
        };
        let words = of_box.tile_words.low;
        let moved = Work { ahead: words, issued: self.copied * words / 32.0, ..Work::default() };
        let tile = self.point.times((q * points * across).max(points * covered) * idle);
        LeastWork {
            tile: tile.and(&own_rows.times(q)).and(&moved),
            all: Work { ahead: of_box.all_words.low, ..self.point.times(of_box.total.low * idle) },
            launches: self.launches,
            edges: None,
        }
    }

    fn threads(&self, low: i64, high: i64, others: [i64; 2]) -> (i64, i64, i64) {
        let rule = |s0: i64| {
            let widths = [self.widest + s0 - 1, others[0], others[1]];
            Threads::rule(&widths[..self.dimension], self.narrowest + s0 - 1, self.threads_per_block)
        };
        let (of_low, of_high) = (rule(low), rule(high));
        // In one dimension rows go in equal passes of at least half of the 256 threads that are preferred.
        let one = self.dimension == 1 && low < high;
        let fewest: i64 = of_low.iter().product::<i64>().min(if one { 128 } else { i64::MAX });
        let most: i64 = of_high.iter().product::<i64>().max(if one { 256 } else { 0 });
        // The fewer threads along dimension 0, the more points each of them has of a row.
        let along = of_high[0].max(if one { 256 } else { 1 });
        let share = ((self.widest + low - 1) / along).clamp(1, 8) as usize;
        let registers = self.registers[share..].iter().copied().min().unwrap_or(0);
        (fewest, most, registers)
    }
}

/// Words of a line of the innermost dimension: `lines(s0, s1)`, by a table of small sizes.
struct Lines {
    first: i64,
    /// Values by `s0 - first` and `s1 - 1`.
    table: Vec<Vec<i64>>,
    /// Indices from which on they are linear.
    linear: (usize, usize),
}

impl Lines {
    /// `extent` is that of a hexagon with a flat top of one point; with the reach of the reads it exceeds the distance of any
    /// two corners.
    fn new(problem: &Problem, family: &Family, (extent, st): (i64, i64)) -> Lines {
        let program = &problem.program;
        let spread = |d: usize| {
            let offsets = || {
                program.statements.iter().flat_map(|statement| &statement.reads).map(|read| read.offset[d])
            };
            offsets().max().unwrap_or(0).max(0) - offsets().min().unwrap_or(0).min(0)
        };
        let three = problem.dimension() == 3;
        let skew = |d: usize| {
            let slope = problem.cone.lower[d];
            floor_div(*slope.numer() * (2 * st - 1), *slope.denom())
        };
        let [axis0, axis1, _] = &family.axes;
        // Two more: that it is linear there is seen in the table.
        let long = |reach: i64, axis| (reach + 4).min(last_of(axis) - axis.first + 1).max(1);
        let n0 = long(extent + spread(0), axis0);
        let n1 = if three { long(skew(1) + 1 + spread(1), axis1) } else { 1 };
        let last = problem.dimension() - 1;
        let value = |s0: i64, s1: i64| {
            let mut sizes = family.axes.map(|axis| axis.first);
            sizes[0] = s0;
            if three {
                sizes[1] = s1;
            }
            let counts = family.forms.counts(0, sizes);
            let innermost = if last == 0 { 1 } else { sizes[last] };
            (counts.words_in + counts.words_out) / innermost
        };
        let first = axis0.first;
        let table: Vec<Vec<i64>> =
            (0..n0).map(|i| (0..n1).map(|j| value(first + i, 1 + j)).collect()).collect();
        let (n0, n1) = (n0 as usize, n1 as usize);
        let bends0 = |i: usize| (0..n1).any(|j| table[i][j] + table[i + 2][j] != 2 * table[i + 1][j]);
        let bends1 = |j: usize| (0..n0).any(|i| table[i][j] + table[i][j + 2] != 2 * table[i][j + 1]);
        let from = |length: usize, bends: &dyn Fn(usize) -> bool| {
            let bend = (0..length.saturating_sub(2)).rev().find(|&index| bends(index));
            bend.map_or(0, |index| index + 1).min(length - 1)
        };
        let linear = (from(n0, &bends0), from(n1, &bends1));
        Lines { first, table, linear }
    }

    /// In one dimension, whether words in and words out grow, each for itself: their table ends where both are linear.
    fn grow(&self, forms: &dyn TileForms) -> bool {
        let counts = (self.first..).take(self.table.len()).map(|s0| forms.counts(0, [s0, 1, 1]));
        let words: Vec<(i64, i64)> = counts.map(|counts| (counts.words_in, counts.words_out)).collect();
        words.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1)
    }

    fn at(&self, s0: i64, s1: i64) -> i64 {
        let along1 = |i: usize| {
            let (row, j) = (&self.table[i], s1 - 1);
            let last = row.len() as i64 - 1;
            let beyond = (j - last).max(0);
            let value = row[j.min(last) as usize];
            if beyond == 0 || last == 0 { value } else { value + beyond * (value - row[last as usize - 1]) }
        };
        let (i, last) = (s0 - self.first, self.table.len() as i64 - 1);
        let beyond = (i - last).max(0);
        let value = along1(i.min(last) as usize);
        if beyond == 0 || last == 0 { value } else { value + beyond * (value - along1(last as usize - 1)) }
    }

    /// Lines, lines by `s1`, and lines by `s1` and `points(s0)`, least and greatest over a box: the extremes of quotients of
    /// linear functions lie at the ends of where they are linear.
    fn between(
        &self,
        low: (i64, i64),
        high: (i64, i64),
        points: impl Fn(i64) -> i64,
    ) -> (Interval, Interval, Interval) {
        let ends = |low: i64, high: i64, linear: i64| {
            (low..=high.min(linear))
                .chain([low.max(linear), high])
                .filter(move |size| (low..=high).contains(size))
        };
        let ends0 = || ends(low.0, high.0, self.first + self.linear.0 as i64);
        let ends1 = || ends(low.1, high.1, 1 + self.linear.1 as i64);
        let none = Interval { low: f64::INFINITY, high: 0.0 };
        let (mut lines, mut per_middle, mut per_point) = (none, none, none);
        let hull = |all: &mut Interval, one: Interval| {
            *all = Interval { low: all.low.min(one.low), high: all.high.max(one.high) };
        };
        for s0 in ends0() {
            let points = Interval::of(points(s0));
            for s1 in ends1() {
                let own = Interval::of(self.at(s0, s1));
                let by_middle = own / Interval::of(s1);
                hull(&mut lines, own);
                hull(&mut per_middle, by_middle);
                hull(&mut per_point, by_middle / points);
            }
        }
        (lines, per_middle, per_point)
    }
}
