//! The value of an expression.

use super::datum::{Datum, Number};
use super::error::{EvaluationError, MOST_ITEMS};
use super::tree::{Comparator, Function, Node, Operator};
use std::cmp::Ordering;
use trials::Value;

type Evaluated<'a> = Result<Datum<'a>, EvaluationError>;

/// One evaluation: the parameters, the variables of comprehensions, and how many items may still be made.
pub(super) struct Scope<'a, 'v> {
    value: &'v dyn Fn(usize) -> &'a Value,
    locals: Vec<Datum<'a>>,
    items_left: usize,
}

impl<'a, 'v> Scope<'a, 'v> {
    pub fn new(value: &'v dyn Fn(usize) -> &'a Value) -> Self {
        Scope { value, locals: Vec::new(), items_left: MOST_ITEMS }
    }

    /// The same with another limit.
    pub fn making(mut self, items: usize) -> Self {
        self.items_left = items;
        self
    }

    fn make(&mut self, items: usize) -> Result<(), EvaluationError> {
        self.items_left = self.items_left.checked_sub(items).ok_or(EvaluationError::TooLong)?;
        Ok(())
    }

    pub fn evaluate<'n: 'a>(&mut self, node: &'n Node) -> Evaluated<'a> {
        Ok(match node {
            Node::Literal(datum) => datum.clone(),
            Node::Parameter(place) => Datum::of((self.value)(*place)),
            Node::Local(depth) => match self.locals.get(*depth) {
                Some(datum) => datum.clone(),
                None => return Err(EvaluationError::Kind("a variable outside of its comprehension")),
            },
            Node::List(items) => {
                self.make(items.len())?;
                Datum::List(items.iter().map(|item| self.evaluate(item)).collect::<Result<_, _>>()?)
            }
            Node::Comprehension { item, local, source, condition } => {
                self.comprehension(item, *local, source, condition.as_deref())?
            }
            Node::Negate(inner) => match self.evaluate(inner)?.number()? {
                Number::Whole(number) => {
                    Datum::Integer(number.checked_neg().ok_or(EvaluationError::Overflow)?)
                }
                Number::Real(number) => Datum::Real(-number),
            },
            Node::Not(inner) => Datum::Boolean(!self.evaluate(inner)?.truth()),
            Node::Arithmetic(operator, left, right) => {
                let (left, right) = (self.evaluate(left)?, self.evaluate(right)?);
                self.arithmetic(*operator, left, right)?
            }
            Node::Comparison(first, others) => {
                let mut left = self.evaluate(first)?;
                for (comparator, node) in others {
                    let right = self.evaluate(node)?;
                    if !comparator.holds(&left, &right)? {
                        return Ok(Datum::Boolean(false));
                    }
                    left = right;
                }
                Datum::Boolean(true)
            }
            Node::And(left, right) => {
                let left = self.evaluate(left)?;
                if left.truth() { self.evaluate(right)? } else { left }
            }
            Node::Or(left, right) => {
                let left = self.evaluate(left)?;
                if left.truth() { left } else { self.evaluate(right)? }
            }
            Node::Conditional { condition, then, otherwise } => {
                let chosen = if self.evaluate(condition)?.truth() { then } else { otherwise };
                self.evaluate(chosen)?
            }
            Node::Call(function, arguments) => {
                let arguments = arguments
                    .iter()
                    .map(|argument| self.evaluate(argument))
                    .collect::<Result<Vec<_>, _>>()?;
                self.call(*function, arguments)?
            }
            Node::Index(list, index) => match (self.evaluate(list)?, self.evaluate(index)?.number()?) {
                (Datum::List(items), Number::Whole(index)) => {
                    let place = if index < 0 { index + items.len() as i64 } else { index };
                    let place = usize::try_from(place).unwrap_or(usize::MAX);
                    items.into_iter().nth(place).ok_or(EvaluationError::Kind("an index beyond its list"))?
                }
                _ => return Err(EvaluationError::Kind("only lists have an index, a whole number")),
            },
        })
    }

    fn comprehension<'n: 'a>(
        &mut self,
        item: &'n Node,
        local: usize,
        source: &'n Node,
        condition: Option<&'n Node>,
    ) -> Evaluated<'a> {
        let Datum::List(values) = self.evaluate(source)? else {
            return Err(EvaluationError::Kind("`for .. in` needs a list"));
        };
        let mut items = Vec::new();
        self.locals.truncate(local);
        for value in values {
            self.make(1)?;
            self.locals.push(value);
            let wanted = match condition {
                Some(condition) => self.evaluate(condition)?.truth(),
                None => true,
            };
            if wanted {
                items.push(self.evaluate(item)?);
            }
            self.locals.truncate(local);
        }
        Ok(Datum::List(items))
    }

