//! Workload files: the shipped ones are right, and wrong ones are refused with the place.

use crate::{SMALL, parse, parse_with};
use approx::{assert_relative_eq, relative_eq};
use cost_models::area::{Family, Term};
use optimizer::codesign::design::Design;
use optimizer::codesign::setting::Setting;
use optimizer::codesign::sweep::{Control, sweep};
use optimizer::codesign::workload::Workload;
use optimizer::codesign::{CodesignError, run};

/// Line and place of every problem.
fn problems(text: &str) -> Vec<(usize, String)> {
    let error = parse(text).unwrap_err();
    error.problems.iter().map(|problem| (problem.line, problem.place.clone())).collect()
}

fn line_of(text: &str, part: &str) -> usize {
    text.lines().position(|line| line.contains(part)).unwrap() + 1
}

#[test]
fn shipped_workloads_are_read() {
    for name in Workload::names() {
        let workload = parse(Workload::source(name).unwrap()).unwrap();
        assert_eq!(workload.name, name);
        let weights: f64 = workload.stencils.iter().map(|load| load.weight).sum();
        assert_relative_eq!(weights, 1.0, max_relative = 1e-12);
        assert!(!workload.space.within(&workload.family.area, workload.budget.area_mm2).is_empty());
    }
    let paper = parse(Workload::source("paper").unwrap()).unwrap();
    assert_eq!(paper.stencils.len(), 6);
    assert_eq!(paper.stencils.iter().map(|load| load.runs.len()).sum::<usize>(), 4 * 20 + 2 * 15);
    assert_eq!(paper.formulation(true), "system codesign");
    assert_eq!(
        parse(Workload::source("today").unwrap()).unwrap().formulation(false),
        "multi-metric super application codesign"
    );
}

#[test]
fn wrong_values_are_refused_with_their_place() {
    // What stands in the file, what replaces it, the place of the problem, and a part of its message.
    let cases = [
        ("spec = \"heat1d\"", "spec = \"heat9d\"", "stencil[1].spec", "there is no stencil `heat9d`"),
        ("area_high_mm2 = 220", "area_high_mm2 = 90", "budget.area_high_mm2", "the budget is empty"),
        ("weight = 2", "weight = -1", "stencil[0].weight", "between 0 and 1000000000"),
        ("weight = 2", "weight = 0", "stencil[0].weight", "must be positive"),
        ("to = 15", "to = 1", "hardware.n_sm.to", "the range is empty"),
        ("step = 4", "step = 0", "hardware.n_sm.step", "no end"),
        ("step = 4", "step = nan", "hardware.n_sm.step", "must be a number"),
        ("[32, 96, 160]", "[33]", "hardware.n_v", "no multiple of 32"),
        ("[32, 96, 160]", "[]", "hardware.n_v", "not empty"),
        ("[32, 96, 160]", "4096", "hardware.n_v", "between 32 and 1024"),
        ("[6, 14.5, 20]", "[-6]", "hardware.m_sm_kb", "between"),
        ("objective = \"gflops\"", "objective = \"speed\"", "objective", "\"gflops\" or \"time\""),
        ("family = \"maxwell\"", "family = \"pascal\"", "family", "there is no family `pascal`"),
        ("[\"100000\"]", "[\"100x100\"]", "stencil[1].sizes", "has 2 extents"),
        ("[\"100000\"]", "[\"2\"]", "stencil[1].sizes", "too small"),
        ("steps = [64]", "steps = [0]", "stencil[1].steps", "between 1 and"),
        ("steps = [64]", "", "stencil[1].steps", "missing"),
        (
            "sizes = [\"300x411\", \"512x512\"]\nsteps = [30, 101]",
            "sizes = [\"16777216x16777216\"]\nsteps = [1000000000]",
            "stencil[0].steps",
            "more than 1e18 iterations",
        ),
        ("gflops = 500", "gflops = -5", "stencil[0].reference.gflops", "between"),
        (
            "spec = \"heat1d\"",
            "spec = \"heat1d\"\nname = \"heat2d\"",
            "stencil[1].name",
            "is in the workload already",
        ),
        ("family = \"maxwell\"", "family = \"maxwell\"\nfmaily = 3", "fmaily", "there is no such value"),
        (
            "family = \"maxwell\"",
            "family = \"maxwell\"\nstrategies = [\"diamond\"]",
            "strategies",
            "no strategy `diamond`",
        ),
    ];
    for (from, to, place, message) in cases {
        assert!(SMALL.contains(from), "{from}");
        let text = SMALL.replacen(from, to, 1);
        let error = parse(&text).unwrap_err();
        let found = error.problems.iter().find(|problem| problem.place == place);
        let found = found.unwrap_or_else(|| panic!("{place} is not named: {error}"));
        assert!(found.reason.contains(message), "{found}");
        if text.contains(to) && !to.is_empty() {
            assert_eq!(found.line, line_of(&text, to.lines().last().unwrap()), "{error}");
        }
        assert!(error.to_string().contains(&format!("w.toml:{}: {place}: ", found.line)), "{error}");
    }
}

