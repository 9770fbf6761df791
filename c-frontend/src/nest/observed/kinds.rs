//! Of which kind each statement of a time loop's body is.

use super::index::{Index, movers};
use super::names::{self, indices};
use super::needed::{is_pointer, is_scalar, needed, stripped, writes_only};
use super::parts::Test;
use crate::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use crate::nest::numbers;
use crate::nest::scalars::{assigned, assigned_within};
use crate::nest::targets::plainly_in;
use crate::nest::time::{Found, Loop};
use crate::parse::Region;
use std::collections::HashSet;

/// What a statement of the body is for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// It computes arrays, or what is needed for that; `whole` if nothing else stands in it.
    Stencil { whole: bool },
    /// It computes scalars of the data that the stencil does not need: a reduction.
    Computed,
    /// It counts: scalars of scalars that count.
    Count,
    /// It declares scalars of those that count.
    Local,
    /// It reads a clock, or computes with what was read.
    Timer,
    /// It writes scalars that count, in every step.
    Output,
    /// It runs under a condition.
    Observation,
}

/// A body, statement by statement.
pub(super) struct Step {
    pub kinds: Vec<Kind>,
    /// What the stencil needs of each.
    pub stencil: Vec<Option<Stmt>>,
    pub index: Option<Index>,
    /// The scalars that count.
    pub counts: HashSet<String>,
    /// The scalars that quiet steps do not keep, and which are declared outside.
    pub skipped: HashSet<String>,
    /// The arrays that the stencil computes.
    pub states: HashSet<String>,
    /// The scalars that the stencil needs.
    pub needed: HashSet<String>,
    /// The scalars that clocks are read into.
    pub timers: HashSet<String>,
    /// The numbers of buffers that take turns.
    pub turns: HashSet<String>,
}

impl Step {
    pub fn new(region: &Region, found: &Found<'_>, list: &[Stmt], tested: &[Stmt], tests: &[Test]) -> Step {
        let loops = list.iter().filter(|stmt| matches!(stmt.kind, StmtKind::For(_)));
        let computed: HashSet<String> = loops.flat_map(|stmt| assigned(stmt).0).collect();
        let own: Vec<usize> =
            (0..list.len()).filter(|at| !runs_something(region, &list[*at], &computed)).collect();
        let states: HashSet<String> = own.iter().flat_map(|at| assigned(&tested[*at]).0).collect();
        let movers = movers(region, found, list);
        let needed = needed(region, own.iter().map(|at| &tested[*at]), &movers);
        let index = movers
            .iter()
            .find(|one| needed.contains(&one.name))
            .or_else(|| movers.iter().find(|one| one.at.is_none()))
            .cloned();
        let mut step = Step {
            kinds: vec![Kind::Observation; list.len()],
            stencil: vec![None; list.len()],
            index,
            counts: HashSet::new(),
            skipped: HashSet::new(),
            states,
            needed,
            timers: HashSet::new(),
            turns: HashSet::new(),
        };
        let moves = |at: usize| step.index.as_ref().is_some_and(|index| index.at == Some(at));
        let mut open = Vec::new();
        for at in own {
            let left_out = moves(at) || writes_only(region, &tested[at]);
            let kept = if left_out { None } else { stripped(region, &tested[at], &step.needed) };
            match kept {
                Some(kept) => {
                    let whole = kept == list[at] && !tests.iter().any(|test| test.at == at);
                    step.kinds[at] = Kind::Stencil { whole };
                    step.stencil[at] = Some(kept);
                }
                None => open.push(at),
            }
        }
        step.find_timers(region, list, &open);
        open.retain(|at| step.kinds[*at] != Kind::Timer);
        step.find_counts(region, found, list, &open);
        step.find_flags(list, &open, tests);
        step.find_skipped(region, list);
        step
    }

    /// What reads clocks, and what is computed of that alone.
    fn find_timers(&mut self, region: &Region, list: &[Stmt], open: &[usize]) {
        loop {
            let before = self.timers.len();
            for &at in open {
                let Some(targets) = plain_targets(&list[at]) else { continue };
                let used = names::within(&list[at]);
                let mut calls = Vec::new();
                list[at].walk_expressions(&mut |expr| {
                    if matches!(expr.kind, ExprKind::Call(..)) {
                        calls.extend(names::calls(region, expr));
                    }
                });
                let clock = |name: &String| names::is_clock(name) && !region.functions.contains_key(name);
                let reads_clock = !calls.is_empty() && calls.iter().all(clock);
                // What a comparison of times says may be a count of steps.
                let of_clock = calls.is_empty()
                    && used.iter().any(|name| self.timers.contains(name))
                    && !compares(&list[at]);
                if (reads_clock || of_clock) && used.is_disjoint(&self.states) {
                    self.kinds[at] = Kind::Timer;
                    self.timers.extend(targets);
                    // `gettimeofday(&now, 0)`
                    list[at].walk_expressions(&mut |expr| {
                        if let ExprKind::Unary(UnaryOp::Address, of) = &expr.kind {
                            self.timers.extend(names::of(of));
                        }
                    });
                }
            }
            if self.timers.len() == before {
                break;
            }
        }
    }

