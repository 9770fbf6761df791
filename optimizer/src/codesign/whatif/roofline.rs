//! The roofline of the best design: what its lanes and its memory allow, and what each stencil reaches.

use crate::codesign::design::Bandwidth;
use crate::codesign::setting::{Setting, Subject, counted};
use crate::codesign::study::Study;
use serde::Serialize;

/// The roofline of a design.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Roofline {
    /// All lanes, a multiplication and an addition each cycle, in GFLOP/s.
    pub peak_gflops: f64,
    /// The published bandwidth of the base machine, or the share of it that the design has, in GB/s.
    pub bandwidth_gb_s: f64,
    /// What stencils reach.
    pub stencils: Vec<Reached>,
}

/// What a stencil reaches over all its executions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reached {
    /// The stencil.
    pub stencil: String,
    /// Floating-point operations per byte from and to memory, as its tiles move it.
    pub flops_per_byte: f64,
    /// Its rate in GFLOP/s: all operations over all seconds.
    pub gflops: f64,
}

/// The roofline of the best design.
pub fn roofline(setting: &Setting, study: &Study) -> Roofline {
    let best = study.best();
    let design = best.design;
    let base = &setting.base;
    let share = match setting.workload.space.bandwidth {
        Bandwidth::PerSm => design.n_sm as f64 / base.n_sm as f64,
        Bandwidth::Total => 1.0,
        // As the study charges it: the whole of it for each multiprocessor.
        Bandwidth::Paper => design.n_sm as f64,
    };
    let of = |(index, subject): (usize, &Subject)| {
        let tables = setting.tables(subject, &setting.key(&design));
        let ranked = tables.ranked();
        let (mut flops, mut bytes, mut seconds) = (0.0, 0.0, 0.0);
        for (run, outcome) in best.outcomes[index].iter().enumerate() {
            let (_, counts) = counted(&ranked, run, outcome)?;
            bytes += counts.iter().map(|own| own.total_words() * own.word_bytes as f64).sum::<f64>();
            flops += subject.flops[run];
            seconds += outcome.seconds;
        }
        Some(Reached {
            stencil: subject.load.name.clone(),
            flops_per_byte: flops / bytes,
            gflops: flops / seconds / 1e9,
        })
    };
    Roofline {
        peak_gflops: 2.0 * (design.n_sm * design.n_v) as f64 * base.clock_hz / 1e9,
        bandwidth_gb_s: base.bandwidth_bytes_per_s * share / 1e9,
        stencils: setting.subjects.iter().enumerate().filter_map(of).collect(),
    }
}
