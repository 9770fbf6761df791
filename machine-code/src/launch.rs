//! What the host passes with a launch.

use crate::error::{Error, Result};
use crate::listing::Listing;

/// A launch of a kernel.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Threads of a block: `x`, `y`, `z`.
    pub threads: [u32; 3],
    /// Blocks: `x`, `y`, `z`.
    pub grid: [u32; 3],
    /// What arrays hold, as words at even and odd places: one, in the precision of the program.
    pub element: [u32; 2],
    parameters: Vec<u64>,
    parameters_at: u64,
}

/// Where local memory ends.
const LOCAL_END: u32 = 0x00ff_fdc0;

impl Launch {
    /// A launch with these arguments, 8 bytes each, of a kernel of this listing.
    ///
    /// # Errors
    /// [`Error::Listing`] for a device whose constant bank nobody has described.
    pub fn new(
        listing: &Listing,
        threads: [u32; 3],
        grid: [u32; 3],
        parameters: Vec<u64>,
        double: bool,
    ) -> Result<Launch> {
        let parameters_at = match listing.architecture {
            70..90 => 0x160,
            90..100 => 0x210,
            other => {
                return Err(Error::Listing(format!(
                    "code for sm_{other} is not counted: only that of sm_70 to sm_90"
                )));
            }
        };
        let one = if double { 1.0f64.to_bits() } else { u64::from(1.0f32.to_bits()) * 0x1_0000_0001 };
        Ok(Launch { threads, grid, element: [one as u32, (one >> 32) as u32], parameters, parameters_at })
    }

    /// A word of constant bank 0.
    pub(crate) fn constant(&self, address: u64) -> Option<u32> {
        if !address.is_multiple_of(4) {
            return None;
        }
        if let Some(offset) = address.checked_sub(self.parameters_at) {
            let parameter = self.parameters.get(usize::try_from(offset / 8).ok()?)?;
            return Some((parameter >> (offset % 8 * 8)) as u32);
        }
        Some(match address {
            0x0 | 0x4 | 0x8 => self.threads[address as usize / 4],
            0xc | 0x10 | 0x14 => self.grid[(address as usize - 0xc) / 4],
            0x28 => LOCAL_END,
            // How global memory is described to loads and stores: it does not matter here.
            0x118 | 0x11c | 0x208 | 0x20c => 0,
            _ => return None,
        })
    }

    /// Warps of a block.
    pub fn warps(&self) -> u32 {
        self.threads.iter().product::<u32>().div_ceil(crate::instruction::LANES as u32)
    }
}
