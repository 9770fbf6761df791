//! Numbers of buffers that take turns: `now = 1 - now`, `now = (now + 1) % 3`, `old = now; now = next; next = old;` and whatever
//! else does the same.
//!
//! Let a step move some integers `v_0 .. v_m`. They count buffers `0 .. k - 1` if there are distances `d_0 = 0, d_1, .. d_m` such that,
//! for each `s` of `0 .. k - 1`, the step's own statements make `v_i = (s + d_i) mod k` of all `i` into `v_i = (s + 1 + d_i) mod k`: all
//! `k` cases are computed. In round `r`, `v_i` is `(v_0 + r + d_i) mod k` then, with the `v_0` that the time loop finds. That the
//! integers begin in one of these states is asked before the loop.
//!
//! The statements may stand at the beginning and at the end of the step. What those at the beginning leave is computed in
//! the same way: `(s + u_i) mod k` in each case.

use super::loops::Counter;
use super::scalars::{assigned, declared, mentions};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Stmt, StmtKind};
use crate::integer::literal;
use crate::parse::Region;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Most buffers that are counted.
const MOST_BUFFERS: i64 = 8;
/// Most integers that go round together.
const MOST_TOGETHER: usize = 3;

/// Integers that go round.
#[derive(Default)]
pub(super) struct Numbers {
    pub counters: Vec<Counter>,
    /// What each is in the step, as seen from its first one: `(shift, k, first)`.
    pub turns: HashMap<String, (i64, i64, String)>,
}

/// The numbers of buffers that a step moves, with its other statements; `None` if there are none.
pub(super) fn find(region: &Region, list: &[Stmt]) -> Option<(Numbers, Vec<Stmt>)> {
    let first = list.iter().take_while(|stmt| is_move(region, stmt)).count();
    let last = list.iter().rposition(|stmt| !may_follow(region, stmt)).map_or(0, |at| at + 1).max(first);
    let steps =
        (last..=list.len()).flat_map(|start| [first, 0].map(|ahead| Step { region, list, ahead, start }));
    let mut best: Option<(Numbers, Vec<usize>)> = None;
    for found in steps.filter_map(|step| step.numbers()) {
        if best.as_ref().is_none_or(|(numbers, _)| numbers.counters.len() < found.0.counters.len()) {
            best = Some(found);
        }
    }
    let (numbers, own) = best?;
    let rest = (0..list.len()).filter(|at| !own.contains(at)).map(|at| list[at].clone());
    Some((numbers, rest.collect()))
}

/// The names of those that a list of statements moves.
pub(super) fn names(region: &Region, list: &[Stmt]) -> Vec<String> {
    find(region, list).map_or_else(Vec::new, |(numbers, _)| {
        numbers.counters.into_iter().map(|counter| counter.name).collect()
    })
}

fn is_integer(region: &Region, name: &str) -> bool {
    region.variables.get(name).is_none_or(|one| matches!(one.ctype, CType::Integer { .. }))
}

/// Whether a statement does nothing but to assign and to declare integers.
fn is_move(region: &Region, stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Empty => true,
        StmtKind::Block(list) => list.iter().all(|stmt| is_move(region, stmt)),
        StmtKind::Declaration(own) => own.iter().all(|one| matches!(one.ctype, CType::Integer { .. })),
        StmtKind::Expr(expr) => moves(region, expr),
        StmtKind::If(_, then, otherwise) => {
            is_move(region, then) && otherwise.as_ref().is_none_or(|one| is_move(region, one))
        }
        _ => false,
    }
}

fn moves(region: &Region, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Comma(left, right) => moves(region, left) && moves(region, right),
        ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) => {
            matches!(&target.kind, ExprKind::Name(name) if is_integer(region, name))
        }
        _ => false,
    }
}

/// Whether a statement may stand among those at the end: pointers may take turns there, too.
pub(super) fn may_follow(region: &Region, stmt: &Stmt) -> bool {
    let of_pointers = |expr: &Expr| match &expr.kind {
        ExprKind::Assign(None, target, value) => {
            matches!((&target.kind, &value.kind), (ExprKind::Name(_), ExprKind::Name(_)))
        }
        _ => false,
    };
    is_move(region, stmt)
        || match &stmt.kind {
            StmtKind::Declaration(own) => own.iter().all(|one| matches!(one.ctype, CType::Pointer(_))),
            StmtKind::Expr(expr) => of_pointers(expr),
            _ => false,
        }
}

