//! Families of tiles: a strategy, for `hhc` with one half height, and the sizes that are free.

use crate::request::Request;
use cost_models::counts::TileCounts;
use cost_models::forms::{CountBounds, Fast, Hexagonal, Naive, Problem};
use cost_models::hardware::Hardware;
use hhc_codegen::TileSizes;
use hhc_codegen::geometry::MORE_RESIDENT_THREADS;
use hhc_codegen::strategy::Hexagon;

/// Points of a block of the naive strategy per thread that a block may have: larger blocks only repeat it.
const POINTS_PER_THREAD: i64 = 64;

/// Time steps of a tile that the CUDA back end accepts.
const MOST_GROUPS: i64 = 1024;

/// Half of the threads that the back end prefers for a block in one dimension.
const HALF_OF_PREFERRED: i64 = 128;

/// Classical sizes of a box up to which threads are looked at one by one.
const MOST_LOOKED_AT: i64 = 4096;

/// Values `first, first + step, ..`, `count` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    /// The first value.
    pub first: i64,
    /// The distance of neighbours.
    pub step: i64,
    /// Their number.
    pub count: i64,
}

impl Axis {
    /// The value at an index.
    #[inline]
    pub fn at(&self, index: i64) -> i64 {
        self.first + index * self.step
    }

    fn one() -> Axis {
        Axis { first: 1, step: 1, count: 1 }
    }

    fn up_to(first: i64, step: i64, last: i64) -> Axis {
        Axis { first, step, count: ((last - first + step - 1).div_euclid(step) + 1).max(1) }
    }
}

/// A family.
#[derive(Debug, Clone)]
pub struct Family {
    /// Name of the strategy.
    pub strategy: &'static str,
    /// The values of `s0`, `s1`, `s2`; sizes of dimensions that do not exist are 1.
    pub axes: [Axis; 3],
    form: Form,
    dimension: usize,
    most_points: i64,
}

#[derive(Debug, Clone)]
enum Form {
    Hexagonal(Box<Hexagonal>),
    Naive(Box<Naive>),
}

fn fast(hardware: &Hardware) -> Fast {
    Fast::Shared {
        threads_per_block: hardware.threads_per_block,
        registers_per_sm: hardware.registers_per_sm,
        registers_per_thread: hardware.registers_per_thread,
    }
}

/// The half heights that can be asked for: multiples of the number of statements, up to what covers all steps.
pub(crate) fn half_heights(request: &Request<'_>) -> impl Iterator<Item = i64> + use<> {
    let statements = request.problem.program.statements.len() as i64;
    let all_steps = request.problem.steps.max(1) * statements;
    let most = request.most_height.unwrap_or(i64::MAX).min(MOST_GROUPS * statements / 2).min(all_steps);
    (1..=(most / statements).max(1)).map(move |multiple| multiple * statements)
}

impl Family {
    /// The hexagonal tiles of half height `st`; `None` where already the smallest does not fit a block.
    pub fn hexagonal(problem: &Problem, hardware: &Hardware, st: i64) -> Option<Family> {
        let dimension = problem.dimension();
        let hexagon = Hexagon {
            half_height: st,
            flat_top: 1,
            lower: problem.cone.lower[0],
            upper: problem.cone.upper[0],
        };
        if smallest_bytes(problem, &hexagon) > hardware.shared_per_block_bytes {
            return None;
        }
        let form = Hexagonal::new(problem, st, hardware.n_v, fast(hardware), [None; 3]);
        let mut axes = [Axis::one(); 3];
        let least = form.least_flat_top;
        axes[0] = Axis::up_to(least, 1, problem.extent(0).max(least));
        for (d, axis) in axes.iter_mut().enumerate().take(dimension).skip(1) {
            let step = if d + 1 == dimension { hardware.warp } else { 1 };
            // A sub-tile as long as the skewed dimension needs no second one.
            let deepest = (problem.cone.lower[d] * (2 * st - 1)).floor().to_integer();
            *axis = Axis::up_to(step, step, problem.extent(d) + deepest);
        }
        let family = Family {
            strategy: "hhc",
            axes,
            form: Form::Hexagonal(Box::new(form)),
            dimension,
            most_points: i64::MAX,
        };
        family.shrunk(hardware)
    }

