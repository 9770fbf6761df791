//! Streaming along the slowest of three dimensions, with planes in registers.
//!
//! A block streams through planes. Its warps have slices of neighbouring rows, all of the same time steps; each of their lanes
//! has some neighbouring points of each row of its warp. The planes of all levels of a band stay in registers: neighbours along
//! a row are in the same lane or come from the next one, neighbours in other rows are in the same lane, too, and only the rows at
//! the edges of slices go through shared memory. Blocks lie along all dimensions and compute what lies around them several
//! times, as overlapped tiles do.

mod blocks;
mod forms;
mod moves;
mod rings;
mod sizes;
mod stream;
mod transfers;
mod work;

use super::bands::Bands;
use super::interface::{Strategy, Target};
use super::lanes;
use super::listed::Listed;
use super::tile_space::TileSpace;
use crate::TileSizes;
use crate::counts::Forms;
use crate::int_expr::int;
use crate::plan::{KernelPlan, Launch};
use crate::window::Windows;
use blocks::Stream;
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use std::sync::Arc;

/// Planes in registers.
#[derive(Debug, Clone, Copy)]
pub struct Streaming;

impl Strategy for Streaming {
    fn id(&self) -> &'static str {
        "streaming"
    }

    fn description(&self) -> &'static str {
        "blocks stream through planes, which lie in registers (3-D, for GPUs)"
    }

    fn size_names(&self) -> &'static [&'static str] {
        &sizes::NAMES
    }

    fn size_text(&self, name: &str, value: i64) -> String {
        sizes::text(name, value)
    }

    fn in_auto(&self, target: Target) -> bool {
        target == Target::Cuda
    }

    fn tiles(&self, program: &Program, _cone: &Cone) -> Result<(), String> {
        if program.dimension() != 3 {
            return Err("it streams through planes, which three dimensions have".to_owned());
        }
        lanes::one_statement(program)?;
        sizes::fit(program, &sizes::default(program))
            .map_err(|_| "it reads too far for the rows of a block".to_owned())
    }

    fn space(&self, program: &Program, _cone: &Cone) -> TileSpace {
        sizes::space(program)
    }

    fn fits(&self, program: &Program, tile: &TileSizes) -> Result<(), (&'static str, String)> {
        sizes::fit(program, tile)
    }

    fn default_tile(&self, program: &Program, _cone: &Cone, _target: Target) -> TileSizes {
        sizes::default(program)
    }

    fn own_tiles(&self, program: &Program, size: &[i64], multiprocessors: i64) -> Vec<TileSizes> {
        let tiles = [sizes::default(program)].into_iter().chain(sizes::deeper(program));
        tiles.map(|tile| sizes::with_planes(program, &tile, size, multiprocessors)).collect()
    }

    fn closed_forms(&self) -> Option<Box<dyn Forms>> {
        Some(Box::new(Listed {
            strategy: &Streaming,
            tiles: forms::tiles,
            smallest: forms::smallest,
            counts: forms::counts,
            rows: None,
        }))
    }

    fn plan(&self, program: &Arc<Program>, _cone: &Cone, tile: &TileSizes) -> KernelPlan {
        let sizes = sizes::of(tile);
        let bands = Bands::of_one_level(sizes.steps);
        let stream = |sizes, narrow| Stream::new(program, bands, sizes, narrow);
        let streams =
            [("stream", stream(sizes, false)), ("narrow", stream(sizes::narrow(program, sizes), true))];
        let stored: Vec<_> =
            streams.iter().enumerate().map(|(kernel, (_, stream))| stream.stored(kernel)).collect();
        let launches = streams.iter().enumerate().map(|(kernel, (_, stream))| {
            let wider = stream.wider();
            Launch { kernel, when: Some(if stream.narrow { int(-1) - wider } else { wider }) }
        });
        KernelPlan {
            program: program.clone(),
            strategy: self.id(),
            tile: tile.clone(),
            outer: bands.outer(),
            bands: Some(bands.time_bands()),
            launches: launches.collect(),
            kernels: streams.iter().map(|(name, stream)| stream.kernel(name, &stored)).collect(),
            windows: Windows::default(),
            witnesses: Vec::new(),
        }
    }
}
