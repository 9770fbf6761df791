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
//!
//! Where steps read two levels, a band reads two and leaves two, and cannot write to either slot that others still read: fields have
//! two slots of the program and two spare ones, which begin as copies of the first. Band `T` reads the pair `T mod 2` and writes
//! the other one, in each pair level `l` in the slot `(l + 1) mod 2`. The last band must write the program's own pair, so that its
//! number is odd: with `c = ceil(steps/depth)` bands, the first one has number `c mod 2`. Its last band has what remains, and one of
//! a single step carries the level before on. Fields that a step overwrites in place have one slot of the program and a spare one:
//! the pair is a slot.

use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Binding, Loop, TimeBands};
use crate::storage::Slot;
use polyhedral::program::{Access, Field, FieldId, FieldRole, Program};

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
    /// Levels that a band reads and leaves: 1 or 2.
    pub levels: i64,
    /// Whether the arrays have spare slots: where there are two levels, or one slot.
    pub spare: bool,
}

impl Bands {
    /// Bands that read one level and leave one.
    pub fn of_one_level(depth: i64) -> Bands {
        Bands { depth, levels: 1, spare: false }
    }

    /// How many there are, where there is a step.
    fn count(self) -> IntExpr {
        if self.spare {
            return var("steps").ceil_div(self.depth);
        }
        let least = (var("steps") - 1).ceil_div(self.depth);
        least.clone() + (least - var("steps") + 1).modulo(2) + 1
    }

    /// The number of the first one.
    fn lowest(self) -> IntExpr {
        if self.spare { self.count().modulo(SLOTS) } else { int(0) }
    }

    /// The host's loop over the bands.
    pub fn outer(self) -> Loop {
        if self.spare {
            let high = self.lowest() + self.count() - 1;
            return Loop { variable: BAND, low: self.lowest(), high };
        }
        Loop { variable: BAND, low: int(0), high: (self.count() - 1).min(var("steps") - 1) }
    }

    /// The first step of band `band`.
    fn start(self, band: IntExpr) -> IntExpr {
        if self.spare {
            return ((band - self.lowest()) * self.depth).min(var("steps"));
        }
        (band.clone() * self.depth).min(var("steps") - self.count() + band)
    }

