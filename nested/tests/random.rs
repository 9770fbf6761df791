//! Programs by chance, implementations by chance, and inputs that are odd.

use crate::support::{Chance, cache, compiler, inputs, native, parsed};
use nested::analysis::Implementation;
use nested::analysis::policy::implementations;
use nested::data::{Array, Inputs};
use nested::emit::generated::{Mode, prepared};
use nested::interpret::interpret;
use nested::native::{Native, options};
use nested::openmp::generate;
use nested::program::Program;

/// A function of numbers of `a`, and of `b` where there is one.
fn arithmetic(chance: &mut Chance, two: bool, depth: u64) -> String {
    if depth == 0 {
        return match chance.below(if two { 5 } else { 4 }) {
            0 | 1 => "a".to_owned(),
            2 => format!("{:.2}", chance.number() * 3.0),
            3 => "w[1]".to_owned(),
            _ => "b".to_owned(),
        };
    }
    let mut part = || arithmetic(chance, two, depth - 1);
    let (x, y, z) = (part(), part(), part());
    match chance.below(9) {
        0 => format!("({x} + {y})"),
        1 => format!("({x} - {y})"),
        2 => format!("{x} * {y}"),
        3 => format!("{x} / (1.5 + abs({y}))"),
        4 => format!("min({x}, {y})"),
        5 => format!("({x} < {y} || {x} == {z} ? {y} : {z})"),
        6 => format!("sqrt(abs({x}))"),
        7 => format!("{{ let u = {x}; let (v, q) = (u, {y}); u * q - v }}"),
        _ => format!("f64(i32({x})) + exp(-abs({y}))"),
    }
}

fn operator(chance: &mut Chance) -> &'static str {
    ["+", "*", "min", "max", "|x, y| 0.5 * x - y", "assoc |x, y| x + y"][chance.below(6) as usize]
}

/// A sequence of as many numbers as `s` has.
fn sequence(chance: &mut Chance, depth: u64) -> String {
    if depth == 0 {
        return ["s", "t"][chance.below(2) as usize].to_owned();
    }
    let inner = |chance: &mut Chance| sequence(chance, depth - 1);
    let x = inner(chance);
    match chance.below(12) {
        0 => format!("map(|a| {}, {x})", arithmetic(chance, false, 2)),
        1 | 2 => format!("map(|a, b| {}, {x}, {})", arithmetic(chance, true, 2), inner(chance)),
        3 => format!("reverse({x})"),
        4 => format!("gather({x}, p)"),
        5 => format!("scan({}, {x}, 0.5)", operator(chance)),
        6 => format!("sort_by_key({x}, k)"),
        7 => format!("scatter({x}, p, {})", inner(chance)),
        8 => format!("cyclic(striding({x}, 3), len(s))"),
        9 => format!("map(|(a, (b, i))| a + b * f64(i), zip({x}, zip({}, range(0, len(s)))))", inner(chance)),
        10 => format!("map(|(a, b)| a - b, cyclic(join({x}, range(0.0 < w[0] ? 0 : 1, 2)), len(s)))")
            .replace("a - b", "a - f64(b)"),
        _ => format!("map(|a, i| a * t[(i * 7 + 3) % len(s)], {x}, range(0, len(s)))"),
    }
}

pub fn program(chance: &mut Chance) -> String {
    let mut text =
        "nested p { input s: [f64]; input t: [f64]; input p: [i32]; input k: [i32]; input o: [i64];
        table w: [f64] = [0.25, -1.5];\n"
            .to_owned();
    text.push_str(&format!("compute m = {};\n", sequence(chance, 2)));
    text.push_str(&format!("output a = {};\n", sequence(chance, 3)));
    text.push_str(&format!(
        "output b = reduce({}, map(|x, y| x + y, m, {}), 1.0);\n",
        operator(chance),
        sequence(chance, 2)
    ));
    let row = |chance: &mut Chance| match chance.below(3) {
        0 => format!("nest({}, o)", sequence(chance, 1)),
        1 => "nest(m, o)".to_owned(),
        _ => format!("split({}, {})", sequence(chance, 1), 1 + chance.below(40)),
    };
    let rows = row(chance);
    text.push_str(&format!(
        "output c = map(|r| reduce({}, map(|a| {}, r), 0.25), {rows});\n",
        operator(chance),
        arithmetic(chance, false, 2)
    ));
    let rows = row(chance);
    text.push_str(&format!("output d = map(|r| map(|a| a * f64(len(r)) + reduce(max, r), r), {rows});\n"));
    let rows = row(chance);
    text.push_str(&format!("output e = map(|r| scan({}, r, 0.5), {rows});\n", operator(chance)));
    text.push_str(&format!(
        "output f = reduce_by_key({}, {}, k, 0.5);\n",
        operator(chance),
        sequence(chance, 1)
    ));
    text.push_str(&format!("output g = filter(|a| a > 0.1, {});\n", sequence(chance, 2)));
    let rows = row(chance);
    text.push_str(&format!(
        "output h = map(|r| reduce(|x, y| x * 0.5 + y, scan(+, r, 0.0), 0.0), {rows});\n}}"
    ));
    text
}

