//! Functions, and calls of them: each is checked with the types of its operands.

use super::checker::{Binding, Checked, Checker, Defined, Reported, Scope};
use super::expression::Value;
use crate::ast::{self, Binary, ExprKind, Name};
use crate::codes;
use crate::program::{Builtin, Expr, Function, Kind, Literal, Math, Operator, Role, Scalar, Type};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::rc::Rc;

impl Checker<'_> {
    /// A function of the text, to be checked where it is called.
    pub fn define(&mut self, written: &ast::Expr, scope: &Scope) -> Checked<Rc<Defined>> {
        match &written.kind {
            ExprKind::Function { associative, parameters, body } => Ok(Rc::new(Defined {
                associative: *associative,
                parameters: parameters.clone(),
                body: (**body).clone(),
                scope: scope.clone(),
                span: written.span.clone(),
            })),
            _ => Err(Reported),
        }
    }

    /// What is handed to an operator as its function, with operands of these types.
    pub fn function(&mut self, written: &ast::Expr, types: &[Type], scope: &Scope) -> Checked<Function> {
        let builtin = match &written.kind {
            ExprKind::Operator(symbol) => match symbol {
                Binary::Add => Some(Builtin::Add),
                Binary::Multiply => Some(Builtin::Multiply),
                Binary::And => Some(Builtin::And),
                _ => Some(Builtin::Or),
            },
            ExprKind::Name(name) => match Math::named(name) {
                Some(Math::Min) => Some(Builtin::Min),
                Some(Math::Max) => Some(Builtin::Max),
                Some(math) => return self.applied(math, types, &written.span),
                None => None,
            },
            _ => None,
        };
        if let Some(builtin) = builtin {
            return self.operator(builtin, types, &written.span);
        }
        let defined = match &written.kind {
            ExprKind::Function { .. } => self.define(written, scope)?,
            ExprKind::Name(name) => match self.look_up(name, &written.span, scope)? {
                Binding::Function(defined) => defined,
                _ => return self.no_function(&written.span),
            },
            _ => return self.no_function(&written.span),
        };
        if defined.parameters.len() != types.len() {
            let (has, needs) = (defined.parameters.len(), types.len());
            let message = format!("this function has {has} parameters, but is called with {needs} operands");
            let diagnostic = Diagnostic::error(codes::ARGUMENT_COUNT, written.span.clone(), message);
            let hint = "components of a tuple are named in parentheses: `|(a, b)| a + b`";
            return Err(self.report(diagnostic.hint(hint)));
        }
        let parameters: Vec<usize> = types
            .iter()
            .zip(&defined.parameters)
            .map(|(ty, pattern)| self.declare("parameter", ty.clone(), &pattern.span(), Role::Local))
            .collect();
        let mut inner = defined.scope.clone();
        let mut lets = Vec::new();
        for (pattern, variable) in defined.parameters.iter().zip(&parameters) {
            let (with, more) = self.bind(pattern, *variable, &inner)?;
            inner = with;
            lets.extend(more);
        }
        let body = self.expr(&defined.body, &inner)?;
        let body = Box::new(self.within(lets, body)?);
        Ok(Function { parameters, body, associative: defined.associative, builtin: None })
    }

    pub(super) fn no_function<T>(&mut self, span: &Span) -> Checked<T> {
        let hint = "functions are `|a, b| a + b`, names of functions, `+`, `*`, `&&`, `||`, `min` and `max`";
        self.error(codes::VALUE_AS_FUNCTION, span, "a function is needed here", hint)
    }

    /// A function of numbers where a function stands, as in `map(sqrt, s)`.
    pub(super) fn applied(&mut self, math: Math, types: &[Type], span: &Span) -> Checked<Function> {
        let parameters: Vec<usize> =
            types.iter().map(|ty| self.declare("operand", ty.clone(), span, Role::Local)).collect();
        let mut values = Vec::new();
        for parameter in &parameters {
            values.push(Value { expr: self.used(*parameter, span)?, weak: false });
        }
        let body = Box::new(self.math(math, values, span)?);
        Ok(Function { parameters, body, associative: false, builtin: None })
    }

    /// An operator of the language where a function stands.
    pub(super) fn operator(&mut self, builtin: Builtin, types: &[Type], span: &Span) -> Checked<Function> {
        let [left, right] = types else {
            let message = format!("this operator has 2 operands, but is called with {}", types.len());
            return self.error(codes::ARGUMENT_COUNT, span, message, "");
        };
        let parameters = vec![
            self.declare("left", left.clone(), span, Role::Local),
            self.declare("right", right.clone(), span, Role::Local),
        ];
        let values = (self.used(parameters[0], span)?, self.used(parameters[1], span)?);
        let (left, right) = (Value { expr: values.0, weak: false }, Value { expr: values.1, weak: false });
        let body = match builtin {
            Builtin::Add => self.binary(Binary::Add, left, right, span)?.expr,
            Builtin::Multiply => self.binary(Binary::Multiply, left, right, span)?.expr,
            Builtin::And => self.binary(Binary::And, left, right, span)?.expr,
            Builtin::Or => self.binary(Binary::Or, left, right, span)?.expr,
            Builtin::Min => self.math(Math::Min, vec![left, right], span)?,
            Builtin::Max => self.math(Math::Max, vec![left, right], span)?,
        };
        Ok(Function { parameters, body: Box::new(body), associative: true, builtin: Some(builtin) })
    }

    /// A function of numbers with its operands.
    pub fn math(&mut self, math: Math, mut values: Vec<Value>, span: &Span) -> Checked<Expr> {
        if values.len() != math.arguments() {
            let message =
                format!("`{}` takes {} operands, not {}", math.name(), math.arguments(), values.len());
            return self.error(codes::ARGUMENT_COUNT, span, message, "");
        }
        let operands = match (values.pop(), values.pop()) {
            (Some(right), Some(left)) => {
                let (left, right) = self.meet(left, right, span)?;
                vec![left, right]
            }
            (Some(one), None) => vec![one.expr],
            _ => Vec::new(),
        };
        let scalar = operands.first().and_then(|operand| operand.ty.scalar());
        let fits = |scalar: &Scalar| scalar.is_float() || scalar.is_integer() && math.takes_integers();
        let Some(scalar) = scalar.filter(fits) else {
            let ty = operands.first().map(|operand| operand.ty.to_string()).unwrap_or_default();
            let message = format!("`{}` does not take a value of type {ty}", math.name());
            let hint = if ty.starts_with('[') {
                "use `map` for the elements of a sequence"
            } else {
                "`f64(..)` converts"
            };
            return self.error(codes::NOT_A_NUMBER, span, message, hint);
        };
        self.make(Kind::Math(math, operands), Type::Scalar(scalar), span)
    }

    /// A call by name.
    pub(super) fn call(
        &mut self,
        name: &Name,
        arguments: &[ast::Expr],
        span: &Span,
        scope: &Scope,
    ) -> Checked<Expr> {
        let text = name.text.as_str();
        if let Some(operator) = Operator::named(text) {
            return self.apply(operator, arguments, span, scope);
        }
        if let Some(math) = Math::named(text) {
            let values: Vec<Checked<Value>> =
                arguments.iter().map(|argument| self.value(argument, scope)).collect();
            return self.math(math, values.into_iter().collect::<Checked<Vec<Value>>>()?, span);
        }
        let one = |checker: &mut Self| match arguments {
            [one] => Ok(one),
            _ => checker.error(
                codes::ARGUMENT_COUNT,
                span,
                format!("`{text}` takes one operand, not {}", arguments.len()),
                "",
            ),
        };
        if let Some(scalar) = Scalar::named(text).filter(|scalar| *scalar != Scalar::Bool) {
            let argument = one(self)?;
            let Value { expr, weak } = self.value(argument, scope)?;
            return match (&expr.kind, &expr.ty) {
                (Kind::Literal(literal @ Literal::I64(_)), _) if weak => {
                    self.number(*literal, scalar, span, "this")
                }
                (Kind::Literal(literal), _) if weak && scalar.is_float() => {
                    self.number(*literal, scalar, span, "this")
                }
                (_, Type::Scalar(from)) if *from != Scalar::Bool => {
                    self.make(Kind::Convert(Box::new(expr)), Type::Scalar(scalar), span)
                }
                (_, ty) => {
                    let message = format!("a value of type {ty} cannot be converted");
                    self.error(
                        codes::NOT_A_NUMBER,
                        span,
                        message,
                        "numbers are converted; of a condition, write `c ? 1 : 0`",
                    )
                }
            };
        }
        match text {
            "len" => {
                let argument = one(self)?;
                let sequence = self.sequence(argument, "the operand of `len`", scope)?;
                self.make(Kind::Length(Box::new(sequence)), Type::Scalar(Scalar::I64), span)
            }
            "dot" => self.dot(arguments, span, scope),
            _ => self.defined(name, arguments, span, scope),
        }
    }

    /// The sum of the products of two vectors' components, from the left.
    pub(super) fn dot(&mut self, arguments: &[ast::Expr], span: &Span, scope: &Scope) -> Checked<Expr> {
        let [left, right] = arguments else {
            let message = format!("`dot` takes two operands, not {}", arguments.len());
            return self.error(codes::ARGUMENT_COUNT, span, message, "");
        };
        let (left, right) = (self.value(left, scope), self.value(right, scope));
        let product = self.binary(Binary::Multiply, left?, right?, span)?.expr;
        let Type::Vector(scalar, count) = product.ty else {
            let message = format!("`dot` takes vectors, and this is of type {}", product.ty);
            return self.error(
                codes::NOT_A_NUMBER,
                span,
                message,
                "of sequences, write `reduce(+, map(|a, b| a * b, s, t), 0.0)`",
            );
        };
        let whole = self.declare("products", product.ty.clone(), span, Role::Local);
        let mut sum: Option<Expr> = None;
        for place in 0..count {
            let used = self.used(whole, span)?;
            let part = self.make(Kind::Component(Box::new(used), place), Type::Scalar(scalar), span)?;
            sum = Some(match sum {
                None => part,
                Some(sum) => self.make(
                    Kind::Binary(Binary::Add, Box::new(sum), Box::new(part)),
                    Type::Scalar(scalar),
                    span,
                )?,
            });
        }
        match sum {
            Some(sum) => self.within(vec![(whole, product)], sum),
            None => Err(Reported),
        }
    }

    /// The function that is handed to a function of the user; none where a value is.
    pub(super) fn function_of(&mut self, written: &ast::Expr, scope: &Scope) -> Checked<Option<Rc<Defined>>> {
        match &written.kind {
            ExprKind::Function { .. } => self.define(written, scope).map(Some),
            ExprKind::Name(name) => match scope.find(name) {
                Some(Binding::Function(defined)) => Ok(Some(defined)),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// A call of a function of the user.
    pub(super) fn defined(
        &mut self,
        name: &Name,
        arguments: &[ast::Expr],
        span: &Span,
        scope: &Scope,
    ) -> Checked<Expr> {
        if scope.find(&name.text).is_none() {
            let names = Operator::ALL.iter().map(|operator| operator.name());
            let names = names.chain(Math::ALL.iter().map(|math| math.name())).chain(["len", "dot"]);
            let hint = match text_escape::suggest::nearest(&name.text, names) {
                Some(close) => format!("did you mean `{close}`?"),
                None => "functions are named by `let f = |a| ..;` above".to_owned(),
            };
            let short: String = name.text.chars().take(40).collect();
            return self.error(codes::NOT_A_FUNCTION, &name.span, format!("`{short}` is no function"), hint);
        }
        let Binding::Function(defined) = self.look_up(&name.text, &name.span, scope)? else {
            let hint = format!("an element of a sequence is written `{}[i]`", name.text);
            return self.error(
                codes::NOT_A_FUNCTION,
                &name.span,
                format!("`{}` is a value, not a function", name.text),
                hint,
            );
        };
        if defined.parameters.len() != arguments.len() {
            let message = format!(
                "`{}` takes {} operands, not {}",
                name.text,
                defined.parameters.len(),
                arguments.len()
            );
            let diagnostic = Diagnostic::error(codes::ARGUMENT_COUNT, span.clone(), message);
            return Err(self.report(diagnostic.related(defined.span.clone(), "declared here")));
        }
        let mut inner = defined.scope.clone();
        let mut lets = Vec::new();
        for (pattern, argument) in defined.parameters.iter().zip(arguments) {
            if let (ast::Pattern::Name(name), Some(own)) = (pattern, self.function_of(argument, scope)?) {
                self.free(name)?;
                inner = inner.with(&name.text, Binding::Function(own));
                continue;
            }
            let value = self.expr(argument, scope)?;
            let variable = self.declare("operand", value.ty.clone(), &pattern.span(), Role::Local);
            lets.push((variable, value));
            let (with, more) = self.bind(pattern, variable, &inner)?;
            inner = with;
            lets.extend(more);
        }
        let body = self.expr(&defined.body, &inner)?;
        self.within(lets, body)
    }
}
