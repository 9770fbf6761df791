//! A checked program: what the interpreter, the analysis and the generators work on.
//!
//! Every name is a variable with a type, functions of the user are put in where they are called, and every operator has
//! operands that fit. A sequence is what can be asked for its length and for single elements; `let` of a sequence stores
//! nothing.

pub use crate::ast::{Binary, Unary};
use polyhedral::source::{SourceFile, Span};
use std::fmt;
use std::sync::Arc;

/// Elements of a block of an associative reduction: blocks are folded by themselves, then one after the other.
pub const BLOCK: i64 = 4096;
/// Partial results within a block, where the operator is one of the language's own.
pub const LANES: i64 = 8;

/// The type of a number or truth value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Scalar {
    I32,
    I64,
    F32,
    F64,
    Bool,
}

impl Scalar {
    /// All of them.
    pub const ALL: [Scalar; 5] = [Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64, Scalar::Bool];

    /// As the language writes it.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
            Scalar::Bool => "bool",
        }
    }

    /// The type of this name.
    pub fn named(name: &str) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|scalar| scalar.name() == name)
    }

    /// `f32` or `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// `i32` or `i64`.
    pub fn is_integer(self) -> bool {
        matches!(self, Scalar::I32 | Scalar::I64)
    }

    /// Bytes of one.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::I32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::F64 => 8,
            Scalar::Bool => 1,
        }
    }
}

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// A number or truth value.
    Scalar(Scalar),
    /// Some numbers of one type, side by side.
    Vector(Scalar, usize),
    /// Values of maybe different types.
    Tuple(Vec<Type>),
    /// A sequence of values of one type.
    Sequence(Box<Type>),
}

impl Type {
    /// The elements of a sequence.
    pub fn element(&self) -> Option<&Type> {
        match self {
            Type::Sequence(element) => Some(element),
            _ => None,
        }
    }

    /// The type of a scalar.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Type::Scalar(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// A sequence of these.
    pub fn sequence(self) -> Type {
        Type::Sequence(Box::new(self))
    }

    /// Types of the components of a vector or tuple.
    pub fn components(&self) -> Option<Vec<Type>> {
        match self {
            Type::Vector(scalar, count) => Some(vec![Type::Scalar(*scalar); *count]),
            Type::Tuple(parts) => Some(parts.clone()),
            _ => None,
        }
    }

    /// Whether a sequence is in it.
    pub fn has_sequence(&self) -> bool {
        match self {
            Type::Scalar(_) | Type::Vector(..) => false,
            Type::Tuple(parts) => parts.iter().any(Type::has_sequence),
            Type::Sequence(_) => true,
        }
    }

    /// How deep sequences are nested in it.
    pub fn depth(&self) -> usize {
        match self {
            Type::Scalar(_) | Type::Vector(..) => 0,
            Type::Tuple(parts) => parts.iter().map(Type::depth).max().unwrap_or(0),
            Type::Sequence(element) => 1 + element.depth(),
        }
    }

    /// What is stored of a value without sequences: numbers of one type, one or several side by side.
    pub fn leaves(&self) -> Vec<(Scalar, usize)> {
        match self {
            Type::Scalar(scalar) => vec![(*scalar, 1)],
            Type::Vector(scalar, count) => vec![(*scalar, *count)],
            Type::Tuple(parts) => parts.iter().flat_map(Type::leaves).collect(),
            Type::Sequence(element) => element.leaves(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(scalar) => formatter.write_str(scalar.name()),
            Type::Vector(scalar, count) => write!(formatter, "{}^{count}", scalar.name()),
            Type::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(Type::to_string).collect();
                write!(formatter, "({})", parts.join(", "))
            }
            Type::Sequence(element) => write!(formatter, "[{element}]"),
        }
    }
}

/// A number or truth value.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum Literal {
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
    Bool(bool),
}

