//! What the code of variants and of application proxies issues, per issued instruction: the profiles that features of machines are
//! selected by ([`adaptive::machines::select_by_profiles`]).
//!
//! Nothing runs: `gpu` counts machine code of NVRTC, `host` weighs the code that a compiler made by its loops.

mod gpu;
mod host;
mod slots;

pub use gpu::{Tile, tilings};
pub use host::{Function, functions};

use crate::error::Result;
use ::adaptive::machines::profiles::Profiles;

/// Whose code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processor {
    /// A GPU of this compute capability, without the point.
    Gpu(u32),
    /// This computer's processor.
    Host,
}

/// Profiles of the five proxies (Table 3.3) at intensities 0 to 5: the variant is the proxy, the input its intensity.
///
/// # Errors
/// No compiler, or no disassembler.
pub fn proxies(of: Processor) -> Result<Profiles> {
    match of {
        Processor::Gpu(architecture) => gpu::proxies(architecture),
        Processor::Host => host::proxies(),
    }
}
