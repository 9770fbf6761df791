//! Time, energy and memory of tiles on a GPU: one that is described, or a design.

use super::bound;
use super::counted::{Counted, CountedTime};
use super::counts::{Kernels, Resident, ResidentRange};
use super::explain;
use super::explain_counted;
use super::time::GpuTime;
use crate::constants::{Basis, EnergyConstants, TimeConstants};
use crate::energy::{dynamic, energy};
use crate::explain::{Change, Loss, Parameter, Part};
use crate::form::TimeModel;
use crate::hardware::Hardware;
use crate::machine::Machine;
use crate::memory::{constraints, fits};
use crate::model::{Cost, CostModel, Spent, SpentBounds};
use crate::multiprocessor::SCHEDULERS;
use crate::time::{Prediction, Terms};
use hhc_codegen::TileSizes;
use hhc_codegen::counts::{Problem, TileCounts, TileForms, TileWork, forms};
use hhc_codegen::strategy::Strategy;

/// The model of a program on a GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuCost {
    /// What limits tiles.
    pub hardware: Hardware,
    /// The paper's time model with its constants.
    pub time: GpuTime,
    /// What the time is computed from in its place: counts of the printed code. `None`: it is the paper's.
    pub counted: Option<Counted>,
    /// The constants of the energy model; without them energies are unknown.
    pub energy: Option<EnergyConstants>,
}

/// Why there is no model of a GPU.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GpuModelError {
    /// The machine is a CPU.
    #[error("machine `{0}` is a CPU, and this is for a GPU")]
    Cpu(String),
    /// The constants of the time model are not known.
    #[error("machine `{0}` has no [calibration]: the constants L, tau_sync and T_sync are not known")]
    NotCalibrated(String),
}

impl GpuCost {
    /// The model of a program on a described machine, with the usual form of the time model.
    ///
    /// # Errors
    /// A machine that is no GPU, or without calibration.
    pub fn new(problem: &Problem, machine: &Machine) -> Result<GpuCost, GpuModelError> {
        GpuCost::by(TimeModel::default(), problem, machine)
    }

    /// The model of a program on a described machine, with this form of the time model. A `C_iter` that nobody measured
    /// comes from the counts of the printed code.
    ///
    /// # Errors
    /// A machine that is no GPU, or without calibration.
    pub fn by(form: TimeModel, problem: &Problem, machine: &Machine) -> Result<GpuCost, GpuModelError> {
        let facts = machine.gpu().ok_or_else(|| GpuModelError::Cpu(machine.name.clone()))?;
        let mut constants = TimeConstants::of(problem, machine)
            .ok_or_else(|| GpuModelError::NotCalibrated(machine.name.clone()))?;
        let hardware = Hardware::of(&machine.name, facts);
        let counted = Counted::of(problem, facts, constants.machine_basis == Basis::Measured);
        if constants.c_iter_basis == Basis::Estimated || form == TimeModel::Counted {
            constants.c_iter_s = counted.c_iter_s(problem, facts.n_v);
            constants.c_iter_basis = Basis::Counted;
        }
        let model = GpuCost::with_constants(hardware, constants, EnergyConstants::of(problem, machine));
        Ok(GpuCost { counted: (form == TimeModel::Counted).then_some(counted), ..model })
    }

    /// The form of its time model.
    pub fn form(&self) -> TimeModel {
        if self.counted.is_some() { TimeModel::Counted } else { TimeModel::Paper }
    }

    /// The same with the paper's form of the time model.
    #[must_use]
    pub fn paper(self) -> GpuCost {
        GpuCost { counted: None, ..self }
    }

