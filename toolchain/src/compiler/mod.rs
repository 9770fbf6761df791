//! The system's C and C++ compilers: found here, the one place that reads `$CC` and `$CXX`; what they make of text is
//! [`SharedObject`]s.
//!
//! The variable is one program where its whole text names one, spaces included; else it is split into words as a
//! shell does, with quotes: `ccache gcc -m64`, `"/opt/my compiler/cc" -m64`. The first word is the program. What is
//! found must preprocess a line of C, so that `CC=echo` is refused before it has an effect.

mod command;
mod common;
mod probe;
mod shared_object;

pub use common::Common;
pub use shared_object::{CompileOptions, SharedObject, SourceText, compile_cxx_shared, compile_shared};

use crate::child::{self, Failure};
use crate::interrupt::Interrupted;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a compiler may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(10);
/// What it preprocesses to show that it is one, and what it must make of it.
const QUESTION: (&str, &str) = ("#define TW_JOIN(a, b) a##b\nTW_JOIN(tile, wright)\n", "tilewright");
/// Variables of the environment that change what compilers read and run.
const ENVIRONMENT: [&str; 6] =
    ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX"];

/// What the compiler of a program's own files, those that are not generated, is told of OpenMP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OwnOpenMp {
    /// What their pragmas need, as far as tiled loops go with it.
    #[default]
    AsNeeded,
    /// Nothing.
    Off,
    /// All of it.
    On,
}

/// The source language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// C11 with GNU extensions.
    C,
    /// C++20 with GNU extensions, or C++17 where the compiler does not know it. Sources may be named `.cu`.
    Cxx,
    /// C that uses MPI.
    Mpi,
}

impl Language {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Language::C => "C",
            Language::Cxx => "C++",
            Language::Mpi => "MPI C",
        }
    }

    /// The environment variable that names the compiler.
    pub fn variable(self) -> &'static str {
        match self {
            Language::C => "CC",
            Language::Cxx => "CXX",
            Language::Mpi => "MPICC",
        }
    }

    /// The value of `-x`.
    pub fn option(self) -> &'static str {
        match self {
            Language::C | Language::Mpi => "c",
            Language::Cxx => "c++",
        }
    }

    /// A package that has one.
    fn example(self) -> &'static str {
        match self {
            Language::C | Language::Cxx => "gcc",
            Language::Mpi => "Open MPI (libopenmpi-dev, openmpi-bin)",
        }
    }

    /// The usual commands.
    fn commands(self) -> &'static [&'static str] {
        match self {
            Language::C => &["cc", "gcc", "clang"],
            Language::Cxx => &["c++", "g++", "clang++"],
            Language::Mpi => &["mpicc", "mpicc.openmpi", "mpicc.mpich"],
        }
    }
}

/// Why there is no compiler.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CompilerError {
    /// None of the usual ones is installed.
    #[error(
        "no {} compiler was found (tried {tried}); install one, such as {}, or name it in the environment variable {}",
        .language.name(), .language.example(), .language.variable()
    )]
    Missing {
        /// The language.
        language: Language,
        /// The commands tried.
        tried: String,
    },
    /// One of the usual ones is installed, and does not work.
    #[error(
        "no {} compiler works: of `{command}`, {problem}; mend that, or name another one in the environment variable {}",
        .language.name(), .language.variable()
    )]
    Broken {
        /// The language.
        language: Language,
        /// The command.
        command: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The variable names something else.
    #[error(
        "no {} compiler: the environment variable {} is `{command}`, and {problem}; name a compiler there, or unset it",
        .language.name(), .language.variable()
    )]
    Wrong {
        /// The language.
        language: Language,
        /// The variable's value.
        command: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
}

/// A compiler of this system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    language: Language,
    /// The command as the user gave it.
    named: String,
    program: PathBuf,
    arguments: Vec<OsString>,
    version: String,
    identity: Vec<u8>,
}

impl Compiler {
    /// The compiler that `$CC` (`$CXX`) names, else the first of the usual names that works. The answer is
    /// remembered for the life of the process.
    ///
    /// # Errors
    /// [`CompilerError`].
    pub fn find(language: Language) -> Result<Compiler, CompilerError> {
        type Known = (Language, Option<OsString>, Result<Compiler, CompilerError>);
        static FOUND: Mutex<Vec<Known>> = Mutex::new(Vec::new());
        let named = std::env::var_os(language.variable())
            .filter(|command| !command.to_string_lossy().trim().is_empty());
        let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        let known = found.iter().find(|(known, command, _)| *known == language && *command == named);
        if let Some((_, _, compiler)) = known {
            return compiler.clone();
        }
        let compiler = match &named {
            Some(command) => Compiler::from_command(language, command),
            None => {
                let mut none = CompilerError::Missing { language, tried: language.commands().join(", ") };
                let works = |command: &&str| match Compiler::from_command(language, command) {
                    Err(CompilerError::Interrupted(interrupted)) => Some(Err(interrupted.into())),
                    Err(CompilerError::Wrong { command, problem, .. }) => {
                        if matches!(none, CompilerError::Missing { .. })
                            && words(OsStr::new(&command)).is_ok()
                        {
                            none = CompilerError::Broken { language, command, problem };
                        }
                        None
                    }
                    compiler => compiler.ok().map(Ok),
                };
                let found = language.commands().iter().find_map(works);
                found.unwrap_or(Err(none))
            }
        };
        if !matches!(compiler, Err(CompilerError::Interrupted(_))) {
            found.push((language, named, compiler.clone()));
        }
        compiler
    }

