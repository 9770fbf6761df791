//! Programs built by hand, and a scalar interpreter that is too simple to be wrong.

#![allow(dead_code)]

use execution::element::Element;
use execution::grid::{ProgramData, ValuesMut, ValuesRef};
use execution::initial;
use polyhedral::draft;
use polyhedral::program::*;
use polyhedral::source::SourceFile;
use std::collections::HashMap;
use std::sync::Arc;

pub fn expr(element: ElementType, kind: ExprKind) -> Expr {
    Expr { kind, element, span: 0..0 }
}

pub fn literal(element: ElementType, value: f64) -> Expr {
    expr(element, ExprKind::Literal(value))
}

pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    expr(a.element, ExprKind::Binary(op, Box::new(a), Box::new(b)))
}

pub fn read(element: ElementType, field: usize, time: i64, offset: &[i64]) -> Expr {
    expr(element, ExprKind::Read(Access { field: FieldId(field), time, offset: offset.to_vec() }))
}

pub fn cast(element: ElementType, a: Expr) -> Expr {
    if a.element == element { a } else { expr(element, ExprKind::Cast(Box::new(a))) }
}

/// What a test says of a program; margins, reads, levels and slots follow.
pub struct Draft {
    pub dimension: usize,
    /// Name, type, whether it is a state.
    pub fields: Vec<(&'static str, ElementType, bool)>,
    pub parameters: Vec<f64>,
    /// Target, locals, value.
    pub statements: Vec<(usize, Vec<Expr>, Expr)>,
}

impl Draft {
    pub fn program(self) -> Program {
        let fields = self.fields.iter().map(|&(name, element, state)| draft::DraftField {
            name: name.to_owned(),
            element,
            state,
            slots: None,
            span: 0..0,
        });
        let statements = self.statements.into_iter().map(|(target, locals, value)| draft::DraftStatement {
            target: FieldId(target),
            locals: locals
                .into_iter()
                .enumerate()
                .map(|(number, value)| Local { name: format!("local{number}"), value })
                .collect(),
            value,
            domain: vec![],
            domain_span: 0..0,
            target_span: 0..0,
            span: 0..0,
        });
        let draft = draft::Draft {
            name: "test".to_owned(),
            description: String::new(),
            time_index: "t".to_owned(),
            space_indices: ["i", "j", "k"][..self.dimension].iter().map(|&name| name.to_owned()).collect(),
            fields: fields.collect(),
            series: vec![],
            parameters: self
                .parameters
                .iter()
                .enumerate()
                .map(|(number, &default)| Parameter { name: format!("p{number}"), default, span: 0..0 })
                .collect(),
            statements: statements.collect(),
            boundary: Boundary::Fixed,
            periodic: Vec::new(),
        };
        let source = Arc::new(SourceFile { name: "test".to_owned(), text: String::new() });
        let mut diagnostics = Vec::new();
        let program = draft.check(&source, &mut diagnostics);
        program.unwrap_or_else(|| panic!("{diagnostics:?}"))
    }
}

/// `u[t+1] = 0.2 * (u + north + south + west + east)`.
pub fn heat2d(element: ElementType) -> Program {
    let u = |offset: [i64; 2]| read(element, 0, 0, &offset);
    let sum = [[-1, 0], [1, 0], [0, -1], [0, 1]]
        .into_iter()
        .fold(u([0, 0]), |sum, offset| binary(BinaryOp::Add, sum, u(offset)));
    let weight = expr(element, ExprKind::Parameter(ParameterId(0)));
    Draft {
        dimension: 2,
        fields: vec![("u", element, true)],
        parameters: vec![0.2],
        statements: vec![(0, vec![], binary(BinaryOp::Mul, weight, sum))],
    }
    .program()
}

/// A value with its type.
#[derive(Debug, Clone, Copy)]
pub enum Scalar {
    F32(f32),
    F64(f64),
}

/// The newest levels after `steps` steps, each field as doubles, computed point by point from the
/// definition: a map from (field, level) to a whole array, nothing reused.
pub fn scalar_run(program: &Program, parameters: &[f64], data: &ProgramData, steps: i64) -> Vec<Vec<f64>> {
    let size = data.size();
    let mut levels: HashMap<(usize, i64), Vec<f64>> = HashMap::new();
    for field in (0..program.fields.len()).map(FieldId) {
        for level in initial::initial_levels(program, field) {
            levels.insert((field.0, level), doubles(data.level(program, field, level)));
        }
    }
    // The boundary of every level is that of level 0, or that of the level's slot.
    let in_a_domain = |field: usize, point: &[i64]| {
        program.writers_of(FieldId(field)).any(|(k, _)| inside(point, &program.domain(k, size)))
    };
    let boundary_of = |field: usize, level: i64| match program.boundary {
        Boundary::Fixed => doubles(data.level(program, FieldId(field), 0)),
        Boundary::PerSlot => doubles(data.level(program, FieldId(field), level)),
    };
    for ((field, level), values) in &mut levels {
        if program.field(FieldId(*field)).role == FieldRole::Coefficient {
            continue;
        }
        let boundary = boundary_of(*field, *level);
        for (linear, value) in values.iter_mut().enumerate() {
            if !in_a_domain(*field, &position(linear, size)) {
                *value = boundary[linear];
            }
        }
    }
    for step in 0..steps {
        for (number, statement) in program.statements.iter().enumerate() {
            let target = statement.target.0;
            let first = program.writers_of(FieldId(target)).next().unwrap().0 == number;
            if first {
                levels.insert((target, step + 1), boundary_of(target, step + 1));
            }
            let mut values = levels[&(target, step + 1)].clone();
            for (linear, value) in values.iter_mut().enumerate() {
                let point = position(linear, size);
                if !inside(&point, &program.domain(number, size)) {
                    continue;
                }
                let mut at =
                    Point { program, parameters, data, levels: &levels, size, step, point, locals: vec![] };
                for local in &statement.locals {
                    let value = at.value(&local.value);
                    at.locals.push(value);
                }
                *value = match at.value(&statement.value) {
                    Scalar::F32(value) => f64::from(value),
                    Scalar::F64(value) => value,
                };
                // The points after it read this one.
                if program.in_order(number) {
                    levels.get_mut(&(target, step + 1)).unwrap()[linear] = *value;
                }
            }
            levels.insert((target, step + 1), values);
        }
    }
    (0..program.fields.len())
        .map(|field| levels.get(&(field, steps)).unwrap_or_else(|| &levels[&(field, 0)]).clone())
        .collect()
}

pub fn doubles(values: ValuesRef<'_>) -> Vec<f64> {
    (0..values.len()).map(|index| values.get(index).unwrap()).collect()
}

pub fn set(values: ValuesMut<'_>, value: impl Fn(usize) -> f64) {
    match values {
        ValuesMut::F32(values) => values.iter_mut().enumerate().for_each(|(i, v)| *v = value(i) as f32),
        ValuesMut::F64(values) => values.iter_mut().enumerate().for_each(|(i, v)| *v = value(i)),
    }
}

fn position(mut linear: usize, size: &[i64]) -> Vec<i64> {
    let mut position = vec![0; size.len()];
    for d in (0..size.len()).rev() {
        position[d] = linear as i64 % size[d];
        linear /= size[d] as usize;
    }
    position
}

fn inside(point: &[i64], domain: &[(i64, i64)]) -> bool {
    point.iter().zip(domain).all(|(&s, &(low, high))| low <= s && s < high)
}

struct Point<'a> {
    program: &'a Program,
    parameters: &'a [f64],
    data: &'a ProgramData,
    levels: &'a HashMap<(usize, i64), Vec<f64>>,
    size: &'a [i64],
    step: i64,
    point: Vec<i64>,
    locals: Vec<Scalar>,
}