    /// The counted form with its constants, and what a tile executes.
    fn counted<'a>(&'a self, resident: &'a Resident) -> Option<(CountedTime<'a>, &'a Kernels<TileWork>)> {
        let rates = self.counted.as_ref()?;
        let time = CountedTime { rates, hardware: &self.hardware, constants: &self.time.constants };
        Some((time, resident.work.as_ref()?))
    }

    /// The paper's model with these constants.
    pub fn with_constants(
        hardware: Hardware,
        constants: TimeConstants,
        energy: Option<EnergyConstants>,
    ) -> GpuCost {
        let time = GpuTime { n_sm: hardware.n_sm, n_v: hardware.n_v, constants };
        GpuCost { hardware, time, counted: None, energy }
    }

    /// What a tile does on this GPU, `k` of them resident on a multiprocessor at a time.
    ///
    /// # Errors
    /// Why it cannot be counted, as half a sentence.
    pub fn counts(
        &self,
        problem: &Problem,
        strategy: &'static dyn Strategy,
        tile: &TileSizes,
        k: i64,
    ) -> Result<Resident, String> {
        let (family, sizes) = forms(strategy).of_tile(problem, &self.hardware.multiprocessor(), tile)?;
        Ok(self.resident(&*family.forms, sizes, k))
    }

    /// The same for a tile of a family. Where the compiler may keep more in registers than a tile needs, it does: blocks are
    /// resident as if it did.
    #[inline]
    pub fn resident(&self, forms: &dyn TileForms, sizes: [i64; 3], k: i64) -> Resident {
        let work = self.counted.map(|_| Kernels::of(forms.classes(), |class| forms.work(class, sizes)));
        let tiles = Kernels::of(forms.classes(), |class| {
            let counts = forms.counts(class, sizes);
            let registers = work.as_ref().map_or(0, |work| work[class].registers);
            TileCounts { registers: counts.registers.max(registers), ..counts }
        });
        Resident { tiles, work, k }
    }

    /// All tiles of a family with sizes between `low` and `high`.
    pub fn range(&self, forms: &dyn TileForms, low: [i64; 3], high: [i64; 3], k: i64) -> ResidentRange {
        let classes = forms.classes();
        let work = self.counted.map(|_| Kernels::of(classes, |class| forms.least_work(class, low, high)));
        let single = (low == high && self.counted.is_some()).then(|| self.resident(forms, low, k));
        ResidentRange { tiles: Kernels::of(classes, |class| forms.bounds(class, low, high)), work, single, k }
    }

    /// Seconds in which a multiprocessor executes a full sub-tile of each of `k` resident tiles of the first kernel, one round
    /// after the other; `None` for the paper's form.
    pub fn steady_s(&self, resident: &Resident) -> Option<f64> {
        let (time, work) = self.counted(resident)?;
        Some(time.steady_s(&resident.tiles[0], &work[0], resident.k))
    }

    /// Seconds of all kernels, by the paper's form.
    #[inline]
    pub fn seconds_of(&self, tiles: &[TileCounts], k: i64) -> f64 {
        tiles.iter().map(|counts| self.time.seconds(counts, k)).sum()
    }

    /// Joules of all kernels that do not depend on time; 0 without constants.
    #[inline]
    pub fn dynamic_j_of(&self, tiles: &[TileCounts]) -> f64 {
        let Some(constants) = &self.energy else { return 0.0 };
        tiles.iter().map(|counts| dynamic(counts, constants).sum()).sum()
    }

    /// Watts that flow whatever happens; 0 without constants.
    #[inline]
    pub fn static_w(&self) -> f64 {
        self.energy.as_ref().map_or(0.0, |constants| constants.p_static_w)
    }

    /// Seconds that no number of resident tiles goes below.
    #[inline]
    pub fn seconds_with_any_k(&self, tiles: &[TileCounts]) -> f64 {
        tiles.iter().map(|counts| bound::seconds_with_any_k(&self.time, counts)).sum()
    }
}

impl CostModel for GpuCost {
    type Counts = Resident;
    type Range = ResidentRange;

    #[inline]
    fn seconds(&self, resident: &Resident) -> f64 {
        match self.counted(resident) {
            Some((time, work)) => {
                let both = resident.tiles.iter().zip(work.iter());
                both.map(|(counts, work)| time.seconds(counts, work, resident.k)).sum()
            }
            None => self.seconds_of(&resident.tiles, resident.k),
        }
    }

    #[inline]
    fn spend(&self, resident: &Resident) -> Spent {
        Spent {
            seconds: self.seconds(resident),
            dynamic_j: self.dynamic_j_of(&resident.tiles),
            static_w: self.static_w(),
        }
    }

    fn bounds(&self, range: &ResidentRange) -> SpentBounds {
        let none = Spent { seconds: 0.0, dynamic_j: 0.0, static_w: self.static_w() };
        let (mut least, mut most) = (none, none);
        let single = range.single.as_ref().filter(|_| self.counted.is_some());
        let known = single.map(|resident| self.seconds(resident) / range.tiles.len() as f64);
        for (kernel, bounds) in range.tiles.iter().enumerate() {
            let seconds = match (&self.counted, &range.work, known) {
                (_, _, Some(known)) => (known, known),
                (Some(rates), Some(work), None) => {
                    let constants = &self.time.constants;
                    let time = CountedTime { rates, hardware: &self.hardware, constants };
                    let w = bounds.tiles_per_wavefront.0;
                    (time.least_s(&work[kernel], bounds.wavefronts, w, range.k), f64::INFINITY)
                }
                _ => bound::seconds(&self.time, bounds, range.k),
            };
            (least.seconds, most.seconds) = (least.seconds + seconds.0, most.seconds + seconds.1);
            if let Some(constants) = &self.energy {
                let joules = bound::joules(constants, bounds);
                (least.dynamic_j, most.dynamic_j) = (least.dynamic_j + joules.0, most.dynamic_j + joules.1);
            }
        }
        SpentBounds { least, most }
    }

