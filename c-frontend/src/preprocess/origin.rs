//! From the preprocessor's output back to the user's file.
//!
//! Line markers give the line. Within a line, the tokens of the output are aligned with those of the file (longest
//! common subsequence): what both have is the same token; what only the output has was made by the macros that only
//! the file has, and is traced to them.

use super::lexer::{self, Token};
use polyhedral::source::Span;
use std::path::PathBuf;

/// One line of the preprocessor's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The line.
    pub text: &'a str,
    /// Whether it comes from the user's file itself.
    pub main: bool,
    /// Its line in the user's file; for a header, the line that includes it.
    pub line: usize,
}

/// A line marker: `# line "file" flags`.
struct Marker {
    line: usize,
    file: String,
    /// Whether a file ends before it.
    returns: bool,
    /// Whether the file is a header of the system.
    system: bool,
}

fn marker(line: &str) -> Option<Marker> {
    let rest = line.strip_prefix("# ").or_else(|| line.strip_prefix("#line "))?;
    let (number, rest) = rest.split_once(' ')?;
    let line = number.parse().ok()?;
    let rest = rest.strip_prefix('"')?;
    let mut file = String::new();
    let mut letters = rest.char_indices();
    let end = loop {
        match letters.next()? {
            (at, '"') => break at,
            (_, '\\') => file.push(letters.next()?.1),
            (_, letter) => file.push(letter),
        }
    };
    let flags: Vec<&str> = rest[end + 1..].split_whitespace().collect();
    Some(Marker { line, file, returns: flags.contains(&"2"), system: flags.contains(&"3") })
}

fn same_file(a: &str, b: &str) -> bool {
    a.strip_prefix("./").unwrap_or(a) == b.strip_prefix("./").unwrap_or(b)
}

/// The lines that come from the user's file and headers.
pub fn pieces<'a>(expanded: &'a str, name: &str) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let (mut main, mut system, mut line) = (true, false, 1);
    // The first piece of the header that is being read.
    let mut header = 0;
    for text in expanded.lines() {
        if let Some(marker) = marker(text) {
            let was_main = main;
            main = same_file(&marker.file, name);
            system = marker.system || marker.file.starts_with('<');
            if main {
                if !was_main && marker.returns {
                    let includer = marker.line.saturating_sub(1).max(1);
                    pieces[header..].iter_mut().for_each(|piece| piece.line = includer);
                }
                line = marker.line.max(1);
            } else if was_main {
                header = pieces.len();
            }
            continue;
        }
        if !system && !text.trim().is_empty() {
            pieces.push(Piece { text, main, line });
        }
        if main {
            line += 1;
        }
    }
    pieces
}

/// The user's headers, each once.
pub fn headers(expanded: &str, name: &str) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = Vec::new();
    for marker in expanded.lines().filter_map(marker) {
        let path = PathBuf::from(&marker.file);
        let own = !marker.system && !marker.file.starts_with('<') && !same_file(&marker.file, name);
        if own && !list.contains(&path) {
            list.push(path);
        }
    }
    list
}

/// Offsets at which the lines of a text start.
pub fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// A line, counted from 1, without the spaces around it.
pub fn line_span(text: &str, lines: &[usize], line: usize) -> Span {
    let Some(&start) = lines.get(line.saturating_sub(1)) else { return text.len()..text.len() };
    let end = lines.get(line).map_or(text.len(), |next| next - 1);
    let content = &text[start..end];
    let first = start + content.len() - content.trim_start().len();
    first..(first + content.trim().len())
}

/// Where the tokens of a preprocessed text come from.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// Start and end in the preprocessed text, and the place in the user's file; in order.
    tokens: Vec<(usize, usize, Span)>,
}

impl Origin {
    /// The place in the user's file of a part of the preprocessed text.
    pub fn span(&self, part: std::ops::Range<usize>) -> Span {
        let first = self.tokens.partition_point(|token| token.1 <= part.start);
        let last = self.tokens.partition_point(|token| token.0 < part.end);
        let Some((_, _, start)) = self.tokens.get(first.min(self.tokens.len().saturating_sub(1))) else {
            return 0..0;
        };
        let within = self.tokens.get(first..last).unwrap_or_default();
        let low = within.iter().map(|token| token.2.start).min().unwrap_or(start.start);
        let high = within.iter().map(|token| token.2.end).max().unwrap_or(start.end);
        low..high.max(low)
    }
}

/// Traces line after line.
pub struct Builder<'a> {
    text: &'a str,
    lines: &'a [usize],
    original: &'a [Token],
    origin: Origin,
}

impl<'a> Builder<'a> {
    /// For the user's file, its lines and its tokens.
    pub fn new(text: &'a str, lines: &'a [usize], original: &'a [Token]) -> Self {
        Builder { text, lines, original, origin: Origin::default() }
    }

    /// Traces a line that starts at this offset of the preprocessed text; at the given places of the line, text of
    /// this length is added.
    pub fn add(&mut self, start: usize, piece: &Piece<'_>, added: &[usize], length: usize) {
        let tokens = lexer::tokens(piece.text);
        let places = if piece.main { self.align(piece, &tokens) } else { None };
        let whole = line_span(self.text, self.lines, piece.line);
        for (number, token) in tokens.iter().enumerate() {
            let place = places.as_ref().map_or_else(|| whole.clone(), |places| places[number].clone());
            let moved = start + length * added.iter().take_while(|at| **at <= token.start).count();
            self.origin.tokens.push((moved + token.start, moved + token.end, place));
        }
    }

