//! Updates in place in colours, such as red-black relaxation:
//!
//! ```c
//! for (colour = 0; colour < 2; colour++)
//!     for (i ..) for (j = 1 + (i + colour) % 2; j < n - 1; j += 2) a[i][j] = f(a, i, j);
//! ```
//!
//! Each pass over the grid computes the points of one *colour*, a set of parities of the indices. Where no pass reads another
//! point of its own colour ([`crate::recognise`] sees to that), it finds what the pass before has left at all other points.
//! So a pass is a time step of its own, which computes a new level of the array and keeps the points of other colours:
//!
//! ```text
//! a[t+1, s] = (s has colour t mod K) ? f(a[t], s) : a[t, s]
//! ```
//!
//! and one round of the time loop is `K` steps. Here passes are brought to the same loops over all points, with a table of the
//! parities that each computes. Which points those are must be known from literals alone.

use super::counter::counter;
use super::observed::Test;
use super::own_value;
use super::parities::Colours;
use super::refusal::Result;
use super::same_names;
use super::targets::indexes_target;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, Stmt, StmtKind, UnaryOp};
use crate::codes;
use crate::integer;
use crate::parse::Region;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::collections::HashMap;

/// Most passes of one round.
const MOST_PASSES: usize = 8;
/// Most loops over space.
const MOST_LOOPS: usize = 3;

/// The body of a time loop with all passes as loops over all points, which are there once, and what they were.
/// `tests`: what keeps bits of points beside them.
pub(super) fn find(region: &Region, body: &Stmt, tests: &[Test]) -> Option<(Stmt, Colours)> {
    let mut list = Vec::new();
    passes(region, body, &HashMap::new(), &mut list)?;
    let mut loops: Vec<Stmt> = list.iter().map(|pass| pass.loops.clone()).collect();
    same_names::given(&mut loops);
    for (pass, loops) in list.iter_mut().zip(loops) {
        pass.loops = loops;
        for (depth, index) in pass.indices.iter_mut().enumerate() {
            *index = counter(loop_within(&mut pass.loops, depth)?).ok()?.name;
        }
    }
    begin_alike(&mut list);
    let (first, others) = list.split_first()?;
    let alike = |other: &Pass| other.indices == first.indices && plain(&other.loops) == plain(&first.loops);
    let colours = Colours {
        indices: first.indices.clone(),
        passes: list.iter().map(|pass| pass.computed.clone()).collect(),
    };
    let every = (0..1 << first.indices.len()).all(|p| colours.passes.iter().any(|own| own[p]));
    let some = colours.passes.iter().any(|own| own.contains(&false));
    // A point that two passes of a round compute would add its bit twice, which is the bit of the round behind.
    let once = (0..1 << first.indices.len()).all(|p| colours.passes.iter().filter(|own| own[p]).count() == 1);
    (others.iter().all(alike) && every && some && (once || tests.is_empty()) && in_place(&first.loops, tests))
        .then(|| (first.loops.clone(), colours))
}

/// The head of a loop that computes every second point of an array.
pub(crate) fn pass_among(region: &Region) -> Option<Span> {
    region.statements.iter().find_map(pass_in)
}

fn pass_in(stmt: &Stmt) -> Option<Span> {
    first_of_pass(stmt).map(|(head, _)| head)
}

/// The head of a loop that computes every second point of an array, and its first value.
pub(crate) fn first_of_pass(stmt: &Stmt) -> Option<(Span, Expr)> {
    let mut found = None;
    stmt.walk(&mut |part| {
        if let StmtKind::For(source) = &part.kind
            && let Ok(own) = counter(source)
            && own.by == 2
            && indexes_target(&source.body, &own.name)
        {
            found.get_or_insert((source.head.clone(), own.first));
        }
    });
    found
}

