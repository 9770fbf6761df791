//! Questions about a study (paper, chapters 5 and 6): what is each resource worth, what do caches cost, how do chips that
//! exist compare, how much shared memory do stencils want, where does the time go, what does hyper-threading bring.

mod comparison;
mod formulations;
mod hyperthreading;
mod memory;
mod overhead;
mod prices;
mod resources;
mod roofline;
mod threads;
mod tiles;

pub use comparison::{Comparison, Improvement, caches, chips};
pub use formulations::{Formulation, formulations};
pub use hyperthreading::{Hyperthreading, hyperthreading};
pub use memory::{MemoryWish, memory};
pub use overhead::{Overhead, overheads};
pub use prices::{Shadow, shadows};
pub use resources::{Allocation, allocation};
pub use roofline::{Reached, Roofline, roofline};
pub use threads::{StatedUnder, ThreadSetting, UnderThreads, threads};
pub use tiles::{Tiles, tiles};
