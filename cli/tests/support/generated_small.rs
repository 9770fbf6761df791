//! C programs by chance that keep the values of one point in small arrays, and weights and neighbours in tables: each number
//! gives one, always the same.

use crate::generated::Dice;
use std::fmt::Write;

/// The program of this number.
pub fn program(number: u64) -> String {
    let mut dice = Dice::new(number.wrapping_add(5_555_555));
    let real = if dice.one_in(2) { "double" } else { "float" };
    let count = 2 + dice.roll(4);
    let steps = dice.roll(12);
    let mut text = String::from("#include <stdio.h>\n#define N 40\n");
    let qualifier = ["static const ", "const ", "static ", ""][dice.roll(4)];
    let list = |dice: &mut Dice, value: &dyn Fn(&mut Dice) -> String| {
        (0..count).map(|_| value(dice)).collect::<Vec<_>>().join(", ")
    };
    let offsets = list(&mut dice, &|dice| (dice.roll(5) as i64 - 2).to_string());
    let weights =
        list(&mut dice, &|dice| ["0.25", "1.0/3", "0.125f", "1", "-0.5", "2/3"][dice.roll(6)].to_owned());
    let whole = ["int", "short", "signed char", "long"][dice.roll(4)];
    let _ = writeln!(
        text,
        "{qualifier}{whole} e[] = {{ {offsets} }};\n{qualifier}{real} w[{count}] = {{ {weights} }};"
    );
    let _ = writeln!(text, "static {real} a[N], b[N];");
    // A table that changes once is none.
    let changes = dice.one_in(4) && !qualifier.contains("const");
    if changes {
        text.push_str("static void change(void)\n{\n    w[1] = 0.75;\n}\n");
    }
    let by_function = dice.one_in(3);
    if by_function {
        let _ = writeln!(
            text,
            "static {real} weighted(int k, {real} x)\n{{\n    return w[k] * x + {};\n}}",
            ["0", "e[k]", "k"][dice.roll(3)]
        );
    }
    let declared = dice.one_in(2);
    let _ = writeln!(text, "int main(void)\n{{\n    int {};", if declared { "i" } else { "i, k = 3" });
    text.push_str("    for (i = 0; i < N; i++)\n        a[i] = b[i] = (i * 7 % 11) * 0.125;\n");
    if changes {
        text.push_str("    change();\n");
    }
    let index = if declared { "int k" } else { "k" };
    let head = match dice.roll(4) {
        0 => format!("for ({index} = {}; k >= 0; k--)", count - 1),
        1 => format!("for ({index} = 0; k <= {}; ++k)", count - 1),
        2 => format!("for ({index} = 0; k < {count}; k += {})", 1 + dice.roll(2)),
        _ => format!("for ({index} = 0; k != {count}; k++)"),
    };
    let _ =
        writeln!(text, "    for (int t = 0; t < {steps}; t++) {{\n        for (i = 2; i < N - 2; i++) {{");
    let zero = ["", " = { 0 }", " = { 0.5, 0.25 }"][dice.roll(3)];
    let kind = ["float", "double", "int"][dice.roll(3)];
    let _ = writeln!(text, "            {kind} f[{count}]{zero};\n            {real} sum = 0;");
    let fill = format!("for ({index} = 0; k < {count}; k++)");
    let _ = writeln!(text, "            {fill}\n                f[k] = a[i + e[k]];");
    let term = match (by_function, dice.roll(3)) {
        (true, 0 | 1) => "weighted(k, f[k])".to_owned(),
        (_, 0) => "w[k] * f[k]".to_owned(),
        (_, 1) => format!("w[{}] * (f[k] - f[0])", dice.roll(count)),
        _ => "(f[k] > 0.5 ? w[k] : e[k]) * f[k]".to_owned(),
    };
    let _ = writeln!(text, "            {head} {{\n                sum += {term};");
    if dice.one_in(3) {
        text.push_str("                if (sum > 2)\n                    f[k] = sum - e[k];\n");
    }
    text.push_str("            }\n");
    let last = dice.roll(count);
    let _ = writeln!(text, "            b[i] = 0.5 * a[i] + 0.0625 * sum - 0.03125 * f[{last}];\n        }}");
    text.push_str("        for (i = 2; i < N - 2; i++)\n            a[i] = b[i];\n    }\n");
    text.push_str("    for (i = 0; i < N; i++)\n        printf(\"%a %a\\n\", (double)a[i], (double)b[i]);\n");
    if !declared && dice.one_in(2) {
        text.push_str("    printf(\"%d\\n\", k);\n");
    }
    text.push_str("    return 0;\n}\n");
    text
}