    /// The compiler behind a command such as `gcc-12` or `ccache gcc`.
    ///
    /// # Errors
    /// [`CompilerError::Wrong`] with what is wrong, [`CompilerError::Interrupted`].
    pub fn from_command(language: Language, command: impl AsRef<OsStr>) -> Result<Compiler, CompilerError> {
        let command = command.as_ref();
        let named = command.to_string_lossy().trim().to_owned();
        let wrong = |problem: String| CompilerError::Wrong { language, command: named.clone(), problem };
        let (program, arguments) = words(command).map_err(wrong)?;
        let mut compiler = Compiler {
            language,
            named: named.clone(),
            program,
            arguments,
            version: String::new(),
            identity: Vec::new(),
        };
        let ask = |arguments: &[&str], input: &str| {
            child::output(compiler.command().args(arguments), input.as_bytes(), PATIENCE)
        };
        let answer = match ask(&["-E", "-x", language.option(), "-"], QUESTION.0) {
            Ok(answer) => answer,
            Err(Failure::Interrupted) => return Err(Interrupted.into()),
            Err(failure) => return Err(wrong(failure.to_string())),
        };
        let text = String::from_utf8_lossy(&answer.stdout);
        if !answer.status.success() || !text.lines().any(|line| line.trim() == QUESTION.1) {
            let said = String::from_utf8_lossy(&answer.stderr);
            let first = said.lines().map(str::trim).find(|line| !line.is_empty());
            let said = first.map(|line| format!(" (it says: {line})")).unwrap_or_default();
            return Err(wrong(format!("it does not preprocess {}{said}", language.name())));
        }
        let version = match ask(&["--version"], "") {
            Ok(answer) => String::from_utf8_lossy(&answer.stdout).trim().to_owned(),
            Err(Failure::Interrupted) => return Err(Interrupted.into()),
            Err(_) => String::new(),
        };
        compiler.version = version;
        compiler.identity = compiler.identified();
        Ok(compiler)
    }

    /// The language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The first line that the compiler says of itself.
    pub fn version(&self) -> &str {
        self.version.lines().next().unwrap_or(&self.named)
    }

    /// The command as it was named, as in `gcc`.
    pub fn name(&self) -> &str {
        &self.named
    }

    /// What tells it from every other compiler: its words, its whole version text, the files that they name with
    /// their sizes and times, and the variables of the environment that it reads.
    pub fn identity(&self) -> &[u8] {
        &self.identity
    }

    /// The program with the arguments that always go first, nothing on its stdin, messages in English.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env("LC_ALL", "C").stdin(Stdio::null());
        command
    }

    /// The command as a shell, and so `make`, takes it: each word quoted where it must be.
    pub fn shell_words(&self) -> String {
        let words =
            [self.program.as_os_str()].into_iter().chain(self.arguments.iter().map(OsString::as_os_str));
        let words: Vec<String> = words.map(|word| word.to_string_lossy().replace('\0', "")).collect();
        let quoted = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "));
        // `make` expands what a shell would not.
        quoted.replace('$', "$$")
    }

    fn identified(&self) -> Vec<u8> {
        let mut identity = Vec::new();
        let mut add = |bytes: &[u8]| {
            identity.extend((bytes.len() as u64).to_le_bytes());
            identity.extend(bytes);
        };
        add(self.language.name().as_bytes());
        add(self.version.as_bytes());
        for word in std::iter::once(self.program.as_os_str()).chain(self.arguments.iter().map(AsRef::as_ref))
        {
            add(word.as_encoded_bytes());
            // Of `ccache gcc`, both.
            let file = if word.as_encoded_bytes().starts_with(b"-") { None } else { found(word).ok() };
            let Some(file) = file.and_then(|file| file.canonicalize().ok()) else { continue };
            add(file.as_os_str().as_encoded_bytes());
            if let Ok(metadata) = file.metadata() {
                add(&metadata.len().to_le_bytes());
                let time = metadata.modified().ok();
                let time = time.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
                add(&time.map_or(0, |time| time.as_nanos()).to_le_bytes());
            }
        }
        for name in ENVIRONMENT {
            add(std::env::var_os(name).unwrap_or_default().as_encoded_bytes());
        }
        identity
    }
}

