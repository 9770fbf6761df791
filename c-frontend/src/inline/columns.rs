//! Rows and columns in the place of a flat loop's index.

use super::sums::Sum;
use crate::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use crate::integer::literal;
use std::collections::HashMap;

/// A flat index, what takes its place, and what sums are made by.
pub(super) struct Columns<'a> {
    pub index: &'a str,
    pub row: &'a str,
    pub column: &'a str,
    pub columns: &'a Expr,
    /// The same as a sum.
    pub by: &'a Sum,
    /// Whether the index has a sign.
    pub signed: bool,
    pub sum: &'a dyn Fn(&Expr) -> Option<Sum>,
    pub expression: &'a dyn Fn(&Sum) -> Option<Expr>,
    pub is_signed: &'a dyn Fn(&Expr) -> bool,
}

impl Columns<'_> {
    /// A statement with them in the place of the index; `None` where that is divided by something else than columns.
    pub fn put(&self, stmt: &Stmt) -> Option<Stmt> {
        let mut found = stmt.clone();
        let mut fails = false;
        found.walk_expressions_mut(&mut |part| {
            if let Some(kind) = self.last_column(part) {
                part.kind = kind;
            }
        });
        found.walk_expressions_mut(&mut |part| {
            if let Some(kind) = self.row_or_column(part, &mut fails) {
                part.kind = kind;
            }
        });
        found.walk_expressions_mut(&mut |part| {
            if let Some(kind) = self.compared(part) {
                part.kind = kind;
            }
        });
        let own = |kind| Box::new(Expr { kind, span: self.columns.span.clone() });
        let name = |name: &str| own(ExprKind::Name(name.to_owned()));
        found.walk_expressions_mut(&mut |part| {
            if matches!(&part.kind, ExprKind::Name(name) if name == self.index) {
                let columns = Box::new(self.columns.clone());
                let row = own(ExprKind::Binary(BinaryOp::Mul, name(self.row), columns));
                part.kind = ExprKind::Binary(BinaryOp::Add, row, name(self.column));
            }
        });
        (!fails).then_some(found)
    }

    /// `(k + 1) % m == 0`, which asks for the last column.
    fn last_column(&self, part: &Expr) -> Option<ExprKind> {
        let ExprKind::Binary(operator @ (BinaryOp::Equal | BinaryOp::NotEqual), left, right) = &part.kind
        else {
            return None;
        };
        let ExprKind::Binary(BinaryOp::Rem, a, by) = &left.kind else { return None };
        let (1, rest) = (self.sum)(a)?.linear_in(self.index)? else { return None };
        let asks = literal(right) == Some(0) && rest == Sum::number(1) && (self.sum)(by)? == *self.by;
        let made = |kind| Box::new(Expr { kind, span: part.span.clone() });
        let one = made(ExprKind::Integer { value: 1, text: "1".to_owned() });
        let last = made(ExprKind::Binary(BinaryOp::Sub, Box::new(self.columns.clone()), one));
        asks.then(|| ExprKind::Binary(*operator, made(ExprKind::Name(self.column.to_owned())), last))
    }

    /// `k % m`, `k / m`, and `k / (m * n)`.
    fn row_or_column(&self, part: &Expr, fails: &mut bool) -> Option<ExprKind> {
        let ExprKind::Binary(operator @ (BinaryOp::Rem | BinaryOp::Div), a, by) = &part.kind else {
            return None;
        };
        if !matches!(&a.kind, ExprKind::Name(name) if name == self.index) {
            return None;
        }
        let rows = (self.sum)(by).and_then(|sum| sum.divided(self.by)).filter(|(_, rest)| *rest == 0);
        let name = |name: &str| ExprKind::Name(name.to_owned());
        match rows.map(|(rows, _)| rows) {
            Some(rows) if rows == Sum::number(1) => {
                Some(name(if *operator == BinaryOp::Rem { self.column } else { self.row }))
            }
            Some(_) if *operator == BinaryOp::Div => {
                let rest = without_factor(by, self.columns)?;
                let row = Expr { kind: name(self.row), span: part.span.clone() };
                Some(ExprKind::Binary(BinaryOp::Div, Box::new(row), Box::new(rest)))
            }
            _ => {
                *fails = true;
                None
            }
        }
    }

    /// `k < q * m` and `k >= q * m`, in whatever way they are written.
    fn compared(&self, part: &Expr) -> Option<ExprKind> {
        use BinaryOp::{Greater, GreaterEqual, Less, LessEqual};
        let ExprKind::Binary(operator, left, right) = &part.kind else { return None };
        let known = matches!(operator, Less | LessEqual | Greater | GreaterEqual);
        if !(known && self.signed && part.mentions(self.index) && (self.is_signed)(part)) {
            return None;
        }
        // left - right = k - bound, or bound - k
        let difference = (self.sum)(left)?.plus(&(self.sum)(right)?.times(&Sum::number(-1))?)?;
        let (by, rest) = difference.linear_in(self.index)?;
        let (less, bound) = match (by, operator) {
            (1, Less) => (true, rest.times(&Sum::number(-1))?),
            (1, LessEqual) => (true, rest.times(&Sum::number(-1))?.plus(&Sum::number(1))?),
            (1, GreaterEqual) => (false, rest.times(&Sum::number(-1))?),
            (1, Greater) => (false, rest.times(&Sum::number(-1))?.plus(&Sum::number(1))?),
            (-1, Less) => (false, rest.plus(&Sum::number(1))?),
            (-1, LessEqual) => (false, rest),
            (-1, GreaterEqual) => (true, rest.plus(&Sum::number(1))?),
            (-1, Greater) => (true, rest),
            _ => return None,
        };
        let (rows, 0) = bound.divided(self.by)? else { return None };
        let made = |kind| Box::new(Expr { kind, span: part.span.clone() });
        let row = made(ExprKind::Name(self.row.to_owned()));
        let rows = made((self.expression)(&rows)?.kind);
        Some(ExprKind::Binary(if less { Less } else { GreaterEqual }, row, rows))
    }
}

