//! What C and CUDA have in common where a kernel says itself where values live: places as trees, boxes that are
//! clipped, and the parts of a kernel in their order.

use super::bounds::expr;
use super::expression::{Index, Values};
use super::names::Names;
use super::points::{INT, place as place_of};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Instance, Kernel, KernelPlan, Range, RowOrder, SIZE_NAMES, bound};
use crate::storage::{Moment, Part, Place, Region, Slot, Storage, Sync, Transfer};
use c_tree::{Expr, Scope, Stmt, all, any, name};
use polyhedral::program::{Access, FieldId, FieldRole, Program};

/// Names of the coordinates of a point in generated loops.
pub(super) const INDEX_NAMES: [&str; 3] = ["i0", "i1", "i2"];
/// Names of the first point of a clipped box, per dimension.
pub(super) const LOW_NAMES: [&str; 3] = ["low0", "low1", "low2"];
/// Names of the point after the last one.
pub(super) const HIGH_NAMES: [&str; 3] = ["high0", "high1", "high2"];

/// Whether some lanes have what nobody needs: they compute it, or what they hand over was never set.
pub(super) fn has_junk(plan: &KernelPlan) -> bool {
    has_lanes(plan) || plan.kernels.iter().flat_map(|kernel| &kernel.instances).any(|row| row.junk.is_some())
}

/// Whether there are storages in the registers of lanes.
pub(super) fn has_lanes(plan: &KernelPlan) -> bool {
    plan.kernels.iter().flat_map(|kernel| &kernel.storages).any(|storage| storage.first_lane().is_some())
}

/// The names of a program, apart from those that a plan gives to its loops, bindings and storages.
pub(super) fn names(plan: &KernelPlan) -> Names {
    let mut own = Scope::new();
    for kernel in plan.kernels.iter().filter(|kernel| kernel.in_parts()) {
        let loops = kernel.blocks.iter().chain(&kernel.sub_tiles).chain([&kernel.rows, &plan.outer]);
        loops.for_each(|source| own.take(source.variable));
        kernel.bindings.iter().for_each(|binding| own.take(binding.name));
        kernel.storages.iter().for_each(|storage| own.take(&storage.name));
    }
    Names::apart_from(&plan.program, own)
}

