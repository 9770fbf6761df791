//! Sizes: what is large but allowed works on a small stack; what is larger is refused, never a crash.

use polyhedral::diagnostic::Code;
use polyhedral::lower::{MOST_DECLARATIONS, MOST_PROGRAM_NODES, MOST_STATEMENT_NODES};
use polyhedral::parser::{MOST_BYTES, MOST_HEIGHT, MOST_NESTING};
use polyhedral::program::Program;

/// Reads, copies, changes, prints and drops a program on a stack of 2 MiB.
fn on_small_stack(text: String) -> Result<(), Vec<Code>> {
    let work = move || match polyhedral::parse("large", &text) {
        Ok(program) => {
            let double = program.clone().with_element_type(polyhedral::program::ElementType::F64);
            let printed = double.to_source();
            let again: Program =
                polyhedral::parse("printed", &printed).expect("printed programs are accepted");
            assert_eq!(again.to_source(), printed);
            assert!(!format!("{program:?}").is_empty());
            Ok(())
        }
        Err(diagnostics) => {
            assert!(!diagnostics.to_string().is_empty());
            Err(diagnostics.list.iter().map(|diagnostic| diagnostic.code).collect())
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("starts");
    thread.join().expect("no panic")
}

fn stencil(value: &str) -> String {
    format!("stencil s(t, i) {{ field u: f32; param p = 1; u[t+1, i] = {value}; }}")
}

fn nested(open: &str, core: &str, close: &str, times: usize) -> String {
    stencil(&format!("{}{core}{}", open.repeat(times), close.repeat(times)))
}

#[test]
fn long_chains() {
    for (operator, core) in [("+", "u[t, i]"), ("*", "p"), ("-", "2"), ("/", "u[t, i-1]")] {
        let chain = |terms: usize| stencil(&vec![core; terms].join(operator));
        assert_eq!(on_small_stack(chain(MOST_HEIGHT)), Ok(()));
        assert_eq!(on_small_stack(chain(MOST_HEIGHT + 1)), Err(vec![Code::EXPRESSION_TOO_LARGE]));
        assert_eq!(on_small_stack(chain(100_000)), Err(vec![Code::EXPRESSION_TOO_LARGE]));
    }
    let conditions = |terms: usize| stencil(&format!("{} ? 1 : 2", vec!["p < u[t, i]"; terms].join("&&")));
    assert_eq!(on_small_stack(conditions(MOST_HEIGHT - 2)), Ok(()));
    assert_eq!(on_small_stack(conditions(10_000)), Err(vec![Code::EXPRESSION_TOO_LARGE]));
    let arguments = |count: usize| stencil(&format!("max({})", vec!["u[t, i]"; count].join(", ")));
    assert_eq!(on_small_stack(arguments(MOST_HEIGHT)), Ok(()));
    assert_eq!(on_small_stack(arguments(30_000)), Err(vec![Code::EXPRESSION_TOO_LARGE]));
    let default =
        format!("stencil s(t, i) {{ field u: f32; param p = {}; u[t+1, i] = p; }}", vec!["1"; 999].join("+"));
    assert_eq!(on_small_stack(default), Ok(()));
}

#[test]
fn deep_nesting() {
    let deep = MOST_NESTING - 2;
    for (open, core, close) in [
        ("(", "u[t, i]", ")"),
        ("-", "u[t, i]", ""),
        ("+", "u[t, i]", ""),
        ("sqrt(", "u[t, i]", ")"),
        ("u[t, i] + (", "p", ")"),
        ("u[t, i] > 0 ? 1 : ", "p", ""),
    ] {
        let allowed = if open.contains('?') { deep / 2 } else { deep };
        assert_eq!(on_small_stack(nested(open, core, close, allowed)), Ok(()), "{open}");
        for times in [200, 5_000] {
            assert_eq!(
                on_small_stack(nested(open, core, close, times)),
                Err(vec![Code::NESTED_TOO_DEEP]),
                "{open}"
            );
        }
    }
    for open in ["!", "(", "u[", "u[t, i] ? ", "min(1, "] {
        assert!(on_small_stack(stencil(&open.repeat(20_000))).is_err());
    }
    assert!(on_small_stack("{".repeat(100_000)).is_err());
    assert!(on_small_stack(format!("stencil s(t, i) {{ {}", "{".repeat(100_000))).is_err());
}

#[test]
fn large_programs() {
    let sum = |terms: usize| format!("({})", vec!["u[t, i]"; terms].join("+"));
    let sums = |count: usize| stencil(&vec![sum(400); count].join("+"));
    assert_eq!(on_small_stack(sums(24)), Ok(()));
    assert_eq!(on_small_stack(sums(30)), Err(vec![Code::EXPRESSION_TOO_LARGE]));

    // Locals that use each other count for every statement that uses them.
    let with_locals = |locals: usize, statements: usize| {
        let mut text = "stencil s(t, i) {\n".to_string();
        for k in 0..statements {
            text += &format!("field u{k}: f32;\n");
        }
        text += "let l0 = u0[t, i];\n";
        for k in 1..locals {
            text += &format!("let l{k} = l{} + 1;\n", k - 1);
        }
        for k in 0..statements {
            text += &format!("u{k}[t+1, i] = l{};\n", locals - 1);
        }
        text + "}\n"
    };
    assert_eq!(on_small_stack(with_locals(1_000, 10)), Ok(()));
    assert_eq!(
        on_small_stack(with_locals(MOST_STATEMENT_NODES / 2, 1)),
        Err(vec![Code::EXPRESSION_TOO_LARGE])
    );
    let locals = MOST_STATEMENT_NODES / 4;
    let statements = MOST_PROGRAM_NODES / (3 * locals) + 1;
    assert_eq!(on_small_stack(with_locals(locals, statements)), Err(vec![Code::EXPRESSION_TOO_LARGE]));
}

#[test]
fn many_declarations() {
    let many = |count: usize| {
        let mut text = "stencil s(t, i) {\n".to_string();
        for k in 0..count {
            text += &format!("field u{k}: f32; param p{k} = 1; u{k}[t+1, i] = p{k} * u{k}[t, i];\n");
        }
        text + "}\n"
    };
    assert_eq!(on_small_stack(many(MOST_DECLARATIONS)), Ok(()));
    let codes = on_small_stack(many(MOST_DECLARATIONS + 50)).expect_err("too many");
    assert_eq!(codes.iter().collect::<std::collections::HashSet<_>>(), [&Code::TOO_MANY].into());
}

#[test]
fn large_files() {
    let text = stencil("u[t, i]") + &" ".repeat(MOST_BYTES);
    assert_eq!(on_small_stack(text), Err(vec![Code::FILE_TOO_LARGE]));
    let body = "unknown = 1e999 @ 3; ".repeat(10_000);
    let codes = on_small_stack(format!("stencil s(t, i) {{ {body} }}")).expect_err("wrong");
    assert_eq!(codes.len(), 100, "no more than a hundred are shown");
    assert!(on_small_stack("x".repeat(MOST_BYTES)).is_err());
    assert!(on_small_stack("/*".repeat(MOST_BYTES / 2)).is_err());
}