/// Passes that keep bits of a test, and are no steps of their own.
pub(super) fn check_tested(body: &Stmt, tests: &[Test]) -> Result<()> {
    let (Some(pass), Some(test)) = (pass_in(body), tests.first()) else { return Ok(()) };
    let message = format!("`{}` is tested in every time step, and passes that differ compute it", test.of);
    Err(Box::new(Diagnostic::limitation(codes::OBSERVED, pass, message)))
}

/// One pass over the grid.
struct Pass {
    indices: Vec<String>,
    /// The loops over all points, with what they compute.
    loops: Stmt,
    /// Where they begin.
    starts: Vec<Start>,
    computed: Vec<bool>,
}

/// The beginning of a loop.
#[derive(Clone, Copy)]
struct Start {
    /// Its least first value, where that is a literal.
    low: Option<i64>,
    /// Whether the loop leaves out every second point, and begins at that value wherever it runs.
    settled: bool,
}

/// Lets loops begin one point before their first one where another pass does and they leave that point out.
fn begin_alike(list: &mut [Pass]) {
    let depth = list.iter().map(|pass| pass.starts.len()).min().unwrap_or(0);
    for k in 0..depth {
        let Some(least) = list.iter().filter_map(|pass| pass.starts[k].low).min() else { continue };
        for pass in list.iter_mut() {
            let Start { low, settled } = pass.starts[k];
            if settled && low == Some(least + 1) {
                loop_within(&mut pass.loops, k).and_then(|source| begin_at(source, least));
            }
        }
    }
}

/// The loop that has so many around it.
fn loop_within(stmt: &mut Stmt, depth: usize) -> Option<&mut ForLoop> {
    let StmtKind::For(source) = &mut stmt.kind else { return None };
    if depth == 0 { Some(source) } else { loop_within(&mut source.body, depth - 1) }
}

/// Sets the first value of a loop.
fn begin_at(source: &mut ForLoop, value: i64) -> Option<()> {
    let span = source.head.clone();
    let first = match &mut source.start.as_mut()?.kind {
        StmtKind::Declaration(list) => list.first_mut()?.value.as_mut()?,
        StmtKind::Expr(Expr { kind: ExprKind::Assign(_, _, own), .. }) => &mut **own,
        _ => return None,
    };
    *first = number(value, &span);
    Some(())
}

/// Values that are known by name: integers and expressions of the indices.
type Known = HashMap<String, Expr>;

/// The passes of a statement, in order; `None` where it does anything else.
fn passes(region: &Region, stmt: &Stmt, known: &Known, list: &mut Vec<Pass>) -> Option<()> {
    match &stmt.kind {
        StmtKind::Empty => Some(()),
        StmtKind::Block(inner) => inner.iter().try_for_each(|stmt| passes(region, stmt, known, list)),
        StmtKind::For(source) => {
            let own = counter(source).ok()?;
            if indexes_target(&source.body, &own.name) {
                list.push(pass(region, stmt, known)?);
                return (list.len() <= MOST_PASSES).then_some(());
            }
            // A loop over colours.
            let (first, limit) = (integer::literal(&own.first)?, integer::literal(&own.limit)?);
            let rounds = match own.descending {
                false => limit - first + i64::from(own.inclusive),
                true => first - limit + i64::from(own.inclusive),
            };
            let sign = if own.descending { -1 } else { 1 };
            let free = own.type_name.is_some() || !region.used_behind.contains(&own.name);
            if own.by != 1 || !(1..=MOST_PASSES as i64).contains(&rounds) || !free {
                return None;
            }
            (0..rounds).try_for_each(|round| {
                let mut known = known.clone();
                known.insert(own.name.clone(), number(first + sign * round, &source.head));
                passes(region, &source.body, &known, list)
            })
        }
        _ => None,
    }
}

fn number(value: i64, span: &Span) -> Expr {
    Expr { kind: ExprKind::Integer { value, text: value.to_string() }, span: span.clone() }
}

