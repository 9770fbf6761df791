//! The user's own files that the rewritten program needs: headers that the preprocessor found, and sources.

use super::output::{OutputFile, RewriteError};
use crate::{CProgram, Options};
use std::path::{Component, Path, PathBuf};

/// The user's files in the output folder.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The file with the region.
    pub main: PathBuf,
    /// Other sources to compile.
    pub others: Vec<PathBuf>,
    /// Where these are read, as absolute paths.
    pub originals: Vec<PathBuf>,
    /// Folders of headers, in the output folder or, for headers outside all folders that are known, absolute.
    pub include_dirs: Vec<PathBuf>,
    /// Folders for `#include "..."` only, in the output folder or absolute.
    pub quote_dirs: Vec<PathBuf>,
    /// Everything that is copied as it is.
    pub copies: Vec<OutputFile>,
}

impl Sources {
    /// Finds them.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn find(program: &CProgram, options: &Options) -> Result<Sources, RewriteError> {
        let path = program.file.as_path();
        let own_folder = absolute(path.parent().unwrap_or(Path::new("")));
        let main = PathBuf::from(path.file_name().unwrap_or(path.as_os_str()));
        let mut sources = Sources { main: main.clone(), ..Sources::default() };
        // Where the headers of each folder go.
        let mut folders = vec![(own_folder.clone(), PathBuf::new())];
        for (number, folder) in options.include_dirs.iter().enumerate() {
            let name = if number == 0 { "include".to_owned() } else { format!("include{}", number + 1) };
            folders.push((absolute(folder), PathBuf::from(name)));
        }
        // The innermost folder first: `-I.` may hold the others.
        let place_of = |file: &Path| {
            let fits =
                folders.iter().filter_map(|(folder, to)| Some((folder, to, file.strip_prefix(folder).ok()?)));
            fits.max_by_key(|(folder, ..)| folder.components().count()).map(|(_, to, rest)| to.join(rest))
        };
        let headers: Vec<PathBuf> = program.headers.iter().map(|header| absolute(header)).collect();
        // `#include "../x.h"` goes from the file's own folder to one above it: both are mirrored below `outer`.
        let outside = || headers.iter().filter(|header| place_of(header).is_none());
        let above = outside().try_fold(own_folder.clone(), |above, header| common(&above, header));
        if let Some(inner) = above.as_ref().and_then(|above| own_folder.strip_prefix(above).ok())
            && outside().next().is_some()
        {
            let mirrored = Path::new(OUTER).join(inner);
            sources.copies.push(OutputFile {
                name: mirrored.join("README"),
                bytes: b"The place of the program, as seen from the headers above it.\n".to_vec(),
            });
            sources.quote_dirs.push(mirrored);
        }
        let place_of = |file: &Path| {
            let mirrored = || Some(Path::new(OUTER).join(file.strip_prefix(above.as_ref()?).ok()?));
            place_of(file).or_else(mirrored)
        };
        for header in &headers {
            let Some(to) = place_of(header) else {
                // Elsewhere on the disk: by its own path, seen from the program's folder.
                if !sources.quote_dirs.contains(&own_folder) {
                    sources.quote_dirs.push(own_folder.clone());
                }
                continue;
            };
            sources.copy(header, to)?;
        }
        for file in &program.others {
            let file = absolute(file);
            let to = place_of(&file).unwrap_or_else(|| {
                // Its headers are where it sees them from its own folder.
                let folder = file.parent().unwrap_or(&own_folder).to_owned();
                if !sources.quote_dirs.contains(&folder) {
                    sources.quote_dirs.push(folder);
                }
                PathBuf::from(file.file_name().unwrap_or_default())
            });
            if !sources.others.contains(&to) && to != main {
                sources.copy(&file, to.clone())?;
                sources.others.push(to);
                sources.originals.push(file);
            }
        }
        // The sources brought along look for headers in the same folders. The program's own is none for `<...>`,
        // where a header of the same name as one of the system's would be found.
        sources.quote_dirs.push(PathBuf::from("."));
        sources.include_dirs.extend(folders[1..].iter().map(|(_, to)| to.clone()));
        sources.include_dirs.retain(|folder| sources.copies.iter().any(|copy| copy.name.starts_with(folder)));
        Ok(sources)
    }

    fn copy(&mut self, from: &Path, to: PathBuf) -> Result<(), RewriteError> {
        if self.copies.iter().any(|copy| copy.name == to) {
            return Ok(());
        }
        let bytes = safe_io::input::read(from, MOST_COPIED)
            .map_err(|source| RewriteError::File { path: from.to_owned(), source })?;
        self.copies.push(OutputFile { name: to, bytes });
        Ok(())
    }
}

/// The largest file that is brought along.
const MOST_COPIED: u64 = 64 << 20;
/// Where folders above the program's own are mirrored.
const OUTER: &str = "outer";

/// The innermost folder around both; `None` if that is the root.
fn common(folder: &Path, file: &Path) -> Option<PathBuf> {
    let both: PathBuf = folder
        .components()
        .zip(file.components())
        .take_while(|(a, b)| a == b)
        .map(|(part, _)| part)
        .collect();
    (both.components().count() > 1).then_some(both)
}

/// An absolute path without `.` and `..`.
fn absolute(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut clean = PathBuf::new();
    for component in whole.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}
