//! Loops that count: index, bounds and direction of one, as it is written.

use super::refusal::Result;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, StmtKind};
use crate::codes;
use crate::integer;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;

/// A loop that counts.
pub(super) struct Counter {
    pub name: String,
    pub type_name: Option<String>,
    pub first: Expr,
    pub limit: Expr,
    /// `<=` or `>=` instead of `<` or `>`.
    pub inclusive: bool,
    pub descending: bool,
    /// What it counts by, at least 1.
    pub by: i64,
}

impl Counter {
    /// Refuses a loop over space that leaves points out.
    pub fn by_one(self, source: &ForLoop) -> Result<Counter> {
        if self.by == 1 {
            return Ok(self);
        }
        let place = source.step.as_ref().map_or(&source.head, |step| &step.span);
        let reason =
            Diagnostic::limitation(codes::LOOP_FORM, place.clone(), "the loop does not count by one");
        if self.by > MOST_COLOURS {
            return Err(Box::new(
                reason
                    .note("loops over space compute every point of a box; blocks that are made by hand are not taken apart")
                    .hint("write the loop without blocks: tiles are blocks of their own"),
            ));
        }
        Err(Box::new(
            reason
                .note(
                    "loops over space compute every point of a box; updates in place of every second one (red-black) are \
                     taken where all of the time loop are such loops, one for each colour, which differ in the colour alone",
                )
                .hint("write the loop as `for (i = low; i < high; i++)`, or give every colour a loop of this form"),
        ))
    }
}

/// By so many points loops over one colour count, at most.
const MOST_COLOURS: i64 = 4;

/// Largest step of a time loop.
const MOST_STEP: i64 = 1 << 20;

/// A loop's index, bounds and direction.
pub(super) fn counter(source: &ForLoop) -> Result<Counter> {
    counter_by(source, &|value| integer::literal(value).filter(|by| *by != 0 && by.abs() <= MOST_STEP))
}

/// The same, where `one` says how far a step is.
fn counter_by(source: &ForLoop, one: &dyn Fn(&Expr) -> Option<i64>) -> Result<Counter> {
    let form = |span: &Span, message: &str| {
        Err(Box::new(
            Diagnostic::limitation(codes::LOOP_FORM, span.clone(), message)
                .hint("write the loop as `for (i = low; i < high; i++)`"),
        ))
    };
    let (name, type_name, first) = match source.start.as_ref().map(|start| &start.kind) {
        Some(StmtKind::Declaration(variables)) => match variables.as_slice() {
            [variable] => match (&variable.ctype, &variable.value) {
                (CType::Integer { name, .. }, Some(value)) => {
                    (variable.name.clone(), Some(name.clone()), value.clone())
                }
                _ => return form(&variable.span, "the loop's index is not an integer with a first value"),
            },
            _ => return form(&source.head, "a loop with several indices"),
        },
        Some(StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. })) => {
            match &target.kind {
                ExprKind::Name(name) => (name.clone(), None, (**value).clone()),
                _ => return form(&target.span, "the loop's index is not a variable"),
            }
        }
        Some(StmtKind::Expr(Expr { kind: ExprKind::Comma(..), span })) => {
            return form(span, "a loop with several indices");
        }
        _ => return form(&source.head, "the loop does not say where its index starts"),
    };
    let Some(condition) = &source.condition else {
        return form(&source.head, "the loop does not say where it ends");
    };
    let ExprKind::Binary(operator, left, right) = &condition.kind else {
        return form(&condition.span, "the loop's condition is not a comparison of its index");
    };
    let (left, right) = &alone(left, right, &name);
    let is_index = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(other) if *other == name);
    let (operator, limit) = if is_index(left) {
        (*operator, right)
    } else if is_index(right) {
        let mirrored = match operator {
            BinaryOp::Less => BinaryOp::Greater,
            BinaryOp::LessEqual => BinaryOp::GreaterEqual,
            BinaryOp::Greater => BinaryOp::Less,
            BinaryOp::GreaterEqual => BinaryOp::LessEqual,
            other => *other,
        };
        (mirrored, left)
    } else {
        return form(&condition.span, "the loop's condition is not a comparison of its index");
    };
    if limit.mentions(&name) {
        return form(&condition.span, "the loop's end depends on its own index");
    }
    let by = match source.step.as_ref().map(|step| (&step.kind, step)) {
        Some((ExprKind::Step(by, operand), _)) if is_index(operand) => *by,
        Some((ExprKind::Assign(operator, target, value), step)) if is_index(target) => {
            let by = match (operator, &value.kind) {
                (Some(BinaryOp::Add), _) => one(value),
                (Some(BinaryOp::Sub), _) => one(value).map(|by| -by),
                (None, ExprKind::Binary(BinaryOp::Add, a, b)) if is_index(a) => one(b),
                (None, ExprKind::Binary(BinaryOp::Add, a, b)) if is_index(b) => one(a),
                (None, ExprKind::Binary(BinaryOp::Sub, a, b)) if is_index(a) => one(b).map(|by| -by),
                _ => None,
            };
            match by {
                Some(by) => by,
                None => return form(&step.span, "the loop does not count by a constant"),
            }
        }
        Some((ExprKind::Comma(..), step)) => return form(&step.span, "a loop with several indices"),
        Some((_, step)) => return form(&step.span, "the loop does not count by a constant"),
        None => return form(&source.head, "the loop does not count"),
    };
    let descending = by < 0;
    let inclusive = match (operator, descending) {
        (BinaryOp::Less, false) | (BinaryOp::Greater, true) => false,
        (BinaryOp::NotEqual, _) if by.abs() == 1 => false,
        (BinaryOp::LessEqual, false) | (BinaryOp::GreaterEqual, true) => true,
        _ => {
            return form(
                &condition.span,
                "the loop's condition does not end it in the direction in which it counts",
            );
        }
    };
    Ok(Counter { name, type_name, first, limit: (**limit).clone(), inclusive, descending, by: by.abs() })
}

