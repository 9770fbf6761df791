//! The one place where diagnostics become text.

use super::{Diagnostic, DiagnosticKind, Diagnostics, Label};
use crate::source::{SourceFile, Span};
use annotate_snippets::{Annotation, AnnotationKind, Level, Renderer, Snippet};
use text_escape::{visible, visible_char, visible_lines};

impl Diagnostics {
    /// The diagnostics as text for a terminal, with the source underlined; with colours if asked. Empty lines separate
    /// them.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let parts: Vec<String> =
            self.list.iter().map(|diagnostic| render_one(&renderer, &self.source, diagnostic)).collect();
        parts.join("\n\n")
    }
}

fn render_one(renderer: &Renderer, source: &SourceFile, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.kind {
        DiagnosticKind::UserError => Level::ERROR,
        DiagnosticKind::Limitation => Level::ERROR.with_name("limitation"),
        DiagnosticKind::InternalBug => Level::ERROR.with_name("internal error"),
    };
    let (window, start, first_line) = window(source, diagnostic);
    let shown = Shown::new(window);
    let annotate = |kind: AnnotationKind, label: &Label| -> Annotation<'_> {
        let span = clamp(source, &label.span);
        let annotation = kind.span(shown.place(span.start - start)..shown.place(span.end - start));
        if label.text.is_empty() {
            annotation
        } else {
            annotation.label(visible_lines(&label.text).into_owned())
        }
    };
    let snippet = Snippet::source(&shown.text)
        .path(visible(&source.name))
        .line_start(first_line)
        .annotation(annotate(AnnotationKind::Primary, &diagnostic.primary))
        .annotations(diagnostic.related.iter().map(|label| annotate(AnnotationKind::Context, label)));
    let title = visible_lines(&diagnostic.message);
    let mut group = level.primary_title(title).id(diagnostic.code.0).element(snippet);
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(visible_lines(note)));
    }
    for hint in &diagnostic.hints {
        group = group.element(Level::HELP.message(visible_lines(hint)));
    }
    renderer.render(&[group])
}

/// Source text as it is shown: one visible character for each, so that columns are those of the file, and none for a
/// `\r` that belongs to the end of a line.
struct Shown {
    text: String,
    /// Ends of characters that became longer or shorter: in the source, and in `text`.
    changes: Vec<(usize, usize)>,
}

impl Shown {
    fn new(source: &str) -> Shown {
        let mut shown = Shown { text: String::with_capacity(source.len()), changes: Vec::new() };
        for (start, letter) in source.char_indices() {
            let end = start + letter.len_utf8();
            if letter != '\r' || !source[end..].starts_with('\n') {
                shown.text.push(visible_char(letter));
            }
            if visible_char(letter) != letter {
                shown.changes.push((end, shown.text.len()));
            }
        }
        shown
    }

    /// Where an offset of the source is in the text.
    fn place(&self, offset: usize) -> usize {
        let before = self.changes.partition_point(|(end, _)| *end <= offset);
        let (from, to) = before.checked_sub(1).map_or((0, 0), |last| self.changes[last]);
        to + (offset - from)
    }
}

/// The lines from the first to the last place of a diagnostic: the text, its offset and its first line.
fn window<'a>(source: &'a SourceFile, diagnostic: &Diagnostic) -> (&'a str, usize, usize) {
    let spans: Vec<Span> = std::iter::once(&diagnostic.primary)
        .chain(&diagnostic.related)
        .map(|label| clamp(source, &label.span))
        .collect();
    let low = spans.iter().map(|span| span.start).min().unwrap_or(0);
    let high = spans.iter().map(|span| span.end).max().unwrap_or(0);
    let start = source.text[..low].rfind('\n').map_or(0, |newline| newline + 1);
    let end = source.text[high..].find('\n').map_or(source.text.len(), |newline| high + newline + 1);
    (&source.text[start..end], start, source.line_column(start).0)
}

/// The span, within the text and on character boundaries.
fn clamp(source: &SourceFile, span: &Span) -> Span {
    let floor = |offset: usize| {
        let mut offset = offset.min(source.text.len());
        while !source.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    let start = floor(span.start);
    start..floor(span.end).max(start)
}
