//! Calling compiled stencils.
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
//! What is called is text that this workspace generated for the same program, or that the caller vouches for: it must
//! stay within the arrays.
#![allow(unsafe_code)]

use crate::error::{ExecutionError, Result};
use crate::grid::ProgramData;
use crate::levels::Levels;
use crate::reference::{Progress, check_arguments};
use polyhedral::program::{FieldId, Program};
use std::ffi::{c_double, c_int, c_longlong, c_void};
use toolchain::interrupt::{self, Blocking};
use toolchain::library::Library;

type EntryPoint =
    unsafe extern "C" fn(*mut *mut c_void, *const c_longlong, c_longlong, *const c_double) -> c_int;
type LevelsEntryPoint =
    unsafe extern "C" fn(*const *mut c_void, *const c_longlong, c_longlong, *const c_double) -> c_int;

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
        7 => "two arrays overlap",
        _ => "a code that this version does not know",
    }
}

/// An entry point of a shared object, which stays loaded as long as this value lives.
#[derive(Debug, Clone)]
pub struct NativeProgram {
    library: Library,
    symbol: String,
    entry: EntryPoint,
    /// Where the object has one.
    levels: Option<LevelsEntryPoint>,
    /// The fields of which it keeps two numbers for each time step in place of an array.
    witnesses: Vec<usize>,
}

impl NativeProgram {
    /// The entry point of this name.
    ///
    /// # Errors
    /// [`toolchain::Error::Load`] where there is none.
    pub fn of(library: &Library, symbol: &str) -> Result<NativeProgram> {
        // SAFETY: by the contract above every generated function of this name has this type.
        let entry = unsafe { library.function::<EntryPoint>(symbol) }?;
        // SAFETY: likewise, of the name with this ending.
        let levels = unsafe { library.function::<LevelsEntryPoint>(&format!("{symbol}_levels")) }.ok();
        let witnesses = Vec::new();
        Ok(NativeProgram { entry, levels, symbol: symbol.to_owned(), library: library.clone(), witnesses })
    }

    /// The same of a plan with these witnesses (`KernelPlan::with_witnesses`), whose arrays it needs room in.
    #[must_use]
    pub fn with_witnesses(self, witnesses: &[usize]) -> NativeProgram {
        NativeProgram { witnesses: witnesses.to_vec(), ..self }
    }

    /// The library it belongs to.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Its name there.
    pub fn symbol(&self) -> &str {
        &self.symbol
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

    /// Runs `steps` more time steps after the first `done`, which [`chunk_unit`] divides: where the newest levels lie is
    /// where the initial ones did, and values of series go on from there.
    ///
    /// # Errors
    /// As for [`NativeProgram::run`], but that a signal waits for the end of the call.
    pub fn run_on(
        &self,
        program: &Program,
        parameters: &[f64],
        data: &mut ProgramData,
        done: i64,
        steps: i64,
    ) -> Result<()> {
        check_arguments(program, parameters, steps)?;
        data.check(program)?;
        data.check_steps(program, done.saturating_add(steps))?;
        if done < 0 || done % chunk_unit(program) != 0 {
            let problem = format!("after {done} steps the newest levels are not where the initial ones were");
            return Err(ExecutionError::WrongData { program: program.name.clone(), problem });
        }
        interrupt::check()?;
        self.call(parameters, data, done, steps)
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

    /// [`NativeProgram::run_on`] on levels that lie anywhere, whose boundary need not be prepared.
    ///
    /// # Errors
    /// As for [`NativeProgram::run_on`]; code 7 where arrays overlap.
    pub fn run_levels(
        &self,
        program: &Program,
        parameters: &[f64],
        levels: &mut Levels<'_>,
        done: i64,
        steps: i64,
    ) -> Result<()> {
        check_arguments(program, parameters, steps)?;
        levels.check_steps(program, done.saturating_add(steps))?;
        let symbol = format!("{}_levels", self.symbol);
        let Some(entry) = self.levels.filter(|_| self.witnesses.is_empty()) else {
            return Err(ExecutionError::Generate(format!("there is no `{symbol}`")));
        };
        interrupt::check()?;
        let pointers = levels.pointers(usize::try_from(done).unwrap_or(0));
        // SAFETY: `levels` borrows one array for every slot and series, of the type and length that the program has,
        // and one size or stride for every dimension; there is a value for every parameter.
        let code = unsafe { entry(pointers.as_ptr(), levels.sizes().as_ptr(), steps, parameters.as_ptr()) };
        result_of(&symbol, code)
    }

    /// Calls the function, after `done` steps, with arguments that were checked.
    fn call(&self, parameters: &[f64], data: &mut ProgramData, done: i64, steps: i64) -> Result<()> {
        for &witness in &self.witnesses {
            data.make_room(FieldId(witness), 2 * usize::try_from(steps).unwrap_or(0))?;
        }
        let sizes: Vec<c_longlong> = data.layout().native_sizes();
        let mut fields = data.pointers(done as usize);
        // SAFETY: there is an array of the type and length that the program's field or series has for every pointer, or of
        // two numbers for each step where a field is a witness, sizes and strides for every dimension, and a value for every parameter; `data` is borrowed mutably.
        let code = unsafe { (self.entry)(fields.as_mut_ptr(), sizes.as_ptr(), steps, parameters.as_ptr()) };
        result_of(&self.symbol, code)
    }
}

fn result_of(symbol: &str, code: c_int) -> Result<()> {
    match code {
        0 => Ok(()),
        code => Err(ExecutionError::Native { symbol: symbol.to_owned(), code, meaning: meaning(code) }),
    }
}

/// The least number of steps, at least 1, after which every field's newest levels lie where its initial
/// levels were: the least common multiple of the fields' slots.
pub fn chunk_unit(program: &Program) -> i64 {
    program.cycle()
}
