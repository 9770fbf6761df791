//! What a search over models looks at: one family for each half height, with closed forms of its counts.

use super::forms::Hexagonal;
use super::hexagon::Hexagon;
use super::outer::OnCores;
use super::sizes::{HEIGHT, SPACE_SIZES};
use super::space::HexagonSpace;
use super::tables::Tables;
use super::waves::Waves;
use crate::TileSizes;
use crate::counts::bounds::CountBounds;
use crate::counts::candidates::{Candidates, Limits, Run, Tabulated};
use crate::counts::cores::{CoreCounts, CoreSpace, Cores};
use crate::counts::forms::{Axis, Family, Forms, SizeOf, TileForms};
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::counts::tile::TileCounts;
use crate::counts::work::{LeastWork, TileWork};
use crate::geometry::MOST_GROUPS;

/// The forms of the strategy.
pub struct HexagonalForms;

impl TileForms for Hexagonal {
    fn counts(&self, _class: usize, sizes: [i64; 3]) -> TileCounts {
        Hexagonal::counts(self, sizes)
    }

    fn bounds(&self, _class: usize, low: [i64; 3], high: [i64; 3]) -> CountBounds {
        Hexagonal::bounds(self, low, high)
    }

    fn work(&self, _class: usize, sizes: [i64; 3]) -> TileWork {
        Hexagonal::work(self, sizes)
    }

    fn registers(&self, _class: usize, sizes: [i64; 3]) -> (i64, i64) {
        self.registers_given_and_needed(sizes)
    }

    fn least_work(&self, _class: usize, low: [i64; 3], high: [i64; 3]) -> LeastWork {
        Hexagonal::least_work(self, low, high)
    }

    fn tile_bytes(&self, sizes: [i64; 3]) -> i64 {
        Hexagonal::tile_bytes(self, sizes)
    }

    fn threads(&self, sizes: [i64; 3]) -> i64 {
        Hexagonal::threads(self, sizes).0
    }

    fn least_registers(&self, low: i64, high: i64, sizes: [i64; 3]) -> i64 {
        Hexagonal::least_registers(self, low, high, sizes)
    }

    fn tiles_per_wavefront(&self, sizes: [i64; 3]) -> i64 {
        Hexagonal::tiles_per_wavefront(self, sizes[0])
    }

    fn face(&self, sizes: [i64; 3]) -> Option<i64> {
        Some(sizes[0] + self.st)
    }
}

impl Forms for HexagonalForms {
    fn families(&self, problem: &Problem, on: &Multiprocessor, most_height: Option<i64>) -> Vec<Family> {
        half_heights(problem, most_height).map_while(|st| of_height(problem, on, st)).collect()
    }

    fn smallest(
        &self,
        problem: &Problem,
        on: &Multiprocessor,
        most_height: Option<i64>,
    ) -> Option<(Family, [i64; 3])> {
        let st = half_heights(problem, most_height).next()?;
        let form = Hexagonal::new(problem, st, on, [None; 3]);
        let mut sizes = [form.least_flat_top, 1, 1];
        if problem.dimension() > 1 {
            sizes[problem.dimension() - 1] = on.warp;
        }
        Some((family(form, sizes.map(Axis::only), problem.dimension()), sizes))
    }

    fn of_tile(
        &self,
        problem: &Problem,
        on: &Multiprocessor,
        tile: &TileSizes,
    ) -> Result<(Family, [i64; 3]), String> {
        let dimension = problem.dimension();
        if let Some((name, _)) = Waves::sizes_of(tile) {
            return Err(format!("{name} is a size for CPUs"));
        }
        let size = |name: &str| tile.get(name).ok_or_else(|| format!("the size {name} is missing"));
        let mut sizes = [1; 3];
        for (d, name) in SPACE_SIZES.into_iter().enumerate().take(dimension) {
            sizes[d] = size(name)?;
        }
        let uncut = [0, 1, 2].map(|d| (d > 0 && d < dimension && sizes[d] == 0).then(|| problem.extent(d)));
        let form = Hexagonal::new(problem, size(HEIGHT)?, on, uncut);
        Ok((family(form, sizes.map(Axis::only), dimension), sizes))
    }

