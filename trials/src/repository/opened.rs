//! A place, opened: a file or a server.

use super::address::Address;
use super::keeps::Repository;
use super::redis::Redis;
use crate::error::Result;
use crate::place::on_server;
use crate::setting::Setting;
use crate::store::Store;
use std::path::Path;

/// Opens what a place names: a server where it is `redis://..`, else a file. Of a server those trials are read whose program and
/// machine are those of the setting.
///
/// # Errors
/// A place that cannot be read or written.
pub fn open(place: &Path, setting: &Setting) -> Result<Box<dyn Repository>> {
    match on_server(place) {
        Some(text) => Ok(Box::new(Redis::open(Address::parse(text)?, setting)?)),
        None => Ok(Box::new(Store::open(place)?)),
    }
}
