//! What commands say of C programs: differences, refusals, models and conversions.

use super::program;
use crate::support::{Folder, tilewright};

#[test]
fn differences_have_a_place() {
    let folder = Folder::new();
    // What the time of day is, no two runs agree on.
    let text = "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\nstatic float u[2][20];\nint main(int n, char **words)\n{\n    \
         FILE *input = fopen(\"in.txt\", \"r\");\n    int first = 0;\n    if (!input || fscanf(input, \"%d\", &first) != 1) return 9;\n    \
         for (int i = 0; i < 20; i++) u[0][i] = u[1][i] = first + i;\n#pragma scop\n    for (int t = 0; t < 5; t++)\n        for (int i = 1; i < 19; i++)\n            \
         u[(t + 1) % 2][i] = 0.5f * (u[t % 2][i - 1] + u[t % 2][i + 1]);\n#pragma endscop\n    struct timespec now;\n    clock_gettime(CLOCK_MONOTONIC, &now);\n    \
         printf(\"%a\\ntime %ld\\n\", u[1][3], now.tv_nsec);\n    FILE *file = fopen(words[1], \"w\");\n    fprintf(file, \"%a\\n\", u[1][4]);\n    \
         return n == 2 ? atoi(\"3\") : 1;\n}\n";
    let file = folder.write("clock.c", text);
    let input = folder.write("in.txt", "4\n");
    let check = |more: &[&str]| {
        tilewright(&[&["check", &file, "--quick", "--json", "--file", &input], more].concat())
    };
    let different = check(&["--", "out.txt"]);
    let report = different.json();
    assert_eq!(
        (different.code, &report["equal"], &report["stdout_equal"]),
        (1, &false.into(), &false.into())
    );
    assert_eq!(
        (&report["first_difference"]["place"], &report["first_difference"]["line"]),
        (&"stdout".into(), &2.into())
    );
    let equal = check(&["--ignore", "time ", "--", "out.txt"]).succeeded().json();
    assert_eq!((&equal["exit_code"]["original"], &equal["exit_code"]["rewritten"]), (&3.into(), &3.into()));
    assert_eq!((&equal["files"]["out.txt"], &equal["files"]["in.txt"]), (&true.into(), &true.into()));
    let endless = folder.write(
        "endless.c",
        format!("{}\n", text.replace("struct timespec now;", "struct timespec now; for (;;) ;")),
    );
    let output =
        tilewright(&["check", &endless, "--quick", "--file", &input, "--timeout", "1", "--", "out.txt"]);
    assert!(output.code == 2 && output.stderr.contains("limit of time"), "{}", output.stderr);
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
    let file = folder.write("gs.c", "double a[9];\nvoid f(void)\n{\n#pragma scop\n    for (int t = 0; t < 9; t++)\n        for (int i = 7; i > 0; i--)\n            a[i] = a[i + 1] + a[i - 1];\n#pragma endscop\n}\n");
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
    assert!(
        other.code == 2 && other.stderr.contains("-D, -I, --function and --no-own-openmp are for C files"),
        "{}",
        other.stderr
    );
}
