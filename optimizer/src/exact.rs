//! Tiles for a GPU: the exact integer optimum, with a certificate.

use crate::boxes::{Boxes, Kept};
use crate::evidence::Evidence;
use crate::exhaustive::count_candidates;
use crate::family::Family;
use crate::infeasible::Infeasible;
use crate::request::Request;
use crate::search::search;
use crate::tuned::{Best, Certificate, Method, Tuned};
use std::cell::RefCell;
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
    among(request, families, None)
}

/// The best tile over all families of a request, with the evidence: all boxes that were left out, with their bounds, and all
/// tiles that were evaluated.
///
/// # Errors
/// [`Infeasible`] where no tile fits.
pub fn exact_with_evidence(request: &Request<'_>) -> Result<(Tuned, Evidence), Infeasible> {
    let families = request.families();
    let kept = RefCell::default();
    let tuned = among(request, &families, Some(&kept))?;
    let Kept { boxes, tiles } = kept.into_inner();
    Ok((tuned, Evidence { families, boxes, tiles }))
}

fn among(
    request: &Request<'_>,
    families: &[Family],
    kept: Option<&RefCell<Kept>>,
) -> Result<Tuned, Infeasible> {
    let start = Instant::now();
    let found = search(&Boxes { request, families, kept, within: None });
    let (value, own) = found.best.ok_or_else(|| Infeasible::diagnose(request))?;
    let best = Best { value, family: own.family, sizes: own.sizes(), k: own.k };
    let candidates = families.iter().map(|family| count_candidates(request, family)).sum::<u64>();
    let certificate = Certificate::proved(value, found.bound, (found.evaluated, found.nodes), candidates);
    Ok(best.tuned(request, families, certificate, Method::Exact, start))
}
