//! The reference interpreter against the definition, evaluated point by point.

use crate::support::*;
use execution::compare::{checksum, compare};
use execution::grid::{ProgramData, ValuesRef};
use execution::{ExecutionError, initial, reference};
use polyhedral::program::*;
use proptest::prelude::*;
use std::ops::ControlFlow;

const F32: ElementType = ElementType::F32;
const F64: ElementType = ElementType::F64;

/// Runs both interpreters and compares all fields bit for bit.
fn check(program: &Program, size: &[i64], steps: i64, seed: u64) {
    let mut data = ProgramData::zeroed(program, size).unwrap();
    initial::fill_series(program, &mut data, steps, seed).unwrap();
    initial::fill_random(program, &mut data, seed).unwrap();
    let parameters = reference::default_parameters(program);
    let expected = scalar_run(program, &parameters, &data, steps);
    reference::run_quietly(program, &parameters, &mut data, steps).unwrap();
    for (field, expected) in expected.iter().enumerate() {
        let found = doubles(data.level(program, FieldId(field), steps));
        let same = |a: &f64, b: &f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        let wrong = (0..found.len()).find(|&i| !same(&found[i], &expected[i]));
        if let Some(i) = wrong {
            panic!("field {field}, index {i} of {size:?}: {} against {}", found[i], expected[i]);
        }
    }
}

#[test]
fn heat_agrees_on_all_sizes() {
    for element in [F32, F64] {
        let program = heat2d(element);
        for size in [[1, 1], [2, 5], [3, 3], [4, 1030], [17, 9]] {
            for steps in [0, 1, 2, 5] {
                check(&program, &size, steps, 7);
            }
        }
    }
}

#[test]
fn shipped_programs_agree() {
    for name in polyhedral::shipped::names() {
        let program = polyhedral::shipped::load(name).unwrap();
        let size = &[23, 12, 11][..program.dimension()];
        for steps in [1, 4] {
            check(&program, size, steps, 5);
        }
    }
}

/// Statements for edges, series, slots with boundaries of their own, functions of the C library, and grids that are
/// too small for them.
#[test]
fn programs_of_all_kinds_agree() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let program = polyhedral::parse("test", &std::fs::read_to_string(&path).unwrap()).unwrap();
        for size in [[19, 12, 11], [6, 7, 8], [2, 3, 1]] {
            for steps in [0, 1, 5] {
                check(&program, &size[..program.dimension()], steps, 5);
            }
        }
    }
}

#[test]
fn a_series_must_be_long_enough() {
    let program = polyhedral::shipped::load("fdtd2d_driven").unwrap();
    let mut data = ProgramData::zeroed(&program, &[9, 9]).unwrap();
    data.set_steps(&program, 4).unwrap();
    reference::run_quietly(&program, &[], &mut data, 4).unwrap();
    let error = reference::run_quietly(&program, &[], &mut data, 5).unwrap_err().to_string();
    assert!(error.contains("series `fict` has 4 values, and 5 steps need 5"), "{error}");
}

#[test]
fn long_rows_of_one_dimension_are_divided() {
    let u = |o: i64| read(F32, 0, 0, &[o]);
    let program = Draft {
        dimension: 1,
        fields: vec![("u", F32, true)],
        parameters: vec![],
        statements: vec![(0, vec![], binary(BinaryOp::Add, u(-2), u(1)))],
    }
    .program();
    for size in [1, 3, 4, 511, 513, 40_001] {
        check(&program, &[size], 3, 1);
    }
}

#[test]
fn older_levels_and_fresh_values_are_read() {
    // Wave: u[t+1] = 2 u[t] - u[t-1]; then v[t+1] = u[t+1] + u[t-1] + v[t]: the oldest level is read after
    // the newest was written.
    let two_u = binary(BinaryOp::Mul, literal(F64, 2.0), read(F64, 0, 0, &[1]));
    let program = Draft {
        dimension: 1,
        fields: vec![("u", F64, true), ("v", F32, true), ("c", F32, false)],
        parameters: vec![],
        statements: vec![
            (0, vec![], binary(BinaryOp::Sub, two_u, read(F64, 0, -1, &[0]))),
            (
                1,
                vec![cast(F32, binary(BinaryOp::Add, read(F64, 0, 1, &[0]), read(F64, 0, -1, &[-1])))],
                binary(
                    BinaryOp::Add,
                    expr(F32, ExprKind::Local(LocalId(0))),
                    binary(BinaryOp::Mul, read(F32, 2, 0, &[1]), read(F32, 1, 0, &[0])),
                ),
            ),
        ],
    }
    .program();
    for steps in 0..6 {
        check(&program, &[23], steps, 3);
    }
}

