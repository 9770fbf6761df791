//! Text of trees: as few parentheses as are needed, but for those that compilers ask for (`-Wparentheses`) and that
//! readers expect; four blanks for each block; lines of at most [`COLUMNS`] columns.

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::function::{Function, Record};
use crate::layout::{Doc, lines};
use crate::stmt::{Block, Declaration, For, Stmt};
use crate::types::Type;
use text_escape::comment;

/// Columns of a line at most, wherever it can be broken.
pub const COLUMNS: usize = 100;

/// The language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// C99.
    C,
    /// CUDA, that is C++.
    Cuda,
}

/// How strongly operators bind, from `a ? b : c` on.
mod strength {
    pub const SELECT: u8 = 3;
    pub const OR: u8 = 4;
    pub const AND: u8 = 5;
    pub const EQUAL: u8 = 9;
    pub const LESS: u8 = 10;
    pub const SHIFT: u8 = 11;
    pub const SUM: u8 = 12;
    pub const PRODUCT: u8 = 13;
    pub const UNARY: u8 = 14;
    pub const PRIMARY: u8 = 15;
}

impl BinaryOp {
    fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        }
    }

    fn strength(self) -> u8 {
        match self {
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => strength::PRODUCT,
            BinaryOp::Add | BinaryOp::Sub => strength::SUM,
            BinaryOp::Shl | BinaryOp::Shr => strength::SHIFT,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => strength::LESS,
            BinaryOp::Eq | BinaryOp::Ne => strength::EQUAL,
            BinaryOp::BitAnd => 8,
            BinaryOp::BitXor => 7,
            BinaryOp::BitOr => 6,
            BinaryOp::And => strength::AND,
            BinaryOp::Or => strength::OR,
        }
    }

    /// How strongly an operand must bind to have no parentheses.
    fn operand(self) -> u8 {
        match self {
            // `a && b || c` is right, and nobody reads it so.
            BinaryOp::Or => strength::AND + 1,
            BinaryOp::BitAnd | BinaryOp::BitXor | BinaryOp::BitOr => strength::UNARY,
            BinaryOp::Shl | BinaryOp::Shr => strength::PRODUCT,
            operator if operator.compares() => strength::SHIFT,
            operator => operator.strength() + 1,
        }
    }

    /// Whether `(a op b) op c` has no parentheses.
    fn chains(self) -> bool {
        !self.compares() && !matches!(self, BinaryOp::Shl | BinaryOp::Shr)
    }

    /// Whether an operand on the left, made by another operator, goes on with this one: `a - b + c`, but `(a * b) % c`.
    fn goes_on(self, left: BinaryOp) -> bool {
        let one = |operator| matches!(operator, BinaryOp::Add | BinaryOp::Sub);
        let other = |operator| matches!(operator, BinaryOp::Mul | BinaryOp::Div);
        self.chains() && (self == left || one(self) && one(left) || other(self) && other(left))
    }
}

/// Whether its text begins with a minus.
fn begins_with_minus(expr: &Expr) -> bool {
    match expr {
        Expr::Int(value) => *value < 0 && *value != i64::MIN,
        Expr::Unary(UnaryOp::Negate, _) => true,
        Expr::Binary(operator, left, _) => operator.strength() > strength::SUM && begins_with_minus(left),
        _ => false,
    }
}

fn strength_of(expr: &Expr) -> u8 {
    match expr {
        Expr::Int(value) if *value < 0 && *value != i64::MIN => strength::UNARY,
        Expr::Unary(..) | Expr::Cast(..) | Expr::SizeOf(_) => strength::UNARY,
        Expr::Binary(operator, ..) => operator.strength(),
        Expr::Select(..) => strength::SELECT,
        _ => strength::PRIMARY,
    }
}

fn all(parts: impl IntoIterator<Item = Doc>) -> Doc {
    Doc::All(parts.into_iter().collect())
}

