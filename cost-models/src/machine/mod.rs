//! Machine descriptions: published facts, and what calibration adds to them.
//!
//! A machine is a TOML file with `name`, `kind`, `description`, a table `[facts]` and, where somebody has measured or
//! stated them, a table `[calibration]` with the four constants of the time model and those of the energy model:
//!
//! ```toml
//! name = "gtx980"
//! kind = "gpu"
//! description = "NVIDIA GeForce GTX 980 (Maxwell)"
//!
//! [facts]
//! n_sm = 16
//! # ...
//!
//! [calibration]
//! provenance = "measured"
//! source = "tilewright calibrate --backend cuda, 2026-11-21"
//! l_s_per_word = { value = 2.9e-10, dispersion = 1e-12, runs = 9 }
//! tau_sync_s = 8e-9
//! t_sync_s = 3e-6
//!
//! [calibration.c_iter_s]
//! heat2d.f32 = { value = 7.1e-9, dispersion = 4e-11, runs = 9 }
//! ```
//!
//! A table `[network]` with `latency_s`, `bandwidth_bytes_per_s`, `provenance` and `source` says what messages between two such
//! machines cost.
//!
//! A table `[features]` with any names and numbers says what tells it from other machines for models of variants that serve several.
//!
//! Reading names every missing or impossible value with its place, not only the first one.

mod calibration;
mod cpu;
mod cpu_calibration;
mod gpu;
mod network;
mod section;
mod shipped;

pub use calibration::{Calibration, Energy, Provenance, Quantity};
pub use cpu::{CacheLevel, CpuFacts};
pub use cpu_calibration::{BodyCosts, CpuCalibration, RunCosts, WorkingSet};
pub use gpu::GpuFacts;
pub use network::Network;
pub use section::{Problem, Section, read_document};
pub use shipped::{base, base_names, names, shipped, source};

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use toml::de::DeTable;

/// A machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// Name on the command line.
    pub name: String,
    /// What it is.
    pub kind: MachineKind,
    /// One line about it.
    pub description: String,
    /// What tells the processor that was calibrated from others; `None` where nobody wrote it down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor: Option<String>,
    /// What is published, or asked of the system.
    pub facts: Facts,
    /// What was measured; `None` where nobody has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// What messages to others like it cost; `None` where nobody said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// What tells it from other machines, by names of the user's choice; empty where nobody said.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub features: BTreeMap<String, f64>,
}

/// The kinds of machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MachineKind {
    /// Multiprocessors with shared memory.
    Gpu,
    /// Cores with caches.
    Cpu,
}

/// Facts by kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Facts {
    /// Of a GPU.
    Gpu(GpuFacts),
    /// Of a CPU.
    Cpu(CpuFacts),
}

/// Everything that is wrong with a machine file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct MachineError {
    /// Name of the file, or of the shipped machine.
    pub file: String,
    /// The problems, in order of their lines; at least one.
    pub problems: Vec<Problem>,
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let many = if self.problems.len() == 1 { "problem" } else { "problems" };
        write!(f, "{} {many} in machine file {}", self.problems.len(), self.file)?;
        for problem in &self.problems {
            write!(f, "\n{}:{problem}", self.file)?;
        }
        Ok(())
    }
}

impl Machine {
    /// Reads a machine file; `file` is its name for messages.
    ///
    /// # Errors
    /// [`MachineError`] with every missing, impossible or unknown value and its line.
    pub fn parse(file: &str, text: &str) -> Result<Machine, MachineError> {
        let error = |problems| MachineError { file: file.to_string(), problems };
        let root = DeTable::parse(text).map_err(|syntax| {
            let line = syntax.span().map_or(1, |span| section::line_of(text, span.start));
            error(vec![Problem { line, place: String::new(), reason: syntax.message().to_string() }])
        })?;
        let mut problems = Vec::new();
        let mut section = Section::new("", root.get_ref(), 0, text, &mut problems);
        let name = section.text("name");
        let description = section.text("description");
        let processor = section.optional_text("processor");
        let kind = section.choice("kind", &[("gpu", MachineKind::Gpu), ("cpu", MachineKind::Cpu)]);
        let facts = match kind {
            Some(MachineKind::Gpu) => section.table("facts", |facts| Facts::Gpu(GpuFacts::read(facts))),
            Some(MachineKind::Cpu) => section.table("facts", |facts| Facts::Cpu(CpuFacts::read(facts))),
            None => {
                section.ignore("facts");
                None
            }
        };
        let gpu = if let Some(Facts::Gpu(facts)) = &facts { Some(facts) } else { None };
        let calibration =
            section.optional_table("calibration", |calibration| Calibration::read(calibration, gpu));
        let network = section.optional_table("network", |network| Network::read(network));
        let features = section.optional_table("features", |features| {
            let mut all = BTreeMap::new();
            for name in features.keys() {
                let value = features.number(&name, "any", -f64::MAX..=f64::MAX);
                all.insert(name, value);
            }
            all
        });
        section.finish();
        problems.sort_by_key(|problem| problem.line);
        match (kind, facts) {
            (Some(kind), Some(facts)) if problems.is_empty() => Ok(Machine {
                name,
                kind,
                description,
                processor,
                facts,
                calibration,
                network,
                features: features.unwrap_or_default(),
            }),
            _ => Err(error(problems)),
        }
    }

