//! Expressions of a program as expressions of C.

use super::emitter::{Emitter, Seq, View, c_type};
use super::env::Env;
use super::indices::IndexCheck;
use super::view::{flat, scalars, whole};
use crate::fault::FaultKind;
use crate::program::*;
use c_tree::{BinaryOp, Expr as C, Sort, Stmt, call, int, name};

/// A number of the program in C.
pub fn literal(literal: Literal) -> C {
    match literal {
        Literal::I32(i32::MIN) => name("INT32_MIN"),
        Literal::I64(i64::MIN) => name("INT64_MIN"),
        Literal::I32(value) => int(i64::from(value)),
        Literal::I64(value) => int(value),
        Literal::F32(value) if value.is_infinite() => infinity(value < 0.0),
        Literal::F64(value) if value.is_infinite() => infinity(value < 0.0),
        Literal::F32(value) => C::f32(value),
        Literal::F64(value) => C::f64(value),
        Literal::Bool(value) => C::Bool(value),
    }
}

fn infinity(negative: bool) -> C {
    if negative { -name("INFINITY") } else { name("INFINITY") }
}

impl<'p> Emitter<'p> {
    /// The value of an expression; what it needs is emitted before.
    pub fn value(&mut self, expr: &'p Expr, env: &Env<'p>) -> View<'p> {
        let span = &expr.span;
        let scalar = expr.ty.scalar().unwrap_or(Scalar::I64);
        let number = |value: C| View::Scalar(value, scalar, None);
        match &expr.kind {
            Kind::Literal(value) => number(literal(*value)),
            Kind::Variable(variable) => match env.find(*variable) {
                Some(view) => view,
                None => match self.lowered.lets.get(variable) {
                    Some(value) => self.value(value, &Env::default()),
                    None => self.stored(*variable),
                },
            },
            Kind::Let(variable, value, body) => {
                let value = self.value(value, env);
                let value = self.named(value);
                self.value(body, &env.with(*variable, value))
            }
            Kind::Unary(Unary::Not, operand) => number(!self.number(operand, env)),
            Kind::Unary(Unary::Negate, operand) => {
                let value = self.number(operand, env);
                number(match scalar.is_integer() {
                    true => call(format!("tw_neg_{}", scalar.name()), [value]).integer(),
                    false => -value,
                })
            }
            Kind::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
                let left = self.number(left, env);
                let (block, right) = self.maybe(|emitter| emitter.number(right, env));
                let and = *operator == Binary::And;
                if block.is_empty() {
                    return number(if and { left.and(right) } else { left.or(right) });
                }
                let result = self.changing(Scalar::Bool, "c", left);
                let named = C::Name(result, Sort::Truth);
                let condition = if and { named.clone() } else { !named.clone() };
                let mut then = block;
                then.push(Stmt::assign(named.clone(), right));
                self.push(Stmt::when(condition, then));
                number(named)
            }
            Kind::Binary(operator, left, right) => {
                let operand = left.ty.scalar().unwrap_or(Scalar::I64);
                let (left, right) = (self.number(left, env), self.number(right, env));
                number(self.binary(*operator, operand, left, right, span))
            }
            Kind::Convert(operand) => {
                let from = operand.ty.scalar().unwrap_or(Scalar::I64);
                let (value, origin) = match self.value(operand, env) {
                    View::Scalar(value, _, origin) => (value, origin),
                    _ => (int(0), None),
                };
                // A number that may have become another one is no element any more.
                let origin = origin.filter(|_| {
                    matches!(
                        (from, scalar),
                        (Scalar::I32, Scalar::I32 | Scalar::I64) | (Scalar::I64, Scalar::I64)
                    )
                });
                let value = match (from, scalar) {
                    (Scalar::F32 | Scalar::F64, Scalar::I32) => call("tw_to_i32", [value]).integer(),
                    (Scalar::F32 | Scalar::F64, Scalar::I64) => call("tw_to_i64", [value]).integer(),
                    _ => value.cast(c_type(scalar)),
                };
                View::Scalar(value, scalar, origin)
            }
            Kind::Select(condition, then, otherwise) => {
                self.select(condition, then, otherwise, &expr.ty, env)
            }
            Kind::Math(math, operands) => {
                let operands: Vec<C> = operands
                    .iter()
                    .map(|operand| {
                        let value = self.number(operand, env);
                        if math.arguments() == 2 { self.bind(scalar, value) } else { value }
                    })
                    .collect();
                number(self.math(*math, scalar, operands))
            }
            Kind::Make(parts) => View::Parts(parts.iter().map(|part| self.value(part, env)).collect()),
            Kind::Component(whole, place) => match self.value(whole, env) {
                View::Parts(mut parts) if *place < parts.len() => parts.swap_remove(*place),
                other => other,
            },
            Kind::Index(sequence, index) => {
                let sequence = self.sequence(sequence, env);
                let index = self.value(index, env);
                let element = self.element(&sequence, index, span);
                without_origin(element)
            }
            Kind::Length(sequence) => number(self.sequence(sequence, env).length),
            Kind::Apply(operator, function, operands) => {
                self.apply(*operator, function.as_ref(), operands, expr, env)
            }
        }
    }

    /// The value of a number.
    pub fn number(&mut self, expr: &'p Expr, env: &Env<'p>) -> C {
        match self.value(expr, env) {
            View::Scalar(value, ..) => value,
            _ => int(0),
        }
    }

    /// The value of a sequence.
    pub fn sequence(&mut self, expr: &'p Expr, env: &Env<'p>) -> Seq<'p> {
        match self.value(expr, env) {
            View::Sequence(sequence) => sequence,
            _ => Seq::new(int(0), std::rc::Rc::new(|_, _| View::Parts(Vec::new()))),
        }
    }

    /// The value, its numbers under names.
    pub fn named(&mut self, view: View<'p>) -> View<'p> {
        match view {
            View::Scalar(value, scalar, origin) => View::Scalar(self.bind(scalar, value), scalar, origin),
            View::Parts(parts) => View::Parts(parts.into_iter().map(|part| self.named(part)).collect()),
            sequence => sequence,
        }
    }

    /// A function's value.
    pub fn call(&mut self, function: &'p Function, operands: Vec<View<'p>>, env: &Env<'p>) -> View<'p> {
        let mut inner = env.clone();
        for (parameter, operand) in function.parameters.iter().zip(operands) {
            let operand = self.named(operand);
            inner = inner.with(*parameter, operand);
        }
        self.value(&function.body, &inner)
    }

    /// The element of an array that a whole number was before it got a name and another width.
    fn element_of(&self, value: &C) -> Option<C> {
        match value {
            C::Index(..) => Some(value.clone()),
            C::Cast(_, own) => self.element_of(own),
            C::Name(own, _) => self.elements.get(own).cloned(),
            _ => None,
        }
    }

    /// Whether an element is one of the row that is emitted, of rows whose indices are checked just before they are used.
    fn is_of_group(&self, element: &C, array: &C) -> bool {
        let (Some(grouped), C::Index(own, place)) = (&self.grouped, element) else { return false };
        let C::Binary(BinaryOp::Add, begin, _) = &**place else { return false };
        let bound = self.known.iter().flatten().find(|(_, named)| *named == **begin);
        **own == *array && bound.is_some_and(|(value, _)| *value == grouped.begin)
    }

    /// All elements of an input are indices of a sequence: before the kernel's loops, or before those of a group of rows that has
    /// them.
    fn indices(&mut self, element: Option<&C>, own: IndexCheck) {
        let of_group = element.is_some_and(|element| self.is_of_group(element, &own.indices[0]));
        match &mut self.grouped {
            Some(grouped) if grouped.done && grouped.found.contains(&own) => {}
            Some(grouped) if of_group && !grouped.done => {
                if !grouped.found.contains(&own) {
                    grouped.found.push(own);
                }
            }
            _ => self.before(own.whole()),
        }
    }

    /// An element of a sequence at an index that is checked.
    pub fn element(
        &mut self,
        sequence: &Seq<'p>,
        index: View<'p>,
        span: &polyhedral::source::Span,
    ) -> View<'p> {
        let View::Scalar(index, _, origin) = index else { return View::Parts(Vec::new()) };
        let element = self.element_of(&index);
        let index = self.bind(Scalar::I64, index);
        let length = sequence.length.clone();
        let check = self.check(FaultKind::Index, span);
        // Of an input all elements are checked once, before anything is computed, where all are certain to be used.
        // A GPU checks each where it is read, which costs less there than reading all of them once more.
        if let Some(origin) = origin
            && self.gpu.is_none()
            && self.is_certain()
            && self.is_invariant(&length)
            && let Some(slot) = self.place(origin).leaves.first().copied()
        {
            let (array, count) = (self.read(slot), self.length(slot));
            let kind = c_type(self.slots.list[slot].scalar);
            self.indices(element.as_ref(), IndexCheck { kind, indices: [array, count], length, check });
            return (sequence.at)(self, index);
        }
        let inside = call("tw_in", [index.clone(), length.clone(), self.report(), check]);
        let inside = self.bind(Scalar::Bool, inside);
        let (block, view) = self.block(|emitter| (sequence.at)(emitter, index.clone()));
        match &view {
            View::Scalar(value, scalar, _) if block.is_empty() => {
                View::Scalar(inside.select(value.clone(), zero(*scalar)), *scalar, None)
            }
            _ if has_sequence(&view) => {
                // A row: that of a place that is there, if there is one.
                let safe = self.bind(Scalar::I64, inside.select(index, int(0)));
                (sequence.at)(self, safe)
            }
            _ => {
                let mut results = Vec::new();
                let numbers = flat(&view);
                let kinds = kinds(&view);
                for scalar in &kinds {
                    results.push(self.changing(*scalar, "e", zero(*scalar)));
                }
                let mut then = block;
                then.extend(
                    results.iter().zip(numbers).map(|(result, value)| Stmt::assign(name(result), value)),
                );
                self.push(Stmt::when(inside, then));
                rebuilt(&view, &mut results.into_iter().map(name))
            }
        }
    }

    fn select(
        &mut self,
        condition: &'p Expr,
        then: &'p Expr,
        otherwise: &'p Expr,
        ty: &'p Type,
        env: &Env<'p>,
    ) -> View<'p> {
        let condition = self.number(condition, env);
        let condition = self.bind(Scalar::Bool, condition);
        let (first, then) = self.maybe(|emitter| emitter.value(then, env));
        let (second, otherwise) = self.maybe(|emitter| emitter.value(otherwise, env));
        let (then, otherwise) = (flat(&then), flat(&otherwise));
        if first.is_empty() && second.is_empty() {
            let pairs = then.into_iter().zip(otherwise);
            return whole(ty, &mut pairs.map(|(a, b)| condition.clone().select(a, b)));
        }
        let mut results = Vec::new();
        for scalar in scalars(ty) {
            results.push(self.changing(scalar, "c", zero(scalar)));
        }
        let filled = |mut block: c_tree::Block, values: Vec<C>| {
            block.extend(results.iter().zip(values).map(|(result, value)| Stmt::assign(name(result), value)));
            block
        };
        let (first, second) = (filled(first, then), filled(second, otherwise));
        self.push(Stmt::choose(condition, first, second));
        whole(ty, &mut results.into_iter().map(name))
    }

    /// An operator between two numbers.
    pub fn binary(
        &mut self,
        operator: Binary,
        scalar: Scalar,
        left: C,
        right: C,
        span: &polyhedral::source::Span,
    ) -> C {
        if scalar.is_integer() {
            let wraps = |stem: &str| format!("tw_{stem}_{}", scalar.name());
            match operator {
                Binary::Add => return call(wraps("add"), [left, right]).integer(),
                Binary::Subtract => return call(wraps("sub"), [left, right]).integer(),
                Binary::Multiply => return call(wraps("mul"), [left, right]).integer(),
                Binary::Divide | Binary::Remainder => {
                    let stem = if operator == Binary::Divide { "div" } else { "rem" };
                    let check = self.check(FaultKind::Division, span);
                    return call(wraps(stem), [left, right, self.report(), check]).integer();
                }
                _ => {}
            }
        }
        match operator {
            Binary::Add => left + right,
            Binary::Subtract => left - right,
            Binary::Multiply => left * right,
            Binary::Divide => left / right,
            Binary::Remainder => call("fmod", [left, right]),
            Binary::Less => left.lt(right),
            Binary::LessEqual => left.le(right),
            Binary::Greater => left.gt(right),
            Binary::GreaterEqual => left.ge(right),
            Binary::Equal => left.is(right),
            Binary::NotEqual => left.is_not(right),
            Binary::And => left.and(right),
            Binary::Or => left.or(right),
        }
    }

    fn math(&mut self, math: Math, scalar: Scalar, mut operands: Vec<C>) -> C {
        let right = if operands.len() == 2 { operands.pop() } else { None };
        let left = operands.pop().unwrap_or(int(0));
        match (math, right) {
            (Math::Min, Some(right)) => left.clone().lt(&right).select(left, right),
            (Math::Max, Some(right)) => left.clone().gt(&right).select(left, right),
            (Math::Abs, _) if scalar.is_integer() => {
                call(format!("tw_abs_{}", scalar.name()), [left]).integer()
            }
            (math, right) => {
                let stem = if math == Math::Abs { "fabs" } else { math.name() };
                let suffix = if scalar == Scalar::F32 { "f" } else { "" };
                call(format!("{stem}{suffix}"), std::iter::once(left).chain(right))
            }
        }
    }
}

