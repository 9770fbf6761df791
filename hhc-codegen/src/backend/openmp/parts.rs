//! Kernels that say themselves where values live: memory of a thread's own, and one part after the other as loops
//! over its box, with a pointer for each line of cells that the innermost loop walks along.

use super::super::names::Names;
use super::super::storages::{self, HIGH_NAMES, INDEX_NAMES, LOW_NAMES, Work};
use super::super::wavefronts::Wavefronts;
use super::text::{LoopText, constant_declarations, constants, loop_text, step_exists};
use crate::PlanError;
use crate::geometry::{self, MOST_OWN_BYTES};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Kernel, KernelPlan};
use crate::storage::{Axis, Place, Storage};
use polyhedral::program::{Access, FieldId, Program};
use serde::Serialize;
use std::collections::BTreeMap;

/// What a kernel does part by part.
#[derive(Serialize)]
pub(super) struct PartsText {
    /// Names that the text may not use.
    unused: Vec<String>,
    memory: Vec<MemoryText>,
    sub_tiles: Vec<LoopText>,
    start: Vec<PartText>,
    rows: Option<LoopText>,
    group: Vec<PartText>,
    end: Vec<PartText>,
}

#[derive(Serialize)]
struct MemoryText {
    element: &'static str,
    name: String,
    count: i64,
    comment: String,
}

/// Loops over a box.
#[derive(Serialize)]
struct PartText {
    comment: String,
    declarations: Vec<String>,
    /// Whether there is anything to do.
    when: String,
    /// Where the points run in wavefronts: their loops, in place of the others, and of lines.
    waves: Option<Wavefronts>,
    /// All but the innermost one.
    loops: Vec<BoxLoop>,
    /// What is declared for each line.
    lines: Vec<String>,
    simd: bool,
    /// Points of a line.
    width: String,
    /// Parts of a line that are left out.
    skips: Vec<SkipText>,
    body: Vec<String>,
}

#[derive(Serialize)]
struct BoxLoop {
    index: &'static str,
    low: &'static str,
    high: &'static str,
}

#[derive(Serialize)]
struct SkipText {
    low: String,
    high: String,
}