#[test]
fn every_kept_level_is_in_its_slot() {
    let value = binary(BinaryOp::Add, read(F32, 0, 0, &[1, 0]), read(F32, 0, -2, &[0, -1]));
    let program = Draft {
        dimension: 2,
        fields: vec![("u", F32, true)],
        parameters: vec![],
        statements: vec![(0, vec![], value)],
    }
    .program();
    let FieldRole::State { levels, slots } = program.fields[0].role else { panic!() };
    assert_eq!((levels, slots), (3, 4));
    for steps in 1..7 {
        let mut data = ProgramData::zeroed(&program, &[6, 7]).unwrap();
        initial::fill_random(&program, &mut data, 11).unwrap();
        let start = data.try_clone().unwrap();
        reference::run_quietly(&program, &[], &mut data, steps).unwrap();
        for level in (steps - 3).max(-2)..=steps {
            let expected = if level <= 0 {
                doubles(start.level(&program, FieldId(0), level))
            } else {
                scalar_run(&program, &[], &start, level).swap_remove(0)
            };
            assert_eq!(doubles(data.level(&program, FieldId(0), level)), expected, "{level} of {steps}");
        }
    }
}

#[test]
fn arithmetic_is_that_of_the_element_type() {
    // (1 + x) - 1 loses the same bits in f32 as the scalar loop; 0.1 is rounded to f32 first.
    let x = read(F32, 0, 0, &[0]);
    let one = || literal(F32, 1.0);
    let value = binary(
        BinaryOp::Sub,
        binary(BinaryOp::Add, one(), binary(BinaryOp::Mul, x, literal(F32, 0.1))),
        one(),
    );
    let program = Draft {
        dimension: 1,
        fields: vec![("u", F32, true)],
        parameters: vec![],
        statements: vec![(0, vec![], value)],
    }
    .program();
    let mut data = ProgramData::zeroed(&program, &[1]).unwrap();
    set(data.slot_mut(FieldId(0), 0), |_| 0.3);
    reference::run_quietly(&program, &[], &mut data, 1).unwrap();
    let expected = (1.0f32 + 0.3f32 * 0.1f32) - 1.0f32;
    assert_eq!(data.level(&program, FieldId(0), 1), ValuesRef::F32(&[expected]));
}

#[test]
fn minimum_and_maximum_treat_nan_as_c_does() {
    for (op, expected) in [(BinaryOp::Min, 2.0), (BinaryOp::Max, 2.0)] {
        let value = binary(op, read(F64, 0, 0, &[0]), literal(F64, 2.0));
        let program = Draft {
            dimension: 1,
            fields: vec![("u", F64, true)],
            parameters: vec![],
            statements: vec![(0, vec![], value)],
        }
        .program();
        let mut data = ProgramData::zeroed(&program, &[9]).unwrap();
        set(data.slot_mut(FieldId(0), 0), |_| f64::NAN);
        reference::run_quietly(&program, &[], &mut data, 1).unwrap();
        assert_eq!(doubles(data.level(&program, FieldId(0), 1)), vec![expected; 9]);
    }
}

#[test]
fn wrong_arguments_are_errors() {
    let program = heat2d(F32);
    let wrong_size = |size: &[i64]| ProgramData::zeroed(&program, size).unwrap_err().to_string();
    assert!(wrong_size(&[4]).contains("2 (i, j)"));
    assert!(wrong_size(&[4, 0]).contains("extent in `j` is 0"));
    assert!(wrong_size(&[i64::MAX, i64::MAX]).contains("too large"));
    assert!(wrong_size(&[1 << 28, 1 << 28]).contains("smaller --size"));
    let mut data = ProgramData::zeroed(&program, &[4, 4]).unwrap();
    let run = |data: &mut ProgramData, parameters: &[f64], steps| {
        reference::run_quietly(&program, parameters, data, steps).unwrap_err()
    };
    assert!(matches!(run(&mut data, &[], 1), ExecutionError::WrongParameters { .. }));
    assert!(matches!(run(&mut data, &[1.0], -1), ExecutionError::WrongSteps(-1)));
    let mut other = ProgramData::zeroed(&heat2d(F64), &[4, 4]).unwrap();
    assert!(run(&mut other, &[1.0], 1).to_string().contains("field `u` should have 2 slot(s) of f32"));
}

