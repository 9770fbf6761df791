//! Tiling strategies: values behind one trait. Adding one is one file here and one line in [`all`].

mod defaults;
mod hexagon;
mod hybrid_hexagonal;
mod naive;

pub use hexagon::Hexagon;
pub use hybrid_hexagonal::HybridHexagonal;
pub use naive::Naive;

use crate::plan::KernelPlan;
use crate::{PlanError, TileSizes};
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use std::sync::Arc;

/// What the default tile sizes are chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// Cores with caches.
    OpenMp,
    /// Thread blocks with shared memory.
    Cuda,
}

/// A way to order and to group the statement instances of a program.
pub trait Strategy: Sync {
    /// Name on the command line.
    fn name(&self) -> &'static str;

    /// One line for the user.
    fn description(&self) -> &'static str;

    /// Tile sizes that are legal for this program and sensible for this target.
    fn default_tile(&self, program: &Program, cone: &Cone, target: Target) -> TileSizes;

    /// The plan for complete tile sizes.
    ///
    /// # Errors
    /// [`PlanError::Tile`] names the size that is not possible and what would be.
    fn plan(&self, program: &Arc<Program>, cone: &Cone, tile: &TileSizes) -> Result<KernelPlan, PlanError>;
}

/// All strategies, the preferred one first.
pub fn all() -> [&'static dyn Strategy; 2] {
    [&HybridHexagonal, &Naive]
}

/// The strategy of this name; `auto` is the preferred one.
///
/// # Errors
/// [`PlanError::UnknownStrategy`] lists the names.
pub fn by_name(name: &str) -> Result<&'static dyn Strategy, PlanError> {
    let strategies = all();
    if name == "auto" {
        return Ok(strategies[0]);
    }
    strategies.into_iter().find(|strategy| strategy.name() == name).ok_or_else(|| {
        PlanError::UnknownStrategy {
            name: name.to_string(),
            known: strategies.map(|strategy| strategy.name()).join(", ") + ", auto",
        }
    })
}

/// The largest tile size accepted: beyond it bounds could overflow.
const LARGEST_SIZE: i64 = 1 << 20;

/// Checks one size against its limits.
fn check_size(
    strategy: &str,
    tile: &TileSizes,
    name: &str,
    smallest: i64,
    explanation: &str,
) -> Result<i64, PlanError> {
    let error = |value, reason: String| PlanError::Tile {
        strategy: strategy.to_string(),
        size: name.to_string(),
        value,
        reason,
    };
    let value = tile.get(name).ok_or_else(|| error(0, "it is missing".to_string()))?;
    if value < smallest {
        return Err(error(value, format!("it must be at least {smallest}{explanation}")));
    }
    if value > LARGEST_SIZE {
        return Err(error(value, format!("it must be at most {LARGEST_SIZE}")));
    }
    Ok(value)
}

/// Names of the space tile sizes.
const SPACE_SIZES: [&str; 3] = ["s0", "s1", "s2"];
