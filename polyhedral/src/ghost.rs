//! Ghost zones: what a box of the grid needs in order to compute its points alone for several time steps.
//!
//! A box `[low, high)` of a grid is to be known after `k` steps. It is extended to
//!
//! ```text
//! a = max(0, low - k * reach_low - frame_low),   b = min(n, high + k * reach_high + frame_high)
//! ```
//!
//! in each dimension, and the program runs for `k` steps on `[a, b)` as on a whole grid of `b - a` points. Where an end of
//! the extended box is no end of the grid, the points near it get values that mean nothing: domains begin elsewhere
//! there, and what lies beyond is not read. After `j` steps all values are those of the whole grid in the *valid* box
//!
//! ```text
//! V(j) = { s : low - (k - j) * reach_low <= s < high + (k - j) * reach_high,  0 <= s < n }
//! ```
//!
//! and V(k) is the box itself. [`Ghosts::prove`] shows by induction over the steps, with isl, for grids, boxes and `k`
//! of all sizes, that V(j + 1) follows from V(j). Statement by statement, the values that step `j + 1` computes are
//! right in the valid box shrunk by some `margin`, at most `reach`:
//!
//! 1. there, the local domain of the statement and that of the whole grid are the same points;
//! 2. what these points read lies in V(j), or, of the step's own values, in the part where those are right;
//! 3. that part is no less than V(j + 1);
//! 4. before the first step the boundary is copied to older initial levels: in V(0) nothing but boundary is overwritten.
//!
//! Dimensions are independent: domains, boxes and reads are products of intervals.
//!
//! **Periodic grids** are the same on another whole. Unrolled along the dimensions in which it wraps around, the grid of
//! `n` points is the line of all integers with values of period `n`, and a program that reads `s + offset` there keeps the
//! period: what is computed at `s` is what the periodic program computes at `s mod n`. The grid itself is a box `[0, n)` of
//! that line, extended to `[-low, n + high)` by copies of its own points, whatever `n` is: a ghost zone may be
//! wider than the grid. Along these dimensions the whole has no ends, its domains hold all points, and boxes are extended at
//! both ends; along the others the box is the whole ([`Ghosts::prove_around`]), or any part of it ([`Ghosts::prove`]).

use crate::domain::{Bound, GridEnd, Interval};
use crate::isl::{Context, IslError};
use crate::program::{Access, Boundary, FieldRole, Program, Statement};
use std::collections::HashSet;

/// The most operations of a proof, in isl's count.
const BUDGET: u64 = 50_000_000;

/// Ghost zones of a program, per dimension in points below and above a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ghosts {
    /// What each time step adds.
    pub reach: Vec<[i64; 2]>,
    /// What is added once, whatever the number of steps.
    pub frame: Vec<[i64; 2]>,
}

/// What was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GhostProof {
    /// Sets shown empty.
    pub sets: usize,
}

/// Why a program has no ghost zones, or they do not suffice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GhostError {
    /// A sweep in order.
    #[error(
        "the points of statement {statement} are computed in order, each from others of the same step: a value depends \
         on the whole grid before it"
    )]
    InOrder {
        /// The statement's name.
        statement: String,
    },
    /// A statement whose value depends on where its point lies.
    #[error(
        "statement {statement} has conditions on the indices, which a box of the grid counts from its own first point and step"
    )]
    Indices {
        /// The statement's name.
        statement: String,
    },
    /// A boundary of its own in every slot.
    #[error("every stored time level has a boundary of its own")]
    PerSlot,
    /// The ghost zones do not suffice.
    #[error(
        "the ghost zones do not suffice for statement {statement}: {problem} (dimension {dimension}, {example})"
    )]
    TooThin {
        /// The statement's name.
        statement: String,
        /// What goes wrong.
        problem: &'static str,
        /// Where.
        dimension: usize,
        /// A grid and a box for which it does.
        example: String,
    },
    /// isl gave no answer.
    #[error(transparent)]
    Isl(#[from] IslError),
}

/// By how much the part in which the values of a statement are right is less than the valid box before the step.
type Margin = Vec<[i64; 2]>;

