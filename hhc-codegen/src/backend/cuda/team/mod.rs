//! Kernels whose blocks are teams of warps that stream along dimension 0, each with rows of the innermost dimension in the
//! registers of its lanes.
//!
//! ```text
//! twice:
//!     for positions before, or behind, those at which all rows of all warps run,
//!     as many at once as registers need to be where they were:
//!         for each of them, unrolled:            warps whose rows all run go through them as below
//!             for rows of the group, unrolled:   a test, the row and what goes with it
//!             what leaves the warp; barrier
//!     for positions at which all rows run, the same
//!             without tests and branches:        rows overlap
//! ```
//!
//! All numbers of registers are constants once the loops are unrolled. Lanes touch nobody else's registers and, in shared memory,
//! nothing but the pieces of their own points, so that the barrier of a position is the only one: shuffles are their own.

mod cells;
mod columns;
mod copies;
mod facts;
mod moves;
mod part;
mod slices;
mod stream;
mod sums;
mod truths;

use super::super::bounds::non_negative;
use super::super::constants::{self, Source};
use super::super::names::Names;
use super::super::points::{INT, max, min};
use super::super::storages;
use super::blocks::Blocks;
use super::text::shared;
use super::ways::{FOLLOWING, Ways, further};
use crate::geometry::{OF_ANOTHER_FIELD, StorageLayout, Threads, WARP};
use crate::int_expr::{IntExpr, int};
use crate::plan::{Instance, Kernel, KernelPlan, Loop};
use crate::storage::{Axis, Region, Storage, Transfer};
use c_tree::{Block, Declaration, Expr, Stmt, call, name, var};
use polyhedral::program::{FieldId, FieldRole};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use sums::{constant, gathered, gathered_long};

/// The number of the lane, the position of the stream since its first one, and that within what is unrolled.
const LANE: &str = "tw_own";
const SINCE: &str = "tw_since";
const WITHIN: &str = "k";
/// The number of a point among those of its lane.
const POINT: &str = "r";
/// Positions of the stream, and the next of them.
const COUNT: &str = "tw_count";
const NEXT: &str = "tw_next";

/// What is known of the rows of a group where a part is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// Nothing: it is before them, or after them.
    Any,
    /// They run: no fact is negative.
    Run,
    /// One of the facts is negative.
    Rest,
}

/// A part of copies that land later, apart from where they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    /// What is asked for before the group, where devices do not copy in the background.
    Ask,
    /// What lands at the end of the position.
    End,
}

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
    /// What is not negative where slices come from the arrays and go there, of the position alone.
    moving: Vec<IntExpr>,
    /// What the text declares before the stream, as it does not change there.
    before: RefCell<Vec<Stmt>>,
    /// Places in memory that go on from position to position: their declarations before the stream, and their steps.
    walks: RefCell<Vec<(Stmt, Stmt)>>,
    /// Whether the text is of the loop in which all rows run and all slices move, and the places that go on there from turn to turn.
    in_turns: Cell<bool>,
    turns: RefCell<Vec<(Stmt, Stmt)>>,
    /// The half of copies that is printed, and the transfer whose they are, if they are not printed where they stand.
    half: Cell<Option<(Half, usize)>>,
    /// Pieces that it has begun or ended so far, and how many of them each transfer has.
    pieces_ahead: Cell<i64>,
    ahead: RefCell<Vec<(usize, i64)>>,
    ways: &'a Ways,
}

impl<'a> Team<'a> {
    /// The kernel, if it has that form.
    pub(super) fn of(
        plan: &'a KernelPlan,
        names: &'a Names,
        kernel: &'a Kernel,
        ways: &'a Ways,
    ) -> Option<Self> {
        kernel.team()?;
        let [position, member] = &kernel.sub_tiles[..] else { return None };
        if plan.program.dimension() < 2 {
            return None;
        }
        let in_registers = || kernel.storages.iter().filter(|storage| storage.first_lane().is_some());
        let (first, points) =
            in_registers().flat_map(|storage| &storage.axes).find_map(|axis| match axis {
                Axis::Lanes { first, points, .. } => Some((first, *points)),
                _ => None,
            })?;
        let period = in_registers().map(rows).fold(1, least_common_multiple);
        let mut facts: Vec<IntExpr> = Vec::new();
        for fact in kernel.instances.iter().flat_map(|row| &row.when) {
            if !facts.contains(fact) {
                facts.push(fact.clone());
            }
        }
        let mut team = Team {
            plan,
            names,
            kernel,
            position,
            member,
            first,
            points,
            period,
            facts,
            moving: Vec::new(),
            before: RefCell::default(),
            walks: RefCell::default(),
            in_turns: Cell::default(),
            turns: RefCell::default(),
            half: Cell::default(),
            pieces_ahead: Cell::default(),
            ahead: RefCell::default(),
            ways,
        };
        team.moving = team.positions_of_slices();
        let works = || storages::parts(kernel).into_iter().flatten();
        works().all(|work| team.prints(work)).then_some(team)
    }

