//! A program as canonical text of the stencil language; read again, it gives the same program.
//!
//! Conversions are written as `f32(x)` and `f64(x)` where they do not follow from the types of the fields.

use crate::domain::{EXTENTS, condition};
use crate::draft::margin;
use crate::program::{
    Access, BinaryOp, Boundary, CompareOp, Condition, Congruence, ElementType, Expr, ExprKind, FieldId,
    FieldRole, Function, Local, Program, Statement,
};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

impl Program {
    /// The program as text of the stencil language.
    pub fn to_source(&self) -> String {
        let mut text = String::new();
        for line in self.description.lines() {
            text.push_str(if line.is_empty() { "//" } else { "// " });
            text.push_str(line);
            text.push('\n');
        }
        let mut indices = vec![self.time_index.as_str()];
        indices.extend(self.space_indices.iter().map(String::as_str));
        let _ = writeln!(text, "stencil {}({}) {{", self.name, indices.join(", "));
        for (number, field) in self.fields.iter().enumerate() {
            let role = if field.role == FieldRole::Coefficient { "coefficient" } else { "field" };
            let slots = match field.role {
                FieldRole::State { slots, .. } if slots != self.slots_needed(FieldId(number)) => {
                    format!(" slots {slots}")
                }
                _ => String::new(),
            };
            let _ = writeln!(text, "    {role} {}: {}{slots};", field.name, field.element.name());
        }
        for series in &self.series {
            let _ = writeln!(text, "    series {}: {};", series.name, series.element.name());
        }
        for parameter in &self.parameters {
            let _ = writeln!(text, "    param {} = {};", parameter.name, number(parameter.default));
        }
        text.push_str(&self.boundary_source());
        text.push('\n');
        for line in self.body() {
            let _ = writeln!(text, "    {line}");
        }
        text.push_str("}\n");
        text
    }

    /// The declaration of the boundary, where it is not the default.
    fn boundary_source(&self) -> String {
        let around = self.space_indices.iter().zip(&self.periodic).filter(|(_, periodic)| **periodic);
        let around: Vec<&str> = around.map(|(index, _)| index.as_str()).collect();
        let kind = (self.boundary == Boundary::PerSlot).then(|| "per_slot".to_owned());
        let periodic = (!around.is_empty()).then(|| match around.len() == self.dimension() {
            true => "periodic".to_owned(),
            false => format!("periodic({})", around.join(", ")),
        });
        let words: Vec<String> = kind.into_iter().chain(periodic).collect();
        if words.is_empty() { String::new() } else { format!("    boundary {};\n", words.join(" ")) }
    }

    /// An access as it stands in the source: `u[t, i-1, j]`.
    pub fn access_source(&self, access: &Access) -> String {
        let field = self.field(access.field);
        let time = (field.role != FieldRole::Coefficient).then(|| index(&self.time_index, access.time));
        let space = self.space_indices.iter().zip(&access.offset).map(|(name, &o)| index(name, o));
        format!("{}[{}]", field.name, time.into_iter().chain(space).collect::<Vec<_>>().join(", "))
    }

    /// ` for 1 <= i < n0 - 1, j == 0`: the dimensions in which the domain is not all that the reads allow.
    fn domain_source(&self, statement: &Statement) -> String {
        let given = (0..self.dimension()).filter(|&d| statement.domain[d] != margin(&statement.reads, d));
        let conditions: Vec<String> =
            given.map(|d| condition(statement.domain[d], &self.space_indices[d], EXTENTS[d])).collect();
        if conditions.is_empty() { String::new() } else { format!(" for {}", conditions.join(", ")) }
    }

    /// The locals and statements, in an order in which each local comes after what it needs and each
    /// statement meets its locals in its own order.
    fn body(&self) -> Vec<String> {
        let plan = Plan::new(self);
        let count = plan.locals.len();
        // Locals are 0 .. count, statements follow. An edge says "before".
        let mut before = vec![Vec::new(); count + self.statements.len()];
        for (k, statement) in self.statements.iter().enumerate() {
            for pair in plan.of_statement[k].windows(2) {
                before[pair[1]].push(pair[0]);
            }
            before[count + k].extend(plan.of_statement[k].last());
            before[count + k].extend(k.checked_sub(1).map(|last| count + last));
            for (&local, definition) in plan.of_statement[k].iter().zip(&statement.locals) {
                definition.value.walk(|expr| {
                    if let ExprKind::Read(Access { field, time: 1, .. }) = &expr.kind {
                        // One that comes before all statements that use the local is enough.
                        before[local]
                            .extend(self.writers_of(*field).next().map(|(writer, _)| count + writer));
                    }
                });
            }
        }
        let mut lines = vec![String::new(); before.len()];
        for (k, statement) in self.statements.iter().enumerate() {
            let printer = Printer { program: self, locals: &plan.names(k) };
            for (&local, definition) in plan.of_statement[k].iter().zip(&statement.locals) {
                lines[local] = format!("let {} = {};", plan.locals[local], printer.local(&definition.value));
            }
            let target = self.field(statement.target);
            let mut indices = vec![format!("{}+1", self.time_index)];
            indices.extend(self.space_indices.iter().cloned());
            let value = printer.root(&statement.value);
            let domain = self.domain_source(statement);
            lines[count + k] = format!("{}[{}] = {value}{domain};", target.name, indices.join(", "));
        }
        order(&before).into_iter().map(|number| std::mem::take(&mut lines[number])).collect()
    }
}

