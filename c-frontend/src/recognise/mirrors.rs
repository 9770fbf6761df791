//! Arrays that each step copies: `next[i] = f(u); u[i] = next[i];` and `old[i] = u[i]; u[i] = f(old);`.
//!
//! A *mirror* is an array that ends each step as another one, `u`, or as that was at the step's begin. It is left out of what is
//! computed, and gets its values once, behind the last step. With statements `W` that compute, and copies `C`:
//!
//! ```text
//! copied behind:  next[t+1] = f(u[t]) at W,  u[t+1] = next[t+1] at C
//!                 =>  u[t+1, s] = f(u[t]) at the points of W,  u[t+1, s] = next[s] at those of C that no W computes
//! copied before:  old[t+1] = u[t] at C,  u[t+1] = f(old[t+1]) at W
//!                 =>  u[t+1, s] = f(u[t]) at W
//! one behind:     u[t+1] = f(u[t], old[t]) at W,  old[t+1] = u[t] at C
//!                 =>  u[t+1, s] = f(u[t], u[t-1]) at W,  where u[-1] is what `old` holds before the first step
//! ```
//!
//! The first needs that C brings all of W to `u`, of which nobody else computes these points; the others that nothing else writes
//! `old`. All that is read of the mirror must be written in each step, and what is read one step late be computed in each: then a
//! level before the first step lies in no other one's place; and no two mirrors may say what that is at one point. So `u` has two
//! levels or more, all but one of them in memory of the tiled loops' own. What no step writes of `next` is read as an array that
//! does not change.

use super::copied::is_read;
use super::overwritten::{Assumed, Sides, around, intersection};
use super::points::{Key, Mirror, Point, PointField, Points};
use super::stencil::ReadAt;
use crate::nest::ReadOf;
use crate::text::type_text;
use std::mem;

/// Most boxes of a copy that stay.
const MOST_BOXES: usize = 8;

/// Makes mirrors of arrays that are copied, as long as there are such.
pub fn fold(points: &mut Points<'_>) {
    // One step at a time, levels in memory of their own would be copied in each.
    if points.nest.observed.as_ref().is_some_and(|observed| observed.alone) {
        return;
    }
    let found = |points: &Points<'_>| {
        (0..points.fields.len()).find_map(|mirror| behind(points, mirror).or_else(|| before(points, mirror)))
    };
    while let Some(found) = found(points) {
        found.apply(points);
    }
}

/// What a mirror would be.
struct Found {
    field: usize,
    mirror: Mirror,
    /// The copies, and the boxes of each that stay.
    copies: Vec<(usize, Vec<Sides>)>,
    assumed: Assumed,
}

/// An array that is copied to another one behind the statements that compute it.
fn behind(points: &Points<'_>, field: usize) -> Option<Found> {
    let of = points.statements.iter().find(|point| copied(points, point) == Some((field, 1)))?.target;
    if of == field || !are_plain(points, field, of) {
        return None;
    }
    let (copies, others): (Vec<_>, Vec<_>) =
        writers(points, of).partition(|(_, point)| copied(points, point) == Some((field, 1)));
    let own: Vec<&Sides> = writers(points, field).map(|(_, point)| &point.domain).collect();
    if own.is_empty() || copies.iter().any(|(_, copy)| copy.target == field) {
        return None;
    }
    let mut assumed = Assumed::new();
    for writer in &own {
        // The points of others stay theirs.
        for (_, other) in &others {
            if intersection(writer, &other.domain, &mut assumed)?.is_some() {
                return None;
            }
        }
        if !without(writer, copies.iter().map(|(_, copy)| &copy.domain), &mut assumed)?.is_empty() {
            return None;
        }
    }
    let numbers: Vec<usize> = copies.iter().map(|(number, _)| *number).collect();
    is_read_within(points, field, (1, &own), &numbers, &mut assumed)?;
    let mut list = Vec::new();
    for (number, copy) in copies {
        list.push((number, without(&copy.domain, own.iter().copied(), &mut assumed)?));
    }
    let mirror = Mirror { of, ago: 0, boxes: own.into_iter().cloned().collect(), begins: Vec::new() };
    let few = list.iter().map(|(_, rest)| rest.len()).sum::<usize>() <= MOST_BOXES;
    few.then_some(Found { field, mirror, copies: list, assumed })
}

/// An array to which another one is copied before the statements that compute that.
fn before(points: &Points<'_>, field: usize) -> Option<Found> {
    let (copies, copy): (Vec<usize>, Vec<&Point>) = writers(points, field).unzip();
    let (of, 0) = copied(points, copy.first()?)? else { return None };
    let same = copy.iter().all(|copy| copied(points, copy) == Some((of, 0)));
    if !same || of == field || !are_plain(points, field, of) || writers(points, of).next().is_none() {
        return None;
    }
    let boxes: Vec<&Sides> = copy.iter().map(|copy| &copy.domain).collect();
    let mut assumed = Assumed::new();
    is_read_within(points, field, (0, &boxes), &copies, &mut assumed)?;
    let mut begins: Vec<Sides> = Vec::new();
    for (reader, point) in points.statements.iter().enumerate() {
        for (_, read, _) in point.reads.iter().filter(|(_, read, _)| read.field == field && read.time == 0) {
            let place = super::levels::place(points, reader, &read.offset);
            let computed = writers(points, of).map(|(_, writer)| &writer.domain);
            if !without(&place, computed, &mut assumed)?.is_empty() {
                return None;
            }
            // Two arrays may hold two things there.
            let taken = points.fields.iter().filter_map(|field| field.mirror.as_ref());
            for other in taken.filter(|other| other.of == of).flat_map(|other| &other.begins) {
                if intersection(&place, other, &mut assumed)?.is_some() {
                    return None;
                }
            }
            if !begins.contains(&place) {
                begins.push(place);
            }
        }
    }
    let mirror = Mirror { of, ago: 1, boxes: boxes.into_iter().cloned().collect(), begins };
    let copies = copies.into_iter().map(|number| (number, Vec::new())).collect();
    Some(Found { field, mirror, copies, assumed })
}

