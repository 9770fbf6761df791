//! Whether anything reads what a quiet step leaves in scalars. Such a step is not run as it is written; the next one that
//! is, computes its own scalars. So each must be assigned in a step before it is read there.
//!
//! Loops of a step run over the same points in every step: either the last one of these assigns what is assigned within
//! them, or none ever did.

use super::kinds::{Kind, Step};
use super::names::{self, indices};
use crate::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use crate::codes;
use crate::nest::counter::counter;
use crate::nest::refusal::Result;
use crate::nest::time::{Found, Loop};
use crate::parse::Region;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::collections::HashSet;

/// Refuses a body in which a scalar may be read that an earlier step has assigned, and that is not kept. `whole`: its statements
/// as they are written.
pub(super) fn check(
    region: &Region,
    found: &Found<'_>,
    (list, whole): (&[Stmt], &[Stmt]),
    step: &Step,
) -> Result<()> {
    for (at, stmt) in list.iter().enumerate() {
        if matches!(step.kinds[at], Kind::Computed | Kind::Stencil { whole: false }) {
            fixed_loops(stmt, step, list)?;
        }
    }
    let (skipped, timers) = (&step.skipped, &step.timers);
    let mut flow = Flow { region, skipped, timers, assigned: HashSet::new(), exposed: None };
    whole.iter().for_each(|stmt| flow.statement(stmt));
    let head: Vec<&Expr> = match found.source {
        Loop::For(source) => source.step.iter().chain(&source.condition).collect(),
        Loop::While(source) => vec![&source.condition],
    };
    head.into_iter().for_each(|expr| flow.expression(expr));
    let behind = flow.left_under_conditions(whole).map(|(name, span)| (name, span, "behind the loop"));
    match flow.exposed.map(|(name, span)| (name, span, "here")).or(behind) {
        None => Ok(()),
        Some((name, span, place)) => Err(Box::new(
            Diagnostic::limitation(
                codes::OBSERVED,
                span,
                format!("`{name}` may hold {place} what an earlier time step has assigned"),
            )
            .note("steps between observations run in tiles, which keep the arrays and what is counted, not scalars of the data")
            .hint(format!("assign `{name}` in each time step before it is read")),
        )),
    }
}

/// A scalar that one statement of a step leaves behind and that others, or the head of the loop, read, and where they do. The
/// indices of loops that run in every step are not meant: they hold what C leaves in them.
pub(super) fn read_around(
    region: &Region,
    found: &Found<'_>,
    list: &[Stmt],
    at: usize,
    step: &Step,
) -> Option<(String, Span)> {
    let mut left = crate::nest::scalars::assigned(&list[at]).1;
    // Numbers of buffers that take turns hold what C leaves in them, too.
    left.retain(|name| !step.turns.contains(name));
    leave_indices(&list[at], &mut left);
    let mut flow =
        Flow { region, skipped: &left, timers: &step.timers, assigned: HashSet::new(), exposed: None };
    list[at + 1..].iter().for_each(|stmt| flow.statement(stmt));
    let head: Vec<&Expr> = match found.source {
        Loop::For(source) => source.step.iter().chain(&source.condition).collect(),
        Loop::While(source) => vec![&source.condition],
    };
    head.into_iter().for_each(|expr| flow.expression(expr));
    list[..at].iter().for_each(|stmt| flow.statement(stmt));
    flow.exposed
}

/// Takes the indices of a loop, and of those that run in each of its rounds, out of what is left behind.
fn leave_indices(stmt: &Stmt, left: &mut HashSet<String>) {
    match &stmt.kind {
        StmtKind::Block(list) => list.iter().for_each(|stmt| leave_indices(stmt, left)),
        StmtKind::For(source) => {
            if let Ok(own) = counter(source) {
                left.remove(&own.name);
                leave_indices(&source.body, left);
            }
        }
        _ => {}
    }
}

/// Loops over other points in every step could leave a scalar alone in some of them.
fn fixed_loops(stmt: &Stmt, step: &Step, list: &[Stmt]) -> Result<()> {
    let locals = crate::nest::scalars::declared(list);
    let own = indices(stmt);
    let mut moves = None;
    stmt.walk(&mut |part| {
        if let StmtKind::For(source) = &part.kind {
            let mut used = HashSet::new();
            used.extend(source.condition.iter().flat_map(names::of));
            if let Some(start) = &source.start {
                used.extend(names::within(start));
            }
            let inner = crate::nest::scalars::declared(std::slice::from_ref(stmt));
            let changes = |name: &&String| {
                step.counts.contains(*name)
                    || (locals.contains(*name) && !own.contains(*name) && !inner.contains(*name))
            };
            if let Some(name) = used.iter().find(changes) {
                moves.get_or_insert((name.clone(), source.head.clone()));
            }
        }
    });
    match moves {
        None => Ok(()),
        Some((name, span)) => Err(Box::new(
            Diagnostic::limitation(
                codes::BOUND,
                span,
                format!("this bound depends on `{name}`, which changes in the time loop"),
            )
            .note("every time step must compute the same points"),
        )),
    }
}

struct Flow<'a> {
    region: &'a Region,
    /// The scalars that are asked about.
    skipped: &'a HashSet<String>,
    timers: &'a HashSet<String>,
    assigned: HashSet<String>,
    exposed: Option<(String, Span)>,
}

