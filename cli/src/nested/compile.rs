//! `tilewright nested compile`.

use super::arguments::{CompileArguments, TargetName};
use super::common::{Loaded, gpu_implementations, implementations, inputs_in, load, refused, threads, tuned};
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::Report;
use execution::output_folder::{NewFile, OutputFolder};
use nested::analysis::schedule;
use nested::emit::generated::{Mode, prepared};
use nested::package::{File, package, package_cuda};
use nested::versions::Versions;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tilewright::adaptive::KEPT;
use tilewright::adaptive::nested::{self as several, Facts, Request};
use tilewright::adaptive::nested_costs::{Runs, Use};
use tilewright::adaptive::nested_uses::NestedUses;

/// The report of `nested compile`.
#[derive(Debug, Serialize)]
pub struct CompileReport {
    /// The program's name.
    pub program: String,
    /// What the code is for.
    pub target: &'static str,
    /// How floating-point numbers are summed.
    pub mode: Mode,
    /// The files.
    pub files: Vec<PathBuf>,
    /// Computations with their schedules and policies.
    pub implementations: Vec<String>,
    /// Sequences that are stored and not handed out.
    pub temporaries: Vec<String>,
    /// What calls choose among, with `--adaptive`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<Facts>,
}

/// Writes code.
///
/// # Errors
/// Mistakes in the program, rules that are violated, a folder that cannot be written.
pub fn compile(arguments: &CompileArguments, session: &Session) -> Result<CompileReport> {
    let loaded = load(&arguments.program.program)?;
    let (_, list, _) = prepared(&loaded.program);
    let mode = if arguments.implementation.fast { Mode::Fast } else { Mode::Deterministic };
    if let Some(uses) = &arguments.adaptive {
        return adaptive(arguments, uses, loaded, mode, session);
    }
    let (target, (files, generated), chosen) = match arguments.target {
        TargetName::OpenMp => {
            let chosen = implementations(&list, &arguments.implementation)?;
            let made = package(&loaded.program, &chosen, mode);
            let shown: Vec<_> = chosen.iter().map(|own| (own.schedule(), own.policy())).collect();
            ("openmp", made, shown)
        }
        TargetName::Cuda => {
            let chosen = gpu_implementations(&list, &arguments.implementation)?;
            let made = package_cuda(&loaded.program, &chosen, mode).map_err(refused)?;
            let shown: Vec<_> = chosen.iter().map(|own| (own.schedule.clone(), own.policy())).collect();
            ("cuda", made, shown)
        }
    };
    let inputs: Vec<PathBuf> = loaded.file.into_iter().collect();
    let folder = OutputFolder::new(&arguments.output, &inputs, arguments.force)?;
    let shown = list.iter().zip(&chosen).filter(|(own, _)| !own.sequence.is_empty());
    let shown = shown
        .map(|(own, (schedule, policy))| format!("{}: {}; {policy}", own.name, schedule::text(schedule)));
    Ok(CompileReport {
        program: loaded.program.name.clone(),
        target,
        mode,
        files: written(&folder, &files)?,
        implementations: shown.collect(),
        temporaries: generated.temporaries,
        adaptive: None,
    })
}

fn written(folder: &OutputFolder, files: &[File]) -> Result<Vec<PathBuf>> {
    let files: Vec<NewFile<'_>> =
        files.iter().map(|file| (Path::new(&file.name), file.text.as_bytes())).collect();
    Ok(folder.write(&files)?.1)
}

