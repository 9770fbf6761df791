//! Generated code as C callers use it: several versions in one program, wrong arguments, threads, CMake packages.

mod adaptive;

use crate::support::{Folder, tilewright};
use std::path::Path;
use std::process::Command;

const STRICT: [&str; 6] = ["-O0", "-g", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"];

/// Runs a program to its end; its output, also where it failed.
fn output(program: &str, arguments: &[&str], folder: &Path) -> (bool, String) {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("OMP_NUM_THREADS", "3")
        // Memory of the OpenMP library that lives as long as the process is no leak of ours.
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout) + &text(&output.stderr))
}

#[track_caller]
fn succeeded(program: &str, arguments: &[&str], folder: &Path) -> String {
    let (success, text) = output(program, arguments, folder);
    assert!(success, "{program} {arguments:?}\n{text}");
    text
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// `-fsanitize=..` where programs with it can be built and run.
fn sanitizers(folder: &Folder) -> Option<&'static str> {
    let flag = "-fsanitize=address,undefined";
    folder.write("probe.c", "int main(void) { return 0; }\n");
    let built = output("cc", &[flag, "-fopenmp", "probe.c", "-o", "probe"], &folder.path(".")).0;
    let works = built && output("./probe", &[], &folder.path(".")).0;
    if !works {
        println!("SKIPPED: the C compiler has no sanitizers; the calls are checked without");
    }
    works.then_some(flag)
}

/// Names that an object file shows to the linker.
fn symbols(object: &str, folder: &Path) -> Vec<String> {
    let text = succeeded("nm", &["-g", "--defined-only", object], folder);
    text.lines().filter_map(|line| Some(line.split_whitespace().nth(2)?.to_owned())).collect()
}

#[test]
fn two_versions_in_one_program_and_wrong_calls() {
    let folder = Folder::new();
    let here = folder.path(".");
    let out = folder.arg(".");
    let mut arguments: Vec<&str> = STRICT.to_vec();
    // Also in one folder: the files that have no name of their own belong to the last one.
    for dtype in ["f32", "f64"] {
        let compile =
            ["compile", "heat2d", "--target", "openmp", "--dtype", dtype, "--prefix", dtype, "-o", &out];
        let report =
            tilewright(&[&compile[..], &["--tile", "st=3,s0=4,s1=9", "--json"]].concat()).succeeded().json();
        assert_eq!((&report["stencil"], &report["prefix"]), (&"heat2d".into(), &dtype.into()));
        let points = report["entry_points"].as_array().unwrap();
        assert_eq!(points[0]["symbol"], format!("{dtype}_heat2d_run"));
        assert_eq!(points[0]["header"], format!("{dtype}_heat2d.h"));
        let (source, object) = (format!("{dtype}_heat2d.c"), format!("{dtype}_heat2d.o"));
        succeeded(
            "cc",
            &[&STRICT[..], &["-std=c99", "-pedantic", "-fopenmp", "-c", &source]].concat(),
            &here,
        );
        if has("nm") {
            let names = symbols(&object, &here);
            assert_eq!(names.len(), points.len(), "{names:?}");
            for point in points {
                assert!(names.iter().any(|name| point["symbol"] == name.as_str()), "{point} in {names:?}");
            }
        } else {
            println!("SKIPPED: there is no nm, which would list the names of the objects");
        }
    }
    folder.write("callers.c", include_str!("callers.c"));
    arguments.extend(sanitizers(&folder));
    arguments.extend([
        "-fopenmp",
        "-pthread",
        // Grids whose rows collide in copies, however small they are.
        "-DTW_COPY_STEPS=0",
        "-DTW_COPY_POINTS=0",
        "callers.c",
        "f32_heat2d.c",
        "f64_heat2d.c",
        "-o",
        "callers",
        "-lm",
    ]);
    succeeded("cc", &arguments, &here);
    succeeded("./callers", &[], &here);
}

