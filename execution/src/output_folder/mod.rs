//! Folders that a command writes files into, beside files of others: nothing is replaced that Tilewright did not write,
//! nor what it wrote and somebody changed since.
//!
//! What it wrote stands in the file `.tilewright` of the folder, one SHA-256 and name for each, in the form that
//! `sha256sum -c` reads, with a hash of the list itself at the end. A file is Tilewright's own while it has one of the
//! hashes listed for its name; a list that was changed lists nothing.
//!
//! All files are checked, and written under temporary names, before the first one gets its name. The list goes first
//! and has the old hashes as well as the new ones until all files are in their places: a process that is killed leaves
//! whole files, each of them known.

pub(crate) mod conflict;
mod index;

pub use conflict::{Conflict, Reason};

use crate::error::{ExecutionError, Result};
use crate::output_file::{FileIdentity, Staged, stage};
use index::{Hash, INDEX, Index, hash_of, hash_of_file};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use toolchain::interrupt;

/// A folder to write to.
#[derive(Debug)]
pub struct OutputFolder {
    /// As the user named it.
    named: PathBuf,
    /// Where that is, once it exists.
    root: PathBuf,
    inputs: Vec<FileIdentity>,
    force: bool,
}

/// A file to write: its path in the folder, and its content.
pub type NewFile<'a> = (&'a Path, &'a [u8]);

/// What is to be done to get a file into its place.
enum Place {
    /// Nothing: it has this content already.
    Keep,
    /// Nothing is there.
    Create,
    /// What is there may go.
    Replace,
}

impl OutputFolder {
    /// The folder `path`, which is made when files are written; `inputs` are the files that the command reads, which are
    /// never replaced. With `force`, other files are.
    ///
    /// # Errors
    /// [`ExecutionError::OutputFolder`] where `path` is there and is no folder.
    pub fn new(path: &Path, inputs: &[PathBuf], force: bool) -> Result<OutputFolder> {
        let problem = |problem: String| ExecutionError::OutputFolder { path: path.to_owned(), problem };
        if path.exists() && !path.is_dir() {
            return Err(problem("it exists and is not a folder".to_owned()));
        }
        let root = if path.exists() { path.canonicalize() } else { std::path::absolute(path) };
        Ok(OutputFolder {
            named: path.to_owned(),
            root: root.map_err(|error| problem(error.to_string()))?,
            inputs: inputs.iter().filter_map(|input| FileIdentity::of(input)).collect(),
            force,
        })
    }

    /// Makes the folder; returns its canonical path.
    ///
    /// # Errors
    /// [`ExecutionError::OutputFolder`] with the system's reason.
    pub fn make(&self) -> Result<PathBuf> {
        let made = std::fs::create_dir_all(&self.root).and_then(|()| self.root.canonicalize());
        made.map_err(|error| ExecutionError::OutputFolder {
            path: self.named.clone(),
            problem: error.to_string(),
        })
    }

