//! `tilewright codesign`: the best hardware and tile sizes for a workload, with a report.

mod answers;
pub mod arguments;
mod document;
mod findings;
mod page;
mod records;
mod tables;

pub use document::Document;

use crate::error::{Error, Kind, Result};
use crate::json;
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{outputs, trials_file};
use answers::Answers;
use arguments::CodesignArguments;
use execution::ExecutionError;
use execution::output_folder::{NewFile, OutputFolder};
use hhc_codegen::strategy::{self, Strategy};
use optimizer::codesign::journal::{self, Journal};
use optimizer::codesign::setting::Setting;
use optimizer::codesign::study::Study;
use optimizer::codesign::sweep::{Control, groups};
use optimizer::codesign::workload::{Keep, Objective, Workload, strategies};
use optimizer::codesign::workload_file::Sources;
use optimizer::codesign::{CodesignError, whatif};
use polyhedral::program::Program;
use safe_io::input;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use text_escape::suggest;
use tilewright::machines;
use tilewright::text;
use toolchain::interrupt;

/// `schema` of `report.json`.
const REPORT_SCHEMA: &str = "tilewright.codesign-report/1";
/// The files of a report.
const FILES: [&str; 4] = ["designs.csv", "pareto.csv", "report.json", "report.html"];

/// The report of `codesign`: the document, and what differs from call to call.
#[derive(Debug, Serialize)]
pub struct CodesignReport {
    /// Everything that was found.
    #[serde(flatten)]
    pub document: Document,
    /// Seconds that the whole command took.
    pub elapsed_s: f64,
    /// Groups of designs that came from an interrupted run.
    pub resumed_groups: usize,
    /// Absolute paths of the files.
    pub files: Vec<PathBuf>,
}

/// Reads a workload, sweeps, and writes the report.
///
/// # Errors
/// Wrong workload files, requests that no design meets, folders that cannot be written, interruption.
pub fn codesign(arguments: &CodesignArguments, session: &Session) -> Result<CodesignReport> {
    let start = Instant::now();
    let (workload, text) = workload(arguments)?;
    let inputs = if Workload::source(&arguments.workload).is_some() {
        Vec::new()
    } else {
        vec![PathBuf::from(&arguments.workload)]
    };
    let trials = trials_file::path(&arguments.trials)?;
    outputs::check(&outputs::given([("--trials", &trials)]), &inputs)?;
    let folder = OutputFolder::new(&arguments.output, &inputs, arguments.force)?;
    folder.check(FILES.iter().map(Path::new))?;
    for name in journal::FILES {
        folder.check_own(Path::new(name), journal::is_own)?;
    }
    let setting = session.stage("tile sizes and constants", || Setting::new(workload)).map_err(failed)?;
    let identity = identity(&setting, &text);
    let journal = Journal::open(&folder.make()?.join(journal::FILES[0]), &identity).map_err(failed)?;
    session.tell_damage(journal.damage());
    let resumed_groups = journal.groups().len();
    let study = sweep(&setting, session, Some(&journal))?;
    if let Some(path) = &trials {
        let mut store = trials_file::open(path, session)?;
        session.stage("trials", || records::append(&mut store, &setting, &study, &identity))?;
    }
    let answers = session.stage("questions", || answers(arguments, &setting, &study, session))?;
    let mut document = Document::new(&setting, &study, answers);
    document.findings = findings::findings(&document);
    let files = session.stage("report", || write(&folder, &setting, &study, &document))?;
    journal.remove();
    Ok(CodesignReport { document, elapsed_s: start.elapsed().as_secs_f64(), resumed_groups, files })
}

