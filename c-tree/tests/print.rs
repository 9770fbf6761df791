//! Text: parentheses, statements, lines and comments.

use c_tree::{
    BinaryOp, Block, COLUMNS, Declaration, Dialect, Expr, Function, Stmt, Type, UnaryOp, all, any, call, int,
    name, truth, var,
};

fn text(expr: &Expr) -> String {
    Dialect::C.one_line(expr)
}

#[test]
fn parentheses_are_those_that_are_needed() {
    let [a, b, c] = ["a", "b", "c"].map(var);
    for (expr, expected) in [
        (&a + &b * &c, "a + b * c"),
        ((&a + &b) * &c, "(a + b) * c"),
        (&a - (&b - &c), "a - (b - c)"),
        (&a - &b + &c, "a - b + c"),
        (&a / &b * &c, "a / b * c"),
        (&a * (&b / &c), "a * (b / c)"),
        ((&a * &b) % &c, "(a * b) % c"),
        (-(&a + &b), "-(a + b)"),
        (-(-a.clone()), "-(-a)"),
        (&a - (-b.clone()), "a - (-b)"),
        (&a - (-b.clone()) * &c, "a - (-b * c)"),
        (&a * (-b.clone()), "a * -b"),
        ((&a - 1) - (int(-3)), "a + 2"),
        ((&a + 0) * 1 - 0, "a"),
        (&a - (&b - &b), "a - (b - b)"),
        (a.clone().lt(&b).and(b.clone().lt(&c)).or(truth(false)), "a < b && b < c"),
        (
            any([all([a.clone().lt(&b), truth(true)]), b.clone().is(1).and(c.clone().is(2))]),
            "a < b || (b == 1 && c == 2)",
        ),
        (!(a.clone().lt(&b)), "a >= b"),
        (!(name("x").lt(&b)), "!(x < b)"),
        (a.clone().lt(&b).select(truth(false), b.clone().lt(&c)), "a >= b && b < c"),
        (a.clone().lt(&b).select(b.clone().lt(&c), truth(true)), "a >= b || b < c"),
        (a.clone().lt(&b).is(c.clone().lt(1)), "(a < b) == (c < 1)"),
        (Expr::binary(BinaryOp::Shl, &a + 1, 2), "(a + 1) << 2"),
        (Expr::binary(BinaryOp::BitAnd, &a + 1, &b), "(a + 1) & b"),
        (a.clone().lt(&b).select(&a, &b) + 1, "(a < b ? a : b) + 1"),
        (a.clone().lt(&b).select(a.clone().is(0).select(1, 2), &b), "a < b ? (a == 0 ? 1 : 2) : b"),
        ((&a + 1).cast("float"), "(float)(a + 1)"),
        (int(-1).cast("float"), "(float)(-1)"),
        (name("p").arrow("u").at(&a + 1), "p->u[a + 1]"),
        ((name("p") + &a).at(2), "(p + a)[2]"),
        (name("u").deref().size_of(), "sizeof *u"),
        (Expr::instance("f", [int(4)], [a.clone(), b.clone()]), "f<4>(a, b)"),
        (int(i64::MIN), "(-9223372036854775807 - 1)"),
        (Expr::f32(0.1), "0.1f"),
        (Expr::f64(-1.0) * name("x") - Expr::f64(-2.5), "-1.0 * x - (-2.5)"),
        (Expr::f32(f32::NEG_INFINITY), "-(1.0f / 0.0f)"),
        (name("x") + 0, "x + 0"),
        (name("x") + (name("y") + name("z")), "x + (y + z)"),
    ] {
        assert_eq!(text(&expr), expected);
    }
}

#[test]
fn nothing_else_is_folded() {
    let a = var("a");
    for (expr, expected) in [
        (int(1 << 20) * (1 << 20), "1048576 * 1048576"),
        (int(1 << 40) * 2, "2199023255552"),
        (int(1 << 40) / (1_i64 << 40) + 1, "1099511627776 / 1099511627776 + 1"),
        (truth(true).select(1, &a), "1 ? 1 : a"),
        (int(7) / 0, "7 / 0"),
        (int(-7) / 2, "-3"),
        (int(-7) % 2, "-1"),
        (&a + i64::from(i32::MAX) + 1, "a + 2147483647 + 1"),
        (call("f", []).and(true), "f() && 1"),
        (int(0) * call("f", []).integer(), "0 * f()"),
        (Expr::f64(1.0) + Expr::f64(2.0), "1.0 + 2.0"),
    ] {
        assert_eq!(text(&expr), expected);
    }
    let plain = Expr::Unary(UnaryOp::Not, Box::new(truth(false)));
    assert_eq!((text(&plain), text(&plain.folded())), ("!0".to_string(), "1".to_string()));
}

