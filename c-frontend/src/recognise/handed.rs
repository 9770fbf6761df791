//! Arrays whose memory takes the place of another one's in each step, which are copied to it.
//!
//! The other one keeps its memory, so that must have all elements that are copied: elements on both sides of each are touched
//! anyway. What the step has not computed of the new memory is left open by C, and is not copied.

use super::certain::{Touch, is_surrounded, touches};
use super::levels::{comes_first, place};
use super::overwritten::{Assumed, around, intersection};
use super::points::{Key, Points};
use crate::codes;
use crate::nest::{Result, Touched};
use crate::parse::Handed;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;

/// Refuses copies to memory that may be smaller, and of elements that nobody has computed.
pub fn check(points: &mut Points<'_>) -> Result<()> {
    let mut assumed = Assumed::new();
    check_touches(points, &touches(points), &mut assumed)?;
    points.assumed.extend(assumed);
    points.assumed.sort();
    points.assumed.dedup();
    Ok(())
}

fn check_touches(points: &Points<'_>, touches: &[Touch<'_>], assumed: &mut Assumed) -> Result<()> {
    for handed in &points.nest.handed {
        let cut = points.nest.cut();
        if handed.places.iter().any(|part| part.start < cut.start || cut.end < part.end) {
            return refuse(
                handed,
                &handed.place,
                "something else runs between the statements that take memory, give it back and hand it over",
            );
        }
        let written = touches.iter().filter(|touch| touch.array == handed.array && touch.written);
        for touch in written {
            let all = (0..points.dimension).all(|d| is_surrounded(touch, d, touches));
            if !all || touch.touched != Touched::IfIndex {
                return refuse(
                    handed,
                    &touch.span,
                    "the memory that it has may have fewer elements: nothing in the step reads all of them",
                );
            }
        }
        let field = |number: usize| {
            matches!(&points.fields[number].key, Key::State(_))
                && points.fields[number].form.as_ref().is_some_and(|form| form.array == handed.by)
        };
        for (reader, own) in points.statements.iter().enumerate() {
            for (number, at, _) in own.reads.iter().filter(|(_, at, _)| field(at.field)) {
                let read = &points.nest.reads[*number];
                let mut rest = vec![place(points, reader, &at.offset)];
                for writer in points.statements.iter().filter(|writer| writer.target == at.field) {
                    let leaf = &points.nest.leaves[writer.leaf];
                    let apart = leaf.path.first().is_none_or(|first| read.path.first() != Some(first));
                    if !(apart && comes_first(points, writer, read, &[])) {
                        continue;
                    }
                    let mut left = Vec::new();
                    for part in rest {
                        match intersection(&part, &writer.domain, assumed) {
                            Some(Some(common)) => left.extend(around(&part, &common, assumed)),
                            _ => left.push(part),
                        }
                    }
                    rest = left;
                }
                if !rest.is_empty() {
                    return refuse(handed, &read.span, "the step does not compute all of its elements");
                }
            }
        }
    }
    Ok(())
}

fn refuse(handed: &Handed, span: &Span, why: &str) -> Result<()> {
    let message = format!(
        "memory that each step takes for `{}` takes the place of that of `{}` here",
        handed.by, handed.array
    );
    let message = Diagnostic::limitation(codes::CALL, handed.place.clone(), message)
        .note(why)
        .hint("take two arrays before the loop, and let their pointers take turns: `held = u; u = next; next = held;`");
    Err(Box::new(if *span == handed.place { message } else { message.related(span.clone(), "here") }))
}
