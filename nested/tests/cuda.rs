//! CUDA on the emulator, and compiled by NVRTC.

use crate::programs::examples;
use crate::random;
use crate::support::{Chance, cache, inputs, parsed};
use nested::analysis::gpu::{GpuImplementation, choose, implementations};
use nested::cuda::{GeneratedCuda, generate};
use nested::data::{Array, Inputs, Output};
use nested::emit::generated::{Mode, prepared};
use nested::emit::gpu::Team;
use nested::emulated::{Emulated, EmulatedError};
use nested::interpret::interpret;
use nested::native::RunError;
use nested::program::Program;
use toolchain::compiler::{Compiler, Language};
use toolchain::nvrtc::Nvrtc;

fn compiler() -> Option<Compiler> {
    match Compiler::find(Language::Cxx) {
        Ok(compiler) => Some(compiler),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

fn built(program: &Program, generated: GeneratedCuda, compiler: &Compiler) -> Emulated {
    let text = generated.generated.text.clone();
    Emulated::build(program, generated, compiler, true, &cache())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn emulated(
    program: &Program,
    chosen: &[GpuImplementation],
    compiler: &Compiler,
    all: &[&Inputs],
) -> Vec<Result<Vec<Output>, EmulatedError>> {
    let generated = generate(program, chosen, Mode::Deterministic, "program").unwrap();
    let built = built(program, generated, compiler);
    all.iter().enumerate().map(|(place, inputs)| built.run(inputs, (place % 3) as u8, 7)).collect()
}

fn compare(name: &str, expected: &[Output], found: Result<Vec<Output>, EmulatedError>, policies: &[String]) {
    let found = found.unwrap_or_else(|error| panic!("{name} {policies:?}: {error}"));
    for (expected, found) in expected.iter().zip(&found) {
        assert!(expected.same_bits(found), "{name} {policies:?}: {}\n{expected:?}\n{found:?}", expected.name);
    }
}

fn all_implementations(program: &Program) -> Vec<Vec<GpuImplementation>> {
    let (_, computations, _) = prepared(program);
    let lists: Vec<Vec<GpuImplementation>> = computations.iter().map(implementations).collect();
    let most = lists.iter().map(Vec::len).max().unwrap_or(0);
    (0..most).map(|number| lists.iter().map(|list| list[number % list.len()].clone()).collect()).collect()
}

fn all() -> bool {
    std::env::var_os("TILEWRIGHT_ALL").is_some()
}

/// Three that have most operators; all where `TILEWRIGHT_ALL` is set.
#[test]
fn shipped_programs_give_the_interpreters_bits_on_the_emulator() {
    let Some(compiler) = compiler() else { return };
    for (name, text) in nested::shipped::all() {
        if !all() && !["scan", "spmv", "kmeans"].contains(&name) {
            continue;
        }
        let program = parsed(text);
        let examples = examples(name);
        let list: Vec<&Inputs> = examples.iter().collect();
        let results = emulated(&program, &[], &compiler, &list);
        for (inputs, found) in list.iter().zip(results) {
            let expected = interpret(&program, inputs).unwrap();
            compare(name, &expected, found, &[]);
        }
    }
}

/// One each of two programs; all of all where `TILEWRIGHT_ALL` is set, or of those programs whose names it has.
#[test]
fn every_implementation_gives_the_interpreters_bits_on_the_emulator() {
    let Some(compiler) = compiler() else { return };
    let mut count = 0;
    let named = std::env::var("TILEWRIGHT_ALL").unwrap_or_default();
    let wanted = |name: &str| named.split(',').any(|own| own == name || own == "1");
    for (name, text) in nested::shipped::all() {
        let program = parsed(text);
        let examples = examples(name);
        let Some(inputs) = examples.iter().max_by_key(|inputs| inputs.values().map(Array::len).max()) else {
            continue;
        };
        let chosen = all_implementations(&program);
        let places: Vec<usize> = match name {
            _ if wanted(name) => (1..chosen.len()).collect(),
            "softmax" => vec![chosen.len() / 3],
            "reduction" => vec![chosen.len() / 2],
            _ => continue,
        };
        let expected = interpret(&program, inputs).unwrap();
        for place in places {
            let Some(chosen) = chosen.get(place) else { continue };
            let policies: Vec<String> = chosen.iter().map(GpuImplementation::policy).collect();
            let found = emulated(&program, chosen, &compiler, &[inputs]).pop().unwrap();
            compare(name, &expected, found, &policies);
            count += 1;
        }
        println!("{name}: {count} implementations");
    }
}

/// Each fault in the text is found, by what the emulator sees or by the result.
#[test]
fn faults_in_kernels_are_found() {
    let Some(compiler) = compiler() else { return };
    let program = parsed(nested::shipped::text("scan").unwrap());
    let inputs = &inputs([("s", Chance(5).numbers(20_000)), ("tile", Array::I64(vec![9000]))]);
    let expected = interpret(&program, inputs).unwrap();
    let whole = generate(&program, &[], Mode::Deterministic, "program").unwrap();
    let faults: [(&str, &str, &str); 6] = [
        ("a missing barrier", "__syncthreads();", ";"),
        ("warps that do not wait", "__syncwarp();", ";"),
        ("a wrong shuffle width", "4, 8);", "4, 4);"),
        ("a mask without half of its lanes", "0xffu", "0xfu"),
        ("an offset off by one", "* 4096;", "* 4096 + 1;"),
        ("all threads store", ".x == 0) ", ".x >= 0) "),
    ];
    // Three of them; all where `TILEWRIGHT_ALL` is set.
    for (name, from, to) in faults.into_iter().step_by(if all() { 1 } else { 2 }) {
        let mut faulty = whole.clone();
        assert!(faulty.generated.text.contains(from), "{name}\n{}", faulty.generated.text);
        faulty.generated.text = faulty.generated.text.replacen(from, to, 1);
        let found = built(&program, faulty, &compiler).run(inputs, 2, 9);
        let same = matches!(&found, Ok(found) if expected.iter().zip(found).all(|(a, b)| a.same_bits(b)));
        assert!(!same, "{name} is not found");
    }
}

/// A scan in one kernel, for which tiles of one and of two blocks of elements look back, in all orders of threads and blocks.
#[test]
fn scans_that_look_back_give_the_interpreters_bits() {
    let Some(compiler) = compiler() else { return };
    let text = "nested p { input s: [f64]; input k: [i32]; output a = scan(+, map(|x| x * 1.5, s), 0.25);
        output b = scan(max, k, 0); output c = scan(assoc |x, y| (x.0 + y.0, x.1 * y.1), zip(k, k), (1, 1)); }";
    let program = parsed(text);
    let computations = prepared(&program).1;
    let policy = "scan=look_back,block_size_x=64";
    let chosen: Vec<GpuImplementation> =
        computations.iter().map(|own| choose(own, None, Some(policy)).unwrap()).collect();
    let generated = generate(&program, &chosen, Mode::Deterministic, "program").unwrap();
    let whole = built(&program, generated.clone(), &compiler);
    let mut chance = Chance(11);
    let mut data = |count: usize| {
        let keys = (0..count).map(|_| chance.below(1000) as i32 - 500).collect();
        inputs([("s", chance.numbers(count)), ("k", Array::I32(keys))])
    };
    for (place, count) in [0, 1, 4096, 4097, 8193, 30_000].into_iter().enumerate() {
        let inputs = data(count);
        let expected = interpret(&program, &inputs).unwrap();
        for order in [place as u8 % 3, 2] {
            compare("look back", &expected, whole.run(&inputs, order, place as u64), &[policy.to_owned()]);
        }
    }
    // Each fault in the text is found. Two of them; all where `TILEWRIGHT_ALL` is set.
    let faults = [
        (
            "tiles from the last one on",
            "words[0] = tw_take_tile(marks, tiles);",
            "words[0] = tw_take_tile(marks, tiles);\
          if (words[0] < tiles) words[0] = tiles - 1 - words[0];",
            "waits for ever",
        ),
        (
            "no fence before a mark",
            "__threadfence();\n    tw_set_mark",
            "tw_set_mark",
            "a race between blocks",
        ),
        (
            "no fence behind a mark",
            "__threadfence();\n        const int64_t found",
            "const int64_t found",
            "a race between blocks",
        ),
        ("an offset off by one", "? -1 : found", "? -1 : found + 1", ""),
        ("a missing barrier", "__syncthreads();\n    return words[0]", "return words[0]", "a race"),
        (
            "results that nobody waits for",
            "own < 0 ? 2 : tw_await_mark(marks, own)",
            "own < 0 ? 2 : 1 + (tw_await_mark(marks, own) & 1)",
            "",
        ),
    ];
    let inputs = data(30_000);
    let expected = interpret(&program, &inputs).unwrap();
    for (name, from, to, said) in faults.into_iter().take(if all() { 6 } else { 2 }) {
        let mut faulty = generated.clone();
        let text = faulty.device_text();
        assert!(text.contains(from), "{name}");
        faulty.generated.text = text.replacen(from, to, 1);
        let faulty = built(&program, faulty, &compiler);
        let mut found = (0..3).map(|order| faulty.run(&inputs, order, 9));
        let wrong = found.any(|found| match found {
            Ok(found) => said.is_empty() && !expected.iter().zip(&found).all(|(a, b)| a.same_bits(b)),
            Err(error) => error.to_string().contains(said),
        });
        assert!(wrong, "{name} is not found");
    }
}

/// Lengths around warps, groups of lanes, and blocks; empty rows.
#[test]
fn odd_lengths_on_the_emulator() {
    let Some(compiler) = compiler() else { return };
    let text = "nested p { input s: [f64]; input k: [i32]; input o: [i64];
        output a = reduce(+, s, 0.5); output b = scan(+, s, 0.25); output c = map(|x| x * 2.0, s);
        output d = map(|r| reduce(+, r, 1.0), nest(s, o)); output e = filter(|x| x > 0.0, s);
        output f = sort_by_key(s, k); output g = reduce_by_key(+, s, k, 0.0);
        output h = map(|r| scan(+, r, 0.5), nest(s, o)); output m = reduce(max, k); }";
    let program = parsed(text);
    let mut chance = Chance(3);
    let data: Vec<Inputs> = [0_usize, 1, 31, 32, 33, 4095, 4096, 4097, 13_000]
        .into_iter()
        .map(|count| {
            let mut offsets = vec![0, 0];
            while offsets[offsets.len() - 1] < count as i64 {
                let step = [0, 1, 7, 8, 9, 31, 33, 5000][chance.below(8) as usize];
                offsets.push((offsets[offsets.len() - 1] + step).min(count as i64));
            }
            offsets.push(count as i64);
            let keys = (0..count).map(|place| (place / 3) as i32 % 70 - 20).collect();
            inputs([("s", chance.numbers(count)), ("k", Array::I32(keys)), ("o", Array::I64(offsets))])
        })
        .collect();
    let list: Vec<&Inputs> = data.iter().collect();
    for (inputs, found) in list.iter().zip(emulated(&program, &[], &compiler, &list)) {
        compare("odd", &interpret(&program, inputs).unwrap(), found, &[]);
    }
}

#[test]
fn programs_by_chance_give_the_interpreters_bits_on_the_emulator() {
    let Some(compiler) = compiler() else { return };
    let count = if all() { 120 } else { 1 };
    for seed in 0..count {
        let mut chance = Chance(1000 + seed);
        let text = random::program(&mut chance);
        let program = parsed(&text);
        let size = [9000, 1, 700][seed as usize % 3];
        let data = random::data(&mut chance, size);
        let expected = interpret(&program, &data).unwrap();
        let (_, list, _) = prepared(&program);
        let choose = |own| {
            let all = implementations(own);
            all[chance.below(all.len() as u64) as usize].clone()
        };
        let chosen: Vec<GpuImplementation> = list.iter().map(choose).collect();
        let policies: Vec<String> = chosen.iter().map(GpuImplementation::policy).collect();
        let found = emulated(&program, &chosen, &compiler, &[&data]).pop().unwrap();
        compare(&format!("{seed}\n{text}"), &expected, found, &policies);
    }
}

/// A long row among many empty ones and short ones, with and without equal shares.
#[test]
fn rows_of_all_lengths_on_the_emulator() {
    let Some(compiler) = compiler() else { return };
    let text = "nested p { input s: [f64]; input o: [i32];
        output a = map(|r| reduce(+, r, 0.5), nest(s, o)); output b = map(|r| scan(+, r, 0.5), nest(s, o)); }";
    let program = parsed(text);
    let data: Vec<Inputs> = [
        vec![0],
        vec![0, 8192, 8193],
        vec![0, 0, 8193, 8193, 24_577],
        [vec![0; 500], vec![20_000; 300], (20_000..20_100).collect(), vec![20_100, 40_000]].concat(),
    ]
    .into_iter()
    .map(|offsets| {
        let count = offsets[offsets.len() - 1];
        inputs([("s", Chance(3).numbers(count as usize)), ("o", Array::I32(offsets))])
    })
    .collect();
    let list: Vec<&Inputs> = data.iter().collect();
    let computations = prepared(&program).1;
    let policies = [
        "logical_warp_size=8,block_size_x=64,row_sharing=merge",
        "execution_resource_1=block,block_size_x=64,row_sharing=merge",
    ];
    let chosen: Vec<GpuImplementation> = computations
        .iter()
        .zip(policies)
        .map(|(own, policy)| choose(own, None, Some(policy)).unwrap())
        .collect();
    for (inputs, found) in list.iter().zip(emulated(&program, &chosen, &compiler, &list)) {
        compare("rows", &interpret(&program, inputs).unwrap(), found, &policies.map(str::to_owned));
    }
    // Each fault in the text is found; all of them where `TILEWRIGHT_ALL` is set.
    let faults: [(&str, &str, &str); 3] = [
        ("rows of one length that nobody takes", "<= 8192)", "< 8192)"),
        ("a share that begins one row later", " = tw_share(s_o, n", " = 1 + tw_share(s_o, n"),
        ("long rows that no block takes", "> 8192", "> 8193"),
    ];
    let whole = generate(&program, &chosen, Mode::Deterministic, "program").unwrap();
    for (name, from, to) in faults.into_iter().take(if all() { 3 } else { 0 }) {
        let mut faulty = whole.clone();
        assert!(faulty.generated.text.contains(from), "{name}\n{}", faulty.generated.text);
        faulty.generated.text = faulty.generated.text.replace(from, to);
        let faulty = built(&program, faulty, &compiler);
        let right = |inputs: &&Inputs| {
            let expected = interpret(&program, inputs).unwrap();
            let found = faulty.run(inputs, 2, 9);
            matches!(&found, Ok(found) if expected.iter().zip(found).all(|(a, b)| a.same_bits(b)))
        };
        assert!(!list.iter().all(right), "{name} is not found");
    }
}

