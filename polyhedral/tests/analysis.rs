//! The analysis of the shipped stencils.

use crate::analysis_support::hexagonal::{Tiling, naive};
use polyhedral::analysis::{AnalysisError, analyze};
use polyhedral::cone::{Cone, NotForward, cone};
use polyhedral::dependence::{Dependence, DependenceError, DependenceKind, dependences};
use polyhedral::legality::prove;
use polyhedral::program::{FieldId, FieldRole, Rational};
use polyhedral::shipped;
use std::time::Instant;

#[test]
fn all_shipped_stencils_are_analysed_and_tiled() {
    for name in shipped::names() {
        let program = shipped::load(name).unwrap();
        let start = Instant::now();
        let analysis = analyze(&program).unwrap_or_else(|error| panic!("{name}: {error}"));
        let analysed = start.elapsed();
        // Whole rows at once are no order for these.
        if program.sweeps_in_order().next().is_some() {
            continue;
        }
        let sizes = &[32, 8][..program.dimension() - 1];
        let mut times = Vec::new();
        for st in [2, 64] {
            let s0 = Tiling::least_s0(&analysis.cone, st) + 7;
            let schedule = Tiling::new(&analysis.cone, st, s0, sizes).schedule(&program);
            let proof = prove(&program, &analysis.dependences, &schedule);
            times.push(proof.unwrap_or_else(|error| panic!("{name} st={st}: {error}")).seconds);
        }
        prove(&program, &analysis.dependences, &naive(&program, &[8, 32, 4][..program.dimension()])).unwrap();
        println!(
            "{name}: {} dependences {analysed:?}, proofs {times:.3?} s, {} flops {} bytes",
            analysis.dependences.len(),
            analysis.counts.flops,
            analysis.counts.bytes
        );
    }
}

#[test]
fn heat2d_has_known_numbers() {
    let analysis = analyze(&shipped::load("heat2d").unwrap()).unwrap();
    let one = Rational::from_integer(1);
    assert_eq!(
        analysis.cone,
        Cone { lower: vec![one; 2], upper: vec![one; 2], dependences: analysis.dependences.clone() }
    );
    let [access] = &analysis.footprint.statements[0].boxes[..] else { panic!("one field level") };
    assert_eq!((&access.low[..], &access.high[..], access.reads), (&[-1, -1][..], &[1, 1][..], 5));
    assert_eq!(analysis.counts.bytes, 8);
    assert_eq!(analysis.counts.sweep_bytes, 8);
    assert!((analysis.counts.intensity - analysis.counts.flops as f64 / 8.0).abs() < 1e-12);
}

#[test]
fn fdtd2d_has_known_numbers() {
    let analysis = analyze(&shipped::load("fdtd2d").unwrap()).unwrap();
    // Rows: ey 0, ex 1, hz 2. hz reads ex one row later at j+1, ey two rows later at i+1; ey and ex read hz
    // one and two rows later at i-1 and j-1; what they read is overwritten by hz two and one rows later.
    let half = Rational::new(1, 2);
    let one = Rational::from_integer(1);
    assert_eq!(analysis.cone.lower, vec![half, one]);
    assert_eq!(analysis.cone.upper, vec![one, half]);
    assert_eq!(analysis.counts.flops, 3 + 3 + 5);
    assert_eq!(analysis.counts.bytes, 6 * 4, "three fields read and written once each");
    assert_eq!(analysis.counts.sweep_bytes, (2 + 2 + 3 + 3) * 4);
    let wanted = Dependence {
        kind: DependenceKind::Flow,
        source: 1,
        target: 2,
        field: FieldId(1),
        rows: 1,
        offset: vec![0, -1],
    };
    assert!(analysis.dependences.contains(&wanted));
}

#[test]
fn slopes_are_written_as_fractions() {
    let analysis = analyze(&shipped::load("fdtd2d").unwrap()).unwrap();
    let json = serde_json::to_value(&analysis).unwrap();
    assert_eq!(json["cone"]["lower"], serde_json::json!(["1/2", "1"]));
    assert_eq!(json["cone"]["lower_value"], serde_json::json!([0.5, 1.0]));
    assert_eq!(json["fields"], serde_json::json!(["ey", "ex", "hz"]));
    assert_eq!(json["dependences"][0]["kind"], "flow");
    assert!(json["dependences"][0]["field"].is_u64());
    assert_eq!(json["counts"]["operations"]["muls"], 3);
}

