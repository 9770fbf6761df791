//! What models say about a cost adds up: formulas have the values of their terms, losses lead from the ideal time to the
//! predicted one, and times react to constants as sums of products do. On GPUs and on CPUs by the same trait.

use approx::relative_eq;
use cost_models::cpu::{CoreRange, CpuCost};
use cost_models::explain::{Explanation, Part};
use cost_models::gpu::{GpuCost, TimeModel};
use cost_models::machine::{Energy, Machine, Provenance, shipped};
use cost_models::model::{Cost, CostModel};
use hhc_codegen::counts::Problem;
use hhc_codegen::counts::cores::CoreCounts;
use hhc_codegen::strategy::{self, Strategy, Target};
use std::sync::Arc;

/// The value of a formula with its numbers.
fn value(part: &Part) -> f64 {
    let spaced = part.formula.replace('(', " ( ").replace(')', " ) ");
    let mut tokens: Vec<&str> = spaced.split_whitespace().rev().collect();
    let value = sum(part, &mut tokens);
    assert!(tokens.is_empty(), "{part:?}");
    value
}

fn sum(part: &Part, tokens: &mut Vec<&str>) -> f64 {
    let mut value = product(part, tokens);
    while let Some(&operator @ ("+" | "-")) = tokens.last() {
        tokens.pop();
        let term = product(part, tokens);
        value += if operator == "+" { term } else { -term };
    }
    value
}

fn product(part: &Part, tokens: &mut Vec<&str>) -> f64 {
    let mut value = factor(part, tokens);
    while let Some(&operator @ ("*" | "/")) = tokens.last() {
        tokens.pop();
        let factor = factor(part, tokens);
        value = if operator == "*" { value * factor } else { value / factor };
    }
    value
}

fn factor(part: &Part, tokens: &mut Vec<&str>) -> f64 {
    let token = tokens.pop().unwrap();
    if token == "ceil" {
        return factor(part, tokens).ceil();
    }
    if token == "(" {
        let value = sum(part, tokens);
        assert_eq!(tokens.pop(), Some(")"), "{part:?}");
        return value;
    }
    token.parse().unwrap_or_else(|_| {
        let mut named = part.numbers.iter().filter(|number| number.symbol == token);
        let number = named.next().unwrap_or_else(|| panic!("{token} in {part:?}"));
        assert!(named.next().is_none(), "{token} twice in {part:?}");
        number.value
    })
}

fn close(a: f64, b: f64) -> bool {
    relative_eq!(a, b, max_relative = 1e-9)
}

fn check(what: &str, cost: &Cost, why: &Explanation) {
    for part in &why.breakdown {
        assert!(close(value(part), part.value), "{what}: {} is not {part:?}", value(part));
        let unused = part.numbers.iter().find(|number| !part.formula.contains(&number.symbol));
        assert!(unused.is_none(), "{what}: {unused:?} in {part:?}");
    }
    let total = |unit: &str, name: Option<&str>| {
        let wanted = |part: &&Part| part.unit == unit && name.is_none_or(|name| part.name == name);
        why.breakdown.iter().filter(wanted).map(|part| part.value).sum::<f64>()
    };
    let prediction = &cost.prediction;
    assert!(close(total("s", None), prediction.seconds), "{what}");
    for (name, seconds) in [
        ("compute", prediction.terms.compute),
        ("transfer", prediction.terms.transfer),
        ("barrier", prediction.terms.barrier),
        ("launch", prediction.terms.launch),
    ] {
        assert!(close(total("s", Some(name)), seconds), "{what}: {name}");
    }
    assert!(close(total("J", None), cost.joules().unwrap()), "{what}");
    let shares: f64 = why.breakdown.iter().map(|part| part.share).sum();
    assert!(close(shares, 2.0), "{what}: {shares}");
    let losses: f64 = why.losses.iter().map(|loss| loss.seconds).sum();
    assert!(close(why.ideal_s + losses, prediction.seconds), "{what}");
    // Time is a sum of terms that are linear in the constants.
    let constants = why.sensitivities.iter().filter(|own| !["n_sm", "n_v", "cores"].contains(&own.parameter));
    let elasticities: f64 = constants.map(|own| own.elasticity).sum();
    assert!((elasticities - 1.0).abs() < 2e-3, "{what}: {elasticities}");
}

