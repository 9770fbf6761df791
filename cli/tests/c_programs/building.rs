//! What is written is built: headers and sources come along, and build files hold any name.

use super::{original, run};
use crate::support::{Folder, tilewright};
use std::path::Path;
use std::process::Command;

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
        make.args(["-s", "-C", &out, &format!("CC=sh '{compiler}'")]);
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

/// `main` is in one file, its time loop in another: whichever is named, and with headers that the other one alone includes.
#[test]
fn the_time_loop_may_be_in_another_source() {
    let folder = Folder::new();
    let main = folder.write(
        "main.c",
        "#include \"grid.h\"\n#include \"step.h\"\n#include <stdio.h>\n\nint main(void)\n{\n    double *u = grid(SIZE);\n    \
         printf(\"%d\\n\", steps(u, SIZE, 9));\n    for (int i = 0; i < SIZE; i++) printf(\"%a\\n\", u[i]);\n    return 0;\n}\n",
    );
    folder.write("grid.h", "#include \"size.h\"\ndouble *grid(int n);\n");
    folder.write("size.h", "#define SIZE 40\n");
    folder.write(
        "grid.c",
        "#include \"grid.h\"\n#include <stdlib.h>\ndouble *grid(int n)\n{\n    double *u = malloc(n * sizeof *u);\n    \
         for (int i = 0; i < n; i++) u[i] = i % 7;\n    return u;\n}\n",
    );
    folder.write("step.h", "int steps(double *u, int n, int most);\n");
    let step = |bound: &str| {
        format!(
            "#include \"step.h\"\n#include <string.h>\nint steps(double *u, int n, int most)\n{{\n    double next[64];\n    \
             for (int t = 0; t < most; t++) {{\n        for (int i = 1; i < {bound}; i++) next[i] = 0.5 * (u[i - 1] + u[i + 1]);\n        \
             for (int i = 1; i < {bound}; i++) u[i] = next[i];\n    }}\n    return most;\n}}\n"
        )
    };
    let loops = folder.write("step.c", step("n - 1"));
    // Neither main.c, nor grid.c and its headers, are known from step.c.
    for arguments in [vec![main.as_str()], vec![loops.as_str(), "--with", &main]] {
        let report =
            tilewright(&[&["check"][..], &arguments, &["--quick", "--threads", "2", "--json"]].concat())
                .json();
        assert!(report["equal"] == true && report["tiled"] == true, "{arguments:?}: {report:#}");
    }
    let out = folder.arg("out");
    let told = tilewright(&["compile", &main, "--target", "openmp", "-o", &out]).succeeded().stdout;
    assert!(
        told.contains("main.c has no time loop that can be tiled: those of") && told.contains("step.c are,"),
        "{told}"
    );
    let report = tilewright(&["check", &main, "--quick", "--function", "steps", "--json"]).json();
    assert_eq!(report["equal"], true, "{report:#}");
    // The reason is that of the file with the loop.
    folder.write("step.c", step("n - t"));
    let refused = tilewright(&["check", &main, "--quick"]);
    assert!(refused.code != 0 && refused.stderr.contains("step.c:7:"), "{}", refused.stderr);
    // Where there is none at all, it is that of the file that is named.
    folder.write("step.c", "int steps(double *u, int n, int most)\n{\n    return u[0] > n ? 0 : most;\n}\n");
    let refused = tilewright(&["check", &main, "--quick"]);
    assert!(
        refused.stderr.contains("error[TW1101]") && refused.stderr.contains("main.c:1:1"),
        "{}",
        refused.stderr
    );
}

/// A loop over cases calls a function of another source, which stays as it is for what it does beside its time loop: that one runs
/// in tiles, also where it is refused if it stands in a loop of its own that is none over time.
#[test]
fn a_loop_over_cases_calls_the_time_loop_of_another_source() {
    let folder = Folder::new();
    let main = folder.write(
        "main.c",
        "#include <stdio.h>\ndouble settle(int n, int most, double edge);\nint main(void)\n{\n    double found[4];\n    \
         for (int k = 0; k < 4; k++) {\n        double one = settle(30, 60, k + 1.5);\n        found[k] = one;\n    }\n    \
         for (int k = 0; k < 4; k++) printf(\"%a\\n\", found[k]);\n    return 0;\n}\n",
    );
    let settle = |sweep: &str| {
        format!(
            "#include <math.h>\n#include <stdio.h>\nstatic double u[64][64], v[64][64];\ndouble settle(int n, int most, double edge)\n{{\n    \
             for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++) u[i][j] = v[i][j] = j ? 0.5 : edge;\n    \
             for (int t = 0; t < most; t++) {{\n        double d = 0;\n        for (int i = 1; i < n - 1; i++)\n            \
             for (int j = 1; j < n - 1; j++) {{\n                {sweep}\n                d = fmax(d, fabs(v[i][j] - u[i][j]));\n            }}\n        \
             for (int i = 1; i < n - 1; i++)\n            for (int j = 1; j < n - 1; j++) u[i][j] = v[i][j];\n        \
             if (d < 0.02) {{\n            printf(\"%d\\n\", t);\n            break;\n        }}\n    }}\n    return u[n / 2][1];\n}}\n"
        )
    };
    let source = folder.write(
        "settle.c",
        settle("v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);"),
    );
    let check = ["check", &main, "--with", &source, "--quick", "--threads", "2", "--json"];
    let report = tilewright(&check).json();
    assert!(report["equal"] == true && report["tiled"] == true, "{report:#}");
    // Where neither can be tiled, the reason is that of the file that is named.
    folder.write("settle.c", settle("v[i][j] = 0.5 * (u[i * i % n][j] + u[i][j]);"));
    let refused = tilewright(&check[..5]);
    assert!(refused.code != 0 && refused.stderr.contains("main.c:7:"), "{}", refused.stderr);
}
