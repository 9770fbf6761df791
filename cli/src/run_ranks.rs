//! `tilewright run` in several processes that `mpirun` started.

use crate::error::{Error, Kind, Result};
use crate::printed::Printed;
use crate::progress::Session;
use crate::ranks_report::{KeptReport, RanksReport};
use crate::run::{self, BackendName, RunArguments, RunReport};
use crate::{initial_data, load, mpirun, outputs, report};
use execution::ranks::World;
use hhc_codegen::plan_counts;
use std::path::Path;
use std::time::Duration;
use tilewright::on_ranks::{self, Checkpoints, OnRanks, RanksRequest};
use tilewright::rank_watch::{Gone, Watch};
use tilewright::ranks::Ranks;
use tilewright::{Stencil, machines};
use toolchain::clock::Timing;

/// The ranks that a run is for: those that are asked for, or that `mpirun` started; none for a process by itself.
pub fn wanted(arguments: &RunArguments) -> Option<Ranks> {
    let kept = arguments.checkpoint.is_some() || arguments.restart.is_some();
    match &arguments.ranks {
        Some(ranks) => Some(ranks.0.clone()),
        None => (kept || mpirun::count() > 1).then_some(Ranks::Auto),
    }
}

/// Refuses several processes of which each takes itself for all.
///
/// # Errors
/// They do.
pub fn joined(world: &World) -> Result<()> {
    if world.count == 1 && mpirun::count() > 1 {
        return Err(Error::wrong_input(format!(
            "mpirun or srun started {} processes, but they do not find each other: it and the compiler for MPI belong to \
             different MPIs",
            mpirun::count()
        ))
        .hint("name the compiler of mpirun's MPI in $MPICC (mpicc.openmpi or mpicc.mpich), or take the other mpirun; srun needs --mpi=pmix or --mpi=pmi2, as that MPI has it"));
    }
    Ok(())
}

/// Ends this process where a rank has gone, and says which, unless another one has.
fn gone(rank: Option<&Gone>, kept: Option<&Path>, json: bool) {
    if !report::has_last_word() {
        return;
    }
    // Not `exit`: the main thread is in a call of MPI.
    let Some(rank) = rank else { signal_hook::low_level::exit(1) };
    let error = Error::Request {
        kind: Kind::Failed,
        message: format!("{rank}; the run has ended"),
        hints: kept
            .filter(|path| path.exists())
            .map(|_| "the last checkpoint is whole: go on from it with --restart".to_owned())
            .into_iter()
            .collect(),
    };
    signal_hook::low_level::exit(i32::from(crate::print_error(&error, json)));
}

/// Runs the stencil on all ranks; the first one has the report.
///
/// # Errors
/// As for [`run::run`]; of the ranks that fail, the first one says why.
pub fn run(arguments: &RunArguments, ranks: Ranks, session: &Session) -> Result<Printed> {
    let world = World::start()?;
    joined(&world)?;
    let watch = match arguments.rank_timeout {
        0 => None,
        seconds => {
            let (kept, json) = (arguments.checkpoint.clone(), session.json());
            let told = move |rank: Option<&Gone>| gone(rank, kept.as_deref(), json);
            Some(Watch::start(&world, Duration::from_secs(seconds), told)?)
        }
    };
    let outcome = on_ranks::all_or_none(&world, all(arguments, ranks, &world, session));
    let first = world.rank == 0;
    drop(watch);
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
    let kept = arguments.checkpoint.is_some() || arguments.restart.is_some();
    let refused = [
        (arguments.backend != BackendName::OpenMp, "another --backend than openmp"),
        (arguments.arithmetic.contract, "--contract"),
        (arguments.arithmetic.fast_math, "--fast-math"),
        (arguments.trials.is_some(), "--trials"),
        (arguments.plan.dump.is_some(), "--dump"),
        (kept && arguments.repeat > 1, "--repeat and checkpoints"),
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
    let outputs = written.iter().map(|output| ("--output", output.path.as_path()));
    let places: Vec<_> =
        outputs.chain(arguments.checkpoint.as_deref().map(|path| ("--checkpoint", path))).collect();
    outputs::check(&places, &files)?;
    let size = initial_data::grid_size(program, arguments.size.as_ref(), &inputs.fields)?;
    let machine = arguments.machine.as_deref().map(machines::machine).transpose()?;
    let request = RanksRequest {
        ranks,
        depth: arguments.depth,
        blocking: arguments.blocking,
        tiling: arguments.plan.tiling(),
        machine: machine.as_ref(),
        tile_by: arguments.choice.tile_by(),
        calibrate: !arguments.choice.no_calibrate,
        threads: arguments.threads.map(|threads| threads as usize),
        size: &size,
        steps: arguments.steps,
        parameters: &parameters,
        inputs: &inputs,
        seed: arguments.seed,
        outputs: &written,
        repeat: arguments.repeat as usize,
        verify: arguments.verify,
        checkpoints: (arguments.checkpoint.clone())
            .map(|path| Checkpoints { path, every: arguments.checkpoint_every }),
        restart: arguments.restart.as_deref(),
    };
    let OnRanks {
        planned,
        compiler,
        notes,
        ranks,
        modelled,
        seconds,
        threads,
        from,
        saved,
        checksum,
        comparison,
    } = on_ranks::run(&stencil, world, &request, session)?;
    let timing = Timing::of(seconds).ok_or_else(|| Error::internal("no run was timed"))?;
    let points_per_step = plan_counts::points_per_step(program, &size);
    let updates = points_per_step as f64 * (arguments.steps - from) as f64;
    let element = program.fields[0].element;
    let mut all_notes = run::notes(program, &size);
    all_notes.extend(notes);
    if checksum.is_none() {
        all_notes
            .push("no checksum: the whole grid does not fit into the memory of the first rank".to_owned());
    }
    let kept = KeptReport {
        file: arguments.checkpoint.clone(),
        written: saved.0,
        seconds: saved.1,
        restart: arguments.restart.clone(),
        steps_before: from,
    };
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
        ranks: Some(RanksReport::new(&ranks, modelled, kept)),
        dump: None,
        size,
    })
}
