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
    /// The factor on everything but the second-level cache.
    Logic,
    /// None: all terms are stated.
    Given,
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
const SHIPPED: [(&str, &str); 6] = [
    ("maxwell", include_str!("../../machines/families/maxwell.toml")),
    ("hopper", include_str!("../../machines/families/hopper.toml")),
    ("ada", include_str!("../../machines/families/ada.toml")),
    ("blackwell", include_str!("../../machines/families/blackwell.toml")),
    ("cdna3", include_str!("../../machines/families/cdna3.toml")),
    ("zen4-cores", include_str!("../../machines/families/zen4-cores.toml")),
];

/// What is read of files that a family or a workload names: their text, or what is wrong with them.
pub type Files<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// No file can be named.
const NO_FILES: Files<'static> = &|name| Err(format!("there is no file `{name}`"));

impl Family {
    /// The names of the shipped families.
    pub fn names() -> Vec<&'static str> {
        SHIPPED.iter().map(|(name, _)| *name).collect()
    }

    /// A shipped family; `None` where there is none of this name.
    pub fn shipped(name: &str) -> Option<Result<Family, FamilyError>> {
        let (_, text) = SHIPPED.iter().find(|(own, _)| *own == name)?;
        Some(Family::parse(&format!("machines/families/{name}.toml"), text, NO_FILES))
    }

    /// The area model of a family, scaled to the die of a machine, on that machine. `None` where its area is not known, or
    /// it is no GPU.
    pub fn like(self, machine: Machine) -> Option<Family> {
        let facts = machine.gpu()?;
        let (chip, area_mm2) = (Chip::from(facts), facts.area_mm2?);
        Some(Family {
            name: format!("{} scaled to {}", self.name, machine.name),
            description: format!(
                "the coefficients of {}, times one factor for the die of {}",
                self.name, machine.name
            ),
            area: self.area.with_scale_of(&chip, area_mm2),
            calibrated: Calibrated { term: Term::Scale, die: machine.name.clone(), area_mm2 },
            validation: None,
            base: machine,
        })
    }

    /// The same family on another machine.
    #[must_use]
    pub fn on(self, machine: Machine) -> Family {
        Family { base: machine, ..self }
    }

    /// Reads a family file; `file` is its name for messages.
    ///
    /// # Errors
    /// [`FamilyError`] with every missing, impossible or unknown value and its line.
    pub fn parse(file: &str, text: &str, files: Files<'_>) -> Result<Family, FamilyError> {
        let problems = match read_document(text, |section| read(section, files)) {
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

fn read(section: &mut Section<'_, '_>, files: Files<'_>) -> Option<Family> {
    let name = section.text("name");
    let description = section.text("description");
    let base = gpu(section, "base", files);
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
        let given = || {
            let base = base.as_ref()?;
            let area_mm2 = model.total(&Chip::from(base.gpu()?));
            Some((model, Calibrated { term: Term::Given, die: base.name.clone(), area_mm2 }))
        };
        let solved = area.optional_table("calibration", |calibration| {
            let terms = [("l1", Term::L1), ("scale", Term::Scale), ("logic", Term::Logic)];
            let term = calibration.choice("term", &terms)?;
            let die = gpu(calibration, "die", files)?;
            let facts = die.gpu()?;
            let chip = Chip::from(facts);
            let Some(area_mm2) = facts.area_mm2 else {
                calibration.problem("die", "the area of this die is not known: nothing can be solved from it");
                return None;
            };
            let solved = match term {
                Term::L1 => model.with_l1_of(&chip, area_mm2),
                Term::Logic => model.with_logic_of(&chip, area_mm2),
                Term::Scale | Term::Given => Some(model.with_scale_of(&chip, area_mm2)),
            };
            if solved.is_none() {
                let reason = format!(
                    "this die does not determine the term: it has {} kB of first-level cache per multiprocessor, {} kB of \
                     second-level cache, and {area_mm2} mm2",
                    facts.l1_kb, facts.l2_kb
                );
                calibration.problem("die", reason);
            }
            Some((solved?, Calibrated { term, die: die.name.clone(), area_mm2 }))
        });
        let (model, calibrated) = solved.unwrap_or_else(given)?;
        let validation = area.optional_table("validation", |validation| {
            let die = gpu(validation, "die", files)?;
            let facts = die.gpu()?;
            let model_mm2 = model.total(&Chip::from(facts));
            Some(Validation { die: die.name.clone(), area_mm2: facts.area_mm2?, model_mm2 })
        });
        Some((model, calibrated, validation.flatten()))
    });
    let (area, calibrated, validation) = area??;
    Some(Family { name, description, base: base?, area, calibrated, validation })
}

