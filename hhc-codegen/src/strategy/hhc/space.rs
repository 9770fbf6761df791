//! The tiles that a search on cores looks at.

use super::hexagon::Hexagon;
use super::outer::OnCores;
use super::sizes::{HEIGHT, SPACE_SIZES};
use crate::TileSizes;
use crate::counts::cores::{Cores, Inner, Outer, Products, spread_sizes};

/// The largest flat top that is looked at.
const MOST_FLAT_TOP: i64 = 160;
/// Flat tops up to here are looked at one by one, then multiples of 8.
const FLAT_TOPS_ONE_BY_ONE: i64 = 48;
/// The largest half height in time steps.
const MOST_HEIGHT: i64 = 64;
/// Sizes of the middle dimension of three: all up to here, then powers of two.
const MIDDLE_ONE_BY_ONE: i64 = 32;
/// Sizes of the innermost dimension, in blocks: all up to here, then in larger steps.
const BLOCKS_ONE_BY_ONE: i64 = 32;

/// All tile sizes that make sense for a grid: no higher than the steps, no wider than the grid.
#[derive(Debug)]
pub struct HexagonSpace {
    cores: Cores,
    heights: Vec<i64>,
    flat_tops: Vec<i64>,
    classical: Vec<[i64; 2]>,
}

impl HexagonSpace {
    /// The space for a grid.
    pub fn new(cores: &Cores) -> Self {
        let (statements, size) = (cores.statements(), &cores.size);
        let most = MOST_HEIGHT.min(cores.steps.max(1));
        let heights = (1..=most).map(|steps| steps * statements).collect();
        let block = cores.block();
        let flat_tops = if size.len() == 1 {
            spread_sizes(block, 128 * block, size[0], 32)
        } else {
            // All groups of rows where tiles are narrow, then whole groups of the widest kind.
            (1..=MOST_FLAT_TOP.min(size[0])).filter(|&s0| s0 <= FLAT_TOPS_ONE_BY_ONE || s0 % 8 == 0).collect()
        };
        let last = |d: usize| spread_sizes(block, BLOCKS_ONE_BY_ONE * block, size[d], 16);
        let classical = match size.len() {
            1 => vec![[0, 0]],
            2 => last(1).into_iter().map(|s1| [s1, 0]).collect(),
            _ => {
                let middle = spread_sizes(1, MIDDLE_ONE_BY_ONE, size[1], 1);
                let last = last(2);
                middle.iter().flat_map(|&s1| last.iter().map(move |&s2| [s1, s2])).collect()
            }
        };
        HexagonSpace { cores: cores.clone(), heights, flat_tops, classical }
    }
}

impl Products for HexagonSpace {
    fn depths(&self) -> &[i64] {
        &self.heights
    }

    fn widths(&self) -> &[i64] {
        &self.flat_tops
    }

    fn widths_of(&self, depth: i64) -> Vec<i64> {
        let least = self.least_width(depth);
        self.flat_tops.iter().copied().filter(|&s0| s0 >= least).collect()
    }

    fn least_width(&self, depth: i64) -> i64 {
        let cone = &self.cores.cone;
        let hexagon = Hexagon { half_height: depth, flat_top: 1, lower: cone.lower[0], upper: cone.upper[0] };
        hexagon.least_flat_top()
    }

    fn inner_sizes(&self) -> &[[i64; 2]] {
        &self.classical
    }

    fn outer(&self, depth: i64, width: i64) -> Outer {
        OnCores::new(&self.cores).outer(depth, width)
    }

    fn outer_below(&self, depth: i64, width: i64) -> Outer {
        let on = OnCores::new(&self.cores);
        on.outer_below(&on.hexagons(depth), width)
    }

    fn inner(&self, depth: i64, sizes: [i64; 2]) -> Inner {
        OnCores::new(&self.cores).inner(depth, sizes)
    }

    fn least_wavefronts(&self, depth: i64) -> f64 {
        2.0 * ((self.cores.steps * self.cores.statements()) as f64 / (2 * depth) as f64).floor()
    }

    fn tile(&self, depth: i64, width: i64, inner: [i64; 2]) -> TileSizes {
        let space = SPACE_SIZES.into_iter().zip([width, inner[0], inner[1]]);
        TileSizes::new(std::iter::once((HEIGHT, depth)).chain(space).take(self.cores.dimension() + 1))
    }
}
