//! The part of C that a scop region is made of, with the places of the user's own file.

use polyhedral::source::Span;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands in the user's file; for what a macro made, the place where the macro is used.
    pub span: Span,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// An integer literal; characters, too.
    Integer {
        /// Its value.
        value: i64,
        /// As it is written, with its suffix.
        text: String,
    },
    /// A floating-point literal.
    Floating {
        /// As it is written, without its suffix.
        text: String,
        /// Its type.
        kind: Floating,
    },
    /// A name.
    Name(String),
    /// `array[index]`
    Index(Box<Expr>, Box<Expr>),
    /// `function(arguments)`
    Call(Box<Expr>, Vec<Expr>),
    /// An operation on one operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operation on two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `target = value`, or `target op= value`.
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `++x`, `x++` (+1), `--x`, `x--` (-1).
    Step(i64, Box<Expr>),
    /// `(type)value`
    Cast(CType, Box<Expr>),
    /// `condition ? then : otherwise`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a, b`
    Comma(Box<Expr>, Box<Expr>),
    /// `object.member`; the flag is set for `->`.
    Member(Box<Expr>, bool, String),
    /// The buffer `(round + shift) mod of`, where names take turns; the first round of the time loop is 0.
    Turn {
        /// The buffer in the first round.
        shift: i64,
        /// Number of buffers.
        of: i64,
        /// The first of the pointers, or the variable that holds the number of a buffer.
        from: String,
    },
    /// `{ a, b }`: what the elements of an array begin with.
    List(Vec<Expr>),
    /// Something else: what the grammar calls it, and its text.
    Other(String, String),
}

/// Operations on one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `+x`
    Plus,
    /// `-x`
    Minus,
    /// `!x`
    Not,
    /// `~x`
    Complement,
    /// `*x`
    Dereference,
    /// `&x`
    Address,
}

impl UnaryOp {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::Not => "!",
            UnaryOp::Complement => "~",
            UnaryOp::Dereference => "*",
            UnaryOp::Address => "&",
        }
    }
}

/// Operations on two operands.
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
    BitAnd,
    BitOr,
    BitXor,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

impl BinaryOp {
    /// As it is written.
    pub fn text(self) -> &'static str {
        use BinaryOp::*;
        match self {
            Add => "+",
            Sub => "-",
            Mul => "*",
            Div => "/",
            Rem => "%",
            Shl => "<<",
            Shr => ">>",
            BitAnd => "&",
            BitOr => "|",
            BitXor => "^",
            Less => "<",
            LessEqual => "<=",
            Greater => ">",
            GreaterEqual => ">=",
            Equal => "==",
            NotEqual => "!=",
            And => "&&",
            Or => "||",
        }
    }

    /// The operation written like this.
    pub fn of(text: &str) -> Option<BinaryOp> {
        use BinaryOp::*;
        [
            Add,
            Sub,
            Mul,
            Div,
            Rem,
            Shl,
            Shr,
            BitAnd,
            BitOr,
            BitXor,
            Less,
            LessEqual,
            Greater,
            GreaterEqual,
            Equal,
            NotEqual,
            And,
            Or,
        ]
        .into_iter()
        .find(|operator| operator.text() == text)
    }
}

/// Floating-point types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Floating {
    /// `float`
    Float,
    /// `double`
    Double,
    /// `long double`
    LongDouble,
}

/// A type, as far as stencils need it.
#[derive(Debug, Clone, PartialEq)]
pub enum CType {
    /// Any integer type.
    Integer {
        /// As it is written.
        name: String,
        /// Whether it cannot be negative.
        unsigned: bool,
    },
    /// A floating-point type.
    Floating(Floating),
    /// A pointer.
    Pointer(Box<CType>),
    /// An array, with its extent where one is written.
    Array(Box<CType>, Option<Box<Expr>>),
    /// Anything else, by its name.
    Other(String),
}

impl CType {
    /// What is reached after all pointers and arrays.
    pub fn element(&self) -> &CType {
        match self {
            CType::Pointer(inner) | CType::Array(inner, _) => inner.element(),
            other => other,
        }
    }

    /// Whether the element may change by itself, or each access to it counts.
    pub fn is_watched(&self) -> bool {
        let CType::Other(name) = self.element() else { return false };
        // `typeof(volatile int)`, and `atomic_int` and the like of C's own header.
        name.contains("volatile") || name.contains("_Atomic") || name.starts_with("atomic_")
    }