/// The workload as the file and the arguments say, and the text that it is from.
fn workload(arguments: &CodesignArguments) -> Result<(Workload, String)> {
    let name = &arguments.workload;
    let path = Path::new(name);
    let (text, folder) = match Workload::source(name) {
        Some(text) => (text.to_owned(), PathBuf::new()),
        None => {
            if !path.exists() && path.extension().is_none() {
                return Err(Error::wrong_input(format!("there is no workload `{name}`"))
                    .maybe_hint(suggest::hint(name, Workload::names().into_iter()))
                    .hint(format!("the shipped workloads are {}", Workload::names().join(", ")))
                    .hint("a file of your own is named by its path, such as my.toml"));
            }
            let text = input::read_text(path, machines::MOST_TOML).map_err(|source| {
                Error::Execution(ExecutionError::File { action: "read", path: path.to_owned(), source })
            })?;
            (text, path.parent().unwrap_or(Path::new("")).to_owned())
        }
    };
    let sources = Sources {
        program: &|spec| program(&folder, spec),
        family: &|name| {
            input::read_text(&folder.join(name), machines::MOST_TOML)
                .map_err(|error| format!("{name} cannot be read: {error}"))
        },
    };
    let mut workload =
        Workload::parse(name, &text, &sources).map_err(|error| Error::wrong_input(error.to_string()))?;
    if let Some(area) = arguments.area {
        workload.budget.area_mm2 = (area.low, area.high);
    }
    if let Some(objective) = arguments.objective {
        workload.objective = objective.objective();
    }
    if !arguments.strategy.is_empty() {
        workload.strategies = chosen(&arguments.strategy)?;
    }
    if arguments.front_only {
        workload.keep = Keep::Front;
    }
    Ok((workload, text))
}

/// A shipped stencil, or a file beside the workload.
fn program(folder: &Path, spec: &str) -> std::result::Result<Arc<Program>, String> {
    let beside = folder.join(spec);
    let spec = match polyhedral::shipped::source(spec) {
        None if beside.exists() => beside.to_string_lossy().into_owned(),
        _ => spec.to_owned(),
    };
    tilewright::load(&spec).map(|stencil| stencil.program).map_err(|error| match &error {
        Error::Request { message, hints, .. } => match hints.first() {
            Some(hint) => format!("{message}; {hint}"),
            None => message.clone(),
        },
        _ => error.to_string(),
    })
}

/// What a journal is of: everything that its results depend on.
fn identity(setting: &Setting, text: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(text.as_bytes());
    let workload = &setting.workload;
    let programs: Vec<_> = workload.stencils.iter().map(|load| &load.program).collect();
    let others =
        (&workload.family, &workload.budget, workload.objective, &workload.strategies, workload.keep);
    digest.update(format!("{others:?} {programs:?} {:?}", workload.space).as_bytes());
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sweep(setting: &Setting, session: &Session, journal: Option<&Journal>) -> Result<Study> {
    let workload = &setting.workload;
    let designs = workload.space.within(&workload.family.area, workload.budget.area_mm2);
    let total = groups(setting, &designs).len() as u64;
    session
        .stage_of("designs", total, |progress| {
            let control = Control {
                progress: &|done| progress.done(done as i64),
                stop: &interrupt::requested,
                journal,
            };
            optimizer::codesign::run(setting, &control)
        })
        .map_err(failed)
}

fn answers(
    arguments: &CodesignArguments,
    setting: &Setting,
    study: &Study,
    session: &Session,
) -> Result<Answers> {
    use arguments::Question;
    let asked = |question: Question| {
        let all = &arguments.what_if;
        !all.contains(&Question::None)
            && (all.is_empty() || all.contains(&Question::All) || all.contains(&question))
    };
    let control = Control { stop: &interrupt::requested, ..Control::NONE };
    let mut answers = Answers { formulations: whatif::formulations(setting, study), ..Answers::default() };
    if asked(Question::Prices) {
        answers.shadow_prices = whatif::shadows(setting, study);
    }
    if asked(Question::Memory) {
        answers.memory = whatif::memory(setting, study);
    }
    if asked(Question::Overhead) {
        answers.overhead = whatif::overheads(setting, study);
    }
    if asked(Question::Hyperthreading) {
        answers.hyperthreading = whatif::hyperthreading(setting, study);
    }
    if asked(Question::Caches) {
        answers.caches = whatif::caches(setting, study, &control).map_err(failed)?;
    }
    if asked(Question::Chips) {
        answers.chips = whatif::chips(setting, &control).map_err(failed)?;
    }
    if arguments.formulations {
        answers.formulations = all_formulations(setting, session)?;
    }
    Ok(answers)
}

/// The strategies of these names, the preferred one first.
fn chosen(names: &[String]) -> Result<Vec<&'static dyn Strategy>> {
    let wanted = names.iter().map(|name| tilewright::strategies::named(name)).collect::<Result<Vec<_>>>()?;
    if let Some(other) = wanted.iter().find(|wanted| !strategies().any(|own| own == **wanted)) {
        let known: Vec<&str> = strategies().map(|own| own.id()).collect();
        return Err(Error::infeasible(format!("strategy {} takes no part in codesign", other.id()))
            .hint(format!("strategies that do: {}", known.join(", "))));
    }
    Ok(strategies().filter(|own| wanted.contains(own)).collect())
}

