//! Which role each column of a sheet has: what the user says, what its name says, or what its values prove.
//! Where none of them does, nothing is guessed: the error lists the columns and the options that say it.
//!
//! A column without a telling name is a parameter if its values tell trials apart that nothing else tells
//! apart: without it, one configuration would stand there with several results. A column that adds nothing to
//! columns which identify every trial may be a result of them as well as a parameter, so it is in doubt; so
//! are numbers with fractions, unless the rows are (nearly) all combinations of their values with the others.

use super::look::{Kind, Look, is_missing};
use super::names::{Measured, Telling, telling};
use super::roles::{Named, ReadOptions, Roles, conflict, split_names, status_of_word};
use super::sheet::Sheet;
use crate::error::{Result, TunerError, malformed};
use crate::trial::Status;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The last columns of files that we write, in this order.
const OWN_END: [&str; 4] = ["message", "when", "device", "by"];
/// A column of a few values that tells no trials apart is a parameter if it has so many trials for each
/// value.
const TRIALS_PER_VALUE: usize = 8;
/// Columns in the list of an error.
const MOST_LISTED: usize = 40;

/// What is known of a column.
#[derive(Debug, Clone)]
enum Role {
    Parameter(String),
    Metric(Measured, String),
    Status(String),
    Message(String),
    Ignored(String),
    /// Too little is known, and it could matter.
    Doubt(String),
    /// Not looked at yet.
    Open,
}

/// The columns of a file by their roles.
#[derive(Debug)]
pub(super) struct Columns {
    pub parameters: Vec<usize>,
    pub metrics: Vec<usize>,
    /// What is minimised; `None` where nothing is.
    pub response: Option<usize>,
    /// The status, and whether its numbers mean yes and no.
    pub status: Option<(usize, bool)>,
    pub message: Option<usize>,
    pub when: Option<usize>,
    pub device: Option<usize>,
    pub by: Option<usize>,
    pub roles: Roles,
}

/// What the options say.
struct Given {
    parameters: Option<Vec<usize>>,
    response: Option<usize>,
    /// Metrics by name, the response first.
    metrics: Vec<usize>,
    /// Columns in expressions over metrics.
    mentioned: Vec<usize>,
    status: Option<usize>,
}

impl Given {
    fn new(sheet: &Sheet, options: &ReadOptions) -> Result<Given> {
        let known: Vec<&str> = sheet.header.iter().map(String::as_str).collect();
        let place = |name: &str| {
            let mut places = (0..known.len()).filter(|&column| known[column] == name.trim());
            match (places.next(), places.next()) {
                (Some(column), None) => Ok(column),
                (Some(_), Some(_)) => Err(duplicate(name)),
                _ => Err(TunerError::unknown("column", name, &known)),
            }
        };
        let parameters = match options.parameters.is_empty() {
            true => None,
            false => Some(
                split_names(&options.parameters, &known)?
                    .iter()
                    .map(|name| place(name))
                    .collect::<Result<Vec<usize>>>()?,
            ),
        };
        let response = options.response.as_deref().map(place).transpose()?;
        let mut metrics: Vec<usize> = response.into_iter().collect();
        let mut mentioned = Vec::new();
        for text in &options.metrics {
            let text = text.trim();
            let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
            if is_name || known.contains(&text) {
                let column = place(text)?;
                if !metrics.contains(&column) {
                    metrics.push(column);
                }
            } else {
                let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                mentioned.extend(words.filter_map(|word| known.iter().position(|name| *name == word)));
            }
        }
        let status = options.status.as_deref().map(place).transpose()?;
        let is_parameter = |column: &usize| parameters.as_ref().is_some_and(|all| all.contains(column));
        if let Some(&column) = metrics.iter().find(|column| is_parameter(column)) {
            return Err(conflict(known[column], "--parameters", "named as a metric as well"));
        }
        if let Some(column) = status {
            if is_parameter(&column) {
                return Err(conflict(known[column], "--parameters", "named with --status as well"));
            }
            if metrics.contains(&column) {
                return Err(conflict(known[column], "--status", "named as a metric as well"));
            }
        }
        Ok(Given { parameters, response, metrics, mentioned, status })
    }
}

fn duplicate(name: &str) -> TunerError {
    TunerError::Request {
        reason: format!("two columns have the name `{}`", name.trim()),
        hint: "give each column a name of its own in the first line".to_owned(),
    }
}