/// How far domains of the statement differ at the two ends of a box from those of the whole grid.
fn edge(interval: Interval) -> [i64; 2] {
    let at = |end: GridEnd| {
        let bounds = [interval.low, interval.high].into_iter().filter(move |bound| bound.from == end);
        bounds.map(move |Bound { offset, .. }| if end == GridEnd::Start { offset } else { -offset })
    };
    [GridEnd::Start, GridEnd::End].map(|end| at(end).max().unwrap_or(0).max(0))
}

/// The margin of the values that an access reads: those of the step itself have one.
fn of_read(program: &Program, read: &Access, margins: &[Margin]) -> Margin {
    let mut margin = vec![[0; 2]; program.dimension()];
    if read.time == 1 {
        let writers = program.writers_of(read.field).filter_map(|(writer, _)| margins.get(writer));
        for (own, other) in writers.flat_map(|other| other.iter().enumerate()) {
            for side in 0..2 {
                margin[own][side] = margin[own][side].max(other[side]);
            }
        }
    }
    margin
}

impl Ghosts {
    /// The ghost zones that a program needs for a box of its grid.
    ///
    /// # Errors
    /// [`GhostError::InOrder`], [`GhostError::Indices`] and [`GhostError::PerSlot`] for programs that have none.
    pub fn of(program: &Program) -> Result<Ghosts, GhostError> {
        if program.boundary == Boundary::PerSlot {
            return Err(GhostError::PerSlot);
        }
        Ghosts::zones(program)
    }

    /// The ghost zones around a whole periodic grid; none along dimensions that do not wrap around.
    ///
    /// # Errors
    /// [`GhostError::InOrder`] and [`GhostError::Indices`].
    pub fn around(program: &Program) -> Result<Ghosts, GhostError> {
        let mut zones = Ghosts::zones(program)?;
        for (d, _) in program.periodic.iter().enumerate().filter(|(_, periodic)| !**periodic) {
            (zones.reach[d], zones.frame[d]) = ([0; 2], [0; 2]);
        }
        Ok(zones)
    }

    /// By how much less than the valid box before a step the part is in which its values of a statement are right, per
    /// statement and dimension, at ends of the box that are no ends of the grid. Whoever computes no more than these parts
    /// computes all that is needed.
    pub fn margins(program: &Program) -> Vec<Vec<[i64; 2]>> {
        let mut margins: Vec<Margin> = Vec::new();
        for statement in &program.statements {
            let mut margin: Margin = statement.domain.iter().map(|&interval| edge(interval)).collect();
            for read in &statement.reads {
                let before = of_read(program, read, &margins);
                for ((own, before), offset) in margin.iter_mut().zip(before).zip(&read.offset) {
                    own[0] = own[0].max(before[0] - offset);
                    own[1] = own[1].max(before[1] + offset);
                }
            }
            margins.push(margin);
        }
        margins
    }

    /// The ghost points below and above a box for so many steps, in this dimension.
    pub fn depth(&self, dimension: usize, steps: i64) -> [i64; 2] {
        [0, 1].map(|side| {
            self.reach[dimension][side].saturating_mul(steps).saturating_add(self.frame[dimension][side])
        })
    }

    fn zones(program: &Program) -> Result<Ghosts, GhostError> {
        if let Some(statement) = program.sweeps_in_order().next() {
            return Err(GhostError::InOrder { statement: program.statement_name(statement) });
        }
        let asks = |statement: &Statement| !statement.congruences().is_empty();
        if let Some(statement) = program.statements.iter().position(asks) {
            return Err(GhostError::Indices { statement: program.statement_name(statement) });
        }
        let largest = |all: &mut dyn Iterator<Item = Margin>| {
            all.fold(vec![[0; 2]; program.dimension()], |mut most, margin| {
                for (most, margin) in most.iter_mut().zip(margin) {
                    *most = [0, 1].map(|side| most[side].max(margin[side]));
                }
                most
            })
        };
        let edges = |statement: &Statement| statement.domain.iter().map(|&interval| edge(interval)).collect();
        let older = program.statements.iter().filter(|statement| has_older_levels(program, statement));
        Ok(Ghosts {
            reach: largest(&mut Ghosts::margins(program).into_iter()),
            frame: largest(&mut older.map(edges)),
        })
    }

    /// Shows that the ghost zones suffice for boxes of all sizes, wherever they lie ([`Ghosts::of`]).
    ///
    /// # Errors
    /// [`GhostError::TooThin`] with a grid and a box where they do not.
    pub fn prove(&self, program: &Program) -> Result<GhostProof, GhostError> {
        self.shown(program, Whole::Grid)
    }

