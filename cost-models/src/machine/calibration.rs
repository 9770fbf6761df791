//! What calibration adds to a machine: the constants of the time and energy models.

use super::CpuCalibration;
use super::gpu::GpuFacts;
use super::section::Section;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// A measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// The median, in the unit that the name says.
    pub value: f64,
    /// The median of the absolute differences from it (MAD); `None` where nobody measured it.
    pub dispersion: Option<f64>,
    /// Number of measurements; `None` where nobody measured it.
    pub runs: Option<i64>,
}

impl From<f64> for Quantity {
    fn from(value: f64) -> Self {
        Quantity { value, dispersion: None, runs: None }
    }
}

/// A plain number, or `{ value, dispersion, runs }`.
impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Full {
            value: f64,
            #[serde(skip_serializing_if = "Option::is_none")]
            dispersion: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            runs: Option<i64>,
        }
        match self {
            Quantity { value, dispersion: None, runs: None } => serializer.serialize_f64(*value),
            &Quantity { value, dispersion, runs } => Full { value, dispersion, runs }.serialize(serializer),
        }
    }
}

/// Where the values of a calibration are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// Measured on such a machine by `tilewright calibrate`.
    Measured,
    /// Stated, with a source: good for comparisons, not for absolute times.
    Stated,
}

/// The constants of the models.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Where the values are from.
    pub provenance: Provenance,
    /// The measurement (command, date, device), or the source of stated values.
    pub source: String,
    /// `L`: seconds to move one word of 4 bytes between memory and a multiprocessor (or core), when all of them do:
    /// its share of the bandwidth included.
    pub l_s_per_word: Quantity,
    /// `tau_sync`: seconds of one barrier inside a block (0 on a CPU, whose tiles belong to one thread).
    pub tau_sync_s: Quantity,
    /// `T_sync`: seconds of one device-wide synchronisation: a launch, or a parallel region.
    pub t_sync_s: Quantity,
    /// `C_iter` by stencil and element type: seconds of one iteration (one point of one statement) on one vector
    /// unit, data in fast memory.
    pub c_iter_s: BTreeMap<String, BTreeMap<String, Quantity>>,
    /// Constants of the energy model; `None` where no power could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// What else was measured on a CPU; `None` for a GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuCalibration>,
}

/// Constants of the energy model, in joules per event, and watts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Energy {
    /// `e_glob`: joules per word of 4 bytes from or to memory.
    pub e_glob_j: f64,
    /// `e_shared`: joules per word of 4 bytes from or to fast memory.
    pub e_shared_j: f64,
    /// `e_iter`: joules per floating-point operation.
    pub e_flop_j: f64,
    /// `e_sync`: joules per barrier of a block.
    pub e_sync_j: f64,
    /// `e_launch`: joules per launch.
    pub e_launch_j: f64,
    /// `P_static`: watts that flow whatever happens.
    pub p_static_w: f64,
    /// Where they are from.
    pub provenance: Provenance,
    /// The measurement, or the source of stated values.
    pub source: String,
}

impl Calibration {
    /// `C_iter` of a stencil for an element type (`f32`, `f64`), where it was measured.
    pub fn c_iter(&self, stencil: &str, element: &str) -> Option<Quantity> {
        self.c_iter_s.get(stencil)?.get(element).copied()
    }

    /// What is published, or assumed where nothing is: `L` from the bandwidth, barriers of 256 threads at 16 threads per
    /// cycle, launches of 3 microseconds.
    pub(super) fn stated(facts: &GpuFacts) -> Calibration {
        Calibration {
            provenance: Provenance::Stated,
            source: "L from the stated bandwidth; barriers and launches as usual for GPUs".to_owned(),
            l_s_per_word: facts.l_s_per_word().into(),
            tau_sync_s: usual_tau_sync_s(facts).into(),
            t_sync_s: USUAL_T_SYNC_S.into(),
            c_iter_s: BTreeMap::new(),
            energy: None,
            cpu: None,
        }
    }

    /// Reads a table; constants of a GPU that are not there are those of [`Calibration::stated`].
    pub(super) fn read(section: &mut Section<'_, '_>, facts: Option<&GpuFacts>) -> Calibration {
        let mut c_iter_s = BTreeMap::new();
        section.optional_table("c_iter_s", |stencils| {
            for stencil in stencils.keys() {
                let values = stencils.table(&stencil, by_element_type);
                c_iter_s.insert(stencil, values.unwrap_or_default());
            }
        });
        Calibration {
            provenance: provenance(section),
            source: section.text("source"),
            l_s_per_word: match (facts, section.has("l_s_per_word")) {
                (Some(facts), false) => {
                    section.ignore("l_s_per_word");
                    facts.l_s_per_word().into()
                }
                _ => quantity(section, "l_s_per_word", "seconds per word of 4 bytes", 1e-16, 1.0),
            },
            tau_sync_s: match (facts, section.has("tau_sync_s")) {
                (Some(facts), false) => {
                    section.ignore("tau_sync_s");
                    usual_tau_sync_s(facts).into()
                }
                _ => quantity(section, "tau_sync_s", "seconds per barrier", 0.0, 1.0),
            },
            t_sync_s: match (facts, section.has("t_sync_s")) {
                (Some(_), false) => {
                    section.ignore("t_sync_s");
                    USUAL_T_SYNC_S.into()
                }
                _ => quantity(section, "t_sync_s", "seconds per launch", 0.0, 1.0),
            },
            c_iter_s,
            energy: section.optional_table("energy", |energy| Energy {
                e_glob_j: energy.number("e_glob_j", "joules per word of 4 bytes", 0.0..=1.0),
                e_shared_j: energy.number("e_shared_j", "joules per word of 4 bytes", 0.0..=1.0),
                e_flop_j: energy.number("e_flop_j", "joules per floating-point operation", 0.0..=1.0),
                e_sync_j: energy.number("e_sync_j", "joules per barrier", 0.0..=1.0),
                e_launch_j: energy.number("e_launch_j", "joules per launch", 0.0..=1e3),
                p_static_w: energy.number("p_static_w", "watts", 0.0..=1e5),
                provenance: provenance(energy),
                source: energy.text("source"),
            }),
            cpu: section.optional_table("cpu", CpuCalibration::read),
        }
    }
}

