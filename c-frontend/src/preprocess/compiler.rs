//! Calls of the system's C compiler, and what it says.

use super::kept::Kept;
use super::limits::MOST_EXPANDED_BYTES;
use super::shortened::shortened;
use safe_io::input;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toolchain::child::{self, End, Ended, Keep, Limits};
use toolchain::compiler::{Compiler, Language, OwnOpenMp};

/// What the preprocessor is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// `NAME` or `NAME=VALUE`, as after `-D`.
    pub defines: Vec<String>,
    /// Folders in which headers are looked for, as after `-I`.
    pub include_dirs: Vec<PathBuf>,
    /// The function whose time loops are wanted; those of all functions where there is none.
    pub function: Option<String>,
    /// Other sources of the program, whose functions the time loops may call; those beside its headers need not be named.
    pub with: Vec<PathBuf>,
    /// Whether OpenMP pragmas of the program's own files mean what they say, where that can be.
    pub openmp: OwnOpenMp,
    /// Whether the loops are for processors alone: steps that test a sum may run ahead of the program there, and small integers take the
    /// place of those of the program.
    pub processor: bool,
    /// The files of the program that is being read; [`crate::read_all`] begins anew.
    pub kept: Kept<Result<Vec<u8>, Failure>>,
}

/// Why there is no preprocessed text.
#[derive(Debug, Clone)]
pub enum Failure {
    /// No compiler could be started.
    NoCompiler(String),
    /// It refused the file.
    Messages(Vec<Message>),
    /// It took too long, or made too much of the file.
    TooMuch(String),
}

/// An error that the compiler reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in bytes, from 1.
    pub column: usize,
    /// What is wrong.
    pub text: String,
    /// The line of the user's file that includes `file`, where it is another one.
    pub included_from: Option<usize>,
}

/// What makes the compiler find mistakes alone.
const CHECK: [&str; 1] = ["-fsyntax-only"];
/// Longest time for each of the calls. A program of thousands of lines takes a tenth of a second.
const MOST_TIME: Duration = Duration::from_secs(9);
/// Most memory that the compiler may map: macros can be written that need any amount.
const MOST_MEMORY: u64 = 1 << 30;
/// Most text that the preprocessor may print; the system's headers are in it.
const MOST_PRINTED: usize = 2 * MOST_EXPANDED_BYTES;
/// Most messages that are shown.
const MOST_MESSAGES: usize = 5;

/// What the preprocessor prints, with all definitions of macros, for a file that the compiler accepts.
pub fn expand(path: &Path, options: &Options) -> Result<Vec<u8>, Failure> {
    options.kept.or_read(path, options.openmp, || {
        let expanded = preprocess(path, None, options)?;
        // Once is enough: what -fopenmp adds, whoever builds the program compiles.
        if !options.kept.is_right(path) && !is_right(&expanded, options) {
            run(&CHECK, path, None, options)?;
        }
        Ok(expanded)
    })
}

/// Whether the compiler accepts a [shortened] text, and so the whole one.
fn is_right(expanded: &[u8], options: &Options) -> bool {
    let Some(text) = shortened(expanded) else { return false };
    let Ok(folder) = tempfile::tempdir() else { return false };
    let path = folder.path().join("shortened.i");
    let (Ok(()), Ok(compiler)) = (std::fs::write(&path, text), Compiler::find(Language::C)) else {
        return false;
    };
    let mut command = compiler.command();
    command.args(CHECK).args(["-w", "-x", "cpp-output"]);
    if options.openmp == OwnOpenMp::On {
        command.arg("-fopenmp");
    }
    command.arg(&path);
    child::run(&mut command, &limits())
        .is_ok_and(|ended| matches!(ended.end, End::Exited(status) if status.success()))
}

/// What a compiler printed, if it was content.
fn judged(path: &Path, ended: Ended) -> Result<Vec<u8>, Failure> {
    let reason = match ended.end {
        End::Exited(status) if status.success() => return Ok(ended.stdout),
        // A reason that has no place in the file, such as no memory left, is said in the compiler's words.
        End::Exited(_) => return Err(refused(path, &ended.stderr)),
        End::TimedOut => format!("the C compiler takes more than {} s to read the file", MOST_TIME.as_secs()),
        End::TooMuchOutput => {
            format!("the preprocessor makes more than {} of the file", input::size(MOST_PRINTED as u64))
        }
        End::Stopped => "the C compiler was stopped".to_owned(),
    };
    Err(Failure::TooMuch(reason))
}

