//! Stage 1: the system's C preprocessor and its checks, with every token traced back to the user's own file.

mod compiler;
mod cut;
mod edited;
mod kept;
pub(crate) mod lexer;
mod limits;
mod origin;
mod parentheses;
mod pragmas;
mod shortened;
mod spelling;
mod surroundings;

pub use compiler::Options;
pub use cut::check_cut;
pub use edited::Replaced;
pub use limits::{MOST_BYTES, MOST_EXPANDED_BYTES};
pub use origin::Origin;
pub use pragmas::OwnPragmas;

use crate::codes;
use compiler::Message;
pub(crate) use lexer::tokens;
use parentheses::Parentheses;
pub(crate) use parentheses::{MARK, PARENTHESIS};
use polyhedral::diagnostic::{Diagnostic, Diagnostics};
use polyhedral::source::{SourceFile, Span};
use safe_io::input;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A preprocessed program.
#[derive(Debug, Clone)]
pub struct Preprocessed {
    /// The user's file.
    pub source: Arc<SourceFile>,
    /// Whether the file was Latin-1 text, not UTF-8.
    pub latin1: bool,
    /// What the preprocessor made of it and of the user's headers; without pragmas and the system's headers.
    pub text: String,
    /// Where each token of `text` comes from.
    pub origin: Origin,
    /// Places of `#pragma scop` and `#pragma endscop` in `text`, in order.
    pub marks: Vec<Mark>,
    /// The user's headers that were read, in order, each once.
    pub headers: Vec<PathBuf>,
    /// Every macro that is defined in it or in a header, also in those of the system.
    pub macros: HashSet<String>,
    /// What becomes of the OpenMP pragmas of the user's files.
    pub own_pragmas: OwnPragmas,
    /// Parts of the user's file that are written otherwise in the rewritten program, in order.
    pub source_edits: Vec<(Span, String)>,
    /// Names that these give, of which names.
    pub names_given: HashMap<String, String>,
}

/// A `#pragma scop` or `#pragma endscop`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Whether a region begins or ends here.
    pub begins: bool,
    /// Offset in the preprocessed text.
    pub offset: usize,
    /// Its place in the user's file.
    pub span: Span,
}

/// Reads a C file, preprocesses it, and lets the C compiler check it.
///
/// # Errors
/// A file that cannot be read is an `std::io::Error`; one that the compiler refuses is a list of diagnostics.
pub fn preprocess(path: &Path, options: &Options) -> std::io::Result<Result<Preprocessed, Diagnostics>> {
    // One byte too many shows that the file is too large, at its own place among the diagnostics.
    let mut bytes = Vec::new();
    input::open(path)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    let latin1 = std::str::from_utf8(&bytes).is_err();
    let name = path.display().to_string();
    let source = Arc::new(SourceFile { name: name.clone(), text: decode(&bytes) });
    let refuse = |diagnostic| Ok(Err(Diagnostics::new(Arc::clone(&source), vec![diagnostic])));
    if bytes.len() > MOST_BYTES {
        let message = format!("the file has more than {} MiB", MOST_BYTES >> 20);
        return refuse(Diagnostic::limitation(codes::UNREADABLE, 0..0, message));
    }
    let expanded = match compiler::expand(path, options) {
        Ok(expanded) => expanded,
        Err(compiler::Failure::NoCompiler(reason)) => {
            let hint = "install gcc or clang, or name a compiler with the environment variable CC";
            return refuse(Diagnostic::error(codes::NO_COMPILER, 0..0, reason).hint(hint));
        }
        Err(compiler::Failure::TooMuch(reason)) => {
            return refuse(Diagnostic::limitation(codes::UNREADABLE, 0..0, reason));
        }
        Err(compiler::Failure::Messages(messages)) => {
            let list = messages.iter().map(|message| from_compiler(message, &name, &source)).collect();
            return Ok(Err(Diagnostics::new(Arc::clone(&source), list)));
        }
    };
    Ok(trace(source, latin1, &decode_lines(&expanded, latin1)))
}