/// The GPU that a key names: a shipped one, one from a data sheet, or a machine file.
fn gpu(section: &mut Section<'_, '_>, key: &str, files: Files<'_>) -> Option<Machine> {
    let before = section.problems();
    let name = section.text(key);
    if section.problems() > before {
        return None;
    }
    machine_of(&name, files).map_err(|reason| section.problem(key, reason)).ok()
}

/// The GPU of this name, or in this file, with constants: where it has none, stated ones.
///
/// # Errors
/// That there is none, with all names; or what is wrong with the file.
pub fn machine_of(name: &str, files: Files<'_>) -> Result<Machine, String> {
    let found = match machine::base(name) {
        None if name.ends_with(".toml") => {
            let text = files(name)?;
            Some(Machine::parse(name, &text).map(Machine::with_stated_constants))
        }
        found => found,
    };
    match found {
        Some(Ok(machine)) if machine.gpu().is_some() => Ok(machine),
        Some(Ok(machine)) => {
            Err(format!("machine `{}` is a CPU; describe its cores as multiprocessors", machine.name))
        }
        Some(Err(error)) => Err(error.to_string()),
        None => {
            let is_gpu =
                |name: &&str| matches!(machine::base(name), Some(Ok(machine)) if machine.gpu().is_some());
            let known: Vec<_> =
                machine::names().into_iter().chain(machine::base_names()).filter(is_gpu).collect();
            Err(format!(
                "there is no GPU `{name}`; there are {}, and files that end in .toml",
                known.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

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
        assert_relative_eq!(area.vector_units, 175.39072, max_relative = 1e-9);
        assert_relative_eq!(area.registers, 43.241472, max_relative = 1e-9);
        assert_relative_eq!(area.shared, 14.98912, max_relative = 1e-9);
        assert_relative_eq!(area.overhead, 205.2992, max_relative = 1e-9);
        assert_eq!((area.l1, area.l2), (0.0, 0.0));
        assert_relative_eq!(area.total(), 438.920512, max_relative = 1e-9);
        let shares = area.memory_share() + area.vector_share() + area.overhead / area.total();
        assert_relative_eq!(shares, 1.0, max_relative = 1e-12);
    }

    #[test]
    fn titan_x_is_predicted_from_the_gtx_980() {
        let family = maxwell();
        assert_eq!((family.calibrated.term, family.calibrated.die.as_str()), (Term::L1, "gtx980"));
        let gtx980 = machine::shipped("gtx980").unwrap().unwrap();
        let calibrated = family.area.total(&Chip::from(gtx980.gpu().unwrap()));
        assert_relative_eq!(calibrated, 398.0, max_relative = 1e-12);
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
        assert_relative_eq!(area, facts.area_mm2.unwrap(), max_relative = 1e-12);
        assert!(family.area.scale < 0.5, "{}", family.area.scale);
    }

    #[test]
    fn broken_families_are_refused_with_places() {
        let text = SHIPPED[0].1.replace("die = \"gtx980\"", "die = \"h100\"").replace("b_vu =", "b_vv =");
        let error = Family::parse("x.toml", &text, NO_FILES).unwrap_err();
        let places: Vec<_> = error.problems.iter().map(|problem| problem.place.as_str()).collect();
        assert!(places.contains(&"area.b_vu") && places.contains(&"area.b_vv"), "{error}");
        assert!(places.contains(&"area.calibration.die"), "{error}");
        let text = SHIPPED[0].1.replace("base = \"gtx980\"", "base = \"pentium\"");
        let error = Family::parse("x.toml", &text, NO_FILES).unwrap_err();
        assert!(error.to_string().contains("there is no GPU `pentium`"), "{error}");
        assert!(Family::shipped("pentium").is_none());
    }
}
