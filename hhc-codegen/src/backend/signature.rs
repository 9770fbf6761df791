//! The C entry point of a program: its arguments, and their documentation.

use super::names::Names;
use c_tree::{Block, COLUMNS, Dialect, Function, Stmt, comment_lines, int, var};
use polyhedral::program::{Boundary, FieldRole, Program};
use serde::Serialize;

/// What the templates need to know about the arguments.
#[derive(Debug, Clone, Serialize)]
pub struct Signature {
    /// Name of the stencil.
    pub name: String,
    /// The entry point, `NAME_run`.
    pub entry: String,
    /// Fields in order.
    pub fields: Vec<FieldArgument>,
    /// `n0`, `n1`, `n2`, as many as there are dimensions.
    pub sizes: Vec<SizeArgument>,
    /// `stride0`, `stride1`: all dimensions but the innermost.
    pub strides: Vec<StrideArgument>,
    /// The strides from the innermost on, as the entry point checks them.
    pub strides_from_inner: Vec<StrideArgument>,
    /// The elements from the first to the last one of a level, as documentation.
    pub level: String,
    /// Whether some field has several slots, so that their distance matters.
    pub has_slots: bool,
    /// Name of the library in CMake, which keeps some names for itself.
    pub cmake: String,
    /// The same in capitals, for its options.
    pub cmake_option: String,
    /// Series in order.
    pub series: Vec<SeriesArgument>,
    /// The condition that the grid is too small for the program, such as `n0 < 2 || n1 < 3`; `None` where no grid
    /// is.
    pub too_small: Option<String>,
    /// Whether all stored levels get the boundary of the newest initial one.
    pub fixed_boundary: bool,
    /// Parameters in order.
    pub parameters: Vec<ParameterArgument>,
    /// Name of the macro that guards the header.
    pub guard: String,
}

/// One field.
#[derive(Debug, Clone, Serialize)]
pub struct FieldArgument {
    /// C name.
    pub name: String,
    /// `float` or `double`.
    pub c_type: String,
    /// `const ` for coefficients, else empty.
    pub qualifier: String,
    /// Whether it changes over time.
    pub state: bool,
    /// Stored time levels (1 for a coefficient).
    pub slots: usize,
    /// Initial time levels (1 for a coefficient).
    pub levels: usize,
    /// Whether there is more than one initial level.
    pub several: bool,
    /// Slot of the newest initial level.
    pub newest: usize,
    /// Shape as documentation: `[2][n0][n1]`.
    pub shape: String,
    /// Whether two numbers per time step are kept of it, no array.
    pub witness: bool,
    /// Index in the program.
    pub index: usize,
    /// What must be in its slots before a call, as documentation; empty for a coefficient.
    pub before: String,
    /// What is in its slots afterwards.
    pub after: String,
}

/// One series.
#[derive(Debug, Clone, Serialize)]
pub struct SeriesArgument {
    /// C name.
    pub name: String,
    /// `float` or `double`.
    pub c_type: String,
    /// Its length as documentation: `steps + 1`.
    pub length: String,
    /// What is added to `steps` for its length.
    pub reach: i64,
    /// The time of its first element: `0`, `-1`.
    pub first: i64,
    /// Position among the arrays of the uniform entry point: series come after fields.
    pub index: usize,
}

/// One extent of the grid.
#[derive(Debug, Clone, Serialize)]
pub struct SizeArgument {
    /// `n0`
    pub name: String,
    /// Dimension.
    pub index: usize,
}

/// One stride.
#[derive(Debug, Clone, Serialize)]
pub struct StrideArgument {
    /// `stride0`
    pub name: String,
    /// Position in the `sizes` array of the uniform entry point.
    pub index: usize,
    /// Its value in a dense array: `n1*n2`.
    pub dense: String,
    /// The extent of its dimension: `n0`.
    pub size: String,
    /// The elements that lie within it: `(n1 - 1) * stride1 + n2`.
    pub within: String,
}

