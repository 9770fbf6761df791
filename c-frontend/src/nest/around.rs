//! Indices that wrap around: `(i + 1) % n`, `(i - 1 + n) % n`, `i == 0 ? n - 1 : i - 1` and the like, where the loop over `i`
//! runs from 0 to before `n`.
//!
//! Such an index is `i` plus a number, and a mark ([`Symbol::Around`]) that says so; the mark goes along with sums and
//! products, and is taken off where the index becomes a subscript. What has a mark is no bound and is compared with nothing.

use super::math::END;
use super::walker::Walker;
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::integer::IntType;
use crate::polynomial::{Polynomial, Symbol};
use crate::text::c_text;
use polyhedral::lower::MOST_OFFSET;

/// The part of a loop from 0 to before `n` in which a condition on its index holds.
#[derive(PartialEq)]
enum Part {
    /// `index >= value`, or not.
    AtLeast(bool, Polynomial),
    /// `index == value`, or not.
    Equal(bool, Polynomial),
}

impl Walker<'_> {
    /// `a % n`
    pub(super) fn around_modulo(&self, a: &Polynomial, n: &Polynomial) -> Option<Polynomial> {
        let (at, rest) = a.index_plus()?;
        self.runs_whole(at, n)?;
        // What is negative has a negative remainder in C: `i - 1` is none, `i - 1 + n` is.
        let (turns, shift) = nearest_turn(&rest, n)?;
        if turns == 0 && shift < 0 { None } else { self.marked(at, shift, n) }
    }

    /// `a & mask`, which is the remainder by a power of two, of negative numbers, too. What is no number is asked before the loop:
    /// whether `mask + 1` is a power of two, as which it has no bit in common with `mask`, and whether the loop ends there.
    pub(super) fn around_mask(
        &self,
        a: &Polynomial,
        mask: &Polynomial,
        written: &Expr,
    ) -> Option<Polynomial> {
        let (at, rest) = a.index_plus()?;
        let source = self.nest.loops.get(at)?;
        let n = source.high.clone();
        let above = mask.plus(&Polynomial::number(1), 1)?;
        if source.low.constant() != Some(0) || !n.is_invariant() || !above.is_invariant() {
            return None;
        }
        let apart = above.distance(&n);
        let size = above.constant();
        if apart.is_some_and(|by| by != 0) || size.is_some_and(|n| n < 2 || n & (n - 1) != 0) {
            return None;
        }
        let around = self.marked(at, nearest_round(&rest, &n, &above)?, &n)?;
        let mut assumed = Vec::new();
        if size.is_none() {
            let span = written.span.clone();
            let made = |kind| Box::new(Expr { kind, span: span.clone() });
            let unit = made(ExprKind::Integer { value: 1, text: "1".to_owned() });
            let above = made(ExprKind::Binary(BinaryOp::Add, Box::new(written.clone()), unit));
            let common = made(ExprKind::Binary(BinaryOp::BitAnd, Box::new(written.clone()), above));
            assumed.push((self.opaque(&common, &[mask])?, Polynomial::number(0)));
        }
        if apart.is_none() {
            assumed.push((n.clone(), above.clone()));
            assumed.push((above, n));
        }
        self.assumed.borrow_mut().extend(assumed);
        Some(around)
    }

    /// `condition ? then : otherwise`, one of which is the index plus a number where that lies on the grid, and the other one
    /// the same from the other end.
    pub(super) fn around_choice(
        &self,
        condition: &Expr,
        then: &Expr,
        otherwise: &Expr,
    ) -> Option<Polynomial> {
        if self.path.is_empty() {
            return None;
        }
        if is_end(then) {
            return if self.holds_never(condition) { self.polynomial(otherwise) } else { None };
        }
        if let Some(found) = self.remainder_from_zero(condition, then, otherwise) {
            return Some(found);
        }
        // `i == 0 ? x : i == n - 1 ? a : x`: where the second holds, the first does not.
        if let ExprKind::Conditional(second, a, x) = &without_casts(otherwise).kind
            && same(x, then)
            && self.are_both_ends(condition, second)
        {
            return self.around_choice(second, a, x);
        }
        let (then, otherwise) = (self.polynomial(then)?, self.polynomial(otherwise)?);
        if let Some(holds) = self.decided(condition).or_else(|| self.decided_by_length(condition)) {
            return Some(if holds { then } else { otherwise });
        }
        [(&otherwise, &then, true), (&then, &otherwise, false)]
            .into_iter()
            .find_map(|(inner, outer, holds)| self.chosen(condition, inner, outer, holds))
    }

    /// Whether two conditions say that an index is at the one and at the other end of its loop, which are apart on all grids of some
    /// size; that is asked for then.
    fn are_both_ends(&self, first: &Expr, second: &Expr) -> bool {
        let ends =
            self.path.iter().find_map(|at| Some((self.part(*at, first)?, self.part(*at, second)?, *at)));
        let Some((Part::Equal(true, one), Part::Equal(true, two), at)) = ends else { return false };
        let Some(source) = self.nest.loops.get(at) else { return false };
        let Some(last) = source.high.plus(&Polynomial::number(1), -1) else { return false };
        let zero = Polynomial::number(0);
        let at_ends = (one == zero && two == last) || (two == zero && one == last);
        if source.low.constant() != Some(0) || !at_ends || last.constant().is_some_and(|last| last < 1) {
            return false;
        }
        if last.constant().is_none() {
            self.assumed.borrow_mut().push((Polynomial::number(1), last));
        }
        true
    }

    /// `r < 0 ? r + n : r`, where `r` is `(i - 1) % n`; also with `abs(n)`, since a loop that has rounds ends above 0.
    fn remainder_from_zero(&self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Option<Polynomial> {
        let ExprKind::Binary(operator, left, right) = &condition.kind else { return None };
        let (raised, plain) = match operator {
            BinaryOp::Less => (then, otherwise),
            BinaryOp::GreaterEqual => (otherwise, then),
            _ => return None,
        };
        let ExprKind::Binary(BinaryOp::Rem, value, n) = &without_casts(plain).kind else { return None };
        let ExprKind::Binary(BinaryOp::Add, remainder, added) = &without_casts(raised).kind else {
            return None;
        };
        let added = match &without_casts(added).kind {
            ExprKind::Call(function, arguments) if !self.is_own("abs") => {
                match (&function.kind, arguments.as_slice()) {
                    (ExprKind::Name(name), [one]) if name == "abs" => one,
                    _ => return None,
                }
            }
            _ => added,
        };
        let zero = crate::integer::literal(right) == Some(0);
        (zero && same(left, plain) && same(remainder, plain) && same(added, n)).then_some(())?;
        self.reduced(value, n)
    }

    /// `((i - 1) % n + n) % n`
    pub(super) fn around_twice(&self, left: &Expr, n: &Expr) -> Option<Polynomial> {
        let ExprKind::Binary(BinaryOp::Add, a, b) = &without_casts(left).kind else { return None };
        let (remainder, added) = if same(b, n) { (a, b) } else { (b, a) };
        let ExprKind::Binary(BinaryOp::Rem, value, by) = &without_casts(remainder).kind else { return None };
        (same(added, n) && same(by, n)).then_some(())?;
        self.reduced(value, n)
    }

    /// An index plus something, modulo `n` as mathematics has it, for numbers with a sign.
    fn reduced(&self, value: &Expr, n: &Expr) -> Option<Polynomial> {
        let signed = |expr: &Expr| self.int_type(expr).is_some_and(|own| !own.promoted().unsigned);
        (signed(value) && signed(n)).then_some(())?;
        let (value, n) = (self.polynomial(value)?, self.polynomial(n)?);
        let (at, rest) = value.index_plus()?;
        self.runs_whole(at, &n)?;
        let shifts = [-1, 0, 1, 2].map(|turns| rest.plus(&n, -turns)?.constant());
        let shift = shifts.into_iter().flatten().min_by_key(|shift| shift.abs())?;
        self.marked(at, shift, &n)
    }

    /// Whether a condition does not hold, or not on grids of some size, which are asked for then.
    fn holds_never(&self, condition: &Expr) -> bool {
        if let ExprKind::Binary(BinaryOp::Or, left, right) = &condition.kind {
            return self.holds_never(left) && self.holds_never(right);
        }
        self.truth(condition).or_else(|| self.decided_by_length(condition)) == Some(false)
    }

    /// A comparison of what does not change, whose sides are apart as far as an open loop is long, but for a number: on all grids
    /// of some size it has one answer, and smaller ones run as they are written.
    fn decided_by_length(&self, condition: &Expr) -> Option<bool> {
        use BinaryOp::*;
        let ExprKind::Binary(operator, left, right) = &condition.kind else { return None };
        let (a, b) = (self.polynomial(left)?, self.polynomial(right)?);
        let difference = a.plus(&b, -1)?;
        if !difference.is_invariant() || !self.compared_as_numbers((left, &a), (right, &b)) {
            return None;
        }
        let length = |at: &usize| {
            let source = self.nest.loops.get(*at)?;
            source
                .high
                .plus(&source.low, -1)
                .filter(|length| length.constant().is_none() && length.magnitude() > 0)
        };
        let lengths: Vec<Polynomial> = self.path.iter().filter_map(length).collect();
        let like = |value: &Polynomial| lengths.iter().any(|length| value.distance(length).is_some());
        let opposite = Polynomial::number(0).plus(&difference, -1)?;
        let (large, left_is_more) = if like(&difference) {
            (difference, true)
        } else if like(&opposite) {
            (opposite, false)
        } else {
            return None;
        };
        let holds = match operator {
            Greater | GreaterEqual => left_is_more,
            Less | LessEqual => !left_is_more,
            NotEqual => true,
            Equal => false,
            _ => return None,
        };
        self.assumed.borrow_mut().push((Polynomial::number(1), large));
        Some(holds)
    }

    /// `condition ? a[n - 1] : a[i - 1]` as `a[condition ? n - 1 : i - 1]`, whose index wraps around.
    pub(super) fn around_element(&self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Option<Expr> {
        let (ExprKind::Index(a, i), ExprKind::Index(b, j)) = (&then.kind, &otherwise.kind) else {
            return None;
        };
        let same = |a: &Expr, b: &Expr| c_text(a, &|_| None) == c_text(b, &|_| None);
        let span = then.span.clone();
        let kind = if same(a, b) {
            self.around_choice(condition, i, j)?;
            let kind = ExprKind::Conditional(Box::new(condition.clone()), i.clone(), j.clone());
            ExprKind::Index(a.clone(), Box::new(Expr { kind, span: span.clone() }))
        } else if same(i, j) {
            ExprKind::Index(Box::new(self.around_element(condition, a, b)?), i.clone())
        } else {
            return None;
        };
        Some(Expr { kind, span })
    }

    /// The same where the outer value is chosen if the condition `holds`, or does not.
    fn chosen(
        &self,
        condition: &Expr,
        inner: &Polynomial,
        outer: &Polynomial,
        holds: bool,
    ) -> Option<Polynomial> {
        let (at, rest) = inner.index_plus()?;
        let shift = rest.constant().filter(|shift| *shift != 0)?;
        let n = self.nest.loops.get(at)?.high.clone();
        self.runs_whole(at, &n)?;
        let number = Polynomial::number;
        let wrapped = inner.plus(&n, if shift < 0 { 1 } else { -1 })?;
        let last = n.plus(&number(1), -1)?;
        let single = match shift {
            -1 => Some(last.clone()),
            1 => Some(number(0)),
            _ => None,
        };
        if *outer != wrapped && Some(outer) != single.as_ref() {
            return None;
        }
        let part = self.part(at, condition)?;
        let (inside, edge) = match shift {
            ..0 => (Part::AtLeast(!holds, number(-shift)), number(0)),
            _ => (Part::AtLeast(holds, n.plus(&number(shift), -1)?), last),
        };
        let at_edge = shift.abs() == 1 && part == Part::Equal(holds, edge);
        if part == inside || at_edge { self.marked(at, shift, &n) } else { None }
    }

    /// Whether a condition holds at all points or at none: `i + 1 < 0`, or `k >= n` where `k` wraps around already.
    fn decided(&self, condition: &Expr) -> Option<bool> {
        let ExprKind::Binary(operator, left, right) = &condition.kind else { return None };
        let (a, b) = (self.polynomial(left)?, self.polynomial(right)?);
        if !self.compared_as_numbers((left, &a), (right, &b)) || !b.is_invariant() {
            return None;
        }
        // The least and the greatest value of the left side.
        let (plain, marks) = unmarked(std::slice::from_ref(&a))?;
        let (index, own) = match (plain.first()?.index_plus()?, marks.as_slice()) {
            ((at, rest), []) => (at, rest),
            ((at, rest), [(other, shift)]) if at == *other && rest.constant() == Some(*shift) => {
                (at, Polynomial::number(0))
            }
            _ => return None,
        };
        let source = self.nest.loops.get(index).filter(|source| source.low.constant() == Some(0))?;
        let (least, most) = (own.clone(), source.high.plus(&own, 1)?.plus(&Polynomial::number(1), -1)?);
        let (least, most) = (least.distance(&b), most.distance(&b));
        match operator {
            BinaryOp::Less if least.is_some_and(|by| by >= 0) => Some(false),
            BinaryOp::Less if most.is_some_and(|by| by < 0) => Some(true),
            BinaryOp::GreaterEqual if least.is_some_and(|by| by >= 0) => Some(true),
            BinaryOp::GreaterEqual if most.is_some_and(|by| by < 0) => Some(false),
            BinaryOp::Greater if least.is_some_and(|by| by > 0) => Some(true),
            BinaryOp::Greater if most.is_some_and(|by| by <= 0) => Some(false),
            BinaryOp::LessEqual if least.is_some_and(|by| by > 0) => Some(false),
            BinaryOp::LessEqual if most.is_some_and(|by| by <= 0) => Some(true),
            _ => None,
        }
    }

    /// Where a condition on the index of this loop holds.
    fn part(&self, at: usize, condition: &Expr) -> Option<Part> {
        use BinaryOp::*;
        static ZERO: Expr = Expr { kind: ExprKind::Integer { value: 0, text: String::new() }, span: 0..0 };
        let (operator, left, right) = match &condition.kind {
            ExprKind::Binary(operator, left, right) => (*operator, &**left, &**right),
            ExprKind::Unary(UnaryOp::Not, operand) => (Equal, &**operand, &ZERO),
            ExprKind::Name(_) => (NotEqual, condition, &ZERO),
            _ => return None,
        };
        let (a, b) = (self.polynomial(left)?, self.polynomial(right)?);
        // Without a sign, what is negative is larger than all others.
        if !self.compared_as_numbers((left, &a), (right, &b)) {
            return None;
        }
        let difference = a.plus(&b, -1)?;
        let (operator, difference) = match difference.index_plus() {
            Some(_) => (operator, difference),
            None => (super::guards::mirrored(operator), Polynomial::number(0).plus(&difference, -1)?),
        };
        let (own, rest) = difference.index_plus()?;
        if own != at || !rest.is_invariant() {
            return None;
        }
        let value = Polynomial::number(0).plus(&rest, -1)?;
        let above = value.plus(&Polynomial::number(1), 1)?;
        Some(match operator {
            Less => Part::AtLeast(false, value),
            LessEqual => Part::AtLeast(false, above),
            Greater => Part::AtLeast(true, above),
            GreaterEqual => Part::AtLeast(true, value),
            Equal => Part::Equal(true, value),
            NotEqual => Part::Equal(false, value),
            _ => return None,
        })
    }

    /// Whether a loop runs from 0 to before this.
    fn runs_whole(&self, at: usize, n: &Polynomial) -> Option<()> {
        let source = self.nest.loops.get(at)?;
        (n.is_invariant() && source.low.constant() == Some(0) && source.high == *n).then_some(())
    }

    /// The index plus a number, around the ends; the loop has to be as long.
    fn marked(&self, at: usize, shift: i64, n: &Polynomial) -> Option<Polynomial> {
        if shift.abs() > MOST_OFFSET || n.constant().is_some_and(|n| n < shift.abs()) {
            return None;
        }
        let index = Polynomial::symbol(Symbol::Index(at)).plus(&Polynomial::number(shift), 1)?;
        if shift == 0 {
            return Some(index);
        }
        if n.constant().is_none() {
            self.assumed.borrow_mut().push((Polynomial::number(shift.abs()), n.clone()));
        }
        let mark = Symbol::Around { index: at, shift, period: Box::new(n.clone()) };
        index.plus(&Polynomial::symbol(mark), 1)
    }
}

/// By how many rounds of `n`, none or one, an index is moved, and the number that it is moved by beside: the least.
fn nearest_turn(rest: &Polynomial, n: &Polynomial) -> Option<(i64, i64)> {
    let candidates = [0, 1].map(|turns| Some((turns, rest.plus(n, -turns)?.constant()?)));
    candidates.into_iter().flatten().min_by_key(|(_, shift)| shift.abs())
}

/// By what an index is moved, where it goes around at `n` and that is `above`: the least number, so many rounds before or behind.
fn nearest_round(rest: &Polynomial, n: &Polynomial, above: &Polynomial) -> Option<i64> {
    let rounds = (-2..=2).flat_map(|k| (-2..=2).map(move |l| (k, l)));
    let moved = rounds.filter_map(|(k, l)| rest.plus(n, k)?.plus(above, l)?.constant());
    let shift = moved.min_by_key(|shift| shift.abs())?;
    Some(match above.constant() {
        Some(size) => {
            let shift = shift.rem_euclid(size);
            if shift > size / 2 { shift - size } else { shift }
        }
        None => shift,
    })
}

/// Whether a value stands for the program's end.
fn is_end(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Other(kind, _) if kind == END)
}