#[test]
fn too_few_time_levels_are_refused() {
    let mut program = crate::analysis_support::heat(1);
    program.fields[0].role = FieldRole::State { levels: 1, slots: 1 };
    let error = analyze(&program).unwrap_err();
    assert!(
        matches!(&error, AnalysisError::Dependence(DependenceError::OverwrittenInSweep { statement: 0, field, slots: 1 }) if field == "u0"),
        "{error}"
    );
    let mut program = crate::analysis_support::wave2d();
    program.fields[0].role = FieldRole::State { levels: 2, slots: 1 };
    let error = dependences(&program).unwrap_err();
    assert!(matches!(&error, DependenceError::WrongLevel { time: -1, late: 1, .. }), "{error}");
    let mut program = crate::analysis_support::deep1d();
    program.fields[0].role = FieldRole::State { levels: 3, slots: 3 };
    assert!(matches!(dependences(&program), Err(DependenceError::OverwrittenInSweep { .. })));
    // Read by the next statement after the write has replaced it.
    let reads = |field, time| {
        vec![
            crate::analysis_support::read(field, time, &[0]),
            crate::analysis_support::read(field, time, &[1]),
        ]
    };
    let mut program = crate::analysis_support::program(1, 2, &[(0, reads(1, 0)), (1, reads(0, 0))]);
    program.fields[0].role = FieldRole::State { levels: 1, slots: 1 };
    let error = dependences(&program).unwrap_err();
    assert!(
        matches!(&error, DependenceError::WrongLevel { statement: 1, time: 0, slots: 1, late: 1, .. }),
        "{error}"
    );
}

#[test]
fn dependences_against_time_have_no_cone() {
    let dependence = Dependence {
        kind: DependenceKind::Anti,
        source: 0,
        target: 0,
        field: FieldId(0),
        rows: 0,
        offset: vec![-1],
    };
    assert_eq!(cone(1, std::slice::from_ref(&dependence)), Err(NotForward { dependence }));
}

/// The cone of a sweep in order is that of its dependences between rows; those within a row stand beside it, and one slot
/// is enough.
#[test]
fn sweeps_in_order_have_dependences_within_a_row() {
    let program = shipped::load("seidel2d").unwrap();
    assert_eq!(program.fields[0].role, polyhedral::program::FieldRole::State { levels: 1, slots: 1 });
    let cone = analyze(&program).unwrap().cone;
    let mut within: Vec<&[i64]> = cone.offsets_within().collect();
    within.sort_unstable();
    within.dedup();
    assert_eq!(within, [&[0, 1][..], &[1, -1], &[1, 0], &[1, 1]]);
    assert_eq!(cone.lower, vec![Rational::from_integer(1); 2]);
    // The old value of an earlier point takes a second slot.
    let text = "stencil s(t, i) { field u: f32; u[t+1, i] = u[t+1, i-1] + u[t, i-2]; }";
    let program = polyhedral::parse("s", text).unwrap();
    assert_eq!(program.fields[0].role.slots(), 2);
}

#[test]
fn locals_are_counted_once() {
    let text = "stencil s(t, i) {
        field u: f64;
        let a = u[t, i-1] + u[t, i+1];
        let b = a * a;
        u[t+1, i] = b / (b + sqrt(a)) - min(a, abs(-u[t, i]));
    }";
    let program = polyhedral::parse("s", text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let counts = analyze(&program).unwrap().counts;
    let operations = counts.operations;
    assert_eq!((operations.adds, operations.subs, operations.muls, operations.divs), (2, 1, 1, 1));
    assert_eq!((operations.sqrts, operations.min_max, operations.abs, operations.negations), (1, 1, 1, 1));
    assert_eq!(counts.flops, 7);
    assert_eq!(counts.bytes, 16);
}
