//! Lower bounds of what tiles spend on a GPU, from the monotone parts of the model: over boxes of sizes, over all numbers
//! of resident tiles, and over all machines with the same lanes.

use super::time::{GpuTime, Parts};
use crate::constants::{EnergyConstants, TimeConstants};
use hhc_codegen::counts::{CountBounds, TileCounts};

/// Bounds of `T_alg` over a box, for `k` resident tiles.
///
/// With `R = ceil(ceil(w/k)/n_SM)`: `T_prism` grows with the seconds of both parts, `R` with `w`. Because
/// `R * k * n_SM >= w`, also `N_w * R * T_prism >= N_w * w * q * max(compute, io) / n_SM`, and every iteration lies in
/// some tile, so that `N_w * w * q * rounds >= iterations / n_V`.
pub(super) fn seconds(time: &GpuTime, bounds: &CountBounds, k: i64) -> (f64, f64) {
    let TimeConstants { l_s_per_word, tau_sync_s, t_sync_s, c_iter_s, .. } = time.constants;
    let n_sm = time.n_sm as f64;
    let barriers = if bounds.barriers > 0.0 { tau_sync_s } else { 0.0 };
    let row_barriers = barriers * bounds.barriers;
    let (copies, q) = (k as f64, bounds.sub_tiles);
    let rounds = |w: f64| ((w / copies).ceil() / n_sm).ceil();
    let part = |rounds: f64, words: f64, times: f64| {
        let compute = c_iter_s * rounds + times * row_barriers;
        let io = l_s_per_word * words + times * 2.0 * barriers;
        (compute, io)
    };
    let prism = |one: (f64, f64), all: (f64, f64)| {
        if k == 1 { all.0 + all.1 } else { copies * all.0.max(all.1) + one.0.min(one.1) }
    };
    let least = prism(
        part(bounds.lane_rounds.0, bounds.words.0, 1.0),
        part(bounds.tile_rounds.0, bounds.tile_words.0, q.0),
    );
    let most = prism(
        part(bounds.lane_rounds.1, bounds.words.1, 1.0),
        part(bounds.tile_rounds.1, bounds.tile_words.1, q.1),
    );
    let w = bounds.tiles_per_wavefront;
    let spread = part(bounds.all_rounds, bounds.all_words, bounds.wavefronts * w.0 * q.0);
    let relaxed = if k == 1 { spread.0 + spread.1 } else { spread.0.max(spread.1) } / n_sm;
    let launches = bounds.wavefronts * t_sync_s;
    (
        launches + (bounds.wavefronts * rounds(w.0) * least).max(relaxed),
        launches + bounds.wavefronts * rounds(w.1) * most,
    )
}

/// Bounds of the energy that does not depend on time, over a box.
pub(super) fn joules(constants: &EnergyConstants, bounds: &CountBounds) -> (f64, f64) {
    let fixed = constants.e_iter_j * bounds.total_iterations + constants.e_launch_j * bounds.wavefronts;
    let side = |words: f64, fast: f64, barriers: f64| {
        fixed
            + constants.e_glob_j * words
            + constants.e_shared_j * fast * bounds.total_iterations
            + constants.e_sync_j * barriers
    };
    (
        side(bounds.total_words.0, bounds.fast_per_iteration.0, bounds.total_barriers.0),
        side(bounds.total_words.1, bounds.fast_per_iteration.1, bounds.total_barriers.1),
    )
}

/// `N_w * (T_sync + max(io, compute) * q * ceil(w / n_SM) + min(io, compute))`: no number of resident tiles takes less, because
/// `k` tiles in `R` rounds are whole numbers with `k * R * n_SM >= w`.
#[inline]
pub(super) fn seconds_with_any_k(time: &GpuTime, counts: &TileCounts) -> f64 {
    let parts = time.parts(counts, 1);
    let (io, compute) = (parts.io_s(), parts.compute_s());
    let work = io.max(compute) * parts.sub_tiles * parts.tile_rounds + io.min(compute);
    parts.wavefronts * (time.constants.t_sync_s + work)
}

/// What an iteration costs a multiprocessor that always computes or moves at full rate.
///
/// `N_w * w * q * (iterations of a full sub-tile) >= iterations`, so that whatever the grid, `k` and `n_SM` are,
///
/// ```text
/// T >= iterations * seconds / n_SM        E >= iterations * joules + P_static * T
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Density {
    /// `max(io, compute) / iterations`: seconds per iteration.
    pub seconds: f64,
    /// Joules per iteration of full tiles, those of launches and of time not counted.
    pub joules: f64,
}

impl Density {
    /// That of a tile with these parts ([`GpuTime::parts`], of one tile); of the time model only the constants matter, because
    /// lanes are in the counts.
    pub fn of(parts: &Parts, energy: &EnergyConstants, counts: &TileCounts) -> Density {
        let per = 1.0 / counts.iterations as f64;
        let words = (counts.words_in + counts.words_out) as f64;
        let joules = energy.e_glob_j * words
            + energy.e_shared_j * counts.fast_words as f64
            + energy.e_sync_j * counts.barriers as f64;
        Density { seconds: parts.io_s().max(parts.compute_s()) * per, joules: joules * per + energy.e_iter_j }
    }
}
