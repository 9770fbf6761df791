//! The NVRTC library, opened at run time: the dozen functions that we call, behind safe ones.
//!
//! cudarc's binding to NVRTC takes the first library that the system's loader finds. We need a library at a
//! given path, and two of them at once: no version of NVRTC compiles for all the devices that we support.
#![allow(unsafe_code)]

use crate::error::{Error, Result};
use crate::library::Library;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};

type Program = *mut c_void;
type CreateProgram = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type CompileProgram = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type GetSize = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type GetBytes = unsafe extern "C" fn(Program, *mut c_char) -> c_int;

/// An open library. It stays in the process: NVRTC keeps state that must not be unloaded.
#[derive(Debug, Clone)]
pub(super) struct NvrtcLibrary {
    pub path: PathBuf,
    /// Major and minor version.
    pub version: (i32, i32),
    /// Compute capabilities that it compiles for, as in 80, ascending.
    pub architectures: Vec<u32>,
    library: Library,
}

/// What a compilation gave.
pub(super) struct Compilation {
    /// 0, or the library's error code.
    pub code: i32,
    /// Messages of the compiler and of the assembler.
    pub log: String,
    /// Empty where the compilation failed.
    pub cubin: Vec<u8>,
    /// Empty where the compilation failed.
    pub ptx: String,
}

impl NvrtcLibrary {
    /// Opens the library at this path, or of this name in the system's folders.
    pub fn open(path: &Path) -> Result<NvrtcLibrary> {
        open_builtins(path);
        let library = Library::open(path).map_err(|error| match error {
            Error::Load { reason, .. } => failure(path, &reason),
            error => error,
        })?;
        library.keep();
        let mut opened =
            NvrtcLibrary { path: path.to_owned(), version: (0, 0), architectures: Vec::new(), library };
        let mut count = 0;
        // SAFETY: `nvrtc.h` gives the functions these types; the pointers are to writable integers, and the
        // last function gets room for as many as the one before it has counted.
        unsafe {
            let version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int =
                opened.function("nvrtcVersion")?;
            version(&mut opened.version.0, &mut opened.version.1);
            let get_count: unsafe extern "C" fn(*mut c_int) -> c_int =
                opened.function("nvrtcGetNumSupportedArchs")?;
            let get: unsafe extern "C" fn(*mut c_int) -> c_int = opened.function("nvrtcGetSupportedArchs")?;
            if get_count(&mut count) != 0 {
                count = 0;
            }
            let mut architectures: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
            if !architectures.is_empty() {
                get(architectures.as_mut_ptr());
            }
            opened.architectures = architectures.into_iter().map(c_int::unsigned_abs).collect();
        }
        if opened.version.0 == 0 || opened.architectures.is_empty() {
            return Err(failure(path, "it does not say what it can compile for"));
        }
        Ok(opened)
    }

    /// Compiles one text; options are NVRTC's.
    pub fn compile(&self, source: &str, name: &str, options: &[String]) -> Result<Compilation> {
        let c_text = |text: &str| {
            CString::new(text).map_err(|_| self.failure("it takes no text that holds a zero byte"))
        };
        let (source, name) = (c_text(source)?, c_text(name)?);
        let options: Vec<CString> = options.iter().map(|option| c_text(option)).collect::<Result<_>>()?;
        let option_pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the types are those of `nvrtc.h`; all texts are zero-terminated and live until the program
        // is destroyed, which happens once, at the end.
        unsafe {
            let create: CreateProgram = self.function("nvrtcCreateProgram")?;
            let compile: CompileProgram = self.function("nvrtcCompileProgram")?;
            let destroy: unsafe extern "C" fn(*mut Program) -> c_int =
                self.function("nvrtcDestroyProgram")?;
            let mut program: Program = std::ptr::null_mut();
            let none = std::ptr::null();
            let code = create(&mut program, source.as_ptr(), name.as_ptr(), 0, none, none);
            if code != 0 {
                return Err(self.failure(&format!("nvrtcCreateProgram returned {code}")));
            }
            let code = compile(program, option_pointers.len() as c_int, option_pointers.as_ptr());
            let log = self.bytes(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog");
            let (cubin, ptx) = if code == 0 {
                (
                    self.bytes(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN"),
                    self.bytes(program, "nvrtcGetPTXSize", "nvrtcGetPTX"),
                )
            } else {
                (Ok(Vec::new()), Ok(Vec::new()))
            };
            destroy(&mut program);
            Ok(Compilation { code, log: text(log?), cubin: cubin?, ptx: text(ptx?) })
        }
    }

    /// # Safety
    /// `program` is alive, and the two functions are of the kind `nvrtcGet*Size` and `nvrtcGet*`.
    unsafe fn bytes(&self, program: Program, size_name: &str, bytes_name: &str) -> Result<Vec<u8>> {
        // SAFETY: as above; the second function writes as many bytes as the first one says.
        unsafe {
            let get_size: GetSize = self.function(size_name)?;
            let get_bytes: GetBytes = self.function(bytes_name)?;
            let mut size = 0;
            let code = get_size(program, &mut size);
            let mut bytes = vec![0u8; size];
            let code =
                if code == 0 && size > 0 { get_bytes(program, bytes.as_mut_ptr().cast()) } else { code };
            if code == 0 { Ok(bytes) } else { Err(self.failure(&format!("{bytes_name} returned {code}"))) }
        }
    }

    /// # Safety
    /// The function of this name has type `T`.
    unsafe fn function<T: Copy>(&self, name: &str) -> Result<T> {
        // SAFETY: the caller vouches for the type; the library is never unloaded.
        unsafe { self.library.function::<T>(name) }
            .map_err(|_| self.failure(&format!("it has no function `{name}`")))
    }

    fn failure(&self, reason: &str) -> Error {
        failure(&self.path, reason)
    }
}

/// Opens the part of NVRTC that it will look for by name only: found by then, whatever folder it is in.
fn open_builtins(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_name().to_string_lossy().starts_with("libnvrtc-builtins.so")
            && let Ok(builtins) = Library::open(&entry.path())
        {
            builtins.keep();
        }
    }
}

fn failure(path: &Path, reason: &str) -> Error {
    Error::Load { path: path.to_owned(), reason: format!("NVRTC: {reason}") }
}

/// Text up to the terminating zero.
fn text(bytes: Vec<u8>) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
