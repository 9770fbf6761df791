//! What enters a sliding window next is loaded ahead, into registers, while the rows of the present sub-tile are computed.
//!
//! None of its cells is in the window yet, so that no row of the sweep writes it before. Where rows have code of their own,
//! a few loads follow each barrier: all of them at once fill the queue of the unit that shared memory is read by, too, and the
//! first rows wait behind them. The last rows have none, so that what was loaded has come when the next sub-tile begins.

use super::super::bounds::non_negative;
use super::super::points::{INT, plus};
use super::full_rows::OWN;
use super::loads::{Part, lane};
use super::printer::Printer;
use super::staging::Staging;
use super::text::{here, thread, unrolled};
use super::ways;
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
    /// How many parts are loaded ahead, the first ones: as many as there are registers for, where the window slides by a
    /// thread's column.
    pub(super) fn parts_ahead(&self) -> usize {
        let Staging { window, threads, free_registers, .. } = self.staging;
        if window.slide != threads.per_dimension.last().copied() {
            return 0;
        }
        let mut used = 0;
        let fits = |part: &Part<'_>| {
            used += self.registers(part);
            used <= *free_registers
        };
        self.live_in().take_while(fits).count()
    }

    /// The parts that are loaded ahead.
    pub(super) fn batch_ahead(&self) -> Vec<Part<'_>> {
        self.live_in().take(self.parts_ahead()).collect()
    }

    /// Whether something is loaded ahead.
    pub(super) fn loads_ahead(&self) -> bool {
        self.parts_ahead() > 0
    }

    /// Whether the rows do it.
    pub(super) fn rows_load_ahead(&self) -> bool {
        self.staging.explicit_rows && self.loads_ahead()
    }

    /// The registers for what is loaded ahead, and the place of the first load.
    pub(super) fn ahead_declarations(&self) -> Block {
        let mut block = self.batch_registers(&self.batch_ahead());
        if self.rows_walk() {
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
        let last = self.dimension() - 1;
        let corner = self.by_points(&self.staging.local.corner[last]);
        let (mut bounds, mut conditions) = (self.next_is_full(sweep), Vec::new());
        for within in &self.staging.window.exact_within {
            if within.dimension == last {
                let size = int_expr::var(["n0", "n1", "n2"][last]);
                bounds.push(corner.clone() - (within.least - slide));
                bounds.push(size - corner.clone() - (within.margin + slide));
            } else {
                conditions.extend(self.within(within, 0));
            }
        }
        let alike = self.full_in_all().map(|_| flag("may_be_full"));
        let bounds = int_expr::strictest(bounds);
        let conditions = alike.into_iter().chain(bounds.iter().map(non_negative)).chain(conditions);
        let mut block = Block::new();
        block.comment("what enters the window next comes while the rows are computed");
        block.push(Stmt::assign(flag("ahead"), all(conditions)));
        let mut column = Block::new();
        if self.rows_walk() || !self.rows_load_ahead() {
            column.extend(self.column(slide));
        }
        if self.rows_walk() {
            column.push(Stmt::assign(var(PLACE), self.own_place()));
        } else if !self.rows_load_ahead() {
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
        let several = parts.iter().filter(|part| self.slots(part.plane.field) > 1 && self.walks(part));
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
            (Type::new(kind), self.register_name(part))
        });
        let slots = self.slots_ahead().into_iter().map(|slot| (Type::new(INT), slot));
        let place = self.rows_walk().then(|| (Type::new(INT), PLACE.to_string()));
        slots.chain([(Type::new("bool"), "ahead".to_string())]).chain(place).chain(registers).collect()
    }

    /// The arguments for them.
    pub(super) fn ahead_arguments(&self) -> Vec<Expr> {
        if !self.rows_load_ahead() {
            return Vec::new();
        }
        let slots = self.slots_ahead().into_iter().map(|slot| here(var(slot)));
        let parts = self.batch_ahead();
        let registers = parts.iter().map(|part| self.register(part));
        slots.chain([flag("ahead")]).chain(self.rows_walk().then(|| var(PLACE))).chain(registers).collect()
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
            let from = at.filter(|at| at.part.plane.field == field);
            let place = match from {
                _ if !self.walks(load.part) => self.after_own_column(load),
                Some(_) => self.on_to(name(&pointer), from, load),
                None => self.on_to(name(&self.names.fields[field]) + var(PLACE), None, load),
            };
            block.push(match from {
                Some(_) => Stmt::assign(name(&pointer), place),
                None => Stmt::declare(self.pointer(load.part), &pointer, place),
            });
            let when = all([flag("ahead")].into_iter().chain(load.condition.iter().cloned()));
            let register = self.register(load.part).at(int(load.number));
            block.push(Stmt::call("tw_load_when", [when, register, name(pointer)]));
            at = Some(load);
        }
        blocks
    }

    /// Whether the loads of a part go on from each other. Where a thread has all lines of its column, and rows store to the field,
    /// each is found from the thread's own column of the plane, which needs no register beside it.
    fn walks(&self, part: &Part<'_>) -> bool {
        self.staging.threads.per_dimension[0] > 1 || !self.is_stored(part.plane.field)
    }

    /// Whether rows load, and some of the loads go on from each other.
    fn rows_walk(&self) -> bool {
        self.rows_load_ahead() && self.batch_ahead().iter().any(|part| self.walks(part))
    }

    /// The place of a load in memory, from the thread's own column.
    fn after_own_column(&self, load: &Load<'_>) -> Expr {
        let (window, plane) = (self.staging.window, load.part.plane);
        let column = window.kept + window.slide.unwrap_or(0);
        let own = name(self.column_name(plane.field, plane.number)) + int(column);
        self.further(own, plane.field, &load.line)
    }

    /// The type of a pointer to a part's elements in memory.
    pub(super) fn pointer(&self, part: &Part<'_>) -> String {
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

    /// From the place of one load in memory to that of the next one; to the first one from the thread's own place.
    fn on_to(&self, pointer: Expr, from: Option<&Load<'_>>, to: &Load<'_>) -> Expr {
        let slot = |load: &Load<'_>| {
            (self.slots(load.part.plane.field) > 1).then(|| self.slot_name(load.part.plane))
        };
        let (before, after) = (from.and_then(slot), slot(to));
        let slots = match (before, after) {
            (before, after) if before == after => None,
            (None, after) => after.map(var),
            (Some(before), None) => Some(-var(before)),
            (Some(before), Some(after)) => Some(var(after) - var(before)),
        };
        let mut lines: Vec<i64> =
            (0..to.line.len()).map(|d| to.line[d] - from.map_or(0, |from| from.line[d])).collect();
        let outer = self.dimension() - 1;
        // Where the window does not slide, lines are told apart along all dimensions.
        let cells = lines.get(outer).copied().unwrap_or(0);
        lines.resize(outer, 0);
        let elements = slots.into_iter().chain((cells != 0).then(|| int(cells))).reduce(plus);
        let pointer = elements.into_iter().fold(pointer, |pointer, elements| pointer + elements);
        self.further(pointer, to.part.plane.field, &lines)
    }

    /// Where a thread's line 0 lies, at the column `w`, as seen from the arrays' beginnings.
    pub(super) fn own_place(&self) -> Expr {
        let (last, threads) = (self.dimension() - 1, &self.staging.threads);
        let lines = (last > 0 && threads.per_dimension[0] > 1).then(|| match threads.per_dimension[0] {
            2 => var(lane(0)).is(0).select(0, var("stride0")),
            _ => ways::lines_of_window(var(lane(0)), self.staging.window.extent[0]),
        });
        let column = self.staging.window.slide.map(|_| var(format!("w{last}")) - thread(threads, last));
        [var(OWN)].into_iter().chain(lines).chain(column).reduce(plus).unwrap_or(int(0))
    }

    /// What the place of a thread's own cell is beside that of the window's first one.
    pub(super) fn own_cell(&self) -> Vec<Expr> {
        let (last, threads) = (self.dimension() - 1, &self.staging.threads);
        let several = (0..=last).filter(|&d| (d > 0 || last == 0) && threads.per_dimension[d] > 1);
        several
            .map(|d| match d == last {
                true => thread(threads, d),
                false => thread(threads, d) * var(format!("stride{d}")),
            })
            .collect()
    }
}
