//! The reference interpreter: what a program means, with nothing between the definition and the values.
//!
//! ```text
//! for t in 0..T:  for k in 0..K:  forall s in D_k:   target_k[t+1, s] = value_k(reads at s + offset)
//! ```
//!
//! Every time level is an array of its own, independent of the slots in which generated code keeps levels;
//! the results are put into the slots at the end. A statement is evaluated row by row, rows in parallel; a sweep in
//! order ([`Program::in_order`]) point by point, in lexicographic order.

use crate::error::{ExecutionError, Result};
use crate::grid::{ProgramData, Values, ValuesMut, ValuesRef, check_memory};
use crate::initial::{prepare_boundary, row_in_domain};
use crate::layout::Layout;
use crate::row::{Place, RowCode, RowElement, Sources};
use polyhedral::program::{Access, Boundary, ElementType, Field, FieldId, FieldRole, Program};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use toolchain::cancel::Cancel;
use toolchain::interrupt;

/// Called after every time step with the number of steps done; [`ControlFlow::Break`] stops the run.
pub type Progress<'a> = dyn FnMut(i64) -> ControlFlow<()> + 'a;

/// The points of a piece of work that is worth a thread.
const POINTS_PER_TASK: usize = 1 << 14;

/// Runs `steps` time steps from the initial levels in `data`, and leaves the newest levels there, each in
/// the slot of [`Program::slot_of_level`]. The boundary is prepared first.
///
/// `parameters` holds one value for each parameter, in order of declaration. Uses the current rayon pool.
///
/// # Errors
/// [`ExecutionError::WrongParameters`], [`ExecutionError::WrongSteps`], [`ExecutionError::WrongData`],
/// [`ExecutionError::OutOfMemory`] (all levels are stored once more), and [`ExecutionError::Interrupted`]
/// where `progress` or the user stops the run; `data` then still hold the initial levels.
pub fn run(
    program: &Program,
    parameters: &[f64],
    data: &mut ProgramData,
    steps: i64,
    progress: &mut Progress<'_>,
) -> Result<()> {
    check_arguments(program, parameters, steps)?;
    prepare_boundary(program, data)?;
    data.check_steps(program, steps)?;
    if steps == 0 {
        return Ok(());
    }
    check_memory(history_bytes(program, data))?;
    let codes: Vec<RowCode> =
        program.statements.iter().map(|statement| RowCode::compile(program, statement, parameters)).collect();
    let mut histories = (0..program.fields.len())
        .map(|field| History::initial(program, FieldId(field), data))
        .collect::<Result<Vec<History>>>()?;
    for step in 0..steps {
        for (statement, code) in codes.iter().enumerate() {
            sweep(program, statement, code, step, data, &mut histories)?;
        }
        interrupt::check()?;
        if progress(step + 1).is_break() {
            return Err(ExecutionError::Interrupted);
        }
    }
    for (field, history) in histories.iter().enumerate() {
        history.store(program, FieldId(field), data);
    }
    Ok(())
}

/// [`run`] without a progress hook.
///
/// # Errors
/// As for [`run`].
pub fn run_quietly(program: &Program, parameters: &[f64], data: &mut ProgramData, steps: i64) -> Result<()> {
    run(program, parameters, data, steps, &mut |_| ControlFlow::Continue(()))
}

/// The default value of every parameter, in order of declaration.
pub fn default_parameters(program: &Program) -> Vec<f64> {
    program.parameters.iter().map(|parameter| parameter.default).collect()
}

/// Whether the parameters and the number of steps can be used with the program.
///
/// # Errors
/// [`ExecutionError::WrongParameters`], [`ExecutionError::WrongSteps`].
pub fn check_arguments(program: &Program, parameters: &[f64], steps: i64) -> Result<()> {
    if parameters.len() != program.parameters.len() {
        return Err(ExecutionError::WrongParameters {
            program: program.name.clone(),
            expected: program.parameters.len(),
            found: parameters.len(),
        });
    }
    if steps < 0 {
        return Err(ExecutionError::WrongSteps(steps));
    }
    Ok(())
}