    /// Shows that the ghost zones suffice for the whole of a periodic grid ([`Ghosts::around`]).
    ///
    /// # Errors
    /// [`GhostError::TooThin`] with a grid where they do not.
    pub fn prove_around(&self, program: &Program) -> Result<GhostProof, GhostError> {
        self.shown(program, Whole::Uncut)
    }

    /// The proof, where dimensions that do not wrap around are `kind`.
    fn shown(&self, program: &Program, kind: Whole) -> Result<GhostProof, GhostError> {
        let context = Context::new(BUDGET)?;
        let whole_of = |d: usize| if program.periodic[d] { Whole::Line } else { kind };
        let margins = Ghosts::margins(program);
        // Statements and reads have many constraints in common.
        let mut shown = HashSet::new();
        for (number, statement) in program.statements.iter().enumerate() {
            for dimension in 0..program.dimension() {
                let kind = whole_of(dimension);
                let side = Side {
                    context: &context,
                    name: program.statement_name(number),
                    dimension,
                    common: self.common(program, dimension, kind),
                };
                let zone = Zone { ghosts: self, dimension, kind };
                let right = zone.valid("s", 0, margins[number][dimension]);
                let (here, whole) = domains(statement.domain[dimension], kind);
                let mut parts =
                    vec![("a point is computed that is boundary, or the other way round", right.clone())];
                if has_older_levels(program, statement) {
                    let all = zone.valid("s", 0, [0, 0]) + " and j = 0";
                    parts.push(("an older level is overwritten", all));
                }
                for (problem, points) in parts {
                    for (inside, outside) in [(&whole, &here), (&here, &whole)] {
                        for beyond in &outside.beyond {
                            let wrong = format!("{points} and {} and {beyond}", inside.within);
                            side.empty(&wrong, problem, &mut shown)?;
                        }
                    }
                }
                for read in &statement.reads {
                    let point = format!("s + {}", read.offset[dimension]);
                    let known = of_read(program, read, &margins[..number])[dimension];
                    for beyond in zone.outside(&point, 0, known) {
                        let wrong = format!("{right} and {} and {beyond}", whole.within);
                        side.empty(&wrong, "a value is read that is not known", &mut shown)?;
                    }
                }
                for beyond in zone.outside("s", 0, margins[number][dimension]) {
                    let next = zone.valid("s", 1, [0, 0]);
                    side.empty(&format!("{next} and {beyond}"), "its values are not right", &mut shown)?;
                }
            }
        }
        Ok(GhostProof { sets: shown.len() })
    }

    /// Constraints on grid, box, extended box and steps in one dimension.
    fn common(&self, program: &Program, d: usize, kind: Whole) -> String {
        let [low, high] = [0, 1].map(|side| format!("{}k + {}", self.reach[d][side], self.frame[d][side]));
        let least = program.least_size[d];
        match kind {
            Whole::Grid => format!(
                "0 <= l < h <= n and 0 <= j < k and n >= {least} and b - a >= {least} \
                 and a >= 0 and a >= l - ({low}) and (a = 0 or a = l - ({low})) \
                 and b <= n and b <= h + {high} and (b = n or b = h + {high})"
            ),
            Whole::Uncut => {
                format!("l = 0 and h = n and 0 <= j < k and n >= 1 and n >= {least} and a = 0 and b = n")
            }
            Whole::Line => {
                format!("l < h and h - l <= n and 0 <= j < k and a = l - ({low}) and b = h + {high}")
            }
        }
    }
}

/// What a box is a part of, in one dimension.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    /// A grid with ends.
    Grid,
    /// A grid with ends, of which the box is all.
    Uncut,
    /// The line that a periodic grid is unrolled to.
    Line,
}

/// The points around a box in one dimension.
struct Zone<'a> {
    ghosts: &'a Ghosts,
    dimension: usize,
    kind: Whole,
}