/// A nest of loops over space, as a pass.
fn pass(region: &Region, stmt: &Stmt, known: &Known) -> Option<Pass> {
    let mut known = known.clone();
    let mut nest = Nest {
        indices: Vec::new(),
        starts: Vec::new(),
        loops: Vec::new(),
        conditions: Vec::new(),
        taken: Vec::new(),
    };
    let mut inner = nest.descend(region, stmt.clone(), &mut known)?;
    own_value::name(region, &mut inner);
    let mut changed = false;
    // Of several assignments at one place, those of a macro, as many as were taken.
    let mut taken = nest.taken.clone();
    stmt.walk_expressions(&mut |part| {
        if let ExprKind::Assign(_, target, _)
        | ExprKind::Step(_, target)
        | ExprKind::Unary(UnaryOp::Address, target) = &part.kind
            && matches!(&target.kind, ExprKind::Name(name) if known.contains_key(name))
        {
            match taken.iter().position(|place| *place == part.span) {
                Some(at) => drop(taken.swap_remove(at)),
                None => changed = true,
            }
        }
    });
    // Nor is a name hidden by another one within.
    inner.walk(&mut |part| {
        if let StmtKind::Declaration(list) = &part.kind {
            changed |= list.iter().any(|variable| known.contains_key(&variable.name));
        }
    });
    if changed {
        return None;
    }
    let computed = (0..1 << nest.indices.len())
        .map(|p| nest.conditions.iter().try_fold(true, |all, one| Some(all & (nest.value(one, p)? != 0))))
        .collect::<Option<_>>()?;
    let mut loops = inner;
    loops.walk_expressions_mut(&mut |part| put_in(part, &known));
    for source in nest.loops.into_iter().rev() {
        let span = source.head.start..loops.span.end.max(source.head.end);
        let source = ForLoop { body: loops, ..source };
        loops = Stmt { kind: StmtKind::For(Box::new(source)), span };
    }
    Some(Pass { indices: nest.indices, loops, starts: nest.starts, computed })
}

/// A nest of loops that is being taken apart.
struct Nest {
    indices: Vec<String>,
    starts: Vec<Start>,
    /// The loops over all points, without their bodies.
    loops: Vec<ForLoop>,
    /// What must be other than 0 at the points that are computed.
    conditions: Vec<Expr>,
    /// Assignments of numbers that conditions and loops ask for.
    taken: Vec<Span>,
}

impl Nest {
    /// Takes loops and conditions on their indices off a statement; what is left computes one point.
    fn descend(&mut self, region: &Region, stmt: Stmt, known: &mut Known) -> Option<Stmt> {
        match stmt.kind {
            StmtKind::For(source) => {
                let source = self.whole(region, *source, known)?;
                let empty = Stmt { kind: StmtKind::Empty, span: stmt.span };
                self.loops.push(ForLoop { body: empty, ..source.clone() });
                self.descend(region, source.body, known)
            }
            StmtKind::If(condition, then, None) if self.asks_for_parity(&condition, known) => {
                self.conditions.push(replaced(&condition, known));
                self.descend(region, *then, known)
            }
            // What a `continue` becomes.
            StmtKind::If(condition, then, Some(otherwise))
                if is_empty(&then) && self.asks_for_parity(&condition, known) =>
            {
                let kind = ExprKind::Unary(UnaryOp::Not, Box::new(replaced(&condition, known)));
                self.conditions.push(Expr { kind, span: condition.span });
                self.descend(region, *otherwise, known)
            }
            StmtKind::Block(list) => {
                let mut rest = list.into_iter().peekable();
                // Numbers that conditions and loops ask for.
                while let Some(stmt) = rest.next_if(|stmt| self.is_parity(region, stmt, known)) {
                    match &stmt.kind {
                        StmtKind::Declaration(list) => {
                            for variable in list {
                                let value = replaced(variable.value.as_ref()?, known);
                                known.insert(variable.name.clone(), value);
                            }
                        }
                        StmtKind::Expr(Expr { kind: ExprKind::Assign(_, target, value), span }) => {
                            let ExprKind::Name(name) = &target.kind else { return None };
                            self.taken.push(span.clone());
                            known.insert(name.clone(), replaced(value, known));
                        }
                        _ => return None,
                    }
                }
                match <[Stmt; 1]>::try_from(rest.collect::<Vec<_>>()) {
                    Ok([one]) => self.descend(region, one, known),
                    Err(list) => list
                        .iter()
                        .all(computes)
                        .then_some(Stmt { kind: StmtKind::Block(list), span: stmt.span }),
                }
            }
            StmtKind::Expr(_) => Some(stmt),
            _ => None,
        }
    }

