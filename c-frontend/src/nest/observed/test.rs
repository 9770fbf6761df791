//! Tests of a maximum in every step, such as `while (error > tolerance)`.
//!
//! Let `m` be the largest `d(x)` over all points `x` of a step, and let the loop stop where `m < c`. If `d(x) >= c` at any
//! point, then `m >= c`, and the loop goes on: comparisons are monotone, as conversions to `m`'s type are. So each point
//! keeps, beside the arrays, a number with one bit for each step of a block, which is set where `d(x) >= c`. A step whose bit
//! is set at some point goes on for certain. Where it is not, the block is rolled back, the steps before it run again, and it
//! runs as it is written, which decides.
//!
//! A `d(x)` that is no number is never greater than anything: `if (d > m) m = d;` and `fmax` pass it over. Where it may be taken, as by
//! `m > d ? m : d`, which forgets what was there before, and by sums, it makes the point's number none, and nothing is certain.
//!
//! A sum of values that cannot be negative is no less than any of them, rounded as it is: additions are monotone. So a test of
//! a sum, or of its square root, is kept in the same way; a single point is seldom enough when the sum becomes small, and
//! then steps run as they are written.

use super::bits::{Keeps, number_in, replace, sides};
use super::flag::{self, Flag};
use super::grows::{grows_with, scales};
use super::maximum::{Maximum, maximum, stmt_declares};
use super::names;
use super::parts::Test;
use super::signs::{as_integers, same};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Floating, Stmt, StmtKind, UnaryOp, Variable};
use crate::integer::literal;
use crate::nest::colours;
use crate::nest::scalars::{assigned, assigned_within, declared};
use crate::nest::time::{Found, Loop};
use crate::parse::Region;
use std::collections::HashSet;

/// Most tests of one loop.
const MOST_TESTS: usize = 4;

