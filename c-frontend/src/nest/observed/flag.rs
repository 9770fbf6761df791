//! Tests of a flag or a count in every step, such as `while (changed)` or `if (moved == 0) break;`.
//!
//! A step begins with a literal, and some points set the flag to another one, or add to the count. If the loop goes on with
//! what a point leaves, it goes on for certain wherever one does: a flag is set to one value only, and what only grows from
//! zero stays positive. So each point keeps a bit for each step in which it does, as in tests of maxima (see [`super::test`]).

use super::maximum::stmt_declares;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, Stmt, StmtKind, UnaryOp, Variable};
use crate::integer::{IntType, literal};
use crate::nest::scalars::assigned_within;
use crate::parse::Region;

/// A flag or a count: in which statement of the body and by which loops points set it.
pub(super) struct Flag<'a> {
    pub at: usize,
    pub loops: Vec<&'a ForLoop>,
    pub name: String,
    /// What it begins with in a step.
    starts: i64,
}

/// What a point does with it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Leaves {
    /// It is set to a literal.
    Value(i64),
    /// Something positive is added.
    More,
    /// What is 0 becomes 1.
    One,
}

/// The flag that a condition asks for; the loop stops where that holds, or, `inverted`, where it does not.
pub(super) fn find<'a>(
    region: &Region,
    list: &'a [Stmt],
    (condition, inverted): (&Expr, bool),
    mut place: usize,
) -> Option<Flag<'a>> {
    let mut name = asked(condition)?.to_owned();
    let mut types = vec![own_type(region, list, &name)?];
    // `changed = changed_2;` where a function returns it.
    while types.len() < MOST_COPIES {
        let sets = |stmt: &Stmt| {
            stmt_declares(stmt, &name) > 0 || assigned_within(stmt).iter().any(|(own, _)| *own == name)
        };
        let Some(at) = list[..place].iter().rposition(sets) else { break };
        let Some(of) = copied(&list[at], &name) else { break };
        // Nothing else assigns the copy in a step.
        if count(list, &name) != 1 + usize::from(begins_with_literal(&list[..at], &name)) {
            return None;
        }
        types.push(own_type(region, list, of)?);
        (name, place) = (of.to_owned(), at);
    }
    let (mut known, mut starts) = (0, None);
    let mut found: Vec<(Flag<'a>, Leaves)> = Vec::new();
    for (at, stmt) in list.iter().enumerate() {
        match first_value(stmt, &name) {
            Some(value) => {
                // What is set anew behind its loops says nothing of them.
                if !found.is_empty() {
                    return None;
                }
                known += 1;
                starts = value.or(starts);
            }
            None => {
                if let StmtKind::For(_) = &stmt.kind {
                    let before = found.len();
                    sets(stmt, (&name, at), &mut Vec::new(), &mut found);
                    known += found.len() - before;
                }
            }
        }
    }
    let leaves = found.first()?.1;
    let same = found.iter().all(|(_, other)| *other == leaves);
    if !same || known != count(list, &name) || found.iter().any(|(flag, _)| flag.at >= place) {
        return None;
    }
    let wide = types.iter().all(|own| own.bits >= 32 && !own.unsigned);
    let goes_on = |value: i64| decide(condition, value).map(|holds| holds == inverted);
    let certain = match leaves {
        // Every type has them.
        Leaves::Value(value) => (0..=1).contains(&value) && goes_on(value)?,
        Leaves::One => starts? == 0 && goes_on(1)?,
        Leaves::More => {
            let near = literal_of(condition).unwrap_or(0);
            let values = [1, 2, near - 1, near, near + 1, i64::from(i32::MAX)];
            wide && starts? >= 0
                && values.into_iter().filter(|value| *value > 0).all(|value| goes_on(value) == Some(true))
        }
    };
    // One that nothing begins holds what an earlier step has left.
    let starts = starts.filter(|first| certain && *first >= 0)?;
    let most = found.iter().map(|(flag, _)| flag.loops.len()).max()?;
    let flag = found.into_iter().map(|(flag, _)| flag).rfind(|flag| flag.loops.len() == most)?;
    flag.is_alone(&list[flag.at]).then_some(Flag { starts, ..flag })
}

const MOST_COPIES: usize = 6;

