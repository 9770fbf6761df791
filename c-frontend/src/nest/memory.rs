//! What a region touches in memory, and where only under conditions.
//!
//! Values from outside are computed before the loop. What the region reads only where a condition holds, such as
//! `p ? p[0] : 1`, must not be read elsewhere: conditions that follow from what the value itself depends on are written
//! around it, and pointers behind other conditions must not be null.

use super::depends::Depends;
use super::element::always;
use super::loops::Touched;
use super::refusal::{Result, limitation};
use super::scalars::{assigned, declared};
use super::time::{Found, Loop};
use super::walker::{Certain, Unknown, Walker};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Stmt, StmtKind, UnaryOp, Variable};
use crate::codes;
use crate::parse::Region;
use crate::polynomial::Polynomial;
use crate::text::c_text;

/// The scalars outside that a time loop assigns, whose address is taken somewhere.
pub(super) fn reached(region: &Region, found: &Found<'_>) -> Vec<String> {
    let mut own = assigned(found.body).1;
    if let Loop::For(source) = found.source
        && let Some(expr) = &source.step
    {
        own.extend(assigned(&Stmt { kind: StmtKind::Expr(expr.clone()), span: expr.span.clone() }).1);
    }
    // A name that the loop also declares may be the one outside elsewhere.
    own.retain(|name| {
        let scalar = |one: &Variable| matches!(one.ctype, CType::Integer { .. } | CType::Floating(_));
        region.addressed.contains(name) && region.variables.get(name).is_some_and(scalar)
    });
    let mut own: Vec<String> = own.into_iter().collect();
    own.sort();
    own
}