/// Machine code for the devices that NVRTC knows: two programs for one device each; all for all where `TILEWRIGHT_ALL` is set.
#[test]
fn nvrtc_compiles_without_warnings() {
    let architectures: Vec<u32> =
        [70, 80, 90].into_iter().filter(|own| Nvrtc::for_architecture(*own).is_ok()).collect();
    if architectures.is_empty() {
        println!("skipped: no NVRTC");
        return;
    }
    for (number, (name, text)) in nested::shipped::all().into_iter().enumerate() {
        if !all() && !["scan", "histogram"].contains(&name) {
            continue;
        }
        let program = parsed(text);
        // Where there is a scan of all, in one kernel.
        let (_, computations, _) = prepared(&program);
        let look_back = computations.iter().map(|own| {
            choose(own, None, Some("scan=look_back")).unwrap_or_else(|_| GpuImplementation::default_of(own))
        });
        let mut lists: Vec<Vec<GpuImplementation>> = vec![look_back.collect()];
        if all() {
            lists.push(Vec::new());
            lists.extend(all_implementations(&program).into_iter().step_by(7));
        }
        let one = [architectures[number % architectures.len()]];
        let wanted = if all() { &architectures[..] } else { &one[..] };
        for list in lists {
            let generated = generate(&program, &list, Mode::Deterministic, "program").unwrap();
            let compiled = Nvrtc::compile_for_each(wanted, &generated.device_text(), "program.cu", &cache());
            for (architecture, _, compiled) in compiled.unwrap_or_else(|error| panic!("{name}: {error}")) {
                assert!(compiled.warnings.is_empty(), "{name} {architecture}: {:?}", compiled.warnings);
                let kernels: Vec<&str> = compiled.kernels.iter().map(|own| own.kernel.as_str()).collect();
                assert!(
                    generated.kernels.iter().all(|(own, _)| kernels.contains(&own.as_str())),
                    "{name} {kernels:?}"
                );
            }
        }
    }
}

