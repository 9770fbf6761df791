//! The tile sizes of a strategy as data: names, meanings, ranges, steps, and constraints between them.
//!
//! Parsers, reports, searches and tuners take the names and the ranges from here; only the strategy itself knows what
//! it does with a size.

use super::target::Target;
use crate::{PlanError, TileSizes};
use serde::Serialize;

/// What a size is measured along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Along {
    /// Logical rows of time, so many per time step.
    Time {
        /// Logical rows of a time step.
        rows_per_step: i64,
    },
    /// Points of a dimension of space, the slowest one being 0.
    Space(usize),
}

/// One tile size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TileSize {
    /// Name on the command line, unique in the space.
    pub name: &'static str,
    /// What it is, as half a sentence.
    pub meaning: &'static str,
    /// What it is measured along.
    pub along: Along,
    /// The least value, apart from 0 where that means the whole dimension.
    pub least: i64,
    /// The largest value.
    pub most: i64,
    /// All values but 0 are multiples of this.
    pub step: i64,
    /// Whether 0 is possible and means the whole dimension, not cut.
    pub whole: bool,
}

/// A size that may be left out: a way to run the same tile that no model knows the price of. Searches over models leave
/// it out; searches over measurements, and those who name it, give it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OptionalSize {
    /// The size.
    pub size: TileSize,
    /// The value that means the same as leaving it out.
    pub left_out: i64,
    /// The values that searches over measurements try, `left_out` among them; none where it follows from other sizes well
    /// enough.
    pub tried: &'static [i64],
    /// The only target for which it means something.
    pub target: Target,
}

/// A least value that depends on another size and repeats: for the value `v` of size `of`,
/// `size >= values[i]` with `i = v - 1`, taken back by whole periods until it lies in the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeastBy {
    /// The size that is bounded.
    pub size: &'static str,
    /// The size that it depends on.
    pub of: &'static str,
    /// The least values for `of` = 1, 2, ...
    pub values: Vec<i64>,
    /// The number of entries at the end of `values` that repeat for ever.
    pub period: usize,
    /// Why, for messages: ` for the slopes 1 and 1 of `heat2d``.
    pub because: String,
}

impl LeastBy {
    /// The least value of `size` where `of` has the value `value` (1 or more).
    pub fn at(&self, value: i64) -> i64 {
        let index = usize::try_from(value - 1).unwrap_or(0);
        let known = self.values.len();
        let index = if index < known {
            index
        } else {
            let first = known - self.period;
            first + (index - first) % self.period
        };
        self.values[index]
    }
}

/// The tile sizes that a strategy takes for a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TileSpace {
    /// The sizes, in the order in which they are written.
    pub sizes: Vec<TileSize>,
    /// Sizes that may be left out, written behind them.
    pub optional: Vec<OptionalSize>,
    /// Constraints between them.
    pub constraints: Vec<LeastBy>,
    /// Name of the program, for messages.
    pub program: String,
}

/// The largest tile size accepted: beyond it bounds could overflow.
pub const LARGEST_SIZE: i64 = 1 << 20;

impl TileSpace {
    /// Names of the sizes that each tile has, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.sizes.iter().map(|size| size.name)
    }

    /// The size of this name.
    pub fn size(&self, name: &str) -> Option<&TileSize> {
        self.sizes.iter().find(|size| size.name == name)
    }

    /// The optional size of this name.
    pub fn optional(&self, name: &str) -> Option<&OptionalSize> {
        self.optional.iter().find(|optional| optional.size.name == name)
    }

    /// The size along a dimension of space, the first one if there are several.
    pub fn along(&self, dimension: usize) -> Option<&TileSize> {
        self.sizes.iter().find(|size| size.along == Along::Space(dimension))
    }

    /// Tiles of about so many logical rows of time and so many points along each dimension (0: not cut), as far as this
    /// space has them: rounded to steps, no less than the constraints say.
    pub fn fitted(&self, rows: i64, points: &[i64]) -> TileSizes {
        let mut tile = TileSizes::default();
        for size in &self.sizes {
            let wanted = match size.along {
                Along::Time { .. } => rows,
                Along::Space(d) => points.get(d).copied().unwrap_or(0),
            };
            let value = if size.whole && wanted == 0 {
                0
            } else {
                let rounded = (wanted / size.step).max(1) * size.step;
                rounded.max(self.least(size, &tile)).min(size.most)
            };
            tile = tile.with(size.name, value);
        }
        tile
    }

    /// The least value of a size, apart from 0, beside those that are known already.
    pub fn least(&self, size: &TileSize, tile: &TileSizes) -> i64 {
        let constraints = self.constraints.iter().filter(|constraint| constraint.size == size.name);
        let bounds = constraints.filter_map(|constraint| Some(constraint.at(tile.get(constraint.of)?)));
        let least = bounds.fold(size.least, i64::max);
        (least + size.step - 1) / size.step * size.step
    }

    /// Checks complete sizes.
    ///
    /// # Errors
    /// [`PlanError::Tile`] names the size that is missing or not possible, and what would be.
    pub fn check(&self, strategy: &str, tile: &TileSizes) -> Result<(), PlanError> {
        for size in &self.sizes {
            let value = tile
                .get(size.name)
                .ok_or_else(|| refused(strategy, size.name, 0, "it is missing".to_owned()))?;
            if let Some(reason) = self.wrong(size, value, tile) {
                return Err(refused(strategy, size.name, value, reason));
            }
        }
        for OptionalSize { size, left_out, .. } in &self.optional {
            let given = tile.get(size.name).filter(|value| value != left_out);
            if let Some((value, reason)) =
                given.and_then(|value| Some((value, self.wrong(size, value, tile)?)))
            {
                return Err(refused(strategy, size.name, value, reason));
            }
        }
        Ok(())
    }

    /// Checks that the sizes mean something for a target.
    ///
    /// # Errors
    /// [`PlanError::Tile`] names an optional size of another target.
    pub fn check_target(&self, strategy: &str, tile: &TileSizes, target: Target) -> Result<(), PlanError> {
        for OptionalSize { size, left_out, target: own, .. } in &self.optional {
            let given = tile.get(size.name).filter(|value| value != left_out);
            if let Some(value) = given.filter(|_| *own != target) {
                let reason = format!("it is for {own} and means nothing for {target}; leave it out");
                return Err(refused(strategy, size.name, value, reason));
            }
        }
        Ok(())
    }

    /// Why a value is not possible.
    fn wrong(&self, size: &TileSize, value: i64, tile: &TileSizes) -> Option<String> {
        if size.whole && value == 0 {
            return None;
        }
        let zero = if size.whole { " (0: the whole dimension)" } else { "" };
        let constraints = self.constraints.iter().filter(|constraint| constraint.size == size.name);
        let bounds = constraints
            .filter_map(|constraint| Some((constraint.at(tile.get(constraint.of)?), constraint)))
            .map(|(least, constraint)| (least, constraint.because.as_str()));
        // A size that may be 0 is said to start there.
        let least = if size.whole { 0 } else { size.least };
        let (least, because) =
            bounds.fold((least, zero), |known, bound| if bound.0 >= known.0 { bound } else { known });
        if value < least {
            return Some(format!("it must be at least {least}{because}"));
        }
        if value > size.most {
            return Some(format!("it must be at most {}", size.most));
        }
        if value % size.step != 0 {
            let below = (value / size.step).max(1) * size.step;
            let (name, step) = (size.name, size.step);
            let why = match size.along {
                Along::Time { rows_per_step } if rows_per_step == step => {
                    format!("`{}` has {step} statements, so {name}", self.program)
                }
                _ => name.to_owned(),
            };
            return Some(format!("{why} must be a multiple of {step}, such as {below} or {}", below + step));
        }
        None
    }
}

