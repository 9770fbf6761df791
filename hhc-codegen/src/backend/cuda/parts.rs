//! Kernels that say themselves where values live: storages in shared memory, and one part after the other, each by all
//! threads of the block, which wait for each other where the plan says so.

use super::super::names::Names;
use super::super::plain_loops::{constants, series_values};
use super::super::storages::{self, HIGH_NAMES, INDEX_NAMES, LOW_NAMES, Work};
use super::super::wavefronts::Wavefronts;
use super::lanes::{self, LanesText};
use super::limits::DeviceLimits;
use super::text::thread_declarations;
use crate::PlanError;
use crate::geometry::{StorageLayout, Threads, WARP};
use crate::int_expr::{IntExpr, var};
use crate::plan::{Kernel, KernelPlan, Loop};
use crate::storage::{Place, Storage, Sync};
use polyhedral::program::{Access, FieldId};
use serde::Serialize;

/// The body of a kernel.
#[derive(Serialize)]
pub(super) struct PartsText {
    memory: Vec<SharedText>,
    declarations: Vec<String>,
    sub_tiles: Vec<LoopText>,
    start: Vec<PartText>,
    rows: Option<LoopText>,
    group: Vec<PartText>,
    end: Vec<PartText>,
    /// Where warps run parts of their own: what each does at one position, in place of `group`.
    warps: Option<WarpsText>,
}

/// Warps that run parts of their own.
#[derive(Serialize)]
struct WarpsText {
    count: usize,
    /// Where the counters are.
    byte_offset: i64,
    /// The number of positions that a warp has begun.
    position: String,
    warps: Vec<WarpText>,
}

#[derive(Serialize)]
struct WarpText {
    number: usize,
    waits: Vec<WaitText>,
    parts: Vec<PartText>,
}

#[derive(Serialize)]
struct WaitText {
    from: usize,
    distance: i64,
}

#[derive(Serialize)]
struct SharedText {
    element: &'static str,
    name: String,
    count: i64,
    byte_offset: i64,
    /// In registers of lanes rather than in shared memory: `count` of each.
    registers: bool,
    comment: String,
}

#[derive(Serialize)]
struct LoopText {
    variable: &'static str,
    low: String,
    high: String,
}

/// Loops over a box.
#[derive(Serialize)]
struct PartText {
    comment: String,
    declarations: Vec<String>,
    /// Whether there is anything to do: the same for all threads.
    when: String,
    constants: Vec<String>,
    loops: Vec<BoxLoop>,
    /// Where the points run in wavefronts: their loops, in place of the others.
    waves: Option<WavesText>,
    /// Where each point has its lane: in place of the innermost loop.
    lanes: Option<LanesText>,
    /// Conditions on points that are left out.
    left_out: Vec<String>,
    body: Vec<String>,
    barrier: bool,
    /// The lanes of the warp wait for each other afterwards.
    warp: bool,
}

/// Loops over wavefronts.
#[derive(Serialize)]
struct WavesText {
    first: String,
    last: String,
    loops: Vec<BoxLoop>,
    /// The coordinate that follows from the others, and whether the point is this thread's.
    solved: Option<SolvedText>,
}

#[derive(Serialize)]
struct SolvedText {
    index: &'static str,
    value: String,
    exists: String,
}

#[derive(Serialize)]
struct BoxLoop {
    index: &'static str,
    low: String,
    high: String,
    /// The thread's number; `None` where one thread has all points.
    thread: Option<String>,
    threads: i64,
}

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

fn loop_text(source: &Loop) -> LoopText {
    LoopText { variable: source.variable, low: source.low.to_c(), high: source.high.to_c() }
}

