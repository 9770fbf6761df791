//! The stencil program: the one type that every later stage works on.
//!
//! A program is a time loop around `K` statements. Statement `k` of time step `t` computes, at every
//! point `s` of its domain, the value of one field at time level `t + 1`:
//!
//! ```text
//! for t in 0..T:  for k in 0..K:  forall s in D_k:   target_k[t+1, s] = value_k(reads at s + offset)
//! ```
//!
//! All fields of a program live on one grid of `n_0 x ... x n_{d-1}` points (slowest dimension first).
//! `D_k` is a box whose sides are fixed to the ends of the grid, such that every read stays on the grid.
//! Statements may share a target: their domains are then disjoint. Points outside all domains of a field are
//! its boundary and keep their value for ever; see [`Boundary`].
//!
//! Along a *periodic* dimension the grid wraps around: statements compute all of its points, and a read at `s + offset` is
//! one at `(s + offset) mod n`. Everything that is said here about domains, and all that analyses, strategies and plans see,
//! is the program *unrolled*: an ordinary one, on a grid with ghost zones at both ends ([`crate::ghost`]). What the
//! user's grid holds is [`Program::points`] and what the reference interpreter does, which knows of no ghost zones.
//!
//! Programs are made by [`crate::draft::Draft::check`].

mod arithmetic;
mod expression;

pub use arithmetic::Arithmetic;
pub use expression::{Access, BinaryOp, CompareOp, Condition, Congruence, Expr, ExprKind, Function};

use crate::domain::Interval;
use crate::source::{SourceFile, Span};
use num_integer::gcd;
use std::sync::Arc;

/// The rational numbers used for slopes of the dependence cone.
pub type Rational = num_rational::Ratio<i64>;

/// The floating-point type of a field or of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ElementType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl ElementType {
    /// Size of one element in bytes.
    pub fn bytes(self) -> usize {
        match self {
            ElementType::F32 => 4,
            ElementType::F64 => 8,
        }
    }

    /// The name in the stencil language: `f32` or `f64`.
    pub fn name(self) -> &'static str {
        match self {
            ElementType::F32 => "f32",
            ElementType::F64 => "f64",
        }
    }

    /// The name in C and CUDA: `float` or `double`.
    pub fn c_name(self) -> &'static str {
        match self {
            ElementType::F32 => "float",
            ElementType::F64 => "double",
        }
    }
}

/// Index of a field in [`Program::fields`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub usize);

/// Index of a parameter in [`Program::parameters`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParameterId(pub usize);

/// Index of a series in [`Program::series`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeriesId(pub usize);

/// Index of a local in [`Statement::locals`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub usize);

/// A whole stencil program, checked: every later stage may rely on the invariants named here.
#[derive(Debug, Clone)]
pub struct Program {
    /// Name of the stencil, a C identifier.
    pub name: String,
    /// The comment in front of the stencil, without comment marks; empty where there is none.
    pub description: String,
    /// Name of the time index, such as `t`.
    pub time_index: String,
    /// Names of the space indices, slowest first; their number (1 to 3) is the program's dimension.
    pub space_indices: Vec<String>,
    /// All fields in order of declaration.
    pub fields: Vec<Field>,
    /// All series in order of declaration.
    pub series: Vec<Series>,
    /// All scalar parameters in order of declaration.
    pub parameters: Vec<Parameter>,
    /// The statements of one time step, in execution order; at least one. Those with the same target have
    /// disjoint domains on all grids of at least `least_size`.
    pub statements: Vec<Statement>,
    /// What the points outside all domains hold.
    pub boundary: Boundary,
    /// Per dimension, whether the grid wraps around. There, domains are those on the unrolled grid: all points whose reads
    /// stay on it; no statement is a sweep in order.
    pub periodic: Vec<bool>,
    /// Per dimension, the least extent for which domains are disjoint and reads stay on the grid; 0 where that
    /// is so on every grid. On a smaller grid no statement computes anything.
    pub least_size: Vec<i64>,
    /// What generated code may compute in place of the program's own operations; the reference computes these.
    pub arithmetic: Arithmetic,
    /// The text that the program was read from.
    pub source: Arc<SourceFile>,
}

/// A field on the program's grid.
#[derive(Debug, Clone)]
pub struct Field {
    /// Name, a C identifier.
    pub name: String,
    /// Type of its elements.
    pub element: ElementType,
    /// Whether it changes over time.
    pub role: FieldRole,
    /// Where it is declared.
    pub span: Span,
}

/// Whether a field changes over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldRole {
    /// Computed by one statement or more; read at time levels `t + 1, t, ..., t + 1 - levels`.
    State {
        /// How many initial time levels the user gives: `0, -1, ..., 1 - levels`; at least 1.
        levels: usize,
        /// How many time levels are stored: at least `levels`, and as many as the reads need or as the program
        /// asks for. See [`Program::slot_of_level`].
        slots: usize,
    },
    /// Read-only, the same at every time step.
    Coefficient,
}

