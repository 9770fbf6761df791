//! Commands as a workload: variants are run, and what they print is measured.
//!
//! Commands are given to `sh -c` in the folder of the description; `{input}` is one word, whatever the input is called. Exit
//! codes other than 0 are failures: 65 says that the variant cannot do this input, 67 that its result is wrong or did not
//! converge.

use crate::csv_table::{self, Columns};
use crate::description::{Description, INPUT, Reading, Source, Variant, inputs};
use crate::error::{AdaptiveError, Result};
use crate::instance;
use crate::tune::{Evaluated, Workload};
use safe_io::checksum;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use toolchain::child::{self, End, Keep, Limits};
use toolchain::machine::{cpu_name, processor_id};
use trials::setting::COMMAND;
use trials::{Metric, Outcome, Parameter, Setting, Status, Value};
use tuner::evaluator::CommandLine;
use tuner::expression::Expression;
use tuner::{Point, Space};

/// How much of the end of each output is kept.
const MOST_OUTPUT: usize = 1 << 20;
/// Characters of a message that a trial keeps.
const MOST_MESSAGE: usize = 1000;
/// The time of a build.
const BUILD: Duration = Duration::from_secs(3600);

/// Where a group of features comes from.
enum Origin {
    Command(Box<Places>),
    Table(HashMap<String, Vec<f64>>),
}

/// What a command is made for: inputs, and parameters of a variant.
struct Places {
    line: CommandLine,
    space: Space,
}

/// A variant of the description.
struct Line {
    places: Places,
    constraint: Option<Expression>,
    /// Its parameters, and the values with which a search begins.
    parameters: Option<(Space, Point)>,
}

/// A variant of the workload: one of the description, with values of its parameters.
#[derive(Clone)]
struct Instance {
    line: usize,
    point: Option<Point>,
}

/// A description, ready to be measured.
pub struct Commands {
    description: Description,
    folder: PathBuf,
    inputs: Vec<String>,
    families: Vec<String>,
    /// Names of the instances.
    variants: Vec<String>,
    instances: Vec<Instance>,
    features: Vec<String>,
    lines: Vec<Line>,
    origins: Vec<Origin>,
    training: usize,
    built: bool,
}

/// What a command gave.
struct Ran {
    end: End,
    stdout: String,
    stderr: String,
    took: Duration,
}

