//! Scans by a few blocks at a time, of whole sequences, of rows, and of rows together with what comes before them.

use crate::support::{Chance, cache, compiler, inputs, native, parsed};
use nested::analysis::{Implementation, OmpSchedule};
use nested::data::{Array, Inputs};
use nested::emit::generated::{Mode, prepared};
use nested::interpret::interpret;
use nested::native::{Native, options};
use nested::openmp::generate;

/// Scans of all types of numbers, of what is computed, of tuples and truth values.
const ALL: &str = "nested p { input s: [f64]; input f: [f32]; input i: [i32]; input k: [i64];
    output a = scan(+, s, 0.25); output b = scan(max, f, f32(-2.0)); output c = scan(+, i, 3); output d = scan(min, k, 50);
    output e = scan(assoc |x, y| x * 0.5 + y, map(|v| v - 1.0, s), 1.0);
    output g = scan(assoc |(x, m), (y, n)| (x + y, max(m, n)), zip(s, i), (0.0, 0));
    output h = scan(||, map(|v| v > 40, k), false); output l = scan(|x, y| x - y, s, 2.0); }";

/// A scan by tiles, whose tiles have a sum, something before them and something that becomes of them.
const TILES: &str = "nested p { input s: [f64]; param tile: i64 = 5; param before: f64 = 0.5;
    let tiles = split(s, tile); compute sums = map(|row| reduce(+, row, 0.0), tiles);
    compute prefixes = scan(+, sums, before);
    output y = map(|row, prefix, own| map(|x| x - own, scan(+, row, prefix)), tiles, prefixes, sums);
    output z = map(|row| scan(min, row, 9.0), tiles);
    compute tops = map(|row| reduce(max, row), tiles); compute most = scan(max, tops, -9.0);
    output w = map(|row, top| scan(max, row, top), tiles, most); }";

fn numbers(chance: &mut Chance, count: usize, strange: bool) -> Vec<f64> {
    (0..count)
        .map(|_| match chance.below(3000) {
            0 if strange => f64::NAN,
            1 if strange => f64::INFINITY,
            2 => -0.0,
            _ => chance.number(),
        })
        .collect()
}

fn given(chance: &mut Chance, count: usize, strange: bool) -> Inputs {
    let s = numbers(chance, count, strange);
    inputs([
        ("f", Array::F32(s.iter().map(|value| *value as f32).collect())),
        ("s", Array::F64(s)),
        ("i", Array::I32((0..count).map(|_| chance.below(100) as i32 - 30).collect())),
        ("k", Array::I64((0..count).map(|_| chance.below(100) as i64 - 60).collect())),
    ])
}

/// All results of a program, by the default implementation and one that is given, are the interpreter's.
fn compared(text: &str, data: &Inputs, chosen: &[Implementation], modes: &[Mode]) {
    let Some(compiler) = compiler() else { return };
    let program = parsed(text);
    let expected = interpret(&program, data).unwrap();
    for mode in modes {
        let found =
            native(&program, chosen, *mode, &compiler, data).unwrap_or_else(|error| panic!("{error}"));
        for (expected, found) in expected.iter().zip(&found) {
            let same = match mode {
                Mode::Deterministic => expected.same_bits(found),
                Mode::Fast => expected.difference(found) < 1e-9,
            };
            assert!(same, "{}: {mode:?}, {:?}", expected.name, expected.leaves[0].len());
        }
    }
}

#[test]
fn scans_of_all_lengths_have_the_interpreters_bits() {
    let mut chance = Chance(21);
    for count in [0, 1, 7, 8, 9, 4095, 4096, 4097, 16_383, 16_384, 16_385, 4 * 16_384 + 4096 + 3] {
        compared(ALL, &given(&mut chance, count, false), &[], &[Mode::Deterministic]);
    }
    compared(ALL, &given(&mut chance, 33_000, true), &[], &[Mode::Deterministic]);
    compared(ALL, &given(&mut chance, 50_001, false), &[], &[Mode::Fast]);
}

#[test]
fn scans_by_tiles_of_all_lengths_have_the_interpreters_bits() {
    let mut chance = Chance(22);
    let cases = [
        (0, 5),
        (1, 5),
        (23, 5),
        (4000, 1),
        (9000, 7),
        (20_000, 4096),
        (20_001, 4097),
        (33_000, 16_384),
        (70_003, 16_385),
        (70_003, 20_000),
        (40_000, 1 << 40),
        (65_536, 8),
    ];
    for (count, tile) in cases {
        let mut data = given(&mut chance, count, count == 70_003);
        data.retain(|name, _| name == "s");
        data.insert("tile".to_owned(), Array::I64(vec![tile]));
        compared(TILES, &data, &[], &[Mode::Deterministic]);
        if count != 70_003 {
            compared(TILES, &data, &[], &[Mode::Fast]);
        }
    }
}