impl FieldRole {
    /// How many time levels are stored; 1 of a coefficient.
    pub fn slots(self) -> usize {
        match self {
            FieldRole::State { slots, .. } => slots,
            FieldRole::Coefficient => 1,
        }
    }
}

/// What the points outside all domains of a field hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Boundary {
    /// At every time level the value of the newest initial level, 0.
    #[default]
    Fixed,
    /// At time level `l` what slot [`Program::slot_of_level`]`(l)` held in the beginning: what a C program with
    /// arrays indexed modulo the number of slots finds there.
    PerSlot,
}

/// Read-only values that depend on time only.
///
/// Value `f[t + o]` of step `t` is element `t + o - first` of an array of `steps + last - first` elements.
#[derive(Debug, Clone)]
pub struct Series {
    /// Name, a C identifier.
    pub name: String,
    /// Type of its elements.
    pub element: ElementType,
    /// The time of its first element: the least offset that is read, or 0 where all are greater.
    pub first: i64,
    /// The greatest offset that is read, or 0 where all are less.
    pub last: i64,
    /// Where it is declared.
    pub span: Span,
}

impl Series {
    /// Number of elements for so many steps.
    pub fn length(&self, steps: i64) -> i64 {
        steps + self.last - self.first
    }
}

/// A scalar parameter with its default value. It has no type of its own: it is rounded to the type of
/// the expression in which it stands.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Name, a C identifier.
    pub name: String,
    /// Value used where the user gives none.
    pub default: f64,
    /// Where it is declared.
    pub span: Span,
}

/// One assignment `target[t+1, s] = value`.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The field that is written.
    pub target: FieldId,
    /// Named intermediate values, in order of evaluation; a local may use earlier ones.
    pub locals: Vec<Local>,
    /// The value stored; its type is the target's element type.
    pub value: Expr,
    /// Every distinct access that the locals and the value read.
    pub reads: Vec<Access>,
    /// The points that it computes, per dimension.
    pub domain: Vec<Interval>,
    /// Where it stands.
    pub span: Span,
}

/// A named intermediate value of a statement (`let name = value;`).
#[derive(Debug, Clone)]
pub struct Local {
    /// Name, a C identifier, different from all fields, parameters and indices.
    pub name: String,
    /// Its value.
    pub value: Expr,
}

impl Program {
    /// Bytes of all stored levels of all fields at one point.
    pub fn bytes_of_a_point(&self) -> usize {
        self.fields.iter().map(|field| field.role.slots() * field.element.bytes()).sum()
    }

    /// Number of space dimensions, 1 to 3.
    pub fn dimension(&self) -> usize {
        self.space_indices.len()
    }

