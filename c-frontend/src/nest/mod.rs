//! Stage 3: the loops. One pass over the region in the order of execution collects the assignments of arrays with the
//! loops around them; scalars are followed from assignment to use, and every value becomes a typed expression in
//! which each operation and each conversion is that of C.

mod classify;
mod condition;
mod exchange;
mod int_type;
mod integer;
mod scalars;
mod statement;
mod time;
mod value;

pub use exchange::Turns;
pub(crate) use integer::literal as literal_value;
pub use time::TimeLoop;

use crate::ast::{Expr, Floating};
use crate::codes;
use crate::parse::Region;
use crate::polynomial::Polynomial;
use polyhedral::diagnostic::{Code, Diagnostic};
use polyhedral::program::{self, ElementType};
use polyhedral::source::Span;
use scalars::Environment;
use std::collections::{HashMap, HashSet};

/// What is wrong.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Everything that one time step does.
#[derive(Debug, Clone)]
pub struct Nest {
    /// The time loop.
    pub time: TimeLoop,
    /// All space loops.
    pub loops: Vec<SpaceLoop>,
    /// The assignments of arrays, in the order of the text.
    pub leaves: Vec<Leaf>,
    /// What the values read: `Read` accesses in expressions name these by the number of their field.
    pub reads: Vec<Read>,
    /// Scalars computed in the loop: `Local`s in expressions name these.
    pub temporaries: Vec<Temporary>,
    /// Scalars from outside: `Parameter`s in expressions name these.
    pub scalars: Vec<Scalar>,
    /// Values that depend on time only: `Series` in expressions name these.
    pub series: Vec<Series>,
    /// Indices of loops that were unrolled and are declared outside, and the values that they end with.
    pub unrolled: Vec<(String, i64)>,
    /// Pointers that take turns.
    pub turns: Vec<Turns>,
    /// Where they are exchanged, at the end of each time step.
    pub exchange: Option<Span>,
    /// What each pointer that the exchange assigns holds afterwards: the pointer that held it before.
    pub moves: Vec<(String, String)>,
    /// Variables that hold the number of a buffer and go on to the next one at the end of each time step, and how many
    /// buffers there are.
    pub counters: Vec<(String, i64)>,
}

/// A loop over space, `low <= index < high`.
#[derive(Debug, Clone)]
pub struct SpaceLoop {
    /// Name of the index.
    pub name: String,
    /// Its type.
    pub type_name: String,
    /// The first value.
    pub low: Polynomial,
    /// Behind the last value.
    pub high: Polynomial,
    /// Whether it counts down.
    pub descending: bool,
    /// The loop around it, if that is a space loop.
    pub parent: Option<usize>,
    /// Whether the index is declared in the loop.
    pub declared: bool,
    /// From `for` to `)`.
    pub span: Span,
}

/// An element of an array, as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// The array.
    pub array: String,
    /// All indices, outermost first.
    pub indices: Vec<Polynomial>,
    /// Its type.
    pub element: ElementType,
    /// Where it stands.
    pub span: Span,
}

/// A bound that a condition on an index adds: the loop, the first value, and one past the last.
pub type Narrowed = (usize, Option<Polynomial>, Option<Polynomial>);

/// An assignment of an array.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// What is assigned.
    pub target: Element,
    /// The value, of the target's type.
    pub value: program::Expr,
    /// The space loops around it, outermost first.
    pub path: Vec<usize>,
    /// Bounds that conditions on the indices add: loop, first value, behind the last value.
    pub narrowed: Vec<Narrowed>,
    /// The assignment.
    pub span: Span,
    /// Whether the same iteration assigns the element again.
    pub overwritten: bool,
}

/// Something read.
#[derive(Debug, Clone)]
pub struct Read {
    /// What.
    pub what: ReadOf,
    /// Where.
    pub span: Span,
    /// How many leaves come before it.
    pub before: usize,
    /// The loops around the place where it is read.
    pub path: Vec<usize>,
}

