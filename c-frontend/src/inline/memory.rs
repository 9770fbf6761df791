//! `memcpy` and `memset` of whole arrays, as loops.

use super::bind::declaration;
use super::inliner::Inliner;
use super::members::member;
use super::rename::simplify;
use super::sizes::{extent_text, extents_in_size, product, size_of};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, Stmt, StmtKind, UnaryOp};
use crate::integer::literal;
use crate::text::{c_text, type_text};
use polyhedral::source::Span;
use std::collections::HashMap;

impl Inliner<'_> {
    /// The loops that do the same; `None` where that is not known.
    pub(super) fn moved(&mut self, name: &str, arguments: &[Expr], place: &Span) -> Option<Stmt> {
        let [target, source, bytes] = arguments else { return None };
        let sets = name.ends_with("memset");
        let bytes = &self.written_out(bytes);
        let (target, ctype) = self.whole(target)?;
        let mut arrays = vec![(target.clone(), ctype.clone())];
        let from = match sets {
            true => {
                if literal(source)? != 0 {
                    return None;
                }
                None
            }
            false => {
                let (source, other) = self.whole(source)?;
                // What lies in one array may overlap, and is moved as if all of it was read first.
                if name.ends_with("memmove") && root(&source) == root(&target) {
                    return None;
                }
                if type_text(other.element()) != type_text(ctype.element()) {
                    return None;
                }
                arrays.push((source.clone(), other.clone()));
                Some((source, other))
            }
        };
        let element = ctype.element().clone();
        if !super::bind::is_scalar(&element) {
            return None;
        }
        let extents = extents(&arrays, &ctype, &element, bytes)?;
        // What is moved of a row ends with it.
        let ends = |(expr, row): &(Expr, CType)| match &expr.kind {
            ExprKind::Index(..) => extents.len() == 1 && fits(row, &extents[0]),
            ExprKind::Binary(_, array, _) => {
                !matches!((&array.kind, row), (ExprKind::Index(..), CType::Array(..)))
            }
            ExprKind::Unary(UnaryOp::Address, first) => super::taking::indexed(first).1.len() == 1,
            _ => true,
        };
        if !arrays.iter().all(ends) {
            return None;
        }
        let made = |kind| Expr { kind, span: place.clone() };
        let names: Vec<String> = extents.iter().map(|_| self.fresh("at")).collect();
        let index = |name: &String| made(ExprKind::Name(name.clone()));
        let at = |array: &Expr, ctype: &CType| {
            if ctype.depth() == 1 {
                let sum = row_by_row(&names, &extents, place);
                let mut element = made(ExprKind::Index(Box::new(array.clone()), Box::new(sum)));
                loop {
                    let before = element.clone();
                    simplify(&mut element);
                    if element == before {
                        return Some(element);
                    }
                }
            }
            // Rows of one length follow each other.
            let rows: Vec<String> = extents.iter().skip(1).map(extent_text).collect();
            let alike = ctype.depth() == extents.len() && inner_extents(ctype)? == rows;
            let element = |array, name| made(ExprKind::Index(Box::new(array), Box::new(index(name))));
            alike.then(|| names.iter().fold(array.clone(), element))
        };
        let value = match &from {
            Some((from, ctype)) => at(from, ctype)?,
            None => made(ExprKind::Integer { value: 0, text: "0".to_owned() }),
        };
        let assigned = made(ExprKind::Assign(None, Box::new(at(&target, &ctype)?), Box::new(value)));
        let stmt = Stmt { kind: StmtKind::Expr(assigned), span: place.clone() };
        Some(self.in_loops(stmt, &names, &extents, place))
    }

    /// A statement in loops over these indices, from 0 to before the extents.
    pub(super) fn in_loops(
        &mut self,
        mut stmt: Stmt,
        names: &[String],
        extents: &[Expr],
        place: &Span,
    ) -> Stmt {
        let made = |kind| Expr { kind, span: place.clone() };
        let index = |name: &String| Box::new(made(ExprKind::Name(name.clone())));
        for (name, extent) in names.iter().zip(extents).rev() {
            let int = CType::Integer { name: "long".to_owned(), unsigned: false };
            let zero = made(ExprKind::Integer { value: 0, text: "0".to_owned() });
            let condition = ExprKind::Binary(BinaryOp::Less, index(name), Box::new(extent.clone()));
            self.declared.insert(name.clone(), int.clone());
            let source = ForLoop {
                start: Some(declaration(name, int, Some(zero), place)),
                condition: Some(made(condition)),
                step: Some(made(ExprKind::Step(1, index(name)))),
                body: stmt,
                head: place.clone(),
            };
            stmt = Stmt { kind: StmtKind::For(Box::new(source)), span: place.clone() };
        }
        stmt
    }

    /// An array or a pointer to the first element of one, or to one from which on elements are moved.
    fn whole(&self, expr: &Expr) -> Option<(Expr, CType)> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let ctype = self.declared.get(name).or_else(|| Some(&self.variables.get(name)?.ctype))?;
                (ctype.depth() > 0).then(|| (expr.clone(), ctype.clone()))
            }
            // `&a[0][0]`, of an array in one piece
            ExprKind::Unary(UnaryOp::Address, first) => {
                let (at, indices) = super::taking::indexed(first);
                if indices.iter().all(|index| literal(index) == Some(0)) {
                    return self.whole(at);
                }
                let (_, ctype) = self.element(at, &indices)?;
                super::bind::is_scalar(&ctype).then(|| (expr.clone(), CType::Pointer(Box::new(ctype))))
            }
            // `a[i]`, a row
            ExprKind::Index(..) => {
                let (at, indices) = super::taking::indexed(expr);
                let (_, ctype) = self.element(at, &indices)?;
                (ctype.depth() == 1).then(|| (expr.clone(), ctype))
            }
            // `a + i * n`, of a flattened array
            ExprKind::Binary(BinaryOp::Add, array, offset) => {
                let (_, ctype) = self.whole(array)?;
                let number = |part: &Expr| self.whole(part).is_none();
                (ctype.depth() == 1 && number(offset)).then(|| (expr.clone(), ctype))
            }
            ExprKind::Member(..) => {
                let (_, ctype) = member(expr, self.variables, self.structures, &HashMap::new())?;
                (ctype.depth() > 0).then(|| (expr.clone(), ctype))
            }
            ExprKind::Cast(CType::Pointer(_), inner) => self.whole(inner),
            _ => None,
        }
    }
}

