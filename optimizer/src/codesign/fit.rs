//! Constants such that known designs reach their known rates, as nearly as one machine allows.
//!
//! With the tiles of all executions fixed, and for each of them which of computing and moving takes longer, every time is a
//! sum over the constants (`GpuTime::factors`), and so is the time per operation of a stencil on its reference design. The
//! constants that come nearest to all stated rates, by the sum of absolute relative differences, are the solution of a
//! linear program:
//!
//! ```text
//! minimise   sum_s (p_s + n_s) + epsilon * sum_m m / m_0
//! where      time per operation of s / stated one = 1 + p_s - n_s         p, n >= 0
//!            m = L, tau_sync, T_sync, each within its range
//! ```
//!
//! Tiles are then chosen anew with these constants, until nothing changes; from several starts, of which the best is
//! taken. The small second sum decides where rates do not: of constants that meet them alike, the least are taken, since
//! the model is optimistic on purpose.

use super::CodesignError;
use super::constants::{Fit, FitStart, JointFit};
use super::inner::Effort;
use super::ranked::OnDesign;
use super::setting::{Setting, counted, fitting};
use super::workload::{CIter, Objective, Workload};
use good_lp::{Expression, ProblemVariables, Solution, SolverModel, Variable, microlp, variable};

/// Rounds of tiles and constants from one start.
const MOST_ROUNDS: usize = 30;
/// Relative change of constants below which they are at rest.
const AT_REST: f64 = 1e-9;
/// Weight of the machine's constants, beside that of residuals.
const LEAST: f64 = 1e-4;
/// How far `C_iter` may be from its start, as a factor.
const C_ITER_RANGE: (f64, f64) = (1e-3, 1e3);

impl Setting {
    /// Lists candidates and fits constants.
    ///
    /// # Errors
    /// [`CodesignError::Analysis`] where a stencil cannot be tiled, [`CodesignError::Reference`] where no tile fits a
    /// reference design, [`CodesignError::NoTile`] where no tile of a stencil fits any design.
    pub fn new(workload: Workload) -> Result<Setting, CodesignError> {
        let mut setting = Setting::unfitted(workload)?;
        fit(&mut setting)?;
        Ok(setting)
    }
}

/// The unknowns: `L`, `tau_sync`, `T_sync`, and `C_iter` of each stencil with a reference.
#[derive(Debug, Clone, PartialEq)]
struct Constants {
    machine: [f64; 3],
    c_iter_s: Vec<f64>,
}

/// A stencil with a reference.
struct Target {
    subject: usize,
    design: super::design::Design,
    gflops: f64,
    /// Words of 4 bytes in an element.
    words: f64,
}

/// The time per operation of a stencil on its reference design, over the stated one: factors of the constants, as
/// `[C_iter, L, tau_sync, T_sync]`.
type Factors = [f64; 4];

