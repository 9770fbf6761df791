//! Cells under a header: the common part of every file with separated values.

use super::read;
use crate::error::{Result, malformed};
use crate::limits::check_size;
use crate::value::Value;
use std::path::Path;
use text_escape::csv_text;

/// A file with separated values. Every row has as many cells as the header; spaces around cells are gone.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// Names of the columns as they stand there; they may be empty, or equal.
    pub header: Vec<String>,
    /// Lines of the rows in the file, from 1, and their cells.
    pub rows: Vec<(u64, Vec<String>)>,
}

impl Sheet {
    /// Reads a file, plain or gzip. Cells are separated by commas, semicolons or tabs, whichever the header
    /// has most of. Lines in front of the header that begin with `#` are comments, later ones where they have
    /// another number of cells.
    ///
    /// # Errors
    /// A file that cannot be read; no header; a number among its names; a row with more or fewer cells.
    pub fn open(path: &Path) -> Result<Sheet> {
        let bytes = read::bytes(path)?;
        Sheet::parse(path, read::without_mark(&bytes))
    }

    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Sheet> {
        let (comments, table) = without_comments(bytes);
        let line_end = table.iter().position(|byte| *byte == b'\n').unwrap_or(table.len());
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .flexible(true)
            .delimiter(delimiter(&table[..line_end]))
            .from_reader(table);
        let broken = |error: csv::Error| {
            let line = error.position().map(|position| format!("line {}", position.line() + comments));
            let reason = match error.kind() {
                csv::ErrorKind::Utf8 { .. } => "the text is not UTF-8".to_owned(),
                _ => error.to_string(),
            };
            malformed(path, &line.unwrap_or_default(), reason, "")
        };
        // As spreadsheets read what we wrote for them.
        let text = |cell: &str| csv_text(cell).to_owned();
        let header: Vec<String> = reader.headers().map_err(broken)?.iter().map(text).collect();
        let place = format!("line {}", comments + 1);
        if header.iter().all(String::is_empty) {
            return Err(malformed(path, &place, "there is no header line", "its cells name the columns"));
        }
        let is_number = |name: &&String| matches!(Value::parse(name), Value::Integer(_) | Value::Real(_));
        if let Some(number) = header.iter().find(is_number) {
            let reason = format!("`{number}` stands where the name of a column is expected");
            let hint =
                "the first line must have the names of the columns; lines with # in front are comments";
            return Err(malformed(path, &place, reason, hint));
        }
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(broken)?;
            let line = record.position().map_or(0, csv::Position::line) + comments;
            if record.iter().all(str::is_empty) {
                continue;
            }
            if record.len() != header.len() {
                if record.get(0).is_some_and(|cell| cell.starts_with('#')) {
                    continue;
                }
                let reason = format!("{} cells where the header has {}", record.len(), header.len());
                return Err(malformed(path, &format!("line {line}"), reason, ""));
            }
            rows.push((line, record.iter().map(text).collect()));
            check_size(path, header.len(), rows.len())?;
        }
        Ok(Sheet { header, rows })
    }

    /// The cells of a column.
    pub(super) fn column(&self, column: usize) -> impl Iterator<Item = &str> {
        self.rows.iter().map(move |(_, cells)| cells[column].as_str())
    }
}

/// Number of comment and empty lines in front of the header, and the text from there on.
fn without_comments(bytes: &[u8]) -> (u64, &[u8]) {
    let (mut lines, mut rest) = (0, bytes);
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let line = rest[..end].trim_ascii();
        // `#` alone is the name that some programs give to the column of row numbers.
        let names_rows = line.first() == Some(&b'#') && matches!(line.get(1), Some(b',' | b';' | b'\t'));
        if names_rows || !(line.is_empty() || line.starts_with(b"#")) {
            break;
        }
        (lines, rest) = (lines + 1, &rest[end + 1..]);
    }
    (lines, rest)
}

/// The separator that the header has most of outside quotes, a comma where none is ahead.
fn delimiter(header: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [(b'\t', 0), (b';', 0), (b',', 0)];
    for byte in header {
        quoted ^= *byte == b'"';
        for (separator, count) in &mut counts {
            *count += usize::from(!quoted && byte == separator);
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map_or(b',', |(separator, _)| separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(text: &str) -> Result<Sheet> {
        Sheet::parse(Path::new("file"), text.as_bytes())
    }

    #[test]
    fn separators_quotes_and_comments() {
        for text in [
            "x,time\n1,2\n",
            "x;time\r\n1;2\r\n",
            "x\ttime\n1\t2",
            "# made by hand\n\n\"x\" , time\n 1 ,\"2\"\n,\n# the end\n",
        ] {
            let sheet = sheet(text).unwrap();
            assert_eq!(sheet.header, ["x", "time"], "{text}");
            assert_eq!(sheet.rows.len(), 1, "{text}");
            assert_eq!(sheet.rows[0].1, ["1", "2"], "{text}");
        }
        assert_eq!(sheet("# a\nx,y\n1,2\n").unwrap().rows[0].0, 3);
        assert_eq!(sheet("\"a;b;c\",y\n1,2\n").unwrap().header, ["a;b;c", "y"]);
        assert_eq!(sheet("#,y\n1,2\n").unwrap().header, ["#", "y"]);
    }

    #[test]
    fn what_is_no_table_says_where() {
        let problem = |text: &str| sheet(text).unwrap_err().to_string();
        assert!(problem("16,3.5\n32,4.5\n").contains("line 1: `16` stands where the name"));
        assert!(problem("x,y\n1,2\n1,2,3\n").contains("line 3: 3 cells where the header has 2"));
        assert!(problem(",,\n1,2,3\n").contains("no header"));
    }
}
