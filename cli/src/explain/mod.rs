//! `tilewright explain`: what decides the speed of measured designs, as a regression tree.

mod accuracy;
mod arguments;
mod drawing;
mod explanation;
mod report;

pub use arguments::ExplainArguments;
pub use report::ExplainReport;

use crate::error::{Error, Result};
use crate::outputs;
use crate::progress::Session;
use arguments::Nodes;
use execution::output_file;
use explanation::Explanation;
use plots::figures::learning;
use report::{BestLeaf, LinearNodes, MetricReport, SplitEntry};
use std::io::Write;
use std::path::{Path, PathBuf};
use tilewright::state;
use tilewright::text::count;
use tuner::Value;
use tuner::recorded::roles::Named;
use tuner::recorded::{Format, Mixed, ReadOptions, Recorded, Roles};
use tuner::starchart::accuracy::draw;
use tuner::starchart::draw::Drawing;
use tuner::starchart::iterative::{self, IterativeOptions};
use tuner::starchart::model::{ModelTree, model_tree};
use tuner::starchart::targets::{Meeting, Summary, meeting};
use tuner::starchart::{Data, DataOptions, Goal, Source, Table, Tree, grow, importance};

/// Leaves of the text tree, and of drawings, unless --leaves says otherwise.
const TEXT_LEAVES: usize = 12;
const DRAWN_LEAVES: usize = 60;
/// Subspaces that meet all targets in the report.
const MOST_MEETINGS: usize = 20;

/// Explains trials.
///
/// # Errors
/// Files that cannot be read, unknown metrics and parameters, expressions that cannot be understood, no successful trial.
pub fn explain(arguments: &ExplainArguments, session: &Session) -> Result<ExplainReport> {
    let files = arguments.files.iter().map(|text| {
        let (value, file) = named(text);
        Ok((value, state::trials_to_read(Path::new(&file))?))
    });
    let files: Vec<(Option<Value>, PathBuf)> = files.collect::<Result<_>>()?;
    let inputs: Vec<PathBuf> = files.iter().map(|(_, path)| path.clone()).collect();
    let written = [("--dot", &arguments.dot), ("--svg", &arguments.svg), ("--curve", &arguments.curve)];
    outputs::check(&outputs::given(written), &inputs)?;
    let recordings = session.stage("reading", || read(arguments, files))?;
    let asked = metrics(arguments, &recordings);
    let options = |condition: Option<String>| DataOptions {
        metrics: asked.iter().chain(arguments.target.iter().map(|target| &target.metric)).cloned().collect(),
        join: Some(arguments.join.clone()),
        categorical: arguments.categorical.clone(),
        condition,
    };
    let sources: Vec<Source<'_>> =
        recordings.iter().map(|(value, recorded)| Source::of(recorded, value.clone())).collect();
    let mut data = Data::new(&sources, &options(arguments.condition.clone()))?;
    let everywhere = match arguments.condition {
        Some(_) => Some(Data::new(&sources, &options(None))?),
        None => None,
    };
    if arguments.tree.nodes == Nodes::Linear {
        data.table = data.table.with_alignments();
    }
    let explanation = Explanation { arguments, data: &data, goal: goal(arguments) };
    let mut reports = Vec::new();
    for at in 0..asked.len() {
        reports.push(explanation.metric(at, everywhere.as_ref(), session)?);
    }
    let targets = session.stage("targets", || explanation.targets(asked.len()))?;
    let title = title(&recordings, &data);
    let files = explanation.draw(&title, &reports)?;
    let (first, others) = (reports.remove(0), reports);
    recordings.iter().for_each(|(_, recorded)| session.tell_damage(&recorded.damage));
    Ok(ExplainReport {
        title,
        roles: roles(&recordings, &arguments.join),
        mixed: mixed(&recordings),
        files: recordings.iter().map(|(_, recorded)| recorded.path.clone()).collect(),
        trials: data.table.rows(),
        failed: data.failed.clone(),
        unmeasured: data.unmeasured,
        outside: data.outside,
        left_out: data.left_out(),
        condition: arguments.condition.clone(),
        metric: first,
        others,
        targets: arguments.target.clone(),
        meeting: targets,
        written: files,
    })
}

/// What the columns of the files are, and the parameter that tells several files apart.
fn roles(recordings: &[(Value, Recorded)], join: &str) -> Roles {
    let mut roles = Roles::joined(recordings.iter().map(|(_, recorded)| &recorded.roles));
    if recordings.len() > 1 {
        roles.parameters.push(Named::new(join, "tells the files apart, by --join"));
    }
    roles
}

/// In what the settings of trials of one file differ.
fn mixed(recordings: &[(Value, Recorded)]) -> Vec<Mixed> {
    let all = recordings.iter().flat_map(|(_, recorded)| &recorded.mixed);
    all.cloned().collect()
}