/// The values of integers at a point of the program; `None` where nothing has been assigned.
type Values = BTreeMap<String, (CType, Option<i64>)>;

struct Step<'a> {
    region: &'a Region,
    list: &'a [Stmt],
    /// So many statements at the beginning move numbers,
    ahead: usize,
    /// and those from here on, but for exchanges of pointers.
    start: usize,
}

/// Integers that are moved together, and the places of the statements that do so.
struct Circle {
    names: Vec<String>,
    statements: Vec<usize>,
}

impl Step<'_> {
    /// The integers that go round, and the statements that move them.
    fn numbers(&self) -> Option<(Numbers, Vec<usize>)> {
        let (mut numbers, mut leaders, mut own) = (Numbers::default(), Vec::new(), Vec::new());
        for circle in self.circles() {
            if let Some(leader) = self.goes_round(&circle, &mut numbers) {
                leaders.push(leader);
                own.extend(circle.statements);
            }
        }
        if leaders.is_empty() {
            return None;
        }
        self.tie(&leaders, &own, &mut numbers);
        Some((numbers, own))
    }

    /// Whether the statement at a place may move numbers.
    fn is_own(&self, at: usize) -> bool {
        at < self.ahead || (at >= self.start && is_move(self.region, &self.list[at]))
    }

    fn others(&self) -> Vec<Stmt> {
        (0..self.list.len()).filter(|at| !self.is_own(*at)).map(|at| self.list[at].clone()).collect()
    }

    /// The integers that the statements move, apart as far as they have nothing to do with each other.
    fn circles(&self) -> Vec<Circle> {
        let others = self.others();
        let mut groups: Vec<(BTreeSet<String>, Vec<usize>)> = Vec::new();
        for at in (0..self.list.len()).filter(|at| self.is_own(*at)) {
            let stmt = &self.list[at];
            let mut used: BTreeSet<String> = declared(std::slice::from_ref(stmt)).into_iter().collect();
            stmt.walk_expressions(&mut |part| note(part, &mut used));
            // What the step declares between with a value of these.
            for between in &others {
                let StmtKind::Declaration(own) = &between.kind else { continue };
                let values =
                    own.iter().filter(|one| used.contains(&one.name)).filter_map(|one| one.value.as_ref());
                let values: Vec<&Expr> = values.collect();
                values.into_iter().for_each(|value| value.walk(&mut |part| note(part, &mut used)));
            }
            let mut places = vec![at];
            groups.retain(|(names, own)| {
                let apart = names.is_disjoint(&used);
                if !apart {
                    used.extend(names.iter().cloned());
                    places.extend(own);
                }
                apart
            });
            places.sort_unstable();
            groups.push((used, places));
        }
        groups.into_iter().filter_map(|(used, statements)| self.circle(&used, statements, &others)).collect()
    }

    /// The integers among some names that statements move; `None` if there are none, or other names hide them.
    fn circle(&self, used: &BTreeSet<String>, statements: Vec<usize>, others: &[Stmt]) -> Option<Circle> {
        let mut fixed: HashSet<String> = declared(others);
        others.iter().for_each(|stmt| fixed.extend(assigned(stmt).1));
        let own = |at: &usize| std::slice::from_ref(&self.list[*at]);
        let moved: HashSet<String> = statements.iter().flat_map(|at| assigned(&self.list[*at]).1).collect();
        let within: HashSet<String> = statements.iter().flat_map(|at| declared(own(at))).collect();
        let mut ahead = statements.iter().filter(|at| **at < self.ahead).flat_map(|at| declared(own(at)));
        let known = |name: &String| self.region.variables.contains_key(name);
        let (outside, inside): (Vec<String>, Vec<String>) =
            used.iter().filter(|name| moved.contains(*name)).cloned().partition(known);
        let integer = |name: &String| matches!(self.region.variables[name].ctype, CType::Integer { .. });
        let plain = outside.iter().all(|name| integer(name) && !fixed.contains(name))
            && inside.iter().all(|name| within.contains(name))
            && !within.iter().any(known)
            && ahead.all(|name| !fixed.contains(&name));
        (plain && !outside.is_empty()).then(|| Circle { names: self.in_order(outside), statements })
    }

    /// Those that hold what they are declared with come first, in the order of the text.
    fn in_order(&self, mut names: Vec<String>) -> Vec<String> {
        names.sort_by_key(|name| (self.begins(name).is_none(), self.region.variables[name].span.start));
        names
    }

    /// The number that a variable is declared with.
    fn begins(&self, name: &str) -> Option<i64> {
        self.region.variables.get(name)?.value.as_ref().and_then(literal)
    }

    /// How the integers of a circle go round: the first of them, and of how many buffers.
    fn goes_round(&self, circle: &Circle, numbers: &mut Numbers) -> Option<(String, i64)> {
        let names = &circle.names;
        if names.len() > MOST_TOGETHER + 1 {
            return None;
        }
        // Integers that are only assigned before they are read are no circle's; their first values do not matter.
        let scratch: Vec<bool> = names.iter().map(|name| self.is_scratch(circle, name)).collect();
        let kept: Vec<&String> =
            names.iter().zip(&scratch).filter(|(_, own)| !**own).map(|(name, _)| name).collect();
        if kept.is_empty() || kept.len() > MOST_TOGETHER {
            return None;
        }
        let most = if kept.len() > 2 { 4 } else { MOST_BUFFERS };
        for of in 2..=most {
            for distances in self.distances(&kept, of) {
                let Some(shifts) = self.shifts(circle, (&kept, &distances, of)) else { continue };
                let leader = kept[0].clone();
                for (name, distance) in kept.iter().zip(&distances) {
                    let ahead_of = (**name != leader).then(|| (leader.clone(), *distance));
                    numbers.counters.push(Counter { name: (*name).clone(), of, ahead_of });
                }
                for (name, shift) in shifts {
                    numbers.turns.insert(name, (shift, of, leader.clone()));
                }
                return Some((leader, of));
            }
        }
        None
    }

    /// Whether a variable holds nothing from one step to the next: every step assigns it before it reads it, and nothing but the
    /// moves has to do with it.
    fn is_scratch(&self, circle: &Circle, name: &str) -> bool {
        let seen = self.region.variables.get(name).is_none_or(|one| one.global);
        if seen || self.region.used_behind.contains(name) || self.region.addressed.contains(name) {
            return false;
        }
        let mut others = (0..self.list.len()).filter(|at| !circle.statements.contains(at));
        let free = !others.any(|at| mentions(&self.list[at], name));
        let writes = |at: &&usize| {
            let mut found = false;
            self.list[**at].walk_expressions(&mut |part| {
                found |= matches!(&part.kind, ExprKind::Name(other) if other == name);
            });
            found
        };
        let first = circle.statements.iter().find(writes);
        let plain = first.is_some_and(|at| match &self.list[*at].kind {
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
                let mut read = false;
                value.walk(&mut |part| read |= matches!(&part.kind, ExprKind::Name(other) if other == name));
                matches!(&target.kind, ExprKind::Name(other) if other == name) && !read
            }
            _ => false,
        });
        free && plain
    }

    /// The distances that integers may have, the likeliest ones first: those that they are declared with, then different ones.
    fn distances(&self, names: &[&String], of: i64) -> Vec<Vec<i64>> {
        let mut all: Vec<Vec<i64>> = vec![vec![0]];
        for _ in 1..names.len() {
            all = all
                .iter()
                .flat_map(|list| (0..of).map(move |next| [list.as_slice(), &[next]].concat()))
                .collect();
        }
        let begins: Option<Vec<i64>> = names.iter().map(|name| self.begins(name)).collect();
        let known: Option<Vec<i64>> =
            begins.map(|values| values.iter().map(|value| (value - values[0]).rem_euclid(of)).collect());
        let same = |list: &Vec<i64>| list.iter().collect::<HashSet<_>>().len() < list.len();
        all.sort_by_key(|list| (known.as_ref() != Some(list), same(list)));
        all
    }

    /// What the numbers, and what the beginning of the step declares of them, are in the step as seen from the first one; `None` where
    /// they do not go round with these distances.
    fn shifts(
        &self,
        circle: &Circle,
        (names, distances, of): (&[&String], &[i64], i64),
    ) -> Option<HashMap<String, i64>> {
        let mut found: Option<HashMap<String, i64>> = None;
        for begin in 0..of {
            let mut values = Values::new();
            for (name, distance) in names.iter().zip(distances) {
                let ctype = self.region.variables.get(*name)?.ctype.clone();
                values.insert((*name).clone(), (ctype, Some((begin + distance) % of)));
            }
            for name in circle.names.iter().filter(|name| !names.contains(name)) {
                values.insert(name.clone(), (self.region.variables.get(name)?.ctype.clone(), None));
            }
            let (ahead, behind): (Vec<usize>, Vec<usize>) =
                circle.statements.iter().partition(|at| **at < self.ahead);
            ahead.iter().try_for_each(|at| run(&self.list[*at], &mut values))?;
            let mut shifts = HashMap::new();
            for (name, (_, value)) in &values {
                let Some(value) = value.filter(|value| (0..of).contains(value)) else { continue };
                shifts.insert(name.clone(), (value - begin).rem_euclid(of));
            }
            match &mut found {
                None => found = Some(shifts),
                Some(found) => found.retain(|name, shift| shifts.get(name) == Some(&*shift)),
            }
            self.between(&mut values);
            behind.iter().try_for_each(|at| run(&self.list[*at], &mut values))?;
            let goes_on = |(name, distance): (&&String, &i64)| {
                values.get(*name).and_then(|(_, value)| *value) == Some((begin + distance + 1) % of)
            };
            if !names.iter().zip(distances).all(goes_on) {
                return None;
            }
        }
        // Each must be known in the step, and what the moves at its beginning declare, too.
        let found = found?;
        let ahead = circle.statements.iter().filter(|at| **at < self.ahead);
        let declared: HashSet<String> =
            ahead.flat_map(|at| declared(std::slice::from_ref(&self.list[*at]))).collect();
        let known = names.iter().copied().chain(&declared).all(|name| found.contains_key(name));
        known.then_some(found)
    }

    /// What the step declares between, once, and changes nowhere.
    fn between(&self, values: &mut Values) {
        let others = self.others();
        let mut changed = HashSet::new();
        self.list.iter().for_each(|stmt| changed.extend(assigned(stmt).1));
        for stmt in &self.list[self.ahead..self.start] {
            let StmtKind::Declaration(own) = &stmt.kind else { continue };
            for one in own {
                let mut times = 0;
                for other in &others {
                    other.walk(&mut |part| {
                        if let StmtKind::Declaration(list) = &part.kind {
                            times += list.iter().filter(|other| other.name == one.name).count();
                        }
                    });
                }
                if times == 1
                    && !changed.contains(&one.name)
                    && !self.region.variables.contains_key(&one.name)
                    && matches!(one.ctype, CType::Integer { .. })
                    && let Some(value) =
                        one.value.as_ref().and_then(|value| stored(value, &one.ctype, values))
                {
                    values.insert(one.name.clone(), (one.ctype.clone(), Some(value)));
                }
            }
        }
    }

    /// Ties circles of as many buffers each, where they choose buffers of one array.
    fn tie(&self, leaders: &[(String, i64)], own: &[usize], numbers: &mut Numbers) {
        let turns = &numbers.turns;
        let arrays = |first: &String| {
            let of_first = |part: &Expr| match &part.kind {
                ExprKind::Name(name) => turns.get(name).is_some_and(|(_, _, leader)| leader == first),
                _ => false,
            };
            let mut found = BTreeSet::new();
            for at in (0..self.list.len()).filter(|at| !own.contains(at)) {
                self.list[at].walk_expressions(&mut |part| {
                    let ExprKind::Index(array, index) = &part.kind else { return };
                    let mut chosen = false;
                    index.walk(&mut |part| chosen |= of_first(part));
                    if let (true, ExprKind::Name(name)) = (chosen, &array.kind) {
                        found.insert(name.clone());
                    }
                });
            }
            found
        };
        let Some(((first, of), others)) = leaders.split_first() else { return };
        let shared = arrays(first);
        let mut ties = HashMap::new();
        for (other, count) in others {
            let known = self.begins(first).zip(self.begins(other)).map(|(a, b)| (b - a).rem_euclid(*of));
            let distance = known.or((*of == 2 && others.len() == 1).then_some(1));
            if let Some(distance) = distance.filter(|_| count == of && !arrays(other).is_disjoint(&shared)) {
                ties.insert(other.clone(), distance);
            }
        }
        for counter in &mut numbers.counters {
            if let Some(distance) = ties.get(&counter.name) {
                counter.ahead_of = Some((first.clone(), *distance));
            }
        }
        for (shift, of, leader) in numbers.turns.values_mut() {
            if let Some(distance) = ties.get(leader) {
                *shift = (*shift + distance).rem_euclid(*of);
                leader.clone_from(first);
            }
        }
    }
}