/// The tests of a body, and its statements with what keeps the bits.
pub(super) fn find(
    region: &mut Region,
    found: &Found<'_>,
    list: &[Stmt],
    without: &[Expr],
) -> (Vec<Stmt>, Vec<Test>) {
    let mut asked = Vec::new();
    match found.source {
        Loop::For(source) => {
            source
                .condition
                .iter()
                .for_each(|condition| comparisons(condition, true, list.len(), &mut asked));
        }
        Loop::While(source) => comparisons(&source.condition, true, list.len(), &mut asked),
    }
    for (at, stmt) in list.iter().enumerate() {
        if let StmtKind::If(condition, ..) = &stmt.kind {
            comparisons(condition, false, at, &mut asked);
        }
    }
    let mut changed: HashSet<String> = HashSet::new();
    for stmt in list.iter().filter(|stmt| !matches!(stmt.kind, StmtKind::If(..))) {
        let (arrays, scalars) = assigned(stmt);
        changed.extend(arrays.into_iter().chain(scalars).chain(names::indices(stmt)));
        changed.extend(declared(std::slice::from_ref(stmt)));
    }
    if let Loop::For(source) = found.source {
        let step = source.step.iter().chain(source.start.iter().filter_map(|start| match &start.kind {
            StmtKind::Expr(expr) => Some(expr),
            _ => None,
        }));
        step.for_each(|expr| changed.extend(names::of(expr)));
    }
    let mut tests: Vec<Test> = Vec::new();
    let mut replaced: Vec<(usize, usize, Vec<Stmt>)> = Vec::new();
    let mut flags: Vec<(Flag<'_>, Variable, Stmt)> = Vec::new();
    for (comparison, inverted, place) in asked.into_iter().filter(|(one, ..)| !without.contains(*one)) {
        if let Some(flag) = flag::find(region, list, (comparison, inverted), place) {
            let span = &list[flag.at].span;
            let zero = Expr {
                kind: ExprKind::Floating { text: "0.0".to_owned(), kind: Floating::Double },
                span: span.clone(),
            };
            let (number, kind) = (tests.len(), Floating::Double);
            let (array, bits) = names_of(number);
            let (operator, limit) = (BinaryOp::Greater, &zero);
            let keeps = Keeps {
                number,
                kind,
                array: &array,
                bits: &bits,
                operator,
                limit,
                scale: &[],
                spoilt: false,
                sum: false,
                span,
            };
            let Some(sides) = sides(&flag.loops, 1).filter(|_| number < MOST_TESTS) else { continue };
            let (local, kept) = (keeps.local(&zero), keeps.kept(&flag.loops, &sides));
            tests.push(keeps.test(region, (comparison, inverted), (flag.at, &flag.name)));
            flags.push((flag, local, kept));
            continue;
        }
        let Some((tested, operator, limit)) = small(region, comparison, inverted, &changed) else { continue };
        let Some(name) = grows_with(region, &changed, tested) else { continue };
        let Some(kind) = floating(region, list, name) else { continue };
        // The square root of a `float` is compared as a `double`.
        if kind == Floating::Float && !is_single(region, tested) {
            continue;
        }
        let Some((maximum, value, scale)) = followed(region, list, (tested, name), place, &changed) else {
            continue;
        };
        if tests.len() >= MOST_TESTS
            || !names::only_reads(region, limit)
            || !names::only_reads(region, &value)
        {
            continue;
        }
        // Passes in colours must stay alike: each of them keeps bits of its own points, or none does.
        let alike =
            !maximum.before.is_empty() && maximum.before.iter().all(|(.., of)| same(of, maximum.value));
        let (sides, by_two) = match (sides(&maximum.loops, 1), sides(&maximum.loops, 2)) {
            (Some(sides), _) => (sides, false),
            (None, Some(sides)) if alike => (sides, true),
            _ => continue,
        };
        let places = maximum.before.iter().map(|(at, stmt, _)| (*at, *stmt));
        let places: Option<Vec<(usize, usize)>> = places
            .chain([(maximum.at, maximum.statement)])
            .map(|(at, stmt)| Some((at, number_in(&list[at], stmt)?)))
            .collect();
        let Some(mut places) = places else { continue };
        let number = tests.len();
        let (array, bits) = names_of(number);
        let keeps = Keeps {
            number,
            kind,
            array: &array,
            bits: &bits,
            operator,
            limit,
            scale: &scale,
            spoilt: maximum.spoilt,
            sum: maximum.sum,
            span: &maximum.statement.span,
        };
        let kept = |value: &Expr| {
            let kind = StmtKind::Declaration(vec![keeps.local(value)]);
            vec![Stmt { kind, span: maximum.statement.span.clone() }, keeps.kept(&maximum.loops, &sides)]
        };
        let mut statements = kept(&value);
        let test = keeps.test(region, (comparison, inverted), (maximum.at, &maximum.name));
        // Those whose conditions ask for the colour are passes, too.
        let every = by_two || (alike && are_passes(region, list, &test, &places, &statements));
        if !every {
            // Where those before may leave no number, their points would have to say so, too.
            if maximum.spoilt && !maximum.before.is_empty() {
                let Some(value) = watched(&list[maximum.at], &maximum, value) else { continue };
                statements = kept(&value);
            }
            places.drain(..places.len() - 1);
        }
        for place in places {
            match replaced.iter_mut().find(|(at, own, _)| (*at, *own) == place) {
                Some((_, _, known)) => known.extend(statements.clone()),
                None => replaced.push((place.0, place.1, statements.clone())),
            }
        }
        tests.push(test);
    }
    let mut tested = list.to_vec();
    put(&mut tested, replaced);
    for (flag, local, kept) in &flags {
        flag.note(&mut tested[flag.at], local, kept);
    }
    (tested, tests)
}

/// `a == a ? d : a`, where `a` is what the statements directly before take into the same sum: nothing is certain where that is no
/// number. `None` where they stand elsewhere.
fn watched(stmt: &Stmt, maximum: &Maximum<'_>, mut value: Expr) -> Option<Expr> {
    let is = |stmt: &Stmt, other: &Stmt| std::ptr::eq(stmt, other);
    let mut together = false;
    stmt.walk(&mut |part| {
        let StmtKind::Block(list) = &part.kind else { return };
        let Some(at) = list.iter().position(|one| is(one, maximum.statement)) else { return };
        let before = at.checked_sub(maximum.before.len()).map(|from| &list[from..at]);
        together |= before.is_some_and(|before| {
            before.iter().all(|one| maximum.before.iter().any(|(_, other, _)| is(one, other)))
        });
    });
    if !together {
        return None;
    }
    for (_, _, of) in &maximum.before {
        let span = of.span.clone();
        let made = |kind| Box::new(Expr { kind, span: span.clone() });
        let of = || Box::new(as_integers((*of).clone()));
        let number = made(ExprKind::Binary(BinaryOp::Equal, of(), of()));
        value = Expr { kind: ExprKind::Conditional(number, Box::new(value), of()), span: span.clone() };
    }
    Some(value)
}

/// Puts statements in their places, each by its number in a statement of the list.
fn put(list: &mut [Stmt], mut replaced: Vec<(usize, usize, Vec<Stmt>)>) {
    // From the last one on: what is put in their places changes the numbers of those behind.
    replaced.sort_by_key(|(at, statement, _)| std::cmp::Reverse((*at, *statement)));
    for (at, statement, statements) in replaced {
        replace(&mut list[at], statement, &statements);
    }
}

/// Whether the loops of a step, with bits of a test in all these places, are passes over the points of colours.
fn are_passes(region: &Region, list: &[Stmt], test: &Test, places: &[(usize, usize)], bits: &[Stmt]) -> bool {
    let mut loops = list.to_vec();
    put(&mut loops, places.iter().map(|(at, number)| (*at, *number, bits.to_vec())).collect());
    loops.retain(|stmt| matches!(stmt.kind, StmtKind::For(_)));
    let span = test.stops.span.clone();
    let body = Stmt { kind: StmtKind::Block(loops), span };
    colours::find(region, &body, std::slice::from_ref(test)).is_some()
}

/// The names of a test's arrays: of the steps in which points keep the loop going, and of the steps' bits.
fn names_of(number: usize) -> (String, String) {
    (format!("tw_seen{number}"), format!("tw_bits{number}"))
}

/// The comparisons that decide, with whether what they decide happens where they do not hold, and where they stand.
fn comparisons<'a>(condition: &'a Expr, inverted: bool, at: usize, found: &mut Vec<(&'a Expr, bool, usize)>) {
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, operand) => comparisons(operand, !inverted, at, found),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
            comparisons(left, inverted, at, found);
            comparisons(right, inverted, at, found);
        }
        ExprKind::Binary(..) | ExprKind::Name(_) => found.push((condition, inverted, at)),
        _ => {}
    }
}

