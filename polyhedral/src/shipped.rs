//! The stencils that come with Tilewright, from the folder `stencils/`.

use crate::program::Program;

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        /// Names and texts, in the order of the list.
        const SHIPPED: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../stencils/", $name, ".stencil"))),)*];
    };
}

shipped![
    "jacobi1d",
    "heat1d",
    "leapfrog1d",
    "jacobi2d",
    "heat2d",
    "laplacian2d",
    "gradient2d",
    "star2d1r",
    "star2d2r",
    "star2d3r",
    "star2d4r",
    "box2d1r",
    "box2d2r",
    "box2d3r",
    "box2d4r",
    "asym2d",
    "varcoef2d",
    "wave2d",
    "fdtd2d",
    "fdtd2d_driven",
    "skewed2d",
    "seidel2d",
    "redblack2d",
    "heat3d",
    "laplacian3d",
    "star3d1r",
    "star3d2r",
    "box3d1r",
    "box3d2r",
    "varcoef3d",
];

/// The names of all shipped stencils, by dimension.
pub fn names() -> Vec<&'static str> {
    SHIPPED.iter().map(|&(name, _)| name).collect()
}

/// The text of a shipped stencil.
pub fn source(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|&&(shipped, _)| shipped == name).map(|&(_, text)| text)
}

/// A shipped stencil as a program; its source is named `<shipped NAME>`.
pub fn load(name: &str) -> Option<Program> {
    crate::parse(&format!("<shipped {name}>"), source(name)?).ok()
}
