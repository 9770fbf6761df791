//! Files with the trials that somebody measured before, read as they are.
//!
//! Kernel Tuner's cache files, the T4 results and T1 problems of the autotuning community
//! (<https://github.com/odgaard/TuningSchema>), CSV, our own stores; plain or gzip. The format is told from the content.

mod cell;
mod csv_file;
mod evidence;
pub mod joined;
mod json_file;
mod kernel_tuner;
mod look;
mod names;
mod own;
mod read;
pub mod roles;
mod sheet;
mod stated;
mod t1;
mod t4;
mod tables;
mod write;
mod write_cache;

pub use sheet::Sheet;
pub use tables::table;
pub use write::{check_csv, sheet, write_csv, write_t4};
pub use write_cache::write_kernel_tuner;

use crate::error::{Result, TrialsError, malformed};
use crate::recording::{Format, Recording};
use crate::store;
use roles::ReadOptions;
use std::path::Path;

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, or is none of the formats, with the place of the mistake.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Recording> {
        if store::is_store(path)? {
            return own::recording(path, store::read(path)?)?.with(options);
        }
        let bytes = read::bytes(path)?;
        Recording::from_bytes(path, &bytes, options)
    }

    /// Reads the content of a file, no longer compressed; `path` is for messages.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn from_bytes(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Recording> {
        let content = read::without_mark(bytes);
        match content.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None => Err(malformed(path, "", "the file is empty", "")),
            Some(b'{' | b'[') => {
                read::check_values(path, content)?;
                json_file::read(path, content, options)?.with(options)
            }
            Some(_) => {
                let recording = csv_file::read(path, content, options)?;
                recording.check_response(options)?;
                Ok(recording)
            }
        }
    }

    /// With the response asked for, and with the roles that the format states.
    fn with(mut self, options: &ReadOptions) -> Result<Recording> {
        if let Some(response) = &options.response {
            self.response.clone_from(response);
        }
        let ignored = std::mem::take(&mut self.roles.ignored);
        self.roles = stated::stated_by(&self, options)?;
        self.roles.ignored = ignored;
        if self.format != Format::T1 {
            self.check_response(options)?;
        }
        Ok(self)
    }

    fn check_response(&self, options: &ReadOptions) -> Result<()> {
        let metrics = self.metrics();
        if metrics.is_empty() {
            return Err(malformed(&self.path, "", "no trial has a measured value", ""));
        }
        if options.no_response {
            return Ok(());
        }
        if !metrics.contains(&self.response.as_str()) {
            return Err(TrialsError::unknown("metric", &self.response, &metrics));
        }
        if options.response.is_none() && names::is_rate(&self.response) {
            return Err(TrialsError::Request {
                reason: format!(
                    "{}: the file counts by `{}`, a rate, of which the least is hardly wanted",
                    self.path.display(),
                    self.response
                ),
                hint: format!("name what counts with --metric; there are: {}", metrics.join(", ")),
            });
        }
        Ok(())
    }
}
