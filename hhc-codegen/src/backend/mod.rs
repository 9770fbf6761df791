//! Back ends: a plan becomes source text. What is the same in C and CUDA (names, expressions, statement
//! bodies) is in [`names`] and [`expression`]; the rest is templates.

pub mod cuda;
pub mod expression;
mod indent;
pub mod names;
pub mod openmp;
mod plain_loops;
mod signature;
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