/// Bytes of the histories of all fields.
fn history_bytes(program: &Program, data: &ProgramData) -> u128 {
    let of_field = |field: &Field| match field.role {
        FieldRole::State { levels, slots } => arrays(levels, slots) as u128,
        FieldRole::Coefficient => 0,
    };
    let bytes =
        program.fields.iter().map(|field| of_field(field) * field.element.bytes() as u128).sum::<u128>();
    bytes * data.layout().level_stride() as u128
}

/// How many levels are kept: one more than the initial ones, so that the oldest that a statement may read after the
/// newest was written is there; and all that generated code would keep.
fn arrays(levels: usize, slots: usize) -> usize {
    slots.max(levels + 1)
}

/// The last time levels of one state field, newest first. Empty for coefficients.
struct History {
    newest: i64,
    levels: VecDeque<Values>,
}

impl History {
    /// The initial levels `0, -1, ..., 1 - levels`, and arrays for new ones. With a fixed boundary all of them have
    /// that of level 0, and no statement writes there.
    fn initial(program: &Program, field: FieldId, data: &ProgramData) -> Result<History> {
        let FieldRole::State { levels, slots } = program.field(field).role else {
            return Ok(History { newest: 0, levels: VecDeque::new() });
        };
        let initial = (0..levels as i64).map(|age| -age);
        let levels = initial
            .chain(std::iter::repeat(0))
            .take(arrays(levels, slots))
            .map(|level| copy_of(data.level(program, field, level)))
            .collect::<Result<_>>()?;
        Ok(History { newest: 0, levels })
    }

    /// Begins a new level, in the array of the oldest one. Where every slot has a boundary of its own, the new
    /// level has that of its slot.
    fn advance(&mut self, program: &Program, field: FieldId, data: &ProgramData) {
        let Some(mut values) = self.levels.pop_back() else { return };
        self.newest += 1;
        if program.boundary == Boundary::PerSlot {
            values.view_mut().copy_from(data.level(program, field, self.newest));
        }
        self.levels.push_front(values);
    }

    fn level(&self, level: i64) -> ValuesRef<'_> {
        self.levels[(self.newest - level) as usize].view()
    }

    /// Puts the levels that generated code would keep into their slots; at least one step was done.
    fn store(&self, program: &Program, field: FieldId, data: &mut ProgramData) {
        let FieldRole::State { levels, slots } = program.field(field).role else { return };
        let oldest = (self.newest + 1 - slots as i64).max(1 - levels as i64);
        for level in oldest..=self.newest {
            data.level_mut(program, field, level).copy_from(self.level(level));
        }
    }
}

fn copy_of(source: ValuesRef<'_>) -> Result<Values> {
    let mut values = Values::zeroed(source.element(), source.len())?;
    values.view_mut().copy_from(source);
    Ok(values)
}

/// Executes statement number `statement` of time step `step` at all points of its domain.
fn sweep(
    program: &Program,
    statement: usize,
    code: &RowCode,
    step: i64,
    data: &ProgramData,
    histories: &mut [History],
) -> Result<()> {
    let target = program.statements[statement].target;
    if histories[target.0].newest == step {
        histories[target.0].advance(program, target, data);
    }
    let layout = data.layout();
    let domain = program.points(statement, layout.size());
    let series: Vec<f64> = code
        .series
        .iter()
        .map(|&(series, offset)| {
            let element = step + offset - program.series[series.0].first;
            data.series(series).get(element as usize).unwrap_or(f64::NAN)
        })
        .collect();
    if program.in_order(statement) {
        let mut sweep = InOrder { program, code, step, data, series: &series, domain: &domain };
        return match program.field(target).element {
            ElementType::F32 => sweep.run(target, histories, 0.0_f32),
            ElementType::F64 => sweep.run(target, histories, 0.0_f64),
        };
    }
    // What the statement reads of the level that it writes are points that it does not write.
    let reads_target = code.reads.iter().any(|(access, _)| access.field == target && access.time == 1);
    let newest = &mut histories[target.0].levels[0];
    let stand_in = if reads_target {
        copy_of(newest.view())?
    } else {
        Values::zeroed(program.field(target).element, 0)?
    };
    let mut values = std::mem::replace(newest, stand_in);
    let sources = sources(program, code, step, data, histories);
    if program.is_periodic() {
        let around =
            Around { program, code, sources: &sources, series: &series, layout, domain: &domain, step };
        match values.view_mut() {
            ValuesMut::F32(values) => around.update(values),
            ValuesMut::F64(values) => around.update(values),
        }
        histories[target.0].levels[0] = values;
        return Ok(());
    }
    match values.view_mut() {
        ValuesMut::F32(values) => update_domain(code, (&sources, &series), layout, (step, &domain), values),
        ValuesMut::F64(values) => update_domain(code, (&sources, &series), layout, (step, &domain), values),
    }
    histories[target.0].levels[0] = values;
    Ok(())
}

