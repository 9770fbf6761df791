//! One library with several implementations of a nested data-parallel program, or of several versions of it, and a model that
//! chooses among them at each call (S. Muralidharan, as in [`super`], section 5.4).

use super::learn::{Known, Worth, failed, few_of, on_machine};
use super::nested_costs::{Runs, measured};
use crate::error::{Error, Result};
use crate::observer::{Observer, stage_of};
use adaptive::model::Model;
use adaptive::{emit, model_file};
use nested::analysis::policy::implementations;
use nested::analysis::{Implementation, schedule};
use nested::data::{Array, arranged};
use nested::emit::generated::{Mode, prepared};
use nested::openmp::{Ranged, Variant, chooser, several};
use nested::package::{File, package_several};
use nested::versions::Versions;
use serde::Serialize;
use toolchain::machine::cpu_name;

/// What is wanted.
pub struct Request<'a> {
    /// Of each version the computation whose implementations are tried, among those of [`prepared`]; the others have their
    /// default ones.
    pub computations: &'a [usize],
    /// What for, one use at least, and how they are run.
    pub runs: Runs<'a>,
    /// Implementations that are measured, and those that are kept, at most.
    pub candidates: usize,
    /// Implementations of the library at most.
    pub most: usize,
}

/// One of several versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VersionFacts {
    /// Its program.
    pub program: String,
    /// The computation whose implementations were tried.
    pub computation: String,
}

/// An implementation of a library.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Served {
    /// Its name, as the environment variable `TILEWRIGHT_VARIANT` takes it.
    pub name: String,
    /// Its program, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The schedule of the computation.
    pub schedule: String,
    /// Its policy.
    pub policy: String,
    /// Uses for which it is chosen.
    pub chosen_for: usize,
}

/// What a report says of a portfolio.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facts {
    /// The computation, of the first version where there are several.
    pub computation: String,
    /// The versions, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<VersionFacts>,
    /// Results that not all versions have, and are not handed out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// The implementations, the default one first.
    pub implementations: Vec<Served>,
    /// What the choice looks at.
    pub features: Vec<String>,
    /// The model's file.
    pub model: String,
    /// The processor that was measured on.
    pub machine: String,
    /// Implementations that were measured.
    pub measured: usize,
    /// Implementations that the library may have.
    pub most: usize,
    /// Uses.
    pub uses: usize,
    /// The time of the best measured implementation, as a part of that of the best one that is kept: mean over the uses.
    pub kept_of_best: f64,
    /// The same of as many as the library may have, chosen or not.
    pub kept_by_most: f64,
    /// What the choices are worth among those that are kept.
    pub worth: Worth,
}

/// Implementations, and what chooses among them.
pub struct Portfolio {
    /// What to know.
    pub facts: Facts,
    chosen: Vec<Variant>,
    model: Model,
    features: Vec<Ranged>,
    mode: Mode,
}

/// The default one, and others evenly over the space: places of at most `budget` among `count`.
pub fn spread(count: usize, budget: usize) -> Vec<usize> {
    let most = budget.min(count);
    let rest = (1..most).map(|place| 1 + (place - 1) * (count - 1) / (most - 1).max(1));
    std::iter::once(0).chain(rest).collect()
}

