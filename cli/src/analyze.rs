//! `tilewright analyze`: what is known of a stencil and of its tiling.

use crate::arguments::{PlanArguments, Size, TargetName, steps_parser};
use crate::error::Result;
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{drawing, load, outputs, plan, tiles};
use clap::Args;
use execution::layout::grid_points;
use hhc_codegen::{TileSizes, plan_counts};
use polyhedral::analysis::Analysis;
use polyhedral::dependence::Dependence;
use polyhedral::legality::Proof;
use polyhedral::program::{FieldRole, Program};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use tilewright::text;

/// Arguments of `analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArguments {
    /// The stencil and its tiling.
    #[command(flatten)]
    pub plan: PlanArguments,
    /// What the default tile sizes are for
    #[arg(long, default_value = "openmp", value_name = "TARGET")]
    pub target: TargetName,
    /// Grid size, slowest dimension first, for totals
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Option<Size>,
    /// Number of time steps, for totals
    #[arg(long, value_name = "N", value_parser = steps_parser(), allow_negative_numbers = true)]
    pub steps: Option<i64>,
    /// Draw the tiles over time and the first space dimension
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// The text report shows no more dependences than this.
const MOST_DEPENDENCES: usize = 24;

/// The report of `analyze`.
#[derive(Debug, Serialize)]
pub struct AnalyzeReport {
    /// Name of the stencil.
    pub stencil: String,
    /// The comment in front of it.
    pub description: String,
    /// Number of space dimensions.
    pub dimension: usize,
    /// Number of statements: logical rows per time step.
    pub statements: usize,
    /// Floating-point operations per point and step.
    pub flops: usize,
    /// Compulsory traffic in bytes per point and step; see [`polyhedral::counts::Counts::bytes`].
    pub bytes: usize,
    /// `flops / bytes`.
    pub intensity: f64,
    /// Fields, dependences, cone, footprint and counts.
    #[serde(flatten)]
    pub analysis: Analysis,
    /// Tiling strategy.
    pub strategy: &'static str,
    /// Tile sizes by name.
    pub tile: TileSizes,
    /// Tile sizes as `--tile` takes them.
    pub tile_text: String,
    /// Whether the tiling was proved legal; what cannot be proved is refused.
    pub legal: bool,
    /// isl's proof.
    pub proof: Proof,
    /// Totals for `--size` and `--steps`; null without.
    pub totals: Option<Totals>,
    /// The drawing of the tiles.
    pub svg: Option<PathBuf>,
    /// The stage that `--dump` asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dump: Option<String>,
}

/// Numbers of a problem of a certain size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Totals {
    /// Grid extents, slowest dimension first.
    pub size: Vec<i64>,
    /// Number of time steps; null where not given, as are all numbers that depend on it.
    pub steps: Option<i64>,
    /// Points of the grid.
    pub points: usize,
    /// Points computed per step.
    pub points_per_step: u64,
    /// Bytes of all arrays, all stored time levels, without padding.
    pub grid_bytes: u64,
    /// Floating-point operations of the whole run.
    pub flops: Option<f64>,
    /// Bytes that a run without tiling in time moves at least.
    pub bytes: Option<f64>,
    /// Launches of the plan.
    pub launches: Option<u64>,
}

/// Analyses a stencil and its tiling.
///
/// # Errors
/// Wrong input, an infeasible tiling, or a file that cannot be written.
pub fn analyze(arguments: &AnalyzeArguments, session: &Session) -> Result<AnalyzeReport> {
    plan::dump_refused(arguments.plan.dump, session);
    let stencil = session.stage("read", || load::of_plan(&arguments.plan))?;
    let program = &stencil.program;
    outputs::check(&outputs::given([("--svg", &arguments.svg)]), &stencil.files)?;
    let points = match &arguments.size {
        Some(size) => Some((size.0.clone(), grid_points(program, &size.0)?)),
        None => None,
    };
    let planned = tilewright::plan(&stencil, &arguments.plan.tiling(), arguments.target.target(), session)?;
    let totals = points.map(|(size, points)| {
        let per_step = plan_counts::points_per_step(program, &size);
        let all =
            |per_point: usize| arguments.steps.map(|steps| per_point as f64 * per_step as f64 * steps as f64);
        let counts = &planned.analysis.counts;
        Totals {
            steps: arguments.steps,
            points,
            points_per_step: per_step,
            grid_bytes: bytes_per_point(program).saturating_mul(points as u64),
            flops: all(counts.flops),
            bytes: all(counts.bytes),
            launches: arguments
                .steps
                .and_then(|steps| plan_counts::launches(&planned.plan, Some(&size), steps)),
            size,
        }
    });
    if let Some(path) = &arguments.svg {
        session.stage("drawing", || {
            let chart = tiles::chart(&planned.plan, &planned.analysis)?;
            drawing::write(path, chart.svg())
        })?;
    }
    let counts = &planned.analysis.counts;
    Ok(AnalyzeReport {
        stencil: program.name.clone(),
        description: program.description.clone(),
        dimension: program.dimension(),
        statements: program.statements.len(),
        flops: counts.flops,
        bytes: counts.bytes,
        intensity: counts.intensity,
        strategy: planned.plan.strategy,
        tile: planned.plan.tile.clone(),
        tile_text: planned.plan.tile.to_string(),
        legal: true,
        totals,
        svg: arguments.svg.clone(),
        dump: arguments.plan.dump.map(|stage| plan::dump(stage, &planned)),
        analysis: Arc::unwrap_or_clone(planned.analysis),
        proof: planned.proof,
    })
}

