//! `tilewright compile`: source code, a header, a build file and `manifest.json`.

pub mod arguments;

use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{json, load, plan};
use arguments::CompileArguments;
use cost_models::machine::Machine;
use execution::output_folder::{NewFile, OutputFolder};
use hhc_codegen::backend::cuda::DeviceLimits;
use hhc_codegen::pipeline::Planned;
use hhc_codegen::strategy::Target;
use polyhedral::legality::Proof;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tilewright::adaptive::uses::Uses;
use tilewright::adaptive::{Served, Worth};
use tilewright::c_program::{self, ArrayUse, CProgram, CSource, LoopLeft};
use tilewright::choice::{self, Chosen, Wish};
use tilewright::emit::{self, ChoiceFacts, CompiledFacts, EmitRequest, Facts, KernelFacts};
use tilewright::output::OutputFile;
use tilewright::ranks::GhostFacts;
use tilewright::{Stencil, Tiling, adaptive, machines, ranks, text};

/// The name of the file that describes the others.
const MANIFEST: &str = "manifest.json";
/// Its `schema`.
const MANIFEST_SCHEMA: &str = "tilewright.manifest/1";

/// The report of `compile`.
#[derive(Debug, Serialize)]
pub struct CompileReport {
    /// What the manifest says.
    #[serde(flatten)]
    pub facts: Facts,
    /// The folder, as an absolute path.
    pub directory: PathBuf,
    /// The files, as absolute paths; the manifest and the list of Tilewright's own files in the folder come last.
    pub files: Vec<PathBuf>,
    /// The arrays of a C program: which are used in place, and why the others are copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrays: Option<Vec<ArrayUse>>,
    /// The function and the line of the time loop of a C program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The other time loops of a C program that run in tiles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<OtherLoop>,
    /// Loops over time of a C program that stay as they are, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LoopLeft>,
    /// Who chose the tile sizes.
    pub chosen_by: String,
    /// Facts worth knowing.
    pub notes: Vec<String>,
    /// isl's proof that the code is legal.
    pub proof: Proof,
    /// How the code is spread over ranks of MPI; only with `--ranks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ghosts: Option<GhostFacts>,
    /// The stage that `--dump` asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dump: Option<String>,
}

/// A time loop of a C program other than the first one.
#[derive(Debug, Serialize)]
pub struct OtherLoop {
    /// Its function and its line.
    pub place: String,
    /// What the manifest says.
    #[serde(flatten)]
    pub facts: Facts,
    /// Which arrays are used in place.
    pub arrays: Vec<ArrayUse>,
    /// Who chose the tile sizes.
    pub chosen_by: String,
    /// isl's proof that its code is legal.
    pub proof: Proof,
}

#[derive(Serialize)]
struct Manifest<'a> {
    tilewright: &'static str,
    #[serde(flatten)]
    facts: &'a Facts,
    /// The other time loops of a C program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more: Vec<&'a Facts>,
    files: Vec<String>,
}