impl Commands {
    /// The commands of a description, for its training inputs and then its test inputs; `more` are further inputs.
    ///
    /// # Errors
    /// Patterns that no file fits, commands and constraints that cannot be understood, tables without a column.
    pub fn new(path: &Path, description: Description, more: &[String]) -> Result<Commands> {
        let folder = path.parent().filter(|own| *own != Path::new("")).unwrap_or(Path::new(".")).to_owned();
        let mut all = inputs(path, &folder, &description.inputs.training)?;
        let training = all.len();
        let known: std::collections::HashSet<String> = all.iter().cloned().collect();
        let tests = inputs(path, &folder, &description.inputs.test)?;
        if let Some(both) = tests.iter().find(|test| known.contains(*test)) {
            let reason = format!("input `{both}` is for training and for the test");
            return Err(AdaptiveError::malformed(
                path,
                "",
                reason,
                "a test on training inputs proves nothing",
            ));
        }
        all.extend(tests);
        for input in more {
            if !all.contains(input) {
                all.push(input.clone());
            }
        }
        let mut levels: Vec<Value> = all.iter().map(|input| Value::Text(input.clone())).collect();
        if levels.is_empty() {
            levels.push(Value::Text(INPUT.to_owned()));
        }
        let input = Parameter::categorical(INPUT, levels)?;
        let places = |command: &str, parameters: &[Parameter]| {
            let all: Vec<Parameter> = [std::slice::from_ref(&input), parameters].concat();
            // Points of it are made one by one: which go together is said elsewhere.
            let first = Point::new(vec![0; all.len()]);
            let space = Space::of_points(all, [first])?;
            Ok::<Places, AdaptiveError>(Places { line: CommandLine::new(command, &space)?, space })
        };
        let features = description.feature_names();
        let names: Vec<&str> = features.iter().map(String::as_str).collect();
        let constraint = |variant: &crate::description::Variant| {
            let parsed = variant.constraint.as_ref().map(|text| Expression::parse(text, &names)).transpose();
            parsed.map_err(|error| {
                let reason = format!("the constraint of variant `{}`: {error}", variant.name);
                AdaptiveError::malformed(path, "", reason, "constraints are expressions over features")
            })
        };
        let line = |variant: &Variant| {
            let parameters = parameters(variant)?;
            let own = parameters.as_ref().map_or(&[][..], |(space, _)| space.parameters());
            let places = places(&variant.command, own)?;
            Ok(Line { places, constraint: constraint(variant)?, parameters })
        };
        let lines: Vec<Line> = description.variants.iter().map(line).collect::<Result<_>>()?;
        let mut origins = Vec::new();
        for group in &description.features {
            origins.push(match (&group.command, &group.table) {
                (Some(command), _) => Origin::Command(Box::new(places(command, &[])?)),
                (None, Some(table)) => Origin::Table(table_of(&folder.join(table), &group.names)?),
                (None, None) => Origin::Table(HashMap::new()),
            });
        }
        let family = |input: &String| {
            let parent = Path::new(input).parent().and_then(Path::file_name);
            parent.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let mut commands = Commands {
            families: all.iter().map(family).collect(),
            variants: Vec::new(),
            instances: Vec::new(),
            inputs: all,
            description,
            folder,
            features,
            lines,
            origins,
            training,
            built: false,
        };
        for at in 0..commands.lines.len() {
            let point = commands.lines[at].parameters.as_ref().map(|(_, start)| start.clone());
            commands.add(Instance { line: at, point });
        }
        Ok(commands)
    }

    /// Whether variants have parameters.
    pub fn has_parameters(&self) -> bool {
        self.lines.iter().any(|line| line.parameters.is_some())
    }

    /// The place of an instance, which is added where it is new.
    fn add(&mut self, instance: Instance) -> usize {
        let variant = &self.description.variants[instance.line].name;
        let name = match (&self.lines[instance.line].parameters, &instance.point) {
            (Some((space, _)), Some(point)) => instance::name(variant, space, point),
            _ => variant.clone(),
        };
        self.variants.iter().position(|own| *own == name).unwrap_or_else(|| {
            self.variants.push(name);
            self.instances.push(instance);
            self.variants.len() - 1
        })
    }

    /// Places of the training inputs.
    pub fn training(&self) -> Vec<usize> {
        (0..self.training).collect()
    }

    /// Places of all other inputs.
    pub fn others(&self) -> Vec<usize> {
        (self.training..self.inputs.len()).collect()
    }

    /// The description.
    pub fn description(&self) -> &Description {
        &self.description
    }

    fn shell(&self, text: &str, environment: Vec<(String, String)>, time: Duration) -> Result<Ran> {
        let mut command = Command::new("sh");
        command.args(["-c", text]).envs(environment).current_dir(&self.folder);
        let keep = Keep::Last(MOST_OUTPUT);
        let limits = Limits { stdout: keep, stderr: keep, ..Limits::of_time(time) };
        let start = Instant::now();
        let ended = child::run(&mut command, &limits).map_err(|error| {
            AdaptiveError::request(format!("cannot start `sh` in {}: {error}", self.folder.display()), "")
        })?;
        if ended.end == End::Stopped {
            return Err(AdaptiveError::Interrupted);
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Ran {
            end: ended.end,
            stdout: text(&ended.stdout),
            stderr: text(&ended.stderr),
            took: start.elapsed(),
        })
    }

    fn run(&self, places: &Places, input: usize, parameters: &[Value]) -> Result<Ran> {
        let Places { line, space } = places;
        let input = Value::Text(self.inputs[input].clone());
        let point = space.point(&[&[input], parameters].concat())?;
        let time = Duration::from_secs_f64(self.description.timeout);
        self.shell(&line.text(space, &point), line.environment(space, &point), time)
    }

    /// Runs the build command, once.
    ///
    /// # Errors
    /// Where it fails.
    pub fn build(&mut self) -> Result<()> {
        if let Some(build) = self.description.build.clone().filter(|_| !self.built) {
            self.must("build", &build)?;
        }
        self.built = true;
        Ok(())
    }

    /// Runs the clean command.
    ///
    /// # Errors
    /// Where it fails.
    pub fn clean(&self) -> Result<()> {
        self.description.clean.as_ref().map_or(Ok(()), |clean| self.must("clean", clean))
    }

    fn must(&self, what: &str, command: &str) -> Result<()> {
        let ran = self.shell(command, Vec::new(), BUILD)?;
        if matches!(ran.end, End::Exited(status) if status.success()) {
            return Ok(());
        }
        let why = last_line(&ran.stderr).unwrap_or_else(|| "it says nothing".to_owned());
        let hint = format!("try `{command}` in {}", self.folder.display());
        Err(AdaptiveError::infeasible(format!("the {what} command failed: {why}"), hint))
    }

    /// One run of a variant.
    fn outcome(&self, ran: &Ran) -> Outcome {
        match ran.end {
            End::Exited(status) if status.success() => match self.metrics(ran) {
                Ok(metrics) => Outcome { metrics, ..Outcome::measured("", 0.0) },
                Err(reason) => Outcome::failed(Status::RunError, reason),
            },
            End::Exited(status) => {
                let named = match status.code() {
                    Some(65) => Status::Invalid,
                    Some(66) => Status::CompileError,
                    Some(67) => Status::WrongResult,
                    _ => Status::RunError,
                };
                let code = status.code().map_or("a signal".to_owned(), |code| format!("exit code {code}"));
                let said = last_line(&ran.stderr).map(|line| format!(": {line}")).unwrap_or_default();
                Outcome::failed(named, code + &said)
            }
            End::TimedOut | End::TooMuchOutput | End::Stopped => {
                let text = format!("it took longer than {} s", self.description.timeout);
                Outcome::failed(Status::Timeout, text)
            }
        }
    }

    fn metrics(&self, ran: &Ran) -> std::result::Result<BTreeMap<String, Metric>, String> {
        let metric = |value| Metric { value, ..Metric::default() };
        match &self.description.metrics {
            Reading::Named(Source::Time) => {
                let value =
                    Metric { value: ran.took.as_secs_f64(), unit: "s".to_owned(), ..Metric::default() };
                Ok(BTreeMap::from([("seconds".to_owned(), value)]))
            }
            Reading::Patterns(patterns) => patterns
                .iter()
                .map(|(name, pattern)| match matched(&ran.stdout, pattern) {
                    Some(value) => Ok((name.clone(), metric(value))),
                    None => Err(format!("no line of the output is `{pattern}`")),
                })
                .collect(),
            Reading::Output | Reading::Named(Source::Output) => {
                let numbers = numbers(&ran.stdout, &self.description.metric)?;
                Ok(numbers.into_iter().map(|(name, value)| (name, metric(value))).collect())
            }
        }
    }
}

fn last_line(text: &str) -> Option<String> {
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(last.chars().take(MOST_MESSAGE).collect())
}

/// The numbers of the last line: one of this name, or those of a JSON object.
fn numbers(output: &str, name: &str) -> std::result::Result<BTreeMap<String, f64>, String> {
    let last = last_line(output).unwrap_or_default();
    if let Some(value) = last.parse::<f64>().ok().filter(|value| value.is_finite()) {
        return Ok(BTreeMap::from([(name.to_owned(), value)]));
    }
    let object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&last);
    let numbers: BTreeMap<String, f64> =
        object.into_iter().flatten().filter_map(|(name, value)| Some((name, value.as_f64()?))).collect();
    if numbers.is_empty() {
        let shown: String = last.chars().take(80).collect();
        return Err(format!("the last line is no number and no JSON object with numbers: `{shown}`"));
    }
    Ok(numbers)
}

