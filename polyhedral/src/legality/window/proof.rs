//! The proof for a sweep: the space of its sets, and what a set that is not empty says.

use super::error::{WindowError, WindowKind};
use crate::isl::{Context, IslError};
use crate::legality::flow::text::all;
use crate::legality::space::{Space, Union};
use crate::legality::{LegalityError, Problem};
use crate::program::Program;
use crate::sweep::{Row, Sweep};

/// The proof for a sweep.
pub(super) struct WindowProof<'a> {
    pub(super) program: &'a Program,
    pub(super) sweep: &'a Sweep,
    pub(super) space: Space<'a>,
    /// The dimension along which the window slides.
    pub(super) sliding: Option<usize>,
    /// All sweeps, and more.
    pub(super) sweeps: Union<'a>,
}

/// What an error is about.
pub(super) struct Finding<'a> {
    pub(super) kind: WindowKind,
    pub(super) row: Option<&'a Row>,
    pub(super) access: &'a str,
}

/// Marks the position at which a cell enters,
pub(super) const ENTERING: &str = "_e";
/// and a row that writes it.
pub(super) const WRITING: &str = "_w";

impl<'a> WindowProof<'a> {
    pub(super) fn new(
        context: &'a Context,
        program: &'a Program,
        sweep: &'a Sweep,
    ) -> Result<Self, IslError> {
        let dimension = program.dimension();
        let mut coordinates = sweep.fixed.clone();
        for name in sweep.positions.iter().map(|positions| &positions.variable) {
            coordinates.extend(["", ENTERING, WRITING].map(|mark| format!("{name}{mark}")));
        }
        coordinates.extend(["", WRITING].map(|mark| format!("{}{mark}", sweep.group)));
        coordinates
            .extend(["p", "q"].iter().flat_map(|name| (0..dimension).map(move |d| format!("{name}{d}"))));
        let space = Space::new(context, dimension, coordinates);
        let sweeps =
            space.set(&all(["steps >= 1".to_owned()].into_iter().chain(sweep.facts.iter().cloned())))?;
        let sliding = sweep.positions.is_some().then_some(dimension - 1);
        Ok(WindowProof { program, sweep, space, sliding, sweeps })
    }

    /// Shows that a set is empty, without or with the constraints that are seldom needed.
    pub(super) fn none(&self, set: Union<'a>, finding: &Finding) -> Result<(), LegalityError> {
        let rest = self.space.not_empty(set)?;
        if rest.is_empty() {
            return Ok(());
        }
        let rest = self.space.within(&rest, &all(self.sweep.definitions.iter().cloned()))?;
        match self.space.not_empty(rest)?.first() {
            None => Ok(()),
            Some(part) => Err(self.error(&part.to_set()?, finding)?),
        }
    }

    fn error(&self, set: &crate::isl::Set<'a>, finding: &Finding) -> Result<LegalityError, IslError> {
        let Some(sample) = set.sample()? else {
            return Err(IslError::Failed { message: "no sample of a set that is not empty".to_owned() });
        };
        let value = |name: &str| {
            sample.parameters.iter().find(|(parameter, _)| parameter == name).map_or(0, |(_, value)| *value)
        };
        let at = self.space.coordinates.iter().cloned().zip(sample.dimensions.iter().copied());
        Ok(LegalityError::Window(Box::new(WindowError {
            kind: finding.kind,
            kernel: self.sweep.kernel.clone(),
            statement: finding.row.map(|row| self.program.statement_name(row.statement)),
            access: finding.access.to_owned(),
            at: at.collect(),
            problem: Problem {
                steps: value("steps"),
                size: (0..self.dimension()).map(|d| value(&format!("n{d}"))).collect(),
            },
        })))
    }

    pub(super) fn dimension(&self) -> usize {
        self.program.dimension()
    }
}
