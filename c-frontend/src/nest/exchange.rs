//! Pointers that take turns: `tmp = a; a = b; b = tmp;` in every time step, at its end or elsewhere.
//!
//! Let the exchange make `a_i` point to where `a_(i+1)` pointed, indices modulo `k`. In round `r = 0, 1, ..` of the time
//! loop, `a_i` then points to where `a_((i + r) mod k)` pointed before the loop. The pointers are one array of `k`
//! buffers, and `a_i` is its buffer `(r + i) mod k`.
//!
//! Likewise numbers of buffers: after `now = (now + 1) % k` or `now = 1 - now`, `now` is `(first + r) mod k` in round `r`. Two of them
//! may be exchanged, `held = now; now = next; next = held;`: where one is 0 and the other 1, each goes on like that by itself.

use super::loops::Turns;
use super::refusal::{Result, limitation};
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, Variable};
use crate::codes;
use crate::parse::Region;
use crate::text::{MemberOf, array_of, c_text, type_text};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::collections::{BTreeMap, HashSet};

/// A time loop's body without its exchange.
pub(super) struct Exchanged {
    /// The region, in which the first pointer of each circle has one dimension more: the buffer.
    pub region: Region,
    /// The body, in which each pointer is a buffer of the first one of its circle.
    pub body: Stmt,
    pub turns: Vec<Turns>,
    /// The exchange of pointers.
    pub span: Option<Span>,
    /// What it does: the pointers that it assigns, and what each then holds.
    pub moves: Vec<(String, String)>,
    /// Variables that go from one number of a buffer to the next, and how many there are.
    pub counters: Vec<(String, i64)>,
    /// Those of them that are exchanged: they must differ.
    pub swaps: Vec<(String, String)>,
}

/// What the exchange of a body does; `None` where there is none.
pub(super) fn find(region: &Region, body: &Stmt) -> Result<Option<Exchanged>> {
    let StmtKind::Block(list) = &body.kind else { return Ok(None) };
    // .. rest, counters, pointers, counters
    let (mut counters, mut swaps) = (Vec::new(), Vec::new());
    let mut before = |end: usize, counters: &mut Vec<(String, i64)>| {
        let mut end = end;
        loop {
            if let Some(counter) = end.checked_sub(1).and_then(|last| counter(region, list, last)) {
                counters.push(counter);
                end -= 1;
            } else if let Some((a, b)) = swapped(region, list, end) {
                counters.extend([(a.clone(), 2), (b.clone(), 2)]);
                swaps.push((a, b));
                end -= 3;
            } else {
                return end;
            }
        }
    };
    let end = before(list.len(), &mut counters);
    let mut moves = Moves { region, own: Vec::new(), holds: BTreeMap::new() };
    let from = list[..end].iter().rposition(|stmt| !moves.is_exchange(stmt)).map_or(0, |last| last + 1);
    let exchange = &list[from..end];
    let rest = &list[..before(from, &mut counters)];
    exchange.iter().for_each(|stmt| moves.run(stmt));
    let (mut turns, mut span) = (Vec::new(), None);
    if let (Some(first), Some(last)) = (exchange.first(), exchange.last()) {
        let whole = first.span.start..last.span.end;
        turns = moves.turns(rest, &whole)?;
        span = Some(whole).filter(|_| !turns.is_empty());
    }
    let (mut rest, kept) = (rest.to_vec(), if turns.is_empty() { exchange } else { &[] });
    rest.extend_from_slice(kept);
    if turns.is_empty() && counters.is_empty() {
        let Some(ahead) = ahead(region, list) else { return Ok(None) };
        Ahead { moves, rest, turns, span } = ahead;
    }
    let mut body = Stmt { kind: StmtKind::Block(rest), span: body.span.clone() };
    let mut region = region.clone();
    turns = of_members(&turns, &mut region);
    for circle in &turns {
        let Some(variable) = region.variables.get_mut(&circle[0]) else { continue };
        variable.ctype = CType::Pointer(Box::new(variable.ctype.clone()));
    }
    name_buffers(&mut body, &turns, &counters, &swaps);
    let own = &moves.own;
    let moves = moves.holds.iter().filter(|(name, _)| !own.contains(name));
    let moves = moves.map(|(name, held)| (name.clone(), held.clone())).collect();
    Ok(Some(Exchanged { region, body, turns, span, moves, counters, swaps }))
}

