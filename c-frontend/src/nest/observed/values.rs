//! The scalars of a loop that reads the element which each of its rounds assigns, as it was and as it has become.
//!
//! ```text
//! for (i) { d = b[i]; b[i] = f(a); s += b[i] - d; }    =>    for (i) { d = b[i]; v = f(a); s += v - d; }
//! ```

use super::left::{array_of, key, scalars_of};
use super::names;
use crate::ast::{CType, Expr, ExprKind, Floating, Stmt, StmtKind, Variable};
use crate::nest::scalars::assigned;
use crate::parse::Region;

/// What the element's value is called.
const VALUE: &str = "tw_value";

/// A loop's scalars, with the one element that its innermost body assigns as a variable. `None` if it assigns others, or under
/// a condition, or by `+=`; or an element that is no `double`: others are cut where they are stored, which gcc 12.2 leaves out
/// where it computes several statements in one vector.
pub(super) fn with_value(region: &Region, stmt: &Stmt) -> Option<Stmt> {
    let StmtKind::For(source) = &stmt.kind else { return None };
    let mut own = source.clone();
    own.body = match &source.body.kind {
        StmtKind::For(_) => with_value(region, &source.body)?,
        StmtKind::Block(list) if matches!(list.as_slice(), [Stmt { kind: StmtKind::For(_), .. }]) => {
            with_value(region, &list[0])?
        }
        StmtKind::Block(list) => {
            Stmt { kind: StmtKind::Block(body(region, list)?), span: source.body.span.clone() }
        }
        _ => return None,
    };
    // Heads of loops are looked at where assignments are left out.
    scalars_of(region, stmt)??;
    Some(Stmt { kind: StmtKind::For(own), span: stmt.span.clone() })
}

fn body(region: &Region, list: &[Stmt]) -> Option<Vec<Stmt>> {
    let assigns = |stmt: &&Stmt| !assigned(stmt).0.is_empty();
    let mut assignments = list.iter().enumerate().filter(|(_, stmt)| assigns(stmt));
    let (at, stmt) = assignments.next().filter(|_| assignments.next().is_none())?;
    let StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) = &stmt.kind else {
        return None;
    };
    let array = array_of(target)?;
    let double = region.variables.get(&array)?.ctype.element() == &CType::Floating(Floating::Double);
    let plain = double && names::only_reads(region, value);
    let mut kept = Vec::new();
    for before in plain.then(|| list[..at].iter())? {
        kept.extend(scalars_of(region, before)?);
    }
    let variable = Variable {
        name: VALUE.to_owned(),
        ctype: CType::Floating(Floating::Double),
        value: Some((**value).clone()),
        ..region.variables.get(&array)?.clone()
    };
    kept.push(Stmt { kind: StmtKind::Declaration(vec![variable]), span: stmt.span.clone() });
    let written = key(target);
    for after in &list[at + 1..] {
        let mut after = after.clone();
        after.walk_expressions_mut(&mut |part| {
            if matches!(part.kind, ExprKind::Index(..)) && key(part) == written {
                part.kind = ExprKind::Name(VALUE.to_owned());
            }
        });
        kept.extend(scalars_of(region, &after)?);
    }
    Some(kept)
}
