//! Texts: spellings, encodings, macros, names, and functions of other sources.

use super::{SMALL_1D, same};
use crate::support::{Folder, tilewright};

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
    // A third source, whose function both of the others declare.
    let main = folder.write(
        "third.c",
        "#include <stdio.h>\ndouble half(double a);\nvoid step(double *to, const double *from, int n);\ndouble u[90], v[90];\nint main(void)\n{\n    \
         u[40] = half(2);\n    for (int t = 0; t < 30; t++) {\n        step(v, u, 90);\n        step(u, v, 90);\n    }\n    \
         for (int i = 0; i < 90; i++) printf(\"%a\\n\", u[i]);\n    return 0;\n}\n",
    );
    let other = folder.write(
        "step.c",
        "double half(double a);\nvoid step(double *to, const double *from, int n)\n{\n    \
         for (int i = 1; i < n - 1; i++)\n        to[i] = half(from[i - 1] + from[i + 1]);\n}\n",
    );
    let half = folder.write("half.c", "double half(double a) { return 0.5 * a; }\n");
    let sources = ["--with", &other, "--with", &half];
    let report =
        tilewright(&[&["check", &main, "--quick", "--threads", "2", "--json"][..], &sources].concat()).json();
    assert!(report["equal"] == true && report["tiled"] == true, "{report:#}");
    let alone = tilewright(&["check", &main, "--quick"]);
    assert!(alone.code == 2 && alone.stderr.contains("name the file with --with"), "{}", alone.stderr);
}

/// Variables that several sources declare are one; `static` ones are not.
#[test]
fn variables_of_other_sources() {
    let folder = Folder::new();
    let main = folder.write(
        "main.c",
        "#include <stdio.h>\nvoid step(double *to, const double *from);\nint n = 90;\ndouble rate[2] = { 0.5, 0.25 }, u[90], v[90];\n\
         static double own = 0.5;\nint main(void)\n{\n    u[40] = own;\n    for (int t = 0; t < 30; t++) {\n        step(v, u);\n        \
         step(u, v);\n        if (t % 8 == 7) rate[1] *= 0.5, n--;\n    }\n    for (int i = 0; i < 90; i++) printf(\"%a\\n\", u[i]);\n    \
         return 0;\n}\n",
    );
    let step = |before: &str, rate: &str| {
        let text = format!(
            "{before}void step(double *to, const double *from)\n{{\n    for (int i = 1; i < n - 1; i++)\n        \
             to[i] = {rate} * from[i] + 0.25 * (from[i - 1] + from[i + 1]);\n}}\n"
        );
        folder.write("step.c", text)
    };
    let check = |other: &str| {
        let arguments = ["check", &main, "--with", other, "--quick", "--threads", "2", "--json"];
        tilewright(&arguments)
    };
    let report = check(&step("extern int n;\nextern double rate[2];\n", "rate[1]")).json();
    assert!(report["equal"] == true && report["tiled"] == true, "{report:#}");
    // Another variable of this name, one of another type, and one that only the other source has.
    for (before, rate, reason) in [
        ("extern int n;\nstatic double own = 0.25;\n", "own", "is another one where it is called"),
        ("extern int n;\nextern float rate[2];\n", "rate[1]", "has another type in its own source"),
        ("extern int n;\ndouble other = 0.25;\n", "other", "is one of another source"),
    ] {
        let refused = tilewright(&["check", &main, "--with", &step(before, rate), "--quick"]);
        assert!(refused.code == 2 && refused.stderr.contains(reason), "{}", refused.stderr);
    }
}

/// A child has none of the threads that its parent's tiled loops started, in whichever source.
#[cfg(unix)]
#[test]
fn forked_behind_tiled_loops() {
    let folder = Folder::new();
    let sweeps = |name: &str| {
        format!(
            "void {name}(double *u, double *v, int n)\n{{\n    for (int t = 0; t < 20; t++) {{\n        \
             for (int i = 1; i < n - 1; i++) v[i] = 0.5 * (u[i - 1] + u[i + 1]);\n        \
             for (int i = 1; i < n - 1; i++) u[i] = v[i];\n    }}\n}}\n"
        )
    };
    let other = folder.write("later.c", sweeps("later"));
    let text = format!(
        "#include <stdio.h>\n#include <unistd.h>\n#include <sys/wait.h>\nvoid later(double *u, double *v, int n);\n{}\
         double u[60000], v[60000];\nint main(void)\n{{\n    u[400] = 1;\n    first(u, v, 60000);\n    if (!fork()) {{\n        \
         alarm(20);\n        later(u, v, 60000);\n        first(u, v, 60000);\n        \
         return (int)(1e4 * u[390]);\n    }}\n    int how = 0;\n    wait(&how);\n    first(u, v, 60000);\n    \
         printf(\"%d %a\\n\", how, u[400]);\n    return 0;\n}}\n",
        sweeps("first")
    );
    let main = folder.write("main.c", &text);
    let report =
        tilewright(&["check", &main, "--with", &other, "--quick", "--threads", "2", "--json"]).json();
    assert!(report["equal"] == true && report["tiled"] == true, "{report:#}");
}

