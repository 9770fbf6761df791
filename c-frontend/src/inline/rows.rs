//! Rows that lie in one piece of memory: `rows[i] = data + i * m`.
//!
//! With such rows `rows[i][j]` is `data[i * m + j]`, so the pointers to rows are left out where a step takes them, sets them so and
//! gives them back. The piece may be the first row's own, `rows[0] = malloc(n * m * sizeof(double))`, and rows may follow each other
//! by `rows[i] = rows[i - 1] + m`.

use super::bind::declaration;
use super::heap::mentions;
use super::inliner::Inliner;
use super::rename::simplify;
use super::taking::{freed, indexed, is_null, taken};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, Stmt, StmtKind, UnaryOp, Variable};
use crate::integer::literal;
use crate::text::c_text;

impl Inliner<'_> {
    /// The statements with elements of one piece in the place of those by rows; `None` if rows lie elsewhere.
    pub(super) fn with_rows_in_one_piece(&mut self, list: &[Stmt], pointer: &Variable) -> Option<Vec<Stmt>> {
        let CType::Pointer(row) = &pointer.ctype else { return None };
        let CType::Pointer(element) = &**row else { return None };
        if !super::bind::is_scalar(element) {
            return None;
        }
        let own = self.own.clone();
        let own = |name: &str| own.contains(name);
        let mut rows =
            Rows { name: &pointer.name, own: &own, piece: None, first: false, stride: None, fails: false };
        list.iter().for_each(|stmt| rows.find(stmt, None));
        let stride = rows.stride.clone().filter(|_| !rows.fails)?;
        let piece = match (&rows.piece, rows.first) {
            (Some(piece), false) => piece.clone(),
            // The first row's own memory gets a name.
            (None, true) => self.fresh(&pointer.name),
            _ => return None,
        };
        let made = rows.first.then(|| {
            self.declared.insert(piece.clone(), (**row).clone());
            declaration(&piece, (**row).clone(), None, &pointer.span)
        });
        let found = rows.without(list, &piece, &stride)?;
        Some(made.into_iter().chain(found).collect())
    }
}

/// Pointers to rows.
struct Rows<'a> {
    name: &'a str,
    own: &'a dyn Fn(&str) -> bool,
    /// What they point into.
    piece: Option<String>,
    /// Whether it is taken for the first one.
    first: bool,
    /// How many elements are between them.
    stride: Option<Expr>,
    fails: bool,
}

