//! Values that never fall where a scalar grows: what is tested of a maximum.

use super::names;
use super::signs::is_positive;
use crate::ast::{BinaryOp, CType, Expr, ExprKind};
use crate::parse::Region;
use std::collections::HashSet;

/// The only scalar of the data in a value that never falls where that grows: `m`, `sqrt(m)`, `m / 100`.
pub(super) fn grows_with<'a>(region: &Region, changed: &HashSet<String>, value: &'a Expr) -> Option<&'a str> {
    match &value.kind {
        ExprKind::Name(name) => {
            let scalar = region.variables.get(name).is_none_or(|one| matches!(one.ctype, CType::Floating(_)));
            scalar.then_some(name.as_str())
        }
        ExprKind::Cast(CType::Floating(_), inner) => grows_with(region, changed, inner),
        ExprKind::Call(function, arguments) => match (&function.kind, arguments.as_slice()) {
            (ExprKind::Name(own), [inner])
                if matches!(own.as_str(), "sqrt" | "sqrtf") && !region.functions.contains_key(own) =>
            {
                grows_with(region, changed, inner)
            }
            _ => None,
        },
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Mul, ..) => {
            grows_with(region, changed, scaled(region, changed, value)?.0)
        }
        _ => None,
    }
}

/// What a value is that is multiplied or divided by something that stays the same in the loop, and by what, unless that is
/// known to be positive.
fn scaled<'a>(
    region: &Region,
    changed: &HashSet<String>,
    value: &'a Expr,
) -> Option<(&'a Expr, Option<&'a Expr>)> {
    let stays = |by: &Expr| {
        let mut plain = names::only_reads(region, by) && names::of(by).is_disjoint(changed);
        by.walk(&mut |part| plain &= !matches!(part.kind, ExprKind::Index(..) | ExprKind::Call(..)));
        plain
    };
    match &value.kind {
        ExprKind::Binary(BinaryOp::Div, inner, by) if is_positive(by) => Some((inner, None)),
        ExprKind::Binary(BinaryOp::Div, inner, by) if stays(by) => Some((inner, Some(by))),
        ExprKind::Binary(BinaryOp::Mul, a, b) => match () {
            () if is_positive(a) => Some((b, None)),
            () if is_positive(b) => Some((a, None)),
            () if stays(a) => Some((b, Some(a))),
            () if stays(b) => Some((a, Some(b))),
            () => None,
        },
        _ => None,
    }
}

/// What a value that grows with a scalar is multiplied or divided by.
pub(super) fn scales(region: &Region, changed: &HashSet<String>, value: &Expr, found: &mut Vec<Expr>) {
    match &value.kind {
        ExprKind::Cast(_, inner) => scales(region, changed, inner, found),
        ExprKind::Call(_, arguments) => {
            arguments.iter().for_each(|inner| scales(region, changed, inner, found));
        }
        _ => {
            if let Some((inner, by)) = scaled(region, changed, value) {
                found.extend(by.cloned());
                scales(region, changed, inner, found);
            }
        }
    }
}