    /// What they are, for the proof.
    pub fn time_bands(self) -> TimeBands {
        let binding = |name, value, comment: &str| Binding { name, value, comment: comment.to_owned() };
        TimeBands {
            first: binding(FIRST, self.start(var(BAND)), "first time step of the band"),
            end: binding(LAST, self.start(var(BAND) + 1), "first time step of the next one"),
            most: self.depth,
            turns: if self.spare { 1 } else { SLOTS },
            spare: self.spare,
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

    /// The slot from which the band reads a level: its first one, or that `age` before it.
    pub fn input(self, age: i64) -> Slot {
        self.slot(&var(BAND), &(self.first() - age))
    }

    /// The slot to which the band writes the level after so many stages.
    pub fn output(self, stage: i64) -> Slot {
        self.slot(&(var(BAND) + 1), &(self.first() + stage))
    }

    fn slot(self, pair: &IntExpr, level: &IntExpr) -> Slot {
        let pair = pair.clone().modulo(SLOTS);
        Slot::At(if self.levels > 1 { pair * SLOTS + (level.clone() + 1).modulo(SLOTS) } else { pair })
    }

    /// The level after so many stages of a band: behind the last step that one, or, where bands leave two levels, the last two in turn,
    /// so that those of a stage keep their slot.
    pub fn level_after(self, stage: IntExpr) -> IntExpr {
        let level = self.first() + stage;
        if self.levels > 1 {
            return level.clone().min(self.last() - (level - self.last()).modulo(SLOTS));
        }
        level.min(self.last())
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
        if self.spare {
            let bands = (steps + self.depth - 1) / self.depth;
            let single = if self.depth == 1 { bands } else { i64::from(steps % self.depth == 1) };
            return Lengths { long: bands - single, single, first: self.depth.min(steps) };
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

/// Whether the arrays have what bands of one level need.
///
/// # Errors
/// The reason, as half a sentence.
pub fn one_level_in_two_slots(program: &Program) -> Result<(), String> {
    written_once(program)?;
    for field in &program.fields {
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

/// Whether each field is computed by one statement.
fn written_once(program: &Program) -> Result<(), String> {
    for (index, field) in program.fields.iter().enumerate() {
        let statements = program.writers_of(FieldId(index)).count();
        if statements > 1 {
            // isl could show it, and takes too long.
            return Err(format!(
                "where values live is proved for fields of one statement each; `{}` has {statements}",
                field.name
            ));
        }
    }
    Ok(())
}

/// What bands carry from one to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carried {
    /// Levels that each reads and leaves.
    pub levels: i64,
    /// Whether the arrays need spare slots for that.
    pub spare: bool,
}

impl Default for Carried {
    fn default() -> Carried {
        Carried { levels: 1, spare: false }
    }
}

/// What bands of these arrays carry, where bands can: one level in two slots, or in one with a spare one, or two in two slots, the older
/// of which is read at the point that is computed alone, so that two spare ones do.
///
/// # Errors
/// The reason, as half a sentence.
pub fn carried(program: &Program) -> Result<Carried, String> {
    let changes = || program.fields.iter().filter(|field| field.role != FieldRole::Coefficient);
    let all = |wanted: (usize, usize)| {
        let is = |field: &Field| matches!(field.role, FieldRole::State { levels, slots } if (levels, slots) == wanted);
        changes().all(is)
    };
    let levels = match (all((1, 1)), all((2, 2))) {
        (true, _) => 1,
        (_, true) => 2,
        _ => {
            let one_level =
                |field: &Field| matches!(field.role, FieldRole::State { levels: 1, slots: 1 | 2 });
            if changes().all(one_level) && !all((1, SLOTS as usize)) {
                let single = changes().find(|field| field.role.slots() == 1);
                return Err(format!(
                    "fields with one stored level and with two are not handed on together; write `slots 2` after the type \
                     of `{}`",
                    single.map_or("", |field| field.name.as_str())
                ));
            }
            return one_level_in_two_slots(program).map(|()| Carried::default());
        }
    };
    written_once(program)?;
    if program.is_periodic() {
        return Err("grids that wrap around have no room for the spare slots that it needs".to_owned());
    }
    let reads = program.statements.iter().flat_map(|statement| &statement.reads);
    let mut older = reads.filter(|read| read.time < 0);
    match older.find(|read| read.time < -1 || read.offset.iter().any(|&offset| offset != 0)) {
        Some(read) => Err(format!(
            "of the level before the last one it keeps what is read at the point that is computed, and `{}` is read elsewhere",
            program.field(read.field).name
        )),
        None => Ok(Carried { levels, spare: true }),
    }
}

/// How far statements read fields that change, per dimension: towards smaller and towards larger indices.
pub fn reach(program: &Program) -> Vec<(i64, i64)> {
    let changes = |read: &&Access| program.field(read.field).role != FieldRole::Coefficient;
    let reads = || program.statements.iter().flat_map(|statement| &statement.reads).filter(changes);
    let farthest = |of: &dyn Fn(&Access) -> i64| reads().map(of).max().unwrap_or(0).max(0);
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
        let runs = (1..9).flat_map(|depth| (1..60).map(move |steps| (depth, steps)));
        let kinds = [(1, false), (1, true), (2, true)];
        for ((levels, spare), (depth, steps)) in
            kinds.into_iter().flat_map(|own| runs.clone().map(move |run| (own, run)))
        {
            let bands = Bands { depth, levels, spare };
            let mut inside = Environment::new();
            inside.insert("steps", steps);
            let outer = bands.outer();
            let [low, high] = [outer.low, outer.high].map(|end| end.evaluate(&inside).unwrap());
            let length = |band: i64| {
                inside.insert(BAND, band);
                bands.length().evaluate(&inside).unwrap()
            };
            let all: Vec<i64> = (low..=high).map(length).collect();
            assert_eq!(all.iter().sum::<i64>(), steps, "{bands:?}: {all:?}");
            assert!(!spare || high % 2 == 1, "{bands:?}, {steps} steps");
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
