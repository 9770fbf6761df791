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
fn rounds_of_several_steps() {
    for name in ["steps_of_two.c", "open_ends.c"] {
        same(name, &[], &[]);
    }
    same("steps_of_two.c", &["-DSTEPS=1"], &["--strategy", "naive"]);
}

#[test]
fn stars_that_reach_far() {
    same("far_reaching.c", &[], &[]);
    same("far_reaching.c", &["-DREAL=double", "-DRADIUS=2"], &[]);
}

#[test]
fn pointers_that_take_turns() {
    same("swapped_pointers.c", &[], &[]);
    same("swapped_pointers.c", &["-DSTEPS=1"], &SMALL_2D);
}

#[test]
fn numbers_of_buffers() {
    same("counted_buffers.c", &[], &SMALL_2D);
    // One step only, which leaves one of the three levels alone.
    same("counted_buffers.c", &["-DFIRST=0", "-DSTEPS=3"], &["--strategy", "naive"]);
}

#[test]
fn names_of_other_languages() {
    same("words.c", &[], &SMALL_1D);
}

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
fn guards_become_pieces() {
    same("edges_of_rows.c", &[], &["--strategy", "naive"]);
    same("edges_of_a_line.c", &[], &["--strategy", "naive"]);
    same("edges_of_a_line.c", &[], &[]);
    let folder = Folder::new();
    let program = folder.arg("rows.stencil");
    let file = self::program("edges_of_rows.c").display().to_string();
    tilewright(&["convert", &file, "-o", &program]).succeeded();
    let text = std::fs::read_to_string(&program).unwrap();
    // Two arrays, no coefficient; the corners and the edges are statements.
    assert_eq!(text.matches("field ").count(), 2, "{text}");
    assert!(!text.contains("coefficient") && text.contains("for i == 0, j == 0;"), "{text}");
}