impl Flag<'_> {
    /// Whether its innermost loop is the only one with this head in a statement: a function may be called twice.
    fn is_alone(&self, stmt: &Stmt) -> bool {
        let mut count = 0;
        stmt.walk(&mut |part| count += usize::from(self.is_innermost(part)));
        count == 1
    }

    fn is_innermost(&self, stmt: &Stmt) -> bool {
        let innermost = self.loops.last().map(|source| &source.head);
        matches!(&stmt.kind, StmtKind::For(source) if Some(&source.head) == innermost)
    }

    /// `if (same && a != b) same = 0;`: the first point at which the rest holds sets it, if none has before. So each point asks as
    /// if none had. What else would happen there, at the first point alone, keeps the condition, which is no test then.
    fn ask_at_first(&self, stmt: &mut Stmt) {
        stmt.walk_mut(&mut |part| {
            let only_sets = self.only_sets(part);
            if let StmtKind::If(condition, ..) = &mut part.kind
                && only_sets
            {
                condition.walk_mut(&mut |part| {
                    if part.is_name(&self.name) {
                        part.kind = ExprKind::Integer { value: self.starts, text: self.starts.to_string() };
                    }
                });
            }
        });
    }

    /// Whether a statement sets it, under conditions or not, and does nothing else.
    fn only_sets(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Empty => true,
            StmtKind::Block(list) => list.iter().all(|stmt| self.only_sets(stmt)),
            StmtKind::Expr(expr) => leaves(expr, &self.name).is_some(),
            StmtKind::If(_, then, otherwise) => {
                self.only_sets(then) && otherwise.iter().all(|otherwise| self.only_sets(otherwise))
            }
            _ => false,
        }
    }

    /// Notes in a variable of each point whether it sets the flag; `kept` keeps its bits.
    pub fn note(&self, stmt: &mut Stmt, local: &Variable, kept: &Stmt) {
        stmt.walk_mut(&mut |part| {
            if !self.is_innermost(part) {
                return;
            }
            let StmtKind::For(source) = &mut part.kind else { return };
            let body = &mut source.body;
            self.ask_at_first(body);
            body.walk_mut(&mut |part| {
                if let StmtKind::Expr(expr) = &part.kind
                    && let Some((_, when)) = leaves(expr, &self.name)
                {
                    let note = noted(&local.name, &part.span);
                    part.kind = match when {
                        Some(when) => {
                            let note = Stmt { kind: note, span: part.span.clone() };
                            StmtKind::If(when.clone(), Box::new(note), None)
                        }
                        None => note,
                    };
                }
            });
            let declared = Stmt { kind: StmtKind::Declaration(vec![local.clone()]), span: kept.span.clone() };
            let own = std::mem::replace(&mut body.kind, StmtKind::Empty);
            let own = match own {
                StmtKind::Block(list) => list,
                kind => vec![Stmt { kind, span: body.span.clone() }],
            };
            let list = std::iter::once(declared).chain(own).chain(std::iter::once(kept.clone()));
            body.kind = StmtKind::Block(list.collect());
        });
    }
}

/// `local = 1.0;`
fn noted(local: &str, span: &polyhedral::source::Span) -> StmtKind {
    let made = |kind| Expr { kind, span: span.clone() };
    let one = made(ExprKind::Floating { text: "1.0".to_owned(), kind: crate::ast::Floating::Double });
    let target = made(ExprKind::Name(local.to_owned()));
    StmtKind::Expr(made(ExprKind::Assign(None, Box::new(target), Box::new(one))))
}

/// The scalar that is asked for: `flag`, `flag != 0`, `0 < flag`.
fn asked(condition: &Expr) -> Option<&str> {
    match &condition.kind {
        ExprKind::Name(own) => Some(own),
        ExprKind::Binary(_, left, right) => match (&left.kind, &right.kind) {
            (ExprKind::Name(own), _) if literal(right).is_some() => Some(own),
            (_, ExprKind::Name(own)) if literal(left).is_some() => Some(own),
            _ => None,
        },
        _ => None,
    }
}

fn literal_of(condition: &Expr) -> Option<i64> {
    match &condition.kind {
        ExprKind::Binary(_, left, right) => literal(right).or_else(|| literal(left)),
        _ => None,
    }
}

/// Whether a condition holds where the scalar in it has a value.
fn decide(condition: &Expr, value: i64) -> Option<bool> {
    let of = |expr: &Expr| match &expr.kind {
        ExprKind::Name(_) => Some(value),
        _ => literal(expr),
    };
    match &condition.kind {
        ExprKind::Name(_) => Some(value != 0),
        ExprKind::Binary(operator, left, right) => {
            let (left, right) = (of(left)?, of(right)?);
            Some(match operator {
                BinaryOp::Less => left < right,
                BinaryOp::LessEqual => left <= right,
                BinaryOp::Greater => left > right,
                BinaryOp::GreaterEqual => left >= right,
                BinaryOp::Equal => left == right,
                BinaryOp::NotEqual => left != right,
                _ => return None,
            })
        }
        _ => None,
    }
}

