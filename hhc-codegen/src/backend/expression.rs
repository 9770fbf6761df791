//! Statement values as C text. The text keeps the tree: same operations, same order, same rounding, in
//! every back end.

use super::names::Names;
use polyhedral::program::{
    Access, BinaryOp, CompareOp, Condition, ElementType, Expr, ExprKind, Function, Program, SeriesId,
    Statement,
};
use std::collections::BTreeSet;

/// Where an expression is printed.
pub struct ExpressionPrinter<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its names.
    pub names: &'a Names,
    /// Index of the statement.
    pub statement: usize,
    /// Which copy of an unrolled loop; `None` where the loop is not unrolled.
    pub copy: Option<usize>,
    /// How a read is written.
    pub read: &'a dyn Fn(&Access) -> String,
}

impl ExpressionPrinter<'_> {
    /// The statement's locals as C declarations.
    pub fn locals(&self) -> Vec<String> {
        let statement = &self.program.statements[self.statement];
        statement
            .locals
            .iter()
            .enumerate()
            .map(|(index, local)| {
                let name = self.names.local(self.statement, polyhedral::program::LocalId(index), self.copy);
                format!("const {} {name} = {};", local.value.element.c_name(), self.print(&local.value))
            })
            .collect()
    }

    /// The statement's value.
    pub fn value(&self) -> String {
        self.print(&self.program.statements[self.statement].value)
    }

    fn print(&self, expr: &Expr) -> String {
        self.print_at(expr, 0)
    }

    /// `level`: 0 anywhere, 1 right operand of a sum, 2 factor, 3 right operand of a product or operand of a unary.
    fn print_at(&self, expr: &Expr, level: u8) -> String {
        let parenthesise = |text: String, needed: bool| if needed { format!("({text})") } else { text };
        let single = expr.element == ElementType::F32;
        match &expr.kind {
            ExprKind::Literal(value) => {
                parenthesise(literal(*value, expr.element), value.is_sign_negative() && level > 0)
            }
            ExprKind::Parameter(id) if single => self.names.parameter_f32(*id),
            ExprKind::Parameter(id) => self.names.parameters[id.0].clone(),
            ExprKind::Local(id) => self.names.local(self.statement, *id, self.copy),
            ExprKind::Read(access) => (self.read)(access),
            ExprKind::Series(id, offset) => self.names.series_value(*id, *offset),
            ExprKind::Negate(operand) => parenthesise(format!("-{}", self.print_at(operand, 3)), level > 0),
            ExprKind::Binary(BinaryOp::Min, a, b) => self.call(single, "min", &[a, b]),
            ExprKind::Binary(BinaryOp::Max, a, b) => self.call(single, "max", &[a, b]),
            ExprKind::Binary(BinaryOp::Libm(function), a, b) => {
                let name = if single { function.c_name_single() } else { function.c_name() };
                format!("{name}({}, {})", self.print(a), self.print(b))
            }
            ExprKind::Binary(operator, a, b) => {
                let (symbol, own) = match operator {
                    BinaryOp::Add => ("+", 0),
                    BinaryOp::Sub => ("-", 0),
                    BinaryOp::Mul => ("*", 2),
                    _ => ("/", 2),
                };
                let text = format!("{} {symbol} {}", self.print_at(a, own), self.print_at(b, own + 1));
                parenthesise(text, level > own)
            }
            ExprKind::Call(function, operand) => {
                let name = match (function, single) {
                    (Function::Sqrt, true) => "sqrtf",
                    (Function::Sqrt, false) => "sqrt",
                    (Function::Abs, true) => "fabsf",
                    (Function::Abs, false) => "fabs",
                    (Function::Square, true) => "tw_square_f32",
                    (Function::Square, false) => "tw_square_f64",
                    (Function::Exp, true) => "tw_expf",
                    (Function::Exp, false) => "tw_exp",
                    (Function::Libm(function), true) => function.c_name_single(),
                    (Function::Libm(function), false) => function.c_name(),
                };
                format!("{name}({})", self.print(operand))
            }
            ExprKind::Select(condition, then, otherwise) => {
                let text = format!(
                    "{} ? {} : {}",
                    self.condition(condition),
                    self.print_at(then, 3),
                    self.print_at(otherwise, 3)
                );
                format!("({text})")
            }
            ExprKind::Cast(operand) => format!("({})({})", expr.element.c_name(), self.print(operand)),
        }
    }

    fn call(&self, single: bool, name: &str, operands: &[&Expr]) -> String {
        let operands: Vec<String> = operands.iter().map(|operand| self.print(operand)).collect();
        format!("tw_{name}_{}({})", if single { "f32" } else { "f64" }, operands.join(", "))
    }

    fn condition(&self, condition: &Condition) -> String {
        match condition {
            Condition::Compare(operator, a, b) => {
                let symbol = match operator {
                    CompareOp::Less => "<",
                    CompareOp::LessEqual => "<=",
                    CompareOp::Greater => ">",
                    CompareOp::GreaterEqual => ">=",
                    CompareOp::Equal => "==",
                    CompareOp::NotEqual => "!=",
                };
                format!("({} {symbol} {})", self.print_at(a, 0), self.print_at(b, 0))
            }
            Condition::And(a, b) => format!("({} && {})", self.condition(a), self.condition(b)),
            Condition::Or(a, b) => format!("({} || {})", self.condition(a), self.condition(b)),
            Condition::Not(a) => format!("!{}", self.condition(a)),
        }
    }
}

/// A literal that reads back as exactly this value, rounded to the type.
pub fn literal(value: f64, element: ElementType) -> String {
    match element {
        ElementType::F32 => {
            let rounded = value as f32;
            match rounded.is_infinite() {
                true if rounded > 0.0 => "(1.0f/0.0f)".to_string(),
                true => "(-1.0f/0.0f)".to_string(),
                false => format!("{rounded:?}f"),
            }
        }
        ElementType::F64 => format!("{value:?}"),
    }
}

/// The values of series that a statement uses: series and offset.
pub fn series_used(statement: &Statement) -> BTreeSet<(SeriesId, i64)> {
    let mut used = BTreeSet::new();
    for value in statement.locals.iter().map(|local| &local.value).chain([&statement.value]) {
        value.walk(|expr| {
            if let ExprKind::Series(id, offset) = expr.kind {
                used.insert((id, offset));
            }
        });
    }
    used
}

/// The element of a series, as `time + 1`: what is added to the time step for its value at an offset.
pub fn series_element(program: &Program, time: &str, (series, offset): (SeriesId, i64)) -> String {
    match offset - program.series[series.0].first {
        0 => time.to_string(),
        shift => format!("{time} + {shift}"),
    }
}

/// Parameters that a statement uses with this type.
pub fn parameters_used_as(statement: &Statement, element: ElementType) -> BTreeSet<usize> {
    let mut used = BTreeSet::new();
    for value in statement.locals.iter().map(|local| &local.value).chain([&statement.value]) {
        value.walk(|expr| {
            if let ExprKind::Parameter(id) = expr.kind
                && expr.element == element
            {
                used.insert(id.0);
            }
        });
    }
    used
}
