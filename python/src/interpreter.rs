//! When threads may take Python's lock: a thread that asks for it while Python ends is ended by Python, in the midst of Rust,
//! which aborts the process. Daemon threads may be within long calls then.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

/// The thread that ends Python, once it does.
static ENDS_ON: Mutex<Option<ThreadId>> = Mutex::new(None);
/// How many threads are at work without Python's lock.
static AT_WORK: AtomicUsize = AtomicUsize::new(0);
/// Those who were about to take the lock when that began take it meanwhile.
const LAST_ONES: Duration = Duration::from_millis(20);

/// Tells that Python ends, on the calling thread; the package calls it by `atexit`, when threads that Python waits for are done.
#[pyfunction]
pub fn ending(py: Python<'_>) {
    *ENDS_ON.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::thread::current().id());
    if AT_WORK.load(Ordering::SeqCst) > 0 {
        py.detach(|| std::thread::sleep(LAST_ONES));
    }
}

/// Waits for the end of the process, where Python ends on another thread.
fn stay_if_it_ends() {
    let ends_on = *ENDS_ON.lock().unwrap_or_else(PoisonError::into_inner);
    if ends_on.is_some_and(|thread| thread != std::thread::current().id()) {
        loop {
            std::thread::park();
        }
    }
}

/// Does `work` without Python's lock.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    AT_WORK.fetch_add(1, Ordering::SeqCst);
    let done = py.detach(|| {
        let done = work();
        stay_if_it_ends();
        done
    });
    AT_WORK.fetch_sub(1, Ordering::SeqCst);
    done
}

/// Does `work` with Python's lock, for a thread that has let go of it.
pub fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    stay_if_it_ends();
    Python::attach(work)
}