/// All eight: one metric and two, one strategy and all, applications and system.
fn all_formulations(setting: &Setting, session: &Session) -> Result<Vec<whatif::Formulation>> {
    let own = setting.workload.objective;
    let single = if own == Objective::Edp { Objective::Gflops } else { own };
    let all: Vec<_> = strategies().collect();
    let first = setting.workload.strategies.first().copied().unwrap_or(strategy::preferred());
    let mut formulations = Vec::new();
    for objective in [single, Objective::Edp] {
        for strategies in [vec![first], all.clone()] {
            let mut workload = setting.workload.clone();
            workload.objective = objective;
            workload.strategies = strategies;
            let setting = Setting::new(workload).map_err(failed)?;
            let study = sweep(&setting, session, None)?;
            formulations.extend(whatif::formulations(&setting, &study));
        }
    }
    Ok(formulations)
}

fn write(
    folder: &OutputFolder,
    setting: &Setting,
    study: &Study,
    document: &Document,
) -> Result<Vec<PathBuf>> {
    let texts = [
        tables::designs(setting, study, None),
        tables::designs(setting, study, Some(&study.fronts.all)),
        json::document(REPORT_SCHEMA, document) + "\n",
        page::page(document)?,
    ];
    let files: Vec<NewFile<'_>> =
        FILES.iter().zip(&texts).map(|(name, text)| (Path::new(*name), text.as_bytes())).collect();
    let (_, written) = folder.write(&files)?;
    Ok(written)
}

fn failed(error: CodesignError) -> Error {
    let kind = match &error {
        CodesignError::Stopped => return Error::Execution(ExecutionError::Interrupted),
        CodesignError::NoGpu => Kind::Internal,
        CodesignError::Journal { .. } => Kind::Failed,
        _ => Kind::Infeasible,
    };
    Error::Request { kind, message: error.to_string(), hints: Vec::new() }
}

impl Report for CodesignReport {
    const SCHEMA: &'static str = "tilewright.codesign/1";

    fn text(&self) -> String {
        let document = &self.document;
        let certificate = &document.certificate;
        let best = &document.best;
        let mut text = report::pairs(&[
            ("workload", format!("{}: {}", document.workload, document.description)),
            ("asked", format!("{}, objective {}", document.formulation, document.objective.name())),
            (
                "designs",
                format!(
                    "{} of {} within {} to {} mm2: {} evaluated, {} excluded by bounds, {} cannot execute everything",
                    certificate.designs_in_budget,
                    certificate.designs_in_space,
                    document.budget.area_mm2.0,
                    document.budget.area_mm2.1,
                    certificate.designs_evaluated,
                    certificate.designs_pruned,
                    certificate.designs_infeasible
                ),
            ),
            (
                "best",
                format!(
                    "{}: {:.1} mm2, {:.0} GFLOP/s, {:.2} GFLOP/s per watt",
                    best.design, best.area_mm2, best.gflops, best.gflops_per_watt
                ),
            ),
            (
                "proof",
                format!(
                    "cost {:.6e} {}, bound {:.6e}: {} of {} tile sizes and k evaluated, the others excluded by bounds",
                    certificate.value,
                    document.unit,
                    certificate.bound,
                    certificate.tiles_evaluated,
                    certificate.tiles_candidates
                ),
            ),
            (
                "front",
                format!(
                    "{} designs in area, rate and efficiency; {} in area and rate",
                    document.pareto.len(),
                    document.pareto.iter().filter(|design| design.on_area_gflops_front).count()
                ),
            ),
        ]);
        text.push('\n');
        let (header, rows) = document.application_table();
        text.push_str(&report::table(&header, &rows, &(1..header.len()).collect::<Vec<_>>()));
        text.push('\n');
        for finding in &document.findings {
            text.push_str(&format!("- {finding}\n"));
        }
        text.push('\n');
        let files = self.files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join("\n");
        let resumed = match self.resumed_groups {
            0 => String::new(),
            groups => {
                format!(" ({} from an interrupted run)", text::count(groups as u64, "group", "groups"))
            }
        };
        text.push_str(&report::pairs(&[
            ("time", report::seconds(self.elapsed_s) + &resumed),
            ("files", files),
        ]));
        text
    }
}
