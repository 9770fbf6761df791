//! C programs by chance whose steps copy arrays: behind the sweep or before it, in part, along chains, beside edges, tests and
//! output. Each number gives one, always the same.

use crate::generated::Dice;
use std::fmt::Write;

/// Rows and columns that a loop leaves out at each end.
type Margins = [usize; 4];

const INNER: Margins = [1, 1, 1, 1];
const WHOLE: Margins = [0, 0, 0, 0];

struct Generator {
    dice: Dice,
    /// The arrays and the types of their elements.
    arrays: Vec<(&'static str, &'static str)>,
    rows: usize,
    columns: usize,
    /// `a[i * M + j]`
    flat: bool,
    /// The steps are a function of pointers to the arrays, which is called with them in two orders.
    called: bool,
}

/// The program of this number.
pub fn program(number: u64) -> String {
    let mut dice = Dice::new(number ^ 0x00c0_91e5);
    let kind = dice.of(&["double", "double", "float", "int", "unsigned char", "mixed"]);
    let count = 2 + dice.roll(3).min(1);
    let names: Vec<&'static str> = ["a", "b", "c"][..count].to_vec();
    let arrays = names
        .into_iter()
        .map(|name| (name, if kind == "mixed" { ["double", "float", "int"][dice.roll(3)] } else { kind }));
    let arrays: Vec<_> = arrays.collect();
    let (rows, columns) = [(37, 41), (12, 60), (23, 9), (5, 6), (64, 64)][dice.roll(5)];
    let (flat, called) = (dice.one_in(4), kind != "mixed" && dice.one_in(3));
    Generator { dice, arrays, rows, columns, flat, called }.text()
}

impl Generator {
    fn at(&self, array: usize, i: i64, j: i64) -> String {
        let index = |name: &str, by: i64| {
            if by == 0 {
                name.to_owned()
            } else {
                format!("{name} {} {}", if by < 0 { '-' } else { '+' }, by.abs())
            }
        };
        let (name, i, j) = (self.arrays[array].0, index("i", i), index("j", j));
        if self.flat { format!("{name}[({i}) * M + {j}]") } else { format!("{name}[{i}][{j}]") }
    }

    fn here(&self, array: usize) -> String {
        self.at(array, 0, 0)
    }

    fn real(&self, array: usize) -> bool {
        matches!(self.arrays[array].1, "double" | "float")
    }

    fn over(&self, [top, bottom, left, right]: Margins, body: &str) -> String {
        format!(
            "        for (int i = {top}; i < N - {bottom}; i++)\n            for (int j = {left}; j < M - {right}; j++) {{ {body} }}\n"
        )
    }

    fn pick(&mut self) -> usize {
        self.dice.roll(self.arrays.len())
    }

    fn other(&mut self, than: usize) -> usize {
        (than + 1 + self.dice.roll(self.arrays.len() - 1)) % self.arrays.len()
    }

    /// A value for an element of an array, of the neighbourhood in some arrays.
    fn value(&mut self, target: usize, of: &[usize]) -> String {
        let terms: Vec<String> = (0..2 + self.dice.roll(3))
            .map(|_| {
                let array = of[self.dice.roll(of.len())];
                let (i, j) = [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (-1, 0), (1, 0), (0, 1), (0, -1)]
                    [self.dice.roll(9)];
                self.at(array, i, j)
            })
            .collect();
        if self.real(target) {
            let factor = self.dice.of(&["0.25", "0.3f", "0.125", "-0.25"]);
            return format!("{factor} * ({})", terms.join(self.dice.of(&[" + ", " - "])));
        }
        let terms: Vec<String> =
            terms.iter().zip(1..).map(|(term, by)| format!("{by} * (int){term}")).collect();
        format!("({}) % {}", terms.join(" + "), self.dice.of(&["7", "11", "101"]))
    }

    fn sweep(&mut self, target: usize, of: &[usize]) -> String {
        let margins = [INNER, INNER, INNER, [2, 1, 1, 2]][self.dice.roll(4)];
        let value = self.value(target, of);
        self.over(margins, &format!("{} = {value};", self.here(target)))
    }

    fn copy(&mut self, to: usize, from: usize) -> String {
        let ((target, kind), (source, other)) = (self.arrays[to], self.arrays[from]);
        if kind == other && self.dice.one_in(4) {
            return format!("        memcpy({target}, {source}, N * M * sizeof({kind}));\n");
        }
        let margins = [WHOLE, INNER, INNER, INNER, [2, 1, 1, 1], [1, 1, 0, 0]][self.dice.roll(6)];
        self.over(margins, &format!("{} = {};", self.here(to), self.here(from)))
    }

