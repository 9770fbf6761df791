//! What stands in the way, where the reason that was met first is only what follows from it.

use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, Stmt, StmtKind, UnaryOp};
use crate::codes;
use crate::nest;
use crate::parse::Region;
use crate::text::c_text;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};

/// The obstacle behind the first reason against a region, if there is one that is nearer to the point.
pub(crate) fn behind(region: &Region, first: &Diagnostic) -> Option<Diagnostic> {
    match first.code {
        codes::LOOP_FORM | codes::OBSERVED | codes::BOUND => {
            first_values_carried(region, first).or_else(|| changes_between_passes(region))
        }
        codes::ARRAY | codes::TYPE => copied_structure(region),
        codes::SUBSCRIPT => flat_to_a_size(region, first),
        _ => None,
    }
}

/// A number that each pass over a colour reads, and that is assigned between passes.
fn changes_between_passes(region: &Region) -> Option<Diagnostic> {
    let pass = nest::pass_among(region)?;
    let mut assigned = Vec::new();
    region.statements.iter().for_each(|stmt| assigned_between(stmt, &mut assigned));
    let (mut read, mut computed) = (HashSet::new(), HashSet::new());
    region.statements.iter().for_each(|stmt| {
        stmt.walk(&mut |part| {
            if let StmtKind::For(source) = &part.kind
                && is_over_space(source)
            {
                computed.extend(nest::assigned(part).1);
                part.walk_expressions(&mut |part| {
                    if let ExprKind::Name(name) = &part.kind {
                        read.insert(name.clone());
                    }
                });
            }
        });
    });
    assigned.retain(|(name, _)| read.contains(name) && !computed.contains(name));
    assigned.retain(|(name, _)| {
        let ctype = region.variables.get(name).map(|variable| &variable.ctype);
        matches!(ctype, Some(CType::Floating(_)))
    });
    let (name, place) = assigned.into_iter().next()?;
    let message =
        format!("`{name}` is assigned between passes over every second point (red-black), which read it");
    Some(
        Diagnostic::limitation(codes::COLOURS, place, message)
            .related(pass, "a pass, which is a time step by itself")
            .note("a time loop over passes holds nothing else that changes what they compute with: the passes of all steps have the same numbers")
            .hint(format!("set `{name}` before the time loop, if one value does for all steps")),
    )
}

fn is_over_space(source: &ForLoop) -> bool {
    source.index().is_some_and(|index| nest::indexes_target(&source.body, index))
}

/// The scalars that a statement assigns outside of loops over space, and where.
fn assigned_between(stmt: &Stmt, list: &mut Vec<(String, Span)>) {
    match &stmt.kind {
        StmtKind::Block(inner) => inner.iter().for_each(|stmt| assigned_between(stmt, list)),
        StmtKind::For(source) if !is_over_space(source) => assigned_between(&source.body, list),
        StmtKind::While(source) => assigned_between(&source.body, list),
        StmtKind::If(_, then, otherwise) => {
            assigned_between(then, list);
            otherwise.iter().for_each(|stmt| assigned_between(stmt, list));
        }
        StmtKind::Expr(expr) => {
            if let Some(name) = scalar_of(expr) {
                list.push((name.to_owned(), expr.span.clone()));
            }
        }
        _ => {}
    }
}

/// The scalar that an expression assigns.
fn scalar_of(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) => match &target.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// Loops by two that begin where an integer says that each row or pass computes of itself, `s = 3 - s`.
fn first_values_carried(region: &Region, first: &Diagnostic) -> Option<Diagnostic> {
    if first.code != codes::LOOP_FORM {
        return None;
    }
    let mut carried = Vec::new();
    let mut note = |part: &Expr| {
        if let ExprKind::Assign(operator, target, value) = &part.kind
            && let ExprKind::Name(name) = &target.kind
            && (operator.is_some() || value.mentions(name))
        {
            carried.push((name.clone(), part.span.clone()));
        }
    };
    region.statements.iter().for_each(|stmt| stmt.walk_expressions(&mut note));
    let (pass, begins) = region.statements.iter().find_map(nest::first_of_pass)?;
    let (name, place) = carried.into_iter().find(|(name, _)| begins.mentions(name))?;
    let message = format!("where passes over every second point (red-black) begin is carried on in `{name}`");
    Some(
        Diagnostic::limitation(codes::COLOURS, place, message)
            .related(pass, "begins there")
            .note("which points a pass computes must follow from the indices of its loops and from literals alone")
            .hint("begin with the parity of the row, as in `j = 1 + (i + colour) % 2`"),
    )
}

