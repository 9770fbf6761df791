//! Long calls, which other threads of Python do not wait for, and which Ctrl-C ends.

use crate::interpreter::{attached, detached};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tilewright::Cancel;

/// How often a long call looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);
/// How long work that was asked to stop is waited for: not every proof and not every compiled loop looks.
const PATIENCE: Duration = Duration::from_secs(1);

/// Does `work` on a thread of its own; where Ctrl-C was seen, that is the result. Work that does not stop is left to itself: it
/// ends later, and what it finds is dropped.
pub fn watched<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let token = Cancel::new();
    let (sender, receiver) = channel();
    let scope = token.clone();
    // The receiver may be gone.
    let work = move || drop(sender.send(scope.scope(work)));
    std::thread::Builder::new().spawn(work)?;
    let awaited = detached(py, || awaited(receiver, &token, Some(PATIENCE)));
    awaited.result()
}

/// The same for work on what is lent to it, which is waited for.
pub fn watched_to_the_end<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let token = Cancel::new();
    let (sender, receiver) = channel();
    let scope = token.clone();
    let awaited = detached(py, || {
        std::thread::scope(|threads| {
            let worker = threads.spawn(move || drop(sender.send(scope.scope(work))));
            let awaited = awaited(receiver, &token, None);
            // A panic has been told.
            let _ = worker.join();
            awaited
        })
    });
    awaited.result()
}

/// What came of work, and what interrupted it.
struct Awaited<T> {
    done: Option<T>,
    stopped: Option<PyErr>,
}

fn awaited<T>(receiver: Receiver<T>, token: &Cancel, patience: Option<Duration>) -> Awaited<T> {
    let mut stopped = None;
    let mut since = None;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(done) => return Awaited { done: Some(done), stopped },
            Err(RecvTimeoutError::Disconnected) => return Awaited { done: None, stopped },
            Err(RecvTimeoutError::Timeout) => {
                if let Some(signal) = attached(|py| py.check_signals()).err() {
                    token.cancel();
                    stopped = Some(signal);
                    since.get_or_insert_with(Instant::now);
                }
                let waited = since.map(|since: Instant| since.elapsed());
                if waited.zip(patience).is_some_and(|(waited, patience)| waited > patience) {
                    return Awaited { done: None, stopped };
                }
            }
        }
    }
}

impl<T> Awaited<T> {
    fn result(self) -> PyResult<T> {
        match (self.done, self.stopped) {
            (_, Some(signal)) => Err(signal),
            (Some(done), None) => Ok(done),
            (None, None) => {
                Err(PyRuntimeError::new_err("Tilewright has failed; this is a mistake of Tilewright"))
            }
        }
    }
}