impl Literal {
    /// Its type.
    pub fn scalar(self) -> Scalar {
        match self {
            Literal::I32(_) => Scalar::I32,
            Literal::I64(_) => Scalar::I64,
            Literal::F32(_) => Scalar::F32,
            Literal::F64(_) => Scalar::F64,
            Literal::Bool(_) => Scalar::Bool,
        }
    }
}

/// The number of a variable in [`Program::variables`].
pub type VarId = usize;

/// What a variable is.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// Given by the caller.
    Input,
    /// A number with a default, which the caller may change.
    Param(Literal),
    /// Numbers that never change.
    Table(Vec<Literal>),
    /// A name for a value, which is not stored.
    Local,
    /// The result of a computation.
    Computed,
    /// What the rounds of a loop change.
    State,
}

/// A variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its name, for people.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it is declared.
    pub span: Span,
    /// What it is.
    pub role: Role,
}

/// An operator over sequences: those of Table 5.1 of the dissertation, and three more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Operator {
    Map,
    Reduce,
    ReduceByKey,
    Scan,
    Gather,
    Scatter,
    Range,
    Replicate,
    Zip,
    Split,
    Join,
    Striding,
    Reverse,
    Nest,
    Cyclic,
    SortByKey,
    Filter,
}

impl Operator {
    /// All of them.
    pub const ALL: [Operator; 17] = [
        Operator::Map,
        Operator::Reduce,
        Operator::ReduceByKey,
        Operator::Scan,
        Operator::Gather,
        Operator::Scatter,
        Operator::Range,
        Operator::Replicate,
        Operator::Zip,
        Operator::Split,
        Operator::Join,
        Operator::Striding,
        Operator::Reverse,
        Operator::Nest,
        Operator::Cyclic,
        Operator::SortByKey,
        Operator::Filter,
    ];

    /// As the language writes it.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Map => "map",
            Operator::Reduce => "reduce",
            Operator::ReduceByKey => "reduce_by_key",
            Operator::Scan => "scan",
            Operator::Gather => "gather",
            Operator::Scatter => "scatter",
            Operator::Range => "range",
            Operator::Replicate => "replicate",
            Operator::Zip => "zip",
            Operator::Split => "split",
            Operator::Join => "join",
            Operator::Striding => "striding",
            Operator::Reverse => "reverse",
            Operator::Nest => "nest",
            Operator::Cyclic => "cyclic",
            Operator::SortByKey => "sort_by_key",
            Operator::Filter => "filter",
        }
    }

    /// How it is called, and what comes of it.
    pub fn signature(self) -> &'static str {
        match self {
            Operator::Map => "map(f, s1, .., sn): f of the elements at each place",
            Operator::Reduce => "reduce(f, s, p): p f s[0] f s[1] ..",
            Operator::ReduceByKey => {
                "reduce_by_key(f, s, k, p): reduce of each run of equal consecutive keys"
            }
            Operator::Scan => "scan(f, s, p): y[0] = p, y[i] = f(y[i-1], s[i-1])",
            Operator::Gather => "gather(s, idx): y[i] = s[idx[i]]",
            Operator::Scatter => "scatter(s, idx, d): d with d[idx[i]] = s[i], no place twice",
            Operator::Range => "range(s, e, [stride]): s, s + stride, .. before e",
            Operator::Replicate => "replicate(v, n): v, n times",
            Operator::Zip => "zip(s1, .., sn): tuples of the elements at each place",
            Operator::Split => "split(s, l): tiles of l elements, the last one of what is left",
            Operator::Join => "join(s1, .., sn): all tuples of an element of each, the last one fastest",
            Operator::Striding => "striding(s, n): s[0], s[n], s[2n], ..",
            Operator::Reverse => "reverse(s): the last element first",
            Operator::Nest => "nest(s, o): row i is s[o[i]] up to before s[o[i+1]]",
            Operator::Cyclic => "cyclic(s, n): n elements, y[i] = s[i mod len(s)]",
            Operator::SortByKey => "sort_by_key(s, k): s in the order of its keys, equal ones as they stand",
            Operator::Filter => "filter(f, s): the elements for which f is true",
        }
    }

    /// The operator of this name.
    pub fn named(name: &str) -> Option<Operator> {
        Operator::ALL.into_iter().find(|operator| operator.name() == name)
    }

    /// Whether each of its elements can be computed by itself, so that it fuses into whoever reads it.
    pub fn is_fused(self) -> bool {
        use Operator::*;
        matches!(
            self,
            Map | Gather | Range | Replicate | Zip | Split | Join | Striding | Reverse | Nest | Cyclic
        )
    }
}