    /// Whether files of these names could be written, whatever their content; for commands that compute for long.
    ///
    /// # Errors
    /// [`ExecutionError::Occupied`] with all files that are in the way.
    pub fn check<'a>(&self, names: impl IntoIterator<Item = &'a Path>) -> Result<()> {
        let index = self.index();
        let conflicts: Vec<Conflict> = names
            .into_iter()
            .chain([Path::new(INDEX)])
            .filter_map(|name| self.place(name, None, &index).err())
            .collect();
        self.refuse(conflicts)
    }

    /// Whether a file that grows while the command runs, such as a journal, may be written: where there is none, or
    /// where `is_own` says so of what is there.
    ///
    /// # Errors
    /// [`ExecutionError::Occupied`].
    pub fn check_own(&self, name: &Path, is_own: impl FnOnce(&Path) -> bool) -> Result<()> {
        // Such a file is written in place, and a link would be followed: nobody can insist on that.
        match self.look(name, None, &Index::default()) {
            Err(conflict)
                if conflict.reason == Reason::Foreign && (self.force || is_own(&self.root.join(name))) =>
            {
                Ok(())
            }
            Err(conflict) if conflict.reason == Reason::Link => {
                self.refuse(vec![Conflict { reason: Reason::BehindLink(name.to_owned()), ..conflict }])
            }
            Err(conflict) => self.refuse(vec![conflict]),
            Ok(_) => Ok(()),
        }
    }

    /// Writes files, all of them or, where one is in the way or the disk is full, none. Returns the canonical paths of
    /// the folder and of the files, the list of own files last.
    ///
    /// # Errors
    /// [`ExecutionError::Occupied`] with all files that are in the way; those of making folders and writing files.
    pub fn write(&self, files: &[NewFile<'_>]) -> Result<(PathBuf, Vec<PathBuf>)> {
        let index = self.index();
        let hashes: Vec<Hash> = files.iter().map(|(_, bytes)| hash_of(bytes)).collect();
        let mut conflicts =
            duplicates(files.iter().map(|(name, _)| *name), |name| name.as_os_str().to_owned());
        let mut needed = Vec::new();
        for (number, (name, _)) in files.iter().enumerate() {
            match self.place(name, Some(&hashes[number]), &index) {
                Ok(Place::Keep) => {}
                Ok(_) => needed.push(number),
                Err(conflict) => conflicts.push(conflict),
            }
        }
        conflicts.extend(self.place(Path::new(INDEX), None, &index).err());
        self.refuse(conflicts)?;
        let mut made = Made::default();
        let root = made.folder(&self.root).and_then(|()| self.root.canonicalize()).map_err(|error| {
            ExecutionError::OutputFolder { path: self.named.clone(), problem: error.to_string() }
        })?;
        if !needed.is_empty() {
            self.replace_all(files, &hashes, &needed, &mut made)?;
        }
        made.keep();
        let all = files.iter().map(|(name, _)| *name).chain([Path::new(INDEX)]).map(|name| root.join(name));
        // Without a list where others had written all files already.
        let written = all.filter(|path| path.exists()).collect();
        Ok((root, written))
    }

    /// Brings the files `needed` into their places.
    fn replace_all(
        &self,
        files: &[NewFile<'_>],
        hashes: &[Hash],
        needed: &[usize],
        made: &mut Made,
    ) -> Result<()> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| ExecutionError::File { action: "write", path, source }
        };
        let mut staged = Vec::new();
        for &number in needed {
            interrupt::check()?;
            let (name, bytes) = files[number];
            let target = self.root.join(name);
            target.parent().map_or(Ok(()), |parent| made.folder(parent)).map_err(failed(&target))?;
            staged.push(stage(&target, |file| file.write_all(bytes)).map_err(failed(&target))?);
        }
        if staged.first().is_some_and(|first| folds_case(first.path())) {
            let names = files.iter().map(|(name, _)| *name);
            self.refuse(duplicates(names, |name| name.to_string_lossy().to_lowercase().into()))?;
        }
        // Once more, now that all folders are there: this is the last moment at which nothing has happened.
        let index = self.index();
        let conflicts =
            needed.iter().filter_map(|&at| self.place(files[at].0, Some(&hashes[at]), &index).err());
        self.refuse(conflicts.collect())?;
        interrupt::check()?;
        self.write_index(|index| needed.iter().for_each(|&at| index.add(files[at].0, hashes[at])))?;
        for (&number, staged) in needed.iter().zip(staged) {
            let (name, _) = files[number];
            self.give_name(staged, name, &hashes[number])?;
        }
        self.write_index(|index| needed.iter().for_each(|&at| index.set(files[at].0, hashes[at])))
    }

    /// Gives a file its name. What happened there since the check counts.
    fn give_name(&self, mut staged: Staged, name: &Path, hash: &Hash) -> Result<()> {
        let target = self.root.join(name);
        let failed = |source| ExecutionError::File { action: "write", path: target.clone(), source };
        loop {
            match self
                .place(name, Some(hash), &self.index())
                .map_err(|conflict| self.occupied(vec![conflict]))?
            {
                Place::Keep => return Ok(()),
                Place::Replace => return staged.replace(&target).map_err(failed),
                Place::Create => {
                    if staged.create(&target).map_err(failed)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// What is to be done for a file with this hash, or with any content, as the user wishes it.
    fn place(&self, name: &Path, hash: Option<&Hash>, index: &Index) -> std::result::Result<Place, Conflict> {
        match self.look(name, hash, index) {
            Err(conflict) if self.force && conflict.reason.can_be_forced() => Ok(Place::Replace),
            other => other,
        }
    }

    /// The same, where nobody insists.
    fn look(&self, name: &Path, hash: Option<&Hash>, index: &Index) -> std::result::Result<Place, Conflict> {
        let conflict = |reason| Conflict { file: name.to_owned(), reason };
        if name.components().any(|part| !matches!(part, Component::Normal(_))) || name.file_name().is_none() {
            return Err(conflict(Reason::Outside));
        }
        for parent in name.ancestors().skip(1).filter(|parent| *parent != Path::new("")) {
            match self.root.join(parent).symlink_metadata() {
                Ok(metadata) if metadata.is_symlink() => {
                    return Err(conflict(Reason::BehindLink(parent.to_owned())));
                }
                Ok(metadata) if !metadata.is_dir() => {
                    return Err(conflict(Reason::BehindFile(parent.to_owned())));
                }
                _ => {}
            }
        }
        let target = self.root.join(name);
        let metadata = match target.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Place::Create),
            Err(error) => return Err(conflict(Reason::Impossible(error.to_string()))),
        };
        let reason = if metadata.is_symlink() {
            Reason::Link
        } else if !metadata.is_file() {
            Reason::NoFile
        } else {
            let found = hash_of_file(&target);
            let same = hash.is_some() && found.as_ref().ok() == hash;
            let identity = FileIdentity::of(&target);
            let is_input =
                self.inputs.iter().any(|input| identity.as_ref().is_some_and(|own| own.is_same(input)));
            match found {
                Ok(_) if same => return Ok(Place::Keep),
                _ if is_input => Reason::Input,
                Err(_) => Reason::Unreadable,
                Ok(_) if name == Path::new(INDEX) => match Index::read(&target) {
                    Some(_) => return Ok(Place::Replace),
                    None if index::claims_to_be(&target) => Reason::Changed,
                    None => Reason::Foreign,
                },
                Ok(found) => match index.knows(name, &found) {
                    Some(true) => return Ok(Place::Replace),
                    Some(false) => Reason::Changed,
                    None => Reason::Foreign,
                },
            }
        };
        Err(conflict(reason))
    }

    /// What is known of the folder's files.
    fn index(&self) -> Index {
        let path = self.root.join(INDEX);
        let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        is_file.then(|| Index::read(&path)).flatten().unwrap_or_default()
    }

    /// Writes the list with a change.
    fn write_index(&self, change: impl FnOnce(&mut Index)) -> Result<()> {
        let path = self.root.join(INDEX);
        let mut index = self.index();
        change(&mut index);
        let staged = stage(&path, |file| file.write_all(&index.text()));
        staged.and_then(|staged| staged.replace(&path)).map_err(|source| ExecutionError::File {
            action: "write",
            path,
            source,
        })
    }

    fn refuse(&self, conflicts: Vec<Conflict>) -> Result<()> {
        if conflicts.is_empty() { Ok(()) } else { Err(self.occupied(conflicts)) }
    }

    fn occupied(&self, mut conflicts: Vec<Conflict>) -> ExecutionError {
        conflicts.sort_by(|a, b| a.file.cmp(&b.file));
        conflicts.dedup_by(|a, b| a.file == b.file);
        ExecutionError::Occupied { folder: self.named.clone(), conflicts }
    }
}

/// Names of which there are two.
fn duplicates<'a>(names: impl Iterator<Item = &'a Path>, key: impl Fn(&Path) -> OsString) -> Vec<Conflict> {
    let mut seen = std::collections::BTreeSet::new();
    names
        .filter(|name| !seen.insert(key(name)))
        .map(|name| Conflict { file: name.to_owned(), reason: Reason::Twice })
        .collect()
}

/// Whether the file system takes `a` and `A` for the same name, as seen at a file with lower-case letters in its name.
fn folds_case(file: &Path) -> bool {
    let upper = file.file_name().map(|name| name.to_string_lossy().to_uppercase());
    upper.is_some_and(|upper| file.with_file_name(upper).symlink_metadata().is_ok())
}

/// Folders that were made; those that stay empty are removed again.
#[derive(Default)]
struct Made {
    /// The outer ones first.
    folders: Vec<PathBuf>,
}

impl Made {
    fn folder(&mut self, path: &Path) -> std::io::Result<()> {
        let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
        for folder in missing.into_iter().rev() {
            match std::fs::create_dir(folder) {
                Ok(()) => self.folders.push(folder.to_owned()),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && folder.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn keep(mut self) {
        self.folders.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for folder in self.folders.iter().rev() {
            // One that is not empty stays.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests;
