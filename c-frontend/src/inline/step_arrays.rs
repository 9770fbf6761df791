//! Arrays that the statements of each step declare, such as `double next[n][m];`: what they hold is wanted within a step alone, so
//! that the same memory does for all steps. They become arrays of the time loop, which the rewritten program makes itself.

use super::sizes::{is_moved, product, size_of};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Floating, Stmt, StmtKind, UnaryOp, Variable};
use crate::integer::literal;
use crate::nest::assigned;
use crate::parse::File;
use crate::text::type_text;
use polyhedral::source::Span;
use std::collections::HashMap;

/// Takes the declarations of arrays out of the body of a loop, and adds them to the variables.
///
/// `small`: also those that may be the values of one point.
pub(super) fn taken_out(
    statements: &mut [Stmt],
    file: &File<'_>,
    variables: &mut HashMap<String, Variable>,
    small: bool,
) -> Vec<Variable> {
    let mut changed = Vec::new();
    let mut declared: HashMap<String, usize> = HashMap::new();
    for stmt in statements.iter() {
        changed.extend(assigned(stmt).1);
        stmt.walk(&mut |part| {
            let mut note = |list: &[Variable]| {
                list.iter().for_each(|one| *declared.entry(one.name.clone()).or_default() += 1);
            };
            match &part.kind {
                StmtKind::Declaration(list) => note(list),
                StmtKind::For(source) => {
                    if let Some(StmtKind::Declaration(list)) = source.start.as_ref().map(|start| &start.kind)
                    {
                        note(list);
                    }
                }
                _ => {}
            }
        });
    }
    let wanted = |one: &Variable, variables: &HashMap<String, Variable>| {
        let known = |name: &String| {
            let own = variables.get(name).filter(|own| matches!(own.ctype, CType::Integer { .. }));
            // Nothing changes it, also where nobody sees it.
            own.is_some_and(|own| file.is_seen(own))
                && !changed.contains(name)
                && !declared.contains_key(name)
        };
        !one.global
            && !one.constant
            && one.value.is_none()
            && declared.get(&one.name) == Some(&1)
            && !variables.contains_key(&one.name)
            && matches!(one.ctype, CType::Array(..))
            && (small || !is_small(&one.ctype))
            && is_known(&one.ctype, &known)
    };
    let mut found = Vec::new();
    for stmt in statements {
        let body = match &mut stmt.kind {
            StmtKind::For(source) => &mut source.body,
            StmtKind::While(source) => &mut source.body,
            _ => continue,
        };
        let before = found.len();
        if let StmtKind::Block(list) = &mut body.kind {
            take(list, None, &|one| wanted(one, variables), &mut found);
        }
        // A loop whose body is a call and nothing else.
        let outside = |one: &&mut Variable| one.span.start < stmt.span.start || stmt.span.end < one.span.end;
        found[before..].iter_mut().filter(outside).for_each(|one| one.span = stmt.span.clone());
    }
    for one in &found {
        variables.insert(one.name.clone(), one.clone());
    }
    found
}

/// Takes declarations out of a block and of those in it, which each step comes to once. Their place becomes that of the statement of the
/// step that they belong to: `around`, within one.
fn take(
    list: &mut Vec<Stmt>,
    around: Option<&Span>,
    wanted: &dyn Fn(&Variable) -> bool,
    found: &mut Vec<Variable>,
) {
    for stmt in list.iter_mut() {
        let span = around.unwrap_or(&stmt.span).clone();
        match &mut stmt.kind {
            StmtKind::Block(inner) => take(inner, Some(&span), wanted, found),
            StmtKind::Declaration(own) => {
                for one in std::mem::take(own) {
                    if wanted(&one) {
                        found.push(Variable { span: span.clone(), ..one });
                    } else {
                        own.push(one);
                    }
                }
            }
            _ => {}
        }
    }
    list.retain(|stmt| !matches!(&stmt.kind, StmtKind::Declaration(own) if own.is_empty()));
}

/// Most elements of an array that holds the values of one point.
const MOST_OF_A_POINT: i64 = 32;

