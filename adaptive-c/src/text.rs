//! Texts of callers.

use crate::errors::{Failure, Result};
use std::ffi::{CStr, c_char};

/// A text of the caller.
///
/// # Safety
/// `text` is NULL or ends with a byte 0, and stands as long as what is returned.
///
/// # Errors
/// NULL, or a text that is no UTF-8.
pub unsafe fn text<'a>(what: &str, text: *const c_char) -> Result<&'a str> {
    if text.is_null() {
        return Err(Failure::request(format!("{what} is NULL")));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::request(format!("{what} is no UTF-8")))
}

/// What a handle stands for.
///
/// # Safety
/// `handle` is NULL or what a function of this library returned and did not free yet.
///
/// # Errors
/// NULL.
pub unsafe fn handle<'a, T>(what: &str, handle: *const T) -> Result<&'a T> {
    // SAFETY: the caller's promise; handles are only lent as shared references.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::request(format!("the {what} is NULL")))
}

/// Frees a handle; NULL is none.
///
/// # Safety
/// `handle` is NULL or what `Box::into_raw` gave, and nobody uses it any more.
pub unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(handle) });
    }
}