/// Notes what an expression names.
fn note(part: &Expr, names: &mut BTreeSet<String>) {
    if let ExprKind::Name(name) = &part.kind {
        names.insert(name.clone());
    }
}

/// Runs a statement that moves integers; `None` where a value is not known.
fn run(stmt: &Stmt, values: &mut Values) -> Option<()> {
    match &stmt.kind {
        StmtKind::Empty => Some(()),
        StmtKind::Block(list) => {
            let before: Vec<String> = values.keys().cloned().collect();
            // A name that hides another one would be a variable of its own.
            if declared(list).iter().any(|name| before.contains(name)) {
                return None;
            }
            list.iter().try_for_each(|stmt| run(stmt, values))?;
            values.retain(|name, _| before.contains(name));
            Some(())
        }
        StmtKind::Declaration(own) => own.iter().try_for_each(|one| {
            let value = match &one.value {
                Some(value) => Some(stored(value, &one.ctype, values)?),
                None => None,
            };
            values.insert(one.name.clone(), (one.ctype.clone(), value)).is_none().then_some(())
        }),
        StmtKind::Expr(expr) => run_expression(expr, values),
        StmtKind::If(condition, then, otherwise) => match (value(condition, values)? != 0, otherwise) {
            (true, _) => run(then, values),
            (false, Some(otherwise)) => run(otherwise, values),
            (false, None) => Some(()),
        },
        _ => None,
    }
}

