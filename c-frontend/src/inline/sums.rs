//! Sums of products of integers, by their texts.

use super::inliner::Inliner;
use super::members::member;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, UnaryOp};
use crate::integer::literal;
use crate::text::c_text;
use polyhedral::source::Span;
use std::collections::{BTreeMap, HashMap};

/// Coefficients of products, each as its factors in order; of none for the number.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Sum(BTreeMap<Vec<String>, i64>);

/// What the factors of sums are written as.
#[derive(Default)]
pub(super) struct Terms(HashMap<String, Expr>);

/// Most products of a sum, and factors of a product.
const MOST: usize = 16;

impl Sum {
    pub fn number(value: i64) -> Sum {
        Sum(BTreeMap::from([(Vec::new(), value)])).cleaned()
    }

    fn cleaned(mut self) -> Sum {
        self.0.retain(|_, coefficient| *coefficient != 0);
        self
    }

    pub fn plus(&self, other: &Sum) -> Option<Sum> {
        let mut found = self.clone();
        for (product, coefficient) in &other.0 {
            let entry = found.0.entry(product.clone()).or_default();
            *entry = entry.checked_add(*coefficient)?;
        }
        (found.0.len() <= MOST).then(|| found.cleaned())
    }

    pub fn times(&self, other: &Sum) -> Option<Sum> {
        let mut found = Sum::default();
        for (left, a) in &self.0 {
            for (right, b) in &other.0 {
                let mut product: Vec<String> = left.iter().chain(right).cloned().collect();
                product.sort();
                let term = Sum(BTreeMap::from([(product, a.checked_mul(*b)?)]));
                found = found.plus(&term)?;
            }
        }
        found.0.keys().all(|product| product.len() <= MOST).then_some(found)
    }

    pub fn number_of(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// What a name is multiplied with, and the rest, if it is nowhere else.
    pub fn linear_in(&self, name: &str) -> Option<(i64, Sum)> {
        let own = vec![name.to_owned()];
        let coefficient = self.0.get(&own).copied()?;
        let mut rest = self.clone();
        rest.0.remove(&own);
        rest.0.keys().all(|product| !product.contains(&own[0])).then_some((coefficient, rest))
    }

    /// The only product of a sum.
    fn single(&self) -> Option<(&Vec<String>, i64)> {
        let mut terms = self.0.iter();
        let (product, coefficient) = terms.next()?;
        terms.next().is_none().then_some((product, *coefficient))
    }

    /// The quotient by a product and a number that is left; `None` where more is left.
    pub fn divided(&self, by: &Sum) -> Option<(Sum, i64)> {
        let (factors, divisor) = by.single()?;
        let (mut quotient, mut rest) = (Sum::default(), 0);
        for (product, coefficient) in &self.0 {
            let mut left = product.clone();
            let holds = factors.iter().all(|factor| {
                let at = left.iter().position(|own| own == factor);
                at.map(|at| left.remove(at)).is_some()
            });
            if holds && coefficient % divisor == 0 {
                quotient.0.insert(left, coefficient / divisor);
            } else if product.is_empty() {
                let below = coefficient.div_euclid(divisor);
                let remainder = coefficient.rem_euclid(divisor);
                let numbers = factors.is_empty();
                // Of two numbers the nearest multiple.
                let up = numbers && remainder > divisor / 2;
                if numbers {
                    quotient.0.insert(Vec::new(), below + i64::from(up));
                }
                rest = match (numbers, up) {
                    (false, _) => *coefficient,
                    (true, true) => remainder - divisor,
                    (true, false) => remainder,
                };
            } else {
                return None;
            }
        }
        Some((quotient.cleaned(), rest))
    }

    /// Whether an index is multiplied with this product.
    pub fn is_by(&self, columns: &Sum) -> bool {
        let Some((factors, coefficient)) = columns.single() else { return false };
        self.0.iter().any(|(product, own)| {
            let mut left = product.clone();
            let holds = factors.iter().all(|factor| {
                let at = left.iter().position(|own| own == factor);
                at.map(|at| left.remove(at)).is_some()
            });
            holds && left.len() == 1 && *own == coefficient
        })
    }

    /// With sums in the place of names.
    pub fn with(&self, values: &HashMap<String, Sum>) -> Sum {
        let mut found = Sum::default();
        for (product, coefficient) in &self.0 {
            let term =
                product.iter().try_fold(Sum::number(*coefficient), |sum, name| match values.get(name) {
                    Some(value) => sum.times(value),
                    None => sum.times(&Sum(BTreeMap::from([(vec![name.clone()], 1)]))),
                });
            let Some(more) = term.and_then(|term| found.plus(&term)) else { return self.clone() };
            found = more;
        }
        found
    }
}

impl Terms {
    /// A sum as C; `None` where a factor of it was not seen.
    pub fn expression(&self, sum: &Sum, span: &Span) -> Option<Expr> {
        let made = |kind| Expr { kind, span: span.clone() };
        let number = |value: i64| made(ExprKind::Integer { value, text: value.to_string() });
        let mut found: Option<Expr> = None;
        for (product, coefficient) in sum.0.iter().rev() {
            let mut term: Option<Expr> = None;
            for name in product {
                let factor = self.0.get(name)?.clone();
                term = Some(match term {
                    None => factor,
                    Some(term) => made(ExprKind::Binary(BinaryOp::Mul, Box::new(term), Box::new(factor))),
                });
            }
            let size = coefficient.checked_abs()?;
            let term = match term {
                None => number(size),
                Some(term) if size == 1 => term,
                Some(term) => made(ExprKind::Binary(BinaryOp::Mul, Box::new(term), Box::new(number(size)))),
            };
            let operator = if *coefficient < 0 { BinaryOp::Sub } else { BinaryOp::Add };
            found = Some(match found {
                None if *coefficient > 0 => term,
                before => {
                    let before = before.unwrap_or_else(|| number(0));
                    made(ExprKind::Binary(operator, Box::new(before), Box::new(term)))
                }
            });
        }
        Some(found.unwrap_or_else(|| number(0)))
    }
}

impl Inliner<'_> {
    /// An expression of integers as a sum; `None` for anything else.
    pub(super) fn sum(&self, expr: &Expr, terms: &mut Terms) -> Option<Sum> {
        self.sum_of(&self.written_out(expr), terms)
    }

