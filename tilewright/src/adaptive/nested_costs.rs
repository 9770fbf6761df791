//! What implementations of a nested program cost, measured on this computer. Results that differ are found on the way.

use crate::error::{Error, Result};
use execution::ExecutionError;
use nested::analysis::Implementation;
use nested::data::{Inputs, Output};
use nested::emit::generated::Mode;
use nested::native::{Native, Prepared, RunError, Shared, options};
use nested::openmp::{Variant, generate};
use nested::program::Program;
use nested::versions::Versions;
use toolchain::cache::Cache;
use toolchain::clock::median;
use toolchain::compiler::{Compiler, Language};
use toolchain::interrupt;

/// Seconds that are timed at a time, at least: shorter runs are repeated.
const LEAST_S: f64 = 2e-3;
/// Who takes so many times as long as the best when each is timed alone does not run in turn: seconds lie between two of these, in
/// which a processor may be slowed down by others.
const BEHIND: f64 = 1.5;
/// So many run in turn for a use, at most.
const MOST: usize = 8;
/// Passes over all uses, turns for a use in each, at least and at most, and seconds that these may take, about. What slows some
/// implementations down for seconds, as a second thread's processor that others take, is in one pass and not in the others.
const PASSES: usize = 3;
const TURNS: (usize, usize) = (1, 4);
const BUDGET_S: f64 = 1.0;
/// Who is no slower than the best in this part of the turns is as good: a pass is no more. So is the first one, if it takes no more
/// than so many times as long: a choice between implementations that are nearly equal costs more on other data than it gains.
const AS_GOOD: f64 = 1.0 / PASSES as f64;
const FIRST_IS_GOOD: f64 = 1.05;

/// What a program will be given.
pub struct Use {
    /// What it is called.
    pub name: String,
    /// The data.
    pub inputs: Inputs,
}

/// What implementations are run with, and how.
pub struct Runs<'a> {
    /// The data.
    pub uses: &'a [Use],
    /// Threads.
    pub threads: usize,
    /// Runs of each that are timed before those that are near the best run in turn.
    pub repeat: usize,
    /// How floating-point numbers are summed.
    pub mode: Mode,
    /// By how much results of two versions may differ, relative to the greater number and 1.
    pub close: f64,
}

/// Why a run gave no result, with the place in the program.
pub fn run_failed(program: &Program, error: RunError) -> Error {
    match error {
        RunError::Input(error) => Error::wrong_input(error.to_string()),
        RunError::Fault(fault) => fault.diagnostics(&program.source).into(),
        RunError::Toolchain(error) => error.into(),
        RunError::Interrupted => ExecutionError::Interrupted.into(),
        error @ RunError::Memory(..) => Error::infeasible(error.to_string()),
    }
}

/// Seconds of a run: `costs[implementation][use]`. Each is timed alone with all uses; then, for each use, those near the best run
/// in turn. Results of a version are those of its first implementation, bit for bit, and those of all versions are close.
///
/// # Errors
/// No compiler, data that does not fit, an interruption; results that differ.
pub fn measured(
    versions: &Versions,
    all: &[Variant],
    runs: &Runs<'_>,
    progress: &dyn Fn(i64),
) -> Result<Vec<Vec<f64>>> {
    let compiler = Compiler::find(Language::C).map_err(toolchain::Error::from)?;
    let cache = Cache::open()?;
    let options = options(true, runs.mode == Mode::Fast);
    let mut natives = Vec::new();
    for (number, Variant { version, chosen }) in all.iter().enumerate() {
        interrupt::check()?;
        let program = &versions.programs[*version];
        let generated = generate(program, chosen, runs.mode, &program.name);
        let built = Native::build(program, generated, &compiler, &options, &cache);
        natives.push(built.map_err(|error| run_failed(program, error))?);
        progress(number as i64 + 1);
    }
    let mut costs = vec![vec![f64::INFINITY; runs.uses.len()]; all.len()];
    for at in 0..runs.uses.len() {
        for (costs, cost) in costs.iter_mut().zip(alone(versions, all, &natives, runs, at)?) {
            costs[at] = cost;
        }
    }
    let alone = |at: usize| costs.iter().map(|costs| costs[at]).collect::<Vec<f64>>();
    let alone: Vec<Vec<f64>> = (0..runs.uses.len()).map(alone).collect();
    let near: Vec<Vec<usize>> = alone.iter().map(|alone| near_the_best(alone)).collect();
    let mut times: Vec<Vec<Vec<f64>>> = near.iter().map(|near| vec![Vec::new(); near.len()]).collect();
    for _ in 0..PASSES {
        for ((at, near), times) in near.iter().enumerate().zip(&mut times).filter(|(own, _)| own.1.len() > 1)
        {
            in_turn(versions, all, &natives, runs, (at, near), times)?;
        }
    }
    for (at, ((alone, near), times)) in alone.iter().zip(&near).zip(&times).enumerate() {
        if near.len() < 2 {
            continue;
        }
        let found = told_apart(times);
        // The others are as far behind the best as they were when each was timed alone.
        let least = |list: &[f64]| list.iter().copied().fold(f64::INFINITY, f64::min);
        let (best, alone_best) = (least(&found), least(alone));
        for (place, costs) in costs.iter_mut().enumerate() {
            let turned = near.iter().position(|&one| one == place);
            costs[at] = turned.map_or(alone[place] / alone_best * best, |turned| found[turned]);
        }
    }
    Ok(costs)
}

