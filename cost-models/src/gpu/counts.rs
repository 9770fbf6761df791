//! What blocks do on a GPU: the counts of all kernels of a tiling, and how many tiles share a multiprocessor.

use hhc_codegen::counts::{CountBounds, LeastWork, TileCounts, TileWork};

/// One value, or one for each kernel that is launched on its own, without a vector where there is one only.
#[derive(Debug, Clone, PartialEq)]
pub enum Kernels<T> {
    /// One kernel.
    One([T; 1]),
    /// Several.
    Many(Vec<T>),
}

impl<T> Kernels<T> {
    /// The values of `number` kernels.
    #[inline]
    pub fn of(number: usize, mut value: impl FnMut(usize) -> T) -> Kernels<T> {
        match number {
            1 => Kernels::One([value(0)]),
            _ => Kernels::Many((0..number).map(value).collect()),
        }
    }
}

impl<T> std::ops::Deref for Kernels<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Kernels::One(one) => one,
            Kernels::Many(many) => many,
        }
    }
}

/// A tile, `k` of which are resident on a multiprocessor together.
#[derive(Debug, Clone, PartialEq)]
pub struct Resident {
    /// Its counts, kernel by kernel.
    pub tiles: Kernels<TileCounts>,
    /// What its warps execute, kernel by kernel; `None` for a model that does not ask.
    pub work: Option<Kernels<TileWork>>,
    /// `k`
    pub k: i64,
}

/// A box of tile sizes, for one `k`.
#[derive(Debug, Clone, PartialEq)]
pub struct ResidentRange {
    /// Bounds of the counts, kernel by kernel.
    pub tiles: Kernels<CountBounds>,
    /// What warps execute at least, kernel by kernel; `None` for a model that does not ask.
    pub work: Option<Kernels<LeastWork>>,
    /// The tile, where the box has one only.
    pub single: Option<Resident>,
    /// `k`
    pub k: i64,
}