/// Whether an array has so few elements that they may be the values of one point, from point to point.
fn is_small(ctype: &CType) -> bool {
    let (mut elements, mut at) = (1_i64, ctype);
    while let CType::Array(inner, extent) = at {
        match extent.as_deref().and_then(literal) {
            Some(extent) => elements = elements.saturating_mul(extent),
            None => return false,
        }
        at = inner;
    }
    elements <= MOST_OF_A_POINT
}

/// Whether an array is one of numbers, whose extents are sums and products of integers that are known before the loop.
fn is_known(ctype: &CType, known: &dyn Fn(&String) -> bool) -> bool {
    match ctype {
        CType::Array(inner, Some(extent)) => is_number(extent, known) && is_known(inner, known),
        CType::Floating(Floating::Float | Floating::Double) | CType::Integer { .. } => true,
        _ => false,
    }
}

fn is_number(expr: &Expr, known: &dyn Fn(&String) -> bool) -> bool {
    match &expr.kind {
        ExprKind::Integer { .. } => true,
        ExprKind::Name(name) => known(name),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) => {
            is_number(a, known) && is_number(b, known)
        }
        ExprKind::Unary(UnaryOp::Plus, a) => is_number(a, known),
        _ => false,
    }
}

/// Blocks in which memory is taken and given back, `double *next = malloc(n * sizeof(double)); .. free(next);`, with arrays in its
/// place.
pub(super) fn in_place_of_memory(list: &mut Vec<Stmt>) {
    for stmt in list.iter_mut() {
        match &mut stmt.kind {
            StmtKind::Block(inner) => in_place_of_memory(inner),
            _ => without_memory(stmt),
        }
    }
    let mut names = Vec::new();
    for stmt in list.iter() {
        if let StmtKind::Declaration(own) = &stmt.kind {
            names.extend(own.iter().filter(|one| matches!(one.ctype, CType::Pointer(_))).cloned());
        }
    }
    for one in names {
        if let Some(found) = with_array(list, &one) {
            *list = found;
        }
    }
}

/// The same of the body of a loop.
pub(super) fn without_memory(stmt: &mut Stmt) {
    let body = match &mut stmt.kind {
        StmtKind::For(source) => &mut source.body,
        StmtKind::While(source) => &mut source.body,
        _ => return,
    };
    if let StmtKind::Block(list) = &mut body.kind {
        in_place_of_memory(list);
    }
}

/// A block with an array instead of a pointer to memory that it takes and gives back, where it does nothing else with the pointer.
fn with_array(list: &[Stmt], pointer: &Variable) -> Option<Vec<Stmt>> {
    let CType::Pointer(element) = &pointer.ctype else { return None };
    if !matches!(**element, CType::Floating(Floating::Float | Floating::Double) | CType::Integer { .. }) {
        return None;
    }
    let name = &pointer.name;
    let is_name = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(own) if own == name);
    let (mut found, mut extent, mut freed): (Vec<Stmt>, Option<Expr>, bool) = (Vec::new(), None, false);
    let mut declared = None;
    for stmt in list {
        let mut taken = None;
        match &stmt.kind {
            StmtKind::Declaration(own) if own.iter().any(|one| one.name == *name) => {
                if declared.is_some() {
                    return None;
                }
                declared = Some(found.len());
                let mut own = own.clone();
                for one in own.iter_mut().filter(|one| one.name == *name) {
                    taken = one.value.take();
                }
                found.push(Stmt { kind: StmtKind::Declaration(own), span: stmt.span.clone() });
                if taken.is_none() {
                    continue;
                }
            }
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) if is_name(target) => {
                taken = Some((**value).clone());
            }
            StmtKind::Expr(Expr { kind: ExprKind::Call(function, arguments), .. })
                if matches!(&function.kind, ExprKind::Name(own) if own == "free")
                    && matches!(arguments.as_slice(), [one] if is_name(one)) =>
            {
                extent.as_ref()?;
                freed = true;
                continue;
            }
            _ => {
                if mentions(stmt, name) && (extent.is_none() || freed || !touches_elements_alone(stmt, name))
                {
                    return None;
                }
                found.push(stmt.clone());
                continue;
            }
        }
        let (bytes, zeros) = bytes_of(&taken?)?;
        if extent.is_some() || freed {
            return None;
        }
        extent = Some(elements_of(&bytes, element, name)?);
        if zeros {
            let made = |kind| Expr { kind, span: stmt.span.clone() };
            let function = Box::new(made(ExprKind::Name("memset".to_owned())));
            let zero = made(ExprKind::Integer { value: 0, text: "0".to_owned() });
            let array = made(ExprKind::Name(name.clone()));
            let kind = StmtKind::Expr(made(ExprKind::Call(function, vec![array, zero, bytes])));
            found.push(Stmt { kind, span: stmt.span.clone() });
        }
    }
    let StmtKind::Declaration(own) = &mut found.get_mut(declared?)?.kind else { return None };
    for one in own.iter_mut().filter(|one| one.name == *name) {
        one.ctype = CType::Array(element.clone(), Some(Box::new(extent.clone()?)));
    }
    freed.then_some(found)
}

