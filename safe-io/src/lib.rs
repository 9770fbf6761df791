//! Files, taken in and written with care: input of bounded size, journals whose records carry checksums, and output that
//! appears complete or not at all.
//!
//! [`input`] reads; [`output_file`] writes; [`journal`] keeps records that are believed only if they are whole. [`checksum`] is
//! what the journals, and stores in other formats, check records with.

pub mod checksum;
pub mod input;
pub mod journal;
pub mod output_file;

pub use journal::Damage;
