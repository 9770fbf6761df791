//! The protocol of Redis, version 2: a request is an array of texts, a reply one of five kinds, told apart by its first sign.
//!
//! ```text
//! *2\r\n$4\r\nHLEN\r\n$1\r\nk\r\n      HLEN k
//! :3\r\n                               3
//! ```

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Longest line of a reply that is no text of stated length.
const MOST_LINE: u64 = 1 << 16;
/// Longest text of a reply.
const MOST_TEXT: usize = 1 << 26;
/// Most parts of a reply.
const MOST_PARTS: usize = 1 << 20;
/// Arrays in arrays.
const MOST_DEPTH: usize = 4;

/// Why a request was not served.
#[derive(Debug)]
pub enum Fault {
    /// Nobody answers at the address.
    Unreachable(io::Error),
    /// The connection broke, or the answer took too long.
    Lost(io::Error),
    /// The server refuses, in its words.
    Refused(String),
    /// What answers is no Redis server.
    Foreign(String),
}

impl Fault {
    /// Whether it may be otherwise in a moment: a server that starts anew, or reads its file.
    pub fn may_pass(&self) -> bool {
        const PASSING: [&str; 5] = ["LOADING", "BUSY ", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"];
        match self {
            Fault::Unreachable(_) | Fault::Lost(_) => true,
            Fault::Refused(text) => PASSING.iter().any(|start| text.starts_with(start)),
            Fault::Foreign(_) => false,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unreachable(error) => write!(f, "nobody answers: {error}"),
            Fault::Lost(error) => write!(f, "the connection was lost: {error}"),
            Fault::Refused(text) => write!(f, "it says `{text}`"),
            Fault::Foreign(text) => write!(f, "what answers is no Redis server: {text}"),
        }
    }
}

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A word, such as `OK`.
    Word(String),
    /// A number.
    Number(i64),
    /// A text; `None` where there is none.
    Text(Option<Vec<u8>>),
    /// Several replies.
    Parts(Vec<Reply>),
}

/// A connection.
pub struct Link {
    reader: BufReader<TcpStream>,
}

impl Link {
    /// Connects.
    pub fn connect(host: &str, port: u16, patience: Duration) -> Result<Link, Fault> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in (host, port).to_socket_addrs().map_err(Fault::Unreachable)? {
            match TcpStream::connect_timeout(&address, patience) {
                Ok(stream) => {
                    let set = |stream: &TcpStream| {
                        stream.set_read_timeout(Some(patience))?;
                        stream.set_write_timeout(Some(patience))?;
                        stream.set_nodelay(true)
                    };
                    set(&stream).map_err(Fault::Lost)?;
                    return Ok(Link { reader: BufReader::new(stream) });
                }
                Err(error) => last = error,
            }
        }
        Err(Fault::Unreachable(last))
    }

    /// Asks, and waits for the reply.
    pub fn ask(&mut self, request: &[&[u8]]) -> Result<Reply, Fault> {
        let mut bytes = format!("*{}\r\n", request.len()).into_bytes();
        for part in request {
            bytes.extend(format!("${}\r\n", part.len()).as_bytes());
            bytes.extend(*part);
            bytes.extend(b"\r\n");
        }
        self.reader.get_mut().write_all(&bytes).map_err(Fault::Lost)?;
        reply(&mut self.reader, MOST_DEPTH)
    }
}

