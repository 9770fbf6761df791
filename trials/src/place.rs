//! Places of trials by their names: files, and servers.

use crate::error::{Result, TrialsError};
use std::path::Path;

/// The address, where a place is on a server.
pub fn on_server(place: &Path) -> Option<&str> {
    place.to_str().filter(|text| is_address(text))
}

/// Refuses a server where a file is needed.
///
/// # Errors
/// A place on a server.
pub fn refuse_server(place: &Path) -> Result<()> {
    match on_server(place) {
        Some(_) => Err(TrialsError::Request {
            reason: "trials of this command are kept in a file, and not on a server".to_owned(),
            hint: "name a file; `adaptive train` and `search` keep trials on a server".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Whether a text is meant to be the address of a server.
fn is_address(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("redis" | "rediss"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn servers_are_told_from_files() {
        assert!(["rediss://db", "Redis://db"].into_iter().all(super::is_address));
        assert!(!["trials.db", "a://b", "redis:/db"].into_iter().any(super::is_address));
    }
}