pub(super) fn refused(strategy: &str, size: &str, value: i64, reason: String) -> PlanError {
    PlanError::Tile { strategy: strategy.to_owned(), size: size.to_owned(), value, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> TileSpace {
        let size = |name, along, least, step, whole| TileSize {
            name,
            meaning: "a size",
            along,
            least,
            most: LARGEST_SIZE,
            step,
            whole,
        };
        TileSpace {
            sizes: vec![
                size("depth", Along::Time { rows_per_step: 2 }, 1, 2, false),
                size("width", Along::Space(0), 1, 1, false),
                size("length", Along::Space(1), 1, 1, true),
            ],
            optional: vec![OptionalSize {
                size: size("folds", Along::Time { rows_per_step: 1 }, 1, 1, false),
                left_out: 1,
                tried: &[1, 2],
                target: Target::OpenMp,
            }],
            constraints: vec![LeastBy {
                size: "width",
                of: "depth",
                values: vec![1, 5, 2, 3],
                period: 2,
                because: " for its slopes".to_owned(),
            }],
            program: "mine".to_owned(),
        }
    }

    #[test]
    fn tables_repeat_their_last_period() {
        let constraint = &space().constraints[0];
        let values: Vec<i64> = (1..=8).map(|value| constraint.at(value)).collect();
        assert_eq!(values, [1, 5, 2, 3, 2, 3, 2, 3]);
    }

    #[test]
    fn wrong_sizes_are_named_with_the_way_out() {
        let space = space();
        let refuse = |text: &str| {
            let tile = TileSizes::parse(text).unwrap();
            let complete = space.complete("s", &tile, &TileSizes::parse("depth=2,width=9,length=0").unwrap());
            complete.and_then(|tile| space.check("s", &tile)).unwrap_err().to_string()
        };
        for (text, words) in [
            ("depth=3", "`mine` has 2 statements, so depth must be a multiple of 2, such as 2 or 4"),
            ("depth=0", "at least 1"),
            ("depth=2,width=4", "at least 5 for its slopes"),
            ("length=-1", "at least 0 (0: the whole dimension)"),
            ("width=1048577", "at most 1048576"),
            ("s0=3", "the tile sizes here are depth, width, length, folds"),
            ("widht=3", "the tile sizes here are depth, width, length, folds; did you mean width?"),
            ("folds=0", "at least 1"),
        ] {
            assert!(refuse(text).contains(words), "{text}: {}", refuse(text));
        }
        let complete = space
            .complete("s", &TileSizes::parse("length=7,depth=4").unwrap(), &TileSizes::new([("width", 3)]))
            .unwrap();
        assert_eq!(complete.to_string(), "depth=4,width=3,length=7");
        space.check("s", &complete).unwrap();
        let complete = |text: &str| space.complete("s", &TileSizes::parse(text).unwrap(), &complete).unwrap();
        assert_eq!(complete("folds=1").to_string(), "depth=4,width=3,length=7");
        let folded = complete("folds=2,width=5");
        assert_eq!(folded.to_string(), "depth=4,width=5,length=7,folds=2");
        space.check("s", &folded).unwrap();
        space.check_target("s", &folded, Target::OpenMp).unwrap();
        let other = space.check_target("s", &folded, Target::Cuda).unwrap_err().to_string();
        assert!(other.contains("it is for OpenMP and means nothing for CUDA"), "{other}");
        let missing = space.check("s", &TileSizes::new([("depth", 2)])).unwrap_err().to_string();
        assert!(missing.contains("width=0") && missing.contains("missing"), "{missing}");
    }
}