impl Dialect {
    /// The text of an expression, in one line.
    pub fn one_line(self, expr: &Expr) -> String {
        lines(&self.expr(expr, 0), usize::MAX).concat()
    }

    fn in_parentheses(self, expr: &Expr) -> Doc {
        all([Doc::text("("), self.expr(expr, 0), Doc::text(")")])
    }

    /// An expression that binds at least so strongly, or is in parentheses.
    fn expr(self, expr: &Expr, least: u8) -> Doc {
        if strength_of(expr) < least {
            return self.in_parentheses(expr);
        }
        match expr {
            Expr::Int(i64::MIN) => Doc::text("(-9223372036854775807 - 1)"),
            Expr::Int(value) => Doc::text(value.to_string()),
            Expr::Bool(value) => Doc::text(match (self, value) {
                (Dialect::C, true) => "1",
                (Dialect::C, false) => "0",
                (Dialect::Cuda, true) => "true",
                (Dialect::Cuda, false) => "false",
            }),
            Expr::Literal(text) | Expr::Name(text, _) => Doc::text(text),
            Expr::Unary(operator, a) => {
                let sign = match operator {
                    UnaryOp::Negate => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::Deref => "*",
                    UnaryOp::Address => "&",
                };
                let doubled = *operator == UnaryOp::Negate && begins_with_minus(a)
                    || *operator == UnaryOp::Address && matches!(**a, Expr::Unary(UnaryOp::Address, _));
                let a = if doubled { self.in_parentheses(a) } else { self.expr(a, strength::UNARY) };
                all([Doc::text(sign), a])
            }
            Expr::Binary(operator, a, b) => {
                let mut parts = Vec::new();
                self.chain(*operator, a, b, &mut parts);
                Doc::Group(Box::new(Doc::All(parts)))
            }
            Expr::Select(condition, a, b) => Doc::Group(Box::new(all([
                self.expr(condition, strength::OR),
                Doc::Blank,
                Doc::text("? "),
                self.expr(a, strength::OR),
                Doc::Blank,
                Doc::text(": "),
                self.expr(b, strength::OR),
            ]))),
            Expr::Call { function, template, arguments, .. } => {
                let mut parts = vec![self.expr(function, strength::PRIMARY)];
                if !template.is_empty() {
                    let template = template.iter().map(|part| self.expr(part, strength::SUM));
                    parts.extend([Doc::text("<"), Doc::list(template, ","), Doc::text(">")]);
                }
                parts.push(self.arguments(arguments));
                Doc::All(parts)
            }
            Expr::Launch { kernel, configuration, arguments } => all([
                Doc::text(format!("{kernel}<<<")),
                Doc::list(configuration.iter().map(|part| self.expr(part, strength::SUM)), ","),
                Doc::text(">>>"),
                self.arguments(arguments),
            ]),
            Expr::Index(a, b) => {
                all([self.expr(a, strength::PRIMARY), Doc::text("["), self.expr(b, 0), Doc::text("]")])
            }
            Expr::Member { object, pointer, member, .. } => all([
                self.expr(object, strength::PRIMARY),
                Doc::text(format!("{}{member}", if *pointer { "->" } else { "." })),
            ]),
            Expr::Cast(to, a) => {
                let minus = begins_with_minus(a);
                let a = if minus { self.in_parentheses(a) } else { self.expr(a, strength::UNARY) };
                all([Doc::text(format!("({})", self.word(to.alone()))), a])
            }
            Expr::SizeOf(a) => all([Doc::text("sizeof "), self.expr(a, strength::UNARY)]),
            Expr::List(parts) => all([
                Doc::text("{"),
                Doc::Blank,
                Doc::list(parts.iter().map(|part| self.expr(part, 0)), ","),
                Doc::Blank,
                Doc::text("}"),
            ]),
        }
    }

    fn arguments(self, arguments: &[Expr]) -> Doc {
        let list = Doc::list(arguments.iter().map(|part| self.expr(part, 0)), ",");
        all([Doc::text("("), list, Doc::text(")")])
    }

