//! `tilewright adaptive transfer`: a model for a machine from what was measured on others.

use super::arguments::{DeviceSelection, TransferArguments};
use super::source::told;
use super::train::kind;
use crate::error::Result;
use crate::outputs;
use crate::progress::Session;
use crate::report::{self, Report};
use adaptive::machines::{
    DeviceFeatures, Fleet, LeftOut, Machine, Profiled, SelectOptions, Sensitivity, leave_out, sensitivity,
    similarities, tune_from_source,
};
use adaptive::train::TrainOptions;
use adaptive::{Classifier, model_file};
use serde::Serialize;
use std::path::PathBuf;

/// The report of `adaptive transfer`.
#[derive(Debug, Serialize)]
pub struct TransferReport {
    /// The function.
    pub name: String,
    /// The machine that the model is for; null with `--leave-out`.
    pub target: Option<String>,
    /// The model's file; null with `--leave-out`.
    pub file: Option<PathBuf>,
    /// The model in a few words; empty with `--leave-out`.
    pub description: String,
    /// Machines with measurements that it was made of.
    pub sources: Vec<String>,
    /// The proxies that the variants are like, and how that came about; null where profiles were not asked.
    pub profiled: Option<Profiled>,
    /// The features of machines that it uses; null with `--leave-out`, where each machine has its own.
    pub features: Option<Vec<String>>,
    /// How alike the target and each source are in these features: the cosine of the angle between them.
    pub similarity: Vec<f64>,
    /// Each measured machine left out; null without `--leave-out`.
    pub left_out: Option<Vec<LeftOut>>,
    /// The same without one other machine each; empty without `--restricted`.
    pub restricted: Vec<Restricted>,
    /// How the best variants of machines differ; null without `--leave-out`.
    pub sensitivity: Option<Sensitivity>,
    /// Names of the variants.
    pub variants: Vec<String>,
}

/// Each measured machine left out where another one is missing.
#[derive(Debug, Serialize)]
pub struct Restricted {
    /// The one that is missing.
    pub without: String,
    /// The others.
    pub left_out: Vec<LeftOut>,
}

/// Trains, or leaves out.
///
/// # Errors
/// A file that is no fleet, an unknown machine, nothing measured on others.
pub fn transfer(arguments: &TransferArguments, session: &Session) -> Result<TransferReport> {
    let fleet = session.stage("read", || Fleet::read(&arguments.file)).map_err(told)?;
    let options = TrainOptions {
        kind: kind(arguments.classifier),
        folds: arguments.folds as usize,
        seed: arguments.seed,
        ..TrainOptions::default()
    };
    let mut selecting = SelectOptions { keep: arguments.keep as usize, ..SelectOptions::default() };
    (selecting.train.folds, selecting.train.seed) = (options.folds, options.seed);
    let names = |machines: &[&Machine]| machines.iter().map(|machine| machine.name.clone()).collect();
    let (Some(target), Some(output)) = (&arguments.target, &arguments.output) else {
        let left_out =
            session.stage("leave out", || leave_out(&fleet, &options, &selecting)).map_err(told)?;
        let mut restricted = Vec::new();
        for missing in fleet.sources("").into_iter().filter(|_| arguments.restricted) {
            let machines = fleet.machines.iter().filter(|own| own.name != missing.name).cloned().collect();
            let smaller = Fleet { machines, ..fleet.clone() };
            let left_out = session.stage("leave out", || leave_out(&smaller, &options, &selecting));
            restricted.push(Restricted { without: missing.name.clone(), left_out: left_out.map_err(told)? });
        }
        return Ok(TransferReport {
            sources: names(&fleet.sources("")),
            left_out: Some(left_out),
            restricted,
            sensitivity: Some(sensitivity(&fleet)),
            variants: variants(&fleet),
            profiled: None,
            name: fleet.name,
            target: None,
            file: None,
            description: String::new(),
            features: None,
            similarity: Vec::new(),
        });
    };
    let inputs: Vec<PathBuf> = fleet.files.iter().chain([&arguments.file]).cloned().collect();
    outputs::check(&[("--output", output.as_path())], &inputs)?;
    let machine = fleet.machine(target).map_err(told)?;
    let sources = fleet.sources(target);
    let how = match arguments.dfs {
        Some(DeviceSelection::None) => DeviceFeatures::default(),
        Some(DeviceSelection::Profile) => DeviceFeatures { by_profiles: true, by_search: false },
        Some(DeviceSelection::Cv) => DeviceFeatures { by_profiles: false, by_search: true },
        Some(DeviceSelection::Both) => DeviceFeatures { by_profiles: true, by_search: true },
        None => DeviceFeatures { by_profiles: fleet.profiles.is_some(), by_search: true },
    };
    let tuned =
        session.stage("select and train", || tune_from_source(&fleet, target, how, &options, &selecting));
    let (trained, chosen) = tuned.map_err(told)?;
    let features = chosen.features;
    session.stage("write", || model_file::write(output, &trained.model)).map_err(told)?;
    let all = similarities(&fleet, &features);
    let place = |machine: &Machine| fleet.machines.iter().position(|own| own.name == machine.name);
    let similarity = sources.iter().filter_map(|source| Some(all[place(machine)?][place(source)?]));
    Ok(TransferReport {
        name: fleet.name.clone(),
        target: Some(target.clone()),
        file: Some(output.clone()),
        description: trained.model.classifier.description(),
        sources: names(&sources),
        features: Some(features.iter().map(|&at| fleet.features[at].clone()).collect()),
        similarity: similarity.collect(),
        profiled: chosen.profiled,
        left_out: None,
        restricted: Vec::new(),
        sensitivity: None,
        variants: variants(&fleet),
    })
}

