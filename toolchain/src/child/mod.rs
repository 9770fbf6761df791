//! Child processes that end in time.
//!
//! A child runs in a process group of its own, and it is over when it has exited and nobody holds its output any more;
//! what it left running in the group is ended then. At the deadline the whole group is killed. A process that left the
//! group (`setsid`) cannot be reached that way; it is not waited for either. Output is taken in while the child runs,
//! and no more of it is kept than asked for. Where the user asks to stop, the group is killed as at the deadline.

mod memory;

use crate::interrupt::{self, Group};
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time after which a flag, or a child that has closed its output, is looked at again.
const TICK: Duration = Duration::from_millis(20);
/// How long what a compiler leaves in the background may hold its output.
const STRAGGLERS: Duration = Duration::from_millis(500);
/// Most bytes of each stream that [`output`] keeps.
const MOST_OUTPUT: usize = 1 << 28;

/// Which part of an output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// All; a child that writes more than this many bytes is killed.
    All(usize),
    /// The first bytes. The child may write on.
    First(usize),
    /// The last bytes, or up to twice as many. The child may write on.
    Last(usize),
}

/// What a child may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Longest time.
    pub time: Duration,
    /// Its standard output.
    pub stdout: Keep,
    /// Its standard error.
    pub stderr: Keep,
    /// Most bytes of memory that each of its processes may map, where the system can limit that.
    pub memory: Option<u64>,
    /// How long what the child left in the background may hold its output, once the child has exited; `None`: as long
    /// as the child may run.
    pub stragglers: Option<Duration>,
}

impl Limits {
    /// Some time, 1 MiB of each output kept, no limit on memory.
    pub fn of_time(time: Duration) -> Limits {
        Limits {
            time,
            stdout: Keep::Last(1 << 20),
            stderr: Keep::Last(1 << 20),
            memory: None,
            stragglers: None,
        }
    }
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself.
    Exited(ExitStatus),
    /// Killed at the deadline.
    TimedOut,
    /// Killed because it wrote too much.
    TooMuchOutput,
    /// Killed because the user asked to stop.
    Stopped,
}

/// A child that is over.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub end: End,
    /// What was kept of its standard output.
    pub stdout: Vec<u8>,
    /// What was kept of its standard error.
    pub stderr: Vec<u8>,
}

impl Ended {
    /// Whether it exited with code 0.
    pub fn success(&self) -> bool {
        matches!(self.end, End::Exited(status) if status.success())
    }
}

/// What a child gave that ended by itself.
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
    Start(io::Error),
    /// It took too long, and was killed.
    #[error("it did not end within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It wrote too much, and was killed.
    #[error("it writes more than {} MiB", MOST_OUTPUT >> 20)]
    TooMuchOutput,
    /// The user asked to stop, and it was killed.
    #[error("interrupted")]
    Interrupted,
}

/// Runs a command to its end; `input` is what it reads from stdin.
///
/// # Errors
/// [`Failure`].
pub fn output(command: &mut Command, input: &[u8], limit: Duration) -> Result<Output, Failure> {
    let all = Keep::All(MOST_OUTPUT);
    let limits = Limits { stdout: all, stderr: all, stragglers: Some(STRAGGLERS), ..Limits::of_time(limit) };
    let Ended { end, stdout, stderr } = run_with(command, input, &limits).map_err(Failure::Start)?;
    match end {
        End::Exited(status) => Ok(Output { status, stdout, stderr }),
        End::TimedOut => Err(Failure::TimedOut(limit)),
        End::TooMuchOutput => Err(Failure::TooMuchOutput),
        End::Stopped => Err(Failure::Interrupted),
    }
}

/// Runs a command to its end, with nothing on its standard input.
///
/// # Errors
/// A command that cannot be started.
pub fn run(command: &mut Command, limits: &Limits) -> io::Result<Ended> {
    run_with(command, b"", limits)
}

fn run_with(command: &mut Command, input: &[u8], limits: &Limits) -> io::Result<Ended> {
    let start = Instant::now();
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(most) = limits.memory {
        memory::limit(command, most);
    }
    let mut group = Group::spawn(command)?;
    if let Some(mut pipe) = group.child().stdin.take() {
        let input = input.to_vec();
        // A child that does not read is no failure of ours.
        std::thread::spawn(move || drop(pipe.write_all(&input)));
    }
    let mut stdout = Pipe::new(group.child().stdout.take(), limits.stdout)?;
    let mut stderr = Pipe::new(group.child().stderr.take(), limits.stderr)?;
    let end = attend(group, start, limits, [&mut stdout, &mut stderr]);
    Ok(Ended { end, stdout: stdout.kept(), stderr: stderr.kept() })
}

