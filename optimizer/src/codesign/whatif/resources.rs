//! How designs divide their area between memory and vector units (paper, figure 6.1): whether those on a front of area and
//! rate lie closer together than all designs do.

use crate::codesign::pareto::{Sense, front};
use crate::codesign::setting::{Setting, Subject};
use crate::codesign::study::{Study, Weighed, together};
use serde::Serialize;

/// Shares of the area over some designs.
#[derive(Debug, Clone, Serialize)]
pub struct Allocation {
    /// Whose rates make the front: `2D`, `3D`.
    pub group: String,
    /// Designs on its front of area and rate.
    pub on_front: usize,
    /// Shares of memory on the front: least and greatest.
    pub memory: (f64, f64),
    /// Shares of vector units on the front.
    pub vector_units: (f64, f64),
    /// Mean distance of the front's designs from their mean, over that of all designs: below 1 they lie in a cluster.
    pub spread: f64,
}

/// The shares of the designs of a study that kept all, by dimension.
pub fn allocation(setting: &Setting, study: &Study) -> Vec<Allocation> {
    let of = |dimension: usize| {
        let own = |subject: &Subject| subject.problem.dimension() == dimension;
        let weights: Vec<f64> =
            setting.subjects.iter().map(|s| if own(s) { s.load.weight } else { 0.0 }).collect();
        if weights.iter().all(|weight| *weight == 0.0) {
            return None;
        }
        let rate = |weighed: &Weighed| together(&weighed.stencils, &weights).gflops;
        let points: Vec<Vec<f64>> = study.designs.iter().map(|w| vec![w.area.total(), rate(w)]).collect();
        let on = front(&points, &[Sense::Minimise, Sense::Maximise]);
        let shares = |w: &Weighed| [w.area.memory_share(), w.area.vector_share()];
        let all: Vec<[f64; 2]> = study.designs.iter().map(shares).collect();
        let of_front: Vec<[f64; 2]> = on.iter().map(|&index| all[index]).collect();
        let range = |d: usize| {
            let values = || of_front.iter().map(move |share| share[d]);
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        };
        Some(Allocation {
            group: format!("{dimension}D"),
            on_front: on.len(),
            memory: range(0),
            vector_units: range(1),
            spread: distance(&of_front) / distance(&all),
        })
    };
    (1..=3).filter_map(of).collect()
}

/// Mean distance from the mean.
fn distance(points: &[[f64; 2]]) -> f64 {
    let number = points.len().max(1) as f64;
    let mean = [0, 1].map(|d| points.iter().map(|point| point[d]).sum::<f64>() / number);
    points.iter().map(|point| (point[0] - mean[0]).hypot(point[1] - mean[1])).sum::<f64>() / number
}
