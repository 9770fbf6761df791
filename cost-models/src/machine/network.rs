//! What messages between computers cost.

use super::calibration::{Provenance, Quantity, provenance, quantity};
use super::section::Section;
use serde::Serialize;

/// What messages between two ranks of MPI cost, each on a computer like the machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Network {
    /// Where the values are from.
    pub provenance: Provenance,
    /// The measurement, or the source of stated values.
    pub source: String,
    /// Seconds of the shortest message, one way.
    pub latency_s: Quantity,
    /// Bytes per second of long messages, one way.
    pub bandwidth_bytes_per_s: Quantity,
}

impl Network {
    pub(super) fn read(section: &mut Section<'_, '_>) -> Network {
        Network {
            provenance: provenance(section),
            source: section.text("source"),
            latency_s: quantity(section, "latency_s", "seconds per message", 1e-9, 1.0),
            bandwidth_bytes_per_s: quantity(section, "bandwidth_bytes_per_s", "bytes per second", 1e3, 1e15),
        }
    }

    /// Seconds of messages that one rank sends after each other.
    pub fn seconds(&self, messages: f64, bytes: f64) -> f64 {
        self.latency_s.value * messages + bytes / self.bandwidth_bytes_per_s.value
    }
}
