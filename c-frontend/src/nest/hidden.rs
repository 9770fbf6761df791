//! A time loop whose index is hidden by loops within it, whose own have the same name.

use crate::ast::{ExprKind, ForLoop, Stmt, StmtKind};
use crate::parse::Region;

/// A region whose time loop has an index that loops within it hide by one of the same name: theirs are called something else.
pub(crate) fn unhidden(region: &Region) -> Option<Region> {
    let mut own = region.clone();
    let mut found = false;
    for stmt in &mut own.statements {
        let StmtKind::For(source) = &mut stmt.kind else { continue };
        let Some(name) = declared_index(source).map(str::to_owned) else { continue };
        found |= rename_hidden(&mut source.body, &name, &format!("{name}_within"));
    }
    found.then_some(own)
}

fn declared_index(source: &ForLoop) -> Option<&str> {
    match &source.start.as_ref()?.kind {
        StmtKind::Declaration(list) => match list.as_slice() {
            [one] => Some(&one.name),
            _ => None,
        },
        _ => None,
    }
}

/// Renames the indices of inner loops that have a name; whether there are any, and all could be renamed.
fn rename_hidden(stmt: &mut Stmt, name: &str, fresh: &str) -> bool {
    match &mut stmt.kind {
        StmtKind::Block(list) => {
            let mut found = false;
            list.iter_mut().for_each(|stmt| found |= rename_hidden(stmt, name, fresh));
            found
        }
        StmtKind::For(source) if declared_index(source) == Some(name) => {
            let mut plain = true;
            source.body.walk(&mut |part| match &part.kind {
                StmtKind::Declaration(list) => plain &= list.iter().all(|one| one.name != name),
                StmtKind::Other(_, names) => plain &= !names.iter().any(|other| other == name),
                _ => {}
            });
            stmt.walk_expressions(&mut |part| {
                plain &= match &part.kind {
                    ExprKind::Other(..) => false,
                    ExprKind::Name(other) => other != fresh,
                    _ => true,
                };
            });
            if !plain {
                return false;
            }
            stmt.walk_expressions_mut(&mut |part| {
                if let ExprKind::Name(other) = &mut part.kind
                    && other == name
                {
                    fresh.clone_into(other);
                }
            });
            if let StmtKind::For(source) = &mut stmt.kind
                && let Some(Stmt { kind: StmtKind::Declaration(list), .. }) = &mut source.start
            {
                list.iter_mut().for_each(|one| fresh.clone_into(&mut one.name));
            }
            true
        }
        StmtKind::For(source) => rename_hidden(&mut source.body, name, fresh),
        _ => false,
    }
}
