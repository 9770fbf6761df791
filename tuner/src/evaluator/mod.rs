//! Evaluators: what measures a configuration. Searchers see nothing else of the world.

mod command;
mod command_line;
mod predicted;
mod replay;
mod shell;

pub use command::External;
pub use command_line::CommandLine;
pub use predicted::{Predict, Predicted};
pub use replay::Replay;

use crate::error::Result;
use crate::space::Point;
use trials::{Outcome, Setting};

/// Measures configurations.
pub trait Evaluator: Sync {
    /// Measures a valid point. What goes wrong with the configuration (it does not compile, it fails, it is wrong, it
    /// takes too long) is an outcome with that status.
    ///
    /// # Errors
    /// What goes wrong with the measuring itself, so that going on makes no sense: a disk that is full, a command that
    /// is missing.
    fn evaluate(&self, point: &Point) -> Result<Outcome>;

    /// Number of configurations that may be measured at the same time without disturbing each other.
    fn parallel(&self) -> usize {
        1
    }

    /// What this is, in a few words.
    fn description(&self) -> String;

    /// What runs and what measures it, as far as the evaluator knows.
    fn setting(&self) -> Setting {
        Setting { job: self.description(), ..Setting::default() }
    }
}