/// One parameter.
#[derive(Debug, Clone, Serialize)]
pub struct ParameterArgument {
    /// C name.
    pub name: String,
    /// Default value.
    pub default: String,
    /// Index in the program.
    pub index: usize,
}

impl Signature {
    /// The signature of a program.
    pub fn new(program: &Program, names: &Names) -> Self {
        let dimension = program.dimension();
        let extents: Vec<String> = (0..dimension).map(|d| format!("n{d}")).collect();
        let grid_shape: String = extents.iter().map(|extent| format!("[{extent}]")).collect();
        let fields = program.fields.iter().enumerate().map(|(index, field)| {
            let (state, levels, slots) = match field.role {
                FieldRole::State { levels, slots } => (true, levels, slots),
                FieldRole::Coefficient => (false, 1, 1),
            };
            let (before, after) = match field.role {
                FieldRole::State { levels, slots } => {
                    let slot = format!("{}_slot_{}", program.name, names.fields[index]);
                    slots_text(levels, slots, &slot, program.boundary == Boundary::Fixed)
                }
                FieldRole::Coefficient => (String::new(), String::new()),
            };
            FieldArgument {
                before,
                after,
                name: names.fields[index].clone(),
                c_type: field.element.c_name().to_string(),
                qualifier: if state { String::new() } else { "const ".to_string() },
                state,
                slots,
                levels,
                several: levels > 1,
                witness: false,
                newest: levels - 1,
                shape: if state { format!("[{slots}]{grid_shape}") } else { grid_shape.clone() },
                index,
            }
        });
        let strides = (0..dimension - 1).map(|d| StrideArgument {
            name: format!("stride{d}"),
            index: dimension + d,
            dense: extents[d + 1..].join(" * "),
            size: extents[d].clone(),
            within: elements_within(d + 1, dimension),
        });
        let strides: Vec<StrideArgument> = strides.collect();
        let parameters = program.parameters.iter().enumerate().map(|(index, parameter)| ParameterArgument {
            name: names.parameters[index].clone(),
            default: format!("{:?}", parameter.default),
            index,
        });
        let series = program.series.iter().enumerate().map(|(index, series)| SeriesArgument {
            name: names.series[index].clone(),
            c_type: series.element.c_name().to_string(),
            length: match series.length(0) {
                0 => "steps".to_string(),
                reach => format!("steps + {reach}"),
            },
            reach: series.length(0),
            first: series.first,
            index: program.fields.len() + index,
        });
        let too_small: Vec<String> = (program.least_size.iter().enumerate())
            .filter(|(_, least)| **least > 0)
            .map(|(d, least)| format!("n{d} < {least}"))
            .collect();
        Signature {
            series: series.collect(),
            fixed_boundary: program.boundary == Boundary::Fixed,
            too_small: (!too_small.is_empty()).then(|| too_small.join(" || ")),
            name: program.name.clone(),
            entry: format!("{}_run", program.name),
            fields: fields.collect(),
            sizes: extents
                .iter()
                .enumerate()
                .map(|(index, name)| SizeArgument { name: name.clone(), index })
                .collect(),
            strides_from_inner: strides.iter().rev().cloned().collect(),
            strides,
            level: elements_within(0, dimension),
            has_slots: (program.fields.iter())
                .any(|field| matches!(field.role, FieldRole::State { slots: 2.., .. })),
            cmake_option: program.name.to_uppercase(),
            cmake: cmake_target(&program.name),
            parameters: parameters.collect(),
            // As it is: two names that differ in capitals only have headers of their own.
            guard: format!("TILEWRIGHT_{}_H", program.name),
        }
    }
}

impl Signature {
    /// The same where some fields are witnesses.
    pub(super) fn with_witnesses(mut self, witnesses: &[usize]) -> Self {
        for field in self.fields.iter_mut().filter(|field| witnesses.contains(&field.index)) {
            field.witness = true;
            field.shape = "[2 * steps]".to_owned();
            field.before = "zeros".to_owned();
            field.after = "element 2 t is 1 if some point adds to it in step t, element 2 t + 1 if a value there is no number"
                .to_owned();
        }
        self
    }

