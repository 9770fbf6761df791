//! Scenarios of ASlib, the library of algorithm selection (B. Bischl et al., "ASlib: a benchmark library for algorithm
//! selection", Artificial Intelligence 237, 2016): a folder with `description.txt`, `algorithm_runs.arff`,
//! `feature_values.arff` and, if they are there, `feature_costs.arff`.
//!
//! A run that is not `ok` is a failure. A feature without a value gets one that lies below all others: that it could not be had is
//! something to choose by. What the features of an input cost is shared by all of them evenly: which step computes which does not
//! matter where all are used. `cv.arff` says which inputs are held out together, so that results can be compared with published
//! ones ([`folds`]).

use crate::error::{AdaptiveError, Result};
use crate::table::{Row, Table};
use safe_io::input;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// Largest file.
const MOST_BYTES: u64 = 1 << 30;
/// Most fields of a file.
const MOST_FIELDS: usize = 100_000_000;

/// Values of each instance.
type ByInstance = HashMap<String, Vec<f64>>;

/// A file of attributes and rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arff {
    /// Names of the attributes.
    pub attributes: Vec<String>,
    /// Values; `None` for `?`.
    pub rows: Vec<Vec<Option<String>>>,
}

/// The words of a line: quoted by `'` or `"` with backslashes, or up to `end`; quoted ones are marked.
fn words(line: &str, ends: impl Fn(char) -> bool) -> std::result::Result<Vec<(String, bool)>, String> {
    let mut words = Vec::new();
    let mut letters = line.trim().chars().peekable();
    loop {
        while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
        let mut word = String::new();
        let quote = letters.next_if(|&letter| letter == '\'' || letter == '"');
        if let Some(quote) = quote {
            loop {
                match letters.next() {
                    Some('\\') => word.extend(letters.next()),
                    Some(letter) if letter == quote => break,
                    Some(letter) => word.push(letter),
                    None => return Err(format!("a text that begins with {quote} has no end")),
                }
            }
        } else {
            while let Some(letter) = letters.next_if(|&letter| !ends(letter)) {
                word.push(letter);
            }
        }
        words.push((word.trim_end().to_owned(), quote.is_some()));
        while letters.next_if(|&letter| letter.is_whitespace() && !ends(letter)).is_some() {}
        match letters.next() {
            None => return Ok(words),
            Some(letter) if ends(letter) => {}
            Some(letter) => return Err(format!("`{letter}` stands behind a text in quotes")),
        }
    }
}

impl Arff {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// Line and reason.
    pub fn parse(text: &str) -> std::result::Result<Arff, (usize, String)> {
        let mut arff = Arff { attributes: Vec::new(), rows: Vec::new() };
        let mut data = false;
        let mut fields = 0;
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            let wrong = |reason: &str| (at + 1, reason.to_owned());
            if line.is_empty() || line.starts_with('%') {
                continue;
            }
            if !data {
                let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
                match keyword.to_ascii_lowercase().as_str() {
                    "@relation" => {}
                    "@data" => data = true,
                    "@attribute" => {
                        let words = words(rest, char::is_whitespace).map_err(|reason| (at + 1, reason))?;
                        let name = words.first().map(|word| word.0.clone()).unwrap_or_default();
                        if name.is_empty() || arff.attributes.contains(&name) {
                            return Err(wrong("an attribute has no name, or one that was there before"));
                        }
                        arff.attributes.push(name);
                    }
                    _ => return Err(wrong("neither @relation, @attribute nor @data begins the line")),
                }
                continue;
            }
            if line.starts_with('{') {
                return Err(wrong("rows that name their fields are not read"));
            }
            let words = words(line, |letter| letter == ',').map_err(|reason| (at + 1, reason))?;
            if words.len() != arff.attributes.len() {
                let reason = format!("{} values for {} attributes", words.len(), arff.attributes.len());
                return Err((at + 1, reason));
            }
            fields += words.len();
            if fields > MOST_FIELDS {
                return Err(wrong("the file has too many values"));
            }
            let value = |(word, quoted): (String, bool)| (quoted || word != "?").then_some(word);
            arff.rows.push(words.into_iter().map(value).collect());
        }
        if !data {
            return Err((1, "there is no @data".to_owned()));
        }
        Ok(arff)
    }

    fn read(path: &Path) -> Result<Arff> {
        let text =
            input::read_text(path, MOST_BYTES).map_err(|error| AdaptiveError::unreadable(path, error))?;
        Arff::parse(&text)
            .map_err(|(line, reason)| AdaptiveError::malformed(path, format!("line {line}"), reason, ""))
    }

    fn place(&self, path: &Path, name: &str) -> Result<usize> {
        let place = self.attributes.iter().position(|own| own.eq_ignore_ascii_case(name));
        place.ok_or_else(|| AdaptiveError::malformed(path, "", format!("there is no attribute `{name}`"), ""))
    }
}