    /// Number of pointers and arrays around the element.
    pub fn depth(&self) -> usize {
        match self {
            CType::Pointer(inner) | CType::Array(inner, _) => 1 + inner.depth(),
            _ => 0,
        }
    }
}

/// A declared variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ctype: CType,
    /// Its initial value, where it is declared with one.
    pub value: Option<Expr>,
    /// Where it is declared.
    pub span: Span,
    /// Whether it is visible to other functions.
    pub global: bool,
    /// Whether it is declared `const`.
    pub constant: bool,
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// What a statement is.
#[derive(Debug, Clone, PartialEq)]
pub enum StmtKind {
    /// `{ .. }`
    Block(Vec<Stmt>),
    /// Declarations.
    Declaration(Vec<Variable>),
    /// An expression.
    Expr(Expr),
    /// A `for` loop.
    For(Box<ForLoop>),
    /// A `while` or `do` loop.
    While(Box<WhileLoop>),
    /// `if (condition) then else otherwise`
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `return value;`
    Return(Option<Expr>),
    /// `;`
    Empty,
    /// Something else: what the grammar calls it, and all names in it.
    Other(String, Vec<String>),
}

/// A `for` loop as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct ForLoop {
    /// First part.
    pub start: Option<Stmt>,
    /// Second part.
    pub condition: Option<Expr>,
    /// Third part.
    pub step: Option<Expr>,
    /// Body.
    pub body: Stmt,
    /// From `for` to `)`.
    pub head: Span,
}

/// A `while` or `do` loop as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct WhileLoop {
    /// What is asked before each round, or behind it.
    pub condition: Expr,
    /// Body.
    pub body: Stmt,
    /// Whether it is asked behind each round: `do`.
    pub behind: bool,
    /// From `while` to `)`, or `do`.
    pub head: Span,
}

impl Expr {
    /// What is indexed, and the subscripts, outermost first: of `a[i][j]`, `a` with `i` and `j`.
    pub fn indexed(&self) -> (&Expr, Vec<&Expr>) {
        let (mut at, mut indices) = (self, Vec::new());
        while let ExprKind::Index(array, index) = &at.kind {
            indices.push(&**index);
            at = array;
        }
        indices.reverse();
        (at, indices)
    }

    /// Calls `visit` on this expression and all below it.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        match &self.kind {
            ExprKind::Integer { .. }
            | ExprKind::Floating { .. }
            | ExprKind::Name(_)
            | ExprKind::Turn { .. }
            | ExprKind::Other(..) => {}
            ExprKind::Index(a, b)
            | ExprKind::Binary(_, a, b)
            | ExprKind::Assign(_, a, b)
            | ExprKind::Comma(a, b) => {
                a.walk(visit);
                b.walk(visit);
            }
            ExprKind::Call(function, arguments) => {
                function.walk(visit);
                arguments.iter().for_each(|argument| argument.walk(visit));
            }
            ExprKind::List(list) => list.iter().for_each(|one| one.walk(visit)),
            ExprKind::Unary(_, a) | ExprKind::Step(_, a) | ExprKind::Cast(_, a) | ExprKind::Member(a, ..) => {
                a.walk(visit);
            }
            ExprKind::Conditional(a, b, c) => {
                a.walk(visit);
                b.walk(visit);
                c.walk(visit);
            }
        }
    }

    /// Calls `visit` on all expressions below this one, and then on it.
    pub fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match &mut self.kind {
            ExprKind::Integer { .. }
            | ExprKind::Floating { .. }
            | ExprKind::Name(_)
            | ExprKind::Turn { .. }
            | ExprKind::Other(..) => {}
            ExprKind::Index(a, b)
            | ExprKind::Binary(_, a, b)
            | ExprKind::Assign(_, a, b)
            | ExprKind::Comma(a, b) => {
                a.walk_mut(visit);
                b.walk_mut(visit);
            }
            ExprKind::Call(function, arguments) => {
                function.walk_mut(visit);
                arguments.iter_mut().for_each(|argument| argument.walk_mut(visit));
            }
            ExprKind::List(list) => list.iter_mut().for_each(|one| one.walk_mut(visit)),
            ExprKind::Unary(_, a) | ExprKind::Step(_, a) | ExprKind::Cast(_, a) | ExprKind::Member(a, ..) => {
                a.walk_mut(visit);
            }
            ExprKind::Conditional(a, b, c) => {
                a.walk_mut(visit);
                b.walk_mut(visit);
                c.walk_mut(visit);
            }
        }
        visit(self);
    }

    /// Whether it is this name alone.
    pub fn is_name(&self, name: &str) -> bool {
        matches!(&self.kind, ExprKind::Name(other) if other == name)
    }

    /// Whether a name stands in it.
    pub fn mentions(&self, name: &str) -> bool {
        let mut found = false;
        self.walk(&mut |expr| found |= matches!(&expr.kind, ExprKind::Name(other) if other == name));
        found
    }
}

