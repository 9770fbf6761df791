//! Bytes of files, unpacked where they are compressed.

use crate::error::{Result, TrialsError, malformed};
use safe_io::input;
use std::io::ErrorKind;
use std::path::Path;

/// Largest content of a file, unpacked.
const LARGEST: u64 = 256 << 20;
/// Most values of a JSON document, whatever they are: each takes some hundred bytes.
const MOST_VALUES: usize = 8_000_000;

/// The content of a file, unpacked where it starts as gzip does.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>> {
    input::read_unpacked(path, LARGEST).map_err(|error| match error.kind() {
        ErrorKind::InvalidData | ErrorKind::FileTooLarge => malformed(path, "", error.to_string(), ""),
        _ => TrialsError::File { action: "read", path: path.to_owned(), reason: error },
    })
}

/// Refuses a JSON document of more values than can be held. Every value but the first stands behind one of four signs.
pub(super) fn check_values(path: &Path, content: &[u8]) -> Result<()> {
    let values = content.iter().filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{')).count();
    if values > MOST_VALUES {
        let reason = format!("the document has more than {MOST_VALUES} values");
        return Err(malformed(path, "", reason, "take a part of it, or a file without what is not needed"));
    }
    Ok(())
}

/// Without the byte order mark that some programs write.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
