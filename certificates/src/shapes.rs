//! What is known of the tiles of a family: counts over boxes of sizes, and what tiles execute at least.

use crate::interval::Interval;
use hhc_codegen::counts::{Axis, Family, Problem, SizeOf, TileForms, Work};

/// What is known of the counts of all tiles in a box: an interval holds that of each of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfBox {
    /// `N_w`
    pub wavefronts: i64,
    /// `w`, least and most.
    pub w: (i64, i64),
    /// `q`
    pub q: Interval,
    /// Lane rounds of a sub-tile, and of a tile.
    pub rounds: Interval,
    pub tile_rounds: Interval,
    /// Words of a sub-tile, and of a tile.
    pub words: Interval,
    pub tile_words: Interval,
    /// Barriers of a sub-tile.
    pub barriers: i64,
    /// `N_w * w * q * lane rounds`, and `N_w * w * q * words`, at least.
    pub all_rounds: Interval,
    pub all_words: Interval,
    /// Words and barriers of all tiles, at least.
    pub total_words: Interval,
    pub total_barriers: Interval,
    /// Words of fast memory per iteration.
    pub fast: Interval,
    /// Iterations in all.
    pub total: Interval,
}

/// Work that no tile of a box goes below.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LeastWork {
    /// Of a tile.
    pub tile: Work,
    /// Of all tiles.
    pub all: Work,
    /// Launches of whole tiles.
    pub launches: f64,
    /// What is known of the edges of the grid and of time.
    pub edges: Option<Edges>,
}

/// What is known of tiles of one sub-tile each, at edges and elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edges {
    /// Threads of each tile.
    pub threads: i64,
    /// No full sub-tile executes more.
    pub most: Work,
    /// What one at an edge executes in addition, at least.
    pub clipped: Work,
    /// Launches whose tiles lie in time altogether, the others, and the part of a tile of theirs that does.
    pub launches: (f64, f64, f64),
}

/// What is known of the tiles of a family.
pub(crate) trait Shapes {
    /// Number of kernels.
    fn kernels(&self) -> usize;

    /// The counts of a kernel over a box.
    fn of_box(&self, forms: &dyn TileForms, kernel: usize, low: [i64; 3], high: [i64; 3]) -> OfBox;

    /// What a kernel's tiles execute at least.
    fn least_work(
        &self,
        forms: &dyn TileForms,
        kernel: usize,
        of_box: &OfBox,
        low: [i64; 3],
        high: [i64; 3],
    ) -> LeastWork;

    /// Threads of a block over a box of first sizes, for given others, fewest and most; and registers of a thread at least,
    /// before the compiler's bound.
    fn threads(&self, low: i64, high: i64, others: [i64; 2]) -> (i64, i64, i64);
}

/// How many pieces of some size lie on the points `first ..= last`, pieces beginning at multiples of the size:
/// `floor(last/s) - floor(first/s) + 1`, at least and at most over all sizes from `low` to `high`. Sizes beyond `first`
/// have fewer the larger they are; the others are looked at one by one.
pub(crate) fn pieces((first, last): (i64, i64), low: i64, high: i64) -> (i64, i64) {
    let of = |size: i64| last / size - first / size + 1;
    let one_by_one = (low..=high.min(first)).map(of);
    let beyond = [low.max(first + 1), high].into_iter().filter(|size| *size > first && *size <= high).map(of);
    one_by_one.chain(beyond).fold((i64::MAX, i64::MIN), |(least, most), n| (least.min(n), most.max(n)))
}

/// The fixed size of this name.
pub(crate) fn fixed(family: &Family, name: &str) -> Option<i64> {
    family.names.iter().find_map(|size| match *size {
        SizeOf::Fixed(own, value) if own == name => Some(value),
        _ => None,
    })
}

/// The last value of an axis.
pub(crate) fn last_of(axis: &Axis) -> i64 {
    axis.at(axis.count - 1)
}

/// What all families of a program have in common.
pub(crate) struct Programs {
    /// Registers of a thread by its share of a row.
    pub registers: Vec<i64>,
    /// What a point of a tile in time executes at least.
    pub point: Work,
}

impl Programs {
    pub fn new(problem: &Problem) -> Programs {
        let (program, terms) = (&problem.program, problem.terms);
        let around =
            if problem.dimension() == 1 { terms.rolled_point } else { terms.point.min(terms.rolled_point) };
        let points = (0..program.statements.len()).map(|k| {
            let most = hhc_codegen::geometry::points_at_once(program, k, 8);
            PointWork::new(problem, k, most).with(around)
        });
        let point = points.reduce(|a, b| Work {
            issued: a.issued.min(b.issued),
            arithmetic: a.arithmetic.min(b.arithmetic),
            shared: a.shared.min(b.shared),
            ..Work::default()
        });
        let registers = hhc_codegen::geometry::registers_by_share(program);
        Programs { registers, point: point.unwrap_or_default() }
    }
}

/// The instructions of a point, whatever else is around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PointWork {
    /// Loads of its operands, in the batches in which neighbours share most.
    pub loads: f64,
    /// Words of these loads.
    pub operands: f64,
    /// Arithmetic.
    pub operations: f64,
    /// Words of its value.
    pub value: f64,
}

impl PointWork {
    /// Of statement `k`, with batches of up to so many neighbours.
    pub fn new(problem: &Problem, k: usize, most: i64) -> PointWork {
        let program = &problem.program;
        let value = program.field(program.statements[k].target).element.bytes() as f64 / 4.0;
        let shared =
            |points: i64| hhc_codegen::geometry::operand_registers(program, k, points) as f64 / points as f64;
        let operands = (1..=most.max(1)).map(shared).fold(f64::INFINITY, f64::min);
        let own = &problem.operations.statements[k];
        let simple = own.adds + own.subs + own.muls + own.min_max + own.compares + own.selects;
        let hard = own.divs + own.sqrts + own.exps + own.libm;
        let operations = (simple + own.abs + own.casts) as f64 + problem.terms.function * hard as f64;
        PointWork { loads: operands / value, operands, operations, value }
    }

    /// With so many other instructions a point: what of a warp's belongs to a point.
    pub fn with(&self, others: f64) -> Work {
        Work {
            issued: (self.loads + 1.0 + self.operations + others) / 32.0,
            arithmetic: self.operations / 32.0,
            shared: (self.operands + self.value) / 32.0,
            ..Work::default()
        }
    }
}
