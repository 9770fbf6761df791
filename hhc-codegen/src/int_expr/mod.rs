//! Integer expressions of loop bounds: built once by a strategy, then evaluated (tests, counts), turned into the tree of
//! C (back ends) and printed as isl constraints (legality), so that all three agree.

mod environment;

use std::fmt::{self, Write as _};
use std::ops::{Add, Mul, Sub};
use std::sync::Arc;

/// An integer expression over named variables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum IntExpr {
    /// A constant.
    Const(i64),
    /// A variable: a size (`n0`), `steps`, a loop variable, or a value bound by the kernel.
    Var(&'static str),
    /// `a + b`
    Add(Arc<IntExpr>, Arc<IntExpr>),
    /// `a - b`
    Sub(Arc<IntExpr>, Arc<IntExpr>),
    /// `c * a`
    Scale(i64, Arc<IntExpr>),
    /// `floor(a / c)`, `c > 0`
    FloorDiv(Arc<IntExpr>, i64),
    /// `a - c * floor(a / c)`, `c > 0`
    Modulo(Arc<IntExpr>, i64),
    /// `min(a, b)`
    Min(Arc<IntExpr>, Arc<IntExpr>),
    /// `max(a, b)`
    Max(Arc<IntExpr>, Arc<IntExpr>),
}

use IntExpr::{Const, Var};

pub use environment::Environment;

/// A variable.
pub fn var(name: &'static str) -> IntExpr {
    Var(name)
}

/// A constant.
pub fn int(value: i64) -> IntExpr {
    Const(value)
}

/// Of values none of which may be negative those that matter: of several that differ by a constant the least.
pub fn strictest(values: Vec<IntExpr>) -> Vec<IntExpr> {
    let mut kept: Vec<IntExpr> = Vec::new();
    for value in values {
        // What they differ by, if it is a constant.
        let differ = |other: &IntExpr| match (value.clone() - other.clone()).sum() {
            (terms, constant) if terms.is_empty() => Some(constant),
            _ => None,
        };
        match kept.iter_mut().find_map(|other| differ(other).map(|constant| (other, constant))) {
            Some((other, constant)) if constant < 0 => *other = value,
            Some(_) => {}
            None => kept.push(value),
        }
    }
    kept
}

impl From<i64> for IntExpr {
    fn from(value: i64) -> Self {
        Const(value)
    }
}

impl IntExpr {
    /// `floor(self / divisor)`; `divisor` must be positive.
    pub fn floor_div(self, divisor: i64) -> IntExpr {
        match self {
            Const(value) => Const(value.div_euclid(divisor)),
            expr if divisor == 1 => expr,
            expr => IntExpr::FloorDiv(Arc::new(expr), divisor),
        }
    }

    /// `ceil(self / divisor)`; `divisor` must be positive.
    pub fn ceil_div(self, divisor: i64) -> IntExpr {
        (self + (divisor - 1)).floor_div(divisor)
    }

    /// `self mod divisor` in `0 .. divisor`; `divisor` must be positive.
    pub fn modulo(self, divisor: i64) -> IntExpr {
        match self {
            Const(value) => Const(value.rem_euclid(divisor)),
            expr => match expr.sum() {
                (terms, constant) if terms.iter().all(|(_, factor)| factor % divisor == 0) => {
                    Const(constant.rem_euclid(divisor))
                }
                _ => IntExpr::Modulo(Arc::new(expr), divisor),
            },
        }
    }

    /// The smaller of the two.
    pub fn min(self, other: impl Into<IntExpr>) -> IntExpr {
        match (self, other.into()) {
            (Const(a), Const(b)) => Const(a.min(b)),
            (a, b) if a == b => a,
            (a, b) => IntExpr::Min(Arc::new(a), Arc::new(b)),
        }
    }

    /// The larger of the two.
    pub fn max(self, other: impl Into<IntExpr>) -> IntExpr {
        match (self, other.into()) {
            (Const(a), Const(b)) => Const(a.max(b)),
            (a, b) if a == b => a,
            (a, b) => IntExpr::Max(Arc::new(a), Arc::new(b)),
        }
    }

