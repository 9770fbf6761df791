//! How far results may move where code contracts products and sums, or has approximations of quotients and roots.
//!
//! With contraction, `a * b + c` is rounded once, not twice; which sums a compiler contracts is its own choice. Both ways
//! stay near the exact value of a statement for the values that it reads. For a statement that is linear in the values of
//! states, `x' = sum of c_i * x_i + d`, with `M` the largest magnitude of a value and `E` the largest difference:
//!
//! ```text
//! E' <= sum of |c_i| * E_i + 2*R        M' <= sum of |c_i| * M_i + |d| + R
//! R:  of a sum or product z with operands that are off by R1 and R2, first R1 + R2 or |a|*R2 + |b|*R1 + R1*R2,
//!     then u*(|z| + that) + least number
//! ```
//!
//! Where quotients and roots in single precision may be approximations ([`crate::arithmetic`]), their `u` is four and two times as
//! large: 2 units in the last place of a quotient, 2^-23 of a root.
//!
//! `c_i` and `d` are intervals: coefficients and series lie between their least and largest values. The bound is for all
//! programs and all ways of contraction, and holds as long as nothing overflows. For a scheme whose `sum of |c_i|` is 1 it
//! grows with the steps; for others exponentially, whatever they really do.

use crate::program::{
    Access, BinaryOp, ElementType, Expr, ExprKind, FieldId, FieldRole, Function, Program, Statement,
};
use std::collections::BTreeMap;

/// The least and the largest value of something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The least value.
    pub low: f64,
    /// The largest one.
    pub high: f64,
}

impl Range {
    /// A single value.
    pub fn only(value: f64) -> Self {
        Range { low: value, high: value }
    }

    /// The largest magnitude.
    pub fn magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    fn add(self, other: Range) -> Range {
        Range { low: self.low + other.low, high: self.high + other.high }
    }

    fn negate(self) -> Range {
        Range { low: -self.high, high: -self.low }
    }

