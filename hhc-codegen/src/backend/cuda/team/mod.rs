//! Kernels whose blocks are teams of warps that stream along dimension 0, each with rows in the registers of its lanes.
//!
//! ```text
//! for positions of the stream, as many at once as registers need to be where they were:
//!     for each of them, unrolled:
//!         if every row of the group runs:        one test; no branch from there on, so that rows overlap
//!             for rows of the group, unrolled:   the row and what goes with it
//!         else:                                  the same with a test for each part
//!         what leaves the warp
//!         barrier
//! ```
//!
//! All numbers of registers are constants once the loops are unrolled. Lanes touch nobody else's registers and, in shared memory,
//! nothing but the pieces of their own points, so that the barrier of a position is the only one: shuffles are their own.

mod cells;
mod part;

use super::super::bounds::{expr, non_negative};
use super::super::constants::{self, Source};
use super::super::names::Names;
use super::super::points::INT;
use super::super::storages::{self, Work};
use super::text::{barrier, shared};
use crate::geometry::{StorageLayout, Threads};
use crate::int_expr::{IntExpr, int};
use crate::plan::{Kernel, KernelPlan, Loop};
use crate::storage::{Axis, Storage};
use c_tree::{Block, Declaration, Expr, Stmt, all, call, name, var};
use cells::constant;

/// The number of the lane, the position of the stream since its first one, and that within what is unrolled.
const LANE: &str = "tw_own";
const SINCE: &str = "tw_since";
const WITHIN: &str = "k";
/// The position with which what is unrolled begins.
const FROM: &str = "tw_from";

/// A kernel that is printed so.
pub(super) struct Team<'a> {
    plan: &'a KernelPlan,
    names: &'a Names,
    kernel: &'a Kernel,
    position: &'a Loop,
    member: &'a Loop,
    /// The point of lane 0, and neighbouring points of a lane.
    first: &'a IntExpr,
    points: i64,
    /// Positions after which rows lie in the same registers again.
    period: i64,
    /// What is not negative where all rows of a group run: their conditions, of any row of the group.
    facts: Vec<IntExpr>,
}

impl<'a> Team<'a> {
    /// The kernel, if it has that form.
    pub(super) fn of(plan: &'a KernelPlan, names: &'a Names, kernel: &'a Kernel) -> Option<Self> {
        kernel.team()?;
        let [position, member] = &kernel.sub_tiles[..] else { return None };
        if plan.program.dimension() != 2 {
            return None;
        }
        let in_registers = || kernel.storages.iter().filter(|storage| storage.first_lane().is_some());
        let (first, points) =
            in_registers().flat_map(|storage| &storage.axes).find_map(|axis| match axis {
                Axis::Lanes { first, points, .. } => Some((first, *points)),
                _ => None,
            })?;
        let period = in_registers().map(rows).fold(1, least_common_multiple);
        let facts = kernel.instances.iter().flat_map(|row| row.when.clone()).collect();
        let team = Team { plan, names, kernel, position, member, first, points, period, facts };
        let works = || storages::parts(kernel).into_iter().flatten();
        works().all(|work| team.prints(work)).then_some(team)
    }

    /// Blocks that shall fit in the registers of a multiprocessor: the compiler needs some besides those of the rows.
    pub(super) fn blocks_at_once(&self, threads: &Threads) -> i64 {
        const OF_A_MULTIPROCESSOR: i64 = 65_536;
        // Besides the rows, of which a few are on their way.
        let others = |rows: i64| (rows / 4).max(32);
        let program = &self.plan.program;
        let words = |storage: &Storage| {
            let rows_read = storage.cells_of_a_lane() - rows(storage) * self.points;
            rows_read.max(self.points) * program.field(storage.field).element.bytes() as i64 / 4
        };
        let rows: i64 =
            self.kernel.storages.iter().filter(|storage| storage.first_lane().is_some()).map(words).sum();
        (OF_A_MULTIPROCESSOR / (threads.count() * (rows + others(rows))).max(1)).max(1)
    }

