//! One measured configuration. A failed one is data as well.

use crate::entries::Entries;
use crate::setting::Setting;
use crate::value::Value;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a measurement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Measured, and right as far as was checked.
    Ok,
    /// Refused before it was compiled: a constraint of the device or of the program.
    Invalid,
    /// The compiler failed.
    CompileError,
    /// It failed while it ran.
    RunError,
    /// It ran, and the result was wrong.
    WrongResult,
    /// It took too long.
    Timeout,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 6] = [
        Status::Ok,
        Status::Invalid,
        Status::CompileError,
        Status::RunError,
        Status::WrongResult,
        Status::Timeout,
    ];

    /// As files name it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Invalid => "invalid",
            Status::CompileError => "compile-error",
            Status::RunError => "run-error",
            Status::WrongResult => "wrong-result",
            Status::Timeout => "timeout",
        }
    }

    /// The status of this name.
    pub fn named(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// A measured quantity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// What counts, often a mean or median of the repetitions; finite.
    pub value: f64,
    /// Every repetition, in the order measured; empty where they were not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repetitions: Vec<f64>,
    /// Its unit, such as `s` or `ms`; empty where it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
}

/// What came of measuring.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// Every measured quantity by name. A failed trial may have some, such as the time it took to compile.
    pub metrics: BTreeMap<String, Metric>,
    /// Why it failed.
    pub message: String,
    /// Date and time: seconds since 1970, or as the file has it; empty where it is not known.
    pub when: String,
}

impl Outcome {
    /// A success with one metric.
    pub fn measured(metric: &str, value: f64) -> Outcome {
        let metric = (metric.to_owned(), Metric { value, ..Metric::default() });
        let metrics = BTreeMap::from([metric]);
        Outcome { status: Status::Ok, metrics, message: String::new(), when: String::new() }
    }

    /// A failure.
    pub fn failed(status: Status, message: impl Into<String>) -> Outcome {
        Outcome { status, metrics: BTreeMap::new(), message: message.into(), when: String::new() }
    }

    /// Adds a metric with its unit.
    pub fn with(mut self, metric: &str, value: f64, unit: &str) -> Outcome {
        let value = Metric { value, repetitions: Vec::new(), unit: unit.to_owned() };
        self.metrics.insert(metric.to_owned(), value);
        self
    }

    /// The same, measured now.
    pub fn now(mut self) -> Outcome {
        self.when = now();
        self
    }

    /// Value of a metric; `None` where the trial failed or did not measure it.
    pub fn response(&self, metric: &str) -> Option<f64> {
        if self.status != Status::Ok {
            return None;
        }
        self.metrics.get(metric).map(|metric| metric.value)
    }
}

/// Seconds since 1970, as text: when something was measured.
pub fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map(|since| since.as_secs().to_string()).unwrap_or_default()
}

/// What was tried: values by name, in the order in which they are stated. Names are shared between trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    names: Arc<[String]>,
    values: Vec<Value>,
}

impl Configuration {
    /// These values of these names.
    ///
    /// # Panics
    /// Never; names without a value, and values without a name, are left out.
    pub fn new(names: Arc<[String]>, mut values: Vec<Value>) -> Configuration {
        values.truncate(names.len());
        let names = if values.len() < names.len() { names[..values.len()].into() } else { names };
        Configuration { names, values }
    }

    /// Pairs of a name and a value.
    pub fn of(pairs: impl IntoIterator<Item = (String, Value)>) -> Configuration {
        let (names, values): (Vec<String>, Vec<Value>) = pairs.into_iter().unzip();
        Configuration { names: names.into(), values }
    }

    /// The names.
    pub fn names(&self) -> &Arc<[String]> {
        &self.names
    }

    /// The values, in the order of the names.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.names.iter().position(|own| own == name).map(|place| &self.values[place])
    }

    /// The same with names that are shared, where others have them as well.
    pub(crate) fn sharing(self, shared: &mut Vec<Arc<[String]>>) -> Configuration {
        let known = shared.iter().find(|known| ***known == *self.names).cloned();
        let names = known.unwrap_or_else(|| {
            shared.push(Arc::clone(&self.names));
            self.names
        });
        Configuration { names, values: self.values }
    }
}

impl Serialize for Configuration {
    /// An object with the names in their order.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.names.iter().zip(&self.values))
    }
}

impl<'de> Deserialize<'de> for Configuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Ok(Configuration::of(Entries::<Value>::deserialize(deserializer)?.0))
    }
}

/// One measured configuration: what was tried, in which setting, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// What was tried.
    pub configuration: Configuration,
    /// What came of it.
    pub outcome: Outcome,
    /// What ran, and where and by what it was measured.
    pub setting: Arc<Setting>,
    /// 0 for a whole trial. Measurements that go round over many configurations keep every round as it comes; those of
    /// one configuration in one setting are [one trial](crate::Recording).
    pub round: u32,
}
