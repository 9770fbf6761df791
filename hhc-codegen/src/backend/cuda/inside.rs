//! Loads of sub-tiles that only the swept dimensions cut, in three dimensions, where such sub-tiles are many.
//!
//! What they ask about a cell then depends on its column alone, and its line is a constant. A thread goes through its columns of
//! the window: the lines of a column that are loaded alike wait for memory at once. Where it is in memory, it walks along by
//! sums: in each plane to which rows write, from the thread's own place in that plane, else from its own place in all of them.

use super::super::points::{INT, plus};
use super::cells::{cell_by, cell_index};
use super::full_rows::OWN;
use super::loads::{BATCH, Part, lane};
use super::printer::Printer;
use super::text::{here, thread, unrolled_by};
use super::wanted::Known;
use crate::window::Plane;
use c_tree::{Block, Declaration, Expr, Stmt, Type, all, flag, int, name, truth, var};
use polyhedral::domain::Bound;

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
        let column = parts.iter().map(|part| Stmt::Block(self.inside_load(part))).collect();
        Some((self.is_inside(), self.each_column(column)))
    }

    /// The planes that rows write to, in each of which a thread has a place of its own for all sub-tiles of a sweep; none where it
    /// has not.
    fn walked(&self) -> Vec<(Type, &Plane)> {
        if self.has_line() { self.stored_planes().collect() } else { Vec::new() }
    }

    /// `inner` for each of a thread's columns of the window that are on the grid, with its place in memory on line 0.
    fn each_column(&self, inner: Block) -> Block {
        let (window, threads) = (self.staging.window, &self.staging.threads);
        let on_grid = |d: usize| {
            let [first, end] = [Bound::start(0), Bound::end(0)].map(|bound| cell_by(bound, d, &var));
            cell_index(d).ge(first).and(cell_index(d).lt(end))
        };
        let each = |d: usize, first: Expr, body: Block| {
            let condition = cell_index(d).lt(window.extent[d]);
            let step = threads.per_dimension[d];
            unrolled_by(1, Stmt::each("int", format!("w{d}"), first, condition, step, body))
        };
        let walked = self.walked();
        let further = cell_index(2) - thread(threads, 2);
        let mut lines = Block::new();
        let mut line = Block::from(Stmt::when(on_grid(1), inner));
        for (kind, plane) in &walked {
            let column = self.walked_name(plane);
            let first = name(self.line_name(plane)) + (here(var("corner2")) + further.clone());
            lines.push(Stmt::declare(kind.clone(), &column, first));
            let next = self.further(name(&column), plane.field, &[0, threads.per_dimension[1]]);
            line.push(Stmt::assign(name(&column), next));
        }
        if line.mentions("column") {
            lines.push(Stmt::declare(INT, "column", var(OWN) + further));
            let lines = [0, threads.per_dimension[1]];
            let elements = self.ways.between(&lines, 1).unwrap_or(int(lines[1]) * var("stride1"));
            line.push(Stmt::Update(name("column"), "+=", elements));
        }
        lines.extend(each(1, if threads.per_dimension[1] > 1 { var(lane(1)) } else { int(0) }, line));
        each(2, var("entering") + thread(threads, 2), Stmt::when(on_grid(2), lines).into())
    }

    /// The name of the place in memory of a column in a plane.
    fn walked_name(&self, plane: &Plane) -> String {
        format!("tw_column_{}{}", self.names.fields[plane.field], plane.number)
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
        let field = part.plane.field;
        let walks = self.walked().iter().any(|(_, plane)| std::ptr::eq(*plane, part.plane));
        let mut block = Block::new();
        let first = if walks {
            name(self.walked_name(part.plane))
        } else {
            let slot = (self.slots(field) > 1).then(|| here(var(self.slot_name(part.plane))));
            let place = slot.into_iter().chain([var("column")]).reduce(plus);
            block.push(Stmt::constant(INT, "place", place.unwrap_or(int(0))));
            name(&self.names.fields[field]) + var("place")
        };
        let value = |line: i64| name("tw_value").at(int(line - low));
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
                let from = self.further(first.clone(), field, &[line, 0]);
                loads.push(Stmt::assign(value(line), from.at(0)));
                own.push(Stmt::assign(self.cell_on_line(part.plane, int(line)), value(line)));
            }
            block.push(Stmt::when(flag(&wanted), loads));
            stores.push(Stmt::when(flag(&wanted), own));
        }
        block.extend(stores);
        block
    }
}