    /// The loop over all points of one that may leave out every second one.
    fn whole(&mut self, region: &Region, mut source: ForLoop, known: &Known) -> Option<ForLoop> {
        let own = counter(&source).ok()?;
        // What one that leaves points out ends with depends on them.
        let free = own.by == 1 || own.type_name.is_some() || !region.used_behind.contains(&own.name);
        let hidden = self.indices.contains(&own.name) || known.contains_key(&own.name);
        if self.indices.len() == MOST_LOOPS || hidden || !free {
            return None;
        }
        let first = replaced(&own.first, known);
        let start = match own.by {
            1 => Start { low: integer::literal(&first).filter(|_| !own.descending), settled: false },
            2 if !own.descending => {
                // The first value is that of all rows, or the one after it.
                let all: Option<Vec<i64>> =
                    (0..1 << self.indices.len()).map(|p| self.value(&first, p)).collect();
                let all = all?;
                let least = *all.iter().min()?;
                if all.iter().any(|value| value - least > 1) {
                    return None;
                }
                let index = Expr { kind: ExprKind::Name(own.name.clone()), span: first.span.clone() };
                self.conditions.push(same_parity(index, first.clone()));
                let step = source.step.as_mut()?;
                let target = Expr { kind: ExprKind::Name(own.name.clone()), span: step.span.clone() };
                step.kind = ExprKind::Step(1, Box::new(target));
                Start { low: Some(least), settled: all.iter().all(|value| *value == least) }
            }
            _ => return None,
        };
        self.indices.push(own.name);
        self.starts.push(start);
        if let (2, Some(low)) = (own.by, start.low) {
            begin_at(&mut source, low)?;
        }
        Some(source)
    }

