//! Golden values: every count and every term of one 1-D, one 2-D and one 3-D case, written out by hand, and the times
//! of the six stencils of the paper on its two machines.
//!
//! The constants are stated here, for these tests only; they are nobody's measurements.

use approx::assert_relative_eq;
use cost_models::constants::{Basis, EnergyConstants, TimeConstants};
use cost_models::energy::energy;
use cost_models::gpu::GpuTime;
use cost_models::hardware::Hardware;
use cost_models::machine::shipped;
use cost_models::memory::constraints;
use cost_models::time::Prediction;
use hhc_codegen::TileSizes;
use hhc_codegen::counts::{Problem, TileCounts, forms};
use hhc_codegen::strategy;
use polyhedral::shipped::load;
use std::sync::Arc;

const L: f64 = 3e-10;
const TAU: f64 = 4e-9;
const T_SYNC: f64 = 3e-6;
const C_ITER: f64 = 8e-9;

fn hardware(name: &str) -> Hardware {
    Hardware::of(name, shipped(name).unwrap().unwrap().gpu().unwrap())
}

fn problem(name: &str, size: &[i64], steps: i64) -> Problem {
    Problem::new(&Arc::new(load(name).unwrap()), size, steps).unwrap()
}

fn counts(problem: &Problem, hardware: &Hardware, st: i64, sizes: [i64; 3]) -> TileCounts {
    let space = ["s0", "s1", "s2"].into_iter().zip(sizes).take(problem.dimension());
    let tile = TileSizes::new(std::iter::once(("st", st)).chain(space));
    let forms = forms(strategy::by_name("hhc").unwrap());
    let (family, sizes) = forms.of_tile(problem, &hardware.multiprocessor(), &tile).unwrap();
    family.forms.counts(0, sizes)
}

fn model(hardware: &Hardware) -> GpuTime {
    let constants = TimeConstants {
        l_s_per_word: L,
        tau_sync_s: TAU,
        t_sync_s: T_SYNC,
        c_iter_s: C_ITER,
        machine_basis: Basis::Stated,
        c_iter_basis: Basis::Stated,
    };
    GpuTime { n_sm: hardware.n_sm, n_v: hardware.n_v, constants }
}

fn check(prediction: Prediction, [compute, transfer, barrier, launch]: [f64; 4], ideal: f64) {
    assert_relative_eq!(prediction.terms.compute, compute, epsilon = 0.0, max_relative = 1e-12);
    assert_relative_eq!(prediction.terms.transfer, transfer, epsilon = 0.0, max_relative = 1e-12);
    assert_relative_eq!(prediction.terms.barrier, barrier, epsilon = 0.0, max_relative = 1e-12);
    assert_relative_eq!(prediction.terms.launch, launch, epsilon = 0.0, max_relative = 1e-12);
    assert_relative_eq!(
        prediction.seconds,
        compute + transfer + barrier + launch,
        epsilon = 0.0,
        max_relative = 1e-12
    );
    assert_relative_eq!(prediction.ideal_s, ideal, epsilon = 0.0, max_relative = 1e-12);
}

