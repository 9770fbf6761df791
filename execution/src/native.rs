//! Calling compiled stencils: shared objects loaded into this process.
//!
//! Every generated program exports one function of the type
//!
//! ```c
//! int SYMBOL(void **fields, const long long *sizes, long long steps, const double *parameters);
//! ```
//!
//! The symbol of a program `heat` is `heat_invoke`. `fields` are the arrays of [`crate::grid`] in the order of
//! the program's fields and then of its series, and `parameters` has one value for each parameter. `sizes` holds the grid's extents,
//! slowest dimension first, then the strides of all dimensions but the innermost and the distance of time
//! levels, in elements and the same for all fields:
//!
//! | dimension | `sizes` |
//! |---|---|
//! | 1 | `n0, level_stride` |
//! | 2 | `n0, n1, stride0, level_stride` |
//! | 3 | `n0, n1, n2, stride0, stride1, level_stride` |
//!
//! The function returns 0, or one of the codes of [`meaning`].
//!
//! This is the one module that loads and calls foreign code. What it calls is text that this workspace
//! generated for the same program, or that the caller vouches for: it must stay within the arrays.
#![allow(unsafe_code)]

use crate::error::{ExecutionError, Result};
use crate::grid::ProgramData;
use crate::interrupt::{self, Blocking};
use crate::reference::{Progress, check_arguments};
use libloading::Library;
use polyhedral::program::{FieldRole, Program};
use std::ffi::{c_char, c_double, c_int, c_longlong, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;

type EntryPoint =
    unsafe extern "C" fn(*mut *mut c_void, *const c_longlong, c_longlong, *const c_double) -> c_int;

/// What the codes that an entry point returns stand for.
pub fn meaning(code: i32) -> &'static str {
    match code {
        0 => "success",
        1 => "it could not get the memory that it needs",
        2 => "it was not made for this grid size or number of steps",
        3 => "the device reported an error",
        4 => "a check in the generated code failed (out of bounds, race or unwritten shared memory)",
        5 => "an array is missing, or not aligned to its elements",
        6 => "a stride is smaller than what lies within it",
        _ => "a code that this version does not know",
    }
}

/// A shared object in this process.
#[derive(Debug, Clone)]
pub struct NativeLibrary {
    path: PathBuf,
    library: Arc<Library>,
}

/// An entry point of a shared object, which stays loaded as long as this value lives.
#[derive(Debug, Clone)]
pub struct NativeProgram {
    library: NativeLibrary,
    symbol: String,
    entry: EntryPoint,
}

impl NativeLibrary {
    /// Loads a shared object.
    ///
    /// # Errors
    /// [`ExecutionError::Load`] with the loader's reason.
    pub fn load(path: &Path) -> Result<Self> {
        // A path without a folder would be searched for in the system's folders.
        let path = path.canonicalize().map_err(|error| load_error(path, error.to_string()))?;
        // SAFETY: loading runs the initialisers of the object and of its libraries. Generated code has none;
        // those of the compiler's run-time libraries may run on any thread.
        let library = unsafe { Library::new(&path) }.map_err(|error| load_error(&path, error.to_string()))?;
        let loaded = NativeLibrary { path, library: Arc::new(library) };
        loaded.keep_openmp();
        Ok(loaded)
    }

    /// The entry point of this name.
    ///
    /// # Errors
    /// [`ExecutionError::Load`] where there is none.
    pub fn program(&self, symbol: &str) -> Result<NativeProgram> {
        // SAFETY: by the contract above every generated function of this name has this type.
        let entry = unsafe { self.library.get::<EntryPoint>(symbol) }
            .map_err(|_| load_error(&self.path, format!("it has no function `{symbol}`")))?;
        Ok(NativeProgram { entry: *entry, symbol: symbol.to_owned(), library: self.clone() })
    }

    /// Sets the number of OpenMP threads for calls from this thread; `false` where the object has no OpenMP.
    pub fn set_threads(&self, threads: usize) -> bool {
        let threads = c_int::try_from(threads.max(1)).unwrap_or(c_int::MAX);
        // SAFETY: the OpenMP standard gives the function this type. The search includes the libraries that
        // the object needs.
        let set = unsafe { self.library.get::<unsafe extern "C" fn(c_int)>("omp_set_num_threads") };
        // SAFETY: the function takes any positive number.
        set.map(|set| unsafe { set(threads) }).is_ok()
    }

    /// The number of OpenMP threads for calls from this thread; `None` where the object has no OpenMP.
    pub fn threads(&self) -> Option<usize> {
        // SAFETY: as in `set_threads`.
        let get = unsafe { self.library.get::<unsafe extern "C" fn() -> c_int>("omp_get_max_threads") };
        // SAFETY: the function has no preconditions.
        get.ok().and_then(|get| usize::try_from(unsafe { get() }).ok())
    }

