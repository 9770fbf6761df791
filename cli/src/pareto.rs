//! `tilewright pareto`: the exact front of the rows of any CSV file.

use crate::arguments::ColumnArguments;
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{drawing, outputs};
use clap::Args;
use execution::output_file;
use optimizer::codesign::pareto::{Sense, front, knee};
use plots::{Axis, Chart, Colour, Dash, Join, Layer, Marks, Point, Series, Shape};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use text_escape::csv_cell;
use text_escape::suggest;
use tilewright::{state, text};
use tuner::Status;
use tuner::recorded::roles::of_front;
use tuner::recorded::{ReadOptions, Roles, Sheet, table};

/// Arguments of `pareto`.
#[derive(Debug, Clone, Args)]
pub struct ParetoArguments {
    /// A CSV file with a header; columns are separated by commas, semicolons or tabs. Or any file of trials: a store
    /// (@NAME is one in the state folder), a Kernel Tuner cache, T4
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// First objective; smaller is better
    #[arg(long, value_name = "COL")]
    pub x: String,
    /// Second objective; larger is better
    #[arg(long, value_name = "COL")]
    pub y: String,
    /// Third objective; larger is better
    #[arg(long, value_name = "COL")]
    pub z: Option<String>,
    /// Smaller values of this objective are better; may be repeated
    #[arg(long, value_name = "COL")]
    pub min: Vec<String>,
    /// Larger values of this objective are better; may be repeated
    #[arg(long, value_name = "COL")]
    pub max: Vec<String>,
    /// A column that was measured, beside the objectives; may be repeated
    #[arg(long, visible_alias = "response", value_name = "COL")]
    pub metric: Vec<String>,
    /// What the columns are.
    #[command(flatten)]
    pub columns: ColumnArguments,
    /// Draw all rows and the front
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write the rows of the front
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// The column that names the rows; `design`, `id` or `name` where not given, else rows are numbered
    #[arg(long, value_name = "COL")]
    pub id: Option<String>,
}

/// Rows of the front that the text shows.
const MOST_ROWS: usize = 40;

/// The report of `pareto`.
#[derive(Debug, Serialize)]
pub struct ParetoReport {
    /// The column that names the rows; null where there is none, and rows are numbered.
    pub id: Option<String>,
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
    /// What the file calls it: the cell of the column of names. Without such a column, its number among the rows below
    /// the header.
    pub id: String,
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

/// Columns that name rows where `--id` names none; the first that is there and has as many names as rows.
const ID_COLUMNS: [&str; 3] = ["design", "id", "name"];

/// What the rows of a table are called.
struct RowNames<'a> {
    table: &'a Sheet,
    /// The column that names them.
    column: Option<usize>,
}