/// What a part does.
#[derive(Clone, Copy)]
pub(super) enum Work<'a> {
    Row(&'a Instance),
    Transfer(&'a Transfer),
}

impl<'a> Work<'a> {
    /// The time level of what it writes.
    pub(super) fn level(self) -> IntExpr {
        match self {
            Work::Row(instance) => instance.step.clone() + 1,
            Work::Transfer(transfer) => transfer.level.clone(),
        }
    }

    pub(super) fn field(self, program: &Program) -> FieldId {
        match self {
            Work::Row(instance) => program.statements[instance.statement].target,
            Work::Transfer(transfer) => transfer.field,
        }
    }

    /// The places that it writes.
    pub(super) fn writes(self) -> &'a [Place] {
        match self {
            Work::Row(instance) => &instance.writes,
            Work::Transfer(transfer) => std::slice::from_ref(&transfer.to),
        }
    }

    /// What it reads: of a row one access for each read of the statement; of a transfer the value itself, at time 0
    /// of its level.
    pub(super) fn reads(self, program: &Program) -> Vec<(Access, &'a Place)> {
        match self {
            Work::Row(instance) => {
                let reads = program.statements[instance.statement].reads.iter().enumerate();
                let place = |at: usize| instance.reads.get(at).map_or(&IN_ARRAYS, |read| &read.place);
                reads.map(|(at, access)| (access.clone(), place(at))).collect()
            }
            Work::Transfer(transfer) => {
                let offset = vec![0; program.dimension()];
                vec![(Access { field: transfer.field, time: 0, offset }, &transfer.from.place)]
            }
        }
    }

    /// The level that an access of it means.
    pub(super) fn level_of(self, access: &Access) -> IntExpr {
        match self {
            Work::Row(instance) => instance.step.clone() + access.time,
            Work::Transfer(transfer) => transfer.level.clone() + access.time,
        }
    }

    fn ranges(self) -> &'a [Range] {
        match self {
            Work::Row(instance) => &instance.ranges,
            Work::Transfer(transfer) => &transfer.ranges,
        }
    }

    fn region(self) -> Region {
        match self {
            Work::Row(instance) => Region::Domain(instance.statement),
            Work::Transfer(transfer) => transfer.region,
        }
    }

    /// The box of its points: first point and the one after the last, per dimension.
    pub(super) fn clipped(self, program: &Program) -> Vec<(IntExpr, IntExpr)> {
        let clip = |(d, range): (usize, &Range)| {
            // Junk over another box is for who computes for all lanes at once.
            if let Work::Row(Instance { junk: Some(junk), ranges, .. }) = self
                && junk.iter().zip(ranges).all(|(junk, own)| junk.low == own.low && junk.high == own.high)
            {
                return (range.low.clone(), range.high.clone() + 1);
            }
            let (first, end) = match self.region() {
                Region::Domain(statement) => {
                    let interval = program.statements[statement].domain[d];
                    (bound(interval.low, d), bound(interval.high, d))
                }
                Region::Grid | Region::Boundary => (int(0), var(SIZE_NAMES[d])),
            };
            (range.low.clone().max(first), (range.high.clone() + 1).min(end))
        };
        self.ranges().iter().enumerate().map(clip).collect()
    }

    /// Boxes that it leaves out: first point and the one after the last, per dimension.
    pub(super) fn left_out(self, program: &Program) -> Vec<Vec<(IntExpr, IntExpr)>> {
        if self.region() != Region::Boundary {
            return Vec::new();
        }
        let domain = |(_, statement): (usize, &polyhedral::program::Statement)| {
            let intervals = statement.domain.iter().enumerate();
            intervals.map(|(d, interval)| (bound(interval.low, d), bound(interval.high, d))).collect()
        };
        program.writers_of(self.field(program)).map(domain).collect()
    }

    /// Whether the box lies in one that it leaves out, so that nothing is left.
    pub(super) fn nothing_left(self, program: &Program) -> Expr {
        let within = |domain: Vec<(IntExpr, IntExpr)>| {
            all(domain.iter().enumerate().map(|(d, (low, high))| {
                name_of(LOW_NAMES[d]).ge(expr(low)).and(name_of(HIGH_NAMES[d]).le(expr(high)))
            }))
        };
        any(self.left_out(program).into_iter().map(within))
    }

    /// That it happens at all.
    pub(super) fn happens(self) -> Expr {
        let when = match self {
            Work::Row(instance) => &instance.when,
            Work::Transfer(transfer) => &transfer.when,
        };
        all(when.iter().map(|condition| expr(condition).ge(0)))
    }

    /// Declarations of the box, and that it has a point.
    pub(super) fn bounds(self, program: &Program) -> (Vec<Stmt>, Expr) {
        let ends = self.clipped(program).into_iter().enumerate();
        let declare = |(d, (low, high)): (usize, (IntExpr, IntExpr))| {
            let ends = [(LOW_NAMES[d], low), (HIGH_NAMES[d], high)];
            Stmt::constants(INT, ends.map(|(name, bound)| (name.to_owned(), expr(&bound))))
        };
        let declarations: Vec<Stmt> = ends.map(declare).collect();
        let some = (0..declarations.len()).map(|d| name_of(LOW_NAMES[d]).lt(name_of(HIGH_NAMES[d])));
        let some = all(some.collect::<Vec<_>>());
        (declarations, some)
    }

    /// Declarations of locals and of `tw_value`, the value at a point; `read` is an access, `point` a coordinate.
    pub(super) fn value(
        self,
        program: &Program,
        names: &Names,
        read: &dyn Fn(&Access) -> Expr,
        point: &dyn Fn(usize) -> Expr,
    ) -> Vec<Stmt> {
        let (mut lines, value) = match self {
            Work::Row(instance) => {
                let statement = instance.statement;
                let index = |index| match index {
                    Index::Time => expr(&instance.step),
                    Index::Space(d) => point(d),
                };
                let values =
                    Values { program, names, statement, copy: None, locals: None, read, index: &index };
                (values.locals(), values.value())
            }
            Work::Transfer(_) => (Vec::new(), read(&self.reads(program)[0].0)),
        };
        let element = program.field(self.field(program)).element.c_name();
        lines.push(Stmt::constant(element, "tw_value", value));
        lines
    }

    pub(super) fn sync(self) -> Sync {
        match self {
            Work::Row(instance) => instance.sync,
            Work::Transfer(transfer) => transfer.sync,
        }
    }

    /// Whether its points may run at once.
    pub(super) fn at_once(self) -> bool {
        match self {
            Work::Row(instance) => matches!(instance.order, RowOrder::Parallel { .. }),
            Work::Transfer(_) => true,
        }
    }

    /// The factors of its wavefronts, where its points run in wavefronts.
    pub(super) fn factors(self) -> Option<&'a [i64]> {
        match self {
            Work::Row(Instance { order: RowOrder::Skewed { factors }, .. }) => Some(factors),
            _ => None,
        }
    }

    /// Whether it overwrites nothing that it reads.
    pub(super) fn repeats(self) -> bool {
        match self {
            Work::Row(instance) => instance.order == RowOrder::Parallel { repeats: true },
            Work::Transfer(transfer) => transfer.from.place != transfer.to,
        }
    }

    /// What it is, for the reader of the generated code.
    pub(super) fn comment(self, program: &Program) -> String {
        match self {
            Work::Row(instance) => format!(
                "{}[{} + 1, {}]{}",
                program.field(program.statements[instance.statement].target).name,
                program.time_index,
                program.space_indices.join(", "),
                match instance.order {
                    RowOrder::Parallel { .. } => "",
                    RowOrder::Sequential => ", one point after the other",
                    RowOrder::Skewed { .. } => ", one wavefront after the other",
                },
            ),
            Work::Transfer(transfer) => transfer.comment.clone(),
        }
    }
}

