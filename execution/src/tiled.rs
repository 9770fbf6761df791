//! A plan as a function that can be called: generated, compiled and loaded.

use crate::error::{ExecutionError, Result};
use crate::native::NativeProgram;
use hhc_codegen::KernelPlan;
use hhc_codegen::backend::openmp::{self, Variants};
use rayon::prelude::*;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolchain::cache::Cache;
use toolchain::cancel::Cancel;
use toolchain::compiler::{CompileOptions, Compiler, Language, SharedObject, SourceText, compile_shared};
use toolchain::interrupt;
use toolchain::library::Library;

/// A plan's OpenMP code, loaded.
#[derive(Debug)]
pub struct Tiled {
    /// Its entry point.
    pub native: NativeProgram,
    /// The shared object, with the compiler's command line and notes.
    pub object: SharedObject,
}

/// The text of a plan's library: its C file and header.
///
/// # Errors
/// [`ExecutionError::Generate`].
pub fn sources(plan: &KernelPlan) -> Result<Vec<SourceText>> {
    let name = &plan.program.name;
    let wanted = [format!("{name}.c"), format!("{name}.h")];
    let files = openmp::generate(plan).map_err(|error| ExecutionError::Generate(error.to_string()))?;
    let library = files.into_iter().filter(|file| wanted.contains(&file.name));
    Ok(library.map(|file| SourceText::new(file.name, file.text)).collect())
}

/// Generates, compiles and loads the OpenMP code of a plan.
///
/// # Errors
/// As for [`sources`], those of the compiler, and of loading.
pub fn load(plan: &KernelPlan) -> Result<Tiled> {
    load_with(plan, &CompileOptions::default())
}

/// [`load`] with options for the compiler.
///
/// # Errors
/// As for [`load`].
pub fn load_with(plan: &KernelPlan, options: &CompileOptions) -> Result<Tiled> {
    if let Some(tiled) = of_variants(slice::from_ref(plan), options)?.pop() {
        return Ok(tiled);
    }
    let object = compile_shared(&sources(plan)?, options)?;
    let symbol = format!("{}_invoke", plan.program.name);
    let native = NativeProgram::of(&Library::load(&object.path())?, &symbol)?;
    Ok(Tiled { native, object })
}

/// Fewer tilings are no object of their own: the compiler needs a while to begin.
const LEAST_IN_ONE_OBJECT: usize = 2;
/// Tilings that are compiled together, at most.
const MOST_IN_ONE_OBJECT: usize = 12;

/// The compiler's level for functions in which no points are computed.
const WALKING: u8 = 2;

/// [`load_all`] with objects for all processors at once; `done` gets the number of plans whenever some of them are done.
///
/// # Errors
/// As for [`load`], and an interruption.
pub fn load_side_by_side(plans: &[KernelPlan], done: &(dyn Fn(usize) + Sync)) -> Result<Vec<Tiled>> {
    let part = plans.len().div_ceil(rayon::current_num_threads());
    let part = part.clamp(LEAST_IN_ONE_OBJECT, MOST_IN_ONE_OBJECT);
    let ready = AtomicUsize::new(0);
    let some = |plans: &[KernelPlan]| {
        interrupt::check()?;
        let tiled = load_all(plans)?;
        done(ready.fetch_add(plans.len(), Ordering::Relaxed) + plans.len());
        Ok(tiled)
    };
    let token = Cancel::current();
    let parts =
        plans.par_chunks(part).map(|plans| token.scope(|| some(plans))).collect::<Result<Vec<_>>>()?;
    Ok(parts.into_iter().flatten().collect())
}

/// Generates, compiles and loads the OpenMP code of several plans of one program, which differ in their tiles: as few
/// objects as possible, because the compiler's time goes into what all of them share. Plans with storages of their own share
/// nothing.
///
/// # Errors
/// As for [`load`].
pub fn load_all(plans: &[KernelPlan]) -> Result<Vec<Tiled>> {
    let is_plain = |plan: &KernelPlan| openmp::can_be_variants(slice::from_ref(plan));
    let plain: Vec<KernelPlan> = plans.iter().filter(|plan| is_plain(plan)).cloned().collect();
    let mut together = of_variants(&plain, &CompileOptions::default())?.into_iter();
    let one = |plan: &KernelPlan| {
        let tiled = is_plain(plan).then(|| together.next()).flatten();
        tiled.map_or_else(|| load(plan), Ok)
    };
    plans.iter().map(one).collect()
}

/// The plans as one object, on top of one with the functions of their statements, which the cache has for all tilings; nothing
/// where they cannot be one.
fn of_variants(plans: &[KernelPlan], options: &CompileOptions) -> Result<Vec<Tiled>> {
    if !openmp::can_be_variants(plans) {
        return Ok(Vec::new());
    }
    let generated = openmp::variants(plans).map_err(|error| ExecutionError::Generate(error.to_string()))?;
    let Some(Variants { rows, header, kernels, symbols }) = generated else { return Ok(Vec::new()) };
    let [rows, header, kernels] = [rows, header, kernels].map(|file| SourceText::new(file.name, file.text));
    let (compiler, cache) = (Compiler::find(Language::C).map_err(toolchain::Error::from)?, Cache::open()?);
    let headers = slice::from_ref(&header);
    let common = compiler.compile_common(None, &rows, headers, options, &cache)?;
    // Kernels only walk over rows: what an optimizer wins there is lost in waiting for it.
    let walking = CompileOptions { optimization: options.optimization.min(WALKING), ..options.clone() };
    let object = compiler.compile_shared_on(&common, &[kernels, header.clone()], &walking, &cache)?;
    let library = Library::load(&object.path())?;
    let tiled =
        |symbol: &String| Ok(Tiled { native: NativeProgram::of(&library, symbol)?, object: object.clone() });
    symbols.iter().map(tiled).collect()
}