/// A signal that the program blocks waits for it, and does not end it in a thread of the tiles.
#[cfg(unix)]
#[test]
fn signals_that_are_blocked() {
    let folder = Folder::new();
    let main = folder.write(
        "main.c",
        "#include <stdio.h>\n#include <signal.h>\n#include <unistd.h>\nenum { N = 60000 };\nfloat u[N], v[N];\nint main(void)\n{\n    \
         u[40] = 1;\n    for (int t = 0; t < 20; t++) {\n        \
         for (int i = 1; i < N - 1; i++) v[i] = 0.5f * (u[i - 1] + u[i + 1]);\n        \
         for (int i = 1; i < N - 1; i++) u[i] = v[i];\n    }\n    sigset_t set;\n    int got = 0;\n    sigemptyset(&set);\n    \
         sigaddset(&set, SIGUSR1);\n    sigprocmask(SIG_BLOCK, &set, 0);\n    kill(getpid(), SIGUSR1);\n    \
         usleep(1000);\n    sigwait(&set, &got);\n    printf(\"%d %a\\n\", got == SIGUSR1, u[42]);\n    return 0;\n}\n",
    );
    let report = tilewright(&["check", &main, "--quick", "--threads", "2", "--json"]).json();
    assert!(report["equal"] == true && report["tiled"] == true, "{report:#}");
}

/// Another source says how to round, for the threads of the tiles as well, and takes it back.
#[cfg(target_arch = "x86_64")]
#[test]
fn rounding_that_other_sources_set() {
    let folder = Folder::new();
    let other = folder.write(
        "other.c",
        "#include <xmmintrin.h>\nvoid flush(int on) { _mm_setcsr(on ? _mm_getcsr() | 0x8040 : 0x1f80); }\n",
    );
    let main = folder.write(
        "main.c",
        "#include <stdio.h>\nvoid flush(int on);\nenum { N = 60000 };\nfloat u[N], v[N];\nstatic void run(void)\n{\n    \
         for (int i = 0; i < N; i++) u[i] = (i % 7 + 1) * 1e-36f;\n    for (int t = 0; t < 40; t++) {\n        \
         for (int i = 1; i < N - 1; i++) v[i] = 0.3f * (u[i - 1] + u[i + 1]);\n        \
         for (int i = 1; i < N - 1; i++) u[i] = v[i];\n    }\n    for (int i = 0; i < N; i += 9) printf(\"%a\\n\", u[i]);\n}\n\
         int main(void)\n{\n    run();\n    flush(1);\n    run();\n    flush(0);\n    run();\n    return 0;\n}\n",
    );
    let report =
        tilewright(&["check", &main, "--with", &other, "--quick", "--threads", "3", "--json"]).json();
    assert!(report["equal"] == true && report["tiled"] == true, "{report:#}");
}

/// What is read by a pointer to `volatile`, or is a member that is `volatile`, is read in each step.
#[cfg(unix)]
#[test]
fn reads_that_count() {
    let folder = Folder::new();
    for (helper, test) in [
        ("", "!*(volatile int *)&over"),
        ("struct state { volatile int *over; } state = { &over };\n", "!*state.over"),
        ("static int is(void) { volatile int *p = &over; return *p; }\n", "!is()"),
    ] {
        let text = format!(
            "#include <stdio.h>\n#include <signal.h>\n#include <sys/time.h>\ndouble u[90], v[90];\nstatic int over;\n\
             static void end(int signal) {{ (void)signal; over = 1; }}\n{helper}int main(void)\n{{\n    \
             struct itimerval soon = {{ {{ 0, 0 }}, {{ 0, 20000 }} }};\n    u[40] = 1;\n    signal(SIGALRM, end);\n    \
             setitimer(ITIMER_REAL, &soon, 0);\n    while ({test}) {{\n        \
             for (int i = 1; i < 89; i++) v[i] = 0.5 * (u[i - 1] + u[i + 1]);\n        \
             for (int i = 1; i < 89; i++) u[i] = v[i];\n    }}\n    puts(\"over\");\n    return 0;\n}}\n"
        );
        let file = folder.write("signal.c", &text);
        let report =
            tilewright(&["check", &file, "--quick", "--threads", "2", "--timeout", "10", "--json"]).json();
        assert!(report["equal"] == true, "{test}: {report:#}");
    }
}

/// Several statements of a function of another source are at the place of one call, and the maximum among them is tested.
#[test]
fn tests_in_functions_of_other_sources() {
    let folder = Folder::new();
    let main = |calls: &str| {
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\ndouble next(double *b, double *c, double *a, int n);\nvoid take(double *a, double *b, int n);\n\
             int main(void)\n{{\n    int n = 100, steps = 0;\n    \
             double *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b), *c = calloc(n, sizeof *c), error = 1;\n    \
             a[0] = b[0] = 1;\n    while (error > 1e-3 && steps < 1000) {{\n        {calls}\n        steps++;\n    }}\n    \
             for (int i = 0; i < n; i++) printf(\"%d %a %a %a\\n\", steps, error, a[i], c[i]);\n    return 0;\n}}\n"
        )
    };
    let next = folder.write(
        "next.c",
        "#include <math.h>\ndouble next(double *b, double *c, double *a, int n)\n{\n    double err = 0.0;\n    \
         for (int i = 1; i < n - 1; i++) {\n        b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1];\n        \
         c[i] = a[i + 1] - a[i - 1];\n        double d = b[i] - a[i];\n        err = fmax(err, fabs(d));\n    }\n    \
         return err;\n}\nvoid take(double *a, double *b, int n)\n{\n    for (int i = 1; i < n - 1; i++) a[i] += 0.5 * (b[i] - a[i]);\n}\n",
    );
    let once = "error = next(b, c, a, n); take(a, b, n);";
    for (name, calls) in [("once.c", once), ("twice.c", "next(b, c, a, n); error = next(a, c, b, n);")] {
        let file = folder.write(name, main(calls));
        let report =
            tilewright(&["check", &file, "--with", &next, "--quick", "--threads", "2", "--json"]).json();
        assert!(report["equal"] == true && report["tiled"] == true, "{name}: {report:#}");
    }
}

#[test]
fn names_of_other_languages() {
    same("words.c", &[], &SMALL_1D);
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