/// The first value of a key of a description: behind it, in brackets, or as the first item of a list below it.
fn value(text: &str, key: &str) -> Option<String> {
    let mut lines = text.lines();
    let clean = |value: &str| {
        let value = value.trim().trim_start_matches('[').split(',').next().unwrap_or_default();
        value.trim().trim_end_matches(']').trim_matches(['"', '\'']).trim().to_owned()
    };
    while let Some(line) = lines.next() {
        let Some(rest) = line.strip_prefix(key).and_then(|rest| rest.trim_start().strip_prefix(':')) else {
            continue;
        };
        let own = clean(rest);
        if !own.is_empty() {
            return Some(own);
        }
        let item = lines.next()?.trim().strip_prefix('-')?;
        return Some(clean(item));
    }
    None
}

/// Whether a folder looks like a scenario.
pub fn is_scenario(folder: &Path) -> bool {
    ["description.txt", "algorithm_runs.arff"].iter().all(|name| folder.join(name).is_file())
}

/// Reads a scenario as a table. The default is the algorithm that fails the least, of these the fastest.
///
/// # Errors
/// Files that are missing or cannot be understood; too many algorithms or features.
pub fn read(folder: &Path) -> Result<Table> {
    let file = |name: &str| folder.join(name);
    let described = file("description.txt");
    let text = input::read_text(&described, MOST_BYTES)
        .map_err(|error| AdaptiveError::unreadable(&described, error))?;
    let needed = |key: &str| {
        value(&text, key)
            .ok_or_else(|| AdaptiveError::malformed(&described, "", format!("there is no `{key}`"), ""))
    };
    let measure = needed("performance_measures")?;
    let maximize = value(&text, "maximize").is_some_and(|own| own.eq_ignore_ascii_case("true"));
    let is_time = value(&text, "performance_type").is_none_or(|own| own.eq_ignore_ascii_case("runtime"));
    let cutoff = value(&text, "algorithm_cutoff_time").and_then(|own| own.parse::<f64>().ok());
    let name = value(&text, "scenario_id").unwrap_or_default();
    let plain = Path::new(&name).file_name().is_some_and(|own| own == name.as_str());
    let runs = runs(&file("algorithm_runs.arff"), &measure, maximize)?;
    let variants: Vec<String> =
        runs.values().flat_map(BTreeMap::keys).collect::<BTreeSet<_>>().into_iter().cloned().collect();
    let (features, known) = numbers(&file("feature_values.arff"))?;
    let costs_file = file("feature_costs.arff");
    let costs = match costs_file.is_file() && is_time && !maximize {
        true => numbers(&costs_file)?.1,
        false => HashMap::new(),
    };
    // Half a range below the least, so that no value of another input is nearer to it.
    let missing: Vec<f64> = (0..features.len())
        .map(|at| {
            let values = known.values().map(|row| row[at]).filter(|value| value.is_finite());
            let (least, greatest) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
            let below = least - (greatest - least).max(1.0) / 2.0;
            if below.is_finite() { below } else { 0.0 }
        })
        .collect();
    let row = |(instance, runs): (&String, &BTreeMap<String, f64>)| {
        let own = known.get(instance);
        let value = |at: usize| own.map_or(f64::NAN, |row| row[at]);
        let cost = costs.get(instance).map_or(0.0, |row| row.iter().filter(|cost| **cost > 0.0).sum());
        let each = |variant: &String| runs.get(variant).copied().unwrap_or(f64::INFINITY);
        Row {
            input: instance.clone(),
            features: (0..features.len())
                .map(|at| if value(at).is_finite() { value(at) } else { missing[at] })
                .collect(),
            feature_costs: vec![cost / features.len().max(1) as f64; features.len()],
            costs: variants.iter().map(each).collect(),
            ..Row::default()
        }
    };
    let rows: Vec<Row> = runs.iter().map(row).collect();
    let score = |variant: &usize| {
        let solved = rows.iter().map(|row| row.costs[*variant]).filter(|cost| cost.is_finite());
        (rows.len() - solved.clone().count(), solved.sum::<f64>())
    };
    let default = (0..variants.len()).min_by(|a, b| {
        let (a, b) = (score(a), score(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let table = Table {
        name: if plain { name } else { "scenario".to_owned() },
        default: default.unwrap_or(0),
        variants,
        features,
        metric: measure,
        maximize,
        cutoff: cutoff.filter(|cutoff| is_time && *cutoff > 0.0),
        rows,
    };
    table.check()?;
    Ok(table)
}

/// The fold of each row of a scenario's table, in which it is held out (`cv.arff`; of several repetitions the first), in the order
/// of their numbers.
///
/// # Errors
/// A file that is missing or cannot be understood; an input without a fold.
pub fn folds(folder: &Path, table: &Table) -> Result<Vec<usize>> {
    let path = folder.join("cv.arff");
    let arff = Arff::read(&path)?;
    let (instance, fold) = (arff.place(&path, "instance_id")?, arff.place(&path, "fold")?);
    let mut numbers: HashMap<&str, i64> = HashMap::new();
    for (at, row) in arff.rows.iter().enumerate() {
        let (Some(instance), Some(text)) = (&row[instance], &row[fold]) else { continue };
        let number = text.parse::<f64>().ok().filter(|value| value.fract() == 0.0 && value.abs() < 1e6);
        let Some(number) = number else {
            let reason = format!("the fold `{text}` is no whole number");
            return Err(AdaptiveError::malformed(&path, format!("row {}", at + 1), reason, ""));
        };
        numbers.entry(instance).or_insert(number as i64);
    }
    let of_row = |row: &Row| {
        numbers.get(row.input.as_str()).copied().ok_or_else(|| {
            AdaptiveError::malformed(&path, "", format!("the input `{}` is in no fold", row.input), "")
        })
    };
    let stated: Vec<i64> = table.rows.iter().map(of_row).collect::<Result<_>>()?;
    let distinct: BTreeSet<i64> = stated.iter().copied().collect();
    Ok(stated.iter().map(|number| distinct.range(..number).count()).collect())
}

/// For each instance what the algorithms cost; the mean where they ran several times, infinite where one run failed.
fn runs(path: &Path, measure: &str, maximize: bool) -> Result<BTreeMap<String, BTreeMap<String, f64>>> {
    let arff = Arff::read(path)?;
    let place = |name: &str| arff.place(path, name);
    let (instance, algorithm, measure) = (place("instance_id")?, place("algorithm")?, place(measure)?);
    let status = place("runstatus")?;
    let mut sums: BTreeMap<String, BTreeMap<String, (f64, f64)>> = BTreeMap::new();
    for (at, row) in arff.rows.iter().enumerate() {
        let wrong = |reason: String| AdaptiveError::malformed(path, format!("row {}", at + 1), reason, "");
        let (Some(instance), Some(algorithm)) = (&row[instance], &row[algorithm]) else {
            return Err(wrong("the instance or the algorithm has no name".to_owned()));
        };
        let good = row[status].as_deref().is_some_and(|status| status.eq_ignore_ascii_case("ok"));
        let value = match &row[measure] {
            Some(text) if good => {
                let value = text.parse::<f64>().ok().filter(|value| *value >= 0.0);
                let value = value.ok_or_else(|| wrong(format!("`{text}` is no number of 0 or more")))?;
                if maximize { 1.0 / value } else { value }
            }
            _ => f64::INFINITY,
        };
        let sum = sums.entry(instance.clone()).or_default().entry(algorithm.clone()).or_default();
        *sum = (sum.0 + value, sum.1 + 1.0);
    }
    let means = |runs: BTreeMap<String, (f64, f64)>| {
        runs.into_iter().map(|(name, sum)| (name, sum.0 / sum.1)).collect()
    };
    Ok(sums.into_iter().map(|(instance, runs)| (instance, means(runs))).collect())
}

/// The attributes beside instance and repetition, and for each instance their values, not a number for those that are missing; of
/// several repetitions the first counts.
fn numbers(path: &Path) -> Result<(Vec<String>, ByInstance)> {
    let arff = Arff::read(path)?;
    let instance = arff.place(path, "instance_id")?;
    let own = |at: &usize| *at != instance && !arff.attributes[*at].eq_ignore_ascii_case("repetition");
    let places: Vec<usize> = (0..arff.attributes.len()).filter(own).collect();
    let mut known = HashMap::new();
    for (at, row) in arff.rows.iter().enumerate() {
        let Some(instance) = &row[instance] else { continue };
        let number = |place: &usize| match &row[*place] {
            None => Ok(f64::NAN),
            Some(text) => text.parse::<f64>().map_err(|_| {
                let reason = format!("`{}` is `{text}`, which is no number", arff.attributes[*place]);
                AdaptiveError::malformed(path, format!("row {}", at + 1), reason, "")
            }),
        };
        let values = places.iter().map(number).collect::<Result<Vec<f64>>>()?;
        known.entry(instance.clone()).or_insert(values);
    }
    Ok((places.into_iter().map(|at| arff.attributes[at].clone()).collect(), known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RUNS: &str = "% made up\n@RELATION runs\n@ATTRIBUTE instance_id STRING\n@ATTRIBUTE repetition NUMERIC\n\
        @ATTRIBUTE algorithm STRING\n@ATTRIBUTE runtime NUMERIC\n@ATTRIBUTE runstatus {ok, timeout}\n@DATA\n\
        'a, 1',1,fast,1.5,ok\n'a, 1',2,fast,2.5,ok\n'a, 1',1,\"it\\\"s slow\",7,ok\nb,1,fast,10,timeout\nb,1,\"it\\\"s slow\",8,ok\n";
    const VALUES: &str = "@relation f\n@attribute instance_id string\n@attribute repetition numeric\n\
        @attribute n numeric\n@attribute m numeric\n@data\n'a, 1',1,3,?\nb,1,5,4\n";

    #[test]
    fn a_scenario_becomes_a_table() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        assert!(!is_scenario(folder.path()));
        write(
            "description.txt",
            "scenario_id: TEST\nperformance_measures:\n  - runtime\nmaximize: [false]\nperformance_type: [runtime]\nalgorithm_cutoff_time: 10\n",
        );
        write("algorithm_runs.arff", RUNS);
        write("feature_values.arff", VALUES);
        write(
            "feature_costs.arff",
            "@relation c\n@attribute instance_id string\n@attribute repetition numeric\n@attribute all numeric\n@data\nb,1,0.5\n",
        );
        assert!(is_scenario(folder.path()));
        let table = read(folder.path()).unwrap();
        assert_eq!((table.name.as_str(), table.cutoff, table.default), ("TEST", Some(10.0), 1));
        assert_eq!(table.variants, ["fast", "it\"s slow"]);
        assert_eq!(table.rows[0].costs, [2.0, 7.0]);
        assert_eq!(table.rows[1].costs, [f64::INFINITY, 8.0]);
        assert_eq!((table.rows[0].features.clone(), table.charge(1, &[0, 1], 1.0)), (vec![3.0, 3.5], 0.5));
        // The missing value lies below the only one that is known.
        assert!(folds(folder.path(), &table).is_err());
        write(
            "cv.arff",
            "@relation cv\n@attribute instance_id string\n@attribute repetition numeric\n@attribute fold numeric\n@data\n'a, 1',1,7\nb,1,3\n",
        );
        assert_eq!(folds(folder.path(), &table).unwrap(), [1, 0]);
        write("cv.arff", "@attribute instance_id string\n@attribute fold numeric\n@data\nb,3\n");
        assert!(folds(folder.path(), &table).unwrap_err().to_string().contains("`a, 1` is in no fold"));
        write("feature_values.arff", &VALUES.replace("b,1,5,4", "b,1,five,4"));
        assert!(read(folder.path()).unwrap_err().to_string().contains("row 2: `n` is `five`"));
        write("algorithm_runs.arff", &RUNS.replace("b,1,fast,10,timeout", "b,1,fast,10"));
        assert!(read(folder.path()).unwrap_err().to_string().contains("line 12: 4 values for 5 attributes"));
    }

    #[test]
    fn values_of_descriptions() {
        let text = "a: [x, y]\nb:\n- 'one'\n- two\nc: \"z\"\n";
        assert_eq!(
            ["a", "b", "c", "d"].map(|key| value(text, key)),
            ["x", "one", "z"].map(|v| Some(v.to_owned())).into_iter().chain([None]).collect::<Vec<_>>()[..]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn any_text_is_a_file_or_an_error(at in 0..300_usize, length in 0..30_usize, put in "\\PC{0,10}|[@,'\"?%{}\\\\\\n a-z0-9]{0,12}") {
            let mut text = RUNS.to_owned();
            let from = at.min(text.len());
            text.replace_range(from..(from + length).min(text.len()), &put);
            for text in [&text, &put] {
                if let Ok(arff) = Arff::parse(text) {
                    prop_assert!(arff.rows.iter().all(|row| row.len() == arff.attributes.len()));
                }
                let _ = value(text, "a");
            }
        }
    }
}
