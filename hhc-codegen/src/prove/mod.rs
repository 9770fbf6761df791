//! The legality proof of a plan: the plan's own loop bounds, written as a schedule relation, go to isl.
//!
//! Nothing is derived a second time here: the same [`IntExpr`]s that the back
//! ends print as C are printed as isl constraints, so what is proved is what is emitted.

mod constraints;
mod families;
mod flow;
mod linear;
mod rows;
mod window;

use crate::plan::{Instance, Kernel, KernelPlan, Launch, Role, TimeBands};
use crate::storage::Memory;
use crate::{PlanError, int_expr::IntExpr};
use constraints::{interval, launched};
use polyhedral::dependence::Dependence;
use polyhedral::ghost::Ghosts;
use polyhedral::legality::{self, Budget, Proof};
use polyhedral::schedule::{Execution, Family, FullClaim, Schedule, ScheduleDimension, SchedulePiece};

/// Proves with isl that the plan is legal, for all grid sizes and numbers of steps. Every statement instance has one
/// owner. Where the plan works on the arrays as the program does, every dependence is respected; where blocks have
/// storage of their own, every value is where it is read (`flow`). The tiles that it calls full have nothing to clip,
/// and rows that may compute a point twice overwrite nothing that they read.
///
/// # Errors
/// [`PlanError::Illegal`] names the dependence, the value, or the instance, that breaks the plan.
pub fn prove(plan: &KernelPlan, dependences: &[Dependence]) -> Result<Proof, PlanError> {
    prove_within(Budget::default(), plan, dependences)
}

/// [`prove`], within another budget.
///
/// # Errors
/// Those of [`prove`].
pub fn prove_within(
    budget: Budget,
    plan: &KernelPlan,
    dependences: &[Dependence],
) -> Result<Proof, PlanError> {
    rows::orders(plan).map_err(|reason| illegal(plan, reason))?;
    flow::repeated_rows(plan).map_err(|reason| illegal(plan, reason))?;
    let around = around(plan)?;
    let proof = if plan.kernels.iter().any(|kernel| kernel.memory == Memory::Storages) {
        let flow = flow::dataflow(plan).map_err(|reason| illegal(plan, reason))?;
        let schedule = schedule_of(plan, plan.bands.as_ref());
        legality::prove_flow_within(budget, &plan.program, &schedule, &flow)
    } else {
        legality::prove_within(budget, &plan.program, dependences, &schedule(plan), &families(plan))
    };
    let mut proof = proof.map_err(|error| illegal(plan, error.to_string()))?;
    proof.relations += around;
    Ok(proof)
}

/// Proves that the ghost zones around a periodic grid suffice for a band of steps, in which the plan runs on an ordinary
/// one; returns how many sets were shown to be empty.
fn around(plan: &KernelPlan) -> Result<usize, PlanError> {
    if !plan.program.is_periodic() {
        return Ok(0);
    }
    let proof = Ghosts::around(&plan.program).and_then(|zones| zones.prove_around(&plan.program));
    Ok(proof.map_err(|error| illegal(plan, error.to_string()))?.sets)
}

fn illegal(plan: &KernelPlan, reason: String) -> PlanError {
    PlanError::Illegal { strategy: plan.strategy.to_string(), tile: plan.tile.to_string(), reason }
}

/// Proves with isl that the windows which the kernels keep on targets whose blocks have memory of their own hold what the
/// arrays would hold, for all grid sizes and numbers of steps, in a plan that [`prove`] takes. Returns how many relations
/// were shown to be empty.
///
/// A window that cannot be had, or that is larger than any block's memory, is not asked for: there is no text for it.
///
/// # Errors
/// [`PlanError::Illegal`] names the kernel, the statement, and the read, the store or the load that goes wrong.
pub fn prove_windows(plan: &KernelPlan) -> Result<usize, PlanError> {
    let sweeps = window::sweeps(plan).map_err(|reason| illegal(plan, reason))?;
    legality::prove_windows(&plan.program, &sweeps).map_err(|error| illegal(plan, error.to_string()))
}