/// `m < c`, `sqrt(m) < c` or the like: what is compared of the maximum, how a value is compared that keeps the loop going, and
/// with what.
fn small<'a>(
    region: &Region,
    comparison: &'a Expr,
    inverted: bool,
    changed: &HashSet<String>,
) -> Option<(&'a Expr, BinaryOp, &'a Expr)> {
    use BinaryOp::{Greater, GreaterEqual, Less, LessEqual};
    let ExprKind::Binary(operator, left, right) = &comparison.kind else { return None };
    let mirrored = match operator {
        Less => Greater,
        LessEqual => GreaterEqual,
        Greater => Less,
        GreaterEqual => LessEqual,
        _ => return None,
    };
    let changes = |side: &Expr| grows_with(region, changed, side).is_some_and(|name| changed.contains(name));
    let (tested, operator, limit) = match (changes(left), changes(right)) {
        (true, _) => (left, *operator, right),
        (_, true) => (right, mirrored, left),
        _ => return None,
    };
    let goes_on = match (operator, inverted) {
        (Less, false) => GreaterEqual,
        (LessEqual, false) => Greater,
        (Greater, true) => Greater,
        (GreaterEqual, true) => GreaterEqual,
        _ => return None,
    };
    names::of(limit).is_disjoint(changed).then_some((tested, goes_on, limit))
}

