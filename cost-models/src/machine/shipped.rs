//! The machines that come with Tilewright: `machines/*.toml`.

use super::{Machine, MachineError};

/// Name and text of each, by year of release.
const SHIPPED: [(&str, &str); 8] = [
    ("k40c", include_str!("../../machines/k40c.toml")),
    ("gtx980", include_str!("../../machines/gtx980.toml")),
    ("titanx", include_str!("../../machines/titanx.toml")),
    ("v100", include_str!("../../machines/v100.toml")),
    ("a100", include_str!("../../machines/a100.toml")),
    ("h100", include_str!("../../machines/h100.toml")),
    ("h200", include_str!("../../machines/h200.toml")),
    ("zen4", include_str!("../../machines/zen4.toml")),
];

/// Machines that families of codesign stand on: from data sheets, calibrated by nobody, and not all of them run CUDA.
const BASES: [(&str, &str); 4] = [
    ("ad102", include_str!("../../machines/bases/ad102.toml")),
    ("b200", include_str!("../../machines/bases/b200.toml")),
    ("mi300x", include_str!("../../machines/bases/mi300x.toml")),
    ("epyc9654", include_str!("../../machines/bases/epyc9654.toml")),
];

/// The names of machines that families of codesign may stand on, beside [`names`].
pub fn base_names() -> Vec<&'static str> {
    BASES.iter().map(|(name, _)| *name).collect()
}

/// A machine that families of codesign may stand on: a shipped one or one from a data sheet, with constants.
pub fn base(name: &str) -> Option<Result<Machine, MachineError>> {
    let of_base = BASES.iter().find(|(own, _)| *own == name);
    let machine = match of_base {
        Some((_, text)) => Some(Machine::parse(&format!("machines/bases/{name}.toml"), text)),
        None => shipped(name),
    };
    machine.map(|machine| machine.map(Machine::with_stated_constants))
}

/// Their names.
pub fn names() -> Vec<&'static str> {
    SHIPPED.iter().map(|(name, _)| *name).collect()
}

/// The text of a shipped machine file.
pub fn source(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// A shipped machine; `None` where there is none of this name.
pub fn shipped(name: &str) -> Option<Result<Machine, MachineError>> {
    source(name).map(|text| Machine::parse(&format!("machines/{name}.toml"), text))
}
