//! Everything that is known about a program before it is tiled.

use crate::cone::{Cone, NotForward, cone};
use crate::counts::{Counts, counts};
use crate::dependence::{Dependence, DependenceError, dependences};
use crate::footprint::{Footprint, footprint};
use crate::program::Program;
use serde::Serialize;

/// The analysis of a program, for all sizes and step counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    /// Names of the fields, in the order of the indices in the dependences.
    pub fields: Vec<String>,
    /// All immediate dependences.
    pub dependences: Vec<Dependence>,
    /// The cone around them.
    pub cone: Cone,
    /// What a point reads and writes.
    pub footprint: Footprint,
    /// Operations and bytes.
    pub counts: Counts,
}

/// Why a program cannot be analysed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisError {
    /// Its dependences.
    #[error(transparent)]
    Dependence(#[from] DependenceError),
    /// Its cone.
    #[error(transparent)]
    NotForward(#[from] NotForward),
}

/// Analyses a program.
///
/// # Errors
/// [`AnalysisError`] if the stored time levels are too few for the accesses, if a dependence does not go
/// forward in time, or if isl gives up.
pub fn analyze(program: &Program) -> Result<Analysis, AnalysisError> {
    let dependences = dependences(program)?;
    let cone = cone(program.dimension(), &dependences)?;
    Ok(Analysis {
        fields: program.fields.iter().map(|field| field.name.clone()).collect(),
        cone,
        dependences,
        footprint: footprint(program),
        counts: counts(program),
    })
}
