//! Loops that are little work are done by one thread; what is not known before is shared.

use crate::support::{Chance, compiler, inputs, native, parsed};
use nested::emit::generated::Mode;
use nested::interpret::interpret;
use nested::openmp::generate;

fn directives(text: &str) -> Vec<String> {
    let made = generate(&parsed(text), &[], Mode::Deterministic, "program").text;
    let lines = made.lines().filter_map(|line| line.split_once("schedule(static)"));
    lines.map(|(_, rest)| rest.trim().to_owned()).collect()
}

#[test]
fn loops_say_how_much_work_they_are() {
    let cases = [
        ("map(|a| a + 1.0, s)", "if (n_s > 32768)"),
        // Calls of C's library count more, and loops inside are multiplied.
        ("map(|a| exp(a), s)", "if (tw_times(n_s, 9) > 32768)"),
        ("map(|a| reduce(+, map(|b| a * b, s), 0.0), s)", "if (tw_times(n_s, n_s) > 32768)"),
        (
            "map(|a| reduce(+, map(|b| reduce(max, map(|c| a * b * c, s), 0.0), s), 0.0), s)",
            "if (tw_times(tw_times(tw_times(n_s, n_s), n_s), 2) > 32768)",
        ),
        // How often a loop runs may depend on what is read.
        ("map(|k| reduce(+, rows[k], 0.0), places)", ""),
        ("map(|k| reduce(+, map(|i| s[0], range(0, k)), 0.0), places)", ""),
    ];
    for (value, expected) in cases {
        let text = format!(
            "nested own {{ input s: [f64]; input o: [i64]; input places: [i64]; let rows = nest(s, o); output y = {value}; }}"
        );
        let found = directives(&text);
        assert!(found.iter().any(|own| own == expected), "{value}: {found:?}");
    }
}

/// The same bits on both sides of the limit.
#[test]
fn results_are_the_same_on_both_sides_of_the_limit() {
    let Some(compiler) = compiler() else { return };
    let text = "nested own { input s: [f64]; let t = map(|a| a * 3.0 + 1.0, s); output y = scan(+, t, 0.0); output z = map(|a| a - 1.0, t); }";
    let program = parsed(text);
    let mut chance = Chance(21);
    for count in [0, 1, 32_767, 32_768, 32_769, 70_001] {
        let inputs = inputs([("s", chance.numbers(count))]);
        let expected = interpret(&program, &inputs).unwrap();
        let found = native(&program, &[], Mode::Deterministic, &compiler, &inputs).unwrap();
        assert!(expected.iter().zip(&found).all(|(a, b)| a.same_bits(b)), "{count}");
    }
}
