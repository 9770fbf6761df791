//! What comes from outside, taken in with care: files of bounded size, child processes that end in time, and journals
//! whose records carry checksums.
//!
//! Three modules, each for everybody: [`input`] reads, [`child`] runs, [`journal`] keeps records that are believed only
//! if they are whole. [`checksum`] is what the journals, and stores in other formats, check records with.

pub mod checksum;
pub mod child;
pub mod input;
pub mod journal;

pub use journal::Damage;