/// A function of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Math {
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Tanh,
    Pow,
    Floor,
    Ceil,
    Abs,
    Min,
    Max,
}

impl Math {
    /// All of them.
    pub const ALL: [Math; 12] = [
        Math::Sqrt,
        Math::Exp,
        Math::Log,
        Math::Sin,
        Math::Cos,
        Math::Tanh,
        Math::Pow,
        Math::Floor,
        Math::Ceil,
        Math::Abs,
        Math::Min,
        Math::Max,
    ];

    /// As the language writes it.
    pub fn name(self) -> &'static str {
        match self {
            Math::Sqrt => "sqrt",
            Math::Exp => "exp",
            Math::Log => "log",
            Math::Sin => "sin",
            Math::Cos => "cos",
            Math::Tanh => "tanh",
            Math::Pow => "pow",
            Math::Floor => "floor",
            Math::Ceil => "ceil",
            Math::Abs => "abs",
            Math::Min => "min",
            Math::Max => "max",
        }
    }

    /// The function of this name.
    pub fn named(name: &str) -> Option<Math> {
        Math::ALL.into_iter().find(|math| math.name() == name)
    }

    /// How many operands it takes.
    pub fn arguments(self) -> usize {
        if matches!(self, Math::Pow | Math::Min | Math::Max) { 2 } else { 1 }
    }

    /// Whether it takes whole numbers, too.
    pub fn takes_integers(self) -> bool {
        matches!(self, Math::Abs | Math::Min | Math::Max)
    }
}

/// An operator of the language where a function stands. It is associative by what it means; for floating-point numbers
/// the user says by naming it that the order does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Builtin {
    Add,
    Multiply,
    Min,
    Max,
    And,
    Or,
}

impl Builtin {
    /// The value that changes no other one.
    pub fn identity(self, scalar: Scalar) -> Literal {
        match (self, scalar) {
            (_, Scalar::Bool) => Literal::Bool(matches!(self, Builtin::And)),
            (Builtin::Multiply, Scalar::I32) => Literal::I32(1),
            (Builtin::Multiply, Scalar::I64) => Literal::I64(1),
            (Builtin::Multiply, Scalar::F32) => Literal::F32(1.0),
            (Builtin::Multiply, Scalar::F64) => Literal::F64(1.0),
            (Builtin::Min, Scalar::I32) => Literal::I32(i32::MAX),
            (Builtin::Min, Scalar::I64) => Literal::I64(i64::MAX),
            (Builtin::Min, Scalar::F32) => Literal::F32(f32::INFINITY),
            (Builtin::Min, Scalar::F64) => Literal::F64(f64::INFINITY),
            (Builtin::Max, Scalar::I32) => Literal::I32(i32::MIN),
            (Builtin::Max, Scalar::I64) => Literal::I64(i64::MIN),
            (Builtin::Max, Scalar::F32) => Literal::F32(f32::NEG_INFINITY),
            (Builtin::Max, Scalar::F64) => Literal::F64(f64::NEG_INFINITY),
            (_, Scalar::I32) => Literal::I32(0),
            (_, Scalar::I64) => Literal::I64(0),
            (_, Scalar::F32) => Literal::F32(0.0),
            (_, Scalar::F64) => Literal::F64(0.0),
        }
    }
}