    /// The text that a function `const char *SYMBOL(void)` returns; `None` where there is no such function
    /// or it returns null.
    pub fn text(&self, symbol: &str) -> Option<String> {
        // SAFETY: the caller names a generated function of this type.
        let function = unsafe { self.library.get::<unsafe extern "C" fn() -> *const c_char>(symbol) }.ok()?;
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
        // SAFETY: only the address is used.
        let Ok(symbol) = (unsafe { self.library.get::<unsafe extern "C" fn(c_int)>("omp_set_num_threads") })
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
        let found = unsafe { libc::dladdr(*symbol as *const c_void, &mut info) };
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

impl NativeProgram {
    /// The library it belongs to.
    pub fn library(&self) -> &NativeLibrary {
        &self.library
    }

    /// Runs `steps` time steps from the initial levels in `data`, whose boundary must be prepared, and leaves
    /// the newest levels there. A signal ends the process while the function runs.
    ///
    /// # Errors
    /// [`ExecutionError::WrongParameters`], [`ExecutionError::WrongSteps`], [`ExecutionError::WrongData`],
    /// [`ExecutionError::Interrupted`], and [`ExecutionError::Native`] where the function returns a code
    /// other than 0; `data` then have no meaning.
    pub fn run(
        &self,
        program: &Program,
        parameters: &[f64],
        data: &mut ProgramData,
        steps: i64,
    ) -> Result<()> {
        check_arguments(program, parameters, steps)?;
        data.check(program)?;
        data.check_steps(program, steps)?;
        let blocking = Blocking::enter()?;
        let result = self.call(parameters, data, 0, steps);
        drop(blocking);
        result
    }

    /// [`NativeProgram::run`] with one call for about every `chunk_steps` steps. After each, `progress` gets
    /// the number of steps done, and the run stops where it breaks or where a signal has arrived; a second
    /// signal ends the process without waiting. The results are those of one call.
    ///
    /// A call expects the newest levels where the initial levels are. Level `n` lies in slot
    /// `(n + levels - 1) mod slots`, so that all calls but the last do a multiple of [`chunk_unit`] steps:
    /// `chunk_steps` is rounded up.
    ///
    /// # Errors
    /// As for [`NativeProgram::run`]. After [`ExecutionError::Interrupted`] the data hold the levels after
    /// the number of steps that `progress` got last, or the initial ones if it was not called.
    pub fn run_in_chunks(
        &self,
        program: &Program,
        parameters: &[f64],
        data: &mut ProgramData,
        steps: i64,
        chunk_steps: i64,
        progress: &mut Progress<'_>,
    ) -> Result<()> {
        check_arguments(program, parameters, steps)?;
        data.check(program)?;
        data.check_steps(program, steps)?;
        interrupt::check()?;
        let unit = chunk_unit(program);
        let chunk = ((chunk_steps.max(1) - 1) / unit + 1).saturating_mul(unit);
        let mut done = 0;
        loop {
            let now = chunk.min(steps - done);
            self.call(parameters, data, done, now)?;
            done += now;
            let stop = progress(done).is_break();
            if stop || interrupt::requested() {
                return Err(ExecutionError::Interrupted);
            }
            if done == steps {
                return Ok(());
            }
        }
    }

    /// Calls the function, after `done` steps, with arguments that were checked.
    fn call(&self, parameters: &[f64], data: &mut ProgramData, done: i64, steps: i64) -> Result<()> {
        let sizes: Vec<c_longlong> = data.layout().native_sizes();
        let mut fields = data.pointers(done as usize);
        // SAFETY: there is an array of the type and length that the program's field or series has for every pointer,
        // sizes and strides for every dimension, and a value for every parameter; `data` is borrowed mutably.
        let code = unsafe { (self.entry)(fields.as_mut_ptr(), sizes.as_ptr(), steps, parameters.as_ptr()) };
        match code {
            0 => Ok(()),
            code => Err(ExecutionError::Native { symbol: self.symbol.clone(), code, meaning: meaning(code) }),
        }
    }
}

/// The least number of steps, at least 1, after which every field's newest levels lie where its initial
/// levels were: the least common multiple of the fields' slots.
pub fn chunk_unit(program: &Program) -> i64 {
    let slots = program.fields.iter().map(|field| match field.role {
        FieldRole::State { slots, .. } => slots.max(1) as i64,
        FieldRole::Coefficient => 1,
    });
    slots.fold(1, |multiple, slots| {
        (multiple / greatest_common_divisor(multiple, slots)).saturating_mul(slots)
    })
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn load_error(path: &Path, reason: String) -> ExecutionError {
    ExecutionError::Load { path: path.to_owned(), reason }
}
