//! Which points of a box may be computed before others, for many steps: lines that move with the steps.
//!
//! A box whose ghosts are on the way is computed in two parts, in place: first the points that need none of them, then the
//! others. The line between them moves inwards. Above it, at the high side of a dimension, lie the instances
//!
//! ```text
//! (S, t, s)  with  s >= h - slope * t - margin_S
//! ```
//!
//! and at the low side those with `s < l + slope * t + margin_S`. All steps of the points below are computed before the
//! first step of those above. That is legal where no instance below depends on one above, over the storage that is really used:
//! for a dependence of `(T, t + d, s + o)` on `(S, t, s)`, if the source lies above the line, so does the target. Values
//! that are overwritten in place are dependences, too, so that the part above finds what it reads where the part below
//! left it, and nothing is computed twice.
//!
//! In several dimensions each side has a line of its own; the points beyond the lines of dimension 0 come last, those
//! beyond the lines of the last one first, and within them the points between the lines of the dimensions before. As a target
//! lies beyond at least the lines that its source lies beyond, no part depends on a later one.

use crate::dependence::{Dependence, DependenceError, dependences};
use crate::ghost::Ghosts;
use crate::isl::{Context, IslError};
use crate::program::Program;

/// The most operations of a proof, in isl's count.
const BUDGET: u64 = 5_000_000;
/// How much steeper than what a step reads a line may be.
const STEEPEST: i64 = 8;

/// Lines between what is computed first and what is computed afterwards, per dimension at the low side and at the high side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slants {
    /// Points by which a line moves inwards with each step.
    pub slope: Vec<[i64; 2]>,
    /// Points by which the line of a statement lies further inside, by statement.
    pub margins: Vec<Vec<[i64; 2]>>,
}

