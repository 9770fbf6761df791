//! A C program after all stages.

use crate::ast::Variable;
use crate::integer::literal;
use crate::nest::Nest;
use crate::parse::Region;
use crate::preprocess::{OwnPragmas, Preprocessed};
use crate::recognise::{Stencil, What};
use polyhedral::program::Program;
use std::path::PathBuf;
use std::sync::Arc;

/// A C program with an iterated stencil: every stage of it.
#[derive(Debug, Clone)]
pub struct CProgram {
    /// The file that holds it: the one that was named, or another source of the program.
    pub file: PathBuf,
    /// The program's other sources.
    pub others: Vec<PathBuf>,
    /// The headers of all of them, each once.
    pub headers: Vec<PathBuf>,
    /// The file, preprocessed.
    pub preprocessed: Arc<Preprocessed>,
    /// The region and what it needs.
    pub region: Region,
    /// Its loops.
    pub nest: Nest,
    /// What they compute.
    pub stencil: Stencil,
    /// The program.
    pub program: Arc<Program>,
    /// Why its steps run one at a time, where they do.
    pub one_at_a_time: Option<String>,
}

impl CProgram {
    /// The arrays that each step declares, whose declarations the tiled loops take the place of; others stand before them in the
    /// program.
    pub fn own_arrays(&self) -> Vec<&Variable> {
        let cut = self.nest.cut();
        let within = |one: &&Variable| cut.start <= one.span.start && one.span.end <= cut.end;
        self.region.own_arrays.iter().filter(within).collect()
    }

    /// The extents of its grid, where the program's text says all of them.
    pub fn extents(&self) -> Option<Vec<i64>> {
        self.known_extents().collect()
    }

    /// The extent of each dimension of its grid, where the program's text says it.
    pub(crate) fn known_extents(&self) -> impl Iterator<Item = Option<i64>> {
        self.stencil.grid.iter().map(|(low, high)| high.distance(low))
    }

    /// How many steps its time loop has, give or take the last one, where the program's text says it: a loop that ends by a test may
    /// have fewer.
    pub fn steps(&self) -> Option<i64> {
        let time = &self.nest.time;
        let (first, limit) = time.bounds.as_ref()?;
        Some(literal(limit)?.checked_sub(literal(first)?)?.checked_div(time.step)?.max(1))
    }

    /// Whether the program's own files are compiled with OpenMP, as their pragmas want it.
    pub fn keeps_pragmas(&self) -> bool {
        self.preprocessed.own_pragmas == OwnPragmas::Kept
    }

    /// Whether the program has OpenMP pragmas of its own: even where they do nothing, somebody may compile its files so that they do.
    pub fn has_pragmas(&self) -> bool {
        self.preprocessed.own_pragmas != OwnPragmas::None
    }

    /// Whether a field holds the numbers that a test keeps: memory of the tiled loops' own.
    pub fn is_seen(&self, field: usize) -> bool {
        let What::State { form, .. } = &self.stencil.fields[field].what else { return false };
        self.nest.observed.iter().flat_map(|observed| &observed.tests).any(|test| test.array == form.array)
    }
}