#[test]
fn several_problems_are_named_together_and_in_order() {
    let text = SMALL
        .replace("weight = 2", "weight = -2")
        .replace("heat1d", "heat7d")
        .replace("[32, 96, 160]", "\"many\"");
    let problems = problems(&text);
    let places: Vec<&str> = problems.iter().map(|(_, place)| place.as_str()).collect();
    assert_eq!(places, ["hardware.n_v", "stencil[0].weight", "stencil[1].spec"]);
    assert_eq!(problems_of("name = = 3"), 1);
    assert!(problems_of("") >= 5);
}

fn problems_of(text: &str) -> usize {
    problems(text).len()
}

#[test]
fn requests_that_cannot_be_met_say_what_would() {
    let large = SMALL.replace("[6, 14.5, 20]", "[65536]").replace("steps = [64]", "steps = [100000]");
    let large = large.replace("objective = \"gflops\"", "objective = \"energy\"");
    // Twelve million tiles are made before they are too many.
    if std::env::var_os("TILEWRIGHT_ALL").is_some() {
        let error = Setting::new(parse(&large).unwrap()).unwrap_err();
        assert!(
            matches!(error, CodesignError::TooManyTiles { .. })
                && error.to_string().contains("take a smaller m_sm_kb"),
            "{error}"
        );
    }
    let text = SMALL
        .replace("area_low_mm2 = 100", "area_low_mm2 = 900")
        .replace("area_high_mm2 = 220", "area_high_mm2 = 990");
    let workload = parse(&text).unwrap();
    let setting = Setting::new(workload).unwrap();
    let error = sweep(&setting, setting.workload.budget.area_mm2, &Control::NONE).unwrap_err();
    assert!(
        matches!(error, CodesignError::EmptyBudget { .. }) && error.to_string().contains("reach from"),
        "{error}"
    );

    let error = Setting::new(parse(&SMALL.replace("m_sm_kb = 16", "m_sm_kb = 0.25")).unwrap()).unwrap_err();
    assert!(error.to_string().contains("fits its reference design"), "{error}");

    let text = SMALL.replace("area_high_mm2 = 220", "area_high_mm2 = 220\npower_w = 0.01");
    let error = run(&Setting::new(parse(&text).unwrap()).unwrap(), &Control::NONE).unwrap_err();
    assert!(error.to_string().contains("no more than 0.01 W"), "{error}");
}

/// A GPU as a data sheet describes it: what it leaves out is assumed, and noted.
const DATA_SHEET: &str = r#"name = "new"
kind = "gpu"
description = "a GPU from its data sheet"
[facts]
n_sm = 60
n_v = 128
clock_hz = 2.2e9
bandwidth_bytes_per_s = 9.0e11
m_sm_kb = 100
l2_kb = 65536
area_mm2 = 380
tdp_w = 300
"#;