/// The traced text of what a preprocessor printed.
///
/// # Errors
/// A text that is too large.
pub fn trace(source: Arc<SourceFile>, latin1: bool, expanded: &str) -> Result<Preprocessed, Diagnostics> {
    let origin::Expanded { pieces, headers, macros } = origin::expanded(expanded);
    let length: usize = pieces.iter().map(|piece| piece.text.len() + 1).sum();
    if length > MOST_EXPANDED_BYTES {
        let message = format!("the preprocessed file has more than {} MiB", MOST_EXPANDED_BYTES >> 20);
        return Err(Diagnostics::new(source, vec![Diagnostic::limitation(codes::UNREADABLE, 0..0, message)]));
    }
    let original = lexer::tokens(&source.text);
    let lines = origin::line_starts(&source.text);
    if let Some(diagnostic) = surroundings::refuse(&source.text, &lines, &pieces) {
        return Err(Diagnostics::new(source, vec![diagnostic]));
    }
    let (mut text, mut marks) = (String::with_capacity(length), Vec::new());
    let mut builder = origin::Builder::new(&source.text, &lines, &original);
    let mut parentheses = Parentheses::new(&pieces);
    for piece in &pieces {
        let start = text.len();
        match lexer::pragma(&piece.text) {
            Some(words) => {
                let begins = words == ["scop"];
                if piece.main && (begins || words == ["endscop"]) {
                    let span = origin::line_span(&source.text, &lines, piece.line);
                    marks.push(Mark { begins, offset: start, span });
                }
            }
            None => {
                let marked = parentheses.ambiguous(&piece.text);
                builder.add(start, piece, &marked, PARENTHESIS.len());
                let line = spelling::usual(&piece.text);
                let mut from = 0;
                for at in marked {
                    text.push_str(&line[from..at]);
                    text.push_str(PARENTHESIS);
                    from = at;
                }
                text.push_str(&line[from..]);
            }
        }
        text.push('\n');
    }
    let origin = builder.finish();
    Ok(Preprocessed {
        source,
        latin1,
        text,
        origin,
        marks,
        headers,
        macros,
        own_pragmas: OwnPragmas::None,
        source_edits: Vec::new(),
        names_given: HashMap::new(),
    })
}

/// The words and names in a C text.
pub(crate) fn words(text: &str) -> HashSet<&str> {
    lexer::tokens(text).iter().map(|token| &text[token.start..token.end]).collect()
}

/// Text, UTF-8 or else Latin-1.
fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// The preprocessor's output: the lines of the user's file are read as the file itself is, whatever headers hold.
fn decode_lines(bytes: &[u8], latin1: bool) -> String {
    if latin1 {
        return bytes.iter().map(|&byte| char::from(byte)).collect();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.split_inclusive(|byte| *byte == b'\n').map(decode).collect(),
    }
}

/// What the compiler said, at its place.
fn from_compiler(message: &Message, name: &str, source: &SourceFile) -> Diagnostic {
    let lines = origin::line_starts(&source.text);
    let place = |line: usize, column: usize| {
        let whole = origin::line_span(&source.text, &lines, line);
        let start = lines.get(line.saturating_sub(1)).copied().unwrap_or(source.text.len());
        let at = start + column.saturating_sub(1);
        if at < whole.start || at >= whole.end {
            return whole;
        }
        let rest = &source.text.as_bytes()[at..whole.end];
        let word = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        at..at + word.max(1)
    };
    if message.file == name {
        return Diagnostic::error(codes::COMPILER, place(message.line, message.column), message.text.clone())
            .label("says the C compiler");
    }
    let span = message.included_from.map_or(0..0, |line| place(line, 1));
    let whole = format!("{}:{}:{}: {}", message.file, message.line, message.column, message.text);
    Diagnostic::error(codes::COMPILER, span, whole).label("says the C compiler of what is included here")
}

impl Preprocessed {
    /// The bytes of a text derived from the user's file, in the file's own encoding.
    pub fn encode(&self, text: &str) -> Vec<u8> {
        if self.latin1 {
            text.chars().map(|letter| u8::try_from(letter).unwrap_or(b'?')).collect()
        } else {
            text.as_bytes().to_vec()
        }
    }
}
