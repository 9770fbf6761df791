//! Closed forms of the hybrid hexagonal/classical strategy for one half height `st`; `s0`, `s1`, `s2` are free.
//!
//! With `R = 2*st` rows of width `w_a = base_a + s0 - 1`, a classical part of `c = s1*s2` points and `n_V` lanes:
//!
//! ```text
//! iterations  = c * sum of w_a                       lane rounds = sum of ceil(w_a * c / n_V)
//! w           = tiles of the fullest band            q           = product of sub-tiles per classical dimension
//! words       = lines(s0, s1) * s_innermost          M_tile      = sum over fields of planes * window * bytes
//! ```

mod bounds;

use super::hexagon::Hexagon;
use super::lines::Lines;
use super::shape::Shape;
use super::wavefront::Phase;
use crate::counts::accounting::{self, Accounting};
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::counts::rounds::Rounds;
use crate::counts::tile::TileCounts;
use crate::counts::work::TileWork;
use crate::geometry::{ADDRESS_REGISTERS, Threads, blocks_at_once, register_bound, registers_by_share};
use crate::plan::FullTiles;
use crate::window::aligned;
use std::collections::BTreeMap;

/// Registers for the values of the points computed at once.
const VALUE_REGISTERS: i64 = 8;
/// Registers for the bounds and places of a statement's rows.
const STATEMENT_REGISTERS: i64 = 8;
/// Registers for the places of rows that a thread walks in several passes.
const PASS_REGISTERS: i64 = 32;

/// The forms for one half height.
#[derive(Debug, Clone)]
pub struct Hexagonal {
    /// Half the height in logical rows.
    pub st: i64,
    /// The least flat top.
    pub least_flat_top: i64,
    dimension: usize,
    rows: i64,
    rounds: Rounds,
    lines: Lines,
    /// Cells of the window for sizes of one point, per dimension.
    extent: [i64; 3],
    least_width: i64,
    most_width: i64,
    /// `W`, `A` and `B` for `s0 = 0`, and what a unit of `s0` adds to `2*sh`, are in here.
    reach: (i64, i64),
    columns: (i64, i64),
    domain: (i64, i64),
    bands: (i64, i64),
    /// Per classical dimension: sub-tiles are `(span) / size - (low) / size + 1`.
    classical: [(i64, i64); 3],
    uncut: [Option<i64>; 3],
    fast_base: i64,
    fast_slope: i64,
    planes: Vec<(i64, i64)>,
    registers: Vec<i64>,
    statements: usize,
    on: Multiprocessor,
    word_bytes: i64,
    total_iterations: i64,
    accounting: Accounting,
    /// Rows of equal statements and widths (for `s0 = 1`), and their number.
    alike: Vec<(usize, i64, i64)>,
    /// In one dimension, of each statement: the widths of its rows (for `s0 = 1`), ascending, and how many are no wider.
    stacked: Vec<(usize, Vec<(i64, i64)>)>,
    /// In one dimension, whether no wider tile moves fewer words.
    lines_grow: bool,
    /// Launches whose tiles lie in time altogether, the others, and the part of a tile of theirs that does.
    launches: (f64, f64, f64),
    /// Per classical dimension: how far sub-tiles must be from the start of the grid to be full, and what is left of the grid.
    inside: [(i64, i64); 3],
}

