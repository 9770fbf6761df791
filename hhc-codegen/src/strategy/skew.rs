//! The least skew: coordinates in which no dependence goes back, by an integer program per dimension.
//!
//! Statement `k` computes point `s` of step `t` at
//!
//! ```text
//! y_d = s_d + step*t + shift_k + sum of cross_e*s_e over e < d
//! ```
//!
//! and a dependence of statement `k'` on `k`, so many steps later at an offset `o`, goes from `y_d` to a `y_d` that is
//! larger by `o_d + step*steps + shift_k' - shift_k + sum of cross_e*o_e`. The program asks for the least non-negative
//! integers for which none of these is negative: least `step` and `cross`, then least shifts. Then every tiling into boxes
//! of `(t, y)` is legal, and all tiles whose coordinates have one sum can run at once (Wolf, Lam, "A data locality
//! optimizing algorithm", PLDI 1991; Bondhugula, Hartono, Ramanujam, Sadayappan, "A practical automatic polyhedral
//! parallelizer and locality optimizer", PLDI 2008).

use crate::plan::joined;
use good_lp::{Expression, ProblemVariables, Solution, SolverModel, Variable, constraint, microlp, variable};
use polyhedral::cone::Cone;
use polyhedral::dependence::Dependence;
use polyhedral::program::Program;
use std::collections::BTreeMap;

/// The skew of a dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skew {
    /// Points per time step.
    pub step: i64,
    /// Points, per statement.
    pub shifts: Vec<i64>,
    /// Points per point of each dimension before.
    pub cross: Vec<i64>,
}

/// The largest skew: beyond it coordinates of large grids could overflow.
const LARGEST: i64 = 1 << 10;

/// How much more a point of `step` or `cross` counts than one of a shift.
const WEIGHT: f64 = 4096.0;

/// The way in which coordinates grow with a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// As written above.
    Up,
    /// `y_d = -s_d + step*t + shift_k`.
    Down,
}

/// The skews of all dimensions, slowest first.
///
/// # Errors
/// Why there are none, as half a sentence.
pub fn skews(program: &Program, cone: &Cone) -> Result<Vec<Skew>, String> {
    (0..program.dimension()).map(|d| skew(program, cone, d, Direction::Up)).collect()
}

/// A dependence as the program sees it: statements, steps, offset, and the least distance that is asked for.
type Needs = BTreeMap<(usize, usize, i64, Vec<i64>), i64>;

/// The skew of one dimension.
///
/// # Errors
/// Why there is none, as half a sentence.
pub fn skew(program: &Program, cone: &Cone, d: usize, direction: Direction) -> Result<Skew, String> {
    let sign = if direction == Direction::Up { 1 } else { -1 };
    let statements = program.statements.len();
    let in_order = cone.offsets_within().next().is_some();
    // The least distance that is needed, by all that it is made of but the offset in this dimension.
    let mut needs = Needs::new();
    for dependence in &cone.dependences {
        let before = if in_order { dependence.offset[..d].to_vec() } else { Vec::new() };
        let key = (dependence.source, dependence.target, dependence.steps(statements), before);
        let least =
            i64::from(d + 1 == program.dimension() && joins_lines(dependence)) - sign * dependence.offset[d];
        let known = needs.entry(key).or_insert(least);
        *known = least.max(*known);
    }
    // Statements whose rows are one move together.
    let mut moves_with: Vec<usize> = (0..statements).collect();
    for run in joined::large_runs(program) {
        moves_with[run.clone()].fill(run.start);
    }
    let found = solve(&moves_with, if in_order { d } else { 0 }, &needs).ok_or_else(|| {
        format!("no skew of `{}` was found that respects its dependences", program.space_indices[d])
    })?;
    let largest = found.shifts.iter().chain(&found.cross).chain([&found.step]).max().copied().unwrap_or(0);
    if largest > LARGEST {
        return Err(format!(
            "`{}` would have to be skewed by {largest} points, more than {LARGEST}",
            program.space_indices[d]
        ));
    }
    let cross = (0..d).map(|e| found.cross.get(e).copied().unwrap_or(0)).collect();
    Ok(Skew { cross, ..found })
}

