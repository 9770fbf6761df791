//! Results that are kept as trials in the state folder, in `@choices`: what each entrant took, and by how much the model
//! was wrong about it.

use super::{Contest, Entrant, Standing, winner};
use crate::{record, state};
use hhc_codegen::plan_counts::points_per_step;
use hhc_codegen::strategy;
use std::path::Path;
use toolchain::compiler::{Compiler, Language};
use toolchain::machine::processor_id;
use trials::{Outcome, Setting, Store, Trial};

/// The name of the store.
const KEPT: &str = "@choices";
/// The response: seconds per point and step.
const RESPONSE: &str = "point_s";
/// What the model said of the whole run, in seconds, and its error as a part of what was measured.
const PREDICTED: &str = "predicted_s";
const MODEL_ERROR: &str = "model_error";

impl Contest<'_> {
    /// What the contest is about, in a form that is the same for all runs of its class: extents within a quarter of a power
    /// of two, steps within two powers.
    fn setting(&self) -> Setting {
        let class = |value: i64, parts: f64| {
            let number = ((value.max(1) as f64).log2() * parts).round();
            (number / parts).exp2().round() as i64
        };
        let extents: Vec<i64> = self.size.iter().map(|&extent| class(extent, 4.0)).collect();
        let steps = class(self.steps.min(256), 0.5);
        let program = &self.stencil.program;
        let setting = record::setting(program, self.strategy.id(), "openmp", &extents, steps, "choice");
        let compiler = Compiler::find(Language::C).map(|found| found.version().to_owned());
        let among = if self.all_strategies { " among strategies" } else { "" };
        Setting {
            job: format!("{}{among}, on {}", setting.job, processor_id()),
            compiler: compiler.unwrap_or_default(),
            threads: self.threads.to_string(),
            machine: self.model.machine.description.clone(),
            response: RESPONSE.to_owned(),
            ..setting
        }
    }

    /// The result of a contest that was held before.
    pub fn remembered(&self) -> Option<Standing> {
        let path = state::trials_to_read(Path::new(KEPT)).ok()?;
        let content = trials::store::read(&path).ok()?;
        let own = self.setting();
        let is_own = |other: &Setting| {
            (&other.job, &other.source, &other.compiler, &other.threads, &other.version)
                == (&own.job, &own.source, &own.compiler, &own.threads, &own.version)
        };
        let entrant = |trial: &Trial| {
            let value = |name: &str| trial.outcome.metrics.get(name).map(|metric| metric.value);
            Some(Entrant {
                strategy: strategy::by_name(&trial.setting.strategy).ok()?.id(),
                tile: record::tile(&trial.configuration)?,
                predicted_s: value(PREDICTED),
                point_s: Some(value(RESPONSE)?),
            })
        };
        let found = content.trials.iter().filter(|trial| is_own(&trial.setting));
        let entrants: Vec<Entrant> = found.filter_map(entrant).collect();
        (!entrants.is_empty()).then(|| Standing { winner: winner(&entrants), entrants, tiled: None })
    }

    /// Keeps the result as far as it can be kept: without it, the next run measures again.
    pub(super) fn remember(&self, entrants: &[Entrant]) {
        let Ok(path) = state::trials_to_write(Path::new(KEPT)) else { return };
        let Ok(mut store) = Store::open(&path) else { return };
        let setting = self.setting();
        let updates = points_per_step(&self.stencil.program, self.size) as f64 * self.steps as f64;
        for entrant in entrants {
            let Some(point_s) = entrant.point_s.filter(|seconds| seconds.is_finite()) else { continue };
            let mut outcome = Outcome::measured(RESPONSE, point_s).with(RESPONSE, point_s, "s");
            if let Some(predicted_s) = entrant.predicted_s {
                let error = predicted_s / updates.max(1.0) / point_s - 1.0;
                outcome = outcome.with(PREDICTED, predicted_s, "s").with(MODEL_ERROR, error, "1");
            }
            let setting = Setting { strategy: entrant.strategy.to_owned(), ..setting.clone() };
            let configuration = record::configuration(&entrant.tile);
            if record::append(&mut store, setting, configuration, outcome.now()).is_err() {
                return;
            }
        }
    }
}
