//! Names that generated code uses itself: the user's program must mean the same whatever it calls things.

use crate::harness::{
    Problem, analysed, compiled, everything, library_text, parsed, planned, small_plan_of, strict,
};
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::{self, Strategy, Target};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Field, coefficient, two parameters, local, time index, space indices.
type Names<'a> = [&'a str; 8];

const USUAL: Names<'static> = ["u", "c", "p", "q", "l", "t", "i", "j"];

fn program([field, coefficient, single, double, local, t, i, j]: Names<'_>) -> String {
    format!(
        "stencil named({t}, {i}, {j}) {{
    field {field}: f64;
    field other_field: f32;
    coefficient {coefficient}: f64;
    param {single} = 0.25;
    param {double} = 0.375;
    let {local} = {double} * {field}[{t}, {i}-1, {j}] + {coefficient}[{i}, {j}] * {double};
    {field}[{t}+1, {i}, {j}] = 0.25 * {field}[{t}, {i}, {j}+1] + {local} * {double};
    other_field[{t}+1, {i}, {j}] = {single} * other_field[{t}, {i}+1, {j}];
}}"
    )
}

/// The strategies that take such programs.
fn strategies() -> Vec<&'static dyn Strategy> {
    let program = parsed("named", &program(USUAL));
    let analysis = analysed(&program);
    strategy::all().iter().copied().filter(|own| own.takes(&program, &analysis.cone).is_ok()).collect()
}

fn check(names: Names<'_>, strategy: &dyn Strategy) {
    let program = parsed("named", &program(names));
    // Neither the cone nor the proof, which the usual names have, depends on names.
    let analysis = analysed(&parsed("named", &self::program(USUAL)));
    let plan = small_plan_of(&program, &analysis, strategy, 0).unwrap_or_else(|| {
        let tile = strategy.default_tile(&program, &analysis.cone, Target::OpenMp);
        strategy::plan(strategy, &program, &analysis.cone, &tile).unwrap()
    });
    let native = compiled(&program, &library_text(&plan), &strict(0));
    let problem = Problem::new(&program, &[31, 29], 5);
    let expected = problem.expected(&program);
    for layout in problem.layouts(&program) {
        problem.check(&program, &native, layout, &expected).unwrap();
    }
}

/// The copies of a local in an unrolled loop have names of their own.
#[test]
fn parameters_like_copies_of_locals() {
    for strategy in strategies() {
        check(["u", "c", "p", "l_1", "l", "t", "i", "j"], strategy);
    }
}

/// Every identifier of the generated text in every place where the language accepts it.
#[test]
fn names_of_the_generated_code() {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut identifiers = BTreeSet::new();
    for strategy in strategies() {
        let plan = planned(&parsed("named", &program(USUAL)), strategy.id(), &TileSizes::default()).plan;
        for file in library_text(&plan) {
            // What stands behind a comment's end, up to the next comment.
            let code = file.text.split("*/").filter_map(|part| part.split("/*").next());
            identifiers.extend(code.flat_map(|code| code.split(|c: char| !is_letter(c))).map(str::to_owned));
        }
    }
    // Macros and functions of the headers.
    identifiers
        .extend(["M_PI", "M_E", "HUGE_VAL", "NAN", "y0", "j1", "gamma", "signgam", "log"].map(str::to_owned));
    let accepted = |name: &&String| {
        let mut names = USUAL;
        names[0] = name;
        !USUAL.contains(&name.as_str()) && polyhedral::parse("named", &program(names)).is_ok()
    };
    let accepted: Vec<&String> = identifiers.iter().filter(accepted).collect();
    let mut failures = Vec::new();
    let strategies = strategies();
    // Eight names at a time; in the course of all rounds each comes to each place, in these to every eighth one.
    let rounds = (0..accepted.len()).step_by(if everything() { 1 } else { 8 });
    for (turn, round) in rounds.enumerate() {
        let names: Names<'_> =
            std::array::from_fn(|place| accepted[(round + place * 7) % accepted.len()].as_str());
        let strategy = strategies[turn % strategies.len()];
        if let Err(error) = catch_unwind(AssertUnwindSafe(|| check(names, strategy))) {
            let message = error.downcast_ref::<String>().cloned().unwrap_or_default();
            let errors: Vec<&str> = message.lines().filter(|line| line.contains("error:")).take(3).collect();
            failures.push(format!("{} {names:?}: {}", strategy.id(), errors.join("; ")));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// A description goes into a C comment, whatever is in it.
#[test]
fn descriptions_like_comments() {
    let text = format!("// Opens /* and closes */, ends with \\\n{}", program(USUAL));
    let program = parsed("named", &text);
    assert!(program.description.contains("/*"));
    let plan = planned(&program, "naive", &TileSizes::default()).plan;
    compiled(&program, &library_text(&plan), &strict(0));
}
