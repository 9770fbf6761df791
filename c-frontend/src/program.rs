//! A C program after all stages.

use crate::ast::Variable;
use crate::nest::Nest;
use crate::parse::Region;
use crate::preprocess::Preprocessed;
use crate::recognise::Stencil;
use polyhedral::program::Program;
use std::sync::Arc;

/// A C program with an iterated stencil: every stage of it.
#[derive(Debug, Clone)]
pub struct CProgram {
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
}
