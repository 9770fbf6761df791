//! Pointers and numbers of buffers that each step chooses by its time: `double *now = t % 2 ? b : a;`, and the same with `if` and
//! `else`.
//!
//! A pointer that is `c ? x : y` is the buffer `c ? 0 : 1` of the circle `x, y`, if the step names these two nowhere else. One that is
//! `buffers[n]` stands for just that.

use super::loops::{Chosen, Turns};
use super::scalars::{assigned, assigned_arrays, declared, mentions};
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind};
use crate::parse::Region;
use crate::text::{c_text, pointed_to};

/// The statements of a step, in which what was chosen stands for itself.
pub(super) struct Found {
    pub list: Vec<Stmt>,
    pub turns: Vec<Turns>,
    /// Pointers outside of the step that it assigns.
    pub chosen: Vec<Chosen>,
}

/// What a statement of a step lets a pointer be.
struct Choice {
    name: String,
    /// The place of the statement.
    at: usize,
    value: Expr,
    /// The buffer that it is.
    buffer: Expr,
}

/// Takes such choices out of a step; `None` where there are none of pointers.
pub(super) fn pointers(region: &Region, list: &[Stmt]) -> Option<Found> {
    let mut turns: Vec<Turns> = Vec::new();
    let mut choices: Vec<Choice> = Vec::new();
    let (mut rest, mut places) = (Vec::new(), Vec::new());
    for (at, stmt) in list.iter().enumerate() {
        let mut take = |name: &str, value: &Expr| {
            let buffer = buffer(region, value, &mut turns);
            let found = buffer.is_some();
            choices.extend(buffer.map(|buffer| Choice {
                name: name.to_owned(),
                at,
                value: value.clone(),
                buffer,
            }));
            found
        };
        let kept = match &stmt.kind {
            StmtKind::Declaration(own) => {
                let mut own = own.clone();
                own.retain(|one| {
                    let pointer =
                        matches!(one.ctype, CType::Pointer(_)) && !region.variables.contains_key(&one.name);
                    !(pointer && one.value.as_ref().is_some_and(|value| take(&one.name, value)))
                });
                (!own.is_empty()).then(|| Stmt { kind: StmtKind::Declaration(own), span: stmt.span.clone() })
            }
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
                let taken = matches!(&target.kind, ExprKind::Name(name) if take(name, value));
                (!taken).then(|| stmt.clone())
            }
            _ => Some(stmt.clone()),
        };
        places.extend(kept.iter().map(|_| at));
        rest.extend(kept);
    }
    let free = !choices.is_empty() && are_free(region, &choices, &turns, (&rest, &places));
    if !free {
        return None;
    }
    for stmt in &mut rest {
        stmt.walk_expressions_mut(&mut |part| {
            let ExprKind::Name(name) = &part.kind else { return };
            if let Some(choice) = choices.iter().find(|choice| choice.name == *name) {
                part.kind = choice.buffer.kind.clone();
            }
        });
    }
    let outside = choices.iter().filter(|choice| region.variables.contains_key(&choice.name));
    let chosen =
        outside.map(|choice| Chosen { name: choice.name.clone(), text: c_text(&choice.value, &|_| None) });
    let chosen = chosen.collect();
    Some(Found { list: rest, turns, chosen })
}