/// The arrays that a statement reads in this step.
fn sources<'a>(
    program: &Program,
    code: &RowCode,
    step: i64,
    data: &'a ProgramData,
    histories: &'a [History],
) -> Vec<(ValuesRef<'a>, isize)> {
    let source = |(access, _): &(Access, ElementType)| {
        let values = match program.field(access.field).role {
            FieldRole::Coefficient => data.slot(access.field, 0),
            FieldRole::State { .. } => histories[access.field.0].level(step + access.time),
        };
        (values, linear_offset(&access.offset, data.layout()))
    };
    code.reads.iter().map(source).collect()
}

/// A sweep in order.
struct InOrder<'a> {
    program: &'a Program,
    code: &'a RowCode,
    step: i64,
    data: &'a ProgramData,
    series: &'a [f64],
    domain: &'a [(i64, i64)],
}

impl InOrder<'_> {
    /// Point after point: each finds what those before it have left.
    fn run<T: RowElement>(&mut self, target: FieldId, histories: &mut [History], zero: T) -> Result<()> {
        let layout = self.data.layout();
        let mut registers = self.code.registers(self.series);
        let Some((&(first, end), around)) = self.domain.split_last() else { return Ok(()) };
        if self.domain.iter().any(|(low, high)| low >= high) {
            return Ok(());
        }
        let mut row: Vec<i64> = around.iter().map(|(low, _)| *low).collect();
        let token = Cancel::current();
        loop {
            if interrupt::requested() || token.is_cancelled() {
                return Ok(());
            }
            let begin: usize =
                row.iter().zip(layout.strides()).map(|(&at, &stride)| at as usize * stride).sum();
            for column in first..end {
                let element = begin + column as usize;
                let mut value = [zero];
                let sources = sources(self.program, self.code, self.step, self.data, histories);
                let place = Place { element, step: self.step, row: &row, column };
                self.code.run(&mut registers, &sources, place, &mut value);
                T::elements_mut(histories[target.0].levels[0].view_mut())[element] = value[0];
            }
            // The next row, lexicographically.
            let Some(d) = (0..row.len()).rev().find(|&d| row[d] + 1 < around[d].1) else { return Ok(()) };
            row[d] += 1;
            row.iter_mut().zip(around).skip(d + 1).for_each(|(at, (low, _))| *at = *low);
        }
    }
}

/// A statement on a grid that wraps around: what it reads at `s + offset` lies at `(s + offset) mod n`.
struct Around<'a> {
    program: &'a Program,
    code: &'a RowCode,
    /// With offsets that nobody uses here.
    sources: &'a Sources<'a>,
    series: &'a [f64],
    layout: &'a Layout,
    domain: &'a [(i64, i64)],
    step: i64,
}

