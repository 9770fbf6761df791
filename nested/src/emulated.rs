//! The CUDA text on the processor, every access checked: as the emulator of stencils does it, with its headers.
//!
//! Threads of a block are fibers, which switch at barriers and at calls of their warps. Accesses out of bounds, reads of what
//! nobody wrote, races, divergent barriers and wrong masks are found whatever the order; other orders are tried by `order`.
#![allow(unsafe_code)]

use crate::cuda::{EMULATOR, GeneratedCuda, RUNTIME, RUNTIME_FILE};
use crate::data::{Inputs, Output};
use crate::native::{Native, RunError};
use crate::program::Program;
use std::ffi::{CStr, c_char, c_int};
use std::sync::Arc;
use toolchain::cache::Cache;
use toolchain::compiler::{CompileOptions, Compiler, SourceText};

/// The headers of the emulator.
const HEADERS: [(&str, &str); 10] = [
    ("tw_emulator.h", include_str!("../emulator/tw_emulator.h")),
    ("tw_checks.h", include_str!("../emulator/tw_checks.h")),
    ("tw_fibers.h", include_str!("../emulator/tw_fibers.h")),
    ("tw_text.h", include_str!("../emulator/tw_text.h")),
    ("tw_warp_state.h", include_str!("../emulator/tw_warp_state.h")),
    ("tw_clocks.h", include_str!("../emulator/tw_clocks.h")),
    ("tw_warp.h", include_str!("../emulator/tw_warp.h")),
    ("tw_flags.h", include_str!("../emulator/tw_flags.h")),
    ("tw_primitives.h", include_str!("../emulator/tw_primitives.h")),
    ("tw_nested_emulator.h", EMULATOR),
];

type Order = unsafe extern "C" fn(c_int, c_int, u64);
type Violations = unsafe extern "C" fn(*mut *const c_char) -> i64;

/// What kernels do that they must not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{count} violations of the rules of CUDA, the first ones:\n{text}")]
pub struct Violated {
    /// How often.
    pub count: i64,
    /// The first ones of each kind.
    pub text: String,
}

/// A program on the emulator.
pub struct Emulated {
    native: Native,
    order: Order,
    violations: Violations,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum EmulatedError {
    /// As for compiled C.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A mistake in the generated kernels.
    #[error(transparent)]
    Violated(#[from] Violated),
}

impl Emulated {
    /// Compiles generated CUDA for the emulator.
    ///
    /// # Errors
    /// [`RunError::Toolchain`].
    pub fn build(
        program: &Program,
        generated: GeneratedCuda,
        compiler: &Compiler,
        checked: bool,
        cache: &Arc<Cache>,
    ) -> Result<Emulated, RunError> {
        let mut arguments = vec!["-DTW_EMULATOR=1".to_owned(), "-Wno-unknown-pragmas".to_owned()];
        if !checked {
            arguments.push("-DTW_UNCHECKED=1".to_owned());
        }
        let options = CompileOptions {
            optimization: 1,
            quick: true,
            openmp: false,
            native: false,
            arguments,
            ..CompileOptions::default()
        };
        // The runtime and the emulator are the same for all programs: compiled once.
        let header = SourceText::new(RUNTIME_FILE, RUNTIME);
        let nothing =
            SourceText::new("nothing.cpp", "extern const int tw_nothing;\nconst int tw_nothing = 0;\n");
        let headers = HEADERS.map(|(name, text)| SourceText::new(name, text));
        let common = compiler.compile_common(Some(&header), &nothing, &headers, &options, cache)?;
        let source = SourceText::new("program.cpp", generated.generated.text.clone());
        let object = compiler.compile_shared_on(&[common], &[source], &options, cache)?;
        let native = Native::load(program, generated.generated, object)?;
        // SAFETY: the emulator's header gives these names to functions of these types.
        let order = unsafe { native.library().function::<Order>("tw_emulated_order") }?;
        // SAFETY: as before.
        let violations = unsafe { native.library().function::<Violations>("tw_emulated_violations") }?;
        Ok(Emulated { native, order, violations })
    }

    /// Runs the program: threads, lanes and blocks in order 0 (ascending), 1 (descending) or 2 (by chance, from a seed);
    /// with each another warp goes ahead.
    ///
    /// # Errors
    /// What is wrong with the data or with the kernels.
    pub fn run(&self, inputs: &Inputs, order: u8, seed: u64) -> Result<Vec<Output>, EmulatedError> {
        let pacing = [0, 1, 3].get(usize::from(order)).copied().unwrap_or(2);
        // SAFETY: the function keeps three numbers.
        unsafe { (self.order)(c_int::from(order.min(2)), pacing, seed) };
        let mut prepared = self.native.prepare(inputs)?;
        let result = prepared.run(1);
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: the function sets the pointer to a text that stays as long as the library.
        let count = unsafe { (self.violations)(&mut text) };
        if count > 0 && !text.is_null() {
            // SAFETY: it ends in zero.
            let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
            return Err(Violated { count, text }.into());
        }
        result?;
        Ok(prepared.outputs())
    }

    /// What was generated.
    pub fn native(&self) -> &Native {
        &self.native
    }
}
