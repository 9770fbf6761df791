//! What loops compute over space, as far as it says whether the loop around them is one over time.

use crate::ast::{BinaryOp, Expr, ExprKind, ForLoop, Stmt, StmtKind};
use crate::integer::literal;
use crate::nest;
use crate::parse::Region;

/// Whether each round of a region's loop computes elements at the indices of loops in it.
pub(crate) fn computes(region: &Region, outermost: bool) -> bool {
    let mut found = false;
    // What is declared in the loops says so only of what may well be a loop over time.
    let by = if doubt(region) == 0 { By::AnyName } else { By::Assigned };
    let mut look = |body: &Stmt| {
        body.walk(&mut |stmt| {
            let StmtKind::For(inner) = &stmt.kind else { return };
            found |= inner.index().is_some_and(|index| moves_targets(&inner.body, index, by));
        });
    };
    for stmt in &region.statements {
        match &stmt.kind {
            StmtKind::For(source) => {
                let own = source.index();
                // Levels that are all kept make no loop over space of one over time.
                let levels = |name| outermost && nest::shows_levels(&source.body, name).is_some();
                let plain = |name| nest::indexes_target(&source.body, name) && !levels(name);
                if !own.is_some_and(plain) {
                    look(&source.body);
                }
            }
            _ => look(stmt),
        }
    }
    found
}

/// How doubtful it is that a region's loop is one over time: its own index says where elements are assigned, or no loop in it has
/// more than a few rounds.
pub(crate) fn doubt(region: &Region) -> u32 {
    let of = |stmt: &Stmt| {
        let (body, own) = match &stmt.kind {
            StmtKind::For(source) => (&source.body, source.index()),
            StmtKind::While(source) => (&source.body, None),
            _ => return None,
        };
        let moves = own.is_some_and(|own| moves_targets(body, own, By::NoBuffer));
        let mut loops = false;
        body.walk(&mut |part| loops |= matches!(&part.kind, StmtKind::For(inner) if !has_few_rounds(inner)));
        Some(u32::from(moves) + u32::from(!loops))
    };
    region.statements.iter().filter_map(of).min().unwrap_or(0)
}

/// By which names an index moves what is assigned: those that are assigned, those that are declared, too, or these but for numbers
/// of buffers, `t % 2`.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Assigned,
    AnyName,
    NoBuffer,
}

/// Whether an index, or what is computed of it (`k = i + n * j;`), is in a subscript of an element that a body assigns.
fn moves_targets(body: &Stmt, index: &str, by: By) -> bool {
    let mut names = vec![index.to_owned()];
    let moves = |value: &Expr, names: &[String]| {
        !(by == By::NoBuffer && takes_turns(value)) && names.iter().any(|name| value.mentions(name))
    };
    body.walk(&mut |stmt| {
        if let StmtKind::Declaration(list) = &stmt.kind
            && by != By::Assigned
        {
            let own = list.iter().filter(|one| one.value.as_ref().is_some_and(|value| moves(value, &names)));
            let own: Vec<String> = own.map(|one| one.name.clone()).collect();
            names.extend(own);
        }
    });
    let mut found = false;
    body.walk_expressions(&mut |expr| {
        let (ExprKind::Assign(_, target, _) | ExprKind::Step(_, target)) = &expr.kind else { return };
        match (&target.kind, &expr.kind) {
            (ExprKind::Name(name), ExprKind::Assign(_, _, value)) if moves(value, &names) => {
                names.push(name.clone());
            }
            _ => target.walk(&mut |part| {
                found |= matches!(&part.kind, ExprKind::Index(_, at) if moves(at, &names));
            }),
        }
    });
    found
}

fn takes_turns(value: &Expr) -> bool {
    let mut found = false;
    value.walk(&mut |part| {
        found |= matches!(part.kind, ExprKind::Binary(BinaryOp::Rem | BinaryOp::BitAnd, ..));
    });
    found
}

/// Whether a loop ends at a small number.
fn has_few_rounds(source: &ForLoop) -> bool {
    match source.condition.as_ref().map(|condition| &condition.kind) {
        Some(ExprKind::Binary(_, left, right)) => {
            [left, right].into_iter().any(|side| literal(side).is_some_and(|limit| limit.abs() <= FEW))
        }
        _ => false,
    }
}

/// So many rounds are those of neighbours or components.
const FEW: i64 = 9;
