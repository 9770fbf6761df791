//! `tilewright codesign`: the best hardware and tile sizes for a workload, with a report.

pub mod arguments;
mod page;
mod records;
mod tables;
mod uncertain;

use optimizer::codesign::document::Document;

use crate::error::{Error, Result};
use crate::json;
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{mpirun, outputs, trials_file};
use arguments::CodesignArguments;
use execution::output_folder::{NewFile, OutputFolder};
use hhc_codegen::strategy::Strategy;
use optimizer::codesign::CodesignError;
use optimizer::codesign::answers::{self, Answers};
use optimizer::codesign::findings;
use optimizer::codesign::journal::{self, Journal};
use optimizer::codesign::part::Part;
use optimizer::codesign::setting::Setting;
use optimizer::codesign::study::Study;
use optimizer::codesign::sweep::{Control, groups};
use optimizer::codesign::uncertainty::uncertainty;
use optimizer::codesign::workload::{Keep, Workload, strategies};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tilewright::text;
use toolchain::interrupt;

/// `schema` of `report.json`.
const REPORT_SCHEMA: &str = "tilewright.codesign-report/2";
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

/// Reads a workload, sweeps, and writes the report; nothing comes back from a process that leaves it to another one.
///
/// # Errors
/// Wrong workload files, requests that no design meets, folders that cannot be written, interruption.
pub fn codesign(arguments: &CodesignArguments, session: &Session) -> Result<Option<CodesignReport>> {
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
    let started = Part { index: mpirun::rank(), of: mpirun::count(), patience: Part::PATIENCE };
    let part = arguments.part.unwrap_or(started);
    for name in part.files() {
        folder.check_own(&name, journal::is_own)?;
    }
    let setting = session.stage("tile sizes and constants", || Setting::new(workload))?;
    let ranges = uncertain::ranges(arguments, &setting)?;
    let identity = identity(&setting, &text);
    let journal = Journal::open(&folder.make()?, part, &identity)?;
    session.tell_damage(journal.damage());
    if !part.is_first() {
        let share = |setting: &Setting, control: &Control<'_>| {
            optimizer::codesign::sweep::share(setting, setting.workload.budget.area_mm2, control)
        };
        watched(&setting, session, Some(&journal), share)?;
        session.tell(&format!(
            "part {} of {} is done; the first one makes the report",
            part.index + 1,
            part.of
        ));
        return Ok(None);
    }
    let resumed_groups = journal.groups().len();
    let study = sweep(&setting, session, Some(&journal))?;
    if let Some(path) = &trials {
        let mut store = trials_file::open(path, session)?;
        session.stage("trials", || records::append(&mut store, &setting, &study, &identity))?;
    }
    let mut answers = session.stage("questions", || answers(arguments, &setting, &study, session))?;
    if let Some(ranges) = &ranges {
        let samples = (arguments.samples as usize, arguments.seed);
        let control = Control { stop: &interrupt::requested, ..Control::NONE };
        answers.uncertainty =
            Some(session.stage("uncertainty", || uncertainty(&setting, &study, ranges, samples, &control))?);
    }
    let mut document = Document::new(&setting, &study, answers);
    document.findings = findings::findings(&document);
    let files = session.stage("report", || write(&folder, &setting, &study, &document))?;
    journal.remove();
    Ok(Some(CodesignReport { document, elapsed_s: start.elapsed().as_secs_f64(), resumed_groups, files }))
}

/// The workload as the file and the arguments say, and the text that it is from.
fn workload(arguments: &CodesignArguments) -> Result<(Workload, String)> {
    let (mut workload, text) = tilewright::workload::load(&arguments.workload)?;
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

/// What a journal is of: everything that its results depend on.
fn identity(setting: &Setting, text: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(text.as_bytes());
    let workload = &setting.workload;
    let programs: Vec<_> = workload.stencils.iter().map(|load| &load.program).collect();
    let others =
        (&workload.family, &workload.budget, workload.objective, &workload.strategies, workload.keep);
    let said = (&workload.space, &workload.threads, &workload.constants);
    digest.update(format!("{others:?} {programs:?} {said:?}").as_bytes());
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sweep(
    setting: &Setting,
    session: &Session,
    journal: Option<&Journal>,
) -> std::result::Result<Study, CodesignError> {
    watched(setting, session, journal, optimizer::codesign::run)
}

/// Works on designs, while the user sees how many groups of them are done, and may stop.
fn watched<T>(
    setting: &Setting,
    session: &Session,
    journal: Option<&Journal>,
    work: impl FnOnce(&Setting, &Control<'_>) -> std::result::Result<T, CodesignError>,
) -> std::result::Result<T, CodesignError> {
    let workload = &setting.workload;
    let designs = workload.space.within(&workload.family.area, workload.budget.area_mm2);
    let total = groups(setting, &designs).len() as u64;
    session.stage_of("designs", total, |progress| {
        let control =
            Control { progress: &|done| progress.done(done as i64), stop: &interrupt::requested, journal };
        work(setting, &control)
    })
}

fn answers(
    arguments: &CodesignArguments,
    setting: &Setting,
    study: &Study,
    session: &Session,
) -> Result<Answers> {
    let control = Control { stop: &interrupt::requested, ..Control::NONE };
    let mut answers = Answers::to(&arguments.questions(), setting, study, &control)?;
    if arguments.formulations {
        answers.formulations = answers::all_formulations(setting, |setting| sweep(setting, session, None))?;
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

impl Report for CodesignReport {
    const SCHEMA: &'static str = "tilewright.codesign/2";

    fn text(&self) -> String {
        let document = &self.document;
        let certificate = &document.certificate;
        let best = &document.best;
        let mut text = report::pairs(&[
            ("workload", format!("{}: {}", document.workload, document.description)),
            ("asked", format!("{}, objective {}", document.formulation, document.objective.name())),
            ("time model", "the paper's form, which knows any design".to_owned()),
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
        if let Some(own) = &document.answers.uncertainty {
            text.push('\n');
            text.push_str(&uncertain::text(own));
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
