//! Every closed form against plain enumeration of the plan that the strategy makes, and against the emitted CUDA.

use crate::support::{Enumerated, enumerate, random_program};
use hhc_codegen::TileSizes;
use hhc_codegen::backend::cuda::{CudaOptions, generate};
use hhc_codegen::counts::enumerated;
use hhc_codegen::counts::{Family, Forms, Multiprocessor, Problem, TileCounts};
use hhc_codegen::int_expr::Environment;
use hhc_codegen::plan::{Kernel, KernelPlan, Loop, SIZE_NAMES};
use hhc_codegen::storage::{Memory, Moment, Place, Region, Transfer};
use hhc_codegen::strategy::{self, Strategy};
use polyhedral::shipped;
use proptest::prelude::*;
use std::sync::Arc;

const LANES: i64 = 32;

fn hhc() -> &'static dyn Strategy {
    strategy::by_name("hhc").unwrap()
}

fn naive() -> &'static dyn Strategy {
    strategy::by_name("naive").unwrap()
}

/// The closed forms of a tile.
fn closed(strategy: &'static dyn Strategy, problem: &Problem, tile: &TileSizes) -> (Family, [i64; 3]) {
    let on = Multiprocessor { lanes: LANES, ..Multiprocessor::ANY };
    strategy.closed_forms().unwrap().of_tile(problem, &on, tile).unwrap()
}

fn tile_of(dimension: usize, st: Option<i64>, sizes: [i64; 3]) -> TileSizes {
    let mut tile = TileSizes::new(["s0", "s1", "s2"].into_iter().zip(sizes).take(dimension));
    if let Some(st) = st {
        tile = tile.with("st", st);
    }
    tile
}

/// A problem with tiles small enough that some lie inside the grid.
fn problem(source: &str, dimension: usize) -> Problem {
    let program = match shipped::load(source) {
        Some(program) => program,
        None => polyhedral::parse("random.stencil", source).unwrap(),
    };
    Problem::new(&Arc::new(program), &vec![16; dimension], 1).unwrap()
}

fn compare(closed: &TileCounts, counted: &Enumerated, what: &str) {
    assert_eq!(closed.wavefronts, counted.wavefronts, "wavefronts, {what}");
    assert_eq!(closed.tiles, counted.tiles, "tiles, {what}");
    assert!(
        (counted.tiles_per_wavefront..=counted.tiles_per_wavefront + i64::from(!counted.all_positions))
            .contains(&closed.tiles_per_wavefront),
        "tiles per wavefront, {what}: {} and {}",
        closed.tiles_per_wavefront,
        counted.tiles_per_wavefront
    );
    assert_eq!(closed.sub_tiles, counted.sub_tiles, "sub-tiles, {what}");
    assert_eq!(closed.total_iterations, counted.total_iterations, "iterations in all, {what}");
    let Some(full) = counted.full else { return };
    assert_eq!(closed.rows, full.rows, "rows, {what}");
    assert_eq!(closed.iterations, full.iterations, "iterations, {what}");
    assert_eq!(closed.lane_rounds, full.lane_rounds, "lane rounds, {what}");
    assert_eq!(closed.fast_words, full.fast_words, "words of fast memory, {what}");
    if let Some((words_in, words_out)) = full.words {
        assert_eq!(closed.words_in, words_in, "words in, {what}");
        assert_eq!(closed.words_out, words_out, "words out, {what}");
    }
}

fn check_hexagonal(
    source: &str,
    st: i64,
    extra: i64,
    classical: [i64; 2],
    size_seed: [i64; 3],
    steps: i64,
) -> bool {
    let dimension = polyhedral_dimension(source);
    let base = problem(source, dimension);
    let statements = base.program.statements.len() as i64;
    let st = st * statements;
    let space = hhc().space(&base.program, &base.cone);
    let least = space.least(space.size("s0").unwrap(), &TileSizes::new([("st", st)]));
    let s0 = least + extra;
    let sizes = [s0, classical[0], classical[1]];
    // Room for a full tile and, along the innermost dimension, for a window that has slid all the way.
    let reach = |d: usize| {
        let slope = (base.cone.lower[d] * (2 * st)).ceil().to_integer();
        let offsets = base.program.statements.iter().flat_map(|s| &s.reads).map(|read| read.offset[d].abs());
        slope + 2 * offsets.max().unwrap_or(0)
    };
    let size: Vec<i64> = (0..dimension)
        .map(|d| match d {
            0 => 2 * s0 + 4 * reach(0) + size_seed[0],
            _ if d + 1 == dimension => 4 * sizes[d] + 6 * reach(d) + size_seed[d],
            _ => 3 * sizes[d] + 2 * reach(d) + size_seed[d],
        })
        .collect();
    let problem = base.with_size(&size, steps);
    let tile = tile_of(dimension, Some(st), sizes);
    let (family, sizes) = closed(hhc(), &problem, &tile);
    let closed = family.forms.counts(0, sizes);
    let plan = strategy::plan(hhc(), &problem.program, &problem.cone, &tile).unwrap();
    let counted = enumerate(&plan, &size, steps, LANES, None);
    compare(&closed, &counted, &format!("{source} {tile} {size:?} {steps} steps"));
    counted.full.is_some_and(|full| full.words.is_some())
}

