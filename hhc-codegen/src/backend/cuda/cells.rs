//! Coordinates in the window of a block: of a cell, and of where the grid and the domains begin and end.

use c_tree::{Expr, var};
use polyhedral::domain::{Bound, GridEnd};

/// A coordinate in the window.
pub(super) fn cell_index(d: usize) -> Expr {
    var(format!("w{d}"))
}

/// The window coordinate of a bound of the grid, or of a domain.
pub(super) fn cell_of(bound: Bound, d: usize) -> Expr {
    cell_by(bound, d, &var)
}

/// The same; `value` is that of the cell with a name at which the grid begins or ends.
pub(super) fn cell_by(bound: Bound, d: usize, value: &dyn Fn(String) -> Expr) -> Expr {
    let end = match bound.from {
        GridEnd::Start => "start",
        GridEnd::End => "end",
    };
    value(format!("{end}{d}")) + bound.offset
}
