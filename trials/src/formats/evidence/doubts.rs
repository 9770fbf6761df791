//! What is refused, with the options that would say what the columns are.

use super::by_values::TRIALS_PER_VALUE;
use super::gathered::{Evidence, Role};
use crate::error::{Result, TrialsError, malformed};
use crate::formats::look::{Kind, is_missing};
use crate::formats::names::{Measured, Telling, telling};

/// Columns in the list of an error.
const MOST_LISTED: usize = 40;

impl Evidence<'_> {
    /// The error that lists all columns, if the role of one is in doubt or there is no parameter or no
    /// response.
    pub fn refuse_doubts(&self, no_response: Option<&str>) -> Result<()> {
        let doubts = self.with_role(|role| matches!(role, Role::Doubt(_) | Role::Open));
        let parameters = self.parameters();
        let reason = match (doubts.as_slice(), no_response) {
            ([], None) if parameters.is_empty() => "no column can be told to be a parameter".to_owned(),
            ([], None) => return Ok(()),
            ([], Some(reason)) => reason.to_owned(),
            ([only], None) => format!("what the column `{}` is would be a guess", self.name(*only)),
            (several, None) => format!("what {} columns are would be a guess", several.len()),
            (_, Some(reason)) => format!("{reason}, and what some columns are would be a guess"),
        };
        let widest = self.sheet.header.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(30);
        let mut text = format!("{}: {reason}", self.path.display());
        for column in 0..self.roles.len().min(MOST_LISTED) {
            let name = if self.name(column).is_empty() { "(no name)" } else { self.name(column) };
            let role = match &self.roles[column] {
                Role::Parameter(why) => format!("parameter: {why}"),
                Role::Metric(_, why) => format!("metric: {why}"),
                Role::Status(why) => format!("status: {why}"),
                Role::Message(why) | Role::Ignored(why) => format!("ignored: {why}"),
                Role::Doubt(why) => format!("?: {why}"),
                Role::Open => "?".to_owned(),
            };
            text += &format!("\n  {name:<widest$}  {}; {role}", self.looks[column].text());
        }
        if self.roles.len() > MOST_LISTED {
            text += &format!("\n  and {} more", self.roles.len() - MOST_LISTED);
        }
        Err(TrialsError::Request { reason: text, hint: self.options_to_add(&parameters, &doubts) })
    }

    /// The options that say what the columns are, as far as they can be filled in.
    fn options_to_add(&self, parameters: &[usize], doubts: &[usize]) -> String {
        let mut metrics = self.given.metrics.clone();
        let named = self.with_role(|role| matches!(role, Role::Metric(..)));
        let time = |column: &&usize| matches!(self.roles[**column], Role::Metric(Measured::Time, _));
        if metrics.is_empty() {
            // The most likely one: a time, or what has the most different numbers.
            let numbers = || {
                let all = doubts.iter().filter(|&&column| self.looks[column].has_numbers());
                all.max_by_key(|&&column| (self.looks[column].distinct, column))
            };
            let likely = named.iter().find(time).or(named.first());
            metrics.extend(likely.or_else(numbers));
        }
        let is_status = |column: &usize| matches!(telling(self.name(*column)), Telling::Status { .. });
        let status = doubts.iter().copied().find(is_status).filter(|_| self.given.status.is_none());
        let mut likely: Vec<usize> = parameters.to_vec();
        likely.extend(doubts.iter().copied().filter(|column| {
            let look = &self.looks[*column];
            let told = telling(self.name(*column));
            let measured = matches!(told, Telling::Status { .. } | Telling::Row | Telling::Moment);
            let result =
                told == Telling::Unclear || (look.kind == Kind::Real && 2 * look.distinct > look.rows());
            let few = look.rows() < 2 * TRIALS_PER_VALUE;
            !metrics.contains(column) && !measured && (!result || few) && !self.name(*column).is_empty()
        }));
        likely.sort_unstable();
        likely.dedup();
        let names = |columns: &[usize]| -> Vec<String> {
            columns.iter().map(|&column| in_list(self.name(column))).collect()
        };
        let parameters = match likely.is_empty() {
            true => "NAME,NAME".to_owned(),
            false => for_shell(&names(&likely).join(",")),
        };
        let metric = metrics.first().map_or("NAME".to_owned(), |&column| for_shell(self.name(column)));
        let status =
            status.map_or(String::new(), |column| format!(" --status {}", for_shell(self.name(column))));
        format!(
            "say which is which, such as --parameters {parameters} --metric {metric}{status}; columns that are in none \
             of them are ignored"
        )
    }

    /// Parameters have a value in every row, and numbers among them are written as such.
    pub fn check_parameters(&self) -> Result<()> {
        for column in self.parameters() {
            let look = &self.looks[column];
            let name = self.name(column);
            if look.kind == Kind::DecimalCommas {
                let reason = format!("the parameter `{name}` has numbers with a comma as the decimal point");
                return Err(malformed(self.path, "", reason, "write them with a point"));
            }
            if !matches!(look.kind, Kind::Whole | Kind::Real | Kind::Boolean) {
                continue;
            }
            let cell = |(_, cells): &&(u64, Vec<String>)| is_missing(&cells[column]);
            if let Some((line, cells)) = self.sheet.rows.iter().find(cell) {
                let reason = format!("`{}` is no value of the parameter `{name}`", cells[column]);
                let hint = "remove the row or fill the cell; a column with results is named with --metric";
                return Err(malformed(self.path, &format!("line {line}"), reason, hint));
            }
        }
        Ok(())
    }
}

/// A name in a list with commas.
fn in_list(name: &str) -> String {
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
}

/// A word for a shell.
fn for_shell(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.,:+=@/%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
