//! Programs built in Rust: the same trees as those of the text, and the same check.
//!
//! ```
//! use nested::builder::{Builder, call, float, function, name, plus};
//!
//! let program = Builder::new("norm")
//!     .input("x", "[f64]")
//!     .output("sum", call("reduce", [plus(), call("map", [function(["a"], name("a") * name("a")), name("x")]), float(0.0)]))
//!     .check()
//!     .map_err(|mistakes| mistakes.to_string())?;
//! assert_eq!(program.outputs.len(), 1);
//! # Ok::<(), String>(())
//! ```

use crate::ast::{self, Binary, Expr, ExprKind, Item, ItemKind, Name, Pattern, TypeExpr, Unary};
use crate::printer::print;
use crate::program::Program;
use polyhedral::diagnostic::Diagnostics;
use std::ops::{Add, Div, Mul, Neg, Not, Rem, Sub};

/// A program while it is built.
#[derive(Debug, Clone)]
pub struct Builder {
    program: ast::Program,
}

fn named(text: &str) -> Name {
    Name { text: text.to_owned(), span: 0..0 }
}

fn of(kind: ExprKind) -> Expr {
    Expr { kind, span: 0..0 }
}

impl Builder {
    /// A program without anything in it.
    pub fn new(name: &str) -> Builder {
        let program = ast::Program {
            description: Vec::new(),
            name: named(name),
            items: Vec::new(),
            ending: Vec::new(),
        };
        Builder { program }
    }

    fn with(mut self, kind: ItemKind) -> Builder {
        self.program.items.push(Item { comments: Vec::new(), kind, span: 0..0 });
        self
    }

    /// `input name: type;`, the type as it is written.
    pub fn input(self, name: &str, ty: &str) -> Builder {
        self.with(ItemKind::Input(named(name), TypeExpr::Scalar(named(ty))))
    }

    /// `param name: type = value;`
    pub fn param(self, name: &str, ty: &str, value: Expr) -> Builder {
        self.with(ItemKind::Param(named(name), TypeExpr::Scalar(named(ty)), value))
    }

    /// `table name: type = [values];`
    pub fn table(self, name: &str, ty: &str, values: impl IntoIterator<Item = Expr>) -> Builder {
        let values = values.into_iter().collect();
        self.with(ItemKind::Table(named(name), TypeExpr::Scalar(named(ty)), values))
    }

    /// `let name = value;`
    pub fn define(self, name: &str, value: Expr) -> Builder {
        self.with(ItemKind::Let(Pattern::Name(named(name)), value))
    }

    /// `compute name = value;`
    pub fn compute(self, name: &str, value: Expr) -> Builder {
        self.with(ItemKind::Compute(named(name), value))
    }

    /// `output name = value;`
    pub fn output(self, name: &str, value: Expr) -> Builder {
        self.with(ItemKind::Output(named(name), Some(value)))
    }

    /// `output name;`
    pub fn hand_out(self, name: &str) -> Builder {
        self.with(ItemKind::Output(named(name), None))
    }

    /// `state name = value;`
    pub fn state(self, name: &str, value: Expr) -> Builder {
        self.with(ItemKind::State(named(name), value))
    }

    /// `name = value;`
    pub fn assign(self, name: &str, value: Expr) -> Builder {
        self.with(ItemKind::Assign(named(name), value))
    }

    /// `repeat times { items until condition; }`
    pub fn repeat(self, times: Expr, items: impl FnOnce(Builder) -> Builder, until: Option<Expr>) -> Builder {
        let items = items(Builder::new("")).program.items;
        self.with(ItemKind::Repeat { times, items, until, ending: Vec::new() })
    }

    /// The program as text.
    pub fn text(&self) -> String {
        print(&self.program)
    }

    /// The checked program; its diagnostics show the text that it has.
    ///
    /// # Errors
    /// All mistakes.
    pub fn check(&self) -> Result<Program, Diagnostics> {
        crate::parse(&format!("<{}>", self.program.name.text), &self.text())
    }
}

/// A name.
pub fn name(text: &str) -> Expr {
    of(ExprKind::Name(text.to_owned()))
}

/// A whole number.
pub fn integer(value: i64) -> Expr {
    of(ExprKind::Integer(value))
}

/// A floating-point number; infinities and what is no number have no literals, and are refused where the program is
/// checked.
pub fn float(value: f64) -> Expr {
    of(ExprKind::Float(value))
}

/// A truth value.
pub fn truth(value: bool) -> Expr {
    of(ExprKind::Bool(value))
}

/// An operator or function with its operands.
pub fn call(function: &str, operands: impl IntoIterator<Item = Expr>) -> Expr {
    of(ExprKind::Call(named(function), operands.into_iter().collect()))
}

/// `|a, b| body`
pub fn function<const N: usize>(parameters: [&str; N], body: Expr) -> Expr {
    let parameters = parameters.iter().map(|text| Pattern::Name(named(text))).collect();
    of(ExprKind::Function { associative: false, parameters, body: Box::new(body) })
}

/// `assoc |a, b| body`: the caller states that the order of brackets does not matter.
pub fn associative(first: &str, second: &str, body: Expr) -> Expr {
    let parameters = [first, second].iter().map(|text| Pattern::Name(named(text))).collect();
    of(ExprKind::Function { associative: true, parameters, body: Box::new(body) })
}

/// `+` where a function stands.
pub fn plus() -> Expr {
    of(ExprKind::Operator(Binary::Add))
}

/// `*` where a function stands.
pub fn times() -> Expr {
    of(ExprKind::Operator(Binary::Multiply))
}

/// `(a, b)`
pub fn tuple(parts: impl IntoIterator<Item = Expr>) -> Expr {
    of(ExprKind::Tuple(parts.into_iter().collect()))
}

impl Expr {
    /// An operator between two operands.
    pub fn binary(self, operator: Binary, other: Expr) -> Expr {
        of(ExprKind::Binary(operator, Box::new(self), Box::new(other)))
    }

    /// `self ? then : otherwise`
    pub fn select(self, then: Expr, otherwise: Expr) -> Expr {
        of(ExprKind::Select(Box::new(self), Box::new(then), Box::new(otherwise)))
    }

    /// `self[index]`
    pub fn at(self, index: Expr) -> Expr {
        of(ExprKind::Index(Box::new(self), Box::new(index)))
    }

    /// `self.place`
    pub fn component(self, place: u64) -> Expr {
        of(ExprKind::Component(Box::new(self), place))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $operator:ident) => {
        impl $trait for Expr {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                self.binary(Binary::$operator, other)
            }
        }
    };
}

operator!(Add, add, Add);
operator!(Sub, sub, Subtract);
operator!(Mul, mul, Multiply);
operator!(Div, div, Divide);
operator!(Rem, rem, Remainder);

impl Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        of(ExprKind::Unary(Unary::Negate, Box::new(self)))
    }
}

impl Not for Expr {
    type Output = Expr;
    fn not(self) -> Expr {
        of(ExprKind::Unary(Unary::Not, Box::new(self)))
    }
}
