//! The costs of a stencil's rows: boxes of many shapes, measured in a cache, and explained by calls, runs and blocks.

use super::least_squares::non_negative;
use super::resident::{Resident, Shape, Work};
use cost_models::machine::{BodyCosts, RunCosts, WorkingSet};
use polyhedral::program::Program;
use toolchain::clock::{Timing, median};
use toolchain::machine::Cache;

/// The caches of a core of which the system tells nothing.
const UNKNOWN_CACHES: (f64, f64) = (256e3, 1e6);
const UNKNOWN_FIRST: f64 = 32e3;

/// Which shapes are measured.
#[derive(Debug, Clone, Copy)]
pub struct Shapes {
    /// Flat tops: groups of rows on their own, all remainders, and wide ones.
    flat_tops: &'static [i64],
    /// Lengths of rows in blocks, where rows are cut.
    lengths: &'static [i64],
    /// Sizes of the middle dimension of three.
    middles: &'static [i64],
}

/// Shapes for a fraction of a second.
pub const FEW: Shapes = Shapes { flat_tops: &[1, 2, 4, 8, 16], lengths: &[3, 24, 64], middles: &[8] };
/// Shapes of a tile whose rows change in width, beside [`FEW`] of one whose rows do not.
pub const FEWEST: Shapes = Shapes { flat_tops: &[8, 20], lengths: &[24, 64], middles: &[8] };
/// Shapes for some seconds of measuring.
pub const MANY: Shapes = Shapes {
    flat_tops: &[1, 2, 3, 4, 7, 8, 16, 20, 33, 48],
    lengths: &[2, 4, 12, 32, 64],
    middles: &[2, 8, 16],
};

/// What one core has of each cache for data, in bytes, the first cache first.
fn shares(caches: &[Cache], usable: usize) -> Vec<f64> {
    let mut data: Vec<&Cache> = caches.iter().filter(|cache| cache.kind != "Instruction").collect();
    data.sort_by_key(|cache| cache.level);
    let sharing = |cache: &Cache| cache.shared_by.unwrap_or(1).clamp(1, usable.max(1));
    data.into_iter().map(|cache| cache.bytes as f64 / sharing(cache) as f64).collect()
}

/// What one core has of the first cache, in bytes.
pub fn first_share(caches: &[Cache], usable: usize) -> f64 {
    shares(caches, usable).first().copied().unwrap_or(UNKNOWN_FIRST)
}

/// What one core has for itself, in bytes: of the cache before the last one, and of the last one its share among the
/// processors that may be used. Where the system tells nothing, the usual least.
pub fn cache_shares(caches: &[Cache], usable: usize) -> (f64, f64) {
    match shares(caches, usable).as_slice() {
        [] => UNKNOWN_CACHES,
        [only] => (*only, *only),
        [.., near, last] => (*near, last.max(*near)),
    }
}

/// Working sets per core that tell what a line costs: around the cache before the last one, `near` bytes of a core, and
/// around its share of the last one, up to `most` bytes, which stand for memory.
pub fn working_set_bytes(near: f64, last: f64, most: f64) -> Vec<f64> {
    let around = |bytes: f64, parts: &'static [f64]| parts.iter().map(move |part| part * bytes);
    let all = around(near, &[0.5, 1.0, 1.5, 2.0, 4.0]).chain(around(last, &[0.5, 1.0, 1.5, 2.0, 4.0]));
    let mut all: Vec<f64> = all.map(|bytes| bytes.min(most)).collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|next, before| *next < 1.3 * *before);
    all
}

/// Shapes whose boxes fit `limit` bytes.
pub fn shapes(resident: &Resident, wanted: Shapes, limit: f64) -> Vec<Shape> {
    let block = resident.block();
    let mut shapes: Vec<Shape> = Vec::new();
    match resident.program().dimension() {
        1 => shapes.extend([1, 2, 3, 5, 8, 16, 32, 64, 128].map(|length| vec![length * block])),
        2 => {
            for &s0 in wanted.flat_tops {
                shapes.extend(wanted.lengths.iter().map(|length| vec![s0, length * block]));
            }
            shapes.extend([4, 20].map(|s0| vec![s0, block / 2]));
        }
        _ => {
            for &s0 in wanted.flat_tops.iter().filter(|&&s0| s0 <= 20) {
                for &s1 in wanted.middles {
                    let lengths = wanted.lengths.iter().filter(|&&length| length <= 32);
                    shapes.extend(lengths.map(|length| vec![s0, s1, length * block]));
                }
            }
            shapes.push(vec![7, 8, block / 2]);
        }
    }
    shapes.retain(|shape| resident.work(shape).bytes <= limit);
    shapes
}

