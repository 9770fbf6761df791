//! The standalone program: it builds without warnings, and its own check finds no difference.

use crate::harness::{
    everything, hexagonal_tile, parsed, planned, shipped, small_plan_in_openmp, turn_of, with_storages,
};
use hhc_codegen::{KernelPlan, TileSizes};
use polyhedral::program::Program;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use toolchain::compiler::{Compiler, Language};

/// With checks, which are many: not optimised, the compiler takes a third of the time.
const CHECKED: [&str; 3] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O0"];

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Builds and runs all generated files the way their header says; gives what the program prints.
fn standalone(program: &Arc<Program>, tile: &TileSizes, wrong: Option<(&str, &str)>) -> Output {
    standalone_of(&planned(program, "hhc", tile).plan, &[], wrong)
}

/// The same of a plan, with these options of the compiler.
fn standalone_of(plan: &KernelPlan, options: &[&str], wrong: Option<(&str, &str)>) -> Output {
    standalone_with(plan, options, wrong, &[])
}

/// The same with another main.
fn standalone_with(
    plan: &KernelPlan,
    options: &[&str],
    wrong: Option<(&str, &str)>,
    changed: &[&(String, String)],
) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let program = &plan.program;
    let name = &program.name;
    for mut file in hhc_codegen::backend::openmp::generate(plan).unwrap() {
        if let Some((from, to)) = wrong.filter(|_| file.name == format!("{name}.c")) {
            assert!(file.text.contains(from), "{name}: no `{from}`");
            file.text = file.text.replace(from, to);
        }
        for (from, to) in changed.iter().filter(|_| file.name == format!("{name}_main.c")) {
            assert!(file.text.contains(from), "{name}: no `{from}`");
            file.text = file.text.replace(from, to);
        }
        std::fs::write(folder.path().join(file.name), file.text).unwrap();
    }
    let compiler = Compiler::find(Language::C).unwrap();
    // As in the CMake file: the library is C99, the program that times it what the compiler takes by default. Every third one is
    // optimised, which takes the compiler several times as long.
    let level = if everything() || turn_of(name).is_multiple_of(3) { "-O1" } else { "-O0" };
    let strict = [level, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fopenmp", "-ffp-contract=off", "-I."];
    for arguments in [
        vec!["-std=c99".to_owned(), "-c".to_owned(), format!("{name}.c")],
        vec![
            format!("{name}_main.c"),
            format!("{name}.o"),
            "-o".to_owned(),
            "program".to_owned(),
            "-lm".to_owned(),
        ],
    ] {
        let built =
            run(compiler.command().args(strict).args(options).args(arguments).current_dir(folder.path()));
        assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
    }
    // A small grid to time, and few steps.
    let sizes = ["20", "19", "18", "3"];
    let given = sizes[..program.dimension()].iter().chain(&sizes[3..]);
    run(Command::new(folder.path().join("program")).args(given))
}

fn check(program: &Arc<Program>) {
    let tile = hexagonal_tile(program, 2, 1, &[9, 8]);
    let output = standalone(program, &tile, None);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("check: 0 of"), "{}: {text}", program.name);
}

#[test]
fn shipped_stencils() {
    for name in ["heat1d", "leapfrog1d", "fdtd2d", "varcoef2d", "heat3d"] {
        check(&shipped(name));
    }
}

#[test]
fn programs() {
    for name in ["mixed2d", "arrhenius2d", "depth8_2d", "limiter1d"] {
        check(&parsed(name, &std::fs::read_to_string(program_path(name)).unwrap()));
    }
}

