//! Profiles: what the code of variants issues, per issued instruction, kernel by kernel and input by input.
//!
//! A CSV file with the columns `variant`, `kernel`, `input`, and `metric:NAME` for each metric. `kernel` and `input` may be
//! missing: then a variant has one, or its code issues the same whatever the input is.

use crate::error::{AdaptiveError, Result};
use safe_io::input;
use std::path::Path;

/// Largest file.
const MOST_BYTES: u64 = 1 << 28;
/// What columns of metrics begin with.
const METRIC: &str = "metric:";

/// One kernel of a variant on one input.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// The variant.
    pub variant: String,
    /// The kernel, or function, of the variant.
    pub kernel: String,
    /// The input.
    pub input: String,
    /// Metrics per issued instruction, in the order of the file's.
    pub metrics: Vec<f64>,
}

/// Profiles with the same metrics.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profiles {
    /// Names of the metrics.
    pub metrics: Vec<String>,
    /// Each kernel on each input.
    pub rows: Vec<Profile>,
}

impl Profiles {
    /// Some rows with these metrics.
    pub fn of(metrics: &[&str], rows: Vec<Profile>) -> Profiles {
        Profiles { metrics: metrics.iter().map(|&name| name.to_owned()).collect(), rows }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`Profiles::parse`]; a file that cannot be read.
    pub fn read(path: &Path) -> Result<Profiles> {
        let text =
            input::read_text(path, MOST_BYTES).map_err(|error| AdaptiveError::unreadable(path, error))?;
        Profiles::parse(path, &text)
    }

    /// Reads the text of a file; `path` is where it lies.
    ///
    /// # Errors
    /// No column `variant`, none of a metric, a metric that is no number of at least 0.
    pub fn parse(path: &Path, text: &str) -> Result<Profiles> {
        let wrong = |place: String, reason: String, hint: &str| {
            Err(AdaptiveError::malformed(path, place, reason, hint))
        };
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let header: Vec<String> = match reader.headers() {
            Ok(header) => header.iter().map(str::to_owned).collect(),
            Err(error) => return wrong("line 1".to_owned(), error.to_string(), ""),
        };
        let column = |name: &str| header.iter().position(|own| own == name);
        let Some(variant) = column("variant") else {
            let hint = "write profiles with `tilewright adaptive profile`";
            return wrong("line 1".to_owned(), "no column is named `variant`".to_owned(), hint);
        };
        let (kernel, input) = (column("kernel"), column("input"));
        let places: Vec<(usize, String)> = header
            .iter()
            .enumerate()
            .filter_map(|(at, own)| Some((at, own.strip_prefix(METRIC)?.trim().to_owned())))
            .collect();
        if places.is_empty() {
            let hint = "name columns `metric:NAME`";
            return wrong("line 1".to_owned(), "no column is a metric".to_owned(), hint);
        }
        if let Some((at, _)) =
            places.iter().enumerate().find(|(at, own)| places[..*at].iter().any(|o| o.1 == own.1))
        {
            let reason = format!("two columns are the metric `{}`", places[at].1);
            return wrong("line 1".to_owned(), reason, "rename one of them");
        }
        let mut rows = Vec::new();
        for (at, record) in reader.records().enumerate() {
            let place = |line: Option<u64>| format!("line {}", line.unwrap_or(at as u64 + 2));
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let line = place(error.position().map(csv::Position::line));
                    return wrong(line, error.to_string(), "give every line a cell for each column");
                }
            };
            let line = place(record.position().map(csv::Position::line));
            let cell = |place: usize| record.get(place).unwrap_or_default();
            let mut metrics = Vec::new();
            for (place, name) in &places {
                match cell(*place).parse::<f64>() {
                    Ok(value) if value.is_finite() && value >= 0.0 => metrics.push(value),
                    _ => {
                        let reason = format!("metric `{name}` is `{}`", cell(*place));
                        return wrong(line, reason, "write a number of at least 0, per issued instruction");
                    }
                }
            }
            let text = |place: Option<usize>| place.map(|place| cell(place).to_owned()).unwrap_or_default();
            rows.push(Profile {
                variant: text(Some(variant)),
                kernel: text(kernel),
                input: text(input),
                metrics,
            });
        }
        if rows.is_empty() {
            return wrong(
                String::new(),
                "it has no profile".to_owned(),
                "give each variant at least one line",
            );
        }
        Ok(Profiles { metrics: places.into_iter().map(|(_, name)| name).collect(), rows })
    }

    /// The text of a file.
    ///
    /// # Errors
    /// Names that no CSV file holds.
    pub fn to_text(&self) -> Result<String> {
        let told = |reason: String| AdaptiveError::request(reason, "");
        let mut writer = csv::Writer::from_writer(Vec::new());
        let metrics = self.metrics.iter().map(|name| format!("{METRIC}{name}"));
        let header = ["variant", "kernel", "input"].map(str::to_owned).into_iter().chain(metrics);
        writer.write_record(header).map_err(|error| told(error.to_string()))?;
        for row in &self.rows {
            let names = [&row.variant, &row.kernel, &row.input].map(Clone::clone);
            // Six digits: counts are exact, and what they say of a machine is not.
            let values = row.metrics.iter().map(|value| format!("{}", (value * 1e6).round() / 1e6));
            writer.write_record(names.into_iter().chain(values)).map_err(|error| told(error.to_string()))?;
        }
        let bytes = writer.into_inner().map_err(|error| told(error.to_string()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The place of a metric.
    pub fn metric(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|own| own == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Profiles> {
        Profiles::parse(Path::new("p.csv"), text)
    }

    #[test]
    fn texts_and_mistakes() {
        let text = "variant,kernel,input,metric:a,metric:b\nnaive,k,8x8,0.25,0\nlow,k,\"8,8\",0.5,1\n";
        let read = parse(text).unwrap();
        assert_eq!((read.rows.len(), read.rows[1].input.as_str()), (2, "8,8"));
        assert_eq!(parse(&read.to_text().unwrap()).unwrap(), read);
        assert_eq!(parse("variant,metric:a\nv,1\n").unwrap().rows[0].kernel, "");
        for (text, why) in [
            ("", "no column is named `variant`"),
            ("variant,kernel\nv,k\n", "no column is a metric"),
            ("variant,metric:a,metric:a\nv,1,2\n", "two columns are the metric `a`"),
            ("variant,metric:a\n", "it has no profile"),
            ("variant,metric:a\nv,1\nv,-1\n", "line 3: metric `a` is `-1`"),
            ("variant,metric:a\nv,inf\n", "line 2: metric `a` is `inf`"),
            ("variant,metric:a\nv\n", "line 2"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn any_text_is_profiles_or_an_error(text in "(variant|kernel|metric:a|metric:b|[0-9.,e\"\\n-]|\\PC){0,60}") {
            let _ = parse(&text);
            if let Ok(profiles) = parse(&format!("variant,metric:a,metric:b\n{text}")) {
                prop_assert!(parse(&profiles.to_text().unwrap()).is_ok());
            }
        }
    }
}
