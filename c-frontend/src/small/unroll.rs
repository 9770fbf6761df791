//! Loops that are written out, round by round.

use crate::ast::{BinaryOp, Expr, ExprKind, ForLoop, Stmt, StmtKind, Variable};
use crate::integer::literal;
use std::collections::{HashMap, HashSet};

/// Most rounds of one loop.
const MOST_ROUNDS: i64 = 64;
/// Most expressions of a region that is written out.
const MOST_EXPRESSIONS: usize = 100_000;

/// Writes out the loops whose indices `chosen` finds in an expression. `None` where that becomes too long.
pub(super) fn unrolled(
    statements: &mut [Stmt],
    chosen: &dyn Fn(&Expr) -> HashSet<String>,
    variables: &HashMap<String, Variable>,
) -> Option<()> {
    let mut size = 0;
    statements.iter_mut().try_for_each(|stmt| unroll(stmt, chosen, variables, &mut size))
}

fn unroll(
    stmt: &mut Stmt,
    chosen: &dyn Fn(&Expr) -> HashSet<String>,
    variables: &HashMap<String, Variable>,
    size: &mut usize,
) -> Option<()> {
    let mut below = |stmt: &mut Stmt| unroll(stmt, chosen, variables, size);
    match &mut stmt.kind {
        StmtKind::Block(list) => return list.iter_mut().try_for_each(below),
        StmtKind::If(_, then, otherwise) => {
            below(then)?;
            return otherwise.iter_mut().try_for_each(|stmt| below(stmt));
        }
        StmtKind::While(source) => return below(&mut source.body),
        StmtKind::For(_) => {}
        _ => return Some(()),
    }
    let StmtKind::For(source) = &stmt.kind else { return Some(()) };
    let Some(rounds) = Rounds::of(source, variables).filter(|rounds| {
        let mut named = false;
        source.body.walk_expressions(&mut |expr| named |= chosen(expr).contains(&rounds.index));
        named
    }) else {
        let StmtKind::For(source) = &mut stmt.kind else { return Some(()) };
        return unroll(&mut source.body, chosen, variables, size);
    };
    let mut own = 0;
    source.body.walk_expressions(&mut |_| own += 1);
    *size += own * rounds.values.len();
    if *size > MOST_EXPRESSIONS {
        return None;
    }
    let mut list = Vec::new();
    for value in &rounds.values {
        let mut body = source.body.clone();
        body.walk_expressions_mut(&mut |part| {
            if matches!(&part.kind, ExprKind::Name(name) if *name == rounds.index) {
                part.kind = number(*value);
            }
        });
        // All rounds stand at the loop's place.
        list.push(Stmt { kind: StmtKind::Block(vec![body]), span: stmt.span.clone() });
    }
    if !rounds.declared {
        let span = stmt.span.clone();
        let made = |kind| Expr { kind, span: span.clone() };
        let end = Box::new(made(number(rounds.end)));
        let kind = ExprKind::Assign(None, Box::new(made(ExprKind::Name(rounds.index.clone()))), end);
        list.push(Stmt { kind: StmtKind::Expr(made(kind)), span: span.clone() });
    }
    stmt.kind = StmtKind::Block(list);
    unroll(stmt, chosen, variables, size)
}

fn number(value: i64) -> ExprKind {
    let literal = |value: i64| ExprKind::Integer { value, text: value.to_string() };
    match value {
        ..0 => {
            let inner = Expr { kind: literal(-value), span: 0..0 };
            ExprKind::Unary(crate::ast::UnaryOp::Minus, Box::new(inner))
        }
        _ => literal(value),
    }
}

/// The rounds of a loop that is known before it runs.
struct Rounds {
    index: String,
    declared: bool,
    values: Vec<i64>,
    /// What the index holds behind the loop.
    end: i64,
}

impl Rounds {
    fn of(source: &ForLoop, variables: &HashMap<String, Variable>) -> Option<Rounds> {
        let known = |expr: &Expr| match &expr.kind {
            ExprKind::Name(name) => {
                let one = variables.get(name).filter(|one| one.constant)?;
                literal(one.value.as_ref()?)
            }
            _ => literal(expr),
        };
        let (index, first, declared) = match &source.start.as_ref()?.kind {
            StmtKind::Declaration(list) => match list.as_slice() {
                [one] if is_int(&one.ctype) => (one.name.clone(), known(one.value.as_ref()?)?, true),
                _ => return None,
            },
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => match &target.kind {
                ExprKind::Name(name) if variables.get(name).is_some_and(|one| is_int(&one.ctype)) => {
                    (name.clone(), known(value)?, false)
                }
                _ => return None,
            },
            _ => return None,
        };
        let is_index = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(name) if *name == index);
        let by = match &source.step.as_ref()?.kind {
            ExprKind::Step(by, target) if is_index(target) => *by,
            ExprKind::Assign(Some(operator), target, value) if is_index(target) => match operator {
                BinaryOp::Add => known(value)?,
                BinaryOp::Sub => -known(value)?,
                _ => return None,
            },
            _ => return None,
        };
        let ExprKind::Binary(operator, left, right) = &source.condition.as_ref()?.kind else { return None };
        if !is_index(left) || by == 0 || by.abs() > MOST_ROUNDS {
            return None;
        }
        let bound = known(right)?;
        let goes_on = |at: i64| match operator {
            BinaryOp::Less => at < bound,
            BinaryOp::LessEqual => at <= bound,
            BinaryOp::Greater => at > bound,
            BinaryOp::GreaterEqual => at >= bound,
            BinaryOp::NotEqual => at != bound,
            _ => false,
        };
        let (mut at, mut values) = (first, Vec::new());
        while goes_on(at) {
            if values.len() as i64 >= MOST_ROUNDS || at.abs() > i64::from(i32::MAX / 2) {
                return None;
            }
            values.push(at);
            at += by;
        }
        let mut plain = true;
        source.body.walk(&mut |part| match &part.kind {
            StmtKind::Other(..) | StmtKind::Return(_) => plain = false,
            StmtKind::Declaration(list) => plain &= list.iter().all(|one| one.name != index),
            _ => {}
        });
        source.body.walk_expressions(&mut |part| match &part.kind {
            ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) => plain &= !is_index(target),
            ExprKind::Unary(crate::ast::UnaryOp::Address, inner) => plain &= !is_index(inner),
            ExprKind::Other(_, text) => plain &= !crate::preprocess::words(text).contains(index.as_str()),
            _ => {}
        });
        plain.then_some(Rounds { index, declared, values, end: at })
    }
}

/// Literals have the type `int`.
fn is_int(ctype: &crate::ast::CType) -> bool {
    matches!(ctype, crate::ast::CType::Integer { name, unsigned: false } if name == "int")
}