/// `a = b` of structures that hold arrays.
fn copied_structure(region: &Region) -> Option<Diagnostic> {
    let mut types: HashMap<&str, &CType> =
        region.variables.iter().map(|(name, variable)| (name.as_str(), &variable.ctype)).collect();
    for stmt in &region.statements {
        stmt.walk(&mut |part| {
            if let StmtKind::Declaration(list) = &part.kind {
                types.extend(list.iter().map(|variable| (variable.name.as_str(), &variable.ctype)));
            }
        });
    }
    // The first member that is an array.
    let array_in = |ctype: &CType| {
        let CType::Other(structure) = ctype else { return None };
        let members = region.structures.get(structure)?;
        let arrays = members.iter().filter(|(_, ctype)| matches!(ctype, CType::Array(..)));
        arrays.map(|(name, _)| name.clone()).min()
    };
    let mut found = None;
    let mut copied = |name: &str, at: &Expr, whole: &Span, text: &str| {
        let reached = match &at.kind {
            ExprKind::Name(name) => types.get(name.as_str()).copied(),
            ExprKind::Unary(UnaryOp::Dereference, pointer) => match &pointer.kind {
                ExprKind::Name(name) => types.get(name.as_str()).and_then(|ctype| match ctype {
                    CType::Pointer(inner) => Some(&**inner),
                    _ => None,
                }),
                _ => None,
            },
            _ => None,
        };
        if let Some(member) = reached.and_then(array_in) {
            let text = format!("`{name} = {text}` copies a structure that holds arrays");
            found.get_or_insert((whole.clone(), text, member));
        }
    };
    let plain = |expr: &Expr| c_text(expr, &|_| None);
    for stmt in &region.statements {
        stmt.walk(&mut |part| match &part.kind {
            StmtKind::Expr(expr) => {
                if let ExprKind::Assign(None, target, value) = &expr.kind {
                    copied(&plain(target), value, &expr.span, &plain(value));
                }
            }
            StmtKind::Declaration(list) => {
                for variable in list {
                    if let Some(value) = &variable.value {
                        copied(&variable.name, value, &variable.span, &plain(value));
                    }
                }
            }
            _ => {}
        });
    }
    let (place, message, member) = found?;
    Some(
        Diagnostic::limitation(codes::TYPE, place, message)
            .note("the arrays of a structure are variables of their own here, which are copied one by one")
            .hint(format!("copy each array, as in `memcpy(a.{member}, b.{member}, sizeof a.{member});`, or let pointers to the structures take turns")),
    )
}

/// A loop over all points of a flattened array whose end is a size by itself, and no product of rows and columns.
fn flat_to_a_size(region: &Region, first: &Diagnostic) -> Option<Diagnostic> {
    let mut found = None;
    for stmt in &region.statements {
        stmt.walk(&mut |part| {
            let StmtKind::For(source) = &part.kind else { return };
            let Some((index, _, limit)) = nest::counted(source) else { return };
            let known = match &limit.kind {
                ExprKind::Name(name) => region.variables.get(name).is_none_or(|one| one.value.is_some()),
                ExprKind::Member(..) => false,
                _ => true,
            };
            let mut inner =
                first.primary.span.start >= part.span.start && first.primary.span.end <= part.span.end;
            // In a function that is called there.
            source.body.walk_expressions(&mut |part| inner |= part.span == first.primary.span);
            if known || !inner || !nest::indexes_target(&source.body, &index) || found.is_some() {
                return;
            }
            let is_index = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(name) if *name == index);
            source.body.walk_expressions(&mut |part| {
                if let ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, left, by) = &part.kind
                    && is_index(left)
                {
                    found.get_or_insert((limit.clone(), part.span.clone(), (**by).clone(), index.clone()));
                }
            });
        });
    }
    let (limit, place, by, index) = found?;
    let plain = |expr: &Expr| c_text(expr, &|_| None);
    let (end, by) = (plain(&limit), plain(&by));
    let message = format!(
        "the loop goes over rows of `{by}` points up to `{end}`, and how many rows that is is not known"
    );
    Some(
        Diagnostic::limitation(codes::BOUND, limit.span, message)
            .related(place, "a row or a column")
            .note("a loop over all points is taken apart where it ends at a product of rows and columns")
            .note(first.message.clone())
            .hint(format!("end it at the product, as in `{index} < rows * {by}`")),
    )
}