/// A product without one of its factors.
fn without_factor(product: &Expr, factor: &Expr) -> Option<Expr> {
    let text = super::sizes::extent_text;
    let ExprKind::Binary(BinaryOp::Mul, a, b) = &product.kind else {
        let (product, factor) = literal(product).zip(literal(factor))?;
        let value = (factor > 0 && product % factor == 0).then_some(product / factor)?;
        return Some(Expr { kind: ExprKind::Integer { value, text: value.to_string() }, span: 0..0 });
    };
    if text(b) == text(factor) {
        return Some((**a).clone());
    }
    if text(a) == text(factor) {
        return Some((**b).clone());
    }
    let made = |a: Expr, b: Expr| Expr {
        kind: ExprKind::Binary(BinaryOp::Mul, Box::new(a), Box::new(b)),
        span: product.span.clone(),
    };
    without_factor(a, factor)
        .map(|a| made(a, (**b).clone()))
        .or_else(|| without_factor(b, factor).map(|b| made((**a).clone(), b)))
}

/// Whether statements do nothing but to name values, for what names are known to be.
pub(super) fn does_nothing(list: &[Stmt], sum: &dyn Fn(&Expr) -> Option<Sum>) -> bool {
    nothing(list, sum, &mut HashMap::new())
}

fn nothing(list: &[Stmt], sum: &dyn Fn(&Expr) -> Option<Sum>, known: &mut HashMap<String, Sum>) -> bool {
    list.iter().all(|stmt| match &stmt.kind {
        StmtKind::Empty => true,
        StmtKind::Block(list) => nothing(list, sum, known),
        StmtKind::Declaration(own) => {
            for one in own {
                let value = one.value.as_ref().and_then(|value| sum(value).map(|sum| sum.with(known)));
                known.remove(&one.name);
                known.extend(value.map(|value| (one.name.clone(), value)));
            }
            true
        }
        StmtKind::If(condition, then, otherwise) => {
            let branch = |stmt: Option<&Stmt>| {
                stmt.is_none_or(|stmt| nothing(std::slice::from_ref(stmt), sum, &mut known.clone()))
            };
            match holds(condition, sum, known) {
                Some(true) => branch(Some(then)),
                Some(false) => branch(otherwise.as_deref()),
                None => branch(Some(then)) && branch(otherwise.as_deref()),
            }
        }
        _ => false,
    })
}

/// Whether a condition holds, where that is known.
fn holds(condition: &Expr, sum: &dyn Fn(&Expr) -> Option<Sum>, known: &HashMap<String, Sum>) -> Option<bool> {
    use BinaryOp::{And, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual, Or};
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => holds(inner, sum, known).map(|holds| !holds),
        ExprKind::Binary(operator @ (And | Or), a, b) => {
            let decides = *operator == Or;
            match (holds(a, sum, known), holds(b, sum, known)) {
                (Some(a), _) if a == decides => Some(decides),
                (_, Some(b)) if b == decides => Some(decides),
                (Some(_), Some(_)) => Some(!decides),
                _ => None,
            }
        }
        ExprKind::Binary(operator, a, b) => {
            let difference = sum(a)?.plus(&sum(b)?.times(&Sum::number(-1))?)?.with(known).number_of()?;
            match operator {
                Equal => Some(difference == 0),
                NotEqual => Some(difference != 0),
                Less => Some(difference < 0),
                LessEqual => Some(difference <= 0),
                Greater => Some(difference > 0),
                GreaterEqual => Some(difference >= 0),
                _ => None,
            }
        }
        _ => None,
    }
}