/// An exchange that other statements follow.
struct Ahead<'a> {
    moves: Moves<'a>,
    rest: Vec<Stmt>,
    turns: Vec<Turns>,
    span: Option<Span>,
}

/// The first exchange of a body, with the rest as it would be in front of it: where a pointer is used behind the exchange, the
/// one stands whose value it has been given.
///
/// ```text
/// tmp = a; a = b; b = tmp; use(a, b);    =>    use(b, a); tmp = a; a = b; b = tmp;
/// ```
fn ahead<'a>(region: &'a Region, list: &[Stmt]) -> Option<Ahead<'a>> {
    let mut moves = Moves { region, own: Vec::new(), holds: BTreeMap::new() };
    let moved = |stmt: &Stmt| !matches!(stmt.kind, StmtKind::Empty) && moves.is_exchange(stmt);
    let from = list.iter().position(moved)?;
    let count = list[from..].iter().take_while(|stmt| moves.is_exchange(stmt)).count();
    let (exchange, behind) = (&list[from..from + count], &list[from + count..]);
    exchange.iter().for_each(|stmt| moves.run(stmt));
    // Names that are hidden, or stand in what is no expression, cannot be replaced.
    let is_moved =
        |name: &str| moves.holds.contains_key(name) || moves.holds.values().any(|held| held == name);
    let mut plain = !super::scalars::declared(behind).iter().any(|name| is_moved(name));
    for stmt in behind {
        stmt.walk(&mut |part| {
            if let StmtKind::Other(_, names) = &part.kind {
                plain &= !names.iter().any(|name| is_moved(name));
            }
        });
        stmt.walk_expressions(&mut |part| match &part.kind {
            ExprKind::Name(name) => plain &= array_of(name) == name || !is_moved(array_of(name)),
            ExprKind::Other(_, text) => {
                plain &= !crate::preprocess::words(text).into_iter().any(is_moved);
            }
            _ => {}
        });
    }
    if !plain {
        return None;
    }
    let mut rest = list[..from].to_vec();
    rest.extend(behind.iter().cloned().map(|mut stmt| {
        stmt.walk_expressions_mut(&mut |part| {
            if let ExprKind::Name(name) = &mut part.kind
                && let Some(held) = moves.holds.get(name)
            {
                held.clone_into(name);
            }
        });
        stmt
    }));
    let span = exchange.first()?.span.start..exchange.last()?.span.end;
    let turns = moves.turns(&rest, &span).ok().filter(|turns| !turns.is_empty())?;
    Some(Ahead { moves, rest, turns, span: Some(span) })
}

/// The circles of pointers, and, for those to structures, one for each member that the loop uses.
fn of_members(circles: &[Turns], region: &mut Region) -> Vec<Turns> {
    let mut found = circles.to_vec();
    for circle in circles {
        let members: BTreeMap<String, Variable> = region
            .variables
            .values()
            .filter_map(|variable| {
                let member = MemberOf::of(&variable.name)
                    .filter(|member| circle.iter().any(|own| own == member.array))?;
                let name = member.of_array(&circle[0]);
                Some((name.clone(), Variable { name, ..variable.clone() }))
            })
            .collect();
        for (name, variable) in members {
            found.extend(
                MemberOf::of(&name)
                    .map(|member| circle.iter().map(|own| member.of_array(own)).collect::<Turns>()),
            );
            region.variables.entry(name).or_insert(variable);
        }
    }
    found
}

