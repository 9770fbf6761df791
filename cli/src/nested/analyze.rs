//! `tilewright nested analyze`.

use super::arguments::AnalyzeArguments;
use super::common::load;
use crate::error::Result;
use crate::report::Report;
use nested::analysis::policy::{cuda_points, implementations, inferred};
use nested::analysis::{Implementation, Platform, schedule, sequence};
use nested::emit::generated::{Mode, Traffic, prepared};
use nested::openmp::generate;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A schedule, and what it has on each platform.
#[derive(Debug, Serialize)]
pub struct ScheduleEntry {
    /// Its elements.
    pub schedule: String,
    /// The schedules that one step of the rewrite rules leads to.
    pub rewrites: Vec<String>,
    /// Parameters of its policies for OpenMP; none where OpenMP cannot run it.
    pub openmp: Vec<String>,
    /// Those for CUDA.
    pub cuda: Vec<String>,
}

/// A computation.
#[derive(Debug, Serialize)]
pub struct ComputationEntry {
    /// What it computes.
    pub name: String,
    /// Where it stands.
    pub place: String,
    /// Its operators.
    pub expression: String,
    /// What implementations are chosen by.
    pub features: Vec<&'static str>,
    /// The lattice, the strongest schedule first.
    pub schedules: Vec<ScheduleEntry>,
    /// Implementations for OpenMP.
    pub openmp_points: usize,
    /// Different texts among these.
    pub openmp_texts: usize,
    /// Implementations for CUDA.
    pub cuda_implementations: usize,
    /// Points of the space for CUDA that Table 5.4 spans, before what the device refuses is pruned.
    pub cuda_all: usize,
    /// Those that are left.
    pub cuda_points: usize,
    /// What is taken where nobody chooses.
    pub default: String,
    /// The same for CUDA.
    pub cuda_default: String,
}

/// The report of `nested analyze`.
#[derive(Debug, Serialize)]
pub struct AnalyzeReport {
    /// The program's name.
    pub program: String,
    /// Its computations; those without operators are left out.
    pub computations: Vec<ComputationEntry>,
    /// Computations that are done where they are read.
    pub fused: Vec<String>,
    /// Sequences that are stored and not handed out.
    pub temporaries: Vec<String>,
    /// What each kernel reads and fills.
    pub traffic: Vec<Traffic>,
}

/// Analyses a program.
///
/// # Errors
/// Mistakes in the program.
pub fn analyze(arguments: &AnalyzeArguments) -> Result<AnalyzeReport> {
    let program = load(&arguments.program.program)?.program;
    let (_, list, _) = prepared(&program);
    let generated = generate(&program, &[], Mode::Deterministic, &program.name);
    let mut entries = Vec::new();
    for (place, own) in list.iter().enumerate().filter(|(_, own)| !own.sequence.is_empty()) {
        let strongest = schedule::strongest(&own.sequence);
        let names = |elements: &[schedule::Schedule], platform| match schedule::violation(elements, platform)
        {
            None => inferred(&own.sequence, elements, platform),
            Some(_) => Vec::new(),
        };
        let schedules = schedule::lattice(&strongest).into_iter().map(|elements| ScheduleEntry {
            schedule: schedule::text(&elements),
            rewrites: schedule::rewritten(&elements).iter().map(|weaker| schedule::text(weaker)).collect(),
            openmp: names(&elements, Platform::OpenMp),
            cuda: names(&elements, Platform::Cuda),
        });
        let points = implementations(own);
        let mut texts = BTreeSet::new();
        for point in &points {
            let mut chosen: Vec<Implementation> = list.iter().map(Implementation::default_of).collect();
            chosen[place] = point.clone();
            texts.insert(generate(&program, &chosen, Mode::Deterministic, &program.name).text);
        }
        let (cuda_all, cuda_points) = cuda_points(&own.sequence);
        let default = Implementation::default_of(own);
        entries.push(ComputationEntry {
            name: own.name.clone(),
            place: program.place(&own.span),
            expression: sequence::text(&own.sequence),
            features: own.features.clone(),
            schedules: schedules.collect(),
            openmp_points: points.len(),
            openmp_texts: texts.len(),
            cuda_implementations: nested::analysis::gpu::implementations(own).len(),
            cuda_all,
            cuda_points,
            cuda_default: nested::analysis::gpu::GpuImplementation::default_of(own).policy(),
            default: format!("{}; {}", schedule::text(&default.schedule()), default.policy()),
        });
    }
    Ok(AnalyzeReport {
        program: program.name.clone(),
        computations: entries,
        fused: generated.fused,
        temporaries: generated.temporaries,
        traffic: generated.traffic,
    })
}

impl Report for AnalyzeReport {
    const SCHEMA: &'static str = "tilewright.nested.analyze/1";

    fn text(&self) -> String {
        let mut text = format!("program  {}\n", self.program);
        for own in &self.computations {
            let _ = write!(text, "\n{} (line {}): {}\n", own.name, own.place, own.expression);
            let _ = writeln!(text, "  chosen by   {}", own.features.join(", "));
            let _ = writeln!(text, "  default     {}", own.default);
            let _ = writeln!(
                text,
                "  openmp      {} implementations, {} texts",
                own.openmp_points, own.openmp_texts
            );
            let _ = writeln!(
                text,
                "  cuda        {} implementations ({} of {} points of Table 5.4 fit)",
                own.cuda_implementations, own.cuda_points, own.cuda_all
            );
            let _ = writeln!(text, "              default {}", own.cuda_default);
            text.push_str("  schedules, each with those that one rewriting leads to:\n");
            for entry in &own.schedules {
                let rewrites = match entry.rewrites.is_empty() {
                    true => "(weakest)".to_owned(),
                    false => format!("-> {}", entry.rewrites.join(" | ")),
                };
                let _ = writeln!(text, "    {} {rewrites}", entry.schedule);
                for (platform, names) in [("openmp", &entry.openmp), ("cuda", &entry.cuda)] {
                    let names = match names.is_empty() {
                        true => "more levels in parallel than it has".to_owned(),
                        false => names.join(", "),
                    };
                    let _ = writeln!(text, "      {platform:<7} {names}");
                }
            }
        }
        let listed = |list: &[String]| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
        let _ = write!(
            text,
            "\nfused        {}\ntemporaries  {}\n",
            listed(&self.fused),
            listed(&self.temporaries)
        );
        for own in &self.traffic {
            let _ = writeln!(
                text,
                "kernel       {}: reads {}; fills {}",
                own.fills.join(", "),
                listed(&own.reads),
                listed(&own.writes)
            );
        }
        text
    }
}
