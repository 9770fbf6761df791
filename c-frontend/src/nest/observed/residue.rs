//! What loops over space leave in scalars, computed by loops of its own behind the tiled ones.
//!
//! A loop that computes an array and a sum is two loops: one that computes the array, in tiles, and one that computes the sum,
//! in the program's order:
//!
//! ```text
//! for (i) { b[i] = f(a); s += g(a[i], b[i]); }    =>    for (i) b[i] = f(a);    for (i) s += g(a[i], b[i]);
//! ```
//!
//! The second one finds what it would have found before, if nothing that it reads is assigned behind the place where it stood:
//! arrays that other loops have assigned before, or none; and of those that this loop assigns, the very element that the same
//! round has just assigned.

use super::names;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Stmt, StmtKind};
use crate::integer::literal;
use crate::nest::scalars::assigned;
use crate::parse::Region;
use crate::text::{c_text, type_text, without_parentheses};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The statements behind a run, as C: those that the `marked` ones among its statements leave to be done. `None` if some of
/// them would find something else there.
pub(super) fn behind(region: &Region, run: &[Stmt], marked: &[bool]) -> Option<String> {
    let mut text = String::new();
    for (at, stmt) in run.iter().enumerate().filter(|(at, _)| marked[*at]) {
        let Some(own) = scalars_of(region, stmt)? else { continue };
        let mut others = HashSet::new();
        for (_, other) in run.iter().enumerate().filter(|(other, _)| !marked[*other]) {
            others.extend(assigned(other).1);
            others.extend(names::indices(other));
        }
        let mut used = names::within(&own);
        names::indices(&own).iter().for_each(|index| {
            used.remove(index);
        });
        let later: HashSet<String> = run[at + 1..].iter().flat_map(|stmt| assigned(stmt).0).collect();
        let mut reads = Reads::new(stmt, later);
        reads.statement(stmt);
        if reads.fails || !used.is_disjoint(&others) {
            return None;
        }
        write(&own, &mut text)?;
    }
    Some(text)
}

/// A statement without the assignments of elements; the inner `None` if nothing is left, the outer one if something else than
/// numbers is computed.
#[allow(clippy::option_option)]
fn scalars_of(region: &Region, stmt: &Stmt) -> Option<Option<Stmt>> {
    let made = |kind| Some(Some(Stmt { kind, span: stmt.span.clone() }));
    let reads = |expr: &Expr| names::only_reads(region, expr);
    match &stmt.kind {
        StmtKind::Empty => Some(None),
        StmtKind::Block(list) => {
            let mut kept = Vec::new();
            for stmt in list {
                kept.extend(scalars_of(region, stmt)?);
            }
            if kept.is_empty() { Some(None) } else { made(StmtKind::Block(kept)) }
        }
        StmtKind::For(source) => {
            let mut own = source.clone();
            let start = source.start.as_ref().is_none_or(|start| match &start.kind {
                StmtKind::Expr(Expr { kind: ExprKind::Assign(None, _, value), .. }) => reads(value),
                StmtKind::Declaration(list) => list.iter().all(|one| one.value.iter().all(reads)),
                _ => false,
            });
            if !start || !source.condition.iter().all(reads) {
                return None;
            }
            match scalars_of(region, &source.body)? {
                Some(body) => {
                    own.body = body;
                    made(StmtKind::For(own))
                }
                None => Some(None),
            }
        }
        StmtKind::If(condition, then, otherwise) if reads(condition) => {
            let first = scalars_of(region, then)?;
            let second = match otherwise {
                Some(otherwise) => scalars_of(region, otherwise)?,
                None => None,
            };
            if first.is_none() && second.is_none() {
                return Some(None);
            }
            let empty = Stmt { kind: StmtKind::Block(Vec::new()), span: then.span.clone() };
            let first = Box::new(first.unwrap_or(empty));
            made(StmtKind::If(condition.clone(), first, second.map(Box::new)))
        }
        StmtKind::Declaration(list) => {
            let number = |ctype: &CType| matches!(ctype, CType::Integer { .. } | CType::Floating(_));
            let plain = list.iter().all(|one| number(&one.ctype) && one.value.iter().all(reads));
            plain.then(|| Some(stmt.clone()))
        }
        StmtKind::Expr(expr) => Some(
            scalar_expression(region, expr)?
                .map(|expr| Stmt { kind: StmtKind::Expr(expr), span: stmt.span.clone() }),
        ),
        _ => None,
    }
}

