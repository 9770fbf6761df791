//! Code of C for sequences and functions: what all back ends have in common. An [`emitter::Emitter`] knows what is declared, and for
//! a GPU ([`device`]) what the host does and what kernels do.

mod ahead;
pub mod device;
pub mod distribute;
pub mod emitter;
pub mod env;
pub mod fold;
mod folded;
pub mod generated;
pub mod gpu;
pub mod indices;
pub mod kept;
pub mod matrices;
mod operators;
mod products;
mod row_blocks;
mod scan;
pub mod slots;
pub mod stage;
pub mod terms;
mod unused;
pub mod value;
pub mod view;
pub mod wide;
pub mod work;
