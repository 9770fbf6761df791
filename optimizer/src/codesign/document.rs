//! What a study found, as data: the JSON document, from which text and HTML are made.

use super::answers::Answers;
use super::constants::{Fit, JointFit};
use super::design::{Bandwidth, Design, Space};
use super::setting::{Setting, Subject};
use super::study::{Certificate, Rates, Study, Weighed};
use super::threads::Threads;
use super::whatif::{self, Tiles};
use super::workload::{Budget, Keep, Objective};
use cost_models::area::{Area, Family};
use serde::Serialize;

/// The document.
#[derive(Debug, Serialize)]
pub struct Document {
    /// Name of the workload.
    pub workload: String,
    /// One line about it.
    pub description: String,
    /// Which of the paper's formulations this is.
    pub formulation: String,
    /// The objective.
    pub objective: Objective,
    /// Unit of costs.
    pub unit: &'static str,
    /// The strategies.
    pub strategies: Vec<&'static str>,
    /// The budget.
    pub budget: Budget,
    /// Ranges of the unknowns.
    pub space: Space,
    /// Threads that blocks may have.
    pub thread_candidates: Threads,
    /// Whether designs were left out that lie on no front.
    pub keep: Keep,
    /// The area model.
    pub area_model: AreaModelFacts,
    /// Constants of each stencil.
    pub constants: Vec<Constants>,
    /// How they were fitted to stated rates; `null` where none is stated.
    pub fit: Option<JointFit>,
    /// The best design for all stencils together.
    pub best: Best,
    /// The knee of the front of area and rate.
    pub knee: Option<DesignFacts>,
    /// Why the best design is the best.
    pub certificate: Certificate,
    /// Pairs of tile sizes and k that the model was evaluated for.
    pub evaluated: u64,
    /// The best design for each stencil alone: the paper's Table 6.1.
    pub applications: Vec<Application>,
    /// What was found, in sentences (`findings`).
    pub findings: Vec<String>,
    /// Answers to further questions.
    #[serde(flatten)]
    pub answers: Answers,
    /// The front in area, rate and efficiency.
    pub pareto: Vec<DesignFacts>,
    /// All designs that were evaluated.
    pub designs: Vec<DesignFacts>,
}

