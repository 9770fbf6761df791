//! A cache of compiled artefacts, addressed by the hash of everything that they depend on.
//!
//! An entry is a folder with the artefact's files and a list of their hashes. It is built under a private
//! name in the cache folder and published by a rename, so that nobody sees half of it; where two processes
//! build the same entry, the first one stays. An entry that cannot be read, whose files are not those listed, or
//! whose artefact is not usable, is a miss and is replaced.
//!
//! What is cached is executed, so the cache is its user's alone: see module `safety`. Where it cannot be, or cannot be
//! written, a private temporary folder takes its place, and [`take_warning`] says so.

use crate::error::{Error, Result};
use crate::interrupt;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

mod bounds;
mod safety;

pub use bounds::{Usage, limit};
use safety::Problem;

/// Folder of the entries in this layout; another layout gets another name.
const LAYOUT: &str = "v1";
/// The list of files and their hashes in an entry.
const LIST: &str = "files.json";
/// How the names of folders begin in which entries are built.
const BUILDING: &str = ".building-";
/// What is older was left behind by a process that was killed.
const STALE: Duration = Duration::from_secs(24 * 3600);
/// Bytes that a disk with room takes.
const ROOM: usize = 1 << 20;

/// The first warning that nobody has taken.
static WARNING: Mutex<Option<String>> = Mutex::new(None);
/// Stands in for the user's cache until [`close`].
static STAND_IN: Mutex<Option<Arc<Cache>>> = Mutex::new(None);

