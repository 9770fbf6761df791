//! The measurements are the bench targets of this package; see `cpu.rs`.
