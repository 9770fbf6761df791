//! A program on a grid: what counts are asked for.

use super::terms::Terms;
use polyhedral::analysis::{Analysis, AnalysisError, analyze};
use polyhedral::cone::Cone;
use polyhedral::counts::Counts;
use polyhedral::program::{ElementType, FieldRole, Program};
use std::sync::Arc;

/// A program on a grid: what costs are asked for.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The program.
    pub program: Arc<Program>,
    /// Its dependence cone, in points per logical row.
    pub cone: Cone,
    /// Operations per point.
    pub operations: Counts,
    /// Grid extents, slowest dimension first (`S1`, `S2`, `S3`).
    pub size: Vec<i64>,
    /// Time steps (`T`).
    pub steps: i64,
    /// What its code stands for.
    pub terms: &'static Terms,
}

impl Problem {
    /// Analyses the program.
    ///
    /// # Errors
    /// [`AnalysisError`] where its dependences cannot be computed or do not go forward in time.
    pub fn new(program: &Arc<Program>, size: &[i64], steps: i64) -> Result<Problem, AnalysisError> {
        Ok(Problem::of(program, &analyze(program)?, size, steps))
    }

    /// A program that was analysed.
    pub fn of(program: &Arc<Program>, analysis: &Analysis, size: &[i64], steps: i64) -> Problem {
        Problem {
            program: program.clone(),
            cone: analysis.cone.clone(),
            operations: analysis.counts.clone(),
            size: size.to_vec(),
            steps,
            terms: &Terms::PRINTED,
        }
    }

    /// The same program on another grid.
    pub fn with_size(&self, size: &[i64], steps: i64) -> Problem {
        Problem { size: size.to_vec(), steps, ..self.clone() }
    }

    /// Space dimensions.
    pub fn dimension(&self) -> usize {
        self.program.dimension()
    }

    /// Grid points in dimension `d`; 1 where there is no such dimension.
    pub fn extent(&self, d: usize) -> i64 {
        self.size.get(d).copied().unwrap_or(1)
    }

    /// The widest element type of the fields.
    pub fn element(&self) -> ElementType {
        self.program
            .fields
            .iter()
            .map(|field| field.element)
            .max_by_key(|e| e.bytes())
            .unwrap_or(ElementType::F32)
    }

    /// Iterations of the whole execution: points of all statements' domains, times steps.
    pub fn total_iterations(&self) -> i64 {
        let points = |statement| {
            let domain = self.program.domain(statement, &self.size);
            domain.iter().fold(1_i128, |all, (low, end)| all.saturating_mul(i128::from(end - low)))
        };
        let points = (0..self.program.statements.len()).map(points).fold(0, i128::saturating_add);
        i64::try_from(points.saturating_mul(i128::from(self.steps))).unwrap_or(i64::MAX)
    }

    /// Floating-point operations of one iteration, the mean over the statements.
    pub fn flops_per_iteration(&self) -> f64 {
        self.operations.flops as f64 / self.program.statements.len() as f64
    }

    /// Stored levels and coefficients of each field, and bytes of an element.
    pub fn planes(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.program.fields.iter().map(|field| {
            let planes = match field.role {
                FieldRole::State { slots, .. } => slots,
                FieldRole::Coefficient => 1,
            };
            (planes as i64, field.element.bytes() as i64)
        })
    }

    /// How far all domains keep from the ends of the grid in dimension `d`: `(least_low, least_high)`.
    pub fn least_margins(&self, d: usize) -> (i64, i64) {
        crate::plan::hull(&self.program, d)
    }
}
