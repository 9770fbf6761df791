//! A table of a machine file, read value by value; every problem is kept with its line.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line in the file, from 1; that of the table's first value where a value is missing.
    pub line: usize,
    /// Path of the value, such as `facts.n_sm`; empty where the text is no TOML.
    pub place: String,
    /// What is wrong, and what would be right.
    pub reason: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.line)?;
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.reason)
    }
}

/// A table that is being read.
pub struct Section<'a, 'p> {
    path: String,
    table: &'a DeTable<'a>,
    /// Where it begins. Lines are counted for problems alone: a machine has hundreds of tables, and mostly none.
    start: usize,
    text: &'a str,
    problems: &'p mut Vec<Problem>,
    known: BTreeSet<String>,
}

/// The number of the line that holds this byte, from 1.
pub(super) fn line_of(text: &str, byte: usize) -> usize {
    text.as_bytes().iter().take(byte).filter(|&&c| c == b'\n').count() + 1
}

impl<'a, 'p> Section<'a, 'p> {
    /// Reads `table`, which begins at byte `start` of `text`.
    pub(super) fn new(
        path: &str,
        table: &'a DeTable<'a>,
        start: usize,
        text: &'a str,
        problems: &'p mut Vec<Problem>,
    ) -> Self {
        Section { path: path.to_string(), table, start, text, problems, known: BTreeSet::new() }
    }

    fn place(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) }
    }

    /// Notes a problem with `key`, which is at this byte or should be in the table that begins there.
    fn problem_at(&mut self, byte: usize, key: &str, reason: impl Into<String>) {
        let (line, place) = (line_of(self.text, byte), self.place(key));
        self.problems.push(Problem { line, place, reason: reason.into() });
    }

    /// Notes that the value of `key` is impossible.
    pub fn problem(&mut self, key: &str, reason: impl Into<String>) {
        let byte = self.find(key).map_or(self.start, |value| value.span().start);
        self.problem_at(byte, key, reason);
    }

    fn find(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    fn optional(&mut self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.known.insert(key.to_string());
        self.find(key)
    }

    fn required(&mut self, key: &str, what: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        let found = self.optional(key);
        if found.is_none() {
            self.problem_at(self.start, key, format!("it is missing; {what} is needed"));
        }
        found
    }

    /// The entries of an array of integers within limits or of texts; `None` where it is missing or wrong.
    fn array<T>(
        &mut self,
        key: &str,
        what: &str,
        read: impl Fn(&DeValue<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let found = self.optional(key)?;
        let entries: Option<Vec<T>> = found
            .get_ref()
            .as_array()
            .and_then(|array| array.iter().map(|entry| read(entry.get_ref())).collect());
        let entries = entries.filter(|entries| !entries.is_empty());
        if entries.is_none() {
            self.problem(key, format!("it must be a list of {what}, such as [..., ...], and not empty"));
        }
        entries
    }

    /// A list of texts that may be missing.
    pub fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        self.array(key, "texts in quotes", |value| value.as_str().map(str::to_string))
    }

    /// A list of numbers within limits that may be missing.
    pub fn numbers(&mut self, key: &str, unit: &str, limits: RangeInclusive<f64>) -> Option<Vec<f64>> {
        let what =
            format!("numbers between {} and {} ({unit})", plain(*limits.start()), plain(*limits.end()));
        self.array(key, &what, |value| as_number(value).filter(|number| limits.contains(number)))
    }

    /// A list of integers within limits that may be missing.
    pub fn integers(&mut self, key: &str, unit: &str, limits: RangeInclusive<i64>) -> Option<Vec<i64>> {
        let what = format!("integers between {} and {} ({unit})", limits.start(), limits.end());
        self.array(key, &what, |value| as_integer(value).filter(|integer| limits.contains(integer)))
    }

    /// Whether there is such a key.
    pub fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// Whether the value of a key is a list.
    pub fn is_list(&self, key: &str) -> bool {
        self.find(key).is_some_and(|value| value.get_ref().is_array())
    }

    /// The number of problems so far, those of other tables included.
    pub fn problems(&self) -> usize {
        self.problems.len()
    }

    /// All keys of the table, in order of name.
    pub fn keys(&self) -> Vec<String> {
        self.table.iter().map(|(name, _)| name.get_ref().to_string()).collect()
    }

    /// A key that may be there and is not looked at.
    pub fn ignore(&mut self, key: &str) {
        self.known.insert(key.to_string());
    }

    /// A text; empty where it is missing.
    pub fn text(&mut self, key: &str) -> String {
        let found = self.required(key, "a text in quotes");
        match found.map(|value| value.get_ref().as_str()) {
            Some(Some(text)) => text.to_string(),
            Some(None) => {
                self.problem(key, "a text in quotes is needed");
                String::new()
            }
            None => String::new(),
        }
    }

    /// One of some words.
    pub fn choice<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let words: Vec<String> = choices.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let words = words.join(" or ");
        let found = self.required(key, &words)?;
        let chosen = found.get_ref().as_str().and_then(|text| choices.iter().find(|(word, _)| *word == text));
        if chosen.is_none() {
            self.problem(key, format!("it must be {words}"));
        }
        chosen.map(|(_, value)| *value)
    }

    /// A number within limits, both included; `unit` is for messages. The least value where it is missing.
    pub fn number(&mut self, key: &str, unit: &str, limits: RangeInclusive<f64>) -> f64 {
        let what =
            format!("a number between {} and {} ({unit})", plain(*limits.start()), plain(*limits.end()));
        if self.required(key, &what).is_none() {
            return *limits.start();
        }
        self.optional_number(key, unit, limits.clone()).unwrap_or(*limits.start())
    }

    /// A text that may be missing.
    pub fn optional_text(&mut self, key: &str) -> Option<String> {
        let found = self.optional(key)?;
        let text = found.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.problem(key, "expected a text in quotes");
        }
        text
    }

    /// A number within limits that may be missing.
    pub fn optional_number(&mut self, key: &str, unit: &str, limits: RangeInclusive<f64>) -> Option<f64> {
        let found = self.optional(key)?;
        let number = as_number(found.get_ref());
        let number = number.filter(|number| limits.contains(number));
        if number.is_none() {
            let (low, high) = (plain(*limits.start()), plain(*limits.end()));
            self.problem(key, format!("it must be a number between {low} and {high} ({unit})"));
        }
        number
    }

    /// An integer within limits, both included; the least value where it is missing.
    pub fn integer(&mut self, key: &str, unit: &str, limits: RangeInclusive<i64>) -> i64 {
        let what = format!("an integer between {} and {} ({unit})", limits.start(), limits.end());
        if self.required(key, &what).is_none() {
            return *limits.start();
        }
        self.optional_integer(key, unit, limits.clone()).unwrap_or(*limits.start())
    }

    /// An integer within limits that may be missing.
    pub fn optional_integer(&mut self, key: &str, unit: &str, limits: RangeInclusive<i64>) -> Option<i64> {
        let found = self.optional(key)?;
        let value = as_integer(found.get_ref()).filter(|value| limits.contains(value));
        if value.is_none() {
            let (low, high) = (limits.start(), limits.end());
            self.problem(key, format!("it must be an integer between {low} and {high} ({unit})"));
        }
        value
    }

    /// A table.
    pub fn table<T>(&mut self, key: &str, read: impl FnOnce(&mut Section<'a, '_>) -> T) -> Option<T> {
        self.required(key, &format!("a table [{}]", self.place(key)))?;
        self.optional_table(key, read)
    }

    /// A table that may be missing.
    pub fn optional_table<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&mut Section<'a, '_>) -> T,
    ) -> Option<T> {
        let found = self.optional(key)?;
        let Some(table) = found.get_ref().as_table() else {
            self.problem(key, "it must be a table");
            return None;
        };
        let path = self.place(key);
        Some(read_table(&path, table, found.span().start, self.text, self.problems, read))
    }

    /// An array of tables that may be missing.
    pub fn tables<T>(&mut self, key: &str, mut read: impl FnMut(&mut Section<'a, '_>) -> T) -> Vec<T> {
        let Some(found) = self.optional(key) else { return Vec::new() };
        let entries: Option<Vec<_>> = found.get_ref().as_array().and_then(|array| {
            array.iter().map(|entry| Some((entry.get_ref().as_table()?, entry.span().start))).collect()
        });
        let Some(entries) = entries else {
            self.problem(key, "it must be an array of tables");
            return Vec::new();
        };
        (entries.into_iter().enumerate())
            .map(|(index, (table, start))| {
                let path = format!("{}[{index}]", self.place(key));
                read_table(&path, table, start, self.text, self.problems, &mut read)
            })
            .collect()
    }

    /// Whether the value of a key is a table.
    pub fn is_table(&self, key: &str) -> bool {
        self.find(key).is_some_and(|value| value.get_ref().is_table())
    }

    /// Reports every key that nobody asked for.
    pub(super) fn finish(self) {
        let unknown: Vec<_> = (self.table.iter())
            .filter(|(name, _)| !self.known.contains(name.get_ref().as_ref()))
            .map(|(name, _)| (name.get_ref().to_string(), line_of(self.text, name.span().start)))
            .collect();
        let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
        for (name, line) in unknown {
            let reason = format!("there is no such value; the values here are {}", known.join(", "));
            self.problems.push(Problem { line, place: self.place(&name), reason });
        }
    }
}

