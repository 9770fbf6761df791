//! The exact searches against plain enumeration of designs, strategies, tile sizes and k, with the closed forms called
//! directly.

use crate::{SMALL, setting};
use cost_models::constants::{EnergyConstants, TimeConstants};
use cost_models::energy::energy;
use cost_models::gpu::GpuTime;
use cost_models::hardware::Hardware;
use cost_models::memory::fits;
use hhc_codegen::counts::{TileCounts, forms};
use optimizer::codesign::design::Design;
use optimizer::codesign::run;
use optimizer::codesign::setting::{Setting, Subject};
use optimizer::codesign::sweep::Control;

/// The least cost of an execution on a design, by enumeration.
fn least_cost(setting: &Setting, subject: &Subject, run: usize, design: &Design) -> Option<f64> {
    let workload = &setting.workload;
    let hardware = design.hardware(&setting.base);
    let load = &subject.load.runs[run];
    let problem = subject.problem.with_size(&load.size, load.steps);
    let time = TimeConstants {
        l_s_per_word: subject.time.l_s_per_word * workload.l_factor(design.n_sm),
        ..subject.time
    };
    let static_w = setting.static_w_per_mm2 * setting.area_mm2(design);
    let energy_constants = EnergyConstants { p_static_w: static_w, ..subject.energy };
    let model = GpuTime { n_sm: design.n_sm, n_v: design.n_v, constants: time };
    let flops = problem.total_iterations() as f64 * problem.flops_per_iteration();
    let mut least: Option<f64> = None;
    let mut consider = |counts: &[TileCounts], hardware: &Hardware| {
        for k in 1..=hardware.blocks_per_sm {
            if !counts.iter().all(|counts| fits(counts, k, hardware)) {
                continue;
            }
            let seconds: f64 = counts.iter().map(|counts| model.predict(counts, k).seconds).sum();
            let joules = energy(counts, &energy_constants, seconds).sum();
            if workload.budget.power_w.is_some_and(|limit| joules > limit * seconds) {
                continue;
            }
            let cost = workload.objective.cost(seconds, joules, flops);
            least = Some(least.map_or(cost, |least: f64| least.min(cost)));
        }
    };
    let on = hardware.multiprocessor();
    for &strategy in &workload.strategies {
        for family in forms(strategy).families(&problem, &on, Some(40)) {
            let forms = &family.forms;
            let inner: Vec<i64> =
                if problem.dimension() == 1 { vec![1] } else { (1..=16).map(|n| n * 32).collect() };
            if strategy.id() == "hhc" {
                for s0 in family.axes[0].first..6000 {
                    if forms.tile_bytes([s0, 1, 1]) > hardware.shared_per_block_bytes {
                        break;
                    }
                    inner.iter().for_each(|&s1| consider(&[forms.counts(0, [s0, s1, 1])], &hardware));
                }
                continue;
            }
            for first in (0..14).map(|e| 1 << e) {
                for second in if problem.dimension() == 1 { 0..1 } else { 0..14 } {
                    let (s0, s1) = match problem.dimension() {
                        1 => (32 * first, 1),
                        _ => (first, 32 << second),
                    };
                    if s0 * s1 <= 8192 {
                        consider(&[forms.counts(0, [s0, s1, 1])], &hardware);
                    }
                }
            }
        }
    }
    least
}

fn check(text: &str) {
    let setting = setting(text);
    let study = run(&setting, &Control::NONE).unwrap();
    assert!(study.designs.len() > 4, "{}", study.designs.len());
    let mut best = f64::INFINITY;
    let all = setting.workload.space.within(&setting.workload.family.area, setting.workload.budget.area_mm2);
    for design in all {
        let mut cost = 0.0;
        for subject in &setting.subjects {
            let runs = subject.load.runs.len();
            let sum: Option<f64> = (0..runs).map(|run| least_cost(&setting, subject, run, &design)).sum();
            cost += subject.load.weight * sum.map_or(f64::INFINITY, |sum| sum / runs as f64);
        }
        match study.designs.iter().find(|weighed| weighed.design == design) {
            Some(weighed) => {
                let error = (weighed.all.cost / cost - 1.0).abs();
                assert!(error < 1e-9, "{design}: {} by search, {cost} by enumeration", weighed.all.cost);
            }
            None => assert!(cost.is_infinite(), "{design}: {cost} by enumeration, not evaluated"),
        }
        best = best.min(cost);
    }
    assert!((study.certificate.value / best - 1.0).abs() < 1e-9);
    assert_eq!(study.certificate.bound, study.certificate.value);
    assert!(
        study.certificate.tiles_evaluated * 3 < study.certificate.tiles_candidates,
        "{:?}",
        study.certificate
    );
}

#[test]
fn rate() {
    check(SMALL);
}

#[test]
fn energy_delay_over_strategies_with_a_power_budget() {
    let text = SMALL
        .replace("objective = \"gflops\"", "objective = \"edp\"\nstrategies = [\"hhc\", \"naive\"]")
        .replace("area_high_mm2 = 220", "area_high_mm2 = 220\npower_w = 62");
    check(&text);
}

#[test]
fn energy_with_bandwidth_in_total() {
    let text = SMALL
        .replace("objective = \"gflops\"", "objective = \"energy\"")
        .replace("[6, 14.5, 20]", "[14.5]\nbandwidth = \"total\"");
    check(&text);
}
