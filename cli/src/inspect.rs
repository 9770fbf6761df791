//! `tilewright inspect`: what the machine code of a tiling issues, and what limits it.

use crate::arguments::{ArithmeticArguments, PlanArguments, Size, TargetName, some_steps_parser};
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{load, plan};
use clap::Args;
use cost_models::machine::{self, Machine};
use hhc_codegen::backend::cuda::DeviceLimits;
use hhc_codegen::strategy::Target;
use serde::Serialize;
use tilewright::choice::{self, Wish};
use tilewright::contract::Liberties;
use tilewright::inspect::{self as counting, Bound, InspectRequest, Inspection, PerPoint};
use tilewright::{machines, text};

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub struct InspectArguments {
    /// The stencil and its tiling.
    #[command(flatten)]
    pub plan: PlanArguments,
    /// Language of the code: cuda
    #[arg(long, value_name = "TARGET", default_value = "cuda")]
    pub target: TargetName,
    /// Compute capability without the point: 90 for 9.0; that of the machine where not given
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(10..=999))]
    pub sm: Option<u32>,
    /// Grid size, slowest dimension first
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Size,
    /// Number of time steps
    #[arg(long, value_name = "N", value_parser = some_steps_parser(), allow_negative_numbers = true)]
    pub steps: i64,
    /// GPU whose limits are asked about, and that tile sizes are chosen for: a name or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// What code may compute in place of the program's own operations.
    #[command(flatten)]
    pub arithmetic: ArithmeticArguments,
}

/// The report of `inspect`.
#[derive(Debug, Serialize)]
pub struct InspectReport {
    /// Name of the stencil.
    pub stencil: String,
    /// Name of the strategy.
    pub strategy: &'static str,
    /// Tile sizes as `--tile` takes them.
    pub tile: String,
    /// Who chose them.
    pub chosen_by: String,
    /// The type of the fields.
    pub element: &'static str,
    /// What the code computes in place of the program's own operations; only where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arithmetic: Option<Liberties>,
    /// What was counted.
    #[serde(flatten)]
    pub counted: Inspection,
    /// Facts worth knowing.
    pub notes: Vec<String>,
}

/// Compute capability where neither it nor a machine is given.
const USUAL: u32 = 90;

/// Counts.
///
/// # Errors
/// Wrong input, an infeasible tiling, no compiler or disassembler, code that cannot be counted.
pub fn inspect(arguments: &InspectArguments, session: &Session) -> Result<InspectReport> {
    if arguments.target.target() != Target::Cuda {
        return Err(Error::wrong_input("only code of GPUs is counted").hint("use --target cuda"));
    }
    plan::dump_refused(arguments.plan.dump, session);
    let stencil = session.stage("read", || load::of_plan(&arguments.plan))?;
    let stencil = stencil.with_arithmetic(arguments.arithmetic.arithmetic());
    execution::layout::grid_points(&stencil.program, &arguments.size.0)?;
    let named = arguments.machine.as_deref().map(machines::machine).transpose()?;
    let (machine, architecture) = device(named.as_ref(), arguments.sm)?;
    let wish = Wish::of_model(Some(&arguments.size.0), Some(arguments.steps), named.as_ref());
    let wish = Wish { machine_code: true, ..wish };
    let chosen = choice::choose(&stencil, &arguments.plan.tiling(), Target::Cuda, &wish, session)?;
    let planned = tilewright::plan(&stencil, &chosen.tiling, Target::Cuda, session)?;
    let request = InspectRequest {
        architecture,
        size: &arguments.size.0,
        steps: arguments.steps,
        limits: if named.is_some() { &chosen.limits } else { &DeviceLimits::default() },
        machine: &machine,
    };
    let counted = counting::inspect(&planned.plan, &request, session)?;
    let mut notes: Vec<String> =
        chosen.caution.into_iter().chain(Liberties::note(&stencil.program)).collect();
    if counted.steady.branches_on_values > 0.0 {
        notes.push(
            "some branches depend on values, as the slow ways of division and roots: the way of ordinary numbers is counted"
                .to_owned(),
        );
    }
    if (counted.covered - 1.0).abs() > 1e-3 {
        notes.push(format!(
            "the counted blocks stand for {:.2} % of the points: blocks are not alike, and the sums are estimates",
            100.0 * counted.covered
        ));
    }
    Ok(InspectReport {
        stencil: stencil.program.name.clone(),
        strategy: planned.plan.strategy,
        tile: planned.plan.tile.to_string(),
        chosen_by: chosen.by,
        element: stencil.program.fields[0].element.name(),
        arithmetic: Liberties::of(&stencil.program, arguments.steps.unsigned_abs()),
        counted,
        notes,
    })
}

