//! What every accepted program must satisfy.

use polyhedral::domain::shifted;
use polyhedral::draft::{comes_earlier, never_meet};
use polyhedral::program::*;
use std::collections::HashSet;

/// Panics if the program breaks an invariant.
pub fn check(program: &Program) {
    assert!((1..=3).contains(&program.dimension()));
    assert!(!program.statements.is_empty());
    let mut names: Vec<&str> = program.fields.iter().map(|field| field.name.as_str()).collect();
    names.extend(program.series.iter().map(|series| series.name.as_str()));
    names.extend(program.parameters.iter().map(|parameter| parameter.name.as_str()));
    names.extend(program.space_indices.iter().map(String::as_str));
    names.push(&program.time_index);
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "names are distinct: {names:?}");
    for parameter in &program.parameters {
        assert!(parameter.default.is_finite());
    }
    for (number, field) in program.fields.iter().enumerate() {
        check_field(program, FieldId(number), field);
    }
    for (number, statement) in program.statements.iter().enumerate() {
        for other in program.statements[..number].iter().filter(|other| other.target == statement.target) {
            assert!(
                never_meet(&statement.domain, &other.domain, &program.least_size),
                "a point is computed once"
            );
        }
        check_statement(program, number, statement, &names);
    }
}

fn check_field(program: &Program, id: FieldId, field: &Field) {
    let reads = || {
        program.statements.iter().enumerate().flat_map(|(number, statement)| {
            statement.reads.iter().filter(|read| read.field == id).map(move |read| (number, read))
        })
    };
    match field.role {
        FieldRole::Coefficient => {
            assert!(program.writers_of(id).next().is_none());
            assert!(reads().all(|(_, read)| read.time == 0));
        }
        FieldRole::State { levels, slots } => {
            assert!(program.writers_of(id).next().is_some(), "a state field is computed");
            let oldest = reads().filter(|(_, read)| read.time <= 0).map(|(_, read)| 1 - read.time).max();
            assert_eq!(levels as i64, oldest.unwrap_or(1).max(1));
            assert!(slots >= program.slots_needed(id) && program.slots_needed(id) >= levels);
            for (reader, read) in reads() {
                assert!((-7..=1).contains(&read.time));
                let place = shifted(&program.statements[reader].domain, &read.offset);
                for (writer, statement) in program.writers_of(id) {
                    assert!(
                        read.time < 1
                            || writer < reader
                            || writer == reader && comes_earlier(&read.offset)
                            || never_meet(&place, &statement.domain, &program.least_size),
                        "the new level is read after it is computed"
                    );
                }
            }
        }
    }
}

fn check_statement(program: &Program, number: usize, statement: &Statement, names: &[&str]) {
    assert_eq!(program.domain(number, &vec![1000; program.dimension()]).len(), program.dimension());
    let mut reads = HashSet::new();
    let mut locals = HashSet::new();
    let mut used = HashSet::new();
    for (position, local) in statement.locals.iter().enumerate() {
        assert!(!names.contains(&local.name.as_str()) && locals.insert(&local.name));
        check_expr(program, &statement.locals[..position], &local.value, &mut reads, &mut used);
    }
    check_expr(program, &statement.locals, &statement.value, &mut reads, &mut used);
    assert_eq!(used.len(), statement.locals.len(), "every local is used");
    assert_eq!(statement.value.element, program.field(statement.target).element);
    assert_eq!(statement.reads.len(), reads.len(), "reads are distinct");
    assert_eq!(statement.reads.iter().cloned().collect::<HashSet<_>>(), reads);
    for d in 0..program.dimension() {
        let low = reads.iter().map(|read| -read.offset[d]).max().unwrap_or(0).max(0);
        let high = reads.iter().map(|read| read.offset[d]).max().unwrap_or(0).max(0);
        for extent in program.least_size[d].max(1)..program.least_size[d] + 200 {
            let (first, end) = statement.domain[d].at(extent);
            assert!(first == end || (first >= low && end <= extent - high), "reads stay on the grid");
        }
        assert!(low <= 64 && high <= 64);
    }
}

fn check_expr(
    program: &Program,
    locals: &[Local],
    expr: &Expr,
    reads: &mut HashSet<Access>,
    used: &mut HashSet<usize>,
) {
    expr.walk(|expr| match &expr.kind {
        ExprKind::Literal(value) => {
            assert!(value.is_finite());
            assert!(expr.element == ElementType::F64 || (*value as f32).is_finite());
        }
        ExprKind::Parameter(id) => assert!(id.0 < program.parameters.len()),
        ExprKind::Local(id) => {
            assert_eq!(expr.element, locals[id.0].value.element);
            used.insert(id.0);
        }
        ExprKind::Read(access) => {
            assert_eq!(expr.element, program.field(access.field).element);
            assert_eq!(access.offset.len(), program.dimension());
            reads.insert(access.clone());
        }
        ExprKind::Series(id, offset) => {
            let series = &program.series[id.0];
            assert_eq!(expr.element, series.element);
            assert!(series.first <= *offset && *offset <= series.last);
        }
        ExprKind::Negate(operand) | ExprKind::Call(_, operand) => assert_eq!(operand.element, expr.element),
        ExprKind::Binary(_, left, right) => {
            assert_eq!((left.element, right.element), (expr.element, expr.element));
        }
        ExprKind::Select(condition, then, otherwise) => {
            assert_eq!((then.element, otherwise.element), (expr.element, expr.element));
            check_condition(condition);
        }
        ExprKind::Cast(operand) => assert_ne!(operand.element, expr.element, "no trivial conversion"),
    });
}

fn check_condition(condition: &Condition) {
    match condition {
        Condition::Compare(_, left, right) => assert_eq!(left.element, right.element),
        Condition::And(left, right) | Condition::Or(left, right) => {
            check_condition(left);
            check_condition(right);
        }
        Condition::Not(inner) => check_condition(inner),
        Condition::Congruent(own) => {
            let parts = own.space.iter().chain([&own.time, &own.residue]);
            assert!(own.modulus >= 2 && parts.clone().all(|part| (0..own.modulus).contains(part)));
        }
    }
}