    /// The largest set of statements that compute scalars of nothing but such scalars and what does not change; the others
    /// are computed of the data.
    fn find_counts(&mut self, region: &Region, found: &Found<'_>, list: &[Stmt], open: &[usize]) {
        let mut counting: Vec<usize> =
            open.iter().copied().filter(|at| counts(region, &list[*at]).is_some()).collect();
        let head: Vec<&Expr> = match found.source {
            Loop::For(source) => source.step.iter().collect(),
            Loop::While(_) => Vec::new(),
        };
        let data = loop {
            // What the other statements assign changes in a way that is not followed.
            let mut data: HashSet<String> = self.states.union(&self.timers).cloned().collect();
            for (at, stmt) in list.iter().enumerate() {
                if self.kinds[at] != Kind::Timer
                    && !counting.contains(&at)
                    && (open.contains(&at) || self.stencil[at].is_some())
                {
                    data.extend(assigned_within(stmt).into_iter().map(|(name, _)| name));
                    data.extend(indices(stmt));
                    data.extend(crate::nest::scalars::declared(std::slice::from_ref(stmt)));
                }
            }
            let before = counting.len();
            // What is declared with a number holds something else where it is assigned again.
            counting.retain(|at| {
                let own = crate::nest::scalars::declared(std::slice::from_ref(&list[*at]));
                names::within(&list[*at]).is_disjoint(&data) && own.is_disjoint(&data)
            });
            if counting.len() == before {
                break data;
            }
        };
        for &at in open {
            self.kinds[at] = match &list[at].kind {
                StmtKind::Declaration(own) if own.iter().all(|one| one.value.is_none()) => Kind::Local,
                // What is seen outside the program is no value that nobody needs.
                StmtKind::Expr(Expr { kind: ExprKind::Call(..), .. }) => Kind::Output,
                _ if !counting.contains(&at) => Kind::Computed,
                StmtKind::Declaration(_) => Kind::Local,
                StmtKind::If(..) => Kind::Observation,
                _ => {
                    self.counts.extend(counts(region, &list[at]).into_iter().flatten());
                    Kind::Count
                }
            };
        }
        let parts = head.into_iter().flat_map(comma_parts);
        let parts = parts.filter(|expr| names::of(expr).is_disjoint(&data));
        self.counts.extend(parts.filter_map(|expr| counted(region, expr)).flatten());
    }

    /// Scalars that are set where a test holds: `if (error < 1e-6) done = 1;`. No quiet step changes them.
    fn find_flags(&mut self, list: &[Stmt], open: &[usize], tests: &[Test]) {
        for &at in open {
            let StmtKind::If(condition, _, None) = &list[at].kind else { continue };
            let mut tested = false;
            condition.walk(&mut |part| tested |= tests.iter().any(|test| test.stops == *part));
            if tested && self.kinds[at] == Kind::Computed {
                self.kinds[at] = Kind::Observation;
            }
        }
    }

    fn find_skipped(&mut self, region: &Region, list: &[Stmt]) {
        for (at, stmt) in list.iter().enumerate() {
            if matches!(self.kinds[at], Kind::Stencil { .. } | Kind::Computed | Kind::Timer) {
                self.skipped.extend(assigned(stmt).1);
                self.skipped.extend(indices(stmt));
            }
        }
        // Those of the body itself are computed anew.
        let declared = crate::nest::scalars::declared(list);
        self.skipped.retain(|name| !declared.contains(name) || region.variables.contains_key(name));
        // Pointers that take turns are kept, or refused.
        self.skipped.retain(|name| !is_pointer(region, name));
        let own: Vec<Stmt> = self.stencil.iter().flatten().cloned().collect();
        for name in numbers::names(region, &own) {
            self.skipped.remove(&name);
            self.turns.insert(name);
        }
    }