/// Seconds of a launch: "about 3 microseconds with recent hardware and software" for an empty kernel
/// (forums.developer.nvidia.com/t/too-much-time-for-kernel-launch-latency/233645).
const USUAL_T_SYNC_S: f64 = 3.0e-6;

/// A barrier of 256 threads at 16 threads per cycle ("throughput for __syncthreads()", CUDA C++ Programming Guide, for compute
/// capability 7.0 and 8.x).
fn usual_tau_sync_s(facts: &GpuFacts) -> f64 {
    256.0 / 16.0 / facts.clock_hz
}

impl Energy {
    /// Published energies of single events, and of the thermal design power what these do not explain at full rate.
    pub(super) fn stated(facts: &GpuFacts) -> Energy {
        // M. O'Connor et al., Fine-grained DRAM, MICRO 2017: 3.92 pJ per bit of HBM2; M. Horowitz, Computing's energy problem,
        // ISSCC 2014: 20 pJ for 64 bits of a 32 KiB memory, 0.9 and 3.7 pJ for an addition and a multiplication.
        let (e_glob_j, e_shared_j, e_flop_j) = (1.254e-10, 1.0e-11, 2.3e-12);
        let n_sm = facts.n_sm as f64;
        let full_rate = e_glob_j * facts.bandwidth_bytes_per_s / 4.0
            + e_shared_j * facts.shared_words_per_cycle as f64 * n_sm * facts.clock_hz
            + e_flop_j * 2.0 * facts.n_v as f64 * n_sm * facts.clock_hz;
        Energy {
            e_glob_j,
            e_shared_j,
            e_flop_j,
            e_sync_j: 0.0,
            e_launch_j: 0.0,
            // Without a published power, as much again as the events at full rate.
            p_static_w: facts.tdp_w.map_or(full_rate, |tdp_w| (tdp_w - full_rate).max(0.1 * tdp_w)),
            provenance: Provenance::Stated,
            source:
                "M. Horowitz, ISSCC 2014; M. O'Connor et al., MICRO 2017; static power from the stated power"
                    .to_owned(),
        }
    }
}

impl Energy {
    /// Energies that are assumed of a CPU with so many cores where a counter is simulated: nothing was measured.
    pub fn assumed_of_cores(cores: i64) -> Energy {
        // Horowitz as above: 1.3 to 2.6 nJ for 64 bits of memory, 20 pJ for 64 bits of a 32 KiB cache, 70 pJ for an instruction,
        // here of a vector of 16 words.
        Energy {
            e_glob_j: 1.0e-9,
            e_shared_j: 1.0e-11,
            e_flop_j: 8.0e-12,
            e_sync_j: 0.0,
            e_launch_j: 0.0,
            p_static_w: 5.0 * cores.max(1) as f64,
            provenance: Provenance::Stated,
            source: "assumed: M. Horowitz, ISSCC 2014, and 5 W of static power a core".to_owned(),
        }
    }
}

/// `{ f32 = .., f64 = .. }`
fn by_element_type(section: &mut Section<'_, '_>) -> BTreeMap<String, Quantity> {
    let mut values = BTreeMap::new();
    for element in section.keys() {
        let value = quantity(section, &element, "seconds per iteration", 1e-15, 1.0);
        if !matches!(element.as_str(), "f32" | "f64") {
            section.problem(&element, "the element types are f32 and f64");
        }
        values.insert(element, value);
    }
    values
}

pub(super) fn provenance(section: &mut Section<'_, '_>) -> Provenance {
    let choices = [("measured", Provenance::Measured), ("stated", Provenance::Stated)];
    section.choice("provenance", &choices).unwrap_or(Provenance::Stated)
}

/// A number, or a table `{ value, dispersion, runs }`.
pub(super) fn quantity(
    section: &mut Section<'_, '_>,
    key: &str,
    unit: &str,
    low: f64,
    high: f64,
) -> Quantity {
    if !section.is_table(key) {
        return section.number(key, unit, low..=high).into();
    }
    let read = section.table(key, |full| Quantity {
        value: full.number("value", unit, low..=high),
        dispersion: full.optional_number("dispersion", unit, 0.0..=high),
        runs: full.optional_integer("runs", "measurements", 1..=1_000_000_000),
    });
    read.unwrap_or(low.into())
}
