//! Rows that are one: statements that read the same values are computed point by point together, so that what they share is
//! computed once.
//!
//! ```text
//! forall points of the box:   v_0 = value_0, .., v_n = value_n;   target_0 = v_0, .., target_n = v_n
//! ```
//!
//! In the program every point of `target_k` comes before any of `target_k+1`. Both are the same where no statement reads what
//! one before it stores, and none but at its own point what one behind it overwrites.

use super::{
    Instance, Kernel, KernelPlan, Launch, Loop, Role, RowOrder, cells_read, overwrite_what_they_read,
};
use crate::storage::{Memory, Place, Slot};
use polyhedral::program::{Access, Program};
use std::ops::Range;

/// Fewest values that a statement must read in common with others to be computed with them: a few loads are cheaper apart,
/// where neighbouring rows share them.
const FEWEST_SHARED: usize = 4;

/// The rows of a group, those that are one together.
pub fn joined_rows(kernel: &Kernel) -> impl Iterator<Item = &[Instance]> {
    kernel.instances.chunk_by(|_, next| next.joined)
}

/// Whether the points of two statements, the `later` of which follows in the program, may be computed together.
pub(crate) fn independent(program: &Program, earlier: usize, later: usize) -> bool {
    let apart = program.statements[earlier].target != program.statements[later].target;
    let at_its_point = |read: &&Access| read.offset.iter().all(|&distance| distance == 0);
    apart
        && cells_read(program, later, earlier).next().is_none()
        && cells_read(program, earlier, later).all(|read| at_its_point(&read))
}

/// Whether a statement is worth computing with those before it: at least half of what it reads they read as well.
fn shares(program: &Program, before: &[usize], next: usize) -> bool {
    let reads = &program.statements[next].reads;
    let known = |read: &&Access| before.iter().any(|&own| program.statements[own].reads.contains(read));
    let shared = reads.iter().filter(known).count();
    shared >= FEWEST_SHARED && 2 * shared >= reads.len()
}

/// Whether the next statement may be computed with those before it, and is worth it.
fn belongs(program: &Program, before: &[usize], next: usize) -> bool {
    let Some(first) = before.first() else { return false };
    program.statements[next].domain == program.statements[*first].domain
        && before.iter().all(|&own| independent(program, own, next))
        && shares(program, before, next)
}

/// The neighbouring statements that share what they read and can be computed together, as ranges of all statements.
pub(crate) fn runs(program: &Program) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for next in 0..program.statements.len() {
        match runs.last_mut() {
            Some(run) if belongs(program, &run.clone().collect::<Vec<_>>(), next) => run.end = next + 1,
            _ => runs.push(next..next + 1),
        }
    }
    runs
}

/// Fewest statements of one row for which tiles are chosen that have such rows, even if these are steeper.
const MANY: usize = 4;

/// Of the statements that can be computed together, those that are worth other tiles.
pub(crate) fn large_runs(program: &Program) -> impl Iterator<Item = Range<usize>> {
    runs(program).into_iter().filter(|run| run.len() >= MANY)
}

/// How many statements read the same values, in rows of a plan that each compute one of them; 1 where none do.
pub fn most_apart(plan: &KernelPlan) -> usize {
    let joined = |run: &Range<usize>| {
        let rows = plan.kernels.iter().flat_map(|kernel| &kernel.instances);
        let mut own = rows.filter(|row| run.contains(&row.statement) && row.statement != run.start);
        own.all(|row| row.joined)
    };
    large_runs(&plan.program).filter(|run| !joined(run)).map(|run| run.len()).max().unwrap_or(1)
}

/// Joins the rows of a plan that compute the same box of points on the arrays.
pub(crate) fn join(plan: &mut KernelPlan) {
    let program = plan.program.clone();
    for kernel in &mut plan.kernels {
        if kernel.memory == Memory::Storages || kernel.in_parts() {
            continue;
        }
        let mut run: Vec<usize> = Vec::new();
        for at in 0..kernel.instances.len() {
            let instance = &kernel.instances[at];
            let same = at > 0 && same_box(&kernel.instances[at - 1], instance);
            let joined = same && belongs(&program, &run, instance.statement);
            if !joined {
                run.clear();
            }
            run.push(kernel.instances[at].statement);
            kernel.instances[at].joined = joined;
            if joined {
                let first = at + 1 - run.len();
                let repeats = !overwrite_what_they_read(&program, &run);
                for own in &mut kernel.instances[first..=at] {
                    own.order = RowOrder::Parallel { repeats };
                }
            }
        }
    }
}

