//! The stencil program: the one type that every later stage works on.
//!
//! A program is a time loop around `K` statements. Statement `k` of time step `t` computes, at every
//! point `s` of its domain, the value of one field at time level `t + 1`:
//!
//! ```text
//! for t in 0..T:  for k in 0..K:  forall s in D_k:   target_k[t+1, s] = value_k(reads at s + offset)
//! ```
//!
//! All fields of a program live on one grid of `N_0 x ... x N_{n-1}` points (slowest dimension first).
//! `D_k` is the grid shrunk by the statement's margins, so that every read stays on the grid; points
//! outside keep their value for ever (a fixed, Dirichlet, boundary).

use crate::source::{SourceFile, Span};
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
    /// All scalar parameters in order of declaration.
    pub parameters: Vec<Parameter>,
    /// The statements of one time step, in execution order; at least one. Each field is the target of
    /// at most one of them.
    pub statements: Vec<Statement>,
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
    /// Computed by one statement; read at time levels `t + 1, t, ..., t + 1 - levels`.
    State {
        /// How many initial time levels the user gives: `0, -1, ..., 1 - levels`; at least 1.
        levels: usize,
        /// How many time levels are stored; `levels` or `levels + 1`. See [`Program::slot_of_level`].
        slots: usize,
    },
    /// Read-only, the same at every time step.
    Coefficient,
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
    /// Width of the fixed boundary below, per dimension: the least margin that keeps reads on the grid.
    pub margin_low: Vec<i64>,
    /// Width of the fixed boundary above, per dimension.
    pub margin_high: Vec<i64>,
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

/// One read: field, time level relative to `t`, offset in space.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Access {
    /// The field that is read.
    pub field: FieldId,
    /// Time level relative to `t`: 1 (computed earlier in this step), 0, -1, ...; 0 for coefficients.
    pub time: i64,
    /// Offset per dimension.
    pub offset: Vec<i64>,
}

/// A typed expression. Operands of an operation all have the type of its result (a [`ExprKind::Cast`]
/// stands where the source mixes types), so that a back end prints what it sees.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// The type of the result.
    pub element: ElementType,
    /// Where it stands.
    pub span: Span,
}

/// What an expression computes. Evaluation order is that of the tree; no re-association, no contraction.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// A literal, rounded to the expression's type.
    Literal(f64),
    /// A parameter, rounded to the expression's type.
    Parameter(ParameterId),
    /// A local of the statement; it has the local's type.
    Local(LocalId),
    /// A field's value; it has the field's type.
    Read(Access),
    /// `-x`
    Negate(Box<Expr>),
    /// `a op b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// A function of one argument.
    Call(Function, Box<Expr>),
    /// `condition ? then : otherwise`
    Select(Box<Condition>, Box<Expr>, Box<Expr>),
    /// Conversion of the operand to the expression's type.
    Cast(Box<Expr>),
}

/// Binary arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`
    Div,
    /// `a < b ? a : b`
    Min,
    /// `a > b ? a : b`
    Max,
}

/// Functions of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// Square root, correctly rounded.
    Sqrt,
    /// Exponential, by the portable algorithm of [`crate::portable_exp`].
    Exp,
    /// Absolute value.
    Abs,
}

/// A truth value.
#[derive(Debug, Clone)]
pub enum Condition {
    /// `a op b`, both of one type.
    Compare(CompareOp, Expr, Expr),
    /// `a && b`
    And(Box<Condition>, Box<Condition>),
    /// `a || b`
    Or(Box<Condition>, Box<Condition>),
    /// `!a`
    Not(Box<Condition>),
}

/// Comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

impl Program {
    /// Number of space dimensions, 1 to 3.
    pub fn dimension(&self) -> usize {
        self.space_indices.len()
    }

    /// The field with this id.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.0]
    }

    /// The id and statement that computes this field; `None` for coefficients.
    pub fn writer_of(&self, field: FieldId) -> Option<(usize, &Statement)> {
        self.statements.iter().enumerate().find(|(_, statement)| statement.target == field)
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

    /// The domain of statement `k` on a grid of this size: per dimension the half-open interval
    /// `[margin_low, size - margin_high)`; empty where the grid is too small.
    pub fn domain(&self, statement: usize, size: &[i64]) -> Vec<(i64, i64)> {
        let statement = &self.statements[statement];
        (0..self.dimension())
            .map(|d| {
                let low = statement.margin_low[d];
                (low, (size[d] - statement.margin_high[d]).max(low))
            })
            .collect()
    }
}

/// The least number of time levels of a field that must be stored so that the time loop, executed in
/// order, never overwrites a value that is still to be read.
///
/// With `m` slots the write of level `t + 1` by statement `writer` overwrites level `t + 1 - m`. A read
/// of level `t + o` in the same step by statement `reader` is safe if `o > 1 - m`, or if `o = 1 - m` and
/// it happens before the write: `reader < writer`, or the same statement reading the very point it writes.
pub fn slots_needed<'a>(writer: usize, reads: impl Iterator<Item = (usize, &'a Access)>) -> usize {
    let needed = reads.map(|(reader, access)| {
        let before_write =
            reader < writer || (reader == writer && access.offset.iter().all(|&offset| offset == 0));
        if before_write { 1 - access.time } else { 2 - access.time }
    });
    needed.max().unwrap_or(1).max(1) as usize
}
