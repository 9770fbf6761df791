//! Whether a folder is the user's alone. What the cache holds is executed, so nobody else may be able to change it:
//! neither its files nor the folders above them, through which another folder could be put in its place.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

/// Symbolic links that a path may lead through.
const MOST_LINKS: usize = 40;
/// Write permission of the group and of all others.
const OTHERS_WRITE: u32 = 0o022;
const ALL_WRITE: u32 = 0o002;
/// Entries of a folder with this bit can be renamed and removed by their owners only.
const STICKY: u32 = 0o1000;

/// Why a folder is not the user's alone, or cannot be had.
#[derive(Debug)]
pub enum Problem {
    /// In words.
    Unsafe(String),
    /// It cannot be made or read.
    Io(io::Error),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Problem {
        Problem::Io(error)
    }
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether others than the owner may write. A group that has the user's own number is that user's private group.
fn others_write(metadata: &Metadata) -> bool {
    let private_group = metadata.gid() == metadata.uid() && metadata.uid() == user();
    let bits = if private_group { ALL_WRITE } else { OTHERS_WRITE };
    metadata.mode() & bits != 0
}

/// Makes the folder where it is missing, for its user only, and looks at it and at all that is on the way to it.
/// Returns its real path.
pub fn folder(path: &Path) -> Result<PathBuf, Problem> {
    let real = walked(path, true)?;
    let metadata = real.symlink_metadata()?;
    if metadata.uid() != user() {
        let problem = format!("it belongs to user {}, not to user {}", metadata.uid(), user());
        return Err(Problem::Unsafe(problem));
    }
    if others_write(&metadata) {
        // A folder such as /tmp is everybody's on purpose.
        let way_out = if metadata.mode() & STICKY == 0 {
            format!("chmod go-w {}", real.display())
        } else {
            "name a folder of your own, such as one in it".to_owned()
        };
        return Err(Problem::Unsafe(format!("others can write it; {way_out}")));
    }
    Ok(real)
}

/// The real path of a folder in which a new folder of the user's stays what it is, as in `/tmp`.
pub fn place(path: &Path) -> Result<PathBuf, Problem> {
    walked(path, false)
}

/// Looks at every folder and every link on the way, from the root on. Each is looked at before it is entered; it
/// belongs to the user or to root, who alone can exchange its entries, so that what was seen stays true.
fn walked(path: &Path, create: bool) -> Result<PathBuf, Problem> {
    let mut rest = parts(&std::path::absolute(path)?);
    let mut real = PathBuf::from("/");
    check(&real, &real.symlink_metadata()?)?;
    let mut links = 0;
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        let metadata = match next.symlink_metadata() {
            Err(error) if create && error.kind() == io::ErrorKind::NotFound => {
                match make(&next) {
                    // Another process was faster: what it made is looked at.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    made => made?,
                }
                next.symlink_metadata()?
            }
            metadata => metadata?,
        };
        if metadata.is_symlink() {
            links += 1;
            if links > MOST_LINKS {
                return Err(Problem::Io(io::Error::other("too many symbolic links")));
            }
            check_owner(&next, &metadata)?;
            let target = fs::read_link(&next)?;
            if target.is_absolute() {
                real = PathBuf::from("/");
            }
            parts(&target).into_iter().rev().for_each(|part| rest.push_front(part));
        } else if metadata.is_dir() {
            check(&next, &metadata)?;
            real = next;
        } else {
            return Err(Problem::Io(io::Error::other(format!("{} is not a folder", next.display()))));
        }
    }
    Ok(real)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let part = |component: Component<'_>| match component {
        Component::Normal(_) | Component::ParentDir => Some(component.as_os_str().to_owned()),
        _ => None,
    };
    path.components().filter_map(part).collect()
}

fn check_owner(path: &Path, metadata: &Metadata) -> Result<(), Problem> {
    if [0, user()].contains(&metadata.uid()) {
        return Ok(());
    }
    Err(Problem::Unsafe(format!("{} on the way to it belongs to user {}", path.display(), metadata.uid())))
}

/// Whether only root and the user can exchange the entries of a folder.
fn check(path: &Path, metadata: &Metadata) -> Result<(), Problem> {
    check_owner(path, metadata)?;
    if others_write(metadata) && metadata.mode() & STICKY == 0 {
        let group = if metadata.mode() & ALL_WRITE == 0 { "a group" } else { "everybody" };
        let name = path.display();
        return Err(Problem::Unsafe(format!("{group} can write {name}; chmod go-w {name}")));
    }
    Ok(())
}

/// Whether this is a folder, not a link to one, that only the user can change.
pub fn is_own_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir() && is_own(&metadata))
}

/// Whether only the user can change what this describes.
fn is_own(metadata: &Metadata) -> bool {
    metadata.uid() == user() && !others_write(metadata)
}

/// The bytes of a file that only the user can change; links are not followed.
pub fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    use io::Read;
    use std::os::unix::fs::OpenOptionsExt;
    // Without waiting, should it be a pipe.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let mut file = fs::File::options().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || !is_own(&metadata) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Makes a folder for its user only.
pub fn make(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)
}

/// Takes the permission to write from everybody else.
pub fn make_own(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = path.symlink_metadata()?.permissions();
    permissions.set_mode(permissions.mode() & !OTHERS_WRITE);
    fs::set_permissions(path, permissions)
}
