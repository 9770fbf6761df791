//! Overlapped tiling, deep in time: a block loads its box and a ghost zone, computes several time steps in storage of
//! its own, on boxes that shrink from step to step, and stores its box. What lies in the ghost zone is computed by
//! several blocks; no block waits for another within a band of time.
//!
//! Source: Krishnamoorthy, Baskaran, Bondhugula, Ramanujam, Rountev, Sadayappan, "Effective automatic parallelization
//! of stencil computations", PLDI 2007 (overlapped tiles); Meng, Skadron, "Performance modeling and automatic ghost
//! zone optimization for iterative stencil loops on GPUs", ICS 2009 (ghost zones of several steps).

mod block;
mod forms;
mod sizes;
mod zone;

use super::bands;
use super::interface::{Strategy, Target};
use super::listed::Listed;
use super::tile_space::TileSpace;
use crate::TileSizes;
use crate::counts::forms::Forms;
use crate::plan::{KernelPlan, Launch};
use crate::window::Windows;
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use sizes::{DEPTH, NAME, NAMES};
use std::sync::Arc;
use zone::Zone;

/// Overlapped tiles with a ghost zone.
#[derive(Debug, Clone, Copy)]
pub struct Overlapped;

impl Strategy for Overlapped {
    fn id(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "blocks with a ghost zone that they compute several times, many time steps at once"
    }

    fn size_names(&self) -> &'static [&'static str] {
        &NAMES
    }

    fn size_text(&self, name: &str, value: i64) -> String {
        let unit = if name == DEPTH { "time step" } else { "point" };
        format!("{name}: {value} {unit}{}", if value == 1 { "" } else { "s" })
    }

    fn is_measured_on(&self, target: Target) -> bool {
        target == Target::OpenMp
    }

    fn tiles(&self, program: &Program, _cone: &Cone) -> Result<(), String> {
        bands::one_level_in_two_slots(program)
    }

    fn space(&self, program: &Program, _cone: &Cone) -> TileSpace {
        sizes::space(program)
    }

    fn default_tile(&self, program: &Program, cone: &Cone, target: Target) -> TileSizes {
        let candidates: &[&[i64]] = match (target, program.dimension()) {
            (Target::OpenMp, 1) => &[&[32, 8192], &[1, 1024]],
            (Target::OpenMp, 2) => &[&[8, 48, 512], &[4, 32, 256], &[1, 16, 64]],
            (Target::OpenMp, _) => &[&[4, 16, 16, 128], &[2, 16, 16, 64], &[1, 8, 8, 32]],
            (Target::Cuda, 1) => &[&[8, 1024], &[1, 256], &[1, 32]],
            (Target::Cuda, 2) => &[&[4, 32, 64], &[2, 16, 32], &[1, 8, 32], &[1, 4, 16], &[1, 1, 4]],
            (Target::Cuda, _) => &[&[2, 8, 8, 32], &[1, 4, 8, 32], &[1, 2, 4, 16], &[1, 1, 1, 4]],
        };
        let budget = if target == Target::OpenMp { 900 << 10 } else { 48 << 10 };
        let tile =
            |sizes: &[i64]| TileSizes::new(self.size_names().iter().copied().zip(sizes.iter().copied()));
        let fits = |sizes: &&&[i64]| Zone::new(program, cone, &tile(sizes)).bytes() <= budget;
        tile(candidates.iter().find(fits).unwrap_or(&candidates[candidates.len() - 1]))
    }

    fn closed_forms(&self) -> Option<Box<dyn Forms>> {
        let on_multiprocessors = Listed {
            strategy: &Overlapped,
            tiles: forms::tiles,
            smallest: forms::smallest,
            counts: forms::counts,
            rows: Some(forms::rows),
        };
        Some(Box::new(forms::OfZones { on_multiprocessors }))
    }

    fn plan(&self, program: &Arc<Program>, cone: &Cone, tile: &TileSizes) -> KernelPlan {
        let zone = Zone::new(program, cone, tile);
        KernelPlan {
            program: program.clone(),
            strategy: self.id(),
            tile: tile.clone(),
            outer: zone.bands.outer(),
            bands: Some(zone.bands.time_bands()),
            launches: vec![Launch { kernel: 0, when: None }],
            kernels: vec![zone.kernel()],
            windows: Windows::default(),
            witnesses: Vec::new(),
        }
    }
}
