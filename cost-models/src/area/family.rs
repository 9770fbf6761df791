//! Machine families: `machines/families/*.toml`, the coefficients of the area model and the dies that they are held
//! against.
//!
//! One term is not stated but solved from a die of known area ([`Term`]); a second die, that took no part in it, says
//! how far the model is off ([`Validation`]). `base` names the machine whose clock, constants and limits hold for the
//! designs of the family.

use super::{AreaModel, Chip};
use crate::machine::{self, GpuFacts, Machine, Problem, Section, read_document};
use serde::Serialize;
use std::fmt;

/// A family.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Family {
    /// Name in workload files.
    pub name: String,
    /// One line about it.
    pub description: String,
    /// The machine whose clock, constants and limits hold for the designs.
    pub base: Machine,
    /// The coefficients, the solved one included.
    pub area: AreaModel,
    /// What was solved, and from which die.
    pub calibrated: Calibrated,
    /// The model against a die that took no part in the calibration.
    pub validation: Option<Validation>,
}

/// The term of the area model that a die determines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Term {
    /// `b_L1`.
    L1,
    /// The factor of the process.
    Scale,
}

/// What was solved, and from which die.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibrated {
    /// The term.
    pub term: Term,
    /// Name of the machine.
    pub die: String,
    /// Its known area in mm2.
    pub area_mm2: f64,
}

/// The model against a die.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Validation {
    /// Name of the machine.
    pub die: String,
    /// Its known area in mm2.
    pub area_mm2: f64,
    /// What the model says, in mm2.
    pub model_mm2: f64,
}

impl Validation {
    /// Relative error: 0.01 where the model is one per cent too large.
    pub fn error(&self) -> f64 {
        self.model_mm2 / self.area_mm2 - 1.0
    }
}

/// Everything that is wrong with a family file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct FamilyError {
    /// Name of the file, or of the shipped family.
    pub file: String,
    /// The problems, in order of their lines; at least one.
    pub problems: Vec<Problem>,
}

impl fmt::Display for FamilyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let many = if self.problems.len() == 1 { "problem" } else { "problems" };
        write!(f, "{} {many} in family file {}", self.problems.len(), self.file)?;
        for problem in &self.problems {
            write!(f, "\n{}:{problem}", self.file)?;
        }
        Ok(())
    }
}

/// Name and text of the shipped families.
const SHIPPED: [(&str, &str); 2] = [
    ("maxwell", include_str!("../../machines/families/maxwell.toml")),
    ("hopper", include_str!("../../machines/families/hopper.toml")),
];

impl Family {
    /// The names of the shipped families.
    pub fn names() -> Vec<&'static str> {
        SHIPPED.iter().map(|(name, _)| *name).collect()
    }

    /// A shipped family; `None` where there is none of this name.
    pub fn shipped(name: &str) -> Option<Result<Family, FamilyError>> {
        let (_, text) = SHIPPED.iter().find(|(own, _)| *own == name)?;
        Some(Family::parse(&format!("machines/families/{name}.toml"), text))
    }

    /// Reads a family file; `file` is its name for messages.
    ///
    /// # Errors
    /// [`FamilyError`] with every missing, impossible or unknown value and its line.
    pub fn parse(file: &str, text: &str) -> Result<Family, FamilyError> {
        let problems = match read_document(text, read) {
            Ok(Some(family)) => return Ok(family),
            Ok(None) => {
                vec![Problem { line: 1, place: String::new(), reason: "it has no values".to_string() }]
            }
            Err(problems) => problems,
        };
        Err(FamilyError { file: file.to_string(), problems })
    }

    /// Facts of the base machine, a GPU.
    ///
    /// `None` never happens for families that were read: reading checks it.
    pub fn facts(&self) -> Option<&GpuFacts> {
        self.base.gpu()
    }
}

fn read(section: &mut Section<'_, '_>) -> Option<Family> {
    let name = section.text("name");
    let description = section.text("description");
    let base = gpu(section, "base");
    let area = section.table("area", |area| {
        let mut mm2 = |key: &str, unit: &str| area.number(key, unit, 0.0..=1e3);
        let model = AreaModel {
            b_vu: mm2("b_vu", "mm2 per vector unit"),
            b_r: mm2("b_r", "mm2 per kB of registers"),
            a_r: mm2("a_r", "mm2 per vector unit"),
            b_m: mm2("b_m", "mm2 per kB of shared memory"),
            a_m: mm2("a_m", "mm2 per multiprocessor"),
            a_oh: mm2("a_oh", "mm2 per multiprocessor"),
            b_l1: area.optional_number("b_l1", "mm2 per kB of first-level cache", 0.0..=1e3).unwrap_or(0.0),
            b_l2: area.number("b_l2", "mm2 per kB of second-level cache", 0.0..=1e3),
            a_l2: area.number("a_l2", "mm2 of the second-level cache", 0.0..=1e3),
            scale: 1.0,
        };
        let solved = area.table("calibration", |calibration| {
            let term = calibration.choice("term", &[("l1", Term::L1), ("scale", Term::Scale)])?;
            let die = gpu(calibration, "die")?;
            let facts = die.gpu()?;
            let chip = Chip::from(facts);
            let solved = match term {
                Term::L1 => model.with_l1_of(&chip, facts.area_mm2),
                Term::Scale => Some(model.with_scale_of(&chip, facts.area_mm2)),
            };
            if solved.is_none() {
                let reason = format!(
                    "this die does not determine the first-level cache: it has {} kB of it per multiprocessor, \
                     and {} mm2",
                    facts.l1_kb, facts.area_mm2
                );
                calibration.problem("die", reason);
            }
            let calibrated = Calibrated { term, die: die.name.clone(), area_mm2: facts.area_mm2 };
            Some((solved?, calibrated))
        });
        let (model, calibrated) = solved??;
        let validation = area.optional_table("validation", |validation| {
            let die = gpu(validation, "die")?;
            let facts = die.gpu()?;
            let model_mm2 = model.total(&Chip::from(facts));
            Some(Validation { die: die.name.clone(), area_mm2: facts.area_mm2, model_mm2 })
        });
        Some((model, calibrated, validation.flatten()))
    });
    let (area, calibrated, validation) = area??;
    Some(Family { name, description, base: base?, area, calibrated, validation })
}

