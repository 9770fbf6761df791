//! What was found in a file, and how much text it may have.

use crate::store::content::Content;

/// Most text in all.
const MOST_TEXT_IN_ALL: usize = 256 << 20;

/// What a file has, and of which version it is.
#[derive(Debug, Default)]
pub struct Found {
    /// The trials, and what is damaged.
    pub content: Content,
    /// Whether the tables are those of an earlier version; it is written anew before something is added.
    pub earlier: bool,
    /// Whether it is of the version without checksums; that is told as damage.
    pub without_checksums: bool,
}

/// Adds to the length of all text, which is limited.
pub(super) fn within(length: &mut usize, more: usize) -> rusqlite::Result<()> {
    *length += more;
    if *length > MOST_TEXT_IN_ALL {
        return Err(rusqlite::Error::InvalidParameterName("more than 256 MiB of text".to_owned()));
    }
    Ok(())
}
