//! The tiles of a design.

use crate::codesign::setting::Setting;
use crate::codesign::study::Weighed;
use serde::Serialize;

/// The tiles of the best design: execution by execution.
#[derive(Debug, Clone, Serialize)]
pub struct Tiles {
    /// The stencil.
    pub stencil: String,
    /// Grid extents.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// The strategy.
    pub strategy: &'static str,
    /// Tile sizes, as on the command line.
    pub tile: String,
    /// Tiles resident on a multiprocessor together.
    pub k: i64,
    /// Threads of a block.
    pub threads: i64,
    /// `T` in seconds.
    pub seconds: f64,
    /// `E` in joules.
    pub joules: f64,
    /// Rate in GFLOP/s.
    pub gflops: f64,
}

/// The tiles of a design.
pub fn tiles(setting: &Setting, weighed: &Weighed) -> Vec<Tiles> {
    let mut all = Vec::new();
    for (subject, outcomes) in setting.subjects.iter().zip(&weighed.outcomes) {
        for ((run, outcome), flops) in subject.load.runs.iter().zip(outcomes).zip(&subject.flops) {
            let space = subject.spaces.iter().find(|space| space.strategy == outcome.strategy);
            all.push(Tiles {
                stencil: subject.load.name.clone(),
                size: run.size.clone(),
                steps: run.steps,
                strategy: outcome.strategy.id(),
                tile: space.map(|space| space.text(&outcome.sizes)).unwrap_or_default(),
                k: outcome.k,
                threads: outcome.threads,
                seconds: outcome.seconds,
                joules: outcome.joules,
                gflops: flops / outcome.seconds / 1e9,
            });
        }
    }
    all
}
