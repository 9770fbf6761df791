//! What has a meaning and cannot be done: operators that work on a whole sequence inside of a function, and values that
//! cannot be stored.

use super::checker::Checker;
use crate::codes;
use crate::program::{Expr, Item, Kind, Operator, Type, VarId};
use polyhedral::diagnostic::Diagnostic;

impl Checker<'_> {
    /// Checks the items of a program.
    pub fn forms(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Let(_, value) => self.inside(value, false, &mut Vec::new()),
                Item::Compute(variable, value) | Item::Assign(variable, value) => {
                    self.inside(value, false, &mut Vec::new());
                    let ty = self.variables[*variable].ty.clone();
                    if !is_stored(&ty) {
                        let message = format!("a value of type {ty} cannot be stored");
                        let diagnostic =
                            Diagnostic::limitation(codes::STORED_FORM, value.span.clone(), message);
                        let note = "stored are values without sequences, sequences of these, and sequences of such sequences";
                        self.report(diagnostic.note(note).hint("store its parts, or a flat sequence"));
                    }
                }
                Item::Repeat { times, items, until } => {
                    std::iter::once(times)
                        .chain(until)
                        .for_each(|expr| self.inside(expr, false, &mut Vec::new()));
                    self.forms(items);
                }
            }
        }
    }

    /// Checks an expression; `ordered` are the names of sequences whose elements come in order only.
    fn inside(&mut self, expr: &Expr, function: bool, ordered: &mut Vec<VarId>) {
        use Operator::*;
        if let Kind::Let(variable, value, _) = &expr.kind
            && function
            && is_ordered(value, ordered)
        {
            ordered.push(*variable);
        }
        let random = |part: &Expr| function && is_ordered(part, ordered);
        let wrong = match &expr.kind {
            Kind::Index(sequence, _) => random(sequence),
            Kind::Apply(Gather | Split | Nest | Striding | Reverse | Join | Cyclic, _, parts) => {
                parts.iter().any(random)
            }
            _ => false,
        };
        if wrong {
            let message = "elements of a scan are read here in another order than they are computed";
            let diagnostic = Diagnostic::limitation(codes::ORDERED, expr.span.clone(), message);
            let hint = "inside of a function a scan can be mapped, zipped, reduced, or be the result; store it with `compute` otherwise";
            self.report(diagnostic.hint(hint));
        }
        if let Kind::Apply(operator @ (ReduceByKey | SortByKey | Filter | Scatter), ..) = &expr.kind
            && function
        {
            let message = format!("`{}` inside of a function", operator.name());
            let diagnostic = Diagnostic::limitation(codes::IN_FUNCTION, expr.span.clone(), message);
            let hint = match operator {
                Filter => "of a condition inside of a function, write `map(|a| c ? a : 0, s)`",
                _ => "apply it to the whole sequence with `compute`",
            };
            self.report(diagnostic.note("it works on a whole sequence at once").hint(hint));
        }
        for child in expr.children() {
            self.inside(child, function, ordered);
        }
        if let Some(inner) = expr.function() {
            self.inside(&inner.body, true, ordered);
        }
    }
}

/// Whether elements come one after the other only.
pub fn is_ordered(expr: &Expr, ordered: &[VarId]) -> bool {
    match &expr.kind {
        Kind::Apply(Operator::Scan, ..) => true,
        Kind::Apply(Operator::Map | Operator::Zip, _, parts) => {
            parts.iter().any(|part| is_ordered(part, ordered))
        }
        Kind::Variable(variable) => ordered.contains(variable),
        Kind::Let(_, _, body) => is_ordered(body, ordered),
        Kind::Component(whole, _) => is_ordered(whole, ordered),
        _ => false,
    }
}

/// Whether a value of this type can be stored.
pub fn is_stored(ty: &Type) -> bool {
    match ty {
        Type::Sequence(element) => match &**element {
            Type::Sequence(inner) => !inner.has_sequence(),
            element => !element.has_sequence(),
        },
        ty => !ty.has_sequence(),
    }
}
