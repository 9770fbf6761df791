//! Tests of a maximum in every step, such as `while (error > tolerance)`.
//!
//! Let `m` be the largest `d(x)` over all points `x` of a step, and let the loop stop where `m < c`. If `d(x) >= c` at any
//! point, then `m >= c`, and the loop goes on: comparisons are monotone, as conversions to `m`'s type are. So each point
//! keeps, beside the arrays, a number with one bit for each step of a block, which is set where `d(x) >= c`. A step whose bit
//! is set at some point goes on for certain. Where it is not, the block is rolled back, the steps before it run again, and it
//! runs as it is written, which decides.
//!
//! A `d(x)` that is no number makes the point's number none, and nothing is certain.
//!
//! A sum of values that cannot be negative is no less than any of them, rounded as it is: additions are monotone. So a test of
//! a sum, or of its square root, is kept in the same way; a single point is seldom enough when the sum becomes small, and
//! then steps run as they are written.

use super::names;
use super::parts::{STEP, Test};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Floating, ForLoop, Stmt, StmtKind, UnaryOp, Variable};
use crate::integer::literal;
use crate::nest::math::math_function;
use crate::nest::scalars::{assigned, assigned_within, declared};
use crate::nest::time::{Found, Loop, counter};
use crate::parse::Region;
use crate::text::{c_text, type_text};
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};

/// Most tests of one loop.
const MOST_TESTS: usize = 4;

/// A maximum, or a sum of what is not negative: where it is computed, and of what.
struct Maximum<'a> {
    sum: bool,
    at: usize,
    statement: &'a Stmt,
    loops: Vec<&'a ForLoop>,
    value: &'a Expr,
}

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
    let mut replaced: Vec<(Span, usize, Vec<Stmt>)> = Vec::new();
    for (comparison, inverted, place) in asked.into_iter().filter(|(one, ..)| !without.contains(*one)) {
        let Some((tested, operator, limit)) = small(region, comparison, inverted, &changed) else { continue };
        let Some(name) = grows_with(region, tested) else { continue };
        let Some(kind) = floating(region, list, name) else { continue };
        // The square root of a `float` is compared as a `double`.
        if kind == Floating::Float && !matches!(tested.kind, ExprKind::Name(_)) {
            continue;
        }
        let Some((maximum, value)) = followed(region, list, (tested, name), place) else { continue };
        if tests.len() >= MOST_TESTS
            || !names::only_reads(region, limit)
            || !names::only_reads(region, &value)
        {
            continue;
        }
        let Some(sides) = sides(&maximum.loops) else { continue };
        let number = tests.len();
        let (array, bits) = (format!("tw_seen{number}"), format!("tw_bits{number}"));
        let keeps = Keeps {
            number,
            kind,
            array: &array,
            bits: &bits,
            operator,
            limit,
            span: &maximum.statement.span,
        };
        let statements = keeps.statements(&value, &maximum.loops, &sides);
        match replaced.iter_mut().find(|(span, at, _)| *span == maximum.statement.span && *at == maximum.at) {
            Some((_, _, known)) => known.extend(statements),
            None => replaced.push((maximum.statement.span.clone(), maximum.at, statements)),
        }
        tests.push(Test {
            at: maximum.at,
            stops: comparison.clone(),
            inverted,
            array: array.clone(),
            bits: bits.clone(),
            ctype: type_text(&CType::Floating(kind)),
            most: if kind == Floating::Float { 22 } else { 48 },
            sides: sides
                .iter()
                .map(|(low, high)| (c_text(low, &|_| None), c_text(high, &|_| None)))
                .collect(),
        });
        let element = CType::Floating(kind);
        declare(region, &array, CType::Pointer(Box::new(element.clone())), &maximum.statement.span);
        declare(region, &bits, CType::Array(Box::new(element), None), &maximum.statement.span);
        let integer = CType::Integer { name: "long".to_owned(), unsigned: false };
        declare(region, "tw_first", integer, &maximum.statement.span);
    }
    let mut tested = list.to_vec();
    for (span, at, statements) in replaced {
        replace(&mut tested[at], &span, &statements);
    }
    (tested, tests)
}