impl ForLoop {
    /// The index that its first part sets.
    pub fn index(&self) -> Option<&str> {
        match &self.start.as_ref()?.kind {
            StmtKind::Declaration(list) => list.first().map(|variable| variable.name.as_str()),
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, _), .. }) => match &target.kind {
                ExprKind::Name(name) => Some(name),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Stmt {
    /// Calls `visit` on this statement and all below it.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Stmt)) {
        visit(self);
        match &self.kind {
            StmtKind::Block(list) => list.iter().for_each(|stmt| stmt.walk(visit)),
            StmtKind::For(source) => {
                if let Some(start) = &source.start {
                    start.walk(visit);
                }
                source.body.walk(visit);
            }
            StmtKind::While(source) => source.body.walk(visit),
            StmtKind::If(_, then, otherwise) => {
                then.walk(visit);
                if let Some(otherwise) = otherwise {
                    otherwise.walk(visit);
                }
            }
            StmtKind::Declaration(_)
            | StmtKind::Expr(_)
            | StmtKind::Return(_)
            | StmtKind::Empty
            | StmtKind::Other(..) => {}
        }
    }

    /// Visits this statement and all in it, the innermost first, to change them.
    pub fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Stmt)) {
        match &mut self.kind {
            StmtKind::Block(list) => list.iter_mut().for_each(|stmt| stmt.walk_mut(visit)),
            StmtKind::For(source) => source.body.walk_mut(visit),
            StmtKind::While(source) => source.body.walk_mut(visit),
            StmtKind::If(_, then, otherwise) => {
                then.walk_mut(visit);
                otherwise.iter_mut().for_each(|otherwise| otherwise.walk_mut(visit));
            }
            StmtKind::Empty
            | StmtKind::Declaration(_)
            | StmtKind::Expr(_)
            | StmtKind::Return(_)
            | StmtKind::Other(..) => {}
        }
        visit(self);
    }

    /// Calls `visit` on every expression in it.
    pub fn walk_expressions<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        self.walk(&mut |stmt| match &stmt.kind {
            StmtKind::Expr(expr) | StmtKind::If(expr, ..) | StmtKind::Return(Some(expr)) => expr.walk(visit),
            StmtKind::While(source) => source.condition.walk(visit),
            StmtKind::For(source) => {
                source.condition.iter().chain(&source.step).for_each(|expr| expr.walk(visit));
            }
            StmtKind::Declaration(variables) => {
                variables
                    .iter()
                    .filter_map(|variable| variable.value.as_ref())
                    .for_each(|expr| expr.walk(visit));
            }
            _ => {}
        });
    }
    /// Calls `visit` on every expression in it.
    pub fn walk_expressions_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match &mut self.kind {
            StmtKind::Block(list) => list.iter_mut().for_each(|stmt| stmt.walk_expressions_mut(visit)),
            StmtKind::For(source) => {
                if let Some(start) = &mut source.start {
                    start.walk_expressions_mut(visit);
                }
                source.condition.iter_mut().chain(&mut source.step).for_each(|expr| expr.walk_mut(visit));
                source.body.walk_expressions_mut(visit);
            }
            StmtKind::While(source) => {
                source.condition.walk_mut(visit);
                source.body.walk_expressions_mut(visit);
            }
            StmtKind::If(condition, then, otherwise) => {
                condition.walk_mut(visit);
                then.walk_expressions_mut(visit);
                if let Some(otherwise) = otherwise {
                    otherwise.walk_expressions_mut(visit);
                }
            }
            StmtKind::Declaration(variables) => {
                for value in variables.iter_mut().filter_map(|variable| variable.value.as_mut()) {
                    value.walk_mut(visit);
                }
            }
            StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => expr.walk_mut(visit),
            StmtKind::Return(None) | StmtKind::Empty | StmtKind::Other(..) => {}
        }
    }
}
