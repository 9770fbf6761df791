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

mod datum;
mod error;
mod evaluate;
mod lexer;
mod parser;
mod tree;

use datum::Datum;
pub use error::{EvaluationError, ExpressionError};
use evaluate::Scope;
use std::fmt;
use tree::{Function, Node};
use trials::Value;

/// Most items of lists that one look at a constraint may make; a million points are looked at.
const MOST_ITEMS_IN_CONSTRAINTS: usize = 10_000;

/// An expression over parameters that are known by their places.
#[derive(Debug, Clone)]
pub struct Expression {
    text: String,
    node: Node,
    used: Vec<usize>,
    cost: usize,
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

#[cfg(test)]
mod tests;
