//! Descriptions of functions whose variants are whole commands, in TOML. `docs/adaptive.md` is the manual.

use crate::error::{AdaptiveError, Result};
use crate::instance::OPEN;
use crate::limits::{MOST_FEATURES, MOST_VARIANTS};
use crate::tune::{Levels, ParameterOptions};
use safe_io::input;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trials::Value;

/// Largest file.
const MOST_BYTES: u64 = 1 << 24;
/// Most inputs of a description.
const MOST_INPUTS: usize = 100_000;

/// The name of the input in commands.
pub const INPUT: &str = "input";

/// A description.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The function.
    pub name: String,
    /// What is optimised: a metric, or an expression over metrics.
    #[serde(default = "seconds")]
    pub metric: String,
    /// Whether greater values are better.
    #[serde(default)]
    pub maximize: bool,
    /// The greatest value of metrics, such as an error, or of expressions over metrics: a result with more is wrong.
    #[serde(default)]
    pub bounds: BTreeMap<String, f64>,
    /// Seconds that a command may take.
    #[serde(default = "minute")]
    pub timeout: f64,
    /// Runs of each variant on each input; the run with the least first metric counts.
    #[serde(default = "one")]
    pub repeat: u32,
    /// How metrics are read.
    #[serde(default)]
    pub metrics: Reading,
    /// A command that is run before anything is measured.
    pub build: Option<String>,
    /// A command that is run afterwards.
    pub clean: Option<String>,
    /// How parameters of variants are searched.
    #[serde(default)]
    pub search: Search,
    /// Clock frequencies that variants are run at.
    pub frequencies: Option<Frequencies>,
    /// The inputs.
    #[serde(default)]
    pub inputs: Inputs,
    /// What is known of inputs.
    #[serde(default)]
    pub features: Vec<Features>,
    /// The variants.
    pub variants: Vec<Variant>,
}

fn seconds() -> String {
    "seconds".to_owned()
}

fn minute() -> f64 {
    60.0
}

fn one() -> u32 {
    1
}

/// How metrics are read.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(untagged)]
pub enum Reading {
    /// `"output"` or `"time"`.
    Named(Source),
    /// For each metric a line of the output with `{}` where the number stands, such as `took {} ms`.
    Patterns(BTreeMap<String, String>),
    /// The last line.
    #[serde(skip)]
    #[default]
    Output,
}

/// A source of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The last line of the output: a number, or a JSON object with metrics by name.
    Output,
    /// How long the command took: `seconds`.
    Time,
}

/// Inputs: patterns of files, relative to the description, or plain texts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// Those that models are trained on.
    #[serde(default)]
    pub training: Vec<String>,
    /// Those that they are tested on.
    #[serde(default)]
    pub test: Vec<String>,
}

/// Clock frequencies.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frequencies {
    /// Whose.
    #[serde(default)]
    pub of: ClockOwner,
    /// In MHz; some of all that there are, where it is empty.
    #[serde(default)]
    pub mhz: Vec<u32>,
}

/// What has a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClockOwner {
    /// The processors, by cpufreq.
    #[default]
    Cpu,
    /// The GPU, by NVML.
    Gpu,
}

/// How parameters of variants are searched; what is not stated is as in [`ParameterOptions`].
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// `restricted` or `multilevel`.
    pub levels: Option<Levels>,
    /// The searcher.
    pub method: Option<String>,
    /// Most instances that one search measures.
    pub budget: Option<u32>,
    /// Most instances that are kept.
    pub keep: Option<u32>,
    /// Expressions over features: where they are the same, inputs share what a search found.
    #[serde(default)]
    pub classes: Vec<String>,
}

impl Search {
    /// The same with what is not stated.
    pub fn options(&self, seed: u64) -> ParameterOptions {
        let usual = ParameterOptions::default();
        ParameterOptions {
            levels: self.levels.unwrap_or(usual.levels),
            method: self.method.clone().unwrap_or(usual.method),
            budget: self.budget.map_or(usual.budget, |budget| budget as usize),
            keep: self.keep.map_or(usual.keep, |keep| keep as usize),
            classes: self.classes.clone(),
            seed,
        }
    }
}

/// Features that come together.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// Their names.
    pub names: Vec<String>,
    /// A command whose last line is a number, for one feature, or a JSON object.
    pub command: Option<String>,
    /// A CSV file with a column `input` and one for each of them.
    pub table: Option<PathBuf>,
}

