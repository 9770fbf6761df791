//! Lower bounds of the objective over a box of tile sizes and one `k`, from the monotone parts of the model.

use crate::family::Family;
use crate::request::{Objective, Request};
use cost_models::constants::{EnergyConstants, TimeConstants};
use hhc_codegen::counts::CountBounds;

/// Room for the rounding of floating-point sums, so that a bound never exceeds the value that it bounds.
const ROUNDING: f64 = 1.0 - 1e-12;

/// The bound. It is exact, but for rounding, where the box is one point.
pub fn lower_bound(request: &Request<'_>, family: &Family, low: [i64; 3], high: [i64; 3], k: i64) -> f64 {
    let (mut seconds, mut joules) = ((0.0, 0.0), (0.0, 0.0));
    let energy = request.energy.as_ref().filter(|_| request.objective.needs_energy());
    for class in 0..family.classes() {
        let bounds = family.bounds(class, low, high);
        let own = seconds_of(request, &bounds, k);
        seconds = (seconds.0 + own.0, seconds.1 + own.1);
        if let Some(constants) = energy {
            let own = joules_of(constants, &bounds);
            joules = (joules.0 + own.0, joules.1 + own.1);
        }
    }
    let value = match request.objective {
        // Watts fall with the time that the joules are spread over.
        Objective::Power => request.combine(seconds.1, joules.0),
        _ => request.combine(seconds.0, joules.0),
    };
    value * ROUNDING
}

/// Bounds of `T_alg`.
///
/// With `R = ceil(ceil(w/k)/n_SM)`: `T_prism` grows with the seconds of both parts, `R` with `w`. Because
/// `R * k * n_SM >= w`, also `N_w * R * T_prism >= N_w * w * q * max(compute, io) / n_SM`, and every iteration lies in
/// some tile, so that `N_w * w * q * rounds >= iterations / n_V`.
fn seconds_of(request: &Request<'_>, bounds: &CountBounds, k: i64) -> (f64, f64) {
    let TimeConstants { l_s_per_word, tau_sync_s, t_sync_s, c_iter_s, .. } = request.time.constants;
    let n_sm = request.hardware.n_sm as f64;
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

/// Bounds of the energy that does not depend on time.
fn joules_of(constants: &EnergyConstants, bounds: &CountBounds) -> (f64, f64) {
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
