//! Bands of time whose input and output are whole levels, in the two slots of the arrays in turn.
//!
//! Blocks of a band read each other's input, so that a band must not write to the slot that it reads. Band `T` reads
//! slot `T mod 2` and writes the other one, whatever levels lie there. The first level lies in slot 0, and the last
//! one, `steps`, belongs in slot `steps mod 2`: the number of bands must have the parity of the number of steps. And
//! the last band has one step alone, so that the level before the last one is left in the other slot, as the program
//! leaves it. With `c = ceil((steps - 1)/depth)` that is
//!
//! ```text
//! bands = 1 + c + (c - steps + 1) mod 2 <= steps        first step of band T = min(depth*T, steps - bands + T)
//! ```
//!
//! where there is a step; so that all bands have `depth` steps but the last two or three, which have at least one.

use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Binding, Loop, TimeBands};
use crate::storage::Slot;
use polyhedral::program::{Access, FieldId, FieldRole, Program};

/// Slots of the arrays that bands alternate between.
pub const SLOTS: i64 = 2;

/// The host variable.
pub const BAND: &str = "band";
/// The variable of the loop over time steps of a band.
pub const ROW: &str = "m";
/// The first step of a band.
const FIRST: &str = "t0";
/// The first step of the next one.
const LAST: &str = "t1";

/// Bands of at most `depth` time steps.
#[derive(Debug, Clone, Copy)]
pub struct Bands {
    /// Time steps of a band.
    pub depth: i64,
}

impl Bands {
    /// How many there are, where there is a step.
    fn count(self) -> IntExpr {
        let least = (var("steps") - 1).ceil_div(self.depth);
        least.clone() + (least - var("steps") + 1).modulo(2) + 1
    }

    /// The host's loop over the bands.
    pub fn outer(self) -> Loop {
        Loop { variable: BAND, low: int(0), high: (self.count() - 1).min(var("steps") - 1) }
    }

    /// The first step of band `band`.
    fn start(self, band: IntExpr) -> IntExpr {
        (band.clone() * self.depth).min(var("steps") - self.count() + band)
    }

    /// What they are, for the proof.
    pub fn time_bands(self) -> TimeBands {
        let binding = |name, value, comment: &str| Binding { name, value, comment: comment.to_owned() };
        TimeBands {
            first: binding(FIRST, self.start(var(BAND)), "first time step of the band"),
            end: binding(LAST, self.start(var(BAND) + 1), "first time step of the next one"),
            most: self.depth,
            turns: SLOTS,
        }
    }

    /// First step and end of a band, for [`Bands::first`] and [`Bands::last`].
    pub fn bindings(self) -> Vec<Binding> {
        let TimeBands { first, end, .. } = self.time_bands();
        vec![first, end]
    }

    /// The first step, and the level that the band reads.
    pub fn first(self) -> IntExpr {
        var(FIRST)
    }

    /// The step after the last one, and the level that the band leaves.
    pub fn last(self) -> IntExpr {
        var(LAST)
    }

    /// Number of steps.
    pub fn steps(self) -> IntExpr {
        var(LAST) - var(FIRST)
    }

    /// The same for the host, which has no bindings.
    pub fn length(self) -> IntExpr {
        self.start(var(BAND) + 1) - self.start(var(BAND))
    }

    /// The slot that the band reads.
    pub fn input(self) -> Slot {
        Slot::At(var(BAND).modulo(SLOTS))
    }

    /// The slot that the band writes.
    pub fn output(self) -> Slot {
        Slot::At((var(BAND) + 1).modulo(SLOTS))
    }
}

/// Bands of a run, by their length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// Those of two steps or more.
    pub long: i64,
    /// Those of one step.
    pub single: i64,
    /// Steps of the first one.
    pub first: i64,
}

