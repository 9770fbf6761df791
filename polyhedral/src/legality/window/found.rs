//! Every read finds its cell: it was loaded, or a row of the sweep has written it (5).

use super::error::WindowKind;
use super::proof::{ENTERING, Finding, WindowProof};
use super::words::around;
use crate::isl::IslError;
use crate::legality::LegalityError;
use crate::legality::flow::text::{all, any};
use crate::legality::space::Union;
use crate::program::{Access, FieldId};
use crate::sweep::{CellBox, Plane, Row};
use std::collections::{BTreeMap, BTreeSet};

impl<'a> WindowProof<'a> {
    /// Every read finds its cell: it was loaded, or a row of the sweep has written it.
    pub(super) fn found(&self, row: &Row) -> Result<(), LegalityError> {
        let executed = self.space.within(&self.sweeps, &self.executes(row))?;
        let mut reads: BTreeMap<(FieldId, i64), Vec<(Access, i64)>> = BTreeMap::new();
        let mut accesses = self.accesses(row);
        accesses.pop();
        for (access, shift) in accesses {
            reads.entry((access.field, access.time)).or_default().push((access, shift));
        }
        let dimensions: Vec<usize> = self.fixed_dimensions().collect();
        for together in reads.into_values().flat_map(|reads| in_boxes(reads, &dimensions)) {
            match self.found_at(row, &executed, &together) {
                Err(LegalityError::Window(_)) if together.len() > 1 => {
                    for access in &together {
                        self.found_at(row, &executed, std::slice::from_ref(access))?;
                    }
                }
                other => other?,
            }
        }
        Ok(())
    }

    fn found_at(
        &self,
        row: &Row,
        executed: &Union<'a>,
        accesses: &[(Access, i64)],
    ) -> Result<(), LegalityError> {
        let (access, shift) = &accesses[0];
        let same: Vec<Access> = accesses.iter().map(|(access, _)| access.clone()).collect();
        let points = all((0..self.dimension()).map(|d| around(&same, d)));
        let reading = self.space.within(executed, &points)?;
        let (_, slots) = self.levels(access.field);
        let name = self.program.access_source(access);
        let finding = Finding { kind: WindowKind::NotFound, row: Some(row), access: &name };
        for number in 0..slots {
            let group = &self.sweep.group;
            let of_plane = format!("({group} + {shift} - {number}) mod {slots} = 0");
            let of_plane = if slots == 1 { "1 = 1".to_owned() } else { of_plane };
            let reading = self.space.not_empty(self.space.within(&reading, &of_plane)?)?;
            if reading.is_empty() {
                continue;
            }
            let own = |plane: &&Plane| plane.field == access.field && plane.number == number;
            let none = Plane {
                field: access.field,
                number,
                live_in: Vec::new(),
                read: Vec::new(),
                clipped: Vec::new(),
            };
            let plane = self.sweep.planes.iter().find(own).unwrap_or(&none);
            self.none(self.not_loaded(&reading, &plane.read)?, &finding)?;
            for (writer, _) in self.program.writers_of(access.field) {
                let live = plane.clipped.iter().find(|live| live.writer == writer);
                let (usual, early) =
                    live.map_or((&[][..], &[][..]), |live| (&live.usual[..], &live.early[..]));
                let first_step = &self.sweep.first_step;
                let ways = [(format!("({first_step}) >= 0"), usual), (format!("({first_step}) < 0"), early)];
                let ways = if usual == early { vec![("1 = 1".to_owned(), usual)] } else { ways.to_vec() };
                for (when, boxes) in ways {
                    let rest = self.not_loaded(&self.space.within(&reading, &when)?, boxes)?;
                    self.written((row, access), rest, writer, &finding)?;
                }
            }
            let exact = self.space.within(&reading, &self.loads_exactly())?;
            let order = format!("{} <= {}", self.position(ENTERING), self.position(""));
            let exact = self.space.not_empty(self.space.within(&exact, &order)?)?;
            let rest = self.not_loaded(&exact, &plane.live_in)?;
            for (writer, _) in self.program.writers_of(access.field) {
                self.written((row, access), self.copy(&rest)?, writer, &finding)?;
            }
            let beyond = self.program.writers_of(access.field);
            let beyond = all(beyond.map(|(writer, _)| any(self.program.beyond_constraints(writer, "q"))));
            self.none(self.space.within(&rest, &beyond)?, &finding)?;
        }
        Ok(())
    }

    fn copy(&self, union: &Union<'a>) -> Result<Union<'a>, IslError> {
        union.iter().map(|part| part.copy()).collect()
    }

    /// The parts of a set whose point `q` is in none of the boxes.
    fn not_loaded(&self, set: &Union<'a>, boxes: &[CellBox]) -> Result<Union<'a>, IslError> {
        if boxes.is_empty() {
            return self.copy(set);
        }
        self.space.not_empty(self.space.within(set, &format!("not ({})", self.in_boxes(boxes, "q")))?)
    }

    /// The points `q` of a set which are in the domain of a statement are written by a row of the sweep.
    fn written(
        &self,
        (row, access): (&Row, &Access),
        set: Union<'a>,
        statement: usize,
        finding: &Finding,
    ) -> Result<(), LegalityError> {
        let computed = self.space.not_empty(self.space.within(&set, &self.in_domain(statement, "q"))?)?;
        if computed.is_empty() {
            return Ok(());
        }
        // Statements have one row; of several, the first has to be the one.
        let Some((_, writer)) = self.rows_of(statement).next() else { return self.none(computed, finding) };
        let (makes, exists) = self.supplier(row, access, writer);
        let computed = self.space.within(&computed, &makes)?;
        for condition in exists {
            self.none(self.space.within(&computed, &format!("not ({condition})"))?, finding)?;
        }
        Ok(())
    }
}

/// Reads of one level in few parts, whose offsets along these dimensions fill a box each: all of them, if they do;
/// otherwise those that follow each other along the first one. Along the other dimensions, any offsets are together.
fn in_boxes(reads: Vec<(Access, i64)>, dimensions: &[usize]) -> Vec<Vec<(Access, i64)>> {
    let place = |access: &Access| dimensions.iter().map(|&d| access.offset[d]).collect::<Vec<_>>();
    let places: BTreeSet<Vec<i64>> = reads.iter().map(|(access, _)| place(access)).collect();
    let along = |at: usize| {
        let offsets = || places.iter().map(|place| place[at]);
        offsets().max().unwrap_or(0) - offsets().min().unwrap_or(0) + 1
    };
    if (0..dimensions.len()).map(along).product::<i64>() == places.len() as i64 {
        return vec![reads];
    }
    let mut lines: BTreeMap<Vec<i64>, Vec<(Access, i64)>> = BTreeMap::new();
    for read in reads {
        lines.entry(place(&read.0).split_off(1)).or_default().push(read);
    }
    let mut parts: Vec<Vec<(Access, i64)>> = Vec::new();
    for mut line in lines.into_values() {
        line.sort_by_key(|(access, _)| access.offset[dimensions[0]]);
        let ends = |part: &[(Access, i64)], next: &(Access, i64)| {
            let last = part.last().map(|(access, _)| access.offset[dimensions[0]]);
            last.is_some_and(|last| next.0.offset[dimensions[0]] > last + 1)
        };
        let mut part = Vec::new();
        for read in line {
            if ends(&part, &read) {
                parts.push(std::mem::take(&mut part));
            }
            part.push(read);
        }
        parts.push(part);
    }
    parts
}
