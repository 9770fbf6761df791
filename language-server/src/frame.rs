//! Messages on a stream: a header with the length, an empty line, a JSON text.

use serde::Serialize;
use std::io::{self, BufRead, Read, Write};

/// A body that is longer is refused: a header must not decide how much memory is taken. A document has 1 MiB at most, and
/// JSON may write each of its bytes as six.
const MOST_BYTES: usize = 16 << 20;

/// A header line that is longer is no header.
const MOST_HEADER_BYTES: u64 = 1024;

/// The next message's text; `None` at the end of the stream.
///
/// # Errors
/// Where the stream ends within a message, or what comes is no message: nobody knows then where the next one begins.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    let mut first = true;
    loop {
        let mut line = Vec::new();
        input.by_ref().take(MOST_HEADER_BYTES).read_until(b'\n', &mut line)?;
        if line.is_empty() && first {
            return Ok(None);
        }
        first = false;
        let text = std::str::from_utf8(&line).ok().and_then(|line| line.strip_suffix('\n'));
        let text =
            text.map(|line| line.trim_end_matches('\r')).ok_or_else(|| wrong("a header without its end"))?;
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(':').ok_or_else(|| wrong("a header without a colon"))?;
        if name.eq_ignore_ascii_case("Content-Length") {
            let value = value.trim().parse().ok().filter(|&value| value <= MOST_BYTES);
            length = Some(value.ok_or_else(|| wrong("a length that is no number or beyond 16 MiB"))?);
        }
    }
    let mut body = vec![0; length.ok_or_else(|| wrong("a message without its length"))?];
    input.read_exact(&mut body)?;
    Ok(Some(body))
}

/// Writes a message.
///
/// # Errors
/// Where the stream cannot be written.
pub(crate) fn write(output: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    #[derive(Serialize)]
    struct Versioned<'a, M: Serialize> {
        jsonrpc: &'static str,
        #[serde(flatten)]
        message: &'a M,
    }
    let body = serde_json::to_vec(&Versioned { jsonrpc: "2.0", message })?;
    write!(output, "Content-Length: {}\r\n\r\n", body.len())?;
    output.write_all(&body)?;
    output.flush()
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not the Language Server Protocol: {what}"))
}
