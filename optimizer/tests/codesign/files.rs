//! Workload files: the shipped ones are right, and wrong ones are refused with the place.

use crate::{SMALL, parse};
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
        assert!((weights - 1.0).abs() < 1e-12);
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