fn run_expression(expr: &Expr, values: &mut Values) -> Option<()> {
    let (operator, target, operand) = match &expr.kind {
        ExprKind::Comma(left, right) => {
            run_expression(left, values)?;
            return run_expression(right, values);
        }
        ExprKind::Assign(operator, target, operand) => {
            // `a = b = 0`
            if matches!(operand.kind, ExprKind::Assign(..)) && operator.is_none() {
                let ExprKind::Assign(_, inner, _) = &operand.kind else { return None };
                run_expression(operand, values)?;
                (None, target, (**inner).clone())
            } else {
                (*operator, target, (**operand).clone())
            }
        }
        ExprKind::Step(by, target) => {
            let one = ExprKind::Integer { value: *by, text: by.to_string() };
            (Some(BinaryOp::Add), target, Expr { kind: one, span: expr.span.clone() })
        }
        _ => return None,
    };
    let ExprKind::Name(name) = &target.kind else { return None };
    let operand = match operator {
        Some(operator) => {
            let kind = ExprKind::Binary(operator, target.clone(), Box::new(operand));
            Expr { kind, span: expr.span.clone() }
        }
        None => operand,
    };
    let ctype = values.get(name)?.0.clone();
    let value = stored(&operand, &ctype, values)?;
    values.insert(name.clone(), (ctype, Some(value)));
    Some(())
}

