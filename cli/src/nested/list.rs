//! `tilewright nested list`.

use crate::report::{self, Report};
use nested::program::Operator;
use nested::shipped;
use serde::Serialize;

/// A shipped program.
#[derive(Debug, Serialize)]
pub struct ProgramEntry {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub description: String,
    /// Lines with something in them, comments aside.
    pub lines: usize,
}

/// An operator.
#[derive(Debug, Serialize)]
pub struct OperatorEntry {
    /// Its name.
    pub name: &'static str,
    /// How it is called.
    pub signature: &'static str,
}

/// The report of `nested list`.
#[derive(Debug, Serialize)]
pub struct NestedListReport {
    /// The shipped programs.
    pub programs: Vec<ProgramEntry>,
    /// The operators.
    pub operators: Vec<OperatorEntry>,
}

/// Lists programs and operators.
pub fn list() -> NestedListReport {
    let program = |(name, text): (&'static str, &str)| {
        let comments = text.lines().take_while(|line| line.starts_with("//"));
        let description: Vec<&str> = comments.map(|line| line.trim_start_matches('/').trim()).collect();
        let counts = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        ProgramEntry { name, description: description.join(" "), lines: text.lines().filter(counts).count() }
    };
    let operators = Operator::ALL.into_iter();
    NestedListReport {
        programs: shipped::all().into_iter().map(program).collect(),
        operators: operators
            .map(|own| OperatorEntry { name: own.name(), signature: own.signature() })
            .collect(),
    }
}

impl Report for NestedListReport {
    const SCHEMA: &'static str = "tilewright.nested.list/1";

    fn text(&self) -> String {
        let programs: Vec<Vec<String>> = (self.programs.iter())
            .map(|own| vec![own.name.to_owned(), own.lines.to_string(), own.description.clone()])
            .collect();
        let operators: Vec<Vec<String>> =
            self.operators.iter().map(|own| vec![own.name.to_owned(), own.signature.to_owned()]).collect();
        let programs = report::table(&["program", "lines", "description"], &programs, &[1]);
        [programs, report::table(&["operator", "meaning"], &operators, &[])].join("\n")
    }
}
