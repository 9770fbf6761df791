//! A plan as a function that can be called: generated, compiled and loaded.

use crate::error::{ExecutionError, Result};
use crate::native::NativeProgram;
use hhc_codegen::KernelPlan;
use hhc_codegen::backend::GeneratedFile;
use hhc_codegen::backend::openmp::{self, Variants};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolchain::cache::Cache;
use toolchain::cancel::Cancel;
use toolchain::compiler::{
    Common, CompileOptions, Compiler, Language, SharedObject, SourceText, compile_shared,
};
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
    if let Some(tiled) = of_variants(slice::from_ref(plan), options, false)?.pop() {
        return Ok(tiled);
    }
    let object = compile_shared(&sources(plan)?, options)?;
    let symbol = format!("{}_invoke", plan.program.name);
    let native = NativeProgram::of(&Library::load(&object.path())?, &symbol)?.with_witnesses(&plan.witnesses);
    Ok(Tiled { native, object })
}

/// Fewer tilings are no object of their own: the compiler needs a while to begin.
const LEAST_IN_ONE_OBJECT: usize = 2;
/// Tilings that are compiled together, at most.
const MOST_IN_ONE_OBJECT: usize = 12;

/// The compiler's level for functions in which no points are computed.
const WALKING: u8 = 2;
/// Its level for functions in which points are computed, where these run for a moment: vectors are written out, or `omp simd` asks for
/// them, so that higher levels gain little and take half as long again.
const BRIEF: u8 = 1;

/// [`load_all`] with objects for all processors at once; `done` gets the number of plans whenever some of them are done. What is `brief`
/// is run for a moment, and not by who waits for its results.
///
/// # Errors
/// As for [`load`], and an interruption.
pub fn load_side_by_side(
    plans: &[KernelPlan],
    brief: bool,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Tiled>> {
    let part = plans.len().div_ceil(rayon::current_num_threads());
    let part = part.clamp(LEAST_IN_ONE_OBJECT, MOST_IN_ONE_OBJECT);
    // Those whose rows are of the same forms share their compiled functions, and have the ones that they have alone.
    let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (number, plan) in plans.iter().enumerate() {
        alike.entry(openmp::row_forms(slice::from_ref(plan))).or_default().push(number);
    }
    let token = Cancel::current();
    // Two processes of the compiler would make the same rows at the same time; who waits but a moment has one.
    let part = if brief { MOST_IN_ONE_OBJECT } else { part };
    let rows = |numbers: &Vec<usize>| {
        let first = slice::from_ref(&plans[numbers[0]]);
        let is_split = numbers.len() > part && openmp::can_be_variants(first);
        let Some(variants) = (if is_split { variants(first, brief)? } else { None }) else { return Ok(()) };
        compiled_rows(&variants, &CompileOptions::default(), brief).map(|_| ())
    };
    alike.par_iter().try_for_each(|(_, numbers)| token.scope(|| rows(numbers)))?;
    let parts: Vec<&[usize]> = alike.values().flat_map(|numbers| numbers.chunks(part)).collect();
    let ready = AtomicUsize::new(0);
    let some = |numbers: &[usize]| {
        interrupt::check()?;
        let own: Vec<KernelPlan> = numbers.iter().map(|&number| plans[number].clone()).collect();
        let tiled = load_all(&own, brief)?;
        done(ready.fetch_add(own.len(), Ordering::Relaxed) + own.len());
        Ok(numbers.iter().copied().zip(tiled).collect::<Vec<_>>())
    };
    let loaded = parts.into_par_iter().map(|numbers| token.scope(|| some(numbers)));
    let mut all: Vec<(usize, Tiled)> = loaded.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, tiled)| tiled).collect())
}

/// Generates, compiles and loads the OpenMP code of several plans of one program, which differ in their tiles: as few
/// objects as possible, because the compiler's time goes into what all of them share. Plans with storages of their own share
/// nothing. `brief`: as for [`load_side_by_side`].
///
/// # Errors
/// As for [`load`].
pub fn load_all(plans: &[KernelPlan], brief: bool) -> Result<Vec<Tiled>> {
    let is_plain = |plan: &KernelPlan| openmp::can_be_variants(slice::from_ref(plan));
    let plain: Vec<KernelPlan> = plans.iter().filter(|plan| is_plain(plan)).cloned().collect();
    let mut together = of_variants(&plain, &CompileOptions::default(), brief)?.into_iter();
    let one = |plan: &KernelPlan| {
        let tiled = is_plain(plan).then(|| together.next()).flatten();
        tiled.map_or_else(|| load(plan), Ok)
    };
    plans.iter().map(one).collect()
}

/// The plans as one object, on top of one with the functions of their statements, which the cache has for all tilings; nothing
/// where they cannot be one.
fn of_variants(plans: &[KernelPlan], options: &CompileOptions, brief: bool) -> Result<Vec<Tiled>> {
    if !openmp::can_be_variants(plans) {
        return Ok(Vec::new());
    }
    let Some(variants) = variants(plans, brief)? else { return Ok(Vec::new()) };
    let common = compiled_rows(&variants, options, brief)?;
    let Variants { header, kernels, symbols, .. } = variants;
    let sources = [kernels, header].map(|file| SourceText::new(file.name, file.text));
    // Kernels only walk over rows: what an optimizer wins there is lost in waiting for it.
    let optimization = options.optimization.min(WALKING);
    let walking = CompileOptions { optimization, quick: brief, ..options.clone() };
    let compiler = Compiler::find(Language::C)?;
    let object = compiler.compile_shared_on(&common, &sources, &walking, &Cache::open()?)?;
    let library = Library::load(&object.path())?;
    let tiled = |(symbol, plan): (&String, &KernelPlan)| {
        let native = NativeProgram::of(&library, symbol)?.with_witnesses(&plan.witnesses);
        Ok(Tiled { native, object: object.clone() })
    };
    symbols.iter().zip(plans).map(tiled).collect()
}

fn variants(plans: &[KernelPlan], brief: bool) -> Result<Option<Variants>> {
    openmp::variants(plans, brief).map_err(|error| ExecutionError::Generate(error.to_string()))
}

/// The functions of statements, compiled side by side: little optimized where they are run for a moment, and as fast within some percent;
/// those of edges, as what hardly computes.
fn compiled_rows(variants: &Variants, options: &CompileOptions, brief: bool) -> Result<Vec<Common>> {
    let optimization = if brief { options.optimization.min(BRIEF) } else { options.optimization };
    let with = |quick| CompileOptions { optimization, quick, ..options.clone() };
    let text = |file: &GeneratedFile| SourceText::new(file.name.clone(), file.text.clone());
    let (compiler, cache) = (Compiler::find(Language::C)?, Cache::open()?);
    let token = Cancel::current();
    let one = |(file, options): (&GeneratedFile, CompileOptions)| {
        let compiled = || compiler.compile_common(None, &text(file), &[], &options, &cache);
        Ok(token.scope(compiled)?)
    };
    let rows = variants.rows.iter().map(|file| (file, with(false)));
    let files: Vec<_> = rows.chain(variants.edges.iter().map(|file| (file, with(brief)))).collect();
    files.into_par_iter().map(one).collect()
}
