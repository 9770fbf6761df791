//! The constants of the models for one program on one machine, each with where it is from.

use crate::machine::{Calibration, GpuFacts, Machine, Provenance};
use hhc_codegen::counts::Problem;
use polyhedral::counts::Operations;
use polyhedral::program::{ElementType, Program};
use serde::Serialize;
use std::collections::BTreeSet;

/// Where a constant is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Measured on such a machine.
    Measured,
    /// Stated in the machine file, with a source.
    Stated,
    /// Computed from published throughputs.
    Estimated,
    /// Computed from the instructions of the printed code, and published throughputs.
    Counted,
}

impl From<Provenance> for Basis {
    fn from(provenance: Provenance) -> Self {
        match provenance {
            Provenance::Measured => Basis::Measured,
            Provenance::Stated => Basis::Stated,
        }
    }
}

/// The four constants of the time model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimeConstants {
    /// `L`: seconds per word of the stencil's element type between memory and a multiprocessor.
    pub l_s_per_word: f64,
    /// `tau_sync`: seconds per barrier of a block.
    pub tau_sync_s: f64,
    /// `T_sync`: seconds per launch.
    pub t_sync_s: f64,
    /// `C_iter`: seconds per iteration on one lane.
    pub c_iter_s: f64,
    /// Where `L`, `tau_sync` and `T_sync` are from.
    pub machine_basis: Basis,
    /// Where `C_iter` is from.
    pub c_iter_basis: Basis,
}

/// The constants of the energy model, in joules per event of this program, and watts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EnergyConstants {
    /// `e_glob`: joules per word of the stencil's element type from or to memory.
    pub e_glob_j: f64,
    /// `e_shared`: joules per word from or to fast memory.
    pub e_shared_j: f64,
    /// `e_iter`: joules per iteration.
    pub e_iter_j: f64,
    /// `e_sync`: joules per barrier.
    pub e_sync_j: f64,
    /// `e_launch`: joules per launch.
    pub e_launch_j: f64,
    /// `P_static`: watts.
    pub p_static_w: f64,
    /// Where they are from.
    pub basis: Basis,
}

impl TimeConstants {
    /// The constants of a program on a GPU; `None` without a calibration. Where `C_iter` was not measured for this
    /// stencil it is [`estimated_c_iter_s`].
    pub fn of(problem: &Problem, machine: &Machine) -> Option<TimeConstants> {
        let calibration = machine.calibration.as_ref()?;
        let (c_iter_s, c_iter_basis) = c_iter(problem, calibration, machine)?;
        let words = problem.element().bytes() as f64 / 4.0;
        Some(TimeConstants {
            l_s_per_word: calibration.l_s_per_word.value * words,
            tau_sync_s: calibration.tau_sync_s.value,
            t_sync_s: calibration.t_sync_s.value,
            c_iter_s,
            machine_basis: calibration.provenance.into(),
            c_iter_basis,
        })
    }
}

fn c_iter(problem: &Problem, calibration: &Calibration, machine: &Machine) -> Option<(f64, Basis)> {
    match calibration.c_iter(&problem.program.name, problem.element().name()) {
        Some(known) => Some((known.value, calibration.provenance.into())),
        None => Some((estimated_c_iter_s(problem, machine.gpu()?), Basis::Estimated)),
    }
}

impl EnergyConstants {
    /// The constants of a program; `None` where nobody measured or stated energies of this machine.
    pub fn of(problem: &Problem, machine: &Machine) -> Option<EnergyConstants> {
        let energy = machine.calibration.as_ref()?.energy.as_ref()?;
        let words = problem.element().bytes() as f64 / 4.0;
        Some(EnergyConstants {
            e_glob_j: energy.e_glob_j * words,
            e_shared_j: energy.e_shared_j * words,
            e_iter_j: energy.e_flop_j * words * problem.flops_per_iteration(),
            e_sync_j: energy.e_sync_j,
            e_launch_j: energy.e_launch_j,
            p_static_w: energy.p_static_w,
            basis: energy.provenance.into(),
        })
    }
}

/// `C_iter` in seconds from published throughputs, the mean over the statements: each operation takes
/// `n_V / (results per cycle and multiprocessor)` cycles of a lane, and so does each access to shared memory.
/// Neighbouring points of a thread share operands, so that of the reads only those of distinct columns count.
/// Operations do not overlap with accesses.
pub fn estimated_c_iter_s(problem: &Problem, facts: &GpuFacts) -> f64 {
    let program = &problem.program;
    let n_v = facts.n_v as f64;
    let double = problem.element() == ElementType::F64;
    let arithmetic = if double { n_v / facts.n_v_f64 as f64 } else { 1.0 };
    // A division, root or exponential is an approximation by the special-function unit and a few refining steps.
    let special = n_v / facts.n_special as f64 + 8.0 * arithmetic;
    let words = problem.element().bytes() as f64 / 4.0;
    let access = words * n_v / facts.shared_words_per_cycle as f64;
    let of_statement = |k: usize| {
        let Operations { adds, subs, muls, divs, sqrts, exps, libm, min_max, compares, selects, abs, .. } =
            problem.operations.statements[k];
        let simple = adds + subs + muls + min_max + compares + selects + abs;
        simple as f64 * arithmetic
            + (divs + sqrts + exps + libm) as f64 * special
            + (columns(program, k) + 1) as f64 * access
    };
    let statements = program.statements.len();
    let cycles = (0..statements).map(of_statement).sum::<f64>() / statements as f64;
    cycles / facts.clock_hz
}

/// Distinct reads of a statement, those that differ along dimension 0 only counted once (except in one dimension).
fn columns(program: &Program, statement: usize) -> usize {
    let from = usize::from(program.dimension() > 1);
    let reads = program.statements[statement].reads.iter();
    reads.map(|read| (read.field, read.time, &read.offset[from..])).collect::<BTreeSet<_>>().len()
}
