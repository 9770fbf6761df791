//! From the trials of a file to one table: the same parameters for all of them.
//!
//! A store may have trials of several programs, strategies and machines. Their configurations have the names of all; where
//! a trial has no value of a name, as the tile sizes of another strategy, it is [`NONE`]. In what settings differ becomes a
//! parameter as well, so that a tree can tell trials apart and a condition can choose some.

use crate::error::{Result, TrialsError, malformed};
use crate::limits::check_size;
use crate::median::median;
use crate::mixed::Mixed;
use crate::parameter::Parameter;
use crate::setting::{FEATURES, FIELDS, Setting};
use crate::trial::{Configuration, Metric, Trial};
use crate::value::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// The value of a parameter that a trial does not have.
pub const NONE: &str = "none";
/// The value of a part of the setting that is not known, where other trials of the file say it.
pub const UNKNOWN: &str = "unknown";

/// What a file says of a parameter before its trials.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    pub name: String,
    /// Levels, in their order; values that are missing here are added.
    pub levels: Vec<Value>,
    /// Whether the levels have no order, although they may look like numbers.
    pub categorical: bool,
}

/// One table.
#[derive(Debug)]
pub(super) struct Joined {
    pub parameters: Vec<Parameter>,
    pub trials: Vec<Trial>,
    pub mixed: Vec<Mixed>,
}