#[allow(clippy::option_option)]
fn scalar_expression(region: &Region, expr: &Expr) -> Option<Option<Expr>> {
    match &expr.kind {
        ExprKind::Assign(_, target, value) if names::only_reads(region, value) => match &target.kind {
            ExprKind::Name(name) => is_number(region, name).then(|| Some(expr.clone())),
            ExprKind::Index(..) => Some(None),
            _ => None,
        },
        ExprKind::Step(_, target) => match &target.kind {
            ExprKind::Name(name) => is_number(region, name).then(|| Some(expr.clone())),
            ExprKind::Index(..) => Some(None),
            _ => None,
        },
        ExprKind::Comma(left, right) => {
            match (scalar_expression(region, left)?, scalar_expression(region, right)?) {
                (Some(left), Some(right)) => {
                    let kind = ExprKind::Comma(Box::new(left), Box::new(right));
                    Some(Some(Expr { kind, span: expr.span.clone() }))
                }
                (left, right) => Some(left.or(right)),
            }
        }
        _ => None,
    }
}

/// Whether a name stands for a number: a variable of the region, or one that the body declares.
fn is_number(region: &Region, name: &str) -> bool {
    match region.variables.get(name) {
        Some(one) => matches!(one.ctype, CType::Integer { .. } | CType::Floating(_)),
        None => region.numbers.contains(name),
    }
}

/// What the scalars of a statement are computed of.
struct Reads {
    /// The elements that the statement assigns, by their arrays.
    targets: HashMap<String, Vec<String>>,
    /// The elements that it touches whatever holds, without the numbers in their subscripts.
    touched: HashSet<String>,
    /// The arrays that statements behind it assign.
    later: HashSet<String>,
    /// The elements that the round has assigned so far.
    done: HashSet<String>,
    fails: bool,
}

impl Reads {
    fn new(stmt: &Stmt, later: HashSet<String>) -> Reads {
        let mut reads = Reads {
            targets: HashMap::new(),
            touched: HashSet::new(),
            later,
            done: HashSet::new(),
            fails: false,
        };
        reads.find(stmt);
        reads
    }

    /// The elements that are assigned, and those that are touched where they are.
    fn find(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(list) => list.iter().for_each(|stmt| self.find(stmt)),
            StmtKind::For(source) => self.find(&source.body),
            StmtKind::If(_, then, otherwise) => {
                let touched = self.touched.clone();
                self.find(then);
                otherwise.iter().for_each(|otherwise| self.find(otherwise));
                self.touched = touched;
            }
            StmtKind::Expr(expr) => expr.walk(&mut |part| {
                let (ExprKind::Assign(_, target, _) | ExprKind::Step(_, target)) = &part.kind else { return };
                let Some(array) = array_of(target) else { return };
                self.targets.entry(array).or_default().push(text(target));
                always(part, &mut |element| {
                    self.touched.insert(text(&centred(element)));
                });
            }),
            _ => {}
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(list) => list.iter().for_each(|stmt| self.statement(stmt)),
            StmtKind::For(source) => {
                let around = std::mem::take(&mut self.done);
                source.condition.iter().for_each(|expr| self.value(expr));
                self.statement(&source.body);
                self.done = around;
            }
            StmtKind::If(condition, then, otherwise) => {
                self.value(condition);
                let around = self.done.clone();
                self.statement(then);
                self.done.clone_from(&around);
                otherwise.iter().for_each(|otherwise| self.statement(otherwise));
                self.done = around;
            }
            StmtKind::Declaration(list) => {
                list.iter().filter_map(|one| one.value.as_ref()).for_each(|value| self.value(value));
            }
            StmtKind::Expr(expr) => self.assignment(expr),
            _ => {}
        }
    }

    fn assignment(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Comma(left, right) => {
                self.assignment(left);
                self.assignment(right);
            }
            ExprKind::Assign(_, target, value) if matches!(target.kind, ExprKind::Name(_)) => {
                self.value(value)
            }
            ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) if array_of(target).is_some() => {
                self.done.insert(text(target));
            }
            _ => {}
        }
    }

    /// The elements in what a scalar is computed of.
    fn value(&mut self, expr: &Expr) {
        elements(expr, &mut |element| {
            let known = array_of(element).is_some_and(|array| {
                let own = self.targets.get(&array);
                let last = own.is_none_or(|own| own.len() == 1 && self.done.contains(&text(element)));
                // Of what the tiles do not touch it is not known whether it lies where they write.
                last && !self.later.contains(&array) && self.touched.contains(&text(&centred(element)))
            });
            self.fails |= !known;
        });
        expr.walk(&mut |part| {
            self.fails |= matches!(part.kind, ExprKind::Unary(crate::ast::UnaryOp::Dereference, _));
        });
    }
}

