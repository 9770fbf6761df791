//! Workload files (TOML). Every problem is reported with its line; `docs/codesign.md` is the manual.

use super::design::{Bandwidth, Design, Space};
use super::threads::Threads;
use super::workload::{
    Budget, CIter, Constant, Keep, Load, MachineConstants, Objective, Reference, Run, Workload, strategies,
};
use cost_models::area::{Family, machine_of};
use cost_models::machine::{Problem, Section, read_document};
use hhc_codegen::strategy::Strategy;
use polyhedral::program::Program;
use std::fmt;
use std::sync::Arc;
use text_escape::suggest::nearest;

/// More lanes than a block has threads cannot be kept busy by one block: the limit of `n_V`.
const MOST_LANES: i64 = 1024;
/// Values that one unknown may have.
const MOST_VALUES: usize = 100_000;
/// Iterations of one execution.
const MOST_ITERATIONS: f64 = 1e18;
/// Designs that a space may have.
const MOST_DESIGNS: usize = 5_000_000;

/// Everything that is wrong with a workload file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct WorkloadError {
    /// Name of the file, or of the shipped workload.
    pub file: String,
    /// The problems, in order of their lines; at least one.
    pub problems: Vec<Problem>,
}

impl fmt::Display for WorkloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let many = if self.problems.len() == 1 { "problem" } else { "problems" };
        write!(f, "{} {many} in workload file {}", self.problems.len(), self.file)?;
        for problem in &self.problems {
            write!(f, "\n{}:{problem}", self.file)?;
        }
        Ok(())
    }
}

/// Name and text of the shipped workloads.
const SHIPPED: [(&str, &str); 2] = [
    ("paper", include_str!("../../workloads/paper.toml")),
    ("today", include_str!("../../workloads/today.toml")),
];

/// What a workload file refers to.
pub struct Sources<'a> {
    /// The program that `spec` names, or what is wrong with it.
    pub program: &'a dyn Fn(&str) -> Result<Arc<Program>, String>,
    /// The text of a family or machine file, or what is wrong with it.
    pub family: &'a dyn Fn(&str) -> Result<String, String>,
}

impl Workload {
    /// The names of the shipped workloads.
    pub fn names() -> Vec<&'static str> {
        SHIPPED.iter().map(|(name, _)| *name).collect()
    }

    /// The text of a shipped workload.
    pub fn source(name: &str) -> Option<&'static str> {
        SHIPPED.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
    }

    /// Reads a workload file; `file` is its name for messages.
    ///
    /// # Errors
    /// [`WorkloadError`] with every missing, impossible or unknown value and its line.
    pub fn parse(file: &str, text: &str, sources: &Sources<'_>) -> Result<Workload, WorkloadError> {
        let error = |problems| WorkloadError { file: file.to_string(), problems };
        match read_document(text, |section| read(section, sources)) {
            Ok(Some(workload)) => Ok(workload),
            Ok(None) => {
                Err(error(vec![Problem { line: 1, place: String::new(), reason: "it has no values".into() }]))
            }
            Err(problems) => Err(error(problems)),
        }
    }
}