impl Rows<'_> {
    fn is_own(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Name(name) if name == self.name)
    }

    /// The subscript of a row.
    fn row<'e>(&self, expr: &'e Expr) -> Option<&'e Expr> {
        let (base, subscripts) = indexed(expr);
        let [index] = subscripts[..] else { return None };
        self.is_own(base).then_some(index)
    }

    /// Looks at how rows are set. `index`: that of the loop around.
    fn find(&mut self, stmt: &Stmt, index: Option<&str>) {
        match &stmt.kind {
            StmtKind::Block(list) => list.iter().for_each(|stmt| self.find(stmt, index)),
            StmtKind::For(source) => self.find(&source.body, source.index()),
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
                let Some(row) = self.row(target) else { return };
                if literal(row) == Some(0) && index.is_none() {
                    match taken(value, self.own) {
                        Some(_) if !self.first => self.first = true,
                        // The piece itself.
                        None => match &value.kind {
                            ExprKind::Name(name) => self.points_into(name),
                            _ => self.fails = true,
                        },
                        Some(_) => self.fails = true,
                    }
                    return;
                }
                let known = matches!(&row.kind, ExprKind::Name(name) if Some(name.as_str()) == index);
                match (known, index) {
                    (true, Some(index)) => self.follows(value, index),
                    _ => self.fails = true,
                }
            }
            _ => {}
        }
    }

    fn points_into(&mut self, name: &str) {
        match &self.piece {
            Some(known) if known != name => self.fails = true,
            _ => self.piece = Some(name.to_owned()),
        }
    }

    /// `data + i * m`, `&data[i * m]`, `rows[0] + i * m` or `rows[i - 1] + m`.
    fn follows(&mut self, value: &Expr, index: &str) {
        let (base, offset) = match &value.kind {
            ExprKind::Binary(BinaryOp::Add, base, offset) => (&**base, &**offset),
            ExprKind::Unary(UnaryOp::Address, element) => match &element.kind {
                ExprKind::Index(base, offset) => (&**base, &**offset),
                _ => return self.fails = true,
            },
            _ => return self.fails = true,
        };
        let stride = match (&base.kind, self.row(base)) {
            (ExprKind::Name(name), _) => {
                self.points_into(name);
                without_factor(offset, index)
            }
            (_, Some(row)) if literal(row) == Some(0) => without_factor(offset, index),
            (_, Some(Expr { kind: ExprKind::Binary(BinaryOp::Sub, a, b), .. }))
                if matches!(&a.kind, ExprKind::Name(name) if name == index) && literal(b) == Some(1) =>
            {
                Some(offset.clone())
            }
            _ => None,
        };
        let stride = stride.filter(|stride| !stride.mentions(index));
        let text = |expr: &Expr| c_text(expr, &|_| None);
        match (stride, &self.stride) {
            (Some(stride), None) => self.stride = Some(stride),
            (Some(stride), Some(known)) if text(&stride) == text(known) => {}
            _ => self.fails = true,
        }
    }

    /// Statements without the pointers to rows; `None` if something else happens to them.
    fn without(&self, list: &[Stmt], piece: &str, stride: &Expr) -> Option<Vec<Stmt>> {
        let mut found = Vec::new();
        for stmt in list {
            found.extend(self.statement(stmt, piece, stride)?);
        }
        Some(found)
    }

    fn statement(&self, stmt: &Stmt, piece: &str, stride: &Expr) -> Option<Option<Stmt>> {
        if !mentions(stmt, self.name) {
            return Some(Some(stmt.clone()));
        }
        let span = stmt.span.clone();
        let with = |kind| Some(Some(Stmt { kind, span: span.clone() }));
        let named = |span| Expr { kind: ExprKind::Name(piece.to_owned()), span };
        match &stmt.kind {
            StmtKind::Block(list) => {
                let list = self.without(list, piece, stride)?;
                if list.is_empty() { Some(None) } else { with(StmtKind::Block(list)) }
            }
            StmtKind::Declaration(list) => {
                let mut kept = Vec::new();
                for one in list {
                    if one.name == self.name {
                        // Whatever is taken for the pointers themselves.
                        let plain = |value: &Expr| is_null(value) || taken(value, self.own).is_some();
                        one.value.as_ref().is_none_or(plain).then_some(())?;
                    } else {
                        kept.push(one.clone());
                    }
                }
                if kept.is_empty() {
                    return Some(None);
                }
                let plain =
                    kept.iter().all(|one| one.value.as_ref().is_none_or(|value| !value.mentions(self.name)));
                if plain { with(StmtKind::Declaration(kept)) } else { None }
            }
            StmtKind::Expr(expr) => {
                if let ExprKind::Assign(None, target, value) = &expr.kind {
                    if self.is_own(target) {
                        return (is_null(value) || taken(value, self.own).is_some()).then_some(None);
                    }
                    if let Some(row) = self.row(target) {
                        if !(literal(row) == Some(0) && taken(value, self.own).is_some()) {
                            return Some(None);
                        }
                        let target = Box::new(named(target.span.clone()));
                        let kind = ExprKind::Assign(None, target, value.clone());
                        return with(StmtKind::Expr(Expr { kind, span: expr.span.clone() }));
                    }
                }
                if let Some(pointer) = freed(expr, self.own) {
                    if self.is_own(pointer) {
                        return Some(None);
                    }
                    if self.row(pointer).is_some_and(|row| literal(row) == Some(0))
                        && let ExprKind::Call(function, _) = &expr.kind
                    {
                        let kind = ExprKind::Call(function.clone(), vec![named(pointer.span.clone())]);
                        return with(StmtKind::Expr(Expr { kind, span: expr.span.clone() }));
                    }
                }
                self.elements(stmt, piece, stride).map(Some)
            }
            StmtKind::For(source) => {
                let head = Stmt { kind: StmtKind::Empty, span: span.clone() };
                let outside = Stmt {
                    kind: StmtKind::For(Box::new(ForLoop { body: head, ..(**source).clone() })),
                    span: span.clone(),
                };
                if mentions(&outside, self.name) {
                    return None;
                }
                let body = self.statement(&source.body, piece, stride)?;
                let declared =
                    matches!(source.start.as_ref().map(|start| &start.kind), Some(StmtKind::Declaration(_)));
                match body {
                    None if declared => Some(None),
                    None => Some(Some(outside)),
                    Some(body) => with(StmtKind::For(Box::new(ForLoop { body, ..(**source).clone() }))),
                }
            }
            _ => self.elements(stmt, piece, stride).map(Some),
        }
    }

    /// A statement with elements of the piece; `None` if it does something else with rows.
    fn elements(&self, stmt: &Stmt, piece: &str, stride: &Expr) -> Option<Stmt> {
        let mut stmt = stmt.clone();
        stmt.walk_expressions_mut(&mut |part| {
            // The innermost first: `rows[i]` becomes `(data + i * m)`, and so does what it is indexed with.
            if let Some(row) = self.row(part) {
                let span = part.span.clone();
                let made = |kind| Box::new(Expr { kind, span: span.clone() });
                let offset = match literal(row) {
                    Some(0) => made(row.kind.clone()),
                    _ => {
                        made(ExprKind::Binary(BinaryOp::Mul, Box::new(row.clone()), Box::new(stride.clone())))
                    }
                };
                let base = made(ExprKind::Name(piece.to_owned()));
                part.kind = ExprKind::Binary(BinaryOp::Add, base, offset);
            }
            simplify(part);
        });
        (!mentions(&stmt, self.name)).then_some(stmt)
    }
}

/// A product without one of its factors.
fn without_factor(product: &Expr, name: &str) -> Option<Expr> {
    let mut factors = Vec::new();
    super::sizes::product(product, &mut factors);
    let at = factors.iter().position(|one| matches!(&one.kind, ExprKind::Name(own) if own == name))?;
    factors.remove(at);
    let span = product.span.clone();
    let kind = ExprKind::Integer { value: 1, text: "1".to_owned() };
    let product = factors.into_iter().reduce(|a, b| Expr {
        kind: ExprKind::Binary(BinaryOp::Mul, Box::new(a), Box::new(b)),
        span: span.clone(),
    });
    Some(product.unwrap_or(Expr { kind, span }))
}