/// The variable that a statement of a body moves from each number `0 .. k - 1` to the next one, modulo `k`.
pub(super) fn counter(region: &Region, list: &[Stmt], at: usize) -> Option<(String, i64)> {
    let StmtKind::Expr(Expr { kind: ExprKind::Assign(operator, target, value), span }) = &list[at].kind
    else {
        return None;
    };
    let ExprKind::Name(name) = &target.kind else { return None };
    let variable = region.variables.get(name)?;
    let others: Vec<Stmt> =
        list.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, stmt)| stmt.clone()).collect();
    let assigned = |name: &str| others.iter().any(|stmt| super::scalars::assigned(stmt).1.contains(name));
    if !matches!(variable.ctype, CType::Integer { .. })
        || assigned(name)
        || super::scalars::declared(&others).contains(name)
    {
        return None;
    }
    let mut value = (**value).clone();
    if let Some(operator) = operator {
        let kind = ExprKind::Binary(*operator, target.clone(), Box::new(value));
        value = Expr { kind, span: span.clone() };
    }
    // `int next = 1 - now;` at the beginning of the step.
    value.walk_mut(&mut |part| {
        let ExprKind::Name(used) = &part.kind else { return };
        let declared = list[..at].iter().find_map(|stmt| match &stmt.kind {
            StmtKind::Declaration(variables) => variables.iter().find(|variable| variable.name == *used),
            _ => None,
        });
        if let Some(value) = declared.filter(|_| !assigned(used)).and_then(|variable| variable.value.clone())
        {
            *part = value;
        }
    });
    let next = |now: i64| {
        let mut value = value.clone();
        value.walk_mut(&mut |part| {
            if matches!(&part.kind, ExprKind::Name(other) if other == name) {
                part.kind = ExprKind::Integer { value: now, text: now.to_string() };
            }
        });
        crate::integer::literal(&value)
    };
    (2..=MOST_BUFFERS)
        .find(|of| (0..*of).all(|now| next(now) == Some((now + 1) % of)))
        .map(|of| (name.clone(), of))
}

/// The two integers that the three statements before `end` exchange: `int held = now; now = next; next = held;`.
pub(super) fn swapped(region: &Region, list: &[Stmt], end: usize) -> Option<(String, String)> {
    let [.., first, second, third] = list.get(..end)? else { return None };
    let name = |expr: &Expr| match &expr.kind {
        ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    };
    let StmtKind::Declaration(own) = &first.kind else { return None };
    let [held] = own.as_slice() else { return None };
    let moves = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
            Some((name(target)?, name(value)?))
        }
        _ => None,
    };
    let (a, b) = moves(second)?;
    let ctype = |name: &String| region.variables.get(name).map(|one| &one.ctype);
    let integer = matches!(ctype(&a), Some(CType::Integer { .. })) && ctype(&a) == ctype(&b);
    let others = || list[..end - 3].iter().chain(&list[end..]);
    let free = |stmt: &Stmt| {
        let assigned = super::scalars::assigned(stmt).1;
        let declared = super::scalars::declared(std::slice::from_ref(stmt));
        !assigned.contains(&a)
            && !assigned.contains(&b)
            && !declared.contains(&a)
            && !declared.contains(&b)
            && !mentions(std::slice::from_ref(stmt), &held.name)
    };
    let exchanged = held.value.as_ref().and_then(name).as_ref() == Some(&a)
        && moves(third)? == (b.clone(), held.name.clone())
        && Some(&held.ctype) == ctype(&a)
        && a != b;
    (integer && exchanged && others().all(free)).then_some((a, b))
}

/// Most buffers that a variable counts.
const MOST_BUFFERS: i64 = 8;

/// The exchange as it is executed.
struct Moves<'a> {
    region: &'a Region,
    /// Pointers that it declares itself.
    own: Vec<String>,
    /// Whose first value each assigned pointer holds.
    holds: BTreeMap<String, String>,
}

