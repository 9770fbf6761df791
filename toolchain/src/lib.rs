//! What compiling and running needs and no stencil: the system's compilers, child processes with a time limit, and
//! signals. It depends on no other part of Tilewright.

pub mod child;
pub mod compiler;
pub mod interrupt;
