//! Stopping a call of the library from another thread, without signals.
//!
//! A token belongs to the calls inside [`Cancel::scope`], on the thread that entered it; work that they spread over
//! threads asks the token that [`Cancel::current`] took along. Long computations check it where they check for signals
//! ([`crate::interrupt::check`]), and return [`crate::interrupt::Interrupted`].

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static CURRENT: RefCell<Cancel> = RefCell::new(Cancel::new());
}

/// A wish to stop, shared by all clones.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A token that nobody has cancelled.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Asks all calls with this token to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether somebody asked to.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Runs `work` so that this token stops it, too.
    pub fn scope<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Restore(Option<Cancel>);
        impl Drop for Restore {
            fn drop(&mut self) {
                if let Some(before) = self.0.take() {
                    CURRENT.with(|current| current.replace(before));
                }
            }
        }
        let _restore = Restore(Some(CURRENT.with(|current| current.replace(self.clone()))));
        work()
    }

    /// The token of the innermost scope of this thread.
    pub fn current() -> Cancel {
        CURRENT.with(|current| current.borrow().clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt;

    #[test]
    fn a_token_stops_its_scope_alone() {
        let token = Cancel::new();
        token.cancel();
        assert!(interrupt::check().is_ok());
        token.scope(|| {
            assert!(interrupt::check().is_err());
            Cancel::new().scope(|| assert!(interrupt::check().is_ok()));
            assert!(interrupt::check().is_err());
            let other = std::thread::spawn(|| interrupt::check().is_ok());
            assert!(other.join().unwrap());
        });
        assert!(interrupt::check().is_ok());
    }

    #[test]
    fn a_scope_ends_with_a_panic() {
        let token = Cancel::new();
        token.cancel();
        let result = std::panic::catch_unwind(|| token.scope(|| panic!("within")));
        assert!(result.is_err());
        assert!(interrupt::check().is_ok());
    }
}