/// A shape whose box is about this many bytes, with long rows.
pub fn shape_of(resident: &Resident, bytes: f64) -> Shape {
    let mut shape: Shape = match resident.program().dimension() {
        1 => vec![1],
        2 => vec![1, 1024],
        _ => vec![1, 16, 240],
    };
    // The box grows with the flat top, at first by less than in proportion because of the tile's other rows.
    let (mut low, mut high) = (1, 1 << 30);
    while low < high {
        let middle = low + (high - low + 1) / 2;
        shape[0] = middle;
        if resident.work(&shape).bytes <= bytes { low = middle } else { high = middle - 1 }
    }
    shape[0] = low;
    shape
}

/// The order of the unknowns: call, runs, blocks, points of short rows, lines that move between the first cache of `first` bytes
/// and the next one.
fn features(work: &Work, first: f64) -> Vec<f64> {
    let mut row = vec![work.calls];
    row.extend(work.runs.iter().map(|(_, count)| count));
    row.extend(work.blocks.iter().map(|(_, count)| count));
    row.push(work.short_points);
    row.push(if work.bytes > first { work.swept_lines } else { 0.0 });
    row
}

/// Explains the medians of the seconds by the work that took them: relative errors count, so that short rows weigh as
/// much as long ones.
///
/// The windows of tiles lie in the cache before the last one, and few rows at once are measured in small boxes: what lines take
/// on their way from there to the first cache, of `first` bytes, is an unknown of its own, and blocks of all kinds pay it.
pub fn explain(program: &Program, measured: &[(Work, Vec<f64>)], first: f64) -> BodyCosts {
    let timed = |(work, seconds): &(Work, Vec<f64>)| Some((work.clone(), Timing::of(seconds.clone())?));
    let (works, timings): (Vec<Work>, Vec<Timing>) = measured.iter().filter_map(timed).unzip();
    // Nanoseconds keep the numbers near 1.
    let rows: Vec<Vec<f64>> = (works.iter().zip(&timings))
        .map(|(work, timing)| {
            features(work, first).iter().map(|count| 1e-9 * count / timing.median).collect()
        })
        .collect();
    let nanoseconds = non_negative(&rows, &vec![1.0; rows.len()]);
    let errors = rows.iter().map(|row| row.iter().zip(&nanoseconds).map(|(a, b)| a * b).sum::<f64>() - 1.0);
    let relative_error = (errors.map(|error| error * error).sum::<f64>() / rows.len().max(1) as f64).sqrt();
    let kinds: Vec<i64> =
        works.first().map_or(Vec::new(), |work| work.runs.iter().map(|run| run.0).collect());
    let dispersions: Vec<f64> = timings.iter().map(Timing::relative_dispersion).collect();
    let (flops, reads) = cost_models::cpu::work(program);
    let blocks_of_rows =
        |work: &Work| work.blocks.iter().map(|(rows, count)| *rows as f64 * count).sum::<f64>();
    let blocks: f64 = works.iter().map(blocks_of_rows).sum();
    // Of one row's block, in and out.
    let lines = works.iter().map(|work| work.swept_lines).sum::<f64>() / blocks.max(1.0);
    let line = nanoseconds[2 + 2 * kinds.len()];
    let mut runs: Vec<RunCosts> = (kinds.iter().enumerate())
        .map(|(v, &rows)| RunCosts {
            rows,
            run_s: 1e-9 * nanoseconds[1 + v],
            block_s: 1e-9 * (nanoseconds[1 + kinds.len() + v] + rows as f64 * lines * line),
        })
        .collect();
    runs.sort_by_key(|run| -run.rows);
    BodyCosts {
        flops,
        reads,
        call_s: 1e-9 * nanoseconds[0],
        runs,
        point_s: 1e-9 * nanoseconds[1 + 2 * kinds.len()],
        memory_line_s: 0.0,
        line_part: 1.0,
        relative_error,
        dispersion: median(&dispersions).unwrap_or(0.0),
        measurements: timings.iter().map(|timing| timing.seconds_all.len() as i64).sum(),
    }
}