/// Runs a command whose outputs go to two files, each of at most about `most` bytes; its standard input is what the
/// command says. What it leaves in the background is not waited for.
///
/// # Errors
/// A command that cannot be started.
pub fn run_into_files(
    command: &mut Command,
    (stdout, stderr): (&File, &File),
    time: Duration,
    most: u64,
) -> io::Result<End> {
    let start = Instant::now();
    command.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let group = Group::spawn(command)?;
    let mut outputs = [Written { file: stdout, most }, Written { file: stderr, most }];
    let [stdout, stderr] = &mut outputs;
    Ok(attend(group, start, &Limits::of_time(time), [stdout, stderr]))
}

/// Waits for the end of a child, or brings it about.
fn attend(mut group: Group, start: Instant, limits: &Limits, [stdout, stderr]: [&mut dyn Stream; 2]) -> End {
    let mut pause = Duration::from_millis(1);
    let mut left_at = None;
    let end = loop {
        if interrupt::requested() {
            break End::Stopped;
        }
        stdout.take_in();
        stderr.take_in();
        if stdout.is_full() || stderr.is_full() {
            break End::TooMuchOutput;
        }
        let exited = group.has_exited();
        if exited && left_at.is_none() {
            left_at = Some(Instant::now());
        }
        let given_up = limits.stragglers.zip(left_at).is_some_and(|(wait, at)| at.elapsed() > wait);
        if exited && (given_up || !stdout.is_open() && !stderr.is_open()) {
            break match group.end() {
                Some(status) => End::Exited(status),
                None => End::TimedOut,
            };
        }
        let left = limits.time.saturating_sub(start.elapsed());
        if left.is_zero() {
            break End::TimedOut;
        }
        let mut open: Vec<PollFd<'_>> = [stdout.wanted(), stderr.wanted()].into_iter().flatten().collect();
        if open.is_empty() {
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(TICK);
        } else {
            let timeout = left.min(TICK).try_into().ok();
            // Interrupted or not: everything is looked at again.
            let _ = poll(&mut open, timeout.as_ref());
        }
    };
    group.end();
    end
}

/// An output of a child.
trait Stream {
    /// Takes in what there is.
    fn take_in(&mut self);
    /// Whether the child has written more than it may.
    fn is_full(&self) -> bool;
    /// Whether more may come once the child has exited.
    fn is_open(&self) -> bool;
    /// What to wait for.
    fn wanted(&self) -> Option<PollFd<'_>>;
}

/// An output that the child writes into a file.
struct Written<'a> {
    file: &'a File,
    most: u64,
}

impl Stream for Written<'_> {
    fn take_in(&mut self) {}

    fn is_full(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.len() > self.most)
    }

    fn is_open(&self) -> bool {
        false
    }

    fn wanted(&self) -> Option<PollFd<'_>> {
        None
    }
}

/// An output that is read while the child runs.
struct Pipe<P> {
    pipe: Option<P>,
    keep: Keep,
    kept: Vec<u8>,
}

impl<P: Read + AsFd> Pipe<P> {
    fn new(pipe: Option<P>, keep: Keep) -> io::Result<Pipe<P>> {
        if let Some(pipe) = &pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Pipe { pipe, keep, kept: Vec::new() })
    }

    fn keep(&mut self, piece: &[u8]) {
        match self.keep {
            Keep::All(most) => {
                self.kept.extend(&piece[..piece.len().min((most + 1).saturating_sub(self.kept.len()))]);
            }
            Keep::First(most) => {
                self.kept.extend(&piece[..piece.len().min(most.saturating_sub(self.kept.len()))]);
            }
            Keep::Last(most) => {
                self.kept.extend(piece);
                if self.kept.len() > 2 * most {
                    self.kept.drain(..self.kept.len() - most);
                }
            }
        }
    }

    fn kept(mut self) -> Vec<u8> {
        self.take_in();
        self.kept
    }
}

