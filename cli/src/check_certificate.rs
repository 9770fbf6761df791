//! `tilewright check-certificate`: whether a certificate of `tune` proves what it claims.

use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use certificates::{Accepted, Against, Certificate, Rejected, check};
use clap::Args;
use cost_models::form::TimeModel;
use cost_models::machine::Machine;
use cost_models::objective::Objective;
use polyhedral::program::Program;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tilewright::load::{LoadOptions, load_with};
use tilewright::{machines, text};

/// Largest file that is read.
const MOST_BYTES: u64 = 1 << 30;

/// Arguments of `check-certificate`.
#[derive(Debug, Args)]
pub struct CheckCertificateArguments {
    /// A certificate that `tilewright tune --certificate` wrote
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The machine that it must be about; where not given, the shipped one of its name, if there is one
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// The stencil that it must be about; where not given, the shipped one of its name, if there is one
    #[arg(long, value_name = "SPEC")]
    pub stencil: Option<String>,
    /// Accept that tiles are left out because a compiler spilled their registers, which cannot be checked here
    #[arg(long)]
    pub accept_passed_over: bool,
}

/// The report of `check-certificate`.
#[derive(Debug, Serialize)]
pub struct CheckCertificateReport {
    /// Whether the certificate proves its claim.
    pub accepted: bool,
    /// Why not; null where it does.
    pub reason: Option<String>,
    /// Name of the stencil.
    pub stencil: String,
    /// Grid extents.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// Name of the machine.
    pub machine: String,
    /// What machine and stencil were held against.
    pub against: Vec<String>,
    /// The form of the time model.
    pub model: TimeModel,
    /// What is minimised.
    pub objective: Objective,
    /// The best tile: strategy, sizes, k.
    pub best: certificates::Best,
    /// Boxes of tiles that are stated.
    pub boxes: usize,
    /// Tiles that are stated.
    pub tiles: usize,
    /// Parts of boxes that were looked at because the whole box did not show its bound; null where it was not accepted.
    pub parts: Option<u64>,
    /// What the proof is under.
    pub conditions: Vec<String>,
    /// Seconds that the check took.
    pub elapsed_s: f64,
}

/// Checks.
///
/// # Errors
/// Files that are no certificates, unknown machines and stencils.
pub fn check_certificate(
    arguments: &CheckCertificateArguments,
    session: &Session,
) -> Result<CheckCertificateReport> {
    let file = &arguments.file;
    let read = |source| execution::ExecutionError::File { action: "read", path: file.clone(), source };
    let text = safe_io::input::read_text(file, MOST_BYTES).map_err(read)?;
    let certificate = session.stage("read", || Certificate::from_json(&text)).map_err(|reason| {
        Error::wrong_input(format!("{}: {reason}", file.display()))
            .hint("`tilewright tune ... --certificate FILE` writes certificates")
    })?;
    let claim = &certificate.claim;
    let own = Machine::parse(&format!("{} (its machine)", file.display()), &claim.machine)
        .map_err(|error| Error::wrong_input(error.to_string()))?;
    let program = polyhedral::parse(&format!("{} (its program)", file.display()), &claim.program)?;
    let mut held = Vec::new();
    let machine = match &arguments.machine {
        Some(named) => Some(machines::machine(named)?),
        None => cost_models::machine::shipped(&own.name).transpose().unwrap_or_default(),
    };
    held.push(match (&arguments.machine, &machine) {
        (Some(named), _) => format!("machine {named}"),
        (None, Some(_)) => format!("the shipped machine {}", own.name),
        (None, None) => "the machine in the certificate: name yours with --machine".to_owned(),
    });
    let stencil = match &arguments.stencil {
        Some(spec) => Some(tilewright::load(spec)?.program),
        None => shipped(&program)?,
    };
    held.push(match (&arguments.stencil, &stencil) {
        (Some(spec), _) => format!("stencil {spec}"),
        (None, Some(_)) => format!("the shipped stencil {}", program.name),
        (None, None) => "the program in the certificate: name yours with --stencil".to_owned(),
    });
    let against = Against {
        machine: machine.as_ref(),
        program: stencil.as_deref(),
        accept_passed_over: arguments.accept_passed_over,
    };
    let start = Instant::now();
    let result = session.stage("check", || check(&certificate, &against));
    let elapsed_s = start.elapsed().as_secs_f64();
    let (reason, parts, conditions) = match result {
        Ok(Accepted { parts, conditions, .. }) => (None, Some(parts), conditions),
        Err(rejected) => (Some(explained(&rejected)), None, Vec::new()),
    };
    Ok(CheckCertificateReport {
        accepted: reason.is_none(),
        reason,
        stencil: program.name,
        size: claim.size.clone(),
        steps: claim.steps,
        machine: own.name,
        against: held,
        model: claim.model,
        objective: claim.objective,
        best: claim.best.clone(),
        boxes: certificate.boxes.len(),
        tiles: certificate.tiles.len(),
        parts,
        conditions,
        elapsed_s,
    })
}

/// The shipped stencil of this name, with the same type of element for all fields if the program has one.
fn shipped(program: &Program) -> Result<Option<Arc<Program>>> {
    if !polyhedral::shipped::names().contains(&program.name.as_str()) {
        return Ok(None);
    }
    let mut elements = program.fields.iter().map(|field| field.element);
    let first = elements.next().filter(|first| elements.all(|other| other == *first));
    let options = LoadOptions { element: first, ..LoadOptions::default() };
    Ok(Some(load_with(&program.name, &options)?.program))
}

fn explained(rejected: &Rejected) -> String {
    match rejected {
        Rejected::Claim(reason) if reason.contains("compiler spilled") => {
            format!("{reason}; --accept-passed-over takes the compiler's word for it")
        }
        _ => rejected.to_string(),
    }
}

impl Report for CheckCertificateReport {
    const SCHEMA: &'static str = "tilewright.check-certificate/1";

    fn passed(&self) -> bool {
        self.accepted
    }

    fn text(&self) -> String {
        let best = &self.best;
        let verdict = match &self.reason {
            None => "accepted: no tile of the space is better".to_owned(),
            Some(reason) => format!("rejected: {reason}"),
        };
        let mut pairs = vec![
            ("stencil", format!("{}, {}, {} steps", self.stencil, text::size(&self.size), self.steps)),
            ("machine", format!("{}, model {}", self.machine, self.model.name())),
            ("objective", self.objective.name().to_owned()),
            ("best", format!("{} {} k={}: {:.9e}", best.strategy, best.tile, best.k, best.value)),
            ("evidence", format!("{} boxes and {} tiles", self.boxes, self.tiles)),
            ("held against", self.against.join("\n")),
            ("verdict", verdict),
        ];
        if !self.conditions.is_empty() {
            pairs.push(("conditions", self.conditions.join("\n")));
        }
        pairs.push(("checked in", report::seconds(self.elapsed_s)));
        report::pairs(&pairs)
    }
}
