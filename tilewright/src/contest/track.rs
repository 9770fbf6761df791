//! What entrants run on: a grid like the user's and as large as it need be, and so many time steps that most tiles are whole.
//! Who drops out early is found on a small one; who is taken, on the user's own where it is not too large.

use super::ground::Ground;
use super::{Contest, Entrant};
use crate::cpu_model::CpuModel;
use crate::error::Result;
use execution::layout::Layout;
use execution::native::NativeProgram;
use hhc_codegen::KernelPlan;
use hhc_codegen::plan_counts::{points_per_step, steps_of_tile};
use hhc_codegen::strategy;

/// One run of a heat should take so long at most, in seconds, and so many times as long where tiles are wide; one of the final.
const HEAT_S: f64 = 0.06;
const TIMES_LONG: f64 = 2.0;
const FINAL_S: f64 = 0.3;
/// A grid of so many times the last cache lies in memory, as the user's does where that is larger: tiles of several steps in one sweep
/// were as fast as others within 260 MB of cache, and a sixth slower beyond it. One run may then take so long.
const BEYOND_CACHE: f64 = 2.0;
const FINAL_IN_MEMORY_S: f64 = 0.6;
/// Bytes of the grid of a heat at least. Which tiles are good is the same on a grid that memory holds as on one that only the last
/// cache does, as long as it is many times as large as the caches of the cores.
const LEAST_BYTES: f64 = 64e6;
const TIMES_NEAR_CACHE: f64 = 16.0;
/// The part of these bytes that is enough where points take long to compute, as memory counts for less then, and where somebody waits who
/// runs nothing.
const ENOUGH_OF_SLOW: f64 = 0.25;
/// And at most there, however quickly they are computed: a system may take longer to give memory than a run does.
const MOST_BRIEF_BYTES: f64 = 96e6;
/// Steps at least where the user has as many, and at most, by dimension: on a line the tiles that run at once on a diagonal are those
/// of different steps.
const STEPS: (i64, [i64; 3]) = (16, [256, 100, 100]);
/// In the final, runs that are no longer than so many times the steps of a heat have all their steps, by dimension, and so have those
/// that a final has time for: on a line, where `time-skewing` begins and ends with diagonals of few tiles, a quarter of the steps says
/// less than a quarter of the points.
const TIMES_WHOLE: [i64; 3] = [4, 2, 2];
/// Tiles along the outermost dimension that each thread has in a heat: where they are few, those at the edges and the one that the
/// others wait for are a larger part of the contest than of the run.
const TILES_OF_A_THREAD: f64 = 4.0;
/// Extents along the outer dimensions are not cut below this: wavefronts need tiles. Where somebody waits, half of it will do.
const LEAST_EXTENT: i64 = 128;
/// What the model may say at most for one entrant against the others where times are carried over to the run.
const MOST_CARRIED: f64 = 1.15;

/// A grid and time steps, ready for runs of the contest.
pub struct Track<'a> {
    contest: &'a Contest<'a>,
    ground: Ground,
    /// Points times steps of all calls.
    updates: f64,
    /// How much longer a point takes in the user's run by the model, for each entrant.
    scale: Vec<f64>,
}

