//! `tilewright compile`: source code, a header, a build file and `manifest.json`.

pub mod arguments;
mod files;
mod report;
mod tiled;

use crate::error::{Error, Result};
use crate::progress::Session;
use crate::{load, plan};
use arguments::CompileArguments;
use cost_models::machine::Machine;
use execution::output_folder::OutputFolder;
use hhc_codegen::backend::cuda::DeviceLimits;
use hhc_codegen::pipeline::Planned;
use hhc_codegen::plan::most_apart;
use hhc_codegen::strategy::Target;
use polyhedral::legality::Proof;
pub use report::CompileReport;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use tiled::Tiled;
use tilewright::adaptive::uses::Uses;
use tilewright::c_program::{self, CProgram, CSource, LoopLeft};
use tilewright::choice::Wish;
use tilewright::contract::Liberties;
use tilewright::emit::{self, EmitRequest, Facts};
use tilewright::{Stencil, adaptive, machines, ranks, text};

/// Writes the code.
///
/// # Errors
/// Wrong input, an infeasible tiling, or a folder that cannot be written.
pub fn compile(arguments: &CompileArguments, session: &Session) -> Result<CompileReport> {
    plan::dump_refused(arguments.plan.dump, session);
    let mut stencil = session
        .stage("read", || load::for_target(&arguments.plan, &arguments.with, arguments.target.target()))?;
    let c = stencil.c.take();
    let mut inputs = stencil.files.clone();
    inputs.extend(arguments.with.iter().cloned());
    inputs.extend(arguments.machine.as_deref().and_then(machines::file));
    let folder = OutputFolder::new(&arguments.output, &inputs, arguments.force)?;
    if c.is_some() && arguments.plan.dtype.is_some() {
        return Err(Error::wrong_input(
            "--dtype does not fit a C program, whose arrays have their own types",
        )
        .hint("change the type in the program, by a macro: -DTYPE=float"));
    }
    if c.is_none() && !arguments.with.is_empty() {
        return Err(Error::wrong_input("--with is for sources of a C program"));
    }
    let arithmetic = arguments.arithmetic.arithmetic();
    if !arithmetic.is_exact() {
        refuse_liberties(arguments, c.is_some())?;
        stencil = stencil.with_arithmetic(arithmetic);
    }
    let machine = arguments.machine.as_deref().map(machines::machine).transpose()?;
    let job = Job { arguments, stencil, c, folder, machine };
    match &arguments.adaptive {
        Some(uses) => job.several(uses, session),
        None => job.one(session),
    }
}

/// Refuses code whose results are held against others bit by bit, or whose arithmetic the user's own compiler decides.
fn refuse_liberties(arguments: &CompileArguments, c: bool) -> Result<()> {
    let given = arguments.arithmetic.given();
    if arguments.target.target() != Target::Cuda {
        return Err(Error::wrong_input(format!(
            "{given} is for --target cuda: C compilers have options of their own"
        ))
        .hint("leave it out, and compile with -ffp-contract=fast"));
    }
    let what = match (c, arguments.ranks.is_some()) {
        (true, _) => "the code of a C program, whose results are the program's, bit for bit",
        (_, true) => "--ranks, whose results are those of one rank, bit for bit",
        _ => return Ok(()),
    };
    Err(Error::wrong_input(format!("{given} does not go with {what}")).hint("leave it out"))
}

/// What is compiled, and where to.
struct Job<'a> {
    arguments: &'a CompileArguments,
    stencil: Stencil,
    c: Option<Box<CProgram>>,
    folder: OutputFolder,
    machine: Option<Machine>,
}