    fn times(self, other: Range) -> Range {
        let ends =
            [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        let (low, high) =
            ends.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
        Range { low, high }
    }
}

/// What is known of the data of a run.
#[derive(Debug, Clone)]
pub struct Known {
    /// Per field, in order: of a state the values of its initial levels, of a coefficient all of its values.
    pub fields: Vec<Range>,
    /// Per series, in order.
    pub series: Vec<Range>,
    /// Values of the parameters, in order.
    pub parameters: Vec<f64>,
}

impl Known {
    /// Values from 0 to 1 everywhere, and default parameters.
    pub fn of_units(program: &Program) -> Known {
        let values = Range { low: 0.0, high: 1.0 };
        Known {
            fields: vec![values; program.fields.len()],
            series: vec![values; program.series.len()],
            parameters: program.parameters.iter().map(|parameter| parameter.default).collect(),
        }
    }
}

/// An expression that is linear in the values of states.
#[derive(Debug, Clone)]
struct Form {
    reads: BTreeMap<Access, Range>,
    constant: Range,
    /// How far a computed value may lie from the exact one.
    rounding: f64,
}

/// What one step of a statement does to the largest magnitude and the largest difference.
struct Effect {
    target: FieldId,
    /// Per field that is read: the sum of the magnitudes of its factors.
    factors: BTreeMap<FieldId, f64>,
    constant: f64,
    rounding: f64,
}

/// Per field, how far values with and without contraction and the approximations of the program's arithmetic differ at most after so many steps; 0 for coefficients.
///
/// # Errors
/// Why there is no bound, as half a sentence: a statement is not linear in the values that it computes, or differences
/// travel from point to point within a step.
pub fn bound(program: &Program, known: &Known, steps: u64) -> Result<Vec<f64>, String> {
    if program.sweeps_in_order().next().is_some() {
        return Err(format!("{} computes points in order, each from those before", program.name));
    }
    let mut magnitudes: Vec<f64> = known.fields.iter().map(|range| range.magnitude()).collect();
    let mut differences = vec![0.0_f64; magnitudes.len()];
    // Effects hold for magnitudes up to `assumed`; they are found anew each time that those have doubled.
    let mut assumed: Vec<f64> = Vec::new();
    let mut effects: Vec<Effect> = Vec::new();
    for _ in 0..steps {
        for k in 0..program.statements.len() {
            let beyond = effects.is_empty() || magnitudes.iter().zip(&assumed).any(|(own, most)| own > most);
            if beyond {
                assumed = magnitudes.iter().map(|own| 2.0 * own + f64::MIN_POSITIVE).collect();
                let of = |statement: &Statement| effect(program, statement, known, &assumed);
                effects = program.statements.iter().map(of).collect::<Result<_, _>>()?;
            }
            let Effect { target, factors, constant, rounding } = &effects[k];
            let sum = |of: &[f64]| factors.iter().map(|(field, factor)| factor * of[field.0]).sum::<f64>();
            // The bound is computed with rounding, too.
            let up = |value: f64| value * (1.0 + 1e-12);
            let magnitude = up(sum(&magnitudes) + constant + rounding);
            let difference = up(sum(&differences) + 2.0 * rounding);
            magnitudes[target.0] = magnitudes[target.0].max(magnitude);
            differences[target.0] = differences[target.0].max(difference);
            let most = match program.field(*target).element {
                ElementType::F32 => f64::from(f32::MAX),
                ElementType::F64 => f64::MAX,
            };
            let within = |value: f64| value <= most;
            if !within(magnitudes[target.0]) || !within(differences[target.0]) {
                return Ok(vec![f64::INFINITY; magnitudes.len()]);
            }
        }
    }
    Ok(differences)
}

fn effect(
    program: &Program,
    statement: &Statement,
    known: &Known,
    magnitudes: &[f64],
) -> Result<Effect, String> {
    let mut forms = Forms { program, known, magnitudes, locals: Vec::new() };
    for local in &statement.locals {
        let form = forms.of(&local.value)?;
        forms.locals.push(form);
    }
    let form = forms.of(&statement.value)?;
    let mut factors: BTreeMap<FieldId, f64> = BTreeMap::new();
    for (access, factor) in &form.reads {
        *factors.entry(access.field).or_default() += factor.magnitude();
    }
    let (constant, rounding) = (form.constant.magnitude(), form.rounding);
    Ok(Effect { target: statement.target, factors, constant, rounding })
}

struct Forms<'a> {
    program: &'a Program,
    known: &'a Known,
    magnitudes: &'a [f64],
    locals: Vec<Form>,
}