impl Hexagonal {
    /// The forms for half height `st`, a positive multiple of the number of statements. `uncut`
    /// holds the points of classical dimensions that are not cut.
    pub fn new(problem: &Problem, st: i64, on: &Multiprocessor, uncut: [Option<i64>; 3]) -> Self {
        let program = &problem.program;
        let hexagon = Hexagon {
            half_height: st,
            flat_top: 1,
            lower: problem.cone.lower[0],
            upper: problem.cone.upper[0],
        };
        let shape = Shape::new(program, &problem.cone, st, uncut);
        let least_flat_top = hexagon.least_flat_top();
        let bases = shape.rows.iter().map(|row| row.width);
        let touched = |statement: usize| program.statements[statement].reads.len() as i64 + 1;
        let last_row = problem.steps * program.statements.len() as i64 - 1;
        let mut classical = [(0, 0); 3];
        for (d, entry) in classical.iter_mut().enumerate().take(problem.dimension()).skip(1) {
            let (least_low, least_high) = problem.least_margins(d);
            let cut = uncut[d].is_none();
            let deepest = if cut { (problem.cone.lower[d] * (2 * st - 1)).floor().to_integer() } else { 0 };
            *entry = (problem.extent(d) + deepest - 1 - least_high, least_low);
        }
        let (margin_low, margin_high) = problem.least_margins(0);
        let mut alike: BTreeMap<(usize, i64), i64> = BTreeMap::new();
        shape.rows.iter().for_each(|row| *alike.entry((row.statement, row.width)).or_default() += 1);
        let mut stacked: BTreeMap<usize, Vec<(i64, i64)>> = BTreeMap::new();
        if problem.dimension() == 1 {
            for (&(statement, width), &rows) in &alike {
                let widths = stacked.entry(statement).or_default();
                let narrower = widths.last().map_or(0, |(_, rows)| *rows);
                widths.push((width, narrower + rows));
            }
        }
        let cut: Vec<bool> = (0..problem.dimension()).map(|d| d == 0 || uncut[d].is_none()).collect();
        let full = FullTiles::new(program, &cut);
        let mut inside = [(0, 0); 3];
        for (d, entry) in inside.iter_mut().enumerate().take(problem.dimension()).skip(1) {
            let deepest = (problem.cone.lower[d] * (2 * st - 1)).floor().to_integer();
            *entry = (deepest + full.low[d], problem.extent(d) - full.high[d]);
        }
        let bands = ((last_row + st).div_euclid(2 * st) + 1, last_row.div_euclid(2 * st) + 1);
        let lines = Lines::new(program, &shape, least_flat_top);
        Hexagonal {
            st,
            least_flat_top,
            dimension: problem.dimension(),
            rows: hexagon.rows(),
            rounds: Rounds::new(bases.clone(), on.lanes),
            lines_grow: problem.dimension() == 1 && lines.grow(),
            lines,
            extent: shape.extent,
            least_width: bases.clone().min().unwrap_or(1),
            most_width: bases.clone().max().unwrap_or(1),
            reach: (hexagon.lower_reach(), hexagon.upper_reach()),
            columns: hexagon.extent(),
            domain: (margin_low, problem.extent(0) - 1 - margin_high),
            bands,
            classical,
            uncut,
            fast_base: shape.rows.iter().map(|row| row.width * touched(row.statement)).sum(),
            fast_slope: shape.rows.iter().map(|row| touched(row.statement)).sum(),
            planes: problem.planes().collect(),
            registers: registers_by_share(program),
            statements: program.statements.len(),
            on: *on,
            word_bytes: problem.element().bytes() as i64,
            total_iterations: problem.total_iterations(),
            accounting: Accounting::new(problem),
            alike: alike.into_iter().map(|((statement, width), rows)| (statement, width, rows)).collect(),
            stacked: stacked.into_iter().collect(),
            launches: launches(&Hexagon { flat_top: least_flat_top, ..hexagon }, bands, last_row),
            inside,
        }
    }

    /// Widths of rows for `s0 = 1`, and how many rows have each.
    pub fn row_widths(&self) -> Vec<(i64, i64)> {
        let mut widths: BTreeMap<i64, i64> = BTreeMap::new();
        self.alike.iter().for_each(|(_, width, rows)| *widths.entry(*width).or_default() += rows);
        widths.into_iter().collect()
    }

    /// The rows, dealt to so many lanes.
    pub fn rounds_of(&self, lanes: i64) -> Rounds {
        let bases = self.alike.iter().flat_map(|&(_, width, rows)| (0..rows).map(move |_| width));
        Rounds::new(bases, lanes)
    }

    /// The same on another multiprocessor.
    #[must_use]
    pub fn on(&self, on: &Multiprocessor) -> Hexagonal {
        Hexagonal { rounds: self.rounds_of(on.lanes), on: *on, ..self.clone() }
    }

    /// Registers of a thread that computes one point at a time, however many threads there are.
    pub fn registers_of_one_point(&self) -> i64 {
        self.registers[1].min(self.on.registers_per_thread)
    }

    /// The two phases for a flat top.
    pub fn phases(&self, s0: i64) -> [Phase; 2] {
        let (lower, upper) = self.reach;
        let (pitch, shift) = (2 * s0 + lower + upper, s0 + upper);
        let (leftmost, rightmost) = (self.columns.0, self.columns.1 + s0 - 1);
        let phase = |moved: i64, bands: i64| Phase {
            last: self.domain.1 + moved - leftmost,
            first: self.domain.0 + moved - rightmost,
            pitch,
            drift: 2 * shift,
            bands,
        };
        [phase(shift, self.bands.0), phase(0, self.bands.1)]
    }

    /// Sub-tiles along classical dimension `d`.
    #[inline]
    pub fn sub_tiles(&self, d: usize, size: i64) -> i64 {
        if d >= self.dimension || self.uncut[d].is_some() {
            return 1;
        }
        let (span, low) = self.classical[d];
        // Both are not negative: grids are larger than the margins.
        span / size - low / size + 1
    }

    /// `N_w`: launches.
    #[inline]
    pub fn wavefronts(&self) -> i64 {
        self.bands.0 + self.bands.1
    }