impl Job<'_> {
    /// Code with one tiling.
    fn one(self, session: &Session) -> Result<CompileReport> {
        let Job { arguments, mut stencil, c, folder, machine } = self;
        let more = std::mem::take(&mut stencil.more);
        let mut left = std::mem::take(&mut stencil.left);
        let size = arguments.size.as_ref().map(|size| size.0.clone());
        if let Some(size) = &size {
            execution::layout::grid_points(&stencil.program, size)?;
        }
        let timed = AtomicBool::new(false);
        let wish = Wish {
            timed: Some(&timed),
            size: size.as_deref(),
            steps: arguments.steps,
            calls: 1,
            machine: machine.as_ref(),
            threads: None,
            by: arguments.choice.tile_by(),
            calibrate: !arguments.choice.no_calibrate,
            runs: false,
            machine_code: true,
            company: None,
        };
        let target = arguments.target.target();
        let ranks = arguments.ranks.as_ref().map(|ranks| &ranks.0);
        ranks::check(ranks, &stencil.program, target, c.is_some())?;
        let dimension = stencil.program.dimension();
        let first = Tiled::new(stencil, c.map(|c| *c), &arguments.plan.tiling(), arguments, &wish, session)?;
        // The other time loops of the file, each with a tiling of its own.
        let mut others = Vec::new();
        for other in more {
            let (function, line) = c_program::place(&other);
            match Tiled::other(other, dimension, arguments, &wish, session) {
                Ok(other) => others.push(other),
                Err(error) => left.push(LoopLeft { function, line, reasons: vec![error.to_string()] }),
            }
        }
        let programs: Vec<&CProgram> =
            [&first].into_iter().chain(&others).filter_map(|loops| loops.c.as_ref()).collect();
        let one_at_a_time = programs.iter().filter_map(|c| {
            let reason = c_program::one_step_at_a_time(c)?;
            let (function, line) = c_program::place(c);
            Some(format!(
                "the loop in {function}, line {line}, runs one step at a time, each in tiles: {reason}"
            ))
        });
        let loops = [&first].into_iter().chain(&others).filter(|_| target == Target::OpenMp);
        let computed_anew = loops.filter_map(|tiled| {
            let (function, line) = c_program::place(tiled.c.as_ref()?);
            let arrays = most_apart(&tiled.planned.plan);
            (arrays > 1).then(|| {
                format!(
                    "in the loop in {function}, line {line}, {arrays} arrays are computed of the same values, and what they share is \
                     computed for each of them: on few cores this may be slower than the program as it is written"
                )
            })
        });
        let outside = programs.iter().filter_map(|c| c_program::outside_of_arrays(c));
        let elsewhere = programs.first().and_then(|c| elsewhere(Path::new(&arguments.plan.spec), c));
        let own_pragmas = programs.first().and_then(|c| c_program::own_pragmas(c));
        let cautions: Vec<String> = elsewhere
            .into_iter()
            .chain(own_pragmas)
            .chain(outside)
            .chain(one_at_a_time)
            .chain(computed_anew)
            .collect();
        let fast = Liberties::note(&first.planned.plan.program);
        let options = arguments.plan.c.options();
        let request = |programs, limits| EmitRequest {
            target,
            limits,
            size: size.as_deref(),
            steps: arguments.steps,
            c: first.c.as_ref().map(|_| CSource { programs, options: &options }),
            ranks,
        };
        let emitted = session.stage("generate", || {
            let mut emitted =
                emit::emit(&first.planned.plan, &request(programs.as_slice(), &first.chosen.limits))?;
            let mut loops = Vec::new();
            for other in &others {
                let more = emit::emit(&other.planned.plan, &request(&[], &other.chosen.limits))?;
                emitted.files.extend(more.files);
                loops.push(other.report(more.facts, arguments));
            }
            Ok::<_, Error>((emitted, loops))
        })?;
        let (emitted, more) = emitted;
        let files = emitted.files;
        let facts = first.facts(emitted.facts, arguments);
        let facts_of_others = more.iter().map(|other| &other.facts).collect();
        let (directory, files) =
            session.stage("write", || files::write(&folder, &facts, facts_of_others, &files))?;
        let Tiled { chosen, planned, c, .. } = first;
        Ok(CompileReport {
            dump: arguments.plan.dump.map(|stage| plan::dump(stage, &planned)),
            arrays: c.as_ref().map(|c| c_program::array_uses(c, target)),
            place: c.as_ref().map(report::place_text),
            more,
            left,
            c,
            chosen_by: chosen.by,
            notes: chosen.caution.into_iter().chain(chosen.passed_over).chain(cautions).chain(fast).collect(),
            facts,
            directory,
            files,
            proof: planned.proof,
            ghosts: emitted.ghosts,
        })
    }

    /// A library with several tilings, and what chooses among them.
    fn several(self, uses: &Path, session: &Session) -> Result<CompileReport> {
        let Job { arguments, stencil, c, folder, machine } = self;
        if c.is_some() {
            return Err(Error::wrong_input(
                "--adaptive is for stencil files: a C program knows its own sizes",
            )
            .hint(
                "compile it for its own size, or write the stencil as a file of its own and call the library",
            ));
        }
        if arguments.target.target() != Target::OpenMp {
            return Err(Error::infeasible("there is no choice among tilings in CUDA code yet")
                .hint("take --target openmp, or compile twice, with --prefix"));
        }
        let uses = Uses::read(uses, &stencil.program)?;
        let tiling = arguments.plan.tiling();
        let request = adaptive::Request {
            tiling: &tiling,
            uses: &uses,
            machine: machine.as_ref(),
            by: arguments.choice.tile_by(),
            calibrate: !arguments.choice.no_calibrate,
        };
        let portfolio = adaptive::portfolio(&stencil, &request, session)?;
        let name = stencil.program.name.clone();
        let stencil = tiled::renamed(stencil, arguments);
        let (emitted, planned) =
            emit::emit_portfolio(&stencil, &portfolio, &DeviceLimits::default(), session)?;
        let facts = Facts { stencil: name, prefix: arguments.prefix.clone(), ..emitted.facts };
        let (directory, files) =
            session.stage("write", || files::write(&folder, &facts, Vec::new(), &emitted.files))?;
        let dumped = arguments.plan.dump.zip(planned.first());
        let costs = if portfolio.measured { "times measured on" } else { "times predicted for" };
        Ok(CompileReport {
            dump: dumped.map(|(stage, planned)| plan::dump(stage, planned)),
            arrays: None,
            place: None,
            more: Vec::new(),
            left: Vec::new(),
            c: None,
            chosen_by: format!(
                "chosen for {} by {costs} {}",
                text::count(uses.all.len() as u64, "use", "uses"),
                portfolio.machine
            ),
            notes: portfolio.caution.into_iter().collect(),
            facts,
            directory,
            files,
            proof: all_proofs(&planned)?,
            ghosts: None,
        })
    }
}

/// That the time loops are in another source than the one that was named.
fn elsewhere(named: &Path, c: &CProgram) -> Option<String> {
    let file = c_program::file(c);
    (file != named).then(|| {
        format!(
            "{} has no time loop that can be tiled: those of {} are, which takes its place",
            named.display(),
            file.display()
        )
    })
}

/// What was proved of all tilings.
fn all_proofs(planned: &[Planned]) -> Result<Proof> {
    let mut proofs = planned.iter().map(|planned| planned.proof.clone());
    let first = proofs.next().ok_or_else(|| Error::internal("no tiling was proved"))?;
    Ok(proofs.fold(first, |all, proof| Proof {
        relations: all.relations + proof.relations,
        seconds: all.seconds + proof.seconds,
        ..all
    }))
}
