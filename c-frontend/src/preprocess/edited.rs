//! A preprocessed program some of whose parts stand elsewhere, and its source with the same changes.

use super::origin::Origin;
use super::{Mark, Preprocessed};
use polyhedral::source::Span;
use std::ops::Range;

/// Tokens in the place of a part of the preprocessed text, each with its place in the user's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The part.
    pub range: Range<usize>,
    /// What stands there.
    pub tokens: Vec<(String, Span)>,
}

impl Preprocessed {
    /// The same program with other tokens in some places, which do not overlap, and the changes of its source that do this: parts
    /// of the user's file, in order, and what is written there.
    #[must_use]
    pub fn replaced(&self, mut parts: Vec<Replaced>, source_edits: Vec<(Span, String)>) -> Preprocessed {
        parts.sort_by_key(|part| (part.range.start, part.range.end));
        let (mut text, mut origin) = (String::with_capacity(self.text.len()), Origin::default());
        let mut marks = Vec::new();
        let mut from = 0;
        for part in parts
            .iter()
            .chain(std::iter::once(&Replaced { range: self.text.len()..self.text.len(), tokens: Vec::new() }))
        {
            let kept = from..part.range.start;
            origin.copied(&self.origin, kept.clone(), text.len());
            let here = text.len();
            let within = |mark: &&Mark| kept.contains(&mark.offset);
            marks.extend(
                self.marks
                    .iter()
                    .filter(within)
                    .map(|mark| Mark { offset: mark.offset - kept.start + here, ..mark.clone() }),
            );
            text.push_str(&self.text[kept]);
            for (token, place) in &part.tokens {
                text.push(' ');
                origin.push(text.len(), text.len() + token.len(), place.clone());
                text.push_str(token);
            }
            if !part.tokens.is_empty() {
                text.push(' ');
            }
            from = part.range.end;
        }
        Preprocessed { text, origin, marks, source_edits, ..self.clone() }
    }

    /// A part of the user's file, with what is changed in it.
    pub fn source_text(&self, part: Span) -> String {
        let source = &self.source.text;
        let (mut result, mut from) = (String::new(), part.start);
        for (range, new) in &self.source_edits {
            if range.start >= part.start && range.end <= part.end {
                result.push_str(&source[from..range.start]);
                result.push_str(new);
                from = range.end;
            }
        }
        result + &source[from..part.end]
    }
}