/// Whether the names of pointers stand for the same wherever a step uses them, and what they are is named in no other way.
fn are_free(
    region: &Region,
    choices: &[Choice],
    turns: &[Turns],
    (rest, places): (&[Stmt], &[usize]),
) -> bool {
    let mut pointers: Vec<&String> = turns.iter().flatten().collect();
    let count = pointers.len();
    pointers.sort();
    pointers.dedup();
    let mut free = pointers.len() == count;
    let hides = declared(rest);
    let computed = assigned_arrays(rest);
    for (number, choice) in choices.iter().enumerate() {
        let mut once = choices.iter().enumerate().filter(|(other, _)| *other != number);
        free &= once.all(|(_, other)| other.name != choice.name) && !hides.contains(&choice.name);
        let used = names(&choice.value);
        let outside = region.variables.contains_key(&choice.name);
        let mut changed = false;
        for (stmt, at) in rest.iter().zip(places) {
            let moved = assigned(stmt).1;
            let changes = used.iter().any(|name| moved.contains(name) || hides.contains(name));
            changed |= changes && (*at > choice.at || outside);
            // Neither before it is chosen nor behind the end of what chooses it.
            free &= !(mentions(stmt, &choice.name) && (changed || *at < choice.at));
            free &= !moved.contains(&choice.name);
        }
        free &= !(outside && changed);
        if let ExprKind::Index(array, _) = &choice.value.kind
            && let ExprKind::Name(array) = &array.kind
        {
            free &= !computed.contains(array);
        }
    }
    // Something is computed through the pointers.
    free &= turns.iter().all(|circle| {
        choices.iter().any(|choice| {
            let own = names(&choice.value).iter().any(|name| circle.contains(name));
            own && computed.contains(&choice.name)
        })
    });
    free && rest.iter().all(|stmt| !pointers.iter().any(|name| mentions(stmt, name)))
        && !hides.iter().any(|name| pointers.contains(&name))
}

/// The buffer that a pointer is: of two pointers that an expression chooses from, whose circle is noted, or of an array of pointers.
fn buffer(region: &Region, value: &Expr, turns: &mut Vec<Turns>) -> Option<Expr> {
    if let ExprKind::Index(array, index) = &value.kind {
        let ExprKind::Name(name) = &array.kind else { return None };
        let rows = match &region.variables.get(name)?.ctype {
            CType::Array(inner, _) | CType::Pointer(inner) => matches!(**inner, CType::Pointer(_)),
            _ => false,
        };
        return (rows && is_plain(index)).then(|| value.clone());
    }
    let (condition, x, y) = choice(region, value)?;
    let swapped = turns.iter().any(|own| own[0] == y && own[1] == x);
    let circle = if swapped { vec![y, x] } else { vec![x, y] };
    let part = |kind: ExprKind| Box::new(Expr { kind, span: value.span.clone() });
    let number = |value: i64| part(ExprKind::Integer { value, text: value.to_string() });
    let index = ExprKind::Conditional(Box::new(condition), number(swapped.into()), number((!swapped).into()));
    let array = part(ExprKind::Name(circle[0].clone()));
    if !turns.contains(&circle) {
        turns.push(circle);
    }
    Some(Expr { kind: ExprKind::Index(array, part(index)), span: value.span.clone() })
}

fn names(expr: &Expr) -> Vec<String> {
    let mut found = Vec::new();
    expr.walk(&mut |part| {
        if let ExprKind::Name(name) = &part.kind {
            found.push(name.clone());
        }
    });
    found
}

/// `c ? x : y` of two pointers of one type, where `c` is made of integers.
fn choice(region: &Region, value: &Expr) -> Option<(Expr, String, String)> {
    let ExprKind::Conditional(condition, x, y) = &value.kind else { return None };
    let (ExprKind::Name(x), ExprKind::Name(y)) = (&x.kind, &y.kind) else { return None };
    let ctype = |name: &String| region.variables.get(name).map(|one| &one.ctype);
    let numbers =
        |own: &CType| own.depth() > 0 && matches!(own.element(), CType::Integer { .. } | CType::Floating(_));
    let shape = |name: &String| ctype(name).map(pointed_to);
    let pointers = ctype(x).is_some_and(numbers) && shape(x) == shape(y) && x != y;
    (pointers && is_plain(condition)).then(|| ((**condition).clone(), x.clone(), y.clone()))
}

/// Whether an expression only computes with names and integers.
fn is_plain(expr: &Expr) -> bool {
    let mut plain = true;
    expr.walk(&mut |part| {
        plain &= matches!(
            part.kind,
            ExprKind::Name(_)
                | ExprKind::Integer { .. }
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Conditional(..)
        );
        plain &= !matches!(
            part.kind,
            ExprKind::Unary(crate::ast::UnaryOp::Dereference | crate::ast::UnaryOp::Address, _)
        );
    });
    plain
}

