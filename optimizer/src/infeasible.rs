//! Why no tile fits: the constraint that cannot be met, and by how much.

use crate::request::Request;
use cost_models::memory::{Constraint, constraints};
use serde::Serialize;
use std::fmt;

/// No tile of the request is possible.
#[derive(Debug, Clone, PartialEq, Serialize, thiserror::Error)]
pub enum Infeasible {
    /// Even the tile that needs least exceeds a limit.
    Limit {
        /// Name of the stencil.
        stencil: String,
        /// Name of the machine.
        machine: String,
        /// Strategy of that tile.
        strategy: &'static str,
        /// Its sizes.
        tile: String,
        /// The constraint.
        constraint: Box<Constraint>,
    },
    /// The objective needs energies, and the machine file has none.
    NoEnergy {
        /// Name of the machine.
        machine: String,
        /// Name of the objective.
        objective: &'static str,
    },
    /// No tile has a face, which the closed form maximises.
    NoFace {
        /// Names of the strategies.
        strategies: Vec<&'static str>,
    },
    /// None of the strategies can tile the stencil.
    NoStrategy,
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Infeasible::Limit { stencil, machine, strategy, tile, constraint } => write!(
                f,
                "no tile of `{stencil}` fits {machine}: even {tile} (strategy {strategy}) needs {} {} where {} allows {}, {} too many",
                constraint.needed, constraint.unit, constraint.name, constraint.limit, -constraint.slack
            ),
            Infeasible::NoEnergy { machine, objective } => write!(
                f,
                "objective {objective} needs energies, and machine {machine} has none: no power could be read when it \
                 was calibrated; use --objective time, or add [calibration.energy] to the machine file"
            ),
            Infeasible::NoFace { strategies } => write!(
                f,
                "--method closed-form maximises the face of tiles that span time, and {} has none; use --method exact",
                strategies.join(", ")
            ),
            Infeasible::NoStrategy => {
                f.write_str("none of the strategies that were asked for has tiles for the stencil")
            }
        }
    }
}

impl Infeasible {
    /// Looks for the constraint that the tile with the least needs violates.
    pub fn diagnose(request: &Request<'_>) -> Infeasible {
        let (problem, hardware) = (request.problem, &request.model.hardware);
        let mut least: Option<(f64, Infeasible)> = None;
        let mut consider = |strategy: &'static str, tile: String, constraint: Constraint| {
            let excess = constraint.needed as f64 / constraint.limit.max(1) as f64;
            if least.as_ref().is_none_or(|(known, _)| excess < *known) {
                let infeasible = Infeasible::Limit {
                    stencil: problem.program.name.clone(),
                    machine: hardware.name.clone(),
                    strategy,
                    tile,
                    constraint: Box::new(constraint),
                };
                least = Some((excess, infeasible));
            }
        };
        for &strategy in &request.strategies {
            let Some((family, sizes)) = request.smallest(strategy) else { continue };
            let (counts, tile) = (family.counts(0, sizes), family.tile(sizes).to_string());
            let violated = constraints(&counts, 1, hardware).into_iter().filter(|c| !c.satisfied);
            let worst = violated.max_by(|a, b| {
                let excess = |c: &Constraint| c.needed as f64 / c.limit.max(1) as f64;
                excess(a).total_cmp(&excess(b))
            });
            if let Some(constraint) = worst {
                consider(strategy.id(), tile, constraint);
            }
        }
        least.map_or(Infeasible::NoStrategy, |(_, infeasible)| infeasible)
    }
}