/// The schedule of a plan. Dimensions: the host loop, the launch, the blocks (parallel), the sub-tiles,
/// the group of rows, the row in the group, its wavefronts where rows on the arrays alone have any, the points of the
/// row (parallel), and the statements at a point where rows are joined.
pub fn schedule(plan: &KernelPlan) -> Schedule {
    schedule_of(plan, None)
}

/// The same over the bounds of bands, without their definitions.
fn schedule_of(plan: &KernelPlan, bands: Option<&TimeBands>) -> Schedule {
    let (blocks, sub_tiles, waves) = depths(plan);
    let dimension = |name: String, execution| ScheduleDimension { name, execution };
    let mut dimensions = vec![
        dimension(plan.outer.variable.to_string(), Execution::Sequential),
        dimension("launch".to_string(), Execution::Sequential),
    ];
    dimensions.extend((0..blocks).map(|i| dimension(format!("block {i}"), Execution::Parallel)));
    dimensions.extend((0..sub_tiles).map(|i| dimension(format!("sub-tile {i}"), Execution::Sequential)));
    dimensions.push(dimension("group of rows".to_string(), Execution::Sequential));
    dimensions.push(dimension("row".to_string(), Execution::Sequential));
    dimensions.extend((0..waves).map(|_| dimension("wavefront".to_string(), Execution::Sequential)));
    dimensions
        .extend((0..plan.program.dimension()).map(|d| dimension(format!("point s{d}"), Execution::Parallel)));

    let joined = plan.kernels.iter().flat_map(|kernel| &kernel.instances).any(|row| row.joined);
    if joined {
        dimensions.push(dimension("statement at a point".to_string(), Execution::Sequential));
    }

    let mut pieces = Vec::new();
    for (launch_index, launch) in plan.launches.iter().enumerate() {
        let kernel = &plan.kernels[launch.kernel];
        for (row, instance) in kernel.instances.iter().enumerate() {
            let launch = (launch_index, launch);
            let mut piece = piece(plan, bands, launch, kernel, (row, instance), (blocks, sub_tiles, waves));
            if joined {
                piece.fixed.push((piece.variables.len(), row as i64));
                piece.variables.push("part".to_string());
            }
            pieces.push(piece);
        }
    }
    Schedule { dimensions, pieces }
}

/// How many loops over blocks and over sub-tiles the kernels have at most, and numbers that order the points of a row.
fn depths(plan: &KernelPlan) -> (usize, usize, usize) {
    let blocks = plan.kernels.iter().map(|kernel| kernel.blocks.len()).max().unwrap_or(0);
    let sub_tiles = plan.kernels.iter().map(|kernel| kernel.sub_tiles.len()).max().unwrap_or(0);
    (blocks, sub_tiles, waves(plan))
}

/// The pieces of [`schedule`] that are one with the statement's number as a variable, where all of them belong to such a family;
/// else none.
fn families(plan: &KernelPlan) -> Vec<Family> {
    let mut families = Vec::new();
    for (launch_index, launch) in plan.launches.iter().enumerate() {
        let kernel = &plan.kernels[launch.kernel];
        let Some(all) = families::of_all(plan, kernel) else { return Vec::new() };
        let mut piece = piece(plan, None, (launch_index, launch), kernel, (0, &all.row), depths(plan));
        let own = |row: &Instance| -> Vec<String> {
            let range = |&d: &usize| interval(&format!("s{d}"), &row.ranges[d].low, &row.ranges[d].high);
            all.left.iter().flat_map(range).collect()
        };
        let first_alone = own(&all.row);
        piece.constraints.retain(|constraint| !first_alone.contains(constraint));
        let Some((row, _)) = piece.fixed.pop() else { return Vec::new() };
        piece.constraints.push(format!("0 <= {} < {}", families::ROW, kernel.instances.len()));
        let first = families.iter().map(|family: &Family| family.members.len()).sum();
        families.push(Family {
            piece,
            row,
            members: (first..first + kernel.instances.len()).collect(),
            own: kernel.instances.iter().map(own).collect(),
        });
    }
    families
}

