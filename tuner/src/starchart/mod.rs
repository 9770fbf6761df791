//! Starchart: regression trees that explain a tuning space.
//!
//! W. Jia, E. Garza, K. A. Shaw, M. Martonosi, "GPU Performance and Power Tuning Using Regression Trees", ACM TACO
//! 12(2), 2015, <https://doi.org/10.1145/2736287>. Line and section numbers in this module are that article's.
//!
//! The road: trials become a [`Table`] and responses ([`Data`]); [`grow`] makes a [`Tree`] of them (Algorithm 1);
//! [`Region`] says a partition as an expression; [`importance()`], [`accuracy`] and [`iterative`] are the article's uses of
//! it, and [`model`] has trees with linear models in their nodes.

pub mod accuracy;
pub mod classes;
mod data;
pub mod draw;
mod draws;
mod grow;
mod importance;
pub mod iterative;
mod linear;
pub mod model;
mod region;
mod split;
pub mod stargazer;
mod table;
pub mod targets;
mod tree;

pub use data::{Data, DataOptions, Response, Source};
pub use grow::{GrowOptions, grow};
pub use importance::{Importance, importance};
pub use region::{Region, side};
pub use table::{Column, ColumnKind, Table};
pub use tree::{Goal, Node, Rule, Split, Tree};

use crate::error::TunerError;

/// Wrong input: why, and what to do.
fn request(reason: impl Into<String>, hint: impl Into<String>) -> TunerError {
    TunerError::Request { reason: reason.into(), hint: hint.into() }
}