fn mentions(stmt: &Stmt, name: &str) -> bool {
    let mut found = false;
    stmt.walk_expressions(&mut |part| match &part.kind {
        ExprKind::Name(own) => found |= own == name,
        ExprKind::Other(_, text) => found |= crate::preprocess::words(text).contains(name),
        _ => {}
    });
    stmt.walk(&mut |part| match &part.kind {
        StmtKind::Other(_, names) => found |= names.iter().any(|own| own == name),
        StmtKind::Declaration(own) => found |= own.iter().any(|one| one.name == name),
        _ => {}
    });
    found
}

/// Whether a statement does nothing with a pointer but to touch elements of it, or to copy all of them.
fn touches_elements_alone(stmt: &Stmt, name: &str) -> bool {
    let (mut all, mut elements, mut plain) = (0, 0, true);
    let is_name = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(own) if own == name);
    stmt.walk_expressions(&mut |part| match &part.kind {
        ExprKind::Name(_) => all += usize::from(is_name(part)),
        ExprKind::Index(array, _) => elements += usize::from(is_name(array)),
        // Copies of whole arrays become loops.
        ExprKind::Call(function, list) if matches!(&function.kind, ExprKind::Name(own) if is_moved(own)) => {
            elements += list.iter().filter(|one| is_name(one)).count();
        }
        ExprKind::Unary(UnaryOp::Address, _) => {
            let mut within = false;
            part.walk(&mut |part| within |= is_name(part));
            plain &= !within;
        }
        ExprKind::Other(_, text) => plain &= !crate::preprocess::words(text).contains(name),
        _ => {}
    });
    stmt.walk(&mut |part| match &part.kind {
        StmtKind::Other(_, names) => plain &= !names.iter().any(|own| own == name),
        StmtKind::Declaration(own) => plain &= !own.iter().any(|one| one.name == name),
        _ => {}
    });
    plain && all == elements
}

/// The bytes that are taken, and whether they are zero.
fn bytes_of(value: &Expr) -> Option<(Expr, bool)> {
    match &value.kind {
        ExprKind::Cast(_, inner) => bytes_of(inner),
        ExprKind::Call(function, arguments) => match (&function.kind, arguments.as_slice()) {
            (ExprKind::Name(name), [bytes]) if name == "malloc" => Some((bytes.clone(), false)),
            (ExprKind::Name(name), [count, size]) if name == "calloc" => {
                let kind = ExprKind::Binary(BinaryOp::Mul, Box::new(count.clone()), Box::new(size.clone()));
                Some((Expr { kind, span: value.span.clone() }, true))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The number of elements in so many bytes.
fn elements_of(bytes: &Expr, element: &CType, name: &str) -> Option<Expr> {
    let mut factors = Vec::new();
    product(bytes, &mut factors);
    let of = [type_text(element), format!("{name}[0]"), format!("*{name}"), format!("* {name}")];
    let at = factors.iter().position(|factor| size_of(factor).is_some_and(|text| of.contains(&text)))?;
    factors.remove(at);
    let span = bytes.span.clone();
    factors.into_iter().reduce(|a, b| Expr {
        kind: ExprKind::Binary(BinaryOp::Mul, Box::new(a), Box::new(b)),
        span: span.clone(),
    })
}