fn goal(arguments: &ExplainArguments) -> Goal {
    if arguments.maximize { Goal::Maximize } else { Goal::Minimize }
}

/// The files with the value of the joining parameter for each.
/// The value and the path of a file: `1024=small.csv` is the file small.csv of value 1024.
fn named(text: &str) -> (Option<Value>, String) {
    match text.split_once('=') {
        Some((value, file)) if !Path::new(text).exists() && !value.is_empty() => {
            (Some(Value::parse(value)), file.to_owned())
        }
        _ => (None, text.to_owned()),
    }
}

fn read(
    arguments: &ExplainArguments,
    files: Vec<(Option<Value>, PathBuf)>,
) -> Result<Vec<(Value, Recorded)>> {
    let targets = arguments.target.iter().map(|target| target.metric.clone());
    let metrics: Vec<String> = arguments.metric.iter().cloned().chain(targets).collect();
    let options = ReadOptions {
        no_response: !metrics.is_empty(),
        metrics,
        parameters: arguments.columns.parameters.clone(),
        status: arguments.columns.status.clone(),
        ..ReadOptions::default()
    };
    let mut recordings = Vec::new();
    for (value, file) in files {
        let recorded = Recorded::open(&file, &options)?;
        if recorded.format == Format::T1 {
            let file = file.display();
            return Err(Error::wrong_input(format!("{file} describes a tuning problem and has no trials"))
                .hint("name a file with measurements: CSV, a Kernel Tuner cache, or T4"));
        }
        recordings.push((value, recorded));
    }
    let devices: Vec<String> = recordings.iter().map(|(_, recorded)| recorded.device.clone()).collect();
    let distinct =
        |device: &String| !device.is_empty() && devices.iter().filter(|other| *other == device).count() == 1;
    let tell = |(value, recorded): (Option<Value>, Recorded)| {
        let stem =
            recorded.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = stem.split('.').next().unwrap_or_default().to_owned();
        let name = if devices.iter().all(distinct) { recorded.device.clone() } else { stem };
        (value.unwrap_or(Value::Text(name)), recorded)
    };
    let recordings: Vec<(Value, Recorded)> = recordings.into_iter().map(tell).collect();
    for (at, (value, _)) in recordings.iter().enumerate() {
        if recordings[..at].iter().any(|(other, _)| other.same(value)) {
            return Err(Error::wrong_input(format!(
                "two files have the same value {value} of `{}`",
                arguments.join
            ))
            .hint("write VALUE=FILE for each file, such as A100=first.json"));
        }
    }
    Ok(recordings)
}

/// The metrics asked for, or that of the first file.
fn metrics(arguments: &ExplainArguments, recordings: &[(Value, Recorded)]) -> Vec<String> {
    if !arguments.metric.is_empty() {
        return arguments.metric.clone();
    }
    let from_targets = arguments.target.first().map(|target| target.metric.clone());
    let from_file = recordings.first().map(|(_, recorded)| recorded.response.clone());
    from_targets.or(from_file).into_iter().collect()
}

