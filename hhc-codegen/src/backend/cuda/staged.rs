//! Kernels that stage sub-tiles in shared memory.
//!
//! ```text
//! for sub_tile:                       tw_tile
//!     load the cells that enter the window; barrier
//!     for row:                        tw_rows
//!         each thread: its points of the row, some neighbours at once  (tw_update_FIELD)
//!         barrier
//!     move the cells that stay to the front of the window; barrier
//! ```

use super::super::expression::{ExpressionPrinter, series_used};
use super::super::names::Names;
use super::super::plain_loops::{constants, series_values};
use super::loads::{self, LoadText};
use super::printer::Printer;
use super::staging::Staging;
use super::text::{BindingText, shifted, suffixed, thread_declarations};
use crate::geometry::LocalRow;
use crate::int_expr::var;
use crate::plan::{Kernel, KernelPlan, bound};
use crate::window::{Plane, WindowRow, Within};
use polyhedral::program::{Access, ElementType, FieldRole};
use serde::Serialize;

/// Rows of a partial tile that are unrolled at most, so that their slots are constants.
const MOST_UNROLLED: i64 = 16;

/// The device functions for tiles of one shape.
#[derive(Serialize)]
pub(super) struct ShapeText {
    comment: Vec<String>,
    updates: Vec<UpdateText>,
    rows_function: String,
    tile_function: String,
    placed_by: Vec<&'static str>,
    thread_declarations: Vec<String>,
    /// Those that all rows need: in several dimensions, not that of dimension 0.
    row_threads: Vec<String>,
    constants: Vec<String>,
    first_step: String,
    corners: Vec<BindingText>,
    row_variable: &'static str,
    first_group: i64,
    last_group: i64,
    unroll_full: i64,
    unroll_partial: i64,
    rows: Vec<RowText>,
    arrays: Vec<String>,
    sub_tiles: Vec<SubTileText>,
    full_when: String,
    window: String,
    slots: Vec<String>,
    slides: bool,
    /// First cell of the innermost dimension that is loaded.
    entering: Option<String>,
    exact_when: String,
    /// The number of the thread among those that load lines of cells.
    lane: String,
    exact_loads: Vec<LoadText>,
    clipped_loads: Vec<LoadText>,
    moves: Option<MoveText>,
}

#[derive(Serialize)]
struct SubTileText {
    variable: &'static str,
    low: String,
    high: String,
}

/// One statement at neighbouring points.
#[derive(Serialize)]
struct UpdateText {
    function: String,
    comment: String,
    arguments: Vec<String>,
    arrays: Vec<String>,
    element: &'static str,
    /// Cells between neighbours.
    pitch: i64,
    locals: Vec<String>,
    value: String,
    target: String,
    memory: String,
    /// Distance in memory between neighbours, where there may be several.
    stride: Option<&'static str>,
}

/// One row of a group.
#[derive(Serialize)]
struct RowText {
    comment: String,
    step: String,
    first: String,
    last: String,
    clip_first: String,
    clip_last: String,
    /// Local bounds of dimensions 1 and 2.
    lows: Vec<String>,
    /// Whether a later row of the sweep computes the same cells.
    covered_when: String,
    covered_first: String,
    covered_last: String,
    /// Where covering depends on the thread's own point.
    covered_here: Option<String>,
    planes: Vec<String>,
    /// Values of series in this time step.
    series: Vec<String>,
    /// Whether it does not run in full tiles.
    thin: bool,
    open: Vec<String>,
    close: Vec<String>,
    inside: String,
    column: Option<String>,
    place: String,
    one_dimension: bool,
    single_thread: bool,
    parts: i64,
    /// The declaration of a thread's number along dimension 0, where a row has several parts: made anew for each
    /// row, so that the places of the parts in all rows do not fill the registers.
    part_thread: Option<String>,
    update: String,
    /// Arguments before the cell.
    passed: String,
    /// Numbers of points at once, descending.
    points: Vec<PointsText>,
    first_cell: i64,
    pitch: i64,
}

#[derive(Serialize)]
struct PointsText {
    count: i64,
    many: bool,
}

