//! What is wrong with a window.

use crate::legality::Problem;
use std::fmt;

/// What is wrong with a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowError {
    /// What is wrong.
    pub kind: WindowKind,
    /// The kernel.
    pub kernel: String,
    /// The statement whose row it is about; `None` for loads.
    pub statement: Option<String>,
    /// The read, the store or the load.
    pub access: String,
    /// Variables and their values in the counter-example.
    pub at: Vec<(String, i64)>,
    /// The problem in which this happens.
    pub problem: Problem,
}

/// What can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowKind {
    /// Two points of a plane have one cell.
    OneCell,
    /// A plane is not the slot of its level.
    WrongPlane,
    /// A cell that is kept does not stay what it is.
    NotKept,
    /// A cell does not exist.
    Outside,
    /// A point that is loaded is not on the grid.
    OffGrid,
    /// A cell is loaded after it was written, or twice.
    LoadedLate,
    /// A cell is neither loaded nor written before.
    NotFound,
    /// The row that should have written the cell comes later.
    WrittenLate,
    /// The positions of a sweep leave points of a row out.
    Gap,
    /// A value is not stored, and nobody computes the cell again.
    NotStored,
}

impl fmt::Display for WindowError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WindowError { kind, kernel, statement, access, at, problem } = self;
        match statement {
            Some(statement) => write!(formatter, "the row of {statement} in kernel {kernel}: {access} ")?,
            None => write!(formatter, "kernel {kernel}: {access} ")?,
        }
        formatter.write_str(match kind {
            WindowKind::OneCell => "shares its cell of the window with another point",
            WindowKind::WrongPlane => "is in a plane of the window that is not the slot of its level",
            WindowKind::NotKept => {
                "is in a cell that does not stay when the window slides, or becomes another point's"
            }
            WindowKind::Outside => "is outside of the window",
            WindowKind::OffGrid => "is not on the grid",
            WindowKind::LoadedLate => "comes after a write of the cell, or twice",
            WindowKind::NotFound => "finds a cell that was neither loaded nor written before",
            WindowKind::WrittenLate => "finds a cell that is written later",
            WindowKind::Gap => "has points that no position of the sweep computes",
            WindowKind::NotStored => "is left out, and no later row of the sweep stores the cell",
        })?;
        let at: Vec<String> = at.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        write!(formatter, " (at {}; problem: {problem})", at.join(", "))
    }
}