static IN_ARRAYS: Place = Place::Arrays(Slot::OfLevel);

/// The parts of a kernel: those before the rows of a sub-tile, those of one group, and those after the rows.
pub(super) fn parts(kernel: &Kernel) -> [Vec<Work<'_>>; 3] {
    let at = |moment| kernel.transfers_at(moment).map(|(_, transfer)| Work::Transfer(transfer)).collect();
    [at(Moment::Start), works(kernel, &kernel.parts_of_a_group()), at(Moment::End)]
}

/// The parts of a group that a warp runs, where warps run parts of their own.
pub(super) fn parts_of_warp(kernel: &Kernel, warp: usize) -> Vec<Work<'_>> {
    works(kernel, &kernel.warps[warp])
}

fn works<'a>(kernel: &'a Kernel, parts: &[Part]) -> Vec<Work<'a>> {
    let work = |part: &Part| match *part {
        Part::Row(row) => Work::Row(&kernel.instances[row]),
        Part::Transfer(transfer) => Work::Transfer(&kernel.transfers[transfer]),
    };
    parts.iter().map(work).collect()
}

/// Whether the time steps of a row all exist, wherever the kernel is launched: they are those of the host's loop.
pub(super) fn steps_exist(plan: &KernelPlan, instance: &Instance) -> bool {
    instance.step == var(plan.outer.variable)
        && plan.outer.low == int(0)
        && plan.outer.high == var("steps") - 1
}