/// The statements that compute a field.
fn writers<'a>(points: &'a Points<'_>, field: usize) -> impl Iterator<Item = (usize, &'a Point)> {
    points.statements.iter().enumerate().filter(move |(_, point)| point.target == field)
}

/// The field that a statement copies to the same points of another one, and the time of its values.
fn copied(points: &Points<'_>, point: &Point) -> Option<(usize, i64)> {
    let nest = points.nest;
    let [(number, read, Some(_))] = &point.reads[..] else { return None };
    let here = |read: &ReadAt| read.offset.iter().all(|by| *by == 0);
    let state = matches!(nest.reads[*number].what, ReadOf::State(_));
    (state && here(read) && is_read(points, &nest.leaves[point.leaf].value))
        .then_some((read.field, read.time))
}

/// Whether two fields are arrays of one type that take no turns, and no mirrors or seen in some.
fn are_plain(points: &Points<'_>, a: usize, b: usize) -> bool {
    let plain = |number: usize| {
        let field = &points.fields[number];
        let form = field.form.as_ref();
        field.mirror.is_none()
            && field.buffers == 1
            && form.is_some_and(|form| form.turns.is_empty() && form.counter.is_none())
            && matches!(field.key, Key::State(_))
    };
    let integers = |number: usize| {
        let form = points.fields[number].form.as_ref();
        form.and_then(|form| points.nest.integers.get(&form.array)).map(type_text)
    };
    let seen = points.fields.iter().filter_map(|field| field.mirror.as_ref()).any(|mirror| mirror.of == a);
    plain(a)
        && plain(b)
        && !seen
        && points.fields[a].element == points.fields[b].element
        && integers(a) == integers(b)
}

/// Nothing if all that statements but these read of a field lies in boxes that each step computes, and is that old at most.
fn is_read_within(
    points: &Points<'_>,
    field: usize,
    (oldest, boxes): (i64, &[&Sides]),
    without_these: &[usize],
    assumed: &mut Assumed,
) -> Option<()> {
    for (reader, point) in points.statements.iter().enumerate() {
        for (_, read, _) in point.reads.iter().filter(|(_, read, _)| read.field == field) {
            if read.time < oldest {
                return None;
            }
            if without_these.contains(&reader) {
                continue;
            }
            let place = super::levels::place(points, reader, &read.offset);
            let is_whole = place.len() == point.domain.len();
            if !is_whole || !without(&place, boxes.iter().copied(), assumed)?.is_empty() {
                return None;
            }
        }
    }
    Some(())
}

impl Found {
    fn apply(self, points: &mut Points<'_>) {
        let Found { field, mirror, copies, assumed } = self;
        points.assumed.extend(assumed);
        points.assumed.sort();
        points.assumed.dedup();
        let (of, ago) = (mirror.of, mirror.ago);
        let mut statements = Vec::new();
        let mut stays = false;
        for (number, mut point) in mem::take(&mut points.statements).into_iter().enumerate() {
            if let Some((_, rest)) = copies.iter().find(|(copy, _)| *copy == number) {
                // What stays of a copy reads what no step writes, in the mirror's place among the fields.
                for (_, read, shift) in &mut point.reads {
                    (read.time, *shift) = (0, None);
                }
                stays |= !rest.is_empty();
                statements
                    .extend(rest.iter().map(|domain| Point { domain: domain.clone(), ..point.clone() }));
                continue;
            }
            if point.target == field {
                point.target = of;
            }
            for (_, read, _) in point.reads.iter_mut().filter(|(_, read, _)| read.field == field) {
                (read.field, read.time) = (of, read.time - ago);
            }
            statements.push(point);
        }
        points.statements = statements;
        // Mirrors come last.
        let own = points.fields[field].clone();
        points.fields.push(PointField { mirror: Some(mirror), ..own.clone() });
        if stays {
            let key = match &own.key {
                Key::State(name) | Key::Coefficient(name) | Key::Place(name) => {
                    Key::Coefficient(name.clone())
                }
            };
            points.fields[field] = PointField { key, from: None, ..own };
        } else {
            remove(points, field);
        }
    }
}

/// Takes out a field that nobody uses any more.
fn remove(points: &mut Points<'_>, field: usize) {
    points.fields.remove(field);
    let moved = |other: &mut usize| *other -= usize::from(*other > field);
    for point in &mut points.statements {
        moved(&mut point.target);
        point.reads.iter_mut().for_each(|(_, read, _)| moved(&mut read.field));
    }
    points
        .fields
        .iter_mut()
        .filter_map(|field| field.mirror.as_mut())
        .for_each(|mirror| moved(&mut mirror.of));
}

/// What is left of a box without the points of others; `None` if that is not known.
fn without<'a>(
    whole: &Sides,
    others: impl Iterator<Item = &'a Sides>,
    assumed: &mut Assumed,
) -> Option<Vec<Sides>> {
    let mut rest = vec![whole.clone()];
    for other in others {
        let mut left = Vec::new();
        for part in rest {
            match intersection(&part, other, assumed)? {
                Some(common) => left.extend(around(&part, &common, assumed)),
                None => left.push(part),
            }
        }
        rest = left;
    }
    Some(rest)
}
