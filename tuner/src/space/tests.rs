use super::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn whole(name: &str, levels: impl IntoIterator<Item = i64>) -> Parameter {
    Parameter::new(name, levels.into_iter().map(Value::Integer).collect()).unwrap()
}

fn reason(result: Result<Space>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn small_spaces_are_listed() {
    let parameters = vec![whole("x", 1..=4), whole("y", 1..=4), whole("z", 0..=1)];
    let space = Space::new(parameters, &["x * y <= 4".to_owned(), "z == 0 or x > 1".to_owned()]).unwrap();
    let mut expected = Vec::new();
    for x in 1..=4 {
        for y in 1..=4 {
            for z in 0..=1 {
                if x * y <= 4 && (z == 0 || x > 1) {
                    expected.push(vec![Value::Integer(x), Value::Integer(y), Value::Integer(z)]);
                }
            }
        }
    }
    let points: Vec<Vec<Value>> = space.points().unwrap().iter().map(|point| space.values(point)).collect();
    assert_eq!(points, expected);
    let point = space.point(&expected[3]).unwrap();
    assert!(space.is_valid(&point) && space.neighbours(&point).iter().all(|near| space.is_valid(near)));
}

#[test]
fn samples_of_huge_constrained_spaces_are_uniform_and_valid() {
    // 10^37 combinations; the first two parameters are tied, the last three are tied and too many to tabulate.
    let mut parameters: Vec<Parameter> = (0..34).map(|place| whole(&format!("p{place}"), 0..10)).collect();
    parameters.extend((0..3).map(|place| whole(&format!("q{place}"), 0..200)));
    let constraints = ["p0 < p1".to_owned(), "q0 + q1 + q2 < 300".to_owned()];
    let space = Space::new(parameters, &constraints).unwrap();
    assert!(space.points().is_none() && space.unconstrained_size() > 1e37);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut counts = [0u32; 10];
    let points = space.sample_distinct(18_000, &mut rng).unwrap();
    for point in &points {
        assert!(space.is_valid(point));
        counts[point.levels()[0] as usize] += 1;
    }
    // p0 = k leaves 9 - k choices of 45.
    for (k, &count) in counts.iter().enumerate() {
        let expected = 18_000.0 * (9 - k) as f64 / 45.0;
        assert!((f64::from(count) - expected).abs() <= 5.0 * (expected + 1.0).sqrt(), "{k}: {count}");
    }
}

#[test]
fn rare_points_of_huge_spaces_are_found() {
    let parameters: Vec<Parameter> = (0..8).map(|place| whole(&format!("p{place}"), 0..32)).collect();
    let constraints: Vec<String> = (1..8).map(|p| format!("p{p} == p{} or p{p} == 31 - p0", p - 1)).collect();
    let space = Space::new(parameters, &constraints).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let point = space.sample(&mut rng).unwrap();
    assert!(space.points().is_none() && space.is_valid(&point));
}

#[test]
fn spaces_without_points_say_why() {
    let none = |constraint: &str| {
        reason(Space::new(vec![whole("x", 1..=4), whole("y", 0..=4)], &[constraint.to_owned()]))
    };
    assert_eq!(none("x > 9"), "the space has no valid point: no combination of x satisfies `x > 9`");
    assert!(none("x // y > 9 and y < 0").contains("no combination of x, y"));
    assert!(none("1 > 2").contains("whatever the parameters are"));
    let huge = vec![whole("a", 0..4000), whole("b", 0..4000)];
    assert!(
        reason(Space::new(huge, &["a + b > 9000".to_owned()]))
            .contains("a long search among the combinations of a, b")
    );
    assert!(reason(Space::new(vec![], &[])).contains("no parameter"));
    assert!(reason(Space::new(vec![whole("x", [1]), whole("x", [2])], &[])).contains("named `x`"));
    assert!(Parameter::new("x", vec![]).unwrap_err().to_string().contains("no level"));
}

#[test]
fn restriction_keeps_levels() {
    let space = Space::new(vec![whole("x", 1..=4), whole("y", 0..=4)], &[]).unwrap();
    let part = space.restricted("x == 2").unwrap();
    assert_eq!((part.points().unwrap().len(), part.parameters()[0].len()), (5, 4));
    assert!(space.restricted("x == 7").is_err() && space.restricted("w == 7").is_err());
}

#[test]
fn kinds_of_parameters() {
    let parameter = Parameter::new("k", vec![Value::from("b"), Value::Integer(4), Value::from("b")]).unwrap();
    assert_eq!((parameter.kind(), parameter.len()), (ParameterKind::Categorical, 2));
    let flag = Parameter::new("f", vec![Value::Boolean(true), Value::Boolean(false)]).unwrap();
    assert_eq!((flag.place(&Value::Integer(1)), flag.number(1)), (Some(1), 1.0));
    let mixed = Parameter::new("r", vec![Value::Real(2.5), Value::Integer(1)]).unwrap();
    assert_eq!((mixed.kind(), mixed.place(&Value::Real(1.0))), (ParameterKind::Real, Some(0)));
}
