//! Rows that are dealt out by their elements: sums of short rows, whose terms are computed by themselves, and checks by groups of rows.

use crate::support::{Chance, cache, compiler, inputs, native, parsed};
use nested::data::{Array, Inputs, Output};
use nested::emit::generated::Mode;
use nested::fault::FaultKind;
use nested::interpret::{InterpretError, interpret};
use nested::native::{Native, RunError, options};
use nested::openmp::generate;

/// Lengths of rows of many kinds.
fn kinds(chance: &mut Chance) -> Vec<(&'static str, Vec<u64>)> {
    let mut by_chance =
        |rows: usize, longest: u64| (0..rows).map(|_| chance.below(longest)).collect::<Vec<u64>>();
    let mut kinds = vec![
        ("no rows", vec![]),
        ("empty rows", vec![0; 300]),
        ("rows of one", vec![1; 523]),
        ("rows of three", vec![3; 300]),
        ("rows of eight", vec![8; 131]),
        ("rows of nine", vec![9; 300]),
        ("rows of 27", vec![27; 90]),
        ("few", by_chance(700, 4)),
        ("short", by_chance(700, 20)),
        ("around eight", by_chance(300, 6).iter().map(|length| length + 5).collect()),
        ("up to four groups", by_chance(300, 40)),
    ];
    let mut skewed = by_chance(600, 9);
    (skewed[77], skewed[305], skewed[306]) = (900, 5000, 70_000);
    kinds.push(("a few long ones", skewed));
    let mut empty = vec![0; 900];
    (empty[0], empty[450], empty[899]) = (30, 1, 12);
    kinds.push(("nearly all empty", empty));
    // 263 is no multiple of eight.
    kinds.extend((1..18).map(|length| ("of one length", vec![length; 263])));
    kinds.push(("whole eights", by_chance(400, 6).iter().map(|length| 8 * length).collect()));
    kinds.push(("long rows of one block", vec![3000, 4095, 4096, 4097, 17, 2049]));
    kinds
}

fn given(lengths: &[u64], chance: &mut Chance, wide: [bool; 2]) -> Inputs {
    looked_up(lengths, chance, wide, (50, false))
}

/// Inputs of which so many numbers are looked up, by chance or, mostly, next to each other.
fn looked_up(
    lengths: &[u64],
    chance: &mut Chance,
    wide: [bool; 2],
    (numbers, in_runs): (u64, bool),
) -> Inputs {
    let mut offsets = vec![0_i64];
    lengths.iter().for_each(|length| offsets.push(offsets[offsets.len() - 1] + *length as i64));
    let count = offsets[offsets.len() - 1];
    let mut places = Vec::new();
    for length in lengths {
        let run = in_runs && chance.below(9) > 0 && *length < numbers;
        let first = if run { chance.below(numbers - length + 1) } else { 0 };
        places.extend((0..*length).map(|at| if run { first + at } else { chance.below(numbers) } as i64));
    }
    let array = |wide: bool, list: Vec<i64>| match wide {
        true => Array::I64(list),
        false => Array::I32(list.into_iter().map(|value| value as i32).collect()),
    };
    // Zeros of both signs, too: a sum of no terms changes nothing.
    let number = |chance: &mut Chance| if chance.below(9) == 0 { -0.0 } else { chance.number() };
    inputs([
        ("values", Array::F64((0..count).map(|_| number(chance)).collect())),
        ("places", array(wide[0], places)),
        ("offsets", array(wide[1], offsets)),
        ("x", Array::F64((0..numbers).map(|_| number(chance)).collect())),
        ("before", Array::F64(lengths.iter().map(|_| number(chance)).collect())),
    ])
}

fn program_of(row: &str, places: &str, offsets: &str) -> String {
    format!(
        "nested rows_of {{ input values: [f64]; input places: [{places}]; input offsets: [{offsets}]; input x: [f64]; \
         input before: [f64]; param s: f64 = 0.75; let rows = nest(values, offsets); let indices = nest(places, offsets); \
         output y = map(|row, own, b| {row}, rows, indices, before); }}"
    )
}

