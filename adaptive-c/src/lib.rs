//! Code variants chosen at run time, for programs in C and C++: [`adaptive`] behind the functions of
//! `include/tilewright_adaptive.h`, which says what each of them does.
//!
//! A context, a function with its variants, and a tuning are handles that the caller frees. No function of this library
//! panics, prints or ends the process: what goes wrong is a negative number, and [`errors::twa_error`] says it in words.
//! `scripts/install-adaptive-c.sh` installs libraries, headers and the CMake package.

// Callers in C hand over pointers and functions.
#![allow(unsafe_code)]

pub mod argument;
pub mod context;
pub mod errors;
pub mod function;
pub mod text;
pub mod tuning;

use std::ffi::{CStr, c_char};

/// The version, as `TWA_VERSION` of the header has it.
#[unsafe(no_mangle)]
pub extern "C" fn twa_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(text) => text,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}
