//! What decides whether a step is quiet, as C that runs ahead of it.

use super::kinds::{Kind, Step};
use super::names;
use super::parts::{Control, Test};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use crate::codes;
use crate::integer::literal;
use crate::nest::refusal::{Result, limitation};
use crate::nest::time::{Found, Loop};
use crate::parse::Region;
use crate::text::{c_text, type_text, without_parentheses};
use polyhedral::diagnostic::Diagnostic;
use std::collections::HashSet;
use std::ops::Range;

/// The round of a loop.
pub(super) struct Controls<'a> {
    region: &'a Region,
    step: &'a Step,
    tests: &'a [Test],
    pub scalars: Vec<(String, String)>,
    pub round: Vec<Control>,
    pub first: String,
    pub asked: Vec<Expr>,
    /// The comparisons that tests stand for.
    pub used: Vec<Expr>,
    /// Scalars of the body that are known in a round.
    locals: HashSet<String>,
}

impl<'a> Controls<'a> {
    pub fn new(
        region: &'a Region,
        found: &Found<'_>,
        list: &[Stmt],
        step: &'a Step,
        (cut, last_as_written): (Range<usize>, bool),
        tests: &'a [Test],
    ) -> Result<Controls<'a>> {
        let mut controls = Controls {
            region,
            step,
            tests,
            scalars: Vec::new(),
            round: Vec::new(),
            first: "0".to_owned(),
            asked: Vec::new(),
            used: Vec::new(),
            locals: HashSet::new(),
        };
        let (behind, before) = match last_as_written {
            true => (0..list.len(), 0..0),
            false => (cut.end..list.len(), 0..cut.start),
        };
        for at in behind {
            controls.statement(&list[at], &step.kinds[at], !last_as_written)?;
        }
        match found.source {
            Loop::For(source) => {
                source.step.iter().try_for_each(|expr| controls.count(expr))?;
                source.condition.iter().try_for_each(|expr| controls.goes_on(expr))?;
            }
            Loop::While(source) => controls.goes_on(&source.condition)?,
        }
        for at in before {
            controls.statement(&list[at], &step.kinds[at], true)?;
        }
        let mut names: Vec<&String> = step.counts.iter().collect();
        names.sort();
        for name in names {
            let Some(variable) = region.variables.get(name) else { continue };
            controls.scalars.push((name.clone(), type_text(&variable.ctype)));
        }
        if let Some(index) = &step.index {
            controls.first = controls.first_index(index, list, last_as_written)?;
        }
        Ok(controls)
    }

    /// The time index where the stencil is computed first, seen from the cut.
    fn first_index(&self, index: &super::index::Index, list: &[Stmt], from_start: bool) -> Result<String> {
        let Some(at) = index.at.filter(|_| from_start) else { return Ok(index.name.clone()) };
        let mut stencil = (0..list.len()).filter(|at| matches!(self.step.kinds[*at], Kind::Stencil { .. }));
        let uses = |at: usize| names::within(&list[at]).contains(&index.name);
        let (ahead, later): (Vec<usize>, Vec<usize>) =
            stencil.by_ref().filter(|at| uses(*at)).partition(|own| *own < at);
        match (ahead.is_empty(), later.is_empty()) {
            (_, true) => Ok(index.name.clone()),
            (true, false) => Ok(format!("{} + {}", index.name, index.by)),
            (false, false) => limitation(
                codes::TIME_LOOP,
                &list[at].span,
                format!("`{}` changes within the time step", index.name),
            ),
        }
    }

    fn statement(&mut self, stmt: &Stmt, kind: &Kind, replaced: bool) -> Result<()> {
        match (kind, &stmt.kind) {
            (Kind::Stencil { .. } | Kind::Computed, _) => Ok(()),
            (Kind::Count, StmtKind::Expr(expr)) => self.count(expr),
            (Kind::Local, StmtKind::Declaration(own)) => {
                for one in own {
                    let Some(value) = &one.value else { continue };
                    self.known(value)?;
                    self.locals.insert(one.name.clone());
                    self.round.push(Control::Let(
                        type_text(&one.ctype),
                        one.name.clone(),
                        without_parentheses(&c_text(value, &|_| None)),
                    ));
                }
                Ok(())
            }
            (Kind::Timer, _) if replaced => Ok(()),
            (Kind::Timer, _) => Err(Box::new(
                Diagnostic::limitation(
                    codes::OBSERVED,
                    stmt.span.clone(),
                    "a clock is read in every time step",
                )
                .note("tiles overlap several steps, of which each has no time of its own")
                .hint("read the clock before and behind the time loop"),
            )),
            (Kind::Output, StmtKind::Expr(expr)) => {
                if let ExprKind::Call(_, arguments) = &expr.kind {
                    let values = arguments.iter().filter(|one| !matches!(one.kind, ExprKind::Other(..)));
                    values.into_iter().try_for_each(|one| self.known_to(one, "written"))?;
                }
                self.round.push(Control::Say(format!("{};", c_text(expr, &|_| None))));
                Ok(())
            }
            (_, StmtKind::If(condition, _, otherwise)) => {
                self.stops(condition, false)?;
                match otherwise {
                    None => Ok(()),
                    Some(otherwise) if matches!(otherwise.kind, StmtKind::If(..)) => {
                        self.statement(otherwise, kind, replaced)
                    }
                    Some(otherwise) => Err(Box::new(
                        Diagnostic::limitation(
                            codes::OBSERVED,
                            otherwise.span.clone(),
                            "this or what stands before `else` runs in every time step",
                        )
                        .related(condition.span.clone(), "on this condition")
                        .note("steps run together in tiles as long as nothing happens between them"),
                    )),
                }
            }
            _ => limitation(codes::OBSERVED, &stmt.span, "this runs in every time step, between two steps"),
        }
    }

    /// A statement that counts.
    fn count(&mut self, expr: &Expr) -> Result<()> {
        let counts = |name: &str| self.step.counts.contains(name);
        match &expr.kind {
            ExprKind::Comma(left, right) => {
                self.count(left)?;
                return self.count(right);
            }
            ExprKind::Assign(_, target, value) => {
                if let ExprKind::Name(name) = &target.kind
                    && counts(name)
                    && names::only_reads(self.region, value)
                {
                    self.known(value)?;
                    self.round
                        .push(Control::Count(format!("{};", without_parentheses(&c_text(expr, &|_| None)))));
                    return Ok(());
                }
            }
            ExprKind::Step(_, target) => {
                if let ExprKind::Name(name) = &target.kind
                    && counts(name)
                {
                    self.round
                        .push(Control::Count(format!("{};", without_parentheses(&c_text(expr, &|_| None)))));
                    return Ok(());
                }
            }
            _ => {}
        }
        limitation(codes::TIME_LOOP, &expr.span, "the time loop does not count in scalars alone")
    }

    /// The condition on which the loop goes on.
    fn goes_on(&mut self, condition: &Expr) -> Result<()> {
        if literal(condition).is_some_and(|value| value != 0) {
            return Ok(());
        }
        self.stops(condition, true)
    }

    /// Conditions of which one holds wherever this one does, or, `inverted`, does not.
    fn stops(&mut self, condition: &Expr, inverted: bool) -> Result<()> {
        match &condition.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => return self.stops(operand, !inverted),
            ExprKind::Binary(operator @ (BinaryOp::And | BinaryOp::Or), left, right)
                if self.known(condition).is_err() =>
            {
                // `!(a && b)` holds where `!a` or `!b` does.
                let either = (*operator == BinaryOp::Or) != inverted;
                if either {
                    self.stops(left, inverted)?;
                    return self.stops(right, inverted);
                }
                // Both must hold: one of them, that is known, is enough to ask.
                if is_rare(left, inverted) && self.known(left).is_ok() {
                    return self.stops(left, inverted);
                }
                if is_rare(right, inverted) && self.known(right).is_ok() {
                    return self.stops(right, inverted);
                }
                // Else a test of one, if there is one.
                for side in [left, right] {
                    let before = (self.round.len(), self.used.len());
                    if self.known(side).is_err() && self.stops(side, inverted).is_ok() {
                        return Ok(());
                    }
                    self.round.truncate(before.0);
                    self.used.truncate(before.1);
                }
                return self.known(condition);
            }
            _ => {}
        }
        if self.tests.iter().any(|test| test.stops == *condition && test.inverted == inverted) {
            self.used.push(condition.clone());
            return Ok(());
        }
        self.known(condition)?;
        let text = without_parentheses(&c_text(condition, &|_| None));
        self.round.push(Control::Stop(if inverted { format!("!({text})") } else { text }));
        Ok(())
    }

    /// Refuses a value that is asked for and not known before the step runs.
    fn known(&mut self, expr: &Expr) -> Result<()> {
        self.known_to(expr, "asked")
    }

    fn known_to(&mut self, expr: &Expr, used: &str) -> Result<()> {
        if !names::only_reads(self.region, expr) {
            return Err(Box::new(
                Diagnostic::limitation(codes::OBSERVED, expr.span.clone(), "this is asked in every time step, and changes something, or its value is not known before")
                    .note("steps run together in tiles as long as it is known before that nothing happens between them"),
            ));
        }
        // Steps behind the one in which a test ends the loop are counted, too; the program has no such steps.
        if !self.tests.is_empty()
            && let Some(part) = self.divides_by_counts(expr)
        {
            return limitation(
                codes::OBSERVED,
                &part.span,
                "a division of integers by what changes in each time step, which may be 0 where the loop has ended already",
            );
        }
        let mut data: Option<&Expr> = None;
        expr.walk(&mut |part| {
            let unknown = match &part.kind {
                ExprKind::Name(name) => {
                    self.step.states.contains(name)
                        || self.step.timers.contains(name)
                        || self.step.skipped.contains(name)
                        || self.step.turns.contains(name)
                        || self.region.variables.get(name).is_some_and(|one| one.ctype.is_watched())
                        || (!self.region.variables.contains_key(name) && !self.locals.contains(name))
                            && !self.region.functions.contains_key(name)
                            && !crate::nest::math::is_pure(name)
                }
                // What lies in memory must be the same in all rounds.
                ExprKind::Index(_, index) => self.moves(index),
                ExprKind::Unary(UnaryOp::Dereference, pointer) => self.moves(pointer),
                _ => false,
            };
            if unknown && data.is_none() {
                data = Some(part);
            }
        });
        let Some(part) = data else {
            self.asked.push(expr.clone());
            return Ok(());
        };
        let mut whole = part;
        expr.walk(&mut |around| {
            let covers = around.span.start <= whole.span.start && whole.span.end <= around.span.end;
            if covers && matches!(around.kind, ExprKind::Member(..)) {
                whole = around;
            }
        });
        let text = c_text(whole, &|_| None);
        let message =
            format!("this is {used} in every time step, and `{text}` is known only when the step has run");
        let do_so = if used == "written" { "write it" } else { "ask" };
        Err(Box::new(
            Diagnostic::limitation(codes::OBSERVED, whole.span.clone(), message)
                .note("steps run together in tiles as long as it is known before that nothing happens between them")
                .note("tests of a maximum over points, `if (d > m) m = d;` or `m = fmax(m, d)`, and of a sum of squares or absolute values can be kept in every step")
                .hint(format!("{do_so} every so many steps: `if (t % 100 == 0) {{ .. }}`")),
        ))
    }

    /// A division of integers, as far as names and numbers say so, by something that is counted.
    fn divides_by_counts<'e>(&self, expr: &'e Expr) -> Option<&'e Expr> {
        let mut found = None;
        expr.walk(&mut |part| {
            let ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, by) = &part.kind else { return };
            let mut floating = false;
            part.walk(&mut |one| {
                floating |= match &one.kind {
                    ExprKind::Floating { .. } | ExprKind::Cast(CType::Floating(_), _) => true,
                    ExprKind::Name(name) => {
                        let variable = self.region.variables.get(name);
                        variable.is_some_and(|one| matches!(one.ctype, CType::Floating(_)))
                    }
                    _ => false,
                };
            });
            if !floating && self.moves(by) {
                found = Some(part);
            }
        });
        found
    }

    fn moves(&self, expr: &Expr) -> bool {
        names::of(expr).iter().any(|name| self.step.counts.contains(name) || self.locals.contains(name))
    }
}

/// Whether a condition holds in few steps: it asks for one number, or one of so many.
fn is_rare(expr: &Expr, inverted: bool) -> bool {
    match &expr.kind {
        ExprKind::Unary(UnaryOp::Not, operand) => match &operand.kind {
            ExprKind::Binary(BinaryOp::Rem, ..) => !inverted,
            _ => is_rare(operand, !inverted),
        },
        ExprKind::Binary(BinaryOp::And, left, right) if !inverted => {
            is_rare(left, false) || is_rare(right, false)
        }
        ExprKind::Binary(BinaryOp::Equal, ..) => !inverted,
        ExprKind::Binary(BinaryOp::NotEqual, ..) => inverted,
        _ => false,
    }
}
