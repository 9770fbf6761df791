//! What loops over space leave in scalars, computed by loops of its own behind the tiled ones, or before them.
//!
//! A loop that computes an array and a sum is two loops: one that computes the array, in tiles, and one that computes the sum,
//! in the program's order:
//!
//! ```text
//! for (i) { b[i] = f(a); s += g(a[i], b[i]); }    =>    for (i) b[i] = f(a);    for (i) s += g(a[i], b[i]);
//! for (i) { s += g(a[i], b[i]); a[i] = b[i]; }    =>    for (i) s += g(a[i], b[i]);    for (i) a[i] = b[i];
//! for (i) { d = b[i]; b[i] = f(a); s += b[i] - d; }
//!                                    =>    for (i) { d = b[i]; v = f(a); s += v - d; }    for (i) b[i] = f(a);
//! ```
//!
//! Behind, it finds what it would have found before, if nothing that it reads is assigned behind the place where it stood:
//! arrays that other loops have assigned before, or none; and of those that this loop assigns, the very element that the same
//! round has just assigned. Before, if nothing that it reads has been assigned at that place: arrays that other loops assign
//! later, or none; and of those that this loop assigns, the very element that the same round, and no other one, is about to assign.
//! Where it reads that element on both sides of its assignment, it computes what is assigned itself (`v`).

use super::left::{array_of, key, scalars_of, text};
use super::{names, values};
use crate::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind};
use crate::integer::literal;
use crate::nest::element::always;
use crate::nest::scalars::{assigned, assigned_within};
use crate::parse::Region;
use crate::text::{type_text, without_parentheses};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// What is left to be done around tiled loops.
#[derive(Debug, Default)]
pub(super) struct Residue {
    /// C statements that come before them.
    pub ahead: String,
    /// C statements that follow them.
    pub behind: String,
    /// The scalars that the first ones assign.
    pub moved: Vec<String>,
}

impl Residue {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.ahead.is_empty() && self.behind.is_empty()
    }
}

/// What the `marked` ones among the statements of a run leave to be done. `None` if some of it would find something else
/// before the run, and behind it.
pub(super) fn around(region: &Region, run: &[Stmt], marked: &[bool]) -> Option<Residue> {
    let mut residue = Residue::default();
    let mut others = HashSet::new();
    for (_, other) in run.iter().enumerate().filter(|(other, _)| !marked[*other]) {
        others.extend(assigned(other).1);
        others.extend(names::indices(other));
    }
    // The names of what is done behind.
    let mut waiting: HashSet<String> = HashSet::new();
    for (at, stmt) in run.iter().enumerate().filter(|(at, _)| marked[*at]) {
        let Some(own) = scalars_of(region, stmt)? else { continue };
        let mut used = names::within(&own);
        names::indices(&own).iter().for_each(|index| {
            used.remove(index);
        });
        if !used.is_disjoint(&others) {
            return None;
        }
        let arrays = |part: &[Stmt]| part.iter().flat_map(|stmt| assigned(stmt).0).collect();
        let finds = |when: When, elsewhere: HashSet<String>| {
            let mut reads = Reads::new(stmt, when, elsewhere);
            reads.statement(stmt);
            !reads.fails
        };
        if finds(When::Behind, arrays(&run[at + 1..])) {
            write(&own, &mut residue.behind)?;
            waiting.extend(used);
            continue;
        }
        let before: HashSet<String> = run[..at].iter().flat_map(names::within).collect();
        let scalars_ahead = |own: &Stmt| -> Option<HashSet<String>> {
            let scalars: HashSet<String> = assigned_within(own).into_iter().map(|(name, _)| name).collect();
            scalars.is_disjoint(&before).then_some(scalars)
        };
        let (own, scalars) = if used.is_disjoint(&waiting) && finds(When::Ahead, arrays(&run[..at])) {
            let scalars = scalars_ahead(&own)?;
            (own, scalars)
        } else {
            let own = values::with_value(region, stmt)?;
            let mut used = names::within(&own);
            names::indices(&own).iter().for_each(|index| {
                used.remove(index);
            });
            let free = used.is_disjoint(&others) && used.is_disjoint(&waiting);
            if !free || !finds(When::AheadWithValues, arrays(&run[..at])) {
                return None;
            }
            let scalars = scalars_ahead(&own)?;
            (own, scalars)
        };
        write(&own, &mut residue.ahead)?;
        residue.moved.extend(scalars);
    }
    residue.moved.sort();
    residue.moved.dedup();
    Some(residue)
}