#[test]
fn a_stopped_run_leaves_the_initial_data() {
    let program = heat2d(F32);
    let mut data = ProgramData::zeroed(&program, &[8, 8]).unwrap();
    initial::fill_random(&program, &mut data, 0).unwrap();
    let before = data.try_clone().unwrap();
    let mut seen = Vec::new();
    let result = reference::run(&program, &[0.2], &mut data, 10, &mut |step| {
        seen.push(step);
        if step == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(result, Err(ExecutionError::Interrupted)));
    assert_eq!(seen, [1, 2, 3]);
    assert_eq!(compare(&program, &before, &data, 0).mismatches, 0);
}

#[test]
fn comparison_finds_the_first_difference() {
    let program = heat2d(F64);
    let mut left = ProgramData::zeroed(&program, &[300, 400]).unwrap();
    initial::fill_random(&program, &mut left, 5).unwrap();
    let mut right = left.try_clone().unwrap();
    assert_eq!(checksum(&program, &left, 0), checksum(&program, &right, 0));
    let same = compare(&program, &left, &right, 0);
    assert_eq!((same.points, same.mismatches, same.max_abs_error, same.first), (120_000, 0, 0.0, None));

    let original = doubles(left.level(&program, FieldId(0), 0));
    let changed = |i: usize| match i {
        100_007 => original[i] + 0.5,
        110_000 => original[i] + 0.25,
        _ => original[i],
    };
    set(right.level_mut(&program, FieldId(0), 0), changed);
    let different = compare(&program, &left, &right, 0);
    assert_eq!((different.mismatches, different.max_abs_error), (2, 0.5));
    let first = different.first.unwrap();
    assert_eq!((first.field.as_str(), first.index.as_slice()), ("u", &[250, 7][..]));
    assert_ne!(checksum(&program, &left, 0), checksum(&program, &right, 0));

    // NaN equals NaN of any kind; zeros of different sign differ, by nothing.
    set(left.level_mut(&program, FieldId(0), 0), |i| if i == 3 { f64::NAN } else { 0.0 });
    set(right.level_mut(&program, FieldId(0), 0), |i| match i {
        3 => -f64::NAN,
        9 => -0.0,
        _ => 0.0,
    });
    let zeros = compare(&program, &left, &right, 0);
    assert_eq!((zeros.mismatches, zeros.max_abs_error), (1, 0.0));
    set(right.level_mut(&program, FieldId(0), 0), |i| if i == 4 { f64::NAN } else { 0.0 });
    assert_eq!(compare(&program, &left, &right, 0).max_abs_error, f64::INFINITY);
}

#[test]
fn random_data_is_the_same_in_both_types() {
    let (single, double) = (heat2d(F32), heat2d(F64));
    let mut a = ProgramData::zeroed(&single, &[100, 900]).unwrap();
    let mut b = ProgramData::zeroed(&double, &[100, 900]).unwrap();
    initial::fill_random(&single, &mut a, 42).unwrap();
    initial::fill_random(&double, &mut b, 42).unwrap();
    let values = doubles(a.level(&single, FieldId(0), 0));
    assert_eq!(values, doubles(b.level(&double, FieldId(0), 0)));
    assert!(values.iter().all(|value| (0.0..1.0).contains(value)));
    assert_eq!(values[777], initial::random_value(42, 0, 0, 777));
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    assert!((mean - 0.5).abs() < 0.01);
}

/// Draws from a reproducible stream of numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = initial::mix(self.0);
        (self.0 % sides as u64) as usize
    }

    fn element(&mut self) -> ElementType {
        if self.roll(2) == 0 { F32 } else { F64 }
    }
}

