//! From a program to source text: a tiling [`strategy`] makes a [`plan::KernelPlan`], isl proves it legal
//! ([`prove`]), and a [`backend`] prints it.
//!
//! No strategy knows a back end and no back end knows a strategy.
//!
//! ```
//! use hhc_codegen::strategy::{Target, preferred};
//! use hhc_codegen::{TileSizes, backend, pipeline};
//! use std::sync::Arc;
//!
//! let program = Arc::new(polyhedral::shipped::load("heat2d").ok_or("no such stencil")?);
//! let tile = TileSizes::parse("st=8,s0=8,s1=64")?;
//! let planned = pipeline::plan(&program, preferred(), &tile, Target::OpenMp)?;
//! let files = backend::openmp::generate(&planned.plan)?;
//! assert!(files.iter().any(|file| file.name == "heat2d.c" && file.text.contains("#pragma omp")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod backend;
pub mod counts;
mod error;
pub mod geometry;
pub mod int_expr;
pub mod pipeline;
pub mod plan;
pub mod plan_counts;
pub mod prove;
mod range;
pub mod storage;
pub mod strategy;
pub mod tile;
pub mod window;

pub use error::PlanError;
pub use plan::KernelPlan;
pub use tile::TileSizes;
