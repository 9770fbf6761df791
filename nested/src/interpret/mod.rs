//! The reference interpreter: plain and sequential, it walks the program as it is written and shares no code with the
//! generators. What it computes is what a program means.
//!
//! A sequence is its length and a function from places to elements; an element that nobody reads is never computed.

mod arithmetic;
mod moved;
mod value;

use crate::data::{InputError, Inputs, Output, arranged};
use crate::fault::{Fault, FaultKind};
use crate::program::*;
use arithmetic::{applied, binary, convert, identity, unary};
use polyhedral::source::Span;
use std::rc::Rc;
use value::{Done, Value, elements, fault, given, listed, output, sequence, stored, together, truth, whole};

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InterpretError {
    /// What was given does not fit the program.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Something in the data is wrong.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Runs a program.
///
/// # Errors
/// [`InterpretError`].
pub fn interpret(program: &Program, inputs: &Inputs) -> Result<Vec<Output>, InterpretError> {
    let arrays = arranged(program, inputs)?;
    let mut globals: Globals<'_> = vec![None; program.variables.len()];
    for ((id, variable), array) in program.given().zip(arrays) {
        globals[id] = Some(given(&variable.ty, array));
    }
    for (id, variable) in program.variables.iter().enumerate() {
        if let Role::Table(values) = &variable.role {
            globals[id] = Some(listed(values.iter().map(|value| Value::Scalar(*value)).collect()));
        }
    }
    let mut scope = Scope { program, globals: Rc::new(globals), locals: None };
    scope.items(&program.items)?;
    let outputs = program.outputs.iter().map(|&id| output(program.variable(id), scope.variable(id)));
    Ok(outputs.collect::<Result<Vec<Output>, Fault>>()?)
}

type Globals<'p> = Vec<Option<Value<'p>>>;
struct Link<'p> {
    variable: VarId,
    value: Value<'p>,
    before: Option<Rc<Link<'p>>>,
}

/// The values of all names.
#[derive(Clone)]
struct Scope<'p> {
    program: &'p Program,
    globals: Rc<Globals<'p>>,
    locals: Option<Rc<Link<'p>>>,
}

