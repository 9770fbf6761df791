//! `tilewright compile`: source code, a header, a build file and `manifest.json`.

pub mod arguments;

use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{json, load, plan};
use arguments::CompileArguments;
use execution::output_folder::{NewFile, OutputFolder};
use polyhedral::legality::Proof;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tilewright::c_program::{self, ArrayUse, CSource};
use tilewright::choice::{self, Wish};
use tilewright::emit::{self, CompiledFacts, EmitRequest, Facts, KernelFacts};
use tilewright::output::OutputFile;
use tilewright::ranks::GhostFacts;
use tilewright::{machines, ranks, text};

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

#[derive(Serialize)]
struct Manifest<'a> {
    tilewright: &'static str,
    #[serde(flatten)]
    facts: &'a Facts,
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
    let size = arguments.size.as_ref().map(|size| size.0.clone());
    if let Some(size) = &size {
        execution::layout::grid_points(&stencil.program, size)?;
    }
    let machine = arguments.machine.as_deref().map(machines::machine).transpose()?;
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
    let options = arguments.plan.c.options();
    let emitted = session.stage("generate", || {
        let source = |program| CSource {
            program,
            path: Path::new(&arguments.plan.spec),
            options: &options,
            with: &arguments.with,
        };
        emit::emit(
            &planned.plan,
            &EmitRequest {
                target,
                limits: &chosen.limits,
                size: size.as_deref(),
                steps: arguments.steps,
                c: c.as_ref().map(source),
                ranks: arguments.ranks.as_ref().map(|ranks| &ranks.0),
            },
        )
    })?;
    let files = emitted.files;
    let facts = Facts { stencil: name, prefix: arguments.prefix.clone(), ..emitted.facts };
    let (directory, files) = session.stage("write", || write(&folder, &facts, &files))?;
    Ok(CompileReport {
        dump: arguments.plan.dump.map(|stage| plan::dump(stage, &planned)),
        arrays: c.as_ref().map(|c| c_program::array_uses(c, target)),
        chosen_by: chosen.by,
        notes: chosen.caution.into_iter().chain(chosen.passed_over).collect(),
        facts,
        directory,
        files,
        proof: planned.proof,
        ghosts: emitted.ghosts,
    })
}

/// The name of everything: the prefix, an underscore, and the stencil's own name.
fn prefixed(prefix: &str, stencil: &str) -> String {
    format!("{}_{stencil}", prefix.trim_end_matches('_'))
}

/// Writes all files, the manifest last. Returns the absolute paths of the folder and of the files.
fn write(folder: &OutputFolder, facts: &Facts, files: &[OutputFile]) -> Result<(PathBuf, Vec<PathBuf>)> {
    let manifest = json::document(
        MANIFEST_SCHEMA,
        &Manifest {
            tilewright: env!("CARGO_PKG_VERSION"),
            facts,
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
        let files: Vec<String> = self.files.iter().map(|path| path.display().to_string()).collect();
        let mut lines = vec![
            ("stencil", facts.stencil.clone()),
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
        lines.push(("files", files.join("\n")));
        let dump = self.dump.as_ref().map(|dump| dump.clone() + "\n").unwrap_or_default();
        dump + &report::pairs(&lines)
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
