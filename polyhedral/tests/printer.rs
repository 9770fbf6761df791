//! A printed program, read again, is the same program.

use polyhedral::program::{ElementType, ExprKind, Program};
use polyhedral::shipped;
use proptest::prelude::*;

fn text_of(program: &Program) -> String {
    format!("{:?}", program.clone().without_spans())
}

fn read(text: &str) -> Program {
    polyhedral::parse("printed", text).unwrap_or_else(|diagnostics| panic!("{text}\n{diagnostics}"))
}

fn round_trip(program: &Program) {
    let printed = program.to_source();
    let again = read(&printed);
    assert_eq!(text_of(program), text_of(&again), "{printed}");
    assert_eq!(printed, again.to_source());
}

#[test]
fn shipped_stencils_survive() {
    for name in shipped::names() {
        let program = shipped::load(name).expect("accepted");
        round_trip(&program);
        let double = program.with_element_type(ElementType::F64);
        assert!(double.fields.iter().all(|field| field.element == ElementType::F64));
        round_trip(&double);
    }
}

#[test]
fn locals_keep_the_order_of_every_statement() {
    let program = read(
        "stencil s(t, i) { field u: f32; field v: f32;
           let a = u[t, i-1];
           let b = 2 * a;
           let c = u[t, i+1] - b;
           u[t+1, i] = a + c;
           let d = u[t+1, i+1];
           v[t+1, i] = a + b * c + d + v[t, i]; }",
    );
    let names = |k: usize| -> Vec<&str> {
        program.statements[k].locals.iter().map(|local| local.name.as_str()).collect()
    };
    assert_eq!(names(0), ["a", "b", "c"]);
    assert_eq!(names(1), ["a", "b", "c", "d"]);
    round_trip(&program);
    let program = read(
        "stencil s(t, i) { field u: f32; field v: f32;
           let a = u[t, i-1];
           let b = u[t, i];
           let c = u[t, i+1];
           u[t+1, i] = a + c;
           v[t+1, i] = c + b + a; }",
    );
    round_trip(&program);
}

/// Programs made by other front ends may use one name for different values.
#[test]
fn locals_of_one_name_are_told_apart() {
    let mut program = read(
        "stencil s(t, i) { field u: f32; field v: f32; param a_2 = 1;
           let a = u[t, i-1];
           let b = v[t, i-1] + a_2;
           u[t+1, i] = a;
           v[t+1, i] = b; }",
    );
    program.statements[1].locals[0].name = "a".to_string();
    let printed = program.to_source();
    assert!(printed.contains("let a_3 = v[t, i-1] + a_2;"), "{printed}");
    read(&printed);
}

#[test]
fn types_mix_as_documented() {
    let program = read(
        "stencil s(t, i) { field u: f32; field v: f64; param a = 0.5;
           let w = 2 * a;
           let x = u[t, i] * 2;
           u[t+1, i] = a * u[t, i] + v[t, i] * w;
           v[t+1, i] = 1 + 2 * a;
           }",
    );
    let value = &program.statements[0].value;
    assert_eq!(value.element, ElementType::F32);
    let ExprKind::Cast(sum) = &value.kind else { panic!("rounded to the target: {value:?}") };
    let ExprKind::Binary(_, left, right) = &sum.kind else { panic!("{sum:?}") };
    assert!(matches!(&left.kind, ExprKind::Cast(product) if product.element == ElementType::F32));
    assert_eq!(right.element, ElementType::F64);
    assert_eq!(program.statements[0].locals[0].value.element, ElementType::F64);
    assert_eq!(program.statements[1].value.element, ElementType::F64);
    round_trip(&program);
    let single = program.with_element_type(ElementType::F32);
    assert!(!format!("{single:?}").contains("Cast"));
    round_trip(&single);
}

#[test]
fn descriptions_lose_their_comment_marks() {
    let body = "stencil s(t, i) { field u: f32; u[t+1, i] = u[t, i]; }";
    let description = |comment: &str| read(&format!("{comment}{body}")).description;
    assert_eq!(description(""), "");
    assert_eq!(description("// One.\n//\n//   two\n"), "One.\n\n  two");
    assert_eq!(description("/* One.\n * Two. */\n"), "One.\nTwo.");
    assert_eq!(description("// far\n\n// near\r\n"), "near");
    assert_eq!(description("// far\n\n"), "");
}

/// Texts of values, over all operators, well-typed by construction.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("u[t, i, j]".to_string()),
        (-3_i32..4, -3_i32..4).prop_map(|(a, b)| format!("u[t, i{a:+}, j{b:+}]")),
        (-7_i32..1).prop_map(|o| format!("v[t{o:+}, i, j]")),
        Just("c[i, j-1]".to_string()),
        Just("p".to_string()),
        Just("l".to_string()),
        (0_u32..1000, -8_i32..8).prop_map(|(m, e)| format!("{m}e{e}")),
    ];
    leaf.prop_recursive(6, 60, 4, |inner| {
        let condition = (inner.clone(), inner.clone(), inner.clone(), 0_usize..6, 0_usize..4).prop_map(
            |(a, b, c, operator, shape)| {
                let operator = ["<", "<=", ">", ">=", "==", "!="][operator];
                match shape {
                    0 => format!("({a} {operator} {b})"),
                    1 => format!("!({a} {operator} {b})"),
                    2 => format!("({a} {operator} {b} && {b} {operator} {c} || !({c} > {a}))"),
                    _ => format!("({a} {operator} {b} || {b} < {c}) && ({c} > {a})"),
                }
            },
        );
        prop_oneof![
            (inner.clone(), inner.clone(), 0_usize..4)
                .prop_map(|(a, b, operator)| format!("({a} {} {b})", ["+", "-", "*", "/"][operator])),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} - {b}")),
            inner.clone().prop_map(|a| format!("-({a})")),
            inner.clone().prop_map(|a| format!("+{a}")),
            (inner.clone(), 0_usize..3).prop_map(|(a, f)| format!("{}({a})", ["sqrt", "exp", "abs"][f])),
            prop::collection::vec(inner.clone(), 2..5).prop_map(|list| format!("min({})", list.join(", "))),
            prop::collection::vec(inner.clone(), 2..5).prop_map(|list| format!("max({})", list.join(", "))),
            (condition, inner.clone(), inner).prop_map(|(c, a, b)| format!("({c} ? {a} : {b})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_program_survives(first in value(), second in value(), local in value(), types in 0_usize..8) {
        let kind = |bit: usize| if types & bit == 0 { "f32" } else { "f64" };
        let local = local.replace('l', "p");
        let text = format!(
            "stencil s(t, i, j) {{ field u: {}; field v: {}; coefficient c: {}; param p = 0.25;
             let l = {local}; u[t+1, i, j] = {first}; v[t+1, i, j] = {second}; }}",
            kind(1), kind(2), kind(4),
        );
        let program = polyhedral::parse("made", &text).expect("well-formed");
        round_trip(&program);
        round_trip(&program.clone().with_element_type(ElementType::F32));
        round_trip(&program.with_element_type(ElementType::F64));
    }
}