/// The same for a C program whose loop is replaced.
#[test]
fn a_rewritten_program_with_a_prefix() {
    let folder = Folder::new();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c-frontend/tests/programs/flattened.c");
    let (file, out) = (program.display().to_string(), folder.arg("out"));
    let report =
        tilewright(&["compile", &file, "--target", "openmp", "--prefix", "mine", "-o", &out, "--json"])
            .succeeded()
            .json();
    let here = folder.path("out");
    for object in ["mine_flattened_scop", "mine_flattened_scop_glue"] {
        succeeded("cc", &["-O0", "-fopenmp", "-c", &format!("{object}.c")], &here);
        if has("nm") {
            let names = symbols(&format!("{object}.o"), &here);
            // The lock of a critical section of OpenMP has a name of its own kind, and what all tiled loops of a process know of its
            // threads, weak names, one for all prefixes.
            let own = |name: &String| {
                name.trim_start_matches(".gomp_critical_user_").starts_with("mine_")
                    || name.starts_with("tw_threads_")
            };
            assert!(names.len() >= 3 && names.iter().all(own), "{names:?}");
        }
    }
    assert_eq!(report["entry_points"].as_array().unwrap().len(), 8);
    succeeded("make", &["-s", "TW_CFLAGS=-O1 -fopenmp -ffp-contract=off"], &here);
    succeeded("cc", &["-O2", "-w", "-ffp-contract=off", &file, "-o", "original", "-lm"], &here);
    assert_eq!(succeeded("./flattened", &[], &here), succeeded("./original", &[], &here));
}

#[test]
fn names_that_are_no_prefixes() {
    let folder = Folder::new();
    for prefix in ["int", "1a", "_a", "a__b", "a-b", "a;b", "", "tw"] {
        let output = tilewright(&[
            "compile",
            "heat2d",
            "--target",
            "openmp",
            "--prefix",
            prefix,
            "-o",
            &folder.arg("out"),
        ]);
        assert_eq!(output.code, 2, "{prefix}: {}", output.stderr);
    }
    assert!(!folder.path("out").exists());
}

/// Installed, found by another project, and as a folder of another project.
#[test]
fn cmake_packages() {
    if !has("cmake") {
        println!("SKIPPED: there is no cmake, with which the library would be installed");
        return;
    }
    let folder = Folder::new();
    let here = folder.path(".");
    for (name, dtype) in [("heat2d", "f32"), ("a_heat2d", "f64")] {
        let mut compile = vec!["compile", "heat2d", "--target", "openmp", "--dtype", dtype, "-o"];
        let out = folder.arg(name);
        compile.push(&out);
        compile.extend((name != "heat2d").then_some(["--prefix", "a"]).into_iter().flatten());
        tilewright(&compile).succeeded();
    }
    let cmake = |arguments: &[&str]| succeeded("cmake", arguments, &here);
    cmake(&["-S", "heat2d", "-B", "build", "-DHEAT2D_MARCH="]);
    cmake(&["--build", "build"]);
    assert!(folder.path("build/heat2d_main").exists());
    let flags = std::fs::read_to_string(folder.path("build/CMakeFiles/heat2d.dir/flags.make")).unwrap();
    assert!(!flags.contains("-march") && flags.contains("-ffp-contract=off"), "{flags}");
    cmake(&["--install", "build", "--prefix", &folder.arg("root")]);
    std::fs::create_dir(folder.path("user")).unwrap();
    folder.write(
        "user/user.c",
        "#include <heat2d.h>\n#include <a_heat2d.h>\nint main(void)\n{\n    return heat2d_run(0, 4, 4, 1, 0, 0) == 5 && \
         a_heat2d_run(0, 4, 4, 1, 0, 0) == 5 ? 0 : 1;\n}\n",
    );
    folder.write(
        "user/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.14)\nproject(user C)\nfind_package(heat2d REQUIRED)\n\
         add_subdirectory(../a_heat2d a)\nadd_executable(user user.c)\n\
         target_link_libraries(user heat2d::heat2d a_heat2d::a_heat2d)\n",
    );
    cmake(&["-S", "user", "-B", "of_user", &format!("-DCMAKE_PREFIX_PATH={}", folder.arg("root"))]);
    cmake(&["--build", "of_user"]);
    succeeded("of_user/user", &[], &here);
    assert!(!folder.path("of_user/a/a_heat2d_main").exists(), "the demo is for the project itself");
}