/// Why the user's cache folder is not used, where it is not; once.
pub fn take_warning() -> Option<String> {
    WARNING.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn warn(text: String) {
    WARNING.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
}

/// Removes the temporary folder that may stand in for the user's, as soon as nothing uses it. To be called in the end.
pub fn close() {
    STAND_IN.lock().unwrap_or_else(PoisonError::into_inner).take();
}

/// What an entry depends on, hashed. Order and names count.
#[derive(Debug, Clone)]
pub struct KeyBuilder(Sha256);

/// The address of an entry: 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key(String);

impl KeyBuilder {
    /// Begins a key; `kind` keeps different kinds of artefacts apart.
    pub fn new(kind: &str) -> Self {
        KeyBuilder(Sha256::new()).with("kind", kind.as_bytes())
    }

    /// Adds an input.
    pub fn with(mut self, name: &str, value: &[u8]) -> Self {
        // Lengths keep ("ab", "c") and ("a", "bc") apart.
        for part in [name.as_bytes(), value] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
        self
    }

    /// The key of all inputs added.
    pub fn finish(self) -> Key {
        Key(hexadecimal(&self.0.finalize()))
    }
}

impl Key {
    /// The 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A cache folder.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    /// The folder is private, and removed with the cache, where the user's cannot be written.
    private: Option<Private>,
}

#[derive(Debug)]
struct Private {
    /// Forgotten before the folder is removed.
    _registration: interrupt::Temporary,
    _folder: TempDir,
}

/// A complete entry. Its files stay as long as this value lives.
#[derive(Debug, Clone)]
pub struct Entry {
    folder: PathBuf,
    hit: bool,
    _cache: Arc<Cache>,
}

impl Entry {
    /// The folder that holds the files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of one file.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Whether it was there already.
    pub fn hit(&self) -> bool {
        self.hit
    }
}

/// The user's cache folder: `$TILEWRIGHT_CACHE`, else `$XDG_CACHE_HOME/tilewright`, else
/// `~/.cache/tilewright`; `None` where no variable says where that is. Of the last two, paths that are not absolute
/// count as none, as the XDG specification has it.
pub fn user_folder() -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    variable("TILEWRIGHT_CACHE")
        .or_else(|| absolute("XDG_CACHE_HOME").map(|folder| folder.join("tilewright")))
        .or_else(|| absolute("HOME").map(|home| home.join(".cache").join("tilewright")))
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// A folder with the safety of the cache: made for its user only where it is missing, and looked at with all that is on
/// the way to it. Returns its real path.
///
/// # Errors
/// [`Error::UnsafeCache`] where others can change it; [`Error::File`] where it cannot be made.
pub fn own_folder(folder: &Path) -> Result<PathBuf> {
    safety::folder(folder).map_err(|problem| match problem {
        Problem::Unsafe(problem) => Error::UnsafeCache { path: folder.to_owned(), problem },
        Problem::Io(source) => Error::File { action: "make the folder", path: folder.to_owned(), source },
    })
}

impl Cache {
    /// The user's cache; a private temporary one, removed in the end, where that is not safe or cannot be written.
    ///
    /// # Errors
    /// [`Error::UnsafeCache`] where `$TILEWRIGHT_CACHE` names a folder that others can change;
    /// [`Error::File`] where not even a temporary folder can be made.
    pub fn open() -> Result<Arc<Cache>> {
        let Some(folder) = user_folder() else {
            let way_out = "set TILEWRIGHT_CACHE or HOME";
            warn(format!(
                "nothing says where the cache is; what is compiled is kept for this run only: {way_out}"
            ));
            return Cache::stand_in();
        };
        match Cache::at(&folder) {
            Err(Error::UnsafeCache { path, problem }) if variable("TILEWRIGHT_CACHE").is_none() => {
                Cache::instead_of(&path, &format!("is not safe: {problem}"))
            }
            cache => cache,
        }
    }

    /// The cache in this folder, which is made if needed; a private temporary one where it cannot be written.
    ///
    /// # Errors
    /// [`Error::UnsafeCache`]; [`Error::File`] as for [`Cache::open`].
    pub fn at(folder: &Path) -> Result<Arc<Cache>> {
        let root = safety::folder(folder).and_then(|folder| safety::folder(&folder.join(LAYOUT)));
        let root = root.and_then(|root| building_folder(&root).map(|_| root).map_err(Problem::Io));
        match root {
            Ok(root) => Ok(Arc::new(Cache { root, private: None })),
            Err(Problem::Unsafe(problem)) => Err(Error::UnsafeCache { path: folder.to_owned(), problem }),
            Err(Problem::Io(error)) => Cache::instead_of(folder, &format!("cannot be used: {error}")),
        }
    }

    fn instead_of(folder: &Path, problem: &str) -> Result<Arc<Cache>> {
        let folder = folder.display();
        warn(format!("the cache folder {folder} {problem}; what is compiled is kept for this run only"));
        Cache::stand_in()
    }

    /// The one private cache that stands in for the user's.
    fn stand_in() -> Result<Arc<Cache>> {
        let mut open = STAND_IN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cache) = &*open {
            return Ok(Arc::clone(cache));
        }
        let cache = Cache::private()?;
        *open = Some(Arc::clone(&cache));
        Ok(cache)
    }

    /// A cache in a temporary folder, removed with the last [`Entry`] and the cache itself.
    ///
    /// # Errors
    /// [`Error::UnsafeCache`] where others can exchange what lies in the folders for temporary files;
    /// [`Error::File`].
    pub fn private() -> Result<Arc<Cache>> {
        let usual = std::env::temp_dir();
        let mut problem = None;
        for place in [usual.as_path(), Path::new("/tmp"), Path::new("/var/tmp"), Path::new("/dev/shm")] {
            let made = safety::place(place).and_then(|place| {
                let mut builder = tempfile::Builder::new();
                builder.prefix("tilewright-");
                interrupt::registered(|| builder.tempdir_in(place), TempDir::path).map_err(Problem::Io)
            });
            match made {
                Ok((folder, registration)) => {
                    let root = folder.path().to_owned();
                    let private = Private { _registration: registration, _folder: folder };
                    return Ok(Arc::new(Cache { root, private: Some(private) }));
                }
                Err(found) => problem = problem.or(Some(found)),
            }
        }
        Err(match problem {
            Some(Problem::Unsafe(problem)) => Error::UnsafeCache { path: usual, problem },
            Some(Problem::Io(source)) => Error::File { action: "make a folder in", path: usual, source },
            None => Error::Interrupted,
        })
    }

    /// Whether this is a temporary folder in place of the user's.
    pub fn is_private(&self) -> bool {
        self.private.is_some()
    }

    /// The entry of this key. Where there is none, `build` fills the empty folder that it is given; it is called
    /// again, with another folder, where the cache turns out not to be writable.
    ///
    /// # Errors
    /// Those of `build`; [`Error::File`] where the entry cannot be written.
    pub fn get_or_build(self: &Arc<Self>, key: &Key, build: &dyn Fn(&Path) -> Result<()>) -> Result<Entry> {
        self.get_or_build_if(key, &|_| true, build)
    }

    /// [`Cache::get_or_build`] for artefacts that may turn out to be not `usable` although all their files are there.
    ///
    /// # Errors
    /// As for [`Cache::get_or_build`].
    pub fn get_or_build_if(
        self: &Arc<Self>,
        key: &Key,
        usable: &dyn Fn(&Path) -> bool,
        build: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<Entry> {
        let folder = self.folder_of(key);
        let entry = |hit| Entry { folder: folder.clone(), hit, _cache: Arc::clone(self) };
        if is_complete(&folder) && usable(&folder) {
            touch(&folder);
            return Ok(entry(true));
        }
        let reason = match self.build(&folder, usable, build) {
            Ok(()) => {
                self.keep_within_limit();
                return Ok(entry(false));
            }
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(reason) => reason,
        };
        // A compiler that found no room says so in its own words; we look for ourselves.
        match self.has_room() {
            Err(problem) if !self.is_private() => {
                Cache::instead_of(&self.root, &format!("cannot be written: {problem}"))?
                    .get_or_build_if(key, usable, build)
            }
            _ => Err(reason),
        }
    }

    fn build(
        &self,
        folder: &Path,
        usable: &dyn Fn(&Path) -> bool,
        build: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<()> {
        let failed = |source| Error::File { action: "write", path: folder.to_owned(), source };
        remove_stale(&self.root);
        let (building, _registration) = building_folder(&self.root).map_err(failed)?;
        build(building.path())?;
        write_list(building.path()).map_err(failed)?;
        self.publish(building, folder, usable).map_err(failed)
    }

    /// The entry of this key, if there is a complete one.
    pub fn get(self: &Arc<Self>, key: &Key) -> Option<Entry> {
        let folder = self.folder_of(key);
        is_complete(&folder).then(|| {
            touch(&folder);
            Entry { folder, hit: true, _cache: Arc::clone(self) }
        })
    }

    /// Entries are spread over folders named by the first two digits.
    fn folder_of(&self, key: &Key) -> PathBuf {
        self.root.join(&key.0[..2]).join(&key.0[2..])
    }

    /// Whether a file of some size can be written.
    fn has_room(&self) -> io::Result<()> {
        let (folder, _registration) = building_folder(&self.root)?;
        fs::write(folder.path().join("room"), vec![1; ROOM])
    }

    /// Gives the built folder the entry's name, unless a complete entry has it by now.
    fn publish(&self, building: TempDir, folder: &Path, usable: &dyn Fn(&Path) -> bool) -> io::Result<()> {
        // A folder in the way is either complete, then ours is not needed, or broken, then it is moved out
        // of the way. Another process may do the same at the same time, hence the repetition.
        let mut result = self.parent_of(folder).and_then(|()| fs::rename(building.path(), folder));
        for _ in 0..16 {
            if result.is_ok() {
                // The folder has a new name; there is nothing left to remove under the old one.
                let _ = building.keep();
                return Ok(());
            }
            if is_complete(folder) && usable(folder) {
                return Ok(());
            }
            self.move_aside(folder)?;
            result = self.parent_of(folder).and_then(|()| fs::rename(building.path(), folder));
        }
        result
    }

    /// Makes the folder of an entry's folder; one that is not the user's own makes room.
    fn parent_of(&self, folder: &Path) -> io::Result<()> {
        let Some(parent) = folder.parent() else { return Ok(()) };
        if safety::is_own_folder(parent) {
            return Ok(());
        }
        // One that is not there yet may be there by now, with another process's entries in it.
        match safety::make(parent) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !safety::is_own_folder(parent) => {
                self.move_aside(parent)?;
                safety::make(parent)
            }
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes what has this name, which may be no folder, belong to somebody else, or not be there.
    fn move_aside(&self, path: &Path) -> io::Result<()> {
        let (aside, _registration) = building_folder(&self.root)?;
        let _ = fs::rename(path, aside.path().join("broken"));
        Ok(())
    }
}

/// An empty folder under a name that nobody else uses, on the file system of the entries.
fn building_folder(root: &Path) -> io::Result<(TempDir, interrupt::Temporary)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(BUILDING);
    interrupt::registered(|| builder.tempdir_in(root), TempDir::path)
}

/// Removes what processes that were killed have left behind.
fn remove_stale(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let stale = age.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > STALE);
        if stale && entry.file_name().to_string_lossy().starts_with(BUILDING) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Lists the files with their hashes, and takes the permission to write them from everybody else.
fn write_list(folder: &Path) -> io::Result<()> {
    let mut list = BTreeMap::new();
    for file in fs::read_dir(folder)? {
        let file = file?;
        safety::make_own(&file.path())?;
        list.insert(file.file_name().to_string_lossy().into_owned(), hash(&file.path())?);
    }
    let path = folder.join(LIST);
    fs::write(&path, serde_json::to_string(&list).map_err(io::Error::other)?)?;
    safety::make_own(&path)
}

/// Notes that an entry was used.
fn touch(folder: &Path) {
    // A cache that cannot be written serves as well.
    let list = fs::File::options().write(true).open(folder.join(LIST));
    let _ = list.and_then(|list| list.set_modified(SystemTime::now()));
}

/// Whether the folder is the user's own and holds a list and exactly what it says, all of it the user's own.
fn is_complete(folder: &Path) -> bool {
    if !folder.parent().is_some_and(safety::is_own_folder) || !safety::is_own_folder(folder) {
        return false;
    }
    let list = safety::read_own(&folder.join(LIST)).ok();
    let list = list.and_then(|text| serde_json::from_slice::<BTreeMap<String, String>>(&text).ok());
    list.is_some_and(|list| {
        list.iter().all(|(name, expected)| hash(&folder.join(name)).is_ok_and(|found| found == *expected))
    })
}

fn hash(path: &Path) -> io::Result<String> {
    Ok(hexadecimal(&Sha256::digest(safety::read_own(path)?)))
}
