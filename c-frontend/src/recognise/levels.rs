//! Times: at which step was the value computed that a read finds?
//!
//! Statement `r` reads, from its point `s`, the cell `s + o` of an array. The point at which writer `w` computes that
//! cell is at a constant distance in the loops that both share. In the order of execution the write comes first in
//! this step if that distance is lexicographically negative, or zero and `w` stands before the read in the text:
//!
//! ```text
//! write first:  the read finds level t + 1      else:  level t + 1 - k, for an array of k buffers
//! ```
//!
//! A program of statements, each of which runs over all its points before the next one starts, finds the same values
//! if a write that comes first belongs to an earlier statement; or to the same one, at a point that comes earlier in the
//! lexicographic order of subscripts, in which a stencil's statement that reads itself runs. Otherwise the loop cannot be
//! brought to that form.
//!
//! Nothing else orders the statements: a read names the level that it finds, also where a later level is there already. So
//! they are sorted by what they read of each other, and follow the text where that leaves a choice:
//!
//! ```text
//! for (i) { d = f(a[i - 1], a[i + 1]) - a[i]; b[i] = d; a[i] += d; }
//! =>  a[t+1, i] = a[t, i] + d;   b[t+1, i] = d   where   d = f(a[t+1, i-1], a[t, i+1]) - a[t, i]
//! ```

use super::overwritten::intersection;
use super::points::{Point, Points};
use super::stencil::{Centre, ReadAt};
use crate::codes;
use crate::nest::{Read, ReadOf, Result};
use crate::polynomial::Polynomial;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::draft::comes_earlier;
use polyhedral::source::Span;

/// Sets the times of all reads.
pub fn levels(points: &mut Points<'_>) -> Result<()> {
    sort(points);
    let mut times = Vec::new();
    let mut assumed = std::mem::take(&mut points.assumed);
    for (reader, point) in points.statements.iter().enumerate() {
        for (at, (number, read, shift)) in point.reads.iter().enumerate() {
            if let Some(shift) = shift {
                let time = time(points, reader, *number, read, *shift, &mut assumed)?;
                times.push((reader, at, time));
            }
        }
    }
    for (reader, at, time) in times {
        points.statements[reader].reads[at].1.time = time;
    }
    assumed.sort();
    assumed.dedup();
    points.assumed = assumed;
    Ok(())
}

/// The time, relative to `t`, of the value that a read finds.
fn time(
    points: &Points<'_>,
    reader: usize,
    number: usize,
    at: &ReadAt,
    shift: i64,
    assumed: &mut Vec<(Polynomial, Polynomial)>,
) -> Result<i64> {
    let (field, offset) = (at.field, at.offset.as_slice());
    let own = &points.fields[field];
    let read = &points.nest.reads[number];
    let ago = ago(points, at, shift);
    if ago != 0 {
        return Ok(1 - ago);
    }
    let place = place(points, reader, offset);
    let (old, new) = (1 - own.buffers, 1);
    let mut found: Vec<(i64, usize, String)> = Vec::new();
    let mut whole = false;
    for (writer, other) in points.statements.iter().enumerate().filter(|(_, other)| other.target == field) {
        match apart(&place, &other.domain) {
            Apart::Yes => continue,
            Apart::If(high, low) => {
                assumed.push((high, low));
                continue;
            }
            Apart::No => {}
        }
        let distance = distance(points, read, &points.statements[reader], other, offset)?;
        if let ReadOf::State(element) = &read.what
            && distance.iter().any(|(by, at)| *by != 0 && element.around.iter().any(|(own, _)| own == at))
        {
            return Err(Box::new(
                Diagnostic::limitation(
                    codes::IN_PLACE,
                    read.span.clone(),
                    format!(
                        "this reads around the ends of `{}` what the same loop is computing",
                        element.array
                    ),
                )
                .related(points.nest.leaves[other.leaf].target.span.clone(), "computed here")
                .note("some of the points around the ends come earlier in the loop, others later")
                .hint(
                    "write to a second array, or to the other one of two buffers, or use loops of their own",
                ),
            ));
        }
        let first = comes_first(points, other, read, &distance);
        let time = if first { new } else { old };
        let in_order = writer == reader && comes_earlier(offset);
        if first && writer >= reader && !in_order {
            return Err(refuse(points, read, reader, writer, &distance, field));
        }
        // What comes first and writes all that is read decides, whatever is written again later.
        whole |= first && holds(&other.domain, &place);
        found.push((time, writer, vector(points, &distance, first)));
    }
    let Some((known, earlier, other)) = found.first() else {
        return Ok(if own.buffers == 1 { 0 } else { old });
    };
    if whole {
        return Ok(new);
    }
    match found.iter().find(|(time, ..)| time != known) {
        None => Ok(*known),
        Some((time, writer, vector)) => {
            let span =
                |statement: usize| points.nest.leaves[points.statements[statement].leaf].target.span.clone();
            let when = |time: i64| if time == new { "computed earlier" } else { "computed later" };
            let [one, two] = [*earlier, *writer].map(|statement| &points.statements[statement].domain);
            let twice = intersection(one, two, &mut Vec::new()).is_some_and(|common| common.is_some());
            let hint = if earlier != writer && twice {
                "where each of two loops computes every second point (red-black): let them differ in the colour alone, and \
                 nothing else stand in the time loop"
            } else {
                "give the first or last rows loops of their own, which read what one loop has computed"
            };
            Err(Box::new(
                Diagnostic::limitation(
                    codes::ORDER,
                    read.span.clone(),
                    "this reads points of which some are computed earlier in the same step, and others later",
                )
                .related(span(*earlier), when(*known))
                .related(span(*writer), when(*time))
                .note(format!("{other}, and {vector}"))
                .hint(hint),
            ))
        }
    }
}

