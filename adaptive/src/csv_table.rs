//! Tables in CSV files: a line for each input, with its features and what each variant measured.
//!
//! Columns named `feature:NAME`, `cost:NAME` (seconds that the feature takes) and `variant:NAME` say what they are; in other
//! files features and variants are named by the caller. `input` and `family` are what their names say. In a variant's column an empty
//! cell, `inf` or a word is a failure.

use crate::error::{AdaptiveError, Result};
use crate::table::{Row, Table};
use safe_io::input;
use std::path::Path;

/// Largest file.
const MOST_BYTES: u64 = 1 << 30;
/// Most inputs.
const MOST_ROWS: usize = 1_000_000;

/// Which columns are what, where their names do not say it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Columns {
    /// Those of features; empty for those that say it.
    pub features: Vec<String>,
    /// Those of variants; empty for those that say it.
    pub variants: Vec<String>,
    /// The variant that is right for every input; the first where none is named.
    pub default: Option<String>,
    /// Whether greater values are better.
    pub maximize: bool,
}

/// Reads a file, plain or gzip.
///
/// # Errors
/// A file that cannot be read or is none, columns that are not there, numbers that are none.
pub fn read(path: &Path, columns: &Columns) -> Result<Table> {
    let bytes =
        input::read_unpacked(path, MOST_BYTES).map_err(|error| AdaptiveError::unreadable(path, error))?;
    let text = input::text(bytes).map_err(|error| AdaptiveError::unreadable(path, error))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default().to_owned();
    parse(path, &name, &text, columns)
}

const PREFIXED: &str =
    "name columns `feature:NAME` and `variant:NAME`, or say which are which with --features and --variants";