/// On which side of the tiled loops scalars are computed.
#[derive(Clone, Copy, PartialEq)]
enum When {
    Behind,
    Ahead,
    /// Before them, with the value that each round assigns.
    AheadWithValues,
}

/// What the scalars of a statement are computed of.
struct Reads {
    when: When,
    /// The elements that the statement assigns, by their arrays.
    targets: HashMap<String, Vec<String>>,
    /// The elements that it touches whatever holds, without the numbers in their subscripts.
    touched: HashSet<String>,
    /// The arrays that statements assign which come between the scalars and the place where they stood.
    elsewhere: HashSet<String>,
    /// The elements that the round has assigned so far: perhaps, where scalars are computed ahead; else for certain.
    done: HashSet<String>,
    /// Those that rounds of loops have assigned which have ended.
    past: HashSet<String>,
    /// The indices of the loops around.
    indices: Vec<String>,
    /// What local values are computed of, where that is known.
    locals: HashMap<String, HashSet<String>>,
    fails: bool,
}

impl Reads {
    fn new(stmt: &Stmt, when: When, elsewhere: HashSet<String>) -> Reads {
        let mut reads = Reads {
            when,
            targets: HashMap::new(),
            touched: HashSet::new(),
            elsewhere,
            done: HashSet::new(),
            past: HashSet::new(),
            indices: Vec::new(),
            locals: HashMap::new(),
            fails: false,
        };
        reads.find(stmt);
        reads
    }

