//! Kernels that say themselves where values live: storages in shared memory, and one part after the other, each by all
//! threads of the block, which wait for each other where the plan says so.

use super::super::bounds::{expr, loops};
use super::super::constants::{self, Constant, Source};
use super::super::names::Names;
use super::super::points::{INT, as_it_is, plus};
use super::super::storages::{self, HIGH_NAMES, INDEX_NAMES, InArrays, LOW_NAMES, Work, name_of};
use super::super::wavefronts::{WAVE, Wavefronts};
use super::lanes;
use super::limits::DeviceLimits;
use super::text::{barrier, shared, thread, thread_declarations, used};
use crate::PlanError;
use crate::geometry::{StorageLayout, Threads, WARP};
use crate::int_expr::{IntExpr, var};
use crate::plan::{Kernel, KernelPlan};
use crate::storage::{Place, Storage, Sync};
use c_tree::{Block, Expr, Stmt, all, any, call, int, name, truth};
use polyhedral::program::{Access, FieldId};

/// What a kernel asks of a device.
pub(super) struct Resources {
    pub(super) threads: Threads,
    pub(super) layout: StorageLayout,
}

impl Resources {
    /// # Errors
    /// [`PlanError::Limit`] where the storages do not fit in shared memory, or the warps not in a block.
    pub(super) fn new(plan: &KernelPlan, kernel: &Kernel, limits: &DeviceLimits) -> Result<Self, PlanError> {
        let layout = StorageLayout::new(&plan.program, kernel);
        if layout.bytes > limits.shared_bytes_per_block {
            let names: Vec<&str> = plan.tile.iter().map(|(name, _)| name).collect();
            return Err(PlanError::Limit {
                what: format!("tile {} of {} on {}", plan.tile, plan.program.name, limits.device),
                needed: layout.bytes,
                limit: limits.shared_bytes_per_block,
                unit: "bytes of shared memory".to_owned(),
                hint: format!("make {} smaller", names.join(" or ")),
            });
        }
        let threads = Threads::in_parts(plan, kernel, limits.threads_per_block);
        if threads.count() > limits.threads_per_block {
            return Err(PlanError::Limit {
                what: format!("kernel {} of {} on {}", kernel.name, plan.program.name, limits.device),
                needed: threads.count(),
                limit: limits.threads_per_block,
                unit: "threads per block".to_owned(),
                hint: "choose another strategy".to_owned(),
            });
        }
        Ok(Resources { threads, layout })
    }
}

/// The body of a kernel.
pub(super) fn block(plan: &KernelPlan, names: &Names, kernel: &Kernel, resources: &Resources) -> Block {
    let mut body = Block::new();
    for (storage, &byte_offset) in kernel.storages.iter().zip(&resources.layout.offsets) {
        let element = plan.program.field(storage.field).element.c_name();
        if storage.first_lane().is_some() {
            let cells = c_tree::Declaration::array(element, &storage.name, storage.cells_of_a_lane());
            body.push(Stmt::Declare(vec![cells]).note(format!("{}, in registers", storage.comment)));
            body.push(Stmt::call("tw_without_value", [name(&storage.name)]));
        } else {
            let array = shared(element, &storage.name, storage.all_cells(), byte_offset);
            body.push(array.note(storage.comment.as_str()));
        }
    }
    let alone = !kernel.warps.is_empty();
    // A warp has a lane for each point of the innermost dimension.
    let mut of_part = resources.threads.clone();
    if let Some(innermost) = of_part.per_dimension.last_mut().filter(|_| alone) {
        *innermost = WARP;
    }
    let every = |parts: Vec<Work<'_>>| -> Block {
        let print = |work| Printer { plan, names, kernel, threads: &of_part, work }.block();
        parts.into_iter().flat_map(print).collect()
    };
    let [start, group, end] = storages::parts(kernel).map(every);
    let mut declarations = thread_declarations(&resources.threads);
    let mut tile = Block::new();
    if alone {
        let innermost = format!("thread{}", plan.program.dimension() - 1);
        declarations.retain(|statement| !declares(statement, &innermost));
        declarations.push(Stmt::constant("int", innermost, call("tw_lane", [])));
        tile.extend(warps(kernel, &every));
    }
    tile.extend(start);
    match alone {
        true => {}
        false if storages::has_groups(kernel) => tile.extend(loops([&kernel.rows], group)),
        false => tile.extend(group),
    }
    tile.extend(end);
    let tile = loops(&kernel.sub_tiles, tile);
    body.extend(used(declarations, &tile));
    if alone {
        body.comment("Positions of the stream that each warp has finished.");
        let counters = [name(FINISHED), int(kernel.warps.len() as i64), int(resources.layout.links)];
        body.push(Stmt::call("TW_LINK", counters));
        body.push(Stmt::call("tw_link_clear", [name(FINISHED)]));
        body.push(barrier());
    }
    body.extend(tile);
    body
}

