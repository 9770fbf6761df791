//! What is touched and what is computed of each array, and on how large a grid that is known.

use super::boxes::Boxes;
use crate::CProgram;
use crate::recognise::{Form, Mirrors, Side, What};
use polyhedral::domain::Interval;

/// The least extents of a grid on which the tiled loops run.
pub fn least_sizes(program: &CProgram) -> Vec<i64> {
    let boxes = all_boxes(program);
    (0..program.stencil.dimension).map(|d| least_size(program, &boxes, d)).collect()
}

/// The least extent of a dimension for which pieces and statements are apart that are apart on large grids.
pub(super) fn least_size(program: &CProgram, boxes: &[(Boxes, Boxes)], d: usize) -> i64 {
    let touched = boxes.iter().flat_map(|(touched, computed)| [touched.least[d], computed.least[d]]);
    touched.chain([program.program.least_size[d]]).max().unwrap_or(0)
}

/// What is touched of each array, and what is computed.
pub(super) fn all_boxes(program: &CProgram) -> Vec<(Boxes, Boxes)> {
    (0..program.stencil.fields.len()).map(|number| boxes_of(program, number)).collect()
}

/// What is touched of a field, and what is computed.
fn boxes_of(program: &CProgram, number: usize) -> (Boxes, Boxes) {
    (touched(program, number), computed(program, number))
}

/// Everything that is read or written of a field.
fn touched(program: &CProgram, number: usize) -> Boxes {
    let stencil = &program.stencil;
    let boxes = stencil.fields[number].touched.iter().map(|(statement, offset)| {
        let sides = stencil.statements[*statement].sides.iter().zip(offset);
        sides.map(|((low, high), by)| Interval { low: low.shifted(*by), high: high.shifted(*by) }).collect()
    });
    // What mirrors get of it, or it of another one.
    let mirrors =
        stencil.fields.iter().enumerate().filter_map(|(at, field)| Some((at, field.mirrors.as_ref()?)));
    let copied = mirrors.filter(|(at, mirrors)| *at == number || mirrors.field == number);
    let copied = copied.flat_map(|(_, mirrors)| boxes_in(&mirrors.boxes));
    Boxes::union(boxes.chain(copied).collect(), stencil.dimension)
}

fn boxes_in(list: &[Vec<(Side, Side)>]) -> impl Iterator<Item = Vec<Interval>> {
    list.iter().map(|own| own.iter().map(|(low, high)| Interval { low: *low, high: *high }).collect())
}

/// Where a mirror holds the level of its field before the first one, if that is wanted.
pub(super) fn begins(program: &CProgram, mirrors: &Mirrors) -> Option<Boxes> {
    let wanted = !mirrors.begins.is_empty();
    wanted.then(|| Boxes::union(boxes_in(&mirrors.begins).collect(), program.stencil.dimension))
}

/// Everything that is computed of a field.
fn computed(program: &CProgram, number: usize) -> Boxes {
    let stencil = &program.stencil;
    if let Some(mirrors) = &stencil.fields[number].mirrors {
        return Boxes::union(boxes_in(&mirrors.boxes).collect(), stencil.dimension);
    }
    let own = stencil.statements.iter().filter(|statement| statement.target == number);
    let boxes = own.map(|statement| {
        statement.sides.iter().map(|(low, high)| Interval { low: *low, high: *high }).collect()
    });
    Boxes::union(boxes.collect(), stencil.dimension)
}

/// The first and the last points of boxes in each dimension.
pub(super) fn extremes(boxes: &Boxes) -> Vec<Interval> {
    let mut found = boxes.list.first().cloned().unwrap_or_default();
    for one in &boxes.list {
        for (side, other) in found.iter_mut().zip(one) {
            if side.low.reaches(other.low).is_some() {
                side.low = other.low;
            }
            if other.high.reaches(side.high).is_some() {
                side.high = other.high;
            }
        }
    }
    found
}

/// Whether each step computes a field at all points at which it is touched, before it reads them: what is there before is
/// not wanted.
pub(super) fn is_fresh(program: &CProgram, field: usize) -> bool {
    let What::State { buffers: 1, .. } = &program.stencil.fields[field].what else { return false };
    if program.stencil.fields[field].mirrors.as_ref().is_some_and(|mirrors| !mirrors.begins.is_empty()) {
        return false;
    }
    let reads = program.stencil.statements.iter().flat_map(|statement| &statement.reads);
    let (touched, computed) = boxes_of(program, field);
    reads.filter(|(_, read)| read.field == field).all(|(_, read)| read.time == 1)
        && touched.list == computed.list
}

/// Whether a mirror is memory that each step declares, or takes: nobody sees it behind the steps.
fn is_own(program: &CProgram, form: &Form) -> bool {
    program.own_arrays().iter().any(|one| one.name == form.array)
}

/// Whether what blocks of steps leave in a field is not wanted either: the last step, which runs as it is written, computes
/// it anew, and nothing else looks at it.
pub(super) fn is_scratch(program: &CProgram, field: usize) -> bool {
    let What::State { form, .. } = &program.stencil.fields[field].what else { return false };
    let observed = program.nest.observed.as_ref();
    program.stencil.fields[field].mirrors.is_some() && is_own(program, form)
        || observed.is_some_and(|observed| observed.last_as_written && observed.unseen)
            && form.turns.is_empty()
            && is_fresh(program, field)
}