impl<'a> RowNames<'a> {
    fn new(table: &'a Sheet, arguments: &ParetoArguments) -> Result<RowNames<'a>> {
        let column = match &arguments.id {
            Some(name) => Some(column(table, name, arguments)?),
            None => ID_COLUMNS.iter().find_map(|id| {
                let column = table.header.iter().position(|name| name.eq_ignore_ascii_case(id))?;
                let names: BTreeSet<&str> =
                    table.rows.iter().map(|(_, cells)| cells[column].trim()).collect();
                (names.len() == table.rows.len() && !names.contains("")).then_some(column)
            }),
        };
        Ok(RowNames { table, column })
    }

    /// What a row is called: its name, or else its number.
    fn of(&self, row: usize) -> String {
        self.column.map_or_else(|| (row + 1).to_string(), |column| self.table.rows[row].1[column].clone())
    }

    /// What stands above the names.
    fn title(&self) -> &str {
        self.column.map_or("row", |column| &self.table.header[column])
    }
}

/// Finds the front.
///
/// # Errors
/// Files that cannot be read, are no CSV, or lack the columns; output that cannot be written.
pub fn pareto(arguments: &ParetoArguments, session: &Session) -> Result<ParetoReport> {
    let file = state::trials_to_read(&arguments.file)?;
    let arguments = &ParetoArguments { file, ..arguments.clone() };
    outputs::check(
        &outputs::given([("--svg", &arguments.svg), ("--csv", &arguments.csv)]),
        std::slice::from_ref(&arguments.file),
    )?;
    let (table, damage) = table(&arguments.file)?;
    session.tell_damage(&damage);
    let row_names = RowNames::new(&table, arguments)?;
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
        drawing::write(path, chart(arguments, &row_names, &points, &kept, &on, &senses).svg())?;
    }
    on.sort_by(|&a, &b| points[a][0].total_cmp(&points[b][0]).then(a.cmp(&b)));
    let row = |index: usize| {
        let (line, cells) = &table.rows[kept[index]];
        let cells = table.header.iter().cloned().zip(cells.iter().cloned()).collect();
        Row { id: row_names.of(kept[index]), line: *line, objectives: points[index].clone(), cells }
    };
    if let Some(path) = &arguments.csv {
        let text = front_csv(&table, on.iter().map(|&index| kept[index]))?;
        output_file::write(path, |file| file.write_all(&text))?;
    }
    let name = |sense: &Sense| if *sense == Sense::Minimise { "min" } else { "max" };
    Ok(ParetoReport {
        id: row_names.column.map(|column| table.header[column].clone()),
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
            .maybe_hint(suggest::hint(name, table.header.iter().map(String::as_str)))
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
    names: &RowNames<'_>,
    points: &[Vec<f64>],
    kept: &[usize],
    on: &[usize],
    senses: &[Sense],
) -> Chart {
    let point = |index: usize| {
        let (_, cells) = &names.table.rows[kept[index]];
        let cells: Vec<String> = names
            .table
            .header
            .iter()
            .zip(cells)
            .take(12)
            .map(|(name, cell)| format!("{name} {cell}"))
            .collect();
        let title = format!("{} {}: {}", names.title(), names.of(kept[index]), cells.join(", "));
        Point::new(points[index][0], points[index][1], title)
    };
    let dominated = (0..points.len()).filter(|index| on.binary_search(index).is_err()).map(point).collect();
    let mut front: Vec<_> = on.iter().copied().map(point).collect();
    front.sort_by(|a, b| a.x.total_cmp(&b.x));
    let two = arguments.z.is_none();
    Chart {
        title: format!("Pareto front of {}: {} of {} rows", file_name(arguments), on.len(), points.len()),
        subtitle: String::new(),
        description: format!("Front of {} and {}", arguments.x, arguments.y),
        x: Axis::new(axis_title(&arguments.x, senses[0])),
        y: Axis::new(axis_title(&arguments.y, senses[1])),
        layers: vec![
            Layer::Series(Series::scattered(
                "dominated",
                Colour::Series(1),
                Marks::faint(Shape::Circle),
                dominated,
            )),
            Layer::Series(Series {
                name: "on the front".into(),
                colour: Colour::Series(0),
                marks: Some(Marks::new(Shape::Diamond)),
                line: two.then_some((Join::Line, Dash::Solid)),
                points: front,
            }),
        ],
        size: (760.0, 480.0),
    }
}

fn file_name(arguments: &ParetoArguments) -> String {
    arguments.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Units by the names of columns: their end behind a `_`, or, where that can mean nothing else, the whole name.
const UNITS: [(&str, &str); 19] = [
    ("gflops_per_watt", "GFLOP/s per watt"),
    ("gstencil_per_s", "GStencil/s"),
    ("gflops", "GFLOP/s"),
    ("seconds", "s"),
    ("joules", "J"),
    ("watts", "W"),
    ("percent", "%"),
    ("cycles", "cycles"),
    ("bytes", "bytes"),
    ("mm2", "mm2"),
    ("mhz", "MHz"),
    ("ghz", "GHz"),
    ("kb", "kB"),
    ("mb", "MB"),
    ("gb", "GB"),
    ("ms", "ms"),
    ("us", "us"),
    ("ns", "ns"),
    ("s", "s"),
];

/// The title of an axis: the column with its unit, where its name tells it, and the direction that is better.
fn axis_title(column: &str, sense: Sense) -> String {
    let lower = column.to_lowercase();
    let named = |(end, _): &&(&str, &str)| {
        lower.strip_suffix(*end).is_some_and(|rest| rest.ends_with('_') || (rest.is_empty() && end.len() > 2))
    };
    let unit = UNITS.iter().find(named).map(|(_, unit)| format!(" ({unit})")).unwrap_or_default();
    let better = if sense == Sense::Minimise { "smaller" } else { "larger" };
    format!("{column}{unit}, {better} is better")
}

fn front_csv(table: &Sheet, rows: impl Iterator<Item = usize>) -> Result<Vec<u8>> {
    let wrong = |error: String| Error::internal(format!("the front cannot be written as CSV: {error}"));
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    let cells = |cells: &[String]| cells.iter().map(|cell| csv_cell(cell).into_owned()).collect::<Vec<_>>();
    writer.write_record(cells(&table.header)).map_err(|error| wrong(error.to_string()))?;
    for row in rows {
        writer.write_record(cells(&table.rows[row].1)).map_err(|error| wrong(error.to_string()))?;
    }
    writer.into_inner().map_err(|error| wrong(error.to_string()))
}

impl Report for ParetoReport {
    const SCHEMA: &'static str = "tilewright.pareto/1";

    fn text(&self) -> String {
        let objectives: Vec<String> =
            self.objectives.iter().map(|(column, sense)| format!("{column} ({sense})")).collect();
        let mut pairs = vec![("objectives", objectives.join(", "))];
        pairs.extend(self.roles.lines());
        pairs.extend([("rows", format!("{}, of which {} dominated", self.rows, self.dominated))]);
        if let Some(first) = self.skipped.first() {
            let text = format!(
                "{} failed or without numbers, the first in line {}: column {} has `{}`",
                text::count(self.skipped.len() as u64, "row", "rows"),
                first.line,
                first.column,
                first.text
            );
            pairs.push(("skipped", text));
        }
        if let Some(knee) = &self.knee {
            pairs.push((
                "knee",
                format!("{} {}: {}", self.row_title(), knee.id, numbers(&knee.objectives).join(", ")),
            ));
        }
        let mut text = report::pairs(&pairs);
        text.push('\n');
        let mut header = vec![self.row_title()];
        header.extend(self.objectives.iter().map(|(column, _)| column.as_str()));
        let row = |row: &Row| {
            let mut cells = vec![row.id.clone()];
            cells.extend(numbers(&row.objectives));
            cells
        };
        let rows: Vec<Vec<String>> = self.pareto.iter().take(MOST_ROWS).map(row).collect();
        // Numbers to the right, names to the left.
        let right = if self.id.is_some() { &[1, 2, 3][..] } else { &[0, 1, 2, 3] };
        text.push_str(&report::table(&header, &rows, right));
        if self.pareto.len() > MOST_ROWS {
            text.push_str(&format!("and {} more; --csv FILE writes all\n", self.pareto.len() - MOST_ROWS));
        }
        text
    }
}

impl ParetoReport {
    /// What the name of a row is called.
    fn row_title(&self) -> &str {
        self.id.as_deref().unwrap_or("row")
    }
}

fn numbers(values: &[f64]) -> Vec<String> {
    values.iter().map(f64::to_string).collect()
}