    /// The blocks of the naive strategy.
    pub fn naive(problem: &Problem, hardware: &Hardware) -> Family {
        let dimension = problem.dimension();
        let most_points = POINTS_PER_THREAD * hardware.threads_per_block;
        let mut axes = [Axis::one(); 3];
        for (d, axis) in axes.iter_mut().enumerate().take(dimension) {
            let step = if d + 1 == dimension { hardware.warp } else { 1 };
            *axis = Axis::up_to(step, step, problem.extent(d).min(most_points));
        }
        Family {
            strategy: "naive",
            axes,
            form: Form::Naive(Box::new(Naive::new(problem, hardware.n_v, fast(hardware)))),
            dimension,
            most_points,
        }
    }

    /// The family of these tile sizes; `None` where the strategy has no closed forms or a size is missing.
    pub fn of_tile(
        problem: &Problem,
        hardware: &Hardware,
        strategy: &str,
        tile: &TileSizes,
    ) -> Option<(Family, [i64; 3])> {
        let mut sizes = [1; 3];
        for (d, name) in ["s0", "s1", "s2"].into_iter().enumerate().take(problem.dimension()) {
            sizes[d] = tile.get(name)?;
        }
        let form = match strategy {
            "hhc" => {
                let uncut = [0, 1, 2]
                    .map(|d| (d > 0 && d < problem.dimension() && sizes[d] == 0).then(|| problem.extent(d)));
                let st = tile.get("st")?;
                Form::Hexagonal(Box::new(Hexagonal::new(problem, st, hardware.n_v, fast(hardware), uncut)))
            }
            "naive" => Form::Naive(Box::new(Naive::new(problem, hardware.n_v, fast(hardware)))),
            _ => return None,
        };
        let axes = sizes.map(|size| Axis { first: size, step: 1, count: 1 });
        let strategy = if strategy == "hhc" { "hhc" } else { "naive" };
        Some((Family { strategy, axes, form, dimension: problem.dimension(), most_points: i64::MAX }, sizes))
    }

    /// All families of a request.
    pub fn all(request: &Request<'_>) -> Vec<Family> {
        let mut families = Vec::new();
        for strategy in &request.strategies {
            match *strategy {
                "hhc" => {
                    families.extend(
                        half_heights(request)
                            .map_while(|st| Family::hexagonal(request.problem, request.hardware, st)),
                    );
                }
                _ => families.push(Family::naive(request.problem, request.hardware)),
            }
        }
        families
    }

    /// Axes without the values that need too much memory even with the least of all others; `None` where none is left.
    fn shrunk(mut self, hardware: &Hardware) -> Option<Family> {
        let least = self.axes.map(|axis| axis.first);
        if self.tile_bytes(least) > hardware.shared_per_block_bytes {
            return None;
        }
        for d in 0..self.dimension {
            let fits = |index: i64| {
                let mut sizes = least;
                sizes[d] = self.axes[d].at(index);
                self.tile_bytes(sizes) <= hardware.shared_per_block_bytes
            };
            self.axes[d].count = last_true(self.axes[d].count, fits) + 1;
        }
        Some(self)
    }

    /// Number of counts: one, or one per statement where statements have tiles of their own.
    #[inline]
    pub fn classes(&self) -> usize {
        match &self.form {
            Form::Hexagonal(_) => 1,
            Form::Naive(form) => form.statements(),
        }
    }

    /// The counts of class `class`.
    #[inline]
    pub fn counts(&self, class: usize, sizes: [i64; 3]) -> TileCounts {
        match &self.form {
            Form::Hexagonal(form) => form.counts(sizes),
            Form::Naive(form) => form.counts(class, sizes),
        }
    }

    /// Bounds of the counts over a box.
    pub fn bounds(&self, class: usize, low: [i64; 3], high: [i64; 3]) -> CountBounds {
        match &self.form {
            Form::Hexagonal(form) => form.bounds(low, high),
            Form::Naive(form) => form.bounds(class, low, high),
        }
    }

    /// Bytes of fast memory of a tile.
    #[inline]
    pub fn tile_bytes(&self, sizes: [i64; 3]) -> i64 {
        match &self.form {
            Form::Hexagonal(form) => form.tile_bytes(sizes),
            Form::Naive(_) => 0,
        }
    }

