//! What enters a sliding window next is loaded ahead, into registers, while the rows of the present sub-tile are computed.
//!
//! None of its cells is in the window yet, so that no row of the sweep writes it before. Where rows have code of their own,
//! a few loads follow each barrier: all of them at once fill the queue of the unit that shared memory is read by, too, and the
//! first rows wait behind them. The last rows have none, so that what was loaded has come when the next sub-tile begins.

use super::super::bounds::expr;
use super::super::points::{INT, plus};
use super::loads::{Part, lane};
use super::printer::Printer;
use super::staging::Staging;
use super::text::{here, thread, unrolled};
use crate::int_expr;
use crate::window::Within;
use c_tree::{Block, Expr, Stmt, Type, all, flag, int, name, var};
use polyhedral::program::FieldRole;

/// Rows at the end of a sub-tile that load nothing.
const ROWS_WITHOUT_LOADS: usize = 2;

/// Where the next load is: a variable of the function with the rows.
const PLACE: &str = "tw_next";

/// The load of a line.
struct Load<'a> {
    part: &'a Part<'a>,
    /// Its number among those of the part.
    number: i64,
    /// Its coordinates in the window, as seen from a thread's first line.
    line: Vec<i64>,
    /// Whether the thread has this line.
    condition: Vec<Expr>,
}

