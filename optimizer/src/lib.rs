//! Searches over cost models only: the best tile sizes of a program on a machine, with a certificate.
//!
//! ```text
//! Request --families--> Families of tiles of each strategy --exact | exhaustive | closed_form--> Tuned
//! ```
//!
//! Variables are the tile sizes of a strategy and the hyper-threading factor `k`; constraints are those of
//! `cost_models::memory` and of the back end. Source: Prajapati 2018, chapters 2.3, 4, 6. [`codesign`] makes unknowns of the hardware as well.

pub mod codesign;

mod boxes;
mod closed_form;
pub mod cpu;
mod exact;
mod exhaustive;
mod family;
mod infeasible;
mod objective;
mod relaxation;
mod request;
pub mod residence;
pub mod sample;
pub mod search;
mod super_tuning;
mod tuned;

pub use boxes::lower_bound;
pub use closed_form::closed_form;
pub use exact::{exact, exact_among};
pub use exhaustive::exhaustive;
pub use family::{Axis, Family};
pub use infeasible::Infeasible;
pub use objective::Objective;
pub use relaxation::{Relaxed, relaxed};
pub use request::Request;
pub use super_tuning::{Part, SubProblem, super_tune, super_tune_by_parts};
pub use tuned::{Certificate, Choice, Method, Tuned};

/// Searches with the given method.
///
/// # Errors
/// [`Infeasible`] names the constraint that no tile meets.
pub fn tune(request: &Request<'_>, method: Method) -> Result<Tuned, Infeasible> {
    if request.objective.needs_energy() && request.model.energy.is_none() {
        return Err(Infeasible::NoEnergy {
            machine: request.model.hardware.name.clone(),
            objective: request.objective.name(),
        });
    }
    match method {
        Method::Exact => exact(request),
        Method::Exhaustive => exhaustive(request),
        Method::ClosedForm => closed_form(request),
    }
}
