//! Stage 3: the loops. One pass over the region in the order of execution collects the assignments of arrays with the
//! loops around them; scalars are followed from assignment to use, and every value becomes a typed expression in
//! which each operation and each conversion is that of C.

mod classify;
mod condition;
mod exchange;
mod guards;
mod int_type;
mod integer;
mod memory;
mod pieces;
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
use std::cell::RefCell;
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
    /// What must hold at run time: pairs of which the first is not greater than the second.
    pub assumed: Vec<(Polynomial, Polynomial)>,
    /// Values in memory that are read and do not change with time or place: C texts.
    pub memory: Vec<String>,
    /// Pointers that must not be null: C texts, in an order in which each may be evaluated if those before are not null.
    pub pointers: Vec<String>,
    /// The declared extents of arrays, outermost first; `None` where none is known.
    pub extents: HashMap<String, Vec<Option<Polynomial>>>,
    /// The arrays that lie in one piece, or of which each buffer does.
    pub blocks: HashSet<String>,
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

/// The segment of a loop that an assignment runs over: the loop, the first value, and one past the last.
pub type Narrowed = (usize, Polynomial, Polynomial);

/// Where a statement stands in the order of execution: compared number by number.
pub type Order = Vec<u32>;

/// Whether an element is touched wherever its statement runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touched {
    /// At every point.
    Always,
    /// Where a condition holds.
    If,
    /// Where a condition holds that compares an index with an unknown place.
    IfIndex,
}

/// An assignment of an array.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// What is assigned.
    pub target: Element,
    /// The value, of the target's type.
    pub value: program::Expr,
    /// The space loops around it, outermost first.
    pub path: Vec<usize>,
    /// The segments of these loops in which it runs.
    pub narrowed: Vec<Narrowed>,
    /// Where it stands.
    pub order: Order,
    /// Whether it is assigned at every point.
    pub touched: Touched,
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
    /// Where it stands: an assignment of the same order comes after it.
    pub order: Order,
    /// Whether it is read at every point.
    pub touched: Touched,
    /// The loops around the place where it is read.
    pub path: Vec<usize>,
}

/// What is read.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadOf {
    /// An element of an array that the loop computes.
    State(Element),
    /// An element of an array that does not change, how it is written, and the addresses that are read for it.
    Coefficient(Element, Expr, Vec<Expr>),
    /// A value that follows from the indices alone, and the addresses that are read for it.
    Place(Expr, Vec<Expr>, ElementType),
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
    /// The values in memory that it reads, as C texts.
    pub memory: Vec<String>,
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
    /// Of the open loops.
    segments: Vec<guards::Segment>,
    /// Where loops are cut.
    cuts: RefCell<HashMap<LoopKey, guards::Cuts>>,
    /// What makes each loop of the nest the one that it is.
    keys: Vec<LoopKey>,
    /// What must hold at run time, so far.
    assumed: RefCell<Vec<(Polynomial, Polynomial)>>,
    /// Where the walk is.
    order: Order,
    /// Conditions around the walk that are not known, the outermost first.
    conditions: Vec<memory::Unknown>,
}

/// One loop, however often the walk comes to it: its place in the tree, the order of what is around it, and its bounds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LoopKey {
    order: Order,
    path: Vec<usize>,
    low: Polynomial,
    high: Polynomial,
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
        assumed: Vec::new(),
        memory: Vec::new(),
        pointers: Vec::new(),
        extents: HashMap::new(),
        blocks: HashSet::new(),
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
        segments: Vec::new(),
        cuts: RefCell::default(),
        keys: Vec::new(),
        assumed: RefCell::default(),
        order: Order::new(),
        conditions: Vec::new(),
    };
    walker.find_initial_values();
    walker.check_time_bounds()?;
    walker.find_extents();
    walker.statement(body)?;
    walker.find_memory(body);
    let mut nest = walker.nest;
    nest.assumed.extend(walker.assumed.into_inner());
    pieces::join(&mut nest)?;
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