    /// Blocks that shall fit in the registers of a multiprocessor: the compiler needs some besides those of the rows.
    pub(super) fn blocks_at_once(&self, threads: &Threads) -> Blocks {
        // Text that asks of each point whether it is on the boundary has all registers that there are.
        let asks = |transfer: &Transfer| transfer.region == Region::Boundary && transfer.junk.is_none();
        if self.kernel.transfers.iter().any(asks) {
            return Blocks::all(1);
        }
        // Each of four schedulers has its own registers and whole warps: 17 blocks of one warp are five warps for one of them.
        const SCHEDULERS: i64 = 4;
        const OF_A_SCHEDULER: i64 = 16_384;
        // Besides the rows, of which a few are on their way.
        const MOST: i64 = 255;
        // Places in two levels are twice as many; alone, they are in no other warp's way.
        let alone = if self.plan.has_spare_slots() { 96 } else { 80 };
        let others = |rows: i64| (rows / 4).max(if threads.count() <= WARP { alone } else { 60 });
        let program = &self.plan.program;
        let words = |storage: &Storage| {
            // Of the last copy one row is left.
            let last = storage.copies.iter().skip(1).product::<i64>().max(1);
            let read = storage.cells_of_a_lane() / last * (last - 1).max(1);
            read * program.field(storage.field).element.bytes() as i64 / 4
        };
        let rows: i64 =
            self.kernel.storages.iter().filter(|storage| storage.first_lane().is_some()).map(words).sum();
        let fields =
            self.kernel.instances.iter().map(|row| row.statement).collect::<BTreeSet<_>>().len() as i64;
        let of_others = OF_ANOTHER_FIELD * (fields - 1).max(0);
        let of_a_thread = rows + others(rows) + of_others + self.rows_of_coefficients();
        let blocks = |of_a_thread: i64| {
            let warps = SCHEDULERS * (OF_A_SCHEDULER / (WARP * of_a_thread.min(MOST)).max(1));
            (warps * WARP / threads.count().max(1)).max(1)
        };
        Blocks { most: blocks(of_a_thread), without_copies: blocks(of_a_thread + self.words_ahead()) }
    }

    /// Registers for the rows of coefficients that one row of the group reads from shared memory.
    fn rows_of_coefficients(&self) -> i64 {
        let program = &self.plan.program;
        let of_instance = |instance: &Instance| -> i64 {
            let reads = program.statements[instance.statement].reads.iter().zip(&instance.reads);
            let rows: BTreeSet<_> = reads
                .filter(|(access, read)| {
                    let role = program.field(access.field).role;
                    role == FieldRole::Coefficient && read.place.storage().is_some()
                })
                .map(|(access, _)| (access.field.0, &access.offset[..access.offset.len() - 1]))
                .collect();
            let words = |field: usize| program.fields[field].element.bytes() as i64 / 4;
            rows.iter().map(|(field, _)| self.points * words(*field)).sum()
        };
        self.kernel.instances.iter().map(of_instance).max().unwrap_or(0)
    }

