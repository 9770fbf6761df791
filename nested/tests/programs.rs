//! The shipped programs.

use crate::support::{Chance, compiler, inputs, native, parsed};
use nested::analysis::Implementation;
use nested::analysis::policy::implementations;
use nested::data::{Array, Inputs};
use nested::emit::generated::{Mode, prepared};
use nested::interpret::interpret;

/// A sparse matrix by chance: numbers, columns, offsets.
fn matrix(chance: &mut Chance, rows: usize, columns: u64, longest: u64) -> [Array; 3] {
    let mut offsets = vec![0];
    let (mut values, mut places) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let count = if row % 7 == 3 { 0 } else { chance.below(longest) };
        for _ in 0..count {
            values.push(chance.number());
            places.push(chance.below(columns) as i32);
        }
        offsets.push(values.len() as i64);
    }
    [Array::F64(values), Array::I32(places), Array::I64(offsets)]
}

/// Atoms near a lattice in 3 x 3 x 3 boxes of edge 1, at rest, for both programs; `steps` steps.
pub fn crystal(chance: &mut Chance, steps: i64) -> (Inputs, Inputs) {
    let mut boxes = vec![Vec::new(); 27];
    let count = 5;
    for place in 0..count * count * count {
        let axis = |place: usize, chance: &mut Chance| {
            ((place % count) as f64 + 0.5 + 0.1 * chance.number()) * 3.0 / count as f64
        };
        let atom = [axis(place / count / count, chance), axis(place / count, chance), axis(place, chance)];
        let own = atom.map(|x| (x as usize).min(2));
        boxes[(own[0] * 3 + own[1]) * 3 + own[2]].push(atom);
    }
    let mut offsets = vec![0];
    boxes.iter().for_each(|own| offsets.push(offsets[offsets.len() - 1] + own.len() as i64));
    let atoms: Vec<[f64; 3]> = boxes.concat();
    let (mut lists, mut starts) = (Vec::new(), vec![0]);
    for a in &atoms {
        let apart = |a: f64, b: f64| ((a - b) - 3.0 * ((a - b) / 3.0 + 0.5).floor()).powi(2);
        let near = |b: &[f64; 3]| (0..3).map(|axis| apart(a[axis], b[axis])).sum::<f64>() < 1.3;
        lists.extend((0..atoms.len()).filter(|other| near(&atoms[*other])).map(|other| other as i32));
        starts.push(lists.len() as i64);
    }
    let still = Array::F64(vec![0.0; 3 * atoms.len()]);
    let start = Array::F64(atoms.concat());
    let steps = Array::I64(vec![steps]);
    let direct = [
        ("start", start.clone()),
        ("speed", still.clone()),
        ("offsets", Array::I64(offsets)),
        ("steps", steps.clone()),
    ];
    let lists = [("lists", Array::I32(lists)), ("begins", Array::I64(starts))];
    let redistributed: Vec<(&str, Array)> =
        [("start", start), ("speed", still), ("steps", steps)].into_iter().chain(lists).collect();
    let named =
        |list: Vec<(&str, Array)>| list.into_iter().map(|(name, array)| (name.to_owned(), array)).collect();
    (named(direct.into()), named(redistributed))
}

/// Forces are differences of the energy, which stays as it is; both programs agree.
#[test]
fn embedded_atoms_keep_their_energy() {
    let Some(compiler) = compiler() else { return };
    let (direct, redistributed) = crystal(&mut Chance(9), 0);
    let with = |inputs: &Inputs, change: f64, steps: i64| {
        let mut inputs = inputs.clone();
        inputs.insert("steps".to_owned(), Array::I64(vec![steps]));
        if let Some(Array::F64(start)) = inputs.get_mut("start") {
            start[40] += change;
        }
        inputs
    };
    let number = |array: &Array| array.numbers()[0];
    let mut energies = Vec::new();
    for (name, inputs) in [("comd_direct", &direct), ("comd_redistributed", &redistributed)] {
        let program = parsed(nested::shipped::text(name).unwrap());
        let run = |change: f64, steps: i64| {
            native(&program, &[], Mode::Deterministic, &compiler, &with(inputs, change, steps)).unwrap()
        };
        let at_rest = run(0.0, 0);
        let step = 1e-5;
        let slope = (number(&run(step, 0)[0].leaves[0]) - number(&run(-step, 0)[0].leaves[0])) / (2.0 * step);
        let force = at_rest[2].leaves[0].numbers()[40];
        assert!((slope + force).abs() < 1e-6 * (1.0 + force.abs()), "{name}: {slope} {force}");
        let (before, after) = (number(&at_rest[0].leaves[0]), number(&run(0.0, 1000)[0].leaves[0]));
        assert!((before - after).abs() < 1e-4 * before.abs(), "{name}: {before} {after}");
        energies.push(after);
    }
    assert!((energies[0] - energies[1]).abs() < 1e-6 * energies[0].abs(), "{energies:?}");
}