/// heat1d, 1,000,000 points, 64 steps, `st = 4`, `s0 = 16` (`tT = 8`), `k = 2`, on a GTX 980.
#[test]
fn one_dimension() {
    let hardware = hardware("gtx980");
    let problem = problem("heat1d", &[1_000_000], 64);
    let counts = counts(&problem, &hardware, 4, [16, 1, 1]);
    // Rows of 16, 18, 20, 22, 22, 20, 18, 16 points, each in one round of 128 lanes.
    assert_eq!((counts.rows, counts.iterations, counts.lane_rounds), (8, 152, 8));
    // Phase 0: logical rows 8T - 4 ..; 9 bands of it and 8 of phase 1 cover 64 rows.
    assert_eq!(counts.wavefronts, 9 + 8);
    // W = 2*16 + 3 + 3 = 38. Phase 0: 38b - 19 <= 999,998, b = 0 .. 26316; phase 1: 38b <= 999,998, b = 0 .. 26315.
    assert_eq!(counts.tiles_per_wavefront, 26_317);
    assert_eq!(counts.tiles, 9 * 26_317 + 8 * 26_316);
    assert_eq!(counts.sub_tiles, 1);
    // Live in: row 0 reads 18 cells; rows 1, 2, 3 two new ones at each end; row 4 one at each end.
    assert_eq!(counts.words_in, 18 + 4 + 4 + 4 + 2);
    // Live out: what row a + 2 does not cover: 2 of row 3, 4 of rows 4 and 5, all of rows 6 and 7.
    assert_eq!(counts.words_out, 2 + 4 + 4 + 18 + 16);
    // Window: columns -1 .. 22, two levels of 4 bytes.
    assert_eq!(counts.tile_bytes, 24 * 2 * 4);
    assert_eq!(counts.fast_words, 152 * 4);
    assert_eq!(counts.total_iterations, 64 * 999_998);

    let rounds = 17.0 * 823.0; // ceil(ceil(26,317/2)/16) = ceil(13,159/16) = 823
    let compute = 8.0 * C_ITER + 8.0 * TAU;
    let io = L * 76.0 + 2.0 * TAU;
    assert!(compute > io);
    check(
        model(&hardware).predict(&counts, 2),
        // Two sub-tiles compute, one transfer is waited for.
        [rounds * 2.0 * 8.0 * C_ITER, rounds * L * 76.0, rounds * (2.0 * 8.0 + 2.0) * TAU, 17.0 * T_SYNC],
        64.0 * 999_998.0 / (16.0 * 128.0) * C_ITER,
    );
    // T_prism(1) = q * (io + compute): nothing overlaps.
    let alone = model(&hardware).predict(&counts, 1);
    assert_relative_eq!(
        alone.seconds,
        17.0 * T_SYNC + 17.0 * 1645.0 * (io + compute),
        epsilon = 0.0,
        max_relative = 1e-12
    ); // ceil(26,317/16) = 1645
}

/// jacobi2d, 1000 x 1000 points, 32 steps, `st = 2`, `s0 = 8`, `s1 = 32`, `k = 2`, on a GTX 980.
#[test]
fn two_dimensions() {
    let hardware = hardware("gtx980");
    let problem = problem("jacobi2d", &[1000, 1000], 32);
    let counts = counts(&problem, &hardware, 2, [8, 32, 1]);
    // Rows of 8, 10, 10, 8 columns by 32: 256, 320, 320, 256 points in 2, 3, 3, 2 rounds of 128 lanes.
    assert_eq!((counts.rows, counts.iterations, counts.lane_rounds), (4, 1152, 10));
    assert_eq!(counts.wavefronts, 9 + 8);
    // W = 18. Phase 0: 18b - 9, b = 1 .. 55; phase 1: 18b <= 998, b = 0 .. 55.
    assert_eq!((counts.tiles_per_wavefront, counts.tiles), (56, 9 * 55 + 8 * 56));
    // c1 = 0 .. floor((1000 + 3 - 1 - 1) / 32) = 31.
    assert_eq!(counts.sub_tiles, 32);
    // Lines in: 10 of row 0, 4 of row 1, 2 of row 2. Out: 2 of row 1, all of rows 2 and 3.
    assert_eq!((counts.words_in, counts.words_out), (16 * 32, 20 * 32));
    // Window: 12 x (32 + 3 + 2) cells, two levels of 4 bytes.
    assert_eq!(counts.tile_bytes, 12 * 37 * 2 * 4);
    assert_eq!(counts.fast_words, 1152 * 6);
    assert_eq!(counts.total_iterations, 32 * 998 * 998);

    let rounds = 17.0 * 2.0; // ceil(ceil(56/2)/16) = 2
    let (compute, io) = (10.0 * C_ITER + 4.0 * TAU, L * 1152.0 + 2.0 * TAU);
    assert!(io > compute);
    check(
        model(&hardware).predict(&counts, 2),
        // Transfers are longer: 64 of them, and one sub-tile computes in the open.
        [
            rounds * 10.0 * C_ITER,
            rounds * 64.0 * L * 1152.0,
            rounds * (4.0 + 64.0 * 2.0) * TAU,
            17.0 * T_SYNC,
        ],
        32.0 * 998.0 * 998.0 / (16.0 * 128.0) * C_ITER,
    );

    // k = 2 tiles: bytes, threads (32 x 4), registers, of one multiprocessor.
    let found: Vec<_> =
        constraints(&counts, 2, &hardware).iter().map(|c| (c.name, c.needed, c.limit)).collect();
    assert_eq!(found[0], ("shared_per_block", 3552, 49_152));
    assert_eq!(found[1], ("shared_per_sm", 7104, 98_304));
    assert_eq!(found[3], ("threads_per_sm", 2 * 128, 2048));
    assert_eq!(found[4], ("blocks_per_sm", 2, 32));
}