/// Nothing, of a type.
pub fn zero(scalar: Scalar) -> C {
    match scalar {
        Scalar::I32 | Scalar::I64 => int(0),
        Scalar::F32 => C::f32(0.0),
        Scalar::F64 => C::f64(0.0),
        Scalar::Bool => C::Bool(false),
    }
}

fn has_sequence(view: &View<'_>) -> bool {
    match view {
        View::Scalar(..) => false,
        View::Parts(parts) => parts.iter().any(has_sequence),
        View::Sequence(_) => true,
    }
}

fn kinds(view: &View<'_>) -> Vec<Scalar> {
    match view {
        View::Scalar(_, scalar, _) => vec![*scalar],
        View::Parts(parts) => parts.iter().flat_map(kinds).collect(),
        View::Sequence(_) => Vec::new(),
    }
}

fn rebuilt<'p>(view: &View<'p>, numbers: &mut dyn Iterator<Item = C>) -> View<'p> {
    match view {
        View::Scalar(_, scalar, _) => View::Scalar(numbers.next().unwrap_or(int(0)), *scalar, None),
        View::Parts(parts) => View::Parts(parts.iter().map(|part| rebuilt(part, numbers)).collect()),
        View::Sequence(sequence) => View::Sequence(sequence.clone()),
    }
}

/// The value, not known to be an element of an input: of these, maybe not all are used.
pub fn without_origin(view: View<'_>) -> View<'_> {
    match view {
        View::Scalar(value, scalar, _) => View::Scalar(value, scalar, None),
        View::Parts(parts) => View::Parts(parts.into_iter().map(without_origin).collect()),
        View::Sequence(mut sequence) => {
            let at = sequence.at.clone();
            sequence.at = std::rc::Rc::new(move |emitter, place| {
                let element = at(emitter, place);
                without_origin(element)
            });
            View::Sequence(sequence)
        }
    }
}
