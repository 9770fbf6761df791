//! From the arguments to a proved plan, and the stages that `--dump` prints.

use crate::arguments::{PlanArguments, Stage};
use crate::error::Result;
use crate::progress::Session;
use crate::{report, strategies};
use execution::ExecutionError;
use execution::interrupt::Blocking;
use hhc_codegen::pipeline::{self, Planned};
use hhc_codegen::plan::{Instance, Loop};
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{KernelPlan, TileSizes, prove};
use polyhedral::legality::Proof;
use polyhedral::program::Program;
use std::fmt::Write;
use std::sync::Arc;

/// The plan that the arguments ask for, proved legal.
///
/// # Errors
/// An unknown strategy, or tile sizes that are not possible.
pub fn planned(
    program: &Arc<Program>,
    arguments: &PlanArguments,
    target: Target,
    session: &Session,
) -> Result<Planned> {
    let strategy = strategies::named(&arguments.strategy)?;
    let tile = arguments.tile.clone().unwrap_or_default();
    session.stage("plan and proof", || {
        // isl does not look at the flag that a signal sets.
        let _blocking = Blocking::enter().map_err(ExecutionError::from)?;
        Ok(pipeline::plan(program, strategy, &tile, target)?)
    })
}

/// What the proof says, in words.
pub fn proof_text(proof: &Proof) -> String {
    format!(
        "legal for all grid sizes and step counts: isl proved that every statement instance runs exactly once\n\
         and that {} respected ({} shown empty in {})",
        match proof.dependences {
            1 => "its dependence is".to_owned(),
            many => format!("all {many} dependences are"),
        },
        report::count(proof.relations as u64, "relation", "relations"),
        report::seconds(proof.seconds),
    )
}

/// Tile sizes with what each of them is, as a second line: people should not have to know that a last size of 0 means
/// whole rows.
pub fn tile_text(strategy: &str, tile: &TileSizes) -> String {
    let own = strategy::by_name(strategy).ok();
    let last = tile.iter().last().map(|(name, _)| name);
    let meaning = |(name, value): (&str, i64)| match (own, value) {
        (_, 0) if Some(name) == last => format!("{name}=0: whole rows"),
        (_, 0) => format!("{name}=0: the whole dimension"),
        (Some(own), value) => own.size_text(name, value),
        (None, value) => format!("{name}: {value}"),
    };
    let meanings: Vec<String> = tile.iter().map(meaning).collect();
    if meanings.is_empty() { tile.to_string() } else { format!("{tile}\n({})", meanings.join("; ")) }
}

/// A stage as text.
pub fn dump(stage: Stage, planned: &Planned) -> String {
    let program = &planned.plan.program;
    match stage {
        Stage::Program => program.to_source(),
        Stage::Dependences => {
            let lines = planned.analysis.dependences.iter().map(|dependence| {
                format!("{dependence} through field {}\n", program.field(dependence.field).name)
            });
            lines.collect()
        }
        Stage::Plan => plan_text(&planned.plan),
        Stage::Schedule => schedule_text(&planned.plan),
    }
}

fn loop_text(source: &Loop) -> String {
    format!("{} in {} ..= {}", source.variable, source.low.to_c(), source.high.to_c())
}

fn plan_text(plan: &KernelPlan) -> String {
    let mut text = format!("strategy {}, tile {}\n", plan.strategy, plan.tile);
    let _ = writeln!(text, "for {}", loop_text(&plan.outer));
    for launch in &plan.launches {
        let condition = launch.when.as_ref().map(|when| format!(" if {} >= 0", when.to_c()));
        let _ =
            writeln!(text, "  launch {}{}", plan.kernels[launch.kernel].name, condition.unwrap_or_default());
    }
    for kernel in &plan.kernels {
        let _ = writeln!(text, "\nkernel {}  // {}", kernel.name, kernel.comment);
        let mut depth = 1;
        let mut line = |depth: usize, line: String| {
            let _ = writeln!(text, "{}{line}", "  ".repeat(depth));
        };
        for block in &kernel.blocks {
            line(depth, format!("forall block {}", loop_text(block)));
            depth += 1;
        }
        for binding in &kernel.bindings {
            line(depth, format!("{} = {}  // {}", binding.name, binding.value.to_c(), binding.comment));
        }
        for sub_tile in &kernel.sub_tiles {
            line(depth, format!("for sub-tile {}", loop_text(sub_tile)));
            depth += 1;
        }
        let full = kernel.full_when.iter().map(|condition| format!("{} >= 0", condition.to_c()));
        line(depth, format!("full where {}", full.collect::<Vec<_>>().join(" and ")));
        line(depth, format!("for {}", loop_text(&kernel.rows)));
        for Instance { statement, step, ranges, .. } in &kernel.instances {
            let ranges: Vec<String> = ranges
                .iter()
                .map(|range| format!("{} ..= {}", range.low.to_c(), range.high.to_c()))
                .collect();
            let target = &plan.program.field(plan.program.statements[*statement].target).name;
            line(depth + 1, format!("row: {target} of step {} at [{}]", step.to_c(), ranges.join(", ")));
        }
    }
    text
}

fn schedule_text(plan: &KernelPlan) -> String {
    let schedule = prove::schedule(plan);
    let mut text = String::from("dimensions, outermost first:\n");
    for dimension in &schedule.dimensions {
        let _ = writeln!(text, "  {} ({:?})", dimension.name, dimension.execution);
    }
    for piece in &schedule.pieces {
        let _ = writeln!(
            text,
            "\nstatement {} at [{}]{} where",
            piece.statement,
            piece.variables.join(", "),
            if piece.helpers.is_empty() {
                String::new()
            } else {
                format!(", some {}", piece.helpers.join(", "))
            },
        );
        for (dimension, value) in &piece.fixed {
            let _ = writeln!(text, "  {} = {value}", piece.variables[*dimension]);
        }
        for constraint in &piece.constraints {
            let _ = writeln!(text, "  {constraint}");
        }
    }
    text
}
