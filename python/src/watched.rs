//! Long calls, which other threads of Python do not wait for, and which Ctrl-C ends.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tilewright::Cancel;

/// How often a long call looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// Does `work` on a thread of its own; where Ctrl-C was seen, that is the result.
pub fn watched<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let token = Cancel::new();
    let (done, stopped) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let token = &token;
            let worker = scope.spawn(move || {
                // The receiver stays until this is done.
                let _ = sender.send(token.scope(work));
            });
            let mut stopped = None;
            loop {
                match receiver.recv_timeout(LOOK) {
                    Ok(done) => break (Some(done), stopped),
                    Err(RecvTimeoutError::Disconnected) => {
                        // A panic, which has been told.
                        let _ = worker.join();
                        break (None, stopped);
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        if let Some(signal) = Python::attach(|py| py.check_signals()).err() {
                            token.cancel();
                            stopped = Some(signal);
                        }
                    }
                }
            }
        })
    });
    match (done, stopped) {
        (_, Some(signal)) => Err(signal),
        (Some(done), None) => Ok(done),
        (None, None) => {
            Err(PyRuntimeError::new_err("Tilewright has failed; this is a mistake of Tilewright"))
        }
    }
}