/// Brings trials to the same parameters. `declared` is in the order of the parameters.
pub(super) fn joined(path: &Path, declared: Vec<Declared>, trials: Vec<Trial>) -> Result<Joined> {
    if trials.is_empty() {
        return Err(malformed(path, "", "there is no trial in it", ""));
    }
    let mut trials = rounds_together(trials);
    let mut names: Vec<String> = declared.iter().map(|declared| declared.name.clone()).collect();
    let mut lists = Lists::default();
    for trial in &trials {
        if lists.is_new(trial.configuration.names()) {
            for name in trial.configuration.names().iter() {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            check_size(path, names.len(), 0)?;
        }
    }
    let mut features = features(&trials);
    if names.is_empty() && features.is_empty() {
        // Something must be there by which trials are told apart.
        let setting = &trials[0].setting;
        let field =
            ["strategy", "backend", "program"].into_iter().find(|name| !setting.text(name).is_empty());
        features.push(Feature { field: field.unwrap_or("program"), label: None });
    }
    let own: HashSet<String> = names.iter().cloned().collect();
    let mut mixed = Vec::new();
    for feature in &features {
        let mut parameter = feature.field.to_owned();
        while own.contains(&parameter) {
            parameter.push('_');
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        trials.iter().for_each(|trial| *counts.entry(feature.value(&trial.setting)).or_default() += 1);
        let mut values: Vec<(String, usize)> = counts.into_iter().collect();
        values.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        names.push(parameter.clone());
        mixed.push(Mixed { parameter, values });
    }
    check_size(path, names.len(), trials.len())?;
    let names: Arc<[String]> = names.into();
    if lists.several() || !features.is_empty() || trials[0].configuration.names() != &names {
        trials = trials.into_iter().map(|trial| placed(trial, &names, own.len(), &features)).collect();
    }
    let parameters = names
        .iter()
        .enumerate()
        .map(|(place, name)| parameter(name, place, declared.get(place), &trials))
        .collect::<Result<_>>()
        .map_err(|error: TrialsError| malformed(path, "", error.to_string(), ""))?;
    // A file whose trials do not differ in it has only itself to tell.
    mixed.retain(|mixed| mixed.values.len() > 1);
    Ok(Joined { parameters, trials, mixed })
}

/// The lists of names of configurations, each seen once: trials of one measurement share theirs.
#[derive(Default)]
struct Lists(Vec<Arc<[String]>>);

impl Lists {
    fn is_new(&mut self, names: &Arc<[String]>) -> bool {
        if self.0.iter().any(|known| Arc::ptr_eq(known, names)) || self.0.contains(names) {
            return false;
        }
        self.0.push(Arc::clone(names));
        true
    }

    fn several(&self) -> bool {
        self.0.len() > 1
    }
}

/// A part of the setting that is a parameter.
struct Feature {
    field: &'static str,
    /// Hashes of sources beside the names of programs, where one name stands for several.
    label: Option<&'static str>,
}

impl Feature {
    fn value(&self, setting: &Setting) -> String {
        match (setting.text(self.field), self.label.map(|label| setting.text(label))) {
            ("", _) => UNKNOWN.to_owned(),
            (text, Some(more)) if !more.is_empty() => format!("{text}#{more}"),
            (text, _) => text.to_owned(),
        }
    }
}

/// The fields in which known settings differ. What is not known is no other value.
fn features(trials: &[Trial]) -> Vec<Feature> {
    let mut settings: Vec<&Arc<Setting>> = Vec::new();
    let mut seen = HashSet::new();
    for trial in trials {
        if seen.insert(Arc::as_ptr(&trial.setting)) {
            settings.push(&trial.setting);
        }
    }
    let differ = |field: &str| {
        let values: HashSet<&str> =
            settings.iter().map(|setting| setting.text(field)).filter(|text| !text.is_empty()).collect();
        values.len() > 1
    };
    let mut names: HashMap<&str, &str> = HashMap::new();
    let ambiguous = settings.iter().filter(|setting| !setting.source.is_empty()).any(|setting| {
        let known = *names.entry(setting.program.as_str()).or_insert(setting.source.as_str());
        known != setting.source
    });
    FEATURES
        .into_iter()
        .filter(|field| differ(field) || (*field == "program" && ambiguous))
        .map(|field| Feature { field, label: (field == "program" && ambiguous).then_some("source") })
        .collect()
}

/// A trial with a value for every name; the last names are those of features.
fn placed(trial: Trial, names: &Arc<[String]>, own: usize, features: &[Feature]) -> Trial {
    let configuration = &trial.configuration;
    let value = |name: &String| configuration.get(name).cloned().unwrap_or_else(|| Value::from(NONE));
    let mut values: Vec<Value> = names[..own].iter().map(value).collect();
    values.extend(features.iter().map(|feature| {
        let text = feature.value(&trial.setting);
        match feature.field {
            "steps" | "threads" => Value::parse(&text),
            _ => Value::Text(text),
        }
    }));
    Trial { configuration: Configuration::new(Arc::clone(names), values), ..trial }
}

/// A parameter with the levels that were declared and those that occur.
fn parameter(name: &str, place: usize, declared: Option<&Declared>, trials: &[Trial]) -> Result<Parameter> {
    let mut levels = declared.map(|declared| declared.levels.clone()).unwrap_or_default();
    let mut seen: HashSet<String> = levels.iter().map(Value::to_string).collect();
    for trial in trials {
        let value = &trial.configuration.values()[place];
        if seen.insert(value.to_string()) {
            levels.push(value.clone());
        }
    }
    match declared {
        Some(Declared { categorical: true, .. }) => Parameter::categorical(name, levels),
        _ => Parameter::new(name, levels),
    }
}

/// Rounds of one configuration in one setting as one trial, in the place of the first: the median counts, and every round
/// is among the repetitions.
fn rounds_together(trials: Vec<Trial>) -> Vec<Trial> {
    if trials.iter().all(|trial| trial.round == 0) {
        return trials;
    }
    let mut groups = Groups::of(&trials);
    let mut together: Vec<Trial> = Vec::with_capacity(trials.len());
    let mut first: HashMap<(usize, String), usize> = HashMap::new();
    for mut trial in trials {
        if trial.round == 0 {
            together.push(trial);
            continue;
        }
        trial.round = 0;
        let group = groups.place(&trial.setting);
        let key = (group, format!("{:?}", trial.configuration));
        match first.get(&key) {
            None => {
                for metric in trial.outcome.metrics.values_mut() {
                    metric.repetitions = vec![metric.value];
                }
                trial.setting = groups.setting(group, trial.setting);
                first.insert(key, together.len());
                together.push(trial);
            }
            Some(&place) => {
                let outcome = &mut together[place].outcome;
                for (name, metric) in trial.outcome.metrics {
                    let all = outcome
                        .metrics
                        .entry(name)
                        .or_insert_with(|| Metric { unit: metric.unit.clone(), ..Metric::default() });
                    all.repetitions.push(metric.value);
                    all.value = median(all.repetitions.clone()).unwrap_or(metric.value);
                }
            }
        }
    }
    together
}

/// Settings of rounds that are one measurement: those that agree, once what one of them does not know is taken from the
/// others. A measurement that was begun by an earlier version, which said less, goes on in a setting that says more.
struct Groups {
    merged: Vec<Arc<Setting>>,
    places: HashMap<*const Setting, usize>,
}

impl Groups {
    fn of(trials: &[Trial]) -> Groups {
        let mut groups = Groups { merged: Vec::new(), places: HashMap::new() };
        trials.iter().filter(|trial| trial.round > 0).for_each(|trial| {
            groups.place(&trial.setting);
        });
        groups
    }

    /// The group of a setting.
    fn place(&mut self, setting: &Arc<Setting>) -> usize {
        if let Some(&place) = self.places.get(&Arc::as_ptr(setting)) {
            return place;
        }
        // Jobs are words for people.
        let own = Setting { job: String::new(), ..(**setting).clone() };
        let place = self.merged.iter().position(|merged| merged.agrees(&own)).unwrap_or_else(|| {
            self.merged.push(Arc::clone(setting));
            self.merged.len() - 1
        });
        let mut merged = (*self.merged[place]).clone();
        for name in FIELDS {
            if let Some(field) = merged.field(name).filter(|field| field.is_empty() || name == "job") {
                setting.text(name).clone_into(field);
            }
        }
        self.merged[place] = Arc::new(merged);
        self.places.insert(Arc::as_ptr(setting), place);
        place
    }

    /// What is known of a group; the setting itself where that is all.
    fn setting(&self, place: usize, own: Arc<Setting>) -> Arc<Setting> {
        if *self.merged[place] == *own { own } else { Arc::clone(&self.merged[place]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Outcome;

    fn trial(setting: &Arc<Setting>, pairs: &[(&str, i64)], seconds: f64) -> Trial {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::Integer(*value)));
        let outcome = Outcome::measured("seconds", seconds);
        Trial { configuration: Configuration::of(pairs), outcome, setting: Arc::clone(setting), round: 0 }
    }

    fn setting(strategy: &str, machine: &str) -> Arc<Setting> {
        let (strategy, machine) = (strategy.to_owned(), machine.to_owned());
        Arc::new(Setting { program: "heat".to_owned(), strategy, machine, ..Setting::default() })
    }

    fn table(trials: Vec<Trial>) -> Joined {
        joined(Path::new("file"), Vec::new(), trials).unwrap()
    }

    #[test]
    fn several_strategies_and_machines_are_one_table() {
        let (one, other) = (setting("hhc", "A"), setting("overlapped", ""));
        let joined = table(vec![trial(&one, &[("st", 2)], 1.0), trial(&other, &[("depth", 3)], 2.0)]);
        let names: Vec<&str> = joined.parameters.iter().map(Parameter::name).collect();
        // One machine is known, the other may be the same.
        assert_eq!(names, ["st", "depth", "strategy"]);
        let none = Value::from(NONE);
        assert_eq!(joined.trials[0].configuration.values(), [Value::Integer(2), none.clone(), "hhc".into()]);
        assert_eq!(joined.trials[1].configuration.values(), [none, Value::Integer(3), "overlapped".into()]);
        let third = setting("hhc", "B");
        let mixed = table(vec![trial(&one, &[("machine", 2)], 1.0), trial(&third, &[("machine", 2)], 2.0)]);
        assert_eq!(mixed.mixed[0].parameter, "machine_");
        assert_eq!(mixed.mixed[0].values, [("A".to_owned(), 1), ("B".to_owned(), 1)]);
    }

    #[test]
    fn trials_without_parameters_have_one() {
        let naive = setting("naive", "A");
        let joined = table(vec![trial(&naive, &[], 1.0), trial(&naive, &[], 2.0)]);
        assert_eq!((joined.parameters.len(), joined.parameters[0].name()), (1, "strategy"));
        assert!(joined.mixed.is_empty() && joined.trials.len() == 2);
    }

    #[test]
    fn rounds_are_repetitions() {
        let one = setting("hhc", "A");
        let round = |st, seconds, round| Trial { round, ..trial(&one, &[("st", st)], seconds) };
        let joined = table(vec![round(1, 3.0, 1), round(2, 1.0, 1), round(1, 5.0, 2), round(1, 4.0, 3)]);
        let seconds = &joined.trials[0].outcome.metrics["seconds"];
        assert_eq!((seconds.value, seconds.repetitions.as_slice()), (4.0, &[3.0, 5.0, 4.0][..]));
        assert_eq!(joined.trials.len(), 2);
        // Begun without knowing the machine, gone on with on one; then on another.
        let [none, one, other] = ["", "A", "B"].map(|machine| setting("hhc", machine));
        let round = |setting, seconds| Trial { round: 1, ..trial(setting, &[("st", 1)], seconds) };
        let joined = table(vec![round(&none, 1.0), round(&one, 2.0), round(&other, 9.0)]);
        let times = |at: usize| joined.trials[at].outcome.metrics["seconds"].repetitions.clone();
        assert_eq!((times(0), times(1)), (vec![1.0, 2.0], vec![9.0]));
        assert_eq!(joined.trials[0].setting.machine, "A");
    }
}