/// A program in a folder of its own, rewritten and built with these flags and sanitizers where there are any.
fn sanitized(folder: &Folder, name: &str, flags: &[&str]) -> PathBuf {
    let (file, out) = (program(name).display().to_string(), folder.arg("out"));
    let mut arguments =
        vec!["compile", file.as_str(), "--target", "openmp", "-o", &out, "--strategy", "naive"];
    arguments.extend(flags);
    tilewright(&arguments).succeeded();
    let program = Path::new(&out).join("program");
    let stem = name.trim_end_matches(".c");
    let sources: Vec<String> =
        ["", "_scop", "_scop_glue"].iter().map(|part| format!("{out}/{stem}{part}.c")).collect();
    let built = |sanitizers: &[&str]| {
        let mut command = Command::new("cc");
        command.args(["-O1", "-w", "-fopenmp", "-ffp-contract=off"]).args(flags).args(sanitizers);
        command.args(&sources).arg("-o").arg(&program).arg("-lm").output().unwrap().status.success()
    };
    if !built(&["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]) {
        println!("SKIPPED: there are no sanitizers, with which memory would be checked");
        assert!(built(&[]), "{name} cannot be built");
    }
    program
}

fn report(program: &Path) -> (String, String) {
    let mut command = Command::new(program);
    command.env("TILEWRIGHT_REPORT", "1").env("ASAN_OPTIONS", "detect_leaks=0").env("OMP_NUM_THREADS", "2");
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    let line = stderr.lines().find(|line| line.starts_with("tilewright: ")).unwrap_or_default().to_owned();
    (String::from_utf8(output.stdout).unwrap(), line)
}

#[test]
fn guards_touch_nothing_outside() {
    let file = program("edges_of_rows.c").display().to_string();
    // Pieces meet, and vanish, on small grids.
    for (size, wanted) in [
        ("-DN=26", "tilewright: edges_of_rows_scop: tiled 1, original 0"),
        ("-DN=1", "tilewright: edges_of_rows_scop: tiled 1, original 0"),
    ] {
        let folder = Folder::new();
        let (found, line) = report(&sanitized(&folder, "edges_of_rows.c", &[size]));
        assert_eq!(line, wanted);
        assert!(found == original(&folder, &file, &[size]), "{size}");
    }
}

#[test]
fn aliases_run_as_they_were_written() {
    let folder = Folder::new();
    let program = sanitized(&folder, "aliases.c", &[]);
    let (found, line) = report(&program);
    assert_eq!(line, "tilewright: aliases_scop: tiled 2, original 4: arrays overlap");
    let file = self::program("aliases.c").display().to_string();
    assert!(found == original(&folder, &file, &[]));
    // Without the report, one line says so once.
    let output = Command::new(&program).env("ASAN_OPTIONS", "detect_leaks=0").output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "aliases_scop: arrays overlap; the loops run as they were written\n"
    );
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
fn headers_above_the_program_come_along() {
    let folder = Folder::new();
    for name in ["lib", "apps", "apps/one"] {
        std::fs::create_dir(folder.arg(name)).unwrap();
    }
    folder.write("lib/sizes.h", "#include \"more.h\"\n#define STEPS 7\n");
    folder.write("lib/more.h", "#define N 33\n");
    folder.write("apps/shared.h", "#define HALF 0.5f\n");
    let main = folder.write(
        "apps/one/prog.c",
        "#include \"../../lib/sizes.h\"\n#include \"../shared.h\"\n#include <stdio.h>\nstatic float u[2][N];\n\
         int main(void)\n{\n    for (int i = 0; i < N; i++) u[0][i] = u[1][i] = (float)(i % 4);\n#pragma scop\n    \
         for (int t = 0; t < STEPS; t++)\n        for (int i = 1; i < N - 1; i++)\n            \
         u[(t + 1) % 2][i] = HALF * (u[t % 2][i - 1] + u[t % 2][i + 1]);\n#pragma endscop\n    \
         for (int i = 0; i < N; i++) printf(\"%a %a\\n\", (double)u[0][i], (double)u[1][i]);\n    return 0;\n}\n",
    );
    // Elsewhere, so that `..` does not happen to be the right folder.
    let other = Folder::new();
    let out = other.arg("a/b");
    tilewright(&["compile", &main, "--target", "openmp", "-o", &out]).succeeded();
    for file in ["Makefile", "CMakeLists.txt"] {
        let text = std::fs::read_to_string(Path::new(&out).join(file)).unwrap();
        assert!(text.contains("outer/apps/one") && !text.contains(&folder.arg("")), "{text}");
    }
    let mut make = Command::new("make");
    make.args(["-s", "-C", &out, "TW_CFLAGS=-O1 -fopenmp -ffp-contract=off"]);
    run(make);
    assert_eq!(run(Command::new(Path::new(&out).join("prog"))), original(&folder, &main, &[]));
}

/// The folder is also built as CMake users build it, where CMake is there.
#[test]
fn cmake_builds_what_is_written() {
    let found = Command::new("cmake").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("SKIPPED: there is no cmake, with which the written CMakeLists.txt would be built");
        return;
    }
    let folder = Folder::new();
    let (file, out, build) =
        (program("flattened.c").display().to_string(), folder.arg("out"), folder.arg("build"));
    tilewright(&["compile", &file, "--target", "openmp", "-o", &out]).succeeded();
    let mut configure = Command::new("cmake");
    configure.args(["-S", &out, "-B", &build]);
    run(configure);
    let mut make = Command::new("cmake");
    make.args(["--build", &build]);
    run(make);
    assert_eq!(run(Command::new(Path::new(&build).join("flattened"))), original(&folder, &file, &[]));
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

/// Rewrites for CUDA and builds with the Makefile that comes with it, on a stand-in for the CUDA runtime: kernels run
/// on the emulator. The program, not yet started.
fn on_the_emulator(folder: &Folder, name: &str, flags: &[&str]) -> PathBuf {
    let (file, out) = (program(name).display().to_string(), folder.arg("cuda"));
    let mut arguments = vec!["compile", file.as_str(), "--target", "cuda", "-o", out.as_str()];
    arguments.extend(flags);
    tilewright(&arguments).succeeded();
    let nvcc = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/cuda/nvcc.sh");
    let mut make = Command::new("make");
    make.args([
        "-s",
        "-C",
        &out,
        &format!("NVCC=sh {}", nvcc.display()),
        "CFLAGS=-O1 -Wall -Werror -Wno-unknown-pragmas",
    ]);
    run(make);
    Path::new(&out).join(name.trim_end_matches(".c"))
}

#[test]
fn cuda_programs_run_as_a_whole() {
    let programs: [(&str, &[&str]); 4] = [
        ("staggered.c", &["--tile", "st=4,s0=4,s1=8"]),
        ("wave_three_buffers.c", &[]),
        ("steps_of_two.c", &[]),
        ("far_reaching.c", &["-DREAL=double"]),
    ];
    for (name, flags) in programs {
        let folder = Folder::new();
        let mut program = Command::new(on_the_emulator(&folder, name, flags));
        let output = program.env("TW_CUDA_COUNTS", "1").output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        // Kernels ran, no access of theirs was wrong, and all memory was freed.
        let launches = stderr.strip_prefix("stub: ").and_then(|rest| rest.strip_suffix(" launches\n"));
        assert!(
            launches.is_some_and(|count| count.parse::<u32>().is_ok_and(|count| count > 0)),
            "{name}: {stderr}"
        );
        assert!(output.status.success(), "{name}");
        let defines: Vec<&str> = flags.iter().copied().filter(|flag| flag.starts_with("-D")).collect();
        let file = self::program(name).display().to_string();
        assert!(
            String::from_utf8_lossy(&output.stdout) == original(&folder, &file, &defines),
            "{name} {flags:?}"
        );
    }
}

#[test]
fn errors_of_the_gpu_are_reported() {
    let folder = Folder::new();
    let program = on_the_emulator(&folder, "double_buffer.c", &[]);
    let file = self::program("double_buffer.c").display().to_string();
    let wanted = original(&folder, &file, &[]);
    let output = Command::new(&program)
        .env("TW_CUDA_FAILS", "launch:1")
        .env("TILEWRIGHT_REPORT", "1")
        .output()
        .unwrap();
    let line = "tilewright: double_buffer_scop: tiled 2, original 4: nothing to compute (3), \
                unspecified launch failure (1)\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), line);
    for (call, message) in [
        ("malloc:1", "out of memory"),
        ("upload:1", "invalid argument"),
        ("launch:1", "unspecified launch failure"),
        ("launch:2", "unspecified launch failure"),
        ("synchronize:1", "unspecified launch failure"),
        ("download:1", "invalid argument"),
    ] {
        let output = Command::new(&program).env("TW_CUDA_FAILS", call).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let said = format!("double_buffer_scop: {message}; the loops run as they were written\n");
        assert!(stderr == said, "{call}: {stderr}");
        assert!(output.status.success() && String::from_utf8_lossy(&output.stdout) == wanted, "{call}");
    }
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

#[test]
fn models_and_runs_take_c_files_with_macros_and_folders() {
    let folder = Folder::new();
    std::fs::create_dir(folder.arg("lib")).unwrap();
    folder.write("lib/reach.h", "#define AT(k) u[t % 2][i + (k)]\n");
    let file = folder.write(
        "line.c",
        "#include <reach.h>\nREAL u[2][N];\nvoid f(void)\n{\n#pragma scop\n    for (int t = 0; t < STEPS; t++)\n        \
         for (int i = REACH; i < N - REACH; i++)\n            u[(t + 1) % 2][i] = (REAL)0.5 * (AT(-REACH) + AT(REACH));\n\
         #pragma endscop\n}\n",
    );
    let lib = format!("-I{}", folder.arg("lib"));
    let c = [file.as_str(), lib.as_str(), "-DREAL=double", "-DN=5000", "-D", "STEPS=10", "-DREACH=3"];
    let json = |first: &[&str], rest: &[&str]| {
        let arguments: Vec<&str> = [first, &c, rest, &["--json"]].concat();
        tilewright(&arguments).succeeded().json()
    };
    let problem = ["--size", "5000", "--steps", "10"];
    let analysis = json(&["analyze"], &[]);
    // The macro REACH is in the footprint, and the macro REAL in the bytes.
    let reach = |one: &serde_json::Value| one["offset"][0].as_i64().unwrap_or(0);
    assert_eq!(analysis["dependences"].as_array().unwrap().iter().map(reach).max(), Some(3));
    assert_eq!(analysis["bytes"], 16);
    assert_eq!(json(&["run"], &[&problem[..], &["--verify"]].concat())["verified"], true);
    let machine = ["--machine", "gtx980"];
    let tuned = json(&["tune"], &[&problem[..], &machine].concat());
    let tile = tuned["tile_text"].as_str().unwrap();
    let predicted = json(&["predict"], &[&problem[..], &machine, &["--tile", tile]].concat());
    assert_eq!(predicted["seconds"], tuned["seconds"]);
    let without =
        tilewright(&["tune", &file, &lib, "--size", "5000", "--steps", "10", "--machine", "gtx980"]);
    assert!(without.code == 2 && without.stderr.contains("line.c:2:"), "{}", without.stderr);
    let other =
        tilewright(&["tune", "heat1d", "-DN=3", "--size", "5000", "--steps", "10", "--machine", "gtx980"]);
    assert!(other.code == 2 && other.stderr.contains("-D and -I are for C files"), "{}", other.stderr);
}
