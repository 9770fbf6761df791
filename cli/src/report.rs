//! Reports: what a command found out, as text or as one JSON document; and how text is laid out.

use crate::error::{Error, Kind, Result};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use text_escape::{visible, visible_lines};

/// The result of a command.
pub trait Report: Serialize {
    /// Name and version of its JSON document; see [`crate::json`].
    const SCHEMA: &'static str;

    /// For people.
    fn text(&self) -> String;

    /// Whether every check passed; else the exit code is 1.
    fn passed(&self) -> bool {
        true
    }

    /// Whether it is of a part only, because the user asked to stop.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Whether the caller is the first to say the last word: the command, with its result, or the end that a signal
/// asked for.
pub fn has_last_word() -> bool {
    static SAID: AtomicBool = AtomicBool::new(false);
    !SAID.swap(true, Ordering::SeqCst)
}

/// Writes a text and a line end to stdout, hidden characters as codes: whatever names and messages hold, nothing reaches
/// a terminal as a command.
///
/// # Errors
/// Where stdout cannot be written, as on a full disk; a closed pipe is no error.
pub fn print_stdout(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout
        .write_all(visible_lines(text.trim_end_matches('\n')).as_bytes())
        .and_then(|()| stdout.write_all(b"\n"))
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::Request {
            kind: Kind::Failed,
            message: format!("cannot write to stdout: {error}"),
            hints: Vec::new(),
        }),
        _ => Ok(()),
    }
}

/// Writes a text and a line end to stderr, as far as possible. The text may hold colours of ours, so what others wrote
/// is made visible by those who put it in.
pub fn print_stderr(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Whether messages on stderr are coloured: on a terminal, unless `NO_COLOR` is set.
pub fn stderr_has_colour() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    std::io::stderr().is_terminal()
        && set("NO_COLOR").is_none()
        && set("TERM").is_none_or(|term| term != "dumb")
}

/// Names and values, one pair a line, values in one column; hidden characters are written as codes.
pub fn pairs(pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let indent = format!("\n{}", " ".repeat(width + 2));
    pairs
        .iter()
        .map(|(name, value)| format!("{name:<width$}  {}\n", visible_lines(value).replace('\n', &indent)))
        .collect()
}

/// A table with a line under its header, hidden characters in cells as codes. Columns named in `right` are aligned to the
/// right.
pub fn table(header: &[&str], rows: &[Vec<String>], right: &[usize]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(header.iter().map(|cell| visible(cell)));
    rows.iter().for_each(|row| {
        table.add_row(row.iter().map(|cell| visible(cell)));
    });
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if right.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Width of the terminal in characters, or 100 where the text goes elsewhere.
pub fn width() -> usize {
    let terminal = console::Term::stdout();
    if terminal.is_term() { usize::from(terminal.size().1) } else { 100 }
}

/// A list with commas, in lines of at most `most` characters where items allow it.
pub fn listed(items: &[String], most: usize) -> String {
    let mut lines = vec![String::new()];
    for (at, item) in items.iter().enumerate() {
        let item = format!("{item}{}", if at + 1 < items.len() { "," } else { "" });
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(&item),
            Some(line) if line.chars().count() + 1 + item.chars().count() <= most => {
                line.push_str(&format!(" {item}"));
            }
            _ => lines.push(item),
        }
    }
    lines.join("\n")
}

/// Every line indented by two spaces.
pub fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect()
}

/// The text, cut at the end of a word so that it has at most `most` characters.
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most.saturating_sub(3)).collect();
    let end = cut.rfind(' ').unwrap_or(cut.len());
    cut[..end].trim_end_matches([',', '(']).trim_end().to_owned() + "..."
}

/// Seconds with three significant digits and a fitting unit.
pub fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "us"),
    };
    let decimals = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$} {unit}")
}

/// Bytes with a fitting unit.
pub fn bytes(bytes: f64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{value} bytes") } else { format!("{value:.1} {}", units[unit]) }
}

/// A vector: `(1, -2)`.
pub fn vector(values: &[i64]) -> String {
    format!("({})", values.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        assert_eq!(seconds(1.234), "1.23 s");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(0.000_2), "200 us");
        assert_eq!(bytes(12.0), "12 bytes");
        assert_eq!(bytes(3.5 * 1024.0 * 1024.0), "3.5 MiB");
    }

    #[test]
    fn lists_break_between_items() {
        let items = ["a 1 %", "b 2 %", "long item"].map(str::to_owned);
        assert_eq!(listed(&items, 80), "a 1 %, b 2 %, long item");
        assert_eq!(listed(&items, 14), "a 1 %, b 2 %,\nlong item");
        assert_eq!(listed(&items, 1), "a 1 %,\nb 2 %,\nlong item");
        assert_eq!(listed(&[], 9), "");
    }

    #[test]
    fn tables_have_no_space_at_the_end_of_lines() {
        let text = table(&["name", "n"], &[vec!["heat2d".into(), "2".into()]], &[1]);
        assert_eq!(text, "name    n\nheat2d  2\n");
        let text = table(&["n\u{1b}[7m"], &[vec!["\u{202e}\nx".into()]], &[]);
        assert_eq!(text, "n\\u{1b}[7m\n\\u{202e}\\nx\n");
        assert_eq!(pairs(&[("a", "1\n2".into()), ("long", "3".into())]), "a     1\n      2\nlong  3\n");
    }
}