    /// The body of the kernel.
    pub(super) fn block(&self, layout: &StorageLayout) -> Block {
        let program = &*self.plan.program;
        let mut body = Block::from([
            Stmt::constant("int", LANE, call("tw_lane", [])),
            Stmt::constant("int", self.member.variable, call("tw_warp", []))
                .note("the warp's number in its team"),
        ]);
        for (storage, &byte_offset) in self.kernel.storages.iter().zip(&layout.offsets) {
            let element = program.field(storage.field).element.c_name();
            if storage.first_lane().is_some() {
                let cells = Declaration::array(element, &storage.name, storage.cells_of_a_lane());
                body.push(Stmt::Declare(vec![cells]).note(format!("{}, in registers", storage.comment)));
                body.push(Stmt::call("tw_without_value", [name(&storage.name)]));
            } else {
                let array = shared(element, &storage.name, storage.all_cells(), byte_offset);
                body.push(array.note(storage.comment.as_str()));
            }
        }
        for instance in &self.kernel.instances {
            let statement = &program.statements[instance.statement];
            let constants = constants::all(program, self.names, statement, Source::Arguments, "now");
            body.extend(constants.iter().map(constants::Constant::declaration));
        }
        let stream = self.stream();
        body.extend(self.flags(&stream));
        body.extend(stream);
        body
    }

    /// The loop over the positions.
    fn stream(&self) -> Block {
        let (low, high) = (&self.position.low, &self.position.high);
        let mut once = Block::from([Stmt::constant(INT, self.position.variable, var(FROM) + var(WITHIN))]);
        let whole = constant(&(high.clone() - low.clone() + 1)).is_some_and(|count| count % self.period == 0);
        if !whole && self.period > 1 {
            once.push(Stmt::when(var(self.position.variable).gt(expr(high)), Stmt::Break));
        }
        let once_more = self.at_a_position();
        if once_more.mentions(SINCE) {
            let since = var(FROM) - expr(low);
            once.push(Stmt::constant("int", SINCE, since.cast("int").integer() + var(WITHIN)));
        }
        once.extend(once_more);
        let unrolled = [Stmt::Pragma("unroll".into()), Stmt::count("int", WITHIN, 0, self.period, once)];
        let condition = var(FROM).le(expr(high));
        Stmt::each(INT, FROM, expr(low), condition, self.period, Block::from(unrolled)).into()
    }

    /// What the warp does at one position.
    fn at_a_position(&self) -> Block {
        let [start, group, end] = storages::parts(self.kernel);
        let every = |works: &[Work<'_>], runs: bool| -> Block {
            works.iter().flat_map(|&work| self.part(work, runs)).collect()
        };
        let rows = |runs: bool| -> Block {
            let Loop { variable, low, high } = &self.kernel.rows;
            let body = every(&group, runs);
            [
                Stmt::Pragma("unroll".into()),
                Stmt::each("int", *variable, expr(low), var(*variable).le(expr(high)), 1, body),
            ]
            .into_iter()
            .collect()
        };
        let mut body = every(&start, false);
        if self.facts.is_empty() {
            body.extend(rows(true));
        } else {
            body.comment("whether all rows of the group run, at their points");
            body.push(Stmt::constant("bool", "tw_all", self.all_run()));
            body.push(Stmt::choose(name("tw_all"), rows(true), rows(false)));
        }
        body.extend(every(&end, false));
        body.push(barrier());
        body
    }

    /// That the conditions hold for all rows of the group: they are linear, so that its ends decide.
    fn all_run(&self) -> Expr {
        let Loop { variable, low, high } = &self.kernel.rows;
        let at = |fact: &IntExpr, end: &IntExpr| non_negative(&fact.substitute(variable, end));
        let mut conditions: Vec<Expr> = Vec::new();
        for fact in &self.facts {
            let slope = self.slope(fact, variable);
            let ends: Vec<&IntExpr> = match slope {
                Some(0..) => vec![low],
                Some(_) => vec![high],
                None => vec![low, high],
            };
            conditions.extend(ends.into_iter().map(|end| at(fact, end)));
        }
        all(conditions)
    }

    /// By how much an expression grows with a variable, if it is linear in it.
    fn slope(&self, of: &IntExpr, variable: &'static str) -> Option<i64> {
        let at = |value: i64| of.substitute(variable, &int(value));
        let slope = constant(&(at(1) - at(0)))?;
        (constant(&(at(8) - at(0)))? == 8 * slope).then_some(slope)
    }
}

/// Rows that a storage has along the stream.
fn rows(storage: &Storage) -> i64 {
    storage.axes.first().map_or(1, Axis::extent)
}

fn least_common_multiple(a: i64, b: i64) -> i64 {
    let (mut greatest, mut rest) = (a.max(1), b.max(1));
    while rest != 0 {
        (greatest, rest) = (rest, greatest % rest);
    }
    a.max(1) / greatest * b.max(1)
}
