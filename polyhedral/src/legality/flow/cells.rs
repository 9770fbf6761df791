//! The cells of storages: **inside**, **kept** and **apart**.

use super::FlowKind;
use super::events::{Case, Finding, FlowProof, around, levels, marked, not_before_in_block};
use super::supply::Supply;
use super::text::{all, any, equal};
use crate::dataflow::{Axis, Event, Place, Reads, Region, Storage};
use crate::isl::Conjunction;
use crate::legality::LegalityError;
use crate::program::{Boundary, FieldId};

/// A read from a storage, and that another event writes to the copy that is read.
struct Kept<'a> {
    reader: &'a Event,
    reads: &'a Reads,
    storage: &'a Storage,
    same_copy: String,
}

/// A way in which an event can write to the cell that is read.
struct Way {
    /// It, and more, without remainders.
    loosely: String,
    /// What it asks besides.
    exactly: String,
}

impl<'a> FlowProof<'a> {
    /// The storage, if it is one of the event's block for values of this field.
    fn storage_of(&self, event: &Event, field: FieldId, index: usize) -> Option<&'a Storage> {
        let storage = self.flow.storages.get(index)?;
        let fits = storage.axes.len() == self.dimension() && storage.planes > 0;
        (fits && storage.kernel == event.kernel && storage.field == field).then_some(storage)
    }

    /// Cells that an event touches exist.
    pub fn inside(&self, event: &'a Event) -> Result<(), LegalityError> {
        let names = [self.own(event), self.point("q")].concat();
        let zero = vec![(0, 0); self.dimension()];
        let written = event.writes.iter().map(|place| (place, event.field, &event.level, &zero));
        let read = event.reads.iter().map(|reads| (&reads.place, reads.field, &reads.level, &reads.offsets));
        let along = self.dimension() - 1;
        let junk = matches!(event.region, Region::Junk(_));
        for (place, field, level, offsets) in written.chain(read) {
            let Place::Storage { index, copy } = place else { continue };
            let storage = self.storage_of(event, field, *index);
            let Some(storage) = storage.filter(|storage| storage.copies.len() == copy.len()) else {
                return Err(LegalityError::Malformed {
                    piece: *index,
                    message: format!("{} touches a storage that is not for it", event.name),
                });
            };
            let wrong = any(storage.axes.iter().enumerate().filter_map(|(d, axis)| match axis {
                // What a lane without a neighbour is handed is junk as well.
                Axis::Window { .. } if junk && d == along && storage.lanes.is_some() => None,
                Axis::Window { .. } if event.whole && d == along => None,
                Axis::Window { first, extent } => {
                    Some(format!("q{d} < ({first}) or q{d} >= ({first}) + {extent}"))
                }
                Axis::Ring { .. } => None,
            }));
            let no_copy =
                storage.copies.iter().zip(copy).map(|(count, own)| format!("not (0 <= {own} < {count})"));
            let without_lane = if event.whole { "1 = 0".to_owned() } else { self.without_lane(storage) };
            let wrong = any([wrong, without_lane].into_iter().chain(no_copy));
            // What junk reads may lie beside the grid.
            let grid = match event.region {
                _ if junk => "1 = 1".to_owned(),
                _ => self.in_grid("q"),
            };
            let bodies =
                [all([self.runs_loosely(event), around(offsets), wrong]), all([self.exactly(event), grid])];
            let finding = Finding {
                kind: FlowKind::Outside,
                event: &event.name,
                other: Some(&storage.name),
                field,
                level,
            };
            self.none(&names, &bodies, &finding)?;
        }
        Ok(())
    }

    /// The point of an event has no lane of the warp that holds a storage.
    fn without_lane(&self, storage: &Storage) -> String {
        let along = self.dimension() - 1;
        match (storage.lanes, &storage.axes[along]) {
            (Some(lanes), Axis::Window { first, .. }) => {
                format!("p{along} < ({first}) or p{along} >= ({first}) + {lanes}")
            }
            _ => "1 = 0".to_owned(),
        }
    }

    /// No other value is written to a cell between supply and read. What is known of the supplier is its place in time.
    pub fn kept(
        &self,
        reader: &'a Event,
        reads: &'a Reads,
        (index, copy): (usize, &[String]),
    ) -> Result<(), LegalityError> {
        let Some(storage) = self.storage_of(reader, reads.field, index) else { return Ok(()) };
        let cases = self.cases(reads.field);
        let supplies = reads.suppliers.iter().map(|supplier| Supply::new(self, reader, reads, supplier));
        let mut supplies: Vec<Supply> = supplies.collect::<Result<_, _>>()?;
        supplies.retain(|supply| supply.same_band);
        for writer in self.writers(index) {
            let moved: Vec<String> = [writer.loops.clone(), self.point("p")].concat();
            let written = writer.copy_written(index).unwrap_or_default();
            let written: Vec<String> = written.iter().map(|own| marked(own, &moved)).collect();
            let same_copy = equal(&written, copy);
            if same_copy == "1 = 0" {
                continue;
            }
            let read = Kept { reader, reads, storage, same_copy };
            for (at, supply) in supplies.iter().enumerate() {
                // Suppliers whose positions differ in the last number alone are looked at together, since the first of them.
                let beside = supplies.iter().filter(|other| other.is_beside(supply));
                let first = beside.min_by_key(|other| other.last_number());
                let later = supplies[..at].iter().any(|other| other.is_beside(supply));
                if let Some(first) = first
                    && (later || supplies[at + 1..].iter().any(|other| other.is_beside(supply)))
                    && self.nothing_since(&read, first, writer)?
                {
                    continue;
                }
                self.kept_from(&read, supply, writer, &cases)?;
            }
        }
        Ok(())
    }

    /// That an event runs between supply and read; `None` where it does not.
    fn between(&self, reader: &Event, supply: &Supply<'a>, writer: &Event) -> Option<String> {
        let moved: Vec<String> = [writer.loops.clone(), self.point("p")].concat();
        let position: Vec<String> = writer.position.iter().map(|place| marked(place, &moved)).collect();
        let between = all([
            not_before_in_block((writer, &position), (supply.event, &supply.position)),
            not_before_in_block((reader, &reader.position), (writer, &position)),
        ]);
        // A row may write where it reads at the same point.
        let itself = if std::ptr::eq(writer, reader) {
            let points = (0..self.dimension()).map(|d| format!("p{d} != p{d}_w"));
            any(points.chain([format!("not ({})", equal(&reader.position, &position))]))
        } else {
            "1 = 1".to_owned()
        };
        (between != "1 = 0").then(|| all([between, itself, supply.exists.clone()]))
    }

    /// Executions of reader and writer, and more, where the writer writes to the cell that is read in one of the ways.
    fn clashes(&self, read: &Kept<'a>, writer: &Event, way: String, between: &str) -> String {
        let Kept { reader, reads, same_copy, .. } = read;
        let moved: Vec<String> = [writer.loops.clone(), self.point("p")].concat();
        // What is said of one of them is put together once.
        let reading = all([self.runs_loosely(reader), around(&reads.offsets)]);
        let writing = all([marked(&self.runs_loosely(writer), &moved), same_copy.clone(), way]);
        all([reading, writing, between.to_owned()])
    }

    /// Whether an event writes nothing to the cell that is read after a supplier's place in time, whatever is supplied.
    fn nothing_since(
        &self,
        read: &Kept<'a>,
        supply: &Supply<'a>,
        writer: &'a Event,
    ) -> Result<bool, LegalityError> {
        let Some(between) = self.between(read.reader, supply, writer) else { return Ok(true) };
        for way in [true, false].into_iter().flat_map(|computed| self.ways(read, writer, computed)) {
            if !self.not_empty_once(&self.clashes(read, writer, way.loosely, &between))?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn kept_from(
        &self,
        read: &Kept<'a>,
        supply: &Supply<'a>,
        writer: &'a Event,
        cases: &[Case],
    ) -> Result<(), LegalityError> {
        let Some(between) = self.between(read.reader, supply, writer) else { return Ok(()) };
        let Kept { reader, reads, .. } = read;
        // Host variable and block are the reader's.
        let moved: Vec<String> = [writer.loops.clone(), self.point("p")].concat();
        let marks: Vec<String> = moved.iter().map(|name| format!("{name}_w")).collect();
        let names = [self.own(reader), self.point("q"), marks].concat();
        for computed in [true, false] {
            let cases = || cases.iter().filter(|case| case.computed.is_some() == computed);
            if cases().all(|case| self.region_in(supply.event, case).is_none()) {
                continue;
            }
            for way in self.ways(read, writer, computed) {
                let loose = self.not_empty_once(&self.clashes(read, writer, way.loosely, &between))?;
                if loose.is_empty() {
                    continue;
                }
                let finding = Finding {
                    kind: FlowKind::Overwritten,
                    event: &reader.name,
                    other: Some(&writer.name),
                    field: reads.field,
                    level: &reads.level,
                };
                for case in cases() {
                    let Some(region) = self.region_in(supply.event, case) else { continue };
                    let exact = all([
                        self.exactly(reader),
                        case.text.clone(),
                        way.exactly.clone(),
                        (supply.text)(&region),
                        supply.there.clone(),
                        supply.same(self, reads, case),
                        marked(&self.exactly(writer), &moved),
                    ]);
                    let loose = loose.iter().map(Conjunction::copy).collect::<Result<_, _>>()?;
                    self.none_of(loose, &names, &[exact], &finding)?;
                }
            }
        }
        Ok(())
    }

    /// The ways in which an event can write another value to the cell of `q`: at a point a whole number of rings away,
    /// or at the point itself, a whole number of planes away.
    fn ways(&self, read: &Kept<'a>, writer: &Event, computed: bool) -> Vec<Way> {
        let Kept { reads, storage, .. } = read;
        let moved: Vec<String> = [writer.loops.clone(), self.point("p")].concat();
        let level = marked(&writer.level, &moved);
        let (_, slots) = levels(self.program, reads.field);
        let modulo = |value: String, period: i64| match period {
            1 => "1 = 1".to_owned(),
            _ => format!("({value}) mod {period} = 0"),
        };
        let planes = modulo(format!("({level}) - ({})", reads.level), storage.planes);
        let mut ways = Vec::new();
        for (d, axis) in storage.axes.iter().enumerate() {
            let Axis::Ring { extent } = axis else { continue };
            let others = || (0..self.dimension()).filter(|&e| e != d);
            let exactly = others().map(|e| match storage.axes[e] {
                Axis::Ring { extent } => modulo(format!("p{e}_w - q{e}"), extent),
                Axis::Window { .. } => "1 = 1".to_owned(),
            });
            let exactly = all(exactly.chain([planes.clone(), modulo(format!("p{d}_w - q{d}"), *extent)]));
            let windows = others().filter(|&e| matches!(storage.axes[e], Axis::Window { .. }));
            let far = format!("p{d}_w >= q{d} + {extent} or p{d}_w <= q{d} - {extent}");
            let loosely = all(windows.map(|e| format!("p{e}_w = q{e}")).chain([far]));
            ways.push(Way { loosely, exactly });
        }
        let at_point = |way: String| Way { loosely: way, exactly: "1 = 1".to_owned() };
        if matches!(writer.region, Region::Junk(_)) {
            // Outside of a box it may be where values are computed, too.
            if !computed || !writer.within_box.is_empty() {
                let point = (0..self.dimension()).map(|d| format!("p{d}_w = q{d}"));
                ways.push(at_point(all(point.chain([planes]))));
            }
            return ways;
        }
        // At a boundary point only levels of another class have another value, and nothing is computed.
        let point = Case { text: String::new(), computed: None };
        let boundary_differs = self.program.boundary == Boundary::PerSlot
            && storage.planes % slots != 0
            && self.region_in(writer, &point).is_some();
        if computed || boundary_differs {
            let point = (0..self.dimension()).map(|d| format!("p{d}_w = q{d}"));
            ways.push(at_point(all(point.chain([planes, format!("({level}) != ({})", reads.level)]))));
        }
        ways
    }

    /// No two events that run side by side write to one cell of a storage.
    pub fn apart(&self, index: usize) -> Result<(), LegalityError> {
        let storage = &self.flow.storages[index];
        let writers = self.writers(index);
        for (at, first) in writers.iter().enumerate() {
            for (with, second) in writers.iter().enumerate().skip(at) {
                let moved: Vec<String> = [second.loops.clone(), self.point("p")].concat();
                let position: Vec<String> =
                    second.position.iter().map(|place| marked(place, &moved)).collect();
                let together = all([
                    not_before_in_block((first, &first.position), (second, &position)),
                    not_before_in_block((second, &position), (first, &first.position)),
                ]);
                if together == "1 = 0" {
                    continue;
                }
                let cell = storage.axes.iter().enumerate().map(|(d, axis)| match axis {
                    Axis::Ring { extent } => format!("(p{d}_w - p{d}) mod {extent} = 0"),
                    Axis::Window { .. } => format!("p{d}_w = p{d}"),
                });
                let [own, other] = [first, second].map(|event| event.copy_written(index).unwrap_or_default());
                let other: Vec<String> = other.iter().map(|other| marked(other, &moved)).collect();
                let copy = equal(own, &other);
                let level = marked(&second.level, &moved);
                let plane = format!("(({level}) - ({})) mod {} = 0", first.level, storage.planes);
                let differ = if at == with {
                    let loops = second.loops.iter().map(|name| format!("{name} != {name}_w"));
                    any(loops.chain((0..self.dimension()).map(|d| format!("p{d} != p{d}_w"))))
                } else {
                    "1 = 1".to_owned()
                };
                let clash = all(cell.chain([copy, together, plane, differ]));
                let loose = [self.runs_loosely(first), marked(&self.runs_loosely(second), &moved)];
                let exact = [self.exactly(first), marked(&self.exactly(second), &moved)];
                let marks = moved.iter().map(|name| format!("{name}_w")).collect();
                let names: Vec<String> = [self.own(first), marks].concat();
                let finding = Finding {
                    kind: FlowKind::Together,
                    event: &first.name,
                    other: Some(&second.name),
                    field: storage.field,
                    level: &first.level,
                };
                self.none(&names, &[clash, all(loose), all(exact)], &finding)?;
            }
        }
        Ok(())
    }
}