impl Flow<'_> {
    /// A scalar that is read behind the time loop and that the last step does not assign for certain, and where it is assigned.
    fn left_under_conditions(&self, list: &[Stmt]) -> Option<(String, Span)> {
        let open = |name: &String| self.skipped.contains(name) && !self.assigned.contains(name);
        let mut names: Vec<&String> = self.region.used_behind.iter().filter(|name| open(name)).collect();
        names.sort();
        let name = (*names.first()?).clone();
        let mut place = None;
        list.iter().for_each(|stmt| {
            stmt.walk_expressions(&mut |expr| {
                if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &expr.kind
                    && matches!(&target.kind, ExprKind::Name(other) if *other == name)
                {
                    place.get_or_insert_with(|| expr.span.clone());
                }
            });
        });
        let place = place.or_else(|| list.first().map(|stmt| stmt.span.clone()))?;
        Some((name, place))
    }

    fn reads(&mut self, name: &str, span: &Span) {
        if self.skipped.contains(name) && !self.assigned.contains(name) {
            self.exposed.get_or_insert((name.to_owned(), span.clone()));
        }
    }

    /// Something else reads variables: `which` of them.
    fn reads_all(&mut self, span: &Span, which: impl Fn(&Region, &str) -> bool) {
        let mut names: Vec<&String> = self.skipped.iter().filter(|name| which(self.region, name)).collect();
        names.sort();
        for name in names {
            self.reads(name, span);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Empty => {}
            StmtKind::Block(list) => list.iter().for_each(|stmt| self.statement(stmt)),
            StmtKind::Declaration(own) => {
                for one in own {
                    one.value.iter().for_each(|value| self.expression(value));
                    self.assigned.insert(one.name.clone());
                }
            }
            StmtKind::Expr(expr) => self.expression(expr),
            StmtKind::For(source) => {
                if let Some(start) = &source.start {
                    self.statement(start);
                }
                source.condition.iter().for_each(|expr| self.expression(expr));
                self.statement(&source.body);
                source.step.iter().for_each(|expr| self.expression(expr));
            }
            StmtKind::While(source) => {
                self.expression(&source.condition);
                let before = self.assigned.clone();
                self.statement(&source.body);
                self.assigned = before;
            }
            StmtKind::If(condition, then, otherwise) => {
                self.expression(condition);
                let before = self.assigned.clone();
                self.statement(then);
                let after = std::mem::replace(&mut self.assigned, before);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise);
                }
                self.assigned.retain(|name| after.contains(name));
            }
            // Regions have none: theirs leave the loop, like `break`.
            StmtKind::Return(value) => value.iter().for_each(|value| self.expression(value)),
            StmtKind::Other(kind, names) => {
                let behind: HashSet<&String> = self.region.used_behind.iter().collect();
                if kind != "switch" {
                    // What leaves the step early may leave the loop.
                    self.reads_all(&stmt.span, |_, name| behind.contains(&name.to_owned()));
                }
                for name in names {
                    self.reads(name, &stmt.span);
                }
                self.reads_all(&stmt.span, is_seen);
            }
        }
    }

    fn expression(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Integer { .. } | ExprKind::Floating { .. } | ExprKind::Turn { .. } => {}
            ExprKind::Name(name) => self.reads(name, &expr.span),
            ExprKind::Other(_, text) => {
                let mut words: Vec<&str> = crate::preprocess::words(text).into_iter().collect();
                words.sort_unstable();
                words.into_iter().for_each(|word| self.reads(word, &expr.span));
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                self.expression(left);
                self.sometimes(right);
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.expression(condition);
                self.sometimes(then);
                self.sometimes(otherwise);
            }
            ExprKind::Assign(operator, target, value) => {
                self.expression(value);
                match &target.kind {
                    ExprKind::Name(name) => {
                        if operator.is_some() {
                            self.reads(name, &target.span);
                        }
                        self.assigned.insert(name.clone());
                    }
                    _ => self.expression(target),
                }
            }
            ExprKind::Unary(UnaryOp::Address, operand) => {
                // Where it is read into: `gettimeofday(&now, 0)`.
                match &operand.kind {
                    ExprKind::Name(name) if self.timers.contains(name) => {
                        self.assigned.insert(name.clone());
                    }
                    _ => self.expression(operand),
                }
            }
            ExprKind::Unary(_, a) | ExprKind::Step(_, a) | ExprKind::Cast(_, a) | ExprKind::Member(a, ..) => {
                self.expression(a);
            }
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Comma(a, b) => {
                self.expression(a);
                self.expression(b);
            }
            ExprKind::List(list) => list.iter().for_each(|one| self.expression(one)),
            ExprKind::Call(function, arguments) => {
                arguments.iter().for_each(|one| self.expression(one));
                let call =
                    Expr { kind: ExprKind::Call(function.clone(), Vec::new()), span: expr.span.clone() };
                if names::calls_unknown(self.region, &call) {
                    self.reads_all(&expr.span, is_seen);
                }
            }
        }
    }

    fn sometimes(&mut self, expr: &Expr) {
        let before = self.assigned.clone();
        self.expression(expr);
        self.assigned = before;
    }
}

/// Whether other functions may read a variable.
fn is_seen(region: &Region, name: &str) -> bool {
    region.variables.get(name).is_some_and(|one| one.global) || region.addressed.contains(name)
}
