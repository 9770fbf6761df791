//! Products of rows with all rows of another matrix, which are computed for eight rows at a time.

use crate::support::{Chance, compiler, inputs, native, parsed};
use nested::data::{Array, Inputs};
use nested::emit::generated::Mode;
use nested::fault::FaultKind;
use nested::interpret::{InterpretError, interpret};
use nested::native::RunError;
use nested::openmp::generate;

/// The nearest row of the other matrix, and all products.
const TEXT: &str = "nested p { input x: [f64]; input c: [f64]; param d: i64 = 4;
    let rows = split(x, d); let others = split(c, d);
    let product = |a, b| reduce(+, map(|u, v| u * v, a, b), 0.0);
    compute squares = map(|r| product(r, r), rows); compute own = map(|o| product(o, o), others);
    output nearest = map(|r, s| reduce(assoc |(a, i), (b, j)| b < a || b == a && j < i ? (b, j) : (a, i),
        map(|o, t, j| (s + t - 2.0 * product(r, o), j), others, own, range(0, len(others))), (1e300, 0)).1, rows, squares);
    output most = map(|r| reduce(max, map(|o| product(o, r) + 1.0, others), 0.0), rows); }";

fn given(chance: &mut Chance, [rows, others, d]: [usize; 3], strange: bool) -> Inputs {
    let mut numbers = |count: usize| {
        let number = |_| match chance.below(40) {
            0 if strange => f64::INFINITY,
            1 if strange => f64::NAN,
            2 => -0.0,
            _ => chance.number(),
        };
        Array::F64((0..count).map(number).collect())
    };
    inputs([("x", numbers(rows * d)), ("c", numbers(others * d)), ("d", Array::I64(vec![d as i64]))])
}

fn compared(text: &str, data: &Inputs, mode: Mode) {
    let Some(compiler) = compiler() else { return };
    let program = parsed(text);
    let expected = interpret(&program, data).unwrap();
    let found = native(&program, &[], mode, &compiler, data).unwrap();
    for (expected, found) in expected.iter().zip(&found) {
        let same = match mode {
            Mode::Deterministic => expected.same_bits(found),
            Mode::Fast => expected.difference(found) < 1e-9,
        };
        assert!(same, "{}: {expected:?}\n{found:?}", expected.name);
    }
}

#[test]
fn products_of_rows_of_all_lengths_have_the_interpreters_bits() {
    let made = generate(&parsed(TEXT), &[], Mode::Deterministic, "program").text;
    assert_eq!(made.matches("tw_products_f64(").count(), 2, "{made}");
    // What the loop over the other rows keeps for each row lies in arrays, so that lanes are the innermost loop.
    assert!(made.contains("_lanes["), "{made}");
    let mut chance = Chance(31);
    for d in [1, 3, 8, 9, 31, 32, 1024, 1025] {
        for rows in [0, 1, 7, 8, 9, 21] {
            for others in [1, 2, 5] {
                if d > 32 && (rows, others) != (9, 5) {
                    continue;
                }
                let data = given(&mut chance, [rows, others, d], rows == 21);
                compared(TEXT, &data, Mode::Deterministic);
            }
        }
        compared(TEXT, &given(&mut chance, [37, 10, d], false), Mode::Fast);
    }
    // More others than a tile has room for, and none.
    compared(TEXT, &given(&mut chance, [11, 512, 2], false), Mode::Deterministic);
    compared(TEXT, &given(&mut chance, [11, 513, 2], false), Mode::Deterministic);
    compared(TEXT, &given(&mut chance, [11, 0, 2], false), Mode::Deterministic);
}

/// A last row that is shorter is found to be, as by the interpreter.
#[test]
fn rows_of_other_lengths_are_refused() {
    let Some(compiler) = compiler() else { return };
    let program = parsed(TEXT);
    for (x, c) in [(13, 12), (12, 14)] {
        let mut data = given(&mut Chance(32), [3, 3, 4], false);
        data.insert("x".to_owned(), Chance(33).numbers(x));
        data.insert("c".to_owned(), Chance(34).numbers(c));
        let Err(InterpretError::Fault(expected)) = interpret(&program, &data) else { panic!("accepted") };
        let Err(RunError::Fault(found)) = native(&program, &[], Mode::Deterministic, &compiler, &data) else {
            panic!("accepted")
        };
        assert_eq!((expected.kind, found.kind), (FaultKind::Lengths, FaultKind::Lengths));
    }
}

/// What is no product of two rows of matrices is computed as before.
#[test]
fn other_reductions_are_no_products_of_matrices() {
    let texts = [
        "nested p { input x: [f64]; input c: [f64]; param d: i64 = 4;
            output y = map(|r, o| reduce(+, map(|u, v| u * v, r, o), 0.0), split(x, d), split(c, d)); }",
        "nested p { input x: [f64]; input c: [f64]; param d: i64 = 4;
            output y = map(|r| reduce(max, map(|o| reduce(+, map(|u, v| u * v + v, r, o), 0.0), split(c, d))), split(x, d)); }",
        "nested p { input x: [f64]; input c: [f64]; param d: i64 = 4;
            output y = map(|r| reduce(max, map(|o| reduce(+, map(|u, v| u * v, r, reverse(o)), 0.0), split(c, d))), split(x, d)); }",
        "nested p { input x: [f64]; input c: [f64]; param d: i64 = 4;
            output y = map(|r| reduce(+, map(|u, v| u * v, r, c), 0.0), split(x, d)); }",
    ];
    for (number, text) in texts.into_iter().enumerate() {
        let made = generate(&parsed(text), &[], Mode::Deterministic, "program").text;
        assert!(!made.contains("tw_products_f64("), "{made}");
        let others = if number == 3 { 1 } else { 9 };
        compared(text, &given(&mut Chance(35), [9, others, 4], false), Mode::Deterministic);
    }
}
