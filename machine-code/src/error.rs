//! What is wrong with a listing, or cannot be counted.

/// Why a listing cannot be read or run. Every place is the line of the listing, from 1 on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An instruction that nobody has told us the meaning of.
    #[error("line {line}: the opcode `{opcode}` is not known; its effect on what follows cannot be counted")]
    UnknownOpcode {
        /// Its line.
        line: usize,
        /// As it is written, with its modifiers.
        opcode: String,
    },
    /// An instruction whose operands are not those of its opcode.
    #[error("line {line}: `{text}` is not understood: {reason}")]
    Operand {
        /// Its line.
        line: usize,
        /// The instruction.
        text: String,
        /// What is wrong.
        reason: String,
    },
    /// A listing without what is asked for.
    #[error("{0}")]
    Listing(String),
    /// An instruction that cannot be executed in this state.
    #[error("line {line}: `{text}` cannot be followed: {reason}")]
    Run {
        /// Its line.
        line: usize,
        /// The instruction.
        text: String,
        /// What is wrong.
        reason: String,
    },
}

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
