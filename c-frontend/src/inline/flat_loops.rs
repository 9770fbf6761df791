//! Loops over all points of a flat array at once, `for (k = 0; k < n * m; k++)`, as loops over rows and columns.
//!
//! With `k = i * m + j` and `0 <= j < m`, `k / m` is `i`, `k % m` is `j`, `k < q * m` is `i < q`, and the rounds keep their order:
//!
//! ```text
//! for (k = q * m + c; k < p * m - d; k++) f(k)   =>   for (i = q; i < p; i++) for (j = 0; j < m; j++) f(i * m + j)
//! ```
//!
//! where `f` does nothing in the first `c` columns, nor in the last `d`. Loops that ask for no columns, such as copies, are
//! taken apart where other statements of the time loop touch rows of the same arrays.

use super::bind::declaration;
use super::columns::{Columns, does_nothing};
use super::inliner::Inliner;
use super::rename::{assigns, is_pure};
use super::sums::{Sum, Terms};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, Stmt, StmtKind};
use crate::integer::literal;
use crate::nest::counted;
use polyhedral::source::Span;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// Most columns at either end in which loops do nothing.
const MOST_COLUMNS: i64 = 4;

/// What becomes of a loop, if it is taken apart.
type Taken<'a, T> = &'a mut dyn FnMut(&mut T, &ForLoop, &Span) -> Option<Vec<Stmt>>;

