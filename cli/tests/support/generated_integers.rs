//! C programs by chance whose arrays hold integers, alone or as members of structures: each number gives one, always the
//! same. No signed sum or product overflows, and nothing is divided by zero.

use crate::generated::Dice;
use std::fmt::Write;

/// An array's elements, and a bound of what they hold.
const TYPES: [(&str, i64); 8] = [
    ("int", 996),
    ("unsigned", i64::MAX),
    ("unsigned char", 255),
    ("signed char", 127),
    ("short", 996),
    ("unsigned short", 65535),
    ("char", 96),
    ("_Bool", 1),
];

struct Generator {
    dice: Dice,
    ctype: &'static str,
    most: i64,
    dimension: usize,
    /// Whether the elements are structures with a second member.
    structures: bool,
    locals: usize,
}

/// The program of this number.
pub fn program(number: u64) -> String {
    let mut dice = Dice::new(number.wrapping_add(7_777_777));
    let (ctype, most) = TYPES[dice.roll(TYPES.len())];
    let (dimension, structures) = (1 + dice.roll(2), dice.one_in(3));
    Generator { dice, ctype, most, dimension, structures, locals: 0 }.text()
}

impl Generator {
    fn text(&mut self) -> String {
        let (inner, here) = if self.dimension == 1 { ("[N]", "[i]") } else { ("[N][M]", "[i][j]") };
        let dimension = self.dimension;
        let around = |indent: &str, low: &str, off: &str, body: &str| match dimension {
            1 => format!("{indent}for (int i = {low}; i < N{off}; i++) {{\n{body}{indent}}}\n"),
            _ => format!(
                "{indent}for (int i = {low}; i < N{off}; i++)\n{indent}    for (int j = {low}; j < M{off}; j++) {{\n{body}{indent}    }}\n"
            ),
        };
        let (member, element) = match self.structures {
            true => (".v", format!("struct cell {{ float w; {} v; }}", self.ctype)),
            false => ("", self.ctype.to_owned()),
        };
        let name = if self.structures { "struct cell" } else { self.ctype };
        let mut text = String::from(
            "#include <stdio.h>\n#include <stdlib.h>\n#define N 13\n#define M 21\n#define STEPS 9\n",
        );
        if self.structures {
            let _ = writeln!(text, "{element};");
        }
        let pointers = self.dimension == 1 && self.dice.one_in(2);
        let _ = match pointers {
            true => writeln!(text, "static {name} first{inner}, second{inner};"),
            false => writeln!(text, "static {name} a{inner}, b{inner};"),
        };
        let _ = writeln!(
            text,
            "int main(int argc, char **argv)\n{{\n    int by = argc + 2; unsigned wide = 3000000000u; (void)by; (void)wide; (void)argv;"
        );
        if pointers {
            let _ = writeln!(text, "    {name} *a = first, *b = second;");
        }
        let sum = if self.dimension == 1 { "i * 7" } else { "i * 7 + j * 3" };
        let start = self.kept(&format!("({sum}) % 97"));
        let weight = if self.structures { format!(" a{here}.w = b{here}.w = i;") } else { String::new() };
        text.push_str(&around(
            "    ",
            "0",
            "",
            &format!("        a{here}{member} = b{here}{member} = {start};{weight}\n"),
        ));
        let mut body = String::new();
        let value = self.value(3, here, member);
        let kept = self.kept(&value);
        match self.dice.roll(4) {
            0 => {
                let condition = self.condition(here, member);
                let other = self.value(2, here, member);
                let other = self.kept(&other);
                let _ = writeln!(
                    body,
                    "        if ({condition}) b{here}{member} = {kept};\n        else b{here}{member} = {other};"
                );
            }
            1 => {
                let _ = writeln!(body, "        int n = 0;");
                for _ in 0..1 + self.dice.roll(3) {
                    let condition = self.condition(here, member);
                    let _ = writeln!(body, "        if ({condition}) n++;");
                }
                self.locals = 1;
                let value = self.value(2, here, member);
                let kept = self.kept(&format!("{value} + n"));
                let _ = writeln!(body, "        b{here}{member} = {kept};");
                self.locals = 0;
            }
            _ => {
                let _ = writeln!(body, "        b{here}{member} = {kept};");
            }
        }
        if self.structures {
            let _ =
                writeln!(body, "        b{here}.w = 0.5f * a{here}.w + {} * 0.01f;", self.read(here, member));
        }
        text.push_str("    for (int t = 0; t < STEPS; t++) {\n");
        text.push_str(&around("        ", "1", " - 1", &body));
        if pointers {
            let _ = writeln!(text, "        {name} *old = a; a = b; b = old;");
        } else {
            let copy = match self.structures && self.dice.one_in(2) {
                false if self.structures => {
                    format!("        a{here}.v = b{here}.v; a{here}.w = b{here}.w;\n")
                }
                _ => format!("        a{here} = b{here};\n"),
            };
            text.push_str(&around("        ", "1", " - 1", &copy));
        }
        text.push_str("    }\n");
        let last = if self.structures { format!("printf(\" %a\", a{here}.w);") } else { String::new() };
        text.push_str(&around(
            "    ",
            "0",
            "",
            &format!("        printf(\"%lld\", (long long)a{here}{member}); {last} puts(\"\");\n"),
        ));
        text.push_str("    return 0;\n}\n");
        text
    }

