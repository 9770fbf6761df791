//! `memcpy` and `memset` of whole arrays, of rows (`u[i]`) and from a place on (`u + 1`, `&u[k]`), as loops.

use super::bind::declaration;
use super::inliner::Inliner;
use super::rename::is_pure;
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
        let Place { array: target, ctype, from: behind, row } = self.place(target)?;
        let mut alike = Vec::new();
        let mut part = row || behind.is_some();
        let from = match sets {
            true => {
                if literal(source)? != 0 {
                    return None;
                }
                None
            }
            false => {
                let Place { array: source, ctype: other, from, row } = self.place(source)?;
                if type_text(other.element()) != type_text(ctype.element()) {
                    return None;
                }
                part |= row || from.is_some();
                // What overlaps is not moved element by element; rows of one array are apart.
                let rows = name.ends_with("memcpy") && from.is_none() && behind.is_none();
                if part && !rows && base(&source) == base(&target) {
                    return None;
                }
                // `sizeof` of either array says the same.
                if matches!(other, CType::Array(..)) && extents_of(&other) == extents_of(&ctype) {
                    alike.push(c_text(&source, &|_| None));
                }
                Some((source, from))
            }
        };
        let element = ctype.element().clone();
        let started = behind.is_some() || from.as_ref().is_some_and(|(_, from)| from.is_some());
        if started && size_of(bytes).is_some() {
            return None;
        }
        if !super::bind::is_scalar(&element) {
            return None;
        }
        alike.push(c_text(&target, &|_| None));
        let extents = extents(&alike, &ctype, &element, bytes)?;
        if row && !(extents.len() == 1 && fits(&ctype, &extents[0])) {
            return None;
        }
        let made = |kind| Expr { kind, span: place.clone() };
        let names: Vec<String> = extents.iter().map(|_| self.fresh("at")).collect();
        let index = |name: &String| made(ExprKind::Name(name.clone()));
        let at = |array: &Expr, from: &Option<Expr>| {
            let behind = |index: Expr| match from {
                Some(from) => made(ExprKind::Binary(BinaryOp::Add, Box::new(from.clone()), Box::new(index))),
                None => index,
            };
            if ctype.depth() == 1 && extents.len() > 1 {
                // Row by row: ((i * n) + j) * m + k
                let mut sum = index(&names[0]);
                for (name, extent) in names.iter().zip(&extents).skip(1) {
                    let product = ExprKind::Binary(BinaryOp::Mul, Box::new(sum), Box::new(extent.clone()));
                    sum =
                        made(ExprKind::Binary(BinaryOp::Add, Box::new(made(product)), Box::new(index(name))));
                }
                return made(ExprKind::Index(Box::new(array.clone()), Box::new(behind(sum))));
            }
            names.iter().fold(array.clone(), |array, name| {
                made(ExprKind::Index(Box::new(array), Box::new(behind(index(name)))))
            })
        };
        let value = match &from {
            Some((source, from)) => at(source, from),
            None => made(ExprKind::Integer { value: 0, text: "0".to_owned() }),
        };
        let assigned = made(ExprKind::Assign(None, Box::new(at(&target, &behind)), Box::new(value)));
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

    /// Where elements are moved from or to.
    fn place(&self, expr: &Expr) -> Option<Place> {
        if let Some((array, ctype)) = self.whole(expr) {
            return Some(Place { array, ctype, from: None, row: false });
        }
        let started = |this: &Self, array: &Expr, from: &Expr| {
            let place = this.place(array).filter(|place| place.from.is_none() && place.ctype.depth() == 1)?;
            is_pure(from).then(|| Place { from: Some(from.clone()), ..place })
        };
        match &expr.kind {
            // A row: `u[i]`
            ExprKind::Index(array, index) if is_pure(index) => {
                let place = self.place(array).filter(|place| place.from.is_none())?;
                let (CType::Array(inner, _) | CType::Pointer(inner)) = &place.ctype else { return None };
                (inner.depth() > 0).then(|| Place {
                    array: expr.clone(),
                    ctype: (**inner).clone(),
                    from: None,
                    row: true,
                })
            }
            ExprKind::Binary(BinaryOp::Add, array, from) => started(self, array, from),
            ExprKind::Unary(UnaryOp::Address, element) => match &element.kind {
                ExprKind::Index(array, from) => started(self, array, from),
                _ => None,
            },
            ExprKind::Cast(CType::Pointer(_), inner) => self.place(inner),
            _ => None,
        }
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

/// Where elements are moved from or to: an array, or a row of one, from an element on.
struct Place {
    array: Expr,
    ctype: CType,
    from: Option<Expr>,
    row: bool,
}

/// The name of the array that a row is of.
fn base(expr: &Expr) -> String {
    let mut at = expr;
    while let ExprKind::Index(array, _) = &at.kind {
        at = array;
    }
    c_text(at, &|_| None)
}

/// Whether so many elements are no more than a row has, where that is declared.
fn fits(row: &CType, count: &Expr) -> bool {
    let CType::Array(_, extent) = row else { return true };
    let Some(extent) = extent.as_deref() else { return false };
    match (literal(extent), literal(count)) {
        (Some(extent), Some(count)) => count <= extent,
        _ => c_text(extent, &|_| None) == c_text(count, &|_| None),
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
