//! What is asked for: stencils with weights and sizes, an objective, budgets, and ranges of the hardware.

use crate::codesign::design::{Bandwidth, Design, Space};
use crate::codesign::threads::Threads;
use cost_models::area::Family;
use hhc_codegen::strategy::{self, Strategy};
use polyhedral::program::Program;
use serde::Serialize;
use std::sync::Arc;

pub use hhc_codegen::counts::Run;

/// A workload, and the hardware that may serve it.
#[derive(Debug, Clone)]
pub struct Workload {
    /// Name.
    pub name: String,
    /// One line about it.
    pub description: String,
    /// The family that gives areas, constants and limits.
    pub family: Family,
    /// What is best.
    pub objective: Objective,
    /// Tiling strategies; with more than one, each execution takes the best of them (super-codesign).
    pub strategies: Vec<&'static dyn Strategy>,
    /// What a design may cost.
    pub budget: Budget,
    /// The designs.
    pub space: Space,
    /// Threads that blocks may have.
    pub threads: Threads,
    /// What is said of the machine's constants.
    pub constants: MachineConstants,
    /// What is executed.
    pub stencils: Vec<Load>,
    /// Whether the designs that provably lie on no front are left out.
    pub keep: Keep,
}

/// What makes one design better than another. All are weighted sums over executions: with weights `w` of stencils,
/// and all executions of a stencil alike,
///
/// ```text
/// gflops  1 / sum w * T/F      the rate at which work is done that consists of these executions' operations F
/// time    sum w * T            energy  sum w * E           edp  sum w * T*E
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// Most operations per second.
    Gflops,
    /// Least time.
    Time,
    /// Least energy.
    Energy,
    /// Least product of energy and time (the paper's multi-metric formulations).
    Edp,
}

impl Objective {
    /// All of them, by name.
    pub const ALL: [(&'static str, Objective); 4] = [
        ("gflops", Objective::Gflops),
        ("time", Objective::Time),
        ("energy", Objective::Energy),
        ("edp", Objective::Edp),
    ];

    /// Name in workload files.
    pub fn name(self) -> &'static str {
        Objective::ALL.iter().find(|(_, own)| *own == self).map_or("", |(name, _)| name)
    }

    /// Unit of the cost that is minimised.
    pub fn unit(self) -> &'static str {
        match self {
            Objective::Gflops => "s/Gflop",
            Objective::Time => "s",
            Objective::Energy => "J",
            Objective::Edp => "J s",
        }
    }

    /// The cost of an execution.
    pub fn cost(self, seconds: f64, joules: f64, flops: f64) -> f64 {
        match self {
            Objective::Gflops => seconds / flops * 1e9,
            Objective::Time => seconds,
            Objective::Energy => joules,
            Objective::Edp => seconds * joules,
        }
    }
}

/// The strategies that codesign can choose among: those that a choice considers and that have tables of their counts.
pub fn strategies() -> impl Iterator<Item = &'static dyn Strategy> {
    let tabulated = |own: &&dyn Strategy| own.closed_forms().is_some_and(|forms| forms.tabulated().is_some());
    strategy::in_auto(strategy::Target::Cuda).filter(tabulated)
}

/// Which designs are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// All within the budget.
    All,
    /// All but those whose bound shows that another design is no larger and better.
    Front,
}

/// What a design may cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Budget {
    /// Least and largest area in mm2.
    pub area_mm2: (f64, f64),
    /// Largest power of any execution in watts.
    pub power_w: Option<f64>,
}

/// A stencil of a workload.
#[derive(Debug, Clone)]
pub struct Load {
    /// Name, unique in the workload.
    pub name: String,
    /// The program.
    pub program: Arc<Program>,
    /// Its weight, positive; weights add up to 1.
    pub weight: f64,
    /// Its executions, all of the same weight.
    pub runs: Vec<Run>,
    /// Threads of its blocks, where it has others than the workload.
    pub threads: Option<Threads>,
    /// Where `C_iter` is from.
    pub c_iter: CIter,
}

/// What a workload says of the constants that all its stencils share.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct MachineConstants {
    /// `L` on the base machine, by the workload's reading, per word of 4 bytes.
    pub l_s_per_word: Constant,
    /// `tau_sync`
    pub tau_sync_s: Constant,
    /// `T_sync`
    pub t_sync_s: Constant,
}

/// What is said of a constant.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Constant {
    /// Its value, or the one that a fit starts from; `None`: the base machine's.
    pub seconds: Option<f64>,
    /// The range within which it is fitted to the reference designs; `None`: it stays.
    pub range: Option<(f64, f64)>,
}

/// Where `C_iter` of a stencil is from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CIter {
    /// The base machine's calibration, or its published throughputs.
    Machine,
    /// The file states it, in seconds.
    Stated(f64),
    /// It is such that a design reaches a rate, as near as one set of the machine's constants allows.
    Fitted(Reference),
}

/// A design whose rate is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reference {
    /// The design.
    pub design: Design,
    /// Its rate in GFLOP/s, over the executions of the stencil.
    pub gflops: f64,
}

impl Workload {
    /// The largest `M_SM` of the space and of the reference designs, in kB.
    pub fn most_m_sm_kb(&self) -> f64 {
        let references = self.stencils.iter().filter_map(|load| match &load.c_iter {
            CIter::Fitted(reference) => Some(reference.design.m_sm_kb),
            _ => None,
        });
        self.space.m_sm_kb.iter().copied().chain(references).fold(0.0, f64::max)
    }

    /// Whether only times decide which tiles are best.
    pub fn time_alone(&self) -> bool {
        matches!(self.objective, Objective::Gflops | Objective::Time) && self.budget.power_w.is_none()
    }

    /// `L` of a word of 4 bytes on the base machine: what the workload says, or the machine's, which is the share of
    /// one multiprocessor, by the workload's reading.
    pub fn l_s_per_word(&self, share: f64) -> f64 {
        self.constants.l_s_per_word.seconds.unwrap_or(self.by_reading(share))
    }

    /// Seconds of a word on the base machine, of one multiprocessor's share, by the workload's reading.
    pub fn by_reading(&self, share: f64) -> f64 {
        match (self.space.bandwidth, self.family.facts()) {
            (Bandwidth::Paper, Some(facts)) => share / facts.n_sm as f64,
            _ => share,
        }
    }

    /// How the bandwidth of a design follows from its multiprocessors: the factor on the base machine's `L`.
    pub fn l_factor(&self, n_sm: i64) -> f64 {
        match (self.space.bandwidth, self.family.facts()) {
            (Bandwidth::Total, Some(facts)) => n_sm as f64 / facts.n_sm as f64,
            _ => 1.0,
        }
    }

    /// The name of the paper's formulation (section 2.3.3) that a system of all stencils, or each stencil alone, is.
    pub fn formulation(&self, system: bool) -> String {
        let multi = if self.objective == Objective::Edp { "multi-metric " } else { "" };
        let over = if self.strategies.len() > 1 { "super " } else { "" };
        format!("{multi}{over}{} codesign", if system { "system" } else { "application" })
    }
}
