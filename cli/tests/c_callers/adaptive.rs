//! Libraries with several tilings.

use super::{STRICT, sanitizers, succeeded};
use crate::support::{Folder, tilewright};
use adaptive::model_file;
use adaptive::train::choose;
use hhc_codegen::backend::openmp::{self, Caches};
use std::collections::BTreeSet;

const USES: &str =
    "ranges = [{ from = [32, 32], to = [1024, 1024], count = 3 }]\nsteps = [1, 100]\nthreads = [1, 2]\n";

/// C chooses what the model chooses, and all tilings compute the same.
#[test]
fn the_model_chooses_and_all_tilings_agree() {
    let folder = Folder::new();
    let uses = folder.write("uses.toml", USES);
    let out = folder.arg(".");
    let arguments =
        ["compile", "heat2d", "--target", "openmp", "--machine", "zen4", "--adaptive", &uses, "-o", &out];
    let report = tilewright(&[&arguments[..], &["--json"]].concat()).succeeded().json();
    let choice = &report["adaptive"];
    let tilings = choice["tilings"].as_array().expect("tilings");
    assert!(tilings.len() > 2, "{tilings:?}");
    assert_eq!((&choice["measured"], &choice["uses"]), (&false.into(), &12.into()));
    let part = |name: &str| choice["worth"][name].as_f64().expect(name);
    assert!(part("of_best") > 0.95 && part("of_best") <= 1.0, "{choice}");
    assert!(part("over_fixed") >= 1.0, "{choice}");

    let here = folder.path(".");
    folder.write("choices.c", include_str!("choices.c"));
    let mut compile: Vec<&str> = STRICT.to_vec();
    compile.extend(sanitizers(&folder));
    compile.extend([
        "-std=c99",
        "-pedantic",
        "-fopenmp",
        "-DTW_COPY_STEPS=0",
        "-DTW_COPY_POINTS=0",
        "choices.c",
    ]);
    compile.extend(["heat2d.c", "heat2d_choice.c", "-o", "choices", "-lm"]);
    succeeded("cc", &compile, &here);
    let printed = succeeded("./choices", &[], &here);

    let model = model_file::read(&folder.path("heat2d_choice.model.json")).expect("a model");
    let source = std::fs::read_to_string(folder.path("heat2d.c")).expect("source");
    let defined = |name: &str| -> u64 {
        let line = source.lines().find_map(|line| line.strip_prefix(&format!("#define {name} ")));
        line.and_then(|value| value.strip_suffix(".0")?.parse().ok()).unwrap_or_else(|| panic!("{name}"))
    };
    let caches = Caches { near: defined("TW_NEAR_BYTES"), last: defined("TW_LAST_BYTES") };
    let program = polyhedral::shipped::load("heat2d").expect("heat2d");
    let mut chosen = BTreeSet::new();
    for line in printed.lines() {
        let numbers: Vec<i64> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
        let [threads, n0, n1, steps, variant] = numbers[..] else { panic!("{line}") };
        let features = openmp::features(&program, &[n0, n1], steps, threads, caches);
        assert_eq!(choose(&model.classifier, &features, 0) as i64, variant, "{line}");
        chosen.insert(variant);
    }
    assert!(chosen.len() > 1, "{chosen:?}");
}

/// What cannot be is refused, with the way out.
#[test]
fn what_adaptive_refuses() {
    let folder = Folder::new();
    let uses = folder.write("uses.toml", USES);
    let wrong = folder.write("wrong.toml", "sizes = [[9, 9, 9]]\nsteps = [1]\n");
    let out = folder.arg("out");
    let program = folder.write(
        "p.c",
        "void f(int n, int steps, float u[2][n]) { for (int t = 0; t < steps; ++t) for (int i = 1; i < n - 1; ++i)\n\
         u[(t + 1) % 2][i] = 0.5f * (u[t % 2][i - 1] + u[t % 2][i + 1]); }\n",
    );
    for (arguments, code, word) in [
        (&["heat2d", "--target", "cuda", "--adaptive", &uses][..], 1, "--target openmp"),
        (&["heat2d", "--target", "openmp", "--adaptive", &uses, "--tile", "st=3"], 2, "--tile"),
        (&["heat2d", "--target", "openmp", "--adaptive", &uses, "--size", "8x8"], 2, "--size"),
        (&["heat2d", "--target", "openmp", "--adaptive", &wrong], 2, "dimension"),
        (&["heat2d", "--target", "openmp", "--adaptive", "none.toml"], 2, "none.toml"),
        (&["heat2d", "--target", "openmp", "--adaptive", &uses, "--machine", "h100"], 1, "GPU"),
        (&[&program, "--target", "openmp", "--adaptive", &uses], 2, "knows its own sizes"),
        (&[&program, "--target", "cuda", "--adaptive", &uses], 2, "knows its own sizes"),
    ] {
        let output = tilewright(&[&["compile", "-o", &out], arguments].concat());
        assert_eq!(output.code, code, "{arguments:?}\n{}", output.stderr);
        assert!(output.stderr.contains(word), "{arguments:?}\n{}", output.stderr);
    }
    assert!(!folder.path("out").exists());
}