    /// The value; `None` where a variable is missing.
    pub fn evaluate(&self, environment: &Environment) -> Option<i64> {
        Some(match self {
            Const(value) => *value,
            Var(name) => environment.get(name)?,
            IntExpr::Add(a, b) => a.evaluate(environment)? + b.evaluate(environment)?,
            IntExpr::Sub(a, b) => a.evaluate(environment)? - b.evaluate(environment)?,
            IntExpr::Scale(factor, a) => factor * a.evaluate(environment)?,
            IntExpr::FloorDiv(a, divisor) => a.evaluate(environment)?.div_euclid(*divisor),
            IntExpr::Modulo(a, divisor) => a.evaluate(environment)?.rem_euclid(*divisor),
            IntExpr::Min(a, b) => a.evaluate(environment)?.min(b.evaluate(environment)?),
            IntExpr::Max(a, b) => a.evaluate(environment)?.max(b.evaluate(environment)?),
        })
    }

    /// The constant value, if it is one.
    pub fn constant(&self) -> Option<i64> {
        if let Const(value) = self { Some(*value) } else { None }
    }

    /// Whether the variable occurs.
    pub fn mentions(&self, name: &str) -> bool {
        match self {
            Const(_) => false,
            Var(own) => *own == name,
            IntExpr::Scale(_, a) | IntExpr::FloorDiv(a, _) | IntExpr::Modulo(a, _) => a.mentions(name),
            IntExpr::Add(a, b) | IntExpr::Sub(a, b) | IntExpr::Min(a, b) | IntExpr::Max(a, b) => {
                a.mentions(name) || b.mentions(name)
            }
        }
    }

    /// The expression with a variable replaced.
    pub fn substitute(&self, name: &'static str, value: &IntExpr) -> IntExpr {
        self.replace(&Var(name), value)
    }

    /// The expression with another one instead of each part that is equal to `part`.
    pub fn replace(&self, part: &IntExpr, with: &IntExpr) -> IntExpr {
        let walk = |a: &IntExpr| a.replace(part, with);
        if self == part {
            return with.clone();
        }
        match self {
            Const(_) | Var(_) => self.clone(),
            IntExpr::Add(a, b) => walk(a) + walk(b),
            IntExpr::Sub(a, b) => walk(a) - walk(b),
            IntExpr::Scale(factor, a) => walk(a) * *factor,
            IntExpr::FloorDiv(a, divisor) => walk(a).floor_div(*divisor),
            IntExpr::Modulo(a, divisor) => walk(a).modulo(*divisor),
            IntExpr::Min(a, b) => walk(a).min(walk(b)),
            IntExpr::Max(a, b) => walk(a).max(walk(b)),
        }
    }

    /// The expression as a sum: multiples of variables, roundings and extrema, none of them twice, and a constant.
    pub fn sum(&self) -> (Vec<(IntExpr, i64)>, i64) {
        let (mut terms, mut constant) = (Vec::new(), 0);
        self.add_to(1, &mut terms, &mut constant);
        terms.retain(|(_, factor)| *factor != 0);
        (terms, constant)
    }

    fn add_to(&self, factor: i64, terms: &mut Vec<(IntExpr, i64)>, constant: &mut i64) {
        match self {
            Const(value) => *constant += factor * value,
            IntExpr::Add(a, b) => {
                a.add_to(factor, terms, constant);
                b.add_to(factor, terms, constant);
            }
            IntExpr::Sub(a, b) => {
                a.add_to(factor, terms, constant);
                b.add_to(-factor, terms, constant);
            }
            IntExpr::Scale(own, a) => a.add_to(factor * own, terms, constant),
            _ => match terms.iter_mut().find(|(known, _)| known == self) {
                Some((_, known)) => *known += factor,
                None => terms.push((self.clone(), factor)),
            },
        }
    }

    /// How much larger it is than another expression, where that is one number.
    pub fn minus(&self, other: &IntExpr) -> Option<i64> {
        let (terms, constant) = (self.clone() - other.clone()).sum();
        terms.is_empty().then_some(constant)
    }

    /// isl text; `Min` and `Max` are isl's `min` and `max`, which make unions
    /// ([`IntExpr::largest_of`] and [`IntExpr::least_of`] take apart those that need none).
    pub fn to_isl(&self) -> String {
        self.print(0, &|operator, a, b| match operator {
            "floordiv" => format!("floor(({a})/{b})"),
            "modulo" => format!("(({a}) mod {b})"),
            _ => format!("{operator}({a}, {b})"),
        })
    }

    /// The expressions of which this one is the largest: `x >= max(a, b)` is two constraints. A least of several stays
    /// whole, as `x >= min(a, b)` is none of them alone.
    pub fn largest_of(&self) -> Vec<IntExpr> {
        self.extreme_of(true)
    }

