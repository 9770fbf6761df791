//! From the preprocessor's output back to the user's file.
//!
//! Line markers give the line. Within a line, the tokens of the output are aligned with those of the file (longest
//! common subsequence): what both have is the same token; what only the output has was made by the macros that only
//! the file has, and is traced to them.

use super::lexer::{self, Token};
use polyhedral::source::Span;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;

/// A line of the user's file or of a header of the user's, as the preprocessor prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The line.
    pub text: Cow<'a, str>,
    /// Whether it comes from the user's file itself.
    pub main: bool,
    /// Its line in the user's file; for a header, the line that includes it.
    pub line: usize,
}

impl Piece<'_> {
    /// Whether it is a directive that the preprocessor leaves to the compiler, or reports.
    fn is_directive(&self) -> bool {
        self.text.trim_start().starts_with('#')
    }
}

/// What the preprocessor printed, without the system's headers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expanded<'a> {
    /// The lines of the user's file and of the user's headers.
    pub pieces: Vec<Piece<'a>>,
    /// The user's headers, each once.
    pub headers: Vec<PathBuf>,
    /// The macros that are defined anywhere, in headers of the system, too.
    pub macros: HashSet<String>,
}

/// A line marker: `# line "file" flags`.
pub struct Marker {
    line: usize,
    file: Vec<u8>,
    /// Whether a file begins behind it.
    enters: bool,
    /// Whether a file ends before it, and the one that it names goes on.
    returns: bool,
    /// Whether what follows is a header of the system, or a macro that is defined in one.
    system: bool,
}

impl Marker {
    /// Whether it names something that is no file, such as `<command-line>`.
    fn is_built_in(&self) -> bool {
        self.file.starts_with(b"<")
    }
}

/// The marker that a line is.
pub fn marker(line: &str) -> Option<Marker> {
    let rest = line.strip_prefix("# ").or_else(|| line.strip_prefix("#line "))?;
    let (number, rest) = rest.split_once(' ')?;
    let line = number.parse().ok()?;
    let bytes = rest.strip_prefix('"')?.as_bytes();
    let (mut file, mut at) = (Vec::new(), 0);
    loop {
        match bytes.get(at)? {
            b'"' => break,
            b'\\' => {
                // Other letters than those of ASCII are octal numbers.
                let digits: Vec<u32> =
                    bytes[at + 1..].iter().take(3).map_while(|byte| char::from(*byte).to_digit(8)).collect();
                if let [a, b, c] = digits[..] {
                    file.push(u8::try_from(64 * a + 8 * b + c).ok()?);
                    at += 4;
                } else {
                    file.push(if bytes.get(at + 1)? == &b'n' { b'\n' } else { bytes[at + 1] });
                    at += 2;
                }
            }
            byte => {
                file.push(*byte);
                at += 1;
            }
        }
    }
    let flags: Vec<&[u8]> = bytes[at + 1..].split(|byte| *byte == b' ').collect();
    let has = |flag: &[u8]| flags.contains(&flag);
    Some(Marker { line, file, enters: has(b"1"), returns: has(b"2"), system: has(b"3") })
}

/// A file that is being read.
struct Open {
    /// Whether it is the system's. Decided where the file begins: later markers say "system" of a macro's
    /// expansion, too.
    system: bool,
    line: usize,
}

/// The files that are being read, the innermost last. The first is the user's, which no other one includes.
pub struct Files {
    innermost: Open,
    around: Vec<Open>,
}

impl Files {
    /// Before the first line.
    pub fn new() -> Files {
        Files { innermost: Open { system: false, line: 1 }, around: Vec::new() }
    }

    /// How many there are.
    fn depth(&self) -> usize {
        self.around.len() + 1
    }

    /// Whether lines come from a header of the system.
    pub fn is_system(&self) -> bool {
        self.innermost.system
    }

    /// Goes on behind a marker.
    pub fn pass(&mut self, marker: &Marker) {
        let line = marker.line.max(1);
        if marker.enters {
            let system = marker.system || marker.is_built_in();
            self.around.push(std::mem::replace(&mut self.innermost, Open { system, line }));
        } else if let Some(includer) = self.around.pop_if(|_| marker.returns) {
            self.innermost = includer;
        }
        self.innermost.line = line;
        if self.around.is_empty() {
            self.innermost.system = marker.is_built_in();
        }
    }
}

