//! Places beyond the user's file: of code that a loop has several times, or from another source.
//!
//! Statements are told apart by their places. Those of a function of another source, and those of one that is called a second
//! time, get places of their own behind all text, in the order in which they stand; messages about them are about the call, or
//! about the text.

use crate::ast::{Stmt, StmtKind};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::cell::RefCell;

/// Behind any text.
const BEYOND: usize = usize::MAX / 2;

/// What the places of a block stand for.
#[derive(Debug, Clone)]
enum Meaning {
    /// The text of the file that is so far before them.
    Text(usize),
    /// A call.
    Call(Span),
}

/// The blocks of places that were given: where each begins, in ascending order.
#[derive(Debug, Default)]
pub struct Beyond {
    blocks: RefCell<Vec<(usize, Meaning)>>,
    end: RefCell<usize>,
}

impl Beyond {
    /// How far a block of so many places is behind the text that it is for.
    fn block(&self, length: usize, meaning: impl FnOnce(usize) -> Meaning) -> usize {
        let mut end = self.end.borrow_mut();
        let begin = BEYOND + *end;
        self.blocks.borrow_mut().push((begin, meaning(begin)));
        *end += length + 1;
        begin
    }

    /// Gives statements places of their own that mean those in the text; `of` is the length of the file's text.
    pub fn again(&self, body: &mut [Stmt], of: usize) {
        let by = self.block(of, Meaning::Text);
        body.iter_mut().for_each(|stmt| shift(stmt, by));
    }

    /// The same for statements of another source of this length; their places mean that of the call.
    pub fn elsewhere(&self, body: &mut [Stmt], of: usize, call: &Span) {
        let by = self.block(of, |_| Meaning::Call(call.clone()));
        body.iter_mut().for_each(|stmt| shift(stmt, by));
    }

    /// The place in the file that another one stands for.
    pub fn resolved(&self, span: &Span) -> Span {
        let blocks = self.blocks.borrow();
        let mut span = span.clone();
        // A call may stand in a function that is called a second time itself.
        while span.start >= BEYOND {
            let Some((_, meaning)) = blocks[..blocks.partition_point(|one| one.0 <= span.start)].last()
            else {
                break;
            };
            span = match meaning {
                Meaning::Text(by) => span.start - by..span.end.saturating_sub(*by),
                Meaning::Call(call) => call.clone(),
            };
        }
        span
    }

    /// A message with places in the file.
    pub fn told(&self, mut reason: Diagnostic) -> Diagnostic {
        for label in std::iter::once(&mut reason.primary).chain(&mut reason.related) {
            label.span = self.resolved(&label.span);
        }
        reason
    }
}

fn shift(stmt: &mut Stmt, by: usize) {
    let behind = |span: &mut Span| *span = span.start + by..span.end + by;
    stmt.walk_mut(&mut |stmt| {
        behind(&mut stmt.span);
        match &mut stmt.kind {
            StmtKind::For(source) => {
                behind(&mut source.head);
                if let Some(start) = &mut source.start {
                    behind(&mut start.span);
                    if let StmtKind::Declaration(list) = &mut start.kind {
                        list.iter_mut().for_each(|variable| behind(&mut variable.span));
                    }
                }
            }
            StmtKind::While(source) => behind(&mut source.head),
            StmtKind::Declaration(list) => {
                list.iter_mut().for_each(|variable| behind(&mut variable.span));
            }
            _ => {}
        }
    });
    stmt.walk_expressions_mut(&mut |expr| behind(&mut expr.span));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body() -> [Stmt; 2] {
        [Stmt { kind: StmtKind::Empty, span: 3..4 }, Stmt { kind: StmtKind::Empty, span: 7..9 }]
    }

    #[test]
    fn places_are_their_own_and_mean_the_text_or_the_call() {
        let (beyond, mut first, mut second, mut other) = (Beyond::default(), body(), body(), body());
        beyond.again(&mut first, 10);
        beyond.again(&mut second, 10);
        // A call within the second copy.
        let call = second[1].span.clone();
        beyond.elsewhere(&mut other, 10, &call);
        let spans: Vec<Span> =
            [first, second, other].iter().flatten().map(|stmt| stmt.span.clone()).collect();
        assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "{spans:?}");
        let resolved: Vec<Span> = spans.iter().map(|span| beyond.resolved(span)).collect();
        assert_eq!(resolved, [3..4, 7..9, 3..4, 7..9, 7..9, 7..9]);
        assert_eq!(beyond.resolved(&(5..6)), 5..6);
    }
}
