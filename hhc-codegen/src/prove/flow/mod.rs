//! The dataflow of a plan whose blocks have storage of their own: its rows and transfers as events, with the same
//! [`IntExpr`]s that the back ends print.

mod lanes;
mod order;

use super::constraints::interval;
use super::linear::Linear;
use super::rows;
use crate::int_expr::{IntExpr, var};
use crate::plan::{Binding, Instance, Kernel, KernelPlan, Launch, Range, RowOrder, TimeBands};
use crate::storage::{self, Moment, Part, Read, Slot, Sync, Transfer};
use polyhedral::dataflow::{Axis, Bands, Dataflow, Event, Place, Reads, Region, Storage, Supplier};
use polyhedral::program::{Access, FieldRole};

/// That no row may compute a point twice which overwrites what it reads.
pub(super) fn repeated_rows(plan: &KernelPlan) -> Result<(), String> {
    for kernel in &plan.kernels {
        for instance in &kernel.instances {
            if instance.order == (RowOrder::Parallel { repeats: true }) && overwrites(plan, kernel, instance)
            {
                let name = plan.program.statement_name(instance.statement);
                return Err(format!(
                    "rows of {name} may compute a point twice, and overwrite what they read"
                ));
            }
        }
    }
    Ok(())
}

/// Whether a row may write to a plane that it reads.
fn overwrites(plan: &KernelPlan, kernel: &Kernel, instance: &Instance) -> bool {
    let statement = &plan.program.statements[instance.statement];
    let FieldRole::State { slots, .. } = plan.program.field(statement.target).role else { return false };
    let reads = statement.reads.iter().enumerate().filter(|(_, read)| read.field == statement.target);
    let of_level = storage::Place::Arrays(Slot::OfLevel);
    let mut pairs = reads.flat_map(|(index, access)| {
        let place = instance.reads.get(index).map_or(&of_level, |read| &read.place);
        instance.writes.iter().map(move |write| (access, place, write))
    });
    pairs.any(|(access, from, to)| match (from, to) {
        (storage::Place::Arrays(Slot::OfLevel), storage::Place::Arrays(Slot::OfLevel)) => {
            (1 - access.time).rem_euclid(slots as i64) == 0
        }
        (storage::Place::Arrays(_), storage::Place::Arrays(_)) => true,
        _ => to.storage().is_some_and(|storage| {
            // Copies whose numbers are a constant apart are different ones.
            let apart = from.copy().iter().zip(to.copy());
            let mut apart = apart.map(|(from, to)| to.minus(from));
            from.storage() == Some(storage)
                && (1 - access.time).rem_euclid(kernel.storages[storage].planes) == 0
                && !apart.any(|distance| distance.is_some_and(|distance| distance != 0))
        }),
    })
}

