//! Expression sequences: the nesting of a computation's operators.
//!
//! `f` follows `e` where `f` is nested in the function of `e`. What is an operand of an operator is fused into it, and
//! has no place of its own; operators nested in a fused operand's function follow, too.

use crate::program::*;
use polyhedral::source::Span;
use std::collections::HashMap;

/// A computation of a program.
#[derive(Debug, Clone)]
pub struct Computation {
    /// What its result is called.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its operators, the outermost first; none where it is arithmetic.
    pub sequence: Vec<Operator>,
    /// Whether its outermost loop goes over rows of different lengths.
    pub irregular: bool,
    /// The length of its rows, where they are tiles of a length that the text tells (a parameter's default may).
    pub row_length: Option<i64>,
    /// Whether it may be computed as a map over tiles of a map.
    pub tiled: bool,
    /// What is known of its first sequence, for choosing between implementations: names of features.
    pub features: Vec<&'static str>,
    /// Bytes of an element of its result in shared memory; 0 where that is no flat sequence.
    pub element_bytes: i64,
    /// Whether it computes an element by a function of the user that is not stated to be associative.
    pub in_order: bool,
}

/// The computations of a fused program, in order: results, new values of states, and what controls loops.
pub fn computations(program: &Program) -> Vec<Computation> {
    let mut found = Found { program, lets: HashMap::new(), list: Vec::new() };
    found.items(&program.items);
    found.list
}

struct Found<'p> {
    program: &'p Program,
    lets: HashMap<VarId, &'p Expr>,
    list: Vec<Computation>,
}

impl<'p> Found<'p> {
    fn items(&mut self, items: &'p [Item]) {
        for item in items {
            match item {
                Item::Let(variable, value) => {
                    self.lets.insert(*variable, value);
                }
                Item::Compute(variable, value) | Item::Assign(variable, value) => {
                    let name = &self.program.variable(*variable).name;
                    self.add(name, value);
                }
                Item::Repeat { times, items, until } => {
                    self.add("repeat", times);
                    self.items(items);
                    if let Some(until) = until {
                        self.add("until", until);
                    }
                }
            }
        }
    }

    fn add(&mut self, name: &str, value: &'p Expr) {
        let sequence = self.sequence(value);
        let root = self.root(value);
        let first = match &root.kind {
            Kind::Apply(Operator::Map, _, parts) => Some(self.root(&parts[0])),
            _ => None,
        };
        let of = |operator: Operator| matches!(first, Some(Expr { kind: Kind::Apply(found, ..), .. }) if *found == operator);
        let nested = |expr: &Expr| matches!(expr.kind, Kind::Apply(Operator::Nest, ..));
        let zipped = |expr: &Expr| match &expr.kind {
            Kind::Apply(Operator::Zip, _, parts) => parts.iter().any(|part| nested(self.root(part))),
            _ => nested(expr),
        };
        let irregular = first.is_some_and(zipped);
        let flat = value.ty.element().is_some_and(|element| !element.has_sequence());
        let mut features = Vec::new();
        if !sequence.is_empty() {
            features.push("length");
            if of(Operator::Split) {
                features.push("aspect_ratio");
            }
            if irregular {
                features.extend(["average_row_length", "row_length_skew"]);
            }
        }
        let in_order = matches!(&root.kind, Kind::Apply(Operator::Reduce | Operator::Scan, Some(function), _)
            if function.builtin.is_none() && !function.associative);
        let row_length = first.and_then(|first| match &first.kind {
            Kind::Apply(Operator::Split, _, parts) => self.number(&parts[1]),
            _ => None,
        });
        // Truth values are words there.
        let element = value.ty.element().filter(|_| flat);
        let leaves = element.map(Type::leaves).unwrap_or_default();
        let bytes = |(scalar, count): (Scalar, usize)| (scalar.bytes().max(4) * count) as i64;
        self.list.push(Computation {
            row_length,
            element_bytes: leaves.into_iter().map(bytes).sum(),
            name: name.to_owned(),
            span: value.span.clone(),
            tiled: flat && !irregular && sequence.first() == Some(&Operator::Map),
            sequence,
            irregular,
            features,
            in_order,
        });
    }

    /// A whole number that the text tells.
    fn number(&self, expr: &'p Expr) -> Option<i64> {
        match &self.root(expr).kind {
            Kind::Literal(Literal::I64(value)) => Some(*value),
            Kind::Variable(id) => match self.program.variable(*id).role {
                Role::Param(Literal::I64(value)) => Some(value),
                _ => None,
            },
            _ => None,
        }
    }

    /// The expression behind names.
    fn root(&self, expr: &'p Expr) -> &'p Expr {
        match &expr.kind {
            Kind::Variable(variable) => self.lets.get(variable).map_or(expr, |value| self.root(value)),
            Kind::Let(_, _, body) => self.root(body),
            _ => expr,
        }
    }

    fn sequence(&self, expr: &'p Expr) -> Vec<Operator> {
        match &expr.kind {
            Kind::Variable(variable) => {
                self.lets.get(variable).map_or(Vec::new(), |value| self.sequence(value))
            }
            Kind::Apply(operator, function, parts) => {
                let body = function.iter().map(|function| self.sequence(&function.body));
                let inner = longest(body.chain(parts.iter().map(|part| self.fused(part))));
                [vec![*operator], inner].concat()
            }
            _ => longest(expr.children().into_iter().map(|child| self.sequence(child))),
        }
    }

    /// The operators that are nested in the functions of a fused operand.
    fn fused(&self, expr: &'p Expr) -> Vec<Operator> {
        match &expr.kind {
            Kind::Variable(variable) => self.lets.get(variable).map_or(Vec::new(), |value| self.fused(value)),
            Kind::Apply(_, function, parts) => {
                let body = function.iter().map(|function| self.sequence(&function.body));
                longest(body.chain(parts.iter().map(|part| self.fused(part))))
            }
            _ => longest(expr.children().into_iter().map(|child| self.fused(child))),
        }
    }
}

/// The longest list; the first one of these.
fn longest(lists: impl Iterator<Item = Vec<Operator>>) -> Vec<Operator> {
    lists.fold(Vec::new(), |best, list| if list.len() > best.len() { list } else { best })
}

/// A sequence as the dissertation writes it.
pub fn text(sequence: &[Operator]) -> String {
    sequence.iter().map(|operator| operator.name()).collect::<Vec<_>>().join(" > ")
}