    /// The body of the kernel.
    pub(super) fn block(&self, layout: &StorageLayout) -> Block {
        let program = &*self.plan.program;
        let mut body = Block::from([
            Stmt::constant("int", LANE, call("tw_lane", [])),
            Stmt::constant("int", self.member.variable, call("tw_warp_of_team", []))
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
        // What several statements use is one constant.
        let mut declared = BTreeSet::new();
        for instance in &self.kernel.instances {
            let statement = &program.statements[instance.statement];
            let constants = constants::all(program, self.names, statement, Source::Arguments, "now");
            let new = constants.iter().filter(|constant| declared.insert(constant.name.clone()));
            body.extend(new.map(|constant| {
                let value = call("tw_kept", [constant.value.clone()]);
                constants::Constant { value, ..constant.clone() }.declaration()
            }));
        }
        let (low, high) = (&self.position.low, &self.position.high);
        let count = gathered(&(high.clone() - low.clone() + 1));
        body.push(Stmt::constant("int", COUNT, count).note("positions of the stream"));
        let mut stream = self.stream();
        body.extend(self.flags(&stream));
        let walks = self.walks.take().into_iter().map(|(declaration, _)| declaration);
        stream.statements.splice(0..0, walks);
        let before = self.before.take();
        let (words, truths) = truths::in_words(&before, &stream, LANE);
        body.extend(before);
        if words.is_empty() {
            body.extend(stream);
        } else {
            body.extend(words);
            body.push(Stmt::Block(truths.into_iter().chain(stream.statements).collect()));
        }
        body
    }

    /// That none of these is negative. What changes with the position alone bounds it, and the bounds are found before.
    fn hold(&self, conditions: &[IntExpr]) -> Vec<Expr> {
        let (position, group) = (self.position.variable, self.kernel.rows.variable);
        let (mut least, mut most, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for condition in conditions {
            let at_first = condition.substitute(position, &self.position.low);
            match (self.slope(condition, position), condition.mentions(group)) {
                (Some(1), false) => least.push(int(0) - at_first),
                (Some(-1), false) => most.push(at_first),
                (Some(0), false) if !self.is_of_the_warp(condition) => {
                    rest.push(self.declared("bool", "tw_when", non_negative(condition)));
                }
                _ => rest.push(non_negative(condition)),
            }
        }
        let count = || var(COUNT).cast(INT).integer();
        let bound = |of: Vec<IntExpr>, of_all: &dyn Fn(Expr, Expr) -> Expr| {
            of.iter().map(gathered_long).reduce(of_all)
        };
        let least = bound(least, &max).map(|least| max(min(least, count()), c_tree::int(0)));
        let most = bound(most, &min).map(|most| max(min(most, count()), c_tree::int(-1)));
        let since = || var(SINCE);
        let least = least.map(|least| since().ge(self.declared("int", "tw_first", least.cast("int"))));
        let most = most.map(|most| since().le(self.declared("int", "tw_last", most.cast("int"))));
        rest.into_iter().chain(least).chain(most).collect()
    }

    /// Whether a condition is one on the number of the warp, so that it costs nothing.
    fn is_of_the_warp(&self, condition: &IntExpr) -> bool {
        constant(&condition.substitute(self.member.variable, &int(0))).is_some()
    }

    /// A value that is declared before the stream.
    fn declared(&self, kind: &str, wanted: &str, value: Expr) -> Expr {
        let mut before = self.before.borrow_mut();
        let declaration = |number: usize| Stmt::constant(kind, format!("{wanted}{number}"), value.clone());
        let known = (0..before.len()).find(|&number| before[number] == declaration(number));
        let number = known.unwrap_or_else(|| {
            let number = before.len();
            before.push(declaration(number));
            number
        });
        let name = format!("{wanted}{number}");
        if kind == "bool" { c_tree::flag(name) } else { var(name) }
    }

    /// Elements that lie so many lines further along each dimension but the innermost. `kept` says that the distance is to be in a
    /// register.
    fn further(&self, pointer: Expr, field: FieldId, lines: &[i64], kept: bool) -> Expr {
        let bytes = self.plan.program.field(field).element.bytes() as i64;
        self.ways.lines_further(pointer, lines, bytes, kept)
    }

    /// A place in memory that begins somewhere and goes on by so many lines from each position to the next one. Steps are not to be
    /// gathered: several would be a product.
    fn walk(&self, field: FieldId, first: Expr, lines: &[i64]) -> Expr {
        let on = |at: Expr| self.further(at, field, lines, true);
        self.going_on(&self.walks, field, "tw_walk", first, &on)
    }

    /// The same by one line, where all rows run: a step for each turn of the loop, in which positions are lines that follow each other.
    /// `None` where there are too many of them.
    fn turn(&self, field: FieldId, first: Expr) -> Option<Expr> {
        if !self.in_turns.get() || self.period >= FOLLOWING {
            return None;
        }
        let element = self.plan.program.field(field).element.bytes() as i64;
        let line = |number: Expr| self.ways.following(number, element);
        let on = |at: Expr| further(at, line(c_tree::int(self.period)));
        let begin = self.going_on(&self.turns, field, "tw_turn", first, &on);
        Some(further(begin, line(var(WITHIN))))
    }

    /// A place that goes on, each once.
    fn going_on(
        &self,
        all: &RefCell<Vec<(Stmt, Stmt)>>,
        field: FieldId,
        wanted: &str,
        first: Expr,
        on: &dyn Fn(Expr) -> Expr,
    ) -> Expr {
        let mut all = all.borrow_mut();
        let own = |number: usize| {
            let at = name(format!("{wanted}{number}"));
            let declaration = Stmt::declare(self.pointer(field), format!("{wanted}{number}"), first.clone());
            (declaration, Stmt::assign(at.clone(), on(at)))
        };
        let number = (0..all.len()).find(|&number| all[number] == own(number)).unwrap_or_else(|| {
            let number = all.len();
            all.push(own(number));
            number
        });
        name(format!("{wanted}{number}"))
    }

    /// The type of a pointer to a field's elements in memory.
    fn pointer(&self, field: FieldId) -> String {
        let field = self.plan.program.field(field);
        let constant = if field.role == FieldRole::Coefficient { "const " } else { "" };
        format!("TW_GLOBAL({constant}{})", field.element.c_name())
    }

    /// By how much an expression grows with a variable, if it is linear in it.
    fn slope(&self, of: &IntExpr, variable: &'static str) -> Option<i64> {
        let at = |value: i64| of.substitute(variable, &int(value));
        let slope = at(1).minus(&at(0))?;
        (at(8).minus(&at(0))? == 8 * slope).then_some(slope)
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
