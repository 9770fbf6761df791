//! Execution time on a GPU (paper, eq. 6.2, with the forms of its reference 21).
//!
//! ```text
//! compute    = C_iter * lane rounds + rows * tau_sync
//! io         = L * (words_in + words_out) + 2 * tau_sync
//! T_prism(k) = io + compute + max(io, compute) * (k*q - 1)          k >= 2: transfers overlap computation
//! T_prism(1) = q * (io + compute)                                   one tile alone waits for its words
//! T_alg      = N_w * T_sync + N_w * T_prism(k) * ceil(ceil(w/k) / n_SM)
//! T_ideal    = iterations / (n_SM * n_V) * C_iter                   (eq. 6.3)
//! ```
//!
//! `T_prism(k)` is the time of the `k` tiles that are resident on a multiprocessor together.

use crate::constants::TimeConstants;
use crate::time::{Prediction, Terms};
use hhc_codegen::counts::TileCounts;

/// The model.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuTime {
    /// `n_SM`
    pub n_sm: i64,
    /// `n_V`
    pub n_v: i64,
    /// The constants.
    pub constants: TimeConstants,
}

/// Seconds of the parts of one sub-tile, and how often they run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts {
    /// `C_iter * lane rounds`
    pub iterate_s: f64,
    /// `rows * tau_sync`
    pub row_barriers_s: f64,
    /// `L * (words_in + words_out)`
    pub move_s: f64,
    /// `2 * tau_sync`
    pub move_barriers_s: f64,
    /// `N_w`
    pub wavefronts: f64,
    /// `ceil(ceil(w/k) / n_SM)`: rounds of `k` tiles on every multiprocessor.
    pub tile_rounds: f64,
    /// `k * q`
    pub sub_tiles: f64,
}

impl Parts {
    /// `compute` in seconds.
    #[inline]
    pub fn compute_s(&self) -> f64 {
        self.iterate_s + self.row_barriers_s
    }

    /// `io` in seconds.
    #[inline]
    pub fn io_s(&self) -> f64 {
        self.move_s + self.move_barriers_s
    }

    /// `T_prism(k)` in seconds.
    #[inline]
    pub fn prism_s(&self, k: i64) -> f64 {
        let (compute, io) = (self.compute_s(), self.io_s());
        if k == 1 {
            self.sub_tiles * (io + compute)
        } else {
            io + compute + io.max(compute) * (self.sub_tiles - 1.0)
        }
    }
}

impl GpuTime {
    /// `ceil(ceil(w/k) / n_SM)`: rounds of `k` tiles on every multiprocessor.
    #[inline]
    pub fn tile_rounds(&self, counts: &TileCounts, k: i64) -> i64 {
        let groups = (counts.tiles_per_wavefront + k - 1) / k;
        (groups + self.n_sm - 1) / self.n_sm
    }

    /// The parts of an execution.
    #[inline]
    pub fn parts(&self, counts: &TileCounts, k: i64) -> Parts {
        let constants = &self.constants;
        let barriers = if counts.barriers > 0 { constants.tau_sync_s } else { 0.0 };
        Parts {
            iterate_s: constants.c_iter_s * counts.lane_rounds as f64,
            row_barriers_s: barriers * counts.barriers as f64,
            move_s: constants.l_s_per_word * (counts.words_in + counts.words_out) as f64,
            move_barriers_s: 2.0 * barriers,
            wavefronts: counts.wavefronts as f64,
            tile_rounds: self.tile_rounds(counts, k) as f64,
            sub_tiles: (k * counts.sub_tiles) as f64,
        }
    }

    /// `T_alg` in seconds: what [`GpuTime::predict`] says, without where it goes.
    #[inline]
    pub fn seconds(&self, counts: &TileCounts, k: i64) -> f64 {
        let parts = self.parts(counts, k);
        parts.wavefronts * (self.constants.t_sync_s + parts.prism_s(k) * parts.tile_rounds)
    }

    /// How often computing and moving are waited for in a round: the longer one every time, the shorter one once if
    /// `k > 1`.
    pub(super) fn waits(parts: &Parts, k: i64) -> (f64, f64) {
        match k {
            1 => (parts.sub_tiles, parts.sub_tiles),
            _ if parts.compute_s() >= parts.io_s() => (parts.sub_tiles, 1.0),
            _ => (1.0, parts.sub_tiles),
        }
    }

    /// `T_alg` as a sum over the constants: the factors of `C_iter`, `L`, `tau_sync` and `T_sync`, as long as the longer one of
    /// computing and moving stays the longer one.
    pub fn factors(&self, counts: &TileCounts, k: i64) -> [f64; 4] {
        let parts = self.parts(counts, k);
        let rounds = parts.wavefronts * parts.tile_rounds;
        let (computes, moves) = GpuTime::waits(&parts, k);
        let barriers =
            if counts.barriers > 0 { computes * counts.barriers as f64 + 2.0 * moves } else { 0.0 };
        [
            rounds * computes * counts.lane_rounds as f64,
            rounds * moves * (counts.words_in + counts.words_out) as f64,
            rounds * barriers,
            parts.wavefronts,
        ]
    }

    /// The time of an execution with these counts, `k` tiles resident on a multiprocessor at a time.
    pub fn predict(&self, counts: &TileCounts, k: i64) -> Prediction {
        let parts = self.parts(counts, k);
        let rounds = parts.wavefronts * parts.tile_rounds;
        let (computes, moves) = GpuTime::waits(&parts, k);
        let terms = Terms {
            compute: rounds * computes * parts.iterate_s,
            transfer: rounds * moves * parts.move_s,
            barrier: rounds * (computes * parts.row_barriers_s + moves * parts.move_barriers_s),
            launch: parts.wavefronts * self.constants.t_sync_s,
        };
        let lanes = (self.n_sm * self.n_v) as f64;
        Prediction {
            seconds: terms.sum(),
            terms,
            ideal_s: counts.total_iterations as f64 / lanes * self.constants.c_iter_s,
        }
    }
}
