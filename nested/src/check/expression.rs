//! Types of expressions.

use super::checker::{Binding, Checked, Checker, Scope};
use crate::ast::{self, Binary, ExprKind, Unary};
use crate::codes;
use crate::program::{Expr, Kind, Literal, Role, Scalar, Type};
use polyhedral::source::Span;

/// An expression, and whether it is a number without a type of its own.
pub struct Value {
    /// The expression; a number without a type of its own is an i64 or f64.
    pub expr: Expr,
    /// Whether it takes the type that it meets.
    pub weak: bool,
}

impl Checker<'_> {
    /// An expression of any type.
    pub fn expr(&mut self, written: &ast::Expr, scope: &Scope) -> Checked<Expr> {
        Ok(self.value(written, scope)?.expr)
    }

    /// An expression of this type; numbers take it, and narrower ones are converted.
    pub fn expr_of(
        &mut self,
        written: &ast::Expr,
        wanted: &Type,
        what: &str,
        scope: &Scope,
    ) -> Checked<Expr> {
        let value = self.value(written, scope)?;
        self.coerce(value, wanted, what)
    }

    /// The value in another type, where that is the same or wider.
    pub fn coerce(&mut self, value: Value, wanted: &Type, what: &str) -> Checked<Expr> {
        let Value { expr, weak } = value;
        if expr.ty == *wanted {
            return Ok(expr);
        }
        let span = expr.span.clone();
        match (&expr.kind, &expr.ty, wanted) {
            (Kind::Literal(literal), _, Type::Scalar(to)) if weak => {
                let literal = *literal;
                return self.number(literal, *to, &span, what);
            }
            (Kind::Make(parts), Type::Tuple(_) | Type::Vector(..), Type::Tuple(_) | Type::Vector(..)) => {
                let types = wanted.components().unwrap_or_default();
                if types.len() == parts.len()
                    && matches!(expr.ty, Type::Tuple(_)) == matches!(wanted, Type::Tuple(_))
                {
                    let mut made = Vec::new();
                    for (part, ty) in parts.iter().zip(&types) {
                        let weak = matches!(part.kind, Kind::Literal(_)) && weak;
                        made.push(self.coerce(Value { expr: part.clone(), weak }, ty, what)?);
                    }
                    return self.make(Kind::Make(made), wanted.clone(), &span);
                }
            }
            (_, Type::Scalar(from), Type::Scalar(to)) if wider(*from, *to) == Some(*to) => {
                return self.make(Kind::Convert(Box::new(expr)), wanted.clone(), &span);
            }
            _ => {}
        }
        let hint = match (&expr.ty, wanted) {
            (Type::Scalar(from), Type::Scalar(to)) if *from != Scalar::Bool && *to != Scalar::Bool => {
                format!("`{}(..)` converts", to.name())
            }
            _ => String::new(),
        };
        self.error(
            codes::TYPE_MISMATCH,
            &span,
            format!("{what} is of type {wanted}, but this is of type {}", expr.ty),
            hint,
        )
    }

    /// A number of the text in a type.
    pub(super) fn number(&mut self, literal: Literal, to: Scalar, span: &Span, what: &str) -> Checked<Expr> {
        let made = match (literal, to) {
            (Literal::I64(value), Scalar::I32) => i32::try_from(value).ok().map(Literal::I32),
            (Literal::I64(value), Scalar::I64) => Some(Literal::I64(value)),
            (Literal::I64(value), Scalar::F32) => Some(Literal::F32(value as f32)),
            (Literal::I64(value), Scalar::F64) => Some(Literal::F64(value as f64)),
            (Literal::F64(value), Scalar::F64) => Some(Literal::F64(value)),
            (Literal::F64(value), Scalar::F32) => {
                Some(value as f32).filter(|value| value.is_finite()).map(Literal::F32)
            }
            _ => {
                let message = format!(
                    "{what} is of type {}, but this is of type {}",
                    to.name(),
                    literal.scalar().name()
                );
                return self.error(codes::TYPE_MISMATCH, span, message, "");
            }
        };
        match made {
            Some(literal) => self.make(Kind::Literal(literal), Type::Scalar(to), span),
            None => {
                let message = format!("this number is too large for {}", to.name());
                self.error(codes::NUMBER_OUT_OF_RANGE, span, message, "use i64 or f64")
            }
        }
    }

    /// An expression, maybe a number without a type of its own.
    pub fn value(&mut self, written: &ast::Expr, scope: &Scope) -> Checked<Value> {
        self.deeper(&written.span, |checker| checker.value_here(written, scope))
    }

    fn value_here(&mut self, written: &ast::Expr, scope: &Scope) -> Checked<Value> {
        let span = &written.span;
        let strong = |expr: Expr| Ok(Value { expr, weak: false });
        match &written.kind {
            ExprKind::Integer(value) => {
                let expr = self.make(Kind::Literal(Literal::I64(*value)), Type::Scalar(Scalar::I64), span)?;
                Ok(Value { expr, weak: true })
            }
            ExprKind::Float(value) => {
                let expr = self.make(Kind::Literal(Literal::F64(*value)), Type::Scalar(Scalar::F64), span)?;
                Ok(Value { expr, weak: true })
            }
            ExprKind::Bool(value) => {
                strong(self.make(Kind::Literal(Literal::Bool(*value)), Type::Scalar(Scalar::Bool), span)?)
            }
            ExprKind::Name(name) => match self.look_up(name, span, scope)? {
                Binding::Variable(variable) => strong(self.used(variable, span)?),
                _ => {
                    let hint = format!(
                        "call it, as in `{name}(a)`, or hand it to an operator, as in `map({name}, s)`"
                    );
                    self.error(
                        codes::FUNCTION_AS_VALUE,
                        span,
                        format!("`{name}` is a function, not a value"),
                        hint,
                    )
                }
            },
            ExprKind::Unary(operator, operand) => self.unary(*operator, operand, span, scope),
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.value(left, scope), self.value(right, scope));
                self.binary(*operator, left?, right?, span)
            }
            ExprKind::Select(condition, then, otherwise) => {
                let condition = self.expr_of(condition, &Type::Scalar(Scalar::Bool), "a condition", scope);
                let (then, otherwise) = (self.value(then, scope), self.value(otherwise, scope));
                let (condition, (then, otherwise)) = (condition?, self.meet(then?, otherwise?, span)?);
                if then.ty.has_sequence() {
                    let hint = "choose between elements: `map(|a, b| c ? a : b, s, t)`";
                    return self.error(
                        codes::NOT_A_NUMBER,
                        span,
                        "sequences cannot be chosen by a condition",
                        hint,
                    );
                }
                let ty = then.ty.clone();
                strong(self.make(
                    Kind::Select(Box::new(condition), Box::new(then), Box::new(otherwise)),
                    ty,
                    span,
                )?)
            }
            ExprKind::Call(name, arguments) => strong(self.call(name, arguments, span, scope)?),
            ExprKind::Index(sequence, index) => {
                let sequence = self.sequence(sequence, "what is indexed", scope);
                let index = self.index(index, scope);
                let (sequence, index) = (sequence?, index?);
                let element = sequence.ty.element().cloned().unwrap_or(Type::Scalar(Scalar::I64));
                strong(self.make(Kind::Index(Box::new(sequence), Box::new(index)), element, span)?)
            }
            ExprKind::Component(whole, place) => {
                let whole = self.expr(whole, scope)?;
                let types = whole.ty.components().unwrap_or_default();
                let Some(ty) = usize::try_from(*place).ok().and_then(|place| types.get(place)).cloned()
                else {
                    let message = format!("a value of type {} has no component {place}", whole.ty);
                    let hint = match types.len() {
                        0 => "only tuples and vectors have components".to_owned(),
                        count => format!("components are counted from 0 to {}", count - 1),
                    };
                    return self.error(codes::NO_COMPONENT, span, message, hint);
                };
                let expr = match whole.kind {
                    Kind::Make(mut parts) => parts.swap_remove(*place as usize),
                    _ => self.make(Kind::Component(Box::new(whole), *place as usize), ty, span)?,
                };
                strong(expr)
            }
            ExprKind::Tuple(parts) => self.parts(parts, span, scope),
            ExprKind::Vector(parts) => self.vector(parts, span, scope),
            ExprKind::Function { .. } | ExprKind::Operator(_) => {
                let hint = "functions are handed to operators, as in `map(|a| 2 * a, s)`, or named by `let`";
                self.error(codes::FUNCTION_AS_VALUE, span, "a function stands where a value is needed", hint)
            }
            ExprKind::Block(bindings, value) => {
                let mut scope = scope.clone();
                let mut lets = Vec::new();
                for (pattern, value) in bindings {
                    if let (ast::Pattern::Name(name), ExprKind::Function { .. }) = (pattern, &value.kind) {
                        self.free(name)?;
                        let defined = self.define(value, &scope)?;
                        scope = scope.with(&name.text, Binding::Function(defined));
                        continue;
                    }
                    let value = self.expr(value, &scope)?;
                    let variable = self.declare("part", value.ty.clone(), &pattern.span(), Role::Local);
                    lets.push((variable, value));
                    let (with, more) = self.bind(pattern, variable, &scope)?;
                    scope = with;
                    lets.extend(more);
                }
                let body = self.expr(value, &scope)?;
                strong(self.within(lets, body)?)
            }
        }
    }

    fn parts(&mut self, parts: &[ast::Expr], span: &Span, scope: &Scope) -> Checked<Value> {
        let values: Vec<Checked<Value>> = parts.iter().map(|part| self.value(part, scope)).collect();
        let values = values.into_iter().collect::<Checked<Vec<Value>>>()?;
        let weak = values.iter().any(|value| value.weak);
        let types = values.iter().map(|value| value.expr.ty.clone()).collect();
        let parts = values.into_iter().map(|value| value.expr).collect();
        let expr = self.make(Kind::Make(parts), Type::Tuple(types), span)?;
        Ok(Value { expr, weak })
    }

    fn vector(&mut self, parts: &[ast::Expr], span: &Span, scope: &Scope) -> Checked<Value> {
        let values: Vec<Checked<Value>> = parts.iter().map(|part| self.value(part, scope)).collect();
        let values = values.into_iter().collect::<Checked<Vec<Value>>>()?;
        let strong = values.iter().find(|value| !value.weak);
        let floats = || values.iter().any(|value| value.expr.ty == Type::Scalar(Scalar::F64));
        let scalar = match strong {
            Some(value) => value.expr.ty.scalar(),
            None => Some(if floats() { Scalar::F64 } else { Scalar::I64 }),
        };
        let count = values.len();
        let Some(scalar) = scalar.filter(|scalar| *scalar != Scalar::Bool && (2..=16).contains(&count))
        else {
            let hint = "`[a, b, c]` is a vector; sequences are declared with `input` or `table`";
            return self.error(codes::TYPE_MISMATCH, span, "a vector is made of 2 to 16 numbers", hint);
        };
        let weak = strong.is_none();
        let mut made = Vec::new();
        for value in values {
            made.push(self.coerce(value, &Type::Scalar(scalar), "a component of this vector")?);
        }
        let expr = self.make(Kind::Make(made), Type::Vector(scalar, count), span)?;
        Ok(Value { expr, weak })
    }

    fn unary(&mut self, operator: Unary, operand: &ast::Expr, span: &Span, scope: &Scope) -> Checked<Value> {
        let Value { expr, weak } = self.value(operand, scope)?;
        let fits = match (operator, &expr.ty) {
            (Unary::Not, Type::Scalar(scalar)) => *scalar == Scalar::Bool,
            (Unary::Negate, Type::Scalar(scalar)) => *scalar != Scalar::Bool,
            (Unary::Negate, Type::Vector(..)) => true,
            _ => false,
        };
        if !fits {
            let symbol = if operator == Unary::Not { "!" } else { "-" };
            let message = format!("`{symbol}` does not take a value of type {}", expr.ty);
            return self.error(
                codes::NOT_A_NUMBER,
                span,
                message,
                if expr.ty.has_sequence() { "use `map` for the elements of a sequence" } else { "" },
            );
        }
        let expr = match expr.ty {
            Type::Vector(scalar, count) => self.each(expr, count, scalar, span, |checker, part| {
                let ty = part.ty.clone();
                checker.make(Kind::Unary(operator, Box::new(part)), ty, span)
            })?,
            _ => {
                let ty = expr.ty.clone();
                self.make(Kind::Unary(operator, Box::new(expr)), ty, span)?
            }
        };
        let _ = weak;
        Ok(Value { expr, weak: false })
    }

    /// A vector made of what becomes of each component.
    fn each(
        &mut self,
        vector: Expr,
        count: usize,
        scalar: Scalar,
        span: &Span,
        mut of: impl FnMut(&mut Self, Expr) -> Checked<Expr>,
    ) -> Checked<Expr> {
        let whole = self.declare("vector", vector.ty.clone(), span, Role::Local);
        let mut parts = Vec::new();
        for place in 0..count {
            let used = self.used(whole, span)?;
            let part = self.make(Kind::Component(Box::new(used), place), Type::Scalar(scalar), span)?;
            parts.push(of(self, part)?);
        }
        let element = parts.first().and_then(|part| part.ty.scalar()).unwrap_or(scalar);
        let made = self.make(Kind::Make(parts), Type::Vector(element, count), span)?;
        self.within(vec![(whole, vector)], made)
    }

    /// Two values in the type that both can have.
    pub(super) fn meet(&mut self, left: Value, right: Value, span: &Span) -> Checked<(Expr, Expr)> {
        if left.expr.ty == right.expr.ty {
            return Ok((left.expr, right.expr));
        }
        let wanted = match (&left.expr.ty, &right.expr.ty) {
            (Type::Scalar(a), Type::Scalar(b)) if left.weak && right.weak => {
                Type::Scalar(if a.is_float() { *a } else { *b })
            }
            (a, _) if right.weak && !left.weak => a.clone(),
            (_, b) if left.weak => b.clone(),
            (Type::Scalar(a), Type::Scalar(b)) => match wider(*a, *b) {
                Some(wide) => Type::Scalar(wide),
                None => {
                    let message = format!("{} and {} do not go together", a.name(), b.name());
                    let float = if a.is_float() { a } else { b };
                    let hint = match *a == Scalar::Bool || *b == Scalar::Bool {
                        true => "a condition is no number; write `c ? 1 : 0`".to_owned(),
                        false => format!("convert one of them, as in `{}(..)`", float.name()),
                    };
                    return self.error(codes::TYPE_MISMATCH, span, message, hint);
                }
            },
            (a, b) => {
                let message = format!("values of types {a} and {b} do not go together");
                return self.error(codes::TYPE_MISMATCH, span, message, "");
            }
        };
        Ok((
            self.coerce(left, &wanted, "the other operand")?,
            self.coerce(right, &wanted, "the other operand")?,
        ))
    }

    /// Two values with an operator between them.
    pub fn binary(&mut self, operator: Binary, left: Value, right: Value, span: &Span) -> Checked<Value> {
        let vector = |value: &Value| match value.expr.ty {
            Type::Vector(scalar, count) => Some((scalar, count)),
            _ => None,
        };
        let arithmetic = matches!(operator.precedence(), 5 | 6);
        if let (true, Some((scalar, count))) = (arithmetic, vector(&left).or(vector(&right))) {
            return self.vectors(operator, left, right, scalar, count, span);
        }
        let (left, right) = self.meet(left, right, span)?;
        let scalar = left.ty.scalar();
        let fits = scalar.is_some_and(|scalar| match operator {
            Binary::And | Binary::Or => scalar == Scalar::Bool,
            Binary::Equal | Binary::NotEqual => true,
            Binary::Remainder => scalar.is_integer(),
            _ => scalar != Scalar::Bool,
        });
        if !fits {
            let message = format!("`{}` does not take values of type {}", operator.symbol(), left.ty);
            let hint = match operator {
                _ if left.ty.has_sequence() => "use `map` for the elements of sequences",
                Binary::And | Binary::Or => "conditions are comparisons and values of type bool",
                Binary::Remainder => "`%` takes whole numbers",
                _ => "",
            };
            return self.error(codes::NOT_A_NUMBER, span, message, hint);
        }
        let logical = operator.compares() || matches!(operator, Binary::And | Binary::Or);
        let ty = if logical { Type::Scalar(Scalar::Bool) } else { left.ty.clone() };
        let expr = self.make(Kind::Binary(operator, Box::new(left), Box::new(right)), ty, span)?;
        Ok(Value { expr, weak: false })
    }

    /// Arithmetic of vectors: component by component, a number with each of them.
    fn vectors(
        &mut self,
        operator: Binary,
        left: Value,
        right: Value,
        scalar: Scalar,
        count: usize,
        span: &Span,
    ) -> Checked<Value> {
        let mut lets = Vec::new();
        let mut sides = Vec::new();
        for side in [left, right] {
            let side = match &side.expr.ty {
                Type::Scalar(_) => {
                    self.coerce(side, &Type::Scalar(scalar), "a component of the other operand")?
                }
                _ => self.coerce(side, &Type::Vector(scalar, count), "the other operand")?,
            };
            let variable = self.declare("side", side.ty.clone(), span, Role::Local);
            sides.push(variable);
            lets.push((variable, side));
        }
        let mut parts = Vec::new();
        for place in 0..count {
            let mut operands = Vec::new();
            for side in &sides {
                let used = self.used(*side, span)?;
                let part = match used.ty {
                    Type::Scalar(_) => used,
                    _ => self.make(Kind::Component(Box::new(used), place), Type::Scalar(scalar), span)?,
                };
                operands.push(Value { expr: part, weak: false });
            }
            if let (Some(right), Some(left)) = (operands.pop(), operands.pop()) {
                parts.push(self.binary(operator, left, right, span)?.expr);
            }
        }
        let made = self.make(Kind::Make(parts), Type::Vector(scalar, count), span)?;
        let expr = self.within(lets, made)?;
        Ok(Value { expr, weak: false })
    }

    /// An expression that is a sequence.
    pub fn sequence(&mut self, written: &ast::Expr, what: &str, scope: &Scope) -> Checked<Expr> {
        let expr = self.expr(written, scope)?;
        if expr.ty.element().is_some() {
            return Ok(expr);
        }
        let message = format!("{what} is a sequence, but this is of type {}", expr.ty);
        self.error(
            codes::NOT_A_SEQUENCE,
            &written.span,
            message,
            "`replicate(v, n)` makes a sequence of a value",
        )
    }

    /// An expression that counts, as i64.
    pub fn index(&mut self, written: &ast::Expr, scope: &Scope) -> Checked<Expr> {
        self.expr_of(written, &Type::Scalar(Scalar::I64), "an index or a length", scope)
    }
}

/// The type that holds all numbers of both, where one is a wider form of the other.
fn wider(a: Scalar, b: Scalar) -> Option<Scalar> {
    match (a, b) {
        _ if a == b => Some(a),
        (Scalar::I32, Scalar::I64) | (Scalar::I64, Scalar::I32) => Some(Scalar::I64),
        (Scalar::F32, Scalar::F64) | (Scalar::F64, Scalar::F32) => Some(Scalar::F64),
        _ => None,
    }
}