/// heat3d, 100^3 points, 16 steps, `st = 1`, `s0 = 4`, `s1 = 6`, `s2 = 32`, `k = 2`, on a Titan X.
#[test]
fn three_dimensions() {
    let hardware = hardware("titanx");
    let problem = problem("heat3d", &[100, 100, 100], 16);
    let counts = counts(&problem, &hardware, 1, [4, 6, 32]);
    // Two rows of 4 x 6 x 32 = 768 points: 6 rounds of 128 lanes each.
    assert_eq!((counts.rows, counts.iterations, counts.lane_rounds), (2, 1536, 12));
    assert_eq!(counts.wavefronts, 9 + 8);
    // W = 8. Phase 0: 8b - 4, b = 1 .. 12; phase 1: 8b <= 98, b = 0 .. 12.
    assert_eq!((counts.tiles_per_wavefront, counts.tiles), (13, 9 * 12 + 8 * 13));
    // floor(99/6) + 1 = 17 by floor(99/32) + 1 = 4.
    assert_eq!(counts.sub_tiles, 17 * 4);
    // Lines in: 24 + 12 + 8 of row 0; of row 1, one line lower, as many less the 24 that row 0 wrote. Out: both rows.
    assert_eq!((counts.words_in, counts.words_out), ((44 + 20) * 32, (24 + 24) * 32));
    // Window: 6 x 9 x 35 cells, two levels of 4 bytes.
    assert_eq!(counts.tile_bytes, 6 * 9 * 35 * 2 * 4);
    assert_eq!(counts.fast_words, 1536 * 8);
    assert_eq!(counts.total_iterations, 16 * 98 * 98 * 98);

    let sub_tiles = 2.0 * 68.0;
    let (compute, io) = (12.0 * C_ITER + 2.0 * TAU, L * 3584.0 + 2.0 * TAU);
    assert!(io > compute);
    let prediction = model(&hardware).predict(&counts, 2);
    check(
        prediction,
        [
            17.0 * 12.0 * C_ITER,
            17.0 * sub_tiles * L * 3584.0,
            17.0 * (2.0 + sub_tiles * 2.0) * TAU,
            17.0 * T_SYNC,
        ],
        16.0 * 98.0 * 98.0 * 98.0 / (24.0 * 128.0) * C_ITER,
    );

    let constants = EnergyConstants {
        e_glob_j: 1e-10,
        e_shared_j: 1e-11,
        e_iter_j: 2e-11,
        e_sync_j: 1e-9,
        e_launch_j: 1e-6,
        p_static_w: 50.0,
        basis: Basis::Stated,
    };
    let terms = energy(&[counts], &constants, prediction.seconds);
    let tiles = (9 * 12 + 8 * 13) as f64;
    let iterations = (16 * 98 * 98 * 98) as f64;
    assert_relative_eq!(terms.global, 1e-10 * tiles * 68.0 * 3584.0, epsilon = 0.0, max_relative = 1e-12);
    assert_relative_eq!(terms.shared, 1e-11 * 8.0 * iterations, epsilon = 0.0, max_relative = 1e-12);
    assert_relative_eq!(terms.iterations, 2e-11 * iterations, epsilon = 0.0, max_relative = 1e-12);
    assert_relative_eq!(terms.barriers, 1e-9 * tiles * 68.0 * 2.0, epsilon = 0.0, max_relative = 1e-12);
    assert_relative_eq!(terms.launches, 1e-6 * 17.0, epsilon = 0.0, max_relative = 1e-12);
    assert_relative_eq!(terms.fixed, 50.0 * prediction.seconds, epsilon = 0.0, max_relative = 1e-12);
    assert_relative_eq!(
        terms.sum(),
        terms.global + terms.shared + terms.iterations + terms.barriers + terms.launches + terms.fixed,
        epsilon = 0.0,
        max_relative = 1e-12
    );
}