fn run(text: &str, inputs: &Inputs, mode: Mode, arguments: &[&str]) -> Option<Vec<Output>> {
    let compiler = compiler()?;
    let program = parsed(text);
    let generated = generate(&program, &[], mode, "program");
    let mut options = options(true, mode == Mode::Fast);
    options.arguments.extend(arguments.iter().map(|own| (*own).to_owned()));
    options.strict = true;
    let built = Native::build(&program, generated, &compiler, &options, &cache()).unwrap();
    let mut prepared = built.prepare(inputs).unwrap();
    // Arrays of the first run are used again.
    for threads in [3, 1] {
        prepared.run(threads).unwrap_or_else(|error| panic!("{error}"));
    }
    Some(prepared.outputs())
}

/// Whether native code has vectors of eight doubles, so that other options give those of four.
fn has_vectors_of_eight() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// With vectors of eight, of four and without: indices and offsets of either width, values before the terms, and what is done with the sum.
#[test]
fn rows_of_all_lengths_have_the_interpreters_bits() {
    let row = "b * 2.0 - reduce(+, map(|v, a| s * v * a - v, row, gather(x, own)), b)";
    let mut chance = Chance(11);
    for (number, (kind, lengths)) in kinds(&mut chance).into_iter().enumerate() {
        let wide = [number % 2 == 1, number % 3 != 1];
        let type_of = |wide: bool| if wide { "i64" } else { "i32" };
        let text = program_of(row, type_of(wide[0]), type_of(wide[1]));
        let made = generate(&parsed(&text), &[], Mode::Deterministic, "program").text;
        assert!(
            made.contains(&format!("tw_row_sums_f64_{}_t(", if wide[1] { "int64" } else { "int32" })),
            "{made}"
        );
        // Two registers of four lanes, where vectors are no longer.
        assert!(made.contains("if (TW_HALVES && ") && made.contains("TW_SUM_F64("), "{made}");
        let inputs = given(&lengths, &mut chance, wide);
        let expected = interpret(&parsed(&text), &inputs).unwrap();
        let mut ways =
            vec![(Mode::Deterministic, &[][..]), (Mode::Deterministic, &["-DTW_NARROW"]), (Mode::Fast, &[])];
        if has_vectors_of_eight() {
            ways.push((Mode::Deterministic, &["-mno-avx512f"]));
            ways.push((Mode::Deterministic, &["-DTW_GATHERS=1"]));
            ways.push((Mode::Deterministic, &["-DTW_GATHERS=0"]));
        }
        for (mode, arguments) in ways {
            let Some(found) = run(&text, &inputs, mode, arguments) else { return };
            let same = match mode {
                Mode::Deterministic => expected[0].same_bits(&found[0]),
                Mode::Fast => expected[0].difference(&found[0]) < 1e-12,
            };
            assert!(same, "{kind} {mode:?} {arguments:?}\n{expected:?}\n{found:?}");
        }
    }
}

/// Results that caches do not hold do not pass through them: the same bits, in shares and groups that begin anywhere.
#[test]
fn many_results_have_the_same_bits() {
    let text = program_of("reduce(+, map(|v, a| v * a, row, gather(x, own)), b)", "i32", "i64");
    let mut chance = Chance(14);
    let mut lengths: Vec<u64> = (0..1_100_003).map(|_| chance.below(9).saturating_sub(6)).collect();
    // Groups of few rows, behind which others do not begin at a multiple of eight.
    (lengths[300], lengths[301], lengths[700_001]) = (2100, 2050, 9000);
    let inputs = given(&lengths, &mut chance, [false, true]);
    let Some(found) = run(&text, &inputs, Mode::Deterministic, &[]) else { return };
    let Some(expected) = run(&text, &inputs, Mode::Deterministic, &["-DTW_NARROW"]) else { return };
    assert!(expected[0].same_bits(&found[0]));
}