impl Bands {
    /// The bands of so many steps. Before the two lines of [`Bands::start`] cross, `X = steps - bands` steps of theirs are more
    /// than one a band: in `ceil(X / (depth - 1))` of them.
    pub fn lengths(self, steps: i64) -> Lengths {
        if steps < 1 {
            return Lengths { long: 0, single: 0, first: 0 };
        }
        let least = (steps - 1 + self.depth - 1) / self.depth;
        let bands = (1 + least + (least - steps + 1).rem_euclid(SLOTS)).min(steps);
        let more = steps - bands;
        let long = if self.depth > 1 { (more + self.depth - 2) / (self.depth - 1) } else { 0 };
        Lengths { long, single: bands - long, first: self.depth.min(more + 1) }
    }
}

impl Bands {
    /// The lengths that bands of a run have, the longest first, and how many have each.
    pub fn by_length(self, steps: i64) -> Vec<(i64, i64)> {
        let Lengths { long, single, .. } = self.lengths(steps);
        // All long ones but the last are whole; that one has what remains.
        let rest = steps - single - (long - 1) * self.depth;
        let all = match long {
            0 => vec![(1, single)],
            _ if rest == self.depth => vec![(rest, long), (1, single)],
            _ => vec![(self.depth, long - 1), (rest, 1), (1, single)],
        };
        all.into_iter().filter(|(_, bands)| *bands > 0).collect()
    }
}

/// Whether the arrays have what bands need.
///
/// # Errors
/// The reason, as half a sentence.
pub fn one_level_in_two_slots(program: &Program) -> Result<(), String> {
    for (index, field) in program.fields.iter().enumerate() {
        let statements = program.writers_of(FieldId(index)).count();
        if statements > 1 {
            // isl could show it, and takes too long.
            return Err(format!(
                "where values live is proved for fields of one statement each; `{}` has {statements}",
                field.name
            ));
        }
        if let FieldRole::State { levels, slots } = field.role
            && (levels, slots as i64) != (1, SLOTS)
        {
            return Err(format!(
                "a band reads one time level and writes another one while blocks run side by side, so that every \
                 field needs one initial level and two stored ones; `{}` has {levels} and {slots}",
                field.name
            ));
        }
    }
    Ok(())
}

/// How far statements read fields that change, per dimension: towards smaller and towards larger indices.
pub fn reach(program: &Program) -> Vec<(i64, i64)> {
    reach_among(program, |read| program.field(read.field).role != FieldRole::Coefficient)
}

/// The same of all fields.
pub fn reach_of_all(program: &Program) -> Vec<(i64, i64)> {
    reach_among(program, |_| true)
}

fn reach_among(program: &Program, wanted: impl Fn(&Access) -> bool) -> Vec<(i64, i64)> {
    let reads = || program.statements.iter().flat_map(|statement| &statement.reads);
    let farthest =
        |of: &dyn Fn(&Access) -> i64| reads().filter(|read| wanted(read)).map(of).max().unwrap_or(0).max(0);
    let along = |d: usize| (farthest(&|read| -read.offset[d]), farthest(&|read| read.offset[d]));
    (0..program.dimension()).map(along).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::int_expr::Environment;

    #[test]
    fn lengths_are_those_of_the_loop() {
        for (depth, steps) in (1..9).flat_map(|depth| (1..60).map(move |steps| (depth, steps))) {
            let bands = Bands { depth };
            let mut inside = Environment::new();
            inside.insert("steps", steps);
            let high = bands.outer().high.evaluate(&inside).unwrap();
            let length = |band: i64| {
                inside.insert(BAND, band);
                bands.length().evaluate(&inside).unwrap()
            };
            let all: Vec<i64> = (0..=high).map(length).collect();
            let single = all.iter().filter(|&&own| own == 1).count() as i64;
            let counted = Lengths { long: all.len() as i64 - single, single, first: all[0] };
            assert_eq!(bands.lengths(steps), counted, "depth {depth}, {steps} steps: {all:?}");
            let mut by_length = std::collections::BTreeMap::new();
            all.iter().for_each(|own| *by_length.entry(-own).or_insert(0) += 1);
            let by_length: Vec<_> = by_length.into_iter().map(|(own, bands)| (-own, bands)).collect();
            assert_eq!(bands.by_length(steps), by_length, "depth {depth}, {steps} steps");
        }
    }
}
