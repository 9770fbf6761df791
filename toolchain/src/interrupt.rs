//! Stopping on SIGINT (Ctrl-C), SIGTERM or SIGHUP, without leaving temporary files or child processes behind.
//!
//! The first signal sets a flag that long computations check between steps; they return [`Interrupted`], and the
//! program ends in order. What has not ended after [`GRACE`], cannot check the flag (a [`Blocking`] section), or gets
//! a second signal, is ended at once: child processes are killed, temporary files are removed, and the closure given
//! to [`install`] ends the process. Nothing here ends it by itself.
//!
//! Files and children are registered under the lock that the end takes and never gives back, so that none appears
//! behind its back.

use crate::cancel::Cancel;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

/// How long a program has to end in order after the first signal.
pub const GRACE: Duration = Duration::from_millis(1200);
/// How long the end waits for killed children to let go of the folders that are removed.
const REMOVAL: Duration = Duration::from_millis(300);
/// The signal of a request that came without one: SIGINT.
const SIGINT: i32 = 2;

/// Number of the first signal; 0 where there was none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);
static BLOCKING: AtomicUsize = AtomicUsize::new(0);
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Process groups of children that have not been waited for.
static CHILDREN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// How long a killed child may take to disappear. Only one that hangs in the kernel takes longer.
const FAREWELL: std::time::Duration = std::time::Duration::from_secs(2);

/// The user asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts to listen to signals; further calls do nothing. `end` gets the exit code and ends the process, where that
/// must happen at once; it may print a last word. Commands call this first thing. Where the system refuses, signals
/// keep their usual effect; a hang-up that is ignored, as under `nohup`, stays ignored.
pub fn install(end: impl Fn(u8) + Send + Sync + 'static) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
            // A file beyond the limit (`ulimit -f`) is an error of the write, as on a full disk.
            let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
            let mut numbers = vec![SIGINT, SIGTERM];
            if !is_ignored(SIGHUP) {
                numbers.push(SIGHUP);
            }
            if let Ok(mut signals) = signal_hook::iterator::Signals::new(numbers) {
                let end = std::sync::Arc::new(end);
                let listen = move || signals.forever().for_each(|number| on_signal(number, &end));
                // Without the thread a signal would have no effect at all; not to start one is unheard of.
                let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(listen);
            }
        }
        #[cfg(not(unix))]
        drop(end);
    });
}

/// Whether the process was started with this signal ignored.
#[cfg(unix)]
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (number - 1) & 1 == 1
}

#[cfg(unix)]
fn on_signal<E: Fn(u8) + Send + Sync + 'static>(number: i32, end: &std::sync::Arc<E>) {
    let first = SIGNAL.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    let now = !first || BLOCKING.load(Ordering::SeqCst) > 0;
    let end = std::sync::Arc::clone(end);
    // On another thread, so that the next signal is heard while this one waits.
    let work = move || {
        if !now {
            std::thread::sleep(GRACE);
        }
        if ENDING.swap(true, Ordering::SeqCst) {
            return;
        }
        kill_children();
        do_at_end();
        remove_temporary();
        end(code_of(number));
    };
    let _ = std::thread::Builder::new().name("end".to_owned()).spawn(work);
}

fn code_of(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Whether the user asked to stop, by a signal or by the token of this thread.
pub fn requested() -> bool {
    SIGNAL.load(Ordering::SeqCst) != 0 || Cancel::current().is_cancelled()
}

/// Sets the flag as SIGINT would.
pub fn request() {
    let _ = SIGNAL.compare_exchange(0, SIGINT, Ordering::SeqCst, Ordering::SeqCst);
}

/// Exit code of a process that was asked to stop, as shells have it: 128 and the number of the signal, which is 130
/// after SIGINT and 143 after SIGTERM.
pub fn exit_code() -> u8 {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => code_of(SIGINT),
        number => code_of(number),
    }
}

/// Fails where the user asked to stop.
///
/// # Errors
/// [`Interrupted`].
pub fn check() -> Result<(), Interrupted> {
    if requested() { Err(Interrupted) } else { Ok(()) }
}

/// While it lives, a signal ends the process at once: for calls that cannot check the flag.
#[derive(Debug)]
pub struct Blocking(());

