//! Tiles for a GPU: the exact integer optimum, with a certificate.

use crate::boxes::Boxes;
use crate::exhaustive::count_candidates;
use crate::family::Family;
use crate::infeasible::Infeasible;
use crate::request::Request;
use crate::search::search;
use crate::tuned::{Best, Certificate, Method, Tuned};
use std::time::Instant;

/// The best tile over all families of a request.
///
/// # Errors
/// [`Infeasible`] where no tile fits.
pub fn exact(request: &Request<'_>) -> Result<Tuned, Infeasible> {
    let start = Instant::now();
    let families = request.families();
    let mut tuned = exact_among(request, &families)?;
    tuned.elapsed_s = start.elapsed().as_secs_f64();
    Ok(tuned)
}

/// The best tile of these families.
///
/// # Errors
/// [`Infeasible`] where no tile fits.
pub fn exact_among(request: &Request<'_>, families: &[Family]) -> Result<Tuned, Infeasible> {
    let start = Instant::now();
    let found = search(&Boxes { request, families });
    let (value, own) = found.best.ok_or_else(|| Infeasible::diagnose(request))?;
    let best = Best { value, family: own.family, sizes: own.sizes(), k: own.k };
    let candidates = families.iter().map(|family| count_candidates(request, family)).sum::<u64>();
    let certificate = Certificate::proved(value, (found.evaluated, found.nodes), candidates);
    Ok(best.tuned(request, families, certificate, Method::Exact, start))
}