impl<'a> Track<'a> {
    /// For heats; the user's run takes so many seconds by the model, and there is time for so many in one of a heat.
    pub fn of_heats(
        contest: &'a Contest<'a>,
        plans: &[KernelPlan],
        entrants: &[Entrant],
        (predicted_s, time_s): (f64, f64),
    ) -> Result<Track<'a>> {
        let heat_s = time_s.min(HEAT_S);
        let long_heat_s = time_s.min(TIMES_LONG * HEAT_S);
        let steps = contest.enough_steps(plans);
        let shape = Shape::of(contest, predicted_s, steps)?;
        let near = contest.model.model.time.near_cache_bytes() * contest.threads as f64;
        let least = if near.is_finite() { LEAST_BYTES.max(TIMES_NEAR_CACHE * near) } else { LEAST_BYTES };
        let least = if contest.is_brief() { ENOUGH_OF_SLOW * least } else { least };
        let most = if contest.is_brief() { MOST_BRIEF_BYTES } else { f64::INFINITY };
        let bytes = shape.bytes_of(long_heat_s).max(ENOUGH_OF_SLOW * least).min(least);
        let bytes = bytes.max(shape.bytes_of(heat_s).min(most));
        let tiles = TILES_OF_A_THREAD * contest.threads as f64 * contest.widest(plans);
        let size =
            shape.cut_to(contest.size, bytes, (tiles, shape.bytes_of(long_heat_s)), contest.least_extent());
        let calls = shape.calls_in(heat_s, contest, &size);
        Track::new(contest, entrants, &size, [steps, calls])
    }

    /// For the final: the user's run was measured to take so many seconds, and one here may take so many at most. `None` where heats were
    /// on the same.
    pub fn of_final(
        contest: &'a Contest<'a>,
        plans: &[KernelPlan],
        entrants: &[Entrant],
        (run_s, final_s): (f64, f64),
        heats: Option<&Track<'_>>,
    ) -> Result<Option<Track<'a>>> {
        let ground = heats.map(|heats| &heats.ground);
        let most = TIMES_WHOLE[contest.stencil.program.dimension() - 1] * contest.enough_steps(plans);
        let whole = contest.steps <= most || run_s <= final_s;
        let few = || ground.map_or_else(|| contest.enough_steps(plans), Ground::steps);
        let steps = if whole { contest.steps.max(1) } else { few() };
        let shape = Shape::of(contest, run_s, steps)?;
        let bytes = shape.bytes_of(final_s);
        let mut size = shape.cut_to(contest.size, bytes, (0.0, bytes), contest.least_extent());
        if let Some(ground) = ground {
            size.iter_mut().zip(ground.size()).for_each(|(extent, least)| *extent = (*extent).max(*least));
            if (size.as_slice(), steps) == (ground.size(), ground.steps()) {
                return Ok(None);
            }
        }
        let calls = shape.calls_in(final_s, contest, &size);
        Track::new(contest, entrants, &size, [steps, calls]).map(Some)
    }

    fn new(
        contest: &'a Contest<'a>,
        entrants: &[Entrant],
        size: &[i64],
        [steps, calls]: [i64; 2],
    ) -> Result<Track<'a>> {
        Ok(Track {
            contest,
            ground: contest.ground(size, [steps, calls])?,
            updates: contest.updates(size, steps) * calls as f64,
            scale: contest.scales(entrants, size, steps)?,
        })
    }

    /// Seconds that a point and a step of the user's run take with this entrant: as measured in one run here, and carried over.
    ///
    /// # Errors
    /// An interruption.
    pub fn run(&mut self, entrant: usize, native: &NativeProgram) -> Result<f64> {
        let (contest, ground) = (self.contest, &mut self.ground);
        let run = || ground.run(&contest.stencil.program, native, contest.threads);
        Ok(self.scale[entrant] * contest.timed(entrant, run)? / self.updates)
    }
}

/// The user's grid: its bytes, and how long a run of some steps takes on it.
struct Shape {
    bytes: f64,
    run_s: f64,
}

impl Shape {
    fn of(contest: &Contest<'_>, run_s: f64, steps: i64) -> Result<Shape> {
        let program = &contest.stencil.program;
        let level = Layout::padded(program, contest.size)?.level_stride();
        let bytes = (level * program.bytes_of_a_point()) as f64;
        Ok(Shape { bytes, run_s: run_s * steps as f64 / contest.steps.max(1) as f64 })
    }

    /// Bytes of a grid on which a run takes so long.
    fn bytes_of(&self, seconds: f64) -> f64 {
        self.bytes * seconds / self.run_s.max(1e-9)
    }

    /// How many of the user's calls fit into so many seconds on a grid that was cut to these extents; one at least.
    fn calls_in(&self, seconds: f64, contest: &Contest<'_>, size: &[i64]) -> i64 {
        let points = |size: &[i64]| size.iter().map(|&extent| extent as f64).product::<f64>();
        let call_s = self.run_s * points(size) / points(contest.size).max(1.0);
        ((seconds / call_s.max(1e-9)) as i64).clamp(1, contest.calls.max(1))
    }

    /// The extents, cut to about so many bytes. Rows stay as they are, and tiles that run at once lie along the outermost dimension,
    /// which is cut last: not below so many points, as far as these are no more than so many bytes; none is cut below the `least`.
    fn cut_to(&self, size: &[i64], bytes: f64, (points, most_bytes): (f64, f64), least: i64) -> Vec<i64> {
        let mut size = size.to_vec();
        if bytes >= 0.8 * self.bytes {
            return size;
        }
        let outer = size.len().max(2) - 1;
        let mut part = bytes / self.bytes;
        for (at, extent) in size.iter_mut().enumerate().take(outer).rev() {
            let longest = *extent as f64 * part * most_bytes / bytes;
            let points = if at == 0 { points.min(longest) as i64 } else { 0 };
            let cut = ((*extent as f64 * part) as i64).max(points).max(least).min(*extent);
            part = (part * *extent as f64 / cut as f64).min(1.0);
            *extent = cut;
        }
        size
    }
}

