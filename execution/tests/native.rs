//! C and C++ compiled, loaded and called.
#![allow(clippy::unwrap_used)]

mod support;

use execution::c_compiler::{CompileOptions, Compiler, Language, SharedObject, SourceText};
use execution::cache::Cache;
use execution::compare::compare;
use execution::grid::ProgramData;
use execution::native::NativeLibrary;
use execution::{ExecutionError, initial, reference};
use polyhedral::program::*;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use support::*;

/// One cache for the tests of this file, apart from the user's.
static CACHE: LazyLock<Arc<Cache>> =
    LazyLock::new(|| Cache::at(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-cache")).unwrap());

const HEAT: &str = r#"
int heat(void **fields, const long long *sizes, long long steps, const double *parameters) {
    float *u = fields[0];
    const long long n = sizes[0], m = sizes[1];
    const float weight = (float)parameters[0];
    for (long long t = 0; t < steps; t++) {
        const float *from = u + (t % 2) * n * m;
        float *to = u + ((t + 1) % 2) * n * m;
#pragma omp parallel for
        for (long long i = 1; i < n - 1; i++)
            for (long long j = 1; j < m - 1; j++)
                to[i * m + j] = weight * ((((from[i * m + j] + from[(i - 1) * m + j]) + from[(i + 1) * m + j])
                                           + from[i * m + j - 1]) + from[i * m + j + 1]);
    }
    return 0;
}
"#;

fn compile(
    language: Language,
    sources: &[SourceText],
    options: &CompileOptions,
) -> execution::Result<SharedObject> {
    Compiler::find(language).unwrap().compile_shared(sources, options, &CACHE)
}

fn one(text: &str) -> Vec<SourceText> {
    vec![SourceText::new("stencil.c", text)]
}

#[test]
fn compiled_heat_agrees_with_the_reference() {
    let program = heat2d(ElementType::F32);
    for options in [
        CompileOptions::default(),
        CompileOptions { openmp: false, native: false, optimization: 0, ..CompileOptions::default() },
    ] {
        let options = CompileOptions { strict: true, ..options };
        let object = compile(Language::C, &one(HEAT), &options).unwrap();
        let native = NativeLibrary::load(&object.path()).unwrap().program("heat").unwrap();
        assert_eq!(native.library().set_threads(2), object.openmp);
        for (size, steps) in [([40, 70], 9), ([3, 3], 1), ([1, 4], 2), ([33, 1], 0)] {
            let mut expected = ProgramData::zeroed(&program, &size).unwrap();
            initial::fill_random(&program, &mut expected, 9).unwrap();
            let mut found = expected.try_clone().unwrap();
            reference::run_quietly(&program, &[0.2], &mut expected, steps).unwrap();
            native.run(&program, &[0.2], &mut found, steps).unwrap();
            let comparison = compare(&program, &expected, &found, steps);
            assert_eq!(comparison.mismatches, 0, "{:?}", comparison.first);
        }
    }
}

#[test]
fn the_second_compilation_comes_from_the_cache() {
    let text = "int answer(void) { return 42; }\n";
    let first = compile(Language::C, &one(text), &CompileOptions::default()).unwrap();
    let second = compile(Language::C, &one(text), &CompileOptions::default()).unwrap();
    let other = CompileOptions { optimization: 1, ..CompileOptions::default() };
    let third = compile(Language::C, &one(text), &other).unwrap();
    assert!(second.from_cache());
    assert_eq!(first.path(), second.path());
    assert_ne!(first.path(), third.path());
}

#[test]
fn headers_are_found_and_several_sources_linked() {
    let sources = [
        SourceText::new("part.h", "int part(void);\n"),
        SourceText::new("part.c", "#include \"part.h\"\nint part(void) { return VALUE; }\n"),
        SourceText::new(
            "main.c",
            "#include \"part.h\"\nint entry(void **f, const long long *n, long long t, const double *p) {\n\
             (void)f; (void)n; (void)t; (void)p; return part(); }\n",
        ),
    ];
    let options =
        CompileOptions { strict: true, arguments: vec!["-DVALUE=1".to_owned()], ..CompileOptions::default() };
    let object = compile(Language::C, &sources, &options).unwrap();
    let native = NativeLibrary::load(&object.path()).unwrap().program("entry").unwrap();
    let program = heat2d(ElementType::F32);
    let mut data = ProgramData::zeroed(&program, &[4, 4]).unwrap();
    let error = native.run(&program, &[0.2], &mut data, 1).unwrap_err();
    assert!(error.to_string().contains("`entry` failed with code 1: it could not get the memory"), "{error}");
    assert!(native.run(&program, &[], &mut data, 1).is_err());
    assert!(native.run(&program, &[0.2], &mut data, -1).is_err());
    let mut other = ProgramData::zeroed(&heat2d(ElementType::F64), &[4, 4]).unwrap();
    assert!(matches!(native.run(&program, &[0.2], &mut other, 1), Err(ExecutionError::WrongData { .. })));
}

#[test]
fn cuda_named_sources_compile_as_cxx() {
    let text = "#include <array>\n#include <type_traits>\n\
                template <int N> constexpr std::array<int, N> zeros() { return {}; }\n\
                static_assert(std::is_same_v<decltype(zeros<3>()), std::array<int, 3>>);\n\
                extern \"C\" int entry(void **, const long long *, long long steps, const double *)\n\
                { return steps == 3 ? 0 : 4; }\n\
                extern \"C\" const char *report() { return \"a race at line 3\"; }\n";
    let object =
        compile(Language::Cxx, &[SourceText::new("kernel.cu", text)], &CompileOptions::default()).unwrap();
    let native = NativeLibrary::load(&object.path()).unwrap().program("entry").unwrap();
    let program = heat2d(ElementType::F32);
    let mut data = ProgramData::zeroed(&program, &[4, 4]).unwrap();
    native.run(&program, &[0.2], &mut data, 3).unwrap();
    assert!(native.run(&program, &[0.2], &mut data, 2).unwrap_err().to_string().contains("race"));
    assert_eq!(native.library().text("report").as_deref(), Some("a race at line 3"));
    assert_eq!(native.library().text("none"), None);
}

#[test]
fn the_compilers_message_reaches_the_user() {
    let error = compile(Language::C, &one("int broken( {\n"), &CompileOptions::default()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ExecutionError::CompilerFailed { .. }));
    assert!(
        text.contains("stencil.c:1") && text.contains("-O3") && text.contains("-ffp-contract=off"),
        "{text}"
    );
    let endless = "@;\n".repeat(500);
    let error = compile(Language::C, &one(&endless), &CompileOptions::default()).unwrap_err();
    assert!(error.to_string().lines().count() < 60);
    let warned = CompileOptions { strict: true, ..CompileOptions::default() };
    assert!(compile(Language::C, &one("static int unused;\n"), &warned).is_err());
}

#[test]
fn names_of_sources_stay_in_their_folder() {
    for name in ["../a.c", "/tmp/a.c", "a/b.c", "", "-o", "..", "stencil.so", "a b.c"] {
        let result = compile(Language::C, &[SourceText::new(name, "")], &CompileOptions::default());
        assert!(matches!(result, Err(ExecutionError::WrongSourceName(_))), "{name}");
    }
}

#[test]
fn what_cannot_be_loaded_is_an_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "not a shared object").unwrap();
    assert!(matches!(NativeLibrary::load(file.path()), Err(ExecutionError::Load { .. })));
    assert!(matches!(NativeLibrary::load("none.so".as_ref()), Err(ExecutionError::Load { .. })));
    let object = compile(Language::C, &one("int a;\n"), &CompileOptions::default()).unwrap();
    let error = NativeLibrary::load(&object.path()).unwrap().program("missing").unwrap_err();
    assert!(error.to_string().contains("no function `missing`"));
}