/// The three steps are one kernel where threads share rows equally, and three where somebody wants it otherwise.
#[test]
fn rows_their_results_and_the_scan_of_these_are_one_kernel() {
    let program = parsed(nested::shipped::text("scan").unwrap());
    let fills = |chosen: &[Implementation]| {
        let made = generate(&program, chosen, Mode::Deterministic, "program");
        made.traffic.into_iter().map(|own| own.fills.join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(fills(&[]), ["sums prefixes y"]);
    let (_, list, _) = prepared(&program);
    let mut chosen: Vec<Implementation> = list.iter().map(Implementation::default_of).collect();
    chosen[0].levels[0].omp_schedule = OmpSchedule::Dynamic;
    assert_eq!(fills(&chosen), ["sums", "prefixes", "y"]);
    let mut data = given(&mut Chance(23), 30_000, false);
    data.retain(|name, _| name == "s");
    data.insert("tile".to_owned(), Array::I64(vec![900]));
    compared(nested::shipped::text("scan").unwrap(), &data, &chosen, &[Mode::Deterministic]);
    // Results of blocks are kept for the scan where that folds the same.
    data.insert("tile".to_owned(), Array::I64(vec![9000]));
    for (value, kept) in [
        ("reduce(+, row, 0.0)", true),
        ("reduce(max, row, 0.0)", false),
        ("reduce(+, map(|x| x * x, row), 0.0)", false),
    ] {
        let own = nested::shipped::text("scan").unwrap().replace("reduce(+, row, 0.0)", value);
        let made = generate(&parsed(&own), &[], Mode::Deterministic, "program").text;
        assert_eq!(made.contains("double kept"), kept, "{value}");
        compared(&own, &data, &[], &[Mode::Deterministic]);
    }
    // What the rows read of the scan at other places needs all of it.
    let other =
        nested::shipped::text("scan").unwrap().replace("tiles, prefixes)", "tiles, reverse(prefixes))");
    let made = generate(&parsed(&other), &[], Mode::Deterministic, "program");
    assert_eq!(made.traffic.len(), 3);
    compared(&other, &data, &[], &[Mode::Deterministic]);
}

/// So many results go past the caches; they are those of one operation after the other, with the compiler's optimisation, and with the sanitizer of undefined behaviour.
#[test]
fn results_that_go_past_the_caches_have_the_same_bits() {
    let Some(compiler) = compiler() else { return };
    let text = "nested p { input s: [f64]; param tile: i64 = 16384; output a = scan(+, s, 0.25);
        let tiles = split(s, tile); compute sums = map(|row| reduce(+, row, 0.0), tiles);
        compute prefixes = scan(+, sums, 0.25); output y = map(|row, prefix| scan(+, row, prefix), tiles, prefixes); }";
    let program = parsed(text);
    let data = inputs([("s", Chance(24).numbers((1 << 21) + 40_001))]);
    let (_, list, _) = prepared(&program);
    let plain: Vec<Implementation> = list.iter().map(Implementation::sequential).collect();
    let expected = native(&program, &plain, Mode::Deterministic, &compiler, &data).unwrap();
    for sanitized in [false, true] {
        let mut options = options(true, false);
        if sanitized {
            options.optimization = 1;
            options.arguments.extend(
                ["-fsanitize=undefined,bounds-strict", "-fno-sanitize-recover=all", "-static-libubsan"]
                    .map(str::to_owned),
            );
        }
        let generated = generate(&program, &[], Mode::Deterministic, "program");
        let Ok(built) = Native::build(&program, generated, &compiler, &options, &cache()) else {
            println!("skipped: no sanitizer");
            return;
        };
        let mut prepared = built.prepare(&data).unwrap();
        prepared.run(3).unwrap();
        let found = prepared.outputs();
        assert!(expected.iter().zip(&found).all(|(expected, found)| expected.same_bits(found)));
    }
}

/// Whole shares, of one row each, whose blocks a thread folds while it scans the share before: rows of one and of several shares, the last
/// ones shorter, and rows that have more blocks than there is room for.
#[test]
fn blocks_that_are_folded_ahead_have_the_interpreters_bits() {
    let mut chance = Chance(24);
    let tiles = nested::shipped::text("scan").unwrap();
    let narrow = tiles.replace("[f64]", "[f32]").replace("0.0", "f32(0.0)");
    let most = tiles.replace("(+", "(max").replace("0.0", "-9.0");
    for (text, name) in [(tiles, "s"), (narrow.as_str(), "f"), (most.as_str(), "s")] {
        let made = generate(&parsed(text), &[], Mode::Deterministic, "program").text;
        assert!(made.contains("folded"), "{text}");
        for (rows, tile) in [(9, 16_384), (4, 49_152), (3, 32_768), (5, 20_480), (3, 278_528)] {
            for more in [0, 1, tile - 1] {
                if (name == "f" || more > 1) && tile > 50_000 {
                    continue;
                }
                let all = given(&mut chance, rows * tile + more, rows == 4);
                let own = all[name].clone();
                let tile = Array::I64(vec![tile as i64]);
                compared(text, &inputs([("s", own), ("tile", tile)]), &[], &[Mode::Deterministic]);
            }
        }
    }
    let plain = "nested p { input s: [f64]; input f: [f32]; input i: [i32];
        output a = scan(+, map(|v| v * 0.5, s), 0.25); output b = scan(+, f, f32(-2.0)); output c = scan(max, i, 3); }";
    for count in [7 * 16_384, 9 * 16_384 + 1, 8 * 16_384 - 1] {
        let mut data = given(&mut chance, count, true);
        data.retain(|name, _| name != "k");
        compared(plain, &data, &[], &[Mode::Deterministic]);
    }
}