    fn tabulated(&self) -> Option<Tabulated> {
        Some(Tabulated::ForAllGrids)
    }

    fn candidates(
        &self,
        problem: &Problem,
        runs: &[Run],
        limits: Limits,
        on: &Multiprocessor,
    ) -> Vec<Box<dyn Candidates>> {
        vec![Box::new(Tables::new(problem, runs, limits, on))]
    }

    fn core_space(&self, cores: &Cores) -> CoreSpace {
        CoreSpace::Products(Box::new(HexagonSpace::new(cores)))
    }

    fn on_cores(&self, cores: &Cores, tile: &TileSizes) -> Result<CoreCounts, String> {
        let size = |name: &str| tile.get(name).ok_or_else(|| format!("the size {name} is missing"));
        let (st, s0) = (size(HEIGHT)?, size(SPACE_SIZES[0])?);
        let classical = [1, 2].map(|d| tile.get(SPACE_SIZES[d]).unwrap_or(0));
        let on = OnCores { cores, waves: Waves::of(&cores.program, &cores.cone, tile) };
        Ok(CoreCounts::Tiles(on.outer(st, s0), on.inner(st, classical)))
    }
}

/// The half heights that can be asked for: multiples of the number of statements, up to what covers all steps.
fn half_heights(problem: &Problem, most_height: Option<i64>) -> impl Iterator<Item = i64> + use<> {
    let statements = problem.program.statements.len() as i64;
    let all_steps = problem.steps.max(1) * statements;
    let most = most_height.unwrap_or(i64::MAX).min(MOST_GROUPS * statements / 2).min(all_steps);
    (1..=(most / statements).max(1)).map(move |multiple| multiple * statements)
}

/// The tiles of half height `st`; `None` where already the smallest does not fit a block.
fn of_height(problem: &Problem, on: &Multiprocessor, st: i64) -> Option<Family> {
    let dimension = problem.dimension();
    let (lower, upper) = (problem.cone.lower[0], problem.cone.upper[0]);
    let hexagon = Hexagon { half_height: st, flat_top: 1, lower, upper };
    if smallest_bytes(problem, &hexagon) > on.shared_per_block_bytes {
        return None;
    }
    let form = Hexagonal::new(problem, st, on, [None; 3]);
    let mut axes = [Axis::only(1); 3];
    let least = form.least_flat_top;
    axes[0] = Axis::up_to(least, 1, problem.extent(0).max(least));
    for (d, axis) in axes.iter_mut().enumerate().take(dimension).skip(1) {
        let step = if d + 1 == dimension { on.warp } else { 1 };
        // A sub-tile as long as the skewed dimension needs no second one.
        let deepest = (problem.cone.lower[d] * (2 * st - 1)).floor().to_integer();
        *axis = Axis::up_to(step, step, problem.extent(d) + deepest);
    }
    family(form, axes, dimension).shrunk(on)
}

fn family(form: Hexagonal, axes: [Axis; 3], dimension: usize) -> Family {
    let free = SPACE_SIZES.into_iter().enumerate().take(dimension);
    let free = free.map(|(axis, name)| SizeOf::Axis(name, axis));
    let names = std::iter::once(SizeOf::Fixed(HEIGHT, form.st)).chain(free).collect();
    Family { axes, names, forms: Box::new(form) }
}

/// A lower bound of the bytes of a tile of this height: its widest row over all planes.
fn smallest_bytes(problem: &Problem, hexagon: &Hexagon) -> i64 {
    let flat = Hexagon { flat_top: hexagon.least_flat_top(), ..hexagon.clone() };
    let (first, last) = flat.row(hexagon.half_height - 1);
    let fields = &problem.program.fields;
    let bytes: usize = fields.iter().map(|field| field.element.bytes()).sum();
    (last - first + 1) * bytes as i64
}