impl Moves<'_> {
    fn is_pointer(&self, name: &str) -> bool {
        self.region.variables.get(name).is_some_and(|variable| variable.ctype.depth() > 0)
    }

    /// Whether a statement only moves pointers.
    fn is_exchange(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Empty => true,
            StmtKind::Block(list) => list.iter().all(|stmt| self.is_exchange(stmt)),
            StmtKind::Declaration(variables) => variables.iter().all(|variable| {
                matches!(variable.ctype, CType::Pointer(_))
                    && variable.value.as_ref().is_some_and(
                        |value| matches!(&value.kind, ExprKind::Name(name) if self.is_pointer(name)),
                    )
            }),
            StmtKind::Expr(expr) => self.moves(expr),
            _ => false,
        }
    }

    fn moves(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Comma(left, right) => self.moves(left) && self.moves(right),
            // A pointer that the exchange declares is not known yet; the other side is.
            ExprKind::Assign(None, target, value) => match (&target.kind, &value.kind) {
                (ExprKind::Name(to), ExprKind::Name(from)) => self.is_pointer(to) || self.is_pointer(from),
                _ => false,
            },
            _ => false,
        }
    }

    fn run(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(list) => list.iter().for_each(|stmt| self.run(stmt)),
            StmtKind::Declaration(variables) => {
                for variable in variables {
                    self.own.push(variable.name.clone());
                    if let Some(value) = &variable.value {
                        self.assign(&variable.name, value);
                    }
                }
            }
            StmtKind::Expr(expr) => self.run_expression(expr),
            _ => {}
        }
    }

    fn run_expression(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Comma(left, right) => {
                self.run_expression(left);
                self.run_expression(right);
            }
            ExprKind::Assign(_, target, value) => {
                if let ExprKind::Name(name) = &target.kind {
                    self.assign(name, value);
                }
            }
            _ => {}
        }
    }

    fn assign(&mut self, name: &str, value: &Expr) {
        if let ExprKind::Name(from) = &value.kind {
            let held = self.holds.get(from).unwrap_or(from).clone();
            self.holds.insert(name.to_owned(), held);
        }
    }

    /// The circles in which the pointers that the rest of the body uses are moved.
    fn turns(&self, rest: &[Stmt], span: &Span) -> Result<Vec<Turns>> {
        let mut used: Vec<&String> =
            self.holds.keys().filter(|name| !self.own.contains(name) && mentions(rest, name)).collect();
        let mut turns: Vec<Turns> = Vec::new();
        while let Some(first) = used.first().map(|name| (*name).clone()) {
            let mut circle = vec![first.clone()];
            loop {
                let last = &circle[circle.len() - 1];
                let Some(next) = self.holds.get(last).filter(|next| !circle[1..].contains(next)) else {
                    return refuse(&first, span);
                };
                if *next == first {
                    break;
                }
                circle.push(next.clone());
            }
            used.retain(|name| !circle.contains(name));
            if circle.len() > 1 {
                self.check(&circle, rest, span)?;
                turns.push(circle);
            }
        }
        Ok(turns)
    }

    fn check(&self, circle: &Turns, rest: &[Stmt], span: &Span) -> Result<()> {
        let shape =
            |name: &String| self.region.variables.get(name).map(|variable| pointed_to(&variable.ctype));
        let computed = super::scalars::assigned_arrays(rest);
        let computed: HashSet<&str> = computed.iter().map(|name| array_of(name)).collect();
        let declared = super::scalars::declared(rest);
        if circle.iter().any(|name| shape(name) != shape(&circle[0]) || declared.contains(name)) {
            return refuse(&circle[0], span);
        }
        if !circle.iter().any(|name| computed.contains(name.as_str())) {
            return only_read(&circle[0], rest, span);
        }
        Ok(())
    }
}

