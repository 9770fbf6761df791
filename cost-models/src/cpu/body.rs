//! What the rows of a stencil cost on a core, and where nobody measured them, an estimate.

use crate::machine::{BodyCosts, CpuCalibration, RunCosts};
use hhc_codegen::geometry::rows_at_once;
use polyhedral::counts::counts;
use polyhedral::program::Program;
use std::collections::{BTreeMap, BTreeSet};

/// Why there is no prediction for a CPU.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CpuModelError {
    /// The machine has no calibration of a CPU.
    #[error(
        "machine `{0}` has no calibration: `tilewright calibrate --backend openmp -o FILE.toml` makes one"
    )]
    NotCalibrated(String),
    /// No stencil at all was measured.
    #[error("machine `{0}` has no measured stencil: `tilewright calibrate --stencil NAME` measures one")]
    NoStencil(String),
}

/// The costs of a stencil's rows on this machine, and whether they are an estimate: those of the calibrated stencil
/// that is nearest in operations and values read, scaled by them.
///
/// # Errors
/// [`CpuModelError::NoStencil`].
pub fn body_costs(
    machine: &str,
    cpu: &CpuCalibration,
    program: &Program,
) -> Result<(BodyCosts, bool), CpuModelError> {
    let (flops, reads) = work(program);
    let element = program.fields[0].element.name();
    if let Some(body) = cpu.body(&program.name, element, flops, reads) {
        return Ok((body.clone(), false));
    }
    // Of the same dimension, runs have the same kinds of rows at once only if the numbers of operands allow.
    let kinds: Vec<i64> = kinds_of_rows(program).collect();
    let own = weight((flops, reads));
    let candidates = cpu.bodies.values().flat_map(|elements| elements.iter());
    let distance = |entry: &(&String, &BodyCosts)| {
        let (name, body) = entry;
        let missing = kinds.iter().filter(|&&rows| !body.runs.iter().any(|run| run.rows == rows)).count();
        let other_type = f64::from(u8::from(name.as_str() != element));
        10.0 * missing as f64 + other_type + (own / weight((body.flops, body.reads))).ln().abs()
    };
    let nearest = candidates.min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let (_, nearest) = nearest.ok_or_else(|| CpuModelError::NoStencil(machine.to_string()))?;
    let scale = own / weight((nearest.flops, nearest.reads));
    let mut body = BodyCosts { flops, reads, point_s: nearest.point_s * scale, ..nearest.clone() };
    for run in &mut body.runs {
        run.block_s *= scale;
    }
    for rows in kinds {
        if let (false, Some(&like)) = (body.runs.iter().any(|run| run.rows == rows), body.runs.first()) {
            let ratio = rows as f64 / like.rows as f64;
            body.runs.push(RunCosts { rows, block_s: like.block_s * ratio, ..like });
        }
    }
    body.runs.sort_by_key(|run| -run.rows);
    Ok((body, true))
}

/// Operations and reads of a body, as many times as many as those of a known one, that its costs can be told from that one's.
const LIKE: f64 = 1.6;

/// Whether a body was measured on this machine that [`body_costs`] can tell this program's costs from: one whose runs have its kinds of
/// rows at once, and about as many operations and reads. A vector of other elements takes about as long.
pub fn is_like_a_known(cpu: &CpuCalibration, program: &Program) -> bool {
    let own = weight(work(program));
    let kinds: BTreeSet<i64> = kinds_of_rows(program).collect();
    cpu.bodies.values().flat_map(BTreeMap::values).any(|body| {
        let ratio = own / weight((body.flops, body.reads));
        body.runs.iter().map(|run| run.rows).collect::<BTreeSet<i64>>() == kinds
            && (1.0 / LIKE..=LIKE).contains(&ratio)
    })
}

/// How many rows at once runs of the program compute, statement by statement.
fn kinds_of_rows(program: &Program) -> impl Iterator<Item = i64> {
    program.statements.iter().flat_map(move |own| rows_at_once(program, own)).map(|rows| rows as i64)
}

/// What scales the costs of one body to those of another.
fn weight((flops, reads): (i64, i64)) -> f64 {
    (flops + reads).max(1) as f64
}

/// Operations and values read per point and step, all statements together.
pub fn work(program: &Program) -> (i64, i64) {
    let reads: usize = program.statements.iter().map(|statement| statement.reads.len()).sum();
    (counts(program).flops as i64, reads as i64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::machine::shipped;

    #[test]
    fn costs_are_told_from_rows_that_are_alike() {
        let machine = shipped("zen4").unwrap().unwrap();
        let mut cpu = machine.calibration.unwrap().cpu.unwrap();
        cpu.bodies.retain(|name, _| name == "heat2d");
        let like = |name: &str| is_like_a_known(&cpu, &polyhedral::shipped::load(name).unwrap());
        assert!(like("heat2d"));
        // Of about as many operations, but one row at a time; of twice as many.
        assert!(!like("heat1d") && !like("star2d4r"));
    }
}