fn read_table<'a, T>(
    path: &str,
    table: &'a DeTable<'a>,
    start: usize,
    text: &'a str,
    problems: &mut Vec<Problem>,
    read: impl FnOnce(&mut Section<'a, '_>) -> T,
) -> T {
    let mut section = Section::new(path, table, start, text, problems);
    let value = read(&mut section);
    section.finish();
    value
}

/// Reads a document that is no machine; `read` asks for its values.
///
/// # Errors
/// Every missing, impossible or unknown value, in order of lines; or where the text is no TOML.
pub fn read_document<T>(text: &str, read: impl FnOnce(&mut Section<'_, '_>) -> T) -> Result<T, Vec<Problem>> {
    let root = DeTable::parse(text).map_err(|syntax| {
        let line = syntax.span().map_or(1, |span| line_of(text, span.start));
        vec![Problem { line, place: String::new(), reason: syntax.message().to_string() }]
    })?;
    let mut problems = Vec::new();
    let value = read_table("", root.get_ref(), 0, text, &mut problems, read);
    problems.sort_by_key(|problem| problem.line);
    if problems.is_empty() { Ok(value) } else { Err(problems) }
}

fn as_integer(value: &DeValue<'_>) -> Option<i64> {
    let integer = value.as_integer()?;
    i64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok()
}

/// The value of an integer or a floating-point number.
fn as_number(value: &DeValue<'_>) -> Option<f64> {
    let integer = value.as_integer().map(|integer| integer.as_str());
    let text = integer.or_else(|| value.as_float().map(|float| float.as_str()))?;
    text.replace('_', "").parse().ok()
}

/// A limit as people write it: powers of ten only where it is very small or great.
fn plain(limit: f64) -> String {
    if limit == 0.0 || (1e-3..1e10).contains(&limit.abs()) { limit.to_string() } else { format!("{limit:e}") }
}
