//! C programs by chance: each number gives one, always the same.

use std::fmt::Write;

/// Pseudo-random numbers (splitmix64).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// 0 .. count - 1
    pub fn roll(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.roll(count) == 0
    }

    pub fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.roll(list.len())]
    }
}

/// How the array that is computed keeps its time levels.
#[derive(Clone, Copy, PartialEq)]
enum Buffers {
    Modulo(usize),
    Flattened,
    Swapped,
    BackAndForth,
}

struct Generator {
    dice: Dice,
    dimension: usize,
    element: &'static str,
    buffers: Buffers,
    /// Names that a statement has declared.
    locals: Vec<String>,
}

const INDEX: [&str; 3] = ["i", "j", "k"];
const SIZE: [&str; 3] = ["n", "m", "l"];

/// The program of this number.
pub fn program(number: u64) -> String {
    let mut dice = Dice::new(number);
    let dimension = 1 + dice.roll(3);
    let element = dice.of(&["float", "double"]);
    let buffers = match dice.roll(6) {
        0 | 1 => Buffers::Modulo(2),
        2 => Buffers::Modulo(3),
        3 => Buffers::Flattened,
        4 => Buffers::Swapped,
        _ => Buffers::BackAndForth,
    };
    Generator { dice, dimension, element, buffers, locals: Vec::new() }.text()
}

