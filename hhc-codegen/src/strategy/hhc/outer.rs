//! What the hexagon decides: how many runs of which kind the busiest thread executes, over all wavefronts.

use super::hexagon::Hexagon;
use super::waves::Waves;
use crate::counts::cores::{Cores, Kind, Outer, RowCode};

/// Interior bands of time that are looked at one by one; the others are taken to be like them.
const SAMPLED_BANDS: i64 = 6;

/// The blocks of a wavefront with points of the grid: `first ..= last`, and among them those that lie inside it.
struct Blocks {
    origin: i64,
    /// The first column of a block, and the last.
    ends: (i64, i64),
    first: i64,
    last: i64,
    first_full: i64,
    last_full: i64,
}

/// The hexagons of one half height: a flat top of one point more makes every row one point wider, the pitch two.
#[derive(Debug, Clone)]
pub struct Hexagons {
    half_height: i64,
    narrowest: Rows,
}

impl Hexagons {
    fn rows(&self, s0: i64) -> Rows {
        let more = s0 - 1;
        let Rows { columns, edges, ends, pitch, shift } = &self.narrowest;
        Rows {
            columns: columns.iter().map(|(first, last)| (*first, last + more)).collect(),
            edges: edges.clone(),
            ends: (ends.0, ends.1 + more),
            pitch: pitch + 2 * more,
            shift: shift + more,
        }
    }
}

/// First and last column of each row, for this flat top.
#[derive(Debug, Clone, PartialEq)]
struct Rows {
    columns: Vec<(i64, i64)>,
    /// The upper left edge at each row: pieces of a wavefront lie along it.
    edges: Vec<i64>,
    /// The first column of all rows, and the last.
    ends: (i64, i64),
    pitch: i64,
    shift: i64,
}

impl Rows {
    fn of(hexagon: &Hexagon) -> Self {
        let columns: Vec<_> = (0..hexagon.rows()).map(|a| hexagon.row(a)).collect();
        let edge = |a: i64| hexagon.upper_left(a.into()).constant().unwrap_or_default();
        Rows {
            edges: (0..hexagon.rows()).map(edge).collect(),
            ends: ends(&columns),
            columns,
            pitch: hexagon.pitch(),
            shift: hexagon.shift(),
        }
    }
}

/// Hexagons on cores.
#[derive(Debug, Clone, Copy)]
pub struct OnCores<'a> {
    /// What runs on them.
    pub cores: &'a Cores,
    /// How rows are swept together, if they are.
    pub waves: Option<Waves>,
}

impl<'a> OnCores<'a> {
    /// Tiles whose rows are whole, one after the other.
    pub fn new(cores: &'a Cores) -> Self {
        OnCores { cores, waves: None }
    }

    /// The hexagons of half height `st` and flat top `s0`.
    pub fn outer(&self, st: i64, s0: i64) -> Outer {
        self.outer_of(&self.hexagons(st), s0)
    }

    /// The same for hexagons that are known.
    pub fn outer_of(&self, hexagons: &Hexagons, s0: i64) -> Outer {
        let rows = hexagons.rows(s0);
        let mut total = Outer { extent: self.extent(&rows), ..Outer::default() };
        let inside = self.inside(&rows);
        self.for_each_wavefront(hexagons, |band, phase, executed, weight| {
            total.add(&self.wavefront(&rows, band, phase, executed, &inside), weight);
        });
        total
    }

