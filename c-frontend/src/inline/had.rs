//! Questions whether memory could be had: `p = malloc(..); if (p == NULL) { perror("malloc"); exit(1); }`.
//!
//! The tiled loops have memory of their own in the place of what functions take, and the loop runs as it is written where there is
//! none. So where they run, each such question has one answer. Whose answer is not used, since some memory stays the program's own,
//! is not taken apart at all.

use super::taking::{freed, is_null, taken};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use crate::nest::ENDS;
use crate::text::c_text;
use std::collections::HashSet;

/// Statements without questions whose answers are known. `own`: the functions of the program.
pub(super) fn answered(list: Vec<Stmt>, own: &dyn Fn(&str) -> bool) -> Vec<Stmt> {
    Answers { own, held: Vec::new() }.list(list)
}

struct Answers<'a> {
    own: &'a dyn Fn(&str) -> bool,
    /// The pointers to memory that was taken.
    held: Vec<Place>,
}

/// A pointer, such as `rows[i]`.
#[derive(Clone, PartialEq)]
struct Place {
    /// What is indexed.
    base: String,
    subscripts: usize,
    text: String,
    /// The names in it.
    names: HashSet<String>,
}

/// What is known of a condition.
enum Answer {
    Known(bool),
    Open(Expr),
}

impl Answers<'_> {
    fn list(&mut self, list: Vec<Stmt>) -> Vec<Stmt> {
        let mut found = Vec::new();
        for stmt in list {
            self.statement(stmt, &mut found);
        }
        found
    }

    fn single(&mut self, stmt: Stmt) -> Stmt {
        let span = stmt.span.clone();
        let mut list = Vec::new();
        self.statement(stmt, &mut list);
        match <[Stmt; 1]>::try_from(list) {
            Ok([one]) => one,
            Err(list) => Stmt { kind: StmtKind::Block(list), span },
        }
    }

    fn statement(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span.clone();
        let kind = match stmt.kind {
            StmtKind::Expr(expr) => match question(&expr) {
                Some(condition) => match self.answer(condition.clone(), out) {
                    Answer::Known(false) => return,
                    Answer::Known(true) => StmtKind::Expr(expr),
                    Answer::Open(condition) => {
                        let ExprKind::Call(function, _) = expr.kind else { return };
                        StmtKind::Expr(Expr {
                            kind: ExprKind::Call(function, vec![condition]),
                            span: expr.span,
                        })
                    }
                },
                None if self.is_asserted(&expr) => return,
                None => {
                    self.note(&expr);
                    StmtKind::Expr(expr)
                }
            },
            StmtKind::Declaration(list) => {
                for one in &list {
                    self.forget(&one.name);
                    match &one.value {
                        Some(value) if taken(value, self.own).is_some() => {
                            let name = ExprKind::Name(one.name.clone());
                            self.held.push(place(&Expr { kind: name, span: one.span.clone() }));
                        }
                        Some(value) => self.note(value),
                        None => {}
                    }
                }
                StmtKind::Declaration(list)
            }
            StmtKind::Block(list) => {
                let list = self.list(list);
                for stmt in &list {
                    let StmtKind::Declaration(own) = &stmt.kind else { continue };
                    own.iter().for_each(|one| self.forget(&one.name));
                }
                StmtKind::Block(list)
            }
            StmtKind::If(condition, then, otherwise) => match self.answer(condition, out) {
                Answer::Known(holds) => {
                    let taken = if holds { Some(then) } else { otherwise };
                    if let Some(taken) = taken {
                        self.statement(*taken, out);
                    }
                    return;
                }
                Answer::Open(condition) => {
                    let before = self.held.clone();
                    let then = Box::new(self.single(*then));
                    let behind = std::mem::replace(&mut self.held, before);
                    let otherwise = otherwise.map(|otherwise| Box::new(self.single(*otherwise)));
                    self.held.retain(|place| behind.contains(place));
                    StmtKind::If(condition, then, otherwise)
                }
            },
            StmtKind::For(mut source) => {
                // A later round finds what an earlier one has left, and there may be none.
                source.index().iter().for_each(|index| self.forget(index));
                self.spoil(&source.body);
                let before = self.held.clone();
                source.body = self.single(source.body);
                self.held = before;
                StmtKind::For(source)
            }
            StmtKind::While(mut source) => {
                self.spoil(&source.body);
                let before = self.held.clone();
                source.body = self.single(source.body);
                self.held = before;
                StmtKind::While(source)
            }
            other => other,
        };
        out.push(Stmt { kind, span });
    }

    /// What a condition says of memory that was taken; what it takes itself is taken before it.
    fn answer(&mut self, condition: Expr, before: &mut Vec<Stmt>) -> Answer {
        let span = condition.span.clone();
        let open = |kind| Answer::Open(Expr { kind, span: span.clone() });
        match condition.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => match self.pointer(&operand, before) {
                true => Answer::Known(false),
                false => match self.answer(*operand, before) {
                    Answer::Known(holds) => Answer::Known(!holds),
                    Answer::Open(operand) => open(ExprKind::Unary(UnaryOp::Not, Box::new(operand))),
                },
            },
            ExprKind::Binary(operator @ (BinaryOp::Equal | BinaryOp::NotEqual), a, b)
                if (is_null(&a) && self.pointer(&b, before)) || (is_null(&b) && self.pointer(&a, before)) =>
            {
                Answer::Known(operator == BinaryOp::NotEqual)
            }
            ExprKind::Binary(operator @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let decides = operator == BinaryOp::Or;
                match self.answer(*a, before) {
                    Answer::Known(holds) if holds == decides => Answer::Known(holds),
                    Answer::Known(_) => self.answer(*b, before),
                    Answer::Open(a) => {
                        // What stands behind an open condition may not be reached.
                        let mut within = Vec::new();
                        let held = self.held.clone();
                        let second = self.answer((*b).clone(), &mut within);
                        let after = std::mem::replace(&mut self.held, held);
                        self.held.retain(|place| after.contains(place));
                        match second {
                            Answer::Known(holds) if within.is_empty() && holds != decides => Answer::Open(a),
                            Answer::Open(b) if within.is_empty() => {
                                open(ExprKind::Binary(operator, Box::new(a), Box::new(b)))
                            }
                            _ => open(ExprKind::Binary(operator, Box::new(a), b)),
                        }
                    }
                }
            }
            kind => {
                let condition = Expr { kind, span: span.clone() };
                if self.pointer(&condition, before) {
                    return Answer::Known(true);
                }
                self.note(&condition);
                Answer::Open(condition)
            }
        }
    }

    /// Whether a value is a pointer to memory that was taken, or takes it: `(p = malloc(..))`.
    fn pointer(&mut self, value: &Expr, before: &mut Vec<Stmt>) -> bool {
        if let ExprKind::Assign(None, target, taken_for) = &value.kind
            && taken(taken_for, self.own).is_some()
        {
            let stmt = Stmt { kind: StmtKind::Expr(value.clone()), span: value.span.clone() };
            self.note(value);
            before.push(stmt);
            return self.held.contains(&place(target));
        }
        self.held.contains(&place(value))
    }

    /// What the assignments in an expression leave behind.
    fn note(&mut self, expr: &Expr) {
        let mut gained = Vec::new();
        expr.walk(&mut |part| match &part.kind {
            ExprKind::Assign(_, target, _)
            | ExprKind::Step(_, target)
            | ExprKind::Unary(UnaryOp::Address, target) => {
                self.set(target);
                if let ExprKind::Assign(None, target, value) = &part.kind
                    && taken(value, self.own).is_some()
                {
                    gained.push(place(target));
                }
            }
            ExprKind::Call(..) => {
                if let Some(pointer) = freed(part, self.own) {
                    self.set(pointer);
                }
            }
            _ => {}
        });
        self.held.extend(gained);
    }

    /// Something holds another value than before.
    fn set(&mut self, target: &Expr) {
        let target = place(target);
        self.held.retain(|held| {
            let within = held.base == target.base && held.subscripts >= target.subscripts;
            !(within || (target.subscripts == 0 && held.names.contains(&target.base)))
        });
    }

    /// A name means something else, or a number changes.
    fn forget(&mut self, name: &str) {
        self.held.retain(|held| !held.names.contains(name));
    }

    /// Forgets the pointers that a statement may set.
    fn spoil(&mut self, stmt: &Stmt) {
        let mut inner = Answers { own: self.own, held: self.held.clone() };
        stmt.walk(&mut |part| match &part.kind {
            StmtKind::Declaration(list) => list.iter().for_each(|one| inner.forget(&one.name)),
            StmtKind::For(source) => source.index().iter().for_each(|index| inner.forget(index)),
            _ => {}
        });
        stmt.walk_expressions(&mut |part| match &part.kind {
            ExprKind::Assign(_, target, _)
            | ExprKind::Step(_, target)
            | ExprKind::Unary(UnaryOp::Address, target) => inner.set(target),
            ExprKind::Call(..) => freed(part, self.own).into_iter().for_each(|pointer| inner.set(pointer)),
            _ => {}
        });
        let left = inner.held;
        self.held.retain(|place| left.contains(place));
    }

    /// Whether an expression is a part of an `assert` that holds: `(void)sizeof (p ? 1 : 0)`, which is there to be compiled, and
    /// `({ if (p) ; else __assert_fail (..); })`.
    fn is_asserted(&self, expr: &Expr) -> bool {
        let (inner, dropped) = match &expr.kind {
            ExprKind::Cast(CType::Other(to), inner) => (&**inner, to == "void"),
            _ => (expr, false),
        };
        let ExprKind::Other(kind, text) = &inner.kind else { return false };
        if kind == "sizeof expression" {
            return dropped;
        }
        let words: String = text.split_whitespace().collect();
        let condition =
            words.split_once("({if(").and_then(|(_, rest)| rest.split_once(");else__assert_fail("));
        let Some((condition, _)) = condition else { return false };
        let pointer = condition
            .strip_suffix("!=((void*)0)")
            .or_else(|| condition.strip_suffix("!=0"))
            .or_else(|| condition.strip_prefix("((void*)0)!="))
            .unwrap_or(condition);
        self.held.iter().any(|held| held.text == pointer)
    }
}

/// The condition under which the program ends.
fn question(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Call(function, arguments) => match (&function.kind, arguments.as_slice()) {
            (ExprKind::Name(name), [condition]) if name == ENDS => Some(condition),
            _ => None,
        },
        _ => None,
    }
}

fn place(expr: &Expr) -> Place {
    let mut names = HashSet::new();
    expr.walk(&mut |part| {
        if let ExprKind::Name(name) = &part.kind {
            names.insert(name.clone());
        }
    });
    let mut expr = expr;
    while let ExprKind::Cast(_, inner) = &expr.kind {
        expr = inner;
    }
    let (mut at, mut subscripts) = (expr, 0);
    while let ExprKind::Index(inner, _) | ExprKind::Unary(UnaryOp::Dereference, inner) = &at.kind {
        (at, subscripts) = (inner, subscripts + 1);
    }
    Place { base: c_text(at, &|_| None), subscripts, text: c_text(expr, &|_| None), names }
}