    /// `w`: tiles of the fullest wavefront.
    #[inline]
    pub fn tiles_per_wavefront(&self, s0: i64) -> i64 {
        let [first, second] = self.phases(s0);
        first.most_tiles().max(second.most_tiles())
    }

    /// The points of a classical dimension that a row of a sub-tile has.
    #[inline]
    fn points(&self, d: usize, size: i64) -> i64 {
        if d >= self.dimension { 1 } else { self.uncut[d].unwrap_or(size) }
    }

    /// `M_tile` in bytes: the window over all planes of all fields.
    #[inline]
    pub fn tile_bytes(&self, sizes: [i64; 3]) -> i64 {
        let cells = (0..self.dimension).fold(1_i64, |cells, d| {
            let points = if d == 0 { sizes[0] } else { self.points(d, sizes[d]) };
            cells.saturating_mul(self.extent[d] + points - 1)
        });
        self.planes.iter().fold(0, |sum, (planes, bytes)| {
            let bytes = cells.saturating_mul(planes * bytes);
            sum + aligned(bytes)
        })
    }

    /// Threads of a block, and registers of a thread.
    #[inline]
    pub fn threads(&self, sizes: [i64; 3]) -> (i64, i64) {
        let widest = self.most_width + sizes[0] - 1;
        let threads = self.threads_along(sizes);
        let count = threads.iter().product();
        let registers = self.needed_registers(widest, threads[0]);
        (count, registers.min(self.bound_of_registers(count, registers)))
    }

    /// Registers of a thread by its share of the widest row, before the compiler's bound.
    #[inline]
    fn needed_registers(&self, widest: i64, threads0: i64) -> i64 {
        let share = (widest / threads0).clamp(1, self.registers.len() as i64 - 1);
        self.registers[share as usize]
    }

    /// What the compiler may give a thread that needs so many registers.
    #[inline]
    fn bound_of_registers(&self, threads: i64, registers: i64) -> i64 {
        let operands = (registers - ADDRESS_REGISTERS).max(0) as usize;
        let blocks = blocks_at_once(self.dimension, threads, self.statements, operands);
        register_bound(threads * blocks, self.on.registers_per_sm, self.on.registers_per_thread)
    }

    /// Threads along each dimension.
    fn threads_along(&self, sizes: [i64; 3]) -> [i64; 3] {
        let widths = [self.most_width + sizes[0] - 1, sizes[1], sizes[2]];
        let narrowest = self.least_width + sizes[0] - 1;
        Threads::rule(&widths[..self.dimension], narrowest, self.on.threads_per_block)
    }

    /// What the threads of a block share, for `s0` and the classical sizes.
    fn block(&self, sizes: [i64; 3]) -> accounting::Shape {
        let across = [self.points(1, sizes[1]), self.points(2, sizes[2])];
        let planes: i64 = self.planes.iter().map(|(planes, _)| planes).sum();
        let extent0 = self.extent[0] + sizes[0] - 1;
        let middle = if self.dimension == 3 { self.extent[1] + across[0] - 1 } else { 1 };
        let kept = if self.dimension == 1 { 0 } else { self.extent[self.dimension - 1] - 1 };
        let lines = self.lines.at(sizes[0], if self.dimension == 3 { sizes[1] } else { 1 });
        let innermost = if self.dimension == 3 { across[1] } else { across[0] };
        let threads = self.threads_along(sizes);
        let widest = self.most_width + sizes[0] - 1;
        let needed = self.needed_registers(widest, threads[0]);
        let given = self.bound_of_registers(threads.iter().product(), needed);
        accounting::Shape {
            threads,
            across,
            widest,
            free: if self.dimension > 1 { (given - needed).max(0) } else { 0 },
            words: (lines.live_in * innermost, lines.live_out * innermost),
            window: (planes * extent0 * middle, planes * extent0 * middle * kept),
        }
    }

    /// What the tiles execute.
    pub fn work(&self, sizes: [i64; 3]) -> TileWork {
        let block = self.block(sizes);
        let rows = self.alike.iter().map(|&(statement, base, rows)| (statement, base + sizes[0] - 1, rows));
        let (mut all, mut full) = (1, 1);
        for (d, &size) in sizes.iter().enumerate().take(self.dimension).skip(1) {
            all *= self.sub_tiles(d, size);
            if self.uncut[d].is_none() {
                let (low, end) = self.inside[d];
                full *= (end.div_euclid(size) - (low + size - 1).div_euclid(size)).max(0);
            }
        }
        let full = full.min(all);
        let (registers, needed) = self.registers_given_and_needed(sizes);
        TileWork {
            full: match self.dimension {
                1 => self.accounting.full(&block, self.in_passes(sizes[0], block.threads[0]).into_iter()),
                _ => self.accounting.full(&block, rows),
            },
            clipped: self.accounting.clipped(&block, self.rows),
            full_sub_tiles: full as f64,
            clipped_sub_tiles: (all - full) as f64,
            full_launches: self.launches.0,
            clipped_launches: self.launches.1,
            part: self.launches.2,
            edges: true,
            registers,
            needed,
        }
    }

