//! Conversions of integers of the data to other types.

use super::ranged::{Whole, element_for, modulo, range, truth_value, wide};
use crate::integer::IntType;
use crate::nest::refusal::Result;
use crate::nest::typed::{cast, number};
use crate::nest::walker::Walker;
use polyhedral::program::{BinaryOp, CompareOp, Condition, Expr, ExprKind};

impl Walker<'_> {
    /// A conversion to another type.
    pub(super) fn converted_whole(&mut self, value: Whole, to: IntType) -> Result<Whole> {
        let span = value.value.span.clone();
        if to.bits == 1 {
            let value = self.settled(value);
            let zero = number(0.0, value.value.element, &span);
            return Ok(truth_value(Condition::Compare(CompareOp::NotEqual, value.value, zero), &span));
        }
        // A wider type has the number itself.
        let value = if to.bits > value.own.bits { self.settled(value) } else { value };
        if value.fits(to) {
            return Ok(Whole { own: to, ..value });
        }
        if to == value.own && !to.unsigned {
            return Ok(value);
        }
        if to.bits > 32 {
            return wide(&span);
        }
        Ok(self.wrapped(value, to))
    }

    /// A value as one of a type that holds it, or, where it is wider, of an arithmetic conversion.
    pub(super) fn in_type(&mut self, value: Whole, to: IntType) -> Whole {
        let value = if to.bits > value.own.bits { self.settled(value) } else { value };
        Whole { own: to, ..value }
    }

    /// The number itself: unsigned ones within the type; signed ones are, wherever C defines them.
    pub(super) fn settled(&mut self, value: Whole) -> Whole {
        if value.fits(value.own) {
            return value;
        }
        if value.own.unsigned {
            let own = value.own;
            return self.wrapped(value, own);
        }
        let (low, high) = range(value.own);
        Whole { low: value.low.max(low), high: value.high.min(high), ..value }
    }

    /// The number of a type that is the value modulo a power of two.
    pub(super) fn wrapped(&mut self, mut value: Whole, to: IntType) -> Whole {
        let span = value.value.span.clone();
        value.value = self.shared(value.value, &span);
        if to.unsigned {
            let result = modulo(value, to.bits, &span);
            return Whole { own: to, ..result };
        }
        // `(value + 2^(bits - 1)) mod 2^bits - 2^(bits - 1)`
        let half = 1_i128 << (to.bits - 1);
        let element = element_for(value.magnitude() + half);
        let moved = |value: Expr, by: i128| {
            let by = number(by as f64, element, &span);
            let kind = ExprKind::Binary(BinaryOp::Add, Box::new(cast(value, element)), Box::new(by));
            Expr { kind, element, span: span.clone() }
        };
        let up = moved(value.value, half);
        let up = self.shared(up, &span);
        let up = Whole { value: up, own: to, low: value.low + half, high: value.high + half };
        let rest = modulo(up, to.bits, &span);
        let (low, high) = range(to);
        Whole { value: moved(rest.value, -half), own: to, low, high }
    }
}
