//! What `compile` reports.

use crate::plan;
use crate::report::{self, Report};
use polyhedral::legality::Proof;
use serde::Serialize;
use std::path::PathBuf;
use tilewright::adaptive::{Served, Worth};
use tilewright::c_program::{self, ArrayUse, CProgram, LoopLeft};
use tilewright::emit::{ChoiceFacts, CompiledFacts, Facts, KernelFacts};
use tilewright::ranks::GhostFacts;
use tilewright::text;

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
    /// The C program, with the first of its time loops.
    #[serde(skip)]
    pub c: Option<CProgram>,
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

/// `main, line 17`
pub fn place_text(c: &CProgram) -> String {
    let (function, line) = c_program::place(c);
    format!("{function}, line {line}")
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
        lines.extend(facts.arithmetic.as_ref().map(|own| ("arithmetic", own.to_string())));
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

/// `in place: u, v; copied: w (unless its rows have one distance)`
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