/// The largest elements of arrays in an expression, and those in their subscripts.
fn elements<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Index(..) => {
            visit(expr);
            let mut at = expr;
            while let ExprKind::Index(array, index) = &at.kind {
                elements(index, visit);
                at = array;
            }
        }
        ExprKind::Binary(_, a, b) | ExprKind::Comma(a, b) | ExprKind::Assign(_, a, b) => {
            elements(a, visit);
            elements(b, visit);
        }
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) | ExprKind::Member(a, ..) | ExprKind::Step(_, a) => {
            elements(a, visit);
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|part| elements(part, visit)),
        ExprKind::Call(_, list) | ExprKind::List(list) => list.iter().for_each(|one| elements(one, visit)),
        ExprKind::Integer { .. }
        | ExprKind::Floating { .. }
        | ExprKind::Name(_)
        | ExprKind::Turn { .. }
        | ExprKind::Other(..) => {}
    }
}

/// The elements that are touched whatever conditions within a value say.
fn always<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Conditional(condition, ..) => always(condition, visit),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, _) => always(left, visit),
        ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Comma(a, b) => {
            always(a, visit);
            always(b, visit);
        }
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) | ExprKind::Step(_, a) => always(a, visit),
        ExprKind::Call(_, arguments) => arguments.iter().for_each(|one| always(one, visit)),
        ExprKind::Index(..) => visit(expr),
        _ => {}
    }
}

/// The array of an element, by its name.
fn array_of(element: &Expr) -> Option<String> {
    let ExprKind::Index(array, _) = &element.kind else { return None };
    let mut at = &**array;
    while let ExprKind::Index(array, _) = &at.kind {
        at = array;
    }
    match &at.kind {
        ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    }
}

/// An element without the numbers that are added in its subscripts.
fn centred(element: &Expr) -> Expr {
    let mut found = element.clone();
    found.walk_mut(&mut |part| {
        if let ExprKind::Binary(operator @ (BinaryOp::Add | BinaryOp::Sub), left, right) = &part.kind {
            if literal(right).is_some() {
                *part = (**left).clone();
            } else if literal(left).is_some() && *operator == BinaryOp::Add {
                *part = (**right).clone();
            }
        }
    });
    found
}

fn text(expr: &Expr) -> String {
    c_text(expr, &|_| None)
}

/// A statement as C.
fn write(stmt: &Stmt, out: &mut String) -> Option<()> {
    let plain = |expr: &Expr| without_parentheses(&text(expr));
    let declared = |list: &[crate::ast::Variable]| {
        let parts = list.iter().map(|one| match &one.value {
            Some(value) => format!("{} {} = {}; ", type_text(&one.ctype), one.name, plain(value)),
            None => format!("{} {}; ", type_text(&one.ctype), one.name),
        });
        parts.collect::<String>()
    };
    match &stmt.kind {
        StmtKind::Empty => {}
        StmtKind::Block(list) => {
            out.push_str("{ ");
            list.iter().try_for_each(|stmt| write(stmt, out))?;
            out.push_str("} ");
        }
        StmtKind::Expr(expr) => write!(out, "{}; ", plain(expr)).ok()?,
        StmtKind::Declaration(list) => out.push_str(&declared(list)),
        StmtKind::For(source) => {
            let start = match source.start.as_ref().map(|start| &start.kind) {
                None => String::new(),
                Some(StmtKind::Expr(expr)) => plain(expr),
                Some(StmtKind::Declaration(list)) if list.len() == 1 => {
                    declared(list).trim_end().trim_end_matches(';').to_owned()
                }
                Some(_) => return None,
            };
            let part = |part: &Option<Expr>| part.as_ref().map(plain).unwrap_or_default();
            write!(out, "for ({start}; {}; {}) {{ ", part(&source.condition), part(&source.step)).ok()?;
            write(&source.body, out)?;
            out.push_str("} ");
        }
        StmtKind::If(condition, then, otherwise) => {
            write!(out, "if ({}) {{ ", plain(condition)).ok()?;
            write(then, out)?;
            out.push_str("} ");
            if let Some(otherwise) = otherwise {
                out.push_str("else { ");
                write(otherwise, out)?;
                out.push_str("} ");
            }
        }
        StmtKind::While(_) | StmtKind::Return(_) | StmtKind::Other(..) => return None,
    }
    Some(())
}
