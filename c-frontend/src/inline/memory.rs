//! `memcpy` and `memset` of whole arrays, as loops.

use super::bind::declaration;
use super::inliner::Inliner;
use super::sizes::{product, size_of};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, Stmt, StmtKind, UnaryOp};
use crate::integer::literal;
use crate::text::{c_text, type_text};
use polyhedral::source::Span;

impl Inliner<'_> {
    /// The loops that do the same; `None` where that is not known.
    pub(super) fn moved(&mut self, name: &str, arguments: &[Expr], place: &Span) -> Option<Stmt> {
        let [target, source, bytes] = arguments else { return None };
        let sets = name.ends_with("memset");
        let (target, ctype) = self.whole(target)?;
        let mut alike = Vec::new();
        let from = match sets {
            true => {
                if literal(source)? != 0 {
                    return None;
                }
                None
            }
            false => {
                let (source, other) = self.whole(source)?;
                if type_text(other.element()) != type_text(ctype.element()) {
                    return None;
                }
                // `sizeof` of either array says the same.
                if matches!(other, CType::Array(..)) && extents_of(&other) == extents_of(&ctype) {
                    alike.push(c_text(&source, &|_| None));
                }
                Some(source)
            }
        };
        let element = ctype.element().clone();
        if !super::bind::is_scalar(&element) {
            return None;
        }
        alike.push(c_text(&target, &|_| None));
        let extents = extents(&alike, &ctype, &element, bytes)?;
        let made = |kind| Expr { kind, span: place.clone() };
        let names: Vec<String> = extents.iter().map(|_| self.fresh("at")).collect();
        let index = |name: &String| made(ExprKind::Name(name.clone()));
        let at = |array: &Expr| {
            if ctype.depth() == 1 && extents.len() > 1 {
                // Row by row: ((i * n) + j) * m + k
                let mut sum = index(&names[0]);
                for (name, extent) in names.iter().zip(&extents).skip(1) {
                    let product = ExprKind::Binary(BinaryOp::Mul, Box::new(sum), Box::new(extent.clone()));
                    sum =
                        made(ExprKind::Binary(BinaryOp::Add, Box::new(made(product)), Box::new(index(name))));
                }
                return made(ExprKind::Index(Box::new(array.clone()), Box::new(sum)));
            }
            names.iter().fold(array.clone(), |array, name| {
                made(ExprKind::Index(Box::new(array), Box::new(index(name))))
            })
        };
        let value = match &from {
            Some(from) => at(from),
            None => made(ExprKind::Integer { value: 0, text: "0".to_owned() }),
        };
        let assigned = made(ExprKind::Assign(None, Box::new(at(&target)), Box::new(value)));
        let mut stmt = Stmt { kind: StmtKind::Expr(assigned), span: place.clone() };
        for (name, extent) in names.iter().zip(&extents).rev() {
            let int = CType::Integer { name: "long".to_owned(), unsigned: false };
            let zero = made(ExprKind::Integer { value: 0, text: "0".to_owned() });
            let condition = ExprKind::Binary(BinaryOp::Less, Box::new(index(name)), Box::new(extent.clone()));
            self.declared.insert(name.clone(), int.clone());
            let source = ForLoop {
                start: Some(declaration(name, int, Some(zero), place)),
                condition: Some(made(condition)),
                step: Some(made(ExprKind::Step(1, Box::new(index(name))))),
                body: stmt,
                head: place.clone(),
            };
            stmt = Stmt { kind: StmtKind::For(Box::new(source)), span: place.clone() };
        }
        Some(stmt)
    }

    /// An array or a pointer to the first element of one.
    fn whole(&self, expr: &Expr) -> Option<(Expr, CType)> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let ctype = self.declared.get(name).or_else(|| Some(&self.variables.get(name)?.ctype))?;
                (ctype.depth() > 0).then(|| (expr.clone(), ctype.clone()))
            }
            // `&a[0][0]`, of an array in one piece
            ExprKind::Unary(UnaryOp::Address, first) => {
                let mut at = &**first;
                while let ExprKind::Index(array, index) = &at.kind {
                    if literal(index)? != 0 {
                        return None;
                    }
                    at = array;
                }
                self.whole(at)
            }
            ExprKind::Cast(CType::Pointer(_), inner) => self.whole(inner),
            _ => None,
        }
    }
}

/// The extents whose product is the number of bytes, by the names of arrays of this type.
fn extents(names: &[String], ctype: &CType, element: &CType, bytes: &Expr) -> Option<Vec<Expr>> {
    let mut declared = Vec::new();
    let mut at = ctype;
    // Rows of pointers lie anywhere.
    while let CType::Array(inner, extent) = at {
        declared.push(extent.as_deref().cloned());
        at = inner;
    }
    if let Some(of) = size_of(bytes) {
        let whole =
            matches!(ctype, CType::Array(..)) && names.contains(&of) && ctype.depth() == declared.len();
        return if whole { declared.into_iter().collect() } else { None };
    }
    let mut factors = Vec::new();
    product(bytes, &mut factors);
    let sized = factors.iter().position(|factor| {
        size_of(factor).is_some_and(|of| {
            let first = |name: &String| [format!("{name}[0]"), format!("*{name}"), format!("* {name}")];
            of == type_text(element)
                || (ctype.depth() == 1 && names.iter().any(|name| first(name).contains(&of)))
        })
    })?;
    factors.remove(sized);
    let text = |expr: &Expr| match literal(expr) {
        Some(value) => value.to_string(),
        None => c_text(expr, &|_| None),
    };
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
                let at = rest.iter().rposition(|factor| text(factor) == text(extent))?;
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
            let own = extent.as_deref().map(|extent| match literal(extent) {
                Some(value) => value.to_string(),
                None => c_text(extent, &|_| None),
            });
            own.into_iter().chain(extents_of(inner)).collect()
        }
        _ => Vec::new(),
    }
}
