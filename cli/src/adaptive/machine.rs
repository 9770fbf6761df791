//! `tilewright adaptive machine`: features of this machine, for models of several machines.

use super::arguments::MachineArguments;
use crate::arguments::CalibratedBackend;
use crate::error::{Error, Result};
use crate::outputs;
use crate::progress::Session;
use crate::report::{self, Report};
use cost_models::machine::Machine;
use execution::calibrate;
use execution::calibrate::features::{Features, cpu_features, gpu_features};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tilewright::choice::machine_of_device;
use tilewright::{machines, state};
use toolchain::child::{self, End, Keep, Limits};
use toolchain::driver::Device;

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// How much of its output is kept.
const MOST_OUTPUT: usize = 1 << 16;

/// The report of `adaptive machine`.
#[derive(Debug, Serialize)]
pub struct MachineReport {
    /// The machine file.
    pub file: PathBuf,
    /// Name of the machine.
    pub machine: String,
    /// All features that the file has now.
    pub features: Features,
    /// Those of them that were there before and are not of this command.
    pub kept: Vec<String>,
}

/// Measures.
///
/// # Errors
/// Wrong input; a device that is not there; commands that fail.
pub fn machine(arguments: &MachineArguments, session: &Session) -> Result<MachineReport> {
    let output = state::machine_to_write(&arguments.output)?;
    let read: Vec<PathBuf> = arguments.machine.as_deref().and_then(machines::file).into_iter().collect();
    outputs::check(&[("--output", &output)], &read)?;
    let stated = stated(&arguments.feature)?;
    for text in &arguments.custom {
        pair("--custom", text)?;
    }
    let before = match output.exists() {
        true => Some(machines::machine(&output.display().to_string())?),
        false => None,
    };
    let name = output.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let rounds = arguments.rounds as usize;
    let (mut machine, mut features) = match arguments.backend {
        CalibratedBackend::OpenMp => {
            let threads = std::thread::available_parallelism().map_or(1, usize::from);
            let machine = before.unwrap_or_else(|| calibrate::uncalibrated(&name, threads));
            if machine.cpu().is_none() {
                return Err(other(&output, "a GPU", "--backend cuda"));
            }
            (machine, session.stage("features", || cpu_features(rounds))?)
        }
        CalibratedBackend::Cuda => {
            let device = session.stage("device", || Device::open(0))?;
            let facts = device.facts();
            let published = match (before, &arguments.machine) {
                (Some(before), _) => before,
                (None, Some(spec)) => Machine { name, ..machines::machine(spec)? },
                (None, None) => Machine {
                    name,
                    ..machine_of_device(&facts.name).ok_or_else(|| {
                        Error::infeasible(format!("no facts of `{}` are shipped (lanes)", facts.name))
                            .hint("name a machine file with what is published about it: --machine FILE")
                    })?
                },
            };
            let Some(gpu) = published.gpu() else { return Err(other(&output, "a CPU", "--backend openmp")) };
            let features = session.stage("features", || gpu_features(&device, gpu.n_v, rounds))?;
            (published, features)
        }
    };
    features.extend(stated);
    for text in &arguments.custom {
        let (name, command) = pair("--custom", text)?;
        features.insert(name.to_owned(), session.stage("custom", || measured(name, command))?);
    }
    let kept = machine.features.keys().filter(|name| !features.contains_key(*name)).cloned().collect();
    machine.features.extend(features);
    execution::output_file::write(&output, |file| file.write_all(machine.to_toml().as_bytes()))?;
    Ok(MachineReport { file: output, machine: machine.name, features: machine.features, kept })
}

fn other(file: &Path, what: &str, hint: &str) -> Error {
    Error::wrong_input(format!("the machine of {} is {what}", file.display()))
        .hint(format!("take {hint}, or name another file"))
}

fn pair<'a>(option: &str, text: &'a str) -> Result<(&'a str, &'a str)> {
    let found = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    found.filter(|(name, value)| !name.is_empty() && !value.is_empty()).ok_or_else(|| {
        Error::wrong_input(format!("{option}: `{text}` is no NAME=VALUE")).hint("as in peak_gflops_dp=4612")
    })
}

/// Features that are stated.
fn stated(texts: &[String]) -> Result<Features> {
    let number = |text: &String| {
        let (name, value) = pair("--feature", text)?;
        let number = value.parse::<f64>().ok().filter(|value| value.is_finite());
        let number =
            number.ok_or_else(|| Error::wrong_input(format!("--feature: `{value}` is no finite number")))?;
        Ok((name.to_owned(), number))
    };
    texts.iter().map(number).collect()
}

/// The number in the last line of a command's output.
fn measured(name: &str, command: &str) -> Result<f64> {
    let keep = Keep::Last(MOST_OUTPUT);
    let limits = Limits { stdout: keep, stderr: keep, ..Limits::of_time(PATIENCE) };
    let failed = |why: String| {
        Error::infeasible(format!("the command of feature `{name}` failed: {why}"))
            .hint("its last line must be the number, and its exit code 0")
    };
    let ended = child::run(Command::new("sh").args(["-c", command]), &limits)
        .map_err(|error| failed(format!("cannot start `sh`: {error}")))?;
    match ended.end {
        End::Stopped => return Err(toolchain::interrupt::Interrupted.into()),
        End::TimedOut | End::TooMuchOutput => {
            return Err(failed(format!("it took longer than {} s", PATIENCE.as_secs())));
        }
        End::Exited(status) if !status.success() => {
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            let last =
                said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it says nothing");
            return Err(failed(last.chars().take(200).collect()));
        }
        End::Exited(_) => {}
    }
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let number = last.parse::<f64>().ok().filter(|value| value.is_finite());
    number.ok_or_else(|| {
        failed(format!("the last line is no number: `{}`", last.chars().take(80).collect::<String>()))
    })
}

impl Report for MachineReport {
    const SCHEMA: &'static str = "tilewright.adaptive-machine/1";

    fn text(&self) -> String {
        let row = |(name, value): (&String, &f64)| {
            let from = if self.kept.contains(name) { "there before" } else { "" };
            vec![
                name.clone(),
                format!("{value:.6}").trim_end_matches('0').trim_end_matches('.').to_owned(),
                from.to_owned(),
            ]
        };
        let rows: Vec<Vec<String>> = self.features.iter().map(row).collect();
        let head =
            report::pairs(&[("machine", self.machine.clone()), ("file", self.file.display().to_string())]);
        format!("{head}\n{}", report::table(&["feature", "value", ""], &rows, &[1]))
    }
}