    /// Counts below those of [`OnCores::outer`], for less: only tiles in which no domain begins or ends, in bands that are
    /// executed altogether, spread evenly over the threads.
    pub fn outer_below(&self, hexagons: &Hexagons, s0: i64) -> Outer {
        let rows = hexagons.rows(s0);
        let whole = (0, rows.columns.len() as i64);
        let mut total = Outer { extent: self.extent(&rows), ..Outer::default() };
        // Between two ends of domains all tiles are alike, in every band.
        let ends = self.domain_ends();
        let between: Vec<(i64, i64)> = ends.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let mut tiles: Vec<Option<Outer>> = vec![None; between.len()];
        self.for_each_wavefront(hexagons, |band, phase, executed, weight| {
            if executed == whole {
                let origin = origin(&rows, band, phase);
                for (&(low, high), tile) in between.iter().zip(&mut tiles) {
                    let (first, last) = blocks_within((low, high), rows.ends, origin, rows.pitch);
                    if first <= last {
                        let x0 = first * rows.pitch + origin;
                        let tile = tile.get_or_insert_with(|| self.tile(&rows, whole, x0));
                        total.add(tile, weight * (last - first + 1) as f64 / self.cores.threads as f64);
                    }
                }
                total.wavefronts += weight;
            }
        });
        total
    }

