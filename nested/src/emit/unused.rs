//! Names that nobody reads are not declared.

use c_tree::{Block, Declaration, Expr as C, Stmt};
use std::collections::BTreeSet;

/// The block without variables that nobody uses.
pub(super) fn without_unused(mut body: Block) -> Block {
    loop {
        let mut used = BTreeSet::new();
        let mut note = |expr: &C| {
            expr.walk(&mut |part| {
                if let C::Name(name, _) = part {
                    used.insert(name.clone());
                }
            });
        };
        body.walk(&mut |statement| match statement {
            // To be assigned to is no use.
            Stmt::Assign(C::Name(..), value) => note(value),
            statement => statement.expressions(&mut note),
        });
        let mut removed = false;
        clean(&mut body, &used, &mut removed);
        if !removed {
            return body;
        }
    }
}

fn clean(block: &mut Block, used: &BTreeSet<String>, removed: &mut bool) {
    for statement in &mut block.statements {
        if let Stmt::Declare(list) = statement
            && let [Declaration { name, value: Some(value), .. }] = &list[..]
            && !used.contains(name)
            && reports(value)
        {
            *statement = Stmt::Expr(value.clone());
        }
        if let Stmt::Assign(C::Name(name, _), value) = statement
            && !used.contains(name)
            && reports(value)
        {
            *statement = Stmt::Expr(value.clone());
        }
    }
    block.statements.retain(|statement| {
        let dead = match statement {
            Stmt::Declare(list) => list.iter().all(|declaration| !used.contains(&declaration.name)),
            Stmt::Assign(C::Name(name, _), _) => !used.contains(name),
            _ => false,
        };
        *removed |= dead;
        !dead
    });
    for statement in &mut block.statements {
        match statement {
            Stmt::If(_, then, otherwise) => {
                clean(then, used, removed);
                clean(otherwise, used, removed);
            }
            Stmt::For(own) => clean(&mut own.body, used, removed),
            Stmt::While(_, body) | Stmt::Block(body) => clean(body, used, removed),
            _ => {}
        }
    }
}

/// Whether computing a value may find something wrong.
fn reports(value: &C) -> bool {
    let mut found = false;
    value.walk(&mut |part| {
        found |= matches!(part, C::Member { member, .. } if member == "report");
    });
    found
}
