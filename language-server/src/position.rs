//! Places as the protocol counts them: lines from 0, and within a line the UTF-16 units before the place.

use lsp_types::{Position, Range};
use polyhedral::source::Span;

/// Places of a text by its lines.
pub(crate) struct Lines<'a> {
    text: &'a str,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Lines<'a> {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { text, starts }
    }

    pub(crate) fn range(&self, span: &Span) -> Range {
        Range::new(self.position(span.start), self.position(span.end))
    }

    /// The bytes of a range; what lies beyond the text is its end, and a range that ends before it begins is empty.
    pub(crate) fn bytes(&self, range: Range) -> std::ops::Range<usize> {
        let offset = |position| self.offset(position).unwrap_or(self.text.len());
        let start = offset(range.start);
        start..offset(range.end).max(start)
    }

    fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        let before = &self.text[self.starts[line]..offset];
        Position::new(line as u32, before.encode_utf16().count() as u32)
    }

    /// The byte at a place; beyond a line's end, its end; `None` beyond the last line.
    pub(crate) fn offset(&self, position: Position) -> Option<usize> {
        let start = *self.starts.get(position.line as usize)?;
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        let mut units = 0;
        for (at, letter) in line.char_indices() {
            if units >= position.character as usize {
                return Some(start + at);
            }
            units += letter.len_utf16();
        }
        Some(start + line.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_beyond_16_bits_count_twice() {
        let lines = Lines::new("a\u{1f600}b\nc");
        for (offset, line, character) in [(0, 0, 0), (1, 0, 1), (5, 0, 3), (6, 0, 4), (7, 1, 0), (8, 1, 1)] {
            let place = Position::new(line, character);
            assert_eq!(lines.position(offset), place);
            assert_eq!(lines.offset(place), Some(offset));
        }
        // Within a letter, and beyond the ends.
        assert_eq!(lines.position(3), Position::new(0, 1));
        assert_eq!(lines.position(99), Position::new(1, 1));
        assert_eq!(lines.offset(Position::new(0, 99)), Some(6));
        assert_eq!(lines.offset(Position::new(2, 0)), None);
        let range = |from: (u32, u32), to: (u32, u32)| {
            lines.bytes(Range::new(Position::new(from.0, from.1), Position::new(to.0, to.1)))
        };
        assert_eq!(range((0, 1), (0, 3)), 1..5);
        assert_eq!(range((0, 4), (1, 0)), 6..7);
        assert_eq!(range((1, 0), (9, 9)), 7..8);
        assert_eq!(range((1, 1), (0, 0)), 8..8);
    }
}
