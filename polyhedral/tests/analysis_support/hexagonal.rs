//! Hybrid hexagonal/classical schedules, straight from the formulas of the design.

use polyhedral::cone::Cone;
use polyhedral::program::{Program, Rational};
use polyhedral::schedule::{Execution, Schedule, ScheduleDimension, SchedulePiece};

/// Tile parameters, and the faults that tests put in.
#[derive(Debug, Clone)]
pub struct Tiling {
    pub lower: Vec<Rational>,
    pub upper: Vec<Rational>,
    pub st: i64,
    pub s0: i64,
    /// Sizes of the classical dimensions, one per dimension after the first.
    pub sizes: Vec<i64>,
    pub fault: Fault,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// The lower left bound of the hexagon is one too weak.
    WideHexagon,
    /// The lower left bound of the hexagon is one too strong.
    NarrowHexagon,
    /// Phase numbers exchanged.
    PhasesSwapped,
    /// Sub-tiles are not skewed.
    NoSkew,
    /// All rows of a tile at once.
    ParallelRows,
    /// Sub-tiles at once.
    ParallelSubTiles,
    /// Rows are left out of the schedule.
    NoRows,
}

fn floor(value: Rational) -> i64 {
    value.floor().to_integer()
}

fn fraction(value: Rational) -> Rational {
    value - value.floor()
}

impl Tiling {
    pub fn new(cone: &Cone, st: i64, s0: i64, sizes: &[i64]) -> Tiling {
        Tiling {
            lower: cone.lower.clone(),
            upper: cone.upper.clone(),
            st,
            s0,
            sizes: sizes.to_vec(),
            fault: Fault::None,
        }
    }

    /// The least valid width of the flat top.
    pub fn least_s0(cone: &Cone, st: i64) -> i64 {
        let h = Rational::from_integer(st - 1);
        let (dl, du) = (cone.lower[0], cone.upper[0]);
        // One more than for dependences of one row where a slope is fractional: those over several rows
        // may reach farther than the rounded edges of the hexagon give way.
        let fractional = i64::from(!(dl.is_integer() && du.is_integer()));
        floor((dl + fraction(dl * h)).max(du + fraction(du * h))).max(1) + fractional
    }

    pub fn schedule(&self, program: &Program) -> Schedule {
        let dimension = program.dimension();
        let mut dimensions = Vec::new();
        let mut add = |name: String, parallel: bool| {
            let execution = if parallel { Execution::Parallel } else { Execution::Sequential };
            dimensions.push(ScheduleDimension { name, execution });
        };
        add("band".into(), false);
        add("phase".into(), false);
        add("block".into(), true);
        for i in 1..dimension {
            add(format!("sub-tile s{i}"), self.fault == Fault::ParallelSubTiles);
        }
        if self.fault != Fault::NoRows {
            add("row".into(), self.fault == Fault::ParallelRows);
        }
        for i in 0..dimension {
            add(format!("point s{i}"), true);
        }
        let pieces = (0..program.statements.len())
            .flat_map(|k| [0, 1].map(|phase| self.piece(program, k, phase)))
            .collect();
        Schedule { dimensions, pieces }
    }

    fn piece(&self, program: &Program, k: usize, phase: i64) -> SchedulePiece {
        let dimension = program.dimension();
        let statements = program.statements.len();
        let (st, s0) = (self.st, self.s0);
        let (dl, du) = (self.lower[0], self.upper[0]);
        let h = st - 1;
        let (dlh, duh) = (floor(dl * h), floor(du * h));
        let width = 2 * s0 + dlh + duh;
        let shift = s0 + duh;
        let (st_shift, s_shift) = if phase == 0 { (st, shift) } else { (0, 0) };
        let number = if self.fault == Fault::PhasesSwapped { 1 - phase } else { phase };
        let widen = match self.fault {
            Fault::WideHexagon => 1,
            Fault::NarrowHexagon => -1,
            _ => 0,
        };
        let mut constraints = vec![
            format!("phase = {number}"),
            format!("row = {statements}*t + {k} + {st_shift} - {}*band", 2 * st),
            format!("0 <= row <= {}", 2 * h + 1),
            // The loops of emitted code are bounded like this; it changes nothing on the domain.
            format!("band >= 0 and {}*band < {statements}*steps + {st}", 2 * st),
            format!("0 <= -{}*band - {width}*q < {width}", 2 * shift),
            format!("b = s0 + {s_shift} - {}*band - {width}*q - {width}*block", 2 * shift),
            format!("0 <= b < {width}"),
        ];
        // The six inequalities, times the common denominator of the slopes.
        let den = dl.denom() * du.denom();
        let (dln, dun) = ((dl * den).to_integer(), (du * den).to_integer());
        let round = |slope: Rational| (Rational::new(slope.denom() - 1, *slope.denom()) * den).to_integer();
        constraints.push(format!("{dun}*row - {den}*b <= {}", (2 * h + 1) * dun - den * duh + den * widen));
        constraints.push(format!("{dln}*row + {den}*b <= {}", (2 * h + 1) * dln + den * (duh + s0 - 1)));
        constraints.push(format!("{dln}*row + {den}*b >= {}", h * dln - round(dl)));
        constraints
            .push(format!("{dun}*row - {den}*b >= {}", h * dun - den * (duh + s0 - 1 + dlh) - round(du)));
        let mut variables = vec!["band".to_owned(), "phase".to_owned(), "block".to_owned()];
        let mut helpers = vec!["q".to_owned(), "b".to_owned()];
        for i in 1..dimension {
            let (size, lower) = (self.sizes[i - 1], self.lower[i]);
            let skewed = if self.fault == Fault::NoSkew {
                format!("s{i}")
            } else if lower.is_integer() {
                format!("s{i} + {}*row", lower.numer())
            } else {
                helpers.push(format!("f{i}"));
                constraints.push(format!(
                    "{1}*f{i} <= {0}*row < {1}*f{i} + {1}",
                    lower.numer(),
                    lower.denom()
                ));
                format!("s{i} + f{i}")
            };
            constraints.push(format!("{size}*S{i} <= {skewed} < {size}*S{i} + {size}"));
            let most_skew = floor(lower * (2 * h + 1));
            constraints.push(format!("S{i} >= 0 and {size}*S{i} < n{i} + {most_skew}"));
            variables.push(format!("S{i}"));
        }
        if self.fault == Fault::NoRows {
            helpers.push("row".to_owned());
        } else {
            variables.push("row".to_owned());
        }
        for i in 0..dimension {
            variables.push(format!("p{i}"));
            constraints.push(format!("p{i} = s{i}"));
        }
        SchedulePiece { statement: k, variables, fixed: vec![], helpers, constraints, full: None }
    }
}

