//! `tilewright pareto`: the exact front of the rows of any CSV file.

use crate::arguments::ParetoArguments;
use crate::chart::{COLOURS, Chart, Mark, Series};
use crate::error::{Error, Result};
use crate::load;
use crate::progress::Session;
use crate::report::{self, Report};
use execution::{ExecutionError, output_file};
use optimizer::codesign::pareto::{Sense, front, knee};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// Rows of the front that the text shows.
const MOST_ROWS: usize = 40;

/// The report of `pareto`.
#[derive(Debug, Serialize)]
pub struct ParetoReport {
    /// The objectives, in order: column, and `min` or `max`.
    pub objectives: Vec<(String, &'static str)>,
    /// Rows of the file with numbers in all objectives.
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

/// A row that cannot be on a front.
#[derive(Debug, Serialize)]
pub struct Skipped {
    /// Its line in the file, from 1.
    pub line: u64,
    /// The column,
    pub column: String,
    /// and what stands there instead of a number.
    pub text: String,
}

/// A file that was read.
struct Table {
    header: Vec<String>,
    records: Vec<(u64, Vec<String>)>,
}

/// Finds the front.
///
/// # Errors
/// Files that cannot be read, are no CSV, or lack the columns; output that cannot be written.
pub fn pareto(arguments: &ParetoArguments, session: &Session) -> Result<ParetoReport> {
    let table = read(arguments)?;
    let names: Vec<&String> = [&arguments.x, &arguments.y].into_iter().chain(&arguments.z).collect();
    let columns = names.iter().map(|name| column(&table, name, arguments)).collect::<Result<Vec<usize>>>()?;
    let senses = senses(arguments, &names)?;
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut kept: Vec<usize> = Vec::new();
    let mut skipped = Vec::new();
    for (index, (line, cells)) in table.records.iter().enumerate() {
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
        let (line, cells) = &table.records[kept[index]];
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
        rows: points.len(),
        skipped,
        dominated: points.len() - on.len(),
        knee: at_knee.map(row),
        pareto: on.into_iter().map(row).collect(),
        svg,
        csv: arguments.csv.clone(),
    })
}

/// Largest table: that of a sweep over a million designs.
const MOST_BYTES: u64 = 128 << 20;
/// Most cells of a table; each takes some tens of bytes.
const MOST_CELLS: usize = 20_000_000;

fn read(arguments: &ParetoArguments) -> Result<Table> {
    let path = &arguments.file;
    let failed =
        |source| Error::Execution(ExecutionError::File { action: "read", path: path.clone(), source });
    let bytes = safe_io::input::read(path, MOST_BYTES).map_err(failed)?;
    // A mark of the byte order, as spreadsheets write it.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let header = bytes.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
    let count = |byte: u8| header.iter().filter(|other| **other == byte).count();
    let delimiter = [b',', b';', b'\t'].into_iter().rev().max_by_key(|byte| count(*byte)).unwrap_or(b',');
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).comment(Some(b'#')).from_reader(bytes);
    let wrong = |error: csv::Error| Error::wrong_input(format!("{} is no CSV file: {error}", path.display()));
    let header: Vec<String> =
        reader.headers().map_err(wrong)?.iter().map(|name| name.trim().to_owned()).collect();
    if header.iter().all(String::is_empty) {
        return Err(Error::wrong_input(format!("{} has no header line", path.display())));
    }
    let (mut records, mut cells) = (Vec::new(), 0);
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        cells += record.len() + 2;
        if cells > MOST_CELLS {
            return Err(Error::wrong_input(format!(
                "{} has more than {MOST_CELLS} cells, which is the limit",
                path.display()
            )));
        }
        let line = record.position().map_or(0, csv::Position::line);
        records.push((line, record.iter().map(str::to_owned).collect()));
    }
    Ok(Table { header, records })
}

fn column(table: &Table, name: &str, arguments: &ParetoArguments) -> Result<usize> {
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
    table: &Table,
    points: &[Vec<f64>],
    kept: &[usize],
    on: &[usize],
) -> Chart {
    let point = |index: usize| {
        let (line, cells) = &table.records[kept[index]];
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

fn front_csv(table: &Table, rows: impl Iterator<Item = usize>) -> Result<Vec<u8>> {
    let wrong = |error: String| Error::internal(format!("the front cannot be written as CSV: {error}"));
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    writer.write_record(&table.header).map_err(|error| wrong(error.to_string()))?;
    for row in rows {
        writer.write_record(&table.records[row].1).map_err(|error| wrong(error.to_string()))?;
    }
    writer.into_inner().map_err(|error| wrong(error.to_string()))
}

impl Report for ParetoReport {
    fn text(&self) -> String {
        let objectives: Vec<String> =
            self.objectives.iter().map(|(column, sense)| format!("{column} ({sense})")).collect();
        let mut pairs = vec![
            ("objectives", objectives.join(", ")),
            ("rows", format!("{}, of which {} dominated", self.rows, self.dominated)),
        ];
        if let Some(first) = self.skipped.first() {
            let text = format!(
                "{} without numbers, the first in line {}: column {} has `{}`",
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