/// A function with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its parameters.
    pub parameters: Vec<VarId>,
    /// Its value.
    pub body: Box<Expr>,
    /// Whether the user states that it is associative.
    pub associative: bool,
    /// Which operator it is, if it is one of the language's.
    pub builtin: Option<Builtin>,
}

/// An expression with its type and place.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: Kind,
    /// The type of its value.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A number or truth value.
    Literal(Literal),
    /// The value of a variable.
    Variable(VarId),
    /// A value with a name, and an expression in which it is used.
    Let(VarId, Box<Expr>, Box<Expr>),
    /// `-a`, `!a`
    Unary(Unary, Box<Expr>),
    /// `a + b`, of one type.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// The scalar in the type of this expression.
    Convert(Box<Expr>),
    /// `a ? b : c`; only one of both is computed.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `sqrt(a)`
    Math(Math, Vec<Expr>),
    /// A tuple or vector.
    Make(Vec<Expr>),
    /// A component.
    Component(Box<Expr>, usize),
    /// `s[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `len(s)`
    Length(Box<Expr>),
    /// An operator over sequences.
    Apply(Operator, Option<Function>, Vec<Expr>),
}

impl Expr {
    /// The expressions in it, without those in its function.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            Kind::Literal(_) | Kind::Variable(_) => Vec::new(),
            Kind::Let(_, a, b) | Kind::Binary(_, a, b) | Kind::Index(a, b) => vec![a, b],
            Kind::Unary(_, a) | Kind::Convert(a) | Kind::Component(a, _) | Kind::Length(a) => vec![a],
            Kind::Select(a, b, c) => vec![a, b, c],
            Kind::Math(_, parts) | Kind::Make(parts) | Kind::Apply(_, _, parts) => parts.iter().collect(),
        }
    }

    /// Its function, where it is an operator with one.
    pub fn function(&self) -> Option<&Function> {
        match &self.kind {
            Kind::Apply(_, function, _) => function.as_ref(),
            _ => None,
        }
    }

    /// Visits it and all in it; the flag says whether a function is around.
    pub fn walk<'a>(&'a self, inside: bool, visit: &mut dyn FnMut(&'a Expr, bool)) {
        visit(self, inside);
        self.children().into_iter().for_each(|child| child.walk(inside, visit));
        if let Some(function) = self.function() {
            function.body.walk(true, visit);
        }
    }

    /// Whether a variable is used in it.
    pub fn mentions(&self, variable: VarId) -> bool {
        let mut found = false;
        self.walk(false, &mut |part, _| {
            found |= matches!(part.kind, Kind::Variable(used) if used == variable)
        });
        found
    }
}

/// What is done, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A name for a sequence, which is not stored.
    Let(VarId, Expr),
    /// A computation, whose result is stored.
    Compute(VarId, Expr),
    /// A new value of a state.
    Assign(VarId, Expr),
    /// Items that are repeated.
    Repeat {
        /// How often at most.
        times: Expr,
        /// What is repeated.
        items: Vec<Item>,
        /// After which it ends earlier.
        until: Option<Expr>,
    },
}

/// A checked program.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// What it is, from the comment before it.
    pub description: String,
    /// The text that it was made of.
    pub source: Arc<SourceFile>,
    /// All variables.
    pub variables: Vec<Variable>,
    /// What is done.
    pub items: Vec<Item>,
    /// What is handed out, in the order of the text.
    pub outputs: Vec<VarId>,
}

impl Program {
    /// The variable of a number.
    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id]
    }

    /// What the caller gives: inputs and parameters, in the order of the text.
    pub fn given(&self) -> impl Iterator<Item = (VarId, &Variable)> {
        let given = |role: &Role| matches!(role, Role::Input | Role::Param(_));
        self.variables.iter().enumerate().filter(move |(_, variable)| given(&variable.role))
    }

    /// `line:column` of a place.
    pub fn place(&self, span: &Span) -> String {
        let (line, column) = self.source.line_column(span.start);
        format!("{line}:{column}")
    }
}
