//! C compiled, kept and loaded; compilers that lie, and those that lack something.

use std::path::Path;
use std::sync::{Arc, LazyLock};
use toolchain::cache::Cache;
use toolchain::compiler::{CompileOptions, Compiler, Language, SharedObject, SourceText};
use toolchain::library::Library;
use toolchain::{Error, Result};

/// One cache for the tests of this file, apart from the user's.
static CACHE: LazyLock<Arc<Cache>> =
    LazyLock::new(|| Cache::at(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiler-cache")).unwrap());

const TEXT: &str = "\
void twice(double *values, long long count) {
#pragma omp parallel for
    for (long long i = 0; i < count; i++) values[i] *= 2.0;
}
";

fn compile(language: Language, sources: &[SourceText], options: &CompileOptions) -> Result<SharedObject> {
    Compiler::find(language).unwrap().compile_shared(sources, options, &CACHE)
}

fn one(text: &str) -> Vec<SourceText> {
    vec![SourceText::new("stencil.c", text)]
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
fn the_compilers_message_reaches_the_user() {
    let error = compile(Language::C, &one("int broken( {\n"), &CompileOptions::default()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::CompilerFailed { .. }));
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
        assert!(matches!(result, Err(Error::WrongSourceName(_))), "{name}");
    }
}

#[test]
fn what_cannot_be_loaded_is_an_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "not a shared object").unwrap();
    assert!(matches!(Library::load(file.path()), Err(Error::Load { .. })));
    assert!(matches!(Library::load("none.so".as_ref()), Err(Error::Load { .. })));
    let object = compile(Language::C, &one("int a;\n"), &CompileOptions::default()).unwrap();
    assert_eq!(Library::load(&object.path()).unwrap().text("missing"), None);
}

#[test]
fn a_compiler_without_openmp_is_used_without() {
    // A command that refuses -fopenmp and every processor, and else is the system's compiler.
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("plain-cc");
    let real = Compiler::find(Language::C).unwrap().name().to_owned();
    let text = format!(
        "#!/bin/sh\nfor a in \"$@\"; do case \"$a\" in -fopenmp|-m*) echo refused >&2; exit 1;; esac; done\n\
         exec {real} \"$@\"\n"
    );
    std::fs::write(&script, text).unwrap();
    // Through the shell: executing a file that was just written fails (ETXTBSY) while a process that another test
    // started in the meantime still holds the descriptor it was written through.
    let command = format!("sh {}", script.to_str().unwrap());
    let compiler = Compiler::from_command(Language::C, &command).unwrap();
    let options = CompileOptions { strict: true, ..CompileOptions::default() };
    let object = compiler.compile_shared(&one(TEXT), &options, &CACHE).unwrap();
    assert!(!object.openmp);
    assert_eq!(object.notes.len(), 2, "{:?}", object.notes);
    assert!(!object.command.contains("-march") && !object.command.contains("-fopenmp"));
    assert!(!Library::load(&object.path()).unwrap().set_threads(2));
    assert!(Compiler::from_command(Language::C, "/nowhere/cc").is_err());
    assert!(Compiler::from_command(Language::C, " ").is_err());
}

/// A compiler that says yes and writes nothing, or writes what is no library, leaves no entry; one that an older
/// version left is a miss.
#[test]
fn an_entry_has_a_library_that_loads() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(&folder.path().join("cache")).unwrap();
    for writes in ["", "echo nonsense > stencil.so;"] {
        let script = folder.path().join("lazy-cc");
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in *-E*|*probe*|--version) exec cc \"$@\";; esac\n{writes} exit 0\n"
        );
        std::fs::write(&script, text).unwrap();
        let lazy = format!("sh {}", script.display());
        let lazy = Compiler::from_command(Language::C, &lazy).unwrap();
        for _ in 0..2 {
            let result = lazy.compile_shared(&one(TEXT), &CompileOptions::default(), &cache);
            assert!(matches!(result, Err(Error::CompilerFailed { .. })), "{result:?}");
        }
    }
    let compile = || {
        let compiler = Compiler::find(Language::C).unwrap();
        compiler.compile_shared(&one(TEXT), &CompileOptions::default(), &cache).unwrap()
    };
    let object = compile();
    assert!(!object.from_cache() && compile().from_cache());
    let list = object.path().with_file_name("files.json");
    std::fs::remove_file(object.path()).unwrap();
    std::fs::write(&list, "{}").unwrap();
    let again = compile();
    assert!(!again.from_cache() && again.path().is_file());
}
