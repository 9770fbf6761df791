//! Errors as numbers, and in words.

use adaptive::AdaptiveError;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An error that a caller in C gets.
#[derive(Debug)]
pub struct Failure {
    code: c_int,
    text: String,
}

/// Arguments that make no sense.
pub const REQUEST: c_int = -1;
/// A file that cannot be read or written, or is not what it should be.
pub const FILE: c_int = -2;
/// A request that these data cannot serve.
pub const INFEASIBLE: c_int = -3;
/// A mistake of this library.
pub const INTERNAL: c_int = -4;
/// A variant returned a negative number.
pub const VARIANT: c_int = -5;

/// What a variant returns for an input that it cannot do; as commands do.
pub const CANNOT: c_int = 65;
/// What a variant returns for a result that is wrong or did not converge.
pub const WRONG: c_int = 67;

/// Result of what a caller asks for.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// An error with its number.
    pub fn new(code: c_int, text: impl Into<String>) -> Failure {
        Failure { code, text: text.into() }
    }

    /// A request that makes no sense.
    pub fn request(text: impl Into<String>) -> Failure {
        Failure::new(REQUEST, text)
    }
}

impl From<AdaptiveError> for Failure {
    fn from(error: AdaptiveError) -> Failure {
        let code = match &error {
            AdaptiveError::Request { .. } | AdaptiveError::Tuner(_) => REQUEST,
            AdaptiveError::File { .. } | AdaptiveError::Malformed { .. } | AdaptiveError::Trials(_) => FILE,
            AdaptiveError::Infeasible { .. } | AdaptiveError::Interrupted => INFEASIBLE,
        };
        let hint = error.hint();
        let text = if hint.is_empty() { error.to_string() } else { format!("{error}; {hint}") };
        Failure { code, text }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// A string that C can read: what stands behind a byte 0 is left out.
pub fn c_text(text: &str) -> CString {
    let plain: Vec<u8> = text.bytes().take_while(|&byte| byte != 0).collect();
    CString::new(plain).unwrap_or_default()
}

/// Runs what a caller asked for. An error becomes `failed` of its number, and its words are kept for this thread.
pub fn guarded<T>(failed: impl FnOnce(c_int) -> T, run: impl FnOnce() -> Result<T>) -> T {
    let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        Err(Failure::new(INTERNAL, "tilewright_adaptive made a mistake: please report it"))
    });
    result.unwrap_or_else(|failure| {
        LAST.with_borrow_mut(|last| *last = c_text(&failure.text));
        failed(failure.code)
    })
}

/// Runs what returns 0 or an error's number.
pub fn code(run: impl FnOnce() -> Result<()>) -> c_int {
    guarded(|code| code, || run().map(|()| 0))
}

/// What the last error of this thread was; empty before the first one. It stands until the next error.
#[unsafe(no_mangle)]
pub extern "C" fn twa_error() -> *const c_char {
    LAST.with_borrow(|last| CStr::as_ptr(last))
}