#[test]
fn a_new_gpu_from_a_data_sheet_is_studied() {
    let workload = r#"name = "new"
description = "how a die of its size is best divided"
base = "new.toml"
objective = "edp"
[budget]
area_high_mm2 = 400
[hardware]
n_sm = [40, 60, 80]
n_v = [64, 128]
m_sm_kb = [48, 100]
l2_kb = [0, 65536]
bandwidth = "total"
[[stencil]]
spec = "heat2d"
sizes = ["1024x1024"]
steps = [100]
"#;
    assert!(DATA_SHEET.lines().count() + workload.lines().count() <= 30);
    let workload = parse_with(workload, &[("new.toml", DATA_SHEET)]).unwrap();
    let facts = workload.family.facts().unwrap();
    for assumed in ["compute_capability", "warp", "threads_per_sm", "r_vu_kb"] {
        assert!(facts.assumed.iter().any(|own| own == assumed), "{:?}", facts.assumed);
    }
    let calibration = workload.family.base.calibration.clone().unwrap();
    let l_s_per_word = calibration.l_s_per_word.value;
    assert_relative_eq!(l_s_per_word, 4.0 * 60.0 / 9.0e11, epsilon = 0.0, max_relative = 1e-9);
    let die = workload.family.area.total(&Design::from(facts));
    assert_relative_eq!(die, 380.0, max_relative = 1e-12);
    let setting = Setting::new(workload).unwrap();
    let study = run(&setting, &Control::NONE).unwrap();
    assert!(study.designs.iter().any(|weighed| weighed.design.l2_kb > 0.0));
    // The grid fits the cache, which is worth its area.
    let of = |l2_kb: f64| {
        let own = study.designs.iter().filter(|weighed| weighed.design.l2_kb == l2_kb);
        own.map(|weighed| weighed.all.seconds).fold(f64::INFINITY, f64::min)
    };
    assert!(of(65536.0) < of(0.0), "{} {}", of(65536.0), of(0.0));

    // What calibration writes is a base, too: its constants are what the study uses.
    let measured = format!(
        "{DATA_SHEET}[calibration]\nprovenance = \"measured\"\nsource = \"x\"\nl_s_per_word = 5e-10\n"
    );
    let text = r#"name = "new"
description = "calibrated"
family = "ada"
base = "new.toml"
objective = "gflops"
[budget]
area_high_mm2 = 700
[hardware]
n_sm = 60
n_v = 128
m_sm_kb = 100
[[stencil]]
spec = "heat2d"
sizes = ["256x256"]
steps = [10]
"#;
    let setting = Setting::new(parse_with(text, &[("new.toml", &measured)]).unwrap()).unwrap();
    assert_eq!(setting.subjects[0].time.l_s_per_word, 5e-10);
    assert!(setting.workload.family.name == "ada" && setting.base.n_sm == 60);

    let error = parse_with(&text.replace("new.toml", "gtx981"), &[]).unwrap_err();
    assert!(error.to_string().contains("there is no GPU `gtx981`"), "{error}");
    let error = parse_with(&text.replace("new.toml", "zen4"), &[]).unwrap_err();
    assert!(error.to_string().contains("is a CPU"), "{error}");
}

/// Every family has the area of the die that it is solved from, and designs that run.
#[test]
fn every_family_can_be_studied() {
    for name in Family::names() {
        let family = Family::shipped(name).unwrap().unwrap();
        let facts = family.facts().unwrap().clone();
        let area = family.area.total(&Design::from(&facts));
        if let (false, Some(known)) = (family.calibrated.term == Term::Given, facts.area_mm2) {
            assert!(relative_eq!(area, known, max_relative = 1e-9), "{name}: {area}");
        }
        let text = format!(
            "name = \"x\"\ndescription = \"y\"\nfamily = \"{name}\"\nobjective = \"edp\"\n\
             strategies = [\"hhc\", \"naive\"]\n[budget]\narea_high_mm2 = 1e5\n[hardware]\nn_sm = {}\nn_v = {}\n\
             m_sm_kb = {}\nl2_kb = {}\nr_vu_kb = {}\n[[stencil]]\nspec = \"jacobi2d\"\nsizes = [\"512x512\"]\nsteps = [10]\n",
            facts.n_sm, facts.n_v, facts.m_sm_kb, facts.l2_kb, facts.r_vu_kb,
        );
        let setting = Setting::new(parse(&text).unwrap()).unwrap();
        let study = run(&setting, &Control::NONE).unwrap();
        assert!(study.best().all.gflops > 0.0 && study.best().all.gflops.is_finite(), "{name}");
    }
}