/// One launch per statement and step, blocks of the given sizes.
pub fn naive(program: &Program, sizes: &[i64]) -> Schedule {
    let dimension = program.dimension();
    let dim = |name: String, execution| ScheduleDimension { name, execution };
    let mut dimensions =
        vec![dim("step".into(), Execution::Sequential), dim("statement".into(), Execution::Sequential)];
    dimensions.extend((0..dimension).map(|i| dim(format!("block s{i}"), Execution::Parallel)));
    dimensions.extend((0..dimension).map(|i| dim(format!("point s{i}"), Execution::Parallel)));
    let pieces = (0..program.statements.len())
        .map(|k| {
            let mut variables = vec!["step".to_owned(), "statement".to_owned()];
            let mut constraints = vec!["step = t".to_owned(), format!("statement = {k}")];
            for (i, size) in sizes.iter().enumerate() {
                variables.push(format!("block{i}"));
                constraints.push(format!("{size}*block{i} <= s{i} < {size}*block{i} + {size}"));
            }
            for i in 0..dimension {
                variables.push(format!("p{i}"));
                constraints.push(format!("p{i} = s{i}"));
            }
            SchedulePiece { statement: k, variables, fixed: vec![], helpers: vec![], constraints, full: None }
        })
        .collect();
    Schedule { dimensions, pieces }
}

impl Tiling {
    /// The schedule vectors of one instance by plain arithmetic: one per phase whose hexagon contains it.
    pub fn vectors(&self, program: &Program, k: usize, t: i64, point: &[i64]) -> Vec<Vec<i64>> {
        assert_eq!(self.fault, Fault::None);
        let (st, s0) = (self.st, self.s0);
        let (dl, du) = (self.lower[0], self.upper[0]);
        let h = st - 1;
        let (dlh, duh) = (floor(dl * h), floor(du * h));
        let width = 2 * s0 + dlh + duh;
        let shift = s0 + duh;
        let int = Rational::from_integer;
        let round = |slope: Rational| Rational::new(slope.denom() - 1, *slope.denom());
        let mut found = Vec::new();
        for phase in [0, 1] {
            let (extra_rows, extra_columns) = if phase == 0 { (st, shift) } else { (0, 0) };
            let row = program.statements.len() as i64 * t + k as i64 + extra_rows;
            let band = row.div_euclid(2 * st);
            let a = row.rem_euclid(2 * st);
            let x = point[0] + extra_columns + (-2 * shift * band).rem_euclid(width);
            let (block, b) = (x.div_euclid(width), x.rem_euclid(width));
            let inside = du * a - b <= du * (2 * h + 1) - duh
                && dl * a + b <= dl * (2 * h + 1) + int(duh + s0 - 1)
                && dl * a + b >= dl * h - round(dl)
                && du * a - b >= du * h - int(duh + s0 - 1 + dlh) - round(du);
            if !inside {
                continue;
            }
            let mut vector = vec![band, phase, block];
            for ((x, lower), size) in point.iter().zip(&self.lower).skip(1).zip(&self.sizes) {
                vector.push((x + floor(lower * a)).div_euclid(*size));
            }
            vector.push(a);
            vector.extend(point);
            found.push(vector);
        }
        found
    }
}
