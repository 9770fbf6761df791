//! Closed forms of the hybrid hexagonal/classical strategy for one half height `st`; `s0`, `s1`, `s2` are free.
//!
//! With `R = 2*st` rows of width `w_a = base_a + s0 - 1`, a classical part of `c = s1*s2` points and `n_V` lanes:
//!
//! ```text
//! iterations  = c * sum of w_a                       lane rounds = sum of ceil(w_a * c / n_V)
//! w           = tiles of the fullest band            q           = product of sub-tiles per classical dimension
//! words       = lines(s0, s1) * s_innermost          M_tile      = sum over fields of planes * window * bytes
//! ```

use super::Problem;
use super::lines::Lines;
use super::rounds::Rounds;
use super::shape::Shape;
use super::wavefront::Phase;
use crate::counts::TileCounts;
use hhc_codegen::backend::cuda::{Threads, blocks_at_once, operand_registers, points_at_once};
use hhc_codegen::strategy::Hexagon;

/// Where tiles run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fast {
    /// Shared memory of thread blocks; the limit of threads per block.
    Shared {
        /// Threads that a block may have.
        threads_per_block: i64,
        /// Registers of a multiprocessor.
        registers_per_sm: i64,
        /// Registers that a thread may have.
        registers_per_thread: i64,
    },
    /// Caches of a core.
    Caches,
}

/// Registers for addresses and loop variables, beside those of the operands.
pub(super) const ADDRESS_REGISTERS: i64 = 32;

/// Arrays in shared memory begin at multiples of this many bytes.
const ALIGNMENT: i64 = 16;

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
    fast: Fast,
    word_bytes: i64,
    total_iterations: i64,
}

impl Hexagonal {
    /// The forms for half height `st`, a positive multiple of the number of statements. `lanes` is `n_V`; `uncut`
    /// holds the points of classical dimensions that are not cut.
    pub fn new(problem: &Problem, st: i64, lanes: i64, fast: Fast, uncut: [Option<i64>; 3]) -> Self {
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
            let deepest = shape.rows.last().map_or(0, |row| row.skew[d]);
            *entry = (problem.extent(d) + deepest - 1 - least_high, least_low);
        }
        let (margin_low, margin_high) = problem.least_margins(0);
        Hexagonal {
            st,
            least_flat_top,
            dimension: problem.dimension(),
            rows: hexagon.rows(),
            rounds: Rounds::new(bases.clone(), lanes),
            lines: Lines::new(program, &shape, least_flat_top),
            extent: shape.extent,
            least_width: bases.clone().min().unwrap_or(1),
            most_width: bases.clone().max().unwrap_or(1),
            reach: (hexagon.lower_reach(), hexagon.upper_reach()),
            columns: hexagon.extent(),
            domain: (margin_low, problem.extent(0) - 1 - margin_high),
            bands: ((last_row + st).div_euclid(2 * st) + 1, last_row.div_euclid(2 * st) + 1),
            classical,
            uncut,
            fast_base: shape.rows.iter().map(|row| row.width * touched(row.statement)).sum(),
            fast_slope: shape.rows.iter().map(|row| touched(row.statement)).sum(),
            planes: problem.planes().collect(),
            registers: registers(problem),
            fast,
            word_bytes: problem.element().bytes() as i64,
            total_iterations: problem.total_iterations(),
        }
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
        let aligned = matches!(self.fast, Fast::Shared { .. });
        self.planes.iter().fold(0, |sum, (planes, bytes)| {
            let bytes = cells.saturating_mul(planes * bytes);
            sum + if aligned { bytes.saturating_add(ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT } else { bytes }
        })
    }

    /// Threads of a block, and registers of a thread.
    #[inline]
    pub fn threads(&self, sizes: [i64; 3]) -> (i64, i64) {
        let Fast::Shared { threads_per_block, registers_per_sm, registers_per_thread } = self.fast else {
            return (1, 0);
        };
        let widest = self.most_width + sizes[0] - 1;
        let widths = [widest, sizes[1], sizes[2]];
        let threads =
            Threads::new(&widths[..self.dimension], self.least_width + sizes[0] - 1, threads_per_block);
        let count = threads.count();
        let share = (widest / threads.per_dimension[0]).clamp(1, self.registers.len() as i64 - 1);
        let bound = register_bound(count, registers_per_sm, registers_per_thread);
        (count, self.registers[share as usize].min(bound))
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
        let (threads, registers) = self.threads(sizes);
        TileCounts {
            wavefronts: self.wavefronts(),
            tiles_per_wavefront: first.most_tiles().max(second.most_tiles()),
            tiles: first.all_tiles() + second.all_tiles(),
            sub_tiles: self.sub_tiles(1, sizes[1]) * self.sub_tiles(2, sizes[2]),
            rows: self.rows,
            iterations: self.rounds.points(s0, c),
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

/// Registers that a thread needs by the number of points that are its share of a row: operands of the points that it
/// computes at once, and addresses.
pub(super) fn registers(problem: &Problem) -> Vec<i64> {
    let program = &problem.program;
    let of_statement = |statement: usize, share: i64| {
        operand_registers(program, statement, points_at_once(program, statement, share)) as i64
    };
    (0..=8)
        .map(|share| {
            let operands = (0..program.statements.len()).map(|k| of_statement(k, share.max(1))).max();
            operands.unwrap_or(0) + ADDRESS_REGISTERS
        })
        .collect()
}

/// Registers that the compiler may give a thread of blocks of this size, as the emitted launch bounds ask.
pub(super) fn register_bound(threads: i64, registers_per_sm: i64, registers_per_thread: i64) -> i64 {
    let share = registers_per_sm / (threads * blocks_at_once(threads)).max(1);
    (share / 8 * 8).clamp(16, registers_per_thread)
}