/// The comparisons that decide, with whether what they decide happens where they do not hold, and where they stand.
fn comparisons<'a>(condition: &'a Expr, inverted: bool, at: usize, found: &mut Vec<(&'a Expr, bool, usize)>) {
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, operand) => comparisons(operand, !inverted, at, found),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
            comparisons(left, inverted, at, found);
            comparisons(right, inverted, at, found);
        }
        ExprKind::Binary(..) => found.push((condition, inverted, at)),
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
    let changes = |side: &Expr| grows_with(region, side).is_some_and(|name| changed.contains(name));
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
/// and the value that would be tested if there were one point alone.
fn followed<'a>(
    region: &Region,
    list: &'a [Stmt],
    (tested, name): (&'a Expr, &str),
    mut place: usize,
) -> Option<(Maximum<'a>, Expr)> {
    let kind = floating(region, list, name)?;
    let mut name = name.to_owned();
    let mut steps: Vec<(Expr, String, Floating)> = vec![(tested.clone(), name.clone(), kind)];
    let mut passed: Vec<String> = Vec::new();
    while steps.len() < MOST_STEPS {
        let assigns = |stmt: &Stmt| {
            stmt_declares(stmt, &name) + assigned_within(stmt).iter().filter(|(own, _)| *own == name).count()
        };
        let Some(at) = list[..place].iter().rposition(|stmt| assigns(stmt) > 0) else { break };
        let value = match &list[at].kind {
            StmtKind::Expr(Expr { kind: ExprKind::Assign(operator, target, value), span })
                if is_name(target, &name) =>
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
        let Some(of) = grows_with(region, &value).map(str::to_owned) else { break };
        steps.push((value, of.clone(), floating(region, list, &name)?));
        passed.push(std::mem::replace(&mut name, of));
        place = at;
    }
    let again = passed.iter().filter(|own| **own == name).count();
    let maximum = maximum(region, list, &name, again).filter(|maximum| maximum.at < place)?;
    let (mut value, mut kind) = (maximum.value.clone(), floating(region, list, &name)?);
    for (step, of, next) in steps.iter().rev() {
        let own = ExprKind::Cast(CType::Floating(kind), Box::new(value));
        value = step.clone();
        value.walk_mut(&mut |part| {
            if is_name(part, of) {
                part.kind = own.clone();
            }
        });
        kind = *next;
    }
    Some((maximum, value))
}

/// Most assignments between a maximum and its test.
const MOST_STEPS: usize = 8;

/// The only scalar of the data in a value that never falls where that grows: `m`, `sqrt(m)`, `m / 100`.
fn grows_with<'a>(region: &Region, value: &'a Expr) -> Option<&'a str> {
    match &value.kind {
        ExprKind::Name(name) => {
            let scalar = region.variables.get(name).is_none_or(|one| matches!(one.ctype, CType::Floating(_)));
            scalar.then_some(name.as_str())
        }
        ExprKind::Cast(CType::Floating(_), inner) => grows_with(region, inner),
        ExprKind::Call(function, arguments) => match (&function.kind, arguments.as_slice()) {
            (ExprKind::Name(own), [inner])
                if matches!(own.as_str(), "sqrt" | "sqrtf") && !region.functions.contains_key(own) =>
            {
                grows_with(region, inner)
            }
            _ => None,
        },
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Mul, inner, by) if is_positive(by) => {
            grows_with(region, inner)
        }
        ExprKind::Binary(BinaryOp::Mul, by, inner) if is_positive(by) => grows_with(region, inner),
        _ => None,
    }
}

fn is_positive(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Floating { text, .. } => text.parse::<f64>().is_ok_and(|value| value > 0.0),
        ExprKind::Cast(CType::Floating(_), inner) => is_positive(inner),
        ExprKind::Binary(BinaryOp::Mul, a, b) if is_positive(a) => is_positive(b),
        _ => literal(expr).is_some_and(|value| value > 0),
    }
}

/// Whether a value is never negative, as it is rounded. `local`: what is known of names.
fn is_no_less(region: &Region, expr: &Expr, local: &HashMap<String, bool>) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => local.get(name) == Some(&true),
        ExprKind::Cast(CType::Floating(_), inner) => is_no_less(region, inner, local),
        ExprKind::Binary(BinaryOp::Mul, a, b) if same(a, b) => names::only_reads(region, a),
        ExprKind::Binary(BinaryOp::Mul | BinaryOp::Add, a, b) => {
            is_no_less(region, a, local) && is_no_less(region, b, local)
        }
        ExprKind::Binary(BinaryOp::Div, a, b) => is_no_less(region, a, local) && is_positive(b),
        ExprKind::Call(function, arguments) => match (&function.kind, arguments.as_slice()) {
            (ExprKind::Name(own), [_]) => {
                matches!(own.as_str(), "fabs" | "fabsf") && !region.functions.contains_key(own)
            }
            (ExprKind::Name(own), [_, by]) => {
                own == "pow" && !region.functions.contains_key(own) && is_two(by)
            }
            _ => false,
        },
        _ => is_positive(expr),
    }
}