/// Columns for the unknowns of a design: a name, and the cell.
pub type Unknowns = Vec<(&'static str, fn(&Design) -> String)>;

/// A design in numbers.
#[derive(Debug, Clone, Serialize)]
pub struct DesignFacts {
    /// The unknowns.
    #[serde(flatten)]
    pub design: Design,
    /// Area in mm2.
    pub area_mm2: f64,
    /// Its parts in mm2.
    pub area: Area,
    /// Share of the area that is memory.
    pub memory_share: f64,
    /// Share of the area that computes.
    pub vector_share: f64,
    /// Rates over the whole workload.
    #[serde(flatten)]
    pub rates: Rates,
    /// Power in watts, on average over the operations.
    pub watts: f64,
    /// Whether it is on the front of area and rate;
    pub on_area_gflops_front: bool,
    /// on that of area, rate and efficiency.
    pub on_front: bool,
    /// Rate of each stencil in GFLOP/s.
    pub stencil_gflops: Vec<f64>,
    /// Cost of each stencil in the objective's unit.
    pub stencil_costs: Vec<f64>,
}

/// The best design.
#[derive(Debug, Serialize)]
pub struct Best {
    /// The unknowns.
    #[serde(flatten)]
    pub design: Design,
    /// Area in mm2
    pub area_mm2: f64,
    /// Rate in GFLOP/s
    pub gflops: f64,
    /// GFLOP/s per watt
    pub gflops_per_watt: f64,
    /// Cost in the objective's unit
    pub cost: f64,
    /// The tiles of every execution.
    pub tiles: Vec<Tiles>,
}

/// The area model in use.
#[derive(Debug, Serialize)]
pub struct AreaModelFacts {
    /// The family.
    pub family: String,
    /// One line about it.
    pub description: String,
    /// The base machine.
    pub base: String,
    /// Coefficients in mm2 and mm2 per kB.
    pub coefficients: cost_models::area::AreaModel,
    /// What was solved from a die.
    pub calibrated: cost_models::area::Calibrated,
    /// The model against another die.
    pub validation: Option<cost_models::area::Validation>,
    /// Relative error on that die.
    pub validation_error: Option<f64>,
    /// Watts per mm2 that flow whatever happens.
    pub static_w_per_mm2: f64,
}

/// Constants of a stencil.
#[derive(Debug, Serialize)]
pub struct Constants {
    /// The stencil.
    pub stencil: String,
    /// Its weight.
    pub weight: f64,
    /// Floating-point operations per iteration.
    pub flops_per_iteration: f64,
    /// Its executions.
    pub executions: usize,
    /// The constants.
    #[serde(flatten)]
    pub fit: Fit,
}

/// The best design for one stencil.
#[derive(Debug, Serialize)]
pub struct Application {
    /// The stencil.
    pub stencil: String,
    /// Its dimension.
    pub dimension: usize,
    /// The best design.
    pub design: Design,
    /// Its area in mm2.
    pub area_mm2: f64,
    /// Its rate in GFLOP/s.
    pub gflops: f64,
    /// What the best design for all costs this stencil more, as a share.
    pub regret: f64,
    /// The stencil's share in the weights,
    pub share: f64,
    /// and the shares between which the best design for all stays the best.
    pub stays: (f64, f64),
    /// The design that the file states for the stencil, beside the best one.
    pub reference: Option<ReferenceFacts>,
}

/// A stated design.
#[derive(Debug, Serialize)]
pub struct ReferenceFacts {
    /// The design.
    pub design: Design,
    /// Its area in mm2.
    pub area_mm2: f64,
    /// Its rate as stated, in GFLOP/s: what C_iter was fitted to.
    pub gflops: f64,
    /// Whether it is the best design here.
    pub is_best: bool,
    /// Its rank among all evaluated designs for the stencil, from 1; `None` where it was not evaluated.
    pub rank: Option<usize>,
    /// Relative gain in rate of the best design over it.
    pub gain: f64,
}

impl Application {
    /// Cells after those of the design: area, rate, regret, and the stated rate where one is stated for any stencil.
    pub fn cells(&self, stated: bool) -> Vec<String> {
        let mut cells = vec![
            format!("{:.1}", self.area_mm2),
            format!("{:.0}", self.gflops),
            format!("{:.1} %", 100.0 * self.regret),
        ];
        if stated {
            let rate = self.reference.as_ref().map(|reference| format!("{:.0}", reference.gflops));
            cells.push(rate.unwrap_or_default());
        }
        cells
    }
}

impl Document {
    /// Everything about a study, but for the sentences (`findings::findings`).
    pub fn new(setting: &Setting, study: &Study, answers: Answers) -> Document {
        let workload = &setting.workload;
        let facts = |index: usize| DesignFacts::of(study, index);
        let best = study.best();
        Document {
            workload: workload.name.clone(),
            description: workload.description.clone(),
            formulation: workload.formulation(setting.subjects.len() > 1),
            objective: workload.objective,
            unit: workload.objective.unit(),
            strategies: workload.strategies.iter().map(|strategy| strategy.id()).collect(),
            budget: workload.budget,
            space: workload.space.clone(),
            thread_candidates: workload.threads.clone(),
            keep: workload.keep,
            area_model: AreaModelFacts::of(&workload.family, setting.static_w_per_mm2),
            constants: constants(setting),
            fit: setting.fit.clone(),
            best: best_of(setting, best),
            knee: study.fronts.knee.map(facts),
            certificate: study.certificate.clone(),
            evaluated: study.certificate.tiles_evaluated,
            applications: applications(setting, study),
            findings: Vec::new(),
            answers,
            pareto: study.fronts.all.iter().copied().map(facts).collect(),
            designs: (0..study.designs.len()).map(facts).collect(),
        }
    }

    /// The unknowns that tables show: the three of the paper, and the others where there is a choice.
    pub fn unknowns(&self) -> Unknowns {
        let space = &self.space;
        let mut unknowns: Unknowns = vec![
            ("n_SM", |design| design.n_sm.to_string()),
            ("n_V", |design| design.n_v.to_string()),
            ("M_SM kB", |design| design.m_sm_kb.to_string()),
        ];
        if space.r_vu_kb.len() > 1 {
            unknowns.push(("R_VU kB", |design| design.r_vu_kb.to_string()));
        }
        if space.l1_kb.len() > 1 {
            unknowns.push(("L1 kB", |design| design.l1_kb.to_string()));
        }
        if space.l2_kb.len() > 1 {
            unknowns.push(("L2 kB", |design| design.l2_kb.to_string()));
        }
        unknowns
    }

    /// Whether a design with a known rate is stated for any stencil.
    pub fn has_references(&self) -> bool {
        self.applications.iter().any(|application| application.reference.is_some())
    }

    /// The best design for each stencil, as a table for a terminal: header and rows.
    pub fn application_table(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let (unknowns, stated) = (self.unknowns(), self.has_references());
        let names = unknowns.iter().map(|(name, _)| *name);
        let mut header: Vec<&str> =
            std::iter::once("best for").chain(names).chain(["mm2", "GFLOP/s", "regret"]).collect();
        if stated {
            header.push("stated GFLOP/s");
        }
        let row = |application: &Application| {
            let design = unknowns.iter().map(|(_, cell)| cell(&application.design));
            let name = std::iter::once(application.stencil.clone());
            name.chain(design).chain(application.cells(stated)).collect()
        };
        (header, self.applications.iter().map(row).collect())
    }

    /// Whether bandwidth grows with the multiprocessors.
    pub fn bandwidth_rule(&self) -> &'static str {
        match self.space.bandwidth {
            Bandwidth::Paper => "all of it for each SM",
            Bandwidth::PerSm => "constant per SM",
            Bandwidth::Total => "constant in total",
        }
    }
}

