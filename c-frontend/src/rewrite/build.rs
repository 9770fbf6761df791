//! Build files.

use super::{Glue, Sources};
use crate::Options;
use serde::Serialize;
use std::path::Path;

/// What the templates of the build files need.
#[derive(Debug, Serialize)]
pub(super) struct Build<'a> {
    #[serde(flatten)]
    glue: &'a Glue,
    /// The program.
    executable: String,
    cmake_executable: String,
    make_flags: Vec<String>,
    make_objects: Vec<String>,
    make_sources: Vec<Rule>,
    cmake_sources: Vec<String>,
    cmake_flags: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Rule {
    object: String,
    source: String,
}

impl<'a> Build<'a> {
    pub(super) fn new(glue: &'a Glue, sources: &Sources, options: &Options) -> Self {
        let stem =
            sources.main.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let defines = options.defines.iter().map(|define| format!("-D{define}"));
        let folders = sources.include_dirs.iter();
        let quoted = sources.quote_dirs.iter();
        let make = defines
            .clone()
            .chain(folders.clone().map(|folder| format!("-I{}", folder.display())))
            .chain(quoted.clone().map(|folder| format!("-iquote{}", folder.display())));
        let in_cmake = |flag: &str, folder: &Path| match folder {
            folder if folder == Path::new(".") => format!("\"{flag}${{CMAKE_CURRENT_SOURCE_DIR}}\""),
            folder if folder.is_absolute() => cmake_text(&format!("{flag}{}", folder.display())),
            folder => format!("\"{flag}${{CMAKE_CURRENT_SOURCE_DIR}}/{}\"", folder.display()),
        };
        let cmake = defines
            .map(|define| cmake_text(&define))
            .chain(folders.map(|folder| in_cmake("-I", folder)))
            .chain(quoted.map(|folder| in_cmake("-iquote", folder)));
        let all: Vec<String> = std::iter::once(&sources.main)
            .chain(&sources.others)
            .map(|path| path.display().to_string())
            .collect();
        // One object per source, named so that no two are the same.
        let object = |source: &String| {
            let name: String =
                source.chars().map(|letter| if letter == '/' { '_' } else { letter }).collect();
            make_text(&format!("{}_c.o", name.strip_suffix(".c").unwrap_or(&name)))
        };
        Build {
            glue,
            executable: make_text(&stem),
            cmake_executable: cmake_text(&stem),
            make_flags: make.map(|flag| make_text(&shell_text(&flag))).collect(),
            make_objects: all.iter().map(object).collect(),
            make_sources: all
                .iter()
                .map(|source| Rule { object: object(source), source: make_text(source) })
                .collect(),
            cmake_sources: all.iter().map(|source| cmake_text(source)).collect(),
            cmake_flags: cmake.collect(),
        }
    }
}

/// In quotes where a shell would understand something else.
fn shell_text(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./+,:".contains(letter);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// With the letters that make understands otherwise.
fn make_text(text: &str) -> String {
    text.replace('$', "$$").replace('#', "\\#")
}

/// A string of CMake.
fn cmake_text(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./+".contains(letter);
    if text.chars().all(plain) {
        text.to_owned()
    } else {
        format!(
            "\"{}\"",
            text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace(';', "\\;")
        )
    }
}
