//! Stopping on Ctrl-C or a termination signal, without leaving temporary files behind.
//!
//! The first signal sets a flag that long computations check between steps; they return
//! [`ExecutionError::Interrupted`] and the program ends in order. Where nothing can check the flag, in a
//! [`Blocking`] section, or at the second signal, the registered temporary files are removed and the process
//! ends at once with exit code 130.

use crate::error::{ExecutionError, Result};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static BLOCKING: AtomicUsize = AtomicUsize::new(0);
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Exit code of a process that was interrupted: 128 + SIGINT, as shells have it.
pub const EXIT_CODE: i32 = 130;

/// Starts to listen to SIGINT and SIGTERM; further calls do nothing. Commands call it first thing. Where the
/// system refuses, signals keep their usual effect.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        #[cfg(unix)]
        if let Ok(mut signals) =
            signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM])
        {
            let listen = move || signals.forever().for_each(|_| on_signal());
            // Without the thread a signal would have no effect at all; not to start one is unheard of.
            let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(listen);
        }
    });
}

#[cfg(unix)]
fn on_signal() {
    // Children are in groups of their own, which the terminal does not signal.
    safe_io::child::end_all();
    let again = REQUESTED.swap(true, Ordering::SeqCst);
    if again || BLOCKING.load(Ordering::SeqCst) > 0 {
        remove_temporary();
        std::process::exit(EXIT_CODE);
    }
}

/// Whether the user asked to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// Sets the flag as a signal would.
pub fn request() {
    REQUESTED.store(true, Ordering::SeqCst);
}

/// Fails where the user asked to stop.
///
/// # Errors
/// [`ExecutionError::Interrupted`].
pub fn check() -> Result<()> {
    if requested() { Err(ExecutionError::Interrupted) } else { Ok(()) }
}

/// While it lives, a signal ends the process at once: for calls that cannot check the flag.
#[derive(Debug)]
pub struct Blocking(());

impl Blocking {
    /// Enters the section.
    ///
    /// # Errors
    /// [`ExecutionError::Interrupted`] where the user has asked to stop already.
    pub fn enter() -> Result<Blocking> {
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

/// A file or folder that is removed where the process is interrupted. Dropping it forgets the path and
/// removes nothing.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
}

/// Registers a temporary file or folder for removal on interruption.
pub fn register(path: &Path) -> Temporary {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
    Temporary { path: path.to_owned() }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.path);
    }
}

/// Removes all registered files and folders, as far as possible. Paths that are gone are no failure.
pub fn remove_temporary() {
    let paths = std::mem::take(&mut *TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner));
    for path in paths {
        let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
    }
}