    /// The expressions of which this one is the least: `x <= min(a, b)` is two constraints, and so is `min(a, b) >= 0`.
    pub fn least_of(&self) -> Vec<IntExpr> {
        self.extreme_of(false)
    }

    fn extreme_of(&self, largest: bool) -> Vec<IntExpr> {
        let combine =
            |left: Vec<IntExpr>, right: Vec<IntExpr>, join: &dyn Fn(IntExpr, IntExpr) -> IntExpr| {
                left.iter().flat_map(|x| right.iter().map(|y| join(x.clone(), y.clone()))).collect::<Vec<_>>()
            };
        match self {
            IntExpr::Min(a, b) if !largest => [a.extreme_of(false), b.extreme_of(false)].concat(),
            IntExpr::Max(a, b) if largest => [a.extreme_of(true), b.extreme_of(true)].concat(),
            IntExpr::Add(a, b) => combine(a.extreme_of(largest), b.extreme_of(largest), &|x, y| x + y),
            // a - max(b, c) = min(a - b, a - c)
            IntExpr::Sub(a, b) => combine(a.extreme_of(largest), b.extreme_of(!largest), &|x, y| x - y),
            _ => vec![self.clone()],
        }
    }

    /// Prints with as few parentheses as are needed. `level`: 0 in a sum, 1 right of a minus, 2 in a product.
    fn print(&self, level: u8, call: &dyn Fn(&str, &str, &str) -> String) -> String {
        let mut text = String::new();
        let parenthesise = |inner: String, needed: bool| if needed { format!("({inner})") } else { inner };
        match self {
            Const(value) => {
                let _ = write!(text, "{value}");
                return parenthesise(text, *value < 0 && level > 0);
            }
            Var(name) => text.push_str(name),
            IntExpr::Add(a, b) => {
                let inner = match b.as_ref() {
                    Const(value) if *value < 0 => format!("{} - {}", a.print(0, call), -value),
                    _ => format!("{} + {}", a.print(0, call), b.print(0, call)),
                };
                return parenthesise(inner, level > 0);
            }
            IntExpr::Sub(a, b) => {
                return parenthesise(format!("{} - {}", a.print(0, call), b.print(1, call)), level > 0);
            }
            IntExpr::Scale(factor, a) => {
                return parenthesise(
                    format!("{factor}*{}", a.print(2, call)),
                    level > 1 || (*factor < 0 && level > 0),
                );
            }
            IntExpr::FloorDiv(a, divisor) => {
                return call("floordiv", &a.print(0, call), &divisor.to_string());
            }
            IntExpr::Modulo(a, divisor) => return call("modulo", &a.print(0, call), &divisor.to_string()),
            IntExpr::Min(a, b) => return call("min", &a.print(0, call), &b.print(0, call)),
            IntExpr::Max(a, b) => return call("max", &a.print(0, call), &b.print(0, call)),
        }
        text
    }
}

/// For readers of plans and messages.
impl fmt::Display for IntExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.print(0, &|operator, a, b| format!("tw_{operator}({a}, {b})")))
    }
}

impl<T: Into<IntExpr>> Add<T> for IntExpr {
    type Output = IntExpr;
    fn add(self, other: T) -> IntExpr {
        match (self, other.into()) {
            (Const(a), Const(b)) => Const(a + b),
            (a, Const(0)) => a,
            (Const(0), b) => b,
            // Constants gather on the right, so that bounds read `x0 + 3` and not `x0 + 1 + 2`.
            (IntExpr::Add(x, y), Const(b)) if matches!(*y, Const(_)) => (*x).clone() + ((*y).clone() + b),
            (Const(a), b) => b + a,
            (a, b) => IntExpr::Add(Arc::new(a), Arc::new(b)),
        }
    }
}

impl<T: Into<IntExpr>> Sub<T> for IntExpr {
    type Output = IntExpr;
    fn sub(self, other: T) -> IntExpr {
        match (self, other.into()) {
            (a, Const(b)) => a + (-b),
            (a, b) if a == b => Const(0),
            (a, b) => IntExpr::Sub(Arc::new(a), Arc::new(b)),
        }
    }
}

impl Mul<i64> for IntExpr {
    type Output = IntExpr;
    fn mul(self, factor: i64) -> IntExpr {
        match (self, factor) {
            (Const(a), f) => Const(a * f),
            (_, 0) => Const(0),
            (a, 1) => a,
            (IntExpr::Scale(own, a), f) => (*a).clone() * (own * f),
            (a, f) => IntExpr::Scale(f, Arc::new(a)),
        }
    }
}
