//! What the warps of a block execute in a sub-tile, counted from the plan: the instructions that the CUDA back end prints
//! for it, term by term. Nothing here is measured or fitted.
//!
//! A thread computes a row in *passes* over the classical dimensions, a pass in *batches* of neighbours along dimension 0,
//! whose common operands it reads once. Parts of a row that are not as long as each other are counted as they are, for what all warps
//! issue, and the longest for what a warp waits for:
//!
//! ```text
//! issued = warps * sum over rows of (ROW + passes * (PASS + sum over batches of n points of
//!              (BATCH + loads(n) + n * (operations + store + POINT))))
//!        + warps * (LOADED * words in of a thread + MOVED * words that move, of a thread + SUB_TILE) + STORED * words out / 32
//! ```
//!
//! [`Terms`] are the numbers that stand for the text of the back end. Whoever changes the text looks at them.

use super::problem::Problem;
use super::terms::Terms;
use super::tile::TileCounts;
use super::work::{TileWork, Work};
use crate::geometry::{WARP, operand_registers, points_at_once};
use polyhedral::counts::Operations;
use polyhedral::program::Program;

/// Words of 4 bytes of a sector, in which memory is moved.
const SECTOR_WORDS: f64 = 8.0;

/// What a point of a statement takes.
#[derive(Debug, Clone)]
pub(super) struct OfStatement {
    /// Words of 4 bytes of the distinct operands of 0 .. 8 neighbours.
    pub(super) operands: [f64; 9],
    /// Loads of them.
    pub(super) loads: [f64; 9],
    /// The most neighbours at once, by share of a thread from 0 to 8.
    pub(super) at_once: [i64; 9],
    /// Arithmetic instructions.
    pub(super) operations: f64,
    /// Words of 4 bytes of the value.
    pub(super) words: f64,
    /// Instructions of a point, as the back end's limit for code of its own counts them.
    pub(super) size: f64,
}

/// What the statements of a program take.
#[derive(Debug, Clone)]
pub struct Accounting {
    pub(super) statements: Vec<OfStatement>,
    pub(super) dimension: usize,
    /// Words of 4 bytes of the widest element.
    words: f64,
    /// What the text stands for.
    pub terms: &'static Terms,
}

/// Threads and sizes of a tile, as far as its work depends on them.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Threads along each dimension, slowest first.
    pub threads: [i64; 3],
    /// Points of the classical dimensions; 1 where there is none.
    pub across: [i64; 2],
    /// Points of the widest row along dimension 0.
    pub widest: i64,
    /// Words that are loaded, and stored.
    pub words: (i64, i64),
    /// Registers of a thread for words that are loaded ahead.
    pub free: i64,
    /// Words of the window that are read, per column of the innermost dimension, and all that move from one sub-tile to the next.
    pub window: (i64, i64),
}

pub(super) fn up(a: i64, b: i64) -> i64 {
    (a + b - 1) / b.max(1)
}

impl Accounting {
    /// That of a program.
    pub fn new(problem: &Problem) -> Accounting {
        let program = &problem.program;
        let of =
            |(k, operations): (usize, &Operations)| OfStatement::new(program, k, operations, problem.terms);
        Accounting {
            statements: problem.operations.statements.iter().enumerate().map(of).collect(),
            dimension: problem.dimension(),
            words: problem.element().bytes() as f64 / 4.0,
            terms: problem.terms,
        }
    }

    /// Warps of a block.
    fn warps(shape: &Shape) -> f64 {
        up(shape.threads.iter().product(), WARP) as f64
    }

    /// Passes of a row.
    fn passes(&self, shape: &Shape) -> i64 {
        (1..self.dimension).map(|d| up(shape.across[d - 1], shape.threads[d])).product()
    }