/// Program and arguments of a command.
fn words(command: &OsStr) -> Result<(PathBuf, Vec<OsString>), String> {
    let text = command.to_str().map(str::trim);
    let whole = text.map_or(command, OsStr::new);
    let found_whole = found(whole);
    let Some(text) =
        text.filter(|text| found_whole.is_err() && text.contains([' ', '\t', '\n', '\'', '"', '\\']))
    else {
        return found_whole.map(|program| (program, Vec::new()));
    };
    let words = shlex::split(text).ok_or("its quotes do not match")?;
    let (program, arguments) = words.split_first().ok_or("it has no words")?;
    let program = found(OsStr::new(program)).map_err(|problem| format!("of `{program}`: {problem}"))?;
    // Compilers run in folders of their own, where a file beside the user would not be found.
    let argument = |word: &String| match std::path::absolute(word) {
        Ok(path) if !word.starts_with('-') && !word.starts_with('@') && path.is_file() => {
            path.into_os_string()
        }
        _ => OsString::from(word),
    };
    Ok((program, arguments.iter().map(argument).collect()))
}

/// The absolute path of a program, which is not resolved: some act by the name under which they are called.
fn found(word: &OsStr) -> Result<PathBuf, String> {
    let path = Path::new(word);
    if path.components().count() > 1 || path.is_absolute() || word.as_encoded_bytes().ends_with(b"/") {
        let metadata = path.metadata().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => error.to_string(),
        })?;
        if metadata.is_dir() {
            return Err("that is a folder".to_owned());
        }
        if !is_executable(&metadata) {
            return Err("that file is not executable".to_owned());
        }
        return std::path::absolute(path).map_err(|error| error.to_string());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .map(|folder| folder.join(path))
        .find(|candidate| {
            candidate.metadata().is_ok_and(|metadata| metadata.is_file() && is_executable(&metadata))
        })
        .and_then(|candidate| std::path::absolute(candidate).ok())
        .ok_or_else(|| "there is no such program in $PATH".to_owned())
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &std::fs::Metadata) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A compiler in a folder with a space: a script that calls the system's.
    fn spaced(folder: &Path) -> PathBuf {
        let path = folder.join("my cc");
        // Written and closed by another process: a file open for writing in a child of another test cannot be run.
        let text = "printf '#!/bin/sh\\nexec cc \"$@\"\\n' > \"$1\"";
        assert!(Command::new("sh").args(["-c", text, "sh"]).arg(&path).status().unwrap().success());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn commands_are_split_as_a_shell_does_and_files_with_spaces_are_taken_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = spaced(folder.path());
        let text = path.to_str().unwrap();
        assert_eq!(words(OsStr::new(text)).unwrap(), (path.clone(), vec![]));
        let quoted = format!(" '{text}'  -m64 \"-DA=b c\" ");
        let arguments = ["-m64", "-DA=b c"].map(OsString::from).to_vec();
        assert_eq!(words(OsStr::new(&quoted)).unwrap(), (path.clone(), arguments));
        let escaped = text.replace(' ', "\\ ") + " -O1";
        assert_eq!(words(OsStr::new(&escaped)).unwrap().0, path);
        assert!(words(OsStr::new("sh")).unwrap().0.is_absolute());
        for (command, problem) in [
            ("cc 'x", "quotes"),
            ("/no/such/cc", "no such file"),
            ("/no/such/cc -m64", "no such file"),
            ("no-such-cc", "in $PATH"),
            ("/tmp", "a folder"),
            ("/etc/passwd", "not executable"),
        ] {
            let found = words(OsStr::new(command)).unwrap_err();
            assert!(found.contains(problem), "{command}: {found}");
        }
    }

    #[test]
    fn what_is_no_compiler_is_refused() {
        for command in
            ["echo", "true", "false", "/bin/cat", "cat", "sh -c 'cat'", "sleep", "/", "sh -c 'exit 3'"]
        {
            let error = Compiler::from_command(Language::C, command).unwrap_err();
            assert!(matches!(error, CompilerError::Wrong { .. }));
            let text = error.to_string();
            assert!(text.contains(&format!("`{command}`")) && text.contains("CC"), "{text}");
        }
    }

    #[test]
    fn compilers_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = spaced(folder.path());
        let Ok(plain) = Compiler::from_command(Language::C, "cc") else {
            println!("no C compiler: skipped");
            return;
        };
        let spaced = Compiler::from_command(Language::C, &path).unwrap();
        assert_eq!(plain.version(), spaced.version());
        assert_ne!(plain.identity(), spaced.identity());
        let with = Compiler::from_command(Language::C, "cc -DX=1").unwrap();
        assert_ne!(plain.identity(), with.identity());
        std::fs::File::options().append(true).open(&path).unwrap().set_len(40).unwrap();
        assert_ne!(spaced.identity(), spaced.identified(), "the file has changed");
    }
}
