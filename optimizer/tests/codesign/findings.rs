//! The paper's study on a thinned set of sizes: what the report says is computed, and adds up.

use crate::setting;
use approx::{assert_abs_diff_eq, assert_relative_eq};
use optimizer::codesign::setting::Setting;
use optimizer::codesign::sweep::Control;
use optimizer::codesign::workload::Workload;
use optimizer::codesign::{run, whatif};

/// The shipped study with one size and one number of steps per stencil, and every second `n_SM`.
fn thinned() -> Setting {
    let text = Workload::source("paper").unwrap();
    let lines = text.lines().map(|line| match line {
        line if line.starts_with("sizes = [\"4096") => "sizes = [\"8192x8192\"]".to_string(),
        line if line.starts_with("sizes = [\"384") => "sizes = [\"512x512x512\"]".to_string(),
        line if line.starts_with("steps = [1024") => "steps = [4096]".to_string(),
        line if line.starts_with("steps = [128") => "steps = [384]".to_string(),
        line if line.starts_with("n_sm = { from") => "n_sm = [8, 18, 22, 28, 32]".to_string(),
        line if line.starts_with("n_v = { from") => "n_v = [128, 160, 256, 288, 896]".to_string(),
        line if line.starts_with("m_sm_kb = { from") => "m_sm_kb = [12, 24, 96, 192]".to_string(),
        line => line.to_string(),
    });
    setting(&lines.collect::<Vec<_>>().join("\n"))
}

/// With the whole chip's `L`, and `tau_sync` and `T_sync` stated, `C_iter` alone meets all rates of Table 6.1.
#[test]
fn the_rates_of_table_6_1_are_met_by_one_machine() {
    let text = Workload::source("paper").unwrap();
    let lines = text.lines().map(|line| match line {
        line if line.starts_with("l_s_per_word =") => "",
        line if line.starts_with("tau_sync_s =") => "tau_sync_s = 7.96e-10",
        line if line.starts_with("t_sync_s =") => "t_sync_s = 9.24e-7",
        // Times per operation hardly depend on the number of steps.
        line if line.starts_with("steps = [1024") => "steps = [4096]",
        line if line.starts_with("steps = [128") => "steps = [384]",
        line => line,
    });
    let setting = setting(&lines.collect::<Vec<_>>().join("\n"));
    for (subject, cycles) in setting.subjects.iter().zip([12.0, 21.0, 16.0, 14.0, 25.0, 54.0]) {
        let fit = &subject.fit;
        assert_abs_diff_eq!(fit.residual().unwrap(), 0.0, epsilon = 0.01);
        assert_abs_diff_eq!(fit.c_iter_cycles, cycles, epsilon = 0.8);
        assert_relative_eq!(fit.l_s_per_word, 1.786e-11, epsilon = 0.0, max_relative = 1e-3);
        assert!(fit.flop_per_cycle_and_lane < 2.0);
    }
    let fit = setting.fit.unwrap();
    assert_eq!((fit.rates, fit.fitted.len(), fit.starts.len()), (6, 6, 2));

    // Read as one SM's share, no C_iter reaches any of them.
    let text = text.replace("bandwidth = \"paper\"", "bandwidth = \"physical\"");
    let lines = text.lines().filter(|line| !line.starts_with("l_s_per_word ="));
    let setting = crate::setting(&lines.collect::<Vec<_>>().join("\n"));
    assert!(setting.subjects.iter().all(|subject| subject.fit.residual().unwrap() < -0.01));
}

