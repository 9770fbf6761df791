//! Random programs: dependences against enumeration, tight cones, legal and illegal hexagonal tilings.

use crate::analysis_support::enumeration::{self, Instance};
use crate::analysis_support::hexagonal::Tiling;
use crate::analysis_support::program;
use polyhedral::cone::cone;
use polyhedral::dependence::{Dependence, dependences};
use polyhedral::draft::comes_earlier;
use polyhedral::legality::{LegalityError, prove};
use polyhedral::program::{Access, FieldId, Program, Rational};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// One read as drawn: field, time level 1, 0, -1, -2 or (as 0) a coefficient's, offset.
type Draw = (usize, i64, Vec<i64>);

/// Programs of 1 to 3 statements in 1 to 3 dimensions; field `k` belongs to statement `k`, the last field
/// is a coefficient.
fn programs() -> impl Strategy<Value = Program> {
    programs_with(false)
}

/// With `in_order`, statements may read the new level of what they compute, at points that come earlier.
fn programs_with(in_order: bool) -> impl Strategy<Value = Program> {
    (1usize..=3, 1usize..=3).prop_flat_map(move |(dimension, statements)| {
        let reach: i64 = [0, 3, 2, 1][dimension];
        let offset = prop::collection::vec(-reach..=reach, dimension);
        let read = (0..=statements, -2i64..=1, offset);
        prop::collection::vec(prop::collection::vec(read, 1..5), statements)
            .prop_map(move |draws| assemble(dimension, draws, in_order))
    })
}

fn assemble(dimension: usize, draws: Vec<Vec<Draw>>, in_order: bool) -> Program {
    let statements = draws.len();
    let list: Vec<_> = draws
        .into_iter()
        .enumerate()
        .map(|(k, draws)| {
            let reads: BTreeSet<Access> = draws
                .into_iter()
                .map(|(field, time, offset)| {
                    // Level 1 exists only if an earlier statement, or an earlier point, has computed it.
                    let own = in_order && field == k && comes_earlier(&offset);
                    let time = if field == statements { 0 } else { time.min(i64::from(field < k || own)) };
                    Access { field: FieldId(field), time, offset }
                })
                .collect();
            (k, reads.into_iter().collect())
        })
        .collect();
    program(dimension, statements + 1, &list)
}

fn position(tiling: &Tiling, program: &Program, (k, t, point): &Instance) -> Vec<Vec<i64>> {
    tiling.vectors(program, *k, *t, point)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn dependences_agree_with_enumeration(program in any::<bool>().prop_flat_map(programs_with)) {
        let exact: BTreeSet<Dependence> = dependences(&program).unwrap().into_iter().collect();
        // Room for the longest offset between the margins of any two statements.
        let size: Vec<i64> = (0..program.dimension()).map(|i| {
            let widest = |margins: &dyn Fn(usize) -> i64| (0..program.statements.len()).map(margins).max().unwrap();
            widest(&|k| program.statements[k].domain[i].low.offset) + widest(&|k| -program.statements[k].domain[i].high.offset) + 4
        }).collect();
        let seen = enumeration::dependences(&program, &size, 9);
        prop_assert_eq!(&exact, &seen);
        let tiny = enumeration::dependences(&program, &vec![4; program.dimension()], 3);
        prop_assert!(tiny.is_subset(&exact));
    }

    #[test]
    fn cones_are_tight(program in programs()) {
        let dependences = dependences(&program).unwrap();
        let cone = cone(program.dimension(), &dependences).unwrap();
        prop_assert!(dependences.iter().all(|dependence| cone.contains(dependence.rows, &dependence.offset)));
        for i in 0..program.dimension() {
            let touches = |slope: Rational, sign: i64| {
                slope == Rational::from_integer(0)
                    || dependences.iter().any(|d| slope == Rational::new(sign * d.offset[i], d.rows))
            };
            prop_assert!(touches(cone.upper[i], 1) && touches(cone.lower[i], -1));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn hexagonal_schedules_are_legal(
        program in programs(), st in 1i64..70, wider in 0i64..40, sizes in prop::array::uniform2(1i64..70),
    ) {
        let dependences = dependences(&program).unwrap();
        let cone = cone(program.dimension(), &dependences).unwrap();
        let s0 = Tiling::least_s0(&cone, st) + wider;
        let tiling = Tiling::new(&cone, st, s0, &sizes[..program.dimension() - 1]);
        let proof = prove(&program, &dependences, &tiling.schedule(&program));
        prop_assert!(proof.is_ok(), "{tiling:?}: {}", proof.unwrap_err());
    }

    /// With a slope below the cone, isl refuses the schedule exactly when enumeration finds a dependence
    /// that runs the wrong way or an instance that does not run once.
    #[test]
    fn reduced_slopes_are_refused(program in programs(), st in 2i64..5, wider in 0i64..4, which in 0usize..6) {
        let dependences = dependences(&program).unwrap();
        let exact = cone(program.dimension(), &dependences).unwrap();
        let mut cone = exact.clone();
        // Only the lower slopes of the classical dimensions matter.
        let slopes: Vec<&mut Rational> =
            cone.lower.iter_mut().chain(cone.upper.iter_mut().take(1)).filter(|slope| *slope.numer() > 0).collect();
        prop_assume!(!slopes.is_empty());
        let count = slopes.len();
        for (index, slope) in slopes.into_iter().enumerate() {
            if index == which % count {
                *slope -= Rational::new(1, 2).min(*slope);
            }
        }
        let s0 = Tiling::least_s0(&cone, st) + wider;
        let tiling = Tiling::new(&cone, st, s0, &[3, 2][..program.dimension() - 1]);
        let schedule = tiling.schedule(&program);
        match prove(&program, &dependences, &schedule) {
            Ok(_) => {
                // Rounding may hide a reduced slope: then no pair of instances may run the wrong way.
                let size = [40, 14, 7][program.dimension() - 1];
                let pairs = enumeration::instance_dependences(&program, &vec![size; program.dimension()], 8);
                for (_, _, source, target) in pairs {
                    let (source, target) = (position(&tiling, &program, &source), position(&tiling, &program, &target));
                    prop_assert_eq!((source.len(), target.len()), (1, 1));
                    let first = (0..source[0].len()).find(|&i| source[0][i] != target[0][i]);
                    let first = first.expect("instances in one place");
                    let parallel = schedule.dimensions[first].execution == polyhedral::schedule::Execution::Parallel;
                    prop_assert!(!parallel && source[0][first] < target[0][first]);
                }
            }
            Err(LegalityError::Violated(violation)) => {
                let Dependence { rows, offset, .. } = &violation.dependence;
                prop_assert!(!cone.contains(*rows, offset), "{violation}");
                for side in [&violation.source, &violation.target] {
                    let instance = (side.instance.statement, side.instance.time, side.instance.point.clone());
                    let vectors = position(&tiling, &program, &instance);
                    prop_assert_eq!(&vectors, &vec![side.vector.clone()]);
                }
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
