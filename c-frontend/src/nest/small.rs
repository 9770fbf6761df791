//! Integers of 32 bits in single precision, where they are small.
//!
//! `float` has all integers up to 2^24. Where what a loop assigns to its arrays of integers lies within `2^k` as soon as all that it
//! reads there does, and nothing that it computes on the way is larger than 2^24, each of its steps is exact in `float`; that what is there before the first one lies
//! within `2^k` is asked when the program runs. An element takes four bytes then, as it does in the program's own array, in whose place it can be.

use super::Nest;
use super::observed::Observed;
use super::scalars::assigned_arrays;
use crate::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use crate::integer::{IntType, literal};
use crate::parse::Region;
use polyhedral::program::ElementType;
use std::collections::HashSet;

/// The bounds that are tried: of sums of up to 1, 16 and 256 elements.
pub(super) const BOUNDS: [i128; 3] = [1 << 24, 1 << 20, 1 << 16];

/// Whether bounds are worth to be tried: some array of integers of 32 bits gets numbers of the text, as cells that live or die do. Of others, such
/// as labels and fixed-point numbers, large values are likely, with which the loop would run as it was written.
pub(super) fn is_likely(region: &Region, body: &Stmt, observed: Option<&Observed>) -> bool {
    let arrays = assigned_arrays(std::slice::from_ref(body));
    let wide = |name: &&String| {
        let own = region.variables.get(*name).and_then(|one| IntType::of(one.ctype.element()));
        own.is_some_and(|own| own.bits == 32)
    };
    let wide: HashSet<&String> = arrays.iter().filter(wide).collect();
    let mut found = false;
    body.walk_expressions(&mut |part| {
        if let ExprKind::Assign(None, target, value) = &part.kind
            && let ExprKind::Name(name) = &target.indexed().0.kind
        {
            found |= wide.contains(name) && is_number(body, value, 2);
        }
    });
    // What tests look at, and steps that run one at a time, have arrays of their own.
    found && observed.is_none_or(|observed| observed.tests.is_empty() && !observed.alone)
}

/// Whether a value is a number of the text, or 0 or 1, at least in one case.
fn is_number(body: &Stmt, value: &Expr, depth: usize) -> bool {
    if literal(value).is_some() {
        return true;
    }
    match &value.kind {
        ExprKind::Conditional(_, then, otherwise) => {
            is_number(body, then, depth) || is_number(body, otherwise, depth)
        }
        ExprKind::Cast(_, inner) => is_number(body, inner, depth),
        ExprKind::Unary(UnaryOp::Not, _) => true,
        ExprKind::Binary(operator, ..) => matches!(
            operator,
            BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Equal
                | BinaryOp::NotEqual
                | BinaryOp::Less
                | BinaryOp::LessEqual
                | BinaryOp::Greater
                | BinaryOp::GreaterEqual
        ),
        ExprKind::Name(name) if depth > 0 => {
            let mut found = false;
            body.walk_expressions(&mut |part| {
                if let ExprKind::Assign(None, target, value) = &part.kind {
                    let own = matches!(&target.kind, ExprKind::Name(other) if other == name);
                    found |= own && is_number(body, value, depth - 1);
                }
            });
            body.walk(&mut |stmt| {
                if let StmtKind::Declaration(list) = &stmt.kind {
                    let own = list.iter().filter(|one| one.name == *name);
                    let mut values = own.filter_map(|one| one.value.as_ref());
                    found |= values.any(|value| is_number(body, value, depth - 1));
                }
            });
            found
        }
        _ => false,
    }
}

/// Whether all that is computed is of single precision.
pub(super) fn is_single(nest: &Nest) -> bool {
    let mut single = true;
    let values = nest.leaves.iter().map(|leaf| &leaf.value);
    for value in values.chain(nest.temporaries.iter().map(|one| &one.value)) {
        value.walk(|part| single &= part.element == ElementType::F32);
    }
    single && nest.integers.values().any(|ctype| IntType::of(ctype).is_some_and(|own| own.bits == 32))
}
