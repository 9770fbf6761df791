//! What a point is assigned, by a name: `a[i] = v; d = fabs(a[i] - b);` is `w = v; d = fabs(w - b); a[i] = w;`, where `w` has the type of the
//! array's elements. So all that the statements of a point ask of the array is what it holds before.

use super::math::is_pure;
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, UnaryOp, Variable};
use crate::parse::Region;

/// The name of the value.
const NAME: &str = "tw_own";

/// Gives the value a name in the statements of one point, where they assign one element, once, and ask its array for nothing else
/// behind that.
pub(super) fn name(region: &Region, point: &mut Stmt) {
    let StmtKind::Block(list) = &mut point.kind else { return };
    let is_element = |stmt: &Stmt| match &stmt.kind {
        // Not the bits of a test.
        StmtKind::Expr(Expr { kind: ExprKind::Assign(_, target, _), .. }) => {
            matches!(target.kind, ExprKind::Index(..))
                && base(target).is_some_and(|name| !name.starts_with("tw_"))
        }
        _ => false,
    };
    let Some(at) = list.iter().position(is_element) else { return };
    let StmtKind::Expr(Expr { kind: ExprKind::Assign(operator, target, value), span }) = &list[at].kind
    else {
        return;
    };
    let (Some(element), own) = (element_type(region, target), plain(target)) else { return };
    let is_own = |expr: &Expr| plain(expr) == own;
    let (array, most) = (base(target), depth(target));
    let mut kept = list.len() > at + 1;
    for stmt in &list[at + 1..] {
        stmt.walk_expressions(&mut |part| {
            kept &= match &part.kind {
                // By other subscripts it may be the same element.
                ExprKind::Index(..) => base(part) != array || depth(part) != most || is_own(part),
                ExprKind::Assign(_, to, _) | ExprKind::Step(_, to) => match &to.kind {
                    ExprKind::Name(name) => !target.mentions(name),
                    _ => base(to) != array,
                },
                ExprKind::Unary(UnaryOp::Address | UnaryOp::Dereference, _) | ExprKind::Call(..) => {
                    is_known(part)
                }
                _ => true,
            };
        });
        stmt.walk(&mut |part| {
            if let StmtKind::Declaration(own) = &part.kind {
                kept &= own.iter().all(|one| !target.mentions(&one.name));
            }
        });
    }
    if !kept {
        return;
    }
    let value = match operator {
        None => (**value).clone(),
        Some(operator) => {
            Expr { kind: ExprKind::Binary(*operator, target.clone(), value.clone()), span: span.clone() }
        }
    };
    let local = Variable {
        name: NAME.to_owned(),
        ctype: element,
        span: value.span.clone(),
        value: Some(value),
        global: false,
        constant: false,
    };
    let named = Expr { kind: ExprKind::Name(NAME.to_owned()), span: span.clone() };
    let assignment = ExprKind::Assign(None, target.clone(), Box::new(named));
    let assignment = Stmt {
        kind: StmtKind::Expr(Expr { kind: assignment, span: span.clone() }),
        span: list[at].span.clone(),
    };
    let declaration = Stmt { kind: StmtKind::Declaration(vec![local]), span: list[at].span.clone() };
    for stmt in &mut list[at + 1..] {
        stmt.walk_expressions_mut(&mut |part| {
            if plain(part) == own {
                part.kind = ExprKind::Name(NAME.to_owned());
            }
        });
    }
    list[at] = declaration;
    list.push(assignment);
}

/// The type of an element, if it is a floating-point number.
fn element_type(region: &Region, element: &Expr) -> Option<CType> {
    let mut ctype = &region.variables.get(&base(element)?)?.ctype;
    for _ in 0..depth(element) {
        ctype = match ctype {
            CType::Array(of, _) | CType::Pointer(of) => of,
            _ => return None,
        };
    }
    matches!(ctype, CType::Floating(_)).then(|| ctype.clone())
}

/// The name of an element's array.
fn base(element: &Expr) -> Option<String> {
    let mut at = element;
    while let ExprKind::Index(array, _) = &at.kind {
        at = array;
    }
    match &at.kind {
        ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    }
}

/// How many subscripts an element has.
fn depth(element: &Expr) -> usize {
    let (mut at, mut depth) = (element, 0);
    while let ExprKind::Index(array, _) = &at.kind {
        (at, depth) = (array, depth + 1);
    }
    depth
}

/// Whether a call is one of a function that has no effects.
fn is_known(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call(function, _)
        if matches!(&function.kind, ExprKind::Name(name) if is_pure(name)))
}

/// An expression without its places, to compare it.
fn plain(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    expr.walk_mut(&mut |part| part.span = 0..0);
    expr
}
