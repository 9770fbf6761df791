//! Statements.

use crate::build::{name, var};
use crate::expr::{Expr, Sort};
use crate::types::Type;

/// A declaration of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    /// Words before the type, such as `static`.
    pub attribute: Option<String>,
    /// Its type.
    pub kind: Type,
    /// The name.
    pub name: String,
    /// The number of elements of an array.
    pub count: Option<Expr>,
    /// The value.
    pub value: Option<Expr>,
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Stmt {
    /// `T a = b, c = d;`: names of one type.
    Declare(Vec<Declaration>),
    /// `f(a);`
    Expr(Expr),
    /// `a = b;`
    Assign(Expr, Expr),
    /// `a += b;`, with the operator.
    Update(Expr, &'static str, Expr),
    /// `if (a) { .. } else { .. }`
    If(Expr, Block, Block),
    /// A loop that counts.
    For(For),
    /// `while (a) { .. }`
    While(Expr, Block),
    /// `{ .. }`
    Block(Block),
    /// `return a;`
    Return(Option<Expr>),
    /// `continue;`
    Continue,
    /// `break;`
    Break,
    /// `#pragma a`
    Pragma(String),
    /// `#pragma a(b)`, where the text of `b` is an expression.
    PragmaOf(String, Expr),
    /// A comment of its own.
    Comment(String),
    /// A statement with a comment.
    Noted(Box<Stmt>, String),
}

/// A loop that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct For {
    /// The type of its variable, where the loop declares it.
    pub kind: Option<Type>,
    /// The variable.
    pub variable: String,
    /// Its first value; the one that it has where there is none.
    pub first: Option<Expr>,
    /// While this holds.
    pub condition: Expr,
    /// What is added each time.
    pub step: Expr,
    /// What is repeated.
    pub body: Block,
}

/// Statements one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Stmt>,
}

impl Declaration {
    /// A name with a value.
    pub fn new(kind: impl Into<Type>, name: impl Into<String>, value: impl Into<Expr>) -> Self {
        let (kind, name, value) = (kind.into(), name.into(), Some(value.into()));
        Declaration { attribute: None, kind, name, count: None, value }
    }

    /// A name without a value.
    pub fn plain(kind: impl Into<Type>, name: impl Into<String>) -> Self {
        Declaration { attribute: None, kind: kind.into(), name: name.into(), count: None, value: None }
    }

    /// An array without values.
    pub fn array(kind: impl Into<Type>, name: impl Into<String>, count: impl Into<Expr>) -> Self {
        let (kind, name, count) = (kind.into(), name.into(), Some(count.into()));
        Declaration { attribute: None, kind, name, count, value: None }
    }
}

impl Stmt {
    /// `const T name = value;`
    pub fn constant(kind: impl Into<Type>, name: impl Into<String>, value: impl Into<Expr>) -> Stmt {
        Stmt::declare(kind.into().constant(), name, value)
    }

    /// `T name = value;`
    pub fn declare(kind: impl Into<Type>, name: impl Into<String>, value: impl Into<Expr>) -> Stmt {
        Stmt::Declare(vec![Declaration::new(kind, name, value)])
    }

    /// `T name;`
    pub fn uninitialised(kind: impl Into<Type>, name: impl Into<String>) -> Stmt {
        Stmt::Declare(vec![Declaration::plain(kind, name)])
    }

    /// `const T a = b, c = d;`
    pub fn constants(kind: impl Into<Type>, values: impl IntoIterator<Item = (String, Expr)>) -> Stmt {
        let kind = kind.into().constant();
        Stmt::Declare(
            values.into_iter().map(|(name, value)| Declaration::new(kind.clone(), name, value)).collect(),
        )
    }

    /// `(void)name;`
    pub fn unused(unused: impl Into<String>) -> Stmt {
        Stmt::Expr(name(unused).cast("void"))
    }

    /// `target = value;`
    pub fn assign(target: Expr, value: impl Into<Expr>) -> Stmt {
        Stmt::Assign(target, value.into())
    }

    /// `f(a, b);`
    pub fn call(function: impl Into<String>, arguments: impl IntoIterator<Item = Expr>) -> Stmt {
        Stmt::Expr(Expr::call(function, arguments, Sort::Other))
    }

    /// `if (condition) { then }`
    pub fn when(condition: impl Into<Expr>, then: impl Into<Block>) -> Stmt {
        Stmt::If(condition.into(), then.into(), Block::new())
    }

    /// `if (condition) { then } else { otherwise }`
    pub fn choose(condition: impl Into<Expr>, then: impl Into<Block>, otherwise: impl Into<Block>) -> Stmt {
        Stmt::If(condition.into(), then.into(), otherwise.into())
    }

    /// `for (T i = first; i < end; ++i) { body }`
    pub fn count(
        kind: impl Into<Type>,
        variable: impl Into<String>,
        first: impl Into<Expr>,
        end: impl Into<Expr>,
        body: impl Into<Block>,
    ) -> Stmt {
        let variable = variable.into();
        let condition = var(&variable).lt(end);
        Stmt::each(kind, variable, first, condition, 1, body)
    }