/// Whether two values are written alike, whatever [`without_casts`] leaves out.
fn same(a: &Expr, b: &Expr) -> bool {
    c_text(without_casts(a), &|_| None) == c_text(without_casts(b), &|_| None)
}

/// A value without conversions around it to types with a sign that hold every `int`.
fn without_casts(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast(ctype, operand)
            if IntType::of(ctype).is_some_and(|own| own.bits >= 32 && !own.unsigned) =>
        {
            without_casts(operand)
        }
        _ => expr,
    }
}

/// Loops whose indices wrap around, and what is added to them.
pub(super) type Marks = Vec<(usize, i64)>;

/// Subscripts without the marks of indices that wrap around, and these: the loop and what is added to its index. `None` where
/// a mark has lost its index.
pub(super) fn unmarked(indices: &[Polynomial]) -> Option<(Vec<Polynomial>, Marks)> {
    let mut found = Vec::new();
    let mut plain = Vec::new();
    for subscript in indices {
        let mut rest = subscript.clone();
        for mark in subscript.symbols() {
            let Symbol::Around { index, shift, .. } = &mark else { continue };
            if rest.coefficient(&mark)? != rest.coefficient(&Symbol::Index(*index))? {
                return None;
            }
            found.push((*index, *shift));
            rest = rest.without(&mark);
        }
        plain.push(rest);
    }
    Some((plain, found))
}

/// Whether some subscript wraps around.
pub(super) fn is_marked(indices: &[Polynomial]) -> bool {
    indices.iter().any(|index| index.symbols().iter().any(|symbol| matches!(symbol, Symbol::Around { .. })))
}