impl Blocking {
    /// Enters the section.
    ///
    /// # Errors
    /// [`Interrupted`] where the user has asked to stop already.
    pub fn enter() -> Result<Blocking, Interrupted> {
        BLOCKING.fetch_add(1, Ordering::SeqCst);
        let section = Blocking(());
        check().map(|()| section)
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        BLOCKING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A file or folder that is removed where the process is ended at once. Dropping it forgets the path and removes
/// nothing.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
}

/// Registers a temporary file or folder for removal on interruption.
pub fn register(path: &Path) -> Temporary {
    lock(&TEMPORARY).insert(path.to_owned());
    Temporary { path: path.to_owned() }
}

/// Makes a temporary file or folder with `make` and registers the path that `path` finds in it, with no moment
/// between the two.
///
/// # Errors
/// Those of `make`.
pub fn registered<T>(
    make: impl FnOnce() -> std::io::Result<T>,
    path: impl FnOnce(&T) -> &Path,
) -> std::io::Result<(T, Temporary)> {
    let mut paths = lock(&TEMPORARY);
    let made = make()?;
    let path = path(&made).to_owned();
    paths.insert(path.clone());
    Ok((made, Temporary { path }))
}

impl Drop for Temporary {
    fn drop(&mut self) {
        lock(&TEMPORARY).remove(&self.path);
    }
}

/// Removes all registered files and folders, as far as possible, and keeps others from being registered. Paths that
/// are gone are no failure.
pub fn remove_temporary() {
    let mut registered = lock(&TEMPORARY);
    let start = Instant::now();
    let mut paths = std::mem::take(&mut *registered);
    if ENDING.load(Ordering::SeqCst) {
        // Whoever makes a temporary file from here on waits for the end.
        std::mem::forget(registered);
    }
    loop {
        paths.retain(|path| {
            let _ = match path.symlink_metadata() {
                Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path),
                _ => std::fs::remove_file(path),
            };
            path.symlink_metadata().is_ok()
        });
        // A compiler that is being killed may still have written a file.
        if paths.is_empty() || start.elapsed() > REMOVAL {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What is done where the process is ended at once.
type Action = Box<dyn Fn() + Send>;

/// Actions, by a number each.
static ACTIONS: Mutex<BTreeMap<u64, Action>> = Mutex::new(BTreeMap::new());

/// Something that is done where the process is ended at once. Dropping it forgets the action, and does nothing.
#[derive(Debug)]
pub struct AtEnd(u64);

/// Has something done where a signal ends the process: what others would find changed is put back. It must be quick, and not panic.
pub fn at_end(action: impl Fn() + Send + 'static) -> AtEnd {
    let mut actions = lock(&ACTIONS);
    let number = actions.last_key_value().map_or(0, |(last, _)| last + 1);
    actions.insert(number, Box::new(action));
    AtEnd(number)
}

impl Drop for AtEnd {
    fn drop(&mut self) {
        lock(&ACTIONS).remove(&self.0);
    }
}

/// Does what was asked to be done at the end.
fn do_at_end() {
    lock(&ACTIONS).values().for_each(|action| action());
}

/// A child process in a process group of its own, which is killed where this process is ended or the value dropped
/// before the child has ended.
#[derive(Debug)]
pub struct Group {
    child: Child,
    ended: Option<ExitStatus>,
}

impl Group {
    /// Starts the command.
    ///
    /// # Errors
    /// The system's reason.
    pub fn spawn(command: &mut Command) -> std::io::Result<Group> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut children = lock(&CHILDREN);
        let child = command.spawn()?;
        children.insert(child.id());
        Ok(Group { child, ended: None })
    }

    /// The process, for its pipes. It is not to be waited for but by this type.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Its status, where it has ended.
    ///
    /// # Errors
    /// The system's reason.
    pub fn try_wait(&mut self) -> std::io::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            // Under the lock: once it was waited for, its number may be another process's.
            let mut children = lock(&CHILDREN);
            self.ended = self.child.try_wait()?;
            if self.ended.is_some() {
                children.remove(&self.child.id());
            }
        }
        Ok(self.ended)
    }

    /// Whether the child is over. It is not waited for, so that no other group can have its number.
    #[cfg(unix)]
    pub fn has_exited(&self) -> bool {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let gone = || waitid(WaitId::Pid(Pid::from_child(&self.child)), options);
        self.ended.is_some() || matches!(gone(), Ok(Some(_)))
    }

    /// Kills what is left of the group and takes leave of the child; its status, unless it hangs in the kernel.
    pub fn end(&mut self) -> Option<ExitStatus> {
        self.kill();
        let start = std::time::Instant::now();
        while start.elapsed() < FAREWELL {
            match self.try_wait() {
                Ok(None) => std::thread::sleep(std::time::Duration::from_millis(1)),
                Ok(status) => return status,
                Err(_) => break,
            }
        }
        None
    }

    /// Kills the child and everything in its group.
    pub fn kill(&mut self) {
        let children = lock(&CHILDREN);
        if self.ended.is_none() {
            kill_group(self.child.id());
            let _ = self.child.kill();
        }
        drop(children);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.ended.is_none() && self.end().is_none() {
            lock(&CHILDREN).remove(&self.child.id());
        }
    }
}

/// Kills all children, and keeps others from being started where the process ends.
#[cfg(unix)]
fn kill_children() {
    let children = lock(&CHILDREN);
    children.iter().for_each(|&child| kill_group(child));
    std::mem::forget(children);
}

#[cfg(unix)]
fn kill_group(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(pid) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_leader: u32) {}
