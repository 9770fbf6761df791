//! Time skewing: wavefronts of parallelograms.
//!
//! In skewed coordinates ([`skew`](super::skew)) no dependence goes back, so that boxes of them are tiles, and the tiles whose
//! coordinates have one sum can run at once:
//!
//! ```text
//! for w:                                        host loop: diagonals of tiles
//!   forall tiles (b0, b1, ..) with b0 + b1 + .. = w:
//!     for step in the tile:                     time
//!       for statement, the points of the tile:  boxes ([`boxes`]), or in order, several lines at once ([`lines`])
//! ```
//!
//! It is the only strategy for sweeps in order (Gauss-Seidel), which no tiling by whole time rows can take.

mod boxes;
mod diagonals;
mod ends;
mod forms;
mod lines;
pub(super) mod name;
mod space;
mod tiles;

use super::interface::{Strategy, Target};
use super::skew;
use super::tile_space::TileSpace;
use crate::TileSizes;
use crate::counts::forms::Forms;
use crate::plan::{KernelPlan, Launch};
use crate::window::Windows;
use name::NAME;
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use std::sync::Arc;
use tiles::{SIZES, Tiles};

/// Wavefronts of parallelograms.
#[derive(Debug, Clone, Copy)]
pub struct TimeSkewing;

impl Strategy for TimeSkewing {
    fn id(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "wavefronts of parallelograms, for sweeps in place, too (Gauss-Seidel)"
    }

    fn size_names(&self) -> &'static [&'static str] {
        &SIZES
    }

    fn size_text(&self, name: &str, value: i64) -> String {
        let unit = if name == SIZES[0] { "row" } else { "point" };
        match value {
            0 => format!("{name}: the whole dimension"),
            _ => format!("{name}: {value} {unit}{}", if value == 1 { "" } else { "s" }),
        }
    }

    fn in_auto(&self, target: Target) -> bool {
        target == Target::OpenMp
    }

    fn takes_sweeps_in_order(&self) -> bool {
        true
    }

    fn for_target(&self, _program: &Program, target: Target) -> Result<(), String> {
        match target {
            Target::OpenMp => Ok(()),
            Target::Cuda => Err("its tiles are printed for OpenMP alone; use --target openmp".to_owned()),
        }
    }

    fn tiles(&self, program: &Program, cone: &Cone) -> Result<(), String> {
        skew::skews(program, cone).map(|_| ())
    }

    fn space(&self, program: &Program, _cone: &Cone) -> TileSpace {
        space::space(program)
    }

    fn default_tile(&self, program: &Program, _cone: &Cone, _target: Target) -> TileSizes {
        usual(program)
    }

    fn closed_forms(&self) -> Option<Box<dyn Forms>> {
        Some(Box::new(forms::FORMS))
    }

    fn own_tile_on_cores(
        &self,
        program: &Program,
        (size, steps): (&[i64], i64),
        threads: i64,
    ) -> Option<TileSizes> {
        let mut tile = usual(program);
        let rows = program.statements.len() as i64 * steps;
        // Halved, the innermost size first, until diagonals have tiles enough for all cores.
        while on_a_diagonal(&tile, size, rows) < TILES_PER_CORE * threads.max(1) {
            let halved = (0..size.len()).rev().find_map(|d| {
                let value = tile.get(SIZES[d + 1]).filter(|&value| value > LEAST_POINTS)?;
                Some(tile.clone().with(SIZES[d + 1], value / 2))
            });
            match halved {
                Some(smaller) => tile = smaller,
                None => break,
            }
        }
        Some(tile)
    }

    fn plan(&self, program: &Arc<Program>, cone: &Cone, tile: &TileSizes) -> KernelPlan {
        // A program without skews is not taken.
        let skews = skew::skews(program, cone).unwrap_or_default();
        let tiles = Tiles::new(program, skews, tile);
        let in_order = program.sweeps_in_order().next().is_some();
        KernelPlan {
            program: program.clone(),
            strategy: self.id(),
            tile: tile.clone(),
            outer: tiles.diagonals(),
            bands: None,
            launches: vec![Launch { kernel: 0, when: None }],
            kernels: vec![if in_order { lines::kernel(&tiles) } else { boxes::kernel(&tiles) }],
            windows: Windows::default(),
            witnesses: Vec::new(),
        }
    }
}

/// Tiles of a diagonal, per core, that are enough for the cores to be busy.
const TILES_PER_CORE: i64 = 3;
/// Points of a tile along a dimension at least, where sizes are chosen for a grid.
const LEAST_POINTS: i64 = 16;

/// Sizes that suit large grids: what a tile touches stays in a core's own cache.
fn usual(program: &Program) -> TileSizes {
    let (steps, sizes): (i64, &[i64]) = match program.dimension() {
        1 => (64, &[4096]),
        2 => (16, &[64, 512]),
        _ => (4, &[16, 16, 256]),
    };
    let sizes = [steps * program.statements.len() as i64].into_iter().chain(sizes.iter().copied());
    TileSizes::new(SIZES.into_iter().zip(sizes))
}

/// Tiles of a diagonal, on average: all of them by the number of diagonals.
fn on_a_diagonal(tile: &TileSizes, size: &[i64], rows: i64) -> i64 {
    let along = |name: &str, length: i64| match tile.get(name) {
        None | Some(0) => 1,
        Some(own) => (length.max(1) + own - 1) / own,
    };
    let counts: Vec<i64> =
        SIZES.iter().zip([&rows].into_iter().chain(size)).map(|(name, &n)| along(name, n)).collect();
    let diagonals = counts.iter().map(|count| count - 1).sum::<i64>() + 1;
    counts.iter().product::<i64>() / diagonals
}