impl Inliner<'_> {
    /// What subscripts of an array reach, and its type.
    fn element(&self, array: &Expr, indices: &[&Expr]) -> Option<(Expr, CType)> {
        let (array, mut ctype) = self.whole(array)?;
        for _ in indices {
            ctype = match ctype {
                CType::Pointer(inner) | CType::Array(inner, _) => *inner,
                _ => return None,
            };
        }
        Some((array, ctype))
    }
}

/// The place of an element of a flattened array, row by row: ((i * n) + j) * m + k
pub(super) fn row_by_row(names: &[String], extents: &[Expr], place: &Span) -> Expr {
    let made = |kind| Expr { kind, span: place.clone() };
    let index = |name: &String| made(ExprKind::Name(name.clone()));
    names.iter().zip(extents).skip(1).fold(index(&names[0]), |sum, (name, extent)| {
        let row = made(ExprKind::Binary(BinaryOp::Mul, Box::new(sum), Box::new(extent.clone())));
        made(ExprKind::Binary(BinaryOp::Add, Box::new(row), Box::new(index(name))))
    })
}

/// Whether so many elements are no more than a row has, where that is declared.
fn fits(row: &CType, count: &Expr) -> bool {
    let CType::Array(_, extent) = row else { return true };
    let Some(extent) = extent.as_deref() else { return false };
    match (literal(extent), literal(count)) {
        (Some(extent), Some(count)) => count <= extent,
        _ => extent_text(extent) == extent_text(count),
    }
}

/// The array that a part of one belongs to.
fn root(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Index(inner, _) | ExprKind::Binary(_, inner, _) | ExprKind::Unary(_, inner) => root(inner),
        _ => c_text(expr, &|_| None),
    }
}

/// The extents whose product is the number of bytes, by the names of the arrays.
fn extents(arrays: &[(Expr, CType)], ctype: &CType, element: &CType, bytes: &Expr) -> Option<Vec<Expr>> {
    if let Some(found) = extents_in_size(bytes, element) {
        // `sizeof(double[n][m])`
        let flat = ctype.depth() == 1;
        let alike = found.iter().skip(1).map(extent_text).eq(inner_extents(ctype)?);
        return (flat || alike).then_some(found);
    }
    let named = |of: &str, expr: &Expr| c_text(expr, &|_| None) == of;
    if let Some(of) = size_of(bytes) {
        // All of either array.
        let (_, whole) = arrays.iter().find(|(expr, _)| named(&of, expr))?;
        let mut declared = Vec::new();
        let mut at = whole;
        while let CType::Array(inner, extent) = at {
            declared.push(extent.as_deref().cloned()?);
            at = inner;
        }
        // Rows of pointers lie anywhere.
        return (!declared.is_empty() && whole.depth() == declared.len()).then_some(declared);
    }
    let mut factors = Vec::new();
    product(bytes, &mut factors);
    let sized = factors.iter().position(|factor| {
        size_of(factor).is_some_and(|of| {
            let first = |name: &str| [format!("{name}[0]"), format!("*{name}"), format!("* {name}")];
            of == type_text(element)
                || arrays
                    .iter()
                    .any(|(expr, ctype)| ctype.depth() == 1 && first(&c_text(expr, &|_| None)).contains(&of))
        })
    })?;
    factors.remove(sized);
    match ctype {
        // A flattened array: the last factor is the row.
        CType::Pointer(_) if ctype.depth() == 1 => (!factors.is_empty()).then_some(factors),
        CType::Array(..) if ctype.depth() == 1 => (!factors.is_empty()).then_some(factors),
        CType::Pointer(inner) | CType::Array(inner, _) => {
            // `double (*u)[n]`: the extents behind the first one are declared.
            let mut known = Vec::new();
            let mut at = &**inner;
            while let CType::Array(inner, extent) = at {
                known.push(extent.as_deref().cloned()?);
                at = inner;
            }
            let mut rest = factors;
            for extent in &known {
                let at = rest.iter().rposition(|factor| extent_text(factor) == extent_text(extent))?;
                rest.remove(at);
            }
            if super::bind::is_scalar(at) && rest.len() == 1 {
                rest.extend(known);
                return Some(rest);
            }
            None
        }
        _ => None,
    }
}

/// The extents of an array as C texts.
fn extents_of(ctype: &CType) -> Vec<String> {
    match ctype {
        CType::Array(inner, extent) => {
            extent.as_deref().map(extent_text).into_iter().chain(extents_of(inner)).collect()
        }
        _ => Vec::new(),
    }
}

/// Those of the arrays that an array or a pointer has; `None` where it has pointers.
fn inner_extents(ctype: &CType) -> Option<Vec<String>> {
    let (CType::Pointer(inner) | CType::Array(inner, _)) = ctype else { return None };
    let found = extents_of(inner);
    (found.len() == inner.depth()).then_some(found)
}