/// Why a program has no such lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SlantError {
    /// No slope will do.
    #[error(
        "no line parts the points of dimension {dimension} such that those on one side can be computed first"
    )]
    None {
        /// The dimension.
        dimension: usize,
    },
    /// The proof failed.
    #[error("{problem} (dimension {dimension}, {example})")]
    Wrong {
        /// What goes wrong.
        problem: String,
        /// Where.
        dimension: usize,
        /// A line, a step and a point for which it does.
        example: String,
    },
    /// The program has no dependences that could be used.
    #[error(transparent)]
    Dependences(#[from] DependenceError),
    /// isl gave no answer.
    #[error(transparent)]
    Isl(#[from] IslError),
}

impl Slants {
    /// The lines of a program with these ghost zones, which move no less than a step reads.
    ///
    /// # Errors
    /// [`SlantError::None`] where there are none.
    pub fn of(program: &Program, ghosts: &Ghosts) -> Result<Slants, SlantError> {
        let dependences = dependences(program)?;
        let first = Ghosts::margins(program);
        let mut slants = Slants { slope: vec![[0; 2]; program.dimension()], margins: first.clone() };
        for dimension in 0..program.dimension() {
            for side in 0..2 {
                let least = ghosts.reach[dimension][side];
                let own: Vec<i64> = first.iter().map(|margin| margin[dimension][side]).collect();
                let found = (least..=least + STEEPEST).find_map(|slope| {
                    let margins = settled(&dependences, &own, slope, (dimension, side))?;
                    Some((slope, margins))
                });
                let (slope, margins) = found.ok_or(SlantError::None { dimension })?;
                slants.slope[dimension][side] = slope;
                for (all, margin) in slants.margins.iter_mut().zip(margins) {
                    all[dimension][side] = margin;
                }
            }
        }
        Ok(slants)
    }

    /// Shows that the points between the lines can be computed first, for lines and steps of all sizes: that they depend on
    /// nothing beyond, and read nothing from outside the box at whose ends the lines begin.
    ///
    /// # Errors
    /// [`SlantError::Wrong`] with an example.
    pub fn prove(&self, program: &Program) -> Result<usize, SlantError> {
        let context = Context::new(BUDGET)?;
        let mut shown = 0;
        let mut empty = |dimension: usize, problem: String, wrong: String| {
            let set = context.set(&format!("{{ [h, t, s] : 0 <= t and {wrong} }}"))?;
            shown += 1;
            let Some(sample) = set.sample()? else { return Ok(()) };
            let [h, t, s] = sample.dimensions[..] else { return Ok(()) };
            let example = format!("line {h}, step {t}, point {s}");
            Err(SlantError::Wrong { problem, dimension, example })
        };
        for dimension in 0..program.dimension() {
            for side in 0..2 {
                // At the low side all is mirrored.
                let mirror = |offset: i64| if side == 0 { -offset } else { offset };
                let slope = self.slope[dimension][side];
                let line = |statement: usize| {
                    format!("h - {slope}t - ({})", self.margins[statement][dimension][side])
                };
                for dependence in dependences(program)? {
                    let Dependence { source, target, ref offset, .. } = dependence;
                    let later = slope * dependence.steps(program.statements.len());
                    let wrong = format!(
                        "s >= {} and s + ({}) < {} - ({later})",
                        line(source),
                        mirror(offset[dimension]),
                        line(target)
                    );
                    empty(dimension, dependence.to_string() + " crosses the line", wrong)?;
                }
                for (number, statement) in program.statements.iter().enumerate() {
                    for read in &statement.reads {
                        let offset = mirror(read.offset[dimension]);
                        let wrong = format!("s < {} and s + ({offset}) >= h", line(number));
                        let name = program.statement_name(number);
                        empty(dimension, format!("statement {name} reads beyond the box"), wrong)?;
                    }
                }
            }
        }
        Ok(shown)
    }
}

/// The least margins, no less than `least`, with which no dependence crosses a line of this slope; `None` where there are none.
fn settled(
    dependences: &[Dependence],
    least: &[i64],
    slope: i64,
    (dimension, side): (usize, usize),
) -> Option<Vec<i64>> {
    let mut margins = least.to_vec();
    // A longest path; one that is longer than there are statements goes in a circle.
    for _ in 0..=least.len() {
        let mut changed = false;
        for dependence in dependences {
            let offset = dependence.offset[dimension] * if side == 0 { -1 } else { 1 };
            let needed = margins[dependence.source] - offset - slope * dependence.steps(least.len());
            if margins[dependence.target] < needed {
                margins[dependence.target] = needed;
                changed = true;
            }
        }
        if !changed {
            return Some(margins);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, shipped};

    #[test]
    fn shipped_programs_have_lines_that_nothing_crosses_and_none_that_move_less() {
        for name in shipped::names() {
            let program = shipped::load(name).unwrap();
            let Ok(ghosts) = Ghosts::of(&program) else { continue };
            let slants = Slants::of(&program, &ghosts).unwrap();
            assert!(slants.prove(&program).unwrap() > 0, "{name}");
            if !["heat2d", "wave2d", "fdtd2d", "asym2d"].contains(&name) {
                continue;
            }
            for (d, side) in (0..program.dimension()).flat_map(|d| [(d, 0), (d, 1)]) {
                let mut flat = slants.clone();
                flat.slope[d][side] -= 1;
                let found = flat.prove(&program);
                assert!(matches!(found, Err(SlantError::Wrong { .. })), "{name}: {flat:?}");
            }
        }
    }

    /// What is overwritten in place counts as what is read: the value of three points below is needed until then.
    #[test]
    fn what_is_overwritten_moves_lines_as_far_as_what_is_read() {
        let text = "stencil lopsided(t, i) { field u: f32; u[t+1, i] = u[t, i-3] + u[t, i+1]; }";
        let program = parse("lopsided", text).unwrap();
        let ghosts = Ghosts::of(&program).unwrap();
        assert_eq!(ghosts.reach, [[3, 1]]);
        let slants = Slants::of(&program, &ghosts).unwrap();
        assert_eq!(slants.slope, [[3, 3]]);
        slants.prove(&program).unwrap();
        let thin = Slants { slope: vec![[3, 1]], ..slants };
        let found = thin.prove(&program).unwrap_err().to_string();
        assert!(found.contains("anti dependence") && found.contains("crosses the line"), "{found}");
    }
}
