//! `tilewright adaptive transfer`: a model for a machine from what was measured on others.

use super::arguments::{DeviceSelection, TransferArguments};
use super::source::told;
use super::train::kind;
use crate::error::{Error, Result};
use crate::outputs;
use crate::progress::Session;
use crate::report::{self, Report};
use adaptive::machines::{
    Fleet, LeftOut, Machine, SelectOptions, leave_out, select, similarities, train_for,
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
    /// The features of machines that it uses; null with `--leave-out`, where each machine has its own.
    pub features: Option<Vec<String>>,
    /// How alike the target and each source are in these features: the cosine of the angle between them.
    pub similarity: Vec<f64>,
    /// Each measured machine left out; null without `--leave-out`.
    pub left_out: Option<Vec<LeftOut>>,
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
        if arguments.dfs == DeviceSelection::None {
            return Err(Error::wrong_input("--leave-out compares both ways of selection; leave --dfs out"));
        }
        let left_out = session.stage("leave out", || leave_out(&fleet, &options, &selecting));
        return Ok(TransferReport {
            sources: names(&fleet.sources("")),
            left_out: Some(left_out.map_err(told)?),
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
    let features = match arguments.dfs {
        DeviceSelection::None => fleet.all_features(),
        DeviceSelection::Cv => {
            let all = fleet.all_features();
            session.stage("select", || select(&fleet, &sources, &all, &selecting)).map_err(told)?.features
        }
    };
    let trained =
        session.stage("train", || train_for(&fleet, &sources, machine, &features, &options)).map_err(told)?;
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
        left_out: None,
    })
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
                ("model", self.description.clone()),
                ("file", file.display().to_string()),
            ]);
        }
        let Some(left_out) = &self.left_out else { return report::pairs(&lines) };
        let head = ["left out", "inputs", "own", "all features", "selected", "majority", "random", "which"];
        let percent = |value: f64| format!("{:.1} %", 100.0 * value);
        let row = |one: &LeftOut| {
            vec![
                one.machine.clone(),
                one.inputs.to_string(),
                percent(one.own),
                percent(one.full),
                percent(one.selected),
                percent(one.majority),
                percent(one.random),
                one.features.join(", "),
            ]
        };
        let rows: Vec<Vec<String>> = left_out.iter().map(row).collect();
        let note =
            "of exhaustive search on the machine that was left out; own: trained there, in cross-validation";
        format!("{}\n{}\n{note}\n", report::pairs(&lines), report::table(&head, &rows, &[1, 2, 3, 4, 5, 6]))
    }
}
