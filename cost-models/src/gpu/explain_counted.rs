//! The formulas of the counted form with their numbers, and its losses against the ideal machine.

use super::counted::{CountedTime, Round};
use super::counts::Kernels;
use crate::explain::{Loss, Part};
use crate::time::Prediction;
use hhc_codegen::counts::{TileCounts, TileWork};

/// The launches of a kernel: `N_f` of whole tiles, `N_p` of tiles that do not lie in time altogether; `R` rounds each, and
/// a last one.
const ROUNDS: &str = "N_f * (R * full + last) + N_p * (R * part + last_part)";

/// The terms of the time of one kernel.
pub(super) fn time_parts(
    time: &CountedTime<'_>,
    kernel: usize,
    (counts, work): (&TileCounts, &TileWork),
    k: i64,
) -> Vec<Part> {
    let rounds = time.rounds(counts, work, k);
    let terms = time.predict(counts, work, k).terms;
    let numbers = |of: fn(&Round) -> f64| {
        vec![
            ("N_f", rounds.launches[0], "launches"),
            ("N_p", rounds.launches[1], "launches"),
            ("R", rounds.number, "rounds"),
            ("full", of(&rounds.full[0]), "s"),
            ("last", of(&rounds.full[1]), "s"),
            ("part", of(&rounds.clipped[0]), "s"),
            ("last_part", of(&rounds.clipped[1]), "s"),
        ]
    };
    let part = |name: &'static str, of: fn(&Round) -> f64, value: f64| {
        Part::new((name, kernel, "s"), ROUNDS, &numbers(of), value)
    };
    let mut compute = numbers(|round| round.compute);
    compute.push(("edge", rounds.edge_s, "s"));
    vec![
        Part::new(("compute", kernel, "s"), format!("{ROUNDS} + N_f * edge"), &compute, terms.compute),
        part("transfer", |round| round.transfer, terms.transfer),
        part("barrier", |round| round.wait, terms.barrier),
        Part::new(
            ("launch", kernel, "s"),
            "N_w * T_sync + N_f * start",
            &[
                ("N_w", counts.wavefronts as f64, "launches"),
                ("T_sync", time.constants.t_sync_s, "s"),
                ("N_f", rounds.launches[0], "launches"),
                ("start", rounds.start_s, "s"),
            ],
            terms.launch,
        ),
    ]
}

/// The time of the ideal machine plus all losses is the predicted time.
pub(super) fn losses(
    time: &CountedTime<'_>,
    (tiles, work): (&[TileCounts], &Kernels<TileWork>),
    prediction: &Prediction,
) -> Vec<Loss> {
    let (mut ideal, mut busy, mut edges) = (0.0, 0.0, 0.0);
    for (counts, work) in tiles.iter().zip(work.iter()) {
        let [all, clipped] = time.busy_s(counts, work);
        ideal += time.ideal_s(counts, work);
        busy += all;
        edges += clipped;
    }
    let Prediction { terms, seconds, .. } = *prediction;
    let loss = |name, meaning, lost: f64| Loss { name, meaning, seconds: lost, share: lost / seconds };
    vec![
        loss("instructions", "what is executed around the points, and lanes without one", busy - ideal),
        loss("partial_tiles", "what sub-tiles at edges of the grid and of time execute in addition", edges),
        loss(
            "wavefronts",
            "tiles that wait for each other, and multiprocessors that idle in the last round of a wavefront",
            terms.compute - busy - edges,
        ),
        loss("transfer", "transfers that nothing hides", terms.transfer),
        loss("barrier", "latencies that nothing hides, and barriers inside blocks", terms.barrier),
        loss("launch", "launches, and blocks that start one after the other", terms.launch),
    ]
}