    /// A full sub-tile whose rows are of these statements and widths, each so often.
    pub fn full(&self, shape: &Shape, rows: impl Iterator<Item = (usize, i64, i64)> + Clone) -> Work {
        let warps = Accounting::warps(shape);
        let passes = self.passes(shape) as f64;
        let t0 = shape.threads[0];
        let size = |(k, width, times): (usize, i64, i64)| (times * width) as f64 * self.statements[k].size;
        let own_code = rows.clone().map(size).sum::<f64>() <= self.terms.own_code;
        let mine = |(k, width, times)| size((k, (width - 1) / t0 + 1, times));
        let unrolled = rows.clone().map(mine).sum::<f64>() <= self.terms.unrolled;
        let per_point = if self.dimension > 1 && (own_code || unrolled) {
            self.terms.point
        } else {
            self.terms.rolled_point
        };
        let share = (shape.widest / t0).clamp(1, 8) as usize;
        // Warps that have the same part of a row; lanes of one warp wait for those with the most points.
        let groups = if self.dimension > 1 && (shape.threads.iter().product::<i64>() / t0) % WARP == 0 {
            t0
        } else {
            1
        };
        let mut own = Work::default();
        for (k, width, times) in rows {
            let statement = &self.statements[k];
            let times = times as f64;
            let part = up(width, t0);
            let longest = self.batches(statement, share, part);
            // All groups but one have a whole part, or none.
            let rest = if groups > 1 { width % part } else { 0 };
            let whole = if groups > 1 { width / part } else { 1 };
            let batches = longest.mean(whole, &self.batches(statement, share, rest), groups);
            let serial = |batches: &Batches| {
                self.terms.pass + self.terms.batch * batches.number + batches.points * per_point
            };
            own.issued += times
                * (self.terms.row
                    + passes
                        * (serial(&batches) + batches.loads + batches.points * (1.0 + statement.operations)));
            own.arithmetic += times * passes * batches.points * statement.operations;
            own.shared += times * passes * (batches.operands + batches.points * statement.words);
            own.chain += times
                * (self.terms.dependent * self.terms.row
                    + passes
                        * (self.terms.dependent * serial(&longest)
                            + longest.loads
                            + longest.points
                            + longest.arithmetic));
            own.waits += times * passes * longest.number;
            own.barriers += times;
        }
        own.issued *= warps;
        own.arithmetic *= warps;
        own.shared *= warps;
        own.and(&self.copies(shape))
    }

    /// The neighbours that a thread computes of a row, `mine` of them.
    fn batches(&self, statement: &OfStatement, share: usize, mine: i64) -> Batches {
        let mut batches = Batches::default();
        let mut add = |number: i64, points: i64| {
            let (number, at) = (number as f64, points as usize);
            batches.number += number;
            batches.loads += number * statement.loads[at];
            batches.operands += number * statement.operands[at];
            // Neighbours are independent of each other.
            let cycles = (self.terms.dependent / points as f64).max(1.0);
            batches.arithmetic += number * points as f64 * statement.operations * cycles;
        };
        let most = if self.dimension == 1 { 1 } else { statement.at_once[share] };
        add(mine / most, most);
        let (mut rest, mut points) = (mine % most, most / 2);
        while points >= 1 {
            if rest >= points {
                add(1, points);
                rest -= points;
            }
            points /= 2;
        }
        batches.points = mine as f64;
        batches
    }

    /// What is loaded, stored and moved in a full sub-tile.
    fn copies(&self, shape: &Shape) -> Work {
        let warps = Accounting::warps(shape);
        let (loaded, columns) = self.lines(shape, shape.words.0);
        let moved = up(shape.window.1, shape.threads.iter().product()) as f64;
        let stored = shape.words.1 as f64;
        let own = columns as f64
            * (self.terms.loaded[self.dimension - 1] * loaded as f64 + self.terms.column)
            + self.terms.moved[self.dimension - 1] * moved
            + self.terms.sub_tile;
        let lane = WARP as f64;
        let free = if self.terms.loads_ahead { shape.free } else { 0 };
        let ahead = ((free as f64 / self.words) as i64 / columns.max(1)).clamp(0, loaded);
        let batches = up(((loaded - ahead) as f64 * self.words) as i64, self.terms.loads_at_once) * columns;
        let part = ahead as f64 / loaded.max(1) as f64;
        // A line begins at any element of a sector.
        let beside = match self.dimension {
            1 => 0.0,
            dimension => {
                let lines =
                    (shape.words.0 + shape.words.1) as f64 / shape.across[dimension - 2].max(1) as f64;
                lines * (SECTOR_WORDS / self.words - 1.0)
            }
        };
        Work {
            issued: warps * own + self.terms.stored * stored / lane,
            arithmetic: 0.0,
            shared: self.words * (shape.words.0 as f64 + 2.0 * shape.window.1 as f64) / lane,
            words: (1.0 - part) * shape.words.0 as f64 + shape.words.1 as f64,
            stored: shape.words.1 as f64,
            cached: 0.0,
            ahead: part * shape.words.0 as f64,
            beside,
            chain: self.terms.copying * own,
            waits: 0.0,
            far_waits: if shape.words.0 > 0 { batches as f64 } else { 0.0 },
            barriers: 2.0,
        }
    }

