//! Stage 4: from loops to a stencil: which index of an array is space and which chooses a buffer, how far reads reach
//! in space and time, and whether all values of a step can be computed in any order of points.

mod around;
mod arrays;
mod certain;
mod colours;
mod copied;
mod draft;
mod frame;
mod handed;
mod levels;
mod mirrors;
mod outside;
mod overwritten;
mod parts;
mod points;
mod rules;
mod sources;
mod stencil;

pub use arrays::{Axis, Form};
pub use draft::{draft, keeps_levels};
pub use sources::with_sources;
pub use stencil::{Centre, GridField, Mirrors, Outside, ReadAt, Side, Statement, Stencil, What};

use crate::nest::{Nest, Result};

/// The stencil that a nest computes, with mirrors of arrays that each step copies, or as it is written.
///
/// # Errors
/// What keeps it from being one, with the dependence that stands in the way.
pub fn recognise(nest: &Nest, with_mirrors: bool) -> Result<Stencil> {
    let forms = arrays::forms(nest)?;
    let mut points = points::Points::new(nest, &forms)?;
    points.statements()?;
    around::find(&mut points)?;
    copied::read_originals(&mut points);
    overwritten::drop_overwritten(&mut points);
    parts::cut_readers(&mut points);
    certain::check(&mut points)?;
    handed::check(&mut points)?;
    match &nest.colours {
        Some(own) => colours::levels(&mut points, own)?,
        None => {
            levels::levels(&mut points)?;
            if with_mirrors {
                mirrors::fold(&mut points);
            }
        }
    }
    frame::stencil(points)
}