struct RandomProgram {
    dice: Dice,
    dimension: usize,
    fields: Vec<(&'static str, ElementType, bool)>,
    /// Types of the locals of the current statement.
    locals: Vec<ElementType>,
    /// Fields written so far in this step.
    written: usize,
}

impl RandomProgram {
    fn build(seed: u64) -> Program {
        let mut dice = Dice(seed);
        let dimension = 1 + dice.roll(3);
        let states = 1 + dice.roll(3);
        let mut fields: Vec<(&'static str, ElementType, bool)> =
            ["u", "v", "w"][..states].iter().map(|&name| (name, dice.element(), true)).collect();
        fields.push(("c", dice.element(), false));
        let mut random = RandomProgram { dice, dimension, fields, locals: Vec::new(), written: 0 };
        let mut statements = Vec::new();
        for target in 0..states {
            random.written = target;
            random.locals.clear();
            let mut locals = Vec::new();
            for _ in 0..random.dice.roll(3) {
                let element = random.dice.element();
                locals.push(random.expr(element, 2));
                random.locals.push(element);
            }
            let element = random.fields[target].1;
            statements.push((target, locals, random.expr(element, 4)));
        }
        Draft { dimension, fields: random.fields, parameters: vec![0.7, -1.3], statements }.program()
    }

    fn expr(&mut self, element: ElementType, depth: usize) -> Expr {
        if depth == 0 || self.dice.roll(8) == 0 {
            return self.leaf(element);
        }
        let kind = match self.dice.roll(12) {
            0 => ExprKind::Negate(Box::new(self.expr(element, depth - 1))),
            1 => ExprKind::Call(Function::Sqrt, Box::new(self.expr(element, depth - 1))),
            2 => ExprKind::Call(Function::Abs, Box::new(self.expr(element, depth - 1))),
            3 => ExprKind::Call(Function::Exp, Box::new(self.expr(element, depth - 1))),
            4 => {
                let other = if element == F32 { F64 } else { F32 };
                ExprKind::Cast(Box::new(self.expr(other, depth - 1)))
            }
            5 => ExprKind::Select(
                Box::new(self.condition(2)),
                Box::new(self.expr(element, depth - 1)),
                Box::new(self.expr(element, depth - 1)),
            ),
            roll => {
                use BinaryOp::*;
                let op = [Add, Sub, Mul, Div, Min, Max][roll - 6];
                ExprKind::Binary(
                    op,
                    Box::new(self.expr(element, depth - 1)),
                    Box::new(self.expr(element, depth - 1)),
                )
            }
        };
        expr(element, kind)
    }

    fn condition(&mut self, depth: usize) -> Condition {
        match self.dice.roll(if depth == 0 { 1 } else { 5 }) {
            0 => {
                use CompareOp::*;
                let op = [Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual][self.dice.roll(6)];
                let element = self.dice.element();
                Condition::Compare(op, self.expr(element, 1), self.expr(element, 1))
            }
            1 => Condition::And(Box::new(self.condition(depth - 1)), Box::new(self.condition(depth - 1))),
            2 => Condition::Or(Box::new(self.condition(depth - 1)), Box::new(self.condition(depth - 1))),
            3 => {
                let mut number = || self.dice.roll(9) as i64 - 4;
                let (time, residue) = (number(), number());
                let space = (0..self.dimension).map(|_| number()).collect();
                let modulus = 2 + self.dice.roll(4) as i64;
                Condition::Congruent(Congruence::new(time, space, modulus, residue))
            }
            _ => Condition::Not(Box::new(self.condition(depth - 1))),
        }
    }

    fn leaf(&mut self, element: ElementType) -> Expr {
        match self.dice.roll(8) {
            0 => literal(element, self.dice.roll(7) as f64 * 0.3 - 0.9),
            1 => expr(element, ExprKind::Parameter(ParameterId(self.dice.roll(2)))),
            2 if !self.locals.is_empty() => {
                let local = self.dice.roll(self.locals.len());
                cast(element, expr(self.locals[local], ExprKind::Local(LocalId(local))))
            }
            _ => {
                let field = self.dice.roll(self.fields.len());
                let (_, own, state) = self.fields[field];
                let time = match (state, field < self.written) {
                    (false, _) => 0,
                    (true, true) => 1 - self.dice.roll(3) as i64,
                    (true, false) => -(self.dice.roll(2) as i64),
                };
                let offset: Vec<i64> = (0..self.dimension).map(|_| self.dice.roll(4) as i64 - 2).collect();
                cast(element, read(own, field, time, &offset))
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_programs_agree(seed: u64, extents in prop::collection::vec(1i64..9, 3), long in 1i64..600, steps in 0i64..4) {
        let program = RandomProgram::build(seed);
        let mut size = extents[..program.dimension()].to_vec();
        if program.dimension() < 3 {
            *size.last_mut().unwrap() = long;
        }
        check(&program, &size, steps, seed);
    }
}