/// Whether a value of a `float` is one itself.
fn is_single(region: &Region, value: &Expr) -> bool {
    let kept = |by: &Expr| match &by.kind {
        ExprKind::Integer { .. } | ExprKind::Floating { kind: Floating::Float, .. } => true,
        ExprKind::Name(name) => region
            .variables
            .get(name)
            .is_some_and(|one| matches!(one.ctype, CType::Integer { .. } | CType::Floating(Floating::Float))),
        _ => literal(by).is_some(),
    };
    match &value.kind {
        ExprKind::Name(_) => true,
        ExprKind::Binary(BinaryOp::Div, inner, by) => is_single(region, inner) && kept(by),
        _ => false,
    }
}

fn floating(region: &Region, list: &[Stmt], name: &str) -> Option<Floating> {
    let own = list.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Declaration(variables) => variables.iter().find(|one| one.name == name),
        _ => None,
    });
    match own.or_else(|| region.variables.get(name))?.ctype {
        CType::Floating(kind @ (Floating::Float | Floating::Double)) => Some(kind),
        _ => None,
    }
}

/// The maximum or sum that what is tested comes from by assignments of the body before a place, `b = (double)a; c = sqrt(b);`,
/// the value that would be tested if there were one point alone, and what it is scaled by.
fn followed<'a>(
    region: &Region,
    list: &'a [Stmt],
    (tested, name): (&'a Expr, &str),
    mut place: usize,
    changed: &HashSet<String>,
) -> Option<(Maximum<'a>, Expr, Vec<Expr>)> {
    let kind = floating(region, list, name)?;
    let mut name = name.to_owned();
    let mut steps: Vec<(Expr, String, Floating)> = vec![(tested.clone(), name.clone(), kind)];
    let mut scale = Vec::new();
    scales(region, changed, tested, &mut scale);
    let mut passed: Vec<String> = Vec::new();
    while steps.len() < MOST_STEPS {
        let assigns = |stmt: &Stmt| {
            stmt_declares(stmt, &name) + assigned_within(stmt).iter().filter(|(own, _)| *own == name).count()
        };
        let Some(at) = list[..place].iter().rposition(|stmt| assigns(stmt) > 0) else { break };
        let value = match &list[at].kind {
            StmtKind::Expr(Expr { kind: ExprKind::Assign(operator, target, value), span })
                if target.is_name(&name) =>
            {
                match operator {
                    None => (**value).clone(),
                    Some(operator) => {
                        let kind = ExprKind::Binary(*operator, target.clone(), value.clone());
                        Expr { kind, span: span.clone() }
                    }
                }
            }
            _ => break,
        };
        let Some(of) = grows_with(region, changed, &value).map(str::to_owned) else { break };
        scales(region, changed, &value, &mut scale);
        steps.push((value, of.clone(), floating(region, list, &name)?));
        passed.push(std::mem::replace(&mut name, of));
        place = at;
    }
    let again = passed.iter().filter(|own| **own == name).count();
    let statements: Vec<&Stmt> = list.iter().collect();
    let maximum = maximum(region, &statements, &name, again).filter(|maximum| maximum.at < place)?;
    let (mut value, mut kind) = (as_integers(maximum.value.clone()), floating(region, list, &name)?);
    // A `double` that `fmaxf` rounds may end up below what one point alone is compared as.
    if maximum.single && kind == Floating::Double {
        return None;
    }
    for (step, of, next) in steps.iter().rev() {
        let own = ExprKind::Cast(CType::Floating(kind), Box::new(value));
        value = step.clone();
        value.walk_mut(&mut |part| {
            if part.is_name(of) {
                part.kind = own.clone();
            }
        });
        kind = *next;
    }
    Some((maximum, value, scale))
}

/// Most assignments between a maximum and its test.
const MOST_STEPS: usize = 8;