/// What the preprocessor alone prints; the headers of a file of a folder are also looked for there.
pub fn preprocess(path: &Path, folder: Option<&Path>, options: &Options) -> Result<Vec<u8>, Failure> {
    run(&["-E", "-dD"], path, folder, options)
}

fn run(mode: &[&str], path: &Path, folder: Option<&Path>, options: &Options) -> Result<Vec<u8>, Failure> {
    let compiler = Compiler::find(Language::C).map_err(|error| Failure::NoCompiler(error.to_string()))?;
    let mut command = compiler.command();
    // `__DATE__` and `__TIME__` are the same in every run.
    command.env("SOURCE_DATE_EPOCH", "0");
    command.args(mode).arg("-w").arg("-x").arg("c");
    if options.openmp == OwnOpenMp::On {
        command.arg("-fopenmp");
    }
    command.args(options.defines.iter().map(|define| format!("-D{define}")));
    for folder in &options.include_dirs {
        command.arg("-I").arg(folder);
    }
    if let Some(folder) = folder {
        command.arg("-iquote").arg(folder);
    }
    command.arg(as_argument(path));
    let ended = child::run(&mut command, &limits()).map_err(|error| {
        Failure::NoCompiler(format!("the C compiler `{}` cannot be run: {error}", compiler.name()))
    })?;
    judged(path, ended)
}

fn limits() -> Limits {
    Limits {
        stdout: Keep::All(MOST_PRINTED),
        stderr: Keep::First(1 << 20),
        memory: Some(MOST_MEMORY),
        ..Limits::of_time(MOST_TIME)
    }
}

/// A path as compilers take it: a name such as `-x.c` is no option.
pub fn as_argument(path: &Path) -> PathBuf {
    if path.is_absolute() || path.starts_with(".") || path.starts_with("..") {
        path.to_owned()
    } else {
        Path::new("./").join(path)
    }
}

fn refused(path: &Path, stderr: &[u8]) -> Failure {
    let text = String::from_utf8_lossy(stderr);
    let name = path.display().to_string();
    let mut messages = messages(&text, &name);
    if messages.is_empty() {
        let first = text.lines().map(str::trim).find(|line| !line.is_empty());
        let text = first.unwrap_or("the C compiler failed without a message").to_owned();
        messages.push(Message { file: name, line: 1, column: 1, text, included_from: None });
    }
    messages.truncate(MOST_MESSAGES);
    Failure::Messages(messages)
}

/// The errors in what a compiler printed: `file:line:column: error: text`, behind the files that include them.
fn messages(text: &str, name: &str) -> Vec<Message> {
    let own = |file: &str| file.strip_prefix("./").unwrap_or(file) == name.strip_prefix("./").unwrap_or(name);
    let mut list = Vec::new();
    let mut included_from = None;
    for line in text.lines() {
        let from = line.trim_start().trim_start_matches("In file included ").strip_prefix("from ");
        if let Some((file, rest)) = from.and_then(|from| from.split_once(':')) {
            if own(file) {
                included_from = rest.split([':', ',']).next().and_then(|number| number.parse().ok());
            }
            continue;
        }
        let Some((place, what)) = line.split_once(": error: ").or_else(|| line.split_once(": fatal error: "))
        else {
            continue;
        };
        let mut parts = place.rsplitn(3, ':');
        let (column, row, file) = (parts.next(), parts.next(), parts.next());
        let number = |part: Option<&str>| part.and_then(|part| part.parse().ok());
        if let (Some(column), Some(row), Some(file)) = (number(column), number(row), file) {
            let is_own = own(file);
            let file = if is_own { name.to_owned() } else { file.to_owned() };
            let included_from = if is_own { None } else { included_from };
            list.push(Message { file, line: row, column, text: what.to_owned(), included_from });
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_errors() {
        let text = "In file included from ./a.c:3:\nb.h:1:10: fatal error: no.h: No such file or directory\n\
                    ./a.c: In function 'f':\n./a.c:7:5: error: 'x' undeclared\n./a.c:9:1: warning: other\n";
        let found = messages(text, "a.c");
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].file.as_str(), found[0].included_from), ("b.h", Some(3)));
        assert_eq!((found[1].file.as_str(), found[1].line, found[1].column), ("a.c", 7, 5));
    }
}
