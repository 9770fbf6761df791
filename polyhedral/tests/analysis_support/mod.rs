//! Programs built by hand and plain enumeration, for the tests of the analysis.
#![allow(dead_code)]

pub mod enumeration;
pub mod hexagonal;

use polyhedral::draft::{Draft, DraftField, DraftStatement};
use polyhedral::program::{Access, BinaryOp, Boundary, ElementType, Expr, ExprKind, FieldId, Program};
use polyhedral::source::SourceFile;
use std::sync::Arc;

/// One read: field, time level, offset.
pub fn read(field: usize, time: i64, offset: &[i64]) -> Access {
    Access { field: FieldId(field), time, offset: offset.to_vec() }
}

/// All reads of a field in the box `-low ..= high` per dimension.
pub fn read_box(field: usize, time: i64, low: &[i64], high: &[i64]) -> Vec<Access> {
    let mut offsets = vec![vec![]];
    for (low, high) in low.iter().zip(high) {
        offsets = offsets
            .iter()
            .flat_map(|prefix: &Vec<i64>| {
                (-low..=*high).map(move |offset| prefix.iter().copied().chain([offset]).collect())
            })
            .collect();
    }
    offsets.iter().map(|offset| read(field, time, offset)).collect()
}

/// The centre and all points within `radius` along the axes.
pub fn read_star(field: usize, time: i64, dimension: usize, radius: i64) -> Vec<Access> {
    let mut reads = vec![read(field, time, &vec![0; dimension])];
    for i in 0..dimension {
        for distance in (-radius..=radius).filter(|&distance| distance != 0) {
            let mut offset = vec![0; dimension];
            offset[i] = distance;
            reads.push(read(field, time, &offset));
        }
    }
    reads
}

pub fn expr(kind: ExprKind) -> Expr {
    Expr { kind, element: ElementType::F32, span: 0..0 }
}

pub fn add(left: Expr, right: Expr) -> Expr {
    expr(ExprKind::Binary(BinaryOp::Add, Box::new(left), Box::new(right)))
}

/// A program from the target and the reads of each statement; statement targets are state fields, all
/// other fields coefficients. Domains and slots are the largest and the least possible ones.
pub fn program(dimension: usize, fields: usize, statements: &[(usize, Vec<Access>)]) -> Program {
    let field = |index: usize| DraftField {
        name: format!("u{index}"),
        element: ElementType::F32,
        state: statements.iter().any(|(target, _)| *target == index),
        slots: None,
        span: 0..0,
    };
    let statement = |(target, reads): &(usize, Vec<Access>)| {
        let value = reads.iter().map(|read| expr(ExprKind::Read(read.clone()))).reduce(add);
        DraftStatement {
            target: FieldId(*target),
            locals: vec![],
            value: value.unwrap_or(expr(ExprKind::Literal(1.0))),
            domain: vec![],
            domain_span: 0..0,
            target_span: 0..0,
            span: 0..0,
        }
    };
    let draft = Draft {
        periodic: Vec::new(),
        name: "test".into(),
        description: String::new(),
        time_index: "t".into(),
        space_indices: (0..dimension).map(|i| format!("s{i}")).collect(),
        fields: (0..fields).map(field).collect(),
        series: vec![],
        parameters: vec![],
        statements: statements.iter().map(statement).collect(),
        boundary: Boundary::Fixed,
    };
    let source = Arc::new(SourceFile { name: "test".into(), text: String::new() });
    let mut diagnostics = Vec::new();
    let program = draft.check(&source, &mut diagnostics);
    program.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

/// First-order heat equation.
pub fn heat(dimension: usize) -> Program {
    program(dimension, 1, &[(0, read_star(0, 0, dimension, 1))])
}

/// Second-order wave equation: two time levels and a coefficient.
pub fn wave2d() -> Program {
    let mut reads = read_star(0, 0, 2, 1);
    reads.push(read(0, -1, &[0, 0]));
    reads.push(read(1, 0, &[0, 0]));
    program(2, 2, &[(0, reads)])
}

/// FDTD in two dimensions: `ey, ex, hz`, all updated in place.
pub fn fdtd2d() -> Program {
    let (ey, ex, hz) = (0, 1, 2);
    program(
        2,
        3,
        &[
            (ey, vec![read(ey, 0, &[0, 0]), read(hz, 0, &[0, 0]), read(hz, 0, &[-1, 0])]),
            (ex, vec![read(ex, 0, &[0, 0]), read(hz, 0, &[0, 0]), read(hz, 0, &[0, -1])]),
            (
                hz,
                vec![
                    read(hz, 0, &[0, 0]),
                    read(ex, 1, &[0, 0]),
                    read(ex, 1, &[0, 1]),
                    read(ey, 1, &[0, 0]),
                    read(ey, 1, &[1, 0]),
                ],
            ),
        ],
    )
}

/// A box of radius 4 in two dimensions: 81 reads.
pub fn box2d4r() -> Program {
    program(2, 1, &[(0, read_box(0, 0, &[4, 4], &[4, 4]))])
}

/// A box of radius 2 in three dimensions: 125 reads.
pub fn box3d2r() -> Program {
    program(3, 1, &[(0, read_box(0, 0, &[2, 2, 2], &[2, 2, 2]))])
}

/// Different radii on each side.
pub fn lopsided2d() -> Program {
    program(2, 1, &[(0, read_box(0, 0, &[3, 0], &[1, 2]))])
}

/// A chain of two statements: slopes of one half.
pub fn half_slopes() -> Program {
    program(2, 2, &[(0, read_star(1, 0, 2, 1)), (1, vec![read(0, 1, &[0, 0]), read(1, 0, &[0, 0])])])
}

/// Three time levels, the oldest read at neighbours.
pub fn deep1d() -> Program {
    let mut reads = read_star(0, 0, 1, 1);
    reads.extend(read_box(0, -1, &[2], &[1]));
    reads.extend(read_box(0, -2, &[3], &[0]));
    program(1, 1, &[(0, reads)])
}

/// All of the above that enumeration can handle, by name.
pub fn examples() -> Vec<(&'static str, Program)> {
    vec![
        ("heat1d", heat(1)),
        ("heat2d", heat(2)),
        ("heat3d", heat(3)),
        ("wave2d", wave2d()),
        ("fdtd2d", fdtd2d()),
        ("lopsided2d", lopsided2d()),
        ("half_slopes", half_slopes()),
        ("deep1d", deep1d()),
    ]
}

/// Sweeps in order: nine points, a line with old values of earlier points, and one between two that are none.
pub fn sweeps() -> Vec<(&'static str, Program)> {
    let mut nine = read_box(0, 1, &[1, 1], &[-1, 1]);
    nine.push(read(0, 1, &[0, -1]));
    nine.extend(read_box(0, 0, &[0, 0], &[1, 1]));
    let between = vec![read(0, 0, &[1, 1]), read(0, 1, &[-1, 1]), read(1, 1, &[1, 0]), read(2, 0, &[0, -1])];
    vec![
        ("seidel2d", program(2, 1, &[(0, nine)])),
        ("old_and_new", program(1, 1, &[(0, vec![read(0, 1, &[-2]), read(0, 0, &[-1]), read(0, -1, &[1])])])),
        ("between", program(2, 3, &[(1, read_star(2, 0, 2, 1)), (0, between), (2, read_star(0, 1, 2, 1))])),
    ]
}