fn each(mut visit: impl FnMut(&str, Problem, &'static dyn Strategy)) {
    for (name, size) in
        [("heat1d", &[5000][..]), ("heat2d", &[300, 260]), ("fdtd2d", &[150, 130]), ("heat3d", &[40, 50, 60])]
    {
        let program = Arc::new(polyhedral::shipped::load(name).unwrap());
        for &strategy in strategy::all() {
            let problem = Problem::new(&program, size, 12).unwrap();
            if strategy.takes(&program, &problem.cone).is_ok() {
                visit(&format!("{name}, {}", strategy.id()), problem, strategy);
            }
        }
    }
}

#[test]
fn on_gpus() {
    let machine = shipped("gtx980").unwrap().unwrap();
    each(|what, problem, strategy| {
        if strategy.for_target(&problem.program, Target::Cuda).is_err() {
            return;
        }
        let tile = strategy.default_tile(&problem.program, &problem.cone, Target::Cuda);
        let forms = [TimeModel::Counted, TimeModel::Paper];
        for (form, k) in forms.into_iter().flat_map(|form| [(form, 1), (form, 2), (form, 3)]) {
            let model = GpuCost::by(form, &problem, &machine).unwrap();
            let count = |model: &GpuCost| model.counts(&problem, strategy, &tile, k).ok();
            let counts = count(&model).unwrap();
            check(&format!("{what}, {form}, k = {k}"), &model.cost(&counts), &model.explain(&count).unwrap());
            assert!(close(model.spend(&counts).joules(), model.cost(&counts).joules().unwrap()));
        }
    });
}

#[test]
fn on_cpus() {
    let machine = shipped("zen4").unwrap().unwrap();
    each(|what, problem, strategy| {
        let Problem { program, cone, size, steps, .. } = &problem;
        let tile = strategy.default_tile(program, cone, Target::OpenMp);
        let mut model = CpuCost::new(&machine, program, cone, size, *steps).unwrap();
        model.energy = Some(Energy {
            e_glob_j: 1e-9,
            e_shared_j: 1e-11,
            e_flop_j: 5e-12,
            e_sync_j: 0.0,
            e_launch_j: 1e-6,
            p_static_w: 30.0,
            provenance: Provenance::Stated,
            source: "round numbers".to_owned(),
        });
        let count = |model: &CpuCost| model.counts(strategy, &tile).ok();
        let counts = count(&model).unwrap();
        let cost = model.cost(&counts);
        check(what, &cost, &model.explain(&count).unwrap());
        // Caches that are too small forbid nothing.
        assert!(cost.feasible() && model.fits(&counts) && cost.constraints.len() == 2, "{what}");
        if let CoreCounts::Tiles(outer, inner) = counts {
            let bounds = model.bounds(&CoreRange::Least(outer, inner));
            assert_eq!(bounds.least, model.spend(&counts), "{what}");
        }
    });
}

/// A machine without energies has times all the same.
#[test]
fn without_energies() {
    let machine = Machine::parse("core.toml", include_str!("core.toml")).unwrap();
    let program = polyhedral::shipped::load("jacobi2d").unwrap();
    let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
    let model = CpuCost::new(&machine, &program, &cone, &[90, 100], 5).unwrap();
    let (strategy, count) =
        (strategy::preferred(), |model: &CpuCost, tile: &_| model.counts(strategy::preferred(), tile).ok());
    let tile = strategy.default_tile(&program, &cone, Target::OpenMp);
    let why = model.explain(&|model| count(model, &tile)).unwrap();
    let counts = count(&model, &tile).unwrap();
    assert!(why.breakdown.iter().all(|part| part.unit == "s") && model.cost(&counts).energy.is_none());
    // Its only cache is the last one.
    let names: Vec<_> = model.cost(&counts).constraints.iter().map(|own| own.name).collect();
    assert_eq!(names, ["window_in_last_cache"]);
    assert_eq!(model.spend(&counts).joules(), 0.0);
}
