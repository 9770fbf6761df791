//! Constants that vary: regrets against sweeps with the same constants.

use crate::{SMALL, setting};
use approx::relative_eq;
use optimizer::codesign::setting::Setting;
use optimizer::codesign::study::Study;
use optimizer::codesign::sweep::Control;
use optimizer::codesign::uncertainty::{Ranges, Uncertainty, uncertainty};

fn sampled(setting: &Setting, study: &Study, ranges: &str, samples: usize) -> Uncertainty {
    let ranges = Ranges::parse(ranges, setting).unwrap();
    uncertainty(setting, study, &ranges, (samples, 7), &Control::NONE).unwrap()
}

#[test]
fn regrets_are_those_of_sweeps_with_other_constants() {
    // One grid each, and few designs: each comparison is a sweep.
    let few = SMALL.replace(r#"["300x411", "512x512"]"#, r#"["150x211"]"#).replace("[30, 101]", "[20]");
    let few = few.replace("100000", "4000").replace("[64]", "[16]");
    let setting = setting(&few.replace("[6, 14.5, 20]", "[6, 10]"));
    let study = optimizer::codesign::run(&setting, &Control::NONE).unwrap();
    // Nothing varies: the best design has no regret, and no measurement is worth anything.
    let fixed = sampled(&setting, &study, "l = 1.0\nc_iter = 1.0\n", 16);
    assert_eq!((fixed.nominal.best, fixed.nominal.most_regret, fixed.nominal.cost), (1.0, 0.0, [1.0; 3]));
    assert_eq!(fixed.nominal.design, study.best().design);
    assert!(fixed.constants.iter().all(|own| own.value_of_knowing == 0.0) && fixed.pool_gap == 0.0);

    // One value for each constant: costs are those of a sweep with it, whose tiles the pool has.
    let text =
        "l = { low = 3, high = 3 }\nc_iter = { low = 0.5, high = 0.5 }\nt_sync = { low = 2, high = 2 }\n";
    let moved = sampled(&setting, &study, text, 8);
    let mut changed = setting.clone();
    for subject in &mut changed.subjects {
        subject.time.l_s_per_word *= 3.0;
        subject.time.c_iter_s *= 0.5;
        subject.time.t_sync_s *= 2.0;
    }
    let exact = optimizer::codesign::run(&changed, &Control::NONE).unwrap();
    let least = exact.best().all.cost;
    for own in &moved.designs {
        let same = |study: &Study| {
            let at = study.designs.iter().find(|weighed| weighed.design == own.design);
            at.map_or(f64::NAN, |weighed| weighed.all.cost)
        };
        let (regret, cost) = (same(&exact) / least - 1.0, same(&exact) / same(&study));
        assert!(relative_eq!(own.mean_regret, regret, epsilon = 1e-9), "{own:?}: {regret}");
        // The pool never has better tiles than a search.
        assert!(own.cost[1] > cost * (1.0 - 1e-9) && own.cost[1] < cost * (1.0 + 1e-9), "{own:?}: {cost}");
    }
    assert!(moved.pool_gap < 1e-9, "{}", moved.pool_gap);

    // Shares are shares; regrets are ordered.
    let text = "l = 3.0\nc_iter = { sigma = 0.5 }\na_oh = 1.5\nc_iter_of.heat1d = 2.0\n";
    let one = sampled(&setting, &study, text, 64);
    assert_eq!(one.designs.len(), study.designs.len());
    for own in &one.designs {
        assert!(own.mean_regret <= own.most_regret && own.regret_95 <= own.most_regret, "{own:?}");
        assert!((0.0..=1.0).contains(&own.best) && own.best <= own.within_budget, "{own:?}");
    }
    assert!(one.robust.most_regret <= one.nominal.most_regret);
    assert!(one.least_mean.mean_regret <= one.robust.mean_regret);
    let names: Vec<&str> = one.constants.iter().map(|own| own.constant.as_str()).collect();
    assert!(names.len() == 4 && names.contains(&"C_iter of heat1d") && names.contains(&"a_oh of the area"));
}

#[test]
fn every_mistake_in_ranges_is_named() {
    let text =
        "l = 0.5\ntau = 2\nc_iter_of.heat3d = 2.0\nt_sync = { low = 3, high = 2 }\ne_glob = { sigma = -1 }\n";
    let problems = Ranges::parse(text, &setting(SMALL)).unwrap_err();
    let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5], "{problems:?}");
}
