//! Operators over sequences, and functions of numbers.

use super::types::{Literal, Scalar};

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