fn is_two(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Floating { text, .. } => text.parse::<f64>() == Ok(2.0),
        _ => literal(expr) == Some(2),
    }
}

/// Where a scalar becomes the largest of a value over points, or their sum, if that is all that happens to it in a step but for
/// its first value, a literal, and what is known to follow.
fn maximum<'a>(region: &Region, list: &'a [Stmt], name: &str, follow: usize) -> Option<Maximum<'a>> {
    let mut maxima: Vec<Maximum<'a>> = Vec::new();
    let (mut count, mut known, mut starts, mut below) = (0, follow, false, false);
    for (at, stmt) in list.iter().enumerate() {
        count += assigned_within(stmt).iter().filter(|(other, _)| other == name).count();
        // A declaration within hides it.
        count += stmt_declares(stmt, name);
        let before = maxima.len();
        match &stmt.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. })
                if is_name(target, name) && is_number(value) =>
            {
                known += 1;
                starts = true;
                below |= matches!(value.kind, ExprKind::Unary(UnaryOp::Minus, _));
            }
            StmtKind::Declaration(own) => {
                match own.iter().find(|one| one.name == name).map(|one| one.value.as_ref()) {
                    Some(None) => known += 1,
                    Some(Some(value)) if is_number(value) => {
                        known += 1;
                        starts = true;
                        below |= matches!(value.kind, ExprKind::Unary(UnaryOp::Minus, _));
                    }
                    _ => {}
                }
            }
            StmtKind::For(_) if starts => {
                let place = (name, at);
                chains(region, stmt, place, &mut Vec::new(), &mut HashMap::new(), &mut maxima);
            }
            _ => {}
        }
        known += maxima.len() - before;
    }
    // Of several, one is enough; but not of both kinds.
    let sum = maxima.first()?.sum;
    if count != known || maxima.iter().any(|one| one.sum != sum) || (sum && below) {
        return None;
    }
    maxima.pop()
}

fn stmt_declares(stmt: &Stmt, name: &str) -> usize {
    let mut count = 0;
    stmt.walk(&mut |part| {
        if let StmtKind::Declaration(own) = &part.kind {
            count += own.iter().filter(|one| one.name == name).count();
        }
    });
    count
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(other) if other == name)
}

fn is_number(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Floating { .. } | ExprKind::Integer { .. } => true,
        ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, operand) => is_number(operand),
        _ => false,
    }
}

