//! Several versions of a program behind one entry point.

use crate::programs::crystal;
use crate::support::{Chance, cache, compiler, parsed};
use nested::analysis::Implementation;
use nested::data::{Array, Inputs};
use nested::emit::generated::{Mode, prepared};
use nested::interpret::interpret;
use nested::native::{Native, RunError, options};
use nested::openmp::{Ranged, Variant, several};
use nested::versions::Versions;
use toolchain::compiler::SourceText;

/// In place of a model: takes as many implementations further as a feature says.
const CHOICE: &str = "
const char *NAME_choice_variant_name(int variant) { return (void)variant, (const char *)0; }
int NAME_choice_choose(const double *features) { return (int)features[PLACE]; }
";

fn shipped(name: &str) -> nested::program::Program {
    parsed(nested::shipped::text(name).unwrap())
}

/// Both programs for embedded atoms: a call takes one or the other, and has its results, with arrays that are used again.
#[test]
fn calls_choose_the_algorithm() {
    let Some(compiler) = compiler() else { return };
    let versions = Versions::new(shipped("comd_direct"), vec![shipped("comd_redistributed")]).unwrap();
    assert_eq!(versions.dropped, Vec::<String>::new());
    let ty = |name: &str| {
        let found = versions.interface.variables.iter().find(|own| own.name == name);
        found.map(|own| own.ty.to_string())
    };
    assert_eq!((ty("position"), ty("lists")), (Some("[f64^3]".into()), Some("[i32]".into())));
    let default = |version: usize| {
        let (_, list, _) = prepared(&versions.programs[version]);
        Variant { version, chosen: list.iter().map(Implementation::default_of).collect() }
    };
    let chosen: Vec<Variant> = [0, 1].map(default).into();
    let features = versions.features();
    let names: Vec<&str> = features.iter().map(|own| own.name.as_str()).collect();
    let rows = ["average_row_length_offsets", "average_row_length_begins", "row_length_skew_begins"];
    assert!(rows.iter().all(|own| names.contains(own)) && names.ends_with(&["threads"]), "{names:?}");
    let place = names.iter().position(|own| *own == "value_steps").unwrap();
    let ranged: Vec<Ranged> =
        features.iter().map(|own| Ranged { feature: own.clone(), range: [0.0, 1e6] }).collect();
    let made = several(&versions, &chosen, &ranged, Mode::Deterministic, "comd_direct");
    let choice = CHOICE.replace("NAME", "comd_direct").replace("PLACE", &place.to_string());
    let header = "#define comd_direct_choice_DEFAULT 0\nconst char *comd_direct_choice_variant_name(int);\n\
                  int comd_direct_choice_choose(const double *);\n";
    let all = made.variants.iter().chain(&made.sequential).map(|own| own.text.as_str());
    let text: String = all.chain([made.generated.text.as_str(), &choice]).collect();
    let sources = [
        SourceText::new("program.c", text),
        SourceText::new("comd_direct_choice.h", header),
        SourceText::new("tw_nested.h", nested::openmp::RUNTIME),
    ];
    let mut options = options(true, false);
    (options.optimization, options.strict) = (0, true);
    let object = compiler.compile_shared(&sources, &options, &cache()).unwrap();
    let built = Native::load(&versions.interface, made.generated.clone(), object).unwrap();
    let (direct, redistributed) = crystal(&mut Chance(9), 0);
    let with = |steps: i64| -> Inputs {
        let all = direct.iter().chain(&redistributed).map(|(name, array)| (name.clone(), array.clone()));
        all.chain([("steps".to_owned(), Array::I64(vec![steps]))]).collect()
    };
    for steps in [0, 1] {
        let inputs = with(steps);
        let version = chosen[steps as usize].version;
        let expected = interpret(&versions.programs[version], &versions.inputs_of(version, &inputs)).unwrap();
        let expected = versions.results_of(expected);
        let mut calls = built.prepare(&inputs).unwrap();
        for _ in 0..2 {
            calls.run(2).unwrap();
            let found = calls.outputs();
            assert_eq!(found.len(), 3);
            assert!(expected.iter().zip(&found).all(|(a, b)| a.same_bits(b)), "{steps}");
        }
    }
    // What is wrong for one version is wrong where that one computes, and is named by its own place.
    let mut wrong = with(1);
    wrong.insert("begins".to_owned(), Array::I64(vec![1, 2]));
    let mut calls = built.prepare(&wrong).unwrap();
    let Err(RunError::Fault(fault)) = calls.run(1) else { panic!("no fault") };
    let program = &versions.programs[1];
    assert!(program.source.text[fault.span.clone()].contains("begins"), "{}", program.place(&fault.span));
}

#[test]
fn versions_that_do_not_fit_are_refused() {
    let new = |first: &str, second: &str| {
        let text = |name: &str, body: &str| parsed(&format!("nested {name} {{ {body} }}"));
        Versions::new(text("a", first), vec![text("b", second)])
    };
    let a = "input s: [f64]; param n: i64 = 1; output y = reduce(+, s, 0.0); output z = s[n];";
    for (second, expected) in [
        (
            "input s: [f32]; output y = reduce(+, map(|x| f64(x), s), 0.0);",
            "`s` is [f64] in `a` and [f32] in `b`",
        ),
        ("input s: [f64]; param n: i64 = 2; output y = s[n];", "`n` is not the same parameter"),
        ("input s: [f64]; output w = s[0];", "no result of `a`"),
        ("input s: [f64]; output y = 1;", "no result of `a`"),
        ("input s: [f64]; input y: [f64]; output z = y[0];", "`y` is given to one version and a result"),
    ] {
        let error = new(a, second).unwrap_err();
        assert!(error.contains(expected), "{second}: {error}");
    }
    let good = new(a, "input s: [f64]; output y = s[0]; output w = s[1];").unwrap();
    assert_eq!(good.dropped, ["w", "z"]);
}