    /// A value as one that the elements hold for certain, where they have a sign.
    fn kept(&mut self, value: &str) -> String {
        match self.ctype {
            "int" | "short" => format!("({value}) % 997"),
            "char" => format!("({value}) % 97"),
            _ => value.to_owned(),
        }
    }

    fn read(&mut self, here: &str, member: &str) -> String {
        let place = match (self.dice.roll(5), self.dimension) {
            (0, 1) => "[i - 1]",
            (1 | 2, 1) => "[i + 1]",
            (0, _) => "[i - 1][j]",
            (1, _) => "[i + 1][j]",
            (2, 2) => "[i][j - 1]",
            (3, 2) => "[i][j + 1]",
            _ => here,
        };
        format!("a{place}{member}")
    }

    fn condition(&mut self, here: &str, member: &str) -> String {
        let (a, b) = (self.read(here, member), self.read(here, member));
        match self.dice.roll(5) {
            0 => format!("{a} > {b}"),
            1 => format!("{a} == {b} || t % 3 == 1"),
            2 => a,
            3 => format!("!({a} % 3) && {b} < {}", self.dice.of(&["5", "5u", "by", "wide"])),
            _ => format!("({a} & 1) != i % 2"),
        }
    }

    fn value(&mut self, depth: usize, here: &str, member: &str) -> String {
        // Sums of at most 32 products of at most 1000 * 1000.
        let large = self.most > 996;
        if depth == 0 {
            return match self.dice.roll(4) {
                0 => self.dice.of(&["1", "3", "'a'", "7", "(t & 3)", "(i % 5)", "by"]).to_owned(),
                _ => self.read(here, member),
            };
        }
        let (a, b) = (self.value(depth - 1, here, member), self.value(depth - 1, here, member));
        match self.dice.roll(12) {
            0..=2 => format!("({a} + {b})"),
            3 | 4 => format!("({a} - {b})"),
            5 => format!("({} * {})", self.read(here, member), self.dice.of(&["2", "3", "by"])),
            6 => format!("({a} / {})", self.dice.of(&["2", "3", "4", "by", "7"])),
            7 => format!("({a} % {})", self.dice.of(&["2", "5", "16", "by"])),
            8 => format!("({} {})", self.read(here, member), self.dice.of(&["& 7", "& 12", ">> 2", "& 1"])),
            9 => format!("({} ? {a} : {b})", self.condition(here, member)),
            10 if !large => format!("(int)({a} * 0.37f)"),
            11 if self.locals > 0 => "n".to_owned(),
            _ => format!("(-{a})"),
        }
    }
}
