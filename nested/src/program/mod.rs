//! A checked program: what the interpreter, the analysis and the generators work on.
//!
//! Every name is a variable with a type, functions of the user are put in where they are called, and every operator has
//! operands that fit. A sequence is what can be asked for its length and for single elements; `let` of a sequence stores
//! nothing.

mod operators;
mod types;

pub use crate::ast::{Binary, Unary};
pub use operators::{Builtin, Math, Operator};
pub use types::{Literal, Scalar, Type};

use polyhedral::source::{SourceFile, Span};
use std::sync::Arc;

/// Elements of a block of an associative reduction: blocks are folded by themselves, then one after the other.
pub const BLOCK: i64 = 4096;
/// Partial results within a block, where the operator is one of the language's own.
pub const LANES: i64 = 8;

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
