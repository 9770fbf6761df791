//! Branch and bound against every candidate.

use super::{OBJECTIVES, counted, of, of_boxes, problem, request, small};
use cost_models::gpu::{GpuCost, TimeModel};
use cost_models::hardware::Hardware;
use cost_models::machine;
use hhc_codegen::counts::Problem;
use optimizer::{Family, Method, Objective, Request, lower_bound, tune};
use polyhedral::shipped;
use proptest::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The counted form: the same optimum as every candidate's, for a stencil of each kind.
#[test]
fn exact_is_exhaustive_with_counts_of_the_code() {
    let names = ["heat1d", "jacobi2d", "fdtd2d", "asym2d", "heat3d", "varcoef3d"];
    names.into_par_iter().for_each(|name| {
        let problem = problem(name);
        for machine_name in ["v100", "h100"] {
            let (hardware, machine) = small(machine_name);
            for objective in [Objective::Time, Objective::Energy, Objective::Edp] {
                let mut request = counted(&request(&problem, &hardware, &machine, objective), &machine);
                request.most_height = Some(8);
                let what = format!("{name} on {machine_name}, {}", objective.name());
                let exact = tune(&request, Method::Exact).unwrap().certificate;
                let all = tune(&request, Method::Exhaustive).unwrap().certificate;
                assert_eq!((exact.value, exact.candidates), (all.value, all.candidates), "{what}");
                assert!(exact.optimal() && exact.evaluated <= all.evaluated, "{what}");
            }
        }
    });
}

/// What is passed over is not chosen, nor what differs from it in bounds alone; the next best is.
#[test]
fn tiles_that_are_passed_over_are_not_chosen() {
    let problem = problem("jacobi2d");
    let (hardware, machine) = small("v100");
    let mut request =
        counted(&request(&problem, &hardware, &machine, Objective::Time), &machine).only(of("hhc"));
    let mut values = Vec::new();
    for _ in 0..3 {
        let tuned = tune(&request, Method::Exact).unwrap();
        let (family, sizes) = Family::of_tile(&problem, &hardware, of("hhc"), &tuned.choice.tile).unwrap();
        assert!(!request.passed_over.contains(&family.text(sizes)));
        assert_eq!(tuned.certificate.value, tune(&request, Method::Exhaustive).unwrap().certificate.value);
        request.passed_over.push(family.text(sizes));
        values.push(tuned.certificate.value);
    }
    assert!(values.is_sorted() && values[0] < values[2], "{values:?}");
    request.sure_of_registers = true;
    let tuned = tune(&request, Method::Exact).unwrap();
    let (family, sizes) = Family::of_tile(&problem, &hardware, of("hhc"), &tuned.choice.tile).unwrap();
    let work = family.work(0, sizes);
    assert!(work.needed <= work.registers, "{work:?}");
}

#[test]
fn exact_is_exhaustive_on_every_stencil_machine_and_objective() {
    let of_stencil = |(index, name): (usize, &str)| {
        let (mut evaluated, mut candidates) = (0, 0);
        let problem = problem(name);
        // Every GPU is met by every dimension and objective; the benchmark `optimizer` does all pairs.
        let machines: Vec<&str> = machine::names()
            .into_iter()
            .filter(|name| machine::shipped(name).unwrap().unwrap().gpu().is_some())
            .collect();
        for machine_name in [machines[index % machines.len()], machines[(index + 3) % machines.len()]] {
            let (hardware, machine) = small(machine_name);
            for objective in OBJECTIVES {
                let request = of_boxes(request(&problem, &hardware, &machine, objective));
                let what = format!("{name} on {machine_name}, {}", objective.name());
                let (exact, all) = match (tune(&request, Method::Exact), tune(&request, Method::Exhaustive)) {
                    (Ok(exact), Ok(all)) => (exact, all),
                    (Err(exact), Err(all)) => {
                        assert_eq!(exact, all, "{what}");
                        continue;
                    }
                    (exact, all) => panic!("{what}: {exact:?} and {all:?}"),
                };
                assert_eq!(exact.certificate.value, all.certificate.value, "{what}");
                assert_eq!(exact.certificate.candidates, all.certificate.candidates, "{what}");
                assert!(
                    exact.certificate.optimal() && exact.certificate.bound == Some(exact.certificate.value)
                );
                evaluated += exact.certificate.evaluated;
                candidates += exact.certificate.candidates;
            }
        }
        (evaluated, candidates)
    };
    let names: Vec<(usize, &str)> = shipped::names().into_iter().enumerate().collect();
    let sum = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
    let (evaluated, candidates) = names.into_par_iter().map(of_stencil).reduce(|| (0, 0), sum);
    assert!(evaluated * 100 < candidates, "{evaluated} of {candidates} candidates were evaluated");
}