/// How many numbers order the points of a row, in a plan whose proof is by dependences; in others that of values knows.
fn waves(plan: &KernelPlan) -> usize {
    if plan.kernels.iter().any(|kernel| kernel.memory == Memory::Storages) {
        return 0;
    }
    let rows = plan.kernels.iter().flat_map(|kernel| &kernel.instances);
    rows.map(|row| rows::within(row).len()).max().unwrap_or(0)
}

/// The instances that one row of one kernel owns.
fn piece(
    plan: &KernelPlan,
    bands: Option<&TimeBands>,
    (launch_index, launch): (usize, &Launch),
    kernel: &Kernel,
    (row, instance): (usize, &Instance),
    (blocks, sub_tiles, waves): (usize, usize, usize),
) -> SchedulePiece {
    let mut constraints = Vec::new();
    let mut variables = vec![plan.outer.variable.to_string(), "launch".to_string()];
    let mut between = |variable: &str, low: &IntExpr, high: &IntExpr| {
        constraints.extend(interval(variable, low, high));
    };
    if bands.is_none() {
        between(plan.outer.variable, &plan.outer.low, &plan.outer.high);
    }
    // Kernels with fewer loops than others run at position 0 of the missing dimensions.
    let zero = IntExpr::from(0);
    for i in 0..blocks {
        let name = kernel.blocks.get(i).map_or(format!("no_block{i}"), |block| block.variable.to_string());
        let (low, high) = kernel.blocks.get(i).map_or((&zero, &zero), |block| (&block.low, &block.high));
        between(&name, low, high);
        variables.push(name);
    }
    for i in 0..sub_tiles {
        let name = kernel.sub_tiles.get(i).map_or(format!("no_tile{i}"), |tile| tile.variable.to_string());
        let (low, high) = kernel.sub_tiles.get(i).map_or((&zero, &zero), |tile| (&tile.low, &tile.high));
        between(&name, low, high);
        variables.push(name);
    }
    between(kernel.rows.variable, &kernel.rows.low, &kernel.rows.high);
    let owned = match &instance.role {
        Role::Owner => &[][..],
        Role::Copies { owned } => owned,
    };
    for ranges in [&instance.ranges, owned] {
        for (d, range) in ranges.iter().enumerate() {
            between(&format!("s{d}"), &range.low, &range.high);
        }
    }
    variables.push(kernel.rows.variable.to_string());
    // Rows that are one have one number.
    let number = (0..=row).rev().find(|&at| !kernel.instances[at].joined).unwrap_or(row);
    let fixed = vec![(1, launch_index as i64), (variables.len(), number as i64)];
    variables.push("row".to_string());
    constraints.push(format!("t = {}", instance.step.to_isl()));
    let conditions = instance.when.iter().flat_map(IntExpr::least_of);
    constraints.extend(conditions.map(|condition| format!("{} >= 0", condition.to_isl())));
    let bounds = bands.map_or([""; 2], |bands| [bands.first.name, bands.end.name]);
    let bindings = || kernel.bindings.iter().filter(|binding| !bounds.contains(&binding.name));
    constraints.extend(bindings().map(|binding| format!("{} = {}", binding.name, binding.value.to_isl())));
    constraints.extend(bands.map_or_else(|| launched(launch), |_| flow::launched(plan, launch)));
    let within = if waves > 0 { rows::within(instance) } else { Vec::new() };
    for wave in 0..waves {
        variables.push(format!("wave{wave}"));
        constraints.push(format!("wave{wave} = {}", within.get(wave).unwrap_or(&zero).to_isl()));
    }
    for d in 0..plan.program.dimension() {
        variables.push(format!("p{d}"));
        constraints.push(format!("p{d} = s{d}"));
    }
    let helpers = bindings().map(|binding| binding.name.to_string()).collect();
    let full = FullClaim {
        constraints: kernel
            .full_when
            .iter()
            .map(|condition| format!("{} >= 0", condition.to_isl()))
            .collect(),
        runs: instance.in_full_tiles,
    };
    let full = (kernel.memory != Memory::Storages).then_some(full);
    SchedulePiece { statement: instance.statement, variables, fixed, helpers, constraints, full }
}