impl Inliner<'_> {
    /// Takes the flat loops of a region's time loop apart.
    pub(super) fn flat_loops(&mut self, statements: &mut [Stmt]) {
        for stmt in statements.iter_mut() {
            self.within(stmt, false, &mut |this, source, span| this.by_strides(source, span));
        }
        for stmt in statements.iter_mut() {
            self.within(stmt, false, &mut |this, source, span| this.by_columns(source, span));
        }
        let strides = self.strides(statements);
        if !strides.is_empty() {
            for stmt in statements.iter_mut() {
                self.within(stmt, false, &mut |this, source, span| this.by_rows(source, span, &strides));
            }
        }
    }

    fn within(&mut self, stmt: &mut Stmt, inner: bool, taken: Taken<'_, Self>) {
        match &mut stmt.kind {
            StmtKind::Block(list) => list.iter_mut().for_each(|stmt| self.within(stmt, inner, taken)),
            StmtKind::If(_, then, otherwise) => {
                self.within(then, inner, taken);
                otherwise.iter_mut().for_each(|stmt| self.within(stmt, inner, taken));
            }
            StmtKind::While(source) => self.within(&mut source.body, true, taken),
            StmtKind::For(source) => {
                let found = if inner { taken(self, source, &stmt.span) } else { None };
                match found {
                    None => self.within(&mut source.body, true, taken),
                    Some(mut list) => {
                        // Rows may be flat themselves: those of planes.
                        list.iter_mut().for_each(|stmt| self.within(stmt, true, taken));
                        *stmt = match <[Stmt; 1]>::try_from(list) {
                            Ok([one]) => one,
                            Err(list) => Stmt { kind: StmtKind::Block(list), span: stmt.span.clone() },
                        };
                    }
                }
            }
            _ => {}
        }
    }

    /// A loop that asks for rows and columns.
    fn by_columns(&mut self, source: &ForLoop, span: &Span) -> Option<Vec<Stmt>> {
        let flat = self.flat(source, span)?;
        let mut divisors: Vec<&Expr> = Vec::new();
        source.body.walk_expressions(&mut |part| {
            if let ExprKind::Binary(operator @ (BinaryOp::Rem | BinaryOp::Div), a, by) = &part.kind
                && flat.is_index(a)
            {
                let at = if *operator == BinaryOp::Rem { 0 } else { divisors.len() };
                divisors.insert(at, by);
            }
        });
        let columns = (*divisors.first()?).clone();
        self.apart(source, &flat, &columns, span)
    }

    /// A loop that touches the same element of some arrays in each round, and nothing else.
    fn by_rows(&mut self, source: &ForLoop, span: &Span, strides: &Strides) -> Option<Vec<Stmt>> {
        let flat = self.flat(source, span)?;
        let (mut arrays, mut uses, mut elements) = (HashSet::new(), 0, 0);
        source.body.walk_expressions(&mut |part| match &part.kind {
            ExprKind::Index(array, index) if flat.is_index(index) => {
                elements += 1;
                arrays.extend(self.array(array));
            }
            ExprKind::Name(_) => uses += usize::from(flat.is_index(part)),
            _ => {}
        });
        if uses != elements || flat.low.number_of() != Some(0) {
            return None;
        }
        let columns = self.columns(&flat, |columns| {
            arrays
                .iter()
                .any(|array| strides.get(array).is_some_and(|own| own.iter().any(|one| one.is_by(columns))))
        })?;
        self.apart(source, &flat, &columns, span)
    }

    /// The factor of a loop's rounds that rows of arrays have.
    fn columns(&self, flat: &Flat, is_row: impl Fn(&Sum) -> bool) -> Option<Expr> {
        let mut factors = Vec::new();
        super::sizes::product(&flat.limit, &mut factors);
        if factors.len() < 2 {
            let rounds = literal(&flat.limit)?;
            let by = (2..=rounds / 2).filter(|by| rounds % by == 0).find(|by| is_row(&Sum::number(*by)))?;
            return Some(Expr {
                kind: ExprKind::Integer { value: by, text: by.to_string() },
                span: flat.limit.span.clone(),
            });
        }
        let own = |factor: &&Expr| self.sum(factor, &mut Terms::default()).is_some_and(|sum| is_row(&sum));
        factors.iter().rev().find(own).cloned()
    }

    /// A loop that counts up by one, whose statements assign elements and hold no other loop that does.
    fn flat(&self, source: &ForLoop, span: &Span) -> Option<Flat> {
        let (name, first, limit) = counted(source)?;
        let ctype = match source.start.as_ref().map(|start| &start.kind) {
            Some(StmtKind::Declaration(own)) => own.first()?.ctype.clone(),
            _ => self.declared.get(&name).or_else(|| Some(&self.variables.get(&name)?.ctype))?.clone(),
        };
        let mut plain = matches!(ctype, CType::Integer { .. })
            && assigns_elements(&source.body)
            && !assigns(std::slice::from_ref(&source.body), &name);
        source.body.walk(&mut |part| match &part.kind {
            // Those of rows that were flat are columns.
            StmtKind::For(_) => plain &= part.span == *span || !assigns_elements(part),
            StmtKind::While(_) | StmtKind::Return(_) | StmtKind::Other(..) => plain = false,
            _ => {}
        });
        let terms = &mut Terms::default();
        let first = self.sum(&first, terms)?;
        let limit_sum = self.sum(&limit, terms)?;
        plain.then(|| Flat { low: first, high: limit_sum, limit: self.written_out(&limit), name, ctype })
    }

    fn apart(&mut self, source: &ForLoop, flat: &Flat, columns: &Expr, span: &Span) -> Option<Vec<Stmt>> {
        let body = std::slice::from_ref(&source.body);
        let mut stays = is_pure(columns);
        columns.walk(&mut |part| match &part.kind {
            ExprKind::Name(name) => stays &= *name != flat.name && !assigns(body, name),
            ExprKind::Integer { .. } | ExprKind::Binary(..) | ExprKind::Cast(..) | ExprKind::Member(..) => {}
            _ => stays = false,
        });
        let alike = |own: &CType| *own == flat.ctype;
        stays &= literal(columns).is_some_and(|by| by > 1)
            || self.integer_type(columns).is_some_and(|own| alike(&own));
        if !stays {
            return None;
        }
        let (row, column) = (self.fresh(&flat.name), self.fresh(&flat.name));
        let known = [&row, &column].map(|name| (name.clone(), flat.ctype.clone()));
        self.declared.extend(known);
        let terms = RefCell::new(Terms::default());
        let sum = |expr: &Expr| self.sum(expr, &mut terms.borrow_mut());
        let by = sum(columns)?;
        sum(&flat.limit)?;
        let (low, left) = flat.low.divided(&by)?;
        let (high, right) = flat.high.divided(&by)?;
        if low.number_of().is_none_or(|low| low < 0)
            || !(0..=MOST_COLUMNS).contains(&left)
            || !(-MOST_COLUMNS..=0).contains(&right)
        {
            return None;
        }
        let expression = |sum: &Sum| terms.borrow().expression(sum, span);
        let new = Columns {
            index: &flat.name,
            row: &row,
            column: &column,
            columns,
            by: &by,
            signed: matches!(&flat.ctype, CType::Integer { unsigned: false, .. }),
            sum: &sum,
            expression: &expression,
            is_signed: &|expr| self.is_signed(expr),
        }
        .put(&source.body)?;
        let name = column.clone();
        let at = |column: Sum| {
            let values = HashMap::from([(name.clone(), column)]);
            let sum = |expr: &Expr| sum(expr).map(|sum| sum.with(&values));
            does_nothing(std::slice::from_ref(&new), &sum)
        };
        let idle = (0..left).all(|column| at(Sum::number(column)))
            && (1..=-right).all(|behind| by.plus(&Sum::number(-behind)).is_some_and(&at));
        if !idle {
            return None;
        }
        let made = |kind| Expr { kind, span: span.clone() };
        let looped = |name: &str, low: Expr, high: Expr, body: Stmt| {
            let index = || Box::new(made(ExprKind::Name(name.to_owned())));
            let source = ForLoop {
                start: Some(declaration(name, flat.ctype.clone(), Some(low), span)),
                condition: Some(made(ExprKind::Binary(BinaryOp::Less, index(), Box::new(high)))),
                step: Some(made(ExprKind::Step(1, index()))),
                body,
                head: source.head.clone(),
            };
            Stmt { kind: StmtKind::For(Box::new(source)), span: span.clone() }
        };
        let zero = made(ExprKind::Integer { value: 0, text: "0".to_owned() });
        let inner = looped(&column, zero, columns.clone(), new);
        let (low, high) = (expression(&low)?, expression(&high)?);
        let mut list = vec![looped(&row, low, high, inner)];
        // What the loop leaves in its index.
        if !matches!(source.start.as_ref().map(|start| &start.kind), Some(StmtKind::Declaration(_))) {
            let body = Stmt { kind: StmtKind::Empty, span: source.body.span.clone() };
            let kind = StmtKind::For(Box::new(ForLoop { body, ..source.clone() }));
            list.push(Stmt { kind, span: span.clone() });
        }
        Some(list)
    }
}

