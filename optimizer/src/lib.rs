//! Searches over cost models only: the best tile sizes of a program on a machine, with a certificate.
//!
//! ```text
//! strategies, machine --> Space of tiles --search--> least value, certificate
//!                         boxes (GPU), cpu (CPU), codesign::inner (a design)
//! ```
//!
//! Variables are the tile sizes of a strategy and the hyper-threading factor `k`; constraints are those of the machine and of the
//! back end. Source: Prajapati 2018, chapters 2.3, 4, 6. [`codesign`] makes unknowns of the hardware as well. There is one exact
//! search, [`search::search`], whatever the machine. The best tiles of a stencil on a GPU and on a CPU:
//!
//! ```
//! use cost_models::cpu::CpuCost;
//! use cost_models::gpu::GpuCost;
//! use cost_models::machine::shipped;
//! use hhc_codegen::counts::Problem;
//! use hhc_codegen::strategy;
//! use optimizer::{Method, Objective, Request, cpu, tune};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let program = std::sync::Arc::new(polyhedral::shipped::load("heat2d").ok_or("no such stencil")?);
//!     let problem = Problem::new(&program, &[1000, 1000], 100)?;
//!
//!     let gpu = GpuCost::new(&problem, &shipped("v100").ok_or("no such machine")??)?;
//!     let on_gpu = tune(&Request::of_model(&problem, gpu, Objective::Time), Method::Exact)?;
//!
//!     let zen4 = shipped("zen4").ok_or("no such machine")??;
//!     let model = CpuCost::new(&zen4, &program, &problem.cone, &problem.size, problem.steps)?;
//!     let on_cpu = cpu::tune_cpu(&model, strategy::preferred(), Method::Exact, Objective::Time)
//!         .ok_or("it cannot be tiled")?;
//!
//!     for tuned in [on_gpu, on_cpu] {
//!         let proof = tuned.certificate;
//!         println!("{}: {:.2} ms", tuned.choice.tile, 1e3 * proof.value);
//!         println!("{} of {} candidates, the others excluded", proof.evaluated, proof.candidates);
//!         assert_eq!(proof.gap(), Some(0.0));
//!     }
//!     Ok(())
//! }
//! ```

pub mod codesign;

mod boxes;
mod closed_form;
pub mod cpu;
mod evidence;
mod exact;
mod exhaustive;
mod family;
mod infeasible;
mod parts;
mod relaxation;
mod request;
pub mod residence;
pub mod sample;
pub mod search;
mod super_tuning;
mod tuned;

pub use boxes::lower_bound;
pub use closed_form::closed_form;
pub use cost_models::objective::Objective;
pub use evidence::{BoxLeftOut, Evidence, TileEvaluated};
pub use exact::{exact, exact_among, exact_with_evidence};
pub use exhaustive::exhaustive;
pub use family::{Axis, Family, TileText};
pub use infeasible::Infeasible;
pub use relaxation::{Relaxed, relaxed};
pub use request::Request;
pub use super_tuning::{Part, SubProblem, optima, super_tune, super_tune_by_parts};
pub use tuned::{Certificate, Choice, Method, Tuned, judged};

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