impl DesignFacts {
    fn of(study: &Study, index: usize) -> DesignFacts {
        let Weighed { design, area, stencils, all, .. } = &study.designs[index];
        DesignFacts {
            design: *design,
            area_mm2: area.total(),
            area: *area,
            memory_share: area.memory_share(),
            vector_share: area.vector_share(),
            rates: *all,
            watts: all.watts(),
            on_area_gflops_front: study.fronts.area_gflops.contains(&index),
            on_front: study.fronts.all.contains(&index),
            stencil_gflops: stencils.iter().map(|rates| rates.gflops).collect(),
            stencil_costs: stencils.iter().map(|rates| rates.cost).collect(),
        }
    }
}

impl AreaModelFacts {
    fn of(family: &Family, static_w_per_mm2: f64) -> AreaModelFacts {
        AreaModelFacts {
            family: family.name.clone(),
            description: family.description.clone(),
            base: family.base.name.clone(),
            coefficients: family.area,
            calibrated: family.calibrated.clone(),
            validation: family.validation.clone(),
            validation_error: family.validation.as_ref().map(cost_models::area::Validation::error),
            static_w_per_mm2,
        }
    }
}

fn best_of(setting: &Setting, best: &Weighed) -> Best {
    Best {
        design: best.design,
        area_mm2: best.area.total(),
        gflops: best.all.gflops,
        gflops_per_watt: best.all.gflops_per_watt,
        cost: best.all.cost,
        tiles: whatif::tiles(setting, best),
    }
}

fn constants(setting: &Setting) -> Vec<Constants> {
    let of = |subject: &Subject| Constants {
        stencil: subject.load.name.clone(),
        weight: subject.load.weight,
        flops_per_iteration: subject.problem.flops_per_iteration(),
        executions: subject.load.runs.len(),
        fit: subject.fit.clone(),
    };
    setting.subjects.iter().map(of).collect()
}

fn applications(setting: &Setting, study: &Study) -> Vec<Application> {
    let mut applications = Vec::new();
    for (index, subject) in setting.subjects.iter().enumerate() {
        let sensitivity = study.sensitivity(index);
        let best = &study.designs[sensitivity.best_alone];
        let own = best.stencils[index];
        let reference = subject.fit.design.zip(subject.fit.stated_gflops).map(|(design, gflops)| {
            let same = study.designs.iter().find(|weighed| weighed.design == design);
            let rank = same.map(|same| {
                let cost = same.stencils[index].cost;
                1 + study.designs.iter().filter(|other| other.stencils[index].cost < cost).count()
            });
            ReferenceFacts {
                design,
                area_mm2: setting.area_mm2(&design),
                gflops,
                is_best: best.design == design,
                rank,
                gain: own.gflops / gflops - 1.0,
            }
        });
        applications.push(Application {
            stencil: subject.load.name.clone(),
            dimension: subject.problem.dimension(),
            design: best.design,
            area_mm2: best.area.total(),
            gflops: own.gflops,
            regret: sensitivity.regret,
            share: sensitivity.share,
            stays: (sensitivity.stays_from, sensitivity.stays_to),
            reference,
        });
    }
    applications
}