/// Fits `C_iter` of all stencils with a reference, and the machine's constants that have a range.
///
/// # Errors
/// [`CodesignError::Reference`] where no tile of a stencil fits its reference design.
fn fit(setting: &mut Setting) -> Result<(), CodesignError> {
    let target = |(subject, of): (usize, &super::setting::Subject)| match &of.load.c_iter {
        CIter::Fitted(reference) => Some(Target {
            subject,
            design: reference.design,
            gflops: reference.gflops,
            words: of.problem.element().bytes() as f64 / 4.0,
        }),
        _ => None,
    };
    let targets: Vec<Target> = setting.subjects.iter().enumerate().filter_map(target).collect();
    let Some(first) = targets.first() else { return Ok(()) };
    let time = &setting.subjects[first.subject].time;
    let stated = [time.l_s_per_word / first.words, time.tau_sync_s, time.t_sync_s];
    let said = &setting.workload.constants;
    let ranges = [said.l_s_per_word.range, said.tau_sync_s.range, said.t_sync_s.range];
    // A start that is not stated is the base machine's, and may lie outside of the range.
    let within =
        |value: f64, range: Option<(f64, f64)>| range.map_or(value, |(low, high)| value.clamp(low, high));
    let nearest: [f64; 3] = std::array::from_fn(|m| within(stated[m], ranges[m]));
    let estimates: Vec<f64> =
        targets.iter().map(|target| setting.subjects[target.subject].time.c_iter_s).collect();

    let mut best: Option<(f64, Constants)> = None;
    let mut starts = Vec::new();
    for (machine, factor) in starting_points(nearest, ranges) {
        let c_iter_s = estimates.iter().map(|own| own * factor).collect();
        let mut at = Constants { machine, c_iter_s };
        let mut least: Option<(f64, Constants)> = None;
        let (mut rounds, mut fixed_point) = (0, false);
        while rounds < MOST_ROUNDS && !fixed_point {
            let factors = factors(setting, &targets, &at)?;
            let misfit = misfit(&factors, &at);
            if least.as_ref().is_none_or(|(known, _)| misfit < *known) {
                least = Some((misfit, at.clone()));
            }
            let Some(next) = solve(&factors, &estimates, nearest, ranges) else { break };
            rounds += 1;
            fixed_point = next.change(&at) < AT_REST;
            at = next;
        }
        let Some((sum_of_residuals, constants)) = least else { continue };
        let [l_s_per_word, tau_sync_s, t_sync_s] = machine;
        starts.push(FitStart {
            l_s_per_word,
            tau_sync_s,
            t_sync_s,
            c_iter_factor: factor,
            rounds,
            fixed_point,
            sum_of_residuals,
        });
        // Later starts must be better by more than what rounding makes of equal ones.
        if best.as_ref().is_none_or(|(known, _)| sum_of_residuals < known - LEAST) {
            best = Some((sum_of_residuals, constants));
        }
    }
    let Some((sum_of_residuals, constants)) = best else { return Ok(()) };
    take(setting, &targets, &constants);
    let names = ["L", "tau_sync", "T_sync"].into_iter().zip(ranges);
    let machine = names.filter_map(|(name, range)| range.map(|_| name.to_owned()));
    let of_stencil =
        targets.iter().map(|target| format!("C_iter of {}", setting.subjects[target.subject].load.name));
    let fitted = machine.chain(of_stencil).collect();
    let [l_s_per_word, tau_sync_s, t_sync_s] = constants.machine;
    setting.fit = Some(JointFit {
        l_s_per_word,
        tau_sync_s,
        t_sync_s,
        rates: targets.len(),
        fitted,
        sum_of_residuals,
        starts,
    });
    report(setting, &targets, &constants)
}

/// The stated constants with two guesses of `C_iter` and, where any has a range, its ends and middle.
fn starting_points(nearest: [f64; 3], ranges: [Option<(f64, f64)>; 3]) -> Vec<([f64; 3], f64)> {
    let mut machines = vec![nearest];
    if ranges.iter().any(Option::is_some) {
        let at = |of: fn((f64, f64)) -> f64| std::array::from_fn(|m| ranges[m].map_or(nearest[m], of));
        machines.extend([at(|(low, _)| low), at(|(_, high)| high), at(|(low, high)| (low * high).sqrt())]);
    }
    let with_other_guess = (machines[0], 0.25);
    machines.into_iter().map(|machine| (machine, 1.0)).chain([with_other_guess]).collect()
}

impl Constants {
    /// The largest relative difference.
    fn change(&self, other: &Constants) -> f64 {
        let own = self.machine.iter().chain(&self.c_iter_s);
        let others = other.machine.iter().chain(&other.c_iter_s);
        own.zip(others).map(|(a, b)| (a - b).abs() / a.abs().max(b.abs()).max(1e-300)).fold(0.0, f64::max)
    }

    /// A stencil's time per operation over the stated one.
    fn value(&self, target: usize, factors: &Factors) -> f64 {
        let [l, tau, t] = self.machine;
        factors[0] * self.c_iter_s[target] + factors[1] * l + factors[2] * tau + factors[3] * t
    }
}

fn misfit(factors: &[Factors], at: &Constants) -> f64 {
    factors.iter().enumerate().map(|(target, own)| (at.value(target, own) - 1.0).abs()).sum()
}

/// The best tiles with these constants, as factors of the constants.
fn factors(setting: &Setting, targets: &[Target], at: &Constants) -> Result<Vec<Factors>, CodesignError> {
    let mut changed = setting.clone();
    take(&mut changed, targets, at);
    targets.iter().map(|target| factors_of(&changed, target)).collect()
}