/// Chooses implementations, and learns when each is the best.
///
/// # Errors
/// No compiler, data that does not fit, an interruption; results that differ, which are a mistake of ours.
pub fn portfolio(versions: &Versions, request: &Request<'_>, observer: &dyn Observer) -> Result<Portfolio> {
    let nothing = || Error::wrong_input("there is nothing to choose for");
    if request.runs.uses.is_empty() {
        return Err(nothing());
    }
    let interface = &versions.interface;
    let count = versions.programs.len();
    let mut all: Vec<Variant> = Vec::new();
    let mut known_versions = Vec::new();
    for (version, (program, &place)) in versions.programs.iter().zip(request.computations).enumerate() {
        let (_, list, _) = prepared(program);
        let computation = list.get(place).ok_or_else(nothing)?;
        let points = implementations(computation);
        // Each version has its share of what is measured.
        let share =
            (request.candidates * (version + 1) / count - request.candidates * version / count).max(1);
        for at in spread(points.len(), share) {
            let mut chosen: Vec<Implementation> = list.iter().map(Implementation::default_of).collect();
            chosen[place] = points[at].clone();
            all.push(Variant { version, chosen });
        }
        known_versions
            .push(VersionFacts { program: program.name.clone(), computation: computation.name.clone() });
    }
    let costs = stage_of(observer, "timing implementations", all.len() as u64, |progress| {
        measured(versions, &all, &request.runs, progress)
    })?;
    let own = versions.features();
    let mut uses = Vec::new();
    for used in request.runs.uses {
        let given: Vec<Array> =
            arranged(interface, &used.inputs).map_err(|error| Error::wrong_input(error.to_string()))?;
        let values = own.iter().map(|own| own.value(interface, &given, request.runs.threads)).collect();
        uses.push((used.name.clone(), values));
    }
    let names: Vec<String> = own.iter().map(|own| own.name.clone()).collect();
    let known = Known { name: &interface.name, features: &names, uses };
    let learned = few_of(&known, &costs, request.most)?;
    let machine = cpu_name();
    let served = learned.few.iter().enumerate().map(|(number, &at)| {
        let Variant { version, chosen } = &all[at];
        let tried = &chosen[request.computations[*version]];
        Served {
            name: format!("v{number}"),
            version: (count > 1).then(|| versions.programs[*version].name.clone()),
            schedule: schedule::text(&tried.schedule()),
            policy: tried.policy(),
            chosen_for: learned.chosen_for(number),
        }
    });
    let facts = Facts {
        computation: known_versions.first().map_or(String::new(), |first| first.computation.clone()),
        implementations: served.collect(),
        versions: if count > 1 { known_versions } else { Vec::new() },
        dropped: versions.dropped.clone(),
        features: names,
        model: format!("{}.model.json", chooser(&interface.name)),
        machine: machine.clone(),
        measured: all.len(),
        most: request.most,
        uses: request.runs.uses.len(),
        kept_of_best: learned.kept_of_best,
        kept_by_most: learned.kept_by_most,
        worth: learned.worth,
    };
    let ranges = learned.model.features.iter().map(|own| believed(own.least, own.greatest));
    let features = own.into_iter().zip(ranges).map(|(feature, range)| Ranged { feature, range }).collect();
    let chosen = learned.few.iter().map(|&at| all[at].clone()).collect();
    let model = on_machine(learned.model, &machine);
    Ok(Portfolio { facts, chosen, model, features, mode: request.runs.mode })
}

/// Values for which a choice is believed: those between half of the least and twice the greatest that was measured.
fn believed(least: f64, greatest: f64) -> [f64; 2] {
    let low = least.min(0.5 * least).min(2.0 * least).max(f64::MIN);
    [low, greatest.max(0.5 * greatest).max(2.0 * greatest).min(f64::MAX)]
}

impl Portfolio {
    /// The files of a library.
    ///
    /// # Errors
    /// A model that cannot be written.
    pub fn emit(&self, versions: &Versions) -> Result<Vec<File>> {
        let name = &versions.interface.name;
        let prefix = chooser(name);
        let written = emit::emit(&self.model, Some(&prefix)).map_err(failed)?;
        let text = model_file::to_text(&self.model).map_err(Error::internal)?;
        let choice = written.files.into_iter().chain([(self.facts.model.clone(), text)]);
        let choice = choice.map(|(name, text)| File { name, text }).collect();
        let made = several(versions, &self.chosen, &self.features, self.mode, name);
        Ok(package_several(versions, &made, &self.chosen, choice, self.mode))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_believed_near_what_was_measured() {
        assert_eq!(believed(100.0, 400.0), [50.0, 800.0]);
        assert_eq!(believed(-4.0, 0.0), [-8.0, 0.0]);
        assert_eq!(believed(2.0, f64::INFINITY)[1], f64::MAX);
        assert_eq!(spread(10, 4), [0, 1, 4, 7]);
        assert_eq!(spread(1, 4), [0]);
    }
}
