//! What a nested program will be given, from a file in TOML.
//!
//! ```toml
//! computation = "y"                     # whose implementations are tried; that with most levels, where left out
//! threads = 2                           # all that this program may use, where left out
//! implementations = 8                   # in the library, at most
//! candidates = 24                       # that are measured, at most
//! repeat = 3                            # runs of each that are timed at first
//! versions = ["other.nested"]           # programs that compute the same: files beside this one, or shipped ones
//! close = 1e-9                          # by which results of versions may differ, relative to the greater number and 1
//!
//! [[inputs]]                            # as the options of `nested run` have it; files are looked for beside this one
//! name = "banded"
//! input = ["x=x.npy"]
//! matrix = ["nonzeros,columns,offsets=a.mtx"]
//! param = ["n=3"]
//! ```

use super::listed;
use crate::error::Result;
use serde::Deserialize;
use std::path::Path;

/// Data that a program will be given.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// What it is called.
    pub name: String,
    /// `NAME=FILE.npy`
    #[serde(default)]
    pub input: Vec<String>,
    /// `VALUES,COLUMNS,OFFSETS=FILE.mtx`
    #[serde(default)]
    pub matrix: Vec<String>,
    /// `NAME=NUMBER`
    #[serde(default)]
    pub param: Vec<String>,
}

/// The whole file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NestedUses {
    /// The computation whose implementations are tried.
    pub computation: Option<String>,
    /// Threads.
    pub threads: Option<usize>,
    /// Implementations of the library at most.
    #[serde(default = "eight")]
    pub implementations: usize,
    /// Implementations that are measured at most.
    #[serde(default = "twenty_four")]
    pub candidates: usize,
    /// Runs that are timed.
    #[serde(default = "three")]
    pub repeat: usize,
    /// Other programs that compute the same.
    #[serde(default)]
    pub versions: Vec<String>,
    /// By how much their results may differ.
    #[serde(default = "nearly_equal")]
    pub close: f64,
    /// The uses.
    pub inputs: Vec<Listed>,
}

fn nearly_equal() -> f64 {
    1e-9
}

fn three() -> usize {
    3
}

fn eight() -> usize {
    8
}

fn twenty_four() -> usize {
    24
}

impl NestedUses {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, and what is wrong in it.
    pub fn read(path: &Path) -> Result<NestedUses> {
        let hint = "write `[[inputs]]` with `name` and `input = [\"x=x.npy\"]`; docs/nested.md has all keys";
        listed::read(path, NestedUses::parse, hint)
    }

    fn parse(source: &str) -> std::result::Result<NestedUses, String> {
        let uses: NestedUses = toml::from_str(source).map_err(|error| error.to_string())?;
        let ranges = [
            ("threads", uses.threads.unwrap_or(1), 1, 1024),
            ("implementations", uses.implementations, 2, 8),
            ("candidates", uses.candidates, 2, 1000),
            ("repeat", uses.repeat, 1, 1000),
            ("inputs", uses.inputs.len(), 1, 1000),
            ("versions", uses.versions.len(), 0, 7),
        ];
        if !(0.0..=1.0).contains(&uses.close) {
            return Err(format!("close: {}, where 0 to 1 can be", uses.close));
        }
        match ranges.into_iter().find(|(_, value, least, most)| !(least..=most).contains(&value)) {
            Some((name, value, least, most)) => {
                Err(format!("{name}: {value}, where {least} to {most} can be"))
            }
            None => Ok(uses),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_or_refused() {
        let uses = NestedUses::parse("threads = 2\n[[inputs]]\nname = \"a\"\nparam = [\"n=3\"]\n").unwrap();
        assert_eq!((uses.threads, uses.implementations, uses.inputs.len()), (Some(2), 8, 1));
        for (text, expected) in [
            ("", "missing field `inputs`"),
            ("inputs = []", "inputs: 0"),
            ("close = -1.0\n[[inputs]]\nname = \"a\"", "close: -1"),
            ("implementations = 9\n[[inputs]]\nname = \"a\"", "implementations: 9"),
            ("[[inputs]]\nname = \"a\"\nfile = \"x\"", "unknown field"),
            ("threads = -1", "invalid value"),
        ] {
            let problem = NestedUses::parse(text).unwrap_err();
            assert!(problem.contains(expected), "{text}: {problem}");
        }
    }
}
