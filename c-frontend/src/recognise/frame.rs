//! The grid: the least box around all points that are read or written, with all bounds counted from its ends.

use super::points::{Key, Points};
use super::stencil::{Centre, GridField, Mirrors, Side, Statement, Stencil, What};
use crate::codes;
use crate::nest::Result;
use crate::polynomial::{Polynomial, Symbol};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::domain::Bound;
use std::collections::BTreeSet;

/// The stencil, with its grid.
pub fn stencil(points: Points<'_>) -> Result<Stencil> {
    let dimension = points.dimension;
    let mut grid = Vec::new();
    let mut sides: Vec<Vec<(Side, Side)>> = vec![Vec::new(); points.statements.len()];
    let mut fields = fields(&points);
    let mirrors =
        || points.fields.iter().enumerate().filter_map(|(at, field)| Some((at, field.mirror.as_ref()?)));
    for d in 0..dimension {
        let (low, high) = extent(&points, d)?;
        let gap = widest_gap(&points, d, &low, &high);
        for (number, point) in points.statements.iter().enumerate() {
            let (first, behind) = &point.domain[d];
            let side = |bound: &Polynomial, is_low: bool| side(bound, &low, &high, is_low, gap);
            let both = side(first, true).zip(side(behind, false));
            let Some(mut both) = both else {
                return Err(different(&points, number, d));
            };
            // One point keeps both sides at the same end.
            if matches!(point.centre[d], Centre::Point(_)) && both.0.from != both.1.from {
                both.1 = both.0.shifted(1);
            }
            sides[number].push(both);
        }
        let both = |own: &(Polynomial, Polynomial)| {
            let side = |bound: &Polynomial, is_low: bool| side(bound, &low, &high, is_low, gap);
            side(&own.0, true).zip(side(&own.1, false)).ok_or_else(|| different(&points, 0, d))
        };
        for (at, mirror) in mirrors() {
            let Some(own) = &mut fields[at].mirrors else { continue };
            let sets = [(&mirror.boxes, &mut own.boxes), (&mirror.begins, &mut own.begins)];
            for (from, to) in sets.into_iter().flat_map(|(from, to)| from.iter().zip(to)) {
                to.push(both(&from[d])?);
            }
        }
        grid.push((low, high));
    }
    let outside = super::outside::outside(&points);
    let (indices, assumed, periodic) = (names(&points), points.assumed.clone(), points.periodic.clone());
    let statements = points
        .statements
        .into_iter()
        .zip(sides)
        .map(|(point, sides)| Statement {
            leaf: point.leaf,
            target: point.target,
            centre: point.centre,
            domain: point.domain,
            sides,
            reads: point.reads.into_iter().map(|(number, read, _)| (number, read)).collect(),
        })
        .collect();
    Ok(Stencil { dimension, grid, fields, statements, indices, assumed, periodic, outside })
}

/// First point of the grid in a dimension, and one past its last.
fn extent(points: &Points<'_>, d: usize) -> Result<(Polynomial, Polynomial)> {
    // The statement whose bounds set the form: the first with a loop along this dimension, before guards cut it.
    let found = points.statements.iter().find_map(|point| match &point.centre[d] {
        Centre::Loop(at, shift) => {
            let source = &points.nest.loops[*at];
            source.low.plus(shift, 1).zip(source.high.plus(shift, 1))
        }
        Centre::Point(_) => None,
    });
    let (mut low_form, mut high_form) = match found {
        Some((low, high)) => (low.shape(), high.shape()),
        None => {
            let (low, high) = &points.statements[0].domain[d];
            (low.shape(), high.shape())
        }
    };
    let (mut low, mut high): (Option<i64>, Option<i64>) = (None, None);
    let (mut least, mut most) = (i64::MAX, i64::MIN);
    let mirrors = points.fields.iter().filter_map(|field| field.mirror.as_ref());
    let mirrored = mirrors.flat_map(|mirror| &mirror.boxes).map(|own| (0, &own[d], &[][..]));
    let computed =
        points.statements.iter().enumerate().map(|(at, point)| (at, &point.domain[d], &point.reads[..]));
    for (number, (first, behind), reads) in computed.chain(mirrored) {
        let known = |bound: &Polynomial| bound.shape() == low_form || bound.shape() == high_form;
        if !known(first) || !known(behind) {
            return Err(different(points, number, d));
        }
        let reach = |sign: i64| {
            reads
                .iter()
                .map(|(_, read, _)| sign * points.on_the_grid(&read.offset)[d])
                .max()
                .unwrap_or(0)
                .max(0)
        };
        let (from, to) = (first.offset().saturating_sub(reach(-1)), behind.offset().saturating_add(reach(1)));
        (least, most) = (least.min(from), most.max(to));
        if first.shape() == low_form {
            low = Some(low.map_or(from, |low| low.min(from)));
        }
        if behind.shape() == high_form {
            high = Some(high.map_or(to, |high| high.max(to)));
        }
    }
    // Pieces at one end only: the grid does not reach the other.
    if high.is_none() {
        (high_form, high) = (low_form.clone(), Some(most));
    } else if low.is_none() {
        (low_form, low) = (high_form.clone(), Some(least));
    }
    let whole = |form: &Polynomial, offset: Option<i64>| {
        form.plus(&Polynomial::number(offset.unwrap_or(0)), 1).unwrap_or_else(|| form.clone())
    };
    Ok((whole(&low_form, low), whole(&high_form, high)))
}

