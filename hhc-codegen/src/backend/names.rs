//! Names in generated text. The user's names are kept; where one of them is also a name of ours, an
//! underscore is added.

use c_tree::Scope;
use polyhedral::program::{Access, FieldRole, LocalId, ParameterId, Program, SeriesId};

/// Names that the templates use in scopes where user names are visible.
#[rustfmt::skip]
const OWN_NAMES: &[&str] = &[
    "grid", "x", "m", "band", "step", "steps", "launch", "b0", "b1", "b2", "c1", "c2", "t0", "x0", "n0",
    "n1", "n2", "low0", "low1", "low2", "high0", "high1", "high2", "stride0", "stride1", "level_stride",
    "row", "stream", "error", "main", "printf", "restrict", "inline", "shared", "slot", "argc", "argv",
    "status", "level", "data", "whole", "spread", "outer", "copy", "memory", "from", "home", "slots",
    // CUDA
    "points", "point", "cell", "place", "value", "covered_first", "covered_last", "full", "first_step",
    "now", "corner0", "corner1", "corner2", "thread", "thread0", "thread1", "thread2", "first", "last",
    "covered", "again_first", "again_last", "again", "all", "column", "width", "part", "begin", "mine",
    "at", "window", "entering", "w", "w0", "w1", "w2", "p0", "p1", "p2", "k", "to", "line", "i0", "i1",
    "i2", "b0_first", "b1_first", "b2_first", "b0_low", "b1_low", "b2_low", "b0_high", "b1_high", "b2_high",
    "fixed", "outside", "small", "blocks_x", "blocks_y", "blocks_z", "device", "host", "lane", "here",
];

/// The C names of a program's parts.
#[derive(Debug, Clone)]
pub struct Names {
    /// Space indices, slowest first.
    pub space: Vec<String>,
    /// Time index.
    pub time: String,
    /// Parameters.
    pub parameters: Vec<String>,
    /// Series, as arguments of the entry point and members of the grid.
    pub series: Vec<String>,
    /// Fields, as arguments of the entry point and members of the grid.
    pub fields: Vec<String>,
    /// Locals per statement.
    locals: Vec<Vec<String>>,
}

impl Names {
    /// Chooses the names of a program.
    pub fn new(program: &Program) -> Self {
        Self::apart_from(program, Scope::new())
    }

    /// Chooses names that are not taken in a scope, either.
    pub fn apart_from(program: &Program, mut scope: Scope) -> Self {
        OWN_NAMES.iter().for_each(|name| scope.take(*name));
        // `NAME_run`, `NAME_phase0`, ..
        let own_prefix = format!("{}_", program.name);
        let mut choose = |name: &str, shared: bool| {
            let changed = name.starts_with(&own_prefix) || may_be_a_macro(name);
            let wanted = if changed { format!("{name}_") } else { name.to_string() };
            if shared { scope.free(&wanted) } else { scope.name(&wanted) }
        };
        let fields = program.fields.iter().map(|field| choose(&field.name, false)).collect();
        let series = program.series.iter().map(|series| choose(&series.name, false)).collect();
        let parameters = program.parameters.iter().map(|parameter| choose(&parameter.name, false)).collect();
        let space = program.space_indices.iter().map(|index| choose(index, false)).collect();
        let time = choose(&program.time_index, false);
        // Locals of different statements live in different functions and may share a name.
        let locals = program
            .statements
            .iter()
            .map(|statement| statement.locals.iter().map(|local| choose(&local.name, true)).collect())
            .collect();
        Names { space, time, parameters, series, fields, locals }
    }

    /// A local of a statement; `copy` distinguishes the copies of an unrolled loop: `tw_l_0`.
    pub fn local(&self, statement: usize, local: LocalId, copy: Option<usize>) -> String {
        let name = &self.locals[statement][local.0];
        copy.map_or_else(|| name.clone(), |copy| format!("tw_{name}_{copy}"))
    }

    /// A parameter rounded to `float`.
    pub fn parameter_f32(&self, parameter: ParameterId) -> String {
        format!("tw_{}_f32", self.parameters[parameter.0])
    }

    /// A value of a series in one time step: `tw_f_s0` (time t), `tw_f_s1`, `tw_f_sm1`, ..
    pub fn series_value(&self, series: SeriesId, offset: i64) -> String {
        let sign = if offset < 0 { "m" } else { "" };
        format!("tw_{}_s{sign}{}", self.series[series.0], offset.abs())
    }

    /// The pointer to the plane that an access reads: `tw_u_t1` (level t+1), `tw_u_t0`, `tw_u_m1`, ..;
    /// `tw_c_c` for a coefficient.
    pub fn plane(&self, program: &Program, access: &Access) -> String {
        let field = &self.fields[access.field.0];
        match (program.field(access.field).role, access.time) {
            (FieldRole::Coefficient, _) => format!("tw_{field}_c"),
            (FieldRole::State { .. }, time) if time >= 0 => format!("tw_{field}_t{time}"),
            (FieldRole::State { .. }, time) => format!("tw_{field}_m{}", -time),
        }
    }
}

/// Whether a C header may define this name as a macro, as in `M_PI` or `OVERFLOW`, ours with its guard.
fn may_be_a_macro(name: &str) -> bool {
    let capitals = !name.contains(|letter: char| letter.is_ascii_lowercase());
    capitals && (name.len() >= 3 || name.contains('_')) || name.starts_with("TILEWRIGHT_")
}