/// What a variable of a type holds of a value.
fn stored(expr: &Expr, ctype: &CType, values: &Values) -> Option<i64> {
    let cast = ExprKind::Cast(ctype.clone(), Box::new(with_values(expr, values)?));
    literal(&Expr { kind: cast, span: expr.span.clone() })
}

fn value(expr: &Expr, values: &Values) -> Option<i64> {
    literal(&with_values(expr, values)?)
}

/// An expression with the values of its names, in their types.
fn with_values(expr: &Expr, values: &Values) -> Option<Expr> {
    let mut known = true;
    expr.walk(&mut |part| match &part.kind {
        ExprKind::Name(name) => known &= values.get(name).is_some_and(|(_, value)| value.is_some()),
        ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Call(..) | ExprKind::Index(..) => known = false,
        _ => {}
    });
    if !known {
        return None;
    }
    let mut expr = expr.clone();
    expr.walk_mut(&mut |part| {
        let ExprKind::Name(name) = &part.kind else { return };
        if let Some((ctype, Some(value))) = values.get(name) {
            let number = ExprKind::Integer { value: *value, text: value.to_string() };
            let number = Expr { kind: number, span: part.span.clone() };
            part.kind = ExprKind::Cast(ctype.clone(), Box::new(number));
        }
    });
    Some(expr)
}
