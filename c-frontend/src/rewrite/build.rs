//! Build files. A name may hold anything that a file system allows: what make or CMake would understand in a rule stands
//! in recipes only, between quotes.

use super::glue::Glue;
use super::output::RewriteError;
use super::sources::Sources;
use crate::Options;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use text_escape::{cmake_argument, cmake_flag, is_cmake_flag, is_cmake_name, is_make_name, make_word};
use text_escape::{comment, visible};

/// What the templates of the build files need.
#[derive(Debug, Serialize)]
pub(super) struct Build<'a> {
    #[serde(flatten)]
    glue: &'a Glue,
    /// The names of all time loops.
    regions: Vec<&'a str>,
    /// The program's name, for a comment.
    program: String,
    /// The program as a word of a recipe.
    executable: String,
    /// The target of the rule that links the program: its file, or a name of ours that is always built.
    make_target: String,
    make_target_is_file: bool,
    make_flags: Vec<String>,
    make_objects: Vec<String>,
    make_sources: Vec<Rule>,
    /// Names and flags that CMake cannot take, for its message.
    cmake_refuses: Option<String>,
    cmake_executable: String,
    cmake_sources: Vec<String>,
    cmake_flags: Vec<String>,
}

/// How a source is compiled.
#[derive(Debug, Serialize)]
struct Rule {
    object: String,
    /// What the object depends on: the source, or, where a rule cannot name it, `tw_always`.
    needs: String,
    /// The source as a word of a recipe.
    source: String,
}

/// Targets of the Makefile that are no files.
const PHONY: [&str; 3] = ["clean", "tw_always", "tw_program"];

impl<'a> Build<'a> {
    pub(super) fn new(glues: &'a [Glue], sources: &Sources, options: &Options) -> Result<Self, RewriteError> {
        let Some(glue) = glues.first() else {
            return Err(RewriteError::Template("no time loop for a build file".to_owned()));
        };
        let stem =
            sources.main.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = if glues.iter().any(|glue| is_taken(&stem, glue, sources)) {
            "tw_program".to_owned()
        } else {
            stem
        };
        let all = std::iter::once(&sources.main)
            .chain(&sources.others)
            .map(|path| text_of(path, "source file"))
            .collect::<Result<Vec<String>, RewriteError>>()?;
        let mut make_flags = Vec::new();
        let mut cmake_flags = Vec::new();
        let mut refused: Vec<String> =
            all.iter().chain([&stem]).filter(|name| !is_cmake_name(name)).cloned().collect();
        for define in &options.defines {
            let flag = format!("-D{define}");
            checked(&flag, "macro")?;
            make_flags.push(make_word(&flag));
            cmake_flags.push(cmake_flag(&flag));
            refused.extend(Some(flag).filter(|flag| !is_cmake_flag(flag)));
        }
        let folders = sources.include_dirs.iter().map(|folder| ("-I", folder));
        for (flag, folder) in folders.chain(sources.quote_dirs.iter().map(|folder| ("-iquote", folder))) {
            let text = text_of(folder, "folder of headers")?;
            make_flags.push(make_word(&format!("{flag}{text}")));
            cmake_flags.push(match &**folder {
                folder if folder == Path::new(".") => format!("{flag}${{CMAKE_CURRENT_SOURCE_DIR}}"),
                folder if folder.is_absolute() => cmake_flag(&format!("{flag}{text}")),
                _ => format!("{flag}${{CMAKE_CURRENT_SOURCE_DIR}}/{}", cmake_flag(&text)),
            });
            refused.extend(Some(text).filter(|text| !is_cmake_flag(text)));
        }
        let make_target_is_file = is_make_name(&stem) && !PHONY.contains(&stem.as_str());
        let mut taken: BTreeSet<String> = [stem.clone()].into();
        taken.extend(glues.iter().flat_map(|glue| ["", "_glue"].map(|end| format!("{}{end}.o", glue.name))));
        let make_sources: Vec<Rule> = all
            .iter()
            .map(|source| Rule {
                object: object(source, &mut taken),
                needs: if is_make_name(source) { source.clone() } else { "tw_always".to_owned() },
                source: make_word(&no_option(source)),
            })
            .collect();
        Ok(Build {
            glue,
            regions: glues.iter().map(|glue| glue.name.as_str()).collect(),
            program: comment(&stem),
            executable: make_word(&no_option(&stem)),
            make_target: if make_target_is_file { stem.clone() } else { "tw_program".to_owned() },
            make_target_is_file,
            make_flags,
            make_objects: make_sources.iter().map(|rule| rule.object.clone()).collect(),
            make_sources,
            cmake_refuses: (!refused.is_empty()).then(|| cmake_argument(&visible(&refused.join(", ")))),
            cmake_executable: cmake_argument(&stem),
            cmake_sources: all.iter().map(|source| cmake_argument(source)).collect(),
            cmake_flags,
        })
    }
}

/// Whether a file or folder beside the program, or one that CMake writes, has this name.
fn is_taken(name: &str, glue: &Glue, sources: &Sources) -> bool {
    let own = [".h", ".c", ".cu", "_glue.h", "_glue.c", "_glue.cu"];
    let tools = [
        "Makefile",
        "makefile",
        "GNUmakefile",
        "CMakeLists.txt",
        "CMakeFiles",
        "CMakeCache.txt",
        "cmake_install.cmake",
        "manifest.json",
    ];
    let first = |path: &Path| path.components().next().is_some_and(|part| part.as_os_str() == name);
    tools.contains(&name)
        || own.iter().any(|end| name == format!("{}{end}", glue.name))
        || first(&sources.main)
        || sources.copies.iter().any(|copy| first(&copy.name))
}

/// The path as text that a line of a build file can hold.
fn text_of(path: &Path, what: &'static str) -> Result<String, RewriteError> {
    let text = path.to_string_lossy().into_owned();
    if path.to_str().is_none() {
        return Err(RewriteError::Name { what, text, reason: "it is no text in UTF-8" });
    }
    checked(&text, what)?;
    Ok(text)
}

fn checked(text: &str, what: &'static str) -> Result<(), RewriteError> {
    let control = |letter: char| letter.is_control() && letter != '\t';
    if text.contains(control) {
        let text = visible(text).into_owned();
        return Err(RewriteError::Name {
            what,
            text,
            reason: "it has an end of a line or another control character",
        });
    }
    Ok(())
}

/// With a folder before it where a program would take the name for an option.
fn no_option(name: &str) -> String {
    if name.starts_with('-') { format!("./{name}") } else { name.to_owned() }
}

/// The object of a source: a name that make takes in a rule, and that no other file has.
fn object(source: &str, taken: &mut BTreeSet<String>) -> String {
    let plain = |letter: char| letter != '/' && is_make_name(&format!("x{letter}"));
    let stem: String = source
        .strip_suffix(".c")
        .unwrap_or(source)
        .chars()
        .map(|letter| if plain(letter) { letter } else { '_' })
        .collect();
    let stem = if is_make_name(&stem) { stem } else { format!("tw{stem}") };
    let mut name = format!("{stem}_c.o");
    for number in 2.. {
        if taken.insert(name.clone()) {
            break;
        }
        name = format!("{stem}_{number}_c.o");
    }
    name
}