    /// Whether a statement sets integers that follow from the parities of indices, and that nobody reads behind the region.
    fn is_parity(&self, region: &Region, stmt: &Stmt, known: &Known) -> bool {
        let is_integer = |ctype: &CType| matches!(ctype, CType::Integer { .. });
        match &stmt.kind {
            StmtKind::Declaration(list) => list.iter().all(|variable| {
                let value = variable.value.as_ref();
                is_integer(&variable.ctype) && value.is_some_and(|value| self.asks_for_parity(value, known))
            }),
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
                let ExprKind::Name(name) = &target.kind else { return false };
                let integer = region.variables.get(name).is_some_and(|variable| is_integer(&variable.ctype));
                integer && !region.used_behind.contains(name) && self.asks_for_parity(value, known)
            }
            _ => false,
        }
    }

    fn asks_for_parity(&self, expr: &Expr, known: &Known) -> bool {
        let expr = replaced(expr, known);
        (0..1 << self.indices.len()).all(|p| self.value(&expr, p).is_some())
    }

    /// The value of an expression of literals and of parities of indices, which are the bits of `p`; `None` where it depends on
    /// more than that, or is negative on the way.
    fn value(&self, expr: &Expr, p: usize) -> Option<i64> {
        use BinaryOp::*;
        if let Some(value) = integer::literal(expr) {
            return Some(value).filter(|value| *value >= 0);
        }
        let value = match &expr.kind {
            ExprKind::Cast(CType::Integer { .. }, operand) | ExprKind::Unary(UnaryOp::Plus, operand) => {
                self.value(operand, p)?
            }
            ExprKind::Unary(UnaryOp::Not, operand) => i64::from(self.value(operand, p)? == 0),
            ExprKind::Conditional(condition, then, otherwise) => {
                let (then, otherwise) = (self.value(then, p)?, self.value(otherwise, p)?);
                if self.value(condition, p)? != 0 { then } else { otherwise }
            }
            ExprKind::Binary(Rem, sum, by) if integer::literal(by) == Some(2) => {
                // Of a negative number, C's remainder is negative.
                let sum = self.sum(sum, p)?;
                sum.least.filter(|least| *least >= 0)?;
                sum.parity
            }
            ExprKind::Binary(BitAnd, sum, by) if integer::literal(by) == Some(1) => self.sum(sum, p)?.parity,
            ExprKind::Binary(BitAnd, by, sum) if integer::literal(by) == Some(1) => self.sum(sum, p)?.parity,
            ExprKind::Binary(operator, a, b) => {
                let (a, b) = (self.value(a, p)?, self.value(b, p)?);
                match operator {
                    Add => a.checked_add(b)?,
                    Sub => a.checked_sub(b)?,
                    Mul => a.checked_mul(b)?,
                    BitXor => a ^ b,
                    BitAnd => a & b,
                    BitOr => a | b,
                    Less => i64::from(a < b),
                    LessEqual => i64::from(a <= b),
                    Greater => i64::from(a > b),
                    GreaterEqual => i64::from(a >= b),
                    Equal => i64::from(a == b),
                    NotEqual => i64::from(a != b),
                    And => i64::from(a != 0 && b != 0),
                    Or => i64::from(a != 0 || b != 0),
                    Div | Rem | Shl | Shr => return None,
                }
            }
            _ => return None,
        };
        Some(value).filter(|value| *value >= 0)
    }

    /// A sum of indices and literals: its parity, and the least value that it may have.
    fn sum(&self, expr: &Expr, p: usize) -> Option<Sum> {
        if let Some(value) = integer::literal(expr) {
            return Some(Sum { parity: value.rem_euclid(2), least: Some(value) });
        }
        let both = |a: &Expr, b: &Expr| Some((self.sum(a, p)?, self.sum(b, p)?));
        match &expr.kind {
            ExprKind::Name(name) => {
                let at = self.indices.iter().position(|index| index == name)?;
                Some(Sum { parity: (p >> at & 1) as i64, least: self.starts[at].low })
            }
            ExprKind::Cast(CType::Integer { .. }, operand) | ExprKind::Unary(UnaryOp::Plus, operand) => {
                self.sum(operand, p)
            }
            ExprKind::Binary(BinaryOp::Add, a, b) => {
                let (a, b) = both(a, b)?;
                let least = a.least.zip(b.least).and_then(|(a, b)| a.checked_add(b));
                Some(Sum { parity: a.parity ^ b.parity, least })
            }
            ExprKind::Binary(BinaryOp::Sub, a, b) => {
                let by = integer::literal(b);
                let (a, b) = both(a, b)?;
                let least = a.least.zip(by).and_then(|(a, by)| a.checked_sub(by));
                Some(Sum { parity: a.parity ^ b.parity, least })
            }
            ExprKind::Binary(BinaryOp::BitXor, a, b) => {
                let (a, b) = both(a, b)?;
                let least = a.least.zip(b.least).map(|(a, b)| a.min(b).min(0));
                Some(Sum { parity: a.parity ^ b.parity, least })
            }
            ExprKind::Binary(BinaryOp::Mul, a, b) => {
                let (a, b) = both(a, b)?;
                let least = a.least.zip(b.least).filter(|(a, b)| *a >= 0 && *b >= 0);
                Some(Sum { parity: a.parity & b.parity, least: least.and_then(|(a, b)| a.checked_mul(b)) })
            }
            _ => Some(Sum { parity: self.value(expr, p)?.rem_euclid(2), least: Some(0) }),
        }
    }
}