/// What users ask for on a GPU is taken, or refused with the rule.
#[test]
fn choices_for_a_gpu_are_taken_or_refused_with_the_rule() {
    let of = |name: &str, computation: &str| {
        let list = prepared(&parsed(nested::shipped::text(name).unwrap())).1;
        list.into_iter().find(|own| own.name == computation).unwrap()
    };
    let spmv = of("spmv", "y");
    let taken = choose(&spmv, None, Some("logical_warp_size=4,block_size_x=64")).unwrap();
    assert_eq!((taken.team, taken.block), (Team::Warp(4), 64));
    let one = choose(&spmv, Some("independent>sequential"), None).unwrap();
    assert_eq!(one.team, Team::Thread);
    let cases = [
        (None, Some("logical_warp_size=3"), "1, 2, 4, 8, 16 or 32"),
        (None, Some("block_size_x=96"), "is one of"),
        (None, Some("execution_resource_1=thread"), "nobody to share with"),
        (Some("independent>sequential"), Some("execution_resource_1=block,block_size_x=64"), "second level"),
        (None, Some("omp_schedule_1=static"), "is no parameter"),
        (Some("sequential>cooperative"), Some("row_sharing=merge"), "deals out rows of a nest"),
        (None, Some("row_sharing=most"), "neither equal nor merge"),
        (None, Some("scan=look_back"), "is for a scan of a whole sequence"),
        (None, Some("scan=twice"), "neither three_kernels nor look_back"),
        (Some("independent>independent"), None, "rewritten to sequential only"),
    ];
    for (schedule, policy, expected) in cases {
        let rule = choose(&spmv, schedule, policy).unwrap_err();
        assert!(rule.contains(expected), "{schedule:?} {policy:?}: {rule}");
    }
    let deep = of("comd_direct", "density");
    let rule = choose(&deep, Some("independent>independent>cooperative>sequential"), None).unwrap_err();
    assert!(rule.contains("the outermost 2 levels"), "{rule}");
    let wide = "nested p { input s: [f64]; output a = scan(assoc |x, y| (x.0 + y.0, x.1 + y.1), zip(s, s), (0.0, 0.0)); }";
    let wide = prepared(&parsed(wide)).1;
    let rule = choose(&wide[0], None, Some("scan=look_back")).unwrap_err();
    assert!(rule.contains("has room for 32768 bytes of them; here they have 65536"), "{rule}");
    assert!(implementations(&wide[0]).iter().all(|own| !own.look_back));
    for (name, least) in [("spmv", 40), ("scan", 40), ("kmeans", 40)] {
        let program = parsed(nested::shipped::text(name).unwrap());
        let count: usize = prepared(&program).1.iter().map(|own| implementations(own).len()).sum();
        assert!(count >= least, "{name}: {count}");
    }
}

