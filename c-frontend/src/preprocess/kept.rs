//! What was preprocessed stays what it was while one program is read: files are read once, however often they are looked at.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use toolchain::compiler::OwnOpenMp;

/// What is known of files with the same macros and folders, each with and without `-fopenmp`.
#[derive(Clone)]
pub struct Kept<T>(Arc<Mutex<HashMap<(PathBuf, bool), T>>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(Arc::default())
    }
}

impl<T> fmt::Debug for Kept<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Kept").finish_non_exhaustive()
    }
}

/// What was read already says nothing about what is wanted.
impl<T> PartialEq for Kept<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Kept<T> {}

impl<T: Clone> Kept<T> {
    /// What `read` says of this file, which it is asked once.
    pub fn or_read(&self, path: &Path, openmp: OwnOpenMp, read: impl FnOnce() -> T) -> T {
        let key = (path.to_owned(), openmp == OwnOpenMp::On);
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known.clone();
        }
        let found = read();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
        found
    }
}

impl<T, E> Kept<Result<T, E>> {
    /// Whether this file was read without an error, either way.
    pub fn is_right(&self, path: &Path) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        [false, true].iter().any(|&openmp| matches!(known.get(&(path.to_owned(), openmp)), Some(Ok(_))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_file_is_read_once_each_way() {
        let (kept, reads) = (Kept::default(), Cell::new(0));
        let read = |kept: &Kept<String>, path: &str, openmp| {
            let found = kept.or_read(Path::new(path), openmp, || {
                reads.set(reads.get() + 1);
                path.to_owned()
            });
            assert_eq!(found, path);
            reads.get()
        };
        assert_eq!(read(&kept, "a.c", OwnOpenMp::Off), 1);
        assert_eq!(read(&kept.clone(), "a.c", OwnOpenMp::AsNeeded), 1);
        assert_eq!(read(&kept, "a.c", OwnOpenMp::On), 2);
        assert_eq!(read(&kept, "b.c", OwnOpenMp::Off), 3);
        assert_eq!(read(&Kept::default(), "a.c", OwnOpenMp::Off), 4);
    }

    #[test]
    fn a_file_is_right_either_way() {
        let kept: Kept<Result<(), ()>> = Kept::default();
        let path = |name: &'static str| Path::new(name);
        let _ = kept.or_read(path("a.c"), OwnOpenMp::Off, || Ok(()));
        let _ = kept.or_read(path("b.c"), OwnOpenMp::On, || Err(()));
        assert!(kept.is_right(path("a.c")) && !kept.is_right(path("b.c")) && !kept.is_right(path("c.c")));
    }
}
