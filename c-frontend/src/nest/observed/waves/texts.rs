//! Loops of steps that run ahead, as C.

use super::types::{is_plain, plain_text};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, Stmt, StmtKind};
use crate::integer::literal;
use crate::nest::observed::left::{array_of, text};
use crate::nest::observed::residue::write;
use crate::parse::Region;
use crate::text::type_text;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The index of a loop that counts up by one, with its type, its first value, and the one behind its last.
pub(super) fn counted(region: &Region, source: &ForLoop) -> Option<((String, String), String, String)> {
    let (name, ctype, low) = match source.start.as_ref().map(|start| &start.kind)? {
        StmtKind::Declaration(list) => match list.as_slice() {
            [one] => (one.name.clone(), one.ctype.clone(), one.value.as_ref()?),
            _ => return None,
        },
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => match &target.kind {
            ExprKind::Name(name) => (name.clone(), region.variables.get(name)?.ctype.clone(), &**value),
            _ => return None,
        },
        _ => return None,
    };
    let is_index = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(own) if *own == name);
    let high = match &source.condition.as_ref()?.kind {
        ExprKind::Binary(BinaryOp::Less, left, right) if is_index(left) => {
            format!("(ptrdiff_t)({})", plain_text(right))
        }
        ExprKind::Binary(BinaryOp::LessEqual, left, right) if is_index(left) => {
            format!("(ptrdiff_t)({}) + 1", plain_text(right))
        }
        _ => return None,
    };
    let by_one = match &source.step.as_ref()?.kind {
        ExprKind::Step(1, target) => is_index(target),
        ExprKind::Assign(Some(BinaryOp::Add), target, by) => is_index(target) && literal(by) == Some(1),
        _ => false,
    };
    let mut assigns = false;
    source.body.walk_expressions(&mut |part| {
        if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &part.kind {
            assigns |= is_index(target);
        }
    });
    let whole = matches!(ctype, CType::Integer { .. }) && is_plain(&ctype);
    (by_one && !assigns && whole && !low.mentions(&name))
        .then(|| ((name, type_text(&ctype)), format!("(ptrdiff_t)({})", plain_text(low)), high))
}

/// Loops over arrays as C: vectors may compute the innermost ones.
pub(super) fn compute(stmt: &Stmt, around: &HashSet<String>, out: &mut String) -> Option<()> {
    match &stmt.kind {
        StmtKind::Block(list) => {
            out.push_str("{ ");
            list.iter().try_for_each(|stmt| compute(stmt, around, out))?;
            out.push_str("} ");
            Some(())
        }
        StmtKind::For(source) => {
            let both = source.condition.is_some() && source.step.is_some();
            let mut bounds: Vec<&Expr> = source.condition.iter().collect();
            match source.start.as_ref().map(|start| &start.kind)? {
                StmtKind::Declaration(list) => {
                    bounds.extend(list.iter().filter_map(|one| one.value.as_ref()))
                }
                StmtKind::Expr(expr) => bounds.push(expr),
                _ => return None,
            }
            if !both || bounds.iter().any(|bound| around.iter().any(|index| bound.mentions(index))) {
                return None;
            }
            let mut inner = false;
            source.body.walk(&mut |part| inner |= matches!(part.kind, StmtKind::For(_)));
            let mut own = around.clone();
            own.insert(source.index()?.to_owned());
            let head = head(source)?;
            if !inner {
                out.push_str("\n#pragma GCC ivdep\n");
            }
            out.push_str(&head);
            compute(&source.body, &own, out)?;
            out.push_str("} ");
            Some(())
        }
        _ => write(stmt, out),
    }
}

/// The head of a loop as C.
fn head(source: &ForLoop) -> Option<String> {
    let body = Stmt { kind: StmtKind::Block(Vec::new()), span: source.body.span.clone() };
    let span = body.span.clone();
    let mut all = String::new();
    write(&Stmt { kind: StmtKind::For(Box::new(ForLoop { body, ..source.clone() })), span }, &mut all)?;
    let without = |text: &str, end| text.trim_end().strip_suffix(end).map(str::to_owned);
    without(&without(&without(&all, '}')?, '}')?, '{')
}

