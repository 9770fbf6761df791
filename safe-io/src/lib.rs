//! Files, taken in and written with care: input of bounded size, journals whose records carry checksums, and output that
//! appears complete or not at all.
//!
//! [`input`] reads; [`output_file`] writes; [`journal`] keeps records that are believed only if they are whole. [`checksum`] is
//! what the journals, and stores in other formats, check records with.
//!
//! ```
//! use safe_io::journal::{self, Journal};
//! use safe_io::{input, output_file};
//! use std::io::Write;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("greeting.txt");
//! output_file::write(&file, |out| writeln!(out, "hello"))?;
//! assert_eq!(input::read_text(&file, 1 << 20)?, "hello\n");
//! assert!(input::read_text(&file, 3).is_err(), "more than three bytes");
//!
//! let file = folder.path().join("numbers.journal");
//! let header = journal::header("numbers", &"example");
//! let journal = Journal::open(&file, &header, &journal::read(&file, &header)?)?;
//! journal.append(&42)?;
//! assert!(journal::is_own(&file));
//! # Ok(())
//! # }
//! ```

pub mod checksum;
pub mod input;
pub mod journal;
pub mod output_file;

pub use journal::Damage;
