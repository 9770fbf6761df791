//! Operators over sequences: what they take, and what comes of it.

use super::checker::{Checked, Checker, Scope};
use super::expression::Value;
use crate::ast;
use crate::codes;
use crate::program::{Builtin, Expr, Function, Kind, Operator, Scalar, Type};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;

impl Checker<'_> {
    /// An operator with its operands.
    pub fn apply(
        &mut self,
        operator: Operator,
        arguments: &[ast::Expr],
        span: &Span,
        scope: &Scope,
    ) -> Checked<Expr> {
        use Operator::*;
        let (least, most) = match operator {
            Map => (2, usize::MAX),
            Zip | Join => (2, 16),
            Reduce => (2, 3),
            ReduceByKey => (3, 4),
            Scan | Scatter => (3, 3),
            Range => (2, 3),
            Reverse => (1, 1),
            Gather | Replicate | Split | Striding | Nest | Cyclic | SortByKey | Filter => (2, 2),
        };
        if arguments.len() < least || arguments.len() > most {
            let message = format!("`{}` is called with {} operands", operator.name(), arguments.len());
            return self.error(codes::ARGUMENT_COUNT, span, message, operator.signature());
        }
        let made = match operator {
            Map => self.map(arguments, span, scope),
            Reduce | ReduceByKey | Scan => self.fold(operator, arguments, span, scope),
            Filter => {
                let sequence = self.sequence(&arguments[1], "what is filtered", scope)?;
                let element = sequence.ty.element().cloned().into_iter().collect::<Vec<_>>();
                let function = self.function(&arguments[0], &element, scope)?;
                if function.body.ty != Type::Scalar(Scalar::Bool) {
                    let message = format!(
                        "the function of `filter` gives a condition, but this gives {}",
                        function.body.ty
                    );
                    return self.error(codes::TYPE_MISMATCH, &function.body.span, message, "");
                }
                let ty = sequence.ty.clone();
                self.make(Kind::Apply(operator, Some(function), vec![sequence]), ty, span)
            }
            Range => {
                let start = self.value(&arguments[0], scope);
                let end = self.value(&arguments[1], scope);
                let (start, end) = (start?, end?);
                let narrow = |value: &Value| value.weak || value.expr.ty == Type::Scalar(Scalar::I32);
                let both_weak = start.weak && end.weak;
                let scalar =
                    if narrow(&start) && narrow(&end) && !both_weak { Scalar::I32 } else { Scalar::I64 };
                let mut parts = vec![
                    self.coerce(start, &Type::Scalar(scalar), "the start of a range")?,
                    self.coerce(end, &Type::Scalar(scalar), "the end of a range")?,
                ];
                if let Some(stride) = arguments.get(2) {
                    parts.push(self.index(stride, scope)?);
                }
                self.make(Kind::Apply(operator, None, parts), Type::Scalar(scalar).sequence(), span)
            }
            Replicate => {
                let value = self.expr(&arguments[0], scope);
                let length = self.index(&arguments[1], scope);
                let (value, length) = (value?, length?);
                let ty = value.ty.clone().sequence();
                self.make(Kind::Apply(operator, None, vec![value, length]), ty, span)
            }
            Zip | Join => {
                let parts: Vec<Checked<Expr>> =
                    arguments.iter().map(|argument| self.sequence(argument, "each operand", scope)).collect();
                let parts = parts.into_iter().collect::<Checked<Vec<Expr>>>()?;
                let elements = parts.iter().filter_map(|part| part.ty.element().cloned()).collect();
                self.make(Kind::Apply(operator, None, parts), Type::Tuple(elements).sequence(), span)
            }
            Gather | Nest | Scatter => self.indexed(operator, arguments, span, scope),
            Split | Striding | Cyclic => {
                let sequence = self.sequence(&arguments[0], "the first operand", scope);
                let count = self.index(&arguments[1], scope);
                let (sequence, count) = (sequence?, count?);
                let ty = if operator == Split { sequence.ty.clone().sequence() } else { sequence.ty.clone() };
                self.make(Kind::Apply(operator, None, vec![sequence, count]), ty, span)
            }
            Reverse => {
                let sequence = self.sequence(&arguments[0], "what is reversed", scope)?;
                let ty = sequence.ty.clone();
                self.make(Kind::Apply(operator, None, vec![sequence]), ty, span)
            }
            SortByKey => {
                let sequence = self.sequence(&arguments[0], "what is sorted", scope);
                let keys = self.keys(&arguments[1], scope);
                let (sequence, keys) = (sequence?, keys?);
                let ty = sequence.ty.clone();
                self.make(Kind::Apply(operator, None, vec![sequence, keys]), ty, span)
            }
        }?;
        self.shallow(&made.ty, span)?;
        Ok(made)
    }

    fn map(&mut self, arguments: &[ast::Expr], span: &Span, scope: &Scope) -> Checked<Expr> {
        let parts: Vec<Checked<Expr>> = arguments[1..]
            .iter()
            .map(|argument| self.sequence(argument, "each operand of `map`", scope))
            .collect();
        let parts = parts.into_iter().collect::<Checked<Vec<Expr>>>()?;
        let elements: Vec<Type> = parts.iter().filter_map(|part| part.ty.element().cloned()).collect();
        let function = self.function(&arguments[0], &elements, scope)?;
        let ty = function.body.ty.clone().sequence();
        self.make(Kind::Apply(Operator::Map, Some(function), parts), ty, span)
    }

    /// `reduce`, `reduce_by_key` and `scan`.
    fn fold(
        &mut self,
        operator: Operator,
        arguments: &[ast::Expr],
        span: &Span,
        scope: &Scope,
    ) -> Checked<Expr> {
        let sequence =
            self.sequence(&arguments[1], &format!("what `{}` goes over", operator.name()), scope)?;
        let element = sequence.ty.element().cloned().unwrap_or(Type::Scalar(Scalar::I64));
        let by_key = operator == Operator::ReduceByKey;
        let keys = if by_key { Some(self.keys(&arguments[2], scope)?) } else { None };
        let prefix = arguments.get(if by_key { 3 } else { 2 });
        let prefix = match prefix {
            Some(prefix) => {
                let value = self.value(prefix, scope)?;
                match value.weak {
                    true => Some(self.coerce(value, &element, "an element of the sequence")?),
                    false => Some(value.expr),
                }
            }
            None => None,
        };
        let state = prefix.as_ref().map_or(element.clone(), |prefix| prefix.ty.clone());
        let function = self.function(&arguments[0], &[state.clone(), element.clone()], scope)?;
        let prefix = match (prefix, function.builtin) {
            (Some(prefix), _) => prefix,
            (None, Some(builtin)) => self.identity(builtin, &element, span)?,
            (None, None) => {
                let message = format!(
                    "`{}` needs a prefix: this function has no identity that is known",
                    operator.name()
                );
                return self.error(codes::PREFIX_NEEDED, span, message, operator.signature());
            }
        };
        if function.body.ty != state {
            let message =
                format!("the function gives {}, but its first operand is {state}", function.body.ty);
            return self.error(
                codes::TYPE_MISMATCH,
                &function.body.span,
                message,
                "each result is the first operand of the next call",
            );
        }
        if function.associative && state != element {
            let message =
                format!("an associative function has operands of one type; these are {state} and {element}");
            return self.error(
                codes::TYPE_MISMATCH,
                &arguments[0].span,
                message,
                "leave `assoc` away: elements are then folded in order",
            );
        }
        if state.has_sequence() {
            self.row_operator(operator, &function, &state, span)?;
        }
        let ty = match operator {
            Operator::Reduce => state,
            _ => state.sequence(),
        };
        let mut parts = vec![sequence];
        parts.extend(keys);
        parts.push(prefix);
        self.make(Kind::Apply(operator, Some(function), parts), ty, span)
    }

    /// What changes no other value, of a type.
    fn identity(&mut self, builtin: Builtin, ty: &Type, span: &Span) -> Checked<Expr> {
        let scalar = match ty {
            Type::Scalar(scalar) | Type::Vector(scalar, _) => *scalar,
            _ => {
                let message = format!("a reduction of values of type {ty} needs a prefix");
                return self.error(codes::PREFIX_NEEDED, span, message, "give it as the last operand");
            }
        };
        let one = self.make(Kind::Literal(builtin.identity(scalar)), Type::Scalar(scalar), span)?;
        match ty {
            Type::Vector(_, count) => self.make(Kind::Make(vec![one; *count]), ty.clone(), span),
            _ => Ok(one),
        }
    }

    /// Refuses functions of rows that are not a map over both rows.
    fn row_operator(
        &mut self,
        operator: Operator,
        function: &Function,
        state: &Type,
        span: &Span,
    ) -> Checked<()> {
        let flat = matches!(state, Type::Sequence(element) if !element.has_sequence());
        let over_both = matches!(&function.body.kind, Kind::Apply(Operator::Map, _, parts) if parts.iter().all(
            |part| matches!(part.kind, Kind::Variable(used) if function.parameters.contains(&used))
        ));
        if flat && over_both && operator != Operator::Scan {
            return Ok(());
        }
        let message =
            format!("`{}` of rows takes a function of the form `|a, b| map(f, a, b)`", operator.name());
        let diagnostic = Diagnostic::limitation(codes::ROW_OPERATOR, span.clone(), message);
        let note = "rows are reduced column by column";
        Err(self.report(
            diagnostic.note(note).hint("write `|a, b| map(+, a, b)`, or reduce columns by themselves"),
        ))
    }

    /// `gather`, `nest` and `scatter`.
    fn indexed(
        &mut self,
        operator: Operator,
        arguments: &[ast::Expr],
        span: &Span,
        scope: &Scope,
    ) -> Checked<Expr> {
        let sequence = self.sequence(&arguments[0], "the first operand", scope);
        let what = if operator == Operator::Nest { "offsets" } else { "indices" };
        let indices = self.sequence(&arguments[1], what, scope);
        let (sequence, indices) = (sequence?, indices?);
        if !indices.ty.element().and_then(Type::scalar).is_some_and(Scalar::is_integer) {
            let message = format!("{what} are whole numbers, but these are of type {}", indices.ty);
            return self.error(
                codes::TYPE_MISMATCH,
                &arguments[1].span,
                message,
                "they are of type [i32] or [i64]",
            );
        }
        let mut parts = vec![sequence, indices];
        let ty = match operator {
            Operator::Nest => parts[0].ty.clone().sequence(),
            Operator::Gather => parts[0].ty.clone(),
            _ => {
                let target = self.sequence(&arguments[2], "what is changed", scope)?;
                if target.ty != parts[0].ty {
                    let message = format!(
                        "elements of type {} cannot be put into a sequence of type {}",
                        parts[0].ty, target.ty
                    );
                    return self.error(codes::TYPE_MISMATCH, &arguments[0].span, message, "");
                }
                parts.push(target);
                parts[0].ty.clone()
            }
        };
        self.make(Kind::Apply(operator, None, parts), ty, span)
    }

    /// A sequence of keys.
    fn keys(&mut self, written: &ast::Expr, scope: &Scope) -> Checked<Expr> {
        let keys = self.sequence(written, "the keys", scope)?;
        if !keys.ty.element().and_then(Type::scalar).is_some_and(Scalar::is_integer) {
            let message = format!("keys are whole numbers, but these are of type {}", keys.ty);
            return self.error(
                codes::TYPE_MISMATCH,
                &written.span,
                message,
                "they are of type [i32] or [i64]",
            );
        }
        Ok(keys)
    }
}
