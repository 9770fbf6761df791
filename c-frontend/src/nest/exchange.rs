//! Pointers that take turns: `tmp = a; a = b; b = tmp;` in every time step, at its end or elsewhere.
//!
//! Let the exchange make `a_i` point to where `a_(i+1)` pointed, indices modulo `k`. In round `r = 0, 1, ..` of the time
//! loop, `a_i` then points to where `a_((i + r) mod k)` pointed before the loop. The pointers are one array of `k`
//! buffers, and `a_i` is its buffer `(r + i) mod k`.
//!
//! Likewise numbers of buffers ([`numbers`](super::numbers)).

use super::by_time;
use super::loops::{Chosen, Counter, Turns};
use super::numbers::{self, Numbers};
use super::refusal::{Result, limitation};
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, Variable};
use crate::codes;
use crate::parse::Region;
use crate::text::{MemberOf, array_of, pointed_to};
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
    /// Variables that go from one number of a buffer to the next.
    pub counters: Vec<Counter>,
    /// Pointers that each step chooses anew.
    pub chosen: Vec<Chosen>,
}

/// What the exchange of a body does; `None` where there is none.
pub(super) fn find(region: &Region, body: &Stmt) -> Result<Option<Exchanged>> {
    let StmtKind::Block(list) = &body.kind else { return Ok(None) };
    let opened = declared_where_assigned(opened(region, list));
    let list = by_time::as_choices(region, &opened);
    let by_if = list != opened;
    let by_time = by_time::pointers(region, &list);
    let list = by_time.as_ref().map_or(list, |found| found.list.clone());
    let (numbers, list) = numbers::find(region, &list).unwrap_or((Numbers::default(), list));
    let mut moves = Moves { region, own: Vec::new(), holds: BTreeMap::new() };
    let from = list.iter().rposition(|stmt| !moves.is_exchange(stmt)).map_or(0, |last| last + 1);
    let (rest, exchange) = list.split_at(from);
    exchange.iter().for_each(|stmt| moves.run(stmt));
    let (mut turns, mut span) = (Vec::new(), None);
    if let (Some(first), Some(last)) = (exchange.first(), exchange.last()) {
        let whole = first.span.start..last.span.end;
        turns = moves.turns(rest, &whole)?;
        span = Some(whole).filter(|_| !turns.is_empty());
    }
    let (mut rest, kept) = (rest.to_vec(), if turns.is_empty() { exchange } else { &[] });
    rest.extend_from_slice(kept);
    if turns.is_empty() && numbers.counters.is_empty() {
        match ahead(region, &list) {
            Some(ahead) => Ahead { moves, rest, turns, span } = ahead,
            None if by_if || by_time.is_some() => {}
            None => return Ok(None),
        }
    }
    let mut body = Stmt { kind: StmtKind::Block(rest), span: body.span.clone() };
    let mut region = region.clone();
    let chosen = by_time.as_ref().map(|found| found.chosen.clone()).unwrap_or_default();
    let by_time = by_time.map(|found| found.turns).unwrap_or_default();
    turns = of_members(&turns, &mut region);
    name_buffers(&mut body, &turns, &numbers);
    turns.extend(by_time);
    for circle in &turns {
        let Some(variable) = region.variables.get_mut(&circle[0]) else { continue };
        variable.ctype = CType::Pointer(Box::new(variable.ctype.clone()));
    }
    let own = &moves.own;
    let moves = moves.holds.iter().filter(|(name, _)| !own.contains(name));
    let moves = moves.map(|(name, held)| (name.clone(), held.clone())).collect();
    Ok(Some(Exchanged { region, body, turns, span, moves, counters: numbers.counters, chosen }))
}

/// The statements of a body; those of a block that does nothing but to move pointers and integers stand in its place.
fn opened(region: &Region, list: &[Stmt]) -> Vec<Stmt> {
    let mut found = Vec::new();
    for (at, stmt) in list.iter().enumerate() {
        let others = list.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, stmt)| stmt);
        match &stmt.kind {
            StmtKind::Block(own)
                if own.iter().all(|stmt| numbers::may_follow(region, stmt))
                    && is_alone(region, own, others) =>
            {
                found.extend(own.iter().cloned());
            }
            _ => found.push(stmt.clone()),
        }
    }
    found
}

/// `double *held; .. held = a;` as `.. double *held = a;`, where nothing before the assignment has that name.
fn declared_where_assigned(mut list: Vec<Stmt>) -> Vec<Stmt> {
    for at in (0..list.len()).rev() {
        let StmtKind::Declaration(variables) = &list[at].kind else { continue };
        let [own] = &variables[..] else { continue };
        if !matches!(own.ctype, CType::Pointer(_)) || own.value.is_some() {
            continue;
        }
        let is_other = |stmt: &Stmt| {
            let mut other = false;
            stmt.walk(&mut |part| other |= matches!(part.kind, StmtKind::Other(..)));
            other
        };
        let uses = |stmt: &Stmt| mentions(std::slice::from_ref(stmt), &own.name) || is_other(stmt);
        let Some(first) = list[at + 1..].iter().position(uses) else { continue };
        let assigned = &list[at + 1 + first];
        let StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) = &assigned.kind else {
            continue;
        };
        if !matches!(&target.kind, ExprKind::Name(name) if *name == own.name) {
            continue;
        }
        let joined = Variable { value: Some((**value).clone()), ..own.clone() };
        let span = assigned.span.clone();
        list[at + 1 + first] = Stmt { kind: StmtKind::Declaration(vec![joined]), span };
        list.remove(at);
    }
    list
}