/// Bytes of all stored time levels of all fields at one point.
fn bytes_per_point(program: &Program) -> u64 {
    let bytes = |field: &polyhedral::program::Field| {
        let slots = match field.role {
            FieldRole::State { slots, .. } => slots,
            FieldRole::Coefficient => 1,
        };
        (slots * field.element.bytes()) as u64
    };
    program.fields.iter().map(bytes).sum()
}

impl Report for AnalyzeReport {
    const SCHEMA: &'static str = "tilewright.analyze/1";

    fn text(&self) -> String {
        let Analysis { cone, footprint, counts, dependences, .. } = &self.analysis;
        let slopes = |slopes: &[polyhedral::program::Rational]| {
            slopes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        let mut lines = vec![
            (
                "stencil",
                format!(
                    "{}, {}D, {}",
                    self.stencil,
                    self.dimension,
                    text::count(self.statements as u64, "statement", "statements")
                ),
            ),
            ("flops", format!("{} per point and step", self.flops)),
            (
                "bytes",
                format!(
                    "{} per point and step at least; {} with one sweep per statement",
                    self.bytes, counts.sweep_bytes
                ),
            ),
            ("intensity", format!("{:.3} flop per byte", self.intensity)),
            (
                "footprint",
                format!(
                    "{} values read, {} written per point",
                    footprint.values_read, footprint.values_written
                ),
            ),
            (
                "cone",
                format!(
                    "below ({}), above ({}) points per row\n\
                     (how far a value spreads from one row of time to the next, along each dimension)",
                    slopes(&cone.lower),
                    slopes(&cone.upper)
                ),
            ),
            ("strategy", self.strategy.to_owned()),
            ("tile", plan::tile_text(self.strategy, &self.tile)),
            ("proof", plan::proof_text(&self.proof)),
        ];
        let point = |offset: &[i64]| {
            let offset: Vec<String> = offset.iter().map(i64::to_string).collect();
            format!("({})", offset.join(", "))
        };
        let within: BTreeSet<&[i64]> = cone.offsets_within().collect();
        if !within.is_empty() {
            let after = within.into_iter().map(point).collect::<Vec<_>>().join(", ");
            lines.insert(
                6,
                ("order", format!("in place: a point is computed before those at {after} from it")),
            );
        }
        if let Some(totals) = &self.totals {
            lines.push(("size", totals_text(totals)));
        }
        if let Some(path) = &self.svg {
            lines.push(("drawing", path.display().to_string()));
        }
        let dump = self.dump.as_ref().map(|dump| dump.clone() + "\n").unwrap_or_default();
        let description = if self.description.is_empty() {
            String::new()
        } else {
            report::indented(&self.description) + "\n"
        };
        dump + &report::pairs(&lines)
            + "\n"
            + &description
            + &boxes(&self.analysis)
            + "\n"
            + &dependence_table(&self.analysis.fields, dependences)
    }
}

fn totals_text(totals: &Totals) -> String {
    let mut text = format!(
        "{}: {} points, {} computed per step, {}",
        text::size(&totals.size),
        totals.points,
        totals.points_per_step,
        report::bytes(totals.grid_bytes as f64)
    );
    if let (Some(steps), Some(flops), Some(bytes)) = (totals.steps, totals.flops, totals.bytes) {
        text.push_str(&format!(
            "\n{}: {flops:.4e} flop, {} moved without tiling in time, {}",
            text::count(steps as u64, "step", "steps"),
            report::bytes(bytes),
            totals.launches.map_or("launches not counted".to_owned(), |launches| {
                text::count(launches, "launch", "launches")
            }),
        ));
    }
    text
}

/// What each statement reads.
fn boxes(analysis: &Analysis) -> String {
    let rows: Vec<Vec<String>> = analysis
        .footprint
        .statements
        .iter()
        .flat_map(|statement| {
            statement.boxes.iter().map(|access| {
                vec![
                    statement.target.clone(),
                    access.field.clone(),
                    if access.time == 0 { "t".to_owned() } else { format!("t{:+}", access.time) },
                    report::vector(&access.low),
                    report::vector(&access.high),
                    access.reads.to_string(),
                ]
            })
        })
        .collect();
    report::table(&["statement", "reads", "level", "from", "to", "values"], &rows, &[5])
}

fn dependence_table(fields: &[String], dependences: &[Dependence]) -> String {
    let row = |dependence: &Dependence| {
        vec![
            dependence.kind.to_string(),
            fields[dependence.field.0].clone(),
            dependence.source.to_string(),
            dependence.target.to_string(),
            dependence.rows.to_string(),
            report::vector(&dependence.offset),
        ]
    };
    let rows: Vec<Vec<String>> = dependences.iter().take(MOST_DEPENDENCES).map(row).collect();
    let header = ["dependence", "field", "source", "target", "rows", "distance"];
    let mut text = report::table(&header, &rows, &[2, 3, 4]);
    if !rows.is_empty() {
        text.push_str(
            "(source, target: numbers of statements; rows: rows of time between them, one for each statement and step)\n",
        );
    }
    if let Some(more) = dependences.len().checked_sub(MOST_DEPENDENCES).filter(|&more| more > 0) {
        text.push_str(&format!("and {more} more; --dump dependences and --json show all\n"));
    }
    text
}