/// What is read.
#[derive(Debug, Clone)]
pub enum ReadOf {
    /// An element of an array that the loop computes.
    State(Element),
    /// An element of an array that does not change, and how it is written.
    Coefficient(Element, Expr),
    /// A value that follows from the indices alone.
    Place(Expr, ElementType),
}

/// A scalar computed in the loop.
#[derive(Debug, Clone)]
pub struct Temporary {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: program::Expr,
}

/// A scalar from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalar {
    /// As C text.
    pub text: String,
    /// Its value, where it is known.
    pub known: Option<f64>,
    /// Where it is first used.
    pub span: Span,
}

/// A value that depends on time only.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// As C text, with the time index in it.
    pub text: String,
    /// Its type.
    pub element: ElementType,
    /// Where it is first used.
    pub span: Span,
}

/// Loops over a number of points that is known and not above this are unrolled where no array is indexed by them.
const MOST_UNROLLED: i64 = 64;
/// Assignments, reads and operations of one region.
const MOST_LEAVES: usize = 256;
const MOST_OPERATIONS: usize = 200_000;

/// Walks through a region.
pub(crate) struct Walker<'a> {
    region: &'a Region,
    /// The arrays that are assigned.
    states: HashSet<String>,
    /// The scalars that are assigned.
    assigned: HashSet<String>,
    nest: Nest,
    /// The space loops that are open.
    path: Vec<usize>,
    environment: Environment,
    /// The values of variables that keep those that they are declared with.
    initial_values: HashMap<String, Polynomial>,
    narrowed: Vec<Narrowed>,
    operations: usize,
}

fn error<T>(code: Code, span: &Span, message: impl Into<String>) -> Result<T> {
    Err(Box::new(Diagnostic::error(code, span.clone(), message)))
}

fn limitation<T>(code: Code, span: &Span, message: impl Into<String>) -> Result<T> {
    Err(Box::new(Diagnostic::limitation(code, span.clone(), message)))
}

/// The loops of a region.
///
/// # Errors
/// The first thing in it that is no iterated stencil.
pub fn nest(region: &Region) -> Result<Nest> {
    let (time, body) = time::find(region)?;
    let exchanged = exchange::find(region, body)?;
    let (region, body, turns, exchange, counters) = match &exchanged {
        Some(found) => {
            (&found.region, &found.body, found.turns.clone(), found.span.clone(), found.counters.clone())
        }
        None => (region, body, Vec::new(), None, Vec::new()),
    };
    let moves = exchanged.as_ref().map(|found| found.moves.clone()).unwrap_or_default();
    let (states, assigned) = scalars::assigned(body);
    let nest = Nest {
        time,
        loops: Vec::new(),
        leaves: Vec::new(),
        reads: Vec::new(),
        temporaries: Vec::new(),
        scalars: Vec::new(),
        series: Vec::new(),
        unrolled: Vec::new(),
        turns,
        exchange,
        moves,
        counters,
    };
    let mut walker = Walker {
        region,
        states,
        assigned,
        nest,
        path: Vec::new(),
        environment: Environment::default(),
        initial_values: HashMap::new(),
        narrowed: Vec::new(),
        operations: 0,
    };
    walker.find_initial_values();
    walker.check_time_bounds()?;
    walker.statement(body)?;
    let nest = walker.nest;
    if nest.leaves.is_empty() {
        return error(codes::NOTHING_COMPUTED, &nest.time.head, "the time loop computes no array");
    }
    Ok(nest)
}

/// The type that a floating-point type of C has in a program; `None` for `long double`.
pub(crate) fn element_of(kind: Floating) -> Option<ElementType> {
    match kind {
        Floating::Float => Some(ElementType::F32),
        Floating::Double => Some(ElementType::F64),
        Floating::LongDouble => None,
    }
}
