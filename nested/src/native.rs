//! Generated C, compiled and called in this process.
//!
//! What is called is text that this crate made for the same program: it stays within the arrays that it is given and
//! those that it makes, as their slots say.
#![allow(unsafe_code)]

use crate::data::{Array, InputError, Inputs, Output, arranged};
use crate::emit::generated::Generated;
use crate::fault::{Fault, FaultKind};
use crate::openmp::RUNTIME;
use crate::program::{Program, Scalar, Type};
use std::ffi::{c_int, c_void};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use toolchain::cache::Cache;
use toolchain::compiler::{CompileOptions, Compiler, SharedObject, SourceText};
use toolchain::interrupt::Blocking;
use toolchain::library::Library;

/// Why a compiled program gave no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// What was given does not fit the program.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Something in the data is wrong.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// There is not enough memory.
    #[error("there is no memory for {0} elements of {1} bytes")]
    Memory(i64, i64),
    /// It could not be compiled or loaded.
    #[error(transparent)]
    Toolchain(#[from] toolchain::Error),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawSlot {
    data: *mut c_void,
    length: i64,
    capacity: i64,
}

/// What a run found wrong.
#[repr(C)]
pub(crate) struct RawReport {
    pub check: i64,
    numbers: [i64; 2],
}

impl RawReport {
    pub const NOTHING: RawReport = RawReport { check: 0, numbers: [0; 2] };

    /// The error that it tells of.
    pub fn error(&self, generated: &Generated) -> RunError {
        match self.check {
            check @ 1.. => {
                let place = usize::try_from(check - 1).unwrap_or(usize::MAX);
                let (kind, span) = generated.checks.get(place).cloned().unwrap_or((FaultKind::Index, 0..0));
                Fault { kind, span, numbers: self.numbers }.into()
            }
            _ => RunError::Memory(self.numbers[0], self.numbers[1]),
        }
    }
}

type Entry = unsafe extern "C" fn(*mut RawSlot, c_int, *mut RawReport) -> c_int;
type Free = unsafe extern "C" fn(*mut RawSlot);

/// A compiled program.
pub struct Native {
    entry: Entry,
    free: Free,
    generated: Generated,
    program: Program,
    library: Library,
    object: SharedObject,
}

/// The options for generated code: checks can be left out, and `fast` lets the compiler contract products and sums.
pub fn options(checked: bool, fast: bool) -> CompileOptions {
    let arguments = if checked { Vec::new() } else { vec!["-DTW_UNCHECKED=1".to_owned()] };
    CompileOptions { arguments, contraction: fast, ..CompileOptions::default() }
}

/// The files of generated C.
pub fn sources(generated: &Generated) -> [SourceText; 2] {
    [SourceText::new("program.c", generated.text.clone()), SourceText::new("tw_nested.h", RUNTIME)]
}

impl Native {
    /// Compiles and loads generated C.
    ///
    /// # Errors
    /// [`RunError::Toolchain`].
    pub fn build(
        program: &Program,
        generated: Generated,
        compiler: &Compiler,
        options: &CompileOptions,
        cache: &Arc<Cache>,
    ) -> Result<Native, RunError> {
        let object = compiler.compile_shared(&sources(&generated), options, cache)?;
        Native::load(program, generated, object)
    }

    /// Loads what was compiled of generated code.
    ///
    /// # Errors
    /// [`RunError::Toolchain`].
    pub fn load(program: &Program, generated: Generated, object: SharedObject) -> Result<Native, RunError> {
        let library = Library::load(&object.path())?;
        // SAFETY: `openmp::generate` and `cuda::generate` give these names to functions of these types.
        let entry = unsafe { library.function::<Entry>(&generated.symbol) }?;
        // SAFETY: as before.
        let free = unsafe { library.function::<Free>(&format!("{}_free", generated.symbol)) }?;
        Ok(Native { entry, free, generated, program: program.clone(), library, object })
    }

    /// What was compiled.
    pub fn generated(&self) -> &Generated {
        &self.generated
    }

    /// The compiler's command line.
    pub fn command(&self) -> &str {
        &self.object.command
    }

    /// The library.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Makes arrays for runs.
    ///
    /// # Errors
    /// [`RunError::Input`].
    pub fn prepare(&self, inputs: &Inputs) -> Result<Prepared<'_>, RunError> {
        Ok(self.prepared(Rc::new(arranged(&self.program, inputs)?)))
    }

    /// Makes arrays for runs on the same `inputs` as those of other implementations: what is given is read only, and is in memory
    /// once for each list of names and types.
    ///
    /// # Errors
    /// [`RunError::Input`].
    pub fn prepare_shared(
        &self,
        shared: &mut Shared,
        inputs: impl FnOnce() -> Inputs,
    ) -> Result<Prepared<'_>, RunError> {
        let given: Given = self.program.given().map(|(_, own)| (own.name.clone(), own.ty.clone())).collect();
        if let Some((_, arrays)) = shared.0.iter().find(|(own, _)| *own == given) {
            return Ok(self.prepared(arrays.clone()));
        }
        let arrays = Rc::new(arranged(&self.program, &inputs())?);
        shared.0.push((given, arrays.clone()));
        Ok(self.prepared(arrays))
    }

    /// `arrays` are [`arranged`] for this program.
    fn prepared(&self, arrays: Rc<Vec<Array>>) -> Prepared<'_> {
        let empty = RawSlot { data: std::ptr::null_mut(), length: 0, capacity: 0 };
        let mut slots = vec![empty; self.generated.slots.list.len()];
        for ((slot, own), array) in slots.iter_mut().zip(&self.generated.slots.list).zip(arrays.iter()) {
            slot.data = pointer(array);
            slot.length = (array.len() / own.width) as i64;
        }
        Prepared { native: self, arrays, slots }
    }
}