    /// The field with this id.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.0]
    }

    /// The statements that compute this field, with their indices; none for coefficients.
    pub fn writers_of(&self, field: FieldId) -> impl Iterator<Item = (usize, &Statement)> {
        self.statements.iter().enumerate().filter(move |(_, statement)| statement.target == field)
    }

    /// A name for a statement, unique in the program: that of its target, with a number where the target has
    /// several statements.
    pub fn statement_name(&self, statement: usize) -> String {
        let target = self.statements[statement].target;
        let name = &self.field(target).name;
        let number = self.writers_of(target).take_while(|(k, _)| *k < statement).count();
        if number == 0 {
            return name.clone();
        }
        let mut chosen = format!("{name}_{}", number + 1);
        while self.fields.iter().any(|field| field.name == chosen) {
            chosen.push('_');
        }
        chosen
    }

    /// Where time level `level` (from `1 - levels` on) of a state field is stored:
    /// `(level + levels - 1) mod slots`, so that the initial levels fill slots `0 .. levels`, oldest first.
    /// 0 for coefficients.
    pub fn slot_of_level(&self, field: FieldId, level: i64) -> usize {
        match self.field(field).role {
            FieldRole::Coefficient => 0,
            FieldRole::State { levels, slots } => {
                (level + levels as i64 - 1).rem_euclid(slots as i64) as usize
            }
        }
    }

    /// Whether the grid wraps around in some dimension.
    pub fn is_periodic(&self) -> bool {
        self.periodic.contains(&true)
    }

    /// The ordinary program on a grid with ghost zones, for which plans are made.
    pub fn unrolled(&self) -> Program {
        Program { periodic: vec![false; self.dimension()], ..self.clone() }
    }

    /// The least number of steps, at least 1, after which every field's newest levels lie where its initial levels were, and
    /// conditions on the time step hold where they held: the least common multiple of the fields' slots and of the moduli. Runs
    /// can be cut into pieces of so many steps, each of which begins at step 0.
    pub fn cycle(&self) -> i64 {
        let slots = self.fields.iter().map(|field| field.role.slots().max(1) as i64);
        let statements = self.statements.iter().flat_map(Statement::congruences);
        let periods = statements.map(|own| own.modulus / gcd(own.modulus, own.time));
        slots
            .chain(periods)
            .fold(1, |multiple, period| (multiple / gcd(multiple, period)).saturating_mul(period))
    }

    /// Whether some statement has conditions on indices.
    pub fn has_congruences(&self) -> bool {
        self.statements.iter().any(|statement| !statement.congruences().is_empty())
    }

    /// The points that statement `k` computes on the user's grid of this size: those of [`Program::domain`], and all along
    /// dimensions in which it wraps around.
    pub fn points(&self, statement: usize, size: &[i64]) -> Vec<(i64, i64)> {
        let domain = self.domain(statement, size).into_iter().zip(size).zip(&self.periodic);
        domain.map(|((domain, &extent), &periodic)| if periodic { (0, extent) } else { domain }).collect()
    }

    /// The domain of statement `k` on a grid of this size, an unrolled one where it is periodic: per dimension a half-open interval; empty where the
    /// grid is too small.
    pub fn domain(&self, statement: usize, size: &[i64]) -> Vec<(i64, i64)> {
        let too_small = self.too_small(size);
        let domain = self.statements[statement].domain.iter().zip(size);
        domain
            .map(|(interval, &extent)| {
                let (low, high) = interval.at(extent);
                (low, if too_small { low } else { high })
            })
            .collect()
    }

    /// Whether a grid of this size is less than [`Program::least_size`] in some dimension.
    pub fn too_small(&self, size: &[i64]) -> bool {
        size.iter().zip(&self.least_size).any(|(extent, least)| extent < least)
    }

    /// Constraints, in isl's notation, on the time step and the point of an instance of a statement:
    ///
    /// ```text
    /// 0 <= t < steps,    low_i <= s_i < high_i,    n_i >= least_i
    /// ```
    pub fn domain_constraints(&self, statement: usize, time: &str, space: &str) -> String {
        let mut constraints = vec![format!("0 <= {time} < steps")];
        constraints.extend(self.point_constraints(statement, &|d| format!("{space}{d}")));
        constraints.join(" and ")
    }

    /// The ways, in isl's notation, in which an instance can lie outside the domain of a statement on a grid of at
    /// least [`Program::least_size`] points: one for each end of each interval in [`Program::domain_constraints`].
    /// On smaller grids the entry points run nothing at all.
    pub fn outside_constraints(&self, statement: usize, time: &str, space: &str) -> Vec<String> {
        let mut ways = vec![format!("{time} < 0"), format!("{time} >= steps")];
        ways.extend(self.beyond_constraints(statement, space));
        let large: Vec<String> =
            self.least_size.iter().enumerate().map(|(d, least)| format!("n{d} >= {least}")).collect();
        ways.into_iter().map(|way| format!("{way} and {}", large.join(" and "))).collect()
    }

    /// The ways, in isl's notation, in which a point can lie outside the domain of a statement: beyond one of its sides.
    pub(crate) fn beyond_constraints(&self, statement: usize, space: &str) -> Vec<String> {
        let domain = self.statements[statement].domain.iter().enumerate();
        let sides = domain.map(|(d, Interval { low, high })| {
            let extent = format!("n{d}");
            let before = format!("{space}{d} < {}", low.text(&extent));
            [before, format!("{space}{d} >= {}", high.text(&extent))]
        });
        sides.flatten().collect()
    }

    /// Constraints, in isl's notation, for a point to lie in the domain of a statement; `point` gives its
    /// coordinates.
    pub(crate) fn point_constraints(&self, statement: usize, point: &dyn Fn(usize) -> String) -> Vec<String> {
        let domain = self.statements[statement].domain.iter().enumerate();
        let inside = domain.map(|(d, Interval { low, high })| {
            let extent = format!("n{d}");
            format!("{} <= {} < {}", low.text(&extent), point(d), high.text(&extent))
        });
        let least = self.least_size.iter().enumerate().filter(|(_, least)| **least > 0);
        inside.chain(least.map(|(d, least)| format!("n{d} >= {least}"))).collect()
    }
}

impl Statement {
    /// Whether the statement computes points far from the boundary of a large grid.
    pub fn is_interior(&self) -> bool {
        self.domain.iter().all(|interval| interval.is_wide())
    }

    /// The values of which it is made: those of its locals, and what it stores.
    pub fn values(&self) -> impl Iterator<Item = &Expr> {
        self.locals.iter().map(|local| &local.value).chain([&self.value])
    }

    /// The conditions on indices in its values.
    pub fn congruences(&self) -> Vec<&Congruence> {
        let mut list = Vec::new();
        for value in self.values() {
            value.walk_conditions(|condition| {
                if let Condition::Congruent(own) = condition {
                    list.push(own);
                }
            });
        }
        list
    }
}
