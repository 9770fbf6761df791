//! The parts of a program before it is checked.

use crate::domain::Sides;
use crate::program::{Boundary, ElementType, Expr, FieldId, Local, Parameter};
use crate::source::Span;

/// A program before it is checked. Names are resolved and expressions are typed.
///
/// What the language guarantees is required of other front ends: names are distinct C identifiers that
/// [`crate::lower::reserved`] does not know; operands have the types that [`crate::program::ExprKind`] asks
/// for; ids are those of declared things; coefficients are read at time 0, state fields at `-7 ..= 1`, and a
/// state field has a statement.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Name of the stencil, a C identifier.
    pub name: String,
    /// A description for the generated files; may be empty.
    pub description: String,
    /// Name of the time index.
    pub time_index: String,
    /// Names of the space indices, slowest first; 1 to 3.
    pub space_indices: Vec<String>,
    /// The fields.
    pub fields: Vec<DraftField>,
    /// The series.
    pub series: Vec<DraftSeries>,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The statements of one time step, in execution order.
    pub statements: Vec<DraftStatement>,
    /// What points outside all domains hold.
    pub boundary: Boundary,
    /// Per dimension, where the grid is declared to wrap around, and statements have no bounds; missing entries: nowhere.
    pub periodic: Vec<Option<Span>>,
}

/// A field before its levels are known.
#[derive(Debug, Clone)]
pub struct DraftField {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub element: ElementType,
    /// Whether it changes over time.
    pub state: bool,
    /// How many time levels shall be stored; `None`: as few as possible.
    pub slots: Option<usize>,
    /// Where it is declared.
    pub span: Span,
}

/// A series before its reach is known.
#[derive(Debug, Clone)]
pub struct DraftSeries {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub element: ElementType,
    /// Where it is declared.
    pub span: Span,
}

/// A statement before its domain is known.
#[derive(Debug, Clone)]
pub struct DraftStatement {
    /// The field that is written.
    pub target: FieldId,
    /// Named intermediate values, in order of evaluation; all of them are used.
    pub locals: Vec<Local>,
    /// The value stored; of the target's type.
    pub value: Expr,
    /// Per dimension what is computed; sides that are not given, and missing entries, are as far out as the reads
    /// stay on the grid.
    pub domain: Vec<Sides>,
    /// Where the domain stands; the statement, if it is not written.
    pub domain_span: Span,
    /// Where the target stands.
    pub target_span: Span,
    /// Where the statement stands.
    pub span: Span,
}