    /// Lines that a thread loads, and its columns.
    fn lines(&self, shape: &Shape, words: i64) -> (i64, i64) {
        if self.dimension == 1 {
            return (up(words, shape.threads[0]), 1);
        }
        let last = self.dimension - 1;
        let slide = shape.across[last - 1].max(1);
        let along = shape.threads[last];
        let lanes = shape.threads.iter().product::<i64>() / along.max(1);
        (up(up(words, slide), lanes), up(slide, along))
    }

    /// What a sub-tile at an edge executes in addition, with so many rows.
    pub fn clipped(&self, shape: &Shape, rows: i64) -> Work {
        let warps = Accounting::warps(shape);
        let slide = if self.dimension == 1 { 1 } else { shape.across[self.dimension - 2].max(1) };
        let (looked_at, columns) = self.lines(shape, shape.window.0 * slide);
        let (loaded, _) = self.lines(shape, shape.words.0);
        let loads = columns as f64
            * (self.terms.clipped * looked_at as f64 - self.terms.loaded[self.dimension - 1] * loaded as f64)
                .max(0.0);
        let own = loads
            + rows as f64 * (self.terms.clipped_row + self.passes(shape) as f64 * self.terms.clipped_pass);
        let exact = up((loaded as f64 * self.words) as i64, self.terms.loads_at_once) * columns;
        // Cells that are not wanted are not waited for.
        let batches = up(loaded, self.terms.clipped_at_once) * columns;
        Work {
            issued: warps * own,
            chain: self.terms.copying * own,
            far_waits: (batches - exact).max(0) as f64,
            ..Work::default()
        }
    }

    /// The work of tiles of which only counts are known, on a multiprocessor of so many lanes: one point of a thread at a time.
    pub fn of_counts(&self, counts: &TileCounts, lanes: i64) -> TileWork {
        let lane = WARP as f64;
        let statements = self.statements.len().max(1) as f64;
        let mean = |of: fn(&OfStatement) -> f64| self.statements.iter().map(of).sum::<f64>() / statements;
        let (operations, loads, words) =
            (mean(|own| own.operations), mean(|own| own.loads[1]), mean(|own| own.operands[1] + own.words));
        let points = counts.lane_rounds as f64 * lanes as f64 / lane;
        let moved = (counts.words_in + counts.words_out) as f64 / lane;
        let threads = counts.threads.max(1) as f64;
        let mine = points * lane / threads;
        let serial = self.terms.rolled_point + self.terms.pass + self.terms.batch;
        let full = Work {
            issued: points * (serial + loads + 1.0 + operations)
                + self.terms.loaded[self.dimension - 1] * moved
                + self.terms.sub_tile * threads / lane,
            arithmetic: points * operations,
            shared: points * words,
            words: (counts.words_in + counts.words_out) as f64,
            stored: counts.words_out as f64,
            cached: 0.0,
            ahead: 0.0,
            beside: 0.0,
            chain: self.terms.dependent * mine * (serial + operations)
                + self.terms.copying * self.terms.loaded[self.dimension - 1] * moved * lane / threads,
            waits: mine,
            far_waits: (moved * lane / threads / self.terms.loads_at_once as f64).ceil(),
            barriers: counts.barriers as f64 + if counts.barriers > 0 { 2.0 } else { 0.0 },
        };
        TileWork {
            full,
            full_sub_tiles: counts.sub_tiles as f64,
            full_launches: counts.wavefronts as f64,
            registers: counts.registers,
            needed: counts.registers,
            ..TileWork::default()
        }
    }

