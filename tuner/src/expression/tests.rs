use super::*;
use proptest::prelude::*;

fn value(text: &str) -> Value {
    Expression::parse(text, &[]).unwrap().value(&|_| unreachable!()).unwrap()
}

fn holds(text: &str, names: &[&str], values: &[Value]) -> Result<bool, EvaluationError> {
    Expression::parse(text, names).unwrap().holds(&|place| &values[place])
}

#[test]
fn arithmetic_is_pythons() {
    for (text, expected) in [("7 // 2", 3), ("-7 // 2", -4), ("7 // -2", -4), ("-7 % 3", 2), ("7 % -3", -2)] {
        assert_eq!(value(text), Value::Integer(expected), "{text}");
    }
    assert_eq!(value("2 ** 3 ** 2"), Value::Integer(512));
    assert_eq!(value("-2 ** 2"), Value::Integer(-4));
    assert_eq!(value("1 / 4"), Value::Real(0.25));
    assert_eq!(value("2 ** -1"), Value::Real(0.5));
    assert_eq!(value("3 - 2 - 1"), Value::Integer(0));
    assert_eq!(value("1.5e1 + .5"), Value::Real(15.5));
    assert_eq!(value("max([1, 9, 4]) + min(3, 2) + abs(-1)"), Value::Integer(12));
    assert_eq!(value("5 if 1 > 2 else 6"), Value::Integer(6));
    assert_eq!(value("0 or 3"), Value::Integer(3));
    assert_eq!(value("[4, 5, 6][-1]"), Value::Integer(6));
}

#[test]
fn constraints_of_other_tuners() {
    let names = ["block_size_x", "use_padding", "kind"];
    let values = [Value::Integer(48), Value::Integer(1), Value::from("float4")];
    let check = |text: &str| holds(text, &names, &values).unwrap();
    assert!(check("use_padding==0 or block_size_x % 32 != 0"));
    assert!(check("!(use_padding == 0) && 32 <= block_size_x < 64"));
    assert!(check("kind in ['float2', \"float4\"] and block_size_x not in [16, 32]"));
    assert!(!check("not use_padding"));
    assert_eq!(holds("1 // (use_padding - 1) > 0", &names, &values), Err(EvaluationError::DivisionByZero));
    assert!(matches!(holds("kind < 3", &names, &values), Err(EvaluationError::Kind(_))));
}

#[test]
fn lists_of_levels() {
    let levels = |text: &str| Expression::parse(text, &[]).unwrap().levels();
    let whole = |numbers: &[i64]| Ok(numbers.iter().map(|&number| Value::Integer(number)).collect());
    assert_eq!(levels("[1] + [2 * i for i in range(1, 4)]"), whole(&[1, 2, 4, 6]));
    assert_eq!(levels("[2**i for i in range(6) if i != 1]"), whole(&[1, 4, 8, 16, 32]));
    assert_eq!(levels("list(range(8, 0, -4))"), whole(&[8, 4]));
    assert_eq!(levels("[len([j for j in range(i)]) for i in [3, 1]]"), whole(&[3, 1]));
    assert_eq!(levels("range(10**12)"), Err(EvaluationError::TooLong));
}

#[test]
fn mistakes_have_a_place_and_a_way_out() {
    let mistake = |text: &str| Expression::parse(text, &["block_size", "tile"]).unwrap_err();
    let error = mistake("tile * blok_size < 4");
    assert_eq!((error.column, error.hint.as_str()), (8, "did you mean `block_size`?"));
    assert_eq!(mistake("tile = 4").hint, "equality is written ==");
    assert_eq!(mistake("tile < ").reason, "a value was expected, not the end");
    assert_eq!(mistake("(tile").reason, "`)` was expected, not the end");
    assert_eq!(mistake("tile 4").reason, "the end of the expression was expected, not `4`");
    assert!(mistake("\"tile").reason.contains("quote"));
    assert!(mistake(&"(".repeat(100_000)).reason.contains("longer than"));
    assert!(mistake(&"(".repeat(5_000)).reason.contains("nested"));
    assert!(mistake(&("-".repeat(5_000) + "1")).reason.contains("nested"));
    assert!(mistake(&("1+".repeat(5_000) + "1")).reason.contains("in a row"));
}

#[test]
fn long_chains_of_conditions_are_fine() {
    let text = vec!["tile < 4"; 2_000].join(" and ");
    assert!(holds(&text, &["tile"], &[Value::Integer(3)]).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in "\\PC{0,40}") {
        let _ = Expression::parse(&text, &["a", "b"]);
    }

    #[test]
    fn no_likely_text_panics(parts in prop::collection::vec(prop::sample::select(vec![
        "a", "b", "1", "0", "2.5", "9223372036854775807", "'x'", "+", "-", "*", "/", "//", "%", "**", "(", ")",
        "[", "]", ",", "<", "<=", "==", "!=", "in", "not", "and", "or", "if", "else", "for", "i", "range(",
        "min(", "max(", "abs(", "int(", "sum(", "len(", "True", "!", "&&", "e", ".", "1e308",
    ]), 0..24)) {
        let text = parts.join(" ");
        if let Ok(expression) = Expression::parse(&text, &["a", "b"]) {
            let values = [Value::Integer(i64::MIN), Value::from("t")];
            let _ = expression.holds(&|place| &values[place]);
            let _ = expression.value(&|place| &values[place]);
        }
    }
}
