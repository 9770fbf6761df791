//! `tilewright pareto`: the exact front of the rows of any CSV file.

use crate::arguments::ParetoArguments;
use crate::chart::{COLOURS, Chart, Mark, Series};
use crate::error::{Error, Result};
use crate::load;
use crate::progress::Session;
use crate::report::{self, Report};
use execution::output_file;
use optimizer::codesign::pareto::{Sense, front, knee};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use tuner::Status;
use tuner::recorded::roles::of_front;
use tuner::recorded::{ReadOptions, Roles, Sheet};

/// Rows of the front that the text shows.
const MOST_ROWS: usize = 40;

/// The report of `pareto`.
#[derive(Debug, Serialize)]
pub struct ParetoReport {
    /// The objectives, in order: column, and `min` or `max`.
    pub objectives: Vec<(String, &'static str)>,
    /// What the columns are, and why.
    pub roles: Roles,
    /// Rows of the file that did not fail and have numbers in all objectives.
    pub rows: usize,
    /// Rows without.
    pub skipped: Vec<Skipped>,
    /// The rows on the front, in order of the first objective.
    pub pareto: Vec<Row>,
    /// Rows that another one dominates.
    pub dominated: usize,
    /// The row at the knee of the front, with two objectives.
    pub knee: Option<Row>,
    /// The chart.
    pub svg: Option<PathBuf>,
    /// The rows of the front as a file.
    pub csv: Option<PathBuf>,
}

/// A row of the front.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Its line in the file, from 1.
    pub line: u64,
    /// Its values in the objectives.
    pub objectives: Vec<f64>,
    /// All of its cells, by column.
    pub cells: BTreeMap<String, String>,
}

/// A row that cannot be on a front: it failed, or lacks a number.
#[derive(Debug, Serialize)]
pub struct Skipped {
    /// Its line in the file, from 1.
    pub line: u64,
    /// The column,
    pub column: String,
    /// and what stands there instead of a number.
    pub text: String,
}

/// Finds the front.
///
/// # Errors
/// Files that cannot be read, are no CSV, or lack the columns; output that cannot be written.
pub fn pareto(arguments: &ParetoArguments, session: &Session) -> Result<ParetoReport> {
    let table = Sheet::open(&arguments.file)?;
    let names: Vec<&String> = [&arguments.x, &arguments.y].into_iter().chain(&arguments.z).collect();
    let columns = names.iter().map(|name| column(&table, name, arguments)).collect::<Result<Vec<usize>>>()?;
    for name in &arguments.metric {
        column(&table, name, arguments)?;
    }
    let senses = senses(arguments, &names)?;
    let objectives = names.iter().map(|name| (*name).clone());
    let options = ReadOptions {
        metrics: objectives.chain(arguments.metric.iter().cloned()).collect(),
        parameters: arguments.columns.parameters.clone(),
        status: arguments.columns.status.clone(),
        ..ReadOptions::default()
    };
    let (roles, statuses) = of_front(&arguments.file, &table, &options)?;
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut kept: Vec<usize> = Vec::new();
    let mut skipped = Vec::new();
    for (index, (line, cells)) in table.rows.iter().enumerate() {
        if let (Some(status), Some(column)) =
            (statuses[index].filter(|status| *status != Status::Ok), &roles.status)
        {
            skipped.push(Skipped {
                line: *line,
                column: column.name.clone(),
                text: status.name().to_owned(),
            });
            continue;
        }
        let number = |&column: &usize| {
            let text = cells.get(column).map_or("", |cell| cell.trim());
            text.parse::<f64>().ok().filter(|value| !value.is_nan()).ok_or((column, text))
        };
        match columns.iter().map(number).collect::<std::result::Result<Vec<f64>, _>>() {
            Ok(point) => {
                points.push(point);
                kept.push(index);
            }
            Err((column, text)) => skipped.push(Skipped {
                line: *line,
                column: table.header[column].clone(),
                text: report::shortened(text, 60),
            }),
        }
    }
    if points.is_empty() {
        let example = skipped.first().map_or_else(
            || "it has no rows".to_owned(),
            |skipped| {
                format!("in line {} `{}` stands in column {}", skipped.line, skipped.text, skipped.column)
            },
        );
        let message =
            format!("{} has no row with numbers in all objectives: {example}", arguments.file.display());
        return Err(Error::wrong_input(message));
    }
    let mut on = session.stage("front", || front(&points, &senses));
    let at_knee = match senses.as_slice() {
        &[x, y] => knee(&points, &on, [x, y]),
        _ => None,
    };
    let svg = arguments.svg.clone();
    if let Some(path) = &svg {
        let text = chart(arguments, &table, &points, &kept, &on).svg();
        output_file::write(path, |file| file.write_all(text.as_bytes()))?;
    }
    on.sort_by(|&a, &b| points[a][0].total_cmp(&points[b][0]).then(a.cmp(&b)));
    let row = |index: usize| {
        let (line, cells) = &table.rows[kept[index]];
        let cells = table.header.iter().cloned().zip(cells.iter().cloned()).collect();
        Row { line: *line, objectives: points[index].clone(), cells }
    };
    if let Some(path) = &arguments.csv {
        let text = front_csv(&table, on.iter().map(|&index| kept[index]))?;
        output_file::write(path, |file| file.write_all(&text))?;
    }
    let name = |sense: &Sense| if *sense == Sense::Minimise { "min" } else { "max" };
    Ok(ParetoReport {
        objectives: names
            .iter()
            .zip(&senses)
            .map(|(column, sense)| ((*column).clone(), name(sense)))
            .collect(),
        roles,
        rows: points.len(),
        skipped,
        dominated: points.len() - on.len(),
        knee: at_knee.map(row),
        pareto: on.into_iter().map(row).collect(),
        svg,
        csv: arguments.csv.clone(),
    })
}

