//! Every diagnostic, as it is printed: files in `tests/diagnostics`, written anew with `BLESS=1`.

use crate::support::{inputs, parsed};
use nested::codes;
use nested::data::{Array, Inputs};
use nested::interpret::{InterpretError, interpret};
use std::fs;
use std::path::Path;

fn rendered(bytes: &[u8], name: &str) -> String {
    match nested::parse_bytes(name, bytes) {
        Ok(_) => "no mistake\n".to_owned(),
        Err(mistakes) => mistakes.render(false) + "\n",
    }
}

#[test]
fn diagnostics_are_as_blessed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut shown = String::new();
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "nested")) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let found = rendered(&fs::read(file).unwrap(), &name);
        let expected = file.with_extension("expected");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &found).unwrap();
        }
        assert_eq!(
            fs::read_to_string(&expected).unwrap_or_default(),
            found,
            "{name}; BLESS=1 writes it anew"
        );
        shown.push_str(&found);
    }
    // A text that is too long is not kept as a file; data that does not fit is shown below.
    shown.push_str(&rendered(&vec![b' '; (1 << 20) + 1], "long.nested"));
    shown.push_str(codes::DATA.0);
    for (code, meaning) in codes::ALL {
        assert!(shown.contains(code.0), "{code}: {meaning} is shown by no file");
        assert!(include_str!("../../docs/nested.md").contains(code.0), "{code} is not in docs/nested.md");
    }
}

/// What is wrong with data is found, and says where in the program.
#[test]
fn data_that_does_not_fit_is_refused() {
    let i32s = |values: &[i32]| Array::I32(values.to_vec());
    let i64s = |values: &[i64]| Array::I64(values.to_vec());
    let f64s = |values: &[f64]| Array::F64(values.to_vec());
    let cases: Vec<(&str, Inputs, &str)> = vec![
        (
            "input s: [f64]; input k: [i32]; output y = gather(s, k);",
            inputs([("s", f64s(&[1.0])), ("k", i32s(&[0, 1]))]),
            "index 1 is outside",
        ),
        (
            "input s: [f64]; input k: [i32]; output y = map(|i| s[i - 1], k);",
            inputs([("s", f64s(&[1.0])), ("k", i32s(&[0]))]),
            "index -1 is outside",
        ),
        (
            "input s: [f64]; input o: [i64]; output y = map(|r| reduce(+, r, 0.0), nest(s, o));",
            inputs([("s", f64s(&[1.0])), ("o", i64s(&[0, 2, 1]))]),
            "offsets begin with 0",
        ),
        (
            "input s: [f64]; input o: [i64]; output y = map(|r| len(r), nest(s, o));",
            inputs([("s", f64s(&[1.0])), ("o", i64s(&[]))]),
            "offsets begin with 0",
        ),
        (
            "input s: [f64]; input t: [f64]; output y = map(|a, b| a + b, s, t);",
            inputs([("s", f64s(&[1.0])), ("t", f64s(&[]))]),
            "sequences of 1 and 0",
        ),
        (
            "input n: i64; output y = replicate(1.0, n);",
            inputs([("n", i64s(&[-1]))]),
            "a length is not negative",
        ),
        (
            "input n: i64; output y = map(|r| len(r), split(replicate(1.0, 4), n));",
            inputs([("n", i64s(&[0]))]),
            "is positive",
        ),
        ("input n: i64; output y = range(0, 5, n);", inputs([("n", i64s(&[0]))]), "stride of a range not 0"),
        ("input s: [f64]; output y = cyclic(s, 4);", inputs([("s", f64s(&[]))]), "an empty sequence"),
        (
            "input k: [i32]; output y = scatter(k, k, range(i32(0), i32(5)));",
            inputs([("k", i32s(&[2, 2]))]),
            "the place 2 is written twice",
        ),
        ("input k: [i32]; output y = map(|a| 7 / a, k);", inputs([("k", i32s(&[1, 0]))]), "divided by 0"),
        (
            "input n: i64; output y = len(join(range(0, n), range(0, n)));",
            inputs([("n", i64s(&[1 << 40]))]),
            "beyond 2^62",
        ),
    ];
    let compiler = crate::support::compiler();
    for (items, inputs, expected) in cases {
        let program = parsed(&format!("nested p {{ {items} }}"));
        let Err(InterpretError::Fault(fault)) = interpret(&program, &inputs) else {
            panic!("{items}: no fault")
        };
        let text = fault.diagnostics(&program.source).render(false);
        assert!(text.contains(expected) && text.contains("TW1601"), "{items}: {text}");
        let Some(compiler) = &compiler else { continue };
        let found = crate::support::native(&program, &[], Default::default(), compiler, &inputs);
        match found {
            Err(nested::native::RunError::Fault(own)) => assert_eq!(own.kind, fault.kind, "{items}: {own}"),
            other => panic!("{items}: {other:?}"),
        }
    }
}

/// What is not computed cannot be wrong.
#[test]
fn what_a_condition_excludes_is_not_checked() {
    let k = || ("k", Array::I32(vec![0, -1, 1, 7]));
    let s = || ("s", Array::F64(vec![1.5, 2.5]));
    let texts = [
        "input s: [f64]; input k: [i32]; output y = map(|i| i >= 0 && i < i32(len(s)) ? s[i] : 0.0, k);",
        "input s: [f64]; input k: [i32]; output y = map(|i| i >= 0 && i < 2 && s[i] > 2.0, k);",
        "input s: [f64]; input k: [i32]; output y = gather(s, filter(|i| i >= 0 && i < 2, k));",
        "input s: [f64]; input k: [i32]; output y = gather(s, striding(k, 2)); output z = k[1] < 0 ? 1.0 : s[k[1]];",
        "input s: [f64]; input k: [i32]; output y = len(k) > 9 ? reduce(+, map(|r| len(r), split(s, i64(k[1]))), 0) : 3;",
        "input s: [f64]; input k: [i32]; output y = map(|i| i == 0 ? 0 : 12 / i, k);",
    ];
    let Some(compiler) = crate::support::compiler() else { return };
    for (place, items) in texts.into_iter().enumerate() {
        let k = if place == 3 { ("k", Array::I32(vec![0, -1, 1])) } else { k() };
        let inputs = inputs([s(), k]);
        let program = parsed(&format!("nested p {{ {items} }}"));
        let expected = interpret(&program, &inputs).unwrap_or_else(|error| panic!("{items}: {error}"));
        let found = crate::support::native(&program, &[], Default::default(), &compiler, &inputs);
        assert_eq!(found.unwrap_or_else(|error| panic!("{items}: {error}")), expected, "{items}");
    }
}