/// Takes apart what the preprocessor prints: its line markers say which file each line comes from.
pub fn expanded(text: &str) -> Expanded<'_> {
    let mut result = Expanded::default();
    let mut files = Files::new();
    // The first piece of the header that the user's file includes at this point.
    let mut header = 0;
    // Of the last piece: how many files were open, and its line in the innermost one.
    let mut last = (0, 0);
    for text in text.lines() {
        let before = files.depth();
        if let Some(marker) = marker(text) {
            files.pass(&marker);
            let depth = files.depth();
            if depth > before {
                if before == 1 {
                    header = result.pieces.len();
                }
                if !files.is_system() {
                    let path = path_of(&marker.file);
                    if !result.headers.contains(&path) {
                        result.headers.push(path);
                    }
                }
            } else if depth < before && depth == 1 {
                let includer = files.innermost.line.saturating_sub(1).max(1);
                result.pieces[header..].iter_mut().for_each(|piece| piece.line = includer);
            }
            if depth != before {
                last = (0, 0);
            }
            continue;
        }
        let (depth, own) = (before, &mut files.innermost);
        if let Some(name) = defined(text) {
            result.macros.insert(name.to_owned());
        } else if !own.system && !text.trim().is_empty() {
            let piece = Piece { text: Cow::Borrowed(text), main: depth == 1, line: own.line };
            match result.pieces.last_mut() {
                // The markers around the expansion of a macro take a line apart.
                Some(piece_before)
                    if last == (depth, own.line) && !piece_before.is_directive() && !piece.is_directive() =>
                {
                    let line = piece_before.text.to_mut();
                    line.push(' ');
                    line.push_str(text);
                }
                _ => result.pieces.push(piece),
            }
            last = (depth, own.line);
        }
        own.line += 1;
    }
    result
}

/// The name that a line of `-dD` defines, or takes the definition from.
fn defined(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("#define ").or_else(|| line.strip_prefix("#undef "))?;
    let end = rest.find(|letter: char| letter == '(' || letter.is_whitespace()).unwrap_or(rest.len());
    Some(&rest[..end])
}

fn path_of(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    return PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes));
    #[cfg(not(unix))]
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
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
    /// What the places of each block of [`BLOCK`] tokens span: a sum of many terms has as many parts that reach to its end.
    blocks: Vec<Span>,
}

/// Tokens of a block.
const BLOCK: usize = 128;

/// The span that holds two others.
fn around(one: &Span, other: &Span) -> Span {
    one.start.min(other.start)..one.end.max(other.end)
}

impl Origin {
    /// Adds the tokens of a part of another text, which is copied to this offset.
    pub(super) fn copied(&mut self, other: &Origin, part: std::ops::Range<usize>, to: usize) {
        let first = other.tokens.partition_point(|token| token.0 < part.start);
        for (start, end, place) in other.tokens[first..].iter().take_while(|token| token.1 <= part.end) {
            self.push(start - part.start + to, end - part.start + to, place.clone());
        }
    }

    /// Adds the token behind all others.
    pub(super) fn push(&mut self, start: usize, end: usize, place: Span) {
        match self.blocks.last_mut() {
            Some(block) if !self.tokens.len().is_multiple_of(BLOCK) => *block = around(block, &place),
            _ => self.blocks.push(place.clone()),
        }
        self.tokens.push((start, end, place));
    }

    /// What the places of these tokens span: whole blocks, and the tokens before and behind them.
    fn hull(&self, first: usize, last: usize) -> Option<Span> {
        let (from, to) = (first.div_ceil(BLOCK), last / BLOCK);
        let places = |range: std::ops::Range<usize>| {
            self.tokens.get(range).unwrap_or_default().iter().map(|token| &token.2)
        };
        let (before, blocks, behind) = if from < to {
            (first..from * BLOCK, &self.blocks[from..to], to * BLOCK..last)
        } else {
            (first..last, &[][..], 0..0)
        };
        let all = places(before).chain(blocks).chain(places(behind));
        all.fold(None, |hull: Option<Span>, place| {
            Some(hull.map_or_else(|| place.clone(), |hull| around(&hull, place)))
        })
    }