pub fn examples(name: &str) -> Vec<Inputs> {
    let mut chance = Chance(5);
    let chance = &mut chance;
    match name {
        "reduction" | "scan" => [0, 1, 5, 4096, 20_000]
            .into_iter()
            .map(|count| inputs([("s", chance.numbers(count)), ("tile", Array::I64(vec![5000]))]))
            .collect(),
        "spmv" => {
            let [values, columns, offsets] = matrix(chance, 300, 90, 40);
            vec![
                inputs([
                    ("nonzeros", values),
                    ("columns", columns),
                    ("offsets", offsets),
                    ("x", chance.numbers(90)),
                ]),
                inputs([
                    ("nonzeros", chance.numbers(0)),
                    ("columns", Array::I32(vec![])),
                    ("offsets", Array::I64(vec![0])),
                    ("x", chance.numbers(0)),
                ]),
            ]
        }
        "kmeans" => vec![inputs([
            ("data", chance.numbers(4 * 300)),
            ("start", chance.numbers(4 * 5)),
            ("d", Array::I64(vec![4])),
            ("rounds", Array::I64(vec![6])),
        ])],
        "comd_direct" => vec![crystal(chance, 2).0],
        "comd_redistributed" => vec![crystal(chance, 2).1],
        "softmax" => vec![inputs([("x", chance.numbers(16 * 50))]), inputs([("x", chance.numbers(0))])],
        "histogram" => vec![inputs([
            ("keys", Array::I32((0..900).map(|_| chance.below(16) as i32).collect())),
            ("weights", chance.numbers(900)),
        ])],
        "spmm" => {
            let [values, columns, offsets] = matrix(chance, 60, 30, 12);
            let dense = chance.numbers(30 * 8);
            vec![inputs([("nonzeros", values), ("columns", columns), ("offsets", offsets), ("dense", dense)])]
        }
        "pagerank" => {
            let [values, sources, offsets] = matrix(chance, 80, 80, 9);
            let weights = Array::F64(values.numbers().iter().map(|value| value.abs() / 9.0).collect());
            vec![inputs([("weights", weights), ("sources", sources), ("offsets", offsets)])]
        }
        "batched_dot" => vec![inputs([("a", chance.numbers(8 * 70)), ("b", chance.numbers(8 * 70))])],
        "transpose" => [(12, 18), (7, 11), (1, 5), (40, 24)]
            .into_iter()
            .map(|(rows, columns)| {
                inputs([("matrix", chance.numbers(rows * columns)), ("rows", Array::I64(vec![rows as i64]))])
            })
            .collect(),
        _ => vec![],
    }
}

#[test]
fn a_matrix_becomes_its_transpose() {
    let program = parsed(nested::shipped::text("transpose").unwrap());
    for inputs in examples("transpose") {
        let (matrix, rows) = (inputs["matrix"].numbers(), inputs["rows"].numbers()[0] as usize);
        let columns = matrix.len() / rows;
        let expected = (0..matrix.len()).map(|at| matrix[at % rows * columns + at / rows]).collect();
        let found = interpret(&program, &inputs).unwrap();
        assert!(Array::F64(expected).same_bits(&found[0].leaves[0]), "{rows} {columns}: {found:?}");
    }
}

#[test]
fn shipped_programs_give_the_interpreters_bits() {
    let Some(compiler) = compiler() else { return };
    for (name, text) in nested::shipped::all() {
        let program = parsed(text);
        for (place, inputs) in examples(name).iter().enumerate() {
            let expected = interpret(&program, inputs).unwrap();
            let found = native(&program, &[], Mode::Deterministic, &compiler, inputs).unwrap();
            for (expected, found) in expected.iter().zip(&found) {
                assert!(expected.same_bits(found), "{name} {place}: {expected:?}\n{found:?}");
            }
        }
    }
}

/// Implementations that together show each one of each computation.
fn all_implementations(program: &nested::program::Program) -> Vec<Vec<Implementation>> {
    let (_, computations, _) = prepared(program);
    let lists: Vec<Vec<Implementation>> = computations.iter().map(implementations).collect();
    let most = lists.iter().map(Vec::len).max().unwrap_or(0);
    (0..most).map(|number| lists.iter().map(|list| list[number % list.len()].clone()).collect()).collect()
}

