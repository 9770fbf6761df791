//! Which constants vary, and how.

use crate::codesign::setting::Setting;
use crate::codesign::workload::Objective;
use cost_models::area::AreaModel;
use cost_models::constants::EnergyConstants;
use cost_models::machine::{Problem, Section, read_document};
use statrs::distribution::{ContinuousCDF, Normal};

/// The greatest factor.
const MOST: f64 = 1000.0;

/// A constant of the models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Constant {
    /// `L`, of all stencils.
    L,
    /// `C_iter` of a stencil.
    CIter(usize),
    /// `tau_sync`
    TauSync,
    /// `T_sync`
    TSync,
    /// Joules: of words from memory and from fast memory, iterations, barriers, launches; and static power.
    Energy(usize),
    /// A coefficient of the area model.
    Area(usize),
}

/// Names of the energies, and where they are.
type EnergyField = (&'static str, fn(&mut EnergyConstants) -> &mut f64);
pub(super) const ENERGIES: [EnergyField; 6] = [
    ("e_glob", |energy| &mut energy.e_glob_j),
    ("e_shared", |energy| &mut energy.e_shared_j),
    ("e_iter", |energy| &mut energy.e_iter_j),
    ("e_sync", |energy| &mut energy.e_sync_j),
    ("e_launch", |energy| &mut energy.e_launch_j),
    ("p_static", |energy| &mut energy.p_static_w),
];

/// Names of the coefficients of the area model, and where they are.
type AreaField = (&'static str, fn(&mut AreaModel) -> &mut f64);
pub(super) const AREAS: [AreaField; 9] = [
    ("b_vu", |area| &mut area.b_vu),
    ("b_r", |area| &mut area.b_r),
    ("a_r", |area| &mut area.a_r),
    ("b_m", |area| &mut area.b_m),
    ("a_m", |area| &mut area.a_m),
    ("a_oh", |area| &mut area.a_oh),
    ("b_l1", |area| &mut area.b_l1),
    ("b_l2", |area| &mut area.b_l2),
    ("a_l2", |area| &mut area.a_l2),
];

/// How a factor is distributed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// Its logarithm evenly, between two factors.
    Between(f64, f64),
    /// Its logarithm normally, around 0, with this standard deviation.
    LogNormal(f64),
}

impl Spread {
    /// The factor below which a share `u` of them lies.
    pub(super) fn at(self, u: f64) -> f64 {
        match self {
            Spread::Between(low, high) => low * (high / low).powf(u),
            Spread::LogNormal(sigma) => {
                let quantile = Normal::standard().inverse_cdf(u.clamp(1e-9, 1.0 - 1e-9));
                (sigma * quantile).exp()
            }
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Spread::Between(low, high) => format!("{low} to {high} times, evenly in logarithms"),
            Spread::LogNormal(sigma) => format!("lognormal, sigma {sigma}"),
        }
    }
}

/// What varies.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranges(pub(super) Vec<(Constant, Spread)>);

impl Ranges {
    /// What is assumed where nobody says more: `L` and `C_iter` by a factor of 1.5, `tau_sync` and `T_sync` by 2, energies by
    /// 1.5, coefficients of the area by 1.2, in both directions.
    pub fn usual(setting: &Setting) -> Ranges {
        let by = |factor: f64| Spread::Between(1.0 / factor, factor);
        let mut ranges = vec![(Constant::L, by(1.5))];
        ranges.extend((0..setting.subjects.len()).map(|index| (Constant::CIter(index), by(1.5))));
        ranges.extend([(Constant::TauSync, by(2.0)), (Constant::TSync, by(2.0))]);
        if setting.workload.objective != Objective::Gflops && setting.workload.objective != Objective::Time {
            ranges.extend((0..ENERGIES.len()).map(|index| (Constant::Energy(index), by(1.5))));
        }
        let used = |index: &usize| {
            let mut area = setting.workload.family.area;
            *AREAS[*index].1(&mut area) > 0.0
        };
        ranges.extend((0..6).filter(used).map(|index| (Constant::Area(index), by(1.2))));
        Ranges(ranges)
    }

    /// Reads ranges: `l = 2.0` (a factor in both directions), `l = { low = 0.5, high = 1.1 }`, `l = { sigma = 0.2 }`. `c_iter` is of
    /// all stencils, each for itself; `c_iter_of.NAME` of one.
    ///
    /// # Errors
    /// Every missing, impossible or unknown value, with its line.
    pub fn parse(text: &str, setting: &Setting) -> Result<Ranges, Vec<Problem>> {
        read_document(text, |section| {
            let mut ranges: Vec<(Constant, Spread)> = Vec::new();
            let mut add = |constants: Vec<Constant>, spread: Spread| {
                for constant in constants {
                    ranges.retain(|(own, _)| *own != constant);
                    ranges.push((constant, spread));
                }
            };
            for key in section.keys() {
                if key == "c_iter_of" {
                    continue;
                }
                match named(&key, setting) {
                    Some(constants) => add(constants, spread(section, &key)),
                    None => {
                        section.ignore(&key);
                        let names: Vec<&str> =
                            ENERGIES.iter().map(|own| own.0).chain(AREAS.map(|own| own.0)).collect();
                        let known = format!(
                            "no constant; known are l, c_iter, tau_sync, t_sync, {}",
                            names.join(", ")
                        );
                        section.problem(&key, known);
                    }
                }
            }
            section.optional_table("c_iter_of", |stencils| {
                for name in stencils.keys() {
                    match setting.subjects.iter().position(|subject| subject.load.name == name) {
                        Some(index) => add(vec![Constant::CIter(index)], spread(stencils, &name)),
                        None => {
                            stencils.ignore(&name);
                            stencils.problem(&name, "no stencil of the workload");
                        }
                    }
                }
            });
            Ranges(ranges)
        })
    }
}

fn named(key: &str, setting: &Setting) -> Option<Vec<Constant>> {
    let energy = ENERGIES.iter().position(|own| own.0 == key).map(Constant::Energy);
    let area = AREAS.iter().position(|own| own.0 == key).map(Constant::Area);
    match key {
        "l" => Some(vec![Constant::L]),
        "c_iter" => Some((0..setting.subjects.len()).map(Constant::CIter).collect()),
        "tau_sync" => Some(vec![Constant::TauSync]),
        "t_sync" => Some(vec![Constant::TSync]),
        _ => energy.or(area).map(|constant| vec![constant]),
    }
}

fn spread(section: &mut Section<'_, '_>, key: &str) -> Spread {
    if !section.is_table(key) {
        let factor = section.number(key, "times, in both directions", 1.0..=MOST);
        return Spread::Between(1.0 / factor, factor);
    }
    let read = section.table(key, |own| {
        if own.has("sigma") {
            return Spread::LogNormal(own.number("sigma", "of the logarithm", 0.0..=3.0));
        }
        let low = own.number("low", "times", 1.0 / MOST..=MOST);
        let high = own.number("high", "times", 1.0 / MOST..=MOST);
        if low > high {
            own.problem("high", "less than low");
        }
        Spread::Between(low, high)
    });
    read.unwrap_or(Spread::Between(1.0, 1.0))
}

pub(super) fn name(constant: Constant, setting: &Setting) -> String {
    match constant {
        Constant::L => "L".to_owned(),
        Constant::CIter(index) => format!("C_iter of {}", setting.subjects[index].load.name),
        Constant::TauSync => "tau_sync".to_owned(),
        Constant::TSync => "T_sync".to_owned(),
        Constant::Energy(index) => ENERGIES[index].0.to_owned(),
        Constant::Area(index) => format!("{} of the area", AREAS[index].0),
    }
}
