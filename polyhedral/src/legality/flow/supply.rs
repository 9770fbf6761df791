//! **Supplied**: for every read, an event that puts the value where it is read, before it is read.

use super::FlowKind;
use super::bands::{self, Band};
use super::events::{Case, Finding, FlowProof, around, levels};
use super::text::{all, any, renamed};
use crate::dataflow::{Event, Place, Reads, Supplier};
use crate::isl::Sample;
use crate::legality::LegalityError;
use crate::program::Boundary;

impl<'a> FlowProof<'a> {
    /// Every read has a supplier that runs before it, or is an initial or a boundary value of the arrays.
    pub fn supplied(&self, reader: &'a Event, reads: &'a Reads) -> Result<(), LegalityError> {
        let names = [self.own(reader), self.point("q"), self.supplying_bounds(reads)].concat();
        let suppliers = reads.suppliers.iter().map(|supplier| Supply::new(self, reader, reads, supplier));
        let suppliers: Vec<Supply> = suppliers.collect::<Result<_, _>>()?;
        let common = all([around(&reads.offsets), self.supplying_band(reads)?]);
        let cases = self.cases(reads.field);
        let (computed, boundary): (Vec<&Case>, Vec<&Case>) =
            cases.iter().partition(|case| case.computed.is_some());
        for case in computed {
            self.supplied_in(reader, reads, (&suppliers, &names, &common), case)?;
        }
        // All of the grid as if it were boundary, before each side of it.
        let everywhere = Case { text: self.in_grid("q"), computed: None };
        let all_at_once = self.supplied_in(reader, reads, (&suppliers, &names, &common), &everywhere);
        if let Err(LegalityError::Flow(_)) = all_at_once {
            for case in boundary {
                self.supplied_in(reader, reads, (&suppliers, &names, &common), case)?;
            }
            return Ok(());
        }
        all_at_once
    }

