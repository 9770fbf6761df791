//! Stopping on a signal: [`toolchain::interrupt`] with this crate's errors.

use crate::error::{ExecutionError, Result};
pub use toolchain::interrupt::{
    Blocking, GRACE, Interrupted, Temporary, exit_code, install, register, registered, remove_temporary,
    request, requested,
};

/// Fails where the user asked to stop.
///
/// # Errors
/// [`ExecutionError::Interrupted`].
pub fn check() -> Result<()> {
    Ok(toolchain::interrupt::check()?)
}

impl From<Interrupted> for ExecutionError {
    fn from(_: Interrupted) -> ExecutionError {
        ExecutionError::Interrupted
    }
}
