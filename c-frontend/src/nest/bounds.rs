//! What the bounds of loops must be: integers that the time loop leaves alone, compared as the numbers that they are.

use super::counter::Counter;
use super::refusal::Result;
use super::walker::Walker;
use crate::ast::{CType, Expr, ExprKind, Variable};
use crate::codes;
use crate::integer::{IntType, is_unsigned};
use crate::text::c_text;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;

impl Walker<'_> {
    /// The time loop's bounds must be integers that its body leaves alone.
    pub(super) fn check_time_bounds(&mut self) -> Result<()> {
        let Some((first, limit)) = self.nest.time.bounds.clone() else { return Ok(()) };
        for bound in [&first, &limit] {
            self.check_invariant(bound)?;
            if !self.kind_of(bound)?.is_integer() {
                let message = "this bound of the time loop is not an integer";
                return Err(Box::new(
                    Diagnostic::limitation(codes::TIME_LOOP, bound.span.clone(), message)
                        .hint("compute the number of steps before the region, as an integer"),
                ));
            }
        }
        let own = IntType::named(&self.nest.time.type_name, is_unsigned(&self.nest.time.type_name));
        let head = self.nest.time.head.clone();
        self.check_sign(own, &first, &limit, &head)
    }

    /// Indices that may be negative must not be compared as unsigned numbers.
    pub(super) fn check_signs(&self, counter: &Counter, head: &Span) -> Result<()> {
        let own = match (&counter.type_name, self.region.variables.get(&counter.name)) {
            (Some(name), _) => IntType::named(name, is_unsigned(name)),
            (None, Some(Variable { ctype: CType::Integer { name, unsigned }, .. })) => {
                IntType::named(name, *unsigned)
            }
            (None, _) => return Ok(()),
        };
        // One that counts down ends above its limit, which is not negative where it is unsigned.
        if counter.descending { Ok(()) } else { self.check_sign(own, &counter.first, &counter.limit, head) }
    }

    fn check_sign(&self, own: IntType, first: &Expr, limit: &Expr, head: &Span) -> Result<()> {
        if !self.wraps(own, first, limit) {
            return Ok(());
        }
        Err(Box::new(
            Diagnostic::limitation(
                codes::BOUND,
                limit.span.clone(),
                "an index that may be negative is compared with an unsigned number",
            )
            .related(head.clone(), "this loop")
            .note("C compares both as unsigned numbers, where -1 is the largest")
            .hint("convert the bound to `int` or `long`"),
        ))
    }

    /// An integer expression of things that the time loop does not change.
    pub(super) fn check_invariant(&mut self, bound: &Expr) -> Result<()> {
        let mut problem = None;
        bound.walk(&mut |part| {
            let text = || c_text(part, &|_| None);
            let found = match &part.kind {
                ExprKind::Call(..) => Some(format!("this bound calls a function, `{}`", text())),
                ExprKind::Assign(..) | ExprKind::Step(..) => Some("this bound changes something".to_owned()),
                ExprKind::Other(kind, _) if kind != "sizeof expression" => {
                    Some(format!("this bound holds a {kind}"))
                }
                ExprKind::Name(name) if self.assigned.contains(name) || *name == self.nest.time.name => {
                    Some(format!("this bound depends on `{name}`, which changes in the time loop"))
                }
                ExprKind::Name(name) if self.states.contains(name) => {
                    let pointer = self.region.variables.get(name).is_some_and(|one| {
                        matches!(&one.ctype, CType::Pointer(to) if !matches!(**to, CType::Floating(_) | CType::Integer { .. }))
                    });
                    Some(match pointer {
                        true => format!("this bound is read through `{name}`, which points to something else in each time step"),
                        false => format!("this bound depends on the data, on `{name}`"),
                    })
                }
                _ => None,
            };
            if let Some(message) = found {
                problem.get_or_insert((part.span.clone(), message));
            }
        });
        match problem {
            None => Ok(()),
            Some((span, message)) => Err(Box::new(
                Diagnostic::limitation(codes::BOUND, span, message)
                    .note("bounds must be known before the time loop starts")
                    .hint("compute the bound before the region and use a variable"),
            )),
        }
    }
}