impl Generator {
    fn text(mut self) -> String {
        let d = self.dimension;
        let sizes: Vec<usize> = (0..d).map(|at| [23, 13, 11][at] + self.dice.roll(9)).collect();
        let sizes = if d == 1 { vec![sizes[0] * 3] } else { sizes };
        let steps = 3 + self.dice.roll(9);
        let e = self.element;
        let extents = |names: &[&str]| {
            names.iter().map(|name| format!("[{}]", name.to_uppercase())).collect::<String>()
        };
        let all = extents(&SIZE[..d]);
        let inner = extents(&SIZE[1..d]);
        let product = SIZE[..d].iter().map(|name| name.to_uppercase()).collect::<Vec<_>>().join(" * ");
        let mut text = String::from(
            "#include <float.h>\n#include <limits.h>\n#include <math.h>\n#include <stdbool.h>\n#include <stdio.h>\n#include <stdlib.h>\n",
        );
        for (name, size) in SIZE.iter().zip(&sizes) {
            let _ = writeln!(text, "#define {} {size}", name.to_uppercase());
        }
        let _ = writeln!(text, "#define STEPS {steps}");
        text.push_str(
            "#define HALF 0.5\n#define SQUARE(x) ((x) * (x))\n#define WAVE(i) (1e-3 * (M_PI - (i)))\n\
             #define PICK(c, a, b) ((c) ? (a) : (b))\n#define LIMIT(x) fmax(-4.0, fmin(4.0, (x)))\n",
        );
        let (declared, made) = match self.buffers {
            Buffers::Modulo(k) => (format!("static {e} u[{k}]{all};\n"), String::new()),
            Buffers::Flattened => {
                (format!("static {e} *u;\n"), format!("    u = malloc(2 * {product} * sizeof *u);\n"))
            }
            Buffers::Swapped => {
                let one = |name: &str| match d {
                    1 => format!("    {e} *{name} = malloc({product} * sizeof({e}));\n"),
                    _ => format!("    {e} (*{name}){inner} = malloc({product} * sizeof({e}));\n"),
                };
                (String::new(), one("u") + &one("v"))
            }
            Buffers::BackAndForth => (format!("static {e} u{all}, v{all};\n"), String::new()),
        };
        text.push_str(&declared);
        let other = self.dice.of(&["float", "double"]);
        let second = self.dice.one_in(3);
        let _ = writeln!(
            text,
            "static {other} c{all};\nstatic double line[N];\nstatic const int mask[4] = {{ 1, 0, 3, 2 }};"
        );
        if second {
            let _ = writeln!(text, "static {other} w[2]{all};");
        }
        text.push_str("int main(int argc, char **argv)\n{\n    const int n = N;\n");
        if d > 1 {
            text.push_str(if self.dice.one_in(2) { "    int m = M;\n" } else { "    const long m = M;\n" });
        }
        if d > 2 {
            text.push_str("    size_t l = L;\n");
        }
        let _ = write!(
            text,
            "    double alpha = argc > 1 ? atof(argv[1]) : {};\n    float beta = 0.3f;\n    double last = 0;\n    int count = 5;\n    unsigned flags = 7u;\n    unsigned char small = 200;\n{made}",
            self.dice.of(&["0.1", "M_1_PI", "0.7", "-HALF"])
        );
        // First values.
        let mut fill = String::new();
        let mut indent = String::from("    ");
        for at in 0..d {
            let (x, size) = (INDEX[at], SIZE[at].to_uppercase());
            let _ = writeln!(fill, "{indent}for (int {x} = 0; {x} < {size}; {x}++)");
            indent.push_str("    ");
        }
        let sum: String = (0..d).map(|at| format!(" + {} * {}", INDEX[at], [7, 3, 5][at])).collect();
        let here = INDEX[..d].iter().map(|x| format!("[{x}]")).collect::<String>();
        let mut first: Vec<String> = match self.buffers {
            Buffers::Modulo(k) => (0..k).map(|b| format!("u[{b}]{here}")).collect(),
            Buffers::Flattened => {
                (0..2).map(|b| format!("u[{}]", self.flat(&b.to_string(), &vec![0; d]))).collect()
            }
            _ => vec![format!("u{here}"), format!("v{here}")],
        };
        if second {
            first.extend([format!("w[0]{here}"), format!("w[1]{here}")]);
        }
        let assigned: String = first.iter().map(|one| format!("{one} = ")).collect();
        let _ = writeln!(
            fill,
            "{indent}{{ {assigned}(1{sum}) % 11 * 0.09f; c{here} = (3{sum}) % 7 * 0.1; line[i] = sin(M_PI * i / N); }}"
        );
        text.push_str(&fill);

        text.push_str("#pragma scop\n");
        let time = self.dice.of(&["int", "int", "unsigned", "long"]);
        let _ = writeln!(
            text,
            "    for ({time} t = 0; t {}; t++) {{",
            self.dice.of(&["< STEPS", "<= STEPS - 1", "!= STEPS"])
        );
        let target = self.target();
        let body = self.assignment(&target);
        text.push_str(&self.nest(&body));
        if second {
            let target = format!("w[(t + 1) % 2]{here}");
            let value = self.value_of_second();
            text.push_str(&self.nest(&[format!("{target} = {value};")]));
        }
        match self.buffers {
            Buffers::Swapped => {
                let pointer = if d == 1 { format!("{e} *old") } else { format!("{e} (*old){inner}") };
                let _ = writeln!(text, "        {pointer} = u;\n        u = v;\n        v = old;");
            }
            Buffers::BackAndForth => text.push_str(&self.nest(&[format!("u{here} = v{here};")])),
            _ => {}
        }
        text.push_str("    }\n#pragma endscop\n");

        let mut print = String::new();
        let mut indent = String::from("    ");
        for at in 0..d {
            let (x, size) = (INDEX[at], SIZE[at].to_uppercase());
            let _ = writeln!(print, "{indent}for (int {x} = 0; {x} < {size}; {x}++)");
            indent.push_str("    ");
        }
        let list: String = first.iter().map(|one| format!(", (double){one}")).collect();
        let _ = writeln!(print, "{indent}printf(\"{}\\n\"{list});", vec!["%a"; first.len()].join(" "));
        text.push_str(&print);
        if self.dice.one_in(3) {
            text.push_str("    printf(\"%a\\n\", last);\n");
        }
        if self.dice.one_in(3) {
            text.push_str("    FILE *file = fopen(\"result.txt\", \"w\");\n    fprintf(file, \"%d %g\\n\", __LINE__, alpha);\n    fclose(file);\n");
        }
        let _ = writeln!(
            text,
            "    (void)beta; (void)count; (void)flags; (void)small; (void)mask;\n    return {};\n}}",
            self.dice.of(&["0", "EXIT_FAILURE", "n % 7"])
        );
        text
    }

    /// The element of a flattened array, some places away.
    fn flat(&self, buffer: &str, offset: &[i64]) -> String {
        let mut text = format!("({buffer})");
        for (at, offset) in offset.iter().enumerate() {
            text = format!("({text} * {} + {})", SIZE[at], shifted(INDEX[at], *offset));
        }
        text
    }

    fn target(&self) -> String {
        let here = INDEX[..self.dimension].iter().map(|x| format!("[{x}]")).collect::<String>();
        match self.buffers {
            Buffers::Modulo(k) => format!("u[(t + 1) % {k}]{here}"),
            Buffers::Flattened => format!("u[{}]", self.flat("(t + 1) % 2", &vec![0; self.dimension])),
            _ => format!("v{here}"),
        }
    }

    fn offset(&mut self) -> Vec<i64> {
        let mut offset = vec![0; self.dimension];
        if !self.dice.one_in(5) {
            let at = self.dice.roll(self.dimension);
            offset[at] = if self.dice.one_in(2) { 1 } else { -1 };
        }
        offset
    }