/// Bytes of a thread's own memory.
///
/// # Errors
/// [`PlanError::Limit`] where it is too much.
pub(super) fn own_bytes(plan: &KernelPlan) -> Result<i64, PlanError> {
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

impl PartsText {
    pub(super) fn new(plan: &KernelPlan, names: &Names, kernel: &Kernel) -> Self {
        let program = &*plan.program;
        let memory = |storage: &Storage| MemoryText {
            element: program.field(storage.field).element.c_name(),
            name: storage.name.clone(),
            count: storage.all_cells(),
            comment: storage.comment.clone(),
        };
        let mut unused = vec!["grid".to_owned(), "steps".to_owned(), plan.outer.variable.to_owned()];
        unused.extend(kernel.blocks.iter().map(|block| block.variable.to_owned()));
        unused.extend(kernel.bindings.iter().map(|binding| binding.name.to_owned()));
        let [start, group, end] = storages::parts(kernel).map(|parts| {
            parts.into_iter().map(|work| Printer { plan, program, names, kernel, work }.text()).collect()
        });
        PartsText {
            unused,
            memory: kernel.storages.iter().map(memory).collect(),
            sub_tiles: kernel.sub_tiles.iter().map(loop_text).collect(),
            start,
            rows: storages::has_groups(kernel).then(|| loop_text(&kernel.rows)),
            group,
            end,
        }
    }
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
    number: usize,
    name: String,
    /// Its declaration.
    text: String,
    /// The offset of the first cell, from the first point of the box.
    first: i64,
    /// Number of cells where they lie in a ring.
    ring: Option<i64>,
}

impl Printer<'_> {
    fn innermost(&self) -> usize {
        self.program.dimension() - 1
    }

    fn text(&self) -> PartText {
        let innermost = self.innermost();
        let mut declarations = Vec::new();
        let mut conditions = Vec::new();
        if let Work::Row(instance) = self.work {
            let time = &self.names.time;
            declarations.push(format!("const tw_int {time} = {};", instance.step.to_c()));
            declarations.push(format!("(void){time};"));
            if !storages::steps_exist(self.plan, instance) {
                conditions.push(step_exists(&instance.step));
            }
        }
        for (d, (low, high)) in self.work.clipped(self.program).into_iter().enumerate() {
            let (low_name, high_name) = (LOW_NAMES[d], HIGH_NAMES[d]);
            declarations.push(format!(
                "const tw_int {low_name} = {}, {high_name} = {};",
                low.to_c(),
                high.to_c()
            ));
            conditions.push(format!("{low_name} < {high_name}"));
        }
        let left_out = self.work.left_out(self.program);
        conditions.extend(left_out.iter().map(|domain| {
            let inside = domain.iter().enumerate().map(|(d, (low, high))| {
                format!("{} >= {} && {} <= {}", LOW_NAMES[d], low.to_c(), HIGH_NAMES[d], high.to_c())
            });
            format!("!({})", inside.collect::<Vec<_>>().join(" && "))
        }));
        let mut lines: Vec<String> = left_out
            .iter()
            .enumerate()
            .map(|(at, domain)| {
                let inside = domain[..innermost].iter().enumerate().map(|(d, (low, high))| {
                    format!("{0} >= {1} && {0} < {2}", INDEX_NAMES[d], low.to_c(), high.to_c())
                });
                let inside: Vec<String> = inside.collect();
                let inside = if inside.is_empty() { "1".to_owned() } else { inside.join(" && ") };
                format!("const int tw_inside{at} = {inside};")
            })
            .collect();
        let first = LOW_NAMES[innermost];
        let skips = left_out.iter().map(|domain| {
            let (low, high) = &domain[innermost];
            let from_first = |bound: &IntExpr| format!("{} - {first}", bound.to_c());
            SkipText { low: from_first(low), high: from_first(high) }
        });
        let skips: Vec<SkipText> = skips.collect();
        let mut body = Vec::new();
        if let Work::Row(instance) = self.work {
            declarations.extend(constant_declarations(&constants(
                self.program,
                self.names,
                instance.statement,
            )));
        }
        let waves = self.work.factors().map(Wavefronts::new);
        if waves.is_some() {
            self.single_points(&mut body);
        } else {
            self.points(&mut lines, &mut body);
        }
        PartText {
            comment: self.work.comment(self.program),
            declarations,
            when: conditions.join(" && "),
            waves,
            loops: (0..innermost)
                .map(|d| BoxLoop { index: INDEX_NAMES[d], low: LOW_NAMES[d], high: HIGH_NAMES[d] })
                .collect(),
            lines,
            simd: self.work.at_once() && skips.is_empty(),
            width: format!("{} - {first}", HIGH_NAMES[innermost]),
            skips,
            body,
        }
    }

    /// What is done for each point of a wavefront: they lie in no line.
    fn single_points(&self, body: &mut Vec<String>) {
        let program = self.program;
        let reads = self.work.reads(program);
        let element = |field, level, place: &Place, offset: &[i64]| {
            storages::element((program, self.names, self.kernel), "grid->", (field, level), place, offset)
        };
        let read = |access: &Access| {
            let found = reads.iter().find(|(other, _)| other == access);
            found.map_or_else(String::new, |(access, place)| {
                element(access.field, self.work.level_of(access), place, &access.offset)
            })
        };
        body.extend(self.work.value(program, self.names, &read));
        let here = vec![0; program.dimension()];
        let target = |place| element(self.work.field(program), self.work.level(), place, &here);
        body.extend(self.work.writes().iter().map(|place| format!("{} = tw_value;", target(place))));
    }

    /// Declarations of lines, and what is done for each point of them.
    fn points(&self, lines: &mut Vec<String>, body: &mut Vec<String>) {
        let program = self.program;
        let reads = self.work.reads(program);
        let restrict = if self.work.repeats() && self.work.at_once() { "restrict " } else { "" };
        let mut known: BTreeMap<String, Line> = BTreeMap::new();
        let keys: Vec<String> = reads.iter().map(|(access, place)| self.key(access, place)).collect();
        for ((access, place), key) in reads.iter().zip(&keys) {
            if known.contains_key(key) {
                continue;
            }
            let same = reads.iter().zip(&keys).filter(|(_, other)| *other == key);
            let first = same.map(|((other, _), _)| other.offset[self.innermost()]).min().unwrap_or(0);
            let name = format!("tw_in{}", known.len());
            let level = self.work.level_of(access);
            let (address, ring) = self.line(access.field, level, place, &access.offset, first);
            let element = program.field(access.field).element.c_name();
            let text = format!("const {element} *{restrict}{name} = {address};");
            known.insert(key.clone(), Line { number: known.len(), name, text, first, ring });
        }
        let mut in_order: Vec<&Line> = known.values().collect();
        in_order.sort_by_key(|line| line.number);
        lines.extend(in_order.iter().map(|line| line.text.clone()));
        let read = |access: &Access| {
            let at = reads.iter().position(|(other, _)| other == access);
            at.and_then(|at| known.get(&keys[at])).map_or_else(String::new, |line| {
                format!(
                    "{}[{}]",
                    line.name,
                    self.index(line.ring, access.offset[self.innermost()], line.first)
                )
            })
        };
        let field = self.work.field(program);
        let element = program.field(field).element.c_name();
        body.extend(self.work.value(program, self.names, &read));
        let here = vec![0; program.dimension()];
        for (at, place) in self.work.writes().iter().enumerate() {
            let (address, ring) = self.line(field, self.work.level(), place, &here, 0);
            lines.push(format!("{element} *{restrict}tw_out{at} = {address};"));
            body.push(format!("tw_out{at}[{}] = tw_value;", self.index(ring, 0, 0)));
        }
    }

    /// What tells lines apart: where the first point of the box would lie.
    fn key(&self, access: &Access, place: &Place) -> String {
        self.line(access.field, self.work.level_of(access), place, &access.offset, 0).0
    }

    /// The address of a line's first cell, which lies `first` points from the first point of the box.
    fn line(
        &self,
        field: FieldId,
        level: IntExpr,
        place: &Place,
        offset: &[i64],
        first: i64,
    ) -> (String, Option<i64>) {
        let innermost = self.innermost();
        let along = var(LOW_NAMES[innermost]) + first;
        let mut point: Vec<IntExpr> = (0..innermost).map(|d| var(INDEX_NAMES[d]) + offset[d]).collect();
        match place {
            Place::Storage(index) => {
                let storage = &self.kernel.storages[*index];
                let plane = storages::plane_of_level(self.program, field, level, storage.planes);
                let ring = match storage.axes[innermost] {
                    Axis::Ring { extent } => Some(extent),
                    Axis::Window { .. } | Axis::Lanes { .. } => None,
                };
                // In a ring, lines begin at its first cell.
                point.push(if ring.is_some() { int(0) } else { along });
                let cell = plane * storage.cells() + storages::cell(storage, &point);
                (format!("{} + ({})", storage.name, cell.to_c()), ring)
            }
            Place::Arrays(slot) => {
                let mut text = format!("grid->{}", self.names.fields[field.0]);
                if let Some(slot) = storages::slot(self.program, field, level, slot) {
                    text.push_str(&format!(" + {} * grid->level_stride", storages::operand(&slot)));
                }
                for (d, index) in point.iter().enumerate() {
                    text.push_str(&format!(" + {} * grid->stride{d}", storages::operand(index)));
                }
                (format!("{text} + {}", storages::operand(&along)), None)
            }
        }
    }

    /// The index of the present point, moved by `offset`, in a line.
    fn index(&self, ring: Option<i64>, offset: i64, first: i64) -> String {
        match ring {
            None => (var("x") + (offset - first)).to_c(),
            Some(extent) => {
                let point = var(LOW_NAMES[self.innermost()]) + var("x") + offset;
                point.modulo(extent).to_c()
            }
        }
    }
}
