//! What is wrong with the way of a value.

use crate::legality::Problem;
use std::fmt;

/// What is wrong with the way of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowError {
    /// What is wrong.
    pub kind: FlowKind,
    /// The event.
    pub event: String,
    /// The other one, where there is one.
    pub other: Option<String>,
    /// The field and the level's place.
    pub value: String,
    /// Variables and their values in the counter-example, the point of the value last.
    pub at: Vec<(String, i64)>,
    /// The problem in which this happens.
    pub problem: Problem,
    /// Where nobody supplies a value: those that were to, and why each of them does not.
    pub suppliers: Vec<String>,
}

/// What can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowKind {
    /// A cell does not exist.
    Outside,
    /// Nobody supplies a value that is read.
    NotSupplied,
    /// A supplier does not run before the reader.
    TooLate,
    /// Another value is written to the cell before the read.
    Overwritten,
    /// Two events write to one cell at once.
    Together,
    /// Values are written to a cell of the arrays out of turn.
    OutOfTurn,
    /// A newest level is not in its slot at the end.
    NotLanded,
}

impl fmt::Display for FlowError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FlowError { kind, event, other, value, at, problem, suppliers } = self;
        let other = other.as_deref().unwrap_or_default();
        match kind {
            FlowKind::Outside => write!(formatter, "{event} touches {value} outside of {other}")?,
            FlowKind::NotSupplied => {
                write!(
                    formatter,
                    "{event} reads {value}, which none of the suppliers that it names has put there"
                )?;
            }
            FlowKind::TooLate => {
                write!(formatter, "{event} reads {value}, which {other} does not put there before")?;
            }
            FlowKind::Overwritten => {
                write!(formatter, "{event} reads {value} where {other} may have overwritten it")?;
            }
            FlowKind::Together => {
                write!(formatter, "{event} and {other} write to one cell of {value} at once")?;
            }
            FlowKind::OutOfTurn => {
                write!(formatter, "{other} overwrites {value} too early for {event}")?;
            }
            FlowKind::NotLanded => write!(formatter, "{event} leaves {value} in the wrong slot, or nowhere")?,
        }
        // p is the point of the event, q that of the value; `_w` marks what is the other event's, `_s` the supplier's.
        let at: Vec<String> = at.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        write!(formatter, " (at {}; problem: {problem})", at.join(", "))?;
        suppliers.iter().try_for_each(|supplier| write!(formatter, "\n  {supplier}"))
    }
}