    /// `a op b`, with all that goes on from the left in the same group.
    fn chain(self, operator: BinaryOp, a: &Expr, b: &Expr, parts: &mut Vec<Doc>) {
        match a {
            Expr::Binary(inner, c, d) if operator.goes_on(*inner) => self.chain(*inner, c, d, parts),
            a => parts.push(self.expr(a, operator.operand())),
        }
        // `a && (b && c)` asks in the same order as `(a && b) && c`.
        if let (BinaryOp::And | BinaryOp::Or, Expr::Binary(inner, c, d)) = (operator, b)
            && *inner == operator
        {
            let begun = parts.len();
            self.chain(operator, c, d, parts);
            let first = std::mem::replace(&mut parts[begun], Doc::Blank);
            parts.insert(begun + 1, all([Doc::text(format!("{} ", operator.symbol())), first]));
            return;
        }
        let minus = operator.strength() == strength::SUM && begins_with_minus(b);
        let in_parentheses = minus || strength_of(b) < operator.operand();
        let b = if minus { self.in_parentheses(b) } else { self.expr(b, operator.operand()) };
        // `factor * (a + b)` is broken at the sum.
        let factor = matches!(a, Expr::Name(..) | Expr::Literal(_) | Expr::Int(0..1_000_000));
        let joined = operator == BinaryOp::Mul && factor && in_parentheses;
        parts.push(if joined { Doc::text(" ") } else { Doc::Blank });
        parts.extend([Doc::text(format!("{} ", operator.symbol())), b]);
    }

    /// Words of a type.
    fn word(self, text: impl Into<String>) -> String {
        let text = text.into();
        if self == Dialect::Cuda { text.replace("*restrict", "*__restrict__") } else { text }
    }
}

impl Function {
    /// Its text.
    pub fn print(&self, dialect: Dialect) -> String {
        let mut printer = Printer::new(dialect);
        printer.function(self);
        printer.text
    }

    /// The text of its prototype.
    pub fn prototype(&self, dialect: Dialect) -> String {
        let mut printer = Printer::new(dialect);
        printer.head(self, ";");
        printer.text
    }
}

impl Record {
    /// Its text.
    pub fn print(&self, dialect: Dialect) -> String {
        let mut printer = Printer::new(dialect);
        if let Some(text) = &self.comment {
            printer.comment(text);
        }
        printer.write(&format!("struct {} {{", self.name));
        printer.inside(&self.members);
        printer.write("};");
        printer.text
    }
}

/// The lines of a text for a comment, of at most so many columns, as far as they can be broken between words. Blanks at the
/// beginning of a line are kept for all lines that are made of it. What does not fit in a line goes on in the next one, if
/// that begins where this one does.
pub fn comment_lines(text: &str, columns: usize) -> Vec<String> {
    let mut broken: Vec<String> = Vec::new();
    // The text of the last line that is too long, while it may go on.
    let mut open: Option<usize> = None;
    for own in text.lines() {
        let own = comment(own);
        let begin = own.len() - own.trim_start().len();
        let indent = " ".repeat(begin);
        let goes_on = own.trim_start().starts_with(char::is_alphanumeric) && open == Some(begin);
        let mut line = match broken.pop() {
            Some(last) if goes_on => last,
            last => {
                broken.extend(last);
                indent.clone()
            }
        };
        open = None;
        for word in own.split_whitespace() {
            let begun = line.len() > begin;
            if begun && line.chars().count() + 1 + word.chars().count() > columns {
                broken.push(std::mem::replace(&mut line, format!("{indent}{word}")));
                open = Some(begin);
            } else {
                line.push_str(if begun { " " } else { "" });
                line.push_str(word);
            }
        }
        broken.push(line.trim_end().to_string());
    }
    broken
}

/// Writes statements and functions.
struct Printer {
    dialect: Dialect,
    text: String,
    depth: usize,
}

