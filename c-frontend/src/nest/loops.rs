//! What a region does in one time step: its loops, and what they assign and read.

use super::observed::parts::Observed;
use super::parities::Colours;
use crate::ast::{CType, Expr};
use crate::parse::Handed;
use crate::polynomial::Polynomial;
use polyhedral::program::{self, ElementType};
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};

/// A pointer that each step chooses by its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Its name.
    pub name: String,
    /// What it is in a step: C text.
    pub text: String,
}

/// A variable that holds the number of a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// Its name.
    pub name: String,
    /// How many buffers there are.
    pub of: i64,
    /// The one that it is so many buffers ahead of, which is asked before the time loop.
    pub ahead_of: Option<(String, i64)>,
}

/// Everything that one time step does.
#[derive(Debug, Clone)]
pub struct Nest {
    /// The time loop.
    pub time: TimeLoop,
    /// How its steps are taken together, where it does more than to compute its stencil.
    pub observed: Option<Observed>,
    /// The variable that chooses the level of arrays that keep one of each step, where steps run one at a time.
    pub level: Option<String>,
    /// All space loops.
    pub loops: Vec<SpaceLoop>,
    /// The magnitude that integers of 32 bits have at most when the loop begins, and keep; `None` where they may have any.
    pub small: Option<i128>,
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
    /// What loops leave in indices that are declared outside, in the order in which they run.
    pub left: Vec<Left>,
    /// The passes of a round of the time loop, where each computes points of one colour: then the loops are those of all points.
    pub colours: Option<Colours>,
    /// Pointers that take turns.
    pub turns: Vec<Turns>,
    /// Where they are exchanged, at the end of each time step.
    pub exchange: Option<Span>,
    /// What each pointer that the exchange assigns holds afterwards: the pointer that held it before.
    pub moves: Vec<(String, String)>,
    /// Variables that hold the number of a buffer and go on to the next one in each time step.
    pub counters: Vec<Counter>,
    /// Pointers outside of the time loop that each step chooses anew.
    pub chosen: Vec<Chosen>,
    /// What must hold at run time: pairs of which the first is not greater than the second.
    pub assumed: Vec<(Polynomial, Polynomial)>,
    /// Values in memory that are read and do not change with time or place: C texts.
    pub memory: Vec<String>,
    /// The scalars outside that steps assign and that pointers may reach: what is read through one must not be among them.
    pub reached: Vec<String>,
    /// Pointers that must not be null: C texts, in an order in which each may be evaluated if those before are not null.
    pub pointers: Vec<String>,
    /// Conditions under which the program ends in a function that is called: C texts.
    pub ends: Vec<String>,
    /// The declared extents of arrays, outermost first; `None` where none is known.
    pub extents: HashMap<String, Vec<Option<Polynomial>>>,
    /// The arrays that lie in one piece, or of which each buffer does.
    pub blocks: HashSet<String>,
    /// The arrays of which each element of the first index lies in one piece, as with an array of pointers.
    pub blocks_of_buffers: HashSet<String>,
    /// The arrays of integers that the loop computes, and the types of their elements; their fields hold numbers of a
    /// floating-point type.
    pub integers: HashMap<String, CType>,
    /// Where memory that a step takes takes the place of other memory.
    pub handed: Vec<Handed>,
    /// The same loops with integers that conditions choose as values, which may wrap around.
    pub in_values: Option<Box<Nest>>,
}

impl Nest {
    /// The place of what is replaced: the time loop, or statements of its body.
    pub fn cut(&self) -> Span {
        self.observed.as_ref().map_or_else(|| self.time.span.clone(), |observed| observed.cut.clone())
    }
}

/// What a loop leaves in an index that is declared outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// What the end of a loop over space says, by its number.
    Loop(usize),
    /// A number, in the index of a loop that was unrolled.
    Number(String, i64),
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
    /// The loops whose indices wrap around in it, and what is added to them.
    pub around: Vec<(usize, i64)>,
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

/// The loop over time, `low <= index < high`, in steps; one that counts down has `low >= index > high`.
#[derive(Debug, Clone)]
pub struct TimeLoop {
    /// Name of the index.
    pub name: String,
    /// Its type.
    pub type_name: String,
    /// First value, as C.
    pub low: String,
    /// Behind the last value, as C.
    pub high: String,
    /// What is added to the index in each round; negative where it counts down.
    pub step: i64,
    /// Whether the index is declared in the loop.
    pub declared: bool,
    /// From `for` to `)`.
    pub head: Span,
    /// The whole loop.
    pub span: Span,
    /// The bounds as expressions: first, last or behind it; `None` where steps are counted when the program runs.
    pub(crate) bounds: Option<(Expr, Expr)>,
}

/// Pointers that an exchange moves in a circle; buffer `b` is what number `b` points to before the loop.
pub type Turns = Vec<String>;