/// Everything that is looked at.
struct Evidence<'a> {
    sheet: &'a Sheet,
    path: &'a Path,
    looks: Vec<Look>,
    roles: Vec<Role>,
    given: Given,
}

/// The columns of a sheet of trials.
///
/// # Errors
/// Names that no column or two columns have, names in two roles, and columns whose role would be a guess.
pub(super) fn columns(path: &Path, sheet: &Sheet, options: &ReadOptions) -> Result<Columns> {
    let mut seen = HashSet::new();
    if let Some(name) = sheet.header.iter().find(|name| !name.is_empty() && !seen.insert(name.as_str())) {
        let error = duplicate(name);
        return Err(malformed(path, "", error.to_string(), &error.hint()));
    }
    let mut evidence = Evidence::new(path, sheet, options)?;
    let own = evidence.own_format();
    match own {
        Some(status) => evidence.roles_of_own(status),
        None => {
            evidence.roles_by_name();
            evidence.roles_by_values();
        }
    }
    let response = evidence.response(options, own.is_some());
    if let Ok(Some(response)) = response
        && own.is_none()
        && evidence.given.parameters.is_none()
    {
        evidence.look_for_hidden_parameters(response);
    }
    evidence.refuse_doubts(response.as_ref().err().map(String::as_str))?;
    let response = response.ok().flatten();
    evidence.check_parameters()?;
    Ok(evidence.columns(response, own))
}

/// The roles for a front of a sheet, whose metrics are named, and how each row ended: rows that failed are
/// not on it. Other columns than these and the status cannot change the front; what they are is only said.
///
/// # Errors
/// Unknown names, names in two roles, and a column that may be the status but has values that nobody knows.
pub fn of_front(path: &Path, sheet: &Sheet, options: &ReadOptions) -> Result<(Roles, Vec<Option<Status>>)> {
    let mut evidence = Evidence::new(path, sheet, options)?;
    match evidence.own_format() {
        Some(status) => evidence.roles_of_own(status),
        None => {
            evidence.roles_by_name();
            evidence.roles_by_values();
        }
    }
    for column in 0..evidence.roles.len() {
        let is_status = matches!(telling(&sheet.header[column]), Telling::Status { .. });
        match &evidence.roles[column] {
            Role::Doubt(_) if !is_status => {
                evidence.roles[column] =
                    Role::Ignored("no objective; the front does not depend on it".to_owned());
            }
            Role::Metric(_, why) if !evidence.given.metrics.contains(&column) => {
                let why = format!("{why}, but no objective");
                evidence.roles[column] = Role::Ignored(why);
            }
            _ => {}
        }
    }
    // A front needs no parameter, only what failed must be known.
    if !evidence.with_role(|role| matches!(role, Role::Doubt(_) | Role::Open)).is_empty() {
        evidence.refuse_doubts(None)?;
    }
    let columns = evidence.columns(None, None);
    let status = |(_, cells): &(u64, Vec<String>)| {
        let (column, yes_or_no) = columns.status?;
        status_of_word(&cells[column], yes_or_no)
    };
    let statuses = sheet.rows.iter().map(status).collect();
    Ok((columns.roles, statuses))
}