    /// Registers that the compiler may give a thread, and those that it needs at most.
    pub fn registers_given_and_needed(&self, sizes: [i64; 3]) -> (i64, i64) {
        let threads = self.threads_along(sizes);
        let needed = self.needed_registers(self.most_width + sizes[0] - 1, threads[0]);
        let passes = (1..self.dimension).any(|d| self.points(d, sizes[d]) > threads[d]);
        let of_passes = if passes { PASS_REGISTERS } else { 0 };
        (
            self.bound_of_registers(threads.iter().product(), needed),
            needed + VALUE_REGISTERS + STATEMENT_REGISTERS * self.statements as i64 + of_passes,
        )
    }

    /// In one dimension: rows of as many points of each of `threads` threads are alike, whatever their widths are.
    fn in_passes(&self, s0: i64, threads: i64) -> Vec<(usize, i64, i64)> {
        let mut all: Vec<(usize, i64, i64)> = Vec::new();
        for (statement, widths) in &self.stacked {
            let (mut at, mut before) = (0, 0);
            while let Some((width, _)) = widths.get(at) {
                let mine = (width + s0 - 1 + threads - 1) / threads;
                let last = mine * threads - s0 + 1;
                at = widths.partition_point(|(width, _)| *width <= last);
                let rows = widths[at - 1].1;
                all.push((*statement, mine * threads, rows - before));
                before = rows;
            }
        }
        all
    }

    /// The counts for `s0` (at least [`Hexagonal::least_flat_top`]) and the classical sizes; sizes of dimensions that
    /// do not exist are 1.
    #[inline]
    pub fn counts(&self, sizes: [i64; 3]) -> TileCounts {
        let s0 = sizes[0];
        let (c1, c2) = (self.points(1, sizes[1]), self.points(2, sizes[2]));
        let c = c1 * c2;
        let lines = self.lines.at(s0, if self.dimension == 3 { sizes[1] } else { 1 });
        let innermost = if self.dimension == 3 { c2 } else { c1 };
        let [first, second] = self.phases(s0);
        let most = (first.most_tiles(), second.most_tiles());
        let (threads, registers) = self.threads(sizes);
        TileCounts {
            wavefronts: self.wavefronts(),
            tiles_per_wavefront: most.0.max(most.1),
            tiles: first.all_tiles_of(most.0) + second.all_tiles_of(most.1),
            sub_tiles: self.sub_tiles(1, sizes[1]) * self.sub_tiles(2, sizes[2]),
            rows: self.rows,
            iterations: self.rounds.points(s0, c),
            copies: 0,
            lane_rounds: self.rounds.rounds(s0, c),
            words_in: lines.live_in * innermost,
            words_out: lines.live_out * innermost,
            fast_words: (self.fast_base + self.fast_slope * (s0 - 1)) * c,
            barriers: self.rows,
            tile_bytes: self.tile_bytes(sizes),
            threads,
            registers,
            word_bytes: self.word_bytes,
            total_iterations: self.total_iterations,
        }
    }
}

/// Launches of two phases whose tiles lie in time altogether, the others, and the mean part of a tile's points that does in
/// these. Wider tiles have no greater parts: their rows differ less.
fn launches(narrowest: &Hexagon, bands: (i64, i64), last_row: i64) -> (f64, f64, f64) {
    let rows = narrowest.rows();
    let width = |a: i64| {
        let (first, last) = narrowest.row(a);
        (last - first + 1) as f64
    };
    let all: f64 = (0..rows).map(width).sum();
    let (mut full, mut others, mut parts) = (0.0, 0.0, 0.0);
    for (phase, bands) in [(0, bands.0), (1, bands.1)] {
        let first_row = |band: i64| band * rows - if phase == 0 { narrowest.half_height } else { 0 };
        let part = |band: i64| {
            let first = first_row(band);
            let executed = (-first).max(0)..(last_row + 1 - first).clamp(0, rows);
            let points: f64 = executed.clone().map(width).sum();
            let even = (executed.end - executed.start).max(0) as f64 / rows as f64;
            (executed == (0..rows), (points / all).max(even))
        };
        let ends = if bands > 1 { vec![0, bands - 1] } else { vec![0; bands.max(0) as usize] };
        full += (bands - ends.len() as i64) as f64;
        for (whole, part) in ends.into_iter().map(part) {
            if whole {
                full += 1.0;
            } else {
                others += 1.0;
                parts += part;
            }
        }
    }
    (full, others, if others > 0.0 { parts / others } else { 0.0 })
}
