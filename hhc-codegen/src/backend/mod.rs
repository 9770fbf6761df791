//! Back ends: a plan becomes functions in the tree of [`c_tree`], which are printed whole; templates are files around them.
//!
//! What is the same in C and CUDA is in the files of this folder: names, bounds, the values of statements, arguments,
//! places, and the parts of kernels that say where values live.

mod arguments;
mod boundary;
mod bounds;
mod constants;
pub mod cuda;
mod expression;
mod ghosts;
pub mod names;
pub mod openmp;
mod plain_loops;
mod points;
mod signature;
mod standalone;
mod storages;
mod templates;
mod wavefronts;

pub use signature::Signature;

/// One generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFile {
    /// Name, without folder.
    pub name: String,
    /// Text.
    pub text: String,
}
