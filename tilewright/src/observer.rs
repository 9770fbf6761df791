//! What a front wants to know on the way: which stage of a call begins, how far it is, when it ends.
//!
//! Nothing here prints. To stop a call, see [`Cancel`](crate::Cancel).

use hhc_codegen::KernelPlan;
use polyhedral::analysis::Analysis;
use std::time::{Duration, Instant};

/// Hears of the stages of a call. Stages do not overlap.
pub trait Observer {
    /// A stage begins that consists of so many parts; 0 where they are not counted.
    fn begin(&self, stage: &'static str, parts: u64) {
        let _ = (stage, parts);
    }

    /// So many parts of the stage are done.
    fn done(&self, parts: u64) {
        let _ = parts;
    }

    /// The proof refuses this plan.
    fn refused(&self, plan: &KernelPlan, analysis: &Analysis) {
        let _ = (plan, analysis);
    }

    /// The stage is over.
    fn end(&self, stage: &'static str, took: Duration) {
        let _ = (stage, took);
    }
}

/// Listens to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Runs a stage.
pub fn stage<T>(observer: &dyn Observer, name: &'static str, work: impl FnOnce() -> T) -> T {
    stage_of(observer, name, 0, |_| work())
}

/// Runs a stage that consists of `parts` parts; `work` tells how many are done.
pub fn stage_of<T>(
    observer: &dyn Observer,
    name: &'static str,
    parts: u64,
    work: impl FnOnce(&dyn Fn(i64)) -> T,
) -> T {
    let start = Instant::now();
    observer.begin(name, parts);
    let result = work(&|done| observer.done(u64::try_from(done).unwrap_or(0)));
    observer.end(name, start.elapsed());
    result
}