impl Walker<'_> {
    /// Walks where a condition holds, or does not.
    pub(super) fn under<T>(
        &mut self,
        condition: &Expr,
        holds: bool,
        walk: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let (depends, touched) = (self.depends(condition), self.touched_if(condition));
        let mut condition = condition.clone();
        self.write_out(&mut condition);
        self.conditions.push(Unknown { condition, holds, depends, touched });
        let result = walk(self);
        self.conditions.pop();
        result
    }

    /// Whether what the walk comes to is touched at every point.
    pub(super) fn touched(&self) -> Touched {
        self.conditions.iter().map(|unknown| unknown.touched).max().unwrap_or(Touched::Always)
    }

    /// Whether something is touched everywhere that stands under a condition.
    pub(super) fn touched_if(&self, condition: &Expr) -> Touched {
        let mut found = Touched::If;
        condition.walk(&mut |part| {
            let ExprKind::Binary(operator, left, right) = &part.kind else { return };
            use BinaryOp::*;
            if matches!(operator, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual)
                && let (Some(a), Some(b)) = (self.polynomial(left), self.polynomial(right))
                && a.plus(&b, -1)
                    .is_some_and(|difference| difference.indices().len() == 1 && !difference.has_time())
            {
                found = Touched::IfIndex;
            }
        });
        found
    }

    /// A value from outside, read only where the region reads it.
    pub(super) fn guarded(&mut self, expr: &Expr, depends: Depends) -> Result<Expr> {
        let mut result = expr.clone();
        if !may_fail(expr) {
            return Ok(result);
        }
        if self.conditions.is_empty() {
            self.note_certain(expr);
        }
        for unknown in self.conditions.clone().iter().rev() {
            let own = unknown.depends;
            if own.data || (own.time && !depends.time) || (own.place && !depends.place) {
                self.check_unguarded(&result, depends)?;
                continue;
            }
            let span = expr.span.clone();
            let zero =
                Expr { kind: ExprKind::Integer { value: 0, text: "0".to_owned() }, span: span.clone() };
            let (then, otherwise) = if unknown.holds { (result, zero) } else { (zero, result) };
            let kind = ExprKind::Conditional(
                Box::new(unknown.condition.clone()),
                Box::new(then),
                Box::new(otherwise),
            );
            result = Expr { kind, span };
        }
        Ok(result)
    }

    /// Whether an element of an array that does not change stands under conditions of which all can be written around it.
    pub(super) fn guarded_by_place(&self, depends: Depends) -> bool {
        let mut own = self.conditions.iter().map(|unknown| unknown.depends);
        !self.conditions.is_empty() && own.all(|own| !own.data && (!own.time || depends.time))
    }

    /// A value that is read before the loop although the region reads it under a condition.
    fn check_unguarded(&mut self, expr: &Expr, depends: Depends) -> Result<()> {
        let mut parts = Vec::new();
        expr.walk(&mut |part| parts.push(part.clone()));
        // The innermost last, and what is evaluated first must be known not to be null first.
        for part in parts.iter().rev() {
            let pointer = match &part.kind {
                ExprKind::Index(pointer, _) | ExprKind::Unary(UnaryOp::Dereference, pointer) => pointer,
                ExprKind::Member(pointer, true, _) => pointer,
                ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, by)
                    if self.kind_of(part).is_ok_and(|kind| kind.is_integer())
                        && crate::integer::literal(by).is_none_or(|by| by == 0) =>
                {
                    return limitation(
                        codes::GUARDED,
                        &part.span,
                        "a division of integers under a condition, which may keep it from dividing by zero",
                    );
                }
                _ => continue,
            };
            let declared = match &pointer.kind {
                ExprKind::Name(name) => self.region.variables.get(name).map(|one| &one.ctype),
                _ => self.member_type(pointer),
            };
            let array = matches!(declared, Some(CType::Array(..)));
            let place = self.depends(part);
            if let ExprKind::Index(_, index) = &part.kind
                && place.place
                && (place.data || !self.is_own_index(index) || depends.time)
                && !self.is_within(pointer, index)
                && !self.certain(pointer, index).is_some_and(|one| self.certain.contains(&one))
            {
                return Err(Box::new(
                    polyhedral::diagnostic::Diagnostic::limitation(
                        codes::GUARDED,
                        part.span.clone(),
                        "this is read where a condition holds only, and may lie outside its array elsewhere",
                    )
                    .note("values that do not change are read before the loop")
                    .hint("read it into a variable before the condition, if it may be read at every point"),
                ));
            }
            if !array && !place.place && !place.time {
                let text = c_text(pointer, &|name| self.integer_text(name));
                if !self.nest.pointers.contains(&text) {
                    self.nest.pointers.push(text);
                }
            }
        }
        Ok(())
    }

    /// Remembers the elements that a value reads at each point to which the walk has come.
    fn note_certain(&mut self, expr: &Expr) {
        let mut found = Vec::new();
        always(expr, &mut |part| {
            let mut part = part;
            while let ExprKind::Index(pointer, index) = &part.kind {
                found.extend(self.certain(pointer, index));
                part = pointer;
            }
        });
        self.certain.extend(found);
    }

    /// An element of an array, at the points to which the walk has come.
    fn certain(&self, pointer: &Expr, index: &Expr) -> Option<Certain> {
        let text = c_text(pointer, &|name| self.integer_text(name));
        Some(Certain { points: self.narrowed.clone(), text, index: self.polynomial(index)? })
    }

    /// Whether a subscript is an index alone.
    fn is_own_index(&self, index: &Expr) -> bool {
        self.polynomial(index)
            .and_then(|index| index.index_plus())
            .is_some_and(|(_, rest)| rest.constant() == Some(0))
    }

    /// Whether a subscript lies within the extent that its array is declared with, wherever the loop runs.
    fn is_within(&self, array: &Expr, index: &Expr) -> bool {
        let ExprKind::Name(name) = &array.kind else { return false };
        let within = || {
            let extent = self.nest.extents.get(name)?.first()?.clone()?;
            let (at, rest) = self.polynomial(index)?.index_plus()?;
            let (_, low, high) = self.narrowed.iter().rev().find(|(of, ..)| *of == at)?;
            let (first, behind) = (low.plus(&rest, 1)?, high.plus(&rest, 1)?);
            Some(first.constant()? >= 0 && extent.distance(&behind)? >= 0)
        };
        within().unwrap_or(false)
    }

    /// The addresses of what a value reads, each as null where it is not read.
    pub(super) fn addresses(&self, expr: &Expr) -> Vec<Expr> {
        let mut found = Vec::new();
        self.collect_addresses(expr, &mut Vec::new(), &mut found);
        found
    }

    fn collect_addresses(&self, expr: &Expr, around: &mut Vec<(Expr, bool)>, found: &mut Vec<Expr>) {
        let mut below = |parts: &[&Expr], around: &mut Vec<(Expr, bool)>| {
            parts.iter().for_each(|part| self.collect_addresses(part, around, found));
        };
        match &expr.kind {
            ExprKind::Conditional(condition, then, otherwise) => {
                below(&[condition], around);
                for (part, holds) in [(then, true), (otherwise, false)] {
                    around.push(((**condition).clone(), holds));
                    below(&[part], around);
                    around.pop();
                }
            }
            ExprKind::Binary(operator @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                below(&[left], around);
                around.push(((**left).clone(), *operator == BinaryOp::And));
                below(&[right], around);
                around.pop();
            }
            ExprKind::Binary(_, left, right) => below(&[left, right], around),
            ExprKind::Unary(UnaryOp::Dereference, _) | ExprKind::Index(..) | ExprKind::Member(..) => {
                let mut at = expr;
                loop {
                    at = match &at.kind {
                        ExprKind::Index(array, index) => {
                            below(&[index], around);
                            array
                        }
                        ExprKind::Unary(UnaryOp::Dereference, pointer) => match &pointer.kind {
                            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, array, index) => {
                                below(&[index], around);
                                array
                            }
                            _ => pointer,
                        },
                        ExprKind::Member(object, ..) => object,
                        _ => break,
                    };
                }
                found.push(address(expr, around));
            }
            ExprKind::Name(name) => {
                // A variable that nothing can point to is no part of an array; those that are written are named as such.
                let reached = |variable: &Variable| {
                    let scalar = matches!(variable.ctype, CType::Integer { .. } | CType::Floating(_));
                    scalar && (variable.global || self.region.changed.contains(name))
                };
                if self.environment.get(name).is_none()
                    && self.open_loop(name).is_none()
                    && *name != self.nest.time.name
                    && self.region.addressed.contains(name)
                    && !self.nest.reached.contains(name)
                    && self.region.variables.get(name).is_some_and(reached)
                {
                    found.push(address(expr, around));
                }
            }
            ExprKind::Call(_, list) | ExprKind::List(list) => {
                list.iter().for_each(|one| below(&[one], around));
            }
            ExprKind::Unary(_, operand) | ExprKind::Cast(_, operand) | ExprKind::Step(_, operand) => {
                below(&[operand], around);
            }
            ExprKind::Comma(left, right) | ExprKind::Assign(_, left, right) => below(&[left, right], around),
            ExprKind::Integer { .. }
            | ExprKind::Floating { .. }
            | ExprKind::Turn { .. }
            | ExprKind::Other(..) => {}
        }
    }

    /// What the bounds of loops and the subscripts read that does not change.
    pub(super) fn find_memory(&mut self, body: &Stmt) {
        let mut parts: Vec<Expr> = Vec::new();
        parts.extend(self.nest.time.bounds.iter().flat_map(|(first, limit)| [first.clone(), limit.clone()]));
        parts.extend(self.nest.observed.iter().flat_map(|observed| observed.asked.iter().cloned()));
        body.walk(&mut |stmt| {
            if let StmtKind::For(source) = &stmt.kind {
                let start = source.start.as_ref().and_then(|start| match &start.kind {
                    StmtKind::Expr(Expr { kind: ExprKind::Assign(_, _, value), .. }) => {
                        Some((**value).clone())
                    }
                    StmtKind::Declaration(list) => list.first().and_then(|one| one.value.clone()),
                    _ => None,
                });
                parts.extend(start.into_iter().chain(source.condition.clone()));
            }
        });
        body.walk_expressions(&mut |expr| {
            if let ExprKind::Index(_, index) = &expr.kind {
                parts.push((**index).clone());
            }
        });
        // How large the arrays are that each step has anew.
        for own in &self.region.own_arrays {
            let mut at = &own.ctype;
            while let CType::Array(inner, extent) = at {
                parts.extend(extent.as_deref().cloned());
                at = inner;
            }
        }
        let declared = declared(std::slice::from_ref(body));
        for part in parts {
            for address in self.addresses(&part) {
                let mut changes = false;
                address.walk(&mut |one| {
                    if let ExprKind::Name(name) = &one.kind {
                        changes |= declared.contains(name)
                            || self.assigned.contains(name)
                            || self.states.contains(name)
                            || *name == self.nest.time.name
                            || self.nest.loops.iter().any(|one| one.name == *name);
                    }
                    changes |= matches!(one.kind, ExprKind::Turn { .. });
                });
                if !changes {
                    self.reads_memory(c_text(&address, &|_| None));
                }
            }
        }
    }

    pub(super) fn reads_memory(&mut self, address: String) {
        if !self.nest.memory.contains(&address) {
            self.nest.memory.push(address);
        }
    }

    /// The extents that arrays are declared with, where they still mean what they meant there.
    pub(super) fn find_extents(&mut self) {
        let mut found = std::collections::HashMap::new();
        for (name, variable) in &self.region.variables {
            let mut extents = Vec::new();
            let mut at = &variable.ctype;
            loop {
                match at {
                    CType::Array(inner, extent) => {
                        extents.push(extent.as_ref().and_then(|extent| self.extent(extent)));
                        at = inner;
                    }
                    CType::Pointer(inner) => {
                        extents.push(None);
                        at = inner;
                    }
                    _ => break,
                }
            }
            let turns = self.nest.turns.iter().any(|circle| circle[0] == *name);
            if is_block(&variable.ctype, usize::from(turns)) {
                self.nest.blocks.insert(name.clone());
            }
            if let CType::Array(inner, _) | CType::Pointer(inner) = &variable.ctype
                && is_block(inner, 0)
            {
                self.nest.blocks_of_buffers.insert(name.clone());
            }
            if !extents.is_empty() {
                found.insert(name.clone(), extents);
            }
        }
        self.nest.extents = found;
    }

    fn extent(&self, extent: &Expr) -> Option<Polynomial> {
        let mut keeps = true;
        extent.walk(&mut |part| match &part.kind {
            ExprKind::Name(name) => {
                keeps &= self.region.variables.get(name).is_some_and(|variable| self.keeps(variable));
            }
            ExprKind::Integer { .. } | ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Cast(..) => {}
            _ => keeps = false,
        });
        self.polynomial(extent).filter(|_| keeps)
    }
}

