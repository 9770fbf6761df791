//! Every closed form against plain enumeration of the plan that the strategy makes, and against the emitted CUDA.

#![allow(clippy::unwrap_used)]

mod support;

use cost_models::counts::TileCounts;
use cost_models::forms::{Fast, Hexagonal, Naive, Problem};
use hhc_codegen::TileSizes;
use hhc_codegen::backend::cuda::{CudaOptions, generate};
use hhc_codegen::strategy::{self, Hexagon};
use polyhedral::shipped;
use proptest::prelude::*;
use std::sync::Arc;
use support::{Enumerated, enumerate, random_program};

const SHARED: Fast =
    Fast::Shared { threads_per_block: 1024, registers_per_sm: 65_536, registers_per_thread: 255 };

const LANES: i64 = 32;

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
    let hexagon =
        Hexagon { half_height: st, flat_top: 1, lower: base.cone.lower[0], upper: base.cone.upper[0] };
    let s0 = hexagon.least_flat_top() + extra;
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
    let closed = Hexagonal::new(&problem, st, LANES, SHARED, [None; 3]).counts(sizes);
    let tile = tile_of(dimension, Some(st), sizes);
    let plan = strategy::plan(&strategy::HybridHexagonal, &problem.program, &problem.cone, &tile).unwrap();
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
        let forms = Naive::new(&problem, LANES, SHARED);
        let tile = tile_of(dimension, None, sizes);
        let plan = strategy::plan(&strategy::Naive, &problem.program, &problem.cone, &tile).unwrap();
        for k in 0..forms.statements() {
            let counted = enumerate(&plan, &problem.size, steps, LANES, Some(k));
            compare(&forms.counts(k, sizes), &counted, &format!("{name} {tile} statement {k}"));
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
        let counts = Hexagonal::new(&problem, st, LANES, SHARED, [None; 3]).counts(sizes);
        let tile = tile_of(dimension, Some(st), sizes);
        let plan =
            strategy::plan(&strategy::HybridHexagonal, &problem.program, &problem.cone, &tile).unwrap();
        let cuda = generate(&plan, &CudaOptions::default()).unwrap();
        assert_eq!(counts.tile_bytes, i64::from(cuda.kernels[0].shared_bytes), "{name} {tile}");
        let threads: u32 = cuda.kernels[0].threads.iter().product();
        assert_eq!(counts.threads, i64::from(threads), "{name} {tile}");
        let naive_sizes = [4, 32, 32];
        let blocks = tile_of(dimension, None, naive_sizes);
        let naive = strategy::plan(&strategy::Naive, &problem.program, &problem.cone, &blocks).unwrap();
        let cuda = generate(&naive, &CudaOptions::default()).unwrap();
        let threads: u32 = cuda.kernels[0].threads.iter().product();
        assert_eq!(
            Naive::new(&problem, LANES, SHARED).counts(0, naive_sizes).threads,
            i64::from(threads),
            "{name}"
        );
    }
}
