//! Memory that takes the place of other memory in each step, `next = malloc(..); .. free(u); u = next;`, as a copy.
//!
//! Nobody else may use the memory that is given back, so `u` may as well keep it and hold what `next` holds:
//!
//! ```text
//! T *next = malloc(n);  ..  free(u);  u = next;    =>    T next[n];  ..  for (i < n) u[i] = next[i];
//! ```
//!
//! as long as its memory has `n` elements, and the step has computed all elements of `next`. Of what it takes, the step reads or
//! writes nothing else; both is asked for where elements are known ([`crate::recognise`]).

use super::heap::mentions;
use super::inliner::Inliner;
use super::members::member;
use super::memory::row_by_row;
use super::rename::assigns;
use super::sizes::{extent_text, product};
use super::taking::{freed, indexed};
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, Variable};
use crate::nest::counted;
use crate::parse::Handed;
use crate::text::{c_text, type_text};
use polyhedral::source::Span;
use std::collections::HashMap;

/// The statement that stands where memory is handed over.
const HERE: &str = "tw_handed";

impl Inliner<'_> {
    /// The statements of a block with a copy in the place of what hands a pointer's memory over; `None` where nothing does.
    pub(super) fn handed_over(&mut self, list: &[Stmt], one: &Variable) -> Option<Vec<Stmt>> {
        if !self.hands_over {
            return None;
        }
        let is_one = |value: &Expr| matches!(&value.kind, ExprKind::Name(name) if *name == one.name);
        let (at, to) = list.iter().enumerate().find_map(|(at, stmt)| match &stmt.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) if is_one(value) => {
                Some((at, (**target).clone()))
            }
            _ => None,
        })?;
        let root = root(&to)?;
        let ctype = match &to.kind {
            ExprKind::Name(name) => {
                self.declared.get(name).or_else(|| Some(&self.variables.get(name)?.ctype))?.clone()
            }
            _ => member(&to, self.variables, self.structures, &HashMap::new())?.1,
        };
        let depth = one.ctype.depth();
        let others = || list.iter().enumerate().filter(|(other, _)| *other != at);
        if type_text(&ctype) != type_text(&one.ctype)
            || depth > 2
            || root == one.name
            || others().any(|(_, stmt)| assigns(std::slice::from_ref(stmt), &root))
            || list[at + 1..].iter().any(|stmt| mentions(stmt, &one.name))
        {
            return None;
        }
        // The memory is given back before, and nobody uses it in between.
        let own = self.own.clone();
        let pointer = Pointer { text: text(&to), root: &root, depth, own: &|name| own.contains(name) };
        let mut back = Back::default();
        let gives: Vec<usize> =
            (0..at).filter(|before| pointer.gives_back(&list[*before], None, &mut back)).collect();
        let first = *gives.first()?;
        let plain = |(number, stmt): (usize, &Stmt)| {
            gives.contains(&number)
                || if number > first && number < at {
                    pointer.count(stmt).0 == 0
                } else {
                    pointer.is_plain(stmt)
                }
        };
        if !back.whole || (depth == 2) != back.rows.is_some() || !others().all(plain) {
            return None;
        }
        let place = list[at].span.clone();
        let here = Stmt { kind: StmtKind::Other(HERE.to_owned(), Vec::new()), span: place.clone() };
        let mut kept: Vec<Stmt> = Vec::new();
        for (number, stmt) in list.iter().enumerate().filter(|(number, _)| !gives.contains(number)) {
            kept.push(if number == at { here.clone() } else { stmt.clone() });
        }
        let before = self.declared.get(&one.name).cloned();
        let mut found = self.with_array(&kept, one).ok()?;
        let copy = self.copied(one, &to, depth, back.rows.as_ref(), &place);
        let slot =
            found.iter().position(|stmt| matches!(&stmt.kind, StmtKind::Other(kind, _) if kind == HERE));
        let (Some(copy), Some(slot)) = (copy, slot) else {
            self.declared.extend(before.map(|ctype| (one.name.clone(), ctype)));
            return None;
        };
        found[slot] = copy;
        // Within a call all of it stands at one place.
        let mut places = Vec::new();
        if self.within_steps {
            let parts = (0..=at)
                .filter(|part| *part == at || gives.contains(part) || mentions(&list[*part], &one.name));
            places.extend(parts.map(|part| list[part].span.clone()));
        }
        self.handed.push(Handed { array: text(&to), by: one.name.clone(), place, places });
        Some(found)
    }

    /// The loops that copy all elements.
    fn copied(
        &mut self,
        one: &Variable,
        to: &Expr,
        depth: usize,
        rows: Option<&Expr>,
        place: &Span,
    ) -> Option<Stmt> {
        let (mut extents, mut at) = (Vec::new(), self.declared.get(&one.name)?.clone());
        while let CType::Array(inner, extent) = at {
            extents.push(*extent?);
            at = *inner;
        }
        if extents.len() != depth {
            return None;
        }
        if let Some(rows) = rows
            && extent_text(&self.written_out(rows)) != extent_text(&extents[0])
        {
            return None;
        }
        let mut factors = Vec::new();
        match extents.as_slice() {
            [elements] => product(elements, &mut factors),
            _ => factors = extents,
        }
        let names: Vec<String> = factors.iter().map(|_| self.fresh("at")).collect();
        let made = |kind| Expr { kind, span: place.clone() };
        let element = |array: Expr| match depth {
            1 => made(ExprKind::Index(Box::new(array), Box::new(row_by_row(&names, &factors, place)))),
            _ => names.iter().fold(array, |array, name| {
                made(ExprKind::Index(Box::new(array), Box::new(made(ExprKind::Name(name.clone())))))
            }),
        };
        let from = element(made(ExprKind::Name(one.name.clone())));
        let assigned = made(ExprKind::Assign(None, Box::new(element(to.clone())), Box::new(from)));
        let stmt = Stmt { kind: StmtKind::Expr(assigned), span: place.clone() };
        Some(self.in_loops(stmt, &names, &factors, place))
    }
}

