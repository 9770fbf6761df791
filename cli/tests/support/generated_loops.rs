//! C programs by chance whose time loops do more than compute: they count times, stop when little changes, print, keep series of
//! values, add sources, and treat edges in many ways. Each number gives one, always the same.

use crate::generated::Dice;
use std::fmt::Write;

/// How the array and its next level lie.
#[derive(Clone, Copy, PartialEq)]
enum Storage {
    Global,
    Levels,
    Flattened,
    Structure,
    Rows,
}

/// What the neighbours of points at the ends are.
#[derive(Clone, Copy, PartialEq)]
enum Edges {
    Fixed,
    /// Loops behind the sweep assign the edges.
    Behind,
    /// Ghost cells are copied before the sweep.
    Ghosts,
    /// Subscripts wrap around.
    Around,
    /// Subscripts are clamped.
    Clamped,
    /// The sweep asks where it is.
    Guarded,
}

/// What a step computes over all points besides.
#[derive(Clone, Copy, PartialEq)]
enum Reduction {
    Nothing,
    Maximum,
    Squares,
    Magnitudes,
    Sum,
    Flag,
    Count,
}

struct Generator {
    dice: Dice,
    element: &'static str,
    storage: Storage,
    edges: Edges,
    reduction: Reduction,
    /// A flag or a count is an integer.
    whole: bool,
    /// The sweep computes in place.
    in_place: bool,
    /// The sweep stands under a condition.
    branches: bool,
}

/// A program whose sweep stands under a condition, with something else for the steps in which that does not hold.
pub fn branching(number: u64) -> String {
    generator(number, true).text()
}

/// The program of this number.
pub fn program(number: u64) -> String {
    generator(number, false).text()
}

fn generator(number: u64, branches: bool) -> Generator {
    use Edges::{Around, Behind, Clamped, Fixed, Ghosts, Guarded};
    use Reduction::{Count, Flag, Magnitudes, Maximum, Nothing, Squares, Sum};
    use Storage::{Flattened, Global, Levels, Rows, Structure};
    let mut dice = Dice::new(number ^ 0x100b);
    let element = dice.of(&["float", "double", "double"]);
    let storage = [Global, Levels, Flattened, Structure, Rows, Flattened][dice.roll(6)];
    let edges = [Fixed, Fixed, Behind, Behind, Ghosts, Around, Clamped, Guarded][dice.roll(8)];
    let reduction =
        [Nothing, Nothing, Nothing, Maximum, Maximum, Squares, Magnitudes, Sum, Flag, Count][dice.roll(10)];
    let whole = matches!(reduction, Flag | Count) && !dice.one_in(3);
    let in_place = dice.one_in(7) && storage != Levels && matches!(edges, Fixed | Behind);
    // Steps that run together have no periodic ghost cells, and what their sweeps reduce under a condition nobody reads.
    let (edges, reduction) = match branches {
        true => (
            [Fixed, Fixed, Guarded, Clamped, Around, Behind][dice.roll(6)],
            if dice.one_in(5) { reduction } else { Nothing },
        ),
        false => (edges, reduction),
    };
    let in_place = in_place && matches!(edges, Fixed | Behind);
    Generator { dice, element, storage, edges, reduction, whole, in_place, branches }
}

impl Generator {
    /// An element of the level that is read, or of the one that is computed.
    fn at(&self, next: bool, i: &str, j: &str) -> String {
        let name = if next && !self.in_place { "v" } else { "u" };
        match self.storage {
            Storage::Global | Storage::Rows => format!("{name}[{i}][{j}]"),
            Storage::Levels if next => format!("u[1 - now][{i}][{j}]"),
            Storage::Levels => format!("u[now][{i}][{j}]"),
            Storage::Flattened => format!("{name}[({i}) * n + ({j})]"),
            Storage::Structure => format!("AT(g->{name}, {i}, {j})"),
        }
    }

    fn now(&self, i: &str, j: &str) -> String {
        self.at(false, i, j)
    }

    fn next(&self, i: &str, j: &str) -> String {
        self.at(true, i, j)
    }