impl Printer {
    fn new(dialect: Dialect) -> Self {
        Printer { dialect, text: String::new(), depth: 0 }
    }

    fn room(&self) -> usize {
        COLUMNS.saturating_sub(4 * self.depth)
    }

    fn write(&mut self, line: &str) {
        if !line.is_empty() {
            self.text.push_str(&" ".repeat(4 * self.depth));
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes what is one line, if it fits.
    fn line(&mut self, parts: impl IntoIterator<Item = Doc>) {
        for line in lines(&all(parts), self.room()) {
            self.write(&line);
        }
    }

    fn expr(&self, expr: &Expr) -> Doc {
        self.dialect.expr(expr, 0)
    }

    fn function(&mut self, function: &Function) {
        self.head(function, "");
        self.write("{");
        self.inside(&function.body);
        self.write("}");
    }

    fn head(&mut self, function: &Function, end: &str) {
        if let Some(text) = &function.comment {
            self.comment(text);
        }
        let dialect = self.dialect;
        let one = |kind: &Type, name: &str| {
            let text = format!("{} {}{name}", kind.head(), kind.before_name());
            Doc::text(dialect.word(text.trim_end()))
        };
        if !function.template.is_empty() {
            let template = function.template.iter().map(|(kind, name)| one(kind, name));
            let parts = [Doc::text("template <"), Doc::list(template, ","), Doc::text(">")];
            self.line(parts);
        }
        let mut words = function.attributes.clone();
        words.push(format!("{} {}{}(", function.result.head(), function.result.before_name(), function.name));
        let nothing = function.parameters.is_empty() && self.dialect == Dialect::C;
        let list = match nothing {
            true => Doc::text("void"),
            false => {
                let named = |(kind, name): &(Type, Option<String>)| one(kind, name.as_deref().unwrap_or(""));
                Doc::Group(Box::new(all([Doc::Joint, Doc::list(function.parameters.iter().map(named), ",")])))
            }
        };
        self.line([Doc::text(self.dialect.word(words.join(" "))), list, Doc::text(format!("){end}"))]);
    }

    /// Writes a comment of its own.
    fn comment(&mut self, text: &str) {
        // `/* ` or ` * ` before each line, ` */` behind the last one.
        let lines = comment_lines(text, self.room().saturating_sub(6));
        for (number, line) in lines.iter().enumerate() {
            let begin = if number == 0 { "/* " } else { " * " };
            let end = if number + 1 == lines.len() { " */" } else { "" };
            self.write(format!("{begin}{line}{end}").trim_end());
        }
    }

    fn inside(&mut self, block: &Block) {
        self.depth += 1;
        self.block(block);
        self.depth -= 1;
    }

    fn block(&mut self, block: &Block) {
        block.statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        if let Some(doc) = self.simple(statement) {
            return self.line([doc]);
        }
        match statement {
            Stmt::If(Expr::Bool(known), then, otherwise) => {
                self.scoped(if *known { then } else { otherwise })
            }
            Stmt::If(condition, then, otherwise) => self.choice(condition, then, otherwise),
            Stmt::For(For { kind, variable, first, condition, step, body }) => {
                let first = first.as_ref().map(|first| match kind {
                    Some(kind) => self.declarators(std::slice::from_ref(&Declaration::new(
                        kind.clone(),
                        variable.clone(),
                        first.clone(),
                    ))),
                    None => all([Doc::text(format!("{variable} = ")), self.expr(first)]),
                });
                let step = match step {
                    Expr::Int(1) => Doc::text(format!("++{variable}")),
                    step => all([Doc::text(format!("{variable} += ")), self.expr(step)]),
                };
                let parts = [first.unwrap_or(Doc::text("")), self.expr(condition), step];
                self.line([Doc::text("for ("), Doc::list(parts, ";"), Doc::text(") {")]);
                self.inside(body);
                self.write("}");
            }
            Stmt::While(condition, body) => {
                self.line([Doc::text("while ("), self.expr(condition), Doc::text(") {")]);
                self.inside(body);
                self.write("}");
            }
            Stmt::Block(body) => self.scoped(body),
            Stmt::Comment(text) => self.comment(text),
            Stmt::Noted(statement, text) => self.noted(statement, text),
            _ => {}
        }
    }

    fn scoped(&mut self, body: &Block) {
        if !body.is_empty() {
            self.write("{");
            self.inside(body);
            self.write("}");
        }
    }

    fn choice(&mut self, condition: &Expr, then: &Block, otherwise: &Block) {
        if let ([only], true) = (&then.statements[..], otherwise.is_empty())
            && !matches!(only, Stmt::Declare(_) | Stmt::Pragma(_) | Stmt::PragmaOf(..))
            && let Some(simple) = self.simple(only)
        {
            let whole = all([Doc::text("if ("), self.expr(condition), Doc::text(") "), simple]);
            if let [line] = &lines(&whole, self.room())[..] {
                return self.write(line);
            }
        }
        self.line([Doc::text("if ("), self.expr(condition), Doc::text(") {")]);
        self.inside(then);
        if !otherwise.is_empty() {
            self.write("} else {");
            self.inside(otherwise);
        }
        self.write("}");
    }

    fn noted(&mut self, statement: &Stmt, text: &str) {
        if let Some(simple) = self.simple(statement) {
            let whole = all([simple, Doc::text(format!(" /* {} */", comment(text)))]);
            if let [line] = &lines(&whole, self.room())[..]
                && line.chars().count() <= self.room()
            {
                return self.write(line);
            }
        }
        self.comment(text);
        self.statement(statement);
    }

    /// A statement that has no block.
    fn simple(&self, statement: &Stmt) -> Option<Doc> {
        Some(match statement {
            Stmt::Declare(declarations) => all([self.declarators(declarations), Doc::text(";")]),
            Stmt::Expr(expr) => all([self.expr(expr), Doc::text(";")]),
            Stmt::Assign(a, b) => all([self.expr(a), Doc::text(" = "), self.expr(b), Doc::text(";")]),
            Stmt::Update(a, "+=", Expr::Int(1)) => all([Doc::text("++"), self.expr(a), Doc::text(";")]),
            Stmt::Update(a, operator, b) => {
                all([self.expr(a), Doc::text(format!(" {operator} ")), self.expr(b), Doc::text(";")])
            }
            Stmt::Return(None) => Doc::text("return;"),
            Stmt::Return(Some(value)) => all([Doc::text("return "), self.expr(value), Doc::text(";")]),
            Stmt::Continue => Doc::text("continue;"),
            Stmt::Break => Doc::text("break;"),
            Stmt::Pragma(text) => Doc::text(format!("#pragma {text}")),
            Stmt::PragmaOf(text, argument) => {
                Doc::text(format!("#pragma {text} ({})", self.dialect.one_line(argument)))
            }
            _ => return None,
        })
    }

    /// `const float *a = b, *c`: declarations of one type, without the end.
    fn declarators(&self, declarations: &[Declaration]) -> Doc {
        let Some(first) = declarations.first() else { return Doc::text("") };
        let attribute = first.attribute.iter().map(|word| format!("{word} ")).collect::<String>();
        let own = declarations.iter().map(|declaration| {
            let before = self.dialect.word(declaration.kind.before_name());
            let mut parts = vec![Doc::text(format!("{before}{}", declaration.name))];
            if let Some(count) = &declaration.count {
                parts.extend([Doc::text("["), self.expr(count), Doc::text("]")]);
            }
            if let Some(value) = &declaration.value {
                parts.extend([Doc::text(" = "), self.expr(value)]);
            }
            Doc::All(parts)
        });
        let own = match declarations {
            [_] => Doc::All(own.collect()),
            _ => Doc::list(own, ","),
        };
        all([Doc::text(format!("{attribute}{} ", first.kind.head())), own])
    }
}
