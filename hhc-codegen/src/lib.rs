//! From a program to source text: a tiling [`strategy`] makes a [`plan::KernelPlan`], isl proves it legal
//! ([`prove`]), and a [`backend`] prints it.
//!
//! No strategy knows a back end and no back end knows a strategy.

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