/// The pointer whose memory is given back.
struct Pointer<'a> {
    text: String,
    root: &'a str,
    depth: usize,
    own: &'a dyn Fn(&str) -> bool,
}

/// What is given back of it.
#[derive(Default)]
struct Back {
    whole: bool,
    /// Behind the last one of the rows that are.
    rows: Option<Expr>,
}

impl Pointer<'_> {
    fn is_own(&self, expr: &Expr) -> bool {
        text(expr) == self.text
    }

    /// Whether a statement gives the memory back, or its rows, and does nothing else.
    fn gives_back(&self, stmt: &Stmt, index: Option<(&str, &Expr)>, back: &mut Back) -> bool {
        match &stmt.kind {
            StmtKind::Block(list) => {
                !list.is_empty() && list.iter().all(|stmt| self.gives_back(stmt, index, back))
            }
            StmtKind::For(source) => match counted(source) {
                Some((name, first, limit))
                    if crate::integer::literal(&first) == Some(0) && index.is_none() =>
                {
                    !back.whole && self.gives_back(&source.body, Some((&name, &limit)), back)
                }
                _ => false,
            },
            StmtKind::Expr(call) => {
                let Some(pointer) = freed(call, self.own) else { return false };
                let (base, subscripts) = indexed(pointer);
                match (subscripts.as_slice(), index) {
                    ([], None) if self.is_own(pointer) && !back.whole => {
                        back.whole = true;
                        true
                    }
                    ([row], Some((name, limit)))
                        if self.is_own(base) && self.depth == 2 && back.rows.is_none() =>
                    {
                        back.rows = Some(limit.clone());
                        matches!(&row.kind, ExprKind::Name(own) if own == name)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// How often the pointer is named, and how often for an element whose address nobody takes.
    fn count(&self, stmt: &Stmt) -> (usize, usize) {
        let (mut all, mut elements) = (0, 0);
        stmt.walk_expressions(&mut |part| match &part.kind {
            ExprKind::Name(_) | ExprKind::Member(..) if self.is_own(part) => all += 1,
            ExprKind::Index(..) => {
                let (base, subscripts) = indexed(part);
                elements += usize::from(self.is_own(base) && subscripts.len() == self.depth);
            }
            ExprKind::Unary(crate::ast::UnaryOp::Address, object) => {
                all += usize::from(self.is_own(indexed(object).0));
            }
            ExprKind::Other(kind, text) => {
                all += usize::from(
                    kind != "sizeof expression" && crate::preprocess::words(text).contains(self.root),
                );
            }
            _ => {}
        });
        stmt.walk(&mut |part| match &part.kind {
            StmtKind::Other(_, names) => all += usize::from(names.iter().any(|own| own == self.root)),
            StmtKind::Declaration(own) => all += usize::from(own.iter().any(|one| one.name == self.root)),
            _ => {}
        });
        (all, elements)
    }

    fn is_plain(&self, stmt: &Stmt) -> bool {
        let (all, elements) = self.count(stmt);
        all == elements
    }
}

fn text(expr: &Expr) -> String {
    c_text(expr, &|_| None)
}

/// The variable that a pointer is, or is a member of.
fn root(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name.clone()),
        ExprKind::Member(object, ..) => root(object),
        _ => None,
    }
}