fn variants(fleet: &Fleet) -> Vec<String> {
    let table = fleet.machines.iter().find_map(|machine| machine.table.as_ref());
    table.map(|table| table.variants.clone()).unwrap_or_default()
}

/// The table of machines that were left out.
fn table(left_out: &[LeftOut]) -> String {
    let profiled = left_out.iter().any(|one| one.profiled.is_some());
    let percent = |value: f64| format!("{:.1} %", 100.0 * value);
    let mut head =
        vec!["left out", "inputs", "own", "all features", "selected", "majority", "random", "which"];
    if profiled {
        head.insert(4, "by profiles");
    }
    let row = |one: &LeftOut| {
        let mut row = vec![one.machine.clone(), one.inputs.to_string(), percent(one.own), percent(one.full)];
        row.extend(one.profiled.filter(|_| profiled).map(percent));
        row.extend([one.selected, one.majority, one.random].map(percent));
        row.push(one.features.join(", "));
        row
    };
    let rows: Vec<Vec<String>> = left_out.iter().map(row).collect();
    let numbers: Vec<usize> = (1..head.len() - 1).collect();
    report::table(&head, &rows, &numbers)
}

/// How the best variants of machines differ, in words and a table.
fn differences(found: &Sensitivity, variants: &[String]) -> String {
    let share = |value: f64| format!("{:.0} %", 100.0 * value);
    let mut lines = vec![(
        "machines differ",
        format!("in the best variant of {} of {} inputs", share(found.whole), found.inputs),
    )];
    let within = |(name, value): &(String, f64)| format!("{name} {}", share(*value));
    let generations: Vec<String> = found.generations.iter().map(within).collect();
    if !generations.is_empty() {
        lines.push(("in generations", generations.join(", ")));
    }
    let head: Vec<&str> =
        ["best variant on"].into_iter().chain(variants.iter().map(String::as_str)).collect();
    let row = |(name, counts): &(String, Vec<usize>)| {
        [name.clone()].into_iter().chain(counts.iter().map(ToString::to_string)).collect()
    };
    let rows: Vec<Vec<String>> = found.best.iter().map(row).collect();
    let right: Vec<usize> = (1..head.len()).collect();
    format!("{}\n{}", report::pairs(&lines), report::table(&head, &rows, &right))
}

impl Report for TransferReport {
    const SCHEMA: &'static str = "tilewright.adaptive-transfer/1";

    fn text(&self) -> String {
        let mut lines = vec![("function", self.name.clone())];
        if let (Some(target), Some(features), Some(file)) = (&self.target, &self.features, &self.file) {
            let similar: Vec<String> = self
                .sources
                .iter()
                .zip(&self.similarity)
                .map(|(name, cosine)| format!("{name} ({cosine:.2})"))
                .collect();
            let none = "none: the measured machines say nothing of what matters".to_owned();
            let features = if features.is_empty() { none } else { features.join(", ") };
            lines.extend([
                ("target", target.clone()),
                (
                    "sources",
                    format!(
                        "{}\nin brackets how alike they are to {target}: 1 for the same direction",
                        similar.join(", ")
                    ),
                ),
                ("features", features),
            ]);
            if let Some(profiled) = &self.profiled {
                lines.push(("variants are like", profiled.proxies.join(", ")));
            }
            lines.extend([("model", self.description.clone()), ("file", file.display().to_string())]);
        }
        let Some(left_out) = &self.left_out else { return report::pairs(&lines) };
        let note =
            "of exhaustive search on the machine that was left out; own: trained there, in cross-validation";
        let mut text = format!("{}\n{}\n{note}\n", report::pairs(&lines), table(left_out));
        for restricted in &self.restricted {
            text += &format!("\nwithout {}\n{}", restricted.without, table(&restricted.left_out));
        }
        if let Some(found) = &self.sensitivity {
            text += &format!("\n{}", differences(found, &self.variants));
        }
        text
    }
}