    /// The place in the user's file of a part of the preprocessed text.
    pub fn span(&self, part: std::ops::Range<usize>) -> Span {
        let first = self.tokens.partition_point(|token| token.1 <= part.start);
        let last = self.tokens.partition_point(|token| token.0 < part.end);
        let Some((_, _, start)) = self.tokens.get(first.min(self.tokens.len().saturating_sub(1))) else {
            return 0..0;
        };
        let hull = self.hull(first, last).unwrap_or_else(|| start.clone());
        hull.start..hull.end.max(hull.start)
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
        let tokens = lexer::tokens(&piece.text);
        let places = if piece.main { self.align(piece, &tokens) } else { None };
        let whole = line_span(self.text, self.lines, piece.line);
        for (number, token) in tokens.iter().enumerate() {
            let place = places.as_ref().map_or_else(|| whole.clone(), |places| places[number].clone());
            let moved = start + length * added.iter().take_while(|at| **at <= token.start).count();
            self.origin.push(moved + token.start, moved + token.end, place);
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
        let mut matches = matching(self.text, original, &piece.text, tokens);
        if matches.is_none() {
            original = &self.original[first..first + on_line];
            matches = matching(self.text, original, &piece.text, tokens);
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
    use super::Origin;
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

    #[test]
    fn macros_of_the_system_belong_to_the_file_that_uses_them() {
        // As gcc marks them; clang leaves them on their line.
        let text = "#include <math.h>\n#include \"u.h\"\n#include \"\u{e9}.h\"\nvoid f() {\n  x = 2 * (M_PI - i) + i;\n  \
                    y = isnan(a\n    + b);\n}\n";
        let expanded = "# 0 \"u.c\"\n# 0 \"<built-in>\"\n# 0 \"<command-line>\"\n# 1 \"/usr/include/stdc-predef.h\" 1 3 4\n\
                        # 0 \"<command-line>\" 2\n#define N 5\n# 1 \"u.c\"\n# 1 \"/usr/include/math.h\" 1 3 4\nint sin();\n# 30 \"/usr/include/math.h\" 3 4\n\
                        #define M_PI 3.14\nint cos();\n# 2 \"u.c\" 2\n# 1 \"u.h\" 1\nint v =\n# 1 \"u.h\" 3 4\n   3.14\n# 1 \"u.h\"\n   ;\n\
                        # 1 \"/usr/include/more.h\" 1 3 4\nint no;\n# 3 \"u.h\" 2\n# 3 \"u.c\" 2\n# 1 \"\\303\\251.h\" 1\n\
                        # 2 \"\\303\\251.h\" 3\nint from_marked;\n# 4 \"u.c\" 2\n\n# 4 \"u.c\"\nvoid f() {\n  x = 2 * (\n\
                        # 5 \"u.c\" 3 4\n   3.14\n# 5 \"u.c\"\n   - i) + i;\n  y =\n# 6 \"u.c\" 3 4\n   isn(\n# 6 \"u.c\"\n   a + b\n\
                        # 6 \"u.c\" 3 4\n   )\n  \n# 7 \"u.c\"\n   ;\n}\n";
        let source = Arc::new(SourceFile { name: "u.c".to_owned(), text: text.to_owned() });
        let traced = trace(source, false, expanded).unwrap();
        let words: Vec<&str> = traced.text.split_whitespace().collect();
        let wanted =
            "int v = 3.14 ; int from_marked; void f() { x = 2 * ( 3.14 - i) + i; y = isn( a + b ) ; }";
        assert_eq!(words.join(" "), wanted);
        let place = |part: &str| {
            let at = traced.text.find(part).unwrap();
            &text[traced.origin.span(at..at + part.len())]
        };
        let pi = traced.text.rfind("3.14").unwrap();
        assert_eq!(&text[traced.origin.span(pi..pi + 4)], "M_PI");
        assert_eq!(place("- i) + i"), "- i) + i");
        assert_eq!((place("isn("), place("a + b")), ("isnan(", "a\n    + b"));
        assert_eq!(place("from_marked"), "#include \"\u{e9}.h\"");
        assert_eq!(traced.headers, ["u.h", "\u{e9}.h"].map(std::path::PathBuf::from));
        assert!(traced.macros.contains("N") && traced.macros.contains("M_PI"));
    }

    /// Whole blocks and single tokens give what all tokens give.
    #[test]
    fn blocks_of_tokens_span_what_their_tokens_span() {
        let mut origin = Origin::default();
        for at in 0..500_usize {
            let place = at * 7919 % 1000;
            origin.push(at * 2, at * 2 + 1, place..place + at % 5);
        }
        for first in (0..500).step_by(13) {
            for last in (0..=500).step_by(31) {
                let within = origin.tokens.get(first..last).unwrap_or_default();
                let low = within.iter().map(|token| token.2.start).min();
                let high = within.iter().map(|token| token.2.end).max();
                assert_eq!(origin.hull(first, last), low.zip(high).map(|(low, high)| low..high));
            }
        }
    }
}
