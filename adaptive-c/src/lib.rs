//! Code variants chosen at run time, for programs in C and C++: [`adaptive`] behind the functions of
//! `include/tilewright_adaptive.h`, which says what each of them does.
//!
//! A context, a function with its variants, and a tuning are handles that the caller frees. No function of this library
//! panics, prints or ends the process: what goes wrong is a negative number, and [`errors::twa_error`] says it in words.
//! `scripts/install-adaptive-c.sh` installs libraries, headers and the CMake package.
//!
//! ```
//! use std::ffi::{c_int, c_void};
//! use std::ptr::null_mut;
//! use tilewright_adaptive::{context, function};
//!
//! extern "C" fn double(argument: *mut c_void, _: *mut c_void) -> c_int {
//!     // SAFETY: the call below hands over a number.
//!     unsafe { *argument.cast::<i32>() *= 2 };
//!     0
//! }
//!
//! let mut number = 21;
//! // SAFETY: handles are used until they are freed, texts end with a byte 0.
//! unsafe {
//!     let context = context::twa_context_new(c"models".as_ptr());
//!     let twice = function::twa_function_new(context, c"twice".as_ptr());
//!     assert_eq!(function::twa_function_variant(twice, c"double".as_ptr(), double, null_mut()), 0);
//!     assert_eq!(function::twa_function_build(twice), 0);
//!     assert_eq!(function::twa_function_call(twice, (&raw mut number).cast()), 0);
//!     function::twa_function_free(twice);
//!     context::twa_context_free(context);
//! }
//! assert_eq!(number, 42);
//! ```

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