/// A variant.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Its command; `{input}` is the input, and names of parameters are their values.
    pub command: String,
    /// An expression over features; where it is false the variant is not run.
    pub constraint: Option<String>,
    /// Its parameters, each with its levels.
    #[serde(default)]
    pub parameters: BTreeMap<String, Vec<Value>>,
    /// Expressions over the parameters, which values that go together satisfy.
    #[serde(default, rename = "where")]
    pub conditions: Vec<String>,
    /// The values with which a search begins; of other parameters the first level.
    #[serde(default)]
    pub start: BTreeMap<String, Value>,
    /// Whether it is right for every input; the first one where none says so.
    #[serde(default)]
    pub default: bool,
}

impl Description {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, or is no description.
    pub fn read(path: &Path) -> Result<Description> {
        let text =
            input::read_text(path, MOST_BYTES).map_err(|error| AdaptiveError::unreadable(path, error))?;
        Description::parse(path, &text)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Text that is no description, with the place.
    pub fn parse(path: &Path, text: &str) -> Result<Description> {
        let description: Description = toml::from_str(text).map_err(|error| {
            let line =
                error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count());
            let place = error.span().map(|_| format!("line {}", line + 1)).unwrap_or_default();
            AdaptiveError::malformed(path, place, error.message(), "docs/adaptive.md describes these files")
        })?;
        description.check(path)?;
        Ok(description)
    }

    fn check(&self, path: &Path) -> Result<()> {
        let wrong = |reason: String, hint: &str| Err(AdaptiveError::malformed(path, "", reason, hint));
        let features = self.feature_names();
        let variants = self.variant_names();
        if variants.is_empty() || variants.len() > MOST_VARIANTS {
            let reason = format!("{} variants, where 1 to {MOST_VARIANTS} can be", variants.len());
            return wrong(reason, "add `[[variants]]` with `name` and `command`");
        }
        if features.len() > MOST_FEATURES {
            return wrong(format!("{} features, which is more than {MOST_FEATURES}", features.len()), "");
        }
        for (what, names) in [("variants", &variants), ("features", &features)] {
            for (at, name) in names.iter().enumerate() {
                if name.is_empty() || names[..at].contains(name) {
                    return wrong(
                        format!("two {what} are named `{name}`, or one has no name"),
                        "rename one of them",
                    );
                }
            }
        }
        if self.variants.iter().filter(|variant| variant.default).count() > 1 {
            return wrong("two variants are the default".to_owned(), "one is run where nothing else may be");
        }
        let plain = Path::new(&self.name).file_name().is_some_and(|own| own == self.name.as_str());
        if !plain {
            return wrong(
                format!("`{}` is no name", self.name),
                "give `name` a word: its model's file is named so",
            );
        }
        if !(self.timeout > 0.0 && self.timeout < 1e9) || self.repeat == 0 {
            return wrong("`timeout` or `repeat` is not positive".to_owned(), "leave it out");
        }
        for variant in &self.variants {
            let has = !variant.parameters.is_empty();
            if !has && (!variant.conditions.is_empty() || !variant.start.is_empty()) {
                let reason =
                    format!("variant `{}` has `where` or `start`, and no `parameters`", variant.name);
                return wrong(reason, "name the parameters and their levels");
            }
            if has && variant.name.contains(OPEN) {
                let reason = format!("variant `{}` has parameters, and a `{OPEN}` in its name", variant.name);
                return wrong(reason, "rename it: values of parameters stand behind that sign");
            }
            if variant.parameters.contains_key(INPUT) {
                let reason = format!("a parameter of variant `{}` is named `{INPUT}`", variant.name);
                return wrong(reason, "rename it: this is the input");
            }
        }
        if self.search.budget == Some(0)
            || self.search.keep.is_some_and(|keep| keep as usize >= MOST_VARIANTS)
        {
            let reason = format!("`budget` is 0, or `keep` is not below {MOST_VARIANTS}");
            return wrong(reason, "leave it out");
        }
        if let Some((name, bound)) = self.bounds.iter().find(|(_, bound)| !bound.is_finite()) {
            return wrong(format!("the bound of `{name}` is {bound}"), "give it a finite number");
        }
        for group in &self.features {
            if group.names.is_empty() || group.command.is_some() == group.table.is_some() {
                let names = group.names.join(", ");
                return wrong(
                    format!("the features {names} come from nothing, or from two sources"),
                    "give `[[features]]` its `names`, and `command` or `table`",
                );
            }
        }
        if let Reading::Patterns(patterns) = &self.metrics
            && let Some((name, _)) = patterns.iter().find(|(_, pattern)| pattern.matches("{}").count() != 1)
        {
            return wrong(
                format!("the pattern of metric `{name}` has not one `{{}}`"),
                "it stands for the number",
            );
        }
        Ok(())
    }