    /// What the arrays are, as lines of a comment.
    pub(super) fn arrays(&self) -> Vec<String> {
        let field = |field: &FieldArgument| {
            let FieldArgument { name, qualifier, c_type, shape, .. } = field;
            let head = format!("  {name}: {qualifier}{c_type} {shape}");
            if !field.state {
                return format!("{head}, read only");
            }
            let several = if field.several { "s" } else { "" };
            format!(
                "{head}, {} initial level{several}, computed in place\n    before: {}\n    after: {}",
                field.levels, field.before, field.after
            )
        };
        let series = |series: &SeriesArgument| {
            let SeriesArgument { name, c_type, length, first, .. } = series;
            format!(
                "  {name}: const {c_type} [{length}], values that depend on time only: element 0 belongs to time \
                 {first}, the first time step is time 0"
            )
        };
        let all = self.fields.iter().map(field).chain(self.series.iter().map(series));
        all.flat_map(|text| comment_lines(&text, COLUMNS - 3)).collect()
    }

    /// The functions that say where the newest level of a field is.
    pub(super) fn slots(&self) -> Vec<String> {
        let function = |field: &FieldArgument| {
            let body = match field.slots as i64 {
                1 => Block::from([Stmt::unused("steps"), Stmt::Return(Some(int(0)))]),
                slots => Stmt::Return(Some((var("steps") + field.newest as i64) % slots)).into(),
            };
            Function::new(format!("{}_slot_{}", self.name, field.name))
                .comment(format!("Slot of the newest level of {} after this many steps.", field.name))
                .attribute("static inline")
                .result("ptrdiff_t")
                .parameter("ptrdiff_t", "steps")
                .body(body)
                .print(Dialect::C)
        };
        self.fields.iter().filter(|field| field.state).map(function).collect()
    }

    /// The shapes of all arrays, as documentation.
    pub(super) fn shapes(&self) -> Vec<String> {
        let fields = self.fields.iter().map(|field| field.shape.clone());
        let series = self.series.iter().map(|series| match series.first {
            0 => format!("[{}]", series.length),
            first => format!("[{}], from time {first} on", series.length),
        });
        fields.chain(series).collect()
    }
}

/// The elements from the first to the last point along these dimensions: `(n1 - 1) * stride1 + n2`.
fn elements_within(first: usize, dimension: usize) -> String {
    let term = |d: usize| if d + 1 < dimension { format!("(n{d} - 1) * stride{d}") } else { format!("n{d}") };
    (first..dimension).map(term).collect::<Vec<_>>().join(" + ")
}

/// What must be in the slots of a field before a call, and what is there afterwards.
fn slots_text(levels: usize, slots: usize, slot: &str, fixed: bool) -> (String, String) {
    if slots == 1 {
        return ("the initial level".to_string(), "the newest level".to_string());
    }
    let initial = match levels {
        1 => "slot 0: the initial level".to_string(),
        _ => format!("slots 0 to {}: the initial levels, oldest first", levels - 1),
    };
    let others = match (slots - levels, fixed) {
        (0, _) => "",
        (_, true) => "; nothing is needed in the others",
        (_, false) => "; in the others only points that no statement computes",
    };
    let after = match slots {
        2 => format!("slot {slot}(steps): the newest level; the other one: the level before"),
        _ => format!(
            "slot {slot}(steps): the newest level; the slots before it, in a circle: the levels before"
        ),
    };
    (initial + others, after)
}

/// A name that CMake has not taken for a target of its own, nor the linker for a library.
fn cmake_target(name: &str) -> String {
    const TAKEN: [&str; 15] = [
        "all",
        "clean",
        "depend",
        "help",
        "install",
        "list_install_components",
        "package",
        "package_source",
        "preinstall",
        "rebuild_cache",
        "edit_cache",
        "test",
        "uninstall",
        "m",
        "c",
    ];
    if TAKEN.contains(&name) { format!("{name}_stencil") } else { name.to_string() }
}