/// Rows in explicit vectors of 32 bytes, as gcc compiles them for AVX2, and of the longest there are, and a fault in them that is found.
#[test]
fn vectors_that_are_kept() {
    if !has_kept_vectors() {
        println!("SKIPPED: rows are in explicit vectors with gcc and AVX2 only");
        return;
    }
    let options = ["-march=native", "-DTW_VECTOR=32"];
    let longest = ["-march=native", "-DTW_KEPT=1"];
    let sanitized: Vec<&str> = options.iter().copied().chain(CHECKED).collect();
    let sanitizers = execution::equivalence::has_sanitizers();
    for name in ["heat2d", "box2d2r", "heat3d"] {
        let program = shipped(name);
        let double = parsed(name, &program.to_source().replace("f32", "f64"));
        for program in [program, double] {
            let plan = planned(&program, "hhc", &hexagonal_tile(&program, 2, 6, &[9, 8])).plan;
            let ways = [&options[..], &longest[..], &sanitized[..]];
            for options in ways.into_iter().take(2 + usize::from(sanitizers)) {
                let output = standalone_of(&plan, options, None);
                let text = String::from_utf8_lossy(&output.stdout);
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success() && text.contains("check: 0 of"), "{name}: {text}{errors}");
            }
        }
    }
    let heat = shipped("heat2d");
    let plan = planned(&heat, "hhc", &hexagonal_tile(&heat, 2, 6, &[9, 8])).plan;
    let fault = ("(*(const tw_lanes_f32_at *)(place))", "(*(const tw_lanes_f32_at *)(place) + 1)");
    let output = standalone_of(&plan, &options, Some(fault));
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Whether the compiler is gcc, and this processor has AVX2.
fn has_kept_vectors() -> bool {
    let compiler = Compiler::find(Language::C).unwrap();
    let macros = run(compiler.command().args(["-march=native", "-dM", "-E", "-x", "c", "/dev/null"]));
    let macros = String::from_utf8_lossy(&macros.stdout);
    macros.contains("__AVX2__") && !macros.contains("__clang__")
}

fn program_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(format!("{name}.stencil"))
}

/// Threads with memory of their own, with every access and every sum of integers checked where the compiler can.
#[test]
fn storage_of_threads() {
    let sanitizers = execution::equivalence::has_sanitizers();
    if !sanitizers {
        println!("SKIPPED: the C compiler has no sanitizers; programs are built without");
    }
    let options: &[&str] = if sanitizers { &CHECKED } else { &[] };
    for (name, seed) in [("heat2d", 0), ("fdtd2d", 0)] {
        for strategy in with_storages() {
            let Some(plan) = small_plan_in_openmp(&shipped(name), strategy, seed) else { continue };
            let output = standalone_of(&plan, options, None);
            let text = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && text.contains("check: 0 of"), "{name}: {text}{errors}");
        }
    }
}

/// Grids whose rows lie 4 KiB apart, in copies: first and last levels between both grids, the others in the copy.
#[test]
fn rows_that_collide() {
    let sanitizers = execution::equivalence::has_sanitizers();
    if !sanitizers {
        println!("SKIPPED: the C compiler has no sanitizers; programs are built without");
    }
    let mut options = vec!["-DTW_COPY_STEPS=0", "-DTW_COPY_POINTS=0"];
    if sanitizers {
        options.extend(CHECKED);
    }
    for (name, sizes, apart) in [
        ("heat2d", "161, 277", "29, 1024"),
        ("wave2d", "161, 277", "29, 1024"),
        ("fdtd2d", "161, 277", "29, 1024"),
        ("varcoef2d", "161, 277", "29, 1024"),
        ("heat3d", "61, 47, 53", "19, 32, 32"),
    ] {
        // Coefficients are copied as fields are.
        if name == "varcoef2d" && !everything() {
            continue;
        }
        let program = shipped(name);
        let plan = planned(&program, "hhc", &hexagonal_tile(&program, 2, 1, &[9, 8])).plan;
        for steps in if name == "heat2d" { &[1, 3, 23][..] } else { &[23] } {
            let steps = format!("steps = {steps};");
            let changed = [("make_grid(".to_owned() + sizes, "make_grid(".to_owned() + apart)];
            let changed = [&changed[0], &("steps = 23;".to_owned(), steps)];
            let output = standalone_with(&plan, &options, None, &changed);
            let text = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && text.contains("check: 0 of"), "{name}: {text}{errors}");
        }
    }
}

/// The check does find a wrong result.
#[test]
fn mistakes_are_reported() {
    let program = shipped("heat2d");
    let tile = hexagonal_tile(&program, 2, 1, &[9]);
    let output = standalone(&program, &tile, Some(("[x - stride0]", "[x]")));
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// A stencil that is called like a header of the C library would hide it, and is refused.
#[test]
fn stencils_named_like_headers() {
    let text = polyhedral::shipped::source("gradient2d").unwrap();
    for name in ["math", "string", "time"] {
        let error = polyhedral::parse(name, &text.replace("gradient2d", name)).unwrap_err().to_string();
        assert!(error.contains("is reserved"), "{error}");
    }
}
