//! Products and sums contracted, quotients and roots approximated where somebody asks for it (`BuildRequest::arithmetic`): how far
//! results may lie from those of the reference.

use crate::load::Stencil;
use crate::text;
use execution::grid::ProgramData;
use execution::initial::initial_levels;
use polyhedral::arithmetic::Arithmetic;
use polyhedral::contraction::{Known, Range, bound};
use polyhedral::program::{FieldId, Program, SeriesId};
use serde::Serialize;
use std::fmt;

/// What generated code computes in place of a program's own operations, as a manifest says it.
#[derive(Debug, Clone, Serialize)]
pub struct Liberties {
    /// Whether products and sums are contracted.
    pub contract: bool,
    /// Whether quotients and square roots in single precision are approximations.
    pub fast_math: bool,
    /// How far results may lie from those of the program, for values from 0 to 1 and default parameters; null where that is not
    /// known.
    pub error_bound: Option<f64>,
    /// After so many time steps.
    pub error_bound_steps: u64,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_bound_unknown: Option<String>,
}

impl Liberties {
    /// Those of a program; none where code computes what it says.
    pub fn of(program: &Program, steps: u64) -> Option<Liberties> {
        let Arithmetic { contract, approximate } = program.arithmetic;
        if program.arithmetic.is_exact() {
            return None;
        }
        let found = largest(program, &Known::of_units(program), steps);
        Some(Liberties {
            contract,
            fast_math: approximate,
            error_bound: found.as_ref().ok().copied(),
            error_bound_steps: steps,
            error_bound_unknown: found.err(),
        })
    }

    /// What to know about a program for which `--fast-math` does nothing.
    pub fn note(program: &Program) -> Option<String> {
        let none = program.arithmetic.approximate && !program.arithmetic.approximates(program);
        none.then(|| {
            format!(
                "--fast-math changes nothing: {} has no quotient and no square root in single precision",
                program.name
            )
        })
    }
}

impl fmt::Display for Liberties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let contracts = "products and sums are contracted";
        let approximates = "quotients and square roots in single precision are approximations";
        match (self.contract, self.fast_math) {
            (true, true) => write!(f, "{contracts}, {approximates}")?,
            (true, false) => write!(f, "{contracts}")?,
            (false, _) => write!(f, "{approximates}")?,
        }
        let steps = text::count(self.error_bound_steps, "step", "steps");
        match (self.error_bound, &self.error_bound_unknown) {
            (Some(bound), _) => write!(f, "\nby {bound:.2e} off at most after {steps} on values from 0 to 1"),
            (None, reason) => {
                write!(
                    f,
                    "\nhow far they may be off is not known: {}",
                    reason.as_deref().unwrap_or("it was not asked")
                )
            }
        }
    }
}

/// How far results with the arithmetic of a program may lie from those of the reference, over all fields. `data` are the initial
/// values.
///
/// # Errors
/// Why there is no bound, as half a sentence.
pub fn error_bound(
    stencil: &Stencil,
    data: &ProgramData,
    parameters: &[f64],
    steps: i64,
) -> std::result::Result<f64, String> {
    let program = &stencil.program;
    let fields = (0..program.fields.len()).map(FieldId).map(|field| {
        let of_level = |level| {
            let view = data.level(program, field, level);
            let rows = data.layout().segments(0..data.points());
            rows.flat_map(|row| row.elements()).filter_map(move |at| view.get(at))
        };
        range_of(initial_levels(program, field).flat_map(of_level))
    });
    let of_series = |number| {
        let view = data.series(SeriesId(number));
        range_of((0..view.len()).filter_map(|at| view.get(at)))
    };
    let series = (0..program.series.len()).map(of_series);
    let known = Known { fields: fields.collect(), series: series.collect(), parameters: parameters.to_vec() };
    largest(program, &known, u64::try_from(steps).unwrap_or(0))
}

fn largest(program: &Program, known: &Known, steps: u64) -> std::result::Result<f64, String> {
    let bound = bound(program, known, steps)?.into_iter().fold(0.0, f64::max);
    match bound.is_finite() {
        true => Ok(bound),
        false => Err(format!("a bound of what {steps} steps of {} do is beyond all numbers", program.name)),
    }
}

/// The least and the largest of some values; everything where one of them is no number.
fn range_of(values: impl Iterator<Item = f64>) -> Range {
    let all = Range { low: f64::NEG_INFINITY, high: f64::INFINITY };
    let join = |range: Option<Range>, value: f64| match range {
        _ if value.is_nan() => Some(all),
        None => Some(Range::only(value)),
        Some(Range { low, high }) => Some(Range { low: low.min(value), high: high.max(value) }),
    };
    values.fold(None, join).unwrap_or(Range::only(0.0))
}
