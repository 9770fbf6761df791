//! The syntax tree: what stands in the file, names not yet looked up. Programs built in Rust are made of it, too.

use polyhedral::source::Span;

/// A name and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A whole file.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The comment before `nested`, one line each.
    pub description: Vec<String>,
    /// Its name.
    pub name: Name,
    /// Declarations and computations, in their order.
    pub items: Vec<Item>,
    /// Comments behind the last item, one line each.
    pub ending: Vec<String>,
}

/// A declaration or a computation.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Comments before it, one line each.
    pub comments: Vec<String>,
    /// What it is.
    pub kind: ItemKind,
    /// Where it stands.
    pub span: Span,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemKind {
    /// `input name: type;`
    Input(Name, TypeExpr),
    /// `param name: type = value;`
    Param(Name, TypeExpr, Expr),
    /// `table name: type = [a, b];`
    Table(Name, TypeExpr, Vec<Expr>),
    /// `let pattern = value;`
    Let(Pattern, Expr),
    /// `compute name = value;`
    Compute(Name, Expr),
    /// `output name = value;`, or `output name;`
    Output(Name, Option<Expr>),
    /// `state name = value;`
    State(Name, Expr),
    /// `name = value;`
    Assign(Name, Expr),
    /// `repeat times { items until condition; }`
    Repeat {
        /// How often at most.
        times: Expr,
        /// What is repeated.
        items: Vec<Item>,
        /// After which it ends earlier.
        until: Option<Expr>,
        /// Comments behind the last item, one line each.
        ending: Vec<String>,
    },
}

/// A type as it is written.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeExpr {
    /// `f64`
    Scalar(Name),
    /// `f64^3`
    Vector(Name, u64),
    /// `(f64, i32)`
    Tuple(Vec<TypeExpr>, Span),
    /// `[f64]`
    Sequence(Box<TypeExpr>, Span),
}

/// Names for a value or for its components.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// `a`
    Name(Name),
    /// `(a, b)`
    Tuple(Vec<Pattern>, Span),
}

/// An operator between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

impl Binary {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Binary::Add => "+",
            Binary::Subtract => "-",
            Binary::Multiply => "*",
            Binary::Divide => "/",
            Binary::Remainder => "%",
            Binary::Less => "<",
            Binary::LessEqual => "<=",
            Binary::Greater => ">",
            Binary::GreaterEqual => ">=",
            Binary::Equal => "==",
            Binary::NotEqual => "!=",
            Binary::And => "&&",
            Binary::Or => "||",
        }
    }

    /// How tightly it binds; the greater the tighter.
    pub fn precedence(self) -> u8 {
        match self {
            Binary::Or => 1,
            Binary::And => 2,
            Binary::Equal | Binary::NotEqual => 3,
            Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => 4,
            Binary::Add | Binary::Subtract => 5,
            Binary::Multiply | Binary::Divide | Binary::Remainder => 6,
        }
    }

    /// Whether it compares.
    pub fn compares(self) -> bool {
        matches!(self.precedence(), 3 | 4)
    }
}

/// An operator before its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Unary {
    Negate,
    Not,
}

/// An expression and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `3`
    Integer(i64),
    /// `0.5`
    Float(f64),
    /// `true`
    Bool(bool),
    /// `a`
    Name(String),
    /// `-a`
    Unary(Unary, Box<Expr>),
    /// `a + b`
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `a ? b : c`
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `f(a, b)`
    Call(Name, Vec<Expr>),
    /// `s[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `t.0`
    Component(Box<Expr>, u64),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// `[a, b]`
    Vector(Vec<Expr>),
    /// `|a, (b, c)| value`, with `assoc` before it or not.
    Function {
        /// Whether the user states that it is associative.
        associative: bool,
        /// Its parameters.
        parameters: Vec<Pattern>,
        /// Its value.
        body: Box<Expr>,
    },
    /// `+` where a function stands.
    Operator(Binary),
    /// `{ let a = b; c }`
    Block(Vec<(Pattern, Expr)>, Box<Expr>),
}

impl TypeExpr {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            TypeExpr::Scalar(name) | TypeExpr::Vector(name, _) => name.span.clone(),
            TypeExpr::Tuple(_, span) | TypeExpr::Sequence(_, span) => span.clone(),
        }
    }
}

impl Pattern {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Pattern::Name(name) => name.span.clone(),
            Pattern::Tuple(_, span) => span.clone(),
        }
    }
}