fn read(section: &mut Section<'_, '_>, sources: &Sources<'_>) -> Option<Workload> {
    let name = section.text("name");
    let description = section.text("description");
    let family = family(section, sources);
    let objective = section.choice("objective", &Objective::ALL);
    let keep = match section.has("keep") {
        true => section.choice("keep", &[("all", Keep::All), ("front", Keep::Front)]),
        false => Some(Keep::All),
    };
    let strategies = chosen_strategies(section);
    let budget = section.table("budget", |budget| {
        let least = budget.optional_number("area_low_mm2", "mm2", 0.0..=1e6).unwrap_or(0.0);
        let most = budget.number("area_high_mm2", "mm2", 0.0..=1e6);
        if most < least || most <= 0.0 {
            let reason = format!("the budget is empty: no area lies between {least} and {most} mm2");
            budget.problem("area_high_mm2", reason);
        }
        let power_w = budget.optional_number("power_w", "W", 1e-3..=1e9);
        Budget { area_mm2: (least, most), power_w }
    });
    let warp = family.as_ref().and_then(Family::facts).map_or(32, |facts| facts.warp);
    let space = section.table("hardware", |hardware| space(hardware, warp));
    let most = family.as_ref().and_then(Family::facts).map_or(MOST_LANES, |facts| facts.threads_per_block);
    let threads = threads(section, warp).unwrap_or_else(|| Threads::up_to(most, warp));
    let constants = section.optional_table("constants", constants).unwrap_or_default();
    let mut stencils: Vec<Load> = Vec::new();
    let mut failed = !section.has("stencil");
    if failed {
        section.problem("stencil", "it is missing; at least one table [[stencil]] is needed");
    }
    let loads = section.tables("stencil", |stencil| {
        let load = load(stencil, sources, warp);
        if let Some(load) = &load
            && stencils.iter().any(|other| other.name == load.name)
        {
            let key = if stencil.has("name") { "name" } else { "spec" };
            stencil.problem(key, format!("`{}` is in the workload already; give it another name", load.name));
        }
        match load {
            Some(load) => stencils.push(load),
            None => failed = true,
        }
    });
    if loads.is_empty() && section.has("stencil") {
        section.problem("stencil", "the workload is empty; at least one table [[stencil]] is needed");
    }
    let total: f64 = stencils.iter().map(|load| load.weight).sum();
    if !failed && total <= 0.0 {
        section.problem("stencil", "all weights are 0; at least one must be positive");
    }
    stencils.iter_mut().for_each(|load| load.weight /= total);
    let fitted = [constants.l_s_per_word, constants.tau_sync_s, constants.t_sync_s];
    let references = stencils.iter().any(|load| matches!(load.c_iter, CIter::Fitted(_)));
    if !failed && !references && fitted.iter().any(|constant| constant.range.is_some()) {
        let reason = "a range is fitted to reference designs, and no stencil has one; state a number";
        section.problem("constants", reason);
        failed = true;
    }
    let workload = Workload {
        name,
        description,
        family: family?,
        objective: objective?,
        strategies,
        budget: budget?,
        space: space??,
        threads,
        constants,
        stencils,
        keep: keep?,
    };
    (!failed).then_some(workload)
}

/// The area model, and the machine that designs are in proportion to: `family`, its base replaced by `base` where that is
/// given; with `base` alone, the first family scaled to its die.
fn family(section: &mut Section<'_, '_>, sources: &Sources<'_>) -> Option<Family> {
    let before = section.problems();
    let name = section.optional_text("family");
    let base = section.optional_text("base");
    if section.problems() > before {
        return None;
    }
    let base = match base.map(|name| machine_of(&name, sources.family)) {
        Some(Err(reason)) => {
            section.problem("base", reason);
            return None;
        }
        Some(Ok(machine)) => Some(machine),
        None => None,
    };
    let Some(name) = name else {
        let Some(base) = base else {
            section.problem("family", "it is missing; the name of a family is needed, or `base`, a machine");
            return None;
        };
        let first = Family::names().first().and_then(|name| Family::shipped(name)?.ok());
        let like = first.and_then(|first| first.like(base));
        if like.is_none() {
            section.problem(
                "base",
                "its facts have no area_mm2: without a `family` nothing says what designs take",
            );
        }
        return like;
    };
    let family = match Family::shipped(&name) {
        Some(family) => family.map_err(|error| error.to_string()),
        None if name.ends_with(".toml") => (sources.family)(&name)
            .and_then(|text| Family::parse(&name, &text, sources.family).map_err(|error| error.to_string())),
        None => Err(format!(
            "there is no family `{name}`; there are {}, and files that end in .toml",
            Family::names().join(", ")
        )),
    };
    let family = family.map_err(|reason| section.problem("family", reason)).ok()?;
    Some(match base {
        Some(base) => family.on(base),
        None => family,
    })
}