impl Forms<'_> {
    fn of(&self, expr: &Expr) -> Result<Form, String> {
        let element = expr.element;
        let constant = |constant: Range| Form { reads: BTreeMap::new(), constant, rounding: 0.0 };
        let rounded = |value: f64| match element {
            ElementType::F32 => f64::from(value as f32),
            ElementType::F64 => value,
        };
        Ok(match &expr.kind {
            ExprKind::Literal(value) => constant(Range::only(rounded(*value))),
            ExprKind::Parameter(id) => constant(Range::only(rounded(self.known.parameters[id.0]))),
            ExprKind::Series(id, _) => constant(self.known.series[id.0]),
            ExprKind::Local(id) => self.locals[id.0].clone(),
            ExprKind::Read(access) => match self.program.field(access.field).role {
                FieldRole::Coefficient => constant(self.known.fields[access.field.0]),
                FieldRole::State { .. } => {
                    let reads = BTreeMap::from([(access.clone(), Range::only(1.0))]);
                    Form { reads, constant: Range::only(0.0), rounding: 0.0 }
                }
            },
            ExprKind::Negate(a) => {
                let a = self.of(a)?;
                a.scaled(Range::only(-1.0))
            }
            ExprKind::Cast(a) => self.rounded(self.of(a)?, element),
            ExprKind::Binary(BinaryOp::Add, a, b) => self.rounded(self.of(a)?.plus(&self.of(b)?), element),
            ExprKind::Binary(BinaryOp::Sub, a, b) => {
                self.rounded(self.of(a)?.plus(&self.of(b)?.scaled(Range::only(-1.0))), element)
            }
            ExprKind::Binary(BinaryOp::Mul, a, b) => self.product(&self.of(a)?, &self.of(b)?, element)?,
            ExprKind::Call(Function::Square, a) => {
                let a = self.of(a)?;
                self.product(&a, &a, element)?
            }
            ExprKind::Binary(BinaryOp::Div, a, b) => {
                let (a, b) = (self.of(a)?, self.of(b)?);
                let least = b.constant.low.abs().min(b.constant.high.abs()) - b.rounding;
                let one_sign = b.constant.low * b.constant.high > 0.0;
                if !b.reads.is_empty() || !one_sign || least <= 0.0 {
                    return Err(format!("{} may divide by any value", self.program.name));
                }
                let inverse = Range { low: b.constant.high.recip(), high: b.constant.low.recip() };
                let mut quotient = a.scaled(inverse);
                quotient.rounding = (a.rounding + self.magnitude(&quotient) * b.rounding) / least;
                self.rounded_by(quotient, element, self.units(4.0, element))
            }
            ExprKind::Call(Function::Sqrt, a) => {
                let mut root = self.of(a)?;
                let least = root.constant.low - root.rounding;
                if !root.reads.is_empty() || least <= 0.0 {
                    return Err(format!("{} takes roots of its values", self.program.name));
                }
                root.rounding /= 2.0 * least.sqrt();
                root.constant = Range { low: root.constant.low.sqrt(), high: root.constant.high.sqrt() };
                self.rounded_by(root, element, self.units(2.0, element))
            }
            ExprKind::Binary(..) | ExprKind::Call(..) | ExprKind::Select(..) => {
                return Err(format!("{} is not linear in its values", self.program.name));
            }
        })
    }

    /// The largest magnitude of the exact value.
    fn magnitude(&self, form: &Form) -> f64 {
        let reads =
            form.reads.iter().map(|(access, factor)| factor.magnitude() * self.magnitudes[access.field.0]);
        reads.sum::<f64>() + form.constant.magnitude()
    }

    fn product(&self, a: &Form, b: &Form, element: ElementType) -> Result<Form, String> {
        let (known, other) = match (a.reads.is_empty(), b.reads.is_empty()) {
            (true, _) => (a, b),
            (_, true) => (b, a),
            _ => return Err(format!("{} multiplies its values", self.program.name)),
        };
        let mut product = other.scaled(known.constant);
        product.rounding = known.constant.magnitude() * other.rounding
            + (self.magnitude(other) + other.rounding) * known.rounding;
        Ok(self.rounded(product, element))
    }

    /// How many times as large as that of a rounding the error of an approximation is, where there are any.
    fn units(&self, of_approximation: f64, element: ElementType) -> f64 {
        match self.program.arithmetic.approximate && element == ElementType::F32 {
            true => of_approximation,
            false => 1.0,
        }
    }

    /// One rounding more.
    fn rounded(&self, form: Form, element: ElementType) -> Form {
        self.rounded_by(form, element, 1.0)
    }

    /// One error more, so many times as large as that of a rounding.
    fn rounded_by(&self, mut form: Form, element: ElementType, times: f64) -> Form {
        let (unit, least) = match element {
            ElementType::F32 => (2.0_f64.powi(-24), 2.0_f64.powi(-149)),
            ElementType::F64 => (2.0_f64.powi(-53), f64::from_bits(1)),
        };
        form.rounding += times * (unit * (self.magnitude(&form) + form.rounding) + least);
        form
    }
}

impl Form {
    fn plus(mut self, other: &Form) -> Form {
        for (access, factor) in &other.reads {
            let own = self.reads.entry(access.clone()).or_insert(Range::only(0.0));
            *own = own.add(*factor);
        }
        self.constant = self.constant.add(other.constant);
        self.rounding += other.rounding;
        self
    }