/// Unloading an object whose OpenMP threads have run must not pull the code from under them.
#[test]
fn objects_with_openmp_can_be_unloaded() {
    let program = heat2d(ElementType::F32);
    let mut data = ProgramData::zeroed(&program, &[64, 64]).unwrap();
    for round in 0..8 {
        let text = format!("{HEAT}\nint round{round};\n");
        let object = compile(Language::C, &one(&text), &CompileOptions::default()).unwrap();
        let native = NativeLibrary::load(&object.path()).unwrap().program("heat").unwrap();
        native.library().set_threads(3);
        native.run(&program, &[0.2], &mut data, 2).unwrap();
    }
}

#[test]
fn a_compiler_without_openmp_is_used_without() {
    // A command that refuses -fopenmp and every processor, and else is the system's compiler.
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("plain-cc");
    let real = Compiler::find(Language::C).unwrap().command();
    let text = format!(
        "#!/bin/sh\nfor a in \"$@\"; do case \"$a\" in -fopenmp|-m*) echo refused >&2; exit 1;; esac; done\n\
         exec {real} \"$@\"\n"
    );
    std::fs::write(&script, text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode).unwrap();
    let compiler = Compiler::from_command(Language::C, script.to_str().unwrap()).unwrap();
    let options = CompileOptions { strict: true, ..CompileOptions::default() };
    let object = compiler.compile_shared(&one(HEAT), &options, &CACHE).unwrap();
    assert!(!object.openmp);
    assert_eq!(object.notes.len(), 2, "{:?}", object.notes);
    assert!(!object.command.contains("-march") && !object.command.contains("-fopenmp"));
    assert!(!NativeLibrary::load(&object.path()).unwrap().set_threads(2));
    assert!(Compiler::from_command(Language::C, "/nowhere/cc").is_none());
    assert!(Compiler::from_command(Language::C, " ").is_none());
}
