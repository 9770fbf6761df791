//! The continuous relaxation along the flat top: what the ceilings of the model cost.
//!
//! With real `s0`, `w` and lane rounds and without ceilings the time of a tile is a smooth function of `s0`:
//!
//! ```text
//! N_w * (T_sync + T_prism(k) * max(1, w / (k * n_SM)))
//! ```
//!
//! whose minimum Brent's method finds (argmin). At every integer `s0` it is at most the model's time, so the distance
//! of the two at their minima is the price of whole points, whole rounds and whole wavefronts.

use crate::family::{Family, last_true};
use crate::request::Request;
use argmin::core::{CostFunction, Error, Executor, State};
use argmin::solver::brent::BrentOpt;
use cost_models::gpu::TimeModel;
use hhc_codegen::counts::TileCounts;
use serde::Serialize;

/// The relaxed optimum along the flat top.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Relaxed {
    /// The flat top in points.
    pub s0: f64,
    /// The time in seconds.
    pub seconds: f64,
}

struct Smooth<'a> {
    request: &'a Request<'a>,
    family: &'a Family,
    sizes: [i64; 3],
    k: i64,
}

impl Smooth<'_> {
    fn seconds(&self, s0: f64) -> f64 {
        let at = |s0: i64, class| self.family.counts(class, [s0, self.sizes[1], self.sizes[2]]);
        let (below, part) = (s0.floor() as i64, s0.fract());
        let seconds = |class: usize| {
            let (a, b) = (at(below, class), at(below + 1, class));
            let between =
                |value: fn(&TileCounts) -> i64| value(&a) as f64 + part * (value(&b) - value(&a)) as f64;
            let (hardware, time) = (&self.request.model.hardware, &self.request.model.time);
            // Without roundings: points over lanes, and the tiles that cover the iterations.
            let iterations = between(|counts| counts.iterations);
            let mut parts = time.parts(&a, self.k);
            parts.iterate_s = time.constants.c_iter_s * iterations / hardware.n_v as f64;
            parts.move_s = time.constants.l_s_per_word * between(|counts| counts.words_in + counts.words_out);
            let tiles = a.total_iterations as f64 / (iterations * a.sub_tiles as f64 * a.wavefronts as f64);
            let rounds = (tiles / (self.k * hardware.n_sm) as f64).max(1.0);
            parts.wavefronts * (time.constants.t_sync_s + rounds * parts.prism_s(self.k))
        };
        (0..self.family.classes()).map(seconds).sum()
    }
}

impl CostFunction for Smooth<'_> {
    type Param = f64;
    type Output = f64;

    fn cost(&self, s0: &f64) -> Result<f64, Error> {
        Ok(self.seconds(*s0))
    }
}

/// The relaxed optimum over all flat tops that fit `k` times, the other sizes staying; `None` where there is no room
/// for a search, and for a model that is not the paper's.
pub fn relaxed(request: &Request<'_>, family: &Family, sizes: [i64; 3], k: i64) -> Option<Relaxed> {
    if request.model.form() != TimeModel::Paper {
        return None;
    }
    let axis = family.axes[0];
    let fits =
        |index: i64| family.fits_memory([axis.at(index), sizes[1], sizes[2]], k, &request.model.hardware);
    let last = last_true(axis.count, fits);
    let (low, high) = (axis.first as f64, axis.at(last.max(0)) as f64);
    if high - low < 1.0 {
        return None;
    }
    let smooth = Smooth { request, family, sizes, k };
    let solver = BrentOpt::new(low, high).set_tolerance(1e-6, 1e-6);
    let result = Executor::new(smooth, solver).configure(|state| state.max_iters(100)).run().ok()?;
    let s0 = *result.state().get_best_param()?;
    Some(Relaxed { s0, seconds: result.state().get_best_cost() })
}