    fn arithmetic(&mut self, operator: Operator, left: Datum<'a>, right: Datum<'a>) -> Evaluated<'a> {
        if operator == Operator::Add
            && let (Datum::List(left), Datum::List(right)) = (&left, &right)
        {
            self.make(left.len() + right.len())?;
            return Ok(Datum::List(left.iter().chain(right).cloned().collect()));
        }
        let (left, right) = (left.number()?, right.number()?);
        if let (Number::Whole(left), Number::Whole(right)) = (left, right)
            && let Some(result) = whole(operator, left, right)?
        {
            return Ok(Datum::Integer(result));
        }
        let (left, right) = (left.real(), right.real());
        let zero_divisor = right == 0.0
            && matches!(operator, Operator::Divide | Operator::FloorDivide | Operator::Remainder)
            || operator == Operator::Power && left == 0.0 && right < 0.0;
        if zero_divisor {
            return Err(EvaluationError::DivisionByZero);
        }
        let result = match operator {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Divide => left / right,
            Operator::FloorDivide => (left / right).floor(),
            Operator::Remainder => left - right * (left / right).floor(),
            Operator::Power => left.powf(right),
        };
        if result.is_finite() { Ok(Datum::Real(result)) } else { Err(EvaluationError::Overflow) }
    }

    fn call(&mut self, function: Function, arguments: Vec<Datum<'a>>) -> Evaluated<'a> {
        let mut arguments = arguments;
        let one = |arguments: &mut Vec<Datum<'a>>| {
            arguments.pop().ok_or(EvaluationError::Kind("an argument is missing"))
        };
        Ok(match function {
            Function::Min | Function::Max => {
                let items = match arguments.as_slice() {
                    [Datum::List(items)] => items.clone(),
                    _ => arguments,
                };
                let wanted = if function == Function::Min { Ordering::Less } else { Ordering::Greater };
                let mut items = items.into_iter();
                let mut best = items.next().ok_or(EvaluationError::Kind("min and max need a value"))?;
                for item in items {
                    let order = item.compare(&best);
                    if order.ok_or(EvaluationError::Kind("values that cannot be compared"))? == wanted {
                        best = item;
                    }
                }
                best
            }
            Function::Abs => match one(&mut arguments)?.number()? {
                Number::Whole(number) => {
                    Datum::Integer(number.checked_abs().ok_or(EvaluationError::Overflow)?)
                }
                Number::Real(number) => Datum::Real(number.abs()),
            },
            Function::Int => Datum::Integer(truncated(one(&mut arguments)?.number()?.real().trunc())?),
            Function::Round => Datum::Integer(truncated(one(&mut arguments)?.number()?.real().round())?),
            Function::Float => Datum::Real(one(&mut arguments)?.number()?.real()),
            Function::Len => match one(&mut arguments)? {
                Datum::List(items) => Datum::Integer(items.len() as i64),
                Datum::Text(text) => Datum::Integer(text.chars().count() as i64),
                _ => return Err(EvaluationError::Kind("only lists and texts have a length")),
            },
            Function::List => match one(&mut arguments)? {
                Datum::List(items) => Datum::List(items),
                _ => return Err(EvaluationError::Kind("`list` needs a list or a range")),
            },
            Function::Sum => match one(&mut arguments)? {
                Datum::List(items) => {
                    let mut total = Datum::Integer(0);
                    for item in items {
                        total = self.arithmetic(Operator::Add, total, item)?;
                    }
                    total
                }
                _ => return Err(EvaluationError::Kind("`sum` needs a list")),
            },
            Function::Range => self.range(&arguments)?,
            Function::Log => real(one(&mut arguments)?.number()?.real().ln())?,
            Function::Log2 => real(one(&mut arguments)?.number()?.real().log2())?,
            Function::Sqrt => real(one(&mut arguments)?.number()?.real().sqrt())?,
            Function::Exp => real(one(&mut arguments)?.number()?.real().exp())?,
        })
    }

    fn range(&mut self, arguments: &[Datum<'a>]) -> Evaluated<'a> {
        let mut numbers = [0, 0, 1];
        for (place, argument) in arguments.iter().enumerate().take(3) {
            numbers[place] = match argument.number()? {
                Number::Whole(number) => number,
                Number::Real(_) => return Err(EvaluationError::Kind("`range` needs whole numbers")),
            };
        }
        let (start, end, step) =
            if arguments.len() == 1 { (0, numbers[0], 1) } else { (numbers[0], numbers[1], numbers[2]) };
        if step == 0 {
            return Err(EvaluationError::Kind("the step of `range` is 0"));
        }
        let mut items = Vec::new();
        let mut next = Some(start);
        while let Some(number) = next.filter(|&number| if step > 0 { number < end } else { number > end }) {
            self.make(1)?;
            items.push(Datum::Integer(number));
            next = number.checked_add(step);
        }
        Ok(Datum::List(items))
    }
}

/// Arithmetic of whole numbers; `None` where the result is not whole.
fn whole(operator: Operator, left: i64, right: i64) -> Result<Option<i64>, EvaluationError> {
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => return Ok(None),
        Operator::FloorDivide | Operator::Remainder if right == 0 => {
            return Err(EvaluationError::DivisionByZero);
        }
        Operator::FloorDivide => left.checked_div_euclid(right).map(|quotient| {
            // Euclid's quotient rounds up for a negative divisor.
            if right < 0 && left.wrapping_rem_euclid(right) != 0 { quotient - 1 } else { quotient }
        }),
        Operator::Remainder => left
            .checked_rem_euclid(right)
            .map(|remainder| if right < 0 && remainder != 0 { remainder + right } else { remainder }),
        Operator::Power => match u32::try_from(right) {
            Ok(exponent) => left.checked_pow(exponent),
            Err(_) => return Ok(None),
        },
    };
    result.map(Some).ok_or(EvaluationError::Overflow)
}