impl<'p> Scope<'p> {
    fn items(&mut self, items: &'p [Item]) -> Done<()> {
        for item in items {
            match item {
                Item::Let(variable, value) => {
                    let value = self.value(value)?;
                    self.set(*variable, value);
                }
                Item::Compute(variable, value) | Item::Assign(variable, value) => {
                    let value = stored(&self.value(value)?)?;
                    self.set(*variable, value);
                }
                Item::Repeat { times, items, until } => {
                    for _ in 0..whole(&self.value(times)?) {
                        self.items(items)?;
                        if let Some(until) = until
                            && truth(&self.value(until)?)
                        {
                            break;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, variable: VarId, value: Value<'p>) {
        Rc::make_mut(&mut self.globals)[variable] = Some(value);
    }

    fn with(&self, variable: VarId, value: Value<'p>) -> Scope<'p> {
        let locals = Some(Rc::new(Link { variable, value, before: self.locals.clone() }));
        Scope { program: self.program, globals: Rc::clone(&self.globals), locals }
    }

    fn variable(&self, id: VarId) -> Value<'p> {
        let mut link = self.locals.as_ref();
        while let Some(here) = link {
            if here.variable == id {
                return here.value.clone();
            }
            link = here.before.as_ref();
        }
        self.globals[id].clone().unwrap_or(Value::Scalar(Literal::I64(0)))
    }

    fn call(&self, function: &'p Function, operands: Vec<Value<'p>>) -> Done<Value<'p>> {
        let bind = |scope: Scope<'p>, (variable, value): (&VarId, Value<'p>)| scope.with(*variable, value);
        function.parameters.iter().zip(operands).fold(self.clone(), bind).value(&function.body)
    }

    fn value(&self, expr: &'p Expr) -> Done<Value<'p>> {
        let span = &expr.span;
        Ok(match &expr.kind {
            Kind::Literal(literal) => Value::Scalar(*literal),
            Kind::Variable(variable) => self.variable(*variable),
            Kind::Let(variable, value, body) => {
                let value = self.value(value)?;
                self.with(*variable, value).value(body)?
            }
            Kind::Unary(operator, operand) => Value::Scalar(unary(*operator, &self.value(operand)?)),
            Kind::Binary(Binary::And, left, right) => match truth(&self.value(left)?) {
                true => self.value(right)?,
                false => Value::Scalar(Literal::Bool(false)),
            },
            Kind::Binary(Binary::Or, left, right) => match truth(&self.value(left)?) {
                false => self.value(right)?,
                true => Value::Scalar(Literal::Bool(true)),
            },
            Kind::Binary(operator, left, right) => {
                binary(*operator, &self.value(left)?, &self.value(right)?, span)?
            }
            Kind::Convert(operand) => Value::Scalar(convert(&self.value(operand)?, expr.ty.scalar())),
            Kind::Select(condition, then, otherwise) => match truth(&self.value(condition)?) {
                true => self.value(then)?,
                false => self.value(otherwise)?,
            },
            Kind::Math(math, operands) => {
                let operands: Vec<Value<'p>> =
                    operands.iter().map(|operand| self.value(operand)).collect::<Done<_>>()?;
                Value::Scalar(applied(*math, &operands))
            }
            Kind::Make(parts) => {
                Value::Parts(Rc::new(parts.iter().map(|part| self.value(part)).collect::<Done<_>>()?))
            }
            Kind::Component(whole, place) => match self.value(whole)? {
                Value::Parts(parts) => parts[*place].clone(),
                other => other,
            },
            Kind::Index(operand, index) => {
                let ((length, at), index) = (sequence(self.value(operand)?), whole(&self.value(index)?));
                if !(0..length).contains(&index) {
                    return fault(FaultKind::Index, span, index, length);
                }
                at(index)?
            }
            Kind::Length(operand) => Value::Scalar(Literal::I64(sequence(self.value(operand)?).0)),
            Kind::Apply(operator, function, operands) => {
                self.apply(*operator, function.as_ref(), operands, span)?
            }
        })
    }

    fn apply(
        &self,
        operator: Operator,
        function: Option<&'p Function>,
        operands: &'p [Expr],
        span: &'p Span,
    ) -> Done<Value<'p>> {
        let values: Vec<Value<'p>> =
            operands.iter().map(|operand| self.value(operand)).collect::<Done<_>>()?;
        let scope = self.clone();
        let first = || sequence(values[0].clone());
        let Some(function) = function else { return self.moved(operator, values, span) };
        match operator {
            Operator::Map => {
                let (length, parts) = together(&values, span)?;
                let at = move |place: i64| {
                    let operands = parts.iter().map(|part| part(place)).collect::<Done<Vec<_>>>()?;
                    scope.call(function, operands)
                };
                Ok(Value::Sequence(length, Rc::new(at)))
            }
            Operator::Reduce => {
                let (length, at) = first();
                self.reduce(function, &|place| at(place), 0, length, values[1].clone())
            }
            Operator::ReduceByKey => {
                let (length, parts) = together(&values[..2], span)?;
                let mut results = Vec::new();
                let mut begin = 0;
                for place in 1..=length {
                    if place == length || whole(&parts[1](place)?) != whole(&parts[1](begin)?) {
                        let at = &parts[0];
                        results.push(self.reduce(
                            function,
                            &|place| at(place),
                            begin,
                            place,
                            values[2].clone(),
                        )?);
                        begin = place;
                    }
                }
                Ok(listed(results))
            }
            Operator::Scan => {
                let (length, at) = first();
                let tree = function.builtin.is_some() || function.associative;
                let mut results = Vec::new();
                let mut carry = values[1].clone();
                let mut value = carry.clone();
                for place in 0..length {
                    if tree && place > 0 && place % BLOCK == 0 {
                        let block = self.block(function, &|place| at(place), place - BLOCK, place)?;
                        carry = self.call(function, vec![carry, block])?;
                        value = carry.clone();
                    }
                    results.push(value.clone());
                    value = stored(&self.call(function, vec![value, at(place)?])?)?;
                }
                Ok(listed(results))
            }
            Operator::Filter => {
                let mut kept = Vec::new();
                for element in elements(&values[0])? {
                    if truth(&self.call(function, vec![element.clone()])?) {
                        kept.push(element);
                    }
                }
                Ok(listed(kept))
            }
            _ => Ok(values[0].clone()),
        }
    }

    /// `prefix f s[begin] f .. f s[end - 1]`, in blocks where the function is associative.
    fn reduce(
        &self,
        function: &'p Function,
        at: &dyn Fn(i64) -> Done<Value<'p>>,
        begin: i64,
        end: i64,
        prefix: Value<'p>,
    ) -> Done<Value<'p>> {
        let mut total = stored(&prefix)?;
        let rows = function.body.ty.has_sequence();
        if rows || !(function.builtin.is_some() || function.associative) {
            for place in begin..end {
                total = stored(&self.call(function, vec![total, at(place)?])?)?;
            }
            return Ok(total);
        }
        let mut start = begin;
        while start < end {
            let next = (start + BLOCK).min(end);
            let block = self.block(function, at, start, next)?;
            total = self.call(function, vec![total, block])?;
            start = next;
        }
        Ok(total)
    }

    /// The elements of a block, folded.
    fn block(
        &self,
        function: &'p Function,
        at: &dyn Fn(i64) -> Done<Value<'p>>,
        begin: i64,
        end: i64,
    ) -> Done<Value<'p>> {
        let Some(builtin) = function.builtin else {
            let mut total = at(begin)?;
            for place in begin + 1..end {
                total = self.call(function, vec![total, at(place)?])?;
            }
            return Ok(total);
        };
        let mut lanes = vec![identity(builtin, &function.body.ty); LANES as usize];
        let mut place = begin;
        while place + LANES <= end {
            for lane in &mut lanes {
                *lane = self.call(function, vec![lane.clone(), at(place)?])?;
                place += 1;
            }
        }
        // Each time the upper half onto the lower one.
        while lanes.len() > 1 {
            let upper = lanes.split_off(lanes.len() / 2);
            let pairs = lanes.into_iter().zip(upper);
            lanes = pairs.map(|(low, high)| self.call(function, vec![low, high])).collect::<Done<_>>()?;
        }
        let mut total = lanes.remove(0);
        for place in place..end {
            total = self.call(function, vec![total, at(place)?])?;
        }
        Ok(total)
    }
}
