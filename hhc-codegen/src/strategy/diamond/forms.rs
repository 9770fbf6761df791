//! What a search over models on cores asks of the strategy.

use super::counts;
use super::shape::Shape;
use super::sizes::{NAME, space};
use crate::TileSizes;
use crate::counts::cores::{CoreCounts, Cores};
use crate::strategy::on_cores::{Listed, OnCores};

/// The forms of the strategy.
pub(super) const FORMS: OnCores = OnCores {
    strategy: NAME,
    space,
    listed: Listed {
        steps: [
            &[1, 4, 16, 32, 64, 128, 256, 512, 1024, 2048],
            &[1, 2, 4, 8, 12, 16, 24, 32, 48, 64],
            &[1, 2, 3, 4, 6, 8, 12, 16, 24],
        ],
        points: [[(1, 1); 2], [(1, 1), (64, 2048)], [(4, 64), (64, 512)]],
    },
    counts,
};

fn counts(cores: &Cores, tile: &TileSizes) -> Result<CoreCounts, String> {
    let shape = Shape::new(&cores.program, &cores.cone, tile)?;
    Ok(CoreCounts::Diagonals(counts::counts(&shape, cores)))
}
