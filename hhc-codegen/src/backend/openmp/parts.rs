//! Kernels that say themselves where values live: memory of a thread's own, and one part after the other as loops
//! over its box, with a pointer for each line of cells that the innermost loop walks along.

use super::super::bounds::{expr, loops, step_exists};
use super::super::constants::{self, Constant, Source};
use super::super::names::Names;
use super::super::points::{INT, plus};
use super::super::storages::{self, HIGH_NAMES, INDEX_NAMES, InArrays, LOW_NAMES, Work, name_of};
use super::super::wavefronts::{WAVE, Wavefronts};
use super::grid;
use super::lines::Lines;
use crate::PlanError;
use crate::geometry::{self, MOST_OWN_BYTES};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Kernel, KernelPlan};
use crate::storage::{Axis, Place};
use c_tree::{Block, Expr, Stmt, Type, all, name, truth};
use polyhedral::program::{Access, FieldId, Program};

/// Bytes of a thread's own memory.
///
/// # Errors
/// [`PlanError::Limit`] where it is too much; [`PlanError::Unsupported`] for memory beside the callers' arrays, which nobody gives.
pub(super) fn own_bytes(plan: &KernelPlan) -> Result<i64, PlanError> {
    if plan.has_spare_slots() {
        return Err(PlanError::Unsupported {
            target: "OpenMP",
            kernel: plan.kernels.first().map_or_else(String::new, |kernel| kernel.name.clone()),
            strategy: plan.strategy.to_owned(),
            reason: "it has spare slots, which are there for CUDA alone".to_owned(),
        });
    }
    let bytes = geometry::own_bytes(plan);
    if bytes <= MOST_OWN_BYTES {
        return Ok(bytes);
    }
    let names: Vec<&str> = plan.tile.iter().map(|(name, _)| name).collect();
    Err(PlanError::Limit {
        what: format!("a thread's own memory for tile {}", plan.tile),
        needed: bytes,
        limit: MOST_OWN_BYTES,
        unit: "bytes".to_owned(),
        hint: format!("make {} smaller", names.join(" or ")),
    })
}

/// What a kernel does part by part.
pub(super) fn block(plan: &KernelPlan, names: &Names, kernel: &Kernel) -> Block {
    let program = &*plan.program;
    let mut body = Block::new();
    for storage in &kernel.storages {
        let element = program.field(storage.field).element.c_name();
        let own = [name(element), name(&storage.name), c_tree::int(storage.all_cells())];
        body.push(Stmt::call("TW_OWN", own).note(storage.comment.as_str()));
    }
    let [start, group, end] = storages::parts(kernel).map(|parts| {
        let text = |work| Stmt::Block(Printer { plan, program, names, kernel, work }.block());
        parts.into_iter().map(text).collect::<Block>()
    });
    let mut tile = start;
    match storages::has_groups(kernel) {
        true => tile.extend(loops([&kernel.rows], group)),
        false => tile.extend(group),
    }
    tile.extend(end);
    body.extend(loops(&kernel.sub_tiles, tile));
    body
}

/// Prints one part.
struct Printer<'a> {
    plan: &'a KernelPlan,
    program: &'a Program,
    names: &'a Names,
    kernel: &'a Kernel,
    work: Work<'a>,
}

/// Cells of one place and level that lie side by side: the innermost loop walks along them.
struct Line {
    name: String,
    /// The offset of the first cell, from the first point of the box.
    first: i64,
    /// Number of cells where they lie in a ring.
    ring: Option<i64>,
}

/// A stride of the grid.
fn stride_of_grid(stride: &str) -> Expr {
    name("grid").arrow(stride)
}