/// An order that respects "before"; among those possible, the smallest number first. What hangs in a circle
/// comes last.
fn order(before: &[Vec<usize>]) -> Vec<usize> {
    let mut after = vec![Vec::new(); before.len()];
    let mut missing = vec![0_usize; before.len()];
    for (item, earlier) in before.iter().enumerate() {
        missing[item] = earlier.len();
        for &other in earlier {
            after[other].push(item);
        }
    }
    let mut ready: std::collections::BTreeSet<usize> =
        (0..before.len()).filter(|&item| missing[item] == 0).collect();
    let mut result = Vec::with_capacity(before.len());
    while let Some(item) = ready.pop_first() {
        result.push(item);
        for &other in &after[item] {
            missing[other] -= 1;
            if missing[other] == 0 {
                ready.insert(other);
            }
        }
    }
    result.extend((0..before.len()).filter(|&item| missing[item] > 0));
    result
}

/// The distinct locals of all statements. Statements share those of the same name and value; locals of one
/// name but different values get names of their own.
struct Plan {
    /// Their printed names.
    locals: Vec<String>,
    /// For each statement, for each of its locals, the number in `locals`.
    of_statement: Vec<Vec<usize>>,
}

impl Plan {
    fn new(program: &Program) -> Plan {
        let mut plan = Plan { locals: Vec::new(), of_statement: Vec::new() };
        let mut known: HashMap<(String, String), usize> = HashMap::new();
        let mut taken: HashSet<String> = program
            .fields
            .iter()
            .map(|field| &field.name)
            .chain(program.series.iter().map(|series| &series.name))
            .chain(program.parameters.iter().map(|parameter| &parameter.name))
            .chain(&program.space_indices)
            .chain([&program.time_index])
            .cloned()
            .collect();
        for statement in &program.statements {
            let mut numbers: Vec<usize> = Vec::new();
            let mut names: Vec<String> = Vec::new();
            for Local { name, value } in &statement.locals {
                let text = Printer { program, locals: &names }.local(value);
                let number = *known.entry((name.clone(), text)).or_insert_with(|| {
                    let mut printed = name.clone();
                    let mut uses = 1;
                    while !taken.insert(printed.clone()) {
                        uses += 1;
                        printed = format!("{name}_{uses}");
                    }
                    plan.locals.push(printed);
                    plan.locals.len() - 1
                });
                numbers.push(number);
                names.push(plan.locals[number].clone());
            }
            plan.of_statement.push(numbers);
        }
        plan
    }

    fn names(&self, statement: usize) -> Vec<String> {
        self.of_statement[statement].iter().map(|&number| self.locals[number].clone()).collect()
    }
}

impl Statement {
    /// The value as text of the stencil language.
    pub fn value_source(&self, program: &Program) -> String {
        let names: Vec<String> = self.locals.iter().map(|local| local.name.clone()).collect();
        Printer { program, locals: &names }.root(&self.value)
    }
}

struct Printer<'a> {
    program: &'a Program,
    locals: &'a [String],
}

/// How strongly an expression binds: `?:` 0, `||` 1, `&&` 2, comparison 4, `+ -` 5, `* /` 6, unary 7,
/// primary 8.
const SELECT: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
const COMPARE: u8 = 4;
const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const UNARY: u8 = 7;
const PRIMARY: u8 = 8;

