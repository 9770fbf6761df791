//! The exact searches against plain enumeration of designs, strategies, tile sizes and k, with the closed forms called
//! directly.

use crate::{SMALL, parse, setting};
use approx::relative_eq;
use cost_models::constants::{EnergyConstants, TimeConstants};
use cost_models::energy::energy;
use cost_models::gpu::GpuTime;
use cost_models::hardware::Hardware;
use cost_models::memory::fits;
use hhc_codegen::counts::{Multiprocessor, TileCounts, forms};
use hhc_codegen::geometry::registers_by_share;
use optimizer::codesign::design::{Bandwidth, Design};
use optimizer::codesign::inner::{Effort, Outcome};
use optimizer::codesign::run;
use optimizer::codesign::setting::{Setting, Subject};
use optimizer::codesign::sweep::Control;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Strategies whose tiles are listed, each with threads of its own.
const LISTED: [&str; 2] = ["warp-pipeline", "streaming"];

/// The least cost of an execution on a design, by enumeration.
fn least_cost(setting: &Setting, subject: &Subject, run: usize, design: &Design) -> Option<f64> {
    let workload = &setting.workload;
    let hardware = design.hardware(&setting.base);
    let load = &subject.load.runs[run];
    let problem = subject.problem.with_size(&load.size, load.steps);
    // A cache answers the share of the grid that it holds.
    let words = problem.element().bytes() as f64 / 4.0;
    let bytes: i64 = problem.planes().map(|(planes, bytes)| planes * bytes).sum();
    let grid = load.size.iter().product::<i64>() * bytes;
    let hits = (1024.0 * design.l2_kb / grid as f64).min(1.0);
    let share = if workload.space.bandwidth == Bandwidth::Paper { setting.base.n_sm as f64 } else { 1.0 };
    let cache_s = words * setting.base.l2_s_per_word() / share * workload.l_factor(design.n_sm);
    let memory_s = subject.time.l_s_per_word * workload.l_factor(design.n_sm);
    let time = TimeConstants {
        l_s_per_word: memory_s * (1.0 - hits) + cache_s.min(memory_s) * hits,
        ..subject.time
    };
    let memory_j = subject.energy.e_glob_j;
    let e_glob_j = memory_j * (1.0 - hits) + (words * 5e-11).min(memory_j) * hits;
    let static_w = setting.static_w_per_mm2 * setting.area_mm2(design);
    let energy_constants = EnergyConstants { p_static_w: static_w, e_glob_j, ..subject.energy };
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
    let registers = registers_by_share(&subject.load.program)[1];
    for &strategy in workload.strategies.iter().filter(|own| LISTED.contains(&own.id())) {
        if strategy.takes(&problem.program, &problem.cone).is_err() {
            continue;
        }
        // Tiles of a list have threads of their own, and the registers that they have on the base machine.
        let base = Design::from(&setting.base).hardware(&setting.base).multiprocessor();
        let on = Multiprocessor { shared_per_block_bytes: i64::MAX, ..base };
        let list = forms(strategy).families(&problem, &on.with_lanes(1), None);
        for family in list {
            let with_lanes = |class: usize| {
                let all = family.forms.counts(class, [1; 3]);
                let lanes = design.n_v.min(all.threads);
                TileCounts { lane_rounds: (all.lane_rounds as u64).div_ceil(lanes as u64) as i64, ..all }
            };
            let counts: Vec<TileCounts> = (0..family.forms.classes()).map(with_lanes).collect();
            let threads = counts.iter().map(|own| own.threads).max();
            if threads.is_some_and(|own| subject.threads.numbers().contains(&own)) {
                consider(&counts, &hardware);
            }
        }
    }
    for (&strategy, &threads) in workload
        .strategies
        .iter()
        .filter(|own| !LISTED.contains(&own.id()))
        .flat_map(|strategy| subject.threads.numbers().iter().map(move |n| (strategy, n)))
    {
        let on = Multiprocessor { lanes: design.n_v.min(threads), ..hardware.multiprocessor() };
        let of = |counts: TileCounts| TileCounts { threads, registers, ..counts };
        for family in forms(strategy).families(&problem, &on, Some(40)) {
            let forms = &family.forms;
            let [axis0, axis1, axis2] = family.axes;
            if strategy.id() == "hhc" {
                for s1 in (0..axis1.count).map(|index| axis1.at(index)) {
                    for s2 in (0..axis2.count).map(|index| axis2.at(index)) {
                        for s0 in (0..axis0.count).map(|index| axis0.at(index)) {
                            if forms.tile_bytes([s0, s1, s2]) > hardware.shared_per_block_bytes {
                                break;
                            }
                            consider(&[of(forms.counts(0, [s0, s1, s2]))], &hardware);
                        }
                    }
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
                        let of_class = |class| of(forms.counts(class, [s0, s1, 1]));
                        let counts: Vec<TileCounts> = (0..forms.classes()).map(of_class).collect();
                        consider(&counts, &hardware);
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
                let found = weighed.all.cost;
                let same = relative_eq!(found, cost, epsilon = 0.0, max_relative = 1e-9);
                assert!(same, "{design}: {found} by search, {cost} by enumeration");
            }
            None => assert!(cost.is_infinite(), "{design}: {cost} by enumeration, not evaluated"),
        }
        best = best.min(cost);
    }
    assert!(relative_eq!(study.certificate.value, best, epsilon = 0.0, max_relative = 1e-9));
    assert_eq!(study.certificate.bound, study.certificate.value);
    assert!(
        study.certificate.tiles_evaluated * 3 < study.certificate.tiles_candidates,
        "{:?}",
        study.certificate
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random designs, constants, threads, stencils and objectives.
    #[test]
    fn exact_is_exhaustive(
        (stencil, size, steps) in prop::sample::select(vec![
            ("heat1d", "3000", 40), ("jacobi2d", "150x140", 7), ("wave2d", "90x100", 6), ("gradient2d", "64x200", 12),
            ("heat3d", "24x30x40", 5), ("laplacian3d", "40x20x33", 4),
        ]),
        objective in prop::sample::select(vec!["gflops", "time", "energy", "edp"]),
        bandwidth in prop::sample::select(vec!["paper", "physical", "total"]),
        (n_sm, lanes, m_sm_kb) in (1i64..30, 1i64..12, 3i32..16),
        l2_kb in prop::sample::select(vec![0, 16, 200, 100_000]),
        threads in prop::collection::btree_set(1i64..20, 1..4),
        (l, tau, launch, c_iter) in (-12.0..-9.0, -10.0..-8.0, -7.0..-5.0, -9.0..-7.0),
        strategies in prop::sample::select(vec![
            "hhc", "hhc naive", "hhc warp-pipeline streaming", "warp-pipeline streaming", "hhc naive warp-pipeline",
        ]),
        power in prop::option::weighted(0.3, 20..120),
    ) {
        // The enumeration of plain sweeps is for two dimensions at most.
        let chosen = strategies.split(' ').filter(|own| !(stencil.ends_with("3d") && *own == "naive"));
        let strategies: Vec<&str> = chosen.collect();
        let listed = [128].into_iter().filter(|_| strategies.len() > 1);
        let threads: BTreeSet<i64> = threads.into_iter().map(|warps| 32 * warps).chain(listed).collect();
        let threads: Vec<i64> = threads.into_iter().collect();
        let power = power.map_or(String::new(), |watts| format!("power_w = {watts}"));
        let ten = |exponent: f64| 10_f64.powf(exponent);
        let text = format!(
            "name = \"random\"\ndescription = \"for tests\"\nfamily = \"maxwell\"\nobjective = \"{objective}\"\n\
             strategies = {strategies:?}\nthreads = {threads:?}\n[budget]\narea_high_mm2 = 1e5\n{power}\n\
             [hardware]\nn_sm = {n_sm}\nn_v = {}\nm_sm_kb = {m_sm_kb}\nbandwidth = \"{bandwidth}\"\nl2_kb = {l2_kb}\n\
             [constants]\nl_s_per_word = {:e}\ntau_sync_s = {:e}\nt_sync_s = {:e}\n\
             [[stencil]]\nspec = \"{stencil}\"\nsizes = [\"{size}\"]\nsteps = [{steps}]\nc_iter_s = {:e}\n",
            32 * lanes, ten(l), ten(tau), ten(launch), ten(c_iter),
        );
        let Ok(setting) = Setting::new(parse(&text).unwrap()) else { return Ok(()) };
        let design = Design { n_sm, n_v: 32 * lanes, m_sm_kb: f64::from(m_sm_kb), r_vu_kb: 2.0, l1_kb: 0.0, l2_kb: f64::from(l2_kb) };
        let subject = &setting.subjects[0];
        let found = setting.evaluate(&design, &mut Effort::default()).remove(0);
        let cost = found.map(|outcomes| {
            let Outcome { seconds, joules, .. } = outcomes[0];
            setting.workload.objective.cost(seconds, joules, subject.flops[0])
        });
        match (cost, least_cost(&setting, subject, 0, &design)) {
            (Some(found), Some(least)) => {
                prop_assert!(relative_eq!(found, least, epsilon = 0.0, max_relative = 1e-9), "{} by search, {} by enumeration\n{}", found, least, text);
            }
            (found, least) => prop_assert!(found.is_none() && least.is_none(), "{:?} {:?}\n{}", found, least, text),
        }
    }
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
