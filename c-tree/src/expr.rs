//! Expressions.

use crate::types::Type;

/// What is known of an expression's type, as far as folding needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A signed integer, at least as wide as `int`.
    Integer,
    /// `bool`, or the 0 or 1 of a comparison.
    Truth,
    /// Anything: floating point, a pointer, an unsigned number.
    Other,
}

/// An operator before its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-a`
    Negate,
    /// `!a`
    Not,
    /// `*a`
    Deref,
    /// `&a`
    Address,
}

/// An operator between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}

/// An expression of C or CUDA.
///
/// What [`build`](crate::build) makes of parts is folded; a tree that is put together from the
/// variants is printed as it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// An integer: an `int` where it fits, otherwise a `long long`.
    Int(i64),
    /// `true`, `false`
    Bool(bool),
    /// A literal of one word, as it is printed.
    Literal(String),
    /// A name.
    Name(String, Sort),
    /// `-a`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a ? b : c`
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `f<t>(a)`
    Call {
        /// `f`
        function: Box<Expr>,
        /// `t`; none where it is empty.
        template: Vec<Expr>,
        /// `a`
        arguments: Vec<Expr>,
        /// What it returns.
        sort: Sort,
    },
    /// `kernel<<<blocks, threads, bytes, stream>>>(a)`
    Launch {
        /// `kernel`
        kernel: String,
        /// `blocks`, ..
        configuration: Vec<Expr>,
        /// `a`
        arguments: Vec<Expr>,
    },
    /// `a[b]`
    Index(Box<Expr>, Box<Expr>),
    /// `a.b`, or `a->b`
    Member {
        /// `a`
        object: Box<Expr>,
        /// Whether `a` is a pointer.
        pointer: bool,
        /// `b`
        member: String,
        /// What is known of its type.
        sort: Sort,
    },
    /// `(T)a`
    Cast(Type, Box<Expr>),
    /// `sizeof a`, `sizeof(T)`
    SizeOf(Box<Expr>),
    /// `{ a, b }`
    List(Vec<Expr>),
}

impl Expr {
    /// What is known of its type.
    pub fn sort(&self) -> Sort {
        match self {
            Expr::Int(_) => Sort::Integer,
            Expr::Bool(_) => Sort::Truth,
            Expr::Name(_, sort) | Expr::Call { sort, .. } | Expr::Member { sort, .. } => *sort,
            Expr::Unary(UnaryOp::Not, _) => Sort::Truth,
            Expr::Unary(UnaryOp::Negate, a) if a.sort() != Sort::Other => Sort::Integer,
            Expr::Binary(operator, a, b) => match operator {
                BinaryOp::And | BinaryOp::Or => Sort::Truth,
                operator if operator.compares() => Sort::Truth,
                _ if a.sort() != Sort::Other && b.sort() != Sort::Other => Sort::Integer,
                _ => Sort::Other,
            },
            Expr::Select(_, a, b) if a.sort() == b.sort() => a.sort(),
            Expr::Select(_, a, b) if a.sort() != Sort::Other && b.sort() != Sort::Other => Sort::Integer,
            _ => Sort::Other,
        }
    }

    /// Whether a name is used in it.
    pub fn mentions(&self, wanted: &str) -> bool {
        let mut found = false;
        self.walk(&mut |part| found |= matches!(part, Expr::Name(name, _) if name == wanted));
        found
    }

    /// Visits this expression and all its parts.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        match self {
            Expr::Int(_) | Expr::Bool(_) | Expr::Literal(_) | Expr::Name(..) => {}
            Expr::Unary(_, a) | Expr::Member { object: a, .. } | Expr::Cast(_, a) | Expr::SizeOf(a) => {
                a.walk(visit);
            }
            Expr::Binary(_, a, b) | Expr::Index(a, b) => [a, b].into_iter().for_each(|part| part.walk(visit)),
            Expr::Select(a, b, c) => [a, b, c].into_iter().for_each(|part| part.walk(visit)),
            Expr::Call { function, template, arguments, .. } => {
                function.walk(visit);
                template.iter().chain(arguments).for_each(|part| part.walk(visit));
            }
            Expr::Launch { configuration, arguments, .. } => {
                configuration.iter().chain(arguments).for_each(|part| part.walk(visit));
            }
            Expr::List(parts) => parts.iter().for_each(|part| part.walk(visit)),
        }
    }
}

impl BinaryOp {
    /// Whether it is one of `<`, `<=`, `>`, `>=`, `==`, `!=`.
    pub fn compares(self) -> bool {
        matches!(
            self,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne
        )
    }
}