/// The events of all kernels, with what they read and write.
pub(super) fn dataflow(plan: &KernelPlan) -> Result<Dataflow, String> {
    let outer = &plan.outer;
    let mut flow = Dataflow {
        outer: outer.variable.to_owned(),
        iterations: interval(outer.variable, &outer.low, &outer.high),
        bands: plan.bands.as_ref().map(|bands| of_plan(plan, bands)),
        events: Vec::new(),
        storages: Vec::new(),
    };
    let mut junk = Vec::new();
    for (index, kernel) in plan.kernels.iter().enumerate() {
        let launches = plan.launches.iter().enumerate().filter(|(_, launch)| launch.kernel == index);
        let [(position, launch)] = launches.collect::<Vec<_>>()[..] else {
            return Err(format!("kernel {} is not launched once in an iteration", kernel.name));
        };
        bound_by_the_bands(plan, kernel)?;
        let before = order::of_warps(kernel)?;
        order::barriers_end_loops(kernel)?;
        lanes::cells_stay(kernel)?;
        lanes::of_one_warp(kernel)?;
        let position = position as i64;
        let printer = Printer { plan, kernel, index, position, launch, before };
        flow.storages.extend(kernel.storages.iter().map(|storage| printer.storage(storage)));
        for (at, instance) in kernel.instances.iter().enumerate() {
            let row = printer.row(at, instance)?;
            let own = (&instance.when[..], &instance.ranges[..]);
            let left = instance.junk.iter().map(|over| printer.junk(Part::Row(at), &row, own, over));
            junk.extend(left.collect::<Result<Vec<_>, _>>()?);
            flow.events.push(row);
        }
        for (at, transfer) in kernel.transfers.iter().enumerate() {
            let stored = matches!(transfer.to, storage::Place::Arrays(_));
            if stored && !matches!(transfer.region, storage::Region::Domain(_)) {
                return Err(format!(
                    "transfer {at} of kernel {} stores points that no statement computes",
                    kernel.name
                ));
            }
            let moved = printer.transfer(at, transfer);
            let own = (&transfer.when[..], &transfer.ranges[..]);
            let left = transfer.junk.iter().map(|over| printer.junk(Part::Transfer(at), &moved, own, over));
            junk.extend(left.collect::<Result<Vec<_>, _>>()?);
            flow.events.push(moved);
        }
    }
    // Behind all others, whose numbers suppliers have.
    flow.events.extend(junk);
    Ok(flow)
}

/// That a kernel computes the bounds of the band as the plan says they are.
fn bound_by_the_bands(plan: &KernelPlan, kernel: &Kernel) -> Result<(), String> {
    for bound in plan.bands.iter().flat_map(|bands| [&bands.first, &bands.end]) {
        let own = kernel.bindings.iter().find(|binding| binding.name == bound.name);
        if own.is_none_or(|own| own.value != bound.value) {
            return Err(format!("kernel {} does not compute {} as its plan does", kernel.name, bound.name));
        }
    }
    Ok(())
}

/// The bands of a plan, with their definitions.
fn of_plan(plan: &KernelPlan, bands: &TimeBands) -> Bands {
    let mut linear = Linear::default();
    let mut definition = |binding: &Binding| format!("{} = {}", binding.name, linear.text(&binding.value));
    let mut definitions = vec![definition(&bands.first), definition(&bands.end)];
    let next = var(plan.outer.variable) + 1;
    let next_first = linear.text(&bands.first.value.substitute(plan.outer.variable, &next));
    let (low, last) = (linear.text(&plan.outer.low), linear.text(&plan.outer.high));
    definitions.extend(linear.constraints);
    Bands {
        first: bands.first.name.to_owned(),
        end: bands.end.name.to_owned(),
        helpers: linear.names,
        definitions,
        next_first,
        low,
        last,
        most: bands.most,
        turns: bands.turns,
        spare: bands.spare,
    }
}

/// An expression of the host, which has no bindings, with the names of a band's bounds for their values.
fn by_names_of_bounds(plan: &KernelPlan, expr: &IntExpr) -> IntExpr {
    let bounds = plan.bands.iter().flat_map(|bands| [&bands.end, &bands.first]);
    bounds.fold(expr.clone(), |expr, bound| expr.replace(&bound.value, &var(bound.name)))
}

/// When a launch happens, over the bounds of the band.
pub(super) fn launched(plan: &KernelPlan, launch: &Launch) -> Vec<String> {
    let conditions = launch.when.iter().map(|condition| by_names_of_bounds(plan, condition));
    let conditions = conditions.flat_map(|condition| condition.least_of());
    conditions.map(|condition| format!("{} >= 0", condition.to_isl())).collect()
}

struct Printer<'a> {
    plan: &'a KernelPlan,
    kernel: &'a Kernel,
    index: usize,
    position: i64,
    launch: &'a Launch,
    /// By how much a warp must be behind another one to run after it.
    before: Vec<Vec<Option<i64>>>,
}

