//! Guards: comparisons of an index with a constant or with an end of its loop.
//!
//! A guard cuts its loop into segments in which it is known. The body is walked once for each of them, so that every
//! assignment has the branch, the reads and the points of its own segment:
//!
//! ```text
//! for (i = 0; i < n; i++) if (i == 0) A else B    =>    A for 0 <= i < 1, B for 1 <= i < n
//! ```
//!
//! Cuts are found by need: a comparison that is not known yet asks for a cut, and the loop is walked again.

use super::cuts::{Cuts, MOST_CUTS};
use super::refusal::{Result, limitation, takes_all};
use super::scalars::{Held, Kind};
use super::walker::Walker;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, UnaryOp};
use crate::codes;
use crate::integer;
use crate::polynomial::{Polynomial, Symbol};
use polyhedral::source::Span;

/// What a comparison says of an index.
enum Side {
    /// `index >= value`, or not.
    AtLeast(bool, Polynomial),
    /// `index == value`, or not.
    Equal(bool, Polynomial),
}

impl Walker<'_> {
    /// The value of an integer expression that is known in the present segments.
    pub(super) fn known(&self, expr: &Expr) -> Option<i64> {
        if let Some(value) = integer::literal(expr) {
            return Some(value);
        }
        match &expr.kind {
            ExprKind::Name(name) => match self.environment.get(name) {
                Some(Held::Integer(value, held)) => {
                    value.as_ref().and_then(Polynomial::constant).or_else(|| self.known(held))
                }
                _ => None,
            },
            ExprKind::Unary(UnaryOp::Not, operand) => self.truth(operand).map(|truth| i64::from(!truth)),
            ExprKind::Unary(UnaryOp::Plus, operand) => self.known(operand),
            ExprKind::Unary(UnaryOp::Minus, operand) => {
                let value = self.known(operand)?.checked_neg()?;
                self.int_type(expr)?.has(value.into()).then_some(value)
            }
            ExprKind::Cast(CType::Integer { .. }, operand) if self.is_condition(operand) => {
                self.known(operand)
            }
            // To ask for the condition would cut the loop.
            ExprKind::Conditional(condition, then, otherwise)
                if self.around_choice(condition, then, otherwise).is_some() =>
            {
                None
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.known(if self.truth(condition)? { then } else { otherwise })
            }
            ExprKind::Binary(BinaryOp::And, left, right) => match self.truth(left) {
                Some(false) => Some(0),
                Some(true) => self.truth(right).map(i64::from),
                None => self.truth(right).filter(|right| !right).map(i64::from),
            },
            ExprKind::Binary(BinaryOp::Or, left, right) => match self.truth(left) {
                Some(true) => Some(1),
                Some(false) => self.truth(right).map(i64::from),
                None => self.truth(right).filter(|right| *right).map(i64::from),
            },
            ExprKind::Binary(operator, left, right) => {
                if let (Some(a), Some(b)) = (self.known(left), self.known(right)) {
                    // As numbers only where C takes them as numbers.
                    let common = self.int_type(left)?.common(self.int_type(right)?);
                    let as_numbers = !common.unsigned || (a >= 0 && b >= 0);
                    let value = arithmetic(*operator, a, b).filter(|_| as_numbers)?;
                    return self.int_type(expr)?.has(value.into()).then_some(value);
                }
                self.compared(*operator, left, right).map(i64::from)
            }
            _ => None,
        }
    }

    /// Whether an expression is true in the present segments, if that is known.
    pub(super) fn truth(&self, expr: &Expr) -> Option<bool> {
        if let Some(value) = self.known(expr) {
            return Some(value != 0);
        }
        if self.is_condition(expr) {
            return None;
        }
        static ZERO: Expr = Expr { kind: ExprKind::Integer { value: 0, text: String::new() }, span: 0..0 };
        self.compared(BinaryOp::NotEqual, expr, &ZERO)
    }

    /// A comparison of an index with something that does not change.
    fn compared(&self, operator: BinaryOp, left: &Expr, right: &Expr) -> Option<bool> {
        use BinaryOp::*;
        if !matches!(operator, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual) {
            return None;
        }
        let (a, b) = (self.polynomial(left)?, self.polynomial(right)?);
        let difference = a.plus(&b, -1)?;
        // Sides without a sign are compared after a conversion, which makes what is negative larger than all others.
        if self.is_unsigned(left) || self.is_unsigned(right) {
            match (self.not_negative(&a), self.not_negative(&b)) {
                (true, true) => {}
                (false, true) => return self.compared_unsigned(operator, &a, &b),
                (true, false) => return self.compared_unsigned(mirrored(operator), &b, &a),
                (false, false) => return None,
            }
        }
        self.difference(operator, difference)
    }

    /// Whether C compares two sides as the numbers that they are.
    pub(super) fn compared_as_numbers(
        &self,
        left: (&Expr, &Polynomial),
        right: (&Expr, &Polynomial),
    ) -> bool {
        let unsigned = self.is_unsigned(left.0) || self.is_unsigned(right.0);
        !unsigned || (self.not_negative(left.1) && self.not_negative(right.1))
    }

    /// A comparison without a sign of what may be negative with what is not.
    fn compared_unsigned(&self, operator: BinaryOp, a: &Polynomial, b: &Polynomial) -> Option<bool> {
        use BinaryOp::*;
        let negative = self.difference(Less, a.clone());
        let found = self.difference(operator, a.plus(b, -1)?);
        match operator {
            Less | LessEqual | Equal => match (negative, found) {
                (Some(true), _) | (_, Some(false)) => Some(false),
                (Some(false), Some(true)) => Some(true),
                _ => None,
            },
            _ => match (negative, found) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }

    /// Whether a difference is less than 0, and so on.
    fn difference(&self, operator: BinaryOp, difference: Polynomial) -> Option<bool> {
        use BinaryOp::*;
        if let Some(distance) = difference.constant() {
            return arithmetic(operator, distance, 0).map(|truth| truth != 0);
        }
        let (operator, difference) = match difference.index_plus() {
            Some(_) => (operator, difference),
            None => (mirrored(operator), Polynomial::number(0).plus(&difference, -1)?),
        };
        let (index, rest) = difference.index_plus()?;
        if !rest.is_invariant() {
            return None;
        }
        let value = Polynomial::number(0).plus(&rest, -1)?;
        let above = value.plus(&Polynomial::number(1), 1)?;
        let side = match operator {
            Less => Side::AtLeast(false, value),
            LessEqual => Side::AtLeast(false, above),
            Greater => Side::AtLeast(true, above),
            GreaterEqual => Side::AtLeast(true, value),
            Equal => Side::Equal(true, value),
            _ => Side::Equal(false, value),
        };
        match side {
            Side::AtLeast(truth, value) => Some(self.at_least(index, &value)? == truth),
            Side::Equal(truth, value) => {
                let above = value.plus(&Polynomial::number(1), 1)?;
                // Both cuts are asked for.
                let (first, behind) = (self.at_least(index, &value), self.at_least(index, &above));
                let equal = match (first, behind) {
                    (Some(false), _) | (_, Some(true)) => false,
                    (Some(true), Some(false)) => true,
                    _ => return None,
                };
                Some(equal == truth)
            }
        }
    }

    /// Asks for cuts around the value of an index at which both sides of a choice are equal, as those of
    /// `i - 1 > 0 ? i - 1 : 0` are: a subscript that does not move with the index has one offset at one point only.
    pub(super) fn cut_where_equal(&self, a: &Polynomial, b: &Polynomial) {
        if a.indices().is_empty() != b.indices().is_empty()
            && let Some(difference) = a.plus(b, -1)
        {
            self.difference(BinaryOp::Equal, difference);
        }
    }

    fn at_least(&self, index: usize, value: &Polynomial) -> Option<bool> {
        let at = self.segments.iter().rev().find(|segment| segment.of == index)?;
        let source = &self.nest.loops[index];
        let mut cuts = self.cuts.borrow_mut();
        let cuts = cuts.entry(self.keys[index].clone()).or_default();
        cuts.at_least(value, at, (&source.low, &source.high))
    }

    /// Whether a side of a comparison cannot be negative; of what does not change, this is left to be seen at run time.
    fn not_negative(&self, side: &Polynomial) -> bool {
        if side.has_time() {
            return false;
        }
        let mut rest = side.clone();
        for index in side.indices() {
            let symbol = Symbol::Index(index);
            let first = self.nest.loops[index].low.constant();
            if side.coefficient(&symbol) != Some(Polynomial::number(1)) || first.is_none_or(|first| first < 0)
            {
                return false;
            }
            rest = rest.without(&symbol);
        }
        match rest.constant() {
            Some(number) => number >= 0,
            None if !rest.is_invariant() => false,
            None => {
                self.assumed.borrow_mut().push((Polynomial::number(0), rest));
                true
            }
        }
    }

    /// Whether C may compare this without a sign.
    fn is_unsigned(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Integer { text, .. } => text.contains(['u', 'U']) && !text.starts_with('\''),
            ExprKind::Name(name) => match self.environment.get(name) {
                Some(Held::Integer(_, held)) => self.is_unsigned(held),
                Some(_) => false,
                None => match self.open_loop(name) {
                    Some(at) => {
                        let name = &self.nest.loops[at].type_name;
                        name.contains("unsigned")
                            || name.contains("size_t") && !name.contains("ssize_t")
                            || name.starts_with("uint")
                    }
                    None => self.region.variables.get(name).is_some_and(|one| is_unsigned_type(&one.ctype)),
                },
            },
            ExprKind::Cast(ctype, _) => is_unsigned_type(ctype),
            ExprKind::Unary(UnaryOp::Not, _) => false,
            ExprKind::Unary(UnaryOp::Dereference, _) | ExprKind::Index(..) | ExprKind::Member(..) => {
                self.member_type(expr).is_none_or(is_unsigned_type)
            }
            ExprKind::Unary(_, operand) => self.is_unsigned(operand),
            ExprKind::Binary(..) if self.is_condition(expr) => false,
            ExprKind::Binary(_, left, right) => self.is_unsigned(left) || self.is_unsigned(right),
            ExprKind::Conditional(_, then, otherwise) => {
                self.is_unsigned(then) || self.is_unsigned(otherwise)
            }
            ExprKind::Other(..) => true,
            _ => false,
        }
    }

    /// An expression as it is in the present segments: of what is chosen by a guard, the part that is chosen.
    pub(super) fn folded(&self, expr: &Expr) -> Expr {
        let mut result = expr.clone();
        self.fold(&mut result);
        result
    }

    fn fold(&self, expr: &mut Expr) {
        if self.segments.is_empty() {
            return;
        }
        let made = |value: i64, span: &Span| Expr {
            kind: ExprKind::Integer { value, text: value.to_string() },
            span: span.clone(),
        };
        if let ExprKind::Conditional(condition, then, otherwise) = &expr.kind
            && let Some(element) = self.around_element(condition, then, otherwise)
        {
            *expr = element;
        }
        match &mut expr.kind {
            ExprKind::Conditional(condition, then, otherwise)
                if self.around_choice(condition, then, otherwise).is_some() => {}
            ExprKind::Conditional(condition, then, otherwise) => {
                let Some(truth) = self.truth(condition) else {
                    [condition, then, otherwise].into_iter().for_each(|part| self.fold(part));
                    return;
                };
                let (Ok(a), Ok(b)) = (self.kind_of(then), self.kind_of(otherwise)) else {
                    return;
                };
                if let (Some(a), Some(b)) = (self.polynomial(then), self.polynomial(otherwise)) {
                    self.cut_where_equal(&a, &b);
                }
                let chosen = if truth { then } else { otherwise };
                let own = if truth { a } else { b };
                self.fold(chosen);
                let mut chosen = (**chosen).clone();
                if let (true, Kind::Floating(kind)) = (a.common(b) != own, a.common(b)) {
                    let span = chosen.span.clone();
                    chosen = Expr { kind: ExprKind::Cast(CType::Floating(kind), Box::new(chosen)), span };
                }
                *expr = chosen;
            }
            ExprKind::Name(name) => {
                if matches!(self.environment.get(name), Some(Held::Integer(..)))
                    && let Some(value) = self.known(expr)
                {
                    *expr = made(value, &expr.span);
                }
            }
            ExprKind::Unary(UnaryOp::Not, _) => match self.known(expr) {
                Some(value) => *expr = made(value, &expr.span),
                None => {
                    if let ExprKind::Unary(_, operand) = &mut expr.kind {
                        self.fold(operand);
                    }
                }
            },
            ExprKind::Binary(operator, ..) => {
                let operator = *operator;
                if is_truth(operator)
                    && let Some(value) = self.known(expr)
                {
                    *expr = made(value, &expr.span);
                    return;
                }
                let ExprKind::Binary(_, left, right) = &mut expr.kind else { return };
                // What decides nothing is left out, so that what it guards is not evaluated twice.
                if matches!(operator, BinaryOp::And | BinaryOp::Or) {
                    let rest = match (self.truth(left), self.truth(right)) {
                        (Some(_), _) => Some((**right).clone()),
                        (None, Some(_)) => Some((**left).clone()),
                        (None, None) => None,
                    };
                    if let Some(mut rest) = rest {
                        self.fold(&mut rest);
                        if !self.is_condition(&rest) {
                            let zero = Box::new(made(0, &rest.span));
                            let span = rest.span.clone();
                            let kind = ExprKind::Binary(BinaryOp::NotEqual, Box::new(rest), zero);
                            rest = Expr { kind, span };
                        }
                        *expr = rest;
                        return;
                    }
                }
                self.fold(left);
                self.fold(right);
            }
            ExprKind::Index(a, b) | ExprKind::Comma(a, b) | ExprKind::Assign(_, a, b) => {
                self.fold(a);
                self.fold(b);
            }
            ExprKind::Call(_, list) | ExprKind::List(list) => list.iter_mut().for_each(|one| self.fold(one)),
            ExprKind::Unary(_, a) | ExprKind::Cast(_, a) | ExprKind::Member(a, ..) => self.fold(a),
            ExprKind::Step(..)
            | ExprKind::Integer { .. }
            | ExprKind::Floating { .. }
            | ExprKind::Turn { .. }
            | ExprKind::Other(..) => {}
        }
    }

    /// Refuses a loop whose guards ask for too many cuts.
    pub(super) fn check_cuts(&self, cuts: &Cuts, source: &ForLoop, index: &str) -> Result<()> {
        if cuts.count() < MOST_CUTS {
            return Ok(());
        }
        if let Some(inner) = super::whole_row::asks_for_points(source, index)
            && let Some(name) = inner.index()
        {
            return Err(Box::new(takes_all(name, index, &inner.head)));
        }
        let message = format!("conditions on the index of this loop change at {MOST_CUTS} places or more");
        limitation(codes::PIECES, &source.head, message)
    }
}

