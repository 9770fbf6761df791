//! Products and sums contracted where somebody asks for it (`BuildRequest::contract`): how far results may lie from those of the
//! reference.

use crate::load::Stencil;
use execution::grid::ProgramData;
use execution::initial::initial_levels;
use polyhedral::contraction::{Known, Range, bound};
use polyhedral::program::{FieldId, SeriesId};

/// How far results with contraction may lie from those without it, over all fields. `data` are the initial values.
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
    let bounds = bound(program, &known, u64::try_from(steps).unwrap_or(0))?;
    let bound = bounds.into_iter().fold(0.0, f64::max);
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
