//! Journals: records as JSON lines, each with a checksum, in a file that survives being killed at any moment.
//!
//! ```text
//! {"record":0,"sum":"8f0c...","data":{"journal":"sweep","format":2,"of":"..."}}
//! {"record":1,"sum":"51a7...","data":...}
//! ```
//!
//! The first line says what the journal is of. The checksum of a record covers the first line's data, the record's
//! number and the text of its data: a record that was changed, or copied from another journal, does not fit. Numbers
//! count up by one, so that lost, repeated and exchanged records are noticed, too. A last line without its end was being
//! written when the process ended; that is no damage, and it is dropped.
//!
//! What is damaged is told ([`Damage`]) and not used. What the request expects in the first line is known, so records
//! are checked against that, and are good even where the first line itself is damaged.

use crate::{checksum, input};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Version of this format.
const FORMAT: u32 = 2;
/// Largest journal.
const MOST_BYTES: u64 = 1 << 30;

/// A part of a file that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// Where in it, as in `line 7`.
    pub place: String,
    /// What is wrong, and what follows.
    pub reason: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}", self.file.display(), self.place, self.reason)
    }
}

/// What a file was before it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// There was none, or it was empty.
    Nothing,
    /// The journal asked for, though perhaps a damaged one.
    Own,
    /// A whole journal of something else: the data of its first line.
    Other(String),
    /// No journal of this format, as its lines tell. They are given for a reader of older formats.
    Foreign(String),
}

/// The content of a journal's file.
#[derive(Debug)]
pub struct Content {
    /// What the file was.
    pub found: Found,
    /// The data of the good records, in the order of their numbers.
    pub records: Vec<String>,
    /// What is damaged.
    pub damage: Vec<Damage>,
    /// Length up to which the file is good, if it need not be written anew.
    clean: Option<u64>,
}

/// A journal that is open for further records.
#[derive(Debug)]
pub struct Journal {
    header: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    length: u64,
    next: u64,
}

/// What a first line says: which kind of journal, and of what.
pub fn header(kind: &str, of: &impl Serialize) -> String {
    json!({"journal": kind, "format": FORMAT, "of": of}).to_string()
}

fn line(header: &str, number: u64, data: &str) -> String {
    let sum = sum(header, number, data);
    format!("{{\"record\":{number},\"sum\":\"{sum}\",\"data\":{data}}}\n")
}

fn sum(header: &str, number: u64, data: &str) -> String {
    checksum::of(&[header.as_bytes(), &number.to_le_bytes(), data.as_bytes()])
}

/// Number, checksum and data of a line, if it has their form.
fn parts(line: &str) -> Option<(u64, &str, &str)> {
    let rest = line.strip_prefix("{\"record\":")?;
    let (digits, rest) = rest.split_once(",\"sum\":\"")?;
    let number: u64 = digits.parse().ok()?;
    // `01` and `+1` are other texts of the same number.
    let canonical = number.to_string() == digits;
    let (sum, rest) = rest.split_at_checked(checksum::DIGITS)?;
    let data = rest.strip_prefix("\",\"data\":")?.strip_suffix('}')?;
    canonical.then_some((number, sum, data))
}

