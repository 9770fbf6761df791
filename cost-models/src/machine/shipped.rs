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