/// The type of an integer of the body, or of one outside.
fn own_type(region: &Region, list: &[Stmt], name: &str) -> Option<IntType> {
    let own = list.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Declaration(variables) => variables.iter().find(|one| one.name == name),
        _ => None,
    });
    IntType::of(&own.or_else(|| region.variables.get(name))?.ctype)
}

/// How often a body assigns or declares a scalar.
fn count(list: &[Stmt], name: &str) -> usize {
    let mut count = 0;
    for stmt in list {
        count += assigned_within(stmt).iter().filter(|(own, _)| own == name).count();
        count += stmt_declares(stmt, name);
    }
    count
}

/// Whether a scalar is set to a literal, once, in the statements before it is set to something else.
fn begins_with_literal(list: &[Stmt], name: &str) -> bool {
    list.iter().filter(|stmt| first_value(stmt, name).is_some()).count() == 1
}

/// `name = literal;`, or its declaration, with a literal or without: what it holds then.
#[allow(clippy::option_option)]
fn first_value(stmt: &Stmt, name: &str) -> Option<Option<i64>> {
    match &stmt.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) if target.is_name(name) => {
            literal(value).map(Some)
        }
        StmtKind::Declaration(own) => {
            let one = own.iter().find(|one| one.name == name)?;
            match &one.value {
                None => Some(None),
                Some(value) => literal(value).map(Some),
            }
        }
        _ => None,
    }
}

/// The scalar whose value a statement assigns to another one.
fn copied<'a>(stmt: &'a Stmt, name: &str) -> Option<&'a str> {
    let mut value = match &stmt.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) if target.is_name(name) => {
            &**value
        }
        // `int changed = step();`
        StmtKind::Declaration(own) => own.iter().find(|one| one.name == name)?.value.as_ref()?,
        _ => return None,
    };
    while let ExprKind::Cast(CType::Integer { .. }, inner) = &value.kind {
        value = inner;
    }
    match &value.kind {
        ExprKind::Name(of) => Some(of),
        _ => None,
    }
}

/// The places within loops where a scalar is set.
fn sets<'a>(
    stmt: &'a Stmt,
    (name, at): (&str, usize),
    loops: &mut Vec<&'a ForLoop>,
    found: &mut Vec<(Flag<'a>, Leaves)>,
) {
    match &stmt.kind {
        StmtKind::Block(list) => list.iter().for_each(|stmt| sets(stmt, (name, at), loops, found)),
        StmtKind::For(source) => {
            loops.push(source);
            sets(&source.body, (name, at), loops, found);
            loops.pop();
        }
        StmtKind::If(_, then, otherwise) => {
            sets(then, (name, at), loops, found);
            otherwise.iter().for_each(|otherwise| sets(otherwise, (name, at), loops, found));
        }
        StmtKind::Expr(expr) => {
            if let Some((leaves, _)) = leaves(expr, name) {
                found.push((Flag { at, loops: loops.clone(), name: name.to_owned(), starts: 0 }, leaves));
            }
        }
        _ => {}
    }
}

/// What an expression leaves in a scalar, and the condition on which it does if it has one of its own: `n++`, `n += 2`, `f = 1`,
/// `n += a != b`, `f |= a != b`.
fn leaves<'a>(expr: &'a Expr, name: &str) -> Option<(Leaves, Option<&'a Expr>)> {
    let positive = |value: &Expr| literal(value).is_some_and(|value| value > 0);
    match &expr.kind {
        ExprKind::Step(1, target) if target.is_name(name) => Some((Leaves::More, None)),
        ExprKind::Assign(operator, target, value) if target.is_name(name) => match operator {
            None => Some((Leaves::Value(literal(value)?), None)),
            Some(BinaryOp::Add) if positive(value) => Some((Leaves::More, None)),
            Some(BinaryOp::BitOr) if literal(value) == Some(1) => Some((Leaves::One, None)),
            Some(operator @ (BinaryOp::Add | BinaryOp::BitOr))
                if is_truth(value) && !value.mentions(name) =>
            {
                let leaves = if *operator == BinaryOp::Add { Leaves::More } else { Leaves::One };
                Some((leaves, Some(value)))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether a value is 0 or 1.
fn is_truth(expr: &Expr) -> bool {
    use BinaryOp::{And, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual, Or};
    match &expr.kind {
        ExprKind::Binary(operator, ..) => {
            matches!(operator, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
        }
        ExprKind::Unary(UnaryOp::Not, _) => true,
        _ => false,
    }
}