    /// Where domains begin or end, ascending.
    fn domain_ends(&self) -> Vec<i64> {
        let mut ends: Vec<i64> =
            self.cores.code.iter().flat_map(|code| [code.domain[0].0, code.domain[0].1]).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// Calls `visit` with the band, the phase, the rows that are executed and the weight of each wavefront.
    fn for_each_wavefront(&self, hexagons: &Hexagons, mut visit: impl FnMut(i64, i64, (i64, i64), f64)) {
        let (st, height) = (hexagons.half_height, hexagons.narrowest.columns.len() as i64);
        let last_row = self.cores.steps * self.cores.statements() - 1;
        let bands = (last_row + st).div_euclid(height) + 1;
        for (band, weight) in sampled(bands) {
            for phase in 0..2 {
                if phase == 1 && last_row < band * height {
                    continue;
                }
                // Row a of the hexagon is logical row first + a.
                let first = band * height - if phase == 0 { st } else { 0 };
                visit(band, phase, ((-first).max(0), (last_row + 1 - first).min(height)), weight);
            }
        }
    }

    /// The hexagons of half height `st`, of any flat top.
    pub fn hexagons(&self, st: i64) -> Hexagons {
        let hexagon = Hexagon {
            half_height: st,
            flat_top: 1,
            lower: self.cores.cone.lower[0],
            upper: self.cores.cone.upper[0],
        };
        Hexagons { half_height: st, narrowest: Rows::of(&hexagon) }
    }

    /// Mean width of a row with what it reads.
    fn extent(&self, rows: &Rows) -> f64 {
        let (below, above) = self.cores.halo[0];
        let points: i64 = rows.columns.iter().map(|(first, last)| last - first + 1 + below + above).sum();
        points as f64 / rows.columns.len() as f64
    }

    /// A tile of which nothing is cut off.
    fn inside(&self, rows: &Rows) -> Outer {
        self.tile_within(rows, (0, rows.columns.len() as i64), 0, |_| (i64::MIN / 2, i64::MAX / 2))
    }

    /// The blocks of a wavefront.
    fn blocks(&self, rows: &Rows, band: i64, phase: i64, executed: (i64, i64)) -> Blocks {
        let origin = origin(rows, band, phase);
        let (left, right) = if executed == (0, rows.columns.len() as i64) {
            rows.ends
        } else {
            ends(&rows.columns[executed.0 as usize..executed.1.max(executed.0) as usize])
        };
        let low = self.cores.code.iter().map(|code| code.domain[0].0);
        let high = self.cores.code.iter().map(|code| code.domain[0].1);
        let (outer_low, outer_high) = (low.clone().min().unwrap_or(0), high.clone().max().unwrap_or(0));
        let (inner_low, inner_high) = (low.max().unwrap_or(0), high.min().unwrap_or(0));
        // Blocks with a point of the grid, and among them those that lie inside altogether.
        let ceil_div = |a: i64| -(-a).div_euclid(rows.pitch);
        let first = ceil_div(outer_low - right - origin);
        let last = (outer_high - 1 - left - origin).div_euclid(rows.pitch);
        let (first_full, last_full) =
            blocks_within((inner_low, inner_high), (left, right), origin, rows.pitch);
        let first_full = first_full.clamp(first, last + 1);
        let last_full = last_full.clamp(first_full - 1, last);
        Blocks { origin, ends: (left, right), first, last, first_full, last_full }
    }

    /// The busiest thread of one wavefront that executes the rows `executed.0 .. executed.1`; `inside` is a tile of which
    /// nothing is cut off.
    fn wavefront(&self, rows: &Rows, band: i64, phase: i64, executed: (i64, i64), inside: &Outer) -> Outer {
        let blocks = self.blocks(rows, band, phase, executed);
        let Blocks { origin, first, last, first_full, last_full, .. } = blocks;
        let whole = executed == (0, rows.columns.len() as i64);
        let tile = |block: i64| self.tile(rows, executed, block * rows.pitch + origin);
        let mut threads = Threads::new(self.cores.threads as usize);
        if last_full < first_full {
            // A statement at one end of the grid alone leaves no block inside of all domains.
            for (block, alike) in self.alike(rows.pitch, &blocks) {
                threads.assign_many(&tile(block), alike, self);
            }
            return Outer { wavefronts: 1.0, ..threads.busiest() };
        }
        for block in first..first_full {
            threads.assign(&tile(block), self);
        }
        let full = if whole { *inside } else { tile(first_full) };
        threads.assign_many(&full, last_full - first_full + 1, self);
        for block in last_full + 1..=last {
            threads.assign(&tile(block), self);
        }
        Outer { wavefronts: 1.0, ..threads.busiest() }
    }

    /// The blocks of a wavefront in order, each with the number of those from it on that have the same counts: no statement's
    /// domain begins or ends inside of them.
    fn alike(&self, pitch: i64, blocks: &Blocks) -> Vec<(i64, i64)> {
        let Blocks { origin, ends: (left, right), first, last, .. } = *blocks;
        let ends = self.domain_ends();
        let mut all = Vec::new();
        let mut block = first;
        while block <= last {
            let x0 = block * pitch + origin;
            let next = ends.iter().find(|&&end| end > x0 + left);
            let until = match next {
                Some(&end) if end <= x0 + right => block,
                Some(&end) => (end - 1 - right - origin).div_euclid(pitch).min(last),
                None => last,
            };
            all.push((block, until - block + 1));
            block = until + 1;
        }
        all
    }

    /// The counts of one tile whose column 0 lies at `x0`.
    fn tile(&self, rows: &Rows, executed: (i64, i64), x0: i64) -> Outer {
        self.tile_within(rows, executed, x0, |code| code.domain[0])
    }

    fn tile_within(
        &self,
        rows: &Rows,
        executed: (i64, i64),
        x0: i64,
        domain: impl Fn(&RowCode) -> (i64, i64),
    ) -> Outer {
        let mut sum = Outer::default();
        let (mut left, mut right) = (i64::MAX, i64::MIN);
        for a in executed.0..executed.1 {
            let code = &self.cores.code[(a % self.cores.statements()) as usize];
            let (first, last) = rows.columns[a as usize];
            let (low, high) = domain(code);
            let (low, high) = ((x0 + first).max(low), (x0 + last + 1).min(high));
            if low >= high {
                continue;
            }
            match &self.waves {
                None => self.call(code, high - low, &mut sum),
                Some(waves) => waves
                    .pieces(x0 + rows.edges[a as usize], low, high)
                    .for_each(|width| self.call(code, width, &mut sum)),
            }
            (left, right) = (left.min(low), right.max(high));
        }
        if left < right {
            let (below, above) = self.cores.halo[0];
            sum.touched = (right - left + below + above) as f64 * self.cores.touched_bytes;
        }
        sum
    }

    /// Adds a call for so many columns.
    fn call(&self, code: &RowCode, width: i64, sum: &mut Outer) {
        sum.calls += 1.0;
        sum.points += width as f64;
        sum.swept += width as f64 * code.sweep_bytes;
        if self.cores.dimension() == 1 {
            let (_, v) = code.variants[0];
            sum.runs[v] += 1.0;
            sum.blocks[v] += (width + code.block - 1) as f64 / code.block as f64;
            return;
        }
        let mut rest = width as u32;
        for &(at_once, v) in &code.variants {
            let at_once = at_once as u32;
            // Nearly always a power of two; a search counts hundreds of millions of rows.
            let runs = if at_once.is_power_of_two() {
                let runs = rest >> at_once.trailing_zeros();
                rest &= at_once - 1;
                runs
            } else {
                let runs = rest / at_once;
                rest %= at_once;
                runs
            };
            let runs = f64::from(runs);
            sum.runs[v] += runs;
            sum.blocks[v] += runs;
        }
    }

    /// Relative duration of a tile: as if the inner dimensions were not cut. It only decides which thread is idle first.
    fn nominal(&self, tile: &Outer) -> f64 {
        let blocks = self.cores.size[1..].iter().product::<i64>() as f64 / self.cores.block() as f64;
        let kinds = self.cores.kinds.iter().enumerate();
        let of_kind = |(v, kind): (usize, &Kind)| {
            tile.runs[v] * kind.weights.0 + tile.blocks[v] * blocks.max(1.0) * kind.weights.1
        };
        kinds.map(of_kind).sum()
    }
}

/// Where block 0 of a wavefront begins.
fn origin(rows: &Rows, band: i64, phase: i64) -> i64 {
    let drift = (-2 * rows.shift * band).rem_euclid(rows.pitch);
    -drift - if phase == 0 { rows.shift } else { 0 }
}

/// First and last of the blocks whose columns, of which block `b` has `b*pitch + origin + ends`, all lie in `low .. high`.
fn blocks_within((low, high): (i64, i64), ends: (i64, i64), origin: i64, pitch: i64) -> (i64, i64) {
    let first = -(-(low - ends.0 - origin)).div_euclid(pitch);
    (first, (high - 1 - ends.1 - origin).div_euclid(pitch))
}

/// The first column of some rows, and the last.
fn ends(rows: &[(i64, i64)]) -> (i64, i64) {
    let left = rows.iter().map(|columns| columns.0).min().unwrap_or(0);
    (left, rows.iter().map(|columns| columns.1).max().unwrap_or(-1))
}

/// Bands and how many each stands for: all where there are few, else both ends and some between.
fn sampled(bands: i64) -> Vec<(i64, f64)> {
    if bands <= SAMPLED_BANDS + 4 {
        return (0..bands).map(|band| (band, 1.0)).collect();
    }
    let between = bands - 4;
    let mut chosen: Vec<(i64, f64)> = [0, 1, bands - 2, bands - 1].map(|band| (band, 1.0)).to_vec();
    let weight = between as f64 / SAMPLED_BANDS as f64;
    chosen.extend((0..SAMPLED_BANDS).map(|n| (2 + n * between / SAMPLED_BANDS, weight)));
    chosen
}

/// Threads that take tiles in order, each when it is idle.
struct Threads {
    busy: Vec<f64>,
    work: Vec<Outer>,
}

impl Threads {
    fn new(threads: usize) -> Self {
        Threads { busy: vec![0.0; threads.max(1)], work: vec![Outer::default(); threads.max(1)] }
    }