/// The memory of an array. Generated code reads inputs only.
fn pointer(array: &Array) -> *mut c_void {
    match array {
        Array::I32(values) => values.as_ptr().cast_mut().cast(),
        Array::I64(values) => values.as_ptr().cast_mut().cast(),
        Array::F32(values) => values.as_ptr().cast_mut().cast(),
        Array::F64(values) => values.as_ptr().cast_mut().cast(),
        Array::Bool(values) => values.as_ptr().cast_mut().cast(),
    }
}

/// What several implementations are given, by its names and types.
#[derive(Default)]
pub struct Shared(Vec<(Given, Rc<Vec<Array>>)>);

/// Names and types of what is given.
type Given = Vec<(String, Type)>;

/// A compiled program with its arrays, which are kept from run to run.
pub struct Prepared<'a> {
    native: &'a Native,
    /// What the slots of the inputs point to.
    #[allow(dead_code)]
    arrays: Rc<Vec<Array>>,
    slots: Vec<RawSlot>,
}

impl Prepared<'_> {
    /// Runs the program, and says how many seconds it took.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn run(&mut self, threads: usize) -> Result<f64, RunError> {
        let _blocking = Blocking::enter().map_err(|_| RunError::Interrupted)?;
        let mut report = RawReport::NOTHING;
        let threads = c_int::try_from(threads.max(1)).unwrap_or(c_int::MAX);
        let start = Instant::now();
        // SAFETY: there are as many slots as the program has arrays; those that are given point to arrays of the types and
        // lengths that the program expects, checked by `arranged`, which live as long as `self`.
        let code = unsafe { (self.native.entry)(self.slots.as_mut_ptr(), threads, &mut report) };
        let seconds = start.elapsed().as_secs_f64();
        match code {
            0 => Ok(seconds),
            _ => Err(report.error(&self.native.generated)),
        }
    }

    /// The arrays, as generated code has them.
    pub(crate) fn slots(&mut self) -> &mut [RawSlot] {
        &mut self.slots
    }

    /// The results of the last run.
    pub fn outputs(&self) -> Vec<Output> {
        let program = &self.native.program;
        let output = |&id: &usize| {
            let variable = program.variable(id);
            let place = self.native.generated.slots.places.get(&id);
            let leaves = place.iter().flat_map(|place| &place.leaves).map(|slot| self.array(*slot)).collect();
            let offsets = place.and_then(|place| place.rows).map(|slot| match self.array(slot) {
                Array::I64(values) => values,
                _ => Vec::new(),
            });
            let nested = matches!(variable.ty.element(), Some(Type::Sequence(_)));
            let offsets = offsets.filter(|_| nested);
            Output { name: variable.name.clone(), ty: variable.ty.clone(), leaves, offsets }
        };
        program.outputs.iter().map(output).collect()
    }

    /// Bytes of all arrays that were given or made.
    pub fn bytes(&self, names: &[String]) -> u64 {
        let list = self.native.generated.slots.list.iter().zip(&self.slots);
        let own = list.filter(|(slot, _)| names.contains(&slot.name));
        own.map(|(slot, raw)| raw.length.max(0) as u64 * (slot.scalar.bytes() * slot.width) as u64).sum()
    }

    fn array(&self, slot: usize) -> Array {
        let (raw, own) = (self.slots[slot], &self.native.generated.slots.list[slot]);
        let count = usize::try_from(raw.length).unwrap_or(0) * own.width;
        if raw.data.is_null() || count == 0 {
            return Array::new(own.scalar);
        }
        macro_rules! copied {
            ($kind:ty) => {
                // SAFETY: the generated code filled as many elements of this type as the slot's length says.
                unsafe { std::slice::from_raw_parts(raw.data.cast::<$kind>(), count) }.to_vec()
            };
        }
        match own.scalar {
            Scalar::I32 => Array::I32(copied!(i32)),
            Scalar::I64 => Array::I64(copied!(i64)),
            Scalar::F32 => Array::F32(copied!(f32)),
            Scalar::F64 => Array::F64(copied!(f64)),
            Scalar::Bool => Array::Bool(copied!(u8).into_iter().map(|value| value != 0).collect()),
        }
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        // SAFETY: frees what the generated code made, and leaves what was given.
        unsafe { (self.native.free)(self.slots.as_mut_ptr()) };
    }
}
