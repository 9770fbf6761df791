//! What keeps trials.

use crate::error::Result;
use crate::store::Store;
use crate::trial::Trial;
use safe_io::Damage;

/// Keeps trials.
pub trait Repository: Send {
    /// Where it is, for messages: without a password.
    fn place(&self) -> String;

    /// The trials in it: those that were there when it was opened, and those that were added since.
    fn trials(&self) -> &[Trial];

    /// What was damaged when it was opened, and is left out.
    fn damage(&self) -> &[Damage];

    /// Adds a trial. One of its configuration and setting that is there is not the last word any more.
    ///
    /// # Errors
    /// Where it cannot be kept.
    fn append(&mut self, trial: &Trial) -> Result<()>;

    /// Adds a trial, unless somebody else has added one of its configuration and setting meanwhile.
    ///
    /// # Errors
    /// Where it cannot be kept.
    fn append_once(&mut self, trial: &Trial) -> Result<()>;
}

impl Repository for Store {
    fn place(&self) -> String {
        self.path().display().to_string()
    }

    fn trials(&self) -> &[Trial] {
        Store::trials(self)
    }

    fn damage(&self) -> &[Damage] {
        Store::damage(self)
    }

    fn append(&mut self, trial: &Trial) -> Result<()> {
        Store::append(self, trial)
    }

    fn append_once(&mut self, trial: &Trial) -> Result<()> {
        Store::append_once(self, trial)
    }
}