/// Whether the loop over groups of rows must be printed: it has more than one iteration, or its variable is used.
pub(super) fn has_groups(kernel: &Kernel) -> bool {
    let name = kernel.rows.variable;
    let uses =
        |ranges: &[Range]| ranges.iter().any(|range| range.low.mentions(name) || range.high.mentions(name));
    let rows = kernel.instances.iter().any(|row| row.step.mentions(name) || uses(&row.ranges));
    let transfers =
        kernel.transfers.iter().any(|transfer| transfer.level.mentions(name) || uses(&transfer.ranges));
    kernel.rows.low != kernel.rows.high || rows || transfers
}

/// The plane of a storage, or the slot of the arrays, that a level of a field lies in.
pub(super) fn plane_of_level(program: &Program, field: FieldId, level: IntExpr, planes: i64) -> IntExpr {
    let initial = match program.field(field).role {
        FieldRole::State { levels, .. } => levels as i64,
        FieldRole::Coefficient => 1,
    };
    if planes > 1 { (level + (initial - 1)).modulo(planes) } else { int(0) }
}

/// The plane of a level in a copy of a storage, among those of all copies.
pub(super) fn plane_of_copy(
    program: &Program,
    storage: &Storage,
    (field, level): (FieldId, IntExpr),
    copy: &[IntExpr],
) -> IntExpr {
    let numbers = storage.copies.iter().zip(copy);
    let copy = numbers.fold(int(0), |before, (&count, number)| before * count + number.clone());
    copy * storage.planes.max(1) + plane_of_level(program, field, level, storage.planes)
}

/// The slot of the arrays that a level of a field lies in; `None` where it is the first one.
pub(super) fn slot(program: &Program, field: FieldId, level: IntExpr, slot: &Slot) -> Option<IntExpr> {
    let slots = program.field(field).role.slots() as i64;
    let slot = match slot {
        Slot::OfLevel => (slots > 1).then(|| plane_of_level(program, field, level, slots)),
        // Of a field in one slot, too: the other one is spare.
        Slot::At(slot) => Some(slot.clone()),
    };
    slot.filter(|slot| *slot != int(0))
}

/// The cell of a point in one plane of a storage, row by row.
pub(super) fn cell(storage: &Storage, point: &[IntExpr]) -> IntExpr {
    let cells = storage.axes.iter().zip(point);
    cells.fold(int(0), |cell, (axis, point)| cell * axis.extent() + axis.cell(point.clone()))
}

/// What belongs to the arrays of all blocks, in the text of a back end.
pub(super) struct InArrays<'a> {
    /// A stride, by its name.
    pub(super) stride: &'a dyn Fn(&str) -> Expr,
    /// The element of a field at a place of a slot; no slot is the first one.
    pub(super) element: &'a dyn Fn(FieldId, Option<IntExpr>, Expr) -> Expr,
}

/// The element of an access in a place, at the point of the loops.
pub(super) fn element(
    (program, kernel): (&Program, &Kernel),
    arrays: &InArrays<'_>,
    (field, level): (FieldId, IntExpr),
    place: &Place,
    offset: &[i64],
) -> Expr {
    let point: Vec<IntExpr> =
        offset.iter().enumerate().map(|(d, &distance)| var(INDEX_NAMES[d]) + distance).collect();
    match place {
        Place::Storage(index) | Place::Copy(index, _) => {
            let storage = &kernel.storages[*index];
            let plane = plane_of_copy(program, storage, (field, level), place.copy());
            name(&storage.name).at(expr(&(plane * storage.cells() + cell(storage, &point))))
        }
        Place::Arrays(at) => {
            let point: Vec<Expr> = point.iter().map(expr).collect();
            let place = place_of(&point, arrays.stride);
            (arrays.element)(field, slot(program, field, level, at), place)
        }
    }
}

/// A coordinate of the point of generated loops.
pub(super) fn coordinate(d: usize) -> Expr {
    name_of(INDEX_NAMES[d])
}

/// An index of generated loops.
pub(super) fn name_of(index: &str) -> Expr {
    c_tree::var(index)
}
