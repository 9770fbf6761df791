//! The paper's closed form (eqs. 6.3 to 6.5): for compute-bound tiles the overhead over an ideal machine is
//! `C_iter * S1 * T / (tS1 + tT/2)`, so that maximising `tS1 + tT/2 = s0 + st` minimises it, whatever `C_iter` is.
//!
//! Of equal faces the one with more iterations per word is taken, then the greater `k`. Nothing is proved.

use crate::family::{Family, last_true};
use crate::infeasible::Infeasible;
use crate::request::Request;
use crate::tuned::{Best, Certificate, Method, Tuned};
use cost_models::memory::fits;
use std::time::Instant;

/// What decides: face, iterations per word, `k`.
type Rank = (Option<i64>, f64, i64);

/// The tile that the rule picks. Strategies whose tiles have no such face take no part.
///
/// # Errors
/// [`Infeasible`] where no tile fits or none is compute bound.
pub fn closed_form(request: &Request<'_>) -> Result<Tuned, Infeasible> {
    let start = Instant::now();
    let families = request.families();
    let hardware = &request.model.hardware;
    let mut best: Option<(Rank, Best)> = None;
    let (mut evaluated, mut least_ratio, mut any) = (0, f64::INFINITY, false);
    let faced = |family: &Family| family.face(family.axes.map(|axis| axis.first)).is_some();
    for (index, family) in families.iter().enumerate().filter(|(_, family)| faced(family)) {
        let [axis0, axis1, axis2] = family.axes;
        for i2 in 0..axis2.count {
            for i1 in 0..axis1.count {
                let at = |i0: i64| [axis0.at(i0), axis1.at(i1), axis2.at(i2)];
                for k in 1..=hardware.blocks_per_sm {
                    let widest = last_true(axis0.count, |i0| family.fits_memory(at(i0), k, hardware));
                    if widest < 0 {
                        break;
                    }
                    let sizes = at(widest);
                    let counts = family.counts(0, sizes);
                    evaluated += 1;
                    if !fits(&counts, k, hardware) {
                        continue;
                    }
                    any = true;
                    let parts = request.model.time.parts(&counts, k);
                    least_ratio = least_ratio.min(parts.io_s() / parts.compute_s());
                    if parts.io_s() > parts.compute_s() {
                        continue;
                    }
                    let words = (counts.words_in + counts.words_out).max(1) as f64;
                    let rank = (family.face(sizes), counts.iterations as f64 / words, k);
                    if best.as_ref().is_none_or(|(known, _)| rank > *known) {
                        let value = request.value(family, sizes, k).unwrap_or(f64::INFINITY);
                        best = Some((rank, Best { value, family: index, sizes, k }));
                    }
                }
            }
        }
    }
    let Some((_, best)) = best else {
        let faces = |&strategy: &_| {
            request.smallest(strategy).is_some_and(|(family, sizes)| family.face(sizes).is_some())
        };
        if !request.strategies.iter().any(faces) {
            let strategies = request.strategies.iter().map(|strategy| strategy.id()).collect();
            return Err(Infeasible::NoFace { strategies });
        }
        return Err(if any {
            Infeasible::NeverComputeBound {
                stencil: request.problem.program.name.clone(),
                machine: hardware.name.clone(),
                least_ratio,
            }
        } else {
            Infeasible::diagnose(request)
        });
    };
    let certificate =
        Certificate { value: best.value, bound: None, evaluated, nodes: 0, pruned: 0, candidates: evaluated };
    Ok(best.tuned(request, &families, certificate, Method::ClosedForm, start))
}