pub fn data(chance: &mut Chance, count: usize) -> Inputs {
    let mut places: Vec<i32> = (0..count as i32).collect();
    (1..count).for_each(|place| places.swap(place, chance.below(place as u64 + 1) as usize));
    let mut offsets = vec![0];
    while offsets[offsets.len() - 1] < count as i64 {
        let last = offsets[offsets.len() - 1];
        let step = [0, 1, 3, chance.below(90)][chance.below(4) as usize];
        offsets.push((last + step as i64).min(count as i64));
    }
    let mut key = 0;
    let keys = (0..count).map(|_| {
        key += i32::from(chance.below(5) == 0) * (chance.below(7) as i32 - 3);
        key
    });
    let keys = Array::I32(keys.collect());
    inputs([
        ("s", chance.numbers(count)),
        ("t", chance.numbers(count)),
        ("p", Array::I32(places)),
        ("k", keys),
        ("o", Array::I64(offsets)),
    ])
}

fn by_chance(program: &Program, chance: &mut Chance) -> Vec<Implementation> {
    let (_, list, _) = prepared(program);
    let choose = |own| {
        let all = implementations(own);
        all[chance.below(all.len() as u64) as usize].clone()
    };
    list.iter().map(choose).collect()
}

#[test]
fn programs_by_chance_give_the_interpreters_bits() {
    let Some(compiler) = compiler() else { return };
    let count = std::env::var("TILEWRIGHT_PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(4);
    for seed in 0..count {
        let mut chance = Chance(seed);
        let text = program(&mut chance);
        let program = parsed(&text);
        // Beyond a block, so that trees have several.
        let size = [1, 700, 9000][seed as usize % 3];
        let data = data(&mut chance, size);
        let expected = interpret(&program, &data).unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
        let chosen = by_chance(&program, &mut chance);
        let found = native(&program, &chosen, Mode::Deterministic, &compiler, &data)
            .unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
        for (expected, found) in expected.iter().zip(&found) {
            let policies: Vec<String> = chosen.iter().map(Implementation::policy).collect();
            let leaves = expected.leaves[0].numbers().into_iter().zip(found.leaves[0].numbers()).enumerate();
            let first = leaves.into_iter().find(|(_, (a, b))| a.to_bits() != b.to_bits());
            assert!(expected.same_bits(found), "{seed}, {}: {first:?}\n{text}\n{policies:?}", expected.name);
        }
    }
}

/// Built with the sanitizers of addresses and of undefined behaviour; a mistake ends the test program.
#[test]
fn generated_code_is_clean_under_sanitizers() {
    let Some(compiler) = compiler() else { return };
    if !cfg!(target_os = "linux") || compiler.version().contains("clang") {
        println!("skipped: the sanitizers are those of gcc on Linux");
        return;
    }
    let mut chance = Chance(77);
    let program = parsed(&program(&mut chance));
    let data = data(&mut chance, 5000);
    let generated = generate(&program, &[], Mode::Deterministic, "program");
    let mut options = options(true, false);
    options.optimization = 1;
    // The sanitizer of addresses must be there before the program starts; that of undefined behaviour need not.
    options.arguments.extend(
        ["-fsanitize=undefined,bounds-strict", "-fno-sanitize-recover=all", "-static-libubsan"]
            .map(str::to_owned),
    );
    let Ok(built) = Native::build(&program, generated, &compiler, &options, &cache()) else {
        println!("skipped: no sanitizer");
        return;
    };
    let mut prepared = built.prepare(&data).unwrap();
    prepared.run(2).unwrap();
    let expected = interpret(&program, &data).unwrap();
    assert!(expected.iter().zip(prepared.outputs()).all(|(expected, found)| expected.same_bits(&found)));
}

/// Long sequences that are not stored, and a very long row among many empty ones.
#[test]
fn lengths_go_beyond_32_bits_and_rows_differ() {
    let Some(compiler) = compiler() else { return };
    let text =
        "nested p { input n: i64; output a = reduce(+, striding(map(|i| i % 2, range(0, n)), 1048576), 0);
        output b = len(replicate(1.0, n)); output c = reverse(split(replicate(3.5, n), n - 2))[0][1]; }";
    let long = inputs([("n", Array::I64(vec![(1 << 33) + 1]))]);
    let program = parsed(text);
    let expected = interpret(&program, &long).unwrap();
    assert_eq!(expected[1].leaves[0], Array::I64(vec![(1 << 33) + 1]));
    assert_eq!(native(&program, &[], Mode::Deterministic, &compiler, &long).unwrap(), expected);

    let text =
        "nested p { input s: [f64]; input o: [i64]; output y = map(|r| reduce(+, r, 0.0), nest(s, o)); }";
    let program = parsed(text);
    // One row of 10^7 among 10^6 empty ones where `TILEWRIGHT_ALL` is set.
    let scale = if std::env::var_os("TILEWRIGHT_ALL").is_some() { 33 } else { 1 };
    let count = 305_000 * scale;
    let mut offsets = vec![0; 15_500 * scale as usize];
    offsets.extend(vec![count; 15_501 * scale as usize]);
    let data = inputs([("s", Chance(3).numbers(count as usize)), ("o", Array::I64(offsets))]);
    let (_, list, _) = prepared(&program);
    let plain = vec![Implementation::sequential(&list[0])];
    let expected = native(&program, &plain, Mode::Deterministic, &compiler, &data).unwrap();
    assert_eq!(native(&program, &[], Mode::Deterministic, &compiler, &data).unwrap(), expected);
}