/// Whether an array lies in one piece, after some pointers.
fn is_block(ctype: &CType, pointers: usize) -> bool {
    match ctype {
        CType::Pointer(inner) if pointers > 0 => is_block(inner, pointers - 1),
        CType::Pointer(inner) | CType::Array(inner, _) => {
            let mut at = &**inner;
            while let CType::Array(inner, _) = at {
                at = inner;
            }
            !matches!(at, CType::Pointer(_))
        }
        _ => false,
    }
}

fn address(expr: &Expr, around: &[(Expr, bool)]) -> Expr {
    let span = expr.span.clone();
    let made = |kind| Expr { kind, span: span.clone() };
    let mut result = made(ExprKind::Unary(UnaryOp::Address, Box::new(expr.clone())));
    for (condition, holds) in around.iter().rev() {
        let zero = made(ExprKind::Integer { value: 0, text: "0".to_owned() });
        let (then, otherwise) = if *holds { (result, zero) } else { (zero, result) };
        result =
            made(ExprKind::Conditional(Box::new(condition.clone()), Box::new(then), Box::new(otherwise)));
    }
    result
}

/// Whether the evaluation of a value can go wrong: it reads memory, or divides integers.
fn may_fail(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| {
        found |= matches!(
            part.kind,
            ExprKind::Index(..)
                | ExprKind::Unary(UnaryOp::Dereference, _)
                | ExprKind::Member(_, true, _)
                | ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, ..)
        );
    });
    found
}