macro_rules! in_type {
    ($a:expr, $b:expr, $x:ident, $y:ident, $result:expr) => {
        match ($a, $b) {
            (Scalar::F32($x), Scalar::F32($y)) => Scalar::F32($result),
            (Scalar::F64($x), Scalar::F64($y)) => Scalar::F64($result),
            _ => panic!("mixed types"),
        }
    };
}

impl Point<'_> {
    fn value(&self, expr: &Expr) -> Scalar {
        let typed = |value: f64| match expr.element {
            ElementType::F32 => Scalar::F32(value as f32),
            ElementType::F64 => Scalar::F64(value),
        };
        match &expr.kind {
            ExprKind::Literal(value) => typed(*value),
            ExprKind::Parameter(id) => typed(self.parameters[id.0]),
            ExprKind::Local(id) => self.locals[id.0],
            ExprKind::Read(access) => {
                let level = match self.program.field(access.field).role {
                    FieldRole::Coefficient => 0,
                    FieldRole::State { .. } => self.step + access.time,
                };
                let linear = (0..self.size.len())
                    .fold(0, |linear, d| linear * self.size[d] + self.point[d] + access.offset[d]);
                typed(self.levels[&(access.field.0, level)][linear as usize])
            }
            ExprKind::Series(series, offset) => {
                let element = self.step + offset - self.program.series[series.0].first;
                typed(self.data.series(*series).get(element as usize).unwrap())
            }
            ExprKind::Negate(a) => match self.value(a) {
                Scalar::F32(a) => Scalar::F32(-a),
                Scalar::F64(a) => Scalar::F64(-a),
            },
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                match op {
                    BinaryOp::Add => in_type!(a, b, x, y, x + y),
                    BinaryOp::Sub => in_type!(a, b, x, y, x - y),
                    BinaryOp::Mul => in_type!(a, b, x, y, x * y),
                    BinaryOp::Div => in_type!(a, b, x, y, x / y),
                    BinaryOp::Min => in_type!(a, b, x, y, if x < y { x } else { y }),
                    BinaryOp::Max => in_type!(a, b, x, y, if x > y { x } else { y }),
                    BinaryOp::Libm(f) => in_type!(a, b, x, y, Element::libm2(x, y, *f)),
                }
            }
            ExprKind::Call(function, a) => match (function, self.value(a)) {
                (Function::Sqrt, Scalar::F32(a)) => Scalar::F32(a.sqrt()),
                (Function::Sqrt, Scalar::F64(a)) => Scalar::F64(a.sqrt()),
                (Function::Square, Scalar::F32(a)) => Scalar::F32(a * a),
                (Function::Square, Scalar::F64(a)) => Scalar::F64(a * a),
                (Function::Abs, Scalar::F32(a)) => Scalar::F32(a.abs()),
                (Function::Abs, Scalar::F64(a)) => Scalar::F64(a.abs()),
                (Function::Exp, Scalar::F32(a)) => Scalar::F32(Element::exp(a)),
                (Function::Exp, Scalar::F64(a)) => Scalar::F64(Element::exp(a)),
                (Function::Libm(f), Scalar::F32(a)) => Scalar::F32(Element::libm(a, *f)),
                (Function::Libm(f), Scalar::F64(a)) => Scalar::F64(Element::libm(a, *f)),
            },
            ExprKind::Select(condition, a, b) => {
                if self.holds(condition) {
                    self.value(a)
                } else {
                    self.value(b)
                }
            }
            ExprKind::Cast(a) => match self.value(a) {
                Scalar::F32(a) => typed(f64::from(a)),
                Scalar::F64(a) => typed(a),
            },
        }
    }

    fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Compare(op, a, b) => {
                let (a, b) = match (self.value(a), self.value(b)) {
                    (Scalar::F32(a), Scalar::F32(b)) => (f64::from(a), f64::from(b)),
                    (Scalar::F64(a), Scalar::F64(b)) => (a, b),
                    _ => panic!("mixed types"),
                };
                match op {
                    CompareOp::Less => a < b,
                    CompareOp::LessEqual => a <= b,
                    CompareOp::Greater => a > b,
                    CompareOp::GreaterEqual => a >= b,
                    CompareOp::Equal => a == b,
                    CompareOp::NotEqual => a != b,
                }
            }
            Condition::And(a, b) => self.holds(a) && self.holds(b),
            Condition::Or(a, b) => self.holds(a) || self.holds(b),
            Condition::Not(a) => !self.holds(a),
            Condition::Congruent(own) => {
                let sum: i64 = own.space.iter().zip(&self.point).map(|(a, s)| a * s).sum();
                (sum + own.time * self.step) % own.modulus == own.residue
            }
        }
    }
}
