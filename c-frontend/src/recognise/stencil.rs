//! What a nest is recognised as: fields and statements on one grid.

use super::arrays::Form;
use crate::polynomial::Polynomial;
use polyhedral::domain::Bound;
use polyhedral::program::ElementType;
use polyhedral::source::Span;

/// An iterated stencil on a grid.
#[derive(Debug, Clone)]
pub struct Stencil {
    /// Number of space dimensions.
    pub dimension: usize,
    /// Per dimension, first point of the grid and one past its last, in the coordinates of the arrays.
    pub grid: Vec<(Polynomial, Polynomial)>,
    /// Everything on the grid.
    pub fields: Vec<GridField>,
    /// The assignments, in order.
    pub statements: Vec<Statement>,
    /// Names for the space indices.
    pub indices: Vec<String>,
    /// What must hold at run time: pairs of which the first is not greater than the second.
    pub assumed: Vec<(Polynomial, Polynomial)>,
    /// Per dimension, where a read wraps around, if one does.
    pub periodic: Vec<Option<Span>>,
    /// What is touched outside of its array.
    pub outside: Vec<Outside>,
}

impl Stencil {
    /// Whether some arrays get their values behind the last step.
    pub fn has_mirrors(&self) -> bool {
        self.fields.iter().any(|field| field.mirrors.is_some())
    }
}

/// An element that lies outside of an array, as it is declared.
#[derive(Debug, Clone)]
pub struct Outside {
    /// The array.
    pub array: String,
    /// Which of its subscripts, counted from 0.
    pub number: usize,
    /// Whether it is less than 0, and not too large.
    pub below: bool,
    /// Whether it is assigned.
    pub written: bool,
    /// Where it stands.
    pub span: Span,
}

/// Something with a value at every point of the grid.
#[derive(Debug, Clone)]
pub struct GridField {
    /// What it is in the program.
    pub what: What,
    /// Its type.
    pub element: ElementType,
    /// Where it first stands.
    pub span: Span,
    /// What is read or written: statement, and how far from its points, per dimension.
    pub touched: Vec<(usize, Vec<i64>)>,
    /// The addresses of what a value of the place reads, as C texts in which `tw_x0`, .. are the indices.
    pub memory: Vec<String>,
    /// Where its values come from behind the last step, if no step computes it: then it is no field of the program, and stands behind
    /// all that are.
    pub mirrors: Option<Mirrors>,
}

/// What an array gets behind the last step.
#[derive(Debug, Clone)]
pub struct Mirrors {
    /// The field that it is copied from.
    pub field: usize,
    /// How many steps before the last one.
    pub ago: i64,
    /// The points that are copied, counted from the ends of the grid.
    pub boxes: Vec<Vec<(Side, Side)>>,
    /// Those at which it holds the level of the field before the first one, where steps want that.
    pub begins: Vec<Vec<(Side, Side)>>,
}

/// What a field is in the C program.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// An array that the loop computes.
    State {
        /// How its elements are written.
        form: Form,
        /// Number of buffers; 1 if no index chooses one.
        buffers: i64,
        /// Step `t` writes buffer `(t + shift) mod buffers`.
        shift: i64,
    },
    /// An array that does not change.
    Coefficient(Form),
    /// A value that follows from the place: C text, in which `tw_x0`, .. are the indices.
    Place(String),
}

/// An assignment.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The assignment in the nest.
    pub leaf: usize,
    /// The field that it computes.
    pub target: usize,
    /// Per dimension, the loop and what the target adds to its index; or the one point that is computed.
    pub centre: Vec<Centre>,
    /// Per dimension, the points that it computes: first, and one past the last.
    pub domain: Vec<(Polynomial, Polynomial)>,
    /// The domain, counted from the ends of the grid.
    pub sides: Vec<(Side, Side)>,
    /// For each read of the nest that it needs, the field, the time relative to `t`, and the offset.
    pub reads: Vec<(usize, ReadAt)>,
}

/// A read, seen from the point that a statement computes.
#[derive(Debug, Clone)]
pub struct ReadAt {
    /// The field.
    pub field: usize,
    /// 1: computed earlier in this step; 0: the step before; and so on.
    pub time: i64,
    /// Per dimension.
    pub offset: Vec<i64>,
}

/// A dimension of a target.
#[derive(Debug, Clone, PartialEq)]
pub enum Centre {
    /// The index of a loop plus something.
    Loop(usize, Polynomial),
    /// One point.
    Point(Polynomial),
}

/// A bound of a domain, counted from an end of the grid.
pub type Side = Bound;
