//! Time, energy and memory of tiles on a CPU.

use super::body::CpuModelError;
use super::explain;
use super::time::CpuTime;
use crate::energy::EnergyTerms;
use crate::explain::{Change, Loss, Parameter, Part};
use crate::machine::{Energy, Machine};
use crate::memory::Constraint;
use crate::model::{Cost, CostModel, Spent, SpentBounds};
use crate::time::{Prediction, Terms};
use hhc_codegen::TileSizes;
use hhc_codegen::counts::cores::{CoreCounts, Inner, Outer};
use hhc_codegen::counts::forms;
use hhc_codegen::strategy::Strategy;
use polyhedral::cone::Cone;
use polyhedral::program::Program;

/// The model of a program on a CPU, for one grid and number of steps.
#[derive(Debug, Clone)]
pub struct CpuCost {
    /// The time model with its constants.
    pub time: CpuTime,
    /// The constants of the energy model; without them energies are unknown.
    pub energy: Option<Energy>,
}

/// Many tiles, by counts that none of them is below.
#[derive(Debug, Clone, PartialEq)]
pub enum CoreRange {
    /// All tiles of a depth: at least so many wavefronts, and inner sizes with these counts or greater ones.
    Depth(f64, Inner),
    /// Tiles whose counts are these or greater ones.
    Least(Outer, Inner),
}

impl CpuCost {
    /// The model for a program on a calibrated machine.
    ///
    /// # Errors
    /// [`CpuModelError`] where the machine has not been calibrated.
    pub fn new(
        machine: &Machine,
        program: &Program,
        cone: &Cone,
        size: &[i64],
        steps: i64,
    ) -> Result<CpuCost, CpuModelError> {
        let time = CpuTime::new(machine, program, cone, size, steps)?;
        let energy = machine.calibration.as_ref().and_then(|own| own.energy.clone());
        Ok(CpuCost { time, energy })
    }

    /// What a tile does on this CPU.
    ///
    /// # Errors
    /// Why it cannot be counted, as half a sentence.
    pub fn counts(&self, strategy: &'static dyn Strategy, tile: &TileSizes) -> Result<CoreCounts, String> {
        forms(strategy).on_cores(self.time.cores(), tile)
    }

    /// The model with other times.
    fn with(&self, time: CpuTime) -> CpuCost {
        CpuCost { time, energy: self.energy.clone() }
    }

    fn spent(&self, prediction: &Prediction) -> Spent {
        let dynamic =
            |constants: &Energy| EnergyTerms { fixed: 0.0, ..self.time.energy(prediction, constants) }.sum();
        Spent {
            seconds: prediction.seconds,
            dynamic_j: self.energy.as_ref().map_or(0.0, dynamic),
            static_w: self.energy.as_ref().map_or(0.0, |constants| constants.p_static_w),
        }
    }

    /// What the tiles want of the caches. Nothing fails where they are too small; lines then move more often.
    fn caches(&self, counts: &CoreCounts) -> Vec<Constraint> {
        let needed = self.time.working_set_bytes(counts) as i64;
        let caches =
            [("window_in_near_cache", self.time.near_bytes), ("window_in_last_cache", self.time.last_bytes)];
        let finite = caches.into_iter().filter(|(_, bytes)| bytes.is_finite());
        let constraint = |(name, bytes): (&'static str, f64)| {
            let limit = bytes as i64;
            Constraint {
                name,
                unit: "bytes",
                needed,
                limit,
                slack: limit.saturating_sub(needed),
                active: false,
                satisfied: needed <= limit,
                hard: false,
            }
        };
        finite.map(constraint).collect()
    }
}

impl CostModel for CpuCost {
    type Counts = CoreCounts;
    type Range = CoreRange;

    #[inline]
    fn seconds(&self, counts: &CoreCounts) -> f64 {
        self.time.time(counts).seconds
    }

    #[inline]
    fn spend(&self, counts: &CoreCounts) -> Spent {
        self.spent(&self.time.time(counts))
    }

    /// All costs grow with all counts.
    fn bounds(&self, range: &CoreRange) -> SpentBounds {
        let least = match range {
            CoreRange::Depth(wavefronts, least) => {
                let seconds = self.time.lower_bound(*wavefronts, least);
                let terms = Terms { compute: seconds, ..Terms::default() };
                self.spent(&Prediction { seconds, terms, ideal_s: 0.0 })
            }
            CoreRange::Least(outer, inner) => self.spent(&self.time.combine(outer, inner)),
        };
        let most = Spent { seconds: f64::INFINITY, dynamic_j: f64::INFINITY, ..least };
        SpentBounds { least, most }
    }

    fn fits(&self, _counts: &CoreCounts) -> bool {
        true
    }

    fn cost(&self, counts: &CoreCounts) -> Cost {
        let prediction = self.time.time(counts);
        let energy = self.energy.as_ref().map(|constants| self.time.energy(&prediction, constants));
        Cost { prediction, energy, constraints: self.caches(counts) }
    }

    fn breakdown(&self, counts: &CoreCounts) -> Vec<Part> {
        let mut parts = explain::time_parts(&self.time, counts);
        if let Some(constants) = &self.energy {
            parts.extend(explain::energy_parts(&self.time, &self.time.time(counts), constants));
        }
        Part::share_out(&mut parts);
        parts
    }

    fn losses(&self, counts: &CoreCounts) -> Vec<Loss> {
        explain::losses(&self.time.time(counts))
    }

    fn parameters(&self) -> Vec<Parameter<CpuCost>> {
        let (t_sync_s, line_s, call_s) = self.time.constants();
        let constant = |name, value, times| Parameter { name, value, change: Change::Times(times) };
        vec![
            constant("c_iter_s", self.time.point_s(), |model: &CpuCost, factor| {
                model.with(model.time.with_rows_times(factor))
            }),
            constant("memory_line_s", line_s, |model: &CpuCost, factor| {
                model.with(model.time.with_lines_times(factor))
            }),
            constant("call_s", call_s, |model: &CpuCost, factor| {
                model.with(model.time.with_calls_times(factor))
            }),
            constant("t_sync_s", t_sync_s, |model: &CpuCost, factor| {
                model.with(model.time.with_launches_times(factor))
            }),
            Parameter {
                name: "cores",
                value: self.time.threads() as f64,
                change: Change::OneMore(|model: &CpuCost| {
                    model.with(model.time.with_threads(model.time.threads() + 1))
                }),
            },
        ]
    }
}