    fn statements(&mut self) -> Vec<String> {
        let three = self.arrays.len() > 2;
        match self.dice.roll(6) {
            0 => vec![self.sweep(1, &[0]), self.copy(0, 1)],
            1 => vec![self.copy(1, 0), self.sweep(0, &[1])],
            2 if three => vec![self.sweep(2, &[0, 0, 1]), self.copy(1, 0), self.copy(0, 2)],
            3 if three => vec![self.copy(2, 0), self.sweep(1, &[2]), self.copy(0, 1)],
            4 => {
                let row = format!(
                    "        for (int j = 0; j < M; j++) {{ const int i = 0; {} = {}; }}\n",
                    self.here(1),
                    self.at(1, 1, 0)
                );
                vec![self.sweep(1, &[0]), row, self.copy(0, 1)]
            }
            _ => (0..2 + self.dice.roll(3))
                .map(|_| {
                    let target = self.pick();
                    let other = self.other(target);
                    match self.dice.roll(9) {
                        0..4 => self.copy(target, other),
                        4 => self.sweep(target, &(0..self.arrays.len()).collect::<Vec<_>>()),
                        _ => self.sweep(target, &[other]),
                    }
                })
                .collect(),
        }
    }

    fn text(mut self) -> String {
        let all: Vec<usize> = (0..self.arrays.len()).collect();
        let mut list = self.statements();
        // Something that may not be left out.
        match self.dice.roll(12) {
            0 | 1 => {
                let target = self.pick();
                let at = self.dice.roll(list.len() + 1);
                let sweep = self.sweep(target, &all);
                list.insert(at, sweep);
            }
            2 => list.reverse(),
            3 => {
                let target = self.pick();
                list.push(self.over(INNER, &format!("{0} = {0} / 2;", self.here(target))));
            }
            4 => {
                let name = self.arrays[self.dice.roll(2)].0;
                let element = if self.flat { "[5 * M - 2]" } else { "[4][M - 2]" };
                let at = self.dice.roll(list.len() + 1);
                list.insert(at, format!("        if (t % 3 == 1) {name}{element} += 1;\n"));
            }
            5 => {
                let at = self.dice.roll(list.len());
                list[at] = format!("        if (t % 2 == 0) {{\n{}        }}\n", list[at]);
            }
            _ => {}
        }
        let shown = self.over(
            WHOLE,
            &format!(
                "printf(\"{}\\n\", {});",
                vec!["%.9g"; all.len()].join(" "),
                all.iter()
                    .map(|array| format!("(double){}", self.here(*array)))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        );
        if self.dice.one_in(5) {
            let (at, name) = (self.dice.roll(list.len() + 1), self.arrays[self.dice.roll(2)].0);
            let element = if self.flat { "[3 * M + 4]" } else { "[3][4]" };
            let often = 2 + self.dice.roll(3);
            list.insert(
                at,
                format!("        if (t % {often} == 1) printf(\"%.9g\\n\", (double){name}{element});\n"),
            );
        }
        let steps = [0, 1, 2, 3, 8, 13, 21][self.dice.roll(7)];
        let tested = self.real(0) && self.real(1) && self.dice.one_in(4);
        let mut run = String::new();
        if tested {
            let apart = format!("fabs({} - {})", self.here(0), self.here(1));
            let body = match self.dice.one_in(2) {
                true => format!("e = fmax(e, {apart});"),
                false => format!("if ({apart} > e) e = {apart};"),
            };
            let at = [1, list.len()][self.dice.roll(2)];
            list.insert(at, self.over(INNER, &body));
            if self.dice.one_in(4) {
                let at = self.dice.roll(list.len() + 1);
                list.insert(at, "        if (t > 2 && e < 0.5) break;\n".to_owned());
            }
            let least = self.dice.of(&["1e-9", "0.2", "0.01"]);
            let _ = writeln!(
                run,
                "    double e = 1;\n    int t = 0;\n    while (e > {least} && t < {}) {{\n        e = 0;\n{}        t++;\n    }}\n    printf(\"%d %.17g\\n\", t, e);",
                steps + 9,
                list.concat()
            );
        } else {
            let _ = writeln!(run, "    for (int t = 0; t < {steps}; t++) {{\n{}    }}", list.concat());
        }
        self.whole_text(&run, &shown)
    }

    fn whole_text(&self, run: &str, shown: &str) -> String {
        let extents = if self.flat { "[N * M]" } else { "[N][M]" };
        let mut text = format!(
            "#include <math.h>\n#include <stdio.h>\n#include <string.h>\n#define N {}\n#define M {}\n",
            self.rows, self.columns
        );
        let names: Vec<&str> = self.arrays.iter().map(|(name, _)| *name).collect();
        for (name, kind) in &self.arrays {
            let _ = writeln!(text, "static {kind} {name}{extents};");
        }
        let mut fill = String::new();
        for number in 0..self.arrays.len() {
            let _ = write!(
                fill,
                "{} = (i * {} + j * {}) % {}; ",
                self.here(number),
                5 + number,
                3 + number,
                7 + 2 * number
            );
        }
        let mut body = format!("{}{run}{shown}", self.over(WHOLE, &fill));
        if self.called {
            let parameters = self.arrays.iter().map(|(name, kind)| match self.flat {
                true => format!("{kind} *{name}"),
                false => format!("{kind} (*{name})[M]"),
            });
            let _ =
                writeln!(text, "static void run({})\n{{\n{run}}}", parameters.collect::<Vec<_>>().join(", "));
            let mut turned = names.clone();
            turned.rotate_left(1);
            let calls = format!("    run({});\n    run({});\n", names.join(", "), turned.join(", "));
            body = format!("{}{calls}{shown}", self.over(WHOLE, &fill));
        }
        let _ = writeln!(text, "int main(void)\n{{\n{body}    return 0;\n}}");
        text
    }
}
