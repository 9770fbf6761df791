//! Sizes that structures of one type hold alike: `a->ny` and `b->ny` of two grids that a time loop works on.
//!
//! Where the statements leave a member `m` of integer type alone, the same member of other structures of that type is taken for the same
//! number. Whether they are, is asked before the loop, as [`ENDS`]`(a->m != b->m)`: where they are not, the loop runs as it is
//! written. Pointers to them may take turns.

use super::members::member;
use super::rename::assigns_member;
use super::turning::{Turning, turning};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Stmt, StmtKind, UnaryOp, Variable};
use crate::nest::{ENDS, declared};
use crate::parse::Structures;
use crate::text::c_text;
use polyhedral::source::Span;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A number in each structure of a type: the type of what the path starts at, and the members on it.
type Number = (String, Vec<String>);

/// Makes the same numbers in several structures one variable, that of the first of them, and asks whether they are the same.
/// Returns the variables' names: their values lie in memory.
pub(super) fn assumed(
    statements: &mut [Stmt],
    variables: &mut HashMap<String, Variable>,
    structures: &Structures,
) -> Vec<String> {
    let own = declared(statements);
    let mut found: BTreeMap<Number, BTreeMap<String, Expr>> = BTreeMap::new();
    for stmt in statements.iter() {
        stmt.walk_expressions(&mut |expr| {
            if let Some((root, number)) = number(expr, variables, structures, &own) {
                found.entry(number).or_default().entry(root).or_insert_with(|| expr.clone());
            }
        });
    }
    let turning = turning(statements, variables);
    let mut numbers: HashMap<String, String> = HashMap::new();
    let (mut questions, mut names) = (Vec::new(), Vec::new());
    for ((start, path), mut members) in found {
        also_of_turning(&turning, variables, &start, &mut members);
        let changes =
            path.iter().any(|name| assigns_member(statements, name) || assigns_below(statements, name));
        if members.len() < 2 || changes || !stay(statements, variables, &start, &turning) {
            continue;
        }
        let Some((_, ctype)) =
            members.values().next().and_then(|first| member(first, variables, structures, &HashMap::new()))
        else {
            continue;
        };
        let texts: Vec<(String, Span)> =
            members.values().map(|one| (c_text(one, &|_| None), one.span.clone())).collect();
        for ((text, span), root) in texts.iter().zip(members.keys()) {
            let variable = Variable {
                name: text.clone(),
                ctype: ctype.clone(),
                value: None,
                span: span.clone(),
                global: variables.get(root).is_some_and(|root| root.global),
                constant: false,
            };
            variables.insert(text.clone(), variable);
            names.push(text.clone());
            numbers.insert(text.clone(), texts[0].0.clone());
        }
        for pair in texts.windows(2) {
            questions.push(question(&pair[0], &pair[1]));
        }
    }
    if questions.is_empty() {
        return names;
    }
    for stmt in statements.iter_mut() {
        stmt.walk_expressions_mut(&mut |expr| {
            if !matches!(expr.kind, ExprKind::Member(..))
                || number(expr, variables, structures, &own).is_none()
            {
                return;
            }
            if let Some(one) = numbers.get(&c_text(expr, &|_| None)) {
                expr.kind = ExprKind::Name(one.clone());
            }
        });
    }
    statements.iter_mut().for_each(|stmt| ask(stmt, &questions));
    names
}

/// The integer that an expression reads of a structure, and the variable that the structure is reached from.
fn number(
    expr: &Expr,
    variables: &HashMap<String, Variable>,
    structures: &Structures,
    own: &HashSet<String>,
) -> Option<(String, Number)> {
    let (mut at, mut path) = (expr, Vec::new());
    while let ExprKind::Member(object, _, name) = &at.kind {
        path.push(name.clone());
        at = object;
    }
    let ExprKind::Name(root) = &at.kind else { return None };
    let (_, ctype) = member(expr, variables, structures, &HashMap::new())?;
    let start = structure_of(&variables.get(root)?.ctype)?;
    if own.contains(root) || path.is_empty() || !matches!(ctype, CType::Integer { .. }) {
        return None;
    }
    path.reverse();
    Some((root.clone(), (start.to_owned(), path)))
}

/// The type of the structure that a variable is or points to.
fn structure_of(ctype: &CType) -> Option<&str> {
    match ctype {
        CType::Pointer(inner) => match &**inner {
            CType::Other(name) => Some(name),
            _ => None,
        },
        CType::Other(name) => Some(name),
        _ => None,
    }
}