impl Printer<'_> {
    /// What is loaded ahead, as many lines as there are registers for, where the window slides by a thread's column; and what
    /// is not.
    pub(super) fn ahead_and_rest(&self) -> (Vec<Part<'_>>, Vec<Part<'_>>) {
        let Staging { window, threads, free_registers, .. } = self.staging;
        let mut free = *free_registers;
        if window.slide != threads.per_dimension.last().copied() {
            free = 0;
        }
        let (mut ahead, mut others) = (Vec::new(), Vec::new());
        for part in self.live_in() {
            let registers = self.registers(&part);
            let rows = if others.is_empty() { part.mine[0] * free / registers } else { 0 };
            if registers <= free && others.is_empty() {
                free -= registers;
                ahead.push(part);
            } else if rows > 0 {
                let (first, rest) = self.split(&part, rows);
                ahead.push(first);
                others.push(rest);
            } else {
                others.push(part);
            }
        }
        (ahead, others)
    }

    /// The lines that are loaded ahead.
    pub(super) fn batch_ahead(&self) -> Vec<Part<'_>> {
        self.ahead_and_rest().0
    }

    /// Whether something is loaded ahead.
    pub(super) fn loads_ahead(&self) -> bool {
        !self.batch_ahead().is_empty()
    }

    /// Whether the rows do it.
    pub(super) fn rows_load_ahead(&self) -> bool {
        self.staging.explicit_rows && self.loads_ahead()
    }

    /// The registers for what is loaded ahead, and the place of the first load.
    pub(super) fn ahead_declarations(&self) -> Block {
        let mut block = self.batch_registers(&self.batch_ahead());
        if self.rows_load_ahead() {
            block.push(Stmt::declare(INT, PLACE, 0));
        }
        block
    }

    /// What was loaded ahead is no longer needed: the compiler may use its registers until more is loaded. Where rows load,
    /// it knows by itself.
    pub(super) fn nothing_ahead(&self) -> Block {
        if self.rows_load_ahead() && self.staging.rows_of_all {
            return Block::new();
        }
        let clear = |part: &Part<'_>| {
            let none = Stmt::assign(self.register(part).at(var("k")), int(0));
            unrolled(Stmt::count("int", "k", 0, part.lines(), none))
        };
        self.batch_ahead().iter().flat_map(clear).collect()
    }

    /// Loads what enters the window next, or says where it lies, if the next sub-tile is full and brings nothing else. Only a full
    /// sub-tile does so: the rows of others need registers for their bounds.
    pub(super) fn ahead(&self) -> Block {
        let (Some(slide), Some(sweep)) = (self.staging.window.slide, self.kernel.sub_tiles.last()) else {
            return Block::new();
        };
        let next = int_expr::var(sweep.variable) + 1;
        let mut conditions = vec![expr(&next).le(expr(&sweep.high))];
        conditions.push(self.full_when(1));
        let last = self.dimension() - 1;
        conditions.extend(
            self.staging
                .window
                .exact_within
                .iter()
                .flat_map(|within| self.within(within, if within.dimension == last { slide } else { 0 })),
        );
        let mut block = Block::new();
        block.comment("what enters the window next comes while the rows are computed");
        block.push(Stmt::assign(flag("ahead"), all(conditions)));
        let mut column: Block = self.column(slide).into_iter().collect();
        if self.rows_load_ahead() {
            column.push(Stmt::assign(var(PLACE), self.own_place()));
        } else {
            column.extend(self.batch_loads(&self.batch_ahead()));
        }
        block.push(Stmt::choose(flag("ahead"), column, self.nothing_ahead()));
        block
    }

    /// When the corner is within these bounds, seen from `ahead` points further.
    pub(super) fn within(&self, within: &Within, ahead: i64) -> [Expr; 2] {
        let Within { dimension: d, least, margin } = within;
        let corner = || var(format!("corner{d}"));
        [corner().ge(*least - ahead), corner().le(var(format!("n{d}")) - (*margin + ahead))]
    }

    /// Slots that the loads need, but those to which rows write.
    fn slots_ahead(&self) -> Vec<String> {
        let stored = self.stored_slots();
        let parts = self.batch_ahead();
        let several = parts.iter().filter(|part| self.slots(part.plane.field) > 1);
        let mut slots: Vec<String> = several.map(|part| self.slot_name(part.plane)).collect();
        slots.sort_unstable();
        slots.dedup();
        slots.retain(|slot| !stored.contains(slot));
        slots
    }

    /// The parameters of rows that load ahead.
    pub(super) fn ahead_parameters(&self) -> Vec<(Type, String)> {
        if !self.rows_load_ahead() {
            return Vec::new();
        }
        let parts = self.batch_ahead();
        let registers = parts.iter().map(|part| {
            let kind = format!("tw_registers<{}, {}>", self.element(part.plane), part.lines());
            (Type::new(kind), part.register.clone())
        });
        let slots = self.slots_ahead().into_iter().map(|slot| (Type::new(INT), slot));
        let others = [(Type::new("bool"), "ahead".to_string()), (Type::new(INT), PLACE.to_string())];
        slots.chain(others).chain(registers).collect()
    }

    /// The arguments for them.
    pub(super) fn ahead_arguments(&self) -> Vec<Expr> {
        if !self.rows_load_ahead() {
            return Vec::new();
        }
        let slots = self.slots_ahead().into_iter().map(|slot| here(var(slot)));
        let parts = self.batch_ahead();
        let registers = parts.iter().map(|part| self.register(part));
        slots.chain([flag("ahead"), var(PLACE)]).chain(registers).collect()
    }

    /// What each of so many rows loads, after the barrier before it.
    pub(super) fn loads_by_row(&self, rows: usize) -> Vec<Block> {
        let mut blocks = vec![Block::new(); rows];
        if !self.rows_load_ahead() || rows == 0 {
            return blocks;
        }
        let parts = self.batch_ahead();
        let loads: Vec<Load<'_>> = parts.iter().flat_map(|part| self.loads_of(part)).collect();
        let loading = rows.saturating_sub(ROWS_WITHOUT_LOADS).max(1);
        let mut at: Option<&Load<'_>> = None;
        for (number, load) in loads.iter().enumerate() {
            let block = &mut blocks[number * loading / loads.len()];
            let field = load.part.plane.field;
            let pointer = format!("{PLACE}_{}", self.names.fields[field]);
            match at.filter(|at| at.part.plane.field == field) {
                Some(at) => block.push(Stmt::Update(name(&pointer), "+=", self.way(Some(at), load))),
                None => {
                    let first = name(&self.names.fields[field]) + plus(var(PLACE), self.way(None, load));
                    block.push(Stmt::declare(self.pointer(load.part), &pointer, first));
                }
            }
            let when = all([flag("ahead")].into_iter().chain(load.condition.iter().cloned()));
            let register = self.register(load.part).at(int(load.number));
            block.push(Stmt::call("tw_load_when", [when, register, name(pointer)]));
            at = Some(load);
        }
        blocks
    }

    /// The type of a pointer to a part's elements in memory.
    fn pointer(&self, part: &Part<'_>) -> String {
        let constant = match self.program.fields[part.plane.field].role {
            FieldRole::Coefficient => "const ",
            FieldRole::State { .. } => "",
        };
        format!("TW_GLOBAL({constant}{})", self.element(part.plane))
    }

    /// The loads of a part in the order of its registers.
    fn loads_of<'a>(&self, part: &'a Part<'a>) -> Vec<Load<'a>> {
        let threads = &self.staging.threads.per_dimension;
        let mut loads = vec![Load { part, number: 0, line: vec![0; part.mine.len()], condition: Vec::new() }];
        // Dimension 0 is the innermost one.
        for d in (1..part.mine.len()).chain([0]) {
            let lines = |load: Load<'a>| {
                (0..part.mine[d]).map(move |k| {
                    let mut line = load.line.clone();
                    line[d] = part.cells[d].0 + k * threads[d];
                    let mut condition = load.condition.clone();
                    let (low, high) = part.cells[d];
                    if k + 1 == part.mine[d] && (high - low + 1) % threads[d] != 0 {
                        condition.push(thread(&self.staging.threads, d).le(high - line[d]));
                    }
                    Load { part, number: load.number * part.mine[d] + k, line, condition }
                })
            };
            loads = loads.into_iter().flat_map(lines).collect();
        }
        loads
    }

    /// The way from one load to the next one in memory; to the first one from the thread's own place.
    fn way(&self, from: Option<&Load<'_>>, to: &Load<'_>) -> Expr {
        let slot = |load: &Load<'_>| {
            (self.slots(load.part.plane.field) > 1).then(|| self.slot_name(load.part.plane))
        };
        let mut way: Option<Expr> = None;
        let mut add = |term: Expr, back: bool| {
            way = Some(match (way.take(), back) {
                (None, false) => term,
                (None, true) => -term,
                (Some(sum), false) => plus(sum, term),
                (Some(sum), true) => sum - term,
            });
        };
        let (before, after) = (from.and_then(slot), slot(to));
        if before != after {
            if let Some(after) = after {
                add(var(after), false);
            }
            if let Some(before) = before {
                add(var(before), true);
            }
        }
        for d in (0..to.line.len()).rev() {
            let lines = to.line[d] - from.map_or(0, |from| from.line[d]);
            if lines != 0 {
                let count = int(lines.abs());
                let term = if d + 1 < self.dimension() { count * var(format!("stride{d}")) } else { count };
                add(term, lines < 0);
            }
        }
        way.unwrap_or(int(0))
    }

    /// Where a thread's line 0 lies, at the column `w`, as seen from the arrays' beginnings.
    pub(super) fn own_place(&self) -> Expr {
        let last = self.dimension() - 1;
        let threads = &self.staging.threads.per_dimension;
        let lanes = (0..self.line_dimensions()).filter(|&d| threads[d] > 1);
        let along =
            |(d, lane): (usize, Expr)| if d == last { lane } else { lane * var(format!("stride{d}")) };
        let terms = lanes.map(|d| (d, var(lane(d))));
        let column = self.staging.window.slide.map(|_| (last, var(format!("w{last}"))));
        [var("window")].into_iter().chain(terms.chain(column).map(along)).reduce(plus).unwrap_or(int(0))
    }
}
