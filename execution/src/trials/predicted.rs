//! Tiles that nothing runs: their times are what a model says.

use super::{Plan, TileRunner};
use crate::error::{ExecutionError, Result};
use hhc_codegen::TileSizes;

/// For each tile the seconds that it is said to take.
#[derive(Debug, Clone)]
pub struct PredictedTiles {
    seconds: Vec<f64>,
}

impl PredictedTiles {
    /// In the order of the tiles.
    pub fn new(seconds: Vec<f64>) -> PredictedTiles {
        PredictedTiles { seconds }
    }
}

impl TileRunner for PredictedTiles {
    fn prepare(&mut self, _: &Plan<'_>, _: &[TileSizes], _: &(dyn Fn(&str, f64) + Sync)) -> Result<()> {
        Ok(())
    }

    fn run(&mut self, _: &Plan<'_>, number: usize) -> Result<(f64, f64)> {
        let seconds = self.seconds.get(number).copied();
        Ok((seconds.ok_or_else(|| ExecutionError::Generate("a tile without a time".to_owned()))?, 0.0))
    }

    fn threads(&self) -> usize {
        0
    }

    fn compiler(&self) -> &str {
        ""
    }

    fn identity(&self) -> String {
        self.machine()
    }

    fn machine(&self) -> String {
        "no device: times as predicted".to_owned()
    }
}