/// The loops with something in the place of each assignment of an element, and nothing of all others.
pub(super) fn elements_only(stmt: &Stmt, instead: &dyn Fn(&str) -> String, out: &mut String) -> Option<()> {
    match &stmt.kind {
        StmtKind::Block(list) => list.iter().try_for_each(|stmt| elements_only(stmt, instead, out)),
        StmtKind::For(source) => {
            out.push_str(&head(source)?);
            elements_only(&source.body, instead, out)?;
            out.push_str("} ");
            Some(())
        }
        StmtKind::Expr(expr) => {
            let mut fails = false;
            match &expr.kind {
                ExprKind::Assign(_, target, value) => {
                    value.walk(&mut |part| {
                        fails |= matches!(part.kind, ExprKind::Assign(..) | ExprKind::Step(..))
                    });
                    if array_of(target).is_some() {
                        out.push_str(&instead(&text(target)));
                    }
                }
                ExprKind::Step(_, target) => {
                    if array_of(target).is_some() {
                        out.push_str(&instead(&text(target)));
                    }
                }
                _ => fails = true,
            }
            (!fails).then_some(())
        }
        StmtKind::Declaration(_) | StmtKind::Empty => Some(()),
        _ => None,
    }
}

/// What notes the elements that loops touch: at both ends of the innermost ones, between which the others lie, as subscripts are indices
/// and numbers. Arrays are named by their places among all.
pub(super) fn touched(
    region: &Region,
    stmt: &Stmt,
    around: &HashSet<String>,
    arrays: &[&String],
    out: &mut String,
) -> Option<()> {
    match &stmt.kind {
        StmtKind::Block(list) => list.iter().try_for_each(|stmt| touched(region, stmt, around, arrays, out)),
        StmtKind::For(source) => {
            let ((index, ctype), low, high) = counted(region, source)?;
            let mut own = around.clone();
            own.insert(index.clone());
            out.push_str(&format!("{{ const ptrdiff_t tw_low = {low}, tw_high = {high}; "));
            let mut inner = false;
            source.body.walk(&mut |part| inner |= matches!(part.kind, StmtKind::For(_)));
            if inner {
                out.push_str(&format!(
                    "for ({ctype} {index} = ({ctype})tw_low; {index} < tw_high; ++{index}) {{ "
                ));
                touched(region, &source.body, &own, arrays, out)?;
            } else {
                out.push_str(&format!(
                    "for (int tw_last = 0; tw_last < 2 && tw_low < tw_high; ++tw_last) {{ const {ctype} {index} = ({ctype})(tw_last ? tw_high - 1 : tw_low); "
                ));
                for (array, element) in elements(&source.body, &own)? {
                    let number = arrays.iter().position(|own| **own == array)?;
                    out.push_str(&format!("tw_touch(tw_step, {number}, &{element}, sizeof {element}); "));
                }
            }
            out.push_str("} } ");
            Some(())
        }
        _ => elements(stmt, &HashSet::new())?.is_empty().then_some(()),
    }
}

/// The elements in a statement, and their arrays; `None` if subscripts are others than indices and numbers.
fn elements(stmt: &Stmt, indices: &HashSet<String>) -> Option<BTreeSet<(String, String)>> {
    let (mut found, mut parts, mut plain) = (BTreeMap::new(), HashSet::new(), true);
    stmt.walk_expressions(&mut |part| {
        let ExprKind::Index(inner, _) = &part.kind else { return };
        if let ExprKind::Index(..) = &inner.kind {
            parts.insert(text(inner));
        }
        let (base, subscripts) = part.indexed();
        let ExprKind::Name(array) = &base.kind else {
            plain = false;
            return;
        };
        plain &= subscripts.iter().all(|subscript| is_affine(subscript, indices));
        found.insert(text(part), array.clone());
    });
    let whole = found.into_iter().filter(|(element, _)| !parts.contains(element));
    plain.then(|| whole.map(|(element, array)| (array, element)).collect())
}

/// Whether a subscript is an index, a number, or a sum of these.
fn is_affine(subscript: &Expr, indices: &HashSet<String>) -> bool {
    match &subscript.kind {
        ExprKind::Name(name) => indices.contains(name),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, left, right) => {
            is_affine(left, indices) && is_affine(right, indices)
        }
        _ => literal(subscript).is_some(),
    }
}
