//! `tilewright list`: what there is.

use crate::error::{Error, Result};
use crate::report::{self, Report};
use clap::Args;
use cost_models::machine::{self, MachineKind, Provenance};
use hhc_codegen::strategy::{self, Strategy, TileSize};
use polyhedral::analysis::analyze;
use polyhedral::cone::Cone;
use polyhedral::program::{FieldRole, Program};
use polyhedral::shipped;
use serde::Serialize;
use std::cmp::Reverse;
use tilewright::backend;

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArguments {}

/// Letters of a description in the table; JSON has all.
const DESCRIPTION_WIDTH: usize = 72;

/// The report of `list`.
#[derive(Debug, Serialize)]
pub struct ListReport {
    /// The shipped stencils, by dimension.
    pub stencils: Vec<StencilEntry>,
    /// The strategies, the preferred one first.
    pub strategies: Vec<StrategyEntry>,
    /// The machines that come with descriptions.
    pub machines: Vec<MachineEntry>,
    /// What runs a stencil.
    pub backends: Vec<Backend>,
    /// Languages of generated code.
    pub targets: Vec<Backend>,
}

/// A shipped stencil.
#[derive(Debug, Serialize)]
pub struct StencilEntry {
    /// Name, as in SPEC.
    pub name: &'static str,
    /// Number of space dimensions.
    pub dimension: usize,
    /// Fields that change over time.
    pub fields: Vec<String>,
    /// Fields that are read only.
    pub coefficients: Vec<String>,
    /// Parameters.
    pub parameters: Vec<String>,
    /// Number of statements.
    pub statements: usize,
    /// Distinct values that a point reads.
    pub reads: usize,
    /// The first sentence of its description.
    pub description: String,
}

/// A machine.
#[derive(Debug, Serialize)]
pub struct MachineEntry {
    /// Name, as `--machine` takes it.
    pub name: String,
    /// `gpu` or `cpu`.
    pub kind: MachineKind,
    /// One line.
    pub description: String,
    /// Whether its constants were measured.
    pub measured: bool,
}

/// A strategy.
#[derive(Debug, Serialize)]
pub struct StrategyEntry {
    /// Name, as `--strategy` takes it.
    pub name: &'static str,
    /// One line.
    pub description: &'static str,
    /// Its tile sizes, as `--tile` takes them, for stencils of the most dimensions that it takes.
    pub sizes: Vec<SizeEntry>,
}

/// A tile size.
#[derive(Debug, Serialize)]
pub struct SizeEntry {
    /// Name.
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
}

/// A back end.
#[derive(Debug, Serialize)]
pub struct Backend {
    /// Name.
    pub name: &'static str,
    /// Whether it works in this version and on this machine.
    pub available: bool,
    /// One line: what it is, or why it is not available.
    pub description: String,
}

/// Lists everything.
///
/// # Errors
/// A broken shipped stencil, which is a mistake of ours.
pub fn list(_arguments: &ListArguments) -> Result<ListReport> {
    let stencils = shipped::names().into_iter().map(|name| {
        let program = shipped::load(name)
            .ok_or_else(|| Error::internal(format!("the shipped stencil `{name}` is broken")))?;
        Ok(entry(name, &program))
    });
    let strategies = strategies();
    let backends = backend::all().into_iter().map(|found| Backend {
        name: found.backend.name(),
        available: found.available,
        description: found.description,
    });
    let backends = backends.collect();
    // A search for compilers that was stopped finds none.
    toolchain::interrupt::check()?;
    Ok(ListReport {
        stencils: stencils.collect::<Result<_>>()?,
        strategies,
        machines: machines()?,
        backends,
        targets: targets(),
    })
}

fn strategies() -> Vec<StrategyEntry> {
    let mut programs: Vec<Program> = shipped::names().into_iter().filter_map(shipped::load).collect();
    programs.sort_by_key(|program| Reverse(program.dimension()));
    let analysed = |program: &Program| Some((program.clone(), analyze(program).ok()?.cone));
    let programs: Vec<(Program, Cone)> =
        programs.chunk_by(|a, b| a.dimension() == b.dimension()).filter_map(|of| analysed(&of[0])).collect();
    let entry = |strategy: &&dyn Strategy| {
        let taken = programs.iter().find(|(program, cone)| strategy.takes(program, cone).is_ok());
        let sizes = taken.map_or(Vec::new(), |(program, cone)| {
            let space = strategy.space(program, cone);
            let optional = space.optional.into_iter().map(|optional| optional.size);
            space.sizes.into_iter().chain(optional).collect()
        });
        StrategyEntry {
            name: strategy.id(),
            description: strategy.description(),
            sizes: sizes.iter().map(|TileSize { name, meaning, .. }| SizeEntry { name, meaning }).collect(),
        }
    };
    strategy::all().iter().map(entry).collect()
}

