//! Bytes of files, unpacked where they are compressed.

use super::malformed;
use crate::error::{Result, TunerError};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// Largest content of a file, unpacked.
const LARGEST: u64 = 4 << 30;

/// The content of a file, unpacked where it starts as gzip does.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>> {
    let failed = |reason| TunerError::File { action: "read", path: path.to_owned(), reason };
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let mut start = Vec::new();
    file.by_ref().take(2).read_to_end(&mut start).map_err(failed)?;
    let whole = start.as_slice().chain(file);
    let mut bytes = Vec::new();
    if start == [0x1f, 0x8b] {
        let unpacked = MultiGzDecoder::new(whole).take(LARGEST + 1).read_to_end(&mut bytes);
        unpacked.map_err(|error| {
            malformed(path, "", format!("the gzip data are damaged ({error})"), "copy or pack the file again")
        })?;
    } else {
        whole.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > LARGEST {
        return Err(malformed(path, "", "more than 4 GiB of text", ""));
    }
    Ok(bytes)
}

/// Whether the file starts with these bytes.
pub(super) fn starts_with(path: &Path, start: &[u8]) -> Result<bool> {
    let failed = |reason| TunerError::File { action: "read", path: path.to_owned(), reason };
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(start.len() as u64).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes == start)
}

/// Without the byte order mark that some programs write.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