/// The comparison with its sides exchanged.
pub(super) fn mirrored(operator: BinaryOp) -> BinaryOp {
    use BinaryOp::*;
    match operator {
        Less => Greater,
        LessEqual => GreaterEqual,
        Greater => Less,
        GreaterEqual => LessEqual,
        other => other,
    }
}

fn is_truth(operator: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(operator, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
}

fn is_unsigned_type(ctype: &CType) -> bool {
    match ctype {
        // Narrow types are converted to int.
        CType::Integer { name, unsigned } => {
            let narrow = name.contains("char")
                || name.contains("short")
                || name.contains("uint8")
                || name.contains("uint16");
            *unsigned && !narrow && !name.to_ascii_lowercase().contains("bool")
        }
        _ => false,
    }
}

/// An operation on two numbers.
fn arithmetic(operator: BinaryOp, left: i64, right: i64) -> Option<i64> {
    use BinaryOp::*;
    match operator {
        Add => left.checked_add(right),
        Sub => left.checked_sub(right),
        Mul => left.checked_mul(right),
        Div => left.checked_div(right),
        Rem => left.checked_rem(right),
        BitAnd => Some(left & right),
        BitOr => Some(left | right),
        BitXor => Some(left ^ right),
        Less => Some(i64::from(left < right)),
        LessEqual => Some(i64::from(left <= right)),
        Greater => Some(i64::from(left > right)),
        GreaterEqual => Some(i64::from(left >= right)),
        Equal => Some(i64::from(left == right)),
        NotEqual => Some(i64::from(left != right)),
        And => Some(i64::from(left != 0 && right != 0)),
        Or => Some(i64::from(left != 0 || right != 0)),
        Shl | Shr => None,
    }
}
