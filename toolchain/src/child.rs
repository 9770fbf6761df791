//! Running a program to its end: with a time limit, its output collected, and everything that it started killed
//! where the time is over or the user asks to stop.

use crate::interrupt::{self, Group};
use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most bytes of each stream that are kept; the rest is read and dropped.
const MOST_OUTPUT: usize = 1 << 28;
/// How long what the child left behind in the background may hold its output open.
const STRAGGLERS: Duration = Duration::from_millis(500);
/// Longest time between two looks at the clock and the flag of signals.
const TICK: Duration = Duration::from_millis(20);

/// What a child gave.
#[derive(Debug, Clone)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it complained about.
    pub stderr: Vec<u8>,
}

/// Why there is no output.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It could not be started.
    #[error("it cannot be run: {0}")]
    Start(std::io::Error),
    /// It took too long, and was killed.
    #[error("it did not end within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The user asked to stop, and it was killed.
    #[error("interrupted")]
    Interrupted,
}

/// Runs a command in a process group of its own; `input` is what it reads from stdin.
///
/// # Errors
/// [`Failure`].
pub fn output(command: &mut Command, input: &[u8], limit: Duration) -> Result<Output, Failure> {
    interrupt::check().map_err(|_| Failure::Interrupted)?;
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut group = Group::spawn(command).map_err(Failure::Start)?;
    if let Some(mut pipe) = group.child().stdin.take() {
        let input = input.to_vec();
        // A child that does not read is no failure of ours.
        std::thread::spawn(move || drop(pipe.write_all(&input)));
    }
    let (sender, ended) = channel();
    let stdout = collect(group.child().stdout.take(), sender.clone());
    let stderr = collect(group.child().stderr.take(), sender);
    let mut status = None;
    let mut open = 2;
    let mut since = start;
    loop {
        if status.is_none() {
            since = Instant::now();
            status = group.try_wait().map_err(Failure::Start)?;
        }
        if let Some(status) = status.filter(|_| open == 0 || since.elapsed() > STRAGGLERS) {
            return Ok(Output { status, stdout: taken(&stdout), stderr: taken(&stderr) });
        }
        // Dropping the group kills it.
        interrupt::check().map_err(|_| Failure::Interrupted)?;
        if start.elapsed() > limit {
            return Err(Failure::TimedOut(limit));
        }
        if open == 0 {
            // Both streams are closed: the end is near.
            std::thread::sleep(Duration::from_millis(1));
        } else if ended.recv_timeout(TICK).is_ok() {
            open -= 1;
        }
    }
}

type Collected = Arc<Mutex<Vec<u8>>>;

/// Reads a pipe on a thread of its own, so that neither stream waits for the other.
fn collect(pipe: Option<impl Read + Send + 'static>, ended: Sender<()>) -> Collected {
    let collected = Collected::default();
    let kept = Arc::clone(&collected);
    std::thread::spawn(move || {
        let Some(mut pipe) = pipe else { return };
        let mut buffer = vec![0; 1 << 16];
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    let room = MOST_OUTPUT.saturating_sub(kept.len()).min(read);
                    kept.extend_from_slice(&buffer[..room]);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = ended.send(());
    });
    collected
}

fn taken(collected: &Collected) -> Vec<u8> {
    std::mem::take(&mut *collected.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn shell(text: &str, input: &str, limit: Duration) -> Result<Output, Failure> {
        output(Command::new("sh").args(["-c", text]), input.as_bytes(), limit)
    }

    #[test]
    fn output_input_and_status() {
        let long = Duration::from_secs(60);
        let found = shell("read line; echo got $line; echo bad >&2; exit 3", "this", long).unwrap();
        assert_eq!((found.stdout.as_slice(), found.stderr.as_slice()), (&b"got this\n"[..], &b"bad\n"[..]));
        assert_eq!(found.status.code(), Some(3));
        let much = shell("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2", "", long).unwrap();
        assert_eq!((much.stdout.len(), much.stderr.len()), (3_000_000, 3_000_000));
        assert!(matches!(output(&mut Command::new("/no/such"), b"", long), Err(Failure::Start(_))));
    }

    /// Neither a child that never ends nor one that leaves another behind is waited for.
    #[test]
    fn limits() {
        let start = Instant::now();
        let folder = tempfile::tempdir().unwrap();
        let sign = folder.path().join("sign");
        let text = format!("(sleep 2; touch {}) & sleep 600", sign.display());
        assert!(matches!(shell(&text, "", Duration::from_millis(300)), Err(Failure::TimedOut(_))));
        let found = shell("sleep 600 & echo $!", "", Duration::from_secs(60)).unwrap();
        assert!(start.elapsed() < Duration::from_secs(30));
        let left = String::from_utf8(found.stdout).unwrap();
        Command::new("kill").arg(left.trim()).status().unwrap();
        std::thread::sleep(Duration::from_millis(2500).saturating_sub(start.elapsed()));
        assert!(!sign.exists(), "a child of the child went on");
    }
}
