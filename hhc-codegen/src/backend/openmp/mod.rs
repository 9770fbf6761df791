//! The OpenMP C back end: a library file with a plain C entry point, its header, a standalone main and a
//! build file. Tiles run in parallel; a tile works in place on the grid, because caches find its data by
//! themselves; rows of a tile are computed several at a time, because neighbouring rows share loads.

mod parts;
mod text;

use super::expression::ExpressionPrinter;
use super::indent::indent_c;
use super::names::Names;
use super::plain_loops::{PlainLoops, displacement, plain_loops, uses_exp};
use super::templates::render;
use super::{GeneratedFile, Signature, storages};
use crate::PlanError;
use crate::geometry::{block_points, rows_at_once};
use crate::int_expr::IntExpr;
use crate::plan::{Instance, Kernel, KernelPlan, RowOrder, SIZE_NAMES, bound};
use parts::PartsText;
use polyhedral::program::{Access, FieldRole, Program};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use text::{LoopText, constant_declarations, constants, loop_text, step_exists};

/// The files of a plan for OpenMP: `NAME.c`, `NAME.h`, `NAME_main.c`, `CMakeLists.txt`.
///
/// # Errors
/// [`PlanError::Limit`] where blocks need more memory of their own than a thread has.
pub fn generate(plan: &KernelPlan) -> Result<Vec<GeneratedFile>, PlanError> {
    let program = &plan.program;
    let names = storages::names(plan);
    let own_bytes = parts::own_bytes(plan)?;
    let data = ProgramText::new(plan, &names, own_bytes);
    let file =
        |name: String, template: &str| render(template, &data).map(|text| GeneratedFile { name, text });
    Ok(vec![
        GeneratedFile {
            name: format!("{}.c", program.name),
            text: indent_c(&render("openmp/program.c", &data)?),
        },
        file(format!("{}.h", program.name), "openmp/program.h")?,
        file(format!("{}_main.c", program.name), "openmp/main.c")?,
        file("CMakeLists.txt".to_string(), "openmp/CMakeLists.txt")?,
    ])
}

/// The data of the templates.
#[derive(Serialize)]
struct ProgramText {
    version: &'static str,
    description: Vec<String>,
    strategy: &'static str,
    tile: String,
    signature: Signature,
    uses_exp: bool,
    exp_header: &'static str,
    /// Bytes of a thread's own memory.
    own_bytes: i64,
    updates: Vec<UpdateText>,
    kernels: Vec<KernelText>,
    outer: LoopText,
    launches: Vec<LaunchText>,
    reference: Vec<PlainLoops>,
    /// Grid of the standalone main's check: odd, and larger than a tile where that is cheap.
    check_sizes: &'static [i64],
    /// Grid that the standalone main times where none is given.
    default_sizes: &'static [i64],
}

/// One statement as a function over a box.
#[derive(Serialize)]
struct UpdateText {
    name: String,
    comment: String,
    time: String,
    /// Declarations of the planes, as locals of the box function.
    planes: Vec<String>,
    /// The same planes as arguments of the inner functions.
    plane_arguments: Vec<String>,
    plane_names: Vec<String>,
    constants: Vec<String>,
    constant_arguments: Vec<String>,
    constant_names: Vec<String>,
    /// The plane that is written.
    target: String,
    /// All loops of the box, slowest first.
    loops: Vec<BoxLoop>,
    innermost: BoxLoop,
    /// The inner functions: several values of the slowest index at once, then one.
    variants: Vec<VariantText>,
    /// Whether no point may run twice.
    in_place: bool,
}

/// A row of points, or several neighbouring rows at once.
#[derive(Serialize)]
struct VariantText {
    name: String,
    /// Number of rows.
    rows: usize,
    first: bool,
    many: bool,
    single: bool,
    /// How many points of a row are one block: whole cache lines.
    width: usize,
    /// Statements executed for each point.
    body: Vec<String>,
    /// Loops around the row, slowest first, with the slowest one's step.
    around: Vec<BoxLoop>,
    /// Position of the row: `i * stride0 + j * stride1 + `.
    row: String,
}