impl Printer<'_> {
    /// A statement's value: a conversion to the target's type follows from it.
    fn root(&self, expr: &Expr) -> String {
        let mut text = String::new();
        let expr = match &expr.kind {
            ExprKind::Cast(operand) if !is_weak(operand) => operand,
            _ => expr,
        };
        self.expr(expr, SELECT, &mut text);
        text
    }

    /// A local's value: a weak one has the widest type.
    fn local(&self, expr: &Expr) -> String {
        let mut text = String::new();
        self.with_default(expr, SELECT, &mut text);
        text
    }

    /// An expression that takes the widest type if it is weak.
    fn with_default(&self, expr: &Expr, least: u8, text: &mut String) {
        let series = self.program.series.iter().map(|series| series.element);
        let widest = self.program.fields.iter().map(|field| field.element).chain(series).max();
        if is_weak(expr) && widest != Some(expr.element) {
            self.converted(expr, text);
        } else {
            self.expr(expr, least, text);
        }
    }

    /// `f32(x)` where the operand is weak and must have that type.
    fn converted(&self, expr: &Expr, text: &mut String) {
        text.push_str(expr.element.name());
        text.push('(');
        self.expr(expr, SELECT, text);
        text.push(')');
    }

    /// Appends an expression; in parentheses if it binds less strongly than `least`.
    fn expr(&self, expr: &Expr, least: u8, text: &mut String) {
        let strength = strength(expr);
        if strength < least {
            text.push('(');
            self.bare(expr, text);
            text.push(')');
        } else {
            self.bare(expr, text);
        }
    }

    fn bare(&self, expr: &Expr, text: &mut String) {
        match &expr.kind {
            ExprKind::Literal(value) => text.push_str(&number(*value)),
            ExprKind::Parameter(id) => text.push_str(&self.program.parameters[id.0].name),
            ExprKind::Local(id) => text.push_str(&self.locals[id.0]),
            ExprKind::Read(access) => self.access(access, text),
            ExprKind::Series(id, offset) => {
                let name = &self.program.series[id.0].name;
                let _ = write!(text, "{name}[{}]", index(&self.program.time_index, *offset));
            }
            ExprKind::Binary(BinaryOp::Libm(function), left, right) => {
                text.push_str(function.name());
                text.push('(');
                self.expr(implied(left, right), SELECT, text);
                text.push_str(", ");
                self.expr(implied(right, left), SELECT, text);
                text.push(')');
            }
            ExprKind::Negate(operand) => {
                text.push('-');
                // A literal keeps its sign: `-(1)` would be read as the literal.
                if strength(operand) == UNARY {
                    text.push(' ');
                }
                self.expr(operand, UNARY, text);
            }
            ExprKind::Binary(operator, ..) if strength(expr) == PRIMARY => {
                text.push_str(if *operator == BinaryOp::Min { "min(" } else { "max(" });
                self.chain(expr, *operator, text);
                text.push(')');
            }
            ExprKind::Binary(..) => self.sum_or_product(expr, text),
            ExprKind::Call(Function::Square, operand) => {
                text.push_str("pow(");
                self.expr(operand, SELECT, text);
                text.push_str(", 2)");
            }
            ExprKind::Call(function, operand) => {
                text.push_str(match function {
                    Function::Sqrt => "sqrt",
                    Function::Exp => "exp",
                    Function::Abs => "abs",
                    Function::Square => "pow",
                    Function::Libm(function) => function.name(),
                });
                text.push('(');
                self.expr(operand, SELECT, text);
                text.push(')');
            }
            ExprKind::Select(condition, then, otherwise) => {
                self.condition(condition, OR, text);
                text.push_str(" ? ");
                self.expr(implied(then, otherwise), SELECT, text);
                text.push_str(" : ");
                self.expr(implied(otherwise, then), SELECT, text);
            }
            ExprKind::Cast(operand) => {
                text.push_str(expr.element.name());
                text.push('(');
                if is_weak(operand) {
                    self.converted(operand, text);
                } else {
                    self.expr(operand, SELECT, text);
                }
                text.push(')');
            }
        }
    }

    /// `a + b - c`: the left spine in a loop, since sums may be long.
    fn sum_or_product(&self, expr: &Expr, text: &mut String) {
        let level = strength(expr);
        let mut chain = Vec::new();
        let mut first = expr;
        while let ExprKind::Binary(operator, left, right) = &first.kind {
            if strength(first) != level {
                break;
            }
            chain.push((*operator, implied(right, left)));
            first = implied(left, right);
        }
        self.expr(first, level, text);
        for (operator, right) in chain.into_iter().rev() {
            text.push_str(match operator {
                BinaryOp::Sub => " - ",
                BinaryOp::Mul => " * ",
                BinaryOp::Div => " / ",
                _ => " + ",
            });
            self.expr(right, level + 1, text);
        }
    }

    /// `min(min(a, b), c)` as `a, b, c`.
    fn chain(&self, expr: &Expr, operator: BinaryOp, text: &mut String) {
        let mut rest = Vec::new();
        let mut first = expr;
        while let ExprKind::Binary(found, left, right) = &first.kind {
            if *found != operator {
                break;
            }
            rest.push(implied(right, left));
            first = implied(left, right);
        }
        self.expr(first, SELECT, text);
        for operand in rest.into_iter().rev() {
            text.push_str(", ");
            self.expr(operand, SELECT, text);
        }
    }

    fn access(&self, access: &Access, text: &mut String) {
        text.push_str(&self.program.access_source(access));
    }

    fn condition(&self, condition: &Condition, least: u8, text: &mut String) {
        let strength = match condition {
            Condition::Compare(..) | Condition::Congruent(_) => COMPARE,
            Condition::And(..) => AND,
            Condition::Or(..) => OR,
            Condition::Not(_) => UNARY,
        };
        let parentheses = strength < least;
        if parentheses {
            text.push('(');
        }
        match condition {
            Condition::Compare(operator, left, right) => {
                let (first, second) = (implied(left, right), implied(right, left));
                // Of two weak sides, one says the type where it is not the widest.
                if is_weak(second) {
                    self.with_default(first, SUM, text)
                } else {
                    self.expr(first, SUM, text)
                }
                text.push_str(match operator {
                    CompareOp::Less => " < ",
                    CompareOp::LessEqual => " <= ",
                    CompareOp::Greater => " > ",
                    CompareOp::GreaterEqual => " >= ",
                    CompareOp::Equal => " == ",
                    CompareOp::NotEqual => " != ",
                });
                self.expr(second, SUM, text);
            }
            Condition::And(left, right) => {
                self.condition(left, AND, text);
                text.push_str(" && ");
                self.condition(right, AND + 1, text);
            }
            Condition::Or(left, right) => {
                self.condition(left, OR, text);
                text.push_str(" || ");
                self.condition(right, OR + 1, text);
            }
            Condition::Congruent(own) => text.push_str(&self.congruence(own)),
            Condition::Not(inner) => {
                text.push('!');
                self.condition(inner, UNARY, text);
            }
        }
        if parentheses {
            text.push(')');
        }
    }
}

