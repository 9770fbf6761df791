//! The constants that a workload is worked on with, and how well they meet the rates that are stated.

use super::design::Design;
use cost_models::constants::TimeConstants;
use cost_models::machine::GpuFacts;
use hhc_codegen::counts::Problem;
use serde::Serialize;

/// The constants of a stencil, and where `C_iter` is from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// `machine`, `stated` or `fitted`.
    pub basis: &'static str,
    /// `C_iter` in seconds,
    pub c_iter_s: f64,
    /// in cycles of the base machine's clock,
    pub c_iter_cycles: f64,
    /// and as operations that a lane completes in a cycle: fused multiply-adds are two.
    pub flop_per_cycle_and_lane: f64,
    /// `L` in seconds per word, on the base machine.
    pub l_s_per_word: f64,
    /// `tau_sync` in seconds.
    pub tau_sync_s: f64,
    /// `T_sync` in seconds.
    pub t_sync_s: f64,
    /// The design that it was fitted to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub design: Option<Design>,
    /// Its rate in GFLOP/s, as stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated_gflops: Option<f64>,
    /// The rate that the model gives it with the fitted constants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_gflops: Option<f64>,
}

/// Operations that a lane can complete in a cycle: a fused multiply-add.
pub const MOST_FLOP_PER_CYCLE: f64 = 2.0;

impl Fit {
    /// What is said of a subject's constants as they are.
    pub fn new(basis: &'static str, time: &TimeConstants, problem: &Problem, base: &GpuFacts) -> Fit {
        let cycles = time.c_iter_s * base.clock_hz;
        Fit {
            basis,
            c_iter_s: time.c_iter_s,
            c_iter_cycles: cycles,
            flop_per_cycle_and_lane: problem.flops_per_iteration() / cycles,
            l_s_per_word: time.l_s_per_word,
            tau_sync_s: time.tau_sync_s,
            t_sync_s: time.t_sync_s,
            design: None,
            stated_gflops: None,
            model_gflops: None,
        }
    }

    /// The model's rate over the stated one, less one.
    pub fn residual(&self) -> Option<f64> {
        Some(self.model_gflops? / self.stated_gflops? - 1.0)
    }
}

/// One set of constants for all stencils: `L`, `tau_sync` and `T_sync` belong to the machine, `C_iter` to a stencil.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JointFit {
    /// `L` in seconds per word of 4 bytes, on the base machine by the workload's reading.
    pub l_s_per_word: f64,
    /// `tau_sync` in seconds.
    pub tau_sync_s: f64,
    /// `T_sync` in seconds.
    pub t_sync_s: f64,
    /// Rates that are stated.
    pub rates: usize,
    /// Constants that were fitted to them, by name.
    pub fitted: Vec<String>,
    /// Sum of the absolute relative differences of modelled and stated times per operation.
    pub sum_of_residuals: f64,
    /// Where the search began, and what came of it.
    pub starts: Vec<FitStart>,
}

/// One start of a fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitStart {
    /// `L` that it began with,
    pub l_s_per_word: f64,
    /// `tau_sync`,
    pub tau_sync_s: f64,
    /// `T_sync`,
    pub t_sync_s: f64,
    /// and the factor on the estimates of `C_iter`.
    pub c_iter_factor: f64,
    /// Linear programs that were solved.
    pub rounds: usize,
    /// Whether tiles, branches and constants came to rest.
    pub fixed_point: bool,
    /// What it came to.
    pub sum_of_residuals: f64,
}
