//! C programs by chance as people write them: without pragmas, with steps in functions, structures, edges that are computed
//! again, copies of whole arrays. Each number gives one, always the same.

use crate::generated::Dice;

/// How the two arrays of a program lie.
#[derive(Clone, Copy, PartialEq)]
enum Storage {
    Global,
    Flattened,
    Structure,
    Rows,
}

struct Generator {
    dice: Dice,
    element: &'static str,
    storage: Storage,
}

/// The program of this number.
pub fn program(number: u64) -> String {
    let mut dice = Dice::new(number ^ 0xca11);
    let element = dice.of(&["float", "double"]);
    let storage = [Storage::Global, Storage::Flattened, Storage::Structure, Storage::Rows][dice.roll(4)];
    Generator { dice, element, storage }.program()
}

impl Generator {
    /// The type of a parameter that is one of the arrays.
    fn parameter(&self, name: &str) -> String {
        match self.storage {
            Storage::Global => format!("{} {name}[][N]", self.element),
            Storage::Rows => format!("{} (*{name})[n]", self.element),
            Storage::Flattened | Storage::Structure => format!("{} *{name}", self.element),
        }
    }

    /// An element of an array that is a parameter.
    fn at(&self, array: &str, i: &str, j: &str) -> String {
        match self.storage {
            Storage::Global | Storage::Rows => format!("{array}[{i}][{j}]"),
            Storage::Flattened | Storage::Structure if j.contains(' ') => {
                format!("{array}[({i}) * n + ({j})]")
            }
            Storage::Flattened | Storage::Structure => format!("{array}[({i}) * n + {j}]"),
        }
    }