impl Zone<'_> {
    /// Constraints that `point` is in the valid box after `j + later` steps, shrunk by a margin.
    fn valid(&self, point: &str, later: i64, margin: [i64; 2]) -> String {
        let [below, above] = self.sides(later, margin);
        match self.kind {
            Whole::Line => format!("{below} <= {point} < {above}"),
            Whole::Uncut => format!("0 <= {point} < n"),
            Whole::Grid => format!("{below} <= {point} < {above} and 0 <= {point} < n"),
        }
    }

    /// The ways in which it can lie outside, on the grid or not.
    fn outside(&self, point: &str, later: i64, margin: [i64; 2]) -> [String; 2] {
        let [below, above] = self.sides(later, margin);
        match self.kind {
            Whole::Line => [format!("{point} < {below}"), format!("{point} >= {above}")],
            Whole::Uncut => [format!("{point} < 0"), format!("{point} >= n")],
            Whole::Grid => [
                format!("({point} < {below} or {point} < 0)"),
                format!("({point} >= {above} or {point} >= n)"),
            ],
        }
    }

    fn sides(&self, later: i64, margin: [i64; 2]) -> [String; 2] {
        let [low, high] = self.ghosts.reach[self.dimension];
        // Margins grow only at ends of the box that are no ends of the grid, which `0 <= s < n` cuts off.
        [
            format!("l - {low}k + {low}j + {}", low * later + margin[0]),
            format!("h + {high}k - {high}j - {}", high * later + margin[1]),
        ]
    }
}

/// Whether the field that a statement computes has older initial levels, to which the boundary is copied.
fn has_older_levels(program: &Program, statement: &Statement) -> bool {
    program.boundary == Boundary::Fixed
        && matches!(program.field(statement.target).role, FieldRole::State { levels: 2.., .. })
}

/// A domain in one dimension: that a point is in it, and the ways in which it is not.
struct Domain {
    within: String,
    beyond: Vec<String>,
}

/// The domain on the extended box, and that on the whole grid.
fn domains(interval: Interval, kind: Whole) -> (Domain, Domain) {
    let domain = |first: &str, extent: &str| {
        let at = |bound: Bound| format!("{first} + {}", bound.text(extent));
        let (low, high) = (at(interval.low), at(interval.high));
        Domain {
            within: format!("{low} <= s < {high}"),
            beyond: vec![format!("s < {low}"), format!("s >= {high}")],
        }
    };
    let whole = match kind {
        Whole::Line => Domain { within: "s = s".to_owned(), beyond: Vec::new() },
        Whole::Grid | Whole::Uncut => domain("0", "n"),
    };
    (domain("a", "b - a"), whole)
}

/// What the sets of one statement and dimension have in common.
struct Side<'c> {
    context: &'c Context,
    name: String,
    dimension: usize,
    common: String,
}