impl<'a> Evidence<'a> {
    fn new(path: &'a Path, sheet: &'a Sheet, options: &ReadOptions) -> Result<Evidence<'a>> {
        let given = Given::new(sheet, options)?;
        let looks: Vec<Look> = (0..sheet.header.len()).map(|column| Look::of(sheet, column)).collect();
        let mut roles = vec![Role::Open; looks.len()];
        for &column in given.parameters.iter().flatten() {
            roles[column] = Role::Parameter("named with --parameters".to_owned());
        }
        for &column in &given.metrics {
            let kind = match telling(&sheet.header[column]) {
                Telling::Measured(kind) => kind,
                _ => Measured::Other,
            };
            roles[column] = Role::Metric(kind, "named as a metric".to_owned());
        }
        if let Some(column) = given.status {
            check_words(path, sheet, column)?;
            roles[column] = Role::Status("named with --status".to_owned());
        }
        Ok(Evidence { sheet, path, looks, roles, given })
    }

    fn name(&self, column: usize) -> &str {
        &self.sheet.header[column]
    }

    fn is_open(&self, column: usize) -> bool {
        matches!(self.roles[column], Role::Open)
    }

    fn open(&self) -> Vec<usize> {
        (0..self.roles.len()).filter(|&column| self.is_open(column)).collect()
    }

    /// The column of the status, if this is a file as `write_csv` writes it.
    fn own_format(&self) -> Option<usize> {
        let header = &self.sheet.header;
        let status = header.iter().position(|name| name == "status")?;
        let end = header.len().checked_sub(OWN_END.len())?;
        let words = || self.sheet.column(status).all(|word| Status::named(word).is_some());
        (status > 0 && status + 1 < end && header[end..] == OWN_END && words()).then_some(status)
    }

    fn roles_of_own(&mut self, status: usize) {
        let end = self.roles.len() - OWN_END.len();
        let written = |place: &str| format!("{place} the status, as Tilewright writes trials");
        for column in self.open() {
            self.roles[column] = match column {
                _ if column < status && self.given.parameters.is_some() => {
                    Role::Ignored("not among --parameters".to_owned())
                }
                _ if column < status => Role::Parameter(written("in front of")),
                _ if column == status && self.given.status.is_some() => {
                    Role::Ignored("another column is the status".to_owned())
                }
                _ if column == status => Role::Status("as Tilewright writes trials".to_owned()),
                _ if column < end => {
                    let kind = match telling(self.name(column)) {
                        Telling::Measured(kind) => kind,
                        _ => Measured::Other,
                    };
                    Role::Metric(kind, written("behind"))
                }
                _ if column == end => Role::Message("why trials failed".to_owned()),
                _ => Role::Ignored("when, where and by what it was measured".to_owned()),
            };
        }
    }

    /// Roles that names tell, and those that need no name.
    fn roles_by_name(&mut self) {
        let stated = self.given.parameters.is_some();
        let rows = self.sheet.rows.len();
        for column in self.open() {
            let look = &self.looks[column];
            let told = telling(self.name(column));
            let mentioned = stated && self.given.mentioned.contains(&column);
            self.roles[column] = match told {
                _ if look.kind == Kind::Empty => Role::Ignored("every cell is empty".to_owned()),
                Telling::Measured(kind) if look.has_numbers() => {
                    let rate = if kind == Measured::Rate { ", a rate: the greatest is best" } else { "" };
                    Role::Metric(kind, format!("its name is that of a measured quantity{rate}"))
                }
                _ if mentioned && look.has_numbers() => {
                    Role::Metric(Measured::Other, "in the expression of a metric".to_owned())
                }
                Telling::Status { yes_or_no } => match () {
                    () if self.given.status.is_some() => {
                        Role::Ignored("another column is the status".to_owned())
                    }
                    () if known_words(self.sheet, column, yes_or_no) => {
                        Role::Status("its name, and its values are known".to_owned())
                    }
                    () => Role::Doubt("named as a status, with values that may mean anything".to_owned()),
                },
                Telling::Remark if matches!(look.kind, Kind::Text | Kind::Mixed) => {
                    Role::Message("remarks".to_owned())
                }
                Telling::Row if look.all_different() || rows == 1 => {
                    Role::Ignored("it numbers the rows".to_owned())
                }
                Telling::Moment if 2 * look.distinct > rows => Role::Ignored("when it was".to_owned()),
                _ if stated => Role::Ignored("not among --parameters".to_owned()),
                Telling::Measured(_) => {
                    Role::Doubt("named as a measured quantity, and no cell is a number".to_owned())
                }
                _ if look.kind == Kind::DecimalCommas => {
                    Role::Doubt("numbers need a point, not a comma".to_owned())
                }
                _ if self.name(column).is_empty() => Role::Doubt("it has no name".to_owned()),
                Telling::Row => Role::Doubt("named as the number of a row, but values repeat".to_owned()),
                Telling::Moment => Role::Doubt("named as a moment, but values repeat".to_owned()),
                _ if look.distinct == 1 && look.missing == 0 => {
                    Role::Parameter("one value everywhere".to_owned())
                }
                Telling::Repetition => Role::Doubt("may count repetitions".to_owned()),
                Telling::Unclear => Role::Doubt("may be a parameter, or a result".to_owned()),
                Telling::Remark | Telling::Nothing => Role::Open,
            };
        }
        let statuses: Vec<usize> =
            (0..self.roles.len()).filter(|&c| matches!(self.roles[c], Role::Status(_))).collect();
        if statuses.len() > 1 {
            for column in statuses {
                self.roles[column] = Role::Doubt("one of several columns that may be the status".to_owned());
            }
        }
    }

    /// Roles of the columns whose names tell nothing.
    fn roles_by_values(&mut self) {
        let open = self.open();
        let rows = self.sheet.rows.len();
        let sure = self.roles.iter().any(|role| matches!(role, Role::Doubt(_)));
        if let ([only], false) = (open.as_slice(), sure)
            && matches!(self.looks[*only].kind, Kind::Whole | Kind::Real | Kind::Boolean | Kind::Text)
        {
            self.roles[*only] = Role::Parameter("the only column that can be one".to_owned());
            return;
        }
        let discrete =
            |column: &usize| matches!(self.looks[*column].kind, Kind::Whole | Kind::Boolean | Kind::Text);
        let (discrete, others): (Vec<usize>, Vec<usize>) = open.into_iter().partition(discrete);
        // A column that tells all rows apart by itself would make every other one look superfluous.
        let (unique, base): (Vec<usize>, Vec<usize>) =
            discrete.into_iter().partition(|&column| self.looks[column].all_different());
        let tuples = self.tuples(&base);
        let apart = different(tuples.clone());
        let needed: Vec<usize> =
            base.iter().copied().filter(|&column| self.different_without(&tuples, column) < apart).collect();
        let complete = self.different(&needed) == apart;
        let mut roles: Vec<(usize, Role)> = Vec::new();
        for &column in &base {
            let look = &self.looks[column];
            let few = match look.kind {
                Kind::Whole => look.distinct * TRIALS_PER_VALUE <= rows,
                _ => look.distinct * 2 <= rows,
            };
            let role = match () {
                () if look.missing > 0 && look.kind == Kind::Whole => {
                    Role::Doubt("some cells have no value, as where a measurement failed".to_owned())
                }
                () if needed.binary_search(&column).is_ok() => {
                    Role::Parameter("its values tell trials apart".to_owned())
                }
                () if !complete && few => Role::Parameter("few values, each in many trials".to_owned()),
                () if complete => Role::Doubt(
                    "other columns tell all trials apart: a parameter, or a result of them".to_owned(),
                ),
                () => Role::Doubt("many values: may be a parameter, or a result".to_owned()),
            };
            roles.push((column, role));
        }
        for &column in &unique {
            let role = if unique.len() == 1
                && others.is_empty()
                && apart < rows
                && self.looks[column].missing == 0
            {
                Role::Parameter("its values tell trials apart".to_owned())
            } else {
                Role::Doubt(
                    "every row has another value: a parameter, a result, or a number of the row".to_owned(),
                )
            };
            roles.push((column, role));
        }
        let levels: Vec<usize> = others
            .iter()
            .copied()
            .filter(|&column| {
                let look = &self.looks[column];
                look.kind == Kind::Real && look.missing == 0 && look.distinct * 2 <= rows
            })
            .collect();
        let grid: Vec<usize> = base.iter().chain(&levels).copied().collect();
        let combinations = grid.iter().map(|&column| self.looks[column].distinct as f64).product::<f64>();
        let tuples = self.tuples(&grid);
        let found = different(tuples.clone());
        let dense = !levels.is_empty() && unique.is_empty() && found as f64 >= 0.75 * combinations;
        for column in others {
            let level = levels.binary_search(&column).is_ok();
            let role = if dense && level && self.different_without(&tuples, column) < found {
                Role::Parameter("its values are combined with all others".to_owned())
            } else {
                Role::Doubt("may be a parameter, or something measured".to_owned())
            };
            roles.push((column, role));
        }
        for (column, role) in roles {
            self.roles[column] = role;
        }
    }

    /// For each row a hash of its value in a column; sums of them are hashes of several.
    fn hashes(&self, column: usize) -> impl Iterator<Item = u64> {
        self.looks[column].codes.iter().map(move |code| mixed(u64::from(*code) | (column as u64) << 32))
    }

    fn tuples(&self, columns: &[usize]) -> Vec<u64> {
        let mut tuples = vec![0_u64; self.sheet.rows.len()];
        for &column in columns {
            tuples
                .iter_mut()
                .zip(self.hashes(column))
                .for_each(|(tuple, hash)| *tuple = tuple.wrapping_add(hash));
        }
        tuples
    }

    /// Number of different combinations of values of some columns.
    fn different(&self, columns: &[usize]) -> usize {
        different(self.tuples(columns))
    }

    /// The same without a column, from the hashes with it.
    fn different_without(&self, tuples: &[u64], column: usize) -> usize {
        different(
            tuples.iter().zip(self.hashes(column)).map(|(tuple, hash)| tuple.wrapping_sub(hash)).collect(),
        )
    }

    fn with_role(&self, is: impl Fn(&Role) -> bool) -> Vec<usize> {
        (0..self.roles.len()).filter(|&column| is(&self.roles[column])).collect()
    }

    fn parameters(&self) -> Vec<usize> {
        match &self.given.parameters {
            Some(parameters) => parameters.clone(),
            None => self.with_role(|role| matches!(role, Role::Parameter(_))),
        }
    }

    /// What counts, and shows that a trial succeeded. `Err` has the reason why nobody can say, where it is asked for.
    fn response(&mut self, options: &ReadOptions, own: bool) -> std::result::Result<Option<usize>, String> {
        if self.given.response.is_some() {
            return Ok(self.given.response);
        }
        if !options.no_response {
            return self.usual_response(own);
        }
        match self.given.metrics.first() {
            Some(first) => Ok(Some(*first)),
            None => Ok(self.usual_response(own).unwrap_or(None)),
        }
    }

    /// The response where none is named.
    fn usual_response(&mut self, own: bool) -> std::result::Result<Option<usize>, String> {
        let mut metrics = self.with_role(|role| matches!(role, Role::Metric(..)));
        if own {
            return Ok(metrics.first().copied());
        }
        if metrics.is_empty() && self.given.parameters.is_some() {
            // What is left if the parameters are stated: a single column of numbers can only be the metric.
            let left =
                self.with_role(|role| matches!(role, Role::Ignored(why) if why == "not among --parameters"));
            let left: Vec<usize> = left.into_iter().filter(|&c| self.looks[c].has_numbers()).collect();
            if let [only] = left.as_slice() {
                self.roles[*only] =
                    Role::Metric(Measured::Other, "the only other column with numbers".to_owned());
                metrics = left;
            }
        }
        let kind = |column: usize| match self.roles[column] {
            Role::Metric(kind, _) => kind,
            _ => Measured::Other,
        };
        let of = |wanted: Measured| -> Vec<usize> {
            metrics.iter().copied().filter(|&column| kind(column) == wanted).collect()
        };
        let (times, others) = (of(Measured::Time), of(Measured::Other));
        let plain = times.iter().copied().find(|&column| self.name(column).eq_ignore_ascii_case("time"));
        match (times.as_slice(), others.as_slice(), metrics.is_empty()) {
            ([only], _, _) => Ok(Some(*only)),
            ([_, _, ..], _, _) if plain.is_some() => Ok(plain),
            ([], [only], _) if metrics.len() == 1 => Ok(Some(*only)),
            (_, _, true) => Err("no column has the name of a measured quantity".to_owned()),
            _ => {
                let names: Vec<String> = metrics.iter().map(|&c| format!("`{}`", self.name(c))).collect();
                Err(match names.as_slice() {
                    [only] => format!("{only} is a rate, of which the least is hardly wanted"),
                    _ => format!("which of {} counts is not said", names.join(", ")),
                })
            }
        }
    }

    /// Columns that are no parameters by their names, but whose values explain why equal configurations have
    /// different responses: a limit of power that was varied, say.
    fn look_for_hidden_parameters(&mut self, response: usize) {
        let tuples = self.tuples(&self.parameters());
        if !self.contradicts(tuples.iter().copied(), response) {
            return;
        }
        let left_out =
            self.with_role(|role| matches!(role, Role::Metric(..) | Role::Ignored(_) | Role::Message(_)));
        for column in left_out {
            let given = column == response || self.given.metrics.contains(&column);
            let look = &self.looks[column];
            if given || look.kind == Kind::Empty || look.distinct * 2 > look.rows() {
                continue;
            }
            let more = tuples.iter().zip(self.hashes(column)).map(|(tuple, hash)| tuple.wrapping_add(hash));
            if !self.contradicts(more, response) {
                self.roles[column] = Role::Doubt(
                    "its name is not that of a parameter, but configurations that look equal differ in it and in \
                     their results"
                        .to_owned(),
                );
            }
        }
    }

    /// Whether equal configurations have different numbers in a column.
    fn contradicts(&self, tuples: impl Iterator<Item = u64>, response: usize) -> bool {
        let mut seen: HashMap<u64, u32> = HashMap::new();
        let cells = self.sheet.column(response).zip(&self.looks[response].codes);
        tuples.zip(cells).any(|(tuple, (cell, &code))| {
            cell.parse::<f64>().is_ok() && *seen.entry(tuple).or_insert(code) != code
        })
    }

    /// The error that lists all columns, if the role of one is in doubt or there is no parameter or no
    /// response.
    fn refuse_doubts(&self, no_response: Option<&str>) -> Result<()> {
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
        Err(TunerError::Request { reason: text, hint: self.options_to_add(&parameters, &doubts) })
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
    fn check_parameters(&self) -> Result<()> {
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

    fn columns(&self, response: Option<usize>, own: Option<usize>) -> Columns {
        let mut metrics = self.with_role(|role| matches!(role, Role::Metric(..)));
        if let Some(response) = response {
            metrics.retain(|&column| column != response);
            metrics.insert(0, response);
        }
        let parameters = self.parameters();
        let named = |columns: &[usize]| -> Vec<Named> {
            let why = |column: usize| match &self.roles[column] {
                Role::Metric(Measured::Rate, why) if !why.contains("rate") => {
                    format!("{why}, a rate by its name: the greatest is best")
                }
                Role::Parameter(why)
                | Role::Metric(_, why)
                | Role::Status(why)
                | Role::Message(why)
                | Role::Ignored(why)
                | Role::Doubt(why) => why.clone(),
                Role::Open => String::new(),
            };
            columns.iter().map(|&column| Named::new(self.name(column), why(column))).collect()
        };
        let status = self.with_role(|role| matches!(role, Role::Status(_))).first().copied();
        let ignored = self.with_role(|role| matches!(role, Role::Ignored(_) | Role::Message(_)));
        let end = |place: usize| own.map(|_| self.roles.len() - OWN_END.len() + place);
        Columns {
            roles: Roles {
                parameters: named(&parameters),
                metrics: named(&metrics),
                status: status.and_then(|column| named(&[column]).pop()),
                ignored: named(&ignored),
                repeated: if parameters.is_empty() {
                    0
                } else {
                    self.sheet.rows.len() - self.different(&parameters)
                },
            },
            parameters,
            metrics,
            response,
            status: status.map(|column| {
                (column, matches!(telling(self.name(column)), Telling::Status { yes_or_no: true }))
            }),
            message: self.with_role(|role| matches!(role, Role::Message(_))).first().copied(),
            when: end(1),
            device: end(2),
            by: end(3),
        }
    }
}

/// Whether every cell says how a trial ended; empty ones leave it to the response.
fn known_words(sheet: &Sheet, column: usize, yes_or_no: bool) -> bool {
    sheet.column(column).all(|word| is_missing(word) || status_of_word(word, yes_or_no).is_some())
}

/// The words of a column that is the status must be known.
fn check_words(path: &Path, sheet: &Sheet, column: usize) -> Result<()> {
    let name = &sheet.header[column];
    let yes_or_no = matches!(telling(name), Telling::Status { yes_or_no: true });
    for (line, cells) in &sheet.rows {
        let word = &cells[column];
        if !is_missing(word) && status_of_word(word, yes_or_no).is_none() {
            let shown: String = word.chars().take(60).collect();
            let reason = format!("`{shown}` in the column `{name}` does not say whether the trial succeeded");
            let hint = "a status is ok, invalid, compile-error, run-error, wrong-result or timeout, or a word for one";
            return Err(malformed(path, &format!("line {line}"), reason, hint));
        }
    }
    Ok(())
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

/// Number of different values.
fn different(mut tuples: Vec<u64>) -> usize {
    tuples.sort_unstable();
    tuples.dedup();
    tuples.len()
}

/// Splitmix64: equal sums of different sets are as rare as chance makes them.
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
