//! C programs: rewritten, built and run, they print what they printed before.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Folder, tilewright};

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../c-frontend/tests/programs").join(name)
}

fn run(mut command: Command) -> String {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn gcc(arguments: &[&str]) {
    let mut command = Command::new("cc");
    command.args(["-O2", "-w", "-ffp-contract=off"]).args(arguments).arg("-lm");
    run(command);
}

/// What the original prints.
fn original(folder: &Folder, file: &str, flags: &[&str]) -> String {
    let out = folder.arg("original");
    let mut arguments = vec![file, "-o", out.as_str()];
    arguments.extend(flags);
    gcc(&arguments);
    run(Command::new(&out))
}

/// Rewrites, builds with the Makefile that comes with it, and compares.
fn same(name: &str, flags: &[&str], tiling: &[&str]) {
    let folder = Folder::new();
    let file = program(name).display().to_string();
    let out = folder.arg("out");
    let mut arguments = vec!["compile", file.as_str(), "--target", "openmp", "-o", out.as_str(), "--json"];
    arguments.extend(flags);
    arguments.extend(tiling);
    let report = tilewright(&arguments).succeeded().json();
    assert!(
        report["files"].as_array().unwrap().iter().any(|file| file.as_str().unwrap().ends_with("/Makefile"))
    );
    let mut make = Command::new("make");
    make.args(["-s", "-C", &out, "TW_CFLAGS=-O1 -fopenmp -ffp-contract=off"]);
    run(make);
    let mut tiled = Command::new(Path::new(&out).join(name.trim_end_matches(".c")));
    tiled.env("OMP_NUM_THREADS", "2");
    let output = tiled.output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tiled = String::from_utf8(output.stdout).unwrap();
    assert!(!tiled.is_empty());
    let original = original(&folder, &file, flags);
    let different = tiled.lines().zip(original.lines()).filter(|(a, b)| a != b).count();
    assert!(tiled == original, "{name} {flags:?}: {different} lines differ");
}

const SMALL_1D: [&str; 2] = ["--tile", "st=6,s0=6"];
const SMALL_2D: [&str; 2] = ["--tile", "st=12,s0=8,s1=16"];

#[test]
fn two_buffers() {
    same("double_buffer.c", &[], &["--tile", "st=4,s0=6,s1=16"]);
    same("double_buffer.c", &["-DREAL=double"], &["--strategy", "naive"]);
}

#[test]
fn conversions_of_c() {
    same("promotion.c", &[], &SMALL_1D);
}

#[test]
fn staggered_fields() {
    same("staggered.c", &[], &SMALL_2D);
    same("staggered.c", &["-DREAL=float"], &[]);
}

#[test]
fn back_and_forth() {
    same("back_and_forth.c", &[], &[]);
}

#[test]
fn flattened_arrays() {
    same("flattened.c", &[], &[]);
}

#[test]
fn values_of_indices() {
    same("option_price.c", &[], &SMALL_1D);
}

#[test]
fn three_buffers() {
    same("wave_three_buffers.c", &[], &SMALL_1D);
}

#[test]
fn conditions() {
    same("guarded.c", &[], &[]);
}

#[test]
fn boundaries_and_rows_of_pointers() {
    same("rows_of_pointers.c", &[], &[]);
}

#[test]
fn headers_and_sources_come_along() {
    let folder = Folder::new();
    let main = folder.write(
        "my-prog.c",
        "#include \"my-prog.h\"\n#include <helper.h>\n#include <stdio.h>\n\nstatic REAL u[2][N];\n\nint main(void)\n{\n    \
         fill(u[0], N);\n#pragma scop\n    for (int t = 0; t < STEPS; t++)\n        for (int i = 1; i < N - 1; i++)\n            \
         u[(t + 1) % 2][i] = SCALE(0.5) * (u[t % 2][i - 1] + u[t % 2][i + 1]);\n#pragma endscop\n    \
         for (int i = 0; i < N; i++) printf(\"%a %d\\n\", (double)u[1][i], __LINE__);\n    return 0;\n}\n",
    );
    folder.write("my-prog.h", "#define REAL float\n#define SCALE(x) x##f\n#ifndef N\n#define N 10\n#endif\n");
    std::fs::create_dir(folder.arg("lib")).unwrap();
    folder.write("lib/helper.h", "void fill(float *values, int count);\n");
    folder.write("lib/helper.c", "#include <helper.h>\nvoid fill(float *values, int count)\n{\n    for (int i = 0; i < count; i++) values[i] = i % 5;\n}\n");
    let (lib, out, helper) =
        (format!("-I{}", folder.arg("lib")), folder.arg("out"), folder.arg("lib/helper.c"));
    let flags = [lib.as_str(), "-DSTEPS=9", "-DN=40"];
    let mut arguments = vec!["compile", &main, "--target", "openmp", "-o", &out, "--tile", "st=4,s0=4"];
    arguments.extend(flags);
    tilewright(&arguments).succeeded();
    let mut make = Command::new("make");
    make.args(["-s", "-C", &out, "TW_CFLAGS=-O1 -fopenmp -ffp-contract=off"]);
    run(make);
    let tiled = run(Command::new(Path::new(&out).join("my-prog")));
    let mut all = vec![helper.as_str()];
    all.extend(flags);
    assert_eq!(tiled, original(&folder, &main, &all));
}

#[test]
fn the_emulator_agrees_with_the_interpreter() {
    for (name, size) in [("staggered.c", "11x21"), ("wave_three_buffers.c", "40")] {
        let file = program(name).display().to_string();
        let report = tilewright(&[
            "run",
            &file,
            "--size",
            size,
            "--steps",
            "5",
            "--backend",
            "emulator",
            "--verify",
            "--json",
        ]);
        assert_eq!(report.succeeded().json()["verified"], true);
    }
}

#[test]
fn cuda_host_code_compiles_against_the_runtime_api() {
    let folder = Folder::new();
    let (file, out) = (program("staggered.c").display().to_string(), folder.arg("out"));
    tilewright(&["compile", &file, "--target", "cuda", "-o", &out]).succeeded();
    // As much of the API as the host code uses.
    folder.write(
        "cuda_runtime_api.h",
        "#pragma once\n#include <stddef.h>\nenum cudaError_t { cudaSuccess, cudaErrorInvalidValue };\n\
         enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };\ntypedef struct CUstream_st *cudaStream_t;\n\
         cudaError_t cudaMalloc(void **, size_t);\ncudaError_t cudaFree(void *);\n\
         cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);\ncudaError_t cudaDeviceSynchronize(void);\n\
         const char *cudaGetErrorString(cudaError_t);\n",
    );
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-x", "c++"]);
    command.arg(format!("-I{}", folder.arg("."))).arg(Path::new(&out).join("staggered_scop_glue.cu"));
    run(command);
    let mut command = Command::new("cc");
    command
        .args(["-fsyntax-only", "-Wall", "-Werror", "-Wno-unknown-pragmas"])
        .arg(Path::new(&out).join("staggered.c"));
    run(command);
    let makefile = std::fs::read_to_string(Path::new(&out).join("Makefile")).unwrap();
    assert!(makefile.contains("$(NVCC)") && makefile.contains("--fmad=false"));
}

#[test]
fn converted_programs_are_read_again() {
    let folder = Folder::new();
    let (file, text) = (program("flattened.c").display().to_string(), folder.arg("flat.stencil"));
    tilewright(&["convert", &file, "-o", &text]).succeeded();
    let printed = tilewright(&["convert", &file]).succeeded().stdout;
    assert_eq!(printed, std::fs::read_to_string(&text).unwrap());
    tilewright(&["run", &text, "--size", "12x13", "--steps", "3", "--verify"]).succeeded();
}

#[test]
fn refusals_name_the_place() {
    let folder = Folder::new();
    let file = folder.write("gs.c", "double a[9];\nvoid f(void)\n{\n#pragma scop\n    for (int t = 0; t < 9; t++)\n        for (int i = 1; i < 8; i++)\n            a[i] = a[i - 1] + a[i + 1];\n#pragma endscop\n}\n");
    let output = tilewright(&["compile", &file, "--target", "cuda", "-o", &folder.arg("out"), "--json"]);
    assert_eq!(output.code, 2);
    let error = &output.json()["error"]["diagnostics"][0];
    assert_eq!(
        (error["code"].as_str(), error["line"].as_u64(), error["column"].as_u64()),
        (Some("TW1401"), Some(7), Some(20))
    );
    assert!(output.stderr.contains("distance (0, 1) over (t, i)"), "{}", output.stderr);
}