/// Seconds of a run of each implementation for a use, each timed alone.
fn alone(
    versions: &Versions,
    all: &[Variant],
    natives: &[Native],
    runs: &Runs<'_>,
    at: usize,
) -> Result<Vec<f64>> {
    let used = &runs.uses[at];
    let mut expected: Vec<Option<Vec<Output>>> = vec![None; versions.programs.len()];
    let mut costs = Vec::new();
    let mut data = Shared::default();
    for (Variant { version, chosen }, native) in all.iter().zip(natives) {
        interrupt::check()?;
        let program = &versions.programs[*version];
        let mut timed = || -> std::result::Result<(f64, Option<Vec<Output>>), RunError> {
            let mut own = native.prepare_shared(&mut data, || versions.inputs_of(*version, &used.inputs))?;
            own.run(runs.threads)?;
            let calls = calls(own.run(runs.threads)?);
            let mut least = f64::INFINITY;
            for _ in 0..runs.repeat.max(1) {
                least = least.min(seconds(&mut own, runs.threads, calls)?);
            }
            Ok((least, (runs.mode == Mode::Deterministic).then(|| own.outputs())))
        };
        let (least, found) = timed().map_err(|error| run_failed(program, error))?;
        costs.push(least);
        let Some(found) = found else { continue };
        let first = expected[*version].is_none();
        let expected_here = expected[*version].get_or_insert_with(|| found.clone());
        if !expected_here.iter().zip(&found).all(|(a, b)| a.same_bits(b)) {
            let names = chosen.iter().map(Implementation::policy).collect::<Vec<_>>().join("; ");
            let message = format!("the results for `{}` differ with {names}", used.name);
            return Err(Error::internal(message));
        }
        if let Some(other) = expected[0].as_ref().filter(|_| first && *version > 0) {
            let names = (versions.programs[0].name.as_str(), program.name.as_str());
            agree(versions, names, (other, &found), &used.name, runs.close)?;
        }
    }
    Ok(costs)
}

/// Runs that take so long that they are timed.
fn calls(once: f64) -> u32 {
    (LEAST_S / once.max(1e-9)).ceil().clamp(1.0, 1e5) as u32
}

/// Seconds of a run, of so many.
fn seconds(prepared: &mut Prepared<'_>, threads: usize, calls: u32) -> std::result::Result<f64, RunError> {
    let mut sum = 0.0;
    for _ in 0..calls {
        sum += prepared.run(threads)?;
    }
    Ok(sum / f64::from(calls))
}

/// The first implementation, and those that are not far behind the best.
fn near_the_best(alone: &[f64]) -> Vec<usize> {
    let best = alone.iter().copied().fold(f64::INFINITY, f64::min);
    let mut near: Vec<usize> = (1..alone.len()).filter(|&at| alone[at] <= BEHIND * best).collect();
    near.sort_by(|&a, &b| alone[a].total_cmp(&alone[b]));
    near.truncate(MOST - 1);
    std::iter::once(0).chain(near).collect()
}

/// Seconds of runs of the implementations `near` for a use are added: `times[place in near][turn]`.
fn in_turn(
    versions: &Versions,
    all: &[Variant],
    natives: &[Native],
    runs: &Runs<'_>,
    (at, near): (usize, &[usize]),
    times: &mut [Vec<f64>],
) -> Result<()> {
    let program = |one: usize| &versions.programs[all[one].version];
    let mut ready: Vec<Prepared<'_>> = Vec::new();
    let mut once = Vec::new();
    let mut data = Shared::default();
    for &one in near {
        interrupt::check()?;
        let mut timed = || {
            let inputs = || versions.inputs_of(all[one].version, &runs.uses[at].inputs);
            let mut own = natives[one].prepare_shared(&mut data, inputs)?;
            own.run(runs.threads)?;
            once.push(own.run(runs.threads)?);
            Ok(own)
        };
        ready.push(timed().map_err(|error| run_failed(program(one), error))?);
    }
    let turn_s: f64 = once.iter().map(|&once| once + once.max(LEAST_S)).sum();
    let turns = ((BUDGET_S / turn_s) as usize).clamp(TURNS.0, TURNS.1);
    for turn in 0..turns {
        interrupt::check()?;
        for place in (0..near.len()).map(|place| (place + turn) % near.len()) {
            let mut timed = || {
                // What the others left in the caches is no part of it.
                ready[place].run(runs.threads)?;
                seconds(&mut ready[place], runs.threads, calls(once[place]))
            };
            times[place].push(timed().map_err(|error| run_failed(program(near[place]), error))?);
        }
    }
    Ok(())
}

