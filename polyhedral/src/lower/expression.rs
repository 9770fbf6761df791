//! Values and conditions: from syntax to typed expressions.
//!
//! Literals and parameters are *weak*: they have no type until they meet a typed operand. A weak tree is
//! built with a provisional type and given its final one by [`Lowering::fix`], once.

use super::Lowering;
use super::names::{Symbol, functions};
use crate::ast::{self, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};
use crate::math::{Libm, Libm2};
use crate::program::{BinaryOp, Condition, ElementType, Expr, ExprKind, Function, LocalId};
use crate::source::Span;
use text_escape::suggest;

/// A lowered value.
pub(super) struct Value {
    pub expr: Expr,
    /// Whether its type is only provisional.
    pub weak: bool,
}

impl Value {
    fn weak(kind: ExprKind, span: Span) -> Value {
        Value { expr: Expr { kind, element: ElementType::F64, span }, weak: true }
    }

    fn typed(kind: ExprKind, element: ElementType, span: Span) -> Value {
        Value { expr: Expr { kind, element, span }, weak: false }
    }
}

impl Lowering<'_> {
    /// A value; `None` if it has a mistake, which has then been reported.
    pub(super) fn value(&mut self, expr: &ast::Expr) -> Option<Value> {
        // Chains `a + b + c` lean to the left and may be long: walk down, then combine upwards.
        let mut chain = Vec::new();
        let mut first = expr;
        while let ast::ExprKind::Binary(operator, left, right) = &first.kind {
            let operator = match operator {
                ast::BinaryOp::Add => BinaryOp::Add,
                ast::BinaryOp::Sub => BinaryOp::Sub,
                ast::BinaryOp::Mul => BinaryOp::Mul,
                ast::BinaryOp::Div => BinaryOp::Div,
                ast::BinaryOp::Rem | ast::BinaryOp::Compare(_) | ast::BinaryOp::And | ast::BinaryOp::Or => {
                    break;
                }
            };
            chain.push((operator, right, &first.span));
            first = left;
        }
        let mut value = self.operand(first);
        for (operator, right, span) in chain.into_iter().rev() {
            let right = self.value(right);
            value = match (value, right) {
                (Some(left), Some(right)) => Some(self.combine(operator, left, right, span)),
                _ => None,
            };
        }
        value
    }

    fn operand(&mut self, expr: &ast::Expr) -> Option<Value> {
        match &expr.kind {
            ast::ExprKind::Error => None,
            ast::ExprKind::Number { value, .. } => {
                Some(Value::weak(ExprKind::Literal(*value), expr.span.clone()))
            }
            ast::ExprKind::Name(name) => self.named(name, &expr.span),
            ast::ExprKind::Access(name, indices) => self.access(name, indices, &expr.span),
            ast::ExprKind::Call(name, arguments) => self.call(name, arguments, &expr.span),
            ast::ExprKind::Unary(UnaryOp::Plus, operand) => self.value(operand),
            ast::ExprKind::Unary(UnaryOp::Minus, operand) => Some(negate(self.value(operand)?, &expr.span)),
            ast::ExprKind::Select(condition, then, otherwise) => {
                let condition = self.condition(condition);
                let (then, otherwise) = (self.value(then), self.value(otherwise));
                Some(self.select(condition?, then?, otherwise?, &expr.span))
            }
            ast::ExprKind::Binary(ast::BinaryOp::Rem, ..) => {
                self.remainder_as_value(&expr.span);
                None
            }
            ast::ExprKind::Unary(UnaryOp::Not, _) | ast::ExprKind::Binary(..) => {
                self.report(
                    Diagnostic::error(
                        Code::CONDITION_AS_VALUE,
                        expr.span.clone(),
                        "a condition is not a number",
                    )
                    .label("a number is needed here")
                    .hint("choose between two numbers with `condition ? a : b`"),
                );
                None
            }
        }
    }

    #[inline(never)]
    fn combine(&mut self, operator: BinaryOp, mut left: Value, mut right: Value, span: &Span) -> Value {
        let weak = self.unify(&mut left, &mut right);
        let element = left.expr.element;
        let kind = ExprKind::Binary(operator, Box::new(left.expr), Box::new(right.expr));
        Value { expr: Expr { kind, element, span: span.clone() }, weak }
    }

    #[inline(never)]
    fn select(&mut self, condition: Condition, mut then: Value, mut otherwise: Value, span: &Span) -> Value {
        let weak = self.unify(&mut then, &mut otherwise);
        let element = then.expr.element;
        let kind = ExprKind::Select(Box::new(condition), Box::new(then.expr), Box::new(otherwise.expr));
        Value { expr: Expr { kind, element, span: span.clone() }, weak }
    }

    /// Gives two operands one type; true if both are weak.
    fn unify(&mut self, left: &mut Value, right: &mut Value) -> bool {
        match (left.weak, right.weak) {
            (true, true) => return true,
            (true, false) => self.fix(&mut left.expr, right.expr.element),
            (false, true) => self.fix(&mut right.expr, left.expr.element),
            (false, false) => {
                let element = left.expr.element.max(right.expr.element);
                cast(&mut left.expr, element);
                cast(&mut right.expr, element);
            }
        }
        left.weak = false;
        right.weak = false;
        false
    }

    /// The value with this type: a weak one takes it, another is converted.
    pub(super) fn with_type(&mut self, mut value: Value, element: ElementType) -> Expr {
        if value.weak {
            self.fix(&mut value.expr, element);
        } else {
            cast(&mut value.expr, element);
        }
        value.expr
    }

    /// Gives a weak tree its final type. The conditions in it have theirs already.
    fn fix(&mut self, expr: &mut Expr, element: ElementType) {
        let mut expr = expr;
        loop {
            expr.element = element;
            match &mut expr.kind {
                ExprKind::Literal(value) => {
                    let value = *value;
                    return self.check_literal(value, element, &expr.span, None);
                }
                ExprKind::Parameter(id) => {
                    let id = id.0;
                    let value = self.parameters[id].default;
                    return self.check_literal(value, element, &expr.span, Some(id));
                }
                ExprKind::Local(_) | ExprKind::Read(_) | ExprKind::Series(..) | ExprKind::Cast(_) => return,
                ExprKind::Negate(operand) | ExprKind::Call(_, operand) => expr = operand,
                ExprKind::Binary(_, left, right) | ExprKind::Select(_, left, right) => {
                    self.fix(right, element);
                    expr = left;
                }
            }
        }
    }

    fn check_literal(&mut self, value: f64, element: ElementType, span: &Span, parameter: Option<usize>) {
        let single = value as f32;
        let lost = single.is_infinite() || (single == 0.0 && value != 0.0);
        if element != ElementType::F32 || !lost {
            return;
        }
        let size = if single == 0.0 { "small" } else { "large" };
        let mut diagnostic = Diagnostic::error(
            Code::LITERAL_NOT_F32,
            span.clone(),
            format!("{value:e} is too {size} for f32"),
        )
        .label("this takes the type f32 from the operand it meets")
        .note("f32 reaches from about 1.4e-45 to 3.4e38");
        if let Some(parameter) = parameter {
            // Once a parameter is enough.
            if !self.reported_parameters.insert(parameter) {
                return;
            }
            diagnostic = diagnostic.related(self.parameters[parameter].span.clone(), "its default value");
        }
        self.report(diagnostic);
    }

    fn named(&mut self, name: &str, span: &Span) -> Option<Value> {
        match self.names.get(name) {
            Some(Symbol::Parameter(id)) => {
                let known = !self.broken_parameters.contains(&id.0);
                known.then(|| Value::weak(ExprKind::Parameter(id), span.clone()))
            }
            Some(Symbol::Let(number)) => self.local(name, number, span),
            Some(Symbol::Field(id)) => {
                let point = self.point(id, None);
                self.report(
                    Diagnostic::error(
                        Code::FIELD_WITHOUT_INDEX,
                        span.clone(),
                        format!("the field `{name}` is used without indices"),
                    )
                    .related(self.names.span(name), "declared here")
                    .hint(format!("write `{point}` for its value at the present point")),
                );
                None
            }
            Some(Symbol::Series(_)) => {
                let hint = format!("write `{name}[{}]` for its value at the present time", self.time);
                let message = format!("the series `{name}` is used without an index");
                self.report(
                    Diagnostic::error(Code::FIELD_WITHOUT_INDEX, span.clone(), message)
                        .related(self.names.span(name), "declared here")
                        .hint(hint),
                );
                None
            }
            Some(Symbol::Time | Symbol::Space(_)) => {
                self.report(
                    Diagnostic::limitation(
                        Code::INDEX_AS_VALUE,
                        span.clone(),
                        format!("the index `{name}` cannot be used as a value"),
                    )
                    .note("indices stand in `[...]`, and in front of `%` in conditions: `(i + j) % 2 == 0 ? a : b`")
                    .hint("give values that vary over the grid as a `coefficient`"),
                );
                None
            }
            None => {
                let hint =
                    self.names.suggest(name, |symbol| !matches!(symbol, Symbol::Time | Symbol::Space(_)));
                self.unknown(name, span, hint);
                None
            }
        }
    }

    fn local(&mut self, name: &str, number: usize, span: &Span) -> Option<Value> {
        match self.lets.get(number) {
            Some(local) => {
                let element = local.value.as_ref()?.element;
                self.used_lets.push(number);
                Some(Value::typed(ExprKind::Local(LocalId(number)), element, span.clone()))
            }
            None => {
                let message = format!("`{name}` is used before its `let`");
                let diagnostic = Diagnostic::error(Code::USED_BEFORE_LET, span.clone(), message)
                    .related(self.names.span(name), "it is defined here")
                    .hint(format!("move `let {name} = ...;` up"));
                self.report(diagnostic);
                None
            }
        }
    }

    /// Reports a name that is not declared, once.
    pub(super) fn unknown(&mut self, name: &str, span: &Span, hint: Option<String>) {
        if self.incomplete || !self.reported_names.insert(name.to_string()) {
            return;
        }
        let message = format!("`{name}` is not declared");
        let diagnostic = Diagnostic::error(Code::UNKNOWN_NAME, span.clone(), message)
            .label("unknown name")
            .maybe_hint(hint);
        self.report(diagnostic);
    }

    fn call(&mut self, name: &ast::Name, arguments: &[ast::Expr], span: &Span) -> Option<Value> {
        let values: Vec<Option<Value>> = arguments.iter().map(|argument| self.value(argument)).collect();
        let function = match name.text.as_str() {
            "min" => return self.fold(BinaryOp::Min, name, values, span),
            "max" => return self.fold(BinaryOp::Max, name, values, span),
            "sqrt" => Function::Sqrt,
            "exp" => Function::Exp,
            "abs" => Function::Abs,
            "f32" => return self.conversion(ElementType::F32, name, values, span),
            "f64" => return self.conversion(ElementType::F64, name, values, span),
            other => match (Libm::by_name(other), Libm2::by_name(other)) {
                (Some(function), _) => Function::Libm(function),
                (_, Some(function)) => return self.of_two(function, name, values, span),
                _ => {
                    self.unknown_function(name, span);
                    return None;
                }
            },
        };
        if values.len() != 1 {
            self.argument_count(name, "one argument", values.len(), span);
            return None;
        }
        let operand = values.into_iter().next()??;
        let element = operand.expr.element;
        let kind = ExprKind::Call(function, Box::new(operand.expr));
        Some(Value { expr: Expr { kind, element, span: span.clone() }, weak: operand.weak })
    }

    fn fold(
        &mut self,
        operator: BinaryOp,
        name: &ast::Name,
        values: Vec<Option<Value>>,
        span: &Span,
    ) -> Option<Value> {
        if values.len() < 2 {
            self.argument_count(name, "two or more arguments", values.len(), span);
            return None;
        }
        let mut values = values.into_iter().collect::<Option<Vec<Value>>>()?.into_iter();
        let first = values.next()?;
        Some(values.fold(first, |left, right| self.combine(operator, left, right, span)))
    }

    /// A function of two arguments of the C library.
    fn of_two(
        &mut self,
        function: Libm2,
        name: &ast::Name,
        values: Vec<Option<Value>>,
        span: &Span,
    ) -> Option<Value> {
        if values.len() != 2 {
            self.argument_count(name, "two arguments", values.len(), span);
            return None;
        }
        let mut values = values.into_iter().collect::<Option<Vec<Value>>>()?.into_iter();
        let (mut left, mut right) = (values.next()?, values.next()?);
        if function == Libm2::Pow {
            let weak = self.unify(&mut left, &mut right);
            return Some(Value { expr: Expr::power(left.expr, right.expr, span.clone()), weak });
        }
        Some(self.combine(BinaryOp::Libm(function), left, right, span))
    }

    /// `f32(x)` or `f64(x)`: the value rounded to the type, which it then has.
    fn conversion(
        &mut self,
        element: ElementType,
        name: &ast::Name,
        values: Vec<Option<Value>>,
        span: &Span,
    ) -> Option<Value> {
        if values.len() != 1 {
            self.argument_count(name, "one argument", values.len(), span);
            return None;
        }
        let value = values.into_iter().next()??;
        Some(Value { expr: self.with_type(value, element), weak: false })
    }

    fn argument_count(&mut self, name: &ast::Name, wanted: &str, found: usize, span: &Span) {
        let message = format!("`{}` takes {wanted}, found {found}", name.text);
        self.report(Diagnostic::error(Code::ARGUMENT_COUNT, span.clone(), message));
    }

    fn unknown_function(&mut self, name: &ast::Name, span: &Span) {
        if !self.reported_names.insert(name.text.clone()) {
            return;
        }
        let message = match self.names.get(&name.text) {
            Some(symbol) => format!("`{}` is {}, not a function", name.text, symbol.describe()),
            None => format!("there is no function `{}`", name.text),
        };
        let hint = match name.text.as_str() {
            "fabs" | "fabsf" | "absf" => Some("did you mean `abs`?".to_string()),
            "sqrtf" => Some("did you mean `sqrt`?".to_string()),
            "expf" => Some("did you mean `exp`, or `libm_exp` for that of the C library?".to_string()),
            "float" => Some("a conversion is written `f32(x)`".to_string()),
            "double" => Some("a conversion is written `f64(x)`".to_string()),
            other if Libm::by_c_name(other).is_some() || Libm2::by_c_name(other).is_some() => {
                Some("the function for f32 has the same name as that for f64".to_string())
            }
            other => match self.names.get(other) {
                Some(Symbol::Field(id)) => Some(format!("write `{}`", self.point(id, None))),
                Some(_) => Some("is an operator such as `*` missing?".to_string()),
                None => suggest::hint(other, functions()),
            },
        };
        let diagnostic = Diagnostic::error(Code::UNKNOWN_FUNCTION, span.clone(), message)
            .note("the functions are sqrt, exp, abs, min, max, f32, f64, and those of the C library")
            .maybe_hint(hint);
        self.report(diagnostic);
    }

    fn condition(&mut self, expr: &ast::Expr) -> Option<Condition> {
        match &expr.kind {
            ast::ExprKind::Error => None,
            ast::ExprKind::Binary(ast::BinaryOp::Compare(operator), left, right) => {
                let chained = |side: &ast::Expr| {
                    matches!(side.kind, ast::ExprKind::Binary(ast::BinaryOp::Compare(_), ..))
                };
                if chained(left) || chained(right) {
                    self.report(
                        Diagnostic::error(
                            Code::CONDITION_AS_VALUE,
                            expr.span.clone(),
                            "comparisons cannot be chained",
                        )
                        .hint("write `a < b && b < c`"),
                    );
                    return None;
                }
                if Self::is_congruence(left, right) {
                    return self.congruence(*operator, left, right, &expr.span);
                }
                let (left, right) = (self.value(left), self.value(right));
                let (mut left, mut right) = (left?, right?);
                if self.unify(&mut left, &mut right) {
                    let element = self.default_type();
                    self.fix(&mut left.expr, element);
                    self.fix(&mut right.expr, element);
                }
                Some(Condition::Compare(*operator, left.expr, right.expr))
            }
            ast::ExprKind::Binary(operator @ (ast::BinaryOp::And | ast::BinaryOp::Or), ..) => {
                self.connected(*operator, expr)
            }
            ast::ExprKind::Unary(UnaryOp::Not, operand) => {
                Some(Condition::Not(Box::new(self.condition(operand)?)))
            }
            _ => {
                self.report(
                    Diagnostic::error(
                        Code::VALUE_AS_CONDITION,
                        expr.span.clone(),
                        "a number is not a condition",
                    )
                    .label("a condition is needed here")
                    .hint("compare it, for example `x > 0`"),
                );
                None
            }
        }
    }

    /// A chain `a && b && ...` or `a || b || ...`, which leans to the left.
    fn connected(&mut self, operator: ast::BinaryOp, expr: &ast::Expr) -> Option<Condition> {
        let mut chain = Vec::new();
        let mut first = expr;
        while let ast::ExprKind::Binary(found, left, right) = &first.kind {
            if *found != operator {
                break;
            }
            chain.push(right);
            first = left;
        }
        let mut condition = self.condition(first);
        for right in chain.into_iter().rev() {
            let right = self.condition(right);
            condition = match (condition, right) {
                (Some(left), Some(right)) if operator == ast::BinaryOp::And => {
                    Some(Condition::And(Box::new(left), Box::new(right)))
                }
                (Some(left), Some(right)) => Some(Condition::Or(Box::new(left), Box::new(right))),
                _ => None,
            };
        }
        condition
    }
}

/// `-x`; the sign of a literal is part of it.
fn negate(operand: Value, span: &Span) -> Value {
    let Value { expr, weak } = operand;
    let element = expr.element;
    let kind = match expr.kind {
        ExprKind::Literal(value) => ExprKind::Literal(-value),
        _ => ExprKind::Negate(Box::new(expr)),
    };
    Value { expr: Expr { kind, element, span: span.clone() }, weak }
}

/// Converts a typed value.
fn cast(expr: &mut Expr, element: ElementType) {
    if expr.element == element {
        return;
    }
    let span = expr.span.clone();
    let hole = Expr { kind: ExprKind::Literal(0.0), element, span: span.clone() };
    let operand = std::mem::replace(expr, hole);
    *expr = Expr { kind: ExprKind::Cast(Box::new(operand)), element, span };
}
