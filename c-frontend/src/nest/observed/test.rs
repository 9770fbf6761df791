//! Tests of a maximum in every step, such as `while (error > tolerance)`.
//!
//! Let `m` be the largest `d(x)` over all points `x` of a step, and let the loop stop where `m < c`. If `d(x) >= c` at any
//! point, then `m >= c`, and the loop goes on: comparisons are monotone, as conversions to `m`'s type are. So each point
//! keeps, beside the arrays, a number with one bit for each step of a block, which is set where `d(x) >= c`. A step whose bit
//! is set at some point goes on for certain. Where it is not, the block is rolled back, the steps before it run again, and it
//! runs as it is written, which decides.
//!
//! A `d(x)` that is no number makes the point's number none, and nothing is certain.

use super::names;
use super::parts::{STEP, Test};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Floating, ForLoop, Stmt, StmtKind, UnaryOp, Variable};
use crate::nest::math::math_function;
use crate::nest::scalars::{assigned, assigned_within, declared};
use crate::nest::time::{Found, Loop, counter};
use crate::parse::Region;
use crate::text::{c_text, type_text};
use polyhedral::source::Span;
use std::collections::HashSet;

/// Most tests of one loop.
const MOST_TESTS: usize = 4;

/// A maximum: where it is computed, and of what.
struct Maximum<'a> {
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
        let Some((name, operator, limit)) = small(comparison, inverted, &changed) else { continue };
        let Some(kind) = floating(region, list, name) else { continue };
        let Some(maximum) = maximum(region, list, name).filter(|maximum| maximum.at < place) else {
            continue;
        };
        if tests.len() >= MOST_TESTS
            || !names::only_reads(region, limit)
            || !names::only_reads(region, maximum.value)
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
        let statements = keeps.statements(maximum.value, &maximum.loops, &sides);
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

/// `m < c` or the like: the maximum, how a value is compared that keeps the loop going, and with what.
fn small<'a>(
    comparison: &'a Expr,
    inverted: bool,
    changed: &HashSet<String>,
) -> Option<(&'a str, BinaryOp, &'a Expr)> {
    use BinaryOp::{Greater, GreaterEqual, Less, LessEqual};
    let ExprKind::Binary(operator, left, right) = &comparison.kind else { return None };
    let mirrored = match operator {
        Less => Greater,
        LessEqual => GreaterEqual,
        Greater => Less,
        GreaterEqual => LessEqual,
        _ => return None,
    };
    let (name, operator, limit) = match (&left.kind, &right.kind) {
        (ExprKind::Name(name), _) if changed.contains(name) => (name, *operator, right),
        (_, ExprKind::Name(name)) if changed.contains(name) => (name, mirrored, left),
        _ => return None,
    };
    let goes_on = match (operator, inverted) {
        (Less, false) => GreaterEqual,
        (LessEqual, false) => Greater,
        (Greater, true) => Greater,
        (GreaterEqual, true) => GreaterEqual,
        _ => return None,
    };
    names::of(limit).is_disjoint(changed).then_some((name, goes_on, limit))
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

/// Where a scalar becomes the largest of a value over points, if that is all that happens to it in a step but for its first
/// value, a literal.
fn maximum<'a>(region: &Region, list: &'a [Stmt], name: &str) -> Option<Maximum<'a>> {
    let mut maxima = Vec::new();
    let (mut count, mut known, mut starts) = (0, 0, false);
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
            }
            StmtKind::Declaration(own) => {
                match own.iter().find(|one| one.name == name).map(|one| one.value.as_ref()) {
                    Some(None) => known += 1,
                    Some(Some(value)) if is_number(value) => {
                        known += 1;
                        starts = true;
                    }
                    _ => {}
                }
            }
            StmtKind::For(_) if starts => chains(region, stmt, name, at, &mut Vec::new(), &mut maxima),
            _ => {}
        }
        known += maxima.len() - before;
    }
    if count != known || maxima.len() != 1 {
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

/// `m = fmax(m, d);`, `if (d > m) m = d;` or `m = d > m ? d : m;` within loops.
fn chains<'a>(
    region: &Region,
    stmt: &'a Stmt,
    name: &str,
    at: usize,
    loops: &mut Vec<&'a ForLoop>,
    found: &mut Vec<Maximum<'a>>,
) {
    let mut largest = |value: &'a Expr, loops: &[&'a ForLoop]| {
        if !value.mentions(name) {
            found.push(Maximum { at, statement: stmt, loops: loops.to_vec(), value });
        }
    };
    match &stmt.kind {
        StmtKind::Block(list) => list.iter().for_each(|stmt| chains(region, stmt, name, at, loops, found)),
        StmtKind::For(source) => {
            loops.push(source);
            chains(region, &source.body, name, at, loops, found);
            loops.pop();
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
                largest(value, loops);
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
                        [a, b] if is_fmax && is_name(a, name) => largest(b, loops),
                        [a, b] if is_fmax && is_name(b, name) => largest(a, loops),
                        _ => {}
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
                        largest(value, loops);
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
