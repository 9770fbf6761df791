//! A cache of compiled artefacts, addressed by the hash of everything that they depend on.
//!
//! An entry is a folder with the artefact's files and a list of their hashes. It is built under a private
//! name in the cache folder and published by a rename, so that nobody sees half of it; where two processes
//! build the same entry, the first one stays. An entry that cannot be read, or whose files are not those
//! listed, is a miss and is replaced.

use crate::error::{ExecutionError, Result};
use crate::interrupt;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Folder of the entries in this layout; another layout gets another name.
const LAYOUT: &str = "v1";
/// The list of files and their hashes in an entry.
const LIST: &str = "files.json";

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
/// `~/.cache/tilewright`; `None` where no variable says where that is.
pub fn user_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("TILEWRIGHT_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("tilewright")))
        .or_else(|| variable("HOME").map(|home| home.join(".cache").join("tilewright")))
}

impl Cache {
    /// The user's cache; a private temporary one, removed in the end, where that cannot be written.
    ///
    /// # Errors
    /// [`ExecutionError::File`] where not even a temporary folder can be made.
    pub fn open() -> Result<Arc<Cache>> {
        match user_folder() {
            Some(folder) => Cache::at(&folder),
            None => Cache::private(),
        }
    }

    /// The cache in this folder, which is made if needed; a private temporary one where it cannot be written.
    ///
    /// # Errors
    /// As for [`Cache::open`].
    pub fn at(folder: &Path) -> Result<Arc<Cache>> {
        let root = folder.join(LAYOUT);
        let writable = fs::create_dir_all(&root).and_then(|()| building_folder(&root)).is_ok();
        if writable { Ok(Arc::new(Cache { root, private: None })) } else { Cache::private() }
    }

    /// A cache in a temporary folder, removed with the last [`Entry`] and the cache itself.
    ///
    /// # Errors
    /// As for [`Cache::open`].
    pub fn private() -> Result<Arc<Cache>> {
        let folder = tempfile::Builder::new().prefix("tilewright-").tempdir().map_err(|source| {
            ExecutionError::File { action: "make a folder in", path: std::env::temp_dir(), source }
        })?;
        let root = folder.path().to_owned();
        let registration = interrupt::register(&root);
        Ok(Arc::new(Cache { root, private: Some(Private { _registration: registration, _folder: folder }) }))
    }

    /// Whether this is a temporary folder in place of the user's.
    pub fn is_private(&self) -> bool {
        self.private.is_some()
    }

    /// The entry of this key. Where there is none, `build` fills the empty folder that it is given.
    ///
    /// # Errors
    /// Those of `build`; [`ExecutionError::File`] where the entry cannot be written.
    pub fn get_or_build(
        self: &Arc<Self>,
        key: &Key,
        build: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<Entry> {
        let folder = self.folder_of(key);
        let entry = |hit| Entry { folder: folder.clone(), hit, _cache: Arc::clone(self) };
        if is_complete(&folder) {
            return Ok(entry(true));
        }
        let failed = |source| ExecutionError::File { action: "write", path: folder.clone(), source };
        let building = building_folder(&self.root).map_err(failed)?;
        let _registration = interrupt::register(building.path());
        build(building.path())?;
        write_list(building.path()).map_err(failed)?;
        self.publish(building, &folder).map_err(failed)?;
        Ok(entry(false))
    }

    /// The entry of this key, if there is a complete one.
    pub fn get(self: &Arc<Self>, key: &Key) -> Option<Entry> {
        let folder = self.folder_of(key);
        is_complete(&folder).then(|| Entry { folder, hit: true, _cache: Arc::clone(self) })
    }

    /// Entries are spread over folders named by the first two digits.
    fn folder_of(&self, key: &Key) -> PathBuf {
        self.root.join(&key.0[..2]).join(&key.0[2..])
    }

    /// Gives the built folder the entry's name, unless a complete entry has it by now.
    fn publish(&self, building: TempDir, folder: &Path) -> std::io::Result<()> {
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent)?;
        }
        // A folder in the way is either complete, then ours is not needed, or broken, then it is moved out
        // of the way. Another process may do the same at the same time, hence the repetition.
        let mut result = fs::rename(building.path(), folder);
        for _ in 0..16 {
            if result.is_ok() {
                // The folder has a new name; there is nothing left to remove under the old one.
                let _ = building.keep();
                return Ok(());
            }
            if is_complete(folder) {
                return Ok(());
            }
            let aside = building_folder(&self.root)?;
            let _ = fs::rename(folder, aside.path().join("broken"));
            result = fs::rename(building.path(), folder);
        }
        result
    }
}

/// An empty folder under a name that nobody else uses, on the file system of the entries.
fn building_folder(root: &Path) -> std::io::Result<TempDir> {
    tempfile::Builder::new().prefix(".building-").tempdir_in(root)
}

fn write_list(folder: &Path) -> std::io::Result<()> {
    let mut list = BTreeMap::new();
    for file in fs::read_dir(folder)? {
        let file = file?;
        list.insert(file.file_name().to_string_lossy().into_owned(), hash(&file.path())?);
    }
    fs::write(folder.join(LIST), serde_json::to_string(&list).map_err(std::io::Error::other)?)
}

/// Whether the folder holds a list and exactly what it says.
fn is_complete(folder: &Path) -> bool {
    let list = fs::read(folder.join(LIST)).ok();
    let list = list.and_then(|text| serde_json::from_slice::<BTreeMap<String, String>>(&text).ok());
    list.is_some_and(|list| {
        list.iter().all(|(name, expected)| hash(&folder.join(name)).is_ok_and(|found| found == *expected))
    })
}

fn hash(path: &Path) -> std::io::Result<String> {
    Ok(hexadecimal(&Sha256::digest(fs::read(path)?)))
}