/// The machine, and the compute capability that code is made for.
///
/// # Errors
/// A machine that is no GPU or of another compute capability; a compute capability that no shipped machine has.
pub fn device(named: Option<&Machine>, sm: Option<u32>) -> Result<(Machine, u32)> {
    let own = |machine: &Machine| machine.gpu().map(|gpu| gpu.compute_capability as u32);
    if let Some(machine) = named {
        let Some(has) = own(machine) else {
            return Err(Error::infeasible(format!(
                "machine `{}` is a CPU, and only code of GPUs is counted",
                machine.name
            )));
        };
        return match sm.filter(|&sm| sm != has) {
            None => Ok((machine.clone(), has)),
            Some(sm) => Err(Error::wrong_input(format!(
                "machine `{}` has compute capability {has}, not {sm}",
                machine.name
            ))
            .hint("leave out --sm, or name another machine")),
        };
    }
    let architecture = sm.unwrap_or(USUAL);
    let shipped = machine::names().into_iter().filter_map(|name| machine::shipped(name)?.ok());
    let found = shipped.into_iter().find(|machine| own(machine) == Some(architecture));
    let found = found.ok_or_else(|| {
        Error::infeasible(format!("no shipped machine has compute capability {architecture}"))
            .hint("name a machine file of your own with --machine")
    })?;
    Ok((found, architecture))
}

impl Report for InspectReport {
    const SCHEMA: &'static str = "tilewright.inspect/1";

    fn text(&self) -> String {
        let own = &self.counted;
        let kib = |bytes: u64| format!("{:.1} KiB", bytes as f64 / 1024.0);
        let mut lines = vec![
            (
                "stencil",
                format!(
                    "{} ({}), {}, {} steps",
                    self.stencil,
                    self.element,
                    text::size(&own.size),
                    own.steps
                ),
            ),
            ("strategy", format!("{} {}", self.strategy, self.tile)),
            ("", self.chosen_by.clone()),
            ("code", format!("{}, {}, {}", own.architecture, own.compiler, own.disassembler)),
            ("launches", own.launches.to_string()),
            ("device memory", report::bytes(own.device_bytes)),
        ];
        lines.extend(self.arithmetic.as_ref().map(|own| ("arithmetic", own.to_string())));
        let mut text = report::pairs(&lines);
        let rows = [
            row("instructions", own, |point| point.instructions),
            row("  floating point", own, |point| point.fp),
            row("  integer", own, |point| point.integer),
            row("  barriers", own, |point| point.barriers),
            row("  shuffles", own, |point| point.shuffles),
            row("operations", own, |point| point.operations),
            row("shared bytes", own, |point| point.shared_bytes),
            row("global bytes", own, |point| point.global_bytes),
            row("sector bytes", own, |point| point.sector_bytes),
            row("memory bytes", own, |point| point.memory_bytes),
            row("local bytes", own, |point| point.local_bytes),
            row("bank conflict factor", own, |point| point.bank_conflict_factor),
        ];
        text +=
            &format!("\n{}", report::table(&["per point and step", "steady", "whole run"], &rows, &[1, 2]));
        let kinds: Vec<Vec<String>> = (own.per_point.kinds.iter())
            .filter(|(_, count)| **count > 0.0)
            .map(|(kind, count)| vec![(*kind).to_owned(), number(own.steady.kinds[kind]), number(*count)])
            .collect();
        text += &format!(
            "\n{}",
            report::table(&["instructions by kind", "steady", "whole run"], &kinds, &[1, 2])
        );
        let kernels: Vec<Vec<String>> = (own.kernels.iter())
            .map(|kernel| {
                vec![
                    kernel.kernel.clone(),
                    kernel.launches.to_string(),
                    kernel.blocks.to_string(),
                    kernel.threads.to_string(),
                    kernel.registers.to_string(),
                    kernel.spill_bytes.to_string(),
                    kib(kernel.shared_bytes_per_block),
                    kib(kernel.code_bytes),
                    kernel.resident.to_string(),
                    format!("{:.0} %", 100.0 * kernel.occupancy),
                    format!("{:.2}", kernel.waves),
                    number(kernel.steady.instructions),
                ]
            })
            .collect();
        let header = [
            "kernel",
            "launches",
            "blocks",
            "threads",
            "registers",
            "spilled",
            "shared",
            "code",
            "per SM",
            "occupancy",
            "waves",
            "instructions",
        ];
        text += &format!("\n{}", report::table(&header, &kernels, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]));
        let rate = |limit: Option<f64>| limit.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}"));
        let limits = |bound: &Bound| {
            let own = &bound.limits;
            [own.issue, own.fp32, own.fp64, own.special, own.shared, own.memory].map(rate)
        };
        let (steady, whole) = (limits(&own.steady_bound), limits(&own.bound));
        let names = ["issue", "fp32", "fp64", "special functions", "shared memory", "memory"];
        let rows: Vec<Vec<String>> = (names.iter().enumerate())
            .filter(|(at, _)| whole[*at] != "-")
            .map(|(at, name)| vec![(*name).to_owned(), steady[at].clone(), whole[at].clone()])
            .collect();
        let header = format!("GStencil/s at most on {}", own.bound.machine);
        text += &format!("\n{}", report::table(&[header.as_str(), "steady", "whole run"], &rows, &[1, 2]));
        text += &format!(
            "\nbound: {:.0} GStencil/s by {} at {:.2} GHz; latency and the cache of instructions are not in it\n",
            own.bound.gstencil_per_s,
            own.bound.resource,
            own.bound.clock_hz / 1e9
        );
        for note in &self.notes {
            text += &format!("note: {note}\n");
        }
        text
    }
}

fn row(name: &str, own: &Inspection, value: impl Fn(&PerPoint) -> f64) -> Vec<String> {
    vec![name.to_owned(), number(value(&own.steady)), number(value(&own.per_point))]
}

fn number(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        small if small.abs() < 0.1 => format!("{small:.4}"),
        _ => format!("{value:.2}"),
    }
}