/// Each loop that rows by themselves have: of lengths that cannot be foreseen, of numbers that lie apart and in runs. Those of lanes that
/// are an array look all up in one way.
#[test]
fn each_way_to_look_up_has_the_same_bits_and_finds_wrong_indices() {
    let mut chance = Chance(16);
    for (number, (mean, same)) in
        [(3, false), (6, false), (12, false), (20, false), (19, true)].into_iter().enumerate()
    {
        for (numbers, in_runs) in [(50, false), (140_000, false), (140_000, true), (600, true)] {
            let lengths: Vec<u64> =
                (0..8500).map(|_| if same { mean } else { chance.below(2 * mean + 1) }).collect();
            let wide = [(number + usize::from(in_runs)) % 2 == 1, number % 3 != 1];
            let type_of = |wide: bool| if wide { "i64" } else { "i32" };
            let row = "reduce(+, map(|v, a| v * a, row, gather(x, own)), 0.0) + b";
            let text = program_of(row, type_of(wide[0]), type_of(wide[1]));
            let inputs = looked_up(&lengths, &mut chance, wide, (numbers, in_runs));
            let Some(found) = run(&text, &inputs, Mode::Deterministic, &[]) else { return };
            let Some(expected) = run(&text, &inputs, Mode::Deterministic, &["-DTW_NARROW"]) else { return };
            assert!(expected[0].same_bits(&found[0]), "{mean} of {numbers}, runs: {in_runs}");
            let count = lengths.iter().sum::<u64>() as usize;
            for place in
                [count / 2, count - 1 - chance.below(9) as usize, chance.below(count as u64) as usize]
            {
                let mut own = inputs.clone();
                match own.get_mut("places") {
                    Some(Array::I32(places)) => places[place] = numbers as i32,
                    Some(Array::I64(places)) => places[place] = -1,
                    _ => panic!("other types"),
                }
                let compiler = compiler().expect("was there before");
                let found = native(&parsed(&text), &[], Mode::Deterministic, &compiler, &own);
                let Err(RunError::Fault(found)) = found else {
                    panic!("no fault at {place} of {mean}, {numbers}")
                };
                assert_eq!(found.kind, FaultKind::Index);
            }
        }
    }
}

/// Rows of whole eights have no rest, and look up the eight elements behind them all the same: those are right, or nothing is looked up.
#[test]
fn what_lies_behind_a_group_is_checked_with_it() {
    let Some(compiler) = compiler() else { return };
    let program = parsed(&program_of("reduce(+, map(|v, a| v * a, row, gather(x, own)), b)", "i32", "i64"));
    let mut chance = Chance(17);
    let lengths: Vec<u64> = (0..8500).map(|_| 8 * chance.below(2)).collect();
    let mut inputs = given(&lengths, &mut chance, [false, true]);
    let generated = generate(&program, &[], Mode::Deterministic, "program");
    let built = Native::build(&program, generated, &compiler, &options(true, false), &cache()).unwrap();
    let Array::I32(places) = inputs["places"].clone() else { panic!("other types") };
    // More places than a group has elements.
    for place in 3000..5200 {
        let mut own = places.clone();
        own[place] = i32::MAX;
        inputs.insert("places".to_owned(), Array::I32(own));
        let found = built.prepare(&inputs).unwrap().run(1);
        let Err(RunError::Fault(found)) = found else { panic!("no fault at {place}") };
        assert_eq!((found.kind, found.numbers), (FaultKind::Index, [i64::from(i32::MAX), 50]));
    }
}

/// A wrong index is found wherever it is: in whole eights, in what is left of a row, and behind the last eight terms.
#[test]
fn wrong_indices_are_found_in_each_part_of_a_row() {
    let Some(compiler) = compiler() else { return };
    let program = parsed(nested::shipped::text("spmv").unwrap());
    let mut chance = Chance(15);
    let uneven = |least: u64, many: u64| (0..90).map(|row| least + row % many).collect();
    for lengths in [vec![3; 301], vec![21; 40], uneven(0, 13), uneven(1, 7), uneven(9, 23)] {
        let mut inputs = given(&lengths, &mut chance, [false, true]);
        let (values, places) = (inputs.remove("values").unwrap(), inputs.remove("places").unwrap());
        inputs.remove("before");
        inputs.insert("nonzeros".to_owned(), values);
        let Array::I32(places) = places else { panic!("other types") };
        let last = places.len() - 1;
        for place in [0, 5, 8, 15, 16, 20, last / 2, last - 8, last - 4, last] {
            for wrong in [-1, 50] {
                let mut own = places.clone();
                own[place] = wrong;
                inputs.insert("columns".to_owned(), Array::I32(own));
                let found = native(&program, &[], Mode::Deterministic, &compiler, &inputs);
                let Err(RunError::Fault(found)) = found else { panic!("no fault of {wrong} at {place}") };
                assert_eq!((found.kind, found.numbers), (FaultKind::Index, [i64::from(wrong), 50]));
            }
        }
    }
}