impl<P: Read + AsFd> Stream for Pipe<P> {
    /// No more than a few pieces at a time: the deadline must be looked at.
    fn take_in(&mut self) {
        let mut piece = [0; 1 << 16];
        for _ in 0..16 {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(&mut piece) {
                Ok(0) => self.pipe = None,
                Ok(count) => self.keep(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.pipe = None,
            }
        }
    }

    fn is_full(&self) -> bool {
        matches!(self.keep, Keep::All(most) if self.kept.len() > most)
    }

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    fn wanted(&self) -> Option<PollFd<'_>> {
        self.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sh(text: &str, limits: &Limits) -> (Ended, Duration) {
        let start = Instant::now();
        let ended = run(Command::new("sh").args(["-c", text]), limits).unwrap();
        (ended, start.elapsed())
    }

    /// Whether a process lives that is not a zombie.
    fn lives(id: &str) -> bool {
        let state = Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap();
        let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
        !state.is_empty() && !state.starts_with('Z')
    }

    #[test]
    fn outputs_and_codes() {
        let (ended, _) = sh("echo out; echo err >&2; exit 3", &Limits::of_time(Duration::from_secs(20)));
        assert!(matches!(ended.end, End::Exited(status) if status.code() == Some(3)));
        assert_eq!((ended.stdout.as_slice(), ended.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
        assert!(run(&mut Command::new("/no/such/program"), &Limits::of_time(TICK)).is_err());
    }

    /// Neither a grandchild that holds the output, nor one that ignores signals, nor one that left the group is waited
    /// for beyond the deadline; and those of the group are gone.
    #[test]
    fn a_deadline_ends_the_group() {
        let limits = Limits::of_time(Duration::from_millis(300));
        let commands = [
            "sleep 300 & echo $!",
            "echo $$; trap '' TERM INT HUP; while :; do sleep 300; done",
            "(sleep 300; echo late) & echo $!; exec sleep 300",
            "echo $$; sleep 300 | cat",
        ];
        for command in commands {
            let (ended, time) = sh(command, &limits);
            assert_eq!(ended.end, End::TimedOut, "{command}");
            assert!(time < Duration::from_secs(100), "{command}");
            let id = String::from_utf8(ended.stdout).unwrap();
            assert!(!lives(id.trim()), "{command}");
        }
        let gone = "setsid sleep 300 & echo $!";
        let (ended, time) = sh(gone, &limits);
        assert!(time < Duration::from_secs(100));
        let id = String::from_utf8(ended.stdout).unwrap();
        let _ = Command::new("kill").args(["-KILL", id.trim()]).status();
    }

    #[test]
    fn what_was_left_in_the_background_is_ended() {
        let limits = Limits::of_time(Duration::from_secs(100));
        let (ended, _) = sh("sleep 300 >/dev/null 2>&1 & echo $!", &limits);
        assert!(ended.success());
        assert!(!lives(String::from_utf8(ended.stdout).unwrap().trim()));
    }

    #[test]
    fn output_is_bounded() {
        let limits = Limits { stdout: Keep::Last(10), ..Limits::of_time(Duration::from_secs(100)) };
        let (ended, _) = sh("head -c 50000000 /dev/zero; echo; echo 1.5", &limits);
        assert!(ended.success() && ended.stdout.len() <= 20 && ended.stdout.ends_with(b"\n1.5\n"));
        let limits = Limits { stdout: Keep::First(3), ..limits };
        assert_eq!(sh("echo abcdef", &limits).0.stdout, b"abc");
        let limits = Limits { stdout: Keep::All(1000), ..limits };
        assert_eq!(sh("yes", &limits).0.end, End::TooMuchOutput);
    }

    #[test]
    fn output_input_and_status() {
        let shell = |text: &str, input: &str| {
            output(Command::new("sh").args(["-c", text]), input.as_bytes(), Duration::from_secs(60)).unwrap()
        };
        let found = shell("read line; echo got $line; echo bad >&2; exit 3", "this");
        assert_eq!((found.stdout.as_slice(), found.stderr.as_slice()), (&b"got this\n"[..], &b"bad\n"[..]));
        assert_eq!(found.status.code(), Some(3));
        let much = shell("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2", "");
        assert_eq!((much.stdout.len(), much.stderr.len()), (3_000_000, 3_000_000));
        let missing = output(&mut Command::new("/no/such"), b"", Duration::from_secs(60));
        assert!(matches!(missing, Err(Failure::Start(_))));
        // What stays in the background is not waited for.
        let start = Instant::now();
        assert!(shell("sleep 300 &", "").status.success() && start.elapsed() < Duration::from_secs(30));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_limited() {
        let limits = Limits { memory: Some(1 << 28), ..Limits::of_time(Duration::from_secs(100)) };
        let (ended, _) = sh("sleep 0.2; ulimit -v", &limits);
        assert_eq!(ended.stdout, b"262144\n");
    }

    #[test]
    fn limits_hold_for_outputs_in_files() {
        let run = |text: &str, time: Duration| {
            let (out, err) = (tempfile::NamedTempFile::new().unwrap(), tempfile::tempfile().unwrap());
            let files = (out.as_file(), &err);
            let end = run_into_files(Command::new("sh").args(["-c", text]), files, time, 1000).unwrap();
            (end, std::fs::read_to_string(out.path()).unwrap())
        };
        let long = Duration::from_secs(20);
        let (end, text) = run("echo a; exit 3", long);
        assert!(matches!(end, End::Exited(status) if status.code() == Some(3)) && text == "a\n");
        let start = Instant::now();
        assert_eq!(run("sleep 30 & sleep 30", Duration::from_millis(50)).0, End::TimedOut);
        assert_eq!(run("while :; do echo 0123456789; done", long).0, End::TooMuchOutput);
        // What stays in the background holds nobody up, and is ended.
        let (end, id) = run("sleep 300 & echo $!", long);
        assert!(matches!(end, End::Exited(_)) && !lives(id.trim()));
        assert!(start.elapsed() < Duration::from_secs(15));
    }
}
