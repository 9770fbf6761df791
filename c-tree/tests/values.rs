//! Trees that are drawn at random: their text has the value of the tree, folding keeps it, and lines fit.

use c_tree::{BinaryOp, Block, COLUMNS, Dialect, Expr, Function, Sort, Stmt, UnaryOp, int, name, truth, var};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use std::process::Command;

/// Names with their values, `long long` each.
const VALUES: [(&str, i64); 5] = [("a", 3), ("b", -7), ("zero", 0), ("n", 1_000_003), ("far", -(1 << 40))];

const OPERATORS: [BinaryOp; 13] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::And,
    BinaryOp::Or,
];

/// A value, and whether its type is `int`; `None` where C defines none.
type Value = Option<(i64, bool)>;

fn of_type(value: Option<i64>, int: bool) -> Value {
    value.filter(|value| !int || i32::try_from(*value).is_ok()).map(|value| (value, int))
}

/// What C computes.
fn evaluate(expr: &Expr) -> Value {
    match expr {
        Expr::Int(value) => Some((*value, i32::try_from(*value).is_ok_and(|value| value != i32::MIN))),
        Expr::Bool(value) => Some((i64::from(*value), true)),
        Expr::Name(name, _) => Some((VALUES.iter().find(|(known, _)| known == name).unwrap().1, false)),
        Expr::Unary(UnaryOp::Not, a) => Some((i64::from(evaluate(a)?.0 == 0), true)),
        Expr::Unary(_, a) => evaluate(a).and_then(|(value, int)| of_type(value.checked_neg(), int)),
        Expr::Select(condition, a, b) => {
            let (then, otherwise) = (evaluate(a), evaluate(b));
            let int = type_of(a) && type_of(b);
            let chosen = if evaluate(condition)?.0 != 0 { then } else { otherwise };
            Some((chosen?.0, int))
        }
        Expr::Binary(BinaryOp::And, a, b) => {
            Some((i64::from(evaluate(a)?.0 != 0 && evaluate(b)?.0 != 0), true))
        }
        Expr::Binary(BinaryOp::Or, a, b) => {
            Some((i64::from(evaluate(a)?.0 != 0 || evaluate(b)?.0 != 0), true))
        }
        Expr::Binary(operator, a, b) => {
            let ((a, first), (b, second)) = (evaluate(a)?, evaluate(b)?);
            let arithmetic = |value| of_type(value, first && second);
            let comparison = |value| Some((i64::from(value), true));
            match operator {
                BinaryOp::Add => arithmetic(a.checked_add(b)),
                BinaryOp::Sub => arithmetic(a.checked_sub(b)),
                BinaryOp::Mul => arithmetic(a.checked_mul(b)),
                BinaryOp::Div => arithmetic(a.checked_div(b)),
                BinaryOp::Rem => arithmetic(a.checked_rem(b)),
                BinaryOp::Lt => comparison(a < b),
                BinaryOp::Le => comparison(a <= b),
                BinaryOp::Gt => comparison(a > b),
                BinaryOp::Ge => comparison(a >= b),
                BinaryOp::Eq => comparison(a == b),
                _ => comparison(a != b),
            }
        }
        _ => None,
    }
}

/// Whether its type is `int`.
fn type_of(expr: &Expr) -> bool {
    match expr {
        Expr::Int(value) => i32::try_from(*value).is_ok_and(|value| value != i32::MIN),
        Expr::Name(..) => false,
        Expr::Unary(UnaryOp::Negate, a) => type_of(a),
        Expr::Select(_, a, b) => type_of(a) && type_of(b),
        Expr::Binary(operator, a, b) => {
            operator.compares()
                || matches!(operator, BinaryOp::And | BinaryOp::Or)
                || type_of(a) && type_of(b)
        }
        _ => true,
    }
}

