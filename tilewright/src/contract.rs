//! Products and sums contracted where somebody asks for it: the compiled code of a plan, and how far its results may lie
//! from those of the reference.

use crate::build::Built;
use crate::error::{Error, Result};
use crate::load::Stencil;
use crate::observer::{Observer, stage};
use crate::runner::Runner;
use execution::grid::ProgramData;
use execution::tiled::{self, Tiled};
use hhc_codegen::plan_counts::steps_of_tile;
use polyhedral::contraction::{Known, Range, bound};
use polyhedral::program::{FieldId, FieldRole, SeriesId};
use toolchain::compiler::CompileOptions;

/// The same, compiled so that products and sums may be contracted.
///
/// # Errors
/// A runner that is no compiled C, and those of the compiler.
pub fn contracted(built: Built, threads: Option<usize>, observer: &dyn Observer) -> Result<Built> {
    let (Runner::OpenMp(..), Some(planned)) = (&built.runner, &built.planned) else {
        return Err(Error::wrong_input("only compiled C has a choice about contraction")
            .hint("use --backend openmp, or leave out --contract"));
    };
    let options = CompileOptions { contraction: true, ..CompileOptions::default() };
    let Tiled { native, object } = stage(observer, "compile", || tiled::load_with(&planned.plan, &options))?;
    if let Some(threads) = threads {
        native.library().set_threads(threads);
    }
    let runner = Runner::OpenMp(native, steps_of_tile(&planned.plan));
    Ok(Built { runner, compiler: Some(object.command), ..built })
}

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
    let fields = program.fields.iter().enumerate().map(|(number, field)| {
        let levels: Vec<i64> = match field.role {
            FieldRole::State { levels, .. } => (0..levels as i64).map(|level| -level).collect(),
            FieldRole::Coefficient => vec![0],
        };
        let of_level = |level| {
            let view = data.level(program, FieldId(number), level);
            let rows = data.layout().segments(0..data.points());
            rows.flat_map(|row| row.elements()).filter_map(move |at| view.get(at))
        };
        range_of(levels.into_iter().flat_map(of_level))
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