fn polyhedral_dimension(source: &str) -> usize {
    match shipped::load(source) {
        Some(program) => program.dimension(),
        None => polyhedral::parse("random.stencil", source).unwrap().dimension(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn hexagonal_tiles_of_shipped_stencils(
        name in prop::sample::select(vec![
            "heat1d", "leapfrog1d", "jacobi2d", "gradient2d", "fdtd2d", "skewed2d", "asym2d", "star2d2r", "box2d2r",
            "varcoef2d", "wave2d", "heat3d", "varcoef3d", "star3d2r",
        ]),
        st in 1i64..4,
        extra in 0i64..9,
        classical in [1i64..9, 1i64..9],
        size in [0i64..9, 0i64..9, 0i64..9],
        steps in 1i64..14,
    ) {
        check_hexagonal(name, st, extra, classical, size, steps);
    }

    #[test]
    fn hexagonal_tiles_of_random_stencils(
        program in random_program(),
        st in 1i64..4,
        extra in 0i64..9,
        classical in [1i64..9, 1i64..9],
        size in [0i64..9, 0i64..9, 0i64..9],
        steps in 1i64..9,
    ) {
        check_hexagonal(&program, st, extra, classical, size, steps);
    }

    #[test]
    fn blocks_of_the_naive_strategy(
        name in prop::sample::select(vec![
            "heat1d", "jacobi2d", "fdtd2d", "star2d3r", "asym2d", "varcoef2d", "heat3d", "box3d1r",
        ]),
        sizes in [1i64..9, 1i64..9, 1i64..9],
        grid in [24i64..30, 24i64..30, 24i64..30],
        steps in 1i64..4,
    ) {
        let dimension = polyhedral_dimension(name);
        let problem = problem(name, dimension).with_size(&grid[..dimension], steps);
        let mut sizes = sizes;
        sizes[dimension..].fill(1);
        let tile = tile_of(dimension, None, sizes);
        let (family, sizes) = closed(naive(), &problem, &tile);
        let plan = strategy::plan(naive(), &problem.program, &problem.cone, &tile).unwrap();
        for k in 0..family.forms.classes() {
            let counted = enumerate(&plan, &problem.size, steps, LANES, Some(k));
            compare(&family.forms.counts(k, sizes), &counted, &format!("{name} {tile} statement {k}"));
        }
    }
}

/// The enumeration finds full tiles with a window that has slid: else the tests above would compare little.
#[test]
fn full_tiles_are_compared() {
    for name in ["heat1d", "jacobi2d", "fdtd2d", "heat3d"] {
        assert!(check_hexagonal(name, 2, 3, [6, 7], [4, 4, 4], 12), "{name} has no full tile");
    }
}

/// What is counted for strategies without closed forms is what the closed forms say, added up over kernels.
#[test]
fn enumeration_of_the_plan_is_the_closed_forms() {
    let cases = [
        ("heat1d", hhc(), "st=3,s0=9", vec![901]),
        ("jacobi2d", hhc(), "st=4,s0=5,s1=32", vec![300, 411]),
        ("fdtd2d", hhc(), "st=6,s0=9,s1=32", vec![300, 411]),
        ("heat3d", hhc(), "st=2,s0=4,s1=6,s2=32", vec![70, 80, 90]),
        ("heat1d", naive(), "s0=64", vec![901]),
        ("fdtd2d", naive(), "s0=5,s1=32", vec![300, 411]),
        ("heat3d", naive(), "s0=2,s1=4,s2=32", vec![70, 80, 90]),
    ];
    let on = Multiprocessor { lanes: LANES, ..Multiprocessor::ANY };
    for (name, strategy, tile, size) in cases {
        let what = format!("{name} {} {tile}", strategy.id());
        let tile = TileSizes::parse(tile).unwrap();
        let problem = Problem::new(&Arc::new(shipped::load(name).unwrap()), &size, 37).unwrap();
        let (family, sizes) = closed(strategy, &problem, &tile);
        let of = |family: &Family, sizes| -> Vec<TileCounts> {
            (0..family.forms.classes()).map(|class| family.forms.counts(class, sizes)).collect()
        };
        let closed = of(&family, sizes);
        let (family, sizes) = enumerated::Enumerated { strategy }.of_tile(&problem, &on, &tile).unwrap();
        assert_eq!(family.tile(sizes), tile);
        let counted = of(&family, sizes);
        let sum =
            |counts: &[TileCounts], value: fn(&TileCounts) -> i64| counts.iter().map(value).sum::<i64>();
        let values: [fn(&TileCounts) -> i64; 3] = [|c| c.wavefronts, |c| c.tiles, |c| c.total_iterations];
        for value in values {
            assert_eq!(sum(&closed, value), sum(&counted, value), "{what}");
        }
        for (class, counted) in counted.iter().enumerate() {
            let closed = closed[class.min(closed.len() - 1)];
            assert!((0..=1).contains(&(closed.tiles_per_wavefront - counted.tiles_per_wavefront)), "{what}");
            // The cells that are loaded are those of a few boxes around those that are needed.
            assert!((closed.words_in..=closed.words_in * 9 / 8).contains(&counted.words_in), "{what}");
            let of_grid = TileCounts {
                words_in: closed.words_in,
                wavefronts: closed.wavefronts,
                tiles_per_wavefront: closed.tiles_per_wavefront,
                tiles: closed.tiles,
                total_iterations: closed.total_iterations,
                ..*counted
            };
            assert_eq!(of_grid, closed, "{what}");
        }
    }
}

/// Runs `body` for every point of a nest of loops.
fn nest(loops: &[Loop], inside: &mut Environment, body: &mut dyn FnMut(&mut Environment)) {
    let Some((first, rest)) = loops.split_first() else { return body(inside) };
    for value in first.low.evaluate(inside).unwrap()..=first.high.evaluate(inside).unwrap() {
        inside.insert(first.variable, value);
        nest(rest, inside, body);
    }
}

/// Iterations, copies, loads and stores of the blocks in the middle of all launches, point by point.
fn of_middle_blocks(plan: &KernelPlan, size: &[i64], steps: i64) -> [i64; 4] {
    let program = &plan.program;
    let mut outside: Environment = SIZE_NAMES.into_iter().zip(size.iter().copied()).collect();
    outside.insert("steps", steps);
    let middle = |kernel: &Kernel, outer: i64| -> Environment {
        let mut inside = outside.clone();
        inside.insert(plan.outer.variable, outer);
        for block in &kernel.blocks {
            let (low, high) = (block.low.evaluate(&inside).unwrap(), block.high.evaluate(&inside).unwrap());
            inside.insert(block.variable, low + (high - low) / 2);
        }
        inside
    };
    let to_arrays = |place: &Place| i64::from(matches!(place, Place::Arrays(_)));
    let volume = |bounds: &[(i64, i64)]| bounds.iter().map(|(low, end)| (end - low).max(0)).product::<i64>();
    let mut sums = [0; 4];
    plan.for_each_row(size, steps, |row| {
        let kernel = &plan.kernels[plan.launches[row.launch].kernel];
        let inside = middle(kernel, row.outer);
        if kernel.blocks.iter().zip(row.block).all(|(block, at)| inside.get(block.variable) == Some(*at)) {
            let (all, own) = (volume(row.bounds), volume(row.owned));
            let instance = &kernel.instances[row.instance];
            sums[0] += own;
            sums[1] += all - own;
            sums[3] += all * instance.writes.iter().map(to_arrays).sum::<i64>();
        }
    })
    .unwrap();
    let within = |statement: usize, point: &[i64]| {
        let domain = program.domain(statement, size);
        point.iter().zip(domain).all(|(s, (low, end))| (low..end).contains(s))
    };
    // Points of a transfer.
    let moved = |transfer: &Transfer, inside: &Environment| {
        let bounds = |d: usize| {
            let range = &transfer.ranges[d];
            let (low, high) = (range.low.evaluate(inside).unwrap(), range.high.evaluate(inside).unwrap());
            low.max(0)..=high.min(size[d] - 1)
        };
        let points = bounds(0).flat_map(|s0| bounds(1).map(move |s1| [s0, s1]));
        points
            .filter(|point| match transfer.region {
                Region::Grid => true,
                Region::Domain(statement) => within(statement, point),
                Region::Boundary => program.writers_of(transfer.field).all(|(k, _)| !within(k, point)),
            })
            .count() as i64
    };
    let high = plan.outer.high.evaluate(&outside).unwrap();
    for outer in plan.outer.low.evaluate(&outside).unwrap()..=high {
        for launch in &plan.launches {
            let kernel = &plan.kernels[launch.kernel];
            let mut inside = middle(kernel, outer);
            if launch.when.as_ref().is_some_and(|when| when.evaluate(&inside).unwrap() < 0) {
                continue;
            }
            for binding in &kernel.bindings {
                let value = binding.value.evaluate(&inside).unwrap();
                inside.insert(binding.name, value);
            }
            nest(&kernel.sub_tiles, &mut inside, &mut |inside| {
                let mut count = |transfer: &Transfer, inside: &Environment| {
                    if transfer.when.iter().any(|condition| condition.evaluate(inside).unwrap() < 0) {
                        return;
                    }
                    let points = moved(transfer, inside);
                    sums[2] += points * to_arrays(&transfer.from.place);
                    sums[3] += points * to_arrays(&transfer.to);
                };
                let (once, in_groups): (Vec<_>, Vec<_>) = (kernel.transfers.iter())
                    .partition(|transfer| matches!(transfer.moment, Moment::Start | Moment::End));
                once.iter().for_each(|transfer| count(transfer, inside));
                nest(std::slice::from_ref(&kernel.rows), inside, &mut |inside| {
                    in_groups.iter().for_each(|transfer| count(transfer, inside));
                });
            });
        }
    }
    sums
}

/// Plans that say themselves where values live: the counts of their blocks are those of every point.
#[test]
fn blocks_with_storages_are_counted_exactly() {
    let mut compared = 0;
    for name in ["heat2d", "box2d2r", "fdtd2d"] {
        let program = Arc::new(shipped::load(name).unwrap());
        // With blocks inside the grid, and with one that its ends cut.
        for (size, rows, points) in [([40, 70], 3, [6, 9]), ([23, 19], 2, [16, 12])] {
            let problem = Problem::new(&program, &size, 8).unwrap();
            for strategy in strategy::all() {
                if strategy.takes(&program, &problem.cone).is_err() {
                    continue;
                }
                let tile = strategy.space(&program, &problem.cone).fitted(rows, &points);
                let plan = strategy::plan(*strategy, &program, &problem.cone, &tile).unwrap();
                // What lanes do beside their rows' boxes, and bands shorter than a full one, no count of blocks knows yet.
                let teams = plan.kernels.iter().any(|kernel| kernel.team);
                if teams || !plan.kernels.iter().all(|kernel| kernel.memory == Memory::Storages) {
                    continue;
                }
                let counted = enumerated::tile_counts(&plan, &problem, &Multiprocessor::ANY).unwrap();
                let sum = |value: fn(&TileCounts) -> i64| -> i64 {
                    counted.iter().map(|counts| counts.wavefronts * value(counts)).sum()
                };
                let all =
                    [sum(|c| c.iterations), sum(|c| c.copies), sum(|c| c.words_in), sum(|c| c.words_out)];
                assert_eq!(all, of_middle_blocks(&plan, &size, 8), "{name} {} {tile}", strategy.id());
                let total: i64 = counted.iter().map(|counts| counts.total_iterations).sum();
                assert_eq!(total, problem.total_iterations(), "{name} {} {tile}", strategy.id());
                compared += 1;
            }
        }
    }
    assert!(compared >= 8, "{compared}");
}

/// Shared memory and threads are those of the emitted kernels.
#[test]
fn blocks_are_those_of_the_emitted_cuda() {
    let cases: [(&str, i64, [i64; 3]); 7] = [
        ("heat1d", 8, [300, 1, 1]),
        ("jacobi2d", 4, [11, 64, 1]),
        ("jacobi2d", 3, [5, 33, 1]),
        ("fdtd2d", 3, [9, 32, 1]),
        ("wave2d", 2, [8, 96, 1]),
        ("heat3d", 2, [4, 7, 32]),
        ("varcoef3d", 1, [3, 12, 40]),
    ];
    for (name, st, sizes) in cases {
        let dimension = polyhedral_dimension(name);
        let problem = problem(name, dimension).with_size(&[512, 512, 512][..dimension], 16);
        let tile = tile_of(dimension, Some(st), sizes);
        let (family, sizes) = closed(hhc(), &problem, &tile);
        let counts = family.forms.counts(0, sizes);
        let plan = strategy::plan(hhc(), &problem.program, &problem.cone, &tile).unwrap();
        let cuda = generate(&plan, &CudaOptions::default()).unwrap();
        assert_eq!(counts.tile_bytes, i64::from(cuda.kernels[0].shared_bytes), "{name} {tile}");
        let threads: u32 = cuda.kernels[0].threads.iter().product();
        assert_eq!(counts.threads, i64::from(threads), "{name} {tile}");
        let naive_sizes = [4, 32, 32];
        let blocks = tile_of(dimension, None, naive_sizes);
        let blocked = strategy::plan(naive(), &problem.program, &problem.cone, &blocks).unwrap();
        let cuda = generate(&blocked, &CudaOptions::default()).unwrap();
        let threads: u32 = cuda.kernels[0].threads.iter().product();
        let (family, sizes) = closed(naive(), &problem, &blocks);
        assert_eq!(family.forms.counts(0, sizes).threads, i64::from(threads), "{name}");
    }
}