fn chosen_strategies(section: &mut Section<'_, '_>) -> Vec<&'static dyn Strategy> {
    let Some(names) = section.texts("strategies") else { return strategies().take(1).collect() };
    let mut chosen: Vec<&'static dyn Strategy> = Vec::new();
    for name in names {
        match strategy_named(&name) {
            Ok(strategy) if !chosen.contains(&strategy) => chosen.push(strategy),
            Ok(_) => section.problem("strategies", format!("`{name}` is named twice")),
            Err(reason) => section.problem("strategies", reason),
        }
    }
    chosen
}

/// The strategy of this name among those that codesign can choose among.
///
/// # Errors
/// That there is none, with the nearest name and all names.
pub fn strategy_named(name: &str) -> Result<&'static dyn Strategy, String> {
    strategies().find(|strategy| strategy.id() == name).ok_or_else(|| {
        let known: Vec<&str> = strategies().map(|strategy| strategy.id()).collect();
        let hint = nearest(name, known.iter().copied());
        let hint = hint.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        format!("there is no strategy `{name}` with closed forms; there are {}{hint}", known.join(", "))
    })
}

fn space(section: &mut Section<'_, '_>, warp: i64) -> Option<Space> {
    let before = section.problems();
    let whole = |values: Vec<f64>| values.into_iter().map(|value| value.round() as i64).collect::<Vec<_>>();
    let n_sm = whole(range(section, "n_sm", "multiprocessors", 1.0, 4096.0, 1.0, None));
    let lanes = (warp as f64, MOST_LANES as f64);
    let n_v = whole(range(section, "n_v", "lanes, multiples of the warp", lanes.0, lanes.1, lanes.0, None));
    let m_sm_kb = range(section, "m_sm_kb", "kB per multiprocessor", 0.25, 65_536.0, 0.0, None);
    let r_vu_kb = range(section, "r_vu_kb", "kB per vector unit", 0.125, 1024.0, 0.0, Some(2.0));
    let l1_kb = range(section, "l1_kb", "kB per multiprocessor", 0.0, 1e6, 0.0, Some(0.0));
    let l2_kb = range(section, "l2_kb", "kB", 0.0, 1e9, 0.0, Some(0.0));
    let bandwidth = match section.has("bandwidth") {
        true => section.choice("bandwidth", &Bandwidth::ALL)?,
        false => Bandwidth::PerSm,
    };
    let space = Space { n_sm, n_v, m_sm_kb, r_vu_kb, l1_kb, l2_kb, bandwidth };
    let lengths = [&space.m_sm_kb, &space.r_vu_kb, &space.l1_kb, &space.l2_kb].map(Vec::len);
    let designs =
        [space.n_sm.len(), space.n_v.len()].iter().chain(&lengths).try_fold(1_usize, |product, len| {
            product.checked_mul(*len).filter(|product| *product <= MOST_DESIGNS)
        });
    if designs.is_none() {
        section
            .problem("n_sm", format!("the ranges have more than {MOST_DESIGNS} designs; take larger steps"));
    }
    (section.problems() == before).then_some(space)
}

/// The values of an unknown: a number, a list, or `{ from, to, step }`; all multiples of `unit_of` where it is positive.
fn range(
    section: &mut Section<'_, '_>,
    key: &str,
    unit: &str,
    low: f64,
    high: f64,
    unit_of: f64,
    default: Option<f64>,
) -> Vec<f64> {
    let mut values = if section.is_table(key) {
        section.table(key, |range| between(range, unit, low, high)).unwrap_or_default()
    } else if section.is_list(key) {
        section.numbers(key, unit, low..=high).unwrap_or_default()
    } else if section.has(key) || default.is_none() {
        vec![section.number(key, unit, low..=high)]
    } else {
        default.into_iter().collect()
    };
    values.sort_by(f64::total_cmp);
    values.dedup();
    if let Some(odd) = values.iter().find(|value| unit_of > 0.0 && *value % unit_of != 0.0) {
        section.problem(key, format!("{odd} is no multiple of {unit_of}"));
    }
    values
}

