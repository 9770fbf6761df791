//! C programs: rewritten, built and run, they print what they printed before.

use crate::support::{Folder, command, everything, finish, tilewright};
use std::path::{Path, PathBuf};
use std::process::Command;
use toolchain::compiler::{Compiler, Language};

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
    let mut command = Compiler::find(Language::C).unwrap().command();
    command.args(["-O0", "-w", "-ffp-contract=off"]).args(arguments).arg("-lm");
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

/// Rewrites, builds both, and compares all that they do; every third one optimised, as users have it.
fn same(name: &str, flags: &[&str], tiling: &[&str]) {
    let file = program(name).display().to_string();
    let mut arguments = vec!["check", file.as_str(), "--quick", "--threads", "2", "--json"];
    arguments.extend(flags);
    arguments.extend(tiling);
    let mut command = command(&arguments);
    if name.len().is_multiple_of(3) {
        command.env_remove("CC");
    }
    let report = finish(command).json();
    assert!(report["equal"] == true && report["tiled"] != false, "{name} {flags:?}: {report:#}");
    assert_eq!(
        (&report["exit_code"]["original"], &report["stderr"]["rewritten"]),
        (&report["exit_code"]["rewritten"], &"".into())
    );
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

/// Arrays in place and beside them others, that are copied, from even and odd steps on for even and odd numbers of steps.
#[test]
fn levels_that_lie_anywhere() {
    same("layouts.c", &[], &SMALL_2D);
    same("layouts.c", &["-DFIRST=2", "-DSTEPS=1"], &SMALL_2D);
    same("layouts.c", &["-DSTEPS=12"], &["--strategy", "naive"]);
    same("ahead_in_place.c", &[], &SMALL_2D);
    same("ahead_in_place.c", &["-DSTEPS=4"], &SMALL_2D);
    let folder = Folder::new();
    let uses = |name: &str, target: &str| {
        let file = program(name).display().to_string();
        let report =
            tilewright(&["compile", &file, "--target", target, "-o", &folder.arg(name), "--json"]).json();
        let list = report["arrays"].as_array().unwrap().clone();
        let name = |array: &serde_json::Value| array["name"].as_str().unwrap().to_owned();
        let (in_place, copied): (Vec<_>, Vec<_>) = list.iter().partition(|array| array["in_place"] == true);
        assert!(copied.iter().all(|array| array["reason"].is_string()), "{list:?}");
        (in_place.into_iter().map(name).collect::<Vec<_>>(), copied.into_iter().map(name).collect::<Vec<_>>())
    };
    assert_eq!(uses("layouts.c", "openmp").0, ["level", "cube", "weight"]);
    assert_eq!(uses("swapped_pointers.c", "openmp").1, [""; 0]);
    // As `run` compiles: with vectors of 512 bits where the processor has them.
    for file in ["Makefile", "CMakeLists.txt"] {
        let text = std::fs::read_to_string(folder.path("layouts.c").join(file)).unwrap();
        assert!(text.contains("__AVX512F__") && text.contains("-mprefer-vector-width=512"), "{text}");
    }
    assert_eq!(uses("rows_of_pointers.c", "openmp").0, [""; 0]);
}

/// Updates in place whose points follow each other: nobody names the strategy that can.
#[test]
fn sweeps_in_order() {
    let small = ["--tile", "st=4,s0=8,s1=13"];
    same("seidel_2d.c", &[], &small);
    same("seidel_2d.c", &["-DDATA=float", "-DN=61", "-DSTEPS=7"], &[]);
    same("over_relaxation.c", &[], &["--tile", "st=4,s0=3,s1=8,s2=7"]);
    same("gauss_seidel_lines.c", &[], &["--tile", "st=4,s0=23"]);
}

/// Updates in place in colours, by strategies that take points in any order.
#[test]
fn sweeps_in_colours() {
    same("red_black.c", &[], &[]);
    same("red_black.c", &["-DSTEPS=1"], &["--strategy", "naive"]);
    same("red_black.c", &["-DSTEPS=12"], &["--strategy", "time-skewing"]);
    same("colours.c", &[], &["--strategy", "naive"]);
    same("colours.c", &["-DSTEPS=4"], &[]);
}

#[test]
fn numbers_of_buffers() {
    same("counted_buffers.c", &[], &SMALL_2D);
    // One step only, which leaves one of the three levels alone.
    same("counted_buffers.c", &["-DFIRST=0", "-DSTEPS=3"], &["--strategy", "naive"]);
}

/// Blocks of steps between output, reductions and tests of each step, which end where the original ends.
#[test]
fn what_stands_between_steps() {
    same("output_every_so_often.c", &[], &SMALL_2D);
    same("output_every_so_often.c", &["-DSTEPS=1"], &["--strategy", "naive"]);
    same("last_residual.c", &[], &["--tile", "st=4,s0=6,s1=4,s2=16"]);
    same("clocks.c", &[], &SMALL_1D);
}

#[test]
fn steps_until_a_maximum_is_small() {
    same("converges.c", &[], &SMALL_2D);
    same("converges.c", &["-DREAL=float", "-DEPS=1e-9"], &["--strategy", "naive"]);
    same("converges_without_index.c", &[], &SMALL_1D);
    same("leaves_early.c", &[], &SMALL_2D);
}

#[test]
fn sources_and_receivers() {
    same("sources.c", &[], &SMALL_2D);
    same("sources_in_levels.c", &[], &["--strategy", "naive"]);
}

#[test]
fn integers_are_computed_as_c_does() {
    same("cells.c", &[], &[]);
    same("cells.c", &["-DCELL=char", "-DSTEPS=1"], &["--strategy", "naive"]);
    same("grey_levels.c", &[], &[]);
}

#[test]
fn members_of_arrays_of_structures() {
    same("structures.c", &[], &[]);
}

#[test]
fn functions_of_other_sources() {
    let folder = Folder::new();
    let main = folder.write(
        "main.c",
        "#include <stdio.h>\nvoid step(double *to, const double *from, int n);\ndouble u[90], v[90];\nint main(void)\n{\n    \
         u[40] = 1;\n    for (int t = 0; t < 30; t++) {\n        step(v, u, 90);\n        step(u, v, 90);\n    }\n    \
         for (int i = 0; i < 90; i++) printf(\"%a\\n\", u[i]);\n    return 0;\n}\n",
    );
    let other = folder.write(
        "step.c",
        "static double mean(double a, double b) { return 0.5 * (a + b); }\nvoid step(double *to, const double *from, int n)\n{\n    \
         for (int i = 1; i < n - 1; i++)\n        to[i] = mean(from[i - 1], from[i + 1]);\n}\n",
    );
    let report =
        tilewright(&["check", &main, "--with", &other, "--quick", "--threads", "2", "--json"]).json();
    assert!(report["equal"] == true && report["tiled"] == true, "{report:#}");
    let alone = tilewright(&["check", &main, "--quick"]);
    assert!(alone.code == 2 && alone.stderr.contains("name the file with --with"), "{}", alone.stderr);
}

#[test]
fn names_of_other_languages() {
    same("words.c", &[], &SMALL_1D);
}

#[test]
fn what_a_region_declares_before_its_time_loop() {
    same("declared_in_region.c", &[], &SMALL_1D);
}

#[test]
fn two_buffers() {
    same("double_buffer.c", &[], &["--tile", "st=4,s0=6,s1=16"]);
    same("double_buffer.c", &["-DREAL=double"], &["--strategy", "naive"]);
}

#[test]
fn conversions_of_c() {
    same("promotion.c", &[], &SMALL_1D);
    same("odd_integers.c", &[], &SMALL_1D);
}

#[test]
fn macros_of_the_system() {
    same("system_macros.c", &[], &SMALL_1D);
}

/// Names, encodings, spellings and macros of all kinds.
#[test]
fn texts_of_all_kinds() {
    let folder = Folder::new();
    let check = |file: &str, more: &[&str]| {
        let report = tilewright(&[&["check", file, "--quick", "--json"], more].concat()).json();
        assert!(report["equal"] == true && report["tiled"] != false, "{file}: {report:#}");
    };
    // A mark of the encoding, line ends of other systems, spliced lines, digraphs, an operator for the pragma.
    let text = "\u{feff}#include <math.h>\n#include <stdio.h>\nstatic double u<:2:>[40];\nint main(void)\n<%\n    \
         for (int i = 0; i < 40; i++) u[0][i] = u[1][i] = 0.1 * i;\n_Pragma(\"scop\")\n    fo\\\nr (int \\\n  t = 0; t < 9; t++)\n        \
         for (int i = 1; i < 39; i++)\n            u<:(t + 1) % 2:>[i] = 0.001*(M_\\\nPI - i) + 0.5 * u[t % 2][i \\\n- 1];\n\
         _Pragma(\"endscop\")\n    for (int i = 0; i < 40; i++) printf(\"%a %d %s\\n\", u[1][i], __LINE__, __FILE__);\n    return 0;\n%>\n";
    check(&folder.write("\u{e9}t\u{e9}.c", text.replace('\n', "\r\n")), &[]);
    // Latin-1; types and bounds that are macros; another source that is included; ends of loops that are macros.
    folder.write("part.c", "static const int from_part = (int)(M_PI + M_E);\n");
    let text = "#include <assert.h>\n#include <math.h>\n#include <stdio.h>\n#include \"part.c\"\n#define double float\n#define END }\n\
         static double u[2][40];\nstatic double g = 0.1;\nint main(void)\n{\n    int low = 1;\n    assert(low > 0 && M_PI > 3);\n#define low (low + 1)\n    \
         for (int i = 0; i < 40; i++) u[0][i] = u[1][i] = 0.1 * i;\n#pragma scop\n    for (int t = 0; t < 9; t++) {\n        \
         for (int i = low; i < 40 - low; i++) {\n            u[(t + 1) % 2][i] = (0.3 * u[t % 2][i - 1] + g * 0.7) * from_part; END END\n#pragma endscop\n    \
         for (int i = 0; i < 40; i++) printf(\"caf\u{e9} %a\\n\", u[1][i]);\n    return 0;\n}\n";
    let latin: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
    check(&folder.write("latin.c", latin), &[]);
    // A header with the name of one of the system's, a step and its exchange in one macro, truth values as buffers.
    folder.write("string.h", "#define THIRD (1.0 / 3)\n");
    let other =
        folder.write("other.c", "#include <string.h>\nint other(void) { return (int)strlen(\"abc\"); }\n");
    let text = "#include \"string.h\"\n#include <stdbool.h>\n#include <stdio.h>\nint other(void);\nstatic double u[2][40];\n\
         #define STEP for (int i = 1; i < 39; i++) { bool odd = i & 1; b[i] = THIRD * (a[i - 1] + a[i + 1]) + odd; } old = a; a = b; b = old;\n\
         int main(void)\n{\n    double *a = u[0], *b = u[1], *old = 0;\n    for (int i = 0; i < 40; i++) a[i] = b[i] = i;\n#pragma scop\n    \
         for (int t = 0; t < 9; t++) { STEP }\n#pragma endscop\n    for (int i = 0; i < 40; i++) printf(\"%a\\n\", a[i]);\n    \
         printf(\"%d %d %d\\n\", a == u[1], old == u[0], other());\n    return other();\n}\n";
    check(&folder.write("own.c", text), &["--with", &other]);
}

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

/// Every tenth accepted program, and its rewritten form, with checks of each access and of undefined behaviour; every
/// one with `TILEWRIGHT_ALL=1`, as in `make test-long`.
#[test]
fn programs_are_clean_under_sanitizers() {
    if !execution::equivalence::has_sanitizers() {
        println!("SKIPPED: the C compiler has no sanitizers, with which the programs would be built");
        return;
    }
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(program("")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    if !everything() {
        files = files.into_iter().step_by(10).collect();
    }
    let check = |file: &PathBuf| {
        let report = tilewright(&[
            "check",
            file.to_str().unwrap(),
            "--sanitize",
            "--quick",
            "--threads",
            "2",
            "--json",
        ])
        .json();
        let clean = report["equal"] == true && report["stderr"]["rewritten"] == "";
        (!clean).then(|| format!("{}: {report:#}", file.display()))
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let halves = files.chunks(files.len().div_ceil(2));
        let threads: Vec<_> = halves
            .map(|half| scope.spawn(move || half.iter().filter_map(check).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs by chance: what is accepted does what the original does. `TILEWRIGHT_PROGRAMS` says how many.
#[test]
fn programs_by_chance() {
    by_chance(12, crate::generated::program);
}

/// The same of programs without pragmas, which call functions of their own.
#[test]
fn programs_by_chance_with_calls() {
    by_chance(4, crate::generated_calls::program);
}

/// The same of programs whose arrays hold integers, some in structures.
#[test]
fn programs_by_chance_with_integers() {
    by_chance(4, crate::generated_integers::program);
}

/// The same of programs whose time loops count, test, print and treat edges in many ways.
#[test]
fn programs_by_chance_with_time_loops() {
    by_chance(2, crate::generated_loops::program);
}

/// The same of programs that keep the values of a point in small arrays, and weights in tables.
#[test]
fn programs_by_chance_with_small_arrays() {
    by_chance(3, crate::generated_small::program);
}

fn by_chance(usual: u64, program: impl Fn(u64) -> String + Sync) {
    let count =
        std::env::var("TILEWRIGHT_PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(usual);
    let first = std::env::var("TILEWRIGHT_FIRST").ok().and_then(|first| first.parse().ok()).unwrap_or(0_u64);
    let next = std::sync::atomic::AtomicU64::new(first);
    let results: Vec<(u64, crate::support::Output)> = std::thread::scope(|scope| {
        let work = || {
            let mut results = Vec::new();
            loop {
                let number = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                if number >= first + count {
                    return results;
                }
                let folder = Folder::new();
                let file = folder.write("chance.c", program(number));
                let mut arguments = vec!["check", &file, "--quick", "--threads", "2", "--json"];
                arguments.extend(if number.is_multiple_of(5) { &["--strategy", "naive"][..] } else { &[] });
                results.push((number, tilewright(&arguments)));
            }
        };
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut accepted = 0;
    let mut wrong = Vec::new();
    let mut refused = std::collections::BTreeMap::new();
    for (number, output) in results {
        let report = output.json();
        let code = report["error"]["diagnostics"][0]["code"].as_str().map(str::to_owned);
        match (output.code, code) {
            (0, _) => accepted += 1,
            (2, Some(code)) => *refused.entry(code).or_insert(0) += 1,
            _ => wrong.push(format!("program {number}: {report:#}\n{}", program(number))),
        }
    }
    println!("{accepted} of {count} programs accepted, refused: {refused:?}");
    assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(2 * accepted >= count, "only {accepted} of {count} accepted: {refused:?}");
}

/// The ways in which people write ghost cells, tests of convergence, time that counts down, and cellular automata.
#[test]
fn as_people_write_them() {
    same("ghosts_and_sources.c", &[], &[]);
    same("converges_somehow.c", &[], &[]);
    same("converges_somehow.c", &["-DREAL=float"], &["--strategy", "naive"]);
    same("backwards.c", &[], &[]);
    same("step_by_step.c", &[], &[]);
    same("frame_in_sweep.c", &["-DREAL=float"], &[]);
    same("neighbours_by_loops.c", &[], &[]);
    same("beside_functions.c", &[], &[]);
}

/// The values of one point in small arrays, weights and neighbours in tables, structures by value; also a lattice Boltzmann
/// program.
#[test]
fn small_arrays_and_tables() {
    same("small_arrays.c", &[], &[]);
    same("small_arrays.c", &["-DREAL=float"], &["--strategy", "naive"]);
    same("lattice.c", &[], &[]);
    same("flat_directions.c", &[], &[]);
    let (folder, lattice) = (Folder::new(), program("lattice.c").display().to_string());
    let out = folder.arg("out");
    let told = |strategy: &str| {
        let words =
            ["compile", &lattice, "--target", "openmp", "--strategy", strategy, "--force", "-o", &out];
        tilewright(&words).succeeded().stdout
    };
    let anew = "what they share is computed for each of them";
    let (shared, apart) = (told("auto"), told("hhc"));
    assert!(shared.contains("diamond") && !shared.contains(anew), "{shared}");
    assert!(apart.contains(anew), "{apart}");
}

/// Within one step: levels of an array that keeps all of them, sums behind the sweep, indices that functions wrap around.
#[test]
fn one_step_among_others() {
    same("levels_kept.c", &[], &[]);
    same("scalars_behind.c", &["-DREAL=float"], &[]);
    same("scalars_ahead.c", &["-DREAL=float"], &[]);
    let (folder, sums) = (Folder::new(), program("scalars_ahead.c").display().to_string());
    let out = folder.arg("out");
    tilewright(&["compile", &sums, "--target", "openmp", "-o", &out]).succeeded();
    let text = std::fs::read_to_string(Path::new(&out).join("scalars_ahead.c")).unwrap();
    // Both loops have something to compute before their tiles, and put it back where these do not run.
    assert_eq!(text.matches("What the loops leave in scalars, of what they find").count(), 2, "{text}");
    assert!(text.contains("sum = tw_was1;") && text.contains("change = tw_was0;"), "{text}");
    same("wrapped_by_functions.c", &[], &[]);
    // The program ends within the loop, as the original does.
    same("wrapped_by_functions.c", &["-DENDS=0.4"], &[]);
}

/// Steps that run one at a time work on the arrays where they are, or stay as they are written.
#[test]
fn nothing_is_copied_in_every_step() {
    let folder = Folder::new();
    let text = |before: &str, after: &str| {
        format!(
            "#include <stdio.h>\nvoid run({before}a{after}, {before}b{after}, int n, int steps)\n{{\n    for (int t = 0; t < steps; t++) {{\n        \
             for (int i = 1; i < n - 1; i++)\n            for (int j = 1; j < 63; j++)\n                \
             b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 4;\n        \
             printf(\"%g\\n\", b[n / 2][5]);\n        \
             for (int i = 1; i < n - 1; i++)\n            for (int j = 1; j < 63; j++)\n                \
             a[i][j] = b[i][j];\n    }}\n}}\n"
        )
    };
    let rows = folder.write("rows.c", text("double **", ""));
    let out = folder.arg("out");
    let compiled =
        |file: &str, target| tilewright(&["compile", file, "--target", target, "-o", &out, "--force"]);
    // Rows that have one distance are used where they are, which the program sees; others stay as they are written.
    compiled(&rows, "openmp").succeeded();
    let refused = compiled(&rows, "cuda");
    assert_eq!(refused.code, 2);
    let block = folder.write("block.c", text("double (*", ")[64]"));
    compiled(&block, "openmp").succeeded();
    let refused = compiled(&block, "cuda");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("arrays go to the GPU and back in each of them"), "{}", refused.stderr);
}

/// Time loops without pragmas: several in several functions, calls of functions, edges that are computed twice.
#[test]
fn programs_as_they_are() {
    same("called_functions.c", &[], &[]);
    same("several_loops.c", &[], &[]);
    same("edges_again.c", &["-DM=34"], &[]);
    // A loop is chosen by its function; what is left is said with its reason.
    let folder = Folder::new();
    let file = program("several_loops.c").display().to_string();
    let arguments =
        ["compile", &file, "--target", "openmp", "-o", &folder.arg("out"), "--function", "warm", "--json"];
    let report = tilewright(&arguments).succeeded().json();
    assert_eq!(
        (&report["place"], &report["more"]),
        (&"warm, line 12".into(), &serde_json::Value::Null),
        "{report:#}"
    );
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
        command.args(["-O0", "-w", "-fopenmp", "-ffp-contract=off"]).args(flags).args(sanitizers);
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

/// A program that prints a macro.
const SMALL: &str = "#include <stdio.h>\n#ifndef S\n#define S \"none\"\n#endif\nstatic float u[2][50];\nint main(void)\n{\n    \
    for (int i = 0; i < 50; i++) u[0][i] = u[1][i] = (float)(i % 4);\n#pragma scop\n    \
    for (int t = 0; t < 6; t++)\n        for (int i = 1; i < 49; i++)\n            \
    u[(t + 1) % 2][i] = 0.5f * (u[t % 2][i - 1] + u[t % 2][i + 1]);\n#pragma endscop\n    \
    for (int i = 0; i < 50; i++) printf(\"%a\\n\", (double)u[0][i]);\n    puts(S);\n    return 0;\n}\n";

/// A string that make, CMake and the shell each understand otherwise.
const HOSTILE_MACRO: &str = "-DS=\"a  b;$(touch PWN)`touch PWN`#${HOME}$ENV{HOME}$<1:x>$$%@S@'\\\\\"";

#[test]
fn hostile_names_and_macros_are_built_as_they_are() {
    let folder = Folder::new();
    let own = folder.path("it's; $(touch PWN) #1");
    for inner in ["", "a b/c%d", "in clude"] {
        std::fs::create_dir_all(own.join(inner)).unwrap();
    }
    let write = |name: &str, text: &str| {
        std::fs::write(own.join(name), text).unwrap();
        own.join(name).to_str().unwrap().to_owned()
    };
    let main = write(
        "a b/c%d/my $(touch PWN) `touch PWN`;'#\\ prog:=.c",
        &format!("#include \"../../up $x.h\"\n#include <angle brackets.h>\n{SMALL}"),
    );
    write("up $x.h", "int helper(void);\n");
    write("in clude/angle brackets.h", "#define HELPER 3\n");
    let helper =
        write("other; touch PWN #.c", "#include <angle brackets.h>\nint helper(void) { return HELPER; }\n");
    let include = format!("-I{}", own.join("in clude").display());
    let out = folder.arg("out put");
    let flags = [include.as_str(), HOSTILE_MACRO];
    let mut arguments = vec!["compile", &main, "--target", "openmp", "-o", &out, "--with", &helper];
    arguments.extend(flags);
    tilewright(&arguments).succeeded();
    let mut make = Command::new("make");
    make.args(["-s", "-C", &out, "TW_CFLAGS=-O0 -fopenmp -ffp-contract=off"]);
    run(make);
    let mut all = vec![helper.as_str()];
    all.extend(flags);
    let built = Path::new(&out).join("my $(touch PWN) `touch PWN`;'#\\ prog:=");
    assert_eq!(run(Command::new(&built)), original(&folder, &main, &all));
    let mut make = Command::new("make");
    make.args(["-s", "-C", &out, "clean"]);
    run(make);
    assert!(!built.exists() && !Path::new(&out).join("PWN").exists());
}

/// For names of all kinds, what a compiler is told: a stand-in writes its arguments down.
#[test]
fn makefiles_hold_any_name() {
    let folder = Folder::new();
    let compiler = folder.write(
        "cc.sh",
        "for word; do printf '[%s]\\n' \"$word\" >> log; [ \"$last\" = -o ] && : > \"$word\"; last=$word; done\n",
    );
    let names = [
        "my prog",
        "x:;touch PWN;",
        "a\"b",
        "$$",
        "a%b",
        "-x",
        "~x",
        "a=b",
        ".PHONY",
        "clean",
        "*",
        "|&",
        "a\\",
        "Makefile",
        "é",
    ];
    for (number, name) in names.into_iter().enumerate() {
        let (file, out) = (folder.write(&format!("{name}.c"), SMALL), folder.arg(&format!("out{number}")));
        tilewright(&["compile", &file, "--target", "openmp", "-o", &out]).succeeded();
        let mut make = Command::new("make");
        make.args(["-s", "-C", &out, &format!("CC=sh {compiler}")]);
        run(make);
        let program = if name == "Makefile" { "tw_program" } else { name };
        assert!(Path::new(&out).join(program).is_file() && !Path::new(&out).join("PWN").exists(), "{name}");
        let log = std::fs::read_to_string(Path::new(&out).join("log")).unwrap();
        let source = if name.starts_with('-') { format!("[./{name}.c]") } else { format!("[{name}.c]") };
        assert!(log.lines().any(|line| line == source), "{log}");
    }
    for (name, flag) in [("a\nb", "-DX"), ("a\u{1b}b", "-DX"), ("plain", "-DX=1\ntouch PWN")] {
        let (file, out) = (folder.write(&format!("{name}.c"), SMALL), folder.arg("refused"));
        let output = tilewright(&["compile", &file, "--target", "openmp", "-o", &out, flag]);
        assert_eq!(output.code, 2);
        assert!(output.stderr.contains("control character"), "{}", output.stderr);
        assert!(!folder.path("refused").exists());
    }
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
    let (out, build) = (folder.arg("out"), folder.arg("build"));
    let file = folder.write("my (own) prog.c", SMALL);
    tilewright(&["compile", &file, "--target", "openmp", "-o", &out, HOSTILE_MACRO]).succeeded();
    let mut configure = Command::new("cmake");
    configure.args(["-S", &out, "-B", &build]);
    run(configure);
    let mut make = Command::new("cmake");
    make.args(["--build", &build]);
    run(make);
    let tiled = run(Command::new(Path::new(&build).join("my (own) prog")));
    assert_eq!(tiled, original(&folder, &file, &[HOSTILE_MACRO]));

    // What the generators of CMake would not quote is refused, and says so.
    let file = folder.write("x:;touch PWN;.c", SMALL);
    let (out, build) = (folder.arg("refused"), folder.arg("refused build"));
    tilewright(&["compile", &file, "--target", "openmp", "-o", &out]).succeeded();
    let mut configure = Command::new("cmake");
    let output = configure.args(["-S", &out, "-B", &build]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && text.contains("Build with make") && text.contains("touch PWN"),
        "{text}"
    );
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
    // How many registers the kernels need makes no difference here.
    let mut compile = command(&arguments);
    compile.env("TILEWRIGHT_NVRTC", "none");
    finish(compile).succeeded();
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
    let programs: [(&str, &[&str]); 6] = [
        ("staggered.c", &["--tile", "st=4,s0=4,s1=8"]),
        ("wave_three_buffers.c", &[]),
        ("steps_of_two.c", &[]),
        ("far_reaching.c", &["-DREAL=double"]),
        ("cells.c", &["-DCELL=_Bool"]),
        ("red_black.c", &["-DSTEPS=3"]),
    ];
    for (name, flags) in programs.into_iter().step_by(if everything() { 1 } else { 2 }) {
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
        other.code == 2 && other.stderr.contains("-D, -I and --function are for C files"),
        "{}",
        other.stderr
    );
}

#[test]
fn grids_that_wrap_around() {
    same("around_two_fields.c", &[], &SMALL_2D);
    same("around_ring.c", &[], &[]);
    same("around_ring.c", &["-DSTEPS=1"], &["--strategy", "naive"]);
}