/// Whether a dependence goes from a line to another one of the same plane: several of these are computed at once.
fn joins_lines(dependence: &Dependence) -> bool {
    let Some((_, around)) = dependence.offset.split_last() else { return false };
    let Some((beside, before)) = around.split_last() else { return false };
    dependence.rows == 0 && before.iter().all(|&distance| distance == 0) && *beside != 0
}

/// The least skew, with one shift for all statements that move with the same one.
fn solve(moves_with: &[usize], crossed: usize, needs: &Needs) -> Option<Skew> {
    let mut variables = ProblemVariables::new();
    let whole = || variable().integer().min(0.0);
    let step = variables.add(whole());
    let cross: Vec<Variable> = (0..crossed).map(|_| variables.add(whole())).collect();
    let own: Vec<Variable> = moves_with.iter().map(|_| variables.add(whole())).collect();
    let shifts: Vec<Variable> = moves_with.iter().map(|&leader| own[leader]).collect();
    let steep: Expression = cross.iter().chain([&step]).sum();
    let shifted: Expression = own.iter().sum();
    let mut program = variables.minimise(WEIGHT * steep + shifted).using(microlp);
    for ((source, target, steps, before), &least) in needs {
        let mut distance: Expression = *steps as f64 * step;
        if moves_with[*source] != moves_with[*target] {
            distance += shifts[*target] - shifts[*source];
        }
        for (variable, &offset) in cross.iter().zip(before) {
            distance += offset as f64 * *variable;
        }
        program = program.with(constraint!(distance >= least as f64));
    }
    let solution = program.solve().ok()?;
    let value = |variable: &Variable| solution.value(*variable).round() as i64;
    let found = Skew {
        step: value(&step),
        shifts: shifts.iter().map(value).collect(),
        cross: cross.iter().map(value).collect(),
    };
    // The solver computes with rounding.
    let holds = needs.iter().all(|((source, target, steps, before), &least)| {
        let crossed: i64 = found.cross.iter().zip(before).map(|(factor, offset)| factor * offset).sum();
        found.step * steps + found.shifts[*target] - found.shifts[*source] + crossed >= least
    });
    holds.then_some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn of(name: &str) -> Vec<Skew> {
        let program = polyhedral::shipped::load(name).unwrap();
        let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
        skews(&program, &cone).unwrap()
    }

    fn skew(step: i64, shifts: &[i64], cross: &[i64]) -> Skew {
        Skew { step, shifts: shifts.to_vec(), cross: cross.to_vec() }
    }

    #[test]
    fn skews_are_the_least() {
        assert_eq!(of("heat2d"), [skew(1, &[0], &[]), skew(1, &[0], &[0])]);
        assert_eq!(of("star2d3r"), [skew(3, &[0], &[]), skew(3, &[0], &[0])]);
        // Magnetic fields read what the electric ones are now at the points after theirs.
        assert_eq!(of("fdtd2d"), [skew(1, &[0, 0, 1], &[]), skew(1, &[0, 0, 1], &[0])]);
        // A line is two points behind the one before it, so that neither waits for the other's point of one position.
        assert_eq!(of("seidel2d"), [skew(1, &[0], &[]), skew(3, &[0], &[2])]);
    }

    /// Downwards the same for stencils that are their own mirror images; a sweep in order has no such coordinate.
    #[test]
    fn skews_downwards_are_the_least() {
        let down = |name: &str| {
            let program = polyhedral::shipped::load(name).unwrap();
            let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
            super::skew(&program, &cone, 0, Direction::Down)
        };
        assert_eq!(down("star2d3r").unwrap(), skew(3, &[0], &[]));
        // Of both electric fields, the one that reads magnetic values of the row before comes a point later.
        assert_eq!(down("fdtd2d").unwrap(), skew(1, &[0, 0, 0], &[]));
        assert!(down("seidel2d").is_err());
    }
}
