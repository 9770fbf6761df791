//! `--trials FILE`: the store that a command adds its trials to.

use crate::error::Result;
use crate::progress::Session;
use std::path::{Path, PathBuf};
use tilewright::state;
use trials::Store;

/// The file that the option names.
///
/// # Errors
/// A state folder that cannot be used.
pub fn path(option: &Option<PathBuf>) -> Result<Option<PathBuf>> {
    option.as_deref().map(state::trials_to_write).transpose()
}

/// Opens a store, or makes it; what is damaged is told.
///
/// # Errors
/// A file that is no store, or cannot be written.
pub fn open(path: &Path, session: &Session) -> Result<Store> {
    let store = Store::open(path)?;
    session.tell_damage(store.damage());
    Ok(store)
}
