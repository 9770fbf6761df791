//! What runs the tiles of a measurement: compiled C, or kernels on a device.

use super::Plan;
use crate::calibrate::gpu::load;
use crate::cuda::{CudaProgramOnDevice, DeviceData};
use crate::error::{ExecutionError, Result};
use crate::grid::ProgramData;
use crate::initial;
use crate::layout::Layout;
use crate::native::NativeProgram;
use crate::reference::default_parameters;
use crate::tiled;
use hhc_codegen::strategy;
use hhc_codegen::{KernelPlan, TileSizes};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use toolchain::cache::Cache;
use toolchain::cancel::Cancel;
use toolchain::driver::Device;
use toolchain::interference::Watch;
use toolchain::interrupt;
use toolchain::machine::{cpu_identity, cpu_name};

/// Something that runs tiles.
pub trait TileRunner {
    /// Compiles all tiles.
    ///
    /// # Errors
    /// Tiles that are not possible, and those of the compiler.
    fn prepare(
        &mut self,
        plan: &Plan<'_>,
        tiles: &[TileSizes],
        progress: &(dyn Fn(&str, f64) + Sync),
    ) -> Result<()>;
    /// Runs the tile of this number once: seconds, and the part of the machine's time that other programs used.
    ///
    /// # Errors
    /// Those of the run.
    fn run(&mut self, plan: &Plan<'_>, number: usize) -> Result<(f64, f64)>;
    /// Threads; 0 on a device.
    fn threads(&self) -> usize;
    /// The compiler's command line, once tiles are compiled; empty on a device.
    fn compiler(&self) -> &str;
    /// What tells this processor or device from others.
    fn identity(&self) -> String;
    /// Its name.
    fn machine(&self) -> String;
}

fn planned(plan: &Plan<'_>, tile: &TileSizes) -> Result<KernelPlan> {
    strategy::plan(plan.strategy, plan.program, plan.cone, tile)
        .map_err(|error| ExecutionError::Generate(error.to_string()))
}

fn data(plan: &Plan<'_>) -> Result<ProgramData> {
    initial::random(plan.program, Layout::padded(plan.program, plan.size)?, plan.steps, 1)
}

/// Compiled C on some threads.
#[derive(Debug)]
pub struct CpuTiles {
    threads: usize,
    compiler: String,
    natives: Vec<NativeProgram>,
    data: Option<ProgramData>,
}

impl CpuTiles {
    /// So many threads.
    pub fn new(threads: usize) -> CpuTiles {
        CpuTiles { threads, compiler: String::new(), natives: Vec::new(), data: None }
    }
}

impl TileRunner for CpuTiles {
    fn prepare(
        &mut self,
        plan: &Plan<'_>,
        tiles: &[TileSizes],
        progress: &(dyn Fn(&str, f64) + Sync),
    ) -> Result<()> {
        let plans = tiles.iter().map(|tile| planned(plan, tile)).collect::<Result<Vec<_>>>()?;
        let tiled = tiled::load_side_by_side(&plans, false, &|done| {
            progress("compiling", done as f64 / tiles.len() as f64)
        })?;
        let compiled = tiled.into_iter().map(|tiled| (tiled.native, tiled.object.command));
        let (natives, commands): (Vec<NativeProgram>, Vec<String>) = compiled.unzip();
        self.natives = natives;
        self.compiler = commands.into_iter().next().unwrap_or_default();
        self.data = Some(data(plan)?);
        Ok(())
    }

    fn run(&mut self, plan: &Plan<'_>, number: usize) -> Result<(f64, f64)> {
        let (Some(native), Some(data)) = (self.natives.get(number), &mut self.data) else {
            return Err(ExecutionError::Generate("a tile that was not compiled".to_owned()));
        };
        native.library().set_threads(self.threads);
        let parameters = default_parameters(plan.program);
        let (watch, start) = (Watch::start(), Instant::now());
        native.run(plan.program, &parameters, data, plan.steps)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok((seconds, watch.others().unwrap_or(0.0)))
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn compiler(&self) -> &str {
        &self.compiler
    }

    fn identity(&self) -> String {
        cpu_identity()
    }

    fn machine(&self) -> String {
        cpu_name()
    }
}

/// Kernels on a device, which measures the times itself.
#[derive(Debug)]
pub struct DeviceTiles {
    device: Device,
    loaded: Vec<CudaProgramOnDevice>,
    data: Option<DeviceData>,
}

impl DeviceTiles {
    /// On this device.
    pub fn new(device: Device) -> DeviceTiles {
        DeviceTiles { device, loaded: Vec::new(), data: None }
    }
}

impl TileRunner for DeviceTiles {
    fn prepare(
        &mut self,
        plan: &Plan<'_>,
        tiles: &[TileSizes],
        progress: &(dyn Fn(&str, f64) + Sync),
    ) -> Result<()> {
        let cache = Cache::open()?;
        let (token, ready) = (Cancel::current(), AtomicUsize::new(0));
        let one = |tile: &TileSizes| {
            interrupt::check()?;
            let loaded = load(&self.device, &planned(plan, tile)?, &cache)?;
            progress("compiling", (ready.fetch_add(1, Ordering::Relaxed) + 1) as f64 / tiles.len() as f64);
            Ok(loaded)
        };
        self.loaded = tiles.par_iter().map(|tile| token.scope(|| one(tile))).collect::<Result<_>>()?;
        let mut host = data(plan)?;
        self.data = self.loaded.first().map(|loaded| loaded.upload(&mut host)).transpose()?;
        Ok(())
    }

    fn run(&mut self, plan: &Plan<'_>, number: usize) -> Result<(f64, f64)> {
        let (Some(loaded), Some(data)) = (self.loaded.get(number), &mut self.data) else {
            return Err(ExecutionError::Generate("a tile that was not compiled".to_owned()));
        };
        let run = loaded.run(&default_parameters(plan.program), data, plan.steps)?;
        Ok((run.seconds, 0.0))
    }

    fn threads(&self) -> usize {
        0
    }

    fn compiler(&self) -> &str {
        ""
    }

    fn identity(&self) -> String {
        self.device.facts().name.clone()
    }

    fn machine(&self) -> String {
        self.device.facts().name.clone()
    }
}
