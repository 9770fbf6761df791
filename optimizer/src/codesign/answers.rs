//! What is answered beside the study itself: the questions of chapters 5 and 6 of the paper.

use super::CodesignError;
use super::setting::Setting;
use super::study::Study;
use super::sweep::Control;
use super::uncertainty::Uncertainty;
use super::whatif;
use super::workload::{Objective, strategies};
use hhc_codegen::strategy;
use serde::Serialize;

/// A question about a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Question {
    /// What a little more of each resource is worth.
    Prices,
    /// How much shared memory stencils want.
    Memory,
    /// Where the time goes.
    Overhead,
    /// The effect of the number of resident tiles.
    Hyperthreading,
    /// The best design with caches against the one without.
    Caches,
    /// Chips that exist against the best designs of their area.
    Chips,
    /// What the threads of blocks decide.
    Threads,
}

impl Question {
    /// All of them.
    pub const ALL: [Question; 7] = [
        Question::Prices,
        Question::Memory,
        Question::Overhead,
        Question::Hyperthreading,
        Question::Caches,
        Question::Chips,
        Question::Threads,
    ];
}

/// The answers; empty where nobody asked.
#[derive(Debug, Default, Serialize)]
pub struct Answers {
    /// What a little more of each resource is worth.
    pub shadow_prices: Vec<whatif::Shadow>,
    /// Shared-memory requirements.
    pub memory: Vec<whatif::MemoryWish>,
    /// Where the time goes.
    pub overhead: Vec<whatif::Overhead>,
    /// The effect of k.
    pub hyperthreading: Vec<whatif::Hyperthreading>,
    /// The best design with caches against the one without.
    pub caches: Option<whatif::Comparison>,
    /// Chips that exist against the best designs of their area.
    pub chips: Vec<whatif::Comparison>,
    /// The study's setting of threads beside others.
    pub threads: Vec<whatif::ThreadSetting>,
    /// How designs on fronts divide their area.
    pub allocation: Vec<whatif::Allocation>,
    /// What lanes and memory of the best design allow, and what stencils reach; with the question where the time goes.
    pub roofline: Option<whatif::Roofline>,
    /// How sure the answer is; `None` where nobody asked.
    pub uncertainty: Option<Uncertainty>,
    /// The best designs of the paper's formulations that were asked for.
    pub formulations: Vec<whatif::Formulation>,
}

impl Answers {
    /// Answers questions about a study; its own formulation is always among the answers.
    ///
    /// # Errors
    /// Those of a sweep.
    pub fn to(
        questions: &[Question],
        setting: &Setting,
        study: &Study,
        control: &Control<'_>,
    ) -> Result<Answers, CodesignError> {
        let mut answers =
            Answers { formulations: whatif::formulations(setting, study), ..Answers::default() };
        for question in Question::ALL.into_iter().filter(|question| questions.contains(question)) {
            match question {
                Question::Prices => answers.shadow_prices = whatif::shadows(setting, study),
                Question::Memory => {
                    answers.memory = whatif::memory(setting, study);
                    answers.allocation = whatif::allocation(setting, study);
                }
                Question::Overhead => {
                    answers.overhead = whatif::overheads(setting, study);
                    answers.roofline = Some(whatif::roofline(setting, study));
                }
                Question::Hyperthreading => answers.hyperthreading = whatif::hyperthreading(setting, study),
                Question::Caches => answers.caches = whatif::caches(setting, study, control)?,
                Question::Chips => answers.chips = whatif::chips(setting, control)?,
                Question::Threads => answers.threads = whatif::threads(setting, study, control)?,
            }
        }
        Ok(answers)
    }
}

/// The best designs of all eight formulations of the paper: one metric and two, one strategy and all, applications and
/// system. `solve` makes the study of a setting.
///
/// # Errors
/// Those of settings and of `solve`.
pub fn all_formulations(
    setting: &Setting,
    solve: impl Fn(&Setting) -> Result<Study, CodesignError>,
) -> Result<Vec<whatif::Formulation>, CodesignError> {
    let own = setting.workload.objective;
    let single = if own == Objective::Edp { Objective::Gflops } else { own };
    let all: Vec<_> = strategies().collect();
    let first = setting.workload.strategies.first().copied().unwrap_or(strategy::preferred());
    let mut formulations = Vec::new();
    for objective in [single, Objective::Edp] {
        for strategies in [vec![first], all.clone()] {
            let mut workload = setting.workload.clone();
            workload.objective = objective;
            workload.strategies = strategies;
            let setting = Setting::new(workload)?;
            formulations.extend(whatif::formulations(&setting, &solve(&setting)?));
        }
    }
    Ok(formulations)
}