fn title(recordings: &[(Value, Recorded)], data: &Data) -> String {
    let names: Vec<String> = recordings
        .iter()
        .map(|(value, recorded)| match (recorded.kernel.as_str(), recordings.len()) {
            ("", 1) => file_name(&recorded.path),
            (kernel, 1) if recorded.device.is_empty() => kernel.to_owned(),
            (kernel, 1) => format!("{kernel} on {}", recorded.device),
            _ => value.to_string(),
        })
        .collect();
    format!("{}: {}", names.join(", "), count(data.table.rows() as u64, "trial", "trials"))
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// A tree that is grown: with means, or with linear models.
struct Grown {
    /// With the counts and means of the metric itself.
    tree: Tree,
    linear: Option<ModelTree>,
}

impl Explanation<'_> {
    /// The rows that the tree is grown on.
    fn rows(&self, response: &[f64]) -> Result<Vec<u32>> {
        let pool: Vec<u32> = (0..self.data.table.rows() as u32).collect();
        let accuracy = &self.arguments.accuracy;
        let Some(samples) = accuracy.samples else { return Ok(pool) };
        if samples == 0 || samples > pool.len() {
            let reason =
                format!("{samples} samples are asked for, and there are {} successful trials", pool.len());
            return Err(Error::wrong_input(reason));
        }
        let order = draw(&pool, accuracy.seed);
        if !accuracy.iterative {
            return Ok(order[..samples].to_vec());
        }
        let options = IterativeOptions::for_budget(samples, self.goal);
        Ok(iterative::sample_in_order(&self.data.table, response, &order, &options).rows)
    }

    fn grown(&self, table: &Table, response: &[f64], rows: &[u32]) -> Result<Grown> {
        Ok(match self.arguments.tree.nodes {
            Nodes::Means => Grown { tree: grow(table, response, rows, &self.grow_options())?, linear: None },
            Nodes::Linear => {
                let model = model_tree(table, response, rows, &self.model_options())?;
                Grown { tree: model.tree().with_response(table, response, rows), linear: Some(model) }
            }
        })
    }

    fn metric(&self, at: usize, everywhere: Option<&Data>, session: &Session) -> Result<MetricReport> {
        let (table, response) = (&self.data.table, &self.data.responses[at]);
        let rows = self.rows(&response.values)?;
        let Grown { tree, linear } =
            session.stage("growing", || self.grown(table, &response.values, &rows))?;
        let accuracy = session.stage("accuracy", || accuracy::measure(self, &response.values))?;
        let curve = session.stage("error curve", || accuracy::curve(self, &response.values))?;
        let global = match everywhere {
            Some(data) => {
                let all: Vec<u32> = (0..data.table.rows() as u32).collect();
                let tree = grow(&data.table, &data.responses[at].values, &all, &self.grow_options())?;
                Some(importance(&data.table, &tree))
            }
            None => None,
        };
        let shown = tree.overview(self.arguments.leaves.unwrap_or(TEXT_LEAVES), self.goal);
        let splits = tree.nodes().iter().enumerate().filter_map(|(at, node)| {
            let split = node.split.as_ref()?;
            Some(SplitEntry::new(table, &tree, at, split))
        });
        Ok(MetricReport {
            metric: response.name.clone(),
            unit: response.unit.clone(),
            samples: rows.len(),
            leaves: tree.leaf_count(),
            depth: tree.depth(),
            splits: splits.collect(),
            median_relative_error: accuracy.as_ref().map(|accuracy| accuracy.median_relative_error),
            accuracy,
            best_leaf: BestLeaf::new(table, &tree, tree.best_leaf(self.goal), self.goal),
            best_shown: BestLeaf::new(table, &shown, shown.best_leaf(self.goal), self.goal),
            importance: importance(table, &tree),
            importance_everywhere: global,
            curve,
            linear: linear.as_ref().map(|model| LinearNodes {
                chosen: model.chosen().clone(),
                terms: model.terms().into_iter().filter(|(_, coefficient)| *coefficient != 0.0).collect(),
            }),
            drawn: self.drawing_text(response.name.as_str(), &shown, tree.leaf_count()),
            tree,
        })
    }

    fn drawing<'b>(&'b self, title: &str, metric: String, tree: &'b Tree, grown: usize) -> Drawing<'b> {
        Drawing {
            title: title.to_owned(),
            metric,
            table: &self.data.table,
            tree,
            goal: self.goal,
            leaves_grown: grown,
        }
    }

    fn drawing_text(&self, metric: &str, shown: &Tree, grown: usize) -> String {
        let drawing = self.drawing("", metric.to_owned(), shown, grown);
        tuner::starchart::draw::text(&drawing, crate::report::width())
    }

    /// The subspaces that meet all targets.
    fn targets(&self, first: usize) -> Result<Vec<Meeting>> {
        let targets = &self.arguments.target;
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        let table = &self.data.table;
        let rows: Vec<u32> = (0..table.rows() as u32).collect();
        let responses: Vec<&[f64]> =
            self.data.responses[first..].iter().map(|response| response.values.as_slice()).collect();
        let trees: Vec<Tree> = responses
            .iter()
            .map(|response| Ok(grow(table, response, &rows, &self.grow_options())?))
            .collect::<Result<_>>()?;
        let summary = if self.arguments.worst { Summary::Worst } else { Summary::Mean };
        let mut found = meeting(table, &rows, &trees, &responses, targets, summary);
        found.truncate(MOST_MEETINGS);
        Ok(found)
    }

    /// Writes the drawings of the first metric.
    fn draw(&self, title: &str, reports: &[MetricReport]) -> Result<Vec<PathBuf>> {
        let Some(first) = reports.first() else { return Ok(Vec::new()) };
        let shown = first.tree.overview(self.arguments.leaves.unwrap_or(DRAWN_LEAVES), self.goal);
        let metric = if first.unit.is_empty() {
            first.metric.clone()
        } else {
            format!("{} in {}", first.metric, first.unit)
        };
        let drawing = self.drawing(title, metric, &shown, first.leaves);
        let tree = drawing::tree(&drawing);
        if let Some(path) = &self.arguments.dot {
            output_file::write(path, |file| file.write_all(tree.dot().as_bytes()))?;
        }
        if let Some(path) = &self.arguments.svg {
            crate::drawing::write(path, tree.svg())?;
        }
        if let Some(path) = &self.arguments.curve {
            let curve = drawing::trained(first.curve.as_deref().unwrap_or_default());
            let title = format!("{title}, {}", first.metric);
            crate::drawing::write(path, learning(&title, &curve, self.arguments.accuracy.until).svg())?;
        }
        let written = [&self.arguments.dot, &self.arguments.svg, &self.arguments.curve];
        Ok(written.into_iter().flatten().cloned().collect())
    }
}