    /// Whether the sizes are in the space: a limit on the points of naive blocks.
    #[inline]
    pub fn admits(&self, sizes: [i64; 3]) -> bool {
        self.most_points == i64::MAX || sizes[0] * sizes[1] * sizes[2] <= self.most_points
    }

    /// Whether `k` tiles of these sizes fit the shared memory of a multiprocessor, and the sizes the space.
    #[inline]
    pub fn fits_memory(&self, sizes: [i64; 3], k: i64, hardware: &Hardware) -> bool {
        let bytes = self.tile_bytes(sizes);
        self.admits(sizes)
            && bytes <= hardware.shared_per_block_bytes
            && (bytes == 0 || k * (bytes + hardware.shared_reserved_bytes) <= hardware.m_sm_bytes)
    }

    /// Whether no candidate of a box fits `k` times into the threads and registers of a multiprocessor, as far as bounds
    /// tell. `low` and `high` are indices on the axes.
    ///
    /// For given classical sizes the number of threads grows with `s0` (in one dimension, it is at least half of what
    /// the rule prefers once a row has more points than that). The compiler may not give a thread fewer registers
    /// than `registers of an SM / max(MORE_RESIDENT_THREADS, threads)`, whatever the launch bounds.
    pub fn too_many_threads(&self, low: [i64; 3], high: [i64; 3], k: i64, hardware: &Hardware) -> bool {
        if (high[1] - low[1] + 1) * (high[2] - low[2] + 1) > MOST_LOOKED_AT {
            return false;
        }
        let (s0, most_s0) = (self.axes[0].at(low[0]), self.axes[0].at(high[0]));
        let one_dimension = self.dimension == 1;
        for i1 in low[1]..=high[1] {
            for i2 in low[2]..=high[2] {
                let at = |s0: i64| [s0, self.axes[1].at(i1), self.axes[2].at(i2)];
                let mut fewest = self.threads(at(s0));
                let mut most = self.threads(at(most_s0));
                if one_dimension && s0 < most_s0 {
                    fewest = fewest.min(HALF_OF_PREFERRED);
                    most = most.max(2 * HALF_OF_PREFERRED);
                }
                let registers = match &self.form {
                    Form::Hexagonal(form) => form.least_registers(s0, most_s0, at(s0)),
                    Form::Naive(form) => form.least_registers(),
                };
                let bound = hardware.registers_per_sm / most.max(MORE_RESIDENT_THREADS) / 8 * 8;
                let registers = registers.min(bound.clamp(16, hardware.registers_per_thread));
                if k * fewest <= hardware.threads_per_sm
                    && k * fewest * registers <= hardware.registers_per_sm
                {
                    return false;
                }
            }
        }
        true
    }

    fn threads(&self, sizes: [i64; 3]) -> i64 {
        match &self.form {
            Form::Hexagonal(form) => form.threads(sizes).0,
            Form::Naive(form) => form.counts(0, sizes).threads,
        }
    }

    /// Half the height in logical rows; `None` for strategies without.
    pub fn st(&self) -> Option<i64> {
        match &self.form {
            Form::Hexagonal(form) => Some(form.st),
            Form::Naive(_) => None,
        }
    }

    /// The sizes as the back ends take them.
    pub fn tile(&self, sizes: [i64; 3]) -> TileSizes {
        let height = self.st().map(|st| ("st", st));
        let space = ["s0", "s1", "s2"].into_iter().zip(sizes).take(self.dimension);
        TileSizes::new(height.into_iter().chain(space))
    }
}

/// The greatest index below `count` for which a condition holds that holds up to some index; -1 where it never does.
pub(crate) fn last_true(count: i64, holds: impl Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (-1, count);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// A lower bound of the bytes of a tile of this height: its widest row over all planes.
fn smallest_bytes(problem: &Problem, hexagon: &Hexagon) -> i64 {
    let flat = Hexagon { flat_top: hexagon.least_flat_top(), ..hexagon.clone() };
    let (first, last) = flat.row(hexagon.half_height - 1);
    let fields = &problem.program.fields;
    let bytes: usize = fields.iter().map(|field| field.element.bytes()).sum();
    (last - first + 1) * bytes as i64
}
