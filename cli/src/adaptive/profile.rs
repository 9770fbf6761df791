//! `tilewright adaptive profile`: what the code of variants issues, and which proxies it is like.

use super::arguments::{ProfileArguments, ProxiesOf};
use super::source::told;
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{inspect, load, outputs};
use adaptive::machines::profiles::Profiles;
use adaptive::machines::proxies::{PROXIES, shipped};
use adaptive::machines::{KernelVote, votes};
use execution::output_file;
use hhc_codegen::TileSizes;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use tilewright::Tiling;
use tilewright::profiling::{self, Function, Processor, Tile};
use toolchain::machine::cpu_name;

/// The report of `adaptive profile`.
#[derive(Debug, Serialize)]
pub struct ProfileReport {
    /// Whose code: `sm_80`, or the processor's name.
    pub code_for: String,
    /// The file.
    pub file: PathBuf,
    /// Profiles in it.
    pub profiles: usize,
    /// Names of the metrics.
    pub metrics: Vec<String>,
    /// Names of the proxies.
    pub proxies: Vec<&'static str>,
    /// What each kernel is like, by the shipped profiles of the proxies.
    pub kernels: Vec<KernelVote>,
}

/// Profiles.
///
/// # Errors
/// Options that do not fit together, what cannot be compiled or read here.
pub fn profile(arguments: &ProfileArguments, session: &Session) -> Result<ProfileReport> {
    let inputs: Vec<PathBuf> = arguments.object.iter().cloned().collect();
    outputs::check(&[("--output", arguments.output.as_path())], &inputs)?;
    let architecture = format!("sm_{}", arguments.sm);
    let (profiles, code_for) = match (&arguments.proxies, &arguments.object, &arguments.spec) {
        (Some(ProxiesOf::Gpu), ..) => {
            let counted = session.stage("count", || profiling::proxies(Processor::Gpu(arguments.sm)));
            (counted?, architecture)
        }
        (Some(ProxiesOf::Cpu), ..) => {
            (session.stage("compile", || profiling::proxies(Processor::Host))?, cpu_name())
        }
        (None, Some(object), _) => {
            let function = |(variant, symbol): (&str, &str)| Function {
                variant: variant.to_owned(),
                symbol: symbol.to_owned(),
            };
            let functions: Vec<Function> = named(&arguments.variant)?.into_iter().map(function).collect();
            (session.stage("read", || profiling::functions(object, &functions))?, "x86-64".to_owned())
        }
        (None, None, Some(spec)) => (tilings(arguments, spec, session)?, architecture),
        (None, None, None) => return Err(Error::wrong_input("name a stencil, --object or --proxies")),
    };
    let text = profiles.to_text().map_err(told)?;
    output_file::write(&arguments.output, |file| file.write_all(text.as_bytes()))?;
    let known = shipped(&profiles).map_err(told)?;
    Ok(ProfileReport {
        code_for,
        file: arguments.output.clone(),
        profiles: profiles.rows.len(),
        kernels: votes(&profiles, &known).map_err(told)?,
        metrics: profiles.metrics,
        proxies: PROXIES.iter().map(|proxy| proxy.name).collect(),
    })
}

/// `NAME=WHAT`, each.
fn named(variants: &[String]) -> Result<Vec<(&str, &str)>> {
    let split = |text: &String| {
        let wrong = || Error::wrong_input(format!("--variant `{text}` is not NAME=WHAT"));
        let (name, what) = text.split_once('=').ok_or_else(wrong)?;
        if name.trim().is_empty() || what.trim().is_empty() { Err(wrong()) } else { Ok(()) }
    };
    variants.iter().try_for_each(split)?;
    Ok(variants.iter().filter_map(|text| text.split_once('=')).map(|(a, b)| (a.trim(), b.trim())).collect())
}

fn tilings(arguments: &ProfileArguments, spec: &str, session: &Session) -> Result<Profiles> {
    let mut tiles = Vec::new();
    for (variant, what) in named(&arguments.variant)? {
        let (strategy, tile) = match what.split_once(':') {
            None => (what, None),
            Some((strategy, tile)) => (strategy, Some(TileSizes::parse(tile)?)),
        };
        let tiling = Tiling { strategy: strategy.to_owned(), tile };
        tiles.push(Tile { variant: variant.to_owned(), tiling });
    }
    let stencil = session.stage("read", || load::load(spec, None, &Default::default()))?;
    let mut inputs = Vec::new();
    for size in &arguments.size {
        execution::layout::grid_points(&stencil.program, &size.0)?;
        inputs.extend(arguments.steps.iter().map(|&steps| (size.0.clone(), steps)));
    }
    let (machine, architecture) = inspect::device(None, Some(arguments.sm))?;
    profiling::tilings(&stencil, &tiles, (&machine, architecture), &inputs, session)
}

impl Report for ProfileReport {
    const SCHEMA: &'static str = "tilewright.adaptive-profile/1";

    fn text(&self) -> String {
        let pairs = report::pairs(&[
            ("code for", self.code_for.clone()),
            ("profiles", self.profiles.to_string()),
            ("file", self.file.display().to_string()),
        ]);
        let head: Vec<&str> = ["variant", "kernel"]
            .into_iter()
            .chain(self.proxies.iter().copied())
            .chain(["is like"])
            .collect();
        let row = |kernel: &KernelVote| {
            let values = kernel.intensities.iter().map(|value| format!("{value:.1}"));
            let like = if kernel.proxies.is_empty() { "none".to_owned() } else { kernel.proxies.join(", ") };
            [kernel.variant.clone(), kernel.kernel.clone()].into_iter().chain(values).chain([like]).collect()
        };
        let rows: Vec<Vec<String>> = self.kernels.iter().map(row).collect();
        let right: Vec<usize> = (2..2 + self.proxies.len()).collect();
        let note = "intensities of the proxies, 0 to 5: how much of a kernel's instructions is what a proxy is made of";
        format!("{pairs}\n{}\n{note}\n", report::table(&head, &rows, &right))
    }
}