#[derive(Serialize, Clone)]
struct BoxLoop {
    index: String,
    low: String,
    high: String,
    step: usize,
    slack: usize,
    /// Whether the loop variable is declared before the loop.
    declared: bool,
}

#[derive(Serialize)]
struct KernelText {
    name: String,
    comment: String,
    arguments: Vec<&'static str>,
    bindings: Vec<BindingText>,
    sub_tiles: Vec<LoopText>,
    full_when: Vec<String>,
    rows: LoopText,
    has_rows: bool,
    /// When no row of a group has a time step, where they all have the same one.
    no_step: Option<String>,
    full: Vec<RowText>,
    partial: Vec<RowText>,
    needs_steps: bool,
    /// What it does part by part, instead of all that follows the bindings.
    parts: Option<PartsText>,
    sizes: Vec<&'static str>,
}

#[derive(Serialize)]
struct BindingText {
    name: &'static str,
    value: String,
    comment: String,
}

#[derive(Serialize)]
struct RowText {
    comment: String,
    update: String,
    /// Whether its time step exists, where others of the group have another one.
    condition: Option<String>,
    step: String,
    bounds: Vec<BoundText>,
}

#[derive(Serialize)]
struct BoundText {
    low: String,
    /// One past the last point.
    high: String,
}

#[derive(Serialize)]
struct LaunchText {
    kernel: String,
    comment: String,
    when: Option<String>,
    blocks: Vec<LoopText>,
    collapse: usize,
    multiple: bool,
    schedule: &'static str,
}

impl ProgramText {
    fn new(plan: &KernelPlan, names: &Names, own_bytes: i64) -> Self {
        let program = &plan.program;
        let signature = Signature::new(program, names);
        ProgramText {
            version: env!("CARGO_PKG_VERSION"),
            description: text_escape::comment_lines(&program.description),
            strategy: plan.strategy,
            tile: plan.tile.to_string(),
            signature,
            uses_exp: uses_exp(program),
            check_sizes: [&[1013], &[161, 277][..], &[61, 47, 53]][program.dimension() - 1],
            default_sizes: [&[1 << 24], &[4096, 4096][..], &[256, 256, 256]][program.dimension() - 1],
            exp_header: polyhedral::portable_exp::C_HEADER,
            own_bytes,
            updates: (0..program.statements.len()).filter_map(|k| update(plan, names, k)).collect(),
            kernels: plan.kernels.iter().map(|kernel| kernel_text(plan, names, kernel)).collect(),
            outer: loop_text(&plan.outer),
            launches: plan
                .launches
                .iter()
                .map(|launch| {
                    let kernel = &plan.kernels[launch.kernel];
                    LaunchText {
                        kernel: kernel.name.clone(),
                        comment: kernel.comment.clone(),
                        when: launch.when.as_ref().map(IntExpr::to_c),
                        blocks: kernel.blocks.iter().map(loop_text).collect(),
                        collapse: kernel.blocks.len(),
                        multiple: kernel.blocks.len() > 1,
                        // Equal blocks touch memory like the first touch did.
                        schedule: if kernel.blocks_alike { "static" } else { "dynamic" },
                    }
                })
                .collect(),
            reference: plain_loops(program, names),
        }
    }
}

/// A pointer to one time level of a field.
struct Plane {
    name: String,
    /// `const float`
    element: String,
    value: String,
}

/// Pointers to the planes that a statement touches, and the name of the one that it writes.
fn planes(program: &Program, names: &Names, index: usize) -> (Vec<Plane>, String) {
    let statement = &program.statements[index];
    let write = Access { field: statement.target, time: 1, offset: vec![0; program.dimension()] };
    let mut pointers: BTreeMap<String, Plane> = BTreeMap::new();
    for access in statement.reads.iter().chain([&write]) {
        let field = program.field(access.field);
        let name = names.plane(program, access);
        let member = &names.fields[access.field.0];
        let target = *access == write;
        let qualifier = if target { "" } else { "const " };
        let value = match field.role {
            FieldRole::Coefficient => format!("grid->{member}"),
            FieldRole::State { slots: 1, .. } => format!("grid->{member}"),
            FieldRole::State { levels, slots } => {
                let shift = access.time + levels as i64 - 1;
                let level = if shift == 0 { names.time.clone() } else { format!("{} + {shift}", names.time) };
                format!("grid->{member} + tw_modulo({level}, {slots}) * grid->level_stride")
            }
        };
        let element = format!("{qualifier}{}", field.element.c_name());
        pointers.insert(name.clone(), Plane { name, element, value });
    }
    (pointers.into_values().collect(), names.plane(program, &write))
}