    fn scaled(&self, by: Range) -> Form {
        let scale = |range: Range| match by {
            Range { low, high } if low == -1.0 && high == -1.0 => range.negate(),
            by => range.times(by),
        };
        Form {
            reads: self.reads.iter().map(|(access, &factor)| (access.clone(), scale(factor))).collect(),
            constant: scale(self.constant),
            rounding: self.rounding * by.magnitude(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::arithmetic::Arithmetic;

    fn of(name: &str, steps: u64) -> Result<Vec<f64>, String> {
        let program = crate::shipped::load(name).unwrap();
        let known = Known {
            fields: vec![Range { low: -1.0, high: 1.0 }; program.fields.len()],
            series: vec![Range::only(1.0); program.series.len()],
            parameters: program.parameters.iter().map(|parameter| parameter.default).collect(),
        };
        bound(&program, &known, steps)
    }

    /// A mean of its neighbours gains a few roundings a step: `2*R` with `R` below 20 units of 1.
    #[test]
    fn bounds_of_means_grow_with_the_steps() {
        let one = of("heat2d", 1).unwrap()[0];
        assert!(one > 2.0_f64.powi(-23) && one < 40.0 * 2.0_f64.powi(-24), "{one}");
        let many = of("heat2d", 100).unwrap()[0];
        assert!(many > 50.0 * one && many < 250.0 * one, "{one} {many}");
        assert_eq!(of("heat2d", 0).unwrap(), [0.0]);
    }

    /// A quotient that may be off by 2 units in the last place has a larger bound, in single precision alone; a root of a coefficient
    /// has one, one of values has none.
    #[test]
    fn approximations_have_larger_bounds() {
        let bounds = |text: &str, element: ElementType| {
            [false, true].map(|approximate| {
                let program = crate::parse("x.stencil", text).unwrap().with_element_type(element);
                let arithmetic = Arithmetic { contract: false, approximate };
                let program = Program { arithmetic, ..program };
                let known = Known {
                    fields: vec![Range { low: 0.5, high: 1.0 }; program.fields.len()],
                    ..Known::of_units(&program)
                };
                bound(&program, &known, 3).map(|bounds| bounds[0])
            })
        };
        let mean = "stencil x(t, i) { field u: f32; u[t+1, i] = (u[t, i-1] + u[t, i] + u[t, i+1]) / 3.0; }";
        let root =
            "stencil x(t, i) { field u: f32; coefficient a: f32; u[t+1, i] = sqrt(a[i]) * u[t, i-1]; }";
        for text in [mean, root] {
            let [exact, off] = bounds(text, ElementType::F32).map(Result::unwrap);
            assert!(off > 1.2 * exact && off < 4.1 * exact, "{exact:e} {off:e}");
            let [exact, off] = bounds(text, ElementType::F64).map(Result::unwrap);
            assert!(exact == off && exact > 0.0, "{exact:e} {off:e}");
        }
        let of_values = "stencil x(t, i) { field u: f32; u[t+1, i] = sqrt(u[t, i-1]); }";
        assert!(
            bounds(of_values, ElementType::F32)
                .iter()
                .all(|bound| bound.as_ref().is_err_and(|why| why.contains("roots")))
        );
    }

    #[test]
    fn programs_without_a_bound_say_why() {
        let reason = of("gradient2d", 3).unwrap_err();
        assert!(reason.contains("gradient2d"), "{reason}");
        for name in ["heat3d", "star2d3r", "wave2d", "fdtd2d", "varcoef2d"] {
            assert!(of(name, 3).unwrap().iter().any(|&bound| bound > 0.0), "{name}");
        }
        // The sum of the factors' magnitudes is 3: what the bound cannot see is that waves stay as high as they are.
        let [few, many] = [10, 10_000].map(|steps| of("wave2d", steps).unwrap()[0]);
        assert!(few < 1.0 && many.is_infinite(), "{few} {many}");
    }
}
