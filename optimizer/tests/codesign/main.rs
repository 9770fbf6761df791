//! Codesign as a whole: against brute force, under interruption, with wrong input.
#![allow(clippy::unwrap_used)]

mod brute_force;
mod files;
mod findings;
mod resume;
mod uncertainty;

use optimizer::codesign::setting::Setting;
use optimizer::codesign::workload::Workload;
use optimizer::codesign::workload_file::{Sources, WorkloadError};
use std::sync::Arc;

/// Reads a workload that refers to shipped stencils and families.
fn parse(text: &str) -> Result<Workload, WorkloadError> {
    parse_with(text, &[])
}

/// The same with files beside it.
fn parse_with(text: &str, files: &[(&str, &str)]) -> Result<Workload, WorkloadError> {
    let program = |spec: &str| {
        let program = polyhedral::shipped::source(spec).and_then(|_| polyhedral::shipped::load(spec));
        program.map(Arc::new).ok_or_else(|| format!("there is no stencil `{spec}`"))
    };
    let family = |name: &str| {
        let found = files.iter().find(|(own, _)| *own == name);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| format!("there is no file `{name}`"))
    };
    Workload::parse("w.toml", text, &Sources { program: &program, family: &family })
}

fn setting(text: &str) -> Setting {
    Setting::new(parse(text).unwrap()).unwrap()
}

/// A small workload: two dimensions with `C_iter` of a reference, one of the machine, and designs of many kinds.
const SMALL: &str = r#"
name = "small"
description = "for tests"
family = "maxwell"
objective = "gflops"
threads = [64, 96, 224]

[budget]
area_low_mm2 = 100
area_high_mm2 = 220

[hardware]
n_sm = { from = 3, to = 15, step = 4 }
n_v = [32, 96, 160]
m_sm_kb = [6, 14.5, 20]

[[stencil]]
spec = "heat2d"
weight = 2
sizes = ["300x411", "512x512"]
steps = [30, 101]
reference = { n_sm = 8, n_v = 128, m_sm_kb = 16, gflops = 500 }

[[stencil]]
spec = "heat1d"
sizes = ["100000"]
steps = [64]
"#;