/// How many steps ago the buffer was written that is read: step `t` writes buffer `(t + own.shift) mod k`.
fn ago(points: &Points<'_>, at: &ReadAt, shift: i64) -> i64 {
    let own = &points.fields[at.field];
    (own.shift - shift).rem_euclid(own.buffers)
}

/// The cells that a statement reads.
pub(super) fn place(points: &Points<'_>, reader: usize, offset: &[i64]) -> Vec<(Polynomial, Polynomial)> {
    let moved = |bound: &Polynomial, by: i64| bound.plus(&Polynomial::number(1), by);
    let domain = points.statements[reader].domain.iter().zip(offset);
    domain.filter_map(|((low, high), by)| moved(low, *by).zip(moved(high, *by))).collect()
}

/// Whether an element is written before it is read in the same step.
pub(super) fn comes_first(
    points: &Points<'_>,
    writer: &Point,
    read: &Read,
    distance: &[(i64, usize)],
) -> bool {
    match distance.iter().find(|(by, _)| *by != 0) {
        Some((by, _)) => *by < 0,
        None => points.nest.leaves[writer.leaf].order < read.order,
    }
}

/// Brings statements behind those whose values of the same step they read, if they can all be.
fn sort(points: &mut Points<'_>) {
    let count = points.statements.len();
    let needs: Vec<Vec<usize>> = (0..count).map(|reader| needs(points, reader)).collect();
    let mut order: Vec<usize> = Vec::new();
    while order.len() < count {
        let ready = |at: &usize| !order.contains(at) && needs[*at].iter().all(|other| order.contains(other));
        // In a circle they stay as they are, and are refused.
        let Some(next) = (0..count).find(ready) else { return };
        order.push(next);
    }
    points.statements = order.iter().map(|at| points.statements[*at].clone()).collect();
}

/// The other statements that write what a statement reads, before it does.
fn needs(points: &Points<'_>, reader: usize) -> Vec<usize> {
    let mut list = Vec::new();
    for (number, at, shift) in &points.statements[reader].reads {
        if shift.is_none_or(|shift| ago(points, at, shift) != 0) {
            continue;
        }
        let read = &points.nest.reads[*number];
        let place = place(points, reader, &at.offset);
        let writes = |other: &Point| {
            other.target == at.field
                && matches!(apart(&place, &other.domain), Apart::No)
                && distance(points, read, &points.statements[reader], other, &at.offset)
                    .is_ok_and(|distance| comes_first(points, other, read, &distance))
        };
        list.extend(
            (0..points.statements.len()).filter(|at| *at != reader && writes(&points.statements[*at])),
        );
    }
    list
}

/// Whether a box holds another one for certain.
pub(super) fn holds(outer: &[(Polynomial, Polynomial)], inner: &[(Polynomial, Polynomial)]) -> bool {
    let at_most = |a: &Polynomial, b: &Polynomial| b.distance(a).is_some_and(|by| by >= 0);
    outer.len() == inner.len()
        && outer
            .iter()
            .zip(inner)
            .all(|((low, high), (first, behind))| at_most(low, first) && at_most(behind, high))
}

/// Whether two boxes have no common point.
enum Apart {
    Yes,
    /// If the first is not greater than the second, which holds for all large sizes.
    If(Polynomial, Polynomial),
    No,
}

