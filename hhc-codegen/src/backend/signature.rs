//! The C entry point of a program: its arguments, and their documentation.

use super::names::Names;
use polyhedral::program::{FieldRole, Program};
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
    /// Parameters in order.
    pub parameters: Vec<ParameterArgument>,
    /// Name of the macro that guards the header.
    pub guard: String,
    /// Position of the distance between time levels in the `sizes` array of the uniform entry point.
    pub level_stride_index: usize,
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
    /// Index in the program.
    pub index: usize,
    /// Whether it is the first state field (the one whose newest slot the documentation names).
    pub stored_once: bool,
    /// Width of the fixed boundary in all dimensions but the innermost; empty for a coefficient.
    pub outer_margins: Vec<Margin>,
    /// Width of the fixed boundary in the innermost dimension.
    pub inner_margin: Option<Margin>,
}

/// Width of a boundary in one dimension.
#[derive(Debug, Clone, Serialize)]
pub struct Margin {
    /// Extent of the dimension: `n1`.
    pub size: String,
    /// Stride of the dimension: `stride1` (unused in the innermost).
    pub stride: String,
    /// Index variable: `i1`.
    pub index: String,
    /// Below.
    pub low: i64,
    /// Above.
    pub high: i64,
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
            let writer = program.statements.iter().find(|statement| statement.target.0 == index);
            let mut outer_margins: Vec<Margin> = writer.map_or(Vec::new(), |statement| {
                let margin = |d: usize| Margin {
                    size: format!("n{d}"),
                    stride: format!("stride{d}"),
                    index: format!("i{d}"),
                    low: statement.margin_low[d],
                    high: statement.margin_high[d],
                };
                (0..dimension).map(margin).collect()
            });
            let inner_margin = outer_margins.pop();
            FieldArgument {
                name: names.fields[index].clone(),
                c_type: field.element.c_name().to_string(),
                qualifier: if state { String::new() } else { "const ".to_string() },
                state,
                slots,
                levels,
                several: levels > 1,
                newest: levels - 1,
                shape: if state { format!("[{slots}]{grid_shape}") } else { grid_shape.clone() },
                index,
                stored_once: slots == 1,
                outer_margins,
                inner_margin,
            }
        });
        let strides = (0..dimension - 1).map(|d| StrideArgument {
            name: format!("stride{d}"),
            index: dimension + d,
            dense: extents[d + 1..].join(" * "),
        });
        let parameters = program.parameters.iter().enumerate().map(|(index, parameter)| ParameterArgument {
            name: names.parameters[index].clone(),
            default: format!("{:?}", parameter.default),
            index,
        });
        Signature {
            name: program.name.clone(),
            entry: format!("{}_run", program.name),
            fields: fields.collect(),
            sizes: extents
                .iter()
                .enumerate()
                .map(|(index, name)| SizeArgument { name: name.clone(), index })
                .collect(),
            strides: strides.collect(),
            parameters: parameters.collect(),
            level_stride_index: 2 * dimension - 1,
            guard: format!("TILEWRIGHT_{}_H", program.name.to_uppercase()),
        }
    }
}
