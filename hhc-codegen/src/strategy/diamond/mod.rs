//! Diamonds: tiles in time and the slowest dimension that start all at once.
//!
//! Statement `k` computes point `s` of step `t` at two coordinates, one that grows with `s_0` and one that falls ([`skew`]):
//!
//! ```text
//! y = s_0 + p*t + up_k          z = -s_0 + q*t + down_k
//! ```
//!
//! No dependence goes back in either, so that boxes of `w` by `w` are tiles, and those of one wavefront, whose places `(a, b)`
//! have the sum `a + b`, run at once. With `w = h*(p + q)` the middle of wavefront `a + b = n` is the step `(n + 1)*h`: all of
//! the grid starts together, and each wavefront has as many tiles as fit into it. The other dimensions are cut into skewed
//! pieces inside of a tile, one after the other; where they stay whole, tiles are diamond prisms.
//!
//! ```text
//! for n:                                 host loop: wavefronts
//!   forall b0:                           the place a of a diamond
//!     for c1, c2:                        skewed pieces of the other dimensions
//!       for m in the diamond:            time steps n*h + m
//!         for statement, its points:     boxes
//! ```
//!
//! Source: Bandishti, Pananilath, Bondhugula, "Tiling stencil computations to maximize parallelism", SC 2012.

mod counts;
mod default_tile;
mod forms;
mod shape;
mod sizes;

use super::interface::{Strategy, Target};
use super::skew;
use super::tile_space::TileSpace;
use crate::TileSizes;
use crate::counts::forms::Forms;
use crate::plan::{Kernel, KernelPlan, Launch};
use crate::storage::Memory;
use crate::window::Windows;
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use shape::Shape;
use sizes::{NAME, SIZES};
use std::sync::Arc;

/// Diamonds with a concurrent start.
#[derive(Debug, Clone, Copy)]
pub struct Diamond;

impl Strategy for Diamond {
    fn id(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "diamonds in time and the slowest dimension, all of which start at once"
    }

    fn size_names(&self) -> &'static [&'static str] {
        &SIZES
    }

    fn size_text(&self, name: &str, value: i64) -> String {
        let points = if value == 1 { "1 point".to_owned() } else { format!("{value} points") };
        match (name, value) {
            _ if name == SIZES[0] => format!("{name}: half a tile's height in rows of time"),
            (_, 0) => format!("{name}: the whole dimension"),
            _ => format!("{name}: {points}"),
        }
    }

    fn in_auto(&self, target: Target) -> bool {
        target == Target::OpenMp
    }

    fn for_target(&self, _program: &Program, target: Target) -> Result<(), String> {
        match target {
            Target::OpenMp => Ok(()),
            Target::Cuda => {
                Err("its tiles begin and end with few points, which leaves most threads of a block without \
                                 work; use --strategy hhc, whose tiles are flat there"
                    .to_owned())
            }
        }
    }

    fn tiles(&self, program: &Program, cone: &Cone) -> Result<(), String> {
        Shape::slopes(program, cone).and_then(|_| skew::skews(program, cone)).map(|_| ())
    }

    fn space(&self, program: &Program, _cone: &Cone) -> TileSpace {
        sizes::space(program)
    }

    fn default_tile(&self, program: &Program, cone: &Cone, _target: Target) -> TileSizes {
        default_tile::default_tile(program, cone)
    }

    fn closed_forms(&self) -> Option<Box<dyn Forms>> {
        Some(Box::new(forms::FORMS))
    }

    fn plan(&self, program: &Arc<Program>, cone: &Cone, tile: &TileSizes) -> KernelPlan {
        // A program without slopes is not taken.
        let shape = Shape::new(program, cone, tile).unwrap_or_default();
        KernelPlan {
            program: program.clone(),
            strategy: self.id(),
            tile: tile.clone(),
            outer: shape.wavefronts(),
            bands: None,
            launches: vec![Launch { kernel: 0, when: None }],
            kernels: vec![kernel(program, &shape)],
            windows: Windows::default(),
            witnesses: Vec::new(),
        }
    }
}

fn kernel(program: &Program, shape: &Shape) -> Kernel {
    let (steps, columns) = (shape.steps(), shape.columns());
    Kernel {
        name: "diamond".to_owned(),
        comment: format!(
            "diamonds of {} steps, up to {} points wide, {} points apart",
            steps.1 - steps.0 + 1,
            columns.1 - columns.0 + 1,
            shape.width()
        ),
        blocks: vec![shape.places(program)],
        blocks_alike: false,
        bindings: shape.bindings(),
        sub_tiles: shape.pieces(program),
        team: false,
        rows: shape.rows(),
        instances: shape.instances(program),
        memory: Memory::Arrays,
        storages: Vec::new(),
        transfers: Vec::new(),
        warps: Vec::new(),
        links: Vec::new(),
        full_when: shape.full_when(program),
    }
}
