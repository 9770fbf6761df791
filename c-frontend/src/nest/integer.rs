//! Integers: subscripts, bounds, and the values that follow from indices.

use super::refusal::{Result, error};
use super::scalars::Held;
use super::walker::Walker;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Floating, UnaryOp, Variable};
use crate::codes;
use crate::integer::{IntType, literal};
use crate::polynomial::{Polynomial, Symbol};
use crate::text::c_text;
use polyhedral::diagnostic::Diagnostic;

/// Whole numbers that bounds are written as with a decimal point, at most.
const MOST_WHOLE: f64 = 1e9;

impl Walker<'_> {
    /// A subscript or bound as a polynomial; `None` if it is none.
    pub(super) fn polynomial(&self, expr: &Expr) -> Option<Polynomial> {
        if let Some(value) = literal(expr) {
            return Some(Polynomial::number(value));
        }
        if self.is_condition(expr)
            && let Some(value) = self.known(expr)
        {
            return Some(Polynomial::number(value));
        }
        match &expr.kind {
            ExprKind::Name(name) => self.named_integer(name),
            ExprKind::Turn { shift, of, from } => {
                let (shift, modulus, from) = (*shift, *of, Some(from.clone()));
                Some(Polynomial::symbol(Symbol::TimeModulo { shift, modulus, from }))
            }
            ExprKind::Cast(ctype @ CType::Integer { .. }, operand) => {
                let value = self.polynomial(operand)?;
                // The number of a buffer fits into any type; into a truth value, one of two does.
                let fits = match IntType::of(ctype) {
                    Some(own) if own.bits > 1 => is_turn(&value),
                    _ => is_one_of_two(&value),
                };
                if fits || self.keeps_value(ctype, operand) {
                    Some(value)
                } else {
                    self.opaque(expr, &[&value])
                }
            }
            ExprKind::Unary(UnaryOp::Plus, operand) => self.polynomial(operand),
            ExprKind::Unary(UnaryOp::Minus, operand) => {
                Polynomial::number(0).plus(&self.polynomial(operand)?, -1)
            }
            ExprKind::Unary(UnaryOp::Complement, operand)
                if self.int_type(expr).is_some_and(|own| !own.unsigned) =>
            {
                Polynomial::number(-1).plus(&self.polynomial(operand)?, -1)
            }
            ExprKind::Unary(UnaryOp::Not, operand) => {
                // The other one of two buffers.
                let inner = self.polynomial(operand)?;
                is_one_of_two(&inner).then(|| Polynomial::number(1).plus(&inner, -1)).flatten()
            }
            ExprKind::Binary(operator, left, right) => {
                // `((i - 1) % n + n) % n`
                if *operator == BinaryOp::Rem
                    && let Some(around) = self.around_twice(left, right)
                {
                    return Some(around);
                }
                let (mut a, mut b) = (self.polynomial(left)?, self.polynomial(right)?);
                let mut right = right;
                if *operator == BinaryOp::BitAnd && a.is_invariant() && !b.is_invariant() {
                    (a, b, right) = (b, a, left);
                }
                match operator {
                    BinaryOp::Add => a.plus(&b, 1),
                    BinaryOp::Sub => a.plus(&b, -1),
                    BinaryOp::Mul => a.times(&b),
                    BinaryOp::Rem if a.has_time() => self.modulo(&a, b.constant()?),
                    BinaryOp::BitAnd if a.has_time() && b.constant() == Some(1) => self.modulo(&a, 2),
                    BinaryOp::Rem if !a.indices().is_empty() => self.around_modulo(&a, &b),
                    BinaryOp::BitAnd if !a.indices().is_empty() => self.around_mask(&a, &b, right),
                    BinaryOp::BitXor if is_one_of_two(&a) && b.constant() == Some(1) => {
                        Polynomial::number(1).plus(&a, -1)
                    }
                    BinaryOp::Equal | BinaryOp::NotEqual if is_one_of_two(&a) => {
                        let same = (*operator == BinaryOp::Equal) == (b.constant()? == 1);
                        if !matches!(b.constant()?, 0 | 1) {
                            None
                        } else if same {
                            Some(a)
                        } else {
                            Polynomial::number(1).plus(&a, -1)
                        }
                    }
                    _ => self.opaque(expr, &[&a, &b]),
                }
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                if let Some(around) = self.around_choice(condition, then, otherwise) {
                    return Some(around);
                }
                if let Some(truth) = self.truth(condition) {
                    let (then, otherwise) = (self.polynomial(then), self.polynomial(otherwise));
                    if let (Some(a), Some(b)) = (&then, &otherwise) {
                        self.cut_where_equal(a, b);
                    }
                    return if truth { then } else { otherwise };
                }
                let parts =
                    [self.polynomial(condition)?, self.polynomial(then)?, self.polynomial(otherwise)?];
                if is_one_of_two(&parts[0])
                    && parts[1].constant() == Some(1)
                    && parts[2].constant() == Some(0)
                {
                    return Some(parts[0].clone());
                }
                if is_one_of_two(&parts[0])
                    && parts[1].constant() == Some(0)
                    && parts[2].constant() == Some(1)
                {
                    return Polynomial::number(1).plus(&parts[0], -1);
                }
                self.opaque(expr, &[&parts[0], &parts[1], &parts[2]])
            }
            ExprKind::Member(..) | ExprKind::Unary(UnaryOp::Dereference, _) | ExprKind::Index(..)
                if self.depends(expr).is_constant()
                    && self.kind_of(expr).is_ok_and(|kind| kind.is_integer()) =>
            {
                Some(Polynomial::symbol(Symbol::Constant(c_text(expr, &|_| None))))
            }
            ExprKind::Other(kind, text) if kind == "sizeof expression" => {
                Some(Polynomial::symbol(Symbol::Constant(format!("({text})"))))
            }
            _ => None,
        }
    }

    pub(super) fn opaque(&self, expr: &Expr, parts: &[&Polynomial]) -> Option<Polynomial> {
        parts.iter().all(|part| part.is_invariant()).then(|| {
            let text = c_text(expr, &|name| self.integer_text(name));
            Polynomial::symbol(Symbol::Constant(text))
        })
    }

    fn named_integer(&self, name: &str) -> Option<Polynomial> {
        if let Some(held) = self.environment.get(name) {
            return match held {
                Held::Integer(value, _) => value.clone(),
                _ => None,
            };
        }
        if let Some(at) = self.open_loop(name) {
            return Some(Polynomial::symbol(Symbol::Index(at)));
        }
        if name == self.nest.time.name {
            return Some(Polynomial::symbol(Symbol::Time));
        }
        let variable = self.region.variables.get(name)?;
        if self.assigned.contains(name) || !matches!(variable.ctype, CType::Integer { .. }) {
            return None;
        }
        match self.initial_values.get(name).filter(|value| self.is_in_sight(value)) {
            Some(value) => Some(value.clone()),
            None => Some(Polynomial::symbol(Symbol::Constant(name.to_owned()))),
        }
    }

    /// Whether the names in a value mean what they meant before the loop.
    fn is_in_sight(&self, value: &Polynomial) -> bool {
        value.symbols().iter().all(|symbol| match symbol {
            Symbol::Constant(name) => {
                self.environment.get(name).is_none()
                    && self.open_loop(name).is_none()
                    && *name != self.nest.time.name
            }
            _ => false,
        })
    }

    /// Finds the variables that keep the value they are declared with, such as `const int nxy = nx * ny`; in the order of
    /// their declarations, so that each follows from the ones before.
    pub(super) fn find_initial_values(&mut self) {
        let mut variables: Vec<&Variable> =
            self.region.variables.values().filter(|variable| variable.value.is_some()).collect();
        variables.sort_by_key(|variable| variable.span.start);
        for variable in variables {
            if !self.assigned.contains(&variable.name)
                && let Some(value) = self.initial_value(variable)
            {
                self.initial_values.insert(variable.name.clone(), value);
            }
        }
    }

    fn initial_value(&self, variable: &Variable) -> Option<Polynomial> {
        let value = variable.value.as_ref()?;
        let CType::Integer { name: ctype, unsigned } = &variable.ctype else { return None };
        // What stands in the value must still mean what it meant there.
        let mut keeps = self.keeps(variable);
        value.walk(&mut |part| match &part.kind {
            ExprKind::Name(name) => {
                keeps &= self.region.variables.get(name).is_some_and(|other| {
                    other.span.start < variable.span.start
                        && self.keeps(other)
                        && *name != self.nest.time.name
                });
            }
            ExprKind::Integer { .. } => {}
            ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, _) => {}
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) => {}
            _ => keeps &= literal(part).is_some(),
        });
        if !keeps {
            return None;
        }
        let found = self.polynomial(value)?;
        // The conversion to the variable's type must not change it.
        let has = |parts: &[&str]| parts.iter().any(|part| ctype.contains(part));
        let bits = match () {
            () if has(&["bool", "Bool"]) => 1,
            () if has(&["char", "int8", "least8"]) => 7,
            () if has(&["short", "16"]) => 15,
            () => 31,
        };
        match found.constant() {
            Some(number) => {
                let least = if *unsigned { 0 } else { -(1_i64 << bits) };
                (least..1 << bits).contains(&number).then_some(found)
            }
            None => (bits == 31).then_some(found),
        }
    }

    /// Whether nothing changes a variable after its declaration.
    pub(super) fn keeps(&self, variable: &Variable) -> bool {
        (variable.constant || !variable.global) && !self.region.changed.contains(&variable.name)
    }

    /// `(time + shift) mod modulus`. Where time counts by a multiple of the modulus, this is a number.
    fn modulo(&self, value: &Polynomial, modulus: i64) -> Option<Polynomial> {
        if !(2..=64).contains(&modulus) {
            return None;
        }
        // Turns that are counted on.
        for symbol in value.symbols() {
            if let Symbol::TimeModulo { shift, modulus: own, from } = &symbol
                && *own == modulus
                && let Some(by) = value.distance(&Polynomial::symbol(symbol.clone()))
            {
                let shift = (shift + by.rem_euclid(modulus)).rem_euclid(modulus);
                return Some(Polynomial::symbol(Symbol::TimeModulo { shift, modulus, from: from.clone() }));
            }
        }
        let shift = value.plus(&Polynomial::symbol(Symbol::Time), -1)?.constant()?;
        let time = &self.nest.time;
        let first = time.bounds.as_ref().and_then(|(first, _)| literal(first));
        // Unsigned numbers below zero have another remainder.
        if shift < 0
            && modulus & (modulus - 1) != 0
            && first.is_none_or(|first| first.saturating_add(shift) < 0)
        {
            return None;
        }
        if time.step == 1 {
            let shift = shift.rem_euclid(modulus);
            return Some(Polynomial::symbol(Symbol::TimeModulo { shift, modulus, from: None }));
        }
        let first = first.filter(|_| time.step % modulus == 0)?;
        Some(Polynomial::number(first.checked_add(shift)?.rem_euclid(modulus)))
    }

    /// The open space loop with this index.
    pub(super) fn open_loop(&self, name: &str) -> Option<usize> {
        self.path.iter().rev().copied().find(|at| self.nest.loops[*at].name == name)
    }

    /// The C text of an integer that was computed in the loop.
    pub(super) fn integer_text(&self, name: &str) -> Option<String> {
        match self.environment.get(name) {
            Some(Held::Integer(_, expr)) => {
                Some(format!("({})", c_text(expr, &|name| self.integer_text(name))))
            }
            _ => None,
        }
    }

    /// A bound in which `int`s are converted to `double` and added, also to whole numbers such as `100.`: the same of the integers,
    /// which `double` holds exactly.
    fn without_conversions(&self, expr: &Expr) -> Expr {
        let short = |operand: &Expr| match &operand.kind {
            ExprKind::Cast(ctype, _) => IntType::of(ctype).is_some_and(|own| own.bits <= 32),
            ExprKind::Name(name) => {
                let ctype = self.region.variables.get(name).map(|variable| &variable.ctype);
                ctype.and_then(IntType::of).is_some_and(|own| own.bits <= 32)
            }
            _ => literal(operand).is_some(),
        };
        let kind = match &expr.kind {
            ExprKind::Cast(CType::Floating(Floating::Double), operand) if short(operand) => {
                return (**operand).clone();
            }
            ExprKind::Floating { text, kind: Floating::Double } => match text.parse::<f64>() {
                Ok(value) if value.fract() == 0.0 && value.abs() <= MOST_WHOLE => {
                    ExprKind::Integer { value: value as i64, text: format!("{value}") }
                }
                _ => return expr.clone(),
            },
            ExprKind::Binary(operator @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
                let (left, right) = (self.without_conversions(left), self.without_conversions(right));
                ExprKind::Binary(*operator, Box::new(left), Box::new(right))
            }
            _ => return expr.clone(),
        };
        Expr { kind, span: expr.span.clone() }
    }

    /// A bound of a space loop.
    pub(super) fn bound(&mut self, expr: &Expr) -> Result<Polynomial> {
        let expr = &self.folded(&self.without_conversions(expr));
        let Some(bound) = self.polynomial(expr) else {
            self.check_invariant(expr)?;
            return error(
                codes::BOUND,
                &expr.span,
                "this bound is not an integer expression of known values",
            );
        };
        if let Some(Symbol::Index(outer)) =
            bound.symbols().iter().find(|symbol| matches!(symbol, Symbol::Index(_)))
        {
            let outer = &self.nest.loops[*outer];
            let message = format!("this bound depends on the index `{}` of another loop", outer.name);
            return Err(Box::new(
                Diagnostic::limitation(codes::BOUND, expr.span.clone(), message)
                    .related(outer.span.clone(), "that loop")
                    .note("the points of a statement must form a box"),
            ));
        }
        if bound.has_time() {
            let message = format!("this bound depends on the time `{}`", self.nest.time.name);
            return Err(Box::new(
                Diagnostic::limitation(codes::BOUND, expr.span.clone(), message)
                    .note("every time step must compute the same points"),
            ));
        }
        Ok(bound)
    }
}

/// Whether a value is the number of a buffer.
fn is_turn(value: &Polynomial) -> bool {
    let symbols = value.symbols();
    symbols.len() == 1
        && symbols.iter().all(|symbol| {
            matches!(symbol, Symbol::TimeModulo { .. })
                && value.distance(&Polynomial::symbol(symbol.clone())) == Some(0)
        })
}

/// Whether a value is the number of one of two buffers, or one minus it.
fn is_one_of_two(value: &Polynomial) -> bool {
    let two = |symbol: &Symbol| matches!(symbol, Symbol::TimeModulo { modulus: 2, .. });
    let symbols = value.symbols();
    let Some(symbol) = symbols.first().filter(|symbol| symbols.len() == 1 && two(symbol)) else {
        return false;
    };
    let at = |number| value.replace(symbol, &Polynomial::number(number)).and_then(|value| value.constant());
    matches!((at(0), at(1)), (Some(0), Some(1)) | (Some(1), Some(0)))
}
