//! How much shared memory stencils want.

use crate::codesign::setting::{Setting, Subject};
use crate::codesign::study::Study;
use serde::Serialize;

/// How much shared memory a stencil wants.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryWish {
    /// The stencil.
    pub stencil: String,
    /// Its dimension.
    pub dimension: usize,
    /// `M_SM` of its best design in kB.
    pub best_m_sm_kb: f64,
    /// The least `M_SM` of a design that is within one per cent of it, kB.
    pub enough_m_sm_kb: f64,
    /// `M_SM` in kB, and the best rate of any evaluated design that has it, relative to the best of all.
    pub by_m_sm: Vec<(f64, f64)>,
}

/// Shared-memory requirements of all stencils, from the designs of a study that kept all.
pub fn memory(setting: &Setting, study: &Study) -> Vec<MemoryWish> {
    let of = |(index, subject): (usize, &Subject)| {
        let best = &study.designs[study.best_for(index)];
        let top = best.stencils[index].cost;
        let by_m_sm: Vec<(f64, f64)> = (setting.workload.space.m_sm_kb.iter())
            .filter_map(|&m_sm_kb| {
                let of_size = study.designs.iter().filter(|weighed| weighed.design.m_sm_kb == m_sm_kb);
                let least = of_size.map(|weighed| weighed.stencils[index].cost).fold(f64::INFINITY, f64::min);
                least.is_finite().then_some((m_sm_kb, top / least))
            })
            .collect();
        let enough =
            by_m_sm.iter().find(|(_, share)| *share >= 0.99).map_or(best.design.m_sm_kb, |(kb, _)| *kb);
        MemoryWish {
            stencil: subject.load.name.clone(),
            dimension: subject.problem.dimension(),
            best_m_sm_kb: best.design.m_sm_kb,
            enough_m_sm_kb: enough,
            by_m_sm,
        }
    };
    setting.subjects.iter().enumerate().map(of).collect()
}