/// What is known of a sum of indices.
struct Sum {
    parity: i64,
    /// `None` where it is not known.
    least: Option<i64>,
}

/// `(index & 1) == ((first) & 1)`, without asking for signs.
fn same_parity(index: Expr, first: Expr) -> Expr {
    let span = first.span.clone();
    let made = |kind| Box::new(Expr { kind, span: span.clone() });
    let parity = |operand: Expr| {
        let one = Box::new(number(1, &span));
        made(ExprKind::Binary(BinaryOp::BitAnd, Box::new(operand), one))
    };
    let first = made(ExprKind::Binary(BinaryOp::BitAnd, Box::new(first), Box::new(number(1, &span))));
    Expr { kind: ExprKind::Binary(BinaryOp::Equal, parity(index), first), span: span.clone() }
}

/// Whether a statement is nothing but assignments and declarations.
fn computes(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Expr(_) | StmtKind::Declaration(_) | StmtKind::Empty => true,
        StmtKind::Block(list) => list.iter().all(computes),
        _ => false,
    }
}

fn is_empty(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Empty => true,
        StmtKind::Block(list) => list.iter().all(is_empty),
        _ => false,
    }
}

/// An expression with what is known by name in the place of the names.
fn replaced(expr: &Expr, known: &Known) -> Expr {
    let mut expr = expr.clone();
    expr.walk_mut(&mut |part| put_in(part, known));
    expr
}

fn put_in(part: &mut Expr, known: &Known) {
    if let ExprKind::Name(name) = &part.kind
        && let Some(value) = known.get(name)
    {
        part.kind = value.kind.clone();
    }
}

/// A statement without its places, to compare it.
fn plain(stmt: &Stmt) -> Stmt {
    let mut stmt = stmt.clone();
    stmt.walk_expressions_mut(&mut |part| part.span = 0..0);
    stmt.walk_mut(&mut |part| {
        part.span = 0..0;
        match &mut part.kind {
            StmtKind::Declaration(list) => list.iter_mut().for_each(|one| one.span = 0..0),
            StmtKind::For(source) => {
                source.head = 0..0;
                if let Some(start) = &mut source.start {
                    *start = plain(start);
                }
            }
            _ => {}
        }
    });
    stmt
}

/// Whether the points of one array are computed, from others of it.
fn in_place(loops: &Stmt, tests: &[Test]) -> bool {
    let (mut targets, mut reads) = (Vec::new(), Vec::new());
    loops.walk_expressions(&mut |part| match &part.kind {
        ExprKind::Assign(_, target, _) if matches!(target.kind, ExprKind::Index(..)) => {
            targets.push((**target).clone());
        }
        ExprKind::Index(..) => reads.push(part.clone()),
        _ => {}
    });
    let base = |element: &Expr| {
        let mut at = element;
        while let ExprKind::Index(array, _) = &at.kind {
            at = array;
        }
        match &at.kind {
            ExprKind::Name(name) => Some(name.clone()),
            _ => None,
        }
    };
    let plain = |element: &Expr| {
        let mut element = element.clone();
        element.walk_mut(&mut |part| part.span = 0..0);
        element
    };
    targets.retain(|target| base(target).is_none_or(|name| tests.iter().all(|test| test.array != name)));
    let [target] = &targets[..] else { return false };
    let (own, array) = (plain(target), base(target));
    let depth = |element: &Expr| {
        let (mut at, mut depth) = (element, 0);
        while let ExprKind::Index(array, _) = &at.kind {
            (at, depth) = (array, depth + 1);
        }
        depth
    };
    let most = depth(&own);
    array.is_some()
        && reads.iter().any(|read| base(read) == array && depth(read) == most && plain(read) != own)
}
