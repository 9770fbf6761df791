//! Models as C, compiled and compared with the library.

use crate::support::{all, three};
use adaptive::Learned;
use adaptive::emit::emit;
use adaptive::model::{Feature, Model, Training};
use adaptive::ranking::Ranking;
use adaptive::svm::Svm;
use adaptive::train::{Grid, Kind, TrainOptions, train};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Reads vectors and writes how all variants are ranked, a digit for each.
const MAIN: &str = r#"
#include "model.h"
#include <stdio.h>
static int none(int variant, void *data) { (void)variant; (void)data; return 0; }
int main(void)
{
    double x[model_FEATURES > 0 ? model_FEATURES : 1];
    int order[model_VARIANTS], n, k;
    while (fread(x, sizeof(double), model_FEATURES, stdin) == model_FEATURES) {
        n = model_rank(x, order);
        for (k = 0; k < n; ++k) putchar('a' + order[k]);
        if (n > 0 && model_choose(x) != order[0]) return 1;
        if (n == 0 && model_choose(x) != model_DEFAULT) return 2;
        if (model_choose_allowed(x, none, 0) != model_DEFAULT) return 3;
        putchar('\n');
    }
    return model_variant_name(0) && !model_variant_name(model_VARIANTS) ? 0 : 4;
}
"#;

/// A compiler of C, if there is one.
fn compilers() -> Vec<&'static str> {
    let works = |name: &&str| {
        let status = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let found: Vec<&str> = ["gcc", "clang"].into_iter().filter(works).collect();
    if found.is_empty() {
        println!("left out: there is no compiler of C");
    }
    found
}

fn ranked(folder: &Path, compiler: &str, flags: &[&str], vectors: &[u8]) -> String {
    let program = folder.join("program");
    let output = Command::new(compiler)
        // ISO C would switch contraction off by itself.
        .args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"])
        .args(flags)
        .arg("-o")
        .args([&program, &folder.join("main.c"), &folder.join("model.c")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, vectors) = (child.stdin.take().unwrap(), vectors.to_vec());
    let writer = std::thread::spawn(move || stdin.write_all(&vectors).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

fn compare(model: &Model, count: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let point = |at: usize| {
        // Mostly inside the trained range, some far outside, and some that are no numbers.
        let reach = if at.is_multiple_of(10) { 1e3 } else { 12.0 };
        let mut point: Vec<f64> = model.features.iter().map(|_| random.random_range(-reach..reach)).collect();
        if at % 1000 == 7 && !point.is_empty() {
            point[0] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][at / 1000 % 3];
        }
        point
    };
    compare_at(model, &(0..count).map(point).collect::<Vec<_>>());
}

fn compare_at(model: &Model, points: &[Vec<f64>]) {
    let folder = tempfile::tempdir().unwrap();
    let emitted = emit(model, Some("model")).unwrap();
    for (name, text) in &emitted.files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    std::fs::write(folder.path().join("main.c"), MAIN).unwrap();
    let (mut vectors, mut expected) = (Vec::new(), String::new());
    for point in points {
        point.iter().for_each(|value| vectors.extend(value.to_ne_bytes()));
        if point.iter().all(|value| value.is_finite()) {
            let mut ranking = Ranking::new();
            model.rank(point, &mut ranking);
            expected.extend(ranking.iter().map(|variant| char::from(b'a' + variant as u8)));
        }
        expected.push('\n');
    }
    // With `TILEWRIGHT_ALL=1`, as in `make test-long`, the levels between as well.
    let levels = [&["-O0"][..], &["-O3", "-march=native"], &["-O1"], &["-O2"]];
    let levels = &levels[..if std::env::var_os("TILEWRIGHT_ALL").is_some() { 4 } else { 2 }];
    for compiler in compilers() {
        for flags in levels {
            let found = ranked(folder.path(), compiler, flags, &vectors);
            let different = found.lines().zip(expected.lines()).filter(|(own, other)| own != other).count();
            assert_eq!((different, found.len()), (0, expected.len()), "{compiler} {flags:?}");
        }
    }
}

#[test]
fn emitted_c_chooses_as_the_library_does() {
    let table = three(150, 1);
    for kind in [Kind::Svm, Kind::Tree, Kind::Forest] {
        let options = TrainOptions { kind, grid: Grid::COARSE, trees: 5, ..TrainOptions::default() };
        compare(&train(&table, &all(&table), &[0, 1], &options).unwrap().model, 100_000);
    }
    // One class, and names that are none of C.
    let mut model = train(&table, &[0], &[0], &TrainOptions::default()).unwrap().model;
    model.variants[1] = "*/ \"quick\" ??/".to_owned();
    model.features[0].name = "x\n#error".to_owned();
    model.name = "*/ 2d".to_owned();
    compare(&model, 1000);
    assert!(emit(&model, None).unwrap().files[0].0.starts_with("m_"));
    assert!(emit(&model, Some("a b")).is_err());
}

/// Thresholds at the very decisions of 66 points, one for each pair of classes: one bit turns the vote.
#[test]
fn rounding_decides_alike() {
    let (classes, each, mut random) = (12_usize, 6_usize, ChaCha8Rng::seed_from_u64(9));
    let mut vector =
        |length: usize| -> Vec<f64> { (0..length).map(|_| random.random_range(-1.0..1.0)).collect() };
    let pairs = classes * (classes - 1) / 2;
    let mut svm = Svm {
        c: 1.0,
        gamma: 0.3,
        ranges: vec![[-1.0, 1.5], [-0.9, 1.0], [-1.0, 0.7]],
        classes: (0..classes).collect(),
        counts: vec![each; classes],
        vectors: (0..classes * each).map(|_| vector(3)).collect(),
        coefficients: (0..classes * each).map(|_| vector(classes - 1)).collect(),
        rho: vec![0.0; pairs],
    };
    let points: Vec<Vec<f64>> = (0..pairs).map(|_| vector(3)).collect();
    let mut rho = vec![0.0; pairs];
    for (at, point) in points.iter().enumerate() {
        let mut decisions = vec![0.0; pairs];
        svm.decisions(point, &mut decisions);
        rho[at] = decisions[at];
    }
    svm.rho = rho;
    let feature = |name: &str| Feature { name: name.to_owned(), least: -1.0, greatest: 1.0 };
    let model = Model {
        name: "close".to_owned(),
        variants: (0..classes).map(|at| at.to_string()).collect(),
        default: 0,
        features: ["x", "y", "z"].map(feature).to_vec(),
        constants: Vec::new(),
        training: Training::default(),
        classifier: Learned::Svm(svm),
    };
    compare_at(&model, &points);
}
