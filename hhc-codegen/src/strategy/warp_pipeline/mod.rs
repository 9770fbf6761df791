//! A pipeline in time whose stages are the warps of a block, in two dimensions.
//!
//! A block streams along the rows of a strip. Each of its warps has some consecutive time steps of a band, each of its lanes
//! some neighbouring points of a row: rows stay in registers, neighbours are in the same lane or come from the next one, and
//! only what leaves a warp goes through shared memory, to the warp of the steps after. Blocks lie along both dimensions and
//! compute what lies around them several times, as overlapped tiles do.

mod forms;
mod lags;
mod moves;
mod rings;
mod sizes;
mod strips;
mod team;
mod tile;
mod transfers;
mod work;

use super::bands::{self, Carried};
use super::interface::{Strategy, Target};
use super::lanes;
use super::listed::Listed;
use super::tile_space::TileSpace;
use crate::TileSizes;
use crate::counts::Forms;
use crate::int_expr::{IntExpr, int};
use crate::plan::{KernelPlan, Launch};
use crate::storage::Supplier;
use crate::window::Windows;
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use std::sync::Arc;
use strips::Team;
use tile::Sizes;

/// Warps as stages in time.
#[derive(Debug, Clone, Copy)]
pub struct WarpPipeline;

impl Strategy for WarpPipeline {
    fn id(&self) -> &'static str {
        "warp-pipeline"
    }

    fn description(&self) -> &'static str {
        "warps as stages in time, rows in registers (2-D, for GPUs)"
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
        if program.dimension() != 2 {
            return Err("it streams in two dimensions".to_owned());
        }
        lanes::statements_of_levels(program)?;
        if sizes::fills_registers(program) {
            return Err(format!(
                "rows of its {} fields leave no registers, even with one point in a lane",
                program.statements.len()
            ));
        }
        Ok(())
    }

    fn for_target(&self, program: &Program, target: Target) -> Result<(), String> {
        match (target, bands::carried(program)?) {
            (Target::OpenMp, Carried { spare: true, .. }) => Err(
                "where steps read two levels, or overwrite the one that they read, it needs spare slots of the arrays, which \
                 are there for CUDA alone; use --target cuda"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }

    fn needs_spare_slots(&self, program: &Program) -> bool {
        bands::carried(program).is_ok_and(|carried| carried.spare)
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
        vec![sizes::with_rows(program, &sizes::default(program), size, multiprocessors)]
    }

    fn closed_forms(&self) -> Option<Box<dyn Forms>> {
        Some(Box::new(Listed {
            strategy: &WarpPipeline,
            tiles: forms::tiles,
            smallest: forms::smallest,
            counts: forms::counts,
            rows: None,
        }))
    }

    fn plan(&self, program: &Arc<Program>, _cone: &Cone, tile: &TileSizes) -> KernelPlan {
        let sizes = sizes::of(tile);
        let bands = strips::bands(program, sizes);
        let team = |sizes: Sizes, narrow: bool| Team { bands, ..Team::new(program, sizes, narrow) };
        let wide = |team: &Team| team.wider();
        let mut teams = vec![("team", team(sizes, false), Vec::new())];
        if sizes.depth() > 1 {
            teams[0].2.push(bands.length() - 2);
            teams.push(("short", team(sizes::short(sizes), false), vec![int(1) - bands.length()]));
        }
        for (_, team, when) in &mut teams {
            when.push(wide(team));
        }
        let narrow = team(sizes::narrow(program, sizes), true);
        let when = int(-1) - wide(&narrow);
        teams.push(("narrow", narrow, vec![when]));
        let of_statement = |statement: usize| -> Vec<Supplier> {
            let kernels = teams.iter().enumerate();
            kernels.flat_map(|(kernel, (_, team, _))| team.stored(statement, kernel)).collect()
        };
        let stored: Vec<Vec<Supplier>> = (0..program.statements.len()).map(of_statement).collect();
        let launches = teams
            .iter()
            .enumerate()
            .map(|(kernel, (_, _, when))| Launch { kernel, when: when.iter().cloned().reduce(IntExpr::min) });
        KernelPlan {
            program: program.clone(),
            strategy: self.id(),
            tile: tile.clone(),
            outer: bands.outer(),
            bands: Some(bands.time_bands()),
            launches: launches.collect(),
            kernels: teams.iter().map(|(name, team, _)| team.kernel(name, &stored)).collect(),
            windows: Windows::default(),
            witnesses: Vec::new(),
        }
    }
}
