//! Legality proofs of hexagonal and naive schedules, and of faulty ones.

use crate::analysis_support::hexagonal::{Fault, Tiling, naive};
use crate::analysis_support::{box2d4r, box3d2r, examples, fdtd2d, half_slopes, heat, lopsided2d};
use polyhedral::cone::{Cone, cone};
use polyhedral::dependence::{Dependence, DependenceKind, dependences};
use polyhedral::legality::{LegalityError, Misorder, Violation, prove};
use polyhedral::program::{Program, Rational};
use polyhedral::schedule::Execution;

fn analysed(program: &Program) -> (Vec<Dependence>, Cone) {
    let dependences = dependences(program).unwrap();
    let cone = cone(program.dimension(), &dependences).unwrap();
    (dependences, cone)
}

#[test]
fn hexagonal_schedules_are_legal() {
    let mut programs = examples();
    programs.extend([("box2d4r", box2d4r()), ("box3d2r", box3d2r())]);
    for (name, program) in programs {
        let (dependences, cone) = analysed(&program);
        for (st, wider) in [(1, 0), (2, 1), (3, 5), (8, 16), (64, 100)] {
            let sizes = &[32, 5][..program.dimension() - 1];
            let tiling = Tiling::new(&cone, st, Tiling::least_s0(&cone, st) + wider, sizes);
            let proof = prove(&program, &dependences, &tiling.schedule(&program));
            let proof = proof.unwrap_or_else(|error| panic!("{name} {tiling:?}: {error}"));
            println!("{name} st={st} {proof:?}");
            assert_eq!(proof.dependences, dependences.len());
        }
    }
}

#[test]
fn naive_schedules_are_legal() {
    for (name, program) in examples() {
        let (dependences, _) = analysed(&program);
        let proof =
            prove(&program, &dependences, &naive(&program, &[16, 4, 32][..program.dimension()])).unwrap();
        println!("{name} naive {proof:?}");
    }
}

/// The error of a hexagonal schedule with a fault.
fn refused(program: &Program, fault: Fault) -> LegalityError {
    let (dependences, cone) = analysed(program);
    let sizes = &[32, 5][..program.dimension() - 1];
    let tiling = Tiling { fault, ..Tiling::new(&cone, 4, 8, sizes) };
    let error = prove(program, &dependences, &tiling.schedule(program)).unwrap_err();
    println!("{fault:?}: {error}");
    error
}

/// The violation of a hexagonal schedule with a fault, checked for consistency with the dependence.
fn violated(program: &Program, fault: Fault) -> Violation {
    let LegalityError::Violated(violation) = refused(program, fault) else { panic!("another error") };
    check(program, &violation);
    *violation
}

fn check(program: &Program, violation: &Violation) {
    let Violation { dependence, source, target, problem, .. } = violation;
    let (source, target) = (&source.instance, &target.instance);
    assert_eq!((source.statement, target.statement), (dependence.source, dependence.target));
    let offset: Vec<_> = target.point.iter().zip(&source.point).map(|(t, s)| t - s).collect();
    assert_eq!(offset, dependence.offset);
    assert_eq!(target.time - source.time, dependence.steps(program.statements.len()));
    for instance in [source, target] {
        assert!(0 <= instance.time && instance.time < problem.steps);
        for (&x, (low, high)) in instance.point.iter().zip(program.domain(instance.statement, &problem.size))
        {
            assert!(low <= x && x < high, "{instance} outside its domain");
        }
    }
}

#[test]
fn a_widened_hexagon_runs_points_twice() {
    for program in [heat(1), heat(2), fdtd2d(), half_slopes()] {
        let error = refused(&program, Fault::WideHexagon);
        let LegalityError::NotOnce { first, second, problem } = error else { panic!("{error}") };
        assert_eq!(first.vector.len(), second.len());
        assert!(first.instance.time < problem.steps);
    }
}

#[test]
fn a_narrowed_hexagon_forgets_points() {
    for program in [heat(1), heat(2), heat(3), fdtd2d()] {
        let error = refused(&program, Fault::NarrowHexagon);
        let LegalityError::NotTotal { instance, problem } = error else { panic!("{error}") };
        assert!(0 <= instance.time && instance.time < problem.steps);
    }
}

#[test]
fn exchanged_phases_break_a_flow_dependence() {
    for program in [heat(1), heat(2), heat(3), lopsided2d(), fdtd2d()] {
        let violation = violated(&program, Fault::PhasesSwapped);
        assert_eq!(violation.misorder, Misorder::Before);
        assert_eq!(violation.dimension, Some((1, "phase".to_owned())));
    }
}