/// The counts of parameters that hosts rely on are those of the text.
#[test]
fn kernels_of_the_runtime_have_as_many_parameters_as_is_said() {
    let text = nested::cuda::RUNTIME.replace("tw_check_offsets_##T(", "tw_check_offsets_int32_t(");
    for (name, count) in nested::cuda::RUNTIME_KERNELS {
        let name = name.replace("int64_t", "int32_t");
        let (_, rest) =
            text.split_once(&format!(" {name}(")).or_else(|| text.split_once(&format!("{name}("))).unwrap();
        // Two parentheses of `TW_GLOBAL` open and close within.
        let mut depth = 1;
        let end = rest.find(|letter| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            depth == 0
        });
        assert_eq!(rest[..end.unwrap()].matches(',').count() + 1, count, "{name}");
    }
}

/// What is wrong with the data is said as the interpreter says it, and kernels stay within their arrays.
#[test]
fn wrong_data_is_found_on_the_emulator() {
    let Some(compiler) = compiler() else { return };
    let text = "nested p { input s: [f64]; input p: [i32]; input o: [i64]; input n: i32;
        output a = scatter(s, p, reverse(s)); output b = map(|r| reduce(+, r, 0.0), nest(s, o));
        output c = map(|i| i / n, p); output d = gather(s, map(|i| i + n - 1, p)); }";
    let program = parsed(text);
    let built = built(&program, generate(&program, &[], Mode::Deterministic, "program").unwrap(), &compiler);
    let data = |places: [i32; 4], offsets: [i64; 3], divisor: i32| {
        inputs([
            ("s", Chance(1).numbers(4)),
            ("p", Array::I32(places.to_vec())),
            ("o", Array::I64(offsets.to_vec())),
            ("n", Array::I32(vec![divisor])),
        ])
    };
    let good = data([3, 1, 0, 2], [0, 2, 4], 1);
    compare("good", &interpret(&program, &good).unwrap(), built.run(&good, 1, 0), &[]);
    let cases = [
        (data([3, 1, 1, 2], [0, 2, 4], 1), "the place 1 is written twice"),
        (data([3, 1, 9, 2], [0, 2, 4], 1), "the index 9 is outside of a sequence of 4 elements"),
        (data([3, 1, 0, 2], [0, 5, 4], 1), "offsets begin with 0"),
        (data([3, 1, 0, 2], [0, 2, 4], 0), "divided by 0"),
        (data([3, 1, 0, 2], [0, 2, 4], 2), "the index 4 is outside of a sequence of 4 elements"),
    ];
    for (inputs, expected) in cases {
        match built.run(&inputs, 0, 0) {
            Err(EmulatedError::Run(RunError::Fault(fault))) => {
                assert!(fault.to_string().contains(expected), "{fault}");
            }
            other => panic!("{expected}: {:?}", other.map(|_| ()).map_err(|error| error.to_string())),
        }
    }
}
