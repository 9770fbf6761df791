//! What can go wrong.

use thiserror::Error;

/// A drawing or a page that could not be made: an error of ours.
#[derive(Debug, Error)]
pub enum PlotError {
    /// The plotting library refused.
    #[error("the drawing failed: {0}")]
    Drawing(String),
    /// A template does not fit its data.
    #[error("the page failed: {0}")]
    Page(String),
}

/// What the crate returns.
pub type Result<T> = std::result::Result<T, PlotError>;
