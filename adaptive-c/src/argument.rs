//! What variants of a caller in C work on: a pointer that only the caller understands.

use std::ffi::c_void;

/// Something of the caller, for the caller's functions.
#[derive(Debug, Clone, Copy)]
pub struct User(pub *mut c_void);

// SAFETY: the header asks callers whose functions are called by several threads to see to it that what they share may be
// shared; this library never looks behind the pointer.
unsafe impl Send for User {}
// SAFETY: as above.
unsafe impl Sync for User {}

impl User {
    /// The pointer. (A closure that names the field would hold the bare pointer, which no thread may take along.)
    pub fn get(self) -> *mut c_void {
        self.0
    }
}

/// An argument of a call, and how it is given back, where it was made for the call.
pub struct Argument {
    at: User,
    free: Option<(Free, User)>,
    /// Whether it was to be made for this use.
    made: bool,
}

/// Gives an argument back.
pub type Free = extern "C" fn(*mut c_void, *mut c_void);

impl Argument {
    /// One of the caller, who keeps it.
    pub fn borrowed(at: *mut c_void) -> Argument {
        Argument { at: User(at), free: None, made: false }
    }

    /// One that was made for this use.
    pub fn made(at: *mut c_void, free: Option<Free>, user: User) -> Argument {
        Argument { at: User(at), free: free.map(|free| (free, user)), made: true }
    }

    /// The pointer.
    pub fn get(&self) -> *mut c_void {
        self.at.get()
    }

    /// Whether it could not be made: nobody is called with it.
    pub fn is_missing(&self) -> bool {
        self.made && self.at.get().is_null()
    }
}

impl Drop for Argument {
    fn drop(&mut self) {
        if let Some((free, user)) = self.free
            && !self.is_missing()
        {
            free(self.at.get(), user.get());
        }
    }
}
