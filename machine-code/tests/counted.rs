//! Kernels that were counted by hand, and one that a GPU counted. Listings are those of NVRTC 13.0's code for
//! `listings/kernels.cu` and for a sweep that Tilewright writes.

use machine_code::{Counts, Kind, Launch, Listing, SECTOR, Totals, run};

const SM_80: &str = include_str!("listings/kernels-sm_80.txt");
const SM_90: &str = include_str!("listings/kernels-sm_90.txt");
const SWEEP: &str = include_str!("listings/star3d1r-naive-sm_90.txt");

/// Where arrays lie.
const ARRAY: u64 = 1 << 40;

fn counts(text: &str, kernel: &str, threads: u32, arguments: &[u64]) -> (Counts, Totals) {
    let listing = Listing::parse(text).unwrap();
    let code = listing.kernel(kernel).unwrap();
    let arguments = [&[ARRAY], arguments].concat();
    let launch = Launch::new(&listing, [threads, 1, 1], [1, 1, 1], arguments, false).unwrap();
    let counts = run::block(code, &launch, [0, 0, 0], &|| false).unwrap();
    let totals = counts.totals(code);
    (counts, totals)
}

/// Two warps, three rounds: what is issued before the loop, in a round, and after it.
#[test]
fn a_loop_with_barriers() {
    for (text, before, in_it) in [(SM_80, 6 + 10, 15), (SM_90, 5 + 13, 15)] {
        let (counts, totals) = counts(text, "swap", 64, &[3]);
        assert_eq!(totals.instructions(), f64::from(2 * (before + 3 * in_it + 1)));
        assert_eq!((totals.of(Kind::Single), totals.operations), (6.0, 192.0));
        assert_eq!(totals.of(Kind::Barrier), 12.0);
        assert_eq!((totals.of(Kind::SharedLoad), totals.of(Kind::SharedStore)), (6.0, 6.0));
        // Words two apart: each bank is asked for two of them.
        assert_eq!((totals.wavefronts, totals.least_wavefronts), (24.0, 12.0));
        assert_eq!(totals.shared_bytes, 1536.0);
        assert_eq!((totals.read_bytes, totals.written_bytes, totals.sectors), (768.0, 768.0, 48.0));
        assert_eq!((counts.sectors_read.len(), counts.sectors_written.len()), (24, 24));
        assert_eq!(totals.branches_on_values, 0.0);
    }
    // No round at all: all lanes leave at the first exit.
    for (text, before) in [(SM_80, 6.0), (SM_90, 5.0)] {
        assert_eq!(counts(text, "swap", 64, &[0]).1.instructions(), 2.0 * before);
    }
}

/// Twelve lanes go one way, twenty another: one to four rounds of a loop with a call. Each of its four ends is an arrival of
/// its own where all meet, as is that of the twelve.
#[test]
fn both_sides_of_branches_and_a_call() {
    for (text, on_the_way) in [(SM_80, 4), (SM_90, 5)] {
        let (counts, totals) = counts(text, "ways", 32, &[]);
        let rounds = 4 * (7 + 5 + 3);
        assert_eq!(totals.instructions(), f64::from(11 + on_the_way + rounds + 5 + 2));
        assert_eq!(totals.of(Kind::Single), 9.0);
        // Lanes per round: 20, 15, 10 and 5.
        assert_eq!(totals.operations, f64::from(12 + 2 * 50));
        assert_eq!((totals.read_bytes, totals.written_bytes), (128.0 + 200.0, 48.0 + 128.0));
        assert_eq!(totals.sectors, 4.0 + 4.0 + 2.0 + 4.0);
        assert_eq!((counts.sectors_read.len(), counts.sectors_written.len()), (5, 6));
    }
    // Half a warp: the other lanes do not exist, and nobody goes the other way.
    let (_, totals) = counts(SM_90, "ways", 16, &[]);
    assert_eq!(totals.instructions(), f64::from(11 + 5 + 4 * 15 + 4 + 2));
    assert_eq!((totals.of(Kind::Single), totals.operations), (9.0, 2.0 * 40.0));
}

/// Divisions go by reciprocals of floating-point numbers, and by a function; where their results lead to is right.
#[test]
fn quotients_are_addresses() {
    for text in [SM_80, SM_90] {
        for n in [1u64, 3, 7, 1000, 123_457, u64::from(u32::MAX)] {
            let first = |lane: u64| 8 * (977 * lane / n);
            let second = |lane: u64| 8 * (977 * lane * n / (3 * n + 1)) + (1 << 20);
            let mut expected: Vec<u64> = (0..32)
                .flat_map(|lane| [first(lane), second(lane)])
                .map(|element| (ARRAY + 4 * element) / SECTOR)
                .collect();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(counts(text, "quotients", 32, &[n]).0.sectors_written, expected, "{n}");
        }
    }
}

/// One launch of a sweep over 512^3 points, tile `s0=57,s1=19,s2=32`, as Nsight Compute counts it on an H100
/// (`smsp__inst_executed`, `smsp__thread_inst_executed_pred_on`).
#[test]
fn a_gpu_counts_the_same() {
    let listing = Listing::parse(SWEEP).unwrap();
    let code = listing.kernel("star3d1r_step_u").unwrap();
    let (n, step) = (512, 3);
    let arguments = vec![ARRAY, n, n, n, n * n, n, n * n * n, 16, 0, 0, step, 0, 0, 0];
    let grid = [16, 27, 9];
    let launch = Launch::new(&listing, [32, 10, 1], grid, arguments, false).unwrap();
    let mut all = Totals::default();
    // Blocks in the middle do the same; those at both ends of each axis are cut by the boundary.
    let places = |extent: u32| [(0, 1.0), (1, f64::from(extent - 2)), (extent - 1, 1.0)];
    for (z, deep) in places(grid[2]) {
        for (y, high) in places(grid[1]) {
            for (x, wide) in places(grid[0]) {
                let counts = run::block(code, &launch, [x, y, z], &|| false).unwrap();
                all.add(&counts.totals(code), deep * high * wide);
            }
        }
    }
    assert_eq!(all.instructions(), 427_321_800.0);
    assert_eq!(all.lanes, 13_209_637_320.0);
    assert_eq!(all.operations, 8.0 * 510.0 * 510.0 * 510.0);
    assert_eq!(all.written_bytes, 4.0 * 510.0 * 510.0 * 510.0);
}
