//! Tokens of C, only as exact as tracing needs: comments, directives and spliced lines are left out.

/// A token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Offset of its first byte.
    pub start: usize,
    /// Offset behind it.
    pub end: usize,
    /// Line, from 1.
    pub line: usize,
}

/// All tokens of a text in order.
pub fn tokens(text: &str) -> Vec<Token> {
    scan(text).0
}

/// The directives of a text: from the `#` to the end.
pub fn directives(text: &str) -> Vec<std::ops::Range<usize>> {
    scan(text).1
}

fn scan(text: &str) -> (Vec<Token>, Vec<std::ops::Range<usize>>) {
    let mut directives = Vec::new();
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut line, mut fresh) = (0, 1, true);
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'\n' => {
                line += 1;
                fresh = true;
                at += 1;
            }
            b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' => at += 1,
            b'\\' if next_line(bytes, at).is_some() => {
                at = next_line(bytes, at).unwrap_or(at + 1);
                line += 1;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => at = end_of_line(bytes, at, &mut line),
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += 2;
                while at < bytes.len() && !bytes[at..].starts_with(b"*/") {
                    line += usize::from(bytes[at] == b'\n');
                    at += 1;
                }
                at = (at + 2).min(bytes.len());
            }
            b'#' if fresh => {
                let end = end_of_directive(bytes, at, &mut line);
                directives.push(at..end);
                at = end;
            }
            _ => {
                fresh = false;
                let end = token_end(text, at);
                tokens.push(Token { start: at, end, line });
                line += bytes[at..end].iter().filter(|byte| **byte == b'\n').count();
                at = end;
            }
        }
    }
    (tokens, directives)
}

/// Where the next line starts, if a backslash joins it to this one.
fn next_line(bytes: &[u8], at: usize) -> Option<usize> {
    match (bytes.get(at + 1), bytes.get(at + 2)) {
        (Some(b'\n'), _) => Some(at + 2),
        (Some(b'\r'), Some(b'\n')) => Some(at + 3),
        _ => None,
    }
}

/// The end of a line and of those joined to it.
fn end_of_line(bytes: &[u8], mut at: usize, line: &mut usize) -> usize {
    while at < bytes.len() && bytes[at] != b'\n' {
        if bytes[at] == b'\\' && next_line(bytes, at).is_some() {
            at = next_line(bytes, at).unwrap_or(at + 1);
            *line += 1;
        } else {
            at += 1;
        }
    }
    at
}

/// The end of a directive, which block comments may carry over the end of its line.
fn end_of_directive(bytes: &[u8], mut at: usize, line: &mut usize) -> usize {
    while at < bytes.len() && bytes[at] != b'\n' {
        if bytes[at..].starts_with(b"/*") {
            at += 2;
            while at < bytes.len() && !bytes[at..].starts_with(b"*/") {
                *line += usize::from(bytes[at] == b'\n');
                at += 1;
            }
            at = (at + 2).min(bytes.len());
        } else if bytes[at..].starts_with(b"//") {
            return end_of_line(bytes, at, line);
        } else if bytes[at] == b'\\' && next_line(bytes, at).is_some() {
            at = next_line(bytes, at).unwrap_or(at + 1);
            *line += 1;
        } else {
            at += 1;
        }
    }
    at
}

/// The end of the token that starts here; at least one character.
fn token_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80;
    let first = bytes[start];
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = start;
    if first.is_ascii_digit() || (first == b'.' && digit(start + 1)) {
        while at < bytes.len() && (word(bytes[at]) || bytes[at] == b'.') {
            let exponent = matches!(bytes[at], b'e' | b'E' | b'p' | b'P');
            at += 1;
            // A sign belongs to an exponent; a hexadecimal `e` is no exponent, and never stands before a sign here.
            if exponent && matches!(bytes.get(at), Some(b'+' | b'-')) {
                at += 1;
            }
        }
        return at;
    }
    if word(first) {
        while at < bytes.len() && word(bytes[at]) {
            at += 1;
        }
        return at;
    }
    if first == b'"' || first == b'\'' {
        at += 1;
        while at < bytes.len() && bytes[at] != first && bytes[at] != b'\n' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        // Not into the middle of a character.
        at = (at + 1).min(bytes.len());
        while !text.is_char_boundary(at) {
            at += 1;
        }
        return at;
    }
    for length in [3, 2] {
        let Some(part) = text.get(start..start + length) else { continue };
        let known = [
            "<<=", ">>=", "...", "++", "--", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
            "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##", "<:", ":>", "<%", "%>",
        ];
        if known.contains(&part) {
            return start + length;
        }
    }
    start + 1
}

/// The words of a pragma; `None` for other lines.
pub fn pragma(line: &str) -> Option<Vec<&str>> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("pragma")?;
    Some(rest.split_whitespace().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_directives_and_numbers() {
        let text = "#define X \\\n 1 /* a\n */ 2\na /* b */ += 1.5e-3f; // c\n\"x\\\"y\" 0x1p-2 'q'";
        let found: Vec<(&str, usize)> =
            tokens(text).iter().map(|token| (&text[token.start..token.end], token.line)).collect();
        let wanted =
            [("a", 4), ("+=", 4), ("1.5e-3f", 4), (";", 4), ("\"x\\\"y\"", 5), ("0x1p-2", 5), ("'q'", 5)];
        assert_eq!(found, wanted);
    }
}