/// Trees as they are put together from the variants: nothing is folded.
fn trees() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        (-3_i64..4).prop_map(int),
        prop_oneof![
            Just(i64::from(i32::MAX)),
            Just(i64::from(i32::MIN)),
            Just(1 << 33),
            Just(100_000),
            Just(i64::MIN)
        ]
        .prop_map(int),
        any::<bool>().prop_map(truth),
        (0..VALUES.len()).prop_map(|at| var(VALUES[at].0)),
    ];
    leaf.prop_recursive(6, 40, 3, |inner| {
        prop_oneof![
            8 => (0..OPERATORS.len(), inner.clone(), inner.clone())
                .prop_map(|(at, a, b)| Expr::Binary(OPERATORS[at], Box::new(a), Box::new(b))),
            1 => inner.clone().prop_map(|a| Expr::Unary(UnaryOp::Negate, Box::new(a))),
            1 => inner.clone().prop_map(|a| Expr::Unary(UnaryOp::Not, Box::new(a))),
            1 => (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| Expr::Select(Box::new(a), Box::new(b), Box::new(c))),
        ]
    })
}

proptest! {
    #![proptest_config(Config::with_cases(3000))]

    /// Where C defines a value, the folded tree has it, too.
    #[test]
    fn folding_keeps_values(tree in trees()) {
        if let Some((value, _)) = evaluate(&tree) {
            let folded = tree.folded();
            prop_assert_eq!(evaluate(&folded).map(|(value, _)| value), Some(value), "{:?}", folded);
            prop_assert_eq!(&folded.folded(), &folded);
        }
    }

    /// No line is longer than it may be, and no blank ends one.
    #[test]
    fn lines_fit(tree in trees(), depth in 0_usize..8) {
        let inner: Block = vec![
            Stmt::constant("long long", "value", tree.clone()),
            Stmt::when(tree.clone(), Stmt::Continue),
            Stmt::call("f", [tree.clone(), name("x"), tree]),
        ]
        .into();
        let body = (0..depth).fold(inner, |body, _| Stmt::While(var("a"), body).into());
        let text = Function::new("f").body(body).print(Dialect::C);
        for line in text.lines() {
            prop_assert!(line.len() <= COLUMNS && line.trim_end() == line && !line.contains("- -"), "{}", text);
        }
        prop_assert_eq!(text.matches('(').count(), text.matches(')').count());
    }
}

/// The compiler computes from the text what the tree means, from its folded form the same, and misses no parentheses.
#[test]
fn the_text_has_the_value_of_the_tree() {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
    if Command::new(&compiler).arg("--version").output().is_err() {
        println!("skipped: no C compiler `{compiler}`");
        return;
    }
    let mut runner = TestRunner::deterministic();
    let mut body = Block::new();
    let mut cases = 0;
    while cases < 400 {
        let tree = trees().new_tree(&mut runner).unwrap().current();
        let Some((value, _)) = evaluate(&tree) else { continue };
        for (form, sign) in [(tree.clone(), 1), (tree.folded(), -1)] {
            let differs = Expr::Binary(BinaryOp::Ne, Box::new(form), Box::new(int(value)));
            body.push(Stmt::when(differs, Stmt::Return(Some(int(sign * (cases + 1))))));
        }
        cases += 1;
    }
    body.push(Stmt::Return(Some(int(0))));
    let kind = "volatile long long";
    let declare = VALUES.map(|(name, value)| Stmt::declare(kind, name, int(value)));
    let unused = VALUES.map(|(name, _)| Stmt::unused(name));
    let all: Block = declare.into_iter().chain(unused).chain(body).collect();
    let text = Function::new("check").attribute("static").result("int").body(all).print(Dialect::C);
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("values.c"), folder.path().join("values"));
    let main = "\n#include <stdio.h>\nint main(void)\n{\n    printf(\"%d\", check());\n    return 0;\n}\n";
    std::fs::write(&source, text + main).unwrap();
    let mut command = Command::new(&compiler);
    command.args(["-w", "-Werror=parentheses", "-Werror=logical-not-parentheses", "-Wparentheses", "-o"]);
    let output = command.arg(&program).arg(&source).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(&program).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0", "the number of the case that differs");
}

/// What is known of a type is right for what the operators make.
#[test]
fn sorts() {
    let (a, x) = (var("a"), name("x"));
    assert_eq!((&a + 1).sort(), Sort::Integer);
    assert_eq!((&a + &x).sort(), Sort::Other);
    assert_eq!(x.clone().lt(1).sort(), Sort::Truth);
    assert_eq!(a.clone().lt(1).select(&a, &x).sort(), Sort::Other);
    assert_eq!(x.cast("int").sort(), Sort::Other);
}