    /// The traced text.
    pub fn finish(self) -> Origin {
        self.origin
    }

    /// The place of each token of a line; `None` if the file has no tokens there.
    fn align(&self, piece: &Piece<'_>, tokens: &[Token]) -> Option<Vec<Span>> {
        let first = self.original.partition_point(|token| token.line < piece.line);
        // A macro's arguments may go over several lines, which the preprocessor joins.
        let on_line = self.original[first..].iter().take_while(|token| token.line == piece.line).count();
        if on_line == 0 {
            return None;
        }
        let mut count = on_line;
        let mut depth: i64 = 0;
        for (number, token) in self.original[first..].iter().enumerate() {
            if number >= on_line && depth <= 0 {
                break;
            }
            match &self.text[token.start..token.end] {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            count = count.max(number + 1);
        }
        let mut original = &self.original[first..first + count];
        let mut matches = matching(self.text, original, piece.text, tokens);
        if matches.is_none() {
            original = &self.original[first..first + on_line];
            matches = matching(self.text, original, piece.text, tokens);
        }
        let matches = matches?;
        // The tokens of the file that have no counterpart, between two that have.
        let mut places = Vec::with_capacity(tokens.len());
        for number in 0..tokens.len() {
            let place = match matches[number] {
                Some(at) => original[at].start..original[at].end,
                None => {
                    let before = matches[..number].iter().rev().flatten().next().map_or(0, |at| at + 1);
                    let after = matches[number..].iter().flatten().next().copied().unwrap_or(original.len());
                    match original.get(before..after) {
                        Some([first, .., last]) => first.start..last.end,
                        Some([only]) => only.start..only.end,
                        _ => {
                            let near = &original[before.min(original.len() - 1)];
                            near.start..near.end
                        }
                    }
                }
            };
            places.push(place);
        }
        Some(places)
    }
}

/// More pairs of tokens than this are not compared.
const MOST_PAIRS: usize = 1 << 20;

/// For each token of the output the same token of the file, by a longest common subsequence.
fn matching(text: &str, original: &[Token], output: &str, tokens: &[Token]) -> Option<Vec<Option<usize>>> {
    let (rows, columns) = (tokens.len(), original.len());
    if rows.checked_mul(columns)? > MOST_PAIRS {
        return None;
    }
    let equal = |row: usize, column: usize| {
        output[tokens[row].start..tokens[row].end] == text[original[column].start..original[column].end]
    };
    // Parentheses and commas are everywhere, and say least about where a token comes from.
    let weight = |row: usize| match &output[tokens[row].start..tokens[row].end] {
        "(" | ")" | "," => 1,
        _ => 3,
    };
    // length[r][c]: weight of the heaviest common subsequence of the rests from r and c on.
    let width = columns + 1;
    let mut length = vec![0_u32; (rows + 1) * width];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            length[row * width + column] = if equal(row, column) {
                length[(row + 1) * width + column + 1] + weight(row)
            } else {
                length[(row + 1) * width + column].max(length[row * width + column + 1])
            };
        }
    }
    let mut matches = vec![None; rows];
    let (mut row, mut column) = (0, 0);
    while row < rows && column < columns {
        if equal(row, column) {
            matches[row] = Some(column);
            row += 1;
            column += 1;
        } else if length[(row + 1) * width + column] >= length[row * width + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    Some(matches)
}

#[cfg(test)]
mod tests {
    use super::super::trace;
    use polyhedral::source::SourceFile;
    use std::sync::Arc;

    #[test]
    fn macros_are_traced_to_their_use() {
        let text = "#include \"r.h\"\nvoid f() {\n  a = SV(0.5) * N;\n  b = g(x,\n    y);\n#pragma scop\n}\n";
        let expanded = "# 0 \"u.c\"\n# 1 \"u.c\"\n# 1 \"r.h\" 1\nint q;\n# 2 \"u.c\" 2\nvoid f() {\n  \
                        a = 0.5f * (100 + 1);\n  b = g(x, y);\n\n#pragma scop\n}\n";
        let source = Arc::new(SourceFile { name: "u.c".to_owned(), text: text.to_owned() });
        let traced = trace(source, false, expanded).unwrap();
        let place = |part: &str| {
            let at = traced.text.find(part).unwrap();
            &text[traced.origin.span(at..at + part.len())]
        };
        assert_eq!(place("0.5f"), "SV(0.5)");
        assert_eq!(place("100 + 1"), "N");
        assert_eq!(place("a = 0.5f * (100 + 1)"), "a = SV(0.5) * N");
        assert_eq!(place("y"), "y");
        assert_eq!(place("int q"), "#include \"r.h\"");
        assert_eq!(traced.marks.len(), 1);
        assert_eq!(&text[traced.marks[0].span.clone()], "#pragma scop");
        assert_eq!(traced.headers, [std::path::PathBuf::from("r.h")]);
    }
}
