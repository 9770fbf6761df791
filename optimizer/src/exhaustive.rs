//! Every candidate, and how many there are.

use crate::family::{Family, last_true};
use crate::infeasible::Infeasible;
use crate::request::Request;
use crate::tuned::{Best, Certificate, Method, Tuned};
use std::time::Instant;

/// Evaluates every candidate.
///
/// # Errors
/// [`Infeasible`] where none fits.
pub fn exhaustive(request: &Request<'_>) -> Result<Tuned, Infeasible> {
    let start = Instant::now();
    let families = request.families();
    let mut best: Option<Best> = None;
    let mut evaluated = 0;
    for (index, family) in families.iter().enumerate() {
        for_each_candidate(request, family, |sizes, most_k| {
            for k in 1..=most_k {
                evaluated += 1;
                let value = request.value(family, sizes, k);
                if let Some(value) = value.filter(|value| best.is_none_or(|best| *value < best.value)) {
                    best = Some(Best { value, family: index, sizes, k });
                }
            }
        });
    }
    let best = best.ok_or_else(|| Infeasible::diagnose(request))?;
    let certificate = Certificate::proved(best.value, best.value, (evaluated, 0), evaluated);
    Ok(best.tuned(request, &families, certificate, Method::Exhaustive, start))
}

/// Visits all sizes of a family whose shared memory fits, with the greatest `k` for which it does.
pub(crate) fn for_each_candidate(
    request: &Request<'_>,
    family: &Family,
    mut visit: impl FnMut([i64; 3], i64),
) {
    let hardware = &request.model.hardware;
    let [axis0, axis1, axis2] = family.axes;
    for i2 in 0..axis2.count {
        for i1 in 0..axis1.count {
            for i0 in 0..axis0.count {
                let sizes = [axis0.at(i0), axis1.at(i1), axis2.at(i2)];
                if !family.fits_memory(sizes, 1, hardware) {
                    break;
                }
                let most_k =
                    last_true(hardware.blocks_per_sm, |k| family.fits_memory(sizes, k + 1, hardware)) + 1;
                visit(sizes, most_k);
            }
        }
    }
}

/// The number of candidates of a family, without visiting each.
pub(crate) fn count_candidates(request: &Request<'_>, family: &Family) -> u64 {
    let hardware = &request.model.hardware;
    let [axis0, axis1, axis2] = family.axes;
    let mut candidates = 0;
    for i2 in 0..axis2.count {
        for i1 in 0..axis1.count {
            let at = |i0: i64| [axis0.at(i0), axis1.at(i1), axis2.at(i2)];
            let mut known = axis0.count;
            for k in 1..=hardware.blocks_per_sm {
                known = last_true(known, |i0| family.fits_memory(at(i0), k, hardware)) + 1;
                if known == 0 {
                    break;
                }
                candidates += known as u64;
            }
        }
    }
    candidates
}
