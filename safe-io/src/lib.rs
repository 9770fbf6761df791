//! What comes from outside, taken in with care: files of bounded size, and journals whose records carry checksums.
//!
//! [`input`] reads; [`journal`] keeps records that are believed only if they are whole. [`checksum`] is
//! what the journals, and stores in other formats, check records with.

pub mod checksum;
pub mod input;
pub mod journal;

pub use journal::Damage;