/// `m = fmax(m, d);`, `if (d > m) m = d;`, `m = d > m ? d : m;` or `m += d;` within loops. `local`: whether the values of names
/// are known not to be negative.
fn chains<'a>(
    region: &Region,
    stmt: &'a Stmt,
    (name, at): (&str, usize),
    loops: &mut Vec<&'a ForLoop>,
    local: &mut HashMap<String, bool>,
    found: &mut Vec<Maximum<'a>>,
) {
    let mut add = |value: &'a Expr, loops: &[&'a ForLoop], sum: bool| {
        if !value.mentions(name) {
            found.push(Maximum { sum, at, statement: stmt, loops: loops.to_vec(), value });
        }
    };
    match &stmt.kind {
        StmtKind::Block(list) => {
            for stmt in list {
                chains(region, stmt, (name, at), loops, local, found);
                let value = match &stmt.kind {
                    StmtKind::Declaration(own) => {
                        for one in own {
                            let known =
                                one.value.as_ref().is_some_and(|value| is_no_less(region, value, local));
                            let floating = matches!(one.ctype, CType::Floating(_));
                            local.insert(one.name.clone(), known && floating);
                        }
                        continue;
                    }
                    StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
                        if let ExprKind::Name(own) = &target.kind
                            && let Some(CType::Floating(_)) = region.variables.get(own).map(|one| &one.ctype)
                        {
                            Some((own, value))
                        } else {
                            None
                        }
                    }
                    _ => None,
                };
                let known = value.map(|(own, value)| (own.clone(), is_no_less(region, value, local)));
                local.retain(|own, _| assigned_within(stmt).iter().all(|(other, _)| other != own));
                local.extend(known);
            }
        }
        StmtKind::For(source) => {
            local.retain(|own, _| assigned_within(stmt).iter().all(|(other, _)| other != own));
            loops.push(source);
            let mut own = local.clone();
            chains(region, &source.body, (name, at), loops, &mut own, found);
            loops.pop();
        }
        StmtKind::Expr(Expr { kind: ExprKind::Assign(Some(BinaryOp::Add), target, value), .. })
            if is_name(target, name) && is_no_less(region, value, local) =>
        {
            add(value, loops, true);
        }
        StmtKind::If(condition, then, None) => {
            let assignment = match &then.kind {
                StmtKind::Block(list) => list.as_slice(),
                _ => std::slice::from_ref(&**then),
            };
            if let [
                Stmt {
                    kind: StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }), ..
                },
            ] = assignment
                && is_name(target, name)
                && greater(condition, name).is_some_and(|other| same(other, value))
            {
                add(value, loops, false);
            }
        }
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) if is_name(target, name) => {
            match &value.kind {
                ExprKind::Call(function, arguments) => {
                    let is_fmax = matches!(&function.kind, ExprKind::Name(name)
                        if matches!(name.as_str(), "fmax" | "fmaxf")
                            && math_function(name).is_some()
                            && !region.functions.contains_key(name));
                    match arguments.as_slice() {
                        [a, b] if is_fmax && is_name(a, name) => add(b, loops, false),
                        [a, b] if is_fmax && is_name(b, name) => add(a, loops, false),
                        _ => {}
                    }
                }
                // `m = m + d`
                ExprKind::Binary(BinaryOp::Add, a, b) if is_name(a, name) || is_name(b, name) => {
                    let value = if is_name(a, name) { b } else { a };
                    if is_no_less(region, value, local) {
                        add(value, loops, true);
                    }
                }
                ExprKind::Conditional(condition, then, otherwise) => {
                    // `d > m ? d : m`, or `m > d ? m : d`.
                    let value = if is_name(otherwise, name) { then } else { otherwise };
                    let kept = if is_name(otherwise, name) { otherwise } else { then };
                    let holds = match is_name(otherwise, name) {
                        true => greater(condition, name).is_some_and(|other| same(other, value)),
                        false => less(condition, name).is_some_and(|other| same(other, value)),
                    };
                    if is_name(kept, name) && holds {
                        add(value, loops, false);
                    }
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// What is compared as greater than a name.
fn greater<'a>(condition: &'a Expr, name: &str) -> Option<&'a Expr> {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::Greater | BinaryOp::GreaterEqual, left, right) if is_name(right, name) => {
            Some(left)
        }
        ExprKind::Binary(BinaryOp::Less | BinaryOp::LessEqual, left, right) if is_name(left, name) => {
            Some(right)
        }
        _ => None,
    }
}

/// What is compared as less than a name.
fn less<'a>(condition: &'a Expr, name: &str) -> Option<&'a Expr> {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::Greater | BinaryOp::GreaterEqual, left, right) if is_name(left, name) => {
            Some(right)
        }
        ExprKind::Binary(BinaryOp::Less | BinaryOp::LessEqual, left, right) if is_name(right, name) => {
            Some(left)
        }
        _ => None,
    }
}

/// Whether two expressions are written alike.
fn same(a: &Expr, b: &Expr) -> bool {
    c_text(a, &|_| None) == c_text(b, &|_| None)
}

/// The first index of each loop, and the one behind its last.
fn sides(loops: &[&ForLoop]) -> Option<Vec<(Expr, Expr)>> {
    if loops.is_empty() || loops.len() > 3 {
        return None;
    }
    let mut sides = Vec::new();
    for source in loops {
        let counter = counter(source).ok().filter(|counter| counter.by == 1)?;
        let more = |expr: &Expr, by: i64| {
            let kind =
                ExprKind::Binary(BinaryOp::Add, Box::new(expr.clone()), Box::new(integer(by, &expr.span)));
            if by == 0 { expr.clone() } else { Expr { kind, span: expr.span.clone() } }
        };
        sides.push(match (counter.descending, counter.inclusive) {
            (false, inclusive) => (counter.first, more(&counter.limit, i64::from(inclusive))),
            (true, inclusive) => (more(&counter.limit, i64::from(!inclusive)), more(&counter.first, 1)),
        });
    }
    Some(sides)
}

fn integer(value: i64, span: &Span) -> Expr {
    Expr { kind: ExprKind::Integer { value, text: value.to_string() }, span: span.clone() }
}

/// What keeps the bits of a test.
struct Keeps<'a> {
    number: usize,
    kind: Floating,
    array: &'a str,
    bits: &'a str,
    operator: BinaryOp,
    limit: &'a Expr,
    span: &'a Span,
}