    /// Subscripts of the four neighbours, and what must be computed for them.
    fn neighbours(&mut self) -> (String, [&'static str; 4]) {
        let plain = ["i - 1", "i + 1", "j - 1", "j + 1"];
        let named = ["im", "ip", "jm", "jp"];
        match self.edges {
            Edges::Around => match self.dice.roll(5) {
                0 => (String::new(), ["(i - 1 + m) % m", "(i + 1) % m", "(j + n - 1) % n", "(j + 1) % n"]),
                1 => (
                    "int im = i == 0 ? m - 1 : i - 1, ip = i == m - 1 ? 0 : i + 1, jm = j > 0 ? j - 1 : n - 1, jp = j + 1 < n ? j + 1 : 0;".to_owned(),
                    named,
                ),
                2 => (
                    "int im, ip = i + 1, jm, jp; if (i == 0) im = m - 1; else im = i - 1; if (ip == m) ip = 0; if (j == 0) { jm = n - 1; jp = 1; } else if (j == n - 1) { jm = j - 1; jp = 0; } else { jm = j - 1; jp = j + 1; }".to_owned(),
                    named,
                ),
                3 => (
                    "int im = i - 1, ip = i, jm = j - 1, jp = j + 1; ip++; if (im < 0) im += m; if (ip >= m) ip -= m; if (jm < 0) jm = n - 1; if (jp > n - 1) { jp = 0; }".to_owned(),
                    named,
                ),
                _ => (
                    "int im = (i + m - 1) % m, ip = (i + 1) % m, jm = (j + n - 1) % n, jp = (j + 1) % n;".to_owned(),
                    named,
                ),
            },
            Edges::Clamped => (
                "int im = MAX(i - 1, 0), ip = MIN(i + 1, m - 1), jm = j ? j - 1 : 0, jp = j < n - 1 ? j + 1 : n - 1;".to_owned(),
                named,
            ),
            _ => (String::new(), plain),
        }
    }

    /// The loops that compute the next level, with what is reduced among them.
    fn sweep(&mut self, reduced: &str) -> String {
        let (declared, [im, ip, jm, jp]) = self.neighbours();
        let mut terms = vec![self.now(im, "j"), self.now(ip, "j"), self.now("i", jm), self.now("i", jp)];
        if self.dice.one_in(3) {
            terms.push(self.now(im, jp));
        }
        if self.dice.one_in(4) {
            terms.push("shape[i][j]".to_owned());
        }
        let here = self.now("i", "j");
        let sum = terms.join(" + ");
        let value = match self.dice.roll(4) {
            0 => format!("{here} + k * ({sum} - {} * {here})", terms.len()),
            1 => format!("({sum} + {here}) / {}", terms.len() + 1),
            2 => format!("0.9 * {here} + 0.1f * k * ({sum}) * (1 - {here} * 0.125)"),
            _ => format!("mixed({here}, {sum}, k)"),
        };
        let whole = matches!(self.edges, Edges::Around | Edges::Clamped | Edges::Guarded);
        let ends = if whole { ["0", "m", "0", "n"] } else { ["1", "m - 1", "1", "n - 1"] };
        let target = self.next("i", "j");
        let body = match self.edges {
            Edges::Guarded => format!(
                "if (i == 0 || j == 0 || i == m - 1 || j == n - 1) {target} = {};\n            else {target} = {value};",
                self.dice.of(&["0.5", "k", "shape[i][j]"])
            ),
            _ => format!("{target} = {value};"),
        };
        let before =
            if self.in_place { format!("{} before = {here}; ", self.element) } else { String::new() };
        format!(
            "        for (int i = {}; i < {}; i++)\n            for (int j = {}; j < {}; j++) {{\n            {declared}{before}{body}\n            {reduced}}}\n",
            ends[0], ends[1], ends[2], ends[3]
        )
    }

    /// A sweep in one of two branches.
    fn branch(&mut self, sweep: &str) -> String {
        let condition = self.dice.of(&[
            "t % 7 != 5",
            "t >= 4",
            "m > 8",
            "k > 0.1",
            "time < 0.3",
            "t % 2 == 0",
            "err < 50",
        ]);
        let (row, here) = (self.next("1", "j"), self.now("1", "j"));
        let other = match self.dice.roll(12) {
            0..4 => String::new(),
            4..7 => format!("        {} = 0.25;\n", self.next("2", "2")),
            7 => "        dt *= 0.99;\n".to_owned(),
            8 => format!(
                "        for (int j = 1; j < n - 1; j++) {row} = 0.5 * {here} + dt;\n        err += 0.5;\n"
            ),
            _ => format!("        for (int j = 0; j < n; j++) {row} = 0.5 * {here};\n"),
        };
        match (other.is_empty(), self.dice.roll(3)) {
            (true, _) => format!("        if ({condition}) {{\n{sweep}        }}\n"),
            (_, 0) => {
                format!("        if (!({condition})) {{\n{other}        }} else {{\n{sweep}        }}\n")
            }
            _ => format!("        if ({condition}) {{\n{sweep}        }} else {{\n{other}        }}\n"),
        }
    }

    /// Statements over all inner points.
    fn inner(&self, body: &str) -> String {
        format!(
            "        for (int i = 1; i < m - 1; i++)\n            for (int j = 1; j < n - 1; j++) {{ {body} }}\n"
        )
    }

    fn ghosts(&mut self) -> String {
        let o = |i: &str, j: &str| self.now(i, j);
        let rows = format!(
            "        for (int j = 0; j < n; j++) {{ {} = {}; {} = {}; }}\n",
            o("0", "j"),
            o("m - 2", "j"),
            o("m - 1", "j"),
            o("1", "j")
        );
        let columns = format!(
            "        for (int i = 1; i < m - 1; i++) {{ {} = {}; {} = -{}; }}\n",
            o("i", "0"),
            o("i", "1"),
            o("i", "n - 1"),
            o("i", "n - 2")
        );
        if self.dice.one_in(2) { rows + &columns } else { columns + &rows }
    }

    fn behind(&mut self) -> String {
        let e = |i: &str, j: &str| self.next(i, j);
        let rows = format!(
            "        for (int j = 0; j < n; j++) {{ {} = {}; {} = k; }}\n",
            e("0", "j"),
            e("1", "j"),
            e("m - 1", "j")
        );
        let columns = format!(
            "        for (int i = 0; i < m; i++) {{ {} = {}; {} = 0.5 * {}; }}\n",
            e("i", "0"),
            e("i", "1"),
            e("i", "n - 1"),
            e("i", "n - 2")
        );
        let corners = format!("        {} = {} = 0.75;\n", e("0", "0"), e("m - 1", "n - 1"));
        match self.dice.roll(4) {
            0 => rows,
            1 => rows + &columns,
            2 => columns + &rows + &corners,
            _ => columns,
        }
    }

    /// The next level becomes the one that is read.
    fn exchange(&mut self) -> String {
        if self.in_place {
            return String::new();
        }
        let e = self.element;
        let copy = |this: &Self| {
            format!(
                "        for (int i = 0; i < m; i++)\n            for (int j = 0; j < n; j++) {} = {};\n",
                this.now("i", "j"),
                this.next("i", "j")
            )
        };
        match (self.storage, self.dice.roll(3)) {
            (Storage::Levels, 0) => "        now ^= 1;\n".to_owned(),
            (Storage::Levels, _) => "        now = 1 - now;\n".to_owned(),
            (Storage::Global, 0) => "        memcpy(u, v, sizeof u);\n".to_owned(),
            (Storage::Flattened, 0) => "        memcpy(u, v, m * n * sizeof *u);\n".to_owned(),
            (Storage::Global, _) | (_, 1) => copy(self),
            (Storage::Structure, _) => "        turned(g);\n".to_owned(),
            (Storage::Rows, _) => format!("        {e} **held = u; u = v; v = held;\n"),
            (Storage::Flattened, _) => format!("        {{ {e} *held = u; u = v; v = held; }}\n"),
        }
    }

    /// Statements that change the reduction's variable for one point.
    fn reduced(&mut self, before: &str, after: &str) -> String {
        let apart = format!("{after} - {before}");
        match self.reduction {
            Reduction::Nothing => String::new(),
            Reduction::Maximum => match self.dice.roll(3) {
                0 => format!("err = fmax(err, fabs({apart}));"),
                1 => format!("if (fabs({apart}) > err) err = fabs({apart});"),
                _ => format!("double d = fabs({apart}); err = MAX(err, d);"),
            },
            Reduction::Squares => format!("double d = {apart}; err += d * d;"),
            Reduction::Magnitudes => format!("err += fabs({apart});"),
            Reduction::Sum => format!("err += {after};"),
            Reduction::Flag if self.whole => match self.dice.roll(3) {
                0 => format!("if (fabs({apart}) > 0.01) hits = 1;"),
                1 => format!("hits |= fabs({apart}) > 0.01;"),
                _ => format!("if (fabs({apart}) <= 0.01) {{ if (j == 3) hits = 1; }} else hits = 1;"),
            },
            Reduction::Count if self.whole => match self.dice.roll(3) {
                0 => format!("if ({after} > 0.6) hits++;"),
                1 => format!("hits += {after} > 0.6;"),
                _ => format!("if ({after} > 0.6) hits += 2; if ({after} > 0.7 && i > 2) hits++;"),
            },
            Reduction::Flag => format!("if (fabs({apart}) > 0.01) err = 1;"),
            Reduction::Count => format!("if ({after} > 0.6) err++;"),
        }
    }

    fn text(mut self) -> String {
        let e = self.element;
        let (m, n) = (5 + self.dice.roll(30), 5 + self.dice.roll(40));
        let steps = [0, 1, 2, 7, 15, 30, 61][self.dice.roll(7)];
        let (before, after) =
            (if self.in_place { "before".to_owned() } else { self.now("i", "j") }, self.next("i", "j"));
        let reduced = self.reduced(&before, &after);
        let within = self.in_place || self.dice.one_in(2);
        let mut body = String::new();
        if self.edges == Edges::Ghosts {
            body += &self.ghosts();
        }
        if self.dice.one_in(6) {
            body += self.dice.of(&[
                "        k = 0.2 + 0.01 * (t % 3);\n",
                "        if (t % 4 == 3) k *= 0.99;\n",
                "        dt *= 1.01;\n",
            ]);
        }
        if self.reduction != Reduction::Nothing {
            body += if self.whole { "        hits = 0;\n" } else { "        err = 0;\n" };
        }
        let sweep = self.sweep(if within { &reduced } else { "" });
        body += &if self.branches { self.branch(&sweep) } else { sweep };
        if self.edges == Edges::Behind {
            body += &self.behind();
        }
        let point = self.next("m / 2", "n / 2");
        let often = if self.branches { 8 } else { 3 };
        if self.dice.one_in(often) {
            body += &match self.dice.roll(5) {
                0 => format!("        {point} += sin(0.3 * t);\n"),
                1 => format!("        if (t < 9) {point} += signal[t % 64];\n"),
                2 => format!("        {} = 0.5 + 0.01 * t;\n", self.next("2", "n - 3")),
                3 => format!("        {} -= dt;\n        {point} += dt;\n", self.next("1", "1")),
                _ => format!("        if (t == 3 || t % 10 == 8) {point} *= 0.5;\n"),
            };
        }
        if !within && self.reduction != Reduction::Nothing {
            body += &self.inner(&reduced);
        }
        if self.dice.one_in(3) {
            body += &match self.dice.roll(6) {
                0 => format!("        if (t % 5 == 4) printf(\"%d %a\\n\", t, (double){point});\n"),
                1 => format!("        if (t < 64) trace[t] = {point};\n"),
                2 => format!("        trace[t % 64] = {point};\n"),
                3 => "        if (t == steps / 2) printf(\"half way at %a\\n\", time);\n".to_owned(),
                4 => "        printf(\"%d %a %a\\n\", t, time, (double)err);\n".to_owned(),
                _ => format!(
                    "        if ((t + 1) % 8 == 0) {{ double s = 0; for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) s += {}; printf(\"%a\\n\", s); }}\n",
                    self.next("i", "j")
                ),
            };
        }
        body += &self.exchange();
        body += self.dice.of(&["        time += dt;\n", "        time = t * dt;\n", ""]);
        if self.dice.one_in(8) {
            body += self.dice.of(&[
                "        if (t == 11) break;\n",
                "        if (!isfinite(err)) { printf(\"lost at %d\\n\", t); break; }\n",
                "        if (time > 0.2) break;\n",
            ]);
        }
        let tolerance = if self.whole { "0" } else { self.dice.of(&["1e-2", "1e-4", "0.5", "1e-12", "0"]) };
        let measure = match self.reduction {
            _ if self.whole => "hits",
            Reduction::Squares => {
                self.dice.of(&["sqrt(err)", "err", "sqrt(err / (m * n))", "sqrt(err) / ((m - 2) * (n - 2))"])
            }
            Reduction::Flag => "err",
            _ => self.dice.of(&["err", "err", "err / 4", "err * dt", "err / (n - 20)"]),
        };
        let tested = self.reduction != Reduction::Nothing && self.dice.one_in(2);
        let last = match (tested, self.dice.roll(3)) {
            (true, 0) => format!("        if ({measure} <= {tolerance}) break;\n"),
            (true, 1) => format!("        if ({measure} < {tolerance}) done = 1;\n"),
            (true, _) => format!("        if (!({measure} > {tolerance})) {{ done = t + 1; break; }}\n"),
            _ => String::new(),
        };
        body += &last;
        let (open, close) = match self.dice.roll(8) {
            0 => ("    while (t < steps && !done) {\n".to_owned(), "        t++;\n    }\n".to_owned()),
            1 => ("    for (; !done && t < steps; ++t) {\n".to_owned(), "    }\n".to_owned()),
            2 if steps > 0 => ("    do {\n".to_owned(), "    } while (++t < steps && !done);\n".to_owned()),
            3 => (
                "    for (;;) {\n        if (t >= steps || done) break;\n".to_owned(),
                "        t += 1;\n    }\n".to_owned(),
            ),
            5 => ("    for (; t < steps && !done; t++, time += dt) {\n".to_owned(), "    }\n".to_owned()),
            6 => (
                "    for (double at = 0; at < 0.1 * steps && !done; at += 0.1) {\n".to_owned(),
                "        t++;\n    }\n".to_owned(),
            ),
            4 if tested => (
                format!("    err = hits = 100;\n    while ({measure} > {tolerance} && t < steps) {{\n"),
                "        t++;\n    }\n".to_owned(),
            ),
            _ => (
                "    for (t = 0; t < steps; t++) {\n".to_owned(),
                "        if (done) break;\n    }\n".to_owned(),
            ),
        };
        let (declared, made, parameters) = match self.storage {
            Storage::Global => (format!("static {e} u[M][N], v[M][N];\n"), String::new(), "int m, int n, int steps".to_owned()),
            Storage::Levels => (format!("static {e} u[2][M][N];\n"), String::new(), "int m, int n, int steps".to_owned()),
            Storage::Flattened => (
                format!("static {e} *u, *v;\n"),
                "    u = malloc(m * n * sizeof *u);\n    v = malloc(m * n * sizeof *v);\n".to_owned(),
                "int m, int n, int steps".to_owned(),
            ),
            Storage::Structure => (
                format!("typedef struct {{ int rows, columns; {e} *u, *v; }} Grid;\nstatic Grid grid, *g = &grid;\n#define AT(a, i, j) a[(i) * g->columns + (j)]\nstatic void turned(Grid *one) {{ {e} *held = one->u; one->u = one->v; one->v = held; }}\n"),
                "    g->rows = m; g->columns = n;\n    g->u = malloc(m * n * sizeof *g->u);\n    g->v = malloc(m * n * sizeof *g->v);\n".to_owned(),
                "Grid *g, int steps".to_owned(),
            ),
            Storage::Rows => (
                format!("static {e} **u, **v;\nstatic {e} **rows(int m, int n) {{ {e} **r = malloc(m * sizeof *r); for (int i = 0; i < m; i++) r[i] = malloc(n * sizeof **r); return r; }}\n"),
                "    u = rows(m, n);\n    v = rows(m, n);\n".to_owned(),
                "int m, int n, int steps".to_owned(),
            ),
        };
        let sizes = if self.storage == Storage::Structure {
            "    const int m = g->rows, n = g->columns;\n"
        } else {
            ""
        };
        let call = if self.storage == Storage::Structure { "g, STEPS" } else { "m, n, STEPS" };
        let now = if self.storage == Storage::Levels { "static int now;\n" } else { "" };
        let (first, other) = (self.now("i", "j"), self.next("i", "j"));
        let seed = match self.dice.roll(10) {
            0 => "(i == 2 && j == 2 ? NAN : i * 0.1)",
            1 => "(i + j) % 7 * 1e30",
            2 => "0",
            _ => "(i * 7 + j * 3) % 11 * 0.0625",
        };
        let mut text = String::from(
            "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n#define MIN(a, b) ((a) < (b) ? (a) : (b))\n",
        );
        let _ = write!(
            text,
            "#define M {m}\n#define N {n}\n#ifndef STEPS\n#define STEPS {steps}\n#endif\n{declared}{now}\
             static double shape[M][N], signal[64], trace[64];\nstatic {e} k = 0.2;\n\
             static inline double mixed(double here, double sum, double k) {{ double lap = sum - 4 * here; return here + 0.5 * k * lap; }}\n\
             static int run({parameters})\n{{\n{sizes}    int t = 0, done = 0, hits = 0;\n    double err = 0, time = 0, dt = 0.01;\n{open}{body}{close}    \
             printf(\"%d %d %d %a %a %a %a\\n\", t, done, hits, err, time, dt, (double)k);\n    return t;\n}}\n\
             int main(void)\n{{\n    int m = M, n = N;\n{made}    for (int i = 0; i < m; i++)\n        for (int j = 0; j < n; j++) {{\n            \
             {first} = {other} = {seed};\n            shape[i][j] = (i + 2 * j) % 5 * 0.01;\n        }}\n    \
             for (int t = 0; t < 64; t++) signal[t] = 1.0 / (t + 1);\n    run({call});\n    \
             for (int i = 0; i < m; i++)\n        for (int j = 0; j < n; j++) printf(\"%a %a\\n\", (double){first}, (double){other});\n    \
             for (int t = 0; t < 64; t++) printf(\"%a\\n\", trace[t]);\n    return 0;\n}}\n"
        );
        text
    }
}
