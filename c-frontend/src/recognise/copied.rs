//! Values of a copy: `memcpy(b, a, ..)` and then `b[i] += ..` read what was copied.
//!
//! Let `W` copy `a` to `b`, in loops of its own, and `R` compute `b` again behind them, of what it holds there, at points that `W` has
//! copied, where nobody has written `b` or `a` between the two. Then `R` finds what `a` holds, and reads that instead: what is left
//! of the copy are the points that `R` does not compute.

use super::levels::{comes_first, distance, place};
use super::overwritten::{Sides, intersection};
use super::points::{Point, Points};
use super::stencil::ReadAt;
use crate::nest::ReadOf;
use polyhedral::lower::MOST_OFFSET;
use polyhedral::program::{Expr, ExprKind, LocalId};

/// Puts what was copied in the place of copies of the same step.
pub fn read_originals(points: &mut Points<'_>) {
    for reader in 0..points.statements.len() {
        for at in 0..points.statements[reader].reads.len() {
            if let Some((read, shift)) = original(points, reader, at) {
                let own = &mut points.statements[reader].reads[at];
                (own.1, own.2) = (read, Some(shift));
            }
        }
    }
}

/// What a statement that computes the copied array again reads of its own point, in the array that was copied.
fn original(points: &Points<'_>, reader: usize, at: usize) -> Option<(ReadAt, i64)> {
    let own = &points.statements[reader];
    let (number, read, shift) = &own.reads[at];
    let nest = points.nest;
    let leaf = |point: &Point| &nest.leaves[point.leaf];
    let field = &points.fields[read.field];
    // Others may as well read the copy, which leaves the array free to be computed.
    if own.target != read.field || read.offset.iter().any(|by| *by != 0) {
        return None;
    }
    if *shift != Some(field.shift) || !matches!(nest.reads[*number].what, ReadOf::State(_)) {
        return None;
    }
    let seen = place(points, reader, &read.offset);
    let order = &nest.reads[*number].order;
    let apart =
        |a: &Point, path: &[usize]| leaf(a).path.first().is_none_or(|first| path.first() != Some(first));
    let copies = |other: &&Point| {
        let plain = is_read(points, &leaf(other).value) && other.reads.len() == 1;
        plain
            && other.target == read.field
            && apart(other, &nest.reads[*number].path)
            && leaf(other).order < *order
            && super::levels::holds(&other.domain, &seen)
    };
    let copy = points.statements.iter().filter(copies).max_by_key(|other| &leaf(other).order)?;
    let (source, from, from_shift) = &copy.reads[0];
    let original = &points.fields[from.field];
    if !matches!(nest.reads[*source].what, ReadOf::State(_))
        || from.field == read.field
        || from_shift.is_none_or(|shift| shift != original.shift)
        || original.element != field.element
    {
        return None;
    }
    let offset: Vec<i64> = read.offset.iter().zip(&from.offset).map(|(a, b)| a + b).collect();
    if offset.iter().any(|by| by.abs() > MOST_OFFSET) {
        return None;
    }
    // Nobody writes either array between the two, where they are read.
    let stays = |field: usize, cells: &Sides, offset: &[i64]| {
        points.statements.iter().filter(|other| other.target == field).all(|other| {
            if std::ptr::eq(other, copy) || intersection(cells, &other.domain, &mut Vec::new()) == Some(None)
            {
                return true;
            }
            let before = leaf(other).order < leaf(copy).order && apart(other, &leaf(copy).path);
            let behind = || {
                distance(points, &nest.reads[*number], own, other, offset)
                    .is_ok_and(|distance| !comes_first(points, other, &nest.reads[*number], &distance))
            };
            before || behind()
        })
    };
    let cells = place(points, reader, &offset);
    let known = seen.len() == own.domain.len() && cells.len() == own.domain.len();
    (known && stays(read.field, &seen, &read.offset) && stays(from.field, &cells, &offset))
        .then_some((ReadAt { field: from.field, time: read.time, offset: offset.clone() }, original.shift))
}

/// Whether a value is an element, by a name or not.
pub(super) fn is_read(points: &Points<'_>, value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Read(_) => true,
        ExprKind::Local(LocalId(number)) => is_read(points, &points.nest.temporaries[*number].value),
        _ => false,
    }
}
