//! OpenMP pragmas of the program's own: its files are compiled with them, where that goes with tiles.

use super::run;
use crate::support::{Folder, tilewright};
use std::path::Path;
use std::process::Command;

/// Loops with pragmas beside and within the time loop, and a team that is counted.
const KEPT: &str = r#"#include <stdio.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#define N 60
static double a[N][N], b[N][N];

static void fill(void)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = b[i][j] = (i * 7 + j * 3) % 11;
}

int main(void)
{
    int team = 0, i, j;
    double sum = 0;
#pragma omp parallel reduction(+ : team)
    team++;
    fill();
    for (int t = 0; t < 40; t++) {
#pragma omp parallel for private(j)
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < N - 1; j++) b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
#pragma omp parallel
        {
#pragma omp for private(j)
            for (i = 1; i < N - 1; i++)
                for (j = 1; j < N - 1; j++) a[i][j] = b[i][j];
        }
    }
#pragma omp parallel for collapse(2) reduction(max : sum)
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++) sum = a[i][j] > sum ? a[i][j] : sum;
#ifdef _OPENMP
    printf("a team of %d\n", team);
#else
    printf("alone\n");
#endif
    printf("%a %a\n", sum, a[N / 2][N / 3]);
    return 0;
}
"#;

/// A time loop in a function that a team of the program's calls, each thread for some arrays.
const TEAM: &str = r#"#include <stdio.h>
#define N 300
static double field[4][2][N];

static void steps(double (*u)[N])
{
    for (int t = 0; t < 20; t++)
        for (int i = 1; i < N - 1; i++) u[(t + 1) % 2][i] = 0.5 * (u[t % 2][i - 1] + u[t % 2][i + 1]);
}

int main(void)
{
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < N; i++) field[k][0][i] = field[k][1][i] = (i * (k + 3)) % 7;
#pragma omp parallel for num_threads(2)
    for (int k = 0; k < 4; k++) steps(field[k]);
    for (int k = 0; k < 4; k++) printf("%a\n", field[k][0][N / 2]);
    return 0;
}
"#;

/// Compiles a program; the note about its pragmas.
fn note(folder: &Folder, text: &str, more: &[&str]) -> String {
    let (file, out) = (folder.write("prog.c", text), folder.arg("out"));
    let mut arguments = vec!["compile", &file, "--target", "openmp", "--force", "--json", "-o", &out];
    arguments.extend(more);
    let report = tilewright(&arguments).json();
    let notes = report["notes"].as_array().unwrap().iter().filter_map(|note| note.as_str());
    notes.filter(|note| note.contains("OpenMP")).collect()
}

fn checked(folder: &Folder) -> serde_json::Value {
    let file = folder.arg("prog.c");
    tilewright(&["check", &file, "--quick", "--threads", "2", "--json"]).json()
}

#[test]
fn pragmas_are_kept() {
    let folder = Folder::new();
    assert!(note(&folder, KEPT, &[]).contains("compiled with -fopenmp"));
    let report = checked(&folder);
    assert!(report["equal"] == true && report["tiled"] == true, "{report:#}");
    let printed = || {
        let mut make = Command::new("make");
        make.args(["-s", "-B", "-C", &folder.arg("out"), "CFLAGS=-O1", "TW_CFLAGS=-O1 -fopenmp"]);
        run(make);
        let mut command = Command::new(Path::new(&folder.arg("out")).join("prog"));
        command.env("OMP_NUM_THREADS", "2");
        run(command)
    };
    assert!(printed().starts_with("a team of 2\n"));
    assert_eq!(note(&folder, KEPT, &["--no-own-openmp"]), "");
    assert!(printed().starts_with("alone\n"));
    // What the tiled loops need is no business of the program's own files.
    let cmake = std::fs::read_to_string(Path::new(&folder.arg("out")).join("CMakeLists.txt")).unwrap();
    assert!(cmake.contains("PRIVATE OpenMP::OpenMP_C") && !cmake.contains("PUBLIC"), "{cmake}");
}

#[test]
fn threads_of_the_program_run_the_loop_as_written() {
    let folder = Folder::new();
    assert!(note(&folder, TEAM, &[]).contains("compiled with -fopenmp"));
    let report = checked(&folder);
    assert_eq!(report["equal"], true, "{report:#}");
    assert_eq!(report["regions"][0]["reason"], "several threads of the program run the loop", "{report:#}");
}

#[test]
fn pragmas_that_do_not_go_with_tiles_do_nothing() {
    let folder = Folder::new();
    let sweep = "#pragma omp parallel for private(j)\n        for (i = 1; i < N - 1; i++)\n            for (j = 1; j < N - 1; j++) b";
    assert!(KEPT.contains(sweep));
    let replaced = |from: &str, to: &str| {
        assert!(KEPT.contains(from), "{from}");
        KEPT.replace(from, to)
    };
    let cases = [
        // A team around the time loop: each of its threads would run the tiles.
        (
            replaced("    for (int t", "#pragma omp parallel private(i, j)\n    for (int t"),
            "is around a loop",
        ),
        (
            replaced("fill();\n    for", "fill();\n#pragma omp target data map(tofrom: a, b)\n    for"),
            "is for devices",
        ),
        (
            replaced(
                "parallel\n        {\n#pragma omp for private(j)",
                "parallel private(i, j)\n        {\n",
            ),
            "each thread does the same",
        ),
        (
            replaced("    fill();\n", "    fill();\n    _Pragma(\"omp parallel\") team += 0;\n"),
            "`_Pragma` makes some",
        ),
        (
            replaced("%a %a\\n\", sum", "%d %a %a\\n\", j, sum")
                .replace("collapse(2) ", "private(j) ")
                .replace(
                    "for (i = 0; i < N; i++)\n        for (j = 0; j < N; j++) sum",
                    "for (i = 0; i < N; i++)\n        for (int j = 0; j < N; j++) sum",
                ),
            "leaves `j` as it was",
        ),
        // All threads share the index of the inner loop. OpenMP's library is there without its pragmas, too.
        (
            replaced("parallel for private(j)", "parallel for")
                .replace("#ifdef _OPENMP\n#include <omp.h>\n#endif", "#include <omp.h>")
                .replace("    fill();\n", "    fill();\n    if (omp_get_wtime() < 0) return 1;\n"),
            "all threads assign `j`, which they share",
        ),
    ];
    for (text, reason) in cases {
        let said = note(&folder, &text, &[]);
        assert!(said.contains("do nothing") && said.contains(reason), "{reason}: {said}");
        let report = checked(&folder);
        assert!(report["equal"] == true && report["tiled"] == true, "{reason}: {report:#}");
    }
}