    /// The elements that are assigned, and those that are touched where they are.
    fn find(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(list) => list.iter().for_each(|stmt| self.find(stmt)),
            StmtKind::For(source) => {
                let depth = self.indices.len();
                self.indices.extend(source.index().map(str::to_owned));
                self.find(&source.body);
                self.indices.truncate(depth);
                self.forget(&source.body);
            }
            StmtKind::If(condition, then, otherwise) => {
                let touched = self.touched.clone();
                for branch in [Some(then), otherwise.as_ref()].into_iter().flatten() {
                    let locals = self.locals.clone();
                    self.find(branch);
                    self.locals = locals;
                }
                // Conditions on the data are asked at all points.
                if !self.asks_data(condition) {
                    self.touched = touched;
                } else if !assigned(stmt).0.is_empty() {
                    let sources = self.sources(condition);
                    self.touched.extend(sources);
                }
                self.forget(stmt);
            }
            StmtKind::Declaration(list) => {
                for one in list {
                    let of = one.value.as_ref().map(|value| self.sources(value));
                    self.locals.insert(one.name.clone(), of.unwrap_or_default());
                }
            }
            StmtKind::Expr(expr) => {
                expr.walk(&mut |part| {
                    let (ExprKind::Assign(_, target, _) | ExprKind::Step(_, target)) = &part.kind else {
                        return;
                    };
                    let Some(array) = array_of(target) else { return };
                    self.targets.entry(array).or_default().push(key(target));
                    let sources = self.sources(part);
                    self.touched.extend(sources);
                });
                if let ExprKind::Assign(combined, target, value) = &expr.kind
                    && let ExprKind::Name(name) = &target.kind
                {
                    let mut of = self.sources(value);
                    if combined.is_some() {
                        of.extend(self.locals.get(name).into_iter().flatten().cloned());
                    }
                    self.locals.insert(name.clone(), of);
                }
            }
            _ => {}
        }
    }

    /// The elements that a value is computed of whatever holds, also by way of local values.
    fn sources(&self, value: &Expr) -> HashSet<String> {
        let mut found = HashSet::new();
        always(value, &mut |part| match &part.kind {
            ExprKind::Name(name) => found.extend(self.locals.get(name).into_iter().flatten().cloned()),
            _ => {
                found.insert(key(&centred(part)));
            }
        });
        found
    }

    /// Local values that a statement assigns, maybe, are not known behind it.
    fn forget(&mut self, stmt: &Stmt) {
        for (name, _) in assigned_within(stmt) {
            self.locals.remove(&name);
        }
    }

    /// Whether a condition depends on elements of arrays and on no index otherwise.
    fn asks_data(&self, condition: &Expr) -> bool {
        let mut elements_found = false;
        elements(condition, &mut |_| elements_found = true);
        let mut plain = condition.clone();
        plain.walk_mut(&mut |part| {
            if matches!(part.kind, ExprKind::Index(..)) {
                part.kind = ExprKind::Integer { value: 0, text: "0".to_owned() };
            }
        });
        elements_found && !self.indices.iter().any(|index| plain.mentions(index))
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(list) => list.iter().for_each(|stmt| self.statement(stmt)),
            StmtKind::For(source) => {
                let around = match self.when {
                    When::Behind | When::AheadWithValues => std::mem::take(&mut self.done),
                    When::Ahead => HashSet::new(),
                };
                let depth = self.indices.len();
                self.indices.extend(source.index().map(str::to_owned));
                source.condition.iter().for_each(|expr| self.value(expr));
                self.statement(&source.body);
                self.indices.truncate(depth);
                if self.when != When::Ahead {
                    let done = std::mem::replace(&mut self.done, around);
                    self.past.extend(done);
                }
            }
            StmtKind::If(condition, then, otherwise) => {
                self.value(condition);
                let before = self.done.clone();
                self.statement(then);
                let after = std::mem::replace(&mut self.done, before.clone());
                otherwise.iter().for_each(|otherwise| self.statement(otherwise));
                match self.when {
                    When::Behind => self.done = before,
                    When::Ahead | When::AheadWithValues => self.done.extend(after),
                }
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
            ExprKind::Assign(_, target, value) if array_of(target).is_some() => {
                if self.when == When::AheadWithValues {
                    self.value(value);
                }
                self.done.insert(key(target));
            }
            ExprKind::Step(_, target) if array_of(target).is_some() => {
                self.done.insert(key(target));
            }
            _ => {}
        }
    }

    /// The elements in what a scalar is computed of.
    fn value(&mut self, expr: &Expr) {
        elements(expr, &mut |element| {
            let known = array_of(element).is_some_and(|array| {
                let written = key(element);
                let own = self.targets.get(&array).map(Vec::as_slice);
                let finds = match (self.when, own) {
                    (_, None) => true,
                    (When::Behind, Some(own)) => own.len() == 1 && self.done.contains(&written),
                    // Each round has an element of its own.
                    (When::Ahead, Some(own)) => {
                        own.len() == 1
                            && own[0] == written
                            && !self.done.contains(&written)
                            && self.indices.iter().all(|index| element.mentions(index))
                    }
                    (When::AheadWithValues, Some(own)) => {
                        own.len() == 1
                            && own[0] == written
                            && !self.past.contains(&written)
                            && self.indices.iter().all(|index| element.mentions(index))
                    }
                };
                // Of what the tiles do not touch it is not known whether it lies where they write.
                finds && !self.elsewhere.contains(&array) && self.touched.contains(&key(&centred(element)))
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

/// A statement as C.
pub(super) fn write(stmt: &Stmt, out: &mut String) -> Option<()> {
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