    fn assign(&mut self, tile: &Outer, model: &OnCores<'_>) {
        let idle = (0..self.busy.len()).min_by(|&a, &b| self.busy[a].total_cmp(&self.busy[b])).unwrap_or(0);
        self.busy[idle] += model.nominal(tile);
        self.work[idle].add(tile, 1.0);
    }

    /// Equal tiles: while more than two per thread are left, every thread gets one in each round.
    fn assign_many(&mut self, tile: &Outer, number: i64, model: &OnCores<'_>) {
        let threads = self.busy.len() as i64;
        let rounds = (number / threads - 2).max(0);
        let duration = model.nominal(tile);
        for (busy, work) in self.busy.iter_mut().zip(&mut self.work) {
            *busy += rounds as f64 * duration;
            work.add(tile, rounds as f64);
        }
        for _ in 0..number - rounds * threads {
            self.assign(tile, model);
        }
    }

    fn busiest(self) -> Outer {
        let place = (0..self.busy.len()).max_by(|&a, &b| self.busy[a].total_cmp(&self.busy[b])).unwrap_or(0);
        self.work[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::Ratio;
    use std::sync::Arc;

    #[test]
    fn wider_hexagons_are_narrow_ones_and_more() {
        for (st, lower, upper) in [(3, (1, 1), (1, 1)), (8, (1, 2), (3, 1)), (5, (0, 1), (2, 3))] {
            let ratio = |(a, b): (i64, i64)| Ratio::new(a, b);
            let hexagon =
                |flat_top| Hexagon { half_height: st, flat_top, lower: ratio(lower), upper: ratio(upper) };
            let narrow = hexagon(1);
            let hexagons = Hexagons { half_height: st, narrowest: Rows::of(&narrow) };
            for s0 in [1, 2, 7, 30] {
                let (wide, rows) = (hexagon(s0), hexagons.rows(s0));
                assert_eq!(rows, Rows::of(&wide));
            }
        }
    }

    /// Statements at the first and at the last point: no block lies inside of all domains, and still few are looked at.
    #[test]
    fn blocks_between_statements_at_the_ends_are_alike() {
        let text = "stencil ends(t, i) {
            field u: f64;
            u[t+1, i] = 0 for i == 0;
            u[t+1, i] = 0.25 * (u[t, i-1] + 2 * u[t, i] + u[t, i+1]) for 1 <= i < n0 - 1;
            u[t+1, i] = u[t+1, i-1] for i == n0 - 1;
        }";
        let program = polyhedral::parse("ends", text).unwrap();
        let cone = polyhedral::analysis::analyze(&Arc::new(program.clone())).unwrap().cone;
        let kinds = vec![Kind { rows: 1, weights: (1.0, 1.0) }];
        for (points, steps, st, s0) in [(5000, 40, 3, 1), (5000, 40, 10, 7), (300, 9, 40, 20), (7, 3, 2, 1)] {
            let cores = Cores::new(&program, &cone, (&[points], steps), 3, kinds.clone());
            let model = OnCores::new(&cores);
            let hexagons = model.hexagons(st);
            let (below, all) = (model.outer_below(&hexagons, s0), model.outer_of(&hexagons, s0));
            assert!(model.nominal(&below) <= model.nominal(&all), "{points} {st} {s0}");
            assert!(points < 5000 || model.nominal(&below) > 0.8 * model.nominal(&all), "{points} {st} {s0}");
            let rows = hexagons.rows(s0);
            let inside = model.inside(&rows);
            model.for_each_wavefront(&hexagons, |band, phase, executed, _| {
                let blocks = model.blocks(&rows, band, phase, executed);
                let mut one_by_one = Threads::new(3);
                for block in blocks.first..=blocks.last {
                    one_by_one
                        .assign(&model.tile(&rows, executed, block * rows.pitch + blocks.origin), &model);
                }
                let (one_by_one, counted) =
                    (one_by_one.busiest(), model.wavefront(&rows, band, phase, executed, &inside));
                assert_eq!(Outer { wavefronts: 1.0, ..one_by_one }, counted, "{points} {st} {s0}");
                assert!(model.alike(rows.pitch, &blocks).len() <= 9, "{points} {st} {s0}");
            });
        }
    }
}
