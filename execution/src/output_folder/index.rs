//! The list of a folder's own files.

use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Name of the list in its folder.
pub const INDEX: &str = ".tilewright";

const HEADER: &str = "# Files that Tilewright wrote. It replaces them only while they have these hashes, which\n\
                      # `sha256sum -c .tilewright` compares.\n";
const SEAL: &[u8] = b"# sha256:";
/// More than any list: what is larger is something else.
const MOST_BYTES: u64 = 16 << 20;

/// A SHA-256.
pub type Hash = [u8; 32];

/// The hash of some bytes.
pub fn hash_of(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// The hash of a file's content.
pub fn hash_of_file(path: &Path) -> io::Result<Hash> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(digest.finalize().into()),
            Ok(count) => digest.update(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The hashes that files may have, by name with `/` between folders. Several only while files are being replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index(BTreeMap<Vec<u8>, BTreeSet<Hash>>);

impl Index {
    /// Reads a list; `None` for anything that is not one, or not as it was written.
    pub fn read(path: &Path) -> Option<Index> {
        Index::parse(&bytes(path)?)
    }

    fn parse(bytes: &[u8]) -> Option<Index> {
        let list = bytes.strip_suffix(b"\n")?;
        let end = list.iter().rposition(|byte| *byte == b'\n')? + 1;
        let (list, seal) = list.split_at(end);
        if seal.strip_prefix(SEAL)? != hex(&hash_of(list)).as_bytes() {
            return None;
        }
        let mut index = Index::default();
        for line in list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && line[0] != b'#') {
            let escaped = line.strip_prefix(b"\\");
            let line = escaped.unwrap_or(line);
            let (hash, name) = (line.get(..64)?, line.get(64..)?.strip_prefix(b"  ")?);
            let name = if escaped.is_some() { unescape(name)? } else { name.to_vec() };
            index.0.entry(name).or_default().insert(from_hex(hash)?);
        }
        Some(index)
    }

    /// The list as text.
    pub fn text(&self) -> Vec<u8> {
        let mut text = HEADER.as_bytes().to_vec();
        for (name, hash) in self.0.iter().flat_map(|(name, all)| all.iter().map(move |hash| (name, hash))) {
            let escaped = escape(name);
            if escaped != *name {
                text.push(b'\\');
            }
            text.extend(hex(hash).bytes().chain(*b"  ").chain(escaped).chain(*b"\n"));
        }
        let seal = hex(&hash_of(&text));
        text.extend(SEAL.iter().copied().chain(seal.into_bytes()).chain(*b"\n"));
        text
    }

    /// Whether a file may have this hash; `None` where the list does not have the file.
    pub fn knows(&self, name: &Path, hash: &Hash) -> Option<bool> {
        self.0.get(&key(name)).map(|hashes| hashes.contains(hash))
    }

    /// Allows a file one more hash.
    pub fn add(&mut self, name: &Path, hash: Hash) {
        self.0.entry(key(name)).or_default().insert(hash);
    }

    /// Allows a file this hash only.
    pub fn set(&mut self, name: &Path, hash: Hash) {
        self.0.insert(key(name), BTreeSet::from([hash]));
    }
}

/// Whether a file begins as lists do: then it was one, and was changed.
pub fn claims_to_be(path: &Path) -> bool {
    bytes(path).is_some_and(|bytes| bytes.starts_with(HEADER.as_bytes()))
}

fn bytes(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn key(name: &Path) -> Vec<u8> {
    let parts: Vec<&[u8]> = name.components().map(|part| part.as_os_str().as_encoded_bytes()).collect();
    parts.join(&b'/')
}

/// As `sha256sum` does: a line that begins with `\` has a name with these.
fn escape(name: &[u8]) -> Vec<u8> {
    let letter = |byte: &u8| match byte {
        b'\\' => b"\\\\".to_vec(),
        b'\n' => b"\\n".to_vec(),
        b'\r' => b"\\r".to_vec(),
        other => vec![*other],
    };
    name.iter().flat_map(letter).collect()
}

fn unescape(name: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    let mut letters = name.iter();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            b'\\' => match letters.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                b'r' => b'\r',
                _ => return None,
            },
            other => *other,
        });
    }
    Some(plain)
}

fn hex(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &[u8]) -> Option<Hash> {
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(text.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    (text == hex(&hash).as_bytes()).then_some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back_and_changed_ones_are_none() {
        let mut index = Index::default();
        for (name, text) in [("a.c", "1"), ("a.c", "2"), ("include/b.h", ""), ("odd\\ \nname", "3")] {
            index.add(Path::new(name), hash_of(text.as_bytes()));
        }
        let text = index.text();
        assert_eq!(Index::parse(&text), Some(index.clone()));
        for at in 0..text.len() {
            let mut changed = text.clone();
            changed[at] ^= 1;
            assert_eq!(Index::parse(&changed), None, "byte {at}");
            assert_eq!(Index::parse(&text[..at]), None, "first {at} bytes");
        }
        index.set(Path::new("a.c"), hash_of(b"2"));
        assert_eq!(index.knows(Path::new("a.c"), &hash_of(b"1")), Some(false));
        assert_eq!(index.knows(Path::new("a.c"), &hash_of(b"2")), Some(true));
        assert_eq!(index.knows(Path::new("b.h"), &hash_of(b"")), None);
    }
}
