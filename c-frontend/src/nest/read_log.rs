//! What a walk has read so far.

use super::loops::Touched;
use std::collections::HashSet;

/// What the walk has read under conditions.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadLog {
    /// For each read of the nest, whether conditions stand around it, whatever other branches read.
    pub walked: Vec<Touched>,
    /// Of the condition that is open: reads, how many conditions stand around each, and where it is touched.
    pub open: Vec<Entry>,
    /// Reads that are known to be touched so.
    pub known: HashSet<usize>,
}

/// Something that was read, how many conditions stand around it, and where it is touched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub read: usize,
    pub depth: usize,
    pub touched: Touched,
}