/// A library with several implementations.
fn adaptive(
    arguments: &CompileArguments,
    file: &Path,
    loaded: Loaded,
    mode: Mode,
    session: &Session,
) -> Result<CompileReport> {
    if arguments.target != TargetName::OpenMp {
        return Err(Error::infeasible("there is no choice among implementations in CUDA code yet")
            .hint("take --target openmp"));
    }
    let read: Vec<PathBuf> = loaded.file.iter().cloned().chain([file.to_owned()]).collect();
    let folder = OutputFolder::new(&arguments.output, &read, arguments.force)?;
    let program = &loaded.program;
    let listed = NestedUses::read(file)?;
    let beside = file.parent().unwrap_or(Path::new(""));
    let mut others = Vec::new();
    for own in &listed.versions {
        let shipped = nested::shipped::text(own).is_some();
        let spec = if shipped { own.clone() } else { beside.join(own).display().to_string() };
        others.push(load(&spec)?.program);
    }
    let versions = Versions::new(program.clone(), others).map_err(|rule| {
        Error::wrong_input(rule)
            .hint("versions share the names and types of what they are given, and one result at least")
    })?;
    let mut computations = Vec::new();
    for own in &versions.programs {
        // A name is one of some version; the others have that with most levels.
        let (_, list, _) = prepared(own);
        let has = |name: &&str| versions.programs.len() == 1 || list.iter().any(|own| own.name == *name);
        computations.push(tuned(&list, listed.computation.as_deref().filter(has))?);
    }
    let interface = &versions.interface;
    let uses = session.stage("read", || {
        let one = |own: &tilewright::adaptive::nested_uses::Listed| {
            let inputs = inputs_in(beside, interface, &own.input, &own.matrix, &own.param)
                .map_err(|error| error.hint(format!("this is of `{}` in {}", own.name, file.display())))?;
            Ok(Use { name: own.name.clone(), inputs })
        };
        listed.inputs.iter().map(one).collect::<Result<Vec<Use>>>()
    })?;
    let request = Request {
        computations: &computations,
        runs: Runs {
            uses: &uses,
            threads: threads(listed.threads),
            repeat: listed.repeat,
            mode,
            close: listed.close,
        },
        candidates: listed.candidates,
        most: listed.implementations,
    };
    let portfolio = several::portfolio(&versions, &request, session)?;
    let files = portfolio.emit(&versions)?;
    let served = portfolio.facts.implementations.iter();
    Ok(CompileReport {
        program: program.name.clone(),
        target: "openmp",
        mode,
        files: written(&folder, &files)?,
        implementations: served
            .map(|own| format!("{}: {}{}; {}", own.name, of_version(own), own.schedule, own.policy))
            .collect(),
        temporaries: nested::openmp::generate(program, &[], mode, &program.name).temporaries,
        adaptive: Some(portfolio.facts),
    })
}

/// The program of an implementation, where there are several.
fn of_version(own: &several::Served) -> String {
    own.version.as_ref().map_or(String::new(), |name| format!("{name}, "))
}

/// What calls choose among, as lines.
fn lines_of_choice(facts: &Facts) -> Vec<(&'static str, String)> {
    let one = |own: &several::Served| {
        let uses = tilewright::text::count(own.chosen_for as u64, "use", "uses");
        format!("{} {}{}; {}, for {uses}", own.name, of_version(own), own.schedule, own.policy)
    };
    let list: Vec<String> = facts.implementations.iter().map(one).collect();
    let percent = |part: f64| format!("{:.1} %", 100.0 * part);
    let worth = &facts.worth;
    let worth = format!(
        "a decision tree over {}\n{} of the best of these on average, {} for uses that were held out\n\
         {:.2} times the speed of v0 alone (geometric mean), {:.2} at least\n\
         the best of these has {} of the speed of the best of all {} that were measured",
        facts.features.join(", "),
        percent(worth.of_best),
        percent(worth.of_best_held_out),
        worth.over_fixed,
        worth.over_fixed_least,
        percent(facts.kept_of_best),
        facts.measured,
    );
    let lost = percent(1.0 - facts.kept_of_best);
    let worth = match (facts.kept_of_best < KEPT, facts.kept_by_most >= KEPT) {
        (false, _) => worth,
        (true, false) => format!(
            "{worth}\nTHESE LOSE {lost}, more than 1 %: {} implementations are not enough for these uses; \
             raise `implementations` (8 at most), or make libraries for fewer kinds of inputs",
            facts.most
        ),
        (true, true) => format!(
            "{worth}\nTHESE LOSE {lost}, more than 1 %: uses that want different implementations are alike in all \
             that is looked at, so that others would never be chosen"
        ),
    };
    let of = |own: &several::VersionFacts| format!("{} ({})", own.program, own.computation);
    let computation = match facts.versions.is_empty() {
        true => ("computation", facts.computation.clone()),
        false => ("versions", facts.versions.iter().map(of).collect::<Vec<_>>().join("\n")),
    };
    let dropped = match facts.dropped.is_empty() {
        true => Vec::new(),
        false => {
            vec![("not in all", format!("{}: results that are not handed out", facts.dropped.join(", ")))]
        }
    };
    let choice = vec![
        computation,
        ("implementations", format!("{}\ntimes measured on {}", list.join("\n"), facts.machine)),
        ("choice", worth),
    ];
    choice.into_iter().chain(dropped).collect()
}

impl Report for CompileReport {
    const SCHEMA: &'static str = "tilewright.nested.compile/1";

    fn text(&self) -> String {
        let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        let temporaries =
            if self.temporaries.is_empty() { "none".to_owned() } else { self.temporaries.join(", ") };
        let mut pairs = vec![("program", self.program.clone())];
        match &self.adaptive {
            Some(facts) => pairs.extend(lines_of_choice(facts)),
            None => {
                pairs.push(("computations", self.implementations.join("\n")));
                pairs.push(("temporaries", temporaries));
            }
        }
        pairs.push(("files", files.join("\n")));
        crate::report::pairs(&pairs)
    }
}
