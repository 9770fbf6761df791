//! The one place where diagnostics become text.

use super::{Diagnostic, DiagnosticKind, Diagnostics, Label};
use crate::source::{SourceFile, Span};
use annotate_snippets::{Annotation, AnnotationKind, Level, Renderer, Snippet};

/// All diagnostics, separated by empty lines.
pub fn render(diagnostics: &Diagnostics, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let source = &diagnostics.source;
    let parts: Vec<String> =
        diagnostics.list.iter().map(|diagnostic| render_one(&renderer, source, diagnostic)).collect();
    parts.join("\n\n")
}

fn render_one(renderer: &Renderer, source: &SourceFile, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.kind {
        DiagnosticKind::UserError => Level::ERROR,
        DiagnosticKind::Limitation => Level::ERROR.with_name("limitation"),
        DiagnosticKind::InternalBug => Level::ERROR.with_name("internal error"),
    };
    let (window, start, first_line) = window(source, diagnostic);
    let annotate = |kind: AnnotationKind, label: &Label| -> Annotation<'_> {
        let span = clamp(source, &label.span);
        let annotation = kind.span(span.start - start..span.end - start);
        if label.text.is_empty() { annotation } else { annotation.label(label.text.clone()) }
    };
    let snippet = Snippet::source(window)
        .path(source.name.as_str())
        .line_start(first_line)
        .annotation(annotate(AnnotationKind::Primary, &diagnostic.primary))
        .annotations(diagnostic.related.iter().map(|label| annotate(AnnotationKind::Context, label)));
    let mut group = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.0).element(snippet);
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for hint in &diagnostic.hints {
        group = group.element(Level::HELP.message(hint.as_str()));
    }
    renderer.render(&[group])
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
