//! Where trials are kept: a [store](crate::store) in a file, or a [server](Redis) that a team shares.

mod address;
mod keeps;
mod opened;
mod redis;
mod resp;

pub use crate::place::on_server;
pub use address::Address;
pub use keeps::Repository;
pub use opened::open;
pub use redis::Redis;