/// Reads the journal with this first line, without changing the file.
///
/// # Errors
/// A file that cannot be read, or is larger than 1 GiB.
pub fn read(path: &Path, header: &str) -> io::Result<Content> {
    let bytes = match input::read(path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut content = Content { found: Found::Nothing, records: Vec::new(), damage: Vec::new(), clean: None };
    if bytes.is_empty() {
        return Ok(content);
    }
    if line(header, 0, header).as_bytes().starts_with(&bytes) {
        content.found = Found::Own;
        return Ok(content);
    }
    // A line without its end was being written.
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = bytes[..whole].split_inclusive(|&byte| byte == b'\n').enumerate();
    let text = |line: &[u8]| std::str::from_utf8(&line[..line.len() - 1]).ok().map(str::to_owned);
    let first = lines.next().and_then(|(_, line)| text(line));
    let damaged = |line: usize, reason: &str| Damage {
        file: path.to_owned(),
        place: format!("line {}", line + 1),
        reason: reason.to_owned(),
    };
    match first.as_deref().and_then(parts) {
        Some((0, sum, data)) if sum == self::sum(data, 0, data) => {
            if data != header {
                content.found = Found::Other(data.to_owned());
                return Ok(content);
            }
        }
        _ => content.damage.push(damaged(0, "the first line is damaged; records are checked without it")),
    }
    let mut good: BTreeMap<u64, String> = BTreeMap::new();
    let (mut expected, mut shaped) = (1, 0);
    for (at, bytes) in lines {
        let line = text(bytes);
        let parts = line.as_deref().and_then(parts);
        shaped += usize::from(parts.is_some());
        let Some((number, _, data)) =
            parts.filter(|(number, sum, data)| *number > 0 && self::sum(header, *number, data) == *sum)
        else {
            let reason = "the checksum does not fit; the record is not used";
            content.damage.push(damaged(at, reason));
            // Most likely the one that should stand here.
            expected += 1;
            continue;
        };
        if good.contains_key(&number) {
            content.damage.push(damaged(at, &format!("record {number} stands there twice; one is used")));
            continue;
        }
        if number > expected {
            let lost = format!("records are missing in front of record {number}");
            content.damage.push(damaged(at, &lost));
        } else if number < expected {
            content.damage.push(damaged(at, &format!("record {number} stands behind its place; it is used")));
        }
        expected = expected.max(number + 1);
        good.insert(number, data.to_owned());
    }
    content.found = if good.is_empty() && !content.damage.is_empty() && shaped == 0 && !looks_ours(&bytes) {
        content.damage.clear();
        Found::Foreign(String::from_utf8_lossy(&bytes).into_owned())
    } else {
        Found::Own
    };
    if content.found == Found::Own && content.damage.is_empty() {
        content.clean = Some(whole as u64);
    }
    content.records = good.into_values().collect();
    Ok(content)
}

/// What the first line of a journal says, with which it can be read; `None` where the line is damaged or the file is none.
///
/// # Errors
/// A file that cannot be read, or is larger than 1 GiB.
pub fn header_of(path: &Path) -> io::Result<Option<String>> {
    let bytes = input::read(path, MOST_BYTES)?;
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let data = std::str::from_utf8(first).ok().and_then(parts);
    Ok(data
        .filter(|(number, sum, data)| *number == 0 && *sum == self::sum(data, 0, data))
        .map(|parts| parts.2.to_owned()))
}

/// Whether a file is a journal, of whatever, damaged or not, or the beginning of one, and no file of somebody else's.
pub fn is_own(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = input::open(path).and_then(|file| file.take(4096).read_to_end(&mut start));
    read.is_ok() && begins(&start)
}

/// Whether a file with this beginning is a journal, as [`is_own`] says it.
pub fn begins(start: &[u8]) -> bool {
    let begun = "{\"record\":0,\"sum\":\"".as_bytes();
    // Journals of before there were checksums began with what they are of.
    let old = start.starts_with(b"{\"journal\":\"");
    begun.starts_with(start) || old || looks_ours(start)
}

/// Whether a file without one good line may be a damaged journal: two of the three marks of the first line are there.
fn looks_ours(bytes: &[u8]) -> bool {
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    ["{\"record\":0", "\"sum\":\"", "\"data\":{\"journal\":"]
        .iter()
        .filter(|mark| first.contains(*mark))
        .count()
        > 1
}

impl Journal {
    /// Opens a journal for more records, behind those that were read. A file that is damaged, new or of something else
    /// is written anew, whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn open(path: &Path, header: &str, content: &Content) -> io::Result<Journal> {
        let length = match content.clean {
            Some(length) => length,
            None => rewrite(path, header, &content.records)?,
        };
        let file = OpenOptions::new().append(true).open(path)?;
        file.set_len(length)?;
        let next = content.records.len() as u64 + 1;
        Ok(Journal { header: header.to_owned(), state: Mutex::new(State { file, length, next }) })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// Where it cannot be written; nothing of it stays in the file then, as far as the system allows.
    pub fn append(&self, data: &impl Serialize) -> io::Result<()> {
        let data = serde_json::to_string(data).map_err(io::Error::other)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let line = line(&self.header, state.next, &data);
        if let Err(error) = state.file.write_all(line.as_bytes()) {
            let _ = state.file.set_len(state.length);
            return Err(error);
        }
        state.next += 1;
        state.length += line.len() as u64;
        Ok(())
    }
}

fn rewrite(path: &Path, header: &str, records: &[String]) -> io::Result<u64> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tilewright-").suffix(".tmp");
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    let mut length = 0;
    for (number, data) in (0..).zip(std::iter::once(header).chain(records.iter().map(String::as_str))) {
        let line = line(header, number, data);
        file.write_all(line.as_bytes())?;
        length += line.len() as u64;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(path: &Path, records: &[&str]) -> String {
        let header = header("test", &"this");
        let content = read(path, &header).unwrap();
        let journal = Journal::open(path, &header, &content).unwrap();
        records.iter().for_each(|record| journal.append(record).unwrap());
        std::fs::read_to_string(path).unwrap()
    }

    fn opened(path: &Path) -> Content {
        let header = header("test", &"this");
        let content = read(path, &header).unwrap();
        Journal::open(path, &header, &content).unwrap();
        content
    }

    #[test]
    fn records_come_back_and_a_half_line_is_no_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let text = written(&path, &["a", "b"]);
        assert_eq!(opened(&path).records, ["\"a\"", "\"b\""]);
        for length in 0..text.len() {
            std::fs::write(&path, &text[..length]).unwrap();
            let content = opened(&path);
            assert!(content.damage.is_empty(), "{length}: {:?}", content.damage);
            let again = written(&path, &["a", "b"][content.records.len()..]);
            assert_eq!(again, text);
        }
    }

    /// Every byte changed to several others: the records that come back are those written, and a loss is told.
    #[test]
    fn no_change_passes_unnoticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let text = written(&path, &["first", "second", "third"]);
        let all = ["\"first\"", "\"second\"", "\"third\""];
        for at in 0..text.len() {
            for change in [1u8, 2, 0x20, 0x80] {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= change;
                std::fs::write(&path, &bytes).unwrap();
                let content = opened(&path);
                assert!(content.records.iter().all(|record| all.contains(&record.as_str())), "{at}");
                let last = at + 1 == text.len();
                assert!(last || !content.damage.is_empty(), "byte {at} ^ {change}: {content:?}");
                // What was damaged is gone from the file.
                assert!(opened(&path).damage.is_empty());
            }
        }
    }

    #[test]
    fn lines_out_of_place_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let text = written(&path, &["a", "b", "c"]);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let of_other = {
            let header = header("test", &"that");
            line(&header, 2, "\"x\"")
        };
        let cases: [(&[&str], usize, &str); 5] = [
            (&[lines[0], lines[2], lines[1], lines[3]], 3, "behind its place"),
            (&[lines[0], lines[1], lines[3]], 2, "missing"),
            (&[lines[0], lines[1], lines[2], lines[2], lines[3]], 3, "twice"),
            (&[lines[0], lines[1], &of_other, lines[3]], 2, "checksum"),
            (&[lines[1], lines[2], lines[3]], 2, "first line"),
        ];
        for (lines, records, reason) in cases {
            std::fs::write(&path, lines.concat()).unwrap();
            let content = opened(&path);
            assert_eq!(content.records.len(), records, "{reason}");
            assert!(content.damage.iter().any(|damage| damage.reason.contains(reason)), "{content:?}");
        }
    }

    #[test]
    fn other_journals_and_other_files_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let text = written(&path, &["a"]);
        let content = read(&path, &header("test", &"that")).unwrap();
        assert!(matches!(&content.found, Found::Other(data) if text.contains(data)));
        assert!(content.records.is_empty());
        std::fs::write(&path, "dear diary\nwhat a day\n").unwrap();
        let content = read(&path, &header("test", &"this")).unwrap();
        assert!(matches!(content.found, Found::Foreign(_)));
        Journal::open(&path, &header("test", &"this"), &content).unwrap();
        assert_eq!(opened(&path).found, Found::Own);
    }
}
