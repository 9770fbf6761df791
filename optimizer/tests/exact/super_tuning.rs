//! The two formulations of super-tuning.

use super::{OBJECTIVES, counted, of_boxes, request, small};
use cost_models::hardware::Hardware;
use cost_models::machine;
use hhc_codegen::counts::Problem;
use optimizer::{Method, Objective, Request, super_tune, super_tune_by_parts, tune};
use polyhedral::shipped;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Sizes along the dimensions, and `k`.
type Point = ([i64; 3], i64);

/// The parts of the space by enumeration: of the strategies in whose feasible sets a point lies, the number of such points and
/// the least value.
fn parts_by_enumeration(request: &Request<'_>) -> BTreeMap<Vec<&'static str>, (u64, f64)> {
    let mut points: BTreeMap<Point, (BTreeSet<&'static str>, f64)> = BTreeMap::new();
    for family in request.families() {
        let values = |d: usize| (0..family.axes[d].count).map(move |index| family.axes[d].at(index));
        for s0 in values(0) {
            for s1 in values(1) {
                for s2 in values(2) {
                    for k in 1..=request.model.hardware.blocks_per_sm {
                        if !family.fits_memory([s0, s1, s2], k, &request.model.hardware) {
                            continue;
                        }
                        let Some(value) = request.value(&family, [s0, s1, s2], k) else { continue };
                        let point =
                            points.entry(([s0, s1, s2], k)).or_insert((BTreeSet::new(), f64::INFINITY));
                        point.0.insert(family.strategy.id());
                        point.1 = point.1.min(value);
                    }
                }
            }
        }
    }
    let mut parts: BTreeMap<Vec<&'static str>, (u64, f64)> = BTreeMap::new();
    for (inside, value) in points.into_values() {
        let part = parts.entry(inside.into_iter().collect()).or_insert((0, f64::INFINITY));
        *part = (part.0 + 1, part.1.min(value));
    }
    parts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("TILEWRIGHT_ALL").is_some() { 200 } else { 50 }))]

    /// Over all strategies, the exact search has the value of the exhaustive one; each part is solved exactly, and the best of them
    /// is the best of the strategies' optima.
    #[test]
    fn both_formulations_of_super_tuning_agree(
        name in prop::sample::select(vec![
            "heat1d", "leapfrog1d", "jacobi2d", "asym2d", "fdtd2d", "wave2d", "star2d2r", "heat3d", "varcoef3d",
        ]),
        (n0, n1, n2, steps) in (8i64..40, 8i64..60, 8i64..70, 1i64..7),
        machine in prop::sample::select(vec!["gtx980", "v100", "h100"]),
        objective in prop::sample::select(OBJECTIVES.to_vec()),
        of_counts in prop::bool::ANY,
        sure_of_registers in prop::bool::ANY,
        (most_height, blocks_per_sm, kilobytes) in (1i64..4, 1i64..4, 4i64..14),
        (threads_per_block, registers) in (2i64..9, 8i64..40),
    ) {
        let program = Arc::new(shipped::load(name).unwrap());
        let size = match program.dimension() {
            1 => vec![9 * n0],
            2 => vec![n0, 2 * n1],
            _ => vec![n0 / 2 + 4, n1 / 2 + 4, n2],
        };
        let problem = Problem::new(&program, &size, steps).unwrap();
        let (mut hardware, machine) = small(machine);
        hardware.blocks_per_sm = blocks_per_sm;
        hardware.shared_per_block_bytes = kilobytes << 10;
        hardware.threads_per_block = 32 * threads_per_block;
        hardware.registers_per_sm = registers << 10;
        let mut request = request(&problem, &hardware, &machine, objective);
        if of_counts && objective != Objective::Power {
            request = counted(&request, &machine);
        }
        request.most_height = Some(most_height * problem.program.statements.len() as i64);
        request.sure_of_registers = sure_of_registers;
        request.strategies.retain(|own| own.takes(&problem.program, &problem.cone).is_ok());
        let strategies = request.strategies.len();
        let direct = parts_by_enumeration(&request);
        let parts = super_tune_by_parts(&request);
        let (Ok(parts), Ok((solved, best))) = (&parts, super_tune(&request)) else {
            prop_assert!(direct.is_empty() && parts.is_err());
            return Ok(());
        };
        let exhaustive = tune(&request, Method::Exhaustive).unwrap().certificate;
        let exact = tune(&request, Method::Exact).unwrap().certificate;
        prop_assert_eq!((exact.value, exact.candidates), (exhaustive.value, exhaustive.candidates));
        prop_assert!(exact.optimal());
        let least = solved[best].result.as_ref().unwrap().certificate.value;
        prop_assert_eq!(parts[0].value, least);
        prop_assert_eq!(parts.len(), direct.len());
        for part in parts {
            let mut inside = part.inside.clone();
            inside.sort_unstable();
            prop_assert_eq!((part.points, part.value), direct[&inside]);
            prop_assert!(inside.contains(&part.choice.strategy) && inside.len() + part.outside.len() == strategies);
        }
    }
}

/// Few tiles of a large grid are evaluated in each part: most of it is bounded.
#[test]
fn parts_are_not_enumerated() {
    let program = Arc::new(shipped::load("heat2d").unwrap());
    let problem = Problem::new(&program, &[2048, 2048], 256).unwrap();
    let machine = machine::shipped("gtx980").unwrap().unwrap();
    let hardware = Hardware::of("gtx980", machine.gpu().unwrap());
    let mut request = of_boxes(request(&problem, &hardware, &machine, Objective::Time));
    request.most_height = None;
    let parts = super_tune_by_parts(&request).unwrap();
    let closed: Vec<_> = parts.iter().filter(|part| part.points > 1000).collect();
    assert!(!closed.is_empty());
    for part in closed {
        assert!(part.evaluated * 10 < part.points, "{part:?}");
    }
}