/// `{ from, to, step }`, both ends included.
fn between(range: &mut Section<'_, '_>, unit: &str, low: f64, high: f64) -> Vec<f64> {
    let before = range.problems();
    let (from, to) = (range.number("from", unit, low..=high), range.number("to", unit, low..=high));
    let step = range.number("step", unit, 0.0..=high);
    if range.problems() > before {
        return Vec::new();
    }
    if from > to {
        range.problem("to", format!("the range is empty: it begins at {from} and ends at {to}"));
        return Vec::new();
    }
    let steps = (to - from) / step;
    // With a step of 0 the quotient is infinite, or not a number.
    if steps.is_nan() || steps >= MOST_VALUES as f64 {
        range.problem("step", format!("with a step of {step} there is no end; take a larger step"));
        return Vec::new();
    }
    (0..=(steps + 1e-9).floor() as usize).map(|index| from + index as f64 * step).collect()
}

fn load(section: &mut Section<'_, '_>, sources: &Sources<'_>, warp: i64) -> Option<Load> {
    let before = section.problems();
    let spec = section.text("spec");
    let program = match section.problems() > before {
        true => None,
        false => (sources.program)(&spec).map_err(|reason| section.problem("spec", reason)).ok(),
    };
    let own_name = section.has("name").then(|| section.text("name"));
    let weight = section.optional_number("weight", "share of the work", 0.0..=1e9);
    if weight == Some(0.0) {
        section.problem("weight", "it must be positive; leave out a stencil that does not count");
    }
    let runs = runs(section, program.as_deref());
    let c_iter = match (section.has("c_iter_s"), section.has("reference")) {
        (true, true) => {
            section.problem("reference", "either `c_iter_s` or a reference says what C_iter is, not both");
            section.ignore("reference");
            section.ignore("c_iter_s");
            None
        }
        (true, false) => {
            Some(CIter::Stated(section.number("c_iter_s", "seconds per iteration", 1e-15..=1.0)))
        }
        (false, true) => section.table("reference", |reference| reference_of(reference, warp)),
        (false, false) => Some(CIter::Machine),
    };
    let threads = threads(section, warp);
    let program = program?;
    let name = own_name.unwrap_or_else(|| program.name.clone());
    (section.problems() == before).then_some(())?;
    Some(Load { name, program, weight: weight.unwrap_or(1.0), runs, threads, c_iter: c_iter? })
}

/// Threads of blocks: a number, a list, or a range; `None` where nothing is said.
fn threads(section: &mut Section<'_, '_>, warp: i64) -> Option<Threads> {
    if !section.has("threads") {
        section.ignore("threads");
        return None;
    }
    let unit = "threads of a block, multiples of the warp";
    let numbers = range(section, "threads", unit, warp as f64, 65_536.0, warp as f64, None);
    Threads::new(numbers.into_iter().map(|number| number.round() as i64).collect())
}

/// What is said of `L`, `tau_sync` and `T_sync`.
fn constants(section: &mut Section<'_, '_>) -> MachineConstants {
    MachineConstants {
        l_s_per_word: constant(section, "l_s_per_word", "seconds per word of 4 bytes", 1e-16),
        tau_sync_s: constant(section, "tau_sync_s", "seconds per barrier", 0.0),
        t_sync_s: constant(section, "t_sync_s", "seconds per launch", 0.0),
    }
}

/// A number, or `{ from, to, start }` for one that is fitted.
fn constant(section: &mut Section<'_, '_>, key: &str, unit: &str, least: f64) -> Constant {
    if !section.is_table(key) {
        return Constant { seconds: section.optional_number(key, unit, least..=1.0), range: None };
    }
    let read = section.table(key, |range| {
        let (from, to) = (range.number("from", unit, least..=1.0), range.number("to", unit, least..=1.0));
        if from > to {
            range.problem("to", format!("the range is empty: it begins at {from} and ends at {to}"));
        }
        Constant {
            seconds: range.optional_number("start", unit, from..=to.max(from)),
            range: Some((from, to)),
        }
    });
    read.unwrap_or_default()
}