/// A shipped GPU that a key names.
fn gpu(section: &mut Section<'_, '_>, key: &str) -> Option<Machine> {
    let before = section.problems();
    let name = section.text(key);
    if section.problems() > before {
        return None;
    }
    match machine::shipped(&name) {
        Some(Ok(machine)) if machine.gpu().is_some() => Some(machine),
        _ => {
            let known: Vec<_> = machine::names().into_iter().filter(|name| is_gpu(name)).collect();
            section.problem(key, format!("there is no GPU `{name}`; there are {}", known.join(", ")));
            None
        }
    }
}

fn is_gpu(name: &str) -> bool {
    matches!(machine::shipped(name), Some(Ok(machine)) if machine.gpu().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maxwell() -> Family {
        Family::shipped("maxwell").unwrap().unwrap()
    }

    fn chip(n_sm: i64, n_v: i64, m_sm_kb: f64) -> Chip {
        Chip { n_sm, n_v, m_sm_kb, r_vu_kb: 2.0, l1_kb: 0.0, l2_kb: 0.0 }
    }

    #[test]
    fn areas_of_table_6_1_of_the_paper() {
        let designs = [
            (chip(32, 128, 24.0), 438.0),
            (chip(22, 256, 12.0), 447.0),
            (chip(28, 160, 24.0), 431.0),
            (chip(28, 160, 12.0), 426.0),
            (chip(18, 288, 192.0), 447.0),
            (chip(8, 896, 96.0), 446.0),
        ];
        for (chip, area_mm2) in designs {
            assert_eq!(maxwell().area.total(&chip).trunc(), area_mm2, "{chip:?}");
        }
    }

    #[test]
    fn one_area_by_hand() {
        // 32*128*(0.04282 + 0.004305*2 + 0.001947) + 32*(0.01565*24 + 0.09281 + 6.4156), term by term.
        let area = maxwell().area.area(&chip(32, 128, 24.0));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(area.vector_units, 175.39072) && near(area.registers, 43.241472), "{area:?}");
        assert!(near(area.shared, 14.98912) && near(area.overhead, 205.2992), "{area:?}");
        assert_eq!((area.l1, area.l2), (0.0, 0.0));
        assert!(near(area.total(), 438.920512), "{}", area.total());
        let shares = area.memory_share() + area.vector_share() + area.overhead / area.total();
        assert!(near(shares, 1.0));
    }

    #[test]
    fn titan_x_is_predicted_from_the_gtx_980() {
        let family = maxwell();
        assert_eq!((family.calibrated.term, family.calibrated.die.as_str()), (Term::L1, "gtx980"));
        let gtx980 = machine::shipped("gtx980").unwrap().unwrap();
        let calibrated = family.area.total(&Chip::from(gtx980.gpu().unwrap()));
        assert!((calibrated - 398.0).abs() < 1e-9, "{calibrated}");
        let validation = family.validation.unwrap();
        assert_eq!((validation.die.as_str(), validation.area_mm2), ("titanx", 601.0));
        assert!(validation.error().abs() < 0.02, "{validation:?}");
    }

    #[test]
    fn the_scaled_family_has_the_area_of_its_die() {
        let family = Family::shipped("hopper").unwrap().unwrap();
        let die = machine::shipped(&family.calibrated.die).unwrap().unwrap();
        let facts = die.gpu().unwrap();
        let area = family.area.total(&Chip::from(facts));
        assert!((area - facts.area_mm2).abs() < 1e-9, "{area}");
        assert!(family.area.scale < 0.5, "{}", family.area.scale);
    }

    #[test]
    fn broken_families_are_refused_with_places() {
        let text = SHIPPED[0].1.replace("die = \"gtx980\"", "die = \"h100\"").replace("b_vu =", "b_vv =");
        let error = Family::parse("x.toml", &text).unwrap_err();
        let places: Vec<_> = error.problems.iter().map(|problem| problem.place.as_str()).collect();
        assert!(places.contains(&"area.b_vu") && places.contains(&"area.b_vv"), "{error}");
        assert!(places.contains(&"area.calibration.die"), "{error}");
        let text = SHIPPED[0].1.replace("base = \"gtx980\"", "base = \"pentium\"");
        let error = Family::parse("x.toml", &text).unwrap_err();
        assert!(error.to_string().contains("there is no GPU `pentium`"), "{error}");
        assert!(Family::shipped("pentium").is_none());
    }
}