impl Contest<'_> {
    /// Seconds that one run of a final may take where the user's run takes so many.
    pub(super) fn final_s(&self, run_s: f64) -> Result<f64> {
        let caches = self.model.machine.cpu().map(|cpu| &cpu.caches[..]).unwrap_or_default();
        let last = caches.iter().map(|cache| cache.kb * 1024.0).fold(0.0, f64::max);
        let beyond_s = run_s * BEYOND_CACHE * last / Shape::of(self, run_s, self.steps)?.bytes;
        Ok(if beyond_s < run_s { beyond_s.clamp(FINAL_S, FINAL_IN_MEMORY_S) } else { FINAL_S })
    }

    fn least_extent(&self) -> i64 {
        if self.is_brief() { LEAST_EXTENT / 2 } else { LEAST_EXTENT }
    }

    /// So many steps that most tiles are whole, and no more than the user's.
    fn enough_steps(&self, plans: &[KernelPlan]) -> i64 {
        let most = STEPS.1[self.stencil.program.dimension() - 1];
        self.steps.min((2 * tallest(plans)).clamp(STEPS.0, most)).max(1)
    }

    /// Points along the outermost dimension of a tile as tall as the tallest: `(lower + upper) rows / 2`, from its waist to a point.
    fn widest(&self, plans: &[KernelPlan]) -> f64 {
        let cone = &self.model.analysis.cone;
        let slope = cone.lower[0] + cone.upper[0];
        0.5 * tallest(plans) as f64 * *slope.numer() as f64 / *slope.denom() as f64
    }

    /// Points times steps; 1 where there are none.
    pub(super) fn updates(&self, size: &[i64], steps: i64) -> f64 {
        (points_per_step(&self.stencil.program, size) as f64 * steps as f64).max(1.0)
    }

    /// How much longer a point takes in the user's run than in the contest's by the model, for each entrant: tiles at the edges of
    /// the grid and of time are a larger part of a smaller one. 1 where the model cannot say it; within [`MOST_CARRIED`] of the median,
    /// as a measurement is worth more than a model.
    fn scales(&self, entrants: &[Entrant], size: &[i64], steps: i64) -> Result<Vec<f64>> {
        let (machine, threads) = (self.model.machine.clone(), self.threads as i64);
        let small = CpuModel::new(self.stencil, size, steps, machine, Some(threads))?;
        let parts = self.updates(size, steps) / self.updates(self.size, self.steps);
        let scale = |entrant: &Entrant| {
            let strategy = strategy::by_name(entrant.strategy).ok()?;
            let here = small.model.time.predict(strategy, &entrant.tile).ok()?.seconds;
            Some(entrant.predicted_s? * parts / here).filter(|scale| scale.is_finite() && *scale > 0.0)
        };
        let scales: Option<Vec<f64>> = entrants.iter().map(scale).collect();
        Ok(scales.map_or_else(|| vec![1.0; entrants.len()], near_their_median))
    }
}

fn tallest(plans: &[KernelPlan]) -> i64 {
    plans.iter().map(steps_of_tile).max().unwrap_or(1)
}

/// None of them farther than [`MOST_CARRIED`] from the median, which need not be 1: all of them may share a reason.
fn near_their_median(mut scales: Vec<f64>) -> Vec<f64> {
    let mut sorted = scales.clone();
    sorted.sort_by(f64::total_cmp);
    if let Some(median) = sorted.get(sorted.len() / 2) {
        scales
            .iter_mut()
            .for_each(|scale| *scale = scale.clamp(median / MOST_CARRIED, median * MOST_CARRIED));
    }
    scales
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_carries_times_over_within_bounds() {
        let near = near_their_median(vec![2.0, 2.1, 2.0, 3.0, 1.0]);
        assert_eq!(near, [2.0, 2.1, 2.0, 2.0 * MOST_CARRIED, 2.0 / MOST_CARRIED]);
        assert!(near_their_median(Vec::new()).is_empty());
    }

    #[test]
    fn the_outermost_dimension_is_cut_last() {
        let shape = Shape { bytes: 1e9, run_s: 1.0 };
        assert_eq!(shape.bytes_of(0.5), 5e8);
        let all = f64::INFINITY;
        assert_eq!(shape.cut_to(&[1000, 1000, 1000], 5e8, (0.0, all), LEAST_EXTENT), [1000, 500, 1000]);
        assert_eq!(shape.cut_to(&[1000, 1000, 1000], 1e7, (0.0, all), LEAST_EXTENT), [128, 128, 1000]);
        assert_eq!(shape.cut_to(&[1000, 1000], 1e8, (0.0, all), LEAST_EXTENT), [128, 1000]);
        assert_eq!(shape.cut_to(&[1000, 1000], 1e8, (600.0, all), LEAST_EXTENT), [600, 1000]);
        assert_eq!(shape.cut_to(&[1000, 1000], 1e8, (600.0, 3e8), LEAST_EXTENT), [300, 1000]);
        assert_eq!(shape.cut_to(&[1000, 1000], 9e8, (0.0, all), LEAST_EXTENT), [1000, 1000]);
        assert_eq!(shape.cut_to(&[100, 1000], 1e8, (600.0, all), LEAST_EXTENT), [100, 1000]);
    }
}