/// The text of a kernel.
pub(super) fn text(plan: &KernelPlan, names: &Names, kernel: &Kernel, resources: &Resources) -> PartsText {
    let memory = kernel.storages.iter().zip(&resources.layout.offsets);
    let memory = memory.map(|(storage, &byte_offset)| SharedText {
        element: plan.program.field(storage.field).element.c_name(),
        name: storage.name.clone(),
        count: if storage.first_lane().is_some() { storage.cells_of_a_lane() } else { storage.all_cells() },
        byte_offset,
        registers: storage.first_lane().is_some(),
        comment: storage.comment.clone(),
    });
    let alone = !kernel.warps.is_empty();
    // A warp has a lane for each point of the innermost dimension.
    let mut of_part = resources.threads.clone();
    if let Some(innermost) = of_part.per_dimension.last_mut().filter(|_| alone) {
        *innermost = WARP;
    }
    let all = |parts: Vec<Work>| -> Vec<PartText> {
        let print = |&work| Printer { plan, names, kernel, threads: &of_part, work }.text();
        parts.iter().map(print).collect()
    };
    let [start, group, end] = storages::parts(kernel);
    let warps = alone.then(|| WarpsText {
        count: kernel.warps.len(),
        byte_offset: resources.layout.links,
        position: positions(kernel),
        warps: (0..kernel.warps.len())
            .map(|number| WarpText {
                number,
                waits: (kernel.links.iter().filter(|link| link.to == number))
                    .map(|link| WaitText { from: link.from, distance: link.distance })
                    .collect(),
                parts: all(storages::parts_of_warp(kernel, number)),
            })
            .collect(),
    });
    let mut declarations = thread_declarations(&resources.threads);
    if alone {
        let innermost = plan.program.dimension() - 1;
        declarations[innermost] = format!("const int thread{innermost} = tw_lane();");
    }
    PartsText {
        memory: memory.collect(),
        declarations,
        sub_tiles: kernel.sub_tiles.iter().map(loop_text).collect(),
        start: all(start),
        rows: (storages::has_groups(kernel) && !alone).then(|| loop_text(&kernel.rows)),
        group: if alone { Vec::new() } else { all(group) },
        end: all(end),
        warps,
    }
}

