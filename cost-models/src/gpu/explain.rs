//! The formulas of the GPU's models with their numbers, and the losses against the ideal machine.

use super::counts::Resident;
use super::time::GpuTime;
use crate::constants::EnergyConstants;
use crate::energy::dynamic;
use crate::explain::{Loss, Part};
use crate::time::Prediction;
use hhc_codegen::counts::TileCounts;

/// Rounds of `k` tiles on every multiprocessor, over all wavefronts.
const ROUNDS: &str = "N_w * ceil(ceil(w / k) / n_SM)";

/// The terms of the time of one kernel.
pub(super) fn time_parts(time: &GpuTime, kernel: usize, counts: &TileCounts, k: i64) -> Vec<Part> {
    let parts = time.parts(counts, k);
    let (computes, moves) = GpuTime::waits(&parts, k);
    let terms = time.predict(counts, k).terms;
    let constants = &time.constants;
    let rounds = [
        ("N_w", parts.wavefronts, "launches"),
        ("w", counts.tiles_per_wavefront as f64, "tiles"),
        ("k", k as f64, "tiles"),
        ("n_SM", time.n_sm as f64, ""),
    ];
    // How often each of the two is waited for in a round: k*q times, or once where it hides behind the other.
    let (n_c, n_io) = (("n_c", computes, "times"), ("n_io", moves, "times"));
    let of = |name: &'static str, formula: String, own: &[(&str, f64, &'static str)], value: f64| {
        let numbers: Vec<_> = rounds.iter().chain(own).copied().collect();
        Part::new((name, kernel, "s"), formula, &numbers, value)
    };
    let words = (counts.words_in + counts.words_out) as f64;
    let barrier = if counts.barriers > 0 {
        let own = [
            n_c,
            n_io,
            ("barriers", counts.barriers as f64, "per sub-tile"),
            ("tau_sync", constants.tau_sync_s, "s"),
        ];
        of("barrier", format!("{ROUNDS} * (n_c * barriers + n_io * 2) * tau_sync"), &own, terms.barrier)
    } else {
        Part::new(("barrier", kernel, "s"), "0", &[], terms.barrier)
    };
    vec![
        of(
            "compute",
            format!("{ROUNDS} * n_c * C_iter * lane_rounds"),
            &[
                n_c,
                ("C_iter", constants.c_iter_s, "s"),
                ("lane_rounds", counts.lane_rounds as f64, "per sub-tile"),
            ],
            terms.compute,
        ),
        of(
            "transfer",
            format!("{ROUNDS} * n_io * L * words"),
            &[n_io, ("L", constants.l_s_per_word, "s/word"), ("words", words, "per sub-tile")],
            terms.transfer,
        ),
        barrier,
        Part::new(
            ("launch", kernel, "s"),
            "N_w * T_sync",
            &[rounds[0], ("T_sync", constants.t_sync_s, "s")],
            terms.launch,
        ),
    ]
}

/// The terms of the energy of one kernel that do not depend on time.
pub(super) fn energy_parts(constants: &EnergyConstants, kernel: usize, counts: &TileCounts) -> Vec<Part> {
    let terms = dynamic(counts, constants);
    let of = |name, formula: &str, numbers: [(&str, f64, &'static str); 2], value| {
        Part::new((name, kernel, "J"), formula, &numbers, value)
    };
    let fast = counts.fast_words as f64 / counts.iterations.max(1) as f64 * counts.total_iterations as f64;
    let iterations = ("iterations", counts.computed_iterations(), "");
    vec![
        of(
            "global",
            "e_glob * words",
            [("e_glob", constants.e_glob_j, "J/word"), ("words", counts.total_words(), "")],
            terms.global,
        ),
        of(
            "shared",
            "e_shared * fast_words",
            [("e_shared", constants.e_shared_j, "J/word"), ("fast_words", fast, "")],
            terms.shared,
        ),
        of(
            "iterations",
            "e_iter * iterations",
            [("e_iter", constants.e_iter_j, "J"), iterations],
            terms.iterations,
        ),
        of(
            "barriers",
            "e_sync * barriers",
            [("e_sync", constants.e_sync_j, "J"), ("barriers", counts.total_barriers(), "")],
            terms.barriers,
        ),
        of(
            "launches",
            "e_launch * N_w",
            [("e_launch", constants.e_launch_j, "J"), ("N_w", counts.wavefronts as f64, "launches")],
            terms.launches,
        ),
    ]
}

/// The time of the ideal machine and what is lost on the way to the predicted one: `ideal_s` (paper, eq. 6.3) plus all
/// losses is the predicted time.
pub(super) fn losses(time: &GpuTime, resident: &Resident, prediction: &Prediction) -> Vec<Loss> {
    let lanes = (time.n_sm * time.n_v) as f64;
    let n_sm = time.n_sm as f64;
    let c_iter_s = time.constants.c_iter_s;
    let (mut ideal, mut tiles, mut rounds, mut waves) = (0.0, 0.0, 0.0, 0.0);
    for counts in resident.tiles.iter() {
        let parts = time.parts(counts, resident.k);
        let sub_tiles = counts.tiles as f64 * counts.sub_tiles as f64;
        ideal += counts.total_iterations as f64 / lanes * c_iter_s;
        tiles += sub_tiles * counts.iterations as f64 / lanes * c_iter_s;
        rounds += sub_tiles * counts.lane_rounds as f64 / n_sm * c_iter_s;
        waves += parts.wavefronts * parts.tile_rounds * parts.sub_tiles * parts.iterate_s;
    }
    let Prediction { terms, seconds, .. } = *prediction;
    let loss = |name, meaning, lost: f64| Loss { name, meaning, seconds: lost, share: lost / seconds };
    vec![
        loss("partial_tiles", "parts of tiles that lie outside the domain", tiles - ideal),
        loss("lanes", "lanes that idle in the last round of a row", rounds - tiles),
        loss("wavefronts", "multiprocessors that idle in the last round of a wavefront", waves - rounds),
        loss(
            "overlap",
            "a gain: iterations that run while other resident tiles transfer (k > 1)",
            terms.compute - waves,
        ),
        loss("transfer", "transfers that nothing hides", terms.transfer),
        loss("barrier", "barriers inside blocks", terms.barrier),
        loss("launch", "launches", terms.launch),
    ]
}