/// The function of a statement, where some kernel has rows of it that it does not print part by part.
fn update(plan: &KernelPlan, names: &Names, index: usize) -> Option<UpdateText> {
    let program = &*plan.program;
    let statement = &program.statements[index];
    let dimension = program.dimension();
    let kernels = plan.kernels.iter().filter(|kernel| !kernel.in_parts());
    let rows = kernels.flat_map(|kernel| &kernel.instances).filter(|row| row.statement == index);
    let orders: Vec<&RowOrder> = rows.map(|row| &row.order).collect();
    if orders.is_empty() {
        return None;
    }
    let in_place = orders.iter().any(|order| **order != RowOrder::Parallel { repeats: true });
    let (planes, target) = planes(program, names, index);
    let constants = constants(program, names, index);
    let rows = rows_at_once(program, statement);
    let variants = (0..rows.len()).map(|at| variant(program, names, index, &target, &rows, at)).collect();
    let restrict = if in_place { "" } else { "restrict " };
    Some(UpdateText {
        name: format!("tw_update_{}", program.statement_name(index)),
        comment: format!(
            "{}[{} + 1, {}]",
            program.field(statement.target).name,
            program.time_index,
            program.space_indices.join(", ")
        ),
        time: names.time.clone(),
        planes: planes
            .iter()
            .map(|plane| format!("{} *{} = {};", plane.element, plane.name, plane.value))
            .collect(),
        plane_arguments: planes
            .iter()
            .map(|plane| format!("{} *{restrict}{}", plane.element, plane.name))
            .collect(),
        plane_names: planes.into_iter().map(|plane| plane.name).collect(),
        constant_arguments: constants
            .iter()
            .map(|(element, name, _)| format!("{} {name}", element.c_name()))
            .collect(),
        constant_names: constants.iter().map(|(_, name, _)| name.clone()).collect(),
        constants: constant_declarations(&constants),
        target,
        loops: (0..dimension).map(|d| box_loop(names, d, 1, false)).collect(),
        innermost: box_loop(names, dimension - 1, 1, false),
        variants,
        in_place,
    })
}

fn box_loop(names: &Names, d: usize, step: usize, declared: bool) -> BoxLoop {
    BoxLoop {
        index: names.space[d].clone(),
        low: format!("low{d}"),
        high: format!("high{d}"),
        step,
        slack: step - 1,
        declared,
    }
}

/// Variant `at` of the inner functions: `all[at]` neighbouring rows at once.
fn variant(
    program: &Program,
    names: &Names,
    index: usize,
    target: &str,
    all: &[usize],
    at: usize,
) -> VariantText {
    let rows = all[at];
    let statement = &program.statements[index];
    let dimension = program.dimension();
    let element = program.field(statement.target).element;
    let width = block_points(program, statement);
    let mut body = Vec::new();
    for copy in 0..rows {
        let read = |access: &Access| {
            let mut offset = access.offset.clone();
            if dimension > 1 {
                offset[0] += copy as i64;
            }
            format!("{}[x{}]", names.plane(program, access), displacement(&offset))
        };
        let copy = (rows > 1).then_some(copy);
        let printer = ExpressionPrinter { program, names, statement: index, copy, read: &read };
        body.extend(printer.locals());
        let value = printer.value();
        body.push(format!("const {} tw_value{} = {value};", element.c_name(), copy.unwrap_or(0)));
    }
    for copy in 0..rows {
        let mut offset = vec![0; dimension];
        offset[0] = copy as i64;
        body.push(format!(
            "{target}[x{}] = tw_value{copy};",
            if copy == 0 { String::new() } else { displacement(&offset) }
        ));
    }
    let place: Vec<String> = (0..dimension - 1).map(|d| format!("{} * stride{d}", names.space[d])).collect();
    VariantText {
        name: format!(
            "tw_{}_row{}",
            program.statement_name(index),
            if rows > 1 { format!("s{rows}") } else { String::new() }
        ),
        rows,
        first: at == 0,
        many: rows > 2,
        single: rows == 1,
        width,
        body,
        around: (0..dimension - 1)
            .map(|d| box_loop(names, d, if d == 0 { rows } else { 1 }, d == 0 && all.len() > 1))
            .collect(),
        row: place.iter().map(|term| format!("{term} + ")).collect(),
    }
}