/// A sample; all of them where `TILEWRIGHT_ALL` is set.
#[test]
fn every_implementation_gives_the_interpreters_bits() {
    let Some(compiler) = compiler() else { return };
    let all = std::env::var_os("TILEWRIGHT_ALL").is_some();
    let mut count = 0;
    for (name, text) in nested::shipped::all() {
        let program = parsed(text);
        let examples = examples(name);
        let Some(inputs) = examples.iter().max_by_key(|inputs| inputs.values().map(Array::len).max()) else {
            continue;
        };
        let expected = interpret(&program, inputs).unwrap();
        let chosen = all_implementations(&program);
        let step = if all { 1 } else { 331 };
        for (number, chosen) in chosen.iter().enumerate().skip(1).step_by(step) {
            for mode in [Mode::Deterministic, Mode::Fast] {
                if mode == Mode::Fast && number % 4 != 1 {
                    continue;
                }
                let found = native(&program, chosen, mode, &compiler, inputs).unwrap();
                for (expected, found) in expected.iter().zip(&found) {
                    let same = match mode {
                        Mode::Deterministic => expected.same_bits(found),
                        Mode::Fast => expected.difference(found) < 1e-12,
                    };
                    let policies: Vec<String> = chosen.iter().map(Implementation::policy).collect();
                    assert!(same, "{name} {mode:?} {policies:?}\n{expected:?}\n{found:?}");
                }
                count += 1;
            }
        }
    }
    println!("{count} implementations");
}

/// Indices are checked by groups of rows: a wrong one is found wherever it stands, and said as if all were looked at first.
#[test]
fn indices_of_late_rows_are_checked_before_they_are_used() {
    let Some(compiler) = compiler() else { return };
    let program = parsed(nested::shipped::text("spmv").unwrap());
    let [values, columns, offsets] = matrix(&mut Chance(3), 700, 90, 9);
    let Array::I32(columns) = columns else { panic!("other types") };
    let last = columns.len() - 1;
    for (place, wrong) in [(0, 90), (last / 2, -1), (last, i32::MAX), (last, i32::MIN)] {
        let mut columns = columns.clone();
        columns[place] = wrong;
        let inputs = inputs([
            ("nonzeros", values.clone()),
            ("columns", Array::I32(columns)),
            ("offsets", offsets.clone()),
            ("x", Chance(4).numbers(90)),
        ]);
        let found = native(&program, &[], Mode::Deterministic, &compiler, &inputs);
        let Err(nested::native::RunError::Fault(fault)) = found else { panic!("no fault at {place}") };
        assert_eq!((fault.kind, fault.numbers), (nested::fault::FaultKind::Index, [i64::from(wrong), 90]));
    }
}

/// Lanes that look numbers up are vectors where the processor gathers, and what they were before where it does not: numbers and indices of
/// either width, rows of all lengths up to several groups of lanes, and factors that are the same for all lanes.
#[test]
fn numbers_that_are_looked_up_by_vectors_have_the_same_bits() {
    let Some(compiler) = compiler() else { return };
    let mut chance = Chance(5);
    let [Array::F64(values), Array::I32(places), offsets] = matrix(&mut chance, 60, 40, 37) else {
        panic!("other arrays")
    };
    for (number, index) in [("f64", "i32"), ("f64", "i64"), ("f32", "i32"), ("f32", "i64")] {
        let text = format!(
            "nested looked_up {{ input values: [{number}]; input places: [{index}]; input offsets: [i64]; \
             input x: [{number}]; param s: f64 = 0.75; let rows = nest(values, offsets); let indices = nest(places, offsets); \
             output y = map(|row, own| reduce(+, map(|a, b| {scale}a * b - b, row, gather(x, own)), {zero}), rows, indices); }}",
            scale = if number == "f64" { "s * " } else { "" },
            zero = if number == "f64" { "0.0" } else { "f32(0.0)" },
        );
        let program = parsed(&text);
        assert!(
            nested::openmp::generate(&program, &[], Mode::Deterministic, "program").text.contains("TW_WIDE"),
            "{text}"
        );
        let numbers = |values: Vec<f64>| match number {
            "f64" => Array::F64(values),
            _ => Array::F32(values.into_iter().map(|value| value as f32).collect()),
        };
        let Array::F64(x) = chance.numbers(40) else { panic!("other numbers") };
        let indices = match index {
            "i32" => Array::I32(places.clone()),
            _ => Array::I64(places.iter().map(|&place| i64::from(place)).collect()),
        };
        let inputs = inputs([
            ("values", numbers(values.clone())),
            ("places", indices),
            ("offsets", offsets.clone()),
            ("x", numbers(x)),
            ("s", Array::F64(vec![0.75])),
        ]);
        let expected = interpret(&program, &inputs).unwrap();
        let found = native(&program, &[], Mode::Deterministic, &compiler, &inputs).unwrap();
        assert!(expected[0].same_bits(&found[0]), "{text}\n{expected:?}\n{found:?}");
    }
}
