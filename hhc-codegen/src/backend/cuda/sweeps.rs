//! Loops over sub-tiles, what makes a sub-tile full, and the place of a thread in memory, which goes on from sub-tile to sub-tile.
//!
//! A loop counts points where all that depends on its variable depends on the same multiple of it: nothing is then multiplied in
//! each sub-tile.

use super::super::bounds::{expr, non_negative};
use super::super::points::{INT, as_it_is, place, plus};
use super::full_rows::OWN;
use super::printer::Printer;
use super::staging::Staging;
use super::text::here;
use crate::int_expr::{self, IntExpr};
use crate::plan::Loop;
use crate::window::Plane;
use c_tree::{Block, Expr, Stmt, Type, all, flag, int, name, var};

/// The thread's place in memory, but for what moves with the sub-tiles of a sweep.
const LINE: &str = "tw_line";

/// How a thread finds its own place in memory in a sub-tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// By products.
    Found,
    /// It goes on by the distance of sub-tiles.
    Walks,
    /// From a line that it has for a whole sweep, one for each plane.
    OnLine,
}

impl Printer<'_> {
    /// Points by which a loop's sub-tiles lie apart, where all that depends on its variable depends on that multiple of it; else 1.
    pub(super) fn points_of_round(&self, sweep: &Loop) -> i64 {
        let Staging { local, kernel, .. } = self.staging;
        let counter = int_expr::var(sweep.variable);
        let (corner, multiple) = (local.corner.iter())
            .find_map(|corner| {
                let (terms, _) = corner.sum();
                let own = terms.into_iter().find(|(term, _)| *term == counter);
                own.map(|(_, multiple)| (corner, multiple))
            })
            .map_or((None, 1), |(corner, multiple)| (Some(corner), multiple));
        let bounds = kernel.sub_tiles.iter().flat_map(|other| [&other.low, &other.high]);
        let others = kernel.full_when.iter().chain(bounds).chain([&local.first_step]);
        let mut all = local.corner.iter().chain(others);
        let multiplied = counter.clone() * multiple;
        let alone = |value: &IntExpr| !value.replace(&multiplied, &int_expr::int(0)).mentions(sweep.variable);
        if corner.is_some() && multiple > 1 && all.all(alone) { multiple } else { 1 }
    }

    /// A value, by loop variables that count points.
    pub(super) fn by_points(&self, value: &IntExpr) -> IntExpr {
        self.kernel.sub_tiles.iter().fold(value.clone(), |value, sweep| match self.points_of_round(sweep) {
            1 => value,
            points => {
                let counter = int_expr::var(sweep.variable);
                value.replace(&(counter.clone() * points), &counter)
            }
        })
    }

    /// The first value of a loop's variable.
    pub(super) fn first_round(&self, sweep: &Loop) -> IntExpr {
        self.by_points(&sweep.low) * self.points_of_round(sweep)
    }

    /// Whether a value of a loop's variable is none behind the last round.
    pub(super) fn is_round(&self, sweep: &Loop, value: &IntExpr) -> Expr {
        expr(value).le(expr(&self.last_point(sweep)))
    }

    /// What no round lies behind, as points.
    fn last_point(&self, sweep: &Loop) -> IntExpr {
        let points = self.points_of_round(sweep);
        match self.by_points(&sweep.high) {
            // What is a multiple of a number is not above the greatest multiple of it if it is not above the rest, too.
            IntExpr::FloorDiv(high, divisor) if divisor == points => high.as_ref().clone(),
            high => high * points,
        }
    }

    /// The loop around what it does in each sub-tile.
    pub(super) fn sweep(&self, sweep: &Loop, inner: Block) -> Stmt {
        let counter = int_expr::var(sweep.variable);
        let (first, points) = (expr(&self.first_round(sweep)), self.points_of_round(sweep));
        Stmt::each(INT, sweep.variable, first, self.is_round(sweep, &counter), points, inner)
    }

    /// What makes sub-tiles full that is the same for all of a tile, if there is such a condition.
    pub(super) fn full_in_all(&self) -> Option<Expr> {
        let conditions: Vec<Expr> = self.full_conditions(false).map(non_negative).collect();
        (!conditions.is_empty()).then(|| all(conditions))
    }

    /// The conditions of full sub-tiles that depend on the sub-tile, or not.
    fn full_conditions(&self, on_sub_tile: bool) -> impl Iterator<Item = &IntExpr> {
        let depends = |bound: &IntExpr| self.kernel.sub_tiles.iter().any(|l| bound.mentions(l.variable));
        self.kernel.full_when.iter().filter(move |bound| depends(bound) == on_sub_tile)
    }

    /// Whether the sub-tile is full.
    pub(super) fn is_full(&self) -> Expr {
        let alike = self.full_in_all().map(|_| flag("may_be_full"));
        let own = self.full_conditions(true).map(|bound| non_negative(&self.by_points(bound)));
        all(alike.into_iter().chain(own))
    }

    /// What must not be negative where there is a next sub-tile, which is full, beside what all have in common.
    pub(super) fn next_is_full(&self, sweep: &Loop) -> Vec<IntExpr> {
        let next = int_expr::var(sweep.variable) + self.points_of_round(sweep);
        let full =
            self.full_conditions(true).map(|bound| self.by_points(bound).substitute(sweep.variable, &next));
        [self.last_point(sweep) - next.clone()].into_iter().chain(full).collect()
    }

    /// How a thread finds its own place in memory.
    ///
    /// In three dimensions, where sub-tiles have few points, it has lines for a whole sweep where columns are a thread's alone: those
    /// that several threads share have places that are not found from a thread's own.
    pub(super) fn place_of_own(&self) -> Place {
        let Staging { local, kernel, window, threads, .. } = self.staging;
        let (Some(sweep), Some((last, fixed))) = (kernel.sub_tiles.last(), local.corner.split_last()) else {
            return Place::Found;
        };
        let last = self.by_points(last);
        let moves = last.substitute(sweep.variable, &int_expr::int(0)) + int_expr::var(sweep.variable);
        if window.slide.is_none()
            || self.dimension() == 1
            || fixed.iter().any(|corner| corner.mentions(sweep.variable))
            || last.sum() != moves.sum()
        {
            return Place::Found;
        }
        let alone = threads.per_dimension[0] == 1 && self.columns_alone();
        match self.dimension() == 3 && self.loads_ahead() && alone && self.staging.explicit_rows {
            true => Place::OnLine,
            false => Place::Walks,
        }
    }

    /// Whether a thread has lines for a whole sweep.
    pub(super) fn has_line(&self) -> bool {
        self.place_of_own() == Place::OnLine
    }

    /// The thread's own place, by products, with these values of loop variables; `last` is the corner along the last dimension.
    fn found(&self, values: &[(&'static str, IntExpr)], last: Option<i64>) -> Expr {
        let Staging { local, window, .. } = self.staging;
        let corners = local.corner.iter().zip(&window.low).enumerate().map(|(d, (corner, low))| {
            let corner = match last {
                Some(last) if d + 1 == self.dimension() => int_expr::int(last),
                _ => self.by_points(corner),
            };
            let corner = values.iter().fold(corner, |corner, (name, value)| corner.substitute(name, value));
            expr(&(corner + *low))
        });
        let corners: Vec<Expr> = corners.collect();
        self.own_cell().into_iter().fold(place(&corners, &as_it_is), plus)
    }

    /// The declaration of the thread's own place in a sub-tile, where it does not walk.
    pub(super) fn own_declaration(&self) -> Option<Stmt> {
        let corners = self.corners();
        let own = match self.place_of_own() {
            Place::Walks => return None,
            Place::OnLine => var(LINE) + var(&corners[self.dimension() - 1]),
            Place::Found => {
                let corners: Vec<Expr> = (corners.into_iter().zip(&self.staging.window.low))
                    .map(|(corner, low)| var(corner) + *low)
                    .collect();
                self.own_cell().into_iter().fold(place(&corners, &as_it_is), plus)
            }
        };
        Some(Stmt::constant(INT, OWN, own))
    }

    /// The loops over sub-tiles; before each sweep comes `before`, and in it `inner`.
    pub(super) fn sweeps(&self, before: Block, mut inner: Block) -> Block {
        let Some((sweep, around)) = self.kernel.sub_tiles.split_last() else {
            return inner;
        };
        let (walks, on_line) = (self.place_of_own() == Place::Walks, self.place_of_own() == Place::OnLine);
        let variable = if walks { OWN } else { LINE };
        let low = |of: &Loop| (of.variable, self.first_round(of));
        // A line is at the corner 0 along the last dimension.
        let last = on_line.then_some(0);
        let mut block = Block::new();
        if walks {
            inner.push(Stmt::assign(name(OWN), here(var(OWN)) + self.points_of_round(sweep)));
        }
        // One sweep goes on where the one before it began, a distance further.
        let outer = match around {
            [outer] if (walks || on_line) && self.goes_on(outer) => Some(outer),
            _ => None,
        };
        if walks || on_line {
            match outer {
                Some(_) if walks => block.push(Stmt::declare(INT, variable, var(LINE))),
                Some(_) => {}
                None => {
                    let first = self.found(&[low(sweep)], last);
                    block.push(Stmt::declare(INT, variable, here(first)));
                }
            }
        }
        if on_line {
            block.extend(self.lines_of_planes());
        }
        let mut sweeps = before;
        sweeps.extend(block);
        sweeps.push(self.sweep(sweep, inner));
        let Some(outer) = outer else {
            return around.iter().rev().fold(sweeps, |inner, around| self.sweep(around, inner).into());
        };
        let first = self.found(&[low(outer), low(sweep)], last);
        let mut whole = Block::from(Stmt::declare(INT, LINE, here(first)));
        let lines: Vec<i64> = vec![0, self.points_of_round(outer)];
        let distance = self.ways.between(&lines, 1);
        let distance = distance.unwrap_or(int(lines[1]) * var("stride1"));
        sweeps.push(Stmt::assign(name(LINE), here(var(LINE)) + distance));
        whole.push(self.sweep(outer, sweeps));
        whole
    }

    /// Whether the corner along dimension 1 moves with this loop, by a point for each that it counts, and no other one does.
    fn goes_on(&self, outer: &Loop) -> bool {
        let Staging { local, kernel, .. } = self.staging;
        let corner = self.by_points(&local.corner[1]);
        let moved = corner.substitute(outer.variable, &int_expr::int(0)) + int_expr::var(outer.variable);
        let others = local.corner.iter().enumerate().filter(|(d, _)| *d != 1).map(|(_, corner)| corner);
        let bounds = kernel.sub_tiles.iter().flat_map(|other| [&other.low, &other.high]);
        self.dimension() == 3
            && corner.sum() == moved.sum()
            && !others.chain(bounds).any(|value| value.mentions(outer.variable))
    }

    /// The same of each plane to which rows write.
    pub(super) fn lines_of_planes(&self) -> Vec<Stmt> {
        let line = |(kind, plane): (Type, &Plane)| {
            let slot = (self.slots(plane.field) > 1).then(|| var(self.slot_name(plane)));
            let place = here(slot.into_iter().fold(var(LINE), |line, slot| slot + line));
            Stmt::declare(kind, self.line_name(plane), name(&self.names.fields[plane.field]) + place)
        };
        self.stored_planes().map(line).collect()
    }

    /// The name of the thread's place in memory, in one plane, but for what moves with the sub-tiles of a sweep.
    pub(super) fn line_name(&self, plane: &Plane) -> String {
        format!("{LINE}_{}{}", self.names.fields[plane.field], plane.number)
    }

    /// The thread's own columns in memory, from these.
    pub(super) fn columns_in_line(&self) -> Vec<Expr> {
        let corner = || here(var(format!("corner{}", self.dimension() - 1)));
        self.stored_planes().map(|(_, plane)| name(self.line_name(plane)) + corner()).collect()
    }
}
