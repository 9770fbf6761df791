//! Schedules as relations: what a tiling strategy hands to the legality proof.
//!
//! A schedule is given the way the emitted code enumerates it: as pieces
//! `{ S_k[t, s0, ..] -> [v_0, .., v_m] : constraints }` over the program's parameters. Two instances are
//! ordered by the first dimension in which their vectors differ: `Sequential` dimensions run in
//! ascending order, all values of a `Parallel` dimension run at once (in no order at all).

/// How the values of one schedule dimension are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Execution {
    /// In ascending order, each value complete before the next.
    Sequential,
    /// All at once, in no order.
    Parallel,
}

impl SchedulePiece {
    /// The first dimension in which two pieces have different fixed values, with the values.
    pub fn fixed_difference(&self, other: &SchedulePiece) -> Option<(usize, i64, i64)> {
        self.fixed.iter().find_map(|&(dimension, value)| {
            let (_, other) = other.fixed.iter().find(|(fixed, _)| *fixed == dimension)?;
            (*other != value).then_some((dimension, value, *other))
        })
    }
}

/// One dimension of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleDimension {
    /// Name, shown in messages: `band`, `phase`, `block`, `sub-tile s1`, `row`, `point s0`.
    pub name: String,
    /// How its values are executed.
    pub execution: Execution,
}

/// A part of the schedule of one statement, in isl's notation.
///
/// The variables are `t, s0, s1, ..` (the instance) and whatever `variables` names; `steps, n0, n1, ..`
/// are parameters (number of time steps; grid size).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchedulePiece {
    /// Index of the statement.
    pub statement: usize,
    /// One name per schedule dimension, unique, none equal to an instance variable or parameter.
    pub variables: Vec<String>,
    /// Dimensions in which all of the piece has one value, in order of dimension: part of the relation, and known
    /// without asking isl.
    pub fixed: Vec<(usize, i64)>,
    /// Existentially quantified helper variables.
    pub helpers: Vec<String>,
    /// Conjunction of constraints between instance variables, schedule variables, helpers and
    /// parameters, each an isl constraint such as `2*band <= t` or `row = t - 4*band`. The domain
    /// of the statement itself is not repeated: the proof intersects with it.
    pub constraints: Vec<String>,
    /// What the piece says of full tiles, in which the emitted code checks no bounds; `None` where nothing is said.
    pub full: Option<FullClaim>,
}

/// What a piece says of full tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullClaim {
    /// Further constraints on a piece's variables and helpers: they hold in full tiles.
    pub constraints: Vec<String>,
    /// Whether the piece runs in full tiles: then none of its instances there lies outside the statement's domain.
    /// Otherwise none lies inside.
    pub runs: bool,
}

/// A whole schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Outermost first.
    pub dimensions: Vec<ScheduleDimension>,
    /// The pieces; an instance must lie in exactly one of them.
    pub pieces: Vec<SchedulePiece>,
}

/// Pieces of a schedule, one for each statement of the program, that differ by the statement's number alone, or by bounds that each
/// of them has of its own: one piece in which that is a variable, without such bounds. The member of statement `k` is this piece
/// where the variable is `k`, within its own bounds, which whoever makes a family answers for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// All of them; its own `statement` means nothing.
    pub piece: SchedulePiece,
    /// The dimension whose value is the statement's number.
    pub row: usize,
    /// The pieces of the schedule, by statement.
    pub members: Vec<usize>,
    /// Per statement, what its member has beside that: constraints on instances and sizes alone.
    pub own: Vec<Vec<String>>,
}