fn factors_of(setting: &Setting, target: &Target) -> Result<Factors, CodesignError> {
    let subject = &setting.subjects[target.subject];
    let failed =
        || CodesignError::Reference { stencil: subject.load.name.clone(), design: Box::new(target.design) };
    let key = setting.key(&target.design);
    let tables = setting.tables(subject, &key);
    let ranked = tables.ranked();
    let fitting = fitting(&ranked, &setting.hardware(&target.design));
    let on = OnDesign { power_w: None, ..setting.on(&target.design) };
    let outcomes = tables.best(&ranked, &fitting, Objective::Time, &on, &mut Effort::default());
    let outcomes = outcomes.ok_or_else(failed)?;
    let mut sums = [0.0; 4];
    let share = 1e9 * target.gflops / outcomes.len() as f64;
    for (run, (outcome, flops)) in outcomes.iter().zip(&subject.flops).enumerate() {
        let (own, tiles) = counted(&ranked, run, outcome).ok_or_else(failed)?;
        let model = own.model(&on, run).time;
        for counts in tiles.iter() {
            let [c, l, tau, t] = model.factors(counts, outcome.k);
            let each = [c, l * target.words * key.l_factor, tau, t];
            sums.iter_mut().zip(each).for_each(|(sum, own)| *sum += share * own / flops);
        }
    }
    Ok(sums)
}

/// The linear program. Unknowns are relative to where they start, so that they are of one size.
fn solve(
    factors: &[Factors],
    estimates: &[f64],
    nearest: [f64; 3],
    ranges: [Option<(f64, f64)>; 3],
) -> Option<Constants> {
    let mut variables = ProblemVariables::new();
    let unit = |m: usize| if nearest[m] > 0.0 { nearest[m] } else { ranges[m].map_or(1.0, |(_, high)| high) };
    let machine: [Option<Variable>; 3] = std::array::from_fn(|m| {
        ranges[m].map(|(low, high)| variables.add(variable().min(low / unit(m)).max(high / unit(m))))
    });
    let (low, high) = C_ITER_RANGE;
    let c_iter: Vec<Variable> =
        estimates.iter().map(|_| variables.add(variable().min(low).max(high))).collect();
    let over: Vec<Variable> = estimates.iter().map(|_| variables.add(variable().min(0.0))).collect();
    let under: Vec<Variable> = estimates.iter().map(|_| variables.add(variable().min(0.0))).collect();
    let residuals: Expression = over.iter().chain(&under).sum();
    let overheads: Expression = machine.iter().flatten().sum();
    let mut program = variables.minimise(residuals + LEAST * overheads).using(microlp);
    for (target, own) in factors.iter().enumerate() {
        let mut value: Expression = own[0] * estimates[target] * c_iter[target];
        for m in 0..3 {
            let factor = own[m + 1] * unit(m);
            match machine[m] {
                Some(variable) => value += factor * variable,
                None => value += own[m + 1] * nearest[m],
            }
        }
        program = program.with((value - over[target] + under[target]).eq(1.0));
    }
    let solution = program.solve().ok()?;
    Some(Constants {
        machine: std::array::from_fn(|m| machine[m].map_or(nearest[m], |own| solution.value(own) * unit(m))),
        c_iter_s: c_iter.iter().zip(estimates).map(|(own, unit)| solution.value(*own) * unit).collect(),
    })
}

/// Gives a setting these constants.
fn take(setting: &mut Setting, targets: &[Target], constants: &Constants) {
    let [l, tau, t] = constants.machine;
    for subject in &mut setting.subjects {
        subject.time.l_s_per_word = l * subject.problem.element().bytes() as f64 / 4.0;
        subject.time.tau_sync_s = tau;
        subject.time.t_sync_s = t;
    }
    for (target, c_iter_s) in targets.iter().zip(&constants.c_iter_s) {
        setting.subjects[target.subject].time.c_iter_s = *c_iter_s;
    }
}

/// Says what became of the constants.
fn report(setting: &mut Setting, targets: &[Target], constants: &Constants) -> Result<(), CodesignError> {
    for subject in &mut setting.subjects {
        subject.fit = Fit::new(subject.fit.basis, &subject.time, &subject.problem, &setting.base);
    }
    for (index, target) in targets.iter().enumerate() {
        let value = constants.value(index, &factors_of(setting, target)?);
        let fit = &mut setting.subjects[target.subject].fit;
        fit.design = Some(target.design);
        fit.stated_gflops = Some(target.gflops);
        fit.model_gflops = Some(target.gflops / value);
    }
    Ok(())
}