#[test]
fn a_missing_skew_breaks_sub_tiles() {
    for program in [heat(2), heat(3), fdtd2d()] {
        let violation = violated(&program, Fault::NoSkew);
        assert_eq!(violation.misorder, Misorder::Before);
        assert_eq!(violation.dimension, Some((3, "sub-tile s1".to_owned())));
        assert!(violation.dependence.offset[1] < 0, "{violation}");
    }
}

#[test]
fn parallel_rows_break_a_dependence() {
    for program in [heat(1), heat(2), half_slopes()] {
        let violation = violated(&program, Fault::ParallelRows);
        assert_eq!(violation.misorder, Misorder::InParallel);
        assert_eq!(violation.dimension.unwrap().1, "row");
    }
}

#[test]
fn parallel_sub_tiles_break_a_dependence() {
    let violation = violated(&heat(2), Fault::ParallelSubTiles);
    assert_eq!(violation.misorder, Misorder::InParallel);
    assert_eq!(violation.dimension.unwrap().1, "sub-tile s1");
}

#[test]
fn schedules_without_rows_put_points_together() {
    let error = refused(&heat(2), Fault::NoRows);
    let LegalityError::NotInjective { first, second, .. } = error else { panic!("{error}") };
    assert_ne!(first.instance, second);
}

#[test]
fn a_slope_below_the_cone_breaks_the_steepest_dependence() {
    let program = lopsided2d();
    let (dependences, exact) = analysed(&program);
    let less = |slope: Rational| slope - Rational::new(1, 2);
    for side in ["lower", "upper"] {
        let mut cone = exact.clone();
        let steepest = if side == "lower" { &mut cone.lower[0] } else { &mut cone.upper[0] };
        *steepest = less(*steepest);
        let tiling = Tiling::new(&cone, 4, 8, &[32]);
        let error = prove(&program, &dependences, &tiling.schedule(&program)).unwrap_err();
        println!("{side}: {error}");
        let LegalityError::Violated(violation) = error else { panic!("another error") };
        check(&program, &violation);
        let Dependence { rows, offset, .. } = &violation.dependence;
        assert!(!cone.contains(*rows, offset), "{side}: the broken dependence leaves the reduced cone");
    }
}

#[test]
fn time_in_parallel_is_named() {
    let program = heat(2);
    let (dependences, _) = analysed(&program);
    let mut schedule = naive(&program, &[16, 16]);
    schedule.dimensions[0].execution = Execution::Parallel;
    let error = prove(&program, &dependences, &schedule).unwrap_err();
    let LegalityError::Violated(violation) = &error else { panic!("{error}") };
    assert_eq!(violation.dependence.kind, DependenceKind::Flow);
    let text = error.to_string();
    assert!(
        text.contains("flow dependence") && text.contains("in parallel with it in dimension `step`"),
        "{text}"
    );
}

/// A schedule that is right on the domain only: the exact relations must decide.
#[test]
fn domains_matter() {
    let program = heat(1);
    let (dependences, _) = analysed(&program);
    let mut schedule = naive(&program, &[16]);
    schedule.pieces[0].constraints.push("0 <= t and 0 <= s0 < n0".to_owned());
    prove(&program, &dependences, &schedule).unwrap();
    schedule.pieces[0].constraints.push("s0 < n0 - 2".to_owned());
    let error = prove(&program, &dependences, &schedule).unwrap_err();
    let LegalityError::NotTotal { instance, problem } = error else { panic!("{error}") };
    assert_eq!(instance.point[0], problem.size[0] - 2);
}

#[test]
fn malformed_pieces_are_refused() {
    let program = heat(1);
    let (dependences, _) = analysed(&program);
    for (text, wanted) in
        [("step <", "step <"), ("step = t*t*s0", "syntax error"), ("step = t\0", "zero byte")]
    {
        let mut schedule = naive(&program, &[16]);
        schedule.pieces[0].constraints.push(text.to_owned());
        let error = prove(&program, &dependences, &schedule).unwrap_err();
        assert!(
            matches!(&error, LegalityError::Malformed { piece: 0, message } if message.contains(wanted)),
            "{error}"
        );
    }
    let mut schedule = naive(&program, &[16]);
    schedule.pieces[0].variables.pop();
    assert!(matches!(prove(&program, &dependences, &schedule), Err(LegalityError::Malformed { .. })));
    schedule.pieces[0].statement = 7;
    assert!(matches!(prove(&program, &dependences, &schedule), Err(LegalityError::Malformed { .. })));
}