/// On whole machines, too: under one per cent, for a stencil of each dimension.
#[test]
fn few_candidates_are_evaluated() {
    for (name, size, steps) in [
        ("heat2d", &[4096, 4096][..], 1000),
        ("heat3d", &[512, 512, 512], 200),
        ("fdtd2d", &[2048, 2048], 300),
    ] {
        let program = Arc::new(shipped::load(name).unwrap());
        let problem = Problem::new(&program, size, steps).unwrap();
        let machine = machine::shipped("gtx980").unwrap().unwrap();
        let hardware = Hardware::of("gtx980", machine.gpu().unwrap());
        for objective in OBJECTIVES {
            let own = of_boxes(request(&problem, &hardware, &machine, objective));
            let request = Request { most_height: None, ..own };
            let certificate = tune(&request, Method::Exact).unwrap().certificate;
            assert!(
                certificate.evaluated * 100 < certificate.candidates,
                "{name} {}: {} of {}",
                objective.name(),
                certificate.evaluated,
                certificate.candidates
            );
        }
    }
}

/// In one dimension tiles have many rows of many widths, and many numbers of resident ones that make no difference.
#[test]
fn few_candidates_are_evaluated_in_one_dimension() {
    let program = Arc::new(shipped::load("heat1d").unwrap());
    let problem = Problem::new(&program, &[1 << 18], 200).unwrap();
    let machine = machine::shipped("h100").unwrap().unwrap();
    let model = GpuCost::by(TimeModel::Counted, &problem, &machine).unwrap();
    let request = Request::of_model(&problem, model, Objective::Time).only(of("hhc"));
    let certificate = tune(&request, Method::Exact).unwrap().certificate;
    assert!(certificate.optimal());
    assert!(certificate.evaluated * 100 < certificate.candidates, "{certificate:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// No candidate of a box is better than its bound, and at a point the bound is the value.
    #[test]
    fn bounds_hold(
        name in prop::sample::select(vec!["heat1d", "jacobi2d", "asym2d", "fdtd2d", "heat3d", "varcoef3d", "star2d2r"]),
        st in 0usize..4,
        naive in prop::bool::ANY,
        of_counts in prop::bool::ANY,
        corner in [0.0f64..1.0, 0.0..1.0, 0.0..1.0],
        length in [0.0f64..1.0, 0.0..1.0, 0.0..1.0],
        inside in prop::collection::vec([0.0f64..1.0, 0.0..1.0, 0.0..1.0], 12),
        k in 1i64..5,
        objective in prop::sample::select(OBJECTIVES.to_vec()),
    ) {
        let problem = problem(name);
        let (mut hardware, machine) = small("titanx");
        // Everything fits, so that every point has a value.
        (hardware.registers_per_sm, hardware.threads_per_sm, hardware.m_sm_bytes) = (1 << 40, 1 << 40, 1 << 40);
        let mut request = request(&problem, &hardware, &machine, objective);
        if of_counts && objective != Objective::Power {
            request = counted(&request, &machine);
        }
        let families = request.families_of(of(if naive { "naive" } else { "hhc" }));
        let Some(family) = families.into_iter().nth(if naive { 0 } else { st }) else { return Ok(()) };
        let pick = |part: f64, low: i64, high: i64| low + ((high - low) as f64 * part) as i64;
        let low = [0, 1, 2].map(|d| pick(corner[d], 0, family.axes[d].count - 1));
        let high = [0, 1, 2].map(|d| pick(length[d] * length[d], low[d], family.axes[d].count - 1));
        let sizes = |index: [i64; 3]| [0, 1, 2].map(|d| family.axes[d].at(index[d]));
        let bound = lower_bound(&request, &family, sizes(low), sizes(high), k);
        for part in inside {
            let point = sizes([0, 1, 2].map(|d| pick(part[d], low[d], high[d] + 1).min(high[d])));
            if let Some(value) = request.value(&family, point, k) {
                prop_assert!(bound <= value, "{name}: bound {bound:e}, value {value:e} at {point:?}");
                let own = lower_bound(&request, &family, point, point, k);
                prop_assert!(own <= value && own >= value * (1.0 - 1e-9), "{name}: {own:e} and {value:e} at {point:?}");
            }
        }
    }
}