impl Printer<'_> {
    /// `(i + 2 * j) % 3 == 1`
    fn congruence(&self, own: &Congruence) -> String {
        let indices = self.program.space_indices.iter().chain([&self.program.time_index]);
        let factors = own.space.iter().chain([&own.time]);
        let terms = indices.zip(factors).filter(|(_, factor)| **factor != 0);
        let terms: Vec<String> = terms
            .map(|(index, factor)| match factor {
                1 => index.clone(),
                factor => format!("{factor} * {index}"),
            })
            .collect();
        let sum = match &terms[..] {
            [one] if !one.contains('*') => one.clone(),
            terms => format!("({})", terms.join(" + ")),
        };
        format!("{sum} % {} == {}", own.modulus, own.residue)
    }
}

/// Whether the type of an expression is that of what it meets: it is made of numbers and parameters only.
fn is_weak(expr: &Expr) -> bool {
    let mut weak = true;
    // A conversion is not weak, whatever is in it; neither does a condition count.
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Parameter(_) => {}
            ExprKind::Local(_) | ExprKind::Read(_) | ExprKind::Series(..) | ExprKind::Cast(_) => weak = false,
            ExprKind::Negate(operand) | ExprKind::Call(_, operand) => stack.push(operand),
            ExprKind::Binary(_, left, right) | ExprKind::Select(_, left, right) => {
                stack.extend([&**left, &**right]);
            }
        }
    }
    weak
}

/// An operand without the conversion to f64 that follows from the operand beside it.
fn implied<'e>(expr: &'e Expr, beside: &Expr) -> &'e Expr {
    match &expr.kind {
        ExprKind::Cast(operand)
            if expr.element == ElementType::F64
                && operand.element == ElementType::F32
                && !is_weak(operand)
                && !matches!(beside.kind, ExprKind::Cast(_))
                && !is_weak(beside) =>
        {
            operand
        }
        _ => expr,
    }
}

fn strength(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Select(..) => SELECT,
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => SUM,
        ExprKind::Binary(BinaryOp::Mul | BinaryOp::Div, ..) => PRODUCT,
        ExprKind::Negate(_) => UNARY,
        ExprKind::Literal(value) if value.is_sign_negative() => UNARY,
        _ => PRIMARY,
    }
}

/// The shortest text that is read as this number.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value}") } else { format!("{value:?}") }
}

fn index(name: &str, offset: i64) -> String {
    match offset {
        0 => name.to_string(),
        _ => format!("{name}{offset:+}"),
    }
}
