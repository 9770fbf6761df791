//! Samples of the constants: factors on each of them.

use super::ranges::{AREAS, Constant, ENERGIES, Ranges};
use crate::codesign::setting::Setting;
use crate::sample::Random;
use cost_models::area::AreaModel;
use cost_models::constants::EnergyConstants;
use cost_models::gpu::GpuTime;

/// Factors on all constants.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Factors {
    pub(super) l: f64,
    pub(super) c_iter: Vec<f64>,
    pub(super) tau: f64,
    pub(super) launch: f64,
    pub(super) energy: [f64; ENERGIES.len()],
    pub(super) area: [f64; AREAS.len()],
}

impl Factors {
    pub(super) fn none(stencils: usize) -> Factors {
        let ones = vec![1.0; stencils];
        Factors { l: 1.0, c_iter: ones, tau: 1.0, launch: 1.0, energy: [1.0; 6], area: [1.0; 9] }
    }

    pub(super) fn set(&mut self, constant: Constant, factor: f64) {
        match constant {
            Constant::L => self.l = factor,
            Constant::CIter(index) => self.c_iter[index] = factor,
            Constant::TauSync => self.tau = factor,
            Constant::TSync => self.launch = factor,
            Constant::Energy(index) => self.energy[index] = factor,
            Constant::Area(index) => self.area[index] = factor,
        }
    }

    pub(super) fn area(&self, own: &AreaModel) -> AreaModel {
        let mut area = *own;
        AREAS.iter().zip(self.area).for_each(|((_, field), factor)| *field(&mut area) *= factor);
        area
    }

    pub(super) fn energy(&self, own: &EnergyConstants) -> EnergyConstants {
        let mut energy = *own;
        ENERGIES.iter().zip(self.energy).for_each(|((_, field), factor)| *field(&mut energy) *= factor);
        energy
    }

    pub(super) fn time(&self, stencil: usize, own: &GpuTime) -> GpuTime {
        let mut time = own.clone();
        let constants = &mut time.constants;
        constants.l_s_per_word *= self.l;
        constants.c_iter_s *= self.c_iter[stencil];
        constants.tau_sync_s *= self.tau;
        constants.t_sync_s *= self.launch;
        time
    }

    /// The setting with other constants; areas, and so the designs of the budget, stay as they are.
    pub(super) fn setting(&self, setting: &Setting) -> Setting {
        let mut changed = setting.clone();
        for (index, subject) in changed.subjects.iter_mut().enumerate() {
            let time = GpuTime { n_sm: 1, n_v: 1, constants: subject.time };
            subject.time = self.time(index, &time).constants;
            subject.energy = self.energy(&subject.energy);
        }
        changed.static_w_per_mm2 *= self.energy[ENERGIES.len() - 1];
        changed
    }
}

/// A Latin hypercube: factors, and the share of each constant's distribution that they are at.
pub(super) fn draw(ranges: &Ranges, samples: usize, stencils: usize, seed: u64) -> Vec<(Factors, Vec<f64>)> {
    let mut random = Random::new(seed);
    let columns: Vec<Vec<f64>> = (ranges.0.iter())
        .map(|_| {
            let mut column: Vec<f64> =
                (0..samples).map(|at| (at as f64 + random.next()) / samples as f64).collect();
            shuffle(&mut column, &mut random);
            column
        })
        .collect();
    let sample = |at: usize| {
        let mut factors = Factors::none(stencils);
        let shares: Vec<f64> = columns.iter().map(|column| column[at]).collect();
        for ((constant, spread), share) in ranges.0.iter().zip(&shares) {
            factors.set(*constant, spread.at(*share));
        }
        (factors, shares)
    };
    (0..samples).map(sample).collect()
}

pub(super) fn shuffle<T>(values: &mut [T], random: &mut Random) {
    for at in (1..values.len()).rev() {
        let other = ((at + 1) as f64 * random.next()) as usize;
        values.swap(at, other.min(at));
    }
}
