//! The other sources of a program: those that are named, and each `x.c` beside a header `x.h` that one of the program's sources
//! includes.

use crate::preprocess::{Options, Preprocessed, preprocess};
use std::path::{Path, PathBuf};

/// A source beside the one that is rewritten.
pub struct Other {
    /// Its file.
    pub path: PathBuf,
    /// What it says, if it can be read.
    pub preprocessed: Option<Preprocessed>,
}

impl Other {
    fn headers(&self) -> &[PathBuf] {
        self.preprocessed.as_ref().map_or(&[], |read| &read.headers)
    }
}

/// The other sources of a program whose file `path` says `main`: those that are named first, each once.
pub fn of(main: &Preprocessed, path: &Path, options: &Options) -> Vec<Other> {
    let mut found: Vec<Other> = Vec::new();
    let mut waiting = options.with.clone();
    waiting.extend(beside(&main.headers));
    while !waiting.is_empty() {
        for source in std::mem::take(&mut waiting) {
            // One that is included is no source of its own.
            let own = std::iter::once(path).chain(main.headers.iter().map(PathBuf::as_path));
            let others = found.iter().flat_map(|other| {
                std::iter::once(other.path.as_path()).chain(other.headers().iter().map(PathBuf::as_path))
            });
            let known = own.chain(others).any(|other| same(other, &source));
            if known || source.extension().is_none_or(|extension| extension != "c") {
                continue;
            }
            let preprocessed = preprocess(&source, options).ok().and_then(Result::ok);
            let other = Other { path: source, preprocessed };
            waiting.extend(beside(other.headers()));
            found.push(other);
        }
    }
    found
}

/// All headers of a program, each once: those of its first source, and those of the others.
pub fn headers<'a>(main: &'a Preprocessed, others: &'a [Other]) -> Vec<&'a PathBuf> {
    let mut all: Vec<&PathBuf> = Vec::new();
    for header in main.headers.iter().chain(others.iter().flat_map(Other::headers)) {
        if !all.iter().any(|known| *known == header || same(known, header)) {
            all.push(header);
        }
    }
    all
}

/// The sources beside headers.
fn beside(headers: &[PathBuf]) -> Vec<PathBuf> {
    let sources = headers.iter().map(|header| header.with_extension("c"));
    sources.filter(|source| source.is_file()).collect()
}

fn same(a: &Path, b: &Path) -> bool {
    a == b || a.canonicalize().ok().is_some_and(|a| b.canonicalize().ok() == Some(a))
}
