//! A plan as a function that can be called: generated, compiled and loaded.

use crate::error::{ExecutionError, Result};
use crate::native::NativeProgram;
use hhc_codegen::KernelPlan;
use hhc_codegen::backend::openmp;
use toolchain::compiler::{CompileOptions, SharedObject, SourceText, compile_shared};
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
    let object = compile_shared(&sources(plan)?, options)?;
    let symbol = format!("{}_invoke", plan.program.name);
    let native = NativeProgram::of(&Library::load(&object.path())?, &symbol)?;
    Ok(Tiled { native, object })
}

/// Generates, compiles and loads the OpenMP code of several plans of one program, which differ in their tiles: as few
/// objects as possible, because the compiler's time goes into what all of them share.
///
/// # Errors
/// As for [`load`].
pub fn load_all(plans: &[KernelPlan]) -> Result<Vec<Tiled>> {
    if plans.len() < 2 || !openmp::can_be_variants(plans) {
        return plans.iter().map(load).collect();
    }
    let (files, symbols) =
        openmp::variants(plans).map_err(|error| ExecutionError::Generate(error.to_string()))?;
    let sources: Vec<SourceText> =
        files.into_iter().map(|file| SourceText::new(file.name, file.text)).collect();
    let object = compile_shared(&sources, &CompileOptions::default())?;
    let library = Library::load(&object.path())?;
    let tiled =
        |symbol: &String| Ok(Tiled { native: NativeProgram::of(&library, symbol)?, object: object.clone() });
    symbols.iter().map(tiled).collect()
}
