//! `tilewright adaptive report`: a model against exhaustive search.

use super::arguments::ReportArguments;
use super::page::{self, Content};
use super::shown;
use super::source::{open, told};
use crate::error::Result;
use crate::outputs;
use crate::progress::Session;
use crate::report::{self, Report};
use adaptive::evaluate::{Evaluation, evaluate};
use adaptive::tune::Measured;
use adaptive::{Classifier, model_file};
use serde::Serialize;

/// The report of `adaptive report`.
#[derive(Debug, Serialize)]
pub struct EvaluationReport {
    /// The function.
    pub name: String,
    /// The model in a few words.
    pub description: String,
    /// Inputs that it was trained on.
    pub trained_on: usize,
    /// Trials that were measured; others stood in the store.
    pub measured: usize,
    /// What it is worth.
    #[serde(flatten)]
    pub evaluation: Evaluation,
}

/// Evaluates.
///
/// # Errors
/// A file that is no model, a source of other variants or features, no input that a variant solves.
pub fn evaluated(arguments: &ReportArguments, session: &Session) -> Result<EvaluationReport> {
    let model = model_file::read(&arguments.file).map_err(told)?;
    let read = [arguments.file.clone(), arguments.with.clone()];
    outputs::check(&outputs::given([("--html", &arguments.html)]), &read)?;
    let mut opened = open(&arguments.with, &arguments.source, &[])?;
    let inputs = if opened.test.is_empty() { opened.training.clone() } else { opened.test.clone() };
    let (objective, trials) = (opened.objective.clone(), opened.trials.clone());
    opened.workload().adopt(&model.variants);
    let (table, measured) = {
        let mut measured = Measured::new(opened.workload(), objective, trials.as_deref()).map_err(told)?;
        if let Some(store) = measured.repository() {
            session.tell_damage(store.damage());
        }
        session.stage("measure", || -> Result<()> {
            for &input in &inputs {
                measured.label(input).map_err(told)?;
            }
            Ok(())
        })?;
        (measured.table(&inputs), measured.fresh())
    };
    opened.clean()?;
    let evaluation = evaluate(&model, &table, arguments.source.calls).map_err(told)?;
    if let Some(path) = &arguments.html {
        let description =
            format!("{} trained on {} inputs.", model.classifier.description(), model.training.inputs);
        let content = Content {
            name: &model.name,
            description,
            tree: &shown::tree(&model),
            evaluation: Some(&evaluation),
            steps: &[],
            worth: &[],
        };
        page::write(path, &content)?;
    }
    Ok(EvaluationReport {
        name: model.name.clone(),
        description: model.classifier.description(),
        trained_on: model.training.inputs,
        measured,
        evaluation,
    })
}

impl Report for EvaluationReport {
    const SCHEMA: &'static str = "tilewright.adaptive-report/1";

    fn text(&self) -> String {
        let lines = [
            ("function", self.name.clone()),
            ("model", format!("{}, trained on {} inputs", self.description, self.trained_on)),
        ];
        format!("{}\n{}", report::pairs(&lines), shown::evaluation(&self.evaluation))
    }
}