    fn sum_of(&self, expr: &Expr, terms: &mut Terms) -> Option<Sum> {
        if let Some(value) = literal(expr) {
            return Some(Sum::number(value));
        }
        let minus = Sum::number(-1);
        match &expr.kind {
            ExprKind::Binary(BinaryOp::Add, a, b) => self.sum_of(a, terms)?.plus(&self.sum_of(b, terms)?),
            ExprKind::Binary(BinaryOp::Sub, a, b) => {
                self.sum_of(a, terms)?.plus(&self.sum_of(b, terms)?.times(&minus)?)
            }
            ExprKind::Binary(BinaryOp::Mul, a, b) => self.sum_of(a, terms)?.times(&self.sum_of(b, terms)?),
            ExprKind::Unary(UnaryOp::Minus, a) => self.sum_of(a, terms)?.times(&minus),
            ExprKind::Unary(UnaryOp::Plus, a) => self.sum_of(a, terms),
            // Sizes fit into the types that they are converted to, and so does a sum of integers of that very type.
            ExprKind::Cast(ctype @ CType::Integer { .. }, a)
                if self.integer_type(a).is_some() || self.is_of(a, ctype) =>
            {
                self.sum_of(a, terms)
            }
            ExprKind::Name(_) | ExprKind::Member(..) => {
                self.integer_type(expr)?;
                let name = c_text(expr, &|_| None);
                terms.0.insert(name.clone(), expr.clone());
                Some(Sum(BTreeMap::from([(vec![name], 1)])))
            }
            _ => None,
        }
    }

    /// The type of an integer that is a variable or a member.
    pub(super) fn integer_type(&self, expr: &Expr) -> Option<CType> {
        let ctype = match &expr.kind {
            ExprKind::Name(name) => {
                self.declared.get(name).or_else(|| Some(&self.variables.get(name)?.ctype))?.clone()
            }
            ExprKind::Member(..) => member(expr, self.variables, self.structures, &HashMap::new())?.1,
            _ => return None,
        };
        matches!(ctype, CType::Integer { .. }).then_some(ctype)
    }

    /// Whether a sum or product is of integers of one type, which has a sign and is not promoted.
    fn is_of(&self, expr: &Expr, ctype: &CType) -> bool {
        let own = |name: &str| name == "int" || name == "long" || name == "long long";
        let plain = matches!(ctype, CType::Integer { name, unsigned: false } if own(name));
        let mut alike = plain && self.is_signed(expr);
        expr.walk(&mut |part| match &part.kind {
            ExprKind::Name(_) | ExprKind::Member(..) => {
                alike &= self.integer_type(part).is_some_and(|own| own == *ctype);
            }
            ExprKind::Integer { text, .. } => alike &= text.bytes().all(|byte| byte.is_ascii_digit()),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) => {}
            ExprKind::Unary(UnaryOp::Plus | UnaryOp::Minus, _) => {}
            ExprKind::Cast(own, _) => alike &= own == ctype,
            _ => alike = false,
        });
        alike
    }

    /// Whether all integers of an expression have signs.
    pub(super) fn is_signed(&self, expr: &Expr) -> bool {
        let mut signed = true;
        expr.walk(&mut |part| match &part.kind {
            ExprKind::Name(_) | ExprKind::Member(..) => {
                signed &= matches!(self.integer_type(part), Some(CType::Integer { unsigned: false, .. }));
            }
            ExprKind::Cast(ctype, _) => signed &= matches!(ctype, CType::Integer { unsigned: false, .. }),
            ExprKind::Integer { text, .. } => signed &= !text.contains(['u', 'U']),
            ExprKind::Other(..) => signed = false,
            _ => {}
        });
        signed
    }
}
