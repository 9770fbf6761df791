//! Names that generated code uses itself: the user's program must mean the same whatever it calls things.

use crate::harness::{Problem, compiled, library_text, parsed, planned, strict};
use hhc_codegen::TileSizes;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A program with a field, a coefficient, a parameter, a local and indices of these names.
fn program(names: [&str; 5], indices: [&str; 3]) -> String {
    let [field, coefficient, single, double, local] = names;
    let [t, i, j] = indices;
    format!(
        "stencil named({t}, {i}, {j}) {{
            field {field}: f64;
            field other: f32;
            coefficient {coefficient}: f64;
            param {single} = 0.25;
            param {double} = 0.375;
            let {local} = {double} * {field}[{t}, {i}-1, {j}] + {coefficient}[{i}, {j}] * {double};
            {field}[{t}+1, {i}, {j}] = 0.25 * {field}[{t}, {i}, {j}+1] + {local} * {double};
            other[{t}+1, {i}, {j}] = {single} * other[{t}, {i}+1, {j}];
        }}"
    )
}

fn check(text: &str) {
    let program = parsed("named", text);
    for strategy in ["hhc", "naive"] {
        let plan = planned(&program, strategy, &TileSizes::default()).plan;
        let native = compiled(&program, &library_text(&plan), &strict(1));
        let problem = Problem::new(&program, &[31, 29], 5);
        let expected = problem.expected(&program);
        for layout in problem.layouts(&program) {
            problem.check(&program, &native, layout, &expected).unwrap();
        }
    }
}

const USUAL: [&str; 5] = ["u", "c", "p", "q", "l"];
const INDICES: [&str; 3] = ["t", "i", "j"];

/// Every identifier of the generated text as every name that the language accepts.
fn all_places(name: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for place in 0..5 {
        let mut names = USUAL;
        names[place] = name;
        texts.push(program(names, INDICES));
    }
    for place in 0..3 {
        let mut indices = INDICES;
        indices[place] = name;
        texts.push(program(USUAL, indices));
    }
    texts.retain(|text| polyhedral::parse("named", text).is_ok());
    texts
}

#[test]
fn parameters_like_copies_of_locals() {
    check(&program(["u", "c", "p", "l_1", "l"], INDICES));
}

#[test]
fn names_of_the_generated_code() {
    let plan = planned(&parsed("named", &program(USUAL, INDICES)), "hhc", &TileSizes::default()).plan;
    let text: String = library_text(&plan).into_iter().map(|file| file.text).collect();
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut identifiers: Vec<&str> =
        text.split(|c: char| !is_letter(c)).filter(|word| word.starts_with(|c: char| !c.is_ascii_digit())).collect();
    identifiers.extend(["M_PI", "M_E", "HUGE_VAL", "y0", "j1", "gamma", "signgam", "log", "to", "from", "outside", "i0"]);
    identifiers.sort_unstable();
    identifiers.dedup();
    let mut failures = Vec::new();
    for name in identifiers.into_iter().filter(|name| !USUAL.contains(name) && !INDICES.contains(name)) {
        for text in all_places(name) {
            if let Err(error) = catch_unwind(AssertUnwindSafe(|| check(&text))) {
                let message = error.downcast_ref::<String>().cloned().unwrap_or_default();
                failures.push(format!("{name}: {text}\n{}", message.lines().take(6).collect::<Vec<_>>().join("\n")));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
