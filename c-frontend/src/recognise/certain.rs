//! Elements under conditions: they are copied whether the condition holds or not, so they must lie in their arrays.
//!
//! An element is known to, where the array is declared with extents that hold it (seen at run time where it is not
//! known before), or where elements around it are touched without a condition. What a condition on data chooses of one
//! piece of memory at the very point that is computed counts as within it.

use super::arrays::{Axis, Form, Position};
use super::points::{Key, Point, Points};
use super::stencil::Centre;
use crate::codes;
use crate::nest::{ReadOf, Result, Touched};
use crate::polynomial::Polynomial;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;

type Sides = Vec<(Polynomial, Polynomial)>;

/// Something that is touched.
pub(super) struct Touch<'a> {
    pub array: String,
    pub form: &'a Form,
    pub buffers: i64,
    pub sides: Sides,
    pub touched: Touched,
    /// Whether it is assigned.
    pub written: bool,
    /// Whether it is the point that is computed.
    own: bool,
    pub span: Span,
}

/// Refuses elements that may lie outside their arrays; adds what must be seen at run time.
pub fn check(points: &mut Points<'_>) -> Result<()> {
    let mut assumed = std::mem::take(&mut points.assumed);
    assumed.extend(points.nest.assumed.iter().cloned());
    let all = touches(points);
    let own_memory: Vec<&str> = points.nest.handed.iter().map(|one| one.array.as_str()).collect();
    for touch in all.iter().filter(|touch| {
        touch.touched != Touched::Always && !(touch.written && own_memory.contains(&touch.array.as_str()))
    }) {
        let nest = points.nest;
        if touch.own && touch.touched == Touched::If && nest.blocks.contains(&touch.array) {
            continue;
        }
        let extents = nest.extents.get(&touch.array).map_or(&[][..], Vec::as_slice);
        for (number, position) in touch.form.positions.iter().enumerate() {
            let space: Vec<usize> = position
                .axes
                .iter()
                .filter_map(|(axis, _)| if let Axis::Space(d) = axis { Some(*d) } else { None })
                .collect();
            if space.is_empty() || space.iter().all(|d| is_surrounded(touch, *d, &all)) {
                continue;
            }
            let extent = extents.get(number).cloned().flatten();
            let within = extent.and_then(|extent| within(touch, position, extent));
            match within {
                Some(pairs) => assumed.extend(pairs),
                None => return Err(refuse(touch)),
            }
        }
    }
    points.assumed = assumed;
    Ok(())
}

pub(super) fn touches<'a>(points: &'a Points<'_>) -> Vec<Touch<'a>> {
    let mut found = Vec::new();
    for point in &points.statements {
        let leaf = &points.nest.leaves[point.leaf];
        let zero = vec![0; points.dimension];
        let own = touch(points, point, point.target, &zero, leaf.touched, &leaf.target.span);
        found.extend(own.map(|own| {
            // Memory that another one's takes the place of may be smaller.
            let handed = points.nest.handed.iter().any(|one| one.array == own.array);
            let touched = if handed { Touched::IfIndex } else { own.touched };
            Touch { written: true, touched, ..own }
        }));
        for (number, at, _) in &point.reads {
            let read = &points.nest.reads[*number];
            if matches!(read.what, ReadOf::State(_) | ReadOf::Coefficient(..)) {
                let offset = points.on_the_grid(&at.offset);
                found.extend(touch(points, point, at.field, &offset, read.touched, &read.span));
            }
        }
    }
    found
}

fn touch<'a>(
    points: &'a Points<'_>,
    point: &Point,
    field: usize,
    offset: &[i64],
    touched: Touched,
    span: &Span,
) -> Option<Touch<'a>> {
    let field = &points.fields[field];
    let form = field.form.as_ref().filter(|_| !matches!(field.key, Key::Place(_)))?;
    let sides: Option<Sides> = point
        .domain
        .iter()
        .zip(offset)
        .map(|((low, high), by)| {
            let one = Polynomial::number(1);
            low.plus(&one, *by).zip(high.plus(&one, *by))
        })
        .collect();
    let centred = point.centre.iter().all(|centre| match centre {
        Centre::Loop(_, shift) => shift.constant() == Some(0),
        Centre::Point(_) => true,
    });
    Some(Touch {
        array: form.array.clone(),
        form,
        buffers: field.buffers,
        sides: sides?,
        touched,
        written: false,
        own: centred && offset.iter().all(|by| *by == 0),
        span: span.clone(),
    })
}

/// Whether elements of the array are touched without a condition on both sides of this one, or where it lies.
pub(super) fn is_surrounded(touch: &Touch<'_>, d: usize, all: &[Touch<'_>]) -> bool {
    let (low, high) = &touch.sides[d];
    let certain =
        || all.iter().filter(|other| other.touched == Touched::Always && other.array == touch.array);
    let below = certain().any(|other| low.distance(&other.sides[d].0).is_some_and(|by| by >= 0));
    let above = certain().any(|other| other.sides[d].1.distance(high).is_some_and(|by| by >= 0));
    below && above
}

/// The least and the greatest value of a subscript.
pub(super) fn ends(touch: &Touch<'_>, position: &Position) -> Option<(Polynomial, Polynomial)> {
    let (mut first, mut last) = (position.component.clone(), position.component.clone());
    for (axis, stride) in &position.axes {
        let (low, high) = match axis {
            Axis::Space(d) => touch.sides.get(*d)?.clone(),
            Axis::Buffer => (Polynomial::number(0), Polynomial::number(touch.buffers)),
        };
        first = first.plus(&low.times(stride)?, 1)?;
        last = last.plus(&high.plus(&Polynomial::number(1), -1)?.times(stride)?, 1)?;
    }
    Some((first, last))
}

/// What must hold so that an index lies within an extent; `None` if it does not.
fn within(
    touch: &Touch<'_>,
    position: &Position,
    extent: Polynomial,
) -> Option<Vec<(Polynomial, Polynomial)>> {
    let (first, last) = ends(touch, position)?;
    let behind = last.plus(&Polynomial::number(1), 1)?;
    let mut pairs = Vec::new();
    for (less, more) in [(Polynomial::number(0), first), (behind, extent)] {
        match more.distance(&less) {
            Some(by) if by < 0 => return None,
            Some(_) => {}
            None => pairs.push((less, more)),
        }
    }
    Some(pairs)
}

fn refuse(touch: &Touch<'_>) -> Box<Diagnostic> {
    let message = format!(
        "this element of `{}` is touched where a condition holds only, and may lie outside the array elsewhere",
        touch.array
    );
    Box::new(
        Diagnostic::limitation(codes::GUARDED, touch.span.clone(), message)
            .note("elements are copied before the loop, whether the condition holds or not")
            .note("conditions that compare an index with a constant or with an end of its loop have no such limit")
            .hint("shorten the loop to the points at which the element exists, or declare the array with its extents"),
    )
}