/// The number in the last line that fits a pattern.
fn matched(output: &str, pattern: &str) -> Option<f64> {
    let (before, behind) = pattern.split_once("{}")?;
    let number = |line: &str| {
        let rest = line.trim().strip_prefix(before.trim_start())?.strip_suffix(behind.trim_end())?;
        rest.trim().parse::<f64>().ok().filter(|value| value.is_finite())
    };
    output.lines().rev().find_map(number)
}

/// The parameters of a variant of a description, and the point at which a search begins.
fn parameters(variant: &Variant) -> Result<Option<(Space, Point)>> {
    if variant.parameters.is_empty() {
        return Ok(None);
    }
    let named = |(name, levels): (&String, &Vec<Value>)| Parameter::new(name.as_str(), levels.clone());
    let parameters = variant.parameters.iter().map(named).collect::<trials::Result<Vec<Parameter>>>()?;
    let space = Space::new(parameters, &variant.conditions)?;
    let stated: Vec<(String, Value)> = variant.start.clone().into_iter().collect();
    let start = instance::start(&variant.name, &space, &stated)?;
    Ok(Some((space, start)))
}

/// Features by input.
fn table_of(path: &Path, names: &[String]) -> Result<HashMap<String, Vec<f64>>> {
    // A column of features in the place of a variant: the table need not have one.
    let columns =
        Columns { features: names.to_vec(), variants: vec!["input".to_owned()], ..Columns::default() };
    let table = csv_table::read(path, &columns)?;
    Ok(table.rows.into_iter().map(|row| (row.input, row.features)).collect())
}