/// Terms that depend on more than their place among those of all rows, and rows that are more than one sum, are computed row by row.
#[test]
fn other_rows_are_computed_row_by_row() {
    let mut chance = Chance(12);
    let lengths: Vec<u64> = (0..400).map(|_| chance.below(20)).collect();
    let rows = [
        // The row's own number, the place within the row, and an element of the row that is the same for all terms.
        "reduce(+, map(|v, a| v * a * b, row, gather(x, own)), 0.0)",
        "reduce(+, map(|v, a, k| v * a * before[k], row, gather(x, own), range(0, len(row))), 0.0)",
        "reduce(+, map(|v, a| v * a + (len(row) > 0 ? row[0] : 0.0), row, gather(x, own)), 0.0)",
        // Two sums, and one of a part of the row.
        "reduce(+, map(|v, a| v * a, row, gather(x, own)), 0.0) * reduce(+, map(|v, a| v - a, row, gather(x, own)), 0.0)",
        "reduce(+, map(|k| row[k], range(0, min(len(row), 2))), 0.0)",
        "reduce(max, map(|v, a| v * a, row, gather(x, own)), 0.0)",
    ];
    for row in rows {
        let text = program_of(row, "i32", "i64");
        let made = generate(&parsed(&text), &[], Mode::Deterministic, "program").text;
        assert!(!made.contains("tw_row_sums_f64"), "{row}\n{made}");
        let inputs = given(&lengths, &mut chance, [false, true]);
        let expected = interpret(&parsed(&text), &inputs).unwrap();
        let Some(found) = run(&text, &inputs, Mode::Deterministic, &[]) else { return };
        assert!(expected[0].same_bits(&found[0]), "{row}\n{expected:?}\n{found:?}");
    }
}

/// Offsets are checked by groups of rows, too: what is wrong is said as if all were looked at first.
#[test]
fn wrong_offsets_of_late_rows_are_found_before_they_are_used() {
    let Some(compiler) = compiler() else { return };
    let program = parsed(nested::shipped::text("spmv").unwrap());
    let mut chance = Chance(13);
    let lengths: Vec<u64> = (0..2000).map(|_| chance.below(9)).collect();
    let mut inputs = given(&lengths, &mut chance, [false, true]);
    let (values, places) = (inputs.remove("values").unwrap(), inputs.remove("places").unwrap());
    inputs.remove("before");
    inputs.extend([("nonzeros".to_owned(), values), ("columns".to_owned(), places)]);
    let Some(Array::I64(offsets)) = inputs.get("offsets").cloned() else { panic!("other types") };
    let last = offsets.len() - 1;
    let mut count = 0;
    let wrongs = [i64::MIN, -1, 0, i64::MAX, offsets[last] + 1, 1 << 40];
    for place in [0, 1, 255, 256, last / 2, last - 1, last] {
        for wrong in wrongs {
            let mut own = offsets.clone();
            own[place] = wrong;
            if own == offsets {
                continue;
            }
            inputs.insert("offsets".to_owned(), Array::I64(own));
            // Another length of a row may be right.
            let expected = match interpret(&program, &inputs) {
                Err(InterpretError::Fault(fault)) => fault,
                _ => continue,
            };
            count += 1;
            let found = native(&program, &[], Mode::Deterministic, &compiler, &inputs);
            let Err(RunError::Fault(found)) = found else { panic!("no fault of {wrong} at {place}") };
            assert_eq!(found.kind, FaultKind::Offsets);
            assert_eq!(found.numbers, expected.numbers, "{wrong} at {place}");
        }
    }
    assert!(count > 30, "{count}");
    // All decreasing: no share of rows is as it should be.
    let mut own: Vec<i64> = offsets.iter().rev().copied().collect();
    (own[0], own[last]) = (0, offsets[last]);
    inputs.insert("offsets".to_owned(), Array::I64(own));
    let found = native(&program, &[], Mode::Deterministic, &compiler, &inputs);
    assert!(matches!(found, Err(RunError::Fault(fault)) if fault.kind == FaultKind::Offsets));
}