    /// Instructions of a point at least, of the statement that takes fewest: nothing but its operands, its operations and
    /// its value, in the largest batches.
    pub fn least_point(&self) -> Work {
        let lane = WARP as f64;
        let of = |statement: &OfStatement| {
            let most = if self.dimension == 1 { 1 } else { statement.at_once[8] };
            let per = 1.0 / most as f64;
            let (loads, operands) =
                (statement.loads[most as usize] * per, statement.operands[most as usize] * per);
            (
                (loads + 1.0 + statement.operations + self.terms.point) / lane,
                statement.operations / lane,
                (operands + statement.words) / lane,
            )
        };
        let all = self.statements.iter().map(of);
        let least =
            all.fold((f64::MAX, f64::MAX, f64::MAX), |a, b| (a.0.min(b.0), a.1.min(b.1), a.2.min(b.2)));
        Work { issued: least.0, arithmetic: least.1, shared: least.2, ..Work::default() }
    }

    /// Warp instructions of an iteration with nothing around it, the mean over the statements: what `C_iter` is where
    /// nobody has measured it.
    pub fn iteration(&self) -> Work {
        let lane = WARP as f64;
        let each = self.statements.iter().map(|statement| {
            let most = if self.dimension == 1 { 1 } else { statement.at_once[8] };
            let per = 1.0 / most as f64;
            let loads = statement.loads[most as usize] * per;
            Work {
                issued: (loads + 1.0 + statement.operations + self.terms.point + self.terms.batch * per)
                    / lane,
                arithmetic: statement.operations / lane,
                shared: (statement.operands[most as usize] * per + statement.words) / lane,
                ..Work::default()
            }
        });
        each.fold(Work::default(), |sum, own| sum.and(&own)).times(1.0 / self.statements.len().max(1) as f64)
    }
}

/// The batches of a thread's points of a row.
#[derive(Default)]
struct Batches {
    number: f64,
    points: f64,
    loads: f64,
    operands: f64,
    arithmetic: f64,
}

impl Batches {
    /// The mean over the warps of `groups` groups, of which so many have these, one has `rest`, and the others have none.
    fn mean(&self, whole: i64, rest: &Batches, groups: i64) -> Batches {
        let of = |own: f64, rest: f64| (whole as f64 * own + rest) / groups as f64;
        Batches {
            number: of(self.number, rest.number),
            points: of(self.points, rest.points),
            loads: of(self.loads, rest.loads),
            operands: of(self.operands, rest.operands),
            arithmetic: of(self.arithmetic, rest.arithmetic),
        }
    }
}

impl OfStatement {
    fn new(program: &Program, k: usize, operations: &Operations, terms: &Terms) -> OfStatement {
        let statement = &program.statements[k];
        let element = program.field(statement.target).element.bytes() as f64 / 4.0;
        let mut own = OfStatement {
            operands: [0.0; 9],
            loads: [0.0; 9],
            at_once: [1; 9],
            operations: instructions(operations, terms.function),
            words: element,
            size: 0.0,
        };
        for points in 1..=8 {
            let words = operand_registers(program, k, points as i64) as f64;
            own.operands[points] = words;
            own.loads[points] = words / element;
            own.at_once[points] = points_at_once(program, k, points as i64);
        }
        // A neighbour more has one operand more for each column that is read.
        own.size = own.operations + own.loads[8] - own.loads[7] + 2.0;
        own
    }
}

/// Arithmetic instructions.
fn instructions(operations: &Operations, function: f64) -> f64 {
    let Operations {
        adds,
        subs,
        muls,
        divs,
        sqrts,
        exps,
        libm,
        min_max,
        compares,
        selects,
        abs,
        casts,
        fused,
        ..
    } = *operations;
    (adds + subs + muls + min_max + compares + selects + abs + casts - fused) as f64
        + function * (divs + sqrts + exps + libm) as f64
}