    /// The same with constants of time and energy: those that are missing are stated ones, from the facts of a GPU and from
    /// the literature. Good for comparisons.
    #[must_use]
    pub fn with_stated_constants(mut self) -> Machine {
        if let Facts::Gpu(facts) = &self.facts {
            let calibration = self.calibration.get_or_insert_with(|| Calibration::stated(facts));
            calibration.energy.get_or_insert_with(|| Energy::stated(facts));
        }
        self
    }

    /// The machine as the text of a machine file: what [`Machine::parse`] reads.
    pub fn to_toml(&self) -> String {
        // All of its values have a TOML form.
        toml::to_string(self).unwrap_or_default()
    }

    /// The facts of a GPU; `None` for a CPU.
    pub fn gpu(&self) -> Option<&GpuFacts> {
        match &self.facts {
            Facts::Gpu(facts) => Some(facts),
            Facts::Cpu(_) => None,
        }
    }

    /// The facts of a CPU; `None` for a GPU.
    pub fn cpu(&self) -> Option<&CpuFacts> {
        match &self.facts {
            Facts::Cpu(facts) => Some(facts),
            Facts::Gpu(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_machines_survive_writing_and_reading() {
        for name in names() {
            let machine = shipped(name).unwrap().unwrap();
            assert_eq!(machine.name, name);
            assert_eq!(Machine::parse("again", &machine.to_toml()), Ok(machine));
        }
        assert!(shipped("pentium").is_none());
    }

    #[test]
    fn every_problem_is_named_with_its_line() {
        let text = "name = \"x\"\nkind = \"gpu\"\ndescription = \"y\"\n[facts]\nn_sm = -3\nn_v = \"many\"\nclok_hz = 1e9\n";
        let error = Machine::parse("x.toml", text).unwrap_err();
        let places: Vec<_> = error.problems.iter().map(|p| (p.line, p.place.as_str())).collect();
        assert!(places.contains(&(5, "facts.n_sm")) && places.contains(&(6, "facts.n_v")), "{error}");
        assert!(places.contains(&(4, "facts.clock_hz")) && places.contains(&(7, "facts.clok_hz")), "{error}");
        assert!(error.problems.len() >= 6, "all missing facts are named: {error}");
        assert!(error.to_string().contains("x.toml:5: facts.n_sm: "), "{error}");
    }

    #[test]
    fn a_network_survives_writing_and_reading() {
        let network = "[network]\nprovenance = \"stated\"\nsource = \"x\"\nlatency_s = 2e-6\nbandwidth_bytes_per_s = 1e10\n";
        let text = format!("{}\n{network}", shipped("zen4").unwrap().unwrap().to_toml());
        let machine = Machine::parse("cluster", &text).unwrap();
        assert_eq!(machine.network.as_ref().unwrap().seconds(2.0, 1e10), 1.000_004);
        assert_eq!(Machine::parse("again", &machine.to_toml()), Ok(machine));
        let wrong = Machine::parse("x", &text.replace("latency_s = 2e-6", "latency_s = -1")).unwrap_err();
        assert_eq!(wrong.problems[0].place, "network.latency_s");
    }

    #[test]
    fn features_survive_writing_and_reading() {
        let text = format!(
            "{}\n[features]\nglobal_atomic = 0.036\nissue_width = 2\n",
            shipped("zen4").unwrap().unwrap().to_toml()
        );
        let machine = Machine::parse("here", &text).unwrap();
        assert_eq!(machine.features["global_atomic"], 0.036);
        assert_eq!(Machine::parse("again", &machine.to_toml()), Ok(machine));
        let wrong = Machine::parse("x", &text.replace("issue_width = 2", "issue_width = inf")).unwrap_err();
        assert_eq!(wrong.problems[0].place, "features.issue_width");
    }

    #[test]
    fn broken_toml_has_a_line() {
        let error = Machine::parse("x.toml", "name = \"x\"\nkind = = 3\n").unwrap_err();
        assert_eq!(error.problems[0].line, 2);
    }
}