/// The counters of finished positions.
const FINISHED: &str = "tw_finished";

fn declares(statement: &Stmt, name: &str) -> bool {
    matches!(statement, Stmt::Declare(names) if names.iter().any(|declaration| declaration.name == name))
}

/// What each warp does at one position of the stream.
fn warps(kernel: &Kernel, every: &dyn Fn(Vec<Work<'_>>) -> Block) -> Block {
    // How many positions have begun.
    let begun = kernel.sub_tiles.iter().map(|tile| expr(&(var(tile.variable) - tile.low.clone() + 1)));
    let begun = begun.reduce(|all, one| all + one).unwrap_or(int(0));
    let position = || c_tree::var("tw_position");
    let mut body = Block::from(Stmt::constant("int", "tw_position", begun.cast("int")));
    for number in 0..kernel.warps.len() {
        let mut own = Block::new();
        for link in kernel.links.iter().filter(|link| link.to == number) {
            let wait = [name(FINISHED), int(link.from as i64), position() - link.distance];
            own.push(Stmt::call("tw_link_wait", wait));
        }
        own.extend(every(storages::parts_of_warp(kernel, number)));
        own.push(Stmt::call("tw_link_post", [name(FINISHED), int(number as i64), position()]));
        body.push(Stmt::when(call("tw_warp", []).integer().is(number as i64), own));
    }
    body
}

/// Prints one part.
struct Printer<'a> {
    plan: &'a KernelPlan,
    names: &'a Names,
    kernel: &'a Kernel,
    threads: &'a Threads,
    work: Work<'a>,
}

