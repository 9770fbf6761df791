//! What the hexagon decides: how many runs of which kind the busiest thread executes, over all wavefronts.

use super::{CpuTime, MAX_VARIANTS};
use hhc_codegen::strategy::Hexagon;

/// Interior bands of time that are looked at one by one; the others are taken to be like them.
const SAMPLED_BANDS: i64 = 6;

/// Sums over the tiles of the busiest thread of each wavefront.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outer {
    /// Rows of hexagons with points.
    pub calls: f64,
    /// Runs per kind, for one piece of the inner dimensions.
    pub runs: [f64; MAX_VARIANTS],
    /// Blocks per kind, likewise; differs from `runs` in one dimension only.
    pub blocks: [f64; MAX_VARIANTS],
    /// Grid rows (points in one dimension) of all rows.
    pub points: f64,
    /// Bytes per inner point of the windows of all tiles, each level in and out.
    pub touched: f64,
    /// Bytes per inner point that all rows move if no cache keeps anything.
    pub swept: f64,
    /// Wavefronts.
    pub wavefronts: f64,
    /// Mean width of a full tile's rows, with what they read, in grid rows: what a sweep over one row touches.
    pub extent: f64,
}

impl Outer {
    fn add(&mut self, other: &Outer, weight: f64) {
        self.calls += weight * other.calls;
        for v in 0..MAX_VARIANTS {
            self.runs[v] += weight * other.runs[v];
            self.blocks[v] += weight * other.blocks[v];
        }
        self.points += weight * other.points;
        self.touched += weight * other.touched;
        self.swept += weight * other.swept;
        self.wavefronts += weight * other.wavefronts;
    }
}

/// First and last column of each row, for this flat top.
struct Rows {
    columns: Vec<(i64, i64)>,
    pitch: i64,
    shift: i64,
}

impl CpuTime {
    /// The hexagons of half height `st` and flat top `s0`.
    pub fn outer(&self, st: i64, s0: i64) -> Outer {
        let hexagon =
            Hexagon { half_height: st, flat_top: s0, lower: self.cone.lower[0], upper: self.cone.upper[0] };
        let rows = Rows {
            columns: (0..hexagon.rows()).map(|a| hexagon.row(a)).collect(),
            pitch: hexagon.pitch(),
            shift: hexagon.shift(),
        };
        let (statements, height) = (self.statements(), hexagon.rows());
        let last_row = self.steps * statements - 1;
        let bands = (last_row + st).div_euclid(height) + 1;
        let (below, above) = self.halo[0];
        let points: i64 = rows.columns.iter().map(|(first, last)| last - first + 1 + below + above).sum();
        let mut total = Outer { extent: points as f64 / height as f64, ..Outer::default() };
        for (band, weight) in sampled(bands) {
            for phase in 0..2 {
                if phase == 1 && last_row < band * height {
                    continue;
                }
                // Row a of the hexagon is logical row first + a.
                let first = band * height - if phase == 0 { st } else { 0 };
                let executed = ((-first).max(0), (last_row + 1 - first).min(height));
                total.add(&self.wavefront(&rows, band, phase, executed), weight);
            }
        }
        total
    }

    /// The busiest thread of one wavefront that executes the rows `executed.0 .. executed.1`.
    fn wavefront(&self, rows: &Rows, band: i64, phase: i64, executed: (i64, i64)) -> Outer {
        let drift = (-2 * rows.shift * band).rem_euclid(rows.pitch);
        let origin = -drift - if phase == 0 { rows.shift } else { 0 };
        let window = &rows.columns[executed.0 as usize..executed.1.max(executed.0) as usize];
        let left = window.iter().map(|columns| columns.0).min().unwrap_or(0);
        let right = window.iter().map(|columns| columns.1).max().unwrap_or(-1);
        let low = self.code.iter().map(|code| code.domain[0].0);
        let high = self.code.iter().map(|code| code.domain[0].1);
        let (outer_low, outer_high) = (low.clone().min().unwrap_or(0), high.clone().max().unwrap_or(0));
        let (inner_low, inner_high) = (low.max().unwrap_or(0), high.min().unwrap_or(0));
        // Blocks with a point of the grid, and among them those that lie inside altogether.
        let ceil_div = |a: i64| -(-a).div_euclid(rows.pitch);
        let first = ceil_div(outer_low - right - origin);
        let last = (outer_high - 1 - left - origin).div_euclid(rows.pitch);
        let first_full = ceil_div(inner_low - left - origin).clamp(first, last + 1);
        let last_full = (inner_high - 1 - right - origin).div_euclid(rows.pitch).clamp(first_full - 1, last);
        let tile = |block: i64| self.tile(rows, executed, block * rows.pitch + origin);
        let mut threads = Threads::new(self.threads as usize);
        for block in first..first_full {
            threads.assign(&tile(block), self);
        }
        if last_full >= first_full {
            threads.assign_many(&tile(first_full), last_full - first_full + 1, self);
        }
        for block in last_full + 1..=last {
            threads.assign(&tile(block), self);
        }
        Outer { wavefronts: 1.0, ..threads.busiest() }
    }

    /// The counts of one tile whose column 0 lies at `x0`.
    fn tile(&self, rows: &Rows, executed: (i64, i64), x0: i64) -> Outer {
        let mut sum = Outer::default();
        let (mut left, mut right) = (i64::MAX, i64::MIN);
        for a in executed.0..executed.1 {
            let code = &self.code[(a % self.statements()) as usize];
            let (first, last) = rows.columns[a as usize];
            let (low, high) = code.domain[0];
            let (low, high) = ((x0 + first).max(low), (x0 + last + 1).min(high));
            if low >= high {
                continue;
            }
            let width = high - low;
            sum.calls += 1.0;
            sum.points += width as f64;
            sum.swept += width as f64 * code.sweep_bytes;
            if self.dimension() == 1 {
                let (_, v) = code.variants[0];
                sum.runs[v] += 1.0;
                sum.blocks[v] += (width + code.block - 1) as f64 / code.block as f64;
            } else {
                let mut rest = width;
                for &(at_once, v) in &code.variants {
                    let runs = (rest / at_once) as f64;
                    rest %= at_once;
                    sum.runs[v] += runs;
                    sum.blocks[v] += runs;
                }
            }
            (left, right) = (left.min(low), right.max(high));
        }
        if left < right {
            let (below, above) = self.halo[0];
            sum.touched = (right - left + below + above) as f64 * self.touched_bytes;
        }
        sum
    }

    /// Relative duration of a tile: as if the inner dimensions were not cut. It only decides which thread is idle first.
    fn nominal(&self, tile: &Outer) -> f64 {
        let blocks = self.size[1..].iter().product::<i64>() as f64 / self.block() as f64;
        let kinds = self.body.runs.iter().enumerate();
        kinds.map(|(v, run)| tile.runs[v] * run.run_s + tile.blocks[v] * blocks.max(1.0) * run.block_s).sum()
    }
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

    fn assign(&mut self, tile: &Outer, model: &CpuTime) {
        let idle = (0..self.busy.len()).min_by(|&a, &b| self.busy[a].total_cmp(&self.busy[b])).unwrap_or(0);
        self.busy[idle] += model.nominal(tile);
        self.work[idle].add(tile, 1.0);
    }

    /// Equal tiles: while more than two per thread are left, every thread gets one in each round.
    fn assign_many(&mut self, tile: &Outer, number: i64, model: &CpuTime) {
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