/// Reads a reply.
fn reply(reader: &mut impl BufRead, depth: usize) -> Result<Reply, Fault> {
    let line = line(reader)?;
    let foreign = || Fault::Foreign(format!("it begins a reply with `{}`", shown(&line)));
    let mut signs = line.chars();
    let kind = signs.next().ok_or_else(foreign)?;
    let rest = signs.as_str();
    let number = || rest.parse::<i64>().map_err(|_| foreign());
    let length = |most: usize| match number()? {
        -1 => Ok(None),
        length => usize::try_from(length).ok().filter(|length| *length <= most).map(Some).ok_or_else(foreign),
    };
    match kind {
        '+' => Ok(Reply::Word(rest.to_owned())),
        '-' => Err(Fault::Refused(shown(rest))),
        ':' => number().map(Reply::Number),
        '$' => {
            let Some(length) = length(MOST_TEXT)? else { return Ok(Reply::Text(None)) };
            let mut text = Vec::new();
            let wanted = length as u64 + 2;
            if reader.take(wanted).read_to_end(&mut text).map_err(Fault::Lost)? as u64 != wanted {
                return Err(Fault::Lost(io::ErrorKind::UnexpectedEof.into()));
            }
            if !text.ends_with(b"\r\n") {
                return Err(foreign());
            }
            text.truncate(length);
            Ok(Reply::Text(Some(text)))
        }
        '*' if depth > 0 => {
            let parts = length(MOST_PARTS)?.unwrap_or(0);
            (0..parts).map(|_| reply(reader, depth - 1)).collect::<Result<_, _>>().map(Reply::Parts)
        }
        _ => Err(foreign()),
    }
}

fn line(reader: &mut impl BufRead) -> Result<String, Fault> {
    let mut line = Vec::new();
    reader.take(MOST_LINE).read_until(b'\n', &mut line).map_err(Fault::Lost)?;
    if line.is_empty() {
        return Err(Fault::Lost(io::ErrorKind::UnexpectedEof.into()));
    }
    let text = String::from_utf8_lossy(&line).into_owned();
    match text.strip_suffix("\r\n") {
        Some(text) => Ok(text.to_owned()),
        None if line.ends_with(b"\n") || line.len() as u64 == MOST_LINE => {
            Err(Fault::Foreign(format!("it begins a reply with `{}`", shown(&text))))
        }
        None => Err(Fault::Lost(io::ErrorKind::UnexpectedEof.into())),
    }
}

/// As much of a text as a message takes.
fn shown(text: &str) -> String {
    text.trim_end().chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(mut bytes: &[u8]) -> Result<Reply, Fault> {
        reply(&mut bytes, MOST_DEPTH)
    }

    #[test]
    fn replies_are_read() {
        assert_eq!(of(b"+OK\r\n").unwrap(), Reply::Word("OK".to_owned()));
        assert_eq!(of(b":-3\r\n").unwrap(), Reply::Number(-3));
        assert_eq!(of(b"$-1\r\n").unwrap(), Reply::Text(None));
        let text = |text: &[u8]| Reply::Text(Some(text.to_vec()));
        assert_eq!(of(b"$4\r\na\r\nb\r\n").unwrap(), text(b"a\r\nb"));
        let parts = Reply::Parts(vec![text(b"0"), Reply::Parts(vec![text(b"f"), text(b"")])]);
        assert_eq!(of(b"*2\r\n$1\r\n0\r\n*2\r\n$1\r\nf\r\n$0\r\n\r\n").unwrap(), parts);
        assert!(matches!(of(b"-NOAUTH no\r\n"), Err(Fault::Refused(text)) if text == "NOAUTH no"));
        assert!(
            of(b"-LOADING it\r\n").unwrap_err().may_pass() && !of(b"-ERR it\r\n").unwrap_err().may_pass()
        );
        for lost in ["", "+O", "$4\r\nab", "*2\r\n:1\r\n"] {
            assert!(matches!(of(lost.as_bytes()), Err(Fault::Lost(_))), "{lost:?}");
        }
        for foreign in
            ["HTTP/1.1 400 Bad Request\r\n", "+\n", "$9999999999\r\n", "$1\r\nabc", "*9999999\r\n", "\r\n"]
        {
            assert!(matches!(of(foreign.as_bytes()), Err(Fault::Foreign(_))), "{foreign:?}");
        }
        assert!(matches!(of("*1\r\n".repeat(9).as_bytes()), Err(Fault::Foreign(_))));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn any_bytes_are_a_reply_or_a_fault(bytes in "([+$*:-]?[0-9a\r\n-]{0,6}(\r\n)?){0,6}") {
            let _ = of(bytes.as_bytes());
        }
    }
}