    #[inline]
    fn fits(&self, resident: &Resident) -> bool {
        resident.tiles.iter().all(|counts| fits(counts, resident.k, &self.hardware))
    }

    fn cost(&self, resident: &Resident) -> Cost {
        let Resident { tiles, k, .. } = resident;
        let counted = self.counted(resident);
        let (mut terms, mut ideal_s) = (Terms::default(), 0.0);
        for (kernel, counts) in tiles.iter().enumerate() {
            let own = match &counted {
                Some((time, work)) => time.predict(counts, &work[kernel], *k),
                None => self.time.predict(counts, *k),
            };
            terms.add(&own.terms);
            ideal_s += own.ideal_s;
        }
        let prediction = Prediction { seconds: terms.sum(), terms, ideal_s };
        let needs = |counts: &&TileCounts| (counts.tile_bytes, counts.threads * counts.registers);
        let neediest = tiles.iter().max_by_key(needs);
        Cost {
            prediction,
            energy: self.energy.as_ref().map(|constants| energy(tiles, constants, prediction.seconds)),
            constraints: neediest.map_or(Vec::new(), |counts| constraints(counts, *k, &self.hardware)),
        }
    }

    fn breakdown(&self, resident: &Resident) -> Vec<Part> {
        let kernels = || resident.tiles.iter().enumerate();
        let mut parts: Vec<Part> = kernels()
            .flat_map(|(kernel, counts)| match self.counted(resident) {
                Some((time, work)) => {
                    explain_counted::time_parts(&time, kernel, (counts, &work[kernel]), resident.k)
                }
                None => explain::time_parts(&self.time, kernel, counts, resident.k),
            })
            .collect();
        if let Some(constants) = &self.energy {
            let own = kernels().flat_map(|(kernel, counts)| explain::energy_parts(constants, kernel, counts));
            parts.extend(own);
            parts.push(Part::fixed(constants.p_static_w, self.cost(resident).prediction.seconds));
        }
        Part::share_out(&mut parts);
        parts
    }

    fn losses(&self, resident: &Resident) -> Vec<Loss> {
        let prediction = self.cost(resident).prediction;
        match self.counted(resident) {
            Some((time, work)) => explain_counted::losses(&time, (&resident.tiles, work), &prediction),
            None => explain::losses(&self.time, resident, &prediction),
        }
    }

    fn parameters(&self) -> Vec<Parameter<GpuCost>> {
        fn changed(model: &GpuCost, change: impl FnOnce(&mut GpuCost)) -> GpuCost {
            let mut model = model.clone();
            change(&mut model);
            model
        }
        let constants = &self.time.constants;
        let constant = |name, value, times| Parameter { name, value, change: Change::Times(times) };
        let count = |name, value: i64, one_more| Parameter {
            name,
            value: value as f64,
            change: Change::OneMore(one_more),
        };
        let own = match self.counted {
            Some(counted) => constant("cycle_s", 1.0 / counted.clock_hz, |model, factor| {
                changed(model, |model| {
                    model.counted.iter_mut().for_each(|counted| counted.clock_hz /= factor);
                    model.time.constants.c_iter_s *= factor;
                })
            }),
            None => constant("c_iter_s", constants.c_iter_s, |model, factor| {
                changed(model, |model| model.time.constants.c_iter_s *= factor)
            }),
        };
        vec![
            own,
            constant("l_s_per_word", constants.l_s_per_word, |model, factor| {
                changed(model, |model| model.time.constants.l_s_per_word *= factor)
            }),
            constant("tau_sync_s", constants.tau_sync_s, |model, factor| {
                changed(model, |model| model.time.constants.tau_sync_s *= factor)
            }),
            constant("t_sync_s", constants.t_sync_s, |model, factor| {
                changed(model, |model| model.time.constants.t_sync_s *= factor)
            }),
            count("n_sm", self.hardware.n_sm, |model| {
                changed(model, |model| {
                    model.time.n_sm += 1;
                    model.hardware.n_sm += 1;
                })
            }),
            count("n_v", self.hardware.n_v, |model| {
                changed(model, |model| {
                    let lanes = (model.time.n_v + 1) as f64 / model.time.n_v as f64;
                    model.counted.iter_mut().for_each(|own| own.issue = SCHEDULERS.min(own.issue * lanes));
                    model.time.n_v += 1;
                    model.hardware.n_v += 1;
                })
            }),
        ]
    }
}
