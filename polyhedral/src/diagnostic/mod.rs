//! Diagnostics as data: what is wrong, where, why, and what to do. Rendered in one place, `render.rs`.

mod code;
mod render;

pub use code::Code;

use crate::source::{SourceFile, Span};
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// Whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiagnosticKind {
    /// The user's mistake.
    UserError,
    /// A meaningful request that Tilewright cannot serve.
    Limitation,
    /// A mistake of Tilewright.
    InternalBug,
}

/// A place in the source and what to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is to be seen there; may be empty.
    pub text: String,
}

/// One diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whose fault it is.
    pub kind: DiagnosticKind,
    /// Its stable code.
    pub code: Code,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Where.
    pub primary: Label,
    /// Other places that matter.
    pub related: Vec<Label>,
    /// Facts that explain it.
    pub notes: Vec<String>,
    /// Actions that would help.
    pub hints: Vec<String>,
}

impl Diagnostic {
    /// A mistake of the user.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            kind: DiagnosticKind::UserError,
            code,
            message: message.into(),
            primary: Label { span, text: String::new() },
            related: Vec::new(),
            notes: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// Something that Tilewright cannot do.
    pub fn limitation(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { kind: DiagnosticKind::Limitation, ..Diagnostic::error(code, span, message) }
    }

    /// A mistake of Tilewright.
    pub fn internal(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { kind: DiagnosticKind::InternalBug, ..Diagnostic::error(Code::INTERNAL, span, message) }
    }

    /// Says what is to be seen at the primary place.
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        self.primary.text = text.into();
        self
    }

    /// Adds a related place.
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.related.push(Label { span, text: text.into() });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Adds an action.
    pub fn hint(mut self, text: impl Into<String>) -> Diagnostic {
        self.hints.push(text.into());
        self
    }

    /// Adds an action if there is one.
    pub fn maybe_hint(mut self, text: Option<String>) -> Diagnostic {
        self.hints.extend(text);
        self
    }
}

/// All diagnostics of one source text, in the order of their places; never empty when returned as an error.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    /// The text that they speak about.
    pub source: Arc<SourceFile>,
    /// The diagnostics.
    pub list: Vec<Diagnostic>,
}

/// More diagnostics than this are not worth reading; the rest is cut.
const MOST_DIAGNOSTICS: usize = 100;

impl Diagnostics {
    /// Sorts by place and keeps the first hundred.
    pub fn new(source: Arc<SourceFile>, mut list: Vec<Diagnostic>) -> Diagnostics {
        list.sort_by_key(|diagnostic| diagnostic.primary.span.start);
        list.truncate(MOST_DIAGNOSTICS);
        Diagnostics { source, list }
    }

    /// The diagnostics with resolved places, ready to be serialised.
    pub fn to_data(&self) -> Vec<DiagnosticData> {
        self.list.iter().map(|diagnostic| DiagnosticData::new(&self.source, diagnostic)).collect()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

impl Serialize for Diagnostics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.to_data())
    }
}

/// A place with lines and columns, counted from 1; columns count characters; the end is exclusive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlaceData {
    /// First line.
    pub line: usize,
    /// First column.
    pub column: usize,
    /// Line of the end.
    pub end_line: usize,
    /// Column just behind the end.
    pub end_column: usize,
    /// What is to be seen there.
    pub label: String,
}

impl PlaceData {
    fn new(source: &SourceFile, label: &Label) -> PlaceData {
        let (line, column) = source.line_column(label.span.start);
        let (end_line, end_column) = source.line_column(label.span.end);
        PlaceData { line, column, end_line, end_column, label: label.text.clone() }
    }
}

/// A diagnostic as other programs read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiagnosticData {
    /// Whose fault it is.
    pub kind: DiagnosticKind,
    /// The stable code.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// Name of the source.
    pub file: String,
    /// Where it is.
    #[serde(flatten)]
    pub place: PlaceData,
    /// Other places that matter.
    pub related: Vec<PlaceData>,
    /// Facts that explain it.
    pub notes: Vec<String>,
    /// Actions that would help.
    pub hints: Vec<String>,
}

impl DiagnosticData {
    fn new(source: &SourceFile, diagnostic: &Diagnostic) -> DiagnosticData {
        DiagnosticData {
            kind: diagnostic.kind,
            code: diagnostic.code,
            message: diagnostic.message.clone(),
            file: source.name.clone(),
            place: PlaceData::new(source, &diagnostic.primary),
            related: diagnostic.related.iter().map(|label| PlaceData::new(source, label)).collect(),
            notes: diagnostic.notes.clone(),
            hints: diagnostic.hints.clone(),
        }
    }
}