impl Side<'_> {
    fn empty(
        &self,
        wrong: &str,
        problem: &'static str,
        shown: &mut HashSet<String>,
    ) -> Result<(), GhostError> {
        let text = format!("{{ [n, l, h, k, j, a, b, s] : {} and {wrong} }}", self.common);
        if shown.contains(&text) {
            return Ok(());
        }
        let Some(sample) = self.context.set(&text)?.sample()? else {
            shown.insert(text);
            return Ok(());
        };
        let [n, l, h, k, j, _, _, s] = sample.dimensions[..] else { return Ok(()) };
        Err(GhostError::TooThin {
            statement: self.name.clone(),
            problem,
            dimension: self.dimension,
            example: format!("{n} points, box {l} to {h}, depth {k}, after {j} steps, point {s}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, shipped};

    #[test]
    fn shipped_programs_have_ghost_zones_that_suffice_and_no_thinner_ones() {
        for name in shipped::names() {
            let program = shipped::load(name).unwrap();
            let ghosts = match Ghosts::of(&program) {
                Ok(ghosts) => ghosts,
                Err(GhostError::InOrder { .. }) => {
                    assert_eq!(program.name, "seidel2d");
                    continue;
                }
                Err(GhostError::Indices { .. }) => {
                    assert_eq!(program.name, "redblack2d");
                    continue;
                }
                Err(error) => panic!("{}: {error}", program.name),
            };
            assert!(ghosts.prove(&program).unwrap().sets > 0, "{}", program.name);
            // A layer less on any side is found.
            if !["wave2d", "fdtd2d_driven", "asym2d", "heat3d"].contains(&name) {
                continue;
            }
            for d in 0..program.dimension() {
                for side in 0..2 {
                    let mut thin = ghosts.clone();
                    thin.reach[d][side] -= 1;
                    if thin.reach[d][side] < 0 {
                        continue;
                    }
                    let found = thin.prove(&program);
                    assert!(matches!(found, Err(GhostError::TooThin { .. })), "{}: {thin:?}", program.name);
                }
            }
        }
    }

    #[test]
    fn periodic_grids_have_ghost_zones_that_suffice_and_no_thinner_ones() {
        let programs = [
            "stencil upwind(t, i) { field u: f64; boundary periodic; u[t+1, i] = u[t, i] + u[t, i-3] + u[t, i+1]; }",
            "stencil wave(t, i, j) { field u: f32; boundary periodic; u[t+1, i, j] = u[t-1, i, j] + u[t, i-1, j] + u[t, i, j+2]; }",
            "stencil mixed(t, i, j) { field u: f32; boundary per_slot periodic(j);
                u[t+1, i, j] = u[t, i-1, j-1] + u[t, i+1, j+1]; u[t+1, i, j] = u[t+1, i+1, j+2] + u[t-1, i, j] for i == 0; }",
            "stencil two(t, i, j) { field e: f32; field h: f64; boundary periodic(i);
                e[t+1, i, j] = h[t, i-1, j] + h[t, i, j-1]; h[t+1, i, j] = e[t+1, i+1, j] + h[t, i, j+1] for j < n1 - 4; }",
        ];
        for text in programs {
            let program = parse("around", text).unwrap();
            let ghosts = Ghosts::around(&program).unwrap();
            assert!(ghosts.prove_around(&program).unwrap().sets > 0, "{}", program.name);
            if program.boundary == Boundary::PerSlot {
                assert_eq!(Ghosts::of(&program), Err(GhostError::PerSlot));
            } else {
                // Boxes of it, too.
                let boxes = Ghosts::of(&program).unwrap();
                assert!(boxes.prove(&program).unwrap().sets > 0, "{}", program.name);
                for (d, side) in (0..program.dimension()).flat_map(|d| [(d, 0), (d, 1)]) {
                    let mut thin = boxes.clone();
                    thin.reach[d][side] -= 1;
                    let found = thin.prove(&program);
                    let none = thin.reach[d][side] < 0;
                    assert!(
                        none || matches!(found, Err(GhostError::TooThin { .. })),
                        "{}: {thin:?}",
                        program.name
                    );
                }
            }
            for (d, &periodic) in program.periodic.iter().enumerate() {
                for side in 0..2 {
                    let mut thin = ghosts.clone();
                    thin.reach[d][side] -= 1;
                    if !periodic || thin.reach[d][side] < 0 {
                        assert_eq!(ghosts.reach[d][side], 0);
                        continue;
                    }
                    let found = thin.prove_around(&program);
                    assert!(matches!(found, Err(GhostError::TooThin { .. })), "{}: {thin:?}", program.name);
                }
            }
        }
    }

    #[test]
    fn reads_of_values_of_the_same_step_add_up() {
        let program = shipped::load("fdtd2d").unwrap();
        let ghosts = Ghosts::of(&program).unwrap();
        assert_eq!((ghosts.reach, ghosts.frame), (vec![[1, 1]; 2], vec![[0, 0]; 2]));
        let text = "stencil chain(t, i) { field a: f32; field b: f32; field c: f32;
            a[t+1, i] = c[t, i-2]; b[t+1, i] = a[t+1, i-1] + a[t+1, i+3]; c[t+1, i] = b[t+1, i-1] + c[t, i]; }";
        let program = parse("chain", text).unwrap();
        assert_eq!(Ghosts::of(&program).unwrap().reach, [[4, 3]]);
        Ghosts::of(&program).unwrap().prove(&program).unwrap();
    }

    #[test]
    fn older_levels_are_out_of_reach_of_the_boundary() {
        let program = parse(
            "lag",
            "stencil lag(t, i) { field u: f32; u[t+1, i] = u[t-1, i-1] + u[t, i] for 1 <= i < n0 - 3; }",
        )
        .unwrap();
        let ghosts = Ghosts::of(&program).unwrap();
        assert_eq!(ghosts.frame, [[1, 3]]);
        ghosts.prove(&program).unwrap();
        let without = Ghosts { frame: vec![[0, 0]], ..ghosts };
        let found = without.prove(&program).unwrap_err().to_string();
        assert!(found.contains("an older level is overwritten"), "{found}");
    }
}
