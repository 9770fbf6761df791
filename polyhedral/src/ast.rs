//! The syntax tree: what was written, before names and types are known.

use crate::program::CompareOp;
use crate::source::Span;

/// A file: one stencil.
#[derive(Debug, Clone)]
pub struct Stencil {
    /// The comment in front of it, without comment marks.
    pub description: String,
    /// Its name.
    pub name: Name,
    /// Its indices, time first.
    pub indices: Vec<Name>,
    /// The place of the list of indices.
    pub indices_span: Span,
    /// Declarations and statements in order.
    pub items: Vec<Item>,
    /// Whether a part could not be read (which has been reported), so that names may seem to be missing.
    pub incomplete: bool,
}

/// A name and its place.
#[derive(Debug, Clone)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A declaration or statement.
#[derive(Debug, Clone)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// The whole of it, with its semicolon.
    pub span: Span,
}

/// What an item is.
#[derive(Debug, Clone)]
pub enum ItemKind {
    /// `field name: type;` or `field name: type slots number;`
    Field {
        /// Its name.
        name: Name,
        /// Its type; `None` if it could not be read.
        element: Option<Name>,
        /// The number of slots, where it is given.
        slots: Option<Expr>,
    },
    /// `series name: type;`
    Series {
        /// Its name.
        name: Name,
        /// Its type; `None` if it could not be read.
        element: Option<Name>,
    },
    /// `coefficient name: type;`
    Coefficient {
        /// Its name.
        name: Name,
        /// Its type; `None` if it could not be read.
        element: Option<Name>,
    },
    /// `param name = default;`
    Param {
        /// Its name.
        name: Name,
        /// Its default.
        default: Expr,
    },
    /// `boundary kind;`, `boundary periodic(i, j);` or `boundary kind periodic(i);`
    Boundary {
        /// `fixed`, `per_slot`, `periodic` or a mistake.
        kind: Name,
        /// The word `periodic`, first or second, and the indices behind it.
        periodic: Option<(Name, Vec<Name>)>,
    },
    /// `let name = value;`
    Let {
        /// Its name.
        name: Name,
        /// Its value.
        value: Expr,
    },
    /// `target = value;` or `target = value for domain;`
    Assign {
        /// What is assigned, any expression so far.
        target: Expr,
        /// Its new value.
        value: Expr,
        /// The points that are computed, where they are given.
        domain: Option<Domain>,
    },
}

/// `for condition, condition`
#[derive(Debug, Clone)]
pub struct Domain {
    /// Any expressions so far.
    pub conditions: Vec<Expr>,
    /// The whole of it.
    pub span: Span,
}

/// An expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
    /// Height of the tree, 1 for a leaf; at most [`crate::parser::MOST_HEIGHT`].
    pub height: usize,
}

/// What an expression is.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// It could not be read, which has been reported.
    Error,
    /// A literal.
    Number {
        /// Its value.
        value: f64,
        /// Whether it is written as an integer.
        integer: bool,
    },
    /// A name.
    Name(String),
    /// `name[indices]`
    Access(Name, Vec<Expr>),
    /// `name(arguments)`
    Call(Name, Vec<Expr>),
    /// An operation on one operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operation on two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `condition ? then : otherwise`
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// Operations on one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `!`
    Not,
}

/// Operations on two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// A comparison.
    Compare(CompareOp),
    /// `&&`
    And,
    /// `||`
    Or,
}