fn column(table: &Sheet, name: &str, arguments: &ParetoArguments) -> Result<usize> {
    table.header.iter().position(|own| own == name).ok_or_else(|| {
        Error::wrong_input(format!("{} has no column `{name}`", arguments.file.display()))
            .maybe_hint(load::did_you_mean(name, table.header.iter().map(String::as_str)))
            .hint(format!("the columns are {}", report::shortened(&table.header.join(", "), 600)))
    })
}

fn senses(arguments: &ParetoArguments, names: &[&String]) -> Result<Vec<Sense>> {
    for name in arguments.min.iter().chain(&arguments.max) {
        if !names.contains(&name) {
            return Err(Error::wrong_input(format!("`{name}` is no objective"))
                .hint("--min and --max name columns that --x, --y or --z name"));
        }
        if arguments.min.contains(name) && arguments.max.contains(name) {
            return Err(Error::wrong_input(format!("`{name}` cannot be both smallest and largest")));
        }
    }
    if (1..names.len()).any(|index| names[..index].contains(&names[index])) {
        return Err(Error::wrong_input("the objectives must be different columns"));
    }
    let sense =
        |(index, name): (usize, &&String)| match (arguments.min.contains(name), arguments.max.contains(name))
        {
            (true, _) => Sense::Minimise,
            (_, true) => Sense::Maximise,
            _ if index == 0 => Sense::Minimise,
            _ => Sense::Maximise,
        };
    Ok(names.iter().enumerate().map(sense).collect())
}

fn chart(
    arguments: &ParetoArguments,
    table: &Sheet,
    points: &[Vec<f64>],
    kept: &[usize],
    on: &[usize],
) -> Chart {
    let point = |index: usize| {
        let (line, cells) = &table.rows[kept[index]];
        let cells: Vec<String> =
            table.header.iter().zip(cells).take(12).map(|(name, cell)| format!("{name} {cell}")).collect();
        (points[index][0], points[index][1], format!("line {line}: {}", cells.join(", ")))
    };
    let dominated = (0..points.len()).filter(|index| on.binary_search(index).is_err()).map(point).collect();
    let mut front: Vec<_> = on.iter().copied().map(point).collect();
    front.sort_by(|a, b| a.0.total_cmp(&b.0));
    let two = arguments.z.is_none();
    Chart {
        description: format!("Front of {} and {}", arguments.x, arguments.y),
        x_label: arguments.x.clone(),
        y_label: arguments.y.clone(),
        series: vec![
            Series { name: "dominated".into(), colour: COLOURS[1], mark: Mark::Faint, points: dominated },
            Series {
                name: "on the front".into(),
                colour: COLOURS[0],
                mark: if two { Mark::Line } else { Mark::Dots },
                points: front,
            },
        ],
        from_zero: (false, false),
        size: (760.0, 480.0),
    }
}

fn front_csv(table: &Sheet, rows: impl Iterator<Item = usize>) -> Result<Vec<u8>> {
    let wrong = |error: String| Error::internal(format!("the front cannot be written as CSV: {error}"));
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    writer.write_record(&table.header).map_err(|error| wrong(error.to_string()))?;
    for row in rows {
        writer.write_record(&table.rows[row].1).map_err(|error| wrong(error.to_string()))?;
    }
    writer.into_inner().map_err(|error| wrong(error.to_string()))
}

impl Report for ParetoReport {
    fn text(&self) -> String {
        let objectives: Vec<String> =
            self.objectives.iter().map(|(column, sense)| format!("{column} ({sense})")).collect();
        let mut pairs = vec![("objectives", objectives.join(", "))];
        pairs.extend(self.roles.lines());
        pairs.extend([("rows", format!("{}, of which {} dominated", self.rows, self.dominated))]);
        if let Some(first) = self.skipped.first() {
            let text = format!(
                "{} failed or without numbers, the first in line {}: column {} has `{}`",
                report::count(self.skipped.len() as u64, "row", "rows"),
                first.line,
                first.column,
                first.text
            );
            pairs.push(("skipped", text));
        }
        if let Some(knee) = &self.knee {
            pairs.push(("knee", format!("line {}: {}", knee.line, numbers(&knee.objectives).join(", "))));
        }
        let mut text = report::pairs(&pairs);
        text.push('\n');
        let mut header = vec!["line"];
        header.extend(self.objectives.iter().map(|(column, _)| column.as_str()));
        let row = |row: &Row| {
            let mut cells = vec![row.line.to_string()];
            cells.extend(numbers(&row.objectives));
            cells
        };
        let rows: Vec<Vec<String>> = self.pareto.iter().take(MOST_ROWS).map(row).collect();
        text.push_str(&report::table(&header, &rows, &[0, 1, 2, 3]));
        if self.pareto.len() > MOST_ROWS {
            text.push_str(&format!("and {} more; --csv FILE writes all\n", self.pareto.len() - MOST_ROWS));
        }
        text
    }
}

fn numbers(values: &[f64]) -> Vec<String> {
    values.iter().map(f64::to_string).collect()
}