impl Printer<'_> {
    fn innermost(&self) -> usize {
        self.program.dimension() - 1
    }

    fn block(&self) -> Block {
        if let Work::Row(instance) = self.work
            && let Some(lines) = Lines::new(self.plan, self.names, self.kernel, instance)
        {
            return lines.block();
        }
        let (bounds, has_points) = self.work.bounds(self.program);
        let mut inner = Block::from(bounds);
        let mut exists = truth(true);
        if let Work::Row(instance) = self.work {
            let statement = &self.program.statements[instance.statement];
            let source = Source::Grid;
            let all = constants::all(self.program, self.names, statement, source, &self.names.time);
            inner.extend(all.iter().map(Constant::declaration));
            if !storages::steps_exist(self.plan, instance) {
                exists = step_exists(&instance.step);
            }
        }
        let when = all([self.work.happens(), exists, has_points, !self.work.nothing_left(self.program)]);
        let waves = self.work.factors().map(Wavefronts::new);
        inner.push(Stmt::when(when, waves.map_or_else(|| self.lines(), |waves| self.waves(waves))));
        let mut body = Block::from(Stmt::Comment(self.work.comment(self.program)));
        let time = &self.names.time;
        if let Work::Row(instance) = self.work
            && inner.mentions(time)
        {
            body.push(Stmt::constant(INT, time, expr(&instance.step)));
        }
        body.extend(inner);
        body
    }

    /// Loops over wavefronts.
    fn waves(&self, waves: Wavefronts) -> Block {
        let points = self.single_points();
        let inner = match waves.solved {
            Some(solved) => Block::from([
                Stmt::constant(INT, solved.index, solved.value),
                Stmt::when(solved.exists, points),
            ]),
            None => points,
        };
        let mut innermost = true;
        let nest = waves.loops.into_iter().rev().fold(inner, |inner, around| {
            let mut block = Block::new();
            if std::mem::take(&mut innermost) {
                block.push(Stmt::Pragma("omp simd".into()));
            }
            block.push(Stmt::count(INT, around.index, around.low, around.high, inner));
            block
        });
        Stmt::range(INT, WAVE, waves.first, waves.last, nest).into()
    }

    /// Loops over lines.
    fn lines(&self) -> Block {
        let innermost = self.innermost();
        let first = name_of(LOW_NAMES[innermost]);
        let left_out = self.work.left_out(self.program);
        let mut around = Block::new();
        let mut points = Block::new();
        for (at, domain) in left_out.iter().enumerate() {
            let inside = domain[..innermost].iter().enumerate().map(|(d, (low, high))| {
                let index = name_of(INDEX_NAMES[d]);
                index.clone().ge(expr(low)).and(index.lt(expr(high)))
            });
            around.push(Stmt::constant("int", format!("tw_inside{at}"), all(inside)));
            // Parts of a line that are left out.
            let from_first = |bound: &IntExpr| expr(&(bound.clone() - var(LOW_NAMES[innermost])));
            let (low, high) = (from_first(&domain[innermost].0), from_first(&domain[innermost].1));
            let x = name_of("x");
            points.push(Stmt::when(
                all([name_of(&format!("tw_inside{at}")).is_not(0), low.le(x.clone()), x.lt(&high)]),
                [Stmt::assign(name("x"), high - 1), Stmt::Continue],
            ));
        }
        let simd = self.work.at_once() && left_out.is_empty();
        self.points(&mut around, &mut points);
        if simd {
            around.push(Stmt::Pragma("omp simd".into()));
        }
        let width = name_of(HIGH_NAMES[innermost]) - first;
        around.push(Stmt::count(INT, "x", 0, width, points));
        (0..innermost).rev().fold(around, |inner, d| {
            Stmt::count(INT, INDEX_NAMES[d], name_of(LOW_NAMES[d]), name_of(HIGH_NAMES[d]), inner).into()
        })
    }

    /// What is done for each point of a wavefront: they lie in no line.
    fn single_points(&self) -> Block {
        let program = self.program;
        let reads = self.work.reads(program);
        let in_arrays =
            |field: FieldId, slot: Option<IntExpr>, place: Expr| self.slot_of_grid(field, slot).at(place);
        let arrays = InArrays { stride: &stride_of_grid, element: &in_arrays };
        let element = |field, level, place: &Place, offset: &[i64]| {
            storages::element((program, self.kernel), &arrays, (field, level), place, offset)
        };
        let read = |access: &Access| {
            let found = reads.iter().find(|(other, _)| other == access);
            found.map_or_else(
                || name(""),
                |(access, place)| element(access.field, self.work.level_of(access), place, &access.offset),
            )
        };
        let mut body = Block::from(self.work.value(program, self.names, &read, &storages::coordinate));
        let here = vec![0; program.dimension()];
        let target = |place| element(self.work.field(program), self.work.level(), place, &here);
        body.extend(self.work.writes().iter().map(|place| Stmt::assign(target(place), name("tw_value"))));
        body
    }

    /// Declarations of lines, and what is done for each point of them.
    fn points(&self, lines: &mut Block, body: &mut Block) {
        let program = self.program;
        let reads = self.work.reads(program);
        let alone = self.work.repeats() && self.work.at_once();
        let pointer = |element: Type| element.pointer_alone(alone);
        let mut known: Vec<(Expr, Line)> = Vec::new();
        let keys: Vec<Expr> = reads.iter().map(|(access, place)| self.key(access, place)).collect();
        for ((access, place), key) in reads.iter().zip(&keys) {
            if known.iter().any(|(other, _)| other == key) {
                continue;
            }
            let same = reads.iter().zip(&keys).filter(|(_, other)| *other == key);
            let first = same.map(|((other, _), _)| other.offset[self.innermost()]).min().unwrap_or(0);
            let name = format!("tw_in{}", known.len());
            let level = self.work.level_of(access);
            let (address, ring) = self.line(access.field, level, place, &access.offset, first);
            let element = Type::new(program.field(access.field).element.c_name()).constant();
            lines.push(Stmt::declare(pointer(element), &name, address));
            known.push((key.clone(), Line { name, first, ring }));
        }
        let read = |access: &Access| {
            let at = reads.iter().position(|(other, _)| other == access);
            let line = at.and_then(|at| known.iter().find(|(key, _)| *key == keys[at]));
            line.map_or_else(
                || name(""),
                |(_, line)| {
                    name(&line.name).at(self.index(line.ring, access.offset[self.innermost()], line.first))
                },
            )
        };
        let field = self.work.field(program);
        let element = program.field(field).element.c_name();
        // Along a line, `x` counts from the first point of the box.
        let point = |d: usize| match d == self.innermost() {
            true => name_of(LOW_NAMES[d]) + name_of("x"),
            false => storages::coordinate(d),
        };
        body.extend(self.work.value(program, self.names, &read, &point));
        let here = vec![0; program.dimension()];
        for (at, place) in self.work.writes().iter().enumerate() {
            let (address, ring) = self.line(field, self.work.level(), place, &here, 0);
            let out = format!("tw_out{at}");
            lines.push(Stmt::declare(pointer(Type::new(element)), &out, address));
            body.push(Stmt::assign(name(out).at(self.index(ring, 0, 0)), name("tw_value")));
        }
    }

    /// What tells lines apart: where the first point of the box would lie.
    fn key(&self, access: &Access, place: &Place) -> Expr {
        self.line(access.field, self.work.level_of(access), place, &access.offset, 0).0
    }

    /// A stored level of a field in the arrays; no slot is the first one.
    fn slot_of_grid(&self, field: FieldId, slot: Option<IntExpr>) -> Expr {
        grid::level(&name("grid"), self.program, self.names, field, expr(&slot.unwrap_or(int(0))))
    }

    /// The address of a line's first cell, which lies `first` points from the first point of the box.
    fn line(
        &self,
        field: FieldId,
        level: IntExpr,
        place: &Place,
        offset: &[i64],
        first: i64,
    ) -> (Expr, Option<i64>) {
        let innermost = self.innermost();
        let along = var(LOW_NAMES[innermost]) + first;
        let mut point: Vec<IntExpr> = (0..innermost).map(|d| var(INDEX_NAMES[d]) + offset[d]).collect();
        match place {
            Place::Storage(index) | Place::Copy(index, _) => {
                let storage = &self.kernel.storages[*index];
                let plane = storages::plane_of_copy(self.program, storage, (field, level), place.copy());
                let ring = match storage.axes[innermost] {
                    Axis::Ring { extent, .. } => Some(extent),
                    Axis::Window { .. } | Axis::Lanes { .. } => None,
                };
                // In a ring, lines begin at its first cell.
                point.push(if ring.is_some() { int(0) } else { along });
                let cell = plane * storage.cells() + storages::cell(storage, &point);
                (plus(name(&storage.name), expr(&cell)), ring)
            }
            Place::Arrays(slot) => {
                let slot = storages::slot(self.program, field, level, slot);
                let mut address = self.slot_of_grid(field, slot);
                for (d, index) in point.iter().enumerate() {
                    address = address + expr(index) * stride_of_grid(&format!("stride{d}")).integer();
                }
                (plus(address, expr(&along)), None)
            }
        }
    }

    /// The index of the present point, moved by `offset`, in a line.
    fn index(&self, ring: Option<i64>, offset: i64, first: i64) -> Expr {
        match ring {
            None => expr(&(var("x") + (offset - first))),
            Some(extent) => {
                let point = var(LOW_NAMES[self.innermost()]) + var("x") + offset;
                expr(&point.modulo(extent))
            }
        }
    }
}