fn real(number: f64) -> Evaluated<'static> {
    if number.is_finite() { Ok(Datum::Real(number)) } else { Err(EvaluationError::Overflow) }
}

fn truncated(number: f64) -> Result<i64, EvaluationError> {
    if number.abs() < 9e18 { Ok(number as i64) } else { Err(EvaluationError::Overflow) }
}

impl Comparator {
    fn holds(self, left: &Datum<'_>, right: &Datum<'_>) -> Result<bool, EvaluationError> {
        let ordered = |wanted: fn(Ordering) -> bool| {
            let order = left.compare(right);
            order.map(wanted).ok_or(EvaluationError::Kind("values that cannot be compared"))
        };
        match self {
            Comparator::Equal => Ok(left.equals(right)),
            Comparator::NotEqual => Ok(!left.equals(right)),
            Comparator::Less => ordered(Ordering::is_lt),
            Comparator::LessEqual => ordered(Ordering::is_le),
            Comparator::Greater => ordered(Ordering::is_gt),
            Comparator::GreaterEqual => ordered(Ordering::is_ge),
            Comparator::In | Comparator::NotIn => match right {
                Datum::List(items) => {
                    Ok(items.iter().any(|item| item.equals(left)) == (self == Comparator::In))
                }
                _ => Err(EvaluationError::Kind("`in` needs a list")),
            },
        }
    }
}