    /// Names of all features.
    pub fn feature_names(&self) -> Vec<String> {
        self.features.iter().flat_map(|group| group.names.iter().cloned()).collect()
    }

    /// Names of the variants.
    pub fn variant_names(&self) -> Vec<String> {
        self.variants.iter().map(|variant| variant.name.clone()).collect()
    }

    /// The variant that is right for every input.
    pub fn default_variant(&self) -> usize {
        self.variants.iter().position(|variant| variant.default).unwrap_or(0)
    }
}

/// The inputs of some patterns: files in the order of their names for a pattern with `*`, `?` or `[`, and any other text as it
/// is. An input that several patterns name is there once.
///
/// # Errors
/// A pattern that is none, or that no file fits; too many.
pub fn inputs(path: &Path, folder: &Path, patterns: &[String]) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for pattern in patterns {
        let wrong = |reason: String, hint: &str| AdaptiveError::malformed(path, "", reason, hint);
        if !pattern.contains(['*', '?', '[']) {
            if known.insert(pattern.clone()) {
                found.push(pattern.clone());
            }
            continue;
        }
        let whole = Path::new(&glob::Pattern::escape(&folder.to_string_lossy())).join(pattern);
        let files = glob::glob(&whole.to_string_lossy()).map_err(|error| {
            wrong(format!("`{pattern}` is no pattern: {error}"), "see the manual for patterns")
        })?;
        let before = found.len();
        for file in files.filter_map(std::result::Result::ok).filter(|file| file.is_file()) {
            let relative = file.strip_prefix(folder).unwrap_or(&file);
            let Some(name) = relative.to_str() else { continue };
            if known.insert(name.to_owned()) {
                found.push(name.to_owned());
            }
            if found.len() > MOST_INPUTS {
                return Err(wrong(format!("more than {MOST_INPUTS} inputs"), "take a sample of them"));
            }
        }
        if found.len() == before {
            let reason = format!("no further file fits `{pattern}`");
            return Err(wrong(reason, "patterns are relative to the folder of the description"));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOOD: &str = r#"
name = "sort"
timeout = 5
metrics = { seconds = "took {} s" }

[inputs]
training = ["a*.txt", "1000 uniform"]

[[features]]
names = ["n"]
command = "wc -l < {input}"

[[variants]]
name = "merge"
command = "sort --merge {input}"
constraint = "n < 100"

[[variants]]
name = "plain"
command = "sort {input}"
default = true
"#;

    fn parse(text: &str) -> Result<Description> {
        Description::parse(Path::new("sort.toml"), text)
    }

    #[test]
    fn mistakes_are_named() {
        let good = parse(GOOD).unwrap();
        assert_eq!((good.default_variant(), good.metric.as_str(), good.repeat), (1, "seconds", 1));
        assert!(matches!(
            parse(&GOOD.replace("{ seconds = \"took {} s\" }", "\"time\"")).unwrap().metrics,
            Reading::Named(Source::Time)
        ));
        for (from, to, why) in [
            ("timeout = 5", "timeot = 5", "line 3: unknown field `timeot`"),
            ("timeout = 5", "timeout = -1", "not positive"),
            ("timeout = 5", "timeout = \"5\"", "line 3: "),
            ("\"plain\"", "\"merge\"", "two variants are named `merge`"),
            ("constraint =", "default = true\nconstraint =", "two variants are the default"),
            ("command = \"wc -l < {input}\"", "", "from nothing"),
            ("took {} s", "took s", "has not one `{}`"),
            ("name = \"sort\"", "name = \"a/b\"", "no name"),
            ("[inputs]", "[inputs", "line 6: "),
        ] {
            let text = GOOD.replacen(from, to, 1);
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn patterns_are_relative() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a1.txt", "a2.txt", "b.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let inputs = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
            inputs(Path::new("t.toml"), folder.path(), &patterns)
        };
        assert_eq!(inputs(&["a*.txt", "x y", "?.txt", "x y"]).unwrap(), ["a1.txt", "a2.txt", "x y", "b.txt"]);
        assert!(inputs(&["c*"]).unwrap_err().to_string().contains("no further file fits `c*`"));
        assert!(inputs(&["a[1"]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn any_text_is_a_description_or_an_error(at in 0..400_usize, length in 0..40_usize, put in "\\PC{0,12}|[\\[\\]{}=\"\\n0-9.-]{0,8}") {
            let mut text = GOOD.to_owned();
            let from = at.min(text.len());
            let to = (from + length).min(text.len());
            text.replace_range(from..to, &put);
            let _ = parse(&text);
            let _ = parse(&put);
        }
    }
}