/// Whether nothing else has the names that a block declares.
fn is_alone<'s>(region: &Region, block: &[Stmt], mut others: impl Iterator<Item = &'s Stmt>) -> bool {
    let own = super::scalars::declared(block);
    own.iter().all(|name| !region.variables.contains_key(name))
        && others.all(|other| {
            let list = std::slice::from_ref(other);
            let mut free = super::scalars::declared(list).is_disjoint(&own);
            free &= names_of(list).into_iter().all(|name| !own.contains(name));
            other.walk_expressions(&mut |part| {
                if let ExprKind::Other(_, text) = &part.kind {
                    free &= !crate::preprocess::words(text).into_iter().any(|word| own.contains(word));
                }
            });
            other.walk(&mut |part| {
                if let StmtKind::Other(_, names) = &part.kind {
                    free &= !names.iter().any(|name| own.contains(name));
                }
            });
            free
        })
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
            ExprKind::Name(name) => {
                let (array, pointer) = (array_of(name), pointer_of(name));
                plain &= array == name || !is_moved(array);
                plain &= pointer == array || !is_moved(pointer);
            }
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
        // `a->u` and `b->u`, where `a` and `b` take turns.
        let mut paths = BTreeMap::new();
        for own in circle {
            for (name, variable) in members_of(region, own) {
                paths.insert(name[own.len()..].to_owned(), variable.clone());
            }
        }
        for (path, variable) in paths {
            let names: Turns = circle.iter().map(|own| format!("{own}{path}")).collect();
            let name = names[0].clone();
            region.variables.entry(name.clone()).or_insert(Variable { name, ..variable });
            found.push(names);
        }
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
        let assigned = super::scalars::assigned_arrays(rest);
        let computed: HashSet<&str> = assigned.iter().map(|name| array_of(name)).collect();
        let declared = super::scalars::declared(rest);
        if circle.iter().any(|name| shape(name) != shape(&circle[0]) || declared.contains(name)) {
            return refuse(&circle[0], span);
        }
        // Through members alone, each of them is computed; else something is.
        let names = names_of(rest);
        let plain = names.iter().any(|name| circle.iter().any(|own| own == array_of(name)));
        if plain && !circle.iter().any(|name| computed.contains(name.as_str())) {
            return only_read(&circle[0], rest, span);
        }
        let members = circle.iter().flat_map(|own| members_of(self.region, own));
        for (member, _) in members.filter(|(member, _)| names.contains(member)) {
            let path = &member[pointer_of(member).len()..];
            if !circle.iter().any(|own| computed.contains(format!("{own}{path}").as_str())) {
                return only_read(member, rest, span);
            }
        }
        Ok(())
    }
}

/// The arrays that are members of the structure that a pointer leads to, as far as a region names them.
fn members_of<'a>(region: &'a Region, pointer: &str) -> Vec<(&'a str, &'a Variable)> {
    let own = |variable: &Variable| {
        let rest = variable.name.strip_prefix(pointer);
        rest.is_some_and(|rest| rest.starts_with("->")) && variable.ctype.depth() > 0
    };
    let variables = region.variables.values().filter(|variable| own(variable));
    variables.map(|variable| (variable.name.as_str(), variable)).collect()
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

/// Whether statements have anything to do with a pointer or what it points to, by the name of a member, too.
fn mentions(list: &[Stmt], name: &str) -> bool {
    names_of(list).iter().any(|other| array_of(other) == name || pointer_of(other) == name)
}

/// The names in a list of statements.
fn names_of(list: &[Stmt]) -> HashSet<&str> {
    let mut found = HashSet::new();
    for stmt in list {
        stmt.walk_expressions(&mut |expr| {
            if let ExprKind::Name(name) = &expr.kind {
                found.insert(name.as_str());
            }
        });
    }
    found
}

/// The pointer of which a name is the array, or a member of its structure: `a` of `a->u`.
fn pointer_of(name: &str) -> &str {
    let array = array_of(name);
    array.split_once("->").map_or(array, |(pointer, _)| pointer)
}

/// Puts the buffer of the first one of its circle in the place of each pointer, and the turn in that of each number of a buffer.
fn name_buffers(body: &mut Stmt, turns: &[Turns], numbers: &Numbers) {
    body.walk_expressions_mut(&mut |expr| {
        let ExprKind::Name(name) = &expr.kind else { return };
        if let Some((shift, of, from)) = numbers.turns.get(name) {
            expr.kind = ExprKind::Turn { shift: *shift, of: *of, from: from.clone() };
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

/// Refuses a pointer that is assigned in another way, says where, and what to do.
pub(super) fn not_exchanged<T>(list: &[Stmt], name: &str, span: &Span) -> Result<T> {
    let message = format!("the pointer `{name}` changes in the time loop");
    match limitation::<T>(codes::TYPE, span, message) {
        Err(mut diagnostic) => Err(Box::new({
            let changes = list.iter().flat_map(super::scalars::assigned_within);
            if let Some((_, place)) = changes.into_iter().find(|(other, at)| other == name && at != span) {
                *diagnostic = diagnostic.related(place, "changed here");
            }
            diagnostic
                .note("pointers may take turns once in each time step: `tmp = a; a = b; b = tmp;`")
                .hint("put the exchange behind all loops of the step, or use `A[(t + 1) % 2]` and `A[t % 2]`")
        })),
        other => other,
    }
}