/// Whether statements assign what a member of this name points to: `*a->m = ..`, `a->m[0] = ..`.
fn assigns_below(statements: &[Stmt], name: &str) -> bool {
    let mut found = false;
    for stmt in statements {
        stmt.walk_expressions(&mut |part| {
            let (ExprKind::Assign(_, target, _) | ExprKind::Step(_, target)) = &part.kind else { return };
            let mut at = &**target;
            while let ExprKind::Index(inner, _) | ExprKind::Unary(_, inner) = &at.kind {
                at = inner;
            }
            found |= matches!(&at.kind, ExprKind::Member(_, _, member) if member == name);
        });
    }
    found
}

/// Adds the same number of the structures that pointers lead to which take turns: each step may read any of them.
fn also_of_turning(
    turning: &Turning,
    variables: &HashMap<String, Variable>,
    start: &str,
    members: &mut BTreeMap<String, Expr>,
) {
    let Some((root, first)) = members.first_key_value().map(|(root, first)| (root.clone(), first.clone()))
    else {
        return;
    };
    for pointer in &turning.pointers {
        let of_type = variables.get(pointer).is_some_and(|one| structure_of(&one.ctype) == Some(start));
        if !of_type || members.contains_key(pointer) {
            continue;
        }
        let mut own = first.clone();
        own.walk_mut(&mut |part| {
            if matches!(&part.kind, ExprKind::Name(name) if *name == root) {
                part.kind = ExprKind::Name(pointer.clone());
            }
        });
        // `a.n` of a structure is `p->n` of a pointer.
        let arrow = variables.get(&root).is_some_and(|one| matches!(one.ctype, CType::Pointer(_)));
        if arrow {
            members.insert(pointer.clone(), own);
        } else {
            // Which of them is meant is not said in the same way.
            members.clear();
            return;
        }
    }
}

/// Whether statements leave structures of a type, and pointers to them, as they are, but for pointers that take turns; that its
/// numbers stay is asked of them.
fn stay(statements: &[Stmt], variables: &HashMap<String, Variable>, start: &str, turning: &Turning) -> bool {
    let mut local: HashMap<&str, &CType> = HashMap::new();
    for stmt in statements {
        stmt.walk(&mut |stmt| {
            if let StmtKind::Declaration(list) = &stmt.kind {
                local.extend(list.iter().map(|one| (one.name.as_str(), &one.ctype)));
            }
        });
    }
    // A structure of the type, or what points to one: `a`, `*a`, `a[i]`.
    let holds = |expr: &Expr| {
        let mut at = expr;
        while let ExprKind::Index(inner, _) | ExprKind::Unary(_, inner) = &at.kind {
            at = inner;
        }
        let ExprKind::Name(name) = &at.kind else { return false };
        if matches!(expr.kind, ExprKind::Name(_))
            && (turning.pointers.contains(name) || turning.held.contains(name))
        {
            return false;
        }
        let ctype = local.get(name.as_str()).copied().or_else(|| Some(&variables.get(name)?.ctype));
        ctype.is_some_and(|ctype| matches!(ctype.element(), CType::Other(own) if own == start))
    };
    let mut stay = true;
    for stmt in statements {
        stmt.walk_expressions(&mut |part| match &part.kind {
            ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) => stay &= !holds(target),
            // A pointer to a pointer may be handed to what makes them take turns.
            ExprKind::Unary(UnaryOp::Address, object) => {
                stay &= !matches!(&object.kind, ExprKind::Name(_)) || !holds(object);
            }
            _ => {}
        });
    }
    stay
}

/// `ENDS(a != b)`.
fn question((a, _): &(String, Span), (b, span): &(String, Span)) -> Stmt {
    let made = |kind| Expr { kind, span: span.clone() };
    let named = |name: &str| made(ExprKind::Name(name.to_owned()));
    let differs = made(ExprKind::Binary(BinaryOp::NotEqual, Box::new(named(a)), Box::new(named(b))));
    let asked = made(ExprKind::Call(Box::new(named(ENDS)), vec![differs]));
    Stmt { kind: StmtKind::Expr(asked), span: span.clone() }
}

/// Puts questions at the beginning of the outermost loops of a statement.
fn ask(stmt: &mut Stmt, questions: &[Stmt]) {
    let body = match &mut stmt.kind {
        StmtKind::For(source) => &mut source.body,
        StmtKind::While(source) => &mut source.body,
        StmtKind::Block(list) => return list.iter_mut().for_each(|stmt| ask(stmt, questions)),
        StmtKind::If(_, then, otherwise) => {
            ask(then, questions);
            return otherwise.iter_mut().for_each(|otherwise| ask(otherwise, questions));
        }
        _ => return,
    };
    let mut list = questions.to_vec();
    match std::mem::replace(&mut body.kind, StmtKind::Empty) {
        StmtKind::Block(inner) => list.extend(inner),
        kind => list.push(Stmt { kind, span: body.span.clone() }),
    }
    body.kind = StmtKind::Block(list);
}
