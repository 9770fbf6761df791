//! Running the command as a user does.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

pub mod shown;

use execution::grid::{ValuesMut, ValuesRef};
use execution::npy;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// What a command gave.
pub struct Output {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// The one JSON document on stdout.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\nstdout: {}\nstderr: {}", self.stdout, self.stderr))
    }

    /// Fails unless the command succeeded.
    pub fn succeeded(self) -> Output {
        assert_eq!(self.code, 0, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }
}

/// A state folder in which nothing is when the tests start: what earlier runs left in it, a measured machine say, would be
/// the user's.
fn empty_state() -> &'static Path {
    static STATE: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("state");
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                panic!("{}: {error}", folder.display())
            }
            _ => folder,
        }
    });
    &STATE
}

/// Whether all is run, as in `make test-long`, of what else runs in turn.
pub fn everything() -> bool {
    std::env::var_os("TILEWRIGHT_ALL").is_some()
}

/// A C compiler that optimises less than it is asked to, or not at all: words that scripts and wrappers of MPI take, too.
pub fn quick_compiler(optimises: bool) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/quick-cc.sh");
    let script = if script.contains(char::is_whitespace) { format!("'{script}'") } else { script.to_owned() };
    format!("sh {script}{}", if optimises { "" } else { " 0" })
}

/// [`tilewright`] without NVRTC, which takes seconds for each text: where nobody looks at what it says, only in `make test-long`.
pub fn without_nvrtc(arguments: &[&str]) -> Output {
    let mut command = command(arguments);
    if !everything() {
        command.env("TILEWRIGHT_NVRTC", "none");
    }
    finish(command)
}

/// The command, with a cache and a state folder of the tests' own. What it compiles is not optimised, but for
/// `make test-long`; a test of what users get removes `$CC`.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    command
        .args(arguments)
        .env("TILEWRIGHT_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
        .env("TILEWRIGHT_STATE", empty_state())
        .envs((!everything()).then(|| ("CC", quick_compiler(false))))
        .stdin(Stdio::null());
    command
}

/// Runs the command to its end. A panic is never right.
pub fn tilewright(arguments: &[&str]) -> Output {
    finish(command(arguments))
}

pub fn finish(mut command: Command) -> Output {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let output = Output {
        code: output.status.code().expect("ended by a signal"),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    };
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    output
}

/// An empty folder and the paths in it.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The path as an argument.
    pub fn arg(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.arg(name)
    }

    /// Names of all files, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Writes an array of single precision.
pub fn write_array(path: &Path, shape: &[u64], values: &[f32]) {
    npy::write(path, shape, ValuesRef::F32(values)).unwrap();
}

/// Reads an array of single precision of this shape.
pub fn read_array(path: &Path, shape: &[u64]) -> Vec<f32> {
    let mut values = vec![0.0; shape.iter().product::<u64>() as usize];
    npy::read_into(path, shape, ValuesMut::F32(&mut values)).unwrap();
    values
}