    /// The arrays as the main function names them.
    fn name(&self, next: bool) -> &'static str {
        match (self.storage, next) {
            (Storage::Structure, false) => "state.now",
            (Storage::Structure, true) => "state.next",
            (_, false) => "u",
            (_, true) => "v",
        }
    }

    fn weight(&mut self) -> String {
        format!(
            "{}{}",
            self.dice.of(&["0.125", "0.25", "0.1", "0.0625", "-0.05"]),
            if self.element == "float" { "f" } else { "" }
        )
    }

    /// What a point becomes.
    fn value(&mut self) -> String {
        let mut sum = self.at("from", "i", "j");
        for _ in 0..2 + self.dice.roll(3) {
            let (i, j) = [("i - 1", "j"), ("i + 1", "j"), ("i", "j - 1"), ("i", "j + 1"), ("i + 1", "j - 1")]
                [self.dice.roll(5)];
            sum = format!("{sum} + {} * {}", self.weight(), self.at("from", i, j));
        }
        match self.dice.roll(4) {
            0 => format!("clamped({sum})"),
            1 => format!("around(from, n, i, j, {})", self.weight()),
            2 => format!("k * ({sum}) + around(from, n, i, j, k)"),
            _ => format!("k * ({sum})"),
        }
    }

    /// The statements of one step of an array from another one.
    fn sweep(&mut self) -> String {
        let value = self.value();
        let target = self.at("to", "i", "j");
        let guard = match self.dice.roll(5) {
            0 => "            if (j == 3) continue;\n",
            1 => "            if (i == 2 || j == n - 3) continue;\n",
            _ => "",
        };
        let row = self.dice.one_in(4) && matches!(self.storage, Storage::Flattened | Storage::Structure);
        let (row, target) = match row {
            true => (format!("        {} *row = to + i * n;\n", self.element), "row[j]".to_owned()),
            false => (String::new(), target),
        };
        format!(
            "    for (i = 1; i < m - 1; i++) {{\n{row}        for (int j = 1; j < n - 1; j++) {{\n{guard}            \
             {target} = {value};\n        }}\n    }}\n"
        )
    }

    /// The statements that compute the edges.
    fn edges(&mut self) -> String {
        let at = |i: &str, j: &str| self.at("to", i, j);
        let (first, last) = (at("0", "j"), at("m - 1", "j"));
        let (left, right) = (at("i", "0"), at("i", "n - 1"));
        let (below, above) = (at("1", "j"), at("m - 2", "j"));
        let (inner_left, inner_right) = (at("i", "1"), at("i", "n - 2"));
        match self.dice.roll(4) {
            0 => String::new(),
            1 => format!(
                "    for (i = 0; i < m; i++)\n        {left} = {right} = 0.5;\n    for (int j = 0; j < n; j++)\n        \
                 {first} = 1, {last} = -1;\n"
            ),
            2 => format!(
                "    for (int j = 0; j < n; j++) {{\n        {first} = {below};\n        {last} = {above};\n    }}\n    \
                 for (i = 0; i < m; i++) {{\n        {left} = {inner_left};\n        {right} = {inner_right};\n    }}\n"
            ),
            _ => format!(
                "    for (i = 1; i < m - 1; i++) {{\n        {left} = k * {inner_left};\n        {right} = {inner_right};\n    }}\n"
            ),
        }
    }

    fn program(mut self) -> String {
        let (element, storage) = (self.element, self.storage);
        let (m, n) = (11 + self.dice.roll(23), 9 + self.dice.roll(29));
        let (steps, later) = (1 + self.dice.roll(19), 1 + self.dice.roll(9));
        let (a, b) = (self.parameter("from"), self.parameter("to"));
        let (sweep, edges) = (self.sweep(), self.edges());
        let (now, next) = (self.name(false), self.name(true));
        let swapped = storage != Storage::Global && self.dice.one_in(2);
        let rotate = match (swapped, self.dice.roll(3)) {
            (true, 0) if storage != Storage::Rows => format!("        exchange(&{now}, &{next});\n"),
            (true, _) => {
                let held = match storage {
                    Storage::Rows => format!("{element} (*held)[n]"),
                    _ => format!("{element} *held"),
                };
                format!("        {held} = {now};\n        {now} = {next};\n        {next} = held;\n")
            }
            (false, 0) if storage == Storage::Global => "        memcpy(u, v, sizeof(u));\n".to_owned(),
            (false, 0) if storage != Storage::Rows => {
                format!("        memcpy({now}, {next}, m * n * sizeof({element}));\n")
            }
            _ => format!("        copied({next}, {now}, m, n);\n"),
        };
        let call = format!("        step({now}, {next}, m, n, k);\n");
        let step = match self.dice.roll(3) {
            0 => format!("{call}        framed({next}, m, n, k);\n"),
            _ => call,
        };
        let framed =
            format!("static void framed({b}, int m, int n, {element} k)\n{{\n    int i;\n{edges}}}\n");
        let framed = framed.replace("(*to)[n], int m, int n", "(*to)[N], int m, int n");
        let globals = match storage {
            Storage::Global => format!("static {element} u[M][N], v[M][N];\n"),
            Storage::Structure => {
                format!("struct state {{ int m, n; {element} *now, *next; }};\nstatic struct state state;\n")
            }
            _ => String::new(),
        };
        let allocated = match storage {
            Storage::Global => String::new(),
            Storage::Flattened => format!(
                "    {element} *u = malloc(m * n * sizeof({element})), *v = malloc(m * n * sizeof({element}));\n"
            ),
            Storage::Structure => format!(
                "    state.now = malloc(m * n * sizeof({element}));\n    state.next = malloc(m * n * sizeof({element}));\n"
            ),
            Storage::Rows => {
                format!("    {element} (*u)[N] = malloc(m * sizeof *u), (*v)[N] = malloc(m * sizeof *v);\n")
            }
        };
        let fixed = |text: String| if storage == Storage::Rows { text.replace(")[n]", ")[N]") } else { text };
        let (zero, one) = (self.at(now, "i", "j"), self.at(next, "i", "j"));
        let neighbours = [self.at("from", "i - 1", "j"), self.at("from", "i", "j + 1")];
        let second = self.value().replace("from", now);
        let behind = self.dice.of(&["", "    i = 0;\n"]);
        let freed = if storage == Storage::Global {
            String::new()
        } else {
            format!("    free({now});\n    free({next});\n")
        };
        let exchange = format!(
            "static void exchange({element} **a, {element} **b)\n{{\n    {element} *held = *a;\n    *a = *b;\n    *b = held;\n}}\n"
        );
        let around = fixed(format!(
            "static inline {element} around({a}, int n, int i, int j, {element} w)\n{{\n    {element} s = {} + {};\n    \
             return w * s;\n}}\n",
            neighbours[0], neighbours[1]
        ));
        let steps_text = fixed(format!(
            "static void step({a}, {b}, int m, int n, {element} k)\n{{\n    int i;\n{sweep}{edges}}}\n"
        ));
        let copied = fixed(format!(
            "static void copied({a}, {b}, int m, int n)\n{{\n    for (int i = 0; i < m; i++)\n        for (int j = 0; j < n; j++)\n            {} = {};\n}}\n",
            self.at("to", "i", "j"),
            self.at("from", "i", "j")
        ));
        let rotate = fixed(rotate);
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#define M {m}\n#define N {n}\n{globals}\
             static {element} clamped({element} x)\n{{\n    if (x > 2) return 2;\n    if (x < -2) return -2;\n    return x;\n}}\n\
             {around}{steps_text}{framed}{copied}{exchange}\
             int main(void)\n{{\n    int m = M, n = N, i;\n    {element} k = 0.25;\n{allocated}    \
             for (i = 0; i < m; i++)\n        for (int j = 0; j < n; j++)\n            \
             {zero} = {one} = (i * 7 + j * 3) % 11 * 0.125;\n    \
             for (int t = 0; t < {steps}; t++) {{\n{step}{rotate}    }}\n{behind}    \
             for (int s = 0; s < {later}; ++s) {{\n        for (i = 1; i < m - 1; i++)\n            for (int j = 1; j < n - 1; j++)\n                \
             {one} = {second};\n        for (i = 1; i < m - 1; i++)\n            for (int j = 1; j < n - 1; j++)\n                \
             {zero} = {one};\n    }}\n    \
             for (i = 0; i < m; i++)\n        for (int j = 0; j < n; j++)\n            printf(\"%a %a\\n\", (double){zero}, (double){one});\n    \
             printf(\"%d\\n\", i);\n    (void)exchange, (void)framed, (void)copied, (void)clamped, (void)around;\n{freed}    return 0;\n}}\n"
        )
    }
}
