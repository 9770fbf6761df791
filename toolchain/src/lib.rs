//! What compiling and running needs and no stencil: the system's compilers, child processes with a time limit,
//! signals, and tokens that stop a call. It depends on no other part of Tilewright.

pub mod cancel;
pub mod child;
pub mod compiler;
pub mod interrupt;