impl Workload for Commands {
    fn name(&self) -> &str {
        &self.description.name
    }

    fn variants(&self) -> &[String] {
        &self.variants
    }

    fn default_variant(&self) -> usize {
        let default = self.description.default_variant();
        let start = self.lines.get(default).and_then(|line| line.parameters.as_ref()).map(|(_, start)| start);
        let is_it = |own: &Instance| own.line == default && own.point.as_ref() == start;
        self.instances.iter().position(is_it).unwrap_or(0)
    }

    fn features(&self) -> &[String] {
        &self.features
    }

    fn inputs(&self) -> &[String] {
        &self.inputs
    }

    fn family(&self, input: usize) -> &str {
        &self.families[input]
    }

    fn evaluate(&mut self, input: usize) -> Result<Vec<Evaluated>> {
        self.build()?;
        let mut evaluated = Vec::new();
        for (group, origin) in self.description.features.iter().zip(&self.origins) {
            match origin {
                Origin::Command(places) => {
                    let ran = self.run(places, input, &[])?;
                    let good = matches!(ran.end, End::Exited(status) if status.success());
                    let first = group.names.first().map_or("", String::as_str);
                    let values = if good { numbers(&ran.stdout, first).ok() } else { None };
                    // All of the group are there when the command has ended. What it says of its own time leaves out how long
                    // a process takes to start.
                    let said = values.as_ref().and_then(|values| values.get("seconds").copied());
                    let said =
                        said.filter(|said| *said >= 0.0 && !group.names.iter().any(|name| name == "seconds"));
                    let share = said.unwrap_or(ran.took.as_secs_f64()) / group.names.len() as f64;
                    evaluated.extend(group.names.iter().map(|name| Evaluated {
                        value: values.as_ref().and_then(|values| values.get(name).copied()),
                        seconds: share,
                    }));
                }
                Origin::Table(table) => {
                    let known = table.get(&self.inputs[input]);
                    evaluated.extend((0..group.names.len()).map(|at| Evaluated {
                        value: known.and_then(|row| row.get(at).copied()).filter(|value| value.is_finite()),
                        seconds: 0.0,
                    }));
                }
            }
        }
        Ok(evaluated)
    }

