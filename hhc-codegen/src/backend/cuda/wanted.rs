//! Which cells have to be loaded into the window of a sub-tile that may be partial: of those on the grid that are read, the ones
//! of the fixed boundary, because no row writes them, and of the others those that are live in.

use super::cells::{cell_index, cell_of};
use super::printer::Printer;
use crate::window::Plane;
use c_tree::{Expr, all, any, truth, var};
use polyhedral::domain::Bound;
use polyhedral::sweep::{CellBox, Live};

/// What is known of a cell that is asked about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Known<'a> {
    /// That it lies on the grid.
    OnGrid,
    /// That it lies in this box, on this line along dimension 0, in a sub-tile that neither dimension 0 nor the beginning of
    /// the run cuts.
    Inside(&'a CellBox, i64),
}

impl Known<'_> {
    /// Whether the cell's coordinate along a dimension is one of the box.
    fn within(self, cells: &CellBox, d: usize) -> Expr {
        let (low, high) = cells[d];
        let (first, last) = match self {
            Known::OnGrid => (i64::MIN, i64::MAX),
            Known::Inside(_, line) if d == 0 => (line, line),
            Known::Inside(own, _) => own[d],
        };
        let below = if first >= low { truth(true) } else { cell_index(d).ge(low) };
        let above = if last <= high { truth(true) } else { cell_index(d).le(high) };
        if last < low || first > high { truth(false) } else { below.and(above) }
    }
}

impl Printer<'_> {
    /// Whether the cell `w0`, `w1`, .. of a plane is wanted.
    pub(super) fn wanted(&self, plane: &Plane, known: Known<'_>) -> Expr {
        let inside = |cells: &CellBox| all((0..cells.len()).map(|d| known.within(cells, d)));
        let live = |boxes: &[CellBox]| match boxes {
            boxes if !boxes.is_empty() && boxes == plane.read => truth(true),
            boxes => any(boxes.iter().map(inside)),
        };
        let condition = |cells: &Live| {
            let (early, usual) = (live(&cells.early), live(&cells.usual));
            match known {
                Known::OnGrid if early != usual => var("first_step").lt(0).select(early, usual),
                _ => usual,
            }
        };
        let conditions: Vec<Expr> = plane.clipped.iter().map(condition).collect();
        let Some(first) = conditions.first() else { return truth(true) };
        let alike = conditions.iter().all(|condition| condition == first);
        if alike && *first == truth(true) {
            return truth(true);
        }
        // Outside every domain, one after the other; each outside is a disjunction of sides.
        let outsides: Vec<Expr> =
            plane.clipped.iter().map(|cells| self.outside(cells.writer, known)).collect();
        let boundary = all(outsides.iter().cloned());
        if alike {
            return boundary.or(first.clone());
        }
        let own = conditions.iter().zip(&outsides);
        any([boundary].into_iter().chain(own.map(|(condition, outside)| (!outside.clone()).and(condition))))
    }

    /// The condition that the cell `w0`, `w1`, .. lies outside the domain of a statement.
    fn outside(&self, statement: usize, known: Known<'_>) -> Expr {
        let sides = self.program.statements[statement].domain.iter().enumerate();
        let cut = sides.filter(|(d, _)| *d > 0 || matches!(known, Known::OnGrid));
        any(cut.map(|(d, interval)| {
            // The cells that are asked about lie on the grid.
            let below = match interval.low == Bound::start(0) {
                true => truth(false),
                false => cell_index(d).lt(cell_of(interval.low, d)),
            };
            let above = match interval.high == Bound::end(0) {
                true => truth(false),
                false => cell_index(d).ge(cell_of(interval.high, d)),
            };
            below.or(above)
        }))
    }

    /// Whether neither dimension 0 nor the beginning of the run cuts a sub-tile: all lines of the window lie on the grid, and
    /// in the domains of all statements.
    pub(super) fn is_inside(&self) -> Expr {
        let window = self.staging.window;
        let domains = self.program.statements.iter().map(|statement| statement.domain[0]);
        let ends = domains.flat_map(|interval| [(interval.low, false), (interval.high, true)]);
        let mut conditions = vec![
            var("first_step").ge(0),
            cell_of(Bound::start(0), 0).le(0),
            cell_of(Bound::end(0), 0).ge(window.extent[0]),
        ];
        for (bound, is_end) in ends {
            let cell = cell_of(bound, 0);
            let condition = if is_end { cell.ge(window.extent[0]) } else { cell.le(0) };
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
        all(conditions)
    }
}