    /// Whether the statements `first ..= last` are the stencil and nothing else, and nothing else needs what they leave in
    /// scalars.
    pub fn may_be_replaced(&self, region: &Region, list: &[Stmt], first: usize, last: usize) -> bool {
        let empty = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Declaration(own) => own.iter().all(|one| one.value.is_none()),
            _ => false,
        };
        let together = self.kinds[first..=last].iter().all(|kind| *kind == Kind::Stencil { whole: true });
        let around: Vec<usize> = (0..list.len()).filter(|at| !(first..=last).contains(at)).collect();
        let alone = around.iter().all(|&at| match self.kinds[at] {
            Kind::Observation | Kind::Count | Kind::Timer | Kind::Output => true,
            Kind::Local => empty(&list[at]),
            Kind::Stencil { .. } | Kind::Computed => false,
        });
        let declared = crate::nest::scalars::declared(&list[first..=last]);
        let left: HashSet<&String> = self.skipped.iter().chain(&declared).collect();
        let read = around.iter().any(|&at| {
            let hidden = names::runs_unknown(region, &list[at])
                && left.iter().any(|name| {
                    region.variables.get(*name).is_some_and(|one| one.global)
                        || region.addressed.contains(*name)
                });
            hidden
                || (self.kinds[at] != Kind::Timer
                    && names::within(&list[at]).iter().any(|name| left.contains(name)))
        });
        together && alone && !read
    }
}

/// Whether a statement is an `if` that does more than to compute: it calls, loops, leaves, or keeps values in arrays that no
/// loop computes.
fn runs_something(region: &Region, stmt: &Stmt, computed: &HashSet<String>) -> bool {
    let StmtKind::If(..) = &stmt.kind else { return false };
    let arrays = assigned(stmt).0;
    let mut found = !arrays.is_empty() && arrays.is_disjoint(computed);
    stmt.walk(&mut |part| {
        found |= match &part.kind {
            StmtKind::For(_) | StmtKind::While(_) | StmtKind::Other(..) => true,
            StmtKind::Expr(expr) => !names::calls(region, expr).is_empty(),
            _ => false,
        };
    });
    found
}

/// Whether a statement keeps a value of each step in an array of its own: `seen[t] = ..;`.
pub(super) fn keeps_each_step(step: &Step, found: &Found<'_>, stmt: &Stmt) -> bool {
    let StmtKind::Expr(Expr { kind: ExprKind::Assign(_, target, _), .. }) = &stmt.kind else { return false };
    let counter = found.counter.as_ref().ok().map(|counter| &counter.name);
    let index = step.index.as_ref().map(|index| &index.name);
    let mut keeps = false;
    target.walk(&mut |part| {
        if let ExprKind::Index(_, at) = &part.kind {
            keeps |= counter.into_iter().chain(index).chain(&step.counts).any(|name| plainly_in(at, name));
        }
    });
    keeps
}

/// The names that a statement without parts assigns: an expression or a declaration.
fn plain_targets(stmt: &Stmt) -> Option<Vec<String>> {
    match &stmt.kind {
        StmtKind::Declaration(own) => Some(own.iter().map(|one| one.name.clone()).collect()),
        StmtKind::Expr(_) => Some(assigned(stmt).1.into_iter().collect()),
        _ => None,
    }
}

/// The scalars that a statement counts in; `None` for one that does something else.
fn counts(region: &Region, stmt: &Stmt) -> Option<Vec<String>> {
    match &stmt.kind {
        StmtKind::Expr(expr) => counted(region, expr),
        StmtKind::Declaration(own) => own
            .iter()
            .all(|one| is_scalar(one) && one.value.iter().all(|value| names::only_reads(region, value)))
            .then(Vec::new),
        // Scalars that change under a condition.
        StmtKind::If(condition, ..) => names::only_reads(region, condition).then(Vec::new),
        _ => None,
    }
}

/// The scalars that an expression counts in; `None` for one that does something else.
fn counted(region: &Region, expr: &Expr) -> Option<Vec<String>> {
    let scalar = |name: &str| region.variables.get(name).is_some_and(is_scalar);
    let name_of = |target: &Expr| match &target.kind {
        ExprKind::Name(name) if scalar(name) => Some(vec![name.clone()]),
        _ => None,
    };
    match &expr.kind {
        ExprKind::Assign(_, target, value) if names::only_reads(region, value) => name_of(target),
        ExprKind::Step(_, target) => name_of(target),
        ExprKind::Call(..) => Some(Vec::new()),
        _ => None,
    }
}

/// Whether a statement asks something.
fn compares(stmt: &Stmt) -> bool {
    use BinaryOp::*;
    let mut found = false;
    stmt.walk_expressions(&mut |part| {
        found |= match &part.kind {
            ExprKind::Binary(operator, ..) => {
                matches!(operator, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
            }
            ExprKind::Unary(operator, _) => *operator == UnaryOp::Not,
            ExprKind::Conditional(..) => true,
            _ => false,
        };
    });
    found
}

/// What stands between the commas of an expression.
fn comma_parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Comma(left, right) => [comma_parts(left), comma_parts(right)].concat(),
        _ => vec![expr],
    }
}