/// How many positions of the loop over sub-tiles have begun.
fn positions(kernel: &Kernel) -> String {
    let begun = kernel.sub_tiles.iter().map(|tile| (var(tile.variable) - tile.low.clone() + 1).to_c());
    begun.collect::<Vec<_>>().join(" + ")
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
    fn text(&self) -> PartText {
        let program = &*self.plan.program;
        let dimension = program.dimension();
        let mut declarations = Vec::new();
        let mut conditions = Vec::new();
        let mut constant = Vec::new();
        if let Work::Row(instance) = self.work {
            declarations.push(format!("const tw_int now = {};", instance.step.to_c()));
            conditions.push("now >= 0 && now < steps".to_owned());
            let statement = &program.statements[instance.statement];
            constant.extend(constants(self.names, statement, ""));
            constant.extend(series_values(program, self.names, statement, "", "now"));
        }
        for (d, (low, high)) in self.work.clipped(program).into_iter().enumerate() {
            let (low_name, high_name) = (LOW_NAMES[d], HIGH_NAMES[d]);
            declarations.push(format!(
                "const tw_int {low_name} = {}, {high_name} = {};",
                low.to_c(),
                high.to_c()
            ));
            conditions.push(format!("{low_name} < {high_name}"));
        }
        let left_out = self.work.left_out(program);
        conditions.extend(left_out.iter().map(|domain| {
            let inside = domain.iter().enumerate().map(|(d, (low, high))| {
                format!("{} >= {} && {} <= {}", LOW_NAMES[d], low.to_c(), HIGH_NAMES[d], high.to_c())
            });
            format!("!({})", inside.collect::<Vec<_>>().join(" && "))
        }));
        let waves = self.work.factors().map(Wavefronts::new);
        if !self.work.at_once() && waves.is_none() {
            let first = (0..dimension).map(|d| format!("thread{d} == 0"));
            conditions.push(first.collect::<Vec<_>>().join(" && "));
        }
        let left_out = left_out.iter().map(|domain| {
            let inside = domain.iter().enumerate().map(|(d, (low, high))| {
                format!("{0} >= {1} && {0} < {2}", INDEX_NAMES[d], low.to_c(), high.to_c())
            });
            inside.collect::<Vec<_>>().join(" && ")
        });
        let mut left_out: Vec<String> = left_out.collect();
        let lane = lanes::first(self.kernel, self.work, program);
        let (handed_over, body) = self.points();
        let box_loop = |d: usize| {
            let at_once = self.work.at_once();
            BoxLoop {
                index: INDEX_NAMES[d],
                low: LOW_NAMES[d].to_owned(),
                high: HIGH_NAMES[d].to_owned(),
                thread: at_once.then(|| format!("thread{d}")),
                threads: if at_once { self.threads.per_dimension[d] } else { 1 },
            }
        };
        PartText {
            comment: self.work.comment(program),
            declarations,
            when: conditions.join(" && "),
            constants: constant,
            loops: (0..if lane.is_some() { dimension - 1 } else { dimension }).map(box_loop).collect(),
            waves: waves.map(|waves| self.waves(waves)),
            lanes: lane
                .map(|first| LanesText::new(first, dimension, std::mem::take(&mut left_out), handed_over)),
            left_out,
            body,
            barrier: self.work.sync() == Sync::Barrier,
            warp: self.work.sync() == Sync::Warp,
        }
    }

    /// The loops over the points of wavefronts, which the threads share out. Along the coordinate that follows from the
    /// others one thread is enough.
    fn waves(&self, waves: Wavefronts) -> WavesText {
        let around = waves.loops.into_iter().map(|around| BoxLoop {
            index: around.index,
            low: around.low,
            high: around.high,
            thread: Some(format!("thread{}", around.dimension)),
            threads: self.threads.per_dimension[around.dimension],
        });
        WavesText {
            first: waves.first,
            last: waves.last,
            loops: around.collect(),
            solved: waves.solved.map(|solved| SolvedText {
                index: solved.index,
                value: solved.value,
                exists: format!("thread{} == 0 && {}", solved.dimension, solved.exists),
            }),
        }
    }

    /// What lanes hand over before, and what is done for each point.
    fn points(&self) -> (Vec<String>, Vec<String>) {
        let program = &*self.plan.program;
        let reads = self.work.reads(program);
        let mut handed_over = Vec::new();
        let mut texts = Vec::new();
        for (access, place) in &reads {
            let level = self.work.level_of(access);
            texts.push(match self.in_lanes(place) {
                Some(storage) => {
                    let field = program.field(access.field);
                    lanes::read(program, (storage, field.element), access, level, &mut handed_over)
                }
                None => self.element(access.field, level, place, &access.offset),
            });
        }
        let read = |access: &Access| {
            let found = reads.iter().position(|(other, _)| other == access);
            found.map_or_else(String::new, |at| texts[at].clone())
        };
        let mut body = self.work.value(program, self.names, &read);
        let here = vec![0; program.dimension()];
        let (field, level) = (self.work.field(program), self.work.level());
        body.extend(self.work.writes().iter().map(|place| match self.in_lanes(place) {
            Some(storage) => lanes::write(program, storage, field, level.clone()),
            None => format!("{} = tw_value;", self.element(field, level.clone(), place, &here)),
        }));
        (handed_over, body)
    }

    /// The storage, if a place is in registers.
    fn in_lanes(&self, place: &Place) -> Option<&Storage> {
        let Place::Storage(index) = place else { return None };
        Some(&self.kernel.storages[*index]).filter(|storage| storage.first_lane().is_some())
    }

    /// The value of a field and level in a place, at the present point moved by an offset.
    fn element(&self, field: FieldId, level: IntExpr, place: &Place, offset: &[i64]) -> String {
        let all = (&*self.plan.program, self.names, self.kernel);
        storages::element(all, "", (field, level), place, offset)
    }
}
