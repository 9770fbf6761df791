//! Shared objects in this process.
//!
//! What is loaded runs: its initialisers now, its functions when they are called. Callers load what this workspace
//! generated and compiled, or libraries of the system, and vouch for the types of the functions that they ask for.
#![allow(unsafe_code)]

use crate::error::{Error, Result};
use std::ffi::{c_char, c_int};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A shared object, which stays in the process as long as a clone of this value lives.
#[derive(Debug, Clone)]
pub struct Library {
    path: PathBuf,
    library: Arc<libloading::Library>,
}

impl Library {
    /// Loads a compiled shared object.
    ///
    /// # Errors
    /// [`Error::Load`] with the loader's reason.
    pub fn load(path: &Path) -> Result<Library> {
        // A path without a folder would be searched for in the system's folders.
        let path = path.canonicalize().map_err(|error| failed(path, error.to_string()))?;
        let loaded = Library::open(&path)?;
        loaded.keep_openmp();
        Ok(loaded)
    }

    /// Loads the library at this path, or of this name in the folders that the system's loader searches.
    ///
    /// # Errors
    /// [`Error::Load`] with the loader's reason.
    pub fn open(path: &Path) -> Result<Library> {
        // SAFETY: loading runs the initialisers of the object and of its libraries. Generated code has none; those of
        // the compiler's run-time libraries, of the C library and of NVIDIA's libraries may run on any thread.
        let library =
            unsafe { libloading::Library::new(path) }.map_err(|error| failed(path, error.to_string()))?;
        Ok(Library { path: path.to_owned(), library: Arc::new(library) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The function of this name. It must not be called once the library is gone.
    ///
    /// # Safety
    /// `F` is the type of a pointer to it.
    ///
    /// # Errors
    /// [`Error::Load`] where there is none.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> Result<F> {
        // SAFETY: the caller vouches for the type.
        unsafe { self.library.get::<F>(name) }
            .map(|found| *found)
            .map_err(|_| failed(&self.path, format!("it has no function `{name}`")))
    }

    /// Keeps the library in the process for ever.
    pub fn keep(&self) {
        std::mem::forget(Arc::clone(&self.library));
    }

    /// Sets the number of OpenMP threads for calls from this thread; `false` where the object has no OpenMP.
    pub fn set_threads(&self, threads: usize) -> bool {
        let threads = c_int::try_from(threads.max(1)).unwrap_or(c_int::MAX);
        // SAFETY: the OpenMP standard gives the function this type. The search includes the libraries that
        // the object needs.
        let set = unsafe { self.function::<unsafe extern "C" fn(c_int)>("omp_set_num_threads") };
        // SAFETY: the function takes any positive number.
        set.map(|set| unsafe { set(threads) }).is_ok()
    }

    /// The number of OpenMP threads for calls from this thread; `None` where the object has no OpenMP.
    pub fn threads(&self) -> Option<usize> {
        // SAFETY: as in `set_threads`.
        let get = unsafe { self.function::<unsafe extern "C" fn() -> c_int>("omp_get_max_threads") };
        // SAFETY: the function has no preconditions.
        get.ok().and_then(|get| usize::try_from(unsafe { get() }).ok())
    }

    /// The text that a function `const char *NAME(void)` returns; `None` where there is no such function
    /// or it returns null.
    pub fn text(&self, name: &str) -> Option<String> {
        // SAFETY: the caller names a generated function of this type.
        let function = unsafe { self.function::<unsafe extern "C" fn() -> *const c_char>(name) }.ok()?;
        // SAFETY: it has no preconditions.
        let text = unsafe { function() };
        if text.is_null() {
            return None;
        }
        // SAFETY: generated functions return zero-terminated text that lives as long as the library.
        Some(unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    /// Keeps the OpenMP run-time library in the process after this object is unloaded: its threads outlive
    /// the parallel region, and their code must not vanish under them.
    #[cfg(unix)]
    fn keep_openmp(&self) {
        use libloading::os::unix::{Library as UnixLibrary, RTLD_LAZY, RTLD_LOCAL};
        use std::ffi::c_void;
        // SAFETY: only the address is used.
        let Ok(function) = (unsafe { self.function::<unsafe extern "C" fn(c_int)>("omp_set_num_threads") })
        else {
            return;
        };
        let mut info = libc::Dl_info {
            dli_fname: std::ptr::null(),
            dli_fbase: std::ptr::null_mut(),
            dli_sname: std::ptr::null(),
            dli_saddr: std::ptr::null_mut(),
        };
        // SAFETY: `dladdr` accepts any address and fills the structure where it returns non-zero.
        let found = unsafe { libc::dladdr(function as *const c_void, &mut info) };
        if found == 0 || info.dli_fname.is_null() {
            return;
        }
        // SAFETY: the name that `dladdr` gives is zero-terminated and lives as long as the library.
        let name = unsafe { std::ffi::CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned();
        // SAFETY: the library is loaded already; this only marks it as not to be unloaded.
        drop(unsafe { UnixLibrary::open(Some(name), RTLD_LAZY | RTLD_LOCAL | libc::RTLD_NODELETE) });
    }

    #[cfg(not(unix))]
    fn keep_openmp(&self) {}
}

fn failed(path: &Path, reason: String) -> Error {
    Error::Load { path: path.to_owned(), reason }
}
