//! Files that a command writes by name: they appear complete or not at all, written under a temporary name in the
//! same folder, then renamed.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempPath;
use toolchain::interrupt::{self, Blocking, Temporary};

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The system's reason.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<interrupt::Interrupted> for WriteError {
    fn from(_: interrupt::Interrupted) -> WriteError {
        WriteError::Interrupted
    }
}

/// Writes a file through `content`. An existing file is replaced only by a complete one, whose permissions are those
/// of the file it replaces; the temporary file is removed on failure and on interruption. What is not a regular file,
/// such as `/dev/null`, `/dev/stdout` or a named pipe, is written in place; a symbolic link stays, and the file that it
/// points to is replaced.
///
/// # Errors
/// [`WriteError`].
pub fn write(path: &Path, content: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), WriteError> {
    match Destination::of(path)? {
        Destination::File(target) => Ok(stage(&target, content).and_then(|staged| staged.replace(&target))?),
        Destination::Stream => {
            // To open a pipe waits for its reader, and cannot be asked to stop.
            let _blocking = Blocking::enter()?;
            Ok(stream(path).and_then(|mut file| content(&mut file))?)
        }
    }
}

/// What a path means to a command that writes there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A regular file, there or not: its canonical path.
    File(PathBuf),
    /// A device, a pipe or an open descriptor, which is written through.
    Stream,
}

impl Destination {
    /// What `path` means.
    ///
    /// # Errors
    /// A folder, and a path into a folder that does not exist or cannot be searched.
    pub fn of(path: &Path) -> io::Result<Destination> {
        let mut target = path.to_owned();
        // As many links as Linux follows.
        for _ in 0..40 {
            match target.metadata() {
                Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
                // Names of open descriptors, whatever is behind them.
                Ok(_) if is_descriptor(path) => return Ok(Destination::Stream),
                Ok(metadata) if metadata.is_file() => return target.canonicalize().map(Destination::File),
                Ok(_) => return Ok(Destination::Stream),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Err(_) => {}
            }
            let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
            let folder = folder_of(&target).canonicalize()?;
            match target.read_link() {
                // A link to a file that is not there yet.
                Ok(next) => target = folder.join(next),
                Err(_) => return Ok(Destination::File(folder.join(name))),
            }
        }
        Err(io::Error::other("too many symbolic links"))
    }
}

fn is_descriptor(path: &Path) -> bool {
    let named = ["/dev/stdin", "/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name));
    named || path.starts_with("/dev/fd") || path.starts_with("/proc")
}

/// The folder that a path is in, as it is written.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// What tells a file from others, whatever path it is reached by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileIdentity {
    path: PathBuf,
    /// Device and inode: hard links share them.
    #[cfg(unix)]
    inode: Option<(u64, u64)>,
}

impl FileIdentity {
    /// That of a regular file, or of one that could be made; `None` for anything else.
    pub fn of(path: &Path) -> Option<FileIdentity> {
        match Destination::of(path) {
            Ok(Destination::File(path)) => Some(FileIdentity {
                #[cfg(unix)]
                inode: path.metadata().ok().as_ref().map(inode),
                path,
            }),
            _ => None,
        }
    }

    /// Whether both are one file.
    pub fn is_same(&self, other: &FileIdentity) -> bool {
        #[cfg(unix)]
        if self.inode.is_some() && self.inode == other.inode {
            return true;
        }
        self.path == other.path
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// What is not a regular file, open for writing. The standard streams are shared with the rest of the process, so that
/// what is written here stands before what is printed later, also where they go to a file.
fn stream(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let is = |number: &str, name: &str| {
            let known =
                [format!("/dev/{name}"), format!("/dev/fd/{number}"), format!("/proc/self/fd/{number}")];
            known.iter().any(|known| path == Path::new(known))
        };
        if is("1", "stdout") {
            return io::stdout().as_fd().try_clone_to_owned().map(File::from);
        }
        if is("2", "stderr") {
            return io::stderr().as_fd().try_clone_to_owned().map(File::from);
        }
    }
    File::options().append(true).open(path)
}

/// A complete file under a temporary name beside its target; dropping it removes it.
#[derive(Debug)]
pub struct Staged {
    path: TempPath,
    _temporary: Temporary,
}

/// Writes a file under a temporary name in the folder of its target, with the target's permissions where it exists.
///
/// # Errors
/// Those of the system and of `content`.
pub fn stage(target: &Path, content: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<Staged> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tilewright-").suffix(".tmp");
    // The usual permissions of a new file, less the user's mask, and not those of a private one.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder_of(target))?;
    let temporary = interrupt::register(file.path());
    content(file.as_file_mut())?;
    if let Some(old) = target.symlink_metadata().ok().filter(Metadata::is_file) {
        // Another owner's file may have permissions that this process cannot give.
        let _ = file.as_file().set_permissions(old.permissions());
    }
    // Some file systems say only now that they are full.
    file.as_file().sync_all()?;
    Ok(Staged { path: file.into_temp_path(), _temporary: temporary })
}

impl Staged {
    /// Where it is now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its name, in the place of a file or link that has it.
    ///
    /// # Errors
    /// The system's reason.
    pub fn replace(self, target: &Path) -> io::Result<()> {
        self.path.persist(target).map_err(|error| error.error)
    }

    /// Gives it its name if nothing else has it; `false` leaves it as it is.
    ///
    /// # Errors
    /// The system's reason.
    pub fn create(&mut self, target: &Path) -> io::Result<bool> {
        // A second name, and then not the first one any more: unlike a rename it never replaces.
        match std::fs::hard_link(&self.path, target) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // A file system without hard links.
            Err(_) if target.symlink_metadata().is_err() => {
                std::fs::rename(&self.path, target).map(|()| true)
            }
            Err(error) => Err(error),
        }
    }
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
        // Once to a file that is not there yet.
        std::os::unix::fs::symlink("file", &link).unwrap();
        for text in ["first", "second"] {
            write(&link, |file| file.write_all(text.as_bytes())).unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
            assert!(link.symlink_metadata().unwrap().is_symlink());
        }
        write(Path::new("/dev/null"), |file| file.write_all(b"gone")).unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
        let circle = folder.path().join("circle");
        std::os::unix::fs::symlink(&circle, &circle).unwrap();
        assert!(write(&circle, |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_the_file_that_is_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mode = || path.metadata().unwrap().permissions().mode() & 0o777;
        std::fs::write(folder.path().join("usual"), "").unwrap();
        write(&path, |_| Ok(())).unwrap();
        assert_eq!(mode(), folder.path().join("usual").metadata().unwrap().permissions().mode() & 0o777);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        write(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(mode(), 0o640);
    }

    #[test]
    fn folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write(folder.path(), |_| Ok(())).is_err());
        assert!(write(&folder.path().join("none/out"), |_| Ok(())).is_err());
        assert!(write(Path::new(""), |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn one_file_by_several_paths() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "").unwrap();
        std::fs::hard_link(path("file"), path("hard")).unwrap();
        std::os::unix::fs::symlink("file", path("soft")).unwrap();
        std::os::unix::fs::symlink("new", path("dangling")).unwrap();
        let same = |a: &str, b: &str| {
            FileIdentity::of(&path(a)).unwrap().is_same(&FileIdentity::of(&path(b)).unwrap())
        };
        assert!(same("file", "hard") && same("file", "soft") && same("./file", "file"));
        assert!(same("dangling", "new") && !same("new", "file"));
        assert_eq!(FileIdentity::of(Path::new("/dev/null")), None);
    }
}
