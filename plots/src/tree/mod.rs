//! Trees whose leaves have values, as SVG and for Graphviz. No library draws these.

mod data;
mod dot;
mod layout;
mod svg;

pub use data::{Node, Tree};
