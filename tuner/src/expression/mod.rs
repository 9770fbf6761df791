//! Expressions over parameters: constraints of a space, subspaces, and lists of levels.
//!
//! The language is the common part of Python and C, since the files of other tuners use both: numbers, `True`,
//! text in quotes, names; `+ - * / // % **`; comparisons, which may be chained (`1 <= x < 9`); `in [..]`;
//! `and or not`, also written `&& || !`; `a if c else b`; `min max abs int float len round range sum list log log2
//! sqrt exp`;
//! lists and comprehensions (`[2 * i for i in range(4) if i != 2]`).
//!
//! Arithmetic is Python's: whole numbers stay whole except under `/`, `//` and `%` round down. Nothing is unbounded:
//! text, nesting and lists have limits, so that no input makes the program hang.

mod evaluate;
mod lexer;
mod parser;

use crate::value::Value;
pub use evaluate::EvaluationError;
use evaluate::{Datum, Scope};
use std::fmt;

/// Most items of lists that one look at a constraint may make; a million points are looked at.
const MOST_ITEMS_IN_CONSTRAINTS: usize = 10_000;

/// An expression that cannot be understood: what, where, and what to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("in `{text}`, column {column}: {reason}")]
pub struct ExpressionError {
    /// The expression.
    pub text: String,
    /// Where in it, counted in characters from 1.
    pub column: usize,
    /// What is wrong.
    pub reason: String,
    /// What to do; may be empty.
    pub hint: String,
}

/// An expression over parameters that are known by their places.
#[derive(Debug, Clone)]
pub struct Expression {
    text: String,
    node: Node,
    used: Vec<usize>,
    cost: usize,
}

/// A node of the syntax tree.
#[derive(Debug, Clone, PartialEq)]
enum Node {
    Literal(Datum<'static>),
    /// A parameter, by its place.
    Parameter(usize),
    /// The variable of a comprehension, by its depth.
    Local(usize),
    List(Vec<Node>),
    Comprehension {
        item: Box<Node>,
        local: usize,
        source: Box<Node>,
        condition: Option<Box<Node>>,
    },
    Negate(Box<Node>),
    Not(Box<Node>),
    Arithmetic(Operator, Box<Node>, Box<Node>),
    /// `a < b <= c`: the first operand and all others with their comparisons.
    Comparison(Box<Node>, Vec<(Comparator, Node)>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Conditional {
        condition: Box<Node>,
        then: Box<Node>,
        otherwise: Box<Node>,
    },
    Call(Function, Vec<Node>),
    Index(Box<Node>, Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparator {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Min,
    Max,
    Abs,
    Int,
    Float,
    Len,
    Round,
    Range,
    Sum,
    List,
    Log,
    Log2,
    Sqrt,
    Exp,
}

impl Expression {
    /// Reads an expression over the parameters of these names.
    ///
    /// # Errors
    /// Text that is no expression, and names that no parameter has.
    pub fn parse(text: &str, names: &[&str]) -> Result<Expression, ExpressionError> {
        let node = parser::parse(text, names)?;
        let (mut used, mut cost) = (Vec::new(), 0);
        node.visit(&mut |node| {
            match node {
                Node::Parameter(place) => used.push(*place),
                // May be as long as a list can be.
                Node::Comprehension { .. } | Node::Call(Function::Range, _) => {
                    cost += MOST_ITEMS_IN_CONSTRAINTS
                }
                _ => {}
            }
            cost += 1;
        });
        used.sort_unstable();
        used.dedup();
        Ok(Expression { text: text.trim().to_owned(), node, used, cost })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Places of the parameters that it depends on, in ascending order.
    pub fn parameters(&self) -> &[usize] {
        &self.used
    }

    /// What an evaluation may cost, in nodes that are looked at.
    pub fn cost(&self) -> usize {
        self.cost
    }

    /// Whether it holds for the values that `value` has for the places of parameters. Zero, empty text and empty
    /// lists are false.
    ///
    /// # Errors
    /// Where it has no value: a division by zero, arithmetic with text, a list beyond the limit.
    pub fn holds<'a>(&'a self, value: &dyn Fn(usize) -> &'a Value) -> Result<bool, EvaluationError> {
        let mut scope = Scope::new(value).making(MOST_ITEMS_IN_CONSTRAINTS);
        scope.evaluate(&self.node).map(|datum| datum.truth())
    }

    /// Its value, which must be a number, a boolean or text.
    ///
    /// # Errors
    /// As [`Expression::holds`]; a list.
    pub fn value<'a>(&'a self, value: &dyn Fn(usize) -> &'a Value) -> Result<Value, EvaluationError> {
        Scope::new(value).evaluate(&self.node)?.into_value()
    }

    /// Its value as a list of levels, for an expression without parameters; one value is a list of one.
    ///
    /// # Errors
    /// As [`Expression::holds`]; a list of lists.
    pub fn levels(&self) -> Result<Vec<Value>, EvaluationError> {
        let none = Value::Boolean(false);
        let value = |_: usize| &none;
        let mut scope = Scope::new(&value);
        match scope.evaluate(&self.node)? {
            Datum::List(items) => items.into_iter().map(Datum::into_value).collect(),
            single => Ok(vec![single.into_value()?]),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Node {
    fn visit(&self, visitor: &mut dyn FnMut(&Node)) {
        visitor(self);
        match self {
            Node::Literal(_) | Node::Parameter(_) | Node::Local(_) => {}
            Node::List(items) | Node::Call(_, items) => items.iter().for_each(|item| item.visit(visitor)),
            Node::Comprehension { item, source, condition, .. } => {
                item.visit(visitor);
                source.visit(visitor);
                condition.iter().for_each(|condition| condition.visit(visitor));
            }
            Node::Negate(inner) | Node::Not(inner) => inner.visit(visitor),
            Node::Arithmetic(_, left, right)
            | Node::And(left, right)
            | Node::Or(left, right)
            | Node::Index(left, right) => {
                left.visit(visitor);
                right.visit(visitor);
            }
            Node::Comparison(first, others) => {
                first.visit(visitor);
                others.iter().for_each(|(_, other)| other.visit(visitor));
            }
            Node::Conditional { condition, then, otherwise } => {
                condition.visit(visitor);
                then.visit(visitor);
                otherwise.visit(visitor);
            }
        }
    }
}

#[cfg(test)]
mod tests;
