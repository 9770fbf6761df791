//! The library as programs in C and C++ use it: compiled with warnings as errors, linked with the shared and with the static
//! library, and run.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where this build put the libraries: beside the test program.
fn built() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

fn source() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether a compiler is there; CI has both.
fn has(compiler: &str) -> bool {
    let works = Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(works || std::env::var_os("CI").is_none(), "{compiler} is missing");
    if !works {
        println!("SKIPPED: there is no {compiler}");
    }
    works
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Compiles a program, with these flags before and the libraries after it.
fn compiled(folder: &Path, compiler: &str, standard: &str, program: &Path, shared: bool) -> PathBuf {
    let output = folder.join(program.file_name().unwrap()).with_extension("out");
    let mut command = Command::new(compiler);
    command.args([standard, "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I"]);
    command.arg(source().join("include")).arg("-o").arg(&output).arg(program);
    if shared {
        command.arg("-L").arg(built()).arg("-ltilewright_adaptive");
        command.arg(format!("-Wl,-rpath,{}", built().display()));
    } else {
        command.arg(built().join("libtilewright_adaptive.a")).args(["-lpthread", "-ldl", "-lm"]);
    }
    let said = command.output().unwrap();
    assert!(said.status.success(), "{}", text(&said));
    output
}

fn run(program: &Path, folder: &Path) -> String {
    let output = Command::new(program).arg(folder).env_remove("TILEWRIGHT_VARIANT").output().unwrap();
    assert!(output.status.success(), "{:?}\n{}", output.status, text(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_example_in_c_tunes_and_chooses() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "gcc", "-std=c99", &source().join("examples/sort.c"), true);
    let said = run(&program, folder.path());
    assert!(said.starts_with("18 inputs labelled, 6 tested\n"), "{said}");
    // Beyond 5000 keys the constraint leaves one variant.
    assert!(said.contains("5200 keys: quick ("), "{said}");
    assert!(folder.path().join("sort.model.json").is_file());
}

#[test]
fn the_example_in_cpp_tunes_and_chooses() {
    if !has("g++") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "g++", "-std=c++11", &source().join("examples/sort.cpp"), false);
    let said = run(&program, folder.path());
    assert!(said.starts_with("18 inputs labelled\n"), "{said}");
    assert!(said.contains("30000 random keys: "), "{said}");
    assert!(!said.contains("random keys: insertion"), "{said}");
}

#[test]
fn what_the_manual_shows_compiles_and_runs() {
    if !has("g++") {
        return;
    }
    let manual = std::fs::read_to_string(source().join("../docs/adaptive.md")).unwrap();
    let shown = manual.split("```cpp\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let text = format!(
        "#include <tilewright_adaptive.hpp>\n#include <algorithm>\n#include <vector>\n\
         static void stable_sort(std::vector<float> &keys) {{ std::stable_sort(keys.begin(), keys.end()); }}\n\
         static void insertion_sort(std::vector<float> &keys) {{ std::sort(keys.begin(), keys.end()); }}\n\
         int main() {{ std::vector<float> keys = {{2, 1}};\n{shown}return keys[0] != 1; }}\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shown.cpp");
    std::fs::write(&file, text).unwrap();
    run(&compiled(folder.path(), "g++", "-std=c++11", &file, true), folder.path());
}

#[test]
fn misuse_is_an_error_in_c() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "gcc", "-std=c99", &source().join("tests/misuse.c"), false);
    assert_eq!(run(&program, folder.path()), "");
}

#[test]
fn exceptions_values_and_references_pass_through_in_cpp() {
    if !has("g++") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "g++", "-std=c++17", &source().join("tests/calls.cpp"), true);
    assert_eq!(run(&program, folder.path()), "");
}

#[test]
fn the_header_has_the_library_s_version_and_its_functions() {
    let header = std::fs::read_to_string(source().join("include/tilewright_adaptive.h")).unwrap();
    assert!(header.contains(&format!("#define TWA_VERSION \"{}\"", env!("CARGO_PKG_VERSION"))));
    let mut defined = Vec::new();
    for file in std::fs::read_dir(source().join("src")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let functions = text.split("extern \"C\" fn twa_").skip(1);
        defined.extend(functions.map(|rest| rest[..rest.find('(').unwrap()].to_owned()));
    }
    assert!(defined.len() > 20);
    for name in defined {
        assert!(header.contains(&format!("twa_{name}(")), "twa_{name} is not in the header");
    }
}

#[test]
fn cmake_finds_the_installed_package() {
    if Command::new("cmake").arg("--version").output().is_err() {
        println!("SKIPPED: there is no cmake");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
    };
    let (prefix, build) = (folder.path().join("prefix"), folder.path().join("build"));
    let script = source().join("../scripts/install-adaptive-c.sh");
    run(Command::new("bash").arg(script).arg(&prefix).arg(built()));
    run(Command::new("cmake")
        .arg("-S")
        .arg(source().join("examples"))
        .arg("-B")
        .arg(&build)
        .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
    // That both link is what the package is for; the other tests run the programs.
    run(Command::new("cmake").arg("--build").arg(&build));
}