impl Printer<'_> {
    /// isl's text of an expression: bindings by their values, but the bounds of the band by their names.
    fn isl(&self, expr: &IntExpr) -> String {
        self.named(expr).to_isl()
    }

    fn named(&self, expr: &IntExpr) -> IntExpr {
        let bands = self.plan.bands.iter().flat_map(|bands| [bands.first.name, bands.end.name]);
        let names: Vec<&str> = bands.collect();
        let others = self.kernel.bindings.iter().rev().filter(|binding| !names.contains(&binding.name));
        others.fold(expr.clone(), |expr, binding| expr.substitute(binding.name, &binding.value))
    }

    /// The same for an interval.
    fn interval(&self, variable: &str, low: &IntExpr, high: &IntExpr) -> Vec<String> {
        interval(variable, &self.named(low), &self.named(high))
    }

    /// Index of the first event of a kernel: its rows, then its transfers.
    fn first_event(&self, kernel: usize) -> usize {
        let before = &self.plan.kernels[..kernel];
        before.iter().map(|kernel| kernel.instances.len() + kernel.transfers.len()).sum()
    }

    fn event_of(&self, kernel: usize, part: Part) -> usize {
        let within = match part {
            Part::Row(row) => row,
            Part::Transfer(transfer) => self.plan.kernels[kernel].instances.len() + transfer,
        };
        self.first_event(kernel) + within
    }

    fn storage(&self, storage: &storage::Storage) -> Storage {
        let axis = |axis: &storage::Axis| match axis {
            storage::Axis::Window { first, extent } | storage::Axis::Lanes { first, extent, .. } => {
                Axis::Window { first: self.isl(first), extent: *extent }
            }
            storage::Axis::Ring { extent, .. } => Axis::Ring { extent: *extent },
        };
        Storage {
            name: storage.name.clone(),
            kernel: self.index,
            field: storage.field,
            planes: storage.planes,
            copies: storage.copies.clone(),
            axes: storage.axes.iter().map(axis).collect(),
            lanes: storage.axes.iter().find_map(lanes::of_warp),
        }
    }

    fn place(&self, place: &storage::Place) -> Place {
        match place {
            storage::Place::Arrays(Slot::OfLevel) => Place::Arrays { slot: None },
            storage::Place::Arrays(Slot::At(slot)) => Place::Arrays { slot: Some(self.isl(slot)) },
            storage::Place::Storage(storage) | storage::Place::Copy(storage, _) => {
                let before = &self.plan.kernels[..self.index];
                let first: usize = before.iter().map(|kernel| kernel.storages.len()).sum();
                let copy = place.copy().iter().map(|number| self.isl(number)).collect();
                Place::Storage { index: first + storage, copy }
            }
        }
    }

    fn suppliers(&self, read: &Read) -> Vec<Supplier> {
        let supplier = |supplier: &storage::Supplier| Supplier {
            event: self.event_of(supplier.kernel.unwrap_or(self.index), supplier.part),
            at: supplier.at.iter().map(|(name, value)| ((*name).to_owned(), self.isl(value))).collect(),
        };
        read.suppliers.iter().map(supplier).collect()
    }

    /// The place of a part in a block's time: the sub-tile; whether it is at the start, among the rows or at the end;
    /// the group; and how many barriers come before it there.
    fn position(&self, part: Part) -> Vec<String> {
        let moment = match part {
            Part::Transfer(transfer) => Some(self.kernel.transfers[transfer].moment),
            Part::Row(_) => None,
        };
        let alone = |moment| -> Vec<Part> {
            self.kernel.transfers_at(moment).map(|(index, _)| Part::Transfer(index)).collect()
        };
        let (phase, group, parts) = match moment {
            Some(Moment::Start) => ("0", "0", alone(Moment::Start)),
            Some(Moment::End) => ("2", "0", alone(Moment::End)),
            _ => ("1", self.kernel.rows.variable, self.kernel.parts_of_a_group()),
        };
        let parts = order::warp_of(self.kernel, part).map_or(parts, |warp| self.kernel.warps[warp].clone());
        let before = parts.iter().take_while(|&&other| other != part);
        let barriers = before.filter(|&&part| order::sync(self.kernel, part) != Sync::Nothing);
        let sub_tiles = self.kernel.sub_tiles.iter().map(|sub_tile| sub_tile.variable.to_owned());
        sub_tiles.chain([phase.to_owned(), group.to_owned(), barriers.count().to_string()]).collect()
    }

    /// What all parts have in common; `grouped` are those within the loop over groups of rows.
    fn event(&self, part: Part, grouped: bool, name: String) -> Event {
        let kernel = self.kernel;
        let rows = grouped.then_some(&kernel.rows);
        let loops = || kernel.sub_tiles.iter().chain(rows);
        let mut constraints = launched(self.plan, self.launch);
        for around in kernel.blocks.iter().chain(loops()) {
            constraints.extend(self.interval(around.variable, &around.low, &around.high));
        }
        Event {
            name: format!("{name} of kernel {}", kernel.name),
            kernel: self.index,
            launch: self.position,
            blocks: kernel.blocks.iter().map(|block| block.variable.to_owned()).collect(),
            loops: loops().map(|around| around.variable.to_owned()).collect(),
            position: self.position(part),
            team: kernel.team.then(|| kernel.sub_tiles.len().saturating_sub(1)),
            within: 0,
            warp: order::warp_of(self.kernel, part),
            before: order::warp_of(self.kernel, part).map_or(Vec::new(), |warp| self.before[warp].clone()),
            constraints,
            within_box: Vec::new(),
            whole: false,
            region: Region::Grid,
            field: polyhedral::program::FieldId(0),
            level: String::new(),
            reads: Vec::new(),
            writes: Vec::new(),
        }
    }

    /// When a part happens, and for which points.
    fn of_box(&self, when: &[IntExpr], ranges: &[Range]) -> Vec<String> {
        let conditions = when.iter().flat_map(|condition| self.named(condition).least_of());
        let conditions = conditions.map(|condition| format!("{} >= 0", condition.to_isl()));
        let ranges = ranges.iter().enumerate();
        let points = ranges.flat_map(|(d, range)| self.interval(&format!("p{d}"), &range.low, &range.high));
        conditions.chain(points).collect()
    }

    /// Whether a box has exactly the points of the cells of the innermost dimension, in all storages that an event touches,
    /// which are windows or lanes.
    fn is_whole(&self, of: &Event, over: &[Range]) -> bool {
        let places = of.writes.iter().chain(of.reads.iter().map(|reads| &reads.place));
        let before =
            self.plan.kernels[..self.index].iter().map(|kernel| kernel.storages.len()).sum::<usize>();
        let mut storages = places.filter_map(|place| match place {
            Place::Storage { index, .. } => self.kernel.storages.get(index.checked_sub(before)?),
            Place::Arrays { .. } => None,
        });
        let Some(range) = over.last() else { return false };
        let count = range.high.minus(&range.low).map(|last| last + 1);
        storages.all(|storage| match storage.axes.last() {
            Some(storage::Axis::Window { first, extent } | storage::Axis::Lanes { first, extent, .. }) => {
                *first == range.low && Some(*extent) == count
            }
            _ => false,
        })
    }

    /// What a part leaves over a box where it does not happen.
    fn junk(
        &self,
        part: Part,
        of: &Event,
        (when, ranges): (&[IntExpr], &[Range]),
        over: &[Range],
    ) -> Result<Event, String> {
        let arrays = |place: &Place| matches!(place, Place::Arrays { .. });
        let (row, from_arrays) =
            (matches!(part, Part::Row(_)), of.reads.iter().any(|reads| arrays(&reads.place)));
        if of.writes.iter().any(arrays) || (row && from_arrays) {
            return Err(format!("{} computes junk from the arrays, or into them", of.name));
        }
        let mut event =
            self.event(part, of.loops.contains(&self.kernel.rows.variable.to_owned()), String::new());
        // A row's lanes compute before they know whether it runs.
        let (with, within) = if row { (&[][..], when) } else { (when, &[][..]) };
        let whole = self.is_whole(of, over);
        let bounded = if whole { over.len().saturating_sub(1) } else { over.len() };
        event.constraints.extend(self.of_box(with, &over[..bounded]));
        // A transfer from the arrays reads nothing else.
        let reads = if from_arrays { Vec::new() } else { of.reads.clone() };
        let statement = match of.region {
            Region::Statement(k) | Region::Domain(k) => Some(k),
            // Points of the box that are no boundary are left as they are, which is less than junk.
            Region::Grid | Region::Boundary | Region::Junk(_) => None,
        };
        // Where the box is that of its points, these are the others of it.
        let same = within.is_empty() && self.of_box(&[], ranges) == self.of_box(&[], over);
        Ok(Event {
            name: format!("junk of {}", of.name),
            region: Region::Junk(statement),
            within_box: if same { Vec::new() } else { self.of_box(within, ranges) },
            position: of.position.clone(),
            within: of.within,
            whole,
            field: of.field,
            level: of.level.clone(),
            reads,
            writes: of.writes.clone(),
            ..event
        })
    }

    fn row(&self, at: usize, instance: &Instance) -> Result<Event, String> {
        let program = &self.plan.program;
        let statement = &program.statements[instance.statement];
        let name = format!("row {at}, {},", program.statement_name(instance.statement));
        if instance.reads.len() != statement.reads.len() {
            return Err(format!("{name} of kernel {} does not say where it reads", self.kernel.name));
        }
        let mut event = self.event(Part::Row(at), true, name);
        event.constraints.extend(self.of_box(&instance.when, &instance.ranges));
        let within = rows::within(instance);
        event.within = within.len();
        event.position.extend(within.iter().map(IntExpr::to_isl));
        let step = &instance.step;
        event.region = Region::Statement(instance.statement);
        event.field = statement.target;
        event.level = self.isl(&(step.clone() + 1));
        event.writes = instance.writes.iter().map(|place| self.place(place)).collect();
        for (access, read) in statement.reads.iter().zip(&instance.reads) {
            let Access { field, time, offset } = access;
            let found = Reads {
                field: *field,
                level: self.isl(&(step.clone() + *time)),
                offsets: offset.iter().map(|&offset| (offset, offset)).collect(),
                each: vec![offset.clone()],
                place: self.place(&read.place),
                suppliers: self.suppliers(read),
            };
            let known = event.reads.iter_mut().find(|known| {
                (known.field, &known.level, &known.place, &known.suppliers)
                    == (found.field, &found.level, &found.place, &found.suppliers)
            });
            match known {
                Some(known) => {
                    for (hull, &offset) in known.offsets.iter_mut().zip(offset) {
                        *hull = (hull.0.min(offset), hull.1.max(offset));
                    }
                    known.each.push(offset.clone());
                }
                None => event.reads.push(found),
            }
        }
        Ok(event)
    }

    fn transfer(&self, at: usize, transfer: &Transfer) -> Event {
        let grouped = !matches!(transfer.moment, Moment::Start | Moment::End);
        let mut event =
            self.event(Part::Transfer(at), grouped, format!("transfer {at} ({})", transfer.comment));
        event.constraints.extend(self.of_box(&transfer.when, &transfer.ranges));
        event.region = match transfer.region {
            storage::Region::Grid => Region::Grid,
            storage::Region::Domain(statement) => Region::Domain(statement),
            storage::Region::Boundary => Region::Boundary,
        };
        event.field = transfer.field;
        event.level = self.isl(&transfer.level);
        event.reads = vec![Reads {
            field: transfer.field,
            level: self.isl(&transfer.level),
            offsets: vec![(0, 0); self.plan.program.dimension()],
            each: vec![vec![0; self.plan.program.dimension()]],
            place: self.place(&transfer.from.place),
            suppliers: self.suppliers(&transfer.from),
        }];
        event.writes = vec![self.place(&transfer.to)];
        event
    }
}
