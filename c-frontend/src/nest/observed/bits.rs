//! A bit of each point for each step that goes on for certain: what keeps them, put in the place of what computes a maximum.

use super::maximum::is_name;
use super::parts::{STEP, Test};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Floating, ForLoop, Stmt, StmtKind, Variable};
use crate::nest::counter::counter;
use polyhedral::source::Span;

/// What keeps the bits of a test.
pub(super) struct Keeps<'a> {
    pub number: usize,
    pub kind: Floating,
    pub array: &'a str,
    pub bits: &'a str,
    pub operator: BinaryOp,
    pub limit: &'a Expr,
    pub span: &'a Span,
}

impl Keeps<'_> {
    fn made(&self, kind: ExprKind) -> Expr {
        Expr { kind, span: self.span.clone() }
    }

    fn name(&self, name: &str) -> Expr {
        self.made(ExprKind::Name(name.to_owned()))
    }

    fn binary(&self, operator: BinaryOp, left: Expr, right: Expr) -> Expr {
        self.made(ExprKind::Binary(operator, Box::new(left), Box::new(right)))
    }

    /// `T tw_d = value; seen[x] = seen[x] + (tw_d >= c ? bits[t - tw_first] : tw_d == tw_d ? 0 : tw_d);`
    pub fn statements(&self, value: &Expr, loops: &[&ForLoop], sides: &[(Expr, Expr)]) -> Vec<Stmt> {
        let local = format!("tw_d{}", self.number);
        let ctype = CType::Floating(self.kind);
        let value = self.made(ExprKind::Cast(ctype.clone(), Box::new(value.clone())));
        let declared = Variable {
            name: local.clone(),
            ctype,
            value: Some(value),
            span: self.span.clone(),
            global: false,
            constant: false,
        };
        let mut at: Option<Expr> = None;
        for (source, (_, high)) in loops.iter().zip(sides) {
            let Ok(counter) = counter(source) else { continue };
            let index = self.name(&counter.name);
            at = Some(match at {
                None => index,
                Some(outer) => {
                    let row = self.binary(BinaryOp::Mul, outer, high.clone());
                    self.binary(BinaryOp::Add, row, index)
                }
            });
        }
        let at = at.unwrap_or_else(|| integer(0, self.span));
        let element = self.made(ExprKind::Index(Box::new(self.name(self.array)), Box::new(at)));
        // The bit of the step is put in place of this name.
        let bit = self.made(ExprKind::Index(Box::new(self.name(self.bits)), Box::new(self.name(STEP))));
        let zero = self.made(ExprKind::Floating { text: "0.0".to_owned(), kind: self.kind });
        let same = self.binary(BinaryOp::Equal, self.name(&local), self.name(&local));
        let otherwise =
            self.made(ExprKind::Conditional(Box::new(same), Box::new(zero), Box::new(self.name(&local))));
        let goes_on = self.binary(self.operator, self.name(&local), self.limit.clone());
        let seen = self.made(ExprKind::Conditional(Box::new(goes_on), Box::new(bit), Box::new(otherwise)));
        let sum = self.binary(BinaryOp::Add, element.clone(), seen);
        let assignment = self.made(ExprKind::Assign(None, Box::new(element), Box::new(sum)));
        vec![
            Stmt { kind: StmtKind::Declaration(vec![declared]), span: self.span.clone() },
            Stmt { kind: StmtKind::Expr(assignment), span: self.span.clone() },
        ]
    }
}

/// The first index of each loop, and the one behind its last.
pub(super) fn sides(loops: &[&ForLoop]) -> Option<Vec<(Expr, Expr)>> {
    if loops.is_empty() || loops.len() > 3 {
        return None;
    }
    let mut sides = Vec::new();
    for source in loops {
        let counter = counter(source).ok().filter(|counter| counter.by == 1)?;
        let more = |expr: &Expr, by: i64| {
            let kind =
                ExprKind::Binary(BinaryOp::Add, Box::new(expr.clone()), Box::new(integer(by, &expr.span)));
            if by == 0 { expr.clone() } else { Expr { kind, span: expr.span.clone() } }
        };
        sides.push(match (counter.descending, counter.inclusive) {
            (false, inclusive) => (counter.first, more(&counter.limit, i64::from(inclusive))),
            (true, inclusive) => (more(&counter.limit, i64::from(!inclusive)), more(&counter.first, 1)),
        });
    }
    Some(sides)
}

fn integer(value: i64, span: &Span) -> Expr {
    Expr { kind: ExprKind::Integer { value, text: value.to_string() }, span: span.clone() }
}

/// Puts statements in the place of the one with this span.
pub(super) fn replace(stmt: &mut Stmt, span: &Span, by: &[Stmt]) {
    if stmt.span == *span && matches!(stmt.kind, StmtKind::Expr(_) | StmtKind::If(..)) {
        stmt.kind = StmtKind::Block(by.to_vec());
        return;
    }
    match &mut stmt.kind {
        StmtKind::Block(list) => list.iter_mut().for_each(|stmt| replace(stmt, span, by)),
        StmtKind::For(source) => replace(&mut source.body, span, by),
        StmtKind::If(_, then, otherwise) => {
            replace(then, span, by);
            otherwise.iter_mut().for_each(|otherwise| replace(otherwise, span, by));
        }
        _ => {}
    }
}

/// Puts the bit of the step that is computed in the place of the step's name.
pub(super) fn name_bits(body: &mut Stmt, tests: &[Test], (name, _, by): &(String, String, i64)) {
    let is_bits = |expr: &Expr| tests.iter().any(|test| is_name(expr, &test.bits));
    body.walk_expressions_mut(&mut |expr| {
        let ExprKind::Index(array, step) = &mut expr.kind else { return };
        if !is_bits(array) {
            return;
        }
        let span = step.span.clone();
        let made = |kind| Box::new(Expr { kind, span: span.clone() });
        let (time, first) = (made(ExprKind::Name(name.clone())), made(ExprKind::Name("tw_first".to_owned())));
        let passed = made(ExprKind::Binary(BinaryOp::Sub, time, first));
        *step = match by {
            1 => passed,
            by => made(ExprKind::Binary(BinaryOp::Div, passed, Box::new(integer(*by, &span)))),
        };
    });
}