/// The statements in which `if (c) { p = x; q = y; } else { p = y; q = x; }` are assignments of choices: `p = c ? x : y;`. The
/// values are names of pointers, or numbers.
pub(super) fn as_choices(region: &Region, list: &[Stmt]) -> Vec<Stmt> {
    let mut found = Vec::new();
    for stmt in list {
        match chosen_by_if(region, stmt)
            .filter(|(names, _)| names.iter().all(|name| chooses(region, list, name)))
        {
            Some((_, own)) => found.extend(own),
            None => found.push(stmt.clone()),
        }
    }
    found
}

/// Whether a name is that of a pointer, or stands in a subscript.
fn chooses(region: &Region, list: &[Stmt], name: &str) -> bool {
    let mut found = region.variables.get(name).is_some_and(|one| one.ctype.depth() > 0);
    for stmt in list {
        stmt.walk_expressions(&mut |part| {
            if let ExprKind::Index(_, index) = &part.kind {
                found |= names(index).iter().any(|own| own == name);
            }
        });
    }
    found
}

/// The names that branches assign, and how they do so by choices.
fn chosen_by_if(region: &Region, stmt: &Stmt) -> Option<(Vec<String>, Vec<Stmt>)> {
    let StmtKind::If(condition, then, Some(otherwise)) = &stmt.kind else { return None };
    let (first, second) = (assignments(then)?, assignments(otherwise)?);
    let used = names(condition);
    if !is_plain(condition) || first.len() != second.len() || first.is_empty() {
        return None;
    }
    let (mut targets, mut found) = (Vec::new(), Vec::new());
    for (target, value) in &first {
        let ExprKind::Name(name) = &target.kind else { return None };
        let own =
            |(other, _): &&(&Expr, &Expr)| matches!(&other.kind, ExprKind::Name(other) if other == name);
        if used.contains(name)
            || first.iter().filter(own).count() != 1
            || second.iter().filter(own).count() != 1
        {
            return None;
        }
        let (_, other) = second.iter().find(own)?;
        let pointer = |name: &String| region.variables.get(name).is_some_and(|one| one.ctype.depth() > 0);
        let plain = |value: &Expr| match &value.kind {
            ExprKind::Name(name) => {
                pointer(name)
                    && !first
                        .iter()
                        .any(|(target, _)| matches!(&target.kind, ExprKind::Name(own) if own == name))
            }
            _ => crate::integer::literal(value).is_some(),
        };
        if !plain(value) || !plain(other) {
            return None;
        }
        let kind = ExprKind::Conditional(
            Box::new(condition.clone()),
            Box::new((*value).clone()),
            Box::new((*other).clone()),
        );
        let value = Expr { kind, span: value.span.clone() };
        let kind = ExprKind::Assign(None, Box::new((*target).clone()), Box::new(value));
        let assign = Expr { kind, span: stmt.span.clone() };
        found.push(Stmt { kind: StmtKind::Expr(assign), span: stmt.span.clone() });
        targets.push(name.clone());
    }
    Some((targets, found))
}

/// The plain assignments that a statement consists of.
fn assignments(stmt: &Stmt) -> Option<Vec<(&Expr, &Expr)>> {
    match &stmt.kind {
        StmtKind::Block(list) => {
            let parts: Option<Vec<_>> = list.iter().map(assignments).collect();
            Some(parts?.concat())
        }
        StmtKind::Empty => Some(Vec::new()),
        StmtKind::Expr(expr) => parts(expr),
        _ => None,
    }
}

fn parts(expr: &Expr) -> Option<Vec<(&Expr, &Expr)>> {
    match &expr.kind {
        ExprKind::Comma(left, right) => Some([parts(left)?, parts(right)?].concat()),
        ExprKind::Assign(None, target, value) => Some(vec![(&**target, &**value)]),
        _ => None,
    }
}
