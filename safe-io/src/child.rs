//! Child processes that end in time.
//!
//! A child runs in a process group of its own, and it is over when it has exited and nobody holds its output any more;
//! what it left running in the group is ended then. At the deadline the whole group is killed. A process that left the
//! group (`setsid`) cannot be reached that way; it is not waited for either. Output is taken in while the child runs,
//! and no more of it is kept than asked for.

mod memory;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time after which a flag, or a child that has closed its output, is looked at again.
const TICK: Duration = Duration::from_millis(20);
/// How long a killed child may take to disappear. Only one that hangs in the kernel takes longer.
const FAREWELL: Duration = Duration::from_secs(2);

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
pub struct Limits<'a> {
    /// Longest time.
    pub time: Duration,
    /// Its standard output.
    pub stdout: Keep,
    /// Its standard error.
    pub stderr: Keep,
    /// Most bytes of memory that each of its processes may map, where the system can limit that.
    pub memory: Option<u64>,
    /// Whether to kill it now.
    pub stop: &'a dyn Fn() -> bool,
}

impl Limits<'_> {
    /// Some time, 1 MiB of each output kept, no limit on memory.
    pub fn of_time(time: Duration) -> Limits<'static> {
        Limits {
            time,
            stdout: Keep::Last(1 << 20),
            stderr: Keep::Last(1 << 20),
            memory: None,
            stop: &|| false,
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
    /// Killed because [`Limits::stop`] or [`end_all`] said so.
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

/// The groups that run now, and whether none may be started any more.
static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
static ENDING: AtomicBool = AtomicBool::new(false);

/// Kills all children that [`run`] has started, and every one that it is asked for from now on: for the moment when the
/// process is told to end.
pub fn end_all() {
    ENDING.store(true, Ordering::SeqCst);
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    running.iter().filter_map(|&group| Pid::from_raw(group)).for_each(kill);
}

fn kill(group: Pid) {
    // A group that is gone is what was wanted.
    let _ = kill_process_group(group, Signal::KILL);
}

/// Runs a command to its end, with nothing on its standard input.
///
/// # Errors
/// A command that cannot be started.
pub fn run(command: &mut Command, limits: &Limits<'_>) -> io::Result<Ended> {
    let start = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    std::os::unix::process::CommandExt::process_group(command, 0);
    if let Some(most) = limits.memory {
        memory::limit(command, most);
    }
    Group::start(command)?.attend(start, limits)
}

/// A child and its group; killed and reaped when dropped.
struct Group {
    child: Child,
    pid: Pid,
    status: Option<ExitStatus>,
}

impl Group {
    fn start(command: &mut Command) -> io::Result<Group> {
        // Held while it starts, so that `end_all` sees it or is seen by it.
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let child = command.spawn()?;
        let pid = Pid::from_child(&child);
        running.insert(pid.as_raw_nonzero().get());
        Ok(Group { child, pid, status: None })
    }

    fn attend(mut self, start: Instant, limits: &Limits<'_>) -> io::Result<Ended> {
        let mut stdout = Pipe::new(self.child.stdout.take(), limits.stdout)?;
        let mut stderr = Pipe::new(self.child.stderr.take(), limits.stderr)?;
        let mut pause = Duration::from_millis(1);
        let end = loop {
            if ENDING.load(Ordering::SeqCst) || (limits.stop)() {
                break End::Stopped;
            }
            stdout.take_in();
            stderr.take_in();
            if stdout.is_full() || stderr.is_full() {
                break End::TooMuchOutput;
            }
            if !stdout.is_open() && !stderr.is_open() && self.has_exited() {
                break match self.reap() {
                    Some(status) => End::Exited(status),
                    None => End::TimedOut,
                };
            }
            let left = limits.time.saturating_sub(start.elapsed());
            if left.is_zero() {
                break End::TimedOut;
            }
            let mut open: Vec<PollFd<'_>> =
                [stdout.wanted(), stderr.wanted()].into_iter().flatten().collect();
            if open.is_empty() {
                std::thread::sleep(pause.min(left));
                pause = (pause * 2).min(TICK);
            } else {
                let timeout = left.min(TICK).try_into().ok();
                // Interrupted or not: everything is looked at again.
                let _ = poll(&mut open, timeout.as_ref());
            }
        };
        self.reap();
        Ok(Ended { end, stdout: stdout.kept(), stderr: stderr.kept() })
    }

    /// Whether the child is over. It stays unreaped, so that no other group can have its number.
    fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::Pid(self.pid), options), Ok(Some(_)))
    }

    /// Kills what is left of the group, and takes leave of the child.
    fn reap(&mut self) -> Option<ExitStatus> {
        if self.status.is_some() {
            return self.status;
        }
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        kill(self.pid);
        running.remove(&self.pid.as_raw_nonzero().get());
        drop(running);
        let start = Instant::now();
        while self.status.is_none() && start.elapsed() < FAREWELL {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                Ok(status) => self.status = status,
                Err(_) => break,
            }
        }
        self.status
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.reap();
    }
}

/// An output of a child.
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

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    fn is_full(&self) -> bool {
        matches!(self.keep, Keep::All(most) if self.kept.len() > most)
    }

    fn wanted(&self) -> Option<PollFd<'_>> {
        self.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN))
    }

    /// Takes in what there is, but no more than a few pieces at a time: the deadline must be looked at.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(text: &str, limits: &Limits<'_>) -> (Ended, Duration) {
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
    fn a_child_can_be_stopped() {
        let limits = Limits { stop: &|| true, ..Limits::of_time(Duration::from_secs(100)) };
        assert_eq!(sh("sleep 300", &limits).0.end, End::Stopped);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_limited() {
        let limits = Limits { memory: Some(1 << 28), ..Limits::of_time(Duration::from_secs(100)) };
        let (ended, _) = sh("sh -c 'ulimit -v'", &limits);
        assert_eq!(ended.stdout, b"262144\n");
    }
}