fn machines() -> Result<Vec<MachineEntry>> {
    let machines = machine::names().into_iter().filter_map(machine::shipped).map(|machine| {
        let machine = machine.map_err(|error| Error::internal(error.to_string()))?;
        let measured = machine.calibration.as_ref().is_some_and(|own| own.provenance == Provenance::Measured);
        Ok(MachineEntry {
            name: machine.name,
            kind: machine.kind,
            description: machine.description,
            measured,
        })
    });
    machines.collect()
}

fn entry(name: &'static str, program: &Program) -> StencilEntry {
    let names = |state: bool| {
        let chosen =
            program.fields.iter().filter(move |field| (field.role != FieldRole::Coefficient) == state);
        chosen.map(|field| format!("{}: {}", field.name, field.element.name())).collect()
    };
    StencilEntry {
        name,
        dimension: program.dimension(),
        fields: names(true),
        coefficients: names(false),
        parameters: program.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        statements: program.statements.len(),
        reads: polyhedral::footprint::footprint(program).values_read,
        description: first_sentence(&program.description),
    }
}

/// The text up to the first full stop or colon that ends a word.
fn first_sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = text
        .char_indices()
        .find(|&(at, c)| {
            matches!(c, '.' | ':') && text[at + 1..].chars().next().is_none_or(char::is_whitespace)
        })
        .map_or(text.len(), |(at, _)| at);
    text[..end].to_owned()
}

/// The languages, and whether they are available.
fn targets() -> Vec<Backend> {
    vec![
        Backend { name: "openmp", available: true, description: "C with OpenMP for CPUs".to_owned() },
        Backend { name: "cuda", available: true, description: "CUDA C++ for GPUs".to_owned() },
    ]
}

impl Report for ListReport {
    const SCHEMA: &'static str = "tilewright.list/1";

    fn text(&self) -> String {
        let rows: Vec<Vec<String>> = self
            .stencils
            .iter()
            .map(|stencil| {
                let fields = stencil.fields.iter().chain(&stencil.coefficients);
                let fields: Vec<&str> = fields.map(String::as_str).collect();
                vec![
                    stencil.name.to_owned(),
                    format!("{}D", stencil.dimension),
                    stencil.statements.to_string(),
                    stencil.reads.to_string(),
                    fields.join(", "),
                    report::shortened(&stencil.description, DESCRIPTION_WIDTH),
                ]
            })
            .collect();
        let header = ["stencil", "dim", "statements", "reads", "fields", "description"];
        let strategies: Vec<_> = (self.strategies.iter())
            .map(|strategy| vec![strategy.name.to_owned(), strategy.description.to_owned()])
            .collect();
        let sizes = self.strategies.iter().flat_map(|strategy| {
            let row = |size: &SizeEntry| {
                vec![strategy.name.to_owned(), size.name.to_owned(), size.meaning.to_owned()]
            };
            strategy.sizes.iter().map(row)
        });
        let backends = |title: &str, list: &[Backend]| {
            let row = |backend: &Backend| {
                let available = if backend.available { "yes" } else { "no" };
                vec![backend.name.to_owned(), available.to_owned(), backend.description.clone()]
            };
            let rows: Vec<_> = list.iter().map(row).collect();
            report::table(&[title, "available", "description"], &rows, &[])
        };
        let machine_rows: Vec<_> = (self.machines.iter())
            .map(|machine| {
                let constants = if machine.measured { "measured" } else { "stated" };
                vec![machine.name.clone(), constants.to_owned(), machine.description.clone()]
            })
            .collect();
        let machines = report::table(&["machine", "constants", "description"], &machine_rows, &[]);
        [
            report::table(&header, &rows, &[2, 3]),
            report::table(&["strategy", "description"], &strategies, &[]),
            report::table(&["strategy", "tile size", "meaning"], &sizes.collect::<Vec<_>>(), &[]),
            backends("backend", &self.backends),
            backends("target", &self.targets),
            machines,
        ]
        .join("\n")
    }
}