/// Seconds of each, by the middle one of what it takes beside the first in the same turn; who cannot be told from the best has the
/// best's seconds.
fn told_apart(times: &[Vec<f64>]) -> Vec<f64> {
    let Some(first) = times.first() else { return Vec::new() };
    let beside = |own: &Vec<f64>| {
        let parts: Vec<f64> = own.iter().zip(first).map(|(own, first)| own / first).collect();
        median(&parts).zip(median(first)).map_or(f64::INFINITY, |(part, first)| part * first)
    };
    let costs: Vec<f64> = times.iter().map(beside).collect();
    let best = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or(0);
    let as_good = |own: &[f64]| {
        let wins = own.iter().zip(&times[best]).filter(|(own, best)| own <= best).count();
        wins as f64 >= AS_GOOD * own.len() as f64
    };
    let first_is_good = costs[0] <= FIRST_IS_GOOD * costs[best];
    let found = times.iter().zip(&costs).enumerate().map(|(place, (own, &cost))| {
        if as_good(own) || place == 0 && first_is_good { costs[best] } else { cost }
    });
    found.collect()
}

/// Two versions have close results.
fn agree(
    versions: &Versions,
    (first, second): (&str, &str),
    (a, b): (&[Output], &[Output]),
    used: &str,
    close: f64,
) -> Result<()> {
    let (a, b) = (versions.results_of(a.to_vec()), versions.results_of(b.to_vec()));
    let worst = a.iter().zip(&b).map(|(a, b)| (a.difference(b), &a.name));
    let worst = worst.max_by(|a, b| a.0.total_cmp(&b.0));
    match worst.filter(|(difference, _)| *difference > close) {
        None => Ok(()),
        Some((difference, name)) => {
            let what = match difference.is_finite() {
                true => format!("differ by {difference:e}, relative to the greater number and 1"),
                false => "are of different lengths, or no numbers in one of them".to_owned(),
            };
            let message = format!("for `{used}` the results `{name}` of `{first}` and `{second}` {what}");
            Err(Error::wrong_input(message)
                .hint("versions compute the same; what they are given has to fit together; `close = E` allows for more"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_ones_run_beside_the_first() {
        assert_eq!(near_the_best(&[9.0, 1.4, 1.0, 1.6]), [0, 2, 1]);
        assert_eq!(near_the_best(&[1.0, 9.0]), [0]);
        assert_eq!(near_the_best(&[1.0; 20]).len(), MOST);
    }

    /// All are slowed down alike in some turns: who is the best is seen in each.
    #[test]
    fn what_slows_all_down_decides_nothing() {
        let slowed = [1.0, 1.0, 3.0, 1.0, 2.0, 1.0, 1.0, 1.0, 9.0];
        let times = |seconds: f64| slowed.iter().map(|slow| slow * seconds).collect::<Vec<f64>>();
        assert_eq!(told_apart(&[times(1.0), times(0.5), times(2.0)]), [1.0, 0.5, 2.0]);
        // One that is the best in a third of the turns is as good, one that is that in two of nine is not.
        let turns =
            |faster: usize| (0..9).map(|at| if at < faster { 0.9 } else { 1.1 }).collect::<Vec<f64>>();
        assert_eq!(told_apart(&[vec![1.0; 9], turns(3)]), [1.0, 1.0]);
        assert_eq!(told_apart(&[vec![1.0; 9], turns(2)]), [1.0, 1.1]);
        assert_eq!(told_apart(&[turns(3), vec![1.0; 9]])[0], told_apart(&[turns(3), vec![1.0; 9]])[1]);
        // The first one is, too, if it is hardly slower.
        assert_eq!(told_apart(&[vec![1.04; 9], vec![1.0; 9]]), [1.0, 1.0]);
        assert_eq!(told_apart(&[vec![1.06; 9], vec![1.0; 9]]), [1.06, 1.0]);
        assert!(told_apart(&[]).is_empty());
    }
}
