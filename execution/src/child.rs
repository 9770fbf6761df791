//! Programs of others, run to their end or to a limit: with all processes that they start.

use crate::error::{ExecutionError, Result};
use crate::interrupt;
use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use toolchain::interrupt::Group;

/// How long a program may run and how much it may print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest time.
    pub time: Duration,
    /// Most bytes in each of its outputs.
    pub bytes: u64,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// By itself, or by a signal.
    Status(ExitStatus),
    /// It ran for too long.
    TimedOut,
    /// It printed too much.
    TooMuchOutput,
}

/// Runs a program with its outputs in two files.
///
/// # Errors
/// [`ExecutionError::File`] where it cannot be started, [`ExecutionError::Interrupted`].
pub fn run(command: &mut Command, stdout: &Path, stderr: &Path, limits: Limits) -> Result<End> {
    let create = |path: &Path| {
        File::create(path).map_err(|source| ExecutionError::File {
            action: "write",
            path: path.to_owned(),
            source,
        })
    };
    command.stdout(Stdio::from(create(stdout)?)).stderr(Stdio::from(create(stderr)?));
    let path = command.get_program().into();
    let mut group =
        Group::spawn(command).map_err(|source| ExecutionError::File { action: "run", path, source })?;
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        let ended = group.try_wait();
        match ended {
            Ok(Some(status)) => return Ok(End::Status(status)),
            Ok(None) => {}
            Err(source) => {
                return Err(ExecutionError::File {
                    action: "run",
                    path: command.get_program().into(),
                    source,
                });
            }
        }
        interrupt::check()?;
        let large = |path: &Path| path.metadata().is_ok_and(|metadata| metadata.len() > limits.bytes);
        if start.elapsed() > limits.time {
            group.kill();
            return Ok(End::TimedOut);
        }
        if large(stdout) || large(stderr) {
            group.kill();
            return Ok(End::TooMuchOutput);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn shell(text: &str, limits: Limits) -> (End, String) {
        let folder = tempfile::tempdir().unwrap();
        let (out, err) = (folder.path().join("out"), folder.path().join("err"));
        let end = run(Command::new("sh").arg("-c").arg(text), &out, &err, limits).unwrap();
        (end, std::fs::read_to_string(out).unwrap())
    }

    #[test]
    fn limits_hold_for_all_processes() {
        let limits = Limits { time: Duration::from_secs(20), bytes: 1000 };
        let (end, text) = shell("echo a; exit 3", limits);
        assert!(matches!(end, End::Status(status) if status.code() == Some(3)) && text == "a\n");
        let short = Limits { time: Duration::from_millis(50), ..limits };
        let start = Instant::now();
        assert_eq!(shell("sleep 30 & sleep 30", short).0, End::TimedOut);
        assert_eq!(shell("while :; do echo 0123456789; done", limits).0, End::TooMuchOutput);
        assert!(start.elapsed() < Duration::from_secs(15));
    }
}