fn reference_of(section: &mut Section<'_, '_>, warp: i64) -> CIter {
    let n_v = section.integer("n_v", "lanes per multiprocessor", warp..=MOST_LANES);
    if n_v % warp != 0 {
        section.problem("n_v", format!("{n_v} is no multiple of {warp}"));
    }
    let design = Design {
        n_sm: section.integer("n_sm", "multiprocessors", 1..=4096),
        n_v,
        m_sm_kb: section.number("m_sm_kb", "kB per multiprocessor", 0.25..=65_536.0),
        r_vu_kb: section.optional_number("r_vu_kb", "kB per vector unit", 0.125..=1024.0).unwrap_or(2.0),
        l1_kb: 0.0,
        l2_kb: 0.0,
    };
    CIter::Fitted(Reference { design, gflops: section.number("gflops", "GFLOP/s", 1e-6..=1e9) })
}

/// All pairs of `sizes` and `steps`.
fn runs(section: &mut Section<'_, '_>, program: Option<&Program>) -> Vec<Run> {
    let missing = |section: &mut Section<'_, '_>, key: &str, example: &str| {
        if !section.has(key) {
            section.problem(key, format!("it is missing; a list such as {example} is needed"));
        }
    };
    missing(section, "sizes", "[\"4096x4096\"]");
    missing(section, "steps", "[1024, 2048]");
    let texts = section.texts("sizes").unwrap_or_default();
    let steps = section.integers("steps", "time steps", 1..=1_000_000_000).unwrap_or_default();
    let mut sizes: Vec<Vec<i64>> = Vec::new();
    for text in texts {
        match size(&text, program) {
            Ok(size) => sizes.push(size),
            Err(reason) => section.problem("sizes", reason),
        }
    }
    let statements = program.map_or(1, |program| program.statements.len());
    let most = |size: &[i64], steps: i64| {
        size.iter().chain([&steps]).fold(statements as f64, |all, own| all * *own as f64)
    };
    let pairs = sizes.iter().flat_map(|size| steps.iter().map(|&steps| Run { size: size.clone(), steps }));
    let pairs: Vec<Run> = pairs.collect();
    if let Some(run) = pairs.iter().find(|run| most(&run.size, run.steps) > MOST_ITERATIONS) {
        let extents: Vec<String> = run.size.iter().map(i64::to_string).collect();
        let reason = format!(
            "{} steps of {} have more than {MOST_ITERATIONS:.0e} iterations, the most that are counted",
            run.steps,
            extents.join("x")
        );
        section.problem("steps", reason);
    }
    pairs
}

fn size(text: &str, program: Option<&Program>) -> Result<Vec<i64>, String> {
    let extents: Result<Vec<i64>, _> = text.split('x').map(|extent| extent.trim().parse::<i64>()).collect();
    let most = 1 << 24;
    let Some(extents) = extents.ok().filter(|extents| extents.iter().all(|n| (1..=most).contains(n))) else {
        return Err(format!("`{text}` is no size: extents from 1 to {most}, as in 4096x4096, are needed"));
    };
    let Some(program) = program else { return Ok(extents) };
    if extents.len() != program.dimension() {
        return Err(format!(
            "`{text}` has {} extents; `{}` has {} dimensions",
            extents.len(),
            program.name,
            program.dimension()
        ));
    }
    let empty = (0..program.statements.len())
        .any(|statement| program.points(statement, &extents).iter().any(|(low, end)| low >= end));
    if empty {
        return Err(format!("`{text}` is too small for `{}`: no point is computed", program.name));
    }
    Ok(extents)
}