impl Around<'_> {
    fn update<T: RowElement>(&self, values: &mut [T]) {
        let Some(&(first, end)) = self.domain.last() else { return };
        let token = Cancel::current();
        self.layout.pieces_mut(values, POINTS_PER_TASK).into_par_iter().for_each_init(
            || self.code.registers(self.series),
            |registers, piece| {
                if interrupt::requested() || token.is_cancelled() {
                    return;
                }
                piece.for_each_segment(self.layout, |segment, cells| {
                    if !row_in_domain(segment.row, self.layout.size(), self.domain) {
                        return;
                    }
                    let row = row_coordinates(segment.row, self.layout.size());
                    let low = (first as usize).max(segment.column);
                    let high = (end as usize).min(segment.column + segment.length);
                    let mut at = low;
                    while at < high {
                        let (sources, count) =
                            self.from(&row, at, high - at, segment.offset - segment.column);
                        let cells = &mut cells[at - segment.column..][..count];
                        let element = segment.offset + at - segment.column;
                        let place = Place { element, step: self.step, row: &row, column: at as i64 };
                        self.code.run(registers, &sources, place, cells);
                        at += count;
                    }
                });
            },
        );
    }

    /// The arrays that the point in this column of a row reads, with what to add to its element, and how many points from
    /// there on, at most so many, find their own at the same distance.
    fn from(
        &self,
        row: &[i64],
        column: usize,
        most: usize,
        begin: usize,
    ) -> (Vec<(ValuesRef<'_>, isize)>, usize) {
        let (size, strides) = (self.layout.size(), self.layout.strides());
        let inner = row.len();
        let mut count = most;
        let element = (begin + column) as i64;
        let around =
            |d: usize, place: i64| if self.program.periodic[d] { place.rem_euclid(size[d]) } else { place };
        let mut of = |offset: &[i64]| {
            let outer: i64 = (0..inner).map(|d| around(d, row[d] + offset[d]) * strides[d] as i64).sum();
            let place = around(inner, column as i64 + offset[inner]);
            // Up to the end of the grid, where the next one begins again.
            count = count.min((size[inner] - place).max(1) as usize);
            (outer + place - element) as isize
        };
        let sources: Vec<(ValuesRef<'_>, isize)> = (self.code.reads.iter().zip(self.sources))
            .map(|((access, _), (values, _))| (*values, of(&access.offset)))
            .collect();
        (sources, count)
    }
}

/// The coordinates of a row of the grid.
fn row_coordinates(mut number: usize, size: &[i64]) -> Vec<i64> {
    let mut row = vec![0; size.len() - 1];
    for d in (0..row.len()).rev() {
        row[d] = (number % size[d] as usize) as i64;
        number /= size[d] as usize;
    }
    row
}

fn linear_offset(offset: &[i64], layout: &Layout) -> isize {
    offset.iter().zip(layout.strides()).map(|(&offset, &stride)| offset as isize * stride as isize).sum()
}

fn update_domain<T: RowElement>(
    code: &RowCode,
    (sources, series): (&Sources<'_>, &[f64]),
    layout: &Layout,
    (step, domain): (i64, &[(i64, i64)]),
    values: &mut [T],
) {
    let Some(&(first, end)) = domain.last() else { return };
    let (first, end) = (first as usize, end as usize);
    let token = Cancel::current();
    layout.pieces_mut(values, POINTS_PER_TASK).into_par_iter().for_each_init(
        || code.registers(series),
        |registers, piece| {
            // A step on a large grid takes seconds; the caller looks at the flag before it uses the result.
            if interrupt::requested() || token.is_cancelled() {
                return;
            }
            piece.for_each_segment(layout, |segment, cells| {
                let column = segment.column;
                let low = first.max(column);
                let high = end.min(column + segment.length);
                if low < high && row_in_domain(segment.row, layout.size(), domain) {
                    let cells = &mut cells[low - column..high - column];
                    let row = match code.asks_for_places() {
                        true => row_coordinates(segment.row, layout.size()),
                        false => Vec::new(),
                    };
                    let element = segment.offset + low - column;
                    let place = Place { element, step, row: &row, column: low as i64 };
                    code.run(registers, sources, place, cells);
                }
            });
        },
    );
}