/// Makes one kernel of neighbouring ones that run the same blocks, one row in each, of statements that belong together: for
/// processors, whose blocks are loops. (A thread of a GPU would need the registers of all of them.)
pub(crate) fn fuse(plan: &mut KernelPlan) {
    let each_once = plan.launches.iter().enumerate().all(|(at, launch)| launch.kernel == at);
    if !each_once || plan.launches.len() != plan.kernels.len() {
        return;
    }
    let program = plan.program.clone();
    let mut fused: Vec<(Kernel, Launch)> = Vec::new();
    for (kernel, launch) in plan.kernels.drain(..).zip(plan.launches.drain(..)) {
        let before = fused.last_mut().filter(|(_, other)| other.when.is_none() && launch.when.is_none());
        match before {
            Some((before, _)) if alike(before, &kernel) && follows(&program, before, &kernel) => {
                before.comment = format!("{}; with {}", before.comment, kernel.comment);
                before.instances.extend(kernel.instances);
            }
            _ => fused.push((kernel, Launch { kernel: fused.len(), ..launch })),
        }
    }
    (plan.kernels, plan.launches) = fused.into_iter().unzip();
    join(plan);
}

/// Whether two kernels run the same blocks on the arrays, in one go.
fn alike(one: &Kernel, other: &Kernel) -> bool {
    let plain = |kernel: &Kernel| {
        kernel.memory == Memory::Arrays && kernel.bindings.is_empty() && kernel.sub_tiles.is_empty()
    };
    let same = |a: &Loop, b: &Loop| a.variable == b.variable && a.low == b.low && a.high == b.high;
    plain(one)
        && plain(other)
        && one.blocks.len() == other.blocks.len()
        && one.blocks.iter().zip(&other.blocks).all(|(a, b)| same(a, b))
        && same(&one.rows, &other.rows)
        && one.rows.low == one.rows.high
        && one.full_when == other.full_when
}

/// Whether the one row of a kernel is one with the rows of the kernel before it.
fn follows(program: &Program, before: &Kernel, next: &Kernel) -> bool {
    let [row] = &next.instances[..] else { return false };
    let run: Vec<usize> = before.instances.iter().map(|row| row.statement).collect();
    before.instances.iter().all(|own| same_box(own, row)) && belongs(program, &run, row.statement)
}

/// Whether two rows compute the points of one box at one time, on the arrays as the program does.
pub(crate) fn same_box(one: &Instance, other: &Instance) -> bool {
    let plain = |row: &Instance| {
        let at_once = matches!(row.order, RowOrder::Parallel { .. });
        let own = matches!(row.role, Role::Owner) && row.when.is_empty() && row.junk.is_none();
        at_once && own && row.reads.is_empty() && row.writes == [Place::Arrays(Slot::OfLevel)]
    };
    let ranges = one.ranges.iter().zip(&other.ranges);
    plain(one)
        && plain(other)
        && one.step == other.step
        && one.in_full_tiles == other.in_full_tiles
        && one.ranges.len() == other.ranges.len()
        && ranges.into_iter().all(|(a, b)| a.low == b.low && a.high == b.high)
}

/// That the rows which a plan calls one can be computed point by point.
///
/// # Errors
/// The row that cannot, and why.
pub(crate) fn check(program: &Program, kernel: &Kernel) -> Result<(), String> {
    let wrong = |row: &Instance, why: &str| {
        let name = program.statement_name(row.statement);
        Err(format!("rows of {name} in kernel {} are joined to those before: {why}", kernel.name))
    };
    if let Some(first) = kernel.instances.first().filter(|first| first.joined) {
        return wrong(first, "there are none");
    }
    for run in joined_rows(kernel).filter(|run| run.len() > 1) {
        let statements: Vec<usize> = run.iter().map(|row| row.statement).collect();
        for (at, row) in run.iter().enumerate().skip(1) {
            if kernel.memory == Memory::Storages || kernel.in_parts() || !same_box(&run[0], row) {
                return wrong(row, "they are not the same box of points on the arrays");
            }
            if program.statements[row.statement].domain != program.statements[run[0].statement].domain {
                return wrong(row, "the domains of their statements differ");
            }
            if !run[..at].iter().all(|before| independent(program, before.statement, row.statement)) {
                return wrong(row, "one reads what the other stores");
            }
        }
        let twice = run.iter().any(|row| row.order == (RowOrder::Parallel { repeats: true }));
        if twice && overwrite_what_they_read(program, &statements) {
            return wrong(&run[1], "they may compute a point twice, and overwrite what they read");
        }
    }
    Ok(())
}