fn apart(a: &[(Polynomial, Polynomial)], b: &[(Polynomial, Polynomial)]) -> Apart {
    let pairs = || {
        a.iter()
            .zip(b)
            .flat_map(|((low, high), (other_low, other_high))| [(high, other_low), (other_high, low)])
    };
    if pairs().any(|(high, low)| low.distance(high).is_some_and(|gap| gap >= 0)) {
        return Apart::Yes;
    }
    let large = |(high, low): &(&Polynomial, &Polynomial)| {
        low.plus(high, -1).is_some_and(|gap| gap.growing().magnitude() > 0)
    };
    match pairs().find(large) {
        Some((high, low)) => Apart::If(high.clone(), low.clone()),
        None => Apart::No,
    }
}

/// How far, in each loop around both, the write is from the read, and the loop; in the order of execution.
pub(super) fn distance(
    points: &Points<'_>,
    read: &Read,
    reader: &Point,
    writer: &Point,
    offset: &[i64],
) -> Result<Vec<(i64, usize)>> {
    let write_path = &points.nest.leaves[writer.leaf].path;
    let shared = read.path.iter().zip(write_path).take_while(|(a, b)| a == b).map(|(at, _)| *at);
    let mut list = Vec::new();
    for at in shared {
        let dimension = |point: &Point| {
            point.centre.iter().enumerate().find_map(|(dimension, centre)| match centre {
                Centre::Loop(own, shift) if *own == at => Some((dimension, shift.clone())),
                _ => None,
            })
        };
        let by = match (dimension(reader), dimension(writer)) {
            (Some((d, from)), Some((e, to))) if d == e => from.distance(&to).map(|shift| shift + offset[d]),
            _ => None,
        };
        let Some(by) = by else {
            return Err(Box::new(
                Diagnostic::limitation(
                    codes::ORDER,
                    read.span.clone(),
                    "this element and the place where it is computed do not lie at a constant distance",
                )
                .related(points.nest.leaves[writer.leaf].target.span.clone(), "computed here"),
            ));
        };
        list.push((if points.nest.loops[at].descending { -by } else { by }, at));
    }
    Ok(list)
}

/// The dependence between a read and the write of what it reads, over the loops that both share: a flow dependence if the
/// write comes first, an anti-dependence if the read does.
fn vector(points: &Points<'_>, distance: &[(i64, usize)], flow: bool) -> String {
    let nest = points.nest;
    let names: Vec<&str> = std::iter::once(nest.time.name.as_str())
        .chain(distance.iter().map(|(_, at)| nest.loops[*at].name.as_str()))
        .collect();
    let sign = if flow { -1 } else { 1 };
    let steps: Vec<String> = std::iter::once("0".to_owned())
        .chain(distance.iter().map(|(by, _)| (sign * by).to_string()))
        .collect();
    let kind = if flow { "a flow dependence" } else { "an anti-dependence" };
    format!("{kind} of distance ({}) over ({})", steps.join(", "), names.join(", "))
}

/// Says which dependence stands in the way.
fn refuse(
    points: &Points<'_>,
    read: &Read,
    reader: usize,
    writer: usize,
    distance: &[(i64, usize)],
    field: usize,
) -> Box<Diagnostic> {
    let nest = points.nest;
    let target: Span = nest.leaves[points.statements[writer].leaf].target.span.clone();
    let vector = vector(points, distance, true);
    let name = match &points.fields[field].key {
        super::points::Key::State(name) => name.clone(),
        _ => String::new(),
    };
    if reader == writer {
        let back = distance.iter().find(|(by, at)| *by != 0 && nest.loops[*at].descending);
        let found = Diagnostic::limitation(
            codes::IN_PLACE,
            read.span.clone(),
            format!("this reads a point of `{name}` that the same sweep has just computed"),
        )
        .label("read here")
        .related(target, "computed here, in place")
        .note(vector)
        .note(
            "an update in place (Gauss-Seidel) is computed in the order of its subscripts, each counting up, the first \
             one outermost; here the loops go another way, so that this point comes later",
        );
        return Box::new(match back {
            Some((_, at)) => found
                .note(format!(
                    "`{}` counts down: where other loops of a step have swept the same lines forward, as in the solution of \
                     tridiagonal systems (ADI), every point waits for its whole line, and no tile can hold two steps",
                    nest.loops[*at].name
                ))
                .hint("store the lines the other way round and count up, if all loops over them go this way"),
            None => found
                .hint("count up, and nest the loops in the order of the subscripts, if that is what is meant")
                .hint("or write to a second array, or to the other one of two buffers (Jacobi)"),
        });
    }
    Box::new(
        Diagnostic::limitation(
            codes::ORDER,
            read.span.clone(),
            format!("this reads a point of `{name}` that a later statement of the same sweep has computed"),
        )
        .label("read here")
        .related(target, "computed here, in an earlier round of the same loops")
        .note(vector)
        .note("each statement must be able to run over all its points before the next one starts")
        .hint("give each statement loops of its own, if that is what is meant"),
    )
}