/// Where guards cut a dimension of constant extent: the last bound that is counted from the start of the grid. Both sides
/// of the longest stretch without a bound belong to it, so that one of all pieces grows with the grid.
fn widest_gap(points: &Points<'_>, d: usize, low: &Polynomial, high: &Polynomial) -> Option<i64> {
    high.distance(low)?;
    let nest = points.nest;
    let cut = |point: &super::points::Point| match &point.centre[d] {
        Centre::Loop(at, shift) => {
            let source = &nest.loops[*at];
            let (low, high) = (source.low.plus(shift, 1), source.high.plus(shift, 1));
            low.as_ref() != Some(&point.domain[d].0) || high.as_ref() != Some(&point.domain[d].1)
        }
        Centre::Point(_) => false,
    };
    if !points.statements.iter().any(cut) {
        return None;
    }
    let bounds: Option<BTreeSet<i64>> = points
        .statements
        .iter()
        .flat_map(|point| [&point.domain[d].0, &point.domain[d].1])
        .map(|bound| bound.distance(low))
        .collect();
    let bounds: Vec<i64> = bounds?.into_iter().collect();
    let gap = bounds.windows(2).map(|pair| (pair[1] - pair[0], std::cmp::Reverse(pair[0]))).max()?;
    Some(gap.1.0)
}

/// A bound, from the end of the grid whose form it has; if it has both, from the nearer one.
fn side(
    bound: &Polynomial,
    low: &Polynomial,
    high: &Polynomial,
    is_low: bool,
    gap: Option<i64>,
) -> Option<Side> {
    match (bound.distance(low), bound.distance(high)) {
        (Some(start), Some(end)) => {
            let near_start = match gap {
                Some(last) => start <= last,
                None if is_low => start <= -end,
                None => start < -end,
            };
            Some(if near_start { Bound::start(start) } else { Bound::end(end) })
        }
        (Some(start), None) => Some(Bound::start(start)),
        (None, Some(end)) => Some(Bound::end(end)),
        (None, None) => None,
    }
}

fn different(points: &Points<'_>, number: usize, d: usize) -> Box<Diagnostic> {
    let nest = points.nest;
    let place = |number: usize| match &points.statements[number].centre[d] {
        Centre::Loop(at, _) => nest.loops[*at].span.clone(),
        Centre::Point(_) => nest.leaves[points.statements[number].leaf].target.span.clone(),
    };
    let first =
        points.statements.iter().position(|point| matches!(point.centre[d], Centre::Loop(..))).unwrap_or(0);
    let text = |number: usize| {
        let (low, high) = &points.statements[number].domain[d];
        let name = |symbol: &Symbol| match symbol {
            Symbol::Constant(text) => text.clone(),
            _ => "?".to_owned(),
        };
        format!("`{}` to `{}`", low.to_c(&name), high.to_c(&name))
    };
    Box::new(
        Diagnostic::limitation(
            codes::DOMAINS,
            place(number),
            format!("this runs from {} (exclusive), another statement from {}", text(number), text(first)),
        )
        .related(place(first), "the other statement")
        .note("all statements work on one grid: their bounds may differ by constants only"),
    )
}

fn fields(points: &Points<'_>) -> Vec<GridField> {
    let mut fields: Vec<GridField> = Vec::new();
    for (number, field) in points.fields.iter().enumerate() {
        let what = match (&field.key, &field.form) {
            (Key::State(_), Some(form)) => {
                What::State { form: form.clone(), buffers: field.buffers, shift: field.shift }
            }
            (Key::Coefficient(_), Some(form)) => What::Coefficient(form.clone()),
            (Key::Place(text) | Key::State(text) | Key::Coefficient(text), _) => What::Place(text.clone()),
        };
        let mut touched = Vec::new();
        for (statement, point) in points.statements.iter().enumerate() {
            let own = (point.target == number).then(|| vec![0; points.dimension]);
            let read = point.reads.iter().filter(|(_, read, _)| read.field == number);
            let offsets: BTreeSet<Vec<i64>> =
                own.into_iter().chain(read.map(|(_, read, _)| points.on_the_grid(&read.offset))).collect();
            touched.extend(offsets.into_iter().map(|offset| (statement, offset)));
        }
        fields.push(GridField {
            what,
            element: field.element,
            span: field.span.clone(),
            touched,
            memory: field.memory.clone(),
            mirrors: field.mirror.as_ref().map(|mirror| Mirrors {
                field: mirror.of,
                ago: mirror.ago,
                boxes: vec![Vec::new(); mirror.boxes.len()],
                begins: vec![Vec::new(); mirror.begins.len()],
            }),
        });
    }
    fields
}

/// The names of the loops of the first statement that has one along each dimension.
fn names(points: &Points<'_>) -> Vec<String> {
    (0..points.dimension)
        .map(|d| {
            let found = points.statements.iter().find_map(|point| match &point.centre[d] {
                Centre::Loop(at, _) => Some(points.nest.loops[*at].name.clone()),
                Centre::Point(_) => None,
            });
            found.unwrap_or_else(|| format!("x{d}"))
        })
        .collect()
}