impl Printer<'_> {
    fn block(&self) -> Block {
        let program = &*self.plan.program;
        let (bounds, has_points) = self.work.bounds(program);
        let mut exists = truth(true);
        let mut constants = Vec::new();
        if let Work::Row(instance) = self.work {
            let now = c_tree::var("now");
            exists = now.clone().ge(0).and(now.lt(c_tree::var("steps")));
            let statement = &program.statements[instance.statement];
            constants = constants::all(program, self.names, statement, Source::Arguments, "now");
        }
        let waves = self.work.factors().map(Wavefronts::new);
        let one_thread = match self.work.at_once() || waves.is_some() {
            true => truth(true),
            false => all((0..program.dimension()).map(|d| thread(self.threads, d).is(0))),
        };
        let when =
            all([self.work.happens(), exists, has_points, !self.work.nothing_left(program), one_thread]);
        let mut inner: Block = constants.iter().map(Constant::declaration).collect();
        inner.extend(waves.map_or_else(|| self.loops(), |waves| self.waves(waves)));
        let mut part = Block::from(Stmt::Comment(self.work.comment(program)));
        if let Work::Row(instance) = self.work {
            part.push(Stmt::constant(INT, "now", expr(&instance.step)));
        }
        part.extend(bounds);
        part.push(Stmt::when(when, inner));
        let mut block = Block::from(Stmt::Block(part));
        block.extend(self.wait());
        block
    }

    /// What the threads do afterwards.
    fn wait(&self) -> Option<Stmt> {
        match self.work.sync() {
            Sync::Barrier => Some(barrier()),
            Sync::Warp => Some(Stmt::call("__syncwarp", [])),
            _ => None,
        }
    }

    /// Loops over the points of a box.
    fn loops(&self) -> Block {
        let program = &*self.plan.program;
        let dimension = program.dimension();
        let left_out = self.work.left_out(program);
        let left_out = any(left_out.iter().map(|domain| {
            all(domain.iter().enumerate().map(|(d, (low, high))| {
                let index = name_of(INDEX_NAMES[d]);
                index.clone().ge(expr(low)).and(index.lt(expr(high)))
            }))
        }));
        let (handed_over, points) = self.points();
        let lane = lanes::first(self.kernel, self.work, program);
        let innermost = dimension - 1;
        let mut body = Block::new();
        let mut inner = Block::new();
        match lane {
            Some(first) => {
                let index = INDEX_NAMES[innermost];
                let point = expr(first) + thread(self.threads, innermost);
                body.push(Stmt::constant(INT, index, point));
                if !handed_over.is_empty() {
                    inner.comment("all lanes hand over, those that have a point go on");
                }
                inner.extend(handed_over);
                let here = name_of(index);
                let active = here.clone().ge(name_of(LOW_NAMES[innermost]));
                let active = active.and(here.lt(name_of(HIGH_NAMES[innermost]))).and(!left_out);
                inner.push(Stmt::when(active, points));
            }
            None => {
                if left_out != truth(false) {
                    inner.push(Stmt::when(left_out, Stmt::Continue));
                }
                inner.extend(points);
            }
        }
        let loops = if lane.is_some() { innermost } else { dimension };
        body.extend((0..loops).rev().fold(inner, |inner, d| {
            let (first, step) = match self.work.at_once() {
                true => (thread(self.threads, d), self.threads.per_dimension[d]),
                false => (int(0), 1),
            };
            let first = name_of(LOW_NAMES[d]) + first;
            let condition = name_of(INDEX_NAMES[d]).lt(name_of(HIGH_NAMES[d]));
            Stmt::each(INT, INDEX_NAMES[d], first, condition, step, inner).into()
        }));
        body
    }

    /// The loops over the points of wavefronts, which the threads share out. Along the coordinate that follows from the
    /// others one thread is enough.
    fn waves(&self, waves: Wavefronts) -> Block {
        let (_, points) = self.points();
        let inner = match waves.solved {
            Some(solved) => Block::from([
                Stmt::constant(INT, solved.index, solved.value),
                Stmt::when(thread(self.threads, solved.dimension).is(0).and(solved.exists), points),
            ]),
            None => points,
        };
        let mut wave = waves.loops.into_iter().rev().fold(inner, |inner, around| {
            let first = around.low + thread(self.threads, around.dimension);
            let condition = name_of(around.index).lt(around.high);
            let step = self.threads.per_dimension[around.dimension];
            Stmt::each(INT, around.index, first, condition, step, inner).into()
        });
        if let Some(wait) = self.wait() {
            wave.push(Stmt::when(name_of(WAVE).lt(&waves.last), wait));
        }
        Stmt::range(INT, WAVE, waves.first, waves.last, wave).into()
    }

    /// What lanes hand over before, and what is done for each point.
    fn points(&self) -> (Vec<Stmt>, Block) {
        let program = &*self.plan.program;
        let reads = self.work.reads(program);
        let mut handed_over = Vec::new();
        let mut values = Vec::new();
        for (access, place) in &reads {
            let level = self.work.level_of(access);
            values.push(match self.in_lanes(place) {
                Some(storage) => {
                    let field = program.field(access.field);
                    lanes::read(program, (storage, field.element), access, level, &mut handed_over)
                }
                None => self.element(access.field, level, place, &access.offset),
            });
        }
        let read = |access: &Access| {
            let found = reads.iter().position(|(other, _)| other == access);
            found.map_or_else(|| name(""), |at| values[at].clone())
        };
        let mut body = Block::from(self.work.value(program, self.names, &read, &storages::coordinate));
        let here = vec![0; program.dimension()];
        let (field, level) = (self.work.field(program), self.work.level());
        body.extend(self.work.writes().iter().map(|place| match self.in_lanes(place) {
            Some(storage) => lanes::write(program, storage, field, level.clone()),
            None => Stmt::assign(self.element(field, level.clone(), place, &here), name("tw_value")),
        }));
        (handed_over, body)
    }

    /// The storage, if a place is in registers.
    fn in_lanes(&self, place: &Place) -> Option<&Storage> {
        Some(&self.kernel.storages[place.storage()?]).filter(|storage| storage.first_lane().is_some())
    }

    fn element(&self, field: FieldId, level: IntExpr, place: &Place, offset: &[i64]) -> Expr {
        element((self.plan, self.names, self.kernel), (field, level), place, offset)
    }
}

/// The value of a field and level in a place, at the present point moved by an offset.
pub(super) fn element(
    (plan, names, kernel): (&KernelPlan, &Names, &Kernel),
    value: (FieldId, IntExpr),
    place: &Place,
    offset: &[i64],
) -> Expr {
    let element = |field: FieldId, slot: Option<IntExpr>, place: Expr| {
        let slot = slot.map(|slot| expr(&slot) * as_it_is("level_stride"));
        name(&names.fields[field.0]).at(slot.map_or(place.clone(), |slot| plus(slot, place)))
    };
    let arrays = InArrays { stride: &as_it_is, element: &element };
    storages::element((&plan.program, kernel), &arrays, value, place, offset)
}