fn kernel_text(plan: &KernelPlan, names: &Names, kernel: &Kernel) -> KernelText {
    let program = &plan.program;
    let in_parts = kernel.in_parts();
    let guarded = |instance: &&Instance| !storages::steps_exist(plan, instance);
    let steps: BTreeSet<String> =
        kernel.instances.iter().filter(guarded).map(|instance| instance.step.to_c()).collect();
    let same_step = kernel.instances.iter().all(|instance| guarded(&instance)) && steps.len() == 1;
    let row = |instance: &Instance, clip: bool| {
        let statement = &program.statements[instance.statement];
        let bounds = instance.ranges.iter().enumerate().map(|(d, range)| {
            let (mut low, mut high) = (range.low.clone(), range.high.clone() + 1);
            if clip {
                low = low.max(bound(statement.domain[d].low, d));
                high = high.min(bound(statement.domain[d].high, d));
            }
            BoundText { low: low.to_c(), high: high.to_c() }
        });
        let target = program.statement_name(instance.statement);
        let many = kernel.instances.len() > 1;
        RowText {
            comment: if many {
                format!("row {}*m + {}: {target}", kernel.instances.len(), instance.statement)
            } else {
                format!("row m: {target}")
            },
            update: format!("tw_update_{target}"),
            condition: (clip && !same_step && guarded(&instance)).then(|| step_exists(&instance.step)),
            step: instance.step.to_c(),
            bounds: bounds.collect(),
        }
    };
    let mut arguments = vec![plan.outer.variable];
    arguments.extend(kernel.blocks.iter().map(|block| block.variable));
    KernelText {
        name: kernel.name.clone(),
        comment: kernel.comment.clone(),
        arguments,
        bindings: kernel
            .bindings
            .iter()
            .map(|binding| BindingText {
                name: binding.name,
                value: binding.value.to_c(),
                comment: binding.comment.clone(),
            })
            .collect(),
        sub_tiles: kernel.sub_tiles.iter().map(loop_text).collect(),
        full_when: kernel.full_when.iter().map(|condition| format!("{} >= 0", condition.to_c())).collect(),
        rows: loop_text(&kernel.rows),
        has_rows: storages::has_groups(kernel) || same_step,
        no_step: steps.first().filter(|_| same_step).map(|step| format!("{step} < 0 || {step} >= steps")),
        full: (kernel.instances.iter())
            .filter(|instance| instance.in_full_tiles)
            .map(|instance| row(instance, false))
            .collect(),
        partial: kernel.instances.iter().map(|instance| row(instance, true)).collect(),
        needs_steps: in_parts || !steps.is_empty() || mentions_steps(kernel),
        parts: in_parts.then(|| PartsText::new(plan, names, kernel)),
        sizes: SIZE_NAMES[..program.dimension()].to_vec(),
    }
}

/// Whether a bound of a kernel depends on the number of time steps.
fn mentions_steps(kernel: &Kernel) -> bool {
    let bindings = kernel.bindings.iter().map(|binding| &binding.value);
    let loops = kernel.sub_tiles.iter().chain([&kernel.rows]).flat_map(|source| [&source.low, &source.high]);
    let ranges = kernel.instances.iter().flat_map(|instance| &instance.ranges);
    let ranges = ranges.flat_map(|range| [&range.low, &range.high]);
    let steps = kernel.instances.iter().map(|instance| &instance.step);
    bindings
        .chain(loops)
        .chain(ranges)
        .chain(steps)
        .chain(&kernel.full_when)
        .any(|bound| bound.mentions("steps"))
}
