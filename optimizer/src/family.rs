//! Families of tiles: a strategy, some sizes that are fixed, and those that are free.

use cost_models::gpu::{GpuCost, Resident, ResidentRange};
use cost_models::hardware::Hardware;
use hhc_codegen::TileSizes;
use hhc_codegen::counts::{self, CountBounds, Problem, SizeOf, TileCounts, TileWork, forms};
use hhc_codegen::geometry::DIRECT_RESIDENT_THREADS;
use hhc_codegen::strategy::Strategy;

pub use hhc_codegen::counts::{Axis, last_true};

/// Half of the threads that the back end prefers for a block in one dimension.
const HALF_OF_PREFERRED: i64 = 128;

/// Inner sizes of a box up to which threads are looked at one by one.
const MOST_LOOKED_AT: i64 = 4096;

/// What tiles have in common whose code differs in the bounds of loops alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileText {
    /// Name of the strategy.
    pub strategy: &'static str,
    /// Fixed sizes.
    pub fixed: Vec<i64>,
    /// Threads of a block.
    pub threads: i64,
    /// Registers that the compiler may give a thread.
    pub registers: i64,
}

/// A family.
#[derive(Debug)]
pub struct Family {
    /// The strategy.
    pub strategy: &'static dyn Strategy,
    /// The values of the free sizes, slowest dimension first; sizes of dimensions that do not exist are 1.
    pub axes: [Axis; 3],
    tiles: counts::Family,
    dimension: usize,
}

impl Family {
    pub(crate) fn new(strategy: &'static dyn Strategy, tiles: counts::Family, dimension: usize) -> Family {
        Family { strategy, axes: tiles.axes, tiles, dimension }
    }

    /// The family of these tile sizes, and its sizes.
    ///
    /// # Errors
    /// Why they cannot be counted, as half a sentence.
    pub fn of_tile(
        problem: &Problem,
        hardware: &Hardware,
        strategy: &'static dyn Strategy,
        tile: &TileSizes,
    ) -> Result<(Family, [i64; 3]), String> {
        let (tiles, sizes) = forms(strategy).of_tile(problem, &hardware.multiprocessor(), tile)?;
        Ok((Family::new(strategy, tiles, problem.dimension()), sizes))
    }

    /// Number of counts: one, or one for each kind of tile that is launched on its own.
    #[inline]
    pub fn classes(&self) -> usize {
        self.tiles.forms.classes()
    }

    /// The counts of class `class`.
    #[inline]
    pub fn counts(&self, class: usize, sizes: [i64; 3]) -> TileCounts {
        self.tiles.forms.counts(class, sizes)
    }

    /// `k` resident tiles of these sizes, as a model counts them.
    #[inline]
    pub fn resident(&self, model: &GpuCost, sizes: [i64; 3], k: i64) -> Resident {
        model.resident(&*self.tiles.forms, sizes, k)
    }

    /// What the tiles of class `class` execute.
    pub fn work(&self, class: usize, sizes: [i64; 3]) -> TileWork {
        self.tiles.forms.work(class, sizes)
    }

    /// Registers that the compiler gives a thread of class `class`, and those that it needs at most.
    #[inline]
    pub fn registers(&self, class: usize, sizes: [i64; 3]) -> (i64, i64) {
        self.tiles.forms.registers(class, sizes)
    }

    /// The sizes that all tiles of the family have.
    pub fn fixed(&self) -> impl Iterator<Item = (&'static str, i64)> {
        self.tiles.names.iter().filter_map(|size| match *size {
            SizeOf::Fixed(name, value) => Some((name, value)),
            SizeOf::Axis(..) => None,
        })
    }

    /// What the text of a tile depends on, but for bounds of loops: its fixed sizes, its threads, and the registers that the
    /// compiler may give them.
    pub fn text(&self, sizes: [i64; 3]) -> TileText {
        TileText {
            strategy: self.strategy.id(),
            fixed: self.fixed().map(|(_, value)| value).collect(),
            threads: self.tiles.forms.threads(sizes),
            registers: self.registers(0, sizes).0,
        }
    }

    /// Bounds of the counts over a box.
    pub fn bounds(&self, class: usize, low: [i64; 3], high: [i64; 3]) -> CountBounds {
        self.tiles.forms.bounds(class, low, high)
    }

    /// All tiles of a box, `k` of them resident.
    pub fn range(&self, model: &GpuCost, low: [i64; 3], high: [i64; 3], k: i64) -> ResidentRange {
        model.range(&*self.tiles.forms, low, high, k)
    }

    /// Bytes of fast memory of a tile.
    #[inline]
    pub fn tile_bytes(&self, sizes: [i64; 3]) -> i64 {
        self.tiles.forms.tile_bytes(sizes)
    }

    /// `w`: tiles of the fullest wavefront.
    #[inline]
    pub fn tiles_per_wavefront(&self, sizes: [i64; 3]) -> i64 {
        self.tiles.forms.tiles_per_wavefront(sizes)
    }

    /// The face of a tile that the closed form maximises; `None` for tiles that have none.
    #[inline]
    pub fn face(&self, sizes: [i64; 3]) -> Option<i64> {
        self.tiles.forms.face(sizes)
    }

    /// Whether `k` tiles of these sizes fit the shared memory of a multiprocessor, and the sizes the space.
    #[inline]
    pub fn fits_memory(&self, sizes: [i64; 3], k: i64, hardware: &Hardware) -> bool {
        let bytes = self.tile_bytes(sizes);
        self.tiles.forms.admits(sizes)
            && bytes <= hardware.shared_per_block_bytes
            && (bytes == 0 || k * (bytes + hardware.shared_reserved_bytes) <= hardware.m_sm_bytes)
    }

    /// Whether no candidate of a box fits `k` times into the threads and registers of a multiprocessor, as far as bounds
    /// tell. `low` and `high` are indices on the axes.
    ///
    /// For given other sizes the number of threads grows with the first one (in one dimension, it is at least half of
    /// what the rule prefers once a row has more points than that). The compiler may not give a thread fewer registers
    /// than `registers of an SM / max(DIRECT_RESIDENT_THREADS, threads)`, whatever the launch bounds.
    pub fn too_many_threads(&self, low: [i64; 3], high: [i64; 3], k: i64, hardware: &Hardware) -> bool {
        if (high[1] - low[1] + 1) * (high[2] - low[2] + 1) > MOST_LOOKED_AT {
            return false;
        }
        let forms = &self.tiles.forms;
        let (least, widest) = (self.axes[0].at(low[0]), self.axes[0].at(high[0]));
        let one_dimension = self.dimension == 1;
        for i1 in low[1]..=high[1] {
            for i2 in low[2]..=high[2] {
                let at = |width: i64| [width, self.axes[1].at(i1), self.axes[2].at(i2)];
                let mut fewest = forms.threads(at(least));
                let mut most = forms.threads(at(widest));
                if one_dimension && least < widest {
                    fewest = fewest.min(HALF_OF_PREFERRED);
                    most = most.max(2 * HALF_OF_PREFERRED);
                }
                let registers = forms.least_registers(least, widest, at(least));
                let bound = hardware.registers_per_sm / most.max(DIRECT_RESIDENT_THREADS) / 8 * 8;
                let registers = registers.min(bound.clamp(16, hardware.registers_per_thread));
                if k * fewest <= hardware.threads_per_sm
                    && k * fewest * registers <= hardware.registers_per_sm
                {
                    return false;
                }
            }
        }
        true
    }

    /// The sizes as the back ends take them.
    pub fn tile(&self, sizes: [i64; 3]) -> TileSizes {
        self.tiles.tile(sizes)
    }
}