/// Writes the code.
///
/// # Errors
/// Wrong input, an infeasible tiling, or a folder that cannot be written.
pub fn compile(arguments: &CompileArguments, session: &Session) -> Result<CompileReport> {
    plan::dump_refused(arguments.plan.dump, session);
    let mut stencil = session.stage("read", || load::of_plan(&arguments.plan))?;
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
    let machine = arguments.machine.as_deref().map(machines::machine).transpose()?;
    let job = Job { arguments, stencil, c, folder, machine };
    match &arguments.adaptive {
        Some(uses) => job.several(uses, session),
        None => job.one(session),
    }
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
        let wish = Wish {
            size: size.as_deref(),
            steps: arguments.steps,
            machine: machine.as_ref(),
            threads: None,
            by: arguments.choice.tile_by(),
            calibrate: !arguments.choice.no_calibrate,
            runs: false,
            machine_code: true,
        };
        let chosen =
            choice::choose(&stencil, &arguments.plan.tiling(), arguments.target.target(), &wish, session)?;
        // Only now: machines know stencils by their own names.
        let name = stencil.program.name.clone();
        if let Some(prefix) = &arguments.prefix {
            stencil = stencil.renamed(prefixed(prefix, &name));
        }
        let c = c.map(|c| c_program::renamed(*c, &stencil.program));
        let target = arguments.target.target();
        let ranks = arguments.ranks.as_ref().map(|ranks| &ranks.0);
        ranks::check(ranks, &stencil.program, target, c.is_some())?;
        let planned = tilewright::plan(&stencil, &chosen.tiling, target, session)?;
        // The other time loops of the file, each with a tiling of its own.
        let mut others = Vec::new();
        for other in more {
            let (function, line) = c_program::place(&other);
            match Other::plan(
                other,
                stencil.program.dimension(),
                &arguments.plan.tiling(),
                arguments,
                &wish,
                session,
            ) {
                Ok(other) => others.push(other),
                Err(error) => left.push(LoopLeft { function, line, reasons: vec![error.to_string()] }),
            }
        }
        let programs: Vec<&CProgram> = c.iter().chain(others.iter().map(|other| &other.c)).collect();
        let options = arguments.plan.c.options();
        let (path, with) = (Path::new(&arguments.plan.spec), arguments.with.as_slice());
        let request = |programs, limits| EmitRequest {
            target,
            limits,
            size: size.as_deref(),
            steps: arguments.steps,
            c: c.as_ref().map(|_| CSource { programs, path, options: &options, with }),
            ranks,
        };
        let emitted = session.stage("generate", || {
            let mut emitted = emit::emit(&planned.plan, &request(programs.as_slice(), &chosen.limits))?;
            let mut loops = Vec::new();
            for other in &others {
                let more = emit::emit(&other.planned.plan, &request(&[], &other.chosen.limits))?;
                emitted.files.extend(more.files);
                loops.push(other.report(more.facts, target, &arguments.prefix));
            }
            Ok::<_, Error>((emitted, loops))
        })?;
        let (emitted, more) = emitted;
        let files = emitted.files;
        let facts = Facts { stencil: name, prefix: arguments.prefix.clone(), ..emitted.facts };
        let facts_of_others = more.iter().map(|other: &OtherLoop| &other.facts).collect();
        let (directory, files) =
            session.stage("write", || write(&folder, &facts, facts_of_others, &files))?;
        Ok(CompileReport {
            dump: arguments.plan.dump.map(|stage| plan::dump(stage, &planned)),
            arrays: c.as_ref().map(|c| c_program::array_uses(c, target)),
            place: c.as_ref().map(place_text),
            more,
            left,
            chosen_by: chosen.by,
            notes: chosen.caution.into_iter().chain(chosen.passed_over).collect(),
            facts,
            directory,
            files,
            proof: planned.proof,
            ghosts: emitted.ghosts,
        })
    }

    /// A library with several tilings, and what chooses among them.
    fn several(self, uses: &Path, session: &Session) -> Result<CompileReport> {
        let Job { arguments, mut stencil, c, folder, machine } = self;
        if c.is_some() {
            return Err(Error::wrong_input(
                "--adaptive is for stencil files: a C program knows its own sizes",
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
        if let Some(prefix) = &arguments.prefix {
            stencil = stencil.renamed(prefixed(prefix, &name));
        }
        let (emitted, planned) =
            emit::emit_portfolio(&stencil, &portfolio, &DeviceLimits::default(), session)?;
        let facts = Facts { stencil: name, prefix: arguments.prefix.clone(), ..emitted.facts };
        let (directory, files) =
            session.stage("write", || write(&folder, &facts, Vec::new(), &emitted.files))?;
        let dumped = arguments.plan.dump.zip(planned.first());
        let costs = if portfolio.measured { "times measured on" } else { "times predicted for" };
        Ok(CompileReport {
            dump: dumped.map(|(stage, planned)| plan::dump(stage, planned)),
            arrays: None,
            place: None,
            more: Vec::new(),
            left: Vec::new(),
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

/// A time loop of a C program other than the first one.
struct Other {
    c: CProgram,
    name: String,
    chosen: Chosen,
    planned: Planned,
}

impl Other {
    /// Chooses a tiling. Tile sizes and grids that were given fit loops of as many dimensions as the first one has.
    // Without the front end for C there is no value of its type.
    #[cfg_attr(not(feature = "c"), allow(unreachable_code, unused_variables))]
    fn plan(
        c: CProgram,
        first: usize,
        wanted: &Tiling,
        arguments: &CompileArguments,
        wish: &Wish<'_>,
        session: &Session,
    ) -> Result<Other> {
        let target = arguments.target.target();
        let mut stencil = Stencil::of(Arc::clone(c_program::program(&c)));
        let name = stencil.program.name.clone();
        let fits = stencil.program.dimension() == first;
        let wish = Wish { size: wish.size.filter(|_| fits), ..*wish };
        let tiling = Tiling { strategy: wanted.strategy.clone(), tile: wanted.tile.clone().filter(|_| fits) };
        let chosen = choice::choose(&stencil, &tiling, target, &wish, session)?;
        if let Some(prefix) = &arguments.prefix {
            stencil = stencil.renamed(prefixed(prefix, &name));
        }
        let planned = tilewright::plan(&stencil, &chosen.tiling, target, session)?;
        Ok(Other { c: c_program::renamed(c, &stencil.program), name, chosen, planned })
    }

    fn report(
        &self,
        facts: Facts,
        target: hhc_codegen::strategy::Target,
        prefix: &Option<String>,
    ) -> OtherLoop {
        OtherLoop {
            place: place_text(&self.c),
            arrays: c_program::array_uses(&self.c, target),
            chosen_by: self.chosen.by.clone(),
            proof: self.planned.proof.clone(),
            facts: Facts { stencil: self.name.clone(), prefix: prefix.clone(), ..facts },
        }
    }
}

/// `main, line 17`
fn place_text(c: &CProgram) -> String {
    let (function, line) = c_program::place(c);
    format!("{function}, line {line}")
}

/// The name of everything: the prefix, an underscore, and the stencil's own name.
fn prefixed(prefix: &str, stencil: &str) -> String {
    format!("{}_{stencil}", prefix.trim_end_matches('_'))
}

/// Writes all files, the manifest last. Returns the absolute paths of the folder and of the files.
fn write(
    folder: &OutputFolder,
    facts: &Facts,
    more: Vec<&Facts>,
    files: &[OutputFile],
) -> Result<(PathBuf, Vec<PathBuf>)> {
    let manifest = json::document(
        MANIFEST_SCHEMA,
        &Manifest {
            tilewright: env!("CARGO_PKG_VERSION"),
            facts,
            more,
            files: files.iter().map(|file| file.name.to_string_lossy().into_owned()).collect(),
        },
    );
    let manifest = OutputFile { name: MANIFEST.into(), bytes: (manifest + "\n").into_bytes() };
    let all: Vec<NewFile<'_>> =
        files.iter().chain([&manifest]).map(|file| (file.name.as_path(), file.bytes.as_slice())).collect();
    Ok(folder.write(&all)?)
}

impl Report for CompileReport {
    const SCHEMA: &'static str = "tilewright.compile/1";

    fn text(&self) -> String {
        let facts = &self.facts;
        if let Some(choice) = &facts.adaptive {
            return self.dumped() + &report::pairs(&self.lines_of_choice(choice));
        }
        let launches = match (facts.launches, facts.steps) {
            (Some(launches), Some(steps)) => {
                format!("{launches} for {}", text::count(steps as u64, "time step", "time steps"))
            }
            _ => format!(
                "{} for each {} in {} ..= {}",
                facts.launches_per_iteration,
                facts.host_loop.variable,
                facts.host_loop.low,
                facts.host_loop.high
            ),
        };
        let kernels: Vec<&str> = facts.kernels.iter().map(|kernel| kernel.description.as_str()).collect();
        let stencil = match &self.place {
            Some(place) => format!("{} ({place})", facts.stencil),
            None => facts.stencil.clone(),
        };
        let mut lines = vec![
            ("stencil", stencil),
            ("target", facts.target.to_owned()),
            ("strategy", facts.strategy.to_owned()),
            ("tile", format!("{}\n{}", plan::tile_text(facts.strategy, &facts.tile), self.chosen_by)),
            ("proof", plan::proof_text(&self.proof)),
            ("kernels", kernels.join("\n")),
            ("launches", launches),
        ];
        if let Some(bytes) = facts.shared_bytes_per_block {
            lines.push(("shared memory", format!("{} per block", report::bytes(bytes as f64))));
        }
        if let Some(threads) = facts.threads_per_block {
            lines.push(("threads", format!("{threads} per block")));
        }
        if facts.target == "cuda" {
            lines.push(("registers", registers_text(&facts.kernels)));
        }
        lines.extend(self.ghosts.as_ref().map(|ghosts| ("ranks", ghosts.to_string())));
        lines.extend(self.notes.iter().map(|note| ("note", note.clone())));
        if let Some(arrays) = &self.arrays {
            lines.push(("arrays", arrays_text(arrays)));
        }
        for other in &self.more {
            let facts = &other.facts;
            let text = [
                format!("{} ({})", facts.stencil, other.place),
                format!(
                    "{} {}, {}",
                    facts.strategy,
                    plan::tile_text(facts.strategy, &facts.tile),
                    other.chosen_by
                ),
                plan::proof_text(&other.proof),
                arrays_text(&other.arrays),
            ];
            lines.push(("another loop", text.join("\n")));
        }
        for left in &self.left {
            let reasons = left.reasons.join("\n");
            lines.push(("as written", format!("{}, line {}: {reasons}", left.function, left.line)));
        }
        lines.push(("files", self.files_text()));
        self.dumped() + &report::pairs(&lines)
    }
}

impl CompileReport {
    /// The stage that `--dump` asked for.
    fn dumped(&self) -> String {
        self.dump.as_ref().map(|dump| dump.clone() + "\n").unwrap_or_default()
    }

    fn files_text(&self) -> String {
        self.files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join("\n")
    }

    /// The report about several tilings.
    fn lines_of_choice(&self, choice: &ChoiceFacts) -> Vec<(&'static str, String)> {
        let tiling = |served: &Served| {
            let uses = text::count(served.chosen_for as u64, "use", "uses");
            format!("{} {} {}, for {uses}", served.name, served.strategy, served.tile_text)
        };
        let tilings: Vec<String> = choice.tilings.iter().map(tiling).collect();
        let Worth { of_best, of_best_held_out, over_fixed, over_fixed_least } = choice.worth;
        let percent = |part: f64| format!("{:.1} %", 100.0 * part);
        let worth = format!(
            "{} of the best tiling's speed on average, {} for uses that were held out\n\
             {over_fixed:.2} times the speed of {} alone (geometric mean), {over_fixed_least:.2} at least",
            percent(of_best),
            percent(of_best_held_out),
            choice.tilings.first().map_or("v0", |first| &first.name),
        );
        let mut lines = vec![
            ("stencil", self.facts.stencil.clone()),
            ("target", self.facts.target.to_owned()),
            ("tilings", format!("{}\n{}", tilings.join("\n"), self.chosen_by)),
            ("choice", format!("a decision tree over {}\n{worth}", choice.features.join(", "))),
            ("proof", plan::proof_text(&self.proof)),
        ];
        lines.extend(self.notes.iter().map(|note| ("note", note.clone())));
        lines.push(("files", self.files_text()));
        lines
    }
}

/// `in place: u, v; copied: w (its rows may lie anywhere)`
fn arrays_text(arrays: &[ArrayUse]) -> String {
    let in_place: Vec<&str> =
        arrays.iter().filter(|array| array.in_place).map(|array| array.name.as_str()).collect();
    let copied: Vec<String> = arrays
        .iter()
        .filter_map(|array| array.reason.map(|reason| format!("{} ({reason})", array.name)))
        .collect();
    let part = |what: &str, list: String| (!list.is_empty()).then(|| format!("{what}: {list}"));
    let parts = [part("in place", in_place.join(", ")), part("copied", copied.join(", "))];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Registers and spills of the kernels, one line for each compute capability.
fn registers_text(kernels: &[KernelFacts]) -> String {
    let architectures = kernels.first().map_or(&[][..], |kernel| &kernel.compiled[..]);
    if architectures.is_empty() {
        return "not known: NVRTC was not found (scripts/get-nvrtc.sh fetches it)".to_owned();
    }
    let line = |(index, first): (usize, &CompiledFacts)| {
        let own = || kernels.iter().filter_map(|kernel| kernel.compiled.get(index));
        let registers: Vec<String> = own().map(|own| own.registers.to_string()).collect();
        let spilled: u64 = own().map(|own| own.spill_bytes).sum();
        format!(
            "{} ({}): {} per thread, {spilled} bytes spilled",
            first.architecture,
            first.compiler,
            registers.join(", ")
        )
    };
    architectures.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}
