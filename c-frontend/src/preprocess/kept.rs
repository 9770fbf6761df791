//! What was preprocessed stays what it was while one program is read: files are read once, however often they are looked at.

use super::Preprocessed;
use polyhedral::diagnostic::Diagnostics;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use toolchain::compiler::OwnOpenMp;

type Read = Result<Preprocessed, Diagnostics>;

/// The files that were preprocessed with the same macros and folders, each with and without `-fopenmp`.
#[derive(Debug, Clone, Default)]
pub struct Kept(Arc<Mutex<HashMap<(PathBuf, bool), Read>>>);

/// What was read already says nothing about what is wanted.
impl PartialEq for Kept {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Kept {}

impl Kept {
    /// What `read` says of this file, which it is asked once. Files that cannot be read are tried again.
    pub fn or_read(
        &self,
        path: &Path,
        openmp: OwnOpenMp,
        read: impl FnOnce() -> std::io::Result<Read>,
    ) -> std::io::Result<Read> {
        let key = (path.to_owned(), openmp == OwnOpenMp::On);
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.clone());
        }
        let found = read()?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polyhedral::diagnostic::Diagnostic;
    use polyhedral::source::SourceFile;
    use std::cell::Cell;
    use std::io::{Error, ErrorKind};

    #[test]
    fn a_file_is_read_once_each_way() {
        let (kept, reads) = (Kept::default(), Cell::new(0));
        let read = |kept: &Kept, path: &str, openmp| {
            let found = kept.or_read(Path::new(path), openmp, || {
                reads.set(reads.get() + 1);
                if path == "missing.c" {
                    return Err(Error::from(ErrorKind::NotFound));
                }
                let source = Arc::new(SourceFile { name: path.to_owned(), text: String::new() });
                Ok(Err(Diagnostics::new(source, vec![Diagnostic::internal(0..0, path.to_owned())])))
            });
            (found.map(|read| read.map(|_| ()).map_err(|why| why.list[0].message.clone())).ok(), reads.get())
        };
        let of = |name: &str, count| (Some(Err(name.to_owned())), count);
        assert_eq!(read(&kept, "a.c", OwnOpenMp::Off), of("a.c", 1));
        assert_eq!(read(&kept.clone(), "a.c", OwnOpenMp::AsNeeded), of("a.c", 1));
        assert_eq!(read(&kept, "a.c", OwnOpenMp::On), of("a.c", 2));
        assert_eq!(read(&kept, "b.c", OwnOpenMp::Off), of("b.c", 3));
        assert_eq!(read(&kept, "missing.c", OwnOpenMp::Off), (None, 4));
        assert_eq!(read(&kept, "missing.c", OwnOpenMp::Off), (None, 5));
        assert_eq!(read(&Kept::default(), "a.c", OwnOpenMp::Off), of("a.c", 6));
    }
}