    fn is_allowed(&mut self, _: usize, variant: usize, features: &[f64]) -> Result<bool> {
        let Some(constraint) = &self.lines[self.instances[variant].line].constraint else { return Ok(true) };
        if constraint.parameters().iter().any(|&at| !features[at].is_finite()) {
            return Ok(false);
        }
        let values: Vec<Value> = features.iter().map(|&value| Value::Real(value)).collect();
        constraint.holds(&|place| &values[place]).map_err(|error| {
            let reason =
                format!("the constraint of variant `{}` has no value: {error}", self.variants[variant]);
            AdaptiveError::request(reason, "look at the features")
        })
    }

    fn measure(&mut self, input: usize, variant: usize) -> Result<Outcome> {
        self.build()?;
        let mut best: Option<Outcome> = None;
        let Instance { line, point } = &self.instances[variant];
        let line = &self.lines[*line];
        let values = match (&line.parameters, point) {
            (Some((space, _)), Some(point)) => space.values(point),
            _ => Vec::new(),
        };
        for _ in 0..self.description.repeat {
            let ran = self.run(&line.places, input, &values)?;
            let outcome = self.outcome(&ran);
            if outcome.status != Status::Ok {
                return Ok(outcome.now());
            }
            let first = |outcome: &Outcome| {
                let metric =
                    outcome.metrics.get(&self.description.metric).or(outcome.metrics.values().next());
                metric.map_or(f64::INFINITY, |metric| metric.value)
            };
            let better = best.as_ref().is_none_or(|best| match self.description.maximize {
                true => first(&outcome) > first(best),
                false => first(&outcome) < first(best),
            });
            if better {
                best = Some(outcome);
            }
        }
        Ok(best.unwrap_or_else(|| Outcome::failed(Status::RunError, "it was not run")).now())
    }

    fn parameters(&self, variant: usize) -> Option<(&Space, &Point)> {
        let Instance { line, point } = self.instances.get(variant)?;
        let (space, _) = self.lines[*line].parameters.as_ref()?;
        Some((space, point.as_ref()?))
    }

    fn instance(&mut self, variant: usize, point: &Point) -> Result<usize> {
        let Instance { line, point: own } = self.instances[variant].clone();
        let point = own.map(|_| point.clone());
        Ok(self.add(Instance { line, point }))
    }

    fn adopt(&mut self, names: &[String]) {
        if !self.has_parameters() {
            return;
        }
        self.variants.clear();
        self.instances.clear();
        for name in names {
            for (at, variant) in self.description.variants.iter().enumerate() {
                let point = match &self.lines[at].parameters {
                    Some((space, _)) => instance::point(&variant.name, space, name).map(Some),
                    None => (variant.name == *name).then_some(None),
                };
                if let Some(point) = point {
                    self.variants.push(name.clone());
                    self.instances.push(Instance { line: at, point });
                    break;
                }
            }
        }
    }

    fn setting(&self) -> Setting {
        let own = &self.description;
        let commands = own.variants.iter().map(|variant| format!("{}\n{}", variant.name, variant.command));
        let features = own.features.iter().map(|group| format!("{group:?}"));
        let reading = format!("{:?} {} {}", own.metrics, own.timeout, own.repeat);
        let parts: Vec<String> = commands.chain(features).chain([reading]).collect();
        let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
        Setting {
            job: format!("variants of {}", own.name),
            program: own.name.clone(),
            source: checksum::of(&parts),
            backend: COMMAND.to_owned(),
            machine: format!("{} ({})", cpu_name(), processor_id()),
            by: "tilewright adaptive train".to_owned(),
            response: own.metric.clone(),
            ..Setting::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read() {
        assert_eq!(numbers("noise\n 2.5 \n\n", "seconds").unwrap()["seconds"], 2.5);
        assert_eq!(numbers("{\"joules\": 3, \"what\": \"x\"}", "seconds").unwrap()["joules"], 3.0);
        assert!(numbers("nothing", "seconds").is_err() && numbers("", "seconds").is_err());
        assert!(numbers("inf", "seconds").is_err());
        assert_eq!(matched("took 1 ms\ntook 2.5 ms\ndone", "took {} ms"), Some(2.5));
        assert_eq!(matched("seconds: 7", "seconds: {}"), Some(7.0));
        assert_eq!(matched("seconds: x", "seconds: {}"), None);
    }
}