#[test]
fn the_study_of_the_paper() {
    let setting = thinned();
    // The designs of Table 6.1 reach its rates, by C_iter alone: L, tau_sync and T_sync are one for all stencils.
    for subject in &setting.subjects {
        let fit = &subject.fit;
        assert_abs_diff_eq!(fit.residual().unwrap(), 0.0, epsilon = 1e-3);
        let first = &setting.subjects[0].time;
        assert_eq!(
            (subject.time.l_s_per_word, subject.time.tau_sync_s, subject.time.t_sync_s),
            (first.l_s_per_word, first.tau_sync_s, first.t_sync_s)
        );
        let words_per_s = setting.base.bandwidth_bytes_per_s / 4.0;
        assert_relative_eq!(fit.l_s_per_word * words_per_s, 1.0, max_relative = 1e-3);
    }
    let fit = setting.fit.as_ref().unwrap();
    assert_eq!((fit.rates, fit.fitted.len(), fit.starts.len()), (6, 9, 5));
    assert!(fit.starts.iter().all(|start| start.fixed_point && start.sum_of_residuals < 1e-3), "{fit:?}");
    let study = run(&setting, &Control::NONE).unwrap();
    assert!(
        study.certificate.tiles_evaluated * 20 < study.certificate.tiles_candidates,
        "{:?}",
        study.certificate
    );

    // The best design for all is no better for a stencil than that stencil's own; its weights' interval holds its weight.
    for index in 0..setting.subjects.len() {
        let sensitivity = study.sensitivity(index);
        assert!(sensitivity.regret >= 0.0);
        assert!(sensitivity.stays_from <= sensitivity.share && sensitivity.share <= sensitivity.stays_to);
        // At the end of the interval another design is as good: beyond it the best changes.
        if sensitivity.stays_to < 0.999 {
            let share = sensitivity.stays_to + 1e-3;
            let rest = (1.0 - share) / (1.0 - sensitivity.share);
            let weights: Vec<f64> = (study.weights.iter().enumerate())
                .map(|(other, weight)| if other == index { share } else { weight * rest })
                .collect();
            assert_ne!(study.best_with(&weights), study.best);
        }
    }

    let overheads = whatif::overheads(&setting, &study);
    for overhead in &overheads {
        assert_relative_eq!(overhead.shares.sum(), 1.0, max_relative = 1e-9);
        assert!(overhead.ideal > 0.0 && overhead.ideal < 1.0);
        assert!(overhead.closed_form_loss.is_none_or(|loss| loss >= -1e-12), "{overhead:?}");
    }
    for effect in whatif::hyperthreading(&setting, &study) {
        let index = setting.subjects.iter().position(|subject| subject.load.name == effect.stencil).unwrap();
        let best = effect.by_k.iter().map(|(_, gflops)| *gflops).fold(0.0, f64::max);
        assert!(best <= study.best().stencils[index].gflops * (1.0 + 1e-9), "{effect:?}");
        assert!(effect.loss_largest_tile.is_none_or(|loss| loss >= -1e-12), "{effect:?}");
    }
    for wish in whatif::memory(&setting, &study) {
        assert!(wish.enough_m_sm_kb <= wish.best_m_sm_kb);
        assert!(wish.by_m_sm.iter().all(|(_, share)| *share <= 1.0 + 1e-12));
    }
    let shadows = whatif::shadows(&setting, &study);
    assert!(shadows.iter().any(|shadow| shadow.resource == "area_mm2"));
    for constant in ["c_iter_s", "l_s_per_word", "tau_sync_s", "t_sync_s"] {
        let shadow = shadows.iter().find(|shadow| shadow.resource == constant).unwrap();
        assert!(shadow.gain >= -1e-12, "less of a cost is no loss: {shadow:?}");
    }
    // Times are homogeneous in the constants: the elasticities of the rate add up to -1, but for the finite step.
    let sum: f64 =
        shadows.iter().filter(|shadow| shadow.gain_per_mm2.is_none()).map(|shadow| shadow.elasticity).sum();
    assert_abs_diff_eq!(sum, -1.0, epsilon = 0.05);

    let caches = whatif::caches(&setting, &study, &Control::NONE).unwrap();
    if let Some(caches) = caches {
        // Grids of hundreds of megabytes leave 2 MB nothing to answer.
        assert!(caches.groups.iter().all(|group| group.gain >= 0.0), "{caches:?}");
        assert!(caches.design.l2_kb > 0.0);
    }
    for chip in whatif::chips(&setting, &Control::NONE).unwrap() {
        assert!(chip.groups.iter().all(|group| group.best_area_mm2 <= chip.area_mm2 + 1e-9), "{chip:?}");
        assert_eq!(chip.groups.len(), 1 + 2 + 6);
    }
    // Threads as many as the stated designs have lanes make these the best ones, or nearly so; others do not.
    let under = whatif::threads(&setting, &study, &Control::NONE).unwrap();
    let near = |name: &str| {
        let own = under.iter().find(|own| own.name == name).unwrap();
        own.stencils.iter().filter(|own| own.stated.as_ref().unwrap().loss < 0.02).count()
    };
    assert!(near("fixed") >= 5 && near("control") < near("fixed"), "{under:?}");
    assert!(under[0].stencils.iter().all(|own| own.threads.is_none()));

    let formulations = whatif::formulations(&setting, &study);
    assert_eq!((formulations.len(), formulations[0].name.as_str()), (7, "system codesign"));
    assert_eq!(formulations[1].name, "application codesign");
}