/// Reads the text of a file.
///
/// # Errors
/// As [`read`].
pub fn parse(path: &Path, name: &str, text: &str, columns: &Columns) -> Result<Table> {
    let wrong =
        |place: String, reason: String, hint: &str| AdaptiveError::malformed(path, place, reason, hint);
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header: Vec<String> = match reader.headers() {
        Ok(header) => header.iter().map(str::to_owned).collect(),
        Err(error) => return Err(wrong("line 1".to_owned(), error.to_string(), "")),
    };
    for (at, column) in header.iter().enumerate() {
        if !column.is_empty() && header[..at].contains(column) {
            return Err(wrong(
                "line 1".to_owned(),
                format!("two columns are named `{column}`"),
                "rename one of them",
            ));
        }
    }
    // Names and places.
    let chosen = |own: &[String], prefix: &str| -> Result<Vec<(String, usize)>> {
        let prefixed =
            |(at, column): (usize, &String)| Some((column.strip_prefix(prefix)?.trim().to_owned(), at));
        if own.is_empty() {
            return Ok(header.iter().enumerate().filter_map(prefixed).collect());
        }
        let place = |name: &String| {
            let with = format!("{prefix}{name}");
            let place = header.iter().position(|column| column == name || *column == with);
            let place = place.ok_or_else(|| AdaptiveError::unknown("column", name, &header))?;
            Ok((name.clone(), place))
        };
        own.iter().map(place).collect()
    };
    let features = chosen(&columns.features, "feature:")?;
    let variants = chosen(&columns.variants, "variant:")?;
    for (what, found) in [("feature", &features), ("variant", &variants)] {
        if let Some((again, _)) =
            found.iter().enumerate().find(|(at, (name, _))| found[..*at].iter().any(|o| o.0 == *name))
        {
            let reason = format!("the {what} `{}` is named twice", found[again].0);
            return Err(wrong("line 1".to_owned(), reason, "name it once"));
        }
    }
    if variants.is_empty() {
        return Err(wrong("line 1".to_owned(), "no column is a variant's".to_owned(), PREFIXED));
    }
    let names =
        |list: &[(String, usize)]| -> Vec<String> { list.iter().map(|(name, _)| name.clone()).collect() };
    let variant_names = names(&variants);
    let default = match &columns.default {
        None => 0,
        Some(default) => variant_names
            .iter()
            .position(|own| own == default)
            .ok_or_else(|| AdaptiveError::unknown("variant", default, &variant_names))?,
    };
    let own_column = |name: &str| header.iter().position(|column| column == name);
    let (input, family) = (own_column("input"), own_column("family"));
    let costs: Vec<Option<usize>> =
        features.iter().map(|(name, _)| own_column(&format!("cost:{name}"))).collect();
    let mut rows = Vec::new();
    for (at, record) in reader.records().enumerate() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(at as u64 + 2, csv::Position::line);
            wrong(format!("line {line}"), error.to_string(), "give every line a cell for each column")
        })?;
        let line = record.position().map_or(at as u64 + 2, csv::Position::line);
        if rows.len() >= MOST_ROWS {
            let reason = format!("more than {MOST_ROWS} inputs");
            return Err(wrong(format!("line {line}"), reason, "take a sample of them"));
        }
        let cell = |place: usize| record.get(place).unwrap_or_default();
        let number = |place: usize, what: &str, name: &str| -> Result<f64> {
            let text = cell(place);
            if text.is_empty() || text == "?" {
                return Ok(f64::NAN);
            }
            text.parse::<f64>().map_err(|_| {
                let reason = format!("{what} `{name}` is `{text}`, which is no number");
                wrong(format!("line {line}"), reason, "write a number, or leave the cell empty")
            })
        };
        let values = features.iter().map(|(name, place)| number(*place, "feature", name));
        let values = values.collect::<Result<Vec<f64>>>()?;
        let feature_costs = costs.iter().zip(&features).map(|(place, (name, _))| match place {
            // Seconds cannot be added to the reciprocal of a rate.
            Some(place) if !columns.maximize => {
                number(*place, "the cost of", name).map(|cost| if cost > 0.0 { cost } else { 0.0 })
            }
            Some(place) => number(*place, "the cost of", name).map(|_| 0.0),
            None => Ok(0.0),
        });
        let cost = |&(ref name, place): &(String, usize)| -> Result<f64> {
            // A word, such as `timeout`, is a failure; a number that makes no sense is a mistake.
            let value = cell(place).parse::<f64>().unwrap_or(f64::INFINITY);
            match () {
                () if value.is_nan() => Ok(f64::INFINITY),
                () if value < 0.0 => {
                    let reason = format!("variant `{name}` has {value}, which is negative");
                    Err(wrong(
                        format!("line {line}"),
                        reason,
                        "take a metric that is positive, such as a time",
                    ))
                }
                () if columns.maximize && value.is_finite() => Ok(1.0 / value),
                () => Ok(value),
            }
        };
        rows.push(Row {
            input: input.map_or_else(|| format!("line {line}"), |place| cell(place).to_owned()),
            family: family.map(|place| cell(place).to_owned()).unwrap_or_default(),
            features: values
                .into_iter()
                .map(|value| if value.is_finite() { value } else { f64::NAN })
                .collect(),
            feature_costs: feature_costs.collect::<Result<_>>()?,
            costs: variants.iter().map(cost).collect::<Result<_>>()?,
            forbidden: Vec::new(),
        });
    }
    let table = Table {
        name: name.to_owned(),
        variants: variant_names,
        default,
        features: names(&features),
        metric: "cost".to_owned(),
        maximize: columns.maximize,
        cutoff: None,
        rows,
    };
    table.check()?;
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str, columns: &Columns) -> Result<Table> {
        parse(Path::new("t.csv"), "t", text, columns)
    }

    #[test]
    fn cells() {
        let text =
            "input,family,feature:n,cost:n,variant:a,variant:b\none,f,3,0.5,1,timeout\ntwo,f,?,,inf,2\n";
        let table = read(text, &Columns::default()).unwrap();
        assert_eq!((table.variants.len(), table.features.len()), (2, 1));
        assert_eq!(table.rows[0].costs, [1.0, f64::INFINITY]);
        assert_eq!((table.rows[0].feature_costs[0], table.rows[1].label()), (0.5, Some(1)));
        assert!(table.rows[1].features[0].is_nan());
        let named = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let columns = Columns { features: named(&["n"]), variants: named(&["b", "a"]), ..Columns::default() };
        let plain = "n,a,b\n3,1,2\n";
        assert_eq!(read(plain, &columns).unwrap().rows[0].costs, [2.0, 1.0]);
        let most = Columns { maximize: true, default: Some("a".to_owned()), ..columns.clone() };
        let table = read(plain, &most).unwrap();
        assert_eq!((table.rows[0].label(), table.default), (Some(0), 1));
        for (text, columns, why) in [
            ("n,a\n1,2\n", Columns::default(), "line 1: no column is a variant's"),
            ("n,n,b\n1,2,3\n", columns.clone(), "two columns are named `n`"),
            ("n,a,b\nx,2,3\n", columns.clone(), "line 2: feature `n` is `x`, which is no number"),
            ("n,a,b\n1,2,3\n1,2\n", columns.clone(), "line 3: "),
            ("n,a,b\n1,-2,3\n", columns.clone(), "line 2: variant `a` has -2, which is negative"),
            ("n,a,c\n1,2,3\n", columns.clone(), "there is no column `b`"),
            ("n,a,b\n1,2,3\n", Columns { variants: named(&["a", "a"]), ..columns.clone() }, "named twice"),
        ] {
            let error = read(text, &columns).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn any_text_is_a_table_or_an_error(text in "(input|feature:a|variant:b|variant:c|[0-9.,e\"\\n-]|\\PC){0,60}") {
            let _ = read(&text, &Columns::default());
            let header = format!("input,feature:a,variant:b,variant:c\n{text}");
            if let Ok(table) = read(&header, &Columns::default()) {
                prop_assert!(table.check().is_ok());
            }
        }
    }
}
