//! Cells and what they hold: two points of a plane have two, those that stay are the same points', rows find theirs in the
//! window, and loads come first (1 to 4).

use super::error::WindowKind;
use super::proof::{ENTERING, Finding, WRITING, WindowProof};
use crate::legality::LegalityError;
use crate::legality::flow::text::{all, any};
use crate::sweep::{Plane, Row};

impl<'a> WindowProof<'a> {
    /// Two points of a plane have two cells.
    pub(super) fn places(&self) -> Result<(), LegalityError> {
        let window = &self.sweep.window;
        let distance = |d: usize| format!("p{d} - q{d}");
        let near = (0..self.dimension()).map(|d| format!("-{0} < {1} < {0}", window.extent[d], distance(d)));
        let address = (0..self.dimension()).map(|d| format!("{}*({})", window.strides[d], distance(d)));
        let address = format!("{} = 0", address.collect::<Vec<_>>().join(" + "));
        let apart = any((0..self.dimension()).map(|d| format!("p{d} != q{d}")));
        let set = self.space.within(&self.sweeps, &all(near.chain([address, apart])))?;
        let finding = Finding { kind: WindowKind::OneCell, row: None, access: "a point" };
        self.none(set, &finding)
    }

    /// Groups are time steps, and planes the slots of their levels.
    pub(super) fn planes(&self, row: &Row) -> Result<(), LegalityError> {
        let (group, step) = (&self.sweep.group, &row.step);
        let advance = [
            format!("{group}{WRITING} = {group} + 1"),
            format!("{} != ({step}) + 1", self.in_group(step, WRITING)),
        ];
        let kind = WindowKind::WrongPlane;
        let finding = Finding { kind, row: Some(row), access: "the time step" };
        self.none(self.space.within(&self.sweeps, &all(advance))?, &finding)?;
        for (access, shift) in self.accesses(row) {
            let (levels, slots) = self.levels(access.field);
            if slots == 1 {
                continue;
            }
            let slot = format!("({step}) + {}", access.time + levels - 1);
            let plane = format!("({}) + {group} + {shift}", self.sweep.first_step);
            let differ = format!("(({slot}) - ({plane})) mod {slots} >= 1");
            let set = self.space.within(&self.sweeps, &all([self.in_groups(""), differ]))?;
            let access = self.program.access_source(&access);
            self.none(set, &Finding { kind, row: Some(row), access: &access })?;
        }
        Ok(())
    }

    /// What a row reads and writes is in the window.
    pub(super) fn inside(&self, row: &Row) -> Result<(), LegalityError> {
        let executed = self.space.within(&self.sweeps, &self.executes(row))?;
        for d in 0..self.dimension() {
            // The first and the last point along each dimension decide.
            let accesses = self.accesses(row);
            let ends = [
                accesses.iter().min_by_key(|(access, _)| access.offset[d]),
                accesses.iter().max_by_key(|(access, _)| access.offset[d]),
            ];
            for (access, _) in ends.into_iter().flatten() {
                let point = format!("q{d} = p{d} + {}", access.offset[d]);
                for side in ["< 0".to_owned(), format!(">= {}", self.sweep.window.extent[d])] {
                    let beyond = format!("{} {side}", self.column(d, "q", ""));
                    let set = self.space.within(&executed, &all([point.clone(), beyond]))?;
                    let access = self.program.access_source(access);
                    self.none(set, &Finding { kind: WindowKind::Outside, row: Some(row), access: &access })?;
                }
            }
        }
        Ok(())
    }

    /// Cells that are kept stay the same points'.
    pub(super) fn stays(&self) -> Result<(), LegalityError> {
        let Some(sliding) = self.sliding else { return Ok(()) };
        let window = &self.sweep.window;
        let (slide, kept) = (window.slide.unwrap_or(0), window.kept);
        let first = |d: usize, mark: &str| self.at(&window.first[d], mark);
        let next = format!("{} = {} + 1", self.position(WRITING), self.position(""));
        let next =
            self.space.within(&self.sweeps, &all([self.in_sweep(""), self.in_sweep(WRITING), next]))?;
        // That one does not slide backwards is needed to say when a point enters.
        let slides = format!("{} != ({}) + {slide}", first(sliding, WRITING), first(sliding, ""));
        let slides = if slide > 0 { slides } else { "1 = 1".to_owned() };
        let others = self.fixed_dimensions().map(|d| format!("{} != ({})", first(d, WRITING), first(d, "")));
        let not_moved = [
            self.in_window(sliding, "q", ""),
            self.in_window(sliding, "q", WRITING),
            format!("not ({})", self.in_columns(sliding, "q", "", (slide, slide + kept))),
        ];
        let not_there = [
            self.in_columns(sliding, "q", WRITING, (0, kept)),
            format!("not ({})", self.in_window(sliding, "q", "")),
        ];
        // A read as an example.
        let row = self.sweep.rows.first();
        let read = row
            .and_then(|row| self.accesses(row).first().map(|(access, _)| self.program.access_source(access)));
        let finding =
            Finding { kind: WindowKind::NotKept, row, access: read.as_deref().unwrap_or("a point") };
        for wrong in others.chain([slides, all(not_moved), all(not_there)]) {
            self.none(self.space.within(&next, &wrong)?, &finding)?;
        }
        Ok(())
    }

    /// No load comes after a write of its cell; loaded cells exist, and their points are on the grid.
    pub(super) fn loads_first(&self) -> Result<(), LegalityError> {
        let window = &self.sweep.window;
        if let Some(sliding) = self.sliding {
            let late = all([
                self.in_sweep(""),
                self.in_sweep(ENTERING),
                format!("{} < {}", self.position(""), self.position(ENTERING)),
                self.in_window(sliding, "q", ""),
                self.in_columns(sliding, "q", ENTERING, (window.kept, window.extent[sliding])),
            ]);
            let finding = Finding { kind: WindowKind::LoadedLate, row: None, access: "a load" };
            self.none(self.space.within(&self.sweeps, &late)?, &finding)?;
        }
        let exact = self.space.within(&self.sweeps, &self.loads_exactly())?;
        for plane in &self.sweep.planes {
            let load = self.load_name(plane);
            for cells in plane.live_in.iter().chain(&plane.read) {
                let beyond = self.fixed_dimensions().zip(cells);
                let beyond = any(
                    beyond.map(|(d, (low, high))| format!("{low} < 0 or {high} >= {}", window.extent[d]))
                );
                let finding = Finding { kind: WindowKind::Outside, row: None, access: &load };
                self.none(self.space.set(&beyond)?, &finding)?;
            }
            let cells = self.space.within(&exact, &self.in_boxes(&plane.live_in, "q"))?;
            let finding = Finding { kind: WindowKind::OffGrid, row: None, access: &load };
            for side in (0..self.dimension()).flat_map(|d| [format!("q{d} < 0"), format!("q{d} >= n{d}")]) {
                self.none(self.space.within(&cells, &side)?, &finding)?;
            }
        }
        Ok(())
    }

    fn load_name(&self, plane: &Plane) -> String {
        format!("a load of {}, plane {},", self.program.field(plane.field).name, plane.number)
    }
}