/// The index of a loop that counts up by something, its first value, an end of its values, and what it counts by.
pub(crate) fn counted_by(source: &ForLoop) -> Option<(String, Expr, Expr, Expr)> {
    let step = &source.step.as_ref()?.kind;
    let ExprKind::Assign(operator @ (Some(BinaryOp::Add) | None), target, value) = step else { return None };
    let ExprKind::Name(index) = &target.kind else { return None };
    let is_index = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(name) if name == index);
    let by = match (operator, &value.kind) {
        (Some(_), _) => value,
        (None, ExprKind::Binary(BinaryOp::Add, a, b)) if is_index(a) => b,
        (None, ExprKind::Binary(BinaryOp::Add, a, b)) if is_index(b) => a,
        _ => return None,
    };
    // Any step upwards.
    let own = counter_by(source, &|_| Some(1)).ok()?;
    let limit = if own.inclusive { plus_one(own.limit) } else { own.limit };
    Some((own.name, own.first, limit, (**by).clone()))
}

fn plus_one(value: Expr) -> Expr {
    let span = value.span.clone();
    let one = Expr { kind: ExprKind::Integer { value: 1, text: "1".to_owned() }, span: span.clone() };
    Expr { kind: ExprKind::Binary(BinaryOp::Add, Box::new(value), Box::new(one)), span }
}

/// The index of a loop that counts up by one, its first value and the one behind its last.
pub(crate) fn counted(source: &ForLoop) -> Option<(String, Expr, Expr)> {
    let own = counter(source).ok().filter(|own| own.by == 1 && !own.descending)?;
    let limit = if own.inclusive { plus_one(own.limit) } else { own.limit };
    Some((own.name, own.first, limit))
}

/// `i + 1 < n` compares `i` with `n - 1`.
fn alone(left: &Expr, right: &Expr, name: &str) -> (Box<Expr>, Box<Expr>) {
    if let ExprKind::Binary(BinaryOp::Add, index, by) = &left.kind
        && matches!(&index.kind, ExprKind::Name(own) if own == name)
        && integer::literal(by).is_some_and(|by| by > 0)
    {
        let kind = ExprKind::Binary(BinaryOp::Sub, Box::new(right.clone()), by.clone());
        return (index.clone(), Box::new(Expr { kind, span: right.span.clone() }));
    }
    (Box::new(left.clone()), Box::new(right.clone()))
}
