//! The CUDA code on the ranks of MPI: the same library as around OpenMP code, whose boxes lie in memory of a device. What is packed is packed
//! there; MPI is given messages where they lie, if it says that it can read them, else their copies on the host.

use super::super::GeneratedFile;
use super::super::openmp::{RanksFiles, RanksText};
use super::super::templates::render;
use super::CudaOptions;
use crate::PlanError;
use crate::plan::KernelPlan;
use polyhedral::ghost::Ghosts;

/// The files of a plan on ranks of MPI, each with a device; `ranks` per dimension, or none where the library is to choose.
///
/// # Errors
/// Those of [`super::generate`], and [`PlanError::Refused`] for programs that cannot be distributed.
pub fn generate_ranks(
    plan: &KernelPlan,
    options: &CudaOptions,
    ranks: Option<&[i64]>,
) -> Result<RanksFiles, PlanError> {
    let program = &plan.program;
    let refused = |reason: String| PlanError::Refused {
        strategy: plan.strategy.to_owned(),
        stencil: program.name.clone(),
        reason: format!("it cannot be spread over ranks with a device each: {reason}"),
    };
    if program.is_periodic() {
        return Err(refused(
            "its grid wraps around, which only the OpenMP library for ranks takes".to_owned(),
        ));
    }
    let ghosts = Ghosts::of(program).map_err(|error| refused(error.to_string()))?;
    let proof = ghosts.prove(program).map_err(|error| refused(error.to_string()))?;
    let data = RanksText::on_devices(plan, &ghosts, ranks);
    let mut files = super::generate(plan, options)?.files;
    for file in files.iter_mut().filter(|file| file.name == "CMakeLists.txt") {
        file.text += &render("cuda/ranks_cmake", &data)?;
    }
    for (ending, template) in [
        ("mpi.c", "openmp/ranks.c"),
        ("mpi.h", "openmp/ranks.h"),
        ("mpi_main.c", "openmp/ranks_main.c"),
        ("mpi_device.h", "cuda/ranks_device.h"),
        ("mpi_device.cu", "cuda/ranks_device.cu"),
    ] {
        let name = format!("{}_{ending}", program.name);
        files.push(GeneratedFile { name, text: render(template, &data)? });
    }
    Ok(RanksFiles { files, ghosts, proof, lines: None })
}
