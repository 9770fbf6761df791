//! The cells of the arrays: **in turn** and **landed**.

use super::FlowKind;
use super::bands;
use super::events::{Finding, FlowProof, around, levels, marked};
use super::text::{all, any};
use crate::dataflow::{Event, Place, Region};
use crate::isl::Set;
use crate::legality::LegalityError;

impl<'a> FlowProof<'a> {
    /// Events that write to the arrays, with the slot.
    fn stores(&self) -> Vec<(&'a Event, String)> {
        let places = |event: &'a Event| {
            event.writes.iter().filter_map(move |place| match place {
                Place::Arrays { slot } => Some((event, slot)),
                Place::Storage { .. } => None,
            })
        };
        let stores = self.flow.events.iter().flat_map(places);
        stores.map(|(event, slot)| (event, self.slot(event.field, &event.level, slot))).collect()
    }

    /// Slots of the arrays that are not those of levels are among those that there are.
    pub fn slots_exist(&self) -> Result<(), LegalityError> {
        for event in &self.flow.events {
            let written = event.writes.iter().map(|place| (place, event.field, &event.level));
            let read = event.reads.iter().map(|reads| (&reads.place, reads.field, &reads.level));
            for (place, field, level) in written.chain(read) {
                let Place::Arrays { slot: Some(slot) } = place else { continue };
                let (_, slots) = levels(self.program, field);
                let all_slots = slots * (1 + i64::from(self.spare()));
                let beyond = format!("({slot}) < 0 or ({slot}) >= {all_slots}");
                let other = Some("the slots that there are");
                let finding = Finding { kind: FlowKind::Outside, event: &event.name, other, field, level };
                self.none(&self.own(event), &[all([self.runs_loosely(event), beyond])], &finding)?;
            }
        }
        Ok(())
    }

    /// To a cell of the arrays values are written in turn, each once, and after the reads of what was there.
    pub fn in_turn(&self) -> Result<(), LegalityError> {
        let stores = self.stores();
        for store in &stores {
            let readers = self.flow.events.iter().flat_map(|event| {
                event
                    .reads
                    .iter()
                    .filter(|reads| reads.field == store.0.field)
                    .map(move |reads| (event, reads))
            });
            for (reader, reads) in readers {
                let Place::Arrays { slot } = &reads.place else { continue };
                // What reads the boundary alone, never reads what a statement computes.
                let at_points = reads.offsets.iter().all(|&offset| offset == (0, 0));
                if reader.region == Region::Boundary && at_points && store.0.region != Region::Grid {
                    continue;
                }
                let read_slot = self.slot(reads.field, &reads.level, slot);
                let point = all([around(&reads.offsets)].into_iter().chain(self.same_point("q")));
                self.in_turn_after((reader, &reads.level, &read_slot), &point, store)?;
            }
            for (before, slot) in stores.iter().filter(|(before, _)| before.field == store.0.field) {
                let point = all(self.same_point("p").into_iter().chain(self.same_point_as_q()));
                self.in_turn_after((before, &before.level, slot), &point, store)?;
                self.once((before, slot), store)?;
            }
        }
        Ok(())
    }

    fn same_point(&self, prefix: &str) -> Vec<String> {
        (0..self.dimension()).map(|d| format!("p{d}_w = {prefix}{d}")).collect()
    }

    fn same_point_as_q(&self) -> Vec<String> {
        (0..self.dimension()).map(|d| format!("q{d} = p{d}")).collect()
    }

    /// A store of a higher level to a cell runs after the event that reads or writes a lower one there.
    fn in_turn_after(
        &self,
        (event, level, slot): (&'a Event, &str, &str),
        point: &str,
        (store, store_slot): &(&'a Event, String),
    ) -> Result<(), LegalityError> {
        let moved = self.own(store);
        let other = |text: &str| marked(text, &moved);
        let out_of_turn = all([
            format!("({}) > ({level})", other(&store.level)),
            format!("{slot} = {}", other(store_slot)),
            self.not_before((event, &|text| text.to_owned()), (store, &other)),
            self.two_bands("_w"),
            self.iteration(),
            other(&self.iteration()),
        ]);
        let marks = moved.iter().map(|name| format!("{name}_w")).collect();
        let names = [self.own(event), self.point("q"), marks].concat();
        let loose = [self.runs_loosely(event), other(&self.runs_loosely(store))];
        let exact = [self.exactly(event), point.to_owned(), other(&self.exactly(store))];
        let finding = Finding {
            kind: FlowKind::OutOfTurn,
            event: &event.name,
            other: Some(&store.name),
            field: store.field,
            level,
        };
        self.none(&names, &[out_of_turn, all(loose), all(exact)], &finding)
    }

    /// No value is stored twice; where there are spare slots, none is stored twice in one slot.
    fn once(
        &self,
        (before, slot): (&'a Event, &str),
        (store, store_slot): &(&'a Event, String),
    ) -> Result<(), LegalityError> {
        let (store, moved) = (*store, self.own(store));
        let other = |text: &str| marked(text, &moved);
        let differ = if std::ptr::eq(before, store) {
            any(moved.iter().map(|name| format!("{name} != {name}_w")))
        } else {
            "1 = 1".to_owned()
        };
        let twice = all(self.same_point("p").into_iter().chain([
            format!("({}) = ({})", other(&store.level), before.level),
            differ,
            self.two_bands("_w"),
            if self.spare() { format!("{slot} = {}", other(store_slot)) } else { "1 = 1".to_owned() },
        ]));
        let marks = moved.iter().map(|name| format!("{name}_w")).collect();
        let names: Vec<String> = [self.own(before), marks].concat();
        let loose = [self.runs_loosely(before), other(&self.runs_loosely(store)), twice];
        let exact = [self.exactly(before), other(&self.exactly(store))];
        let finding = Finding {
            kind: FlowKind::OutOfTurn,
            event: &before.name,
            other: Some(&store.name),
            field: store.field,
            level: &before.level,
        };
        self.none(&names, &[all(loose), all(exact)], &finding)
    }

    /// The newest levels, as many as there are slots, are in their slots; where there are spare ones, those of the program hold no
    /// others.
    pub fn landed(&self) -> Result<(), LegalityError> {
        let stores = self.stores();
        for (store, slot) in &stores {
            let (initial, slots) = levels(self.program, store.field);
            let newest = format!("({}) > steps - {slots}", store.level);
            let own = self.slot(store.field, &store.level, &None);
            let of_program = if self.spare() { format!("{slot} < {slots}") } else { "1 = 1".to_owned() };
            let mut wrong = vec![all([newest, format!("{slot} != {own}"), of_program])];
            // An initial level that is still among the newest ones.
            wrong.extend((1 - initial..=0).map(|level| {
                let its = self.slot(store.field, &level.to_string(), &None);
                // That level itself may be stored where it is.
                let another = format!("({}) != {level}", store.level);
                let another = if self.spare() { another } else { "1 = 1".to_owned() };
                all([format!("{level} > steps - {slots}"), format!("{slot} = {its}"), another])
            }));
            let wrong = all([any(wrong)].into_iter().chain(self.in_turn_at_the_end()));
            let finding = Finding {
                kind: FlowKind::NotLanded,
                event: &store.name,
                other: None,
                field: store.field,
                level: &store.level,
            };
            let bodies = [all([self.runs_loosely(store), wrong]), self.exactly(store)];
            self.none(&self.own(store), &bodies, &finding)?;
        }
        for (k, statement) in self.program.statements.iter().enumerate() {
            let (_, slots) = levels(self.program, statement.target);
            for age in 0..slots {
                self.stored(&stores, k, &format!("steps - {age}"))?;
            }
        }
        Ok(())
    }

    /// What is known of the numbers of the last bands.
    fn in_turn_at_the_end(&self) -> Option<String> {
        let bands = self.flow.bands.as_ref().zip(self.band(""));
        bands.map(|(bands, band)| bands::ends_in_turn(bands, &band.borrowed()))
    }

    /// What a statement computes of a level that a run leaves is stored; where there are spare slots, by the last band in that of the
    /// program.
    fn stored(&self, stores: &[(&'a Event, String)], k: usize, level: &str) -> Result<(), LegalityError> {
        let names = self.point_and_band();
        // In the band that ends with it, where there are bands.
        let last = self.flow.bands.as_ref();
        let end = if self.spare() { "steps" } else { level };
        let last = last.map(|bands| format!("{} and {} = {end}", self.iteration(), bands.end));
        let in_turn = self.in_turn_at_the_end().filter(|_| self.spare());
        let wanted = [self.in_domain(k, "p"), format!("{level} >= 1")].into_iter();
        let wanted = all(wanted.chain(last).chain(in_turn));
        let field = self.program.statements[k].target;
        let of_point = |set: Set<'a>| set.project_out(names.len(), self.coordinates().len() - names.len());
        for wanted_part in self.set(&wanted)? {
            let mut missing = of_point(wanted_part.to_set()?)?;
            for (store, slot) in stores.iter().filter(|(store, _)| store.field == field) {
                let own = format!("{slot} = {}", self.slot(field, level, &None));
                let own = if self.spare() { own } else { "1 = 1".to_owned() };
                let of_level = format!("({}) = {level}", store.level);
                let stored = all([wanted.clone(), self.runs(store), of_level, own]);
                for part in self.set(&stored)? {
                    missing = missing.subtract(&of_point(part.to_set()?)?)?;
                }
            }
            if !missing.is_empty()? {
                let finding =
                    Finding { kind: FlowKind::NotLanded, event: "the plan", other: None, field, level };
                return Err(self.error(&missing, &names, &finding));
            }
        }
        Ok(())
    }
}
