//! Loads of sub-tiles that only the swept dimensions cut, in three dimensions, where such sub-tiles are many.
//!
//! What they ask about a cell then depends on its column alone, and its line is a constant. A thread goes through its columns of
//! the window: the lines of a column that are loaded alike wait for memory at once.

use super::super::points::{INT, plus};
use super::cells::{cell_by, cell_index};
use super::loads::{BATCH, Part, lane};
use super::printer::Printer;
use super::text::{here, thread, unrolled_by};
use super::wanted::Known;
use c_tree::{Block, Declaration, Expr, Stmt, all, flag, int, name, truth, var};
use polyhedral::domain::Bound;

/// The distance of lines in memory: multiples of it are found in each column anew, and not kept in registers.
const LINE: &str = "line";

impl Printer<'_> {
    /// When these are the loads, and they: not where threads share the lines of a column, nor where there are more of them than
    /// registers.
    pub(super) fn inside_loads(&self) -> Option<(Expr, Block)> {
        let (window, threads) = (self.staging.window, &self.staging.threads);
        if self.dimension() != 3 || window.slide.is_none() || threads.per_dimension[0] > 1 {
            return None;
        }
        let parts: Vec<Part<'_>> = self.read_parts().collect();
        let registers =
            |part: &Part<'_>| part.mine[0] * self.program.fields[part.plane.field].element.bytes() as i64 / 4;
        if parts.iter().any(|part| registers(part) > BATCH) {
            return None;
        }
        let mut column = Block::from(Stmt::constant(INT, "column", self.own_column_of_window()));
        column.push(Stmt::constant(INT, LINE, here(var("stride0"))));
        column.extend(parts.iter().map(|part| Stmt::Block(self.inside_load(part))));
        Some((self.is_inside(), self.each_column(column)))
    }

    /// `inner` for each of a thread's columns of the window that are on the grid.
    fn each_column(&self, inner: Block) -> Block {
        let (window, threads) = (self.staging.window, &self.staging.threads);
        let last = self.dimension() - 1;
        let on_grid = |d: usize| {
            let [first, end] = [Bound::start(0), Bound::end(0)].map(|bound| cell_by(bound, d, &var));
            cell_index(d).ge(first).and(cell_index(d).lt(end))
        };
        let each = |d: usize, first: Expr, inner: Block| {
            let condition = cell_index(d).lt(window.extent[d]);
            let body = Block::from(Stmt::when(on_grid(d), inner));
            let step = threads.per_dimension[d];
            unrolled_by(1, Stmt::each("int", format!("w{d}"), first, condition, step, body))
        };
        let lines = (1..last).fold(inner, |inner, d| {
            each(d, if threads.per_dimension[d] > 1 { var(lane(d)) } else { int(0) }, inner)
        });
        each(last, var("entering") + thread(threads, last), lines)
    }

    /// The place in memory of the column at `w1`, `w2`, on line 0.
    fn own_column_of_window(&self) -> Expr {
        let last = self.dimension() - 1;
        let along = (1..=last).map(|d| match d == last {
            true => cell_index(d),
            false => cell_index(d) * var(format!("stride{d}")),
        });
        [var("window")].into_iter().chain(along).reduce(plus).unwrap_or(int(0))
    }

    /// Lines of a part that are wanted alike: the condition, and their numbers.
    fn wanted_alike(&self, part: &Part<'_>) -> Vec<(Expr, Vec<i64>)> {
        let (low, high) = part.cells[0];
        let mut groups: Vec<(Expr, Vec<i64>)> = Vec::new();
        for line in low..=high {
            let wanted = self.wanted(part.plane, Known::Inside(part.cells, line));
            match groups.iter_mut().find(|(condition, _)| *condition == wanted) {
                Some((_, lines)) => lines.push(line),
                None => groups.push((wanted, vec![line])),
            }
        }
        groups.retain(|(condition, _)| *condition != truth(false));
        groups
    }

    /// Whether the column is one of the part.
    fn in_part(&self, part: &Part<'_>) -> Expr {
        let window = self.staging.window;
        all((1..part.cells.len()).map(|d| {
            let (low, high) = part.cells[d];
            let above = if low > 0 { cell_index(d).ge(low) } else { truth(true) };
            let below = if high + 1 < window.extent[d] { cell_index(d).le(high) } else { truth(true) };
            above.and(below)
        }))
    }

    /// The load of a part, of whose column is known that it lies on the grid.
    fn inside_load(&self, part: &Part<'_>) -> Block {
        let low = part.cells[0].0;
        let slot = (self.slots(part.plane.field) > 1).then(|| here(var(self.slot_name(part.plane))));
        let first = (low > 0).then(|| int(low) * var(LINE));
        let place = slot.into_iter().chain([var("column")]).chain(first).reduce(plus);
        let value = |line: i64| name("tw_value").at(int(line - low));
        let mut block = Block::from(Stmt::constant(INT, "place", place.unwrap_or(int(0))));
        block.push(Stmt::Declare(vec![Declaration::array(
            self.element(part.plane),
            "tw_value",
            part.mine[0],
        )]));
        let mut stores = Block::new();
        for (number, (condition, lines)) in self.wanted_alike(part).into_iter().enumerate() {
            let wanted = format!("tw_wanted{number}");
            block.push(Stmt::constant("bool", &wanted, self.in_part(part).and(condition)));
            let (mut loads, mut own) = (Block::new(), Block::new());
            for line in lines {
                let way = (line > low).then(|| int(line - low) * var(LINE));
                let place = [var("place")].into_iter().chain(way).reduce(plus).unwrap_or(int(0));
                loads.push(Stmt::assign(value(line), name(&self.names.fields[part.plane.field]).at(place)));
                own.push(Stmt::assign(self.cell_on_line(part.plane, int(line)), value(line)));
            }
            block.push(Stmt::when(flag(&wanted), loads));
            stores.push(Stmt::when(flag(&wanted), own));
        }
        block.extend(stores);
        block
    }
}