    fn read(&mut self) -> String {
        let offset = self.offset();
        let place: String =
            offset.iter().enumerate().map(|(at, by)| format!("[{}]", shifted(INDEX[at], *by))).collect();
        match self.buffers {
            Buffers::Modulo(3) if self.dice.one_in(3) => format!(
                "u[(t + 2) % 3]{}",
                INDEX[..self.dimension].iter().map(|x| format!("[{x}]")).collect::<String>()
            ),
            Buffers::Modulo(k) => format!("u[t % {k}]{place}"),
            Buffers::Flattened => format!("u[{}]", self.flat("t % 2", &offset)),
            _ => format!("u{place}"),
        }
    }

    fn index(&mut self) -> &'static str {
        INDEX[self.dice.roll(self.dimension)]
    }

    fn value_of_second(&mut self) -> String {
        self.locals.clear();
        let (a, b) = (self.read(), self.term(1));
        let here = INDEX[..self.dimension].iter().map(|x| format!("[{x}]")).collect::<String>();
        format!("HALF * w[t % 2]{here} + 0.25f * {a} + 1e-2 * LIMIT({b})")
    }

    /// Something with a value.
    fn term(&mut self, depth: usize) -> String {
        let i = self.index();
        let most = if depth == 0 { 9 } else { 16 };
        match self.dice.roll(most) {
            0 | 1 => self.read(),
            2 => {
                let place: String = INDEX[..self.dimension].iter().map(|x| format!("[{x}]")).collect();
                self.dice.of(&["line[i]", "line[i - 1]"]).to_owned() + &format!(" * c{place}")
            }
            3 => self
                .dice
                .of(&["alpha", "beta", "count", "flags", "small", "(count / 2)", "mask[2]", "(small << 2)"])
                .to_owned(),
            4 => self
                .dice
                .of(&[
                    "0.25f", "0.1", "3", "0x1.8p-2", "1e-3f", "7u", "-2", "'a'", "012", "0xFFu", "1.f", ".5",
                ])
                .to_owned(),
            5 => {
                let text = self.dice.of(&[
                    "M_PI",
                    "M_SQRT2 * HALF",
                    "DBL_EPSILON",
                    "FLT_EPSILON",
                    "(INT_MAX * 1e-10)",
                    "((double)RAND_MAX / 1e10)",
                    "(UINT_MAX - 4294967290u)",
                    "CHAR_BIT",
                    "true",
                    "EXIT_FAILURE",
                    "(FLT_MAX * 1e-39f)",
                    "(DBL_MAX / 1e308)",
                    "LONG_MAX * 1e-19",
                    "(double)INT_MIN * 1e-9",
                ]);
                text.to_owned()
            }
            6 => match self.dice.roll(9) {
                0 => format!("({i} % 3)"),
                1 => format!("({i} / 2)"),
                2 => format!("(({i} - 4u) * 1e-10)"),
                3 => format!("({i} * 7 & 5)"),
                4 => format!("((unsigned char)({i} * 41) * 0.01f)"),
                5 => format!("(int)(0.3 * {i})"),
                6 => format!("(float){i}"),
                7 => format!("WAVE({i})"),
                _ => format!("mask[{i} % 4]"),
            },
            7 => self
                .dice
                .of(&["t % 4", "t * 0.01f", "(t - 3u) * 1e-10", "sin(0.1 * t)", "(t & 3) / 2"])
                .to_owned(),
            8 if !self.locals.is_empty() => {
                let at = self.dice.roll(self.locals.len());
                self.locals[at].clone()
            }
            8 => "HALF".to_owned(),
            9 | 10 => {
                let (a, b, operator) =
                    (self.term(depth - 1), self.term(depth - 1), self.dice.of(&["+", "-", "*"]));
                format!("({a} {operator} {b})")
            }
            11 => {
                let (c, a, b) = (self.condition(depth - 1), self.term(depth - 1), self.term(depth - 1));
                if self.dice.one_in(2) {
                    format!("PICK({c}, {a}, {b})")
                } else {
                    format!("({c} ? {a} : {b})")
                }
            }
            12 => {
                let a = self.term(depth - 1);
                match self.dice.roll(6) {
                    0 => format!("sqrt(fabs({a}))"),
                    1 => format!("fabsf({a})"),
                    2 => format!("fmin({a}, 2.0f)"),
                    3 => format!("cosf({a})"),
                    4 => format!("pow(LIMIT({a}), 2)"),
                    _ => format!("fmaxf({a}, beta)"),
                }
            }
            13 => {
                let (a, ctype) = (self.term(depth - 1), self.dice.of(&["float", "double"]));
                format!("({ctype})({a})")
            }
            14 => format!("(-{})", self.term(depth - 1)),
            _ => format!("SQUARE({})", self.term(depth - 1)),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let i = self.index();
        match self.dice.roll(9) {
            0 | 1 => format!("{} > {}", self.read(), self.dice.of(&["0.3", "0.2f", "beta", "alpha"])),
            2 => format!("{} < {} && t > 1", self.read(), self.term(depth)),
            3 => format!("!isfinite({}) || {i} == 4", self.read()),
            4 => format!("isnan({})", self.read()),
            5 => format!("({i} + {}) % 2 == 0", self.dice.of(&["1", "count", "3u"])),
            6 => "t % 3 == 0".to_owned(),
            7 => format!("{i} > 3"),
            _ => format!(
                "{} != 0 && !({} > 0.9)",
                self.dice.of(&["flags & 2", "count - 5", "small > 3"]),
                self.read()
            ),
        }
    }

    /// The statements that compute an element.
    fn assignment(&mut self, target: &str) -> Vec<String> {
        self.locals.clear();
        let mut list = Vec::new();
        if self.dice.one_in(2) {
            let (a, b) = (self.term(2), self.term(1));
            list.push(format!("double s = LIMIT({a});"));
            list.push(format!("float f = LIMIT({b});"));
            self.locals.extend(["s".to_owned(), "f".to_owned()]);
        }
        // A scalar of the function, which may be wanted behind the loop.
        if self.dice.one_in(8) {
            list.push(format!("last = {};", self.read()));
            self.locals.push("last".to_owned());
        }
        if self.dice.one_in(3) {
            let i = self.index();
            let (ctype, value) = (
                self.dice.of(&["int", "unsigned", "unsigned char", "_Bool", "short", "size_t"]),
                self.dice.of(&["* 37", "- 5", "& 6", "/ 3", "* 1000"]),
            );
            list.push(format!("{ctype} x = {i} {value};"));
            self.locals.push("x * 1e-3f".to_owned());
        }
        let value = |this: &mut Self| {
            let (a, b, c) = (this.read(), this.read(), this.term(3));
            let weights = this.dice.of(&[
                "0.3f * (%a + %b) + 1e-2 * LIMIT(%c)",
                "0.25 * %a + HALF * %b + 0.01f * (float)LIMIT(%c)",
                "(%a + 2 * %b) / 4 + LIMIT(%c) * 1e-2f",
            ]);
            weights.replace("%a", &a).replace("%b", &b).replace("%c", &c)
        };
        match self.dice.roll(7) {
            0..=2 => list.push(format!("{target} = {};", value(self))),
            3 => {
                let (c, a, b) = (self.condition(1), value(self), value(self));
                list.push(format!("if ({c}) {target} = {a}; else {target} = {b};"));
            }
            4 => {
                list.push(format!("{target} = {};", value(self)));
                let (operator, by) = (self.dice.of(&["+=", "-=", "*="]), self.term(1));
                list.push(format!("{target} {operator} 0.5 + 1e-3 * LIMIT({by});"));
            }
            5 => {
                let (i, a) = (self.index(), value(self));
                let guard = self.dice.of(&["> 2", ">= 3", "!= 4", "< 7"]);
                list.push(format!("if ({i} {guard}) {target} = {a};"));
            }
            _ => {
                let (i, a, b) = (self.index(), value(self), self.read());
                list.push(format!("if ({i} == 1) {target} = {b} * HALF; else {target} = {a};"));
            }
        }
        list
    }

    /// Loops over the inner points around some statements.
    fn nest(&mut self, body: &[String]) -> String {
        let mut text = String::new();
        let mut indent = String::from("        ");
        for at in 0..self.dimension {
            let (x, size) = (INDEX[at], SIZE[at]);
            let ctype = if at == 0 { self.dice.of(&["int", "int", "long", "size_t"]) } else { "int" };
            let head = match self.dice.roll(5) {
                0 if ctype != "size_t" => format!("{ctype} {x} = {size} - 2; {x} >= 1; {x}--"),
                1 => format!("{ctype} {x} = 1; {x} <= {size} - 2; ++{x}"),
                2 => format!("{ctype} {x} = 1; {x} < {} - 1; {x} += 1", size.to_uppercase()),
                _ => format!("{ctype} {x} = 1; {x} < {size} - 1; {x}++"),
            };
            let _ = writeln!(text, "{indent}for ({head}) {{");
            indent.push_str("    ");
        }
        for line in body {
            let _ = writeln!(text, "{indent}{line}");
        }
        let _ = writeln!(text, "{indent}{}", "}".repeat(self.dimension));
        text
    }
}

fn shifted(index: &str, by: i64) -> String {
    match by {
        0 => index.to_owned(),
        by if by < 0 => format!("{index} - {}", -by),
        by => format!("{index} + {by}"),
    }
}
