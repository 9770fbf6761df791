//! `tilewright run` in several processes that `mpirun` started.

use crate::error::{Error, Result};
use crate::printed::Printed;
use crate::progress::Session;
use crate::ranks_report::RanksReport;
use crate::run::{self, BackendName, RunArguments, RunReport};
use crate::{initial_data, load, outputs};
use execution::ranks::World;
use hhc_codegen::plan_counts;
use tilewright::on_ranks::{self, OnRanks, RanksRequest};
use tilewright::ranks::Ranks;
use tilewright::{Stencil, machines};
use toolchain::clock::Timing;

/// Variables by which `mpirun` and `srun` with PMI tell a process how many there are.
const COUNTS: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// The ranks that a run is for: those that are asked for, or that `mpirun` started; none for a process by itself.
pub fn wanted(arguments: &RunArguments) -> Option<Ranks> {
    let started = || {
        let counts = COUNTS.into_iter().filter_map(|name| std::env::var(name).ok()?.parse::<u64>().ok());
        counts.max().is_some_and(|count| count > 1)
    };
    match &arguments.ranks {
        Some(ranks) => Some(ranks.0.clone()),
        None => started().then_some(Ranks::Auto),
    }
}

/// Runs the stencil on all ranks; the first one has the report.
///
/// # Errors
/// As for [`run::run`]; of the ranks that fail, the first one says why.
pub fn run(arguments: &RunArguments, ranks: Ranks, session: &Session) -> Result<Printed> {
    let world = World::start()?;
    let outcome = on_ranks::all_or_none(&world, all(arguments, ranks, &world, session));
    let first = world.rank == 0;
    world.stop()?;
    match outcome {
        Ok(report) if first => Printed::of(&report, session),
        Ok(_) => Ok(Printed::nothing(0)),
        // The rank that failed says why, and has the exit code: another one would make mpirun end it before.
        Err(error) if on_ranks::is_elsewhere(&error) => Ok(Printed::nothing(0)),
        Err(error) => Err(error),
    }
}

/// Refuses what one process alone can do.
fn refuse(arguments: &RunArguments) -> Result<()> {
    let refused = [
        (arguments.backend != BackendName::OpenMp, "another --backend than openmp"),
        (arguments.contract, "--contract"),
        (arguments.trials.is_some(), "--trials"),
        (arguments.plan.dump.is_some(), "--dump"),
    ];
    match refused.into_iter().find(|(given, _)| *given) {
        Some((_, what)) => Err(Error::wrong_input(format!("several ranks of MPI do not go with {what}"))
            .hint("leave it out, or run one process without --ranks")),
        None => Ok(()),
    }
}

fn all(arguments: &RunArguments, ranks: Ranks, world: &World, session: &Session) -> Result<RunReport> {
    refuse(arguments)?;
    let stencil: Stencil = session.stage("read", || load::of_plan(&arguments.plan))?;
    let program = &stencil.program;
    tilewright::ranks::check(
        Some(&ranks),
        program,
        hhc_codegen::strategy::Target::OpenMp,
        stencil.c.is_some(),
    )?;
    let parameters = initial_data::parameters(program, &arguments.param)?;
    let inputs = initial_data::input_files(program, &arguments.input)?;
    let written = initial_data::field_files(program, "--output", &arguments.output)?;
    let mut files = stencil.files.clone();
    files.extend(arguments.machine.as_deref().and_then(machines::file));
    files.extend(inputs.fields.iter().map(|input| input.path.clone()));
    files.extend(inputs.series.iter().map(|(_, path)| path.clone()));
    let places: Vec<_> = written.iter().map(|output| ("--output", output.path.as_path())).collect();
    outputs::check(&places, &files)?;
    let size = initial_data::grid_size(program, arguments.size.as_ref(), &inputs.fields)?;
    let machine = arguments.machine.as_deref().map(machines::machine).transpose()?;
    let request = RanksRequest {
        ranks,
        depth: arguments.depth,
        blocking: arguments.blocking,
        tiling: arguments.plan.tiling(),
        machine: machine.as_ref(),
        threads: arguments.threads.map(|threads| threads as usize),
        size: &size,
        steps: arguments.steps,
        parameters: &parameters,
        inputs: &inputs,
        seed: arguments.seed,
        outputs: &written,
        repeat: arguments.repeat as usize,
        verify: arguments.verify,
    };
    let OnRanks { planned, compiler, notes, ranks, modelled, seconds, threads, checksum, comparison } =
        on_ranks::run(&stencil, world, &request, session)?;
    let timing = Timing::of(seconds).ok_or_else(|| Error::internal("no run was timed"))?;
    let points_per_step = plan_counts::points_per_step(program, &size);
    let updates = points_per_step as f64 * arguments.steps as f64;
    let element = program.fields[0].element;
    let mut all_notes = run::notes(program, &size);
    all_notes.extend(notes);
    if checksum.is_none() {
        all_notes
            .push("no checksum: the whole grid does not fit into the memory of the first rank".to_owned());
    }
    Ok(RunReport {
        stencil: program.name.clone(),
        strategy: Some(planned.plan.strategy),
        backend: "openmp",
        steps: arguments.steps,
        tile: Some(planned.plan.tile.clone()),
        tile_text: Some(planned.plan.tile.to_string()),
        seconds: timing.median,
        gstencil_per_s: if timing.median > 0.0 { updates / timing.median * 1e-9 } else { 0.0 },
        seconds_all: timing.seconds_all,
        checksum: checksum.map(|checksum| format!("{checksum:016x}")).unwrap_or_default(),
        verified: comparison.as_ref().map(|comparison| comparison.mismatches == 0),
        error_bound: None,
        max_abs_error: comparison.as_ref().map(|comparison| comparison.max_abs_error),
        mismatches: comparison.as_ref().map(|comparison| comparison.mismatches),
        first_mismatch: comparison.and_then(|comparison| comparison.first.map(|first| first.to_string())),
        points_per_step,
        dtype: program.fields.iter().all(|field| field.element == element).then(|| element.name()),
        layout: "padded",
        bytes: ranks.iter().map(|rank| rank.memory).sum(),
        threads: Some(threads),
        device: None,
        launches: None,
        seed: inputs.leave_some(program).then_some(arguments.seed),
        parameters: run::names(program).zip(parameters.iter().copied()).collect(),
        proof: Some(planned.proof),
        compiler: Some(compiler),
        emulator: None,
        outputs: (written.iter())
            .map(|file| (program.field(file.field).name.clone(), file.path.clone()))
            .collect(),
        notes: all_notes,
        ranks: Some(RanksReport::new(&ranks, modelled)),
        dump: None,
        size,
    })
}
