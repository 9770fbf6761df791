//! The portable exponential: accuracy, special values, and the same bits from C and C++.

use polyhedral::portable_exp::{C_HEADER, exp_f32, exp_f64};
use std::io::Write;
use std::process::{Command, Stdio};

/// A small generator, so that the inputs are the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn inputs_f32() -> Vec<f32> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut inputs =
        vec![0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN];
    inputs.extend([88.72283, 88.72284, -87.33654, -87.33655, -103.97, -103.98, 1e-45, -1e-45]);
    inputs.extend((0..400_000).map(|k| -105.0 + 0.0005 * k as f32));
    inputs.extend((0..200_000).map(|_| f32::from_bits(random.next() as u32)));
    inputs
}

fn inputs_f64() -> Vec<f64> {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    let mut inputs =
        vec![0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN];
    inputs.extend([709.782712893384, 709.7827128933841, -708.3964185322641, -745.13, -745.14, 5e-324]);
    inputs.extend((0..400_000).map(|k| -747.0 + 0.003_65 * k as f64));
    inputs.extend((0..200_000).map(|_| f64::from_bits(random.next())));
    inputs
}

#[test]
fn special_values() {
    assert_eq!(exp_f32(0.0), 1.0);
    assert_eq!(exp_f32(-0.0), 1.0);
    assert_eq!(exp_f32(f32::INFINITY), f32::INFINITY);
    assert_eq!(exp_f32(f32::NEG_INFINITY), 0.0);
    assert!(exp_f32(f32::NAN).is_nan());
    assert_eq!(exp_f32(88.8), f32::INFINITY);
    assert_eq!(exp_f32(-104.5), 0.0);
    assert_eq!(exp_f64(0.0), 1.0);
    assert_eq!(exp_f64(f64::INFINITY), f64::INFINITY);
    assert_eq!(exp_f64(f64::NEG_INFINITY), 0.0);
    assert!(exp_f64(f64::NAN).is_nan());
    assert_eq!(exp_f64(710.0), f64::INFINITY);
    assert_eq!(exp_f64(-746.5), 0.0);
}

/// Distance in units of the last place; the subnormal results count in theirs.
#[test]
fn error_is_below_two_units() {
    let mut worst = 0.0_f64;
    for x in inputs_f32().into_iter().filter(|x| !x.is_nan()) {
        let exact = f64::from(x).exp();
        let found = exp_f32(x);
        if exact > f64::from(f32::MAX) {
            assert!(found >= f32::MAX, "{x}");
            continue;
        }
        assert!(found.is_finite(), "{x}");
        let exponent = (exact.log2().floor() as i32).max(-126);
        worst = worst.max((f64::from(found) - exact).abs() / 2.0_f64.powi(exponent - 23));
    }
    println!("f32: at most {worst:.3} units");
    assert!(worst <= 2.0, "{worst}");
    let mut worst = 0;
    for x in inputs_f64().into_iter().filter(|x| !x.is_nan()) {
        // The standard library is within one unit itself.
        worst = worst.max(exp_f64(x).to_bits().abs_diff(x.exp().to_bits()));
    }
    println!("f64: at most {worst} units from the standard library");
    assert!(worst <= 1, "{worst}");
}

const PROGRAM: &str = r#"
#include <stdio.h>
#include "portable_exp.h"
static double in[4096], out[4096];
static float inf_[4096], outf[4096];
int main(int argc, char **argv) {
    (void)argv;
    size_t n;
    if (argc > 1) {
        while ((n = fread(in, sizeof(double), 4096, stdin)) > 0) {
            for (size_t i = 0; i < n; i++) out[i] = tw_exp(in[i]);
            fwrite(out, sizeof(double), n, stdout);
        }
    } else {
        while ((n = fread(inf_, sizeof(float), 4096, stdin)) > 0) {
            for (size_t i = 0; i < n; i++) outf[i] = tw_expf(inf_[i]);
            fwrite(outf, sizeof(float), n, stdout);
        }
    }
    return 0;
}
"#;

fn pipe(program: &std::path::Path, arguments: &[&str], input: Vec<u8>) -> Vec<u8> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut stdin = child.stdin.take().expect("stdin");
    let writer = std::thread::spawn(move || stdin.write_all(&input).expect("writes"));
    let output = child.wait_with_output().expect("ends");
    writer.join().expect("joins");
    assert!(output.status.success());
    output.stdout
}

#[test]
fn c_and_cpp_give_the_same_bits() {
    let folder = tempfile::tempdir().expect("folder");
    let folder = folder.path();
    std::fs::write(folder.join("portable_exp.h"), C_HEADER).expect("header");
    let compilers = [("cc", "c", "-std=c99"), ("c++", "cpp", "-std=c++11")];
    for (compiler, extension, standard) in compilers {
        let source = folder.join(format!("exp.{extension}"));
        let program = folder.join(format!("exp_{extension}"));
        std::fs::write(&source, PROGRAM).expect("source");
        let status = Command::new(compiler)
            .args([
                standard,
                "-O3",
                "-march=native",
                "-ffp-contract=off",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-o",
            ])
            .args([&program, &source])
            .status();
        let Ok(status) = status else {
            eprintln!(
                "SKIPPED: no `{compiler}` on this machine; the bits of its exponential are not compared"
            );
            continue;
        };
        assert!(status.success(), "{compiler} refuses the header");
        let inputs = inputs_f32();
        let output = pipe(&program, &[], inputs.iter().flat_map(|x| x.to_ne_bytes()).collect());
        assert_eq!(output.len(), 4 * inputs.len());
        for (x, bytes) in inputs.iter().zip(output.chunks_exact(4)) {
            let found = u32::from_ne_bytes(bytes.try_into().expect("4 bytes"));
            assert_eq!(found, exp_f32(*x).to_bits(), "{compiler}: exp({x:?})");
        }
        let inputs = inputs_f64();
        let output = pipe(&program, &["double"], inputs.iter().flat_map(|x| x.to_ne_bytes()).collect());
        assert_eq!(output.len(), 8 * inputs.len());
        for (x, bytes) in inputs.iter().zip(output.chunks_exact(8)) {
            let found = u64::from_ne_bytes(bytes.try_into().expect("8 bytes"));
            assert_eq!(found, exp_f64(*x).to_bits(), "{compiler}: exp({x:?})");
        }
    }
}
