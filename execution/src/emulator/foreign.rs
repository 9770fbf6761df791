//! Calls into the compiled emulator: the types of `templates/emulator/tw_checks.h`, and four functions.
//!
//! What is called is generated text behind the emulator's pointers, which check every access before they
//! make it, so that kernels do not leave the arrays whatever they compute.
#![allow(unsafe_code)]

use crate::device_program::DeviceKernel;
use crate::error::{ExecutionError, Result};
use crate::grid::ProgramData;
use crate::launches::PlannedLaunch;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::path::Path;
use std::ptr::NonNull;
use toolchain::library::Library;

/// The element has a value.
pub(super) const INITIALISED: u8 = 1;
/// The element belongs to no point of the grid.
pub(super) const PADDING: u8 = 2;
/// The element never changes: a boundary point, a coefficient, an element of a series.
pub(super) const FIXED: u8 = 4;

/// `Field`
#[repr(C)]
struct Field {
    values: *mut c_void,
    flags: *const u8,
    count: i64,
}

/// `Launch`
#[repr(C)]
struct Launch {
    kernel: i32,
    /// 0 ascending, 1 descending, 2 shuffled.
    order: i32,
    /// 0 the first warp ahead, 1 the last one, 2 all in turn, 3 at random.
    pacing: i32,
    seed: u64,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u64,
    integers: *const i64,
    parameters: *const f64,
}

/// `Violation`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawViolation {
    pub kind: i32,
    pub kernel: i32,
    pub block: [u32; 3],
    pub other_block: [u32; 3],
    pub thread: i32,
    pub other_thread: i32,
    pub writes: i32,
    pub field: i32,
    pub index: i64,
    pub other_index: i64,
    pub interval: i64,
    pub line: i32,
    pub array: [u8; 48],
    pub detail: [u8; 160],
}

/// `Counts`
#[repr(C)]
#[derive(Default, Clone, Copy)]
pub(super) struct Counts {
    pub launches: i64,
    pub blocks: i64,
    pub barriers: i64,
    pub violations: i64,
    pub described: i64,
    pub reads: i64,
    pub writes: i64,
}

type Create = unsafe extern "C" fn(*const Field, i32, i64) -> *mut c_void;
type Run = unsafe extern "C" fn(*mut c_void, *const Launch) -> c_int;
type Results = unsafe extern "C" fn(*const c_void, *mut Counts) -> *const RawViolation;
type Destroy = unsafe extern "C" fn(*mut c_void);

/// The functions of a loaded emulator.
#[derive(Debug, Clone)]
pub(super) struct Functions {
    create: Create,
    run: Run,
    results: Results,
    destroy: Destroy,
    /// Keeps the code in the process.
    _library: Library,
}

impl Functions {
    /// Loads the shared object that the emulator's shim was compiled to.
    pub fn load(path: &Path) -> Result<Functions> {
        let library = Library::load(path)?;
        // SAFETY: the shim defines these functions with these types.
        let (create, run, results, destroy) = unsafe {
            (
                library.function::<Create>("tw_emulator_create")?,
                library.function::<Run>("tw_emulator_run")?,
                library.function::<Results>("tw_emulator_results")?,
                library.function::<Destroy>("tw_emulator_destroy")?,
            )
        };
        Ok(Functions { create, run, results, destroy, _library: library })
    }

    /// Begins a run over the arrays of `data`, which have the types of the program that the emulator was
    /// compiled for, and over some of a copy of them. `flags` has what is known of each element of each. The first `capacity`
    /// violations of each kind are described.
    pub fn begin<'a>(
        &self,
        (data, spare): (&'a mut ProgramData, Option<(&'a mut ProgramData, &[usize])>),
        flags: &[Vec<u8>],
        capacity: usize,
    ) -> Result<Session<'a>> {
        let mut lengths = data.lengths();
        let mut pointers = data.pointers(0);
        if let Some((copy, fields)) = spare {
            let (own, all) = (copy.lengths(), copy.pointers(0));
            lengths.extend(fields.iter().map(|&field| own[field]));
            pointers.extend(fields.iter().map(|&field| all[field]));
        }
        assert!(flags.iter().map(Vec::len).eq(lengths), "one flag for each element");
        let fields: Vec<Field> = pointers
            .into_iter()
            .zip(flags)
            .map(|(values, flags)| Field { values, flags: flags.as_ptr(), count: flags.len() as i64 })
            .collect();
        // SAFETY: there are as many values and flags as `count` says, and the session borrows the values
        // mutably. The flags are copied.
        let context = unsafe { (self.create)(fields.as_ptr(), fields.len() as i32, capacity as i64) };
        // The shadow memory has up to 28 bytes for each element.
        let bytes = flags.iter().map(|flags| 28 * flags.len() as u128).sum();
        let context = NonNull::new(context).ok_or(ExecutionError::OutOfMemory { bytes, available: None })?;
        Ok(Session { context, functions: self.clone(), _data: PhantomData })
    }
}

/// One run of a program: its arrays, and what was found so far.
pub(super) struct Session<'a> {
    context: NonNull<c_void>,
    functions: Functions,
    _data: PhantomData<&'a mut ProgramData>,
}

impl Session<'_> {
    /// Runs one launch of a kernel that takes as many integers, distances and parameters as are given.
    pub fn launch(
        &mut self,
        kernel: &DeviceKernel,
        launch: &PlannedLaunch,
        parameters: &[f64],
        ways: &[i64],
        (order, pacing, seed): (i32, i32, u64),
    ) -> Result<()> {
        let integers = [&launch.integers, ways].concat();
        let foreign = Launch {
            kernel: launch.kernel as i32,
            order,
            pacing,
            seed,
            grid: launch.grid,
            block: kernel.threads,
            shared_bytes: kernel.shared_bytes,
            integers: integers.as_ptr(),
            parameters: parameters.as_ptr(),
        };
        // SAFETY: the context lives as long as `self`, the arguments as long as the call.
        match unsafe { (self.functions.run)(self.context.as_ptr(), &foreign) } {
            0 => Ok(()),
            1 => Err(ExecutionError::OutOfMemory { bytes: kernel.shared_bytes.into(), available: None }),
            code => {
                Err(ExecutionError::Plan(format!("the emulator has no kernel {} ({code})", launch.kernel)))
            }
        }
    }

    /// What was found: the counts, and the violations described.
    pub fn results(&self) -> (Counts, Vec<RawViolation>) {
        let mut counts = Counts::default();
        // SAFETY: the context lives as long as `self`.
        let first = unsafe { (self.functions.results)(self.context.as_ptr(), &mut counts) };
        let described = usize::try_from(counts.described).unwrap_or(0);
        if described == 0 || first.is_null() {
            return (counts, Vec::new());
        }
        // SAFETY: the context holds as many as it says.
        (counts, unsafe { std::slice::from_raw_parts(first, described) }.to_vec())
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `create`, and not used any more.
        unsafe { (self.functions.destroy)(self.context.as_ptr()) };
    }
}
