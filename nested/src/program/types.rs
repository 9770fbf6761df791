//! Types of values, and numbers as the text has them.

use std::fmt;

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
