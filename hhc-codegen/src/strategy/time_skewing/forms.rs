//! What a search over models on cores asks of the strategy.

use super::diagonals;
use super::name::NAME;
use super::space::space;
use super::tiles::Tiles;
use crate::TileSizes;
use crate::counts::cores::{CoreCounts, Cores};
use crate::strategy::on_cores::{Listed, OnCores};
use crate::strategy::skew;

/// The forms of the strategy.
pub(super) const FORMS: OnCores = OnCores {
    strategy: NAME,
    space,
    listed: Listed {
        steps: [
            &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
            &[1, 2, 4, 8, 12, 16, 24, 32, 48, 64],
            &[1, 2, 3, 4, 6, 8, 12, 16],
        ],
        points: [[(512, 1 << 16), (512, 1 << 16)], [(8, 512), (64, 2048)], [(4, 64), (64, 512)]],
    },
    counts,
};

fn counts(cores: &Cores, tile: &TileSizes) -> Result<CoreCounts, String> {
    let skews = skew::skews(&cores.program, &cores.cone)?;
    let tiles = Tiles::new(&cores.program, skews, tile);
    let unknown = || "a bound of its plan mentions an unknown name".to_owned();
    diagonals::counts(&tiles, cores).map(CoreCounts::Diagonals).ok_or_else(unknown)
}
