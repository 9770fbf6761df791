//! `tilewright adaptive`: functions with several variants, and models that choose between them.

pub mod arguments;
mod clocks;
mod emitted;
mod evaluated;
mod machine;
mod page;
mod predict;
mod profile;
mod shown;
mod source;
mod train;
mod transfer;

use crate::error::Result;
use crate::printed::Printed;
use crate::progress::Session;
use arguments::{Action, AdaptiveArguments};

/// Does what is asked for.
///
/// # Errors
/// Those of the action.
pub fn adaptive(arguments: &AdaptiveArguments, session: &Session) -> Result<Printed> {
    match &arguments.action {
        Action::Train(arguments) => Printed::of(&train::train(arguments, session)?, session),
        Action::Transfer(arguments) => Printed::of(&transfer::transfer(arguments, session)?, session),
        Action::Clocks(arguments) => Printed::of(&clocks::clocks(arguments, session)?, session),
        Action::Machine(arguments) => Printed::of(&machine::machine(arguments, session)?, session),
        Action::Profile(arguments) => Printed::of(&profile::profile(arguments, session)?, session),
        Action::Predict(arguments) => Printed::of(&predict::predict(arguments, session)?, session),
        Action::Report(arguments) => Printed::of(&evaluated::evaluated(arguments, session)?, session),
        Action::Emit(arguments) => Printed::of(&emitted::emitted(arguments, session)?, session),
    }
}