/// How kept cells move to the front.
#[derive(Serialize)]
struct MoveText {
    kept: i64,
    size: i64,
    extent: i64,
    thread: String,
    threads: i64,
    arrays: Vec<MovedArray>,
    /// Whether more cells stay than leave, so that several passes are needed.
    passes: bool,
}

#[derive(Serialize)]
struct MovedArray {
    name: String,
    lines: i64,
    cells: i64,
}

impl Staging<'_> {
    /// The text of the tile functions.
    pub(super) fn text(&self, plan: &KernelPlan, names: &Names, kernel: &Kernel, index: usize) -> ShapeText {
        let printer = Printer { staging: self, program: &plan.program, names, kernel, index };
        printer.shape()
    }
}

impl Printer<'_> {
    fn array_declaration(&self, field: usize) -> String {
        format!(
            "TW_SHARED({}, {}, {}, {});",
            self.program.fields[field].element.c_name(),
            self.array(field),
            self.slots(field) * self.staging.window.cells(),
            self.staging.offsets[field]
        )
    }

    fn shape(&self) -> ShapeText {
        let Staging { local, window, threads, .. } = self.staging;
        let dimension = self.dimension();
        let innermost = dimension - 1;
        let (first_group, last_group) = local.groups;
        let parameters: Vec<String> = (0..self.program.statements.len())
            .flat_map(|k| constants(self.names, &self.program.statements[k], ""))
            .fold(Vec::new(), |mut all, text| {
                if !all.contains(&text) {
                    all.push(text);
                }
                all
            });
        let corners = local.corner.iter().enumerate().map(|(d, corner)| BindingText {
            name: ["corner0", "corner1", "corner2"][d],
            value: corner.to_c(),
            comment: String::new(),
        });
        let slots: Vec<i64> = (0..self.program.fields.len()).map(|field| self.slots(field)).collect();
        let period = slots
            .iter()
            .fold(1_i64, |all, &slots| (all / gcd(all, slots)).saturating_mul(slots))
            .min(MOST_UNROLLED);
        let entering = window.slide.and(self.kernel.sub_tiles.last()).map(|sub_tile| {
            format!("{} == {} ? 0 : {}", sub_tile.variable, sub_tile.low.to_c(), window.kept)
        });
        ShapeText {
            comment: self.describe(),
            updates: local
                .rows
                .iter()
                .zip(&window.rows)
                .map(|(row, moves)| self.update(row, moves))
                .collect(),
            rows_function: suffixed("tw_rows", self.index),
            tile_function: suffixed("tw_tile", self.index),
            placed_by: self.staging.placed_by.clone(),
            row_threads: thread_declarations(threads).split_off(usize::from(dimension > 1)),
            thread_declarations: thread_declarations(threads),
            constants: parameters,
            first_step: local.first_step.to_c(),
            corners: corners.collect(),
            row_variable: self.kernel.rows.variable,
            first_group,
            last_group,
            unroll_full: if self.staging.unrolled { last_group - first_group + 1 } else { period },
            unroll_partial: 1,
            rows: local
                .rows
                .iter()
                .zip(&window.rows)
                .zip(&self.staging.points)
                .map(|((row, moves), &points)| self.row(row, moves, points))
                .collect(),
            arrays: (0..self.program.fields.len()).map(|field| self.array_declaration(field)).collect(),
            sub_tiles: (self.kernel.sub_tiles.iter())
                .map(|l| SubTileText { variable: l.variable, low: l.low.to_c(), high: l.high.to_c() })
                .collect(),
            full_when: (self.kernel.full_when.iter())
                .map(|condition| format!("{} >= 0", condition.to_c()))
                .collect::<Vec<_>>()
                .join("\n            && "),
            window: (0..dimension)
                .map(|d| {
                    let first = shifted(&format!("corner{d}"), window.low[d]);
                    if d == innermost { first } else { format!("({first}) * stride{d}") }
                })
                .collect::<Vec<_>>()
                .join(" + "),
            slots: window.planes.iter().filter_map(|plane| self.slot(plane)).collect(),
            slides: window.slide.is_some(),
            entering,
            exact_when: self.exact_when(),
            exact_loads: self.exact_loads(),
            clipped_loads: self.clipped_loads(),
            lane: loads::lane(threads, window.slide.is_some()),
            moves: self.moves(),
        }
    }

    fn describe(&self) -> Vec<String> {
        let Staging { window, threads, shared_bytes, .. } = self.staging;
        let by = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>().join(" x ");
        let corner: Vec<String> =
            (0..self.dimension()).map(|d| shifted(&format!("corner{d}"), window.low[d])).collect();
        let mut lines = vec![
            format!("The window of a tile in shared memory: {} cells per stored level,", by(&window.extent)),
            format!("{shared_bytes} bytes in all; its first cell is the point ({}).", corner.join(", ")),
            format!("A block has {} threads.", by(&threads.per_dimension)),
        ];
        if let Some(size) = window.slide {
            lines.push(format!(
                "From one sub-tile to the next the window slides by {size} points along dimension {}.",
                self.dimension() - 1
            ));
        }
        lines
    }

    /// The position of a plane's slot in memory; `None` where there is only one.
    fn slot(&self, plane: &Plane) -> Option<String> {
        let slots = self.slots(plane.field);
        (slots > 1).then(|| {
            format!(
                "const tw_int {} = tw_modulo({}, {slots}) * level_stride;",
                self.slot_name(plane),
                shifted("first_step", plane.number)
            )
        })
    }

    /// When loads are exact.
    fn exact_when(&self) -> String {
        let window = self.staging.window;
        let mut conditions = vec!["full".to_string()];
        if window.slide.is_some() {
            conditions.push("entering > 0".to_string());
        }
        for Within { dimension: d, least, margin } in &window.exact_within {
            conditions.push(format!("corner{d} >= {least}"));
            conditions.push(format!("corner{d} <= n{d} - {margin}"));
        }
        conditions.join(" && ")
    }

    fn moves(&self) -> Option<MoveText> {
        let Staging { window, threads, .. } = self.staging;
        let size = window.slide?;
        let kept = window.kept;
        if kept == 0 {
            return None;
        }
        let extent = window.extent[self.dimension() - 1];
        let mut thread = "thread0".to_string();
        for d in 1..self.dimension() {
            thread = format!("({thread}) * {} + thread{d}", threads.per_dimension[d]).replacen(
                "(thread0)",
                "thread0",
                1,
            );
        }
        let arrays = (0..self.program.fields.len()).map(|field| {
            let lines = self.slots(field) * window.cells() / extent;
            MovedArray { name: self.array(field), lines, cells: lines * kept.min(size) }
        });
        let passes = kept > size;
        Some(MoveText {
            kept,
            size,
            extent,
            thread,
            threads: threads.count(),
            arrays: arrays.collect(),
            passes,
        })
    }

    /// The name of the variable with the position of a plane in a field's array; `None` where there is one plane.
    fn plane_name(&self, access: &Access) -> Option<String> {
        (self.slots(access.field.0) > 1).then(|| self.names.plane(self.program, access))
    }

    /// The planes that a row reads and writes, where a field has several: name, shift, number.
    fn planes(&self, row: &LocalRow, moves: &WindowRow) -> Vec<(String, i64, i64)> {
        let statement = &self.program.statements[row.statement];
        let write = Access { field: statement.target, time: 1, offset: vec![0; self.dimension()] };
        let reads = statement.reads.iter().zip(&moves.reads);
        let mut planes = Vec::new();
        for (access, &shift) in reads.chain([(&write, &moves.writes)]) {
            let slots = self.slots(access.field.0);
            if slots > 1 {
                planes.push((self.names.plane(self.program, access), shift, slots));
            }
        }
        planes.sort();
        planes.dedup();
        planes
    }

    fn update(&self, row: &LocalRow, moves: &WindowRow) -> UpdateText {
        let program = self.program;
        let statement = &program.statements[row.statement];
        let dimension = self.dimension();
        let cell = |access: &Access| {
            let offset: i64 =
                access.offset.iter().enumerate().map(|(d, &x)| x * self.staging.window.stride(d)).sum();
            let plane = self.plane_name(access).map_or(String::new(), |plane| format!("{plane} + "));
            format!("{}[{plane}{}]", self.array(access.field.0), shifted("x", offset))
        };
        let printer = ExpressionPrinter {
            program,
            names: self.names,
            statement: row.statement,
            copy: None,
            read: &cell,
        };
        let target = statement.target.0;
        let write = Access { field: statement.target, time: 1, offset: vec![0; dimension] };
        let mut arguments = vec![format!(
            "TW_GLOBAL({}) {}",
            program.fields[target].element.c_name(),
            self.names.fields[target]
        )];
        if dimension > 1 {
            arguments.push("tw_int stride0".to_string());
        }
        arguments.extend(
            self.constant_arguments(row.statement).iter().map(|(kind, name)| format!("{kind} {name}")),
        );
        arguments.extend(self.planes(row, moves).iter().map(|(plane, ..)| format!("int {plane}")));
        let mut fields: Vec<usize> =
            statement.reads.iter().map(|read| read.field.0).chain([target]).collect();
        fields.sort_unstable();
        fields.dedup();
        arguments.extend(series_used(statement).into_iter().map(|(series, offset)| {
            let element = program.series[series.0].element.c_name();
            format!("{element} {}", self.names.series_value(series, offset))
        }));
        let name = &program.fields[target].name;
        UpdateText {
            function: self.update_name(row.statement),
            comment: format!("{name}[{} + 1, {}]", program.time_index, program.space_indices.join(", ")),
            arguments,
            arrays: fields.into_iter().map(|field| self.array_declaration(field)).collect(),
            element: program.fields[target].element.c_name(),
            pitch: self.staging.window.stride(0),
            locals: printer.locals(),
            value: printer.value(),
            target: cell(&write),
            memory: self.names.fields[target].clone(),
            stride: (dimension > 1).then_some("stride0"),
        }
    }

    fn update_name(&self, statement: usize) -> String {
        suffixed(&format!("tw_update_{}", self.program.statement_name(statement)), self.index)
    }

    /// The constants that a statement uses, by type and name.
    fn constant_arguments(&self, statement: usize) -> Vec<(&'static str, String)> {
        let statement = &self.program.statements[statement];
        let mut all = Vec::new();
        for (element, kind) in [(ElementType::F32, "float"), (ElementType::F64, "double")] {
            for id in super::super::expression::parameters_used_as(statement, element) {
                let id = polyhedral::program::ParameterId(id);
                let name = match element {
                    ElementType::F32 => self.names.parameter_f32(id),
                    ElementType::F64 => self.names.parameters[id.0].clone(),
                };
                all.push((kind, name));
            }
        }
        all
    }

    fn row(&self, row: &LocalRow, moves: &WindowRow, most: i64) -> RowText {
        let Staging { local, window, threads, .. } = self.staging;
        let program = self.program;
        let statement = &program.statements[row.statement];
        let dimension = self.dimension();
        let variable = self.kernel.rows.variable;
        let target = statement.target.0;
        let slots = self.slots(target);
        let left_out = &moves.left_out;

        // Dimensions 1 and 2: point `low_d + i_d` belongs to thread `i_d`.
        let (mut open, mut lows, mut inside) = (Vec::new(), Vec::new(), vec!["true".to_string()]);
        let (mut column, mut place) = (Vec::new(), Vec::new());
        let mut covered_here = Vec::new();
        if slots > 1 || matches!(program.fields[target].role, FieldRole::State { .. }) {
            let level = shifted("step", self.level_shift(target));
            if slots > 1 {
                place.push(format!("tw_modulo({level}, {slots}) * level_stride"));
            }
        }
        if dimension > 1 {
            place.push("corner0 * stride0".to_string());
        }
        for d in 1..dimension {
            let (low, high) = &row.ranges[d];
            let width = row.boxes.iter().map(|bounds| bounds[d].1 - bounds[d].0 + 1).max().unwrap_or(1);
            let constant = row.boxes.iter().all(|bounds| bounds[d].1 - bounds[d].0 + 1 == width);
            let count = threads.per_dimension[d];
            lows.push(format!("const int low{d} = {};", low.to_c()));
            open.push(match count.cmp(&width) {
                std::cmp::Ordering::Equal if constant => format!("{{ const int i{d} = thread{d};"),
                _ => {
                    let width =
                        if constant { width.to_string() } else { format!("{} - low{d} + 1", high.to_c()) };
                    format!("for (int i{d} = thread{d}; i{d} < {width}; i{d} += {count}) {{")
                }
            });
            let (first_point, end) = (bound(statement.domain[d].low, d), bound(statement.domain[d].high, d));
            let point = format!("corner{d} + low{d} + i{d}");
            inside.push(format!("{point} >= {} && {point} < {}", first_point.to_c(), end.to_c()));
            let first = shifted(&format!("low{d} + i{d}"), -window.low[d]);
            let stride = self.staging.window.stride(d);
            column.push(if stride == 1 { first } else { format!("({first}) * {stride}") });
            place.push(if d + 1 == dimension { point.clone() } else { format!("({point}) * stride{d}") });
            if let Some((first, last)) = &left_out.ranges[d] {
                let point = format!("low{d} + i{d}");
                covered_here.push(format!("{point} >= {} && {point} <= {}", first.to_c(), last.to_c()));
            }
        }
        if dimension == 1 {
            place.push("corner0".to_string());
        }
        inside.remove(0);
        let mut points = vec![PointsText { count: most, many: true }];
        let mut count = most / 2;
        while count >= 1 {
            points.push(PointsText { count, many: false });
            count /= 2;
        }
        let (covered_first, covered_last) = match &left_out.ranges[0] {
            Some((first, last)) => (first.to_c(), last.to_c()),
            None => (row.ranges[0].0.to_c(), row.ranges[0].1.to_c()),
        };
        let mut passed = vec![self.names.fields[target].clone()];
        if dimension > 1 {
            passed.push("stride0".to_string());
        }
        passed.extend(self.constant_arguments(row.statement).into_iter().map(|(_, name)| name));
        passed.extend(self.planes(row, moves).into_iter().map(|(plane, ..)| plane));
        passed.extend(
            series_used(statement)
                .into_iter()
                .map(|(series, offset)| self.names.series_value(series, offset)),
        );
        let name = program.statement_name(row.statement);
        let many = local.rows.len() > 1;
        let (last_group, cells) = (local.groups.1, window.cells());
        RowText {
            comment: if many {
                format!("row {}*{variable} + {} of the tile: {name}", local.rows.len(), row.statement)
            } else {
                format!("row {variable} of the tile: {name}")
            },
            step: format!("first_step + {}", shifted(variable, row.step)),
            first: row.ranges[0].0.to_c(),
            last: row.ranges[0].1.to_c(),
            clip_first: (bound(statement.domain[0].low, 0) - var("corner0")).to_c(),
            clip_last: (bound(statement.domain[0].high, 0) - 1 - var("corner0")).to_c(),
            lows,
            covered_when: format!(
                "{variable} + {0} <= {last_group} && (full || step + {0} < steps)",
                left_out.groups
            ),
            covered_first,
            covered_last,
            covered_here: (!covered_here.is_empty()).then(|| covered_here.join(" && ")),
            planes: (self.planes(row, moves).into_iter())
                .map(|(plane, shift, slots)| {
                    let level = shifted(variable, shift);
                    format!("const int {plane} = (int)((unsigned int)({level}) % {slots}u) * {cells};")
                })
                .collect(),
            series: series_values(program, self.names, statement, "", "step"),
            thin: !row.in_full_tiles,
            close: vec!["}".to_string(); open.len()],
            open,
            inside: inside.join(" && "),
            column: (!column.is_empty()).then(|| column.join(" + ")),
            place: place.join(" + "),
            one_dimension: dimension == 1,
            single_thread: threads.per_dimension[0] == 1,
            parts: threads.per_dimension[0],
            part_thread: (dimension > 1 && threads.per_dimension[0] > 1).then(|| {
                let axis = ["x", "y", "z"][dimension - 1];
                format!("const int thread0 = tw_here((int)threadIdx.{axis});")
            }),
            update: self.update_name(row.statement),
            passed: passed.join(", "),
            points,
            first_cell: -window.low[0],
            pitch: window.stride(0),
        }
    }

    /// What is added to the time step for the slot of the level that is computed.
    fn level_shift(&self, field: usize) -> i64 {
        match self.program.fields[field].role {
            FieldRole::State { levels, .. } => levels as i64,
            FieldRole::Coefficient => 0,
        }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
