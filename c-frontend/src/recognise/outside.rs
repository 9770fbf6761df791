//! Elements that certainly lie outside of their arrays, as far as their extents are declared.
//!
//! C does not define what such a program does. It often seems to work, as next to an array another one lies; where tiled loops
//! take its place, that may be something else. So it is told, and the program is taken as it is.

use super::certain::{Touch, ends, touches};
use super::points::Points;
use super::stencil::Outside;
use crate::nest::Touched;

/// The elements that some round of the loops touches outside of an array, each once.
pub fn outside(points: &Points<'_>) -> Vec<Outside> {
    let mut found: Vec<Outside> = Vec::new();
    for touch in touches(points).iter().filter(|touch| touch.touched == Touched::Always && runs(touch)) {
        let extents = points.nest.extents.get(&touch.array).map_or(&[][..], Vec::as_slice);
        for (number, position) in touch.form.positions.iter().enumerate() {
            let Some(Some(extent)) = extents.get(number) else { continue };
            let Some((first, last)) = ends(touch, position) else { continue };
            let below = first.constant().filter(|first| *first < 0);
            let behind = last.distance(extent).filter(|by| *by >= 0);
            if (below.is_some() || behind.is_some()) && found.iter().all(|other| other.span != touch.span) {
                found.push(Outside {
                    array: touch.array.clone(),
                    number,
                    below: below.is_some(),
                    written: touch.written,
                    span: touch.span.clone(),
                });
            }
        }
    }
    found
}

/// Whether the loops have a round for certain, or as soon as their bounds allow one.
fn runs(touch: &Touch<'_>) -> bool {
    touch.sides.iter().all(|(low, high)| high.distance(low).is_none_or(|rounds| rounds > 0))
}
