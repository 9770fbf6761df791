//! How fast a device's memory is.

use super::{Array, Device};
use crate::error::Result;
use crate::interrupt;
use serde::{Deserialize, Serialize};

/// Largest array of a bandwidth measurement in bytes, and the part of the free memory that it may take.
const COPY_BYTES: usize = 1 << 30;
const COPY_PART: usize = 4;

/// Bandwidth of a device's memory, measured by copying within it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceBandwidth {
    /// Bytes read plus bytes written in a second, in the fastest run.
    pub bytes_per_second: f64,
    /// Bytes of each of the two arrays.
    pub array_bytes: u64,
    /// All runs.
    pub seconds_all: Vec<f64>,
}

impl Device {
    /// Measures the bandwidth of the device's memory: the best of `runs` copies within it.
    ///
    /// # Errors
    /// [`crate::Error::Device`], [`crate::Error::Interrupted`].
    pub fn measure_copy(&self, runs: usize) -> Result<DeviceBandwidth> {
        let bytes = COPY_BYTES.min(self.free_memory()? as usize / COPY_PART).max(1);
        let array = || -> Result<Array<u8>> {
            self.zeros(bytes).map_err(|failure| failure.during("allocate memory"))
        };
        let (from, mut to) = (array()?, array()?);
        let mut seconds_all = Vec::new();
        for number in 0..=runs.max(1) {
            interrupt::check()?;
            let copy = || self.copy(&from, &mut to).map_err(|failure| failure.during("copy memory"));
            let seconds = self.seconds(copy)?;
            // The first run wakes the device up.
            if number > 0 {
                seconds_all.push(seconds);
            }
        }
        let fastest = seconds_all.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(DeviceBandwidth {
            bytes_per_second: 2.0 * bytes as f64 / fastest.max(1e-9),
            array_bytes: bytes as u64,
            seconds_all,
        })
    }
}
