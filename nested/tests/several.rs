//! Several implementations behind one entry point, in a program of a user of C, and what the choice looks at.

use crate::support::{Chance, compiler, inputs, parsed};
use nested::data::{Array, Inputs, arranged};
use nested::emit::generated::{Mode, prepared};
use nested::features::features;
use nested::interpret::interpret;
use nested::openmp::{Ranged, Variant, several};
use nested::package::{File, package_several};
use nested::versions::Versions;
use std::process::Command;

const PROGRAM: &str = "nested p { input s: [f64]; input o: [i32]; param n: i64 = 4;
    output y = map(|r| reduce(+, r, 0.5), nest(s, o)); output z = map(|r| reduce(max, r), split(s, n)); }";

/// In place of a model: says what it is asked, and takes the last one.
const CHOICE: &str = "#include \"p_choice.h\"
#include <stdio.h>
const char *p_choice_variant_name(int variant)
{
    static const char *const names[] = {\"v0\", \"v1\", \"v2\"};
    return variant >= 0 && variant < 3 ? names[variant] : 0;
}
int p_choice_choose(const double *features)
{
    printf(\"asked\");
    for (int i = 0; i < FEATURES; ++i) printf(\" %.17g\", features[i]);
    printf(\"\\n\");
    return 2;
}
";

/// Reads the arrays of one call from the standard input, and says what came of it.
const MAIN: &str = "#include \"p.h\"
#include <stdio.h>
int main(void)
{
    tw_slot slots[p_slots] = {{0}};
    tw_report report;
    long long count, n, value;
    if (scanf(\"%lld\", &count) != 1) return 3;
    double *s = malloc((size_t)(count + 1) * sizeof *s);
    for (long long i = 0; i < count; ++i) if (scanf(\"%lf\", &s[i]) != 1) return 3;
    p_set_s(slots, s, count);
    if (scanf(\"%lld\", &count) != 1) return 3;
    int32_t *o = malloc((size_t)(count + 1) * sizeof *o);
    for (long long i = 0; i < count; ++i) {
        if (scanf(\"%lld\", &value) != 1) return 3;
        o[i] = (int32_t)value;
    }
    p_set_o(slots, o, count);
    if (scanf(\"%lld\", &n) != 1) return 3;
    int64_t tile = n;
    p_set_n(slots, &tile, 1);
    printf(\"variant %d\\n\", p_variant(slots, 2));
    /* Twice: arrays of the first call are used again. */
    int wrong = p(slots, 2, &report) || p(slots, 2, &report);
    if (wrong) {
        printf(\"wrong %s\\n\", p_check(report.check));
    } else {
        int64_t length;
        const double *y = p_get_y(slots, &length);
        printf(\"y\");
        for (int64_t i = 0; i < length; ++i) printf(\" %.17g\", y[i]);
        printf(\"\\n\");
    }
    p_free(slots);
    free(s);
    free(o);
    return 0;
}
";

fn given(count: usize, offsets: &[i32], tile: i64) -> Inputs {
    inputs([
        ("s", Chance(5).numbers(count)),
        ("o", Array::I32(offsets.to_vec())),
        ("n", Array::I64(vec![tile])),
    ])
}

/// What `MAIN` reads.
fn text(inputs: &Inputs) -> String {
    let (Array::F64(s), Array::I32(o), Array::I64(n)) = (&inputs["s"], &inputs["o"], &inputs["n"]) else {
        panic!("other types")
    };
    let list = |values: Vec<String>| format!("{}\n{}\n", values.len(), values.join(" "));
    let numbers = list(s.iter().map(|value| format!("{value:?}")).collect());
    numbers + &list(o.iter().map(i32::to_string).collect()) + &n[0].to_string()
}

#[test]
fn calls_choose_by_what_they_are_given() {
    if compiler().is_none() {
        return;
    }
    let program = parsed(PROGRAM);
    let own = features(&program);
    let names: Vec<&str> = own.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "length_s",
            "length_o",
            "value_n",
            "average_row_length_o",
            "row_length_skew_o",
            "aspect_ratio_s",
            "threads"
        ]
    );
    let (_, list, _) = prepared(&program);
    // One each with other scratch: shares of rows, threads, one thread.
    let points = nested::analysis::policy::implementations(&list[0]);
    let chosen: Vec<Variant> = [0, points.len() / 2, points.len() - 1]
        .map(|at| Variant { version: 0, chosen: vec![points[at].clone()] })
        .into();
    let versions = Versions::one(program.clone());
    let ranged = own.iter().map(|own| Ranged { feature: own.clone(), range: [0.0, 1e6] }).collect::<Vec<_>>();
    let made = several(&versions, &chosen, &ranged, Mode::Deterministic, "p");
    assert_eq!(made.variants.len(), 3);
    let header = "#define p_choice_DEFAULT 0\nconst char *p_choice_variant_name(int variant);\n\
                  int p_choice_choose(const double *features);\n";
    let source = format!("#define FEATURES {}\n{CHOICE}", own.len());
    let choice = [("p_choice.h", header.to_owned()), ("p_choice.c", source)]
        .map(|(name, text)| File { name: name.to_owned(), text });
    let files = package_several(&versions, &made, &chosen, choice.into(), Mode::Deterministic);
    let folder = tempfile::tempdir().unwrap();
    for file in &files {
        std::fs::write(folder.path().join(&file.name), &file.text).unwrap();
    }
    std::fs::write(folder.path().join("user.c"), MAIN).unwrap();
    let cmake = &files.iter().find(|file| file.name == "CMakeLists.txt").unwrap().text;
    assert!(cmake.contains("p.c p_v0.c p_v1.c p_v2.c p_choice.c p_sequential.c"), "{cmake}");
    let flags =
        ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-ffp-contract=off"];
    let sources = ["p.c", "p_v0.c", "p_v1.c", "p_v2.c", "p_choice.c", "user.c"];
    let mut cc = Command::new("cc");
    cc.args(flags).args(sources).args(["-o", "user", "-lm"]).current_dir(folder.path());
    assert!(cc.status().unwrap().success());
    let said = |inputs: &Inputs, forced: Option<&str>| {
        let file = folder.path().join("in.txt");
        std::fs::write(&file, text(inputs)).unwrap();
        let mut user = Command::new(folder.path().join("user"));
        user.stdin(std::fs::File::open(&file).unwrap()).env_remove("TILEWRIGHT_VARIANT");
        if let Some(forced) = forced {
            user.env("TILEWRIGHT_VARIANT", forced);
        }
        String::from_utf8(user.output().unwrap().stdout).unwrap()
    };
    let numbers = |line: &str| -> Vec<u64> {
        line.split(' ').skip(1).map(|own| own.parse::<f64>().unwrap().to_bits()).collect()
    };
    let line = |said: &str, stem: &str| {
        let found = said.lines().find(|line| line.starts_with(stem));
        found.unwrap_or_else(|| panic!("no {stem} in {said}")).to_owned()
    };
    // The features are the same bits as in Rust, and the results those of the interpreter, whoever computes.
    let good = given(9000, &[0, 0, 4, 8000, 8000, 9000], 7);
    let expected = interpret(&program, &good).unwrap()[0].leaves[0].numbers();
    let expected: Vec<u64> = expected.into_iter().map(f64::to_bits).collect();
    for (forced, variant) in [(None, 2), (Some("v0"), 0), (Some("v1"), 1), (Some("other"), 2)] {
        let said = said(&good, forced);
        assert_eq!(line(&said, "variant"), format!("variant {variant}"));
        assert_eq!(numbers(&line(&said, "y")), expected, "{said}");
        assert_eq!(said.contains("asked"), forced.is_none_or(|forced| forced == "other"));
    }
    for inputs in [
        good,
        given(0, &[0], 3),
        given(0, &[], 3),
        given(5, &[i32::MIN, i32::MAX, 5], 2),
        given(5, &[9, 5, -1, 3, 5], 1),
        given(6, &[0, 6], 1_000_000),
        // Of many rows not all are looked at: one is long, and is in the mean of its neighbours.
        given(
            10_602,
            &(0..=5001).map(|row| 2 * row + if row > 3210 { 600 } else { 0 }).collect::<Vec<i32>>(),
            3,
        ),
    ] {
        let arrays = arranged(&program, &inputs).unwrap();
        let values: Vec<f64> = own.iter().map(|own| own.value(&program, &arrays, 2)).collect();
        let said = said(&inputs, None);
        let inside = values.iter().all(|value| (0.0..=1e6).contains(value));
        assert_eq!(line(&said, "variant"), format!("variant {}", if inside { 2 } else { 0 }), "{values:?}");
        if inside {
            let values: Vec<u64> = values.into_iter().map(f64::to_bits).collect();
            assert_eq!(numbers(&line(&said, "asked")), values, "{said}");
        }
    }
    // What is wrong is said by the number of the implementation that found it.
    for forced in ["v0", "v1", "v2"] {
        let said = said(&given(5, &[0, 7, 5], 2), Some(forced));
        assert!(line(&said, "wrong").contains("offsets that do not begin with 0"), "{forced}: {said}");
    }
    // Tiles of no length: a feature that is no number, and the first implementation, which says so.
    let said = said(&given(5, &[0, 5], 0), None);
    assert_eq!(line(&said, "variant"), "variant 0");
    assert!(line(&said, "wrong").contains("not positive"), "{said}");
}