fn function(body: impl Into<Block>) -> String {
    Function::new("f").body(body).print(Dialect::C)
}

fn inside(body: impl Into<Block>) -> String {
    let whole = function(body);
    let lines: Vec<&str> = whole.lines().collect();
    lines[2..lines.len() - 1].iter().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap())).collect()
}

#[test]
fn statements() {
    let i = var("i");
    let body = Block::from(vec![
        Stmt::Declare(vec![Declaration::new("int", "first", 0), Declaration::new("int", "last", 3)]),
        Stmt::constant(Type::new("float").restrict_pointer(), "p", name("grid").arrow("u")).note("the plane"),
        Stmt::Declare(vec![Declaration::array("float", "value", 4)]),
        Stmt::choose(i.clone().lt(2), Stmt::Continue, Stmt::Block(Stmt::Break.into())),
        Stmt::when(i.clone().lt(2), Stmt::Return(Some(int(2)))),
        Stmt::when(truth(false), Stmt::Break),
        Stmt::when(truth(true), Stmt::unused("x")),
        Stmt::Pragma("omp simd".into()),
        Stmt::go_on("i", i.clone().lt(9), 2, Stmt::Update(name("s"), "+=", i.clone())),
        Stmt::While(i.clone().gt(0), Block::new()),
    ]);
    assert_eq!(
        inside(body),
        "int first = 0, last = 3;
const float *restrict p = grid->u; /* the plane */
float value[4];
if (i < 2) {
    continue;
} else {
    {
        break;
    }
}
if (i < 2) return 2;
{
    (void)x;
}
#pragma omp simd
for (; i < 9; i += 2) {
    s += i;
}
while (i > 0) {
}
"
    );
}

#[test]
fn dialects_differ_in_words() {
    let function = Function::new("f")
        .template("bool", "full")
        .attribute("static")
        .parameter(Type::new("float").restrict_pointer(), "a")
        .nameless("int")
        .body(Stmt::declare("bool", "b", truth(true)));
    assert_eq!(
        function.print(Dialect::Cuda),
        "template <bool full>\nstatic void f(float *__restrict__ a, int)\n{\n    bool b = true;\n}\n"
    );
    assert_eq!(Function::new("f").result("int").prototype(Dialect::C), "int f(void);\n");
    assert_eq!(Function::new("f").prototype(Dialect::Cuda), "void f();\n");
}

/// Lines are broken at the weakest operator, and what goes on is further to the right.
#[test]
fn long_lines_are_broken() {
    let long = |number: usize| var(format!("a_name_of_some_length_{number}"));
    let condition = all((0..4).map(|d| long(d).ge(d as i64).and(long(d + 1).lt(100))));
    let sum = (0..9).map(long).reduce(|a, b| a + b).unwrap();
    assert_eq!(
        inside(vec![
            Stmt::when(condition, Stmt::Continue),
            Stmt::assign(name("u").at(sum.clone()), call("f", [sum.clone(), long(1)])),
        ]),
        "if (a_name_of_some_length_0 >= 0 && a_name_of_some_length_1 < 100
        && a_name_of_some_length_1 >= 1 && a_name_of_some_length_2 < 100
        && a_name_of_some_length_2 >= 2 && a_name_of_some_length_3 < 100
        && a_name_of_some_length_3 >= 3 && a_name_of_some_length_4 < 100) {
    continue;
}
u[a_name_of_some_length_0 + a_name_of_some_length_1 + a_name_of_some_length_2
        + a_name_of_some_length_3 + a_name_of_some_length_4 + a_name_of_some_length_5
        + a_name_of_some_length_6 + a_name_of_some_length_7
        + a_name_of_some_length_8] = f(a_name_of_some_length_0 + a_name_of_some_length_1
            + a_name_of_some_length_2 + a_name_of_some_length_3 + a_name_of_some_length_4
            + a_name_of_some_length_5 + a_name_of_some_length_6 + a_name_of_some_length_7
            + a_name_of_some_length_8, a_name_of_some_length_1);
"
    );
}

/// Comments keep their lines, are broken between words, and end where they should.
#[test]
fn comments() {
    let words = "word ".repeat(40);
    let body =
        Block::from(vec![Stmt::Comment(format!("a */ b\n  {words}")), Stmt::Expr(call("f", [])).note(words)]);
    let text = function(body);
    assert!(text.contains("    /* a * / b\n     *   word word"), "{text}");
    assert_eq!((text.matches("/*").count(), text.matches("*/").count()), (2, 2), "{text}");
    assert!(text.lines().all(|line| line.len() <= COLUMNS && line == line.trim_end()), "{text}");
}