fn assigns_elements(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.walk_expressions(&mut |part| {
        if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &part.kind {
            found |= matches!(target.kind, ExprKind::Index(..));
        }
    });
    found
}

/// A loop over all points.
struct Flat {
    name: String,
    ctype: CType,
    low: Sum,
    high: Sum,
    limit: Expr,
}

impl Flat {
    fn is_index(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Name(name) if *name == self.name)
    }
}

/// What indices are multiplied with in the subscripts of each array.
type Strides = HashMap<String, Vec<Sum>>;

impl Inliner<'_> {
    fn strides(&self, statements: &[Stmt]) -> Strides {
        let mut found = Strides::new();
        for stmt in statements {
            stmt.walk_expressions(&mut |part| {
                if let ExprKind::Index(array, index) = &part.kind
                    && let Some(name) = self.array(array)
                    && let Some(sum) = self.sum(index, &mut Terms::default())
                {
                    found.entry(name).or_default().push(sum);
                }
            });
        }
        found
    }

    /// The name of a flat array.
    fn array(&self, expr: &Expr) -> Option<String> {
        let ctype = self.pointer_type(expr);
        let flat = ctype.is_none_or(|ctype| ctype.depth() == 1);
        (flat && !matches!(expr.kind, ExprKind::Index(..))).then(|| crate::text::c_text(expr, &|_| None))
    }
}