/// Seconds of one pass over a box in a cache, by these costs.
pub fn cached_seconds(body: &BodyCosts, work: &Work) -> f64 {
    let kind = |rows: i64| body.runs.iter().find(|run| run.rows == rows);
    let runs = work.runs.iter().filter_map(|(rows, count)| Some(kind(*rows)?.run_s * count));
    let blocks = work.blocks.iter().filter_map(|(rows, count)| Some(kind(*rows)?.block_s * count));
    work.calls * body.call_s + runs.chain(blocks).sum::<f64>() + work.short_points * body.point_s
}

/// Seconds per line of the boxes of growing shapes, beyond what `body` explains: never less for a larger box.
pub fn working_sets(
    resident: &Resident,
    body: &BodyCosts,
    shapes: &[Shape],
    seconds: &[Vec<f64>],
) -> Vec<WorkingSet> {
    let mut least = 0.0_f64;
    let mut sets = Vec::new();
    for (shape, seconds) in shapes.iter().zip(seconds) {
        let (work, Some(timing)) = (resident.work(shape), Timing::of(seconds.clone())) else { continue };
        least = least.max((timing.median - cached_seconds(body, &work)) / work.swept_lines);
        let kb = work.bytes / 1024.0;
        if sets.last().is_none_or(|last: &WorkingSet| last.kb < kb) {
            sets.push(WorkingSet { kb, line_s: least, dispersion: timing.dispersion / work.swept_lines });
        }
    }
    sets
}

/// The name of a program's element type in machine files.
pub fn element(program: &Program) -> &'static str {
    program.fields[0].element.name()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row at once is measured in boxes that the first cache holds, eight are measured in larger ones: lines between the
    /// caches are no cost of eight rows alone.
    #[test]
    fn lines_between_caches_are_paid_by_all_rows() {
        let text = "stencil copy(t, i, j) { field u: f32; u[t+1, i, j] = u[t, i, j]; }";
        let program = polyhedral::parse("copy", text).unwrap();
        let (first, line) = (32e3, 0.1);
        let box_of = |rows: i64, runs: f64, length: f64, bytes: f64| {
            let blocks = runs * length;
            let swept_lines = 3.0 * rows as f64 * blocks;
            let work = Work {
                calls: 1.0,
                runs: vec![(8, if rows == 8 { runs } else { 0.0 }), (1, if rows == 1 { runs } else { 0.0 })],
                blocks: vec![
                    (8, if rows == 8 { blocks } else { 0.0 }),
                    (1, if rows == 1 { blocks } else { 0.0 }),
                ],
                short_points: 0.0,
                swept_lines,
                bytes,
            };
            let moved = if bytes > first { swept_lines } else { 0.0 };
            let seconds = 1e-9 * (5.0 + 6.0 * runs + rows as f64 * blocks + line * moved);
            (work, vec![seconds; 3])
        };
        let measured = [
            box_of(1, 1.0, 4.0, 2e3),
            box_of(1, 3.0, 16.0, 8e3),
            box_of(1, 1.0, 64.0, 24e3),
            box_of(8, 1.0, 4.0, 8e3),
            box_of(8, 1.0, 16.0, 24e3),
            box_of(8, 1.0, 64.0, 90e3),
            box_of(8, 5.0, 64.0, 400e3),
        ];
        let costs = explain(&program, &measured, first);
        assert!(costs.relative_error < 1e-6, "{costs:?}");
        for run in &costs.runs {
            let each = 1e9 * run.block_s / run.rows as f64;
            assert!((each - (1.0 + 3.0 * line)).abs() < 1e-6, "{run:?}");
        }
    }
}
