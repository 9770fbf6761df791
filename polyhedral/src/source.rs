//! Source text and places in it.

use std::ops::Range;

/// A half-open range of byte offsets in a [`SourceFile`].
pub type Span = Range<usize>;

/// A named source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Name shown in diagnostics: a path, or `<shipped heat2d>`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl SourceFile {
    /// Line and column of a byte offset, both counted from 1; the column counts characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (line, before[line_start..].chars().count() + 1)
    }
}
