//! What generated code may compute in place of a program's own operations.

/// Liberties of generated code. [`crate::arithmetic`] says where they are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Arithmetic {
    /// `a * b + c` is rounded once.
    pub contract: bool,
    /// Quotients and square roots in single precision are approximations of a GPU; those in double precision are not.
    pub approximate: bool,
}

impl Arithmetic {
    /// Whether code computes what the program says.
    pub fn is_exact(self) -> bool {
        self == Arithmetic::default()
    }
}
