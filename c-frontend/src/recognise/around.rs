//! Dimensions in which a grid wraps around: all loops along them run from 0 to the same end, and every read at another place
//! than the point's own goes around the ends.

use super::points::{Key, Point, Points};
use super::stencil::Centre;
use crate::codes;
use crate::nest::{AROUND, Element, ReadOf, Result};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;

/// Finds them.
pub fn find(points: &mut Points<'_>) -> Result<()> {
    let mut periodic: Vec<Option<Span>> = vec![None; points.dimension];
    for point in &points.statements {
        for (element, offset) in elements(points, point) {
            for (at, shift) in &element.around {
                let along = |centre: &Centre| matches!(centre, Centre::Loop(own, by) if own == at && by.constant() == Some(0));
                let dimension = point.centre.iter().position(along).filter(|d| offset[*d] == *shift);
                let Some(d) = dimension else {
                    return Err(refuse(
                        element,
                        "wraps around in another way than the loop that computes it runs",
                    ));
                };
                periodic[d].get_or_insert_with(|| element.span.clone());
            }
        }
    }
    for (d, first) in periodic.iter().enumerate() {
        let Some(first) = first else { continue };
        // That of the read that wraps around: its loop runs from 0 to the end that it names.
        let whole = points.statements.iter().find_map(|point| {
            let wraps = |(element, offset): (&Element, &[i64])| !element.around.is_empty() && offset[d] != 0;
            elements(points, point).any(wraps).then(|| point.domain[d].clone())
        });
        for point in &points.statements {
            let leaf = &points.nest.leaves[point.leaf];
            if Some(&point.domain[d]) != whole.as_ref() {
                return Err(Box::new(
                    Diagnostic::limitation(
                        codes::DOMAINS,
                        leaf.target.span.clone(),
                        "this computes some of the points of a grid that wraps around",
                    )
                    .related(first.clone(), "here it does")
                    .note(
                        "all statements compute all points along a dimension in which the grid wraps around",
                    ),
                ));
            }
            for (element, offset) in elements(points, point) {
                let goes_around =
                    |(at, _): &(usize, i64)| matches!(&point.centre[d], Centre::Loop(own, _) if own == at);
                if offset[d] != 0 && !element.around.iter().any(goes_around) {
                    return Err(Box::new(*refuse(
                        element,
                        "does not wrap around, as another one does along this dimension",
                    )));
                }
            }
        }
    }
    points.periodic = periodic;
    Ok(())
}

/// The elements of arrays that a statement reads, and how far from its point.
fn elements<'a>(points: &'a Points<'_>, point: &'a Point) -> impl Iterator<Item = (&'a Element, &'a [i64])> {
    point.reads.iter().filter_map(|(number, read, _)| {
        let placed = matches!(points.fields[read.field].key, Key::Place(_));
        match &points.nest.reads[*number].what {
            ReadOf::State(element) | ReadOf::Coefficient(element, ..) if !placed => {
                Some((element, read.offset.as_slice()))
            }
            _ => None,
        }
    })
}

fn refuse(element: &Element, what: &str) -> Box<Diagnostic> {
    let message = format!("this element of `{}` {what}", element.array);
    Box::new(Diagnostic::limitation(codes::SUBSCRIPT, element.span.clone(), message).note(AROUND))
}

impl Points<'_> {
    /// How far a read lies from its point on the grid as it is declared: around the ends it is among the points computed.
    pub fn on_the_grid(&self, offset: &[i64]) -> Vec<i64> {
        let around = |d: usize| self.periodic.get(d).is_some_and(Option::is_some);
        offset.iter().enumerate().map(|(d, by)| if around(d) { 0 } else { *by }).collect()
    }
}