impl Keeps<'_> {
    fn made(&self, kind: ExprKind) -> Expr {
        Expr { kind, span: self.span.clone() }
    }

    fn name(&self, name: &str) -> Expr {
        self.made(ExprKind::Name(name.to_owned()))
    }

    fn binary(&self, operator: BinaryOp, left: Expr, right: Expr) -> Expr {
        self.made(ExprKind::Binary(operator, Box::new(left), Box::new(right)))
    }

    /// `T tw_d = value; seen[x] = seen[x] + (tw_d >= c ? bits[t - tw_first] : tw_d == tw_d ? 0 : tw_d);`
    fn statements(&self, value: &Expr, loops: &[&ForLoop], sides: &[(Expr, Expr)]) -> Vec<Stmt> {
        let local = format!("tw_d{}", self.number);
        let ctype = CType::Floating(self.kind);
        let value = self.made(ExprKind::Cast(ctype.clone(), Box::new(value.clone())));
        let declared = Variable {
            name: local.clone(),
            ctype,
            value: Some(value),
            span: self.span.clone(),
            global: false,
            constant: false,
        };
        let mut at: Option<Expr> = None;
        for (source, (_, high)) in loops.iter().zip(sides) {
            let Ok(counter) = counter(source) else { continue };
            let index = self.name(&counter.name);
            at = Some(match at {
                None => index,
                Some(outer) => {
                    let row = self.binary(BinaryOp::Mul, outer, high.clone());
                    self.binary(BinaryOp::Add, row, index)
                }
            });
        }
        let at = at.unwrap_or_else(|| integer(0, self.span));
        let element = self.made(ExprKind::Index(Box::new(self.name(self.array)), Box::new(at)));
        // The bit of the step is put in place of this name.
        let bit = self.made(ExprKind::Index(Box::new(self.name(self.bits)), Box::new(self.name(STEP))));
        let zero = self.made(ExprKind::Floating { text: "0.0".to_owned(), kind: self.kind });
        let same = self.binary(BinaryOp::Equal, self.name(&local), self.name(&local));
        let otherwise =
            self.made(ExprKind::Conditional(Box::new(same), Box::new(zero), Box::new(self.name(&local))));
        let goes_on = self.binary(self.operator, self.name(&local), self.limit.clone());
        let seen = self.made(ExprKind::Conditional(Box::new(goes_on), Box::new(bit), Box::new(otherwise)));
        let sum = self.binary(BinaryOp::Add, element.clone(), seen);
        let assignment = self.made(ExprKind::Assign(None, Box::new(element), Box::new(sum)));
        vec![
            Stmt { kind: StmtKind::Declaration(vec![declared]), span: self.span.clone() },
            Stmt { kind: StmtKind::Expr(assignment), span: self.span.clone() },
        ]
    }
}

/// Puts statements in the place of the one with this span.
fn replace(stmt: &mut Stmt, span: &Span, by: &[Stmt]) {
    if stmt.span == *span && matches!(stmt.kind, StmtKind::Expr(_) | StmtKind::If(..)) {
        stmt.kind = StmtKind::Block(by.to_vec());
        return;
    }
    match &mut stmt.kind {
        StmtKind::Block(list) => list.iter_mut().for_each(|stmt| replace(stmt, span, by)),
        StmtKind::For(source) => replace(&mut source.body, span, by),
        StmtKind::If(_, then, otherwise) => {
            replace(then, span, by);
            otherwise.iter_mut().for_each(|otherwise| replace(otherwise, span, by));
        }
        _ => {}
    }
}

/// Puts the bit of the step that is computed in the place of the step's name.
pub(super) fn name_bits(body: &mut Stmt, tests: &[Test], (name, _, by): &(String, String, i64)) {
    let is_bits = |expr: &Expr| tests.iter().any(|test| is_name(expr, &test.bits));
    body.walk_expressions_mut(&mut |expr| {
        let ExprKind::Index(array, step) = &mut expr.kind else { return };
        if !is_bits(array) {
            return;
        }
        let span = step.span.clone();
        let made = |kind| Box::new(Expr { kind, span: span.clone() });
        let (time, first) = (made(ExprKind::Name(name.clone())), made(ExprKind::Name("tw_first".to_owned())));
        let passed = made(ExprKind::Binary(BinaryOp::Sub, time, first));
        *step = match by {
            1 => passed,
            by => made(ExprKind::Binary(BinaryOp::Div, passed, Box::new(integer(*by, &span)))),
        };
    });
}

/// Declares a variable of the rewritten program.
pub(super) fn declare(region: &mut Region, name: &str, ctype: CType, span: &Span) {
    let variable = Variable {
        name: name.to_owned(),
        ctype,
        value: None,
        span: span.clone(),
        global: false,
        constant: false,
    };
    region.variables.insert(name.to_owned(), variable);
}
