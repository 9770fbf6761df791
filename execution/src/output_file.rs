//! Files that appear complete or not at all: written under a temporary name in the same folder, then
//! renamed.

use crate::error::{ExecutionError, Result};
use crate::interrupt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Writes a file through `content`. An existing file is replaced only by a complete one, and the temporary
/// file is removed on failure and on interruption. What is not a regular file, such as `/dev/null`, is
/// written in place; a symbolic link stays, and the file that it points to is replaced.
///
/// # Errors
/// [`ExecutionError::File`] with the system's reason.
pub fn write(path: &Path, content: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let failed = |source| ExecutionError::File { action: "write", path: path.to_owned(), source };
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match target.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(failed(io::ErrorKind::IsADirectory.into())),
        Ok(metadata) if !metadata.is_file() => {
            let mut file = File::options().write(true).open(&target).map_err(failed)?;
            content(&mut file).map_err(failed)
        }
        _ => replace(&target, content).map_err(failed),
    }
}

fn replace(target: &Path, content: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tilewright-").suffix(".tmp");
    // The usual permissions of a new file, less the user's mask, and not those of a private one.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    let _temporary = interrupt::register(file.path());
    content(file.as_file_mut())?;
    file.persist(target).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        write(&path, |file| file.write_all(b"old")).unwrap();
        let result = write(&path, |file| {
            file.write_all(b"half of the new")?;
            Err(io::Error::other("disk full"))
        });
        assert!(result.unwrap_err().to_string().contains("disk full"));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, |file| file.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        write(Path::new("/dev/null"), |file| file.write_all(b"gone")).unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write(folder.path(), |_| Ok(())).is_err());
        assert!(write(&folder.path().join("none/out"), |_| Ok(())).is_err());
    }
}