/// The six stencils of the paper on its two machines: `(lane rounds, words, wavefronts, w, q)` and milliseconds.
#[test]
fn six_stencils_on_two_machines() {
    let two: [&str; 4] = ["jacobi2d", "heat2d", "laplacian2d", "gradient2d"];
    for machine in ["gtx980", "titanx"] {
        let hardware = hardware(machine);
        for name in two.into_iter().chain(["heat3d", "laplacian3d"]) {
            let three = name.ends_with("3d");
            let (size, steps): (&[i64], i64) = if three { (&[384; 3], 128) } else { (&[4096; 2], 1024) };
            let (st, sizes) = if three { (2, [4, 8, 32]) } else { (8, [16, 64, 1]) };
            let problem = problem(name, size, steps);
            let counts = counts(&problem, &hardware, st, sizes);
            // All stencils of the paper are of first order, so that within a dimension all counts are equal.
            let seen = (
                counts.lane_rounds,
                counts.words_in + counts.words_out,
                counts.wavefronts,
                counts.tiles_per_wavefront,
                counts.sub_tiles,
            );
            let expected = if three {
                // Rows of 4, 6, 6, 4 by 8 x 32: 8, 12, 12, 8 rounds. W = 10.
                (40, golden_words_3d(), 65, 39, 49 * 13)
            } else {
                // Rows of 16, 18 .. 30, 30 .. 16 by 64: half of each width in rounds of 128. W = 46.
                (184, (16 + 2 + 4 * 7 + 2 + 2 + 4 * 6 + 18 + 16) * 64, 129, 90, 65)
            };
            assert_eq!(seen, expected, "{name} on {machine}");
            let (rounds, words, wavefronts, w, q) = expected;
            let k = 2.0;
            let compute = C_ITER * rounds as f64 + (2 * st) as f64 * TAU;
            let io = L * words as f64 + 2.0 * TAU;
            let prism = io + compute + io.max(compute) * (k * q as f64 - 1.0);
            let turns = ((w as f64 / k).ceil() / hardware.n_sm as f64).ceil();
            let seconds = wavefronts as f64 * (T_SYNC + prism * turns);
            assert_relative_eq!(
                model(&hardware).predict(&counts, 2).seconds,
                seconds,
                epsilon = 0.0,
                max_relative = 1e-12
            );
        }
    }
}

/// Words of `st = 2`, `s0 = 4`, `s1 = 8`, `s2 = 32` for a star of first order: rows of 4, 6, 6, 4 columns, each one line
/// lower than the one before, on plain sets of cells that share nothing with the closed form.
fn golden_words_3d() -> i64 {
    use std::collections::BTreeSet;
    let rows = [(1, 4), (0, 5), (0, 5), (1, 4)];
    let star = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)];
    let (mut live, mut written) = (BTreeSet::new(), BTreeSet::new());
    let mut out = 0;
    let cells = |a: i64| {
        let (first, last) = rows[a as usize];
        (first..=last).flat_map(move |x| (-a..8 - a).map(move |y| (x, y)))
    };
    for a in 0..4 {
        for (x, y) in cells(a) {
            for (dx, dy) in star {
                let cell = (a % 2, x + dx, y + dy);
                if !written.contains(&cell) {
                    live.insert(cell);
                }
            }
        }
        written.extend(cells(a).map(|(x, y)| (1 - a % 2, x, y)));
        let later: BTreeSet<_> = if a + 2 < 4 { cells(a + 2).collect() } else { BTreeSet::new() };
        out += cells(a).filter(|cell| !later.contains(cell)).count() as i64;
    }
    (live.len() as i64 + out) * 32
}