fn refuse<T>(name: &str, span: &Span) -> Result<T> {
    let message =
        format!("`{name}` is assigned in a way that is no exchange of arrays that the loop computes");
    Err(Box::new(
        Diagnostic::limitation(codes::TYPE, span.clone(), message)
            .note("pointers to arrays of one shape may take turns: `tmp = a; a = b; b = tmp;`"),
    ))
}

/// Pointers that take turns and through which nothing is computed: what is read there is another value in each step.
fn only_read<T>(name: &str, rest: &[Stmt], span: &Span) -> Result<T> {
    let mut first = None;
    for stmt in rest {
        stmt.walk_expressions(&mut |part| {
            if matches!(&part.kind, ExprKind::Name(own) if own == name) && first.is_none() {
                first = Some(part.span.clone());
            }
        });
    }
    let message =
        format!("`{name}` takes turns with other pointers, and the loops of the step read through it alone");
    let reason = Diagnostic::limitation(codes::BOUND, first.unwrap_or_else(|| span.clone()), message)
        .related(span.clone(), "they take turns here")
        .note("sizes, and other values that loops over space do not compute, have to be the same in each step")
        .hint("read them into variables before the time loop, if all of the pointers lead to the same: `int size = *n;`");
    Err(Box::new(reason))
}

/// The type of what a pointer points to.
fn pointed_to(ctype: &CType) -> String {
    match ctype {
        CType::Pointer(inner) | CType::Array(inner, _) => shape_text(inner),
        other => shape_text(other),
    }
}

fn shape_text(ctype: &CType) -> String {
    match ctype {
        CType::Array(inner, extent) => {
            let extent = extent.as_ref().map(|extent| c_text(extent, &|_| None)).unwrap_or_default();
            format!("[{extent}]{}", shape_text(inner))
        }
        CType::Pointer(inner) => format!("*{}", shape_text(inner)),
        other => type_text(other),
    }
}

fn mentions(list: &[Stmt], name: &str) -> bool {
    let mut found = false;
    for stmt in list {
        stmt.walk_expressions(&mut |expr| {
            found |= matches!(&expr.kind, ExprKind::Name(other) if array_of(other) == name);
        });
    }
    found
}

/// Puts the buffer of the first one of its circle in the place of each pointer, and the turn in that of each counter.
fn name_buffers(body: &mut Stmt, turns: &[Turns], counters: &[(String, i64)], swaps: &[(String, String)]) {
    body.walk_expressions_mut(&mut |expr| {
        let ExprKind::Name(name) = &expr.kind else { return };
        if let Some((from, _)) = swaps.iter().find(|(_, other)| other == name) {
            expr.kind = ExprKind::Turn { shift: 1, of: 2, from: from.clone() };
            return;
        }
        if let Some((from, of)) = counters.iter().find(|(counter, _)| counter == name) {
            expr.kind = ExprKind::Turn { shift: 0, of: *of, from: from.clone() };
            return;
        }
        let found =
            turns.iter().find_map(|circle| Some((circle, circle.iter().position(|own| own == name)?)));
        if let Some((circle, shift)) = found {
            let part = |kind: ExprKind| Box::new(Expr { kind, span: expr.span.clone() });
            let from = circle[0].clone();
            let array = part(ExprKind::Name(from.clone()));
            let buffer = part(ExprKind::Turn { shift: shift as i64, of: circle.len() as i64, from });
            expr.kind = ExprKind::Index(array, buffer);
        }
    });
}

/// Checks that no pointer is assigned elsewhere, and says what to do.
pub(super) fn not_exchanged<T>(name: &str, span: &Span) -> Result<T> {
    let message = format!("the pointer `{name}` changes in the time loop");
    match limitation::<T>(codes::TYPE, span, message) {
        Err(diagnostic) => Err(Box::new(
            diagnostic
                .note("pointers may take turns once in each time step: `tmp = a; a = b; b = tmp;`")
                .hint(
                    "put the exchange behind all loops of the step, or use `A[(t + 1) % 2]` and `A[t % 2]`",
                ),
        )),
        other => other,
    }
}