    /// The same for the points of a case.
    fn supplied_in(
        &self,
        reader: &'a Event,
        reads: &'a Reads,
        (suppliers, names, common): (&[Supply<'a>], &[String], &str),
        case: &Case,
    ) -> Result<(), LegalityError> {
        let level = &reads.level;
        let finding = |kind, other| Finding { kind, event: &reader.name, other, field: reads.field, level };
        let mut supplied = Vec::new();
        for supplier in suppliers {
            let Some(region) = self.region_in(supplier.event, case) else { continue };
            let there =
                all([(supplier.text)(&region), supplier.there.clone(), supplier.same(self, reads, case)]);
            if supplier.not_before != "1 = 0" {
                let bodies = [
                    supplier.not_before.clone(),
                    all([self.runs_loosely(reader), common.to_owned(), case.text.clone(), there.clone()]),
                    self.exactly(reader),
                ];
                self.none(names, &bodies, &finding(FlowKind::TooLate, Some(&supplier.event.name)))?;
            }
            supplied.push(there);
        }
        supplied.extend(self.there_from_the_beginning(reads, case));
        let there = supplied.iter().map(|there| self.set(there)).collect::<Result<Vec<_>, _>>()?;
        for (at, runs) in [self.runs_loosely(reader), self.runs(reader)].into_iter().enumerate() {
            let reading = all([runs, common.to_owned(), case.text.clone()]);
            match self.missing(&self.set(&reading)?, &there)? {
                None => return Ok(()),
                Some(set) if at == 1 => {
                    let sample = self.sampled(&set)?;
                    let why = suppliers.iter().map(|supplier| self.why_not(&sample, supplier, reads, case));
                    let why = why.collect::<Result<_, _>>()?;
                    return Err(self.error_at(&sample, names, &finding(FlowKind::NotSupplied, None), why));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Why a supplier does not supply the value of a point.
    fn why_not(
        &self,
        sample: &Sample,
        supplier: &Supply<'a>,
        reads: &Reads,
        case: &Case,
    ) -> Result<String, LegalityError> {
        let region = self.region_in(supplier.event, case);
        let (executes, here, same) = (&supplier.executes, &supplier.here, supplier.same(self, reads, case));
        let exists = region.is_some();
        let in_steps = region.map_or_else(|| "1 = 1".to_owned(), |region| (supplier.text)(&region));
        let why = if !exists && case.computed.is_none() {
            "has no values of the boundary".to_owned()
        } else if !exists {
            "has no values of such points".to_owned()
        } else if !self.holds_at(sample, executes)? || !self.holds_at(sample, &in_steps)? {
            "does not execute there".to_owned()
        } else if !self.holds_at(sample, here)? {
            "leaves its value in another place".to_owned()
        } else if !self.holds_at(sample, &same)? {
            format!("has level {}", supplier.level)
        } else {
            "supplies it".to_owned()
        };
        Ok(format!("{} {why}", supplier.event.name))
    }

    /// When the arrays have the value from the beginning: an initial one, or that of a boundary point.
    fn there_from_the_beginning(&self, reads: &Reads, case: &Case) -> Option<String> {
        let Place::Arrays { slot } = &reads.place else { return None };
        let (initial, _) = levels(self.program, reads.field);
        let level = &reads.level;
        let (read, of_level) = (self.slot(reads.field, level, slot), self.slot(reads.field, level, &None));
        let own = match self.spare() {
            true => format!("({read} - {of_level}) mod {} = 0", levels(self.program, reads.field).1),
            false => format!("{read} = {of_level}"),
        };
        Some(match (case.computed, self.program.boundary) {
            (Some(_), _) => format!("{} <= ({level}) <= 0 and {own}", 1 - initial),
            (None, Boundary::Fixed) => "1 = 1".to_owned(),
            (None, Boundary::PerSlot) => own,
        })
    }

    /// The bounds of the band that supplies a read, where that is another one than the reader's.
    fn supplying_bounds(&self, reads: &Reads) -> Vec<String> {
        let outer = &self.flow.outer;
        let elsewhere =
            reads.suppliers.iter().any(|supplier| supplier.at.iter().any(|(name, _)| name == outer));
        if elsewhere { self.bounds().iter().map(|name| format!("{name}_s")).collect() } else { Vec::new() }
    }

    /// What is known of it: nothing where it does not exist. All suppliers that are in another band are in the same one.
    fn supplying_band(&self, reads: &Reads) -> Result<String, LegalityError> {
        let outer = &self.flow.outer;
        let numbers = reads.suppliers.iter().flat_map(|supplier| &supplier.at);
        let mut numbers = numbers.filter(|(name, _)| name == outer).map(|(_, value)| value);
        let (Some(bands), Some(own), Some(number)) = (&self.flow.bands, self.band(""), numbers.next()) else {
            return Ok("1 = 1".to_owned());
        };
        if numbers.any(|other| other != number) {
            let message = "the suppliers of a read are in several iterations of the host".to_owned();
            return Err(LegalityError::Malformed { piece: 0, message });
        }
        let own = own.borrowed();
        let (first, end) = (format!("{}_s", bands.first), format!("{}_s", bands.end));
        let number = format!("({number})");
        let other = Band { number: &number, first: &first, end: &end };
        let relation = if number == format!("({outer} - 1)") {
            format!("{end} = {}", own.first)
        } else {
            bands::of_two(bands, &own, &other)
        };
        let exists = all([bands::of_one(bands, &other), relation]);
        Ok(bands::exists_or_begins(bands, &own, &other, &exists))
    }
}

/// A supplier's texts over the variables of the reader and the read point.
pub struct Supply<'a> {
    pub event: &'a Event,
    /// Its text of what is said about its own variables.
    pub text: Box<dyn Fn(&str) -> String + 'a>,
    /// It executes, and writes to the place that is read: the storage of the same block, or the slot of the arrays.
    pub there: String,
    /// The first half of that.
    executes: String,
    /// The other half.
    here: String,
    level: String,
    /// Of a team, that there is such a place in a block's time, and that it is the reader's copy: much less than that it
    /// executes.
    pub exists: String,
    /// It does not run before the reader.
    not_before: String,
    /// Its place in the block's time.
    pub position: Vec<String>,
    /// Whether it is in the reader's band.
    pub same_band: bool,
}

impl<'a> Supply<'a> {
    pub fn new(
        proof: &FlowProof<'a>,
        reader: &'a Event,
        reads: &'a Reads,
        supplier: &'a Supplier,
    ) -> Result<Supply<'a>, LegalityError> {
        let malformed = |message: String| LegalityError::Malformed { piece: supplier.event, message };
        let event = proof.flow.events.get(supplier.event);
        let event =
            event.ok_or_else(|| malformed(format!("{} names a supplier that is none", reader.name)))?;
        let own = proof.own(event);
        let known = proof.own(reader);
        for name in proof.shared(event).iter().chain(&event.loops) {
            if !supplier.at.iter().any(|(named, _)| named == name) && !known.contains(name) {
                return Err(malformed(format!(
                    "{} does not say at which {name} it is supplied",
                    reader.name
                )));
            }
        }
        if let Some((name, _)) = supplier.at.iter().find(|(name, _)| !own.contains(name)) {
            return Err(malformed(format!(
                "{} names a supplier at some {name}, which {} does not have",
                reader.name, event.name
            )));
        }
        let same_band = !supplier.at.iter().any(|(name, _)| *name == proof.flow.outer);
        let (bounds, point) = (proof.bounds(), proof.point("p"));
        let text = move |text: &str| {
            renamed(text, &|name| {
                if let Some(d) = point.iter().position(|own| own == name) {
                    return Some(format!("q{d}"));
                }
                if !same_band && bounds.iter().any(|bound| bound == name) {
                    return Some(format!("{name}_s"));
                }
                let named = supplier.at.iter().find(|(named, _)| named == name);
                named.filter(|_| own.iter().any(|own| own == name)).map(|(_, value)| format!("({value})"))
            })
        };
        let here = match &reads.place {
            _ if event.field != reads.field => "1 = 0".to_owned(),
            Place::Storage { .. } if event.kernel != reader.kernel => "1 = 0".to_owned(),
            Place::Storage { index, copy } => match event.copy_written(*index) {
                None => "1 = 0".to_owned(),
                Some(written) => {
                    let shared = proof.shared(event).into_iter().map(|name| (text(&name), name));
                    let equal = shared.chain(written.iter().map(|own| text(own)).zip(copy.iter().cloned()));
                    all(equal
                        .filter(|(there, here)| there != here)
                        .map(|(there, here)| format!("{there} = {here}")))
                }
            },
            Place::Arrays { slot } => {
                let read = proof.slot(reads.field, &reads.level, slot);
                any(event.writes.iter().filter_map(|place| match place {
                    Place::Arrays { slot } => {
                        Some(format!("{} = {read}", text(&proof.slot(event.field, &event.level, slot))))
                    }
                    Place::Storage { .. } => None,
                }))
            }
        };
        let executes = text(&proof.runs_loosely(event));
        let exists = match event.team {
            Some(_) => {
                let of_point = |constraint: &&String| !proof.mentions_point(constraint);
                all(event.constraints.iter().filter(of_point).map(|known| text(known)).chain([here.clone()]))
            }
            None => "1 = 1".to_owned(),
        };
        Ok(Supply {
            event,
            there: all([executes.clone(), here.clone()]),
            executes,
            here,
            exists,
            level: text(&event.level),
            not_before: proof.not_before((event, &text), (reader, &|text| text.to_owned())),
            position: event.position.iter().map(|place| text(place)).collect(),
            text: Box::new(text),
            same_band,
        })
    }

    /// Whether its place in the block's time is that of another one, but for the last number, which tells parts of a group
    /// apart.
    pub fn is_beside(&self, other: &Supply<'a>) -> bool {
        let of_group = |supply: &Supply<'a>| {
            let place = &supply.position;
            let whole = supply.event.within == 0 && supply.event.team.is_some();
            place
                .split_last()
                .filter(|_| whole && supply.last_number().is_some())
                .map(|(_, rest)| rest.to_vec())
        };
        of_group(self).is_some() && of_group(self) == of_group(other)
    }

    /// The last number of its place, where it is a constant.
    pub fn last_number(&self) -> Option<i64> {
        self.position.last()?.parse().ok()
    }

    /// Its value is the one that is read: at boundary points, that of the same class of levels, in the plane that is read.
    pub fn same(&self, proof: &FlowProof, reads: &Reads, case: &Case) -> String {
        let (supplied, read) = (&self.level, &reads.level);
        let (_, slots) = levels(proof.program, reads.field);
        match case.computed {
            _ if supplied == read => "1 = 1".to_owned(),
            Some(_) => format!("({supplied}) = ({read})"),
            None => {
                let planes = match reads.place {
                    Place::Storage { index, .. } => {
                        proof.flow.storages.get(index).map_or(1, |storage| storage.planes)
                    }
                    Place::Arrays { .. } => 1,
                };
                let classes = if proof.program.boundary == Boundary::Fixed { 1 } else { slots };
                let periods = [planes, classes].into_iter().filter(|&period| period > 1);
                all(periods.map(|period| format!("(({supplied}) - ({read})) mod {period} = 0")))
            }
        }
    }
}