    /// `for (T i = first; i <= last; ++i) { body }`
    pub fn range(
        kind: impl Into<Type>,
        variable: impl Into<String>,
        first: impl Into<Expr>,
        last: impl Into<Expr>,
        body: impl Into<Block>,
    ) -> Stmt {
        let variable = variable.into();
        let condition = var(&variable).le(last);
        Stmt::each(kind, variable, first, condition, 1, body)
    }

    /// `for (T i = first; condition; i += step) { body }`
    pub fn each(
        kind: impl Into<Type>,
        variable: impl Into<String>,
        first: impl Into<Expr>,
        condition: impl Into<Expr>,
        step: impl Into<Expr>,
        body: impl Into<Block>,
    ) -> Stmt {
        Stmt::For(For {
            kind: Some(kind.into()),
            variable: variable.into(),
            first: Some(first.into()),
            condition: condition.into(),
            step: step.into(),
            body: body.into(),
        })
    }

    /// `for (; condition; i += step) { body }`
    pub fn go_on(
        variable: impl Into<String>,
        condition: impl Into<Expr>,
        step: impl Into<Expr>,
        body: impl Into<Block>,
    ) -> Stmt {
        Stmt::For(For {
            kind: None,
            variable: variable.into(),
            first: None,
            condition: condition.into(),
            step: step.into(),
            body: body.into(),
        })
    }

    /// The statement with a comment; as it is where there is none.
    pub fn note(self, comment: impl Into<String>) -> Stmt {
        let comment = comment.into();
        if comment.is_empty() { self } else { Stmt::Noted(Box::new(self), comment) }
    }

    /// Visits the expressions of this statement, without those of statements in it.
    pub fn expressions(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Stmt::Declare(declarations) => {
                let parts =
                    declarations.iter().flat_map(|declaration| [&declaration.count, &declaration.value]);
                parts.flatten().for_each(visit);
            }
            Stmt::Expr(a) | Stmt::If(a, ..) | Stmt::While(a, _) | Stmt::PragmaOf(_, a) => visit(a),
            Stmt::Return(value) => value.iter().for_each(visit),
            Stmt::Assign(a, b) | Stmt::Update(a, _, b) => [a, b].into_iter().for_each(visit),
            Stmt::For(For { first, condition, step, .. }) => {
                first.iter().chain([condition, step]).for_each(visit);
            }
            Stmt::Block(_) | Stmt::Continue | Stmt::Break => {}
            Stmt::Pragma(_) | Stmt::Comment(_) | Stmt::Noted(..) => {}
        }
    }

    /// Visits this statement and all in it.
    pub fn walk(&self, visit: &mut dyn FnMut(&Stmt)) {
        visit(self);
        match self {
            Stmt::If(_, then, otherwise) => {
                then.walk(visit);
                otherwise.walk(visit);
            }
            Stmt::For(For { body, .. }) | Stmt::While(_, body) | Stmt::Block(body) => body.walk(visit),
            Stmt::Noted(statement, _) => statement.walk(visit),
            _ => {}
        }
    }
}

impl Block {
    /// No statement.
    pub fn new() -> Self {
        Block::default()
    }

    /// Whether there is no statement.
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// Whether a name is used in it.
    pub fn mentions(&self, name: &str) -> bool {
        let mut found = false;
        self.walk(&mut |statement| statement.expressions(&mut |expr| found |= expr.mentions(name)));
        found
    }

    /// Adds a statement.
    pub fn push(&mut self, statement: impl Into<Stmt>) {
        self.statements.push(statement.into());
    }

    /// Adds a comment.
    pub fn comment(&mut self, text: impl Into<String>) {
        self.push(Stmt::Comment(text.into()));
    }

    /// Visits all statements.
    pub fn walk(&self, visit: &mut dyn FnMut(&Stmt)) {
        self.statements.iter().for_each(|statement| statement.walk(visit));
    }
}

impl Extend<Stmt> for Block {
    fn extend<I: IntoIterator<Item = Stmt>>(&mut self, statements: I) {
        self.statements.extend(statements);
    }
}

impl FromIterator<Stmt> for Block {
    fn from_iter<I: IntoIterator<Item = Stmt>>(statements: I) -> Self {
        Block { statements: statements.into_iter().collect() }
    }
}

impl IntoIterator for Block {
    type Item = Stmt;
    type IntoIter = std::vec::IntoIter<Stmt>;
    fn into_iter(self) -> Self::IntoIter {
        self.statements.into_iter()
    }
}

impl From<Stmt> for Block {
    fn from(statement: Stmt) -> Self {
        Block { statements: vec![statement] }
    }
}

impl<const N: usize> From<[Stmt; N]> for Block {
    fn from(statements: [Stmt; N]) -> Self {
        statements.into_iter().collect()
    }
}

impl From<Vec<Stmt>> for Block {
    fn from(statements: Vec<Stmt>) -> Self {
        Block { statements }
    }
}
