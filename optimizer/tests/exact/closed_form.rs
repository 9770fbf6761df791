//! The closed form against the exact search.

use super::of;
use cost_models::gpu::{GpuCost, TimeModel};
use cost_models::machine;
use hhc_codegen::counts::Problem;
use hhc_codegen::strategy::Strategy;
use optimizer::{Choice, Family, Infeasible, Method, Objective, Request, tune};
use polyhedral::program::Program;
use polyhedral::shipped;
use rayon::prelude::*;
use std::sync::Arc;

/// On grids with far more tiles than multiprocessors and with fewer, by both forms of the model, against the exact search among
/// all strategies. docs/models.md has all stencils, machines and more grids.
#[test]
fn the_closed_form_is_near_the_optimum() {
    let mut cases: Vec<(&str, &[i64], i64)> =
        vec![("heat1d", &[100_000], 100), ("heat2d", &[4096, 4096], 1024), ("star3d2r", &[60, 50, 70], 12)];
    if std::env::var_os("TILEWRIGHT_ALL").is_some() {
        cases.extend([("gradient2d", &[1000, 1000][..], 100), ("box3d1r", &[128, 128, 128], 50)]);
    }
    let mut ratios = Vec::new();
    let mut few_tiles = 0;
    for (name, size, steps) in cases {
        let program = Arc::new(shipped::load(name).unwrap());
        let problem = Problem::new(&program, size, steps).unwrap();
        for machine in ["gtx980", "h100"].into_iter().filter_map(machine::shipped).map(Result::unwrap) {
            for form in [TimeModel::Paper, TimeModel::Counted] {
                let model = GpuCost::by(form, &problem, &machine).unwrap();
                let auto = Request::of_model(&problem, model, Objective::Time);
                let rule = tune(&auto, Method::ClosedForm).unwrap();
                assert!(!rule.certificate.optimal() && rule.certificate.evaluated <= 1000);
                // The search by the counted form takes longer: once is enough.
                if form == TimeModel::Paper || name == "heat2d" {
                    let exact = tune(&auto, Method::Exact).unwrap();
                    let ratio = rule.certificate.value / exact.certificate.value;
                    assert!((1.0 - 1e-9..2.0).contains(&ratio), "{name} {}: {ratio}", machine.name);
                    ratios.push(ratio.ln());
                    let Choice { tile, k, strategy } = &rule.choice;
                    let (family, sizes) =
                        Family::of_tile(&problem, &auto.model.hardware, of(strategy), tile).unwrap();
                    let least = k * auto.model.hardware.n_sm;
                    few_tiles += usize::from(family.counts(0, sizes).tiles_per_wavefront < least);
                }
            }
        }
    }
    let mean = (ratios.iter().sum::<f64>() / ratios.len() as f64).exp();
    assert!(mean < 1.05, "{mean}");
    assert!(few_tiles > 1, "some wavefronts have fewer tiles than fit: {few_tiles}");
}

/// The figures of docs/models.md: `cargo test --release -p tilewright-optimizer --test exact -- --ignored --nocapture closed_form`.
#[test]
#[ignore = "minutes of exact searches"]
fn the_closed_form_of_all_strategies_that_have_forms() {
    let grids: [&[(&[i64], i64)]; 3] = [
        &[(&[5000], 100), (&[1 << 16], 500), (&[1 << 20], 1000)],
        &[(&[300, 260], 24), (&[1000, 1000], 100), (&[4096, 4096], 1024), (&[8192, 8192], 4096)],
        &[(&[60, 50, 70], 12), (&[128, 128, 128], 50), (&[256, 256, 256], 100), (&[512, 512, 512], 512)],
    ];
    let gpus = ["gtx980", "titanx", "k40c", "v100", "a100", "h100", "h200"];
    for (form, most) in [(TimeModel::Paper, usize::MAX), (TimeModel::Counted, 2)] {
        let mut cases = Vec::new();
        for name in shipped::names() {
            let program = Arc::new(shipped::load(name).unwrap());
            for (size, steps) in grids[program.dimension() - 1].iter().take(most) {
                cases.extend(gpus.map(|gpu| (name, program.clone(), *size, *steps, gpu)));
            }
        }
        let of_case =
            |(name, program, size, steps, gpu): &(&'static str, Arc<Program>, &[i64], i64, &str)| {
                let problem = Problem::new(program, size, *steps).unwrap();
                let machine = machine::shipped(gpu).unwrap().unwrap();
                let model = GpuCost::by(form, &problem, &machine).unwrap();
                let own = Request::of_model(&problem, model, Objective::Time);
                let ratio = |strategies: Vec<&'static dyn Strategy>| {
                    let own = Request { strategies, ..own.clone() };
                    let rule = tune(&own, Method::ClosedForm).ok()?;
                    assert!(rule.certificate.evaluated <= 1000, "{name} {size:?} {gpu}");
                    Some(rule.certificate.value / tune(&own, Method::Exact).ok()?.certificate.value)
                };
                let hhc = ratio(vec![of("hhc")]);
                let all = ratio(own.strategies.clone());
                let naive = Request { strategies: vec![of("naive")], ..own.clone() };
                let refused = matches!(tune(&naive, Method::ClosedForm), Err(Infeasible::NoFace { .. }));
                assert!(refused, "tiles without a face");
                (format!("{name} {size:?} {gpu}"), hhc, all)
            };
        let found: Vec<(String, Option<f64>, Option<f64>)> = cases.par_iter().map(of_case).collect();
        for (what, pick) in [("hhc", 0), ("all", 1)] {
            let ratios: Vec<(f64, &String)> = (found.iter())
                .filter_map(|(case, hhc, all)| Some((if pick == 0 { (*hhc)? } else { (*all)? }, case)))
                .collect();
            let mean = (ratios.iter().map(|(own, _)| own.ln()).sum::<f64>() / ratios.len() as f64).exp();
            let worst = ratios.iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            println!(
                "{form}, {what}: {} cases, mean {mean:.4}, worst {:.3} ({})",
                ratios.len(),
                worst.0,
                worst.1
            );
            assert!(mean <= 1.2 && worst.0 <= 2.0, "{form}, {what}");
        }
    }
}
